//! Processors, memory, GPUs and limits of a row.

use super::super::fields::careful_text;
use super::super::records::fields::{amount, span_us, whole};
use super::super::records::{Fault, Remarks};
use super::super::reject::RejectReason;
use super::Row;
use super::columns::Col;
use crate::units::MICROS_PER_SECOND;

/// Processors of a job.
pub(super) struct Cpus {
    /// That it was given.
    pub(super) had: Option<i32>,
    /// That it asked for.
    pub(super) asked: Option<i32>,
}

pub(super) fn cpus(row: &Row<'_>) -> Result<Cpus, Fault> {
    let of_tres = |column: Col| {
        let count = tres(row.raw(column), b"cpu").and_then(whole);
        count.and_then(|count| i32::try_from(count).ok()).filter(|&count| 0 < count)
    };
    let had = row.count(Col::AllocCpus)?.or(row.count(Col::NCpus)?);
    let asked = row.count(Col::ReqCpus)?;
    Ok(Cpus {
        had: had.or_else(|| of_tres(Col::AllocTres)),
        asked: asked.or_else(|| of_tres(Col::ReqTres)),
    })
}

/// The amount of one resource in a list such as `cpu=8,mem=22400M,node=1`.
fn tres<'a>(list: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    list.split(|&byte| byte == b',').find_map(|entry| {
        let (key, value) = entry.split_at(memchr::memchr(b'=', entry)?);
        (key.trim_ascii() == name).then(|| value[1..].trim_ascii())
    })
}

/// Memory that was asked for, KiB.
pub(super) struct Memory {
    pub(super) total: Option<f32>,
    pub(super) per_processor: Option<f32>,
}

/// The bit of a number of MiB that says "per CPU"; old versions print it with the number.
const PER_CPU: f64 = 2_147_483_648.0 * 1_048_576.0;

pub(super) fn memory_kib(
    row: &Row<'_>,
    cpus: Option<i32>,
    nodes: Option<i32>,
    remarks: &mut Remarks,
) -> Result<Memory, Fault> {
    let (cpus, nodes) = (cpus.map(f64::from), nodes.map_or(1.0, f64::from));
    let asked = match row.raw(Col::ReqMem) {
        b"" | b"?" | b"Unknown" => None,
        raw => {
            let (raw, of) = match raw {
                [rest @ .., of @ (b'n' | b'c')] if !rest.is_empty() => (rest, Some(*of)),
                _ => (raw, None),
            };
            let bytes = amount(raw, b'M').ok_or(("ReqMem", RejectReason::BadValue))?;
            match of {
                Some(b'c') => cpus.map(|cpus| bytes * cpus),
                _ if PER_CPU <= bytes => {
                    remarks
                        .add("memory request with the mark of `per CPU` in its number: taken out");
                    cpus.map(|cpus| (bytes - PER_CPU) * cpus)
                }
                Some(_) => Some(bytes * nodes),
                None => Some(bytes),
            }
        }
    };
    let of_tres = |column: Col| tres(row.raw(column), b"mem").and_then(|text| amount(text, b'M'));
    let bytes = asked
        .filter(|&bytes| 0.0 < bytes)
        .or_else(|| of_tres(Col::ReqTres))
        .or_else(|| of_tres(Col::AllocTres));
    #[expect(clippy::cast_possible_truncation, reason = "an amount of memory")]
    let kib = |bytes: f64| (bytes / 1024.0) as f32;
    Ok(Memory {
        total: bytes.map(kib),
        per_processor: bytes.zip(cpus).map(|(bytes, cpus)| kib(bytes / cpus)),
    })
}

/// How many GPUs, and of which model.
pub(super) fn gpus<'a>(row: &Row<'a>) -> Result<(Option<f32>, Option<&'a str>), Fault> {
    for column in [Col::AllocTres, Col::ReqTres, Col::AllocGres, Col::ReqGres] {
        let (mut plain, mut typed, mut model) = (None, None, None);
        for entry in row.raw(column).split(|&byte| byte == b',') {
            // `gres/gpu=2`, `gres/gpu:a100=2`, `gpu:a100:2` or `gpu:2`.
            let plain_entry = |begin: &[u8]| entry.strip_prefix(begin)?.strip_prefix(b"gpu");
            let rest = [&b"gres/"[..], b"gres:", b""].into_iter().find_map(plain_entry);
            let Some(rest) = rest else { continue };
            let at = memchr::memrchr2(b'=', b':', rest).unwrap_or(0);
            let (kind, count) = rest.split_at(at);
            let Some(count) = count.get(1..).and_then(whole) else { continue };
            match kind {
                [] => plain = Some(count),
                [b':', name @ ..] => {
                    typed = Some(typed.unwrap_or(0) + count);
                    model = model.or(Some(name));
                }
                _ => {}
            }
        }
        if let Some(count) = plain.or(typed) {
            let bad = (column.name(), RejectReason::BadValue);
            let model = model.map(|name| careful_text(name).ok_or(bad)).transpose()?;
            #[expect(clippy::cast_precision_loss, reason = "no job has 2^24 GPUs")]
            return Ok((Some(count as f32), model));
        }
    }
    Ok((None, None))
}

/// The time limit.
pub(super) fn limit_us(row: &Row<'_>) -> Result<Option<i64>, Fault> {
    for column in [Col::TimelimitRaw, Col::Timelimit] {
        match row.raw(column) {
            b"" | b"UNLIMITED" | b"Partition_Limit" | b"INVALID" | b"NONE" | b"Unknown" => {}
            raw => {
                let minutes = whole(raw).and_then(|it| it.checked_mul(60 * MICROS_PER_SECOND));
                let limit = minutes.or_else(|| span_us(raw));
                return limit.map(Some).ok_or((column.name(), RejectReason::BadValue));
            }
        }
    }
    Ok(None)
}

/// The mean CPU time per processor.
pub(super) fn cpu_time_us(
    row: &Row<'_>,
    processors: Option<i32>,
    remarks: &mut Remarks,
) -> Result<Option<i64>, Fault> {
    let raw = row.raw(Col::TotalCpu);
    let Some(processors) = processors.filter(|_| !matches!(raw, b"" | b"INVALID")) else {
        return Ok(None);
    };
    let total = span_us(raw).ok_or(("TotalCPU", RejectReason::BadValue))?;
    if total == 0 {
        remarks.add("TotalCPU 0 of a job that ran: taken as unknown");
        return Ok(None);
    }
    Ok(Some(total / i64::from(processors)))
}

/// Where a job stands in an array or a heterogeneous job.
#[derive(Default)]
pub(super) struct Array {
    pub(super) job: Option<i64>,
    pub(super) element: Option<i32>,
    pub(super) het_job: Option<i64>,
}

/// Reads `123_4`, `123_[5-9%2]` and `123+0`.
pub(super) fn array(name: &str, remarks: &mut Remarks) -> Array {
    if name.contains("_[") {
        remarks.add("records that stand for several elements of an array: each counts as one job");
    }
    if let Some((job, element)) = name.split_once('_') {
        let element = element.parse().ok().filter(|&element: &i32| 0 <= element);
        return Array { job: whole(job.as_bytes()), element, het_job: None };
    }
    let het_job = name.split_once('+').and_then(|(job, _)| whole(job.as_bytes()));
    Array { het_job, ..Array::default() }
}

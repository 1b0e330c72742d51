//! Processors, memory, GPUs and limits of a row.

use super::super::fields::careful_text;
use super::super::records::amounts::{
    float, gpus_in_list, memory_in_list, memory_of_request, narrow, tally_in_list,
};
use super::super::records::fields::{minutes_us, span_us, whole};
use super::super::records::{Fault, Remarks};
use super::super::reject::RejectReason;
use super::super::rows::Cell;
use super::columns::{Col, Row};

/// The processors of a job.
pub(super) struct Cpus {
    /// Allocated.
    pub(super) had: Option<i32>,
    /// Requested.
    pub(super) asked: Option<i32>,
}

pub(super) fn cpus(row: &Row<'_>) -> Result<Cpus, Fault> {
    let or_of_tres = |count: Option<i32>, column: Col| match count {
        None => tally_in_list(row.raw(column), b"cpu").map_err(|reason| (column.name(), reason)),
        _ => Ok(count),
    };
    let had = or_of_tres(row.count(Col::AllocCpus)?.or(row.count(Col::NCpus)?), Col::AllocTres)?;
    let asked = or_of_tres(row.count(Col::ReqCpus)?, Col::ReqTres)?;
    Ok(Cpus { had: had.filter(|&had| 0 < had), asked: asked.filter(|&asked| 0 < asked) })
}

/// The memory request, KiB: in total, and per processor.
pub(super) fn memory_kib(
    row: &Row<'_>,
    cpus: Option<i32>,
    nodes: Option<i32>,
    remarks: &mut Remarks,
) -> Result<(Option<f32>, Option<f32>), Fault> {
    let (cpus, nodes) = (cpus.map(f64::from), nodes.map_or(1.0, f64::from));
    let asked = memory_of_request(row.raw(Col::ReqMem), (cpus, nodes), remarks);
    let asked = asked.map_err(|reason| ("ReqMem", reason))?;
    let mut bytes = asked.filter(|&bytes| 0.0 < bytes);
    for column in [Col::ReqTres, Col::AllocTres] {
        let of_tres = || memory_in_list(row.raw(column)).map_err(|reason| (column.name(), reason));
        bytes = bytes.map_or_else(of_tres, |bytes| Ok(Some(bytes)))?;
    }
    let kib = |bytes: f64| narrow(bytes / 1024.0);
    Ok((bytes.map(kib), bytes.zip(cpus).map(|(bytes, cpus)| kib(bytes / cpus))))
}

/// The number of GPUs, and their model if they have one.
pub(super) fn gpus<'a>(
    row: &Row<'a>,
    nodes: Option<i32>,
    remarks: &mut Remarks,
) -> Result<(Option<f32>, Option<&'a str>), Fault> {
    for column in [Col::AllocTres, Col::AllocGres, Col::ReqTres, Col::ReqGres] {
        let bad = |reason| (column.name(), reason);
        if let Some(mut gpus) = gpus_in_list(row.raw(column)).map_err(bad)? {
            if column == Col::ReqGres && !gpus.of_all_nodes(row.raw(column), nodes, remarks) {
                return Ok((None, None));
            }
            let had = if column == Col::ReqTres { row.raw(Col::AllocTres) } else { b"" };
            gpus = gpus.allocated(had, remarks);
            let text = |name| careful_text(name).ok_or(bad(RejectReason::BadValue));
            return Ok((Some(float(gpus.count)), gpus.model.map(text).transpose()?));
        }
    }
    Ok((None, None))
}

/// The time limit, µs.
pub(super) fn limit_us(row: &Row<'_>) -> Result<Option<i64>, Fault> {
    for column in [Col::TimelimitRaw, Col::Timelimit] {
        let limit_us = minutes_us(row.raw(column)).map_err(|reason| (column.name(), reason))?;
        if limit_us.is_some() {
            return Ok(limit_us);
        }
    }
    Ok(None)
}

/// The mean CPU time per processor, µs.
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

/// The array, the element and the heterogeneous job of `123_4`, `123_[5-9%2]` or `123+0`.
pub(super) fn array(name: &str, remarks: &mut Remarks) -> [Cell<'static>; 3] {
    let several = u64::from(name.contains("_["));
    remarks.add_many("records of several array elements: each counts as one job", several);
    if let Some((job, element)) = name.split_once('_') {
        let element = element.parse().ok().filter(|&element: &i32| 0 <= element);
        return [whole(job.as_bytes()).into(), element.into(), Cell::Missing];
    }
    let het_job = name.split_once('+').and_then(|(job, _)| whole(job.as_bytes()));
    [Cell::Missing, Cell::Missing, het_job.into()]
}

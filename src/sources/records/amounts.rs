//! Amounts of resources as batch systems and container platforms write them.
//!
//! In: a text with a suffix, or a list such as `cpu=8,mem=22400M,gres/gpu:a100=2`. Out: numbers;
//! `None` for other texts.

use super::Remarks;
use super::fields::whole;
use crate::sources::fields::careful_f64;
use crate::sources::reject::RejectReason;

/// A count as columns of amounts store it.
pub(in crate::sources) fn float(count: impl Into<i64>) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "nothing has 2^24 processors, GPUs or GiB")]
    let count = count.into() as f32;
    count
}

/// An amount as columns store it.
pub(in crate::sources) fn narrow(amount: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "an amount")]
    let amount = amount as f32;
    amount
}

/// The mean of a length of time per processor, in whole µs. Multiplied by the same number of
/// processors, it gives the length again, within half a µs per processor. `None` if it is longer
/// than a column holds.
pub(in crate::sources) fn mean_us(total_us: i64, processors: f32) -> Option<i64> {
    #[expect(clippy::cast_precision_loss, reason = "a log is far shorter than 2^53 µs")]
    let (mean, longest) = (total_us as f64 / f64::from(processors), i64::MAX as f64);
    #[expect(clippy::cast_possible_truncation, reason = "compared with the longest")]
    let whole = mean.round() as i64;
    (mean < longest).then_some(whole)
}

/// An amount with a suffix B, or K, M, G, T or P (powers of 1024), in bytes; `default` is the
/// suffix of a plain number.
pub(in crate::sources) fn amount(text: &[u8], default: u8) -> Option<f64> {
    let (digits, suffix) = match text.split_last() {
        Some((last, digits)) if last.is_ascii_alphabetic() => (digits, *last),
        _ => (text, default),
    };
    let power = match suffix.to_ascii_uppercase() {
        b'B' => 0,
        b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        _ => return None,
    };
    let value = careful_f64(digits).filter(|value| 0.0 <= *value)?;
    let bytes = value * 1024_f64.powi(power);
    bytes.is_finite().then_some(bytes)
}

/// The bit that marks a memory request of Slurm in MiB as "per CPU", in bytes; old versions print
/// it with the number.
const PER_CPU: f64 = 2_147_483_648.0 * 1_048_576.0;

/// The memory that a job requests, bytes. The amount is in MiB unless it has a suffix. It is for
/// the whole job, for each node (`n`), or for each processor (`c`, or a bit that old versions set).
/// `None` if it is not known.
pub(in crate::sources) fn memory_of_request(
    text: &[u8],
    (cpus, nodes): (Option<f64>, f64),
    remarks: &mut Remarks,
) -> Result<Option<f64>, RejectReason> {
    if matches!(text, b"" | b"?" | b"Unknown") {
        return Ok(None);
    }
    let (amount_of, of) = match text {
        [rest @ .., of @ (b'n' | b'c')] if !rest.is_empty() => (rest, Some(*of)),
        _ => (text, None),
    };
    let bytes = amount(amount_of, b'M').ok_or(RejectReason::BadValue)?;
    Ok(match of {
        Some(b'c') => cpus.map(|cpus| bytes * cpus),
        _ if PER_CPU <= bytes => {
            remarks.add("memory requested per CPU: multiplied by the CPUs");
            cpus.map(|cpus| (bytes - PER_CPU) * cpus)
        }
        _ => Some(bytes * of.map_or(1.0, |_| nodes)),
    })
}

/// The suffixes of quantities in Kubernetes, with their factors.
const SUFFIXES: [(&str, f64); 15] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
];

/// An amount such as `500m`, `2`, `1e3`, `512Mi` or `4G`, in units.
pub(in crate::sources) fn quantity(text: &str) -> Option<f64> {
    let found = SUFFIXES
        .iter()
        .find_map(|(suffix, factor)| text.strip_suffix(suffix).map(|digits| (digits, *factor)));
    let (digits, factor) = found.unwrap_or((text, 1.0));
    let amount = careful_f64(digits.as_bytes())? * factor;
    (0.0 <= amount && amount.is_finite()).then_some(amount)
}

/// The amount of one resource in a list such as `cpu=8,mem=22400M,node=1`.
fn in_list<'a>(list: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    list.split(|&byte| byte == b',').find_map(|entry| {
        let (key, value) = entry.split_at(memchr::memchr(b'=', entry)?);
        (key.trim_ascii() == name).then(|| value[1..].trim_ascii())
    })
}

/// A count such as `8` or `2K`, with a suffix K, M, G, T or P (powers of 1024). A count with
/// decimals was rounded and gives `None`.
pub(in crate::sources) fn tally(text: &[u8]) -> Option<i64> {
    let Some((suffix, digits)) = text.split_last().filter(|(last, _)| last.is_ascii_alphabetic())
    else {
        return whole(text);
    };
    let power = b"KMGTP".iter().position(|known| *known == suffix.to_ascii_uppercase())?;
    whole(digits)?.checked_mul(1024_i64.checked_pow(u32::try_from(power).ok()? + 1)?)
}

/// The count of one resource in a list.
///
/// # Errors
/// It does not parse.
pub(in crate::sources) fn tally_in_list(
    list: &[u8],
    name: &[u8],
) -> Result<Option<i32>, RejectReason> {
    let Some(text) = in_list(list, name) else { return Ok(None) };
    let count = tally(text).and_then(|count| i32::try_from(count).ok());
    count.map(Some).ok_or(RejectReason::BadValue)
}

/// The number of nodes in the first of some lists that has it; unknown if it does not parse.
pub(in crate::sources) fn nodes_in_lists<const N: usize>(
    lists: [&[u8]; N],
    remarks: &mut Remarks,
) -> Option<i32> {
    let told = lists.into_iter().find_map(|list| in_list(list, b"node"));
    let found = told.and_then(tally).and_then(|nodes| i32::try_from(nodes).ok());
    let found = found.filter(|nodes| 0 < *nodes);
    if found.is_some() {
        remarks.add("no number of nodes: that of the list of resources");
    }
    found
}

/// The memory in a list, bytes. 0 means all memory of a machine, so it counts as missing.
///
/// # Errors
/// It does not parse.
pub(in crate::sources) fn memory_in_list(list: &[u8]) -> Result<Option<f64>, RejectReason> {
    let Some(text) = in_list(list, b"mem") else { return Ok(None) };
    let bytes = amount(text, b'M').ok_or(RejectReason::BadValue)?;
    Ok(Some(bytes).filter(|&bytes| 0.0 < bytes))
}

/// The GPUs of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) struct Gpus<'a> {
    pub count: i64,
    /// Their model, if the list names one and no other.
    pub model: Option<&'a [u8]>,
    /// Whether it names several models.
    are_mixed: bool,
}

/// The GPUs in a list, if it names any. Entries with models add up to the entry without one, which
/// is used if there is one.
///
/// # Errors
/// A count does not parse.
pub(in crate::sources) fn gpus_in_list(list: &[u8]) -> Result<Option<Gpus<'_>>, RejectReason> {
    let (mut plain, mut typed, mut model, mut are_mixed) = (None, None, None, false);
    for entry in list.split(|&byte| byte == b',') {
        let Some((name, count)) = gpu_entry(entry.trim_ascii())? else { continue };
        let Some(name) = name else {
            plain = Some(count);
            continue;
        };
        typed = Some(i64::saturating_add(typed.unwrap_or(0), count));
        if 0 < count {
            are_mixed |= model.is_some_and(|model| model != name);
            model = model.or(Some(name));
        }
    }
    let model = model.filter(|_| !are_mixed);
    Ok(plain.or(typed).map(|count| Gpus { count, model, are_mixed }))
}

/// The model of GPUs, if an entry names one, and their count.
type GpuEntry<'a> = (Option<&'a [u8]>, i64);

/// The number of the resource `gpu`: its bytes, the lowest first. Old versions of Slurm print it if
/// the plugin with its name is not loaded.
const GPU_NUMBER: &[u8] = b"7696487";

impl Gpus<'_> {
    /// Adds a remark if they are of several models.
    fn tell_mixed(&self, remarks: &mut Remarks) {
        if self.are_mixed {
            remarks.add("GPUs of several models: counted together, model unknown");
        }
    }

    /// The GPUs of a Slurm list. For requested GPUs, `had` is the list of what the job got, which
    /// has no GPUs. If that list has CPU and memory, the job got no GPUs; otherwise it got all of
    /// them. `had` is empty if the job has not started. GPUs of several models give a remark.
    pub(in crate::sources) fn allocated(self, had: &[u8], remarks: &mut Remarks) -> Self {
        if 0 < self.count && !had.is_empty() {
            if [&b"cpu"[..], b"mem"].iter().all(|name| in_list(had, name).is_some()) {
                remarks.add("GPUs requested, but not in AllocTRES: counted as none");
                return Self { count: 0, model: None, are_mixed: false };
            }
            remarks.add("GPUs not in AllocTRES: those of ReqTRES");
        }
        self.tell_mixed(remarks);
        self
    }

    /// Multiplies the GPUs of a Slurm request by its nodes, and returns whether the number of GPUs
    /// is known. `--gres` counts per node, and versions from 19.05 on say so. Counts per socket and
    /// per task cannot be added up.
    pub(in crate::sources) fn of_all_nodes(
        &mut self,
        list: &[u8],
        nodes: Option<i32>,
        remarks: &mut Remarks,
    ) -> bool {
        let is_per = |kind: &[u8]| memchr::memmem::find(list, &[kind, b":gpu"].concat()).is_some();
        let has = [&b"PER_JOB"[..], b"PER_NODE", b"PER_SOCKET", b"PER_TASK"].map(is_per);
        match (has, nodes) {
            _ if self.count == 0 => {}
            ([true, false, false, false], _) | ([false, _, false, false], Some(1)) => {}
            ([false, _, false, false], Some(nodes)) => {
                remarks.add("GPUs requested per node: multiplied by the nodes");
                self.count = self.count.saturating_mul(i64::from(nodes));
            }
            ([false, _, false, false], None) => {
                remarks.add("GPUs requested per node, number of nodes unknown: taken as one");
            }
            _ => {
                remarks
                    .add("GPUs requested per socket, per task or in several ways: number unknown");
                return false;
            }
        }
        true
    }
}

/// An entry such as `gres/gpu=2`, `gres/gpu:a100=2`, `gpu:a100:2`, `PER_NODE:gpu:2`,
/// `gpu:2`, `7696487:2`, or `gpu:a100`, which is one. `None` for another resource.
fn gpu_entry(entry: &[u8]) -> Result<Option<GpuEntry<'_>>, RejectReason> {
    // `(S:0-1)` and `(IDX:0,3)` say which GPUs they are.
    let entry = entry.split(|&byte| byte == b'(').next().unwrap_or_default();
    let per = [&b"PER_JOB:"[..], b"PER_NODE:", b"PER_SOCKET:", b"PER_TASK:"];
    let entry = per.iter().find_map(|per| entry.strip_prefix(*per)).unwrap_or(entry);
    let after = |begin: &[u8]| entry.strip_prefix(begin)?.strip_prefix(b"gpu");
    let named = [&b"gres/"[..], b"gres:", b""].into_iter().find_map(after);
    let Some(rest) = named.or_else(|| entry.strip_prefix(GPU_NUMBER)) else { return Ok(None) };
    let at = memchr::memchr(b'=', rest).or_else(|| memchr::memrchr(b':', rest));
    let (kind, count) = rest.split_at(at.unwrap_or(rest.len()));
    let count = count.get(1..);
    let is_word = |text: &[u8]| text.iter().any(u8::is_ascii_alphabetic);
    match (kind, count) {
        ([], None) => Ok(Some((None, 1))),
        ([], Some(name)) if !rest.contains(&b'=') && tally(name).is_none() && is_word(name) => {
            Ok(Some((Some(name), 1)))
        }
        ([] | [b':', ..], Some(count)) => {
            let count = tally(count).ok_or(RejectReason::BadValue)?;
            Ok(Some((kind.get(1..), count)))
        }
        // Another resource, such as `gpumem`.
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_have_the_suffixes_of_their_system() {
        for (text, expected) in [
            ("2", Some(2.0)),
            ("1e3", Some(1000.0)),
            ("500m", Some(0.5)),
            ("4G", Some(4e9)),
            ("512Mi", Some(536_870_912.0)),
            ("-1", None),
            ("Mi", None),
            ("2Qi", None),
        ] {
            assert_eq!(quantity(text), expected, "{text}");
        }
        for (text, expected) in
            [("2", Some(2_097_152.0)), ("2k", Some(2048.0)), ("3B", Some(3.0)), ("-1M", None)]
        {
            assert_eq!(amount(text.as_bytes(), b'M'), expected, "{text}");
        }
    }

    #[test]
    fn lists_name_resources_and_gpus() {
        let list = b"billing=8,cpu=8, mem=22400M,gres/gpu:a100=2,gres/gpu=3";
        assert_eq!(in_list(list, b"mem"), Some(&b"22400M"[..]));
        assert_eq!(in_list(list, b"node"), None);
        assert_eq!(tally_in_list(b"cpu=2K,mem=1G", b"cpu"), Ok(Some(2048)));
        assert_eq!(tally_in_list(b"mem=1G", b"cpu"), Ok(None));
        assert_eq!(memory_in_list(list), Ok(Some(22_400.0 * 1_048_576.0)));
        assert_eq!(memory_in_list(b"cpu=2,mem=1.50G"), Ok(Some(1.5 * 1_073_741_824.0)));
        assert_eq!([memory_in_list(b"mem=0"), memory_in_list(b"cpu=1")], [Ok(None), Ok(None)]);
        for odd in ["mem=abc", "mem=16Q", "mem=", "mem=-4G", "mem=4GB"] {
            assert_eq!(memory_in_list(odd.as_bytes()), Err(RejectReason::BadValue), "{odd}");
        }
        for odd in ["cpu=1.5K", "cpu=many", "cpu=", "cpu=-1", "cpu=9P"] {
            let bad = Err(RejectReason::BadValue);
            assert_eq!(tally_in_list(odd.as_bytes(), b"cpu"), bad, "{odd}");
        }
    }

    #[test]
    fn gpus_have_a_model_if_the_list_names_one_alone() {
        for (list, expected) in [
            ("billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=3", "3 a100"),
            ("gpu:a100:2,gpu:v100:1", "3 mixed"),
            ("gres/gpu:a100=1,gres/gpu:v100=1,gres/gpu=2", "2 mixed"),
            ("gres/gpu:a100=2,gres/gpu:v100=0", "2 a100"),
            ("gpu:2", "2 -"),
            ("gpu", "1 -"),
            ("gpu:tesla", "1 tesla"),
            ("gpu:1g.5gb:2", "2 1g.5gb"),
            ("gpu:a100:2(S:0-1)", "2 a100"),
            ("gpu:a100:2(IDX:0,3),gpu:a100:1(IDX:1)", "3 a100"),
            ("gres:gpu:2", "2 -"),
            ("PER_NODE:gpu:2", "2 -"),
            ("PER_NODE:gpu:volta:1,PER_NODE:gpu:volta:2", "3 volta"),
            ("7696487:2", "2 -"),
            ("76964870:2", "none"),
            ("gres/gpu=1K", "1024 -"),
            ("cpu=4,gres/gpumem=7", "none"),
            ("", "none"),
            ("gres/gpu=1.5", "bad"),
            ("gres/gpu:a100=x", "bad"),
            ("gres/gpu=a100", "bad"),
            ("gpu:a100:", "bad"),
            ("gpu:1.5", "bad"),
        ] {
            let found = match gpus_in_list(list.as_bytes()) {
                Err(_) => "bad".to_owned(),
                Ok(None) => "none".to_owned(),
                Ok(Some(Gpus { count, are_mixed: true, model: None })) => format!("{count} mixed"),
                Ok(Some(Gpus { count, model, .. })) => {
                    format!("{count} {}", model.map_or("-".into(), String::from_utf8_lossy))
                }
            };
            assert_eq!(found, expected, "{list}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_readers_panic(text in "[-0-9:.,=a-zA-Z/ ]{0,40}") {
            let _ = amount(text.as_bytes(), b'M');
            let _ = quantity(&text);
            let _ = in_list(text.as_bytes(), b"cpu");
            let _ = gpus_in_list(text.as_bytes());
        }
    }
}

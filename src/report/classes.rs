//! Names of machines, and of classes of machines, on the pages of fairness.
//!
//! In: a machine or a class of a stored result. Out: its name in words; hashes may be shortened.

use super::text::figure_text;
use crate::answers::sentences::short;
use crate::fairness::usage::MachineUsage;
use crate::results::Stored;
use crate::schema::Source;

/// The name of a machine with its hashes shortened.
pub(super) fn short_parts(name: &str) -> String {
    let word = |word: &str| match word.strip_suffix(',') {
        Some(word) => format!("{},", short(word)),
        None => short(word),
    };
    name.split(' ').map(word).collect::<Vec<String>>().join(" ")
}

/// The word for a site: Slurm calls it a partition.
pub(super) fn site_of(result: &Stored) -> &'static str {
    let is_slurm = result.whole.source.as_deref() == Some(Source::Slurm.name());
    if is_slurm { "partition" } else { "site" }
}

/// The name of a machine or a class of machines; with the cluster if there are several.
pub(super) fn machine_name(
    own: &MachineUsage,
    (is_only, place): (bool, &str),
    spell: impl Fn(&str) -> String,
) -> String {
    let mut parts = Vec::new();
    if !is_only {
        parts.push(own.cluster.clone());
    }
    let size = |size: Option<f32>| size.map(|size| figure_text(f64::from(size)));
    let known = [
        ("machine", own.machine.map(|id| id.to_string())),
        (place, own.site.as_deref().map(&spell)),
        ("platform", own.platform.as_deref().map(&spell)),
        ("cpu", size(own.cpu)),
        ("memory", size(own.memory)),
    ];
    parts.extend(known.into_iter().filter_map(|(key, text)| Some(format!("{key} {}", text?))));
    if parts.is_empty() { "machines not distinguished".to_owned() } else { parts.join(", ") }
}

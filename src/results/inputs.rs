//! The tables that an answer was made from, as its JSON names them.
//!
//! In: a lake. Out: for each table how much of it is there, its hours, checksum and holes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::lake::{Gap, Lake};
use crate::sources::hex;
use crate::units::micros_to_seconds;

/// One table of the lake that an answer was made from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Input {
    pub(crate) table: String,
    pub(crate) parts: String,
    /// Parts in the lake, and the number of all parts if their names say it.
    pub(crate) part_count: usize,
    pub(crate) parts_of: Option<u32>,
    pub(crate) rows: u64,
    /// First and last time of a row in the lake, s.
    pub(crate) start_s: Option<f64>,
    pub(crate) end_s: Option<f64>,
    /// What had to be assumed of its rows, and how often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) remarks: BTreeMap<String, u64>,
    /// SHA-256 over the SHA-256 sums of the raw parts, in the order of their numbers.
    sha256: String,
    /// What is missing between the parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) gaps: Vec<Gap>,
}

impl Input {
    /// Whether no part is missing that the names of the others promise.
    pub(crate) fn is_whole(&self) -> bool {
        self.parts_of.is_none_or(|of| self.part_count == of as usize)
    }
}

/// The tables of a lake and their checksums.
pub fn inputs(lake: &Lake) -> Vec<Input> {
    let gaps = lake.gaps();
    lake.manifest
        .tables
        .iter()
        .map(|(table, entry)| {
            let mut hasher = Sha256::new();
            let times = entry.parts.iter();
            let mut remarks: BTreeMap<String, u64> = BTreeMap::new();
            for (wording, count) in entry.parts.iter().flat_map(|part| &part.remarks) {
                *remarks.entry(wording.clone()).or_default() += count;
            }
            entry.parts.iter().for_each(|part| hasher.update(part.sha256.as_bytes()));
            Input {
                table: table.clone(),
                parts: entry.part_ranges(),
                part_count: entry.parts.len(),
                parts_of: entry.parts.iter().find_map(|part| part.of),
                rows: entry.rows(),
                start_s: times.filter_map(|part| part.min_time_us).min().map(micros_to_seconds),
                end_s: entry.max_time_us().map(micros_to_seconds),
                remarks,
                sha256: hex(&hasher.finalize()),
                gaps: gaps.iter().filter(|gap| gap.table == *table).cloned().collect(),
            }
        })
        .collect()
}

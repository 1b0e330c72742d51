//! The tables from which an answer was made.
//!
//! In: a lake. Out: for each table its parts, hours, checksum and gaps.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::envelope::Input;
use crate::lake::Lake;
use crate::sources::hex;
use crate::units::micros_to_seconds;

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
                part_count: Some(entry.parts.len() as u64),
                parts_of: entry.parts.iter().find_map(|part| part.of).map(u64::from),
                rows: Some(entry.rows()),
                start_s: times.filter_map(|part| part.min_time_us).min().map(micros_to_seconds),
                end_s: entry.max_time_us().map(micros_to_seconds),
                remarks,
                sha256: hex(&hasher.finalize()),
                gaps: gaps.iter().filter(|gap| gap.table == *table).cloned().collect(),
            }
        })
        .collect()
}

//! Missing parts between the loaded parts of a table.
//!
//! In: the parts of the manifest. Out: a [`Gap`] for each run of missing part numbers with loaded
//! parts on both sides, with its time. Missing parts before the first or after the last loaded part
//! only make the trace shorter and are not gaps.
//!
//! ```text
//!  parts   0 ··· 13 |   14   | 15 16 17 |
//!          --------►|  hole  |◄---------          from the last event of 13 to the first of 15
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use super::manifest::TableEntry;
use super::reader::Lake;
use crate::schema::Table;

/// Missing parts of a table, and the time that they would cover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The table.
    pub table: String,
    /// The missing parts, such as `14` or `14-16`.
    pub parts: String,
    /// The last loaded event before the gap, hours of the trace clock; `None` if the parts are not
    /// ordered by time.
    pub from_h: Option<f64>,
    /// The first loaded event after the gap, hours of the trace clock; `None` as for `from_h`.
    pub until_h: Option<f64>,
}

impl Lake {
    /// The gaps of every table, in the order of the tables.
    pub fn gaps(&self) -> Vec<Gap> {
        let tables =
            Table::ALL.into_iter().filter_map(|table| Some((table, self.manifest.table(table)?)));
        tables.flat_map(|(table, entry)| gaps_of(table, entry)).collect()
    }

    /// The gaps as a sentence without its full stop; `None` if nothing is missing.
    pub fn gap_note(&self) -> Option<String> {
        note_of(&self.gaps())
    }
}

/// Gaps as a sentence without its full stop; `None` if there are none.
pub fn note_of(gaps: &[Gap]) -> Option<String> {
    let all: Vec<String> = gaps.iter().map(ToString::to_string).collect();
    (!all.is_empty()).then(|| format!("Missing between loaded parts: {}", all.join("; ")))
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.parts.contains('-') { "parts" } else { "part" };
        write!(f, "{} {noun} {}", self.table, self.parts)?;
        match (self.from_h, self.until_h) {
            (Some(from_h), Some(until_h)) => write!(f, " (hours {from_h:.2} to {until_h:.2})"),
            _ => Ok(()),
        }
    }
}

fn gaps_of(table: Table, entry: &TableEntry) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for (place, pair) in (1..).zip(entry.parts.windows(2)) {
        let [before, after] = [pair[0].part, pair[1].part];
        if after - before < 2 {
            continue;
        }
        let (earlier, later) = entry.parts.split_at(place);
        let from_us = earlier.iter().filter_map(|part| part.max_time_us).max();
        let until_us = later.iter().filter_map(|part| part.min_time_us).min();
        let times = from_us.zip(until_us).filter(|(from_us, until_us)| from_us < until_us);
        let (first, last) = (before + 1, after - 1);
        gaps.push(Gap {
            table: table.name().to_owned(),
            parts: if first == last { first.to_string() } else { format!("{first}-{last}") },
            from_h: times.map(|times| hours(times.0)),
            until_h: times.map(|times| hours(times.1)),
        });
    }
    gaps
}

fn hours(micros: i64) -> f64 {
    crate::units::micros_to_seconds(micros) / 3600.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::PartEntry;

    /// Checks the gaps of parts, given as (number, first and last hour).
    fn check(parts: &[(u32, Option<(i64, i64)>)], expected: &str) {
        let part = |&(part, hours): &(u32, Option<(i64, i64)>)| PartEntry {
            part,
            of: Some(500),
            raw_file: String::new(),
            raw_bytes: 0,
            sha256: String::new(),
            lines: 0,
            rows: 0,
            rejects: std::collections::BTreeMap::new(),
            remarks: std::collections::BTreeMap::new(),
            header: Vec::new(),
            min_time_us: hours.map(|hours| hours.0 * 3_600_000_000),
            max_time_us: hours.map(|hours| hours.1 * 3_600_000_000),
            max_rejects: String::new(),
            segment: String::new(),
        };
        let parts = parts.iter().map(part).collect();
        let entry = TableEntry { parts, files: Vec::new() };
        let found: Vec<String> =
            gaps_of(Table::TaskEvents, &entry).iter().map(ToString::to_string).collect();
        assert_eq!(found.join("; "), expected);
    }

    #[test]
    fn a_gap_lies_between_loaded_parts_and_tells_its_hours() {
        check(&[], "");
        check(&[(3, Some((0, 1))), (4, Some((1, 2)))], "");
        check(
            &[(0, Some((0, 1))), (1, None), (3, Some((4, 5))), (7, Some((6, 7)))],
            "task_events part 2 (hours 1.00 to 4.00); task_events parts 4-6 (hours 5.00 to 6.00)",
        );
        // Not ordered by time: no hours can be given.
        check(&[(0, Some((5, 6))), (2, Some((0, 9)))], "task_events part 1");
        check(&[(0, None), (2, Some((0, 9)))], "task_events part 1");
    }
}

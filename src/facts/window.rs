//! Where the window of a trace ends.
//!
//! In: what the lake holds. Out: the instants at which open jobs and open attempts are closed.
//! They are the published end for the whole trace of 2011, and otherwise the last event of the
//! table that is asked about.

use serde::Serialize;

use crate::lake::Lake;
use crate::schema::{Source, Table};
use crate::units::MICROS_PER_SECOND;

/// End of the window of the whole 2011 trace (600 s and 29 days), as published:
/// 2,506,200 s.
const END_2011_US: i64 = 2_506_200 * MICROS_PER_SECOND;

/// Length of the time slice that one of the 500 parts covers.
const SLICE_2011_US: i64 = 5_011_200_000;

/// Parts of a whole table of the 2011 trace.
const PARTS_2011: u32 = 500;

/// Where what is still open is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Windows {
    /// End for questions about `job_events`, µs.
    pub job_end_us: i64,
    /// End for questions about `task_events`, µs.
    pub task_end_us: i64,
}

impl Windows {
    /// The ends for a lake; `chosen` (µs) overrides both.
    pub fn of(lake: &Lake, chosen: Option<i64>) -> Self {
        let end = |table| chosen.unwrap_or_else(|| end_of(lake, table));
        Self { job_end_us: end(Table::JobEvents), task_end_us: end(Table::TaskEvents) }
    }
}

fn end_of(lake: &Lake, table: Table) -> i64 {
    let Some(entry) = lake.manifest.table(table) else { return 0 };
    let last = entry.max_time_us().unwrap_or(0);
    let is_2011 = lake.source() == Source::Google2011
        && lake.manifest.origin.is_original()
        && entry.is_whole()
        && entry.parts.iter().all(|part| part.of == Some(PARTS_2011))
        && (END_2011_US - SLICE_2011_US..=END_2011_US).contains(&last);
    if is_2011 { END_2011_US } else { last }
}

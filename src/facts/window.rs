//! The end of the window of a trace.
//!
//! In: the contents of a lake. Out: the times at which open jobs and open attempts are closed. They
//! are the published end for the whole trace of 2011, and otherwise the last event of the table in
//! question. An attempt without a recorded end is closed earlier if its job has ended
//! ([`OpenAttempts`], [`JobEnds`]).

use std::fmt;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::FactError;
use super::events::{Event, Histories, i32_column, i64_column};

use crate::lake::Lake;
use crate::schema::{EventType, ROW_ID, Source, Table};
use crate::units::{MICROS_PER_SECOND, micros_to_seconds};

/// End of the window of the whole 2011 trace (600 s and 29 days), as published:
/// 2,506,200 s.
const END_2011_US: i64 = 2_506_200 * MICROS_PER_SECOND;

/// Length of the time slice that one of the 500 parts covers.
const SLICE_2011_US: i64 = 5_011_200_000;

/// Parts of a whole table of the 2011 trace; machine events have one.
const PARTS_2011: u32 = 500;

/// The start of the traces of 2011 and 2019: 600 s of their clock, as published. Earlier events
/// have time 0.
pub const BEGIN_2011_US: i64 = 600 * MICROS_PER_SECOND;

/// The first event of the loaded tasks (of the jobs if no task is loaded), µs. If it is before the
/// window, the window starts with the trace.
pub fn first_event_us(lake: &Lake) -> i64 {
    let first = |table| {
        let parts = lake.manifest.table(table)?.parts.iter();
        parts.filter_map(|part| part.min_time_us).min()
    };
    let first = first(Table::TaskEvents).or_else(|| first(Table::JobEvents)).unwrap_or(0);
    if first < lake.source().first_time_us() { BEGIN_2011_US } else { first }
}

/// The times between the loaded parts of a table, µs, in order.
#[expect(clippy::cast_possible_truncation, reason = "an instant of the trace")]
pub(crate) fn gaps_us(lake: &Lake, table: Table) -> Vec<[i64; 2]> {
    let micros = |hours: f64| (hours * 3.6e9).round() as i64;
    let gaps = lake.gaps().into_iter().filter(|gap| gap.table == table.name());
    let gaps = gaps.filter_map(|gap| Some([micros(gap.from_h?), micros(gap.until_h?)]));
    let mut gaps: Vec<[i64; 2]> = gaps.collect();
    gaps.sort_unstable();
    gaps
}

/// When open jobs and attempts are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Windows {
    /// End of the window for `job_events`, µs.
    pub job_end_us: i64,
    /// End of the window for `task_events`, µs.
    pub task_end_us: i64,
    /// The first time in the window, µs.
    pub first_us: i64,
    /// How an attempt without a recorded end is closed.
    pub open_attempts: OpenAttempts,
}

/// A chosen end of the window is before the last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the end of the window, {} s, is before the last event, at {} s",
    micros_to_seconds(*end_us),
    micros_to_seconds(*last_us)
)]
#[non_exhaustive]
pub struct EarlyEnd {
    /// The chosen end, µs.
    pub end_us: i64,
    /// The last event, µs; for the whole trace of 2011 the published end.
    pub last_us: i64,
}

impl EarlyEnd {
    /// The message of a command about its option `--window-end`.
    #[doc(hidden)]
    pub fn of_option(self) -> String {
        let [end, last] = [self.end_us, self.last_us].map(micros_to_seconds);
        format!("--window-end {end} is before the last event, at {last} s")
    }
}

/// When an attempt without a recorded end is closed.
///
/// Parts may be missing between others; the end of an attempt may lie in such a hole, while
/// `job_events` still says when its job ended. An attempt never outlasts its job:
///
/// ```text
///  task    SCHEDULE ═══════════╌╌╌ hole ╌╌╌╌        (no terminal event in the loaded parts)
///  job                                     KILL
///  job-end         |--------- attempt -----|
///  window-end      |--------- attempt ------------------------| end of task_events
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OpenAttempts {
    /// At the end of its job; at the window's end if the job is open
    #[default]
    JobEnd,
    /// At the window's end
    WindowEnd,
}

impl OpenAttempts {
    /// The name on the command line, and in the `settings` of the queries.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobEnd => "job-end",
            Self::WindowEnd => "window-end",
        }
    }
}

impl fmt::Display for OpenAttempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Windows {
    /// The windows of a lake.
    pub fn of(lake: &Lake) -> Self {
        Self {
            job_end_us: end_of(lake, Table::JobEvents),
            task_end_us: end_of(lake, Table::TaskEvents),
            first_us: lake.source().first_time_us(),
            open_attempts: OpenAttempts::default(),
        }
    }

    /// The windows of a lake, which both end at `chosen`, µs, if it is given.
    ///
    /// # Errors
    /// The chosen end is before the last event, and would cut history short.
    pub fn ending(lake: &Lake, chosen: Option<i64>) -> Result<Self, EarlyEnd> {
        let windows = Self::of(lake);
        let last_us = windows.job_end_us.max(windows.task_end_us);
        match chosen {
            Some(end_us) if end_us < last_us => Err(EarlyEnd { end_us, last_us }),
            chosen => Ok(windows.with_end(chosen)),
        }
    }

    /// The same windows, which both end at `chosen`, µs, if it is given.
    fn with_end(self, chosen: Option<i64>) -> Self {
        chosen.map_or(self, |end_us| Self { job_end_us: end_us, task_end_us: end_us, ..self })
    }

    /// The same windows, with attempts without an end event closed in this way.
    #[must_use]
    pub const fn closing(self, open_attempts: OpenAttempts) -> Self {
        Self { open_attempts, ..self }
    }

    /// Whether a job or task with this first event began before the window. Every command uses this
    /// definition: a job submitted before the window began before it, no matter when it was
    /// scheduled.
    #[must_use]
    pub const fn has_begun_before(self, first_event_us: i64) -> bool {
        self.is_before(first_event_us)
    }

    /// Whether an event is before the window.
    #[must_use]
    pub const fn is_before(self, time_us: i64) -> bool {
        time_us < self.first_us
    }
}

fn end_of(lake: &Lake, table: Table) -> i64 {
    let last = || lake.manifest.table(table)?.max_time_us();
    published_end(lake, table).or_else(last).unwrap_or(0)
}

/// The published end of the window of the 2011 trace, µs, if the lake has a whole table of it.
pub(super) fn published_end(lake: &Lake, table: Table) -> Option<i64> {
    let entry = lake.manifest.table(table)?;
    let last = entry.max_time_us()?;
    let parts = if table == Table::MachineEvents { 1 } else { PARTS_2011 };
    let is_2011 = lake.source() == Source::Google2011
        && lake.manifest.origin.is_original()
        && entry.is_whole()
        && entry.parts.iter().all(|part| part.of == Some(parts))
        && (END_2011_US - SLICE_2011_US..=END_2011_US).contains(&last);
    is_2011.then_some(END_2011_US)
}

/// When the jobs of a bucket ended: the last terminal event of a job, if no SUBMIT or SCHEDULE
/// follows it. A job that is open, or without a row in `job_events`, has no end.
#[derive(Debug, Default)]
pub struct JobEnds(FxHashMap<i64, Deciding>);

/// The last event of a job that decides whether the job has ended.
#[derive(Clone, Copy, Debug)]
struct Deciding {
    time_us: i64,
    row_id: i64,
    is_end: bool,
}

impl JobEnds {
    /// Reads the jobs of a bucket; there are none without `job_events`.
    pub fn read(lake: &Lake, bucket: u32) -> Result<Self, FactError> {
        let mut last: FxHashMap<i64, Deciding> = FxHashMap::default();
        let columns = [ROW_ID, "time_us", "job_id", "event_type"];
        lake.scan(Table::JobEvents, Some(bucket), &columns, |batch| {
            let (row_ids, times) = (i64_column(&batch, ROW_ID), i64_column(&batch, "time_us"));
            let jobs = i64_column(&batch, "job_id");
            for (row, &event_type) in i32_column(&batch, "event_type").iter().enumerate() {
                let Some(kind) = EventType::of(event_type).filter(|kind| kind.is_deciding()) else {
                    continue;
                };
                let is_end = kind.is_terminal();
                let event = Deciding { time_us: times[row], row_id: row_ids[row], is_end };
                let known = last.entry(jobs[row]).or_insert(event);
                if (known.time_us, known.row_id) < (event.time_us, event.row_id) {
                    *known = event;
                }
            }
        })?;
        last.retain(|_, event| event.is_end);
        Ok(Self(last))
    }

    /// The same for jobs that are already read, from their histories.
    pub fn of_histories(jobs: &Histories) -> Self {
        let deciding = |job: usize| {
            let events = jobs.events(job).iter().rev();
            let last = events.copied().find(|event| event.event_type.is_deciding())?;
            let Event { time_us, row_id, event_type, .. } = last;
            Some((jobs.ids[job].0, Deciding { time_us, row_id, is_end: event_type.is_terminal() }))
        };
        let ended = (0..jobs.len()).filter_map(deciding).filter(|(_, event)| event.is_end);
        Self(ended.collect())
    }

    /// When a job ended, µs.
    pub fn of(&self, job_id: i64) -> Option<i64> {
        self.0.get(&job_id).map(|event| event.time_us)
    }
}

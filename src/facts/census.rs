//! Counts the contents of a lake and their oddities, bucket by bucket.
//!
//! In: a lake. Out: a [`Census`]: for each table counts by name, such as `event_type 3` or
//! `nulls in user`. This module judges nothing; `studies::checks` compares with published counts.
//!
//! The state machine of jobs and tasks, from the document of the trace:
//!
//! ```text
//!  unsubmitted ──SUBMIT──► pending ──SCHEDULE──► running ──EVICT FAIL FINISH KILL LOST──► dead
//!       dead ──SUBMIT──► pending ──FAIL KILL LOST──► dead      UPDATE_* keep the state
//! ```
//!
//! `UPDATE_PENDING` belongs to a pending and `UPDATE_RUNNING` to a running job or task. In other
//! states they count as illegal, and the state does not change.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float32Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::FactError;
use super::events::{self, Event, Histories, i32_column, i64_column};
use super::jobs::{SEQUENCE_OUTCOMES, by_sequence};
use super::tasks::{closed, open_since};
use super::window::{JobEnds, Windows, gaps_us};
use crate::lake::Lake;
use crate::schema::{Column, EventType, ROW_ID, Table};
use crate::units::micros_to_seconds;

/// Counts of one table by name.
pub type Counts = BTreeMap<String, u64>;

/// Counts of every table that is in the lake.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// By table.
    pub tables: BTreeMap<Table, Counts>,
    /// Jobs with the event sequence of a job that finished, failed, was killed or runs; the others
    /// are of class `other`.
    pub plain_jobs: u64,
}

/// The counts of one bucket (or of a whole table without buckets).
#[derive(Default)]
struct Tally {
    counts: Counts,
    texts: BTreeMap<&'static str, FxHashSet<String>>,
    machines: FxHashSet<i64>,
    /// Running time of attempts closed with their job, µs.
    closed_us: i64,
    plain_jobs: u64,
}

impl Tally {
    fn add(&mut self, name: impl Into<String>, count: u64) {
        *self.counts.entry(name.into()).or_default() += count;
    }

    fn merge(mut self, other: Self) -> Self {
        for (name, count) in other.counts {
            self.add(name, count);
        }
        for (column, texts) in other.texts {
            self.texts.entry(column).or_default().extend(texts);
        }
        self.machines.extend(other.machines);
        self.closed_us += other.closed_us;
        self.plain_jobs += other.plain_jobs;
        self
    }
}

/// Data from the tables of a bucket that were counted first, for the tables that are counted next.
#[derive(Default)]
struct Known {
    job_ends: JobEnds,
    tasks: Option<Histories>,
}

/// Tallies by table.
type Tallies = BTreeMap<Table, Tally>;

fn merged(mut one: Tallies, other: Tallies) -> Tallies {
    for (table, tally) in other {
        let before = one.remove(&table).unwrap_or_default();
        one.insert(table, before.merge(tally));
    }
    one
}

/// Counts everything in a lake, bucket by bucket: jobs, then their tasks, then the use of the
/// tasks.
pub fn census(lake: &Lake) -> Result<Census, FactError> {
    let tables = Table::ALL.into_iter().filter(|&table| lake.has(table));
    let (spread, others): (Vec<Table>, Vec<Table>) =
        tables.partition(|table| table.job_column().is_some());
    let of_bucket = |bucket: u32| -> Result<Tallies, FactError> {
        let mut known = Known::default();
        let found =
            spread.iter().map(|&table| Ok((table, tally(lake, table, Some(bucket), &mut known)?)));
        found.collect()
    };
    let tallies: Tallies = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(of_bucket)
        .try_reduce(Tallies::default, |one, other| Ok(merged(one, other)))?;
    let others: Tallies = others
        .into_par_iter()
        .with_max_len(1)
        .map(|table| Ok((table, tally(lake, table, None, &mut Known::default())?)))
        .collect::<Result<_, FactError>>()?;
    Ok(Census::of(merged(tallies, others)))
}

impl Census {
    /// Adds up what depends on all buckets of a table, and compares tables.
    fn of(tallies: Tallies) -> Self {
        let mut census = Self::default();
        let mut machines: BTreeMap<Table, FxHashSet<i64>> = BTreeMap::new();
        for (table, mut whole) in tallies {
            for (column, texts) in std::mem::take(&mut whole.texts) {
                whole.add(format!("distinct {column}"), texts.len() as u64);
            }
            match table {
                Table::TaskEvents => whole.add(CLOSED_S, micros_to_whole_seconds(whole.closed_us)),
                Table::MachineEvents => whole.add("machines", whole.machines.len() as u64),
                Table::JobEvents => census.plain_jobs = whole.plain_jobs,
                _ => {}
            }
            census.tables.insert(table, whole.counts);
            machines.insert(table, whole.machines);
        }
        if let Some(announced) = machines.remove(&Table::MachineEvents) {
            for (table, used) in machines.into_iter().filter(|(_, used)| !used.is_empty()) {
                let unknown = used.difference(&announced).count() as u64;
                let counts = census.tables.entry(table).or_default();
                counts.insert("machines never announced".to_owned(), unknown);
            }
        }
        census
    }
}

fn tally(
    lake: &Lake,
    table: Table,
    bucket: Option<u32>,
    known: &mut Known,
) -> Result<Tally, FactError> {
    let names: Vec<&'static str> = std::iter::once(ROW_ID)
        .chain(table.columns(lake.source()).iter().map(|column| column.name))
        .collect();
    let mut tally = Tally::default();
    let mut hashes: Vec<u64> = Vec::new();
    // Batch by batch: only the columns of times and ids stay in memory.
    let mut batches: Vec<RecordBatch> = Vec::new();
    let kept = kept_columns(table);
    tally.add("rows", 0);
    lake.scan(table, bucket, &names, |batch| {
        tally.add("rows", batch.num_rows() as u64);
        count_cells(&mut tally, table.columns(lake.source()), &batch);
        hashes.extend(row_hashes(&batch));
        if !kept.is_empty() {
            let order: Vec<usize> = kept
                .iter()
                .map(|name| batch.schema().index_of(name).expect("kept columns were read"))
                .collect();
            batches.push(batch.project(&order).expect("indices are in range"));
        }
    })?;
    hashes.sort_unstable();
    // By chance, two rows of a bucket have equal hashes only once in a hundred thousand whole
    // traces.
    let repeats = hashes.windows(2).filter(|pair| pair[0] == pair[1]).count();
    tally.add("exact duplicates", repeats as u64);
    drop(hashes);
    match table {
        Table::JobEvents | Table::TaskEvents => {
            let histories = Histories::of(table, &batches);
            count_histories(&mut tally, &histories);
            let all = 0..histories.len();
            let firsts = all.filter_map(|entity| histories.events(entity).first());
            count_after_gap(&mut tally, &gaps_us(lake, table), firsts);
            if table == Table::JobEvents {
                known.job_ends = JobEnds::of_histories(&histories);
            } else {
                count_open_attempts(&mut tally, lake, known, &histories);
                known.tasks = Some(histories);
            }
        }
        Table::TaskUsage => count_windows(&mut tally, lake, known, &batches),
        _ => {}
    }
    Ok(tally)
}

/// The columns that are needed again once the whole bucket has been read.
fn kept_columns(table: Table) -> &'static [&'static str] {
    match table {
        Table::JobEvents | Table::TaskEvents => events::columns(table),
        Table::TaskUsage => &[ROW_ID, "start_time_us", "end_time_us", "job_id", "task_index"],
        _ => &[],
    }
}

/// Counts nulls, codes, sentinel times and distinct names.
fn count_cells(tally: &mut Tally, columns: &[Column], batch: &RecordBatch) {
    for (column, array) in columns.iter().zip(&batch.columns()[1..]) {
        if !column.is_mandatory {
            tally.add(format!("nulls in {}", column.name), array.null_count() as u64);
        }
        if matches!(
            column.name,
            "event_type" | "missing_info" | "scheduling_class" | "comparison_operator"
        ) {
            let codes = array.as_primitive::<Int32Type>();
            let mut counts: FxHashMap<i32, u64> = FxHashMap::default();
            codes.iter().flatten().for_each(|code| *counts.entry(code).or_default() += 1);
            let counts: BTreeMap<i32, u64> = counts.into_iter().collect();
            for (code, count) in counts {
                tally.add(format!("{} {code}", column.name), count);
            }
        }
        if matches!(column.name, "user" | "job_name" | "logical_job_name" | "platform_id") {
            let seen = tally.texts.entry(column.name).or_default();
            for text in array.as_string::<i32>().iter().flatten() {
                if !seen.contains(text) {
                    seen.insert(text.to_owned());
                }
            }
        }
        if column.name == "machine_id" {
            tally.machines.extend(array.as_primitive::<Int64Type>().iter().flatten());
        }
    }
    let times = i64_column(batch, columns[0].name);
    tally.add("rows at time 0", times.iter().filter(|&&time| time == 0).count() as u64);
    tally.add("rows at time 2^63-1", times.iter().filter(|&&time| time == i64::MAX).count() as u64);
}

/// A hash of each row over all columns except the first (`row_id`).
fn row_hashes(batch: &RecordBatch) -> Vec<u64> {
    let mut hashers = vec![FxHasher::default(); batch.num_rows()];
    for column in &batch.columns()[1..] {
        hash_column(column, &mut hashers);
    }
    hashers.iter().map(Hasher::finish).collect()
}

fn hash_column(column: &ArrayRef, hashers: &mut [FxHasher]) {
    fn feed<T: Hash>(cells: impl Iterator<Item = T>, hashers: &mut [FxHasher]) {
        cells.zip(hashers).for_each(|(cell, hasher)| cell.hash(hasher));
    }
    match column.data_type() {
        DataType::Int64 => feed(column.as_primitive::<Int64Type>().iter(), hashers),
        DataType::Int32 => feed(column.as_primitive::<Int32Type>().iter(), hashers),
        DataType::Float32 => {
            feed(
                column.as_primitive::<Float32Type>().iter().map(|cell| cell.map(f32::to_bits)),
                hashers,
            );
        }
        DataType::Boolean => feed(column.as_boolean().iter(), hashers),
        DataType::List(_) => {
            let bits = |list: ArrayRef| {
                let values = list.as_primitive::<Float32Type>().values().iter();
                values.map(|value| value.to_bits()).collect::<Vec<u32>>()
            };
            feed(column.as_list::<i32>().iter().map(|list| list.map(bits)), hashers);
        }
        _ => feed(column.as_string::<i32>().iter(), hashers),
    }
}

/// State of a job or task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unsubmitted,
    Pending,
    Running,
    Dead,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Unsubmitted => "before submission",
            Self::Pending => "while pending",
            Self::Running => "while running",
            Self::Dead => "while dead",
        }
    }

    /// The state after an event, and whether the state machine allows the transition.
    const fn after(self, event_type: EventType) -> (Self, bool) {
        match event_type {
            EventType::Submit => (Self::Pending, matches!(self, Self::Unsubmitted | Self::Dead)),
            EventType::Schedule => (Self::Running, matches!(self, Self::Pending)),
            EventType::Evict | EventType::Finish => (Self::Dead, matches!(self, Self::Running)),
            EventType::Fail | EventType::Kill | EventType::Lost => {
                (Self::Dead, matches!(self, Self::Pending | Self::Running))
            }
            EventType::UpdatePending => (self, matches!(self, Self::Pending)),
            EventType::UpdateRunning => (self, matches!(self, Self::Running)),
            EventType::Queue | EventType::Enable => (self, true),
        }
    }
}

fn count_histories(tally: &mut Tally, histories: &Histories) {
    tally.add("entities", histories.len() as u64);
    tally.add("first event is not SUBMIT", 0);
    tally.add("ties", 0);
    tally.add("illegal transitions", 0);
    tally.add("ended while pending", 0);
    for entity in 0..histories.len() {
        let events = histories.events(entity);
        count_history(tally, events);
        tally.plain_jobs +=
            u64::from(SEQUENCE_OUTCOMES[usize::from(by_sequence(events))] != "other");
    }
    let jobs: FxHashSet<i64> = histories.ids.iter().map(|id| id.0).collect();
    tally.add("jobs", jobs.len() as u64);
}

fn count_history(tally: &mut Tally, events: &[Event]) {
    let ties = events.windows(2).filter(|pair| pair[0].time_us == pair[1].time_us).count();
    if 0 < ties {
        tally.add("ties", ties as u64);
        let late = events
            .windows(2)
            .filter(|pair| 0 < pair[0].time_us && pair[0].time_us == pair[1].time_us)
            .count();
        tally.add("ties after time 0", late as u64);
    }
    let at_once = |pair: &&[Event]| {
        let [start, end] = [pair[0], pair[1]];
        start.time_us == end.time_us
            && [start.event_type, end.event_type] == [EventType::Schedule, EventType::Fail]
    };
    let failed = events.windows(2).filter(at_once).count();
    if 0 < failed {
        tally.add(FAILED_AT_ONCE, failed as u64);
    }
    let mut state = State::Unsubmitted;
    for (idx, event) in events.iter().enumerate() {
        let (next, is_legal) = state.after(event.event_type);
        if idx == 0 && event.event_type != EventType::Submit {
            // Begun before the first loaded part: the transition is unknown.
            tally.add("first event is not SUBMIT", 1);
        } else if !is_legal {
            tally.add("illegal transitions", 1);
            let name = event.event_type.name();
            tally.add(format!("illegal: {name} {}", state.name()), 1);
        }
        if state == State::Pending && event.event_type.is_terminal() {
            tally.add("ended while pending", 1);
        }
        state = match (idx, event.event_type) {
            (0, EventType::UpdatePending) => State::Pending,
            (0, EventType::UpdateRunning) => State::Running,
            _ => next,
        };
    }
}

/// FAIL at the same time as the SCHEDULE before it: the attempt ran for no time. The count is
/// absent if there is none.
pub const FAILED_AT_ONCE: &str = "failed at the start";

/// Histories that do not start with a SUBMIT, and whose first row is not before the end of a gap
/// between loaded parts: the SUBMIT may be in the gap. They also count as
/// `first event is not SUBMIT`.
///
/// ```text
///  part 13 |   14   | 15
///          |  hole  |  SCHEDULE ····   not SUBMIT, and the first row is after the hole
/// ```
pub const AFTER_GAP: &str = "first event is not SUBMIT, after a gap";

/// Counts `AFTER_GAP` if the table has a gap. `gaps` are in order, µs; `firsts` are the first
/// events of the histories.
fn count_after_gap<'a>(
    tally: &mut Tally,
    gaps: &[[i64; 2]],
    firsts: impl Iterator<Item = &'a Event>,
) {
    let Some([_, until_us]) = gaps.first() else { return };
    let is_lost =
        |event: &&Event| event.event_type != EventType::Submit && *until_us <= event.time_us;
    tally.add(AFTER_GAP, firsts.filter(is_lost).count() as u64);
}

/// Running time of attempts without an end event, closed with their job.
const CLOSED_S: &str = "task-s of attempts closed with their job";

#[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "a time, not below 0")]
fn micros_to_whole_seconds(micros: i64) -> u64 {
    micros_to_seconds(micros).round() as u64
}

/// Counts attempts without an end event: those whose job has ended, and those that are open.
fn count_open_attempts(tally: &mut Tally, lake: &Lake, known: &Known, histories: &Histories) {
    let window_end_us = Windows::of(lake).task_end_us;
    let (mut closed, mut open) = (0, 0);
    for (entity, &(job_id, _)) in histories.ids.iter().enumerate() {
        let Some(start_us) = open_since(histories.events(entity)) else { continue };
        match known.job_ends.of(job_id).filter(|&end_us| end_us < window_end_us) {
            Some(end_us) => {
                closed += 1;
                tally.closed_us += (end_us - start_us).max(0);
            }
            None => open += 1,
        }
    }
    tally.add("attempts closed with their job", closed);
    tally.add("attempts open at the end", open);
}

/// Counts windows without a task, without length, and overlapping ones.
fn count_windows(tally: &mut Tally, lake: &Lake, known: &Known, batches: &[RecordBatch]) {
    let tasks = known.tasks.as_ref();
    let mut ends: FxHashMap<(i64, i32), i64> = FxHashMap::default();
    let (mut overlapping, mut unknown, mut empty) = (0_u64, 0_u64, 0_u64);
    let mut rows: Vec<(i64, i64, i64, (i64, i32))> = Vec::new();
    for batch in batches {
        let (starts, stops) =
            (i64_column(batch, "start_time_us"), i64_column(batch, "end_time_us"));
        let (jobs, indices) = (i64_column(batch, "job_id"), i32_column(batch, "task_index"));
        let row_ids = i64_column(batch, ROW_ID);
        for row in 0..batch.num_rows() {
            let id = (jobs[row], indices[row]);
            rows.push((starts[row], row_ids[row], stops[row], id));
            empty += u64::from(stops[row] <= starts[row]);
            unknown += u64::from(tasks.is_some_and(|tasks| tasks.find(id).is_none()));
        }
    }
    if !rows.is_sorted() {
        rows.sort_unstable();
    }
    let window_end_us = Windows::of(lake).task_end_us;
    for (start, _, stop, id) in rows {
        let latest = ends.entry(id).or_insert(i64::MIN);
        overlapping += u64::from(start < *latest);
        *latest = (*latest).max(closed(stop, window_end_us));
    }
    tally.add("windows that overlap an earlier one", overlapping);
    tally.add("windows without length", empty);
    if tasks.is_some() {
        tally.add("windows without a task", unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a count for one history given as digits, one event per second.
    fn check(sequence: &str, name: &str, expected: u64) {
        let events: Vec<Event> = (0_i64..)
            .zip(sequence.bytes())
            .map(|(idx, digit)| Event {
                time_us: idx,
                row_id: idx,
                event_type: EventType::of(digit - b'0').unwrap(),
                row: 0,
            })
            .collect();
        let mut tally = Tally::default();
        count_history(&mut tally, &events);
        assert_eq!(tally.counts.get(name).copied().unwrap_or(0), expected, "{sequence}: {name}");
    }

    #[test]
    fn a_failure_at_the_start_is_at_the_instant_of_the_schedule() {
        use EventType::{Fail, Kill, Schedule, Submit};
        let count = |events: &[(i64, EventType)]| {
            let event = |&(time_us, event_type)| Event { time_us, row_id: 0, event_type, row: 0 };
            let mut tally = Tally::default();
            count_history(&mut tally, &events.iter().map(event).collect::<Vec<Event>>());
            tally.counts.get(FAILED_AT_ONCE).copied()
        };
        let twice = [(1, Submit), (5, Schedule), (5, Fail), (5, Submit), (7, Schedule), (7, Fail)];
        assert_eq!(count(&twice), Some(2));
        assert_eq!(count(&[(1, Submit), (5, Schedule), (6, Fail)]), None);
        assert_eq!(count(&[(5, Submit), (5, Fail)]), None, "it never started");
        assert_eq!(count(&[(1, Submit), (5, Schedule), (5, Kill)]), None);
    }

    #[test]
    fn a_submit_is_lost_in_a_gap_only_if_all_rows_are_after_it() {
        //  hours        0 ··· 2 |  gap  | 5 ···
        //  task 0       1           5          first row before the gap
        //  task 1                       5      SCHEDULE after it: the SUBMIT is missing
        //  task 2                       6      SUBMIT after it
        let firsts = [(1, EventType::Schedule), (5, EventType::Schedule), (6, EventType::Submit)];
        let firsts =
            firsts.map(|(time_us, event_type)| Event { time_us, row_id: 0, event_type, row: 0 });
        let count = |gaps: &[[i64; 2]]| {
            let mut tally = Tally::default();
            count_after_gap(&mut tally, gaps, firsts.iter());
            tally.counts.get(AFTER_GAP).copied()
        };
        assert_eq!(count(&[[2, 5]]), Some(1));
        assert_eq!(count(&[[2, 6]]), Some(0));
        assert_eq!(count(&[]), None, "no count without a gap");
    }

    #[test]
    fn the_state_machine_is_the_documents() {
        for legal in ["014", "013014", "05", "071", "0184", "0130150", "14"] {
            check(legal, "illegal transitions", 0);
        }
        check("8014", "illegal: SUBMIT while running", 1);
        check("02", "illegal: EVICT while pending", 1);
        check("04", "illegal: FINISH while pending", 1);
        check("011", "illegal: SCHEDULE while running", 1);
        check("0144", "illegal: FINISH while dead", 1);
        check("05", "ended while pending", 1);
        check("14", "first event is not SUBMIT", 1);
    }
}

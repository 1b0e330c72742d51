//! One row per job: the native twin of `q01_job_outcomes`.
//!
//! In: `job_events` of one bucket. Out: [`Job`]s ordered by id, with their event sequence, both
//! outcomes, and the times of their first SUBMIT, first SCHEDULE and last event. A test compares
//! this with the query.

use arrow::array::AsArray;
use arrow::datatypes::Int32Type;
use arrow::record_batch::RecordBatch;
use rustc_hash::FxHashMap;

use super::FactError;
use super::events::{Event, Histories, optional_cells};
use super::tables::Fact;
use crate::lake::Lake;
use crate::schema::{EventType, ROW_ID, Table};

/// Outcomes by the exact event sequence.
pub const SEQUENCE_OUTCOMES: [&str; 5] = ["finished", "failed", "killed", "running", "other"];

/// Outcomes by the last terminal event.
pub const TERMINAL_OUTCOMES: [&str; 8] =
    ["finished", "failed", "killed", "evicted", "lost", "pending", "running", "unknown"];

/// The column of the job name.
const JOB_NAME: &str = "job_name";

/// The column of logs with the reason for the end of an attempt.
pub const END_REASON: &str = "end_reason";

/// The column of the quality of service, in logs that have one.
pub const QOS: &str = "qos";

/// The column of the account or group of the user, in logs that have one.
pub const ACCOUNT: &str = "user_group";

/// The column of the queue or partition, in logs that have one.
pub const QUEUE: &str = "queue";

/// The columns of logs by which jobs can be grouped.
pub const LABELS: [&str; 3] = [QOS, ACCOUNT, QUEUE];

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The id.
    pub id: i64,
    /// The event types in order, one digit each (10 is `A`).
    pub sequence: String,
    /// Position in [`SEQUENCE_OUTCOMES`].
    pub by_sequence: u8,
    /// Position in [`TERMINAL_OUTCOMES`].
    pub by_terminal: u8,
    /// First event, µs.
    pub first_event_us: i64,
    /// First SUBMIT, µs.
    pub first_submit_us: Option<i64>,
    /// First SCHEDULE, µs.
    pub first_schedule_us: Option<i64>,
    /// Last event, µs.
    pub last_event_us: i64,
    /// The user, as a position in [`Names`]; the largest name if a job has several.
    pub user: Option<u32>,
    /// The name, as a position in [`Names`].
    pub name: Option<u32>,
    /// The scheduling class last seen.
    pub scheduling_class: Option<i32>,
    /// Why it ended, in logs that record it, as a position in [`Names`].
    pub end_reason: Option<u32>,
    /// Its cells of [`LABELS`], as positions in [`Names`]; the largest name if a job has several.
    pub labels: [Option<u32>; LABELS.len()],
}

impl Job {
    /// Whether a terminal event has ended it.
    pub fn is_ended(&self) -> bool {
        is_ended(self.by_terminal)
    }

    /// First SCHEDULE to last event, or to the end of the window if the job has not ended; `None`
    /// for a job that was never scheduled.
    pub fn duration_us(&self, window_end_us: i64) -> Option<i64> {
        let start = self.first_schedule_us.filter(|&start| start < i64::MAX)?;
        let end = if self.is_open_at(window_end_us) { window_end_us } else { self.last_event_us };
        Some(end - start)
    }

    /// Whether it has not ended by the end of the window, and is closed there.
    pub fn is_open_at(&self, window_end_us: i64) -> bool {
        !self.is_ended() || window_end_us < self.last_event_us
    }
}

/// Writes event types as digits; 10 is `A`.
pub fn write_sequence(events: &[Event], text: &mut String) {
    text.extend(events.iter().map(|event| char::from(event.event_type.digit())));
}

/// The event types as digits.
pub fn sequence_of(events: &[Event]) -> String {
    let mut text = String::with_capacity(events.len());
    write_sequence(events, &mut text);
    text
}

/// The outcome by the exact sequence, as a position in [`SEQUENCE_OUTCOMES`].
pub fn by_sequence(events: &[Event]) -> u8 {
    match events {
        [first, second]
            if first.event_type == EventType::Submit
                && second.event_type == EventType::Schedule =>
        {
            3
        }
        [first, second, third]
            if first.event_type == EventType::Submit
                && second.event_type == EventType::Schedule =>
        {
            match third.event_type {
                EventType::Finish => 0,
                EventType::Fail => 1,
                EventType::Kill => 2,
                _ => 4,
            }
        }
        _ => 4,
    }
}

/// The outcome by the last terminal event, as a position in [`TERMINAL_OUTCOMES`].
pub fn by_terminal(events: &[Event]) -> u8 {
    match events.iter().rev().map(|event| event.event_type).find(|kind| kind.is_deciding()) {
        None => 7,
        Some(EventType::Submit) => 5,
        Some(EventType::Schedule) => 6,
        Some(EventType::Evict) => 3,
        Some(EventType::Fail) => 1,
        Some(EventType::Finish) => 0,
        Some(EventType::Kill) => 2,
        Some(_) => 4,
    }
}

/// Why a job or task ended: the cell of the event that decides its outcome.
pub(crate) fn reason_of<T: Copy>(events: &[Event], cells: &[Option<T>]) -> Option<T> {
    let last = events.iter().rev().find(|event| event.event_type.is_deciding())?;
    let is_end = !matches!(last.event_type, EventType::Submit | EventType::Schedule);
    cells.get(last.row as usize).copied().flatten().filter(|_| is_end)
}

/// Whether an outcome by the last terminal event (a position in [`TERMINAL_OUTCOMES`]) is an end.
pub const fn is_ended(by_terminal: u8) -> bool {
    by_terminal < 5
}

/// Distinct names in a bucket.
#[derive(Debug, Default)]
pub struct Names {
    all: Vec<String>,
    index: FxHashMap<String, u32>,
}

impl Names {
    /// The position of a name, which is added if it is new.
    pub(crate) fn intern(&mut self, name: &str) -> u32 {
        if let Some(&position) = self.index.get(name) {
            return position;
        }
        let position = u32::try_from(self.all.len()).expect("a bucket has fewer than 2^32 names");
        self.all.push(name.to_owned());
        self.index.insert(name.to_owned(), position);
        position
    }

    /// The name at a position.
    pub fn get(&self, position: u32) -> &str {
        &self.all[position as usize]
    }
}

/// The jobs of a bucket and their names.
#[derive(Debug, Default)]
pub struct Jobs {
    /// The jobs, by id.
    pub jobs: Vec<Job>,
    /// Users and job names.
    pub names: Names,
    index: FxHashMap<i64, u32>,
}

impl Jobs {
    /// Reads the jobs of a bucket.
    pub fn read(lake: &Lake, bucket: u32) -> Result<Self, FactError> {
        Self::read_columns(lake, bucket, Some(JOB_NAME))
    }

    /// Reads the jobs of a bucket without their names. Names are most of the table: almost every
    /// job has a different one.
    pub fn read_without_names(lake: &Lake, bucket: u32) -> Result<Self, FactError> {
        Self::read_columns(lake, bucket, None)
    }

    fn read_columns(
        lake: &Lake,
        bucket: u32,
        name: Option<&'static str>,
    ) -> Result<Self, FactError> {
        let mut columns =
            vec![ROW_ID, "time_us", "job_id", "event_type", "user", "scheduling_class"];
        columns.extend(name);
        let of_logs = [END_REASON].into_iter().chain(LABELS);
        columns.extend(of_logs.filter(|column| lake.has_column(Table::JobEvents, column)));
        let batches = lake.read(Table::JobEvents, Some(bucket), &columns)?;
        Ok(Self::of(&batches))
    }

    fn of(batches: &[RecordBatch]) -> Self {
        let histories = Histories::of(Table::JobEvents, batches);
        let mut names = Names::default();
        let users = names_of(batches, "user", &mut names);
        let classes = optional_cells::<Int32Type>(batches, "scheduling_class");
        let mut names_of_some = |column: &str| {
            let is_read = batches.first().is_some_and(|one| one.column_by_name(column).is_some());
            if is_read { names_of(batches, column, &mut names) } else { Vec::new() }
        };
        let (job_names, reasons) = (names_of_some(JOB_NAME), names_of_some(END_REASON));
        let labels = LABELS.map(names_of_some);
        let mut jobs: Vec<Job> = (0..histories.len())
            .map(|entity| {
                let events = histories.events(entity);
                let largest = |cells: &[Option<u32>]| {
                    events
                        .iter()
                        .filter_map(|event| cells.get(event.row as usize).copied().flatten())
                        .max_by_key(|&name| names.get(name))
                };
                let first = |kind| {
                    events
                        .iter()
                        .filter(|event| event.event_type == kind)
                        .map(|event| event.time_us)
                        .min()
                };
                Job {
                    id: histories.ids[entity].0,
                    sequence: sequence_of(events),
                    by_sequence: by_sequence(events),
                    by_terminal: by_terminal(events),
                    first_event_us: events.first().map_or(0, |event| event.time_us),
                    first_submit_us: first(EventType::Submit),
                    first_schedule_us: first(EventType::Schedule),
                    last_event_us: events.last().map_or(0, |event| event.time_us),
                    user: largest(&users),
                    name: largest(&job_names),
                    scheduling_class: events
                        .iter()
                        .rev()
                        .find_map(|event| classes[event.row as usize]),
                    end_reason: reason_of(events, &reasons),
                    labels: labels.each_ref().map(|cells| largest(cells)),
                }
            })
            .collect();
        jobs.sort_unstable_by_key(|job| job.id);
        let index = (0_u32..).zip(&jobs).map(|(position, job)| (job.id, position)).collect();
        Self { jobs, names, index }
    }

    /// The jobs of a table of `q01`.
    pub fn of_facts(fact: Fact<'_>) -> Self {
        let mut names = Names::default();
        let mut positions = |name: &str| -> Vec<Option<u32>> {
            fact.texts(name).map(|text| text.map(|text| names.intern(text))).collect()
        };
        let (users, job_names) = (positions("user"), positions("job_name"));
        let submits: Vec<Option<i64>> = fact.maybe_ints("first_submit_us").collect();
        let schedules: Vec<Option<i64>> = fact.maybe_ints("first_schedule_us").collect();
        let classes: Vec<Option<i64>> = fact.maybe_ints("scheduling_class").collect();
        let sequences = fact.texts("sequence");
        let outcomes = fact.texts("outcome_sequence").zip(fact.texts("outcome_terminal"));
        let (ids, lasts) = (fact.ints("job_id"), fact.ints("last_event_us"));
        let begins = fact.ints("first_event_us");
        let mut jobs: Vec<Job> = sequences
            .zip(outcomes)
            .enumerate()
            .map(|(row, (sequence, (by_sequence, by_terminal)))| Job {
                id: ids[row],
                sequence: sequence.unwrap_or_default().to_owned(),
                by_sequence: position_of(&SEQUENCE_OUTCOMES, by_sequence),
                by_terminal: position_of(&TERMINAL_OUTCOMES, by_terminal),
                first_event_us: begins[row],
                first_submit_us: submits[row],
                first_schedule_us: schedules[row],
                last_event_us: lasts[row],
                user: users[row],
                name: job_names[row],
                scheduling_class: classes[row].and_then(|class| i32::try_from(class).ok()),
                end_reason: None,
                labels: [None; LABELS.len()],
            })
            .collect();
        jobs.sort_unstable_by_key(|job| job.id);
        let index = (0_u32..).zip(&jobs).map(|(position, job)| (job.id, position)).collect();
        Self { jobs, names, index }
    }

    /// The position of a job.
    #[inline]
    pub fn find(&self, id: i64) -> Option<usize> {
        self.index.get(&id).map(|&position| position as usize)
    }
}

/// The outcome by the last terminal event, from its name in the facts.
pub(crate) fn terminal_of_name(outcome: Option<&str>) -> u8 {
    position_of(&TERMINAL_OUTCOMES, outcome)
}

/// The position of an outcome's name; the last position for any other name.
fn position_of(names: &[&str], outcome: Option<&str>) -> u8 {
    let place = names.iter().position(|name| Some(*name) == outcome);
    u8::try_from(place.unwrap_or(names.len() - 1)).expect("there are few outcomes")
}

fn names_of(batches: &[RecordBatch], column: &str, names: &mut Names) -> Vec<Option<u32>> {
    let mut cells = Vec::new();
    for batch in batches {
        let texts =
            batch.column_by_name(column).expect("the column was requested").as_string::<i32>();
        cells.extend(texts.iter().map(|text| text.map(|text| names.intern(text))));
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(sequence: &str) -> Vec<Event> {
        (0_i64..)
            .zip(sequence.bytes())
            .map(|(idx, digit)| Event {
                time_us: idx,
                row_id: idx,
                event_type: EventType::of(digit - b'0').unwrap(),
                row: 0,
            })
            .collect()
    }

    /// Checks both outcomes of a sequence.
    fn check(sequence: &str, expected_sequence: &str, expected_terminal: &str) {
        let events = events(sequence);
        assert_eq!(sequence_of(&events), sequence);
        assert_eq!(
            SEQUENCE_OUTCOMES[usize::from(by_sequence(&events))],
            expected_sequence,
            "{sequence}"
        );
        assert_eq!(
            TERMINAL_OUTCOMES[usize::from(by_terminal(&events))],
            expected_terminal,
            "{sequence}"
        );
    }

    #[test]
    fn outcomes_are_reported_both_ways() {
        check("014", "finished", "finished");
        check("013", "failed", "failed");
        check("015", "killed", "killed");
        check("01", "running", "running");
        check("012", "other", "evicted");
        check("016", "other", "lost");
        check("013014", "other", "finished");
        check("0130", "other", "pending");
        check("018888", "other", "running");
        check("0148", "other", "finished");
        check("8", "other", "unknown");
        check("05", "other", "killed");
        check("0", "other", "pending");
    }

    #[test]
    fn an_unended_job_lasts_to_the_end_of_the_window() {
        let job = |sequence: &str, last| Job {
            id: 1,
            sequence: sequence.into(),
            by_sequence: 4,
            by_terminal: by_terminal(&events(sequence)),
            first_event_us: 0,
            first_submit_us: Some(0),
            first_schedule_us: Some(10),
            last_event_us: last,
            user: None,
            name: None,
            scheduling_class: None,
            end_reason: None,
            labels: [None; LABELS.len()],
        };
        assert_eq!(job("014", 30).duration_us(100), Some(20));
        assert_eq!(job("01", 30).duration_us(100), Some(90));
        assert_eq!(job("014", i64::MAX).duration_us(100), Some(90));
        assert_eq!(Job { first_schedule_us: None, ..job("05", 30) }.duration_us(100), None);
    }
}

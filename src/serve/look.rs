//! Rows and charts of one job, user or machine of a lake.
//!
//! In: a lake, a kind and an id. Out: tables of its rows, up to a limit, and the charts of a
//! report. A job's rows are in one bucket; those of a user or a machine are searched in all
//! buckets, with a time limit.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;

use super::attempts::{ROWS_MAX, Row, attempts, ordered, without_reasons};
use super::lakes::span_of;
use crate::answers::machines::closeup;
use crate::answers::sentences::Ends;
use crate::answers::sweep::{JobDetail, closeup as job_closeup};
use crate::defaults::Defaults;
use crate::facts::events::Event;
use crate::facts::jobs::{by_sequence, by_terminal};
use crate::facts::window::Windows;
use crate::lake::{Lake, LakeError};
use crate::progress::{self, Watch};
use crate::report::jobs;
use crate::report::machines::{self, Units, drawings};
use crate::report::users::{self, JobsOfUser, known_for};
use crate::results::missing::Missing;
use crate::schema::{EventType, ROW_ID, SYSTEM_MACHINE, Table, bucket_of};
use crate::studies::outcomes::Classes;
use crate::units::micros_to_seconds;

/// Time limit of a search.
pub(super) const TIME: Duration = Duration::from_secs(20);

/// The column with the name of a machine, in sources that record it.
pub(super) const MACHINE_NAME: &str = "machine_name";

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    /// Caption, header, rows, and the number of rows including those left out.
    pub(super) tables: Vec<(String, Vec<String>, Vec<Row>, usize)>,
    /// Charts, as on a page of the report.
    pub(super) drawings: String,
    /// Why there are no charts.
    pub(super) failed: Option<String>,
    /// Whether the time limit ended the search.
    pub(super) is_cut: bool,
}

impl Found {
    pub(super) fn is_empty(&self) -> bool {
        self.tables.iter().all(|(_, _, rows, _)| rows.is_empty())
    }

    /// Sets why there are no charts.
    fn fail(&mut self, error: &dyn std::fmt::Display, end: Instant) {
        self.failed = Some(if end < progress::now() {
            format!("No charts: the search was stopped after {} s.", TIME.as_secs())
        } else {
            format!("No charts: {error}.")
        });
    }
}

/// Searches for rows; runs on a separate thread.
pub(super) fn look(path: &std::path::Path, what: &str, id: &str) -> Result<Found, LakeError> {
    let lake = Lake::open(path)?;
    let end = progress::now() + TIME;
    match what {
        "user" => user(&lake, id, end),
        "machine" => match machine_of(&lake, id)? {
            Some(id) => machine(&lake, id, end),
            None => Ok(Found::default()),
        },
        _ => id.parse().map_or_else(|_| Ok(Found::default()), |id| job(&lake, id, end)),
    }
}

/// The machine with a number, or otherwise with a name.
fn machine_of(lake: &Lake, text: &str) -> Result<Option<i64>, LakeError> {
    if let Ok(id) = text.parse() {
        return Ok(Some(id));
    }
    let mut found = None;
    if lake.has(Table::MachineEvents) && lake.has_column(Table::MachineEvents, MACHINE_NAME) {
        lake.scan(Table::MachineEvents, None, &["machine_id", MACHINE_NAME], |batch| {
            let ids = batch.column(0).as_primitive::<Int64Type>();
            let names = batch.column(1).as_string::<i32>();
            let is_it = |row: &usize| names.is_valid(*row) && names.value(*row) == text;
            found = found.or((0..batch.num_rows()).find(is_it).map(|row| ids.value(row)));
        })?;
    }
    Ok(found)
}

/// The columns that a table of this lake has.
fn columns(lake: &Lake, table: Table, wanted: &[&'static str]) -> Vec<&'static str> {
    wanted.iter().copied().filter(|name| *name == ROW_ID || lake.has_column(table, name)).collect()
}

/// Adds and counts the rows for which `is_wanted` holds, as texts without the row id; times in s.
fn take(
    batch: &RecordBatch,
    is_wanted: impl Fn(usize) -> bool,
    rows: &mut Vec<Row>,
    count: &mut usize,
) {
    let schema = batch.schema();
    let time = batch.column_by_name("time_us").map(AsArray::as_primitive::<Int64Type>);
    let number = batch.column_by_name(ROW_ID).map(AsArray::as_primitive::<Int64Type>);
    for row in (0..batch.num_rows()).filter(|&row| is_wanted(row)) {
        *count += 1;
        if ROWS_MAX * 4 <= rows.len() {
            continue;
        }
        let texts =
            schema.fields().iter().zip(batch.columns()).filter(|(field, _)| field.name() != ROW_ID);
        let texts = texts.map(|(field, column)| match field.name().as_str() {
            "time_us" => {
                micros_to_seconds(column.as_primitive::<Int64Type>().value(row)).to_string()
            }
            "event_type" => event_name(column.as_primitive::<Int32Type>().value(row)),
            // A cell that cannot be written stays empty.
            _ => array_value_to_string(column, row).unwrap_or_default(),
        });
        let at = |column: Option<&arrow::array::PrimitiveArray<Int64Type>>| {
            column.map_or(0, |column| column.value(row))
        };
        rows.push((at(time), at(number), texts.collect()));
    }
}

fn event_name(number: i32) -> String {
    EventType::of(number).map_or_else(|| number.to_string(), |event| event.name().to_owned())
}

/// The headers of columns in a table.
fn header(columns: &[&str]) -> Vec<String> {
    let shown = columns.iter().filter(|name| **name != ROW_ID);
    shown.map(|name| name.replace("time_us", "time_s").replace("event_type", "event")).collect()
}

/// A job: its events and the attempts of its tasks.
fn job(lake: &Lake, id: i64, end: Instant) -> Result<Found, LakeError> {
    const WANTED: [(Table, &str, [&str; 9]); 2] = [
        (
            Table::JobEvents,
            "Events of the job",
            [
                ROW_ID,
                "time_us",
                "job_id",
                "event_type",
                "user",
                "scheduling_class",
                "job_name",
                "queue",
                "end_reason",
            ],
        ),
        (
            Table::TaskEvents,
            "Events of its tasks",
            [
                ROW_ID,
                "time_us",
                "job_id",
                "task_index",
                "event_type",
                "machine_id",
                "user",
                "cpu_request",
                "priority",
            ],
        ),
    ];
    let mut found = Found::default();
    for (table, caption, wanted) in WANTED.into_iter().filter(|(table, ..)| lake.has(*table)) {
        let columns = columns(lake, table, &wanted);
        let (mut rows, mut count) = (Vec::new(), 0);
        lake.scan(table, Some(bucket_of(id, lake.bucket_count())), &columns, |batch| {
            let ids =
                batch.column_by_name("job_id").map(|ids| ids.as_primitive::<Int64Type>().clone());
            take(
                &batch,
                |row| ids.as_ref().is_some_and(|ids| ids.value(row) == id),
                &mut rows,
                &mut count,
            );
        })?;
        let (header, mut rows) = (header(&columns), ordered(rows));
        without_reasons(&header, &mut rows);
        if table == Table::TaskEvents {
            let attempts = attempts(&header, &rows);
            let own =
                ["task_index", "machine_id", "start_s", "end_s", "ended_by"].map(str::to_owned);
            let attempt_count = attempts.len();
            found.tables.push(("Attempts".to_owned(), own.to_vec(), attempts, attempt_count));
        }
        found.tables.push((caption.to_owned(), header, rows, count));
    }
    // A lake with only one of these tables has rows of a job, but not its charts.
    if lake.has(Table::JobEvents) && lake.has(Table::TaskEvents) {
        let watched = watched(lake, end);
        match job_closeup::one(&watched, Windows::of(&watched), id) {
            Ok(job) => {
                let ends = Ends::of_lake(lake);
                let missing = jobs::missing(&lake.gaps());
                let drawn = |job: JobDetail| jobs::drawings((&job, ends, &missing), id);
                found.drawings = job.map_or_else(String::new, drawn);
            }
            Err(error) => found.fail(&error, end),
        }
    }
    Ok(found)
}

/// A user: the jobs, by their first event.
fn user(lake: &Lake, name: &str, end: Instant) -> Result<Found, LakeError> {
    let table = if lake.has(Table::JobEvents) { Table::JobEvents } else { Table::TaskEvents };
    let mut jobs: BTreeMap<i64, Vec<(i64, i64, i32)>> = BTreeMap::new();
    let mut found = Found::default();
    for bucket in 0..lake.bucket_count() {
        if end < progress::now() {
            found.is_cut = true;
            break;
        }
        lake.scan(
            table,
            Some(bucket),
            &["job_id", "time_us", ROW_ID, "event_type", "user"],
            |batch| {
                let [ids, times, numbers] =
                    [0, 1, 2].map(|at| batch.column(at).as_primitive::<Int64Type>());
                let kinds = batch.column(3).as_primitive::<Int32Type>();
                let users = batch.column(4).as_string::<i32>();
                for row in (0..batch.num_rows())
                    .filter(|&row| users.is_valid(row) && users.value(row) == name)
                {
                    let event = (times.value(row), numbers.value(row), kinds.value(row));
                    jobs.entry(ids.value(row)).or_default().push(event);
                }
            },
        )?;
    }
    for events in jobs.values_mut() {
        events.sort_unstable();
    }
    let count = jobs.len();
    if table == Table::JobEvents && 0 < count {
        let spans = [Table::JobEvents, Table::TaskEvents].map(|table| span_of(lake, table));
        let missing = Missing::of(&lake.gaps(), &[Table::JobEvents]);
        found.drawings = drawn(
            &jobs,
            (name, Defaults::of(lake).classes),
            (known_for(spans[0], spans[1]), &missing),
        );
    }
    let rows = jobs.into_iter().map(|(id, events)| {
        let digits = events.iter().filter_map(|event| EventType::of(event.2)).map(EventType::digit);
        let sequence: String = digits.take(60).map(char::from).collect();
        let at = |event: Option<&(i64, i64, i32)>| event.map_or(0, |event| event.0);
        let [first, last] = [at(events.first()), at(events.last())];
        let seconds = |at: i64| micros_to_seconds(at).to_string();
        let count = events.len().to_string();
        (first, id, vec![id.to_string(), seconds(first), seconds(last), count, sequence])
    });
    let header =
        ["job_id", "first_event_s", "last_event_s", "events", "sequence"].map(str::to_owned);
    found.tables.push(("Jobs".to_owned(), header.to_vec(), ordered(rows.collect()), count));
    Ok(found)
}

/// The outcomes of the jobs of a user, and how many ran over time. The events of each job are in
/// order.
fn drawn(
    jobs: &BTreeMap<i64, Vec<(i64, i64, i32)>>,
    (name, classes): (&str, Classes),
    (known, missing): (Option<String>, &Missing),
) -> String {
    let mut outcomes: Vec<(&str, u64)> = classes.outcomes().iter().map(|own| (*own, 0)).collect();
    let mut spans = Vec::new();
    for events in jobs.values() {
        let event = |&(time_us, row_id, kind): &(i64, i64, i32)| {
            Some(Event { time_us, row_id, event_type: EventType::of(kind)?, row: 0 })
        };
        let events: Vec<Event> = events.iter().filter_map(event).collect();
        let outcome = match classes {
            Classes::Sequence => by_sequence(&events),
            Classes::Terminal => by_terminal(&events),
        };
        outcomes[usize::from(outcome)].1 += 1;
        let begun = events.iter().find(|event| event.event_type == EventType::Schedule);
        if let Some((begun, last)) = begun.zip(events.last()) {
            spans.push([begun.time_us, last.time_us]);
        }
    }
    users::drawings(
        &JobsOfUser { outcomes: &outcomes, classes, spans: &spans, known, missing },
        name,
    )
}

/// The charts of a machine: its load over time and the longest attempts on it, as in a report.
fn draw(lake: &Lake, id: i64, end: Instant, found: &mut Found) {
    if !lake.has(Table::MachineEvents) || !lake.has(Table::TaskEvents) {
        return;
    }
    let lake = watched(lake, end);
    match closeup::one(&lake, Windows::of(&lake), id) {
        Ok(Some((load, machine))) => {
            let unit = Units::of(Some(lake.source().name()));
            let missing = machines::missing(&lake.gaps());
            let title = format!("Machine {id}");
            found.drawings = drawings(&machine, (load, &missing), (&title, unit));
        }
        Ok(None) => {}
        Err(error) => found.fail(&error, end),
    }
}

/// The lake; reading it stops at the time limit.
fn watched(lake: &Lake, end: Instant) -> Lake {
    let is_over = move |_| {
        if end < progress::now() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    lake.watched(&Arc::new(Watch::new(is_over)))
}

/// A machine: when it came and went, and what ran on it.
fn machine(lake: &Lake, id: i64, end: Instant) -> Result<Found, LakeError> {
    let mut found = Found::default();
    // In a log, this machine represents the whole system.
    if id == SYSTEM_MACHINE && lake.source().is_log() {
        return Ok(found);
    }
    let is_it = |batch: &RecordBatch| {
        let ids =
            batch.column_by_name("machine_id").map(|ids| ids.as_primitive::<Int64Type>().clone());
        move |row: usize| ids.as_ref().is_some_and(|ids| ids.is_valid(row) && ids.value(row) == id)
    };
    if lake.has(Table::MachineEvents) {
        let wanted = [
            ROW_ID,
            "time_us",
            "machine_id",
            MACHINE_NAME,
            "event_type",
            "platform_id",
            "cpu_capacity",
            "memory_capacity",
        ];
        let columns = columns(lake, Table::MachineEvents, &wanted);
        let (mut rows, mut count) = (Vec::new(), 0);
        lake.scan(Table::MachineEvents, None, &columns, |batch| {
            take(&batch, is_it(&batch), &mut rows, &mut count);
        })?;
        let header = header(&columns);
        if let Some(event) = header.iter().position(|name| name == "event") {
            for row in &mut rows {
                // Events of machines have their own numbers; `take` named them as events of tasks.
                let own =
                    ["SUBMIT", "SCHEDULE", "EVICT"].iter().position(|name| *name == row.2[event]);
                let own = own.map_or("", |own| ["ADD", "REMOVE", "UPDATE"][own]);
                own.clone_into(&mut row.2[event]);
            }
        }
        found.tables.push(("Events of the machine".to_owned(), header, ordered(rows), count));
    }
    if lake.has(Table::TaskEvents) {
        let wanted =
            [ROW_ID, "time_us", "job_id", "task_index", "event_type", "machine_id", "user"];
        let columns = columns(lake, Table::TaskEvents, &wanted);
        let (mut rows, mut count) = (Vec::new(), 0);
        for bucket in 0..lake.bucket_count() {
            if end < progress::now() {
                found.is_cut = true;
                break;
            }
            lake.scan(Table::TaskEvents, Some(bucket), &columns, |batch| {
                take(&batch, is_it(&batch), &mut rows, &mut count);
            })?;
        }
        found.tables.push(("Task events".to_owned(), header(&columns), ordered(rows), count));
    }
    // Rows come first: they were requested, and the charts share their time limit.
    draw(lake, id, end, &mut found);
    Ok(found)
}

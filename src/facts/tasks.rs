//! Everything about each task of a bucket: events, attempts, usage.
//!
//! In: `task_events` and, if requested, `task_usage` of one bucket; `job_events` for attempts
//! without a recorded end. Out: [`TaskView`]s, one after another. This is the native twin of `q02`,
//! `q03` and `q06`: the studies fold over it once instead of running each query.
//!
//! ```text
//!  events     SUBMIT SCHEDULE          FAIL SUBMIT   SCHEDULE                  FINISH
//!  attempts          |------ 1 ---------|             |------------ 2 -----------|
//!  windows      |....|=====|=====|======|..|       |..|=====|=====|=====|========|...|
//!                    inside an attempt: counted          outside: `outside_attempts`
//! ```

use arrow::array::{Array, AsArray, PrimitiveArray};
use arrow::datatypes::{Float32Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;

use super::FactError;
use super::events::{
    EntityId, Event, Histories, Rows, add_optional_cells, i32_column, i64_column, starts_of,
};
use super::recorded::{
    CPU_REQUEST, CPU_TIME, REQUESTED_TIME, USED_MEMORY, add_used, add_used_memory,
};
pub use super::recorded::{
    GPU_REQUEST, has_cpu_times, records_cpu_time, records_gpus, records_requested_time,
    records_used_memory,
};
pub use super::spent::Spent;
pub use super::task_view::{Attempt, EndedBy, TaskView, Window};
pub use super::usage::Usage;
use super::window::{JobEnds, OpenAttempts, Windows};
use crate::lake::Lake;
use crate::schema::{EventType, ROW_ID, Table};
use crate::units::CpuTime;
use serde::{Deserialize, Serialize};

/// Counts of usage rows shown in the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageCounts {
    /// Usage rows.
    pub windows: u64,
    /// Rows without a mean CPU rate (or memory), taken as 0.
    pub without_rate: u64,
    /// Rows that start before an earlier window of the task has ended.
    pub overlapping: u64,
}

/// The tasks of a bucket.
pub struct Tasks {
    histories: Histories,
    requests: Vec<Option<f32>>,
    /// Requested or used memory by row; empty if it was not read.
    memory: Vec<Option<f32>>,
    /// Whether that is the used memory.
    is_memory_used: bool,
    /// Requested GPUs by row; empty if they were not read.
    gpus: Vec<Option<f32>>,
    /// CPU time used, by row; empty if it was not read or no log records it.
    used: Vec<Option<CpuTime>>,
    machines: Vec<Option<i64>>,
    priorities: Vec<Option<i32>>,
    /// Requested running times by row, µs; empty if no log has them.
    requested_us: Vec<Option<i64>>,
    /// Running times by row, µs, which may be less than from start to end; empty if no log has
    /// them.
    ran_us: Vec<Option<i64>>,
    phases: Phases,
    windows: Vec<Window>,
    window_starts: Vec<u32>,
    window_end_us: i64,
    job_ends: JobEnds,
    /// Counts of all usage rows, with or without a task.
    pub usage: UsageCounts,
    /// CPU (or memory time) in windows without any task.
    pub orphan_cpu: CpuTime,
}

impl Tasks {
    /// Reads the tasks of a bucket; `windows` decides how attempts without an end event are closed.
    pub fn read(
        lake: &Lake,
        bucket: u32,
        windows: Windows,
        usage: Usage,
    ) -> Result<Self, FactError> {
        Self::read_beside(lake, bucket, windows, usage, &[], |_| ())
    }

    /// Reads the tasks and passes the batches to `take` in row order, with `further` columns of the
    /// events in addition to those read for the tasks.
    pub fn read_beside(
        lake: &Lake,
        bucket: u32,
        windows: Windows,
        usage: Usage,
        further: &[&'static str],
        mut take: impl FnMut(&RecordBatch),
    ) -> Result<Self, FactError> {
        let has = |column: &'static str| lake.has_column(Table::TaskEvents, column);
        let records_memory = usage == Usage::UsedMemory && has(USED_MEMORY);
        let records_used = usage.is_of_cpu() && has_cpu_times(lake);
        let records_gpus = usage.is_of_gpus() && has(GPU_REQUEST);
        let mut columns = columns_of(lake, usage);
        add_recorded_use(&mut columns, [records_memory, records_used, records_gpus]);
        add_missing(&mut columns, further);
        // Reserves room for all rows: growing vectors would be copied again and again.
        let count = lake.rows_of(Table::TaskEvents, bucket);
        let mut rows = Rows::with_room(count);
        let (mut requests, mut machines) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut priorities = Vec::with_capacity(count);
        let (mut used, mut memory, mut gpus) = (Vec::new(), Vec::new(), Vec::new());
        let (mut phases, mut requested_us) = (Phases::default(), Vec::new());
        let mut ran_us = Vec::new();
        // Without the table no task is known, but usage can still be counted.
        lake.scan(Table::TaskEvents, Some(bucket), &columns, |batch| {
            rows.add(Table::TaskEvents, &batch);
            add_optional_cells::<Float32Type>(&mut requests, &batch, CPU_REQUEST);
            add_optional_cells::<Int64Type>(&mut machines, &batch, "machine_id");
            add_optional_cells::<Int32Type>(&mut priorities, &batch, "priority");
            phases.add(&batch);
            add_times(&mut requested_us, &batch, REQUESTED_TIME);
            add_times(&mut ran_us, &batch, RUN_TIME);
            if usage.is_of_memory_requests() {
                add_optional_cells::<Float32Type>(&mut memory, &batch, MEMORY_REQUEST);
            }
            if records_gpus {
                add_optional_cells::<Float32Type>(&mut gpus, &batch, GPU_REQUEST);
            }
            if records_memory {
                add_used_memory(&mut memory, &batch);
            }
            if records_used {
                add_used(&mut used, &batch);
            }
            take(&batch);
        })?;
        let histories = rows.histories();
        let asks_jobs = windows.open_attempts == OpenAttempts::JobEnd && has_open_task(&histories);
        let mut tasks = Self {
            requests,
            memory,
            is_memory_used: records_memory,
            gpus,
            used,
            machines,
            priorities,
            requested_us,
            ran_us,
            phases,
            windows: Vec::new(),
            window_starts: vec![0; histories.len() + 1],
            histories,
            window_end_us: windows.task_end_us,
            job_ends: if asks_jobs { JobEnds::read(lake, bucket)? } else { JobEnds::default() },
            usage: UsageCounts::default(),
            orphan_cpu: CpuTime::ZERO,
        };
        if let Some(column) = usage.column().filter(|_| !records_used) {
            tasks.add_windows(lake, bucket, (column, usage.beside()))?;
        }
        Ok(tasks)
    }

    /// Reads the usage windows and groups them by task (a counting sort). Owners are read first, so
    /// that each window goes directly to its place and is never in memory twice.
    fn add_windows(
        &mut self,
        lake: &Lake,
        bucket: u32,
        (rate, memory): (&'static str, Option<&'static str>),
    ) -> Result<(), FactError> {
        let task_count = self.histories.len();
        let nobody = u32::try_from(task_count).expect("a bucket has fewer than 2^32 tasks");
        let mut owners: Vec<u32> = Vec::with_capacity(lake.rows_of(Table::TaskUsage, bucket));
        let mut orphans: Vec<EntityId> = Vec::new();
        lake.scan(Table::TaskUsage, Some(bucket), &["job_id", "task_index"], |batch| {
            let (jobs, indices) = (i64_column(&batch, "job_id"), i32_column(&batch, "task_index"));
            owners.extend(jobs.iter().zip(indices).map(|(&job, &index)| {
                let task = self.histories.find((job, index));
                if task.is_none() {
                    orphans.push((job, index));
                }
                task.map_or(nobody, |task| u32::try_from(task).expect("fewer than `nobody`"))
            }));
        })?;
        // One more, for windows without a task.
        let mut starts = starts_of(&owners, task_count + 1);
        let mut next = starts.clone();
        let blank = Window { start_us: 0, end_us: 0, rate: 0.0, memory: 0.0, row_id: 0 };
        let mut windows = vec![blank; owners.len()];
        let mut owner = owners.iter();
        let mut columns = vec![ROW_ID, "start_time_us", "end_time_us", rate];
        columns.extend(memory);
        lake.scan(Table::TaskUsage, Some(bucket), &columns, |batch| {
            let (begins, ends) =
                (i64_column(&batch, "start_time_us"), i64_column(&batch, "end_time_us"));
            let row_ids = i64_column(&batch, ROW_ID);
            let amounts = |column: &str| {
                let amounts = batch.column_by_name(column).expect("the column was requested");
                amounts.as_primitive::<Float32Type>()
            };
            let (rates, memory) = (amounts(rate), memory.map(amounts));
            let amount = |cells: &PrimitiveArray<Float32Type>, row| {
                if cells.is_null(row) { 0.0 } else { cells.value(row) }
            };
            self.usage.windows += batch.num_rows() as u64;
            self.usage.without_rate += rates.null_count() as u64;
            for row in 0..batch.num_rows() {
                let slot = &mut next[*owner.next().expect("one owner per row") as usize];
                windows[*slot as usize] = Window {
                    start_us: begins[row],
                    end_us: closed(ends[row], self.window_end_us).max(begins[row]),
                    rate: amount(rates, row),
                    memory: memory.map_or(0.0, |cells| amount(cells, row)),
                    row_id: row_ids[row],
                };
                *slot += 1;
            }
        })?;
        for task in 0..task_count {
            let own = &mut windows[starts[task] as usize..starts[task + 1] as usize];
            if !own.is_sorted_by_key(|window| (window.start_us, window.row_id)) {
                own.sort_unstable_by_key(|window| (window.start_us, window.row_id));
            }
            self.usage.overlapping += overlapping(own);
        }
        let orphan_windows = &windows[starts[task_count] as usize..];
        self.usage.overlapping += overlapping_orphans(&orphans, orphan_windows);
        self.orphan_cpu = orphan_windows
            .iter()
            .map(|window| CpuTime::of_rate(window.rate, window.end_us - window.start_us))
            .sum();
        windows.truncate(starts[task_count] as usize);
        starts.truncate(task_count + 1);
        self.windows = windows;
        self.window_starts = starts;
        Ok(())
    }

    /// The CPU, memory and GPUs that a row requests; the last two only if they were read.
    pub fn requests_of(&self, row: u32) -> [Option<f32>; 3] {
        [self.requests[row as usize], cell(&self.memory, row), cell(&self.gpus, row)]
    }

    /// The number of tasks.
    pub(crate) fn len(&self) -> usize {
        self.histories.len()
    }

    /// The CPU request and the priority of a row, numbered as [`Event::row`].
    pub(crate) fn asked(&self, row: u32) -> (Option<f32>, Option<i32>) {
        (self.requests[row as usize], self.priorities[row as usize])
    }

    /// Passes every task to `visit`.
    pub fn for_each(&self, mut visit: impl FnMut(&TaskView<'_>)) {
        let mut attempts = Vec::new();
        for task in 0..self.histories.len() {
            let events = self.histories.events(task);
            let (job_id, task_index) = self.histories.ids[task];
            let job_end_us = self.job_ends.of(job_id).filter(|&at_us| at_us < self.window_end_us);
            self.attempts_of(job_end_us, events, &mut attempts);
            let windows = &self.windows
                [self.window_starts[task] as usize..self.window_starts[task + 1] as usize];
            let priority =
                events.iter().rev().find_map(|event| self.priorities[event.row as usize]);
            visit(&TaskView {
                job_id,
                task_index,
                events,
                attempts: &attempts,
                windows,
                priority: priority.unwrap_or(0),
                phase: events.first().and_then(|event| self.phases.of_row(event.row)),
                requested_us: events.iter().find_map(|event| self.requested_us_of(event.row)),
                job_end_us,
            });
        }
    }

    /// Fills in what a log records of an attempt at its end, in row `end`. The row of its start may
    /// come from an earlier export, made while it ran.
    fn settle(&self, attempt: &mut Attempt, end: u32) {
        let ran_us = cell(&self.ran_us, end).or_else(|| cell(&self.ran_us, attempt.row));
        attempt.ran_us = ran_us.filter(|&ran_us| ran_us < attempt.length_us());
        attempt.cpu_used = cell(&self.used, end).or(attempt.cpu_used);
        if self.is_memory_used {
            attempt.memory = cell(&self.memory, end).or(attempt.memory);
        }
        attempt.requested_us = self.requested_us_of(end).or(attempt.requested_us);
    }

    /// The requested running time in a row, µs.
    fn requested_us_of(&self, row: u32) -> Option<i64> {
        cell(&self.requested_us, row).filter(|&requested_us| 0 < requested_us)
    }

    fn attempts_of(&self, job_end_us: Option<i64>, events: &[Event], attempts: &mut Vec<Attempt>) {
        attempts.clear();
        let mut is_open = false;
        for event in events.iter().filter(|event| {
            event.event_type == EventType::Schedule || event.event_type.is_terminal()
        }) {
            // Events after the window leave an attempt open.
            if is_open && event.time_us < i64::MAX {
                let open = attempts.last_mut().expect("there is an open attempt");
                open.end_us = event.time_us;
                open.ended_by = EndedBy::Event(event.event_type);
                // The row of the next SCHEDULE belongs to another attempt.
                let is_next = event.event_type == EventType::Schedule;
                let row = if is_next { open.row } else { event.row };
                self.settle(open, row);
            }
            is_open = event.event_type == EventType::Schedule;
            if is_open {
                // Preliminary, until an end event is found.
                let (end_us, ended_by) = match job_end_us.filter(|_| event.time_us < i64::MAX) {
                    Some(end_us) => (end_us, EndedBy::Job),
                    None => (self.window_end_us, EndedBy::Nothing),
                };
                attempts.push(Attempt {
                    start_us: event.time_us,
                    end_us: end_us.max(event.time_us),
                    ended_by,
                    cpu_request: self.requests[event.row as usize],
                    memory: cell(&self.memory, event.row),
                    gpus: cell(&self.gpus, event.row),
                    cpu_used: cell(&self.used, event.row),
                    ran_us: None,
                    requested_us: self.requested_us_of(event.row),
                    machine_id: self.machines[event.row as usize],
                    row: event.row,
                });
            }
        }
    }
}

/// The cell of a row; `None` if the column was not read.
fn cell<T: Copy>(cells: &[Option<T>], row: u32) -> Option<T> {
    cells.get(row as usize).copied().flatten()
}

/// Adds the cells of a column of times, if it was read.
fn add_times(cells: &mut Vec<Option<i64>>, batch: &RecordBatch, column: &str) {
    if batch.column_by_name(column).is_some() {
        add_optional_cells::<Int64Type>(cells, batch, column);
    }
}

/// The columns of `task_events` that are always read, no matter which use a log records.
fn columns_of(lake: &Lake, usage: Usage) -> Vec<&'static str> {
    let mut columns = vec![
        ROW_ID,
        "time_us",
        "job_id",
        "task_index",
        "event_type",
        CPU_REQUEST,
        "machine_id",
        "priority",
    ];
    let known = |column: &&str| lake.has_column(Table::TaskEvents, column);
    columns.extend([PHASE, REQUESTED_TIME].iter().filter(|column| known(column)));
    columns.extend(Some(RUN_TIME).filter(|column| lake.source().suspends() && known(column)));
    if usage.is_of_memory_requests() {
        columns.push(MEMORY_REQUEST);
    }
    columns
}

/// Adds the columns of recorded memory, CPU time and GPUs, if they are read.
fn add_recorded_use(columns: &mut Vec<&'static str>, [memory, cpu, gpus]: [bool; 3]) {
    for (_, column) in [(memory, USED_MEMORY), (cpu, CPU_TIME)].into_iter().filter(|of| of.0) {
        columns.extend([column, "processors", "requested_processors"]);
    }
    columns.extend(Some(GPU_REQUEST).filter(|_| gpus));
}

/// Adds the columns that are not read yet.
fn add_missing(columns: &mut Vec<&'static str>, further: &[&'static str]) {
    for column in further {
        if !columns.contains(column) {
            columns.push(column);
        }
    }
}

/// Whether any task has no end event in the loaded parts.
fn has_open_task(histories: &Histories) -> bool {
    (0..histories.len()).any(|task| {
        let mut known =
            histories.events(task).iter().rev().filter(|event| event.time_us < i64::MAX);
        known
            .find(|event| event.event_type.is_deciding())
            .is_none_or(|event| !event.event_type.is_terminal())
    })
}

/// The start of the attempt of a task without an end event in the loaded parts, µs. There is at
/// most one, apart from attempts after the window (at 2^63-1).
pub(super) fn open_since(events: &[Event]) -> Option<i64> {
    let is_deciding =
        |event: &&Event| event.event_type == EventType::Schedule || event.event_type.is_terminal();
    let mut known = events.iter().rev().filter(|event| event.time_us < i64::MAX);
    known
        .find(is_deciding)
        .filter(|event| event.event_type == EventType::Schedule)
        .map(|event| event.time_us)
}

/// The end of a usage window; a window that ends after the trace (at 2^63-1) is cut at its end.
pub(crate) const fn closed(end_us: i64, window_end_us: i64) -> i64 {
    if end_us == i64::MAX { window_end_us } else { end_us }
}

/// The column of requested memory.
const MEMORY_REQUEST: &str = "memory_request";

/// The column of logs with the running time of a job, without suspensions.
const RUN_TIME: &str = "run_us";

/// The column of the phase of a task.
const PHASE: &str = "phase";

/// Phases by row of a bucket, with each name stored once; empty if the source has none.
#[derive(Debug, Default)]
struct Phases {
    names: Vec<String>,
    rows: Vec<Option<u8>>,
}

impl Phases {
    fn add(&mut self, batch: &RecordBatch) {
        let Some(column) = batch.column_by_name(PHASE) else { return };
        for name in column.as_string::<i32>() {
            let code = name.map(|name| self.code(name));
            self.rows.push(code);
        }
    }

    fn code(&mut self, name: &str) -> u8 {
        let known = self.names.iter().position(|other| other == name);
        let place = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        u8::try_from(place).expect("a source has few phases")
    }

    fn of_row(&self, row: u32) -> Option<&str> {
        let code = (*self.rows.get(row as usize)?)?;
        Some(&self.names[usize::from(code)])
    }
}

/// Counts windows that start before an earlier one has ended.
fn overlapping(windows: &[Window]) -> u64 {
    let mut latest = i64::MIN;
    let mut count = 0;
    for window in windows {
        count += u64::from(window.start_us < latest);
        latest = latest.max(window.end_us);
    }
    count
}

/// Counts them among windows of tasks without events, given in file order with their tasks.
fn overlapping_orphans(tasks: &[EntityId], windows: &[Window]) -> u64 {
    let mut orphans: Vec<(EntityId, Window)> =
        tasks.iter().copied().zip(windows.iter().copied()).collect();
    orphans.sort_unstable_by_key(|(task, window)| (*task, window.start_us, window.row_id));
    let mut count = 0;
    for own in orphans.chunk_by(|one, other| one.0 == other.0) {
        let own: Vec<Window> = own.iter().map(|(_, window)| *window).collect();
        count += overlapping(&own);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(start_us: i64, end_us: i64) -> Attempt {
        Attempt {
            start_us,
            end_us,
            ended_by: EndedBy::Event(EventType::Fail),
            cpu_request: Some(0.5),
            memory: None,
            gpus: None,
            cpu_used: None,
            requested_us: None,
            ran_us: None,
            machine_id: None,
            row: 0,
        }
    }

    fn window(start_us: i64, end_us: i64, rate: f32) -> Window {
        Window { start_us, end_us, rate, memory: 0.0, row_id: 0 }
    }

    #[test]
    fn windows_count_inside_attempts_only() {
        //  attempts      |10------20|      |30---40|
        //  windows    |5-----15|15-----------35|  |38---50|
        let attempts = [attempt(10, 20), attempt(30, 40)];
        let windows = [window(5, 15, 1.0), window(15, 35, 0.5), window(38, 50, 0.25)];
        let mut spent = Spent::default();
        spent.of_windows(&windows, &attempts);
        // 5 * 1 + (5 + 5) * 0.5 + 2 * 0.25
        assert_eq!(spent.total().seconds() * 1e6, 10.5);
        // Cut at 32: 3 * 0.5 + 2 * 0.25.
        assert_eq!(spent.after(32).seconds() * 1e6, 2.0);
        assert_eq!(spent.after(40), CpuTime::ZERO);
        assert_eq!(spent.after(i64::MIN), spent.total());
    }

    #[test]
    fn overlapping_windows_are_all_counted_and_named() {
        let windows = [window(0, 100, 1.0), window(10, 20, 1.0), window(50, 150, 1.0)];
        assert_eq!(overlapping(&windows), 2);
        let mut spent = Spent::default();
        spent.of_windows(&windows, &[attempt(0, 150)]);
        assert_eq!(spent.total().seconds() * 1e6, 210.0);
        assert_eq!(spent.after(60).seconds() * 1e6, 130.0);
        assert_eq!(Spent::default().after(0), CpuTime::ZERO);
    }
}

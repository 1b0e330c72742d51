//! Questions 3 to 10: sums over jobs, tasks, attempts and usage windows.
//!
//! In: a lake. Out: the rows of `q25` to `q32` for which the lake has the tables.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Float32Type, Int32Type, Int64Type};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::sums::{Correlation, Shares, Waits, six_decimals};
use super::{ALL, COUNT, HourRow, Row, UNKNOWN};
use crate::facts::FactError;
use crate::facts::events::{add_optional_cells, i32_column, i64_column};
use crate::facts::jobs::{Jobs, TERMINAL_OUTCOMES, by_terminal, is_ended};
use crate::facts::task_values::{WaitEnd, wait_of};
use crate::facts::tasks::{TaskView, Tasks, Usage};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{EventType, Table};
use crate::units::micros_to_seconds;

const HOUR_US: i64 = 3_600_000_000;

/// The length of a cell, µs: five minutes, because usage windows are long.
const CELL_US: i64 = 300_000_000;

/// Positions in [`TERMINAL_OUTCOMES`].
const FAILED: u8 = 1;
const KILLED: u8 = 2;
const _: () = assert!(matches!(TERMINAL_OUTCOMES[FAILED as usize].as_bytes(), b"failed"));
const _: () = assert!(matches!(TERMINAL_OUTCOMES[KILLED as usize].as_bytes(), b"killed"));

/// Changes within an hour: running tasks and their CPU. Each is also weighted by the remaining time
/// of the hour.
#[derive(Clone, Copy, Debug, Default)]
struct Hour {
    tasks: f64,
    cpu: f64,
    tasks_us: f64,
    cpu_us: f64,
    evicted: f64,
}

/// A machine, and a period of five minutes.
type Cell = (i64, i64);

/// The sums for all questions of this module.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    classes: Shares,
    evictions: Shares,
    priorities: Shares,
    locality: Shares,
    failures: Shares,
    waits: Waits,
    /// Correlations of request and use: CPU, memory, CPU by row, CPU over request.
    requests: [Correlation; 4],
    /// CPU used and requested in the windows, NCU-s.
    used_s: [f64; 2],
    used_windows: u64,
    hours: BTreeMap<i64, Hour>,
    peaks: FxHashMap<Cell, f64>,
    evicted: FxHashMap<Cell, f64>,
}

/// Sums up all buckets.
pub(super) fn fold(lake: &Lake, windows: Windows) -> Result<Sums, FactError> {
    let rows = lake.expect_rows(&[Table::JobEvents, Table::TaskEvents, Table::TaskUsage]);
    let parts: Vec<Sums> = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(|bucket| {
            let mut sums = Sums::default();
            if lake.has(Table::JobEvents) {
                sums.add_jobs(lake, bucket, windows)?;
            }
            if lake.has(Table::TaskEvents) {
                sums.add_tasks(lake, bucket, windows)?;
            }
            lake.step(rows)?;
            sums.waits = std::mem::take(&mut sums.waits).packed();
            Ok(sums)
        })
        .collect::<Result<_, FactError>>()?;
    let mut all = Sums::default();
    for part in parts {
        all.merge(part);
    }
    Ok(all)
}

/// The requests of a task.
struct Asked {
    cpu: Option<f32>,
    memory: Option<f32>,
}

/// Columns of `task_events` by row.
#[derive(Default)]
struct Columns {
    classes: Vec<Option<i32>>,
    cpu: Vec<Option<f32>>,
    memory: Vec<Option<f32>>,
    machines: Vec<Option<i64>>,
}

impl Sums {
    fn add_jobs(&mut self, lake: &Lake, bucket: u32, windows: Windows) -> Result<(), FactError> {
        for job in Jobs::read(lake, bucket)?.jobs {
            let class = job.scheduling_class.unwrap_or(UNKNOWN);
            self.classes.add("jobs", class, 1, 0);
            let (is_failed, is_killed) = (job.by_terminal == FAILED, job.by_terminal == KILLED);
            self.failures.add_both("jobs failed", class, u64::from(is_failed), 1);
            self.failures.add_both("jobs killed", class, u64::from(is_killed), 1);
            if is_ended(job.by_terminal) {
                let measure = "jobs failed, of those that ended";
                self.failures.add_both(measure, class, u64::from(is_failed), 1);
            }
            let within = |submit: &i64| windows.first_us <= *submit;
            let submit = job.first_submit_us.filter(within);
            let schedule = job.first_schedule_us.filter(|&schedule| schedule < i64::MAX);
            if let Some((submit, schedule)) = submit.zip(schedule).filter(|both| both.0 <= both.1) {
                self.waits.add("jobs", class, schedule - submit);
            }
        }
        lake.scan(Table::JobEvents, Some(bucket), &["scheduling_class"], |batch| {
            let classes = batch.column(0).as_primitive::<Int32Type>();
            for class in classes {
                self.classes.add("rows of jobs", class.unwrap_or(UNKNOWN), 1, 0);
            }
        })?;
        Ok(())
    }

    fn add_tasks(&mut self, lake: &Lake, bucket: u32, windows: Windows) -> Result<(), FactError> {
        let mut columns = Columns::default();
        let further = ["scheduling_class", "cpu_request", "memory_request", "machine_id"];
        let tasks = Tasks::read_beside(lake, bucket, windows, Usage::Skip, &further, |batch| {
            add_optional_cells::<Int32Type>(&mut columns.classes, batch, "scheduling_class");
            add_optional_cells::<Float32Type>(&mut columns.cpu, batch, "cpu_request");
            add_optional_cells::<Float32Type>(&mut columns.memory, batch, "memory_request");
            add_optional_cells::<Int64Type>(&mut columns.machines, batch, "machine_id");
        })?;
        for class in &columns.classes {
            self.classes.add("rows of tasks", class.unwrap_or(UNKNOWN), 1, 0);
        }
        let mut placed: FxHashMap<i64, (u64, FxHashSet<i64>)> = FxHashMap::default();
        let mut asked: FxHashMap<(i64, i32), Asked> = FxHashMap::default();
        tasks.for_each(|task| {
            self.add_task(task, &columns, windows);
            let ran = task.attempts.iter().filter(|attempt| attempt.start_us < i64::MAX);
            let machines: Vec<i64> = ran.filter_map(|attempt| attempt.machine_id).collect();
            if !machines.is_empty() {
                let job = placed.entry(task.job_id).or_default();
                job.0 += 1;
                job.1.extend(machines);
            }
            if lake.has(Table::TaskUsage) {
                let most = |cells: &[Option<f32>]| {
                    let own = task.events.iter().filter_map(|event| cells[event.row as usize]);
                    own.max_by(f32::total_cmp)
                };
                let own = Asked { cpu: most(&columns.cpu), memory: most(&columns.memory) };
                asked.insert((task.job_id, task.task_index), own);
            }
        });
        for (tasks, machines) in placed.into_values() {
            self.add_places(tasks, machines.len() as u64);
        }
        if lake.has(Table::TaskUsage) {
            self.add_usage(lake, bucket, &asked)?;
        }
        Ok(())
    }

    fn add_task(&mut self, task: &TaskView<'_>, columns: &Columns, windows: Windows) {
        let events = task.events;
        let class = events.iter().rev().find_map(|event| columns.classes[event.row as usize]);
        let class = class.unwrap_or(UNKNOWN);
        self.classes.add("tasks", class, 1, 0);
        let count =
            |kind: EventType| events.iter().filter(|event| event.event_type == kind).count() as u64;
        let [evicted, started] = [EventType::Evict, EventType::Schedule].map(count);
        for (shares, group) in [(&mut self.evictions, class), (&mut self.priorities, task.priority)]
        {
            shares.add_both("tasks", group, u64::from(0 < evicted), 1);
            shares.add_both("attempts", group, evicted, started);
            shares.add_both("rows", group, evicted, events.len() as u64);
            shares.add_both("of all evictions", group, evicted, 0);
        }
        let is_failed = by_terminal(events) == FAILED;
        self.failures.add_both("tasks failed", class, u64::from(is_failed), 1);
        let has_failed = 0 < count(EventType::Fail);
        self.failures.add_both("tasks with a FAIL", class, u64::from(has_failed), 1);
        self.add_waits(task, class, windows);
        self.add_hours(task, columns);
    }

    fn add_waits(&mut self, task: &TaskView<'_>, class: i32, windows: Windows) {
        if let Some(wait) = wait_of(task, windows).filter(|wait| wait.end == WaitEnd::Started) {
            self.waits.add("tasks", class, wait.span_us);
        }
        let first = |kind: EventType| {
            task.events.iter().find(|event| event.event_type == kind).map(|event| event.time_us)
        };
        let [submit, schedule] = [EventType::Submit, EventType::Schedule].map(first);
        let both = submit.zip(schedule.filter(|&schedule| schedule < i64::MAX));
        if let Some((submit, schedule)) = both.filter(|both| both.0 <= both.1) {
            self.waits.add("tasks, time 0 too", class, schedule - submit);
        }
        let mut before: Option<(EventType, i64)> = None;
        for event in task.events.iter().filter(|event| event.event_type.is_deciding()) {
            if let Some((EventType::Submit, submit)) = before
                && event.event_type == EventType::Schedule
                && windows.first_us <= submit
                && event.time_us < i64::MAX
            {
                self.waits.add("attempts", class, event.time_us - submit);
            }
            before = Some((event.event_type, event.time_us));
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "parts of an hour in µs")]
    fn add_hours(&mut self, task: &TaskView<'_>, columns: &Columns) {
        for attempt in task.attempts.iter().filter(|attempt| attempt.start_us < i64::MAX) {
            let cpu = attempt.cpu_request.map_or(0.0, f64::from);
            for (at_us, sign) in [(attempt.start_us, 1.0), (attempt.end_us, -1.0)] {
                let own = self.hours.entry(at_us - at_us % HOUR_US).or_default();
                let left = (HOUR_US - at_us % HOUR_US) as f64;
                own.tasks += sign;
                own.cpu += sign * cpu;
                own.tasks_us += sign * left;
                own.cpu_us += sign * cpu * left;
            }
        }
        for event in task.events {
            let is_evicted = event.event_type == EventType::Evict;
            if event.time_us < i64::MAX {
                let own = self.hours.entry(event.time_us - event.time_us % HOUR_US).or_default();
                own.evicted += f64::from(u8::from(is_evicted));
            }
            if let Some(machine) = columns.machines[event.row as usize].filter(|_| is_evicted) {
                let cell = (machine, event.time_us - event.time_us % CELL_US);
                *self.evicted.entry(cell).or_default() += 1.0;
            }
        }
    }

    /// Adds a job by the number of its tasks that ran and the number of their machines. Without
    /// tasks it only creates the measures.
    fn add_places(&mut self, tasks: u64, machines: u64) {
        let is = u64::from;
        let any = is(0 < tasks);
        self.locality.add("one machine, jobs of one task too", ALL, is(machines == 1), any);
        let large = is(1 < tasks);
        self.locality.add("one machine", ALL, is(machines == 1) * large, large);
        self.locality.add("fewer machines than tasks", ALL, is(machines < tasks) * large, large);
        self.locality.add("as many machines as tasks", ALL, is(machines == tasks) * large, large);
        self.locality.add("more machines than tasks", ALL, is(tasks < machines) * large, large);
    }

    fn add_usage(
        &mut self,
        lake: &Lake,
        bucket: u32,
        asked: &FxHashMap<(i64, i32), Asked>,
    ) -> Result<(), FactError> {
        let columns = [
            "start_time_us",
            "end_time_us",
            "job_id",
            "task_index",
            "machine_id",
            "mean_cpu_rate",
            "canonical_memory",
            "max_cpu_rate",
        ];
        // By task: length of its windows, and CPU and memory times that length.
        let mut used: BTreeMap<(i64, i32), [f64; 3]> = BTreeMap::new();
        lake.scan(Table::TaskUsage, Some(bucket), &columns, |batch| {
            let (starts, ends) =
                (i64_column(&batch, "start_time_us"), i64_column(&batch, "end_time_us"));
            let (jobs, indices) = (i64_column(&batch, "job_id"), i32_column(&batch, "task_index"));
            let machines = batch.column(4).as_primitive::<Int64Type>();
            let cell = |column: usize, row: usize| {
                let cells = batch.column(column).as_primitive::<Float32Type>();
                if cells.is_valid(row) { f64::from(cells.value(row)) } else { 0.0 }
            };
            for row in 0..batch.num_rows() {
                if machines.is_valid(row) {
                    let place = (machines.value(row), starts[row] - starts[row] % CELL_US);
                    *self.peaks.entry(place).or_default() += cell(7, row);
                }
                let task = (jobs[row], indices[row]);
                let is_whole = starts[row] < ends[row] && ends[row] < i64::MAX;
                let Some(own) = asked.get(&task).filter(|_| is_whole) else { continue };
                let length = micros_to_seconds(ends[row] - starts[row]);
                let (cpu, memory) = (cell(5, row), cell(6, row));
                let sums = used.entry(task).or_default();
                sums[0] += length;
                sums[1] += cpu * length;
                sums[2] += memory * length;
                if let Some(request) = own.cpu.map(f64::from) {
                    self.requests[2].add(request, cpu);
                    self.used_s[0] += cpu * length;
                    self.used_s[1] += request * length;
                    self.used_windows += 1;
                }
            }
        })?;
        for (task, [length, cpu, memory]) in used {
            let own = &asked[&task];
            if let Some(request) = own.cpu.map(f64::from) {
                self.requests[0].add(request, cpu / length);
                if 0.0 < request {
                    self.requests[3].add(request, cpu / length / request);
                }
            }
            if let Some(request) = own.memory.map(f64::from) {
                self.requests[1].add(request, memory / length);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        self.classes.merge(other.classes);
        self.evictions.merge(other.evictions);
        self.priorities.merge(other.priorities);
        self.locality.merge(other.locality);
        self.failures.merge(other.failures);
        self.waits.merge(other.waits);
        for (own, others) in self.requests.iter_mut().zip(&other.requests) {
            own.merge(others);
        }
        for (own, others) in self.used_s.iter_mut().zip(other.used_s) {
            *own += others;
        }
        self.used_windows += other.used_windows;
        for (hour, others) in other.hours {
            let own = self.hours.entry(hour).or_default();
            own.tasks += others.tasks;
            own.cpu += others.cpu;
            own.tasks_us += others.tasks_us;
            own.cpu_us += others.cpu_us;
            own.evicted += others.evicted;
        }
        for (own, others) in [(&mut self.peaks, other.peaks), (&mut self.evicted, other.evicted)] {
            #[expect(clippy::iter_over_hash_type, reason = "each cell by itself")]
            for (cell, sum) in others {
                *own.entry(cell).or_default() += sum;
            }
        }
    }

    /// Writes the answers to questions 3 to 10.
    pub(super) fn write(mut self, lake: &Lake, hours: &[HourRow], answers: &mut [Vec<Row>; COUNT]) {
        self.classes.share_out(&["jobs", "tasks", "rows of jobs", "rows of tasks"]);
        self.evictions.share_out(&["of all evictions"]);
        self.priorities.share_out(&["of all evictions"]);
        answers[2] = self.classes.rows().collect();
        answers[8] = self.failures.rows().collect();
        answers[9] = self.waits.rows();
        if !lake.has(Table::TaskEvents) {
            return;
        }
        self.add_places(0, 0);
        answers[3] = self.evictions.rows().collect();
        answers[4] = self.locality.rows().collect();
        answers[5] = self.of_requests();
        answers[6] = self.of_peaks(hours);
        answers[7] = self.priorities.rows().collect();
    }

    fn of_requests(&self) -> Vec<Row> {
        let names = ["CPU", "memory", "CPU by row", "CPU over request"];
        let found = names.iter().zip(&self.requests);
        let mut rows: Vec<Row> = found.filter_map(|(name, own)| own.row(name)).collect();
        if 0 < self.used_windows {
            let [used, requested] = self.used_s.map(six_decimals);
            rows.push(Row::share("CPU used", -1.0, used, requested));
        }
        rows
    }

    /// Totals of each hour in which anything happened.
    #[expect(clippy::cast_precision_loss, reason = "an hour in µs, and hours")]
    pub(super) fn hours(&self) -> Vec<HourRow> {
        let [mut tasks, mut cpu] = [0.0; 2];
        let mut rows = Vec::with_capacity(self.hours.len());
        for (hour_us, own) in &self.hours {
            let level = |before: f64, within: f64| (before * HOUR_US as f64 + within) / 1e6;
            rows.push(HourRow {
                hour: (hour_us / HOUR_US) as f64,
                requested_s: level(cpu, own.cpu_us),
                slots_s: level(tasks, own.tasks_us),
                evicted: own.evicted,
            });
            tasks += own.tasks;
            cpu += own.cpu;
        }
        rows
    }

    fn of_peaks(&self, hours: &[HourRow]) -> Vec<Row> {
        let [mut requested, mut running, mut cells] = [Correlation::default(); 3];
        for hour in hours {
            requested.add(hour.requested_s, hour.evicted);
            running.add(hour.slots_s, hour.evicted);
        }
        let mut peaks: Vec<(&Cell, &f64)> = self.peaks.iter().collect();
        peaks.sort_unstable_by_key(|own| own.0);
        for (cell, peak) in peaks {
            cells.add(*peak, self.evicted.get(cell).copied().unwrap_or(0.0));
        }
        let rows = [
            requested.row("hours, requested"),
            running.row("hours, running"),
            cells.row("machines, five minutes"),
        ];
        rows.into_iter().flatten().collect()
    }
}

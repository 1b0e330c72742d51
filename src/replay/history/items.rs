//! The tasks read from a lake, before they become a workload.
//!
//! In: the events of a bucket, read once. Out: [`Items`]: the replayed data of each task, and
//! counts of the tasks that were left out. Names of users and phases and failures of tasks are
//! stored once; tasks refer to them by number.

use std::ops::Range;

use arrow::array::AsArray;
use arrow::datatypes::{Float32Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use rustc_hash::FxHashMap;

use super::gpus::{self, Models};
use super::over_time::OverTime;
use super::overcommit::RecordedLoad;
use super::{Counts, HistoryPlan, KilledTasks};
use crate::facts::FactError;
use crate::facts::events::{Event, add_optional_cells};
use crate::facts::task_values::first_submit;
use crate::facts::tasks::{Attempt, EndedBy, TaskView, Tasks, Usage};
use crate::facts::window::{BEGIN_2011_US, Windows, first_event_us};
use crate::lake::Lake;
use crate::replay::gpus::GpuAsk;
use crate::replay::random::{Draws, Purpose};
use crate::replay::workload::Fate;
use crate::schema::{EventType, Table};
use crate::units::{CpuRate, CpuTime};

/// Tasks with the names and failures that they refer to.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) tasks: Vec<Item>,
    /// Work of failed attempts, µs; each task has a range of them.
    pub(super) failures: Vec<i64>,
    pub(super) users: Names,
    pub(super) phases: Names,
    /// Names of tasks, and lists of tasks that they wait for.
    pub(super) texts: Names,
    pub(super) counts: Counts,
    /// Requested CPU x running time of all attempts, and of those that are not replayed.
    pub(super) cpu: [CpuTime; 2],
    pub(super) over_time: OverTime,
}

/// One task.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) arrival_us: i64,
    pub(super) id: (i64, i32),
    pub(super) work_us: i64,
    pub(super) fate: Fate,
    /// The range of its failures.
    pub(super) failures: Range<u32>,
    pub(super) cpu: Option<f32>,
    pub(super) memory: Option<f32>,
    pub(super) priority: Option<i32>,
    pub(super) class: Option<u8>,
    pub(super) user: Option<u32>,
    pub(super) is_apart: bool,
    /// Its recorded wait, µs; `None` if it was submitted before the window, or did not start.
    pub(super) wait_us: Option<i64>,
    /// When it ended in the record, µs; `None` if it still runs at the end of the window.
    pub(super) ended_us: Option<i64>,
    /// Data that only some logs have; `None` if none of it is known.
    pub(super) more: Option<Box<More>>,
}

/// Data of a task that only some logs have. Most tasks have none, so it is boxed to save memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct More {
    pub(super) gpus: GpuAsk,
    pub(super) requested_us: Option<i64>,
    pub(super) phase: Option<u32>,
    /// The job that had to end first, if the log names one.
    pub(super) after: Option<i64>,
    /// The name of the task that it is an instance of, in a log with dependencies.
    pub(super) task_name: Option<u32>,
    /// The numbers of the tasks of its job that must end first.
    pub(super) depends_on: Option<u32>,
}

impl More {
    const NONE: Self = Self {
        gpus: GpuAsk::NONE,
        requested_us: None,
        phase: None,
        after: None,
        task_name: None,
        depends_on: None,
    };

    /// The data in a box, if any of it is known.
    fn if_known(self) -> Option<Box<Self>> {
        (self != Self::NONE).then(|| Box::new(self))
    }
}

impl Item {
    /// The data that only some logs have.
    pub(super) fn more(&self) -> More {
        self.more.as_deref().copied().unwrap_or(More::NONE)
    }
}

/// Texts by number, each stored once.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: FxHashMap<String, u32>,
    texts: Vec<String>,
}

impl Names {
    /// The number of a text.
    pub(super) fn code(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = u32::try_from(self.texts.len()).expect("fewer names than rows");
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The text of a number.
    pub(super) fn name(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// Adds the texts of `others`; returns their numbers here.
    fn join(&mut self, others: &Self) -> Vec<u32> {
        others.texts.iter().map(|text| self.code(text)).collect()
    }
}

/// The columns of a bucket's rows that [`TaskView`] does not have.
#[derive(Default)]
struct Cells {
    memory: Vec<Option<f32>>,
    /// Empty if GPUs are not known.
    gpus: Vec<Option<GpuAsk>>,
    classes: Vec<Option<i32>>,
    /// Empty if the source has no requested times.
    requested: Vec<Option<i64>>,
    /// Empty if the source has no preceding jobs.
    preceding: Vec<Option<i64>>,
    apart: Vec<bool>,
    users: Vec<Option<u32>>,
    names: Names,
    /// Empty if the source has no dependencies: the name of a task, and the tasks it waits for.
    stages: [Vec<Option<u32>>; 2],
    texts: Names,
}

const STAGES: [&str; 2] = ["task_name", "depends_on"];
const REQUESTED: &str = "requested_time_us";
const PRECEDING: &str = "preceding_job";

impl Cells {
    fn with_room(rows: usize) -> Self {
        Self {
            memory: Vec::with_capacity(rows),
            classes: Vec::with_capacity(rows),
            apart: Vec::with_capacity(rows),
            users: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    fn add(&mut self, batch: &RecordBatch, models: Option<&Models>) {
        gpus::add_asks(&mut self.gpus, models, batch);
        add_optional_cells::<Float32Type>(&mut self.memory, batch, "memory_request");
        add_optional_cells::<Int32Type>(&mut self.classes, batch, "scheduling_class");
        if batch.column_by_name(REQUESTED).is_some() {
            add_optional_cells::<Int64Type>(&mut self.requested, batch, REQUESTED);
        }
        if batch.column_by_name(PRECEDING).is_some() {
            add_optional_cells::<Int64Type>(&mut self.preceding, batch, PRECEDING);
        }
        for (codes, column) in self.stages.iter_mut().zip(STAGES) {
            if let Some(names) = batch.column_by_name(column) {
                let names = names.as_string::<i32>().iter();
                codes.extend(names.map(|name| name.map(|name| self.texts.code(name))));
            }
        }
        let apart = batch.column_by_name("different_machines").expect("it was requested");
        self.apart.extend(apart.as_boolean().iter().map(|cell| cell == Some(true)));
        let users = batch.column_by_name("user").expect("it was requested").as_string::<i32>();
        // Consecutive rows mostly have the same user.
        let mut last: Option<(&str, u32)> = None;
        for user in users {
            let code = user.map(|user| match last {
                Some((name, code)) if name == user => code,
                _ => self.names.code(user),
            });
            last = user.zip(code);
            self.users.push(code);
        }
    }
}

impl Items {
    /// Reads the tasks of a bucket.
    pub(super) fn read(
        lake: &Lake,
        bucket: u32,
        windows: Windows,
        plan: &HistoryPlan,
        (models, recorded): (Option<&Models>, Option<&RecordedLoad<'_>>),
    ) -> Result<Self, FactError> {
        let mut columns = vec!["memory_request", "scheduling_class", "different_machines", "user"];
        let known = [REQUESTED, PRECEDING].into_iter();
        columns.extend(known.filter(|column| lake.has_column(Table::TaskEvents, column)));
        if STAGES.iter().all(|column| lake.has_column(Table::TaskEvents, column)) {
            columns.extend(STAGES);
        }
        columns.extend(gpus::task_columns(lake, models));
        let mut cells = Cells::with_room(lake.rows_of(Table::TaskEvents, bucket));
        let take = |batch: &RecordBatch| cells.add(batch, models);
        let tasks = Tasks::read_beside(lake, bucket, windows, Usage::Skip, &columns, take)?;
        let draws = Draws::new(plan.seed, Purpose::Sample);
        let mut all = Self {
            over_time: OverTime::new(plan.span_us(first_event_us(lake), windows)),
            ..Self::default()
        };
        all.counts.in_lake = tasks.len() as u64;
        if plan.sample == 1.0 {
            all.tasks.reserve_exact(tasks.len());
        }
        tasks.for_each(|view| {
            all.counts.started_in_lake += u64::from(!view.attempts.is_empty());
            if let Some(recorded) = recorded {
                recorded.add(view.attempts);
            }
            if draws.uniform(view.job_id.cast_unsigned(), 0) < plan.sample
                && let Some(item) = all.item(view, (&tasks, &cells), windows, plan)
            {
                all.tasks.push(item);
            }
        });
        (all.users, all.texts) = (cells.names, cells.texts);
        Ok(all)
    }

    /// Joins the items of several buckets in order.
    pub(super) fn join(parts: Vec<Self>) -> Self {
        let mut all = Self::default();
        all.tasks.reserve_exact(parts.iter().map(|part| part.tasks.len()).sum());
        all.failures.reserve_exact(parts.iter().map(|part| part.failures.len()).sum());
        for part in parts {
            let (users, phases) = (all.users.join(&part.users), all.phases.join(&part.phases));
            let texts = all.texts.join(&part.texts);
            let text = |code: Option<u32>| code.map(|code| texts[code as usize]);
            let base = u32::try_from(all.failures.len()).expect("fewer than 2^32 failures");
            all.tasks.extend(part.tasks.into_iter().map(|mut item| {
                item.user = item.user.map(|user| users[user as usize]);
                item.failures = base + item.failures.start..base + item.failures.end;
                if let Some(more) = &mut item.more {
                    more.phase = more.phase.map(|phase| phases[phase as usize]);
                    (more.task_name, more.depends_on) =
                        (text(more.task_name), text(more.depends_on));
                }
                item
            }));
            all.failures.extend(part.failures);
            all.counts.add(&part.counts);
            all.cpu[0] += part.cpu[0];
            all.cpu[1] += part.cpu[1];
            all.over_time.join(&part.over_time);
        }
        all
    }

    /// Makes an item of a task, unless the task is outside the replayed part of the history.
    fn item(
        &mut self,
        view: &TaskView<'_>,
        (tasks, cells): (&Tasks, &Cells),
        windows: Windows,
        plan: &HistoryPlan,
    ) -> Option<Item> {
        let begun_us = begun_us(view, windows);
        let inside = |at_us: i64| if windows.is_before(at_us) { begun_us } else { at_us };
        let first = view.events.first()?;
        let submit_us = first_submit(view).unwrap_or(first.time_us);
        let arrival_us = inside(submit_us.min(first.time_us));
        let is_late = plan.until_us.is_some_and(|until_us| until_us <= arrival_us);
        if arrival_us < plan.from_us || is_late || arrival_us == i64::MAX {
            return None;
        }
        // Its running time inside the window, without suspensions.
        let run_us = |attempt: &Attempt| {
            let length_us = (attempt.end_us.max(begun_us) - inside(attempt.start_us)).max(0);
            attempt.ran_us.map_or(length_us, |ran_us| ran_us.min(length_us))
        };
        let last = view.attempts.last();
        let ended = view.events.iter().rev().find(|event| event.event_type.is_terminal());
        let ended_by = last.map(|attempt| attempt.ended_by);
        // It has no end event: it still runs, or it ended with its job.
        let is_open = matches!(ended_by, Some(EndedBy::Nothing | EndedBy::Job));
        let age_us = |at_us: i64| (inside(at_us.min(windows.task_end_us)) - arrival_us).max(0);
        let last_us = last.map(run_us);
        let (fate, work_us) = match ended.filter(|_| !is_open) {
            None => (Fate::Finishes, last_us.filter(|_| is_open)),
            Some(event) => fate_of(event, last, last_us, (plan.killed, age_us(event.time_us))),
        };
        let counts = &mut self.counts;
        counts.left_out += u64::from(work_us.is_none());
        let Some(work_us) = work_us else {
            self.add_cpu(view, run_us, |_, _| false);
            return None;
        };
        counts.still_running += u64::from(ended_by == Some(EndedBy::Nothing));
        counts.ended_with_job += u64::from(ended_by == Some(EndedBy::Job));
        counts.never_back += u64::from(!is_open && ended.is_some_and(has_lost_machine));
        counts.began_before += u64::from(windows.is_before(first.time_us));
        let carries_last = fate.ends_at_age_us().is_some();
        counts.stopped += u64::from(fate == Fate::Stopped);
        counts.killed_at_age += u64::from(carries_last);
        let earlier = view.attempts.len() - usize::from(!carries_last && last.is_some());
        let failures = self.add_failures(&view.attempts[..earlier], run_us);
        let kept = failures.len() + view.attempts.len() - earlier;
        let is_killed = ended_by == Some(EndedBy::Event(EventType::Kill));
        let ends_here = usize::from(carries_last && is_killed);
        let dropped = view.attempts.len() - kept;
        self.counts.dropped_attempts += dropped.saturating_sub(ends_here) as u64;
        let last_place = view.attempts.len().saturating_sub(1);
        let is_kept = |idx: usize, attempt: &Attempt| {
            earlier <= idx || is_failed(attempt) || (idx == last_place && 0 < ends_here)
        };
        self.add_cpu(view, run_us, is_kept);
        self.over_time.add_wait([arrival_us, waits_until_us(view, windows)]);
        let events = || view.events.iter().rev();
        let rows = || events().map(|event| event.row as usize);
        Some(Item {
            arrival_us,
            id: (view.job_id, view.task_index),
            work_us,
            fate,
            failures,
            cpu: events().find_map(|event| tasks.asked(event.row).0),
            memory: rows().find_map(|row| cells.memory[row]),
            priority: events().find_map(|event| tasks.asked(event.row).1),
            class: rows()
                .find_map(|row| cells.classes[row])
                .and_then(|class| u8::try_from(class).ok()),
            user: rows().find_map(|row| cells.users[row]),
            is_apart: rows().any(|row| cells.apart[row]),
            wait_us: wait_us(view, windows),
            ended_us: recorded_end_us(last, ended).map(inside),
            more: self.more(view, cells).if_known(),
        })
    }

    /// Adds the requested CPU of the attempts of a task: over time, and x running time.
    fn add_cpu(
        &mut self,
        view: &TaskView<'_>,
        run_us: impl Fn(&Attempt) -> i64,
        is_kept: impl Fn(usize, &Attempt) -> bool,
    ) {
        self.over_time.add_attempts(view.attempts);
        for (idx, attempt) in view.attempts.iter().enumerate() {
            let rate = attempt.cpu_request.map_or(CpuRate::ZERO, CpuRate::new);
            let cpu = rate.over(run_us(attempt));
            self.cpu[0] += cpu;
            if !is_kept(idx, attempt) {
                self.cpu[1] += cpu;
            }
        }
    }

    fn more(&mut self, view: &TaskView<'_>, cells: &Cells) -> More {
        let rows = || view.events.iter().rev().map(|event| event.row as usize);
        let [task_name, depends_on] = [0, 1].map(|column: usize| {
            rows().find_map(|row| cells.stages[column].get(row).copied().flatten())
        });
        More {
            gpus: rows()
                .find_map(|row| cells.gpus.get(row).copied().flatten())
                .unwrap_or(GpuAsk::NONE),
            requested_us: rows()
                .find_map(|row| cells.requested.get(row).copied().flatten())
                .filter(|&requested_us| 0 < requested_us),
            phase: view.phase.map(|phase| self.phases.code(phase)),
            after: rows().find_map(|row| cells.preceding.get(row).copied().flatten()),
            task_name,
            depends_on,
        }
    }

    /// Appends the running times of the failed attempts, and returns their range.
    fn add_failures(
        &mut self,
        attempts: &[Attempt],
        run_us: impl Fn(&Attempt) -> i64,
    ) -> Range<u32> {
        let from = self.failure_count();
        let failed = attempts.iter().filter(|attempt| is_failed(attempt));
        self.failures.extend(failed.map(run_us));
        from..self.failure_count()
    }

    fn failure_count(&self) -> u32 {
        u32::try_from(self.failures.len()).expect("fewer than 2^32 failures")
    }
}

/// Whether an attempt ended with a failure, not with an eviction or a kill.
fn is_failed(attempt: &Attempt) -> bool {
    attempt.ended_by == EndedBy::Event(EventType::Fail)
}

/// The fate of a task with a known last end, and its work until then; `last` is its last attempt,
/// which took `last_us`.
fn fate_of(
    end: &Event,
    last: Option<&Attempt>,
    last_us: Option<i64>,
    (killed, age_us): (KilledTasks, i64),
) -> (Fate, Option<i64>) {
    match (end.event_type, killed) {
        (EventType::Finish, _) => (Fate::Finishes, last_us),
        (EventType::Fail, _) => (Fate::Fails, last_us),
        (_, KilledTasks::RunTime) if ends(last, end) => (Fate::Stopped, last_us),
        (_, KilledTasks::RunTime) => (Fate::Withdrawn { age_us }, Some(0)),
        (_, KilledTasks::Age) => (Fate::Killed { age_us }, Some(0)),
    }
}

/// The recorded wait of a task from its first submit in the window to its first start; `None` if it
/// was submitted before the window, or did not start.
fn wait_us(view: &TaskView<'_>, windows: Windows) -> Option<i64> {
    let submit_us = first_submit(view).filter(|&at_us| !windows.is_before(at_us))?;
    let starts = view.attempts.iter().map(|attempt| attempt.start_us);
    let start_us = starts.min().filter(|&start_us| start_us < i64::MAX)?;
    (submit_us <= start_us).then(|| start_us - submit_us)
}

/// The time until which a task waited for its first attempt in the record. Without an attempt:
/// until the end of the task, of its job, or of the window.
fn waits_until_us(view: &TaskView<'_>, windows: Windows) -> i64 {
    let start = view.attempts.iter().map(|attempt| attempt.start_us).min();
    let end = || view.events.iter().rev().find(|event| event.event_type.is_terminal());
    let end_us = || end().map(|event| event.time_us).or(view.job_end_us);
    start.or_else(end_us).unwrap_or(windows.task_end_us)
}

/// When a task ended; `None` if it still runs at the end of the window.
fn recorded_end_us(last: Option<&Attempt>, ended: Option<&Event>) -> Option<i64> {
    match last.map(|attempt| (attempt.ended_by, attempt.end_us)) {
        Some((EndedBy::Nothing, _)) => None,
        Some((EndedBy::Job, end_us)) => Some(end_us),
        _ => ended.map(|event| event.time_us),
    }
}

/// Whether an event ends an attempt, so the task ran until then.
fn ends(attempt: Option<&Attempt>, event: &Event) -> bool {
    attempt.is_some_and(|attempt| {
        attempt.ended_by == EndedBy::Event(event.event_type) && attempt.end_us == event.time_us
    })
}

/// Whether a task lost its machine, or the trace lost its end.
const fn has_lost_machine(event: &Event) -> bool {
    matches!(event.event_type, EventType::Evict | EventType::Lost)
}

/// The begin of a task. If it is before the window, it moves to the start of the window or to the
/// task's next event, whichever is earlier.
fn begun_us(view: &TaskView<'_>, windows: Windows) -> i64 {
    let known = view.events.iter().map(|event| event.time_us);
    let first = known.filter(|&at_us| !windows.is_before(at_us)).min();
    first.unwrap_or(BEGIN_2011_US).min(BEGIN_2011_US)
}

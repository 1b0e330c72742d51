//! Adds up the tasks of a lake by month.

use arrow::array::AsArray;
use arrow::datatypes::Float32Type;
use rayon::prelude::*;

use super::super::calendar::Calendar;
use super::sums::{Monthly, Piece, Used, month_of};
use crate::facts::FactError;
use crate::facts::jobs::{ACCOUNT, Job, Jobs, QUEUE, TERMINAL_OUTCOMES};
use crate::facts::tasks::{Attempt, EndedBy, GPU_REQUEST, TaskView, Tasks};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{EventType, Table};
use crate::studies::ledger::{CpuDefinition, UNKNOWN};
use crate::studies::load::jobs::{Suspended, Times};
use crate::studies::load::sizes::size_class;
use crate::studies::load::whole;
use crate::studies::meter::Meter;
use crate::studies::texts::{Texts, entry};
use crate::units::{CpuRate, CpuTime};

/// The settings.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What CPU time means.
    pub cpu: CpuDefinition,
    /// The calendar.
    pub calendar: Calendar,
    /// An attempt counts as late if it ran at least this long without finishing, µs.
    pub late_us: i64,
}

/// Adds up a log by month.
///
/// # Errors
/// A table is missing or cannot be read, or the callback stops the call.
pub fn fold(lake: &Lake, windows: Windows, asked: &Asked) -> Result<Monthly, FactError> {
    if !lake.has_column(Table::TaskEvents, ACCOUNT) {
        return fold_by(lake, windows, asked, false);
    }
    let monthly = fold_by(lake, windows, asked, true)?;
    // The column may exist but be empty.
    let names_none = monthly.accounts.keys().all(|account| account == UNKNOWN);
    if names_none { fold_by(lake, windows, asked, false) } else { Ok(monthly) }
}

/// Adds up by account, or by user if the log has no accounts.
fn fold_by(
    lake: &Lake,
    windows: Windows,
    asked: &Asked,
    has_accounts: bool,
) -> Result<Monthly, FactError> {
    lake.require(Table::JobEvents)?;
    lake.require(Table::TaskEvents)?;
    Meter::Cpu(asked.cpu).check(lake)?;
    let rows = lake.expect_rows(&[Table::JobEvents, Table::TaskEvents]);
    (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .try_fold(Monthly::default, |mut monthly, bucket| {
            Bucket::read(lake, bucket, windows, (asked, has_accounts))?.add(&mut monthly);
            lake.step(rows)?;
            Ok::<Monthly, FactError>(monthly)
        })
        .try_reduce(Monthly::default, |one, other| Ok(one.merge(other)))
        .map(|monthly| Monthly { has_accounts, ..monthly })
}

/// A bucket that is being added up.
struct Bucket<'a> {
    asked: &'a Asked,
    lake: &'a Lake,
    windows: Windows,
    jobs: Jobs,
    tasks: Tasks,
    has_accounts: bool,
    accounts: Texts,
    queues: Texts,
    gpus: Vec<Option<f32>>,
}

/// Data about a job that comes from its tasks.
#[derive(Clone, Copy, Default)]
struct OfTasks {
    /// The first row of its first task.
    row: Option<u32>,
    cpu: f64,
    suspended: Suspended,
}

impl<'a> Bucket<'a> {
    fn read(
        lake: &'a Lake,
        bucket: u32,
        windows: Windows,
        (asked, has_accounts): (&'a Asked, bool),
    ) -> Result<Self, FactError> {
        let (mut accounts, mut queues, mut gpus) = (Texts::default(), Texts::default(), Vec::new());
        let columns = [ACCOUNT, QUEUE, GPU_REQUEST];
        let columns = columns.into_iter().filter(|name| lake.has_column(Table::TaskEvents, name));
        let columns: Vec<&'static str> = columns.collect();
        let usage = Meter::Cpu(asked.cpu).usage();
        let tasks = Tasks::read_beside(lake, bucket, windows, usage, &columns, |batch| {
            for (name, texts) in [(ACCOUNT, &mut accounts), (QUEUE, &mut queues)] {
                if let Some(column) = batch.column_by_name(name) {
                    texts.add(column);
                }
            }
            if let Some(column) = batch.column_by_name(GPU_REQUEST) {
                gpus.extend(column.as_primitive::<Float32Type>().iter());
            }
        })?;
        let jobs = Jobs::read(lake, bucket)?;
        Ok(Self { asked, lake, windows, jobs, tasks, has_accounts, accounts, queues, gpus })
    }

    fn add(&self, monthly: &mut Monthly) {
        let mut of_tasks = vec![OfTasks::default(); self.jobs.jobs.len()];
        self.tasks.for_each(|task| {
            let position = self.jobs.find(task.job_id);
            let row = task.events.first().map_or(0, |event| event.row);
            let job = position.map(|position| &self.jobs.jobs[position]);
            for attempt in task.attempts.iter().filter(|attempt| attempt.start_us < i64::MAX) {
                self.attempt(monthly, attempt, job, row);
            }
            self.limits(monthly, task, row);
            if let Some(position) = position {
                let own = &mut of_tasks[position];
                own.row.get_or_insert(row);
                own.suspended.add(task.attempts);
                let mut rows = task.events.iter().rev();
                let asks = rows.find_map(|event| self.tasks.requests_of(event.row)[0]);
                own.cpu += f64::from(asks.unwrap_or(0.0));
            }
        });
        for (job, of_tasks) in self.jobs.jobs.iter().zip(of_tasks) {
            self.job(monthly, job, of_tasks);
        }
    }

    /// The user of a job.
    fn user(&self, job: Option<&Job>) -> &str {
        job.and_then(|job| job.user).map_or(UNKNOWN, |user| self.jobs.names.get(user))
    }

    /// The account of a row, or the user in a log without accounts.
    fn account<'b>(&'b self, row: Option<u32>, user: &'b str) -> &'b str {
        match row {
            Some(row) if self.has_accounts => self.accounts.of(row),
            None if self.has_accounts => UNKNOWN,
            _ => user,
        }
    }

    /// How a job ended, and the reason.
    fn end(&self, job: Option<&Job>) -> (u8, String) {
        let reason = job.and_then(|job| job.end_reason);
        let reason = reason.map_or("", |reason| self.jobs.names.get(reason));
        (job.map_or(UNKNOWN_END, |job| job.by_terminal), reason.to_owned())
    }

    /// The rate at which an attempt uses CPU.
    fn cpu_rate(&self, attempt: &Attempt) -> CpuRate {
        match self.asked.cpu {
            CpuDefinition::Slots => attempt.slot_rate(),
            CpuDefinition::Requested => attempt.requested_rate(),
            _ => attempt.used_rate(self.lake.source()),
        }
    }

    /// Adds the use of an attempt, month by month.
    fn attempt(&self, monthly: &mut Monthly, attempt: &Attempt, job: Option<&Job>, row: u32) {
        let gpus = self.gpus.get(attempt.row as usize).copied().flatten();
        let gpu = gpus.map_or(CpuRate::ZERO, CpuRate::new);
        let cpu = self.cpu_rate(attempt);
        let user = self.user(job);
        let account = self.account(Some(row), user);
        let end = attempt.ended_by.event();
        let is_wasted = end.is_some_and(|end| end != EventType::Finish);
        let is_late = is_wasted && self.asked.late_us <= attempt.run_us();
        let mut all = Used::default();
        monthly.attempts += 1;
        monthly.without_request += u64::from(attempt.cpu_request.is_none());
        monthly.has_gpus |= gpu != CpuRate::ZERO;
        self.asked.calendar.split([attempt.start_us, attempt.end_us], |month, length_us| {
            let part = Used { cpu: cpu.over(length_us), gpu: gpu.over(length_us) };
            let piece = Piece { used: part, is_wasted, is_late };
            month_of(&mut monthly.accounts, account, month).add_piece(piece, user);
            let own = entry(&mut monthly.users, user);
            own.0.add_piece(piece, user);
            *entry(&mut own.1, account) += part.cpu;
            all.add(part);
        });
        let ends = monthly.ends.entry(self.end(job)).or_default();
        ends.used.add(all);
        if is_wasted {
            ends.wasted += all.cpu;
            ends.wasted_attempts += u64::from(all.cpu != CpuTime::ZERO);
        }
    }

    /// Adds a job in the month of its last event.
    fn job(&self, monthly: &mut Monthly, job: &Job, of_tasks: OfTasks) {
        let month = self.asked.calendar.month_of(job.last_event_us.min(self.windows.job_end_us));
        let user = self.user(Some(job));
        let account = self.account(of_tasks.row, user);
        let queue = of_tasks.row.map_or(UNKNOWN, |row| self.queues.of(row));
        let has_finished = job.by_terminal == FINISHED;
        let times = Times::of(job, self.windows, of_tasks.suspended);
        month_of(&mut monthly.accounts, account, month).add_job(has_finished, user, times);
        entry(&mut monthly.users, user).0.add_job(has_finished, user, times);
        monthly.ends.entry(self.end(Some(job))).or_default().jobs += 1;
        if let size @ 1.. = whole(of_tasks.cpu) {
            let class = size_class(size).0;
            entry(&mut monthly.queues, queue)[class].add(times);
            if let Some(wait_us) = times.wait_us() {
                monthly.alike.add(queue, user, class, wait_us);
            }
        }
    }

    /// Adds the attempts of a task with a time limit.
    fn limits(&self, monthly: &mut Monthly, task: &TaskView<'_>, row: u32) {
        let ended = |attempt: &&Attempt| {
            matches!(attempt.ended_by, EndedBy::Event(_)) && attempt.start_us < i64::MAX
        };
        for attempt in task.attempts.iter().filter(ended) {
            let Some(limit_us) = attempt.requested_us else { continue };
            let ran_us = attempt.run_us();
            let rate = match self.asked.cpu {
                CpuDefinition::Slots => CpuRate::ONE,
                _ => attempt.cpu_request.map_or(CpuRate::ZERO, CpuRate::new),
            };
            let used = self.cpu_rate(attempt).over(attempt.length_us());
            let sums = entry(&mut monthly.limits, self.queues.of(row));
            sums.asked += rate.over(limit_us);
            sums.used += rate.over(ran_us);
            sums.times_us.push([limit_us, ran_us]);
            if limit_us <= ran_us {
                sums.reached += 1;
                sums.reached_cpu += used;
            }
        }
    }
}

/// Positions of `finished` and `unknown` among the outcomes by the last terminal event.
const FINISHED: u8 = 0;
#[expect(clippy::cast_possible_truncation, reason = "there are eight")]
const UNKNOWN_END: u8 = TERMINAL_OUTCOMES.len() as u8 - 1;

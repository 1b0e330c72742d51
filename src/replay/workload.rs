//! The tasks to run, as arrays with one entry per task in order of arrival.
//!
//! In: columns from a lake, a log or a [`specification`](super::spec). Out: a checked [`Workload`].
//! Tasks are sorted by arrival, and their original places are kept; a negative time or an array of
//! the wrong length is an error. A column whose values are all the same stores one value, so a
//! plain work queue of a million tasks takes a few numbers.
//!
//! ```text
//!  history:  |--fail--|  |--fail--|  |-------- finish --------|
//!  replay:   the task fails after the same work twice, and finishes its third try
//! ```

use crate::faults::{Code, Fault};

use thiserror::Error;

pub use super::column::{Column, NONE};
use super::dependencies::Dependencies;
pub use super::estimates::{ESTIMATES, Estimates, EstimatesError};
use super::gpus::GpuAsk;
use super::inputs::Inputs;
use super::pasts::JobPasts;

/// The millionths in one unit of CPU or memory: sums of whole millionths are exact.
pub const UNITS: u64 = 1_000_000;

/// How a task ends after its recorded failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// It finishes after its work.
    Finishes,
    /// It fails after its work and is not tried again.
    Fails,
    /// It is killed after its work: its user or its limit stopped it while it ran.
    Stopped,
    /// It is killed at an age, while it waits or runs; it does not end before.
    Killed {
        /// The time since its arrival, µs.
        age_us: i64,
    },
    /// Its user withdraws it at an age, whether it waits or runs then, unless its work has ended
    /// it.
    Withdrawn {
        /// The time since its arrival, µs.
        age_us: i64,
    },
}

impl Fate {
    /// Whether it never ends by completing its work.
    pub const fn is_endless(self) -> bool {
        matches!(self, Self::Killed { .. })
    }

    /// The age at which it is ended, µs since its arrival.
    pub const fn ends_at_age_us(self) -> Option<i64> {
        match self {
            Self::Killed { age_us } | Self::Withdrawn { age_us } => Some(age_us),
            Self::Finishes | Self::Fails | Self::Stopped => None,
        }
    }
}

/// The work after which each try of a task fails.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// The start of each task's failures, and the end of the last; empty if no task fails.
    pub first: Vec<u32>,
    /// Work until the failure, µs at speed 1.
    pub work_us: Vec<i64>,
}

impl Failures {
    /// The failures of one task.
    #[inline]
    pub fn of(&self, task: u32) -> &[i64] {
        let task = task as usize;
        if self.first.is_empty() {
            return &[];
        }
        &self.work_us[self.first[task] as usize..self.first[task + 1] as usize]
    }
}

/// The work of the finished tasks of each group: a copy or a restart may have it instead of its own
/// task's work. If empty, it has the work of its task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reruns {
    /// The start of each group, and the end of the last.
    first: Vec<u32>,
    /// Work, µs at speed 1.
    work_us: Vec<i64>,
}

impl Reruns {
    /// The work of the finished tasks of every group.
    pub fn of_siblings(workload: &Workload) -> Self {
        let tasks = || {
            let all = (0..).take(workload.task_count);
            // The work of a task that still runs at the end is not known.
            all.filter(|&task| {
                workload.fate.get(task) == Fate::Finishes && !workload.is_cut.get(task)
            })
        };
        let mut first = vec![0_u32; workload.group_count() + 1];
        for task in tasks() {
            first[workload.group.get(task) as usize + 1] += 1;
        }
        for group in 1..first.len() {
            first[group] += first[group - 1];
        }
        let mut next = first.clone();
        let mut work_us = vec![0; tasks().count()];
        for task in tasks() {
            let place = &mut next[workload.group.get(task) as usize];
            work_us[*place as usize] = workload.work_us.get(task);
            *place += 1;
        }
        Self { first, work_us }
    }

    /// The work to draw from for a group; empty if there is none.
    pub fn of(&self, group: u32) -> &[i64] {
        let group = group as usize;
        if self.first.is_empty() {
            return &[];
        }
        &self.work_us[self.first[group] as usize..self.first[group + 1] as usize]
    }
}

/// How reported progress follows the work done after the start-up: straight lines between points of
/// (work share, progress).
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Points in order of work, from (0, 0) to a point with work 1.
    pub points: Vec<(f64, f64)>,
}

impl Shape {
    /// Progress equals the share of work done.
    pub fn linear() -> Self {
        Self { points: vec![(0.0, 0.0), (1.0, 1.0)] }
    }

    /// Whether progress equals the share of work done.
    pub fn is_linear(&self) -> bool {
        self.points == [(0.0, 0.0), (1.0, 1.0)]
    }

    /// Progress when `share` of the work is done.
    pub fn progress(&self, share: f64) -> f64 {
        for pair in self.points.windows(2) {
            let ((from, low), (to, high)) = (pair[0], pair[1]);
            if share <= to {
                return if from < to {
                    low + (high - low) * (share - from) / (to - from)
                } else {
                    high
                };
            }
        }
        self.points.last().map_or(share, |point| point.1)
    }
}

/// The tasks to run. Fill the columns you need, then call [`check`](Workload::check).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Workload {
    /// The number of tasks.
    pub task_count: usize,
    /// When a task is submitted, µs.
    pub arrival_us: Column<i64>,
    /// The work of the task's last try, µs on a machine of speed 1.
    pub work_us: Column<i64>,
    /// CPU that the task requests, millionths.
    pub cpu: Column<u64>,
    /// Memory that the task requests, millionths.
    pub memory: Column<u64>,
    /// GPUs that the task requests; checked only if machines record GPUs. Orders with a reservation
    /// for every waiting task ([`Backfill::Conservative`](super::policies::Backfill)) cannot replay
    /// them.
    pub gpus: Column<GpuAsk>,
    /// The priority: higher goes first, and an unknown one ranks below all others.
    pub priority: Column<Option<i32>>,
    /// The scheduling class, if it is known.
    pub class: Column<Option<u8>>,
    /// The number of the task's user.
    pub user: Column<u32>,
    /// Names of the users by number; empty if no user has a name.
    pub user_names: Vec<String>,
    /// The number of the task's job.
    pub job: Column<u32>,
    /// The number of the task's group: the tasks of one phase of one job, which a detector judges
    /// together.
    pub group: Column<u32>,
    /// The time that the user requested, µs at speed 1; `None` if no request is known.
    pub requested_us: Column<Option<i64>>,
    /// The running times that an order uses to plan ahead.
    pub estimates: Estimates,
    /// Whether the task must not share a machine with another task of its job.
    pub is_apart: Column<bool>,
    /// Whether the task started in the record, after a wait that is known. It does not affect the
    /// replay: only the waits of these tasks are compared with the record.
    pub has_wait: Column<bool>,
    /// Whether the task still ran at the end of the recorded window, which cuts its work. It does
    /// not affect the replay: responses are also reported for only the jobs without such tasks.
    pub is_cut: Column<bool>,
    /// How the task ends.
    pub fate: Column<Fate>,
    /// Additional work of an attempt that is slow by chance, µs.
    pub extra_us: Column<i64>,
    /// The chance of each attempt to be slow; with `None` only the first attempt is slow.
    pub extra_chance: Option<f64>,
    /// The recorded failures.
    #[doc(hidden)]
    pub failures: Failures,
    /// Which tasks wait for which other tasks.
    pub dependencies: Dependencies,
    /// The recorded data of the jobs, if a rule uses it.
    #[doc(hidden)]
    pub pasts: JobPasts,
    /// How much work a copy or a restart has.
    #[doc(hidden)]
    pub reruns: Reruns,
    /// Where the inputs of tasks are.
    #[doc(hidden)]
    pub inputs: Inputs,
    /// The deviation of the random factor (mean 1) between the work of an attempt and of its task.
    pub noise: f64,
    /// Work at the beginning of an attempt during which no progress is reported, µs.
    pub startup_us: i64,
    /// How progress is reported after the start-up, by group modulo the number of shapes; at least
    /// one shape.
    #[doc(hidden)]
    pub shapes: Vec<Shape>,
    /// The place of each task in the given arrays; empty if they were in order.
    pub origin: Vec<u32>,
}

/// Why a workload was rejected.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The length of a column differs from the number of tasks.
    #[error("column `{column}` does not have one entry for each of the {task_count} tasks")]
    Length {
        /// The column.
        column: &'static str,
        /// The number of entries it should have.
        task_count: usize,
    },
    /// A time below zero.
    #[error("task {task}: `{column}` is {value}, below zero")]
    Negative {
        /// The column.
        column: &'static str,
        /// The task, counted from 0 in the given order.
        task: u32,
        /// The value found.
        value: i64,
    },
    /// An arrival beyond the largest time.
    #[error("at a load of {load} the last task would arrive more than 290,000 years from now")]
    Late {
        /// The factor of the arrival rate.
        load: f64,
    },
    /// More tasks than the numbers allow.
    #[error("{0} tasks are more than can be numbered")]
    TooMany(usize),
}

impl Fault for WorkloadError {
    fn code(&self) -> Code {
        match self {
            Self::Late { .. } => Code::Usage,
            _ => Code::Environment,
        }
    }
}

impl Workload {
    /// `task_count` tasks of `work_us` each that arrive at the same time and request one CPU each.
    pub fn plain(task_count: usize, work_us: Column<i64>) -> Self {
        Self {
            task_count,
            arrival_us: Column::Same(0),
            work_us,
            cpu: Column::Same(UNITS),
            memory: Column::Same(0),
            gpus: Column::Same(GpuAsk::NONE),
            priority: Column::Same(None),
            class: Column::Same(None),
            user: Column::Same(0),
            user_names: Vec::new(),
            job: Column::Same(0),
            group: Column::Same(0),
            requested_us: Column::Same(None),
            estimates: Estimates::Requested,
            is_apart: Column::Same(false),
            has_wait: Column::Same(true),
            is_cut: Column::Same(false),
            fate: Column::Same(Fate::Finishes),
            extra_us: Column::Same(0),
            extra_chance: None,
            failures: Failures::default(),
            dependencies: Dependencies::default(),
            pasts: JobPasts::default(),
            reruns: Reruns::default(),
            inputs: Inputs::default(),
            noise: 0.0,
            startup_us: 0,
            shapes: vec![Shape::linear()],
            origin: Vec::new(),
        }
    }

    /// Checks the columns and puts the tasks in order of arrival.
    pub fn check(mut self) -> Result<Self, WorkloadError> {
        if NONE as usize <= self.task_count {
            return Err(WorkloadError::TooMany(self.task_count));
        }
        self.check_lengths()?;
        for (column, values) in [
            ("arrival_us", &self.arrival_us),
            ("work_us", &self.work_us),
            ("extra_us", &self.extra_us),
        ] {
            if let Some((task, value)) = (0..).zip(values.values()).find(|(_, value)| *value < 0) {
                return Err(WorkloadError::Negative { column, task, value });
            }
        }
        let ages = self.fate.values().map(Fate::ends_at_age_us);
        let below = |age: &(u32, Option<i64>)| age.1.is_some_and(|age_us| age_us < 0);
        if let Some((task, Some(value))) = (0..).zip(ages).find(below) {
            return Err(WorkloadError::Negative { column: "age_us", task, value });
        }
        let below = |asked: &(u32, Option<i64>)| asked.1.is_some_and(|asked_us| asked_us < 0);
        if let Some((task, Some(value))) = (0..).zip(self.requested_us.values()).find(below) {
            return Err(WorkloadError::Negative { column: "requested_us", task, value });
        }
        if let Some(&value) = self.failures.work_us.iter().find(|&&value| value < 0) {
            return Err(WorkloadError::Negative { column: "failures", task: 0, value });
        }
        let sorted = match &self.arrival_us {
            Column::Same(_) => true,
            Column::Each(times) => times.is_sorted(),
        };
        if !sorted {
            self.sort();
        }
        Ok(self)
    }

    fn check_lengths(&self) -> Result<(), WorkloadError> {
        let task_count = self.task_count;
        let failures = &self.failures.first;
        let fits = [
            ("arrival_us", self.arrival_us.fits(task_count)),
            ("work_us", self.work_us.fits(task_count)),
            ("cpu", self.cpu.fits(task_count)),
            ("memory", self.memory.fits(task_count)),
            ("gpus", self.gpus.fits(task_count)),
            ("priority", self.priority.fits(task_count)),
            ("class", self.class.fits(task_count)),
            ("user", self.user.fits(task_count)),
            ("job", self.job.fits(task_count)),
            ("group", self.group.fits(task_count)),
            ("requested_us", self.requested_us.fits(task_count)),
            ("is_apart", self.is_apart.fits(task_count)),
            ("has_wait", self.has_wait.fits(task_count)),
            ("is_cut", self.is_cut.fits(task_count)),
            ("fate", self.fate.fits(task_count)),
            ("extra_us", self.extra_us.fits(task_count)),
            ("inputs", self.inputs.fits(task_count)),
            ("stage", self.dependencies.stage.fits(task_count)),
            ("failures", failures.is_empty() || failures.len() == task_count + 1),
        ];
        match fits.iter().find(|(_, fits)| !fits) {
            Some(&(column, _)) => Err(WorkloadError::Length { column, task_count }),
            None => Ok(()),
        }
    }

    /// Sorts the tasks by arrival; tasks with the same arrival keep their order.
    fn sort(&mut self) {
        let mut order: Vec<u32> = (0..).take(self.task_count).collect();
        order.sort_by_key(|&idx| self.arrival_us.get(idx));
        self.arrival_us.permute(&order);
        self.work_us.permute(&order);
        self.cpu.permute(&order);
        self.memory.permute(&order);
        self.gpus.permute(&order);
        self.priority.permute(&order);
        self.class.permute(&order);
        self.user.permute(&order);
        self.job.permute(&order);
        self.group.permute(&order);
        self.requested_us.permute(&order);
        self.is_apart.permute(&order);
        self.has_wait.permute(&order);
        self.is_cut.permute(&order);
        self.fate.permute(&order);
        self.extra_us.permute(&order);
        self.inputs.permute(&order);
        self.dependencies.stage.permute(&order);
        if !self.failures.first.is_empty() {
            let mut sorted = Failures { first: vec![0], work_us: Vec::new() };
            for &idx in &order {
                sorted.work_us.extend_from_slice(self.failures.of(idx));
                sorted.first.push(u32::try_from(sorted.work_us.len()).expect("as many as before"));
            }
            self.failures = sorted;
        }
        self.origin = order;
    }

    /// Number of groups.
    pub fn group_count(&self) -> usize {
        largest(&self.group, self.task_count)
    }

    /// Number of users.
    pub fn user_count(&self) -> usize {
        largest(&self.user, self.task_count)
    }

    /// Number of jobs.
    pub fn job_count(&self) -> usize {
        largest(&self.job, self.task_count)
    }

    /// The least CPU and memory that any task requests: a machine with less free is full.
    pub fn least_demand(&self) -> [u64; 2] {
        [self.cpu.values().min().unwrap_or(0), self.memory.values().min().unwrap_or(0)]
    }

    /// Whether any task requests GPUs.
    pub fn has_gpus(&self) -> bool {
        self.gpus.values().any(|ask| !ask.is_none())
    }

    /// The number of tasks that request GPUs.
    pub fn asks_for_gpus(&self) -> u64 {
        let asks = |task: &u32| !self.gpus.get(*task).is_none();
        (0..).take(self.task_count).filter(asks).count() as u64
    }

    /// CPU and memory that a task requests.
    #[inline]
    pub fn demand(&self, task: u32) -> [u64; 2] {
        [self.cpu.get(task), self.memory.get(task)]
    }

    /// The work of a task's try `failed` (0 before the first failure), µs.
    #[inline]
    pub fn try_work_us(&self, task: u32, failed: u16) -> i64 {
        match self.failures.of(task).get(usize::from(failed)) {
            Some(&work_us) => work_us,
            None => self.work_us.get(task),
        }
    }

    /// The expected running time of a task's try `failed`, µs at speed 1. For a task that is killed
    /// at an age, it is that age: the task cannot run longer.
    #[expect(clippy::cast_precision_loss, reason = "work is far below 2^53 µs")]
    #[expect(clippy::cast_possible_truncation, reason = "saturates at the end of time")]
    pub fn estimate_us(&self, task: u32, failed: u16) -> i64 {
        let is_last = self.failures.of(task).len() <= usize::from(failed);
        let recorded_us = match self.fate.get(task) {
            Fate::Killed { age_us } if is_last => age_us,
            _ => self.try_work_us(task, failed),
        };
        match self.estimates {
            Estimates::Requested => self.requested_us.get(task).unwrap_or(recorded_us),
            Estimates::Exact => recorded_us,
            Estimates::Factor(factor) => (recorded_us as f64 * factor).ceil() as i64,
        }
    }

    /// The shape of a task's progress reports.
    pub fn shape(&self, task: u32) -> &Shape {
        &self.shapes[self.group.get(task) as usize % self.shapes.len()]
    }
}

fn largest(column: &Column<u32>, task_count: usize) -> usize {
    if task_count == 0 { 0 } else { column.values().max().map_or(0, |value| value as usize + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_out_of_order_are_sorted_and_remember_their_place() {
        let mut workload = Workload::plain(3, Column::Each(vec![10, 20, 30]));
        workload.arrival_us = Column::Each(vec![5, 0, 5]);
        workload.failures = Failures { first: vec![0, 1, 1, 3], work_us: vec![7, 8, 9] };
        let workload = workload.check().unwrap();
        assert_eq!(workload.origin, [1, 0, 2]);
        assert_eq!(workload.work_us, Column::Each(vec![20, 10, 30]));
        assert_eq!(workload.failures.of(0), &[] as &[i64]);
        assert_eq!(workload.failures.of(1), [7]);
        assert_eq!(workload.failures.of(2), [8, 9]);
        assert_eq!(workload.try_work_us(2, 1), 9);
        assert_eq!(workload.try_work_us(2, 2), 30);
    }

    #[test]
    fn bad_columns_are_errors() {
        let check = |change: fn(&mut Workload), expected: &str| {
            let mut workload = Workload::plain(2, Column::Same(1));
            change(&mut workload);
            assert_eq!(workload.check().unwrap_err().to_string(), expected);
        };
        check(
            |workload| workload.user = Column::Each(vec![0]),
            "column `user` does not have one entry for each of the 2 tasks",
        );
        check(
            |workload| workload.work_us = Column::Each(vec![3, -1]),
            "task 1: `work_us` is -1, below zero",
        );
    }

    #[test]
    fn progress_follows_its_points() {
        let shape = Shape { points: vec![(0.0, 0.0), (0.8, 0.4), (1.0, 0.6)] };
        assert!((shape.progress(0.4) - 0.2).abs() < 1e-12);
        assert!((shape.progress(0.9) - 0.5).abs() < 1e-12);
        assert_eq!(shape.progress(2.0), 0.6);
    }
}

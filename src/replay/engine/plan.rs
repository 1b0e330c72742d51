//! The plan of a replay, and its outcome.

use std::ops::ControlFlow;
use std::sync::Arc;

use thiserror::Error;

use crate::faults::{Code, Fault};
use crate::progress::{Progress, Watch};
use crate::replay::cluster::Cluster;
use crate::replay::feedback::Feedback;
use crate::replay::journal::{Journal, Kind};
use crate::replay::policies::{Heartbeat, PolicyPlan};
use crate::replay::state::Phase;
use crate::replay::workload::{Fate, Workload};

/// The plan of a replay.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan<'a> {
    /// The machines, checked.
    pub cluster: &'a Cluster,
    /// The tasks, checked.
    pub workload: &'a Workload,
    /// The policy.
    pub policy: &'a PolicyPlan,
    /// The events that jobs follow; with `None`, tasks arrive at the times of the workload.
    pub feedback: Option<&'a Feedback>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Whether the journal is kept.
    pub journal: Keep,
    /// The time at which the replay is cut off, µs; never by default.
    pub until_us: i64,
    /// The caller's callback, if there is one.
    pub(crate) watch: Option<Arc<Watch>>,
}

impl<'a> Plan<'a> {
    /// A replay to the end, with a journal.
    pub fn new(cluster: &'a Cluster, workload: &'a Workload, policy: &'a PolicyPlan) -> Self {
        Self {
            cluster,
            workload,
            policy,
            feedback: None,
            seed: 0,
            journal: Keep::Journal,
            until_us: i64::MAX,
            watch: None,
        }
    }

    /// The same replay, in which jobs follow other jobs.
    #[must_use]
    pub fn feedback(self, feedback: &'a Feedback) -> Self {
        Self { feedback: Some(feedback), ..self }
    }

    /// The same replay with another seed of all random numbers; 0 by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// How much is kept. By default it is the journal, which takes about 20 bytes a line.
    #[must_use]
    pub fn keep(self, keep: Keep) -> Self {
        Self { journal: keep, ..self }
    }

    /// The same replay, cut off at this time, µs.
    #[must_use]
    pub fn until(self, until_us: i64) -> Self {
        Self { until_us, ..self }
    }

    /// Reports progress (the number of tasks that are over) to `callback`, and stops if the
    /// callback breaks. A replay that is stopped keeps everything that has happened so far. Its
    /// outcome is that of a replay cut off at [`Outcome::last_us`], and is marked as
    /// [cancelled](Outcome::is_cancelled).
    #[must_use]
    pub fn on_progress(
        self,
        callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        Self { watch: Some(Arc::new(Watch::new(callback))), ..self }
    }
}

/// Why a plan cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The period of an order or of a rule about running tasks is not positive.
    #[error("the period of {part} `{name}` is {period_us} µs, but must be at least 1 µs")]
    Period {
        /// The part of the policy: `order` or `rule`.
        part: &'static str,
        /// Its name.
        name: String,
        /// The period, µs.
        period_us: i64,
    },
    /// An order that books machines for every waiting task cannot book GPUs.
    #[error("order `{name}` cannot replay tasks with GPUs: it books only CPU and memory")]
    Gpus {
        /// The name of the order.
        name: String,
    },
}

impl Fault for ReplayError {
    fn code(&self) -> Code {
        Code::Usage
    }
}

/// How much of a replay is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// Every line of the journal.
    Journal,
    /// Only the fates of the tasks, and sums.
    Sums,
}

/// Sums over the attempts that ended in one way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// The number of attempts.
    pub count: u64,
    /// Their time on machines, µs.
    pub time_us: i128,
    /// Their time on machines x their requested CPU, millionths of a CPU-µs.
    pub cpu_time: i128,
    /// Their work done, µs at speed 1.
    pub work: f64,
}

/// The outcome of a replay.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The journal, if requested.
    pub journal: Option<Journal>,
    /// The phase of each task.
    pub phase: Vec<Phase>,
    /// When the first attempt of each task began, µs; `None` if none did.
    pub first_start_us: Vec<Option<i64>>,
    /// When each task was over, µs; `None` if it was not.
    pub end_us: Vec<Option<i64>>,
    /// When the last task was over, µs; `None` if a task was never over.
    pub makespan_us: Option<i64>,
    /// When the replay ended, µs.
    pub last_us: i64,
    /// Sums of attempts by how they ended, indexed by [`Kind`].
    pub sums: Vec<Sum>,
    /// Copies started.
    pub copies: u64,
    /// Copies that finished their task.
    pub copies_won: u64,
    /// Copies and originals cancelled because another attempt finished: time and work of the
    /// copies.
    pub lost_copies: Sum,
    /// Tasks larger than any machine.
    pub refused: Vec<u32>,
    /// Tasks that were not over when no further event could happen.
    pub unfinished: usize,
    /// Instants at which tasks waited beyond the depth of the order although a machine had room;
    /// `None` for an order without a depth.
    pub depth_cuts: Option<u64>,
    /// Events handled, including void ones.
    pub events: u64,
    /// Whether the callback stopped the replay; attempts that ran then are cut off.
    pub is_cancelled: bool,
}

impl Outcome {
    /// The sums of the attempts that ended in this way.
    pub fn sum(&self, kind: Kind) -> Sum {
        self.sums[kind as usize]
    }

    /// The time of all attempts on machines, µs.
    pub fn machine_time_us(&self) -> i128 {
        self.sums.iter().map(|sum| sum.time_us).sum()
    }
}

/// After this many timer periods without a start or end, the timer continues just before the next
/// event: five weeks of heartbeats every three seconds. Logs have tasks of 2^31 s, and simulating
/// heartbeats over such times would take too long.
pub(super) const QUIET_PERIODS: i64 = 1_000_000;

/// The most heartbeats that a replay may have; `None` if its rule about running tasks uses none. It
/// is the number that fits in the time in which tasks that can be judged run, if they run one after
/// another, with at most `QUIET_PERIODS` between two events.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub fn heartbeats(workload: &Workload, policy: &PolicyPlan) -> Option<f64> {
    let Heartbeat { period_us, sees_lone_tasks } = policy.heartbeat()?;
    let mut sizes = vec![0_u32; workload.group_count()];
    let tasks = || (0..).take(workload.task_count);
    for task in tasks() {
        sizes[workload.group.get(task) as usize] += 1;
    }
    let (mut begin_us, mut end_us, mut sum_us, mut tries) = (f64::INFINITY, 0.0_f64, 0.0, 0.0);
    for task in tasks() {
        if !sees_lone_tasks && sizes[workload.group.get(task) as usize] < 2 {
            continue;
        }
        let failures = workload.failures.of(task);
        let last_us = match workload.fate.get(task) {
            Fate::Killed { age_us } => age_us,
            _ => workload.work_us.get(task),
        };
        let takes_us =
            failures.iter().chain([&last_us]).map(|&work_us| work_us as f64).sum::<f64>();
        let arrival_us = workload.arrival_us.get(task) as f64;
        begin_us = begin_us.min(arrival_us);
        end_us = end_us.max(arrival_us + takes_us);
        sum_us += takes_us;
        tries += 1.0 + failures.len() as f64;
    }
    let busy_us = sum_us.min((end_us - begin_us).max(0.0));
    Some((busy_us / period_us.max(1) as f64).min(2.0 * tries * QUIET_PERIODS as f64))
}

//! What is to be replayed, and what came out.

use crate::replay::cluster::Cluster;
use crate::replay::feedback::Feedback;
use crate::replay::journal::{Journal, Kind};
use crate::replay::policies::{Heartbeat, PolicyPlan};
use crate::replay::state::Phase;
use crate::replay::workload::{Fate, Workload};

/// What is to be replayed.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The machines, checked.
    pub cluster: &'a Cluster,
    /// The tasks, checked.
    pub workload: &'a Workload,
    /// The rules.
    pub policy: &'a PolicyPlan,
    /// What the jobs follow; without it tasks arrive at the times of the workload.
    pub feedback: Option<&'a Feedback>,
    /// Where random numbers come from.
    pub seed: u64,
    /// Whether the journal is kept.
    pub journal: Keep,
    /// When the replay is cut off, µs; never by default.
    pub until_us: i64,
}

impl<'a> Plan<'a> {
    /// A replay to the end with a journal.
    pub fn new(cluster: &'a Cluster, workload: &'a Workload, policy: &'a PolicyPlan) -> Self {
        Self {
            cluster,
            workload,
            policy,
            feedback: None,
            seed: 0,
            journal: Keep::Journal,
            until_us: i64::MAX,
        }
    }
}

/// What is kept of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Every line of the journal.
    Journal,
    /// What became of the tasks, and sums.
    Sums,
}

/// Numbers of one way in which attempts end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Attempts.
    pub count: u64,
    /// Their time on machines, µs.
    pub time_us: i128,
    /// Their time on machines x the CPU they asked for, millionths of a CPU-µs.
    pub cpu_time: i128,
    /// Work they had done, µs at speed 1.
    pub work: f64,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The journal, if it was wanted.
    pub journal: Option<Journal>,
    /// Where each task stands.
    pub phase: Vec<Phase>,
    /// When its first attempt began, µs; `None` if none did.
    pub first_start_us: Vec<Option<i64>>,
    /// When it was over, µs; `None` if it was not.
    pub end_us: Vec<Option<i64>>,
    /// When the last task was over, µs; `None` if some never were.
    pub makespan_us: Option<i64>,
    /// When the replay ended, µs.
    pub last_us: i64,
    /// Attempts by how they ended: by [`Kind`].
    pub sums: Vec<Sum>,
    /// Copies started.
    pub copies: u64,
    /// Copies that finished their task.
    pub copies_won: u64,
    /// Copies and originals that were cancelled because another finished: time and work of copies.
    pub lost_copies: Sum,
    /// Tasks larger than any machine.
    pub refused: Vec<u32>,
    /// Tasks that were not over when nothing more could happen.
    pub unfinished: usize,
    /// Instants at which tasks waited beyond the depth of the order although a machine had room;
    /// `None` for an order without a depth.
    pub depth_cuts: Option<u64>,
    /// Events handled, void ones included.
    pub events: u64,
}

impl Outcome {
    /// The sum of the attempts that ended so.
    pub fn sum(&self, kind: Kind) -> Sum {
        self.sums[kind as usize]
    }

    /// Time of all attempts on machines, µs.
    pub fn machine_time_us(&self) -> i128 {
        self.sums.iter().map(|sum| sum.time_us).sum()
    }
}

/// Periods of a timer without any start or end, after which it continues just before the next
/// event: five weeks of heartbeats every three seconds. Logs hold tasks of 2^31 s, and nobody waits
/// for heartbeats of a thousand years.
pub(super) const QUIET_PERIODS: i64 = 1_000_000;

/// How many heartbeats a replay may have at most, if the rule about running tasks has any: as many
/// as fit the time in which something to be judged runs, one task after another, and no more than
/// `QUIET_PERIODS` between two events.
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

//! The numbers of a replay.

use serde::{Deserialize, Serialize};

use super::fates::{Fates, fates};
use super::jobs::{JobEnd, cut_jobs, job_ends};
use super::samples::{Endings, Sample};
use super::spread::Spread;
use super::stretches::shown;
use super::tally::{Tally, cpu_seconds};
use crate::fairness::indices::jain_index;
use crate::replay::cluster::Cluster;
use crate::replay::journal::{Journal, Kind};
use crate::replay::workload::{Column, Workload};
use crate::units::micros_to_seconds;

/// The numbers of a replay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// From the first submit to the last end, s; `None` if a task was never over.
    pub makespan_s: Option<f64>,
    /// Tasks that finished.
    pub finished: usize,
    /// Tasks that ended in any way.
    pub over: usize,
    /// First submit to first start of tasks, s.
    pub waiting_s: Option<Spread>,
    /// The same for tasks whose wait is recorded, s; `None` if the waits of all tasks are recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_waiting_s: Option<Spread>,
    /// The same for tasks that arrive after the first tenth of the time between the first and the
    /// last arrival, s. It is present only if the wait of some task is not recorded, as for tasks
    /// from before the window. These tasks all arrive when the window starts, so the waits at that
    /// time say little about the policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_waiting_s: Option<Spread>,
    /// The end of that first tenth, s; present with `settled_waiting_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_from_s: Option<f64>,
    /// Submit to end of finished tasks, s.
    pub task_response_s: Option<Spread>,
    /// First submit to last end of jobs whose tasks were all over, s.
    pub job_response_s: Option<Spread>,
    /// The same for jobs that the end of the recorded window does not cut, s; `None` if it cuts no
    /// job, or all jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_job_response_s: Option<Spread>,
    /// Response over run time of finished tasks with a run time above 0.
    pub slowdown: Option<Spread>,
    /// The same with run times of at least [`BOUND_S`](super::fates::BOUND_S) and a slowdown of at
    /// least 1.
    pub bounded_slowdown: Option<Spread>,
    /// Mean CPU in use from the first submit to the end, as a share of the CPU present; `None` if
    /// there was none.
    pub utilisation: Option<f64>,
    /// Copies started, and copies that won.
    pub copies: (u64, u64),
    /// CPU time of all attempts, CPU-s.
    pub cpu_s: f64,
    /// The share of `cpu_s` that the largest job used; `None` if `cpu_s` is 0.
    pub largest_used_share: Option<f64>,
    /// The largest share of one job in the wasted CPU time: the time of attempts that were
    /// overtaken, restarted, lost with their machine or evicted.
    pub largest_wasted_share: Option<f64>,
    /// Tasks that a kill rule condemned.
    pub condemned_tasks: usize,
    /// Attempts that finished their task.
    pub useful: Endings,
    /// Copies and originals cancelled because another attempt finished first ("overtaken").
    pub overtaken: Endings,
    /// Attempts killed to be restarted.
    pub restarted: Endings,
    /// Attempts evicted to make room.
    pub evicted: Endings,
    /// Attempts lost with their machine.
    pub lost: Endings,
    /// Attempts that failed.
    pub failed: Endings,
    /// Attempts killed by users.
    pub killed: Endings,
    /// Attempts of condemned tasks.
    pub condemned: Endings,
    /// Probes.
    pub probes: Endings,
    /// Attempts that still ran at the end of the replay.
    pub cut: Endings,
    /// Jain's index over the users' mean bounded slowdowns; `None` if no task finished.
    pub user_fairness: Option<f64>,
    /// The largest share of the CPU in use at an instant.
    pub cpu_share_max: Option<f64>,
    /// The CPU present at that instant.
    pub cpu_there_at_max: f64,
    /// Utilisation and queue over time, in equal stretches.
    pub samples: Vec<Sample>,
}

impl Metrics {
    /// The responses of jobs that the end of the recorded window does not cut, s. Jobs that it cuts
    /// last at least until that end under every policy.
    pub fn responses_of_whole_jobs(&self) -> Option<Spread> {
        self.whole_job_response_s.or(self.job_response_s)
    }

    /// CPU time of wasted attempts, CPU-s: overtaken, restarted, lost with their machine, or
    /// evicted.
    pub fn wasted_cpu_s(&self) -> f64 {
        self.overtaken.cpu_s + self.restarted.cpu_s + self.lost.cpu_s + self.evicted.cpu_s
    }
}

/// Computes the numbers of a replay, with `sample_count` samples over time.
pub fn measure(
    journal: &Journal,
    workload: &Workload,
    cluster: &Cluster,
    sample_count: usize,
) -> Metrics {
    measure_with_jobs(journal, workload, cluster, sample_count).0
}

/// The same numbers, and how each job ended.
pub fn measure_with_jobs(
    journal: &Journal,
    workload: &Workload,
    cluster: &Cluster,
    sample_count: usize,
) -> (Metrics, Vec<JobEnd>) {
    let fates = fates(journal, workload.task_count);
    let mut tally = Tally::new(journal, &fates, sample_count);
    tally.by_job = vec![[0; 2]; workload.job_count()];
    tally.read(journal, workload, cluster);
    let tasks = || 0..workload.task_count;
    let finished: Vec<usize> = tasks().filter(|&task| fates.run_us[task].is_some()).collect();
    let of_finished = |value: &dyn Fn(usize) -> Option<f64>| {
        Spread::of(finished.iter().filter_map(|&task| value(task)).collect())
    };
    let over = fates.end_us.iter().flatten().count();
    let jobs = job_ends(&fates, workload);
    let of_whole = || {
        let whole = jobs.iter().zip(cut_jobs(workload)).filter(|(_, is_cut)| !is_cut);
        Spread::of(whole.filter_map(|(job, _)| job.response_s).collect())
    };
    let last_us = fates.end_us.iter().flatten().copied().max();
    let makespan_us = last_us.map_or(0, |last_us| (last_us - tally.first_us).max(0));
    let has_wait = || (0..).take(workload.task_count).map(|task| workload.has_wait.get(task));
    let of_recorded = || {
        let waits = tasks().zip(has_wait()).filter(|(_, has_wait)| *has_wait);
        waits.filter_map(|(task, _)| fates.waiting_s(task)).collect()
    };
    let misses_waits = workload.has_wait != Column::Same(true);
    let settled_from_us = misses_waits.then(|| settled_from_us(workload)).flatten();
    let of_settled = |from_us: i64| {
        let settled = tasks().zip(0..).filter(|&(_, task)| from_us < workload.arrival_us.get(task));
        Spread::of(settled.filter_map(|(task, _)| fates.waiting_s(task)).collect())
    };
    let metrics = Metrics {
        makespan_s: (over == workload.task_count).then(|| micros_to_seconds(makespan_us)),
        finished: finished.len(),
        over,
        waiting_s: Spread::of(tasks().filter_map(|task| fates.waiting_s(task)).collect()),
        recorded_waiting_s: misses_waits.then(|| Spread::of(of_recorded())).flatten(),
        settled_waiting_s: settled_from_us.and_then(of_settled),
        settled_from_s: settled_from_us.map(micros_to_seconds),
        task_response_s: of_finished(&|task| fates.response_s(task)),
        job_response_s: Spread::of(jobs.iter().filter_map(|job| job.response_s).collect()),
        whole_job_response_s: (workload.is_cut != Column::Same(false)).then(of_whole).flatten(),
        slowdown: of_finished(&|task| fates.slowdown(task)),
        bounded_slowdown: of_finished(&|task| fates.bounded_slowdown(task)),
        utilisation: tally.utilisation(),
        copies: tally.copies,
        cpu_s: cpu_seconds(tally.endings.iter().map(|ending| ending.2).sum()),
        largest_used_share: tally.largest_share(0),
        largest_wasted_share: tally.largest_share(1),
        condemned_tasks: tally.condemned_tasks,
        useful: tally.endings(Kind::Finish),
        overtaken: tally.endings(Kind::Cancel),
        restarted: tally.endings(Kind::Restart),
        evicted: tally.endings(Kind::Evict),
        lost: tally.endings(Kind::Lost),
        failed: tally.endings(Kind::Fail),
        killed: tally.endings(Kind::Kill),
        condemned: tally.endings(Kind::Condemn),
        probes: tally.endings(Kind::ProbeEnd),
        cut: tally.endings(Kind::Cut),
        user_fairness: user_fairness(&fates, &finished, workload),
        cpu_share_max: tally.fullest_share(),
        cpu_there_at_max: shown(tally.fullest[1]) / 1e6,
        samples: tally.samples(),
    };
    (metrics, jobs)
}

/// The end of the first tenth of the time between the first and the last arrival, µs; `None`
/// without tasks. Tasks are in order of arrival.
fn settled_from_us(workload: &Workload) -> Option<i64> {
    let last = u32::try_from(workload.task_count).ok()?.checked_sub(1)?;
    let [first_us, last_us] = [0, last].map(|task| workload.arrival_us.get(task));
    Some(first_us + (last_us - first_us) / 10)
}

/// Jain's index of the users' mean bounded slowdowns: 1 if all are slowed down equally. Users
/// without a finished task are left out.
fn user_fairness(fates: &Fates, finished: &[usize], workload: &Workload) -> Option<f64> {
    let mut sums = vec![(0.0, 0.0); workload.user_count()];
    for &task in finished {
        let idx = u32::try_from(task).expect("tasks are numbered in u32");
        let Some(slowdown) = fates.bounded_slowdown(task) else { continue };
        let sum = &mut sums[workload.user.get(idx) as usize];
        *sum = (sum.0 + slowdown, sum.1 + 1.0);
    }
    let means: Vec<f64> = sums.iter().filter(|sum| 0.0 < sum.1).map(|sum| sum.0 / sum.1).collect();
    jain_index(&means)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::engine::{Plan, replay};
    use crate::replay::workload::UNITS;

    /// Two tasks from before the window and two later ones on a machine with one processor: they
    /// wait 0, 20, 5 and 0 s.
    #[test]
    fn what_arrives_after_the_first_tenth_is_kept_apart() {
        let second = 1_000_000;
        let seconds = |all: [i64; 4]| all.map(|own| own * second).to_vec();
        let mut workload = Workload::plain(4, Column::Each(seconds([20, 5, 10, 10])));
        workload.arrival_us = Column::Each(seconds([0, 0, 20, 100]));
        workload.cpu = Column::Same(UNITS);
        let mut cluster = Cluster::of_speeds(vec![1.0]);
        cluster.cpu = vec![UNITS];
        let cluster = cluster.check().unwrap().0;
        let policy = "fifo".parse().unwrap();
        let settled = |has_wait: Column<bool>| {
            let mut workload = workload.clone();
            workload.has_wait = has_wait;
            let workload = workload.check().unwrap();
            let journal =
                replay(&Plan::new(&cluster, &workload, &policy)).unwrap().journal.unwrap();
            let metrics = measure(&journal, &workload, &cluster, 1);
            assert_eq!(metrics.waiting_s.unwrap().mean, 6.25);
            (metrics.settled_waiting_s, metrics.settled_from_s)
        };
        let (later, from_s) = settled(Column::Each(vec![false, false, true, true]));
        let later = later.unwrap();
        assert_eq!((later.count, later.mean, later.max, from_s), (2, 2.5, 5.0, Some(10.0)));
        assert_eq!(settled(Column::Same(true)), (None, None));
    }
}

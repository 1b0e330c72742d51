//! Numbers of a replay, read from its journal.
//!
//! In: a [`Journal`] and its workload. Out: waiting, response and slowdown of tasks and jobs, use
//! of machines over time, wasted CPU time, and the jobs hurt and helped compared with another run.
//! Quantiles are R-7; statistics of no values are `None`.
//!
//! ```text
//!  submit      first start            end
//!  |--waiting--|------------------------|      response = end - submit
//! ```

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::cluster::Cluster;
use super::journal::{Journal, Kind};
use super::workload::{NONE, Workload};
use crate::fairness::indices::{bounded_slowdown, jain_index};
use crate::studies::quantile;
use crate::units::micros_to_seconds;

mod fragmentation;
mod groups;
mod moved;
mod tally;

pub use self::fragmentation::{CAUSES, GpuFragmentation, GpuSample, gpu_fragmentation};
pub use self::groups::{GroupRow, GroupedBy, SizeOf, by_group};
pub use self::moved::{Moved, moved};
use self::tally::{Tally, cpu_seconds};

/// Runs shorter than this count as this long in the bounded slowdown, s (Feitelson and others).
pub const BOUND_S: f64 = 10.0;

/// Mean and quantiles of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// Number of values.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Spread {
    /// The spread of the values; `None` if there are none.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 tasks")]
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let max = *values.last()?;
        let at = |share| quantile(&values, share).unwrap_or(max);
        Some(Self {
            count: values.len(),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            median: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max,
        })
    }
}

/// The fates of the tasks of a workload, by task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fates {
    /// First submit, µs; `None` if there was none.
    pub submit_us: Vec<Option<i64>>,
    /// First start, µs; `None` if there was none.
    pub start_us: Vec<Option<i64>>,
    /// Last end, µs; `None` if the task was never over.
    pub end_us: Vec<Option<i64>>,
    /// Whether a kill rule condemned it.
    pub is_condemned: Vec<bool>,
    /// Whether no machine could ever run it.
    pub is_refused: Vec<bool>,
    /// Time of the attempt that finished it, µs; `None` if it did not finish.
    pub run_us: Vec<Option<i64>>,
}

/// Attempts that ended in one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Endings {
    /// The number of attempts.
    pub count: u64,
    /// Machine time, s.
    pub time_s: f64,
    /// CPU time: machine time x CPU asked for, CPU-s.
    pub cpu_s: f64,
}

/// Utilisation and queue length over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The end of the stretch, s.
    pub time_s: f64,
    /// CPU in use as a share of the CPU present, on average; `None` if there was none.
    pub cpu_share: Option<f64>,
    /// Mean number of waiting tasks.
    pub waiting: f64,
}

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
    /// Submit to end of finished tasks, s.
    pub task_response_s: Option<Spread>,
    /// First submit to last end of jobs whose tasks were all over, s.
    pub job_response_s: Option<Spread>,
    /// Response over run time of finished tasks with a run time above 0.
    pub slowdown: Option<Spread>,
    /// The same with run times of at least [`BOUND_S`] and a slowdown of at least 1.
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
    /// The same share of wasted time: of attempts that were overtaken, restarted, lost with their
    /// machine or evicted.
    pub largest_wasted_share: Option<f64>,
    /// Tasks that a kill rule condemned.
    pub condemned_tasks: usize,
    /// Attempts that finished their task.
    pub useful: Endings,
    /// Copies and originals that another attempt overtook.
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
    /// Attempts cut at the end.
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

/// Data about the running attempts.
struct Begun<T> {
    /// By task, the number of one attempt (or 0) and its data; most tasks have no other.
    one: Vec<(u16, T)>,
    /// The data of other attempts.
    others: FxHashMap<(u32, u16), T>,
}

impl<T: Copy + Default> Begun<T> {
    fn new(task_count: usize) -> Self {
        Self { one: vec![(0, T::default()); task_count], others: FxHashMap::default() }
    }

    fn put(&mut self, task: u32, attempt: u16, value: T) {
        let one = &mut self.one[task as usize];
        if attempt != 0 && (one.0 == 0 || one.0 == attempt) {
            *one = (attempt, value);
        } else {
            self.others.insert((task, attempt), value);
        }
    }

    /// Takes the data of an attempt; `None` if it has not begun or was taken before.
    fn take(&mut self, task: u32, attempt: u16) -> Option<T> {
        let one = &mut self.one[task as usize];
        if attempt != 0 && one.0 == attempt {
            one.0 = 0;
            return Some(one.1);
        }
        self.others.remove(&(task, attempt))
    }
}

/// Reads the fates of the tasks from a journal.
pub fn fates(journal: &Journal, task_count: usize) -> Fates {
    let none = vec![None; task_count];
    let mut fates = Fates {
        submit_us: none.clone(),
        start_us: none.clone(),
        end_us: none.clone(),
        is_condemned: vec![false; task_count],
        is_refused: vec![false; task_count],
        run_us: none,
    };
    let mut begun = Begun::new(task_count);
    for entry in journal.entries().filter(|entry| entry.task != NONE) {
        let (task, at_us) = (entry.task as usize, entry.at_us);
        match entry.kind {
            Kind::Submit => {
                fates.submit_us[task].get_or_insert(at_us);
                fates.end_us[task] = None;
            }
            Kind::Start | Kind::Copy | Kind::Probe => {
                fates.start_us[task].get_or_insert(at_us);
                begun.put(entry.task, entry.attempt, at_us);
            }
            Kind::Refuse => {
                (fates.submit_us[task], fates.end_us[task]) = (Some(at_us), Some(at_us));
                fates.is_refused[task] = true;
            }
            Kind::Finish => {
                fates.end_us[task] = Some(at_us);
                let start_us = begun.take(entry.task, entry.attempt);
                fates.run_us[task] = Some(at_us - start_us.unwrap_or(at_us));
            }
            // A failed task that is tried again is submitted at once, after this line.
            Kind::Fail | Kind::Kill => fates.end_us[task] = Some(at_us),
            Kind::Condemn => {
                fates.end_us[task] = Some(at_us);
                fates.is_condemned[task] = true;
            }
            // These end attempts; the task waits, or another attempt of it continues.
            _ => {}
        }
    }
    fates
}

impl Metrics {
    /// CPU time of wasted attempts, CPU-s: overtaken, restarted, lost with their machine, or
    /// evicted.
    pub fn wasted_cpu_s(&self) -> f64 {
        self.overtaken.cpu_s + self.restarted.cpu_s + self.lost.cpu_s + self.evicted.cpu_s
    }
}

impl Fates {
    /// First submit to first start, s.
    pub fn waiting_s(&self, task: usize) -> Option<f64> {
        Some(micros_to_seconds(self.start_us[task]? - self.submit_us[task]?))
    }

    /// First submit to end, s.
    fn response_s(&self, task: usize) -> Option<f64> {
        Some(micros_to_seconds(self.end_us[task]? - self.submit_us[task]?))
    }

    /// Run time of the attempt that finished a task, s.
    fn run_s(&self, task: usize) -> Option<f64> {
        self.run_us[task].map(micros_to_seconds)
    }

    /// Response over run time of a finished task with a run time above 0.
    fn slowdown(&self, task: usize) -> Option<f64> {
        self.run_s(task)
            .filter(|run_s| 0.0 < *run_s)
            .zip(self.response_s(task))
            .map(|(run_s, response_s)| response_s / run_s)
    }

    /// Response over a run time of at least [`BOUND_S`] of a finished task; at least 1.
    pub fn bounded_slowdown(&self, task: usize) -> Option<f64> {
        let run_s = self.run_s(task)?;
        Some(bounded_slowdown(self.response_s(task)? - run_s, run_s, BOUND_S))
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

/// The same, and how each job ended.
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
    let last_us = fates.end_us.iter().flatten().copied().max();
    let makespan_us = last_us.map_or(0, |last_us| (last_us - tally.first_us).max(0));
    let metrics = Metrics {
        makespan_s: (over == workload.task_count).then(|| micros_to_seconds(makespan_us)),
        finished: finished.len(),
        over,
        waiting_s: Spread::of(tasks().filter_map(|task| fates.waiting_s(task)).collect()),
        task_response_s: of_finished(&|task| fates.response_s(task)),
        job_response_s: Spread::of(jobs.iter().filter_map(|job| job.response_s).collect()),
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
        cpu_there_at_max: tally::shown(tally.fullest[1]) / 1e6,
        samples: tally.samples(),
    };
    (metrics, jobs)
}

/// How each job ended.
pub fn job_ends(fates: &Fates, workload: &Workload) -> Vec<JobEnd> {
    let mut spans: Vec<Option<Span>> = vec![None; workload.job_count()];
    for task in (0..).take(workload.task_count) {
        let idx = task as usize;
        let own = Span {
            first_us: submitted_us(fates, workload, task),
            // A refused task took no time, and its job has no end.
            last_us: fates.end_us[idx].filter(|_| !fates.is_refused[idx]),
            is_finished: fates.run_us[idx].is_some(),
            is_condemned: fates.is_condemned[idx],
        };
        let span = &mut spans[workload.job.get(task) as usize];
        *span = Some(span.map_or(own, |span| span.and(own)));
    }
    let end = |span: Option<Span>| {
        let over_us = span.and_then(|span| Some(span.last_us? - span.first_us));
        JobEnd {
            response_s: over_us.map(micros_to_seconds),
            is_finished: over_us.is_some() && span.is_some_and(|span| span.is_finished),
            is_condemned: span.is_some_and(|span| span.is_condemned),
        }
    };
    spans.into_iter().map(end).collect()
}

/// When a task was submitted, µs: in the replay, or else in the record. A job counts from its tasks
/// that wait for no other.
fn submitted_us(fates: &Fates, workload: &Workload, task: u32) -> i64 {
    if workload.dependencies.waits(task) {
        return i64::MAX;
    }
    fates.submit_us[task as usize].unwrap_or_else(|| workload.arrival_us.get(task))
}

/// The time from the first submit of some tasks to their last end.
#[derive(Clone, Copy, Debug)]
struct Span {
    first_us: i64,
    /// `None` if a task has no end.
    last_us: Option<i64>,
    is_finished: bool,
    is_condemned: bool,
}

impl Span {
    fn and(self, other: Self) -> Self {
        Self {
            first_us: self.first_us.min(other.first_us),
            last_us: self.last_us.zip(other.last_us).map(|(one, another)| one.max(another)),
            is_finished: self.is_finished && other.is_finished,
            is_condemned: self.is_condemned || other.is_condemned,
        }
    }
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobEnd {
    /// First submit to last end, s; `None` if a task was refused or not over.
    pub response_s: Option<f64>,
    /// Whether all its tasks finished.
    pub is_finished: bool,
    /// Whether a kill rule condemned a task of it.
    pub is_condemned: bool,
}

/// How much two responses must differ to count as different: more than both limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tolerance {
    /// Seconds.
    pub seconds: f64,
    /// As a share of the response under the baseline.
    pub share: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { seconds: 1.0, share: 0.01 }
    }
}

impl Tolerance {
    fn is_passed(self, change_s: f64, baseline_s: f64) -> bool {
        self.seconds < change_s && self.share * baseline_s < change_s
    }
}

/// Jobs that were slower or faster than under a baseline, paired by job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Paired {
    /// Jobs that were over in both runs, without a condemned task.
    pub jobs: usize,
    /// Jobs that took longer than under the baseline by more than the tolerance.
    pub hurt: usize,
    /// Jobs that took less time by more than the tolerance.
    pub helped: usize,
    /// Jobs that finished under the baseline, but now have a condemned or unfinished task.
    pub harmed: usize,
    /// Mean of response over response under the baseline; `None` if no job took time there.
    pub mean_ratio: Option<f64>,
    /// Mean of response minus response under the baseline, s; `None` without jobs.
    pub mean_change_s: Option<f64>,
}

/// Pairs two runs of a workload by job. A job counts as hurt or helped if its response differs by
/// more than the tolerance.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs")]
pub fn pair(ours: &[JobEnd], baseline: &[JobEnd], tolerance: Tolerance) -> Paired {
    let mut paired = Paired::default();
    let (mut sum, mut timed, mut change_s) = (0.0, 0_usize, 0.0);
    for (ours, baseline) in ours.iter().zip(baseline) {
        paired.harmed += usize::from(baseline.is_finished && !ours.is_finished);
        let Some((ours, baseline)) = (ours.response_s.zip(baseline.response_s))
            .filter(|_| !ours.is_condemned && !baseline.is_condemned)
        else {
            continue;
        };
        paired.jobs += 1;
        change_s += ours - baseline;
        paired.hurt += usize::from(tolerance.is_passed(ours - baseline, baseline));
        paired.helped += usize::from(tolerance.is_passed(baseline - ours, baseline));
        if 0.0 < baseline {
            sum += ours / baseline;
            timed += 1;
        }
    }
    paired.mean_change_s = (0 < paired.jobs).then(|| change_s / paired.jobs as f64);
    paired.mean_ratio = (0 < timed).then(|| sum / timed as f64);
    paired
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
    use crate::replay::journal::Entry;

    #[test]
    fn a_job_is_hurt_by_more_than_a_second_and_more_than_a_share() {
        let job = |response_s: f64| JobEnd {
            response_s: Some(response_s),
            is_finished: true,
            is_condemned: false,
        };
        for (baseline_s, ours_s, expected) in [
            (0.0, 0.000_001, (0, 0)),
            (0.0, 1.5, (1, 0)),
            (10.0, 10.9, (0, 0)),
            (10.0, 11.1, (1, 0)),
            (10.0, 8.9, (0, 1)),
            (1000.0, 1009.0, (0, 0)),
            (1000.0, 1011.0, (1, 0)),
            (1000.0, 989.0, (0, 1)),
        ] {
            let paired = pair(&[job(ours_s)], &[job(baseline_s)], Tolerance::default());
            assert_eq!((paired.hurt, paired.helped), expected, "{baseline_s} {ours_s}");
        }
        assert_eq!(pair(&[], &[], Tolerance::default()).mean_ratio, None);
    }

    #[test]
    fn attempts_that_run_side_by_side_are_told_apart() {
        let mut begun = Begun::new(2);
        begun.put(0, 1, 10);
        begun.put(0, 2, 20);
        begun.put(1, 1, 30);
        begun.put(0, 3, 40);
        assert_eq!((begun.take(0, 1), begun.take(0, 1)), (Some(10), None));
        begun.put(0, 4, 50);
        let rest = [(0, 2), (0, 4), (1, 1), (0, 3), (1, 2)];
        let taken = rest.map(|(task, attempt)| begun.take(task, attempt));
        assert_eq!(taken, [Some(20), Some(50), Some(30), Some(40), None]);
    }

    #[test]
    fn a_task_goes_on_when_one_of_its_attempts_makes_room() {
        let entry = |at_us, kind, attempt| Entry { at_us, kind, task: 0, machine: 0, attempt };
        let mut journal = Journal::default();
        journal.add(Entry { machine: NONE, ..entry(1, Kind::Submit, 0) });
        for entry in [entry(2, Kind::Start, 1), entry(3, Kind::Copy, 2), entry(4, Kind::Evict, 2)] {
            journal.add(entry);
        }
        assert_eq!(fates(&journal, 1).end_us, [None]);
        journal.add(entry(9, Kind::Finish, 1));
        let fates = fates(&journal, 1);
        assert_eq!((fates.submit_us[0], fates.start_us[0]), (Some(1), Some(2)));
        assert_eq!((fates.end_us[0], fates.run_us[0]), (Some(9), Some(7)));
    }
}

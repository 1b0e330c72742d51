//! Numbers of a replay, read from its journal.
//!
//! In: a [`Journal`] and the workload it came from. Out: waiting, response and slowdown of tasks
//! and jobs, what machines did over time, what was thrown away, who was hurt and who helped
//! against another run. Quantiles are R-7; statistics of nothing are `None`.
//!
//! ```text
//!  submit      first start            end
//!  |--waiting--|------------------------|      response = end - submit
//! ```

use serde::Serialize;

use super::cluster::{Change, Cluster};
use super::journal::{Journal, Kind};
use super::workload::{NONE, Workload};
use crate::fairness::indices::{bounded_slowdown, jain_index};
use crate::studies::quantile;
use crate::units::micros_to_seconds;

/// Runs shorter than this count as this long in the bounded slowdown, s (Feitelson and others).
pub const BOUND_S: f64 = 10.0;

/// Mean and quantiles of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Greatest.
    pub max: f64,
}

impl Spread {
    /// The spread of the values; `None` of nothing.
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

/// What became of the tasks of a workload, by task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fates {
    /// First submit, µs; -1 if there was none.
    pub submit_us: Vec<i64>,
    /// First start, µs; -1 if there was none.
    pub start_us: Vec<i64>,
    /// Last end, µs; -1 if the task was not over.
    pub end_us: Vec<i64>,
    /// Whether it finished.
    pub is_finished: Vec<bool>,
    /// Whether a kill rule condemned it.
    pub is_condemned: Vec<bool>,
    /// Whether no machine could ever have taken it.
    pub is_refused: Vec<bool>,
    /// Time of the attempt that finished it, µs.
    pub run_us: Vec<i64>,
}

/// Attempts that ended in one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Endings {
    /// How many.
    pub count: u64,
    /// Machine time, s.
    pub time_s: f64,
    /// CPU time: machine time x CPU asked for, CPU-s.
    pub cpu_s: f64,
}

/// Utilisation and queue at a point of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The end of the stretch it is the mean of, s.
    pub time_s: f64,
    /// CPU in use as a share of the CPU that was there.
    pub cpu_share: f64,
    /// Tasks waiting.
    pub waiting: f64,
}

/// The numbers of a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// From the first submit to the last end, s; `None` if a task was never over.
    pub makespan_s: Option<f64>,
    /// Tasks that finished.
    pub finished: usize,
    /// Tasks that were over, however.
    pub over: usize,
    /// First submit to first start of tasks, s.
    pub waiting_s: Option<Spread>,
    /// Submit to end of finished tasks, s.
    pub task_response_s: Option<Spread>,
    /// First submit to last end of jobs whose tasks were all over, s.
    pub job_response_s: Option<Spread>,
    /// Response over run time of finished tasks that took time.
    pub slowdown: Option<Spread>,
    /// The same with run times of at least [`BOUND_S`], at least 1.
    pub bounded_slowdown: Option<Spread>,
    /// Mean CPU in use from the first submit to the end, as a share of what was there.
    pub utilisation: f64,
    /// Copies started and won.
    pub copies: (u64, u64),
    /// CPU time of all attempts, however they ended, CPU-s.
    pub cpu_s: f64,
    /// Tasks that a kill rule condemned.
    pub condemned_tasks: usize,
    /// Attempts that finished their task.
    pub useful: Endings,
    /// Copies and originals that another attempt overtook.
    pub overtaken: Endings,
    /// Attempts killed to be started anew.
    pub restarted: Endings,
    /// Attempts that had to make room.
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
    /// Jain's index over the users' mean bounded slowdowns; `None` if nobody finished anything.
    pub user_fairness: Option<f64>,
    /// Utilisation and queue over time, in equal stretches.
    pub samples: Vec<Sample>,
}

/// Reads what became of the tasks from a journal.
pub fn fates(journal: &Journal, task_count: usize) -> Fates {
    let none = vec![-1; task_count];
    let mut fates = Fates {
        submit_us: none.clone(),
        start_us: none.clone(),
        end_us: none.clone(),
        is_finished: vec![false; task_count],
        is_condemned: vec![false; task_count],
        is_refused: vec![false; task_count],
        run_us: none,
    };
    // Where the running attempts of a task began: by (task, attempt).
    let mut begun = rustc_hash::FxHashMap::default();
    for entry in journal.entries().filter(|entry| entry.task != NONE) {
        let (task, at_us) = (entry.task as usize, entry.at_us);
        match entry.kind {
            Kind::Submit => {
                if fates.submit_us[task] < 0 {
                    fates.submit_us[task] = at_us;
                }
                fates.end_us[task] = -1;
            }
            Kind::Start | Kind::Copy | Kind::Probe => {
                if fates.start_us[task] < 0 {
                    fates.start_us[task] = at_us;
                }
                begun.insert((entry.task, entry.attempt), at_us);
            }
            Kind::Refuse => {
                (fates.submit_us[task], fates.end_us[task]) = (at_us, at_us);
                fates.is_refused[task] = true;
            }
            Kind::Finish => {
                fates.end_us[task] = at_us;
                fates.is_finished[task] = true;
                let start_us = begun.remove(&(entry.task, entry.attempt));
                fates.run_us[task] = at_us - start_us.unwrap_or(at_us);
            }
            // A task that failed and tries again is submitted at once, after this line.
            Kind::Fail | Kind::Kill => fates.end_us[task] = at_us,
            Kind::Condemn => {
                fates.end_us[task] = at_us;
                fates.is_condemned[task] = true;
            }
            // These end attempts; the task waits, or another attempt of it goes on.
            _ => {}
        }
    }
    fates
}

/// Computes the numbers of a replay; `sample_count` stretches of time are sampled.
pub fn measure(
    journal: &Journal,
    workload: &Workload,
    cluster: &Cluster,
    sample_count: usize,
) -> Metrics {
    let fates = fates(journal, workload.task_count);
    let mut tally = Tally::new(journal, &fates, sample_count);
    tally.read(journal, workload, cluster);
    let tasks = || 0..workload.task_count;
    let seconds = |from_us: i64, to_us: i64| micros_to_seconds(to_us - from_us);
    let finished: Vec<usize> = tasks().filter(|&task| fates.is_finished[task]).collect();
    let response = |task: usize| seconds(fates.submit_us[task], fates.end_us[task]);
    let run = |task: usize| micros_to_seconds(fates.run_us[task]);
    let over = tasks().filter(|&task| 0 <= fates.end_us[task]).count();
    let slowdowns = finished.iter().filter(|&&task| 0 < fates.run_us[task]);
    let first_us = tally.first_us;
    let last_us = fates.end_us.iter().copied().max().unwrap_or(0);
    Metrics {
        makespan_s: (over == workload.task_count).then(|| seconds(first_us, last_us).max(0.0)),
        finished: finished.len(),
        over,
        waiting_s: Spread::of(
            tasks()
                .filter(|&task| 0 <= fates.start_us[task])
                .map(|task| seconds(fates.submit_us[task], fates.start_us[task]))
                .collect(),
        ),
        task_response_s: Spread::of(finished.iter().map(|&task| response(task)).collect()),
        job_response_s: Spread::of(
            job_ends(&fates, workload).iter().filter_map(|job| job.response_s).collect(),
        ),
        slowdown: Spread::of(slowdowns.map(|&task| response(task) / run(task)).collect()),
        bounded_slowdown: Spread::of(finished.iter().map(|&task| slowdown(&fates, task)).collect()),
        utilisation: tally.utilisation(),
        copies: tally.copies,
        cpu_s: cpu_seconds(tally.endings.iter().map(|ending| ending.2).sum()),
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
        samples: tally.samples(),
    }
}

/// How each job ended.
pub fn job_ends(fates: &Fates, workload: &Workload) -> Vec<JobEnd> {
    let mut spans = vec![(i64::MAX, -1, true, true, false); workload.job_count()];
    for task in (0..).take(workload.task_count) {
        let idx = task as usize;
        let span = &mut spans[workload.job.get(task) as usize];
        span.0 = span.0.min(workload.arrival_us.get(task));
        span.1 = span.1.max(fates.end_us[idx]);
        span.2 &= 0 <= fates.end_us[idx] && !fates.is_refused[idx];
        span.3 &= fates.is_finished[idx];
        span.4 |= fates.is_condemned[idx];
    }
    spans
        .into_iter()
        .map(|(first_us, last_us, is_over, is_finished, is_condemned)| {
            let is_over = is_over && first_us <= last_us;
            JobEnd {
                response_s: is_over.then(|| micros_to_seconds(last_us - first_us)),
                is_finished: is_over && is_finished,
                is_condemned,
            }
        })
        .collect()
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobEnd {
    /// First submit to last end, s; `None` for a job with a task that was refused or not over.
    pub response_s: Option<f64>,
    /// Whether all of its tasks finished.
    pub is_finished: bool,
    /// Whether a kill rule condemned one of its tasks.
    pub is_condemned: bool,
}

/// Jobs that fared worse or better than under a baseline, paired by job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Paired {
    /// Jobs that were over in both runs, without a condemned task.
    pub jobs: usize,
    /// Took longer than under the baseline by more than the tolerance.
    pub hurt: usize,
    /// Took less time by more than the tolerance.
    pub helped: usize,
    /// Finished under the baseline, and had a task condemned or left undone now.
    pub harmed: usize,
    /// Mean of response over response under the baseline; of jobs that took time there.
    pub mean_ratio: f64,
    /// Mean of response less response under the baseline, s; `None` without jobs.
    pub mean_change_s: Option<f64>,
}

/// Pairs two runs of one workload by job. A job counts as hurt or helped when its response differs
/// by more than `tolerance`, as a share of the baseline's.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs")]
pub fn pair(ours: &[JobEnd], baseline: &[JobEnd], tolerance: f64) -> Paired {
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
        paired.hurt += usize::from(baseline * (1.0 + tolerance) < ours);
        paired.helped += usize::from(ours < baseline * (1.0 - tolerance));
        if 0.0 < baseline {
            sum += ours / baseline;
            timed += 1;
        }
    }
    paired.mean_change_s = (0 < paired.jobs).then(|| change_s / paired.jobs as f64);
    paired.mean_ratio = if timed == 0 { 1.0 } else { sum / timed as f64 };
    paired
}

/// Jain's index of the users' mean bounded slowdowns: 1 when all are slowed down alike. Users
/// without a finished task are left out.
fn user_fairness(fates: &Fates, finished: &[usize], workload: &Workload) -> Option<f64> {
    let mut sums = vec![(0.0, 0.0); workload.user_count()];
    for &task in finished {
        let idx = u32::try_from(task).expect("tasks are numbered in u32");
        let sum = &mut sums[workload.user.get(idx) as usize];
        *sum = (sum.0 + slowdown(fates, task), sum.1 + 1.0);
    }
    let means: Vec<f64> = sums.iter().filter(|sum| 0.0 < sum.1).map(|sum| sum.0 / sum.1).collect();
    jain_index(&means)
}

/// Response over run time of at least [`BOUND_S`]; at least 1.
fn slowdown(fates: &Fates, task: usize) -> f64 {
    let run_s = micros_to_seconds(fates.run_us[task]);
    let response_s = micros_to_seconds(fates.end_us[task] - fates.submit_us[task]);
    bounded_slowdown(response_s - run_s, run_s, BOUND_S)
}

/// Sums while a journal is read.
struct Tally {
    first_us: i64,
    last_us: i64,
    endings: [(u64, i64, i128); super::journal::KINDS.len()],
    copies: (u64, u64),
    condemned_tasks: usize,
    /// Per stretch: CPU-µs in use and there (millionths), task-µs waiting.
    stretches: Vec<[i128; 3]>,
    stretch_us: i64,
}

/// What is going on between two lines of a journal.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    in_use: i128,
    there: i128,
    waiting: i128,
}

impl Tally {
    fn new(journal: &Journal, fates: &Fates, sample_count: usize) -> Self {
        let submits = fates.submit_us.iter().copied().filter(|&at_us| 0 <= at_us);
        let first_us = submits.min().unwrap_or(0);
        let last_us = journal.at_us.last().copied().unwrap_or(0).max(first_us);
        let count = i64::try_from(sample_count.max(1)).unwrap_or(i64::MAX);
        let stretch_us = ((last_us - first_us + count - 1) / count).max(1);
        Self {
            first_us,
            last_us,
            endings: [(0, 0, 0); super::journal::KINDS.len()],
            copies: (0, 0),
            condemned_tasks: 0,
            stretches: vec![[0; 3]; sample_count.max(1)],
            stretch_us,
        }
    }

    fn read(&mut self, journal: &Journal, workload: &Workload, cluster: &Cluster) {
        let mut capacity = cluster.cpu.clone();
        let mut is_present = cluster.is_present.clone();
        let mut level = Level { there: cpu_there(&capacity, &is_present), ..Level::default() };
        let mut begun: rustc_hash::FxHashMap<(u32, u16), (i64, bool)> =
            rustc_hash::FxHashMap::default();
        let mut is_waiting = vec![false; workload.task_count];
        let mut changes = cluster.changes.iter();
        let mut at_us = self.first_us;
        for entry in journal.entries() {
            if at_us < entry.at_us {
                self.spread(at_us, entry.at_us, level);
                at_us = entry.at_us;
            }
            if entry.task == NONE {
                if matches!(
                    entry.kind,
                    Kind::MachineJoin | Kind::MachineLeave | Kind::MachineChange
                ) {
                    let change = changes.next().expect("a journal has the cluster's changes");
                    let machine = change.machine as usize;
                    match change.change {
                        Change::Joins => is_present[machine] = true,
                        Change::Leaves => is_present[machine] = false,
                        Change::Capacity([cpu, _]) => capacity[machine] = cpu,
                        Change::Speed(_) | Change::Cores(_) => {}
                    }
                    level.there = cpu_there(&capacity, &is_present);
                }
                continue;
            }
            let cpu = i128::from(workload.cpu.get(entry.task));
            let was_waiting = &mut is_waiting[entry.task as usize];
            let wants = match entry.kind {
                Kind::Submit => true,
                Kind::Copy | Kind::Probe => *was_waiting,
                kind if kind.is_end() && entry.machine != NONE => *was_waiting,
                _ => false,
            };
            level.waiting += i128::from(wants) - i128::from(*was_waiting);
            *was_waiting = wants;
            if entry.kind.is_begin() {
                level.in_use += cpu;
                self.copies.0 += u64::from(entry.kind == Kind::Copy);
                begun.insert((entry.task, entry.attempt), (at_us, entry.kind == Kind::Copy));
            } else if entry.kind.is_end() && entry.machine != NONE {
                level.in_use -= cpu;
                let (start_us, is_copy) =
                    (begun.remove(&(entry.task, entry.attempt))).expect("what ends has begun");
                let ending = &mut self.endings[entry.kind as usize];
                ending.0 += 1;
                ending.1 += at_us - start_us;
                ending.2 += i128::from(at_us - start_us) * cpu;
                if entry.kind == Kind::Finish {
                    self.copies.1 += u64::from(is_copy);
                }
            } else if entry.kind == Kind::Condemn {
                self.condemned_tasks += 1;
            }
        }
    }

    /// Adds a level that held from one time to another to the stretches it lies in.
    fn spread(&mut self, from_us: i64, to_us: i64, level: Level) {
        let mut at_us = from_us;
        while at_us < to_us {
            let idx = (at_us - self.first_us) / self.stretch_us;
            let end_us = self.first_us.saturating_add((idx + 1).saturating_mul(self.stretch_us));
            let until_us = end_us.min(to_us);
            let length = i128::from(until_us - at_us);
            let idx = usize::try_from(idx).expect("never before the first");
            let last = self.stretches.len() - 1;
            let stretch = &mut self.stretches[idx.min(last)];
            stretch[0] += length * level.in_use;
            stretch[1] += length * level.there;
            stretch[2] += length * level.waiting;
            at_us = until_us;
        }
    }

    fn endings(&self, kind: Kind) -> Endings {
        let (count, time_us, cpu_time) = self.endings[kind as usize];
        Endings { count, time_s: micros_to_seconds(time_us), cpu_s: cpu_seconds(cpu_time) }
    }

    fn utilisation(&self) -> f64 {
        let sum = |which: usize| self.stretches.iter().map(|stretch| stretch[which]).sum();
        ratio(sum(0), sum(1))
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        let mut from_us = self.first_us;
        for stretch in &self.stretches {
            let until_us = from_us.saturating_add(self.stretch_us).min(self.last_us);
            if until_us <= from_us {
                break;
            }
            samples.push(Sample {
                time_s: micros_to_seconds(until_us),
                cpu_share: ratio(stretch[0], stretch[1]),
                waiting: ratio(stretch[2], i128::from(until_us - from_us)),
            });
            from_us = until_us;
        }
        samples
    }
}

fn cpu_there(capacity: &[u64], is_present: &[bool]) -> i128 {
    let machines = capacity.iter().zip(is_present).filter(|(_, present)| **present);
    machines.map(|(&cpu, _)| i128::from(cpu)).sum()
}

#[expect(clippy::cast_precision_loss, reason = "shown, not added up")]
fn cpu_seconds(cpu_time: i128) -> f64 {
    cpu_time as f64 / 1e12
}

/// 0 of nothing.
#[expect(clippy::cast_precision_loss, reason = "a share is shown with a few digits")]
fn ratio(part: i128, whole: i128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::journal::Entry;

    #[test]
    fn a_task_goes_on_when_one_of_its_attempts_makes_room() {
        let entry = |at_us, kind, attempt| Entry { at_us, kind, task: 0, machine: 0, attempt };
        let mut journal = Journal::default();
        journal.add(Entry { machine: NONE, ..entry(1, Kind::Submit, 0) });
        for entry in [entry(2, Kind::Start, 1), entry(3, Kind::Copy, 2), entry(4, Kind::Evict, 2)] {
            journal.add(entry);
        }
        assert_eq!(fates(&journal, 1).end_us, [-1]);
        journal.add(entry(9, Kind::Finish, 1));
        let fates = fates(&journal, 1);
        assert_eq!((fates.submit_us[0], fates.start_us[0], fates.end_us[0]), (1, 2, 9));
        assert_eq!((fates.run_us[0], fates.is_finished[0]), (7, true));
    }
}

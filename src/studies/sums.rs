//! Sums over jobs, from which the tables of the outcome study are made.
//!
//! In: one [`JobRow`] after another. Out: sums per outcome, per parameter of a rule, per side of a
//! split and per resampling. They are exact, so two halves of the jobs can be added up separately
//! and merged in any order.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::asked::{Asked, JobRow, KillStep};
use crate::units::CpuTime;

/// Most harmed jobs that are listed per parameter, by falling loss.
pub(super) const HARMED_NAMED: usize = 25;

/// Sums over jobs by the values of their groups and the position of their outcome.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LedgerSums(pub(super) BTreeMap<(Vec<String>, usize), LedgerSum>);

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct LedgerSum {
    pub(super) jobs: u64,
    pub(super) jobs_with_tasks: u64,
    pub(super) tasks: u64,
    pub(super) cpu: CpuTime,
    /// CPU of the largest job.
    pub(super) largest: CpuTime,
}

impl LedgerSum {
    fn merge(&mut self, other: Self) {
        self.jobs += other.jobs;
        self.jobs_with_tasks += other.jobs_with_tasks;
        self.tasks += other.tasks;
        self.cpu += other.cpu;
        self.largest = self.largest.max(other.largest);
    }
}

impl LedgerSums {
    pub(super) fn add(&mut self, asked: &Asked, row: &JobRow<'_>) {
        let is_matched = row.outcome < asked.classes.outcomes().len();
        let groups = if is_matched { asked.groups.as_slice() } else { &[] };
        let key = groups.iter().map(|group| group.key(row)).collect();
        let own = LedgerSum {
            jobs: 1,
            jobs_with_tasks: u64::from(0 < row.task_count),
            tasks: row.task_count,
            cpu: row.cpu,
            largest: row.cpu,
        };
        self.0.entry((key, row.outcome)).or_default().merge(own);
    }

    pub(super) fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(key, sum)| self.0.entry(key).or_default().merge(sum));
    }

    pub(super) fn totals(&self, outcome_count: usize) -> Vec<CpuTime> {
        let mut totals = vec![CpuTime::ZERO; outcome_count];
        self.0.iter().for_each(|(key, sum)| totals[key.1] += sum.cpu);
        totals
    }

    /// Jobs with an outcome that have tasks in the loaded parts.
    pub(super) fn jobs_with_tasks(&self, outcome: usize) -> u64 {
        let own = self.0.iter().filter(|(key, _)| key.1 == outcome);
        own.map(|(_, sum)| sum.jobs_with_tasks).sum()
    }
}

/// Sums over jobs by their outcome and the reason that a log gives for their end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ReasonSums(pub(super) BTreeMap<usize, BTreeMap<String, ReasonSum>>);

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct ReasonSum {
    pub(super) jobs: u64,
    pub(super) cpu: CpuTime,
    /// The outcome by the last event that all these jobs have, as a position.
    #[serde(default)]
    pub(super) by_terminal: Option<u8>,
}

impl ReasonSums {
    pub(super) fn add(&mut self, row: &JobRow<'_>) {
        if let Some(reason) = row.reason {
            let by_terminal = row.job.map(|job| job.by_terminal);
            let own = ReasonSum { jobs: 1, cpu: row.cpu, by_terminal };
            self.merge_one(row.outcome, reason, own);
        }
    }

    fn merge_one(&mut self, outcome: usize, reason: &str, other: ReasonSum) {
        let of_outcome = self.0.entry(outcome).or_default();
        if !of_outcome.contains_key(reason) {
            of_outcome.insert(reason.to_owned(), ReasonSum::default());
        }
        if let Some(own) = of_outcome.get_mut(reason) {
            if own.jobs == 0 {
                own.by_terminal = other.by_terminal;
            } else if own.by_terminal != other.by_terminal {
                own.by_terminal = None;
            }
            own.jobs += other.jobs;
            own.cpu += other.cpu;
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (outcome, reasons) in other.0 {
            for (reason, sum) in reasons {
                self.merge_one(outcome, &reason, sum);
            }
        }
    }
}

/// A finished job with a condemned task.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HarmedJob {
    /// The job.
    pub job_id: i64,
    /// Its user.
    pub user: Option<String>,
    /// Its name.
    pub job_name: Option<String>,
    /// Its condemned tasks.
    pub condemned_tasks: u64,
    /// CPU that they had used up to the kill.
    pub destroyed_cpu: f64,
}

/// The sums of one parameter over jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StepSums {
    pub(super) tasks: Vec<u64>,
    pub(super) at_end: Vec<u64>,
    pub(super) saved: Vec<CpuTime>,
    pub(super) harmed_jobs: u64,
    pub(super) harmed_at_end: u64,
    pub(super) destroyed: CpuTime,
    pub(super) harmed_jobs_cpu: CpuTime,
}

impl StepSums {
    pub(super) fn new(outcome_count: usize) -> Self {
        Self {
            tasks: vec![0; outcome_count],
            at_end: vec![0; outcome_count],
            saved: vec![CpuTime::ZERO; outcome_count],
            harmed_jobs: 0,
            harmed_at_end: 0,
            destroyed: CpuTime::ZERO,
            harmed_jobs_cpu: CpuTime::ZERO,
        }
    }

    /// Adds the effect on a job, `times` times.
    pub(super) fn add(&mut self, row: &JobRow<'_>, step: &KillStep, times: u32) {
        self.tasks[row.outcome] += step.tasks * u64::from(times);
        self.at_end[row.outcome] += step.at_end * u64::from(times);
        self.saved[row.outcome] += step.saved * times;
        if row.is_finished() && 0 < step.tasks {
            self.harmed_jobs += u64::from(times);
            self.harmed_at_end += if step.at_end == step.tasks { u64::from(times) } else { 0 };
            self.destroyed += step.spent * times;
            self.harmed_jobs_cpu += row.cpu * times;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.tasks.iter_mut().zip(&other.tasks).for_each(|(own, others)| *own += others);
        self.at_end.iter_mut().zip(&other.at_end).for_each(|(own, others)| *own += others);
        add_all(&mut self.saved, &other.saved);
        self.harmed_jobs += other.harmed_jobs;
        self.harmed_at_end += other.harmed_at_end;
        self.destroyed += other.destroyed;
        self.harmed_jobs_cpu += other.harmed_jobs_cpu;
    }

    /// CPU saved in jobs that did not finish, minus CPU destroyed in finished jobs.
    pub(super) fn net(&self) -> CpuTime {
        self.saved[1..].iter().copied().sum::<CpuTime>() - self.destroyed
    }
}

/// Adds `others` to `sums`, element by element.
pub(super) fn add_all(sums: &mut [CpuTime], others: &[CpuTime]) {
    sums.iter_mut().zip(others).for_each(|(sum, &other)| *sum += other);
}

/// For each sum of a parameter, the largest contribution of a single job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Largest {
    pub(super) saved: Vec<CpuTime>,
    pub(super) destroyed: CpuTime,
    pub(super) harmed_jobs_cpu: CpuTime,
}

impl Largest {
    fn new(outcome_count: usize) -> Self {
        let zero = CpuTime::ZERO;
        Self { saved: vec![zero; outcome_count], destroyed: zero, harmed_jobs_cpu: zero }
    }

    fn add(&mut self, row: &JobRow<'_>, step: &KillStep) {
        self.saved[row.outcome] = self.saved[row.outcome].max(step.saved);
        if row.is_finished() && 0 < step.tasks {
            self.destroyed = self.destroyed.max(step.spent);
            self.harmed_jobs_cpu = self.harmed_jobs_cpu.max(row.cpu);
        }
    }

    fn merge(&mut self, other: &Self) {
        let saved = self.saved.iter_mut().zip(&other.saved);
        saved.for_each(|(own, &others)| *own = (*own).max(others));
        self.destroyed = self.destroyed.max(other.destroyed);
        self.harmed_jobs_cpu = self.harmed_jobs_cpu.max(other.harmed_jobs_cpu);
    }
}

/// The sums of each parameter of a rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RuleSums {
    pub(super) steps: Vec<StepSums>,
    /// By parameter.
    pub(super) largest: Vec<Largest>,
    /// By parameter: the harmed jobs that lose most.
    pub(super) harmed: Vec<Harmed>,
}

/// Harmed jobs; only those that are listed are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Harmed {
    pub(super) jobs: Vec<HarmedJob>,
    pub(super) named: usize,
}

impl Harmed {
    fn add(&mut self, row: &JobRow<'_>, step: &KillStep) {
        self.jobs.push(HarmedJob {
            job_id: row.job_id,
            user: row.user.map(str::to_owned),
            job_name: row.name.map(str::to_owned),
            condemned_tasks: step.tasks,
            destroyed_cpu: step.spent.seconds(),
        });
        if self.named.saturating_mul(4) <= self.jobs.len() {
            self.cut();
        }
    }

    /// Sorts them by falling loss, and drops those that are not listed.
    pub(super) fn cut(&mut self) {
        self.jobs.sort_by(|one, other| {
            let by_cpu = other.destroyed_cpu.total_cmp(&one.destroyed_cpu);
            by_cpu.then_with(|| one.job_id.cmp(&other.job_id))
        });
        self.jobs.truncate(self.named);
    }
}

impl RuleSums {
    pub(super) fn new(asked: &Asked, rule_idx: usize) -> Self {
        let steps = 0..asked.rules[rule_idx].grid.len();
        let is_asked = |step| rule_idx == 0 && asked.all_harmed_at == Some(step);
        let named = |step| if is_asked(step) { usize::MAX } else { HARMED_NAMED };
        let harmed = steps.clone().map(|step| Harmed { jobs: Vec::new(), named: named(step) });
        Self {
            harmed: harmed.collect(),
            largest: steps.clone().map(|_| Largest::new(asked.outcome_count())).collect(),
            steps: steps.map(|_| StepSums::new(asked.outcome_count())).collect(),
        }
    }

    pub(super) fn add(&mut self, row: &JobRow<'_>, steps: &[KillStep]) {
        for (idx, step) in steps.iter().enumerate() {
            self.steps[idx].add(row, step, 1);
            self.largest[idx].add(row, step);
            if row.is_finished() && 0 < step.tasks {
                self.harmed[idx].add(row, step);
            }
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.steps.iter_mut().zip(&other.steps).for_each(|(own, others)| own.merge(others));
        self.largest.iter_mut().zip(&other.largest).for_each(|(own, others)| own.merge(others));
        for (own, others) in self.harmed.iter_mut().zip(other.harmed) {
            own.jobs.extend(others.jobs);
            own.cut();
        }
    }
}

/// Sums over the jobs of the past and of the future.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SplitSums {
    pub(super) split_us: i64,
    pub(super) past: PartSums,
    pub(super) future: PartSums,
    /// The future under resampling, if requested.
    pub(super) resampled: Option<Resampled>,
}

/// Sums over some of the jobs with tasks loaded, with multiplicity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PartSums {
    pub(super) jobs: u64,
    /// Jobs that finished.
    pub(super) finished_jobs: u64,
    /// All CPU, by outcome.
    pub(super) totals: Vec<CpuTime>,
    /// By rule and parameter.
    pub(super) rules: Vec<Vec<StepSums>>,
}

impl PartSums {
    pub(super) fn new(asked: &Asked) -> Self {
        let blank = StepSums::new(asked.outcome_count());
        let rules = asked.rules.iter().map(|rule| vec![blank.clone(); rule.grid.len()]);
        let totals = vec![CpuTime::ZERO; asked.outcome_count()];
        Self { jobs: 0, finished_jobs: 0, totals, rules: rules.collect() }
    }

    pub(super) fn add(&mut self, row: &JobRow<'_>, times: u32) {
        self.jobs += u64::from(times);
        self.finished_jobs += if row.is_finished() { u64::from(times) } else { 0 };
        self.totals[row.outcome] += row.cpu * times;
        for (sums, steps) in self.rules.iter_mut().zip(&row.kills) {
            sums.iter_mut().zip(steps).for_each(|(sum, step)| sum.add(row, step, times));
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.finished_jobs += other.finished_jobs;
        add_all(&mut self.totals, &other.totals);
        for (own, others) in self.rules.iter_mut().flatten().zip(other.rules.iter().flatten()) {
            own.merge(others);
        }
    }
}

/// Sums over the jobs of a group, with the largest contribution of a single job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GroupSums {
    pub(super) all: PartSums,
    /// By rule and parameter.
    pub(super) largest: Vec<Vec<Largest>>,
}

impl GroupSums {
    pub(super) fn new(asked: &Asked) -> Self {
        let blank = Largest::new(asked.outcome_count());
        let largest = asked.rules.iter().map(|rule| vec![blank.clone(); rule.grid.len()]);
        Self { all: PartSums::new(asked), largest: largest.collect() }
    }

    pub(super) fn add(&mut self, row: &JobRow<'_>) {
        self.all.add(row, 1);
        for (largest, steps) in self.largest.iter_mut().zip(&row.kills) {
            largest.iter_mut().zip(steps).for_each(|(largest, step)| largest.add(row, step));
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        let pairs = self.largest.iter_mut().flatten().zip(other.largest.iter().flatten());
        pairs.for_each(|(own, others)| own.merge(others));
    }
}

impl SplitSums {
    pub(super) fn new(asked: &Asked, split_us: i64) -> Self {
        let blank = PartSums::new(asked);
        let resampled = Resampled::of(asked);
        Self { split_us, past: blank.clone(), future: blank, resampled }
    }

    pub(super) fn add(&mut self, row: &JobRow<'_>) {
        // Rules cannot judge a job without tasks in the loaded parts.
        let Some(job) = row.job.filter(|_| 0 < row.task_count) else { return };
        if job.is_ended() && job.last_event_us < self.split_us {
            self.past.add(row, 1);
        }
        if job.first_submit_us.is_some_and(|submit| self.split_us <= submit) {
            self.future.add(row, 1);
            if let Some(resampled) = &mut self.resampled {
                resampled.add(row);
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.past.merge(&other.past);
        self.future.merge(&other.future);
        if let (Some(own), Some(others)) = (&mut self.resampled, &other.resampled) {
            own.merge(others);
        }
    }
}

/// Sums under resampling of jobs (Poisson bootstrap: in each round a job counts a Poisson(1) number
/// of times, the same number for every rule). The numbers depend only on the seed and the job's id.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Resampled {
    pub(super) seed: u64,
    pub(super) rounds: Vec<PartSums>,
}

impl Resampled {
    /// `None` if no rounds were requested.
    pub(super) fn of(asked: &Asked) -> Option<Self> {
        let rounds = || vec![PartSums::new(asked); asked.rounds];
        (0 < asked.rounds).then(|| Self { seed: asked.seed, rounds: rounds() })
    }

    pub(super) fn add(&mut self, row: &JobRow<'_>) {
        if row.cpu == CpuTime::ZERO && row.kills.is_empty() {
            return;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(row.job_id.cast_unsigned());
        for round in &mut self.rounds {
            let times = poisson_1(rng.random::<f64>());
            if 0 < times {
                round.add(row, times);
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.rounds.iter_mut().zip(&other.rounds).for_each(|(own, others)| own.merge(others));
    }
}

/// Turns a uniform number into a Poisson(1) one by inversion.
fn poisson_1(uniform: f64) -> u32 {
    let (mut count, mut term) = (0_u32, (-1.0_f64).exp());
    let mut below = term;
    while below < uniform && count < 20 {
        count += 1;
        term /= f64::from(count);
        below += term;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise: a reason counts jobs, not their tasks, with the CPU of all their tasks.
    #[test]
    fn a_reason_counts_jobs() {
        let cpu = CpuTime::from_seconds(5.0);
        let row = |reason| JobRow { reason, task_count: 3, outcome: 1, cpu, ..JobRow::default() };
        let mut sums = ReasonSums::default();
        [Some("TIMEOUT"), None, Some("TIMEOUT")].map(row).iter().for_each(|row| sums.add(row));
        let mut other = ReasonSums::default();
        other.add(&row(Some("FAILED")));
        sums.merge(other);
        let found: Vec<(&str, u64, f64)> = sums.0[&1]
            .iter()
            .map(|(name, sum)| (name.as_str(), sum.jobs, sum.cpu.seconds()))
            .collect();
        assert_eq!(found, [("FAILED", 1, 5.0), ("TIMEOUT", 2, 10.0)]);
        let ended = |by_terminal| ReasonSum { jobs: 1, cpu, by_terminal };
        sums.merge_one(4, "PREEMPTED", ended(Some(3)));
        sums.merge_one(4, "PREEMPTED", ended(Some(3)));
        assert_eq!(sums.0[&4]["PREEMPTED"].by_terminal, Some(3));
        sums.merge_one(4, "PREEMPTED", ended(Some(1)));
        assert_eq!(sums.0[&4]["PREEMPTED"].by_terminal, None, "not all ended alike");
    }

    #[test]
    fn poisson_numbers_have_mean_one() {
        let rounds = 100_000;
        let mean = (0..rounds)
            .map(|idx| f64::from(poisson_1((f64::from(idx) + 0.5) / f64::from(rounds))))
            .sum::<f64>()
            / f64::from(rounds);
        assert!((mean - 1.0).abs() < 1e-3, "{mean}");
    }
}

//! What if hopeless tasks had been killed earlier? Compares CPU saved with finished jobs harmed.
//!
//! In: the sums of a [`Study`]. Out: one [`SweepRow`] per parameter, with the names of the jobs
//! that it would have harmed. All parameters come from one pass over the data. Two bounds are shown
//! with the rules: never kill (0 saved, 0 harmed), and an oracle that kills exactly the tasks of
//! jobs that do not finish, at their first event.
//!
//! All shares refer to the same jobs: jobs with tasks loaded. Without `job_events` no outcome is
//! known, and values that depend on outcomes are null.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::asked::{GroupBy, UNMATCHED, order_of};
use super::fold::Study;
use super::named::Named;
use super::rules::RuleGrid;
use super::selection::Interval;
pub use super::sums::HarmedJob;
use super::sums::{GroupSums, HARMED_NAMED, Largest, StepSums};
use crate::units::CpuTime;

/// A value for each outcome, in the order in which outcomes are shown; `None` if unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent, bound(deserialize = "T: Deserialize<'de>"))]
pub struct ByOutcome<T>(Named<Option<T>>);

impl<T> Default for ByOutcome<T> {
    fn default() -> Self {
        Self(Named::default())
    }
}

impl<T: Copy> ByOutcome<T> {
    /// The value of an outcome, such as `failed`; `None` if there is no such outcome.
    pub fn get(&self, outcome: &str) -> Option<T> {
        *self.0.get(outcome)?
    }

    /// Outcomes with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<T>)> + '_ {
        self.0.iter().map(|(name, value)| (name, *value))
    }
}

/// What one parameter of a rule would have done. Values that depend on outcomes are `None` if no
/// outcome is known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SweepRow {
    /// The parameter.
    pub threshold: i64,
    /// Condemned tasks by outcome of their job.
    pub condemned_tasks: ByOutcome<u64>,
    /// Condemned tasks that had finished by the time of their kill, so that nothing is saved.
    pub condemned_at_end: ByOutcome<u64>,
    /// CPU of condemned tasks after the kill, by outcome.
    pub saved_cpu: ByOutcome<f64>,
    /// Saved CPU as a share of all CPU of the outcome; null if the outcome has no CPU.
    pub saved_share: ByOutcome<f64>,
    /// The share of `saved_cpu` that comes from the job that saves most.
    pub largest_saved_share: ByOutcome<f64>,
    /// The largest share that a single job has in the CPU saved in all unfinished jobs.
    pub largest_saved_in_all: Option<f64>,
    /// Finished jobs with at least one condemned task.
    pub harmed_jobs: Option<u64>,
    /// Harmed jobs where every condemned task had finished by the time of its kill.
    pub harmed_at_end: Option<u64>,
    /// Harmed jobs as a share of the finished jobs with tasks loaded.
    pub harmed_jobs_share: Option<f64>,
    /// CPU that condemned tasks of finished jobs had used up to the kill.
    pub destroyed_cpu: Option<f64>,
    /// Share of all CPU of finished jobs.
    pub destroyed_cpu_share: Option<f64>,
    /// The share of `destroyed_cpu` that comes from the job that loses most.
    pub largest_destroyed_share: Option<f64>,
    /// All CPU of the harmed jobs.
    pub harmed_jobs_cpu: Option<f64>,
    /// Share of all CPU of finished jobs.
    pub harmed_jobs_cpu_share: Option<f64>,
    /// The share of `harmed_jobs_cpu` that comes from the job with most.
    pub largest_harmed_cpu_share: Option<f64>,
    /// CPU saved in jobs that did not finish, minus CPU destroyed in finished jobs.
    pub net_cpu: Option<f64>,
    /// Share of all CPU of jobs that did not finish.
    pub net_share: Option<f64>,
    /// Intervals of the shares over resampled jobs, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The harmed jobs that lose most.
    pub harmed: Vec<HarmedJob>,
}

impl SweepRow {
    /// Whether killing saves or harms anything.
    pub(crate) fn has_effect(&self) -> bool {
        self.harmed_jobs.is_some_and(|jobs| 0 < jobs)
            || self.net_share.is_some_and(|share| share != 0.0)
    }
}

/// A rule over its grid.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Sweep {
    /// The rule, as written on the command line.
    pub rule: String,
    /// What the parameter counts.
    pub parameter: Cow<'static, str>,
    /// The unit of the thresholds.
    pub threshold_unit: Cow<'static, str>,
    /// The jobs that the sweep covers, if jobs are grouped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<SweepGroup>,
    /// By parameter, ascending.
    pub rows: Vec<SweepRow>,
}

/// Jobs with the same user, class, priority or other group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SweepGroup {
    /// The key by which jobs are grouped.
    pub by: GroupBy,
    /// The value of that key; `None` if unknown.
    pub value: Option<String>,
}

/// The sweep of a rule over its grid.
pub fn sweep(study: &Study, rule_idx: usize) -> Sweep {
    let sums = &study.rules[rule_idx];
    let whole = Whole {
        names: study.outcomes(),
        totals: study.totals(),
        finished: study.ledger.jobs_with_tasks(0),
        is_known: study.knows_outcomes,
        knows_amounts: study.knows_amounts(),
    };
    let rule = &study.asked.rules[rule_idx];
    let rows = sums.steps.iter().zip(&sums.largest).enumerate().map(|(idx, (step, largest))| {
        let harmed = harmed_jobs(study, rule_idx, idx).into_iter().take(HARMED_NAMED).collect();
        SweepRow { harmed, ..whole.row(rule.grid[idx], step, largest) }
    });
    Sweep { rows: rows.collect(), ..blank(rule) }
}

/// A sweep of a rule without rows.
fn blank(rule: &RuleGrid) -> Sweep {
    Sweep {
        rule: rule.to_string(),
        parameter: rule.rule.parameter().into(),
        threshold_unit: rule.rule.unit().into(),
        group: None,
        rows: Vec::new(),
    }
}

/// The sweeps of a rule over the jobs of each group, in group order.
pub fn sweep_groups(study: &Study, rule_idx: usize) -> Vec<Sweep> {
    let rule = &study.asked.rules[rule_idx];
    let of_group = |(group, sums): (&Option<String>, &GroupSums)| {
        let whole = Whole {
            names: study.outcomes(),
            totals: sums.all.totals.clone(),
            finished: sums.all.finished_jobs,
            is_known: study.knows_outcomes,
            knows_amounts: study.knows_amounts(),
        };
        let steps = sums.all.rules[rule_idx].iter().zip(&sums.largest[rule_idx]);
        let steps = rule.grid.iter().zip(steps);
        let row = |(&threshold, (step, largest))| whole.row(threshold, step, largest);
        let rows = steps.map(row).collect();
        let group = study.asked.sweep_by.map(|by| SweepGroup { by, value: group.clone() });
        Sweep { group, rows, ..blank(rule) }
    };
    let mut groups: Vec<_> = study.groups.iter().collect();
    groups.sort_by_key(|(value, _)| value.as_deref().map(order_of));
    groups.into_iter().map(of_group).collect()
}

/// Totals over all jobs, the denominators for the sums of a parameter.
struct Whole {
    names: &'static [&'static str],
    /// CPU by outcome, with unmatched jobs last.
    totals: Vec<CpuTime>,
    /// Finished jobs with tasks loaded.
    finished: u64,
    /// Whether any outcome is known.
    is_known: bool,
    /// Whether any saved amount is known.
    knows_amounts: bool,
}

impl Whole {
    /// Values by outcome; `None` for unknown outcomes.
    fn by_outcome<T>(&self, value: impl Fn(usize) -> Option<T>) -> ByOutcome<T> {
        let names = self.names.iter().copied().chain([UNMATCHED]).enumerate();
        let known = |outcome: &usize| self.is_known || *outcome == self.names.len();
        let cell = |outcome| Some(outcome).filter(known).and_then(&value);
        ByOutcome(names.map(|(outcome, name)| (name, cell(outcome))).collect())
    }

    /// The row of a parameter, without its interval and the names of jobs.
    fn row(&self, threshold: i64, sums: &StepSums, largest: &Largest) -> SweepRow {
        let lost: CpuTime = self.totals[1..].iter().copied().sum();
        let cpu = |sum: CpuTime| (self.is_known && self.knows_amounts).then(|| sum.seconds());
        let saved = |outcome: usize| self.knows_amounts.then(|| sums.saved[outcome].seconds());
        let of_finished = |sum: CpuTime| sum.share_of(self.totals[0]);
        let largest_saved = |outcome: usize| largest.saved[outcome].share_of(sums.saved[outcome]);
        let most_saved = largest.saved[1..].iter().copied().max().unwrap_or(CpuTime::ZERO);
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
        let harmed_share = || sums.harmed_jobs as f64 / self.finished as f64;
        SweepRow {
            threshold,
            condemned_tasks: self.by_outcome(|outcome| Some(sums.tasks[outcome])),
            condemned_at_end: self.by_outcome(|outcome| Some(sums.at_end[outcome])),
            saved_cpu: self.by_outcome(saved),
            saved_share: self
                .by_outcome(|outcome| sums.saved[outcome].share_of(self.totals[outcome])),
            largest_saved_share: self.by_outcome(largest_saved),
            largest_saved_in_all: most_saved.share_of(sums.saved[1..].iter().copied().sum()),
            harmed_jobs: self.is_known.then_some(sums.harmed_jobs),
            harmed_at_end: self.is_known.then_some(sums.harmed_at_end),
            harmed_jobs_share: (0 < self.finished).then(harmed_share),
            destroyed_cpu: cpu(sums.destroyed),
            destroyed_cpu_share: of_finished(sums.destroyed),
            largest_destroyed_share: largest.destroyed.share_of(sums.destroyed),
            harmed_jobs_cpu: cpu(sums.harmed_jobs_cpu),
            harmed_jobs_cpu_share: of_finished(sums.harmed_jobs_cpu),
            largest_harmed_cpu_share: largest.harmed_jobs_cpu.share_of(sums.harmed_jobs_cpu),
            net_cpu: cpu(sums.net()),
            net_share: if self.is_known { sums.net().share_of(lost) } else { None },
            interval: None,
            harmed: Vec::new(),
        }
    }
}

/// The finished jobs that a parameter harms, by descending loss. All of them are listed if
/// [`all_harmed_at`](super::fold::Asked::all_harmed_at) requests it, otherwise a few.
pub fn harmed_jobs(study: &Study, rule_idx: usize, step_idx: usize) -> Vec<HarmedJob> {
    let mut harmed = study.rules[rule_idx].harmed[step_idx].clone();
    harmed.cut();
    harmed.jobs
}

/// Total CPU by outcome; `None` for unknown outcomes.
pub fn total_cpu(study: &Study) -> ByOutcome<f64> {
    let names = study.outcomes().iter().copied().chain([UNMATCHED]);
    let known = |name: &str| study.knows_amounts() && (study.knows_outcomes || name == UNMATCHED);
    let cell = |name, cpu: CpuTime| known(name).then(|| cpu.seconds());
    ByOutcome(names.zip(study.totals()).map(|(name, cpu)| (name, cell(name, cpu))).collect())
}

/// The number of finished jobs with tasks loaded, the denominator for harmed jobs; `None` if no
/// outcome is known.
pub fn finished_jobs(study: &Study) -> Option<u64> {
    study.knows_outcomes.then(|| study.ledger.jobs_with_tasks(0))
}

/// A point in the plane of CPU saved against jobs harmed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanePoint {
    /// The rule.
    pub rule: String,
    /// Its parameter.
    pub threshold: Option<i64>,
    /// Finished jobs harmed.
    pub harmed_jobs: u64,
    /// Net CPU saved.
    pub net_cpu: f64,
    /// Net CPU as a share of the CPU of jobs that did not finish.
    pub net_share: Option<f64>,
    /// CPU of killed tasks of finished jobs, as a share of the CPU of finished jobs. `None` in
    /// older results.
    #[serde(default)]
    pub destroyed_cpu_share: Option<f64>,
    /// Whether the point is on the Pareto front: no other point with at most the same harm saves as
    /// much. Of equal points one is on the front.
    pub is_on_front: bool,
}

/// All rules in one plane, with the Pareto front and the two bounds; empty if no outcome is known.
pub fn plane(study: &Study, sweeps: &[Sweep]) -> Vec<PlanePoint> {
    if !study.knows_outcomes || !study.knows_amounts() {
        return Vec::new();
    }
    let lost: CpuTime = study.totals()[1..].iter().copied().sum();
    let share = |net: f64| (lost != CpuTime::ZERO).then(|| net / lost.seconds());
    let point = |rule: &str, threshold, harmed_jobs, net_cpu| PlanePoint {
        rule: rule.to_owned(),
        threshold,
        harmed_jobs,
        net_cpu,
        net_share: share(net_cpu),
        destroyed_cpu_share: None,
        is_on_front: false,
    };
    let mut points: Vec<PlanePoint> = sweeps
        .iter()
        .flat_map(|sweep| {
            sweep.rows.iter().filter_map(|row| {
                let harmed_jobs = row.harmed_jobs?;
                let own = point(&sweep.rule, Some(row.threshold), harmed_jobs, row.net_cpu?);
                Some(PlanePoint { destroyed_cpu_share: row.destroyed_cpu_share, ..own })
            })
        })
        .collect();
    points.push(point("never", None, 0, 0.0));
    points.sort_by(|one, other| {
        (one.harmed_jobs, &one.rule, one.threshold).cmp(&(
            other.harmed_jobs,
            &other.rule,
            other.threshold,
        ))
    });
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&one, &other| {
        let (one, other) = (&points[one], &points[other]);
        one.harmed_jobs.cmp(&other.harmed_jobs).then(other.net_cpu.total_cmp(&one.net_cpu))
    });
    let mut best = f64::NEG_INFINITY;
    for idx in order {
        if best < points[idx].net_cpu {
            best = points[idx].net_cpu;
            points[idx].is_on_front = true;
        }
    }
    points.push(point("oracle", None, 0, lost.seconds()));
    points
}

//! What if hopeless tasks had been killed earlier: CPU saved against finished jobs harmed.
//!
//! In: a [`View`] of a study and the rules it was folded with. Out: one [`SweepRow`] per
//! parameter, with the jobs that would have been harmed by name. All parameters come from one
//! pass over the data. Two bounds stand beside the rules: never to kill (0 saved, 0 harmed), and
//! an oracle that kills exactly the tasks of jobs that do not finish, at their first event.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::fold::{JobRow, KillStep};
use super::ledger::{UNMATCHED, View};
use super::rules::RuleGrid;
use super::selection::Interval;
use crate::units::CpuTime;

/// Harmed jobs that are named per parameter, those that lose most first.
const HARMED_NAMED: usize = 25;

/// A finished job with a condemned task.
#[derive(Clone, Debug, Serialize)]
pub struct HarmedJob {
    /// The job.
    pub job_id: i64,
    /// Its user.
    pub user: Option<String>,
    /// Its name.
    pub job_name: Option<String>,
    /// Its condemned tasks.
    pub condemned_tasks: u64,
    /// What they had used up to the kill.
    pub destroyed_cpu: f64,
}

/// What one parameter of a rule would have done.
#[derive(Clone, Debug, Serialize)]
pub struct SweepRow {
    /// The parameter.
    pub threshold: i64,
    /// Condemned tasks by outcome of their job.
    pub condemned_tasks: Map<String, Value>,
    /// CPU of condemned tasks after the kill, by outcome.
    pub saved_cpu: Map<String, Value>,
    /// The same as a share of all CPU of the outcome; null where that is 0.
    pub saved_share: Map<String, Value>,
    /// Finished jobs with at least one condemned task.
    pub harmed_jobs: u64,
    /// The same as a share of all finished jobs.
    pub harmed_jobs_share: Option<f64>,
    /// CPU that condemned tasks of finished jobs had used up to the kill.
    pub destroyed_cpu: f64,
    /// Share of all CPU of finished jobs.
    pub destroyed_cpu_share: Option<f64>,
    /// All CPU of the harmed jobs.
    pub harmed_jobs_cpu: f64,
    /// Share of all CPU of finished jobs.
    pub harmed_jobs_cpu_share: Option<f64>,
    /// CPU saved in jobs that did not finish, less what was destroyed in those that did.
    pub net_cpu: f64,
    /// Share of all CPU of jobs that did not finish.
    pub net_share: Option<f64>,
    /// How far resampled jobs spread the shares, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The harmed jobs that lose most.
    pub harmed: Vec<HarmedJob>,
}

/// A rule over its grid.
#[derive(Clone, Debug, Serialize)]
pub struct Sweep {
    /// The rule, as it is written on the command line.
    pub rule: String,
    /// What its parameter counts.
    pub parameter: &'static str,
    /// By parameter, ascending.
    pub rows: Vec<SweepRow>,
}

/// Sums that one parameter adds up over jobs.
#[derive(Clone, Debug)]
pub(crate) struct StepSums {
    pub tasks: Vec<u64>,
    pub saved: Vec<CpuTime>,
    pub harmed_jobs: u64,
    pub destroyed: CpuTime,
    pub harmed_jobs_cpu: CpuTime,
}

impl StepSums {
    pub(crate) fn new(outcome_count: usize) -> Self {
        Self {
            tasks: vec![0; outcome_count],
            saved: vec![CpuTime::ZERO; outcome_count],
            harmed_jobs: 0,
            destroyed: CpuTime::ZERO,
            harmed_jobs_cpu: CpuTime::ZERO,
        }
    }

    fn add(&mut self, view: &View<'_>, row: &JobRow, step: &KillStep) {
        let outcome = view.outcome(row).unwrap_or(self.tasks.len() - 1);
        self.tasks[outcome] += step.tasks;
        self.saved[outcome] += view.part_of(row, &step.saved);
        if view.is_finished(row) && 0 < step.tasks {
            self.harmed_jobs += 1;
            self.destroyed += view.part_of(row, &step.spent);
            self.harmed_jobs_cpu += view.cpu_of(row);
        }
    }

    /// Saved in jobs that did not finish, less what was destroyed in those that did.
    pub(crate) fn net(&self) -> CpuTime {
        self.saved[1..].iter().copied().sum::<CpuTime>() - self.destroyed
    }
}

/// Adds up each parameter of a rule over the jobs that `is_in` takes.
pub(crate) fn sums(
    view: &View<'_>,
    rule_idx: usize,
    grid_len: usize,
    is_in: impl Fn(&JobRow) -> bool,
) -> Vec<StepSums> {
    let mut sums = vec![StepSums::new(view.outcomes().len() + 1); grid_len];
    for row in view.study.jobs.iter().filter(|row| !row.kills.is_empty() && is_in(row)) {
        for (sum, step) in sums.iter_mut().zip(&row.kills[rule_idx].steps) {
            sum.add(view, row, step);
        }
    }
    sums
}

/// Sweeps a rule over its grid.
pub fn sweep(view: &View<'_>, rule_idx: usize, rule: &RuleGrid) -> Sweep {
    let totals = view.totals();
    let finished = view.study.jobs.iter().filter(|row| view.is_finished(row)).count() as u64;
    let rows = sums(view, rule_idx, rule.grid.len(), |_| true)
        .iter()
        .enumerate()
        .map(|(step_idx, sums)| {
            let names = || view.outcomes().iter().copied().chain([UNMATCHED]);
            let by_outcome = |value: &dyn Fn(usize) -> Value| {
                names()
                    .enumerate()
                    .map(|(outcome, name)| (name.to_owned(), value(outcome)))
                    .collect::<Map<_, _>>()
            };
            SweepRow {
                threshold: rule.grid[step_idx],
                condemned_tasks: by_outcome(&|outcome| json!(sums.tasks[outcome])),
                saved_cpu: by_outcome(&|outcome| json!(sums.saved[outcome].seconds())),
                saved_share: by_outcome(&|outcome| {
                    json!(sums.saved[outcome].share_of(totals[outcome]))
                }),
                harmed_jobs: sums.harmed_jobs,
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "a trace has far fewer than 2^53 jobs"
                )]
                harmed_jobs_share: (0 < finished)
                    .then(|| sums.harmed_jobs as f64 / finished as f64),
                destroyed_cpu: sums.destroyed.seconds(),
                destroyed_cpu_share: sums.destroyed.share_of(totals[0]),
                harmed_jobs_cpu: sums.harmed_jobs_cpu.seconds(),
                harmed_jobs_cpu_share: sums.harmed_jobs_cpu.share_of(totals[0]),
                net_cpu: sums.net().seconds(),
                net_share: sums.net().share_of(totals[1..].iter().copied().sum()),
                interval: None,
                harmed: harmed_jobs(view, rule_idx, step_idx)
                    .into_iter()
                    .take(HARMED_NAMED)
                    .collect(),
            }
        })
        .collect();
    Sweep { rule: rule.to_string(), parameter: rule.rule.parameter(), rows }
}

/// The finished jobs that a parameter harms, those that lose most first.
pub fn harmed_jobs(view: &View<'_>, rule_idx: usize, step_idx: usize) -> Vec<HarmedJob> {
    let mut harmed: Vec<HarmedJob> = view
        .study
        .jobs
        .iter()
        .filter(|row| !row.kills.is_empty() && view.is_finished(row))
        .filter_map(|row| {
            let step = row.kills[rule_idx].steps.get(step_idx).filter(|step| 0 < step.tasks)?;
            Some(HarmedJob {
                job_id: row.job_id,
                user: row.user.clone(),
                job_name: row.name.clone(),
                condemned_tasks: step.tasks,
                destroyed_cpu: view.part_of(row, &step.spent).seconds(),
            })
        })
        .collect();
    harmed.sort_by(|one, other| {
        other
            .destroyed_cpu
            .total_cmp(&one.destroyed_cpu)
            .then_with(|| one.job_id.cmp(&other.job_id))
    });
    harmed
}

/// Total CPU by outcome, as the contract's `total_cpu`.
pub fn total_cpu(view: &View<'_>) -> Map<String, Value> {
    let names = view.outcomes().iter().copied().chain([UNMATCHED]);
    names.zip(view.totals()).map(|(name, cpu)| (name.to_owned(), json!(cpu.seconds()))).collect()
}

/// A point of the plane of CPU saved against jobs harmed.
#[derive(Clone, Debug, Serialize)]
pub struct PlanePoint {
    /// The rule.
    pub rule: String,
    /// Its parameter.
    pub threshold: Option<i64>,
    /// Finished jobs harmed.
    pub harmed_jobs: u64,
    /// Net CPU saved.
    pub net_cpu: f64,
    /// Share of the CPU of jobs that did not finish.
    pub net_share: Option<f64>,
    /// Whether no other point saves as much for less harm.
    pub is_on_front: bool,
}

/// All rules in one plane, with the front of those that no other beats and the two bounds.
pub fn plane(view: &View<'_>, sweeps: &[Sweep]) -> Vec<PlanePoint> {
    let lost: CpuTime = view.totals()[1..].iter().copied().sum();
    let share = |net: f64| (lost != CpuTime::ZERO).then(|| net / lost.seconds());
    let point = |rule: &str, threshold, harmed_jobs, net_cpu| PlanePoint {
        rule: rule.to_owned(),
        threshold,
        harmed_jobs,
        net_cpu,
        net_share: share(net_cpu),
        is_on_front: false,
    };
    let mut points: Vec<PlanePoint> = sweeps
        .iter()
        .flat_map(|sweep| {
            sweep
                .rows
                .iter()
                .map(|row| point(&sweep.rule, Some(row.threshold), row.harmed_jobs, row.net_cpu))
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

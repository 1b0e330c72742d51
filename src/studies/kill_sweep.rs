//! What if hopeless tasks had been killed earlier: CPU saved against finished jobs harmed.
//!
//! In: the sums of a [`Study`]. Out: one [`SweepRow`] per
//! parameter, with the jobs that would have been harmed by name. All parameters come from one
//! pass over the data. Two bounds stand beside the rules: never to kill (0 saved, 0 harmed), and
//! an oracle that kills exactly the tasks of jobs that do not finish, at their first event.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::fold::{Asked, JobRow, KillStep, Study};
use super::ledger::UNMATCHED;
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
    /// The unit of the thresholds.
    pub threshold_unit: &'static str,
    /// By parameter, ascending.
    pub rows: Vec<SweepRow>,
}

/// Sums that one parameter adds up over jobs.
#[derive(Clone, Debug)]
pub(super) struct StepSums {
    tasks: Vec<u64>,
    pub(super) saved: Vec<CpuTime>,
    pub(super) harmed_jobs: u64,
    pub(super) destroyed: CpuTime,
    harmed_jobs_cpu: CpuTime,
}

impl StepSums {
    pub(super) fn new(outcome_count: usize) -> Self {
        Self {
            tasks: vec![0; outcome_count],
            saved: vec![CpuTime::ZERO; outcome_count],
            harmed_jobs: 0,
            destroyed: CpuTime::ZERO,
            harmed_jobs_cpu: CpuTime::ZERO,
        }
    }

    /// Adds what happens to a job that counts `times`.
    pub(super) fn add(&mut self, row: &JobRow<'_>, step: &KillStep, times: u32) {
        self.tasks[row.outcome] += step.tasks * u64::from(times);
        self.saved[row.outcome] += step.saved * times;
        if row.is_finished() && 0 < step.tasks {
            self.harmed_jobs += u64::from(times);
            self.destroyed += step.spent * times;
            self.harmed_jobs_cpu += row.cpu * times;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.tasks.iter_mut().zip(&other.tasks).for_each(|(own, others)| *own += others);
        add_all(&mut self.saved, &other.saved);
        self.harmed_jobs += other.harmed_jobs;
        self.destroyed += other.destroyed;
        self.harmed_jobs_cpu += other.harmed_jobs_cpu;
    }

    /// Saved in jobs that did not finish, less what was destroyed in those that did.
    pub(super) fn net(&self) -> CpuTime {
        self.saved[1..].iter().copied().sum::<CpuTime>() - self.destroyed
    }
}

/// Adds sums one by one.
pub(super) fn add_all(sums: &mut [CpuTime], others: &[CpuTime]) {
    sums.iter_mut().zip(others).for_each(|(sum, &other)| *sum += other);
}

/// What each parameter of a rule adds up over jobs.
#[derive(Clone, Debug)]
pub(super) struct RuleSums {
    steps: Vec<StepSums>,
    /// By parameter: the harmed jobs that lose most.
    harmed: Vec<Harmed>,
}

/// Harmed jobs, of which no more are kept than are named.
#[derive(Clone, Debug)]
struct Harmed {
    jobs: Vec<HarmedJob>,
    named: usize,
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

    /// Sorts them, those that lose most first, and drops those that are not named.
    fn cut(&mut self) {
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
            steps: steps.map(|_| StepSums::new(asked.outcome_count())).collect(),
        }
    }

    pub(super) fn add(&mut self, row: &JobRow<'_>, steps: &[KillStep]) {
        for (idx, step) in steps.iter().enumerate() {
            self.steps[idx].add(row, step, 1);
            if row.is_finished() && 0 < step.tasks {
                self.harmed[idx].add(row, step);
            }
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.steps.iter_mut().zip(&other.steps).for_each(|(own, others)| own.merge(others));
        for (own, others) in self.harmed.iter_mut().zip(other.harmed) {
            own.jobs.extend(others.jobs);
            own.cut();
        }
    }
}

/// The sweep of a rule over its grid.
pub fn sweep(study: &Study, rule_idx: usize) -> Sweep {
    let rule = &study.asked.rules[rule_idx];
    let totals = study.totals();
    let finished = study.ledger.jobs(0);
    let names = || study.outcomes().iter().copied().chain([UNMATCHED]);
    let by_outcome = |value: &dyn Fn(usize) -> Value| {
        let cells = names().enumerate().map(|(outcome, name)| (name.to_owned(), value(outcome)));
        cells.collect::<Map<_, _>>()
    };
    let rows = study.rules[rule_idx].steps.iter().enumerate().map(|(step_idx, sums)| SweepRow {
        threshold: rule.grid[step_idx],
        condemned_tasks: by_outcome(&|outcome| json!(sums.tasks[outcome])),
        saved_cpu: by_outcome(&|outcome| json!(sums.saved[outcome].seconds())),
        saved_share: by_outcome(&|outcome| json!(sums.saved[outcome].share_of(totals[outcome]))),
        harmed_jobs: sums.harmed_jobs,
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
        harmed_jobs_share: (0 < finished).then(|| sums.harmed_jobs as f64 / finished as f64),
        destroyed_cpu: sums.destroyed.seconds(),
        destroyed_cpu_share: sums.destroyed.share_of(totals[0]),
        harmed_jobs_cpu: sums.harmed_jobs_cpu.seconds(),
        harmed_jobs_cpu_share: sums.harmed_jobs_cpu.share_of(totals[0]),
        net_cpu: sums.net().seconds(),
        net_share: sums.net().share_of(totals[1..].iter().copied().sum()),
        interval: None,
        harmed: harmed_jobs(study, rule_idx, step_idx).into_iter().take(HARMED_NAMED).collect(),
    });
    Sweep {
        rule: rule.to_string(),
        parameter: rule.rule.parameter(),
        threshold_unit: rule.rule.unit(),
        rows: rows.collect(),
    }
}

/// The finished jobs that a parameter harms, those that lose most first: all of them where
/// [`Asked::all_harmed_at`] asks for that, else a few.
pub fn harmed_jobs(study: &Study, rule_idx: usize, step_idx: usize) -> Vec<HarmedJob> {
    let mut harmed = study.rules[rule_idx].harmed[step_idx].clone();
    harmed.cut();
    harmed.jobs
}

/// Total CPU by outcome, as the contract's `total_cpu`.
pub fn total_cpu(study: &Study) -> Map<String, Value> {
    let names = study.outcomes().iter().copied().chain([UNMATCHED]);
    names.zip(study.totals()).map(|(name, cpu)| (name.to_owned(), json!(cpu.seconds()))).collect()
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
pub fn plane(study: &Study, sweeps: &[Sweep]) -> Vec<PlanePoint> {
    let lost: CpuTime = study.totals()[1..].iter().copied().sum();
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

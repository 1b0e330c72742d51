//! The plan of `replay`: policies, machines, and the part of the history.
//!
//! In: flags and a lake. Out: the replayed history, and the policies.

use serde::{Deserialize, Serialize};

use crate::answers::assumed::{WaitsOf, assumed_waits};
use crate::answers::replay::absent::{Absent, Machines};
use crate::answers::replay::answer::FROM_USE;
use crate::answers::replay::policies::{PolicyList, policies};
use crate::answers::replay::{Pool, Setting};
use crate::answers::sentences::Capacity;
use crate::answers::study::Plan;
use crate::answers::words::{maybe, readers, text, texts};
use crate::defaults::Defaults;
use crate::facts::machines::MachineEvents;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::replay::cluster::{Cluster, ClusterError};
use crate::replay::failures::{FailureModel, FailureSpec};
use crate::replay::feedback::Arrivals;
use crate::replay::history::{self, Fleet, HistoryPlan, KilledTasks, Overcommit, RerunWork};
use crate::replay::metrics::{GroupedBy, Tolerance};
use crate::replay::policies::PolicyPlan;
use crate::replay::spec::ClusterSpec;
use crate::replay::workload::{Estimates, UNITS};
use crate::schema::Table;
use crate::studies::first_end::FirstEnd;
use crate::studies::rules::RuleGrid;
use crate::studies::{machines, queues};

/// What is replayed, and under which policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReplayPlan {
    /// Policies, separated by spaces; the first is the baseline
    #[cfg_attr(feature = "cli", arg(long, value_name = "POLICY", num_args = 1.., value_parser = super::policies::parse_policies, long_help = super::help::policies()))]
    pub policies: Vec<PolicyList>,

    /// Simulated machines instead of those of the lake
    ///
    /// `cluster:nodes=100,speeds=1..16,cpu=1,memory=1,gpus=4`; an unknown key is an error that lists
    /// the known ones. CPU and memory are in the units of the lake's requests. GPUs count as of any
    /// model that a task names; without `gpus` they are not checked.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SPEC"))]
    #[serde(with = "maybe")]
    pub cluster: Option<ClusterSpec>,

    /// Replay only tasks that arrive at this time or later
    ///
    /// In hours of the trace clock. The cluster is empty at this time.
    #[cfg_attr(feature = "cli", arg(long, value_name = "HOURS", default_value_t = 0.0, value_parser = parse_hours))]
    #[serde(deserialize_with = "hours")]
    pub from: f64,

    /// Leave out tasks that arrive at this time or later
    #[cfg_attr(feature = "cli", arg(long, value_name = "HOURS", value_parser = parse_hours))]
    #[serde(deserialize_with = "maybe_hours")]
    pub until: Option<f64>,

    /// Share of the jobs, sampled with the seed
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = parse_share))]
    #[serde(deserialize_with = "share")]
    pub sample: f64,

    /// Share of the lake's machines, sampled with the seed
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = parse_share, conflicts_with = "cluster"))]
    #[serde(deserialize_with = "share")]
    pub machines: f64,

    /// Draw failures of machines from a model of recorded ones
    ///
    /// `failures:from=machines`: machines leave and return at times that are drawn with the seed
    /// from the model that `jobfate machines` fits. The time until the first failure of a machine
    /// follows the Weibull distribution `up_from_start`, later times follow `up_after_return`;
    /// lengths of outages are drawn from the recorded outages. The recorded outages are left out,
    /// and all machines are in service at the start. Failures are independent of each other. With
    /// --cluster they replace the failures of the specification.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SPEC"))]
    #[serde(with = "maybe")]
    pub failures: Option<FailureSpec>,

    /// Factor by which the machines of the lake are larger
    ///
    /// Some clusters allocate more than their capacity, because tasks request more than they use.
    /// `recorded`: the factor that the record needed. At 100 instants of the replayed time, the
    /// requested CPU on each machine in service is compared with its capacity. The factor is enough
    /// in 99 % of these cases; it is rounded up to hundredths, and is at least 1. Attempts whose
    /// machine is unknown do not count. The default is `recorded` for the Google traces, and 1 for
    /// every other source.
    #[cfg_attr(feature = "cli", arg(long, value_name = "FACTOR", conflicts_with = "cluster"))]
    #[serde(deserialize_with = "overcommit")]
    pub overcommit: Option<Overcommit>,

    /// How much work a copy or a restart has
    ///
    /// An attempt that failed in the record fails after its recorded length, and its copies end
    /// with it. The attempt after it has its own recorded work; this option sets the work of its
    /// copies.
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub reruns: RerunWork,

    /// When to kill a task whose recorded attempt was killed
    #[cfg_attr(feature = "cli", arg(long, value_enum, long_help = crate::defaults::killed_help()))]
    pub killed: Option<KilledTasks>,

    /// Estimate of a task's running time for orders that plan
    ///
    /// `requested`: the time its user requested, or the recorded running time if no request is
    /// known; `exact`: the recorded running time; `factor:F`: F times the recorded running time.
    /// `easy`, `conservative`, `backfill=` and the orders by requested time use the estimate. It
    /// scales with the speed of the machine.
    #[cfg_attr(feature = "cli", arg(long, value_name = "RULE", default_value_t = Estimates::Requested))]
    #[serde(with = "text")]
    pub estimates: Estimates,

    /// Whether users submit as recorded or react
    ///
    /// `open`, the default: users submit at the recorded times. `closed:gap_s=1200`: users react to
    /// the ends of their jobs. A job that was submitted at most 1200 s after the end of an earlier
    /// job of its user follows that end in the replay, after the recorded think time (divided by
    /// `--load`). Otherwise a
    /// job that was submitted at most 1200 s after another job of its user, which still ran, keeps
    /// its distance from that submission. Every other job starts a session at its recorded time,
    /// but waits until the job that ended last before it in the record has ended in the replay. If
    /// a log names the job that had to end first (`preceding_job`), the job follows its end; under
    /// `open` it arrives at its recorded time, whether or not that job has ended. Earlier is what was
    /// submitted at an earlier instant: jobs of one instant do not follow one another. `open,closed`
    /// replays every policy under both, and compares all of them with the first policy under the
    /// first.
    #[cfg_attr(feature = "cli", arg(long, value_name = "KIND,...", value_delimiter = ','))]
    #[serde(with = "texts")]
    pub arrivals: Vec<Arrivals>,

    /// Factor by which tasks arrive faster
    #[cfg_attr(feature = "cli", arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_load))]
    #[serde(deserialize_with = "load")]
    pub load: f64,

    /// Seed of samples and of all random numbers
    #[cfg_attr(feature = "cli", arg(long, value_name = "SEED", default_value_t = 1, value_parser = crate::units::natural::<u64>))]
    pub seed: u64,

    /// Number of seeds to replay with, starting at --seed
    ///
    /// The table then has means over the seeds, with 95 % confidence intervals of the mean response
    /// and of its difference to that of the first policy under the same seed. Charts and journals
    /// are those of the first seed.
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = 1, value_parser = parse_seeds))]
    #[serde(deserialize_with = "seeds")]
    pub seeds: u64,

    /// Give a row per policy and job size, or policy and user
    ///
    /// Counts tasks and gives waits, responses, bounded slowdowns and CPU time by group, under the
    /// first seed. The size of a job is the number of its tasks; in a log, the processors that it
    /// held, or else requested.
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHAT", value_enum))]
    pub group_by: Option<GroupedBy>,

    /// Also report the free GPUs that tasks cannot use
    ///
    /// `fragmented`: free GPUs that no waiting task can use, while tasks that request GPUs wait.
    /// The machine has too few GPUs, another model, or too little CPU or memory, or less of a GPU
    /// is free than the task requests. `expected` (Weng et al., USENIX ATC 2023): the same as a
    /// mean over all tasks of the workload, waiting or not; for a task without GPUs, all free GPUs
    /// count. Both are integrals over time, in GPU-seconds. Takes longer.
    #[cfg_attr(feature = "cli", arg(long))]
    pub fragmentation: bool,

    /// Least response difference of a hurt or helped job
    ///
    /// The response must also differ by more than --tolerance-share of the response under the first
    /// policy.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds))]
    #[serde(deserialize_with = "seconds")]
    pub tolerance_s: f64,

    /// The same, as a share of the response under the first policy
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = parse_tolerance))]
    #[serde(deserialize_with = "tolerance")]
    pub tolerance_share: f64,
}

impl Plan for ReplayPlan {
    fn check(&self) -> Result<(), Usage> {
        self.check()
    }
}

impl ReplayPlan {
    /// Checks that the options can be combined.
    ///
    /// # Errors
    /// The options cannot be combined; the text gives the reason.
    pub fn check(&self) -> Result<(), Usage> {
        if self.cluster.is_some() && self.overcommit.is_some() {
            return Err(Usage("`overcommit` cannot be used with `cluster`".to_owned()));
        }
        if self.cluster.is_some() && self.machines < 1.0 {
            return Err(Usage("`machines` cannot be used with `cluster`".to_owned()));
        }
        if let Some(Err(error)) = self.cluster.as_ref().map(|spec| spec.build(self.seed)) {
            return Err(Usage(format!("--cluster: {error}")));
        }
        let is_again = |&at: &usize| self.arrivals[..at].contains(&self.arrivals[at]);
        if let Some(at) = (0..self.arrivals.len()).find(is_again) {
            return Err(Usage(format!("--arrivals names `{}` twice", self.arrivals[at])));
        }
        Ok(())
    }

    /// The smallest change of its response for which a job counts as hurt or helped.
    pub fn tolerance(&self) -> Tolerance {
        Tolerance { seconds: self.tolerance_s, share: self.tolerance_share }
    }
}

impl Default for ReplayPlan {
    /// The plan if the user gives no flag.
    fn default() -> Self {
        Self {
            policies: Vec::new(),
            cluster: None,
            from: 0.0,
            until: None,
            sample: 1.0,
            machines: 1.0,
            failures: None,
            overcommit: None,
            reruns: RerunWork::default(),
            killed: None,
            estimates: Estimates::Requested,
            arrivals: Vec::new(),
            load: 1.0,
            seed: 1,
            seeds: 1,
            group_by: None,
            fragmentation: false,
            tolerance_s: 1.0,
            tolerance_share: 0.01,
        }
    }
}

readers! {
    hours: f64 = parsed(parse_hours);
    maybe_hours: Option<f64> = parsed_if(parse_hours);
    share: f64 = parsed(parse_share);
    overcommit: Option<Overcommit> = parsed_if(str::parse);
    load: f64 = parsed(parse_load);
    seeds: u64 = parsed(parse_seeds);
    seconds: f64 = parsed(parse_seconds);
    tolerance: f64 = parsed(parse_tolerance);
}

pub(crate) fn number(text: &str, what: &str, is_good: impl Fn(f64) -> bool) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|&number| is_good(number));
    number.ok_or_else(|| format!("`{text}` is not a {what}"))
}

pub(crate) fn parse_hours(text: &str) -> Result<f64, String> {
    number(text, "time in hours from 0 to 1000000", |hours| (0.0..=1e6).contains(&hours))
}

pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    number(text, "share above 0 and up to 1", |share| 0.0 < share && share <= 1.0)
}

fn parse_seeds(text: &str) -> Result<u64, String> {
    let count = text.parse::<u64>().ok().filter(|count| (1..=1000).contains(count));
    count.ok_or_else(|| format!("`{text}` is not a number of seeds from 1 to 1000"))
}

pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    number(text, "time from 0 to 1000000000 s", |seconds| (0.0..=1e9).contains(&seconds))
}

pub(crate) fn parse_tolerance(text: &str) -> Result<f64, String> {
    number(text, "share from 0 to 1000", |share| (0.0..=1e3).contains(&share))
}

pub(crate) fn parse_load(text: &str) -> Result<f64, String> {
    number(text, "factor from 0.001 to 1000", |load| (0.001..=1000.0).contains(&load))
}

/// Reads the history and the machines that are replayed under a seed.
///
/// # Errors
/// The lake cannot be read, no task arrives, there are no machines, or an option does not fit the
/// lake.
pub fn setting(asked: &ReplayPlan, lake: &Lake, windows: Windows, seed: u64) -> Result<Setting> {
    let plan = history_plan(asked, lake, seed);
    let Fleet { mut cluster, mut remarks, without_cpu, too_late } =
        fleet_of(asked, lake, &plan, windows)?;
    let mut history = history::workload(lake, windows, &plan, &cluster)??;
    cluster.overcommit(history.overcommit);
    if asked.failures.is_some() {
        let (model, end_us) = failure_model(lake, windows)?;
        history.assumptions.push(model.told());
        (cluster, remarks) = model.draw(cluster, (plan.from_us, end_us), seed)?;
    }
    history.assumptions.extend(history::of_machines(&cluster, without_cpu, lake.source()));
    if asked.failures.is_none() {
        history.assumptions.extend(history::of_late_changes(too_late));
    }
    let capacity =
        if asked.cluster.is_some() { Capacity::Recorded } else { Capacity::of_lake(lake) };
    if capacity == Capacity::FromUse {
        history.assumptions.push(FROM_USE.to_owned());
    }
    history.assumptions.extend(history::of_gpus(&cluster, &history));
    if history.workload.task_count == 0 {
        return Err(Usage("no task arrives in the chosen part of the history".to_owned()).into());
    }
    let knows_gpus = history.workload.has_gpus() && !cluster.gpus.is_empty();
    if asked.fragmentation && !knows_gpus {
        let text = "--fragmentation is about GPUs, but no machine has GPUs or no task requests any";
        return Err(Usage(text.to_owned()).into());
    }
    let asks_history =
        |policy: &PolicyPlan| policy.kill.as_ref().is_some_and(RuleGrid::asks_history);
    if policies(&asked.policies, lake)?.iter().any(|(_, policy)| asks_history(policy)) {
        history.read_pasts(lake, windows)?;
    }
    let of = |&arrivals: &Arrivals| (arrivals, history.feedback(arrivals, plan.load));
    let arrivals: Vec<_> = asked.arrivals.iter().map(of).collect();
    let feedback = arrivals.iter().filter_map(|(_, feedback)| feedback.as_ref());
    let told: Vec<String> = feedback.map(history::of_feedback).collect();
    history.assumptions.extend(told);
    let has_fragmentation = asked.fragmentation;
    let counts = history.counts;
    match assumed_waits(lake, WaitsOf::Tasks(counts.in_lake, counts.started_in_lake)) {
        Some(waits) if waits.of_all => {
            history.schedule = None;
            history.over_time = None;
        }
        Some(waits) => history.assumptions.push(waits.note),
        None => {}
    }
    if plan.load != 1.0 || plan.has_feedback {
        // Tasks arrive at other times than in the record.
        history.over_time = None;
    }
    let pooled = pooled(asked, (lake, windows), &cluster)?;
    let is_simulated = asked.cluster.is_some() || asked.failures.is_some();
    let machines = (!is_simulated).then_some((&cluster, history.overcommit));
    let recorded = history.over_time.as_ref().map_or_else(Vec::new, |all| all.all(machines));
    let machines = if is_simulated { Machines::Simulated } else { Machines::Recorded };
    let whole_from = FirstEnd::of(lake, windows)?.map(|first| first.instant());
    let missing = (lake.gaps(), whole_from);
    let absent = Absent::of(missing, &plan, &history, machines);
    Ok(Setting {
        history,
        cluster,
        recorded,
        remarks,
        arrivals,
        has_fragmentation,
        capacity,
        pooled,
        absent,
    })
}

/// The processors of a log whose machines are one pool; `None` if its machines are known.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 processors")]
fn pooled(
    asked: &ReplayPlan,
    (lake, windows): (&Lake, Windows),
    cluster: &Cluster,
) -> Result<Option<Pool>> {
    match cluster.cpu.as_slice() {
        &[cpu] if asked.cluster.is_none() && lake.source().is_log() => Ok(Some(Pool {
            processors: cpu as f64 / UNITS as f64,
            largest_queue: queues::largest_queue(lake, windows)?,
        })),
        _ => Ok(None),
    }
}

/// A model of the failures of the lake's machines, and the time until which they are recorded, µs.
fn failure_model(lake: &Lake, windows: Windows) -> Result<(FailureModel, i64)> {
    lake.require(Table::MachineEvents)?;
    let events = MachineEvents::read(lake)?;
    let end_us = machines::end_of(&events, windows);
    let model = FailureModel::fit(&machines::fleet(&events, end_us));
    let too_few = "the machines of the lake left too rarely to fit a failure model; `jobfate \
        machines` shows their outages";
    Ok((model.ok_or_else(|| Usage(too_few.to_owned()))?, end_us))
}

#[expect(clippy::cast_possible_truncation, reason = "a million hours are far below 2^63 µs")]
pub fn history_plan(asked: &ReplayPlan, lake: &Lake, seed: u64) -> HistoryPlan {
    // A specification gives the exact capacities, so they are not scaled by default.
    let usual = Defaults::of(lake);
    let overcommit =
        if asked.cluster.is_some() { Overcommit::Factor(1.0) } else { usual.overcommit };
    let micros = |hours: f64| (hours * 3.6e9).round() as i64;
    HistoryPlan {
        from_us: micros(asked.from),
        until_us: asked.until.map(micros),
        sample: asked.sample,
        machines: asked.machines,
        load: asked.load,
        overcommit: asked.overcommit.unwrap_or(overcommit),
        reruns: asked.reruns,
        killed: asked.killed.unwrap_or(usual.killed),
        estimates: asked.estimates,
        has_feedback: asked.arrivals.iter().any(|&arrivals| arrivals != Arrivals::Open),
        seed,
    }
}

pub(crate) fn fleet_of(
    asked: &ReplayPlan,
    lake: &Lake,
    plan: &HistoryPlan,
    windows: Windows,
) -> Result<Fleet> {
    Ok(match &asked.cluster {
        Some(spec) => {
            let (cluster, remarks) =
                spec.build(plan.seed).map_err(|error| Usage(error.to_string()))?;
            Fleet { cluster, remarks, without_cpu: 0, too_late: 0 }
        }
        None if lake.manifest.table(Table::MachineEvents).is_none_or(|table| table.rows() == 0) => {
            let hint = "the lake has no machines; add them with `jobfate ingest TRACE_DIR --tables \
            machine_events`, or describe them with --cluster, such as cluster:nodes=100,cpu=1";
            return Err(Usage(hint.to_owned()).into());
        }
        None => match history::fleet(lake, plan, windows.task_end_us)? {
            Err(ClusterError::Empty) if asked.machines < 1.0 => {
                return Err(Usage("--machines selects no machine".to_owned()).into());
            }
            machines => machines?,
        },
    })
}

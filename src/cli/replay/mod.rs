//! `jobfate replay`: what other policies would have made of a recorded history.
//!
//! In: a lake, policies, and what of the history is taken. Out: one row per policy, over the jobs
//! paired with those of the first; with several seeds means over them, with confidence intervals;
//! what was assumed, on stderr and in `result.json`; pictures, and on request every event.

use crate::answers::replay as answers;
use crate::answers::replay::{Run, Setting};
use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{AnswerArgs, AttemptArgs, console};
use crate::cli::shown;
use crate::defaults::{self, Defaults};
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::progress;
use crate::replay::cluster::{Cluster, ClusterError};
use crate::replay::engine::{Plan, heartbeats, replay};
use crate::replay::history::{self, Fleet, History, HistoryPlan, KilledTasks, RerunWork};
use crate::replay::journal::Journal;
use crate::replay::metrics::{Paired, Tolerance, fates, job_ends, measure, pair};
use crate::replay::policies::PolicyPlan;
use crate::replay::spec::ClusterSpec;
use crate::replay::workload::{Estimates, Workload};
use crate::results::store::{Answer, Origin};
use crate::schema::Table;

/// Stretches of time in the pictures.
const SAMPLES: usize = 120;

pub(crate) mod journal;

/// How it is called.
const EXAMPLES: &str = "Examples:\n  jobfate replay --lake lake\n  jobfate replay --lake lake --policies fifo fair fifo+late fifo+wqr:copies=2 --sample 0.1\n  jobfate replay --lake swf --policies fifo easy --out results --journal\n  jobfate replay --lake lake --cluster cluster:nodes=100,cpu=0.5,memory=0.5 --from 1 --until 3";

/// Replay recorded history under other policies
///
/// Runs the tasks of the lake on the machines of the lake, or on a made-up cluster, once per
/// policy. Tasks arrive when they did and take the time they took; failed attempts are carried
/// along; `--killed` says when killed tasks are killed. What is assumed is said on stderr and
/// kept with the result. Jobs are paired with those under the first policy: hurt and helped are
/// those over in both whose response differs by more than --tolerance-s and --tolerance-share,
/// harmed those that finished there and not here.
/// Heartbeats pass over long empty times: after a million at which no attempt has begun or ended,
/// and while nothing runs that can be judged, the next is just before the next event. A policy that
/// would need more than a billion of them is refused.
#[derive(Args, Debug)]
#[command(
    after_long_help = format!("{}\n\n{EXAMPLES}", defaults::policies_help())
)]
pub(crate) struct ReplayArgs {
    /// Policies, one word each; the first is compared with
    ///
    /// Each is an order, a placement, a rule about running tasks and a kill rule joined by `+`,
    /// all optional: `priority:preempt=yes+best-fit+late+kill:events=20`. Orders: fifo, random,
    /// shortest, priority, easy, fair, drf. Placements: first-free, first-fit, best-fit,
    /// worst-fit, random-fit. `depth=N` lets an order pass over N tasks that fit nowhere (`easy`
    /// passes over any number without it); `depth_cuts` then counts the instants at which tasks
    /// waited behind those although a machine had room. Running tasks: none, oracle, wqr, dolly, and every detector of
    /// `jobfate detect`; two of them can stand together, as in `poisson+yarn`: the first judges
    /// first, and its copies go before those of the second; a task that one of them restarts gets
    /// no copy that the other wished for before. A grid is written in braces: `fifo+late:cap={0.05,0.1,0.2}`.
    /// The kill rule condemns a task when all of its thresholds are passed, those of `jobfate
    /// sweep`: `kill:events=20`, `kill:failures=3,dead-time=3600` (s), `kill:restarts=4` (within
    /// an hour); `spare-priority=9~10`, `spare-class=3`, `spare-user=NAME` (with %2B for `+` and
    /// %2C for `,`) name tasks that it leaves alone.
    #[arg(long, value_name = "POLICY", num_args = 1.., value_parser = parse_policies)]
    pub policies: Vec<PolicyList>,

    /// Machines by specification instead of the lake's
    ///
    /// `cluster:nodes=100,speeds=1..16,cpu=1,memory=1`; an unknown key lists the known. CPU and
    /// memory are in the units of the lake's requests.
    #[arg(long, value_name = "SPEC", value_parser = parse_cluster)]
    pub cluster: Option<ClusterSpec>,

    /// Begin with tasks that arrive from here on
    ///
    /// In hours of the trace clock. The cluster is empty then.
    #[arg(long, value_name = "HOURS", default_value_t = 0.0, value_parser = parse_hours)]
    pub from: f64,

    /// Leave out tasks that arrive from here on
    #[arg(long, value_name = "HOURS", value_parser = parse_hours)]
    pub until: Option<f64>,

    /// Share of the jobs, drawn by the seed
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = parse_share)]
    pub sample: f64,

    /// Share of the lake's machines, drawn by the seed
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = parse_share)]
    pub machines: f64,

    /// Factor of the capacities of the lake's machines
    #[arg(long, value_name = "FACTOR", value_parser = parse_overcommit, conflicts_with = "cluster", long_help = defaults::overcommit_help())]
    pub overcommit: Option<f64>,

    /// What a copy or a restart has to do
    #[arg(long, value_enum, default_value_t)]
    pub reruns: RerunWork,

    /// When a task is killed that was killed while it ran
    #[arg(long, value_enum, long_help = defaults::killed_help())]
    pub killed: Option<KilledTasks>,

    /// What `easy` takes for the running time of a task
    ///
    /// `requested`: the time its user asked for, and the recorded running time where no request is
    /// known; `exact`: the recorded running time; `factor:F`: F times the recorded running time.
    /// On a faster or slower machine an estimate shrinks or grows with the speed.
    #[arg(long, value_name = "RULE", default_value_t = Estimates::Requested)]
    pub estimates: Estimates,

    /// Factor of the arrival rate
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_load)]
    pub load: f64,

    /// Seed of samples and of everything drawn
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Replay under so many seeds, from --seed on
    ///
    /// The table then holds means over them, with 95 % confidence intervals of the mean response
    /// and of its difference to that of the first policy under the same seed. Pictures and
    /// journals are those of the first seed.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,

    /// A job is hurt or helped by more than so many seconds
    ///
    /// And by more than --tolerance-share of its response under the first policy.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    pub tolerance_s: f64,

    /// And by more than this share of its response
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = parse_tolerance)]
    pub tolerance_share: f64,

    /// Store every event of every replay
    ///
    /// As `journal-N.parquet` and `journal-N.txt` for policy number N in the folder of --out;
    /// `jobfate journal` prints the former as the latter.
    #[arg(long, requires = "out")]
    pub journal: bool,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

impl ReplayArgs {
    fn tolerance(&self) -> Tolerance {
        Tolerance { seconds: self.tolerance_s, share: self.tolerance_share }
    }
}

/// Policies as they were written, in the order in which they are shown.
#[derive(Clone, Debug)]
pub(crate) struct PolicyList(Vec<(String, PolicyPlan)>);

fn parse_policies(text: &str) -> Result<PolicyList, String> {
    let mut policies: Vec<(String, PolicyPlan)> = Vec::new();
    let words: Vec<Vec<String>> = text.split_whitespace().map(grid).collect::<Result<_, _>>()?;
    for word in words.into_iter().flatten() {
        let policy: PolicyPlan = word.parse().map_err(|error| format!("{error}"))?;
        if policies.iter().all(|(_, other)| *other != policy) {
            policies.push((word, policy));
        }
    }
    if policies.is_empty() {
        Err("no policy is named".to_owned())
    } else {
        Ok(PolicyList(policies))
    }
}

/// The policies that were asked for, and otherwise those of the kind of trace.
fn policies(args: &ReplayArgs, lake: &Lake) -> Result<Vec<(String, PolicyPlan)>> {
    if args.policies.is_empty() {
        let usual = Defaults::of(lake).policies.join(" ");
        return Ok(parse_policies(&usual).map_err(Usage)?.0);
    }
    Ok(args.policies.iter().flat_map(|list| list.0.clone()).collect())
}

/// More than these are a slip, or somebody's joke: braces multiply.
const POLICIES_MAX: usize = 1_000;

/// `a{b,c}d` as `abd acd`, every pair of braces against every other.
fn grid(text: &str) -> Result<Vec<String>, String> {
    let mut all = vec![String::new()];
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{')
        && let Some((choices, after)) = tail.split_once('}')
    {
        let choices: Vec<&str> = choices.split(',').collect();
        if POLICIES_MAX < all.len() * choices.len() {
            return Err(format!("`{text}` is more than {POLICIES_MAX} policies"));
        }
        let with =
            |head: String| choices.iter().map(move |choice| format!("{head}{before}{choice}"));
        all = all.into_iter().flat_map(with).collect();
        rest = after;
    }
    for policy in &mut all {
        policy.push_str(rest);
    }
    Ok(all)
}

fn parse_cluster(text: &str) -> Result<ClusterSpec, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn number(text: &str, what: &str, is_good: impl Fn(f64) -> bool) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|&number| is_good(number));
    number.ok_or_else(|| format!("`{text}` is no {what}"))
}

fn parse_hours(text: &str) -> Result<f64, String> {
    number(text, "time in hours from 0 to 1000000", |hours| (0.0..=1e6).contains(&hours))
}

fn parse_share(text: &str) -> Result<f64, String> {
    number(text, "share above 0 and up to 1", |share| 0.0 < share && share <= 1.0)
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    number(text, "time from 0 to 1000000000 s", |seconds| (0.0..=1e9).contains(&seconds))
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    number(text, "share from 0 to 1000", |share| (0.0..=1e3).contains(&share))
}

fn parse_load(text: &str) -> Result<f64, String> {
    number(text, "factor from 0.001 to 1000", |load| (0.001..=1000.0).contains(&load))
}

fn parse_overcommit(text: &str) -> Result<f64, String> {
    number(text, "factor from 0.01 to 100", |factor| (0.01..=100.0).contains(&factor))
}

pub(crate) fn run(args: &ReplayArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    let policies = policies(args, &lake)?;
    let policies: Vec<&(String, PolicyPlan)> = policies.iter().collect();
    let first = first_setting(args, &lake, windows, &policies)?;
    let mut files = shown::files(args.answer.out.as_deref(), "replay")?;
    let bar = console::Bar::of_work("replay", "tasks");
    progress::expect(first.history.workload.task_count as u64 * policies.len() as u64 * args.seeds);
    let tolerance = args.tolerance();
    let mut runs = vec![replay_all(&policies, &first, args.seed, tolerance)];
    // Samples and made-up machines follow the seed; otherwise all seeds have the same setting.
    let is_drawn = args.sample < 1.0 || args.machines < 1.0 || args.cluster.is_some();
    let others: Result<Vec<Vec<Run>>> = (1..args.seeds)
        .into_par_iter()
        .map(|further| {
            // Behind the last seed comes the first.
            let seed = args.seed.wrapping_add(further);
            let drawn = is_drawn.then(|| setting(args, &lake, windows, seed)).transpose()?;
            let mut runs = replay_all(&policies, drawn.as_ref().unwrap_or(&first), seed, tolerance);
            for run in &mut runs {
                (run.journal, run.jobs) = (Journal::default(), Vec::new());
            }
            Ok(runs)
        })
        .collect();
    runs.extend(others?);
    drop(bar);
    for run in &runs[0] {
        report(run, &first.history);
    }
    let table = answers::table::of(&runs);
    let mut assumptions = first.history.assumptions.clone();
    if !first.remarks.is_empty() {
        let count = first.remarks.len();
        assumptions.push(format!("{count} impossible changes of machines are left out."));
    }
    let answer = Answer {
        name: "replay",
        table: &table,
        json: json!({
            "policies": (0..policies.len()).map(|idx| answers::table::json_of(&runs, idx)).collect::<Vec<Value>>(),
            "machines": first.cluster.machine_count(),
            "history": first.history.counts,
            "assumptions": assumptions,
        }),
        settings: json!({
            "policies": policies.iter().map(|named| named.1.to_string()).collect::<Vec<String>>(),
            "history": history_plan(args, &lake, args.seed), "seeds": args.seeds,
            "windows": windows, "tolerance": args.tolerance(),
            "machines": if args.cluster.is_some() { "specification" } else { "machine_events" },
        }),
        charts: answers::charts::of(&runs[0], &first),
    };
    if let Some(files) = &mut files {
        files.table("replay-time", &answers::table::over_time(&runs[0]))?;
    }
    if let Some(files) = files.as_mut().filter(|_| args.journal) {
        answers::journal::put(&runs[0], &first, files)?;
    }
    shown::give(&answer, files, &Origin::of(&lake), &args.answer.form())
}

/// More heartbeats than these would take hours.
const HEARTBEATS_MAX: f64 = 1e9;

/// From this number on it is said how many heartbeats there may be.
const HEARTBEATS_MANY: f64 = 1e7;

/// Refuses a policy that would look at running tasks too often, and says how often one will that
/// does so many times.
fn check_heartbeats(name: &str, workload: &Workload, policy: &PolicyPlan) -> Result<()> {
    let Some(count) = heartbeats(workload, policy).filter(|count| HEARTBEATS_MANY < *count) else {
        return Ok(());
    };
    let shown = digits::six_digits(count.round());
    if HEARTBEATS_MAX < count {
        return Err(Usage(format!(
            "policy `{name}` would need up to {shown} heartbeats, more than {}; give a longer `heartbeat_s`, or replay a part with --from and --until",
            digits::six_digits(HEARTBEATS_MAX)
        ))
        .into());
    }
    console::note(format!("{name}: up to {shown} heartbeats"));
    Ok(())
}

/// Reads what is to be replayed, and says what that is, what is assumed and what will take long.
fn first_setting(
    args: &ReplayArgs,
    lake: &Lake,
    windows: Windows,
    policies: &[&(String, PolicyPlan)],
) -> Result<Setting> {
    let started = super::now();
    let bar = console::Bar::of_work("history", "rows");
    let mut first = setting(args, lake, windows, args.seed)?;
    drop(bar);
    if policies.iter().any(|(_, policy)| policy.order.1.uses_estimates()) {
        let History { counts, assumptions, .. } = &mut first.history;
        assumptions.push(history::of_estimates(counts, args.estimates));
    }
    tell(&first, started.elapsed().as_secs_f64());
    warn_of_apart(&first.history, &first.cluster);
    for (name, policy) in policies {
        check_heartbeats(name, &first.history.workload, policy)?;
    }
    Ok(first)
}

/// Reads what is to be replayed under a seed.
fn setting(args: &ReplayArgs, lake: &Lake, windows: Windows, seed: u64) -> Result<Setting> {
    let plan = history_plan(args, lake, seed);
    let Fleet { cluster, remarks, without_cpu } = fleet_of(args, lake, &plan)?;
    let mut history = history::workload(lake, windows, &plan)??;
    history.assumptions.extend(history::of_machines(&cluster, without_cpu, lake.source()));
    if history.workload.task_count == 0 {
        return Err(Usage("no task arrives in the chosen part of the history".to_owned()).into());
    }
    Ok(Setting { history, cluster, remarks })
}

#[expect(clippy::cast_possible_truncation, reason = "a million hours are far below 2^63 µs")]
fn history_plan(args: &ReplayArgs, lake: &Lake, seed: u64) -> HistoryPlan {
    // Machines by specification are as large as it says.
    let usual = Defaults::of(lake);
    let overcommit = if args.cluster.is_some() { 1.0 } else { usual.overcommit };
    let micros = |hours: f64| (hours * 3.6e9).round() as i64;
    HistoryPlan {
        from_us: micros(args.from),
        until_us: args.until.map(micros),
        sample: args.sample,
        machines: args.machines,
        load: args.load,
        overcommit: args.overcommit.unwrap_or(overcommit),
        reruns: args.reruns,
        killed: args.killed.unwrap_or(usual.killed),
        estimates: args.estimates,
        seed,
    }
}

fn fleet_of(args: &ReplayArgs, lake: &Lake, plan: &HistoryPlan) -> Result<Fleet> {
    Ok(match &args.cluster {
        Some(spec) => {
            let (cluster, remarks) =
                spec.build(plan.seed).map_err(|error| Usage(error.to_string()))?;
            Fleet { cluster, remarks, without_cpu: 0 }
        }
        None if lake.manifest.table(Table::MachineEvents).is_none_or(|table| table.rows() == 0) => {
            let hint = "the lake holds no machines; describe the machines with --cluster, such as cluster:nodes=100,cpu=1";
            return Err(Usage(hint.to_owned()).into());
        }
        None => match history::fleet(lake, plan)? {
            Err(ClusterError::Empty) if args.machines < 1.0 => {
                return Err(Usage("--machines leaves no machine".to_owned()).into());
            }
            machines => machines?,
        },
    })
}

/// Warns of jobs whose tasks need more different machines than there are: some of them have to
/// wait for others, and whoever waits behind them in a strict order as well.
fn warn_of_apart(history: &History, cluster: &Cluster) {
    let workload = &history.workload;
    let mut tasks = vec![0_usize; workload.job_count()];
    for task in (0..).take(workload.task_count).filter(|&task| workload.is_apart.get(task)) {
        tasks[workload.job.get(task) as usize] += 1;
    }
    let count = tasks.iter().filter(|&&tasks| cluster.machine_count() < tasks).count();
    if 0 < count {
        console::warn(format!(
            "{} want more different machines than there are, and block whoever waits behind them",
            digits::counted(count as u64, "job")
        ));
    }
}

/// Says what is replayed and what was assumed.
fn tell(setting: &Setting, seconds: f64) {
    let Setting { history, cluster, remarks, .. } = setting;
    console::note(format!(
        "{} of {} on {}, read in {seconds:.1} s",
        digits::counted(history.counts.tasks, "task"),
        digits::counted(history.counts.jobs, "job"),
        digits::counted(cluster.machine_count() as u64, "machine"),
    ));
    for assumption in &history.assumptions {
        console::assume(assumption);
    }
    for remark in remarks.iter().take(3) {
        console::warn(format!("left out: {remark}"));
    }
    if 3 < remarks.len() {
        console::warn(format!("and {} more changes of machines", remarks.len() - 3));
    }
}

/// Replays every policy, each beside the first.
fn replay_all(
    policies: &[&(String, PolicyPlan)],
    setting: &Setting,
    seed: u64,
    tolerance: Tolerance,
) -> Vec<Run> {
    let mut runs: Vec<Run> =
        policies.par_iter().map(|named| replay_one(named, setting, seed)).collect();
    let paired: Vec<Paired> =
        runs.iter().map(|run| pair(&run.jobs, &runs[0].jobs, tolerance)).collect();
    for (run, paired) in runs.iter_mut().zip(paired) {
        run.paired = paired;
    }
    runs
}

fn replay_one((name, policy): &(String, PolicyPlan), setting: &Setting, seed: u64) -> Run {
    let started = super::now();
    let Setting { history, cluster, .. } = setting;
    let workload = &history.workload;
    let plan = Plan { seed, ..Plan::new(cluster, workload, policy) };
    let outcome = replay(&plan);
    let seconds = started.elapsed().as_secs_f64();
    let journal = outcome.journal.unwrap_or_default();
    Run {
        policy: name.clone(),
        metrics: measure(&journal, workload, cluster, SAMPLES),
        jobs: job_ends(&fates(&journal, workload.task_count), workload),
        paired: Paired::default(),
        refused: outcome.refused,
        depth_cuts: outcome.depth_cuts,
        journal,
        seconds,
        events: outcome.events,
    }
}

/// Says how long a replay took and which tasks it could not run.
fn report(run: &Run, history: &History) {
    console::note(format!(
        "{}: {} events in {:.1} s",
        run.policy,
        digits::grouped(run.events),
        run.seconds
    ));
    if !run.refused.is_empty() {
        let some = run.refused.iter().take(3).map(|&task| {
            let (job, number) = history.ids[task as usize];
            format!("{job}/{number}")
        });
        console::warn(format!(
            "{}: larger than any machine and never started: {}, such as {}",
            run.policy,
            digits::counted(run.refused.len() as u64, "task"),
            some.collect::<Vec<String>>().join(", ")
        ));
    }
    let left = history.workload.task_count - run.metrics.over;
    if 0 < left {
        console::warn(format!(
            "{}: never over, as no machine can take them any more: {}",
            run.policy,
            digits::counted(left as u64, "task")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_every_choice_with_every_other() {
        assert_eq!(grid("fifo").unwrap(), ["fifo"]);
        assert_eq!(
            grid("{fifo,fair}+late:cap={0.1,0.2}").unwrap(),
            ["fifo+late:cap=0.1", "fifo+late:cap=0.2", "fair+late:cap=0.1", "fair+late:cap=0.2",]
        );
        assert_eq!(grid("late:cap={0.1").unwrap(), ["late:cap={0.1"], "left to their reader");
        assert!(grid(&"{a,b}".repeat(10)).is_err(), "1,024 of them");
    }
}

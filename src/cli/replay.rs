//! `jobfate replay`: what other policies would have made of a recorded history.
//!
//! In: a lake, policies, and what of the history is taken. Out: one row per policy, over the jobs
//! paired with those of the first; what was assumed, on stderr and in `result.json`; pictures, and
//! on request every event of every replay.

use std::path::Path;

use anyhow::Result;
use arrow::record_batch::RecordBatch;
use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::exit::Usage;
use super::render::Frame;
use super::store::{self, Answer};
use super::{AnswerArgs, console};
use crate::charts::{Bar, BarChart, Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::lake::Lake;
use crate::replay::cluster::{Cluster, Remark};
use crate::replay::engine::{Plan, replay};
use crate::replay::history::{self, History, HistoryPlan, RerunWork};
use crate::replay::journal::{Journal, Kind};
use crate::replay::metrics::{
    Metrics, Paired, Sample, Spread, fates, job_responses_s, measure, pair,
};
use crate::replay::policies::PolicyPlan;
use crate::replay::spec::ClusterSpec;
use crate::replay::workload::NONE;
use crate::schema::Table;

/// Responses that differ by less than this share count as the same.
const TOLERANCE: f64 = 0.01;

/// Stretches of time in the pictures.
const SAMPLES: usize = 120;

/// Policies in one picture over time.
const LINES_MAX: usize = 6;

/// Replay recorded history under other policies
///
/// Runs the tasks of the lake on the machines of the lake, or on a made-up cluster, once per
/// policy. Tasks arrive when they did and take the time they took; failed attempts are carried
/// along, killed tasks are killed at their recorded age. What is assumed is said on stderr and
/// kept with the result. Jobs are paired with those under the first policy.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate replay --lake lake\n  jobfate replay --lake lake --policies fifo fair fifo+late fifo+wqr:copies=2 --sample 0.1\n  jobfate replay --lake swf --policies fifo easy --out results --journal\n  jobfate replay --lake lake --cluster cluster:nodes=100,cpu=0.5,memory=0.5 --from 1 --until 3"
)]
pub(crate) struct ReplayArgs {
    /// Policies, one word each; the first is compared with
    ///
    /// Each is an order, a placement, a rule about running tasks and a kill rule joined by `+`,
    /// all optional: `priority:preempt=yes+best-fit+late+kill:events=20`. Orders: fifo, random,
    /// shortest, priority, easy, fair, drf. Placements: first-free, first-fit, best-fit,
    /// worst-fit, random-fit. Running tasks: none, oracle, wqr, dolly, and every detector of
    /// `jobfate detect`.
    #[arg(long, value_name = "POLICY", num_args = 1.., value_parser = parse_policies, default_value = "fifo priority fair")]
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
    ///
    /// Real clusters hand out more than they have, since tasks ask for more than they use.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_overcommit, conflicts_with = "cluster")]
    pub overcommit: f64,

    /// What a copy or a restart has to do
    #[arg(long, value_enum, default_value_t)]
    pub reruns: RerunWork,

    /// Factor of the arrival rate
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_load)]
    pub load: f64,

    /// Seed of samples and of everything drawn
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Store every event of every replay as Parquet
    ///
    /// As `journal-N.parquet` for policy number N in the folder of --out.
    #[arg(long, requires = "out")]
    pub journal: bool,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// Policies as they were written, in the order in which they are shown.
#[derive(Clone, Debug)]
pub(crate) struct PolicyList(Vec<(String, PolicyPlan)>);

fn parse_policies(text: &str) -> Result<PolicyList, String> {
    let mut policies: Vec<(String, PolicyPlan)> = Vec::new();
    for word in text.split_whitespace() {
        let policy: PolicyPlan = word.parse().map_err(|error| format!("{error}"))?;
        if policies.iter().all(|(_, other)| *other != policy) {
            policies.push((word.to_owned(), policy));
        }
    }
    if policies.is_empty() {
        Err("no policy is named".to_owned())
    } else {
        Ok(PolicyList(policies))
    }
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

fn parse_load(text: &str) -> Result<f64, String> {
    number(text, "factor from 0.001 to 1000", |load| (0.001..=1000.0).contains(&load))
}

fn parse_overcommit(text: &str) -> Result<f64, String> {
    number(text, "factor from 0.01 to 100", |factor| (0.01..=100.0).contains(&factor))
}

/// One policy's replay.
struct Run {
    policy: String,
    metrics: Metrics,
    responses_s: Vec<Option<f64>>,
    refused: Vec<u32>,
    journal: Journal,
    seconds: f64,
    events: u64,
}

pub(crate) fn run(args: &ReplayArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?;
    let plan = history_plan(args);
    let started = super::now();
    let (cluster, remarks) = cluster_of(args, &lake, &plan)?;
    let history = history::workload(&lake, windows, &plan)??;
    if history.workload.task_count == 0 {
        return Err(Usage("no task arrives in the chosen part of the history".to_owned()).into());
    }
    tell(&history, &cluster, &remarks, started.elapsed().as_secs_f64());
    warn_of_apart(&history, &cluster);
    let runs: Vec<Run> = args
        .policies
        .iter()
        .flat_map(|list| &list.0)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|named| replay_one(named, &history, &cluster, args))
        .collect();
    let paired: Vec<Paired> =
        runs.iter().map(|run| pair(&run.responses_s, &runs[0].responses_s, TOLERANCE)).collect();
    for run in &runs {
        report(run, &history);
    }
    let table = table_of(&runs, &paired);
    let mut assumptions = history.assumptions.clone();
    if !remarks.is_empty() {
        assumptions.push(format!("{} impossible changes of machines are left out.", remarks.len()));
    }
    let answer = Answer {
        name: "replay",
        table: &table,
        json: json!({
            "policies": runs.iter().zip(&paired).map(|(run, paired)| json_of(run, paired)).collect::<Vec<Value>>(),
            "machines": cluster.machine_count(),
            "history": history.counts,
            "assumptions": assumptions,
        }),
        settings: json!({
            "policies": args.policies.iter().flat_map(|list| &list.0).map(|named| named.1.to_string()).collect::<Vec<String>>(),
            "history": plan, "windows": windows, "tolerance": TOLERANCE,
            "machines": if args.cluster.is_some() { "specification" } else { "machine_events" },
        }),
        charts: charts(&runs, &history, &cluster),
    };
    store::give(&answer, &lake, &args.answer)?;
    match &args.answer.out {
        Some(folder) if args.journal => store_journals(&runs, &history, folder),
        _ => Ok(()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a million hours are far below 2^63 µs")]
fn history_plan(args: &ReplayArgs) -> HistoryPlan {
    let micros = |hours: f64| (hours * 3.6e9).round() as i64;
    HistoryPlan {
        from_us: micros(args.from),
        until_us: args.until.map_or(i64::MAX, micros),
        sample: args.sample,
        machines: args.machines,
        load: args.load,
        overcommit: args.overcommit,
        reruns: args.reruns,
        seed: args.seed,
    }
}

fn cluster_of(
    args: &ReplayArgs,
    lake: &Lake,
    plan: &HistoryPlan,
) -> Result<(Cluster, Vec<Remark>)> {
    Ok(match &args.cluster {
        Some(spec) => spec.build(args.seed)?,
        None if !lake.has(Table::MachineEvents) => {
            let hint = "the lake holds no machine_events; describe the machines with --cluster, such as cluster:nodes=100,cpu=1";
            return Err(Usage(hint.to_owned()).into());
        }
        None => history::cluster(lake, plan)??,
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
            console::counted(count as u64, "job")
        ));
    }
}

/// Says what is replayed and what was assumed.
fn tell(history: &History, cluster: &Cluster, remarks: &[Remark], seconds: f64) {
    console::note(format!(
        "{} tasks of {} jobs on {} machines, read in {seconds:.1} s",
        console::grouped(history.counts.tasks),
        console::grouped(history.counts.jobs),
        console::grouped(cluster.machine_count() as u64),
    ));
    for assumption in &history.assumptions {
        console::note(format!("assumed: {assumption}"));
    }
    for remark in remarks.iter().take(3) {
        console::warn(format!("left out: {remark}"));
    }
    if 3 < remarks.len() {
        console::warn(format!("and {} more changes of machines", remarks.len() - 3));
    }
}

fn replay_one(
    (name, policy): &(String, PolicyPlan),
    history: &History,
    cluster: &Cluster,
    args: &ReplayArgs,
) -> Run {
    let started = super::now();
    let workload = &history.workload;
    let plan = Plan { seed: args.seed, ..Plan::new(cluster, workload, policy) };
    let outcome = replay(&plan);
    let seconds = started.elapsed().as_secs_f64();
    let journal = outcome.journal.unwrap_or_default();
    Run {
        policy: name.clone(),
        metrics: measure(&journal, workload, cluster, SAMPLES),
        responses_s: job_responses_s(&fates(&journal, workload.task_count), workload),
        refused: outcome.refused,
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
        console::grouped(run.events),
        run.seconds
    ));
    if !run.refused.is_empty() {
        let some = run.refused.iter().take(3).map(|&task| {
            let (job, number) = history.ids[task as usize];
            format!("{job}/{number}")
        });
        console::warn(format!(
            "{}: {} tasks are larger than any machine and never start, such as {}",
            run.policy,
            console::grouped(run.refused.len() as u64),
            some.collect::<Vec<String>>().join(", ")
        ));
    }
    let left = history.workload.task_count - run.metrics.over;
    if 0 < left {
        console::warn(format!(
            "{}: {} tasks were never over, no machine can take them any more",
            run.policy,
            console::grouped(left as u64)
        ));
    }
}

/// CPU time spent on attempts that were overtaken, started anew or had to make room, CPU-s.
fn wasted_cpu_s(metrics: &Metrics) -> f64 {
    metrics.overtaken.cpu_s + metrics.restarted.cpu_s + metrics.evicted.cpu_s
}

fn table_of(runs: &[Run], paired: &[Paired]) -> RecordBatch {
    let all = || runs.iter().map(|run| &run.metrics);
    let of = |spread: Option<Spread>, value: fn(Spread) -> f64| spread.map(value);
    let response = |value: fn(Spread) -> f64| {
        runs.iter().map(move |run| of(run.metrics.job_response_s, value))
    };
    Frame::default()
        .text("policy", runs.iter().map(|run| run.policy.as_str()))
        .float("makespan_s", all().map(|m| m.makespan_s))
        .count("finished", all().map(|m| m.finished as u64))
        .count("refused", runs.iter().map(|run| run.refused.len() as u64))
        .float("response_s_mean", response(|spread| spread.mean))
        .float("response_s_median", response(|spread| spread.median))
        .float("response_s_p95", response(|spread| spread.p95))
        .float("response_s_p99", response(|spread| spread.p99))
        .float("waiting_s_mean", all().map(|m| of(m.waiting_s, |spread| spread.mean)))
        .float("waiting_s_p99", all().map(|m| of(m.waiting_s, |spread| spread.p99)))
        .float("slowdown_mean", all().map(|m| of(m.bounded_slowdown, |spread| spread.mean)))
        .float("utilisation", all().map(|m| Some(m.utilisation)))
        .count("copies", all().map(|m| m.copies.0))
        .count("copies_won", all().map(|m| m.copies.1))
        .count("restarts", all().map(|m| m.restarted.count))
        .count("preemptions", all().map(|m| m.evicted.count))
        .float("wasted_cpu_s", all().map(|m| Some(wasted_cpu_s(m))))
        .count("jobs_hurt", paired.iter().map(|p| p.hurt as u64))
        .count("jobs_helped", paired.iter().map(|p| p.helped as u64))
        .float("user_fairness", all().map(|m| m.user_fairness))
        .batch()
}

fn json_of(run: &Run, paired: &Paired) -> Value {
    json!({
        "policy": run.policy,
        "metrics": run.metrics,
        "wasted_cpu_s": wasted_cpu_s(&run.metrics),
        "against_first": paired,
        "refused": run.refused.len(),
    })
}

fn charts(runs: &[Run], history: &History, cluster: &Cluster) -> Vec<(String, Chart)> {
    let caption = format!(
        "{} recorded tasks of {} jobs on {} machines. Work is recorded running time, all machines are equally fast.",
        console::grouped(history.counts.tasks),
        console::grouped(history.counts.jobs),
        console::grouped(cluster.machine_count() as u64),
    );
    let over_time = |title: &str, axis: &str, value: fn(&Sample) -> f64| {
        Chart::Lines(LineChart {
            title: title.to_owned(),
            caption: caption.clone(),
            x_axis: "hours of the trace".to_owned(),
            y_axis: axis.to_owned(),
            x_scale: Scale::Linear,
            lines: runs
                .iter()
                .take(LINES_MAX)
                .zip(Tone::SERIES)
                .map(|(run, tone)| Line {
                    name: run.policy.clone(),
                    points: run
                        .metrics
                        .samples
                        .iter()
                        .map(|sample| (sample.time_s / 3600.0, value(sample)))
                        .collect(),
                    band: Vec::new(),
                    tone,
                    stroke: Stroke::Straight,
                })
                .collect(),
        })
    };
    let bars = runs.iter().filter_map(|run| {
        let spread = run.metrics.job_response_s?;
        Some(Bar {
            label: run.policy.clone(),
            value: spread.mean,
            note: format!(
                "mean {:.0} s, median {:.0}, p95 {:.0}, p99 {:.0}",
                spread.mean, spread.median, spread.p95, spread.p99
            ),
            tone: Tone::Blue,
        })
    });
    vec![
        (
            "replay-response".to_owned(),
            Chart::Bars(BarChart {
                title: "Response time of jobs under each policy".to_owned(),
                caption: caption.clone(),
                value_axis: "mean response time, s".to_owned(),
                bars: bars.collect(),
            }),
        ),
        (
            "replay-queue".to_owned(),
            over_time("Tasks that wait", "tasks waiting", |sample| sample.waiting),
        ),
        (
            "replay-utilisation".to_owned(),
            over_time("CPU in use", "share of the CPU that is there", |sample| sample.cpu_share),
        ),
    ]
}

fn store_journals(runs: &[Run], history: &History, folder: &Path) -> Result<()> {
    for (number, run) in (1..).zip(runs) {
        let rows = || run.journal.entries();
        let id = |task: u32| (task != NONE).then(|| history.ids[task as usize]);
        let table = Frame::default()
            .int("time_us", rows().map(|entry| entry.at_us))
            .text("event", rows().map(|entry| Kind::word(entry.kind)))
            .maybe_int("job_id", rows().map(|entry| id(entry.task).map(|id| id.0)))
            .maybe_int("task_index", rows().map(|entry| id(entry.task).map(|id| i64::from(id.1))))
            .maybe_int(
                "machine",
                rows().map(|entry| (entry.machine != NONE).then(|| i64::from(entry.machine) + 1)),
            )
            .int("attempt", rows().map(|entry| i64::from(entry.attempt)))
            .batch();
        store::store_parquet(&format!("journal-{number}"), &table, folder)?;
    }
    Ok(())
}

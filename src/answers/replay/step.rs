//! Replays policies on a recorded history and gives the answer, for the command and for a step of
//! an analysis.

use rayon::prelude::*;
use serde_json::json;

use crate::answers::Said;
use crate::answers::replay::beats::check_heartbeats;
use crate::answers::replay::plan::{ReplayPlan, history_plan, setting};
use crate::answers::replay::policies::policies;
use crate::answers::replay::run::{replay_all, report, tell, warning_of_apart};
use crate::answers::replay::{
    KIND, ReplayAnswer, Replayed, Run, Setting, charts, journal, table, words,
};
use crate::answers::study::{Open, Screen, Step, Verdict, Work, settings};
use crate::answers::words::Setting as Word;
use crate::defaults;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::progress;
use crate::replay::history::{self, History, HistoryPlan};
use crate::replay::journal::Journal;
use crate::replay::metrics::{SizeOf, Tolerance, by_group};
use crate::replay::policies::PolicyPlan;
use crate::results::shares::Terms;
use crate::results::store::{Answer, Files, Origin};
use crate::schema::{Source, Table};
use crate::studies::ledger::CpuDefinition;

/// The step.
pub(crate) const STEP: Step = Step {
    has_folder: true,
    ..Step::of::<ReplayPlan>(run, &["window-end", "open-attempts"])
        .settled(settle, &["overcommit", "killed", "policies", "sample", "machines"])
};

/// The most rows of `task_events` that a step replays, which takes about ten seconds. For a larger
/// trace, it replays a sample of jobs and machines. A sample may have a lighter load than the
/// whole, and then hardly any task waits. With half of this and 1.25 times the capacities, the mean
/// wait under `fifo` on the real parts of 2011 was 3 min instead of 85.
const REPLAYED_ROWS: f64 = 4e6;

fn settle(open: &mut Open<'_>) {
    let policies = open.usual.policies.iter().map(|&policy| policy.to_owned()).collect();
    open.default_to("policies", Word::Many(policies));
    if !open.has("cluster") {
        open.default_to("overcommit", open.usual.overcommit.to_string().as_str());
    }
    open.default_to("killed", defaults::killed_name(open.usual.killed));
    if let Some(events) = open.lake.manifest.table(Table::TaskEvents) {
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 rows")]
        let share = REPLAYED_ROWS / events.rows() as f64;
        if share < 1.0 {
            let share = format!("{share:.4}");
            open.default_to("sample", share.as_str());
            if !open.has("cluster") {
                open.default_to("machines", share.as_str());
            }
        }
    }
}

/// Replays a few policies on the recorded tasks; for a large trace, on a sample of jobs and
/// machines.
fn run(work: &Work<'_>) -> Result<Option<Verdict>> {
    let plan: ReplayPlan = work.plan()?;
    for table in [Table::TaskEvents, Table::MachineEvents] {
        let is_needed = table == Table::TaskEvents || plan.cluster.is_none();
        if is_needed && work.is_missing(table, KIND)? {
            return Ok(None);
        }
    }
    work.screen.line("\nother policies")?;
    give(&plan, (work.lake, work.windows), &|| work.own_files().map(Some), false, work.screen)?;
    Ok(None)
}

/// A function that begins the files of the answer, if there are any.
type Begin<'a> = dyn Fn() -> Result<Option<Files>> + 'a;

/// Replays every policy and gives the answer. The files are begun after the plan is checked.
///
/// # Errors
/// The plan cannot be replayed, the lake cannot be read, or a file cannot be written.
pub fn give(
    plan: &ReplayPlan,
    (lake, windows): (&Lake, Windows),
    files: &Begin<'_>,
    has_journal: bool,
    screen: &dyn Screen,
) -> Result<()> {
    plan.check()?;
    let policies = policies(&plan.policies, lake)?;
    let policies: Vec<&(String, PolicyPlan)> = policies.iter().collect();
    let first = first_setting(plan, (lake, windows), &policies, screen)?;
    let mut files = files()?;
    let bar = screen.follow(KIND.name, "tasks");
    let mut runs = runs_of(plan, (lake, windows), &policies, &first)?;
    if let Some(by) = plan.group_by {
        let of_log = lake.source().is_log();
        let size_of = if of_log { SizeOf::Processors } else { SizeOf::Tasks };
        for run in &mut runs[0] {
            run.groups = by_group(&run.journal, &first.history.workload, by, size_of);
        }
    }
    drop(bar);
    for run in &runs[0] {
        screen.say_all(&report(run, &first.history));
    }
    let unit = CpuDefinition::Requested.unit(lake.source());
    let whole = table::of(&runs, unit);
    let grouped = plan.group_by.map(|_| table::by_group(&runs[0], unit));
    let history = history_plan(plan, lake, plan.seed);
    let answer = Answer {
        kind: KIND,
        table: grouped.as_ref().unwrap_or(&whole),
        json: json!(found(&runs, &first, unit, (&history, lake.source()), plan.tolerance())),
        settings: settings(
            plan,
            json!({
                "policies": policies.iter().map(|named| named.1.to_string()).collect::<Vec<_>>(),
                "overcommit": first.history.overcommit, "killed": history.killed, "windows": windows,
            }),
        ),
        charts: charts::of(&runs[0], &first),
    };
    if let Some(files) = &mut files {
        files.table("replay-time", &table::over_time(&runs[0]))?;
        if !first.recorded.is_empty() {
            files.table("replay-record", &table::recorded(&first.recorded))?;
        }
        if first.has_fragmentation {
            files.table("replay-gpus", &table::of_gpus(&runs[0]))?;
            files.table("replay-gpus-by-cause", &table::by_cause(&runs[0]))?;
        }
        if grouped.is_some() {
            files.table("replay-all", &whole)?;
        }
        if has_journal {
            journal::put(&runs[0], &first, files)?;
        }
    }
    screen.give(&answer, files, &Origin::of(lake))
}

/// The answer: what was replayed, and the result under each policy.
fn found(
    runs: &[Vec<Run>],
    first: &Setting,
    unit: &'static str,
    (plan, source): (&HistoryPlan, Source),
    tolerance: Tolerance,
) -> ReplayAnswer {
    let mut assumptions = first.history.assumptions.clone();
    if !first.remarks.is_empty() {
        let count = first.remarks.len();
        assumptions.push(format!("{count} impossible changes of machines are left out."));
    }
    let policies: Vec<Replayed> = (0..runs[0].len()).map(|idx| table::found(runs, idx)).collect();
    let counts = &first.history.counts;
    let sum = |of: fn(&Run) -> u64| runs.iter().flatten().map(of).sum();
    let made = [sum(|run| run.metrics.evicted.count), sum(|run| run.metrics.copies.0)];
    ReplayAnswer {
        unit: unit.into(),
        decisive: words::decisive(
            (counts, (plan, first.history.overcommit), source),
            first.pooled.as_ref().map(|pooled| pooled.processors),
            made,
        ),
        recorded: first.history.schedule,
        pooled_processors: first.pooled.as_ref().map(|pooled| pooled.processors),
        largest_queue: first.pooled.as_ref().and_then(|pooled| pooled.largest_queue.clone()),
        policies,
        machines: Some(first.cluster.machine_count() as u64),
        history: Some(first.history.counts),
        assumptions,
        tolerance,
        terms: Terms::of(&table::shares(first.has_fragmentation)),
    }
}

/// Replays every policy under every seed; the first index is the seed.
fn runs_of(
    plan: &ReplayPlan,
    (lake, windows): (&Lake, Windows),
    policies: &[&(String, PolicyPlan)],
    first: &Setting,
) -> Result<Vec<Vec<Run>>> {
    progress::expect(first.history.workload.task_count as u64 * policies.len() as u64 * plan.seeds);
    let tolerance = plan.tolerance();
    let mut runs = vec![replay_all(policies, first, plan.seed, tolerance)];
    // Samples, simulated machines and modelled failures depend on the seed. Otherwise, all seeds
    // have the same setting.
    let is_drawn = plan.sample < 1.0
        || plan.machines < 1.0
        || plan.cluster.is_some()
        || plan.failures.is_some();
    let others: Result<Vec<Vec<Run>>> = (1..plan.seeds)
        .into_par_iter()
        .map(|further| {
            // After the largest number, seeds continue from 0.
            let seed = plan.seed.wrapping_add(further);
            let drawn = is_drawn.then(|| setting(plan, lake, windows, seed)).transpose()?;
            drawn.iter().try_for_each(|drawn| refuse_bookings(policies, drawn))?;
            let mut runs = replay_all(policies, drawn.as_ref().unwrap_or(first), seed, tolerance);
            for run in &mut runs {
                (run.journal, run.jobs) = (Journal::default(), Vec::new());
            }
            Ok(runs)
        })
        .collect();
    runs.extend(others?);
    Ok(runs)
}

/// Refuses orders that reserve machines for every waiting task, if GPUs are assigned.
fn refuse_bookings(policies: &[&(String, PolicyPlan)], setting: &Setting) -> Result<()> {
    let checks_gpus = setting.history.workload.has_gpus() && !setting.cluster.gpus.is_empty();
    match policies.iter().find(|(_, policy)| checks_gpus && policy.order.1.books_ahead()) {
        Some((name, _)) => Err(Usage(format!(
            "policy `{name}` reserves CPU and memory for every waiting task, but not the GPUs of \
            the machines: give `easy`, or an order without `backfill=conservative`"
        ))
        .into()),
        None => Ok(()),
    }
}

/// Reads the setting under the first seed. Adds notes about what it is, what is assumed, and what
/// will take long.
fn first_setting(
    asked: &ReplayPlan,
    (lake, windows): (&Lake, Windows),
    policies: &[&(String, PolicyPlan)],
    screen: &dyn Screen,
) -> Result<Setting> {
    let started = progress::now();
    let bar = screen.follow("history", "rows");
    let mut first = setting(asked, lake, windows, asked.seed)?;
    drop(bar);
    if policies.iter().any(|(_, policy)| policy.order.1.uses_estimates()) {
        let History { counts, assumptions, .. } = &mut first.history;
        assumptions.push(history::of_estimates(counts, asked.estimates));
    }
    let mut assumed: Vec<&str> =
        policies.iter().filter_map(|(_, policy)| policy.order.1.assumes()).collect();
    assumed.dedup();
    first.history.assumptions.extend(assumed.into_iter().map(str::to_owned));
    screen.say_all(&tell(&first, started.elapsed().as_secs_f64()));
    screen.say_all(warning_of_apart(&first.history, &first.cluster).as_slice());
    refuse_bookings(policies, &first)?;
    for (name, policy) in policies {
        let note = check_heartbeats(name, &first.history.workload, policy)?.map(Said::Note);
        screen.say_all(note.as_slice());
    }
    Ok(first)
}

//! Studies from facts instead of from the lake, for `--engine polars` and `spark`.
//!
//! In: answers of the queries, from any engine. Out: the same [`Study`] and [`Samples`] as from the
//! folds, so all later code is the same. CPU-seconds are rounded per task here, while the folds add
//! exact amounts; the results agree to about 15 digits. Only the kill rule `events` has a query.

use rustc_hash::{FxHashMap, FxHashSet};

use super::asked::{Asked, GroupBy, JobRow, KillStep};
use super::counted::{Edges, Value};
use super::ends::EndSums;
use super::fold::{Study, republish, row_of};
use super::ledger::CpuDefinition;
use super::meter::{MemoryDefinition, Meter, Resource};
use super::rules::{Rule, RuleGrid};
use super::samples::{Collector, JobSize, Samples, Split, What, edges_of};
use crate::facts::jobs::{Jobs, terminal_of_name};
use crate::facts::tables::{Fact, Facts};
use crate::facts::task_values::{Wait, WaitEnd};
use crate::facts::tasks::EndedBy;
use crate::facts::window::Windows;
use crate::faults::Usage;
use crate::lake::Lake;
use crate::schema::{EventType, Table};
use crate::units::{CpuRate, CpuTime};

/// Whether the facts are enough to apply a rule. Only `events` without further conditions and
/// without spared groups can be applied.
fn can_tell(rule: &RuleGrid) -> bool {
    rule.rule == Rule::Events && rule.and.is_empty() && rule.spare.is_empty()
}

/// Refuses settings that no query can answer.
///
/// # Errors
/// The settings need data that no query has.
pub fn check(lake: &Lake, asked: &Asked) -> Result<(), Usage> {
    let refused = |text: &str| Err(Usage(text.to_owned()));
    if asked.meter == Meter::Cpu(CpuDefinition::Measured) && lake.source().is_log() {
        return refused(
            "no query gives the CPU time that a log records: use --cpu requested, or no --engine",
        );
    }
    if asked.groups.contains(&GroupBy::Reason) {
        return refused("no query gives the reason why a job ended: leave --engine out");
    }
    if let Some(by) = asked.groups.iter().find(|by| by.label().is_some()) {
        return refused(&format!("no query gives the {} of a job: leave --engine out", by.name()));
    }
    if asked.meter == Meter::Memory(MemoryDefinition::Used) {
        return refused(
            "no query gives the memory that a log records: use --memory requested, or no --engine",
        );
    }
    if asked.meter == Meter::Cpu(CpuDefinition::GpuSlots) {
        return refused("no query gives the GPUs that tasks request: leave --engine out");
    }
    match asked.rules.iter().find(|rule| !can_tell(rule)) {
        Some(rule) => {
            refused(&format!("`{rule}` has no query: with --engine only `events` can be swept"))
        }
        None => Ok(()),
    }
}

/// The queries with the facts that [`study`] needs.
pub fn queries_of_study(lake: &Lake, asked: &Asked) -> Vec<&'static str> {
    let mut needed = Vec::new();
    if lake.has(Table::JobEvents) {
        needed.push("q01");
    }
    let sweeps = !asked.rules.is_empty();
    if asked.meter != Meter::PUBLISHED || sweeps || lake.has(Table::TaskEvents) {
        needed.extend(["q02", "q03", "q05"]);
    }
    match (asked.meter.resource(), asked.meter.needs_usage()) {
        (Resource::Cpu, true) => needed.push("q07"),
        (Resource::Cpu | Resource::Gpu, _) => {}
        (Resource::Memory, true) => needed.extend(["q15", "q16"]),
        (Resource::Memory, false) => needed.push("q15"),
    }
    match asked.meter {
        Meter::PUBLISHED => needed.push("q11"),
        // The use of each attempt; a sweep does not show it.
        Meter::Cpu(CpuDefinition::Measured) if !sweeps => needed.push("q17"),
        _ => {}
    }
    if sweeps {
        needed.push("q08");
        needed.push(if asked.meter.needs_usage() { "q12" } else { "q09" });
    }
    needed
}

/// The study from the facts of [`queries_of_study`]. [`check`] must accept its rules, and the grids
/// of the rules must be the thresholds of the queries.
pub fn study(facts: &Facts, lake: &Lake, windows: Windows, asked: &Asked) -> Study {
    let known = if facts.has("q01") { Jobs::of_facts(facts.of("q01")) } else { Jobs::default() };
    let mut study = Study::new(lake, asked);
    let mut rows = JobRows {
        all: known.jobs.iter().map(|job| row_of(job, &known, asked.classes)).collect(),
        known: &known,
        unknown: FxHashMap::default(),
        unmatched: asked.classes.outcomes().len(),
    };
    let spent = spent_of(facts, asked.meter);
    let mut finishes: FxHashMap<(i64, i64), i64> = FxHashMap::default();
    if facts.has("q02") {
        for task in TaskFact::all(facts.of("q02")) {
            if let Some(finish_us) = task.finish_us {
                finishes.insert((task.job_id, task.task_index), finish_us);
            }
            let row = rows.of(task.job_id);
            row.task_count += 1;
            row.priority = row.priority.max(task.priority);
            row.cpu += spent.get(&(task.job_id, task.task_index)).copied().unwrap_or_default();
        }
        add_attempts(&mut study, facts, windows);
    }
    if facts.has("q08") {
        add_kills(&mut rows, facts, asked, &spent, &finishes);
    }
    if let Some(columns) = columns_of(asked.meter).measured {
        let usage = facts.of(columns.query);
        study.outside =
            usage.floats(columns.outside).iter().copied().map(CpuTime::from_seconds).sum();
        let sum = |name: &str| usage.ints(name).iter().sum::<i64>().cast_unsigned();
        study.usage.windows = sum("window_count");
        study.usage.without_rate = sum(columns.without);
        study.usage.overlapping = sum("windows_overlapping");
    }
    study.add_job_edges(&known, windows);
    if facts.has("q11") {
        let fact = facts.of("q11");
        let published: FxHashMap<i64, f64> = fact
            .ints("job_id")
            .iter()
            .copied()
            .zip(fact.floats("published_s").iter().copied())
            .collect();
        for row in &mut rows.all {
            republish(row, published.get(&row.job_id).copied().unwrap_or(0.0));
        }
        study.outside = CpuTime::ZERO;
    }
    for row in &rows.all {
        study.add(row);
    }
    study
}

/// A row per job, with jobs that are not in `job_events` last.
struct JobRows<'a> {
    all: Vec<JobRow<'a>>,
    known: &'a Jobs,
    unknown: FxHashMap<i64, usize>,
    unmatched: usize,
}

impl<'a> JobRows<'a> {
    fn of(&mut self, job_id: i64) -> &mut JobRow<'a> {
        let rows = &mut self.all;
        let position = self.known.find(job_id).unwrap_or_else(|| {
            *self.unknown.entry(job_id).or_insert_with(|| {
                rows.push(JobRow { job_id, outcome: self.unmatched, ..JobRow::default() });
                rows.len() - 1
            })
        });
        &mut rows[position]
    }
}

/// The columns of the facts that hold the amount of a meter.
struct Columns {
    query: &'static str,
    /// The amount inside attempts.
    inside: &'static str,
    /// The part of that amount in attempts closed with their job.
    closed: &'static str,
    /// The columns of usage windows, if the meter reads them.
    measured: Option<Measured>,
}

/// The columns of the facts about usage windows.
struct Measured {
    query: &'static str,
    /// The amount outside of attempts.
    outside: &'static str,
    /// The number of windows without a value.
    without: &'static str,
}

fn columns_of(meter: Meter) -> Columns {
    let of = |query, inside, closed| Columns { query, inside, closed, measured: None };
    let measured = |query, [inside, closed, outside, without]: [&'static str; 4]| Columns {
        query,
        inside,
        closed,
        measured: Some(Measured { query, outside, without }),
    };
    match meter {
        // No query has GPUs, or (below) the use that a log records. Both are refused before any
        // fact is computed.
        Meter::Cpu(CpuDefinition::Slots | CpuDefinition::GpuSlots) => {
            of("q05", "slots_s", "closed_slots_s")
        }
        Meter::Cpu(CpuDefinition::Requested) => of("q05", "requested_s", "closed_requested_s"),
        Meter::Cpu(CpuDefinition::Measured | CpuDefinition::Published) => {
            let columns = ["measured_s", "closed_measured_s", "outside_s", "windows_without_rate"];
            measured("q07", columns)
        }
        Meter::Memory(MemoryDefinition::Requested | MemoryDefinition::Used) => {
            of("q15", "requested_memory_s", "closed_requested_memory_s")
        }
        Meter::Memory(MemoryDefinition::Canonical) => measured(
            "q16",
            [
                "canonical_memory_s",
                "closed_canonical_memory_s",
                "outside_canonical_memory_s",
                "windows_without_canonical",
            ],
        ),
        Meter::Memory(MemoryDefinition::Assigned) => measured(
            "q16",
            [
                "assigned_memory_s",
                "closed_assigned_memory_s",
                "outside_assigned_memory_s",
                "windows_without_assigned",
            ],
        ),
    }
}

/// The amount of each task inside its attempts.
fn spent_of(facts: &Facts, meter: Meter) -> FxHashMap<(i64, i64), CpuTime> {
    let columns = columns_of(meter);
    let fact = facts.of(columns.query);
    let tasks = fact.ints("job_id").iter().copied().zip(fact.ints("task_index").iter().copied());
    tasks.zip(fact.floats(columns.inside).iter().copied().map(CpuTime::from_seconds)).collect()
}

fn add_attempts(study: &mut Study, facts: &Facts, windows: Windows) {
    let held = facts.of("q05");
    let sum = |name: &str| held.ints(name).iter().sum::<i64>().cast_unsigned();
    study.attempts = sum("attempt_count");
    study.attempts_without_request = match study.asked.meter.resource() {
        Resource::Cpu | Resource::Gpu => sum("attempts_without_request"),
        Resource::Memory => {
            let held = facts.of("q15").ints("attempts_without_memory");
            held.iter().sum::<i64>().cast_unsigned()
        }
    };
    study.closed_with_job.attempts = sum("attempts_closed_with_job");
    let columns = columns_of(study.asked.meter);
    let closed = facts.of(columns.query).floats(columns.closed).iter().copied();
    study.closed_with_job.cpu = closed.map(CpuTime::from_seconds).sum();
    let attempts = facts.of("q03");
    let ends = attempts.maybe_ints("end_us");
    for (&start_us, end_us) in attempts.ints("start_us").iter().zip(ends) {
        if start_us < i64::MAX {
            study.attempt_edges.add(windows.is_before(start_us), end_us.is_none());
        }
    }
    study.ends = ends_of(facts, study.asked.meter, windows);
    add_restarts(study, attempts);
}

/// Amounts of attempts, by how they ended; `None` if the meter is not added up in this way.
fn ends_of(facts: &Facts, meter: Meter, windows: Windows) -> Option<EndSums> {
    match meter {
        Meter::Cpu(CpuDefinition::Slots) => ends_held(facts.of("q03"), windows, |_| CpuRate::ONE),
        Meter::Cpu(CpuDefinition::Requested) => {
            let rate = |request: Option<f32>| request.map_or(CpuRate::ZERO, CpuRate::new);
            ends_held(facts.of("q03"), windows, rate)
        }
        Meter::Cpu(CpuDefinition::Measured) => {
            facts.has("q17").then(|| ends_measured(facts.of("q17")))
        }
        _ => None,
    }
}

/// Amounts that attempts held, by how they ended; `rate` gives the rate from the request.
fn ends_held(
    attempts: Fact<'_>,
    windows: Windows,
    rate: impl Fn(Option<f32>) -> CpuRate,
) -> Option<EndSums> {
    let mut all = EndSums::default();
    let times = attempts.ints("start_us").iter().zip(attempts.maybe_ints("end_us"));
    let more = attempts.maybe_ints("ended_by").zip(attempts.maybe_singles("cpu_request"));
    for ((&start_us, end_us), (ended_by, request)) in times.zip(more) {
        let ended_by = match ended_by {
            Some(code) => EndedBy::Event(EventType::of(code)?),
            None if end_us.is_some() => EndedBy::Job,
            None => EndedBy::Nothing,
        };
        let end_us = end_us.unwrap_or(windows.task_end_us).max(start_us);
        all.add(ended_by, rate(request).over(end_us - start_us));
    }
    Some(all)
}

/// Amounts that attempts used, by how they ended; 0 for an attempt without usage windows.
fn ends_measured(attempts: Fact<'_>) -> EndSums {
    let mut all = EndSums::default();
    for (end, used) in attempts.texts("ended").zip(attempts.maybe_floats("measured_s")) {
        let used = used.map_or(CpuTime::ZERO, CpuTime::from_seconds);
        all.add_named(end.unwrap_or_default(), used);
    }
    all
}

/// Counts the restarts (attempts after the first of their task), and those that follow an eviction.
fn add_restarts(study: &mut Study, attempts: Fact<'_>) {
    let tasks = attempts.ints("job_id").iter().zip(attempts.ints("task_index"));
    let keys = tasks.zip(attempts.ints("attempt")).map(|((&job, &task), &at)| (job, task, at));
    let all: FxHashSet<(i64, i64, i64)> = keys.clone().collect();
    study.restarts = all.iter().filter(|key| 1 < key.2).count() as u64;
    let evicted = keys.zip(attempts.maybe_ints("ended_by")).filter(|(key, ended_by)| {
        *ended_by == Some(EventType::Evict as i64) && all.contains(&(key.0, key.1, key.2 + 1))
    });
    study.restarts_after_eviction = evicted.count() as u64;
}

/// Adds what each threshold would have done.
fn add_kills(
    rows: &mut JobRows<'_>,
    facts: &Facts,
    asked: &Asked,
    spent: &FxHashMap<(i64, i64), CpuTime>,
    finishes: &FxHashMap<(i64, i64), i64>,
) {
    let (query, column) = match asked.meter {
        Meter::Cpu(CpuDefinition::Slots | CpuDefinition::GpuSlots) => ("q09", "saved_slots_s"),
        Meter::Cpu(CpuDefinition::Requested) => ("q09", "saved_requested_s"),
        Meter::Cpu(CpuDefinition::Measured | CpuDefinition::Published) => {
            ("q12", "saved_measured_s")
        }
        Meter::Memory(_) => unreachable!("no query has the memory that a kill saves"),
    };
    let keys = |fact: Fact<'_>| -> Vec<(i64, i64, i64)> {
        let tasks = fact.ints("job_id").iter().zip(fact.ints("task_index"));
        tasks.zip(fact.ints("threshold")).map(|((&job, &task), &t)| (job, task, t)).collect()
    };
    let after = facts.of(query);
    let saved: FxHashMap<(i64, i64, i64), CpuTime> = keys(after)
        .into_iter()
        .zip(after.floats(column).iter().copied().map(CpuTime::from_seconds))
        .collect();
    let crossings = facts.of("q08");
    for ((job, task, threshold), &at_us) in
        keys(crossings).into_iter().zip(crossings.ints("condemned_us"))
    {
        let is_at_end = finishes.get(&(job, task)).is_some_and(|&finish_us| finish_us <= at_us);
        if is_at_end && asked.spares_finished {
            continue;
        }
        let total = spent.get(&(job, task)).copied().unwrap_or_default();
        let saved = saved.get(&(job, task, threshold)).copied().unwrap_or_default();
        let row = rows.of(job);
        row.kills.resize_with(asked.rules.len(), Vec::new);
        for (rule, steps) in asked.rules.iter().zip(&mut row.kills) {
            let Ok(place) = rule.grid.binary_search(&threshold) else { continue };
            steps.resize_with(steps.len().max(place + 1), KillStep::default);
            steps[place].tasks += 1;
            steps[place].at_end += u64::from(is_at_end);
            steps[place].saved += saved;
            steps[place].spent += total - saved;
        }
    }
}

/// The queries with the facts that [`samples`] needs.
pub fn queries_of_samples(lake: &Lake, what: What, split: Split) -> Vec<&'static str> {
    let mut needed = Vec::new();
    if lake.has(Table::JobEvents) {
        needed.push("q01");
    }
    if what.tables(split.group_by).contains(&Table::TaskEvents) {
        needed.push("q02");
    }
    if what == What::Attempts {
        needed.push("q03");
    }
    needed
}

/// Samples from the facts of [`queries_of_samples`].
pub fn samples(facts: &Facts, windows: Windows, what: What, split: Split) -> Samples {
    let jobs = if facts.has("q01") { Jobs::of_facts(facts.of("q01")) } else { Jobs::default() };
    let mut collector = Collector::new(&jobs, windows, split);
    let mut sizes: FxHashMap<i64, JobSize> = FxHashMap::default();
    let mut left_out = 0;
    if facts.has("q02") {
        let attempts =
            if facts.has("q03") { counts_of(facts.of("q03")) } else { FxHashMap::default() };
        for task in TaskFact::all(facts.of("q02")) {
            let begun = Edges {
                is_left_censored: windows.has_begun_before(task.first_event_us),
                is_cut_before: windows.has_begun_before(task.first_event_us),
                is_censored: task.is_open,
                is_unstarted: false,
            };
            let size = sizes.entry(task.job_id).or_default();
            size.tasks += 1;
            size.priority = size.priority.max(task.priority);
            size.is_before |= begun.is_left_censored;
            let (amount, edges) = match what {
                What::JobDurations | What::JobSurvival | What::TasksPerJob => continue,
                What::Waiting => {
                    let Some(wait) = task.wait else {
                        let is_before =
                            task.submit_us.is_some_and(|at_us| windows.is_before(at_us));
                        left_out += u64::from(is_before);
                        continue;
                    };
                    (wait.span_us, edges_of(wait))
                }
                What::Attempts => {
                    (attempts.get(&(task.job_id, task.task_index)).copied().unwrap_or(0), begun)
                }
                What::EventsPerTask | What::FinishGivenEvents => (task.events, begun),
                What::Estimates => unreachable!("no query has requested times"),
            };
            let own = (task.own_end, Value::new(amount, edges));
            collector.push_task(what, (task.job_id, task.priority), own);
        }
    }
    match what {
        What::JobDurations | What::JobSurvival => collector.durations(&sizes),
        What::TasksPerJob => collector.sizes(&sizes),
        _ => {}
    }
    collector.finish(left_out)
}

/// The number of attempts of each task.
fn counts_of(attempts: Fact<'_>) -> FxHashMap<(i64, i64), i64> {
    let mut counts: FxHashMap<(i64, i64), i64> = FxHashMap::default();
    for (&job, &task) in attempts.ints("job_id").iter().zip(attempts.ints("task_index")) {
        *counts.entry((job, task)).or_default() += 1;
    }
    counts
}

/// A row of `q02`.
struct TaskFact {
    job_id: i64,
    task_index: i64,
    priority: Option<i32>,
    events: i64,
    first_event_us: i64,
    submit_us: Option<i64>,
    is_open: bool,
    /// The outcome by the last event of the task.
    own_end: u8,
    /// When the task finished, if it did.
    finish_us: Option<i64>,
    wait: Option<Wait>,
}

impl TaskFact {
    fn all(fact: Fact<'_>) -> impl Iterator<Item = Self> {
        let (jobs, tasks) = (fact.ints("job_id"), fact.ints("task_index"));
        let firsts = fact.ints("first_event_us");
        let submits = fact.maybe_ints("first_submit_us");
        let finishes = fact.texts("outcome_terminal").zip(fact.maybe_ints("ended_us"));
        let waits = fact.maybe_ints("wait_us").zip(fact.texts("wait_end"));
        let known = fact.maybe_ints("priority").zip(submits).zip(finishes).zip(waits);
        known.zip(fact.flags("is_open")).enumerate().map(
            move |(row, ((((priority, submit_us), (outcome, ended_us)), wait), is_open))| Self {
                job_id: jobs[row],
                task_index: tasks[row],
                // In logs without priorities the fold uses 0.
                priority: Some(priority.map_or(0, |priority| i32::try_from(priority).unwrap_or(0))),
                events: fact.ints("event_count")[row],
                first_event_us: firsts[row],
                submit_us,
                is_open: is_open.unwrap_or(true),
                own_end: terminal_of_name(outcome),
                finish_us: ended_us
                    .filter(|&at_us| outcome == Some("finished") && at_us < i64::MAX),
                wait: wait
                    .0
                    .zip(wait.1.and_then(WaitEnd::of_name))
                    .map(|(span_us, end)| Wait { span_us, end }),
            },
        )
    }
}

//! The studies from facts instead of from the lake: the road of `--engine polars` and `spark`.
//!
//! In: answers of the queries, whoever computed them. Out: the same [`Study`] and [`Samples`] as
//! the folds give, so that everything after them is the same code. Sums are of CPU-seconds rounded
//! per task, where the folds add exact amounts: they agree to about 15 digits. Of the kill rules
//! only that of events has a query.

use rustc_hash::FxHashMap;

use super::counted::{Edges, Value};
use super::fold::{Asked, JobRow, KillStep, Study, republish, row_of};
use super::ledger::CpuDefinition;
use super::rules::{Rule, RuleGrid};
use super::samples::{Collector, JobSize, Samples, Split, What};
use crate::facts::events::is_terminal;
use crate::facts::jobs::Jobs;
use crate::facts::tables::{Fact, Facts};
use crate::facts::task_values::{Wait, wait_between};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::units::CpuTime;

/// Whether the facts tell what a rule does: that of events, whoever the task belongs to.
pub fn can_tell(rule: &RuleGrid) -> bool {
    rule.rule == Rule::Events && rule.and.is_empty() && rule.spare.is_empty()
}

/// The queries whose facts [`study`] needs.
pub fn queries_of_study(lake: &Lake, asked: &Asked) -> Vec<&'static str> {
    let mut needed = Vec::new();
    if lake.has(Table::JobEvents) {
        needed.push("q01");
    }
    let sweeps = !asked.rules.is_empty();
    if asked.cpu != CpuDefinition::Published || sweeps || lake.has(Table::TaskEvents) {
        needed.extend(["q02", "q03", "q05"]);
    }
    if asked.cpu.needs_usage() {
        needed.push("q07");
    }
    if asked.cpu == CpuDefinition::Published {
        needed.push("q11");
    }
    if sweeps {
        needed.push("q08");
        needed.push(if asked.cpu.needs_usage() { "q12" } else { "q09" });
    }
    needed
}

/// A study of the facts of [`queries_of_study`]; its rules are such as [`can_tell`] allows, and
/// their grids the thresholds of the queries.
pub fn study(facts: &Facts, lake: &Lake, windows: Windows, asked: &Asked) -> Study {
    let known = if facts.has("q01") { Jobs::of_facts(facts.of("q01")) } else { Jobs::default() };
    let mut study = Study::new(lake.source(), asked);
    let mut rows = JobRows {
        all: known.jobs.iter().map(|job| row_of(job, &known, asked.classes)).collect(),
        known: &known,
        unknown: FxHashMap::default(),
        unmatched: asked.classes.outcomes().len(),
    };
    let spent = spent_of(facts, asked.cpu);
    if facts.has("q02") {
        for task in TaskFact::all(facts.of("q02"), None) {
            let row = rows.of(task.job_id);
            row.task_count += 1;
            row.priority = row.priority.max(task.priority);
            row.cpu += spent.get(&(task.job_id, task.task_index)).copied().unwrap_or_default();
        }
        add_attempts(&mut study, facts, windows);
    }
    if facts.has("q08") {
        add_kills(&mut rows, facts, asked, &spent);
    }
    if facts.has("q07") {
        let usage = facts.of("q07");
        study.outside = usage.floats("outside_s").iter().copied().map(CpuTime::from_seconds).sum();
        let sum = |name: &str| usage.ints(name).iter().sum::<i64>().cast_unsigned();
        study.usage.windows = sum("window_count");
        study.usage.without_rate = sum("windows_without_rate");
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

/// A row per job, those that `job_events` does not know behind the others.
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

/// CPU of each task inside its attempts.
fn spent_of(facts: &Facts, cpu: CpuDefinition) -> FxHashMap<(i64, i64), CpuTime> {
    let (query, column) = match cpu {
        CpuDefinition::Slots => ("q05", "slots_s"),
        CpuDefinition::Requested => ("q05", "requested_s"),
        CpuDefinition::Measured | CpuDefinition::Published => ("q07", "measured_s"),
    };
    let fact = facts.of(query);
    let tasks = fact.ints("job_id").iter().copied().zip(fact.ints("task_index").iter().copied());
    tasks.zip(fact.floats(column).iter().copied().map(CpuTime::from_seconds)).collect()
}

fn add_attempts(study: &mut Study, facts: &Facts, windows: Windows) {
    let held = facts.of("q05");
    let sum = |name: &str| held.ints(name).iter().sum::<i64>().cast_unsigned();
    study.attempts = sum("attempt_count");
    study.attempts_without_request = sum("attempts_without_request");
    study.closed_with_job.attempts = sum("attempts_closed_with_job");
    let (query, column) = match study.asked.cpu {
        CpuDefinition::Slots => ("q05", "closed_slots_s"),
        CpuDefinition::Requested => ("q05", "closed_requested_s"),
        CpuDefinition::Measured | CpuDefinition::Published => ("q07", "closed_measured_s"),
    };
    let closed = facts.of(query).floats(column).iter().copied();
    study.closed_with_job.cpu = closed.map(CpuTime::from_seconds).sum();
    let attempts = facts.of("q03");
    let ends = attempts.maybe_ints("end_us");
    for (&start_us, end_us) in attempts.ints("start_us").iter().zip(ends) {
        if start_us < i64::MAX {
            study.attempt_edges.add(windows.is_before(start_us), end_us.is_none());
        }
    }
}

/// What each threshold would have done.
fn add_kills(
    rows: &mut JobRows<'_>,
    facts: &Facts,
    asked: &Asked,
    spent: &FxHashMap<(i64, i64), CpuTime>,
) {
    let (query, column) = match asked.cpu {
        CpuDefinition::Slots => ("q09", "saved_slots_s"),
        CpuDefinition::Requested => ("q09", "saved_requested_s"),
        CpuDefinition::Measured | CpuDefinition::Published => ("q12", "saved_measured_s"),
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
    for (job, task, threshold) in keys(facts.of("q08")) {
        let total = spent.get(&(job, task)).copied().unwrap_or_default();
        let saved = saved.get(&(job, task, threshold)).copied().unwrap_or_default();
        let row = rows.of(job);
        row.kills.resize_with(asked.rules.len(), Vec::new);
        for (rule, steps) in asked.rules.iter().zip(&mut row.kills) {
            let Ok(place) = rule.grid.binary_search(&threshold) else { continue };
            steps.resize_with(steps.len().max(place + 1), KillStep::default);
            steps[place].tasks += 1;
            steps[place].saved += saved;
            steps[place].spent += total - saved;
        }
    }
}

/// The queries whose facts [`samples`] needs.
pub fn queries_of_samples(lake: &Lake, what: What, split: Split) -> Vec<&'static str> {
    let mut needed = Vec::new();
    if lake.has(Table::JobEvents) {
        needed.push("q01");
    }
    if what.tables(split.group_by).contains(&Table::TaskEvents) {
        needed.push("q02");
    }
    if matches!(what, What::Waiting | What::Attempts) {
        needed.push("q03");
    }
    needed
}

/// The same from the facts of [`queries_of_samples`].
pub fn samples(facts: &Facts, windows: Windows, what: What, split: Split) -> Samples {
    let jobs = if facts.has("q01") { Jobs::of_facts(facts.of("q01")) } else { Jobs::default() };
    let mut collector = Collector::new(&jobs, windows, split);
    let mut sizes: FxHashMap<i64, JobSize> = FxHashMap::default();
    let mut left_out = 0;
    if facts.has("q02") {
        let attempts = facts.has("q03").then(|| starts_of(facts.of("q03")));
        for task in TaskFact::all(facts.of("q02"), attempts.as_ref()) {
            let begun = Edges {
                is_left_censored: windows.is_before(task.first_event_us),
                is_censored: false,
            };
            let size = sizes.entry(task.job_id).or_default();
            size.tasks += 1;
            size.priority = size.priority.max(task.priority);
            size.is_before |= begun.is_left_censored;
            let whole = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
            let (amount, edges) = match what {
                What::JobDurations | What::JobSurvival | What::TasksPerJob => continue,
                What::Waiting => {
                    let Some(Wait { span_us, is_censored }) = task.wait(windows) else {
                        let is_before =
                            task.submit_us.is_some_and(|at_us| windows.is_before(at_us));
                        left_out += u64::from(is_before);
                        continue;
                    };
                    (span_us, Edges { is_left_censored: false, is_censored })
                }
                What::Attempts => (whole(task.starts.len()), begun),
                What::EventsPerTask | What::FinishGivenEvents => (task.events, begun),
            };
            let job = jobs.find(task.job_id).map(|position| &jobs.jobs[position]);
            collector.push(job, task.priority, Value::new(amount, edges));
        }
    }
    match what {
        What::JobDurations | What::JobSurvival => collector.durations(&sizes),
        What::TasksPerJob => collector.sizes(&sizes),
        _ => {}
    }
    collector.finish(left_out)
}

/// When the attempts of each task began, in order.
fn starts_of(attempts: Fact<'_>) -> FxHashMap<(i64, i64), Vec<i64>> {
    let mut starts: FxHashMap<(i64, i64), Vec<i64>> = FxHashMap::default();
    let (jobs, tasks) = (attempts.ints("job_id"), attempts.ints("task_index"));
    for ((&job, &task), &start_us) in jobs.iter().zip(tasks).zip(attempts.ints("start_us")) {
        starts.entry((job, task)).or_default().push(start_us);
    }
    starts
}

/// A row of `q02` with its attempts.
struct TaskFact<'f> {
    job_id: i64,
    task_index: i64,
    priority: Option<i32>,
    sequence: &'f str,
    events: i64,
    first_event_us: i64,
    last_event_us: i64,
    submit_us: Option<i64>,
    starts: &'f [i64],
}

impl<'f> TaskFact<'f> {
    fn all(
        fact: Fact<'f>,
        starts: Option<&'f FxHashMap<(i64, i64), Vec<i64>>>,
    ) -> impl Iterator<Item = Self> {
        let (jobs, tasks) = (fact.ints("job_id"), fact.ints("task_index"));
        let (firsts, lasts) = (fact.ints("first_event_us"), fact.ints("last_event_us"));
        let known = fact.texts("sequence").zip(fact.maybe_ints("priority"));
        known.zip(fact.maybe_ints("first_submit_us")).enumerate().map(
            move |(row, ((sequence, priority), submit_us))| Self {
                job_id: jobs[row],
                task_index: tasks[row],
                // As the fold takes it where the log has none.
                priority: Some(priority.map_or(0, |priority| i32::try_from(priority).unwrap_or(0))),
                sequence: sequence.unwrap_or_default(),
                events: fact.ints("event_count")[row],
                first_event_us: firsts[row],
                last_event_us: lasts[row],
                submit_us,
                starts: starts
                    .and_then(|starts| starts.get(&(jobs[row], tasks[row])))
                    .map_or(&[][..], Vec::as_slice),
            },
        )
    }

    /// As `wait_of` has it: each SCHEDULE of the sequence is an attempt.
    fn wait(&self, windows: Windows) -> Option<Wait> {
        let submit_us = self.submit_us?;
        let before = self.sequence.bytes().take_while(|&digit| digit != b'0');
        let earlier = before.filter(|&digit| digit == b'1').count();
        let ended = self.sequence.bytes().last().is_some_and(|digit| is_terminal(digit - b'0'));
        let end_us = ended.then_some(self.last_event_us);
        wait_between(submit_us, self.starts.get(earlier).copied(), end_us, windows)
    }
}

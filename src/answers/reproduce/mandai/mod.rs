//! `jobfate reproduce mandai`: the study of 2017 compared with ours, number by number.
//!
//! In: a lake of the trace of 2011 with any parts. Out: one claim for each number and sentence of
//! the paper, and its figures with the paper's readable values as marks. Numbers from incomplete
//! tables are shown next to the paper's, and never called reproduced.

use serde_json::{Map, json};

use crate::answers::classify::{self, By};
use crate::answers::describe::{Described, Question, describe};
use crate::answers::reproduce::study::Study;
use crate::answers::{account, sweep};
use crate::charts::Chart;
use crate::claims::{Claim, Parameter, Settled, Side};
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::store::Origin;
use crate::schema::{Source, Table};
use crate::studies::checks::is_whole;
use crate::studies::counted::{Counted, Value as Amount};
use crate::studies::distributions::Summary;
use crate::studies::fold::{Asked, fold};
use crate::studies::kill_sweep::{self, Sweep};
use crate::studies::ledger::{CpuDefinition, Ledger, ledger};
use crate::studies::mandai::{Basis, MEMORY_NOT_PRINTED, Place};
use crate::studies::meter::{MemoryDefinition, Meter};
use crate::studies::outcomes::{Classes, Classification, OutcomeRow};
use crate::studies::resubmitted::{LongTasks, long_tasks};
use crate::studies::rules::{Rule, RuleGrid};
use crate::studies::samples::What;

mod figures;

/// The paper, as its claims name it.
pub const PAPER: &str = "Mandai, Kawahara and Kasahara (2017)";

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// The claims, charts and notes so far.
#[derive(Default)]
struct Found {
    claims: Vec<Claim>,
    charts: Vec<(String, Chart)>,
    notes: Vec<String>,
}

/// Compares the study of 2017 with a lake.
///
/// # Errors
/// The lake is of another trace, or a table cannot be read.
pub fn study(lake: &Lake, windows: Windows) -> Result<Study> {
    if lake.source() != Source::Google2011 {
        let source = lake.source();
        return Err(Usage(format!(
            "the study needs a lake of google-2011, and this one is of {source}"
        ))
        .into());
    }
    let mut found = Found::default();
    jobs(lake, windows, &mut found)?;
    sizes(lake, windows, &mut found)?;
    events(lake, windows, &mut found)?;
    cpu(lake, windows, &mut found)?;
    Ok(Study {
        name: "mandai",
        paper: PAPER,
        claims: found.claims,
        parameters: parameters(windows),
        figures: json!([]),
        settings: Map::from_iter([("windows".to_owned(), json!(windows))]),
        charts: found.charts,
        tables: Vec::new(),
        origin: Origin::of(lake),
        notes: found.notes,
    })
}

/// The parameters that the paper gives, and those that it leaves open.
fn parameters(windows: Windows) -> Vec<Parameter> {
    let of = |key, value: &str, settled, about| Parameter {
        key,
        value: value.to_owned(),
        settled,
        about,
    };
    let end_s = crate::units::micros_to_seconds(windows.job_end_us);
    vec![
        of("thresholds", "10..=400:10", Settled::Given, "values of T, events of a task"),
        of("classes", "sequence", Settled::Given, "how the outcome of a job is defined"),
        of(
            "cpu",
            "published",
            Settled::Given,
            "duration of a job times mean CPU rate times mean capacity of its machines",
        ),
        of(
            "share_base",
            "672,032 jobs",
            Settled::Open,
            "base of the percentages of table 3.1.1: all jobs that are not `other`, the only base \
             that gives all printed digits",
        ),
        of(
            "task_outcome",
            "of the job; of the task's own last event",
            Settled::Open,
            "which tasks of section 4.1 are failed, killed or finished: both are shown",
        ),
        of(
            "window_end",
            &format!("{end_s} s"),
            Settled::Open,
            "end of the trace, at which jobs that still run are closed (--window-end, in days)",
        ),
    ]
}

/// Whether numbers from these tables are those of the whole trace, of a part, or missing.
pub(super) fn basis(lake: &Lake, tables: &[Table]) -> Basis {
    if let Some(missing) = tables.iter().find(|table| !lake.has(**table)) {
        return Basis::Missing(format!("table {missing}"));
    }
    if !lake.manifest.origin.is_original() {
        return Basis::Partial("a synthetic or sampled trace".to_owned());
    }
    match tables.iter().find(|table| !is_whole(lake, **table)) {
        None => Basis::Whole,
        Some(table) => {
            let parts = lake
                .manifest
                .table(*table)
                .map(crate::lake::TableEntry::part_ranges)
                .unwrap_or_default();
            Basis::Partial(format!("{table} parts {parts}"))
        }
    }
}

/// The distribution that answers a question; `None` without its table.
fn described(
    lake: &Lake,
    windows: Windows,
    question: Question,
    table: Table,
) -> Result<Option<Described>> {
    lake.has(table).then(|| describe(lake, windows, question)).transpose()
}

/// A statistic of the values of an outcome.
fn value_of(
    described: Option<&Described>,
    outcome: &str,
    value: fn(&Summary) -> Option<f64>,
) -> Option<f64> {
    described?.summary(outcome).as_ref().and_then(value)
}

/// Table 3.1.1, figures 3.1.1 and 3.2.1, and section 4.1 about jobs.
fn jobs(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let basis = basis(lake, &[Table::JobEvents]);
    let counted = lake
        .has(Table::JobEvents)
        .then(|| classify::classification(lake, windows, By::Job, Classes::Sequence, None))
        .transpose()?;
    outcomes(&basis, counted.as_ref(), found);
    let question = Question::plain(What::JobDurations);
    let described = described(lake, windows, question, Table::JobEvents)?;
    let of = |outcome: &str, value| value_of(described.as_ref(), outcome, value);
    let minutes = |value: Option<f64>| value.map(|seconds| seconds / 60.0);
    let place = Place { name: "section 3.1, figure 3.1.1", basis: &basis };
    let days = of("all", |row| row.max).map(|seconds| seconds / DAY_S);
    found.claims.extend([
        place.number(
            "mean duration of a job, min",
            (255.0, 1.0),
            minutes(of("all", |row| row.mean)),
        ),
        place.number(
            "median duration of a job, min",
            (3.0, 1.0),
            minutes(of("all", |row| row.median)),
        ),
        place.number("variance of the duration, s²", (2.83e10, 1e8), of("all", |row| row.variance)),
        place.number("shortest duration, s", (0.001, 0.001), of("all", |row| row.min)),
        place.bound("longest duration, days (29 or more)", Side::AtLeast, 29.0, days),
    ]);
    let longer = |outcome| {
        of(outcome, |row| row.p90)
            .zip(of("finished", |row| row.p90))
            .map(|(one, other)| one - other)
    };
    let place = Place { name: "section 3.2, figure 3.2.1", basis: &basis };
    found.claims.push(place.direction(
        "failed, killed jobs last longer than finished (p90, s)",
        &[("failed", longer("failed")), ("killed", longer("killed"))],
    ));
    let place = Place { name: "section 4.1", basis: &basis };
    found.claims.push(place.bound(
        "jobs with at most 3 events, %, are over 99",
        Side::AtLeast,
        99.0,
        counted.as_ref().map(share_of_short_sequences),
    ));
    found.charts.extend(described.iter().flat_map(figures::durations));
    Ok(())
}

/// Table 3.1.1.
fn outcomes(basis: &Basis, counted: Option<&Classification>, found: &mut Found) {
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    let count_of = |outcome: &str| {
        let row = counted?.rows.iter().find(|row| row.outcome == outcome)?;
        Some(row.count as f64)
    };
    let paper = [
        ("finished", 385_581.0, 57.375),
        ("failed", 10_124.0, 1.506),
        ("killed", 272_341.0, 40.525),
        ("running", 3_986.0, 0.593),
        ("other", 42.0, 0.006),
    ];
    let named: Option<f64> = paper[..4].iter().map(|(outcome, ..)| count_of(outcome)).sum();
    let place = Place { name: "table 3.1.1", basis };
    for (outcome, count, share) in paper {
        let ours = count_of(outcome);
        found.claims.push(place.number(&format!("{outcome} jobs"), (count, 1.0), ours));
        // The paper's base is the 672,032 jobs that are not `other`; no other base gives its digits.
        let of_named = ours.zip(named).map(|(ours, named)| ours / named * 100.0);
        let claim = format!("{outcome} jobs, % of the 672,032 that are not `other`");
        found.claims.push(place.number(&claim, (share, 0.001), of_named));
    }
}

/// Jobs whose sequence has at most three events, %.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn share_of_short_sequences(counted: &Classification) -> f64 {
    let is_short = |row: &&OutcomeRow| row.sequence.as_ref().is_some_and(|one| one.len() <= 3);
    let short: u64 = counted.sequences.iter().filter(is_short).map(|row| row.count).sum();
    short as f64 / counted.total.max(1) as f64 * 100.0
}

/// Figures 3.1.2 and 3.2.2.
fn sizes(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let basis = basis(lake, &[Table::TaskEvents]);
    let question = Question::plain(What::TasksPerJob);
    let described = described(lake, windows, question, Table::TaskEvents)?;
    let of = |outcome: &str, value| value_of(described.as_ref(), outcome, value);
    let place = Place { name: "section 3.1, figure 3.1.2", basis: &basis };
    found.claims.extend([
        place.number("mean tasks of a job", (37.9, 0.1), of("all", |row| row.mean)),
        place.number(
            "variance of the tasks of a job",
            (1.07e6, 1e4),
            of("all", |row| row.variance),
        ),
        place.number("most tasks of a job", (90_050.0, 1.0), of("all", |row| row.max)),
        place.number("75 % of jobs have at most, tasks", (1.0, 1.0), of("all", |row| row.p75)),
    ]);
    let more = |outcome| {
        of(outcome, |row| row.mean)
            .zip(of("finished", |row| row.mean))
            .map(|(one, other)| one - other)
    };
    let place = Place { name: "section 3.2, figure 3.2.2", basis: &basis };
    found.claims.push(place.direction(
        "failed, killed jobs have more tasks than finished (mean)",
        &[("failed", more("failed")), ("killed", more("killed"))],
    ));
    found.charts.extend(described.iter().flat_map(figures::sizes));
    Ok(())
}

/// Figure 4.1.1, by the outcome of the job and by the end of the task itself.
fn events(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let basis = basis(lake, &[Table::TaskEvents]);
    let question = Question::plain(What::EventsPerTask);
    let by_job = described(lake, windows, question, Table::TaskEvents)?;
    let by_own = described(lake, windows, question.by_own_end(), Table::TaskEvents)?;
    let place = Place { name: "section 4.1, figure 4.1.1", basis: &basis };
    let share = |described: &Option<Described>, outcomes: &[&str]| {
        let values = outcomes.iter().filter_map(|outcome| described.as_ref()?.values(outcome));
        above_3(&values.cloned().fold(Counted::default(), Counted::merge))
    };
    found.claims.extend([
        place.bound(
            "tasks of failed, killed jobs over 3 events, % (20 or more)",
            Side::AtLeast,
            20.0,
            share(&by_job, &["failed", "killed"]),
        ),
        place.bound(
            "failed, killed tasks (own end) over 3 events, % (20 or more)",
            Side::AtLeast,
            20.0,
            share(&by_own, &["failed", "killed"]),
        ),
        place.bound(
            "tasks of finished jobs over 3 events, % (under half)",
            Side::AtMost,
            50.0,
            share(&by_job, &["finished"]),
        ),
        place.bound(
            "finished tasks (own end) over 3 events, % (under half)",
            Side::AtMost,
            50.0,
            share(&by_own, &["finished"]),
        ),
    ]);
    let long = lake.has(Table::TaskEvents).then(|| long_tasks(lake, windows)).transpose()?;
    let (by_job_end, by_own_end) = long.map(|long| (long.by_job, long.by_own_end)).unzip();
    for (whose, long) in [("of failed, killed jobs", by_job_end), ("by own end", by_own_end)] {
        let claim = format!("tasks over 3 events ({whose}) resubmitted, % (over half)");
        let again = long.and_then(LongTasks::again_percent);
        found.claims.push(place.bound(&claim, Side::AtLeast, 50.0, again));
    }
    let longest = value_of(by_job.as_ref(), "finished", |row| row.max);
    let place = Place { name: "section 4.2", basis: &basis };
    let claim = "longest sequence of a task in a finished job";
    found.claims.push(place.number(claim, (280.0, 1.0), longest));
    found.charts.extend(by_job.iter().map(|one| figures::events(one, "figure-4.1.1")));
    found.charts.extend(by_own.iter().map(|one| figures::events(one, "figure-4.1.1-own-end")));
    Ok(())
}

/// Tasks with over three events, %.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn above_3(values: &Counted) -> Option<f64> {
    let count = values.count(|_| true);
    let long = values.count(|events: Amount| 3 < events.amount());
    (0 < count).then(|| long as f64 / count as f64 * 100.0)
}

/// Table 3.1.2, memory per outcome, and figures 4.2.1 and 4.2.2.
fn cpu(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let tables = [Table::JobEvents, Table::TaskEvents, Table::TaskUsage, Table::MachineEvents];
    let basis = basis(lake, &tables);
    let has_usage = !matches!(basis, Basis::Missing(_));
    // Without usage, the curves are drawn for slots and not compared with the paper.
    let cpu = if has_usage { CpuDefinition::Published } else { CpuDefinition::Slots };
    let rules = vec![RuleGrid::new(Rule::Events, Rule::Events.default_grid())];
    let asked = Asked { meter: Meter::Cpu(cpu), rules, ..Asked::default() };
    let study = if lake.has(Table::TaskEvents) && lake.has(Table::JobEvents) {
        Some(fold(lake, windows, &asked)?)
    } else {
        let why = "skipped: figures 4.2.1 and 4.2.2, which need job_events and task_events";
        found.notes.push(why.to_owned());
        None
    };
    let book = study.as_ref().map(ledger);
    cpu_shares(&basis, book.as_ref().filter(|_| has_usage), found);
    memory(lake, windows, found)?;
    let swept = study.as_ref().map(|study| kill_sweep::sweep(study, 0));
    sweep(lake, &basis, swept.as_ref(), found);
    if let (Some(study), Some(book), Some(swept)) = (&study, &book, &swept) {
        let bars = figures::with_published_shares(account::chart(book, &[]));
        found.charts.push((format!("table-3.1.2-{cpu}"), bars));
        let charts = sweep::charts::charts(study, std::slice::from_ref(swept));
        let caption = charts.first().map_or("", |(_, chart)| chart.caption()).to_owned();
        found.charts.extend(figures::of_sweep(sweep::charts::of_paper(study, swept), &caption));
        found.charts.extend(charts);
    }
    Ok(())
}

/// The share of an outcome in a ledger, %; `None` if it is unknown.
fn share_of(book: Option<&Ledger>, outcome: &str) -> Option<f64> {
    let row = book?.rows.iter().find(|row| row.outcome == outcome)?;
    row.share.map(|share| share * 100.0)
}

/// Table 3.1.2, and the sentence about it.
fn cpu_shares(basis: &Basis, book: Option<&Ledger>, found: &mut Found) {
    let place = Place { name: "table 3.1.2", basis };
    for (outcome, paper) in figures::CPU_SHARES {
        let claim = format!("CPU time of {outcome} jobs, %");
        found.claims.push(place.number(&claim, (paper, 0.001), share_of(book, outcome)));
    }
    let both = share_of(book, "failed").zip(share_of(book, "killed"));
    let both = both.map(|(one, other)| one + other);
    found.claims.push(place.number("CPU time of failed and killed jobs, %", (44.0, 1.0), both));
}

/// Memory per outcome, which section 3.1 announces: measured if the lake has usage, otherwise
/// requested.
fn memory(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let memory = MemoryDefinition::usual(lake);
    let asked = Asked { meter: Meter::Memory(memory), ..Asked::default() };
    let book = lake
        .has(Table::TaskEvents)
        .then(|| fold(lake, windows, &asked).map(|study| ledger(&study)))
        .transpose()?;
    let why = format!("{MEMORY_NOT_PRINTED}; ours is {memory} memory x time");
    for (outcome, _) in figures::CPU_SHARES {
        let claim = format!("memory of {outcome} jobs, % (announced)");
        let ours = share_of(book.as_ref(), outcome);
        let claim = Claim::without("section 3.1", &claim, None, &why);
        found.claims.push(Claim { ours, ..claim });
    }
    let chart = book.as_ref().map(|book| account::chart(book, &[]));
    found.charts.extend(chart.map(|chart| (format!("memory-{memory}"), chart)));
    Ok(())
}

/// Figures 4.2.1 and 4.2.2.
fn sweep(lake: &Lake, basis: &Basis, swept: Option<&Sweep>, found: &mut Found) {
    let has_usage = !matches!(basis, Basis::Missing(_));
    let harm_basis = self::basis(lake, &[Table::JobEvents, Table::TaskEvents]);
    let saved = Place { name: "section 4.2, figure 4.2.1", basis };
    let harmed = Place { name: "section 4.2, figure 4.2.2", basis: &harm_basis };
    for (threshold, failed, killed, harmed_jobs, digit) in
        [(10, 89.0, 15.0, 246.0, 1.0), (300, 36.0, 0.1, 0.0, 0.1)]
    {
        let row = swept.and_then(|swept| swept.rows.iter().find(|row| row.threshold == threshold));
        let share = |outcome: &str| {
            let share: Option<f64> = row.and_then(|row| row.saved_share.get(outcome));
            share.filter(|_| has_usage).map(|share| share * 100.0)
        };
        let at = |claim: &str| format!("T = {threshold}: {claim}");
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
        let ours = row.and_then(|row| Some(row.harmed_jobs? as f64));
        found.claims.extend([
            saved.number(&at("CPU time saved of failed jobs, %"), (failed, 1.0), share("failed")),
            saved.number(&at("CPU time saved of killed jobs, %"), (killed, digit), share("killed")),
            harmed.number(&at("harmed finished jobs"), (harmed_jobs, 1.0), ours),
        ]);
    }
}

//! The answer of `account`: a ledger as table, JSON and bars.
//!
//! In: a ledger. Out: its rows, the line that shows that it closes, and what was counted as 0.

use arrow::record_batch::RecordBatch;
use serde_json::json;

use crate::answers::edges;
use crate::answers::sentences::{self, Ends};
use crate::answers::spread::Errand;
use crate::answers::study::{Step, Verdict, Work, settings};
use crate::charts::{Bar, BarChart, Chart, outcome_tone};
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::results::envelope::Envelope;
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::rows::TableRows;
use crate::results::shares::{Share, Terms, share};
use crate::results::store::Answer;
use crate::schema::Table;
use crate::studies::ledger::{CpuDefinition, GroupBy, Ledger, UNKNOWN, ledger};
use crate::studies::meter::{MemoryDefinition, Meter, Resource};
use crate::studies::outcomes::Classes;

mod answer;
mod plan;

pub use answer::AccountAnswer;
pub use plan::{AccountPlan, CpuChoice};

/// The shares that a ledger gives.
pub const SHARES: [Share; 2] = [
    share(
        "share",
        "cpu (or memory) of the row",
        "total: outcomes, unmatched and outside_attempts together",
    ),
    share("largest_job_share", "largest cpu (or memory) of one job", "cpu (or memory) of the row"),
];

/// The answer in all its forms.
pub fn answer<'a>(
    plan: &AccountPlan,
    ledger: &Ledger,
    windows: Windows,
    table: &'a RecordBatch,
) -> Answer<'a> {
    Answer {
        kind: *kind_of(ledger.meter),
        table,
        json: json!(found(ledger, table)),
        settings: settings(
            plan,
            json!({
                ledger.meter.column(): ledger.meter.to_string(),
                "classes": ledger.classes, "windows": windows,
            }),
        ),
        charts: vec![(
            format!("{}-{}", kind_of(ledger.meter).name, ledger.meter),
            chart(ledger, &plan.groups()),
        )],
    }
}

/// The answer as it is stored; its rows are those of `table`.
pub(crate) fn found(ledger: &Ledger, table: &RecordBatch) -> AccountAnswer {
    let known = |sum: f64| ledger.is_known.then_some(sum);
    let closed = Some(ledger.closed_with_job_sum);
    let is_memory = ledger.meter.resource() == Resource::Memory;
    AccountAnswer {
        meter: ledger.meter,
        classes: ledger.classes,
        unit: ledger.unit.into(),
        rows: TableRows::of(table),
        unmatched: known(ledger.unmatched),
        outside_attempts: known(ledger.outside_attempts),
        total: known(ledger.total),
        windows: ledger.windows,
        windows_without_rate: ledger.windows_without_rate,
        windows_overlapping: ledger.windows_overlapping,
        attempts: ledger.attempts,
        attempts_without_request: ledger.attempts_without_request,
        attempts_closed_with_job: ledger.attempts_closed_with_job,
        attempts_with_cpu_time: ledger.attempts_with_cpu_time,
        censoring: ledger.censoring,
        resource: ledger.meter.resource(),
        closed_with_job_cpu: closed.filter(|_| !is_memory),
        closed_with_job_memory: closed.filter(|_| is_memory),
        terms: Terms::of(&SHARES),
        nothing: nothing(ledger).or_else(|| outcomes_unknown(ledger)),
    }
}

/// Why no outcome is known, if so: `job_events` has none of the jobs that used something.
fn outcomes_unknown(ledger: &Ledger) -> Option<String> {
    let is_unknown = ledger.rows.iter().all(|row| row.jobs.unwrap_or(0) == 0);
    (0.0 < ledger.total && is_unknown).then(|| {
        format!(
            "The outcome of the jobs that used {} {} ({}) is unknown: `job_events` does not \
            contain them.",
            digits::six_digits(ledger.total),
            ledger.unit,
            ledger.meter
        )
    })
}

fn unknown(ledger: &Ledger) -> String {
    unknown_of(ledger.meter, ledger.attempts)
}

/// Why nothing can be added up: the trace does not record the resource.
pub(crate) fn unknown_of(meter: Meter, attempts: u64) -> String {
    let (noun, what) = match meter.resource() {
        Resource::Cpu => ("CPU time", "CPUs or processors"),
        Resource::Memory => ("memory time", "memory"),
        Resource::Gpu => ("GPU time", "GPUs"),
    };
    format!(
        "The {noun} ({}) of all jobs is unknown: the log does not record the {what} of any of {}.",
        meter,
        digits::counted(attempts, "attempt")
    )
}

/// Why there is nothing to see, if so: the amounts are unknown, or nothing was used.
fn nothing(ledger: &Ledger) -> Option<String> {
    if !ledger.is_known {
        return Some(unknown(ledger));
    }
    if ledger.total != 0.0 {
        return None;
    }
    let mut jobs: Vec<(&str, u64)> = Vec::new();
    for row in &ledger.rows {
        let own = row.jobs.unwrap_or(0);
        match jobs.iter_mut().find(|(outcome, _)| *outcome == row.outcome) {
            Some((_, sum)) => *sum += own,
            None => jobs.push((&row.outcome, own)),
        }
    }
    let parts = jobs.iter().filter(|(_, count)| 0 < *count);
    let parts: Vec<String> =
        parts.map(|(outcome, count)| format!("{outcome} {}", digits::grouped(*count))).collect();
    let whose = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    let all = digits::counted(jobs.iter().map(|one| one.1).sum(), "job");
    let noun = ledger.meter.resource().noun();
    Some(format!("No {noun} ({}) was used by {all}{whose}.", ledger.meter))
}

/// The line that shows that the ledger closes: its parts and their total. If the amounts are
/// unknown, the reason.
pub fn closing_line(ledger: &Ledger) -> String {
    if !ledger.is_known {
        return unknown(ledger);
    }
    let outcomes: f64 = ledger.rows.iter().filter_map(|row| row.amount).sum();
    format!(
        "outcomes {} + unmatched {} + outside_attempts {} = total {} {}",
        digits::six_digits(outcomes),
        digits::six_digits(ledger.unmatched),
        digits::six_digits(ledger.outside_attempts),
        digits::six_digits(ledger.total),
        ledger.unit
    )
}

/// The line about what was counted as 0, twice, or by the CPU time of a log; `None` for `slots`.
pub fn counts_line(ledger: &Ledger) -> Option<String> {
    let requested = || {
        format!(
            "{} attempts: {} without a request, counted as 0",
            digits::grouped(ledger.attempts),
            digits::grouped(ledger.attempts_without_request)
        )
    };
    let windows = |what: &str| {
        format!(
            "{} usage windows: {} without a {what}, counted as 0; {} overlap an earlier one and count as well",
            digits::grouped(ledger.windows),
            digits::grouped(ledger.windows_without_rate),
            digits::grouped(ledger.windows_overlapping)
        )
    };
    match ledger.meter {
        Meter::Cpu(CpuDefinition::Measured) if 0 < ledger.attempts_with_cpu_time => {
            Some(cpu_time_line(ledger.attempts_with_cpu_time, ledger.attempts))
        }
        Meter::Cpu(CpuDefinition::Measured | CpuDefinition::Published) => Some(windows("rate")),
        Meter::Memory(MemoryDefinition::Canonical | MemoryDefinition::Assigned) => {
            Some(windows("figure"))
        }
        Meter::Cpu(CpuDefinition::Requested) | Meter::Memory(MemoryDefinition::Requested) => {
            Some(requested())
        }
        Meter::Memory(MemoryDefinition::Used) => Some(format!(
            "{} attempts: the memory of {} is not recorded in the log and counts as 0",
            digits::grouped(ledger.attempts),
            digits::grouped(ledger.attempts_without_request)
        )),
        Meter::Cpu(CpuDefinition::GpuSlots) => Some(format!(
            "{} attempts: {} without a record of GPUs, counted as 0",
            digits::grouped(ledger.attempts),
            digits::grouped(ledger.attempts_without_request)
        )),
        Meter::Cpu(CpuDefinition::Slots) => None,
    }
}

/// Adds the column by which rows are split: numbers for a priority or a class, texts for all
/// others; null where unknown.
pub(crate) fn keyed<'a>(
    frame: Frame,
    group: GroupBy,
    cells: impl Iterator<Item = Option<&'a str>>,
) -> Frame {
    let known = cells.map(|cell| cell.filter(|text| *text != UNKNOWN));
    match group {
        GroupBy::User | GroupBy::Reason | GroupBy::Qos => frame.maybe_text(group.name(), known),
        GroupBy::Class | GroupBy::Priority => {
            frame.maybe_int(group.name(), known.map(|cell| cell?.parse().ok()))
        }
    }
}

/// The line with the number and share of attempts whose CPU time a log records.
pub(crate) fn cpu_time_line(told: u64, attempts: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 attempts")]
    let percent = told as f64 / attempts.max(1) as f64 * 100.0;
    format!(
        "CPU time as recorded in the log for {} of {} attempts ({percent:.1} %), processors times \
        run time for the others",
        digits::grouped(told),
        digits::grouped(attempts)
    )
}

pub fn table_of(ledger: &Ledger, groups: &[GroupBy]) -> RecordBatch {
    let mut frame = Frame::default();
    for (idx, &group) in groups.iter().enumerate() {
        let cells = ledger.rows.iter().map(|row| Some(row.groups[idx].as_str()));
        frame = keyed(frame, group, cells);
    }
    let rows = || ledger.rows.iter();
    let resource = ledger.meter.resource();
    // If no outcome is known, rows have no counts of jobs and tasks.
    frame
        .text("outcome", rows().map(|row| row.outcome.as_str()))
        .maybe_count("jobs", rows().map(|row| row.jobs))
        .maybe_count("jobs_with_tasks", rows().map(|row| row.jobs_with_tasks))
        .maybe_count("tasks", rows().map(|row| row.tasks))
        .float(ledger.meter.column(), rows().map(|row| row.amount))
        .about(&format!("{}, in the unit that `unit` names", resource.title()))
        .unit(ledger.unit)
        .text("unit", rows().map(|_| ledger.unit))
        .float("share", rows().map(|row| row.share))
        .about(&format!("Share of the {} of all rows", resource.noun()))
        .float("largest_job_share", rows().map(|row| row.largest_job_share))
        .batch()
}

/// The results: CPU time, and memory time.
pub static KINDS: [Kind<'static>; 2] = [
    Kind {
        tables: &[Table::JobEvents, Table::TaskEvents],
        meters: true,
        sentence: Some(sentence),
        quality: Some(|it| it.found::<AccountAnswer>()?.closed()),
        figure: Some("account-"),
        ..Kind::called("account", "CPU time by outcome").holding::<AccountAnswer>()
    },
    Kind {
        tables: &[Table::JobEvents, Table::TaskEvents],
        meters: true,
        ..Kind::called("account-memory", "Memory time by outcome").holding::<AccountAnswer>()
    },
];

fn sentence(of: &Envelope) -> Option<String> {
    let answer: &AccountAnswer = of.found()?;
    answer.sentence(Ends::of(answer.finished(), &of.inputs))
}

/// The kind of result for a meter.
pub const fn kind_of(meter: Meter) -> &'static Kind<'static> {
    match meter {
        Meter::Cpu(_) => &KINDS[0],
        Meter::Memory(_) => &KINDS[1],
    }
}

/// The step of an analysis.
pub(crate) const STEP: Step =
    Step::of::<AccountPlan>(step, &["cpu", "classes", "window-end", "open-attempts"])
        .spread(|work| Ok(Errand::Account(work.section.clone())));

fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::TaskEvents, KINDS[0])? {
        return Ok(None);
    }
    let plan: AccountPlan = work.plan()?;
    let asked = plan.asked(work.lake)?;
    if !work.lake.has(Table::TaskUsage) && !asked.meter.needs_usage() {
        let noun = asked.meter.resource().title();
        work.note(format!("{noun} is {}: there is no table `task_usage`", asked.meter));
    }
    let book = ledger(&work.outcomes(&asked)?);
    let table = table_of(&book, &plan.groups());
    let answer = answer(&plan, &book, work.windows, &table);
    work.store(&answer)?;
    let title = format!("{} per outcome ({})", asked.meter.resource().title(), book.meter);
    work.show(&title, &answer)?;
    work.note(closing_line(&book));
    Ok(None)
}

/// The sums of a ledger by outcome: label, outcome and sum. Groups are added up, except for
/// reasons: each outcome and reason has its own bar.
fn bars_of(ledger: &Ledger, groups: &[GroupBy]) -> Vec<(String, String, f64)> {
    let reason = groups.iter().position(|group| *group == GroupBy::Reason);
    let mut outcomes: Vec<(String, String, f64)> = Vec::new();
    for (row, cpu) in ledger.rows.iter().filter_map(|row| Some((row, row.amount?))) {
        let reason = reason.and_then(|at| row.groups.get(at)).filter(|reason| *reason != UNKNOWN);
        let label = match reason {
            Some(_) if cpu == 0.0 => continue,
            Some(reason) => format!("{}: {reason}", row.outcome),
            None => row.outcome.clone(),
        };
        match outcomes.iter_mut().find(|(known, _, _)| *known == label) {
            Some((_, _, sum)) => *sum += cpu,
            None => outcomes.push((label, row.outcome.clone(), cpu)),
        }
    }
    if reason.is_some() {
        // As in `classify`: outcome by outcome, the largest sum first.
        let place = |name: &str| ledger.classes.outcomes().iter().position(|known| *known == name);
        outcomes.sort_by(|one, other| {
            place(&one.1).cmp(&place(&other.1)).then(other.2.total_cmp(&one.2))
        });
    }
    outcomes
}

/// Bars of CPU time, GPU time or memory time per outcome.
pub(crate) fn chart(ledger: &Ledger, groups: &[GroupBy]) -> Chart {
    let mut outcomes = bars_of(ledger, groups);
    let mut add = |name: &str, sum| outcomes.push((name.to_owned(), name.to_owned(), sum));
    add("unmatched", ledger.unmatched);
    let is_measured = ledger.meter.needs_usage() && ledger.meter != Meter::PUBLISHED;
    if is_measured {
        add("outside attempts", ledger.outside_attempts);
    }
    let share = |cpu: f64| if ledger.total == 0.0 { 0.0 } else { cpu / ledger.total };
    let noun = ledger.meter.resource().noun();
    let title_noun = ledger.meter.resource().title();
    let bars: Vec<Bar> = outcomes
        .into_iter()
        .map(|(label, outcome, cpu)| Bar {
            tone: outcome_tone(&outcome),
            note: sentences::label(share(cpu)),
            label,
            value: cpu,
        })
        .collect();
    Chart::Bars(BarChart {
        title: format!("{title_noun} per outcome of jobs ({})", ledger.meter),
        caption: format!(
            "{}{}, total {} {}, by the outcome of the jobs, {}.{}",
            sentences::largest_part(&bars, ledger.total),
            sentences::meaning_of_meter(ledger.meter),
            digits::six_digits(ledger.total),
            ledger.unit,
            match ledger.classes {
                Classes::Sequence => {
                    "which is that of their exact sequence of events (any that is none of the \
                    published ones is \"other\", such as several attempts)"
                }
                Classes::Terminal => "which is that of their last terminal event",
            },
            edges::ending(&edges::of_ledger(ledger))
        ),
        value_axis: format!("{noun} ({})", ledger.unit),
        bars,
    })
}

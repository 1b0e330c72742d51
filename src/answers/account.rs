//! The answer of `account`: a ledger as table, JSON and bars.
//!
//! In: a ledger. Out: its rows, the line that shows that it closes, and what was counted as 0.

use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answers::grouped::check_group;
use crate::answers::spread::Errand;
use crate::answers::study::{Definitions, Plan, Step, Verdict, Work, settings};
use crate::answers::{edges, sentences, words};
use crate::charts::{Bar, BarChart, Chart, outcome_tone};
use crate::defaults::Defaults;
use crate::digits;
use crate::facts::tasks::tells_used_memory;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::forms::rows;
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::shares::{self, Share, share};
use crate::results::store::{self, Answer};
use crate::schema::Table;
use crate::studies::fold::Asked;
use crate::studies::ledger::{CpuDefinition, GroupBy, Ledger, UNKNOWN, ledger};
use crate::studies::meter::{MemoryDefinition, Meter, Resource};
use crate::studies::outcomes::Classes;

/// The shares that a ledger gives.
pub const SHARES: [Share; 2] = [
    share(
        "share",
        "cpu (or memory) of the row",
        "total: outcomes, unmatched and outside_attempts together",
    ),
    share(
        "largest_job_share",
        "cpu (or memory) of the job with the most",
        "cpu (or memory) of the row",
    ),
];

/// The answer in all its forms.
pub fn answer<'a>(
    plan: &AccountPlan,
    ledger: &Ledger,
    windows: Windows,
    table: &'a RecordBatch,
) -> Answer<'a> {
    let mut json = json_of(ledger, table);
    if let Some(nothing) = nothing(ledger) {
        json[store::NOTHING] = nothing.into();
    } else if 0.0 < ledger.total && ledger.rows.iter().all(|row| row.jobs.unwrap_or(0) == 0) {
        json[store::NOTHING] = format!(
            "The outcome of the jobs that used {} {} ({}) is unknown: `job_events` does not \
            contain them.",
            digits::six_digits(ledger.total),
            ledger.unit,
            ledger.meter
        )
        .into();
    }
    Answer {
        kind: *kind_of(ledger.meter),
        table,
        json,
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

/// The value of the contract, with what each share is of; its rows are those of the table.
pub(crate) fn json_of(ledger: &Ledger, table: &RecordBatch) -> Value {
    let mut json = json!(ledger);
    let resource = ledger.meter.resource();
    json["resource"] = json!(resource);
    json[format!("closed_with_job_{}", ledger.meter.column())] = json!(ledger.closed_with_job_sum);
    json["rows"] = Value::Array(rows(table));
    if !ledger.is_known {
        for sum in ["total", "unmatched", "outside_attempts"] {
            json[sum] = Value::Null;
        }
    }
    shares::put(&mut json, &SHARES);
    json
}

fn unknown(ledger: &Ledger) -> String {
    unknown_of(ledger.meter, ledger.attempts)
}

/// Why nothing can be added up: the trace does not record it.
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

/// Why there is nothing to see: nothing was used.
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

/// The line that shows that the ledger closes.
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

/// What was counted as 0, or twice.
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
            "{} usage windows: {} without a {what}, counted as 0; {} overlap an earlier one, and count",
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

/// Adds the column of what rows are split by: a number for a priority or a class, and nothing where
/// it is unknown.
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

/// The number of attempts whose CPU time a log records.
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
    // The lines that close the ledger have neither jobs nor tasks of their own.
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
        sentence: Some(sentences::CPU),
        quality: Some(sentences::CLOSED),
        figure: Some("account-"),
        ..Kind::called("account", "CPU time by outcome")
    },
    Kind {
        tables: &[Table::JobEvents, Table::TaskEvents],
        meters: true,
        ..Kind::called("account-memory", "Memory time by outcome")
    },
];

/// The result of what was added up.
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

/// The sums of a ledger by outcome: label, outcome and sum. Groups are added up again, but for
/// the reasons of ends, which are bars of their own.
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
        // As in `classify`: outcome by outcome, the most first.
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
    let share = |cpu: f64| if ledger.total == 0.0 { 0.0 } else { cpu / ledger.total * 100.0 };
    let noun = ledger.meter.resource().noun();
    let title_noun = ledger.meter.resource().title();
    Chart::Bars(BarChart {
        title: format!("{title_noun} per outcome of jobs ({})", ledger.meter),
        caption: format!(
            "{title_noun} by the definition \"{}\", total {} {}; outcomes classified by {}.{}",
            ledger.meter,
            digits::six_digits(ledger.total),
            ledger.unit,
            ledger.classes,
            edges::ending(&edges::of_ledger(ledger))
        ),
        value_axis: format!("{noun} ({})", ledger.unit),
        bars: outcomes
            .into_iter()
            .map(|(label, outcome, cpu)| Bar {
                tone: outcome_tone(&outcome),
                note: format!("{:.3} %", share(cpu)),
                label,
                value: cpu,
            })
            .collect(),
    })
}

/// What CPU time means and how outcomes are defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct CpuChoice {
    /// What CPU time means
    #[cfg_attr(feature = "cli", arg(long, value_enum, long_help = crate::defaults::cpu_help()))]
    pub cpu: Option<CpuDefinition>,

    /// How outcomes are defined: sequence or terminal
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLASSES", default_value_t))]
    pub classes: Classes,
}

impl CpuChoice {
    /// A study of these definitions; where none was chosen, the default of the lake.
    pub(crate) fn asked(self, lake: &Lake) -> Asked {
        let cpu = self.cpu.unwrap_or_else(|| Defaults::of(lake).cpu);
        Asked { meter: Meter::Cpu(cpu), classes: self.classes, ..Asked::default() }
    }
}

/// What is added up, and how it is split.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AccountPlan {
    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(skip)]
    pub choice: CpuChoice,

    /// What is added up
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub resource: Resource,

    /// What memory means
    ///
    /// For --resource memory. By default canonical if the lake has a table `task_usage`, and
    /// requested otherwise. `used` is the memory that jobs used, in logs that record it. The Google
    /// trace has two measures: `canonical` is what the processes of the task used, `assigned` what
    /// its container had, used or not.
    #[cfg_attr(feature = "cli", arg(long, value_enum))]
    pub memory: Option<MemoryDefinition>,

    /// Split the outcomes by class, priority, user, reason or qos
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "KEY,...", value_delimiter = ',', value_enum)
    )]
    #[serde(deserialize_with = "words::commas")]
    pub group_by: Vec<GroupBy>,

    /// Split each outcome by the reason why the jobs ended
    ///
    /// The same as --group-by reason: `TIMEOUT`, `OUT_OF_MEMORY`, `NODE_FAIL`, ... in logs
    /// that record it.
    #[cfg_attr(feature = "cli", arg(long))]
    pub by_reason: bool,
}

impl Plan for AccountPlan {
    fn define(&mut self, definitions: &Definitions) {
        self.choice = CpuChoice { cpu: definitions.cpu, classes: definitions.classes };
    }
}

impl AccountPlan {
    /// What the plan asks of a lake.
    ///
    /// # Errors
    /// A definition of the other resource was chosen.
    pub fn asked(&self, lake: &Lake) -> Result<Asked, Usage> {
        let meter = self.meter(lake)?;
        let (classes, groups) = (self.choice.classes, self.groups());
        groups.iter().try_for_each(|&group| check_group(lake, group))?;
        Ok(Asked { meter, classes, groups, ..Asked::default() })
    }

    /// What the outcomes are split by.
    pub fn groups(&self) -> Vec<GroupBy> {
        let is_missing = self.by_reason && !self.group_by.contains(&GroupBy::Reason);
        self.group_by.iter().copied().chain(is_missing.then_some(GroupBy::Reason)).collect()
    }

    /// The definition that was chosen, or else the default of the lake.
    ///
    /// # Errors
    /// A definition of the other resource was chosen.
    fn meter(&self, lake: &Lake) -> Result<Meter, Usage> {
        let cpu = self.choice.cpu;
        let refused = |option: &str, resource: Resource| {
            let name = resource.name();
            Usage(format!("--{option} is for --resource {option}, and this is --resource {name}"))
        };
        match self.resource {
            Resource::Cpu if self.memory.is_some() => Err(refused("memory", Resource::Cpu)),
            Resource::Memory if cpu.is_some() => Err(refused("cpu", Resource::Memory)),
            Resource::Cpu => Ok(Meter::Cpu(cpu.unwrap_or_else(|| Defaults::of(lake).cpu))),
            Resource::Gpu if self.memory.is_some() => Err(refused("memory", Resource::Gpu)),
            Resource::Gpu if cpu.is_some_and(|cpu| cpu != CpuDefinition::GpuSlots) => {
                Err(refused("cpu", Resource::Gpu))
            }
            Resource::Gpu => Ok(Meter::Cpu(CpuDefinition::GpuSlots)),
            Resource::Memory => {
                let memory = self.memory.unwrap_or_else(|| MemoryDefinition::usual(lake));
                if memory == MemoryDefinition::Used && !tells_used_memory(lake).unwrap_or(false) {
                    let text = "--memory used: this lake does not record the memory that jobs \
                    used, as some SWF and GWF logs do; give --memory requested";
                    return Err(Usage(text.to_owned()));
                }
                Ok(Meter::Memory(memory))
            }
        }
    }
}

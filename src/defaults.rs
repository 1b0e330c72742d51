//! The defaults of every command, by kind of trace.
//!
//! In: lakes. Out: one set of definitions, which `account`, `sweep`, `fairness`, `replay` and
//! `analyze` share, so their figures use the same CPU time and the same machines. Help texts are
//! made from the same table. No command has separate defaults for these options.

use std::fmt::Write;

use crate::facts::tasks::records_cpu_time;
use crate::fairness::gather::Accrual;
use crate::lake::Lake;
use crate::replay::history::{KilledTasks, Overcommit};
use crate::schema::{Family, Source, Table};
use crate::studies::ledger::CpuDefinition;
use crate::studies::outcomes::Classes;
use crate::units::MICROS_PER_DAY;

/// A trace of fewer days is divided into hours, a longer one into days.
const HOURLY_DAYS: i64 = 100;

/// Seconds of an hour and of a day.
const INTERVALS_S: [u32; 2] = [3600, 86_400];

/// When CPU time is charged: while tasks run. Under `end`, attempts that still run at the end of
/// the trace would be left out: 76 % of the CPU in 17 parts of the 2011 trace.
const ACCRUAL: Accrual = Accrual::Running;

/// The defaults of the kinds of trace that share them.
#[derive(Debug)]
struct Row {
    /// The kinds.
    family: Family,
    /// The definition of CPU time without a usage table.
    cpu: CpuDefinition,
    /// Factor for machine capacities in a replay.
    overcommit: Overcommit,
    /// When a replay kills a task that was killed while it ran.
    killed: KilledTasks,
    /// Policies of a replay.
    policies: &'static [&'static str],
    /// How outcomes are defined in an analysis and in the portal.
    classes: Classes,
}

/// The defaults of each family of sources.
///
/// - Google: tasks request CPU as a share of the largest machine, and the cluster allocates more
///   than it has, since tasks use less than they request. There are no time limits: a kill has an
///   outside cause and its own time, such as a user or a job that the task depends on.
/// - SWF, GWF, Slurm and mapped tables: jobs get whole processors, up to the number of processors.
///   EASY is the usual policy of such clusters, and so the one that the others are compared with.
///   Most kills of running jobs are time limits, and other simulators take the recorded running time
///   as the work.
/// - All formats except Google's often have jobs that were requeued and then finished. By their
///   exact event sequence, these jobs are `other`.
/// - The trace of 2019 as a joined CSV is a sample without most events: its outcomes are defined by
///   the last event, regardless of this table ([`Defaults::of_all`]).
/// - Rumen: an attempt takes one slot, regardless of what it uses.
/// - Pods and batch tasks of Alibaba: each gets its request, in cores.
const TABLE: [Row; 4] = [
    Row {
        family: Family::Google,
        cpu: CpuDefinition::Requested,
        overcommit: Overcommit::Recorded,
        killed: KilledTasks::Age,
        policies: &["fifo:depth=100", "fair:depth=100", "fifo:depth=100+late:heartbeat_s=60"],
        classes: Classes::Sequence,
    },
    Row {
        family: Family::Processors,
        cpu: CpuDefinition::Requested,
        overcommit: Overcommit::Factor(1.0),
        killed: KilledTasks::RunTime,
        policies: &["easy", "fifo", "fair"],
        classes: Classes::Terminal,
    },
    Row {
        family: Family::Slots,
        cpu: CpuDefinition::Slots,
        overcommit: Overcommit::Factor(1.0),
        killed: KilledTasks::RunTime,
        policies: &["fifo", "fair", "fifo+late:heartbeat_s=60"],
        classes: Classes::Terminal,
    },
    Row {
        family: Family::Cores,
        cpu: CpuDefinition::Requested,
        overcommit: Overcommit::Factor(1.0),
        killed: KilledTasks::RunTime,
        policies: &["fifo", "fair"],
        classes: Classes::Terminal,
    },
];

/// The row of a kind of trace.
fn row_of(source: Source) -> &'static Row {
    let row = TABLE.iter().find(|row| row.family == source.family());
    row.expect("a test covers every source")
}

impl Row {
    /// The kinds of trace that it is for.
    fn sources(&self) -> impl Iterator<Item = Source> {
        Source::ALL.into_iter().filter(|source| source.family() == self.family)
    }
}

/// The defaults for one trace, or for several together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Defaults {
    /// The definition of CPU time: `account`, `sweep`, `fairness`.
    pub cpu: CpuDefinition,
    /// When it is charged: `fairness`.
    pub accrual: Accrual,
    /// Factor for the capacities of the lake's machines: `replay`.
    pub overcommit: Overcommit,
    /// When a task is killed that was killed while it ran: `replay`.
    pub killed: KilledTasks,
    /// Policies: `replay`.
    pub policies: &'static [&'static str],
    /// How outcomes are defined: `analyze` and the portal. Single commands use the event sequence.
    pub classes: Classes,
}

impl Defaults {
    /// The defaults for a lake.
    pub fn of(lake: &Lake) -> Self {
        Self::of_all(std::slice::from_ref(&lake))
    }

    /// The defaults for several lakes together. If their CPU definitions differ, all are counted in
    /// slots, which every trace has.
    pub fn of_all(lakes: &[&Lake]) -> Self {
        let first = lakes.first().map_or(Source::default(), |lake| lake.source());
        let Row { overcommit, killed, policies, classes, .. } = *row_of(first);
        let is_sample = lakes.iter().any(|lake| lake.is_sample());
        let classes = if is_sample { Classes::Terminal } else { classes };
        let cpus = || lakes.iter().map(|lake| cpu_of(lake.source(), is_measured(lake)));
        let has_usage = lakes.iter().all(|lake| is_measured(lake));
        let cpu = if has_usage {
            CpuDefinition::Measured
        } else {
            let known = row_of(first).cpu;
            let is_same = cpus().all(|cpu| cpu == known || cpu == CpuDefinition::Measured);
            if is_same { known } else { CpuDefinition::Slots }
        };
        Self { cpu, accrual: ACCRUAL, overcommit, killed, policies, classes }
    }
}

/// Whether the lake has measured use, in a usage table or a log. A log that cannot be read counts
/// as not measured here; the code that reads it for an answer reports the error.
fn is_measured(lake: &Lake) -> bool {
    lake.has(Table::TaskUsage) || records_cpu_time(lake).unwrap_or(false)
}

/// Measured CPU if there is a usage table, and otherwise the default of the trace.
fn cpu_of(source: Source, has_usage: bool) -> CpuDefinition {
    if has_usage { CpuDefinition::Measured } else { row_of(source).cpu }
}

/// Lengths of intervals of `load` in an analysis, the shortest first.
pub const LOAD_LENGTHS: [&str; 5] = ["5m", "15m", "1h", "6h", "1d"];
/// The most intervals of `load` on a page.
pub const LOAD_INTERVALS_MAX: i64 = 500;

/// Length of an interval of `fairness` for a span of time, s: hours below 100 days, then days.
pub const fn interval_s(length_us: i64) -> u32 {
    INTERVALS_S[if length_us < HOURLY_DAYS * MICROS_PER_DAY { 0 } else { 1 }]
}

/// The values of an option by family, without duplicates: `1.25 (google-2011, ...), 1 (swf, gwf)`.
fn by_source(value: impl Fn(&Row) -> String) -> String {
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &TABLE {
        let value = value(row);
        let names = row.sources().map(Source::name);
        match values.iter_mut().find(|known| known.0 == value) {
            Some((_, known)) => known.extend(names),
            None => values.push((value, names.collect())),
        }
    }
    let parts = values.iter().map(|(value, names)| format!("{value} ({})", names.join(", ")));
    parts.collect::<Vec<String>>().join(", ")
}

/// The default of `--cpu`, for its help.
pub fn cpu_help() -> String {
    let default = cpu_default();
    format!(
        "{default} `published` gives one number per job; it has no values over time. `gpu-slots` counts GPUs instead, in GPU-seconds, for sources that record them."
    )
}

/// The same for a command that needs values over time, which `published` does not have.
pub fn cpu_help_over_time() -> String {
    let default = cpu_default();
    format!(
        "{default} `gpu-slots` counts GPUs instead, in GPU-seconds, for sources that record them."
    )
}

/// The same for a command that also shows GPU time.
pub fn cpu_help_beside_gpus() -> String {
    let default = cpu_default();
    format!("{default} GPU time has its own columns, for sources that record GPUs.")
}

fn cpu_default() -> String {
    let known = by_source(|row| row.cpu.to_string());
    format!(
        "What CPU time means\n\nBy default `measured`, if the lake has a table task_usage or a log records the CPU time that jobs used. Jobs of a log without a recorded CPU time are counted by `requested`; the share of the jobs with one is shown. Otherwise the default depends on the source: {known}."
    )
}

/// The default of `--killed`, for its help.
pub fn killed_help() -> String {
    format!(
        "When to kill a task whose recorded attempt was killed\n\nA task that was killed while it waited leaves at its recorded age. If it is scheduled earlier, it ends immediately under `run-time`, and runs until that age under `age`. The default depends on the source: {}. In logs, time limits kill running jobs, and other simulators use the recorded running time as the work. The Google traces have no limits: users and other jobs kill tasks, at times that do not depend on the replay.",
        by_source(|row| killed_name(row.killed).to_owned())
    )
}

/// The default of `--policies`, for the end of the help of `replay`.
pub fn policies_help() -> String {
    format!("Default policies, by source: {}", by_source(|row| row.policies.join(" ")))
}

/// The whole table, for the help of `analyze`.
pub fn help() -> String {
    let mut text = String::from(
        "Defaults by source (the same for every command; printed at the start of an analysis; an analysis \
        of the joined CSV of 2019 has --classes terminal):\n",
    );
    for row in &TABLE {
        let names: Vec<&str> = row.sources().map(Source::name).collect();
        let _ = writeln!(
            text,
            "  {}\n    --cpu         {}; measured with a table task_usage or CPU times in the \
            log\n    --classes     {}{}\n    --overcommit  {}\n    --killed      {}\n    --policies    {}",
            names.join(", "),
            row.cpu,
            row.classes,
            if row.classes == Classes::default() { "" } else { " in an analysis" },
            row.overcommit,
            killed_name(row.killed),
            row.policies.join(" ")
        );
    }
    let [hour, day] = INTERVALS_S;
    let accrual = accrual_name(ACCRUAL);
    let _ = write!(
        text,
        "  every source\n    --accrual     {accrual}\n    --interval    {hour} s; {day} s if {HOURLY_DAYS} days or more are shown (fairness); in analyses, the\n                  shortest of {} with at most {LOAD_INTERVALS_MAX} intervals (load)",
        LOAD_LENGTHS.join(", ")
    );
    text
}

/// The command-line word for the time at which a killed task is killed.
pub const fn killed_name(killed: KilledTasks) -> &'static str {
    match killed {
        KilledTasks::RunTime => "run-time",
        KilledTasks::Age => "age",
    }
}

/// The word of an accrual on the command line.
pub const fn accrual_name(accrual: Accrual) -> &'static str {
    match accrual {
        Accrual::End => "end",
        Accrual::Running => "running",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::policies::PolicyPlan;

    #[test]
    fn every_source_has_defaults_that_its_commands_take() {
        for source in Source::ALL {
            let rows = TABLE.iter().filter(|row| row.family == source.family()).count();
            assert_eq!(rows, 1, "{source}");
            let row = row_of(source);
            assert!(!row.cpu.needs_usage(), "{source}: there may be no usage table");
            for policy in row.policies {
                policy.parse::<PolicyPlan>().unwrap();
            }
            assert_eq!(cpu_of(source, true), CpuDefinition::Measured);
            assert_eq!(row.killed == KilledTasks::Age, source.is_google(), "{source}: has limits");
            // A replay has as many processors as the log.
            let is_recorded = row.overcommit == Overcommit::Recorded;
            assert_eq!(is_recorded, source.is_google(), "{source}");
        }
    }

    #[test]
    fn the_help_names_every_source_and_every_value() {
        for text in [cpu_help(), killed_help(), policies_help(), help()] {
            for source in Source::ALL {
                assert!(text.contains(source.name()), "{source}: {text}");
            }
        }
        assert!(
            help().contains("--overcommit  recorded") && help().contains("--accrual     running")
        );
        assert_eq!(
            [0, 99, 100, 5000].map(|days| interval_s(days * MICROS_PER_DAY)),
            [3600, 3600, 86_400, 86_400]
        );
    }
}

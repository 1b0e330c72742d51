//! The plan of `fairness`: lakes, intervals, indices.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::answers::fairness::{Ceiling, Show, Wanted};
use crate::answers::study::{Definitions, Plan};
use crate::answers::words::{readers, text};
use crate::facts::window::OpenAttempts;
use crate::fairness::gather::{Accrual, By, Machines};
use crate::fairness::indices::BuiltIn;
use crate::faults::{Result, Usage};
use crate::studies::meter::{CpuDefinition, MemoryDefinition, Resource};

/// How the clocks of several lakes are aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Align {
    /// Times as they are in the lakes
    #[default]
    Clock,
    /// Every lake's first event at 0
    Start,
}

/// Whose use is gathered, and what indices make of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FairnessPlan {
    /// Folder of a lake, or NAME=DIR; repeat to merge clusters
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR", default_value = "lake"))]
    #[serde(skip)]
    pub lake: Vec<String>,

    /// What CPU time means
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_parser = CpuDefinition::over_time_or_gpus(),
            long_help = crate::defaults::cpu_help_over_time()
        )
    )]
    #[serde(skip)]
    pub cpu: Option<CpuDefinition>,

    /// What is charged
    ///
    /// `memory` replaces CPU time by memory times the time for which it was requested or used: in
    /// usage, waiting, capacity and every index. `gpu` is the same as `--cpu gpu-slots`.
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub resource: Resource,

    /// What memory means
    ///
    /// For --resource memory. By default canonical if every lake has a table `task_usage`, and
    /// requested otherwise. `used` is the memory that jobs used, in logs that record it.
    #[cfg_attr(feature = "cli", arg(long, value_enum))]
    pub memory: Option<MemoryDefinition>,

    /// When CPU time is charged
    ///
    /// By default `running` for every source, because `end` does not charge attempts that still run
    /// at the end of the trace.
    #[cfg_attr(feature = "cli", arg(long, value_enum))]
    pub accrual: Option<Accrual>,

    /// What usage is grouped by
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEY", value_enum, default_value_t))]
    pub by: By,

    /// Length of an interval in seconds
    ///
    /// By default an hour (3600), or a day (86400) if 100 days or more are shown. All values are
    /// kept in memory: users times intervals times columns of all indices, 8 bytes each. At most
    /// 200,000 intervals and 2 GiB of values are allowed; this is checked at the start.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", value_parser = crate::units::number))]
    pub interval: Option<f64>,

    /// First day to show, counted from the first interval
    ///
    /// It is the interval of the first event; intervals begin at multiples of --interval.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DAYS", default_value_t = 0.0, value_parser = crate::units::number))]
    pub from: f64,

    /// Number of days to show; all by default
    #[cfg_attr(feature = "cli", arg(long, value_name = "DAYS", value_parser = crate::units::number))]
    pub days: Option<f64>,

    /// Days before --from that the indices also use
    #[cfg_attr(feature = "cli", arg(long, value_name = "DAYS", default_value_t = 0.0, value_parser = crate::units::number))]
    pub warm_up: f64,

    /// An index, NAME:KEY=VALUE,...; repeat for several
    ///
    /// By default metered and condor, and slurm for logs of Slurm. Files: `charges=FILE` (metered) and
    /// `factors=FILE` (condor) have lines `KIND NAME FACTOR`; KIND is machine, platform, capacity,
    /// site, cluster, user or group. `user NAME on KIND NAME FACTOR` (or `group`) is the factor of a
    /// user on some machines: condor and htcondor then have the additional columns `eup_on_KIND_NAME`
    /// and `share_on_...`. Values never depend on later events, so a user has values only from the
    /// first submission on. Shares are computed among users who run or wait; `charged_cpu_s` is the CPU
    /// time charged in the interval.
    #[cfg_attr(feature = "cli", arg(long, value_name = "INDEX"))]
    pub index: Vec<String>,

    /// A custom index: a TOML file written by `fairness new`
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub index_file: Vec<PathBuf>,

    /// A custom index: NAME=FILE with a formula
    ///
    /// Statements `state NAME = X`, `update NAME = X`, `display [NAME =] X`, `let NAME = X`,
    /// `heavier larger|smaller`, one per line or separated by `;`. Names: usage (when it is
    /// charged), ran (when it runs), cores, memory, waiting, ended, factor, entitled, dt, t, k,
    /// users, capacity; `sum(X)` over machines with cpu, charge, `machine_cpu`, `machine_memory`;
    /// `all(X)` over users; user, group, machine, platform, site and cluster can be compared with a
    /// text in quotes. A state starts with the user's first submission.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME=FILE"))]
    pub formula: Vec<String>,

    /// A custom index: NAME=PROGRAM with arguments
    ///
    /// The program is started directly (no shell; words are separated by spaces). It reads lines
    /// from stdin and answers on stdout; fields are separated by tabs:
    ///
    ///   reads    jobfate-fairness 2, begin
    ///   answers  columns NAME...                       the first is charted
    ///   reads    user NUMBER NAME GROUP                a new user
    ///   reads    machine NUMBER ID PLATFORM CPU MEMORY SITE CLUSTER
    ///                                                  a machine, before its first use
    ///   reads    interval NUMBER END LENGTH            every interval; times in s
    ///   reads    use USER MACHINE CPU MEMORY WAITING RAN
    ///                                                  seconds of each; CPU is what is charged
    ///   reads    ended USER WAIT RUN                   an attempt that ended; RUN without
    ///                                                  suspensions
    ///   reads    done
    ///   answers  value USER NUMBER...                  as many as there are columns
    ///   answers  done
    ///
    /// Users and machines are numbered in the order in which they appear. A user that gets no
    /// value keeps the previous one. At the end stdin is closed, and the program must exit with
    /// status 0.
    #[cfg_attr(feature = "cli", arg(verbatim_doc_comment, long, value_name = "NAME=PROGRAM"))]
    #[serde(skip)]
    pub index_program: Vec<String>,

    /// Longest run of an index program, in seconds
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = crate::units::number))]
    pub time_limit: f64,

    /// Rule of fair share of a site, from its `slurm.conf`
    ///
    /// Adds the index that the file describes, before those of --index: fair-tree, or slurm with
    /// `PriorityFlags=NO_FAIR_TREE`, with `PriorityDecayHalfLife`, `PriorityUsageResetPeriod` (by
    /// the UTC calendar) and `FairShareDampeningFactor`. A rule that this program does not compute
    /// is an error that names its line.
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub slurm_conf: Option<PathBuf>,

    /// File of accounts with shares, lines `ACCOUNT/USER SHARES`
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", long_help = accounts_help()))]
    pub accounts: Option<PathBuf>,

    /// Whether the same name in two lakes is the same user
    ///
    /// Machines of two lakes are always different.
    #[cfg_attr(feature = "cli", arg(long, value_name = "YES_OR_NO", value_parser = parse_yes, default_value = "yes", action = clap::ArgAction::Set))]
    #[serde(serialize_with = "yes_or_no", deserialize_with = "is_yes")]
    pub same_users: bool,

    /// How the clocks of several lakes are aligned
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub align: Align,

    /// Users named in charts and tables
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = 7, value_parser = crate::units::natural::<usize>))]
    pub top: usize,

    /// What is shown on stdout
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    #[serde(skip)]
    pub show: Show,

    /// Compare the orders of users under all indices
    ///
    /// Prints a row per pair of indices; `--show places` lists every user with the place under each
    /// index. Without --index it compares metered, and condor with half-lives of 6 hours, a day and
    /// a week.
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(skip)]
    pub what_if: bool,

    /// Usage above which a user should be limited
    ///
    /// In CPU-seconds, or N% of the usage of all users. The ceiling, and all suggestions, use the
    /// time when usage runs, not when it is charged.
    #[cfg_attr(feature = "cli", arg(long, value_name = "CPU_SECONDS", default_value = "10%"))]
    #[serde(with = "text")]
    pub ceiling: Ceiling,

    /// Passing the ceiling within this many days counts as early
    ///
    /// By default half of the days shown. Users who pass the ceiling early are suggested for a
    /// limit.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DAYS", value_parser = crate::units::number))]
    pub early: Option<f64>,

    /// Share of use below which capacity counts as free
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = crate::units::number))]
    pub free: f64,
}

/// The help of the command.
pub fn about() -> String {
    format!(
        "Show usage per user over time, and its fairness\n\nComputes usage per user and interval from \
        one or more lakes, the values of fairness indices, and suggestions for an administrator. \
        Indices: {}, each written `name:key=value,...`; or a custom index as a formula, a TOML file \
        or a program.\n\nMemory: 100 MB, and 170 bytes for each row of the tables of events and \
        usage in the lake's largest bucket, per thread; in addition the values described at \
        --interval.",
        BuiltIn::help()
    )
}

#[cfg(feature = "cli")]
fn accounts_help() -> String {
    format!(
        "File of accounts with shares, lines `ACCOUNT/USER SHARES`\n\nOr the output of `sshare -a -l \
        -P` or `sacctmgr dump CLUSTER`; the format is recognised. A user with several accounts in the \
        file belongs to the account of their first submission.\n\nUsed by slurm, fair-tree and sge, \
        and by {} for entitlements. The accounts and users in the file exist from the start. A name \
        that is not the parent of another line is a user. SHARES is a number or `parent`: a user then \
        has the account's shares, and an account is merged into its parent. By default each group of \
        the log is an account with one share, and a user belongs to the group of their first \
        submission; an account or user exists from its first submission.",
        BuiltIn::measures()
    )
}

impl Plan for FairnessPlan {
    fn define(&mut self, definitions: &Definitions) {
        // `published` CPU time is known per job, not over time. Memory and GPUs have their own
        // definitions.
        let cpu = definitions.cpu.filter(|_| self.resource == Resource::Cpu);
        self.cpu = cpu.map(|cpu| match cpu {
            CpuDefinition::Published => CpuDefinition::Measured,
            other => other,
        });
    }

    fn choose(&mut self, definitions: &Definitions) {
        self.cpu = definitions.cpu;
    }

    fn check(&self) -> Result<(), Usage> {
        check(self)
    }
}

impl Default for FairnessPlan {
    /// The plan if the user gives no flag.
    fn default() -> Self {
        Self {
            lake: Vec::new(),
            cpu: None,
            resource: Resource::Cpu,
            memory: None,
            accrual: None,
            by: By::default(),
            interval: None,
            from: 0.0,
            days: None,
            warm_up: 0.0,
            index: Vec::new(),
            index_file: Vec::new(),
            formula: Vec::new(),
            index_program: Vec::new(),
            time_limit: 60.0,
            slurm_conf: None,
            accounts: None,
            same_users: true,
            align: Align::default(),
            top: 7,
            show: Show::default(),
            what_if: false,
            ceiling: Ceiling::Percent(10.0),
            early: None,
            free: 0.5,
        }
    }
}

readers! {
    is_yes: bool = parsed(parse_yes);
}

/// Reads yes or no, in any of the usual words.
fn parse_yes(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "y" | "yes" | "t" | "true" | "on" | "1" => Ok(true),
        "n" | "no" | "f" | "false" | "off" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither `yes` nor `no`")),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn yes_or_no<S: serde::Serializer>(is_yes: &bool, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(if *is_yes { "yes" } else { "no" })
}

impl FairnessPlan {
    /// The choices for the answer.
    pub fn wanted(&self) -> Wanted {
        let &Self { show, top, what_if, ceiling, early, free, days, .. } = self;
        Wanted { show, top, what_if, ceiling, early, free, days }
    }

    /// The number of custom indices.
    pub(crate) fn own_count(&self) -> usize {
        self.index_file.len() + self.formula.len() + self.index_program.len()
    }

    /// The folders of the lakes.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.lake.iter().map(|text| named_lake(text).1).collect()
    }
}

/// Where windows end, and where attempts without an end are closed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// The chosen end of the window, µs; `None` for the default of each lake.
    pub window_end_us: Option<i64>,
    /// Where an attempt without an end is closed.
    pub open_attempts: OpenAttempts,
}

pub(crate) fn check(plan: &FairnessPlan) -> Result<(), Usage> {
    let wrong = |text: String| Err(Usage(text));
    let is_days = |days: f64| days.is_finite() && (0.0..=36_500.0).contains(&days);
    for (flag, days) in [
        ("--from", Some(plan.from)),
        ("--days", plan.days),
        ("--warm-up", Some(plan.warm_up)),
        ("--early", plan.early),
    ] {
        if days.is_some_and(|days| !is_days(days)) {
            return wrong(format!("{flag} must be a number of days from 0 to 36500"));
        }
    }
    if plan.interval.is_some_and(|interval| !(1.0..=1e9).contains(&interval)) {
        return wrong("--interval must be a number of seconds of 1 or more".to_owned());
    }
    if !(0.0..=1.0).contains(&plan.free) {
        return wrong("--free must be a share from 0 to 1".to_owned());
    }
    if !(0.001..=1e6).contains(&plan.time_limit) {
        return wrong("--time-limit must be a number of seconds above 0".to_owned());
    }
    match plan.resource {
        Resource::Cpu if plan.memory.is_some() => {
            return wrong(
                "--memory is for --resource memory, and this is --resource cpu".to_owned(),
            );
        }
        Resource::Gpu if plan.memory.is_some() => {
            return wrong(
                "--memory is for --resource memory, and this is --resource gpu".to_owned(),
            );
        }
        Resource::Gpu if plan.cpu.is_some_and(|cpu| cpu != CpuDefinition::GpuSlots) => {
            return wrong("--cpu is for --resource cpu, and this is --resource gpu".to_owned());
        }
        Resource::Memory if plan.cpu.is_some() => {
            return wrong("--cpu is for --resource cpu, and this is --resource memory".to_owned());
        }
        _ => {}
    }
    if plan.cpu == Some(CpuDefinition::Published) {
        let text = "`published` CPU time is known per job, not over time; give --cpu measured, \
        requested or slots";
        return wrong(text.to_owned());
    }
    Ok(())
}

/// The name and folder of a lake, from `NAME=DIR`. Without a name, the last part of the folder is
/// the name.
pub(crate) fn named_lake(text: &str) -> (String, PathBuf) {
    match text.split_once('=') {
        Some((name, path)) if !name.contains('/') && !Path::new(text).exists() => {
            (name.to_owned(), PathBuf::from(path))
        }
        _ => {
            let path = PathBuf::from(text);
            let name = path
                .file_name()
                .map_or_else(|| text.to_owned(), |name| name.to_string_lossy().into_owned());
            (name, path)
        }
    }
}

/// Whether single machines are distinguished, or only classes of machines.
pub(crate) fn machines_of(plan: &FairnessPlan) -> Machines {
    let is_each = plan.by == By::Machine
        || 0 < plan.own_count()
        || plan.index.iter().any(|text| text.contains("charges="));
    if is_each { Machines::Each } else { Machines::Classes }
}

#[cfg(feature = "cli")]
#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_flags() {
        let matches = FairnessPlan::augment_args(Command::new("fairness"))
            .try_get_matches_from(["fairness"])
            .unwrap();
        let flags = FairnessPlan::from_arg_matches(&matches).unwrap();
        let plan = FairnessPlan { lake: vec!["lake".to_owned()], ..FairnessPlan::default() };
        assert_eq!(format!("{plan:?}"), format!("{flags:?}"));
    }
}

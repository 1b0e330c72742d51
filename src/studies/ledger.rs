//! CPU time per outcome, under one of four definitions that are never mixed.
//!
//! In: a [`Study`]. Out: a [`Ledger`] that closes: outcomes + unmatched + outside of attempts is
//! the total, exactly. Groups split the same sums by class, priority or user.

use std::collections::BTreeMap;
use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

use super::fold::{JobRow, Study};
use super::outcomes::Classes;
use crate::facts::published::PublishedCpu;
use crate::schema::Source;
use crate::units::CpuTime;

/// What CPU time means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum CpuDefinition {
    /// Mean CPU rate times length of the usage windows, inside attempts
    #[default]
    Measured,
    /// Job duration times mean CPU rate times mean machine capacity (2017)
    Published,
    /// CPU request times time running
    Requested,
    /// Time running, in task-seconds
    Slots,
}

impl CpuDefinition {
    /// The unit of its sums in traces of a kind.
    pub const fn unit(self, source: Source) -> &'static str {
        match (self, source) {
            (Self::Slots, _) => "task-s",
            (Self::Requested, Source::Swf | Source::Gwf) => "processor-s",
            (Self::Requested, Source::Rumen) => "slot-s",
            _ => "NCU-s",
        }
    }

    /// Whether it reads `task_usage`.
    pub const fn needs_usage(self) -> bool {
        matches!(self, Self::Measured | Self::Published)
    }
}

impl fmt::Display for CpuDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Requested => "requested",
            Self::Slots => "slots",
        })
    }
}

/// The outcome of jobs that `job_events` does not know.
pub const UNMATCHED: &str = "unmatched";

/// A study seen under one definition and one classification.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The study.
    pub study: &'a Study,
    /// What CPU time means.
    pub cpu: CpuDefinition,
    /// How outcomes are told.
    pub classes: Classes,
    /// CPU by the published definition, where that is asked for.
    pub published: Option<&'a PublishedCpu>,
}

impl View<'_> {
    /// Every outcome of the classification.
    pub fn outcomes(&self) -> &'static [&'static str] {
        self.classes.outcomes()
    }

    /// The outcome of a job, as a position in [`View::outcomes`]; `None` when unmatched.
    pub fn outcome(&self, row: &JobRow) -> Option<usize> {
        let job = row.job.as_ref()?;
        Some(usize::from(match self.classes {
            Classes::Sequence => job.by_sequence,
            Classes::Terminal => job.by_terminal,
        }))
    }

    /// Whether a job finished.
    pub fn is_finished(&self, row: &JobRow) -> bool {
        self.outcome(row) == Some(0)
    }

    /// All CPU of a job.
    pub fn cpu_of(&self, row: &JobRow) -> CpuTime {
        match self.cpu {
            CpuDefinition::Slots => row.cpu[0],
            CpuDefinition::Requested => row.cpu[1],
            CpuDefinition::Measured => row.cpu[2],
            CpuDefinition::Published => CpuTime::from_seconds(self.published_of(row)),
        }
    }

    fn published_of(&self, row: &JobRow) -> f64 {
        self.published.and_then(|published| published.get(&row.job_id)).copied().unwrap_or(0.0)
    }

    /// A part of a job's CPU, given under the definitions known per task. The published
    /// definition knows only jobs: its part is in proportion to the measured one.
    pub fn part_of(&self, row: &JobRow, part: &super::fold::PerDefinition) -> CpuTime {
        match self.cpu {
            CpuDefinition::Slots => part[0],
            CpuDefinition::Requested => part[1],
            CpuDefinition::Measured => part[2],
            CpuDefinition::Published => {
                let share = part[2].share_of(row.cpu[2]).unwrap_or(0.0);
                CpuTime::from_seconds(self.published_of(row) * share)
            }
        }
    }

    /// CPU per outcome, and of unmatched jobs last.
    pub fn totals(&self) -> Vec<CpuTime> {
        let mut totals = vec![CpuTime::ZERO; self.outcomes().len() + 1];
        for row in &self.study.jobs {
            let outcome = self.outcome(row).unwrap_or(totals.len() - 1);
            totals[outcome] += self.cpu_of(row);
        }
        totals
    }
}

/// What jobs are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum GroupBy {
    /// Scheduling class of the job, last seen
    Class,
    /// Largest priority among the job's tasks
    Priority,
    /// User of the job
    User,
}

impl GroupBy {
    /// The name of its column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Class => "scheduling_class",
            Self::Priority => "priority",
            Self::User => "user",
        }
    }

    fn key(self, row: &JobRow) -> String {
        let number = |number: Option<i32>| {
            number.map_or_else(|| "-".to_owned(), |number| number.to_string())
        };
        match self {
            Self::Class => number(row.job.as_ref().and_then(|job| job.scheduling_class)),
            Self::Priority => number(row.priority),
            Self::User => row.user.clone().unwrap_or_else(|| "-".to_owned()),
        }
    }
}

/// One line of a ledger.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerRow {
    /// Values of the groups, in the order asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The outcome of the jobs.
    pub outcome: String,
    /// Jobs.
    pub jobs: u64,
    /// Tasks with events.
    pub tasks: u64,
    /// CPU-seconds.
    pub cpu: f64,
    /// Share of the total.
    pub share: Option<f64>,
}

/// CPU time per outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Ledger {
    /// What CPU time means.
    pub cpu: CpuDefinition,
    /// How outcomes are told.
    pub classes: Classes,
    /// Unit of every sum.
    pub unit: &'static str,
    /// Per outcome (and group).
    pub rows: Vec<LedgerRow>,
    /// CPU of jobs that `job_events` does not know.
    pub unmatched: f64,
    /// CPU of windows, or parts of them, outside of attempts.
    pub outside_attempts: f64,
    /// Everything.
    pub total: f64,
    /// Usage windows, those without a rate, and those that overlap an earlier one.
    pub windows: u64,
    /// Counted as 0.
    pub windows_without_rate: u64,
    /// Counted like all others.
    pub windows_overlapping: u64,
    /// Attempts.
    pub attempts: u64,
    /// Counted as 0 by `requested`.
    pub attempts_without_request: u64,
}

/// Sums up a view, split by groups.
pub fn ledger(view: &View<'_>, groups: &[GroupBy]) -> Ledger {
    let study = view.study;
    let mut sums: BTreeMap<(Vec<String>, usize), (u64, u64, CpuTime)> = BTreeMap::new();
    if groups.is_empty() {
        // Every outcome is listed, with 0 where nothing was.
        sums.extend(
            (0..view.outcomes().len()).map(|outcome| ((Vec::new(), outcome), Default::default())),
        );
    }
    let mut unmatched = CpuTime::ZERO;
    for row in &study.jobs {
        let cpu = view.cpu_of(row);
        let Some(outcome) = view.outcome(row) else {
            unmatched += cpu;
            continue;
        };
        let key = groups.iter().map(|group| group.key(row)).collect();
        let sum = sums.entry((key, outcome)).or_default();
        *sum = (sum.0 + 1, sum.1 + row.task_count, sum.2 + cpu);
    }
    let outside = if view.cpu == CpuDefinition::Measured { study.outside } else { CpuTime::ZERO };
    let total = sums.values().map(|sum| sum.2).sum::<CpuTime>() + unmatched + outside;
    let rows = sums
        .into_iter()
        .map(|((groups, outcome), (jobs, tasks, cpu))| LedgerRow {
            groups,
            outcome: view.outcomes()[outcome].to_owned(),
            jobs,
            tasks,
            cpu: cpu.seconds(),
            share: cpu.share_of(total),
        })
        .collect();
    Ledger {
        cpu: view.cpu,
        classes: view.classes,
        unit: view.cpu.unit(view.study.source),
        rows,
        unmatched: unmatched.seconds(),
        outside_attempts: outside.seconds(),
        total: total.seconds(),
        windows: study.usage.windows,
        windows_without_rate: study.usage.without_rate,
        windows_overlapping: study.usage.overlapping,
        attempts: study.attempts.0,
        attempts_without_request: study.attempts.1,
    }
}

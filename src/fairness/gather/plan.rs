//! The plan for gathering usage, and the reasons why usage cannot be gathered.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::facts::FactError;
use crate::facts::window::Windows;
use crate::fairness::history::Grid;
use crate::lake::Lake;
use crate::studies::meter::Meter;

/// When CPU time is charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Accrual {
    /// The whole attempt when it ends, as in the paper
    #[default]
    End,
    /// In each interval in which it runs
    Running,
}

/// What usage is grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum By {
    /// Who submitted the job
    #[default]
    User,
    /// Group of the user, if the log has it
    Group,
    /// Machine that the attempt ran on
    Machine,
    /// Site or partition that it ran on, if the log has it
    Site,
    /// Queue it was submitted to, if the log has it
    Queue,
    /// Quality of service, if the log has it
    Qos,
    /// Scheduling class
    Class,
    /// Lake that it is in
    Cluster,
}

impl By {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
            Self::Machine => "machine",
            Self::Site => "site",
            Self::Queue => "queue",
            Self::Qos => "qos",
            Self::Class => "class",
            Self::Cluster => "cluster",
        }
    }

    /// The noun for a count: the name, or its plural.
    pub fn noun(self, count: u64) -> String {
        match (self, count) {
            (Self::Qos, 1) => "quality of service".to_owned(),
            (_, 1) => self.name().to_owned(),
            _ => self.plural(),
        }
    }

    /// The plural of the name.
    pub fn plural(self) -> String {
        match self {
            Self::Class => "classes".to_owned(),
            Self::Qos => "qualities of service".to_owned(),
            other => format!("{}s", other.name()),
        }
    }
}

/// How cells distinguish machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Machines {
    /// By cluster, platform, capacity and site.
    Classes,
    /// One by one.
    Each,
}

/// The plan for gathering usage.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The charged resource, CPU time or memory time, and its definition. It cannot be `published`,
    /// which is known only per job. Memory time replaces CPU time everywhere.
    pub meter: Meter,
    /// When it is charged.
    pub accrual: Accrual,
    /// What usage is grouped by.
    pub by: By,
    /// How cells distinguish machines.
    pub machines: Machines,
    /// Whether users with the same name on two clusters are two users.
    pub separate_users: bool,
    /// The intervals.
    pub grid: Grid,
    /// Intervals before this one update the indices, but are not shown.
    pub shown_from: u32,
    /// Whether the ends of tasks are kept: one entry per task, for indices that read them.
    pub keeps_ends: bool,
    /// Whether cells distinguish machines, for indices that read machines. Otherwise only the sums
    /// per user and machine do, and there is one cell per user and interval instead of one per
    /// class.
    pub keeps_machines: bool,
}

/// A lake to gather from.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name in tables and charts.
    pub name: String,
    /// The lake.
    pub lake: Lake,
    /// Where attempts without their own end are closed.
    pub windows: Windows,
    /// Added to every time of the lake, µs.
    pub shift_us: i64,
}

/// Why usage could not be gathered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GatherError {
    /// A table is missing or cannot be read.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// CPU time by the published definition, which covers whole jobs without times.
    #[error("usage over time cannot be `published`: that definition covers whole jobs only")]
    Published,
    /// Intervals without a length, or no intervals.
    #[error(
        "{count} intervals of {interval_us} µs are given, but at least one interval of at least 1 µs is needed"
    )]
    Intervals {
        /// The number of intervals.
        count: u32,
        /// The length of an interval.
        interval_us: i64,
    },
    /// No lakes.
    #[error("no lake was given to gather usage from")]
    NoLake,
    /// More usage than fits in memory.
    #[error("usage of more than {CELLS_MAX} users, machines and intervals would fill memory")]
    TooMuch,
}

/// The most cells in memory: about 5 GB.
pub const CELLS_MAX: usize = 12_000_000;

impl Plan {
    /// Rejects a plan with a wrong or meaningless result.
    pub(super) fn check(&self) -> Result<(), GatherError> {
        let Grid { interval_us, count, .. } = self.grid;
        if self.meter == Meter::PUBLISHED {
            return Err(GatherError::Published);
        }
        if interval_us < 1 || count < 1 {
            return Err(GatherError::Intervals { count, interval_us });
        }
        Ok(())
    }
}

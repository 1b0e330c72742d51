//! The kinds of trace that a lake can be made from.
//!
//! In: a name. Out: a [`Source`], and the tables that it can fill. Only `sources` handles the
//! formats; this file has what the lake needs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Table;

/// A kind of trace.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[non_exhaustive]
pub enum Source {
    /// Google cluster-usage trace v2.1 (May 2011).
    #[default]
    #[serde(rename = "google-2011")]
    Google2011,
    /// Google cluster-usage trace v3 (May 2019): its jobs.
    #[serde(rename = "google-2019")]
    Google2019,
    /// The same trace: its alloc sets, which hold resources that jobs run in, as if each were a
    /// job.
    #[serde(rename = "google-2019-alloc-sets")]
    Google2019AllocSets,
    /// Standard workload format of the Parallel Workloads Archive.
    #[serde(rename = "swf")]
    Swf,
    /// Grid workload format of the Grid Workloads Archive.
    #[serde(rename = "gwf")]
    Gwf,
    /// Job history of Hadoop as Rumen writes it.
    #[serde(rename = "rumen")]
    Rumen,
    /// Accounting of Slurm as `sacct` prints it.
    #[serde(rename = "slurm")]
    Slurm,
    /// Pods of Alibaba's Kubernetes cluster with GPUs (2023).
    #[serde(rename = "openb")]
    Openb,
    /// Batch jobs of Alibaba's cluster trace of 2017.
    #[serde(rename = "alibaba-2017")]
    Alibaba2017,
    /// Batch jobs of Alibaba's cluster trace of 2018.
    #[serde(rename = "alibaba-2018")]
    Alibaba2018,
    /// Pods, events or requests of Kubernetes.
    #[serde(rename = "kubernetes")]
    Kubernetes,
    /// Any table with one row per job or per attempt, as a map says.
    #[serde(rename = "mapped")]
    Mapped,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 12] = [
        Self::Google2011,
        Self::Google2019,
        Self::Google2019AllocSets,
        Self::Swf,
        Self::Gwf,
        Self::Rumen,
        Self::Slurm,
        Self::Openb,
        Self::Alibaba2017,
        Self::Alibaba2018,
        Self::Kubernetes,
        Self::Mapped,
    ];

    /// The name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Google2011 => "google-2011",
            Self::Google2019 => "google-2019",
            Self::Google2019AllocSets => "google-2019-alloc-sets",
            Self::Swf => "swf",
            Self::Gwf => "gwf",
            Self::Rumen => "rumen",
            Self::Slurm => "slurm",
            Self::Openb => "openb",
            Self::Alibaba2017 => "alibaba-2017",
            Self::Alibaba2018 => "alibaba-2018",
            Self::Kubernetes => "kubernetes",
            Self::Mapped => "mapped",
        }
    }

    /// A title for readers.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Google2011 => "Google cluster trace of 2011",
            Self::Google2019 => "Google cluster trace of 2019",
            Self::Google2019AllocSets => "Google cluster trace of 2019, alloc sets",
            Self::Swf => "Log in the standard workload format",
            Self::Gwf => "Log in the grid workload format",
            Self::Rumen => "Job history of Hadoop",
            Self::Slurm => "Accounting of Slurm",
            Self::Openb => "Alibaba GPU cluster of 2023",
            Self::Alibaba2017 => "Alibaba cluster trace of 2017",
            Self::Alibaba2018 => "Alibaba cluster trace of 2018",
            Self::Kubernetes => "Pods of Kubernetes",
            Self::Mapped => "Table of jobs, read by a map",
        }
    }

    /// The tables that it can fill, in the order of [`Table::ALL`].
    pub const fn tables(self) -> &'static [Table] {
        match self {
            Self::Google2011 | Self::Google2019 | Self::Google2019AllocSets => &Table::ALL,
            Self::Swf
            | Self::Gwf
            | Self::Rumen
            | Self::Slurm
            | Self::Openb
            | Self::Alibaba2017
            | Self::Alibaba2018
            | Self::Kubernetes
            | Self::Mapped => &[Table::JobEvents, Table::TaskEvents, Table::MachineEvents],
        }
    }

    /// Whether it is a log of parallel jobs: a line per job.
    pub const fn is_log(self) -> bool {
        matches!(self, Self::Swf | Self::Gwf | Self::Slurm | Self::Mapped)
    }

    /// Whether a log may have several files, such as one per month.
    pub const fn has_files(self) -> bool {
        matches!(self, Self::Slurm | Self::Mapped)
    }

    /// Whether its jobs may be suspended, so that `run_us` may be less than the time from start to
    /// end.
    pub const fn suspends(self) -> bool {
        matches!(self, Self::Slurm | Self::Mapped)
    }

    /// Whether it is a Google trace: amounts are shares of the largest machine, and time 0 means
    /// before the window.
    pub const fn is_google(self) -> bool {
        matches!(self, Self::Google2011 | Self::Google2019 | Self::Google2019AllocSets)
    }

    /// The smallest real time of a job, µs: 0 means before the window in the Google traces, and is
    /// an ordinary time elsewhere.
    pub const fn first_time_us(self) -> i64 {
        if self.is_google() { 1 } else { 0 }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not a source.
#[derive(Debug, Error)]
#[error(
    "`{0}` is not a kind of trace (known: {known})",
    known = Source::ALL.map(Source::name).join(", ")
)]
pub struct UnknownSource(String);

impl FromStr for Source {
    type Err = UnknownSource;

    fn from_str(name: &str) -> Result<Self, UnknownSource> {
        Self::ALL
            .into_iter()
            .find(|source| source.name() == name)
            .ok_or_else(|| UnknownSource(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_known_by_its_own_name_everywhere() {
        for source in Source::ALL {
            assert_eq!(source.name().parse::<Source>().unwrap(), source);
            assert_eq!(serde_json::to_value(source).unwrap(), source.name());
        }
        assert!("borg".parse::<Source>().is_err());
    }
}

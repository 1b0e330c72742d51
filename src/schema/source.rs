//! The kinds of trace that a lake can be made from: one description of each.
//!
//! In: a name. Out: a [`Source`], with the tables that it can fill and their columns, its units,
//! and its part of the help. Only `sources` handles the formats. A new source is one entry of the
//! list `sources!`: help, hints, units and defaults follow from it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::columns::{
    GWF_JOB_EVENTS, GWF_TASK_EVENTS, LOG_MACHINE_EVENTS, MACHINE_ATTRIBUTES, RUMEN_JOB_EVENTS,
    RUMEN_MACHINE_EVENTS, RUMEN_TASK_EVENTS, SWF_JOB_EVENTS, SWF_TASK_EVENTS,
};
use super::description::{COLUMNS, Columns, Description, Family, GOOGLE, GOOGLE_2019, LOG, Trait};
use super::records::{
    ALIBABA_2017_MACHINE_EVENTS, ALIBABA_2017_TASK_EVENTS, ALIBABA_2018_MACHINE_EVENTS,
    ALIBABA_2018_TASK_EVENTS, ALIBABA_JOB_EVENTS, GPU_REQUEST, KUBERNETES_JOB_EVENTS,
    KUBERNETES_MACHINE_EVENTS, KUBERNETES_TASK_EVENTS, MAPPED_JOB_EVENTS, MAPPED_MACHINE_EVENTS,
    MAPPED_TASK_EVENTS, OPENB_JOB_EVENTS, OPENB_MACHINE_EVENTS, OPENB_TASK_EVENTS,
    SLURM_JOB_EVENTS, SLURM_MACHINE_EVENTS, SLURM_TASK_EVENTS,
};
use super::{Column, Table};
use crate::notation::listed;

/// Makes [`Source`] from the list of sources: for each, its meaning, its name on the command line
/// and in manifests, and its description.
macro_rules! sources {
    ($($(#[$meta:meta])+ $kind:ident = $name:literal: $description:expr;)+) => {
        /// A kind of trace.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
            Deserialize,
        )]
        #[non_exhaustive]
        pub enum Source {
            $($(#[$meta])+ #[serde(rename = $name)] $kind,)+
        }

        impl Source {
            /// Every source.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$kind),+];

            /// The name on the command line and in manifests.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            const fn described(self) -> &'static Description {
                match self {
                    $(Self::$kind => const { &$description },)+
                }
            }
        }
    };
}

sources! {
    /// Google cluster-usage trace v2.1 (May 2011).
    #[default]
    Google2011 = "google-2011": Description { title: "Google cluster trace of 2011", ..GOOGLE };
    /// Google cluster-usage trace v3 (May 2019): its jobs.
    Google2019 = "google-2019": Description {
        title: "Google cluster trace of 2019",
        help: "Google 2019: QUEUE and ENABLE, which v2.1 does not have, are left out. As one joined \
            CSV (`borg_traces_data.csv`) it is a sample, whose rows are split into events, usage \
            windows and jobs, each of which is kept once. The cell is the last digit of every id.",
        ..GOOGLE_2019
    };
    /// Alloc sets of the same trace, each read as a job. An alloc set holds resources that jobs run
    /// in.
    Google2019AllocSets = "google-2019-alloc-sets": Description {
        title: "Google cluster trace of 2019, alloc sets",
        traits: &[Trait::OnlyNamed],
        ..GOOGLE_2019
    };
    /// Standard workload format of the Parallel Workloads Archive.
    Swf = "swf": Description {
        title: "Log in the standard workload format",
        columns: Columns {
            job_events: SWF_JOB_EVENTS,
            task_events: SWF_TASK_EVENTS,
            machine_events: LOG_MACHINE_EVENTS,
            ..COLUMNS
        },
        ..LOG
    };
    /// Grid workload format of the Grid Workloads Archive.
    Gwf = "gwf": Description {
        title: "Log in the grid workload format",
        columns: Columns {
            job_events: GWF_JOB_EVENTS,
            task_events: GWF_TASK_EVENTS,
            machine_events: LOG_MACHINE_EVENTS,
            ..COLUMNS
        },
        ..LOG
    };
    /// Job history of Hadoop as Rumen writes it.
    Rumen = "rumen": Description {
        title: "Job history of Hadoop",
        family: Family::Slots,
        memory_unit: "MiB-s",
        columns: Columns {
            job_events: RUMEN_JOB_EVENTS,
            task_events: RUMEN_TASK_EVENTS,
            machine_events: RUMEN_MACHINE_EVENTS,
            ..COLUMNS
        },
        ..LOG
    };
    /// Accounting of Slurm as `sacct` prints it.
    Slurm = "slurm": Description {
        title: "Accounting of Slurm",
        traits: &[Trait::HasFiles, Trait::Suspends, Trait::LacksZone, Trait::SubmitsAgain],
        help: "Slurm: export with the command at the end of this help. Any selection of columns is \
            read if the file has a header; without one, the 26 fields of Open `XDMoD` are expected. \
            The name of the job must be the last column: it may hold `|`. `--format ALL` also \
            exports command lines and comments. Missing values are derived from other columns where \
            possible, and counted.",
        columns: Columns {
            job_events: SLURM_JOB_EVENTS,
            task_events: SLURM_TASK_EVENTS,
            machine_events: SLURM_MACHINE_EVENTS,
            ..COLUMNS
        },
        ..LOG
    };
    /// Pods of Alibaba's Kubernetes cluster with GPUs (2023).
    Openb = "openb": Description {
        title: "Alibaba GPU cluster of 2023",
        family: Family::Cores,
        memory_unit: "MiB-s",
        traits: &[Trait::HasPods],
        help: "Alibaba: the pods of the GPU cluster of 2023 (openb) with the list of nodes in the \
            same folder; the folder of `batch_task.csv`, `batch_instance.csv` and \
            `server_event.csv` of 2017 or `machine_meta.csv` of 2018, or one of the first two alone. \
            Instances of 2017 have no names: their later attempts are assigned within their task.",
        columns: Columns {
            job_events: OPENB_JOB_EVENTS,
            task_events: OPENB_TASK_EVENTS,
            machine_events: OPENB_MACHINE_EVENTS,
            ..COLUMNS
        },
        ..LOG
    };
    /// Batch jobs of Alibaba's cluster trace of 2017.
    Alibaba2017 = "alibaba-2017": Description {
        title: "Alibaba cluster trace of 2017",
        family: Family::Cores,
        memory_unit: "NMU-s",
        traits: &[Trait::IsTwoFiles],
        columns: Columns {
            job_events: ALIBABA_JOB_EVENTS,
            task_events: ALIBABA_2017_TASK_EVENTS,
            machine_events: ALIBABA_2017_MACHINE_EVENTS,
            ..COLUMNS
        },
        ..LOG
    };
    /// Batch jobs of Alibaba's cluster trace of 2018.
    Alibaba2018 = "alibaba-2018": Description {
        title: "Alibaba cluster trace of 2018",
        family: Family::Cores,
        memory_unit: "NMU-s",
        traits: &[Trait::IsTwoFiles, Trait::NamesTasks],
        columns: Columns {
            job_events: ALIBABA_JOB_EVENTS,
            task_events: ALIBABA_2018_TASK_EVENTS,
            machine_events: ALIBABA_2018_MACHINE_EVENTS,
            ..COLUMNS
        },
        ..LOG
    };
    /// Pods, events or requests of Kubernetes.
    Kubernetes = "kubernetes": Description {
        title: "Pods of Kubernetes",
        family: Family::Cores,
        memory_unit: "MiB-s",
        traits: &[Trait::ChoosesUser, Trait::SubmitsAgain, Trait::HasPods, Trait::NamesTasks],
        help: "Kubernetes: the output of `kubectl get pods --all-namespaces -o json` or `kubectl get \
            events --all-namespaces -o json`, or the lines of an audit log: one file, or a folder of \
            files, which are read as one: line numbers continue from file to file, in the order of \
            their names. The server deletes ended pods and old events soon, so save its output \
            often: a pod that is in several outputs counts once, as the last of them shows it.",
        columns: Columns {
            job_events: KUBERNETES_JOB_EVENTS,
            task_events: KUBERNETES_TASK_EVENTS,
            machine_events: KUBERNETES_MACHINE_EVENTS,
            ..COLUMNS
        },
        ..LOG
    };
    /// Any table with one row per job or per attempt, as described by a map.
    Mapped = "mapped": Description {
        title: "Table of jobs, read by a map",
        traits: &[
            Trait::OnlyNamed,
            Trait::HasFiles,
            Trait::Suspends,
            Trait::LacksZone,
            Trait::SubmitsAgain,
        ],
        columns: Columns {
            job_events: MAPPED_JOB_EVENTS,
            task_events: MAPPED_TASK_EVENTS,
            machine_events: MAPPED_MACHINE_EVENTS,
            ..COLUMNS
        },
        ..LOG
    };
}

impl Source {
    /// A title for readers.
    pub const fn title(self) -> &'static str {
        self.described().title
    }

    /// The tables that it can fill, in the order of [`Table::ALL`].
    pub const fn tables(self) -> &'static [Table] {
        self.described().tables
    }

    /// The columns of a table in its lakes.
    pub(super) const fn columns(self, table: Table) -> &'static [Column] {
        let columns = &self.described().columns;
        match table {
            Table::JobEvents => columns.job_events,
            Table::TaskEvents => columns.task_events,
            Table::TaskUsage => columns.task_usage,
            Table::MachineEvents => columns.machine_events,
            Table::MachineAttributes => MACHINE_ATTRIBUTES,
            Table::TaskConstraints => columns.task_constraints,
        }
    }

    /// The sources with which it shares its defaults.
    pub(crate) const fn family(self) -> Family {
        self.described().family
    }

    /// The unit of sums of CPU over time.
    pub(crate) const fn cpu_unit(self) -> &'static str {
        match self.family() {
            Family::Google => "NCU-s",
            Family::Processors => "processor-s",
            Family::Slots => "slot-s",
            Family::Cores => "core-s",
        }
    }

    /// The unit of sums of memory over time.
    pub(crate) const fn memory_unit(self) -> &'static str {
        self.described().memory_unit
    }

    /// Advice if a trace turns out to be of another kind.
    pub(crate) const fn advice(self) -> &'static str {
        if self.is_google() {
            "check that the folder holds the v2.1 trace of 2011, and the right table if you gave \
            `--table`"
        } else {
            "check that the file is complete, and of the right kind if you gave `--source`"
        }
    }

    /// The paragraph about its format in the help of `ingest`; empty if the format needs none.
    pub(crate) const fn help(self) -> &'static str {
        self.described().help
    }

    fn has(self, one: Trait) -> bool {
        self.described().traits.contains(&one)
    }

    /// Whether its content is recognised, so that `--source` is not needed.
    pub(crate) fn is_recognised(self) -> bool {
        !self.has(Trait::OnlyNamed)
    }

    /// Whether it is a log of parallel jobs: a line per job.
    pub const fn is_log(self) -> bool {
        matches!(self.family(), Family::Processors)
    }

    /// Whether it is in the standard workload format, or in the grid workload format (GWF), which
    /// begins with the same fields.
    pub const fn is_workload_format(self) -> bool {
        matches!(self, Self::Swf | Self::Gwf)
    }

    /// Whether a log may have several files, such as one per month.
    pub fn has_files(self) -> bool {
        self.has(Trait::HasFiles)
    }

    /// Whether its jobs may be suspended, so that `run_us` may be less than the time from start to
    /// end.
    pub fn suspends(self) -> bool {
        self.has(Trait::Suspends)
    }

    /// Whether its times may lack a time zone; `--timezone` then gives the zone.
    pub(crate) fn lacks_zone(self) -> bool {
        self.has(Trait::LacksZone)
    }

    /// Whether `--user-from` can choose what counts as the user.
    pub(crate) fn chooses_user(self) -> bool {
        self.has(Trait::ChoosesUser)
    }

    /// Whether a job may be submitted again, such as one that Slurm requeues.
    pub(crate) fn submits_again(self) -> bool {
        self.has(Trait::SubmitsAgain)
    }

    /// Whether jobs and tasks are in two files, and either file may have jobs that the other lacks.
    pub(crate) fn is_two_files(self) -> bool {
        self.has(Trait::IsTwoFiles)
    }

    /// Whether its jobs are pods.
    pub(crate) fn has_pods(self) -> bool {
        self.has(Trait::HasPods)
    }

    /// Whether large task indices are computed from names.
    pub(crate) fn names_tasks(self) -> bool {
        self.has(Trait::NamesTasks)
    }

    /// Whether it records GPUs.
    pub(crate) fn has_gpus(self) -> bool {
        self.columns(Table::TaskEvents).iter().any(|column| column.name == GPU_REQUEST.name)
    }

    /// Whether it is a Google trace: amounts are shares of the largest machine, and time 0 means
    /// before the window.
    pub const fn is_google(self) -> bool {
        matches!(self.family(), Family::Google)
    }

    /// The smallest real time of a job, µs: 0 means before the window in the Google traces, and is
    /// an ordinary time elsewhere.
    pub const fn first_time_us(self) -> i64 {
        if self.is_google() { 1 } else { 0 }
    }

    /// The names of the chosen sources: `slurm, openb and mapped`.
    pub(crate) fn names_of(is_chosen: impl Fn(Self) -> bool) -> String {
        let names = Self::ALL.into_iter().filter(|source| is_chosen(*source)).map(Self::name);
        let names: Vec<&str> = names.collect();
        listed(&names)
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

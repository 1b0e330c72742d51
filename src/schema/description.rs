//! What describes a kind of trace: the types and the common parts of the list of sources.
//!
//! In: nothing. Out: the fields of a [`Description`], and the families of sources.

use super::columns::{
    JOB_EVENTS, MACHINE_EVENTS, TASK_CONSTRAINTS, TASK_EVENTS, TASK_USAGE, V3_JOB_EVENTS,
    V3_MACHINE_EVENTS, V3_TASK_CONSTRAINTS, V3_TASK_EVENTS, V3_TASK_USAGE,
};
use super::{Column, Table};

/// The description of a kind of trace.
pub(super) struct Description {
    /// A title for readers.
    pub title: &'static str,
    /// Its meaning of CPU, and its defaults.
    pub family: Family,
    /// The unit of sums of memory over time: a share of the memory of the largest machine (NMU), or
    /// the unit of the log.
    pub memory_unit: &'static str,
    /// The properties that not every source has.
    pub traits: &'static [Trait],
    /// A paragraph for the help of `ingest`; empty if the format needs none.
    pub help: &'static str,
    /// The tables that it can fill, in the order of [`Table::ALL`].
    pub tables: &'static [Table],
    /// The columns of its tables.
    pub columns: Columns,
}

/// The columns of each table in lakes of a source.
pub(super) struct Columns {
    pub job_events: &'static [Column],
    pub task_events: &'static [Column],
    pub task_usage: &'static [Column],
    pub machine_events: &'static [Column],
    pub task_constraints: &'static [Column],
}

/// Sources that share the meaning of CPU, and their defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Google traces: CPU is a share of the largest machine.
    Google,
    /// Logs of parallel jobs, a line per job: each gets whole processors.
    Processors,
    /// Each attempt takes one slot, however much it uses.
    Slots,
    /// Pods and batch tasks: each gets its request, in cores.
    Cores,
}

/// A property that only some sources have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trait {
    /// It is read only if its name is given: its content is not recognised.
    OnlyNamed,
    /// A log may have several files, such as one per month.
    HasFiles,
    /// Its jobs may be suspended.
    Suspends,
    /// Its times may be without a time zone.
    LacksZone,
    /// What counts as the user can be chosen.
    ChoosesUser,
    /// A job may be submitted again.
    SubmitsAgain,
    /// Jobs and tasks are in two files, and either file may have jobs that the other lacks.
    IsTwoFiles,
    /// Its jobs are pods.
    HasPods,
    /// Large task indices are computed from names.
    NamesTasks,
}

/// The columns of the first source, which every source has.
pub(super) const COLUMNS: Columns = Columns {
    job_events: JOB_EVENTS,
    task_events: TASK_EVENTS,
    task_usage: TASK_USAGE,
    machine_events: MACHINE_EVENTS,
    task_constraints: TASK_CONSTRAINTS,
};

pub(super) const GOOGLE: Description = Description {
    title: "",
    family: Family::Google,
    memory_unit: "NMU-s",
    traits: &[],
    help: "",
    tables: &Table::ALL,
    columns: COLUMNS,
};

pub(super) const GOOGLE_2019: Description = Description {
    columns: Columns {
        job_events: V3_JOB_EVENTS,
        task_events: V3_TASK_EVENTS,
        task_usage: V3_TASK_USAGE,
        machine_events: V3_MACHINE_EVENTS,
        task_constraints: V3_TASK_CONSTRAINTS,
    },
    ..GOOGLE
};

/// A log, which has only events.
pub(super) const LOG: Description = Description {
    family: Family::Processors,
    memory_unit: "KiB-s",
    tables: &[Table::JobEvents, Table::TaskEvents, Table::MachineEvents],
    ..GOOGLE
};

//! The six tables of the trace: their names, their columns, and `schema.csv`.
//!
//! Only this list of columns says which type a column has and whether it is mandatory. Dirty rows
//! and the schema file are both made from it.

/// A table of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Table {
    JobEvents,
    TaskEvents,
    MachineEvents,
    MachineAttributes,
    TaskConstraints,
    TaskUsage,
}

/// The type of a column, as detailed as needed to make a bad value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Time,
    EventType,
    Integer,
    Float,
    Flag,
    Text,
    TextOrInteger,
}

/// One column: name, kind, and whether it may be empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: ColumnKind,
    pub(super) need: Need,
}

/// Whether a column may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Mandatory,
    Optional,
}

const fn must(name: &'static str, kind: ColumnKind) -> Column {
    Column { name, kind, need: Need::Mandatory }
}

const fn may(name: &'static str, kind: ColumnKind) -> Column {
    Column { name, kind, need: Need::Optional }
}

impl Table {
    /// Every table, in the order of the original schema file.
    pub(super) const ALL: [Self; 6] = [
        Self::JobEvents,
        Self::TaskEvents,
        Self::MachineEvents,
        Self::MachineAttributes,
        Self::TaskConstraints,
        Self::TaskUsage,
    ];

    /// The tables that are split by time; the others have one part.
    pub(super) const SLICED: [Self; 4] =
        [Self::JobEvents, Self::TaskEvents, Self::TaskConstraints, Self::TaskUsage];

    /// The folder name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::JobEvents => "job_events",
            Self::TaskEvents => "task_events",
            Self::MachineEvents => "machine_events",
            Self::MachineAttributes => "machine_attributes",
            Self::TaskConstraints => "task_constraints",
            Self::TaskUsage => "task_usage",
        }
    }

    /// Position in [`Table::ALL`].
    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// Whether the table is split into parts by time.
    pub(super) fn is_sliced(self) -> bool {
        Self::SLICED.contains(&self)
    }

    /// The columns in file order.
    pub(super) const fn columns(self) -> &'static [Column] {
        match self {
            Self::JobEvents => JOB_EVENTS,
            Self::TaskEvents => TASK_EVENTS,
            Self::MachineEvents => MACHINE_EVENTS,
            Self::MachineAttributes => MACHINE_ATTRIBUTES,
            Self::TaskConstraints => TASK_CONSTRAINTS,
            Self::TaskUsage => TASK_USAGE,
        }
    }
}

use ColumnKind::{EventType, Flag, Float, Integer, Text, TextOrInteger, Time};

const JOB_EVENTS: &[Column] = &[
    must("time", Time),
    may("missing info", Integer),
    must("job ID", Integer),
    must("event type", EventType),
    may("user", Text),
    may("scheduling class", Integer),
    may("job name", Text),
    may("logical job name", Text),
];

const TASK_EVENTS: &[Column] = &[
    must("time", Time),
    may("missing info", Integer),
    must("job ID", Integer),
    must("task index", Integer),
    may("machine ID", Integer),
    must("event type", EventType),
    may("user", Text),
    may("scheduling class", Integer),
    must("priority", Integer),
    may("CPU request", Float),
    may("memory request", Float),
    may("disk space request", Float),
    may("different machines restriction", Flag),
];

const MACHINE_EVENTS: &[Column] = &[
    must("time", Time),
    must("machine ID", Integer),
    must("event type", EventType),
    may("platform ID", Text),
    may("CPUs", Float),
    may("Memory", Float),
];

const MACHINE_ATTRIBUTES: &[Column] = &[
    must("time", Time),
    must("machine ID", Integer),
    must("attribute name", Text),
    may("attribute value", TextOrInteger),
    must("attribute deleted", Flag),
];

const TASK_CONSTRAINTS: &[Column] = &[
    must("time", Time),
    must("job ID", Integer),
    must("task index", Integer),
    must("comparison operator", Integer),
    must("attribute name", Text),
    may("attribute value", TextOrInteger),
];

const TASK_USAGE: &[Column] = &[
    must("start time", Time),
    must("end time", Time),
    must("job ID", Integer),
    must("task index", Integer),
    must("machine ID", Integer),
    may("CPU rate", Float),
    may("canonical memory usage", Float),
    may("assigned memory usage", Float),
    may("unmapped page cache", Float),
    may("total page cache", Float),
    may("maximum memory usage", Float),
    may("disk I/O time", Float),
    may("local disk space usage", Float),
    may("maximum CPU rate", Float),
    may("maximum disk IO time", Float),
    may("cycles per instruction", Float),
    may("memory accesses per instruction", Float),
    may("sample portion", Float),
    may("aggregation type", Flag),
    may("sampled CPU usage", Float),
];

/// Returns the text of `schema.csv`, in the format of the original.
pub(super) fn schema_csv() -> String {
    let mut text = String::from("file pattern,field number,content,format,mandatory\n");
    for table in Table::ALL {
        let pattern = if table.is_sliced() { "part-?????-of-?????" } else { "part-00000-of-00001" };
        for (position, column) in table.columns().iter().enumerate() {
            let format = match column.kind {
                Time | EventType | Integer => "INTEGER",
                Float => "FLOAT",
                Flag => "BOOLEAN",
                Text => "STRING_HASH",
                TextOrInteger => "STRING_HASH_OR_INTEGER",
            };
            let mandatory = if column.need == Need::Mandatory { "YES" } else { "NO" };
            let number = (position + 1).to_string();
            let file_pattern = format!("{}/{pattern}.csv.gz", table.name());
            text.push_str(&[&*file_pattern, &number, column.name, format, mandatory].join(","));
            text.push('\n');
        }
    }
    text
}

//! The lake's tables: every column once, with its name, type, unit and meaning.
//!
//! In: nothing. Out: the columns of each table, for the sources that fill it, the lake that stores
//! it and the help that explains it. No other file defines a column's type; a change of a column
//! here raises [`FORMAT_VERSION`].
//!
//! Every source fills the same tables with the same event numbers. Data that only some logs have
//! are in extra columns, which exist only in lakes of those sources ([`Table::columns`]).

mod columns;
mod description;
mod event;
mod ids;
mod records;
mod source;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

pub(crate) use description::Family;
pub use event::EventType;
pub use ids::{PARTS_MAX, ROW_ID_LINE_BITS, bucket_of, row_id};
pub use source::{Source, UnknownSource};

/// The version of the lake's layout and columns, written into every manifest.
pub const FORMAT_VERSION: u32 = 3;

/// A table of the lake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Table {
    /// Life-cycle events of jobs.
    JobEvents,
    /// Life-cycle events of tasks.
    TaskEvents,
    /// Measured use of resources, one row per task and window.
    TaskUsage,
    /// Machines that join, leave or change.
    MachineEvents,
    /// Attributes of machines over time.
    MachineAttributes,
    /// Constraints of tasks on attributes of machines.
    TaskConstraints,
}

/// How a column is stored, and what its raw text must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A time in whole microseconds, never negative (i64).
    Time,
    /// An id (i64).
    Id,
    /// A small whole number (i32).
    Int,
    /// A whole number that may be large or negative, such as a span in microseconds (i64).
    Long,
    /// An event number from 0 up to the given one (i32).
    Event(i32),
    /// A quantity (f32).
    Float,
    /// A quantity from 0 up to [`AMOUNT_MAX`] (f32): CPU, memory and disk.
    Amount,
    /// Yes or no.
    Bool,
    /// A name or hash (UTF-8).
    Text,
    /// Several quantities (list of f32).
    Floats,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name in the lake.
    pub name: &'static str,
    /// How it is stored.
    pub kind: ColumnType,
    /// Whether a row without it is a reject.
    pub is_mandatory: bool,
    /// The unit, or an empty text.
    pub unit: &'static str,
    /// Its meaning in one line.
    pub meaning: &'static str,
}

/// The name of the column that keeps the file order: part number times 2^40 plus line. If a line or
/// object makes several rows, the source defines what counts as a line.
pub const ROW_ID: &str = "row_id";

/// The id of the machine that represents a whole system in logs of parallel jobs, which do not
/// record the size of each machine.
pub const SYSTEM_MACHINE: i64 = 1;

/// The assumption that tasks started when they were created.
pub const STARTS: &str = "no start time: started when it was created";

/// The assumption about tasks that stand for several instances, in a log without instances.
pub const SEVERAL_INSTANCES: &str = "tasks of several instances: a task stands for all of them, which \
    count as running, each with its request, from the start of the task to its end";

/// The remark about the rows of a joined file, which has only some of the rows of its trace.
pub const JOINED_SAMPLE: &str =
    "rows of a joined sample: sequences and totals are not those of the trace";

/// The remark about a log that does not record the capacity of the system: it is inferred from use.
pub const CAPACITY_FROM_USE: &str =
    "capacity of the system not recorded: the most processors in use at once";

/// The remark about jobs that ran on several machines: their events do not name a machine.
pub const ON_SEVERAL: &str = "ran on several machines: all in `node_list`, none in `machine_id`";

/// The most CPU, memory or disk that a row may have, in units of the largest machine: 2^20.
///
/// Real rows stay below a few hundred. With this limit no sum of [`crate::units::CpuTime`] can
/// overflow: that would take 2^44 rows of 2^63 µs each.
pub const AMOUNT_MAX: f32 = 1_048_576.0;

impl Table {
    /// Every table, in the order in which they are ingested and shown.
    pub const ALL: [Self; 6] = [
        Self::JobEvents,
        Self::TaskEvents,
        Self::TaskUsage,
        Self::MachineEvents,
        Self::MachineAttributes,
        Self::TaskConstraints,
    ];

    /// The name of the table, of its folder in the lake and of its folder in a raw trace.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JobEvents => "job_events",
            Self::TaskEvents => "task_events",
            Self::TaskUsage => "task_usage",
            Self::MachineEvents => "machine_events",
            Self::MachineAttributes => "machine_attributes",
            Self::TaskConstraints => "task_constraints",
        }
    }

    /// The contents of the table in one line.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::JobEvents => "life-cycle events of jobs",
            Self::TaskEvents => "life-cycle events of tasks",
            Self::TaskUsage => "measured use of resources, one row per task and window",
            Self::MachineEvents => "machines that join, leave or change",
            Self::MachineAttributes => "properties of machines over time",
            Self::TaskConstraints => "constraints of tasks on machine attributes",
        }
    }

    /// The columns in a lake of `source`, without `row_id`, in the order of the lake: first the
    /// columns of every source, then additional ones.
    pub const fn columns(self, source: Source) -> &'static [Column] {
        source.columns(self)
    }

    /// The position of `name` among [`Table::columns`].
    pub fn column_idx(self, source: Source, name: &str) -> Option<usize> {
        self.columns(source).iter().position(|column| column.name == name)
    }

    /// The position of the job id, which is the same for every source. Rows are spread over buckets
    /// by the job id. Tables of machines have no job id and are not spread.
    pub fn job_column(self) -> Option<usize> {
        self.column_idx(Source::Google2011, "job_id")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not a table.
#[derive(Debug, Error)]
#[error(
    "`{0}` is not a table (known: job_events, task_events, task_usage, machine_events, machine_attributes, task_constraints)"
)]
pub struct UnknownTable(String);

impl FromStr for Table {
    type Err = UnknownTable;

    fn from_str(name: &str) -> Result<Self, UnknownTable> {
        Self::ALL
            .into_iter()
            .find(|table| table.name() == name)
            .ok_or_else(|| UnknownTable(name.to_owned()))
    }
}

impl Column {
    /// The name of the type in other engines.
    pub const fn type_name(&self) -> &'static str {
        match self.kind {
            ColumnType::Time | ColumnType::Id | ColumnType::Long => "int64",
            ColumnType::Int | ColumnType::Event(_) => "int32",
            ColumnType::Float | ColumnType::Amount => "float32",
            ColumnType::Bool => "boolean",
            ColumnType::Text => "string",
            ColumnType::Floats => "float32[]",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_known_by_its_own_name() {
        for table in Table::ALL {
            assert_eq!(table.name().parse::<Table>().unwrap(), table);
        }
        assert!("jobs".parse::<Table>().is_err());
    }

    #[test]
    fn every_source_has_the_columns_of_the_first() {
        for source in Source::ALL {
            for table in Table::ALL {
                let first = table.columns(Source::Google2011);
                let own = table.columns(source);
                for (one, other) in first.iter().zip(own) {
                    let stored = |column: &Column| (column.name, column.type_name());
                    assert_eq!(stored(one), stored(other), "{source} {table}");
                    assert!(one.is_mandatory || !other.is_mandatory, "{}", one.name);
                }
                let extra = own.get(first.len()..).expect("no column is left out");
                assert!(extra.iter().all(|column| !column.is_mandatory), "{source} {table}");
                let names: std::collections::BTreeSet<&str> =
                    own.iter().map(|column| column.name).collect();
                assert_eq!(names.len(), own.len(), "each name once in {source} {table}");
            }
        }
    }

    #[test]
    fn row_ids_follow_part_then_line() {
        assert!(row_id(0, 1 << 39) < row_id(1, 1));
        assert!(row_id(3, 7) < row_id(3, 8));
    }

    #[test]
    fn buckets_are_even() {
        let mut counts = [0u32; 8];
        for job in 0..8000 {
            counts[bucket_of(6_000_000_000 + job, 8) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| 850 < count && count < 1150), "{counts:?}");
    }
}

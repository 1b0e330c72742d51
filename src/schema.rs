//! The lake's tables: every column once, with its name, type, unit and meaning.
//!
//! In: nothing. Out: what a table is made of, for the sources that fill it, the lake that stores
//! it and the help that explains it. No other file names a column's type; a change of a column
//! here raises [`FORMAT_VERSION`].

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The version of the lake's layout and columns, written into every manifest.
pub const FORMAT_VERSION: u32 = 1;

/// A table of the lake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Life-cycle events of jobs.
    JobEvents,
    /// Life-cycle events of tasks.
    TaskEvents,
    /// Measured use of resources, one row per task and window.
    TaskUsage,
    /// Machines that join, leave or change.
    MachineEvents,
    /// Properties of machines over time.
    MachineAttributes,
    /// Demands of tasks on properties of machines.
    TaskConstraints,
}

/// How a column is stored, and what its raw text must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A time in whole microseconds, never negative (i64).
    Time,
    /// A number that names something (i64).
    Id,
    /// A small whole number (i32).
    Int,
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
    /// What it says, one line.
    pub meaning: &'static str,
}

const fn must(
    name: &'static str,
    kind: ColumnType,
    unit: &'static str,
    meaning: &'static str,
) -> Column {
    Column { name, kind, is_mandatory: true, unit, meaning }
}

const fn may(
    name: &'static str,
    kind: ColumnType,
    unit: &'static str,
    meaning: &'static str,
) -> Column {
    Column { name, kind, is_mandatory: false, unit, meaning }
}

/// The name of the column that keeps the file order: part number times 2^40 plus line.
pub const ROW_ID: &str = "row_id";

/// The most CPU, memory or disk that a row may name, in units of the largest machine: 2^20.
///
/// Real rows stay below a few hundred. With it no sum of [`crate::units::CpuTime`] can overflow:
/// 2^44 rows of 2^63 µs each would have to be added up.
pub const AMOUNT_MAX: f32 = 1_048_576.0;

use ColumnType::{Amount, Bool, Event, Float, Id, Int, Text, Time};

const JOB_EVENTS: &[Column] = &[
    must("time_us", Time, "µs", "when it happened; 0 before the window, 2^63-1 after it"),
    may(
        "missing_info",
        Int,
        "",
        "why the row was made up: 0 no transition, 1 nothing seen, 2 no creation",
    ),
    must("job_id", Id, "", "the job"),
    must(
        "event_type",
        Event(8),
        "",
        "0 SUBMIT 1 SCHEDULE 2 EVICT 3 FAIL 4 FINISH 5 KILL 6 LOST 7 UPDATE_PENDING 8 UPDATE_RUNNING",
    ),
    may("user", Text, "", "who submitted it (hash)"),
    may("scheduling_class", Int, "", "latency sensitivity, 0 batch to 3 serving"),
    may("job_name", Text, "", "name of the job (hash)"),
    may("logical_job_name", Text, "", "name shared by runs of one program (hash)"),
];

const TASK_EVENTS: &[Column] = &[
    must("time_us", Time, "µs", "when it happened; 0 before the window, 2^63-1 after it"),
    may(
        "missing_info",
        Int,
        "",
        "why the row was made up: 0 no transition, 1 nothing seen, 2 no creation",
    ),
    must("job_id", Id, "", "the job"),
    must("task_index", Int, "", "the task's number within its job"),
    may("machine_id", Id, "", "where it runs or ran"),
    must(
        "event_type",
        Event(8),
        "",
        "0 SUBMIT 1 SCHEDULE 2 EVICT 3 FAIL 4 FINISH 5 KILL 6 LOST 7 UPDATE_PENDING 8 UPDATE_RUNNING",
    ),
    may("user", Text, "", "who submitted it (hash)"),
    may("scheduling_class", Int, "", "latency sensitivity, 0 batch to 3 serving"),
    must("priority", Int, "", "0 lowest; 0-1 free, 9-11 production"),
    may("cpu_request", Amount, "NCU", "CPU asked for, share of the largest machine"),
    may("memory_request", Amount, "share", "memory asked for, share of the largest machine"),
    may("disk_request", Amount, "share", "disk asked for, share of the largest machine"),
    may("different_machines", Bool, "", "whether tasks of the job must run on different machines"),
];

const TASK_USAGE: &[Column] = &[
    must("start_time_us", Time, "µs", "start of the window"),
    must("end_time_us", Time, "µs", "end of the window, at most 300 s later"),
    must("job_id", Id, "", "the job"),
    must("task_index", Int, "", "the task's number within its job"),
    must("machine_id", Id, "", "where it ran"),
    may("mean_cpu_rate", Amount, "NCU", "mean CPU use: core-seconds per second, scaled"),
    may("canonical_memory", Amount, "share", "user-accessible memory, mean"),
    may("assigned_memory", Amount, "share", "memory limit of the container"),
    may("unmapped_page_cache", Amount, "share", "page cache not mapped into a process, mean"),
    may("total_page_cache", Amount, "share", "page cache, mean"),
    may("max_memory", Amount, "share", "largest canonical memory"),
    may("mean_disk_io_time", Float, "s/s", "disk-time seconds per second, mean"),
    may("mean_local_disk_space", Amount, "share", "local disk used, mean"),
    may("max_cpu_rate", Amount, "NCU", "largest CPU use seen in the window"),
    may("max_disk_io_time", Float, "s/s", "largest disk-time seconds per second"),
    may("cycles_per_instruction", Float, "cycles", "CPI; the trace holds impossible values"),
    may(
        "memory_accesses_per_instruction",
        Float,
        "accesses",
        "MAI; the trace holds impossible values",
    ),
    may("sample_portion", Float, "share", "observed over expected samples"),
    may("aggregation_type", Bool, "", "whether maxima come from sub-containers"),
    may("sampled_cpu_usage", Amount, "NCU", "CPU use in one random second of the window"),
];

const MACHINE_EVENTS: &[Column] = &[
    must("time_us", Time, "µs", "when it happened; 0 before the window"),
    must("machine_id", Id, "", "the machine"),
    must("event_type", Event(2), "", "0 ADD, 1 REMOVE, 2 UPDATE"),
    may("platform_id", Text, "", "micro-architecture and chipset (hash)"),
    may("cpu_capacity", Amount, "NCU", "CPU, share of the largest machine"),
    may("memory_capacity", Amount, "share", "memory, share of the largest machine"),
];

const MACHINE_ATTRIBUTES: &[Column] = &[
    must("time_us", Time, "µs", "when it happened; 0 before the window"),
    must("machine_id", Id, "", "the machine"),
    must("attribute_name", Text, "", "name of the attribute (hash)"),
    may("attribute_value", Text, "", "value (hash or whole number)"),
    must("is_deleted", Bool, "", "whether the attribute was taken away"),
];

const TASK_CONSTRAINTS: &[Column] = &[
    must("time_us", Time, "µs", "when it was set; 0 before the window"),
    must("job_id", Id, "", "the job"),
    must("task_index", Int, "", "the task's number within its job"),
    must("comparison_operator", Event(3), "", "0 EQUAL, 1 NOT_EQUAL, 2 LESS_THAN, 3 GREATER_THAN"),
    must("attribute_name", Text, "", "name of the attribute (hash)"),
    may("attribute_value", Text, "", "value to compare with (hash or whole number)"),
];

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

    /// One line on what the table holds.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::JobEvents => "life-cycle events of jobs",
            Self::TaskEvents => "life-cycle events of tasks",
            Self::TaskUsage => "measured use of resources, one row per task and window",
            Self::MachineEvents => "machines that join, leave or change",
            Self::MachineAttributes => "properties of machines over time",
            Self::TaskConstraints => "demands of tasks on properties of machines",
        }
    }

    /// The columns without `row_id`, in the order of the lake.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::JobEvents => JOB_EVENTS,
            Self::TaskEvents => TASK_EVENTS,
            Self::TaskUsage => TASK_USAGE,
            Self::MachineEvents => MACHINE_EVENTS,
            Self::MachineAttributes => MACHINE_ATTRIBUTES,
            Self::TaskConstraints => TASK_CONSTRAINTS,
        }
    }

    /// The position of `name` among [`Table::columns`].
    pub fn column_idx(self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name == name)
    }

    /// The position of the job's id, by which the rows are spread over buckets. Tables of
    /// machines have none and are not spread.
    pub fn job_column(self) -> Option<usize> {
        self.column_idx("job_id")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no table.
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
    /// The type as other engines call it.
    pub const fn type_name(&self) -> &'static str {
        match self.kind {
            Time | Id => "int64",
            Int | Event(_) => "int32",
            Float | Amount => "float32",
            Bool => "boolean",
            Text => "string",
        }
    }
}

/// Returns the bucket of `job_id` among `bucket_count`: splitmix64's finaliser, modulo.
///
/// Written into the manifest as `splitmix64`. Consecutive ids spread evenly; the same id is in
/// the same bucket in every table and on every machine.
#[inline]
#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "bits are mixed, and the remainder is below a u32"
)]
pub fn bucket_of(job_id: i64, bucket_count: u32) -> u32 {
    let mut bits = job_id as u64;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    (bits % u64::from(bucket_count)) as u32
}

/// Bits of a `row_id` that hold the line; the part number stands above them.
pub const ROW_ID_LINE_BITS: u32 = 40;

/// Returns the `row_id` of a line (from 1) of a part.
#[inline]
#[expect(clippy::cast_possible_wrap, reason = "a part has fewer than 2^40 lines")]
pub fn row_id(part: u32, line: u64) -> i64 {
    (i64::from(part) << ROW_ID_LINE_BITS) | line as i64
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

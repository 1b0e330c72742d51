//! Google cluster-usage trace v3 (May 2019): JSON objects, one per line, to typed rows.
//!
//! In: lines as `BigQuery` exports its tables: 64-bit numbers are text or numbers, and fields
//! without a value are absent or null. Rows of the same tables as Parquet are converted to that
//! form by the reader of blocks. Out: the tables of the lake under the event numbers of v2.1.
//!
//! ```text
//!  collection_events ─► job_events          0 SUBMIT 3 SCHEDULE 4 EVICT 5 FAIL 6 FINISH 7 KILL ...
//!  instance_events   ─► task_events    v2.1 0        1          2       3      4        5
//!                   └─► task_constraints, a row per demand of an event
//!  instance_usage    ─► task_usage
//!  machine_events, machine_attributes
//! ```
//!
//! - QUEUE and ENABLE have no number in v2.1 and do not change the state that its events describe:
//!   such rows are left out and counted. A lake of jobs also leaves out the rows of alloc sets,
//!   whose usage is that of the jobs inside; a lake of alloc sets leaves out those of jobs.
//! - Only a joined file ([`super::joined`]) names the user of an instance. Otherwise, if
//!   `collection_events` is there too, `user` of `task_events` is the user of the collection. The
//!   same applies to `different_machines` (true if `max_per_machine` is 1).
//! - 0 means no alloc set or no machine, and -1 no instance of an alloc set; those cells are
//!   missing. Machine -1 is a dedicated one, and is kept.
//! - `missing_info` is one less than the trace's `missing_type`, as v2.1 counts.
//! - `row_id` of constraints holds line × 256 + place in the line.
//!
//! Source: "Google cluster-usage traces v3" (Wilkes, 2020) and its protocol buffer.

mod cells;
pub(super) mod files;
mod line;
pub(super) mod owners;
mod parser;
#[cfg(test)]
mod tests;

pub(super) use self::parser::Parser;

//! The trace of 2019 as one joined CSV, `borg_traces_data.csv`, split into its tables again.
//!
//! In: a table with a header. A row is an event of an instance, its collection and one window of
//! its usage; events and windows repeat in other rows. Out: the objects of the original tables, for
//! the [`Parser`](crate::sources::google_2019::Parser) of those; repeated events and windows are
//! left out and counted.
//!
//! ```text
//!  row ─┬─► collections_events_type, user, ...    ─► job_events
//!       ├─► instance_events_type, request, ...    ─► task_events, task_constraints
//!       └─► start_time, end_time, usage, ...      ─► task_usage
//! ```
//!
//! - Ids get the number of the cell as their last digit, since each cell numbers its own
//!   collections and machines.
//! - Types are the numbers of v3. The column `event` names them in alphabetical order, which
//!   contradicts the trace. It is not read, but rows in which it contradicts the number are
//!   counted.
//! - The event of a collection has no time; it gets the time of the row.
//! - Resources and lists are texts as Python prints them, with line ends inside quotes.
//!
//! The file is a sample: most events of an instance are not in it, so sequences and totals are not
//! those of the trace. Every lake gets a remark about this.

mod columns;
mod parser;
mod python;

pub(crate) use self::columns::TABLES;
pub(super) use self::columns::is_seen;
pub(super) use self::parser::Joined;

//! The batch jobs of Alibaba's cluster trace of 2018: `batch_task`, `batch_instance` and
//! `machine_meta`, CSV without a header.
//!
//! In: lines of 9, 14 or 7 comma-separated fields. Out: the events that [`super::records`] makes of
//! them; [`super::alibaba`] holds the code that is shared with the trace of 2017. The table of
//! tasks gives the requests of the instances and the outcomes of the jobs. If one of the two tables
//! is missing, the other is used for both: without instances, each task of the trace is one task,
//! with the CPU of all its instances.
//!
//! ```text
//!  start_time                               end_time
//!    SUBMIT, SCHEDULE -------------------------- by status
//! ```
//!
//! The trace has no submit times, and a time of 0 means outside of the trace. The task index of an
//! instance is the number in its name (`ins_74901673`), which is unique in the trace.
//!
//! The name of a task gives its number and the numbers of the tasks that must end first: `M5_3_4`
//! is task 5, which waits for 3 and 4 (`depends_on`). A name such as `task_Nzg3` gives neither.

mod amounts;
mod format;
mod machines;
mod names;

pub(super) use self::format::parser;

pub(crate) use self::names::number_of_task;

#[cfg(test)]
mod tests;

//! The batch jobs of Alibaba's cluster trace of 2017: `batch_task`, `batch_instance` and
//! `server_event`, CSV with or without a header.
//!
//! In: lines of 8, 12 or 7 comma-separated fields. Out: the events that [`super::records`] makes of
//! them; [`super::alibaba`] holds the code that is shared with the trace of 2018. The table of
//! tasks gives the requests of the instances and the outcomes of the jobs. If one of the two tables
//! is missing, the other is used for both: without instances, each task of the trace is one task,
//! with the CPU of all its instances. A task has one state, the latest, and the time of that state.
//!
//! ```text
//!  create                                    modify
//!    SUBMIT, SCHEDULE --------------------------- by status
//! ```
//!
//! A time before the trace counts as 0. The table of tasks has no start times, since each instance
//! starts at its own time: a task counts as started when it was created, with a remark.

mod amounts;
mod format;
mod instances;
mod machines;

pub(super) use self::format::parser;

#[cfg(test)]
mod tests;

//! Rumen: the history of Hadoop jobs as JSON, one object per job, with every task and attempt.
//!
//! In: the text of a trace, objects one after the other on any number of lines, and the topology in
//! the same folder. Out: `job_events`, `task_events`, and `machine_events` of the hosts.
//!
//! ```text
//!  job      SUBMIT submitTime .. SCHEDULE launchTime ------------------------ end finishTime
//!  task                          SUBMIT ..... SCHEDULE -- FAIL  SCHEDULE -- FINISH
//!                                launchTime   attempt 0         attempt 1
//! ```
//!
//! - The number of a job is the start of its cluster times 10^6 plus the number in its name:
//!   `job_200904211745_0002` is 200904211745000002. A job with another name has minus its position
//!   in the file. `job_name` holds this name, `logical_job_name` the name that the user gave.
//! - `task_index` numbers the tasks of a job from 0: maps, then reduces, then setup and cleanup, in
//!   file order. `phase` gives the kind of a task, and `task_name` its name in Hadoop.
//! - Each attempt is a SCHEDULE and an end: SUCCESS is FINISH, FAILED is FAIL, KILLED is KILL.
//!   There is no SUBMIT between two attempts, and `attempt` numbers them. The lake has one attempt
//!   of a task at a time. If attempts overlap (speculation), the first to finish is whole. An
//!   attempt that began earlier ends when that one begins; one that began later is left out and
//!   counted. An attempt that ends before it starts, or that has no start, has no length and is
//!   placed at its end.
//! - Times are milliseconds since 1970. Null, -1 and 0 are missing.
//! - Hosts are numbered from 1 in the order of the topology; hosts that it lacks follow in the
//!   order of the trace. `row_id` counts the events of a file.
//!
//! Source: `LoggedJob`, `LoggedTask`, `LoggedTaskAttempt` and `LoggedNetworkTopology` of Apache
//! Hadoop's `hadoop-rumen`.

mod events;
mod jobs;
mod tasks;
mod topology;

pub(super) use self::jobs::parser;

#[cfg(test)]
mod tests;

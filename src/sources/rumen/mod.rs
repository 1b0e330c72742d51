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
//!   There is no SUBMIT between two attempts. Attempts that overlap (speculation) are both kept;
//!   `attempt` distinguishes their events, and questions about attempts end the first at the start
//!   of the second. An attempt that ends before it starts, or that has no start, has no length and
//!   is at its end.
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

use rustc_hash::FxHashSet;

use super::SourceError;
use super::folder::RawPart;
use super::json::{ObjectParser, ObjectReader};
use super::part::{Notes, PartParser};
use crate::schema::Table;
use jobs::{Jobs, Machines};

/// A parser for one table of a trace, or for its topology.
pub(super) fn parser(part: &RawPart) -> Result<Box<dyn PartParser>, SourceError> {
    if part.table == Table::MachineEvents {
        return Ok(Box::new(topology::Parser { part: part.part, text: Vec::new() }));
    }
    let hosts = part.beside.as_deref().map(topology::read).transpose()?.unwrap_or_default();
    let numbers = (1..).zip(hosts).map(|(number, host)| (host.name, number)).collect();
    let format = Jobs {
        part: part.part,
        table: part.table,
        seen: FxHashSet::default(),
        machines: Machines { numbers, unknown: 0 },
        job_count: 0,
        row_count: 0,
        notes: Notes::default(),
    };
    Ok(Box::new(ObjectParser { objects: ObjectReader::default(), format }))
}

/// Removes the backslashes that Hadoop's history puts before dots.
fn unescaped(name: &str) -> String {
    name.replace('\\', "")
}

#[cfg(test)]
mod tests;

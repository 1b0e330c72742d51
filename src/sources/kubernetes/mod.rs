//! Kubernetes: pods as `kubectl get pods -o json` prints them, events, and lines of an audit log.
//!
//! In: a list with `items`, or objects one after the other. Out: the events that `records` makes of
//! pods; objects of another kind are left out and counted. Items are read one at a time: memory
//! does not hold the list.
//!
//! ```text
//!  creationTimestamp   PodScheduled   container ends    started again         ends
//!    SUBMIT ............ SCHEDULE ------ FAIL .......... SCHEDULE --------------- by phase
//! ```
//!
//! | Pod | End |
//! |---|---|
//! | Succeeded | FINISH |
//! | Failed | FAIL |
//! | Failed as `Evicted`, `Preempting`, `Terminated`, `NodeShutdown`, `Shutdown` | EVICT |
//! | Failed as `NodeLost`, `Unknown` phase | LOST |
//! | deleted before it ended | KILL |
//! | marked as the target of a disruption | EVICT, if it failed or was deleted |
//! | a container that was restarted | FAIL, or FINISH if it ended with 0 |
//! | a container that waits for its restart | SUBMIT when it ended |
//! | Pending, Running | none: open |
//!
//! A job is the owner of the pod: a Job, the Deployment of a `ReplicaSet`, a `StatefulSet`; else
//! the pod itself. `task_index` is the index of the pod in an indexed Job or a `StatefulSet`, else
//! a hash of its name. Restarts of init containers are not attempts, and are counted. The reason of
//! a failed pod is that of the container that failed first. A pod shows only the last two attempts
//! of a container. Those before them become one attempt, which starts when the pod was scheduled.
//!
//! Several snapshots of a pod count as one: the last, with the attempts, starts and ends that any
//! of them shows. The last is found by `resourceVersion`; without it, by the number of its last
//! attempt, then by end, then by start. A list without items gives one reject: its last brace.
//!
//! | Change of a pod (event, request) | Event |
//! |---|---|
//! | `create` of a pod; `FailedScheduling` | SUBMIT |
//! | `create` of its binding; `Scheduled` | SCHEDULE |
//! | `delete` of a pod; `Killing` | KILL |
//! | `create` of an eviction; `Evicted`, `Preempted`, `TaintManagerEviction` | EVICT |
//!
//! A request that was logged with a pod as its answer is read as that pod. The files of a folder
//! are read as one, with objects in any order. Rows of a pod that has ended without a restart are
//! made immediately, and hashes of its name and uid are kept. Everything else is combined at the
//! end of the file: a pod that may still change is held as JSON, a few kB each. A pod that a list
//! or an answer shows has the events shown there. Its changes only add the start and end of its
//! last attempt, if that attempt is open. Other pods have the events of their changes.

mod changes;
mod format;
mod held;
mod objects;
mod pods;

pub(super) use self::format::{is_seen, parser};

#[cfg(test)]
mod tests;

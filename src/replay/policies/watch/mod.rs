//! Straggler detectors in a replay: flagged attempts are copied, or killed and restarted.
//!
//! In: any detector by its name (`late`, `yarn`, `poisson`, ...) with its own parameters, and those
//! of the policy. At each heartbeat every group with running attempts is judged; flagged copies go
//! to suitable free machines until the next heartbeat; restarts happen at once.
//!
//! A group whose detector reports that it will flag no attempt before a time is not judged until
//! then, unless an attempt of it begins or ends (see [`sleep`]). So the cost of a heartbeat depends
//! on the attempts of the groups that may be flagged, and groups that are not judged cost nothing.
//! The attempts of a group stay in an array from one heartbeat to the next; if all machines keep a
//! speed of 1 (as in recorded history), their reports are computed from that array alone.
//!
//! ```text
//!  heartbeat   |----------|----------|      progress is reported at every heartbeat
//!  flagged        copies flagged at the last heartbeat start as machines become free
//! ```
//! - `heartbeat_s`: time between two heartbeats, 3 s; after a million heartbeats without a start or
//!   end, and while no running attempt can be judged, the next one comes just before the next
//!   event;
//! - `restarts=100`: maximum restarts of a task. Otherwise a rule that flags every attempt of a
//!   task would never let it end; with 0 nothing is restarted;
//! - `copies=first|last`: whether flagged copies go before waiting tasks, `first`: a detector that
//!   waits for the tasks of its group then flags nothing;
//! - `nodes=known|unknown`: whether the speeds of machines are known from earlier jobs, `unknown`.
//!
//! A machine that the detector assesses as very slow gets no task, only one probe at a time: a copy
//! of a running task whose result is discarded and whose speed is reported to the detector.

mod group;
mod plan;
mod setup;
mod sleep;
mod slots;
mod speculation;

#[cfg(test)]
pub(in crate::replay) use self::plan::sleepless;
pub(super) use self::plan::{around, name, read};

//! Straggler detectors in a replay: flagged attempts are copied, or killed and restarted.
//!
//! In: any detector by its name (`late`, `yarn`, `poisson`, ...) with its own parameters, and the
//! parameters of the policy. At each heartbeat, every group with running attempts is judged.
//! Flagged copies start on suitable free machines until the next heartbeat; restarts happen
//! immediately.
//!
//! If a detector reports that it will flag no attempt of a group before a time, the group is not
//! judged until then, unless one of its attempts begins or ends (see [`sleep`]). So the cost of a
//! heartbeat depends on the attempts of the groups that may be flagged, and groups that are not
//! judged cost nothing. The attempts of a group stay in an array from one heartbeat to the next. If
//! all machines keep a speed of 1 (as in recorded history), reports are computed only from that
//! array.
//!
//! ```text
//!  heartbeat   |----------|----------|      progress is reported at every heartbeat
//!  flagged        copies flagged at the last heartbeat start as machines become free
//! ```
//! - `heartbeat_s`: time between two heartbeats, 3 s; after a million heartbeats without a start or
//!   end, and while no running attempt can be judged, the next one comes just before the next
//!   event;
//! - `restarts=100`: maximum restarts of a task. Without a maximum, a rule that flags every attempt
//!   of a task would never let it end. With 0, no task is restarted;
//! - `copies=first|last`: whether flagged copies go before waiting tasks; `first` by default. Even
//!   with `first`, a detector that waits for the tasks of its group flags no attempt meanwhile;
//! - `nodes=known|unknown`: whether the speeds of machines are known from earlier jobs; `unknown`
//!   by default.
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

//! The discrete-event engine: the clock, the events, and the execution of the policy's decisions.
//!
//! In: a [`Plan`] of cluster, workload, policy and seed. Out: an [`Outcome`] with the fate of every
//! task, the use of machine time, and the journal if requested. The same plan gives the same bytes.
//! The engine never uses future events; every task and every attempt ends once.
//!
//! ```text
//!  one instant:  ends ─► changes of machines ─► arrivals ─► kills ─► heartbeat
//!                                               then waiting tasks, then copies are handed out
//! ```
//! A failed task waits behind its equals; an evicted, restarted or lost one before them. A failure
//! belongs to the task: it ends every copy of that try.

mod arrivals;
mod backfill;
mod changes;
mod conservative;
mod ends;
mod hand_out;
mod held;
mod plan;
mod preemption;
mod profile;
mod retry;
mod run;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::arrivals::Closed;
use self::backfill::Plans;
use self::conservative::Bookings;
use self::held::Held;
use self::preemption::Preemption;
use super::gpus::Gpus;
use super::journal::{Journal, KINDS};
use super::kill::KillWatch;
use super::placement::Finder;
use super::policies::{Order, Passing, Speculation};
use super::queue::EventQueue;
use super::room::Room;
use super::state::State;
use crate::progress::Watch;

pub use self::plan::{Keep, Outcome, Plan, ReplayError, Sum, heartbeats};

/// Replays the plan.
///
/// # Errors
/// The policy has a period of 0 or less, or books GPUs for every waiting task.
pub fn replay(plan: &Plan<'_>) -> Result<Outcome, ReplayError> {
    Ok(Engine::new(plan)?.run())
}

/// After this many heartbeats in a row without a start or end, no change is expected: three hours
/// at one a second.
const QUIET_BEATS_MAX: u32 = 10_000;

/// The same limit for reorderings with nothing to sort: a week at one a minute.
const QUIET_REORDERS: i64 = 10_000;

struct Engine<'a> {
    state: State<'a>,
    queue: EventQueue,
    order: Box<dyn Order>,
    passing: Passing,
    follows_usage: bool,
    finder: Finder,
    speculation: Option<Box<dyn Speculation>>,
    kill: Option<KillWatch<'a>>,
    journal: Option<Journal>,
    sums: [Sum; KINDS.len()],
    copies: u64,
    copies_won: u64,
    lost_copies: Sum,
    refused: Vec<u32>,
    /// The number of tasks that have arrived; in the workload, the first that has not.
    arrived: u32,
    /// Only if users react.
    closed: Option<Closed<'a>>,
    over: usize,
    until_us: i64,
    events: u64,
    /// The periods of the order and of the rule about running tasks, µs, above 0.
    reorder_us: Option<i64>,
    heartbeat_us: Option<i64>,
    /// The caller's callback, and the number of ended tasks already reported to it.
    watch: Option<Arc<Watch>>,
    told: usize,
    is_cancelled: bool,
    capacities: Vec<Room>,
    /// Capacities with GPUs, if machines record them.
    with_gpus: Vec<(Room, Gpus)>,
    /// Only if tasks wait for others.
    held: Option<Held>,
    /// Only if one attempt can make room for another.
    preemption: Option<Preemption>,
    /// Only if the order makes reservations.
    plans: Option<Plans>,
    /// Only if the order makes reservations for every waiting task.
    bookings: Option<Bookings>,
    depth_cuts: u64,
    /// Slots of attempts that are lost but believed to run.
    lost: BTreeSet<u32>,
    /// Machines whose shared cores must be divided again.
    uneven: Vec<u32>,
    /// Timers in the queue: heartbeat and reordering.
    timers: usize,
    /// Probes whose end is in the queue. New probes start as long as a replay continues, so they
    /// must not prolong it. A probe of an endless task has no end in the queue.
    probes: usize,
    quiet_beats: u32,
    /// When an attempt last began or ended, µs.
    quiet_since_us: i64,
    /// When the last event other than a timer happened, µs: attempts may begin at the end of that
    /// instant because of it.
    stirred_us: i64,
    /// Reused buffers.
    aside: Vec<u32>,
    restarts: Vec<u32>,
}

//! Machines, running attempts and tasks as arrays.

use std::cell::Cell;

use crate::replay::cluster::Drawn;
use crate::replay::gpus::FreeGpus;
use crate::replay::room::Room;
use crate::replay::workload::NONE;

/// The phase of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Not submitted yet.
    Future,
    /// Submitted, but waiting for other tasks of its job to end.
    Held,
    /// Failed, and waiting for its next try.
    Delayed,
    /// Waiting for a machine.
    Waiting,
    /// At least one attempt runs, or is believed to run.
    Running,
    /// Done.
    Finished,
    /// Failed, and not tried again.
    Failed,
    /// Killed by its user.
    Killed,
    /// Killed by a kill rule.
    Condemned,
    /// Refused: larger than any machine.
    Refused,
}

impl Phase {
    /// Whether the phase is final.
    pub const fn is_over(self) -> bool {
        matches!(
            self,
            Self::Finished | Self::Failed | Self::Killed | Self::Condemned | Self::Refused
        )
    }
}

/// The purpose of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The task's regular attempt.
    Original,
    /// Runs in addition to another attempt of the same task.
    Copy,
    /// Measures a machine; its result is discarded.
    Probe,
}

/// Machines, one entry each, by number in the [`Cluster`](crate::replay::cluster::Cluster).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Machines {
    /// Whether the machine is present.
    pub is_present: Vec<bool>,
    /// The capacity, millionths.
    pub capacity: Vec<Room>,
    /// The free capacity, millionths; zero while the machine is absent.
    pub free: Vec<Room>,
    /// The free GPUs; empty if no machine records GPUs. See [`State::holds_gpus`].
    ///
    /// [`State::holds_gpus`]: super::State::holds_gpus
    #[doc(hidden)]
    pub gpus: Vec<FreeGpus>,
    /// Work of an attempt that runs alone, per µs; 1 is the speed at which work is recorded.
    pub speed: Vec<f64>,
    /// Cores to share; infinite if no attempt slows another down.
    pub cores: Vec<f64>,
    /// The number of running attempts, copies and probes included.
    pub running: Vec<u32>,
    /// The slot of one of these attempts; `u32::MAX` if there is none.
    pub first: Vec<u32>,
}

/// Running attempts, one entry per slot; slots are reused.
/// [`State::live_slots`](super::State::live_slots) lists those in use.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Attempts {
    /// The task; `u32::MAX` in an empty slot.
    pub task: Vec<u32>,
    /// The machine.
    pub machine: Vec<u32>,
    /// When it began, µs.
    pub start_us: Vec<i64>,
    /// The purpose.
    pub role: Vec<Role>,
    /// Its number among the attempts of its task, from 1.
    pub number: Vec<u16>,
    /// Whether its machine is gone and the scheduler has not noticed.
    pub is_lost: Vec<bool>,
    /// The total work.
    pub(in crate::replay) work: Vec<f64>,
    /// The work left at `since_us`.
    pub(in crate::replay) left: Vec<f64>,
    pub(in crate::replay) since_us: Vec<i64>,
    /// Work per µs since `since_us`, without the load of other users.
    pub(in crate::replay) rate: Vec<f64>,
    /// The drawn periods since `since_us`. If their start differs, they belong to another attempt
    /// or an earlier time.
    pub(super) drawn: Vec<Cell<Drawn>>,
    pub(in crate::replay) generation: Vec<u32>,
    /// The GPUs it holds, one bit each.
    pub(in crate::replay) gpus: Vec<u64>,
    /// The next and the previous attempt on the same machine.
    pub(in crate::replay) next: Vec<u32>,
    pub(in crate::replay) previous: Vec<u32>,
    /// The next attempt of the same task.
    pub(in crate::replay) sister: Vec<u32>,
    pub(in crate::replay) empty: Vec<u32>,
}

/// Tasks, one entry each, by number in the [`Workload`](crate::replay::workload::Workload).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tasks {
    /// The phase.
    pub phase: Vec<Phase>,
    /// Attempts started so far, copies and probes included.
    pub started: Vec<u16>,
    /// Attempts started in tries that have failed.
    pub started_before: Vec<u16>,
    /// Failed tries.
    pub failed: Vec<u16>,
    /// Number of submits, schedules and ends so far, without those of copies.
    pub events: Vec<u16>,
    /// The slot of one of its running attempts; `u32::MAX` if there is none.
    pub first: Vec<u32>,
    /// When its first attempt began, µs.
    pub first_start_us: Vec<Option<i64>>,
    /// When the task was over, µs.
    pub end_us: Vec<Option<i64>>,
}

impl Attempts {
    #[cold]
    pub(super) fn grow(&mut self) -> u32 {
        let slot = u32::try_from(self.task.len()).expect("fewer attempts than tasks");
        self.task.push(NONE);
        self.machine.push(0);
        self.start_us.push(0);
        self.role.push(Role::Original);
        self.number.push(0);
        self.is_lost.push(false);
        self.work.push(0.0);
        self.left.push(0.0);
        self.since_us.push(0);
        self.rate.push(0.0);
        self.drawn.push(Cell::default());
        self.generation.push(0);
        self.gpus.push(0);
        self.next.push(NONE);
        self.previous.push(NONE);
        self.sister.push(NONE);
        slot
    }
}

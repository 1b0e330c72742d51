//! Machines, running attempts and tasks as arrays.

use std::cell::Cell;

use crate::replay::cluster::Drawn;
use crate::replay::gpus::FreeGpus;
use crate::replay::room::Room;
use crate::replay::workload::NONE;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not submitted yet.
    Future,
    /// Submitted, but its group has to wait for another.
    Held,
    /// It failed, and is not tried again yet.
    Delayed,
    /// Waiting for a machine.
    Waiting,
    /// At least one attempt runs, or is believed to.
    Running,
    /// Done.
    Finished,
    /// Failed for good.
    Failed,
    /// Killed by its user.
    Killed,
    /// Killed by a kill rule.
    Condemned,
    /// Larger than any machine.
    Refused,
}

impl Phase {
    /// Whether nothing more will become of it.
    pub const fn is_over(self) -> bool {
        matches!(
            self,
            Self::Finished | Self::Failed | Self::Killed | Self::Condemned | Self::Refused
        )
    }
}

/// What an attempt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The task's own.
    Original,
    /// Beside another of the same task.
    Copy,
    /// To measure a machine; its result is thrown away.
    Probe,
}

/// Machines, one entry each.
#[derive(Clone, Debug)]
pub struct Machines {
    /// Whether it is there.
    pub is_present: Vec<bool>,
    /// What it has.
    pub capacity: Vec<Room>,
    /// What of it is free; nothing while it is gone.
    pub free: Vec<Room>,
    /// What is free of its GPUs; empty where no machine says them.
    pub gpus: Vec<FreeGpus>,
    /// Work per µs of an attempt that runs alone.
    pub speed: Vec<f64>,
    /// Cores to share.
    pub cores: Vec<f64>,
    /// Attempts that run on it.
    pub running: Vec<u32>,
    /// The first of them.
    pub first: Vec<u32>,
}

/// Running attempts, one entry per slot; slots are used again.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    /// The task; `NONE` in an empty slot.
    pub task: Vec<u32>,
    /// The machine.
    pub machine: Vec<u32>,
    /// When it began, µs.
    pub start_us: Vec<i64>,
    /// What it is for.
    pub role: Vec<Role>,
    /// Its number among the attempts of its task, from 1.
    pub number: Vec<u16>,
    /// Whether its machine is gone without anyone knowing.
    pub is_lost: Vec<bool>,
    /// Work it has to do in all.
    pub(in crate::replay) work: Vec<f64>,
    /// Work that was left at `since_us`.
    pub(in crate::replay) left: Vec<f64>,
    pub(in crate::replay) since_us: Vec<i64>,
    /// Work per µs since then, without the load of others.
    pub(in crate::replay) rate: Vec<f64>,
    /// What is known of that time already; of another attempt if it begins elsewhere.
    pub(super) drawn: Vec<Cell<Drawn>>,
    pub(in crate::replay) generation: Vec<u32>,
    /// The GPUs that it has, a bit each.
    pub(in crate::replay) gpus: Vec<u64>,
    /// Next and previous on the same machine.
    pub(in crate::replay) next: Vec<u32>,
    pub(in crate::replay) previous: Vec<u32>,
    /// Next of the same task.
    pub(in crate::replay) sister: Vec<u32>,
    pub(in crate::replay) empty: Vec<u32>,
}

/// Tasks, one entry each.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// Where it stands.
    pub phase: Vec<Phase>,
    /// Attempts started so far, copies and probes included.
    pub started: Vec<u16>,
    /// Tries that have failed.
    pub failed: Vec<u16>,
    /// Submits, schedules and ends so far, without those of copies.
    pub events: Vec<u16>,
    /// One of its running attempts.
    pub first: Vec<u32>,
    /// When its first attempt began, µs.
    pub first_start_us: Vec<Option<i64>>,
    /// When it was over, µs.
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

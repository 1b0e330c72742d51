//! Chooses the groups that are judged at a heartbeat.
//!
//! In: after a detector has flagged no attempt of a group, the time until which it will flag none
//! if no attempt begins or ends. Out: the groups that must be judged now. The journal is the same
//! as if every group were judged at every heartbeat. A group wakes in these cases:
//!
//! - its time has come;
//! - one of its attempts begins, ends or is lost;
//! - it was judged without a free slot, and there is a free slot again;
//! - its detector depends on the slots, and they change.
//!
//! ```text
//!  heartbeats   |     |     |     |     |     |     |
//!  group        j     j ........ asleep ......j     j       j judged
//!                     └ no flag before here ▲           └ a task has ended
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::group::Group;
use crate::replay::cluster::Change;
use crate::replay::state::State;

/// The groups with running attempts, by whether they are judged at the next heartbeat.
#[derive(Debug)]
pub(super) struct Sleep {
    is_allowed: bool,
    /// Whether all attempts continue at the rate of their first report.
    is_steady: bool,
    awake: BTreeSet<u32>,
    /// The times until which groups sleep, µs; groups that have been woken since are still listed.
    alarms: BinaryHeap<Reverse<(i64, u32)>>,
    /// Groups that were judged without a free slot, and groups whose detectors depend on the slots.
    starved: Vec<u32>,
    heeding: Vec<u32>,
    machine_changes: u64,
}

impl Sleep {
    /// No group is asleep. `is_allowed` is false in tests, for comparison.
    pub(super) fn new(state: &State<'_>, is_allowed: bool) -> Self {
        Self {
            is_allowed,
            is_steady: is_steady(state),
            awake: BTreeSet::new(),
            alarms: BinaryHeap::new(),
            starved: Vec::new(),
            heeding: Vec::new(),
            machine_changes: 0,
        }
    }

    /// Whether every attempt runs at speed 1 from its start, and reports linear progress from the
    /// start on.
    pub(super) const fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// The time until which attempts continue at the rate of their last report, µs.
    pub(super) fn steady_until_us(&self, state: &State<'_>) -> i64 {
        if self.is_steady { i64::MAX } else { state.now_us }
    }

    /// The groups to be judged, in order.
    pub(super) fn awake(&self) -> Vec<u32> {
        self.awake.iter().copied().collect()
    }

    /// A group has changed; `None` if none of its attempts runs.
    pub(super) fn wake(&mut self, number: u32, group: Option<&mut Group>) {
        match group {
            Some(group) => {
                group.sleeps_until_us = None;
                self.awake.insert(number);
            }
            None => {
                self.awake.remove(&number);
            }
        }
    }

    /// Lets a group that was just judged sleep.
    pub(super) fn let_sleep(
        &mut self,
        state: &State<'_>,
        number: u32,
        group: &mut Group,
        until_us: i64,
        heeds_slots: bool,
    ) {
        if !self.is_allowed {
            return;
        }
        group.sleeps_until_us = Some(until_us);
        self.awake.remove(&number);
        if until_us < i64::MAX {
            self.alarms.push(Reverse((until_us, number)));
        }
        if state.roomy == 0 {
            self.starved.push(number);
        }
        if heeds_slots {
            self.heeding.push(number);
        }
    }

    /// Wakes the groups that are due.
    pub(super) fn wake_due(&mut self, state: &State<'_>, groups: &mut [Option<Group>]) {
        let mut wake = |number: u32, until_us: Option<i64>| {
            let group = groups[number as usize].as_mut();
            let group = group.filter(|group| !group.slots.is_empty());
            let Some(group) = group.filter(|group| group.sleeps_until_us.is_some()) else { return };
            if until_us.is_none() || group.sleeps_until_us == until_us {
                group.sleeps_until_us = None;
                self.awake.insert(number);
            }
        };
        while let Some(&Reverse((until_us, number))) = self.alarms.peek()
            && until_us <= state.now_us
        {
            self.alarms.pop();
            wake(number, Some(until_us));
        }
        if 0 < state.roomy {
            self.starved.drain(..).for_each(|number| wake(number, None));
        }
        if self.machine_changes != state.machine_changes {
            self.machine_changes = state.machine_changes;
            self.heeding.drain(..).for_each(|number| wake(number, None));
        }
    }
}

/// Whether every attempt has one exact rate from its first report to its end: machines of constant
/// speed 1 that are not shared, and work in whole microseconds.
fn is_steady(state: &State<'_>) -> bool {
    let (cluster, workload) = (state.cluster, state.workload);
    let keeps_speed = |change: &Change| !matches!(change, Change::Speed(_) | Change::Cores(_));
    cluster.speed.iter().all(|&speed| speed == 1.0)
        && cluster.changes.iter().all(|entry| keeps_speed(&entry.change))
        && cluster.shared_cores.is_none()
        && cluster.utilisation.is_none()
        && workload.noise == 0.0
        && workload.startup_us == 0
        && workload.shapes.iter().all(crate::replay::workload::Shape::is_linear)
}

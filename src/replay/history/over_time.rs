//! The record over time: how many tasks waited, and how much CPU their attempts requested.
//!
//! In: the tasks of a replay with their recorded attempts. Out: [`OverTime`], to be drawn with the
//! policies. Times are as recorded; the load of the plan does not change them.

use super::numbers::units;
use crate::facts::tasks::Attempt;
use crate::replay::cluster::Cluster;
use crate::replay::metrics::{STRETCHES, Stretches};
use crate::units::micros_to_seconds;

/// The record over time, in stretches of equal length.
#[derive(Clone, Debug, Default)]
pub struct OverTime {
    waiting: Stretches,
    /// Requested CPU of all recorded attempts, replayed or not, millionths.
    cpu: Stretches,
    /// The recorded waits of replayed tasks whose wait is known, s.
    waits_s: Vec<f64>,
}

/// The record in one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtTime {
    /// The end of the stretch, s.
    pub time_s: f64,
    /// The mean number of replayed tasks that waited for their first attempt.
    pub waiting: f64,
    /// Requested CPU of running attempts over the CPU of the machines, without overcommitment;
    /// `None` if there were no machines, or if the replay has other machines.
    pub cpu_share: Option<f64>,
}

impl OverTime {
    /// An empty record between two instants, µs.
    pub(super) fn new(span_us: [i64; 2]) -> Self {
        let none = Stretches::new(span_us, STRETCHES);
        Self { waiting: none.clone(), cpu: none, waits_s: Vec::new() }
    }

    /// The same record with the recorded waits of the replayed tasks, s.
    pub(super) fn with_waits(self, waits_s: Vec<f64>) -> Self {
        Self { waits_s, ..self }
    }

    /// The recorded waits of the replayed tasks, s.
    pub fn waits_s(&self) -> &[f64] {
        &self.waits_s
    }

    /// Adds the attempts of a task. The time for which an attempt was suspended counts as spread
    /// evenly over the attempt.
    pub(super) fn add_attempts(&mut self, attempts: &[Attempt]) {
        for attempt in attempts {
            let asked = attempt.cpu_request.map_or(0, units);
            let [run_us, length_us] = [attempt.run_us(), attempt.length_us()].map(i128::from);
            let held = i128::from(asked) * run_us / length_us.max(1);
            let held = u64::try_from(held).unwrap_or(0);
            self.cpu.add([attempt.start_us, attempt.end_us], held);
        }
    }

    /// Adds a task that waited for its first attempt from one instant to another, µs.
    pub(super) fn add_wait(&mut self, [from_us, to_us]: [i64; 2]) {
        self.waiting.add([from_us, to_us], 1);
    }

    pub(super) fn join(&mut self, others: &Self) {
        self.waiting.join(&others.waiting);
        self.cpu.join(&others.cpu);
    }

    /// The record in each stretch, on these machines with `overcommit` times their capacity; with
    /// `None`, the machines are not the recorded ones, and shares of their CPU are unknown.
    pub fn all(&self, machines: Option<(&Cluster, f64)>) -> Vec<AtTime> {
        let overcommit = machines.map_or(1.0, |machines| machines.1);
        let none = || self.cpu.cleared();
        let there = machines.map_or_else(none, |(cluster, _)| capacity(cluster, none()));
        let of =
            |(((end_us, waiting), (_, cpu)), (_, there)): (((i64, f64), _), (i64, f64))| AtTime {
                time_s: micros_to_seconds(end_us),
                waiting,
                cpu_share: (0.0 < there).then(|| cpu / (there / overcommit)),
            };
        self.waiting.means().zip(self.cpu.means()).zip(there.means()).map(of).collect()
    }
}

/// The CPU of the machines that are present, millionths.
fn capacity(cluster: &Cluster, mut there: Stretches) -> Stretches {
    // Per machine: whether it is present, its capacity, and the time of its last change.
    let present = cluster.is_present.iter().zip(&cluster.cpu);
    let mut machines: Vec<(bool, u64, i64)> =
        present.map(|(&is_present, &cpu)| (is_present, cpu, i64::MIN)).collect();
    for event in &cluster.changes {
        let (is_present, cpu, since_us) = &mut machines[event.machine as usize];
        let before = (*is_present, *cpu);
        event.change.apply(is_present, cpu);
        if before.0 {
            there.add([*since_us, event.at_us], before.1);
        }
        *since_us = event.at_us;
    }
    for (_, cpu, since_us) in machines.into_iter().filter(|machine| machine.0) {
        there.add([since_us, i64::MAX], cpu);
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tasks::EndedBy;
    use crate::replay::cluster::{Change, MachineChange};
    use crate::replay::room::Room;

    /// Promise: the share is the requests of all attempts over the capacity of the present
    /// machines, without overcommitment.
    #[test]
    fn the_record_is_a_share_of_what_the_machines_have() {
        let mut record = OverTime::new([0, 4_000]);
        let attempt = |start_us, end_us, ran_us| Attempt {
            start_us,
            end_us,
            ran_us,
            cpu_request: Some(0.5),
            ended_by: EndedBy::Nothing,
            memory: None,
            gpus: None,
            machine_id: None,
            cpu_used: None,
            requested_us: None,
            row: 0,
        };
        record.add_attempts(&[attempt(1_000, 9_000, None), attempt(0, 4_000, Some(1_000))]);
        record.add_wait([2_000, 3_000]);
        // Two machines of 1 CPU, as 1.25 in the replay. One leaves, then the other has half.
        let mut cluster = Cluster::of_speeds(vec![1.0, 1.0]);
        cluster.cpu = vec![1_250_000; 2];
        let half = Change::Capacity(Room { cpu: 625_000, memory: None });
        let change = |at_us, machine, change| MachineChange { at_us, machine, change };
        cluster.changes = vec![change(2_000, 0, Change::Leaves), change(3_000, 1, half)];
        let all = record.all(Some((&cluster, 1.25)));
        let at = |at_us: i64| {
            let found = all.iter().find(|row| micros_to_seconds(at_us) <= row.time_s).unwrap();
            (found.waiting, found.cpu_share.unwrap())
        };
        assert_eq!(at(1_000), (0.0, 0.0625));
        assert_eq!(at(2_000), (0.0, 0.3125));
        assert_eq!(at(3_000), (1.0, 0.625));
        assert_eq!(at(4_000), (0.0, 1.25));
        let unknown = record.all(None);
        assert_eq!(unknown.len(), all.len());
        assert!(unknown.iter().all(|row| row.cpu_share.is_none()));
    }
}

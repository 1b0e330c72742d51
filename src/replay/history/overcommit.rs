//! How much the machines are overcommitted in a replay, and were in the record.
//!
//! In: the machines of a lake, and all attempts of its tasks. Out: a factor of the capacities. Real
//! schedulers place tasks by their usage, so requests may add up to more than a machine has. With
//! the plain capacities, tasks would wait in the replay that never waited in the record.

use std::fmt::{Display, Formatter, Result as Shown};
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};

use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};
use thiserror::Error;

use super::numbers::units;
use crate::facts::tasks::Attempt;
use crate::replay::cluster::Cluster;

/// The factor of the machines' capacities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overcommit {
    /// As in the record: the smallest factor, in hundredths and at least 1, that was enough for the
    /// requested CPU of 99 % of the machines in service.
    Recorded,
    /// This factor.
    Factor(f64),
}

/// The text is not a factor of the capacities.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a factor from 0.01 to 100, and not `{RECORDED}`")]
pub struct OvercommitError(String);

impl FromStr for Overcommit {
    type Err = OvercommitError;

    fn from_str(text: &str) -> Result<Self, OvercommitError> {
        let factor = text.parse().ok().filter(|factor| (0.01..=100.0).contains(factor));
        match text {
            RECORDED => Ok(Self::Recorded),
            _ => factor.map(Self::Factor).ok_or_else(|| OvercommitError(text.to_owned())),
        }
    }
}

impl Display for Overcommit {
    fn fmt(&self, out: &mut Formatter<'_>) -> Shown {
        match self {
            Self::Recorded => out.write_str(RECORDED),
            Self::Factor(factor) => factor.fmt(out),
        }
    }
}

impl Serialize for Overcommit {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Recorded => out.serialize_str(RECORDED),
            Self::Factor(factor) => out.serialize_f64(factor),
        }
    }
}

const RECORDED: &str = "recorded";

/// The number of instants at which the machines are checked.
const INSTANTS: usize = 100;

/// The share of the machines, over all instants, for which the factor is enough, %.
const ENOUGH_FOR: usize = 99;

/// The CPU that running attempts requested on each machine, at equally spaced instants.
#[derive(Debug)]
pub(super) struct RecordedLoad<'a> {
    cluster: &'a Cluster,
    /// The number of each machine in the cluster.
    numbers: FxHashMap<i64, usize>,
    instants: Vec<i64>,
    /// By machine and instant: the change since the instant before, millionths.
    changes: Vec<AtomicI64>,
}

impl<'a> RecordedLoad<'a> {
    /// No requests yet, on machines with their own capacities, between two instants, µs.
    pub(super) fn new(cluster: &'a Cluster, [from_us, until_us]: [i64; 2]) -> Self {
        let length_us = i128::from(until_us) - i128::from(from_us);
        let of = |idx: usize| {
            let after_us = length_us * (2 * idx as i128 + 1) / (2 * INSTANTS as i128);
            from_us.saturating_add(i64::try_from(after_us).unwrap_or(i64::MAX))
        };
        let instants = if length_us <= 0 { Vec::new() } else { (0..INSTANTS).map(of).collect() };
        let numbers = cluster.ids.iter().enumerate().map(|(idx, &id)| (id, idx)).collect();
        let cells = cluster.machine_count() * instants.len();
        let changes = (0..cells).map(|_| AtomicI64::new(0)).collect();
        Self { cluster, numbers, instants, changes }
    }

    /// Adds the attempts of a task; in any order, and from several threads.
    pub(super) fn add(&self, attempts: &[Attempt]) {
        for attempt in attempts {
            let machine = attempt.machine_id.and_then(|id| self.numbers.get(&id));
            let Some((&machine, asked)) = machine.zip(attempt.cpu_request) else { continue };
            let asked = units(asked).cast_signed();
            let place = |at_us: i64| self.instants.partition_point(|&instant| instant < at_us);
            for (place, change) in
                [(place(attempt.start_us), asked), (place(attempt.end_us), -asked)]
            {
                if place < self.instants.len() {
                    let cell = &self.changes[machine * self.instants.len() + place];
                    cell.fetch_add(change, Ordering::Relaxed);
                }
            }
        }
    }

    /// The smallest factor of the capacities, in hundredths and at least 1, that was enough for the
    /// recorded requests on 99 % of the machines in service, over all instants.
    pub(super) fn factor(&self) -> f64 {
        let mut shares = self.shares();
        if shares.is_empty() {
            return 1.0;
        }
        let rank = (shares.len() * ENOUGH_FOR).div_ceil(100) - 1;
        let (_, share, _) = shares.select_nth_unstable_by(rank, f64::total_cmp);
        // A rounding error of the quotient must not lead to the next hundredth.
        ((*share * 100.0 - 1e-9).ceil() / 100.0).max(1.0)
    }

    /// Requests over capacity of each machine at each instant at which it is in service.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 millionths")]
    fn shares(&self) -> Vec<f64> {
        let Cluster { is_present, cpu, changes, .. } = self.cluster;
        let mut machines: Vec<(bool, u64, i64)> =
            is_present.iter().zip(cpu).map(|(&is_present, &cpu)| (is_present, cpu, 0)).collect();
        let mut changes = changes.iter().peekable();
        let mut shares = Vec::with_capacity(self.changes.len());
        for (place, &instant) in self.instants.iter().enumerate() {
            while let Some(event) = changes.next_if(|event| event.at_us <= instant) {
                let (is_present, cpu, _) = &mut machines[event.machine as usize];
                event.change.apply(is_present, cpu);
            }
            for (number, (is_present, cpu, asked)) in machines.iter_mut().enumerate() {
                let cell = &self.changes[number * self.instants.len() + place];
                *asked += cell.load(Ordering::Relaxed);
                if *is_present && 0 < *cpu {
                    shares.push(*asked as f64 / *cpu as f64);
                }
            }
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::tasks::EndedBy;
    use crate::replay::cluster::{Change, MachineChange};
    use crate::replay::room::Room;
    use crate::replay::workload::UNITS;

    fn attempt((start_us, length_us, machine, cpu): (i64, i64, i64, f32)) -> Attempt {
        Attempt {
            start_us,
            end_us: start_us + length_us,
            ran_us: None,
            cpu_request: (cpu < 0.9).then_some(cpu),
            ended_by: EndedBy::Nothing,
            memory: None,
            gpus: None,
            machine_id: (machine < 5).then_some(machine),
            cpu_used: None,
            requested_us: None,
            row: 0,
        }
    }

    fn change((at_us, machine, kind, cpu): (i64, u32, u8, u64)) -> MachineChange {
        let change = match kind {
            0 => Change::Joins,
            1 => Change::Leaves,
            _ => Change::Capacity(Room { cpu, memory: None }),
        };
        MachineChange { at_us, machine, change }
    }

    proptest! {
        /// Promise: the smallest hundredth that is enough for 99 % of the machines in service,
        /// counted instant by instant and machine by machine.
        #[test]
        fn the_factor_is_enough_and_none_below_is(
            drawn in prop::collection::vec((-500_i64..9_000, 0_i64..6_000, 0_i64..7, 0.0_f32..1.0), 0..40),
            changes in prop::collection::vec((0_i64..9_000, 0_u32..4, 0_u8..4, 0..2 * UNITS), 0..12),
            from_us in -100_i64..5_000,
            length_us in 0_i64..5_000,
        ) {
            let attempts: Vec<Attempt> = drawn.into_iter().map(attempt).collect();
            let mut cluster = Cluster::of_speeds(vec![1.0; 4]);
            cluster.ids = vec![3, 0, 4, 2];
            cluster.is_present[2] = false;
            cluster.changes = changes.into_iter().map(change).collect();
            let (cluster, _) = cluster.check().unwrap();
            let until_us = from_us + length_us;
            let record = RecordedLoad::new(&cluster, [from_us, until_us]);
            attempts.chunks(7).for_each(|some| record.add(some));
            let found = record.factor();

            let mut machines = Vec::new();
            for instant in 0..if length_us == 0 { 0 } else { 100 } {
                let at_us = from_us + length_us * (2 * instant + 1) / 200;
                for (number, id) in cluster.ids.iter().enumerate() {
                    let before = || {
                        let own = |event: &&MachineChange| event.machine as usize == number;
                        cluster.changes.iter().filter(own).filter(|event| event.at_us <= at_us)
                    };
                    let moved = before().rfind(|event| !matches!(event.change, Change::Capacity(_)));
                    let is_there = moved
                        .map_or(cluster.is_present[number], |event| event.change == Change::Joins);
                    let mut capacity = before().rev().filter_map(|event| match event.change {
                        Change::Capacity(room) => Some(room.cpu),
                        _ => None,
                    });
                    let capacity = capacity.next().unwrap_or(cluster.cpu[number]);
                    let runs = |attempt: &&Attempt| {
                        attempt.machine_id == Some(*id)
                            && (attempt.start_us..attempt.end_us).contains(&at_us)
                    };
                    let asked = attempts.iter().filter(runs).filter_map(|run| run.cpu_request);
                    let asked: u64 = asked.map(units).sum();
                    if is_there && 0 < capacity {
                        machines.push((asked, capacity));
                    }
                }
            }
            // In whole numbers: 100 x requests <= hundredths x capacity.
            let is_enough = |hundredths: u32| {
                let fits = machines.iter().filter(|(asked, cpu)| 100 * asked <= u64::from(hundredths) * cpu);
                99 * machines.len() <= 100 * fits.count()
            };
            let hundredths: u32 = format!("{:.0}", found * 100.0).parse().unwrap();
            prop_assert!((found * 100.0 - f64::from(hundredths)).abs() < 1e-9);
            prop_assert!(100 <= hundredths && is_enough(hundredths), "{found}");
            prop_assert!(hundredths == 100 || !is_enough(hundredths - 1), "{found} is not the least");
        }
    }

    #[test]
    fn a_factor_is_a_number_or_as_recorded() {
        for text in ["recorded", "1.25", "0.01", "100"] {
            assert_eq!(text.parse::<Overcommit>().unwrap().to_string(), text);
        }
        for text in ["", "Recorded", "0", "-1", "NaN", "inf", "101"] {
            text.parse::<Overcommit>().unwrap_err();
        }
        let error: &dyn std::error::Error = &"101".parse::<Overcommit>().unwrap_err();
        let said = "`101` is not a factor from 0.01 to 100, and not `recorded`";
        assert_eq!(error.to_string(), said);
    }
}

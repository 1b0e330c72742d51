//! The machines of a replay: their speed and capacity, and when these change.
//!
//! In: arrays per machine and a list of changes (from a trace), or a
//! [`ClusterSpec`](crate::replay::spec::ClusterSpec). Out: a [`Cluster`] with its changes in order
//! of time. Impossible changes (a machine that leaves twice, an unknown machine) are left out and
//! returned as remarks, never repaired silently.

use crate::faults::{Code, Fault};
use std::fmt;

use thiserror::Error;

use super::gpus::Gpus;
use super::random::{Draws, Purpose};
use super::room::Room;
use super::workload::Column;

/// What happens to a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// It joins, or joins again.
    Joins,
    /// It leaves, and its attempts are lost.
    Leaves,
    /// Its capacity changes, millionths.
    Capacity(Room),
    /// Its speed changes, work per µs.
    Speed(f64),
    /// Its number of usable cores changes, if cores are shared.
    Cores(f64),
}

impl Change {
    /// Applies the change to the presence of a machine and to its CPU.
    pub(super) const fn apply(self, is_present: &mut bool, cpu: &mut u64) {
        match self {
            Self::Joins => *is_present = true,
            Self::Leaves => *is_present = false,
            Self::Capacity(room) => *cpu = room.cpu,
            Self::Speed(_) | Self::Cores(_) => {}
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Joins => f.write_str("joins"),
            Self::Leaves => f.write_str("leaves"),
            Self::Capacity(_) => f.write_str("has another capacity"),
            Self::Speed(speed) => write!(f, "has speed {speed}"),
            Self::Cores(cores) => write!(f, "has {cores} cores"),
        }
    }
}

/// A change of a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineChange {
    /// The time, µs.
    pub at_us: i64,
    /// The machine.
    pub machine: u32,
    /// The change.
    pub change: Change,
}

/// A change that was left out, with the reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remark {
    /// The change.
    pub change: MachineChange,
    /// Why it is impossible.
    pub why: &'static str,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MachineChange { at_us, machine, change } = self.change;
        write!(f, "at {at_us} µs machine {machine} {change}: {}", self.why)
    }
}

/// The load of other users on a machine. The share that they leave is drawn for each period,
/// uniformly between two bounds. After ten million periods of an attempt, the mean replaces the
/// draws.
///
/// ```text
///  share left   ▄▄▄▄      ▂▂▂▂▇▇▇▇
///               ▄▄▄▄▁▁▁▁▂▂▂▂▇▇▇▇      one draw per machine and period, the same for every policy
///               0   P   2P  3P  4P
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utilisation {
    /// Time between two draws, µs.
    pub period_us: i64,
    /// Bounds of the share of the machine that is left.
    pub left: (f64, f64),
    /// The seed of the draws.
    pub seed: u64,
}

impl Utilisation {
    /// The share of `machine` that is left in period `slice`.
    #[inline]
    pub fn left(&self, machine: u32, slice: i64) -> f64 {
        let draws = Draws::new(self.seed, Purpose::Utilisation);
        let share = draws.uniform(u64::from(machine), slice.cast_unsigned());
        self.left.0 + (self.left.1 - self.left.0) * share
    }

    fn mean_left(&self) -> f64 {
        f64::midpoint(self.left.0, self.left.1)
    }

    /// The end of the draws for an attempt that begins at `start_us`.
    fn drawn_until(&self, start_us: i64) -> i64 {
        start_us.saturating_add(self.period_us.saturating_mul(PERIODS_DRAWN))
    }
}

/// Periods of an attempt that are drawn one by one; later ones use the mean.
const PERIODS_DRAWN: i64 = 10_000_000;

/// The whole periods of an attempt that have been added up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drawn {
    /// The start of the first period, µs.
    pub from_us: i64,
    /// The end of the last period, µs.
    at_us: i64,
    /// The sum of the periods, each multiplied by the share of the machine that is left, µs.
    sum: f64,
}

impl Drawn {
    /// A sum without periods, which starts at `from_us`.
    pub fn from(from_us: i64) -> Self {
        Self { from_us, at_us: from_us, sum: 0.0 }
    }
}

/// Whether the scheduler learns that a machine is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// After this many µs.
    After(i64),
    /// Never: its attempts count as running until a copy finishes.
    Never,
}

/// The machines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cluster {
    /// Work per µs, by machine.
    pub speed: Vec<f64>,
    /// CPU, millionths.
    pub cpu: Vec<u64>,
    /// Memory, millionths; `None` if it is unknown and therefore not checked.
    pub memory: Vec<Option<u64>>,
    /// GPUs; empty if no machine records them, and then not checked.
    pub gpus: Vec<Gpus>,
    /// Whether a machine is present from the start.
    pub is_present: Vec<bool>,
    /// Ids in the trace; empty if the machines are not from a trace.
    pub ids: Vec<i64>,
    /// Cores that the running attempts of a machine share; with `None`, no attempt slows another
    /// down.
    pub shared_cores: Option<Column<f64>>,
    /// The load of other users; `None` if machines have none.
    #[doc(hidden)]
    pub utilisation: Option<Utilisation>,
    /// Changes, in order of time.
    pub changes: Vec<MachineChange>,
    /// When the scheduler learns that a machine is gone.
    #[doc(hidden)]
    pub notice: Notice,
}

/// Why a cluster was rejected.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// There is no machine.
    #[error("a cluster needs at least one machine")]
    Empty,
    /// A speed that is not a positive number.
    #[error("machine {machine} has speed {speed}, which is not a positive number")]
    Speed {
        /// The machine.
        machine: u32,
        /// Its speed.
        speed: f64,
    },
    /// More failures than a replay allows.
    #[error("the nodes would fail about {0:.0} times; at most 1 million failures are possible")]
    Failures(f64),
    /// The length of a column differs from the number of machines.
    #[error("column `{0}` does not have one entry per machine")]
    Length(&'static str),
    /// The number of speeds differs from the number of machines.
    #[error("{speeds} speeds are given for {machines} machines")]
    SpeedCount {
        /// The number of speeds.
        speeds: usize,
        /// The number of machines.
        machines: usize,
    },
}

impl Fault for ClusterError {
    fn code(&self) -> Code {
        Code::BadData
    }
}

impl Cluster {
    /// Machines of the given speeds with one CPU each and unknown memory.
    pub fn of_speeds(speed: Vec<f64>) -> Self {
        let count = speed.len();
        Self {
            speed,
            cpu: vec![super::workload::UNITS; count],
            memory: vec![None; count],
            gpus: Vec::new(),
            is_present: vec![true; count],
            ids: Vec::new(),
            shared_cores: None,
            utilisation: None,
            changes: Vec::new(),
            notice: Notice::After(0),
        }
    }

    /// Multiplies the CPU and the memory of all machines by a factor above 0.
    pub fn overcommit(&mut self, factor: f64) {
        if factor == 1.0 {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "capacities are far below 2^53 millionths")]
        #[expect(clippy::cast_possible_truncation, reason = "conversions to integers saturate")]
        #[expect(clippy::cast_sign_loss, reason = "factors are above 0")]
        let enlarge = |amount: &mut u64| *amount = (*amount as f64 * factor).round() as u64;
        self.cpu.iter_mut().for_each(enlarge);
        self.memory.iter_mut().flatten().for_each(enlarge);
        for event in &mut self.changes {
            if let Change::Capacity(room) = &mut event.change {
                enlarge(&mut room.cpu);
                room.memory.iter_mut().for_each(enlarge);
            }
        }
    }

    /// The id of a machine: that of the trace, or its number from 1.
    pub fn id(&self, machine: u32) -> i64 {
        self.ids.get(machine as usize).copied().unwrap_or(i64::from(machine) + 1)
    }

    /// Number of machines, present or not.
    pub fn machine_count(&self) -> usize {
        self.speed.len()
    }

    /// Checks the machines, sorts the changes, and leaves out the impossible ones.
    pub fn check(mut self) -> Result<(Self, Vec<Remark>), ClusterError> {
        let count = self.speed.len();
        if count == 0 {
            return Err(ClusterError::Empty);
        }
        let lengths = [
            ("cpu", self.cpu.len()),
            ("memory", self.memory.len()),
            ("gpus", if self.gpus.is_empty() { count } else { self.gpus.len() }),
            ("is_present", self.is_present.len()),
        ];
        if let Some(&(column, _)) = lengths.iter().find(|(_, len)| *len != count) {
            return Err(ClusterError::Length(column));
        }
        for (machine, &speed) in (0..).zip(&self.speed) {
            if !(speed.is_finite() && 0.0 < speed) {
                return Err(ClusterError::Speed { machine, speed });
            }
        }
        let mut remarks = Vec::new();
        let mut is_present = self.is_present.clone();
        self.changes.sort_by_key(|change| change.at_us);
        self.changes.retain(|&change| match refuse(change, &mut is_present) {
            None => true,
            Some(why) => {
                remarks.push(Remark { change, why });
                false
            }
        });
        Ok((self, remarks))
    }

    /// All different capacities that any machine has at any time: a task that fits none of them
    /// never starts.
    pub fn capacities(&self) -> Vec<Room> {
        let mut joins: Vec<bool> = self.is_present.clone();
        for change in &self.changes {
            if change.change == Change::Joins {
                joins[change.machine as usize] = true;
            }
        }
        let machines = (0..self.machine_count()).filter(|&machine| joins[machine]);
        let mut found: Vec<Room> = machines
            .map(|machine| Room { cpu: self.cpu[machine], memory: self.memory[machine] })
            .collect();
        found.extend(self.changes.iter().filter_map(|change| match change.change {
            Change::Capacity(capacity) => Some(capacity),
            _ => None,
        }));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The same as [`capacities`](Self::capacities), with GPUs; empty if no machine records GPUs.
    pub fn capacities_with_gpus(&self) -> Vec<(Room, Gpus)> {
        let is_of =
            |machine: usize| move |change: &&MachineChange| change.machine as usize == machine;
        let mut found: Vec<(Room, Gpus)> = Vec::new();
        for (machine, &gpus) in self.gpus.iter().enumerate() {
            let changes = || self.changes.iter().filter(is_of(machine));
            if !self.is_present[machine] && changes().all(|own| own.change != Change::Joins) {
                continue;
            }
            let first = Room { cpu: self.cpu[machine], memory: self.memory[machine] };
            let rooms = changes().filter_map(|own| match own.change {
                Change::Capacity(room) => Some(room),
                _ => None,
            });
            for room in rooms.chain([first]) {
                if !found.contains(&(room, gpus)) {
                    found.push((room, gpus));
                }
            }
        }
        found
    }

    /// The time at which `work` that began at `start_us` is done on `machine` at rate `speed`.
    #[inline]
    pub fn end_us(&self, machine: u32, start_us: i64, work: f64, speed: f64) -> i64 {
        let needed_us = work / speed;
        match &self.utilisation {
            Some(utilisation) if needed_us < NEVER_US => {
                end_under(utilisation, machine, start_us, needed_us)
            }
            _ => start_us.saturating_add(whole(needed_us)),
        }
    }

    /// The work done on `machine` at rate `speed` until `end_us` by an attempt that began to work
    /// at that rate at the start of `drawn`. Periods in `drawn` are not drawn again.
    #[doc(hidden)]
    pub fn work_until(&self, machine: u32, drawn: &mut Drawn, end_us: i64, speed: f64) -> f64 {
        let Some(utilisation) = &self.utilisation else {
            return exact(end_us - drawn.from_us) * speed;
        };
        let period_us = utilisation.period_us;
        let drawn_until_us = utilisation.drawn_until(drawn.from_us);
        let next = |at_us: i64| {
            let slice = at_us.div_euclid(period_us);
            let until_us = (slice + 1).saturating_mul(period_us).min(drawn_until_us);
            (until_us, utilisation.left(machine, slice))
        };
        while drawn.at_us < drawn_until_us {
            let (until_us, left) = next(drawn.at_us);
            if end_us < until_us {
                return (drawn.sum + exact(end_us - drawn.at_us) * left) * speed;
            }
            drawn.sum += exact(until_us - drawn.at_us) * left;
            drawn.at_us = until_us;
        }
        (drawn.sum + exact(end_us - drawn.at_us) * utilisation.mean_left()) * speed
    }
}

/// A longer time (over 3,000 years) counts as never.
const NEVER_US: f64 = 1e17;

/// Goes through the periods until the work is done; `needed_us` is the time on a machine without
/// load.
fn end_under(utilisation: &Utilisation, machine: u32, start_us: i64, needed_us: f64) -> i64 {
    let period_us = utilisation.period_us;
    let mut slice = start_us.div_euclid(period_us);
    let drawn_until_us = utilisation.drawn_until(start_us);
    let (mut at_us, mut needed_us) = (start_us, needed_us);
    while at_us < drawn_until_us {
        let until_us = (slice + 1).saturating_mul(period_us).min(drawn_until_us);
        let left = utilisation.left(machine, slice);
        let done_us = exact(until_us - at_us) * left;
        if needed_us <= done_us {
            // If any work is needed, `left` is above 0 here; otherwise `done_us` would be 0.
            return if needed_us <= 0.0 {
                at_us
            } else {
                at_us.saturating_add(whole(needed_us / left))
            };
        }
        needed_us -= done_us;
        at_us = until_us;
        slice += 1;
    }
    at_us.saturating_add(whole(needed_us / utilisation.mean_left()))
}

#[inline]
#[expect(clippy::cast_precision_loss, reason = "a replay is far shorter than 2^53 µs (285 years)")]
fn exact(micros: i64) -> f64 {
    micros as f64
}

/// The nearest whole number of µs; a time that never ends saturates.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "saturates at 2^63-1, the end of time")]
fn whole(micros: f64) -> i64 {
    (micros + 0.5) as i64
}

/// Why a change is impossible; updates which machines are present.
fn refuse(change: MachineChange, is_present: &mut [bool]) -> Option<&'static str> {
    let Some(present) = is_present.get_mut(change.machine as usize) else {
        return Some("there is no such machine");
    };
    match (change.change, *present) {
        (Change::Joins, true) => Some("it is already there"),
        (Change::Leaves, false) => Some("it is not there"),
        (Change::Speed(speed) | Change::Cores(speed), _) if !(speed.is_finite() && 0.0 < speed) => {
            Some("not a positive number")
        }
        (Change::Joins, false) | (Change::Leaves, true) => {
            *present = !*present;
            None
        }
        (Change::Capacity(_) | Change::Speed(_) | Change::Cores(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_done_until_the_end_is_the_work() {
        let mut cluster = Cluster::of_speeds(vec![3.0]);
        cluster.utilisation =
            Some(Utilisation { period_us: 30_000_000, left: (0.0, 1.0), seed: 5 });
        for start_us in [0, 7_000_000, 29_999_999, 30_000_000] {
            let end_us = cluster.end_us(0, start_us, 1e9, 3.0);
            let mut drawn = Drawn::from(start_us);
            let half = cluster.work_until(0, &mut drawn, end_us.midpoint(start_us), 3.0);
            let done = cluster.work_until(0, &mut drawn, end_us, 3.0);
            assert!((done - 1e9).abs() <= 3.0, "{done} at {start_us}");
            assert!(0.0 < half && half < done);
            let at_once = cluster.work_until(0, &mut Drawn::from(start_us), end_us, 3.0);
            assert_eq!(done, at_once, "the same digits, however often it is asked");
        }
        assert_eq!(cluster.end_us(0, 17, 0.0, 3.0), 17);
        // Most of the time is after the last draw: the mean speed is one half, so it takes twice
        // the time.
        cluster.utilisation = Some(Utilisation { period_us: 1, left: (0.0, 1.0), seed: 5 });
        let end_us = cluster.end_us(0, 17, 1e12, 1.0);
        assert!((exact(end_us) / 2e12 - 1.0).abs() < 1e-6, "{end_us}");
        let done = cluster.work_until(0, &mut Drawn::from(17), end_us, 1.0);
        assert!((done - 1e12).abs() <= 1.0, "{done}");
    }

    #[test]
    fn impossible_changes_are_left_out_and_named() {
        let mut cluster = Cluster::of_speeds(vec![1.0, 1.0]);
        let at = |at_us, machine, change| MachineChange { at_us, machine, change };
        cluster.changes = vec![
            at(9, 0, Change::Leaves),
            at(5, 0, Change::Leaves),
            at(6, 7, Change::Capacity(Room::NOTHING)),
            at(7, 1, Change::Joins),
            at(10, 0, Change::Joins),
        ];
        let (cluster, remarks) = cluster.check().unwrap();
        assert_eq!(cluster.changes, [at(5, 0, Change::Leaves), at(10, 0, Change::Joins)]);
        let why: Vec<String> = remarks.iter().map(ToString::to_string).collect();
        assert_eq!(
            why,
            [
                "at 6 µs machine 7 has another capacity: there is no such machine",
                "at 7 µs machine 1 joins: it is already there",
                "at 9 µs machine 0 leaves: it is not there",
            ]
        );
    }

    #[test]
    fn a_cluster_needs_machines_that_work() {
        assert_eq!(Cluster::of_speeds(vec![]).check(), Err(ClusterError::Empty));
        let error = Cluster::of_speeds(vec![1.0, 0.0]).check().unwrap_err();
        assert_eq!(error.to_string(), "machine 1 has speed 0, which is not a positive number");
    }
}

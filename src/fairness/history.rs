//! Usage over time, as the input of every index.
//!
//! In: cells from [`super::gather`], or from a test. Out: [`Step`]s, one per interval, with the
//! usage of every user. This module does not depend on lakes or indices.
//!
//! ```text
//!  start          start + 1 interval          start + 2 intervals
//!  [------ interval 0 ------)[------ interval 1 ------)[---
//!                            ^ the time of the values of interval 0
//! ```

use serde::{Deserialize, Serialize};

pub use super::accounts::Person;
use super::accounts::Tree;
use crate::units::{CpuTime, micros_to_seconds};

/// The intervals of a history: equal and consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grid {
    /// Start of interval 0 on the trace clock, µs.
    pub start_us: i64,
    /// Length of an interval, µs.
    pub interval_us: i64,
    /// The number of intervals.
    pub count: u32,
}

impl Grid {
    /// The interval of an instant; an instant on a boundary is in the interval that begins there.
    pub fn interval_of(&self, time_us: i64) -> Option<u32> {
        let offset = time_us.checked_sub(self.start_us).filter(|&offset| 0 <= offset)?;
        u32::try_from(offset / self.interval_us).ok().filter(|&idx| idx < self.count)
    }

    /// The first interval in which something that began at that time exists: interval 0 if it began
    /// before the grid, `None` if after the last interval.
    pub fn since(&self, time_us: i64) -> Option<u32> {
        self.interval_of(time_us.max(self.start_us))
    }

    /// The end of the last interval, µs.
    pub fn end_us(&self) -> i64 {
        self.start_of(self.count)
    }

    /// The start of an interval, µs.
    pub fn start_of(&self, idx: u32) -> i64 {
        self.start_us + i64::from(idx) * self.interval_us
    }

    /// The length of an interval in seconds.
    pub fn length_s(&self) -> f64 {
        micros_to_seconds(self.interval_us)
    }

    /// Calls `take` for the intervals that `[start_us, end_us)` touches, with the part in each, µs.
    pub fn split(&self, start_us: i64, end_us: i64, mut take: impl FnMut(u32, i64)) {
        let mut at = start_us.max(self.start_us);
        let end = end_us.min(self.end_us());
        while at < end {
            let Some(idx) = self.interval_of(at) else { return };
            let next = self.start_of(idx + 1).min(end);
            take(idx, next - at);
            at = next;
        }
    }
}

/// The name of users without a name.
pub const NOBODY: &str = "-";

/// The name in results: `None` for users without a name, in any cluster.
pub fn known_name(name: &str) -> Option<&str> {
    let is_nobody = |before: &str| before.is_empty() || before.ends_with('/');
    (!name.strip_suffix(NOBODY).is_some_and(is_nobody)).then_some(name)
}

/// A machine, or a class of equal machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// The cluster (lake) it belongs to.
    pub cluster: u32,
    /// The id; `None` if machines are distinguished only by class.
    pub id: Option<i64>,
    /// Micro-architecture, if known.
    pub platform: Option<String>,
    /// CPU, if known.
    pub cpu: Option<f32>,
    /// Memory, if known.
    pub memory: Option<f32>,
    /// Site or partition, if the log has one.
    pub site: Option<String>,
}

/// The usage of one user on one machine (or class) in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The interval.
    pub interval: u32,
    /// Position in [`History::people`].
    pub who: u32,
    /// Position in [`History::machines`]. If cells do not distinguish machines, it is a machine
    /// that represents the whole cluster.
    pub machine: u32,
    /// CPU time.
    pub cpu: CpuTime,
    /// Memory request times the time from start to end.
    pub memory: CpuTime,
    /// CPU request times time waiting to run.
    pub waiting: CpuTime,
    /// CPU time that ran in the interval, regardless of when it is charged.
    pub held: CpuTime,
    /// Memory time that ran in the interval, regardless of when it is charged.
    pub held_memory: CpuTime,
}

/// An attempt that ended in an interval, whether or not its task runs again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// The interval it ended in.
    pub interval: u32,
    /// Its user.
    pub who: u32,
    /// From its SUBMIT to its SCHEDULE, s.
    pub wait_s: f64,
    /// How long it ran, s: from its SCHEDULE to its end, without the time for which it was suspended.
    pub run_s: f64,
    /// For how long it was suspended, s.
    #[serde(default)]
    pub suspended_s: f64,
}

/// Available CPU and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Capacity {
    /// CPU, in the unit of requests.
    pub cpu: f64,
    /// Memory, in the unit of requests.
    pub memory: f64,
}

/// Usage over time.
#[derive(Clone, Debug)]
pub struct History {
    /// Names of the clusters.
    pub clusters: Vec<String>,
    /// The users, by name.
    pub people: Vec<Person>,
    /// The machines or classes of machines.
    pub machines: Vec<Machine>,
    /// The accounts of users, with their shares.
    pub tree: Tree,
    /// The intervals.
    pub grid: Grid,
    /// The Unix time at clock time 0, µs; `None` if no date is known.
    pub unix_us: Option<i64>,
    /// Intervals before this one update the indices, but are not shown.
    pub shown_from: u32,
    /// The usage, by (interval, user, machine).
    pub cells: Vec<Cell>,
    /// Machine, user, and the CPU time of the user on the machine in the shown intervals; sorted by
    /// machine, then user.
    pub on_machines: Vec<(u32, u32, CpuTime)>,
    /// Attempts that ended, by interval.
    pub ends: Vec<AttemptEnd>,
    /// Capacity at the end of each interval; empty if it is unknown.
    pub capacity: Vec<Capacity>,
    /// Whether the ends of tasks were kept, for indices that read them.
    pub keeps_ends: bool,
    /// Whether cells distinguish machines, for indices that read them.
    pub keeps_machines: bool,
}

/// Sums of one user over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// CPU-seconds.
    pub cpu_s: f64,
    /// Memory-seconds.
    pub memory_s: f64,
    /// CPU-seconds requested while waiting.
    pub waiting_s: f64,
    /// CPU-seconds that ran in the interval, regardless of when they are charged.
    pub held_s: f64,
    /// Memory-seconds that ran in the interval, regardless of when they are charged.
    pub held_memory_s: f64,
}

impl Used {
    /// Whether tasks of the user ran or waited in the interval, regardless of when they are
    /// charged.
    pub fn asks(&self) -> bool {
        0.0 < self.held_s || 0.0 < self.waiting_s
    }
}

/// The usage in one interval.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The whole history, for names, machines and accounts.
    pub history: &'a History,
    /// The interval.
    pub idx: u32,
    /// Its length, s.
    pub length_s: f64,
    /// Sums per user, in the order of [`History::people`].
    pub used: &'a [Used],
    /// The cells of the interval, by user and machine.
    pub cells: &'a [Cell],
    /// The attempts that ended in the interval.
    pub ends: &'a [AttemptEnd],
}

impl Step<'_> {
    /// Whether a user has a submission by the end of the interval.
    pub fn is_there(&self, who: usize) -> bool {
        self.history.people[who].since <= self.idx
    }

    /// Whether the user's first submission is in the interval.
    pub fn has_come(&self, who: usize) -> bool {
        self.history.people[who].since == self.idx
    }
}

impl History {
    /// Calls `take` for every interval in order, until it fails.
    pub fn steps<E>(&self, mut take: impl FnMut(&Step<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut used = vec![Used::default(); self.people.len()];
        let (mut cells, mut ends) = (self.cells.as_slice(), self.ends.as_slice());
        for idx in 0..self.grid.count {
            let (own, rest) = cells.split_at(cells.partition_point(|cell| cell.interval <= idx));
            let (ended, later) = ends.split_at(ends.partition_point(|end| end.interval <= idx));
            (cells, ends) = (rest, later);
            sum_up(own, &mut used);
            let length_s = self.grid.length_s();
            take(&Step { history: self, idx, length_s, used: &used, cells: own, ends: ended })?;
        }
        Ok(())
    }

    /// The cells of the shown intervals.
    pub fn shown(&self) -> &[Cell] {
        &self.cells[self.cells.partition_point(|cell| cell.interval < self.shown_from)..]
    }

    /// Seconds from the start of the shown intervals to the start of an interval.
    pub fn seconds_at(&self, idx: u32) -> f64 {
        micros_to_seconds(self.grid.start_of(idx) - self.grid.start_of(self.shown_from))
    }
}

/// Adds up the cells of each user exactly, and converts only the sums to floats.
fn sum_up(cells: &[Cell], used: &mut [Used]) {
    used.fill(Used::default());
    for own in cells.chunk_by(|one, other| one.who == other.who) {
        let sum = |part: fn(&Cell) -> CpuTime| own.iter().map(part).sum::<CpuTime>().seconds();
        used[own[0].who as usize] = Used {
            cpu_s: sum(|cell| cell.cpu),
            memory_s: sum(|cell| cell.memory),
            waiting_s: sum(|cell| cell.waiting),
            held_s: sum(|cell| cell.held),
            held_memory_s: sum(|cell| cell.held_memory),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::samples::history;

    #[test]
    fn a_span_is_split_at_the_boundaries() {
        //  intervals  [0----10)[10---20)[20---30)
        //  span          5-------------------28 and beyond
        let grid = Grid { start_us: 0, interval_us: 10, count: 3 };
        let check = |start, end, expected: &[(u32, i64)]| {
            let mut parts = Vec::new();
            grid.split(start, end, |idx, part| parts.push((idx, part)));
            assert_eq!(parts, expected, "{start}..{end}");
        };
        check(5, 28, &[(0, 5), (1, 10), (2, 8)]);
        check(10, 20, &[(1, 10)]);
        check(-5, 3, &[(0, 3)]);
        check(25, i64::MAX, &[(2, 5)]);
        check(30, 40, &[]);
        check(7, 7, &[]);
        assert_eq!(grid.interval_of(10), Some(1));
        assert_eq!(grid.interval_of(30), None);
        assert_eq!(grid.interval_of(-1), None);
        assert_eq!(grid.interval_of(i64::MAX), None);
    }

    #[test]
    fn steps_give_every_interval_and_all_usage() {
        let history = history(&[("a", &[1.0, 0.0, 2.0]), ("b", &[0.0, 0.0, 4.0])]);
        let mut sums = Vec::new();
        history
            .steps(|step| -> Result<(), ()> {
                sums.push([step.used[0].cpu_s, step.used[1].cpu_s]);
                Ok(())
            })
            .unwrap();
        assert_eq!(sums, [[1.0, 0.0], [0.0, 0.0], [2.0, 4.0]]);
    }
}

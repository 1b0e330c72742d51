//! A sample of single machines over time, so that a chart can show a strip for each.
//!
//! In: the times and capacities of machines, and the attempts of tasks. Out: for each machine of
//! the sample its capacity and the requests of attempts on it, as exact integrals over equal pieces
//! of the span. The sample depends only on the machines, never on the attempts that ran on them:
//!
//! ```text
//!  machines by CPU, memory, id    a b c d e f g h i j
//!  at most 4 of them              a   c     f   h        every (10 / 4)-th
//! ```

use rustc_hash::FxHashMap;

use super::intervals::{Amounts, Intervals};
use crate::facts::machines::UpTime;
use crate::facts::tasks::Attempt;
use crate::units::{CpuRate, CpuTime};

/// Most machines in the sample.
pub const MACHINES_MAX: usize = 40;

/// Number of pieces of the span.
const PIECES: i64 = 120;

/// A machine of the sample, with CPU first, then memory.
#[derive(Clone, Debug)]
pub struct Strip {
    /// The machine.
    pub machine_id: i64,
    /// Capacity per piece; `None` if no row has it.
    pub capacity: [Option<Vec<CpuTime>>; 2],
    /// Requests of the attempts that ran on it.
    pub allocated: [Vec<CpuTime>; 2],
    /// Attempts that ran on it.
    pub running: Vec<CpuTime>,
}

impl Strip {
    /// Requests on it as a share of its capacity; `None` for a piece without capacity.
    pub fn share(&self, resource: usize, piece: usize) -> Option<f64> {
        let had = self.capacity[resource].as_ref()?[piece];
        self.allocated[resource][piece].share_of(had)
    }

    /// Requests as a share of the capacity, over all pieces.
    pub fn share_in_all(&self, resource: usize) -> Option<f64> {
        let sum = |all: &[CpuTime]| all.iter().copied().sum::<CpuTime>();
        sum(&self.allocated[resource]).share_of(sum(self.capacity[resource].as_ref()?))
    }
}

/// The machines of the sample, ordered by descending share of requested CPU.
#[derive(Clone, Debug)]
pub struct Strips {
    /// The pieces of the span.
    pub at: Intervals,
    /// Number of machines from which the sample was taken.
    pub machine_count: usize,
    /// The strips; none if no attempt is known to run on a machine.
    pub machines: Vec<Strip>,
}

/// The sums of one machine: CPU, memory, attempts.
pub(super) type Sums = [Amounts; 3];

/// The chosen machines.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    at: Intervals,
    machine_count: usize,
    chosen: Vec<i64>,
    places: FxHashMap<i64, usize>,
}

impl Sample {
    /// Chooses from the machines in service during the span.
    pub(super) fn of(up: &[UpTime], span: &Intervals) -> Self {
        let length_us = (span.end_us - span.start_us).max(1);
        let at = Intervals::new([span.start_us, span.end_us], (length_us - 1) / PIECES + 1);
        // Keeps the last entry of each machine; entries are sorted by machine and time.
        let mut last: Vec<UpTime> = Vec::new();
        for time in
            up.iter().filter(|time| span.start_us < time.to_us && time.from_us < span.end_us)
        {
            match last.last_mut() {
                Some(own) if own.machine_id == time.machine_id => *own = *time,
                _ => last.push(*time),
            }
        }
        let number = |value: Option<f32>| value.unwrap_or(0.0);
        last.sort_by(|one, other| {
            let by_cpu = number(one.cpu).total_cmp(&number(other.cpu));
            let by_memory = || number(one.memory).total_cmp(&number(other.memory));
            by_cpu.then_with(by_memory).then(one.machine_id.cmp(&other.machine_id))
        });
        let machine_count = last.len();
        let count = machine_count.min(MACHINES_MAX);
        let chosen: Vec<i64> =
            (0..count).map(|idx| last[idx * machine_count / count].machine_id).collect();
        let places = chosen.iter().copied().zip(0..).collect();
        Self { at, machine_count, chosen, places }
    }

    /// Empty sums.
    pub(super) fn sums(&self) -> Vec<Sums> {
        let count = self.at.count();
        self.chosen.iter().map(|_| std::array::from_fn(|_| Amounts::new(count))).collect()
    }

    /// Adds an attempt, if it ran on a machine of the sample.
    pub(super) fn add(&self, sums: &mut [Sums], attempt: &Attempt) {
        let place = attempt.machine_id.and_then(|machine| self.places.get(&machine));
        let Some(&place) = place else { return };
        let time = [attempt.start_us, attempt.end_us];
        let rates = [attempt.requested_rate(), attempt.held_memory(), attempt.slot_rate()];
        for (amounts, rate) in sums[place].iter_mut().zip(rates) {
            amounts.add(&self.at, time, rate);
        }
    }

    /// The strips, from the sums over all attempts.
    pub(super) fn strips(self, sums: &[Sums], up: &[UpTime]) -> Strips {
        let at = self.at;
        let count = at.count();
        let capacity = |machine_id: i64, value: fn(&UpTime) -> Option<f32>| {
            let (mut amounts, mut is_known) = (Amounts::new(count), false);
            for time in up.iter().filter(|time| time.machine_id == machine_id) {
                let Some(value) = value(time) else { continue };
                is_known = true;
                amounts.add(&at, [time.from_us, time.to_us], CpuRate::new(value));
            }
            is_known.then(|| amounts.integrals(&at))
        };
        let mut machines: Vec<Strip> = self
            .chosen
            .iter()
            .zip(sums)
            .map(|(&machine_id, [cpu, memory, running])| Strip {
                machine_id,
                capacity: [
                    capacity(machine_id, |time| time.cpu),
                    capacity(machine_id, |time| time.memory),
                ],
                allocated: [cpu.integrals(&at), memory.integrals(&at)],
                running: running.integrals(&at),
            })
            .collect();
        let is_idle = |strip: &Strip| strip.running.iter().all(|&sum| sum == CpuTime::ZERO);
        if machines.iter().all(is_idle) {
            machines.clear();
        }
        machines.sort_by(|one, other| {
            let [one_share, other_share] =
                [one, other].map(|strip| strip.share_in_all(0).unwrap_or(0.0));
            other_share.total_cmp(&one_share).then(one.machine_id.cmp(&other.machine_id))
        });
        Strips { at, machine_count: self.machine_count, machines }
    }
}

/// Adds the sums of another thread.
pub(super) fn merge(own: &mut [Sums], others: &[Sums]) {
    for (own, others) in own.iter_mut().zip(others) {
        own.iter_mut().zip(others).for_each(|(own, others)| own.merge(others));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::tasks::EndedBy;

    fn up(machine_id: i64, [from_us, to_us]: [i64; 2], cpu: f32) -> UpTime {
        UpTime { machine_id, from_us, to_us, cpu: Some(cpu), memory: None, gpus: None }
    }

    #[test]
    fn every_kth_machine_by_capacity_is_in_the_sample() {
        let span = Intervals::new([100, 1060], 7);
        // 100 machines of two sizes, the larger ones with the smaller ids, and one that left before
        // the span.
        let mut all: Vec<UpTime> =
            (0..100).map(|id| up(id, [0, 2000], if id < 50 { 1.0 } else { 0.5 })).collect();
        all.push(up(100, [0, 100], 1.0));
        let sample = Sample::of(&all, &span);
        assert_eq!((sample.machine_count, sample.chosen.len(), sample.at.length_us), (100, 40, 8));
        assert_eq!(sample.at.count(), 120);
        // Smaller machines come first; chosen ids are two or three apart.
        assert_eq!(sample.chosen[..4], [50, 52, 55, 57]);
        assert_eq!(sample.chosen[36..], [40, 42, 45, 47]);
        let few = Sample::of(&all[..3], &span);
        assert_eq!(few.chosen, [0, 1, 2]);
        assert!(Sample::of(&[], &span).strips(&[], &[]).machines.is_empty());
    }

    proptest! {
        /// Compared with a count instant by instant, in halves of a CPU.
        #[test]
        fn a_strip_holds_what_ran_on_its_machine(
            runs in prop::collection::vec((0_i64..5, 0_i64..250, 1_i64..150, 0_u8..5), 1..25),
            leaves in 1_i64..192,
        ) {
            let span = Intervals::new([0, 192], 50);
            let machines: Vec<UpTime> =
                (0..3).map(|id| up(id, [0, if id == 1 { leaves } else { 400 }], 2.0)).collect();
            let sample = Sample::of(&machines, &span);
            let mut sums = [sample.sums(), sample.sums()];
            for (idx, &(machine, from, length, halves)) in runs.iter().enumerate() {
                let attempt = Attempt {
                    start_us: from,
                    end_us: from + length,
                    ended_by: EndedBy::Nothing,
                    cpu_request: Some(f32::from(halves) / 2.0),
                    memory: None,
                    gpus: None,
                    cpu_used: None,
                    requested_us: None,
                    ran_us: None,
                    machine_id: (machine < 4).then_some(machine),
                    row: 0,
                };
                sample.add(&mut sums[idx % 2], &attempt);
            }
            let [mut one, other] = sums;
            merge(&mut one, &other);
            let strips = sample.strips(&one, &machines);
            let is_placed = runs.iter().any(|run| run.0 < 3 && run.1 < 192);
            prop_assert_eq!(strips.machines.len(), if is_placed { 3 } else { 0 });
            for strip in &strips.machines {
                let end = if strip.machine_id == 1 { leaves } else { 192 };
                for piece in 0..strips.at.count() {
                    let instants = strips.at.start_of(piece)..strips.at.end_of(piece);
                    let had = i32::try_from(instants.clone().filter(|&at| at < end).count()).unwrap();
                    let halves: i32 = instants
                        .flat_map(|at| {
                            runs.iter().filter(move |run| (run.1..run.1 + run.2).contains(&at))
                        })
                        .filter(|run| run.0 == strip.machine_id)
                        .map(|run| i32::from(run.3))
                        .sum();
                    let expected = (0 < had).then(|| f64::from(halves) / f64::from(4 * had));
                    let found = strip.share(0, piece);
                    prop_assert_eq!(found.is_some(), expected.is_some());
                    let differ = found.unwrap_or(0.0) - expected.unwrap_or(0.0);
                    prop_assert!(differ.abs() < 1e-12, "{:?} and {:?}", found, expected);
                    prop_assert_eq!(strip.share(1, piece), None);
                }
            }
        }
    }
}

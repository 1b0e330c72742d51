//! Sums of amounts and events by interval.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Amount;
use super::intervals::{Amounts, Intervals};
use crate::schema::EventType;
use crate::units::CpuTime;

/// Number of variants of [`Amount`].
pub(in crate::studies) const AMOUNTS: usize = 10;

/// Number of types of events that are counted: SUBMIT to LOST.
pub(in crate::studies) const EVENTS: usize = 7;

/// The sums of one group over all intervals.
#[derive(Clone, Debug)]
pub(in crate::studies) struct Sums {
    pub(super) amounts: [Amounts; AMOUNTS],
    pub(super) events: [Vec<u64>; EVENTS],
}

impl Sums {
    pub(super) fn new(count: usize) -> Self {
        Self {
            amounts: std::array::from_fn(|_| Amounts::new(count)),
            events: std::array::from_fn(|_| vec![0; count]),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.amounts.iter_mut().zip(&other.amounts).for_each(|(own, others)| own.merge(others));
        for (own, others) in self.events.iter_mut().zip(&other.events) {
            own.iter_mut().zip(others).for_each(|(own, others)| *own += others);
        }
    }
}

/// The sums of one group per interval.
#[derive(Clone, Debug)]
pub struct Cells {
    pub(super) amounts: [Vec<CpuTime>; AMOUNTS],
    pub(super) events: [Vec<u64>; EVENTS],
}

impl Cells {
    pub(super) fn of(sums: &Sums, at: &Intervals) -> Self {
        Self {
            amounts: std::array::from_fn(|idx| sums.amounts[idx].integrals(at)),
            events: sums.events.clone(),
        }
    }

    /// The integral over each interval.
    pub fn amounts(&self, amount: Amount) -> &[CpuTime] {
        &self.amounts[amount as usize]
    }

    /// The integral over all intervals.
    pub fn total(&self, amount: Amount) -> CpuTime {
        self.amounts(amount).iter().copied().sum()
    }

    /// Events by interval; none for types that are not counted.
    pub fn events(&self, event: EventType) -> &[u64] {
        self.events.get(event as usize).map_or(&[][..], Vec::as_slice)
    }

    /// Whether all sums and counts are zero.
    pub fn is_empty(&self) -> bool {
        let nothing = |sums: &Vec<CpuTime>| sums.iter().all(|&sum| sum == CpuTime::ZERO);
        self.amounts.iter().all(nothing)
            && self.events.iter().all(|counts| counts.iter().all(|&count| count == 0))
    }

    /// The sum of several.
    pub fn sum(all: &[Self]) -> Self {
        let mut sum = all[0].clone();
        for other in &all[1..] {
            for (own, others) in sum.amounts.iter_mut().zip(&other.amounts) {
                own.iter_mut().zip(others).for_each(|(own, &others)| *own += others);
            }
            for (own, others) in sum.events.iter_mut().zip(&other.events) {
                own.iter_mut().zip(others).for_each(|(own, others)| *own += others);
            }
        }
        sum
    }
}

/// The entries sorted by key, so that results do not depend on the order of a hash map.
pub(super) fn sorted<V>(map: FxHashMap<String, V>) -> Vec<(String, V)> {
    map.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect()
}

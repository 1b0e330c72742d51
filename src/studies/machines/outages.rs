//! Notable facts about outages: the most machines away at the same time, a length that many outages
//! have, and the few machines that have many outages.
//!
//! In: outages, or their lengths. Out: numbers for sentences, all computed from the data without a
//! model.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Outage;

/// The most machines away at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostAway {
    /// Their number.
    pub machines: u64,
    /// The first instant with this number of machines away, µs.
    pub at_us: i64,
}

/// A range of lengths within 10 % of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsualLength {
    /// The shortest, s.
    pub from_s: f64,
    /// The longest, s.
    pub to_s: f64,
    /// The outages with these lengths, as a share of all that ended.
    pub length_share: f64,
}

/// The machines that left most often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FewMachines {
    /// Their number.
    pub machines: u64,
    /// Their outages.
    pub outages: u64,
}

/// The fewest machines that together have at least one in `one_in` of all outages; `None` without
/// outages.
pub fn fewest_with(outages: &[Outage], one_in: u64) -> Option<FewMachines> {
    let mut by_machine: BTreeMap<i64, u64> = BTreeMap::new();
    for outage in outages {
        *by_machine.entry(outage.machine_id).or_default() += 1;
    }
    let mut counts: Vec<u64> = by_machine.into_values().collect();
    counts.sort_unstable_by_key(|count| Reverse(*count));
    let mut few = FewMachines::default();
    let all = outages.len() as u64;
    for count in counts {
        few = FewMachines { machines: few.machines + 1, outages: few.outages + count };
        if all <= few.outages.saturating_mul(one_in) {
            return Some(few);
        }
    }
    None
}

/// The most machines away at the same time. An outage counts from its start until just before its
/// end.
pub fn most_away(outages: &[Outage], end_us: i64) -> Option<MostAway> {
    let spans = outages.iter().map(|own| (own.from_us, own.until(end_us)));
    let spans = spans.filter(|(from_us, until_us)| from_us < until_us);
    // At the same instant, returns come before departures.
    let mut changes: Vec<(i64, i64)> =
        spans.flat_map(|(from_us, until_us)| [(from_us, 1), (until_us, -1)]).collect();
    changes.sort_unstable();
    let (mut away, mut most): (i64, Option<MostAway>) = (0, None);
    for (at_us, change) in changes {
        away += change;
        let machines = away.unsigned_abs();
        if 0 < change && most.is_none_or(|most| most.machines < machines) {
            most = Some(MostAway { machines, at_us });
        }
    }
    most
}

/// The range of lengths within 10 % of each other that has most outages; of equal ones, the range
/// with the shortest lengths. Lengths must ascend, µs.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 outages")]
pub fn usual_length(ascending_us: &[i64]) -> Option<UsualLength> {
    let mut best: Option<(usize, usize)> = None;
    let mut until = 0;
    for (from, &shortest) in ascending_us.iter().enumerate() {
        let is_near = |own: i64| i128::from(own) * 10 <= i128::from(shortest) * 11;
        while until < ascending_us.len() && is_near(ascending_us[until]) {
            until += 1;
        }
        if best.is_none_or(|(start, end)| end - start < until - from) {
            best = Some((from, until));
        }
    }
    let (from, until) = best?;
    let seconds = |at: usize| crate::units::micros_to_seconds(ascending_us[at]);
    Some(UsualLength {
        from_s: seconds(from),
        to_s: seconds(until - 1),
        length_share: (until - from) as f64 / ascending_us.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Promise: at no instant are more machines away, and at all earlier instants there are
        /// fewer.
        #[test]
        fn the_most_away_are_those_counted_at_every_instant(
            spans in prop::collection::vec((0..40_i64, prop::option::of(0..20_i64)), 0..30),
        ) {
            const END: i64 = 50;
            let outage = |&(from_us, length): &(i64, Option<i64>)| Outage {
                machine_id: 1,
                from_us,
                to_us: length.map(|length| from_us + length),
                cpu: None,
                memory: None,
                configuration: 0,
            };
            let outages: Vec<Outage> = spans.iter().map(outage).collect();
            let away = |at: i64| spans.iter().filter(|(from, length)| {
                *from <= at && at < length.map_or(END, |length| from + length).min(END)
            }).count() as u64;
            let counts: Vec<(u64, i64)> = (0..END).map(|at| (away(at), at)).collect();
            let most = counts.iter().map(|count| count.0).max().filter(|count| 0 < *count);
            let first = most.and_then(|most| counts.iter().find(|count| count.0 == most));
            let found = most_away(&outages, END).map(|most| (most.machines, most.at_us));
            prop_assert_eq!(found, first.copied());
        }

        /// Promise: any set of machines that is smaller by one has too few outages.
        #[test]
        fn no_fewer_machines_have_as_many_outages(
            ids in prop::collection::vec(0..8_i64, 1..60), one_in in 1..30_u64,
        ) {
            let outage = |&machine_id: &i64| Outage {
                machine_id,
                from_us: 0,
                to_us: None,
                cpu: None,
                memory: None,
                configuration: 0,
            };
            let outages: Vec<Outage> = ids.iter().map(outage).collect();
            let few = fewest_with(&outages, one_in).unwrap();
            let all = ids.len() as u64;
            prop_assert!(all <= few.outages * one_in);
            let mut counts: Vec<u64> = (0..8)
                .map(|id| ids.iter().filter(|&&own| own == id).count() as u64)
                .collect();
            counts.sort_unstable_by_key(|count| Reverse(*count));
            let before: u64 = counts.iter().take(usize::try_from(few.machines).unwrap() - 1).sum();
            prop_assert!(before * one_in < all);
            prop_assert_eq!(fewest_with(&[], one_in), None);
        }

        /// Promise: no other range of lengths within 10 % has more outages.
        #[test]
        fn no_other_lengths_within_a_tenth_are_more(
            mut lengths in prop::collection::vec(0..60_i64, 1..40),
        ) {
            lengths.sort_unstable();
            let within = |from: i64| lengths.iter().filter(|&&own| from <= own && own * 10 <= from * 11).count();
            let most = lengths.iter().map(|&from| within(from)).max().unwrap();
            let found = usual_length(&lengths).unwrap();
            let start = *lengths.iter().find(|&&from| within(from) == most).unwrap();
            prop_assert_eq!(found.from_s, crate::units::micros_to_seconds(start));
            let number = |count: usize| f64::from(u32::try_from(count).unwrap());
            let share = number(most) / number(lengths.len());
            prop_assert!((found.length_share - share).abs() < 1e-12);
        }
    }
}

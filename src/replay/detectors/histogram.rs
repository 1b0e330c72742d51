//! An equal-width histogram, with its mode, of attempts that ended in a moving window or run now.
//!
//! In: bins, added and removed. Out: the fullest bin. Bins with small numbers are counted in an
//! array. The rare bins with huge numbers (from attempts with a hundredth of a percent of progress
//! in an hour) are counted in an ordered map. The mode is kept up to date, and searched again only
//! when its own bin has lost an entry.

use std::collections::BTreeMap;

use super::support::{entry, whole};
use crate::units::micros_to_seconds;

/// Lower bins are counted in an array.
const SMALL: u32 = 4_096;

/// Which of several equally full bins is the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ties {
    /// The highest: the cautious choice, because fewer tasks are above it.
    High,
    /// The lowest.
    Low,
}

impl Ties {
    /// The preferred one of two equally full bins.
    fn preferred(self, one: u64, other: u64) -> u64 {
        match self {
            Self::High => one.max(other),
            Self::Low => one.min(other),
        }
    }
}

/// The bin of a length of at least 0: bin k covers [k * width, (k + 1) * width).
pub(super) fn bin(length_s: f64, width_s: f64) -> u64 {
    // Rounds down.
    whole(length_s / width_s) as u64
}

/// The lower edges of the first bins, in whole microseconds: a length is assigned to its bin by
/// comparisons, without a division.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    width_s: f64,
    /// The shortest length in bin k or above it, µs.
    from_us: Vec<i64>,
}

impl Edges {
    /// The edges of bins of `width_s`.
    pub(super) fn of(width_s: f64) -> Self {
        let lies_at = |length_us: i64| bin(micros_to_seconds(length_us), width_s);
        let first_us = |number: u32| {
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            let mut edge_us = (f64::from(number) * width_s * 1e6) as i64;
            while 0 < edge_us && u64::from(number) <= lies_at(edge_us - 1) {
                edge_us -= 1;
            }
            while lies_at(edge_us) < u64::from(number) {
                edge_us += 1;
            }
            edge_us
        };
        // Beyond this, a float cannot represent every microsecond.
        let is_exact = |number: &u32| f64::from(*number) * width_s < 1e9;
        Self { width_s, from_us: (0..SMALL).take_while(is_exact).map(first_us).collect() }
    }

    /// The bin of a length; fast if it is `guess` or slightly above it, as in most cases.
    pub(super) fn bin(&self, length_us: i64, guess: u64) -> u64 {
        let place = usize::try_from(guess).unwrap_or(usize::MAX);
        let edges = self.from_us.get(place..).and_then(<[i64]>::first_chunk);
        if let Some(&[from_us, next_us, after_us]) = edges
            && from_us <= length_us
            && length_us < after_us
        {
            return guess + u64::from(next_us <= length_us);
        }
        bin(micros_to_seconds(length_us), self.width_s)
    }
}

/// The number of entries of each bin.
#[derive(Debug)]
pub(super) struct Histogram {
    ties: Ties,
    small: Vec<u32>,
    large: BTreeMap<u64, u32>,
    /// The number of bins for each number of entries.
    alike: Vec<u32>,
    /// The number of entries of the fullest bin.
    most: u32,
    /// The mode; `None` if it must be searched again.
    mode: Option<u64>,
}

impl Histogram {
    /// An empty histogram.
    pub(super) fn new(ties: Ties) -> Self {
        Self {
            ties,
            small: Vec::new(),
            large: BTreeMap::new(),
            alike: Vec::new(),
            most: 0,
            mode: None,
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.ties);
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, bin: u64) {
        let count = self.count(bin, 1);
        if self.most < count {
            (self.most, self.mode) = (count, Some(bin));
        } else if count == self.most {
            self.mode = self.mode.map(|mode| self.ties.preferred(mode, bin));
        }
    }

    /// Removes an entry that was added.
    pub(super) fn remove(&mut self, bin: u64) {
        let now = self.count(bin, -1);
        self.mode = self.mode.filter(|mode| *mode != bin);
        if now < self.most && self.alike[self.most as usize] == 0 {
            (self.most, self.mode) = (now, None);
        }
    }

    fn count(&mut self, bin: u64, change: i32) -> u32 {
        let place = u32::try_from(bin).ok().filter(|place| *place < SMALL);
        let count = match place {
            Some(place) => entry(&mut self.small, place),
            None => self.large.entry(bin).or_insert(0),
        };
        let before = *count;
        let now = before.saturating_add_signed(change);
        *count = now;
        if now == 0 && place.is_none() {
            self.large.remove(&bin);
        }
        if 0 < before {
            self.alike[before as usize] -= 1;
        }
        *entry(&mut self.alike, now) += u32::from(0 < now);
        now
    }

    /// The fullest bin; `None` if the histogram is empty.
    pub(super) fn mode(&mut self) -> Option<u64> {
        if self.most == 0 {
            return None;
        }
        if self.mode.is_none() {
            let is_full = |count: &u32| *count == self.most;
            let mut large =
                self.large.iter().filter(|(_, count)| is_full(count)).map(|(&bin, _)| bin);
            let mut small = self.small.iter();
            self.mode = match self.ties {
                Ties::High => {
                    large.next_back().or_else(|| small.rposition(is_full).map(|bin| bin as u64))
                }
                Ties::Low => small.position(is_full).map(|bin| bin as u64).or_else(|| large.next()),
            };
        }
        self.mode
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Compares with a list that is recounted after each step.
        #[test]
        fn the_mode_follows_what_comes_and_goes(
            steps in prop::collection::vec((any::<bool>(), 0_u64..6, any::<prop::sample::Index>()), 1..80),
        ) {
            for ties in [Ties::High, Ties::Low] {
                let (mut histogram, mut list) = (Histogram::new(ties), Vec::new());
                for (adds, bin, which) in &steps {
                    if *adds || list.is_empty() {
                        // Two of the bins are large.
                        let bin = if *bin < 4 { *bin } else { *bin + 9_999_999 };
                        histogram.add(bin);
                        list.push(bin);
                    } else {
                        histogram.remove(list.swap_remove(which.index(list.len())));
                    }
                    let count = |bin: u64| list.iter().filter(|&&other| other == bin).count();
                    let fullest = list.iter().map(|&bin| count(bin)).max();
                    let modes = list.iter().copied().filter(|&bin| Some(count(bin)) == fullest);
                    let expected = if ties == Ties::High { modes.max() } else { modes.min() };
                    prop_assert_eq!(histogram.mode(), expected);
                }
                histogram.clear();
                prop_assert_eq!(histogram.mode(), None);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Compares with the quotient, for any guess.
        #[test]
        fn edges_put_every_length_into_its_bin(
            width_s in prop_oneof![Just(15.0), Just(1e-6), Just(1e12), 1e-6..1e4_f64],
            lengths in prop::collection::vec((0_u64..5_000, -2_i64..3, 0_u64..5_000), 1..50),
        ) {
            let edges = Edges::of(width_s);
            for (number, beside_us, guess) in lengths {
                #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "saturates")]
                let edge_us = (number as f64 * width_s * 1e6) as i64;
                let length_us = edge_us.saturating_add(beside_us).max(0);
                let expected = bin(micros_to_seconds(length_us), width_s);
                for guess in [guess, expected, expected.saturating_sub(1), expected.saturating_sub(2), u64::MAX] {
                    prop_assert_eq!(edges.bin(length_us, guess), expected);
                }
            }
        }
    }

    #[test]
    fn bins_are_closed_below() {
        let bins: Vec<u64> = [4.0, 5.0, 7.0, 20.0, 24.999].map(|s| bin(s, 5.0)).into();
        assert_eq!(bins, [0, 1, 1, 4, 4]);
    }
}

//! An equal-width histogram of what ended in a moving window and of what runs now, with its mode.
//!
//! In: bins, added and removed. Out: the fullest bin. Small bins are counted in an array and the
//! rare huge ones (a hundredth of a percent of progress in an hour) in an ordered map. The mode is
//! kept up to date, and looked for again only when its own bin has lost something.

use std::collections::BTreeMap;

use super::support::{entry, whole};

/// Bins below are counted in an array.
const SMALL: u64 = 4_096;

/// Which of several fullest bins is the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ties {
    /// The highest: the cautious choice, since fewer tasks lie above it.
    High,
    /// The lowest.
    Low,
}

impl Ties {
    /// The fuller of two bins, each with its count before it.
    fn fuller(self, one: (u32, u64), other: (u32, u64)) -> (u32, u64) {
        let is_tie_won = match self {
            Self::High => one.1 <= other.1,
            Self::Low => other.1 < one.1,
        };
        if one.0 < other.0 || (one.0 == other.0 && is_tie_won) { other } else { one }
    }
}

/// The bin of a length of at least 0: bin k covers [k * width, (k + 1) * width).
pub(super) fn bin(length_s: f64, width_s: f64) -> u64 {
    // Rounds down.
    whole(length_s / width_s) as u64
}

/// How often each bin occurs.
#[derive(Debug)]
pub(super) struct Histogram {
    ties: Ties,
    small: Vec<u32>,
    large: BTreeMap<u64, u32>,
    /// The count and the bin of the mode; `None` when it must be looked for.
    mode: Option<(u32, u64)>,
}

impl Histogram {
    /// Of nothing.
    pub(super) fn new(ties: Ties) -> Self {
        Self { ties, small: Vec::new(), large: BTreeMap::new(), mode: Some((0, 0)) }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.ties);
    }

    /// Adds something.
    pub(super) fn add(&mut self, bin: u64) {
        let count = self.count(bin, 1);
        self.mode = self.mode.map(|mode| self.ties.fuller(mode, (count, bin)));
    }

    /// Removes something that was added.
    pub(super) fn remove(&mut self, bin: u64) {
        self.count(bin, -1);
        self.mode = self.mode.filter(|mode| mode.1 != bin);
    }

    fn count(&mut self, bin: u64, change: i32) -> u32 {
        if bin < SMALL {
            #[expect(clippy::cast_possible_truncation, reason = "below 4096")]
            let count = entry(&mut self.small, bin as u32);
            *count = count.saturating_add_signed(change);
            return *count;
        }
        let count = self.large.entry(bin).or_insert(0);
        *count = count.saturating_add_signed(change);
        let left = *count;
        if left == 0 {
            self.large.remove(&bin);
        }
        left
    }

    /// The fullest bin; `None` of nothing.
    pub(super) fn mode(&mut self) -> Option<u64> {
        let mode = *self.mode.get_or_insert_with(|| {
            let small = (0_u64..).zip(&self.small).map(|(bin, &count)| (count, bin));
            let large = self.large.iter().map(|(&bin, &count)| (count, bin));
            let filled = small.chain(large).filter(|&(count, _)| 0 < count);
            filled.reduce(|one, other| self.ties.fuller(one, other)).unwrap_or((0, 0))
        });
        (0 < mode.0).then_some(mode.1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Compared with a list that is counted again each time.
        #[test]
        fn the_mode_follows_what_comes_and_goes(
            steps in prop::collection::vec((any::<bool>(), 0_u64..6, any::<prop::sample::Index>()), 1..80),
        ) {
            for ties in [Ties::High, Ties::Low] {
                let (mut histogram, mut list) = (Histogram::new(ties), Vec::new());
                for (adds, bin, which) in &steps {
                    if *adds || list.is_empty() {
                        // Two of the bins are large ones.
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

    #[test]
    fn bins_are_closed_below() {
        let bins: Vec<u64> = [4.0, 5.0, 7.0, 20.0, 24.999].map(|s| bin(s, 5.0)).into();
        assert_eq!(bins, [0, 1, 1, 4, 4]);
    }
}

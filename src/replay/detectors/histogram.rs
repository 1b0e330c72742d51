//! An equal-width histogram of what ended in a moving window and of what runs now, with its mode.
//!
//! In: bins, added and removed. Out: the fullest bin. Small bins are counted in an array and the
//! rare huge ones (a hundredth of a percent of progress in an hour) in an ordered map. Only the
//! ended are remembered from call to call; who runs is put in anew each time.

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

/// The bin of a length: bin k covers [k * width, (k + 1) * width).
pub(super) fn bin(length_s: f64, width_s: f64) -> u64 {
    whole((length_s / width_s).floor()) as u64
}

/// How often each bin occurs.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    small: Vec<u32>,
    large: BTreeMap<u64, u32>,
    /// The mode of the ended alone with its count; `None` when it must be looked for.
    mode: Option<(u32, u64)>,
}

impl Histogram {
    pub(super) fn clear(&mut self) {
        self.small.fill(0);
        self.large.clear();
        self.mode = None;
    }

    /// Adds something that ended.
    pub(super) fn add(&mut self, bin: u64) {
        self.count(bin, 1);
        self.mode = None;
    }

    /// Removes something that ended long ago.
    pub(super) fn remove(&mut self, bin: u64) {
        self.count(bin, -1);
        self.mode = None;
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

    /// The fullest bin of what ended together with `running`; `None` of nothing.
    pub(super) fn mode(&mut self, running: &[u64], ties: Ties) -> Option<u64> {
        let fuller = |a: (u32, u64), b: (u32, u64)| {
            let is_tie_won = match ties {
                Ties::High => a.1 <= b.1,
                Ties::Low => b.1 < a.1,
            };
            if a.0 < b.0 || (a.0 == b.0 && is_tie_won) { b } else { a }
        };
        let ended = *self.mode.get_or_insert_with(|| {
            let small = (0_u64..).zip(&self.small).map(|(bin, &count)| (count, bin));
            let large = self.large.iter().map(|(&bin, &count)| (count, bin));
            let filled = small.chain(large).filter(|&(count, _)| 0 < count);
            filled.reduce(fuller).unwrap_or((0, 0))
        });
        // A bin that nobody running falls into is no fuller than the mode of the ended.
        let fullest = running.iter().fold(ended, |fullest, &bin| {
            let count = self.count(bin, 1);
            fuller(fullest, (count, bin))
        });
        for &bin in running {
            self.count(bin, -1);
        }
        (0 < fullest.0).then_some(fullest.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_follows_ends_and_runners() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.mode(&[], Ties::High), None);
        for bin in [1, 1, 3, 9_999_999, 9_999_999] {
            histogram.add(bin);
        }
        assert_eq!(histogram.mode(&[], Ties::Low), Some(1));
        histogram.add(3);
        assert_eq!(histogram.mode(&[3], Ties::Low), Some(3));
        assert_eq!(histogram.mode(&[4], Ties::Low), Some(1), "who ran is forgotten");
        histogram.remove(9_999_999);
        histogram.remove(1);
        assert_eq!(histogram.mode(&[4, 4], Ties::Low), Some(3));
        histogram.clear();
        assert_eq!(histogram.mode(&[7, 5], Ties::Low), Some(5));
        histogram.clear();
        assert_eq!(histogram.mode(&[7, 5], Ties::High), Some(7));
    }

    #[test]
    fn ties_go_where_they_are_told() {
        let mut histogram = Histogram::default();
        for bin in [2, 2, 5] {
            histogram.add(bin);
        }
        assert_eq!(histogram.mode(&[5], Ties::High), Some(5));
        histogram.mode = None;
        assert_eq!(histogram.mode(&[5], Ties::Low), Some(2));
    }

    #[test]
    fn bins_are_closed_below() {
        let bins: Vec<u64> = [4.0, 5.0, 7.0, 20.0, 24.999].map(|s| bin(s, 5.0)).into();
        assert_eq!(bins, [0, 1, 1, 4, 4]);
    }
}

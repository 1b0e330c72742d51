//! Days with far more than a usual day. A surge that lasts for many hours can be below the rule of
//! intervals in each of them.
//!
//! In: counts per interval. Out: the days that stand out, a day that is known in full each.
//!
//! ```text
//!  jobs per day   19 22 24 21 23 44 20   median 22, half of the days within 2 of it
//!                                ^^      at least 1.5 x 22, and more than 22 + 5 x 2
//! ```

use super::rule::Rule;
use super::{Counts, Episode, What};
use crate::units::MICROS_PER_DAY;

/// The fewest whole days of which one can stand out: a median of fewer is that of a single week or
/// less, whose weekend would stand out already.
pub const DAYS_MIN: usize = 7;

/// A day stands out if it has at least this many times the median day. Numbers of jobs of ordinary
/// days of the real traces differ by less.
pub const DAY_TIMES: f64 = 1.5;

/// And if it is above the median by more than this many times the median absolute deviation of days.
pub const DAY_SPREADS: f64 = 5.0;

/// The days of a kind of event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Days {
    /// Days that are known in full.
    pub known: usize,
    /// The median number of events of these.
    pub median: f64,
    /// The median distance of a day from that.
    pub spread: f64,
    /// The days that stand out, in their order; the median is what is expected of each.
    pub found: Vec<Episode>,
}

impl Days {
    /// The days of a kind. None if the days cannot be made of intervals, or if few are known in full.
    pub fn of(counts: &Counts, what: What, rule: Rule) -> Self {
        let days = whole(counts, what);
        Self::among(&days, what, rule)
    }

    fn among(days: &[Episode], what: What, rule: Rule) -> Self {
        if days.len() < DAYS_MIN {
            return Self { known: days.len(), ..Self::default() };
        }
        let median = median(days.iter().map(|day| number(day.count)));
        let spread = self::median(days.iter().map(|day| (number(day.count) - median).abs()));
        let stands_out = |day: &&Episode| {
            let count = number(day.count);
            rule.least <= day.count
                && DAY_TIMES * median <= count
                && median + DAY_SPREADS * spread < count
        };
        let found = days.iter().filter(stands_out);
        let found = found.map(|day| Episode { what, expected: median, ..*day }).collect();
        Self { known: days.len(), median, spread, found }
    }
}

/// The days that are known in full, with their intervals.
fn whole(counts: &Counts, what: What) -> Vec<Episode> {
    let at = &counts.asked.at;
    if MICROS_PER_DAY % at.length_us != 0 {
        return Vec::new();
    }
    let day_of = |idx: usize| at.start_of(idx).div_euclid(MICROS_PER_DAY);
    let mut days: Vec<(Episode, i64)> = Vec::new();
    for idx in 0..at.count() {
        let (count, known_us) =
            (counts.events[what as usize][idx], counts.asked.known_in(what, idx));
        match days.last_mut().filter(|(day, _)| day_of(day.first) == day_of(idx)) {
            Some((day, all_us)) => {
                day.last = idx;
                day.count += count;
                *all_us += known_us;
            }
            None => {
                days.push((
                    Episode { what, first: idx, last: idx, count, expected: 0.0 },
                    known_us,
                ));
            }
        }
    }
    days.into_iter().filter(|(_, us)| *us == MICROS_PER_DAY).map(|(day, _)| day).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 events")]
fn number(count: u64) -> f64 {
    count as f64
}

/// The median (R-7); 0 of nothing.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    crate::studies::quantile(&values, 0.5).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which days stand out, given as positions.
    fn check(counts: &[u64], expected: &[usize]) {
        let what = What::Submitted;
        let days: Vec<Episode> = counts
            .iter()
            .enumerate()
            .map(|(idx, &count)| Episode { what, first: idx, last: idx, count, expected: 0.0 })
            .collect();
        let found = Days::among(&days, what, Rule { times: 5, least: 10 });
        let found: Vec<usize> = found.found.iter().map(|day| day.first).collect();
        assert_eq!(found, expected, "{counts:?}");
    }

    proptest::proptest! {
        /// By counting alone, in whole numbers: no value is sorted.
        #[test]
        fn days_are_those_of_a_count_without_sorting(
            counts in proptest::collection::vec(0_u64..60, 0..16),
        ) {
            // Twice the median: the sum of the two values that have half of the others on each side.
            let twice_median = |values: &[u64]| -> u64 {
                let below = |value: u64| values.iter().filter(|own| **own < value).count();
                let up_to = |value: u64| values.iter().filter(|own| **own <= value).count();
                let at = |place: usize| {
                    let is_own = |value: &&u64| below(**value) <= place && place < up_to(**value);
                    values.iter().find(is_own).copied().unwrap_or(0)
                };
                if values.is_empty() { 0 } else { at((values.len() - 1) / 2) + at(values.len() / 2) }
            };
            let median2 = twice_median(&counts);
            let distances2: Vec<u64> = counts.iter().map(|own| (2 * own).abs_diff(median2)).collect();
            let spread4 = twice_median(&distances2);
            let expected: Vec<usize> = (0..counts.len())
                .filter(|_| DAYS_MIN <= counts.len())
                .filter(|&day| 10 <= counts[day] && 3 * median2 <= 4 * counts[day])
                .filter(|&day| 2 * median2 + 5 * spread4 < 4 * counts[day])
                .collect();
            check(&counts, &expected);
        }
    }

    #[test]
    fn a_day_stands_out_by_its_size_and_beyond_the_spread_of_days() {
        check(&[19, 22, 24, 21, 23, 44, 20], &[5]);
        // Six days are too few.
        check(&[19, 22, 24, 21, 23, 44], &[]);
        // Median 22, spread 2: 32 is beyond the spread, but below 1.5 times the median.
        check(&[19, 22, 24, 21, 23, 32, 20], &[]);
        check(&[19, 22, 24, 21, 23, 33, 20], &[5]);
        // Days that differ much: median 30, spread 20, and 100 is not beyond 130.
        check(&[10, 20, 30, 40, 50, 100, 10], &[]);
        // All days alike, and too few events.
        check(&[2, 2, 2, 2, 2, 2, 9], &[]);
        check(&[0, 0, 0, 0, 0, 0, 12], &[6]);
    }
}

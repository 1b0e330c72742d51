//! Days with far more events than a usual day. A surge of many hours can stay below the rule for
//! intervals in each of its intervals.
//!
//! In: counts per interval. Out: the days that stand out. Only days that are fully known count.
//!
//! ```text
//!  jobs per day   19 22 24 21 23 44 20   median 22, half of the days within 2 of it
//!                                ^^      at least 1.5 x 22, and more than 22 + 5 x 2
//! ```

use super::rule::Rule;
use super::{Counts, Episode, What};
use crate::units::MICROS_PER_DAY;

/// The fewest fully known days for a comparison. Fewer days are less than a week, and ordinary
/// differences between days of the week would stand out.
pub const DAYS_MIN: usize = 7;

/// A day stands out if its count is at least this many times the median of days. In the real
/// traces, the numbers of jobs of ordinary days differ by less.
pub const DAY_TIMES: f64 = 1.5;

/// In addition, its count must be above the median by more than this many times the median absolute
/// deviation of days.
pub const DAY_SPREADS: f64 = 5.0;

/// The days of a kind of event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Days {
    /// Number of fully known days.
    pub known: usize,
    /// The median number of events of these days.
    pub median: f64,
    /// The median distance of the count of a day from that median.
    pub spread: f64,
    /// The days that stand out, in time order. The expected count of each is the median.
    pub found: Vec<Episode>,
}

impl Days {
    /// The days of a kind of event. No day stands out if a day is not a whole number of intervals,
    /// or if too few days are fully known.
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

/// The fully known days, with their intervals.
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

/// The median (R-7); 0 without values.
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
        /// Compared with counts in whole numbers, without sorting values.
        #[test]
        fn days_are_those_of_a_count_without_sorting(
            counts in proptest::collection::vec(0_u64..60, 0..16),
        ) {
            // Twice the median: the sum of the two middle values.
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
        // Median 22, spread 2: 32 is not above 22 + 5 x 2, and is below 1.5 x 22.
        check(&[19, 22, 24, 21, 23, 32, 20], &[]);
        check(&[19, 22, 24, 21, 23, 33, 20], &[5]);
        // Days that differ much: median 30, spread 20, and 100 is not above 30 + 5 x 20.
        check(&[10, 20, 30, 40, 50, 100, 10], &[]);
        // All other days are the same: 9 events are too few, 12 are enough.
        check(&[2, 2, 2, 2, 2, 2, 9], &[]);
        check(&[0, 0, 0, 0, 0, 0, 12], &[6]);
    }
}

//! Logarithmic axes of lengths of time: ticks in the words that people use.
//!
//! In: the range of an axis in seconds. Out: sets of ticks from the finest to the coarsest; an axis
//! takes the first set with labels that fit. The unit of the values does not matter: all
//! logarithmic axes of lengths of time have the same ticks.
//!
//! ```text
//!    ┼────┼─────┼──────┼─────┼─────┼────┼──────┼
//!   1 s  10 s  1 min 10 min 1 h   6 h  1 d   10 d
//! ```

use crate::digits::{grouped, lasting};

/// The end of the title of an axis in seconds.
const SECONDS: &str = " (s)";

/// The quantity in the title of an axis in seconds, without the unit.
pub(super) fn name_of(title: &str) -> Option<&str> {
    title.strip_suffix(SECONDS)
}

/// How titles of axes with lengths of time end, each with the seconds of its unit.
const COUNTED: [(&str, f64); 4] =
    [(SECONDS, 1.0), (" (min)", 60.0), (" (h)", 3600.0), (" (d)", 86_400.0)];

/// The quantity in the title of an axis of lengths of time, and the seconds of its unit.
pub(super) fn counted_in(title: &str) -> Option<(&str, f64)> {
    COUNTED.iter().find_map(|(end, per)| Some((title.strip_suffix(end)?, *per)))
}

/// A value for the place next to its name: a length of time in words, any other value as it is.
pub(super) fn beside(name: &str, amount: f64, plain: impl Fn(f64) -> String) -> (&str, String) {
    match name_of(name) {
        Some(name) => (name, lasting(amount)),
        None => (name, plain(amount)),
    }
}

/// The units of ticks, each with its seconds and the numbers of this unit on a fine axis.
const UNITS: [(&str, f64, &[u32]); 6] = [
    ("µs", 1e-6, &[1, 2, 5, 10, 20, 50, 100, 200, 500]),
    ("ms", 1e-3, &[1, 2, 5, 10, 20, 50, 100, 200, 500]),
    ("s", 1.0, &[1, 2, 5, 10, 20, 30]),
    ("min", 60.0, &[1, 2, 5, 10, 20, 30]),
    ("h", 3600.0, &[1, 2, 6, 12]),
    ("d", 86_400.0, &[1, 2, 5, 10, 20, 50]),
];

/// Whether a medium axis has a tick at this number of a unit: powers of ten, and six hours.
fn is_medium(unit: &str, number: u32) -> bool {
    matches!(number, 1 | 10 | 100) || unit == "h" && number == 6
}

/// Exponents of the powers of ten at which days have ticks. No trace is as long as the last one.
const DAYS: std::ops::Range<u32> = 2..10;

/// A tick: its time in s, its text, and the coarsest set that has it (0: only the finest).
type Tick = (f64, String, u32);

/// All ticks, the shortest time first.
fn ticks() -> Vec<Tick> {
    let mut all: Vec<Tick> = Vec::new();
    for (unit, per, numbers) in UNITS {
        all.extend(numbers.iter().map(|&number| {
            let rank = if number == 1 { 2 } else { u32::from(is_medium(unit, number)) };
            (f64::from(number) * per, format!("{number} {unit}"), rank)
        }));
    }
    for power in DAYS {
        let tick = |digit: u64| {
            let days = digit * 10_u64.pow(power);
            let rank = if digit == 1 { 1 + u32::from(power.is_multiple_of(2)) } else { 0 };
            #[expect(clippy::cast_precision_loss, reason = "at most 5 * 10^9")]
            (days as f64 * 86_400.0, format!("{} d", grouped(days)), rank)
        };
        all.extend([1, 2, 5].map(tick));
    }
    all
}

/// The times of all ticks that an axis from `low` to `high` can have, in any set.
pub(super) fn times(low: f64, high: f64) -> Vec<f64> {
    let times = ticks().into_iter().map(|tick| tick.0);
    times.filter(|time| low / 10.0 <= *time && *time <= high * 10.0).collect()
}

/// Sets of ticks from `low` to `high`, the finest first; the last one is empty.
pub(super) fn sets(low: f64, high: f64) -> Vec<Vec<(f64, String)>> {
    let within = |time: f64| low * (1.0 - 1e-9) <= time && time <= high * (1.0 + 1e-9);
    let all: Vec<Tick> = ticks().into_iter().filter(|tick| within(tick.0)).collect();
    let of = |rank: u32| -> Vec<(f64, String)> {
        let kept = all.iter().filter(|tick| rank <= tick.2);
        kept.map(|(time, text, _)| (*time, text.clone())).collect()
    };
    let units = of(2);
    let every = |step: usize| units.iter().step_by(step).cloned().collect();
    let mut sets = vec![of(0), of(1)];
    sets.extend((1..=units.len()).map(every));
    sets.push(Vec::new());
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(set: &[(f64, String)]) -> Vec<&str> {
        set.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn ticks_are_lengths_of_time_that_people_name() {
        let sets = sets(1.0, 2_000_000.0);
        assert_eq!(
            texts(&sets[1]),
            ["1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "10 d"]
        );
        assert_eq!(texts(&sets[2]), ["1 s", "1 min", "1 h", "1 d"]);
        assert_eq!(texts(&sets[3]), ["1 s", "1 h"]);
        assert!(sets[0].len() > sets[1].len() && sets.last().unwrap().is_empty());
        assert_eq!(texts(&super::sets(2e-3, 0.6)[1]), ["10 ms", "100 ms"]);
        assert_eq!(texts(&super::sets(8e6, 1e9)[1]), ["100 d", "1,000 d", "10,000 d"]);
    }

    #[test]
    fn the_title_of_an_axis_names_its_unit() {
        assert_eq!(counted_in("median wait (min)"), Some(("median wait", 60.0)));
        assert_eq!(counted_in("wait, 95 % quantile (h)"), Some(("wait, 95 % quantile", 3600.0)));
        assert_eq!(counted_in("CPU time (core-h)"), None);
        assert_eq!(counted_in("jobs"), None);
    }

    #[test]
    fn times_ascend_and_hold_every_tick() {
        let times = times(0.01, 1e9);
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
        for (time, text) in sets(0.01, 1e9).into_iter().flatten() {
            assert!(times.contains(&time), "{text}");
        }
    }

    #[test]
    fn a_value_in_seconds_is_said_in_words() {
        let plain = |amount: f64| amount.to_string();
        assert_eq!(beside("job durations (s)", 7300.0, plain), ("job durations", "2.03 h".into()));
        assert_eq!(beside("jobs", 7300.0, plain), ("jobs", "7300".into()));
    }
}

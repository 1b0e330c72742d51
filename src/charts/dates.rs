//! Axes of dates: ticks at round instants of the calendar, in UTC.
//!
//! In: the first and the last instant of an axis. Out: sets of ticks from the finest to the
//! coarsest; an axis takes the first set with labels that fit.
//!
//! ```text
//!    ┼───────┼────────────┼───────┼            ┼────────────┼────────────┼
//!  12:00  18:00     2016-12-31  06:00     2016-12-26   2017-01-02   2017-01-09
//! ```

use crate::digits::utc;

const MINUTE_S: u64 = 60;
const HOUR_S: u64 = 3600;
const DAY_S: u64 = 86_400;

/// The lengths of steps within a day.
const WITHIN_DAY_S: [u64; 10] = [
    MINUTE_S,
    2 * MINUTE_S,
    5 * MINUTE_S,
    10 * MINUTE_S,
    30 * MINUTE_S,
    HOUR_S,
    2 * HOUR_S,
    3 * HOUR_S,
    6 * HOUR_S,
    12 * HOUR_S,
];

/// Steps of days; those of whole weeks begin on Mondays.
const DAYS: [u64; 4] = [1, 2, 7, 14];

/// Steps of months.
const MONTHS: [u64; 3] = [1, 3, 6];

/// Steps of years.
const YEARS: [u64; 7] = [1, 2, 5, 10, 20, 50, 100];

/// Days from 1970-01-01, which was a Thursday, to the first Monday.
const MONDAY: u64 = 4;

/// The first second of the year 10000: later instants are not shown as dates.
const YEAR_10000_S: f64 = 253_402_300_800.0;

/// The largest number of ticks in a set.
const MOST: u64 = 12;

/// A tick: seconds since 1970, and its text.
pub(super) type Tick = (u64, String);

/// A date with a time of day, as readers see it.
pub(super) fn instant(seconds: f64) -> String {
    format!("{} UTC", utc(whole(seconds)))
}

/// The date of an instant.
pub(super) fn date(seconds: f64) -> String {
    let mut text = utc(whole(seconds));
    text.truncate(text.len() - " 00:00:00".len());
    text
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a date")]
fn whole(seconds: f64) -> u64 {
    (seconds.max(0.0) + 1e-6).floor() as u64
}

/// Sets of ticks from `low_s` to `high_s`, seconds since 1970, the finest first. A set has at least
/// one tick, and the first sets at least two.
pub(super) fn sets(low_s: f64, high_s: f64) -> Vec<Vec<Tick>> {
    if YEAR_10000_S <= high_s {
        return Vec::new();
    }
    let (low, high) = (whole(low_s.max(0.0).ceil()), whole(high_s));
    let every = |step: u64, first: u64| {
        let begin = first + low.saturating_sub(first).div_ceil(step) * step;
        let is_short = high.saturating_sub(low) / step <= MOST;
        let all = (begin..=high).step_by(usize::try_from(step).unwrap_or(1));
        all.take(if is_short { usize::MAX } else { 0 })
    };
    let in_day =
        |at: u64| if at.is_multiple_of(DAY_S) { day(at) } else { utc(at)[11..16].to_owned() };
    let mut sets: Vec<Vec<Tick>> = Vec::new();
    for step in WITHIN_DAY_S {
        sets.push(every(step, 0).map(|at| (at, in_day(at))).collect());
    }
    for days in DAYS {
        let first = if days.is_multiple_of(7) { MONDAY * DAY_S } else { 0 };
        sets.push(every(days * DAY_S, first).map(|at| (at, day(at))).collect());
    }
    sets.extend(calendar(low, high));
    sets.retain(|set| !set.is_empty() && set.len() as u64 <= MOST);
    // The sort is stable: sets with several ticks come first, the finest of them at the start.
    sets.sort_by_key(|set| set.len() < 2);
    sets
}

fn day(at: u64) -> String {
    utc(at)[..10].to_owned()
}

/// Sets of months and of years.
fn calendar(low: u64, high: u64) -> Vec<Vec<Tick>> {
    // The number of months since the year 0.
    let month = |text: &str| -> u64 {
        let number = |part: &str| part.parse::<u64>().unwrap_or(0);
        number(&text[..4]) * 12 + number(&text[5..7]) - 1
    };
    let mut firsts: Vec<(u64, String, u64)> = Vec::new();
    let mut at = low.div_ceil(DAY_S) * DAY_S;
    while at <= high {
        let text = utc(at);
        let is_first = &text[8..10] == "01";
        if is_first {
            let number = month(&text);
            firsts.push((at, text, number));
        }
        // The shortest month has 28 days.
        at += if is_first { 28 * DAY_S } else { DAY_S };
    }
    let every = |step: u64, letters: usize| -> Vec<Tick> {
        let those = firsts.iter().filter(|one| one.2.is_multiple_of(step));
        those.map(|(at, text, _)| (*at, text[..letters].to_owned())).collect()
    };
    let months = MONTHS.iter().map(|&step| every(step, 7));
    months.chain(YEARS.iter().map(|&step| every(step * 12, 4))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(set: &[Tick]) -> Vec<&str> {
        set.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn ticks_are_at_round_instants() {
        // 2016-12-30 13:12:00
        let from = 1_483_103_520.0;
        let of = |length_s: f64| sets(from, from + length_s);
        assert_eq!(texts(&of(900.0)[1]), ["13:15", "13:20", "13:25"]);
        let day = of(86_400.0);
        assert_eq!(
            texts(&day[1]),
            ["15:00", "18:00", "21:00", "2016-12-31", "03:00", "06:00", "09:00", "12:00"]
        );
        let month = of(30.0 * 86_400.0);
        let weeks = ["2017-01-02", "2017-01-09", "2017-01-16", "2017-01-23"];
        assert!(month.iter().any(|set| texts(set) == weeks), "{month:?}");
        assert!(sets(from, 3e11).is_empty());
        let years = of(4000.0 * 86_400.0);
        assert!(years.iter().any(|set| texts(set) == ["2018", "2020", "2022", "2024", "2026"]));
        assert_eq!(
            (date(from), instant(from)),
            ("2016-12-30".into(), "2016-12-30 13:12:00 UTC".into())
        );
    }

    proptest! {
        /// Ticks are within the axis, in order, and at the instants that they name.
        #[test]
        fn ticks_are_within_the_axis(
            from_s in 315_360_000.0_f64..2e9, length_s in (1.0..9.3_f64).prop_map(|power| 10_f64.powf(power)),
        ) {
            let all = sets(from_s, from_s + length_s);
            prop_assert!(!all.is_empty() || length_s < 120.0);
            for set in all {
                prop_assert!(set.windows(2).all(|pair| pair[0].0 < pair[1].0));
                for (at, text) in set {
                    let second = f64::from(u32::try_from(at).unwrap());
                    prop_assert!((from_s..=from_s + length_s + 1e-5).contains(&second));
                    let whole = utc(at);
                    let (begin, rest) = whole.split_at(if text.contains(':') { 11 } else { 0 });
                    prop_assert!(rest.starts_with(&text), "{text} {begin}{rest}");
                    let rest = rest[text.len()..].replace("-01", "");
                    prop_assert!(rest.chars().all(|one| "0: ".contains(one)), "{text} at {whole}");
                }
            }
        }
    }
}

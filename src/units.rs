//! Units of numbers: times of the trace clock, and CPU time.
//!
//! In: bare numbers from a trace or a table. Out: values with a unit. This module reads no clock
//! and no file, and nothing rounds silently. Times are whole microseconds (`i64`), and their names
//! end with `_us`:
//!
//! ```text
//!  0                600 s                     2,506,200 s            2^63-1
//!  |-----------------|===========window============|-------------------|
//!  before the window                                      after the window
//! ```

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, RangeInclusive, Sub, SubAssign};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;

/// Microseconds in a day.
pub const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// Times from here on mean "after the trace" (2^63-1 in the trace of 2011), µs.
pub(crate) const AFTER_TRACE_US: i64 = i64::MAX / 4;

/// The largest amount in use at any time. Each change has a time, µs, and an amount: positive if it
/// is taken, negative if it is given back. An amount given back at an instant can be taken again at
/// the same instant.
pub(crate) fn most_at_once(changes: &mut [(i64, f32)]) -> f32 {
    changes.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let (mut now, mut most) = (0.0_f64, 0.0_f64);
    for &(_, amount) in &*changes {
        now += f64::from(amount);
        most = most.max(now);
    }
    #[expect(clippy::cast_possible_truncation, reason = "as exact as the amounts")]
    let most = most as f32;
    most
}

/// Converts whole microseconds to seconds.
#[expect(clippy::cast_precision_loss, reason = "a trace is far shorter than 2^53 µs (285 years)")]
pub fn micros_to_seconds(micros: i64) -> f64 {
    micros as f64 / 1e6
}

/// CPU time: normalised-CPU seconds (NCU-s) or task-seconds, stored exactly.
///
/// The internal unit is 2^-64 CPU-microseconds. A rate is an `f32` of at least 2^-40 and a length
/// is a whole number of microseconds, so each product and every sum is exact, and does not depend
/// on the order of terms or the number of threads. Rates below 2^-40 lose the bits under 2^-64.
/// Whole microseconds have 128 bits: rates stay below 2^20 (ingest ensures that) and lengths below
/// 2^63, so 2^44 products can be added up.
///
/// Its serialised form is exact, for parts that are sent between processes; answers use seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CpuTime {
    /// High and low half of the whole CPU-microseconds, rounded down.
    high: i64,
    low: u64,
    /// The fraction, in 2^-64 CPU-microseconds.
    rest: u64,
}

impl CpuTime {
    /// No CPU time.
    pub const ZERO: Self = Self { high: 0, low: 0, rest: 0 };

    #[inline]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the two halves")]
    const fn new(whole: i128, rest: u64) -> Self {
        Self { high: (whole >> 64) as i64, low: whole as u64, rest }
    }

    /// Whole CPU-microseconds, rounded down.
    #[inline]
    const fn whole(self) -> i128 {
        ((self.high as i128) << 64) | self.low as i128
    }

    /// Returns the CPU time of running at `rate` for `length_us` microseconds.
    #[inline]
    pub fn of_rate(rate: f32, length_us: i64) -> Self {
        CpuRate::new(rate).over(length_us)
    }

    /// Returns the CPU time of one slot held for `length_us` microseconds.
    #[inline]
    pub fn of_slot(length_us: i64) -> Self {
        Self::new(i128::from(length_us), 0)
    }

    /// Returns the CPU time nearest to `seconds`; for definitions that are not a sum of windows.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates far above any trace; the rest is not below 0"
    )]
    pub fn from_seconds(seconds: f64) -> Self {
        let micros = seconds * 1e6;
        Self::new(micros.floor() as i128, ((micros - micros.floor()) * TWO_POW_64) as u64)
    }

    /// The rate at which this is used in `length_us` microseconds, rounded down; zero if the length
    /// is not positive.
    pub fn per(self, length_us: i64) -> CpuRate {
        if length_us <= 0 {
            return CpuRate::ZERO;
        }
        let length = i128::from(length_us);
        let whole = self.whole();
        // The whole part first, so that no product exceeds 2^127.
        let rest = ((whole % length) << 64 | i128::from(self.rest)) / length;
        CpuRate(((whole / length) << 64) + rest)
    }

    /// The CPU time in CPU-seconds.
    #[expect(clippy::cast_precision_loss, reason = "the only place where exactness ends")]
    pub fn seconds(self) -> f64 {
        let whole = self.whole();
        match i64::try_from(whole) {
            // All bits in one conversion, so that there is only one rounding.
            Ok(whole) => {
                ((i128::from(whole) << 64) | i128::from(self.rest)) as f64 / TWO_POW_64 / 1e6
            }
            Err(_) => whole as f64 / 1e6,
        }
    }

    /// The share of `self` in `whole`; `None` if `whole` is zero.
    pub fn share_of(self, whole: Self) -> Option<f64> {
        (whole != Self::ZERO).then(|| self.seconds() / whole.seconds())
    }
}

const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;

/// A CPU rate in units of 2^-64, which can be multiplied by microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CpuRate(i128);

impl CpuRate {
    /// The rate of one whole slot.
    pub const ONE: Self = Self(1 << 64);
    /// No CPU at all.
    pub const ZERO: Self = Self(0);

    /// Converts a measured or requested rate. Ingest excludes infinity and NaN.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a CPU rate is below 2^63; saturates")]
    pub fn new(rate: f32) -> Self {
        Self((f64::from(rate) * TWO_POW_64) as i128)
    }

    /// Returns the CPU time of running at this rate for `length_us` microseconds; zero for a
    /// negative length.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "the two halves of a product; below 2^127"
    )]
    pub fn over(self, length_us: i64) -> CpuTime {
        let length = length_us.max(0) as u64;
        let low = u128::from(self.0 as u64) * u128::from(length);
        let high = (self.0 >> 64) * i128::from(length);
        CpuTime::new(high + (low >> 64) as i128, low as u64)
    }
}

impl AddAssign for CpuRate {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for CpuRate {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Add for CpuTime {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let (rest, carry) = self.rest.overflowing_add(other.rest);
        Self::new(self.whole() + other.whole() + i128::from(carry), rest)
    }
}

impl Sub for CpuTime {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        let (rest, borrow) = self.rest.overflowing_sub(other.rest);
        Self::new(self.whole() - other.whole() - i128::from(borrow), rest)
    }
}

impl AddAssign for CpuTime {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<u32> for CpuTime {
    type Output = Self;
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half of a product")]
    fn mul(self, times: u32) -> Self {
        let rest = u128::from(self.rest) * u128::from(times);
        let whole = self.whole() * i128::from(times);
        Self::new(whole + (rest >> 64).cast_signed(), rest as u64)
    }
}

impl Sum for CpuTime {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, Add::add)
    }
}

/// A text that is not a time in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a time in seconds, such as 2506200")]
pub struct TimeError(String);

/// Parses seconds of the trace clock into microseconds.
///
/// # Errors
/// The text is not a number of seconds of 0 or more with at most six decimals.
pub fn parse_micros(text: &str) -> Result<i64, TimeError> {
    let bad = || TimeError(text.to_owned());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 6 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad());
    }
    let whole: i64 = whole.parse().ok().filter(|&whole| 0 <= whole).ok_or_else(bad)?;
    let fraction: i64 = format!("{fraction:0<6}").parse().map_err(|_| bad())?;
    whole.checked_mul(1_000_000).and_then(|micros| micros.checked_add(fraction)).ok_or_else(bad)
}

/// Reads a whole number.
///
/// # Errors
/// The text is not a whole number of 0 or more, or it is too large for the type.
pub fn natural<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "it is not a whole number from 0 to 2^64 - 1".to_owned())
}

/// Reads a number.
///
/// # Errors
/// The text is not a finite number.
pub fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "it is not a number".to_owned())
}

/// Returns a parser of whole numbers in a range, with an error that names the range.
pub fn whole<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + fmt::Display + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text.parse::<T>().ok().filter(|number| range.contains(number));
        let (first, last) = (range.start(), range.end());
        number.ok_or_else(|| format!("`{text}` is not a whole number from {first} to {last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_exact_in_any_order() {
        let rates = [0.001_249_f32, 3.815e-5, 0.5, 1.0, 8.583e-6];
        let parts: Vec<CpuTime> =
            rates.iter().map(|&rate| CpuTime::of_rate(rate, 299_999_999)).collect();
        let forward: CpuTime = parts.iter().copied().sum();
        let backward: CpuTime = parts.iter().rev().copied().sum();
        assert_eq!(forward, backward);
        assert_eq!(CpuTime::of_rate(0.5, 2_000_000).seconds(), 1.0);
        assert_eq!(CpuTime::of_slot(1_500_000).seconds(), 1.5);
    }

    #[test]
    fn the_largest_amounts_do_not_overflow() {
        let largest = CpuTime::of_rate(1_048_576.0, i64::MAX);
        let many: CpuTime = std::iter::repeat_n(largest, 1000).sum();
        let expected = 1_048_576.0 * 9_223_372_036_854.775 * 1000.0;
        assert!((many.seconds() / expected - 1.0).abs() < 1e-12, "{many:?}");
        assert!(largest < many && CpuTime::ZERO - largest < CpuTime::ZERO);
        assert_eq!(many - largest + largest, many);
    }

    #[test]
    fn differences_below_nothing_come_back() {
        let (small, large) = (CpuTime::of_rate(0.3, 7), CpuTime::of_rate(1.7, 11));
        assert_eq!((small - large) + large, small);
        assert_eq!((small - large).seconds(), -(large - small).seconds());
        assert_eq!(CpuTime::from_seconds(-1.5).seconds(), -1.5);
        assert_eq!(CpuTime::of_rate(0.5, -3), CpuTime::ZERO);
    }

    #[test]
    fn a_multiple_is_the_sum_of_so_many() {
        for one in [CpuTime::of_rate(0.3, 7), CpuTime::ZERO - CpuTime::of_rate(1.7, 11)] {
            assert_eq!(one * 5, std::iter::repeat_n(one, 5).sum());
            assert_eq!(one * 2 - one, one);
        }
    }

    #[test]
    fn a_share_of_nothing_is_unknown() {
        assert_eq!(CpuTime::of_slot(1).share_of(CpuTime::ZERO), None);
    }

    #[test]
    fn window_ends_are_read_to_the_microsecond() {
        assert_eq!(parse_micros("2506200"), Ok(2_506_200_000_000));
        assert_eq!(parse_micros("0.25"), Ok(250_000));
        for odd in ["", "-1", "1e3", "1.2345678", "99999999999999"] {
            assert!(parse_micros(odd).is_err(), "{odd}");
        }
    }
}

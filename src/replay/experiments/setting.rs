//! Reads values of parameters.
//!
//! In: the text of `--set`. Out: a number, count or choice in its range, or the expected values.

use std::ops::RangeInclusive;

/// Why a parameter was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The experiment has no such parameter, or the paper fixes it.
    Unknown,
    /// The value is not as expected.
    Value(&'static str),
}

/// A number in a range.
pub(super) fn number(
    text: &str,
    range: RangeInclusive<f64>,
    expected: &'static str,
) -> Result<f64, Fault> {
    let number = text.parse::<f64>().ok().filter(|number| range.contains(number));
    number.ok_or(Fault::Value(expected))
}

/// A count in a range.
pub(super) fn count(
    text: &str,
    range: RangeInclusive<usize>,
    expected: &'static str,
) -> Result<usize, Fault> {
    let count = text.parse::<usize>().ok().filter(|count| range.contains(count));
    count.ok_or(Fault::Value(expected))
}

/// A seed; run k uses the seed plus k, so the largest seeds are rejected.
pub(super) fn seed(text: &str) -> Result<u64, Fault> {
    let seed = text.parse::<u64>().ok().filter(|seed| *seed <= u64::MAX / 2);
    seed.ok_or(Fault::Value("a whole number from 0 to 2^63 - 1"))
}

/// A boolean.
pub(super) fn flag(text: &str) -> Result<bool, Fault> {
    text.parse::<bool>().map_err(|_| Fault::Value("true or false"))
}

/// A number of runs per setting.
pub(super) fn runs(text: &str) -> Result<usize, Fault> {
    count(text, 1..=100_000, "a number of runs from 1 to 100000")
}

//! Values of parameters as text.
//!
//! In: the text of `--set`. Out: a number, count or choice in its range, or what was expected.

use std::ops::RangeInclusive;

/// Why a parameter was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The experiment has no such parameter, or the paper gives it.
    Unknown,
    /// The value is not what is expected.
    Value(&'static str),
}

/// A number within a range.
pub(super) fn number(
    text: &str,
    range: RangeInclusive<f64>,
    expected: &'static str,
) -> Result<f64, Fault> {
    let number = text.parse::<f64>().ok().filter(|number| range.contains(number));
    number.ok_or(Fault::Value(expected))
}

/// A count within a range.
pub(super) fn count(
    text: &str,
    range: RangeInclusive<usize>,
    expected: &'static str,
) -> Result<usize, Fault> {
    let count = text.parse::<usize>().ok().filter(|count| range.contains(count));
    count.ok_or(Fault::Value(expected))
}

/// A seed; run k has the seed plus k, so some room is left above.
pub(super) fn seed(text: &str) -> Result<u64, Fault> {
    let seed = text.parse::<u64>().ok().filter(|seed| *seed <= u64::MAX / 2);
    seed.ok_or(Fault::Value("a whole number from 0 to 2^63 - 1"))
}

/// Yes or no.
pub(super) fn flag(text: &str) -> Result<bool, Fault> {
    text.parse::<bool>().map_err(|_| Fault::Value("true or false"))
}

/// Runs of each setting.
pub(super) fn runs(text: &str) -> Result<usize, Fault> {
    count(text, 1..=100_000, "a number of runs from 1 to 100000")
}

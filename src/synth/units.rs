//! Units and exact sums of the synthetic trace.
//!
//! Times are whole microseconds (`i64`). CPU time is summed in units of 2^-64 NCU-µs as `i128`, so
//! that a sum does not depend on the order of its terms and another program can get the same bits.
//! Nothing here rounds except where its comment says so.

/// One second in microseconds.
pub(super) const SECOND: i64 = 1_000_000;
/// One hour in microseconds.
pub(super) const HOUR: i64 = 3_600 * SECOND;
/// One day in microseconds.
pub(super) const DAY: i64 = 24 * HOUR;

/// An exact amount of CPU time in units of 2^-64 NCU-µs. A whole trace of 12,500 machines over a
/// month stays below 2^120.
pub(super) type ExactCpu = i128;

const ONE: f64 = 18_446_744_073_709_551_616.0; // 2^64

/// Returns `rate` in units of 2^-64. Rates under 2^-40 lose bits, but the same ones everywhere.
#[expect(clippy::cast_possible_truncation, reason = "defined as truncation; rates are under 2^16")]
pub(super) fn exact_rate(rate: f32) -> ExactCpu {
    (f64::from(rate) * ONE) as ExactCpu
}

/// Returns the CPU seconds of `sum`, rounded once.
#[expect(clippy::cast_precision_loss, reason = "the only rounding of the sum")]
pub(super) fn cpu_seconds(sum: ExactCpu) -> f64 {
    sum as f64 / ONE / 1e6
}

/// Returns `seconds` in whole microseconds, truncated.
#[expect(clippy::cast_possible_truncation, reason = "callers stay under 100 years")]
pub(super) fn micros(seconds: f64) -> i64 {
    (seconds * 1e6) as i64
}

/// Returns `value` as a float.
#[expect(clippy::cast_precision_loss, reason = "times and counts of a trace are under 2^53")]
pub(super) fn float(value: i64) -> f64 {
    value as f64
}

/// Returns a count as a float.
#[expect(clippy::cast_precision_loss, reason = "counts of a trace are under 2^53")]
pub(super) fn float_of_count(value: u64) -> f64 {
    value as f64
}

/// Returns the whole part of a non-negative number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, small")]
pub(super) fn whole(value: f64) -> u64 {
    value as u64
}

/// Returns `value` × `ratio`, truncated to whole microseconds.
#[expect(clippy::cast_possible_truncation, reason = "the ratio is at most 1")]
pub(super) fn scaled(value: i64, ratio: f64) -> i64 {
    (float(value) * ratio) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_sums_come_back_as_seconds() {
        assert_eq!(exact_rate(0.5), 1 << 63);
        for (rate, micros, seconds) in
            [(0.25, 8_000_000, 2.0_f64), (1.0, 1_234_567, 1.234_567), (0.5, 0, 0.0)]
        {
            let sum = exact_rate(rate) * micros;
            assert_eq!(cpu_seconds(sum).to_bits(), seconds.to_bits(), "{rate} for {micros} us");
        }
    }
}

//! YARN's three estimators of the running time of an attempt, from its reports.
//!
//! In: reports (time and progress in 32 bits), in whole milliseconds. Out: a running time since the
//! start, in ms, or -1 if unknown. As coded, the smoothed rates have the wrong sign in their
//! weight, and the simple estimator starts without data. This module has the estimators both as
//! coded and as intended, see [`Mode`]. In both modes, the simple estimator assumes that a new
//! attempt needs no time until two tasks have finished.

use super::rules::{Estimator, Mode, Rules, cut};

/// The running time of an attempt that makes no progress, as intended, ms: a quarter of the largest
/// number, so that sums of a few such times do not overflow.
const ENDLESS_MS: i64 = i64::MAX / 4;

/// The state of an estimator for an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    Legacy(i64),
    Exponential(Option<Vector>),
    Simple(Option<Forecast>),
}

impl Memory {
    pub(super) fn new(estimator: Estimator) -> Self {
        match estimator {
            Estimator::Legacy => Self::Legacy(-1),
            Estimator::Exponential => Self::Exponential(None),
            Estimator::Simple => Self::Simple(None),
        }
    }

    /// Adds a report of an attempt that started at `start_ms`.
    pub(super) fn report(&mut self, rules: &Rules, start_ms: i64, time_ms: i64, progress: f32) {
        match self {
            Self::Legacy(run_ms) => {
                if start_ms < time_ms {
                    *run_ms = cut(as_f64(time_ms - start_ms) / f64::from(progress).max(1e-4));
                }
            }
            Self::Exponential(vector) => {
                *vector = Some(match (*vector, rules.mode) {
                    (None, Mode::AsCoded) => Vector::lost(),
                    (None, Mode::Intended) => {
                        let base = Vector { value: -1.0, progress: 0.0, time_ms: start_ms };
                        base.incorporate(rules, time_ms, progress)
                    }
                    (Some(vector), _) => vector.incorporate(rules, time_ms, progress),
                });
            }
            Self::Simple(forecast) => match forecast {
                None if start_ms < time_ms => {
                    *forecast = Some(Forecast::new(rules, start_ms, time_ms, progress));
                }
                None => {}
                Some(forecast) => forecast.append(rules, time_ms, progress),
            },
        }
    }

    /// The running time by the last report, ms; -1 if unknown.
    pub(super) fn run_ms(&self, rules: &Rules, start_ms: i64) -> i64 {
        match self {
            Self::Legacy(run_ms) => *run_ms,
            Self::Exponential(None) | Self::Simple(None) => -1,
            Self::Exponential(Some(vector)) => {
                if vector.value == 0.0 {
                    return -1;
                }
                let left_ms = cut((1.0 - f64::from(vector.progress)) / vector.value);
                match rules.mode {
                    Mode::AsCoded => vector.time_ms.wrapping_sub(start_ms).wrapping_add(left_ms),
                    // An endless time left does not overflow.
                    Mode::Intended => {
                        (vector.time_ms - start_ms).saturating_add(left_ms).min(ENDLESS_MS)
                    }
                }
            }
            Self::Simple(Some(forecast)) => forecast.run_ms(rules, start_ms),
        }
    }

    /// Whether the estimator needs a simulated report; only the simple one ever needs it. As coded,
    /// its test is inverted: it needs one while data are fresh.
    pub(super) fn is_stagnated(&self, rules: &Rules, now_ms: i64) -> bool {
        let Self::Simple(Some(forecast)) = self else { return false };
        let until_ms = forecast.last.time_ms + rules.stagnation_ms();
        match rules.mode {
            Mode::AsCoded => now_ms < until_ms,
            Mode::Intended => until_ms < now_ms,
        }
    }
}

/// A running time or a part of one, ms.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53 ms")]
fn as_f64(time_ms: i64) -> f64 {
    time_ms as f64
}

/// The state of the exponentially smoothed rate, per ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector {
    pub(super) value: f64,
    progress: f32,
    time_ms: i64,
}

impl Vector {
    /// The state after the first report as coded: the report is lost. Until the second one the
    /// running time overflows to 2^63 - 1 minus the start, so the attempt seems endless and is the
    /// first to be copied.
    fn lost() -> Self {
        Self { value: -1.0, progress: 0.0, time_ms: i64::MIN }
    }

    fn incorporate(self, rules: &Rules, time_ms: i64, progress: f32) -> Self {
        if time_ms <= self.time_ms || progress < self.progress {
            return self;
        }
        // As coded, the difference overflows on the second report: a tiny negative rate.
        let passed_ms = time_ms.wrapping_sub(self.time_ms);
        let sign = if rules.mode == Mode::AsCoded { 1.0 } else { -1.0 };
        let weight = if self.value < 0.0 {
            0.0
        } else {
            (sign * as_f64(passed_ms) / rules.lambda_ms()).exp()
        };
        #[expect(clippy::cast_precision_loss, reason = "the program divides in 32 bits")]
        let rate = f64::from((progress - self.progress) / passed_ms as f32);
        Self { value: self.value * weight + rate * (1.0 - weight), progress, time_ms }
    }
}

/// A reading of the simple exponential smoothing.
#[derive(Clone, Copy, Debug)]
struct Reading {
    index: u32,
    raw: f64,
    time_ms: i64,
    /// Progress per ms.
    forecast: f64,
}

/// The state of the simple exponential smoothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forecast {
    start_ms: i64,
    tau_ms: f64,
    before: Reading,
    last: Reading,
}

impl Forecast {
    fn new(rules: &Rules, start_ms: i64, time_ms: i64, progress: f32) -> Self {
        let rate = f64::from(progress) / as_f64(time_ms - start_ms);
        let base = Reading { index: 0, raw: 0.0, time_ms: start_ms, forecast: rate };
        let mut forecast = Self { start_ms, tau_ms: rules.lambda_ms(), before: base, last: base };
        forecast.append(rules, time_ms, progress);
        forecast
    }

    fn append(&mut self, rules: &Rules, time_ms: i64, progress: f32) {
        let raw = f64::from(progress);
        if time_ms <= self.last.time_ms && raw <= self.last.raw {
            return;
        }
        // A report of the same instant with more progress replaces the last one.
        let from = if time_ms <= self.last.time_ms { self.before } else { self.last };
        let passed_ms = as_f64(time_ms - from.time_ms);
        if passed_ms <= 0.0 {
            return;
        }
        if from.index == rules.skip {
            self.tau_ms = self.tau_ms.max(as_f64(time_ms - self.start_ms));
        }
        let alpha = 1.0 - (-passed_ms / self.tau_ms).exp();
        let sample = (raw - from.raw) / passed_ms;
        let forecast = alpha * sample + (1.0 - alpha) * from.forecast;
        self.before = from;
        self.last = Reading { index: from.index + 1, raw, time_ms, forecast };
    }

    fn run_ms(&self, rules: &Rules, start_ms: i64) -> i64 {
        let rate = if rules.skip < self.last.index { self.last.forecast } else { -1.0 };
        if rules.mode == Mode::Intended && rate <= 0.0 {
            return -1;
        }
        let left_ms = cut((1.0 - self.last.raw).clamp(0.0, 1.0) / rate.max(1e-10));
        left_ms.saturating_add(self.last.time_ms - start_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules::rules_of;
    use super::*;

    #[test]
    fn the_legacy_estimate_divides_in_64_bits_what_was_reported_in_32() {
        let rules = rules_of("yarn");
        for (progress, expected) in [(0.25, 480_000), (0.3, 399_999), (0.0, 1_200_000_000)] {
            let mut memory = Memory::new(Estimator::Legacy);
            assert_eq!(memory.run_ms(&rules, 1_000), -1);
            memory.report(&rules, 1_000, 121_000, progress);
            assert_eq!(memory.run_ms(&rules, 1_000), expected);
        }
    }

    /// Readings (4 s, .1), (7 s, .2), (10 s, .3), (13 s, .45) of an attempt started at 1 s.
    fn smoothed(mode: &str) -> [(f64, i64); 4] {
        let rules = rules_of(&format!("yarn:estimator=exponential,mode={mode}"));
        let mut memory = Memory::new(Estimator::Exponential);
        [(4_000, 0.1), (7_000, 0.2), (10_000, 0.3), (13_000, 0.45)].map(|(time_ms, progress)| {
            memory.report(&rules, 1_000, time_ms, progress);
            let Memory::Exponential(Some(vector)) = memory else { panic!("it was read") };
            (vector.value, memory.run_ms(&rules, 1_000))
        })
    }

    #[test]
    fn exponential_smoothing_as_coded_extrapolates() {
        let [first, second, third, fourth] = smoothed("as-coded");
        assert_eq!(first.0, -1.0, "the first reading is lost");
        assert_eq!(first.1, i64::MAX - 1_000, "and the attempt seems endless");
        assert!(-1e-19 < second.0 && second.0 < 0.0 && second.1 < -1_000_000_000_000);
        // 30 000 and 28 934 ms in exact arithmetic; Hadoop subtracts in 32 bits.
        assert!((third.0 - 3.333_3e-5).abs() < 1e-9 && (third.1 - 30_000).abs() <= 1);
        assert!((fourth.0 - 3.247_882e-5).abs() < 1e-11, "{}", fourth.0);
        assert!((fourth.1 - 28_934).abs() <= 1, "{}", fourth.1);
        assert_eq!(format!("{:.6}", (3_000.0_f64 / 60_000.0).exp()), "1.051271");
    }

    #[test]
    fn exponential_smoothing_as_intended_smooths() {
        let [first, .., third, fourth] = smoothed("intended");
        assert!((first.0 - 3.333_3e-5).abs() < 1e-9, "the first reading counts");
        assert!((third.1 - 30_000).abs() <= 1);
        assert!((fourth.0 - 3.414_618e-5).abs() < 1e-11, "{}", fourth.0);
        assert!((fourth.1 - 28_107).abs() <= 1, "{}", fourth.1);
    }

    /// Promise: as intended, an attempt that has stopped looks endless, not finished. As coded, its
    /// end overflows.
    #[test]
    fn an_attempt_that_has_stopped_is_endless_as_intended() {
        for mode in ["intended", "as-coded"] {
            let rules = rules_of(&format!("yarn:estimator=exponential,mode={mode}"));
            let mut memory = Memory::new(Estimator::Exponential);
            for report in 1..2_000 {
                memory.report(&rules, 1_000, 1_000 + 10_000 * report, 0.5);
            }
            let run_ms = memory.run_ms(&rules, 1_000);
            assert_eq!(mode == "intended", 1 << 50 < run_ms, "{mode}: {run_ms}");
        }
    }

    #[test]
    fn a_second_reading_of_nothing_gives_a_negative_rate_later() {
        let rules = rules_of("yarn:estimator=exponential");
        let mut memory = Memory::new(Estimator::Exponential);
        let signs = [(4_000, 0.0), (7_000, 0.0), (10_000, 0.1), (13_000, 0.2)].map(|reading| {
            memory.report(&rules, 1_000, reading.0, reading.1);
            let Memory::Exponential(Some(vector)) = memory else { panic!("it was read") };
            (vector.value, vector.value.is_sign_negative())
        });
        assert_eq!(signs[1], (0.0, true), "minus nothing");
        assert!(signs[2].1 && signs[2].0 < 0.0, "negative");
        assert!(0.0 < signs[3].0, "repaired");
    }

    #[test]
    fn simple_smoothing_forecasts() {
        let rules = rules_of("yarn:estimator=simple,skip=0");
        let base = Reading { index: 1, raw: 0.48, time_ms: 25_000, forecast: 2e-5 };
        let mut forecast =
            Forecast { start_ms: 1_000, tau_ms: 120_000.0, before: base, last: base };
        assert_eq!(format!("{:.7}", 1.0 - (-3_000.0_f64 / 120_000.0).exp()), "0.0246901");
        forecast.append(&rules, 28_000, 0.6);
        assert!((forecast.last.forecast - 2.049_380_2e-5).abs() < 1e-12);
        assert_eq!(forecast.run_ms(&rules, 1_000) - 27_000, 19_518 - i64::from(cut_is_lower()));
    }

    /// 0.6 in 32 bits is slightly above 0.6, so less than 0.4 is left.
    fn cut_is_lower() -> bool {
        let left = (1.0 - f64::from(0.6_f32)) / 2.049_380_2e-5;
        cut(left) < 19_518
    }

    #[test]
    fn a_cold_start_looks_endless_or_unknown() {
        for (mode, expected) in [("as-coded", 9_000_003_000), ("intended", -1)] {
            let rules = rules_of(&format!("yarn:estimator=simple,mode={mode}"));
            let mut memory = Memory::new(Estimator::Simple);
            memory.report(&rules, 1_000, 4_000, 0.1);
            let run_ms = memory.run_ms(&rules, 1_000);
            assert!((run_ms - expected).abs() < 100, "{mode}: {run_ms}");
            assert_eq!(memory.is_stagnated(&rules, 5_000), mode == "as-coded");
            assert_eq!(memory.is_stagnated(&rules, 500_000), mode == "intended");
        }
    }
}

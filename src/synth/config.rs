//! The settings of the caller, and the resulting window and time slices.
//!
//! In: a [`SynthConfig`]. Out: a checked [`Window`]. All other properties of the trace are fixed in
//! the modules that draw them.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::units::{DAY, HOUR, SECOND, float, float_of_count, micros, whole};
use super::{SynthError, SynthErrorKind};

/// Jobs, days, parts and machines of the real trace.
const REAL: (u64, f64, u32, u32) = (672_074, 29.0, 500, 12_500);

/// The size and seed of a synthetic trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SynthConfig {
    /// Seed of every random number; the same seed gives the same bytes.
    pub seed: u64,
    /// Jobs in `job_events`.
    pub job_count: u64,
    /// Length of the window in days, from one hour (1/24) up.
    pub days: f64,
    /// Parts per sliced table. Each thread holds one part of one table in memory.
    pub part_count: u32,
    /// Machines; 0 chooses the number that gives each machine the same load as in the real trace.
    pub machine_count: u32,
    /// Whether `task_usage` is written. The other tables are the same with and without it.
    pub with_usage: bool,
    /// Whether bad lines and odd files are planted; only in the format of 2011.
    pub dirty: Dirty,
    /// The format.
    #[serde(default)]
    pub form: Form,
}

/// The format of a trace. The events are the same in each format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// CSV of the trace of 2011.
    #[default]
    #[serde(rename = "google-2011")]
    Google2011,
    /// JSON, as the trace of 2019 is exported.
    #[serde(rename = "google-2019")]
    Google2019,
}

/// Whether known bad lines are planted among the good ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dirty {
    /// Every line is good.
    Clean,
    /// Bad lines of every kind, duplicated rows, CRLF, a missing last newline, a split gzip.
    Dirty,
}

impl Default for SynthConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            job_count: 2_000,
            days: 2.0,
            part_count: 20,
            machine_count: 0,
            with_usage: true,
            dirty: Dirty::Clean,
            form: Form::Google2011,
        }
    }
}

impl SynthConfig {
    /// A trace `factor` times as large as the real one. Jobs and parts grow with the factor; days
    /// and machines grow with its square root, so that the load per machine and the size of a part
    /// do not change.
    pub fn scale(factor: f64) -> Self {
        let (jobs, days, parts, machines) = REAL;
        let grow = |value: f64| whole((value * factor.max(0.0)).round()).max(1);
        let root = factor.max(0.0).sqrt();
        Self {
            job_count: grow(float_of_count(jobs)),
            days: (days * root).max(1.0),
            part_count: u32::try_from(grow(f64::from(parts))).unwrap_or(u32::MAX).min(PARTS_MAX),
            machine_count: u32::try_from(whole(f64::from(machines) * root))
                .unwrap_or(u32::MAX)
                .max(MACHINES_MIN),
            ..Self::default()
        }
    }

    /// The number of machines, derived from the load if it is 0.
    pub(super) fn machines(&self) -> u32 {
        if self.machine_count > 0 {
            return self.machine_count;
        }
        let (jobs, days, _, machines) = REAL;
        let load = float_of_count(self.job_count) / float_of_count(jobs) * (days / self.days);
        u32::try_from(whole(f64::from(machines) * load)).unwrap_or(u32::MAX).max(MACHINES_MIN)
    }

    /// Checks the settings and returns the window.
    pub(super) fn window(&self, dir: &Path) -> Result<Window, SynthError> {
        let fail = |setting, found, expected| {
            Err(SynthError::new(dir, SynthErrorKind::Setting { setting, found, expected }))
        };
        if self.job_count == 0 || self.job_count > JOBS_MAX {
            return fail("job_count", self.job_count.to_string(), "from 1 to 10,000,000");
        }
        if !(1.0 / 24.0..=3_650.0).contains(&self.days) {
            return fail("days", format!("{:?}", self.days), "from 1/24 to 3,650");
        }
        if self.part_count == 0 || self.part_count > PARTS_MAX {
            return fail("part_count", self.part_count.to_string(), "from 1 to 99,999");
        }
        if self.machine_count > 1_000_000 {
            return fail("machine_count", self.machine_count.to_string(), "at most 1,000,000");
        }
        if self.form == Form::Google2019 && self.dirty == Dirty::Dirty {
            return fail("dirty", "dirty".to_owned(), "clean in the form of 2019");
        }
        let length = micros(self.days * float(DAY) / 1e6);
        Ok(Window { end: WINDOW_START + length.max(HOUR), part_count: self.part_count })
    }
}

const PARTS_MAX: u32 = 99_999;
const JOBS_MAX: u64 = 10_000_000;
const MACHINES_MIN: u32 = 20;

/// The window starts 600 s after time 0, as in the real trace.
pub(super) const WINDOW_START: i64 = 600 * SECOND;

/// The time span of the trace and its slices.
///
/// ```text
///  0      600 s                                      end-3s  end-1s  end
///  |        |--- slice 0 ---|--- ... ---|--- last ---|-------|-------|
///  rows at 0 go to slice 0            latest ordinary event  last event of all
/// ```
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) end: i64,
    part_count: u32,
}

impl Window {
    /// The time of the last event of `job_events` and of `task_events`, which the first job plants.
    /// It is known in advance, so open attempts and jobs can be closed while they are made.
    pub(super) const fn last_event(&self) -> i64 {
        self.end - SECOND
    }

    /// The latest instant of all other task events. The end of their job may follow within a
    /// second.
    pub(super) const fn task_limit(&self) -> i64 {
        self.end - 3 * SECOND
    }

    /// The length from 600 s to the end.
    pub(super) const fn length(&self) -> i64 {
        self.end - WINDOW_START
    }

    /// The part that holds rows of `time`: part k starts at 600 s + k × length / parts.
    pub(super) fn part_of(&self, time: i64) -> usize {
        let parts = i128::from(self.part_count);
        let offset = i128::from((time - WINDOW_START).max(0));
        let part = (offset * parts / i128::from(self.length())).min(parts - 1);
        usize::try_from(part).expect("a part number is under 100,000")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_cover_the_window_and_what_is_before_it() {
        let config = SynthConfig { days: 29.0, part_count: 500, ..SynthConfig::default() };
        let window = config.window(Path::new("x")).unwrap();
        assert_eq!(window.end, 2_506_200 * SECOND);
        for (second, part) in [(0, 0), (600, 0), (5_611, 0), (5_612, 1), (2_506_199, 499)] {
            assert_eq!(window.part_of(second * SECOND), part, "{second} s");
        }
    }

    #[test]
    fn the_real_trace_is_scale_one() {
        let real = SynthConfig::scale(1.0);
        assert_eq!((real.job_count, real.part_count, real.machine_count), (672_074, 500, 12_500));
        assert!((real.days - 29.0).abs() < 1e-9);
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let config = SynthConfig { days: f64::NAN, ..SynthConfig::default() };
        let error = config.window(Path::new("x")).unwrap_err();
        assert_eq!(error.kind().to_string(), "setting `days` is NaN, not from 1/24 to 3,650");
    }
}

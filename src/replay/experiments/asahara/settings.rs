//! The settings of the experiments.

use crate::claims::{Parameter, Settled};
use crate::replay::experiments::setting::{self, Fault};

pub(super) const SLAVES: usize = 30;
pub(super) const MAPS: usize = 1_632;
pub(super) const REDUCES: usize = 370;

/// The settings that the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Abnormal verdicts in a row before a task is restarted.
    pub verdicts: usize,
    /// Time between two reports, s.
    pub report_s: f64,
    /// Work of a task before its first progress, s.
    pub startup_s: f64,
    /// Deviation of an attempt's work.
    pub noise: f64,
    /// Deviation of a reduce's work from task to task; the paper guesses that they differ greatly.
    pub reduce_spread: f64,
    /// Progress that a map reports when it ends.
    pub map_weight: f64,
    /// Share of the undisturbed job's time that the maps take.
    pub map_share: f64,
    /// Length of the undisturbed job, s.
    pub job_s: f64,
    /// Share of a core that a task uses.
    pub core_share: f64,
    /// Memory of a slave that containers may use, GB.
    pub container_gb: usize,
    /// Mean of the Poisson distribution.
    pub lambda: f64,
    /// Whether a task that was killed for being slow may be slow again, with the same chance.
    pub is_slow_again: bool,
    /// How much longer a slow map takes in 5.3, s.
    pub slow_map_s: f64,
    /// How much longer a slow reduce takes in 5.3, s.
    pub slow_reduce_s: f64,
    /// The first seed.
    pub seed: u64,
    /// Number of runs of each setting.
    pub runs: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            verdicts: 12,
            report_s: 3.0,
            startup_s: 8.0,
            noise: 0.2,
            reduce_spread: 0.0,
            map_weight: 0.667,
            map_share: 0.8,
            job_s: 395.0,
            core_share: 0.685,
            container_gb: 8,
            lambda: 1.0,
            is_slow_again: true,
            slow_map_s: 200.0,
            slow_reduce_s: 100.0,
            seed: 0,
            runs: 5,
        }
    }
}

impl Settings {
    pub(in crate::replay::experiments) fn parameters(&self) -> Vec<Parameter> {
        let mut all = Self::given();
        all.extend(self.of_detector());
        all.extend(self.of_model());
        all
    }

    fn given() -> Vec<Parameter> {
        let of = |key, value: &str, about| Parameter {
            key,
            value: value.to_owned(),
            settled: Settled::Given,
            about,
        };
        vec![
            of("slaves", &SLAVES.to_string(), "slaves, of 4 cores each"),
            of("maps", &MAPS.to_string(), "maps: 407.9 GB in chunks of 256 MB"),
            of("reduces", &REDUCES.to_string(), "reduces, after the last map"),
            of("window_s", "30", "window W of the proposal, s; 480 is the conventional method"),
            of("bin_s", "15", "bin B of the histogram, s"),
            of("p", "0.05", "chance P' under which a task is abnormal"),
            of("speculation", "on", "Hadoop's copies, beside the detector as well"),
        ]
    }

    fn of_detector(&self) -> Vec<Parameter> {
        let of = |key, value: String, settled, about| Parameter { key, value, settled, about };
        let streak = if self.is_streak_fitted() {
            Settled::Fitted("5.2: map verdicts with W = 30 s")
        } else {
            Settled::Open
        };
        let open = |key, value: String, about| of(key, value, Settled::Open, about);
        vec![
            open("lambda", self.lambda.to_string(), "mean of the Poisson distribution"),
            of("verdicts", self.verdicts.to_string(), streak, "verdicts in a row before a restart"),
            open("report_s", self.report_s.to_string(), "time between two reports, s"),
        ]
    }

    fn of_model(&self) -> Vec<Parameter> {
        let of = |key, value: String, settled, about| Parameter { key, value, settled, about };
        let open = |key, value: String, about| of(key, value, Settled::Open, about);
        let unless = |is_fitted: bool, to| {
            if is_fitted { Settled::Fitted(to) } else { Settled::Open }
        };
        let job = unless(self.is_job_fitted(), "5.4: 398 s of Hadoop without a change");
        let cores = unless(self.is_core_fitted(), "5.2: 973 s of Hadoop");
        let (startup, spread) = (self.startup_s.to_string(), self.reduce_spread.to_string());
        let (weight, share) = (self.map_weight.to_string(), self.map_share.to_string());
        let (map, reduce) = (self.slow_map_s.to_string(), self.slow_reduce_s.to_string());
        let (memory, again) = (self.container_gb.to_string(), self.is_slow_again.to_string());
        vec![
            open("startup_s", startup, "work of a task before its first progress, s"),
            open("noise", self.noise.to_string(), "deviation of an attempt's work, a share"),
            open("reduce_spread", spread, "deviation of a reduce's work between tasks, a share"),
            open("map_weight", weight, "progress that a map reports at its end"),
            open("map_share", share, "share of the undisturbed job that the maps take"),
            of("job_s", self.job_s.to_string(), job, "length of the undisturbed job, s"),
            of("core_share", self.core_share.to_string(), cores, "share of a core of a task"),
            open("container_gb", memory, "memory of a slave for containers, GB of 12"),
            open("is_slow_again", again, "whether a restarted task may be slow again"),
            open("slow_map_s", map, "how much longer a slow map takes, s"),
            open("slow_reduce_s", reduce, "how much longer a slow reduce takes, s"),
            open("seed", self.seed.to_string(), "seed of the first run"),
            open("runs", self.runs.to_string(), "runs of each setting; the paper has 3"),
        ]
    }

    pub(in crate::replay::experiments) fn set(
        &mut self,
        key: &str,
        value: &str,
    ) -> Result<(), Fault> {
        let seconds = || setting::number(value, 0.001..=1e5, "seconds from 0.001 to 1e5");
        let share = || setting::number(value, 0.001..=1.0, "a share from 0.001 to 1");
        let deviation = || setting::number(value, 0.0..=2.0, "a deviation from 0 to 2");
        match key {
            "lambda" => {
                self.lambda = setting::number(value, 0.001..=100.0, "a mean from 0.001 to 100")?;
            }
            "verdicts" => {
                self.verdicts = setting::count(value, 1..=1_000, "a number from 1 to 1000")?;
            }
            "report_s" => {
                self.report_s = setting::number(value, 0.1..=600.0, "seconds from 0.1 to 600")?;
            }
            "startup_s" => self.startup_s = seconds()?,
            "noise" => self.noise = deviation()?,
            "reduce_spread" => self.reduce_spread = deviation()?,
            "map_weight" => self.map_weight = share()?,
            "map_share" => {
                self.map_share = setting::number(value, 0.01..=0.99, "a share from 0.01 to 0.99")?;
            }
            "job_s" => self.job_s = setting::number(value, 10.0..=1e5, "seconds from 10 to 1e5")?,
            "core_share" => self.core_share = share()?,
            "container_gb" => self.container_gb = setting::count(value, 3..=12, "GB from 3 to 12")?,
            "is_slow_again" => self.is_slow_again = setting::flag(value)?,
            "slow_map_s" => self.slow_map_s = seconds()?,
            "slow_reduce_s" => self.slow_reduce_s = seconds()?,
            "seed" => self.seed = setting::seed(value)?,
            "runs" => self.runs = setting::runs(value)?,
            _ => return Err(Fault::Unknown),
        }
        Ok(())
    }

    pub(super) fn is_core_fitted(&self) -> bool {
        self.core_share == Self::default().core_share
    }

    pub(super) fn is_job_fitted(&self) -> bool {
        self.job_s == Self::default().job_s
    }

    /// Whether the time of verdicts before a restart is the default of 36 s, which fits 5.2 but not
    /// 5.3.
    pub(super) fn is_streak_fitted(&self) -> bool {
        let usual = Self::default();
        (self.verdicts, self.report_s) == (usual.verdicts, usual.report_s)
    }

    /// The maps and reduces that a slave runs at once: 1.5 and 3 GB each.
    pub(super) const fn slots(&self) -> (usize, usize) {
        (self.container_gb * 2 / 3, self.container_gb / 3)
    }
}

//! Asahara, Fujimori, Narita and Liu (2013): stragglers when the state of the system changes.
//!
//! In: the [`Settings`] that the paper leaves open. Out: its experiments 5.2 (every slave loses
//! three of four cores at 90 s), 5.3 (some tasks are slow) and 5.4 (no disturbance).
//!
//! ```text
//!  maps     |=== 1,632 on 150 slots ===|            reported progress of a map: 66.7 % at its end
//!  reduces                             |= 370 on 60 =|
//! ```
//! Slots follow from memory: 8 GB for maps of 1.5 GB and reduces of 3 GB. A task uses a share of a
//! core, so a slave with few cores slows all its tasks equally.

use rayon::prelude::*;

use super::Figure;
use super::setting::{self, Fault};
use crate::claims::{Parameter, Settled};
use crate::replay::cluster::{Change, Cluster, MachineChange};
use crate::replay::dependencies::Dependencies;
use crate::replay::engine::{Plan, replay};
use crate::replay::journal::{Journal, Kind};
use crate::replay::policies::PolicyPlan;
use crate::replay::random::{Draws, Purpose};
use crate::replay::workload::{Column, Shape, UNITS, Workload};
use crate::units::micros_to_seconds;

mod figures;

pub use figures::{experiment_5_2, experiment_5_3, experiment_5_4};

const SLAVES: usize = 30;
const MAPS: usize = 1_632;
const REDUCES: usize = 370;

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
    pub(super) fn parameters(&self) -> Vec<Parameter> {
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

    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), Fault> {
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

    fn is_core_fitted(&self) -> bool {
        self.core_share == Self::default().core_share
    }

    fn is_job_fitted(&self) -> bool {
        self.job_s == Self::default().job_s
    }

    /// Whether tasks are restarted after 36 s of verdicts, which fits 5.2 but not 5.3.
    fn is_streak_fitted(&self) -> bool {
        let usual = Self::default();
        (self.verdicts, self.report_s) == (usual.verdicts, usual.report_s)
    }

    /// The maps and reduces that a slave runs at once: 1.5 and 3 GB each.
    const fn slots(&self) -> (usize, usize) {
        (self.container_gb * 2 / 3, self.container_gb / 3)
    }
}

/// A disturbance of slaves or tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Disturbance {
    Nothing,
    /// From 90 s on every slave has one core of four.
    FewCores,
    /// This share of the tasks is slow, until restarted.
    SlowTasks(f64),
}

/// The result of one run.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    job_s: f64,
    map_flags: f64,
    reduce_flags: f64,
    copies: f64,
}

#[expect(clippy::cast_possible_truncation, reason = "a few hours")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

fn cluster(settings: &Settings, disturbance: Disturbance) -> Cluster {
    let mut cluster = Cluster::of_speeds(vec![1.0; SLAVES]);
    cluster.memory = vec![Some(settings.container_gb as u64 * UNITS); SLAVES];
    cluster.shared_cores = Some(Column::Same(4.0 / settings.core_share));
    if disturbance == Disturbance::FewCores {
        let change = Change::Cores(1.0 / settings.core_share);
        let machines = (0..).take(SLAVES);
        let at_us = micros(90.0);
        cluster.changes =
            machines.map(|machine| MachineChange { at_us, machine, change }).collect();
    }
    cluster.check().expect("speeds are positive").0
}

/// Maps, and reduces that start after the last map. Lengths follow from the undisturbed job: 11
/// waves of maps and 7 of reduces.
fn workload(settings: &Settings, disturbance: Disturbance, seed: u64) -> Workload {
    let waves = |tasks: usize, slots: usize| {
        f64::from(u32::try_from(tasks.div_ceil(slots)).expect("a small number"))
    };
    let (map_slots, reduce_slots) = settings.slots();
    let map_s = settings.job_s * settings.map_share / waves(MAPS, map_slots * SLAVES);
    let reduce_s =
        settings.job_s * (1.0 - settings.map_share) / waves(REDUCES, reduce_slots * SLAVES);
    let is_map = (0..MAPS + REDUCES).map(|task| task < MAPS);
    let draws = Draws::new(seed, Purpose::Slow);
    let each = |map: i64, reduce: i64| {
        Column::Each(is_map.clone().map(|is_map| if is_map { map } else { reduce }).collect())
    };
    let mut workload = Workload::plain(MAPS + REDUCES, each(micros(map_s), micros(reduce_s)));
    if 0.0 < settings.reduce_spread {
        let sizes = Draws::new(seed, Purpose::Size);
        let lengths = (0..).zip(is_map.clone()).map(|(task, is_map)| {
            // A log-normal factor of mean 1.
            let spread = settings.reduce_spread;
            let factor = (spread * sizes.normal(task, 0) - spread * spread / 2.0).exp();
            micros(if is_map { map_s } else { reduce_s * factor }).max(1)
        });
        workload.work_us = Column::Each(lengths.collect());
    }
    workload.cpu = Column::Same(0);
    workload.memory = Column::Each(
        is_map.clone().map(|is_map| if is_map { UNITS * 3 / 2 } else { UNITS * 3 }).collect(),
    );
    workload.group = Column::Each(is_map.clone().map(|is_map| u32::from(!is_map)).collect());
    workload.dependencies = Dependencies::new(workload.group.clone(), 2, &[(1, 0)]);
    workload.noise = settings.noise;
    workload.startup_us = micros(settings.startup_s.min(0.9 * reduce_s));
    let map_shape = Shape { points: vec![(0.0, 0.0), (1.0, settings.map_weight)] };
    workload.shapes = vec![map_shape, Shape::linear()];
    if let Disturbance::SlowTasks(share) = disturbance {
        workload.extra_us = each(micros(settings.slow_map_s), micros(settings.slow_reduce_s));
        workload.extra_chance = Some(share);
        if !settings.is_slow_again {
            let is_slow = (0..).take(MAPS + REDUCES).map(|task| draws.uniform(task, 0) < share);
            let extra = (0..).zip(is_slow);
            let extra =
                extra.map(|(task, slow)| if slow { workload.extra_us.get(task) } else { 0 });
            workload.extra_us = Column::Each(extra.collect());
            workload.extra_chance = None;
        }
    }
    workload.check().expect("lengths are positive")
}

fn run(settings: &Settings, disturbance: Disturbance, policy: &str, number: usize) -> Run {
    let seed = settings.seed + number as u64;
    let policy: PolicyPlan = policy.parse().expect("a valid policy");
    let workload = workload(settings, disturbance, seed);
    let cluster = cluster(settings, disturbance);
    // A storm of restarts may never end; the paper's longest job took 8,741 s.
    let until_us = micros(40_000.0);
    let outcome = replay(&Plan { seed, until_us, ..Plan::new(&cluster, &workload, &policy) });
    let mut run = Run { job_s: micros_to_seconds(outcome.last_us), ..Run::default() };
    for entry in outcome.journal.iter().flat_map(Journal::entries) {
        match (entry.kind, (entry.task as usize) < MAPS) {
            (Kind::Restart, true) => run.map_flags += 1.0,
            (Kind::Restart, false) => run.reduce_flags += 1.0,
            (Kind::Copy, _) => run.copies += 1.0,
            _ => {}
        }
    }
    run
}

/// The detector together with Hadoop's speculation, which stays on in the paper (section 5.1).
fn poisson(settings: &Settings, window: &str) -> String {
    let Settings { verdicts, report_s, lambda, .. } = settings;
    format!(
        "poisson:{window},bin_s=15,p=0.05,lambda={lambda},verdicts={verdicts},\
         heartbeat_s={report_s}+{}",
        hadoop(settings)
    )
}

fn window(window_s: u32) -> String {
    format!("window_s={window_s}")
}

/// Hadoop 2.0.3 with its defaults.
fn hadoop(settings: &Settings) -> String {
    format!("yarn:heartbeat_s={}", settings.report_s)
}

/// The runs of one point of a figure.
struct Runs {
    x: String,
    runs: Vec<Run>,
}

impl Runs {
    fn of(x: String, settings: &Settings, disturbance: Disturbance, policy: &str) -> Self {
        let numbers = (0..settings.runs).into_par_iter();
        let runs = numbers.map(|number| run(settings, disturbance, policy, number));
        Self { x, runs: runs.collect() }
    }

    fn values(&self, pick: figures::Pick) -> Vec<f64> {
        self.runs.iter().map(pick).collect()
    }

    /// A value for each run, from a number of it and of the run of `other` with the same seed.
    fn beside(&self, other: &Self, pick: figures::Pick, both: fn(f64, f64) -> f64) -> Vec<f64> {
        self.runs.iter().zip(&other.runs).map(|(one, other)| both(pick(one), pick(other))).collect()
    }
}

/// Runs experiments 5.2, 5.3 and 5.4.
pub fn reproduce(settings: &Settings) -> Vec<Figure> {
    vec![experiment_5_2(settings), experiment_5_3(settings), experiment_5_4(settings)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Verdict;

    #[test]
    fn the_undisturbed_job_takes_its_time_and_nobody_is_flagged() {
        let settings = Settings { runs: 1, noise: 0.0, ..Settings::default() };
        let run = run(&settings, Disturbance::Nothing, "none", 0);
        assert!((run.job_s - settings.job_s).abs() < 1.0, "{}", run.job_s);
        let figure = experiment_5_4(&Settings { runs: 1, ..Settings::default() });
        let flags = figure.curves.iter().filter(|curve| curve.name.ends_with("verdicts"));
        assert!(flags.flat_map(|curve| &curve.points).all(|point| point.value.mean <= 5.0));
    }

    #[test]
    fn numbers_that_a_parameter_was_fitted_to_are_no_evidence() {
        let control = |core_share: f64| {
            let settings = Settings { runs: 1, core_share, ..Settings::default() };
            let claims = experiment_5_2(&settings).claims;
            claims.into_iter().find(|claim| claim.published == Some(973.0)).unwrap().verdict
        };
        assert_eq!(control(0.685), Verdict::Fitted);
        assert_ne!(control(0.6), Verdict::Fitted);
    }

    /// The claims of the paper by place: the numbers in order, and the number of sentences.
    #[test]
    fn every_claim_has_a_row_and_no_row_is_without_a_claim() {
        let figure_5 = [96.4, 96.4, 716.0, 19_825.0, 20_683.0, 1.04, 9.0, 1_258.0, 5.0, 8.0];
        let figure_6 = [84.0, 84.0, 1_248.0, 7_823.0, 8_741.0, 1.12, 2.0, 6.0];
        let claims: [(&str, &[f64], usize); 6] = [
            // Map verdicts and reduce verdicts grow with W.
            ("section 5.2, figure 5", &figure_5, 2),
            // The time grows with W up to 240 s.
            ("section 5.2, figure 6", &figure_6, 1),
            // Faster than Hadoop at every rate, less growth, faster than the conventional method.
            ("section 5.3, figure 7", &[41.5, 53.5, 2.3, 1.9], 3),
            // More copies in Hadoop, more verdicts with the conventional method.
            ("section 5.3, figure 8", &[169.0, 1_602.0, 9.5, 14.0, 16.0], 2),
            ("section 5.4, table 1", &[973.0, 28.3, 398.0, 394.0, -1.0], 0),
            ("anywhere else", &[], 0),
        ];
        let known = |place: &str| claims.iter().any(|claim| claim.0 == place);
        let figures = reproduce(&Settings { runs: 1, job_s: 60.0, ..Settings::default() });
        let rows: Vec<_> = figures.iter().flat_map(|figure| &figure.claims).collect();
        assert!(rows.iter().all(|row| known(&row.place)));
        for (place, numbers, sentences) in claims {
            let of_place = || rows.iter().filter(|row| row.place == place);
            let published: Vec<f64> = of_place().filter_map(|row| row.published).collect();
            assert_eq!(published, numbers, "{place}");
            let found = of_place().filter(|row| row.published.is_none()).count();
            assert_eq!(found, sentences, "{place}");
        }
    }

    #[test]
    fn copies_are_made_beside_the_detector() {
        let policy: PolicyPlan = poisson(&Settings::default(), &window(30)).parse().unwrap();
        let second = policy.second_speculation.map(|rule| rule.0);
        assert_eq!((&*policy.speculation.0, second.as_deref()), ("poisson", Some("yarn")));
    }
}

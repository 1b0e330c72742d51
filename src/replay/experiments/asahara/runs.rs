//! The runs of an experiment: a cluster, a job, and a policy.

use rayon::prelude::*;

use super::settings::{MAPS, REDUCES, SLAVES, Settings};
use crate::replay::cluster::{Change, Cluster, MachineChange};
use crate::replay::dependencies::Dependencies;
use crate::replay::engine::{Plan, replay};
use crate::replay::journal::{Journal, Kind};
use crate::replay::policies::PolicyPlan;
use crate::replay::random::{Draws, Purpose};
use crate::replay::workload::{Column, Shape, UNITS, Workload};
use crate::units::micros_to_seconds;

/// A disturbance of slaves or tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Disturbance {
    Nothing,
    /// From 90 s on every slave has one core of four.
    FewCores,
    /// This share of the tasks is slow, until restarted.
    SlowTasks(f64),
}

/// The result of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    pub(super) job_s: f64,
    pub(super) map_flags: f64,
    pub(super) reduce_flags: f64,
    pub(super) copies: f64,
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

/// A job of maps, and of reduces that start after the last map. Lengths follow from the undisturbed
/// job: 11 waves of maps and 7 of reduces.
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

pub(super) fn run(
    settings: &Settings,
    disturbance: Disturbance,
    policy: &str,
    number: usize,
) -> Run {
    let seed = settings.seed + number as u64;
    let policy: PolicyPlan = policy.parse().expect("a valid policy");
    let workload = workload(settings, disturbance, seed);
    let cluster = cluster(settings, disturbance);
    // If tasks are restarted again and again, a run may never end; the paper's longest job took
    // 8,741 s.
    let until_us = micros(40_000.0);
    let outcome = replay(&Plan { seed, until_us, ..Plan::new(&cluster, &workload, &policy) })
        .expect("a policy of the list can be replayed");
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
pub(super) fn poisson(settings: &Settings, window: &str) -> String {
    let Settings { verdicts, report_s, lambda, .. } = settings;
    format!(
        "poisson:{window},bin_s=15,p=0.05,lambda={lambda},verdicts={verdicts},\
         heartbeat_s={report_s}+{}",
        hadoop(settings)
    )
}

pub(super) fn window(window_s: u32) -> String {
    format!("window_s={window_s}")
}

/// Hadoop 2.0.3 with its defaults.
pub(super) fn hadoop(settings: &Settings) -> String {
    format!("yarn:heartbeat_s={}", settings.report_s)
}

/// The runs of one point of a figure.
pub(super) struct Runs {
    pub(super) x: String,
    pub(super) runs: Vec<Run>,
}

impl Runs {
    pub(super) fn of(
        x: String,
        settings: &Settings,
        disturbance: Disturbance,
        policy: &str,
    ) -> Self {
        let numbers = (0..settings.runs).into_par_iter();
        let runs = numbers.map(|number| run(settings, disturbance, policy, number));
        Self { x, runs: runs.collect() }
    }

    pub(super) fn values(&self, pick: Pick) -> Vec<f64> {
        self.runs.iter().map(pick).collect()
    }

    /// A value for each run: `both` of its number and the number of the run of `other` with the
    /// same seed.
    pub(super) fn beside(&self, other: &Self, pick: Pick, both: fn(f64, f64) -> f64) -> Vec<f64> {
        self.runs.iter().zip(&other.runs).map(|(one, other)| both(pick(one), pick(other))).collect()
    }
}

/// Selects one number of a run.
pub(super) type Pick = fn(&Run) -> f64;

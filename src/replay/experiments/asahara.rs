//! Asahara, Fujimori, Narita and Liu (2013): stragglers when the state of the system changes.
//!
//! In: the [`Settings`] that the paper leaves open. Out: its experiments 5.2 (every slave loses
//! three of four cores at 90 s), 5.3 (some tasks are slow) and 5.4 (nothing happens).
//!
//! ```text
//!  maps     |=== 1,632 on 150 slots ===|            reported progress of a map: 66.7 % at its end
//!  reduces                             |= 370 on 60 =|
//! ```
//! Slots follow from memory: 8 GB for maps of 1.5 GB and reduces of 3 GB. A task uses a share of a
//! core, so a slave with few cores slows all of its tasks alike.

use rayon::prelude::*;
use serde::Serialize;

use super::{Check, Curve, Estimate, Figure, Point, Verdict};
use crate::replay::cluster::{Change, Cluster, MachineChange};
use crate::replay::engine::{Plan, replay};
use crate::replay::journal::{Journal, Kind};
use crate::replay::policies::PolicyPlan;
use crate::replay::random::{Draws, Purpose};
use crate::replay::workload::{Column, NONE, Shape, UNITS, Workload};
use crate::units::micros_to_seconds;

const SLAVES: usize = 30;
const MAPS: usize = 1_632;
const REDUCES: usize = 370;
/// Windows of experiment 5.2, s.
const WINDOWS_S: [u32; 5] = [30, 60, 120, 240, 480];
/// Shares of slow tasks in experiment 5.3.
const SHARES: [f64; 5] = [0.1, 0.2, 0.3, 0.4, 0.5];

/// What the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Verdicts in a row before a task is restarted.
    pub verdicts: u32,
    /// Time between two reports, s.
    pub report_s: f64,
    /// Work of a task before its first progress, s.
    pub startup_s: f64,
    /// Deviation of an attempt's work.
    pub noise: f64,
    /// Progress that a map reports when it ends.
    pub map_weight: f64,
    /// Share of the undisturbed job that the maps take.
    pub map_share: f64,
    /// Length of the undisturbed job, s: the paper's.
    pub job_s: f64,
    /// Share of a core that a task uses: set so that the control run of 5.2, plain Hadoop, takes
    /// the paper's 973 s. Nothing else is fitted.
    pub core_share: f64,
    /// Whether a task that was killed for being slow may be slow again, by the same chance.
    pub is_slow_again: bool,
    /// How much longer a slow map and a slow reduce take in 5.3, s.
    pub slow_s: (f64, f64),
    /// The first seed.
    pub seed: u64,
    /// Runs of each setting.
    pub runs: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            verdicts: 12,
            report_s: 3.0,
            startup_s: 8.0,
            noise: 0.2,
            map_weight: 0.667,
            map_share: 0.8,
            job_s: 395.0,
            core_share: 0.685,
            is_slow_again: true,
            slow_s: (200.0, 100.0),
            seed: 0,
            runs: 5,
        }
    }
}

/// What happens to the slaves or tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Disturbance {
    Nothing,
    /// From 90 s on every slave has one core of four.
    FewCores,
    /// This share of the tasks is slow, until restarted.
    SlowTasks(f64),
}

/// What one run gave.
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
    cluster.memory = vec![Some(8 * UNITS); SLAVES];
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

/// Maps, and reduces after the last of them. The lengths follow from the undisturbed job: 11 waves
/// of maps and 7 of reduces.
fn workload(settings: &Settings, disturbance: Disturbance, seed: u64) -> Workload {
    let waves = |tasks: usize, slots: usize| {
        f64::from(u32::try_from(tasks.div_ceil(slots)).expect("a few"))
    };
    let map_s = settings.job_s * settings.map_share / waves(MAPS, 5 * SLAVES);
    let reduce_s = settings.job_s * (1.0 - settings.map_share) / waves(REDUCES, 2 * SLAVES);
    let is_map = (0..MAPS + REDUCES).map(|task| task < MAPS);
    let draws = Draws::new(seed, Purpose::Slow);
    let each = |map: i64, reduce: i64| {
        Column::Each(is_map.clone().map(|is_map| if is_map { map } else { reduce }).collect())
    };
    let mut workload = Workload::plain(MAPS + REDUCES, each(micros(map_s), micros(reduce_s)));
    workload.cpu = Column::Same(0);
    workload.memory = Column::Each(
        is_map.clone().map(|is_map| if is_map { UNITS * 3 / 2 } else { UNITS * 3 }).collect(),
    );
    workload.group = Column::Each(is_map.clone().map(|is_map| u32::from(!is_map)).collect());
    workload.after_group = vec![NONE, 0];
    workload.noise = settings.noise;
    workload.startup_us = micros(settings.startup_s.min(0.9 * reduce_s));
    let map_shape = Shape { points: vec![(0.0, 0.0), (1.0, settings.map_weight)] };
    workload.shapes = vec![map_shape, Shape::linear()];
    if let Disturbance::SlowTasks(share) = disturbance {
        let (map_s, reduce_s) = settings.slow_s;
        workload.extra_us = each(micros(map_s), micros(reduce_s));
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
    let policy: PolicyPlan = policy.parse().expect("a policy as it is written");
    let workload = workload(settings, disturbance, seed);
    let cluster = cluster(settings, disturbance);
    // A storm of restarts may go on for ever; the paper's longest job took 8,741 s.
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

fn poisson(settings: &Settings, window_s: u32) -> String {
    let Settings { verdicts, report_s, .. } = settings;
    format!(
        "poisson:window_s={window_s},bin_s=15,p=0.05,verdicts={verdicts},heartbeat_s={report_s}"
    )
}

/// Hadoop 2.0.3 as it comes.
fn hadoop(settings: &Settings) -> String {
    format!("yarn:heartbeat_s={}", settings.report_s)
}

fn runs(settings: &Settings, disturbance: Disturbance, policy: &str) -> Vec<Run> {
    (0..settings.runs.max(1))
        .into_par_iter()
        .map(|number| run(settings, disturbance, policy, number))
        .collect()
}

/// One number of a run.
type Pick = fn(&Run) -> f64;

fn estimate(runs: &[Run], pick: Pick) -> Estimate {
    Estimate::of(&runs.iter().map(pick).collect::<Vec<_>>())
}

fn point(x: &str, runs: &[Run], pick: Pick) -> Point {
    Point { x: x.to_owned(), value: estimate(runs, pick) }
}

fn curves(names: &[(&str, Pick)], runs: &[(String, Vec<Run>)]) -> Vec<Curve> {
    let points = |pick: Pick| runs.iter().map(|(x, runs)| point(x, runs, pick)).collect();
    let curve =
        |&(name, pick): &(&str, Pick)| Curve { name: name.to_owned(), points: points(pick) };
    names.iter().map(curve).collect()
}

const PICKS: [(&str, Pick); 4] = [
    ("job time, s", |run| run.job_s),
    ("maps flagged", |run| run.map_flags),
    ("reduces flagged", |run| run.reduce_flags),
    ("copies", |run| run.copies),
];

fn verdict(checks: &[Check], shape: bool) -> Verdict {
    match (checks.iter().all(|check| check.is_met), shape) {
        (true, _) => Verdict::Reproduced,
        (false, true) => Verdict::SameShape,
        (false, false) => Verdict::NotReproduced,
    }
}

/// Experiment 5.2: every slave loses three of its four cores at 90 s.
pub fn experiment_5_2(settings: &Settings) -> Figure {
    let plain = runs(settings, Disturbance::FewCores, &hadoop(settings));
    let windows: Vec<(String, Vec<Run>)> = WINDOWS_S
        .iter()
        .map(|&window_s| {
            let policy = poisson(settings, window_s);
            (format!("W = {window_s} s"), runs(settings, Disturbance::FewCores, &policy))
        })
        .collect();
    let time = |idx: usize| estimate(&windows[idx].1, |run| run.job_s).mean;
    let flags = |idx: usize| estimate(&windows[idx].1, |run| run.map_flags).mean;
    let plain_s = estimate(&plain, |run| run.job_s).mean;
    let falls = (0..3).map(|idx| time(idx) - time(idx + 1)).fold(0.0, f64::max);
    let checks = vec![
        Check::new("plain Hadoop, s", "973", plain_s, (973.0 * 0.98, 973.0 * 1.02)),
        Check::new("time(30) / plain", "1.28", time(0) / plain_s, (1.05, 1.6)),
        Check::new("time falls from W = 30 to 240 at most by, s", "rises", falls, (0.0, 0.0)),
        Check::new("time(240) / time(30)", "6.27", time(3) / time(0), (3.0, 1e9)),
        Check::new("flags(30) / flags(240)", "0.036", flags(0) / flags(3), (0.0, 0.15)),
    ];
    let shape = checks[2].is_met && time(0) < time(3) && flags(0) < flags(3);
    let mut all = vec![("Hadoop".to_owned(), plain)];
    all.extend(windows);
    Figure {
        name: "5.2".to_owned(),
        title: "Every slave loses three of four cores at 90 s".to_owned(),
        axes: ("window".to_owned(), "seconds, flags".to_owned()),
        verdict: verdict(&checks, shape),
        curves: curves(&PICKS, &all),
        checks,
        remarks: vec![
            "Paper: maps flagged 716 (W = 30), 19,825 (240), 20,683 (480); job time 1,248, 7,823, \
             8,741 s; reduces flagged 9 and 1,258; copies 5 to 8."
                .to_owned(),
            "The control run is fitted by the share of a core that a task uses.".to_owned(),
        ],
    }
}

/// Experiment 5.3: a share of the tasks is slow.
pub fn experiment_5_3(settings: &Settings) -> Figure {
    let of = |policy: &str| -> Vec<(String, Vec<Run>)> {
        let shares = SHARES.iter();
        shares
            .map(|&share| {
                (share.to_string(), runs(settings, Disturbance::SlowTasks(share), policy))
            })
            .collect()
    };
    let (plain, ours) = (of(&hadoop(settings)), of(&poisson(settings, 30)));
    let time =
        |runs: &[(String, Vec<Run>)], idx: usize| estimate(&runs[idx].1, |run| run.job_s).mean;
    let flags = |idx: usize| estimate(&ours[idx].1, |run| run.map_flags).mean;
    let saving = 100.0 * (1.0 - time(&ours, 0) / time(&plain, 0));
    let checks = vec![
        Check::new("time saved at 0.1, %", "41.5", saving, (25.0, 50.0)),
        Check::new("maps flagged at 0.1", "169 tasks", flags(0), (150.0, 260.0)),
        Check::new("maps flagged at 0.5", "1,602 tasks", flags(4), (1_000.0, 1_900.0)),
        Check::new(
            "Hadoop's growth from 0.1 to 0.5",
            "2.3",
            time(&plain, 4) / time(&plain, 0),
            (1.8, 2.6),
        ),
    ];
    let shape = 0.0 < saving && flags(0) < flags(4);
    let saved_most = 100.0 * (1.0 - time(&ours, 4) / time(&plain, 4));
    let mut found = curves(&PICKS, &ours);
    found.extend(curves(
        &[("job time of Hadoop, s", |run| run.job_s), ("copies of Hadoop", |run| run.copies)],
        &plain,
    ));
    Figure {
        name: "5.3".to_owned(),
        title: "A share of the tasks is slow".to_owned(),
        axes: ("share of slow tasks".to_owned(), "seconds, flags".to_owned()),
        verdict: verdict(&checks, shape),
        curves: found,
        checks,
        remarks: vec![format!(
            "Time saved at 0.5: {saved_most:.1} % (paper: 53.5 %). {} verdicts in a row, {} s each; \
             attempts after a restart are {}.",
            settings.verdicts,
            settings.report_s,
            if settings.is_slow_again { "slow by the same chance" } else { "never slow" }
        )],
    }
}

/// Experiment 5.4: nothing happens.
pub fn experiment_5_4(settings: &Settings) -> Figure {
    let plain = runs(settings, Disturbance::Nothing, &hadoop(settings));
    let ours = runs(settings, Disturbance::Nothing, &poisson(settings, 30));
    let time = |runs: &[Run]| estimate(runs, |run| run.job_s).mean;
    let flags = estimate(&ours, |run| run.map_flags + run.reduce_flags).mean;
    let ratio = time(&ours) / time(&plain);
    let checks = vec![
        Check::new("job time over Hadoop's", "394 / 398 = 0.99", ratio, (0.98, 1.02)),
        Check::new("flags", "hardly any", flags, (0.0, 5.0)),
    ];
    Figure {
        name: "5.4".to_owned(),
        title: "Without a change and without stragglers".to_owned(),
        axes: ("policy".to_owned(), "seconds, flags".to_owned()),
        verdict: verdict(&checks, checks[0].is_met),
        curves: curves(&PICKS, &[("Hadoop".to_owned(), plain), ("W = 30 s".to_owned(), ours)]),
        checks,
        remarks: Vec::new(),
    }
}

/// The experiments and what came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// What was assumed.
    pub settings: Settings,
    /// Experiments 5.2, 5.3 and 5.4.
    pub figures: Vec<Figure>,
    /// The same under other readings of what is open.
    pub influence: Vec<(String, Vec<Figure>)>,
}

/// Runs all experiments; 5.2 and 5.3 also with a streak of 4 verdicts, 5.3 also with restarts that
/// are never slow.
pub fn reproduce(settings: &Settings) -> Reproduction {
    let figures =
        vec![experiment_5_2(settings), experiment_5_3(settings), experiment_5_4(settings)];
    let short = Settings { verdicts: 4, ..*settings };
    let cured = Settings { is_slow_again: false, ..*settings };
    let influence = vec![
        ("4 verdicts".to_owned(), vec![experiment_5_2(&short), experiment_5_3(&short)]),
        ("restarts are never slow".to_owned(), vec![experiment_5_3(&cured)]),
    ];
    Reproduction { settings: *settings, figures, influence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_undisturbed_job_takes_its_time_and_nobody_is_flagged() {
        let settings = Settings { runs: 1, noise: 0.0, ..Settings::default() };
        let run = run(&settings, Disturbance::Nothing, "none", 0);
        assert!((run.job_s - settings.job_s).abs() < 1.0, "{}", run.job_s);
        let figure = experiment_5_4(&Settings { runs: 1, ..Settings::default() });
        assert!(figure.checks[1].is_met, "{:?}", figure.checks);
    }
}

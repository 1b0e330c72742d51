//! Cui and others (2014): TQST, slow tasks by way of slow nodes.
//!
//! In: the [`Settings`] that the paper leaves open (its table of machines is lost). Out: response
//! times and copies of TQST, YARN's speculation and LATE for 20, 100 and 500 tasks of five sizes
//! on nine slaves. The worked example (5 against 4 minutes) is a test in here.

use rayon::prelude::*;
use serde::Serialize;

use super::{Check, Curve, Estimate, Figure, Point, Verdict};
use crate::replay::cluster::Cluster;
use crate::replay::engine::{Keep, Plan, replay};
use crate::replay::policies::PolicyPlan;
use crate::replay::workload::{Column, UNITS, Workload};

/// Sizes of a task's input, MB.
const SIZES_MB: [f64; 5] = [0.1, 1.0, 10.0, 32.0, 64.0];
/// Tasks of a job.
const TASKS: [usize; 3] = [20, 100, 500];

/// What the paper leaves open.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Speeds of the slaves.
    pub speeds: Vec<f64>,
    /// Tasks that a slave runs at once.
    pub slots: u64,
    /// Time of a task on a slave of speed 1: at least, s, and per MB, s.
    pub task_s: (f64, f64),
    /// Deviation of an attempt's work.
    pub noise: f64,
    /// Whether TQST knows the speeds of the slaves from an earlier job.
    pub knows_nodes: bool,
    /// Whether waiting tasks go before copies (for TQST; its pseudo-code has it the other way).
    pub tasks_first: bool,
    /// The first seed.
    pub seed: u64,
    /// Runs of each setting.
    pub runs: usize,
}

impl Default for Settings {
    fn default() -> Self {
        let mut speeds = vec![1.0; 9];
        speeds[8] = 0.2;
        Self {
            speeds,
            slots: 2,
            task_s: (5.0, 1.0),
            noise: 0.1,
            knows_nodes: true,
            tasks_first: true,
            seed: 0,
            runs: 10,
        }
    }
}

fn policies(settings: &Settings) -> [(&'static str, String); 4] {
    let nodes = if settings.knows_nodes { "known" } else { "unknown" };
    let (copies, waiting) =
        if settings.tasks_first { ("last", "first") } else { ("first", "ignored") };
    [
        ("none", "none".to_owned()),
        ("late", "late:copies=last,heartbeat_s=1".to_owned()),
        ("yarn", "yarn:copies=last,heartbeat_s=1".to_owned()),
        ("tqst", format!("tqst:nodes={nodes},copies={copies},waiting={waiting},heartbeat_s=1")),
    ]
}

#[expect(clippy::cast_possible_truncation, reason = "a few minutes")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

/// Response times, s, and copies, run by run.
fn measure(settings: &Settings, tasks: usize, size_mb: f64, policy: &str) -> Vec<(f64, f64)> {
    let policy: PolicyPlan = policy.parse().expect("a policy as it is written");
    let mut cluster = Cluster::of_speeds(settings.speeds.clone());
    cluster.cpu = vec![settings.slots * UNITS; settings.speeds.len()];
    let cluster = cluster.check().expect("speeds are positive").0;
    let (least_s, per_mb_s) = settings.task_s;
    let mut workload = Workload::plain(tasks, Column::Same(micros(least_s + per_mb_s * size_mb)));
    workload.noise = settings.noise;
    let workload = workload.check().expect("lengths are positive");
    (0..settings.runs.max(1))
        .into_par_iter()
        .map(|number| {
            let seed = settings.seed + number as u64;
            let plan = Plan::new(&cluster, &workload, &policy);
            let outcome = replay(&Plan { seed, journal: Keep::Sums, ..plan });
            let copies = u32::try_from(outcome.copies).expect("fewer than 2^32");
            let makespan_us = outcome.makespan_us.unwrap_or(i64::MAX);
            (crate::units::micros_to_seconds(makespan_us), f64::from(copies))
        })
        .collect()
}

/// Response times and copies for one number of tasks, by size.
pub fn experiment(settings: &Settings, tasks: usize) -> Figure {
    let policies = policies(settings);
    let mut curves = Vec::new();
    for (name, policy) in &policies {
        let (mut times, mut copies) = (Vec::new(), Vec::new());
        for size_mb in SIZES_MB {
            let runs = measure(settings, tasks, size_mb, policy);
            let point =
                |values: Vec<f64>| Point { x: size_mb.to_string(), value: Estimate::of(&values) };
            times.push(point(runs.iter().map(|run| run.0).collect()));
            copies.push(point(runs.iter().map(|run| run.1).collect()));
        }
        curves.push(Curve { name: format!("{name}, response, s"), points: times });
        curves.push(Curve { name: format!("{name}, copies"), points: copies });
    }
    let last = |idx: usize| curves[idx].points.last().map_or(f64::NAN, |point| point.value.mean);
    let (late, yarn, tqst) = ((last(2), last(3)), (last(4), last(5)), (last(6), last(7)));
    let mut checks =
        vec![Check::new("copies: YARN - LATE, 64 MB", "fewer", yarn.1 - late.1, (-1e9, 0.0))];
    if tasks <= 100 {
        let best = late.0.min(yarn.0);
        let saved = 100.0 * (1.0 - tqst.0 / best);
        checks.push(Check::new(
            "time TQST saves over the better of both, 64 MB, %",
            "best",
            saved,
            (10.0, 100.0),
        ));
        let more = tqst.1 - late.1.min(yarn.1);
        checks.push(Check::new(
            "copies: TQST - the fewer of both, 64 MB",
            "fewest",
            more,
            (-1e9, 0.0),
        ));
    }
    let met = checks.iter().filter(|check| check.is_met).count();
    let verdict = match (met == checks.len(), tqst.0 <= late.0.min(yarn.0)) {
        (true, _) => Verdict::Reproduced,
        (false, true) => Verdict::SameShape,
        (false, false) => Verdict::NotReproduced,
    };
    Figure {
        name: format!("{tasks} tasks"),
        title: format!("Response time and copies of {tasks} tasks by size"),
        axes: ("MB per task".to_owned(), "seconds, copies".to_owned()),
        verdict,
        checks,
        remarks: vec![format!(
            "Slaves of speeds {:?}, {} slots each; a task takes {} s + {} s per MB.",
            settings.speeds, settings.slots, settings.task_s.0, settings.task_s.1
        )],
        curves,
    }
}

/// The experiment and what came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// What was assumed.
    pub settings: Settings,
    /// One figure per number of tasks.
    pub figures: Vec<Figure>,
    /// The same under other readings.
    pub influence: Vec<(String, Vec<Figure>)>,
}

/// Runs the experiment, and other readings of what is open.
pub fn reproduce(settings: &Settings) -> Reproduction {
    let all = |settings: &Settings| TASKS.map(|tasks| experiment(settings, tasks)).to_vec();
    let mixed: Vec<f64> = [1.0, 1.0, 1.0, 0.8, 0.8, 0.8, 0.6, 0.6, 0.6].to_vec();
    let readings = [
        ("speeds unknown", Settings { knows_nodes: false, ..settings.clone() }),
        ("copies first", Settings { tasks_first: false, ..settings.clone() }),
        ("speeds 1, 0.8 and 0.6", Settings { speeds: mixed, ..settings.clone() }),
        ("0.1 s per MB", Settings { task_s: (5.0, 0.1), ..settings.clone() }),
        ("0.3 s per MB", Settings { task_s: (5.0, 0.3), ..settings.clone() }),
        ("one slot", Settings { slots: 1, ..settings.clone() }),
    ];
    let influence = readings.iter().map(|(name, reading)| ((*name).to_owned(), all(reading)));
    Reproduction {
        settings: settings.clone(),
        figures: all(settings),
        influence: influence.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minutes for the 12 tasks of the worked example; the slow slave is the first or the last
    /// machine, which is served first or last where several are free.
    fn minutes(slow_is_first: bool, policy: &str) -> f64 {
        let mut speeds = vec![1.0; 4];
        speeds[if slow_is_first { 0 } else { 3 }] = 1.0 / 3.0;
        let cluster = Cluster::of_speeds(speeds).check().unwrap().0;
        let workload = Workload::plain(12, Column::Same(60_000_000)).check().unwrap();
        let policy: PolicyPlan = policy.parse().unwrap();
        let outcome = replay(&Plan::new(&cluster, &workload, &policy));
        crate::units::micros_to_seconds(outcome.makespan_us.unwrap()) / 60.0
    }

    /// ```text
    ///  slave 4 (1/3)  |----------- t4 -----------|---- t11 ------x
    ///  slave 1        |- t1 --|- t5 --|- t8 --|- t12 -|
    ///  slave 2        |- t2 --|- t6 --|- t9 --|       |copy of t11|     5 minutes
    ///  slave 3        |- t3 --|- t7 --|- t10 -|
    ///                 0       1       2       3       4           5
    /// ```
    #[test]
    fn the_worked_example_takes_four_minutes_instead_of_five() {
        let hadoop = "first-fit+hadoop:age_from=attempt,heartbeat_s=1";
        assert_eq!(minutes(true, "first-fit"), 6.0, "no copies, slave 4 served first");
        assert_eq!(minutes(true, hadoop), 5.0, "a copy of what is a minute old");
        assert_eq!(minutes(false, hadoop), 4.0, "slave 4 served last");
        for slow_is_first in [true, false] {
            let tqst = minutes(slow_is_first, "first-fit+tqst:nodes=known,heartbeat_s=1");
            assert_eq!(tqst, 4.0);
        }
    }
}

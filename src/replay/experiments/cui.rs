//! Cui and others (2014): TQST, slow tasks by way of slow nodes.
//!
//! In: the [`Settings`] that the paper leaves open (its table of machines is lost). Out: response
//! times and copies of TQST, YARN's speculation and LATE for 20, 100 and 500 tasks of five sizes
//! on nine slaves, and the paper's claims in each of these 15 cells. The worked example (5 against
//! 4 minutes) is a test in here.

use rayon::prelude::*;

use super::setting::{self, Fault};
use super::{Curve, Estimate, Figure, Point};
use crate::claims::{Cell, Claim, Parameter, Settled, direction};
use crate::replay::cluster::Cluster;
use crate::replay::engine::{Keep, Plan, replay};
use crate::replay::policies::PolicyPlan;
use crate::replay::workload::{Column, UNITS, Workload};

/// Sizes of a task's input, MB.
const SIZES_MB: [f64; 5] = [0.1, 1.0, 10.0, 32.0, 64.0];
/// Tasks of a job.
const TASKS: [usize; 3] = [20, 100, 500];
/// Slaves of the paper.
const SLAVES: usize = 9;

/// What the paper leaves open.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Speeds of the nine slaves.
    pub speeds: Vec<f64>,
    /// Tasks that a slave runs at once.
    pub slots: usize,
    /// Time of a task on a slave of speed 1: at least, s.
    pub task_least_s: f64,
    /// And per MB, s.
    pub task_per_mb_s: f64,
    /// Deviation of an attempt's work.
    pub noise: f64,
    /// Whether TQST knows the speeds of the slaves from an earlier job.
    pub knows_nodes: bool,
    /// Whether TQST hands out waiting tasks before copies; its Algorithm 2 has it the other way.
    pub tasks_first: bool,
    /// The first seed.
    pub seed: u64,
    /// Runs of each setting.
    pub runs: usize,
}

impl Default for Settings {
    fn default() -> Self {
        let mut speeds = vec![1.0; SLAVES];
        speeds[SLAVES - 1] = 0.2;
        Self {
            speeds,
            slots: 2,
            task_least_s: 5.0,
            task_per_mb_s: 1.0,
            noise: 0.1,
            knows_nodes: false,
            tasks_first: false,
            seed: 0,
            runs: 10,
        }
    }
}

impl Settings {
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let of = |key, value: String, settled, about| Parameter { key, value, settled, about };
        let open = |key, value: String, about| of(key, value, Settled::Open, about);
        let speeds: Vec<String> = self.speeds.iter().map(ToString::to_string).collect();
        vec![
            of(
                "slaves",
                SLAVES.to_string(),
                Settled::Given,
                "slaves; the table of their kinds is lost",
            ),
            of("tasks", "20, 100, 500".into(), Settled::Given, "tasks of a job"),
            of("size_mb", "0.1, 1, 10, 32, 64".into(), Settled::Given, "input of a task, MB"),
            open("speeds", speeds.join("/"), "speeds of the nine slaves"),
            open("slots", self.slots.to_string(), "tasks that a slave runs at once"),
            open(
                "task_least_s",
                self.task_least_s.to_string(),
                "time of a task without input on speed 1, s",
            ),
            open(
                "task_per_mb_s",
                self.task_per_mb_s.to_string(),
                "time of a task per MB on speed 1, s",
            ),
            open("noise", self.noise.to_string(), "deviation of an attempt's work, a share"),
            open(
                "knows_nodes",
                self.knows_nodes.to_string(),
                "whether TQST knows the speeds from an earlier job",
            ),
            open(
                "tasks_first",
                self.tasks_first.to_string(),
                "whether TQST starts new tasks before copies",
            ),
            open("seed", self.seed.to_string(), "seed of the first run"),
            open("runs", self.runs.to_string(), "runs of each setting"),
        ]
    }

    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), Fault> {
        match key {
            "speeds" => {
                let what = "nine speeds from 0.001 to 1000 as in 1/1/1/1/1/1/1/1/0.2";
                let speeds = value.split('/').map(|one| setting::number(one, 0.001..=1e3, what));
                let speeds = speeds.collect::<Result<Vec<f64>, Fault>>()?;
                if speeds.len() != SLAVES {
                    return Err(Fault::Value(what));
                }
                self.speeds = speeds;
            }
            "slots" => self.slots = setting::count(value, 1..=64, "a number from 1 to 64")?,
            "task_least_s" => {
                self.task_least_s =
                    setting::number(value, 0.001..=1e5, "seconds from 0.001 to 1e5")?;
            }
            "task_per_mb_s" => {
                self.task_per_mb_s = setting::number(value, 0.0..=1e4, "seconds from 0 to 1e4")?;
            }
            "noise" => self.noise = setting::number(value, 0.0..=2.0, "a deviation from 0 to 2")?,
            "knows_nodes" => self.knows_nodes = setting::flag(value)?,
            "tasks_first" => self.tasks_first = setting::flag(value)?,
            "seed" => self.seed = setting::seed(value)?,
            "runs" => self.runs = setting::runs(value)?,
            _ => return Err(Fault::Unknown),
        }
        Ok(())
    }
}

/// The algorithms of the paper in the order of [`policies`], after `none`.
const LATE: usize = 1;
const YARN: usize = 2;
const TQST: usize = 3;

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

/// What one run gave.
#[derive(Clone, Copy, Debug)]
struct Run {
    response_s: f64,
    copies: f64,
}

/// One number of a run.
type Pick = fn(&Run) -> f64;

fn measure(settings: &Settings, tasks: usize, size_mb: f64, policy: &str) -> Vec<Run> {
    let policy: PolicyPlan = policy.parse().expect("a policy as it is written");
    let mut cluster = Cluster::of_speeds(settings.speeds.clone());
    cluster.cpu = vec![settings.slots as u64 * UNITS; settings.speeds.len()];
    let cluster = cluster.check().expect("speeds are positive").0;
    let work_s = settings.task_least_s + settings.task_per_mb_s * size_mb;
    let mut workload = Workload::plain(tasks, Column::Same(micros(work_s)));
    workload.noise = settings.noise;
    let workload = workload.check().expect("lengths are positive");
    (0..settings.runs)
        .into_par_iter()
        .map(|number| {
            let seed = settings.seed + number as u64;
            let plan = Plan::new(&cluster, &workload, &policy);
            let outcome = replay(&Plan { seed, journal: Keep::Sums, ..plan });
            let copies = u32::try_from(outcome.copies).expect("fewer than 2^32");
            let makespan_us = outcome.makespan_us.unwrap_or(i64::MAX);
            Run {
                response_s: crate::units::micros_to_seconds(makespan_us),
                copies: f64::from(copies),
            }
        })
        .collect()
}

/// Response times and copies for one number of tasks, by size; the runs of every algorithm and
/// size meet the same draws.
pub fn experiment(settings: &Settings, tasks: usize) -> Figure {
    let policies = policies(settings);
    let runs: Vec<Vec<Vec<Run>>> = policies
        .iter()
        .map(|(_, policy)| {
            SIZES_MB.iter().map(|&size_mb| measure(settings, tasks, size_mb, policy)).collect()
        })
        .collect();
    let curve = |idx: usize, what: &str, pick: fn(&Run) -> f64| {
        let points = SIZES_MB.iter().zip(&runs[idx]).map(|(size_mb, runs)| Point {
            x: size_mb.to_string(),
            value: Estimate::of(&runs.iter().map(pick).collect::<Vec<f64>>()),
        });
        Curve { name: format!("{}, {what}", policies[idx].0), points: points.collect() }
    };
    let curves = (0..policies.len()).flat_map(|idx| {
        [curve(idx, "response, s", |run| run.response_s), curve(idx, "copies", |run| run.copies)]
    });
    Figure {
        name: format!("{tasks} tasks"),
        title: format!("Response time and copies of {tasks} tasks by size"),
        axes: ("MB per task".to_owned(), "seconds, copies".to_owned()),
        curves: curves.collect(),
        marks: Vec::new(),
        claims: claims(tasks, &runs),
        remarks: Vec::new(),
    }
}

/// The four claims of the paper, the three comparisons in every cell by itself; `runs` by
/// algorithm, size and run.
fn claims(tasks: usize, runs: &[Vec<Vec<Run>>]) -> Vec<Claim> {
    let mut claims = Vec::new();
    // By how much the first is larger than the second, run by run.
    let less = |one: &[Run], other: &[Run], pick: Pick| -> Vec<f64> {
        one.iter().zip(other).map(|(one, other)| pick(other) - pick(one)).collect()
    };
    let copies: Pick = |run| run.copies;
    let time: Pick = |run| run.response_s;
    for (idx, size_mb) in SIZES_MB.iter().enumerate() {
        let [late, yarn, tqst] = [LATE, YARN, TQST].map(|algorithm| &runs[algorithm][idx]);
        for (place, claim, one, other, pick) in [
            ("figures 2-4", "TQST launches fewer backups than LATE", tqst, late, copies),
            ("figures 2-4", "TQST launches fewer backups than YARN", tqst, yarn, copies),
            ("figures 5-7", "YARN answers sooner than LATE, s", yarn, late, time),
            ("figures 5-7", "TQST answers sooner than LATE, s", tqst, late, time),
            ("figures 5-7", "TQST answers sooner than YARN, s", tqst, yarn, time),
        ] {
            let name = format!("{tasks} tasks of {size_mb} MB");
            let cell = Cell::new(name.clone(), less(one, other, pick));
            claims.push(direction(place, &format!("{claim}: {name}"), &[cell]));
        }
    }
    for (name, algorithm) in [("LATE", LATE), ("YARN", YARN), ("TQST", TQST)] {
        let cells = (1..SIZES_MB.len()).map(|idx| {
            let name = format!("{} to {} MB", SIZES_MB[idx - 1], SIZES_MB[idx]);
            Cell::new(name, less(&runs[algorithm][idx - 1], &runs[algorithm][idx], copies))
        });
        let claim = format!("backups of {name} grow with the data of a task: {tasks} tasks");
        claims.push(direction("figures 2-4", &claim, &cells.collect::<Vec<_>>()));
    }
    claims
}

/// Runs the experiment for every number of tasks.
pub fn reproduce(settings: &Settings) -> Vec<Figure> {
    TASKS.map(|tasks| experiment(settings, tasks)).to_vec()
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

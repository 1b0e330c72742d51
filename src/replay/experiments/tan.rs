//! Tan, Fujimoto and Hagihara (2003): a work queue with replication under node failures.
//!
//! In: the [`Settings`] that the paper leaves open. Out: its six figures. The gain of replication
//! is 1 - T(replicated) / T(work queue); both meet the same speeds, loads and sizes (common random
//! numbers). Runs are spread over threads; each has its own seed, so the result does not depend on
//! their number.

use rayon::prelude::*;
use serde::Serialize;

use super::{Check, Curve, Estimate, Figure, Point, Verdict};
use crate::replay::cluster::{Change, Cluster, MachineChange, Notice, Utilisation};
use crate::replay::engine::{Keep, Outcome, Plan, replay};
use crate::replay::journal::Kind;
use crate::replay::policies::PolicyPlan;
use crate::replay::random::{Draws, Purpose};
use crate::replay::workload::{Column, Workload};

/// Speed ranges of the paper: from 1 up to these.
const SPEEDS: [f64; 4] = [2.0, 4.0, 8.0, 16.0];

/// Copies beside the original; `None` is the x of the paper's axis, unlimited.
const COPIES: [Option<u32>; 5] = [Some(1), Some(2), Some(3), Some(4), None];

/// How the speeds of the nodes are drawn from 1 to s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeedLaw {
    /// Any number, evenly.
    Continuous,
    /// Whole numbers, evenly.
    Whole,
}

/// What the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Time between two draws of a node's utilisation, s.
    pub period_s: f64,
    /// How speeds are drawn.
    pub speeds: SpeedLaw,
    /// Copies in figure 5; `None` is unlimited.
    pub figure_5_copies: Option<u32>,
    /// The first seed; run k of an experiment has seed + k.
    pub seed: u64,
    /// Runs, as a share of the paper's (100, 10 in figures 3 and 4); at least one.
    pub effort: f64,
}

impl Default for Settings {
    fn default() -> Self {
        let speeds = SpeedLaw::Continuous;
        Self { period_s: 30.0, speeds, figure_5_copies: None, seed: 0, effort: 1.0 }
    }
}

/// One setting of the experiment.
#[derive(Clone, Copy, Debug)]
struct Setting {
    nodes: usize,
    tasks: usize,
    /// Sizes: evenly from and to, whole numbers if they differ.
    sizes: (f64, f64),
    speed_max: f64,
}

impl Setting {
    const fn new(nodes: usize, tasks: usize, size: f64, speed_max: f64) -> Self {
        Self { nodes, tasks, sizes: (size, size), speed_max }
    }

    fn workload(&self, seed: u64) -> Workload {
        let (from, to) = self.sizes;
        let work_us = if from == to {
            Column::Same(work_us(from))
        } else {
            let draws = Draws::new(seed, Purpose::Size);
            let sizes = (0..).take(self.tasks);
            let draw = |task| from + ((to - from + 1.0) * draws.uniform(task, 0)).floor();
            Column::Each(sizes.map(|task| work_us(draw(task))).collect())
        };
        Workload::plain(self.tasks, work_us).check().expect("sizes are positive")
    }

    fn cluster(&self, settings: &Settings, seed: u64) -> Cluster {
        let draws = Draws::new(seed, Purpose::Speed);
        let speeds = (0..).take(self.nodes).map(|node| {
            let share = draws.uniform(node, 0);
            match settings.speeds {
                SpeedLaw::Continuous => 1.0 + (self.speed_max - 1.0) * share,
                SpeedLaw::Whole => 1.0 + (self.speed_max * share).floor(),
            }
        });
        let mut cluster = Cluster::of_speeds(speeds.collect());
        let period_us = work_us(settings.period_s);
        cluster.utilisation = Some(Utilisation { period_us, left: (0.0, 1.0), seed });
        cluster.check().expect("speeds are positive").0
    }
}

/// Size 100 on a node of speed 1 takes 100 units of time, taken as seconds.
#[expect(clippy::cast_possible_truncation, reason = "sizes are far below 2^43 s")]
fn work_us(size: f64) -> i64 {
    (size * 1e6) as i64
}

fn policy(copies: Option<u32>, order: &str) -> PolicyPlan {
    let copies = copies.map_or("unlimited".to_owned(), |copies| copies.to_string());
    format!("wqr:copies={copies},order={order}").parse().expect("a policy as it is written")
}

fn plain() -> PolicyPlan {
    "fifo".parse().expect("a policy as it is written")
}

fn run(cluster: &Cluster, workload: &Workload, policy: &PolicyPlan, seed: u64) -> Outcome {
    replay(&Plan { seed, journal: Keep::Sums, ..Plan::new(cluster, workload, policy) })
}

#[expect(clippy::cast_precision_loss, reason = "a makespan is far below 2^53 µs")]
fn makespan(outcome: &Outcome) -> f64 {
    outcome.makespan_us.map_or(f64::INFINITY, |makespan_us| makespan_us as f64)
}

/// The gains of all numbers of copies over the work queue in percent, run by run.
fn gains(setting: &Setting, settings: &Settings, runs: usize) -> Vec<[f64; COPIES.len()]> {
    let policies = COPIES.map(|copies| policy(copies, "forward"));
    (0..runs)
        .into_par_iter()
        .map(|number| {
            let seed = settings.seed + number as u64;
            let (cluster, workload) = (setting.cluster(settings, seed), setting.workload(seed));
            let base = makespan(&run(&cluster, &workload, &plain(), seed));
            policies.each_ref().map(|policy| {
                100.0 * (1.0 - makespan(&run(&cluster, &workload, policy, seed)) / base)
            })
        })
        .collect()
}

fn runs(settings: &Settings, paper: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least one")]
    let runs = (settings.effort * paper).round().max(1.0) as usize;
    runs
}

/// A curve over the numbers of copies.
fn curve(name: String, gains: &[[f64; COPIES.len()]]) -> Curve {
    let points = COPIES.iter().enumerate().map(|(idx, copies)| {
        let values: Vec<f64> = gains.iter().map(|gains| gains[idx]).collect();
        let x = copies.map_or("unlimited".to_owned(), |copies| copies.to_string());
        Point { x, value: Estimate::of(&values) }
    });
    Curve { name, points: points.collect() }
}

fn last(curve: &Curve) -> Estimate {
    curve.points.last().map_or_else(Estimate::default, |point| point.value)
}

fn extreme(curves: &[Curve], pick: fn(&Estimate) -> f64, best: fn(f64, f64) -> f64) -> f64 {
    let points = curves.iter().flat_map(|curve| &curve.points);
    points.map(|point| pick(&point.value)).reduce(best).unwrap_or(f64::NAN)
}

/// By how much, at the most, a mean falls from one point to the next along the curves.
fn largest_fall<'c>(lines: impl Iterator<Item = Vec<&'c Estimate>>) -> f64 {
    let falls = lines.flat_map(|line| {
        line.windows(2).map(|pair| pair[0].mean - pair[1].mean).collect::<Vec<_>>()
    });
    falls.fold(0.0, f64::max)
}

fn along_copies(curves: &[Curve]) -> f64 {
    largest_fall(curves.iter().map(|curve| curve.points.iter().map(|p| &p.value).collect()))
}

fn across_curves(curves: &[Curve]) -> f64 {
    largest_fall((0..COPIES.len()).map(|idx| curves.iter().map(|c| &c.points[idx].value).collect()))
}

fn verdict(checks: &[Check], shape: &[bool]) -> Verdict {
    if checks.iter().all(|check| check.is_met) && shape.iter().all(|met| *met) {
        Verdict::Reproduced
    } else if shape.iter().all(|met| *met) {
        Verdict::SameShape
    } else {
        Verdict::NotReproduced
    }
}

fn copies_axes() -> (String, String) {
    ("copies beside the original".to_owned(), "gain over the work queue, %".to_owned())
}

/// Figure 1: 100 nodes, 1,000 tasks of size 100, four speed ranges.
pub fn figure_1(settings: &Settings) -> Figure {
    let runs = runs(settings, 100.0);
    let curves: Vec<Curve> = SPEEDS
        .iter()
        .map(|&speed| {
            let setting = Setting::new(100, 1_000, 100.0, speed);
            curve(format!("speeds 1 to {speed}"), &gains(&setting, settings, runs))
        })
        .collect();
    let fall = "largest fall of the mean gain";
    let checks = vec![
        Check::new(
            format!("{fall} with more copies, %"),
            "rises",
            along_copies(&curves),
            (0.0, 0.1),
        ),
        Check::new(
            format!("{fall} with wider speeds, %"),
            "rises",
            across_curves(&curves),
            (0.0, 0.1),
        ),
        Check::new(
            "mean gain, speeds 1 to 16, unlimited, %",
            "no number is given",
            last(&curves[3]).mean,
            (27.0, 34.0),
        ),
    ];
    let shape = [checks[0].is_met, checks[1].is_met];
    Figure {
        name: "1".to_owned(),
        title: "Copies against gain, by range of speeds".to_owned(),
        axes: copies_axes(),
        verdict: verdict(&checks, &shape),
        curves,
        checks,
        remarks: Vec::new(),
    }
}

/// Figure 2: task sizes from 1 to 20, 40, 60 and 80. Nodes, tasks and speeds are not stated; those
/// of figure 1 with speeds from 1 to 16 are taken.
pub fn figure_2(settings: &Settings) -> Figure {
    let runs = runs(settings, 100.0);
    let curves: Vec<Curve> = [20.0, 40.0, 60.0, 80.0]
        .iter()
        .map(|&size| {
            let mut setting = Setting::new(100, 1_000, size, 16.0);
            setting.sizes = (1.0, size);
            curve(format!("sizes 1 to {size}"), &gains(&setting, settings, runs))
        })
        .collect();
    let rise = last(&curves[3]).mean - last(&curves[0]).mean;
    let checks = vec![
        Check::new(
            "largest fall of the mean gain with more copies, %",
            "rises",
            along_copies(&curves),
            (0.0, 0.1),
        ),
        Check::new(
            "mean gain, sizes 1 to 80 minus 1 to 20, unlimited, %",
            "rises with the spread",
            rise,
            (0.1, 100.0),
        ),
    ];
    let shape = [checks[0].is_met, checks[1].is_met];
    Figure {
        name: "2".to_owned(),
        title: "Copies against gain, by range of sizes".to_owned(),
        axes: copies_axes(),
        verdict: verdict(&checks, &shape),
        curves,
        checks,
        remarks: vec![
            "The paper does not state nodes, tasks and speeds; 100, 1,000 and 1 to 16 are taken."
                .to_owned(),
        ],
    }
}

/// Figure 3: 10,000 tasks of size 100, speeds 1 to 16, 100 to 400 nodes.
pub fn figure_3(settings: &Settings) -> Figure {
    let runs = runs(settings, 10.0);
    let curves: Vec<Curve> = [100, 200, 300, 400]
        .iter()
        .map(|&nodes| {
            let setting = Setting::new(nodes, 10_000, 100.0, 16.0);
            curve(format!("{nodes} nodes"), &gains(&setting, settings, runs))
        })
        .collect();
    let checks = vec![
        Check::new(
            "mean gain, 400 nodes, unlimited, %",
            "largest 24.75",
            last(&curves[3]).mean,
            (17.0, 24.0),
        ),
        Check::new(
            "best single run, %",
            "largest 24.75",
            extreme(&curves, |e| e.max, f64::max),
            (22.0, 32.0),
        ),
        Check::new(
            "worst single run, %",
            "smallest 0",
            extreme(&curves, |e| e.min, f64::min),
            (0.0, 1.5),
        ),
    ];
    let shape = [across_curves(&curves) <= 0.5];
    Figure {
        name: "3".to_owned(),
        title: "Copies against gain, by number of nodes".to_owned(),
        axes: copies_axes(),
        verdict: verdict(&checks, &shape),
        curves,
        checks,
        remarks: vec![
            "The paper calls its points means of 10 runs; its extremes fit single runs.".to_owned(),
        ],
    }
}

/// Figure 4: 100 nodes, 10,000 to 40,000 tasks of size 100, speeds 1 to 16.
pub fn figure_4(settings: &Settings) -> Figure {
    let runs = runs(settings, 10.0);
    let curves: Vec<Curve> = [10_000, 20_000, 30_000, 40_000]
        .iter()
        .map(|&tasks| {
            let setting = Setting::new(100, tasks, 100.0, 16.0);
            curve(format!("{tasks} tasks"), &gains(&setting, settings, runs))
        })
        .collect();
    let checks = vec![
        Check::new(
            "mean gain, 10,000 tasks, unlimited, %",
            "largest 6.66",
            last(&curves[0]).mean,
            (3.5, 5.2),
        ),
        Check::new(
            "best single run, %",
            "largest 6.66",
            extreme(&curves, |e| e.max, f64::max),
            (5.0, 9.0),
        ),
    ];
    let mut falling: Vec<f64> = curves.iter().map(|curve| last(curve).mean).collect();
    falling.reverse();
    let shape = [falling.is_sorted()];
    Figure {
        name: "4".to_owned(),
        title: "Copies against gain, by number of tasks".to_owned(),
        axes: copies_axes(),
        verdict: verdict(&checks, &shape),
        curves,
        checks,
        remarks: Vec::new(),
    }
}

/// Figure 5: 1,000 tasks of size 100, 100 nodes of which a tenth fails and never comes back.
///
/// ```text
///  nodes that fail  |----x          drawn evenly from the start to the end of a run without
///                   |---------x     failures; nobody learns of it, only copies save the tasks
/// ```
pub fn figure_5(settings: &Settings) -> Figure {
    let runs = runs(settings, 100.0);
    let comparisons = compare_all(settings, runs);
    let share = |won: fn(&Comparison) -> bool| -> Vec<Point> {
        let counted = comparisons.iter().map(|comparisons| {
            let values: Vec<f64> =
                comparisons.iter().map(|c| 100.0 * f64::from(u8::from(won(c)))).collect();
            Estimate::of(&values)
        });
        let ranges = SPEEDS.iter().map(|speed| format!("1 to {speed}"));
        ranges.zip(counted).map(|(x, value)| Point { x, value }).collect()
    };
    let forward = share(|c| c.forward < c.reverse);
    let reverse = share(|c| c.reverse < c.forward);
    let checks: Vec<Check> = forward
        .iter()
        .map(|point| {
            let what = format!("forward is faster, speeds {}, of 100", point.x);
            Check::new(what, "forward wins clearly", point.value.mean, (60.0, 100.0))
        })
        .collect();
    let wins: Vec<bool> =
        forward.iter().zip(&reverse).map(|(a, b)| b.value.mean < a.value.mean).collect();
    let mut remarks = vec![told(&comparisons)];
    if settings.figure_5_copies.is_none() {
        let one = Settings { figure_5_copies: Some(1), ..*settings };
        remarks.push(format!("With one copy: {}", told(&compare_all(&one, runs))));
    }
    Figure {
        name: "5".to_owned(),
        title: "Forward against reverse order of copying, a tenth of the nodes fails".to_owned(),
        axes: ("speeds".to_owned(), "comparisons won, of 100".to_owned()),
        verdict: verdict(&checks, &wins),
        curves: vec![
            Curve { name: "forward".to_owned(), points: forward },
            Curve { name: "reverse".to_owned(), points: reverse },
        ],
        checks,
        remarks,
    }
}

/// All comparisons, by range of speeds.
fn compare_all(settings: &Settings, runs: usize) -> Vec<Vec<Comparison>> {
    let of_range = |speed: &f64| {
        let setting = Setting::new(100, 1_000, 100.0, *speed);
        let seeds = (0..runs).into_par_iter().map(|number| settings.seed + number as u64);
        seeds.map(|seed| compare(&setting, settings, seed)).collect()
    };
    SPEEDS.iter().map(of_range).collect()
}

/// What became of the comparisons, in words.
fn told(comparisons: &[Vec<Comparison>]) -> String {
    let count = |test: fn(&Comparison) -> bool| {
        let tested = comparisons.iter().map(|range| range.iter().filter(|c| test(c)).count());
        tested.collect::<Vec<_>>()
    };
    let endless = count(|c| c.forward.is_infinite() || c.reverse.is_infinite());
    format!(
        "by range of speeds, forward wins {:?}, reverse {:?}, even {:?}; a run never ends in {:?}.",
        count(|c| c.forward < c.reverse),
        count(|c| c.reverse < c.forward),
        count(|c| c.forward == c.reverse),
        endless,
    )
}

/// Makespans of both orders under the same failures; infinite where a run never ends.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    forward: f64,
    reverse: f64,
}

fn compare(setting: &Setting, settings: &Settings, seed: u64) -> Comparison {
    let (cluster, workload) = (setting.cluster(settings, seed), setting.workload(seed));
    let forward = policy(settings.figure_5_copies, "forward");
    let reverse = policy(settings.figure_5_copies, "reverse");
    let span = makespan(&run(&cluster, &workload, &policy(None, "forward"), seed));
    let failing = with_failures(cluster, setting.nodes / 10, span, seed);
    let time = |policy| makespan(&run(&failing, &workload, policy, seed));
    Comparison { forward: time(&forward), reverse: time(&reverse) }
}

/// Lets `count` nodes fail within `span` µs, unnoticed and for good.
#[expect(clippy::cast_possible_truncation, reason = "a makespan is far below 2^63 µs")]
fn with_failures(mut cluster: Cluster, count: usize, span: f64, seed: u64) -> Cluster {
    let choice = Draws::new(seed, Purpose::FailureChoice);
    let times = Draws::new(seed, Purpose::FailureTime);
    let mut nodes: Vec<u32> = (0..).take(cluster.machine_count()).collect();
    nodes.sort_by_key(|&node| choice.bits(node.into(), 0));
    cluster.changes = nodes[..count]
        .iter()
        .map(|&machine| MachineChange {
            at_us: (span * times.uniform(machine.into(), 0)) as i64,
            machine,
            change: Change::Leaves,
        })
        .collect();
    cluster.notice = Notice::Never;
    cluster.check().expect("speeds are positive").0
}

/// Figure 6: 2,000 tasks of size 1,000, speeds 1 to 16, 40 to 100 nodes: work thrown away.
pub fn figure_6(settings: &Settings) -> Figure {
    let runs = runs(settings, 100.0);
    let policy = policy(None, "forward");
    let measured: Vec<(usize, Vec<(f64, f64)>)> = [40, 60, 80, 100]
        .iter()
        .map(|&nodes| {
            let setting = Setting::new(nodes, 2_000, 1_000.0, 16.0);
            let wasted = (0..runs).into_par_iter().map(|number| {
                let seed = settings.seed + number as u64;
                let workload = setting.workload(seed);
                let outcome = run(&setting.cluster(settings, seed), &workload, &policy, seed);
                let useful = outcome.sum(Kind::Finish).work;
                let losers = outcome.sum(Kind::Cancel).work;
                (100.0 * outcome.lost_copies.work / useful, 100.0 * losers / useful)
            });
            (nodes, wasted.collect())
        })
        .collect();
    let line = |name: &str, pick: fn(&(f64, f64)) -> f64| {
        let points = measured.iter().map(|(nodes, wasted)| {
            let values: Vec<f64> = wasted.iter().map(pick).collect();
            Point { x: nodes.to_string(), value: Estimate::of(&values) }
        });
        Curve { name: name.to_owned(), points: points.collect() }
    };
    let copies = line("losing copies", |wasted| wasted.0);
    let all = line("losing copies and overtaken originals", |wasted| wasted.1);
    let checks: Vec<Check> = copies
        .points
        .iter()
        .map(|point| {
            let what = format!("mean waste, {} nodes, % of the useful work", point.x);
            Check::new(what, "below 5", point.value.mean, (0.0, 5.0))
        })
        .collect();
    let rising: Vec<f64> = copies.points.iter().map(|point| point.value.mean).collect();
    Figure {
        name: "6".to_owned(),
        title: "Work of losing copies".to_owned(),
        axes: ("nodes".to_owned(), "work thrown away, % of the useful work".to_owned()),
        verdict: verdict(&checks, &[rising.is_sorted()]),
        curves: vec![copies, all],
        checks,
        remarks: vec![
            "The paper counts copies; originals that a copy has overtaken are the second curve."
                .to_owned(),
        ],
    }
}

/// The experiment and what came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    /// What was assumed.
    pub settings: Settings,
    /// The six figures.
    pub figures: Vec<Figure>,
    /// How far open parameters matter.
    pub influence: Vec<Influence>,
}

/// What comes out under another reading of an open parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Influence {
    /// The reading.
    pub reading: String,
    /// Mean gain at speeds 1 to 16, unlimited copies, 100 nodes and 1,000 tasks, %.
    pub figure_1_gain: f64,
    /// Mean and best gain of figure 3 at 400 nodes, unlimited copies, %.
    pub figure_3_gain: (f64, f64),
    /// Mean and best gain of figure 4 at 10,000 tasks, unlimited copies, %.
    pub figure_4_gain: (f64, f64),
}

/// Runs all six figures, and the readings of the open parameters.
pub fn reproduce(settings: &Settings) -> Reproduction {
    let figures = vec![
        figure_1(settings),
        figure_2(settings),
        figure_3(settings),
        figure_4(settings),
        figure_5(settings),
        figure_6(settings),
    ];
    let readings = [
        ("period 10 s", Settings { period_s: 10.0, ..*settings }),
        ("period 30 s", Settings { period_s: 30.0, ..*settings }),
        ("period 70 s", Settings { period_s: 70.0, ..*settings }),
        ("period 100 s", Settings { period_s: 100.0, ..*settings }),
        ("period 30 s, whole speeds", Settings { speeds: SpeedLaw::Whole, ..*settings }),
    ];
    let influence = readings.iter().map(|(reading, settings)| influence(reading, settings));
    Reproduction { settings: *settings, figures, influence: influence.collect() }
}

fn influence(reading: &str, settings: &Settings) -> Influence {
    let gain = |setting: Setting, paper: f64| {
        last(&curve(String::new(), &gains(&setting, settings, runs(settings, paper))))
    };
    let figure_3 = gain(Setting::new(400, 10_000, 100.0, 16.0), 10.0);
    let figure_4 = gain(Setting::new(100, 10_000, 100.0, 16.0), 10.0);
    Influence {
        reading: reading.to_owned(),
        figure_1_gain: gain(Setting::new(100, 1_000, 100.0, 16.0), 100.0).mean,
        figure_3_gain: (figure_3.mean, figure_3.max),
        figure_4_gain: (figure_4.mean, figure_4.max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A twentieth of the paper's runs: bounds that hold however few.
    #[test]
    fn the_figures_have_the_shape_of_the_paper() {
        let settings = Settings { effort: 0.05, ..Settings::default() };
        let reproduction = reproduce(&settings);
        assert_eq!(reproduction.figures.len(), 6);
        let gain = |figure: usize, curve: usize| last(&reproduction.figures[figure].curves[curve]);
        assert!(gain(0, 0).mean < gain(0, 3).mean, "wider speeds gain more");
        assert!(gain(2, 0).mean < gain(2, 3).mean, "more nodes gain more");
        assert!(gain(3, 3).mean < gain(3, 0).mean, "more tasks gain less");
        let again = reproduce(&settings);
        assert_eq!(again, reproduction, "the same settings give the same numbers");
    }

    #[test]
    fn whole_speeds_are_whole() {
        let settings = Settings { speeds: SpeedLaw::Whole, ..Settings::default() };
        let cluster = Setting::new(100, 1, 1.0, 4.0).cluster(&settings, 3);
        assert!(cluster.speed.iter().all(|speed| [1.0, 2.0, 3.0, 4.0].contains(speed)));
    }
}

//! Failing nodes, and the work of copies: figures 5 and 6.

use super::settings::Settings;
use rayon::prelude::*;

use super::super::figure::mark;
use super::super::{Curve, Estimate, Figure, Point};
use super::runs::{SPEEDS, Setting, makespan, policy, run};
use crate::claims::{Cell, Side, bound, direction};
use crate::replay::cluster::{Change, Cluster, MachineChange, Notice};
use crate::replay::journal::Kind;
use crate::replay::random::{Draws, Purpose};

/// Figure 5: 1,000 tasks of size 100 on 100 nodes; a tenth of the nodes fails and never returns.
///
/// ```text
///  nodes that fail  |----x          drawn evenly from the start to the end of a run without
///                   |---------x     failures, unnoticed: only copies save the tasks
/// ```
pub fn figure_5(settings: &Settings) -> Figure {
    let comparisons = compare_all(settings, settings.runs);
    let of_range = |speed: f64| format!("speeds 1 to {speed}");
    let cells: Vec<Cell> = SPEEDS
        .iter()
        .zip(&comparisons)
        .map(|(&speed, runs)| {
            let won = runs.iter().map(|run| if run.forward < run.reverse { 0.5 } else { -0.5 });
            Cell::new(of_range(speed), won.collect())
        })
        .collect();
    let claim = "forward is quicker in most of 100 runs (share - 0.5)";
    let share = |name: &str, won: fn(&Comparison) -> bool| {
        let points = SPEEDS.iter().zip(&comparisons).map(|(speed, runs)| {
            let values: Vec<f64> =
                runs.iter().map(|run| 100.0 * f64::from(u8::from(won(run)))).collect();
            Point { x: format!("1 to {speed}"), value: Estimate::of(&values) }
        });
        Curve { name: name.to_owned(), points: points.collect() }
    };
    let mut remarks = vec![told(&comparisons)];
    if settings.figure_5_copies.is_none() {
        let one = Settings { figure_5_copies: Some(1), ..*settings };
        remarks.push(format!("With one copy: {}", told(&compare_all(&one, settings.runs))));
    }
    Figure {
        name: "5".to_owned(),
        title: "Forward against reverse order of copying, a tenth of the nodes fails".to_owned(),
        axes: ("speeds".to_owned(), "comparisons won, of 100".to_owned()),
        curves: vec![
            share("forward", |run| run.forward < run.reverse),
            share("reverse", |run| run.reverse < run.forward),
        ],
        marks: Vec::new(),
        claims: vec![direction("section 4.3, figure 5", claim, &cells)],
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

/// The results of the comparisons, as a sentence.
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

/// Makespans of both orders under the same failures; infinite if a run never ends.
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

/// Makes `count` nodes fail within `span` µs. They never return, and the scheduler does not notice.
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

/// The work of copies in one run, % of the work without copies.
#[derive(Clone, Copy, Debug)]
struct CopyWork {
    /// All copies, including those that finished their task.
    all: f64,
    /// Copies cancelled because another attempt finished first.
    losing: f64,
    /// Copies and originals cancelled because another attempt finished first.
    overtaken: f64,
}

/// Size of a task of figure 6.
const FIGURE_6_SIZE: f64 = 1_000.0;

/// Figure 6: 2,000 tasks of size 1,000, speeds 1 to 16, 40 to 100 nodes: work of copies.
pub fn figure_6(settings: &Settings) -> Figure {
    let policy = policy(None, "forward");
    let measure = |nodes: usize, number: usize| {
        let setting = Setting::new(nodes, 2_000, FIGURE_6_SIZE, 16.0);
        let seed = settings.seed + number as u64;
        let outcome = run(&setting.cluster(settings, seed), &setting.workload(seed), &policy, seed);
        let useful = outcome.sum(Kind::Finish).work;
        let losing = outcome.lost_copies.work;
        // Every task has the same size, which is the work of a copy that finished.
        let won = f64::from(u32::try_from(outcome.copies_won).expect("at most one per task"));
        CopyWork {
            all: 100.0 * (losing + won * useful / 2_000.0) / useful,
            losing: 100.0 * losing / useful,
            overtaken: 100.0 * outcome.sum(Kind::Cancel).work / useful,
        }
    };
    let measured: Vec<(usize, Vec<CopyWork>)> = [40, 60, 80, 100]
        .iter()
        .map(|&nodes| {
            let numbers = (0..settings.runs).into_par_iter();
            (nodes, numbers.map(|number| measure(nodes, number)).collect())
        })
        .collect();
    let cells = |pick: fn(&CopyWork) -> f64| -> Vec<Cell> {
        let of = |(nodes, runs): &(usize, Vec<CopyWork>)| {
            Cell::new(format!("{nodes} nodes"), runs.iter().map(pick).collect())
        };
        measured.iter().map(of).collect()
    };
    let curve = |name: &str, pick: fn(&CopyWork) -> f64| {
        let points = measured.iter().map(|(nodes, runs)| {
            let values: Vec<f64> = runs.iter().map(pick).collect();
            Point { x: nodes.to_string(), value: Estimate::of(&values) }
        });
        Curve { name: name.to_owned(), points: points.collect() }
    };
    let claim = "work of all copies is under 5 % of that without copies";
    Figure {
        name: "6".to_owned(),
        title: "Work of copies".to_owned(),
        axes: ("nodes".to_owned(), "work, % of the work without copies".to_owned()),
        curves: vec![
            curve("all copies", |work| work.all),
            curve("losing copies", |work| work.losing),
            curve("losing copies and overtaken originals", |work| work.overtaken),
        ],
        marks: [40, 60, 80, 100].map(|nodes| mark("all copies", &nodes.to_string(), 5.0)).to_vec(),
        claims: vec![bound("section 4.3, figure 6", claim, Side::AtMost, 5.0, &cells(|work| work.all))],
        remarks: vec![
            "The paper counts all copies (複製タスクの計算量); losing copies alone are the second curve."
                .to_owned(),
            "What is marked is its bound: every value is under 5 %.".to_owned(),
        ],
    }
}

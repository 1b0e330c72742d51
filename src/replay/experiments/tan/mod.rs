//! Tan, Fujimoto and Hagihara (2003): a work queue with replication under node failures.
//!
//! In: the [`Settings`] that the paper leaves open. Out: its six figures with their claims. Work
//! queue and replication use the same speeds, loads and sizes (common random numbers). Runs are
//! spread over threads; each has its own seed, so the result does not depend on the number of
//! threads.
//!
//! The paper's ratio of speed-up to the work queue can be read in two ways, `T_WQ / T - 1` and
//! `1 - T / T_WQ`; every claim about it is tested under both.

use rayon::prelude::*;

use super::{Curve, Estimate, Figure, Point, mark};
use crate::claims::{Cell, Claim, Published, direction};
use crate::replay::cluster::{Cluster, Utilisation};
use crate::replay::engine::{Keep, Outcome, Plan, replay};
use crate::replay::policies::PolicyPlan;
use crate::replay::random::{Draws, Purpose};
use crate::replay::workload::{Column, Workload};

mod copies;
mod settings;

pub use self::copies::{figure_5, figure_6};

pub use settings::{Settings, SizeLaw, SpeedLaw};

/// The upper ends of the paper's speed ranges, which start at 1.
const SPEEDS: [f64; 4] = [2.0, 4.0, 8.0, 16.0];

/// Copies beside the original; `None` means unlimited, x on the paper's axis.
const COPIES: [Option<u32>; 5] = [Some(1), Some(2), Some(3), Some(4), None];

/// One setting of the experiment.
#[derive(Clone, Copy, Debug)]
struct Setting {
    nodes: usize,
    tasks: usize,
    /// Minimum and maximum size, uniformly drawn; whole numbers if they differ.
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

/// Size 100 on a node of speed 1 takes 100 units of time, which we read as seconds.
#[expect(clippy::cast_possible_truncation, reason = "sizes are far below 2^43 s")]
fn work_us(size: f64) -> i64 {
    (size * 1e6) as i64
}

fn policy(copies: Option<u32>, order: &str) -> PolicyPlan {
    let copies = copies.map_or("unlimited".to_owned(), |copies| copies.to_string());
    format!("wqr:copies={copies},order={order}").parse().expect("a valid policy")
}

fn plain() -> PolicyPlan {
    "fifo".parse().expect("a valid policy")
}

fn run(cluster: &Cluster, workload: &Workload, policy: &PolicyPlan, seed: u64) -> Outcome {
    replay(&Plan { seed, journal: Keep::Sums, ..Plan::new(cluster, workload, policy) })
}

#[expect(clippy::cast_precision_loss, reason = "a makespan is far below 2^53 µs")]
fn makespan(outcome: &Outcome) -> f64 {
    outcome.makespan_us.map_or(f64::INFINITY, |makespan_us| makespan_us as f64)
}

/// A reading of the paper's ratio of speed-up to the work queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ratio {
    /// `T_WQ / T - 1`.
    SpeedUp,
    /// `1 - T / T_WQ`.
    Saving,
}

impl Ratio {
    const ALL: [Self; 2] = [Self::SpeedUp, Self::Saving];

    const fn name(self) -> &'static str {
        match self {
            Self::SpeedUp => "T_WQ / T - 1",
            Self::Saving => "1 - T / T_WQ",
        }
    }

    /// The ratio in percent; `relative` is `T / T_WQ`.
    fn percent(self, relative: f64) -> f64 {
        100.0
            * match self {
                Self::SpeedUp => 1.0 / relative - 1.0,
                Self::Saving => 1.0 - relative,
            }
    }
}

/// Makespans with each number of copies divided by that of the work queue, run by run.
struct Line {
    name: String,
    relative: Vec<[f64; COPIES.len()]>,
}

impl Line {
    fn of(name: String, setting: &Setting, settings: &Settings, runs: usize) -> Self {
        let policies = COPIES.map(|copies| policy(copies, "forward"));
        let relative = (0..runs)
            .into_par_iter()
            .map(|number| {
                let seed = settings.seed + number as u64;
                let (cluster, workload) = (setting.cluster(settings, seed), setting.workload(seed));
                let base = makespan(&run(&cluster, &workload, &plain(), seed));
                policies
                    .each_ref()
                    .map(|policy| makespan(&run(&cluster, &workload, policy, seed)) / base)
            })
            .collect();
        Self { name, relative }
    }

    /// The ratio with a number of copies, run by run, %.
    fn ratios(&self, ratio: Ratio, copies_idx: usize) -> Vec<f64> {
        self.relative.iter().map(|run| ratio.percent(run[copies_idx])).collect()
    }

    fn curve(&self, ratio: Ratio) -> Curve {
        let points = COPIES.iter().enumerate().map(|(idx, copies)| {
            let x = copies.map_or("unlimited".to_owned(), |copies| copies.to_string());
            Point { x, value: Estimate::of(&self.ratios(ratio, idx)) }
        });
        Curve { name: format!("{}, {}", self.name, ratio.name()), points: points.collect() }
    }
}

fn copies_name(idx: usize) -> String {
    COPIES[idx].map_or("unlimited".to_owned(), |copies| format!("R = {copies}"))
}

/// How much the ratio rises with each further copy, line by line and run by run.
fn steps_along(lines: &[Line], ratio: Ratio) -> Vec<Cell> {
    let mut cells = Vec::new();
    for line in lines {
        for idx in 1..COPIES.len() {
            let (before, after) = (line.ratios(ratio, idx - 1), line.ratios(ratio, idx));
            let rise = after.iter().zip(before).map(|(after, before)| after - before);
            let name = format!("{}, {} to {}", line.name, copies_name(idx - 1), copies_name(idx));
            cells.push(Cell::new(name, rise.collect()));
        }
    }
    cells
}

/// How much the ratio rises from each line to the next, for each number of copies.
fn steps_across(lines: &[Line], ratio: Ratio) -> Vec<Cell> {
    let mut cells = Vec::new();
    for pair in lines.windows(2) {
        for idx in 0..COPIES.len() {
            let (before, after) = (pair[0].ratios(ratio, idx), pair[1].ratios(ratio, idx));
            let rise = after.iter().zip(before).map(|(after, before)| after - before);
            let name = format!("{} to {}, {}", pair[0].name, pair[1].name, copies_name(idx));
            cells.push(Cell::new(name, rise.collect()));
        }
    }
    cells
}

/// The runs of the point with the largest or smallest mean ratio.
fn extreme(lines: &[Line], ratio: Ratio, is_largest: bool) -> Vec<f64> {
    let points = lines.iter().flat_map(|line| (0..COPIES.len()).map(|idx| line.ratios(ratio, idx)));
    let mean = |values: &Vec<f64>| Estimate::of(values).mean;
    let by_mean = |one: &Vec<f64>, other: &Vec<f64>| mean(one).total_cmp(&mean(other));
    let found = if is_largest { points.max_by(by_mean) } else { points.min_by(by_mean) };
    found.unwrap_or_default()
}

/// A claim about the ratio, under both readings.
fn under_both(claim: &str, judge: impl Fn(Ratio, &str) -> Claim) -> Vec<Claim> {
    Ratio::ALL.map(|ratio| judge(ratio, &format!("{claim} ({})", ratio.name()))).to_vec()
}

fn figure(name: &str, title: &str, lines: &[Line], claims: Vec<Claim>) -> Figure {
    Figure {
        name: name.to_owned(),
        title: title.to_owned(),
        axes: ("copies beside the original".to_owned(), "ratio to the work queue, %".to_owned()),
        curves: Ratio::ALL
            .iter()
            .flat_map(|ratio| lines.iter().map(|line| line.curve(*ratio)))
            .collect(),
        marks: Vec::new(),
        claims,
        remarks: Vec::new(),
    }
}

/// Figure 1: 100 nodes, 1,000 tasks of size 100, four speed ranges.
pub fn figure_1(settings: &Settings) -> Figure {
    let lines = SPEEDS.map(|speed| {
        let setting = Setting::new(100, 1_000, 100.0, speed);
        Line::of(format!("speeds 1 to {speed}"), &setting, settings, settings.runs)
    });
    let place = "section 4.2, figure 1";
    let mut claims = under_both("the ratio rises with the copies R", |ratio, claim| {
        direction(place, claim, &steps_along(&lines, ratio))
    });
    claims.extend(under_both("the ratio rises with the range of speeds", |ratio, claim| {
        direction(place, claim, &steps_across(&lines, ratio))
    }));
    figure("1", "Ratio to the work queue by copies and range of speeds", &lines, claims)
}

/// Figure 2: task sizes from 1 to 20, 40, 60 and 80. Nodes, tasks and speeds are not stated; we use
/// those of figure 1 with speeds from 1 to 16.
pub fn figure_2(settings: &Settings) -> Figure {
    let lines = [20.0, 40.0, 60.0, 80.0].map(|size| {
        let (nodes, tasks) = (settings.figure_2_nodes, settings.figure_2_tasks);
        let mut setting = Setting::new(nodes, tasks, size, settings.figure_2_speed);
        setting.sizes = settings.figure_2_sizes.bounds(size);
        let (from, to) = setting.sizes;
        Line::of(format!("sizes {from} to {to}"), &setting, settings, settings.runs)
    });
    let claims = under_both("the ratio rises with the range of task sizes", |ratio, claim| {
        direction("section 4.2, figure 2", claim, &steps_across(&lines, ratio))
    });
    Figure {
        remarks: vec![format!(
            "The paper does not state nodes, tasks and speeds; {}, {} and 1 to {} are taken.",
            settings.figure_2_nodes, settings.figure_2_tasks, settings.figure_2_speed
        )],
        ..figure("2", "Ratio to the work queue by copies and range of sizes", &lines, claims)
    }
}

/// The largest and smallest mean that the paper prints for a figure, and a claim about the
/// direction.
fn extremes(
    settings: &Settings,
    place: &str,
    lines: &[Line],
    (largest, smallest): (Published, Published),
) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (published, word, is_largest) in [(largest, "largest", true), (smallest, "smallest", false)]
    {
        claims.extend(under_both(&format!("{word} mean ratio, %"), |ratio, claim| {
            let found = published.beside(place, claim, &extreme(lines, ratio, is_largest));
            if settings.is_fitted() { found.fitted("period_s") } else { found }
        }));
    }
    claims
}

/// Marks the largest and smallest mean that the paper prints. The paper does not say at which
/// points; its sentences suggest unlimited copies for the largest and one copy for the smallest.
fn with_extremes(figure: Figure, [largest, smallest]: [(&str, f64); 2]) -> Figure {
    let curve = |line: &str| format!("{line}, {}", Ratio::SpeedUp.name());
    Figure {
        marks: vec![
            mark(&curve(largest.0), "unlimited", largest.1),
            mark(&curve(smallest.0), "1", smallest.1),
        ],
        remarks: vec![format!(
            "The paper prints the largest ({} %) and the smallest mean ({} %) without their points; \
             they are marked where its sentences place them.",
            largest.1, smallest.1
        )],
        ..figure
    }
}

/// Figure 3: 10,000 tasks of size 100, speeds 1 to 16, 100 to 400 nodes.
pub fn figure_3(settings: &Settings) -> Figure {
    let lines = [100, 200, 300, 400].map(|nodes| {
        let setting = Setting::new(nodes, 10_000, 100.0, 16.0);
        Line::of(format!("{nodes} nodes"), &setting, settings, settings.tenth())
    });
    let place = "section 4.2, figure 3";
    let published = (Published::mean(24.75, 0.01, 10).against(0.0), Published::mean(0.0, 0.01, 10));
    let mut claims = extremes(settings, place, &lines, published);
    claims.extend(under_both("the ratio rises with the nodes", |ratio, claim| {
        direction(place, claim, &steps_across(&lines, ratio))
    }));
    let title = "Ratio to the work queue by copies and nodes";
    with_extremes(figure("3", title, &lines, claims), [("400 nodes", 24.75), ("100 nodes", 0.0)])
}

/// Figure 4: 100 nodes, 10,000 to 40,000 tasks of size 100, speeds 1 to 16.
pub fn figure_4(settings: &Settings) -> Figure {
    let lines = [10_000, 20_000, 30_000, 40_000].map(|tasks| {
        let setting = Setting::new(100, tasks, 100.0, 16.0);
        Line::of(format!("{tasks} tasks"), &setting, settings, settings.tenth())
    });
    let place = "section 4.2, figure 4";
    let published = (
        Published::mean(6.66, 0.01, 10).against(0.0),
        Published::mean(0.05, 0.01, 10).against(0.0),
    );
    let mut claims = extremes(settings, place, &lines, published);
    claims.extend(under_both("the ratio falls with the tasks", |ratio, claim| {
        let mut falls = steps_across(&lines, ratio);
        falls.iter_mut().flat_map(|cell| &mut cell.values).for_each(|value| *value = -*value);
        direction(place, claim, &falls)
    }));
    let title = "Ratio to the work queue by copies and tasks";
    with_extremes(
        figure("4", title, &lines, claims),
        [("10000 tasks", 6.66), ("40000 tasks", 0.05)],
    )
}

/// Runs all six figures.
pub fn reproduce(settings: &Settings) -> Vec<Figure> {
    let figures: [fn(&Settings) -> Figure; 6] =
        [figure_1, figure_2, figure_3, figure_4, figure_5, figure_6];
    figures.map(|figure| figure(settings)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Verdict;

    /// With few runs, tests only what always holds.
    #[test]
    fn the_figures_have_the_shape_of_the_paper() {
        let settings = Settings { runs: 5, ..Settings::default() };
        let figures = reproduce(&settings);
        assert_eq!(figures.len(), 6);
        let last = |figure: usize, curve: usize| {
            figures[figure].curves[curve].points.last().unwrap().value.mean
        };
        assert!(last(0, 0) < last(0, 3), "wider speeds gain more");
        assert!(last(2, 0) < last(2, 3), "more nodes gain more");
        assert!(last(3, 3) < last(3, 0), "more tasks gain less");
        assert_eq!(reproduce(&settings), figures, "the same settings give the same numbers");
    }

    #[test]
    fn numbers_that_the_period_was_fitted_to_are_no_evidence() {
        let verdicts = |period_s: f64| {
            let figure = figure_4(&Settings { runs: 2, period_s, ..Settings::default() });
            figure.claims.iter().map(|claim| claim.verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(30.0)[..4], [Verdict::Fitted; 4]);
        assert!(!verdicts(70.0).contains(&Verdict::Fitted));
    }

    #[test]
    fn all_copies_do_more_work_than_the_losing_ones() {
        let figure = figure_6(&Settings { runs: 2, ..Settings::default() });
        for (all, losing) in figure.curves[0].points.iter().zip(&figure.curves[1].points) {
            assert!(losing.value.mean < all.value.mean, "{all:?} {losing:?}");
        }
    }

    #[test]
    fn whole_speeds_are_whole() {
        let settings = Settings { speeds: SpeedLaw::Whole, ..Settings::default() };
        let cluster = Setting::new(100, 1, 1.0, 4.0).cluster(&settings, 3);
        assert!(cluster.speed.iter().all(|speed| [1.0, 2.0, 3.0, 4.0].contains(speed)));
    }

    /// The claims of the paper: place, number (none for a sentence), and the number of readings.
    #[test]
    fn every_claim_has_a_row_and_no_row_is_without_a_claim() {
        let claims: [(&str, Option<f64>, usize); 11] = [
            ("section 4.2, figure 1", None, 2), // rises with R
            ("section 4.2, figure 1", None, 2), // rises with the range of speeds
            ("section 4.2, figure 2", None, 2), // rises with the range of sizes
            ("section 4.2, figure 3", Some(24.75), 2),
            ("section 4.2, figure 3", Some(0.0), 2),
            ("section 4.2, figure 3", None, 2), // rises with nodes
            ("section 4.2, figure 4", Some(6.66), 2),
            ("section 4.2, figure 4", Some(0.05), 2),
            ("section 4.2, figure 4", None, 2), // falls with tasks
            ("section 4.3, figure 5", None, 1), // forward beats reverse
            ("section 4.3, figure 6", Some(5.0), 1),
        ];
        let rows = reproduce(&Settings { runs: 1, ..Settings::default() });
        let rows = rows.iter().flat_map(|figure| &figure.claims);
        let rows: Vec<_> = rows.map(|claim| (claim.place.as_str(), claim.published)).collect();
        let expected = claims.iter().flat_map(|&(place, published, readings)| {
            std::iter::repeat_n((place, published), readings)
        });
        assert_eq!(rows, expected.collect::<Vec<_>>());
    }

    #[test]
    fn sizes_of_one_mean_differ_in_their_range_alone() {
        for size in [20.0, 40.0, 60.0, 80.0] {
            assert_eq!(SizeLaw::FromOne.bounds(size), (1.0, size));
            let (from, to) = SizeLaw::OneMean.bounds(size);
            assert_eq!((to - from, from + to), (size - 1.0, 81.0));
        }
    }
}

//! `jobfate sweep`: what killing hopeless tasks earlier would have saved, and whom it would have
//! harmed.

use std::collections::BTreeSet;

use anyhow::Result;
use arrow::record_batch::RecordBatch;
use clap::Args;
use serde_json::{Value, json};

use super::account::{CpuChoice, prepare};
use super::exit::Usage;
use super::render::{Frame, six_digits};
use super::store::{self, Answer};
use super::{AnswerArgs, console};
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone, outcome_tone};
use crate::lake::Lake;
use crate::studies::kill_sweep::{
    PlanePoint, Sweep, SweepRow, harmed_jobs, plane, sweep, total_cpu,
};
use crate::studies::ledger::View;
use crate::studies::rules::{Rule, RuleGrid};
use crate::studies::selection::{bootstrap, select};
use crate::units::MICROS_PER_DAY;

/// Sweep the threshold at which hopeless tasks are killed
///
/// A task is condemned at its event number T + 1. Saved is the CPU of its attempts after that
/// instant; harmed are finished jobs with a condemned task. `published` CPU is known per job
/// only: its saved part is in proportion to the measured one.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate sweep --lake lake\n  jobfate sweep --lake lake --cpu slots --thresholds 5,10,20..=100:20\n  jobfate sweep --lake lake --cpu slots --rules events,failures,events+failures=3 --out results\n  jobfate sweep --lake lake --cpu slots --train-until 0.5 --price 3600"
)]
pub(crate) struct SweepArgs {
    /// Thresholds of events, a list of numbers and ranges
    ///
    /// `FIRST..=LAST:STEP` or numbers, for example `10..=400:10` or `5,10,20..=100:20`.
    #[arg(long, value_name = "LIST", value_parser = parse_grid, default_value = "10..=400:10")]
    pub thresholds: Grid,

    /// Rules to compare, the first is the one shown
    ///
    /// events (more than T events), failures (so many FAIL in a row), dead-time (so many seconds
    /// in attempts that came to nothing), restarts (so many within an hour). `events+failures=3`
    /// sweeps the first and demands the others as well; `events~priority=9~class=3` spares tasks
    /// by priority, class or user. --thresholds is the grid of events; the
    /// other rules have grids of their own.
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', default_value = "events")]
    pub rules: Vec<RuleGrid>,

    #[command(flatten)]
    pub choice: CpuChoice,

    /// Choose on the first DAYS of the trace, score on the rest
    ///
    /// For each rule the parameter with the largest gain among jobs that ended by then is scored
    /// on jobs submitted afterwards. The gain is the net CPU saved less --price for each harmed
    /// job.
    #[arg(long, value_name = "DAYS")]
    pub train_until: Option<f64>,

    /// Price of a harmed job, in CPU-seconds
    #[arg(long, value_name = "CPU_SECONDS", default_value_t = 3600.0)]
    pub price: f64,

    /// Resamplings of jobs for confidence intervals, 0 for none
    #[arg(long, value_name = "ROUNDS", default_value_t = 0)]
    pub bootstrap: usize,

    /// Seed of the resampling
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// List the harmed jobs of one threshold instead of the sweep
    #[arg(long, value_name = "THRESHOLD")]
    pub harmed: Option<i64>,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// Thresholds, ascending, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grid(pub Vec<i64>);

/// More days than any trace has.
const DAYS_MAX: f64 = 36_500.0;

/// Most points of a grid.
const GRID_MAX: usize = 10_000;

fn parse_grid(text: &str) -> Result<Grid, String> {
    let bad = || format!("`{text}` is no list of thresholds such as `10..=400:10` or `5,10,20`");
    let number =
        |text: &str| text.trim().parse::<i64>().ok().filter(|number| 0 < *number).ok_or_else(bad);
    let mut grid = BTreeSet::new();
    for item in text.split(',') {
        match item.split_once("..=") {
            None => {
                grid.insert(number(item)?);
            }
            Some((first, rest)) => {
                let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
                let (first, last, step) = (number(first)?, number(last)?, number(step)?);
                if last < first {
                    return Err(bad());
                }
                let mut next = first;
                while next <= last && grid.len() <= GRID_MAX {
                    grid.insert(next);
                    next = next.saturating_add(step);
                }
            }
        }
        if GRID_MAX < grid.len() {
            return Err(format!("`{text}` has more than {GRID_MAX} thresholds"));
        }
    }
    Ok(Grid(grid.into_iter().collect()))
}

/// The rules with the grid of events put in.
fn rules_of(args: &SweepArgs) -> Vec<RuleGrid> {
    let mut rules = args.rules.clone();
    for rule in rules.iter_mut().filter(|rule| rule.rule == Rule::Events) {
        rule.grid.clone_from(&args.thresholds.0);
    }
    // The threshold that is asked about by name is swept as well.
    if let Some(threshold) = args.harmed
        && let Err(place) = rules[0].grid.binary_search(&threshold)
    {
        rules[0].grid.insert(place, threshold);
    }
    rules
}

pub(crate) fn run(args: &SweepArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?;
    let rules = rules_of(args);
    let prepared = prepare(&lake, windows, args.choice.cpu, &rules)?;
    let view = prepared.view(args.choice);
    let sweeps: Vec<Sweep> =
        rules.iter().enumerate().map(|(idx, rule)| sweep(&view, idx, rule)).collect();
    let mut json = json_of(&view, &sweeps);
    if let Some(days) = args.train_until {
        if !(0.0..=DAYS_MAX).contains(&days) {
            return Err(Usage(format!("--train-until {days} is no number of days")).into());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "days of a trace"
        )]
        let split_us = 600_000_000 + (days * MICROS_PER_DAY as f64) as i64;
        let selections = select(&view, &rules, split_us, args.price);
        for choice in &selections {
            console::note(format!(
                "{}: chosen {} on {} jobs; on the {} later jobs net {} {}, {} jobs harmed (best in hindsight {}: net {})",
                choice.rule,
                choice
                    .train
                    .threshold
                    .map_or_else(|| "never".to_owned(), |threshold| threshold.to_string()),
                console::grouped(choice.train_jobs),
                console::grouped(choice.test_jobs),
                six_digits(choice.test.net_cpu),
                view.cpu.unit(view.study.source),
                choice.test.harmed_jobs,
                choice
                    .hindsight
                    .threshold
                    .map_or_else(|| "never".to_owned(), |threshold| threshold.to_string()),
                six_digits(choice.hindsight.net_cpu),
            ));
        }
        json["selection"] = json!(selections);
    }
    if 0 < args.bootstrap {
        json["intervals"] = json!(bootstrap(&view, 0, &rules[0], args.bootstrap, args.seed));
    }
    let table = match args.harmed {
        Some(threshold) => harmed_table(&view, &rules[0], threshold),
        None => table_of(&sweeps[0]),
    };
    let answer = Answer {
        name: "sweep",
        table: &table,
        settings: json!({
            "cpu": args.choice.cpu, "classes": args.choice.classes, "windows": windows,
            "rules": rules.iter().map(ToString::to_string).collect::<Vec<String>>(),
            "thresholds": args.thresholds.0, "price": args.price, "train_until_days": args.train_until,
            "bootstrap_rounds": args.bootstrap, "seed": args.seed,
        }),
        charts: charts(&view, &sweeps),
        json,
    };
    store::give(&answer, &lake, &args.answer)
}

/// The value of the contract, with the other rules and the plane beside it.
pub(crate) fn json_of(view: &View<'_>, sweeps: &[Sweep]) -> Value {
    json!({
        "cpu": view.cpu,
        "classes": view.classes,
        "unit": view.cpu.unit(view.study.source),
        "total_cpu": total_cpu(view),
        "rows": sweeps[0].rows,
        "rules": &sweeps[1..],
        "plane": plane(view, sweeps),
    })
}

pub(crate) fn table_of(sweep: &Sweep) -> RecordBatch {
    let rows = || sweep.rows.iter();
    let outcomes: Vec<String> =
        sweep.rows.first().map_or_else(Vec::new, |row| row.saved_share.keys().cloned().collect());
    let mut frame = Frame::default()
        .int("threshold", rows().map(|row| row.threshold))
        .count("condemned_tasks", rows().map(|row| sum_of(&row.condemned_tasks)));
    for outcome in outcomes.iter().filter(|outcome| *outcome != "finished") {
        let is_empty = rows().all(|row| row.saved_cpu[outcome].as_f64() == Some(0.0));
        if !is_empty {
            frame = frame.float(
                &format!("saved_{outcome}"),
                rows().map(|row| row.saved_share[outcome].as_f64()),
            );
        }
    }
    frame
        .count("harmed_jobs", rows().map(|row| row.harmed_jobs))
        .float("harmed_jobs_share", rows().map(|row| row.harmed_jobs_share))
        .float("destroyed_cpu_share", rows().map(|row| row.destroyed_cpu_share))
        .float("net_cpu", rows().map(|row| Some(row.net_cpu)))
        .batch()
}

fn sum_of(counts: &serde_json::Map<String, Value>) -> u64 {
    counts.values().filter_map(Value::as_u64).sum()
}

fn harmed_table(view: &View<'_>, rule: &RuleGrid, threshold: i64) -> RecordBatch {
    let step = rule.grid.iter().position(|&step| step == threshold).expect("the grid holds it");
    let harmed = harmed_jobs(view, 0, step);
    Frame::default()
        .int("job_id", harmed.iter().map(|job| job.job_id))
        .text("user", harmed.iter().map(|job| job.user.as_deref().unwrap_or("-")))
        .text("job_name", harmed.iter().map(|job| job.job_name.as_deref().unwrap_or("-")))
        .count("condemned_tasks", harmed.iter().map(|job| job.condemned_tasks))
        .float("destroyed_cpu", harmed.iter().map(|job| Some(job.destroyed_cpu)))
        .batch()
}

/// Figures 4.2.1 and 4.2.2 of the paper of 2017, and all rules in one plane.
pub(crate) fn charts(view: &View<'_>, sweeps: &[Sweep]) -> Vec<(String, Chart)> {
    let definition = format!("CPU time: {}; outcomes told by {}.", view.cpu, view.classes);
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let curve = |value: &dyn Fn(&SweepRow) -> Option<f64>| -> Vec<(f64, f64)> {
        sweeps[0].rows.iter().filter_map(|row| Some((row.threshold as f64, value(row)?))).collect()
    };
    let line = |name: &str, points, tone| Line {
        name: name.to_owned(),
        points,
        band: Vec::new(),
        tone,
        stroke: Stroke::Marked,
    };
    let saved = ["failed", "killed", "running", "evicted", "other"]
        .into_iter()
        .filter(|outcome| view.outcomes().contains(outcome))
        .map(|outcome| {
            let share = curve(&|row| row.saved_share[outcome].as_f64().map(|share| share * 100.0));
            line(outcome, share, outcome_tone(outcome))
        })
        .collect();
    let threshold_axis = format!("threshold T ({})", sweeps[0].parameter);
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let harmed = curve(&|row| Some(row.harmed_jobs as f64));
    vec![
        (
            "sweep-saved".to_owned(),
            Chart::Lines(LineChart {
                title: "CPU saved by killing at T".to_owned(),
                caption: format!(
                    "CPU after the kill as a share of all CPU of jobs of that outcome. {definition}"
                ),
                x_axis: threshold_axis.clone(),
                y_axis: "CPU saved (%)".to_owned(),
                x_scale: Scale::Linear,
                lines: saved,
            }),
        ),
        (
            "sweep-harmed".to_owned(),
            Chart::Lines(LineChart {
                title: "Finished jobs harmed by killing at T".to_owned(),
                caption: "Finished jobs with at least one condemned task.".to_owned(),
                x_axis: threshold_axis,
                y_axis: "harmed jobs".to_owned(),
                x_scale: Scale::Linear,
                lines: vec![line("", harmed, Tone::Vermilion)],
            }),
        ),
        ("sweep-plane".to_owned(), plane_chart(view, sweeps, &definition)),
    ]
}

fn plane_chart(view: &View<'_>, sweeps: &[Sweep], definition: &str) -> Chart {
    let points = plane(view, sweeps);
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let at =
        |point: &PlanePoint| (point.harmed_jobs as f64, point.net_share.unwrap_or(0.0) * 100.0);
    let bound = |name: &str, net, tone| Line {
        name: name.to_owned(),
        points: vec![(0.0, net)],
        band: Vec::new(),
        tone,
        stroke: Stroke::Marked,
    };
    let front = Line {
        name: "Pareto front".to_owned(),
        points: points.iter().filter(|point| point.is_on_front).map(at).collect(),
        band: Vec::new(),
        tone: Tone::Grey,
        stroke: Stroke::Steps,
    };
    let bounds = [bound("never kill", 0.0, Tone::Ink), bound("oracle", 100.0, Tone::Sky), front];
    let lines = sweeps
        .iter()
        .zip(Tone::SERIES.iter().cycle())
        .map(|(sweep, &tone)| Line {
            name: sweep.rule.clone(),
            points: points.iter().filter(|point| point.rule == sweep.rule).map(at).collect(),
            band: Vec::new(),
            tone,
            stroke: Stroke::Marked,
        })
        .chain(bounds)
        .collect();
    Chart::Lines(LineChart {
        title: "CPU saved against finished jobs harmed".to_owned(),
        caption: format!(
            "Net CPU saved as a share of the CPU of jobs that did not finish; each point is one parameter of a rule. Bounds: never killing is (0, 0), an oracle reaches 100 % without harm. {definition}"
        ),
        x_axis: "finished jobs harmed".to_owned(),
        y_axis: "net CPU saved (%)".to_owned(),
        x_scale: Scale::Linear,
        lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_lists_and_ranges() {
        assert_eq!(parse_grid("10..=40:10").unwrap().0, [10, 20, 30, 40]);
        assert_eq!(parse_grid("5,20..=40:15,7").unwrap().0, [5, 7, 20, 35]);
        assert_eq!(parse_grid("3..=5").unwrap().0, [3, 4, 5]);
        for odd in ["", "0", "-1", "a", "10..=5", "1..=9:0", "10..40", "1..=9999999"] {
            assert!(parse_grid(odd).is_err(), "{odd}");
        }
    }
}

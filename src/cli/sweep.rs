//! `jobfate sweep`: what killing hopeless tasks earlier would have saved, and whom it would have
//! harmed.

use crate::answers::sweep::{
    SweepPlan, answer, check_sides, harmed_table, put_details, selection_line, selection_table,
    sweep_all, table_of,
};
use std::collections::BTreeSet;

use clap::Args;

use super::account::{CpuChoice, study_of};
use super::engine::EngineArgs;
use super::{AnswerArgs, AttemptArgs, Format, console};
use crate::answers::edges;
use crate::cli::shown;
use crate::facts::window::first_event_us;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::store::Origin;
use crate::results::view::View;
use crate::studies::fold::Asked;
use crate::studies::ledger::GroupBy;
use crate::studies::rules::{Rule, RuleGrid};
use crate::units::MICROS_PER_DAY;

/// Sweep the threshold at which hopeless tasks are killed
///
/// A task is condemned at its event number T + 1. Saved is the CPU of its attempts after that
/// instant; harmed are finished jobs with a condemned task. `published` CPU is known per job
/// only: its saved part is in proportion to the measured one.
///
/// Shares are of the loaded tables: `saved_*` of the CPU of all jobs of the outcome,
/// `harmed_jobs_share` of the finished jobs with tasks loaded, `destroyed_cpu_share` of the CPU of
/// finished jobs, `net_share` of the CPU of jobs that did not finish. `largest_saved_share` and
/// `largest_destroyed_share` are the part that one job makes up of the CPU saved, or destroyed, in
/// all: near 1, the sum is that of a single job. `condemned_at_end` counts condemned tasks that had
/// finished by the instant of their kill: they save nothing, yet harm their jobs. Without
/// `job_events` no outcome is known, and what depends on one stays empty.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate sweep --lake lake\n  jobfate sweep --lake lake --cpu slots --thresholds 5,10,20..=100:20\n  jobfate sweep --lake lake --cpu slots --rules events,failures,events+failures=3 --out results\n  jobfate sweep --lake lake --rules events,failures,restarts --train-until 0.5\n  jobfate sweep --lake lake --cpu slots --bootstrap 1000 --out results\n  jobfate sweep --lake lake --cpu slots --thresholds 10,50 --group-by priority"
)]
pub(crate) struct SweepArgs {
    /// Thresholds of events, a list of numbers and ranges
    ///
    /// `FIRST..=LAST:STEP` or numbers, for example `10..=400:10` or `5,10,20..=100:20`.
    #[arg(long, value_name = "LIST", value_parser = parse_grid, default_value = "10..=400:10")]
    pub thresholds: Grid,

    /// Rules to compare; --harmed applies to the first
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
    /// DAYS count from the first event of the loaded tasks. The parameter of each rule, and the best of all rules together, with the largest gain
    /// among jobs that ended by then are scored on jobs submitted afterwards, beside the best
    /// choice in hindsight. Only jobs with tasks loaded count; with none of them on either side the
    /// choice is refused. The gain is the net CPU saved less --price for each harmed job. A
    /// second table shows them, `sweep-selection.csv` in --out.
    #[arg(long, value_name = "DAYS")]
    pub train_until: Option<f64>,

    /// Price of a harmed job, in CPU-seconds
    #[arg(long, value_name = "CPU_SECONDS", default_value_t = 3600.0, value_parser = parse_price)]
    pub price: f64,

    /// Resamplings of jobs for confidence intervals, 0 for none
    ///
    /// Each parameter of each rule gets its 95 % interval (columns `_low` and `_high`, bands and
    /// whiskers in the charts). 1000 are usual, 100,000 the most.
    #[arg(long, value_name = "ROUNDS", default_value_t = 0, value_parser = parse_rounds)]
    pub bootstrap: usize,

    /// Seed of the resampling
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,

    /// Split the sweep by class, priority or user of the jobs
    ///
    /// A row per group, rule and threshold; shares are of the group. All groups together are in the
    /// `rows` of the JSON, each group in its `groups`.
    #[arg(long, value_name = "KEY", value_enum, conflicts_with = "harmed")]
    pub group_by: Option<GroupBy>,

    /// Spare tasks that have finished when they are condemned
    ///
    /// A task whose event T + 1 is its own FINISH is condemned by the published rule, saves nothing,
    /// and makes its job harmed. With this flag it is not condemned.
    #[arg(long)]
    pub spare_finishing: bool,

    /// List the harmed jobs of one threshold instead of the sweep
    #[arg(long, value_name = "THRESHOLD", value_parser = clap::value_parser!(i64).range(1..))]
    pub harmed: Option<i64>,

    #[command(flatten)]
    pub attempts: AttemptArgs,

    #[command(flatten)]
    pub engine: EngineArgs,

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

pub(crate) fn parse_grid(text: &str) -> Result<Grid, String> {
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
                let further = |&number: &i64| number.checked_add(step);
                let numbers = std::iter::successors(Some(first), further);
                grid.extend(numbers.take_while(|number| *number <= last).take(GRID_MAX + 1));
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
    let mut rules: Vec<RuleGrid> = Vec::new();
    for rule in &args.rules {
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
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

fn parse_price(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(price) if 0.0 <= price && price.is_finite() => Ok(price),
        _ => Err("a price is a number of CPU-seconds from 0 on".to_owned()),
    }
}

/// Resamplings at most.
const ROUNDS_MAX: usize = 100_000;

fn parse_rounds(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(rounds) if rounds <= ROUNDS_MAX => Ok(rounds),
        _ => Err(format!("a number of rounds from 0 to {ROUNDS_MAX}")),
    }
}

/// What the flags ask of the lake.
pub(crate) fn asked(args: &SweepArgs, lake: &Lake) -> Result<Asked> {
    let days = args.train_until;
    if days.is_some_and(|days| !(0.0..=DAYS_MAX).contains(&days)) {
        let days = days.unwrap_or_default();
        return Err(Usage(format!("--train-until {days} is no number of days")).into());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "days of a trace"
    )]
    let split_us = days.map(|days| first_event_us(lake) + (days * MICROS_PER_DAY as f64) as i64);
    let rules = rules_of(args);
    let place = |threshold| rules[0].grid.binary_search(&threshold).expect("the grid holds it");
    Ok(Asked {
        all_harmed_at: args.harmed.map(place),
        rules,
        split_us,
        rounds: args.bootstrap,
        seed: args.seed,
        sweep_by: args.group_by,
        spares_finished: args.spare_finishing,
        ..args.choice.asked(lake)
    })
}

/// What the flags ask beside the rules.
pub(crate) fn plan(args: &SweepArgs) -> SweepPlan {
    SweepPlan {
        thresholds: args.thresholds.0.clone(),
        price: args.price,
        train_until_days: args.train_until,
        bootstrap_rounds: args.bootstrap,
        seed: args.seed,
        group_by: args.group_by,
        spare_finishing: args.spare_finishing,
    }
}

pub(crate) fn run(args: &SweepArgs) -> Result<()> {
    let lake = Lake::open(&args.answer.lake)?;
    let windows = super::windows(&lake, &args.answer)?.closing(args.attempts.open_attempts);
    let asked = asked(args, &lake)?;
    let mut files = shown::files(args.answer.out.as_deref(), "sweep")?;
    let study = study_of(&lake, windows, &asked, &args.engine)?;
    check_sides(&study)?;
    console::note(edges::of_study(&study));
    let swept = sweep_all(&study, args.price);
    let table = match study.asked.all_harmed_at {
        Some(step) => harmed_table(&study, step),
        None => table_of(swept.shown(), study.unit()),
    };
    let selected = swept.selection.as_ref().map(|found| (found, selection_table(found)));
    let answer = answer(&plan(args), windows, &study, &swept, &table);
    if let Some(files) = &mut files {
        put_details(&study, &swept, selected.as_ref().map(|found| &found.1), files)?;
    }
    shown::give(&answer, files, &Origin::of(&lake), &args.answer.form())?;
    if let Some((selection, table)) = &selected {
        console::note(selection_line(selection));
        if args.answer.format == Format::Table {
            console::data("\n")?;
            shown::show_table(table, &View::default())?;
        }
    }
    Ok(())
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

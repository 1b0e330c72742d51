//! What `sweep` asks: rules, thresholds, and how far the answer is to be trusted.
//!
//! In: flags. Out: a plan, and what it asks of a lake.

use std::collections::BTreeSet;

use crate::answers::account::CpuChoice;
use crate::facts::window::first_event_us;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::studies::fold::Asked;
use crate::studies::ledger::GroupBy;
use crate::studies::rules::{Rule, RuleGrid};
use crate::units::MICROS_PER_DAY;

/// What a sweep asks.
#[derive(clap::Args, Clone, Debug)]
pub struct SweepPlan {
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
}

/// Thresholds, ascending, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid(pub Vec<i64>);

/// More days than any trace has.
pub(crate) const DAYS_MAX: f64 = 36_500.0;

/// Most points of a grid.
pub(crate) const GRID_MAX: usize = 10_000;

pub fn parse_grid(text: &str) -> Result<Grid, String> {
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
pub(crate) fn rules_of(plan: &SweepPlan) -> Vec<RuleGrid> {
    let mut rules: Vec<RuleGrid> = Vec::new();
    for rule in &plan.rules {
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
    for rule in rules.iter_mut().filter(|rule| rule.rule == Rule::Events) {
        rule.grid.clone_from(&plan.thresholds.0);
    }
    // The threshold that is asked about by name is swept as well.
    if let Some(threshold) = plan.harmed
        && let Err(place) = rules[0].grid.binary_search(&threshold)
    {
        rules[0].grid.insert(place, threshold);
    }
    rules
}

pub(crate) fn parse_price(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(price) if 0.0 <= price && price.is_finite() => Ok(price),
        _ => Err("a price is a number of CPU-seconds from 0 on".to_owned()),
    }
}

/// Resamplings at most.
pub(crate) const ROUNDS_MAX: usize = 100_000;

pub(crate) fn parse_rounds(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(rounds) if rounds <= ROUNDS_MAX => Ok(rounds),
        _ => Err(format!("a number of rounds from 0 to {ROUNDS_MAX}")),
    }
}

/// What the flags ask of the lake.
pub fn asked(plan: &SweepPlan, lake: &Lake) -> Result<Asked> {
    let days = plan.train_until;
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
    let rules = rules_of(plan);
    let place = |threshold| rules[0].grid.binary_search(&threshold).expect("the grid holds it");
    Ok(Asked {
        all_harmed_at: plan.harmed.map(place),
        rules,
        split_us,
        rounds: plan.bootstrap,
        seed: plan.seed,
        sweep_by: plan.group_by,
        spares_finished: plan.spare_finishing,
        ..plan.choice.asked(lake)
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

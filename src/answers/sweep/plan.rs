//! The plan of `sweep`: rules, thresholds, and intervals.
//!
//! In: flags. Out: a plan, and its request to a lake.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::answers::account::CpuChoice;
use crate::answers::grouped::check_group;
use crate::answers::study::{Definitions, Plan};
use crate::answers::words::{parsed_list, readers, text};
use crate::facts::window::first_event_us;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::studies::fold::Asked;
use crate::studies::ledger::GroupBy;
use crate::studies::rules::{Rule, RuleGrid, RuleList};
use crate::units::MICROS_PER_DAY;

/// What a sweep asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SweepPlan {
    /// Thresholds of events, a list of numbers and ranges
    ///
    /// `FIRST..=LAST:STEP` or numbers, for example `10..=400:10` or `5,10,20..=100:20`.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LIST", value_parser = parse_grid, default_value = "10..=400:10"))]
    #[serde(with = "text")]
    pub thresholds: Grid,

    /// Rules to compare; --harmed applies to the first rule
    #[cfg_attr(feature = "cli", arg(long, value_name = "RULE,...", default_value = "events", long_help = RULES_HELP))]
    #[serde(serialize_with = "write_rules", deserialize_with = "read_rules")]
    pub rules: Vec<RuleList>,

    #[cfg_attr(feature = "cli", command(flatten))]
    #[serde(skip)]
    pub choice: CpuChoice,

    /// Choose on the first DAYS of the trace, test on the rest
    ///
    /// DAYS count from the first event of the loaded tasks. For each rule, and over all rules, the
    /// parameter with the largest gain on jobs that ended in these days is tested on jobs submitted
    /// later, and compared with the best choice in hindsight. Only jobs with tasks loaded count;
    /// both sides need at least one. The gain is the net CPU saved minus --price for each harmed
    /// job. A second table shows the choices, `sweep-selection.csv` in --out. Its row `all rules,
    /// gentler` is the choice that harmed fewest of those that saved at least 90 % of the best, if it
    /// harmed at most half as many.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DAYS", value_parser = parse_days))]
    #[serde(deserialize_with = "days")]
    pub train_until: Option<f64>,

    /// Price of a harmed job, in CPU-seconds
    #[cfg_attr(feature = "cli", arg(long, value_name = "CPU_SECONDS", default_value_t = 3600.0, value_parser = parse_price))]
    #[serde(deserialize_with = "price")]
    pub price: f64,

    /// Resamplings of jobs for confidence intervals, 0 for none
    ///
    /// In a resampling each job counts as often as a draw of the Poisson distribution of mean 1.
    /// Each parameter of each rule gets a 95 % interval (columns `_low` and `_high`, bands and
    /// whiskers in charts). The choice of --train-until also gets intervals, over resampled jobs of
    /// the test. 1000 is usual; the least is 20, the most 100,000.
    #[cfg_attr(feature = "cli", arg(long, value_name = "ROUNDS", default_value_t = 0, value_parser = parse_rounds))]
    #[serde(deserialize_with = "rounds")]
    pub bootstrap: usize,

    /// Seed of the resampling
    #[cfg_attr(feature = "cli", arg(long, value_name = "SEED", default_value_t = 1, value_parser = crate::units::natural::<u64>))]
    pub seed: u64,

    /// Split the sweep by user, account, queue or other columns
    ///
    /// One row per group, rule and threshold; shares refer to the group. In the JSON, `rows` has
    /// all groups together, and `groups` has each group.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "KEY", value_enum, conflicts_with = "harmed")
    )]
    pub group_by: Option<GroupBy>,

    /// Do not condemn tasks that have finished
    ///
    /// The published rule also condemns a task whose event T + 1 is its own FINISH; this saves
    /// nothing, and harms its job. With this flag such a task is not condemned.
    #[cfg_attr(feature = "cli", arg(long))]
    pub spare_finishing: bool,

    /// List the harmed jobs of one threshold instead of the sweep
    #[cfg_attr(feature = "cli", arg(long, value_name = "THRESHOLD", value_parser = crate::units::whole(1..=i64::MAX)))]
    #[serde(skip)]
    pub harmed: Option<i64>,
}

/// The help of `--rules`, with a line about each.
#[cfg(feature = "cli")]
const RULES_HELP: &str = "Rules to compare; --harmed applies to the first rule

A rule is swept over its usual grid (for `events`: --thresholds), over a given grid \
(`failures={2,3,5}`), or at one threshold (`failures=3`). `events+failures=3` requires both; \
`events~priority=9~class=3` spares tasks by priority, class or `user=NAME` (with %2B for `+`, %2C \
for `,`, %20 for a blank). The priority of a task is the last that its rows have, its class and user \
are those of its job in `job_events`; failures of tasks that are spared do not count towards the limit of their job. A rule that ends a job condemns all of \
its tasks, including finished \
tasks. A policy of `jobfate replay` takes any of these rules after `kill:`.

- events: more than T events of the task
- failures: T FAIL of the task in a row
- dead-time: T seconds in unsuccessful attempts
- restarts: T within an hour
- k8s:backoff_limit=6: the job ends at its seventh failure; `on=fail+evict` counts evictions and \
lost tasks too, `per=task` counts and ends each task separately
- spark:max_failures=4: the job ends at the fourth failure of one task
- hadoop:max_attempts=4: the same
- slurm:limit=3600: an attempt ends after so many seconds; `slurm:limit=150,of=requested`: after \
so many per cent of the requested time. The time for which it was suspended does not count; logs do \
not record when that was, so it counts as spread evenly from start to end
- history:p=0.95,after=60: kills tasks 60 s after their first SCHEDULE if the chance that their \
job does not finish was at least 0.95 at its submission (rule `rate` of `jobfate predict`). \
`by=age` computes the chance again from the age of the task: at ages of 60 s, 10 min, 1 h, 6 h and \
1 d, and at each event; `by=events` also uses its events so far. Both learn from jobs that had \
ended by then (500 bytes more for each of them). With `per=job,tasks=3` a job ends once three of \
its tasks are condemned";

impl Plan for SweepPlan {
    fn define(&mut self, definitions: &Definitions) {
        self.choice = CpuChoice { cpu: definitions.cpu, classes: definitions.classes };
    }

    fn check(&self) -> Result<(), Usage> {
        let usual = Self::default();
        let rules = rules_of(self);
        let has_own_grid = |rule: &RuleGrid| rule.rule != Rule::Events || rule.is_given;
        if self.thresholds != usual.thresholds && rules.iter().all(has_own_grid) {
            let text = "--thresholds is for the rule `events` without thresholds of its own, \
                which --rules does not name";
            return Err(Usage(text.to_owned()));
        }
        Ok(())
    }

    /// An analysis fills in the number of resamplings after it has read its file.
    fn check_alone(&self) -> Result<(), Usage> {
        if self.seed != Self::default().seed && self.bootstrap == 0 {
            return Err(Usage("--seed is for --bootstrap, which is not given".to_owned()));
        }
        Ok(())
    }
}

impl Default for SweepPlan {
    /// The plan if the user gives no flag.
    fn default() -> Self {
        Self {
            thresholds: Grid((1..=40).map(|step| step * 10).collect()),
            rules: vec!["events".parse().expect("the rule has a grid by default")],
            choice: CpuChoice::default(),
            train_until: None,
            price: 3600.0,
            bootstrap: 0,
            seed: 1,
            group_by: None,
            spare_finishing: false,
            harmed: None,
        }
    }
}

readers! {
    price: f64 = parsed(parse_price);
    rounds: usize = parsed(parse_rounds);
    days: Option<f64> = parsed_if(parse_days);
}

/// Writes every rule as a separate word.
fn write_rules<S: Serializer>(rules: &[RuleList], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(rules.iter().flat_map(|list| &list.0).map(ToString::to_string))
}

fn read_rules<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<RuleList>, D::Error> {
    // Commas separate rules, and also the parameters of a rule. The parser of the list
    // distinguishes them.
    let pieces = parsed_list(source, |piece| Ok::<_, D::Error>(piece.to_owned()))?;
    let list = pieces.join(",").parse::<RuleList>().map_err(serde::de::Error::custom)?;
    Ok(list.0.into_iter().map(|rule| RuleList(vec![rule])).collect())
}

/// Thresholds in ascending order, without repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid(pub Vec<i64>);

/// An error: the text is not a list of thresholds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// The text does not have the form of a list.
    #[error("`{0}` is not a list of thresholds such as `10..=400:10` or `5,10,20`")]
    NotAList(String),
    /// There are too many thresholds.
    #[error("`{0}` has more than {GRID_MAX} thresholds")]
    TooMany(String),
}

impl FromStr for Grid {
    type Err = GridError;

    fn from_str(text: &str) -> Result<Self, GridError> {
        parse_grid(text)
    }
}

impl fmt::Display for Grid {
    /// Writes a range if all steps are the same, otherwise a list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [first, second, .., last]
                if self.0.windows(2).all(|pair| pair[1] - pair[0] == second - first) =>
            {
                write!(f, "{first}..={last}:{}", second - first)
            }
            numbers => {
                let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                f.write_str(&words.join(","))
            }
        }
    }
}

/// More days than in any trace.
const DAYS_MAX: f64 = 36_500.0;

/// The most thresholds of a grid.
pub(crate) const GRID_MAX: usize = 10_000;

pub fn parse_grid(text: &str) -> Result<Grid, GridError> {
    let bad = || GridError::NotAList(text.to_owned());
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
            return Err(GridError::TooMany(text.to_owned()));
        }
    }
    Ok(Grid(grid.into_iter().collect()))
}

/// The rules, each once. If `events` has no grid, it has the grid of `--thresholds`.
pub(crate) fn rules_of(plan: &SweepPlan) -> Vec<RuleGrid> {
    let mut rules: Vec<RuleGrid> = Vec::new();
    for rule in plan.rules.iter().flat_map(|list| &list.0) {
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
    for rule in rules.iter_mut().filter(|rule| rule.rule == Rule::Events && !rule.is_given) {
        rule.grid.clone_from(&plan.thresholds.0);
    }
    // The threshold of `--harmed` is added to the sweep.
    if let Some(threshold) = plan.harmed
        && let Err(place) = rules[0].grid.binary_search(&threshold)
    {
        rules[0].grid.insert(place, threshold);
    }
    rules
}

/// A higher price is a mistake: 12,500 machines use less in two years, in units of one machine.
const PRICE_MAX: f64 = 1e12;

pub(crate) fn parse_price(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(price) if (0.0..=PRICE_MAX).contains(&price) => Ok(price),
        _ => Err("a price is a number of CPU-seconds from 0 to 1e12".to_owned()),
    }
}

fn parse_days(text: &str) -> Result<f64, String> {
    let days = text.parse::<f64>().ok().filter(|days| (0.0..=DAYS_MAX).contains(days));
    days.ok_or_else(|| format!("`{text}` is not a number of days from 0 to {DAYS_MAX}"))
}

/// The fewest resamplings: fewer than 20 do not reach both ends of a 95 % interval.
const ROUNDS_MIN: usize = 20;

/// The most resamplings.
pub(crate) const ROUNDS_MAX: usize = 100_000;

pub(crate) fn parse_rounds(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Ok(0),
        Ok(rounds) if (ROUNDS_MIN..=ROUNDS_MAX).contains(&rounds) => Ok(rounds),
        _ => Err(format!("a number of rounds from {ROUNDS_MIN} to {ROUNDS_MAX}, or 0 for none")),
    }
}

/// The request of the flags to the lake.
///
/// # Errors
/// The lake does not record the groups, or an option has no effect.
pub fn asked(plan: &SweepPlan, lake: &Lake) -> Result<Asked> {
    plan.check()?;
    plan.check_alone()?;
    plan.group_by.map_or(Ok(()), |group| check_group(lake, group))?;
    let days = plan.train_until;
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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_grid_is_written_as_it_is_read(numbers in proptest::collection::btree_set(1_i64..60, 1..9)) {
            let grid = Grid(numbers.into_iter().collect());
            prop_assert_eq!(parse_grid(&grid.to_string()), Ok(grid));
        }
    }

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

//! `jobfate sweep`: what killing hopeless tasks earlier would have saved, and whom it would have
//! harmed.

use std::collections::{BTreeMap, BTreeSet};

use arrow::record_batch::RecordBatch;
use clap::Args;
use serde_json::{Value, json};

use super::account::{CpuChoice, keyed, study_of};
use super::engine::EngineArgs;
use super::sweep_charts::charts;
use super::view::View;
use super::{AnswerArgs, AttemptArgs, Format, console, edges};
use crate::cli::shown;
use crate::digits;
use crate::facts::window::{Windows, first_event_us};
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::store::{self, Answer, Files, Origin};
use crate::studies::fold::{Asked, Study};
use crate::studies::kill_sweep::{
    OF, Sweep, SweepRow, finished_jobs, harmed_jobs, plane, sweep, sweep_groups, total_cpu,
};
use crate::studies::ledger::{GroupBy, UNMATCHED};
use crate::studies::rules::{Rule, RuleGrid};
use crate::studies::selection::{Choice, Score, Selection, intervals, select, sides};
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

/// A sweep of several rules, how far it can be trusted, and what would have been chosen.
pub(crate) struct Swept {
    pub sweeps: Vec<Sweep>,
    /// By rule and group, where the sweep is split.
    pub groups: Vec<Sweep>,
    pub selection: Option<Selection>,
}

impl Swept {
    /// What the table shows: each group where the sweep is split.
    pub(crate) fn shown(&self) -> &[Sweep] {
        if self.groups.is_empty() { &self.sweeps } else { &self.groups }
    }
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

/// Every rule of a study; a harmed job costs `price` CPU-seconds.
pub(crate) fn sweep_all(study: &Study, price: f64) -> Swept {
    let mut sweeps: Vec<Sweep> =
        (0..study.asked.rules.len()).map(|rule_idx| sweep(study, rule_idx)).collect();
    for (sweep, intervals) in sweeps.iter_mut().zip(intervals(study)) {
        for (row, interval) in sweep.rows.iter_mut().zip(intervals) {
            row.interval = Some(interval);
        }
    }
    let is_split = study.asked.sweep_by.is_some();
    let rules = 0..if is_split { study.asked.rules.len() } else { 0 };
    let groups = rules.flat_map(|rule_idx| sweep_groups(study, rule_idx)).collect();
    Swept { sweeps, groups, selection: select(study, price) }
}

/// Refuses a choice for which there is no past, or no future to score it on.
///
/// # Errors
/// No job with tasks loaded lies on one of the sides.
pub(crate) fn check_sides(study: &Study) -> Result<()> {
    match sides(study) {
        Some((past, future)) if past == 0 || future == 0 => Err(Usage(format!(
            "--train-until leaves nothing to choose on or to score: {} with tasks loaded ended before it, {} submitted from then on",
            digits::counted(past, "job"),
            if future == 1 { "1 was".to_owned() } else { format!("{} were", digits::grouped(future)) }
        ))
        .into()),
        _ => Ok(()),
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
    let answer = answer(args, windows, &study, &swept, &table);
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

/// The further tables: all rules in one plane, and what the past would have chosen.
pub(crate) fn put_details(
    study: &Study,
    swept: &Swept,
    selected: Option<&RecordBatch>,
    files: &mut Files,
) -> Result<()> {
    files.table("sweep-plane", &plane_table(study, &swept.sweeps))?;
    selected.map_or(Ok(()), |table| files.table("sweep-selection", table))
}

/// The answer in all its forms.
pub(crate) fn answer<'a>(
    args: &SweepArgs,
    windows: Windows,
    study: &Study,
    swept: &Swept,
    table: &'a RecordBatch,
) -> Answer<'a> {
    Answer {
        name: "sweep",
        table,
        settings: json!({
            "cpu": study.asked.meter.to_string(), "classes": study.asked.classes, "windows": windows,
            "rules": study.asked.rules.iter().map(ToString::to_string).collect::<Vec<String>>(),
            "thresholds": args.thresholds.0, "price": args.price, "train_until_days": args.train_until,
            "bootstrap_rounds": args.bootstrap, "seed": args.seed, "group_by": args.group_by,
            "spare_finishing": args.spare_finishing,
        }),
        charts: charts(study, &swept.sweeps),
        json: json_of(study, swept),
    }
}

/// The value of the contract, with the other rules and the plane beside it.
fn json_of(study: &Study, swept: &Swept) -> Value {
    let mut json = json!({
        "cpu": study.asked.meter.to_string(),
        "classes": study.asked.classes,
        "unit": study.unit(),
        "censoring": study.censoring(),
        "of": OF.iter().copied().collect::<BTreeMap<_, _>>(),
        "finished_jobs_with_tasks": finished_jobs(study),
        "attempts_closed_with_job": study.closed_with_job.attempts,
        "closed_with_job_cpu": study.closed_with_job_sum(),
        "total_cpu": total_cpu(study),
        "rule": swept.sweeps[0].rule,
        "rows": swept.sweeps[0].rows,
        "rules": &swept.sweeps[1..],
        "plane": plane(study, &swept.sweeps),
    });
    if study.asked.sweep_by.is_some() {
        json["groups"] = json!(swept.groups);
    }
    if let Some(selection) = &swept.selection {
        json["selection"] = json!(selection);
    }
    if let Some(nothing) = nothing(study, &swept.sweeps) {
        json[store::NOTHING] = nothing.into();
    }
    json
}

/// Why there is nothing to see: no job has a known outcome, or no rule kills a task at its lowest
/// threshold.
fn nothing(study: &Study, sweeps: &[Sweep]) -> Option<String> {
    let totals = total_cpu(study);
    let mut used =
        totals.iter().filter(|of| of.1.as_f64().is_some_and(|cpu| cpu != 0.0)).peekable();
    if used.peek().is_some() && used.all(|(outcome, _)| outcome == UNMATCHED) {
        let nothing = "What killing tasks would have saved and whom it would have harmed is unknown: no job has a known outcome.";
        return Some(nothing.to_owned());
    }
    let mut rows = sweeps.iter().flat_map(|sweep| &sweep.rows);
    if rows.any(|row| 0 < sum_of(&row.condemned_tasks)) {
        return None;
    }
    let lowest = sweeps.iter().filter_map(|sweep| {
        let row = sweep.rows.first()?;
        Some(format!("{} {}", sweep.rule, digits::grouped_signed(row.threshold)))
    });
    Some(format!(
        "No task passes the lowest threshold of a rule ({}): nothing would have been killed, saved or harmed.",
        lowest.collect::<Vec<String>>().join(", ")
    ))
}

/// Every parameter of every rule and group; the rule is a column where there are several.
pub(crate) fn table_of(sweeps: &[Sweep], unit: &str) -> RecordBatch {
    let all = || sweeps.iter().flat_map(|sweep| sweep.rows.iter().map(move |row| (sweep, row)));
    let rows = || all().map(|(_, row)| row);
    let is_resampled = rows().any(|row| row.interval.is_some());
    let mut frame = Frame::default();
    let split_by = sweeps.iter().find_map(|sweep| sweep.group.as_ref());
    if let Some(group) = split_by {
        let groups = all().map(|(sweep, _)| sweep.group.as_ref()?.value.as_deref());
        frame = keyed(frame, group.by, groups);
    }
    if sweeps.iter().any(|sweep| sweep.rule != sweeps[0].rule) {
        frame = frame.text("rule", all().map(|(sweep, _)| sweep.rule.as_str()));
    }
    frame = frame
        .int("threshold", rows().map(|row| row.threshold))
        .unit(counted_in(sweeps))
        .text("threshold_unit", all().map(|(sweep, _)| sweep.threshold_unit))
        .count("condemned_tasks", rows().map(|row| sum_of(&row.condemned_tasks)))
        .count("condemned_at_end", rows().map(|row| sum_of(&row.condemned_at_end)));
    frame = saved_shares(frame, &rows().collect::<Vec<&SweepRow>>(), is_resampled);
    frame = frame.maybe_count("harmed_jobs", rows().map(|row| row.harmed_jobs));
    if is_resampled {
        frame =
            bounds_of(frame, "harmed_jobs", rows().map(|row| row.interval.as_ref()?.harmed_jobs));
    }
    frame = frame
        .float("harmed_jobs_share", rows().map(|row| row.harmed_jobs_share))
        .float("destroyed_cpu_share", rows().map(|row| row.destroyed_cpu_share));
    if is_resampled {
        let bounds = rows().map(|row| row.interval.as_ref()?.destroyed_cpu_share);
        frame = bounds_of(frame, "destroyed_cpu_share", bounds);
    }
    frame = frame
        .float("net_cpu", rows().map(|row| row.net_cpu))
        .unit(unit)
        .text("unit", rows().map(|_| unit))
        .float("net_share", rows().map(|row| row.net_share));
    if is_resampled {
        frame = bounds_of(frame, "net_share", rows().map(|row| row.interval.as_ref()?.net_share));
    }
    if split_by.is_none() {
        frame = frame
            .float("largest_saved_share", rows().map(|row| row.largest_saved_in_all))
            .float("largest_destroyed_share", rows().map(|row| row.largest_destroyed_share));
    }
    frame
        .view(&[
            "priority",
            "scheduling_class",
            "user",
            "rule",
            "threshold",
            "threshold_unit",
            "condemned_tasks",
            "saved_share_failed",
            "saved_share_killed",
            "harmed_jobs",
            "harmed_jobs_share",
            "destroyed_cpu_share",
            "net_share",
            "largest_saved_share",
        ])
        .batch()
}

/// What is saved by outcome, as shares; outcomes in which nothing is saved have no column.
fn saved_shares(mut frame: Frame, all: &[&SweepRow], is_resampled: bool) -> Frame {
    let rows = || all.iter();
    let outcomes: Vec<String> =
        rows().next().map_or_else(Vec::new, |row| row.saved_share.keys().cloned().collect());
    for outcome in outcomes.iter().filter(|outcome| *outcome != "finished") {
        let is_empty = rows().all(|row| row.saved_cpu[outcome].as_f64().unwrap_or(0.0) == 0.0);
        if !is_empty {
            let name = format!("saved_share_{outcome}");
            frame = frame.float(&name, rows().map(|row| row.saved_share[outcome].as_f64()));
            if is_resampled {
                let bounds = rows().map(|row| {
                    let bounds = row.interval.as_ref()?.saved_share[outcome].as_array()?;
                    Some((bounds.first()?.as_f64()?, bounds.get(1)?.as_f64()?))
                });
                frame = bounds_of(frame, &name, bounds);
            }
        }
    }
    frame
}

/// What all thresholds count; nothing where rules count different things.
fn counted_in(sweeps: &[Sweep]) -> &'static str {
    let first = sweeps.first().map_or("", |sweep| sweep.threshold_unit);
    if sweeps.iter().all(|sweep| sweep.threshold_unit == first) { first } else { "" }
}

/// All rules in one plane, as the chart of them shows it.
pub(crate) fn plane_table(study: &Study, sweeps: &[Sweep]) -> RecordBatch {
    let points = plane(study, sweeps);
    let rows = || points.iter();
    let unit = study.unit();
    Frame::default()
        .text("rule", rows().map(|point| point.rule.as_str()))
        .maybe_int("threshold", rows().map(|point| point.threshold))
        .count("harmed_jobs", rows().map(|point| point.harmed_jobs))
        .float("net_cpu", rows().map(|point| Some(point.net_cpu)))
        .unit(unit)
        .text("unit", rows().map(|_| unit))
        .float("net_share", rows().map(|point| point.net_share))
        .flag("is_on_front", rows().map(|point| Some(point.is_on_front)))
        .batch()
}

/// The columns `<name>_low` and `<name>_high`.
fn bounds_of(
    frame: Frame,
    name: &str,
    bounds: impl Iterator<Item = Option<(f64, f64)>> + Clone,
) -> Frame {
    frame
        .float(&format!("{name}_low"), bounds.clone().map(|bounds| Some(bounds?.0)))
        .float(&format!("{name}_high"), bounds.map(|bounds| Some(bounds?.1)))
}

/// What was chosen among each rule, and among all of them, with its score on both parts.
pub(crate) fn selection_table(selection: &Selection) -> RecordBatch {
    let several = if selection.rules.len() == 1 { None } else { Some(&selection.chosen) };
    let rows = || selection.rules.iter().chain(several);
    let score = |frame: Frame, name: &str, of: fn(&Choice) -> &Score| {
        frame
            .float(&format!("{name}_net_cpu"), rows().map(|row| Some(of(row).net_cpu)))
            .count(&format!("{name}_harmed_jobs"), rows().map(|row| of(row).harmed_jobs))
            .float(&format!("{name}_gain"), rows().map(|row| Some(of(row).gain)))
    };
    let mut frame = Frame::default()
        .text("among", rows().map(|row| row.among.as_str()))
        .text("chosen_rule", rows().map(|row| row.train.rule.as_str()))
        .maybe_int("chosen_threshold", rows().map(|row| row.train.threshold));
    frame = score(frame, "train", |row| &row.train);
    frame = score(frame, "test", |row| &row.test);
    frame
        .text("hindsight_rule", rows().map(|row| row.hindsight.rule.as_str()))
        .maybe_int("hindsight_threshold", rows().map(|row| row.hindsight.threshold))
        .float("hindsight_gain", rows().map(|row| Some(row.hindsight.gain)))
        .batch()
}

/// What the selection is made of, in a line.
pub(crate) fn selection_line(selection: &Selection) -> String {
    format!(
        "chosen on {} jobs that ended before {} s, tested on {} jobs submitted afterwards; a harmed job costs {} CPU-seconds",
        digits::grouped(selection.train_jobs),
        digits::six_digits(selection.split_s),
        digits::grouped(selection.test_jobs),
        digits::six_digits(selection.price)
    )
}

/// The sum over the outcomes that are known; without `job_events` all tasks are unmatched.
fn sum_of(counts: &serde_json::Map<String, Value>) -> u64 {
    counts.values().filter_map(Value::as_u64).sum()
}

fn harmed_table(study: &Study, step: usize) -> RecordBatch {
    let harmed = harmed_jobs(study, 0, step);
    Frame::default()
        .int("job_id", harmed.iter().map(|job| job.job_id))
        .maybe_text("user", harmed.iter().map(|job| job.user.as_deref()))
        .maybe_text("job_name", harmed.iter().map(|job| job.job_name.as_deref()))
        .count("condemned_tasks", harmed.iter().map(|job| job.condemned_tasks))
        .float("destroyed_cpu", harmed.iter().map(|job| Some(job.destroyed_cpu)))
        .batch()
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

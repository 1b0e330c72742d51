//! Which kill rule to take, and what it costs.

use super::{Told, of_one_job};
use crate::answers::condition::{LIMITS, OF_REQUESTED, condition};
use crate::answers::sentences::percent;
use crate::answers::sweep::SweepAnswer;
use crate::digits::{counted, grouped, six_digits};
use crate::results::envelope::Envelope;
use crate::studies::kill_sweep::{ByOutcome, SweepRow};
use crate::studies::selection::Selection;

/// The rule that is best on earlier jobs, with its score on later jobs and its interval over all
/// jobs. If jobs cannot be split by time: the rule with the largest lower bound of the net saving,
/// in hindsight.
pub(super) fn kill(stored: &Envelope) -> Option<Told> {
    let answer: &SweepAnswer = stored.found()?;
    let told = match &answer.selection {
        Some(selection) => Some(selected(answer, selection)),
        None => in_hindsight(answer),
    };
    let Some(limits) = limits(answer) else { return told };
    let with_limits = |said: String| {
        // The rule may be a limit itself.
        if said.contains(OF_REQUESTED) { said } else { said + &limits }
    };
    told.map(|told| match told {
        Told::Shown(said) => Told::Shown(with_limits(said)),
        Told::NotShown(said) => Told::NotShown(with_limits(said)),
        unknown @ Told::Unknown(_) => unknown,
    })
}

fn selected(answer: &SweepAnswer, selection: &Selection) -> Told {
    let (train, test) = (&selection.chosen.train, &selection.chosen.test);
    let train_jobs = counted(selection.train_jobs, "job");
    let rule = &train.rule;
    let Some(threshold) = train.threshold else {
        return Told::NotShown(format!(
            "No kill rule is shown to save CPU time: on the {train_jobs} that ended first, the best choice is \
            `{rule}`"
        ));
    };
    let what = condition(rule, threshold);
    // Results of an earlier version lack the number of finished jobs.
    let harmed = match selection.test_finished_jobs {
        Some(finished) => {
            format!("{} of the {} that finished", grouped(test.harmed_jobs), grouped(finished))
        }
        None => counted(test.harmed_jobs, "finished job"),
    };
    let later = format!(
        "chosen on {train_jobs} that ended first, killing tasks {what} saves a net {} {} on {} \
        submitted later and harms {harmed}",
        six_digits(test.net_cpu),
        answer.unit,
        counted(selection.test_jobs, "job"),
    );
    let row = row_of(answer, rule, threshold);
    let over_all = row.and_then(|row| over_all(answer, row)).unwrap_or_default();
    let spans_zero = row.is_some_and(spans_zero);
    if test.gain <= 0.0 || spans_zero {
        let why =
            if spans_zero { "the interval spans zero" } else { "later jobs do not confirm it" };
        return Told::NotShown(format!(
            "No kill rule is shown to save CPU time, because {why}: {later}{over_all}"
        ));
    }
    Told::Shown(format!("{}{over_all}", capital(&later)))
}

/// The interval of the net saving of a row, if jobs were resampled.
fn net_bounds(row: &SweepRow) -> Option<(f64, f64)> {
    row.interval.as_ref()?.net_share
}

/// The least that a row saves: the lower end of its interval, or its net saving if it has none.
fn certain(row: &SweepRow) -> Option<f64> {
    net_bounds(row).map(|(low, _)| low).or(row.net_share)
}

/// The time limit with the largest certain saving, in hindsight, as the end of a sentence.
fn limits(answer: &SweepAnswer) -> Option<String> {
    let (_, rows) = answer.sweeps().find(|(rule, _)| *rule == LIMITS)?;
    let all = rows.iter().filter_map(|row| Some((certain(row)?, row)));
    let (least, row) = all.max_by(|one, other| one.0.total_cmp(&other.0))?;
    if least <= 0.0 {
        return Some("; no other time limit is shown to save more than it destroys".to_owned());
    }
    Some(format!(
        "; in hindsight, a limit at {}{OF_REQUESTED} saves a net {} of the CPU of jobs that did not \
        finish{}, and harms {}",
        row.threshold,
        percent(row.net_share?),
        rests_on(row),
        counted(row.harmed_jobs?, "finished job"),
    ))
}

/// The row with the largest lower bound of the net saving, or without intervals the largest saving.
fn in_hindsight(answer: &SweepAnswer) -> Option<Told> {
    let best = answer
        .sweeps()
        .flat_map(|(rule, rows)| rows.iter().map(move |row| (rule, row)))
        .filter_map(|(rule, row)| Some((certain(row)?, rule, row)))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let (_, rule, row) = best?;
    if row.net_share? <= 0.0 {
        let none = "No kill rule that was tried saves more than it destroys";
        return Some(Told::NotShown(none.to_owned()));
    }
    let what = condition(rule, row.threshold);
    let finished = answer.finished_jobs_with_tasks?;
    let harmed = grouped(row.harmed_jobs?);
    let harmed = format!("{harmed} of {}", counted(finished, "finished job"));
    let said = format!(
        "killing tasks {what} harms {harmed}{}",
        over_all(answer, row)?.replacen("; over all jobs it", " and", 1)
    );
    if spans_zero(row) {
        return Some(Told::NotShown(format!(
            "No kill rule is shown to save CPU time; the best in hindsight: {said}"
        )));
    }
    Some(Told::Shown(format!("In hindsight, {said}; there were no later jobs to test it on")))
}

/// `; over all jobs it saves a net 10.3 % of the CPU of jobs that did not finish (95 % interval ...)`,
/// with the tasks that it rests on, and the parts of jobs whose outcome is not known.
fn over_all(answer: &SweepAnswer, row: &SweepRow) -> Option<String> {
    let bounds = net_bounds(row).map_or_else(String::new, |(low, high)| {
        format!(" (95 % interval {} to {})", percent(low), percent(high))
    });
    Some(format!(
        "; over all jobs it saves a net {} of the CPU of jobs that did not finish{bounds}{}{}{}",
        percent(row.net_share?),
        rests_on(row),
        of_one_job(row.largest_saved_in_all, "what is saved"),
        still_open(answer, row),
    ))
}

/// Whether jobs with an outcome count as jobs that did not finish.
fn is_lost(outcome: &str) -> bool {
    outcome != "finished"
}

/// ` by condemning 9 of their tasks`: those after whose kill CPU is saved; empty if there are none.
fn rests_on(row: &SweepRow) -> String {
    let sum = |counts: &ByOutcome<u64>| -> u64 {
        counts.iter().filter(|(outcome, _)| is_lost(outcome)).filter_map(|(_, count)| count).sum()
    };
    let at_end = sum(&row.condemned_at_end);
    match sum(&row.condemned_tasks).saturating_sub(at_end) {
        0 => String::new(),
        tasks => format!(" by condemning {} of their tasks", grouped(tasks)),
    }
}

/// The parts of the saving, and of the CPU that it is a share of, in jobs that still ran at the
/// end; empty if nothing is saved in them.
fn still_open(answer: &SweepAnswer, row: &SweepRow) -> String {
    let share = |amounts: &ByOutcome<f64>| {
        let lost = amounts.iter().filter(|(outcome, _)| is_lost(outcome));
        let all: f64 = lost.filter_map(|(_, amount)| amount).sum();
        let open = amounts.get("running").filter(|open| 0.0 < *open)?;
        Some(percent(open / all))
    };
    let Some(saved) = share(&row.saved_cpu) else { return String::new() };
    let belong = match share(&answer.total_cpu) {
        Some(base) => format!(", and {base} of that CPU, belong"),
        None => " belongs".to_owned(),
    };
    format!(
        "; {saved} of what it saves{belong} to jobs that still ran at the end, whose outcome is not \
        known"
    )
}

fn spans_zero(row: &SweepRow) -> bool {
    net_bounds(row).is_some_and(|(low, high)| low <= 0.0 && 0.0 <= high)
}

fn row_of<'a>(answer: &'a SweepAnswer, rule: &str, threshold: i64) -> Option<&'a SweepRow> {
    let (_, rows) = answer.sweeps().find(|(name, _)| *name == rule)?;
    rows.iter().find(|row| row.threshold == threshold)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

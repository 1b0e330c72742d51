//! The kill rule that was chosen on earlier jobs and tested on later ones, in sentences.
//!
//! In: the answer of a sweep and its selection. Out: which rule to take at which price, what it does to
//! all jobs and to later ones, and on how few of them that could be tested. No rule is chosen here.

use super::kill_saving::{edge, evictions, gentler, net_bounds, over_all, with_doubt};
use super::{Told, of_one_job};
use crate::answers::condition::{LIMITS, condition};
use crate::answers::sentences::{capital, percent};
use crate::answers::sweep::{SweepAnswer, lost_jobs};
use crate::digits::{counted, grouped, six_digits};
use crate::studies::kill_sweep::SweepRow;
use crate::studies::selection::{Choice, Selection};

/// The rule chosen on earlier jobs, or one that was gentler on them and saves CPU time of later jobs
/// too: at which price it saves and harms how much of all jobs; then, in sentences of their own, on
/// how few jobs it could be tested, how it was chosen, and what it does to later jobs. A rule that is
/// not confirmed has the later jobs in the first sentence.
pub(super) fn selected(answer: &SweepAnswer, selection: &Selection) -> Told {
    let chosen = &selection.chosen;
    if chosen.train.threshold.is_none() {
        return Told::NotShown(format!(
            "No kill rule is shown to save CPU time: on the {} that ended first{}, the best choice is `{}`",
            counted(selection.train_jobs, "job"),
            price_of(answer, selection),
            chosen.train.rule
        ));
    }
    // Both must hold on later jobs: a second choice is no second try.
    let is_held = |own: &&Choice| is_confirmed(answer, own) && is_confirmed(answer, chosen);
    let lead = selection.gentler.as_ref().filter(is_held).unwrap_or(chosen);
    let row = row_of_choice(answer, lead);
    let is_shown = is_confirmed(answer, lead);
    let head = row.filter(|_| is_shown).and_then(|row| headline(answer, selection, lead, row));
    let rest = explained(answer, selection, lead, head.is_some());
    let first = head.unwrap_or_else(|| of_later(answer, selection, lead, &killing(answer, lead)));
    let first = if is_shown {
        let doubt = evictions(answer, &lead.train.rule);
        with_doubt(&first, doubt.as_deref())
    } else {
        let why = match row.and_then(net_bounds) {
            Some((_, high)) if high < 0.0 => "the interval lies below zero",
            Some((low, _)) if low <= 0.0 => "the interval spans zero",
            _ => "later jobs do not confirm it",
        };
        format!("No kill rule is shown to save CPU time, because {why}: {first}")
    };
    let whole: Vec<String> = std::iter::once(first).chain(rest).collect();
    let whole = whole.join(". ");
    if is_shown { Told::Shown(whole) } else { Told::NotShown(whole) }
}

/// `at 3,600 NCU-s per harmed job, killing tasks at the first restart saves a net 10.3 % of the CPU of
/// jobs that did not finish and harms 179 of 12,231 finished jobs (1.5 %)`, and what a gentler rule does;
/// `None` if these numbers are not known.
fn headline(
    answer: &SweepAnswer,
    selection: &Selection,
    lead: &Choice,
    row: &SweepRow,
) -> Option<String> {
    let (net, harmed) = (row.net_share?, row.harmed_jobs?);
    let finished = answer.finished_jobs_with_tasks?;
    let price = if selection.price <= 0.0 {
        String::new()
    } else {
        format!("at {} {} per harmed job, ", six_digits(selection.price), answer.unit)
    };
    let share = row.harmed_jobs_share.filter(|_| 0 < harmed);
    let share = share.map_or_else(String::new, |share| format!(" ({})", percent(share)));
    let gentler = gentler(answer, row).filter(|_| is_best(selection, lead));
    let gentler = gentler.and_then(|(rule, own)| {
        let when = condition(rule, own.threshold);
        let (net, harmed) = (percent(own.net_share?), grouped(own.harmed_jobs?));
        Some(format!("; killing tasks {when} saves {net} and harms {harmed}"))
    });
    Some(format!(
        "{price}{} saves a net {} of the {} of {} and harms {} of {}{share}{}",
        killing(answer, lead),
        percent(net),
        answer.cpu_words(),
        lost_jobs(&answer.total_cpu),
        grouped(harmed),
        counted(finished, "finished job"),
        gentler.unwrap_or_default()
    ))
}

/// The sentences after the first one; `is_headed` if that is about all jobs and not about later ones.
fn explained(
    answer: &SweepAnswer,
    selection: &Selection,
    lead: &Choice,
    is_headed: bool,
) -> Vec<String> {
    let (chosen, row) = (&selection.chosen, row_of_choice(answer, lead));
    let is_shown = is_confirmed(answer, lead);
    let mut all: Vec<String> = Vec::new();
    all.extend(row.and_then(|row| between(answer, lead, row)));
    all.extend(evictions(answer, &lead.train.rule).filter(|_| is_shown));
    all.push(how(answer, selection, lead, is_headed));
    if is_headed {
        all.push(capital(&of_later(answer, selection, lead, "it")));
    }
    if !is_best(selection, lead) {
        let best = of_later(answer, selection, chosen, &killing(answer, chosen));
        all.push(format!("The best rule of the past: {best}"));
    }
    let destroys = row.and_then(|row| destroys(answer, row, is_headed));
    let harms = row.and_then(|row| row.harmed_jobs).filter(|_| !is_headed && destroys.is_none());
    let harms = harms.map(|jobs| format!("; it harms {}", counted(jobs, "finished job")));
    all.extend(row.and_then(|row| over_all(answer, row)).map(|said| {
        format!("Over all jobs, in hindsight, it {said}{}", harms.unwrap_or_default())
    }));
    all.extend(destroys);
    all.extend(row.filter(|_| is_shown).and_then(|row| at_a_higher_price(answer, selection, row)));
    all
}

/// How a rule was chosen.
fn how(answer: &SweepAnswer, selection: &Selection, lead: &Choice, is_headed: bool) -> String {
    let train_jobs = counted(selection.train_jobs, "job");
    let price = if is_headed { String::new() } else { price_of(answer, selection) };
    if is_best(selection, lead) {
        return format!("The rule was chosen on {train_jobs} that ended first{price}");
    }
    format!(
        "The rule was chosen on {train_jobs} that ended first: of those that saved nearly as much as \
        the best{price}, it harmed fewest, {} instead of {}",
        counted(lead.train.harmed_jobs, "finished job"),
        grouped(selection.chosen.train.harmed_jobs)
    )
}

/// Whether a choice is the best one of the past, and not one that was gentler.
fn is_best(selection: &Selection, choice: &Choice) -> bool {
    let best = &selection.chosen.train;
    (&choice.train.rule, choice.train.threshold) == (&best.rule, best.threshold)
}

/// How many times as much as the price of a harmed job a second price is.
const DEARER: f64 = 100.0;

/// A sentence about the rule that would be best if a harmed job were much dearer; `None` without a
/// price, or if the amounts are not known.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn at_a_higher_price(
    answer: &SweepAnswer,
    selection: &Selection,
    row: &SweepRow,
) -> Option<String> {
    let price = selection.price * DEARER;
    row.net_cpu.filter(|_| 0.0 < price)?;
    // Limits have a sentence of their own.
    let all = answer.sweeps().filter(|(rule, _)| *rule != LIMITS);
    let all = all.flat_map(|(rule, rows)| rows.iter().map(move |row| (rule, row)));
    let known = all.filter_map(|(rule, own)| {
        Some((own.net_cpu? - price * own.harmed_jobs? as f64, rule, own))
    });
    let (gain, rule, own) = known.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let best = if gain <= 0.0 {
        "no rule is worth its harm".to_owned()
    } else if std::ptr::eq(own, row) {
        "it is still the best rule".to_owned()
    } else {
        format!("killing tasks {} is best", condition(rule, own.threshold))
    };
    let (price, unit) = (six_digits(price), &answer.unit);
    Some(format!("At {price} {unit} per harmed job, {best}, in hindsight"))
}

/// `killing tasks at the first restart`.
fn killing(answer: &SweepAnswer, choice: &Choice) -> String {
    let rule = &choice.train.rule;
    let what = choice.train.threshold.map_or_else(String::new, |threshold| {
        format!("{}{}", condition(rule, threshold), edge(answer, rule, threshold))
    });
    format!("killing tasks {what}")
}

/// `it saves a net 3,300 NCU-s, 6.4 % of the CPU of 860 jobs submitted after the rule was chosen, and
/// harms 12 of the 640 that finished`.
fn of_later(answer: &SweepAnswer, selection: &Selection, choice: &Choice, what: &str) -> String {
    let test = &choice.test;
    // Results of an earlier version lack the number of finished jobs, and the CPU of all.
    let harmed = match selection.test_finished_jobs {
        Some(finished) => {
            format!("{} of the {} that finished", grouped(test.harmed_jobs), grouped(finished))
        }
        None => counted(test.harmed_jobs, "finished job"),
    };
    let jobs = counted(selection.test_jobs, "job");
    let of_jobs = if let Some(cpu) = selection.test_cpu.filter(|cpu| 0.0 < *cpu) {
        let share = percent(test.net_cpu / cpu);
        let words = answer.cpu_words();
        format!(", {share} of the {words} of {jobs} submitted after the rule was chosen, and")
    } else {
        let requested = if answer.cpu == "requested" { " of requested CPU" } else { "" };
        format!("{requested} on {jobs} submitted after the rule was chosen and")
    };
    let (net, unit) = (six_digits(test.net_cpu), &answer.unit);
    format!("{what} saves a net {net} {unit}{of_jobs} harms {harmed}")
}

/// The row of a choice.
fn row_of_choice<'a>(answer: &'a SweepAnswer, choice: &Choice) -> Option<&'a SweepRow> {
    row_of(answer, &choice.train.rule, choice.train.threshold?)
}

/// Whether later jobs confirm that a choice saves CPU time, and its interval over all jobs, if it has
/// one, is above zero.
fn is_confirmed(answer: &SweepAnswer, choice: &Choice) -> bool {
    let bounds = row_of_choice(answer, choice).and_then(net_bounds);
    0.0 < choice.test.gain && bounds.is_none_or(|(low, _)| 0.0 < low)
}

/// On how few of the jobs a rule could be chosen or tested, if most of the saving is of tasks in neither
/// group. `None` if the groups have other parameters, or if they lose, so that the rest saves more than
/// all.
fn between(answer: &SweepAnswer, choice: &Choice, row: &SweepRow) -> Option<String> {
    let (train, test) = (&choice.train, &choice.test);
    let all = row.net_cpu?;
    let others = all - train.net_cpu - test.net_cpu;
    let is_same = (&train.rule, train.threshold) == (&test.rule, test.threshold);
    (is_same && all < 2.0 * others && others <= all).then(|| {
        let tested = percent((train.net_cpu + test.net_cpu) / all);
        let [all, train, test] = [all, train.net_cpu, test.net_cpu]
            .map(|amount| format!("{} {}", six_digits(amount), answer.unit));
        format!(
            "Only {tested} of the saving is on jobs by which a rule could be chosen or tested: of the net \
            {all}, {train} are of the jobs that ended first and {test} of those submitted after the rule \
            was chosen; the rest is of tasks in neither group, such as those of jobs that ran then"
        )
    })
}

/// `, at a price of 3,600 NCU-s for each harmed job`; empty without a price.
fn price_of(answer: &SweepAnswer, selection: &Selection) -> String {
    if selection.price <= 0.0 {
        return String::new();
    }
    let price = six_digits(selection.price);
    format!(", at a price of {price} {} for each harmed job", answer.unit)
}

/// `It destroys 14.5 % of the CPU of finished jobs`, and what a gentler rule does: a rule that harms few
/// jobs may destroy much. `None` if it destroys nothing, or that is not known.
fn destroys(answer: &SweepAnswer, row: &SweepRow, is_headed: bool) -> Option<String> {
    let share = row.destroyed_cpu_share.filter(|share| 0.0 < *share)?;
    let it = if is_headed {
        "It".to_owned()
    } else {
        format!("Over all jobs, it harms {} that finished and", grouped(row.harmed_jobs?))
    };
    let gentler = gentler(answer, row).filter(|_| is_headed);
    let gentler = gentler.and_then(|(rule, own)| {
        let when = condition(rule, own.threshold);
        Some(format!("; killing tasks {when} destroys {}", percent(own.destroyed_cpu_share?)))
    });
    Some(format!(
        "{it} destroys {} of the CPU of finished jobs{}{}",
        percent(share),
        of_one_job(row.largest_destroyed_share, "that"),
        gentler.unwrap_or_default()
    ))
}

fn row_of<'a>(answer: &'a SweepAnswer, rule: &str, threshold: i64) -> Option<&'a SweepRow> {
    let (_, rows) = answer.sweeps().find(|(name, _)| *name == rule)?;
    rows.iter().find(|row| row.threshold == threshold)
}

//! The kill rule that was chosen on earlier jobs and tested on later ones, in sentences.
//!
//! In: the answer of a sweep and its selection. Out: the rule to use and its price, its effect on
//! all jobs and on later ones, and on how few of them it could be tested. No rule is chosen here.

use super::kill_saving::{
    bounds_said, edge, evictions, net_bounds, over_all, over_all_in_short, plainly, saved_in_open,
    with_doubt,
};
use super::{Told, of_one_job};
use crate::answers::condition::{LIMITS, condition};
use crate::answers::sentences::{capital, most_of, percent};
use crate::answers::sweep::{SweepAnswer, costlier, gentler, gentlest, lost_jobs};
use crate::digits::{counted, grouped, six_digits};
use crate::studies::kill_sweep::SweepRow;
use crate::studies::selection::{Choice, Selection};

/// The rule that was chosen on earlier jobs, or a gentler one on these jobs that also saves CPU
/// time of later jobs. The sentences give its price, and what it saves, harms and destroys of all
/// jobs; then how it was chosen, and its effect on later jobs.
///
/// If there is a doubt about the rule, the first sentence gives the reason, and the second one
/// names the gentlest rule that still saves much. If the rule is not confirmed, the first sentence
/// is about later jobs. `within` is the time of the loaded tasks, if jobs are known for longer.
pub(super) fn selected(answer: &SweepAnswer, selection: &Selection, within: &str) -> Told {
    let chosen = &selection.chosen;
    if chosen.train.threshold.is_none() {
        return Told::NotShown(format!(
            "No kill rule is shown to save CPU time: on the {} that ended first{}, the best choice is `{}`",
            counted(selection.train_jobs, "job"),
            price_of(answer, selection),
            chosen.train.rule
        ));
    }
    // Both must hold on later jobs: the gentler rule is not a second attempt if the chosen one
    // fails.
    let is_held = |own: &&Choice| is_confirmed(answer, own) && is_confirmed(answer, chosen);
    let lead = selection.gentler.as_ref().filter(is_held).unwrap_or(chosen);
    let row = row_of_choice(answer, lead);
    let doubts = row.map_or_else(Vec::new, |row| doubts(answer, lead, row));
    if let Some(row) = row.filter(|_| is_confirmed(answer, lead)) {
        let said = if doubts.is_empty() {
            confirmed(answer, selection, (lead, row), within)
        } else {
            doubtful(answer, selection, (lead, row), (&doubts, within))
        };
        if let Some(said) = said {
            return Told::Shown(said);
        }
    }
    let first = of_later(answer, selection, lead, &killing(answer, lead));
    let rest = unconfirmed(answer, selection, lead);
    if is_confirmed(answer, lead) {
        let first = with_doubt(&first, doubts.first().map(String::as_str));
        let doubts = doubts.iter().skip(1).map(|why| capital(why));
        return Told::Shown(in_sentences(first, doubts.chain(rest).collect()));
    }
    let why = match row.and_then(net_bounds) {
        Some((_, high)) if high < 0.0 => "the interval lies below zero",
        Some((low, _)) if low <= 0.0 => "the interval spans zero",
        _ => "later jobs do not confirm it",
    };
    let first = format!("No kill rule is shown to save CPU time, because {why}: {first}");
    Told::NotShown(in_sentences(first, rest))
}

/// The sentences, separated by full stops.
fn in_sentences(first: String, rest: Vec<String>) -> String {
    let all: Vec<String> = std::iter::once(first).chain(rest).collect();
    all.join(". ")
}

/// A rule is not safe to adopt if less than this share of its saving could be tested.
const TESTED_MIN: f64 = 0.25;

/// The reasons why a confirmed rule is not safe to adopt. Either hardly any of its saving is in
/// jobs that could be used to choose or test a rule, or most of the restarts at which it acts
/// follow an eviction. Empty if there is no doubt.
fn doubts(answer: &SweepAnswer, lead: &Choice, row: &SweepRow) -> Vec<String> {
    let tested = tested_share(lead, row).filter(|share| *share < TESTED_MIN);
    let rule = killing(answer, lead);
    let tested = tested.map(|share| {
        let untested = percent(1.0 - share);
        format!(
            "the rule chosen on earlier jobs, {rule}, is hardly tested: {untested} of what it saves is on jobs \
            by which it was neither chosen nor tested"
        )
    });
    tested.into_iter().chain(evictions(answer, &lead.train.rule)).collect()
}

/// The sentences about a rule that is not safe to adopt. First the gentlest rule that saves much,
/// and why it is the gentlest. Then how the doubtful rule was chosen, and its effect on later jobs
/// and on all jobs.
fn doubtful(
    answer: &SweepAnswer,
    selection: &Selection,
    (lead, row): (&Choice, &SweepRow),
    (doubts, within): (&[String], &str),
) -> Option<String> {
    let (rule, gentle) = gentlest(answer.sweeps(), row)?;
    let what = killing(answer, lead);
    let is_lead = (rule, Some(gentle.threshold)) == (&*lead.train.rule, lead.train.threshold);
    let candidate =
        if is_lead { "The rule chosen on earlier jobs" } else { "The gentlest candidate" };
    let bounds = bounds_said(gentle).map_or_else(String::new, |said| format!(", {said}"));
    let does = does(answer, gentle, within, &bounds)?;
    let first = format!("{candidate} kills tasks {}: it {does}", plainly(rule, gentle.threshold));
    let mut rest =
        if is_lead { Vec::new() } else { why_gentlest(answer, selection, (rule, gentle)) };
    rest.extend(depends_on(gentle).filter(|_| !is_lead));
    rest.extend(in_one_outcome(gentle));
    rest.extend(why_not(answer, gentle).filter(|_| !is_lead));
    rest.extend(doubts.iter().skip(1).map(|why| capital(why)));
    let (jobs, price) = (counted(selection.train_jobs, "job"), price_of(answer, selection));
    let chosen = if is_best(selection, lead) {
        format!("On the {jobs} that ended first{price}, the best choice was {what}")
    } else {
        format!(
            "Of the rules that saved nearly as much as the best on the {jobs} that ended \
            first{price}, {what} harmed fewest"
        )
    };
    let all = over_all_in_short(answer, row)?;
    let chosen = if is_lead { chosen } else { format!("{chosen}: over all jobs, it {all}") };
    let later = of_later(answer, selection, lead, "This rule");
    rest.extend([chosen, later]);
    let gentler = of_gentler(answer, row, &[rule, &lead.train.rule]);
    if is_lead {
        let gentler = gentler.strip_prefix("; ").map(|said| format!("Over all jobs, {said}"));
        rest.extend(gentler);
    } else {
        let destroys = destroys(row).map_or_else(String::new, |said| format!(" and {said}"));
        let harmed = counted(row.harmed_jobs?, "finished job");
        rest.push(format!("Over all jobs, this rule harms {harmed}{destroys}{gentler}"));
    }
    Some(in_sentences(with_doubt(&first, doubts.first().map(String::as_str)), rest))
}

/// `One job makes up 25.5 % of what it saves; one finished job makes up 72.7 % of what it destroys;
/// 30.1 % of what it saves is in jobs that still ran at the end`: what the saving of a setting
/// depends on. `None` if no part is large.
fn depends_on(row: &SweepRow) -> Option<String> {
    let large = |share: Option<f64>| share.filter(|share| LARGE <= *share).map(percent);
    let saved = large(row.largest_saved_in_all)
        .map(|share| format!("one job makes up {share} of what it saves"));
    let destroyed = row.destroyed_cpu_share.filter(|share| 0.0 < *share);
    let destroyed = destroyed
        .and_then(|_| large(row.largest_destroyed_share))
        .map(|share| format!("one finished job makes up {share} of what it destroys"));
    let open = large(saved_in_open(row))
        .map(|share| format!("{share} of what it saves is in jobs that still ran at the end"));
    let said = [saved, destroyed, open].into_iter().flatten().collect::<Vec<_>>().join("; ");
    (!said.is_empty()).then(|| capital(&said))
}

/// A part of a saving that is at least this large is mentioned.
const LARGE: f64 = 0.1;

/// Why a setting is the gentlest candidate. If so, also that it was not chosen on earlier jobs.
fn why_gentlest(
    answer: &SweepAnswer,
    selection: &Selection,
    (rule, row): (&str, &SweepRow),
) -> Vec<String> {
    let sure = if net_bounds(row).is_some() { ", with an interval above zero" } else { "" };
    let has_limits = answer.sweeps().any(|(name, _)| name == LIMITS);
    let apart = if has_limits { " (time limits apart)" } else { "" };
    let harms = format!(
        "It harms fewest jobs of the settings{apart} that save at least half as much as the rule chosen \
        on earlier jobs{sure}"
    );
    let all = selection.rules.iter().chain([&selection.chosen]).chain(&selection.gentler);
    let is_own = |choice: &Choice| {
        (&*choice.train.rule, choice.train.threshold) == (rule, Some(row.threshold))
    };
    let untried = (!all.into_iter().any(is_own)).then(|| {
        "It is found in hindsight: it was neither chosen on earlier jobs nor tested on later ones"
            .to_owned()
    });
    std::iter::once(harms).chain(untried).collect()
}

/// Why a setting that saves more than the gentlest candidate, and harms as many jobs, is not the
/// candidate.
fn why_not(answer: &SweepAnswer, row: &SweepRow) -> Option<String> {
    let (rule, other) = costlier(answer.sweeps(), row)?;
    Some(format!(
        "Killing tasks {} would save {} and harm as many jobs, but destroy {} of the CPU of finished jobs \
        instead of {}",
        condition(rule, other.threshold),
        percent(other.net_share?),
        percent(other.destroyed_cpu_share?),
        percent(row.destroyed_cpu_share?)
    ))
}

/// `In failed jobs, one job makes up 94.8 % of what it saves`. One outcome may depend on a single
/// job even if the total saving does not. `None` if no outcome does, or if the total does.
fn in_one_outcome(row: &SweepRow) -> Option<String> {
    if most_of(row.largest_saved_in_all, "").is_some() {
        return None;
    }
    let known = ["failed", "killed", "running"].into_iter().filter_map(|outcome| {
        row.saved_share.get(outcome).filter(|share| NOTED <= *share)?;
        let most = most_of(row.largest_saved_share.get(outcome), "what it saves")?;
        Some(format!("in {outcome} jobs, {most}"))
    });
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| capital(&known.join("; ")))
}

/// Outcomes with a smaller share of their CPU saved are not mentioned.
const NOTED: f64 = 0.01;

/// The sentences about a rule that later jobs confirm; `None` if its effect on all jobs is unknown.
fn confirmed(
    answer: &SweepAnswer,
    selection: &Selection,
    (lead, row): (&Choice, &SweepRow),
    within: &str,
) -> Option<String> {
    let price = if selection.price <= 0.0 {
        String::new()
    } else {
        format!("at {} {} per harmed job, ", six_digits(selection.price), answer.unit)
    };
    let gentler = if is_best(selection, lead) {
        of_gentler(answer, row, &[&lead.train.rule])
    } else {
        String::new()
    };
    let what = killing(answer, lead);
    let first = format!("{price}{what} {}{gentler}", does(answer, row, within, "")?);
    let later = of_later(answer, selection, lead, "it");
    let mut rest = vec![format!("{}; {later}", how(selection, lead, ""))];
    if !is_best(selection, lead) {
        let chosen = &selection.chosen;
        let best = of_later(answer, selection, chosen, &killing(answer, chosen));
        rest.push(format!("The best rule of the past: {best}"));
    }
    rest.extend(between(answer, lead, row));
    rest.extend(
        over_all_in_short(answer, row)
            .map(|said| format!("Over all jobs, in hindsight, it {said}")),
    );
    let most = row.destroyed_cpu_share.filter(|share| 0.0 < *share);
    let most = most.and_then(|_| most_of(row.largest_destroyed_share, "what it destroys"));
    rest.extend(most.map(|said| capital(&said)));
    Some(in_sentences(capital(&first), rest))
}

/// `saves a net 2,249 NCU-h (10.3 % of the CPU of jobs that did not finish), harms 179 of 12,231
/// finished jobs (1.5 %) and destroys 120 NCU-h (14.5 % of the CPU of finished jobs), already
/// deducted from the net`; `None` if these numbers are not known. The two shares have different
/// totals, so both amounts are given. `bounds` follow the share of the net saving.
fn does(answer: &SweepAnswer, row: &SweepRow, within: &str, bounds: &str) -> Option<String> {
    let (net, harmed) = (row.net_share?, row.harmed_jobs?);
    let finished = counted(answer.finished_jobs_with_tasks?, "finished job");
    let share = row.harmed_jobs_share.filter(|_| 0 < harmed);
    let share = share.map_or_else(String::new, |share| format!(" ({})", percent(share)));
    // The harm is known only for jobs with loaded tasks.
    let within = if within.is_empty() { String::new() } else { format!(" with tasks{within}") };
    let harms = format!("harms {} of {finished}{within}{share}", grouped(harmed));
    let amount = |cpu: Option<f64>, share: f64, of: &str| match cpu {
        Some(cpu) => format!("{} {} ({} of {of})", six_digits(cpu), answer.unit, percent(share)),
        None => format!("{} of {of}", percent(share)),
    };
    let and = match row.destroyed_cpu_share.filter(|share| 0.0 < *share) {
        Some(share) => {
            let destroyed = amount(row.destroyed_cpu, share, "the CPU of finished jobs");
            format!(", {harms} and destroys {destroyed}, already deducted from the net")
        }
        None => format!(" and {harms}"),
    };
    let of = format!("the {} of {}{bounds}", answer.cpu_words(), lost_jobs(&answer.total_cpu));
    Some(format!("saves a net {}{and}", amount(row.net_cpu, net, &of)))
}

/// `; killing tasks after 30 min of dead time saves 9.7 %, harms 27 and destroys 16.5 %`. Empty if
/// no rule that harms at most half as many jobs saves nearly as much. The parameters of rules in
/// `explained` are not explained again.
fn of_gentler(answer: &SweepAnswer, row: &SweepRow, explained: &[&str]) -> String {
    let said = gentler(answer.sweeps(), row).and_then(|(rule, own)| {
        let (net, harmed) = (percent(own.net_share?), grouped(own.harmed_jobs?));
        let does = match own.destroyed_cpu_share {
            Some(share) => format!("saves {net}, harms {harmed} and destroys {}", percent(share)),
            None => format!("saves {net} and harms {harmed}"),
        };
        let say = if explained.contains(&rule) { condition } else { plainly };
        Some(format!("; killing tasks {} {does}", say(rule, own.threshold)))
    });
    said.unwrap_or_default()
}

/// The sentences after the first one, about a rule that is not confirmed, or whose effect on all
/// jobs is unknown.
fn unconfirmed(answer: &SweepAnswer, selection: &Selection, lead: &Choice) -> Vec<String> {
    let row = row_of_choice(answer, lead);
    let mut all: Vec<String> = row.and_then(|row| between(answer, lead, row)).into_iter().collect();
    all.push(how(selection, lead, &price_of(answer, selection)));
    if !is_best(selection, lead) {
        let chosen = &selection.chosen;
        let best = of_later(answer, selection, chosen, &killing(answer, chosen));
        all.push(format!("The best rule of the past: {best}"));
    }
    let destroys = row.and_then(|row| Some((destroys(row)?, row.harmed_jobs?)));
    let destroys = destroys.map(|(said, harmed)| {
        format!("Over all jobs, it harms {} that finished and {said}", grouped(harmed))
    });
    let harms = row.and_then(|row| row.harmed_jobs).filter(|_| destroys.is_none());
    let harms = harms.map(|jobs| format!("; it harms {}", counted(jobs, "finished job")));
    all.extend(row.and_then(|row| over_all(answer, row)).map(|said| {
        format!("Over all jobs, in hindsight, it {said}{}", harms.unwrap_or_default())
    }));
    all.extend(destroys);
    all
}

/// How a rule was chosen; `price` is the price of a harmed job, if the sentence before does not
/// give it.
fn how(selection: &Selection, lead: &Choice, price: &str) -> String {
    let train_jobs = counted(selection.train_jobs, "job");
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

/// Whether a choice is the best one on earlier jobs, not a gentler one.
fn is_best(selection: &Selection, choice: &Choice) -> bool {
    let best = &selection.chosen.train;
    (&choice.train.rule, choice.train.threshold) == (&best.rule, best.threshold)
}

/// `killing tasks at the first restart`.
fn killing(answer: &SweepAnswer, choice: &Choice) -> String {
    let rule = &choice.train.rule;
    let what = choice.train.threshold.map_or_else(String::new, |threshold| {
        format!("{}{}", plainly(rule, threshold), edge(answer, rule, threshold))
    });
    format!("killing tasks {what}")
}

/// `it saves a net 3,300 NCU-s, 6.4 % of the CPU of 860 jobs submitted after the rule was chosen,
/// and harms 12 of the 640 that finished`.
fn of_later(answer: &SweepAnswer, selection: &Selection, choice: &Choice, what: &str) -> String {
    let test = &choice.test;
    // Results of an earlier version lack the number of finished jobs, and the CPU of all later
    // jobs.
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

/// Whether a choice saves CPU time of later jobs. If it has an interval over all jobs, this must
/// also be above zero.
fn is_confirmed(answer: &SweepAnswer, choice: &Choice) -> bool {
    let bounds = row_of_choice(answer, choice).and_then(net_bounds);
    0.0 < choice.test.gain && bounds.is_none_or(|(low, _)| 0.0 < low)
}

/// The share of the net saving of a row in jobs that could be used to choose or test a rule. `None`
/// if the two groups of jobs have different rules or parameters. Also `None` if the groups lose, so
/// that the rest saves more than the total.
fn tested_share(choice: &Choice, row: &SweepRow) -> Option<f64> {
    let (train, test) = (&choice.train, &choice.test);
    let (all, known) = (row.net_cpu?, train.net_cpu + test.net_cpu);
    let is_same = (&train.rule, train.threshold) == (&test.rule, test.threshold);
    (is_same && 0.0 < all && 0.0 <= known).then(|| known / all)
}

/// A sentence about how few jobs could be used to choose or test a rule. `None` unless most of the
/// saving is in tasks of neither group.
fn between(answer: &SweepAnswer, choice: &Choice, row: &SweepRow) -> Option<String> {
    let (train, test) = (&choice.train, &choice.test);
    let (all, share) = (row.net_cpu?, tested_share(choice, row)?);
    (share < 0.5).then(|| {
        let [all, train, test] = [all, train.net_cpu, test.net_cpu]
            .map(|amount| format!("{} {}", six_digits(amount), answer.unit));
        format!(
            "Only {} of the saving is on jobs by which a rule could be chosen or tested: of the net \
            {all}, {train} are of the jobs that ended first and {test} of those submitted after the rule \
            was chosen; the rest is of tasks in neither group, such as those of jobs that ran then",
            percent(share)
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

/// `destroys 14.5 % of the CPU of finished jobs`: a rule that harms few jobs may still destroy
/// much. `None` if it destroys nothing, or if that is unknown.
fn destroys(row: &SweepRow) -> Option<String> {
    let share = row.destroyed_cpu_share.filter(|share| 0.0 < *share)?;
    let most = of_one_job(row.largest_destroyed_share, "that");
    Some(format!("destroys {} of the CPU of finished jobs{most}", percent(share)))
}

fn row_of<'a>(answer: &'a SweepAnswer, rule: &str, threshold: i64) -> Option<&'a SweepRow> {
    let (_, rows) = answer.sweeps().find(|(name, _)| *name == rule)?;
    rows.iter().find(|row| row.threshold == threshold)
}

//! Which kill rule to take, and what it costs.

use super::{Told, of_one_job};
use crate::answers::condition::{LIMITS, OF_REQUESTED, condition};
use crate::answers::sentences::{capital, percent};
use crate::answers::sweep::{SweepAnswer, lost_jobs};
use crate::digits::{counted, grouped, six_digits};
use crate::results::envelope::Envelope;
use crate::studies::kill_sweep::{ByOutcome, SweepRow};
use crate::studies::selection::{Choice, GENTLER, NEARLY, Selection};

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

/// The rule chosen on earlier jobs, or one that was gentler on them and saves CPU time of later jobs
/// too: what it saves and harms of later jobs; then, in sentences of their own, how it was chosen and
/// what it saves over all jobs.
fn selected(answer: &SweepAnswer, selection: &Selection) -> Told {
    let (chosen, train_jobs) = (&selection.chosen, counted(selection.train_jobs, "job"));
    let price = price_of(answer, selection);
    if chosen.train.threshold.is_none() {
        return Told::NotShown(format!(
            "No kill rule is shown to save CPU time: on the {train_jobs} that ended first{price}, the best \
            choice is `{}`",
            chosen.train.rule
        ));
    }
    // Both must hold on later jobs: a second choice is no second try.
    let is_held = |own: &&Choice| is_confirmed(answer, own) && is_confirmed(answer, chosen);
    let lead = selection.gentler.as_ref().filter(is_held);
    let is_gentler = lead.is_some();
    let lead = lead.unwrap_or(chosen);
    let row = lead.train.threshold.and_then(|own| row_of(answer, &lead.train.rule, own));
    let over_all = row.and_then(|row| over_all(answer, row));
    let destroys = row.and_then(destroys);
    let jobs = row.and_then(|row| row.harmed_jobs).filter(|_| destroys.is_none());
    let harms = jobs.map(|jobs| format!("; it harms {}", counted(jobs, "finished job")));
    let over_all = over_all.map(|said| {
        let between = row.and_then(|row| between(answer, lead, row)).unwrap_or_default();
        format!(". Over all jobs, in hindsight, it {said}{}{between}", harms.unwrap_or_default())
    });
    let how = if is_gentler {
        format!(
            ". The rule was chosen on {train_jobs} that ended first: of those that saved nearly as much as \
            the best{price}, it harmed fewest, {} instead of {}",
            counted(lead.train.harmed_jobs, "finished job"),
            grouped(chosen.train.harmed_jobs)
        )
    } else {
        format!(". The rule was chosen on {train_jobs} that ended first{price}")
    };
    let over_all = how + &over_all.unwrap_or_default();
    let gentler = row.filter(|_| !is_gentler).and_then(|row| gentler(answer, row));
    // What a gentler rule harms decides more than what all jobs would add.
    let (first, then) = match (destroys, gentler.is_some()) {
        (Some(said), true) => {
            let rule =
                row.map_or_else(String::new, |row| condition(&lead.train.rule, row.threshold));
            (None, Some(format!(". Over all jobs, killing tasks {rule} {said}")))
        }
        (said, _) => (said.map(|said| format!("; over all jobs it {said}")), None),
    };
    let best = is_gentler
        .then(|| format!(". The best rule of the past: {}", of_later(answer, selection, chosen)));
    let further = [first, gentler, then, best].into_iter().flatten();
    let later = of_later(answer, selection, lead) + &further.collect::<String>();
    if is_confirmed(answer, lead) {
        return Told::Shown(format!("{}{over_all}", doubted(answer, &lead.train.rule, &later)));
    }
    let why = match row.and_then(net_bounds) {
        Some((_, high)) if high < 0.0 => "the interval lies below zero",
        Some((low, _)) if low <= 0.0 => "the interval spans zero",
        _ => "later jobs do not confirm it",
    };
    Told::NotShown(format!(
        "No kill rule is shown to save CPU time, because {why}: {later}{over_all}"
    ))
}

/// `killing tasks at the first restart saves a net 3,300 NCU-s on 860 jobs submitted after the choice
/// and harms 12 of the 640 that finished`.
fn of_later(answer: &SweepAnswer, selection: &Selection, choice: &Choice) -> String {
    let (rule, test) = (&choice.train.rule, &choice.test);
    let what = choice.train.threshold.map_or_else(String::new, |threshold| {
        format!("{}{}", condition(rule, threshold), edge(answer, rule, threshold))
    });
    // Results of an earlier version lack the number of finished jobs.
    let harmed = match selection.test_finished_jobs {
        Some(finished) => {
            format!("{} of the {} that finished", grouped(test.harmed_jobs), grouped(finished))
        }
        None => counted(test.harmed_jobs, "finished job"),
    };
    let requested = if answer.cpu == "requested" { " of requested CPU" } else { "" };
    format!(
        "killing tasks {what} saves a net {} {}{requested} on {} submitted after the choice and harms \
        {harmed}",
        six_digits(test.net_cpu),
        answer.unit,
        counted(selection.test_jobs, "job"),
    )
}

/// Whether later jobs confirm that a choice saves CPU time, and its interval over all jobs, if it has
/// one, is above zero.
fn is_confirmed(answer: &SweepAnswer, choice: &Choice) -> bool {
    let row = choice.train.threshold.and_then(|own| row_of(answer, &choice.train.rule, own));
    0.0 < choice.test.gain && row.and_then(net_bounds).is_none_or(|(low, _)| 0.0 < low)
}

/// How much of the saving over all jobs is of the two groups, if most is of tasks in neither. `None` if
/// the groups have other parameters, or if they lose, so that the rest saves more than all.
fn between(answer: &SweepAnswer, choice: &Choice, row: &SweepRow) -> Option<String> {
    let (train, test) = (&choice.train, &choice.test);
    let all = row.net_cpu?;
    let others = all - train.net_cpu - test.net_cpu;
    let is_same = (&train.rule, train.threshold) == (&test.rule, test.threshold);
    (is_same && all < 2.0 * others && others <= all).then(|| {
        let [all, train, test] = [all, train.net_cpu, test.net_cpu]
            .map(|amount| format!("{} {}", six_digits(amount), answer.unit));
        format!(
            ". Of the net {all}, {train} are of the jobs that ended first and {test} of those submitted \
            after the choice; the rest is of tasks in neither group, such as those of jobs that ran then"
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

/// Rules whose parameter counts events of a task, from 1 on.
const COUNTS: [&str; 3] = ["events", "failures", "restarts"];

/// Whether a parameter is the first or the last that was tried, so that the best one may be beyond.
fn edge(answer: &SweepAnswer, rule: &str, threshold: i64) -> &'static str {
    let rows = answer.sweeps().find(|(name, _)| *name == rule).map_or(&[][..], |(_, rows)| rows);
    let is = |row: Option<&SweepRow>| row.is_some_and(|row| row.threshold == threshold);
    // There is no smaller count than 1.
    let is_least = threshold == 1 && COUNTS.iter().any(|name| rule.starts_with(name));
    match rows {
        [] | [_] => "",
        _ if is_least => "",
        _ if is(rows.first()) => " (the smallest T that was tried)",
        _ if is(rows.last()) => " (the largest T that was tried)",
        _ => "",
    }
}

/// `harms 179 that finished and destroys 14.5 % of the CPU of finished jobs`: a rule that harms few
/// jobs may destroy much. `None` if it destroys nothing, or that is not known.
fn destroys(row: &SweepRow) -> Option<String> {
    let share = row.destroyed_cpu_share.filter(|share| 0.0 < *share)?;
    Some(format!(
        "harms {} that finished and destroys {} of the CPU of finished jobs{}",
        grouped(row.harmed_jobs?),
        percent(share),
        of_one_job(row.largest_destroyed_share, "that"),
    ))
}

/// The smallest difference of two shares that a sentence shows.
const SHOWN: f64 = 0.001;

/// The rule that harms fewest jobs of those that save nearly as much as a row, as the end of the first
/// sentence; one that destroys no more CPU if there is any. `None` if none harms at most half as
/// many.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn gentler(answer: &SweepAnswer, than: &SweepRow) -> Option<String> {
    let (net, harmed) = (than.net_share.filter(|net| 0.0 < *net)?, than.harmed_jobs?);
    // Limits have a sentence of their own.
    let all = answer.sweeps().filter(|(rule, _)| *rule != LIMITS);
    let all = all.flat_map(|(rule, rows)| rows.iter().map(move |row| (rule, row)));
    let destroyed = |row: &SweepRow| row.destroyed_cpu_share.unwrap_or(0.0);
    let known = all.filter_map(|(rule, row)| Some((row.harmed_jobs?, row.net_share?, rule, row)));
    let near = known.filter(|(own, share, _, _)| {
        NEARLY * net <= *share && *own as f64 <= GENTLER * harmed as f64 && *own < harmed
    });
    // A difference that the sentence would not show does not count.
    let destroys_more = |row: &SweepRow| SHOWN < destroyed(row) - destroyed(than);
    let (own, share, rule, row) = near.min_by(|one, other| {
        destroys_more(one.3)
            .cmp(&destroys_more(other.3))
            .then(one.0.cmp(&other.0))
            .then(other.1.total_cmp(&one.1))
    })?;
    let much = if net <= share { "no less" } else { "nearly as much" };
    let more = if destroys_more(row) {
        let [own, other] = [row, than].map(|row| percent(destroyed(row)));
        format!(", but destroys {own} of the CPU of finished jobs instead of {other}")
    } else {
        String::new()
    };
    Some(format!(
        "; killing tasks {} saves {much} over all jobs ({} instead of {}) and harms {} instead of {}{more}",
        condition(rule, row.threshold),
        percent(share),
        percent(net),
        counted(own, "finished job"),
        grouped(harmed)
    ))
}

/// A sentence about a rule; it begins with a doubt if the rule acts at restarts and most of them follow
/// an eviction by the scheduler, which says nothing of the task itself.
fn doubted(answer: &SweepAnswer, rule: &str, said: &str) -> String {
    let acts = ["restarts", "dead-time"].iter().any(|name| rule.starts_with(name));
    let (all, evicted) = (answer.restarts, answer.restarts_after_eviction);
    if acts && all < evicted.saturating_mul(2) {
        format!(
            "Doubtful, since {} of {} restarts follow an eviction by the scheduler, not a failure: {said}",
            grouped(evicted),
            grouped(all)
        )
    } else {
        capital(said)
    }
}

/// The interval of the net saving of a row, if jobs were resampled.
fn net_bounds(row: &SweepRow) -> Option<(f64, f64)> {
    row.interval.as_ref()?.net_share
}

/// The least that a row saves: the lower end of its interval, or its net saving if it has none.
fn certain(row: &SweepRow) -> Option<f64> {
    net_bounds(row).map(|(low, _)| low).or(row.net_share)
}

/// A sentence about the time limit with the largest certain saving, in hindsight.
fn limits(answer: &SweepAnswer) -> Option<String> {
    let (_, rows) = answer.sweeps().find(|(rule, _)| *rule == LIMITS)?;
    let all = rows.iter().filter_map(|row| Some((certain(row)?, row)));
    let (least, row) = all.max_by(|one, other| one.0.total_cmp(&other.0))?;
    if least <= 0.0 {
        return Some(". No time limit is shown to save more than it destroys".to_owned());
    }
    Some(format!(
        ". In hindsight, a limit at {}{OF_REQUESTED}{} saves a net {} of the {} of {}{}, and harms {}",
        row.threshold,
        cut_by(row.threshold),
        percent(row.net_share?),
        answer.cpu_words(),
        lost_jobs(&answer.total_cpu),
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
        let mut rows = answer.sweeps().flat_map(|(_, rows)| rows);
        let none = if rows.any(changes) {
            "No kill rule that was tried saves more than it destroys"
        } else {
            "The kill rules that were tried kill no task, or only tasks that have no CPU time left to use"
        };
        return Some(Told::NotShown(none.to_owned()));
    }
    let what = condition(rule, row.threshold);
    let cut = if rule == LIMITS { cut_by(row.threshold) } else { "" };
    let edge = edge(answer, rule, row.threshold);
    let finished = answer.finished_jobs_with_tasks?;
    let harmed = grouped(row.harmed_jobs?);
    let harmed = format!("{harmed} of {}", counted(finished, "finished job"));
    let said =
        format!("killing tasks {what}{edge}{cut} harms {harmed} and {}", over_all(answer, row)?);
    let said = said + &gentler(answer, row).unwrap_or_default();
    let more = if rule == LIMITS { fitted(answer, row) } else { None }.unwrap_or_default();
    if spans_zero(row) {
        return Some(Told::NotShown(format!(
            "No kill rule is shown to save CPU time; the best in hindsight: {said}{more}"
        )));
    }
    let untested = format!("The rule is fitted to these jobs and not tested on others{more}");
    // Results of an earlier version do not count them.
    let tasks = lost_tasks(row);
    if (1..FEW_TASKS).contains(&tasks) {
        return Some(Told::NotShown(format!(
            "No kill rule is shown to save CPU time: the best in hindsight rests on {}. {}. {untested}",
            counted(tasks, "task"),
            capital(&said)
        )));
    }
    let said = doubted(answer, rule, &format!("in hindsight, {said}"));
    Some(Told::Shown(format!("{said}. {untested}")))
}

/// Whether a rule saves or destroys anything.
fn changes(row: &SweepRow) -> bool {
    let saves = row.saved_cpu.iter().any(|(_, cpu)| cpu.is_some_and(|cpu| cpu != 0.0));
    saves || row.destroyed_cpu.is_some_and(|cpu| cpu != 0.0)
}

/// A rule that was not tested on later jobs and kills fewer tasks than this is not shown to save.
const FEW_TASKS: u64 = 10;

/// What a limit of so many per cent of the requested time means for time limits.
const fn cut_by(percent: i64) -> &'static str {
    match percent {
        25 => ", that is with all time limits cut by three quarters,",
        50 => ", that is with all time limits cut by half,",
        75 => ", that is with all time limits cut by a quarter,",
        90 => ", that is with all time limits cut by a tenth,",
        100 => ", that is at the time limit itself,",
        shorter if shorter < 100 => ", that is with shorter time limits,",
        _ => ", that is with longer time limits,",
    }
}

/// A sentence about how a limit below 100 % that harms no job is fitted: finished jobs came close to
/// it, and the tasks that it kills are those that ran to their limit.
fn fitted(answer: &SweepAnswer, row: &SweepRow) -> Option<String> {
    let (_, rows) = answer.sweeps().find(|(name, _)| *name == LIMITS)?;
    if row.harmed_jobs != Some(0) || 100 <= row.threshold {
        return None;
    }
    let (before, harmed) = rows
        .iter()
        .filter(|own| own.threshold < row.threshold)
        .filter_map(|own| Some((own.threshold, own.harmed_jobs.filter(|jobs| 0 < *jobs)?)))
        .next_back()?;
    let whole = rows.iter().find(|own| own.threshold == 100).map_or(0, lost_tasks);
    let ran_out = if 0 < whole && whole == lost_tasks(row) {
        "; the tasks that it kills are those that ran to their limit (if such a job goes on from a checkpoint, \
        nothing is saved)"
    } else {
        ""
    };
    Some(format!(
        ": {} took more than {before} % of the requested time, and none more than {} %{ran_out}",
        counted(harmed, "finished job"),
        row.threshold
    ))
}

/// `saves a net 10.3 % of the CPU of jobs that did not finish (95 % interval ...)`, with its share
/// of all CPU, the tasks that it rests on, and the parts of jobs whose outcome is not known.
fn over_all(answer: &SweepAnswer, row: &SweepRow) -> Option<String> {
    let bounds = net_bounds(row).map_or_else(String::new, |(low, high)| {
        format!(" (95 % interval {} to {})", percent(low), percent(high))
    });
    let amount = row
        .net_cpu
        .map_or_else(String::new, |net| format!("{} {}, ", six_digits(net), answer.unit));
    let all: Option<Vec<f64>> =
        answer.total_cpu.iter().map(|(_, amount)| amount).collect::<Option<Vec<f64>>>();
    let all: f64 = all.unwrap_or_default().iter().sum();
    let of_all = row.net_cpu.filter(|_| 0.0 < all).map_or_else(String::new, |net| {
        format!(" and {} of all {}", percent(net / all), answer.cpu_words())
    });
    Some(format!(
        "saves a net {amount}{} of the {} of {}{bounds}{of_all}{}{}{}",
        percent(row.net_share?),
        answer.cpu_words(),
        lost_jobs(&answer.total_cpu),
        rests_on(row),
        of_one_job(row.largest_saved_in_all, "what is saved"),
        still_open(answer, row),
    ))
}

/// Whether jobs with an outcome count as jobs that did not finish.
fn is_lost(outcome: &str) -> bool {
    outcome != "finished"
}

/// The tasks of jobs that did not finish after whose kill CPU is saved.
fn lost_tasks(row: &SweepRow) -> u64 {
    let sum = |counts: &ByOutcome<u64>| -> u64 {
        counts.iter().filter(|(outcome, _)| is_lost(outcome)).filter_map(|(_, count)| count).sum()
    };
    sum(&row.condemned_tasks).saturating_sub(sum(&row.condemned_at_end))
}

/// ` by killing 9 of their tasks`: those after whose kill CPU is saved; empty if there are none.
fn rests_on(row: &SweepRow) -> String {
    match lost_tasks(row) {
        0 => String::new(),
        tasks => format!(" by killing {} of their tasks", grouped(tasks)),
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
        Some(base) => format!(
            ", and {base} of the {} of {}, belong",
            answer.cpu_words(),
            lost_jobs(&answer.total_cpu)
        ),
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

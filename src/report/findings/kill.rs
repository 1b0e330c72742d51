//! Which kill rule to use, and what it costs.

use super::kill_chosen::selected;
use super::kill_saving::{
    ADVICE, edge, evictions, gentler_said, net_bounds, of_all_cpu, over_all, over_all_with_amount,
    plainly, rests_on, with_doubt,
};
use super::{Told, within};
use crate::answers::condition::{LIMITS, OF_REQUESTED, condition};
use crate::answers::sentences::{percent, short};
use crate::answers::sweep::{FEW_TASKS, SweepAnswer, lost_jobs, lost_tasks};
use crate::digits::{counted, grouped, six_digits};
use crate::results::envelope::Envelope;
use crate::studies::kill_sweep::SweepRow;

/// The rule that is best on earlier jobs, with its score on later jobs and its interval over all
/// jobs. If jobs cannot be split by time, the rule with the largest lower bound of the net saving,
/// in hindsight.
pub(super) fn kill(stored: &Envelope) -> Option<Told> {
    let answer: &SweepAnswer = stored.found()?;
    let told = match &answer.selection {
        Some(selection) => Some(selected(answer, selection, &within(&stored.inputs))),
        None => in_hindsight(answer),
    };
    let Some(limits) = limits(answer) else { return told };
    let with_limits = |said: String| {
        // The rule may itself be a time limit.
        if said.contains(OF_REQUESTED) { said } else { said + &limits }
    };
    told.map(|told| match told {
        Told::Shown(said) => Told::Shown(with_limits(said)),
        Told::NotShown(said) => Told::NotShown(with_limits(said)),
        unknown @ Told::Unknown(_) => unknown,
    })
}

/// The least that a row saves: the lower end of its interval, or its net saving if it has no
/// interval.
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

/// The row with the largest lower bound of the net saving; without intervals, the one with the
/// largest net saving.
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
    let what = plainly(rule, row.threshold);
    let cut = if rule == LIMITS { cut_by(row.threshold) } else { "" };
    let edge = edge(answer, rule, row.threshold);
    let finished = answer.finished_jobs_with_tasks?;
    let harmed = grouped(row.harmed_jobs?);
    let harmed = format!("{harmed} of {}", counted(finished, "finished job"));
    let does = format!("harms {harmed} and {}", over_all(answer, row)?);
    let gentler = gentler_said(answer, row).unwrap_or_default();
    let does = does + &gentler;
    let said = format!("killing tasks {what}{edge}{cut} {does}");
    let more = if rule == LIMITS { fitted(answer, row) } else { None }.unwrap_or_default();
    if spans_zero(row) {
        return Some(Told::NotShown(format!(
            "No kill rule is shown to save CPU time; the best in hindsight: {said}{more}"
        )));
    }
    let loses = by_one_job(answer, rule).map_or_else(String::new, |said| format!(". {said}"));
    let untested =
        format!("The rule is fitted to these jobs and not tested on others{more}{loses}");
    // Results of an earlier version do not have this count.
    let tasks = lost_tasks(row);
    if (1..FEW_TASKS).contains(&tasks) {
        return Some(Told::NotShown(format!(
            "{ADVICE}the best one in hindsight, killing tasks {what}{edge}{}, would have saved {}, but by \
            killing only {}. It harms {harmed} and {}{gentler}. {untested}",
            cut.trim_end_matches(','),
            of_all_cpu(answer, row).unwrap_or(percent(row.net_share?)),
            counted(tasks, "task"),
            over_all_with_amount(answer, row)?,
        )));
    }
    if finished < row.harmed_jobs?.saturating_mul(2) {
        return Some(Told::NotShown(format!(
            "No kill rule is shown to be worth its harm; the best in hindsight: {said}. {untested}"
        )));
    }
    let doubt = evictions(answer, rule);
    let said = with_doubt(&format!("in hindsight, {said}"), doubt.as_deref());
    Some(Told::Shown(format!("{said}. {untested}")))
}

/// A sentence about a setting of a rule that loses only because of one finished job; `None` if
/// there is no such setting.
fn by_one_job(answer: &SweepAnswer, rule: &str) -> Option<String> {
    let (_, rows) = answer.sweeps().find(|(name, _)| *name == rule)?;
    rows.iter().find_map(|row| {
        let (net, share, job) = (row.net_cpu?, row.net_share?, row.harmed.first()?);
        let user = job.user.as_deref().filter(|user| !matches!(*user, "" | "-"));
        let whose = user.map_or_else(String::new, |user| format!(" of user {}", short(user)));
        (net < 0.0 && 0.0 < net + job.destroyed_cpu).then(|| {
            format!(
                "Killing tasks {} loses a net {}, because of one finished job{whose} ({} {} \
                by then)",
                condition(rule, row.threshold),
                percent(-share),
                six_digits(job.destroyed_cpu),
                answer.unit
            )
        })
    })
}

/// Whether a rule saves or destroys anything.
fn changes(row: &SweepRow) -> bool {
    let saves = row.saved_cpu.iter().any(|(_, cpu)| cpu.is_some_and(|cpu| cpu != 0.0));
    saves || row.destroyed_cpu.is_some_and(|cpu| cpu != 0.0)
}

/// The meaning of a limit in per cent of the requested time, in words about time limits.
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

/// A sentence about how a limit below 100 % that harms no job is fitted to the data: finished jobs
/// came close to it, and the tasks that it kills are those that ran to their limit.
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

fn spans_zero(row: &SweepRow) -> bool {
    net_bounds(row).is_some_and(|(low, high)| low <= 0.0 && 0.0 <= high)
}

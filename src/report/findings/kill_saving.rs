//! What one setting of a kill rule saves and harms, in parts of sentences.
//!
//! In: rows of a sweep. Out: their net saving with its interval and what it rests on, a gentler rule that
//! saves nearly as much, and a doubt about rules that act at restarts.

use super::of_one_job;
use crate::answers::condition::{LIMITS, condition};
use crate::answers::sentences::{capital, percent};
use crate::answers::sweep::{SweepAnswer, lost_jobs};
use crate::digits::{counted, grouped, six_digits};
use crate::studies::kill_sweep::{ByOutcome, SweepRow};
use crate::studies::selection::{GENTLER, NEARLY};

/// Rules whose parameter counts events of a task, from 1 on.
const COUNTS: [&str; 3] = ["events", "failures", "restarts"];

/// Whether a parameter is the first or the last that was tried, so that the best one may be beyond.
pub(super) fn edge(answer: &SweepAnswer, rule: &str, threshold: i64) -> &'static str {
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

/// The smallest difference of two shares that a sentence shows.
const SHOWN: f64 = 0.001;

/// The rule that harms fewest jobs of those that save nearly as much as a row, and its row; one that
/// destroys no more CPU if there is any. `None` if none harms at most half as many.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
pub(super) fn gentler<'a>(
    answer: &'a SweepAnswer,
    than: &SweepRow,
) -> Option<(&'a str, &'a SweepRow)> {
    let (net, harmed) = (than.net_share.filter(|net| 0.0 < *net)?, than.harmed_jobs?);
    // Limits have a sentence of their own.
    let all = answer.sweeps().filter(|(rule, _)| *rule != LIMITS);
    let all = all.flat_map(|(rule, rows)| rows.iter().map(move |row| (rule, row)));
    let known = all.filter_map(|(rule, row)| Some((row.harmed_jobs?, row.net_share?, rule, row)));
    let near = known.filter(|(own, share, _, _)| {
        NEARLY * net <= *share && *own as f64 <= GENTLER * harmed as f64 && *own < harmed
    });
    let (_, _, rule, row) = near.min_by(|one, other| {
        destroys_more(one.3, than)
            .cmp(&destroys_more(other.3, than))
            .then(one.0.cmp(&other.0))
            .then(other.1.total_cmp(&one.1))
    })?;
    Some((rule, row))
}

/// The share of the CPU of finished jobs that a row destroys.
fn destroyed(row: &SweepRow) -> f64 {
    row.destroyed_cpu_share.unwrap_or(0.0)
}

/// Whether a row destroys more than another one; a difference that a sentence would not show does not
/// count.
fn destroys_more(row: &SweepRow, than: &SweepRow) -> bool {
    SHOWN < destroyed(row) - destroyed(than)
}

/// What a gentler rule does, as the end of a sentence about a row; empty if there is none.
pub(super) fn gentler_said(answer: &SweepAnswer, than: &SweepRow) -> Option<String> {
    let (rule, row) = gentler(answer, than)?;
    let (own, share) = (row.harmed_jobs?, row.net_share?);
    let (harmed, net) = (than.harmed_jobs?, than.net_share?);
    let much = if net <= share { "no less" } else { "nearly as much" };
    let more = if destroys_more(row, than) {
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

/// A sentence of its own if a rule acts at restarts and most of them follow an eviction by the
/// scheduler, which says nothing of the task itself.
pub(super) fn evictions(answer: &SweepAnswer, rule: &str) -> Option<String> {
    let acts = ["restarts", "dead-time"].iter().any(|name| rule.starts_with(name));
    let (all, evicted) = (answer.restarts, answer.restarts_after_eviction);
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 attempts")]
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    (acts && all < evicted.saturating_mul(2)).then(|| {
        format!(
            "{} of {} restarts follow an eviction by the scheduler, not a failure",
            percent(share(evicted, all)),
            grouped(all)
        )
    })
}

/// A first sentence; it begins with a warning if there is a doubt, which another sentence explains.
pub(super) fn with_doubt(said: &str, doubt: Option<&str>) -> String {
    match doubt {
        Some(_) => format!("Check before use: {said}"),
        None => capital(said),
    }
}

/// The interval of the net saving of a row, if jobs were resampled.
pub(super) fn net_bounds(row: &SweepRow) -> Option<(f64, f64)> {
    row.interval.as_ref()?.net_share
}

/// `saves a net 10.3 % of the CPU of jobs that did not finish (95 % interval ...)`, with its share
/// of all CPU, the tasks that it rests on, and the parts of jobs whose outcome is not known.
pub(super) fn over_all(answer: &SweepAnswer, row: &SweepRow) -> Option<String> {
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
pub(super) fn lost_tasks(row: &SweepRow) -> u64 {
    let sum = |counts: &ByOutcome<u64>| -> u64 {
        counts.iter().filter(|(outcome, _)| is_lost(outcome)).filter_map(|(_, count)| count).sum()
    };
    sum(&row.condemned_tasks).saturating_sub(sum(&row.condemned_at_end))
}

/// ` by killing 9 of their tasks`: those after whose kill CPU is saved; empty if there are none.
pub(super) fn rests_on(row: &SweepRow) -> String {
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

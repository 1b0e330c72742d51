//! The saving and the harm of one setting of a kill rule, as parts of sentences.
//!
//! In: rows of a sweep. Out: their net saving with its interval and the tasks that it depends on,
//! the effect of a gentler rule, and a doubt about rules that act at restarts.

use super::of_one_job;
use crate::answers::condition::condition;
use crate::answers::sentences::{capital, percent};
use crate::answers::sweep::{
    SweepAnswer, destroyed, destroys_more, gentler, lost_jobs, lost_tasks,
};
use crate::digits::{counted, grouped, six_digits};
use crate::studies::kill_sweep::{ByOutcome, SweepRow};

/// Rules whose parameter counts events of a task, from 1 on.
const COUNTS: [&str; 3] = ["events", "failures", "restarts"];

/// A note if a parameter is the first or the last that was tried, because the best one may be
/// beyond it.
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

/// The effect of a gentler rule, as the end of a sentence about a row; `None` if there is no
/// gentler rule.
pub(super) fn gentler_said(answer: &SweepAnswer, than: &SweepRow) -> Option<String> {
    let (rule, row) = gentler(answer.sweeps(), than)?;
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

/// A clause for rules that act at restarts if most restarts follow an eviction by the scheduler.
/// Such a restart says nothing about the task:
/// `71.0 % of restarts follow an eviction, not a failure`.
pub(super) fn evictions(answer: &SweepAnswer, rule: &str) -> Option<String> {
    let acts = ["restarts", "dead-time"].iter().any(|name| rule.starts_with(name));
    let (all, evicted) = (answer.restarts, answer.restarts_after_eviction);
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 attempts")]
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    let what = if rule.starts_with("dead-time") {
        ", and dead time counts evicted attempts too"
    } else {
        ", not a failure"
    };
    (acts && all < evicted.saturating_mul(2))
        .then(|| format!("{} of restarts follow an eviction{what}", percent(share(evicted, all))))
}

/// The condition under which a rule kills, with the meaning of its parameter if the name does not
/// give it.
pub(super) fn plainly(rule: &str, threshold: i64) -> String {
    let when = condition(rule, threshold);
    let meaning =
        if rule.starts_with("dead-time") { " (in attempts that did not finish)" } else { "" };
    format!("{when}{meaning}")
}

/// The start of a first sentence about rules that are not safe to adopt.
pub(super) const ADVICE: &str = "Do not adopt a kill rule yet: ";

/// A first sentence. If there is a doubt, the reason for it comes first.
pub(super) fn with_doubt(said: &str, doubt: Option<&str>) -> String {
    let said = capital(said);
    doubt.map_or_else(|| said.clone(), |why| format!("{ADVICE}{why}. {said}"))
}

/// The interval of the net saving of a row, if jobs were resampled.
pub(super) fn net_bounds(row: &SweepRow) -> Option<(f64, f64)> {
    row.interval.as_ref()?.net_share
}

/// `95 % interval 6.2 % to 15.2 %`, of the net saving of a row.
pub(super) fn bounds_said(row: &SweepRow) -> Option<String> {
    let (low, high) = net_bounds(row)?;
    Some(format!("95 % interval {} to {}", percent(low), percent(high)))
}

/// `2,249 processor-h, `: the net saving of a row; empty if it is not known.
fn amount_of(answer: &SweepAnswer, row: &SweepRow) -> String {
    let said = |net| format!("{} {}, ", six_digits(net), answer.unit);
    row.net_cpu.map_or_else(String::new, said)
}

/// `saves a net 10.3 % of the CPU of jobs that did not finish (95 % interval ...)`. It also has the
/// amount, its share of all CPU, the tasks that it depends on, and the parts in jobs with unknown
/// outcome.
pub(super) fn over_all(answer: &SweepAnswer, row: &SweepRow) -> Option<String> {
    let amount = amount_of(answer, row);
    let of_all = of_all_cpu(answer, row).map_or_else(String::new, |said| format!(" and {said}"));
    saves(answer, row, [&amount, &of_all, &rests_on(row)])
}

/// The same without the share of all CPU and the tasks that it depends on: an earlier sentence has
/// them.
pub(super) fn over_all_with_amount(answer: &SweepAnswer, row: &SweepRow) -> Option<String> {
    let amount = amount_of(answer, row);
    saves(answer, row, [&amount, "", ""])
}

/// `3.1 % of all requested CPU`: the net saving of a row as a share of the CPU of all jobs; `None`
/// if unknown.
pub(super) fn of_all_cpu(answer: &SweepAnswer, row: &SweepRow) -> Option<String> {
    let all = answer.total_cpu.iter().map(|(_, amount)| amount).collect::<Option<Vec<f64>>>()?;
    let all = all.iter().sum::<f64>();
    let net = row.net_cpu.filter(|_| 0.0 < all)?;
    Some(format!("{} of all {}", percent(net / all), answer.cpu_words()))
}

/// The same as [`over_all`] without the amount and its share of all CPU.
pub(super) fn over_all_in_short(answer: &SweepAnswer, row: &SweepRow) -> Option<String> {
    saves(answer, row, ["", "", &rests_on(row)])
}

fn saves(answer: &SweepAnswer, row: &SweepRow, parts: [&str; 3]) -> Option<String> {
    let [amount, of_all, rests_on] = parts;
    let bounds = bounds_said(row).map_or_else(String::new, |said| format!(" ({said})"));
    Some(format!(
        "saves a net {amount}{} of the {} of {}{bounds}{of_all}{rests_on}{}{}",
        percent(row.net_share?),
        answer.cpu_words(),
        lost_jobs(&answer.total_cpu),
        of_one_job(row.largest_saved_in_all, "what is saved"),
        still_open(answer, row),
    ))
}

/// Whether jobs with this outcome count as jobs that did not finish.
fn is_lost(outcome: &str) -> bool {
    outcome != "finished"
}

/// ` by killing 9 of their tasks`: the tasks whose kill saves CPU time; empty if there are none.
pub(super) fn rests_on(row: &SweepRow) -> String {
    match lost_tasks(row) {
        0 => String::new(),
        tasks => format!(" by killing {} of their tasks", grouped(tasks)),
    }
}

/// The part of the CPU of jobs that did not finish in those that still ran at the end. `None` if it
/// is nothing.
fn share_of_open(amounts: &ByOutcome<f64>) -> Option<f64> {
    let lost = amounts.iter().filter(|(outcome, _)| is_lost(outcome));
    let all: f64 = lost.filter_map(|(_, amount)| amount).sum();
    let open = amounts.get("running").filter(|open| 0.0 < *open)?;
    Some(open / all)
}

/// The part of the saving in jobs that still ran at the end.
pub(super) fn saved_in_open(row: &SweepRow) -> Option<f64> {
    share_of_open(&row.saved_cpu)
}

/// The part of the saving in jobs that still ran at the end, and the part of these jobs in the CPU
/// to which the saving is compared. Empty if nothing is saved in them.
fn still_open(answer: &SweepAnswer, row: &SweepRow) -> String {
    let Some(saved) = saved_in_open(row).map(percent) else { return String::new() };
    let belong = match share_of_open(&answer.total_cpu).map(percent) {
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

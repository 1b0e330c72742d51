//! How full the cluster was, and whether another policy would have done better.

use super::Told;
use crate::answers::load::LoadAnswer;
use crate::answers::replay::{ReplayAnswer, Replayed};
use crate::answers::sentences::{Capacity, percent};
use crate::digits::{counted, grouped, six_digits};
use crate::results::envelope::Envelope;

/// A finding needs means that are smaller by more than this share of those of the first policy.
const SHORTER: f64 = 0.01;

/// What decides between policies: the mean wait of tasks, s, and the mean bounded slowdown of
/// finished tasks. The mean response of jobs does not: jobs that are cut at the end of the window,
/// which are long under every policy, dominate it.
#[derive(Clone, Copy)]
struct Delay {
    wait_s: f64,
    slowdown: f64,
}

impl Delay {
    fn of(row: &Replayed) -> Option<Self> {
        let [wait, slowdown] = [row.metrics.waiting_s?, row.metrics.bounded_slowdown?];
        Some(Self { wait_s: wait.mean, slowdown: slowdown.mean })
    }

    /// Whether both means are more than 1 % smaller.
    fn is_shorter_than(self, first: Self) -> bool {
        let is_shorter = |own: f64, first: f64| own < first * (1.0 - SHORTER);
        is_shorter(self.wait_s, first.wait_s) && is_shorter(self.slowdown, first.slowdown)
    }

    fn told(self, under: &str) -> String {
        format!("{} s and {:.2} under `{under}`", six_digits(self.wait_s), self.slowdown)
    }
}

/// The other policy with the smallest mean bounded slowdown, if that and the mean wait are more
/// than 1 % smaller than under the first policy; with the jobs that it helps and hurts. If no task
/// waits under any policy, the policies cannot differ.
pub(super) fn policy(stored: &Envelope) -> Option<Told> {
    let answer: &ReplayAnswer = stored.found()?;
    let first = answer.policies.first()?;
    let waits = |row: &Replayed| row.metrics.waiting_s.is_none_or(|waits| waits.max != 0.0);
    if !answer.policies.iter().any(waits) {
        return Some(Told::Unknown(never_full(first, answer)));
    }
    let before = Delay::of(first)?;
    let known = answer.policies[1..].iter().filter_map(|row| Some((Delay::of(row)?, row)));
    // Of policies that are equal in this, the first one.
    let (after, best) = known.min_by(|(one, _), (other, _)| {
        let is_worse = |delay: &Delay| !delay.is_shorter_than(before);
        let shorter = one.slowdown.total_cmp(&other.slowdown);
        is_worse(one).cmp(&is_worse(other)).then(shorter)
    })?;
    let [was, is] = [before.told(&first.policy), after.told(&best.policy)];
    let of = format!("{}{}", counted(answer.history?.jobs, "job"), cut(answer));
    if !after.is_shorter_than(before) {
        return Some(Told::NotShown(format!(
            "No other policy is shown to shorten both the mean wait of tasks and their mean bounded \
            slowdown in a replay of {of}: they are {was}, and at best {is}"
        )));
    }
    let against = &best.against_first;
    let (helped, hurt) = (against.helped as u64, against.hurt as u64);
    let later = if helped <= hurt { "but" } else { "and" };
    Some(Told::Shown(format!(
        "In a replay of {of}, the mean wait of tasks and their mean bounded slowdown are {is} \
        instead of {was}; {} end sooner, {later} {} later",
        counted(helped, "job"),
        grouped(hurt),
    )))
}

/// ` (1,502 with a task that still runs at the end, ...)`; empty if there is none.
fn cut(answer: &ReplayAnswer) -> String {
    let Some(counts) = answer.history.filter(|counts| 0 < counts.still_running) else {
        return String::new();
    };
    let who = match counts.jobs_still_running {
        Some(jobs) => grouped(jobs),
        None => "some".to_owned(),
    };
    format!(" ({who} with a task that is cut at the end of the window)")
}

/// Why no policy can differ.
fn never_full(first: &Replayed, answer: &ReplayAnswer) -> String {
    let stands_for = match answer.capacity() {
        Capacity::Recorded => "",
        Capacity::FromUse => ", the most ever used at once",
    };
    match first.metrics.cpu_share_max {
        Some(share) if share < 1.0 => format!(
            "The load never fills the machines (peak {} of {} {}s{stands_for}), so no policy can differ",
            percent(share),
            six_digits(first.metrics.cpu_there_at_max),
            answer.unit.trim_end_matches("-s")
        ),
        _ => "No task waits under any policy, so no policy can differ".to_owned(),
    }
}

/// The shares of the CPU capacity that running tasks requested and used, and the largest requested
/// share of one interval.
pub(super) fn load(stored: &Envelope) -> Option<Told> {
    let answer: &LoadAnswer = stored.found()?;
    let Some(requested) = answer.totals.cpu_allocated_of_capacity_share.map(percent) else {
        return no_capacity(answer);
    };
    let used = answer.totals.cpu_used_of_capacity_share;
    let used = used.map_or_else(String::new, |used| format!(" and used {}", percent(used)));
    let shares = answer.rows.iter().filter_map(|row| row.cpu_allocated_share);
    let fullest = shares.fold(0.0, f64::max);
    let capacity = Capacity::of(&stored.inputs);
    let inferred = match capacity {
        Capacity::Recorded => "",
        Capacity::FromUse => " (the log does not record the capacity)",
    };
    Some(Told::Shown(format!(
        "Running tasks requested {requested}{used} of {} on average, and {} in the fullest \
        {}{inferred}",
        capacity.or_used("the CPU of the machines"),
        percent(fullest),
        interval(answer.interval_s),
    )))
}

/// The largest request, if the capacity is unknown.
fn no_capacity(answer: &LoadAnswer) -> Option<Told> {
    let most = answer.rows.iter().filter_map(|row| row.cpu_allocated).reduce(f64::max)?;
    let unit = &answer.unit;
    let plural = if *unit == "NCU" { "" } else { "s" };
    Some(Told::Unknown(format!(
        "The capacity of the cluster is not known: running tasks requested at most {} {unit}{plural} \
        on average in one {}",
        six_digits(most),
        interval(answer.interval_s),
    )))
}

/// The length of an interval in words.
fn interval(seconds: f64) -> String {
    match seconds {
        60.0 => "minute".to_owned(),
        300.0 => "five minutes".to_owned(),
        900.0 => "quarter of an hour".to_owned(),
        3600.0 => "hour".to_owned(),
        21_600.0 => "six hours".to_owned(),
        86_400.0 => "day".to_owned(),
        other => format!("{} s", six_digits(other)),
    }
}

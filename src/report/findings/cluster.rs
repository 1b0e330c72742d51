//! How full the cluster was, and whether another policy would have done better.

use super::Told;
use crate::answers::load::LoadAnswer;
use crate::answers::replay::{ReplayAnswer, Replayed};
use crate::answers::sentences::percent;
use crate::digits::{counted, grouped, six_digits};
use crate::results::envelope::Envelope;

/// A finding needs a mean response that is shorter by more than this share of the first one.
const SHORTER: f64 = 0.01;

/// The other policy with the shortest mean response, if that is more than 1 % shorter. If no task
/// waits under any policy, the policies cannot differ.
pub(super) fn policy(stored: &Envelope) -> Option<Told> {
    let answer: &ReplayAnswer = stored.found()?;
    let first = answer.policies.first()?;
    let waits = |row: &Replayed| row.metrics.waiting_s.is_none_or(|waits| waits.max != 0.0);
    if !answer.policies.iter().any(waits) {
        return Some(Told::Unknown(never_full(first, &answer.unit)));
    }
    let jobs = counted(answer.history?.jobs, "job");
    let [(before, first), (took, best)] = answer.first_and_best()?;
    let (under, name) = (&first.policy, &best.policy);
    if before * (1.0 - SHORTER) <= took {
        return Some(Told::NotShown(format!(
            "No other policy is shown to shorten the response of {jobs}: its mean is {} s under \
            `{under}`, and at best {} s under `{name}`",
            six_digits(before),
            six_digits(took),
        )));
    }
    let against = &best.against_first;
    Some(Told::Shown(format!(
        "Under `{name}`, {jobs} would have taken {} s on average instead of {} s under `{under}`; {} \
        sooner, {} later",
        six_digits(took),
        six_digits(before),
        counted(against.helped as u64, "job"),
        grouped(against.hurt as u64),
    )))
}

/// Why no policy can differ.
fn never_full(first: &Replayed, unit: &str) -> String {
    match first.metrics.cpu_share_max {
        Some(share) if share < 1.0 => format!(
            "The load never fills the machines (peak {} of {} {}s), so no policy can differ",
            percent(share),
            six_digits(first.metrics.cpu_there_at_max),
            unit.trim_end_matches("-s")
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
    Some(Told::Shown(format!(
        "Running tasks requested {requested}{used} of the CPU of the machines on average, and {} \
        in the fullest {}",
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

//! How full the cluster was, and whether another policy would have done better.

use serde_json::Value;

use super::{Told, rows};
use crate::answers::sentences::percent;
use crate::digits::{counted, grouped, six_digits};

/// A shorter mean response below this share of the first one's is not a finding.
const SHORTER: f64 = 0.01;

/// The other policy with the shortest mean response, if it is shorter by a hundredth. Where no task
/// waits under any policy, none can differ.
pub(super) fn policy(stored: &Value) -> Option<Told> {
    let answer = &stored["answer"];
    let policies = answer["policies"].as_array()?;
    let (first, rest) = policies.split_first()?;
    let mean = |row: &Value| row["metrics"]["job_response_s"]["mean"].as_f64();
    let name = |row: &Value| row["policy"].as_str().map(str::to_owned);
    let waits = |row: &Value| row["metrics"]["waiting_s"]["max"].as_f64() != Some(0.0);
    if !policies.iter().any(waits) {
        return Some(Told::Unknown(never_full(first, answer["unit"].as_str()?)));
    }
    let jobs = counted(answer["history"]["jobs"].as_u64()?, "job");
    let best = rest
        .iter()
        .filter_map(|row| Some((mean(row)?, row)))
        .min_by(|one, other| one.0.total_cmp(&other.0));
    let (took, row) = best?;
    let (under, before) = (name(first)?, mean(first)?);
    if before * (1.0 - SHORTER) <= took {
        return Some(Told::NotShown(format!(
            "No other policy is shown to shorten the response of {jobs}: its mean is {} s under \
            `{under}`, and at best {} s under `{}`",
            six_digits(before),
            six_digits(took),
            name(row)?
        )));
    }
    let against = &row["against_first"];
    Some(Told::Shown(format!(
        "Under `{}`, {jobs} would have taken {} s on average instead of {} s under `{under}`; {} \
        sooner, {} later",
        name(row)?,
        six_digits(took),
        six_digits(before),
        counted(against["helped"].as_u64()?, "job"),
        grouped(against["hurt"].as_u64()?),
    )))
}

/// Why no policy can differ.
fn never_full(first: &Value, unit: &str) -> String {
    let metrics = &first["metrics"];
    match metrics["cpu_share_max"].as_f64().zip(metrics["cpu_there_at_max"].as_f64()) {
        Some((share, capacity)) if share < 1.0 => format!(
            "The load never fills the machines (peak {} of {} {}s), so no policy can differ",
            percent(share),
            six_digits(capacity),
            unit.trim_end_matches("-s")
        ),
        _ => "No task waits under any policy, so no policy can differ".to_owned(),
    }
}

/// What was requested and used of the CPU that there was, and the fullest interval.
pub(super) fn load(stored: &Value) -> Option<Told> {
    let answer = &stored["answer"];
    let share = |name: &str| answer["totals"][format!("cpu_{name}_of_capacity_share")].as_f64();
    let Some(requested) = share("allocated").map(percent) else { return no_capacity(answer) };
    let used =
        share("used").map_or_else(String::new, |used| format!(" and used {}", percent(used)));
    let shares = rows(answer).filter_map(|row| row["cpu_allocated_share"].as_f64());
    let fullest = shares.fold(0.0, f64::max);
    Some(Told::Shown(format!(
        "Running tasks requested {requested}{used} of the CPU of the machines on average, and {} \
        in the fullest {}",
        percent(fullest),
        interval(answer["interval_s"].as_f64()?),
    )))
}

/// What was requested at most, where it is not known of how much.
fn no_capacity(answer: &Value) -> Option<Told> {
    let most = rows(answer).filter_map(|row| row["cpu_allocated"].as_f64()).reduce(f64::max)?;
    let unit = answer["unit"].as_str()?;
    let plural = if unit == "NCU" { "" } else { "s" };
    Some(Told::Unknown(format!(
        "The capacity of the cluster is not known: running tasks requested at most {} {unit}{plural} \
        on average in one {}",
        six_digits(most),
        interval(answer["interval_s"].as_f64()?),
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

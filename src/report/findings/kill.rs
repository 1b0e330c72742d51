//! Which kill rule to take, and what it costs.

use serde_json::Value;

use super::{Told, of_one_job};
use crate::answers::condition::{LIMITS, OF_REQUESTED, condition};
use crate::answers::sentences::percent;
use crate::digits::{counted, grouped, six_digits};

/// The rule that earlier jobs would have chosen, with its score on later ones and the interval over
/// all; where jobs cannot be split by time, that with the largest certain saving, in hindsight.
pub(super) fn kill(stored: &Value) -> Option<Told> {
    let answer = &stored["answer"];
    let unit = answer["unit"].as_str()?;
    let told = match &answer["selection"] {
        selection if selection.is_object() => selected(answer, selection, unit),
        _ => in_hindsight(answer),
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

fn selected(answer: &Value, selection: &Value, unit: &str) -> Option<Told> {
    let chosen = match &selection["chosen"] {
        all if all.is_object() => all,
        _ => &selection["rules"][0],
    };
    let test = &chosen["test"];
    let (train_jobs, test_jobs) = (count(selection, "train_jobs")?, count(selection, "test_jobs")?);
    let rule = chosen["train"]["rule"].as_str()?;
    if chosen["train"]["threshold"].is_null() {
        return Some(Told::NotShown(format!(
            "No kill rule is shown to pay: on the {} that ended first, the best choice is \
            `{rule}`",
            counted(train_jobs, "job")
        )));
    }
    let threshold = &chosen["train"]["threshold"];
    let what = condition(rule, threshold);
    let (net, gain) = (test["net_cpu"].as_f64()?, test["gain"].as_f64()?);
    let harmed = count(test, "harmed_jobs")?;
    // Results of an earlier version lack the number of finished jobs.
    let harmed = match count(selection, "test_finished_jobs") {
        Some(finished) => format!("{} of the {} that finished", grouped(harmed), grouped(finished)),
        None => counted(harmed, "finished job"),
    };
    let later = format!(
        "chosen on {} that ended first, killing tasks {what} saves a net {} {unit} on {} \
        submitted later and harms {harmed}",
        counted(train_jobs, "job"),
        six_digits(net),
        counted(test_jobs, "job"),
    );
    let row = row_of(answer, rule, threshold);
    let over_all = row.and_then(over_all).unwrap_or_default();
    let spans_zero = row.is_some_and(spans_zero);
    if gain <= 0.0 || spans_zero {
        let why =
            if spans_zero { "the interval spans zero" } else { "later jobs do not confirm it" };
        return Some(Told::NotShown(format!(
            "No kill rule is shown to pay, as {why}: {later}{over_all}"
        )));
    }
    let sentence = format!("{}{over_all}", capital(&later));
    Some(Told::Shown(sentence))
}

/// The row with the largest lower bound of the net saving, or without intervals the largest saving.
/// What a row saves at least: the lower end of its interval, where it has one.
fn certain(row: &Value) -> Option<f64> {
    row["interval"]["net_share_low"].as_f64().or_else(|| row["net_share"].as_f64())
}

/// What other time limits would have done: the one that is most certain to save.
fn limits(answer: &Value) -> Option<String> {
    let (_, rows) = sweeps(answer).find(|(rule, _)| *rule == LIMITS)?;
    let all = rows.iter().filter(|row| row["group"].is_null());
    let all = all.filter_map(|row| Some((certain(row)?, row)));
    let (least, row) = all.max_by(|one, other| one.0.total_cmp(&other.0))?;
    if least <= 0.0 {
        return Some("; no other time limit is shown to save more than it destroys".to_owned());
    }
    Some(format!(
        "; in hindsight, a limit at {}{OF_REQUESTED} saves a net {} of the CPU of jobs that did not \
        finish, and harms {}",
        row["threshold"],
        percent(row["net_share"].as_f64()?),
        counted(count(row, "harmed_jobs")?, "finished job"),
    ))
}

fn in_hindsight(answer: &Value) -> Option<Told> {
    let best = sweeps(answer)
        .flat_map(|(rule, rows)| rows.iter().map(move |row| (rule, row)))
        .filter(|(_, row)| row["group"].is_null())
        .filter_map(|(rule, row)| Some((certain(row)?, rule, row)))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let (_, rule, row) = best?;
    let net = row["net_share"].as_f64()?;
    if net <= 0.0 {
        let none = "No kill rule that was tried saves more than it destroys";
        return Some(Told::NotShown(none.to_owned()));
    }
    let what = condition(rule, &row["threshold"]);
    let finished = count(answer, "finished_jobs_with_tasks")?;
    let harmed = grouped(count(row, "harmed_jobs")?);
    let harmed = format!("{harmed} of {}", counted(finished, "finished job"));
    let said = format!(
        "killing tasks {what} harms {harmed}{}",
        over_all(row)?.replacen("; over all jobs it", " and", 1)
    );
    if spans_zero(row) {
        return Some(Told::NotShown(format!(
            "No kill rule is shown to pay; the best in hindsight: {said}"
        )));
    }
    Some(Told::Shown(format!("In hindsight, {said}; there were no later jobs to test it on")))
}

/// `; over all jobs it saves a net 10.3 % of the CPU of jobs that did not finish (95 % interval ...)`.
fn over_all(row: &Value) -> Option<String> {
    let interval = &row["interval"];
    let bounds = interval["net_share_low"].as_f64().zip(interval["net_share_high"].as_f64());
    let bounds = bounds.map_or_else(String::new, |(low, high)| {
        format!(" (95 % interval {} to {})", percent(low), percent(high))
    });
    Some(format!(
        "; over all jobs it saves a net {} of the CPU of jobs that did not finish{bounds}{}",
        percent(row["net_share"].as_f64()?),
        of_one_job(row["largest_saved_in_all"].as_f64(), "what is saved"),
    ))
}

fn spans_zero(row: &Value) -> bool {
    let bound = |side: &str| row["interval"][format!("net_share_{side}")].as_f64();
    bound("low").zip(bound("high")).is_some_and(|(low, high)| low <= 0.0 && 0.0 <= high)
}

/// Every rule with its rows.
fn sweeps(answer: &Value) -> impl Iterator<Item = (&str, &[Value])> {
    let others = answer["rules"].as_array().into_iter().flatten();
    std::iter::once(answer)
        .chain(others)
        .filter_map(|sweep| Some((sweep["rule"].as_str()?, sweep["rows"].as_array()?.as_slice())))
}

fn row_of<'a>(answer: &'a Value, rule: &str, threshold: &Value) -> Option<&'a Value> {
    let (_, rows) = sweeps(answer).find(|(name, _)| *name == rule)?;
    rows.iter().find(|row| row["threshold"] == *threshold)
}

fn count(value: &Value, name: &str) -> Option<u64> {
    value[name].as_u64()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

//! What the sliders of half-life and ceiling are computed from: sums of intervals, as stored.
//!
//! In: a stored result of `fairness`. Out: an element of the page that holds the sums of the
//! heaviest users with all digits; the script computes from them what the index `condor` computes.
//! One thing is not stored: the time of the first submission. So usage fades from the first
//! interval in which a user used something; the difference is at most the start value of the index.

use serde_json::{Value, json};

use super::links::{PAGES_MAX, file_of};
use super::text::{escape, user_name};
use crate::answers::sentences::short;
use crate::results::Stored;

/// The element, if the result has `condor` on CPU-seconds over the whole of what it read.
pub(super) fn element(result: &Stored) -> Option<String> {
    let settings = &result.value["settings"];
    let answer = result.answer();
    let rule = answer["indices"].as_array()?.iter().find_map(|index| condor(&index["settings"]))?;
    let users = answer["users"].as_array()?;
    if settings["warm_up"].as_f64() != Some(0.0) || users.len() < 2 {
        return None;
    }
    let heaviest: Vec<Value> = users
        .iter()
        .take(PAGES_MAX)
        .enumerate()
        .map(|(place, user)| {
            let name = short(user_name(user["user"].as_str().unwrap_or("-")));
            json!([name, file_of("users", place), user["by_interval"]])
        })
        .collect();
    let limits = &answer["suggestions"]["limits"];
    let total_s = answer["total_cpu_s"].as_f64()?;
    // A ceiling is on usage when it runs, and that is what is charged.
    let is_charged_as_it_runs = settings["accrual"] == "running";
    let ceiling = limits["ceiling_cpu_s"].as_f64().filter(|_| is_charged_as_it_runs);
    let sums = json!({
        "by": answer["by"],
        "unit": answer["unit"],
        "interval_s": answer["interval_s"],
        "intervals": answer["intervals"],
        "total_s": total_s,
        "half_life_s": rule.half_life_s,
        "start": rule.start,
        "floor": rule.floor,
        "factor": rule.factor,
        "ceiling_percent": ceiling.filter(|_| 0.0 < total_s).map(|own| own / total_s * 100.0),
        "early_s": limits["early_s"],
        "others_s": users.get(PAGES_MAX).map_or(0.0, |user| user["cpu_s"].as_f64().unwrap_or(0.0)),
        "users": heaviest,
    });
    let said = format!(
        "Exact: computed from the stored sums of all {} intervals of the {} heaviest, as `condor` does; \
         a user's start value fades from the first usage on.",
        answer["intervals"],
        heaviest_count(users.len()),
    );
    Some(format!(
        "<div class=\"what-if fading\" data-sums=\"{}\"></div>\n<p class=\"source\">{}</p>\n",
        escape(&sums.to_string()),
        escape(&said)
    ))
}

fn heaviest_count(users: usize) -> usize {
    users.min(PAGES_MAX)
}

/// The parameters of the index.
#[derive(Debug, PartialEq)]
struct Condor {
    half_life_s: f64,
    start: f64,
    floor: f64,
    factor: f64,
}

/// Reads what the index was run with; `None` for another index, for cores in use, and where factors
/// come from a file.
fn condor(settings: &Value) -> Option<Condor> {
    let parameters = settings.as_str()?.strip_prefix("condor:")?;
    let of = |name: &str| {
        parameters.split(',').find_map(|one| one.strip_prefix(name)?.strip_prefix('='))
    };
    let number = |name: &str| of(name)?.parse::<f64>().ok();
    if of("rho") != Some("cpu-s") || of("factors").is_some() {
        return None;
    }
    Some(Condor {
        half_life_s: number("half_life_s")?,
        start: number("start")?,
        floor: number("floor")?,
        factor: number("factor")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_read_as_the_index_writes_it() {
        let written =
            crate::fairness::indices::parse("condor:half_life_s=7200,floor=0.25").unwrap();
        let read = condor(&json!(written.to_string())).unwrap();
        assert_eq!(read, Condor { half_life_s: 7200.0, start: 0.5, floor: 0.25, factor: 1.0 });
        for other in ["condor:rho=cores", "htcondor", "metered"] {
            let written = crate::fairness::indices::parse(other).unwrap().to_string();
            assert_eq!(condor(&json!(written)), None, "{written}");
        }
    }
}

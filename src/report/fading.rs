//! The numbers behind the sliders of half-life and ceiling: stored sums by interval.
//!
//! In: a stored result of `fairness`. Out: an element of the page that holds the sums of the
//! heaviest users with all digits. From them, the script computes the same as the index `condor`.
//! The time of a user's first submission is not stored, so the start value of a user fades from its
//! first interval with usage on. The difference is at most the start value of the index.

use serde::Serialize;

use super::links::{PAGES_MAX, file_of};
use super::text::{escape, sentence, user_name};
use crate::answers::fairness::{FairnessAnswer, FairnessSettings};
use crate::answers::sentences::short;
use crate::digits::{HOURS_FROM_S, in_use, unit_of_use};
use crate::fairness::gather::By;
use crate::results::Stored;

/// The data that the script computes with.
#[derive(Serialize)]
struct Sums<'a> {
    by: By,
    /// The unit of usage in hours, and the name of what is in use at a time.
    hours: String,
    in_use: String,
    interval_s: f64,
    intervals: u64,
    total_s: f64,
    half_life_s: f64,
    start: f64,
    floor: f64,
    factor: f64,
    ceiling_percent: Option<f64>,
    early_s: f64,
    /// The largest usage of a user without a page; 0 if all users have pages.
    others_s: f64,
    users: Vec<Heaviest<'a>>,
}

/// Name, page, and usage by interval.
type Heaviest<'a> = (String, String, &'a [(u32, f64)]);

/// The element, if the result has the index `condor` on CPU-seconds, no warm-up, and at least two
/// users.
pub(super) fn element(result: &Stored) -> Option<String> {
    let settings: FairnessSettings = result.whole.chosen();
    let answer: &FairnessAnswer = result.found()?;
    let rule = answer.indices.iter().find_map(|index| condor(&index.settings))?;
    let users = &answer.users;
    if settings.warm_up != Some(0.0) || users.len() < 2 {
        return None;
    }
    let heaviest = users.iter().take(PAGES_MAX).enumerate().map(|(place, user)| {
        let name = short(user_name(&user.user));
        (name, file_of("users", place), user.by_interval.as_slice())
    });
    let limits = &answer.suggestions.limits;
    let total_s = answer.total_cpu_s?;
    // A ceiling applies to usage as it runs, so the sums must be charged in the same way.
    let ceiling = Some(limits.ceiling_cpu_s).filter(|_| settings.is_charged_as_it_runs());
    let sums = Sums {
        by: answer.by,
        hours: unit_of_use(&answer.unit, HOURS_FROM_S).0,
        in_use: in_use(&answer.unit),
        interval_s: answer.interval_s,
        intervals: answer.intervals,
        total_s,
        half_life_s: rule.half_life_s,
        start: rule.start,
        floor: rule.floor,
        factor: rule.factor,
        ceiling_percent: ceiling.filter(|_| 0.0 < total_s).map(|own| own / total_s * 100.0),
        early_s: limits.early_s,
        others_s: users.get(PAGES_MAX).map_or(0.0, |user| user.cpu_s),
        users: heaviest.collect(),
    };
    let said = format!(
        "These values are exact (a priority divided by the length of an interval is what was in use on \
         average): they follow from the usage of the {} heaviest users in all {} intervals, \
         by the formula of the index `condor`. The value that a user starts with fades from the first \
         usage of this user on.",
        heaviest_count(users.len()),
        answer.intervals,
    );
    let sums = serde_json::to_string(&sums).ok()?;
    Some(format!(
        "<details class=\"long\"><summary>What if old use faded faster, or heavy users were held back?\
        </summary>\n<p>The sliders show whose priority would change, and whom a ceiling would affect.</p>\n\
        <div class=\"what-if fading\" data-sums=\"{}\"></div>\n<p class=\"source\">{}</p></details>\n",
        escape(&sums),
        sentence(&said)
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

/// Reads the parameters of the index. `None` for another index, for cores in use, and for factors
/// that come from a file.
fn condor(settings: &str) -> Option<Condor> {
    let parameters = settings.strip_prefix("condor:")?;
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
        let read = condor(&written.to_string()).unwrap();
        assert_eq!(read, Condor { half_life_s: 7200.0, start: 0.5, floor: 0.25, factor: 1.0 });
        for other in ["condor:rho=cores", "htcondor", "metered"] {
            let written = crate::fairness::indices::parse(other).unwrap().to_string();
            assert_eq!(condor(&written), None, "{written}");
        }
    }
}

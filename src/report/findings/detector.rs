//! Which straggler detector is worth having.

use serde_json::Value;

use super::{Told, rows};
use crate::answers::sentences::percent;
use crate::digits::counted;

/// Detectors that are bounds and cannot be had.
const BOUNDS: [&str; 2] = ["none", "oracle"];

/// The detector whose copies, without a budget, end the groups earliest; it is worth having if that
/// is more than nothing.
pub(super) fn detector(stored: &Value) -> Option<Told> {
    let answer = &stored["answer"];
    let stragglers = counted(answer["stragglers"][0].as_u64()?, "straggler");
    let best = copies(answer)
        .filter_map(|copy| Some((copy["earlier_share"].as_f64()?, copy)))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((earlier, copy)) = best else { return by_score(answer, &stragglers) };
    if earlier <= 0.0 {
        return Some(Told::NotShown(format!(
            "No detector is worth having: with {stragglers}, no detector's copies end any job earlier"
        )));
    }
    let name = copy["detector"].as_str()?;
    let score = score_of(answer, name)?;
    Some(Told::Shown(format!(
        "`{name}`: in a dry run, copies of the tasks that it flags, each as long as its median \
        sibling, end jobs {} earlier for {} of the slot time; it finds {} of {stragglers}, and {} of its judged flags are right",
        percent(earlier),
        percent(copy["lost_share"].as_f64()?),
        percent(score["recall"].as_f64()?),
        percent(score["precision"].as_f64()?),
    )))
}

/// Without a dry run of copies, the detector with the best F1.
fn by_score(answer: &Value, stragglers: &str) -> Option<Told> {
    let scored = rows(answer).filter_map(|row| {
        let name = row["detector"].as_str().filter(|name| !BOUNDS.contains(name))?;
        let score = &row["scores"][0];
        Some((score["f1"].as_f64()?, name, score))
    });
    let (_, name, score) = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(Told::Shown(format!(
        "`{name}` has the best F1: it finds {} of {stragglers}, and {} of its judged flags are right",
        percent(score["recall"].as_f64()?),
        percent(score["precision"].as_f64()?),
    )))
}

/// The dry runs without a budget, of detectors that can be had.
fn copies(answer: &Value) -> impl Iterator<Item = &Value> {
    let all = answer["copies"].as_array().into_iter().flatten();
    all.filter(|copy| copy["budget"].is_null())
        .filter(|copy| copy["detector"].as_str().is_some_and(|name| !BOUNDS.contains(&name)))
}

fn score_of<'a>(answer: &'a Value, name: &str) -> Option<&'a Value> {
    Some(&rows(answer).find(|row| row["detector"] == name)?["scores"][0])
}

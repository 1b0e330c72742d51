//! Which straggler detector is worth having.

use super::Told;
use crate::answers::detect::DetectAnswer;
use crate::answers::sentences::percent;
use crate::digits::{counted, grouped, three_digits};
use crate::replay::detect::DetectorRow;
use crate::replay::detect::copies::CopyRow;
use crate::replay::detect::score::Score;
use crate::replay::detect::truth::Truth;
use crate::results::envelope::Envelope;

/// Detectors that are only bounds and cannot be used in practice.
const BOUNDS: [&str; 2] = ["none", "oracle"];

/// The detector whose copies, without a budget, end jobs earliest. It is worth having if jobs end
/// earlier at all.
pub(super) fn detector(stored: &Envelope) -> Option<Told> {
    let answer: &DetectAnswer = stored.found()?;
    let stragglers = answer.stragglers()?;
    let can_be_had = |name: &str| !BOUNDS.contains(&name);
    let copies = answer.copies.iter().filter(|copy| copy.budget.is_none());
    let best = copies
        .filter(|copy| can_be_had(&copy.detector))
        .filter_map(|copy| Some((copy.earlier_share?, copy)))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((earlier, copy)) = best else { return by_score(answer, &stragglers) };
    if earlier <= 0.0 {
        return Some(Told::NotShown(format!(
            "No detector is worth having: with {stragglers}, no detector's copies end any job earlier"
        )));
    }
    let name = &copy.detector;
    let row = answer.rows.iter().find(|row| row.detector == *name)?;
    let score = row.scores.first()?;
    Some(Told::Shown(format!(
        "`{name}`: copies of the tasks that it flags would end jobs {} earlier{}{}{}. This is a dry run, in \
        which a copy takes as long as the median sibling of its task; copies that lose take {} of the \
        slot time of all jobs. It finds {} of {stragglers}{}{}, and {} of its flags on judged tasks are \
        right{}{}",
        percent(earlier),
        of_oracle(answer),
        won(copy),
        limited(answer, copy),
        percent(copy.lost_share?),
        percent(score.recall?),
        defined(answer),
        lead(score),
        percent(score.precision?),
        unjudged(row),
        by_other_truths(answer, name),
    )))
}

/// ` (9.5 % with a detector that knows the stragglers)`; empty if that bound is not in the results.
fn of_oracle(answer: &DetectAnswer) -> String {
    let oracle = answer.copies.iter().find(|row| row.budget.is_none() && row.detector == "oracle");
    oracle.and_then(|row| row.earlier_share).map_or_else(String::new, |share| {
        format!(" ({} with a detector that knows the stragglers)", percent(share))
    })
}

/// `, tasks longer than 1.5 times the median of their job`; empty if the definition cannot be read.
fn defined(answer: &DetectAnswer) -> String {
    let truth = answer.truths.first().and_then(|text| text.parse::<Truth>().ok());
    truth.map_or_else(String::new, |truth| {
        format!(", tasks longer than {} of their job's finished ones", truth.words())
    })
}

/// `; 2,028 of 26,282 copies end before their task`; empty if that is not known.
fn won(copy: &CopyRow) -> String {
    if copy.started == 0 {
        return String::new();
    }
    let all = grouped(copy.started);
    format!("; {} of the {all} copies end before their task", grouped(copy.won))
}

/// What copies save under the smallest limit per job that is in the results, and the smallest limit
/// at which they save as much as without one: all jobs together need little, but single jobs much.
fn limited(answer: &DetectAnswer, copy: &CopyRow) -> String {
    let own = answer.copies.iter().filter(|row| row.detector == copy.detector);
    let known = own.filter_map(|row| Some((row.budget?, row.earlier_share?)));
    let mut known: Vec<(f64, f64)> = known.collect();
    known.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all = copy.earlier_share.unwrap_or(0.0);
    let Some(&(tight, saved)) = known.first().filter(|(_, saved)| *saved < 0.9 * all) else {
        return String::new();
    };
    let enough = known.iter().find(|(_, saved)| 0.999 * all <= *saved);
    let enough = enough.map_or_else(String::new, |(budget, _)| {
        format!("; from {} on, this limit changes nothing", percent(*budget))
    });
    format!(
        ". With copies for at most {} of the slot time of each job, jobs end {} earlier{enough}",
        percent(tight),
        percent(saved)
    )
}

/// `, half of them 58 s or less before they end`; empty if no straggler is found.
fn lead(score: &Score) -> String {
    score.lead_median_s.map_or_else(String::new, |lead_s| {
        format!(" (half of these {} s or less before they end)", three_digits(lead_s))
    })
}

/// `; 11,317 of its 26,282 flags are on attempts that are not judged, since they did not finish`.
fn unjudged(row: &DetectorRow) -> String {
    if row.flags_unjudged == 0 {
        return String::new();
    }
    format!(
        "; {} of its {} are on attempts that did not finish, which are not judged",
        grouped(row.flags_unjudged),
        counted(row.flags, "flag")
    )
}

/// Detectors that compare running times with a multiple of the median, as the definition
/// `median:FACTOR` of a straggler does.
const BY_MEDIAN: [&str; 3] = ["flink", "spark", "cubed"];

/// A sentence about the F1 by other definitions of a straggler, and about a definition that is like
/// the rule of the detector.
fn by_other_truths(answer: &DetectAnswer, name: &str) -> String {
    let Some((others, is_best)) = answer.other_truths(name, &BOUNDS) else { return String::new() };
    let own = answer.rows.iter().find(|row| row.detector == *name);
    let Some(f1) = own.and_then(|row| row.scores.first()?.f1) else { return String::new() };
    let base = name.split(':').next().unwrap_or(name);
    let is_alike = BY_MEDIAN.contains(&base)
        && answer.truths.first().is_some_and(|truth| truth.starts_with("median"));
    let alike = if is_alike {
        "A straggler is defined here by a multiple of the median, much as this detector flags; by"
    } else {
        "By"
    };
    let names = answer.truths.iter().skip(1).map(|truth| format!("`{truth}`"));
    let each: Vec<String> =
        names.zip(&others).map(|(truth, f1)| format!("{f1:.2} by {truth}")).collect();
    let still = if is_best { "still the best of all" } else { "not the best by all of them" };
    format!(". {alike} other definitions its F1 is {} instead of {f1:.2}, {still}", each.join(", "))
}

/// Without a dry run of copies, the detector with the best F1.
fn by_score(answer: &DetectAnswer, stragglers: &str) -> Option<Told> {
    let (name, score) = answer.best(&BOUNDS)?;
    Some(Told::Shown(format!(
        "`{name}` has the best F1: it finds {} of {stragglers}, and {} of its flags on judged tasks are right",
        percent(score.recall?),
        percent(score.precision?),
    )))
}

//! Which straggler detector is worth using.

use super::Told;
use crate::answers::detect::DetectAnswer;
use crate::answers::sentences::{MOST, percent};
use crate::digits::{counted, grouped, three_digits};
use crate::replay::detect::DetectorRow;
use crate::replay::detect::copies::CopyRow;
use crate::replay::detect::score::Score;
use crate::replay::detect::truth::Truth;
use crate::results::envelope::Envelope;

/// Detectors that are only bounds and cannot be used in practice.
const BOUNDS: [&str; 2] = ["none", "oracle"];

/// The detector whose copies, without a budget, end jobs earliest, and whether it is worth using:
/// hardly if the gain is small, perhaps if most of the gain is in one job, not at all if no job
/// ends earlier.
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
        "{}{}{}{}. Copies of `{name}` that lose take {} of the slot time of all jobs{}. This is \
        a dry run, in which a copy takes as long as the median sibling of its task, and the time of jobs is the sum over \
        all of them. `{name}` finds {} of {stragglers}{}; {} of its flags on judged tasks are right{}{}{}",
        verdict(answer, name, (earlier, copy)),
        by_one_job(copy),
        won(copy),
        rivals(answer, (earlier, copy)),
        percent(copy.lost_share?),
        limited(answer, copy),
        percent(score.recall?),
        defined(answer),
        percent(score.precision?),
        lead(score),
        unjudged(row),
        by_other_truths(answer, name),
    )))
}

/// A detector that ends jobs earlier by less than this share of their time is hardly worth using.
const WORTH: f64 = 0.05;

/// Whether a detector is worth using, and how much earlier jobs end with its copies. If even the
/// bound for detectors is low, the bound comes first, because it is the reason.
fn verdict(answer: &DetectAnswer, name: &str, (earlier, copy): (f64, &CopyRow)) -> String {
    let is_of_one = copy.largest_earlier_share.is_some_and(|share| MOST <= share);
    // If few copies end first and one job has most of the gain, the gain may be luck.
    let is_luck = is_of_one && copy.won.saturating_mul(10) < copy.started;
    let bound = bound(answer).filter(|share| earlier <= *share);
    let share = percent(earlier);
    if let Some(low) = bound.filter(|share| *share < WORTH) {
        return format!(
            "Hardly any: even copies of all stragglers, if they were known, would end jobs only {} earlier; with \
            `{name}`, the best detector, copies of the tasks that it flags would end them {share} earlier",
            percent(low)
        );
    }
    let begin = match (earlier < WORTH || is_luck, is_of_one) {
        (true, _) => format!("Hardly any: with `{name}`, the best,"),
        (false, true) => format!("Perhaps `{name}`:"),
        (false, false) => format!("`{name}`:"),
    };
    let bound = bound.map_or_else(String::new, |share| {
        format!(" ({} with a detector that knows the stragglers)", percent(share))
    });
    format!("{begin} copies of the tasks that it flags would end jobs {share} earlier{bound}")
}

/// A job is mentioned if it has at least this share of the time that copies save.
const NAMED: f64 = 0.25;

/// `, 46.8 % of that in one job`; empty if no job has such a large share of what copies save.
fn by_one_job(copy: &CopyRow) -> String {
    let share = copy.largest_earlier_share.filter(|share| NAMED <= *share);
    share.map_or_else(String::new, |share| format!(", {} of that in one job", percent(share)))
}

/// A further sentence about a detector that needs far fewer copies; empty if there is no such
/// detector.
fn rivals(answer: &DetectAnswer, best: (f64, &CopyRow)) -> String {
    cheaper(answer, best).map_or_else(String::new, |said| format!(". {said}"))
}

/// The gain with a detector that knows the stragglers; `None` if the results lack it. It may be
/// lower than the gain of a detector, since copies of other tasks also save time.
fn bound(answer: &DetectAnswer) -> Option<f64> {
    let oracle = answer.copies.iter().find(|row| row.budget.is_none() && row.detector == "oracle");
    oracle.and_then(|row| row.earlier_share)
}

/// A detector saves nearly as much as the best one if it saves at least this share of it.
const NEARLY: f64 = 0.8;

/// Of the detectors that save nearly as much as the best one, the one with the fewest copies. It is
/// reported if it needs at most half as many copies: `` With 4,463 copies, 1,180 of which end
/// first, `cubed` would end jobs 2.7 % earlier, 52.6 % of that in one job ``.
fn cheaper(answer: &DetectAnswer, (most, best): (f64, &CopyRow)) -> Option<String> {
    let others = answer.copies.iter().filter(|row| row.budget.is_none() && 0 < row.started);
    let others = others.filter(|row| !BOUNDS.contains(&row.detector.as_str()));
    let near = others.filter(|row| row.started.saturating_mul(2) <= best.started);
    let near = near.filter_map(|row| Some((row.earlier_share?, row)));
    let near = near.filter(|(saved, _)| NEARLY * most <= *saved);
    let (saved, row) = near.min_by_key(|(_, row)| row.started)?;
    let copies = if row.started == 1 { "copy" } else { "copies" };
    Some(format!(
        "With {} {copies}, {} of which end first, `{}` would end jobs {} earlier{}",
        grouped(row.started),
        grouped(row.won),
        row.detector,
        percent(saved),
        by_one_job(row)
    ))
}

/// `, tasks longer than 1.5 times the median of their job's finished ones`; empty if the definition
/// cannot be read.
fn defined(answer: &DetectAnswer) -> String {
    let truth = answer.truths.first().and_then(|text| text.parse::<Truth>().ok());
    truth.map_or_else(String::new, |truth| {
        format!(", tasks longer than {} of their job's finished ones", truth.words())
    })
}

/// `, and 2,028 of the 26,282 copies end before their task`; empty if no copy was started.
fn won(copy: &CopyRow) -> String {
    if copy.started == 0 {
        return String::new();
    }
    let few = if copy.won.saturating_mul(2) < copy.started { "only " } else { "" };
    let all = grouped(copy.started);
    format!(", and {few}{} of the {all} copies end before their task", grouped(copy.won))
}

/// The effect of a limit per job: the time that copies save under the smallest limit that keeps at
/// least half of the gain, and the smallest limit that keeps all of it. All jobs together need few
/// copies, but single jobs need many.
fn limited(answer: &DetectAnswer, copy: &CopyRow) -> String {
    let own = answer.copies.iter().filter(|row| row.detector == copy.detector);
    let known = own.filter_map(|row| Some((row.budget?, row.earlier_share?, row)));
    let mut known: Vec<(f64, f64, &CopyRow)> = known.collect();
    known.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all = copy.earlier_share.unwrap_or(0.0);
    if known.first().is_none_or(|(_, saved, _)| 0.9 * all <= *saved) {
        return String::new();
    }
    let Some(&(tight, saved, row)) = known.iter().find(|(_, saved, _)| 0.5 * all <= *saved) else {
        return String::new();
    };
    let enough = known.iter().find(|(_, saved, _)| 0.999 * all <= *saved);
    let enough = enough.filter(|(budget, ..)| tight < *budget);
    let enough = enough.map_or_else(String::new, |(budget, ..)| {
        format!(", and from {} on the limit changes nothing", percent(*budget))
    });
    format!(
        ". With a limit of {} of the slot time of each single job, `{}` still ends jobs {} earlier{}{enough}",
        percent(tight),
        copy.detector,
        percent(saved),
        by_one_job(row)
    )
}

/// `. Half of the right flags come 58 s or less before the task ends`; empty if no straggler is
/// found.
fn lead(score: &Score) -> String {
    score.lead_median_s.map_or_else(String::new, |lead_s| {
        let lead_s = three_digits(lead_s);
        format!(". Half of the right flags come {lead_s} s or less before the task ends")
    })
}

/// `. 11,317 of its 26,282 flags are on attempts that did not finish, which are not judged`.
fn unjudged(row: &DetectorRow) -> String {
    if row.flags_unjudged == 0 {
        return String::new();
    }
    format!(
        ". {} of its {} are on attempts that did not finish, which are not judged",
        grouped(row.flags_unjudged),
        counted(row.flags, "flag")
    )
}

/// Detectors that compare running times with a multiple of the median, as the definition
/// `median:FACTOR` of a straggler does.
const BY_MEDIAN: [&str; 3] = ["flink", "spark", "cubed"];

/// A sentence about the F1 by other definitions of a straggler. It also says if a definition is
/// similar to the rule of the detector.
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

/// The detector with the best F1, for results without a dry run of copies.
fn by_score(answer: &DetectAnswer, stragglers: &str) -> Option<Told> {
    let (name, score) = answer.best(&BOUNDS)?;
    Some(Told::Shown(format!(
        "`{name}` has the best F1: it finds {} of {stragglers}, and {} of its flags on judged tasks are right",
        percent(score.recall?),
        percent(score.precision?),
    )))
}

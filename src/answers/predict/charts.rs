//! Charts of predictions: ROC and precision-recall curves, the calibration, and accuracy over the
//! days.
//!
//! In: scores. Out: charts by the stem of their files. A rule that only predicts yes or no gives a
//! single point, between the corners of the curve.

use super::answer::{BY_AREA, THRESHOLD, best};
use crate::answers::sentences;
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::studies::predict::score::{Bin, OfDay, Point, Score};

/// A tone for each rule; they repeat after seven.
const TONES: [Tone; 7] =
    [Tone::Blue, Tone::Vermilion, Tone::Green, Tone::Purple, Tone::Orange, Tone::Grey, Tone::Sky];

/// The fewest jobs of a bin that is drawn; the table has all bins.
const JOBS_SHOWN: u64 = 100;

/// The fewest jobs of a day that is drawn: a share of a few jobs means little.
const JOBS_OF_DAY: u64 = 10;

/// The charts, by the stem of their files. `edges` says which jobs are not counted and ends each
/// caption; `when` is the time of the prediction, in words.
pub(super) fn charts(scores: &[Score], edges: &str, when: &str) -> Vec<(String, Chart)> {
    if scores.iter().all(|score| score.jobs == 0) {
        return Vec::new();
    }
    let chart = |title: &str, [found, caption]: [&str; 2], axes: [&str; 2], lines: Vec<Line>| {
        Chart::Lines(LineChart {
            title: title.to_owned(),
            caption: format!(
                "{found}{caption} Rules learn only from jobs that had ended; {edges}."
            ),
            x_axis: axes[0].to_owned(),
            y_axis: axes[1].to_owned(),
            x_scale: Scale::Linear,
            lines,
        })
    };
    let point = "Each point is a smallest chance from which jobs are predicted not to finish.";
    let mut charts = vec![
        (
            "predict-roc".to_owned(),
            chart(
                &format!("Jobs that do not finish, found {when} (ROC)"),
                [&largest_area(scores), point],
                ["false positive rate (%)", "recall (%)"],
                roc(scores),
            ),
        ),
        (
            "predict-precision-recall".to_owned(),
            chart(
                &format!("Precision against recall {when}"),
                [&best_balance(scores), point],
                ["recall (%)", "precision (%)"],
                tradeoff(scores),
            ),
        ),
        (
            "predict-calibration".to_owned(),
            chart(
                "Predicted chance against the actual share",
                [
                    &closest(scores),
                    "Jobs by predicted chance, in ten bins (of at least 100 jobs); a rule whose \
                    chances are right lies on the diagonal.",
                ],
                ["predicted chance not to finish, mean (%)", "jobs that did not finish (%)"],
                calibration(scores),
            ),
        ),
    ];
    let days = days(scores);
    // A line needs two days.
    if days.iter().any(|line| 1 < line.points.len()) {
        let said = format!("Jobs by the day of their submission; days with {JOBS_OF_DAY} or more.");
        let title = format!("Accuracy of predictions {when}, day by day");
        let axes = ["days since the first of them", "accuracy (%)"];
        let chart = chart(&title, [&usual_day(scores), &said], axes, days);
        charts.push(("predict-days".to_owned(), chart));
    }
    charts
}

/// The rule for which a number is largest, and that number.
fn largest(scores: &[Score], of: impl Fn(&Score) -> Option<f64>) -> Option<(&Score, f64)> {
    let known = scores.iter().filter_map(|score| Some((score, of(score)?)));
    // The first of equal ones.
    known.reduce(|most, next| if most.1 < next.1 { next } else { most })
}

/// The rule that ranks jobs best. The other captions are about the same rule.
fn largest_area(scores: &[Score]) -> String {
    best(scores).map_or_else(String::new, |(score, area)| {
        let better = if 0.5 < area { "" } else { ": no rule ranks jobs better than chance" };
        format!(
            "The area under the curve, 0.5 by chance, is largest for {}: {area:.2}{better}. ",
            score.rule
        )
    })
}

/// The point of the best rule with the best precision and recall together, by their harmonic mean.
fn best_balance(scores: &[Score]) -> String {
    let balance = |point: &Point| {
        let (precision, recall) = (point.precision?, point.recall?);
        (0.0 < precision + recall).then(|| 2.0 * precision * recall / (precision + recall))
    };
    let Some((score, _)) = best(scores) else { return String::new() };
    let points = score.curve.iter().filter_map(|point| Some((balance(point)?, point)));
    // The first of equal ones.
    let point = points.reduce(|most, next| if most.0 < next.0 { next } else { most });
    let shares = point.and_then(|(_, point)| Some((point, point.precision?, point.recall?)));
    shares.map_or_else(String::new, |(point, precision, recall)| {
        format!(
            "{} ({BY_AREA}) has its best F1, the harmonic mean of both, if jobs with a chance of at \
            least {} are predicted not to finish: a precision of {} at a recall of {}. ",
            score.rule,
            point.chance_at_least,
            sentences::percent(precision),
            sentences::percent(recall)
        )
    })
}

/// How close the predicted chances of the best rule are to the actual ends, and the closest ones.
fn closest(scores: &[Score]) -> String {
    let negative = |score: &Score| Some(-score.brier_score?);
    let own = best(scores).and_then(|(score, _)| Some((score, score.brier_score?)));
    let Some(((score, brier), (least, negative))) = own.zip(largest(scores, negative)) else {
        return String::new();
    };
    let other = if least.rule == score.rule {
        "the smallest".to_owned()
    } else {
        format!("the smallest is {:.3}, of {}", -negative, least.rule)
    };
    format!(
        "The mean of the squared errors (Brier score) of {} ({BY_AREA}) is {brier:.3}; {other}. ",
        score.rule
    )
}

/// The accuracy of the best rule on the median day.
fn usual_day(scores: &[Score]) -> String {
    let Some((score, _)) = best(scores) else { return String::new() };
    let shown = score.days.iter().filter(|day| JOBS_OF_DAY <= day.jobs);
    let mut shares: Vec<f64> = shown.filter_map(|day| day.accuracy).collect();
    shares.sort_by(f64::total_cmp);
    // At least half of the days are at or above it.
    let median = shares.get(shares.len() / 2);
    median.map_or_else(String::new, |&share| {
        format!(
            "On half of the {} days {} ({BY_AREA}) is right about {} of the jobs or more; it predicts \
            that a job does not finish if the chance is {THRESHOLD}. ",
            shares.len(),
            score.rule,
            sentences::percent(share)
        )
    })
}

fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| share * 100.0)
}

/// Recall against the false positive rate. Each curve starts at (0, 0): if the smallest chance that
/// counts is above all chances, no job is predicted not to finish.
fn roc(scores: &[Score]) -> Vec<Line> {
    let at = |point: &Point| percent(point.false_positive_rate).zip(percent(point.recall));
    lines(scores, Stroke::Straight, &|score| {
        std::iter::once((0.0, 0.0)).chain(score.curve.iter().filter_map(at)).collect()
    })
}

/// Precision against recall.
fn tradeoff(scores: &[Score]) -> Vec<Line> {
    let at = |point: &Point| percent(point.recall).zip(percent(point.precision));
    lines(scores, Stroke::Straight, &|score| score.curve.iter().filter_map(at).collect())
}

/// The actual share against the predicted chance, and the diagonal.
fn calibration(scores: &[Score]) -> Vec<Line> {
    let at = |bin: &Bin| percent(bin.chance_mean).zip(percent(bin.not_finished_share));
    let mut all = lines(scores, Stroke::Marked, &|score| {
        score.calibration.iter().filter(|bin| JOBS_SHOWN <= bin.jobs).filter_map(at).collect()
    });
    all.push(Line {
        name: "right".to_owned(),
        points: vec![(0.0, 0.0), (100.0, 100.0)],
        band: Vec::new(),
        tone: Tone::Ink,
        stroke: Stroke::Straight,
    });
    all
}

/// Accuracy by day, counted from the first: the clock of a log may begin decades before.
fn days(scores: &[Score]) -> Vec<Line> {
    let is_shown = |day: &&OfDay| JOBS_OF_DAY <= day.jobs;
    let all = scores.iter().flat_map(|score| &score.days).filter(is_shown);
    let first = all.map(|day| day.day).min().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let at = |day: &OfDay| Some(((day.day - first) as f64, percent(day.accuracy)?));
    lines(scores, Stroke::Marked, &|score| {
        score.days.iter().filter(is_shown).filter_map(at).collect()
    })
}

/// A line for each rule that has points.
fn lines(
    scores: &[Score],
    stroke: Stroke,
    points: &dyn Fn(&Score) -> Vec<(f64, f64)>,
) -> Vec<Line> {
    let line = |(score, &tone): (&Score, &Tone)| Line {
        name: score.rule.clone(),
        points: points(score),
        band: Vec::new(),
        tone,
        stroke,
    };
    let all = scores.iter().zip(TONES.iter().cycle()).map(line);
    all.map(|mut line| {
        line.points.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        line.points.dedup();
        line
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(day: i64, jobs: u64, accuracy: f64) -> OfDay {
        OfDay { day, jobs, accuracy: Some(accuracy), ..OfDay::default() }
    }

    #[test]
    fn days_count_from_the_first_and_captions_say_what_was_found() {
        let point = |recall, precision| Point {
            recall: Some(recall),
            precision: Some(precision),
            chance_at_least: 0.25,
            ..Point::default()
        };
        let score = |rule: &str, auc, brier, accuracy, days, curve| Score {
            rule: rule.to_owned(),
            jobs: 40,
            auc: Some(auc),
            brier_score: Some(brier),
            accuracy: Some(accuracy),
            days,
            curve,
            ..Score::default()
        };
        let scores = [
            score(
                "one",
                0.7,
                0.2,
                0.8,
                vec![day(17_000, 20, 0.9), day(17_003, 20, 0.5), day(17_004, 9, 0.0)],
                vec![point(1.0, 0.25), point(0.5, 0.5)],
            ),
            // More accurate and closer, with a better F1: it does not decide.
            score("two", 0.6, 0.1, 0.9, vec![day(17_003, 20, 0.5)], vec![point(1.0, 0.9)]),
        ];
        let lines = days(&scores);
        assert_eq!(lines[0].points, [(0.0, 90.0), (3.0, 50.0)]);
        assert_eq!(lines[1].points, [(3.0, 50.0)]);
        let charts = charts(&scores, "all are counted", "at submission");
        let begins = [
            "The area under the curve, 0.5 by chance, is largest for one: 0.70. Each point",
            "one (the largest area under the ROC curve) has its best F1, the harmonic mean of both, if \
            jobs with a chance of at least 0.25 are predicted not to finish: a precision of 50.0 % at \
            a recall of 50.0 %. Each",
            "The mean of the squared errors (Brier score) of one (the largest area under the ROC \
            curve) is 0.200; the smallest is 0.100, of two. Jobs",
            "On half of the 2 days one (the largest area under the ROC curve) is right about 90.0 % of \
            the jobs or more; it predicts that a job does not finish if the chance is above 0.5. Jobs",
        ];
        for ((_, chart), begin) in charts.iter().zip(begins) {
            assert!(chart.caption().starts_with(begin), "{}", chart.caption());
        }
        assert_eq!(charts.len(), 4);
        let single = [score("two", 0.5, 0.1, 0.7, vec![day(17_003, 20, 0.5)], Vec::new())];
        assert_eq!(super::charts(&single, "all", "now").len(), 3, "a single day is no line");
    }
}

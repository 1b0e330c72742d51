//! Pictures of predictions: both curves, the calibration, and accuracy over the days.
//!
//! In: scores. Out: charts by the stem of their files. A rule that only says yes or no is a single
//! point of a curve, between the corners.

use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::studies::predict::score::{Bin, OfDay, Point, Score};

/// A tone for each rule; of more than seven they come round again.
const TONES: [Tone; 7] =
    [Tone::Blue, Tone::Vermilion, Tone::Green, Tone::Purple, Tone::Orange, Tone::Grey, Tone::Sky];

/// Fewest jobs of a bin that is drawn; the table has all bins.
const JOBS_SHOWN: u64 = 100;

/// The pictures of predictions that were made at submission or later, with what is not counted at
/// the end of each caption.
pub(super) fn charts(scores: &[Score], edges: &str, when: &str) -> Vec<(String, Chart)> {
    if scores.iter().all(|score| score.jobs == 0) {
        return Vec::new();
    }
    let chart = |title: &str, caption: &str, axes: [&str; 2], lines: Vec<Line>| {
        Chart::Lines(LineChart {
            title: title.to_owned(),
            caption: format!("{caption} Rules learn only from jobs that had ended; {edges}."),
            x_axis: axes[0].to_owned(),
            y_axis: axes[1].to_owned(),
            x_scale: Scale::Linear,
            lines,
        })
    };
    vec![
        (
            "predict-roc".to_owned(),
            chart(
                &format!("Jobs that do not finish, found {when} (ROC)"),
                "Each point is a smallest chance from which jobs are predicted not to finish.",
                ["false positive rate (%)", "recall (%)"],
                roc(scores),
            ),
        ),
        (
            "predict-precision-recall".to_owned(),
            chart(
                &format!("Precision against recall {when}"),
                "Each point is a smallest chance from which jobs are predicted not to finish.",
                ["recall (%)", "precision (%)"],
                tradeoff(scores),
            ),
        ),
        (
            "predict-calibration".to_owned(),
            chart(
                "Predicted chance against the actual share",
                "Jobs by predicted chance, in ten bins (of at least 100 jobs); a rule whose chances are right lies on the diagonal.",
                ["predicted chance not to finish, mean (%)", "jobs that did not finish (%)"],
                calibration(scores),
            ),
        ),
        (
            "predict-days".to_owned(),
            chart(
                &format!("Accuracy of predictions {when}, day by day"),
                "Jobs by the day of their submission.",
                ["day of the trace clock", "accuracy (%)"],
                days(scores),
            ),
        ),
    ]
}

fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| share * 100.0)
}

/// Recall against false alarms. Above every chance no job is predicted not to finish: the corner at
/// which each curve starts.
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

/// What came true against what was predicted, and the diagonal.
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

/// Accuracy by day.
fn days(scores: &[Score]) -> Vec<Line> {
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let at = |day: &OfDay| Some((day.day as f64, percent(day.accuracy)?));
    lines(scores, Stroke::Marked, &|score| score.days.iter().filter_map(at).collect())
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

//! Charts of predictions: ROC and precision-recall curves, the calibration, and accuracy by day.
//!
//! In: scores. Out: charts by the stem of their files. A rule that only predicts yes or no is a
//! single point, between the corners of the curve.

use std::collections::BTreeMap;

use super::answer::{BY_AREA, THRESHOLD, best, short_name};
use crate::answers::sentences;
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::digits;
use crate::studies::predict::rules::Predictor;
use crate::studies::predict::score::{Bin, OfDay, Point, Score};
use crate::studies::quantile;

/// The tones of rules, in the order of [`Predictor::ALL`]; they repeat after seven. The two blues
/// belong to rules that are far apart: the last job, and the rate of all jobs.
const TONES: [Tone; 7] =
    [Tone::Blue, Tone::Vermilion, Tone::Green, Tone::Purple, Tone::Grey, Tone::Sky, Tone::Orange];

/// A bin or a day with fewer jobs is not drawn, because the share of a few jobs means little. The
/// tables have all bins and days.
const JOBS_SHOWN: u64 = 100;

/// The charts, by the stem of their files. `edges` says which jobs are not counted, and ends each
/// caption. `when` is the time of the prediction, in words. If there are too few points for a
/// chart, a sentence below the curves says so.
pub(super) fn charts(scores: &[Score], edges: &str, when: &str) -> Vec<(String, Chart)> {
    if scores.iter().all(|score| score.jobs == 0) {
        return Vec::new();
    }
    let chart = |title: &str,
                 [found, caption]: [&str; 2],
                 axes: [&str; 2],
                 (y_from, lines): (f64, Vec<Line>)| {
        Chart::Lines(LineChart {
            title: title.to_owned(),
            caption: format!(
                "{found}{caption} Rules learn only from jobs that had ended; {edges}."
            ),
            x_axis: axes[0].to_owned(),
            y_axis: axes[1].to_owned(),
            x_scale: Scale::Linear,
            y_from,
            lines,
        })
    };
    let point = "Each point is a threshold: jobs with at least that chance not to finish are \
        predicted not to. A rule with one threshold is a point.";
    let (calibration, days) = (calibration(scores), days(scores));
    let no_calibration = no_calibration(scores, &calibration);
    let no_days = no_days(scores);
    let (curves, (y_from, part), outside) = in_corner(scores, roc(scores));
    let undrawn: String = [&no_calibration, &no_days].into_iter().flatten().cloned().collect();
    let mut charts = vec![
        (
            "predict-roc".to_owned(),
            chart(
                &format!("Jobs that do not finish, found {when} (ROC){part}"),
                [&largest_area(scores), &format!("{point}{outside}{}", hidden(&curves))],
                ["false positive rate (%)", "recall (%)"],
                (y_from, curves),
            ),
        ),
        (
            "predict-precision-recall".to_owned(),
            chart(
                &format!("Precision against recall {when}"),
                [&at_half(scores), format!("{point}{undrawn} {}", best_balance(scores)).trim_end()],
                ["recall (%)", "precision (%)"],
                (0.0, tradeoff(scores)),
            ),
        ),
    ];
    if no_calibration.is_none() {
        let said = format!(
            "Jobs by predicted chance, in ten bins (of at least {JOBS_SHOWN} jobs); a rule whose \
            chances are right lies on the diagonal."
        );
        let axes = ["predicted chance not to finish, mean (%)", "jobs that did not finish (%)"];
        let title = "Predicted chance against the actual share";
        let chart = chart(title, [&closest(scores), &said], axes, (0.0, calibration));
        charts.push(("predict-calibration".to_owned(), chart));
    }
    if no_days.is_none() {
        let said = format!("Days of submission with at least {JOBS_SHOWN} jobs.");
        let (y_from, part) = axis_from(&days);
        let title = format!("Accuracy of predictions {when}, day by day{part}");
        let axes = ["day of submission, counted from the first", "accuracy (%)"];
        let chart = chart(&title, [&usual_day(scores), &said], axes, (y_from, days));
        charts.push(("predict-days".to_owned(), chart));
    }
    charts
}

/// The fewest points of a line for which a chart is worthwhile.
const POINTS_MIN: usize = 3;

/// The largest difference in accuracy of rules that count as equally right.
const EQUALLY_RIGHT: f64 = 0.01;

/// A sentence with the reason why the calibration is not drawn: no rule has three bins with enough
/// jobs.
fn no_calibration(scores: &[Score], lines: &[Line]) -> Option<String> {
    let rules = &lines[..lines.len() - 1];
    if rules.iter().any(|line| POINTS_MIN <= line.points.len()) {
        return None;
    }
    let (score, _) = best(scores)?;
    let bin = score.calibration.iter().max_by_key(|bin| bin.jobs)?;
    Some(format!(
        " There is no chart of predicted chances against actual shares, because no rule has {JOBS_SHOWN} \
        jobs in three of ten bins: {} gives {} of {} a chance of {:.0} to {:.0} %, of which {} did not \
        finish.",
        short_name(&score.rule),
        digits::grouped(bin.jobs),
        digits::counted(score.jobs, "job"),
        bin.chance_from * 100.0,
        bin.chance_to * 100.0,
        sentences::percent(bin.not_finished_share?),
    ))
}

/// The reason why accuracy is not drawn by day. If all rules are equally right on each day, it is a
/// sentence; if there are too few days, it is empty.
fn no_days(scores: &[Score]) -> Option<String> {
    let shown = |score: &Score| -> Vec<(i64, f64)> {
        let days = score.days.iter().filter(|day| JOBS_SHOWN <= day.jobs);
        days.filter_map(|day| Some((day.day, day.accuracy?))).collect()
    };
    let all: Vec<Vec<(i64, f64)>> = scores.iter().map(shown).collect();
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    if most < 2 {
        return Some(String::new());
    }
    let mut by_day: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
    for &(day, share) in all.iter().flatten() {
        let own = by_day.entry(day).or_insert((share, share));
        *own = (own.0.min(share), own.1.max(share));
    }
    let are_equal = by_day.values().all(|(least, most)| most - least <= EQUALLY_RIGHT);
    (1 < scores.len() && are_equal).then(|| {
        format!(
            " There is no chart by day, because on none of the {} days with at least {JOBS_SHOWN} jobs \
            the accuracy of two rules differs by more than 1 percentage point.",
            by_day.len()
        )
    })
}

/// The rule for which a number is largest, and that number.
fn largest(scores: &[Score], of: impl Fn(&Score) -> Option<f64>) -> Option<(&Score, f64)> {
    let known = scores.iter().filter_map(|score| Some((score, of(score)?)));
    // Of equal rules, the first is taken.
    known.reduce(|most, next| if most.1 < next.1 { next } else { most })
}

/// The rule that ranks jobs best. The other captions are about the same rule.
fn largest_area(scores: &[Score]) -> String {
    best(scores).map_or_else(String::new, |(score, area)| {
        let better = if 0.5 < area { "" } else { ": no rule ranks jobs better than chance" };
        format!(
            "The area under the curve, 0.5 by chance, is largest for {}: {area:.3}{better}. ",
            short_name(&score.rule)
        )
    })
}

/// The precision and recall of the best rule, at the threshold that the other sentences use.
fn at_half(scores: &[Score]) -> String {
    let known = best(scores).and_then(|(score, _)| Some((score, score.precision?, score.recall?)));
    known.map_or_else(String::new, |(score, precision, recall)| {
        format!(
            "If jobs with a chance {THRESHOLD} are predicted not to finish, {} has a precision of {} at a recall \
            of {}. ",
            short_name(&score.rule),
            sentences::percent(precision),
            sentences::percent(recall)
        )
    })
}

/// The threshold at which the best rule has the best F1, the harmonic mean of precision and recall.
/// The sentence compares it with the prediction that no job finishes.
fn best_balance(scores: &[Score]) -> String {
    let balance = |point: &Point| {
        let (precision, recall) = (point.precision?, point.recall?);
        (0.0 < precision + recall).then(|| 2.0 * precision * recall / (precision + recall))
    };
    let Some((score, _)) = best(scores) else { return String::new() };
    let Some((point, own)) = score.best_f1.as_ref().and_then(|own| Some((own, balance(own)?)))
    else {
        return String::new();
    };
    // The point with the smallest chance includes all jobs.
    let all = score.curve.first();
    let of_all = all.and_then(balance).unwrap_or(0.0);
    let name = format!("{} ({BY_AREA})", short_name(&score.rule));
    if all == Some(point) {
        return format!(
            "No threshold of {name} has a better F1, the harmonic mean of both, than predicting that \
            no job finishes: {own:.3}. "
        );
    }
    format!(
        "{name} has its best F1, the harmonic mean of both, if jobs with a chance of at least {} (chosen in \
        hindsight) are predicted not to finish: {own:.3}, with a precision of {} at a recall of {}. Predicting that no \
        job finishes has {of_all:.3}. ",
        digits::three_digits(point.chance_at_least),
        sentences::percent(point.precision.unwrap_or(0.0)),
        sentences::percent(point.recall.unwrap_or(0.0))
    )
}

/// The error of the chances that the best rule predicts, and the smallest error of all rules.
fn closest(scores: &[Score]) -> String {
    let negative = |score: &Score| Some(-score.brier_score?);
    let own = best(scores).and_then(|(score, _)| Some((score, score.brier_score?)));
    let Some(((score, brier), (least, negative))) = own.zip(largest(scores, negative)) else {
        return String::new();
    };
    let other = if least.rule == score.rule {
        "the smallest".to_owned()
    } else {
        format!("the smallest is {:.3}, of {}", -negative, short_name(&least.rule))
    };
    format!(
        "The mean of the squared errors (Brier score) of {} ({BY_AREA}) is {brier:.3}; {other}. ",
        short_name(&score.rule)
    )
}

/// The accuracy of the best rule on the median day.
fn usual_day(scores: &[Score]) -> String {
    let Some((score, _)) = best(scores) else { return String::new() };
    let shown = score.days.iter().filter(|day| JOBS_SHOWN <= day.jobs);
    let mut shares: Vec<f64> = shown.filter_map(|day| day.accuracy).collect();
    shares.sort_by(f64::total_cmp);
    quantile(&shares, 0.5).map_or_else(String::new, |share| {
        format!(
            "On the median of {} days, {} of the predictions of {} ({BY_AREA}) are right; it \
            predicts that a job does not finish if the chance is {THRESHOLD}. ",
            shares.len(),
            sentences::percent(share),
            short_name(&score.rule)
        )
    })
}

fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| share * 100.0)
}

/// Two curves look the same if they are nowhere further apart than this, in percentage points of
/// recall.
const APART: f64 = 1.0;

/// A sentence about curves that lie on each other, so that only the last one drawn is visible. Each
/// such group is named together.
fn hidden(curves: &[Line]) -> String {
    let curves: Vec<(&str, Vec<f64>)> = curves
        .iter()
        .filter(|line| 1 < line.points.len())
        .map(|line| (line.name.as_str(), (0..=400).map(|at| height(line, at)).collect()))
        .collect();
    let is_near = |one: &[f64], other: &[f64]| {
        one.iter().zip(other).all(|(one, other)| (one - other).abs() <= APART)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (idx, (_, own)) in curves.iter().enumerate() {
        match groups.iter_mut().find(|group| is_near(&curves[group[0]].1, own)) {
            Some(group) => group.push(idx),
            None => groups.push(vec![idx]),
        }
    }
    let names = |group: &Vec<usize>| {
        let names: Vec<&str> = group.iter().map(|&idx| curves[idx].0).collect();
        let (last, rest) = names.split_last().unwrap_or((&"", &[]));
        format!("{} and {last}", rest.join(", "))
    };
    let together: Vec<String> = groups.iter().filter(|group| 1 < group.len()).map(names).collect();
    if together.is_empty() {
        return String::new();
    }
    format!(
        " Curves that lie on each other (at most 1 percentage point apart): {}.",
        together.join("; ")
    )
}

/// The height of a curve at `at` quarters of a per cent. On a vertical part, the upper end counts.
fn height(line: &Line, at: u32) -> f64 {
    let x = f64::from(at) / 4.0;
    let after = line.points.partition_point(|point| point.0 <= x);
    let (Some(&from), to) = (line.points[..after].last(), line.points.get(after)) else {
        return line.points.first().map_or(0.0, |point| point.1);
    };
    to.map_or(from.1, |to| from.1 + (x - from.0) / (to.0 - from.0) * (to.1 - from.1))
}

/// The threshold of a rule with a single one, apart from the threshold that predicts all jobs
/// alike. A rule that says yes or no is an example. Such a rule is drawn as a point, because there
/// is no other rule between two points.
fn only_threshold(score: &Score) -> Option<&Point> {
    let is_all = |point: &Point| {
        point.recall == Some(1.0) && point.false_positive_rate.is_none_or(|rate| rate == 1.0)
    };
    let mut inner = score.curve.iter().filter(|point| !is_all(point));
    inner.next().filter(|_| inner.next().is_none())
}

/// Recall against the false positive rate. Each curve, except a single point, starts at (0, 0):
/// with a threshold above all chances, no job is predicted not to finish.
fn roc(scores: &[Score]) -> Vec<Line> {
    let at = |point: &Point| percent(point.false_positive_rate).zip(percent(point.recall));
    let all = lines(scores, Stroke::Straight, &|score| {
        if let Some(only) = only_threshold(score) {
            return at(only).into_iter().collect();
        }
        std::iter::once((0.0, 0.0)).chain(score.curve.iter().rev().filter_map(at)).collect()
    });
    // The diagonal is drawn below the curves.
    std::iter::once(diagonal("by chance")).chain(all).collect()
}

/// From this area on, curves are so close to the error-free corner that only the corner is drawn.
const IN_CORNER: f64 = 0.9;

/// The largest false positive rate and the smallest recall in the corner, per cent.
const CORNER: (f64, f64) = (20.0, 70.0);

/// The drawn part of the curves, the start of the axis with its words for the title, and a sentence
/// about the curves outside. All curves are drawn unless the best rule is close to the corner.
fn in_corner(scores: &[Score], curves: Vec<Line>) -> (Vec<Line>, Start, String) {
    if best(scores).is_none_or(|(_, area)| area < IN_CORNER) {
        return (curves, Start::default(), String::new());
    }
    let (mut seen, mut outside) = (Vec::new(), Vec::new());
    for line in curves {
        let points = cut(&line.points);
        if points.is_empty() {
            outside.push(line.name);
        } else {
            seen.push(Line { points, ..line });
        }
    }
    let (most, least) = CORNER;
    let part = format!(" (axis from {least:.0} %, up to a false positive rate of {most:.0} %)");
    let said = format!(" Without a point in this corner: {}.", outside.join(", "));
    (seen, (least, part), if outside.is_empty() { String::new() } else { said })
}

/// The part of a rising curve that is in the corner, up to its borders.
fn cut(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let (most, least) = CORNER;
    let is_inside = |point: &(f64, f64)| point.0 <= most && least <= point.1;
    let Some(first) = points.iter().position(is_inside) else { return Vec::new() };
    let count = points[first..].iter().take_while(|point| is_inside(point)).count();
    let between = |(from, to): ((f64, f64), (f64, f64)), part: f64| {
        (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))
    };
    let before = first.checked_sub(1).map(|idx| (points[idx], points[first]));
    let before = before.map(|(from, to)| between((from, to), (least - from.1) / (to.1 - from.1)));
    let end = points[first + count - 1];
    let after = points.get(first + count);
    let after = after.map(|to| between((end, *to), (most - end.0) / (to.0 - end.0)));
    let inside = points[first..first + count].iter().copied();
    before.into_iter().chain(inside).chain(after).collect()
}

/// If the lowest value is at least this, per cent, an axis from zero would leave much of a chart
/// empty.
const FAR_UP: f64 = 30.0;

/// The start of the axis of shares, per cent, and the words about it in the title. The words are
/// empty if the axis starts at zero.
type Start = (f64, String);

/// The axis of shares starts at the multiple of ten below the lowest value.
fn axis_from(lines: &[Line]) -> Start {
    let ys = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let lowest = ys.fold(f64::INFINITY, f64::min);
    if (FAR_UP..100.0).contains(&lowest) {
        let start = (lowest / 10.0).floor() * 10.0;
        (start, format!(" (axis from {start:.0} %)"))
    } else {
        Start::default()
    }
}

/// Precision against recall, from the first threshold that some job reaches. No precision was
/// measured between two thresholds, so the steps use the precision of the lower threshold, which
/// reaches the recall.
fn tradeoff(scores: &[Score]) -> Vec<Line> {
    let at = |point: &Point| percent(point.recall).zip(percent(point.precision));
    lines(scores, Stroke::Steps, &|score| {
        if let Some(only) = only_threshold(score) {
            return at(only).into_iter().collect();
        }
        let points: Vec<(f64, f64)> = score.curve.iter().rev().filter_map(at).collect();
        let steps = points.windows(2).flat_map(|two| [(two[0].0, two[1].1), two[1]]);
        points.first().copied().into_iter().chain(steps).collect()
    })
}

/// The actual share against the predicted chance, and the diagonal.
fn calibration(scores: &[Score]) -> Vec<Line> {
    let at = |bin: &Bin| percent(bin.chance_mean).zip(percent(bin.not_finished_share));
    let mut all = lines(scores, Stroke::Marked, &|score| {
        score.calibration.iter().filter(|bin| JOBS_SHOWN <= bin.jobs).filter_map(at).collect()
    });
    all.push(diagonal("perfectly calibrated"));
    all
}

/// The line on which both axes are equal.
fn diagonal(name: &str) -> Line {
    Line {
        name: name.to_owned(),
        points: vec![(0.0, 0.0), (100.0, 100.0)],
        band: Vec::new(),
        tone: Tone::Ink,
        stroke: Stroke::Straight,
    }
}

/// Accuracy by day, counted from the first day, because the clock of a log may begin decades
/// before.
fn days(scores: &[Score]) -> Vec<Line> {
    let is_shown = |day: &&OfDay| JOBS_SHOWN <= day.jobs;
    let all = scores.iter().flat_map(|score| &score.days).filter(is_shown);
    let first = all.map(|day| day.day).min().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let at = |day: &OfDay| Some(((day.day - first) as f64, percent(day.accuracy)?));
    lines(scores, Stroke::Marked, &|score| {
        score.days.iter().filter(is_shown).filter_map(at).collect()
    })
}

/// The tone of each rule. It is always the same, unless an earlier rule has the same tone.
fn tones(scores: &[Score]) -> Vec<Tone> {
    let own = |score: &Score| {
        let name = score.rule.split(':').next().unwrap_or_default();
        let place = Predictor::ALL.iter().position(|rule| rule.name() == name).unwrap_or(0);
        TONES[place % TONES.len()]
    };
    let mut given: Vec<Option<Tone>> = Vec::new();
    for score in scores {
        let own = Some(own(score));
        given.push(own.filter(|_| !given.contains(&own)));
    }
    let mut free = TONES.into_iter().filter(|tone| !given.contains(&Some(*tone)));
    let all = scores.iter().zip(&given);
    all.map(|(score, given)| given.or_else(|| free.next()).unwrap_or_else(|| own(score))).collect()
}

/// A line for each rule that has points. Rules with the same points share a line that has all their
/// names. A single point is marked.
fn lines(
    scores: &[Score],
    stroke: Stroke,
    points: &dyn Fn(&Score) -> Vec<(f64, f64)>,
) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    for (score, tone) in scores.iter().zip(tones(scores)) {
        let mut points = points(score);
        points.dedup();
        if let Some(same) = all.iter_mut().find(|line| line.points == points) {
            same.name = format!("{} = {}", same.name, short_name(&score.rule));
            continue;
        }
        let stroke = if points.len() == 1 { Stroke::Marked } else { stroke };
        all.push(Line { name: short_name(&score.rule), points, band: Vec::new(), tone, stroke });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_has_the_same_colour_in_every_report() {
        let of = |rules: &[&str]| -> Vec<Tone> {
            let score = |rule: &&str| Score { rule: (*rule).to_owned(), ..Score::default() };
            tones(&rules.iter().map(score).collect::<Vec<Score>>())
        };
        let [one, other] = [of(&["last", "logistic"]), of(&["logistic", "class", "last"])];
        assert_eq!((one[0], one[1]), (other[2], other[0]));
        let twice = of(&["rate:half_life=5", "rate:half_life=9", "rate"]);
        assert!(twice[0] != twice[1] && twice[1] != twice[2] && twice[0] != twice[2]);
        // A rule without a free tone does not take the tone of a later rule.
        let many = of(&["last", "hazard", "last-or-rate", "class"]);
        assert_eq!(
            [many[0], many[2], many[3]],
            [of(&["last"])[0], of(&["last-or-rate"])[0], of(&["class"])[0]]
        );
        assert!(!many[..1].contains(&many[1]) && !many[2..].contains(&many[1]));
    }

    fn day(day: i64, jobs: u64, accuracy: f64) -> OfDay {
        OfDay { day, jobs, accuracy: Some(accuracy), ..OfDay::default() }
    }

    fn bins(jobs: &[u64]) -> Vec<Bin> {
        let bin = |(at, &jobs): (u32, &u64)| Bin {
            chance_from: f64::from(at) / 10.0,
            chance_to: f64::from(at + 1) / 10.0,
            jobs,
            chance_mean: Some(f64::from(at) / 10.0 + 0.05),
            not_finished_share: Some(0.12),
        };
        (0..).zip(jobs).map(bin).collect()
    }

    fn point(chance_at_least: f64, recall: f64, precision: f64) -> Point {
        let (recall, precision) = (Some(recall), Some(precision));
        Point { chance_at_least, precision, recall, ..Point::default() }
    }

    fn score(rule: &str, auc: f64, brier: f64, days: Vec<OfDay>, curve: Vec<Point>) -> Score {
        Score {
            rule: rule.to_owned(),
            jobs: 400,
            auc: Some(auc),
            brier_score: Some(brier),
            accuracy: Some(0.8),
            precision: Some(0.75),
            recall: Some(0.1),
            best_f1: curve.last().cloned(),
            days,
            curve,
            calibration: bins(&[100, 100, 100]),
            ..Score::default()
        }
    }

    #[test]
    fn days_count_from_the_first_and_captions_say_what_was_found() {
        let scores = [
            score(
                "one",
                0.7,
                0.2,
                vec![day(17_000, 200, 0.9), day(17_003, 200, 0.5), day(17_004, 99, 0.0)],
                vec![point(0.1, 1.0, 0.25), point(0.25, 0.5, 0.5)],
            ),
            // This rule has closer chances and a better F1, but neither decides.
            score(
                "two",
                0.6,
                0.1,
                vec![day(17_003, 200, 0.7)],
                vec![point(0.1, 1.0, 0.25), point(0.25, 1.0, 0.9)],
            ),
        ];
        let lines = days(&scores);
        assert_eq!(lines[0].points, [(0.0, 90.0), (3.0, 50.0)]);
        assert_eq!(lines[1].points, [(3.0, 70.0)]);
        let charts = charts(&scores, "all are counted", "at submission");
        let begins = [
            "The area under the curve, 0.5 by chance, is largest for one: 0.700. Each point",
            "If jobs with a chance above 0.5 are predicted not to finish, one has a precision of 75.0 % at a recall of \
            10.0 %. Each",
            "The mean of the squared errors (Brier score) of one (the largest area under the ROC \
            curve) is 0.200; the smallest is 0.100, of two. Jobs",
            "On the median of 2 days, 70.0 % of the predictions of one (the largest area under \
            the ROC curve) are right; it predicts that a job does not finish if the chance is above \
            0.5. Days",
        ];
        for ((_, chart), begin) in charts.iter().zip(begins) {
            assert!(chart.caption().starts_with(begin), "{}", chart.caption());
        }
        assert_eq!(charts.len(), 4);
        let best = " A rule with one threshold is a point. one (the largest area under the ROC curve) has its best F1, \
            the harmonic mean of both, if jobs with a chance of at least 0.25 (chosen in hindsight) are predicted \
            not to finish: 0.500, with a precision of 50.0 % at a recall of 50.0 %. Predicting that no job \
            finishes has 0.400. Rules";
        assert!(charts[1].1.caption().contains(best), "{}", charts[1].1.caption());
        let single = [score("two", 0.5, 0.1, vec![day(17_003, 200, 0.5)], Vec::new())];
        assert_eq!(super::charts(&single, "all", "now").len(), 3, "a single day is no line");
    }

    #[test]
    fn what_shows_nothing_is_said_and_not_drawn() {
        let own = |rule: &str, accuracy: f64| Score {
            calibration: bins(&[300, 99, 1]),
            ..score(
                rule,
                0.6,
                0.1,
                vec![day(0, 200, accuracy), day(1, 200, 0.5)],
                vec![point(0.0, 1.0, 0.25)],
            )
        };
        let scores = [own("one", 0.9), own("two", 0.905)];
        let drawn = charts(&scores, "all are counted", "at submission");
        let names: Vec<&str> = drawn.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["predict-roc", "predict-precision-recall"]);
        let caption = drawn[1].1.caption();
        for said in [
            "No threshold of one (the largest area under the ROC curve) has a better F1, the harmonic \
            mean of both, than predicting that no job finishes: 0.400. ",
            " because no rule has 100 jobs in three of ten bins: one gives 300 of 400 jobs a chance of \
            0 to 10 %, of which 12.0 % did not finish.",
            " because on none of the 2 days with at least 100 jobs the accuracy of two rules differs by \
            more than 1 percentage point.",
        ] {
            assert!(caption.contains(said), "{caption}");
        }
        // Rules with the same points share a line.
        let lines = tradeoff(&scores);
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].name.as_str(), lines[0].stroke), ("one = two", Stroke::Marked));
    }

    #[test]
    fn curves_that_lie_on_each_other_are_named() {
        let line = |name: &str, points: &[(f64, f64)]| Line {
            name: name.to_owned(),
            points: points.to_vec(),
            ..diagonal("")
        };
        let curves = [
            diagonal("by chance"),
            line("one", &[(0.0, 0.0), (0.0, 60.0), (100.0, 100.0)]),
            line("two", &[(0.0, 0.0), (50.0, 50.9), (100.0, 100.0)]),
            line("three", &[(0.0, 0.0), (0.0, 60.5), (100.0, 100.0)]),
            line("four", &[(0.0, 0.0), (50.0, 52.0), (100.0, 100.0)]),
            line("five", &[(0.0, 0.0)]),
        ];
        assert_eq!(
            hidden(&curves),
            " Curves that lie on each other (at most 1 percentage point apart): by chance and two; \
            one and three."
        );
        assert_eq!(hidden(&curves[..2]), "");
    }

    #[test]
    fn only_the_corner_of_good_curves_is_drawn() {
        let line = |name: &str, points: &[(f64, f64)]| Line {
            name: name.to_owned(),
            points: points.to_vec(),
            ..diagonal("")
        };
        let curves = || {
            vec![
                diagonal("by chance"),
                line("best", &[(0.0, 0.0), (2.0, 80.0), (10.0, 98.0), (60.0, 100.0)]),
                line("far", &[(0.0, 0.0), (50.0, 60.0), (100.0, 100.0)]),
                line("point", &[(4.0, 87.0)]),
            ]
        };
        let of = |auc: f64| in_corner(&[score("best", auc, 0.1, Vec::new(), Vec::new())], curves());
        let (seen, part, outside) = of(0.98);
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0].points, [(1.75, 70.0), (2.0, 80.0), (10.0, 98.0), (20.0, 98.4)]);
        assert_eq!(seen[1].points, [(4.0, 87.0)]);
        assert_eq!(
            part,
            (70.0, " (axis from 70 %, up to a false positive rate of 20 %)".to_owned())
        );
        assert_eq!(outside, " Without a point in this corner: by chance, far.");
        assert_eq!(of(0.8).0.len(), 4);
        assert_eq!(
            axis_from(&[line("one", &[(0.0, 48.0), (1.0, 95.0)])]),
            (40.0, " (axis from 40 %)".to_owned())
        );
        assert_eq!(axis_from(&[line("one", &[(0.0, 29.0), (1.0, 95.0)])]), Start::default());
    }

    #[test]
    fn a_rule_that_says_yes_or_no_is_a_point() {
        let at = |chance, recall, precision, rate| Point {
            false_positive_rate: Some(rate),
            ..point(chance, recall, precision)
        };
        let all = at(0.0, 1.0, 0.25, 1.0);
        let of = |curve: &[Point]| {
            let scores = [score("one", 0.7, 0.1, Vec::new(), curve.to_vec())];
            [roc(&scores)[1].clone(), tradeoff(&scores)[0].clone()].map(|line| line.points)
        };
        let one = at(1.0, 0.5, 0.75, 0.25);
        assert_eq!(of(&[all.clone(), one.clone()]), [[(25.0, 50.0)], [(50.0, 75.0)]]);
        // One rule predicts that no job fails. Another finds all of them without predicting the
        // same for all jobs.
        assert_eq!(of(std::slice::from_ref(&all))[0], [(0.0, 0.0), (100.0, 100.0)]);
        assert_eq!(of(&[all.clone(), at(1.0, 1.0, 0.5, 0.5)])[0], [(50.0, 100.0)]);
        // With two thresholds, there is a choice between them.
        let more = of(&[all, at(0.5, 0.75, 0.5, 0.5), one]);
        assert_eq!(more[0].len(), 4);
        assert_eq!(more[1].len(), 5);
    }

    #[test]
    fn precision_is_a_staircase_from_its_first_threshold() {
        let curve = vec![point(0.1, 1.0, 0.25), point(0.2, 0.5, 0.5), point(0.9, 0.2, 1.0)];
        let lines = tradeoff(&[score("one", 0.7, 0.1, Vec::new(), curve)]);
        assert_eq!(
            lines[0].points,
            [(20.0, 100.0), (20.0, 50.0), (50.0, 50.0), (50.0, 25.0), (100.0, 25.0)]
        );
    }
}

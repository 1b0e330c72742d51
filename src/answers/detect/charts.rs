//! The charts of `detect`.
//!
//! In: an outcome and its detectors. Out: charts of how right each detector was, what its copies
//! would have saved and cost, precision against recall, and false alarms when the state of the
//! cluster shifts. Some charts are split by family, so that their default detectors differ in
//! colour.

use crate::digits::{counted, grouped};

use super::Lineup;
use crate::charts::{
    Chart, ForestChart, ForestColumn, Interval, Line, LineChart, Scale, Stroke, Tone,
};
use crate::replay::detect::copies::Replacement;
use crate::replay::detect::score::Score;
use crate::replay::detect::shifts::ShiftRow;
use crate::replay::detect::{DetectOutcome, DetectPlan, DetectorRow};
use crate::replay::detectors::Family;
use crate::studies::distributions::wilson;

/// All charts of an outcome, by the stem of their file.
pub(crate) fn charts(
    outcome: &DetectOutcome,
    plan: &DetectPlan,
    lineup: &Lineup,
) -> Vec<(String, Chart)> {
    let caption = caption(outcome, plan);
    let asked = &outcome.rows[..lineup.asked];
    let mut charts = vec![("detect-scores".to_owned(), scores(outcome, asked, plan, &caption))];
    // If no hour can be compared with the hours before it, no shift can be shown.
    if outcome.shifts.hours.iter().any(|row| row.is_shift.is_some()) {
        charts.push(("detect-hours".to_owned(), hours(outcome, &caption)));
        charts.push(("detect-shifts".to_owned(), shifts(outcome, lineup, &caption)));
    }
    for (family, suffix) in [(Family::Hadoop, "hadoop"), (Family::Others, "others")] {
        let lines = copy_lines(outcome, asked, lineup, family);
        if !lines.is_empty() {
            let chart = copies(lines, family, plan.replacement, &caption);
            charts.push((format!("detect-copies-{suffix}"), chart));
        }
        let lines = curve_lines(outcome, lineup, family);
        if !lines.is_empty() {
            charts.push((format!("detect-curves-{suffix}"), curves(lines, family, &caption)));
        }
    }
    if !lineup.windows.is_empty() {
        charts.push(("detect-windows".to_owned(), windows(outcome, lineup, &caption)));
    }
    charts
}

fn caption(outcome: &DetectOutcome, plan: &DetectPlan) -> String {
    format!(
        "A straggler is a task longer than {} of its job's finished tasks. {} judged tasks in {} groups, {} stragglers. Every {} s a detector sees the running tasks and their progress: {}. Attempts that began before the window are left out; attempts open at its end are not judged{}.",
        plan.truths[0].words(),
        grouped(outcome.counts.judged_tasks),
        grouped(outcome.counts.groups),
        grouped(outcome.stragglers[0]),
        crate::units::micros_to_seconds(plan.walk.heartbeat_us),
        plan.walk.progress.caption(),
        super::closed(outcome.counts),
    )
}

fn scores(outcome: &DetectOutcome, all: &[DetectorRow], plan: &DetectPlan, caption: &str) -> Chart {
    let saved = |row: &DetectorRow| saved(outcome, row).map(|share| share * 100.0);
    let rows = in_order(outcome, all);
    let knows_copies = rows.iter().any(|row| saved(row).is_some());
    let order = if knows_copies { "job time that their copies save" } else { "F1" };
    let savings = ForestColumn {
        axis: "saved (% of job time)".to_owned(),
        values: rows
            .iter()
            .map(|row| saved(row).map(|value| Interval { low: value, value, high: value }))
            .collect(),
        tone: Tone::Ink,
    };
    let share = |hits: u64, of: u64| {
        let [value, low, high] = <[f64; 3]>::from(wilson(hits, of)).map(|share| share * 100.0);
        (0 < of).then_some(Interval { low, value, high })
    };
    let column = |axis: &str, of: &dyn Fn(&Score) -> Option<Interval>, tone| ForestColumn {
        axis: axis.to_owned(),
        values: rows.iter().map(|row| of(&row.scores[0])).collect(),
        tone,
    };
    let precision = |score: &Score| share(score.hits, score.hits + score.false_alarms);
    let recall = |score: &Score| share(score.hits, score.hits + score.missed);
    let lead = |score: &Score| {
        let (low, high) = (score.lead_p25_s?, score.lead_p75_s?);
        let [low, value, high] = [low, score.lead_median_s?, high].map(|seconds| seconds / 60.0);
        Some(Interval { low, value, high })
    };
    let scored = rows.iter().filter_map(|row| Some((row.scores[0].f1?, &row.detector)));
    let best = scored.filter(|(f1, _)| 0.0 < *f1);
    let best = best.max_by(|one, other| one.0.total_cmp(&other.0)).map_or_else(
        String::new,
        |(f1, name)| {
            format!(
                "Best by F1, the harmonic mean of precision and recall: {name}, {f1:.2}{}. ",
                other_truths(&rows, plan)
            )
        },
    );
    Chart::Forest(ForestChart {
        title: "How often straggler detectors would have been right, and how early".to_owned(),
        caption: format!(
            "{best}Detectors are in the order of the {order}. Precision leaves out flags on tasks that are not \
            judged{}. Lines: 95 % intervals (Wilson) of precision and recall, as if tasks were independent, \
            most of them shorter than a dot; quartiles of the lead time (from the flag to the end of the \
            attempt). {caption}",
            unjudged(&rows)
        ),
        rows: rows.iter().map(|row| row.detector.clone()).collect(),
        columns: knows_copies
            .then_some(savings)
            .into_iter()
            .chain([
                column("precision (%)", &precision, Tone::Blue),
                column("recall (%)", &recall, Tone::Vermilion),
                column("lead time (min)", &lead, Tone::Green),
            ])
            .collect(),
    })
}

/// The share of job time that copies of the tasks flagged by a detector save without a limit.
fn saved(outcome: &DetectOutcome, row: &DetectorRow) -> Option<f64> {
    let all = outcome.copies.iter().filter(|copy| copy.budget.is_none());
    let mut own = all.filter(|copy| copy.detector == row.detector);
    own.find_map(|copy| copy.earlier_share)
}

/// The detectors by what their copies save, then by F1, both from the largest; without the bounds,
/// whose values would squeeze those of the others.
fn in_order<'a>(outcome: &DetectOutcome, rows: &'a [DetectorRow]) -> Vec<&'a DetectorRow> {
    let mut rows: Vec<&DetectorRow> = rows.iter().filter(|row| !is_bound(&row.detector)).collect();
    let f1 = |row: &DetectorRow| row.scores.first().and_then(|score| score.f1);
    let rank = |row: &DetectorRow| [saved(outcome, row), f1(row)].map(Option::unwrap_or_default);
    rows.sort_by(|one, other| {
        let (one, other) = (rank(one), rank(other));
        other[0].total_cmp(&one[0]).then(other[1].total_cmp(&one[1]))
    });
    rows
}

/// The best detectors by the other definitions of a straggler: `; by other definitions of a
/// straggler: flink, 0.64 (mean:1.5)`; empty if there is only one definition.
fn other_truths(rows: &[&DetectorRow], plan: &DetectPlan) -> String {
    let best = |place: usize| {
        let scored =
            rows.iter().filter_map(|row| Some((row.scores.get(place)?.f1?, row.detector.as_str())));
        scored.max_by(|one, other| one.0.total_cmp(&other.0))
    };
    let others = plan.truths.iter().enumerate().skip(1);
    let said = others.filter_map(|(place, truth)| {
        let (f1, name) = best(place)?;
        Some(format!("{name}, {f1:.2} (longer than {})", truth.words()))
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() {
        String::new()
    } else {
        format!("; by other definitions of a straggler: {}", said.join("; "))
    }
}

/// The largest part of flags that is not judged: `: 11,317 of 26,282 of flink, and so on`.
fn unjudged(rows: &[&DetectorRow]) -> String {
    let best = rows.first().filter(|row| 0 < row.flags_unjudged);
    best.map_or_else(String::new, |row| {
        format!(
            ", such as {} of the {} flags of {}, on attempts that did not finish",
            grouped(row.flags_unjudged),
            grouped(row.flags),
            row.detector
        )
    })
}

fn is_bound(name: &str) -> bool {
    matches!(name, "none" | "oracle")
}

/// Positions of the detectors of a family, and their colours. Both families have the bounds.
fn toned(lineup: &Lineup, family: Family) -> Vec<(usize, Tone)> {
    let mut tones =
        Tone::SERIES.into_iter().filter(|tone| !matches!(tone, Tone::Ink | Tone::Grey)).cycle();
    (0..lineup.asked)
        .filter_map(|idx| match &lineup.detectors[idx] {
            one if one.name() == "none" => Some((idx, Tone::Grey)),
            one if one.name() == "oracle" => Some((idx, Tone::Ink)),
            one => (one.family() == family).then(|| (idx, tones.next().expect("tones go round"))),
        })
        .collect()
}

fn copy_lines(
    outcome: &DetectOutcome,
    asked: &[DetectorRow],
    lineup: &Lineup,
    family: Family,
) -> Vec<Line> {
    toned(lineup, family)
        .into_iter()
        .map(|(idx, tone)| Line {
            name: asked[idx].detector.clone(),
            points: outcome
                .copies
                .iter()
                .filter(|row| row.detector == asked[idx].detector)
                .filter_map(|row| Some((row.budget? * 100.0, row.earlier_share? * 100.0)))
                .collect(),
            band: Vec::new(),
            tone,
            stroke: Stroke::Marked,
        })
        .collect()
}

/// A sentence about the curve that ends highest, and those that stay near 0; empty if none saves
/// anything.
fn most_saved(lines: &[Line]) -> String {
    /// Curves that stay below this share of job time, in per cent, save nothing worth drawing.
    const NEAR_ZERO: f64 = 0.5;
    let others = || lines.iter().filter(|line| !is_bound(&line.name));
    let ends = others().filter_map(|line| Some((line, *line.points.last()?)));
    let best = ends.max_by(|one, other| one.1.1.total_cmp(&other.1.1));
    let Some((line, end)) = best.filter(|(_, end)| 0.0 < end.1) else { return String::new() };
    // From the smallest limit at which it saves as much.
    let from = line.points.iter().find(|point| end.1 * 0.999 <= point.1).map_or(end.0, |at| at.0);
    let is_low = |line: &&Line| line.points.iter().all(|point| point.1 < NEAR_ZERO);
    let low: Vec<&str> = others().filter(is_low).map(|line| line.name.as_str()).collect();
    let low = if low.is_empty() {
        String::new()
    } else {
        format!(" Below {NEAR_ZERO} % at any limit: {}.", low.join(", "))
    };
    format!(
        "{} saves most of these, {:.1} % of the job time, at a limit of {} % or more.{low} ",
        line.name,
        end.1,
        crate::digits::three_digits(from)
    )
}

/// The detectors of a family in words, for the end of a title.
const fn of_family(family: Family) -> &'static str {
    match family {
        Family::Hadoop => "detectors of the Hadoop family",
        Family::Others => "other detectors",
    }
}

fn copies(lines: Vec<Line>, family: Family, replacement: Replacement, caption: &str) -> Chart {
    let length = match replacement {
        Replacement::Median => "as long as the median finished sibling",
        Replacement::Draw => "as long as a finished sibling that is drawn at random",
    };
    Chart::Lines(LineChart {
        title: format!("What copies of flagged tasks would have saved: {}", of_family(family)),
        caption: format!(
            "{}A dry run: a copy starts at once and takes {length}; job time is from the first submit to the last finish, summed over jobs. The limit holds for each job and is spent in the order of the flags, so the oracle, which knows the stragglers, may save less than another detector under a tight limit. {caption}",
            most_saved(&lines)
        ),
        x_axis: "limit on the slot time of copies in each job (% of the job's)".to_owned(),
        y_axis: "saved (% of job time)".to_owned(),
        x_scale: Scale::Log,
        lines,
    })
}

fn curve_lines(outcome: &DetectOutcome, lineup: &Lineup, family: Family) -> Vec<Line> {
    let mut tones = Tone::SERIES.into_iter().cycle();
    lineup
        .curves
        .iter()
        .filter(|curve| curve.family == family)
        .map(|curve| {
            let mut points: Vec<(f64, f64)> = curve
                .points
                .iter()
                .map(|&(_, place)| &outcome.rows[place].scores[0])
                .filter_map(|score| Some((score.recall? * 100.0, score.precision? * 100.0)))
                .collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            Line {
                name: format!("{}: {}", curve.name, curve.key),
                points,
                band: Vec::new(),
                tone: tones.next().expect("tones go round"),
                stroke: Stroke::Marked,
            }
        })
        .collect()
}

fn curves(lines: Vec<Line>, family: Family, caption: &str) -> Chart {
    // F1, the harmonic mean of recall and precision, all in per cent.
    let balance = |(recall, precision): (f64, f64)| {
        if 0.0 < recall + precision { 2.0 * recall * precision / (recall + precision) } else { 0.0 }
    };
    let points = lines.iter().flat_map(|line| line.points.iter().map(move |&at| (line, at)));
    let best = points.max_by(|one, other| balance(one.1).total_cmp(&balance(other.1)));
    let found = best.filter(|best| 0.0 < balance(best.1)).map_or_else(String::new, |(line, at)| {
        format!(
            "Best together (by F1, their harmonic mean): {}, with a recall of {:.1} % and a \
            precision of {:.1} %. ",
            line.name, at.0, at.1
        )
    });
    Chart::Lines(LineChart {
        title: format!(
            "Precision against recall, along the main parameter of {}",
            of_family(family)
        ),
        caption: format!("{found}{caption}"),
        x_axis: "recall (%)".to_owned(),
        y_axis: "precision (%)".to_owned(),
        x_scale: Scale::Linear,
        lines,
    })
}

fn hours(outcome: &DetectOutcome, caption: &str) -> Chart {
    let shifts = &outcome.shifts;
    let first = shifts.hours.iter().map(|row| row.hour).min().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "an hour of a trace")]
    let point = |hour: u64, length_s: f64| ((hour - first) as f64, length_s);
    let all = shifts.hours.iter().filter_map(|row| Some(point(row.hour, row.length_median_s?)));
    let line = |name: &str, points: Vec<(f64, f64)>, tone, stroke| Line {
        name: name.to_owned(),
        points,
        band: Vec::new(),
        tone,
        stroke,
    };
    let mut lines: Vec<Line> = runs(all)
        .enumerate()
        .map(|(number, points)| {
            let name = if number == 0 { "median task" } else { "" };
            // An hour between two gaps is a point.
            let stroke = if points.len() == 1 { Stroke::Marked } else { Stroke::Straight };
            line(name, points, Tone::Blue, stroke)
        })
        .collect();
    let line_count = lines.len();
    for row in shifts.hours.iter().filter(|row| row.is_shift == Some(true)) {
        let at = point(row.hour, row.length_median_s.unwrap_or(0.0));
        let name = if lines.len() == line_count { "hour of change" } else { "" };
        lines.push(line(name, vec![at], Tone::Vermilion, Stroke::Points));
    }
    let factor = shifts.plan.factor;
    let shift_count = shifts.hours.iter().filter(|row| row.is_shift == Some(true)).count();
    Chart::Lines(LineChart {
        title: "Hours in which the typical task changes".to_owned(),
        caption: format!(
            "{shift_count} of {} are hours of change: their median is at least {factor} times, or at most 1/{factor} of, that of the {} hours before; hours with fewer than {} finished tasks are left out. {caption} The first hour is {first} h on the clock of the trace.",
            counted(shifts.hours.len() as u64, "hour"),
            shifts.plan.hours_before,
            shifts.plan.tasks_min
        ),
        x_axis: "time since the first hour (h)".to_owned(),
        y_axis: "median length of tasks finished in the hour (s)".to_owned(),
        x_scale: Scale::Linear,
        lines,
    })
}

/// Points an hour apart, split where an hour is missing: a gap has no line.
fn runs(points: impl Iterator<Item = (f64, f64)>) -> impl Iterator<Item = Vec<(f64, f64)>> {
    let points: Vec<(f64, f64)> = points.collect();
    let runs: Vec<Vec<(f64, f64)>> =
        points.chunk_by(|one, next| next.0 - one.0 < 1.5).map(<[_]>::to_vec).collect();
    runs.into_iter()
}

fn shifts(outcome: &DetectOutcome, lineup: &Lineup, caption: &str) -> Chart {
    let rows = outcome.rows.iter().zip(&outcome.shifts.rows).take(lineup.asked);
    let rows: Vec<(&DetectorRow, &ShiftRow)> =
        rows.filter(|(row, _)| !is_bound(&row.detector)).collect();
    let order = in_order(outcome, &outcome.rows[..lineup.asked]);
    let own = |name: &str| rows.iter().find(|(row, _)| row.detector == name).map(|(_, own)| *own);
    let rates: Vec<(&str, [Option<f64>; 2])> = order
        .iter()
        .filter_map(|row| {
            let own = own(&row.detector)?;
            let rates = [own.rate_in_shift, own.rate_in_calm];
            Some((row.detector.as_str(), rates.map(|rate| rate.map(|rate| rate * 1000.0))))
        })
        .collect();
    let column = |title: &str, place: usize, tone| ForestColumn {
        axis: format!("{title} (per 1,000 task-hours)"),
        values: rates
            .iter()
            .map(|(_, rates)| rates[place].map(|value| Interval { low: 0.0, value, high: value }))
            .collect(),
        tone,
    };
    Chart::Forest(ForestChart {
        title: "False alarms in hours of change and in others".to_owned(),
        caption: format!("{}{}{caption}", most_and_least(&rates), in_neither(outcome, lineup)),
        rows: rates.iter().map(|(name, _)| (*name).to_owned()).collect(),
        columns: vec![
            column("in hours of change", 0, Tone::Vermilion),
            column("in other hours", 1, Tone::Blue),
        ],
    })
}

/// A sentence about hours that cannot be compared; empty if no false alarm is in one.
fn in_neither(outcome: &DetectOutcome, lineup: &Lineup) -> String {
    let rows = outcome.shifts.rows.iter().take(lineup.asked);
    let most = rows.filter(|row| !is_bound(&row.detector)).max_by_key(|row| row.in_neither);
    let Some(row) = most.filter(|row| 0 < row.in_neither) else { return String::new() };
    let hours = outcome.shifts.hours.iter().filter(|row| row.is_shift.is_none()).count() as u64;
    format!(
        "Left out: {} that cannot be compared with those before, and times in which no judged task \
        finished, with at most {} of a detector ({}). ",
        counted(hours, "hour"),
        counted(row.in_neither, "false alarm"),
        row.detector
    )
}

/// In how many detectors false alarms are more frequent in hours of change, and which has fewest and
/// most of them there.
fn most_and_least(rates: &[(&str, [Option<f64>; 2])]) -> String {
    let known: Vec<(&str, f64, f64)> = rates
        .iter()
        .filter_map(|(name, [shift, calm])| Some((*name, (*shift)?, (*calm)?)))
        .collect();
    let by_rate = |one: &&(&str, f64, f64), other: &&(&str, f64, f64)| one.1.total_cmp(&other.1);
    let (least, most) = (known.iter().min_by(by_rate), known.iter().max_by(by_rate));
    let more = known.iter().filter(|(_, shift, calm)| calm < shift).count() as u64;
    least.zip(most).filter(|(least, most)| least.1 < most.1).map_or_else(
        String::new,
        |(least, most)| {
            format!(
                "In {} of {}, false alarms are more frequent in hours of change than in others. In hours of \
                change, {} has fewest with {:.2} per 1,000 task-hours, and {} most with {:.2}. ",
                grouped(more),
                counted(known.len() as u64, "detector"),
                least.0,
                least.1,
                most.0,
                most.1
            )
        },
    )
}

fn windows(outcome: &DetectOutcome, lineup: &Lineup, caption: &str) -> Chart {
    let line = |is_scaled: bool, in_shift: bool| {
        let points = lineup
            .windows
            .iter()
            .filter(|window| window.1 == is_scaled)
            .filter_map(|&(window_s, _, place)| {
                let row = &outcome.shifts.rows[place];
                let rate = if in_shift { row.rate_in_shift } else { row.rate_in_calm };
                Some((f64::from(window_s), rate? * 1000.0))
            })
            .collect();
        let size = if is_scaled { "scaled to the task" } else { "in seconds" };
        Line {
            name: format!(
                "{size}, {}",
                if in_shift { "in hours of change" } else { "in other hours" }
            ),
            points,
            band: Vec::new(),
            tone: match (is_scaled, in_shift) {
                (false, true) => Tone::Vermilion,
                (false, false) => Tone::Orange,
                (true, true) => Tone::Blue,
                (true, false) => Tone::Sky,
            },
            stroke: Stroke::Marked,
        }
    };
    Chart::Lines(LineChart {
        title: "False alarms of the Poisson detector by its window".to_owned(),
        caption: caption.to_owned(),
        x_axis: "window W (s; scaled: for tasks of 30 s)".to_owned(),
        y_axis: "false alarms per 1,000 task-hours".to_owned(),
        x_scale: Scale::Log,
        lines: vec![line(false, true), line(false, false), line(true, true), line(true, false)],
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::runs;

    proptest! {
        /// No line crosses a missing hour, and every hour is in one run.
        #[test]
        fn a_missing_hour_is_a_gap(is_there in prop::collection::vec(any::<bool>(), 0..30)) {
            let hours = (0_u32..).zip(&is_there).filter(|hour| *hour.1);
            let points: Vec<(f64, f64)> = hours.map(|(hour, _)| (f64::from(hour), 1.0)).collect();
            let runs: Vec<Vec<(f64, f64)>> = runs(points.iter().copied()).collect();
            prop_assert_eq!(runs.concat(), points);
            for pair in runs.iter().flat_map(|run| run.windows(2)) {
                prop_assert_eq!(pair[1].0 - pair[0].0, 1.0);
            }
            let starts = is_there.iter().enumerate();
            let starts = starts.filter(|&(hour, &own)| own && (hour == 0 || !is_there[hour - 1]));
            prop_assert_eq!(runs.len(), starts.count());
        }
    }
}

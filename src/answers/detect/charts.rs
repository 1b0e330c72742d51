//! The charts of `detect`.
//!
//! In: an outcome and its detectors. Out: charts of the scores of each detector, of what its copies
//! would have saved and cost, of precision against recall, and of false alarms when the state of
//! the cluster shifts. Some charts are split by family, so that default detectors have different
//! colours.

use super::Lineup;
use super::order::{in_order, is_bound, saved};
use super::shift_charts::{hours, shifts};
use crate::answers::sentences::{MOST, percent};
use crate::charts::{
    Chart, ForestChart, ForestColumn, Interval, Line, LineChart, Scale, Stroke, Tone,
};
use crate::digits::{counted, grouped, three_digits};
use crate::replay::detect::copies::Replacement;
use crate::replay::detect::score::Score;
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
    // If no hour can be compared with the hours before it, there is no shift to show.
    if outcome.shifts.hours.iter().any(|row| row.is_shift.is_some()) {
        charts.push(("detect-hours".to_owned(), hours(outcome, &caption)));
        charts.push(("detect-shifts".to_owned(), shifts(outcome, lineup, &caption)));
    }
    let lines = copy_lines(outcome, asked);
    if !lines.is_empty() {
        let said = [drawn_of(&lines, asked), by_one_job(outcome, asked)].concat();
        charts.push(("detect-copies".to_owned(), copies(lines, &said, plan.replacement, &caption)));
    }
    for (family, suffix) in [(Family::Hadoop, "hadoop"), (Family::Others, "others")] {
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
    let told = |values: Vec<Option<Interval>>, axis: &str, tone| {
        let note =
            |own: &Option<Interval>| own.map_or_else(String::new, |own| three_digits(own.value));
        let notes = values.iter().map(note).collect();
        ForestColumn { notes, ..ForestColumn::new(axis.to_owned(), values, tone) }
    };
    let saving =
        |row: &&DetectorRow| saved(row).map(|value| Interval { low: value, value, high: value });
    let savings = told(rows.iter().map(saving).collect(), "saved (% of job time)", Tone::Ink);
    let share = |hits: u64, of: u64| {
        let [value, low, high] = <[f64; 3]>::from(wilson(hits, of)).map(|share| share * 100.0);
        (0 < of).then_some(Interval { low, value, high })
    };
    let column = |axis: &str, of: &dyn Fn(&Score) -> Option<Interval>, tone| {
        told(rows.iter().map(|row| of(&row.scores[0])).collect(), axis, tone)
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
                // Some detectors flag half an hour early and others a minute.
                ForestColumn {
                    scale: Scale::Log,
                    ..column("median lead time in minutes, with quartiles", &lead, Tone::Green)
                },
            ])
            .collect(),
    })
}

/// The best detectors by the other definitions of a straggler: `; by other definitions of a
/// straggler: flink, 0.64 (mean:1.5)`. Empty if there is only one definition.
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

/// The flags of the first detector that are not judged: `, such as 11,317 of the 26,282 flags of
/// flink, on attempts that did not finish`. Empty if all are judged.
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

/// The most detectors whose copies are drawn, so that each has a different colour.
const DRAWN: usize = 6;

/// The time that copies save, by their limit. The lines are the oracle and the detectors that save
/// most without a limit.
fn copy_lines(outcome: &DetectOutcome, asked: &[DetectorRow]) -> Vec<Line> {
    let line = |row: &DetectorRow, tone: Tone| Line {
        name: row.detector.clone(),
        points: outcome
            .copies
            .iter()
            .filter(|copies| copies.detector == row.detector)
            .filter_map(|copies| Some((copies.budget? * 100.0, copies.earlier_share? * 100.0)))
            .collect(),
        band: Vec::new(),
        tone,
        stroke: Stroke::Marked,
    };
    let tones = Tone::SERIES.into_iter().filter(|tone| *tone != Tone::Ink).cycle();
    let best = in_order(outcome, asked).into_iter().take(DRAWN).zip(tones);
    let oracle = asked.iter().find(|row| row.detector == "oracle");
    let all = oracle.into_iter().map(|row| line(row, Tone::Ink));
    let all = all.chain(best.map(|(row, tone)| line(row, tone)));
    all.filter(|line| !line.points.is_empty()).collect()
}

/// A sentence that says which detectors are drawn; empty if all are.
fn drawn_of(lines: &[Line], asked: &[DetectorRow]) -> String {
    let drawn = lines.iter().filter(|line| !is_bound(&line.name)).count();
    let all = asked.iter().filter(|row| !is_bound(&row.detector)).count();
    if all <= drawn {
        return String::new();
    }
    format!(
        "Drawn are the {} of {} that save most. ",
        grouped(drawn as u64),
        counted(all as u64, "detector")
    )
}

/// A sentence about detectors for which one job has most of the time saved without a limit. Empty
/// if there are none.
fn by_one_job(outcome: &DetectOutcome, asked: &[DetectorRow]) -> String {
    let said = in_order(outcome, asked).into_iter().filter_map(|row| {
        let mut own = outcome.copies.iter().filter(|copies| copies.detector == row.detector);
        let share = own.find(|copies| copies.budget.is_none())?.largest_earlier_share?;
        (MOST <= share).then(|| format!("{} ({})", row.detector, percent(share)))
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() {
        return String::new();
    }
    format!(
        "One job makes up most of what these detectors save without a limit: {}. ",
        said.join(", ")
    )
}

/// A sentence about the curve that ends highest; empty if none saves anything.
fn most_saved(lines: &[Line]) -> String {
    let others = lines.iter().filter(|line| !is_bound(&line.name));
    let ends = others.filter_map(|line| Some((line, *line.points.last()?)));
    let best = ends.max_by(|one, other| one.1.1.total_cmp(&other.1.1));
    let Some((line, end)) = best.filter(|(_, end)| 0.0 < end.1) else { return String::new() };
    // Starts at the smallest limit with which the detector saves as much.
    let from = line.points.iter().find(|point| end.1 * 0.999 <= point.1).map_or(end.0, |at| at.0);
    format!(
        "{} saves most, {:.1} % of the job time, at a limit of {} % or more. ",
        line.name,
        end.1,
        three_digits(from)
    )
}

/// A sentence about curves that stay near 0 while another one does not; empty if there are none.
fn near_zero(lines: &[Line]) -> String {
    /// If a curve stays below this share of job time, in per cent, the detector saves too little to
    /// see.
    const NEAR_ZERO: f64 = 0.5;
    let is_low = |line: &&Line| line.points.iter().all(|point| point.1 < NEAR_ZERO);
    let others = lines.iter().filter(|line| !is_bound(&line.name));
    let low: Vec<&str> = others.filter(is_low).map(|line| line.name.as_str()).collect();
    if low.is_empty() || most_saved(lines).is_empty() {
        String::new()
    } else {
        format!("Below {NEAR_ZERO} % at any limit: {}. ", low.join(", "))
    }
}

/// A sentence if a detector visibly saves more than the oracle under some limit; otherwise empty.
fn oracle_beaten(lines: &[Line]) -> String {
    /// The smallest difference that a reader can see, in per cent of job time.
    const SEEN: f64 = 0.05;
    let saved =
        |line: &Line, limit: f64| line.points.iter().find(|own| own.0 == limit).map(|own| own.1);
    let Some(oracle) = lines.iter().find(|line| line.name == "oracle") else {
        return String::new();
    };
    let is_beaten = |&&(limit, best): &&(f64, f64)| {
        lines.iter().any(|line| saved(line, limit).is_some_and(|own| SEEN < own - best))
    };
    let beaten = oracle.points.iter().filter(is_beaten).map(|point| point.0).reduce(f64::max);
    beaten.map_or_else(String::new, |limit| {
        format!(
            "At a limit of {} % the oracle is not the best: it spends the limit on every straggler, in \
            the order of its flags. ",
            three_digits(limit)
        )
    })
}

/// The detectors of a family in words, for the end of a title.
const fn of_family(family: Family) -> &'static str {
    match family {
        Family::Hadoop => "detectors of the Hadoop family",
        Family::Others => "other detectors",
    }
}

fn copies(lines: Vec<Line>, said: &str, replacement: Replacement, caption: &str) -> Chart {
    let length = match replacement {
        Replacement::Median => "as long as the median finished sibling",
        Replacement::Draw => "as long as a finished sibling that is drawn at random",
    };
    Chart::Lines(LineChart {
        title: "What copies of flagged tasks would have saved".to_owned(),
        caption: format!(
            "{}{}{}{said}A dry run: a copy starts at once and takes {length}; job time is from the first event to the last end of any attempt, summed over jobs. The limit holds for each job. {caption}",
            most_saved(&lines),
            oracle_beaten(&lines),
            near_zero(&lines)
        ),
        x_axis: "limit on the slot time of copies in each job (% of the job's)".to_owned(),
        y_axis: "saved (% of job time)".to_owned(),
        x_scale: Scale::Log,
        y_from: 0.0,
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
        y_from: 0.0,
        lines,
    })
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
        y_from: 0.0,
        lines: vec![line(false, true), line(false, false), line(true, true), line(true, false)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::detect::GroupCounts;
    use crate::replay::detect::copies::CopyRow;
    use crate::replay::detect::shifts::{ShiftPlan, Shifts};

    #[test]
    fn the_copies_of_the_best_six_are_drawn_with_the_oracle() {
        let names = ["none", "oracle", "a", "b", "c", "d", "e", "f", "g"];
        let row = |name: &&str| DetectorRow {
            detector: (*name).to_owned(),
            settings: String::new(),
            flags: 0,
            flags_unjudged: 0,
            scores: Vec::new(),
        };
        let copies = |(place, name): (u32, &&str)| {
            let of = |budget: Option<f64>| CopyRow {
                detector: (*name).to_owned(),
                budget,
                earlier_share: Some(f64::from(place) / 100.0),
                largest_earlier_share: (*name == "g").then_some(0.9),
                ..CopyRow::default()
            };
            [of(Some(0.1)), of(None)]
        };
        let asked: Vec<DetectorRow> = names.iter().map(row).collect();
        let copies = (0..).zip(&names).flat_map(copies).collect();
        let outcome = DetectOutcome {
            counts: GroupCounts::default(),
            task_hours: 0.0,
            response_hours: 0.0,
            stragglers: Vec::new(),
            rows: Vec::new(),
            copies,
            shifts: Shifts { plan: ShiftPlan::default(), hours: Vec::new(), rows: Vec::new() },
        };
        let lines = copy_lines(&outcome, &asked);
        let drawn: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(drawn, ["oracle", "g", "f", "e", "d", "c", "b"]);
        assert_eq!(drawn_of(&lines, &asked), "Drawn are the 6 of 7 detectors that save most. ");
        assert_eq!(drawn_of(&lines, &asked[..4]), "");
        assert_eq!(
            by_one_job(&outcome, &asked),
            "One job makes up most of what these detectors save without a limit: g (90.0 %). "
        );
        assert!(by_one_job(&outcome, &asked[..4]).is_empty());
    }

    #[test]
    fn it_is_said_where_the_oracle_is_not_the_best() {
        let line = |name: &str, saved: [f64; 2]| Line {
            name: name.to_owned(),
            points: vec![(0.5, saved[0]), (50.0, saved[1])],
            band: Vec::new(),
            tone: Tone::Ink,
            stroke: Stroke::Marked,
        };
        let said = |own| oracle_beaten(&[line("oracle", [0.1, 9.0]), line("flink", own)]);
        assert!(said([0.2, 5.0]).starts_with("At a limit of 0.5 % the oracle"));
        assert_eq!(said([0.11, 5.0]), "");
        assert_eq!(oracle_beaten(&[line("flink", [0.2, 5.0])]), "");
    }
}

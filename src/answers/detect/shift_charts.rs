//! The charts of hours in which the typical task changes, and of the false alarms in them.
//!
//! In: an outcome. Out: the median length of tasks by hour, and false alarms by detector.

use super::Lineup;
use super::order::{in_order, is_bound};
use crate::charts::{
    Chart, ForestChart, ForestColumn, Interval, Line, LineChart, Scale, Stroke, Tone,
};
use crate::digits::{counted, grouped, three_digits};
use crate::replay::detect::shifts::ShiftRow;
use crate::replay::detect::{DetectOutcome, DetectorRow};

pub(super) fn hours(outcome: &DetectOutcome, caption: &str) -> Chart {
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
            // An hour between two gaps is drawn as a point.
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
        y_from: 0.0,
        lines,
    })
}

/// Points an hour apart, split where an hour is missing, so that no line crosses a gap.
fn runs(points: impl Iterator<Item = (f64, f64)>) -> impl Iterator<Item = Vec<(f64, f64)>> {
    let points: Vec<(f64, f64)> = points.collect();
    let runs: Vec<Vec<(f64, f64)>> =
        points.chunk_by(|one, next| next.0 - one.0 < 1.5).map(<[_]>::to_vec).collect();
    runs.into_iter()
}

pub(super) fn shifts(outcome: &DetectOutcome, lineup: &Lineup, caption: &str) -> Chart {
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
    let column = |title: &str, place: usize, tone| {
        let of = |rates: &[Option<f64>; 2]| {
            rates[place].map(|value| Interval { low: value, value, high: value })
        };
        let values: Vec<Option<Interval>> = rates.iter().map(|(_, rates)| of(rates)).collect();
        let note =
            |own: &Option<Interval>| own.map_or_else(String::new, |own| three_digits(own.value));
        // Some detectors have a thousand times as many as others.
        ForestColumn {
            notes: values.iter().map(note).collect(),
            scale: Scale::Log,
            ..ForestColumn::new(format!("{title} (per 1,000 task-hours)"), values, tone)
        }
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

/// A sentence about hours that cannot be compared; empty if there is no false alarm in these hours.
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

/// A sentence with the number of detectors that have fewer false alarms in hours of change than in
/// other hours, and with the detectors that have fewest and most there.
fn most_and_least(rates: &[(&str, [Option<f64>; 2])]) -> String {
    let known: Vec<(&str, f64, f64)> = rates
        .iter()
        .filter_map(|(name, [shift, calm])| Some((*name, (*shift)?, (*calm)?)))
        .collect();
    let by_rate = |one: &&(&str, f64, f64), other: &&(&str, f64, f64)| one.1.total_cmp(&other.1);
    let (least, most) = (known.iter().min_by(by_rate), known.iter().max_by(by_rate));
    let fewer = known.iter().filter(|(_, shift, calm)| shift < calm).count() as u64;
    let detectors = counted(known.len() as u64, "detector");
    let have = match fewer {
        0 => format!("None of {detectors} has"),
        1 => format!("1 of {detectors} has"),
        some => format!("{} of {detectors} have", grouped(some)),
    };
    least.zip(most).filter(|(least, most)| least.1 < most.1).map_or_else(
        String::new,
        |(least, most)| {
            format!(
                "{have} fewer false alarms per task-hour in hours of change than in others. In hours of \
                change, {} has fewest with {:.2} per 1,000 task-hours, and {} most with {:.2}. ",
                least.0,
                least.1,
                most.0,
                most.1
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{most_and_least, runs};

    #[test]
    fn false_alarms_in_hours_of_change_are_compared_with_others() {
        let of = |rates: &[(f64, f64)]| {
            let own: Vec<(&str, [Option<f64>; 2])> = ["a", "b", "c"]
                .into_iter()
                .zip(rates)
                .map(|(name, (shift, calm))| (name, [Some(*shift), Some(*calm)]))
                .collect();
            most_and_least(&own)
        };
        assert_eq!(
            of(&[(1.0, 2.0), (3.0, 4.0), (5.0, 4.0)]),
            "2 of 3 detectors have fewer false alarms per task-hour in hours of change than in others. In \
            hours of change, a has fewest with 1.00 per 1,000 task-hours, and c most with 5.00. "
        );
        assert!(of(&[(1.0, 2.0), (3.0, 2.0)]).starts_with("1 of 2 detectors has fewer"));
        assert!(of(&[(1.0, 1.0), (3.0, 2.0)]).starts_with("None of 2 detectors has fewer"));
        assert_eq!(of(&[(1.0, 2.0)]), "");
    }

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

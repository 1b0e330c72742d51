//! A chart for each question, with the answer and the numbers under other definitions.

use super::words::Question;
use crate::charts::{
    Bar, BarChart, Chart, HOURS_OF_TRACE, Line, LineChart, PanelChart, Scale, Stroke, Tone,
};
use crate::digits::six_digits;
use crate::studies::course::{HourRow, Row};

/// The axis of a question, and the factor of its numbers.
fn axis(number: u64) -> (&'static str, f64) {
    match number {
        6 | 7 => ("correlation", 1.0),
        10 => ("median wait (s)", 1.0),
        _ => ("share (%)", 100.0),
    }
}

/// The chart of a question; `None` if it has no answer.
pub(super) fn of(
    number: u64,
    question: &Question,
    rows: &[Row],
    hours: &[HourRow],
    caption: String,
) -> Option<Chart> {
    if rows.is_empty() {
        return None;
    }
    let title = question.asked.to_owned();
    Some(match number {
        1 | 2 | 5 | 6 => bars(number, question, rows, title, &caption),
        7 => over_time(hours, title, caption),
        _ => by_group(number, question, rows, title, caption),
    })
}

/// A bar for each number; the answer has a different colour.
fn bars(number: u64, question: &Question, rows: &[Row], title: String, caption: &str) -> Chart {
    let (value_axis, scale) = axis(number);
    let bar = |row: &Row| {
        let value = row.value? * scale;
        let group = super::groups::group(question, row);
        let label = if row.group_key.to_bits() == (-1.0_f64).to_bits() {
            row.measure.clone()
        } else {
            format!("{}, {group}", row.measure)
        };
        let tone = if question.is_answer(&row.measure) { Tone::Blue } else { Tone::Grey };
        // A bar shows only the size; the note has the sign.
        Some(Bar { label, value: value.abs(), note: six_digits(value), tone, part: None })
    };
    Chart::Bars(BarChart {
        title,
        caption: format!("{caption} Grey: other readings."),
        value_axis: value_axis.to_owned(),
        bars: rows.iter().filter_map(bar).collect(),
    })
}

/// A curve over the groups for each reading.
fn by_group(
    number: u64,
    question: &Question,
    rows: &[Row],
    title: String,
    caption: String,
) -> Chart {
    let (y_axis, scale) = axis(number);
    let mut lines: Vec<Line> = Vec::new();
    let is_shown =
        |row: &&Row| 0.0 <= row.group_key && (number != 10 || row.measure.ends_with("median"));
    for row in rows.iter().filter(is_shown) {
        let Some(value) = row.value else { continue };
        let name = row.measure.trim_end_matches(": median");
        let name = if question.is_answer(&row.measure) {
            format!("{name} (answer)")
        } else {
            name.to_owned()
        };
        let point = (row.group_key, value * scale);
        if let Some(line) = lines.iter_mut().find(|line| line.name == name) {
            line.points.push(point);
            continue;
        }
        let tone = Tone::SERIES[lines.len() % Tone::SERIES.len()];
        let (points, band) = (vec![point], Vec::new());
        lines.push(Line { name, points, band, tone, stroke: Stroke::Marked });
    }
    let x_axis = if question.group == "class" { "scheduling class" } else { question.group };
    Chart::Lines(LineChart {
        title,
        caption,
        x_axis: x_axis.to_owned(),
        y_axis: y_axis.to_owned(),
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines,
    })
}

/// Requests and evictions, hour by hour.
fn over_time(hours: &[HourRow], title: String, caption: String) -> Chart {
    let panel = |name: &str, y_axis: &str, tone: Tone, value: fn(&HourRow) -> f64| LineChart {
        title: name.to_owned(),
        caption: String::new(),
        x_axis: HOURS_OF_TRACE.to_owned(),
        y_axis: y_axis.to_owned(),
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines: vec![Line::steps(
            String::new(),
            hours.iter().map(|hour| (hour.hour, value(hour))).collect(),
            tone,
        )],
    };
    Chart::Panels(PanelChart {
        title,
        caption,
        panels: vec![
            panel("CPU requested", "NCU, mean of the hour", Tone::Blue, |hour| {
                hour.requested_s / 3600.0
            }),
            panel("evictions", "EVICT rows in the hour", Tone::Vermilion, |hour| hour.evicted),
        ],
        columns: 2,
    })
}

//! Bars over time in rows, such as a row per machine or task with a bar per attempt.

use super::axes::{Axis, Frame, Room, Scale, date_of};
use super::canvas::{Align, At, Canvas, Mark, Place, Shape, count, shortened, width_of};
use super::says;
use super::signs::mark;
use super::theme::{Ink, Marker, Tone};

/// Bars over time, in rows.
#[derive(Clone, Debug)]
pub struct GanttChart {
    /// The title.
    pub title: String,
    /// Definition and source, below the title.
    pub caption: String,
    /// Title of the time axis, with its unit.
    pub time_axis: String,
    /// Names of the rows, from top to bottom; a row without a name belongs to the row above.
    pub rows: Vec<String>,
    /// The bars, in any order.
    pub spans: Vec<GanttSpan>,
    /// The meaning of the colours.
    pub legend: Vec<(String, Tone)>,
}

/// One bar.
#[derive(Clone, Debug)]
pub struct GanttSpan {
    /// Index of the row of the bar.
    pub row: usize,
    /// Start.
    pub from: f64,
    /// End.
    pub to: f64,
    /// The text on the bar, if it fits; otherwise its first word, if that fits.
    pub label: String,
    /// Colour.
    pub tone: Tone,
    /// Whether this is a wait, in which nothing runs: a thin bar without text or sign.
    pub is_wait: bool,
}

/// The height of the bar of a wait, as a share of the height of other bars.
const THIN: f64 = 0.25;

/// Narrower waits are too thin to be seen and are not drawn, pixels.
const WAIT_MIN: f64 = 0.5;

/// Size of the sign at the end of a bar, as a multiple of the text height. Bars shorter than twice
/// the sign have no sign.
const SIGN: f64 = 0.9;

/// The sign of a colour on a bar.
fn signed(tone: Tone, at: At, canvas: &mut Canvas) {
    let (size, ink) = (canvas.look.text, tone.ink());
    match tone.style().1 {
        // A ring is open: the bar is visible inside it.
        Marker::Ring => {
            let (radius, width, ink) = (0.24 * size, 0.12 * size, ink.for_text());
            canvas.marks.push(Mark::Ring { at, radius, width, ink });
        }
        marker => mark(canvas, at, marker, 0.24 * size, ink.for_text()),
    }
}

/// Name, start and end of a bar; with dates on an axis of dates.
fn tooltip(span: &GanttSpan, time_axis: &str, canvas: &Canvas) -> String {
    let date = |value| date_of(time_axis, value, canvas.since_s);
    match date(span.from).zip(date(span.to)) {
        Some((from, to)) => format!("{}\nfrom: {from}\nto: {to}", span.label),
        None => says(&span.label, &[("from", span.from), ("to", span.to)], None),
    }
}

pub(super) fn draw(chart: &GanttChart, canvas: &mut Canvas) {
    canvas.set_head(&chart.title, &chart.caption);
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    let top = legend(chart, canvas);
    let from = chart.spans.iter().map(|span| span.from).fold(f64::INFINITY, f64::min);
    let to = chart.spans.iter().map(|span| span.to).fold(f64::NEG_INFINITY, f64::max);
    let (from, to) = if from < to { (from, to) } else { (0.0, 1.0) };
    let widest = chart.rows.iter().map(|row| width_of(row, size)).fold(0.0, f64::max);
    let widest = widest.min(0.3 * look.width);
    let left = margin + widest + 0.7 * size;
    let width = look.width - margin - size - left;
    let (row, room) = (1.5 * size, Room::Across(width, size));
    let x = Axis::lower(&chart.time_axis, [from, to], Scale::Linear, room, canvas.since_s);
    let frame = Frame {
        left,
        top,
        width,
        height: count(chart.rows.len().max(1)) * row,
        x,
        y: Axis::new("", 0.0, 1.0, Scale::Linear, Room::Up(1.0, size)),
    };
    frame.draw_x(canvas);
    frame.shade_gaps(canvas);
    let above = |row_idx: usize| top + row * count(row_idx);
    // Bars on top of another bar are separated from it.
    let mut until = vec![f64::NEG_INFINITY; chart.rows.len()];
    for span in &chart.spans {
        let (start, end) = (frame.at(span.from, 0.0).0, frame.at(span.to, 0.0).0);
        if span.is_wait && end - start < WAIT_MIN {
            continue;
        }
        let (y, high) = (above(span.row) + 0.1 * row, 0.8 * row);
        if let Some(until) = until.get_mut(span.row) {
            if start < *until {
                canvas.fill((start, y), (end - start, high), Ink::PAPER);
            }
            *until = until.max(end);
        }
        let gap = (size / 12.0).min((end - start) / 4.0);
        let (low, thin) =
            if span.is_wait { (y + (1.0 - THIN) / 2.0 * high, THIN * high) } else { (y, high) };
        canvas.fill((start + gap / 2.0, low), (end - start - gap, thin), span.tone.ink());
        let shape = Shape::Area((start, y), (end - start, high));
        canvas.places.push(Place { shape, says: tooltip(span, &chart.time_axis, canvas) });
        if span.is_wait {
            continue;
        }
        let small = size * 0.95;
        // The end of a bar has a sign in addition to its colour.
        let sign = if 2.0 * SIGN * size < end - start { SIGN * size } else { 0.0 };
        if 0.0 < sign {
            let at = (end - gap / 2.0 - sign / 2.0, y + high / 2.0);
            signed(span.tone, at, canvas);
        }
        let room = end - start - sign;
        let fits = |text: &&str| width_of(text, small) + 0.6 * size < room;
        let name = span.label.split(' ').next().unwrap_or_default();
        if let Some(text) = [span.label.as_str(), name].into_iter().find(fits) {
            let middle = (start + room / 2.0, y + high / 2.0);
            canvas.text(text, middle, Align::Middle, small, span.tone.ink().for_text());
        }
    }
    for (idx, name) in chart.rows.iter().enumerate() {
        let at = (left - 0.7 * size, above(idx) + row / 2.0);
        canvas.text(&shortened(name, widest, size), at, Align::Right, size, Ink::TEXT);
    }
    canvas.height = frame.bottom() + Frame::below(canvas, &frame.x.title, width) + 0.5 * margin;
}

/// Draws the meaning of the colours above the plot. Returns where the plot begins.
fn legend(chart: &GanttChart, canvas: &mut Canvas) -> f64 {
    let (size, margin) = (canvas.look.text, canvas.look.margin());
    let (mut x, mut y) = (margin, margin);
    for (name, tone) in &chart.legend {
        let name = &shortened(name, canvas.look.width - 2.0 * margin - 1.5 * size, size);
        let whole = 1.5 * size + width_of(name, size);
        if margin < x && canvas.look.width - margin < x + whole {
            (x, y) = (margin, y + 1.4 * size);
        }
        canvas.fill((x, y), (size, size), tone.ink());
        signed(*tone, (x + size / 2.0, y + size / 2.0), canvas);
        canvas.text(name, (x + 1.4 * size, y + size / 2.0), Align::Left, size, Ink::TEXT);
        x += whole + 1.2 * size;
    }
    if chart.legend.is_empty() { margin } else { y + 2.0 * size }
}

#[cfg(test)]
mod tests {
    use super::super::Look;
    use super::*;

    #[test]
    fn a_bar_says_what_fits_on_it() {
        // 100 hours are about 700 pixels; a letter is about 7.
        let said = |hours: f64| {
            let span = |row, to, label: &str| GanttSpan {
                row,
                from: 0.0,
                to,
                label: label.to_owned(),
                tone: Tone::Orange,
                is_wait: false,
            };
            let chart = GanttChart {
                title: String::new(),
                caption: String::new(),
                time_axis: "h".to_owned(),
                rows: vec![String::new(); 2],
                spans: vec![span(0, 100.0, ""), span(1, hours, "4611-7 evicted")],
                legend: Vec::new(),
            };
            let mut canvas = Canvas::new(Look::SCREEN);
            draw(&chart, &mut canvas);
            let texts = canvas.marks.into_iter().filter_map(|mark| match mark {
                Mark::Text { text, .. } if text.starts_with("4611") => Some(text),
                _ => None,
            });
            texts.collect::<Vec<String>>()
        };
        assert_eq!(said(60.0), ["4611-7 evicted"]);
        assert_eq!(said(10.0), ["4611-7"]);
        assert_eq!(said(1.0), [""; 0]);
    }

    #[test]
    fn waits_that_cannot_be_seen_are_not_drawn() {
        // A run of 100 h, and before it a wait.
        let fields = |wait_h: f64, is_wait: bool| {
            let span = |from, to, is_wait| GanttSpan {
                row: 0,
                from,
                to,
                label: String::new(),
                tone: Tone::Orange,
                is_wait,
            };
            let chart = GanttChart {
                title: String::new(),
                caption: String::new(),
                time_axis: "h".to_owned(),
                rows: vec![String::new()],
                spans: vec![span(0.0, wait_h, is_wait), span(wait_h, 100.0, false)],
                legend: Vec::new(),
            };
            let mut canvas = Canvas::new(Look::SCREEN);
            draw(&chart, &mut canvas);
            canvas.places.len()
        };
        assert_eq!(fields(10.0, true), 2);
        assert_eq!(fields(0.01, true), 1);
        assert_eq!(fields(0.01, false), 2, "every attempt is there");
    }

    /// Promise: each bar takes few bytes of a page, however many bars there are: at most 170 bytes,
    /// with its sign and its tooltip.
    #[test]
    fn a_bar_takes_few_bytes() {
        let bytes = |count: u32| {
            let spans = (0..count).map(|idx| GanttSpan {
                row: usize::try_from(idx / 20).unwrap(),
                from: f64::from(idx % 20),
                to: f64::from(idx % 20) + 0.9,
                label: "evicted".to_owned(),
                tone: Tone::Purple,
                is_wait: false,
            });
            let chart = GanttChart {
                title: String::new(),
                caption: String::new(),
                time_axis: "h".to_owned(),
                rows: vec![String::new(); 10],
                spans: spans.collect(),
                legend: Vec::new(),
            };
            super::super::svg_of(&super::super::Chart::Gantt(chart)).len()
        };
        let each = (bytes(200) - bytes(20)) / 180;
        assert!(each <= 170, "{each} bytes");
    }
}

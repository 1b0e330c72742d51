//! Horizontal bars with their values next to them; on a logarithmic axis, dots.

use super::Chart;
use super::axes::{Axis, Frame, Room, Scale};
use super::canvas::{Align, Canvas, Place, Shape, count, shortened, width_of};
use super::says;
use super::signs::mark;
use super::theme::{Ink, Marker, Tone};

/// Horizontal bars from 0.
#[derive(Clone, Debug)]
pub struct BarChart {
    /// The title.
    pub title: String,
    /// Definition and source, below the title.
    pub caption: String,
    /// Title of the axis of bar lengths, with its unit.
    pub value_axis: String,
    /// The bars from top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Name, to the left.
    pub label: String,
    /// Length, not below 0.
    pub value: f64,
    /// The text at the end of the bar.
    pub note: String,
    /// Colour.
    pub tone: Tone,
    /// The last part of the bar, in another colour; not drawn on a logarithmic axis.
    pub part: Option<(f64, Tone)>,
}

/// The widest name that is placed next to its bar, as a share of the picture. Wider names are
/// placed above it.
const BESIDE: f64 = 0.34;

/// The first values of a note that fit into `room`. Values are left out whole, because a cut value
/// would be read as another one. If not even the first value fits, it is shortened.
fn fitting(note: &str, room: f64, size: f64) -> String {
    let ends = note.match_indices(", ").map(|(at, _)| at).chain([note.len()]);
    let fits = ends.map(|end| &note[..end]).take_while(|text| width_of(text, size) <= room);
    fits.last().map_or_else(|| shortened(note, room, size), str::to_owned)
}

/// If the largest value is at least this multiple of the smallest, bars are easier to read on a
/// logarithmic axis.
const FAR_APART: f64 = 100.0;

impl BarChart {
    /// The chart on a logarithmic axis if its values span at least two powers of ten, otherwise on
    /// a linear axis.
    pub fn on_fitting_axis(self) -> Chart {
        let values = self.bars.iter().map(|bar| bar.value).filter(|value| 0.0 < *value);
        let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        if FAR_APART * least <= most { Chart::LogBars(self) } else { Chart::Bars(self) }
    }
}

/// The range of the axis, such that the longest bar leaves `taken`, a share of the width, for its
/// note. A logarithmic axis begins at half of the smallest value.
fn range(chart: &BarChart, scale: Scale, taken: f64) -> (f64, f64) {
    let values = || chart.bars.iter().map(|bar| bar.value).filter(|value| 0.0 < *value);
    let longest = values().fold(0.0, f64::max);
    if longest == 0.0 {
        return (0.0, 1.0);
    }
    match scale {
        Scale::Linear | Scale::Root => (0.0, longest / (1.0 - taken)),
        Scale::Log => {
            let low = values().fold(longest, f64::min) / 2.0;
            (low, low * (longest / low).powf(1.0 / (1.0 - taken)))
        }
    }
}

/// The number of ticks up to the first one behind all bars: bars up to 30 % need no tick at
/// 1,000 %.
fn ticks_used(ticks: &[(f64, String)], chart: &BarChart) -> usize {
    let longest = chart.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let behind = ticks.iter().position(|(value, _)| longest <= *value);
    behind.map_or(ticks.len(), |place| place + 1)
}

/// Draws a bar from the left edge to `end`, with its last part from `start` on. Returns the space
/// before its note.
fn shape(
    bar: &Bar,
    scale: Scale,
    ([left, end], start, [from, high]): ([f64; 2], Option<f64>, [f64; 2]),
    canvas: &mut Canvas,
) -> f64 {
    let (size, middle) = (canvas.look.text, from + high / 2.0);
    match scale {
        Scale::Linear | Scale::Root => {
            canvas.fill((left, from), (end - left, high), bar.tone.ink());
            let part = bar.part.filter(|(part, _)| 0.0 < *part);
            if let Some((start, (_, tone))) = start.zip(part) {
                canvas.fill((start, from), (end - start, high), tone.ink());
            }
            0.5 * size
        }
        // A logarithmic axis has no zero at which a bar could begin: only its end means something.
        Scale::Log => {
            let line = canvas.look.line();
            canvas.line(vec![(left, middle), (end, middle)], line, Ink::GRID);
            if 0.0 < bar.value {
                mark(canvas, (end, middle), Marker::Dot, 0.45 * size, bar.tone.ink());
            }
            0.8 * size
        }
    }
}

/// Whether the bars are shares of a whole in per cent, so that values above 100 % make no sense.
fn is_of_whole(chart: &BarChart) -> bool {
    chart.value_axis.contains("(%)") && chart.bars.iter().all(|bar| bar.value <= 100.0)
}

pub(super) fn draw(chart: &BarChart, scale: Scale, canvas: &mut Canvas) {
    canvas.set_head(&chart.title, &chart.caption);
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    let room = look.width - 2.0 * margin;
    let widest = |text: fn(&Bar) -> &str| {
        chart.bars.iter().map(|bar| width_of(text(bar), size)).fold(0.0, f64::max)
    };
    let (labels, notes) = (widest(|bar| &bar.label), widest(|bar| &bar.note));
    // If name and note leave no space for a bar, the name is above it.
    let is_above = BESIDE * room < labels || 0.66 * room < labels + notes;
    let left = margin + if is_above { 0.0 } else { labels + 0.7 * size };
    let row = size * if is_above { 3.4 } else { 2.2 };
    let width = look.width - margin - left;
    // Leaves space for the longest note after the longest bar.
    let taken = ((notes + size) / width).min(0.8);
    let (low, reach) = range(chart, scale, taken);
    let mut frame = Frame {
        left,
        top: margin,
        width,
        height: count(chart.bars.len().max(1)) * row,
        x: Axis::new(&chart.value_axis, low, reach, scale, Room::Across(width, size)),
        y: Axis::new("", 0.0, 1.0, Scale::Linear, Room::Up(1.0, size)),
    };
    if scale == Scale::Log {
        frame.x.ticks.truncate(ticks_used(&frame.x.ticks, chart));
    }
    if is_of_whole(chart) {
        frame.x.ticks.retain(|(value, _)| *value <= 100.0);
    }
    frame.draw_x(canvas);
    for (idx, bar) in (0_u32..).zip(&chart.bars) {
        let top = margin + f64::from(idx) * row;
        let (from, high) =
            if is_above { (top + 1.7 * size, 1.4 * size) } else { (top + 0.3 * size, 1.6 * size) };
        let middle = from + high / 2.0;
        let end = frame.at(bar.value.max(0.0), 0.0).0;
        let start = bar.part.map(|(part, _)| frame.at((bar.value - part).max(0.0), 0.0).0);
        let apart = shape(bar, scale, ([left, end], start, [from, high]), canvas);
        let note = fitting(&bar.note, look.width - margin - end - apart, size);
        canvas.text(&note, (end + apart, middle), Align::Left, size, Ink::TEXT);
        if is_above {
            let label = shortened(&bar.label, width, size);
            canvas.text(
                &label,
                (left + 0.3 * size, top + 1.0 * size),
                Align::Left,
                size,
                Ink::TEXT,
            );
        } else {
            canvas.text(&bar.label, (left - 0.7 * size, middle), Align::Right, size, Ink::TEXT);
        }
        // The tooltip covers the whole row, so that a short bar can be pointed at too.
        let mut says = says(&bar.label, &[(&chart.value_axis, bar.value)], None);
        if !bar.note.is_empty() {
            says.push('\n');
            says.push_str(&bar.note);
        }
        let shape = Shape::Area((left, top), (width, row));
        canvas.places.push(Place { shape, says });
    }
    canvas.line(vec![(left, margin), (left, frame.bottom())], canvas.look.line(), Ink::TEXT);
    canvas.height = frame.bottom() + Frame::below(canvas, &frame.x.title, width) + 0.5 * margin;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_far_apart_are_on_a_logarithmic_axis() {
        let chart = |values: &[f64]| BarChart {
            title: String::new(),
            caption: String::new(),
            value_axis: String::new(),
            bars: values
                .iter()
                .map(|&value| Bar {
                    label: String::new(),
                    value,
                    note: String::new(),
                    tone: Tone::Blue,
                    part: None,
                })
                .collect(),
        };
        let is_log = |values: &[f64]| matches!(chart(values).on_fitting_axis(), Chart::LogBars(_));
        assert!(is_log(&[1.0, 100.0]) && is_log(&[0.0, 2.0, 500.0]));
        assert!(!is_log(&[1.0, 99.0]) && !is_log(&[0.0, 5.0]) && !is_log(&[]));
        let (low, high) = range(&chart(&[1.0, 200.0]), Scale::Log, 0.5);
        assert_eq!(low, 0.5);
        assert!((high - 0.5 * 160_000.0).abs() < 1e-6, "half of the axis is left: {high}");
        assert_eq!(range(&chart(&[0.0]), Scale::Log, 0.5), (0.0, 1.0));
        let shares = |value| BarChart { value_axis: "share (%)".to_owned(), ..chart(&[value]) };
        assert!(is_of_whole(&shares(100.0)) && !is_of_whole(&shares(130.0)));
        assert!(!is_of_whole(&chart(&[9.0])));
        let ticks = [0.1, 1.0, 10.0, 100.0, 1000.0].map(|value| (value, String::new()));
        assert_eq!(ticks_used(&ticks, &chart(&[0.2, 29.0])), 4);
        assert_eq!(ticks_used(&ticks, &chart(&[0.2, 5000.0])), 5);
    }

    #[test]
    fn a_note_loses_whole_values_from_its_end() {
        let note = "mean 4.18 min, median 3 s, p95 25.2 h";
        let room = |text: &str| width_of(text, 10.0) + 0.1;
        assert_eq!(fitting(note, room(note), 10.0), note);
        assert_eq!(fitting(note, room(note) - 1.0, 10.0), "mean 4.18 min, median 3 s");
        assert_eq!(fitting(note, room("mean 4.18 min, med"), 10.0), "mean 4.18 min");
        assert!(fitting("86.5861234", room("86.58"), 10.0).contains('…'));
        assert_eq!(fitting("", 0.0, 10.0), "");
    }
}

//! A row per name, and in each column a value with its interval: several measures of the same
//! things side by side.
//!
//! ```text
//!  late    │    --o--       │  -o-         the caption says what the line spans
//!  yarn    │ -o-            │       --o--
//!          └─────────────── └──────────────
//!           precision (%)     recall (%)
//! ```

use super::axes::{Axis, Frame, Room, Scale};
use super::canvas::{Align, Canvas, Mark, Place, Shape, count, shortened, width_of};
use super::says;
use super::theme::{Ink, Tone};

/// Values with intervals, in rows and columns.
#[derive(Clone, Debug)]
pub struct ForestChart {
    /// The title.
    pub title: String,
    /// Definition and source, and the meaning of the intervals, below the title.
    pub caption: String,
    /// Names of the rows, from top to bottom.
    pub rows: Vec<String>,
    /// The columns from left to right.
    pub columns: Vec<ForestColumn>,
}

/// One measure.
#[derive(Clone, Debug)]
pub struct ForestColumn {
    /// The measure, with its unit.
    pub axis: String,
    /// A value per row; `None` if unknown.
    pub values: Vec<Option<Interval>>,
    /// Colour.
    pub tone: Tone,
}

/// A value and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// The value.
    pub value: f64,
    /// Upper bound.
    pub high: f64,
}

/// The narrowest plot, as a multiple of the text height.
const NARROWEST: f64 = 5.5;

/// The height of a row, as a multiple of the text height: if all columns are side by side, and if
/// some are below others, where a picture would be too high for a page.
const ROW: f64 = 1.7;
const ROW_STACKED: f64 = 1.25;

pub(super) fn draw(chart: &ForestChart, canvas: &mut Canvas) {
    canvas.set_head(&chart.title, &chart.caption);
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    let names = chart.rows.iter().map(|name| width_of(name, size)).fold(0.0, f64::max);
    let names = names.min(0.3 * look.width);
    let left = margin + names + 0.7 * size;
    let room = look.width - margin - left;
    // Labels are centred at their ticks, so adjacent labels of two plots need this gap.
    let widest = chart.columns.iter().map(|column| widest_label(chart, column, room / 3.0, size));
    let gap = widest.fold(size, f64::max) + size;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few columns")]
    let fit = ((room / (NARROWEST * size + gap)) as usize).clamp(1, chart.columns.len().max(1));
    let wide = room / count(fit);
    let row = if fit < chart.columns.len() { ROW_STACKED } else { ROW } * size;
    let high = count(chart.rows.len().max(1)) * row;
    let mut top = margin;
    for columns in chart.columns.chunks(fit) {
        for (idx, name) in chart.rows.iter().enumerate() {
            let at = (left - 0.7 * size, top + (count(idx) + 0.5) * row);
            canvas.text(&shortened(name, names, size), at, Align::Right, size, Ink::TEXT);
        }
        let mut bottom = top;
        for (idx, column) in columns.iter().enumerate() {
            let frame = Frame {
                left: left + count(idx) * wide,
                top,
                width: wide - gap,
                height: high,
                x: axis(chart, column, wide - gap, size),
                y: Axis::new("", 0.0, 1.0, Scale::Linear, Room::Up(1.0, size)),
            };
            frame.draw_x(canvas);
            intervals(chart, column, &frame, row, canvas);
            bottom = bottom.max(frame.bottom() + Frame::below(canvas, &frame.x.title, frame.width));
        }
        top = bottom + 0.8 * size;
    }
    canvas.height = top;
}

/// The axis of a column: from 0 to the highest bound of all columns with its unit, so that they can
/// be compared, and to 100 % if most of that is needed.
fn axis(chart: &ForestChart, column: &ForestColumn, width: f64, size: f64) -> Axis {
    let unit = unit_of(&column.axis);
    let same = |other: &&ForestColumn| {
        unit.map_or(other.axis == column.axis, |unit| unit_of(&other.axis) == Some(unit))
    };
    let known = chart.columns.iter().filter(same).flat_map(|column| column.values.iter().flatten());
    let high = known.map(|own| own.high.max(own.value)).filter(|high| high.is_finite());
    let high = high.fold(0.0, f64::max);
    let high = if unit == Some("%") && (50.0..100.0).contains(&high) { 100.0 } else { high };
    Axis::new(&column.axis, 0.0, high, Scale::Linear, Room::Across(width, size))
}

/// The unit of a measure: what its name has in brackets at its end.
fn unit_of(axis: &str) -> Option<&str> {
    axis.strip_suffix(')')?.rsplit_once('(').map(|(_, unit)| unit)
}

fn widest_label(chart: &ForestChart, column: &ForestColumn, width: f64, size: f64) -> f64 {
    let axis = axis(chart, column, width, size);
    axis.ticks.iter().map(|tick| width_of(&tick.1, size)).fold(0.0, f64::max)
}

/// Draws the values of a column.
fn intervals(
    chart: &ForestChart,
    column: &ForestColumn,
    frame: &Frame,
    row: f64,
    canvas: &mut Canvas,
) {
    let ink = column.tone.ink();
    let (size, wide) = (canvas.look.text, canvas.look.stroke());
    for (idx, (name, own)) in chart.rows.iter().zip(&column.values).enumerate() {
        let Some(Interval { low, value, high }) = *own else { continue };
        let y = frame.top + (count(idx) + 0.5) * row;
        let at = |amount: f64| (frame.at(amount.max(0.0), 0.0).0, y);
        canvas.line(vec![at(low), at(high)], wide, ink);
        canvas.marks.push(Mark::Dot { at: at(value), radius: 0.33 * size, ink });
        let amounts = [(column.axis.as_str(), value), ("from", low), ("to", high)];
        let corner = (frame.left, y - row / 2.0);
        let shape = Shape::Area(corner, (frame.width, row));
        canvas.places.push(Place { shape, says: says(name, &amounts, None) });
    }
}

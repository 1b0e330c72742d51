//! A row for each name; each column has a value with its interval. It shows several measures of the
//! same things next to each other.
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
    /// Texts right of the values, one per row; an empty list if the column has no texts.
    pub notes: Vec<String>,
    /// The scale of the axis. A logarithmic axis has no place for 0: only the text of such a value
    /// is shown.
    pub scale: Scale,
    /// Colour.
    pub tone: Tone,
}

impl ForestColumn {
    /// A measure on a linear axis, without texts.
    pub const fn new(axis: String, values: Vec<Option<Interval>>, tone: Tone) -> Self {
        Self { axis, values, notes: Vec::new(), scale: Scale::Linear, tone }
    }
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

/// The height of a row, as a multiple of the text height. The first holds if all columns are next
/// to each other. The second holds if some columns are below others: with the first, the picture
/// would be too high for a page.
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
    let notes = chart.columns.iter().map(|column| widest_note(column, size)).fold(0.0, f64::max);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few columns")]
    let fit =
        ((room / (NARROWEST * size + notes + gap)) as usize).clamp(1, chart.columns.len().max(1));
    // Rows of plots of about equal length.
    let fit = chart.columns.len().div_ceil(chart.columns.len().div_ceil(fit).max(1)).max(1);
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
            frame.draw_x_to(right_of(column, &frame), canvas);
            intervals(chart, column, &frame, row, canvas);
            bottom = bottom.max(frame.bottom() + Frame::below(canvas, &frame.x.title, frame.width));
        }
        top = bottom + 0.8 * size;
    }
    canvas.height = top;
}

/// The axis of a column, with space for its texts. A linear axis goes from 0 to the highest bound
/// of all linear columns with the same unit, so that they can be compared. It goes to 100 % if most
/// of that is needed. A logarithmic axis has a separate range, unless all columns are logarithmic
/// and have the same unit.
fn axis(chart: &ForestChart, column: &ForestColumn, width: f64, size: f64) -> Axis {
    let unit = unit_of(&column.axis);
    let same = |other: &&ForestColumn| {
        other.scale != Scale::Log
            && unit.map_or(other.axis == column.axis, |unit| unit_of(&other.axis) == Some(unit))
    };
    let bounds = |column: &ForestColumn| {
        let known = column.values.iter().flatten();
        let all: Vec<f64> = known.flat_map(|own| [own.low, own.value, own.high]).collect();
        all.into_iter().filter(|bound| bound.is_finite())
    };
    let has_unit = |other: &ForestColumn| {
        other.scale == Scale::Log && unit.is_some() && unit_of(&other.axis) == unit
    };
    let logs = if chart.columns.iter().all(has_unit) {
        chart.columns.as_slice()
    } else {
        std::slice::from_ref(column)
    };
    // Columns with the same range leave the same space for texts.
    let own = logs.iter().filter(|own| own.scale == Scale::Log);
    let alike = chart.columns.iter().filter(|other| column.scale != Scale::Log && same(other));
    let taken = match own.chain(alike).map(|own| widest_note(own, size)).fold(0.0, f64::max) {
        0.0 => 0.0,
        note => ((note + size) / width).min(0.8),
    };
    let [low, high] = match column.scale {
        Scale::Linear | Scale::Root => {
            let high = chart.columns.iter().filter(same).flat_map(bounds).fold(0.0, f64::max);
            let high =
                if unit == Some("%") && (50.0..100.0).contains(&high) { 100.0 } else { high };
            [0.0, high / (1.0 - taken)]
        }
        Scale::Log => {
            let all = logs.iter().flat_map(bounds);
            let (least, most) = all
                .filter(|bound| 0.0 < *bound)
                .fold((f64::INFINITY, 0.0), |(least, most), own| (own.min(least), own.max(most)));
            let least = if least < most { least } else { most };
            let low = if 0.0 < least { least / 2.0 } else { 0.1 };
            [low, low * (most / low).max(10.0).powf(1.0 / (1.0 - taken))]
        }
    };
    let mut axis = Axis::new(&column.axis, low, high, column.scale, Room::Across(width, size));
    if 0.0 < taken {
        // The texts use the rest of the width.
        let most = bounds(column).fold(0.0, f64::max);
        let used = axis.ticks.iter().position(|(value, _)| most <= *value);
        axis.ticks.truncate(used.map_or(axis.ticks.len(), |place| place + 1));
    }
    axis
}

/// The end of the axis line. Shares end at 100 %, if that is a tick; the texts are to the right of
/// it.
fn right_of(column: &ForestColumn, frame: &Frame) -> f64 {
    let is_whole = |tick: &(f64, String)| (tick.0 - 100.0).abs() < 1e-9;
    let is_of_whole =
        unit_of(&column.axis) == Some("%") && frame.x.ticks.last().is_some_and(is_whole);
    if is_of_whole { frame.at(100.0, 0.0).0 } else { frame.left + frame.width }
}

fn widest_note(column: &ForestColumn, size: f64) -> f64 {
    column.notes.iter().map(|note| width_of(note, size)).fold(0.0, f64::max)
}

/// The unit of a measure: the text in brackets at the end of its name.
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
        if column.scale != Scale::Log || 0.0 < value {
            canvas.marks.push(Mark::Dot { at: at(value), radius: 0.33 * size, ink });
        }
        if let Some(note) = column.notes.get(idx) {
            // In a very wide range, the widest texts begin before the end of their interval.
            let note = shortened(note, frame.width, size);
            let last = frame.left + frame.width - width_of(&note, size);
            let end = (at(value.max(high)).0 + 0.6 * size).min(last);
            canvas.text(&note, (end, y), Align::Left, size, Ink::TEXT);
        }
        let amounts = [(column.axis.as_str(), value), ("from", low), ("to", high)];
        let corner = (frame.left, y - row / 2.0);
        let shape = Shape::Area(corner, (frame.width, row));
        canvas.places.push(Place { shape, says: says(name, &amounts, None) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_of_shares_ends_at_the_whole() {
        let own = |value: f64| Some(Interval { low: value, value, high: value });
        let ends = |axis_title: &str, values: [f64; 2]| {
            let column = ForestColumn {
                notes: ["80.5", "93.4"].map(str::to_owned).to_vec(),
                ..ForestColumn::new(axis_title.to_owned(), values.map(own).to_vec(), Tone::Blue)
            };
            let chart = ForestChart {
                title: String::new(),
                caption: String::new(),
                rows: ["a", "b"].map(str::to_owned).to_vec(),
                columns: vec![column],
            };
            let column = &chart.columns[0];
            let frame = Frame {
                left: 10.0,
                top: 0.0,
                width: 300.0,
                height: 50.0,
                x: axis(&chart, column, 300.0, 12.0),
                y: Axis::new("", 0.0, 1.0, Scale::Linear, Room::Up(1.0, 12.0)),
            };
            right_of(column, &frame)
        };
        let right = ends("precision (%)", [80.5, 93.4]);
        assert!(200.0 < right && right < 300.0, "{right}");
        // Small shares, and values with other units, use the whole width.
        assert!((ends("saved (%)", [3.1, 2.7]) - 310.0).abs() < 1e-9);
        assert!((ends("lead (min)", [80.5, 93.4]) - 310.0).abs() < 1e-9);
    }

    #[test]
    fn logarithmic_columns_of_one_unit_have_the_same_range() {
        let column = |axis: &str, values: [f64; 2]| {
            let own = values.map(|value| Some(Interval { low: value, value, high: value }));
            ForestColumn {
                scale: Scale::Log,
                ..ForestColumn::new(axis.to_owned(), own.to_vec(), Tone::Blue)
            }
        };
        let places = |axes: [&str; 2]| {
            let chart = ForestChart {
                title: String::new(),
                caption: String::new(),
                rows: ["a", "b"].map(str::to_owned).to_vec(),
                columns: vec![column(axes[0], [0.01, 200.0]), column(axes[1], [1.0, 50.0])],
            };
            [0_usize, 1].map(|idx| axis(&chart, &chart.columns[idx], 300.0, 12.0).place(1.0))
        };
        let [one, other] = places(["now (per hour)", "then (per hour)"]);
        assert!((one - other).abs() < 1e-9, "{one} {other}");
        let [one, other] = places(["now (per hour)", "then (per day)"]);
        assert!(0.1 < (one - other).abs(), "{one} {other}");
    }
}

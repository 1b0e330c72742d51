//! A cell per row and column, darker for larger values: hours of a week, machines over time.

use std::ops::Range;

use super::axes::{Axis, Frame, Room, Scale};
use super::canvas::{Align, Canvas, Place, Shape, count, lines_of, shortened, width_of};
use super::says;
use super::theme::{Ink, Look};
use crate::digits::three_digits;

/// Cells in rows and columns.
#[derive(Clone, Debug)]
pub struct HeatChart {
    /// The title.
    pub title: String,
    /// Definition and source, below the title.
    pub caption: String,
    /// Title of the horizontal axis, with its unit.
    pub x_axis: String,
    /// The start of the first column and the end of the last one.
    pub x: Range<f64>,
    /// Title of the vertical axis; empty if the names of rows are enough.
    pub y_axis: String,
    /// Rows from top to bottom; a name may be empty.
    pub rows: Vec<HeatRow>,
    /// The meaning of the darkness, with its unit.
    pub value: String,
}

/// One row of cells.
#[derive(Clone, Debug)]
pub struct HeatRow {
    /// Its name, to the left.
    pub name: String,
    /// A value per column; `None` if unknown.
    pub values: Vec<Option<f64>>,
}

/// Charts with more cells have no tooltips: the cells are too small to point at.
const TOLD_MAX: usize = 4000;

pub(super) fn draw(chart: &HeatChart, canvas: &mut Canvas) {
    canvas.set_head(&chart.title, &chart.caption);
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    let known = chart.rows.iter().flat_map(|row| row.values.iter().copied().flatten());
    let most = known.fold(0.0, f64::max);
    let most = if most == 0.0 { 1.0 } else { most };
    let top = scale(chart, canvas, most);
    let rows = count(chart.rows.len().max(1));
    let height = height(chart, look);
    let names = chart.rows.iter().map(|row| width_of(&row.name, size)).fold(0.0, f64::max);
    let names = names.min(0.3 * look.width);
    let titles = lines_of(&chart.y_axis, height, size);
    let left = margin + names + 0.7 * size + 1.3 * size * count(titles.len());
    let width = look.width - margin - size - left;
    let frame = Frame {
        left,
        top,
        width,
        height,
        x: Axis::lower(
            &chart.x_axis,
            [chart.x.start, chart.x.end],
            Scale::Linear,
            Room::Across(width, size),
            canvas.since_s,
        ),
        y: Axis::new("", 0.0, 1.0, Scale::Linear, Room::Up(1.0, size)),
    };
    frame.draw_x(canvas);
    let first = canvas.marks.len();
    let columns = chart.rows.iter().map(|row| row.values.len()).max().unwrap_or(0).max(1);
    let (wide, high) = (width / count(columns), height / rows);
    // Cells of a few pixels touch.
    let gap = |length: f64| if size / 2.0 < length { size / 15.0 } else { 0.0 };
    let is_told = chart.rows.len() * columns <= TOLD_MAX;
    for (row_idx, row) in chart.rows.iter().enumerate() {
        let y = top + count(row_idx) * high;
        if !is_told {
            // Adjacent equal cells are drawn as one: thousands of cells would take many bytes.
            let mut column = 0;
            for run in row.values.chunk_by(|one, other| one == other) {
                let at = (left + count(column) * wide, y);
                if let Some(value) = run[0] {
                    let length = count(run.len()) * wide - gap(wide);
                    canvas.fill(at, (length, high - gap(high)), fill(value / most));
                }
                column += run.len();
            }
        }
        for (column, value) in row.values.iter().enumerate().filter(|_| is_told) {
            let Some(value) = *value else { continue };
            let at = (left + count(column) * wide, y);
            canvas.fill(at, (wide - gap(wide), high - gap(high)), fill(value / most));
            let begin =
                chart.x.start + (chart.x.end - chart.x.start) * count(column) / count(columns);
            let amounts = [(chart.x_axis.as_str(), begin), (chart.value.as_str(), value)];
            let says = says(&row.name, &amounts, canvas.since_s);
            canvas.places.push(Place { shape: Shape::Area(at, (wide, high)), says });
        }
    }
    frame.close(first, canvas);
    for (row_idx, row) in chart.rows.iter().enumerate() {
        let name = shortened(&row.name, names, size);
        let at = (left - 0.5 * size, top + (count(row_idx) + 0.5) * high);
        canvas.text(&name, at, Align::Right, size, Ink::TEXT);
    }
    for (idx, line) in titles.iter().enumerate() {
        let x = margin + (0.6 + 1.3 * count(idx)) * size;
        canvas.turned(line, (x, top + height / 2.0), size, Ink::TEXT);
    }
    canvas.height = frame.bottom() + Frame::below(canvas, &frame.x.title, width) + 0.5 * margin;
}

/// Rows with names move closer together if they would be higher in total than this, pixels.
const HEIGHT_MAX: f64 = 4.2 * 96.0;

/// Height of all rows.
fn height(chart: &HeatChart, look: Look) -> f64 {
    if chart.rows.iter().all(|row| row.name.is_empty()) {
        return look.plot_height(look.width);
    }
    let rows = count(chart.rows.len().max(1));
    rows * (HEIGHT_MAX / rows).clamp(1.15 * look.text, 1.8 * look.text)
}

/// Draws the scale above the cells. Returns where the cells begin.
fn scale(chart: &HeatChart, canvas: &mut Canvas, most: f64) -> f64 {
    let (size, margin) = (canvas.look.text, canvas.look.margin());
    let mut y = margin + 0.5 * size;
    for line in lines_of(&chart.value, canvas.look.width - 2.0 * margin, size) {
        canvas.text(&line, (margin, y), Align::Left, size, Ink::TEXT);
        y += 1.4 * size;
    }
    let (left, step) = (margin + 1.2 * size, size / 6.0);
    canvas.text("0", (margin, y), Align::Left, size, Ink::TEXT);
    for idx in 0..48_u32 {
        let at = (left + f64::from(idx) * step, y - size / 2.0);
        canvas.fill(at, (step, size), fill(f64::from(idx) / 47.0));
    }
    let end = left + 48.0 * step + 0.6 * size;
    canvas.text(&three_digits(most), (end, y), Align::Left, size, Ink::TEXT);
    y + 1.5 * size
}

/// From nearly white to dark blue.
pub(super) fn fill(share: f64) -> Ink {
    Ink::between(Ink::of(240, 243, 246), Ink::of(8, 48, 107), share)
}

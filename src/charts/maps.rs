//! Small maps next to each other: how often something holds over two parameters.
//!
//! ```text
//!  name of a panel
//!   4 | 5  5  3        a field per pair of values; the darker the fill, the larger the share,
//!   2 | 5  2  0        which is written on it
//!      0.1 0.2 0.5
//! ```

use super::canvas::{Align, At, Canvas, Place, Shape, count, lines_of, shortened, width_of};
use super::theme::Ink;

/// Small maps over one pair of axes.
#[derive(Clone, Debug)]
pub struct MapChart {
    /// The title.
    pub title: String,
    /// Definition and source, below the title.
    pub caption: String,
    /// Title of the horizontal axis, and its values.
    pub x: (String, Vec<String>),
    /// Title of the vertical axis, and its values, lowest first.
    pub y: (String, Vec<String>),
    /// The maps.
    pub panels: Vec<MapPanel>,
}

/// One small map.
#[derive(Clone, Debug)]
pub struct MapPanel {
    /// Its name.
    pub name: String,
    /// The fields, row by row from the lowest, each row from the left.
    pub fields: Vec<MapField>,
}

/// One field of a map.
#[derive(Clone, Debug)]
pub struct MapField {
    /// A share, from 0 to 1.
    pub share: f64,
    /// The text on it.
    pub label: String,
}

/// Maps per row, if they fit.
const COLUMNS: f64 = 3.0;

pub(super) fn draw(chart: &MapChart, canvas: &mut Canvas) {
    canvas.set_head(&chart.title, &chart.caption);
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    let axis = chart.y.1.iter().map(|value| width_of(value, size)).fold(0.0, f64::max) + 2.4 * size;
    let widest = chart.x.1.iter().map(|value| width_of(value, size)).fold(size, f64::max);
    let fields = (widest + 0.8 * size) * count(chart.x.1.len().max(1));
    let least = axis + fields.max(width_of(&chart.x.0, size)) + size;
    let room = look.width - 2.0 * margin;
    let columns = (room / least).floor().clamp(1.0, COLUMNS);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 3")]
    let in_row = columns as usize;
    let wide = room / columns;
    let mut top = margin;
    for row in chart.panels.chunks(in_row.max(1)) {
        let mut bottom = top;
        for (idx, panel) in row.iter().enumerate() {
            let place = (margin + count(idx) * wide, top);
            bottom = bottom.max(draw_panel(chart, panel, canvas, place, (axis, wide - size)));
        }
        top = bottom + 1.2 * size;
    }
    canvas.height = top.max(2.0 * margin);
}

/// Draws one map and returns its lower end.
fn draw_panel(
    chart: &MapChart,
    panel: &MapPanel,
    canvas: &mut Canvas,
    (left, top): At,
    (axis, width): At,
) -> f64 {
    let size = canvas.look.text;
    let mut y = top + 0.5 * size;
    for line in lines_of(&panel.name, width, size) {
        canvas.text(&line, (left, y), Align::Left, size, Ink::TEXT);
        y += 1.3 * size;
    }
    let (columns, rows) = (chart.x.1.len().max(1), chart.y.1.len().max(1));
    let (wide, high) = ((width - axis) / count(columns), 2.0 * size);
    let (start, bottom) = (left + axis, y + high * count(rows));
    let gap = size / 12.0;
    for (idx, field) in panel.fields.iter().enumerate() {
        let (column, row) = (idx % columns, idx / columns);
        let at = (start + count(column) * wide, bottom - count(row + 1) * high);
        canvas.fill(at, (wide - gap, high - gap), fill(field.share));
        let ink = if field.share < 0.5 { Ink::TEXT } else { Ink::PAPER };
        let middle = (at.0 + wide / 2.0, at.1 + high / 2.0);
        canvas.text(&field.label, middle, Align::Middle, size, ink);
        let value = |values: &[String], at: usize| values.get(at).cloned().unwrap_or_default();
        let says = format!(
            "{}\n{}: {}\n{}: {}\n{}",
            panel.name,
            chart.x.0,
            value(&chart.x.1, column),
            chart.y.0,
            value(&chart.y.1, row),
            field.label
        );
        canvas.places.push(Place { shape: Shape::Area(at, (wide, high)), says });
    }
    for (column, value) in chart.x.1.iter().enumerate() {
        let at = (start + (count(column) + 0.5) * wide, bottom + 0.8 * size);
        canvas.text(value, at, Align::Middle, size, Ink::TEXT);
    }
    for (row, value) in chart.y.1.iter().enumerate() {
        let at = (start - 0.5 * size, bottom - (count(row) + 0.5) * high);
        canvas.text(value, at, Align::Right, size, Ink::TEXT);
    }
    let middle = f64::midpoint(start, left + width);
    let name = shortened(&chart.x.0, width - axis, size);
    canvas.text(&name, (middle, bottom + 2.1 * size), Align::Middle, size, Ink::FAINT);
    let name = shortened(&chart.y.0, high * count(rows), size);
    canvas.turned(&name, (left + 0.6 * size, f64::midpoint(y, bottom)), size, Ink::FAINT);
    bottom + 2.8 * size
}

/// From nearly white to blue.
pub(super) fn fill(share: f64) -> Ink {
    Ink::between(Ink::of(238, 241, 244), Ink::of(0, 90, 150), share)
}

//! A field per row and column, the darker the more: hours of a week, machines over time.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::{
    Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, RGBColor, Rectangle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::bars::{font, head};
use super::theme;
use super::values::{self, Place, Shape};

/// Fields in rows and columns.
#[derive(Clone, Debug)]
pub struct HeatChart {
    /// What is seen.
    pub title: String,
    /// Definition and source, below the title.
    pub caption: String,
    /// What runs to the right, with its unit.
    pub x_axis: String,
    /// Where the first column begins and the last one ends.
    pub x: Range<f64>,
    /// What runs down; empty where the names of rows say it.
    pub y_axis: String,
    /// Rows from top to bottom; a name may be empty.
    pub rows: Vec<HeatRow>,
    /// What the darkness stands for, with its unit.
    pub value: String,
}

/// One row of fields.
#[derive(Clone, Debug)]
pub struct HeatRow {
    /// Its name, to the left.
    pub name: String,
    /// A value per column; none where nothing is known.
    pub values: Vec<Option<f64>>,
}

/// Rows of more fields than this tell no values: a pointer could not tell them apart.
const TOLD_MAX: usize = 4000;

pub(super) fn draw<DB: DrawingBackend>(
    chart: &HeatChart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
) -> Result<Vec<Place>, DrawingAreaErrorKind<DB::ErrorType>> {
    let z = i32::try_from(zoom).expect("a zoom is small");
    let area = head(area, &chart.title, &chart.caption, zoom)?;
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (i32::try_from(width).unwrap_or(0), i32::try_from(height).unwrap_or(0));
    let known = chart.rows.iter().flat_map(|row| row.values.iter().copied().flatten());
    let top = known.fold(0.0, f64::max);
    let top = if top == 0.0 { 1.0 } else { top };
    let small = font(theme::TEXT - 1, zoom, &theme::INK);
    let letters = chart.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let letters = i32::try_from(letters).expect("a name is short");
    let sides = [(24 + 8 * letters) * z, 30 * z, width - 24 * z, height - 50 * z];
    let [left, high, right, low] = sides;
    let columns = chart.rows.iter().map(|row| row.values.len()).max().unwrap_or(0).max(1);
    let place = |from: i32, to: i32, idx: usize, of: usize| {
        let idx = i64::try_from(idx).unwrap_or(0) * i64::from(to - from);
        from + i32::try_from(idx / i64::try_from(of).unwrap_or(1)).unwrap_or(0)
    };
    let (base_x, base_y) = area.get_base_pixel();
    let fields = chart.rows.len() * columns;
    let mut places = Vec::new();
    for (row_idx, row) in chart.rows.iter().enumerate() {
        let (y, below) = (
            place(high, low, row_idx, chart.rows.len()),
            place(high, low, row_idx + 1, chart.rows.len()),
        );
        let gap = if 6 * z < below - y { z } else { 0 };
        for (column, value) in row.values.iter().enumerate() {
            let Some(value) = *value else { continue };
            let (x, beside) =
                (place(left, right, column, columns), place(left, right, column + 1, columns));
            let edge = if 6 * z < beside - x { z } else { 0 };
            let body = [(x, y), ((beside - edge).max(x + 1), (below - gap).max(y + 1))];
            area.draw(&Rectangle::new(body, fill(value / top).filled()))?;
            if fields <= TOLD_MAX {
                let says = values::says(
                    &row.name,
                    &[
                        (chart.x_axis.as_str(), x_of(chart, column, columns)),
                        (chart.value.as_str(), value),
                    ],
                );
                let shape = Shape::Area(base_x + x, base_y + y, base_x + beside, base_y + below);
                places.push(Place { shape, says });
            }
        }
        let style = small.clone().pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(row.name.clone(), (left - 8 * z, i32::midpoint(y, below)), style))?;
    }
    axes(chart, &area, sides, zoom)?;
    scale(chart, &area, top, zoom)?;
    Ok(places)
}

/// Where a column begins.
#[expect(clippy::cast_precision_loss, reason = "a picture has few columns")]
fn x_of(chart: &HeatChart, column: usize, columns: usize) -> f64 {
    chart.x.start + (chart.x.end - chart.x.start) * column as f64 / columns as f64
}

/// The numbers and names of the axes.
fn axes<DB: DrawingBackend>(
    chart: &HeatChart,
    area: &DrawingArea<DB, Shift>,
    [left, high, right, low]: [i32; 4],
    zoom: u32,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let z = i32::try_from(zoom).expect("a zoom is small");
    let centre =
        || font(theme::TEXT - 1, zoom, &theme::INK).pos(Pos::new(HPos::Center, VPos::Center));
    let span = chart.x.end - chart.x.start;
    let step = step_of(span / 8.0);
    let mut at = (chart.x.start / step).ceil() * step;
    while at <= chart.x.end + step * 1e-9 && 0.0 < step {
        #[expect(clippy::cast_possible_truncation, reason = "a pixel")]
        let x = left + ((at - chart.x.start) / span * f64::from(right - left)).round() as i32;
        area.draw(&Rectangle::new([(x, low), (x + z - 1, low + 4 * z)], theme::INK.filled()))?;
        area.draw(&Text::new(theme::axis_number(at), (x, low + 13 * z), centre()))?;
        at += step;
    }
    let middle = (i32::midpoint(left, right), low + 34 * z);
    area.draw(&Text::new(chart.x_axis.clone(), middle, centre()))?;
    let style = centre().transform(plotters::style::FontTransform::Rotate270);
    area.draw(&Text::new(chart.y_axis.clone(), (12 * z, i32::midpoint(high, low)), style))
}

/// A round number of 1, 2, 3, 6, 12 or 24 times a power of ten, not below `at_least`.
fn step_of(at_least: f64) -> f64 {
    if !(0.0 < at_least && at_least.is_finite()) {
        return 1.0;
    }
    let power = 10_f64.powf(at_least.log10().floor());
    let steps = [1.0, 2.0, 3.0, 6.0, 10.0].map(|times| times * power);
    steps.into_iter().find(|&step| at_least <= step).unwrap_or(at_least)
}

/// What the darkness stands for.
fn scale<DB: DrawingBackend>(
    chart: &HeatChart,
    area: &DrawingArea<DB, Shift>,
    top: f64,
    zoom: u32,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let z = i32::try_from(zoom).expect("a zoom is small");
    let style = || font(theme::TEXT - 1, zoom, &theme::INK);
    let text = |value: f64| crate::digits::six_digits(value);
    let mut left = 16 * z;
    let mut word = |text: &str| -> Result<i32, DrawingAreaErrorKind<DB::ErrorType>> {
        area.draw(&Text::new(text.to_owned(), (left, 4 * z), style()))?;
        let width = area.estimate_text_size(text, &style())?.0;
        left += i32::try_from(width).unwrap_or(0) + 8 * z;
        Ok(left)
    };
    word(&chart.value)?;
    let from = word("0")?;
    for idx in 0..60 {
        let body = [(from + 2 * idx * z, 4 * z), (from + 2 * (idx + 1) * z, 17 * z)];
        area.draw(&Rectangle::new(body, fill(f64::from(idx) / 59.0).filled()))?;
    }
    area.draw(&Text::new(text(top), (from + 128 * z, 4 * z), style()))
}

/// From nearly white to dark blue.
fn fill(share: f64) -> RGBColor {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let mix = |from: u8, to: u8| {
        let value = f64::from(from) + (f64::from(to) - f64::from(from)) * share;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let value = value.round() as u8;
        value
    };
    RGBColor(mix(240, 8), mix(243, 48), mix(246, 107))
}

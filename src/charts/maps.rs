//! Small maps side by side: how far something holds over two parameters.
//!
//! ```text
//!  name of a panel
//!   4 | 5  5  3        a field per pair of values; the darker the fill, the larger the share,
//!   2 | 5  2  0        which is written on it
//!      0.1 0.2 0.5
//! ```

use plotters::coord::Shift;
use plotters::prelude::{
    Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, RGBColor, Rectangle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::bars::{font, head};
use super::theme;
use super::values::{Place, Shape};

/// Small maps over one pair of axes.
#[derive(Clone, Debug)]
pub struct MapChart {
    /// What is seen.
    pub title: String,
    /// Definition and source, below the title.
    pub caption: String,
    /// What runs to the right, and its values.
    pub x: (String, Vec<String>),
    /// What runs up, and its values from the lowest.
    pub y: (String, Vec<String>),
    /// The maps.
    pub panels: Vec<MapPanel>,
}

/// One small map.
#[derive(Clone, Debug)]
pub struct MapPanel {
    /// What it shows.
    pub name: String,
    /// The fields, row by row from the lowest, each from the left.
    pub fields: Vec<MapField>,
}

/// One field of a map.
#[derive(Clone, Debug)]
pub struct MapField {
    /// From 0 to 1.
    pub share: f64,
    /// Written on it.
    pub label: String,
}

/// Maps in a row.
const COLUMNS: usize = 3;

pub(super) fn draw<DB: DrawingBackend>(
    chart: &MapChart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
) -> Result<Vec<Place>, DrawingAreaErrorKind<DB::ErrorType>> {
    let area = head(area, &chart.title, &chart.caption, zoom)?;
    let rows = chart.panels.len().div_ceil(COLUMNS).max(1);
    let mut places = Vec::new();
    for (panel, part) in chart.panels.iter().zip(area.split_evenly((rows, COLUMNS))) {
        draw_panel(chart, panel, &part, zoom, &mut places)?;
    }
    Ok(places)
}

/// A length or a place in pixels.
fn pixels(count: usize) -> i32 {
    i32::try_from(count).expect("a chart has few fields")
}

fn draw_panel<DB: DrawingBackend>(
    chart: &MapChart,
    panel: &MapPanel,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
    places: &mut Vec<Place>,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let z = i32::try_from(zoom).expect("a zoom is small");
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (i32::try_from(width).unwrap_or(0), i32::try_from(height).unwrap_or(0));
    let (columns, rows) = (pixels(chart.x.1.len().max(1)), pixels(chart.y.1.len().max(1)));
    let (left, top, right, bottom) = (44 * z, 22 * z, width - 8 * z, height - 34 * z);
    let (wide, high) = ((right - left) / columns, (bottom - top) / rows);
    let small = font(theme::TEXT - 3, zoom, &theme::INK);
    let centre = |color: RGBColor| {
        font(theme::TEXT - 3, zoom, &color).pos(Pos::new(HPos::Center, VPos::Center))
    };
    area.draw(&Text::new(panel.name.clone(), (8 * z, 4 * z), small.clone()))?;
    let (base_x, base_y) = area.get_base_pixel();
    for (idx, field) in (0..).zip(&panel.fields) {
        let (column, row) = (idx % columns, idx / columns);
        let x = left + column * wide;
        let y = bottom - (row + 1) * high;
        let body = [(x, y), (x + wide - z, y + high - z)];
        area.draw(&Rectangle::new(body, fill(field.share).filled()))?;
        let color = if field.share < 0.5 { theme::INK } else { theme::PAPER };
        let middle = (x + (wide - z) / 2, y + (high - z) / 2);
        area.draw(&Text::new(field.label.clone(), middle, centre(color)))?;
        let value = |values: &[String], at: i32| {
            usize::try_from(at).ok().and_then(|at| values.get(at).cloned()).unwrap_or_default()
        };
        let says = format!(
            "{}\n{}: {}\n{}: {}\n{}",
            panel.name,
            chart.x.0,
            value(&chart.x.1, column),
            chart.y.0,
            value(&chart.y.1, row),
            field.label
        );
        let shape = Shape::Area(base_x + x, base_y + y, base_x + x + wide, base_y + y + high);
        places.push(Place { shape, says });
    }
    for (column, value) in (0..).zip(&chart.x.1) {
        let at = (left + column * wide + wide / 2, bottom + 8 * z);
        area.draw(&Text::new(value.clone(), at, centre(theme::INK)))?;
    }
    for (row, value) in (0..).zip(&chart.y.1) {
        let style = small.clone().pos(Pos::new(HPos::Right, VPos::Center));
        let at = (left - 5 * z, bottom - row * high - high / 2);
        area.draw(&Text::new(value.clone(), at, style))?;
    }
    let at = (f64::midpoint(f64::from(left), f64::from(right)).round(), bottom + 23 * z);
    #[expect(clippy::cast_possible_truncation, reason = "a pixel")]
    area.draw(&Text::new(chart.x.0.clone(), (at.0 as i32, at.1), centre(theme::FAINT)))?;
    let style = font(theme::TEXT - 3, zoom, &theme::FAINT)
        .transform(plotters::style::FontTransform::Rotate270)
        .pos(Pos::new(HPos::Center, VPos::Center));
    area.draw(&Text::new(chart.y.0.clone(), (8 * z, i32::midpoint(top, bottom)), style))?;
    Ok(())
}

/// From nearly white to blue.
fn fill(share: f64) -> RGBColor {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let mix = |from: u8, to: u8| {
        let value = f64::from(from) + (f64::from(to) - f64::from(from)) * share;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let value = value.round() as u8;
        value
    };
    RGBColor(mix(238, 0), mix(241, 90), mix(244, 150))
}

//! Who ran where and when: a row per machine, a bar per attempt.

use plotters::coord::Shift;
use plotters::prelude::{
    Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, Rectangle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::bars::{font, head, rows_builder};
use super::theme::{self, Tone};
use super::values::{self, Place, Shape};

/// Bars over time, in rows.
#[derive(Clone, Debug)]
pub struct GanttChart {
    /// What is seen.
    pub title: String,
    /// Definition and source, below the title.
    pub caption: String,
    /// The time, with its unit.
    pub time_axis: String,
    /// Names of the rows, from top to bottom; a row without one belongs to that above it.
    pub rows: Vec<String>,
    /// The bars, in any order.
    pub spans: Vec<GanttSpan>,
    /// What the colours mean.
    pub legend: Vec<(String, Tone)>,
}

/// One bar.
#[derive(Clone, Debug)]
pub struct GanttSpan {
    /// In which row.
    pub row: usize,
    /// From when.
    pub from: f64,
    /// Until when.
    pub to: f64,
    /// Written on it where it is long enough.
    pub label: String,
    /// Colour.
    pub tone: Tone,
}

pub(super) fn draw<DB: DrawingBackend>(
    chart: &GanttChart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
) -> Result<Vec<Place>, DrawingAreaErrorKind<DB::ErrorType>> {
    let z = i32::try_from(zoom).expect("a zoom is small");
    let area = head(area, &chart.title, &chart.caption, zoom)?;
    let (legend, area) = area.split_vertically(24 * z);
    let mut left = 16;
    for (name, tone) in &chart.legend {
        let body = [(left * z, 4 * z), ((left + 14) * z, 16 * z)];
        legend.draw(&Rectangle::new(body, tone.color().filled()))?;
        let style = font(theme::TEXT - 1, zoom, &theme::INK);
        legend.draw(&Text::new(name.clone(), ((left + 19) * z, 3 * z), style))?;
        left += 40 + 7 * i32::try_from(name.chars().count()).expect("a word");
    }
    let bounds = |pick: fn(f64, f64) -> f64, start: f64, of: fn(&GanttSpan) -> f64| {
        chart.spans.iter().map(of).fold(start, pick)
    };
    let from = bounds(f64::min, f64::INFINITY, |span| span.from);
    let to = bounds(f64::max, f64::NEG_INFINITY, |span| span.to);
    let (from, to) = if from < to { (from, to) } else { (0.0, 1.0) };
    let count = u32::try_from(chart.rows.len().max(1)).expect("a chart has few rows");
    let mut builder = rows_builder(&area, chart.rows.iter().map(String::as_str), zoom);
    let mut plot = builder.build_cartesian_2d(from..to, (f64::from(count) - 0.5)..-0.5)?;
    plot.configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_labels(8)
        .x_desc(chart.time_axis.clone())
        .x_label_formatter(&|value| theme::axis_number(*value))
        .label_style(font(theme::TEXT, zoom, &theme::INK))
        .axis_desc_style(font(theme::TEXT, zoom, &theme::INK))
        .bold_line_style(theme::GRID)
        .light_line_style(theme::PAPER)
        .axis_style(theme::INK)
        .draw()?;
    let middle = |row: usize| f64::from(u32::try_from(row).expect("a chart has few rows"));
    let mut places = Vec::new();
    for span in &chart.spans {
        let row = middle(span.row);
        let body = [(span.from, row - 0.4), (span.to, row + 0.4)];
        plot.draw_series([Rectangle::new(body, span.tone.color().filled())])?;
        plot.draw_series([Rectangle::new(body, theme::PAPER.stroke_width(zoom))])?;
        let (start, end) = (plot.backend_coord(&body[0]), plot.backend_coord(&body[1]));
        let (low, high) = (start.1.min(end.1), start.1.max(end.1));
        let amounts = [("from", span.from), ("to", span.to)];
        let says = values::says(&span.label, &amounts);
        places.push(Place { shape: Shape::Area(start.0, low, end.0, high), says });
        let letters = i32::try_from(span.label.chars().count()).expect("a label is short");
        if letters * 7 * z + 6 * z < end.0 - start.0 && 13 * z < (end.1 - start.1).abs() {
            let style = font(theme::TEXT - 1, zoom, &theme::PAPER)
                .pos(Pos::new(HPos::Center, VPos::Center));
            let at = (f64::midpoint(span.from, span.to), row);
            plot.draw_series([Text::new(span.label.clone(), at, style)])?;
        }
    }
    let (area_left, area_top) = area.get_base_pixel();
    for (idx, row) in chart.rows.iter().enumerate() {
        let style = font(theme::TEXT, zoom, &theme::INK).pos(Pos::new(HPos::Right, VPos::Center));
        let at = plot.backend_coord(&(from, middle(idx)));
        area.draw(&Text::new(row.clone(), (at.0 - area_left - 8 * z, at.1 - area_top), style))?;
    }
    Ok(places)
}

//! Areas stacked over time, with lines above them: what a cluster handed out, and what it had.
//!
//! ```text
//!  ────────────────────────────  a line: the capacity
//!  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  areas, the first one at the bottom; each holds its value
//!  ██████████████▄▄▄▄▄▄████████  from one edge to the next
//! ```

use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, LineSeries,
    PathElement, Polygon, Rectangle, Text,
};

use super::bars::{font, head};
use super::theme::{self, Tone};
use super::values::{self, Place, Shape, Thinned};

/// Areas stacked over one pair of axes.
#[derive(Clone, Debug)]
pub struct AreaChart {
    /// What is seen.
    pub title: String,
    /// Definition, source and censoring, below the title.
    pub caption: String,
    /// What runs to the right, with its unit.
    pub x_axis: String,
    /// What runs up, with its unit.
    pub y_axis: String,
    /// Where intervals begin, and where the last one ends.
    pub edges: Vec<f64>,
    /// From bottom to top.
    pub areas: Vec<Area>,
    /// Lines over them.
    pub lines: Vec<Area>,
}

/// One area, or one line over the areas.
#[derive(Clone, Debug)]
pub struct Area {
    /// Name in the legend.
    pub name: String,
    /// A value per interval, not below 0; none where nothing is known.
    pub values: Vec<Option<f64>>,
    /// Colour.
    pub tone: Tone,
}

/// The height that stacked values reach, interval by interval, below and with one of them.
fn stacked(chart: &AreaChart) -> Vec<Vec<[f64; 2]>> {
    let mut below = vec![0.0; chart.edges.len().saturating_sub(1)];
    let mut of = |area: &Area| -> Vec<[f64; 2]> {
        let own = below.iter_mut().enumerate().map(|(idx, below)| {
            let from = *below;
            *below += area.values.get(idx).copied().flatten().unwrap_or(0.0);
            [from, *below]
        });
        own.collect()
    };
    chart.areas.iter().map(&mut of).collect()
}

/// How high the axis goes.
fn top_of(chart: &AreaChart, heights: &[Vec<[f64; 2]>]) -> f64 {
    let tops = heights.iter().flatten().map(|height| height[1]);
    let lines = chart.lines.iter().flat_map(|line| line.values.iter().copied().flatten());
    let top = tops.chain(lines).fold(0.0, f64::max);
    if top == 0.0 { 1.0 } else { top * 1.06 }
}

/// The name of what is drawn as an area (`true`) or a line, in pixels from the left.
fn legend<DB: DrawingBackend>(
    chart: &AreaChart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let z = i32::try_from(zoom).expect("a zoom is small");
    let style = font(theme::TEXT - 1, zoom, &theme::INK);
    let mut left = 16 * z;
    let areas = chart.areas.iter().rev().map(|one| (one, true));
    for (one, is_area) in areas.chain(chart.lines.iter().map(|one| (one, false))) {
        let color = one.tone.color();
        if is_area {
            area.draw(&Rectangle::new([(left, 4 * z), (left + 14 * z, 16 * z)], color.filled()))?;
        } else {
            let line = [(left, 10 * z), (left + 14 * z, 10 * z)];
            area.draw(&PathElement::new(line, color.stroke_width(2 * zoom)))?;
        }
        area.draw(&Text::new(one.name.clone(), (left + 19 * z, 3 * z), style.clone()))?;
        let width = area.estimate_text_size(&one.name, &style)?.0;
        left += 34 * z + i32::try_from(width).expect("a name is short");
    }
    Ok(())
}

pub(super) fn draw<DB: DrawingBackend>(
    chart: &AreaChart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
) -> Result<Vec<Place>, DrawingAreaErrorKind<DB::ErrorType>> {
    let z = i32::try_from(zoom).expect("a zoom is small");
    let area = head(area, &chart.title, &chart.caption, zoom)?;
    let (names, area) = area.split_vertically(24 * z);
    legend(chart, &names, zoom)?;
    let heights = stacked(chart);
    let top = top_of(chart, &heights);
    let first = chart.edges.first().copied().unwrap_or(0.0);
    let last = chart.edges.last().copied().filter(|&last| first < last).unwrap_or(first + 1.0);
    let digits = theme::axis_number(top).chars().count().min(12);
    let digits = u32::try_from(digits).expect("at most 12");
    let mut builder = ChartBuilder::on(&area);
    builder
        .margin(8 * zoom)
        .margin_right(24 * zoom)
        .x_label_area_size(44 * zoom)
        .y_label_area_size((digits * 8 + 28).max(84) * zoom);
    let mut plot = builder.build_cartesian_2d(first..last, 0.0..top)?;
    plot.configure_mesh()
        .x_desc(chart.x_axis.clone())
        .y_desc(chart.y_axis.clone())
        .x_labels(9)
        .y_labels(7)
        .x_label_formatter(&|value| theme::axis_number(*value))
        .y_label_formatter(&|value| theme::axis_number(*value))
        .label_style(font(theme::TEXT, zoom, &theme::INK))
        .axis_desc_style(font(theme::TEXT, zoom, &theme::INK))
        .bold_line_style(theme::GRID)
        .light_line_style(theme::PAPER)
        .axis_style(theme::INK)
        .draw()?;
    let mut places = Vec::new();
    let middle = |idx: usize| f64::midpoint(chart.edges[idx], chart.edges[idx + 1]);
    for (area, heights) in chart.areas.iter().zip(&heights) {
        let outline = outline(heights, &chart.edges);
        plot.draw_series([Polygon::new(outline, area.tone.color().mix(0.88).filled())])?;
        let mut thinned = Thinned::default();
        for (idx, height) in heights.iter().enumerate() {
            let Some(value) = area.values.get(idx).copied().flatten() else { continue };
            let at = plot.backend_coord(&(middle(idx), f64::midpoint(height[0], height[1])));
            if 0.0 < value && thinned.takes(at) {
                let amounts = [(chart.x_axis.as_str(), middle(idx)), (&*chart.y_axis, value)];
                let says = values::says(&area.name, &amounts);
                places.push(Place { shape: Shape::Point(at.0, at.1), says });
            }
        }
    }
    for line in &chart.lines {
        for piece in pieces(line, &chart.edges) {
            let stroke = line.tone.color().stroke_width(2 * zoom);
            plot.draw_series(LineSeries::new(piece, stroke))?;
        }
    }
    Ok(places)
}

/// The edge of an area: along its top, and back along its bottom.
fn outline(heights: &[[f64; 2]], edges: &[f64]) -> Vec<(f64, f64)> {
    let steps = |side: usize| {
        let own = heights.iter().enumerate();
        own.flat_map(move |(idx, height)| {
            [(edges[idx], height[side]), (edges[idx + 1], height[side])]
        })
    };
    let lower: Vec<(f64, f64)> = steps(0).collect();
    steps(1).chain(lower.into_iter().rev()).collect()
}

/// The steps of a line, apart where nothing is known.
fn pieces(line: &Area, edges: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let known = line.values.iter().enumerate().filter_map(|(idx, value)| Some((idx, (*value)?)));
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut next = None;
    for (idx, value) in known {
        if next != Some(idx) {
            pieces.push(Vec::new());
        }
        let piece = pieces.last_mut().expect("one was put there");
        piece.extend([(edges[idx], value), (edges[idx + 1], value)]);
        next = Some(idx + 1);
    }
    pieces
}

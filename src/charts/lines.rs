//! Curves over a linear or logarithmic axis, with a legend and bands of confidence.

use std::ops::Range;

use plotters::chart::ChartContext;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::coord::{CoordTranslate, Shift};
use plotters::prelude::{
    ChartBuilder, Circle, Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoLogRange,
    LineSeries, PathElement, Polygon,
};

use super::bars::{font, head};
use super::legend::Legend;
use super::theme::{self, Tone};
use super::values::{self, Place, Shape, Thinned};

/// Curves over one pair of axes.
#[derive(Clone, Debug)]
pub struct LineChart {
    /// What is seen.
    pub title: String,
    /// Definition, source and censoring, below the title.
    pub caption: String,
    /// What runs to the right, with its unit.
    pub x_axis: String,
    /// What runs up, with its unit.
    pub y_axis: String,
    /// How x is spread.
    pub x_scale: Scale,
    /// The curves.
    pub lines: Vec<Line>,
}

/// How an axis is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By powers of ten; points at or below 0 are put at the left edge.
    Log,
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Points from left to right.
    pub points: Vec<(f64, f64)>,
    /// Lower and upper bound at some x, or nothing.
    pub band: Vec<(f64, f64, f64)>,
    /// Colour.
    pub tone: Tone,
    /// How points are joined.
    pub stroke: Stroke,
}

impl Line {
    /// A staircase without a band.
    pub const fn steps(name: String, points: Vec<(f64, f64)>, tone: Tone) -> Self {
        Self { name, points, band: Vec::new(), tone, stroke: Stroke::Steps }
    }
}

/// How the points of a curve are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// By straight lines.
    Straight,
    /// A value holds until the next point (distributions).
    Steps,
    /// By straight lines, each point marked.
    Marked,
    /// By a thin, faint line: how far a marked point may lie.
    Whisker,
    /// Not at all, each point a ring: values from elsewhere beside a curve.
    Rings,
}

pub(super) fn draw<DB: DrawingBackend>(
    chart: &LineChart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
) -> Result<Vec<Place>, DrawingAreaErrorKind<DB::ErrorType>> {
    let area = head(area, &chart.title, &chart.caption, zoom)?;
    let xs = || chart.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let top = chart
        .lines
        .iter()
        .flat_map(|line| {
            line.points.iter().map(|point| point.1).chain(line.band.iter().map(|band| band.2))
        })
        .fold(0.0, f64::max);
    let top = if top == 0.0 { 1.0 } else { top * 1.04 };
    let bottom = chart
        .lines
        .iter()
        .flat_map(|line| line.points.iter().map(|point| point.1))
        .fold(0.0, f64::min);
    let up = (bottom * 1.04)..top;
    let right = xs().fold(f64::MIN, f64::max);
    match chart.x_scale {
        Scale::Linear => {
            let left = xs().fold(f64::MAX, f64::min).min(0.0);
            let right = if right <= left { left + 1.0 } else { right };
            plot(chart, &area, zoom, left..right, up)
        }
        Scale::Log => {
            let left = xs().filter(|&x| 0.0 < x).fold(f64::MAX, f64::min);
            let left = if left == f64::MAX { 1.0 } else { left };
            let right = if right <= left { left * 10.0 } else { right };
            plot(chart, &area, zoom, (left..right).log_scale(), up)
        }
    }
}

fn plot<DB, X>(
    chart: &LineChart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
    x_range: X,
    y_range: Range<f64>,
) -> Result<Vec<Place>, DrawingAreaErrorKind<DB::ErrorType>>
where
    DB: DrawingBackend,
    X: AsRangedCoord<Value = f64> + Clone,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let legend = Legend::of(chart, area, zoom)?;
    // Only measured: where the curves leave no place for the legend, it stands above the plot.
    let measured =
        builder(area, &y_range, zoom).build_cartesian_2d(x_range.clone(), y_range.clone())?;
    let left = measured.x_range().start;
    let curves = curves(chart, left, |at| measured.backend_coord(&at));
    let place = legend.place(&curves, &measured.plotting_area().get_pixel_range());
    let below = match place {
        None => Some(legend.draw_above(area)?),
        Some(_) => None,
    };
    let area = below.as_ref().unwrap_or(area);
    let mut plot = builder(area, &y_range, zoom).build_cartesian_2d(x_range, y_range)?;
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
    for line in &chart.lines {
        draw_line(&mut plot, line, left, zoom)?;
        places.extend(places_of(chart, line, |(x, y)| plot.backend_coord(&(x.max(left), y))));
    }
    if let Some(place) = place {
        legend.draw_within(&mut plot, place)?;
    }
    Ok(places)
}

/// The plot's own margins, and room for the numbers of its axes.
fn builder<'a, 'b, DB: DrawingBackend>(
    area: &'a DrawingArea<DB, Shift>,
    y_range: &Range<f64>,
    zoom: u32,
) -> ChartBuilder<'a, 'b, DB> {
    // The name of the axis stands beside its longest number.
    let ends = [y_range.start, y_range.end].map(theme::axis_number);
    let digits = ends.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let digits = u32::try_from(digits.min(12)).expect("a number is short");
    let mut builder = ChartBuilder::on(area);
    builder
        .margin(8 * zoom)
        .margin_right(24 * zoom)
        .x_label_area_size(44 * zoom)
        .y_label_area_size((digits * 8 + 28).max(84) * zoom);
    builder
}

/// The curves and the edges of bands in pixels: what a legend must not cover.
fn curves(
    chart: &LineChart,
    left: f64,
    pixels: impl Fn((f64, f64)) -> (i32, i32),
) -> Vec<Vec<(i32, i32)>> {
    let mut curves = Vec::new();
    for line in &chart.lines {
        if !line.band.is_empty() {
            curves.push(edge(line, left).into_iter().map(&pixels).collect());
        }
        if line.stroke != Stroke::Whisker {
            curves.push(shaped(line, left).into_iter().map(&pixels).collect());
        }
    }
    curves
}

/// The outline of a band.
fn edge(line: &Line, left: f64) -> Vec<(f64, f64)> {
    let lower = line.band.iter().map(|&(x, low, _)| (x.max(left), low));
    let upper = line.band.iter().rev().map(|&(x, _, high)| (x.max(left), high));
    lower.chain(upper).collect()
}

/// Draws a curve with its band, and names it for a legend within the plot.
fn draw_line<'a, DB, CT>(
    plot: &mut ChartContext<'a, DB, CT>,
    line: &Line,
    left: f64,
    zoom: u32,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>>
where
    DB: DrawingBackend + 'a,
    CT: CoordTranslate<From = (f64, f64)>,
{
    let color = line.tone.color();
    let stroke = match line.stroke {
        Stroke::Whisker => color.mix(0.45).stroke_width(zoom),
        _ => color.stroke_width(2 * zoom),
    };
    if !line.band.is_empty() {
        plot.draw_series([Polygon::new(edge(line, left), color.mix(0.18).filled())])?;
    }
    let points = shaped(line, left);
    if line.stroke == Stroke::Marked {
        plot.draw_series(points.iter().map(|&at| Circle::new(at, 3 * zoom, color.filled())))?;
    }
    let swatch = i32::try_from(18 * zoom).expect("a zoom is small");
    if line.stroke == Stroke::Rings {
        let ring = move |at| Circle::new(at, 5 * zoom, stroke);
        let drawn = plot.draw_series(points.iter().map(|&at| ring(at)))?;
        let legend = move |(x, y)| Circle::new((x + swatch / 2, y), 5 * zoom, stroke);
        drawn.label(line.name.clone()).legend(legend);
        return Ok(());
    }
    let drawn = plot.draw_series(LineSeries::new(points, stroke))?;
    if !line.name.is_empty() {
        drawn
            .label(line.name.clone())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + swatch, y)], stroke));
    }
    Ok(())
}

/// Where the values of a curve are told, each at its place in pixels.
fn places_of(
    chart: &LineChart,
    line: &Line,
    pixels: impl Fn((f64, f64)) -> (i32, i32),
) -> Vec<Place> {
    let (mut places, mut thinned) = (Vec::new(), Thinned::default());
    let points = if line.stroke == Stroke::Whisker { &[][..] } else { &line.points };
    for &(x, y) in points {
        let at = pixels((x, y));
        if thinned.takes(at) {
            let amounts = [(chart.x_axis.as_str(), x), (chart.y_axis.as_str(), y)];
            let says = values::says(&line.name, &amounts);
            places.push(Place { shape: Shape::Point(at.0, at.1), says });
        }
    }
    places
}

fn shaped(line: &Line, left: f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(line.points.len());
    for &(x, y) in &line.points {
        let x = x.max(left);
        if line.stroke == Stroke::Steps
            && let Some(&(_, before)) = points.last()
        {
            points.push((x, before));
        }
        points.push((x, y));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_hold_their_value_until_the_next_point() {
        let line = Line {
            name: String::new(),
            points: vec![(0.0, 0.0), (2.0, 1.0)],
            band: Vec::new(),
            tone: Tone::Ink,
            stroke: Stroke::Steps,
        };
        assert_eq!(shaped(&line, 0.5), [(0.5, 0.0), (2.0, 0.0), (2.0, 1.0)]);
    }
}

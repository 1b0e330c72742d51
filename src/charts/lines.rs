//! Curves over a linear or logarithmic axis, with a legend and bands of confidence.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::{
    ChartBuilder, Circle, Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoLogRange,
    LineSeries, PathElement, Polygon, SeriesLabelPosition,
};

use super::bars::{font, head};
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
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut builder = ChartBuilder::on(area);
    builder
        .margin(8 * zoom)
        .margin_right(24 * zoom)
        .x_label_area_size(44 * zoom)
        .y_label_area_size(84 * zoom);
    let mut plot = builder.build_cartesian_2d(x_range, y_range.clone())?;
    let left = plot.x_range().start;
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
        let color = line.tone.color();
        let stroke = match line.stroke {
            Stroke::Whisker => color.mix(0.45).stroke_width(zoom),
            _ => color.stroke_width(2 * zoom),
        };
        if !line.band.is_empty() {
            let lower = line.band.iter().map(|&(x, low, _)| (x.max(left), low));
            let upper = line.band.iter().rev().map(|&(x, _, high)| (x.max(left), high));
            plot.draw_series([Polygon::new(
                lower.chain(upper).collect::<Vec<_>>(),
                color.mix(0.18).filled(),
            )])?;
        }
        if line.stroke != Stroke::Whisker {
            let mut thinned = Thinned::default();
            for &(x, y) in &line.points {
                let at = plot.backend_coord(&(x.max(left), y));
                if thinned.takes(at) {
                    let amounts = [(chart.x_axis.as_str(), x), (chart.y_axis.as_str(), y)];
                    let says = values::says(&line.name, &amounts);
                    places.push(Place { shape: Shape::Point(at.0, at.1), says });
                }
            }
        }
        let points = shaped(line, left);
        if line.stroke == Stroke::Marked {
            plot.draw_series(points.iter().map(|&at| Circle::new(at, 3 * zoom, color.filled())))?;
        }
        let swatch = i32::try_from(18 * zoom).expect("a zoom is small");
        let drawn = plot.draw_series(LineSeries::new(points, stroke))?;
        if !line.name.is_empty() {
            drawn
                .label(line.name.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + swatch, y)], stroke));
        }
    }
    if chart.lines.iter().any(|line| !line.name.is_empty()) {
        plot.configure_series_labels()
            .position(legend_place(chart, y_range.end))
            .legend_area_size(24 * zoom)
            .margin(12 * zoom)
            .label_font(font(theme::TEXT, zoom, &theme::INK))
            .background_style(theme::PAPER.mix(0.85))
            .border_style(theme::GRID)
            .draw()?;
    }
    Ok(places)
}

/// Curves that end low leave room at the upper right, curves that end high at the lower right;
/// another corner is taken where that covers fewer points.
fn legend_place(chart: &LineChart, top: f64) -> SeriesLabelPosition {
    let curves = || chart.lines.iter().filter(|line| line.stroke != Stroke::Whisker);
    let ends = || curves().filter_map(|line| line.points.last());
    let low = ends().filter(|end| end.1 < top / 2.0).count();
    let (upper, lower) = (SeriesLabelPosition::UpperRight, SeriesLabelPosition::LowerRight);
    let usual = if ends().count() < 2 * low { [upper, lower] } else { [lower, upper] };
    let xs = || chart.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let left = if chart.x_scale == Scale::Log { f64::MIN_POSITIVE } else { 0.0 };
    let position = |x: f64| match chart.x_scale {
        Scale::Linear => x,
        Scale::Log => x.max(left).log10(),
    };
    let (first, last) =
        xs().map(position).fold((f64::MAX, f64::MIN), |range, x| (range.0.min(x), range.1.max(x)));
    // Entries of a legend take about a twentieth of the height each, and a third of the width.
    #[expect(clippy::cast_precision_loss, reason = "a legend has a few entries")]
    let height = (chart.lines.len() as f64 * 0.05 + 0.05).min(1.0);
    let covered = |place: &SeriesLabelPosition| {
        let (is_upper, is_left) = match place {
            SeriesLabelPosition::UpperLeft => (true, true),
            SeriesLabelPosition::UpperRight => (true, false),
            _ => (false, false),
        };
        let is_inside = |&&(x, y): &&(f64, f64)| {
            let across = (position(x) - first) / (last - first).max(f64::MIN_POSITIVE);
            let up = y / top;
            (if is_left { across < 0.34 } else { 0.66 < across })
                && (if is_upper { 1.0 - height < up } else { up < height })
        };
        chart.lines.iter().flat_map(|line| &line.points).filter(is_inside).count()
    };
    let places = usual.into_iter().chain([SeriesLabelPosition::UpperLeft]);
    places.min_by_key(covered).expect("there are three places")
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

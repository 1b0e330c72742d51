//! Curves over a linear or logarithmic axis, with a legend and bands of confidence.

use std::ops::Range;

use plotters::chart::ChartContext;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::coord::{CoordTranslate, Shift};
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
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
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
    let (mut places, mut curves) = (Vec::new(), Vec::new());
    for line in &chart.lines {
        let color = line.tone.color();
        let stroke = match line.stroke {
            Stroke::Whisker => color.mix(0.45).stroke_width(zoom),
            _ => color.stroke_width(2 * zoom),
        };
        if !line.band.is_empty() {
            let lower = line.band.iter().map(|&(x, low, _)| (x.max(left), low));
            let upper = line.band.iter().rev().map(|&(x, _, high)| (x.max(left), high));
            let edge: Vec<(f64, f64)> = lower.chain(upper).collect();
            curves.push(edge.iter().map(|at| plot.backend_coord(at)).collect());
            plot.draw_series([Polygon::new(edge, color.mix(0.18).filled())])?;
        }
        places.extend(places_of(chart, line, |(x, y)| plot.backend_coord(&(x.max(left), y))));
        let points = shaped(line, left);
        if line.stroke != Stroke::Whisker {
            let at = points.iter().map(|point| plot.backend_coord(point));
            curves.push(at.collect());
        }
        if line.stroke == Stroke::Marked {
            plot.draw_series(points.iter().map(|&at| Circle::new(at, 3 * zoom, color.filled())))?;
        }
        let swatch = i32::try_from(18 * zoom).expect("a zoom is small");
        if line.stroke == Stroke::Rings {
            let ring = move |at| Circle::new(at, 5 * zoom, stroke);
            let drawn = plot.draw_series(points.iter().map(|&at| ring(at)))?;
            let legend = move |(x, y)| Circle::new((x + swatch / 2, y), 5 * zoom, stroke);
            drawn.label(line.name.clone()).legend(legend);
            continue;
        }
        let drawn = plot.draw_series(LineSeries::new(points, stroke))?;
        if !line.name.is_empty() {
            drawn
                .label(line.name.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + swatch, y)], stroke));
        }
    }
    add_legend(&mut plot, chart, &curves, zoom)?;
    Ok(places)
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

/// Names the curves, if they have names, where that covers least of them.
fn add_legend<'a, DB: DrawingBackend + 'a, CT: CoordTranslate>(
    plot: &mut ChartContext<'a, DB, CT>,
    chart: &LineChart,
    curves: &[Vec<(i32, i32)>],
    zoom: u32,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let style = font(theme::TEXT, zoom, &theme::INK);
    let (swatch, margin) = (24 * zoom, 12 * zoom);
    let area = plot.plotting_area();
    let names = chart.lines.iter().map(|line| line.name.as_str()).filter(|name| !name.is_empty());
    let widths = names.map(|name| area.estimate_text_size(name, &style).map(|size| size.0));
    let widths: Vec<u32> = widths.collect::<Result<_, _>>()?;
    let Some(widest) = widths.iter().max() else { return Ok(()) };
    let pixels = |size: u32| i32::try_from(size).expect("a picture is small");
    let line_count = i32::try_from(widths.len()).expect("a chart has few curves");
    // The distance of lines that plotters takes.
    let line = theme::TEXT * zoom * 5 / 4;
    let legend =
        [pixels(2 * margin + swatch + widest), pixels(2 * margin) + line_count * pixels(line)];
    let (xs, ys) = area.get_pixel_range();
    let place = legend_place(curves, legend, xs, ys);
    plot.configure_series_labels()
        .position(place)
        .legend_area_size(swatch)
        .margin(margin)
        .label_font(style)
        .background_style(theme::PAPER.mix(0.85))
        .border_style(theme::GRID)
        .draw()
}

/// Pixels between a legend and the edge of the plot.
const LEGEND_GAP: i32 = 6;

/// Where a legend of some width and height covers least of the curves and edges of bands; among
/// places that are as good the first. `xs` and `ys` are the plot's, in the pixels of the curves.
fn legend_place(
    curves: &[Vec<(i32, i32)>],
    legend: [i32; 2],
    xs: Range<i32>,
    ys: Range<i32>,
) -> SeriesLabelPosition {
    let places = |of: &Range<i32>, own: i32| {
        let room = of.end - of.start - own;
        [LEGEND_GAP, room / 2, room - LEGEND_GAP]
    };
    let [left, middle, right] = places(&xs, legend[0]);
    let [top, centre, bottom] = places(&ys, legend[1]);
    let corners = [(right, top), (right, bottom), (left, top), (left, bottom)];
    let edges = [(right, centre), (middle, top), (middle, bottom), (left, centre)];
    let covered = |&(x, y): &(i32, i32)| {
        let (x, y) = (xs.start + x, ys.start + y);
        let cover = [(x, x + legend[0]), (y, y + legend[1])];
        let pieces = curves.iter().flat_map(|curve| pieces(curve));
        pieces.map(|(&from, &to)| length_within(from, to, cover)).sum::<f64>()
    };
    let all = corners.into_iter().chain(edges).chain([(middle, centre)]);
    let (x, y) = all
        .min_by(|one, other| covered(one).total_cmp(&covered(other)))
        .expect("there are nine places");
    SeriesLabelPosition::Coordinate(x, y)
}

/// The straight pieces of a curve, and its last point.
fn pieces(curve: &[(i32, i32)]) -> impl Iterator<Item = (&(i32, i32), &(i32, i32))> {
    curve.iter().zip(curve.iter().skip(1).chain(curve.last()))
}

/// How much of a straight piece lies within a rectangle, given by its range of either coordinate;
/// a mere point in it counts as one.
fn length_within(from: (i32, i32), to: (i32, i32), cover: [(i32, i32); 2]) -> f64 {
    let axes = [(from.0, to.0), (from.1, to.1)];
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    for ((from, to), (low, high)) in axes.into_iter().zip(cover) {
        let (from, to) = (f64::from(from), f64::from(to));
        let (low, high) = (f64::from(low), f64::from(high));
        if from == to {
            if from < low || high < from {
                return 0.0;
            }
            continue;
        }
        let cuts = [(low - from) / (to - from), (high - from) / (to - from)];
        enters = enters.max(cuts[0].min(cuts[1]));
        leaves = leaves.min(cuts[0].max(cuts[1]));
    }
    let [across, up] = axes.map(|(from, to)| f64::from(to - from));
    if enters <= leaves { (across.hypot(up) * (leaves - enters)).max(1.0) } else { 0.0 }
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
    fn a_legend_covers_no_curve_where_there_is_room() {
        //   0                  99
        //   | \______    +----+      a fall, then low: room at the upper right
        //   |        \__ |    |
        let fall = [(0, 0), (10, 60), (99, 95)];
        let place = |curves: &[&[(i32, i32)]]| {
            let curves: Vec<Vec<(i32, i32)>> = curves.iter().map(|curve| curve.to_vec()).collect();
            legend_place(&curves, [30, 30], 0..100, 0..100)
        };
        let at = SeriesLabelPosition::Coordinate;
        assert!(place(&[]) == at(64, 6));
        assert!(place(&[&fall]) == at(64, 6));
        assert!(place(&[&[(70, 20)]]) == at(64, 64));
        // A long straight piece has no point in there and is covered all the same.
        let high = [(0, 10), (99, 10)];
        assert!(place(&[&high]) == at(64, 64));
        assert!(place(&[&high, &fall, &[(50, 10)]]) == at(64, 35));
    }

    #[test]
    fn the_length_within_is_that_of_the_piece() {
        let within = |from, to| length_within(from, to, [(10, 20), (10, 20)]);
        assert_eq!(within((0, 15), (30, 15)), 10.0);
        assert_eq!(within((12, 0), (12, 16)), 6.0);
        assert_eq!(within((0, 0), (30, 30)), 200_f64.sqrt());
        assert_eq!(within((0, 9), (30, 9)), 0.0);
        assert_eq!(within((0, 30), (9, 0)), 0.0);
        assert_eq!(within((15, 15), (15, 15)), 1.0);
    }

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

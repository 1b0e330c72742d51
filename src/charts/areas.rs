//! Areas stacked over time, with lines above them: usage of a cluster, and its capacity.
//!
//! ```text
//!  ────────────────────────────  a line: the capacity
//!  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒  areas, the first one at the bottom; each holds its value
//!  ██████████████▄▄▄▄▄▄████████  constant from one edge to the next
//! ```

use super::axes::{Axis, Frame, Room, Scale};
use super::canvas::{At, Canvas, Mark, Place, Shape};
use super::hatch::hatch;
use super::lines::{APART, Named, names_below};
use super::says;
use super::theme::Tone;

/// Areas stacked over one pair of axes.
#[derive(Clone, Debug)]
pub struct AreaChart {
    /// The title.
    pub title: String,
    /// What the values are, their source and how open values are treated; shown below the title.
    pub caption: String,
    /// Title of the horizontal axis, with its unit.
    pub x_axis: String,
    /// Title of the vertical axis, with its unit.
    pub y_axis: String,
    /// The starts of the intervals, and the end of the last one.
    pub edges: Vec<f64>,
    /// The areas from bottom to top.
    pub areas: Vec<Area>,
    /// Lines above the areas.
    pub lines: Vec<Area>,
}

/// One area, or one line over the areas.
#[derive(Clone, Debug)]
pub struct Area {
    /// Its name.
    pub name: String,
    /// A value per interval, at least 0; `None` if unknown.
    pub values: Vec<Option<f64>>,
    /// Colour.
    pub tone: Tone,
}

/// The lower and upper edge of each stacked value, interval by interval.
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

/// The position of the plot, and its axes.
fn frame(chart: &AreaChart, heights: &[Vec<[f64; 2]>], canvas: &Canvas) -> Frame {
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    let height = look.plot_height(look.width);
    let tops = heights.iter().flatten().map(|height| height[1]);
    let lines = chart.lines.iter().flat_map(|line| line.values.iter().copied().flatten());
    let top = tops.chain(lines).fold(0.0, f64::max);
    let first = chart.edges.first().copied().unwrap_or(0.0);
    let last = chart.edges.last().copied().unwrap_or(first);
    let y = Axis::new(&chart.y_axis, 0.0, top, Scale::Linear, Room::Up(height, size));
    let left = margin + Frame::left_of(&y, height, size);
    let width = look.width - margin - size - left;
    let room = Room::Across(width, size);
    let x = Axis::lower(&chart.x_axis, [first, last], Scale::Linear, room, canvas.since_s);
    Frame { left, top: margin, width, height, x, y }
}

pub(super) fn draw(chart: &AreaChart, canvas: &mut Canvas) {
    canvas.set_head(&chart.title, &chart.caption);
    let heights = stacked(chart);
    let frame = frame(chart, &heights, canvas);
    let below = frame.draw(canvas);
    let first = canvas.marks.len();
    let middle = |idx: usize| f64::midpoint(chart.edges[idx], chart.edges[idx + 1]);
    for (area, heights) in chart.areas.iter().zip(&heights) {
        let points = outline(heights, &chart.edges).into_iter().map(|(x, y)| frame.at(x, y));
        let (points, ink): (Vec<At>, _) = (points.collect(), area.tone.ink().with_opacity(0.88));
        let outline = points.clone();
        canvas.marks.push(Mark::Area { points, ink });
        hatch(&outline, area.tone, canvas);
        let mut last: Option<f64> = None;
        for (idx, height) in heights.iter().enumerate() {
            let Some(value) = area.values.get(idx).copied().flatten() else { continue };
            let at = frame.at(middle(idx), f64::midpoint(height[0], height[1]));
            if 0.0 < value && last.is_none_or(|last| APART <= at.0 - last) {
                let amounts = [(chart.x_axis.as_str(), middle(idx)), (&*chart.y_axis, value)];
                let says = says(&area.name, &amounts, canvas.since_s);
                canvas.places.push(Place { shape: Shape::Point(at), says });
                last = Some(at.0);
            }
        }
    }
    for line in &chart.lines {
        let (dash, _) = line.tone.style();
        for piece in pieces(line, &chart.edges) {
            let points = piece.into_iter().map(|(x, y)| frame.at(x, y)).collect();
            let (width, ink) = (canvas.look.stroke(), line.tone.ink());
            canvas.marks.push(Mark::Path { points, width, dash, ink });
        }
    }
    frame.close(first, canvas);
    canvas.height = frame.bottom() + below;
    // From top to bottom, in stacking order.
    let areas = chart.areas.iter().rev().map(|one| (one, None));
    let lines = chart.lines.iter().map(|one| (one, Some(super::Stroke::Straight)));
    let named: Vec<Named<'_>> = areas
        .chain(lines)
        .map(|(one, stroke)| Named { name: &one.name, tone: one.tone, stroke, is_drawn: true })
        .collect();
    names_below(&named, canvas);
    canvas.height += 0.5 * canvas.look.margin();
}

/// The outline of an area: along its top, and back along its bottom.
fn outline(heights: &[[f64; 2]], edges: &[f64]) -> Vec<At> {
    let steps = |side: usize| {
        let own = heights.iter().enumerate();
        own.flat_map(move |(idx, height)| {
            [(edges[idx], height[side]), (edges[idx + 1], height[side])]
        })
    };
    let lower: Vec<At> = steps(0).collect();
    steps(1).chain(lower.into_iter().rev()).collect()
}

/// The steps of a line, separated where values are unknown.
fn pieces(line: &Area, edges: &[f64]) -> Vec<Vec<At>> {
    let known = line.values.iter().enumerate().filter_map(|(idx, value)| Some((idx, (*value)?)));
    let mut pieces: Vec<Vec<At>> = Vec::new();
    let mut next = None;
    for (idx, value) in known {
        let steps = [(edges[idx], value), (edges[idx + 1], value)];
        match pieces.last_mut() {
            Some(piece) if next == Some(idx) => piece.extend(steps),
            _ => pieces.push(steps.into()),
        }
        next = Some(idx + 1);
    }
    pieces
}

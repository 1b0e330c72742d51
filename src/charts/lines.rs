//! Curves over a linear or logarithmic axis, with confidence bands: one plot, or several plots next
//! to each other with common axes.
//!
//! ```text
//!  y │   ____ all          a curve has its name at its end if all of them end at the right and
//!    │__/ .... some        the names fit; otherwise names are below the plot, never on it
//!    └───────────
//! ```

use super::axes::{Axis, Frame, Room, Scale};
use super::canvas::{Align, At, Canvas, Mark, Place, Shape, count, lines_of, shortened, width_of};
use super::curve::{Line, LineChart, PanelChart, Stroke};
use super::hatch::hatch;
use super::says;
use super::signs::{label, mark};
use super::theme::{Ink, Tone};

pub(super) fn draw(chart: &LineChart, canvas: &mut Canvas) {
    plot(chart, 0.0, canvas);
}

/// Draws a plot that leaves at least `left` pixels at its left.
pub(super) fn plot(chart: &LineChart, left: f64, canvas: &mut Canvas) -> Frame {
    canvas.set_head(&chart.title, &chart.caption);
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    let height = look.plot_height(look.width);
    let ranges = ranges([chart].into_iter());
    let room = look.width - 2.0 * margin;
    let beside = beside(chart, &ranges, height, room, size);
    let right = beside.as_ref().map_or(size, |labels| labels.width);
    let axis = Frame::left_of(&upright(chart, &ranges, height, size), height, size).max(left);
    let frame = frame(chart, &ranges, (margin, margin), (room, height), (axis, right), canvas);
    let below = frame.draw(canvas);
    curves(chart, &frame, canvas);
    canvas.height = frame.bottom() + below;
    match beside {
        Some(labels) => labels.write(&frame, canvas),
        None => below_plot(&[chart], canvas),
    }
    canvas.height += 0.5 * margin;
    frame
}

pub(super) fn draw_panels(chart: &PanelChart, canvas: &mut Canvas) {
    canvas.set_head(&chart.title, &chart.caption);
    let look = canvas.look;
    let (size, margin) = (look.text, look.margin());
    // Narrower plots have no space for an axis.
    let fit = ((look.width - margin) / (size * 15.0)).floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few columns")]
    let columns = chart.columns.clamp(1, (fit as usize).max(1));
    let wide = (look.width - 2.0 * margin) / count(columns);
    // A picture much higher than wide fits on no page.
    let rows = count(chart.panels.len().div_ceil(columns).max(1));
    let most = if chart.columns == 1 { 1.5 } else { 2.2 };
    let highest = (most * look.width / rows - 5.0 * size).max(7.0 * size);
    let plot_height = look.plot_height(wide).min(highest);
    let shared = |panel: &LineChart| {
        let of_x = chart.panels.iter().filter(|other| other.x_axis == panel.x_axis);
        let of_y = chart.panels.iter().filter(|other| other.y_axis == panel.y_axis);
        Ranges { x: ranges(of_x).x, y: ranges(of_y).y }
    };
    // All plots have the same distance to their names.
    let lefts = chart.panels.iter().map(|panel| {
        Frame::left_of(&upright(panel, &shared(panel), plot_height, size), plot_height, size)
    });
    let axis = lefts.fold(0.0, f64::max);
    let mut top = margin;
    // In one column, a title that all plots share is below the last plot only.
    let is_shared = (columns < chart.columns || chart.columns == 1)
        && chart.panels.windows(2).all(|pair| pair[0].x_axis == pair[1].x_axis);
    let last_row = chart.panels.len().saturating_sub(columns);
    for (place, row) in chart.panels.chunks(columns).enumerate() {
        let mut bottom = top;
        for (idx, panel) in row.iter().enumerate() {
            let left = margin + count(idx) * wide;
            let name = shortened(&panel.title, wide - size, size);
            canvas.text(&name, (left, top + 0.4 * size), Align::Left, size, Ink::TEXT);
            let corner = (left, top + 1.6 * size);
            let shared = shared(panel);
            let mut frame =
                frame(panel, &shared, corner, (wide, plot_height), (axis, 1.5 * size), canvas);
            if is_shared && place * columns + idx < last_row {
                frame.x.title.clear();
            }
            let below = frame.draw(canvas);
            curves(panel, &frame, canvas);
            bottom = bottom.max(frame.bottom() + below);
        }
        top = bottom + 1.2 * size;
    }
    canvas.height = top - 1.2 * size;
    below_plot(&chart.panels.iter().collect::<Vec<&LineChart>>(), canvas);
    canvas.height += 0.5 * margin;
}

/// The ranges of the axes.
#[derive(Clone, Debug)]
struct Ranges {
    x: (f64, f64),
    y: (f64, f64),
}

/// The space that a ring takes above its value, as a multiple of the value.
const RING: f64 = 1.06;

/// The share of a distribution that a logarithmic axis may leave out at its left. Otherwise a few
/// values far from the rest would squeeze the rest.
const LEFT_OUT: f64 = 0.01;

/// The ranges of plots with common axes.
fn ranges<'a>(charts: impl Iterator<Item = &'a LineChart> + Clone) -> Ranges {
    let is_log = charts.clone().any(|chart| chart.x_scale == Scale::Log);
    let start = charts.clone().map(|chart| chart.y_from).fold(f64::MAX, f64::min);
    let lines = charts.flat_map(|chart| &chart.lines);
    let ys = lines.clone().flat_map(|line| {
        let bounds = line.band.iter().flat_map(|&(_, low, high)| [low, high]);
        // A ring around the highest count must not be cut; a share is never above 1.
        let is_ring = line.stroke == Stroke::Rings;
        let room = move |y: f64| if is_ring && 1.0 < y { y * RING } else { y };
        line.points.iter().map(move |point| room(point.1)).chain(bounds)
    });
    let ys = ys.filter(|y| y.is_finite());
    let (bottom, top) = ys.fold((start, start), |(low, high): At, y| (low.min(y), high.max(y)));
    let top = if bottom < top { top } else { bottom + 1.0 };
    let xs = lines.clone().flat_map(|line| line.points.iter().map(|point| point.0));
    let right = xs.clone().filter(|x| x.is_finite()).fold(f64::MIN, f64::max);
    let left = if is_log {
        let begins = lines.filter_map(begin).fold(f64::MAX, f64::min);
        // If the curves differ only at their last value, the axis begins at their first value.
        let firsts = || xs.clone().filter(|x| 0.0 < *x).fold(f64::MAX, f64::min);
        let begins = if begins < right { begins } else { firsts() };
        if begins == f64::MAX { 1.0 } else { begins }
    } else {
        xs.filter(|x| x.is_finite()).fold(f64::MAX, f64::min).min(0.0)
    };
    let right = match (left < right, is_log) {
        (true, _) => right,
        (false, true) => left * 10.0,
        (false, false) => left + 1.0,
    };
    Ranges { x: (left, right), y: (bottom, top) }
}

/// The first x above 0 at which a curve has a point. For a staircase, the first x at which it has
/// visibly changed.
fn begin(line: &Line) -> Option<f64> {
    let mut points = line.points.iter().filter(|point| 0.0 < point.0);
    if line.stroke != Stroke::Steps {
        return points.map(|point| point.0).min_by(f64::total_cmp);
    }
    let ys = || line.points.iter().map(|point| point.1);
    let first = ys().next()?;
    let spread = ys().fold(f64::MIN, f64::max) - ys().fold(f64::MAX, f64::min);
    points.find(|point| LEFT_OUT * spread <= (point.1 - first).abs()).map(|point| point.0)
}

/// The vertical axis of a plot.
fn upright(chart: &LineChart, ranges: &Ranges, height: f64, size: f64) -> Axis {
    Axis::new(&chart.y_axis, ranges.y.0, ranges.y.1, Scale::Linear, Room::Up(height, size))
}

/// The position of a plot and its axes in a box, with free pixels at its left and right.
fn frame(
    chart: &LineChart,
    ranges: &Ranges,
    (left, top): At,
    (width, height): At,
    (axis, right): At,
    canvas: &Canvas,
) -> Frame {
    let size = canvas.look.text;
    let inner = (width - axis - right).max(size);
    let (range, room) = ([ranges.x.0, ranges.x.1], Room::Across(inner, size));
    let x = Axis::lower(&chart.x_axis, range, chart.x_scale, room, canvas.since_s);
    let y = upright(chart, ranges, height, size);
    Frame { left: left + axis, top, width: inner, height, x, y }
}

/// Draws the contents of the plot.
fn curves(chart: &LineChart, frame: &Frame, canvas: &mut Canvas) {
    let first = canvas.marks.len();
    for line in chart.lines.iter().filter(|line| line.stroke != Stroke::Label) {
        let ink = line.tone.ink();
        if !line.band.is_empty() {
            let lower = line.band.iter().map(|&(x, low, _)| frame.at(x, low));
            let upper = line.band.iter().rev().map(|&(x, _, high)| frame.at(x, high));
            let points = lower.chain(upper).collect();
            canvas.marks.push(Mark::Area { points, ink: ink.with_opacity(0.18) });
        }
        let points: Vec<At> = shaped(line).into_iter().map(|(x, y)| frame.at(x, y)).collect();
        tell(chart, line, frame, canvas);
        curve(line, &points, canvas);
    }
    frame.close(first, canvas);
    for line in chart.lines.iter().filter(|line| line.stroke == Stroke::Label) {
        for &(x, y) in &line.points {
            label(canvas, frame, frame.at(x, y), &line.name);
        }
    }
}

/// Draws one curve through its positions.
fn curve(line: &Line, points: &[At], canvas: &mut Canvas) {
    let (ink, wide) = (line.tone.ink(), canvas.look.stroke());
    let (dash, marker) = line.tone.style();
    if line.stroke == Stroke::Rings {
        for &at in points {
            canvas.marks.push(Mark::Ring { at, radius: 3.0 * wide, width: wide, ink });
        }
        return;
    }
    let (width, ink) = match line.stroke {
        Stroke::Whisker => (wide / 2.0, ink.with_opacity(0.45)),
        _ => (wide, ink),
    };
    // A curve without a name need not differ from others.
    let is_plain = line.stroke == Stroke::Whisker || line.name.is_empty();
    let dash = if is_plain { &[] } else { dash };
    if 1 < points.len() && line.stroke != Stroke::Points {
        canvas.marks.push(Mark::Path { points: points.to_vec(), width, dash, ink });
    }
    if matches!(line.stroke, Stroke::Marked | Stroke::Points) || points.len() == 1 {
        // Markers that would cover each other are left out.
        let mut last: Option<At> = None;
        for &at in points {
            let is_apart =
                last.is_none_or(|last| 2.0 * wide < (at.0 - last.0).hypot(at.1 - last.1));
            if is_apart {
                mark(canvas, at, marker, 2.2 * wide, ink);
                last = Some(at);
            }
        }
    }
}

/// Distance in pixels between tooltips of one curve, so that a tooltip is always near the pointer.
pub(super) const APART: f64 = 8.0;

/// Places the tooltips with the values of a curve.
fn tell(chart: &LineChart, line: &Line, frame: &Frame, canvas: &mut Canvas) {
    if line.stroke == Stroke::Whisker {
        return;
    }
    let mut last: Option<At> = None;
    for &(x, y) in &line.points {
        let at = frame.at(x, y);
        let is_near = |last: At| (at.0 - last.0).abs() < APART && (at.1 - last.1).abs() < APART;
        if !last.is_some_and(is_near) {
            let amounts = [(chart.x_axis.as_str(), x), (chart.y_axis.as_str(), y)];
            let says = says(&line.name, &amounts, canvas.since_s);
            canvas.places.push(Place { shape: Shape::Point(at), says });
            last = Some(at);
        }
    }
}

/// Names at the ends of curves.
struct Beside {
    /// Their width at the right of the plot, pixels.
    width: f64,
    /// The names, each with its position as a share of the height and its colour, from the top.
    labels: Vec<(String, f64, Tone)>,
}

/// Pixels between lines of text, as a multiple of the text height.
const LINE: f64 = 1.3;

/// How far a name may be from the end of its curve, in lines of text.
const NEAR: f64 = 1.5;

/// The names at the ends of the curves, if every curve ends at the right and the names fit there.
fn beside(
    chart: &LineChart,
    ranges: &Ranges,
    height: f64,
    width: f64,
    size: f64,
) -> Option<Beside> {
    let named = || chart.lines.iter().filter(|line| !line.name.is_empty());
    let fits = (2..=7).contains(&named().count())
        && named().all(|line| {
            let is_line = matches!(line.stroke, Stroke::Straight | Stroke::Steps | Stroke::Marked);
            let last = line.points.last().map_or(f64::MIN, |point| point.0);
            let reach = match chart.x_scale {
                Scale::Linear => (last - ranges.x.0) / (ranges.x.1 - ranges.x.0),
                Scale::Log => (last / ranges.x.0).ln() / (ranges.x.1 / ranges.x.0).ln(),
                Scale::Root => (last / ranges.x.1).sqrt(),
            };
            is_line && 0.97 <= reach && width_of(&line.name, size) <= 0.24 * width
        });
    if !fits {
        return None;
    }
    let axis = Axis::new("", ranges.y.0, ranges.y.1, Scale::Linear, Room::Up(height, size));
    let mut labels: Vec<(String, f64, Tone)> = named()
        .map(|line| {
            let last = line.points.last().map_or(0.0, |point| point.1);
            (line.name.clone(), 1.0 - axis.place(last), line.tone)
        })
        .collect();
    labels.sort_by(|one, other| one.1.total_cmp(&other.1));
    let ends: Vec<f64> = labels.iter().map(|label| label.1).collect();
    let apart = LINE * size / height;
    // Names are moved down from the top, then up from the bottom, so that they move as little as
    // possible.
    for idx in 1..labels.len() {
        labels[idx].1 = labels[idx].1.max(labels[idx - 1].1 + apart);
    }
    let mut lowest = 1.0;
    for label in labels.iter_mut().rev() {
        label.1 = label.1.min(lowest);
        lowest = label.1 - apart;
    }
    let is_high_enough = labels.first().is_none_or(|label| -apart <= label.1);
    // A name far from the end of its curve would be next to another curve.
    let is_near =
        labels.iter().zip(&ends).all(|(label, end)| (label.1 - end).abs() <= NEAR * apart);
    let widest = labels.iter().map(|label| width_of(&label.0, size)).fold(0.0, f64::max);
    (is_high_enough && is_near).then_some(Beside { width: widest + 2.0 * size, labels })
}

impl Beside {
    fn write(&self, frame: &Frame, canvas: &mut Canvas) {
        let size = canvas.look.text;
        let x = frame.left + frame.width + 0.6 * size;
        for (name, share, tone) in &self.labels {
            let y = frame.top + share * frame.height;
            canvas.text(name, (x, y), Align::Left, size, tone.text_ink());
        }
    }
}

/// The name of a curve, or of an area if there is no stroke.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Named<'a> {
    pub name: &'a str,
    pub tone: Tone,
    pub stroke: Option<Stroke>,
    /// Whether the curve is in the plot. Otherwise only its name is written, without a sample.
    pub is_drawn: bool,
}

/// Writes the names of the curves below the plot.
fn below_plot(charts: &[&LineChart], canvas: &mut Canvas) {
    let lines = charts.iter().flat_map(|chart| &chart.lines);
    let lines = lines.filter(|line| line.stroke != Stroke::Label);
    let named = lines.map(|Line { name, tone, stroke, points, .. }| Named {
        name,
        tone: *tone,
        stroke: Some(*stroke),
        is_drawn: !points.is_empty(),
    });
    let mut all: Vec<Named<'_>> = Vec::new();
    for one in named {
        match all.iter_mut().find(|known| (known.name, known.tone) == (one.name, one.tone)) {
            Some(known) => known.is_drawn |= one.is_drawn,
            None => all.push(one),
        }
    }
    names_below(&all, canvas);
}

/// Writes names below the plot, each after a sample of its curve or area.
pub(super) fn names_below(named: &[Named<'_>], canvas: &mut Canvas) {
    let (size, margin, wide) = (canvas.look.text, canvas.look.margin(), canvas.look.width);
    let (mut x, mut y) = (margin, canvas.height + 1.2 * size);
    let named: Vec<&Named<'_>> = named.iter().filter(|one| !one.name.is_empty()).collect();
    for one in &named {
        let [swatch, gap] = if one.is_drawn { [2.4 * size, 0.5 * size] } else { [0.0, 0.0] };
        let room = wide - 2.0 * margin - swatch - size;
        let lines = lines_of(one.name, room, size);
        let width = lines.iter().map(|line| width_of(line, size)).fold(0.0, f64::max);
        let whole = swatch + gap + width + 1.5 * size;
        if margin < x && wide - margin < x + whole - 1.5 * size {
            (x, y) = (margin, y + LINE * size);
        }
        if one.is_drawn {
            sample(**one, (x, y), swatch, canvas);
        }
        for (idx, text) in (0_u32..).zip(&lines) {
            let at = (x + swatch + gap, y + f64::from(idx) * LINE * size);
            canvas.text(text, at, Align::Left, size, Ink::TEXT);
        }
        if 1 < lines.len() {
            (x, y) = (margin, y + count(lines.len()) * LINE * size);
        } else {
            x += whole;
        }
    }
    if !named.is_empty() {
        canvas.height = if x <= margin { y - 0.5 * size } else { y + 0.7 * size };
    }
}

/// Draws a sample of a curve or area, as in the plot.
fn sample(named: Named<'_>, (x, y): At, length: f64, canvas: &mut Canvas) {
    let (ink, wide) = (named.tone.ink(), canvas.look.stroke());
    let (dash, marker) = named.tone.style();
    let middle = (x + length / 2.0, y);
    match named.stroke {
        Some(Stroke::Rings) => {
            canvas.marks.push(Mark::Ring { at: middle, radius: 3.0 * wide, width: wide, ink });
        }
        None => {
            let high = 0.8 * canvas.look.text;
            let [left, top, right, bottom] = [x, y - high / 2.0, x + length, y + high / 2.0];
            canvas.fill((left, top), (length, high), ink.with_opacity(0.88));
            let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
            hatch(&corners, named.tone, canvas);
        }
        Some(Stroke::Whisker) => {
            let (points, ink) = (vec![(x, y), (x + length, y)], ink.with_opacity(0.45));
            canvas.marks.push(Mark::Path { points, width: wide / 2.0, dash: &[], ink });
        }
        Some(stroke) => {
            let points = vec![(x, y), (x + length, y)];
            if stroke != Stroke::Points {
                canvas.marks.push(Mark::Path { points, width: wide, dash, ink });
            }
            if matches!(stroke, Stroke::Marked | Stroke::Points) {
                mark(canvas, middle, marker, 2.2 * wide, ink);
            }
        }
    }
}

fn shaped(line: &Line) -> Vec<At> {
    let mut points: Vec<At> = Vec::with_capacity(line.points.len());
    for &(x, y) in &line.points {
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
        let line = Line::steps(String::new(), vec![(0.0, 0.0), (2.0, 1.0)], Tone::Ink);
        assert_eq!(shaped(&line), [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0)]);
    }

    #[test]
    fn curves_of_two_values_fill_their_axis() {
        let line = Line::steps(String::new(), vec![(2.0, 0.04), (3.0, 1.0)], Tone::Ink);
        let chart = LineChart {
            title: String::new(),
            caption: String::new(),
            x_axis: "events".to_owned(),
            y_axis: "share".to_owned(),
            x_scale: Scale::Log,
            y_from: 0.0,
            lines: vec![line],
        };
        assert_eq!(ranges([&chart].into_iter()).x, (2.0, 3.0));
    }

    #[test]
    fn an_axis_starts_where_the_chart_says() {
        let chart = |y_from: f64, lowest: f64| LineChart {
            title: String::new(),
            caption: String::new(),
            x_axis: "day".to_owned(),
            y_axis: "accuracy (%)".to_owned(),
            x_scale: Scale::Linear,
            y_from,
            lines: vec![Line::steps(String::new(), vec![(0.0, lowest), (1.0, 95.0)], Tone::Ink)],
        };
        let range = |y_from: f64, lowest: f64| ranges([&chart(y_from, lowest)].into_iter()).y;
        assert_eq!(range(0.0, 48.0), (0.0, 95.0));
        assert_eq!(range(40.0, 48.0), (40.0, 95.0));
        assert_eq!(range(40.0, 30.0), (30.0, 95.0), "nothing is cut");
    }

    #[test]
    fn a_few_small_values_do_not_stretch_the_axis() {
        let points: Vec<At> = (0..=1000)
            .map(|at| (if at == 1 { 1e-6 } else { 10.0 + f64::from(at) }, f64::from(at) / 1000.0))
            .collect();
        let line = Line::steps(String::new(), points, Tone::Ink);
        assert_eq!(begin(&line), Some(20.0));
        assert_eq!(begin(&Line { stroke: Stroke::Marked, ..line }), Some(1e-6));
    }
}

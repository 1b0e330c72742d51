//! A chart over time with gaps: time that is not in the log.
//!
//! In: a chart and the gaps on its lower axis. Out: the same chart without a point, line, area or
//! field inside a gap, and a hatched field over each gap, named below the plot. Bars over time have
//! recorded ends, so they stay. A chart without gaps is drawn as it is.
//!
//! ```text
//!  │ ────╮ ╱╱╱╱ ╭────
//!  │     ╰─╱╱╱╱─╯          lines and areas end at the edges of a gap
//!  └──────────────────
//!    ╱╱ not in the log
//! ```

use super::axes::Frame;
use super::canvas::{Align, At, Canvas, Mark, Place, Shape, count};
use super::hatch::hatch;
use super::says;
use super::theme::{Ink, Tone};
use super::{AreaChart, Chart, HeatChart, LineChart};

/// What a gap is called below the plot and under the pointer.
const NAME: &str = "not in the log";

/// A chart over time, and the gaps on its lower axis.
#[derive(Clone, Debug)]
pub struct GappedChart {
    /// The chart.
    pub chart: Box<Chart>,
    /// Start and end of each gap, in the unit of the axis; in order and apart.
    pub gaps: Vec<[f64; 2]>,
}

impl GappedChart {
    /// The chart without the values inside the gaps.
    pub(crate) fn known(&self) -> Chart {
        match &*self.chart {
            Chart::Lines(lines) => Chart::Lines(self.lines(lines)),
            Chart::Panels(panels) => {
                let mut known = panels.clone();
                known.panels.iter_mut().for_each(|panel| *panel = self.lines(panel));
                Chart::Panels(known)
            }
            Chart::Areas(areas) => Chart::Areas(self.areas(areas)),
            Chart::Heat(heat) => Chart::Heat(self.heat(heat)),
            other => other.clone(),
        }
    }

    /// Whether an instant is inside a gap.
    fn has(&self, x: f64) -> bool {
        self.gaps.iter().any(|[from, to]| *from < x && x < *to)
    }

    /// Whether an interval is inside a gap as a whole.
    fn covers(&self, [start, end]: [f64; 2]) -> bool {
        self.gaps.iter().any(|[from, to]| *from <= start && end <= *to)
    }

    fn lines(&self, chart: &LineChart) -> LineChart {
        let mut known = chart.clone();
        for line in &mut known.lines {
            line.points.retain(|point| !self.has(point.0));
            line.band.retain(|bound| !self.has(bound.0));
        }
        known
    }

    fn areas(&self, chart: &AreaChart) -> AreaChart {
        let mut known = chart.clone();
        for area in known.areas.iter_mut().chain(&mut known.lines) {
            for (value, edges) in area.values.iter_mut().zip(chart.edges.windows(2)) {
                *value = value.filter(|_| !self.covers([edges[0], edges[1]]));
            }
        }
        known
    }

    fn heat(&self, chart: &HeatChart) -> HeatChart {
        let mut known = chart.clone();
        let columns = chart.rows.iter().map(|row| row.values.len()).max().unwrap_or(0).max(1);
        let wide = (chart.x.end - chart.x.start) / count(columns);
        let edge = |column: usize| chart.x.start + wide * count(column);
        for row in &mut known.rows {
            for (column, value) in row.values.iter_mut().enumerate() {
                *value = value.filter(|_| !self.covers([edge(column), edge(column + 1)]));
            }
        }
        known
    }
}

/// The gaps on a plot, from left to right, pixels.
fn fields(frame: &Frame, gaps: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let (left, right) = (frame.left, frame.left + frame.width);
    let across = |x: f64| (frame.left + frame.x.place(x) * frame.width).clamp(left, right);
    let fields = gaps.iter().map(|gap| gap.map(across));
    fields.filter(|[from, to]| from < to).collect()
}

/// Hatches the gaps of a plot, before its contents are drawn.
pub(super) fn shade(frame: &Frame, canvas: &mut Canvas) {
    // The lower axis stays visible.
    let (top, bottom) = (frame.top, frame.bottom() - canvas.look.line() / 2.0);
    for [from, to] in canvas.gaps.clone() {
        for [left, right] in fields(frame, &[[from, to]]) {
            field([left, top, right, bottom], canvas);
            let shape = Shape::Area((left, top), (right - left, bottom - top));
            let says = says(NAME, &[("from", from), ("to", to)]);
            canvas.places.push(Place { shape, says });
            canvas.has_shown_gaps = true;
        }
    }
}

fn field([left, top, right, bottom]: [f64; 4], canvas: &mut Canvas) {
    canvas.fill((left, top), (right - left, bottom - top), Ink::GRID);
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
    hatch(&corners, Tone::Vermilion, canvas);
}

/// Removes what was drawn inside the gaps of a plot, from mark `first` on, and hatches them.
pub(super) fn leave_out(frame: &Frame, first: usize, canvas: &mut Canvas) {
    let fields = fields(frame, &canvas.gaps);
    if fields.is_empty() {
        return;
    }
    let inside = |(x, y): At| {
        (frame.top..=frame.bottom()).contains(&y)
            && fields.iter().any(|[from, to]| *from < x && x < *to)
    };
    canvas.places.retain(|place| match place.shape {
        Shape::Point(at) => !inside(at),
        Shape::Area((x, y), (wide, high)) => !inside((x + wide / 2.0, y + high / 2.0)),
    });
    let drawn = canvas.marks.split_off(first);
    shade(frame, canvas);
    let mut from = f64::NEG_INFINITY;
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for field in &fields {
        kept.push([from, field[0]]);
        from = field[1];
    }
    kept.push([from, f64::INFINITY]);
    canvas.marks.extend(drawn.iter().flat_map(|mark| outside(mark, &kept)));
}

/// Names the hatched fields below the picture.
pub(super) fn explain(canvas: &mut Canvas) {
    if !canvas.has_shown_gaps {
        return;
    }
    let (size, margin) = (canvas.look.text, canvas.look.margin());
    let y = canvas.height + 0.3 * size;
    field([margin, y - 0.4 * size, margin + 2.4 * size, y + 0.4 * size], canvas);
    let at = (margin + 2.9 * size, y);
    canvas.text(NAME, at, Align::Left, size, Ink::TEXT);
    canvas.height = y + 1.2 * size;
}

/// The parts of a mark in the kept stretches of the plot, pixels.
fn outside(mark: &Mark, kept: &[[f64; 2]]) -> Vec<Mark> {
    match mark {
        Mark::Path { points, width, dash, ink } => {
            let pieces = kept.iter().flat_map(|range| pieces(points, *range));
            let (width, dash, ink) = (*width, *dash, *ink);
            pieces.map(|points| Mark::Path { points, width, dash, ink }).collect()
        }
        Mark::Strokes { strokes, width, ink } => {
            let parts = strokes
                .iter()
                .flat_map(|[from, to]| kept.iter().filter_map(|range| segment(*from, *to, *range)));
            let strokes: Vec<[At; 2]> = parts.collect();
            let (is_there, width, ink) = (!strokes.is_empty(), *width, *ink);
            is_there.then_some(Mark::Strokes { strokes, width, ink }).into_iter().collect()
        }
        Mark::Area { points, ink } => {
            let parts = kept.iter().map(|range| polygon(points, *range));
            let parts = parts.filter(|points| 2 < points.len());
            parts.map(|points| Mark::Area { points, ink: *ink }).collect()
        }
        Mark::Box { at, size, ink } => {
            let parts = kept.iter().filter_map(|[low, high]| {
                let (left, right) = (at.0.max(*low), (at.0 + size.0).min(*high));
                let (at, size) = ((left, at.1), (right - left, size.1));
                (left < right).then_some(Mark::Box { at, size, ink: *ink })
            });
            parts.collect()
        }
        Mark::Dot { at, .. } | Mark::Ring { at, .. } => {
            let is_kept = kept.iter().any(|[low, high]| (*low..=*high).contains(&at.0));
            is_kept.then(|| mark.clone()).into_iter().collect()
        }
        Mark::Text { .. } => vec![mark.clone()],
    }
}

/// The part of a line segment from `low` to `high`.
fn segment(from: At, to: At, [low, high]: [f64; 2]) -> Option<[At; 2]> {
    if from.0.max(to.0) < low || high < from.0.min(to.0) {
        return None;
    }
    let at = |x: f64| {
        let inside = x.clamp(low, high);
        let share = if from.0 == to.0 { 0.0 } else { (inside - from.0) / (to.0 - from.0) };
        (inside, from.1 + share * (to.1 - from.1))
    };
    if from.0 == to.0 {
        return Some([from, to]);
    }
    let part = [at(from.0), at(to.0)];
    (part[0].0 != part[1].0).then_some(part)
}

/// The parts of a line from `low` to `high`.
fn pieces(points: &[At], range: [f64; 2]) -> Vec<Vec<At>> {
    let mut pieces: Vec<Vec<At>> = Vec::new();
    for pair in points.windows(2) {
        let Some([from, to]) = segment(pair[0], pair[1], range) else { continue };
        match pieces.last_mut().filter(|piece| piece.last() == Some(&from)) {
            Some(piece) => piece.push(to),
            None => pieces.push(vec![from, to]),
        }
    }
    pieces
}

/// The part of a polygon from `low` to `high` (Sutherland and Hodgman, 1974).
fn polygon(points: &[At], [low, high]: [f64; 2]) -> Vec<At> {
    let mut own = points.to_vec();
    for (edge, way) in [(low, 1.0), (high, -1.0)].into_iter().filter(|side| side.0.is_finite()) {
        let is_in = |at: At| 0.0 <= way * (at.0 - edge);
        let mut cut: Vec<At> = Vec::with_capacity(own.len());
        for (idx, &to) in own.iter().enumerate() {
            let from = own[idx.checked_sub(1).unwrap_or(own.len() - 1)];
            if is_in(from) != is_in(to) {
                let share = (edge - from.0) / (to.0 - from.0);
                cut.push((edge, from.1 + share * (to.1 - from.1)));
            }
            if is_in(to) {
                cut.push(to);
            }
        }
        own = cut;
    }
    own
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::{
        Area, GanttChart, GanttSpan, HeatRow, Line, Look, PanelChart, Scale, Stroke, drawn,
    };

    const HOURS: &str = "time since the start of the trace (h)";

    /// A chart of each kind over 20 hours, with a value per hour.
    fn over_time(values: &[f64]) -> Vec<Chart> {
        let text = String::new;
        let hours = || (0_u32..).map(f64::from);
        let line = |stroke| Line {
            name: "a".to_owned(),
            points: hours().zip(values.iter().copied()).collect(),
            band: hours().zip(values).map(|(hour, &value)| (hour, 0.0, value)).collect(),
            tone: Tone::Green,
            stroke,
        };
        let strokes = [Stroke::Straight, Stroke::Steps, Stroke::Marked, Stroke::Points];
        let lines = LineChart {
            title: text(),
            caption: "Found.".to_owned(),
            x_axis: HOURS.to_owned(),
            y_axis: "jobs".to_owned(),
            x_scale: Scale::Linear,
            lines: strokes.map(line).into(),
        };
        let known: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        let area = |tone| Area { name: "a".to_owned(), values: known.clone(), tone };
        let areas = AreaChart {
            title: text(),
            caption: text(),
            x_axis: HOURS.to_owned(),
            y_axis: "jobs".to_owned(),
            edges: hours().take(values.len() + 1).collect(),
            areas: vec![area(Tone::Blue), area(Tone::Sky)],
            lines: vec![area(Tone::Ink)],
        };
        let heat = HeatChart {
            title: text(),
            caption: text(),
            x_axis: HOURS.to_owned(),
            x: 0.0..f64::from(u32::try_from(values.len()).unwrap()),
            y_axis: text(),
            rows: vec![HeatRow { name: "a".to_owned(), values: known.clone() }],
            value: "jobs".to_owned(),
        };
        let panels = PanelChart {
            title: text(),
            caption: text(),
            panels: vec![lines.clone(); 2],
            columns: 2,
        };
        vec![Chart::Lines(lines), Chart::Panels(panels), Chart::Areas(areas), Chart::Heat(heat)]
    }

    /// The positions of what a plot shows, without the hatched fields.
    fn shown(canvas: &Canvas, gap: [f64; 2]) -> Vec<f64> {
        let time = canvas.layers.iter().filter_map(|layer| Some((layer, layer.time?)));
        let mut found = Vec::new();
        for (layer, time) in time {
            let across = |hour: f64| {
                let share = (hour * 3600.0 - time.seconds[0]) / (time.seconds[1] - time.seconds[0]);
                time.across[0] + share * (time.across[1] - time.across[0])
            };
            let is_field = |mark: &Mark| match mark {
                Mark::Box { ink, .. } => *ink == Ink::GRID,
                Mark::Strokes { strokes, .. } => strokes
                    .iter()
                    .flatten()
                    .all(|at| across(gap[0]) - 1e-6 <= at.0 && at.0 <= across(gap[1]) + 1e-6),
                _ => false,
            };
            let marks = canvas.marks[layer.marks.clone()].iter().filter(|mark| !is_field(mark));
            let positions = marks.flat_map(|mark| match mark {
                Mark::Path { points, .. } | Mark::Area { points, .. } => {
                    points.iter().map(|at| at.0).collect::<Vec<f64>>()
                }
                Mark::Strokes { strokes, .. } => strokes.iter().flatten().map(|at| at.0).collect(),
                Mark::Box { at, size, .. } => vec![at.0, at.0 + size.0],
                Mark::Dot { at, .. } | Mark::Ring { at, .. } => vec![at.0],
                Mark::Text { .. } => Vec::new(),
            });
            // As hours.
            let hours = |x: f64| {
                let share = (x - time.across[0]) / (time.across[1] - time.across[0]);
                (time.seconds[0] + share * (time.seconds[1] - time.seconds[0])) / 3600.0
            };
            found.extend(positions.map(hours));
        }
        found
    }

    proptest! {
        /// Promise: nothing of a chart over time is inside a gap, and the gap is marked.
        #[test]
        fn nothing_is_drawn_inside_a_gap(
            values in prop::collection::vec(1.0..50.0_f64, 20),
            from in 1.0..15.0_f64,
            length in 0.2..4.0_f64,
        ) {
            let gap = [from, from + length];
            for chart in over_time(&values) {
                let caption = chart.caption().to_owned();
                let gapped = chart.with_gaps(vec![gap], "Hatched: not in the log.");
                let said = format!("{caption} Hatched: not in the log.");
                prop_assert_eq!(gapped.caption(), said.trim_start());
                let canvas = drawn(&gapped, Look::SCREEN);
                let inside = shown(&canvas, gap)
                    .into_iter()
                    .find(|hour| gap[0] + 1e-6 < *hour && *hour < gap[1] - 1e-6);
                prop_assert_eq!(inside, None, "{:?}", gapped);
                let is_name = |mark: &&Mark| matches!(mark, Mark::Text { text, .. } if text == NAME);
                prop_assert_eq!(canvas.marks.iter().filter(is_name).count(), 1);
                let told = canvas.places.iter().filter(|place| place.says.starts_with(NAME));
                prop_assert!(0 < told.count());
            }
        }

        /// Promise: a chart without gaps is drawn as before.
        #[test]
        fn a_chart_without_gaps_is_drawn_as_before(
            values in prop::collection::vec(0.0..50.0_f64, 1..20),
        ) {
            for chart in over_time(&values) {
                let canvas = drawn(&chart, Look::SCREEN);
                let same = chart.clone().with_gaps(Vec::new(), "Hatched: not in the log.");
                prop_assert!(!matches!(same, Chart::Gapped(_)));
                // A gap outside of the plot changes nothing either.
                let beyond = GappedChart { chart: Box::new(chart), gaps: vec![[90.0, 95.0]] };
                for other in [drawn(&same, Look::SCREEN), drawn(&Chart::Gapped(beyond), Look::SCREEN)] {
                    prop_assert_eq!(&canvas.marks, &other.marks);
                    prop_assert_eq!(canvas.height.to_bits(), other.height.to_bits());
                }
            }
        }
    }

    #[test]
    fn a_step_line_holds_its_value_up_to_the_gap() {
        let points = [(0.0, 5.0), (4.0, 5.0), (4.0, 9.0), (8.0, 9.0)];
        let kept = |range| pieces(&points, range);
        assert_eq!(kept([f64::NEG_INFINITY, 3.0]), [[(0.0, 5.0), (3.0, 5.0)]]);
        assert_eq!(kept([6.0, f64::INFINITY]), [[(6.0, 9.0), (8.0, 9.0)]]);
        assert!(kept([9.0, f64::INFINITY]).is_empty());
        let square = [(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0)];
        let part = polygon(&square, [f64::NEG_INFINITY, 1.0]);
        assert_eq!(part, [(0.0, 0.0), (1.0, 0.0), (1.0, 2.0), (0.0, 2.0)]);
    }

    #[test]
    fn bars_over_time_stay_and_the_gap_is_behind_them() {
        let span = GanttSpan {
            row: 0,
            from: 0.0,
            to: 10.0,
            label: String::new(),
            tone: Tone::Blue,
            is_wait: false,
        };
        let gantt = GanttChart {
            title: String::new(),
            caption: String::new(),
            time_axis: HOURS.to_owned(),
            rows: vec!["a".to_owned()],
            spans: vec![span],
            legend: Vec::new(),
        };
        let canvas = drawn(&Chart::Gantt(gantt).with_gaps(vec![[4.0, 6.0]], ""), Look::SCREEN);
        let boxes = || canvas.marks.iter().enumerate();
        let place = |wanted: Ink| {
            boxes()
                .find(|(_, mark)| matches!(mark, Mark::Box { ink, .. } if *ink == wanted))
                .unwrap()
                .0
        };
        assert!(place(Ink::GRID) < place(Tone::Blue.ink()));
    }
}

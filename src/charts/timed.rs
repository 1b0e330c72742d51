//! A chart over time: its dates, and its gaps. A gap is a time that is not in the log.
//!
//! In: a chart, the instant at which its lower axis begins, its gaps, and the time from which its
//! log is complete. Out: the same chart without a value inside a gap. `cuts` draws the gaps and
//! shades the time before the log is complete; `axes` draws the dates. Bars over time have recorded
//! ends, so they stay. A chart of a complete log is drawn as it is.
//!
//! ```text
//!  │ ────╮ ╱╱╱╱ ╭────
//!  │     ╰─╱╱╱╱─╯          lines and areas end at the edges of a gap
//!  └──────────────────
//!    ╱╱ not in the log
//! ```

use super::canvas::count;
use super::{
    AreaChart, Chart, DAYS_FROM_S, DAYS_OF_SPAN, DAYS_OF_TRACE, HOURS_OF_SPAN, HOURS_OF_TRACE,
    HeatChart, Line, LineChart, Stroke,
};

/// A chart of curves over a span or a trace of this many seconds, and the seconds of its unit. The
/// chart is given in days; if the span is short, it is changed to hours.
pub(crate) fn over_span(mut chart: Chart, length_s: f64) -> (Chart, f64) {
    if DAYS_FROM_S <= length_s {
        return (chart, 86_400.0);
    }
    let in_hours = |chart: &mut LineChart| {
        let axis = match chart.x_axis.as_str() {
            DAYS_OF_SPAN => HOURS_OF_SPAN,
            DAYS_OF_TRACE => HOURS_OF_TRACE,
            _ => return,
        };
        axis.clone_into(&mut chart.x_axis);
        for line in &mut chart.lines {
            line.points.iter_mut().for_each(|point| point.0 *= 24.0);
            line.band.iter_mut().for_each(|bound| bound.0 *= 24.0);
        }
    };
    match &mut chart {
        Chart::Lines(lines) => in_hours(lines),
        Chart::Panels(panels) => panels.panels.iter_mut().for_each(in_hours),
        _ => {}
    }
    (chart, 3600.0)
}

/// A chart over time, with the gaps and the dates of its lower axis.
#[derive(Clone, Debug)]
pub struct TimedChart {
    /// The chart.
    pub chart: Box<Chart>,
    /// Start and end of each gap, in the unit of the axis; in order and without overlap.
    pub gaps: Vec<[f64; 2]>,
    /// The position on the axis from which the log has all jobs; `None` if it lacks no jobs that
    /// had ended before.
    pub whole_from: Option<f64>,
    /// The instant at 0 of the axis, seconds since 1970; `None` if dates are not known.
    pub since_s: Option<f64>,
}

impl TimedChart {
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

    /// Whether a position on the axis is inside a gap.
    fn has(&self, x: f64) -> bool {
        self.gaps.iter().any(|[from, to]| *from < x && x < *to)
    }

    /// Whether an interval is completely inside a gap.
    fn covers(&self, [start, end]: [f64; 2]) -> bool {
        self.gaps.iter().any(|[from, to]| *from <= start && end <= *to)
    }

    fn lines(&self, chart: &LineChart) -> LineChart {
        let mut known = chart.clone();
        for line in &mut known.lines {
            let resumed = self.resumed(line);
            line.points.retain(|point| !self.has(point.0));
            line.band.retain(|bound| !self.has(bound.0));
            line.points.extend(resumed);
            line.points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        known
    }

    /// The points at which a line of steps continues after a gap: at the value that it reached
    /// inside the gap, which holds until the next point.
    fn resumed(&self, line: &Line) -> Vec<(f64, f64)> {
        if line.stroke != Stroke::Steps {
            return Vec::new();
        }
        let ends = self.gaps.iter().filter_map(|&[from, to]| {
            let inside = line.points.iter().rev().find(|point| from < point.0 && point.0 < to)?;
            let next = line.points.iter().find(|point| to <= point.0)?;
            (to < next.0).then_some((to, inside.1))
        });
        ends.collect()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::canvas::{Canvas, Mark};
    use crate::charts::cuts::{EARLY, NAME};
    use crate::charts::theme::{Ink, Tone};
    use crate::charts::{Area, GanttChart, GanttSpan, HeatRow, Look, PanelChart, Scale, drawn};

    const HOURS: &str = "time since the start of the trace (h)";

    #[test]
    fn a_short_span_has_an_axis_in_hours() {
        let line = Line {
            band: vec![(0.5, 0.0, 1.0)],
            ..Line::steps(String::new(), vec![(0.0, 1.0), (1.5, 2.0)], Tone::Blue)
        };
        let chart = Chart::Lines(LineChart {
            title: String::new(),
            caption: String::new(),
            x_axis: DAYS_OF_SPAN.to_owned(),
            y_axis: String::new(),
            x_scale: Scale::Linear,
            y_from: 0.0,
            lines: vec![line],
        });
        let (Chart::Lines(long), per) = over_span(chart.clone(), DAYS_FROM_S) else { panic!() };
        assert!(per == 86_400.0 && long.x_axis == DAYS_OF_SPAN);
        assert_eq!(long.lines[0].points, [(0.0, 1.0), (1.5, 2.0)]);
        let panels = PanelChart {
            title: String::new(),
            caption: String::new(),
            panels: match chart.clone() {
                Chart::Lines(lines) => vec![lines.clone(), lines],
                _ => Vec::new(),
            },
            columns: 2,
        };
        let (Chart::Panels(both), _) = over_span(Chart::Panels(panels), 7200.0) else { panic!() };
        assert!(both.panels.iter().all(|panel| panel.x_axis == HOURS_OF_SPAN));
        assert_eq!(both.panels[1].lines[0].points, [(0.0, 1.0), (36.0, 2.0)]);
        let mut of_trace = both.panels[0].clone();
        DAYS_OF_TRACE.clone_into(&mut of_trace.x_axis);
        let (Chart::Lines(of_trace), _) = over_span(Chart::Lines(of_trace), 7200.0) else {
            panic!()
        };
        assert_eq!(of_trace.x_axis, HOURS_OF_TRACE);
        let (Chart::Lines(short), per) = over_span(chart, DAYS_FROM_S - 1.0) else { panic!() };
        assert!(per == 3600.0 && short.x_axis == HOURS_OF_SPAN);
        assert_eq!(short.lines[0].points, [(0.0, 1.0), (36.0, 2.0)]);
        assert_eq!(short.lines[0].band, [(12.0, 0.0, 1.0)]);
    }

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
            y_from: 0.0,
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
            // The values as hours.
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
                let gapped = chart.over_time(vec![gap], "Hatched: not in the log.", None);
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

        /// Promise: outside of gaps, a line of steps shows the value that it has without gaps.
        #[test]
        fn steps_outside_a_gap_keep_their_value(
            values in prop::collection::vec(1.0..50.0_f64, 20),
            from in 1.0..15.0_f64,
            length in 0.2..4.0_f64,
        ) {
            let Chart::Lines(chart) = over_time(&values).swap_remove(0) else { unreachable!() };
            let gapped = TimedChart {
                chart: Box::new(Chart::Lines(chart.clone())),
                gaps: vec![[from, from + length]],
                whole_from: None,
                since_s: None,
            };
            let Chart::Lines(known) = gapped.known() else { unreachable!() };
            let at = |lines: &LineChart, hour: f64| {
                let line = lines.lines.iter().find(|line| line.stroke == Stroke::Steps).unwrap();
                line.points.iter().rev().find(|point| point.0 <= hour).map(|point| point.1)
            };
            for tenth in 0..190_u32 {
                let hour = f64::from(tenth) / 10.0;
                if !gapped.has(hour) {
                    prop_assert_eq!(at(&known, hour), at(&chart, hour), "{}", hour);
                }
            }
        }

        /// Promise: a chart without gaps is drawn as before.
        #[test]
        fn a_chart_without_gaps_is_drawn_as_before(
            values in prop::collection::vec(0.0..50.0_f64, 1..20),
        ) {
            for chart in over_time(&values) {
                let canvas = drawn(&chart, Look::SCREEN);
                let same = chart.clone().over_time(Vec::new(), "Hatched: not in the log.", None);
                prop_assert!(!matches!(same, Chart::Timed(_)));
                // A gap outside of the plot changes nothing either.
                let beyond = TimedChart { chart: Box::new(chart), gaps: vec![[90.0, 95.0]], whole_from: None, since_s: None };
                for other in [drawn(&same, Look::SCREEN), drawn(&Chart::Timed(beyond), Look::SCREEN)] {
                    prop_assert_eq!(&canvas.marks, &other.marks);
                    prop_assert_eq!(canvas.height.to_bits(), other.height.to_bits());
                }
            }
        }
    }

    proptest! {
        /// Promise: the time for which a log lacks jobs is shaded from the left edge to its end,
        /// behind all other marks, which stay. It is shaded only if the plot shows a part of it.
        #[test]
        fn early_time_is_shaded_behind_all_that_is_drawn(
            values in prop::collection::vec(1.0..50.0_f64, 20),
            from in -5.0..30.0_f64,
        ) {
            for chart in over_time(&values) {
                let plain = drawn(&chart, Look::SCREEN);
                let shaded = drawn(&chart.clone().whole_from(from, "Shaded."), Look::SCREEN);
                let is_said = |text: &str| shaded.marks.iter().any(
                    |mark| matches!(mark, Mark::Text { text: own, .. } if own == text),
                );
                prop_assert_eq!(is_said(EARLY), 0.0 < from);
                if from <= 0.0 {
                    prop_assert_eq!(&plain.marks, &shaded.marks);
                    continue;
                }
                let mut rest = shaded.marks.iter();
                for mark in &plain.marks {
                    prop_assert!(rest.any(|own| own == mark), "{mark:?} is missing or behind");
                }
                let is_line = |mark: &Mark| matches!(mark, Mark::Path { dash: [4.0, 3.0], .. });
                // The axis ends with the values, at most two hours before or after the last.
                prop_assert!(17.0 < from || shaded.marks.iter().any(is_line));
                prop_assert!(from < 23.0 || !shaded.marks.iter().any(is_line));
                // The field is behind all curves and areas.
                let is_field = |mark: &Mark| {
                    matches!(mark, Mark::Box { ink, .. } if ink.opacity == 0.6)
                };
                let is_curve = |mark: &Mark| match mark {
                    Mark::Path { ink, .. } | Mark::Area { ink, .. } | Mark::Box { ink, .. } => {
                        ink.color == Tone::Green.ink().color
                    }
                    _ => false,
                };
                let place = |is_one: &dyn Fn(&Mark) -> bool| shaded.marks.iter().position(is_one);
                let [field, curve] = [place(&is_field), place(&is_curve)];
                prop_assert!(field.is_some(), "no field");
                prop_assert!(curve.is_none() || field < curve, "{field:?} {curve:?}");
                prop_assert!(curve.is_some() || !matches!(chart, Chart::Lines(_)));
            }
        }
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
        let canvas =
            drawn(&Chart::Gantt(gantt).over_time(vec![[4.0, 6.0]], "", None), Look::SCREEN);
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

//! Numbers to pictures: SVG for papers, PNG for everything else, in one theme.
//!
//! In: a [`Chart`], plain data. Out: the bytes of two files with the same picture. Text is drawn
//! with a font that is compiled in, so the same chart is the same bytes on every machine. The SVG
//! tells its values under the pointer. Nothing in here computes a result.

use crate::faults::Fault;
use plotters::coord::Shift;
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend};
use thiserror::Error;

mod areas;
mod bars;
mod gantt;
mod heat;
mod legend;
mod lines;
mod maps;
mod theme;
mod values;

pub use areas::{Area, AreaChart};
pub use bars::{Bar, BarChart};
pub use gantt::{GanttChart, GanttSpan};
pub use heat::{HeatChart, HeatRow};
pub use lines::{Line, LineChart, Scale, Stroke};
pub use maps::{MapChart, MapField, MapPanel};
pub use theme::{Tone, outcome_tone};

use values::Place;

/// A picture to be drawn.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Horizontal bars.
    Bars(BarChart),
    /// Curves.
    Lines(LineChart),
    /// Bars over time, in rows.
    Gantt(GanttChart),
    /// Small maps side by side.
    Maps(MapChart),
    /// Areas stacked over time.
    Areas(AreaChart),
    /// A field per row and column.
    Heat(HeatChart),
}

impl Chart {
    /// What is seen.
    pub fn title(&self) -> &str {
        match self {
            Self::Bars(chart) => &chart.title,
            Self::Lines(chart) => &chart.title,
            Self::Gantt(chart) => &chart.title,
            Self::Maps(chart) => &chart.title,
            Self::Areas(chart) => &chart.title,
            Self::Heat(chart) => &chart.title,
        }
    }

    /// Definition, source and censoring.
    pub fn caption(&self) -> &str {
        match self {
            Self::Bars(chart) => &chart.caption,
            Self::Lines(chart) => &chart.caption,
            Self::Gantt(chart) => &chart.caption,
            Self::Maps(chart) => &chart.caption,
            Self::Areas(chart) => &chart.caption,
            Self::Heat(chart) => &chart.caption,
        }
    }

    /// The same with the tables and hours that it is about at the end of its caption, unless the
    /// caption names them itself.
    #[must_use]
    pub fn about(mut self, scope: &str) -> Self {
        let caption = match &mut self {
            Self::Bars(chart) => &mut chart.caption,
            Self::Lines(chart) => &mut chart.caption,
            Self::Gantt(chart) => &mut chart.caption,
            Self::Maps(chart) => &mut chart.caption,
            Self::Areas(chart) => &mut chart.caption,
            Self::Heat(chart) => &mut chart.caption,
        };
        if !scope.is_empty() && !caption.contains(scope) {
            let space = if caption.is_empty() { "" } else { " " };
            *caption = format!("{caption}{space}Tables: {scope}.");
        }
        self
    }
}

/// A chart could not be drawn.
#[derive(Debug, Error)]
#[error("could not draw `{title}`: {reason}")]
pub struct ChartError {
    /// The picture's title.
    pub title: String,
    /// Why, in the words of the drawing library.
    reason: String,
}

impl Fault for ChartError {}

impl ChartError {
    fn new(chart: &Chart, error: &dyn std::error::Error) -> Self {
        Self { title: chart.title().to_owned(), reason: error.to_string() }
    }
}

/// Width and height of the SVG; the PNG has twice as many pixels each way.
const SIZE: (u32, u32) = (840, 520);

/// Draws `chart` as the bytes of a PNG. What plotters writes by itself may be cut off by a full disk
/// without an error.
pub fn png_of(chart: &Chart) -> Result<Vec<u8>, ChartError> {
    let (width, height) = (SIZE.0 * 2, SIZE.1 * 2);
    let mut pixels = vec![0; (width * height * 3) as usize];
    let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
    draw(chart, &area, 2)?;
    drop(area);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    written.map_err(|error| ChartError::new(chart, &error))?;
    Ok(bytes)
}

/// Draws `chart` as the text of an SVG.
pub fn svg_of(chart: &Chart) -> Result<String, ChartError> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    let places = draw(chart, &area, 1)?;
    drop(area);
    Ok(values::with_values(&text, &places))
}

/// Draws a chart and returns what stands where.
fn draw<DB: DrawingBackend>(
    chart: &Chart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
) -> Result<Vec<Place>, ChartError> {
    theme::register_fonts();
    let fail = |error| ChartError::new(chart, &error);
    area.fill(&theme::PAPER).map_err(fail)?;
    let places = match chart {
        Chart::Bars(bars) => bars::draw(bars, area, zoom),
        Chart::Lines(lines) => lines::draw(lines, area, zoom),
        Chart::Gantt(gantt) => gantt::draw(gantt, area, zoom),
        Chart::Maps(maps) => maps::draw(maps, area, zoom),
        Chart::Areas(areas) => areas::draw(areas, area, zoom),
        Chart::Heat(heat) => heat::draw(heat, area, zoom),
    }
    .map_err(fail)?;
    area.present().map_err(fail)?;
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_is_the_same_bytes_each_time() {
        let bar = |label: &str, value| Bar {
            label: label.into(),
            value,
            note: "1,000 (50.0 %)".into(),
            tone: outcome_tone(label),
        };
        let bars = Chart::Bars(BarChart {
            title: "Title".into(),
            caption: "Caption <with> & signs".into(),
            value_axis: "jobs".into(),
            bars: vec![bar("finished", 1000.0), bar("failed", 0.0)],
        });
        let line = Line {
            name: "all".into(),
            points: vec![(0.0, 0.0), (1.0, 0.25), (10.0, 1.0)],
            band: Vec::new(),
            tone: Tone::Ink,
            stroke: Stroke::Steps,
        };
        let lines = |x_scale| {
            Chart::Lines(LineChart {
                title: "Title".into(),
                caption: "Caption".into(),
                x_axis: "x (s)".into(),
                y_axis: "y".into(),
                x_scale,
                lines: vec![line.clone()],
            })
        };
        let span = |row, from| GanttSpan {
            row,
            from,
            to: from + 2.0,
            label: "9/1".into(),
            tone: Tone::Green,
        };
        let gantt = Chart::Gantt(GanttChart {
            title: "Title".into(),
            caption: "Caption".into(),
            time_axis: "s".into(),
            rows: vec!["7".into(), String::new()],
            spans: vec![span(0, 0.0), span(1, 1.0)],
            legend: vec![("finished".into(), Tone::Green)],
        });
        let field = |share| MapField { share, label: "3".into() };
        let maps = Chart::Maps(MapChart {
            title: "Title".into(),
            caption: "Caption".into(),
            x: ("x".into(), vec!["1".into(), "2".into()]),
            y: ("y".into(), vec!["a".into()]),
            panels: vec![MapPanel { name: "one".into(), fields: vec![field(0.0), field(1.0)] }],
        });
        for chart in [bars, lines(Scale::Linear), lines(Scale::Log), gantt, maps] {
            check(&chart);
        }
    }

    /// The same bytes twice, with escaped names and values that are told.
    fn check(chart: &Chart) {
        let svg = svg_of(chart).unwrap();
        assert_eq!(svg, svg_of(chart).unwrap());
        assert_eq!(png_of(chart).unwrap(), png_of(chart).unwrap());
        assert!(svg.contains("Title") && !svg.contains("<with>"), "names are escaped");
        assert!(svg.contains("<title>"), "values are told");
    }

    #[test]
    fn areas_and_fields_are_the_same_bytes_each_time() {
        let area = |tone, values: [f64; 2]| Area {
            name: "free".into(),
            values: values.map(Some).into(),
            tone,
        };
        let areas = Chart::Areas(AreaChart {
            title: "Title".into(),
            caption: "Caption".into(),
            x_axis: "h".into(),
            y_axis: "CPU".into(),
            edges: vec![0.0, 1.0, 2.0],
            areas: vec![area(Tone::Blue, [1.0, 2.0]), area(Tone::Sky, [0.0, 2.0])],
            lines: vec![area(Tone::Ink, [5.0, 5.0])],
        });
        let row =
            |name: &str| HeatRow { name: name.into(), values: vec![Some(1.0), None, Some(2.0)] };
        let heat = Chart::Heat(HeatChart {
            title: "Title".into(),
            caption: "Caption".into(),
            x_axis: "hour".into(),
            x: 0.0..24.0,
            y_axis: String::new(),
            rows: vec![row("Sunday"), row("Monday")],
            value: "jobs".into(),
        });
        for chart in [areas, heat] {
            check(&chart);
        }
    }

    #[test]
    fn empty_charts_are_drawn_and_not_a_crash() {
        let draw = |chart| (svg_of(&chart).unwrap(), png_of(&chart).unwrap());
        let text = String::new;
        let bars =
            BarChart { title: text(), caption: text(), value_axis: text(), bars: Vec::new() };
        draw(Chart::Bars(bars));
        let gantt = GanttChart {
            title: text(),
            caption: text(),
            time_axis: text(),
            rows: Vec::new(),
            spans: Vec::new(),
            legend: Vec::new(),
        };
        draw(Chart::Gantt(gantt));
        let maps = MapChart {
            title: text(),
            caption: text(),
            x: (text(), Vec::new()),
            y: (text(), Vec::new()),
            panels: Vec::new(),
        };
        draw(Chart::Maps(maps));
        let areas = AreaChart {
            title: text(),
            caption: text(),
            x_axis: text(),
            y_axis: text(),
            edges: Vec::new(),
            areas: Vec::new(),
            lines: Vec::new(),
        };
        draw(Chart::Areas(areas));
        let heat = HeatChart {
            title: text(),
            caption: text(),
            x_axis: text(),
            x: 0.0..0.0,
            y_axis: text(),
            rows: Vec::new(),
            value: text(),
        };
        draw(Chart::Heat(heat));
        for x_scale in [Scale::Linear, Scale::Log] {
            let lines = LineChart {
                title: text(),
                caption: text(),
                x_axis: text(),
                y_axis: text(),
                x_scale,
                lines: Vec::new(),
            };
            draw(Chart::Lines(lines));
        }
    }
}

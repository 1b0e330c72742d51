//! Numbers to pictures: SVG for papers, PNG for everything else, in one theme.
//!
//! In: a [`Chart`], plain data. Out: two files with the same picture. Text is drawn with a font
//! that is compiled in, so the same chart is the same bytes on every machine. The SVG tells its
//! values under the pointer. Nothing in here computes a result.

use std::fs;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend};
use thiserror::Error;

mod bars;
mod gantt;
mod lines;
mod theme;
mod values;

pub use bars::{Bar, BarChart};
pub use gantt::{GanttChart, GanttSpan};
pub use lines::{Line, LineChart, Scale, Stroke};
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
}

impl Chart {
    /// What is seen.
    pub fn title(&self) -> &str {
        match self {
            Self::Bars(chart) => &chart.title,
            Self::Lines(chart) => &chart.title,
            Self::Gantt(chart) => &chart.title,
        }
    }

    /// Definition, source and censoring.
    pub fn caption(&self) -> &str {
        match self {
            Self::Bars(chart) => &chart.caption,
            Self::Lines(chart) => &chart.caption,
            Self::Gantt(chart) => &chart.caption,
        }
    }
}

/// A chart could not be drawn or stored.
#[derive(Debug, Error)]
#[error("could not draw `{}`: {reason}", path.display())]
pub struct ChartError {
    /// The picture.
    pub path: PathBuf,
    /// Why, in the words of the drawing library.
    reason: String,
}

/// Width and height of the SVG; the PNG has twice as many pixels each way.
const SIZE: (u32, u32) = (840, 520);

/// Draws `chart` to `<stem>.svg` and `<stem>.png` in `folder`.
pub fn write_chart(chart: &Chart, folder: &Path, stem: &str) -> Result<(), ChartError> {
    let svg = folder.join(format!("{stem}.svg"));
    let fail = |path: &Path, reason: String| ChartError { path: path.to_owned(), reason };
    let text = svg_of(chart).map_err(|error| fail(&svg, error.reason))?;
    fs::write(&svg, text).map_err(|error| fail(&svg, error.to_string()))?;
    let png = folder.join(format!("{stem}.png"));
    let pixels = png_of(chart).map_err(|reason| fail(&png, reason))?;
    fs::write(&png, pixels).map_err(|error| fail(&png, error.to_string()))
}

/// Draws `chart` as the bytes of a PNG. What plotters writes by itself may be cut off by a full disk
/// without an error.
fn png_of(chart: &Chart) -> Result<Vec<u8>, String> {
    theme::register_fonts();
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
    written.map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Draws `chart` as the text of an SVG.
pub fn svg_of(chart: &Chart) -> Result<String, ChartError> {
    theme::register_fonts();
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    let places =
        draw(chart, &area, 1).map_err(|reason| ChartError { path: PathBuf::new(), reason })?;
    drop(area);
    Ok(values::with_values(&text, &places))
}

/// Draws a chart and returns what stands where.
fn draw<DB: DrawingBackend>(
    chart: &Chart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
) -> Result<Vec<Place>, String> {
    area.fill(&theme::PAPER).map_err(|error| error.to_string())?;
    let places = match chart {
        Chart::Bars(bars) => bars::draw(bars, area, zoom),
        Chart::Lines(lines) => lines::draw(lines, area, zoom),
        Chart::Gantt(gantt) => gantt::draw(gantt, area, zoom),
    }
    .map_err(|error| error.to_string())?;
    area.present().map_err(|error| error.to_string())?;
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
        for chart in [bars, lines(Scale::Linear), lines(Scale::Log), gantt] {
            let folder = tempfile::tempdir().unwrap();
            let mut bytes = Vec::new();
            for stem in ["a", "b"] {
                write_chart(&chart, folder.path(), stem).unwrap();
                bytes.push(
                    ["svg", "png"]
                        .map(|end| fs::read(folder.path().join(format!("{stem}.{end}"))).unwrap()),
                );
            }
            assert_eq!(bytes[0], bytes[1]);
            let svg = String::from_utf8(bytes[0][0].clone()).unwrap();
            assert!(svg.contains("Title") && !svg.contains("<with>"), "names are escaped");
            assert!(svg.contains("<title>"), "values are told");
        }
    }

    #[test]
    fn empty_charts_are_drawn_and_not_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let text = String::new;
        let bars =
            BarChart { title: text(), caption: text(), value_axis: text(), bars: Vec::new() };
        write_chart(&Chart::Bars(bars), folder.path(), "bars").unwrap();
        let gantt = GanttChart {
            title: text(),
            caption: text(),
            time_axis: text(),
            rows: Vec::new(),
            spans: Vec::new(),
            legend: Vec::new(),
        };
        write_chart(&Chart::Gantt(gantt), folder.path(), "gantt").unwrap();
        for x_scale in [Scale::Linear, Scale::Log] {
            let lines = LineChart {
                title: text(),
                caption: text(),
                x_axis: text(),
                y_axis: text(),
                x_scale,
                lines: Vec::new(),
            };
            write_chart(&Chart::Lines(lines), folder.path(), "lines").unwrap();
        }
    }
}

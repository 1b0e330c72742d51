//! Draws numbers as charts in one theme: SVG for web pages and papers, PDF for papers, PNG for
//! everything else. Without the feature `charts` only SVG is available.
//!
//! In: a [`Chart`], plain data, and a [`Look`]. Out: the bytes of files with the same picture. Text
//! uses an embedded font, so the same chart has the same bytes on every machine. The SVG shows its
//! values under the pointer. No result is computed here.
//!
//! ```text
//!  Chart ─► marks on a canvas ─► painters: svg, png, pdf
//! ```

use crate::faults::Fault;
use thiserror::Error;

mod areas;
mod axes;
mod bars;
mod canvas;
mod curve;
mod cuts;
pub(crate) mod dark;
mod dates;
mod durations;
mod flow;
mod forest;
mod gantt;
mod hatch;
mod heat;
mod lines;
mod maps;
mod numbers;
mod painters;
#[cfg(test)]
mod seen;
mod signs;
mod survival;
#[cfg(test)]
mod tests;
mod theme;
mod timed;
mod worth_drawing;

pub use areas::{Area, AreaChart};
pub use axes::{
    DAYS_OF_SPAN, DAYS_OF_TRACE, HOURS_OF_REPLAY, HOURS_OF_SPAN, HOURS_OF_TRACE, Scale,
};
pub use bars::{Bar, BarChart};
pub use curve::{Line, LineChart, PanelChart, Stroke};
pub use flow::{FlowChart, FlowNode, FlowWay};
pub use forest::{ForestChart, ForestColumn, Interval};
pub use gantt::{GanttChart, GanttSpan};
pub use heat::{HeatChart, HeatRow};
pub use maps::{MapChart, MapField, MapPanel};
pub use survival::{AtRisk, SurvivalChart};
pub use theme::{Look, LookError, Tone, outcome_tone};
pub use timed::TimedChart;
pub use worth_drawing::worth_drawing;

pub(crate) use axes::DAYS_FROM_S;
pub(crate) use numbers::beside_name;
pub(crate) use survival::round_times;
pub(crate) use timed::over_span;

use canvas::Canvas;

/// A chart to draw.
#[derive(Clone, Debug)]
pub enum Chart {
    /// Horizontal bars.
    Bars(BarChart),
    /// The same as dots on a logarithmic axis, for values that span powers of ten.
    LogBars(BarChart),
    /// Curves.
    Lines(LineChart),
    /// Curves in several plots.
    Panels(PanelChart),
    /// Bars over time in rows.
    Gantt(GanttChart),
    /// Small maps side by side.
    Maps(MapChart),
    /// Areas stacked over time.
    Areas(AreaChart),
    /// A cell per row and column.
    Heat(HeatChart),
    /// Values with intervals, in rows and columns.
    Forest(ForestChart),
    /// Survival curves and numbers at risk.
    Survival(SurvivalChart),
    /// Bands from stage to stage.
    Flow(FlowChart),
    /// A chart over time with dates, which marks the times that are not in the log.
    Timed(TimedChart),
}

impl Chart {
    /// The title.
    pub fn title(&self) -> &str {
        match self {
            Self::Bars(chart) | Self::LogBars(chart) => &chart.title,
            Self::Lines(chart) => &chart.title,
            Self::Panels(chart) => &chart.title,
            Self::Gantt(chart) => &chart.title,
            Self::Maps(chart) => &chart.title,
            Self::Areas(chart) => &chart.title,
            Self::Heat(chart) => &chart.title,
            Self::Forest(chart) => &chart.title,
            Self::Survival(chart) => &chart.plot.title,
            Self::Flow(chart) => &chart.title,
            Self::Timed(own) => own.chart.title(),
        }
    }

    /// Definition, source and censoring.
    pub fn caption(&self) -> &str {
        match self {
            Self::Bars(chart) | Self::LogBars(chart) => &chart.caption,
            Self::Lines(chart) => &chart.caption,
            Self::Panels(chart) => &chart.caption,
            Self::Gantt(chart) => &chart.caption,
            Self::Maps(chart) => &chart.caption,
            Self::Areas(chart) => &chart.caption,
            Self::Heat(chart) => &chart.caption,
            Self::Forest(chart) => &chart.caption,
            Self::Survival(chart) => &chart.plot.caption,
            Self::Flow(chart) => &chart.caption,
            Self::Timed(own) => own.chart.caption(),
        }
    }

    fn caption_mut(&mut self) -> &mut String {
        match self {
            Self::Bars(chart) | Self::LogBars(chart) => &mut chart.caption,
            Self::Lines(chart) => &mut chart.caption,
            Self::Panels(chart) => &mut chart.caption,
            Self::Gantt(chart) => &mut chart.caption,
            Self::Maps(chart) => &mut chart.caption,
            Self::Areas(chart) => &mut chart.caption,
            Self::Heat(chart) => &mut chart.caption,
            Self::Forest(chart) => &mut chart.caption,
            Self::Survival(chart) => &mut chart.plot.caption,
            Self::Flow(chart) => &mut chart.caption,
            Self::Timed(own) => own.chart.caption_mut(),
        }
    }

    /// Adds a sentence at the end of the caption, unless the caption already has it.
    fn say(&mut self, sentence: &str) {
        let caption = self.caption_mut();
        if !sentence.is_empty() && !caption.contains(sentence) {
            let space = if caption.is_empty() { "" } else { " " };
            *caption = format!("{caption}{space}{sentence}");
        }
    }

    /// The same chart with the tables and hours that it covers at the end of its caption. If the
    /// caption already has them, nothing is added.
    #[must_use]
    pub fn about(mut self, scope: &str) -> Self {
        if !scope.is_empty() && !self.caption().contains(scope) {
            self.say(&format!("Tables: {scope}."));
        }
        self
    }

    /// The same chart over time with gaps. They are in the unit of its lower axis, in order and
    /// without overlap; `said` explains them in the caption. `since_s` is the instant at 0 of the
    /// axis, in seconds since 1970, if dates are known. Without gaps and `since_s` the chart stays
    /// as it is.
    #[must_use]
    pub fn over_time(mut self, gaps: Vec<[f64; 2]>, said: &str, since_s: Option<f64>) -> Self {
        if gaps.is_empty() && since_s.is_none() {
            return self;
        }
        if !gaps.is_empty() {
            self.say(said);
        }
        Self::Timed(TimedChart { chart: Box::new(self), gaps, whole_from: None, since_s })
    }

    /// The same chart over time, in which the values before `whole_from` are shaded, because the
    /// log lacks the jobs that had ended. `whole_from` is in the unit of the lower axis; `said`
    /// explains the shading in the caption.
    #[must_use]
    pub fn whole_from(mut self, whole_from: f64, said: &str) -> Self {
        self.say(said);
        let whole_from = Some(whole_from);
        match self {
            Self::Timed(own) => Self::Timed(TimedChart { whole_from, ..own }),
            own => {
                let chart = Box::new(own);
                Self::Timed(TimedChart { chart, gaps: Vec::new(), whole_from, since_s: None })
            }
        }
    }
}

/// A chart could not be drawn.
#[derive(Debug, Error)]
#[error("could not draw `{title}`: {reason}")]
pub struct ChartError {
    /// The title of the chart.
    pub title: String,
    /// The message of the drawing library.
    reason: String,
}

impl Fault for ChartError {}

/// The file format of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ChartFormat {
    /// Scalable, for web pages and papers; text can be selected and searched
    Svg,
    /// Pixels
    Png,
    /// Scalable, for papers; text can be selected and searched
    Pdf,
}

impl ChartFormat {
    /// All formats.
    pub(crate) const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// The default formats of a stored chart, including PNG if this build can draw it.
    pub(crate) const USUAL: &[Self] =
        if cfg!(feature = "charts") { &[Self::Svg, Self::Png] } else { &[Self::Svg] };

    /// The file extension.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }
}

/// Draws `chart` and returns the bytes of a file. A library that writes files itself may truncate
/// them on a full disk without reporting an error.
pub fn file_of(chart: &Chart, look: Look, format: ChartFormat) -> Result<Vec<u8>, ChartError> {
    let fail = |reason: String| ChartError { title: chart.title().to_owned(), reason };
    let canvas = drawn(chart, look);
    match format {
        ChartFormat::Svg => Ok(painters::svg(&canvas).into_bytes()),
        #[cfg(feature = "charts")]
        ChartFormat::Png => painters::png(&canvas).map_err(|error| fail(error.to_string())),
        #[cfg(feature = "charts")]
        ChartFormat::Pdf => painters::pdf(&canvas).map_err(|error| fail(error.to_string())),
        #[cfg(not(feature = "charts"))]
        ChartFormat::Png | ChartFormat::Pdf => Err(fail(format!(
            "jobfate was compiled without the feature `charts`, which draws {} files; SVG needs no \
             feature",
            format.ending()
        ))),
    }
}

/// Draws `chart` for a page, as the text of an SVG.
pub fn svg_of(chart: &Chart) -> String {
    painters::svg(&drawn(chart, Look::SCREEN))
}

/// A chart as marks.
fn drawn(chart: &Chart, look: Look) -> Canvas {
    let mut canvas = Canvas::new(look);
    match chart {
        Chart::Timed(own) => {
            canvas.gaps.clone_from(&own.gaps);
            canvas.whole_from = own.whole_from;
            canvas.since_s = own.since_s;
            draw(&own.known(), &mut canvas);
            cuts::explain(&mut canvas);
        }
        chart => draw(chart, &mut canvas),
    }
    canvas
}

fn draw(chart: &Chart, canvas: &mut Canvas) {
    match chart {
        Chart::Bars(bars) => bars::draw(bars, Scale::Linear, canvas),
        Chart::LogBars(bars) => bars::draw(bars, Scale::Log, canvas),
        Chart::Lines(lines) => lines::draw(lines, canvas),
        Chart::Panels(panels) => lines::draw_panels(panels, canvas),
        Chart::Gantt(gantt) => gantt::draw(gantt, canvas),
        Chart::Maps(maps) => maps::draw(maps, canvas),
        Chart::Areas(areas) => areas::draw(areas, canvas),
        Chart::Heat(heat) => heat::draw(heat, canvas),
        Chart::Forest(forest) => forest::draw(forest, canvas),
        Chart::Survival(own) => survival::draw(own, canvas),
        Chart::Flow(flow) => flow::draw(flow, canvas),
        Chart::Timed(own) => draw(&own.known(), canvas),
    }
}

/// The drawing without title and caption, for a page that writes these itself: the SVG text, and
/// the remaining size. `None` if the SVG was not written by this program.
pub(crate) fn without_head(svg: &str) -> Option<(String, [f64; 2])> {
    let (tag, rest) = svg.split_once('>')?;
    let [width, height] = size_of(svg)?;
    let (_, view) = tag.split_once(" viewBox=\"0 ")?;
    let above: f64 = view.split_once(' ')?.0.parse().ok()?;
    let rest = match rest.split_once(painters::HEAD) {
        Some((before, after)) => format!("{before}{}", after.split_once("</g>\n")?.1),
        None => rest.to_owned(),
    };
    Some((rest, [width, height + above]))
}

/// The text of an SVG written by this program, without the values under the pointer. It is for a
/// file next to a page that has these values.
pub(crate) fn without_values(svg: &str) -> String {
    let before = svg.split_once(painters::VALUES).filter(|(_, rest)| rest.ends_with(painters::END));
    before.map_or_else(|| svg.to_owned(), |(before, _)| format!("{before}{}", painters::END))
}

/// Width and height of an SVG written by this program, CSS pixels.
pub(crate) fn size_of(svg: &str) -> Option<[f64; 2]> {
    let (tag, _) = svg.split_once('>')?;
    let size = |name: &str| -> Option<f64> {
        let (_, value) = tag.split_once(&format!(" {name}=\""))?;
        value.split_once('"')?.0.parse().ok()
    };
    Some([size("width")?, size("height")?])
}

/// Width and height of a PNG, pixels, read from its first chunk.
pub(crate) fn size_of_png(bytes: &[u8]) -> Option<[f64; 2]> {
    let number = |at: usize| -> Option<f64> {
        let bytes: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(f64::from(u32::from_be_bytes(bytes)))
    };
    bytes.starts_with(b"\x89PNG").then_some([number(16)?, number(20)?])
}

/// The name, if it is not empty, and a line for each amount. On an axis of dates, an amount is
/// written as a date.
fn says(name: &str, amounts: &[(&str, f64)], since_s: Option<f64>) -> String {
    let name = Some(name.to_owned()).filter(|name| !name.is_empty());
    let amounts = amounts.iter().map(|(what, amount)| {
        if let Some(date) = axes::date_of(what, *amount, since_s) {
            return format!("time: {date}");
        }
        let what = axes::beside_values(what);
        let (what, amount) = durations::beside(&what, *amount, beside_name);
        format!("{what}: {amount}")
    });
    name.into_iter().chain(amounts).collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod own_tests {
    use super::*;

    #[test]
    fn a_picture_without_its_values_is_the_same_picture() {
        let bar = Bar {
            label: "a </g>".to_owned(),
            value: 1.0,
            note: "</g>\n".to_owned(),
            tone: Tone::Blue,
            part: None,
        };
        let text = String::new;
        let bars = BarChart { title: text(), caption: text(), value_axis: text(), bars: vec![bar] };
        let svg = svg_of(&Chart::Bars(bars));
        let plain = without_values(&svg);
        assert!(svg.contains("<title>") && !plain.contains("<title>"), "{plain}");
        assert_eq!(plain.matches("<g").count(), plain.matches("</g>").count());
        assert!(plain.ends_with("</g>\n</svg>\n") && plain.contains("<rect"));
        assert_eq!(without_values(&plain), plain);
    }
}

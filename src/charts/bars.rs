//! Horizontal bars with their values written beside them.

use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, Color, DrawingArea, DrawingAreaErrorKind, DrawingBackend, FontFamily, IntoFont,
    Rectangle, Text, TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::theme::{self, Tone};
use super::values::{self, Place, Shape};

/// Horizontal bars from 0.
#[derive(Clone, Debug)]
pub struct BarChart {
    /// What is seen.
    pub title: String,
    /// Definition and source, below the title.
    pub caption: String,
    /// What the length of a bar is, with its unit.
    pub value_axis: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Name, to the left.
    pub label: String,
    /// Length, not below 0.
    pub value: f64,
    /// Text at its end.
    pub note: String,
    /// Colour.
    pub tone: Tone,
}

pub(super) fn font<'a>(size: u32, zoom: u32, color: &impl Color) -> TextStyle<'a> {
    (FontFamily::SansSerif, size * zoom).into_font().color(color)
}

/// Writes title and caption and returns the area that is left.
pub(super) fn head<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    title: &str,
    caption: &str,
    zoom: u32,
) -> Result<DrawingArea<DB, Shift>, DrawingAreaErrorKind<DB::ErrorType>> {
    let z = i32::try_from(zoom).expect("a zoom is small");
    area.draw(&Text::new(
        title.to_owned(),
        (16 * z, 14 * z),
        font(theme::TITLE, zoom, &theme::INK),
    ))?;
    let lines = wrap(caption, 118);
    for (idx, line) in (0_i32..).zip(&lines) {
        let at = (16 * z, (40 + 16 * idx) * z);
        area.draw(&Text::new(line.clone(), at, font(theme::TEXT - 1, zoom, &theme::FAINT)))?;
    }
    let used = 48 + 16 * i32::try_from(lines.len()).expect("a caption is short");
    Ok(area.split_vertically(used * z).1)
}

/// Breaks a text at spaces into lines of at most `width` letters.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Widths of a letter of a note and of a name, at zoom 1.
const NOTE_LETTER: u32 = 7;
const LABEL_LETTER: u32 = 8;

/// Room at the left for the longest name, at zoom 1.
fn label_width<'b>(labels: impl Iterator<Item = &'b str>) -> u32 {
    letters(labels) * LABEL_LETTER + 24
}

fn letters<'b>(texts: impl Iterator<Item = &'b str>) -> u32 {
    let most = texts.map(|text| text.chars().count()).max().unwrap_or(0);
    u32::try_from(most).expect("names and notes are short")
}

/// A chart of named rows: room for the longest name at the left, for the time or value below.
pub(super) fn rows_builder<'a, 'b, DB: DrawingBackend>(
    area: &'a DrawingArea<DB, Shift>,
    labels: impl Iterator<Item = &'b str>,
    zoom: u32,
) -> ChartBuilder<'a, 'b, DB> {
    let label_width = label_width(labels);
    let mut builder = ChartBuilder::on(area);
    builder
        .margin(8 * zoom)
        .margin_right(44 * zoom)
        .x_label_area_size(44 * zoom)
        .y_label_area_size(label_width * zoom);
    builder
}

pub(super) fn draw<DB: DrawingBackend>(
    chart: &BarChart,
    area: &DrawingArea<DB, Shift>,
    zoom: u32,
) -> Result<Vec<Place>, DrawingAreaErrorKind<DB::ErrorType>> {
    let area = head(area, &chart.title, &chart.caption, zoom)?;
    let longest = chart.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    // Room for the longest note behind the longest bar.
    let labels = || chart.bars.iter().map(|bar| bar.label.as_str());
    let note = letters(chart.bars.iter().map(|bar| bar.note.as_str())) * NOTE_LETTER;
    let width = super::SIZE.0.saturating_sub(label_width(labels()) + 40).max(1);
    let note = f64::from(note) / f64::from(width);
    let reach =
        if longest == 0.0 { 1.0 } else { longest * (1.0 / (1.0 - note.min(0.8))).max(1.28) };
    let count = i32::try_from(chart.bars.len().max(1)).expect("a chart has few bars");
    let mut builder = rows_builder(&area, labels(), zoom);
    let mut plot = builder.build_cartesian_2d(0.0..reach, (f64::from(count) - 0.5)..-0.5)?;
    plot.configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_labels(6)
        .x_desc(chart.value_axis.clone())
        .x_label_formatter(&|value| theme::axis_number(*value))
        .label_style(font(theme::TEXT, zoom, &theme::INK))
        .axis_desc_style(font(theme::TEXT, zoom, &theme::INK))
        .bold_line_style(theme::GRID)
        .light_line_style(theme::PAPER)
        .axis_style(theme::INK)
        .draw()?;
    let mut places = Vec::new();
    for (idx, bar) in (0_i32..).zip(&chart.bars) {
        let middle = f64::from(idx);
        let body = [(0.0, middle - 0.32), (bar.value, middle + 0.32)];
        // The whole row, so that a short bar is found as well.
        let (left, top) = plot.backend_coord(&(0.0, middle - 0.32));
        let (right, bottom) = plot.backend_coord(&(reach, middle + 0.32));
        let mut says = values::says(&bar.label, &[(&chart.value_axis, bar.value)]);
        if !bar.note.is_empty() {
            says.push('\n');
            says.push_str(&bar.note);
        }
        places.push(Place { shape: Shape::Area(left, top, right, bottom), says });
        plot.draw_series([Rectangle::new(body, bar.tone.color().filled())])?;
        let style = font(theme::TEXT, zoom, &theme::INK).pos(Pos::new(HPos::Left, VPos::Center));
        plot.draw_series([Text::new(format!("\u{a0}{}", bar.note), (bar.value, middle), style)])?;
        let style = font(theme::TEXT, zoom, &theme::INK).pos(Pos::new(HPos::Right, VPos::Center));
        let at = plot.backend_coord(&(0.0, middle));
        let gap = i32::try_from(8 * zoom).expect("a zoom is small");
        let (left, top) = area.get_base_pixel();
        area.draw(&Text::new(bar.label.clone(), (at.0 - left - gap, at.1 - top), style))?;
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_are_wrapped_at_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert!(wrap("", 7).is_empty());
    }
}

//! Draws a picture as PNG with plotters and the embedded font: the same bytes on every machine.

use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, Circle, Color, DrawingArea, FontStyle, IntoDrawingArea, IntoFont, PathElement,
    Polygon, RGBAColor, RGBColor, Rectangle, Text, TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontFamily, FontTransform, register_font};

use crate::charts::canvas::{Align, At, Canvas, FONT_BYTES, Mark, face};
use crate::charts::theme::{Dash, Ink};

type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// An error of the library.
type Failed = Box<dyn std::error::Error>;

/// The bytes of the file.
pub(in crate::charts) fn png(canvas: &Canvas) -> Result<Vec<u8>, Failed> {
    static FONTS: Once = Once::new();
    FONTS.call_once(|| {
        register_font("sans-serif", FontStyle::Normal, FONT_BYTES)
            .unwrap_or_else(|_| unreachable!("the font is compiled in and covered by a test"));
    });
    let zoom = canvas.look.zoom;
    let above = canvas.head_height;
    let (width, height) =
        (pixels(canvas.look.width * zoom), pixels((above + canvas.height) * zoom));
    let (width, height) = (width.unsigned_abs().max(1), height.unsigned_abs().max(1));
    let mut raw = vec![0; (width * height * 3) as usize];
    let area = BitMapBackend::with_buffer(&mut raw, (width, height)).into_drawing_area();
    area.fill(&RGBColor(255, 255, 255))?;
    let painter = Painter { area: &area, zoom, above };
    canvas.head.iter().chain(&canvas.marks).try_for_each(|mark| painter.paint(mark))?;
    area.present()?;
    drop(area);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(&raw)?;
    Ok(bytes)
}

#[expect(clippy::cast_possible_truncation, reason = "a picture has few pixels")]
fn pixels(length: f64) -> i32 {
    length.round() as i32
}

fn rgba(ink: Ink) -> RGBAColor {
    let (red, green, blue) = ink.color;
    RGBColor(red, green, blue).mix(ink.opacity)
}

struct Painter<'a, 'b> {
    area: &'a Area<'b>,
    zoom: f64,
    /// Pixels above height 0, before zooming.
    above: f64,
}

impl Painter<'_, '_> {
    fn at(&self, at: At) -> (i32, i32) {
        (pixels(at.0 * self.zoom), pixels((at.1 + self.above) * self.zoom))
    }

    fn all(&self, points: &[At]) -> Vec<(i32, i32)> {
        points.iter().map(|&at| self.at(at)).collect()
    }

    fn wide(&self, width: f64) -> u32 {
        pixels(width * self.zoom).max(1).unsigned_abs()
    }

    fn paint(&self, mark: &Mark) -> Result<(), Failed> {
        match mark {
            Mark::Path { points, width, dash, ink } => {
                let stroke = rgba(*ink).stroke_width(self.wide(*width));
                for piece in dashes(points, *width, dash) {
                    self.area.draw(&PathElement::new(self.all(&piece), stroke))?;
                }
            }
            Mark::Strokes { strokes, width, ink } => {
                let style = rgba(*ink).stroke_width(self.wide(*width));
                for stroke in strokes {
                    self.area.draw(&PathElement::new(self.all(stroke), style))?;
                }
            }
            Mark::Area { points, ink } => {
                self.area.draw(&Polygon::new(self.all(points), rgba(*ink).filled()))?;
            }
            Mark::Box { at, size, ink } => {
                let corners = [self.at(*at), self.at((at.0 + size.0, at.1 + size.1))];
                // A rectangle includes its edges.
                let end = (corners[1].0 - 1, corners[1].1 - 1);
                let corners = [corners[0], (end.0.max(corners[0].0), end.1.max(corners[0].1))];
                self.area.draw(&Rectangle::new(corners, rgba(*ink).filled()))?;
            }
            Mark::Dot { at, radius, ink } => {
                let radius = pixels(radius * self.zoom);
                self.area.draw(&Circle::new(self.at(*at), radius, rgba(*ink).filled()))?;
            }
            Mark::Ring { at, radius, width, ink } => {
                let stroke = rgba(*ink).stroke_width(self.wide(*width));
                let radius = pixels(radius * self.zoom);
                self.area.draw(&Circle::new(self.at(*at), radius, stroke))?;
            }
            Mark::Text { at, text, size, align, is_turned, ink } => {
                let style = self.style(*size, *align, *is_turned, *ink);
                // The library positions text by its upper edge.
                let face = face();
                let up = f64::from(face.ascender()) / f64::from(face.units_per_em()) * size;
                let at = if *is_turned { (at.0 - up, at.1) } else { (at.0, at.1 - up) };
                self.area.draw(&Text::new(text.as_str(), self.at(at), style))?;
            }
        }
        Ok(())
    }

    fn style(&self, size: f64, align: Align, is_turned: bool, ink: Ink) -> TextStyle<'static> {
        let face = face();
        // The library measures from the lowest to the highest letter.
        let whole = f64::from(face.height()) / f64::from(face.units_per_em());
        let across = match align {
            Align::Left => HPos::Left,
            Align::Middle => HPos::Center,
            Align::Right => HPos::Right,
        };
        let font = (FontFamily::SansSerif, size * whole * self.zoom).into_font();
        let font = if is_turned { font.transform(FontTransform::Rotate270) } else { font };
        font.color(&rgba(ink)).pos(Pos::new(across, VPos::Top))
    }
}

/// The drawn pieces of a dashed line.
fn dashes(points: &[At], width: f64, dash: Dash) -> Vec<Vec<At>> {
    if dash.is_empty() {
        return vec![points.to_vec()];
    }
    let (mut all, mut piece) = (Vec::new(), Vec::new());
    let mut lengths = dash.iter().map(|length| length * width).cycle().enumerate();
    let (mut number, mut left) = lengths.next().unwrap_or((0, f64::INFINITY));
    for (&from, &to) in points.iter().zip(points.iter().skip(1)) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut done = 0.0;
        if piece.is_empty() && number % 2 == 0 {
            piece.push(from);
        }
        while left < length - done {
            done += left;
            let share = done / length;
            let at = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            piece.push(at);
            if number % 2 == 0 {
                all.push(std::mem::take(&mut piece));
            }
            (number, left) = lengths.next().unwrap_or((0, f64::INFINITY));
        }
        left -= length - done;
        if number % 2 == 0 {
            piece.push(to);
        } else {
            piece.clear();
        }
    }
    if 1 < piece.len() {
        all.push(piece);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dashed_line_is_drawn_in_pieces_around_corners() {
        let line = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)];
        assert_eq!(dashes(&line, 1.0, &[]), [line.to_vec()]);
        assert_eq!(
            dashes(&line, 2.0, &[3.0, 1.0]),
            [
                vec![(0.0, 0.0), (6.0, 0.0)],
                vec![(8.0, 0.0), (10.0, 0.0), (10.0, 4.0)],
                vec![(10.0, 6.0), (10.0, 10.0)]
            ]
        );
    }
}

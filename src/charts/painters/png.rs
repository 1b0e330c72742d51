//! Draws a picture as PNG with plotters and the embedded font: the same bytes on every machine.
//!
//! Text is drawn letter by letter here. Plotters would put each letter on a whole pixel, and would
//! put the baseline at half the height of the font, whatever the ascender of the font is.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, Circle, Color, DrawingArea, IntoDrawingArea, PathElement, Polygon, RGBAColor,
    RGBColor, Rectangle,
};

use crate::charts::canvas::{Align, At, Canvas, FONT_BYTES, Mark, width_of};
use crate::charts::theme::{Dash, Ink};

type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// An error of the library.
type Failed = Box<dyn std::error::Error>;

/// The bytes of the file.
pub(in crate::charts) fn png(canvas: &Canvas) -> Result<Vec<u8>, Failed> {
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
    // Without a resolution, programs assume 72 or 96 dots per inch: a chart of 3.3 in would be 13
    // in wide.
    let per_meter = pixels(96.0 * zoom / 0.0254).unsigned_abs();
    let dots = png::PixelDimensions { xppu: per_meter, yppu: per_meter, unit: png::Unit::Meter };
    encoder.set_pixel_dims(Some(dots));
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

/// The font, parsed once.
fn font() -> &'static FontRef<'static> {
    static FONT: OnceLock<FontRef<'static>> = OnceLock::new();
    FONT.get_or_init(|| {
        FontRef::try_from_slice(FONT_BYTES)
            .unwrap_or_else(|_| unreachable!("the font is compiled in and covered by a test"))
    })
}

struct Painter<'a, 'b> {
    area: &'a Area<'b>,
    zoom: f64,
    /// The height of the part above height 0 in pixels, before zooming.
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
                let width = width_of(text, *size);
                let left = match align {
                    Align::Left => 0.0,
                    Align::Middle => width / 2.0,
                    Align::Right => width,
                };
                let begin = if *is_turned { (at.0, at.1 + left) } else { (at.0 - left, at.1) };
                self.text(begin, text, *size, *is_turned, *ink)?;
            }
        }
        Ok(())
    }

    /// Draws a text whose baseline begins at a point and goes right, or up if it is turned.
    fn text(
        &self,
        begin: At,
        text: &str,
        size: f64,
        is_turned: bool,
        ink: Ink,
    ) -> Result<(), Failed> {
        let begin = (begin.0 * self.zoom, (begin.1 + self.above) * self.zoom);
        // The positions along the text and across it; across counts downwards.
        let (along, across) = if is_turned { (-begin.1, begin.0) } else { begin };
        let font = font();
        let per_em = f64::from(font.units_per_em().unwrap_or(1000.0));
        let whole = f64::from(font.height_unscaled()) / per_em;
        let scale = PxScale::from(narrow(size * whole * self.zoom));
        let scaled = font.as_scaled(scale);
        let (mut x, y) = (narrow(along), narrow(across));
        let color = rgba(ink);
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            let Some(outline) = font.outline_glyph(id.with_scale_and_position(scale, point(x, y)))
            else {
                x += scaled.h_advance(id);
                continue;
            };
            x += scaled.h_advance(id);
            let corner = outline.px_bounds().min;
            let corner = (pixels(f64::from(corner.x)), pixels(f64::from(corner.y)));
            let mut drawn = Ok(());
            outline.draw(|right, down, cover| {
                let (along, across) =
                    (corner.0 + right.cast_signed(), corner.1 + down.cast_signed());
                let at = if is_turned { (across, -along - 1) } else { (along, across) };
                let color = color.mix(f64::from(cover).min(1.0));
                if drawn.is_ok() {
                    drawn = self.area.draw_pixel(at, &color);
                }
            });
            drawn?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a picture has few pixels")]
fn narrow(length: f64) -> f32 {
    length as f32
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
    use crate::charts::theme::Look;

    /// The dark pixels of a text: first and last column, first and last row.
    fn inked(text: &str, at: At, align: Align, is_turned: bool) -> [u32; 4] {
        let mut canvas = Canvas::new(Look { width: 100.0, zoom: 1.0, ..Look::default() });
        canvas.height = 100.0;
        let (text, size, ink) = (text.to_owned(), 20.0, Ink::of(0, 0, 0));
        canvas.marks.push(Mark::Text { at, text, size, align, is_turned, ink });
        let bytes = png(&canvas).unwrap();
        let mut reader = png::Decoder::new(bytes.as_slice()).read_info().unwrap();
        let mut raw = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut raw).unwrap();
        let dark = (0_u32..).zip(raw.chunks(3)).filter(|(_, color)| color[0] < 100);
        dark.fold([u32::MAX, 0, u32::MAX, 0], |[left, right, top, bottom], (place, _)| {
            let (x, y) = (place % info.width, place / info.width);
            [left.min(x), right.max(x), top.min(y), bottom.max(y)]
        })
    }

    #[test]
    fn a_text_stands_on_its_baseline_and_is_aligned_by_its_width() {
        let wide = width_of("HH", 20.0);
        let near = |found: u32, expected: f64| (f64::from(found) - expected).abs() <= 3.5;
        for (align, left) in
            [(Align::Left, 50.0), (Align::Middle, 50.0 - wide / 2.0), (Align::Right, 50.0 - wide)]
        {
            let [first, last, top, bottom] = inked("HH", (50.0, 60.0), align, false);
            assert_eq!(bottom, 59, "{align:?}");
            assert!(near(first, left) && near(last, left + wide), "{align:?}: {first} to {last}");
            // A capital of this font is 0.73 times as high as its em.
            assert!(near(top, 60.0 - 14.6), "{top}");
            let [_, last, top, bottom] = inked("HH", (60.0, 50.0), align, true);
            assert_eq!(last, 59, "{align:?}");
            let low = 100.0 - left;
            assert!(near(bottom, low) && near(top, low - wide), "{align:?}: {top} to {bottom}");
        }
        // A text without capitals has the same baseline.
        assert_eq!(inked("xx", (50.0, 60.0), Align::Left, false)[3], 59);
    }

    #[test]
    fn a_png_says_how_many_dots_an_inch_has() {
        // 384 dots per inch are 15,118.1 per metre, and 192 are 7,559.1.
        for (look, per_meter) in
            [(Look::paper(3.3).expect("a width of papers"), 15_118), (Look::SCREEN, 7_559)]
        {
            let mut canvas = Canvas::new(look);
            canvas.height = 10.0;
            let bytes = png(&canvas).unwrap();
            let reader = png::Decoder::new(bytes.as_slice()).read_info().unwrap();
            let dots = reader.info().pixel_dims.expect("a chunk pHYs");
            assert_eq!((dots.xppu, dots.yppu), (per_meter, per_meter));
            assert_eq!(dots.unit, png::Unit::Meter);
        }
    }

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

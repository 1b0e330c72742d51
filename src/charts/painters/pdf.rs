//! Draws a picture as PDF: one page of its size, with text in an embedded font.

use std::collections::BTreeMap;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{
    CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap,
};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};

use crate::charts::canvas::{Align, At, Canvas, FONT_BYTES, Mark, face, glyph, width_of};
use crate::charts::theme::Ink;

/// PDF points per CSS pixel.
const POINT: f64 = 0.75;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const FONT: Ref = Ref::new(5);
const CID_FONT: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const FONT_FILE: Ref = Ref::new(8);
const TO_UNICODE: Ref = Ref::new(9);
/// Object number of the first opacity; the others follow.
const OPACITY: i32 = 10;

const FONT_NAME: Name<'static> = Name(b"DejaVuSans");
const SYSTEM: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The bytes of the file.
pub(in crate::charts) fn pdf(canvas: &Canvas) -> std::io::Result<Vec<u8>> {
    let (width, height) = (canvas.look.width, canvas.head_height + canvas.height);
    let mut painter = Painter::new(canvas.head_height, height);
    canvas.head.iter().chain(&canvas.marks).for_each(|mark| painter.paint(mark));
    let Painter { content, opacities, letters, .. } = painter;
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut page = pdf.page(PAGE);
    page.parent(PAGES).contents(CONTENT);
    page.media_box(Rect::new(0.0, 0.0, points(width), points(height)));
    let mut resources = page.resources();
    resources.fonts().pair(Name(b"F"), FONT);
    let mut states = resources.ext_g_states();
    for (name, id) in opacities.values().zip(OPACITY..) {
        states.pair(Name(name.as_bytes()), Ref::new(id));
    }
    states.finish();
    resources.finish();
    page.finish();
    for (percent, id) in opacities.keys().zip(OPACITY..) {
        let opacity = f32::from(*percent) / 100.0;
        pdf.ext_graphics(Ref::new(id)).non_stroking_alpha(opacity).stroking_alpha(opacity);
    }
    pdf.stream(CONTENT, &deflated(&content.finish())?).filter(Filter::FlateDecode);
    write_font(&mut pdf, &letters)?;
    Ok(pdf.finish())
}

#[expect(clippy::cast_possible_truncation, reason = "a length on paper")]
fn points(length: f64) -> f32 {
    (length * POINT) as f32
}

fn deflated(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    use std::io::Write;

    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Embeds the font, with the characters of the letters that are used.
fn write_font(pdf: &mut Pdf, letters: &BTreeMap<u16, char>) -> std::io::Result<()> {
    let face = face();
    let per_em = 1000.0 / f32::from(face.units_per_em());
    let mut font = pdf.type0_font(FONT);
    font.base_font(FONT_NAME).encoding_predefined(Name(b"Identity-H"));
    font.descendant_font(CID_FONT).to_unicode(TO_UNICODE);
    font.finish();
    let mut cid = pdf.cid_font(CID_FONT);
    cid.subtype(CidFontType::Type2).base_font(FONT_NAME).system_info(SYSTEM);
    cid.font_descriptor(DESCRIPTOR).default_width(0.0);
    cid.cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid.widths();
    for (id, letter) in letters {
        #[expect(clippy::cast_possible_truncation, reason = "thousandths")]
        widths.same(*id, *id, (glyph(*letter).1 * 1000.0) as f32);
    }
    widths.finish();
    cid.finish();
    let bounds = face.global_bounding_box();
    let scaled = |value: i16| f32::from(value) * per_em;
    pdf.font_descriptor(DESCRIPTOR)
        .name(FONT_NAME)
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(
            scaled(bounds.x_min),
            scaled(bounds.y_min),
            scaled(bounds.x_max),
            scaled(bounds.y_max),
        ))
        .italic_angle(0.0)
        .ascent(scaled(face.ascender()))
        .descent(scaled(face.descender()))
        .cap_height(scaled(face.capital_height().unwrap_or_else(|| face.ascender())))
        .stem_v(80.0)
        .font_file2(FONT_FILE);
    let length = i32::try_from(FONT_BYTES.len()).expect("a font is small");
    let bytes = deflated(FONT_BYTES)?;
    pdf.stream(FONT_FILE, &bytes).filter(Filter::FlateDecode).pair(Name(b"Length1"), length);
    let mut meaning = UnicodeCmap::new(Name(b"Letters"), SYSTEM);
    for (id, letter) in letters {
        meaning.pair(*id, *letter);
    }
    pdf.cmap(TO_UNICODE, &meaning.finish());
    Ok(())
}

struct Painter {
    content: Content,
    /// The height of the part above height 0, and that of the whole picture, pixels: a PDF counts
    /// upwards.
    above: f64,
    height: f64,
    /// Opacities in percent, with the names of their graphics states.
    opacities: BTreeMap<u8, String>,
    /// The letter for each glyph.
    letters: BTreeMap<u16, char>,
}

impl Painter {
    fn new(above: f64, height: f64) -> Self {
        let mut content = Content::new();
        content.set_line_cap(LineCapStyle::ButtCap).set_line_join(LineJoinStyle::RoundJoin);
        let (opacities, letters) = Default::default();
        Self { content, above, height, opacities, letters }
    }

    fn at(&self, (x, y): At) -> (f32, f32) {
        (points(x), points(self.height - self.above - y))
    }

    fn set(&mut self, ink: Ink) {
        let rgb = |one: u8| f32::from(one) / 255.0;
        let (red, green, blue) = ink.color;
        let (red, green, blue) = (rgb(red), rgb(green), rgb(blue));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let percent = (ink.opacity * 100.0).round() as u8;
        let name = self.opacities.entry(percent).or_insert_with(|| format!("A{percent}"));
        self.content.set_parameters(Name(name.as_bytes()));
        self.content.set_fill_rgb(red, green, blue).set_stroke_rgb(red, green, blue);
    }

    fn trace(&mut self, of: &[At]) {
        for (idx, &at) in of.iter().enumerate() {
            let (x, y) = self.at(at);
            if idx == 0 {
                self.content.move_to(x, y);
            } else {
                self.content.line_to(x, y);
            }
        }
    }

    /// Draws a circle as four curves.
    fn circle(&mut self, at: At, radius: f64) {
        // Length of the handles of a quarter circle, in radii.
        const HANDLE: f32 = 0.552_285;
        let ((x, y), r) = (self.at(at), points(radius));
        let h = r * HANDLE;
        self.content.move_to(x + r, y);
        self.content.cubic_to(x + r, y + h, x + h, y + r, x, y + r);
        self.content.cubic_to(x - h, y + r, x - r, y + h, x - r, y);
        self.content.cubic_to(x - r, y - h, x - h, y - r, x, y - r);
        self.content.cubic_to(x + h, y - r, x + r, y - h, x + r, y);
        self.content.close_path();
    }

    fn paint(&mut self, mark: &Mark) {
        match mark {
            Mark::Path { points: at, width, dash, ink } => {
                self.set(*ink);
                self.content.set_line_width(points(*width));
                self.content.set_dash_pattern(dash.iter().map(|one| points(one * width)), 0.0);
                self.trace(at);
                self.content.stroke();
            }
            Mark::Strokes { strokes, width, ink } => {
                self.set(*ink);
                self.content.set_line_width(points(*width)).set_dash_pattern([], 0.0);
                for stroke in strokes {
                    self.trace(stroke);
                }
                self.content.stroke();
            }
            Mark::Area { points: at, ink } => {
                self.set(*ink);
                self.trace(at);
                self.content.close_path().fill_nonzero();
            }
            Mark::Box { at, size, ink } => {
                self.set(*ink);
                let (x, y) = self.at((at.0, at.1 + size.1));
                self.content.rect(x, y, points(size.0), points(size.1)).fill_nonzero();
            }
            Mark::Dot { at, radius, ink } => {
                self.set(*ink);
                self.circle(*at, *radius);
                self.content.fill_nonzero();
            }
            Mark::Ring { at, radius, width, ink } => {
                self.set(*ink);
                self.content.set_line_width(points(*width)).set_dash_pattern([], 0.0);
                self.circle(*at, *radius);
                self.content.stroke();
            }
            Mark::Text { at, text, size, align, is_turned, ink } => {
                self.set(*ink);
                let back = width_of(text, *size)
                    * match align {
                        Align::Left => 0.0,
                        Align::Middle => 0.5,
                        Align::Right => 1.0,
                    };
                let at = if *is_turned { (at.0, at.1 + back) } else { (at.0 - back, at.1) };
                let (x, y) = self.at(at);
                let matrix = if *is_turned {
                    [0.0, 1.0, -1.0, 0.0, x, y]
                } else {
                    [1.0, 0.0, 0.0, 1.0, x, y]
                };
                let mut codes = Vec::new();
                for letter in text.chars() {
                    let id = glyph(letter).0.0;
                    self.letters.insert(id, letter);
                    codes.extend(id.to_be_bytes());
                }
                self.content.begin_text().set_font(Name(b"F"), points(*size));
                self.content.set_text_matrix(matrix).show(Str(&codes)).end_text();
            }
        }
    }
}

//! The marks of a picture before it is a file, in CSS pixels (1/96 in) from the top left.
//!
//! In: marks from charts. Out: one list that every format draws, so that SVG, PNG and PDF show the
//! same. Text is measured with the embedded font.

use std::ops::Range;
use std::sync::OnceLock;

use ttf_parser::{Face, GlyphId};

use super::theme::{Dash, Ink, Look};

/// The font of all pictures.
pub(super) const FONT_BYTES: &[u8] = include_bytes!("font/DejaVuSans-Latin.ttf");

/// A position: to the right, and down.
pub(super) type At = (f64, f64);

/// Which part of a text is at the text's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Its beginning.
    Left,
    /// Its middle.
    Middle,
    /// Its end.
    Right,
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// A line through points.
    Path { points: Vec<At>, width: f64, dash: Dash, ink: Ink },
    /// Short lines of one kind.
    Strokes { strokes: Vec<[At; 2]>, width: f64, ink: Ink },
    /// A filled polygon.
    Area { points: Vec<At>, ink: Ink },
    /// A rectangle: left, top, width, height.
    Box { at: At, size: At, ink: Ink },
    /// A disc.
    Dot { at: At, radius: f64, ink: Ink },
    /// A circle.
    Ring { at: At, radius: f64, width: f64, ink: Ink },
    /// A line of text with its base line at `at`; a turned text reads upwards.
    Text { at: At, text: String, size: f64, align: Align, is_turned: bool, ink: Ink },
}

/// A shape with a tooltip.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A point.
    Point(At),
    /// A rectangle: left, top, width, height.
    Area(At, At),
}

/// A shape and its tooltip, with a line per fact.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub shape: Shape,
    pub says: String,
}

/// Data about a plot over time. With it, a page can narrow the plot to a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeSpan {
    /// The origin of its clock: `trace`, `replay`, `span`.
    pub since: &'static str,
    /// The unit of the axis.
    pub unit: &'static str,
    /// The instant at 0 of the axis, seconds since 1970, if it has dates.
    pub since_s: Option<f64>,
    /// Start and end of the plot, s.
    pub seconds: [f64; 2],
    /// The time from which the log has all jobs, s. `None` if it lacks no jobs that would be on the
    /// plot.
    pub whole_from_s: Option<f64>,
    /// The horizontal positions of start and end on the canvas.
    pub across: [f64; 2],
    /// The upper and the lower edge of the plot.
    pub down: [f64; 2],
}

/// Marks that belong together: the contents of a plot over time, or the ticks of its axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layer {
    /// The positions of these marks among all marks.
    pub marks: Range<usize>,
    /// The time span of the plot; `None` for ticks.
    pub time: Option<TimeSpan>,
}

/// A picture that is being drawn. Title and caption are above the rest, at negative heights.
#[derive(Debug)]
pub(super) struct Canvas {
    pub look: Look,
    /// Title and caption.
    pub head: Vec<Mark>,
    /// Their height in pixels.
    pub head_height: f64,
    /// All other marks.
    pub marks: Vec<Mark>,
    /// Groups of marks that a page may narrow to a window of time, in drawing order.
    pub layers: Vec<Layer>,
    /// Shapes with tooltips.
    pub places: Vec<Place>,
    /// The used height below the head, in pixels.
    pub height: f64,
    /// Times that are not in the log, in the unit of the lower axis; in order and without overlap.
    pub gaps: Vec<[f64; 2]>,
    /// Whether a plot shows any of these times.
    pub has_shown_gaps: bool,
    /// The position on the lower axis from which the log has all jobs, if it lacks some before.
    pub whole_from: Option<f64>,
    /// Whether a plot shows any time before that position.
    pub has_shown_early: bool,
    /// The instant at 0 of the lower axis, seconds since 1970, if dates are known.
    pub since_s: Option<f64>,
}

impl Canvas {
    pub(super) fn new(look: Look) -> Self {
        let (head, marks, layers, places, gaps) = Default::default();
        let (head_height, height) = (0.0, 0.0);
        let (has_shown_gaps, has_shown_early) = (false, false);
        let (whole_from, since_s) = (None, None);
        Self {
            look,
            head,
            head_height,
            marks,
            layers,
            places,
            height,
            gaps,
            has_shown_gaps,
            whole_from,
            has_shown_early,
            since_s,
        }
    }

    /// Writes title and caption above the picture.
    pub(super) fn set_head(&mut self, title: &str, caption: &str) {
        let Look { width, text, is_titled, .. } = self.look;
        if !is_titled {
            return;
        }
        let margin = self.look.margin();
        // No text is smaller than 7.5 points.
        let (title_size, small) = (text * 1.35, (text * 0.93).max(10.0));
        let room = width - 2.0 * margin;
        let mut lines: Vec<(String, f64, Ink)> = Vec::new();
        lines.extend(
            lines_of(title, room, title_size).into_iter().map(|one| (one, title_size, Ink::TEXT)),
        );
        lines
            .extend(lines_of(caption, room, small).into_iter().map(|one| (one, small, Ink::FAINT)));
        let height_of = |size: f64| (size * 1.4).round();
        let whole: f64 = lines.iter().map(|line| height_of(line.1)).sum();
        self.head_height = if lines.is_empty() { 0.0 } else { whole + margin };
        let mut top = margin - self.head_height;
        for (text, size, ink) in lines {
            let at = (margin, top + size);
            let (align, is_turned) = (Align::Left, false);
            self.head.push(Mark::Text { at, text, size, align, is_turned, ink });
            top += height_of(size);
        }
    }

    pub(super) fn line(&mut self, points: Vec<At>, width: f64, ink: Ink) {
        self.marks.push(Mark::Path { points, width, dash: &[], ink });
    }

    pub(super) fn fill(&mut self, at: At, size: At, ink: Ink) {
        self.marks.push(Mark::Box { at, size, ink });
    }

    /// Writes a text that is vertically centred at `at`.
    pub(super) fn text(&mut self, text: &str, at: At, align: Align, size: f64, ink: Ink) {
        if !text.is_empty() {
            let (text, at) = (text.to_owned(), (at.0, at.1 + 0.36 * size));
            self.marks.push(Mark::Text { at, text, size, align, is_turned: false, ink });
        }
    }

    /// Writes a text upwards, centred at `at`.
    pub(super) fn turned(&mut self, text: &str, at: At, size: f64, ink: Ink) {
        if !text.is_empty() {
            let (text, at) = (text.to_owned(), (at.0 + 0.36 * size, at.1));
            let align = Align::Middle;
            self.marks.push(Mark::Text { at, text, size, align, is_turned: true, ink });
        }
    }
}

/// A number of lines, rows or columns as a length.
pub(super) fn count(of: usize) -> f64 {
    f64::from(u32::try_from(of).unwrap_or(u32::MAX))
}

/// The font, parsed once.
pub(super) fn face() -> &'static Face<'static> {
    static FACE: OnceLock<Face<'static>> = OnceLock::new();
    FACE.get_or_init(|| {
        Face::parse(FONT_BYTES, 0)
            .unwrap_or_else(|_| unreachable!("the font is compiled in and covered by a test"))
    })
}

/// The glyph of a letter, and its width as a multiple of the text height.
pub(super) fn glyph(letter: char) -> (GlyphId, f64) {
    let face = face();
    let id = face.glyph_index(letter).unwrap_or_default();
    let width = face.glyph_hor_advance(id).unwrap_or(0);
    (id, f64::from(width) / f64::from(face.units_per_em()))
}

/// The width of a text at a text height.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().map(|letter| glyph(letter).1).sum::<f64>() * size
}

/// Breaks a text at spaces into lines of at most `room`; a longer word stays whole.
pub(super) fn wrap(text: &str, room: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Breaks a text into lines, and shortens words that are wider.
pub(super) fn lines_of(text: &str, room: f64, size: f64) -> Vec<String> {
    wrap(text, room, size).iter().map(|line| shortened(line, room, size)).collect()
}

/// The text; if it is wider than `room`, its middle is left out.
pub(super) fn shortened(text: &str, room: f64, size: f64) -> String {
    if width_of(text, size) <= room {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let cut = |kept: usize| -> String {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let tail = &letters[letters.len() - tail..];
        letters[..head].iter().copied().chain(['…']).chain(tail.iter().copied()).collect()
    };
    (1..letters.len())
        .rev()
        .map(cut)
        .find(|short| width_of(short, size) <= room)
        .unwrap_or_else(|| cut(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_wrapped_at_spaces_and_cut_in_their_middle() {
        let room = width_of("one two", 10.0) + 0.1;
        assert_eq!(wrap("one two three", room, 10.0), ["one two", "three"]);
        assert!(wrap("", room, 10.0).is_empty());
        assert_eq!(shortened("one two", room, 10.0), "one two");
        let short = shortened("one two three four", room, 10.0);
        assert!(width_of(&short, 10.0) <= room, "{short}");
        assert!(short.starts_with("on") && short.ends_with('r') && short.contains('…'), "{short}");
    }
}

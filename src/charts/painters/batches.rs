//! Marks that look the same, as one element of an SVG.
//!
//! In: the marks of a layer, each as its own part (positions, text) and the attributes that others
//! may share. Out: the text of the elements. A mark is drawn earlier, together with others of its
//! kind, only if nothing that was drawn in between touches it, so the picture stays the same.
//! Translucent and dashed marks always stay alone.
//!
//! ```text
//!  bar, sign, bar, sign, bar, sign    becomes    one path with all bars, one with all signs
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::charts::canvas::{Align, At, width_of};

/// Left, top, right and bottom of a mark.
type Bounds = [f64; 4];

/// How many elements back a mark may join another one; comparing with more would take long.
const BACK_MAX: usize = 100;

/// The form of a mark.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// Lines that several marks may share: a single path draws them all.
    Path,
    /// A path that no other mark shares.
    AlonePath,
    /// A rectangle: left, top, width and height.
    Box([String; 4]),
    /// Any other element, with its end. Several marks may be in one group.
    Element(&'static str),
    /// A line of text, with its end.
    Text(String),
}

/// A mark, ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    form: Form,
    /// The positions of a path, or the beginning of an element.
    own: String,
    /// Attributes that other marks may also have.
    shared: String,
    bounds: Bounds,
    is_translucent: bool,
}

impl Part {
    pub(super) fn new(
        form: Form,
        own: String,
        shared: String,
        bounds: Bounds,
        is_translucent: bool,
    ) -> Self {
        Self { form, own, shared, bounds, is_translucent }
    }

    /// A line of text, already escaped.
    pub(super) fn text(own: String, shared: String, text: &str, bounds: Bounds) -> Self {
        let form = Form::Text(format!(">{text}</text>"));
        Self { form, own, shared, bounds, is_translucent: false }
    }

    /// The mark as a separate element.
    pub(super) fn alone(&self) -> String {
        let Self { form, own, shared, .. } = self;
        match form {
            Form::Path | Form::AlonePath => format!("<path d=\"{own}\"{shared}/>\n"),
            Form::Box([left, top, width, height]) => format!(
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"{shared}/>\n"
            ),
            Form::Element(end) => format!("{own}{shared}{end}\n"),
            Form::Text(end) => format!("{own}{shared}{end}\n"),
        }
    }

    /// The mark within an element that has the shared attributes.
    fn within(&self, text: &mut String) {
        let _ = match &self.form {
            Form::Path | Form::AlonePath => write!(text, "{}", self.own),
            Form::Box([left, top, width, height]) => {
                write!(text, "M{left} {top}h{width}v{height}h-{width}z")
            }
            Form::Element(end) => writeln!(text, "{}{end}", self.own),
            Form::Text(end) => writeln!(text, "{}{end}", self.own),
        };
    }

    /// Marks with the same kind may share an element: the kind of element, and its attributes.
    fn kind(&self) -> Option<(bool, String)> {
        let is_path = match self.form {
            Form::AlonePath => return None,
            Form::Path | Form::Box(_) => true,
            Form::Element(_) | Form::Text(_) => false,
        };
        // If translucent marks of one element overlap, they look lighter than separate marks.
        (!self.is_translucent).then(|| (is_path, self.shared.clone()))
    }
}

/// Marks that share an element.
struct Batch {
    parts: Vec<Part>,
    /// The bounds around all of the marks.
    bounds: Bounds,
}

impl Batch {
    fn touches(&self, bounds: Bounds) -> bool {
        meet(self.bounds, bounds) && self.parts.iter().any(|part| meet(part.bounds, bounds))
    }

    fn push(&mut self, part: Part) {
        let [left, top, right, bottom] = self.bounds;
        let own = part.bounds;
        self.bounds = [left.min(own[0]), top.min(own[1]), right.max(own[2]), bottom.max(own[3])];
        self.parts.push(part);
    }

    fn text(&self) -> String {
        let [first, _, ..] = &self.parts[..] else {
            return self.parts.iter().map(Part::alone).collect();
        };
        let mut own = String::new();
        self.parts.iter().for_each(|part| part.within(&mut own));
        match first.kind() {
            Some((true, shared)) => format!("<path d=\"{own}\"{shared}/>\n"),
            Some((false, shared)) if !shared.is_empty() => format!("<g{shared}>\n{own}</g>\n"),
            _ => own,
        }
    }
}

/// Whether two marks have more than an edge in common.
fn meet(one: Bounds, other: Bounds) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

/// The elements of marks, in an order that gives the same picture.
pub(super) fn grouped(parts: impl Iterator<Item = Part>) -> String {
    batches(parts).iter().map(Batch::text).collect()
}

fn batches(parts: impl Iterator<Item = Part>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    // The latest batch of each kind.
    let mut homes: BTreeMap<(bool, String), usize> = BTreeMap::new();
    for part in parts {
        let kind = part.kind();
        let home = kind.as_ref().and_then(|kind| homes.get(kind)).copied().filter(|&home| {
            let later = &batches[home + 1..];
            later.len() <= BACK_MAX && !later.iter().any(|batch| batch.touches(part.bounds))
        });
        if let Some(home) = home {
            batches[home].push(part);
        } else {
            homes.extend(kind.map(|kind| (kind, batches.len())));
            batches.push(Batch { bounds: part.bounds, parts: vec![part] });
        }
    }
    batches
}

/// The bounds of lines with a width, including the tips of their corners.
pub(super) fn of_path(points: &[At], width: f64) -> Bounds {
    let start = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    let [left, top, right, bottom] = points.iter().fold(start, |[left, top, right, bottom], at| {
        [left.min(at.0), top.min(at.1), right.max(at.0), bottom.max(at.1)]
    });
    // A corner is at most four widths long (the miter limit of SVG); half of it is outside the
    // line.
    let tip = if points.len() < 3 { 0.5 * width } else { 2.0 * width };
    [left - tip, top - tip, right + tip, bottom + tip]
}

/// The bounds of a rectangle at the precision of the drawing, so that touching rectangles do not
/// overlap.
pub(super) fn of_box((left, top): At, (width, height): At) -> Bounds {
    [left, top, left + width, top + height].map(|edge| (edge * 10.0).round() / 10.0)
}

/// The bounds of a circle.
pub(super) fn round((x, y): At, radius: f64) -> Bounds {
    [x - radius, y - radius, x + radius, y + radius]
}

/// The bounds of a text with its base line at `at`.
pub(super) fn of_text((x, y): At, text: &str, size: f64, align: Align, is_turned: bool) -> Bounds {
    let width = width_of(text, size);
    let before = match align {
        Align::Left => 0.0,
        Align::Middle => 0.5 * width,
        Align::Right => width,
    };
    let (above, below) = (size, 0.3 * size);
    if is_turned {
        [x - above, y - width + before, x + below, y + before]
    } else {
        [x - before, y - above, x - before + width, y + below]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn square([left, top, width, height]: [u8; 4], color: u8) -> Part {
        let sides = [left, top, width, height].map(|side| side.to_string());
        let [left, top, width, height] = [left, top, width, height].map(f64::from);
        let bounds = of_box((left, top), (width, height));
        Part::new(Form::Box(sides), String::new(), format!(" fill=\"{color}\""), bounds, false)
    }

    /// The colour of each pixel after the parts are drawn in order.
    fn painted<'a>(parts: impl Iterator<Item = &'a Part>) -> Vec<Option<String>> {
        let mut pixels = vec![None; 20 * 20];
        for Part { bounds, shared, .. } in parts {
            for (idx, pixel) in pixels.iter_mut().enumerate() {
                let [x, y] = [idx % 20, idx / 20].map(|at| u8::try_from(at).unwrap());
                let (x, y) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
                if bounds[0] < x && x < bounds[2] && bounds[1] < y && y < bounds[3] {
                    *pixel = Some(shared.clone());
                }
            }
        }
        pixels
    }

    proptest! {
        /// Promise: marks that share an element give the same picture as separate marks.
        #[test]
        fn shared_elements_give_the_same_picture(
            all in prop::collection::vec(((0..16_u8, 0..16_u8, 1..5_u8, 1..5_u8), 0..3_u8), 0..60),
        ) {
            let parts: Vec<Part> = all
                .into_iter()
                .map(|((left, top, width, height), color)| square([left, top, width, height], color))
                .collect();
            let batches = batches(parts.iter().cloned());
            let drawn = batches.iter().flat_map(|batch| &batch.parts);
            prop_assert_eq!(painted(drawn.clone()), painted(parts.iter()));
            prop_assert_eq!(drawn.count(), parts.len());
        }
    }

    #[test]
    fn marks_of_a_kind_are_one_element() {
        let text = |x: u8| {
            let bounds = of_text((f64::from(x), 9.0), "a", 9.0, Align::Middle, false);
            let own = format!("<text x=\"{x}\" y=\"9\"");
            Part::text(own, " text-anchor=\"middle\"".to_owned(), "a", bounds)
        };
        let parts = [
            square([0, 0, 2, 2], 1),
            text(1),
            square([30, 0, 2, 2], 1),
            text(31),
            // This square covers the first square, so it stays after it; the last square stays
            // after both.
            square([1, 0, 2, 2], 2),
            square([2, 0, 2, 2], 1),
        ];
        assert_eq!(
            grouped(parts.into_iter()),
            "<path d=\"M0 0h2v2h-2zM30 0h2v2h-2z\" fill=\"1\"/>\n\
             <g text-anchor=\"middle\">\n<text x=\"1\" y=\"9\">a</text>\n\
             <text x=\"31\" y=\"9\">a</text>\n</g>\n\
             <rect x=\"1\" y=\"0\" width=\"2\" height=\"2\" fill=\"2\"/>\n\
             <rect x=\"2\" y=\"0\" width=\"2\" height=\"2\" fill=\"1\"/>\n"
        );
    }

    #[test]
    fn translucent_marks_stay_alone() {
        let parts = [0, 10].map(|left| Part { is_translucent: true, ..square([left, 0, 2, 2], 1) });
        assert_eq!(grouped(parts.into_iter()).matches("<rect").count(), 2);
    }
}

//! What stands where in a chart: places that tell their value under the pointer.
//!
//! In: places in the pixels of the drawing, with a text each. Out: a group of see-through shapes
//! for the SVG; a browser shows their titles, and the script of a report shows them at once.

use std::fmt::Write;

use crate::digits::six_digits;

/// A shape that has something to say.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A point: x, y.
    Point(i32, i32),
    /// An area: left, top, right, bottom.
    Area(i32, i32, i32, i32),
}

/// A place of the drawing and what it tells, a line per fact.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub shape: Shape,
    pub says: String,
}

/// Points of one curve nearer than this to the one before, in pixels, tell nothing new.
const APART: i32 = 3;

/// The points of a curve that a pointer can tell apart.
#[derive(Default)]
pub(super) struct Thinned {
    last: Option<(i32, i32)>,
}

impl Thinned {
    pub(super) fn takes(&mut self, at: (i32, i32)) -> bool {
        let is_apart = self
            .last
            .is_none_or(|last| APART <= (at.0 - last.0).abs() || APART <= (at.1 - last.1).abs());
        if is_apart {
            self.last = Some(at);
        }
        is_apart
    }
}

/// A name, if there is one, and a line for each amount.
pub(super) fn says(name: &str, amounts: &[(&str, f64)]) -> String {
    let name = Some(name.to_owned()).filter(|name| !name.is_empty());
    let amounts = amounts.iter().map(|(what, amount)| format!("{what}: {}", six_digits(*amount)));
    name.into_iter().chain(amounts).collect::<Vec<String>>().join("\n")
}

/// Puts the places at the end of a drawing.
pub(super) fn with_values(svg: &str, places: &[Place]) -> String {
    let Some(body) = svg.trim_end().strip_suffix("</svg>").filter(|_| !places.is_empty()) else {
        return svg.to_owned();
    };
    let mut text = format!("{body}<g class=\"values\" fill=\"transparent\">\n");
    for Place { shape, says } in places {
        let title: String = says.chars().filter(|&one| one == '\n' || !one.is_control()).collect();
        let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = match shape {
            Shape::Point(x, y) => {
                writeln!(
                    text,
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\"><title>{title}</title></circle>"
                )
            }
            Shape::Area(left, top, right, bottom) => writeln!(
                text,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\"><title>{title}</title></rect>",
                (right - left).max(1),
                (bottom - top).max(1),
            ),
        };
    }
    text.push_str("</g>\n</svg>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_tell_their_values_and_no_markup() {
        let places = [
            Place { shape: Shape::Point(7, 9), says: says("a<b & c", &[("s", 1234.5)]) },
            Place { shape: Shape::Area(1, 2, 1, 8), says: says("", &[("jobs", 3.0)]) },
        ];
        let svg = with_values("<svg>\n</svg>\n", &places);
        assert_eq!(
            svg,
            "<svg>\n<g class=\"values\" fill=\"transparent\">\n\
             <circle cx=\"7\" cy=\"9\" r=\"4\"><title>a&lt;b &amp; c\ns: 1,234.50</title></circle>\n\
             <rect x=\"1\" y=\"2\" width=\"1\" height=\"6\"><title>jobs: 3</title></rect>\n\
             </g>\n</svg>\n"
        );
        assert_eq!(with_values("<svg>\n</svg>\n", &[]), "<svg>\n</svg>\n");
    }

    #[test]
    fn points_that_lie_together_are_one() {
        let mut thinned = Thinned::default();
        let kept = [(0, 0), (1, 1), (2, 2), (3, 2), (3, 9)].map(|at| thinned.takes(at));
        assert_eq!(kept, [true, false, false, true, true]);
    }
}

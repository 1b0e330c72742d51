//! A picture as SVG: shapes and text, and what tells its value under the pointer.
//!
//! Title and caption are a group of their own above the height 0, so that a page that writes them
//! itself can leave them out.

use std::fmt::Write;

use crate::charts::canvas::{Align, At, Canvas, Mark, Place, Shape};
use crate::charts::theme::Ink;

/// How the group of title and caption begins.
pub(in crate::charts) const HEAD: &str = "<g class=\"head\">\n";

/// The text of a file.
pub(in crate::charts) fn svg(canvas: &Canvas) -> String {
    let (width, height) = (canvas.look.width, canvas.height);
    let (above, whole) = (canvas.head_height, canvas.head_height + height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" \
         viewBox=\"0 {2} {0} {1}\" font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n",
        number(width),
        number(whole),
        number(0.0 - above),
    );
    let paper = Mark::Box { at: (0.0, -above), size: (width, whole), ink: Ink::PAPER };
    text.push_str(&mark(&paper));
    if !canvas.head.is_empty() {
        text.push_str(HEAD);
        text.extend(canvas.head.iter().map(mark));
        text.push_str("</g>\n");
    }
    text.extend(canvas.marks.iter().map(mark));
    if !canvas.places.is_empty() {
        text.push_str("<g class=\"values\" fill=\"transparent\">\n");
        text.extend(canvas.places.iter().map(place));
        text.push_str("</g>\n");
    }
    text.push_str("</svg>\n");
    text
}

/// A length or a place, to a hundredth.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Points of a line that are closer than this are one, in units of the drawing: no eye tells them
/// apart, and curves of thousands of points would be megabytes.
const APART: f64 = 0.1;

fn points(of: &[At]) -> String {
    let mut kept: Vec<At> = Vec::with_capacity(of.len());
    for (place, &(x, y)) in of.iter().enumerate() {
        let is_near = |before: &At| (x - before.0).abs() < APART && (y - before.1).abs() < APART;
        if place + 1 == of.len() || !kept.last().is_some_and(is_near) {
            kept.push((x, y));
        }
    }
    let pairs = kept.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y)));
    pairs.collect::<Vec<String>>().join(" ")
}

fn color(ink: Ink) -> String {
    let (red, green, blue) = ink.color;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn opacity(ink: Ink) -> String {
    if ink.opacity < 1.0 { format!(" opacity=\"{}\"", number(ink.opacity)) } else { String::new() }
}

/// A text that a viewer must not take as markup.
fn escaped(text: &str) -> String {
    let shown: String = text.chars().filter(|&one| one == '\n' || !one.is_control()).collect();
    shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn mark(mark: &Mark) -> String {
    match mark {
        Mark::Path { points: at, width, dash, ink } => {
            let dash = dash.iter().map(|length| number(length * width)).collect::<Vec<String>>();
            let dash = if dash.is_empty() {
                String::new()
            } else {
                format!(" stroke-dasharray=\"{}\"", dash.join(" "))
            };
            format!(
                "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}{} points=\"{}\"/>\n",
                color(*ink),
                number(*width),
                opacity(*ink),
                points(at)
            )
        }
        Mark::Area { points: at, ink } => {
            format!(
                "<polygon fill=\"{}\"{} points=\"{}\"/>\n",
                color(*ink),
                opacity(*ink),
                points(at)
            )
        }
        Mark::Box { at, size, ink } => format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}/>\n",
            number(at.0),
            number(at.1),
            number(size.0),
            number(size.1),
            color(*ink),
            opacity(*ink)
        ),
        Mark::Dot { at, radius, ink } => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"{}/>\n",
            number(at.0),
            number(at.1),
            number(*radius),
            color(*ink),
            opacity(*ink)
        ),
        Mark::Ring { at, radius, width, ink } => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
            number(at.0),
            number(at.1),
            number(*radius),
            color(*ink),
            number(*width)
        ),
        Mark::Text { at, text, size, align, is_turned, ink } => {
            let (x, y) = (number(at.0), number(at.1));
            let anchor = match align {
                Align::Left => "start",
                Align::Middle => "middle",
                Align::Right => "end",
            };
            let turned = if *is_turned {
                format!(" transform=\"rotate(-90 {x} {y})\"")
            } else {
                String::new()
            };
            format!(
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{turned}>{}</text>\n",
                number(*size),
                color(*ink),
                escaped(text)
            )
        }
    }
}

/// Pixels around a point in which a pointer finds it.
const NEAR: f64 = 4.0;

fn place(Place { shape, says }: &Place) -> String {
    let title = escaped(says);
    let mut text = String::new();
    let _ = match shape {
        Shape::Point((x, y)) => writeln!(
            text,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{NEAR}\"><title>{title}</title></circle>",
            number(*x),
            number(*y)
        ),
        Shape::Area((left, top), (width, height)) => writeln!(
            text,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{title}</title></rect>",
            number(*left),
            number(*top),
            number(width.max(1.0)),
            number(height.max(1.0))
        ),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::Look;

    #[test]
    fn places_tell_their_values_and_no_markup() {
        let mut canvas = Canvas::new(Look::SCREEN);
        canvas.height = 10.0;
        assert!(!svg(&canvas).contains("class=\"values\""));
        let says = "a<b & c\ns: 1,234.50\u{7}".to_owned();
        canvas.places.push(Place { shape: Shape::Point((7.0, 9.0)), says });
        let shape = Shape::Area((1.0, 2.0), (0.0, 6.0));
        canvas.places.push(Place { shape, says: "jobs: 3".to_owned() });
        let text = svg(&canvas);
        assert!(text.ends_with(
            "<g class=\"values\" fill=\"transparent\">\n\
             <circle cx=\"7\" cy=\"9\" r=\"4\"><title>a&lt;b &amp; c\ns: 1,234.50</title></circle>\n\
             <rect x=\"1\" y=\"2\" width=\"1\" height=\"6\"><title>jobs: 3</title></rect>\n\
             </g>\n</svg>\n"
        ));
    }
}

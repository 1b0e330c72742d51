//! Draws a picture as SVG: shapes and text, with values under the pointer.
//!
//! Title and caption are in a separate group above height 0. A page that writes them itself can
//! leave this group out. Marks that look the same share one element; see `batches`.

use std::fmt::Write;

use super::batches::{Form, Part, grouped, of_box, of_path, of_text, round};
use crate::cells::is_hidden;
use crate::charts::canvas::{Align, At, Canvas, Layer, Mark, Place, Shape, TimeSpan};
use crate::charts::theme::Ink;

/// The start of the group with title and caption.
pub(in crate::charts) const HEAD: &str = "<g class=\"head\">\n";

/// The start of a group with values under the pointer. These groups are the last ones of a drawing;
/// [`END`] follows them.
pub(in crate::charts) const VALUES: &str = "<g class=\"values\"";

/// The end of a drawing.
pub(in crate::charts) const END: &str = "</g>\n</svg>\n";

/// The text of the file.
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
    let usual = Usual { size: canvas.look.text, width: canvas.look.line() };
    let _ = writeln!(
        text,
        "<g fill=\"{}\" font-size=\"{}\" stroke-width=\"{}\">",
        color(Ink::TEXT),
        number(usual.size),
        number(usual.width)
    );
    let part = |of: &Mark| part(of, usual);
    let paper = Mark::Box { at: (0.0, -above), size: (width, whole), ink: Ink::PAPER };
    text.push_str(&part(&paper).alone());
    if !canvas.head.is_empty() {
        text.push_str(HEAD);
        text.extend(canvas.head.iter().map(|of| part(of).alone()));
        text.push_str("</g>\n");
    }
    layers(canvas, part, &mut text);
    for of_a_kind in canvas.places.chunk_by(|one, other| is_point(one) == is_point(other)) {
        let _ =
            writeln!(text, "{VALUES} {}>", if is_point(&of_a_kind[0]) { POINTS } else { AREAS });
        text.extend(of_a_kind.iter().map(place));
        text.push_str("</g>\n");
    }
    text.push_str(END);
    text
}

/// Attributes that most marks share; they are set on the group.
#[derive(Clone, Copy)]
struct Usual {
    /// Text height.
    size: f64,
    /// Width of lines.
    width: f64,
}

/// Draws all marks. Marks that a page may narrow to a window of time are in groups.
fn layers(canvas: &Canvas, part: impl Fn(&Mark) -> Part, text: &mut String) {
    let mut drawn = 0;
    let all = |marks: &[Mark]| grouped(marks.iter().map(&part));
    for Layer { marks, time } in &canvas.layers {
        text.push_str(&all(&canvas.marks[drawn..marks.start]));
        match time {
            None => text.push_str("<g class=\"ticks\">\n"),
            Some(TimeSpan { since, unit, since_s, seconds, whole_from_s, across, down }) => {
                let dates = since_s.map_or_else(String::new, |since_s| {
                    format!(" data-from=\"{}\"", number(since_s))
                });
                let whole = whole_from_s.map_or_else(String::new, |whole_from_s| {
                    format!(" data-whole=\"{}\"", number(whole_from_s))
                });
                let pair = |pair: &[f64; 2]| format!("{} {}", number(pair[0]), number(pair[1]));
                let _ = writeln!(
                    text,
                    "<g class=\"plot\" data-since=\"{since}\" data-unit=\"{unit}\" \
                     data-seconds=\"{}\" data-across=\"{}\" data-down=\"{}\"{dates}{whole}>",
                    pair(seconds),
                    pair(across),
                    pair(down),
                );
            }
        }
        text.push_str(&all(&canvas.marks[marks.clone()]));
        text.push_str("</g>\n");
        drawn = marks.end;
    }
    text.push_str(&all(&canvas.marks[drawn..]));
}

/// A number with at most two decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// How far a point may be from the simplified line, in units of the drawing. The difference is
/// invisible; without simplification, curves of thousands of points would take megabytes.
const APART: f64 = 0.05;

/// A position or length in tenths of a unit, the precision of the drawing.
fn tenths(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "places on a canvas")]
    let tenths = (value * 10.0).round() as i64;
    tenths
}

/// A number of tenths as the shortest text.
fn shortest(tenths: i64) -> String {
    let (sign, whole, rest) =
        (if tenths < 0 { "-" } else { "" }, tenths.abs() / 10, tenths.abs() % 10);
    match (whole, rest) {
        (_, 0) => format!("{sign}{whole}"),
        (0, _) => format!("{sign}.{rest}"),
        _ => format!("{sign}{whole}.{rest}"),
    }
}

fn at(value: f64) -> String {
    shortest(tenths(value))
}

/// A path through points: the first one, then the step to each next one.
fn steps(of: &[At]) -> String {
    let mut places = telling(of).into_iter().map(|(x, y)| (tenths(x), tenths(y)));
    let Some(first) = places.next() else { return String::new() };
    let mut text = format!("M{} {}", shortest(first.0), shortest(first.1));
    let (mut from, mut last) = (first, 'M');
    for to in places {
        let (right, down) = (to.0 - from.0, to.1 - from.1);
        let (letter, amounts) = match (right, down) {
            (0, 0) => continue,
            (_, 0) => ('h', vec![right]),
            (0, _) => ('v', vec![down]),
            _ => ('l', vec![right, down]),
        };
        // A letter also applies to the numbers that follow it, and a minus separates two numbers.
        let mut is_apart = letter != last;
        if is_apart {
            text.push(letter);
        }
        for amount in amounts {
            if !is_apart && 0 <= amount {
                text.push(' ');
            }
            text.push_str(&shortest(amount));
            is_apart = false;
        }
        (from, last) = (to, letter);
    }
    text
}

/// The points that are kept in a simplified line. Both ends are kept. Between two kept points, the
/// point farthest from the straight line is kept if it is farther away than [`APART`] (Ramer, 1972;
/// Douglas and Peucker, 1973).
fn telling(of: &[At]) -> Vec<At> {
    let mut stays = vec![false; of.len()];
    for end in [0, of.len().saturating_sub(1)] {
        stays.get_mut(end).into_iter().for_each(|stays| *stays = true);
    }
    let mut stretches = vec![(0, of.len().saturating_sub(1))];
    while let Some((from, to)) = stretches.pop() {
        let distances = (from + 1..to).map(|at| (distance(of[at], of[from], of[to]), at));
        let farthest = distances.max_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((_, at)) = farthest.filter(|farthest| APART < farthest.0) {
            stays[at] = true;
            stretches.extend([(from, at), (at, to)]);
        }
    }
    of.iter().zip(stays).filter(|(_, stays)| *stays).map(|(at, _)| *at).collect()
}

/// The distance of a point from a line segment.
fn distance(at: At, from: At, to: At) -> f64 {
    let (right, down) = (to.0 - from.0, to.1 - from.1);
    let length = right.hypot(down);
    let along = ((at.0 - from.0) * right + (at.1 - from.1) * down) / (length * length);
    let along = if 0.0 < length { along.clamp(0.0, 1.0) } else { 0.0 };
    (at.0 - from.0 - along * right).hypot(at.1 - from.1 - along * down)
}

fn color(ink: Ink) -> String {
    let (red, green, blue) = ink.color;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn opacity(ink: Ink) -> String {
    if ink.opacity < 1.0 { format!(" opacity=\"{}\"", number(ink.opacity)) } else { String::new() }
}

/// A text with markup escaped.
fn escaped(text: &str) -> String {
    let shown: String = text.chars().filter(|&one| one == '\n' || !is_hidden(one)).collect();
    shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A length as the difference of two rounded edges, so that touching shapes still touch.
fn length(from: f64, length: f64) -> String {
    let least = i64::from(0.0 < length);
    shortest((tenths(from + length) - tenths(from)).max(least))
}

/// The text of an attribute; empty if it has the default value.
fn unless(is_usual: bool, name: &str, value: &str) -> String {
    if is_usual { String::new() } else { format!(" {name}=\"{value}\"") }
}

/// A mark as a part of the drawing: the text that only this mark needs, and the attributes that
/// others may share.
fn part(mark: &Mark, usual: Usual) -> Part {
    let fill = |ink: Ink| unless(ink.color == Ink::TEXT.color, "fill", &color(ink));
    let stroke =
        |width: f64| unless(number(width) == number(usual.width), "stroke-width", &number(width));
    let circle = |(x, y): At, radius: f64| {
        format!("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", at(x), at(y), number(radius))
    };
    let (ink, form, own, shared, bounds) = match mark {
        Mark::Path { points, width, dash, ink } => {
            let lengths = dash.iter().map(|length| number(length * width)).collect::<Vec<String>>();
            let shared = format!(
                "{} stroke=\"{}\"{}{}",
                unless(points.len() < 3, "fill", "none"),
                color(*ink),
                stroke(*width),
                unless(dash.is_empty(), "stroke-dasharray", &lengths.join(" "))
            );
            let form = if dash.is_empty() { Form::Path } else { Form::AlonePath };
            (*ink, form, steps(points), shared, of_path(points, *width))
        }
        Mark::Strokes { strokes, width, ink } => {
            let lines: String = strokes.iter().map(|stroke| steps(stroke)).collect();
            let shared = format!(" stroke=\"{}\"{}", color(*ink), stroke(*width));
            (*ink, Form::AlonePath, lines, shared, of_path(strokes.as_flattened(), *width))
        }
        Mark::Area { points, ink } => {
            let own = format!("{}z", steps(points));
            (*ink, Form::AlonePath, own, fill(*ink), of_path(points, 0.0))
        }
        Mark::Box { at: (left, top), size, ink } => {
            let own = Form::Box([at(*left), at(*top), length(*left, size.0), length(*top, size.1)]);
            (*ink, own, String::new(), fill(*ink), of_box((*left, *top), *size))
        }
        Mark::Dot { at, radius, ink } => {
            (*ink, Form::Element("/>"), circle(*at, *radius), fill(*ink), round(*at, *radius))
        }
        Mark::Ring { at, radius, width, ink } => {
            let shared = format!(" fill=\"none\" stroke=\"{}\"{}", color(*ink), stroke(*width));
            let bounds = round(*at, radius + width);
            (*ink, Form::Element("/>"), circle(*at, *radius), shared, bounds)
        }
        Mark::Text { at: (x, y), text, size, align, is_turned, ink } => {
            let bounds = of_text((*x, *y), text, *size, *align, *is_turned);
            let (x, y) = (at(*x), at(*y));
            let anchor = match align {
                Align::Left => "",
                Align::Middle => " text-anchor=\"middle\"",
                Align::Right => " text-anchor=\"end\"",
            };
            let size = unless(number(*size) == number(usual.size), "font-size", &number(*size));
            let turn = unless(!is_turned, "transform", &format!("rotate(-90 {x} {y})"));
            let own = format!("<text x=\"{x}\" y=\"{y}\"{turn}");
            let shared = format!("{size}{anchor}{}", fill(*ink));
            return Part::text(own, shared, &escaped(text), bounds);
        }
    };
    Part::new(form, own, format!("{shared}{}", opacity(ink)), bounds, ink.opacity < 1.0)
}

/// Attributes of a group of points for the pointer: each point reacts within 4 pixels, since it is
/// a line without length and with round ends.
const POINTS: &str =
    "fill=\"none\" stroke=\"transparent\" stroke-width=\"8\" stroke-linecap=\"round\"";

/// Attributes of a group of areas for the pointer.
const AREAS: &str = "fill=\"transparent\"";

fn is_point(place: &Place) -> bool {
    matches!(place.shape, Shape::Point(_))
}

fn place(Place { shape, says }: &Place) -> String {
    let path = match shape {
        Shape::Point((x, y)) => format!("M{} {}h0", at(*x), at(*y)),
        Shape::Area((left, top), (width, height)) => {
            let (width, height) = (length(*left, width.max(1.0)), length(*top, height.max(1.0)));
            format!("M{} {}h{width}v{height}h-{width}z", at(*left), at(*top))
        }
    };
    format!("<path d=\"{path}\"><title>{}</title></path>\n", escaped(says))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::Look;
    use crate::charts::axes::{Axis, Frame, HOURS_OF_TRACE, Room, Scale};

    proptest! {
        /// No point is visibly far from the simplified line, and both ends are on it.
        #[test]
        fn a_line_of_fewer_points_is_the_same_line(
            steps in prop::collection::vec((-0.5..0.5_f64, -0.5..0.5_f64), 1..200),
            size in prop::sample::select(vec![0.01, 1.0, 40.0]),
        ) {
            let mut at = (0.0, 0.0);
            let all: Vec<At> = steps
                .iter()
                .map(|(right, down)| {
                    at = (at.0 + right * size, at.1 + down * size);
                    at
                })
                .collect();
            let kept = telling(&all);
            prop_assert_eq!((kept.first(), kept.last()), (all.first(), all.last()));
            // Over a segment, the distance is the height of the triangle; elsewhere it is the
            // distance to the nearer end.
            let length = |from: At, to: At| ((from.0 - to.0).powi(2) + (from.1 - to.1).powi(2)).sqrt();
            let away = |at: At, from: At, to: At| {
                let [one, other, base] = [length(at, from), length(at, to), length(from, to)];
                let twice = (from.0 * (to.1 - at.1) + to.0 * (at.1 - from.1) + at.0 * (from.1 - to.1)).abs();
                let is_beside = one.powi(2) <= other.powi(2) + base.powi(2)
                    && other.powi(2) <= one.powi(2) + base.powi(2);
                if 0.0 < base && is_beside { twice / base } else { one.min(other) }
            };
            for &at in &all {
                let stretches = kept.iter().zip(&kept[1..]);
                let nearest = stretches.map(|(&from, &to)| away(at, from, to)).fold(f64::MAX, f64::min);
                prop_assert!(kept.len() == 1 || nearest < APART + 1e-6, "{at:?}: {nearest}");
            }
        }
    }

    /// The points of a path, parsed by the grammar of SVG.
    fn read(path: &str) -> Vec<At> {
        let (mut points, mut letter, mut rest) = (Vec::<At>::new(), 'M', path);
        let number = |rest: &mut &str| -> f64 {
            let text = rest.trim_start();
            let digits = text.strip_prefix('-').unwrap_or(text);
            let mut has_point = false;
            let stops = |one: char| {
                let is_first_point = one == '.' && !has_point;
                has_point |= one == '.';
                !one.is_ascii_digit() && !is_first_point
            };
            let long = digits.find(stops).unwrap_or(digits.len()) + text.len() - digits.len();
            *rest = &text[long..];
            text[..long].parse().unwrap()
        };
        while !rest.trim_start().is_empty() {
            rest = rest.trim_start();
            if let Some(next) = rest.chars().next().filter(char::is_ascii_alphabetic) {
                (letter, rest) = (next, &rest[1..]);
            }
            let (x, y) = points.last().copied().unwrap_or_default();
            let at = match letter {
                'M' => (number(&mut rest), number(&mut rest)),
                'h' => (x + number(&mut rest), y),
                'v' => (x, y + number(&mut rest)),
                'l' => (x + number(&mut rest), y + number(&mut rest)),
                other => panic!("`{other}` in {path}"),
            };
            points.push(at);
        }
        points
    }

    proptest! {
        /// Rounding does not add up: each drawn point is at its position.
        #[test]
        fn a_path_goes_through_the_points(
            all in prop::collection::vec(
                (prop_oneof![Just(5.0), -9.0..900.0_f64], prop_oneof![Just(7.0), -9.0..9.0_f64]),
                1..60,
            ),
        ) {
            let text = steps(&all);
            let drawn = read(&text);
            let is_near = |one: At, other: At| {
                (one.0 - other.0).abs() < 0.0501 && (one.1 - other.1).abs() < 0.0501
            };
            let mut drawn = drawn.into_iter().peekable();
            let mut last = (f64::NAN, f64::NAN);
            for at in telling(&all) {
                if drawn.peek().is_some_and(|&next| is_near(next, at)) {
                    last = drawn.next().unwrap();
                }
                prop_assert!(is_near(last, at), "{at:?} is not in {text}");
            }
            prop_assert_eq!(drawn.next(), None);
        }
    }

    #[test]
    fn paths_are_short() {
        let all = [(1.0, 2.0), (1.04, 2.0), (3.55, 2.0), (3.55, 1.5), (3.0, 1.0), (3.5, 2.5)];
        assert_eq!(steps(&all), "M1 2h2.6v-.5l-.6-.5 .5 1.5");
        assert_eq!(steps(&[]), "");
    }

    #[test]
    fn boxes_that_touch_go_on_touching() {
        for left in [26.44, 26.46, 0.0, -3.25] {
            let right = left + 2.04;
            let drawn = |text: String| text.parse::<f64>().unwrap();
            let edge = drawn(at(left)) + drawn(length(left, 2.04));
            assert!((edge - drawn(at(right))).abs() < 1e-9, "{left}");
        }
        assert_eq!(length(1.0, 0.001), ".1");
        assert_eq!(length(1.0, 0.0), "0");
    }

    #[test]
    fn straight_stretches_are_two_points() {
        let straight = (0..1000).map(|x| (f64::from(x), 2.0));
        let up = (0..500).map(|y| (999.0, 2.0 + f64::from(y)));
        let all: Vec<At> = straight.chain(up).collect();
        assert_eq!(telling(&all), [(0.0, 2.0), (999.0, 2.0), (999.0, 501.0)]);
        assert_eq!(telling(&[]), []);
        assert_eq!(telling(&[(1.0, 1.0)]), [(1.0, 1.0)]);
    }

    /// A page narrows a plot over time to a window: the contents and the ticks are groups.
    #[test]
    fn plots_over_time_say_what_they_show_and_others_do_not() {
        let svg_of = |title: &str| {
            let mut canvas = Canvas::new(Look::default());
            let room = Room::Across(100.0, 12.0);
            let x = Axis::new(title, 1.0, 3.0, Scale::Linear, room);
            let y = Axis::new("", 0.0, 1.0, Scale::Linear, Room::Up(50.0, 12.0));
            let frame = Frame { left: 10.0, top: 5.0, width: 100.0, height: 50.0, x, y };
            frame.draw_x(&mut canvas);
            let first = canvas.marks.len();
            canvas.line(vec![frame.at(1.0, 0.0), frame.at(3.0, 1.0)], 1.0, Ink::TEXT);
            frame.close(first, &mut canvas);
            canvas.line(vec![(0.0, 0.0), (1.0, 1.0)], 1.0, Ink::GRID);
            svg(&canvas)
        };
        let text = svg_of(HOURS_OF_TRACE);
        let plot = "<g class=\"plot\" data-since=\"trace\" data-unit=\"h\" data-seconds=\"3600 10800\" \
                    data-across=\"10 110\" data-down=\"5 55\">\n<path";
        assert_eq!(text.matches(plot).count(), 1, "{text}");
        assert!(text.find("<g class=\"ticks\">").unwrap() < text.find(plot).unwrap());
        assert_eq!(text.matches("<g").count(), text.matches("</g>").count());
        let lines = |text: &str| text.matches('M').count();
        let other = svg_of("CPU");
        assert!(!other.contains("class=\"plot\"") && !other.contains("class=\"ticks\""), "{other}");
        assert_eq!(lines(&text), lines(&other));
    }

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
            "<g class=\"values\" fill=\"none\" stroke=\"transparent\" stroke-width=\"8\" \
             stroke-linecap=\"round\">\n\
             <path d=\"M7 9h0\"><title>a&lt;b &amp; c\ns: 1,234.50</title></path>\n\
             </g>\n<g class=\"values\" fill=\"transparent\">\n\
             <path d=\"M1 2h1v6h-1z\"><title>jobs: 3</title></path>\n\
             </g>\n</g>\n</svg>\n"
        ));
    }
}

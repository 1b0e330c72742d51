//! Shapes that mark points of curves and ends of bars, for readers who see no colours.
//!
//! In: a position, a shape and a size. Out: marks on the canvas.

use super::axes::Frame;
use super::canvas::{Align, At, Canvas, Mark, width_of};
use super::theme::{Ink, Marker};

/// Writes a text beside a point, if there is room in the plot that no other text has.
pub(super) fn label(canvas: &mut Canvas, frame: &Frame, (x, y): At, text: &str) {
    let size = canvas.look.text;
    let wide = width_of(text, size);
    let (apart, up) = (0.5 * size, 0.8 * size);
    let right = frame.left + frame.width;
    let is_free = |(left, middle): At| {
        let own = [left, middle - 0.6 * size, left + wide, middle + 0.6 * size];
        let is_inside = frame.left <= own[0]
            && frame.top <= own[1]
            && own[2] <= right
            && own[3] <= frame.bottom();
        let meets = |other: [f64; 4]| {
            own[0] < other[2] && other[0] < own[2] && own[1] < other[3] && other[1] < own[3]
        };
        is_inside && !canvas.marks.iter().filter_map(box_of).any(meets)
    };
    let sides = [x + apart, x - apart - wide];
    let places = [-up, up].into_iter().flat_map(|down| sides.map(|left| (left, y + down)));
    if let Some(place) = places.into_iter().find(|place| is_free(*place)) {
        canvas.text(text, place, Align::Left, size, Ink::TEXT);
    }
}

/// The left, top, right and bottom of a level text.
fn box_of(mark: &Mark) -> Option<[f64; 4]> {
    let Mark::Text { at, text, size, align, is_turned: false, .. } = mark else { return None };
    let wide = width_of(text, *size);
    let left = match align {
        Align::Left => at.0,
        Align::Middle => at.0 - wide / 2.0,
        Align::Right => at.0 - wide,
    };
    let middle = at.1 - 0.36 * size;
    Some([left, middle - 0.6 * size, left + wide, middle + 0.6 * size])
}

/// Draws one marked point.
pub(super) fn mark(canvas: &mut Canvas, (x, y): At, marker: Marker, radius: f64, ink: Ink) {
    let area = |points: &[At]| {
        let points = points.iter().map(|(right, down)| (x + right * radius, y + down * radius));
        Mark::Area { points: points.collect(), ink }
    };
    let stroke = |from: At, to: At| {
        let at = |(right, down): At| (x + right * radius, y + down * radius);
        Mark::Path { points: vec![at(from), at(to)], width: radius / 2.0, dash: &[], ink }
    };
    match marker {
        Marker::Dot => canvas.marks.push(Mark::Dot { at: (x, y), radius, ink }),
        Marker::Ring => {
            canvas.marks.push(Mark::Dot { at: (x, y), radius, ink: Ink::PAPER });
            canvas.marks.push(Mark::Ring { at: (x, y), radius, width: radius / 2.0, ink });
        }
        Marker::Square => {
            canvas.marks.push(area(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]));
        }
        Marker::Up => canvas.marks.push(area(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)])),
        Marker::Down => canvas.marks.push(area(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)])),
        Marker::Diamond => {
            canvas.marks.push(area(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]));
        }
        Marker::Cross => canvas
            .marks
            .extend([stroke((-1.0, -1.0), (1.0, 1.0)), stroke((-1.0, 1.0), (1.0, -1.0))]),
        Marker::Plus => {
            canvas.marks.extend([stroke((-1.2, 0.0), (1.2, 0.0)), stroke((0.0, -1.2), (0.0, 1.2))]);
        }
    }
}

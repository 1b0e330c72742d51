//! Shapes that mark points of curves and ends of bars, for readers who see no colours.
//!
//! In: a position, a shape and a size. Out: marks on the canvas.

use super::canvas::{At, Canvas, Mark};
use super::theme::{Ink, Marker};

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

//! Shapes that mark points of curves and ends of bars, for readers who cannot distinguish colours.
//!
//! In: a position, a shape and a size. Out: marks on the canvas.

use super::axes::Frame;
use super::canvas::{Align, At, Canvas, Mark, width_of};
use super::theme::{Ink, Marker};

/// Writes a text next to a point, if the plot has a free place for it. A place is free if it has no
/// other text and no mark of a point; places without a curve are preferred. A text at a distance
/// has a thin line to its point. Lines behind the text are faint.
pub(super) fn label(canvas: &mut Canvas, frame: &Frame, (x, y): At, text: &str) {
    let size = canvas.look.text;
    let wide = width_of(text, size);
    let (apart, up) = (0.5 * size, 0.8 * size);
    let right = frame.left + frame.width;
    let around = |(left, middle): At| [left, middle - 0.6 * size, left + wide, middle + 0.6 * size];
    let is_free = |at: At| {
        let own = around(at);
        let is_inside = frame.left <= own[0]
            && frame.top <= own[1]
            && own[2] <= right
            && own[3] <= frame.bottom();
        is_inside && !canvas.marks.iter().filter_map(taken).any(|other| meet(own, other))
    };
    // Whiskers and the grid are thinner than curves.
    let least = canvas.look.stroke();
    let is_crossed = |at: At| canvas.marks.iter().any(|mark| is_curve_in(mark, least, around(at)));
    let sides = [x + apart, x - apart - wide];
    let places = |times: f64| {
        let downs = [-up * times, up * times];
        downs.into_iter().flat_map(move |down| sides.map(|left| (left, y + down)))
    };
    let near = || places(NEAR);
    let all = || near().chain(FAR.into_iter().flat_map(&places));
    let place = near().find(|at| is_free(*at) && !is_crossed(*at));
    let place = place.or_else(|| near().find(|at| is_free(*at)));
    let place = place.or_else(|| all().find(|at| is_free(*at) && !is_crossed(*at)));
    let Some(place) = place.or_else(|| all().find(|at| is_free(*at))) else { return };
    if 1.5 * up < (place.1 - y).abs() {
        let end = if place.0 < x { place.0 + wide } else { place.0 };
        canvas.line(vec![(x, y), (end, place.1)], 0.4 * least, Ink::TEXT.with_opacity(0.6));
    }
    let corner = (place.0 - 0.15 * size, place.1 - 0.55 * size);
    canvas.fill(corner, (wide + 0.3 * size, 1.1 * size), Ink::PAPER.with_opacity(0.75));
    canvas.text(text, place, Align::Left, size, Ink::TEXT);
}

/// The distance of a label above or below its point, as a multiple of the usual distance. `FAR` is
/// used if there is no free place at `NEAR`.
const NEAR: f64 = 1.0;
const FAR: [f64; 3] = [2.4, 4.0, 6.0];

/// Whether two boxes overlap; each is given by its left, top, right and bottom.
fn meet(one: [f64; 4], other: [f64; 4]) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

/// Whether a box contains a piece of a curve that is at least this wide. A slanting piece counts
/// with its whole bounding box.
fn is_curve_in(mark: &Mark, least: f64, place: [f64; 4]) -> bool {
    let Mark::Path { points, width, .. } = mark else { return false };
    let is_in = |pair: &[At]| {
        let [from, to] = [pair[0], pair[1]];
        let corners = [from.0.min(to.0), from.1.min(to.1), from.0.max(to.0), from.1.max(to.1)];
        meet(place, corners)
    };
    least <= *width && points.windows(2).any(is_in)
}

/// The box of a level text or of the mark of a point; `None` for other marks.
fn taken(mark: &Mark) -> Option<[f64; 4]> {
    let around = |(x, y): At, radius: f64| [x - radius, y - radius, x + radius, y + radius];
    match mark {
        Mark::Dot { at, radius, .. } | Mark::Ring { at, radius, .. } => Some(around(*at, *radius)),
        Mark::Area { points, .. } if points.len() <= MARK_CORNERS => {
            let all =
                points.iter().fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |own, (x, y)| {
                    [own[0].min(*x), own[1].min(*y), own[2].max(*x), own[3].max(*y)]
                });
            Some(all)
        }
        other => box_of(other),
    }
}

/// The largest number of corners that the mark of a point has.
const MARK_CORNERS: usize = 4;

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::{Chart, Line, LineChart, Look, Scale, Stroke, Tone, drawn};

    #[test]
    fn a_curve_through_a_box_is_seen_and_a_whisker_is_not() {
        let path =
            |points: Vec<At>, width: f64| Mark::Path { points, width, dash: &[], ink: Ink::TEXT };
        let place = [10.0, 10.0, 20.0, 15.0];
        let upright = vec![(12.0, 0.0), (12.0, 50.0)];
        assert!(is_curve_in(&path(upright.clone(), 2.0), 2.0, place));
        assert!(!is_curve_in(&path(upright, 1.0), 2.0, place));
        assert!(!is_curve_in(&path(vec![(25.0, 0.0), (25.0, 50.0)], 2.0), 2.0, place));
    }

    proptest! {
        /// Promise: no label covers another one or the mark of a point.
        #[test]
        fn labels_cover_no_text_and_no_point(
            points in prop::collection::vec((0.0..100.0_f64, 0.0..100.0_f64), 1..12),
        ) {
            let line = |name: &str, points: Vec<At>, stroke| Line {
                name: name.to_owned(),
                points,
                band: Vec::new(),
                tone: Tone::Blue,
                stroke,
            };
            let mut lines = vec![line("rule", points.clone(), Stroke::Points)];
            let labels = points.iter().enumerate();
            lines.extend(labels.map(|(idx, at)| line(&format!("rule {idx}"), vec![*at], Stroke::Label)));
            let chart = Chart::Lines(LineChart {
                title: String::new(),
                caption: String::new(),
                x_axis: "jobs".to_owned(),
                y_axis: "saved (%)".to_owned(),
                x_scale: Scale::Linear,
                y_from: 0.0,
                lines,
            });
            let canvas = drawn(&chart, Look::SCREEN);
            let is_label = |mark: &&Mark| {
                matches!(mark, Mark::Text { text, .. } if text.starts_with("rule "))
            };
            let labels: Vec<[f64; 4]> = canvas.marks.iter().filter(is_label).filter_map(box_of).collect();
            let is_mark = |mark: &&Mark| matches!(mark, Mark::Dot { .. } | Mark::Ring { .. });
            let marks: Vec<[f64; 4]> = canvas.marks.iter().filter(is_mark).filter_map(taken).collect();
            for (idx, own) in labels.iter().enumerate() {
                for other in labels[idx + 1..].iter().chain(&marks) {
                    let meets = |from: usize, to: usize| own[from] < other[to] && other[from] < own[to];
                    let meets = meets(0, 2) && meets(1, 3);
                    prop_assert!(!meets, "{own:?} {other:?}");
                }
            }
        }
    }
}

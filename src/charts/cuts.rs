//! The gaps of a plot over time: nothing is drawn inside them, and they are hatched and named. The
//! time for which a log lacks jobs is shaded and named.
//!
//! In: the marks of a plot, and the gaps on it. Out: the same marks without the parts inside a gap,
//! and a hatched field over each gap.

use super::canvas::{Align, At, Canvas, Mark, Place, Shape};
use super::hatch::hatch;
use super::theme::{Ink, Tone};

/// The name of a gap below the plot and under the pointer.
pub(super) const NAME: &str = "not in the log";

/// The name of the time for which a log lacks the jobs that had ended.
pub(super) const EARLY: &str = "jobs that had ended are not in the log";

/// The colour of that time.
const PALE: Ink = Ink::GRID.with_opacity(0.6);

/// A gap on a plot.
pub(super) struct Gap {
    /// Its tooltip: its name, start and end.
    pub says: String,
    /// Left and right edge, pixels.
    pub across: [f64; 2],
}

/// Hatches the gaps of a plot before its contents are drawn; `down` is the top and bottom of the
/// plot.
pub(super) fn shade(down: [f64; 2], gaps: &[Gap], canvas: &mut Canvas) {
    // The lower axis stays visible.
    let (top, bottom) = (down[0], down[1] - canvas.look.line() / 2.0);
    for Gap { says, across: [left, right] } in gaps {
        field([*left, top, *right, bottom], canvas);
        let shape = Shape::Area((*left, top), (right - left, bottom - top));
        canvas.places.push(Place { shape, says: says.clone() });
        canvas.has_shown_gaps = true;
    }
}

/// Shades the time for which a log lacks jobs, behind the marks of the plot (from mark `first` on).
/// If this time ends on the plot, a line in front marks the end.
pub(super) fn shade_early(
    [top, bottom]: [f64; 2],
    ([left, right], has_end): ([f64; 2], bool),
    first: usize,
    canvas: &mut Canvas,
) {
    let drawn = canvas.marks.split_off(first);
    let bottom = bottom - canvas.look.line() / 2.0;
    canvas.fill((left, top), (right - left, bottom - top), PALE);
    canvas.marks.extend(drawn);
    if has_end {
        let (points, width) = (vec![(right, top), (right, bottom)], canvas.look.line());
        canvas.marks.push(Mark::Path { points, width, dash: &[4.0, 3.0], ink: Ink::TEXT });
    }
    canvas.has_shown_early = true;
}

fn field([left, top, right, bottom]: [f64; 4], canvas: &mut Canvas) {
    canvas.fill((left, top), (right - left, bottom - top), Ink::GRID);
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
    hatch(&corners, Tone::Vermilion, canvas);
}

/// Removes the marks of a plot (from mark `first` on) that are inside its gaps, and hatches the
/// gaps.
pub(super) fn leave_out(down: [f64; 2], gaps: &[Gap], first: usize, canvas: &mut Canvas) {
    if gaps.is_empty() {
        return;
    }
    let inside = |(x, y): At| {
        (down[0]..=down[1]).contains(&y)
            && gaps.iter().any(|Gap { across: [left, right], .. }| *left < x && x < *right)
    };
    canvas.places.retain(|place| match place.shape {
        Shape::Point(at) => !inside(at),
        Shape::Area((x, y), (wide, high)) => !inside((x + wide / 2.0, y + high / 2.0)),
    });
    let drawn = canvas.marks.split_off(first);
    shade(down, gaps, canvas);
    let mut from = f64::NEG_INFINITY;
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for gap in gaps {
        kept.push([from, gap.across[0]]);
        from = gap.across[1];
    }
    kept.push([from, f64::INFINITY]);
    canvas.marks.extend(drawn.iter().flat_map(|mark| outside(mark, &kept)));
}

/// Names the hatched and the shaded fields below the picture.
pub(super) fn explain(canvas: &mut Canvas) {
    let (size, margin) = (canvas.look.text, canvas.look.margin());
    for (is_shown, name) in [(canvas.has_shown_gaps, NAME), (canvas.has_shown_early, EARLY)] {
        if !is_shown {
            continue;
        }
        let y = canvas.height + 0.3 * size;
        let [left, right] = [margin, margin + 2.4 * size];
        let down = [y - 0.4 * size, y + 0.4 * size];
        if name == NAME {
            field([left, down[0], right, down[1]], canvas);
        } else {
            canvas.fill((left, down[0]), (right - left, down[1] - down[0]), PALE);
        }
        canvas.text(name, (right + 0.5 * size, y), Align::Left, size, Ink::TEXT);
        canvas.height = y + 1.2 * size;
    }
}

/// The parts of a mark in the kept stretches of the plot, pixels.
fn outside(mark: &Mark, kept: &[[f64; 2]]) -> Vec<Mark> {
    match mark {
        Mark::Path { points, width, dash, ink } => {
            let pieces = kept.iter().flat_map(|range| pieces(points, *range));
            let (width, dash, ink) = (*width, *dash, *ink);
            pieces.map(|points| Mark::Path { points, width, dash, ink }).collect()
        }
        Mark::Strokes { strokes, width, ink } => {
            let parts = strokes
                .iter()
                .flat_map(|[from, to]| kept.iter().filter_map(|range| segment(*from, *to, *range)));
            let strokes: Vec<[At; 2]> = parts.collect();
            let (is_there, width, ink) = (!strokes.is_empty(), *width, *ink);
            is_there.then_some(Mark::Strokes { strokes, width, ink }).into_iter().collect()
        }
        Mark::Area { points, ink } => {
            let parts = kept.iter().map(|range| polygon(points, *range));
            let parts = parts.filter(|points| 2 < points.len());
            parts.map(|points| Mark::Area { points, ink: *ink }).collect()
        }
        Mark::Box { at, size, ink } => {
            let parts = kept.iter().filter_map(|[low, high]| {
                let (left, right) = (at.0.max(*low), (at.0 + size.0).min(*high));
                let (at, size) = ((left, at.1), (right - left, size.1));
                (left < right).then_some(Mark::Box { at, size, ink: *ink })
            });
            parts.collect()
        }
        Mark::Dot { at, .. } | Mark::Ring { at, .. } => {
            let is_kept = kept.iter().any(|[low, high]| (*low..=*high).contains(&at.0));
            is_kept.then(|| mark.clone()).into_iter().collect()
        }
        Mark::Text { .. } => vec![mark.clone()],
    }
}

/// The part of a line segment from `low` to `high`.
fn segment(from: At, to: At, [low, high]: [f64; 2]) -> Option<[At; 2]> {
    if from.0.max(to.0) < low || high < from.0.min(to.0) {
        return None;
    }
    let at = |x: f64| {
        let inside = x.clamp(low, high);
        let share = if from.0 == to.0 { 0.0 } else { (inside - from.0) / (to.0 - from.0) };
        (inside, from.1 + share * (to.1 - from.1))
    };
    if from.0 == to.0 {
        return Some([from, to]);
    }
    let part = [at(from.0), at(to.0)];
    (part[0].0 != part[1].0).then_some(part)
}

/// The parts of a line from `low` to `high`.
fn pieces(points: &[At], range: [f64; 2]) -> Vec<Vec<At>> {
    let mut pieces: Vec<Vec<At>> = Vec::new();
    for pair in points.windows(2) {
        let Some([from, to]) = segment(pair[0], pair[1], range) else { continue };
        match pieces.last_mut().filter(|piece| piece.last() == Some(&from)) {
            Some(piece) => piece.push(to),
            None => pieces.push(vec![from, to]),
        }
    }
    pieces
}

/// The part of a polygon from `low` to `high` (Sutherland and Hodgman, 1974).
fn polygon(points: &[At], [low, high]: [f64; 2]) -> Vec<At> {
    let mut own = points.to_vec();
    for (edge, way) in [(low, 1.0), (high, -1.0)].into_iter().filter(|side| side.0.is_finite()) {
        let is_in = |at: At| 0.0 <= way * (at.0 - edge);
        let mut cut: Vec<At> = Vec::with_capacity(own.len());
        for (idx, &to) in own.iter().enumerate() {
            let from = own[idx.checked_sub(1).unwrap_or(own.len() - 1)];
            if is_in(from) != is_in(to) {
                let share = (edge - from.0) / (to.0 - from.0);
                cut.push((edge, from.1 + share * (to.1 - from.1)));
            }
            if is_in(to) {
                cut.push(to);
            }
        }
        own = cut;
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_line_holds_its_value_up_to_the_gap() {
        let points = [(0.0, 5.0), (4.0, 5.0), (4.0, 9.0), (8.0, 9.0)];
        let kept = |range| pieces(&points, range);
        assert_eq!(kept([f64::NEG_INFINITY, 3.0]), [[(0.0, 5.0), (3.0, 5.0)]]);
        assert_eq!(kept([6.0, f64::INFINITY]), [[(6.0, 9.0), (8.0, 9.0)]]);
        assert!(kept([9.0, f64::INFINITY]).is_empty());
        let square = [(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0)];
        let part = polygon(&square, [f64::NEG_INFINITY, 1.0]);
        assert_eq!(part, [(0.0, 0.0), (1.0, 0.0), (1.0, 2.0), (0.0, 2.0)]);
    }
}

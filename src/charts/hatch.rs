//! Strokes over filled shapes, so that adjacent areas differ in print without colour.
//!
//! In: the outline of a shape and a tone. Out: strokes within it, as one mark. Strokes of a tone
//! are at the same positions in every shape, so touching shapes of a tone look like one.
//!
//! ```text
//!  ╱╱╱╱╱╱╱╱╱  vermilion     │││││││││  orange     ╳╳╳╳╳╳╳╳╳  sky
//!  ╲╲╲╲╲╲╲╲╲  green         ─────────  purple     ┼┼┼┼┼┼┼┼┼  grey     ink and blue are plain
//! ```

use std::collections::BTreeMap;

use super::canvas::{At, Canvas, Mark};
use super::theme::{Ink, Tone};

/// Distance between strokes, as a multiple of the text height.
const APART: f64 = 0.6;

/// Opacity of the strokes.
const OPACITY: f64 = 0.6;

/// Shorter strokes look like points and are left out, pixels.
const SHORTEST: f64 = 0.5;

/// Directions of the strokes of a tone: to the right, and down.
pub(super) const fn directions(tone: Tone) -> &'static [At] {
    match tone {
        Tone::Ink | Tone::Blue => &[],
        Tone::Vermilion => &[(1.0, -1.0)],
        Tone::Green => &[(1.0, 1.0)],
        Tone::Orange => &[(0.0, 1.0)],
        Tone::Purple => &[(1.0, 0.0)],
        Tone::Sky => &[(1.0, -1.0), (1.0, 1.0)],
        Tone::Grey => &[(1.0, 0.0), (0.0, 1.0)],
    }
}

/// The largest number of lines on either side of the corner of a canvas; no canvas shows as many.
/// Values of a damaged trace can be far outside the canvas.
const LINES_MAX: f64 = 5_000.0;

/// Draws strokes over a shape filled with a tone.
pub(super) fn hatch(outline: &[At], tone: Tone, canvas: &mut Canvas) {
    let look = canvas.look;
    let strokes = directions(tone).iter().flat_map(|&way| strokes(outline, way, APART * look.text));
    let is_seen = |[from, to]: &[At; 2]| SHORTEST <= (to.0 - from.0).hypot(to.1 - from.1);
    let strokes: Vec<[At; 2]> = strokes.filter(is_seen).collect();
    if !strokes.is_empty() {
        let ink = Ink::PAPER.with_opacity(OPACITY);
        canvas.marks.push(Mark::Strokes { strokes, width: look.line(), ink });
    }
}

/// The pieces of parallel lines within a polygon: between the first and second edge that a line
/// crosses, the third and fourth, and so on.
fn strokes(outline: &[At], (right, down): At, apart: f64) -> Vec<[At; 2]> {
    let length = right.hypot(down);
    let (right, down) = (right / length, down / length);
    // The line through a point, and the position of the point along that line.
    let line = |(x, y): At| (y * right - x * down) / apart;
    let along = |(x, y): At| x * right + y * down;
    let mut crossings: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for (idx, &to) in outline.iter().enumerate() {
        let from = outline[idx.checked_sub(1).unwrap_or(outline.len() - 1)];
        let (low, high) = if line(from) < line(to) { (from, to) } else { (to, from) };
        // An edge includes its lower end but not its upper one, so no corner is counted twice.
        #[expect(clippy::cast_possible_truncation, reason = "few lines")]
        let number = |place: f64| place.ceil().clamp(-LINES_MAX, LINES_MAX) as i64;
        let lines = number(line(low))..number(line(high));
        for number in lines {
            #[expect(clippy::cast_precision_loss, reason = "places on a canvas")]
            let share = (number as f64 - line(low)) / (line(high) - line(low));
            let place = along(low) + share * (along(high) - along(low));
            crossings.entry(number).or_default().push(place);
        }
    }
    let mut found = Vec::new();
    for (number, mut places) in crossings {
        places.sort_by(f64::total_cmp);
        #[expect(clippy::cast_precision_loss, reason = "places on a canvas")]
        let across = number as f64 * apart;
        let at = |along: f64| (along * right - across * down, along * down + across * right);
        found.extend(places.chunks_exact(2).map(|pair| [at(pair[0]), at(pair[1])]));
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Stacked steps, as in an area.
    fn outlines() -> impl Strategy<Value = Vec<[f64; 2]>> {
        let step = (0.0..50.0, 0.0..50.0).prop_map(|(low, high): (f64, f64)| [low, low + high]);
        prop::collection::vec(step, 1..20)
    }

    const WIDE: f64 = 10.0;

    proptest! {
        /// Compared with the definition: each point is either inside the steps or not, and strokes
        /// cover as much of the shape as their distance implies.
        #[test]
        fn strokes_lie_within_their_shape(steps in outlines(), tone in 0..6_usize) {
            let tones = [Tone::Vermilion, Tone::Green, Tone::Orange, Tone::Purple, Tone::Sky, Tone::Grey];
            let mut upper = Vec::new();
            let mut lower = Vec::new();
            for (left, step) in (0_u32..).map(|idx| f64::from(idx) * WIDE).zip(&steps) {
                upper.extend([(left, -step[1]), (left + WIDE, -step[1])]);
                lower.extend([(left, -step[0]), (left + WIDE, -step[0])]);
            }
            let outline: Vec<At> = upper.into_iter().chain(lower.into_iter().rev()).collect();
            let whole: f64 = steps.iter().map(|step| (step[1] - step[0]) * WIDE).sum();
            for &way in directions(tones[tone]) {
                let apart = 0.05;
                let found = strokes(&outline, way, apart);
                // If steps touch in a point, a stroke has no length.
                let seen = |[from, to]: &&[At; 2]| 1e-6 < (to.0 - from.0).hypot(to.1 - from.1);
                for [from, to] in found.iter().filter(seen) {
                    for share in [0.25, 0.5, 0.75] {
                        let x = from.0 + share * (to.0 - from.0);
                        let y = -(from.1 + share * (to.1 - from.1));
                        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few steps")]
                        let at = (x / WIDE).floor().clamp(0.0, 19.0) as usize;
                        // At the edge between two steps, a point may belong to either step.
                        let near = [at.checked_sub(1), Some(at), Some(at + 1)];
                        let is_edge = (x / WIDE - (x / WIDE).round()).abs() < 1e-6;
                        let within = near.into_iter().flatten().filter(|&one| one == at || is_edge)
                            .filter_map(|one| steps.get(one))
                            .any(|step| step[0] - 1e-6 <= y && y <= step[1] + 1e-6);
                        prop_assert!(within, "({x}, {y}) of {from:?} {to:?}");
                    }
                }
                let covered: f64 = found.iter()
                    .map(|[from, to]| (to.0 - from.0).hypot(to.1 - from.1) * apart).sum();
                // The error of a sum over lines is at most the change from one line to the next.
                let changes: f64 = steps.iter().map(|step| 2.0 * (step[1] - step[0]) + 200.0).sum();
                let error = 2.0 * changes * apart;
                prop_assert!((covered - whole).abs() <= error, "{covered} {whole} {error}");
            }
        }
    }

    #[test]
    fn a_shape_beyond_the_canvas_takes_no_longer() {
        let outline = [(0.0, 0.0), (500.0, -1e18), (500.0, 1e18), (0.0, 100.0)];
        let found = strokes(&outline, directions(Tone::Vermilion)[0], 6.0);
        assert!(found.len() < 20_000);
    }

    #[test]
    fn tones_without_colour_differ_by_their_strokes() {
        let tones =
            [Tone::Vermilion, Tone::Green, Tone::Orange, Tone::Purple, Tone::Sky, Tone::Grey];
        for (idx, one) in tones.iter().enumerate() {
            assert!(!directions(*one).is_empty());
            assert!(tones[..idx].iter().all(|two| directions(*one) != directions(*two)), "{one:?}");
        }
    }
}

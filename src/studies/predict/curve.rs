//! The points of a ROC curve and a precision-recall curve, and which of them are kept.
//!
//! In: the cuts of a rule, one per distinct chance, by descending chance. Out: a smaller number of
//! cuts, and the best one by F1. Points at fixed round chances would not work: if nearly all
//! chances are the same, most of the curve would be missed and the area under it would be wrong.
//!
//! ```text
//!  recall │      __o--o        o  kept: the first and the last cut of each stretch, without those
//!         │   _o-              that are on the line between their neighbours
//!         │ o/
//!         └──────────────────── false positive rate
//! ```

/// The jobs with a chance of at least `chance`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// The smallest chance of a job that is predicted not to finish.
    pub(super) chance: f64,
    /// The jobs with at least this chance that finished.
    pub(super) finished: u64,
    /// The jobs with at least this chance that did not finish.
    pub(super) lost: u64,
}

/// The number of stretches of the ROC curve. They have equal lengths in false positive rate plus
/// recall, a sum that ends at 2. Within a stretch the sum rises by at most 2 / 1,000. So a straight
/// line from its first to its last cut changes the area by at most 1 / (2 × 1,000²), and all
/// stretches together by at most 0.0005.
const STRETCHES: u64 = 1000;

/// The largest distance of a left-out cut from the line that replaces it, in both curves. The ROC
/// curve is at most 2 long, so this changes its area by at most 0.0004.
const NEAR: f64 = 0.0002;

/// The cuts that are kept, in the same order: at most about 2,000, including the first and the
/// last. The area under the ROC curve through (0, 0) and these cuts differs by less than 0.001 from
/// the area under the curve through all cuts.
pub(super) fn thinned(cuts: &[Cut]) -> Vec<Cut> {
    let Some(all) = cuts.last() else { return Vec::new() };
    let [finished, lost] = [all.finished, all.lost].map(|count| u128::from(count.max(1)));
    let stretch = |cut: &Cut| {
        let sum = u128::from(cut.finished) * lost + u128::from(cut.lost) * finished;
        sum * u128::from(STRETCHES) / (2 * finished * lost)
    };
    let ends = cuts.chunk_by(|one, next| stretch(one) == stretch(next)).flat_map(|own| {
        let end = own.last().filter(|_| 1 < own.len());
        own.first().into_iter().chain(end)
    });
    corners(&ends.copied().collect::<Vec<Cut>>(), all)
}

/// The cuts at which a curve bends, by the algorithm of Ramer, Douglas and Peucker. Between two
/// kept cuts, the cut that is furthest from the line between them is kept too, if its distance is
/// more than [`NEAR`].
fn corners(cuts: &[Cut], all: &Cut) -> Vec<Cut> {
    let places: Vec<[f64; 3]> = cuts.iter().map(|cut| place(cut, all)).collect();
    let mut is_kept = vec![false; cuts.len()];
    let mut open = vec![(0, cuts.len().saturating_sub(1))];
    while let Some((first, last)) = open.pop() {
        is_kept[first] = true;
        is_kept[last] = true;
        let between =
            (first + 1..last).map(|idx| (distance(places[idx], places[first], places[last]), idx));
        let furthest = between.max_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((_, idx)) = furthest.filter(|(distance, _)| NEAR < *distance) {
            open.extend([(first, idx), (idx, last)]);
        }
    }
    cuts.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(cut, _)| *cut).collect()
}

/// A cut as a point in space: false positive rate, recall and precision. Points that are near in
/// this space are near in the plane of each curve.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn place(cut: &Cut, all: &Cut) -> [f64; 3] {
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    [
        share(cut.finished, all.finished),
        share(cut.lost, all.lost),
        share(cut.lost, cut.finished + cut.lost),
    ]
}

/// The distance of a point from the line between two others.
fn distance(of: [f64; 3], from: [f64; 3], to: [f64; 3]) -> f64 {
    let minus = |one: [f64; 3], other: [f64; 3]| [0, 1, 2].map(|axis| one[axis] - other[axis]);
    let times = |one: [f64; 3], other: [f64; 3]| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    let (along, own) = (minus(to, from), minus(of, from));
    let length = times(along, along);
    let part = if length == 0.0 { 0.0 } else { (times(own, along) / length).clamp(0.0, 1.0) };
    let rest = minus(own, along.map(|axis| axis * part));
    times(rest, rest).sqrt()
}

/// The cut with the largest F1, the harmonic mean of precision and recall. Of equal ones it is the
/// first, with the largest chance. `None` if no job of any cut is lost.
pub(super) fn best_f1(cuts: &[Cut]) -> Option<&Cut> {
    let lost = cuts.last()?.lost;
    // F1 is 2 lost / (finished + lost + all lost). Whole numbers make the comparison exact.
    let more = |one: &Cut, other: &Cut| {
        let under = |cut: &Cut| u128::from(cut.finished + cut.lost + lost);
        u128::from(one.lost) * under(other) < u128::from(other.lost) * under(one)
    };
    let hits = cuts.iter().filter(|cut| 0 < cut.lost);
    hits.reduce(|best, next| if more(best, next) { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chance: f64, finished: u64, lost: u64) -> Cut {
        Cut { chance, finished, lost }
    }

    #[test]
    fn cuts_on_a_line_are_left_out_and_corners_stay() {
        // Precision is one half along the whole first line, and falls along the second.
        let line = [cut(0.9, 10, 10), cut(0.8, 20, 20), cut(0.7, 30, 30), cut(0.1, 1000, 30)];
        assert_eq!(thinned(&line), [line[0], line[2], line[3]]);
        assert_eq!(thinned(&line[..1]), line[..1]);
        assert!(thinned(&[]).is_empty());
    }

    #[test]
    fn a_million_cuts_become_a_few() {
        let square = |jobs: u32| u64::from(jobs) * u64::from(jobs) / 1_000_000;
        let all: Vec<Cut> = (1..=1_000_000_u32)
            .map(|jobs| cut(1.0 / f64::from(jobs), square(jobs), u64::from(jobs)))
            .collect();
        let kept = thinned(&all);
        assert!((10..300).contains(&kept.len()), "{}", kept.len());
        assert_eq!((kept[0], kept.last()), (all[0], all.last()));
    }

    #[test]
    fn the_first_of_equal_bests_is_taken() {
        // F1 is 2 x 4 / (4 + 0 + 8) = 2/3, and 2 x 8 / (8 + 8 + 8) = 2/3.
        let cuts = [cut(0.9, 0, 4), cut(0.5, 8, 8)];
        assert_eq!(best_f1(&cuts), Some(&cuts[0]));
        assert_eq!(best_f1(&[cut(0.9, 3, 0)]), None);
        assert_eq!(best_f1(&[]), None);
    }
}

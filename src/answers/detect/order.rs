//! The order of detectors in charts.
//!
//! In: an outcome. Out: its detectors; those whose copies save most come first.

use crate::replay::detect::{DetectOutcome, DetectorRow};

/// The share of job time that copies save without a limit, if they copy the tasks that a detector
/// flags.
pub(super) fn saved(outcome: &DetectOutcome, row: &DetectorRow) -> Option<f64> {
    let all = outcome.copies.iter().filter(|copy| copy.budget.is_none());
    let mut own = all.filter(|copy| copy.detector == row.detector);
    own.find_map(|copy| copy.earlier_share)
}

/// The detectors, sorted by what their copies save and then by F1, both in descending order. The
/// bounds are left out, because their values would squeeze those of the others.
pub(super) fn in_order<'a>(
    outcome: &DetectOutcome,
    rows: &'a [DetectorRow],
) -> Vec<&'a DetectorRow> {
    let mut rows: Vec<&DetectorRow> = rows.iter().filter(|row| !is_bound(&row.detector)).collect();
    sort(&mut rows, |row| saved(outcome, row));
    rows
}

/// Sorts detectors by what their copies save and then by F1, both in descending order. The bounds
/// come last.
pub(super) fn sort(rows: &mut [&DetectorRow], saved: impl Fn(&DetectorRow) -> Option<f64>) {
    let f1 = |row: &DetectorRow| row.scores.first().and_then(|score| score.f1);
    let rank = |row: &DetectorRow| [saved(row), f1(row)].map(Option::unwrap_or_default);
    rows.sort_by(|one, other| {
        let by_bound = is_bound(&one.detector).cmp(&is_bound(&other.detector));
        let (one, other) = (rank(one), rank(other));
        let by_saved = other[0].total_cmp(&one[0]);
        by_bound.then(by_saved).then(other[1].total_cmp(&one[1]))
    });
}

/// Whether a detector is a bound for the others.
pub(super) fn is_bound(name: &str) -> bool {
    matches!(name, "none" | "oracle")
}

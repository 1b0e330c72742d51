//! Claims about jobs.

use super::found::{Found, basis, described, value_of};
use super::{DAY_S, figures};
use crate::answers::classify::{self, By};
use crate::answers::describe::Question;
use crate::claims::Side;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::mandai::{Basis, Place};
use crate::studies::outcomes::{Classes, Classification, OutcomeRow};
use crate::studies::samples::What;

/// Table 3.1.1, figures 3.1.1 and 3.2.1, and section 4.1 about jobs.
pub(super) fn jobs(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let basis = basis(lake, &[Table::JobEvents]);
    let counted = lake
        .has(Table::JobEvents)
        .then(|| classify::classification(lake, windows, By::Job, Classes::Sequence, None))
        .transpose()?;
    outcomes(&basis, counted.as_ref(), found);
    let question = Question::plain(What::JobDurations);
    let described = described(lake, windows, question, Table::JobEvents)?;
    let of = |outcome: &str, value| value_of(described.as_ref(), outcome, value);
    let minutes = |value: Option<f64>| value.map(|seconds| seconds / 60.0);
    let place = Place { name: "section 3.1, figure 3.1.1", basis: &basis };
    let days = of("all", |row| row.max).map(|seconds| seconds / DAY_S);
    found.claims.extend([
        place.number(
            "mean duration of a job, min",
            (255.0, 1.0),
            minutes(of("all", |row| row.mean)),
        ),
        place.number(
            "median duration of a job, min",
            (3.0, 1.0),
            minutes(of("all", |row| row.median)),
        ),
        place.number("variance of the duration, s²", (2.83e10, 1e8), of("all", |row| row.variance)),
        place.number("shortest duration, s", (0.001, 0.001), of("all", |row| row.min)),
        place.bound("longest duration, days (29 or more)", Side::AtLeast, 29.0, days),
    ]);
    let longer = |outcome| {
        of(outcome, |row| row.p90)
            .zip(of("finished", |row| row.p90))
            .map(|(one, other)| one - other)
    };
    let place = Place { name: "section 3.2, figure 3.2.1", basis: &basis };
    found.claims.push(place.direction(
        "failed, killed jobs last longer than finished (p90, s)",
        &[("failed", longer("failed")), ("killed", longer("killed"))],
    ));
    let place = Place { name: "section 4.1", basis: &basis };
    found.claims.push(place.bound(
        "jobs with at most 3 events, %, are over 99",
        Side::AtLeast,
        99.0,
        counted.as_ref().map(share_of_short_sequences),
    ));
    found.charts.extend(described.iter().flat_map(figures::durations));
    Ok(())
}

/// Table 3.1.1.
pub(super) fn outcomes(basis: &Basis, counted: Option<&Classification>, found: &mut Found) {
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    let count_of = |outcome: &str| {
        let row = counted?.rows.iter().find(|row| row.outcome == outcome)?;
        Some(row.count as f64)
    };
    let paper = [
        ("finished", 385_581.0, 57.375),
        ("failed", 10_124.0, 1.506),
        ("killed", 272_341.0, 40.525),
        ("running", 3_986.0, 0.593),
        ("other", 42.0, 0.006),
    ];
    let named: Option<f64> = paper[..4].iter().map(|(outcome, ..)| count_of(outcome)).sum();
    let place = Place { name: "table 3.1.1", basis };
    for (outcome, count, share) in paper {
        let ours = count_of(outcome);
        found.claims.push(place.number(&format!("{outcome} jobs"), (count, 1.0), ours));
        // In the paper, percentages are of the 672,032 jobs that are not `other`; no other base
        // gives its digits.
        let of_named = ours.zip(named).map(|(ours, named)| ours / named * 100.0);
        let claim = format!("{outcome} jobs, % of the 672,032 that are not `other`");
        found.claims.push(place.number(&claim, (share, 0.001), of_named));
    }
}

/// Jobs whose sequence has at most three events, %.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn share_of_short_sequences(counted: &Classification) -> f64 {
    let is_short = |row: &&OutcomeRow| row.sequence.as_ref().is_some_and(|one| one.len() <= 3);
    let short: u64 = counted.sequences.iter().filter(is_short).map(|row| row.count).sum();
    short as f64 / counted.total.max(1) as f64 * 100.0
}

//! Claims about the sizes of jobs.

use super::figures;
use super::found::{Found, basis, described, value_of};
use crate::answers::describe::Question;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::mandai::Place;
use crate::studies::samples::What;

/// Figures 3.1.2 and 3.2.2.
pub(super) fn sizes(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let basis = basis(lake, &[Table::TaskEvents]);
    let question = Question::plain(What::TasksPerJob);
    let described = described(lake, windows, question, Table::TaskEvents)?;
    let of = |outcome: &str, value| value_of(described.as_ref(), outcome, value);
    let place = Place { name: "section 3.1, figure 3.1.2", basis: &basis };
    found.claims.extend([
        place.number("mean tasks of a job", (37.9, 0.1), of("all", |row| row.mean)),
        place.number(
            "variance of the tasks of a job",
            (1.07e6, 1e4),
            of("all", |row| row.variance),
        ),
        place.number("most tasks of a job", (90_050.0, 1.0), of("all", |row| row.max)),
        place.number("75 % of jobs have at most, tasks", (1.0, 1.0), of("all", |row| row.p75)),
    ]);
    let more = |outcome| {
        of(outcome, |row| row.mean)
            .zip(of("finished", |row| row.mean))
            .map(|(one, other)| one - other)
    };
    let place = Place { name: "section 3.2, figure 3.2.2", basis: &basis };
    found.claims.push(place.direction(
        "failed, killed jobs have more tasks than finished (mean)",
        &[("failed", more("failed")), ("killed", more("killed"))],
    ));
    found.charts.extend(described.iter().flat_map(figures::sizes));
    Ok(())
}

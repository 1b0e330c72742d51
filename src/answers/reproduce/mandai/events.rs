//! Claims about events.

use super::figures;
use super::found::{Found, basis, described, value_of};
use crate::answers::describe::{Described, Question};
use crate::claims::Side;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::counted::{Counted, Value as Amount};
use crate::studies::mandai::Place;
use crate::studies::resubmitted::{LongTasks, long_tasks};
use crate::studies::samples::What;

/// Figure 4.1.1, by the outcome of the job and by the end of the task itself.
pub(super) fn events(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let basis = basis(lake, &[Table::TaskEvents]);
    let question = Question::plain(What::EventsPerTask);
    let by_job = described(lake, windows, question, Table::TaskEvents)?;
    let by_own = described(lake, windows, question.by_own_end(), Table::TaskEvents)?;
    let place = Place { name: "section 4.1, figure 4.1.1", basis: &basis };
    let share = |described: &Option<Described>, outcomes: &[&str]| {
        let values = outcomes.iter().filter_map(|outcome| described.as_ref()?.values(outcome));
        above_3(&values.cloned().fold(Counted::default(), Counted::merge))
    };
    found.claims.extend([
        place.bound(
            "tasks of failed, killed jobs over 3 events, % (20 or more)",
            Side::AtLeast,
            20.0,
            share(&by_job, &["failed", "killed"]),
        ),
        place.bound(
            "failed, killed tasks (own end) over 3 events, % (20 or more)",
            Side::AtLeast,
            20.0,
            share(&by_own, &["failed", "killed"]),
        ),
        place.bound(
            "tasks of finished jobs over 3 events, % (under half)",
            Side::AtMost,
            50.0,
            share(&by_job, &["finished"]),
        ),
        place.bound(
            "finished tasks (own end) over 3 events, % (under half)",
            Side::AtMost,
            50.0,
            share(&by_own, &["finished"]),
        ),
    ]);
    let long = lake.has(Table::TaskEvents).then(|| long_tasks(lake, windows)).transpose()?;
    let (by_job_end, by_own_end) = long.map(|long| (long.by_job, long.by_own_end)).unzip();
    for (whose, long) in [("of failed, killed jobs", by_job_end), ("by own end", by_own_end)] {
        let claim = format!("tasks over 3 events ({whose}) resubmitted, % (over half)");
        let again = long.and_then(LongTasks::again_percent);
        found.claims.push(place.bound(&claim, Side::AtLeast, 50.0, again));
    }
    let longest = value_of(by_job.as_ref(), "finished", |row| row.max);
    let place = Place { name: "section 4.2", basis: &basis };
    let claim = "longest sequence of a task in a finished job";
    found.claims.push(place.number(claim, (280.0, 1.0), longest));
    found.charts.extend(by_job.iter().map(|one| figures::events(one, "figure-4.1.1")));
    found.charts.extend(by_own.iter().map(|one| figures::events(one, "figure-4.1.1-own-end")));
    Ok(())
}

/// Tasks with more than three events, %.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn above_3(values: &Counted) -> Option<f64> {
    let count = values.count(|_| true);
    let long = values.count(|events: Amount| 3 < events.amount());
    (0 < count).then(|| long as f64 / count as f64 * 100.0)
}

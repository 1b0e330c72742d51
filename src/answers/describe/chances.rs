//! The sentence about the chance that the job of a task finishes, by the events of the task.

use super::answer::{DescribeAnswer, DescribedRow};
use crate::answers::sentences::{MOST, percent};
use crate::digits::counted;

/// A chance to finish by events is reported if it is at least this many times the chance of all
/// tasks.
const HIGHER: f64 = 1.2;

/// The numbers of events for which the chance to finish is reported.
const CHANCES_AT: [u64; 2] = [10, 50];

/// The fewest tasks for which a chance is reported or drawn.
pub(super) const CHANCE_OF: u64 = 100;

/// A point of the curve of chances.
struct Point {
    events: u64,
    tasks: u64,
    chance: f64,
    /// The share of one job in the tasks of finished jobs, if it is most of them.
    of_one_job: Option<f64>,
}

impl DescribedRow {
    #[expect(clippy::cast_precision_loss, reason = "counts of tasks")]
    fn of_one_job(&self) -> Option<f64> {
        let (finished, largest) = (self.finished?, self.largest_job_finished?);
        Some(largest as f64 / finished as f64).filter(|share| MOST <= *share)
    }
}

impl DescribeAnswer {
    /// The chance to finish of all tasks, and of tasks with many events if there are enough such
    /// tasks. `None` for groups.
    pub(crate) fn chances(&self) -> Option<String> {
        let points = self.rows.iter();
        let points = points.filter_map(|row| {
            Some(Point {
                events: row.events?,
                tasks: row.tasks?,
                chance: row.chance?,
                of_one_job: row.of_one_job(),
            })
        });
        let points: Vec<Point> = points.collect();
        let &Point { tasks: all, chance: first, .. } = points.first()?;
        if points.windows(2).any(|pair| pair[1].events <= pair[0].events) {
            return None;
        }
        let more = CHANCES_AT.iter().filter_map(|&least| {
            let point = points.iter().find(|point| least <= point.events)?;
            (CHANCE_OF <= point.tasks && point.tasks < all).then(|| {
                let of = counted(point.tasks, "task");
                let share = percent(point.chance);
                let one = point.of_one_job.map_or_else(String::new, |one| {
                    format!(" ({} of these belong to one job)", percent(one))
                });
                format!("; of the {of} with at least {least} events, {share}{one}")
            })
        });
        let more: String = more.collect();
        // A peak that one job makes is no property of tasks with so many events.
        let most = points.iter().filter(|point| CHANCE_OF <= point.tasks);
        let most = most.max_by(|one, other| one.chance.total_cmp(&other.chance));
        let most = most.filter(|most| HIGHER * first < most.chance && most.of_one_job.is_none());
        let most = most.map_or_else(String::new, |most| {
            let (of, share) = (counted(most.tasks, "task"), percent(most.chance));
            let least = most.events;
            format!("; the highest share is {share}, of the {of} with at least {least} events")
        });
        let of = counted(all, "task");
        let few = match points.last() {
            Some(Point { events, .. }) if self.has_few_counts() => {
                format!(
                    "; no task has more than {events} events, so their number shows nothing more"
                )
            }
            _ => String::new(),
        };
        Some(format!(
            "{} of the {of} whose job ended belong to a job that finished{more}{most}{few}",
            percent(first)
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::studies::samples::What;

    fn of_rows(rows: &[Value]) -> DescribeAnswer {
        let json = json!({"what": "attempts", "unit": "", "quantiles": "R-7",
            "censoring": {"of": "tasks"}, "rows": rows});
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_chance_to_finish_is_reported_of_enough_tasks() {
        let row = |events: u64, tasks: u64, chance: f64| json!({"events": events, "tasks": tasks, "chance": chance});
        let rows = [row(1, 9000, 0.25), row(2, 9000, 0.25), row(12, 500, 0.125), row(50, 99, 0.0)];
        assert_eq!(
            of_rows(&rows).chances().unwrap(),
            "25.0 % of the 9,000 tasks whose job ended belong to a job that finished; of the 500 tasks \
            with at least 10 events, 12.5 %"
        );
        let rows = [row(1, 9000, 0.25), row(10, 500, 0.125), row(30, 200, 0.5), row(40, 9, 1.0)];
        let said = of_rows(&rows).chances().unwrap();
        let end = "; the highest share is 50.0 %, of the 200 tasks with at least 30 events";
        assert!(said.ends_with(end), "{said}");
        // Of one job, the share is reported, and no peak.
        let of_one = |mut row: Value, finished: u64, largest: u64| {
            row["finished"] = finished.into();
            row["largest_job_finished"] = largest.into();
            row
        };
        let rows = [
            of_one(row(1, 9000, 0.25), 2250, 300),
            of_one(row(10, 500, 0.25), 125, 100),
            of_one(row(30, 200, 0.5), 100, 90),
        ];
        assert_eq!(
            of_rows(&rows).chances().unwrap(),
            "25.0 % of the 9,000 tasks whose job ended belong to a job that finished; of the 500 tasks \
            with at least 10 events, 25.0 % (80.0 % of these belong to one job)"
        );
        let few = [row(1, 900, 0.25), row(3, 800, 0.3)];
        let answer = DescribeAnswer { what: What::FinishGivenEvents, ..of_rows(&few) };
        assert!(answer.needs_no_table());
        let said = answer.chances().unwrap();
        let end = "; no task has more than 3 events, so their number shows nothing more";
        assert!(said.ends_with(end), "{said}");
        assert_eq!(of_rows(&[row(1, 9, 0.5), row(1, 9, 0.5)]).chances(), None);
        assert_eq!(of_rows(&[]).chances(), None);
    }
}

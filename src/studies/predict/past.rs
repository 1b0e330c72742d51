//! Submissions and ends of all jobs, in the order in which they became known.
//!
//! In: `job_events`. Out: a [`Past`]. Users and names are numbers. All unknown users share one
//! number, and so do all unknown names.

use arrow::array::{Array, AsArray, StringArray};
use arrow::datatypes::Int32Type;
use arrow::record_batch::RecordBatch;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::progress::Progress;
use super::step::{End, Happens, Step, Who};
use crate::facts::FactError;
use crate::facts::events::{i32_column, i64_column};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{EventType, ROW_ID, Table};

/// All steps in order, and the jobs that were left out.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// Submissions and ends in (time, `row_id`) order.
    pub steps: Vec<Step>,
    /// Number of users.
    pub user_count: u32,
    /// Number of logical names.
    pub name_count: u32,
    /// The age at which jobs are predicted, µs: 0 for their submission.
    pub age_us: i64,
    /// Jobs not counted because they ended before that age.
    pub jobs_too_short: u64,
    /// Jobs.
    pub jobs: u64,
    /// Jobs that ended but are not counted because they were submitted before the window, or their
    /// submission is not recorded.
    pub jobs_before_window: u64,
    /// Jobs not counted because their last event is not FINISH, FAIL or KILL.
    pub jobs_without_end: u64,
    /// The progress of the tasks of jobs, if a rule needs it. In that case only jobs with a task
    /// that is known at that age are counted.
    pub progress: Option<Progress>,
}

/// A row of `job_events`.
#[derive(Clone, Copy)]
struct Row {
    job_id: i64,
    at_us: i64,
    file_order: i64,
    event: EventType,
    who: Who,
}

/// Texts as numbers, in order of first appearance.
#[derive(Default)]
struct Names {
    texts: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl Names {
    fn of(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = u32::try_from(self.texts.len()).expect("fewer than 2^32 names");
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// For each name of `other`, its number in `self`.
    fn take(&mut self, other: &Self) -> Vec<u32> {
        other.texts.iter().map(|text| self.of(text)).collect()
    }
}

/// A user or name. An unknown one gets a text that no real user or name has.
fn cell(texts: &StringArray, row: usize) -> &str {
    if texts.is_null(row) { "\0" } else { texts.value(row) }
}

#[derive(Default)]
struct Part {
    rows: Vec<Row>,
    users: Names,
    names: Names,
}

impl Part {
    fn add(&mut self, batch: &RecordBatch) {
        let text = |name: &str| {
            batch.column_by_name(name).expect("the column was requested").as_string::<i32>()
        };
        let (users, names) = (text("user"), text("logical_job_name"));
        let classes = batch.column_by_name("scheduling_class").expect("the column was requested");
        let classes = classes.as_primitive::<Int32Type>();
        let (jobs, times) = (i64_column(batch, "job_id"), i64_column(batch, "time_us"));
        let (row_ids, types) = (i64_column(batch, ROW_ID), i32_column(batch, "event_type"));
        for row in 0..batch.num_rows() {
            let who = Who {
                user: self.users.of(cell(users, row)),
                name: self.names.of(cell(names, row)),
                class: classes.is_valid(row).then(|| classes.value(row)),
            };
            self.rows.push(Row {
                job_id: jobs[row],
                at_us: times[row],
                file_order: row_ids[row],
                event: EventType::of(types[row]).expect("readers check event numbers"),
                who,
            });
        }
    }

    /// The submissions and ends of the jobs of this part. The part must have all rows of its jobs.
    fn past(&mut self, windows: Windows, age_us: i64) -> Past {
        self.rows.sort_unstable_by_key(|row| (row.job_id, row.at_us, row.file_order));
        let mut past = Past::default();
        for rows in self.rows.chunk_by(|one, other| one.job_id == other.job_id) {
            // A job without a recorded submission is predicted at its first row, for rules that
            // kill and plan. It is not counted, because its submission could not have been
            // predicted.
            let submit = rows.iter().find(|row| row.event == EventType::Submit);
            let is_before = submit.is_none() || windows.has_begun_before(rows[0].at_us);
            let submit = submit.unwrap_or(&rows[0]);
            let end = End::of(rows[rows.len() - 1].event);
            let truth = end.filter(|_| !is_before);
            past.jobs += 1;
            past.jobs_without_end += u64::from(end.is_none());
            past.jobs_before_window += u64::from(end.is_some() && is_before);
            let step = |row: &Row, at_us: i64, what| Step {
                at_us,
                row_id: row.file_order,
                who: row.who,
                age_us: at_us.saturating_sub(submit.at_us),
                what,
            };
            // Only earlier rows decide whether the job is over: it may still come back later.
            let asked_us = submit.at_us.saturating_add(age_us);
            let until = rows.partition_point(|row| row.at_us <= asked_us);
            let is_over = 0 < age_us && End::of(rows[until - 1].event).is_some();
            past.jobs_too_short += u64::from(is_over && truth.is_some());
            if !is_over {
                let asked = Happens::Submits { job_id: submit.job_id, truth };
                past.steps.push(step(submit, asked_us, asked));
            }
            let ends = rows.iter().filter_map(|row| Some((row, End::of(row.event)?)));
            let ends = ends
                .map(|(row, end)| step(row, row.at_us, Happens::Ends { job_id: row.job_id, end }));
            past.steps.extend(ends);
        }
        past
    }
}

impl Past {
    /// Whether enough is known about a job when it is predicted.
    pub fn knows(&self, job_id: i64) -> bool {
        self.progress.as_ref().is_none_or(|progress| progress.knows(job_id))
    }

    /// Jobs not counted because none of their tasks is known when they are predicted.
    pub fn jobs_without_tasks(&self) -> u64 {
        let is_left_out = |step: &&Step| match step.what {
            Happens::Submits { job_id, truth } => truth.is_some() && !self.knows(job_id),
            Happens::Ends { .. } => false,
        };
        self.steps.iter().filter(is_left_out).count() as u64
    }

    /// Reads a lake, to predict jobs at an age, µs.
    ///
    /// # Errors
    /// The lake has no `job_events`, or they cannot be read.
    pub fn read(lake: &Lake, windows: Windows, age_us: i64) -> Result<Self, FactError> {
        lake.require(Table::JobEvents)?;
        let rows = lake.expect_rows(&[Table::JobEvents]);
        let columns = [
            ROW_ID,
            "time_us",
            "job_id",
            "event_type",
            "user",
            "logical_job_name",
            "scheduling_class",
        ];
        let parts: Vec<(Self, Names, Names)> = (0..lake.bucket_count())
            .into_par_iter()
            .with_max_len(1)
            .map(|bucket| {
                let mut part = Part::default();
                lake.scan(Table::JobEvents, Some(bucket), &columns, |batch| part.add(&batch))?;
                lake.step(rows)?;
                Ok((part.past(windows, age_us), part.users, part.names))
            })
            .collect::<Result<_, FactError>>()?;
        let mut all = Self { age_us, ..Self::default() };
        let (mut users, mut names) = (Names::default(), Names::default());
        for (part, own_users, own_names) in parts {
            let (own_users, own_names) = (users.take(&own_users), names.take(&own_names));
            all.steps.extend(part.steps.into_iter().map(|step| {
                let user = own_users[step.who.user as usize];
                let name = own_names[step.who.name as usize];
                Step { who: Who { user, name, ..step.who }, ..step }
            }));
            all.jobs += part.jobs;
            all.jobs_before_window += part.jobs_before_window;
            all.jobs_without_end += part.jobs_without_end;
            all.jobs_too_short += part.jobs_too_short;
        }
        // A job that is predicted at an age is predicted after all ends at that instant, whatever
        // their order in the log. A job that is predicted at its first row is predicted before that
        // row is known.
        let is_asked = |step: &Step| matches!(step.what, Happens::Submits { .. });
        let is_last = |step: &Step| 0 < age_us && is_asked(step);
        all.steps.par_sort_unstable_by_key(|step| {
            (step.at_us, is_last(step), step.row_id, !is_asked(step))
        });
        let count = |names: &Names| u32::try_from(names.texts.len()).expect("fewer than 2^32");
        (all.user_count, all.name_count) = (count(&users), count(&names));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_asked_about_where_it_had_not_ended_by_then() {
        use EventType::{Fail, Finish, Kill, Submit};

        //  job 1  SUBMIT 10 ------------ KILL 40
        //  job 2  SUBMIT 10 -- FAIL 20, SUBMIT 25, FINISH 90     has come back by 30
        //  job 3  SUBMIT 10 -- FAIL 20 ----- SUBMIT 31, FINISH 90    is over at 30
        //  predicted at the age of 20: at 30
        let row = |job_id, at_us, event| Row {
            job_id,
            at_us,
            file_order: at_us,
            event,
            who: Who { user: 0, name: 0, class: None },
        };
        let rows = vec![
            row(1, 10, Submit),
            row(1, 40, Kill),
            row(2, 10, Submit),
            row(2, 20, Fail),
            row(2, 25, Submit),
            row(2, 90, Finish),
            row(3, 10, Submit),
            row(3, 20, Fail),
            row(3, 31, Submit),
            row(3, 90, Finish),
        ];
        let windows = Windows {
            job_end_us: 100,
            task_end_us: 100,
            first_us: 0,
            open_attempts: crate::facts::window::OpenAttempts::JobEnd,
        };
        let asked = |age_us| {
            let mut own = Part { rows: rows.clone(), ..Part::default() };
            let past = own.past(windows, age_us);
            let asked = past.steps.iter().filter_map(|step| match step.what {
                Happens::Submits { job_id, .. } => Some((job_id, step.at_us)),
                Happens::Ends { .. } => None,
            });
            (asked.collect::<Vec<_>>(), past.jobs_too_short)
        };
        assert_eq!(asked(0), (vec![(1, 10), (2, 10), (3, 10)], 0));
        assert_eq!(asked(20), (vec![(1, 30), (2, 30)], 1));
    }
}

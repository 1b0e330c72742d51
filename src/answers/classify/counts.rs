//! Counts jobs or tasks by outcome.

use rayon::prelude::*;

use super::plan::By;
use crate::answers::sentences;
use crate::charts::{Bar, outcome_tone};
use crate::digits::grouped;
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::events::Histories;
use crate::facts::jobs::{TERMINAL_OUTCOMES, by_terminal};
use crate::facts::query::{Query, Settings};
use crate::facts::tables::SqlEngine;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::Lake;
use crate::studies::outcomes::{Classes, Classification, Counter};

/// Counts all jobs or tasks of a lake by outcome.
///
/// # Errors
/// The lake has no table of jobs or tasks, a file cannot be read, or the engine fails.
pub fn classification(
    lake: &Lake,
    windows: Windows,
    by: By,
    classes: Classes,
    engine: Option<&SqlEngine>,
) -> Result<Classification> {
    lake.require(by.table())?;
    // Polars runs bucket by bucket below, so that memory never contains all tasks.
    if let Some(spark @ SqlEngine::Spark(_)) = engine {
        let settings = Settings { windows, thresholds: Vec::new() };
        let facts = spark.facts(lake, &[by.query()], &settings)?;
        let mut counter = Counter::default();
        counter.add(&facts.single(), classes, by.window(windows));
        return Ok(counter.finish(classes));
    }
    let counted = of_buckets(lake, by, |bucket| match engine {
        None => by_fold(lake, windows, bucket, by, classes),
        Some(_) => by_query(lake, windows, bucket, by, classes),
    });
    Ok(counted?.finish(classes))
}

/// The counts of all buckets together, from the counts of each.
fn of_buckets(
    lake: &Lake,
    by: By,
    count: impl Fn(u32) -> Result<Counter, FactError> + Sync,
) -> Result<Counter> {
    let rows = lake.expect_rows(&[by.table()]);
    let count = |bucket: u32| {
        let counter = count(bucket)?;
        lake.step(rows)?;
        Ok(counter)
    };
    let counters: Result<Vec<Counter>, FactError> =
        (0..lake.bucket_count()).into_par_iter().with_max_len(1).map(count).collect();
    Ok(counters?.into_iter().fold(Counter::default(), Counter::merge))
}

/// The bar of an outcome, with its count and share.
pub(super) fn bar(label: String, outcome: &str, count: u64, share: f64) -> Bar {
    Bar {
        label,
        #[expect(clippy::cast_precision_loss, reason = "a length on paper")]
        value: count as f64,
        note: format!("{} ({})", grouped(count), sentences::label(share)),
        tone: outcome_tone(outcome),
        part: None,
    }
}

/// Counts the tasks of a lake as [`tasks_of`] does.
pub(super) fn count_tasks(lake: &Lake, windows: Windows, classes: Classes) -> Result<Counter> {
    of_buckets(lake, By::Task, |number| tasks_of(&Bucket::of(lake, number, windows), classes))
}

/// Counts the tasks of a bucket. Finished tasks are also counted by the outcome of their job.
pub(crate) fn tasks_of(bucket: &Bucket<'_>, classes: Classes) -> Result<Counter, FactError> {
    let (mut counter, window) = (Counter::default(), By::Task.window(bucket.windows));
    let jobs = bucket.jobs()?;
    bucket.tasks_alone()?.for_each(|task| {
        counter.add_events(task.events, classes, window);
        let end = TERMINAL_OUTCOMES[usize::from(by_terminal(task.events))];
        if let Some(job) = jobs.find(task.job_id).filter(|_| end == "finished") {
            counter.add_finished(classes.outcomes()[classes.of_job(&jobs.jobs[job])]);
        }
    });
    Ok(counter)
}

pub(crate) fn by_fold(
    lake: &Lake,
    windows: Windows,
    bucket: u32,
    by: By,
    classes: Classes,
) -> Result<Counter, FactError> {
    let histories = Histories::read(lake, by.table(), bucket)?;
    let mut counter = Counter::default();
    for entity in 0..histories.len() {
        counter.add_events(histories.events(entity), classes, by.window(windows));
    }
    Ok(counter)
}

pub(crate) fn by_query(
    lake: &Lake,
    windows: Windows,
    bucket: u32,
    by: By,
    classes: Classes,
) -> Result<Counter, FactError> {
    let settings = Settings { windows, thresholds: Vec::new() };
    let facts = Query::find(by.query())?.run_bucket(lake, bucket, &settings)?;
    let mut counter = Counter::default();
    counter.add(&facts, classes, by.window(windows));
    Ok(counter)
}

//! Straggler detectors, scored on recorded history.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Error, on_progress, watched, window_end, windows};
use crate::lake::Lake;
use crate::progress::{Progress, Watch};
use crate::replay::detect::progress::ProgressModel;
use crate::replay::detect::truth::Truth;
use crate::replay::detect::{DetectOutcome, DetectPlan, FlagRow, detect};
use crate::replay::detectors::DetectorPlan;

/// A question about straggler detectors; made by [`Lake::detect`].
#[derive(Clone, Debug)]
#[must_use = "a question does nothing until it is asked"]
pub struct DetectQuestion<'a> {
    lake: &'a Lake,
    watch: Option<Arc<Watch>>,
    window_end_us: Option<i64>,
    plan: DetectPlan,
}

impl Lake {
    /// Asks which tasks these detectors would have flagged, and how many flags were right.
    ///
    /// ```
    /// use jobfate::prelude::*;
    ///
    /// let sample = Sample::lake()?;
    /// let found = sample.detect(["late".parse()?, "spark".parse()?]).run()?;
    /// for row in &found.rows {
    ///     println!("{}: precision {:?}", row.detector, row.scores[0].precision);
    /// }
    /// assert_eq!(found.rows.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn detect(&self, detectors: impl IntoIterator<Item = DetectorPlan>) -> DetectQuestion<'_> {
        let plan = DetectPlan::of(detectors.into_iter().collect());
        DetectQuestion { lake: self, watch: None, window_end_us: None, plan }
    }
}

impl DetectQuestion<'_> {
    /// The source of progress; by default [`ProgressModel::Siblings`], which an operator could have
    /// used. The other two are oracles: they use the recorded end of the attempt.
    pub fn progress(mut self, model: ProgressModel) -> Self {
        self.plan.walk.progress = model;
        self
    }

    /// Time between two heartbeats, µs; 10 s by default.
    pub fn heartbeat(mut self, heartbeat_us: i64) -> Self {
        self.plan.walk.heartbeat_us = heartbeat_us;
        self
    }

    /// The definitions of a straggler; one or more.
    pub fn truths(mut self, truths: impl IntoIterator<Item = Truth>) -> Self {
        self.plan.truths = truths.into_iter().collect();
        self
    }

    /// The fewest finished tasks of a group that is included; at least 1, by default 10.
    pub fn tasks_min(mut self, tasks_min: usize) -> Self {
        self.plan.tasks_min = tasks_min;
        self
    }

    window_end! {}

    on_progress! {
        /// Reports the progress of the call to `callback`, in rows. The call stops when the
        /// callback returns `Break`; its error then [is cancelled](Error::is_cancelled).
        /// [`run_with`](Self::run_with) has by then passed on all flags of complete buckets;
        /// nothing else is kept.
    }

    /// Runs the detectors over the history of the lake.
    ///
    /// # Errors
    /// A table is missing or cannot be read, the settings contradict each other, or the callback
    /// stopped the call.
    pub fn run(&self) -> Result<DetectOutcome, Error> {
        self.run_with(|_| ())
    }

    /// Runs the detectors and passes on every flag, bucket by bucket.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with(&self, mut take: impl FnMut(&[FlagRow])) -> Result<DetectOutcome, Error> {
        let lake = watched(self.lake, self.watch.as_ref());
        let windows = windows(&lake, self.window_end_us)?;
        detect(&lake, windows, &self.plan, |flags| {
            take(flags);
            Ok::<(), Error>(())
        })
    }
}

//! One bucket of a lake, read once for all studies that fold it.
//!
//! In: a lake and the number of a bucket. Out: its jobs and tasks, each read when a study first
//! needs them. A shared bucket keeps them for the next study; any other bucket hands them over, so
//! that a single study can free them as soon as possible.

use std::cell::RefCell;
use std::rc::Rc;

use super::FactError;
use super::jobs::Jobs;
use super::tasks::{Tasks, Usage};
use super::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;

/// A bucket of a lake.
pub struct Bucket<'a> {
    /// The lake.
    pub lake: &'a Lake,
    /// Its number.
    pub number: u32,
    /// When open jobs and attempts are closed.
    pub windows: Windows,
    kept: Option<RefCell<Kept>>,
}

/// The data read so far.
#[derive(Default)]
struct Kept {
    jobs: Option<Rc<Jobs>>,
    tasks: Option<(Usage, Rc<Tasks>)>,
}

impl<'a> Bucket<'a> {
    /// A bucket that one study folds.
    pub const fn of(lake: &'a Lake, number: u32, windows: Windows) -> Self {
        Self { lake, number, windows, kept: None }
    }

    /// A bucket that several studies fold in turn.
    pub fn shared(lake: &'a Lake, number: u32, windows: Windows) -> Self {
        Self { kept: Some(RefCell::default()), ..Self::of(lake, number, windows) }
    }

    /// Its jobs; none without `job_events`.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn jobs(&self) -> Result<Rc<Jobs>, FactError> {
        if let Some(jobs) = self.kept.as_ref().and_then(|kept| kept.borrow().jobs.clone()) {
            return Ok(jobs);
        }
        let has_jobs = self.lake.has(Table::JobEvents);
        let jobs = if has_jobs { Jobs::read(self.lake, self.number)? } else { Jobs::default() };
        let jobs = Rc::new(jobs);
        if let Some(kept) = &self.kept {
            kept.borrow_mut().jobs = Some(Rc::clone(&jobs));
        }
        Ok(jobs)
    }

    /// Its jobs, for callers that do not use their names. Names take memory: almost every job has a
    /// different one.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn jobs_without_names(&self) -> Result<Rc<Jobs>, FactError> {
        if self.kept.is_some() || !self.lake.has(Table::JobEvents) {
            return self.jobs();
        }
        Ok(Rc::new(Jobs::read_without_names(self.lake, self.number)?))
    }

    /// Its tasks, for callers that use only their events and attempts. A shared bucket returns the
    /// tasks that were read last, with any part of their use.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn tasks_alone(&self) -> Result<Rc<Tasks>, FactError> {
        let known = self.kept.as_ref().and_then(|kept| kept.borrow().tasks.clone());
        known.map_or_else(|| self.tasks(Usage::Skip), |(_, tasks)| Ok(tasks))
    }

    /// Its tasks with at least this part of their use. A shared bucket keeps only the tasks that
    /// were read last.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn tasks(&self, usage: Usage) -> Result<Rc<Tasks>, FactError> {
        let known = self.kept.as_ref().and_then(|kept| kept.borrow().tasks.clone());
        if let Some((_, tasks)) = known.filter(|(read, _)| read.holds(usage)) {
            return Ok(tasks);
        }
        if let Some(kept) = &self.kept {
            kept.borrow_mut().tasks = None;
        }
        let tasks = Rc::new(Tasks::read(self.lake, self.number, self.windows, usage)?);
        if let Some(kept) = &self.kept {
            kept.borrow_mut().tasks = Some((usage, Rc::clone(&tasks)));
        }
        Ok(tasks)
    }
}

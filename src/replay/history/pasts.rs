//! The recorded users and outcomes of the jobs of a history.
//!
//! In: a history, and `job_events` of its lake. Out: [`JobPasts`], and the assumptions as
//! sentences. Ends after the end of the task tables are not read, because the replay could not
//! reach them.

use rustc_hash::FxHashMap;

use super::History;
use crate::digits::{counted, grouped};
use crate::facts::FactError;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::replay::pasts::{JobPast, JobPasts};
use crate::studies::predict::past::Past;
use crate::studies::predict::step::{End, Happens};

impl History {
    /// Reads the pasts of the jobs, for kill rules that use them.
    ///
    /// # Errors
    /// The lake has no `job_events`, or they cannot be read.
    pub fn read_pasts(&mut self, lake: &Lake, windows: Windows) -> Result<(), FactError> {
        let past = Past::read(lake, windows, 0)?;
        self.workload.pasts = self.pasts(&past, windows.task_end_us);
        let JobPasts { jobs, before } = &self.workload.pasts;
        let silent = jobs.iter().filter(|job| job.is_lost.is_none()).count();
        self.assumptions.push(format!(
            "The kill rule `history` learns the recorded outcome of a job once its last task is over in \
             the replay; before the first arrival {} had ended. It learns nothing of jobs without a \
             recorded end in the loaded parts ({}), and of jobs of which a task is condemned or refused.",
            counted(before.len() as u64, "job"),
            grouped(silent as u64),
        ));
        Ok(())
    }

    fn pasts(&self, past: &Past, until_us: i64) -> JobPasts {
        let mut pasts = JobPasts {
            jobs: vec![JobPast::default(); self.workload.job_count()],
            ..JobPasts::default()
        };
        let ids = (0..).zip(&self.ids).map(|(task, id)| (id.0, self.workload.job.get(task)));
        let numbers: FxHashMap<i64, u32> = ids.collect();
        let first_us = if self.ids.is_empty() { 0 } else { self.workload.arrival_us.get(0) };
        for step in &past.steps {
            let pair = (step.who.user, step.who.name);
            let (job_id, end) = match step.what {
                Happens::Submits { job_id, .. } => (job_id, None),
                Happens::Ends { job_id, end } => (job_id, Some(end != End::Finished)),
            };
            match (numbers.get(&job_id), end) {
                (Some(&job), end) => {
                    let job = &mut pasts.jobs[job as usize];
                    job.pair = job.pair.or(Some(pair));
                    job.is_lost = end.filter(|_| step.at_us <= until_us).or(job.is_lost);
                }
                (None, Some(is_lost)) if step.at_us < first_us => {
                    pasts.before.push((pair, is_lost));
                }
                (None, _) => {}
            }
        }
        pasts
    }
}

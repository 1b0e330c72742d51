//! What a task spent over time, and how much of it each kill rule would have saved.
//!
//! In: a task and the settings. Out: its sums, added to the row of its job.

use super::asked::{Asked, JobRow, KillStep};
use super::meter::{CpuDefinition, MemoryDefinition, Meter};
use super::rules::{JobEnds, Owner, RuleError};
use crate::facts::tasks::{Attempt, Spent, TaskView};
use crate::schema::Source;
use crate::units::CpuTime;

/// Buffers that are reused for each task.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) spent: Spent,
    times: Vec<i64>,
}

impl Scratch {
    /// Computes what the attempts of a task spent over time.
    fn lay_out(&mut self, task: &TaskView<'_>, meter: Meter, source: Source) {
        use CpuDefinition::{GpuSlots, Measured, Published, Requested, Slots};
        match meter {
            Meter::Cpu(Slots) => self.spent.of_attempts(task.attempts, Attempt::slot_rate),
            Meter::Cpu(Requested) => {
                self.spent.of_attempts(task.attempts, Attempt::requested_rate);
            }
            Meter::Cpu(GpuSlots) => self.spent.of_attempts(task.attempts, Attempt::held_gpus),
            Meter::Memory(MemoryDefinition::Requested | MemoryDefinition::Used) => {
                self.spent.of_attempts(task.attempts, Attempt::held_memory);
            }
            Meter::Cpu(Measured) if source.is_log() => {
                self.spent.of_attempts(task.attempts, |attempt| attempt.used_rate(source));
            }
            Meter::Cpu(Measured | Published)
            | Meter::Memory(MemoryDefinition::Canonical | MemoryDefinition::Assigned) => {
                self.spent.of_windows(task.windows, task.attempts);
            }
        }
    }

    /// Adds a task to its job's row and returns its CPU outside of attempts.
    pub(super) fn add(
        &mut self,
        task: &TaskView<'_>,
        asked: &Asked,
        ends: &[JobEnds],
        source: Source,
        row: &mut JobRow<'_>,
    ) -> Result<CpuTime, RuleError> {
        self.lay_out(task, asked.meter, source);
        let total = self.spent.total();
        let finish_us = task.finish_us();
        row.task_count += 1;
        row.priority = row.priority.max(Some(task.priority));
        row.cpu += total;
        for (rule_idx, rule) in asked.rules.iter().enumerate() {
            let scheduling_class = row.job.and_then(|job| job.scheduling_class);
            let (chance, moment) = (row.chance, row.moment);
            let owner = Owner { scheduling_class, user: row.user, chance, moment };
            if rule.ends_jobs() {
                self.times.clear();
                if !rule.spares(Some(task.priority), owner) {
                    self.times.extend(ends[rule_idx].of(task.job_id));
                }
            } else {
                rule.kill_times(task, owner, &mut self.times)?;
            }
            let finished = match finish_us {
                Some(finish_us) => self.times.partition_point(|&time| time < finish_us),
                None => self.times.len(),
            };
            if asked.spares_finished {
                self.times.truncate(finished);
            }
            if self.times.is_empty() {
                continue;
            }
            row.kills.resize_with(asked.rules.len(), Vec::new);
            let steps = &mut row.kills[rule_idx];
            steps.resize_with(steps.len().max(self.times.len()), KillStep::default);
            for (idx, (step, &time)) in steps.iter_mut().zip(&self.times).enumerate() {
                let saved = self.spent.after(time);
                step.tasks += 1;
                step.at_end += u64::from(finished <= idx);
                step.saved += saved;
                step.spent += total - saved;
            }
        }
        if !asked.meter.needs_usage() || source.is_log() {
            return Ok(CpuTime::ZERO);
        }
        let all: CpuTime = task
            .windows
            .iter()
            .map(|window| CpuTime::of_rate(window.rate, window.end_us - window.start_us))
            .sum();
        Ok(all - total)
    }
}

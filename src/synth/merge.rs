//! Merges two tallies; `other` is the tally of later jobs.

use std::collections::BTreeMap;

use super::tally::{STRAGGLERS_LISTED, SweepTally, Tally};
use super::units::ExactCpu;

impl Tally {
    /// Adds the counts of later jobs.
    pub(super) fn merge(&mut self, other: Self) {
        self.merge_counts(&other);
        self.merge_maps(&other);
        self.users.extend(other.users);
        self.job_names.extend(other.job_names);
        self.logical_names.extend(other.logical_names);
        self.unannounced.extend(other.unannounced);
        for (mine, theirs) in self.durations.iter_mut().zip(other.durations) {
            mine.extend(theirs);
        }
        let room = STRAGGLERS_LISTED - self.stragglers.len();
        self.stragglers.extend(other.stragglers.into_iter().take(room));
        for (mine, theirs) in self.cpu.iter_mut().zip(other.cpu) {
            add_cpu(&mut mine.by_sequence, &theirs.by_sequence);
            add_cpu(&mut mine.by_terminal, &theirs.by_terminal);
        }
        self.outside += other.outside;
        for (mine, theirs) in self.sweep.iter_mut().zip(other.sweep) {
            mine.merge(theirs);
        }
        self.last_job_event = self.last_job_event.max(other.last_job_event);
        self.last_task_event = self.last_task_event.max(other.last_task_event);
        self.last_usage_end = self.last_usage_end.max(other.last_usage_end);
        self.tasks_per_job.merge(&other.tasks_per_job);
        self.events_per_task.merge(&other.events_per_task);
        self.attempts_per_task.merge(&other.attempts_per_task);
    }

    fn merge_counts(&mut self, other: &Self) {
        for (mine, theirs) in self.rows.iter_mut().zip(other.rows) {
            *mine += theirs;
        }
        for (mine, theirs) in [
            (&mut self.jobs, other.jobs),
            (&mut self.jobs_in_task_events, other.jobs_in_task_events),
            (&mut self.jobs_without_tasks, other.jobs_without_tasks),
            (&mut self.jobs_unknown, other.jobs_unknown),
            (&mut self.tasks, other.tasks),
            (&mut self.jobs_judged, other.jobs_judged),
            (&mut self.jobs_left_out, other.jobs_left_out),
            (&mut self.jobs_without_finished_task, other.jobs_without_finished_task),
            (&mut self.straggler_count, other.straggler_count),
            (&mut self.job_ties, other.job_ties),
            (&mut self.job_ties_after_zero, other.job_ties_after_zero),
            (&mut self.task_ties, other.task_ties),
            (&mut self.task_ties_after_zero, other.task_ties_after_zero),
            (&mut self.schedule_while_running, other.schedule_while_running),
            (&mut self.duplicate_task_events, other.duplicate_task_events),
            (&mut self.duplicate_usage, other.duplicate_usage),
            (&mut self.usage_without_task, other.usage_without_task),
            (&mut self.stray_tasks, other.stray_tasks),
            (&mut self.unannounced_task_rows, other.unannounced_task_rows),
            (&mut self.unannounced_usage_rows, other.unannounced_usage_rows),
            (&mut self.job_rows_at_zero, other.job_rows_at_zero),
            (&mut self.task_rows_at_zero, other.task_rows_at_zero),
            (&mut self.counts.windows, other.counts.windows),
            (&mut self.counts.windows_without_rate, other.counts.windows_without_rate),
            (&mut self.counts.overlapping_windows, other.counts.overlapping_windows),
            (&mut self.counts.schedules, other.counts.schedules),
            (&mut self.counts.schedules_without_request, other.counts.schedules_without_request),
        ] {
            *mine += theirs;
        }
    }

    fn merge_maps(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.job_event_types, &other.job_event_types),
            (&mut self.task_event_types, &other.task_event_types),
            (&mut self.job_sequences, &other.job_sequences),
            (&mut self.task_sequences, &other.task_sequences),
            (&mut self.job_outcomes.sequence, &other.job_outcomes.sequence),
            (&mut self.job_outcomes.terminal, &other.job_outcomes.terminal),
            (&mut self.task_outcomes.sequence, &other.task_outcomes.sequence),
            (&mut self.task_outcomes.terminal, &other.task_outcomes.terminal),
            (&mut self.illegal_job_transitions, &other.illegal_job_transitions),
            (&mut self.illegal_task_transitions, &other.illegal_task_transitions),
            (&mut self.terminal_without_schedule, &other.terminal_without_schedule),
            (&mut self.job_missing_info, &other.job_missing_info),
            (&mut self.task_missing_info, &other.task_missing_info),
        ] {
            add_counts(mine, theirs);
        }
    }
}

impl SweepTally {
    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.condemned.iter_mut().zip(other.condemned) {
            *mine += theirs;
        }
        for (mine, theirs) in self.saved.iter_mut().zip(&other.saved) {
            add_cpu(mine, theirs);
        }
        self.harmed_jobs.extend(other.harmed_jobs);
        add_cpu(&mut self.destroyed, &other.destroyed);
        add_cpu(&mut self.harmed_cpu, &other.harmed_cpu);
    }
}

fn add_cpu(mine: &mut [ExactCpu], theirs: &[ExactCpu]) {
    for (sum, more) in mine.iter_mut().zip(theirs) {
        *sum += more;
    }
}

fn add_counts(mine: &mut BTreeMap<String, u64>, theirs: &BTreeMap<String, u64>) {
    for (key, count) in theirs {
        if let Some(sum) = mine.get_mut(key) {
            *sum += count;
        } else {
            mine.insert(key.clone(), *count);
        }
    }
}

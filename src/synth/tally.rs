//! The running sums of the ground truth, merged over threads.
//!
//! Every sum is exact and every list is joined in job order, so the result does not depend on how
//! the jobs were divided among threads. Memory grows with distinct sequences, names and jobs (8
//! bytes each for the durations), not with rows.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{
    Event, SEQUENCE_CLASSES, TERMINAL_CLASSES, count_illegal, count_ties, has_ended, sequence,
    sequence_class, terminal_class,
};
use super::rows::{JobEvent, JobLabels};
use super::scene::Scene;
use super::sweep::{JobSums, thresholds};
use super::table::Table;
use super::truth::{CpuCounts, MachineCounts, Outcomes, Spread};
use super::units::ExactCpu;

/// Most stragglers that are listed; all are counted.
pub(super) const STRAGGLERS_LISTED: usize = 10_000;
/// Jobs with fewer finished tasks are not judged for stragglers.
const STRAGGLER_TASKS_MIN: usize = 10;

/// Position of jobs that are not in `job_events`, after the five classes.
pub(super) const UNMATCHED: usize = 5;

/// CPU of one definition by job outcome; the last element of each is `unmatched`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CpuTally {
    pub(super) by_sequence: [ExactCpu; 6],
    pub(super) by_terminal: [ExactCpu; 8],
}

/// The sweep at one threshold; arrays of three are by CPU definition.
#[derive(Debug, Clone, Default)]
pub(super) struct SweepTally {
    pub(super) condemned: [u64; 6],
    pub(super) saved: [[ExactCpu; 6]; 3],
    pub(super) harmed_jobs: Vec<u64>,
    pub(super) destroyed: [ExactCpu; 3],
    pub(super) harmed_cpu: [ExactCpu; 3],
}

/// Everything counted so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) rows: [u64; 6],
    pub(super) jobs: u64,
    pub(super) jobs_in_task_events: u64,
    pub(super) jobs_without_tasks: u64,
    pub(super) jobs_unknown: u64,
    pub(super) tasks: u64,
    pub(super) users: BTreeSet<u64>,
    pub(super) job_names: BTreeSet<u64>,
    pub(super) logical_names: BTreeSet<u64>,
    pub(super) job_event_types: BTreeMap<String, u64>,
    pub(super) task_event_types: BTreeMap<String, u64>,
    pub(super) job_sequences: BTreeMap<String, u64>,
    pub(super) task_sequences: BTreeMap<String, u64>,
    pub(super) job_outcomes: Outcomes,
    pub(super) task_outcomes: Outcomes,
    pub(super) tasks_per_job: Spread,
    pub(super) events_per_task: Spread,
    pub(super) attempts_per_task: Spread,
    pub(super) cpu: [CpuTally; 3],
    pub(super) outside: ExactCpu,
    pub(super) counts: CpuCounts,
    pub(super) sweep: Vec<SweepTally>,
    /// By sequence class: duration, and whether the job has ended.
    pub(super) durations: [Vec<(i64, bool)>; 5],
    pub(super) jobs_judged: u64,
    pub(super) jobs_left_out: u64,
    pub(super) jobs_without_finished_task: u64,
    pub(super) straggler_count: u64,
    pub(super) stragglers: Vec<(u64, u32)>,
    pub(super) machines: MachineCounts,
    pub(super) job_ties: u64,
    pub(super) job_ties_after_zero: u64,
    pub(super) task_ties: u64,
    pub(super) task_ties_after_zero: u64,
    pub(super) illegal_job_transitions: BTreeMap<String, u64>,
    pub(super) illegal_task_transitions: BTreeMap<String, u64>,
    pub(super) schedule_while_running: u64,
    pub(super) terminal_without_schedule: BTreeMap<String, u64>,
    pub(super) duplicate_task_events: u64,
    pub(super) duplicate_usage: u64,
    pub(super) usage_without_task: u64,
    pub(super) stray_tasks: u64,
    pub(super) unannounced: BTreeSet<u64>,
    pub(super) unannounced_task_rows: u64,
    pub(super) unannounced_usage_rows: u64,
    pub(super) job_missing_info: BTreeMap<String, u64>,
    pub(super) task_missing_info: BTreeMap<String, u64>,
    pub(super) job_rows_at_zero: u64,
    pub(super) task_rows_at_zero: u64,
    pub(super) last_job_event: i64,
    pub(super) last_task_event: i64,
    pub(super) last_usage_end: i64,
}

/// Adds one to a count.
pub(super) fn bump(counts: &mut BTreeMap<String, u64>, key: &str) {
    if let Some(count) = counts.get_mut(key) {
        *count += 1;
    } else {
        counts.insert(key.to_owned(), 1);
    }
}

impl Tally {
    pub(super) fn new() -> Self {
        Self { sweep: vec![SweepTally::default(); thresholds().len()], ..Self::default() }
    }

    pub(super) fn add_rows(&mut self, table: Table, count: u64) {
        self.rows[table.index()] += count;
    }

    /// Adds a job after all its tasks; `known` has its data in `job_events`.
    pub(super) fn close_job(
        &mut self,
        scene: &Scene,
        job_id: u64,
        known: Option<(&[JobEvent], &JobLabels)>,
        sums: JobSums,
    ) {
        let (by_sequence, by_terminal) = match known {
            Some((events, labels)) => self.book_job_events(scene, events, labels),
            None => (UNMATCHED, TERMINAL_CLASSES.len()),
        };
        let has_tasks = sums.task_count > 0;
        self.jobs_in_task_events += u64::from(has_tasks);
        self.jobs_without_tasks += u64::from(known.is_some() && !has_tasks);
        self.jobs_unknown += u64::from(known.is_none() && has_tasks);
        if has_tasks {
            self.tasks_per_job.add(sums.task_count);
        }
        for (definition, cpu) in self.cpu.iter_mut().enumerate() {
            cpu.by_sequence[by_sequence] += sums.cpu[definition];
            cpu.by_terminal[by_terminal] += sums.cpu[definition];
        }
        self.outside += sums.outside;
        self.book_sweep(job_id, by_sequence, &sums);
        if has_tasks {
            self.book_stragglers(job_id, sums.finished);
        }
    }

    /// Adds the rows of `job_events`, and returns the job's two classes.
    fn book_job_events(
        &mut self,
        scene: &Scene,
        events: &[JobEvent],
        labels: &JobLabels,
    ) -> (usize, usize) {
        let types = || events.iter().map(|row| row.event);
        let digits = sequence(types());
        let classes = (sequence_class(&digits), terminal_class(types()));
        bump(&mut self.job_outcomes.sequence, SEQUENCE_CLASSES[classes.0]);
        bump(&mut self.job_outcomes.terminal, TERMINAL_CLASSES[classes.1]);
        bump(&mut self.job_sequences, &digits);
        self.jobs += 1;
        self.users.insert(labels.user);
        self.job_names.insert(labels.job_name);
        self.logical_names.insert(labels.logical_name);
        let (ties, later_ties) = count_ties(events.iter().map(|row| row.time));
        self.job_ties += ties;
        self.job_ties_after_zero += later_ties;
        count_illegal(types(), &mut self.illegal_job_transitions);
        for row in events {
            bump(&mut self.job_event_types, row.event.name());
            self.last_job_event = self.last_job_event.max(row.time);
            self.job_rows_at_zero += u64::from(row.time == 0);
            if let Some(code) = row.missing_info {
                bump(&mut self.job_missing_info, &code.to_string());
            }
        }
        if let Some(first) = events.iter().find(|row| row.event == Event::Schedule) {
            let is_ended = has_ended(classes.1);
            let last = events.last().map_or(first.time, |row| row.time);
            let end = if is_ended { last } else { scene.window.last_event() };
            self.durations[classes.0].push((end - first.time, is_ended));
        }
        classes
    }

    fn book_sweep(&mut self, job_id: u64, outcome: usize, sums: &JobSums) {
        let is_finished = outcome == 0;
        for (row, crossing) in self.sweep.iter_mut().zip(&sums.crossings) {
            row.condemned[outcome] += crossing.condemned;
            for definition in 0..3 {
                row.saved[definition][outcome] += crossing.saved[definition];
            }
            if is_finished {
                row.harmed_jobs.push(job_id);
                for definition in 0..3 {
                    row.destroyed[definition] += crossing.spent[definition];
                    row.harmed_cpu[definition] += sums.cpu[definition];
                }
            }
        }
    }

    /// Counts stragglers under `median:1.5`: a straggler runs strictly longer than 1.5 times the
    /// median. The median of an even number of values is the mean of the middle two. Everything is
    /// multiplied by four to stay in whole numbers.
    fn book_stragglers(&mut self, job_id: u64, finished: Vec<(u32, i64)>) {
        if finished.len() < STRAGGLER_TASKS_MIN {
            self.jobs_left_out += u64::from(!finished.is_empty());
            self.jobs_without_finished_task += u64::from(finished.is_empty());
            return;
        }
        self.jobs_judged += 1;
        let mut lengths: Vec<i64> = finished.iter().map(|(_, length)| *length).collect();
        lengths.sort_unstable();
        let middle = lengths.len() / 2;
        let lower = lengths[middle - usize::from(lengths.len().is_multiple_of(2))];
        let twice_median = lengths[middle] + lower;
        for (index, length) in finished {
            if 4 * length > 3 * twice_median {
                self.straggler_count += 1;
                if self.stragglers.len() < STRAGGLERS_LISTED {
                    self.stragglers.push((job_id, index));
                }
            }
        }
    }
}

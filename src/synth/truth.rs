//! `truth.json`: the ground truth that the analysis must find.
//!
//! Raise [`FORMAT`] when a field changes its name or meaning. Times are whole microseconds. CPU is
//! in NCU-s, from exact sums rounded once: `(sum as f64) / 2^64 / 1e6`, where a sum adds
//! `(f64::from(rate_f32) * 2^64) as i128 * length_us`. Maps list every outcome, with 0 for empty
//! ones.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::config::SynthConfig;

/// Version of `truth.json`.
pub(super) const FORMAT: u32 = 1;

/// The contents of the trace, as planted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Version of this structure.
    pub format: u32,
    /// The settings of the trace.
    pub config: SynthConfig,
    /// Window and last times of the tables.
    pub times: LastTimes,
    /// Good rows by table.
    pub rows: BTreeMap<String, u64>,
    /// Jobs in `job_events`.
    pub jobs: u64,
    /// Jobs in `task_events`.
    pub jobs_in_task_events: u64,
    /// Jobs in `job_events` only.
    pub jobs_without_tasks: u64,
    /// Jobs in `task_events` only: unmatched.
    pub jobs_unknown: u64,
    /// Tasks in `task_events`.
    pub tasks: u64,
    /// Distinct users in `job_events`.
    pub users: u64,
    /// Distinct job names.
    pub job_names: u64,
    /// Distinct logical job names.
    pub logical_names: u64,
    /// Rows of `job_events` by type.
    pub job_event_types: BTreeMap<String, u64>,
    /// Rows of `task_events` by type.
    pub task_event_types: BTreeMap<String, u64>,
    /// Jobs by event sequence.
    pub job_sequences: BTreeMap<String, u64>,
    /// Tasks by event sequence.
    pub task_sequences: BTreeMap<String, u64>,
    /// Jobs by class.
    pub job_outcomes: Outcomes,
    /// Tasks by class, from their own events.
    pub task_outcomes: Outcomes,
    /// Tasks per job of `task_events`.
    pub tasks_per_job: Spread,
    /// Events per task.
    pub events_per_task: Spread,
    /// Attempts per task.
    pub attempts_per_task: Spread,
    /// CPU ledgers by definition: measured, requested, slots.
    pub cpu: BTreeMap<String, CpuLedger>,
    /// Counts that go with the ledgers.
    pub cpu_counts: CpuCounts,
    /// One row per threshold.
    pub sweep: Vec<SweepRow>,
    /// Durations of jobs with a SCHEDULE, by class of `sequence` and of `all`.
    pub durations: BTreeMap<String, Durations>,
    /// Stragglers under `median:1.5`.
    pub stragglers: Stragglers,
    /// Oddities.
    pub quality: Quality,
    /// Machines.
    pub machines: MachineCounts,
    /// Planted bad lines by table and reason; empty for a clean trace.
    pub rejects: BTreeMap<String, BTreeMap<String, u64>>,
    /// Good lines that end in CRLF, by table.
    pub crlf_lines: BTreeMap<String, u64>,
    /// Parts without a line end after the last line.
    pub parts_without_last_newline: Vec<String>,
    /// Parts that are gzip files of two members, divided within a line.
    pub parts_of_two_members: Vec<String>,
    /// Lines in the format of 2019 that a lake of jobs leaves out, by table and kind.
    #[serde(default)]
    pub left_out: BTreeMap<String, BTreeMap<String, u64>>,
}

/// The window, and the last times of the tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastTimes {
    /// Start of the window.
    pub window_start_us: i64,
    /// End of the window.
    pub window_end_us: i64,
    /// Last event of `job_events`; open jobs are closed there.
    pub last_job_event_us: i64,
    /// Last event of `task_events`; open attempts are closed there.
    pub last_task_event_us: i64,
    /// The latest end of a usage window; it is never after the last task event.
    pub last_usage_end_us: i64,
}

/// Counts by both classifications.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// By exact sequence: finished, failed, killed, running, other.
    pub sequence: BTreeMap<String, u64>,
    /// By the last event that is not an update.
    pub terminal: BTreeMap<String, u64>,
}

/// The distribution of a count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// The number of values.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The largest.
    pub max: u64,
    /// The number of values that are exactly one.
    pub ones: u64,
}

impl Spread {
    pub(super) fn add(&mut self, value: u64) {
        self.merge(&Self { count: 1, sum: value, max: value, ones: u64::from(value == 1) });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        self.ones += other.ones;
    }
}

/// CPU of one definition, in NCU-s, by the outcome of the task's job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuLedger {
    /// By class of `sequence`.
    pub sequence: BTreeMap<String, f64>,
    /// By class of `terminal`.
    pub terminal: BTreeMap<String, f64>,
    /// CPU of jobs that are not in `job_events`.
    pub unmatched: f64,
    /// CPU of usage outside attempts; 0 for requested and slots.
    pub outside_attempts: f64,
    /// The total.
    pub total: f64,
}

/// Counts that go with the CPU ledgers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuCounts {
    /// Usage windows.
    pub windows: u64,
    /// Usage windows without a mean CPU rate.
    pub windows_without_rate: u64,
    /// Windows that start before the latest end of any earlier window of their task, in (start,
    /// end, row) order.
    pub overlapping_windows: u64,
    /// SCHEDULE rows of tasks: attempts.
    pub schedules: u64,
    /// SCHEDULE rows without a CPU request.
    pub schedules_without_request: u64,
}

/// The sweep at one threshold, with outcomes by `sequence`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// T.
    pub threshold: u32,
    /// Tasks with more than T events.
    pub condemned_tasks: BTreeMap<String, u64>,
    /// Finished jobs with a condemned task.
    pub harmed_jobs: u64,
    /// Their ids, ascending.
    pub harmed_job_ids: Vec<u64>,
    /// By CPU definition.
    pub cpu: BTreeMap<String, CpuSpent>,
}

/// CPU that a threshold saves and destroys, in NCU-s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuSpent {
    /// CPU of condemned tasks after their kill.
    pub saved_cpu: BTreeMap<String, f64>,
    /// CPU of condemned tasks of finished jobs up to their kill.
    pub destroyed_cpu: f64,
    /// All CPU of the harmed jobs.
    pub harmed_jobs_cpu: f64,
}

/// Durations from first SCHEDULE to last event; open jobs are closed at the last job event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    /// Jobs with a SCHEDULE.
    pub count: u64,
    /// Jobs that ended.
    pub ended_count: u64,
    /// Sum.
    pub sum_us: i64,
    /// Sum over jobs that ended.
    pub ended_sum_us: i64,
    /// Shortest.
    pub min_us: i64,
    /// The median; the mean of the middle two for an even number.
    pub median_us: f64,
    /// Longest.
    pub max_us: i64,
    /// Population variance in s², from exact sums.
    pub variance_s2: f64,
}

/// Stragglers under `median:1.5`, in jobs with at least ten tasks that have a finished attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stragglers {
    /// Jobs with at least ten such tasks.
    pub jobs_judged: u64,
    /// Jobs with one to nine.
    pub jobs_left_out: u64,
    /// Jobs of `task_events` with none.
    pub jobs_without_finished_task: u64,
    /// Stragglers.
    pub straggler_count: u64,
    /// (job, task index) of the first 10,000 that were made, sorted.
    pub tasks: Vec<(u64, u32)>,
}

/// Oddities; counted in rows unless stated otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// Groups of consecutive events of one job at one instant.
    pub job_ties: u64,
    /// Groups that are not at time 0.
    pub job_ties_after_zero: u64,
    /// Groups of consecutive events of one task at one instant.
    pub task_ties: u64,
    /// Groups that are not at time 0.
    pub task_ties_after_zero: u64,
    /// By event and state, such as `EVICT while pending`.
    pub illegal_job_transitions: BTreeMap<String, u64>,
    /// By event and state.
    pub illegal_task_transitions: BTreeMap<String, u64>,
    /// SCHEDULE of a task with an open attempt.
    pub schedule_while_running: u64,
    /// Terminal events of tasks without an open attempt, by type.
    pub terminal_without_schedule: BTreeMap<String, u64>,
    /// Extra copies of a row, by table.
    pub duplicate_rows: BTreeMap<String, u64>,
    /// Rows of `task_usage` of tasks without events.
    pub usage_without_task: u64,
    /// Tasks with usage but no events.
    pub tasks_with_usage_only: u64,
    /// Machines that are not in `machine_events`.
    pub machines_never_announced: Unannounced,
    /// Rows of `job_events` by missing-info code.
    pub job_missing_info: BTreeMap<String, u64>,
    /// Rows of `task_events` by missing-info code.
    pub task_missing_info: BTreeMap<String, u64>,
    /// Rows of `job_events` at time 0.
    pub job_rows_at_zero: u64,
    /// Rows of `task_events` at time 0.
    pub task_rows_at_zero: u64,
}

/// Machines that are not in `machine_events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unannounced {
    /// Distinct machines.
    pub machines: u64,
    /// Rows of `task_events` with such a machine.
    pub task_event_rows: u64,
    /// Rows of `task_usage` with such a machine.
    pub usage_rows: u64,
}

/// The machines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineCounts {
    /// Distinct machines in `machine_events`.
    pub machines: u64,
    /// Machines added at time 0.
    pub present_at_zero: u64,
    /// Machines with REMOVE as their last event.
    pub never_return: u64,
    /// Rows without capacities.
    pub rows_without_capacity: u64,
    /// Rows by type.
    pub event_types: BTreeMap<String, u64>,
}

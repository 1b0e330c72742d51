//! The counts that are checked in a lake, and what each means for studies.
//!
//! In: nothing. Out: names of counts, columns and tables, each with words. Nothing is read here.

use super::Weight;
use crate::facts::census::{AFTER_GAP, FAILED_AT_ONCE};
use crate::schema::Table;

/// A count that should be 0, or that changes the results of studies.
pub(super) struct Rule {
    /// The name of the count in the census.
    pub what: &'static str,
    /// The count that it is a share of; empty if there is none.
    pub of: &'static str,
    /// A part of the count that has a separate rule and is not counted here; empty if there is
    /// none.
    pub without: &'static str,
    pub weight: Weight,
    pub about: &'static str,
    /// The noun for what is counted, in the singular.
    pub noun: &'static str,
    /// The rest of the sentence, after the count.
    pub said: &'static str,
    /// The rest of the sentence after a number of jobs. It is used if each job is one task and both
    /// tables have the same count. Empty if the tables are always reported separately.
    pub of_jobs: &'static str,
    pub means: &'static str,
    pub act: &'static str,
}

/// A hint how to measure the effect of attempts without an end. A page may show the number instead.
pub(crate) const SEE_CLOSED: &str =
    "see how much depends on these attempts: `jobfate account --open-attempts window-end`";

/// The rules, the most important first.
pub(super) const RULES: [Rule; 12] = [
    Rule {
        what: "exact duplicates",
        of: "rows",
        without: "",
        weight: Weight::Unusual,
        about: "Copies",
        noun: "row",
        said: "the same as another in every column",
        of_jobs: "",
        means: "Both are kept: a duplicated event changes the sequence of its job or task, and a \
            duplicated window its CPU time",
        act: "See whether two parts hold the same rows: `jobfate verify TRACE` compares their \
            checksums",
    },
    Rule {
        what: "illegal transitions",
        of: "rows",
        without: "",
        weight: Weight::Unusual,
        about: "Events out of order",
        noun: "event",
        said: "that the state of their job or task does not allow",
        of_jobs: "",
        means: "They are kept unchanged. Where outcomes go by the exact sequence of events, such a job \
            counts as `other`; where they go by the last end, it has that outcome",
        act: "Where `other` is large, compare with `jobfate classify --classes terminal`",
    },
    Rule {
        what: AFTER_GAP,
        of: "entities",
        without: "",
        weight: Weight::Missing,
        about: "SUBMIT lost in a gap",
        noun: "history",
        said: "without a SUBMIT at the start, whose first row is after a gap of the loaded parts",
        of_jobs: "",
        means: "Their SUBMIT is most likely in the missing parts: when they were submitted and how long they \
            waited is unknown, and they count as left-censored where durations are asked for",
        act: "Load the missing parts",
    },
    Rule {
        what: "first event is not SUBMIT",
        of: "entities",
        without: AFTER_GAP,
        weight: Weight::Unusual,
        about: "No SUBMIT at the start",
        noun: "history",
        said: "without a SUBMIT at the start, not after a gap of the loaded parts",
        of_jobs: "",
        means: "They began before the first row, or their SUBMIT is not in the log. Their waits are unknown, and they count as left-censored where durations are asked for",
        act: "",
    },
    Rule {
        what: "ended while pending",
        of: "entities",
        without: "",
        weight: Weight::Unusual,
        about: "Ended while waiting",
        noun: "end",
        said: "of a job or task that waited, for its first attempt or for another one",
        of_jobs: "ended while they waited, for their first attempt or for another one",
        means: "The waiting costs no CPU time. Where outcomes go by the exact sequence of events, its job or \
            task counts as `other`; where they go by the last end, as killed or failed",
        act: "",
    },
    Rule {
        what: FAILED_AT_ONCE,
        of: "event_type 3",
        without: "",
        weight: Weight::Unusual,
        about: "Failed at the start",
        noun: "failure",
        said: "at the instant of the start",
        of_jobs: "failed at the instant of their start",
        means: "They ran for no time: they cost no CPU time, make run times of failures short, and have a \
            large slowdown if they waited",
        act: "",
    },
    Rule {
        what: "attempts closed with their job",
        of: "",
        without: "",
        weight: Weight::Unusual,
        about: "Attempts without an end",
        noun: "attempt",
        said: "without an end in the loaded parts, closed at the end of the job",
        of_jobs: "",
        means: "Their CPU time is the most that it can have been",
        act: SEE_CLOSED,
    },
    Rule {
        what: "attempts open at the end",
        of: "",
        without: "",
        weight: Weight::Unusual,
        about: "Still running at the end",
        noun: "attempt",
        said: "open at the end of the window",
        of_jobs: "",
        means: "Their lengths are censored: distributions say so, and CPU time counts up to the end",
        act: "",
    },
    Rule {
        what: "windows that overlap an earlier one",
        of: "rows",
        without: "",
        weight: Weight::Unusual,
        about: "Overlapping usage",
        noun: "usage window",
        said: "that begin before an earlier one of the same task has ended",
        of_jobs: "",
        means: "Each counts with its whole length, so measured CPU time holds the overlap twice",
        act: "",
    },
    Rule {
        what: "windows without a task",
        of: "rows",
        without: "",
        weight: Weight::Unusual,
        about: "Usage of unknown tasks",
        noun: "usage window",
        said: "of a task without any event in the loaded parts",
        of_jobs: "",
        means: "Their CPU time is reported separately, outside of attempts, and belongs to no outcome",
        act: "",
    },
    Rule {
        what: "windows without length",
        of: "rows",
        without: "",
        weight: Weight::Unusual,
        about: "Usage without time",
        noun: "usage window",
        said: "that end when they begin, or before",
        of_jobs: "",
        means: "They add no CPU time",
        act: "",
    },
    Rule {
        what: "machines never announced",
        of: "",
        without: "",
        weight: Weight::Unusual,
        about: "Unknown machines",
        noun: "machine",
        said: "on which something ran, and which `machine_events` does not have",
        of_jobs: "",
        means: "Capacity is without them, so utilisation can be above what it was",
        act: "",
    },
];

/// Columns that a trace may not record at all: the table, the column, and a name in words.
pub(super) const RECORDED: [(&str, &str, &str); 14] = [
    ("job_events", "user", "the user of jobs"),
    // The name that the user chose; `job_name` is often unique to a single job.
    ("job_events", "logical_job_name", "the names of jobs"),
    ("job_events", "status", "how jobs ended"),
    ("job_events", "scheduling_class", "the scheduling class"),
    ("task_events", "wait_us", "how long jobs waited"),
    ("task_events", "requested_time_us", "time limits"),
    ("task_events", "cpu_time_us", "the CPU time used"),
    ("task_events", "used_memory_kib", "the memory used"),
    ("task_events", "cpu_request", "the CPU requested"),
    ("task_events", "memory_request", "the memory requested"),
    ("task_events", "machine_id", "the machine of an attempt"),
    ("task_events", "priority", "the priority of tasks"),
    ("machine_events", "cpu_capacity", "the CPU of machines"),
    ("machine_events", "memory_capacity", "the memory of machines"),
];

/// Columns whose nulls affect a study, and the effect.
pub(super) const NULLS: [(&str, &str); 8] = [
    ("user", "Jobs without a user count as one user, `-`"),
    ("cpu_request", "Nothing is added for them to requested CPU"),
    ("memory_request", "Nothing is added for them to requested memory"),
    ("gpu_request", "Nothing is added for them to requested GPUs"),
    ("mean_cpu_rate", "Nothing is added for them to measured CPU"),
    ("cpu_capacity", "Such machines add nothing to the capacity"),
    ("scheduling_class", "Groups by class are without them"),
    ("machine_id", "Their machines are unknown"),
];

/// Names of jobs are almost unique if the number of names is at least this share of the number of
/// jobs.
pub(super) const NAMES_PER_JOB: f64 = 0.8;

/// The fewest jobs for which this is reported.
pub(super) const NAMED_JOBS_MIN: u64 = 100;

/// The use of each table. A table that no study reads is not reported as missing.
pub(super) const NEEDED_FOR: [(Table, &str); 4] = [
    (Table::JobEvents, "outcomes of jobs, users, job ends"),
    (Table::TaskEvents, "tasks, attempts, requests, waits"),
    (Table::TaskUsage, "CPU and memory that were used"),
    (Table::MachineEvents, "capacity, outages"),
];

/// The effect of a cut on the jobs of a trace. A job of length L is in a cut of length C if it
/// starts in the cut or in the time L before it, so its chance grows with L + C. A job that always
/// runs is in every cut; a short job is in a cut only if it starts there. At most C of a job is
/// visible.
pub(super) const OF_A_CUT: &str = "Figures of this table describe only these hours. Long jobs are over-represented, \
    since whatever runs at any time in these hours is included, and what is seen of them is cut: their \
    durations are too short, and many have no end";

//! The columns of each table, source by source.
//!
//! In: a table and a source. Out: its columns in the order of the lake. The columns of the Google
//! trace come first in every lake, under the same names and types, so that every question works on
//! every lake; a unit or a meaning may differ, and a column that Google always fills may be missing
//! elsewhere. Additional columns of each source follow.

use super::Column;
use super::ColumnType::{self, Amount, Bool, Event, Float, Floats, Id, Int, Long, Text, Time};

pub(super) const fn must(
    name: &'static str,
    kind: ColumnType,
    unit: &'static str,
    meaning: &'static str,
) -> Column {
    Column { name, kind, is_mandatory: true, unit, meaning }
}

pub(super) const fn may(
    name: &'static str,
    kind: ColumnType,
    unit: &'static str,
    meaning: &'static str,
) -> Column {
    Column { name, kind, is_mandatory: false, unit, meaning }
}

pub(super) const JOB_EVENTS: &[Column] = &[
    must("time_us", Time, "µs", "when it happened; 0 before the window, 2^63-1 after it"),
    may(
        "missing_info",
        Int,
        "",
        "why the row was synthesised: 0 no transition, 1 nothing seen, 2 no creation",
    ),
    must("job_id", Id, "", "the job"),
    must(
        "event_type",
        Event(8),
        "",
        "0 SUBMIT 1 SCHEDULE 2 EVICT 3 FAIL 4 FINISH 5 KILL 6 LOST 7 UPDATE_PENDING 8 UPDATE_RUNNING",
    ),
    may("user", Text, "", "who submitted it (hash)"),
    may("scheduling_class", Int, "", "latency sensitivity, 0 batch to 3 serving"),
    may("job_name", Text, "", "name of the job (hash)"),
    may("logical_job_name", Text, "", "name shared by runs of one program (hash)"),
];

pub(super) const TASK_EVENTS: &[Column] = &[
    must("time_us", Time, "µs", "when it happened; 0 before the window, 2^63-1 after it"),
    may(
        "missing_info",
        Int,
        "",
        "why the row was synthesised: 0 no transition, 1 nothing seen, 2 no creation",
    ),
    must("job_id", Id, "", "the job"),
    must("task_index", Int, "", "the task's number within its job"),
    may("machine_id", Id, "", "where it runs or ran"),
    must(
        "event_type",
        Event(8),
        "",
        "0 SUBMIT 1 SCHEDULE 2 EVICT 3 FAIL 4 FINISH 5 KILL 6 LOST 7 UPDATE_PENDING 8 UPDATE_RUNNING",
    ),
    may("user", Text, "", "who submitted it (hash)"),
    may("scheduling_class", Int, "", "latency sensitivity, 0 batch to 3 serving"),
    must("priority", Int, "", "0 lowest; 0-1 free, 9-11 production"),
    may("cpu_request", Amount, "NCU", "CPU requested, share of the largest machine"),
    may("memory_request", Amount, "share", "memory requested, share of the largest machine"),
    may("disk_request", Amount, "share", "disk requested, share of the largest machine"),
    may("different_machines", Bool, "", "whether tasks of the job must run on different machines"),
];

pub(super) const TASK_USAGE: &[Column] = &[
    must("start_time_us", Time, "µs", "start of the window"),
    must("end_time_us", Time, "µs", "end of the window, at most 300 s later"),
    must("job_id", Id, "", "the job"),
    must("task_index", Int, "", "the task's number within its job"),
    must("machine_id", Id, "", "where it ran"),
    may("mean_cpu_rate", Amount, "NCU", "mean CPU use: core-seconds per second, scaled"),
    may("canonical_memory", Amount, "share", "user-accessible memory, mean"),
    may("assigned_memory", Amount, "share", "memory limit of the container"),
    may("unmapped_page_cache", Amount, "share", "page cache not mapped into a process, mean"),
    may("total_page_cache", Amount, "share", "page cache, mean"),
    may("max_memory", Amount, "share", "largest canonical memory"),
    may("mean_disk_io_time", Float, "s/s", "disk-time seconds per second, mean"),
    may("mean_local_disk_space", Amount, "share", "local disk used, mean"),
    may("max_cpu_rate", Amount, "NCU", "largest CPU use seen in the window"),
    may("max_disk_io_time", Float, "s/s", "largest disk-time seconds per second"),
    may("cycles_per_instruction", Float, "cycles", "CPI; the trace holds impossible values"),
    may(
        "memory_accesses_per_instruction",
        Float,
        "accesses",
        "MAI; the trace holds impossible values",
    ),
    may("sample_portion", Float, "share", "observed over expected samples"),
    may("aggregation_type", Bool, "", "whether maxima come from sub-containers"),
    may("sampled_cpu_usage", Amount, "NCU", "CPU use in one random second of the window"),
];

pub(super) const MACHINE_EVENTS: &[Column] = &[
    must("time_us", Time, "µs", "when it happened; 0 before the window"),
    must("machine_id", Id, "", "the machine"),
    must("event_type", Event(2), "", "0 ADD, 1 REMOVE, 2 UPDATE"),
    may("platform_id", Text, "", "micro-architecture and chipset (hash)"),
    may("cpu_capacity", Amount, "NCU", "CPU, share of the largest machine"),
    may("memory_capacity", Amount, "share", "memory, share of the largest machine"),
];

pub(super) const MACHINE_ATTRIBUTES: &[Column] = &[
    must("time_us", Time, "µs", "when it happened; 0 before the window"),
    must("machine_id", Id, "", "the machine"),
    must("attribute_name", Text, "", "name of the attribute (hash)"),
    may("attribute_value", Text, "", "value (hash or whole number)"),
    must("is_deleted", Bool, "", "whether the attribute was removed"),
];

pub(super) const TASK_CONSTRAINTS: &[Column] = &[
    must("time_us", Time, "µs", "when it was set; 0 before the window"),
    must("job_id", Id, "", "the job"),
    must("task_index", Int, "", "the task's number within its job"),
    must("comparison_operator", Event(3), "", "0 EQUAL, 1 NOT_EQUAL, 2 LESS_THAN, 3 GREATER_THAN"),
    must("attribute_name", Text, "", "name of the attribute (hash)"),
    may("attribute_value", Text, "", "value to compare with (hash or whole number)"),
];

/// Additional columns of collections in the trace of 2019.
const V3_JOB_EXTRA: &[Column] = &[
    may("priority", Int, "", "raw: 0-99 free, 100-119 mid, 120-200 production, above monitoring"),
    may("alloc_collection_id", Id, "", "the alloc set it runs in"),
    may("parent_collection_id", Id, "", "parent job; when it ends, this job is ended too"),
    may("start_after_collection_ids", Text, "", "jobs it waits for, joined by spaces"),
    may("max_per_machine", Int, "", "largest number of its tasks on one machine"),
    may("max_per_switch", Int, "", "largest number of its tasks behind one switch"),
    may("vertical_scaling", Int, "", "0 unknown, 1 off, 2 by user constraint, 3 full"),
    may("scheduler", Int, "", "0 default, 1 batch"),
];
const V3_TASK_EXTRA: &[Column] = &[
    may("alloc_collection_id", Id, "", "the alloc set it runs in"),
    may("alloc_instance_index", Int, "", "the part of the alloc set it runs in"),
];
const V3_USAGE_EXTRA: &[Column] = &[
    may("alloc_collection_id", Id, "", "the alloc set it runs in"),
    may("alloc_instance_index", Int, "", "the part of the alloc set it runs in"),
    may("cpu_usage_distribution", Floats, "NCU", "CPU use: 0, 10, ... 100th percentile"),
    may("tail_cpu_usage_distribution", Floats, "NCU", "CPU use: 91st to 99th percentile"),
];
const V3_MACHINE_EXTRA: &[Column] = &[
    may("switch_id", Text, "", "switch it is connected to (hash)"),
    may("missing_info", Int, "", "why the row was synthesised"),
];

const V3_MISSING: Column = may(
    "missing_info",
    Int,
    "",
    "why the row was synthesised: 0 no transition, 1 nothing seen, 2 no creation, 3 step missing, \
    4 too many events",
);
const V3_PRIORITY: Column =
    may("priority", Int, "", "raw: 0-99 free, 100-119 mid, 120-200 production, above monitoring");

pub(super) const V3_JOB_EVENTS: &[Column] = &join::<{ JOB_EVENTS.len() + V3_JOB_EXTRA.len() }>(&[
    &replace::<{ JOB_EVENTS.len() }>(JOB_EVENTS, &[V3_MISSING]),
    V3_JOB_EXTRA,
]);
pub(super) const V3_TASK_EVENTS: &[Column] =
    &join::<{ TASK_EVENTS.len() + V3_TASK_EXTRA.len() }>(&[
        &replace::<{ TASK_EVENTS.len() }>(
            TASK_EVENTS,
            &[
                V3_MISSING,
                V3_PRIORITY,
                may("machine_id", Id, "", "where it runs or ran; -1 a dedicated machine"),
                may(
                    "user",
                    Text,
                    "",
                    "who submitted the job, if collection_events was in the same \
            folder",
                ),
                may("disk_request", Amount, "share", "never present: the trace does not have it"),
                may("different_machines", Bool, "", "max_per_machine of the job is 1"),
            ],
        ),
        V3_TASK_EXTRA,
    ]);
pub(super) const V3_TASK_USAGE: &[Column] =
    &join::<{ TASK_USAGE.len() + V3_USAGE_EXTRA.len() }>(&[
        &replace::<{ TASK_USAGE.len() }>(
            TASK_USAGE,
            &[
                may("machine_id", Id, "", "where it ran"),
                may("canonical_memory", Amount, "share", "memory used, mean over time"),
                may("total_page_cache", Amount, "share", "page cache, mean"),
                may("sample_portion", Float, "1/s", "samples per second, 1 if none is missing"),
                may(
                    "sampled_cpu_usage",
                    Amount,
                    "NCU",
                    "CPU use in one random sample of the window",
                ),
            ],
        ),
        V3_USAGE_EXTRA,
    ]);
pub(super) const V3_MACHINE_EVENTS: &[Column] =
    &join::<{ MACHINE_EVENTS.len() + V3_MACHINE_EXTRA.len() }>(&[MACHINE_EVENTS, V3_MACHINE_EXTRA]);
pub(super) const V3_TASK_CONSTRAINTS: &[Column] = &replace::<{ TASK_CONSTRAINTS.len() }>(
    TASK_CONSTRAINTS,
    &[must(
        "comparison_operator",
        Event(7),
        "",
        "0 EQUAL, 1 NOT_EQUAL, 2 LESS_THAN, 3 GREATER_THAN, 4 LESS_THAN_EQUAL, 5 GREATER_THAN_EQUAL, 6 PRESENT, 7 NOT_PRESENT",
    )],
);

/// Additional columns of jobs in logs of parallel jobs (standard and grid workload format).
pub(super) const LOG_EXTRA: &[Column] = &[
    may("user_group", Text, "", "group of the user"),
    may("executable", Text, "", "program that was run; also in `logical_job_name` of job_events"),
    may("queue", Text, "", "queue it was submitted to"),
    may("partition", Text, "", "partition of the system it ran on"),
    may("status", Int, "", "as logged: 1 completed, 0 failed, 5 cancelled; 2-4 parts of a run"),
    may(
        "wait_us",
        Long,
        "µs",
        "wait as logged, negative if the log has the submission after the start",
    ),
    may("run_us", Long, "µs", "run time as logged"),
    may("processors", Int, "", "processors allocated"),
    may("requested_processors", Int, "", "processors requested"),
    may("requested_time_us", Long, "µs", "run time (or CPU time per processor) requested"),
    may("cpu_time_us", Long, "µs", "mean CPU time used per processor"),
    may("used_memory_kib", Float, "KiB", "mean memory used per processor"),
    may("requested_memory_kib", Float, "KiB", "memory requested, per processor"),
];

/// Columns that only the standard workload format has.
const SWF_EXTRA: &[Column] = &[
    may("preceding_job", Id, "", "job that had to end first"),
    may("think_time_us", Long, "µs", "time between the end of the preceding job and the submit"),
];

/// Columns that only the grid workload format has.
const GWF_EXTRA: &[Column] = &[
    may("site", Text, "", "site it was submitted at"),
    may("last_run_site", Text, "", "last site that it ran at"),
    may("job_structure", Text, "", "UNITARY, or BoT for a bag of tasks"),
    may(
        "job_structure_params",
        Text,
        "",
        "parameters of the structure, such as the bag it belongs to",
    ),
    may("used_network", Float, "KiB/s", "network used"),
    may("used_disk_mib", Float, "MiB", "local disk used"),
    may("used_resources", Text, "", "other resources used"),
    may("requested_platform", Text, "", "platform requested"),
    may("requested_network", Text, "", "network requested"),
    may("requested_disk", Text, "", "local disk requested"),
    may("requested_resources", Text, "", "other resources requested"),
    may("virtual_organisation", Text, "", "virtual organisation"),
    may("project", Text, "", "project"),
];

/// Requests of a log of parallel jobs.
pub(super) const LOG_TASK_EVENTS: [Column; TASK_EVENTS.len()] = replace(
    TASK_EVENTS,
    &[
        may("priority", Int, "", "never present: the format has none"),
        may("cpu_request", Float, "processors", "processors allocated, or else requested"),
        may("memory_request", Float, "KiB", "memory requested, on all processors together"),
    ],
);

pub(super) const SWF_JOB_EVENTS: &[Column] = &join::<
    { JOB_EVENTS.len() + LOG_EXTRA.len() + SWF_EXTRA.len() },
>(&[JOB_EVENTS, LOG_EXTRA, SWF_EXTRA]);
pub(super) const SWF_TASK_EVENTS: &[Column] = &join::<
    { TASK_EVENTS.len() + LOG_EXTRA.len() + SWF_EXTRA.len() },
>(&[&LOG_TASK_EVENTS, LOG_EXTRA, SWF_EXTRA]);
pub(super) const GWF_JOB_EVENTS: &[Column] = &join::<
    { JOB_EVENTS.len() + LOG_EXTRA.len() + GWF_EXTRA.len() },
>(&[JOB_EVENTS, LOG_EXTRA, GWF_EXTRA]);
pub(super) const GWF_TASK_EVENTS: &[Column] = &join::<
    { TASK_EVENTS.len() + LOG_EXTRA.len() + GWF_EXTRA.len() },
>(&[&LOG_TASK_EVENTS, LOG_EXTRA, GWF_EXTRA]);
pub(super) const LOG_MACHINE_EVENTS: &[Column] = &replace::<{ MACHINE_EVENTS.len() }>(
    MACHINE_EVENTS,
    &[
        may("platform_id", Text, "", "the system, as the log names it"),
        may("cpu_capacity", Float, "processors", "processors of the whole system"),
        may("memory_capacity", Float, "KiB", "never present: the format has none"),
    ],
);

/// Additional columns of jobs in Rumen.
const RUMEN_JOB_EXTRA: &[Column] = &[
    may("queue", Text, "", "queue it was submitted to"),
    may("priority", Int, "", "0 VERY_LOW, 1 LOW, 2 NORMAL, 3 HIGH, 4 VERY_HIGH"),
    may("total_maps", Int, "", "map tasks"),
    may("total_reduces", Int, "", "reduce tasks"),
];

/// Additional columns of tasks and attempts in Rumen.
const RUMEN_TASK_EXTRA: &[Column] = &[
    may("phase", Text, "", "map, reduce, setup or cleanup"),
    may("task_name", Text, "", "the task's own name, such as task_200904211745_0002_m_000010"),
    may("attempt", Int, "", "the attempt's number within its task; not on SUBMIT"),
    may("machine_name", Text, "", "where it ran; not on SUBMIT"),
    may("queue", Text, "", "queue of its job"),
    may("shuffle_end_us", Long, "µs", "end of a reduce's shuffle, on the attempt's last event"),
    may("sort_end_us", Long, "µs", "end of a reduce's sort, on the attempt's last event"),
];

pub(super) const RUMEN_JOB_EVENTS: &[Column] =
    &join::<{ JOB_EVENTS.len() + RUMEN_JOB_EXTRA.len() }>(&[JOB_EVENTS, RUMEN_JOB_EXTRA]);
pub(super) const RUMEN_TASK_EVENTS: &[Column] =
    &join::<{ TASK_EVENTS.len() + RUMEN_TASK_EXTRA.len() }>(&[
        &replace::<{ TASK_EVENTS.len() }>(
            TASK_EVENTS,
            &[
                may("priority", Int, "", "0 VERY_LOW, 1 LOW, 2 NORMAL, 3 HIGH, 4 VERY_HIGH"),
                may("cpu_request", Float, "slots", "1: an attempt takes one slot"),
                may("memory_request", Float, "MiB", "memory requested"),
            ],
        ),
        RUMEN_TASK_EXTRA,
    ]);
pub(super) const RUMEN_MACHINE_EVENTS: &[Column] = &join::<{ MACHINE_EVENTS.len() + 2 }>(&[
    MACHINE_EVENTS,
    &[may("machine_name", Text, "", "name of the host"), may("rack", Text, "", "rack of the host")],
]);

/// Joins the lists; `COUNT` is their total number of columns.
pub(super) const fn join<const COUNT: usize>(lists: &[&[Column]]) -> [Column; COUNT] {
    let mut all = [lists[0][0]; COUNT];
    let mut filled = 0;
    let mut list = 0;
    while list < lists.len() {
        let mut idx = 0;
        while idx < lists[list].len() {
            all[filled] = lists[list][idx];
            filled += 1;
            idx += 1;
        }
        list += 1;
    }
    assert!(filled == COUNT, "the lists have as many columns as they say");
    all
}

/// `base` with new meanings for some columns; all of these columns must exist.
pub(super) const fn replace<const COUNT: usize>(
    base: &[Column],
    new: &[Column],
) -> [Column; COUNT] {
    let mut all = join(&[base]);
    let mut new_idx = 0;
    while new_idx < new.len() {
        let mut idx = 0;
        while !is_same(all[idx].name, new[new_idx].name) {
            idx += 1;
        }
        all[idx] = new[new_idx];
        new_idx += 1;
    }
    all
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut idx = 0;
    while idx < one.len() {
        if one[idx] != other[idx] {
            return false;
        }
        idx += 1;
    }
    true
}

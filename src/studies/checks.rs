//! Compares a census with the published counts of the whole trace of 2011.
//!
//! In: a [`Census`] and the complete tables. Out: one [`Check`] per published number. Incomplete
//! tables and synthetic or sampled traces are not checked.
//!
//! Sources: the numbers of `job_events` and `machine_events` were counted in the original files.
//! The other numbers are published (the repository of the trace and its document; Mandai, Kawahara
//! and Kasahara, 2017).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digits::counted;
use crate::facts::census::Census;
use crate::lake::{Lake, Manifest};
use crate::schema::{Source, Table};

/// A published number, and the number found in the lake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The table.
    pub table: String,
    /// What is counted.
    pub what: String,
    /// The published number.
    pub published: u64,
    /// The number found.
    pub found: u64,
}

impl Check {
    /// Whether the two agree.
    pub fn is_ok(&self) -> bool {
        self.published == self.found
    }
}

/// Published numbers, by the names of the census.
const PUBLISHED: &[(Table, &[(&str, u64)])] = &[
    (
        Table::JobEvents,
        &[
            ("rows", 2_012_242),
            ("jobs", 672_074),
            ("distinct user", 933),
            ("distinct job_name", 183_955),
            ("distinct logical_job_name", 39_730),
            ("event_type 0", 672_075),
            ("event_type 1", 672_075),
            ("event_type 2", 22),
            ("event_type 3", 10_125),
            ("event_type 4", 385_582),
            ("event_type 5", 272_341),
            ("event_type 6", 16),
            ("event_type 8", 6),
            ("rows at time 0", 7_970),
            ("missing_info 0", 3),
            ("missing_info 1", 16),
            ("exact duplicates", 0),
        ],
    ),
    (
        Table::TaskEvents,
        &[
            ("rows", 144_648_288),
            ("entities", 25_424_731),
            ("jobs", 672_004),
            ("event_type 0", 48_375_166),
            ("event_type 1", 47_351_173),
            ("event_type 2", 5_864_353),
            ("event_type 3", 13_829_769),
            ("event_type 4", 18_217_975),
            ("event_type 5", 10_349_680),
            ("event_type 6", 8_754),
            ("event_type 7", 8_288),
            ("event_type 8", 643_130),
            ("scheduling_class 0", 114_598_888),
            ("scheduling_class 1", 18_055_014),
            ("scheduling_class 2", 11_158_598),
            ("scheduling_class 3", 835_788),
        ],
    ),
    (
        Table::MachineEvents,
        &[
            ("rows", 37_780),
            ("machines", 12_583),
            ("event_type 0", 21_443),
            ("event_type 1", 8_957),
            ("event_type 2", 7_380),
            ("nulls in cpu_capacity", 32),
        ],
    ),
    (Table::MachineAttributes, &[("rows", 10_748_566)]),
];

/// Impossible counts in a lake of a log; empty if there are none.
///
/// A log has each job once. So all tables must have the same jobs, and each job and task must be
/// submitted once (in Slurm at least once). Google traces are cut into parts, so this does not hold
/// for them. Alibaba has separate files for tasks and instances; each can have jobs that the other
/// does not have.
pub fn contradictions(lake: &Lake, census: &Census) -> Vec<String> {
    if lake.source().is_google() {
        return Vec::new();
    }
    let count = |table, what: &str| {
        census.tables.get(&table).map(|counts| counts.get(what).copied().unwrap_or(0))
    };
    let mut found = Vec::new();
    let is_two_files = lake.source().is_two_files();
    let jobs = [Table::JobEvents, Table::TaskEvents].map(|table| count(table, "jobs"));
    if let [Some(of_jobs), Some(of_tasks)] = jobs
        && of_jobs != of_tasks
        && !is_two_files
    {
        found.push(format!("job_events knows {of_jobs} jobs, task_events {of_tasks}"));
    }
    for table in [Table::JobEvents, Table::TaskEvents] {
        let (entities, submits) = (count(table, "entities"), count(table, "event_type 0"));
        let is_wrong = match lake.source() {
            source if source.submits_again() => submits < entities,
            // The first attempt may be missing.
            _ if is_two_files && table == Table::TaskEvents => entities < submits,
            _ => entities != submits,
        };
        if is_wrong {
            let [entities, submits] = [entities, submits].map(Option::unwrap_or_default);
            found.push(format!("{table} has {entities} histories and {submits} SUBMIT events"));
        }
    }
    found
}

/// Signs of bad parts, in a lake where every part could be read; empty if there are none.
///
/// If a raw file has two part numbers, its rows count twice. If no time in a table of jobs is above
/// 0, the times are lost.
pub fn odd_parts(manifest: &Manifest) -> Vec<String> {
    let mut found = Vec::new();
    let rows =
        |table| manifest.table(table).map(|entry| entry.parts.iter().map(|part| part.rows).sum());
    let of_tasks = [Table::JobEvents, Table::TaskEvents].map(rows);
    let all: Vec<u64> = of_tasks.into_iter().flatten().collect();
    if !all.is_empty() && all.iter().sum::<u64>() == 0 {
        found.push("the files have no job and no task: there is nothing to study".to_owned());
    }
    for table in [Table::JobEvents, Table::TaskEvents, Table::TaskUsage] {
        let parts = manifest.table(table).map_or(&[][..], |entry| entry.parts.as_slice());
        let mut filled = parts.iter().filter(|part| 0 < part.rows).peekable();
        if filled.peek().is_some() && filled.all(|part| part.max_time_us == Some(0)) {
            found.push(format!("every row of {table} is at time 0"));
        }
    }
    for (table, entry) in &manifest.tables {
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        for part in entry.parts.iter().filter(|part| 0 < part.rows) {
            if let Some(first) = known.get(part.sha256.as_str()) {
                found.push(same_file(table, *first, part.part));
            } else {
                known.insert(&part.sha256, part.part);
            }
        }
    }
    found
}

/// The warning about a raw file with two part numbers.
pub fn same_file(table: impl std::fmt::Display, first: u32, other: u32) -> String {
    format!("parts {first} and {other} of {table} are the same file: its rows count twice")
}

/// Signs of bad rows, in a lake where every row could be read. Studies of such a lake show little
/// or nothing.
pub fn odd_rows(census: &Census) -> Vec<String> {
    let count = |table, what: &str| {
        census.tables.get(&table).and_then(|counts| counts.get(what)).copied().unwrap_or(0)
    };
    let jobs = count(Table::JobEvents, "jobs");
    let mut found = Vec::new();
    if jobs == 0 {
        return found;
    }
    if census.plain_jobs == 0 {
        let jobs = counted(jobs, "job");
        found.push(format!(
            "{jobs}, and none has the events of a job that finished, failed, was killed or is \
            running: all count as `other`"
        ));
    }
    match count(Table::JobEvents, "distinct user") {
        0 => found.push("no job names its user: users cannot be compared".to_owned()),
        1 if 1 < jobs => {
            let jobs = counted(jobs, "job");
            found.push(format!("{jobs}, all of one user: there is no other user to compare with"));
        }
        _ => {}
    }
    found
}

/// The number of parts of a complete table.
fn whole_part_count(table: Table) -> usize {
    match table {
        Table::MachineEvents | Table::MachineAttributes => 1,
        _ => 500,
    }
}

/// Parts of each of the large tables of the trace of 2011.
const PARTS_2011: u32 = 500;

/// SHA-256 of the only part of `machine_events`, as published.
const MACHINE_EVENTS_2011: &str =
    "fc44b8d2b33a96a261382488789855be7a0ce338888c99930ff45cb592249664";

/// Whether the lake has the trace of 2011 or a part of it. A table of one part could come from any
/// trace. So the lake must have a part of a table of 500 parts, or `machine_events` with the
/// published checksum.
fn is_2011(lake: &Lake) -> bool {
    let mut parts = lake.manifest.tables.values().flat_map(|entry| &entry.parts);
    lake.source() == Source::Google2011
        && parts.any(|part| part.of == Some(PARTS_2011) || part.sha256 == MACHINE_EVENTS_2011)
}

/// Whether every part of the table of 2011 is in the lake.
pub fn is_whole(lake: &Lake, table: Table) -> bool {
    is_2011(lake)
        && lake
            .manifest
            .table(table)
            .is_some_and(|entry| entry.is_whole() && entry.parts.len() == whole_part_count(table))
}

/// Compares every published number of the complete tables.
pub fn compare(lake: &Lake, census: &Census) -> Vec<Check> {
    if !lake.manifest.origin.is_original() || !is_2011(lake) {
        return Vec::new();
    }
    let mut checks = Vec::new();
    for (table, numbers) in PUBLISHED {
        let Some(counts) = census.tables.get(table).filter(|_| is_whole(lake, *table)) else {
            continue;
        };
        for &(what, published) in *numbers {
            let found = counts.get(what).copied().unwrap_or(0);
            checks.push(Check {
                table: table.to_string(),
                what: what.to_owned(),
                published,
                found,
            });
        }
    }
    checks
}

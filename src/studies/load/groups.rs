//! The groups of tasks by which load is split, determined before the pass over the lake.
//!
//! In: a lake and a key. Out: the names of the groups, and the group of each task of a bucket.
//! Users, accounts or qualities of service with the most requested CPU time each have a separate
//! group. If there are no requests, running time decides. All others share one group.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::facts::FactError;
use crate::facts::jobs::{ACCOUNT, Job, Jobs, QOS};
use crate::facts::tasks::{TaskView, Tasks, Usage};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{Source, Table};
use crate::studies::ledger::{UNKNOWN, UNMATCHED};
use crate::studies::outcomes::Classes;
use crate::studies::texts::Texts;
use crate::units::CpuTime;

/// What load is split by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// Band of the task's priority, as the Google traces name them
    #[default]
    PriorityBand,
    /// Scheduling class of the job, last seen
    Class,
    /// User of the job
    User,
    /// Account or group of the user, if the log has it
    Account,
    /// Quality of service of the job, if the log has it
    Qos,
    /// Outcome of the job
    Outcome,
}

impl By {
    /// The name of the column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PriorityBand => "priority_band",
            Self::Class => "scheduling_class",
            Self::User => "user",
            Self::Account => ACCOUNT,
            Self::Qos => QOS,
            Self::Outcome => "outcome",
        }
    }

    /// The noun for the key in sentences.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::PriorityBand => "priority band",
            Self::Class => "scheduling class",
            Self::User => "user",
            Self::Account => "group of users",
            Self::Qos => "quality of service",
            Self::Outcome => "outcome of the job",
        }
    }
}

impl By {
    /// Whether the value is read from each row of `task_events`.
    const fn is_of_rows(self) -> bool {
        matches!(self, Self::Account | Self::Qos)
    }
}

/// The group of all users or accounts without a separate group.
pub const OTHERS: &str = "(others)";

/// Bands of the priorities 0 to 11 (Reiss, Wilkes, Hellerstein 2011).
const BANDS_2011: [(i32, &str); 4] =
    [(1, "free"), (8, "other"), (9, "production"), (i32::MAX, "monitoring and infrastructure")];

/// Bands of the priorities of 2019 (Wilkes 2020; Tirmazi et al. 2020).
const BANDS_2019: [(i32, &str); 5] = [
    (99, "free"),
    (115, "best-effort batch"),
    (119, "mid"),
    (359, "production"),
    (i32::MAX, "monitoring"),
];

/// The bands of a kind of trace, lowest first: the largest priority of each, and its name.
fn bands(source: Source) -> &'static [(i32, &'static str)] {
    if matches!(source, Source::Google2019 | Source::Google2019AllocSets) {
        &BANDS_2019
    } else {
        &BANDS_2011
    }
}

/// The band of a priority: its position and its name.
pub(super) fn band_of(source: Source, priority: i32) -> (usize, &'static str) {
    let bands = bands(source);
    let place = bands.iter().position(|band| priority <= band.0).unwrap_or(bands.len() - 1);
    (place, bands[place].1)
}

/// A band with its priorities, such as `priority 0 to 1 (free)`. A name that is not a band is
/// returned as it is.
pub fn band_in_words(source: Source, name: &str) -> String {
    let bands = bands(source);
    let Some(place) = bands.iter().position(|band| band.1 == name) else { return name.to_owned() };
    let from = place.checked_sub(1).map_or(0, |before| bands[before].0 + 1);
    match bands[place].0 {
        i32::MAX => format!("priority {from} and above ({name})"),
        to if to == from => format!("priority {from} ({name})"),
        to => format!("priority {from} to {to} ({name})"),
    }
}

/// The groups of a lake.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The key of the groups.
    pub by: By,
    classes: Classes,
    source: Source,
    /// Names, in the order in which they are stacked.
    pub names: Vec<String>,
    index: FxHashMap<String, usize>,
}

impl Groups {
    /// Finds the groups of a lake; at most `most` users or accounts have a separate group.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of(
        lake: &Lake,
        windows: Windows,
        (by, classes, most): (By, Classes, usize),
    ) -> Result<Self, FactError> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let names: Vec<String> = match by {
            By::PriorityBand => bands(lake.source()).iter().map(|band| band.1.to_owned()).collect(),
            By::Class => owned(&["0", "1", "2", "3", UNKNOWN]),
            By::Outcome => {
                classes.outcomes().iter().copied().chain([UNMATCHED]).map(str::to_owned).collect()
            }
            By::User | By::Account | By::Qos => {
                let mut largest = largest(lake, windows, by)?;
                largest.truncate(most);
                largest.push(OTHERS.to_owned());
                largest
            }
        };
        let index = names.iter().cloned().zip(0..).collect();
        Ok(Self { by, classes, source: lake.source(), names, index })
    }

    /// The group of a name; the last group for names without a separate group.
    fn position(&self, name: &str) -> usize {
        self.index.get(name).copied().unwrap_or(self.names.len() - 1)
    }

    /// Reads the data that determines the groups of the tasks of a bucket.
    pub(super) fn of_bucket<'a>(
        &'a self,
        lake: &Lake,
        bucket: u32,
        jobs: &'a Jobs,
    ) -> Result<BucketGroups<'a>, FactError> {
        let of_job = |job: &Job| match self.by {
            By::PriorityBand | By::Account | By::Qos => 0,
            By::Class => {
                let class = job.scheduling_class.map(|class| class.to_string());
                self.position(class.as_deref().unwrap_or(UNKNOWN))
            }
            By::User => self.position(job.user.map_or(UNKNOWN, |user| jobs.names.get(user))),
            By::Outcome => usize::from(match self.classes {
                Classes::Sequence => job.by_sequence,
                Classes::Terminal => job.by_terminal,
            }),
        };
        let names = names_of_rows(lake, bucket, self.by)?;
        Ok(BucketGroups {
            groups: self,
            jobs,
            of_jobs: jobs.jobs.iter().map(of_job).collect(),
            of_rows: names.all().map(|name| self.position(name)).collect(),
        })
    }
}

/// The groups of a bucket's tasks.
pub(super) struct BucketGroups<'a> {
    groups: &'a Groups,
    jobs: &'a Jobs,
    of_jobs: Vec<usize>,
    of_rows: Vec<usize>,
}

impl BucketGroups<'_> {
    /// The group of a task.
    pub(super) fn of(&self, task: &TaskView<'_>) -> usize {
        match self.groups.by {
            By::PriorityBand => band_of(self.groups.source, task.priority).0,
            By::Account | By::Qos => {
                let row = task.events.first().map(|event| event.row as usize);
                let known = row.and_then(|row| self.of_rows.get(row).copied());
                known.unwrap_or(self.groups.names.len() - 1)
            }
            By::Class | By::User | By::Outcome => {
                let job = self.jobs.find(task.job_id).map(|position| self.of_jobs[position]);
                job.unwrap_or(self.groups.names.len() - 1)
            }
        }
    }
}

/// The account or quality of service by row of a bucket; empty if the log has none.
fn names_of_rows(lake: &Lake, bucket: u32, by: By) -> Result<Texts, FactError> {
    if by.is_of_rows() { Texts::read(lake, bucket, by.name()) } else { Ok(Texts::default()) }
}

/// Users or accounts by descending requested CPU time, then by descending running time.
fn largest(lake: &Lake, windows: Windows, by: By) -> Result<Vec<String>, FactError> {
    type Sums = FxHashMap<String, [CpuTime; 2]>;
    let of_bucket = |bucket: u32| -> Result<Sums, FactError> {
        let jobs =
            if lake.has(Table::JobEvents) { Jobs::read(lake, bucket)? } else { Jobs::default() };
        let names = names_of_rows(lake, bucket, by)?;
        let mut sums = Sums::default();
        Tasks::read(lake, bucket, windows, Usage::Skip)?.for_each(|task| {
            let name = if by.is_of_rows() {
                task.events.first().map(|event| names.of(event.row))
            } else {
                let job = jobs.find(task.job_id).map(|position| &jobs.jobs[position]);
                job.and_then(|job| job.user).map(|user| jobs.names.get(user))
            };
            let mut own = [CpuTime::ZERO; 2];
            for attempt in task.attempts {
                own[0] += attempt.requested_rate().over(attempt.length_us());
                own[1] += attempt.slot_rate().over(attempt.length_us());
            }
            let name = name.unwrap_or(UNKNOWN);
            if !sums.contains_key(name) {
                sums.insert(name.to_owned(), [CpuTime::ZERO; 2]);
            }
            let sum = sums.get_mut(name).expect("inserted above");
            (sum[0], sum[1]) = (sum[0] + own[0], sum[1] + own[1]);
        });
        Ok(sums)
    };
    let all = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(of_bucket)
        .try_reduce_with(|mut one, other| {
            for (name, [cpu, slots]) in crate::studies::load::sums::sorted(other) {
                let sum = one.entry(name).or_default();
                (sum[0], sum[1]) = (sum[0] + cpu, sum[1] + slots);
            }
            Ok(one)
        })
        .unwrap_or_else(|| Ok(Sums::default()))?;
    let mut all = crate::studies::load::sums::sorted(all);
    all.sort_by_key(|(_, sums)| std::cmp::Reverse(*sums));
    Ok(all.into_iter().map(|(name, _)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_shown_with_their_priorities() {
        for (name, said) in [
            ("free", "priority 0 to 1 (free)"),
            ("other", "priority 2 to 8 (other)"),
            ("production", "priority 9 (production)"),
            (
                "monitoring and infrastructure",
                "priority 10 and above (monitoring and infrastructure)",
            ),
            ("-", "-"),
        ] {
            assert_eq!(band_in_words(Source::Google2011, name), said);
        }
        assert_eq!(band_in_words(Source::Google2019, "mid"), "priority 116 to 119 (mid)");
    }
}

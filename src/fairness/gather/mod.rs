//! Usage over time from lakes: the usage of each user in each interval.
//!
//! In: lakes and a grouping. Out: a [`History`]. Every bucket is processed separately and sums are
//! exact, so neither threads nor buckets change a digit; a test compares the sums of users with
//! those of the ledger.
//!
//! ```text
//!  task      SUBMIT ···· SCHEDULE ======================= FINISH
//!  running   waiting     | CPU of each interval as it runs |
//!  end       waiting                                       ^ all of it here (the paper's)
//!  interval  [----------)[----------)[----------)[----------)
//! ```
//!
//! A task waits from its SUBMIT until it is scheduled or ends, with its request at that time. A
//! user exists from the first submission on, and belongs to the group of that submission. Nothing
//! in an interval depends on later events. With `end`, an attempt that is still open is counted but
//! not charged.

use std::hash::Hash;
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::fleet::Fleet;
use self::fold::fold_bucket;
use self::people::People;
use super::history::{AttemptEnd, Grid, History};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::meter::Meter;
use crate::units::{CpuRate, CpuTime};

mod extra;
mod fleet;
mod fold;
mod merge;
mod people;

/// When CPU time is charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Accrual {
    /// The whole attempt when it ends, as in the paper
    #[default]
    End,
    /// In each interval in which it runs
    Running,
}

/// What usage is grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum By {
    /// Who submitted the job
    #[default]
    User,
    /// Group of the user, if the log has it
    Group,
    /// Machine that the attempt ran on
    Machine,
    /// Site or partition that it ran on, if the log has it
    Site,
    /// Queue it was submitted to, if the log has it
    Queue,
    /// Quality of service, if the log has it
    Qos,
    /// Scheduling class
    Class,
    /// Lake that it is in
    Cluster,
}

impl By {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
            Self::Machine => "machine",
            Self::Site => "site",
            Self::Queue => "queue",
            Self::Qos => "qos",
            Self::Class => "class",
            Self::Cluster => "cluster",
        }
    }

    /// The noun for a count: the name, or its plural.
    pub fn noun(self, count: u64) -> String {
        match (self, count) {
            (Self::Qos, 1) => "quality of service".to_owned(),
            (_, 1) => self.name().to_owned(),
            _ => self.plural(),
        }
    }

    /// The plural of the name.
    pub fn plural(self) -> String {
        match self {
            Self::Class => "classes".to_owned(),
            Self::Qos => "qualities of service".to_owned(),
            other => format!("{}s", other.name()),
        }
    }
}

/// How cells distinguish machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Machines {
    /// By cluster, platform, capacity and site.
    Classes,
    /// One by one.
    Each,
}

/// The plan of gathering usage.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The charged resource, CPU time or memory time, and its definition; not `published`, which is
    /// known only per job. Memory time replaces CPU time everywhere.
    pub meter: Meter,
    /// When it is charged.
    pub accrual: Accrual,
    /// What usage is grouped by.
    pub by: By,
    /// How cells distinguish machines.
    pub machines: Machines,
    /// Whether users with the same name on two clusters are two users.
    pub separate_users: bool,
    /// The intervals.
    pub grid: Grid,
    /// Intervals before this one update the indices, but are not shown.
    pub shown_from: u32,
    /// Whether the ends of tasks are kept: one entry per task, for indices that read them.
    pub keeps_ends: bool,
    /// Whether cells distinguish machines, for indices that read them; otherwise only the sums per
    /// user and machine do, and there is one cell per user and interval instead of one per class.
    pub keeps_machines: bool,
}

/// A lake to gather from.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name in tables and charts.
    pub name: String,
    /// The lake.
    pub lake: Lake,
    /// Where attempts without their own end are closed.
    pub windows: Windows,
    /// Added to every time of the lake, µs.
    pub shift_us: i64,
}

/// Counts of attempts and usage windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// Attempts.
    pub attempts: u64,
    /// Attempts still open at the end of the window.
    pub open_attempts: u64,
    /// Attempts without their own end that are closed with their job and reach into the shown
    /// intervals, whatever they use there.
    pub closed_with_job: u64,
    /// Their usage in those intervals, whenever it is charged.
    #[serde(with = "in_seconds")]
    pub closed_with_job_cpu: CpuTime,
    /// Attempts counted as 0 by `requested`.
    pub without_request: u64,
    /// Attempts charged by the CPU time that a log records (`measured`).
    pub with_cpu_time: u64,
    /// Attempts without a user (or other group), put under `-`.
    pub without_name: u64,
    /// Users with a submission by the end of the span, but no attempt: none of their tasks ran, or
    /// the parts with their attempts are not loaded.
    pub users_without_attempts: u64,
}

/// Stores CPU time as exact seconds in results.
mod in_seconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::units::CpuTime;

    pub(super) fn serialize<S: Serializer>(cpu: &CpuTime, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { to.serialize_f64(cpu.seconds()) } else { cpu.serialize(to) }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<CpuTime, D::Error> {
        CpuTime::deserialize(source)
    }
}

/// Why usage could not be gathered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GatherError {
    /// A table is missing or cannot be read.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// CPU time by the published definition, which covers whole jobs without times.
    #[error("usage over time cannot be `published`: that definition covers whole jobs only")]
    Published,
    /// Intervals without a length, or no intervals.
    #[error(
        "{count} intervals of {interval_us} µs are given, but at least one interval of at least 1 µs is needed"
    )]
    Intervals {
        /// The number of intervals.
        count: u32,
        /// The length of an interval.
        interval_us: i64,
    },
    /// No lakes.
    #[error("no lake was given to gather usage from")]
    NoLake,
    /// More usage than fits in memory.
    #[error("usage of more than {CELLS_MAX} users, machines and intervals would fill memory")]
    TooMuch,
}

/// The most cells in memory: about 5 GB.
pub const CELLS_MAX: usize = 12_000_000;

/// Part of an attempt: from, to (µs), CPU rate, memory rate.
type Piece = (i64, i64, CpuRate, CpuRate);

type Key = (u32, u32, u32);

/// The sums for a user on a machine in an interval, as in [`Cell`](super::history::Cell).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sums {
    cpu: CpuTime,
    memory: CpuTime,
    waiting: CpuTime,
    held: CpuTime,
    held_memory: CpuTime,
}

/// The result of one bucket, with its own numbers for names and machines.
#[derive(Default, Serialize, Deserialize)]
pub struct Part {
    cluster: u32,
    people: People,
    machines: Interned<(Option<i64>, Option<String>)>,
    cells: FxHashMap<Key, Sums>,
    /// By machine and user, CPU time in the shown intervals.
    on_machines: FxHashMap<(u32, u32), CpuTime>,
    ends: Vec<AttemptEnd>,
    counts: Counts,
}

/// Distinct values, by position.
#[derive(Deserialize)]
#[serde(from = "Vec<T>", bound(deserialize = "T: Deserialize<'de> + Clone + Eq + Hash"))]
struct Interned<T> {
    all: Vec<T>,
    index: FxHashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { all: Vec::new(), index: FxHashMap::default() }
    }
}

impl<T: Serialize> Serialize for Interned<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(to)
    }
}

impl<T: Clone + Eq + Hash> From<Vec<T>> for Interned<T> {
    fn from(all: Vec<T>) -> Self {
        let index = all.iter().cloned().zip(0..).collect();
        Self { all, index }
    }
}

impl<T: Clone + Eq + Hash> Interned<T> {
    fn put(&mut self, value: &T) -> u32 {
        if let Some(&position) = self.index.get(value) {
            return position;
        }
        let position = u32::try_from(self.all.len()).expect("a bucket has fewer than 2^32 names");
        self.all.push(value.clone());
        self.index.insert(value.clone(), position);
        position
    }
}

impl Plan {
    /// Rejects a plan with a wrong or meaningless result.
    fn check(&self) -> Result<(), GatherError> {
        let Grid { interval_us, count, .. } = self.grid;
        if self.meter == Meter::PUBLISHED {
            return Err(GatherError::Published);
        }
        if interval_us < 1 || count < 1 {
            return Err(GatherError::Intervals { count, interval_us });
        }
        Ok(())
    }
}

/// Adds up the usage of all lakes.
///
/// # Errors
/// The plan is invalid, a table is missing or cannot be read, there is too much usage, or the
/// progress callback stops the run; no result is kept then.
pub fn gather(clusters: &[Cluster], plan: &Plan) -> Result<(History, Counts), GatherError> {
    let mut all = Gathering::begin(clusters, plan)?;
    // A few buckets at once: each has cells of most users, so all of them together would be many
    // times larger than the sum.
    let step = 2 * rayon::current_num_threads();
    for some in all.buckets.clone().chunks(step) {
        all.add(all.fold(some)?)?;
    }
    Ok(all.history())
}

/// Merges the results of [`gather_range`] for ranges that together cover all buckets of a lake.
///
/// # Errors
/// The errors of [`gather`].
pub fn gather_parts(
    cluster: &Cluster,
    plan: &Plan,
    parts: impl IntoIterator<Item = Vec<Part>>,
) -> Result<(History, Counts), GatherError> {
    let mut all = Gathering::begin(std::slice::from_ref(cluster), plan)?;
    for part in parts {
        all.add(part)?;
    }
    Ok(all.history())
}

/// Adds up the usage of some buckets of a lake, each separately.
///
/// # Errors
/// The errors of [`gather`].
pub fn gather_range(
    cluster: &Cluster,
    plan: &Plan,
    buckets: Range<u32>,
) -> Result<Vec<Part>, GatherError> {
    let all = Gathering::begin(std::slice::from_ref(cluster), plan)?;
    let some: Vec<(usize, u32)> = buckets.map(|bucket| (0, bucket)).collect();
    Ok(all.fold(&some)?)
}

/// Usage while it is gathered.
pub struct Gathering<'a> {
    clusters: &'a [Cluster],
    plan: &'a Plan,
    fleets: Vec<Fleet>,
    /// All buckets of all lakes.
    buckets: Vec<(usize, u32)>,
    /// The number of rows in a bucket of each lake, for progress.
    rows: Vec<u64>,
    merger: merge::Merger,
}

impl<'a> Gathering<'a> {
    /// Starts without usage.
    ///
    /// # Errors
    /// The plan is invalid, or a table is missing or cannot be read.
    pub fn begin(clusters: &'a [Cluster], plan: &'a Plan) -> Result<Self, GatherError> {
        plan.check()?;
        if clusters.is_empty() {
            return Err(GatherError::NoLake);
        }
        let charged = plan.meter.resource();
        let fleets = clusters.iter().map(|cluster| Fleet::read(cluster, charged));
        let buckets = clusters.iter().enumerate().flat_map(|(idx, cluster)| {
            (0..cluster.lake.bucket_count()).map(move |bucket| (idx, bucket))
        });
        let tables = [Table::TaskEvents, Table::TaskUsage];
        Ok(Self {
            clusters,
            plan,
            fleets: fleets.collect::<Result<_, _>>()?,
            buckets: buckets.collect(),
            rows: clusters.iter().map(|cluster| cluster.lake.expect_rows(&tables)).collect(),
            merger: merge::Merger::default(),
        })
    }

    /// Processes some buckets in parallel.
    fn fold(&self, some: &[(usize, u32)]) -> Result<Vec<Part>, FactError> {
        let fold = |&(idx, number): &(usize, u32)| {
            let Cluster { lake, windows, .. } = &self.clusters[idx];
            let part = self.bucket(idx, &Bucket::of(lake, number, *windows))?;
            lake.step(self.rows[idx])?;
            Ok(part)
        };
        some.par_iter().with_max_len(1).map(fold).collect()
    }

    /// Processes a bucket of the lake `idx`.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn bucket(&self, idx: usize, bucket: &Bucket<'_>) -> Result<Part, FactError> {
        fold_bucket(self.clusters, &self.fleets[idx], idx, bucket, self.plan)
    }

    /// Adds parts; their order changes nothing.
    ///
    /// # Errors
    /// There is too much usage.
    pub fn add(&mut self, parts: Vec<Part>) -> Result<(), GatherError> {
        for part in parts {
            if CELLS_MAX < part.cells.len() {
                return Err(GatherError::TooMuch);
            }
            self.merger.add(&self.fleets[part.cluster as usize], self.plan, part);
        }
        if CELLS_MAX < self.merger.cell_count() {
            return Err(GatherError::TooMuch);
        }
        Ok(())
    }

    /// The number of cells of usage and ends of attempts so far.
    pub fn held(&self) -> usize {
        self.merger.cell_count() + self.merger.end_count()
    }

    /// The gathered history and counts.
    pub fn history(self) -> (History, Counts) {
        self.merger.history(self.clusters, &self.fleets, self.plan)
    }
}

//! Usage over time out of lakes: who used what in which interval.
//!
//! In: lakes and a grouping. Out: a [`History`]. Every bucket is folded separately and sums are
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
//! in an interval depends on later events. Under `end` an attempt that is still open is counted and
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
    /// At the end of each attempt, all at once, as in the paper
    #[default]
    End,
    /// While it runs, interval by interval
    Running,
}

/// What usage is grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
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

    /// Several of them.
    pub fn plural(self) -> String {
        match self {
            Self::Class => "classes".to_owned(),
            Self::Qos => "qualities of service".to_owned(),
            other => format!("{}s", other.name()),
        }
    }
}

/// How machines are distinguished in the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Machines {
    /// By cluster, platform, capacity and site.
    Classes,
    /// One by one.
    Each,
}

/// What to gather.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// What is charged, CPU time or memory time, and what that means; not `published`, which is known
    /// per job only. Where it is memory, it stands wherever CPU time would.
    pub meter: Meter,
    /// When it is charged.
    pub accrual: Accrual,
    /// What the groups are.
    pub by: By,
    /// How machines are distinguished.
    pub machines: Machines,
    /// Whether users of one name on two clusters are two users.
    pub separate_users: bool,
    /// The intervals.
    pub grid: Grid,
    /// Intervals before this one are fed and not shown.
    pub shown_from: u32,
    /// Whether the ends of tasks are kept: one entry per task, for indices that read them.
    pub keeps_ends: bool,
    /// Whether cells tell machines apart, for indices that read them; otherwise only the sums per
    /// user and machine do, and there is a cell per user and interval and not per class besides.
    pub keeps_machines: bool,
}

/// A lake to gather from.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name in tables and charts.
    pub name: String,
    /// The lake.
    pub lake: Lake,
    /// Where attempts without an end of their own are closed.
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
    /// Still open at the end of the window.
    pub open_attempts: u64,
    /// Without an end of their own and closed at the end of their job; those that reach into the
    /// intervals that are shown, whatever they use there.
    pub closed_with_job: u64,
    /// What they use in those intervals, whenever it is charged.
    #[serde(with = "in_seconds")]
    pub closed_with_job_cpu: CpuTime,
    /// Counted as 0 by `requested`.
    pub without_request: u64,
    /// Charged by the CPU time that a log records (`measured`).
    pub with_cpu_time: u64,
    /// Without the user (or what else is distinguished), put under `-`.
    pub without_name: u64,
    /// Users who have submitted something by the end of the span, without an attempt: nothing of it
    /// has run, or the parts in which it ran are not loaded.
    pub users_without_attempts: u64,
}

/// Seconds in answers, exact between processes.
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

/// Usage could not be gathered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GatherError {
    /// A table that is not there or does not read.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// CPU time by the published definition, which knows jobs and no times within them.
    #[error("usage over time cannot be `published`: that definition covers whole jobs only")]
    Published,
    /// Intervals without a length, or none of them.
    #[error(
        "{count} intervals of {interval_us} µs are given, but at least one interval of at least 1 µs is needed"
    )]
    Intervals {
        /// How many.
        count: u32,
        /// How long.
        interval_us: i64,
    },
    /// Nothing to gather from.
    #[error("no lake was given to gather usage from")]
    NoLake,
    /// There is more of it than memory is given for.
    #[error("usage of more than {CELLS_MAX} users, machines and intervals would fill memory")]
    TooMuch,
}

/// Cells that are held at most: about 5 GB.
pub const CELLS_MAX: usize = 12_000_000;

/// Part of an attempt: from, to (µs), CPU rate, memory rate.
type Piece = (i64, i64, CpuRate, CpuRate);

type Key = (u32, u32, u32);

/// What is added up for a user on a machine in an interval, as in [`Cell`](super::history::Cell).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sums {
    cpu: CpuTime,
    memory: CpuTime,
    waiting: CpuTime,
    held: CpuTime,
    held_memory: CpuTime,
}

/// What one bucket adds; names and machines are its own positions.
#[derive(Default, Serialize, Deserialize)]
pub struct Part {
    cluster: u32,
    people: People,
    machines: Interned<(Option<i64>, Option<String>)>,
    cells: FxHashMap<Key, Sums>,
    /// By machine and user, CPU time of the intervals that are shown.
    on_machines: FxHashMap<(u32, u32), CpuTime>,
    ends: Vec<AttemptEnd>,
    counts: Counts,
}

/// Values that occur, each once, by position.
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
    /// Refuses a plan whose answer would not be what it says.
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
/// The plan makes no sense, a table is missing or does not read, there is too much of it, or the
/// caller's callback says to stop; nothing is kept then.
pub fn gather(clusters: &[Cluster], plan: &Plan) -> Result<(History, Counts), GatherError> {
    let mut all = Gathering::begin(clusters, plan)?;
    // A few buckets at once: each has cells of most users, and all of them together would be
    // many times the sum.
    let step = 2 * rayon::current_num_threads();
    for some in all.buckets.clone().chunks(step) {
        all.add(all.fold(some)?)?;
    }
    Ok(all.history())
}

/// What [`gather_range`] made of ranges that are all buckets of a lake together, put together.
///
/// # Errors
/// Those of [`gather`].
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

/// Adds up the usage of some of the buckets of a lake, each by itself.
///
/// # Errors
/// Those of [`gather`].
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
    /// Every bucket of every lake.
    buckets: Vec<(usize, u32)>,
    /// The rows of a bucket of each lake, for progress.
    rows: Vec<u64>,
    merger: merge::Merger,
}

impl<'a> Gathering<'a> {
    /// Nothing yet.
    ///
    /// # Errors
    /// The plan makes no sense, or a table is missing or does not read.
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

    /// Folds some buckets side by side.
    fn fold(&self, some: &[(usize, u32)]) -> Result<Vec<Part>, FactError> {
        let fold = |&(idx, number): &(usize, u32)| {
            let Cluster { lake, windows, .. } = &self.clusters[idx];
            let part = self.bucket(idx, &Bucket::of(lake, number, *windows))?;
            lake.step(self.rows[idx])?;
            Ok(part)
        };
        some.par_iter().with_max_len(1).map(fold).collect()
    }

    /// Folds a bucket of the lake `idx`.
    ///
    /// # Errors
    /// A table does not read.
    pub fn bucket(&self, idx: usize, bucket: &Bucket<'_>) -> Result<Part, FactError> {
        fold_bucket(self.clusters, &self.fleets[idx], idx, bucket, self.plan)
    }

    /// Adds parts; their order changes nothing.
    ///
    /// # Errors
    /// There is too much of it.
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

    /// How many cells of usage and ends of attempts it holds so far.
    pub fn held(&self) -> usize {
        self.merger.cell_count() + self.merger.end_count()
    }

    /// What was gathered.
    pub fn history(self) -> (History, Counts) {
        self.merger.history(self.clusters, &self.fleets, self.plan)
    }
}

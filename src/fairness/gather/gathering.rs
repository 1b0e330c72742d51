//! Adds up the usage of lakes, bucket by bucket.

use std::ops::Range;

use rayon::prelude::*;

use super::fleet::Fleet;
use super::fold::fold_bucket;
use super::merge;
use super::parts::{Counts, Part};
use super::plan::{CELLS_MAX, Cluster, GatherError, Plan};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::fairness::history::History;
use crate::schema::Table;

/// Adds up the usage of all lakes.
///
/// # Errors
/// The plan is invalid, a table is missing or cannot be read, there is too much usage, or the
/// progress callback stops the run; no result is kept then.
pub fn gather(clusters: &[Cluster], plan: &Plan) -> Result<(History, Counts), GatherError> {
    let mut all = Gathering::begin(clusters, plan)?;
    // Process a few buckets at a time. Each has cells of most users, so all buckets together would
    // be many times larger than their sum.
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
    pub(super) plan: &'a Plan,
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

    /// Adds parts, in any order.
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

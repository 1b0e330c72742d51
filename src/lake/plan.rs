//! The parts that are ingested, and their segments.
//!
//! In: the parts of a trace folder and the user's choices. Out: an [`IngestPlan`], the number of
//! buckets of a new lake, and the segments: consecutive parts that share files, so that these are
//! neither tiny nor huge. Everything depends only on the raw folder, so shards agree without
//! communication, and a killed ingest is divided in the same way again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

use super::manifest::{self, Manifest, Origin};
use super::{LakeError, LakeErrorKind};
use crate::schema::{Source, Table};
use crate::sources::{RawPart, TraceFolder};

/// Raw bytes of consecutive parts that share a file.
const SEGMENT_BYTES: u64 = 32 << 20;

/// Raw bytes (of tables with jobs) per bucket in a lake of normal size.
const BUCKET_BYTES: u64 = 64 << 20;

/// Most buckets, unless a bucket would grow past [`LARGE_BUCKET_BYTES`].
const BUCKETS_MAX: u64 = 128;

/// Raw bytes per bucket in a lake of very many buckets.
const LARGE_BUCKET_BYTES: u64 = 512 << 20;

/// How many lines of a part may give no row.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MaxRejects {
    /// A number of lines.
    Count(u64),
    /// A percentage of the lines.
    Percent(f64),
}

impl Default for MaxRejects {
    fn default() -> Self {
        Self::Percent(0.1)
    }
}

impl MaxRejects {
    #[expect(clippy::cast_precision_loss, reason = "a part has far fewer than 2^53 lines")]
    pub(crate) fn allows(self, rejects: u64, lines: u64) -> bool {
        match self {
            Self::Count(count) => rejects <= count,
            Self::Percent(percent) => rejects as f64 <= percent / 100.0 * lines as f64,
        }
    }
}

impl std::fmt::Display for MaxRejects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// A text that is not a limit of rejects.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is neither a count (`100`) nor a share of the lines (`0.1%`)")]
pub struct MaxRejectsError(String);

impl FromStr for MaxRejects {
    type Err = MaxRejectsError;

    fn from_str(text: &str) -> Result<Self, MaxRejectsError> {
        let bad = || MaxRejectsError(text.to_owned());
        match text.strip_suffix('%') {
            Some(percent) => match percent.parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self::Percent(percent)),
                _ => Err(bad()),
            },
            None => text.parse().map(Self::Count).map_err(|_| bad()),
        }
    }
}

/// One of several programs that fill one lake in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

/// A text or numbers that are not a shard.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not `I/N` with 1 <= I <= N, such as `2/4`")]
pub struct ShardError(String);

impl Shard {
    /// Program `index` (from 1) of `count`.
    ///
    /// # Errors
    /// The index is not from 1 to `count`.
    pub fn new(index: u32, count: u32) -> Result<Self, ShardError> {
        let is_one = (1..=count).contains(&index);
        if is_one { Ok(Self { index, count }) } else { Err(ShardError(format!("{index}/{count}"))) }
    }

    /// The index of this program, from 1.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The number of programs.
    pub const fn count(self) -> u32 {
        self.count
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let bad = || ShardError(text.to_owned());
        let (index, count) = text.split_once('/').ok_or_else(bad)?;
        let (index, count) = (index.parse().map_err(|_| bad())?, count.parse().map_err(|_| bad())?);
        Self::new(index, count).map_err(|_| bad())
    }
}

/// How the data of a lake are divided. This never changes the contents. It changes only how many
/// rows are stored together, and how much memory an ingest needs.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Raw bytes of consecutive parts that share a file.
    pub segment_bytes: u64,
    /// Most rows in memory per thread; `None` chooses by kind and size of the trace.
    pub run_rows_max: Option<usize>,
}

impl Default for Cut {
    fn default() -> Self {
        Self { segment_bytes: SEGMENT_BYTES, run_rows_max: None }
    }
}

/// The parts to ingest, and the settings.
#[derive(Clone, Debug)]
pub struct IngestPlan {
    /// The lake.
    pub lake: PathBuf,
    /// The kind of trace.
    pub source: Source,
    /// Whether the raw files are the original trace.
    pub origin: Origin,
    /// The requested parts, by table.
    pub parts: BTreeMap<Table, Vec<RawPart>>,
    /// How many lines of a part may give no row.
    pub max_rejects: MaxRejects,
    /// Number of buckets of a new lake; `None` chooses by size.
    pub bucket_count: Option<u32>,
    /// This program's share of the work.
    pub shard: Option<Shard>,
    /// Number of threads.
    pub threads: usize,
    /// How the data of the lake are divided.
    pub cut: Cut,
}

impl IngestPlan {
    /// Refuses invalid settings.
    pub(super) fn check(&self) -> Result<(), LakeError> {
        let fail = |setting, found: u64, expected| {
            let kind = LakeErrorKind::Setting { setting, found: found.to_string(), expected };
            Err(LakeError::new(&self.lake, kind))
        };
        if let Some(count) =
            self.bucket_count.filter(|count| !(1..=manifest::BUCKETS_MAX).contains(count))
        {
            return fail("the number of buckets", count.into(), "1 to 65,536");
        }
        if self.threads == 0 {
            return fail("the number of threads", 0, "at least 1");
        }
        Ok(())
    }
}

/// The requested parts of `folder`.
pub fn choose_parts(
    folder: &TraceFolder,
    tables: Option<&[Table]>,
    parts: Option<&BTreeSet<u32>>,
) -> BTreeMap<Table, Vec<RawPart>> {
    let mut chosen = BTreeMap::new();
    for (&table, all) in &folder.parts {
        if tables.is_some_and(|tables| !tables.contains(&table)) {
            continue;
        }
        // Tables of one part are always taken whole: `--parts 0-13` applies to tables of 500 parts.
        let is_single = all.iter().any(|part| part.of == Some(1));
        let wanted =
            |part: &&RawPart| is_single || parts.is_none_or(|parts| parts.contains(&part.part));
        let kept: Vec<RawPart> = all.iter().filter(wanted).cloned().collect();
        if !kept.is_empty() {
            chosen.insert(table, kept);
        }
    }
    chosen
}

/// Consecutive parts of a table that share a file.
pub(crate) struct Segment {
    pub table: Table,
    pub parts: Vec<RawPart>,
}

/// The number of buckets for a new lake. It depends only on the size of the raw files, so that
/// shards agree without communication.
pub(crate) fn bucket_count_of(parts: &BTreeMap<Table, Vec<RawPart>>) -> u32 {
    let bytes: u64 = parts
        .iter()
        .filter(|(table, _)| table.job_column().is_some())
        .flat_map(|(_, parts)| parts)
        .map(|part| {
            if part.path.extension().is_some_and(|end| end == "gz") {
                part.bytes
            } else {
                part.bytes / 4
            }
        })
        .sum();
    let ordinary = bytes.div_ceil(BUCKET_BYTES).next_power_of_two().clamp(1, BUCKETS_MAX);
    let large = bytes.div_ceil(LARGE_BUCKET_BYTES).next_power_of_two();
    u32::try_from(ordinary.max(large)).expect("a trace is smaller than an exabyte")
}

/// Divides the parts into segments, always in the same way for the same folder, and leaves out
/// parts that are already in the lake.
pub(crate) fn segments(plan: &IngestPlan, manifest: &Manifest) -> Vec<Segment> {
    let mut all = Vec::new();
    for (&table, parts) in &plan.parts {
        let mut current = Segment { table, parts: Vec::new() };
        let mut bytes = 0;
        for part in parts {
            if plan.cut.segment_bytes < bytes + part.bytes && !current.parts.is_empty() {
                all.push(std::mem::replace(&mut current, Segment { table, parts: Vec::new() }));
                bytes = 0;
            }
            bytes += part.bytes;
            current.parts.push(part.clone());
        }
        all.push(current);
    }
    if let Some(shard) = plan.shard {
        let mut place = 0;
        all.retain(|_| {
            place += 1;
            (place - 1) % shard.count == shard.index - 1
        });
    }
    for segment in &mut all {
        segment.parts.retain(|part| !manifest.has_part(segment.table, part.part));
    }
    all.retain(|segment| !segment.parts.is_empty());
    // Largest first, so that no thread gets a large one at the end.
    all.sort_by_key(|segment| {
        std::cmp::Reverse(segment.parts.iter().map(|part| part.bytes).sum::<u64>())
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_shards_are_read_as_they_are_written() {
        for text in ["100", "0.1%", "0"] {
            assert_eq!(text.parse::<MaxRejects>().unwrap().to_string(), text);
        }
        for odd in ["", "-1", "1.5", "101%", "x%"] {
            assert!(odd.parse::<MaxRejects>().is_err(), "{odd}");
        }
        assert_eq!("2/4".parse::<Shard>().unwrap(), Shard::new(2, 4).unwrap());
        assert_eq!(
            Shard::new(7, 3).unwrap_err().to_string(),
            "`7/3` is not `I/N` with 1 <= I <= N, such as `2/4`"
        );
        for odd in ["0/4", "5/4", "4", "a/b"] {
            assert!(odd.parse::<Shard>().is_err(), "{odd}");
        }
    }

    #[test]
    fn a_share_is_of_the_lines_read() {
        assert!(MaxRejects::Percent(0.1).allows(1, 1000));
        assert!(!MaxRejects::Percent(0.1).allows(2, 1000));
        assert!(MaxRejects::Percent(0.1).allows(0, 0));
        assert!(!MaxRejects::Count(0).allows(1, 1000));
    }

    #[test]
    fn buckets_grow_with_the_raw_files() {
        let part = |bytes| RawPart {
            source: Source::Google2011,
            joined: Vec::new(),
            beside: None,
            owners: None,
            own: None,
            reading: std::sync::Arc::default(),
            table: Table::TaskUsage,
            part: 0,
            of: None,
            path: "a.csv.gz".into(),
            bytes,
        };
        let count =
            |bytes| bucket_count_of(&BTreeMap::from([(Table::TaskUsage, vec![part(bytes)])]));
        assert_eq!(count(0), 1);
        assert_eq!(count(64 << 20), 1);
        assert_eq!(count(122 << 20), 2);
        assert_eq!(count(4 << 30), 64);
        assert_eq!(count(20 << 30), 128);
        assert_eq!(count(41 << 30), 128);
    }
}

//! Estimates the disk and memory that an ingest needs, before it starts.
//!
//! In: the raw files that are not in the lake yet. Out: an estimate, and whether the machine has
//! that much. The ratios are those of measured lakes, rounded up; a trace may differ, so the user
//! can override the check.

use std::path::Path;

use super::plan::{IngestPlan, bucket_count_of};
use super::writer::LARGE_BUCKETS;
use super::{LakeError, LakeErrorKind, Manifest};
use crate::sources::RawPart;

/// Bytes of the lake per hundred bytes of raw files, by extension. Measured: 98 for CSV of
/// `task_usage` and 66 for events, gzip; 26 for CSV; 78 for JSON, gzip; 11 for JSON.
const LAKE_PER_100: [(&str, u64); 5] =
    [(".csv.gz", 110), (".json.gz", 90), (".json", 15), (".jsonl", 15), (".parquet", 130)];

/// The ratio for everything else, such as plain CSV.
const LAKE_PER_100_ELSE: u64 = 110;

/// Memory of a thread that reads and writes parts, in a lake of few and of many buckets, and of the
/// rest of the program. Measured with two threads: 486 MB (8 buckets), 510 MB (32), 652 MB (128).
const MEMORY_PER_THREAD: [u64; 2] = [200 << 20, 250 << 20];
const MEMORY_BESIDES: u64 = 200 << 20;

/// The estimated needs of an ingest, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Disk for the files of the lake.
    pub disk: u64,
    /// Peak memory.
    pub memory: u64,
}

impl Needs {
    /// The needs for the parts that are not in the lake.
    ///
    /// # Errors
    /// The lake exists and cannot be read.
    pub fn of(plan: &IngestPlan) -> Result<Self, LakeError> {
        let known = Manifest::load(&plan.lake)?;
        let is_new = |part: &&RawPart| {
            known.as_ref().is_none_or(|known| !known.has_part(part.table, part.part))
        };
        let disk = plan.parts.values().flatten().filter(is_new).map(disk_of).sum();
        let buckets = match (&known, plan.bucket_count) {
            (Some(known), _) => known.bucket_count,
            (None, Some(chosen)) => chosen,
            (None, None) => bucket_count_of(&plan.parts),
        };
        let per_thread = MEMORY_PER_THREAD[usize::from(LARGE_BUCKETS <= buckets)];
        let memory = MEMORY_BESIDES + per_thread * plan.threads as u64;
        Ok(Self { disk, memory })
    }

    /// Refuses an ingest that needs more than is free; a `free` of 0 means unknown.
    ///
    /// # Errors
    /// There is too little disk or memory.
    pub fn check(self, lake: &Path, free: Self) -> Result<(), LakeError> {
        for (what, needed, free) in
            [("disk", self.disk, free.disk), ("memory", self.memory, free.memory)]
        {
            if 0 < free && free < needed {
                return Err(LakeError::new(lake, LakeErrorKind::TooLittle { what, needed, free }));
            }
        }
        Ok(())
    }

    /// The free disk and memory for a lake at `path`; 0 if unknown.
    pub fn free(path: &Path) -> Self {
        let there = path.ancestors().find(|path| path.exists());
        let folder = there.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        Self { disk: fs4::available_space(folder).unwrap_or(0), memory: system.available_memory() }
    }
}

fn disk_of(part: &RawPart) -> u64 {
    let name = part.file_name();
    let known = LAKE_PER_100.iter().find(|(end, _)| name.ends_with(end));
    let plain_csv = name.ends_with(".csv");
    let percent = if plain_csv { 35 } else { known.map_or(LAKE_PER_100_ELSE, |known| known.1) };
    part.bytes * percent / 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Source, Table};

    #[test]
    fn a_forecast_follows_the_form_of_the_files() {
        let part = |name: &str| RawPart {
            source: Source::Google2011,
            table: Table::TaskUsage,
            part: 0,
            of: None,
            path: name.into(),
            bytes: 1000,
            joined: Vec::new(),
            beside: None,
            owners: None,
            own: None,
            reading: std::sync::Arc::default(),
        };
        for (name, expected) in [
            ("part-00000-of-00500.csv.gz", 1100),
            ("part-00000-of-00500.csv", 350),
            ("instance_usage-000000000000.json.gz", 900),
            ("instance_usage-000000000000.json", 150),
            ("instance_usage-000000000000.parquet", 1300),
            ("log.swf.gz", 1100),
        ] {
            assert_eq!(disk_of(&part(name)), expected, "{name}");
        }
    }

    #[test]
    fn too_little_is_refused_and_the_unknown_is_not() {
        let needs = Needs { disk: 10 << 30, memory: 1 << 30 };
        let path = Path::new("lake");
        assert!(needs.check(path, Needs { disk: 0, memory: 0 }).is_ok());
        assert!(needs.check(path, Needs { disk: 10 << 30, memory: 2 << 30 }).is_ok());
        let check = |disk, memory, expected: &str| {
            let error = needs.check(path, Needs { disk, memory }).unwrap_err();
            assert_eq!(error.kind.to_string(), expected);
        };
        check(5 << 30, 0, "it needs about 10.7 GB of disk, but only 5.4 GB are free");
        check(0, 1 << 29, "it needs about 1.1 GB of memory, but only 537 MB are free");
        let here = Needs::free(Path::new("no/such/folder/yet"));
        assert!(0 < here.disk && 0 < here.memory, "{here:?}");
    }
}

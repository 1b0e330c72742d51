//! Ingests a raw trace into a lake, with progress and a way to stop.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::Error;
use crate::lake::ingest::{FailedPart, ingest};
use crate::lake::manifest::Origin;
use crate::lake::plan::{Cut, IngestPlan, MaxRejects, Shard, choose_parts};
use crate::lake::{Lake, PartEntry};
use crate::progress::{self, Progress, Watch};
use crate::schema::{Source, Table};
use crate::sources::parser::{OwnParser, ParserOf};
use crate::sources::part;
use crate::sources::{RawPart, open_trace};

/// An ingest, with its settings.
#[derive(Debug)]
#[must_use = "nothing is ingested until it is run"]
pub struct Ingest {
    plan: IngestPlan,
    watch: Watch,
}

/// The result of an ingest.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ingested {
    /// The lake; `None` if the lake is new and nothing was stored in it.
    pub lake: Option<Lake>,
    /// Parts stored by this run, by table and number.
    pub stored: Vec<(Table, PartEntry)>,
    /// Parts that were already in the lake.
    pub skipped: usize,
    /// Parts that failed.
    pub failed: Vec<FailedPart>,
    /// Whether the callback stopped the run. Every part in [`stored`](Self::stored) is complete in
    /// the lake; a part that was being read is not in it. Another run of the same ingest adds the
    /// rest.
    pub is_cancelled: bool,
}

impl Ingested {
    /// Rows that this run stored.
    pub fn rows(&self) -> u64 {
        self.stored.iter().map(|(_, part)| part.rows).sum()
    }
}

impl Ingest {
    /// The trace in a folder or file; its kind is recognised from its content.
    ///
    /// # Errors
    /// There is no trace, or its kind is unknown.
    pub fn of(trace: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = open_trace(trace.as_ref(), None, None)?;
        let parts = choose_parts(&folder, None, None);
        Ok(Self::new(folder.source, Origin::of_folder(trace.as_ref()), parts))
    }

    /// Files of another format, which `parser` reads; each file is a part of a table. Their rows
    /// have the columns, units and conventions of the source `like`, which the lake records as its
    /// source.
    ///
    /// # Errors
    /// A file does not exist, or is not a regular file.
    pub fn own(
        like: Source,
        files: impl IntoIterator<Item = (Table, PathBuf)>,
        parser: impl ParserOf + 'static,
    ) -> Result<Self, Error> {
        let parser = OwnParser::new(parser);
        let mut parts: BTreeMap<Table, Vec<RawPart>> = BTreeMap::new();
        for (table, path) in files {
            let of_table = parts.entry(table).or_default();
            let number = u32::try_from(of_table.len()).unwrap_or(u32::MAX);
            of_table.push(RawPart::of_own(like, table, number, &path, &parser)?);
        }
        Ok(Self::new(like, Origin::Sample, parts))
    }

    fn new(source: Source, origin: Origin, parts: BTreeMap<Table, Vec<RawPart>>) -> Self {
        let plan = IngestPlan {
            lake: PathBuf::from("lake"),
            source,
            origin,
            parts,
            max_rejects: MaxRejects::default(),
            bucket_count: None,
            shard: None,
            threads: progress::core_count(),
            cut: Cut::default(),
        };
        Self { plan, watch: Watch::default() }
    }

    /// The folder of the lake, `lake` by default; parts that are already there are skipped.
    pub fn into(mut self, lake: impl Into<PathBuf>) -> Self {
        self.plan.lake = lake.into();
        self
    }

    /// Ingests only these tables.
    pub fn tables(mut self, tables: impl IntoIterator<Item = Table>) -> Self {
        let tables: Vec<Table> = tables.into_iter().collect();
        self.plan.parts.retain(|table, _| tables.contains(table));
        self
    }

    /// How many lines of a part may be rejected; 0.1 % by default.
    pub fn max_rejects(mut self, max: MaxRejects) -> Self {
        self.plan.max_rejects = max;
        self
    }

    /// The number of buckets of a new lake; chosen by size by default.
    pub fn buckets(mut self, count: u32) -> Self {
        self.plan.bucket_count = Some(count);
        self
    }

    /// The share of the work of this program, if several programs fill one lake.
    pub fn shard(mut self, shard: Shard) -> Self {
        self.plan.shard = Some(shard);
        self
    }

    /// The number of threads; one per core by default.
    pub fn threads(mut self, count: usize) -> Self {
        self.plan.threads = count;
        self
    }

    /// Reports the progress to `callback`, in bytes of raw files. The run stops when the callback
    /// returns `Break`; [`Ingested::is_cancelled`] says what is kept.
    pub fn on_progress(
        mut self,
        callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        self.watch = Watch::new(callback);
        self
    }

    /// Ingests what the lake does not have yet.
    ///
    /// # Errors
    /// A problem with the lake, the settings or the machine. Parts that failed are in
    /// [`Ingested::failed`].
    pub fn run(self) -> Result<Ingested, Error> {
        let progress = part::Progress { watch: self.watch, ..part::Progress::default() };
        let outcome = ingest(&self.plan, &progress)?;
        let is_there = !outcome.stored.is_empty() || 0 < outcome.skipped;
        Ok(Ingested {
            lake: if is_there { Some(Lake::open(&self.plan.lake)?) } else { None },
            stored: outcome.stored,
            skipped: outcome.skipped,
            failed: outcome.failed,
            is_cancelled: outcome.is_cancelled,
        })
    }
}

//! The report's files, as its own manifest lists them.
//!
//! In: a folder of results with a report, or a report. Out: bytes of files that the manifest names;
//! a request is looked up in that list and never becomes a path. A report that is written again is
//! read again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::faults::{Result, Usage};
use crate::report::listed;

/// A report on disk.
#[derive(Debug)]
pub(super) struct Report {
    folder: PathBuf,
    files: Mutex<(Option<SystemTime>, BTreeMap<String, u64>)>,
}

/// Largest file of a report that is served, bytes.
const FILE_MAX: u64 = 64 << 20;

impl Report {
    /// Finds the report in a folder of results.
    pub(super) fn open(results: &Path) -> Result<Self> {
        let places = [results.to_owned(), results.join("report")];
        if !results.exists() {
            let said = format!(
                "--results `{0}` does not exist: `jobfate analyze LAKE --out {0}` writes it; leave out \
                --results to serve lakes without a report",
                results.display()
            );
            return Err(Usage(said).into());
        }
        let Some(folder) = places.into_iter().find(|folder| !listed(folder).is_empty()) else {
            let said =
                format!("`{0}` holds no report: run `jobfate report {0}` first", results.display());
            return Err(Usage(said).into());
        };
        let files = Mutex::new((None, BTreeMap::new()));
        Ok(Self { folder, files })
    }

    /// The path and the type of a file of the report.
    pub(super) fn find(&self, name: &str) -> Option<(PathBuf, &'static str)> {
        let changed =
            std::fs::metadata(self.folder.join("files.json")).and_then(|it| it.modified());
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.0.is_none() || files.0 != changed.as_ref().ok().copied() {
            *files = (changed.ok(), listed(&self.folder));
        }
        let bytes = files.1.get(name)?;
        (*bytes <= FILE_MAX).then(|| (self.folder.join(name), kind_of(name)))
    }
}

/// The media type of a file, by the end of its name.
pub(super) fn kind_of(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "csv" => "text/csv; charset=utf-8",
        _ => "application/octet-stream",
    }
}

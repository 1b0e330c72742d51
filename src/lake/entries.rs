//! The entries of a manifest and its journal about tables, parts and files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::segment::Stretches;

/// The contents of a table in a lake.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// The parts, by number.
    pub parts: Vec<PartEntry>,
    /// The Parquet files, by path.
    pub files: Vec<FileEntry>,
}

/// One raw part and its stored rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartEntry {
    /// The part's number.
    pub part: u32,
    /// Number of parts of the whole table, if the file name has it.
    pub of: Option<u32>,
    /// Name of the raw file.
    pub raw_file: String,
    /// Size of the raw file.
    pub raw_bytes: u64,
    /// SHA-256 of the raw file.
    pub sha256: String,
    /// Lines, with or without a row.
    pub lines: u64,
    /// Rows stored.
    pub rows: u64,
    /// Lines that gave no row, by reason.
    pub rejects: BTreeMap<String, u64>,
    /// Assumptions, and how often each was made; empty for sources that need none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub remarks: BTreeMap<String, u64>,
    /// The header of the raw file as keys and values; only with the first table of a log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub header: Vec<(String, String)>,
    /// Smallest time of a row; `None` without rows.
    pub min_time_us: Option<i64>,
    /// Largest time of a row, except 2^63-1 (after the window).
    pub max_time_us: Option<i64>,
    /// The limit of rejects for this part.
    pub max_rejects: String,
    /// The common stem of the names of the files that hold its rows.
    pub segment: String,
}

/// One Parquet file of a lake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Path below the lake folder, with `/`.
    pub path: String,
    /// Rows in it.
    pub rows: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// CRC-32 of its bytes.
    pub crc32: u32,
    /// Position of the rows of each bucket.
    pub stretches: Stretches,
}

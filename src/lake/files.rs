//! Files that are there whole or not at all.
//!
//! In: bytes or a file written beside. Out: a file under its final name, on disk even if the
//! power fails in the next instant: written, synced, renamed, and the folder synced.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Syncs a written file, gives it its final name and syncs the folder's entry.
pub(crate) fn publish(file: &File, beside: &Path, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    fs::rename(beside, path)?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// Makes the names in a folder survive a power failure.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Writes a whole file; a reader sees the old one or the new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    publish(&file, &beside, path)
}

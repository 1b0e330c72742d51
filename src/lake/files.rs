//! Files that are there whole or not at all.
//!
//! In: bytes or a file written beside. Out: a file under its final name, on disk even if the
//! power fails in the next instant: written, synced, renamed, and the folder synced.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// Syncs a written file, gives it its final name and syncs the folder's entry.
pub(crate) fn publish(file: &File, beside: &Path, path: &Path) -> io::Result<()> {
    file.sync_all()?;
    fs::rename(beside, path)?;
    sync_folder(path.parent().unwrap_or(Path::new("")))
}

/// Makes the names in a folder survive a power failure.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    let here = Path::new(".");
    File::open(if folder.as_os_str().is_empty() { here } else { folder })?.sync_all()
}

/// Makes a folder and those above it, where they are not there yet.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let is_new = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let new: Vec<&Path> = folder.ancestors().take_while(is_new).collect();
    fs::create_dir_all(folder)?;
    new.into_iter().filter_map(Path::parent).try_for_each(sync_folder)
}

/// Writes a whole file; a reader sees the old one or the new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    publish(&file, &beside, path)
}

/// A file that is written from its begin to its end, with its size and checksum.
pub(crate) struct Summed {
    file: File,
    bytes: u64,
    crc32: crc32fast::Hasher,
}

impl Summed {
    /// Writes into an empty file.
    pub(crate) fn of(file: File) -> Self {
        Self { file, bytes: 0, crc32: crc32fast::Hasher::new() }
    }

    /// Syncs the file and returns its size and its CRC-32.
    pub(crate) fn finish(self) -> io::Result<(u64, u32)> {
        self.file.sync_all()?;
        Ok((self.bytes, self.crc32.finalize()))
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.crc32.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The CRC-32 of a file.
pub(crate) fn crc32_of(path: &Path) -> io::Result<u32> {
    let mut file = File::open(path)?;
    let mut crc32 = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(crc32.finalize()),
            Ok(count) => crc32.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

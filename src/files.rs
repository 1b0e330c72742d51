//! Files that are there whole or not at all, and sums that tell whether they still are.
//!
//! In: bytes or a file written beside. Out: a file under its final name, on disk even if the
//! power fails in the next instant: written, synced, renamed, and the folder synced.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::sources::hex;

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
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_folder(path.parent().unwrap_or(Path::new("")))
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

/// The text of a JSON object with, as its last field, a SHA-256 of the text without that field.
pub(crate) fn sealed(object: &str) -> String {
    let open = object.strip_suffix("\n}").expect("a pretty object");
    format!("{open}{SEAL}{}{SEAL_END}", sum_of(object))
}

/// The SHA-256 that [`sealed`] adds to the text of a JSON object.
pub(crate) fn sum_of(object: &str) -> String {
    hex(&Sha256::digest(object))
}

/// Whether not a byte of a text has changed since it was [`sealed`].
pub(crate) fn is_sealed(text: &str) -> bool {
    text.rsplit_once(SEAL).is_some_and(|(open, _)| sealed(&format!("{open}\n}}")) == text)
}

const SEAL: &str = ",\n  \"checksum\": \"";
const SEAL_END: &str = "\"\n}\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_for_the_very_text() {
        let text = sealed("{\n  \"a\": 1\n}");
        assert!(text.starts_with("{\n  \"a\": 1,\n  \"checksum\": \""), "{text}");
        assert!(is_sealed(&text));
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(!is_sealed(&String::from_utf8(bytes).unwrap()), "byte {at}");
            assert!(!is_sealed(&text[..at]), "cut at {at}");
        }
    }
}

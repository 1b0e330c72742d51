//! The journal of a run: a line per stored segment, in a file next to the manifest.
//!
//! In: the parts and files of a stored segment. Out: a line in the journal, on disk before the next
//! segment is stored. Writing the whole manifest for each segment would take quadratic time. So the
//! manifest is written once, at the end of the run or at the start of the next, and the journal is
//! removed. Readers use both together. A line starts with the SHA-256 of the rest: an incomplete
//! last line, left by a kill or a power cut, is ignored; any other mismatch is an error.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::entries::{FileEntry, PartEntry};
use super::{LakeError, LakeErrorKind};
use crate::files;
use crate::schema::Table;

/// The extension of a journal's name.
const EXTENSION: &str = "journal";

/// The parts of a segment and the files made of them.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalEntry {
    /// The name of the table.
    pub(super) table: String,
    /// The parts.
    pub(super) parts: Vec<PartEntry>,
    /// Their files.
    pub(super) files: Vec<FileEntry>,
}

impl JournalEntry {
    pub(super) fn new(table: Table, parts: &[PartEntry], files: &[FileEntry]) -> Self {
        Self { table: table.name().to_owned(), parts: parts.to_vec(), files: files.to_vec() }
    }
}

/// A journal that is being written.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Option<File>,
    len: u64,
}

impl Journal {
    /// The journal of a manifest; the first line creates the file.
    pub(super) fn beside(manifest: &Path) -> Self {
        Self { path: path_of(manifest), file: None, len: 0 }
    }

    /// Adds a line and syncs it to disk.
    pub(super) fn add(&mut self, entry: &JournalEntry) -> Result<(), LakeError> {
        let body = serde_json::to_string(entry).expect("an entry is plain data");
        let line = format!("{} {body}\n", files::sum_of(&body));
        self.write(line.as_bytes())
            .map_err(|error| LakeError::new(&self.path, LakeErrorKind::Io(error)))
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let is_new = self.file.is_none();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::create(&self.path)?),
        };
        let written = file.write_all(line).and_then(|()| file.sync_data());
        if let Err(error) = written {
            // An incomplete line must not precede another one.
            file.set_len(self.len)?;
            io::Seek::seek(file, io::SeekFrom::Start(self.len))?;
            return Err(error);
        }
        self.len += line.len() as u64;
        if is_new {
            files::sync_folder(self.path.parent().unwrap_or(Path::new("")))?;
        }
        Ok(())
    }
}

/// The journal of a manifest.
pub(super) fn path_of(manifest: &Path) -> PathBuf {
    manifest.with_extension(EXTENSION)
}

/// The entries in the journal of a manifest; none if there is no journal.
pub(super) fn read(manifest: &Path) -> Result<Vec<JournalEntry>, LakeError> {
    let path = path_of(manifest);
    let fail = |kind| LakeError::new(&path, kind);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(LakeErrorKind::Io(error))),
    };
    entries(&bytes).map_err(fail)
}

/// The entries of a journal, without an incomplete last line.
fn entries(bytes: &[u8]) -> Result<Vec<JournalEntry>, LakeErrorKind> {
    let mut entries = Vec::new();
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        match entry(line) {
            Some(entry) => entries.push(entry.map_err(LakeErrorKind::BadManifest)?),
            None if lines.peek().is_none() => {}
            None => {
                let problem = "a line of its journal was changed: its checksum differs";
                return Err(LakeErrorKind::Inconsistent(problem.to_owned()));
            }
        }
    }
    Ok(entries)
}

/// The entry of a line; `None` if the line is not as it was written.
fn entry(line: &[u8]) -> Option<serde_json::Result<JournalEntry>> {
    let (sum, body) = std::str::from_utf8(line).ok()?.strip_suffix('\n')?.split_once(' ')?;
    (files::sum_of(body) == sum).then(|| serde_json::from_str(body))
}

/// Removes the journal of a manifest, if there is any.
pub(super) fn remove(manifest: &Path) -> Result<(), LakeError> {
    let path = path_of(manifest);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LakeError::new(&path, LakeErrorKind::Io(error)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_cut_anywhere_gives_its_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("manifest.json");
        assert_eq!(read(&manifest).unwrap(), []);
        let mut journal = Journal::beside(&manifest);
        let entry = |table| JournalEntry::new(table, &[], &[]);
        journal.add(&entry(Table::JobEvents)).unwrap();
        let first_len = fs::read(path_of(&manifest)).unwrap().len();
        journal.add(&entry(Table::TaskEvents)).unwrap();
        let bytes = fs::read(path_of(&manifest)).unwrap();
        assert_eq!(read(&manifest).unwrap(), [Table::JobEvents, Table::TaskEvents].map(entry));
        for len in 0..bytes.len() {
            let found = entries(&bytes[..len]).unwrap();
            assert_eq!(found.len(), usize::from(first_len <= len), "cut at {len}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let found = entries(&changed);
            // An incomplete line is left out; no line is mistaken for another.
            assert!(found.is_err() || found.unwrap().len() < 2, "byte {at}");
        }
        remove(&manifest).unwrap();
        remove(&manifest).unwrap();
        assert_eq!(read(&manifest).unwrap(), []);
    }
}

//! Follows a log or a folder that grows, in whole lines or whole files.
//!
//! In: a file to which lines are appended and which may be rotated, or a folder to which files are
//! added. Out: a copy that ends with a whole line, or a folder of links to files that no longer
//! change. A line that is still being written is read later.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::files;

/// A file of a folder counts as whole once it has not changed for this long.
const REST: Duration = Duration::from_secs(2);

/// Bytes per read.
const BLOCK: usize = 1 << 20;

/// Number of bytes by which a file is recognised, in addition to its name and identity.
const END: usize = 128;

/// How much of a log has been taken, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Taken {
    /// The identity of the file: device and inode.
    identity: (u64, u64),
    /// Bytes of it that were taken.
    offset: u64,
    /// The last of these bytes, at most [`END`]. If the file now has other bytes in that place, it
    /// was rewritten.
    #[serde(default)]
    end: Vec<u8>,
    /// Bytes of the copy.
    copied: u64,
}

impl Taken {
    /// Whether a file still begins with the bytes that were taken of it. Only the last of them are
    /// compared.
    fn is_of(&self, file: &mut File) -> io::Result<bool> {
        if file.metadata()?.len() < self.offset {
            return Ok(false);
        }
        let mut end = vec![0; self.end.len()];
        file.seek(SeekFrom::Start(self.offset.saturating_sub(end.len() as u64)))?;
        file.read_exact(&mut end)?;
        Ok(end == self.end)
    }

    /// Records whole lines as taken.
    fn add(&mut self, lines: &[u8]) {
        self.offset += lines.len() as u64;
        self.copied += lines.len() as u64;
        self.end.extend_from_slice(&lines[lines.len().saturating_sub(END)..]);
        self.end.drain(..self.end.len().saturating_sub(END));
    }
}

/// A log that grows.
#[derive(Debug)]
pub(super) struct Log {
    from: PathBuf,
    copy: PathBuf,
    at: PathBuf,
    taken: Taken,
    /// The file that is being read; after a rotation its last lines are still to be taken.
    open: Option<File>,
}

impl Log {
    /// Continues where an earlier portal stopped, with its copy in a folder of the state.
    pub(super) fn open(from: &Path, folder: &Path) -> io::Result<Self> {
        let ending = from.extension().unwrap_or_default().to_string_lossy().into_owned();
        let copy = folder.join(format!("log.{ending}"));
        let at = folder.join("at.json");
        let known = fs::read_to_string(&at).ok().and_then(|text| serde_json::from_str(&text).ok());
        let mut taken: Taken = known.unwrap_or_default();
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&copy)?;
        if file.metadata()?.len() < taken.copied {
            taken = Taken::default();
        }
        // Lines that were copied but not recorded are copied again.
        file.set_len(taken.copied)?;
        Ok(Self { from: from.to_owned(), copy, at, taken, open: None })
    }

    /// The copy.
    pub(super) fn copy(&self) -> &Path {
        &self.copy
    }

    /// Takes the new lines; returns how many.
    pub(super) fn take(&mut self) -> io::Result<u64> {
        let mut lines = 0;
        let identity = files::identity(&self.from).unwrap_or_default();
        let is_other = self.taken.identity != (0, 0) && identity != self.taken.identity;
        if is_other && let Some(mut earlier) = self.open.take() {
            // The log was rotated: take the last lines of the earlier file first. Its last line is
            // complete now, even without a line end.
            lines += self.lines_of(&mut earlier, true)?;
        }
        if identity == (0, 0) {
            return Ok(lines);
        }
        let mut file = match self.open.take() {
            Some(file) => file,
            None => File::open(&self.from)?,
        };
        if is_other || !self.taken.is_of(&mut file)? {
            (self.taken.offset, self.taken.end) = (0, Vec::new());
        }
        self.taken.identity = identity;
        lines += self.lines_of(&mut file, false)?;
        self.open = Some(file);
        Ok(lines)
    }

    /// Copies whole lines from where the last ones ended; if the file is complete, also a last line
    /// without a line end.
    fn lines_of(&mut self, file: &mut File, is_over: bool) -> io::Result<u64> {
        let mut copy = OpenOptions::new().append(true).open(&self.copy)?;
        let (mut block, mut held, mut lines) = (vec![0; BLOCK], Vec::new(), 0);
        file.seek(SeekFrom::Start(self.taken.offset))?;
        loop {
            let count = file.read(&mut block)?;
            held.extend_from_slice(&block[..count]);
            let is_last = count == 0;
            if is_last && is_over && !held.is_empty() {
                held.push(b'\n');
                // The added line end is not in the file.
                self.taken.offset = self.taken.offset.saturating_sub(1);
            }
            let whole = held.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            copy.write_all(&held[..whole])?;
            lines += memchr::memchr_iter(b'\n', &held[..whole]).count() as u64;
            self.taken.add(&held[..whole]);
            held.drain(..whole);
            if is_last {
                break;
            }
        }
        if 0 < lines {
            copy.sync_data()?;
            let text = serde_json::to_string(&self.taken).map_err(io::Error::other)?;
            files::write_whole(&self.at, text.as_bytes())?;
        }
        Ok(lines)
    }
}

/// A folder to which files are added.
#[derive(Debug)]
pub(super) struct Folder {
    from: PathBuf,
    links: PathBuf,
    /// Files with their sizes and times when they were linked.
    linked: BTreeMap<PathBuf, (u64, SystemTime)>,
}

impl Folder {
    /// Makes a folder of links in a folder of the state.
    pub(super) fn open(from: &Path, folder: &Path) -> io::Result<Self> {
        let links = folder.join("parts");
        if links.exists() {
            fs::remove_dir_all(&links)?;
        }
        fs::create_dir_all(&links)?;
        Ok(Self { from: from.canonicalize()?, links, linked: BTreeMap::new() })
    }

    /// The folder of links.
    pub(super) fn links(&self) -> &Path {
        &self.links
    }

    /// Links the files that are whole now; returns how many are new or changed.
    pub(super) fn take(&mut self, now: SystemTime) -> io::Result<u64> {
        let mut found = Vec::new();
        files_of(&self.from, Path::new(""), 2, &mut found)?;
        let mut count = 0;
        for (name, size, changed) in found {
            let is_whole = now.duration_since(changed).is_ok_and(|rest| REST <= rest);
            if !is_whole || self.linked.get(&name) == Some(&(size, changed)) {
                continue;
            }
            let link = self.links.join(&name);
            if let Some(parent) = link.parent() {
                fs::create_dir_all(parent)?;
            }
            if !link.is_symlink() {
                std::os::unix::fs::symlink(self.from.join(&name), &link)?;
            }
            self.linked.insert(name, (size, changed));
            count += 1;
        }
        Ok(count)
    }
}

/// Files of a folder and of its subfolders down to `depth`, with sizes and times.
fn files_of(
    root: &Path,
    within: &Path,
    depth: u32,
    found: &mut Vec<(PathBuf, u64, SystemTime)>,
) -> io::Result<()> {
    for entry in fs::read_dir(root.join(within))? {
        let entry = entry?;
        let name = within.join(entry.file_name());
        let Ok(about) = fs::metadata(entry.path()) else { continue };
        if about.is_dir() && 1 < depth {
            files_of(root, &name, depth - 1, found)?;
        } else if about.is_file() {
            found.push((name, about.len(), about.modified()?));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn whole_lines_are_taken_also_over_a_rotation_and_a_restart() {
        let place = tempfile::tempdir().unwrap();
        let (from, folder) = (place.path().join("a.swf"), place.path().join("state"));
        fs::create_dir(&folder).unwrap();
        let mut log = Log::open(&from, &folder).unwrap();
        assert_eq!(log.take().unwrap(), 0);
        append(&from, "1\n2\n3");
        assert_eq!(log.take().unwrap(), 2);
        assert_eq!(fs::read_to_string(log.copy()).unwrap(), "1\n2\n");
        append(&from, "33\n");
        assert_eq!(log.take().unwrap(), 1);
        // A restart, after a copy that was not recorded.
        append(log.copy(), "33");
        append(&from, "4\n5");
        drop(log);
        let mut log = Log::open(&from, &folder).unwrap();
        assert_eq!(log.take().unwrap(), 1);
        // Rotated: the last line of the earlier file has no end.
        append(&from, "5");
        fs::rename(&from, place.path().join("a.swf.1")).unwrap();
        append(&from, "6\n7");
        assert_eq!(log.take().unwrap(), 2);
        // Cut off and written again.
        fs::write(&from, "8\n").unwrap();
        assert_eq!(log.take().unwrap(), 1);
        assert_eq!(fs::read_to_string(log.copy()).unwrap(), "1\n2\n333\n4\n55\n6\n8\n");
    }

    proptest! {
        #[test]
        fn whatever_pieces_come_the_copy_is_the_begin_of_the_log(
            pieces in prop::collection::vec("[ab\n]{0,9}", 0..20)
        ) {
            let place = tempfile::tempdir().unwrap();
            let from = place.path().join("a.gwf");
            let mut log = Log::open(&from, place.path()).unwrap();
            let mut whole = String::new();
            for (idx, piece) in pieces.iter().enumerate() {
                append(&from, piece);
                whole.push_str(piece);
                if idx % 5 == 3 {
                    log = Log::open(&from, place.path()).unwrap();
                }
                log.take().unwrap();
                let lines = whole.rfind('\n').map_or("", |at| &whole[..=at]);
                prop_assert_eq!(fs::read_to_string(log.copy()).unwrap(), lines);
            }
        }
    }

    #[test]
    fn files_are_linked_once_they_rest() {
        let place = tempfile::tempdir().unwrap();
        let (from, folder) = (place.path().join("trace"), place.path().join("state"));
        fs::create_dir_all(from.join("job_events")).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(from.join("job_events/part-00000-of-00002.csv"), "x").unwrap();
        let mut parts = Folder::open(&from, &folder).unwrap();
        let soon = fs::metadata(from.join("job_events/part-00000-of-00002.csv"))
            .unwrap()
            .modified()
            .unwrap();
        assert_eq!(parts.take(soon + REST / 2).unwrap(), 0);
        assert_eq!(parts.take(soon + REST).unwrap(), 1);
        assert_eq!(parts.take(soon + REST).unwrap(), 0);
        let link = parts.links().join("job_events/part-00000-of-00002.csv");
        assert_eq!(fs::read_to_string(link).unwrap(), "x");
    }
}

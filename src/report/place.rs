//! The folder of a report: replaced as a whole, or left as it is.
//!
//! In: files by name. Out: a folder that holds these files and a manifest of them with their
//! checksums. The files are written into a new folder next to the old one. When all of them are on
//! disk, the two folders change places in one step. A folder with files that its own manifest does
//! not list is refused, so such files are never overwritten or removed.
//!
//! ```text
//!  .report.jobfate-17/index.html ...  ─► synced ─► files.json ────┐
//!  report/                            ◄── change places ──────────┘  the earlier one is removed
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ReportError;
use crate::files::{self, FolderLock, Summed};
use crate::results::ResultFile;

/// The file that lists the others.
const MANIFEST: &str = "files.json";

/// The version of the manifest; raise it when its fields change.
const MANIFEST_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Manifest {
    program: String,
    format_version: u32,
    files: Vec<ResultFile>,
}

/// A folder that is not complete yet.
pub(super) struct NewFolder {
    place: PathBuf,
    /// The folder that is being filled, next to `place` and locked by this process.
    work: FolderLock,
    files: Vec<ResultFile>,
    folders: BTreeSet<PathBuf>,
}

/// Refuses a place with anything that this program did not write there.
///
/// # Errors
/// The place holds something that its manifest does not list, is the current folder, or cannot be
/// read.
pub fn check_place(place: &Path) -> Result<(), ReportError> {
    let place = named(place)?;
    if fs::symlink_metadata(&place).is_err() {
        return Ok(());
    }
    let foreign = |entry: PathBuf| ReportError::Foreign { folder: place.clone(), entry };
    if !place.is_dir() {
        return Err(ReportError::NotAFolder { path: place });
    }
    if std::env::current_dir().is_ok_and(|here| place.canonicalize().is_ok_and(|it| here == it)) {
        return Err(ReportError::CurrentFolder { path: place });
    }
    loop {
        let before = files::identity(&place);
        let found = foreign_in(&place);
        // Another report may have been put in the place during the check.
        if before != files::identity(&place) {
            continue;
        }
        return match found.map_err(|cause| ReportError::io(&place, cause))? {
            Some(entry) => Err(foreign(entry)),
            None => Ok(()),
        };
    }
}

impl NewFolder {
    /// Checks the place and creates a folder next to it for the new files.
    pub(super) fn begin(place: &Path) -> Result<Self, ReportError> {
        check_place(place)?;
        let place = named(place)?;
        let failed = |cause| ReportError::io(&place, cause);
        let parent = parent_of(&place);
        files::create_folder(&parent).map_err(failed)?;
        remove_left(&place, &parent).map_err(failed)?;
        let work = (0..)
            .find_map(|number| {
                let number = if number == 0 { String::new() } else { format!("-{number}") };
                let work =
                    parent.join(format!("{}{}{number}", begin_of(&place), std::process::id()));
                // If the folder exists, it belongs to a process elsewhere (on another machine or in
                // another container) with the same process id.
                if work.exists() { None } else { FolderLock::take(&work).transpose() }
            })
            .expect("numbers never end")
            .map_err(failed)?;
        Ok(Self { place, work, files: Vec::new(), folders: BTreeSet::new() })
    }

    /// Writes a file.
    pub(super) fn put(&mut self, name: &str, text: &str) -> Result<(), ReportError> {
        self.fill(name, |to| to.write_all(text.as_bytes()).map_err(Fault::Target))
    }

    /// Copies a file.
    pub(super) fn copy(&mut self, from: &Path, name: &str) -> Result<(), ReportError> {
        self.fill(name, |to| {
            let mut file =
                File::open(from).map_err(|cause| Fault::Source(from.to_owned(), cause))?;
            let mut block = vec![0; 1 << 16];
            loop {
                match file.read(&mut block) {
                    Ok(0) => return Ok(()),
                    Ok(count) => to.write_all(&block[..count]).map_err(Fault::Target)?,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(cause) => return Err(Fault::Source(from.to_owned(), cause)),
                }
            }
        })
    }

    fn fill(
        &mut self,
        name: &str,
        with: impl FnOnce(&mut BufWriter<Summed>) -> Result<(), Fault>,
    ) -> Result<(), ReportError> {
        let path = self.work.folder().join(name);
        let write = || {
            fs::create_dir_all(parent_of(&path)).map_err(Fault::Target)?;
            let file = File::create_new(&path).map_err(Fault::Target)?;
            let mut to = BufWriter::new(Summed::of(file));
            with(&mut to)?;
            let ended = to.into_inner().map_err(io::IntoInnerError::into_error);
            ended.and_then(Summed::finish).map_err(Fault::Target)
        };
        match write() {
            Ok((bytes, crc32)) => {
                self.folders.extend(folders_of(Path::new(name)).map(Path::to_owned));
                self.files.push(ResultFile { file: name.to_owned(), bytes, crc32 });
                Ok(())
            }
            // The user knows the folder only by its final name.
            Err(Fault::Target(cause)) => Err(ReportError::io(&self.place.join(name), cause)),
            Err(Fault::Source(path, cause)) => Err(ReportError::io(&path, cause)),
        }
    }

    /// Moves the folder into place and removes what was there before.
    pub(super) fn publish(mut self) -> Result<PathBuf, ReportError> {
        let files = std::mem::take(&mut self.files);
        let (program, format_version) = (crate::PROGRAM.to_owned(), MANIFEST_VERSION);
        let text = serde_json::to_string_pretty(&Manifest { program, format_version, files });
        self.put(MANIFEST, &files::sealed(&text.expect("a manifest is plain data")))?;
        let parent = parent_of(&self.place);
        let swap = || {
            for folder in &self.folders {
                files::sync_folder(&self.work.folder().join(folder))?;
            }
            files::sync_folder(self.work.folder())?;
            files::sync_folder(&parent)?;
            give_place(self.work.folder(), &self.place)?;
            files::sync_folder(&parent)
        };
        swap().map_err(|cause| ReportError::io(&self.place, cause))?;
        let earlier = self.work.folder();
        if earlier.exists() {
            self.remove_earlier(earlier)?;
        }
        Ok(self.place.clone())
    }

    /// Removes the earlier folder, unless a file was added to it in the meantime.
    fn remove_earlier(&self, earlier: &Path) -> Result<(), ReportError> {
        let failed = |cause| ReportError::io(&self.place, cause);
        let removed = match foreign_in(earlier) {
            Ok(None) => fs::remove_dir_all(earlier),
            Ok(Some(_)) => return self.keep(earlier),
            Err(error) => Err(error),
        };
        match removed {
            // Another process that writes here removes leftovers as well.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(failed),
        }
    }

    fn keep(&self, earlier: &Path) -> Result<(), ReportError> {
        let failed = |cause| ReportError::io(&self.place, cause);
        let mut kept = self.place.clone().into_os_string();
        kept.push(format!("-before-{}", std::process::id()));
        fs::rename(earlier, &kept).map_err(failed)?;
        Err(ReportError::Kept { place: self.place.clone(), kept: kept.into() })
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        // A folder that was not published is removed; otherwise the next run would remove it.
        let _ = fs::remove_dir_all(self.work.folder());
    }
}

/// Moves a folder to its place. A folder that was there moves to the earlier path of the new one.
fn give_place(new: &Path, place: &Path) -> io::Result<()> {
    loop {
        let given =
            if place.exists() { files::exchange(new, place) } else { fs::rename(new, place) };
        match given {
            // Another report was put in the place first.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            given => return given,
        }
    }
}

/// The side of a copy that failed: the source file, or the target file.
enum Fault {
    Source(PathBuf, io::Error),
    Target(io::Error),
}

/// The path of the folder with its name at the end; a symbolic link is resolved.
fn named(place: &Path) -> Result<PathBuf, ReportError> {
    if place.is_symlink() || place.file_name().is_none() {
        return place.canonicalize().map_err(|cause| ReportError::io(place, cause));
    }
    // A slash at the end is dropped.
    Ok(place.components().collect())
}

fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The folders in the name of a file, innermost first.
fn folders_of(name: &Path) -> impl Iterator<Item = &Path> {
    name.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty())
}

/// Prefix of the names of incomplete folders.
fn begin_of(place: &Path) -> String {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}.jobfate-")
}

/// Removes folders next to the place that killed processes have left.
fn remove_left(place: &Path, parent: &Path) -> io::Result<()> {
    let begin = begin_of(place);
    for entry in fs::read_dir(parent)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let rest = name.strip_prefix(&begin).unwrap_or_default();
        let is_left = rest.starts_with(|letter: char| letter.is_ascii_digit());
        if !is_left || path.is_symlink() || !path.is_dir() {
            continue;
        }
        // A locked folder is still being filled. A folder with a complete manifest is an earlier
        // report.
        let is_whole = !listed_in(&path).is_empty();
        if let Some(lock) = FolderLock::take(&path)? {
            // The process of the folder may be removing it at the same time.
            let remove = || match foreign_in(lock.folder())? {
                Some(_) if is_whole => Ok(()),
                _ => fs::remove_dir_all(lock.folder()),
            };
            match remove() {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The first entry of a folder that its manifest does not list, or lists with other contents.
fn foreign_in(folder: &Path) -> io::Result<Option<PathBuf>> {
    let listed = listed_in(folder);
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    for name in listed.keys() {
        folders.extend(folders_of(Path::new(name)).map(Path::to_owned));
    }
    let mut waiting = vec![PathBuf::new()];
    while let Some(within) = waiting.pop() {
        let mut names: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(folder.join(&within))? {
            names.push(within.join(entry?.file_name()));
        }
        names.sort();
        for name in names {
            let about = fs::symlink_metadata(folder.join(&name))?;
            let known = name.to_str().and_then(|name| listed.get(name));
            let is_own = match known {
                Some(file) => about.is_file() && file.is_in(folder)?,
                None if about.is_dir() && folders.contains(&name) => {
                    waiting.push(name);
                    continue;
                }
                None => about.is_file() && name == Path::new(MANIFEST) && !listed.is_empty(),
            };
            if !is_own {
                return Ok(Some(name));
            }
        }
    }
    Ok(None)
}

/// The files of a report with their sizes, as its manifest lists them; empty if the folder is not a
/// report.
#[cfg(feature = "serve")]
pub(crate) fn listed(folder: &Path) -> BTreeMap<String, u64> {
    listed_in(folder).into_iter().map(|(name, file)| (name, file.bytes)).collect()
}

/// The files that the manifest of a folder lists; empty if there is no intact manifest of this
/// version.
pub(super) fn listed_in(folder: &Path) -> BTreeMap<String, ResultFile> {
    let read = || {
        let text =
            fs::read_to_string(folder.join(MANIFEST)).ok().filter(|it| files::is_sealed(it))?;
        serde_json::from_str::<Manifest>(&text).ok()
    };
    let files = read().filter(|manifest| manifest.format_version == MANIFEST_VERSION);
    let files = files.into_iter().flat_map(|manifest| manifest.files);
    files.map(|file| (file.file.clone(), file)).collect()
}

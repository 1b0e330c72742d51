//! Moves the files of an answer to their places in the folder of `--out`: either all of them or
//! none.
//!
//! In: complete files in the work folder. Out: the same files in their places; the replaced files
//! of the earlier answer are removed. The JSON names the files and is moved last. A list of these
//! steps is written first: after a kill, the next run that writes into the folder completes them. A
//! file that no result in the folder names is never overwritten or removed.
//!
//! ```text
//!  out/.jobfate-work/sweep.csv ...  ─► synced ─► .jobfate-work/commit
//!      killed before: the earlier answer is whole     killed after: the next run completes it
//!  out/sweep.csv ... ─► stale files removed ─► out/result.json ─► .jobfate-work removed
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::ResultFile;
use super::stored::files_of_result;
use crate::facts::query::{FACTS, is_fact};
use crate::faults::{Context, Hindered, Result, Usage};
use crate::files;

/// The folder in which files are written. If a run was killed, the next run completes or removes
/// the files in it.
pub(super) const WORK: &str = ".jobfate-work";

/// The file in the work folder that lists the steps of a commit.
const LIST: &str = "commit";

/// The steps that move the files of an answer to their places.
#[derive(Debug, Serialize, Deserialize)]
struct Commit {
    /// JSON files of other answers that are in the place of this answer's JSON, with their new
    /// names.
    rename: Vec<(ResultFile, String)>,
    /// Files that are moved from the work folder.
    place: Vec<String>,
    /// Files of earlier answers that this one replaces.
    remove: Vec<ResultFile>,
    /// The JSON that names the files; it is moved last.
    json: String,
}

/// Moves the files of an answer from the work folder to their places, and its JSON last.
///
/// # Errors
/// A name belongs to another file of the folder, or a file cannot be read or moved.
pub(super) fn give_places(
    folder: &Path,
    name: &str,
    named: &[ResultFile],
    json: &str,
) -> Result<()> {
    let earlier = Earlier::all(folder)?;
    check_names(folder, name, &earlier, named.iter().map(|file| file.file.as_str()).chain([json]))?;
    let own =
        |path: &str| ResultFile::of(folder, path).with_context(|| could_not_read(folder, path));
    let is_named = |old: &ResultFile| named.iter().any(|file| file.file == old.file);
    let mut commit = Commit {
        rename: Vec::new(),
        place: named.iter().map(|file| file.file.clone()).collect(),
        remove: Vec::new(),
        json: json.to_owned(),
    };
    for old in &earlier {
        if is_replaced(&old.name, name) {
            commit.remove.extend(old.files.iter().filter(|file| !is_named(file)).cloned());
            if old.json != json {
                commit.remove.push(own(&old.json)?);
            }
        } else if old.json == json {
            // The answer of another command keeps its files; its JSON is renamed after its answer.
            let own_name = old.own_json();
            check_names(folder, &old.name, &earlier, [own_name.as_str()].into_iter())?;
            commit.rename.push((own(json)?, own_name));
        }
    }
    let text = serde_json::to_string_pretty(&commit).context("a list of files is plain data")?;
    let list = folder.join(WORK).join(LIST);
    let written = files::write_whole(&list, files::sealed(&text).as_bytes());
    written.and_then(|()| files::sync_folder(folder)).with_context(|| could_not_write(&list))?;
    commit.apply(folder)
}

/// Completes the commit of a killed run and returns a note about it; `None` if there is nothing to
/// complete.
///
/// # Errors
/// The list of steps was changed, or a file cannot be read or moved.
pub(super) fn finish_earlier(folder: &Path) -> Result<Option<String>> {
    let list = folder.join(WORK).join(LIST);
    let text = match fs::read_to_string(&list) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.with_context(|| format!("could not read `{}`", list.display()))?,
    };
    let commit = serde_json::from_str::<Commit>(&text).ok().filter(|_| files::is_sealed(&text));
    let Some(commit) = commit else {
        let list = list.display();
        return Err(Hindered(format!("`{list}` was changed or damaged: remove it by hand")).into());
    };
    commit.apply(folder)?;
    Ok(Some(format!(
        "completed the results of an earlier, interrupted run in `{}`",
        folder.display()
    )))
}

/// Whether a commit was begun and not completed.
pub(super) fn is_waiting(folder: &Path) -> bool {
    folder.join(WORK).join(LIST).exists()
}

impl Commit {
    /// Does the steps that are not done yet.
    fn apply(&self, folder: &Path) -> Result<()> {
        for (old, to) in &self.rename {
            if is_unchanged(old, folder)? {
                let path = folder.join(to);
                fs::rename(folder.join(&old.file), &path)
                    .with_context(|| could_not_write(&path))?;
            }
        }
        for file in &self.place {
            give_place(folder, file)?;
        }
        for old in &self.remove {
            // A file that was changed by someone is kept.
            if is_unchanged(old, folder)? {
                let path = folder.join(&old.file);
                fs::remove_file(&path)
                    .with_context(|| format!("could not remove `{}`", path.display()))?;
            }
        }
        sync(folder)?;
        give_place(folder, &self.json)?;
        sync(folder)?;
        let work = folder.join(WORK);
        fs::remove_file(work.join(LIST))
            .and_then(|()| fs::remove_dir_all(&work))
            .with_context(|| format!("could not remove `{}`", work.display()))
    }
}

fn give_place(folder: &Path, file: &str) -> Result<()> {
    let path = folder.join(file);
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent).with_context(|| could_not_write(parent))?;
    match fs::rename(folder.join(WORK).join(file), &path) {
        // The file is already in its place.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.exists() => Ok(()),
        renamed => renamed.with_context(|| could_not_write(&path)),
    }
}

fn is_unchanged(file: &ResultFile, folder: &Path) -> Result<bool> {
    match file.is_in(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        known => known.with_context(|| could_not_read(folder, &file.file)),
    }
}

fn sync(folder: &Path) -> Result<()> {
    files::sync_folder(folder)
        .with_context(|| format!("could not write into `{}`", folder.display()))
}

fn could_not_write(path: &Path) -> String {
    format!("could not write `{}`", path.display())
}

fn could_not_read(folder: &Path, file: &str) -> String {
    format!("could not read `{}`", folder.join(file).display())
}

/// An answer that a folder holds.
pub(super) struct Earlier {
    /// The JSON file of the answer, without the folder.
    json: String,
    name: String,
    files: Vec<ResultFile>,
}

impl Earlier {
    /// The answers that a folder holds.
    pub(super) fn all(folder: &Path) -> Result<Vec<Self>> {
        let failed = || format!("could not read `{}`", folder.display());
        let mut all = Vec::new();
        for entry in fs::read_dir(folder).with_context(failed)? {
            let path = entry.with_context(failed)?.path();
            let json = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !json.ends_with(".json") || !path.is_file() {
                continue;
            }
            let bytes = fs::read(&path).with_context(|| could_not_read(folder, &json))?;
            if let Some((name, files)) = files_of_result(&String::from_utf8_lossy(&bytes)) {
                all.push(Self { json, name, files });
            }
        }
        all.sort_by(|one, other| one.json.cmp(&other.json));
        Ok(all)
    }

    /// The name of the answer's JSON file if it is named after the answer.
    fn own_json(&self) -> String {
        format!("{}.json", self.name)
    }

    fn owns(&self, file: &str) -> bool {
        self.json == file || self.files.iter().any(|own| own.file == file)
    }
}

/// Whether an answer replaces an earlier one.
fn is_replaced(old: &str, new: &str) -> bool {
    old == new || (new == FACTS && is_fact(old))
}

/// Refuses to replace files of an earlier answer that were changed after they were written.
pub(super) fn check_unchanged(folder: &Path, name: &str, earlier: &[Earlier]) -> Result<()> {
    for file in earlier.iter().filter(|old| is_replaced(&old.name, name)).flat_map(|old| &old.files)
    {
        let path = folder.join(&file.file);
        if path.exists() && !is_unchanged(file, folder)? {
            return Err(Usage(format!(
                "`{}` was changed after it was written as a result; move it away, or give another --out",
                path.display(),
            ))
            .into());
        }
    }
    Ok(())
}

/// Refuses names that other files of the folder have. Two kinds of names are allowed: those of this
/// answer's earlier files, which are replaced, and that of the JSON of another command, which is
/// renamed.
pub(super) fn check_names<'a>(
    folder: &Path,
    name: &str,
    earlier: &[Earlier],
    mut names: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let taken = names.find_map(|file| {
        let about = fs::symlink_metadata(folder.join(file)).ok()?;
        let owner = earlier.iter().find(|old| old.owns(file));
        match owner {
            _ if about.is_dir() => Some((file, "it is a folder".to_owned())),
            None => Some((file, "it does not belong to an earlier result".to_owned())),
            Some(old) if is_replaced(&old.name, name) || old.json == file => None,
            Some(old) => Some((file, format!("it belongs to the result `{}`", old.name))),
        }
    });
    let Some((file, why)) = taken else { return Ok(()) };
    let path: PathBuf = folder.join(file);
    Err(Usage(format!(
        "`{}` already exists: {why}; move it away, or give another --out",
        path.display()
    ))
    .into())
}

//! Removes what a killed run left in a lake.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::locks::work_folder;
use super::manifest::{Manifest, segment_of};
use super::plan::IngestPlan;
use super::{LakeError, LakeErrorKind};
use crate::schema::Table;

/// Removes files of a killed run: its work folder, and files that no manifest records.
pub(super) fn remove_leftovers(plan: &IngestPlan, manifest: &Manifest) -> Result<(), LakeError> {
    let fail = |path: &Path, error| LakeError::new(path, LakeErrorKind::Io(error));
    let work = work_folder(plan);
    if work.exists() {
        fs::remove_dir_all(&work).map_err(|error| fail(&work, error))?;
    }
    if plan.shard.is_some() {
        // Another shard may just have renamed a file without having recorded it yet.
        return Ok(());
    }
    let recorded: BTreeSet<PathBuf> = manifest
        .tables
        .values()
        .flat_map(|entry| &entry.files)
        .map(|file| plan.lake.join(&file.path))
        .collect();
    for entry in fs::read_dir(&plan.lake).map_err(|error| fail(&plan.lake, error))? {
        let path = entry.map_err(|error| fail(&plan.lake, error))?.path();
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if is_work_of_shard(&name) {
            fs::remove_dir_all(&path).map_err(|error| fail(&path, error))?;
        }
    }
    for table in Table::ALL {
        let folder = plan.lake.join(table.name());
        for file in segment_files(&folder).map_err(|error| fail(&folder, error))? {
            if !recorded.contains(&file) {
                fs::remove_file(&file).map_err(|error| fail(&file, error))?;
            }
        }
    }
    Ok(())
}

/// Whether a name is `.work-I-of-N`.
pub(super) fn is_work_of_shard(name: &str) -> bool {
    let numbers = name.strip_prefix(".work-").and_then(|rest| rest.split_once("-of-"));
    numbers.is_some_and(|(index, count)| [index, count].into_iter().all(is_number))
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The files in the folder of a table that this program may have made. Links are ignored, since
/// they point elsewhere.
pub(super) fn segment_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir()) {
        return Ok(found);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().into_owned());
        if kind.is_file() && segment_of(&name).is_some() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

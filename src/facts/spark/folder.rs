//! The folder of the facts in a lake, and files of the lake that no manifest records.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::failure::failed;
use crate::facts::FactError;
use crate::facts::query::Query;
use crate::lake::Lake;
use crate::schema::Table;

/// The folder of the facts, removed at the end.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn create(lake: &Path) -> Result<Self, FactError> {
        let path = lake.join(format!(".facts-{}", std::process::id()));
        fs::create_dir_all(&path)
            .map_err(|error| failed(format!("{}: {error}", path.display())))?;
        Ok(Self(path))
    }

    pub(super) fn name(&self) -> String {
        self.0.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover folder is visible and harmless.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Refuses files that no manifest records, left by a killed ingest: Spark reads whole folders and
/// would read them as well.
pub(super) fn refuse_leftovers(lake: &Lake, queries: &[&'static Query]) -> Result<(), FactError> {
    let tables = queries.iter().flat_map(|query| [query.tables(), query.optional_tables()]);
    let is_read = |column: &str| queries.iter().any(|query| query.names(column));
    for table in tables.flatten().collect::<BTreeSet<Table>>() {
        let known: BTreeSet<PathBuf> = lake.paths(table, is_read)?.into_iter().collect();
        let mut folders = vec![lake.path.join(table.name())];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
            for path in entries.map(|entry| entry.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "parquet")
                    && !known.contains(&path)
                {
                    return Err(FactError::Spark {
                        problem: format!("`{}` is not in the manifest of the lake", path.display()),
                        hint: "an ingest was stopped or is still running: wait for it, or run it \
                        again",
                    });
                }
            }
        }
    }
    Ok(())
}

//! The user of each collection, for the rows of its instances, which do not have it.
//!
//! In: the files of `collection_events`. Out: user and `max_per_machine` of each collection. They
//! are read once, when the first part asks; without them the cells stay missing.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::super::SourceError;
use super::super::blocks::{BlockReader, TextBlock};
use super::super::fields::NAME_MAX;
use super::super::json::value::Raw;
use super::cells::small;
use super::line::LINE_MAX;

/// What the instances of a collection share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    /// Position among the names.
    user: Option<u32>,
    max_per_machine: Option<i32>,
}

/// Collections by id.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Collections {
    owners: FxHashMap<i64, Owner>,
    names: Vec<String>,
}

impl Collections {
    /// Who submitted a collection.
    pub(super) fn user(&self, collection: i64) -> Option<&str> {
        let user = self.owners.get(&collection)?.user?;
        Some(self.names[user as usize].as_str())
    }

    /// Whether its instances keep to different machines; nothing where the trace does not say.
    pub(super) fn is_apart(&self, collection: i64) -> Option<bool> {
        // 0 is not a limit.
        self.owners.get(&collection)?.max_per_machine.map(|max| max == 1)
    }

    fn read(files: &[PathBuf]) -> Result<Self, SourceError> {
        let mut found = Self::default();
        let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
        for file in files {
            let mut reader = BlockReader::open(file)?;
            let mut block = TextBlock::default();
            while let Some(next) = reader.next_block(block)? {
                for line in next.text().split(|&byte| byte == b'\n') {
                    // What is wrong with a line is said when it is read as a job.
                    if line.len() <= LINE_MAX
                        && let Ok(line) = serde_json::from_slice::<Line<'_>>(line)
                        && let Ok(Some(id)) = line.collection_id.whole()
                    {
                        let user = found.number_of(&line.user, &mut numbers);
                        let max_per_machine = small(&line.max_per_machine).unwrap_or_default();
                        let owner = Owner { user, max_per_machine };
                        let known = found.owners.entry(id).or_insert(owner);
                        known.user = known.user.or(user);
                        known.max_per_machine = known.max_per_machine.or(max_per_machine);
                    }
                }
                block = next;
            }
        }
        Ok(found)
    }

    fn number_of(&mut self, name: &Raw<'_>, numbers: &mut FxHashMap<String, u32>) -> Option<u32> {
        let Raw::Text(name) = name else { return None };
        // A name that is too long makes its line a reject where that is read as a job.
        if name.is_empty() || NAME_MAX < name.len() {
            return None;
        }
        if let Some(&number) = numbers.get(name.as_ref()) {
            return Some(number);
        }
        let number = u32::try_from(self.names.len()).expect("fewer than 2^32 users");
        numbers.insert(name.to_string(), number);
        self.names.push(name.to_string());
        Some(number)
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Line<'a> {
    collection_id: Raw<'a>,
    user: Raw<'a>,
    max_per_machine: Raw<'a>,
}

/// The collections of an export, read when they are first asked for.
#[derive(Debug, Default)]
pub struct Owners {
    files: Vec<PathBuf>,
    read: Mutex<Option<Arc<Collections>>>,
}

impl PartialEq for Owners {
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files
    }
}

impl Eq for Owners {}

impl Owners {
    /// Of these files of `collection_events`.
    pub(super) fn of(files: Vec<PathBuf>) -> Self {
        Self { files, read: Mutex::default() }
    }

    /// The collections; every other caller waits while the first reads.
    pub(super) fn collections(&self) -> Result<Arc<Collections>, SourceError> {
        // A reader that panicked has left nothing behind.
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(collections) = &*read {
            return Ok(Arc::clone(collections));
        }
        let collections = Arc::new(Collections::read(&self.files)?);
        *read = Some(Arc::clone(&collections));
        Ok(collections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_on_a_collection_counts() {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<PathBuf> = [
            "{\"collection_id\":\"1\",\"user\":\"a\"}\nnonsense\n{\"collection_id\":2}\n",
            "{\"collection_id\":\"2\",\"user\":\"b\",\"max_per_machine\":\"1\"}\n{\"collection_id\":1,\"user\":\"c\",\"max_per_machine\":0}",
        ]
        .iter()
        .zip(["0.json", "1.json"])
        .map(|(text, name)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        })
        .collect();
        let owners = Owners::of(files);
        let found = owners.collections().unwrap();
        assert_eq!([1, 2, 3].map(|id| found.user(id)), [Some("a"), Some("b"), None]);
        assert_eq!([1, 2, 3].map(|id| found.is_apart(id)), [Some(false), Some(true), None]);
        assert!(Arc::ptr_eq(&found, &owners.collections().unwrap()), "read once");
        assert!(Owners::of(vec![folder.path().join("gone.json")]).collections().is_err());
    }
}

//! The user of each collection, for the rows of its instances, which do not name it.
//!
//! In: the files of `collection_events`. Out: user and `max_per_machine` of each collection. The
//! files are read once, for the first part that needs them; without them the cells stay missing.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::SourceError;
use super::super::blocks::each_block;
use super::super::json::value::Raw;
use super::super::names::Names;
use super::super::reading::Shared;
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
pub struct Collections {
    owners: FxHashMap<i64, Owner>,
    names: Names,
}

impl Collections {
    /// The user of a collection.
    pub(super) fn user(&self, collection: i64) -> Option<&str> {
        let user = self.owners.get(&collection)?.user?;
        Some(self.names.name(user))
    }

    /// Whether its instances must run on different machines; `None` if the trace does not say.
    pub(super) fn is_apart(&self, collection: i64) -> Option<bool> {
        // 0 means no limit.
        self.owners.get(&collection)?.max_per_machine.map(|max| max == 1)
    }

    fn read(files: &[PathBuf]) -> Result<Self, SourceError> {
        let mut found = Self::default();
        for file in files {
            each_block(file, |text| text.lines(1).for_each(|(_, line)| found.add(line)))?;
        }
        Ok(found)
    }

    /// Adds the collection of a line. Bad lines are skipped: they are rejected when the file is
    /// read as jobs.
    fn add(&mut self, line: &[u8]) {
        if line.len() <= LINE_MAX
            && let Ok(line) = serde_json::from_slice::<Line<'_>>(line)
            && let Ok(Some(id)) = line.collection_id.whole()
        {
            let name = line.user.name().unwrap_or_default();
            let user = name.map(|name| self.names.number(name));
            let max_per_machine = line.max_per_machine.small().unwrap_or_default();
            let owner = Owner { user, max_per_machine };
            let known = self.owners.entry(id).or_insert(owner);
            known.user = known.user.or(user);
            known.max_per_machine = known.max_per_machine.or(max_per_machine);
        }
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Line<'a> {
    collection_id: Raw<'a>,
    user: Raw<'a>,
    max_per_machine: Raw<'a>,
}

/// The collections of an export, read when they are first needed.
pub type Owners = Shared<Collections>;

impl Owners {
    /// The collections; every other caller waits while the first reads.
    pub(super) fn collections(&self) -> Result<Arc<Collections>, SourceError> {
        self.get(Collections::read)
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

//! What a user says of how a log is to be read, and what the files of a log know of each other.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::SourceError;
use super::kubernetes::pods::UserFrom;
use super::mapped::map::Map;
use super::mask::Mask;
use super::repeats::Repeats;
use super::zone::Zone;

/// What the files of a log do not say themselves.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The zone of times that name none; UTC if it is not given.
    pub zone: Option<Zone>,
    /// Which column is what, of a mapped table.
    pub map: Option<Arc<Map>>,
    /// What stands for the user of a pod of Kubernetes; its namespace if it is not given.
    pub user_from: Option<UserFrom>,
    /// The key by which names are replaced.
    pub mask: Option<Arc<Mask>>,
    /// The files of a log that has several.
    pub files: Files,
}

/// The files of a log that has several, in their order, and what stands in more than one of them,
/// which is looked for once and only where a parser asks.
#[derive(Debug, Default)]
pub struct Files {
    paths: Vec<PathBuf>,
    repeats: Mutex<Option<Arc<Repeats>>>,
}

impl Files {
    /// These files.
    pub(super) fn of(paths: Vec<PathBuf>) -> Self {
        Self { paths, repeats: Mutex::default() }
    }

    /// The same files, to be read in another way.
    pub(crate) fn anew(&self) -> Self {
        Self::of(self.paths.clone())
    }

    /// What stands in several of them, found by `find`; `None` where there is one.
    ///
    /// # Errors
    /// A file does not read.
    pub(super) fn repeats(
        &self,
        find: impl FnOnce(&[PathBuf]) -> Result<Repeats, SourceError>,
    ) -> Result<Option<Arc<Repeats>>, SourceError> {
        if self.paths.len() < 2 {
            return Ok(None);
        }
        let mut known = self.repeats.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(Arc::new(find(&self.paths)?));
        }
        Ok(known.clone())
    }
}

impl PartialEq for Files {
    fn eq(&self, other: &Self) -> bool {
        self.paths == other.paths
    }
}

impl Eq for Files {}

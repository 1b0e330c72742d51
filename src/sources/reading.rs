//! The user's settings for reading a log, and the data that the files of a log share.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use super::SourceError;
use super::map::Map;
use super::mask::Mask;
use super::repeats::Repeats;
use super::zone::Zone;

/// Settings that the files of a log do not contain.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The zone of times that name none; UTC if it is not given.
    pub zone: Option<Zone>,
    /// The map of a mapped table.
    pub map: Option<Arc<Map>>,
    /// What counts as the user of a Kubernetes pod; by default its namespace.
    pub user_from: Option<UserFrom>,
    /// The key by which names are replaced.
    pub mask: Option<Arc<Mask>>,
    /// The files of a log that has several.
    pub files: Files,
}

/// The files of a log that has several, in order, and the events that several of them contain.
pub type Files = Shared<Repeats>;

/// Files, and a value that is read from them once, when a parser first needs it.
#[derive(Debug)]
pub struct Shared<T> {
    paths: Vec<PathBuf>,
    known: Mutex<Option<Arc<T>>>,
}

impl<T> Shared<T> {
    /// A value that is read from these files.
    pub(super) fn of(paths: Vec<PathBuf>) -> Self {
        Self { paths, known: Mutex::default() }
    }

    /// The same files, with nothing read.
    pub(crate) fn anew(&self) -> Self {
        Self::of(self.paths.clone())
    }

    /// The value, which `read` makes at the first call.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn get(
        &self,
        read: impl FnOnce(&[PathBuf]) -> Result<T, SourceError>,
    ) -> Result<Arc<T>, SourceError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(read(&self.paths)?);
        *known = Some(Arc::clone(&found));
        Ok(found)
    }
}

impl Files {
    /// Their paths; none if there is only one.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The events that several files contain, found by `find`; `None` for fewer than two files.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn repeats(
        &self,
        find: impl FnOnce(&[PathBuf]) -> Result<Repeats, SourceError>,
    ) -> Result<Option<Arc<Repeats>>, SourceError> {
        if self.paths.len() < 2 { Ok(None) } else { self.get(find).map(Some) }
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self::of(Vec::new())
    }
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.paths == other.paths
    }
}

impl<T> Eq for Shared<T> {}

/// What counts as the user of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UserFrom {
    /// Its namespace.
    #[default]
    Namespace,
    /// The label with this key.
    Label(String),
}

impl fmt::Display for UserFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace => f.write_str("namespace"),
            Self::Label(key) => write!(f, "label:{key}"),
        }
    }
}

/// The text does not say what counts as the user of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is neither `namespace` nor `label:KEY`")]
pub struct UserFromError(String);

impl FromStr for UserFrom {
    type Err = UserFromError;

    fn from_str(text: &str) -> Result<Self, UserFromError> {
        match text.strip_prefix("label:") {
            Some(key) if !key.is_empty() => Ok(Self::Label(key.to_owned())),
            None if text == "namespace" => Ok(Self::Namespace),
            _ => Err(UserFromError(text.to_owned())),
        }
    }
}

//! Answers of studies in all formats: table, JSON, charts and notes.
//!
//! In: the results of a study. Out: an [`Answer`](crate::results::store::Answer), with the same
//! table, charts and captions on a terminal, in a file and on a page. A file per study.

pub mod account;
pub mod analysis;
pub(crate) mod assumed;
pub mod classify;
pub(crate) mod condition;
pub mod definitions;
pub mod describe;
pub mod detect;
pub mod edges;
pub mod episodes;
pub mod fairness;
pub(crate) mod flow;
pub mod form;
mod grouped;
pub mod ingest;
pub(crate) mod labels;
pub mod list;
pub mod load;
pub mod machines;
pub mod monthly;
pub mod pass;
pub mod predict;
pub(crate) mod quality;
pub mod replay;
pub mod reproduce;
pub mod sentences;
pub mod spread;
pub mod study;
pub mod sweep;
pub mod verify;
pub mod words;
pub mod work;

/// A note of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Useful information.
    Note(String),
    /// An assumption that was made.
    Assumption(String),
    /// Something that the user should check.
    Warning(String),
}

impl Said {
    /// Useful information.
    pub(crate) fn note(text: impl AsRef<str>) -> Self {
        Self::Note(text.as_ref().to_owned())
    }

    /// Something that the user should check.
    pub(crate) fn warning(text: impl AsRef<str>) -> Self {
        Self::Warning(text.as_ref().to_owned())
    }
}

//! Kinds of results: the name, titles and tables of each kind, in storage and on pages.
//!
//! In: nothing. Out: one [`Kind`] per result, defined next to its study. Captions, pages and
//! sentences of a report follow from it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::envelope::{Envelope, again};
use crate::schema::{JOINED_SAMPLE, SEVERAL_INSTANCES, Table};

/// A function that says in one sentence what was found, from a whole stored result.
pub type Sentence = fn(&Envelope) -> Option<String>;

/// A function that returns the names in a stored result, each with its meaning in one line.
pub type Names = fn(&Envelope) -> Vec<(String, String)>;

/// The first words of the assumptions that matter for every answer: what a task is, and whether the
/// lake has only some of the rows of the trace.
pub const FOR_ALL: [&str; 2] = [SEVERAL_INSTANCES, JOINED_SAMPLE];

/// A kind of result.
#[derive(Clone, Copy, Debug)]
pub struct Kind<'a> {
    /// The name of the kind, which its files have as well.
    pub name: &'a str,
    /// The title for readers; `None` if the name is the title.
    pub caption: Option<&'static str>,
    /// The titles of further tables, by name. Also that of the first table, if it differs from
    /// `caption`.
    pub captions: &'static [(&'static str, &'static str)],
    /// Whether the first table is below the other tables on a page.
    pub is_table_last: bool,
    /// The tables of the lake that the result needs; empty if it needs all tables.
    pub tables: &'static [Table],
    /// Whether the result also needs `task_usage`, if its definition of CPU or memory does.
    pub meters: bool,
    /// The first words of the assumptions that matter for this kind, in addition to [`FOR_ALL`].
    pub remarks: &'static [&'static str],
    /// Reads an answer as the type of its study, and writes it again.
    pub form: Option<fn(&Value) -> serde_json::Result<Value>>,
    /// A sentence that says what was found.
    pub sentence: Option<Sentence>,
    /// A further sentence about the quality of the data.
    pub quality: Option<Sentence>,
    /// The meanings of the names in the result, such as those of rules or detectors.
    pub names: Option<Names>,
    /// Whether a page explains the names before the charts, because curves have these names.
    pub names_first: bool,
    /// Headings between the charts on a page: the first letters of the names of charts, and the
    /// heading above the first of these charts.
    pub parts: &'static [(&'static str, &'static str)],
    /// How the names of charts end that do not answer the question. A page folds these charts after
    /// the others.
    pub folded: &'static [&'static str],
    /// The first letters of the name of the chart that the overview shows.
    pub figure: Option<&'static str>,
    /// The items of the result that have separate pages in a report.
    pub pages: Option<Pages>,
}

/// The items that have separate pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Users and classes of machines.
    Users,
    /// Jobs.
    Jobs,
    /// Machines.
    Machines,
}

impl<'a> Kind<'a> {
    /// A kind with only a name.
    pub const fn of(name: &'a str) -> Self {
        Self {
            name,
            caption: None,
            captions: &[],
            is_table_last: false,
            tables: &[],
            meters: false,
            remarks: &["status "],
            form: None,
            sentence: None,
            quality: None,
            names: None,
            names_first: false,
            parts: &[],
            folded: &[],
            figure: None,
            pages: None,
        }
    }

    /// A kind with a name and a caption.
    #[must_use]
    pub const fn called(name: &'a str, caption: &'static str) -> Self {
        Self { caption: Some(caption), ..Self::of(name) }
    }

    /// Sets the type of its answers.
    #[must_use]
    pub const fn holding<T: Serialize + DeserializeOwned>(self) -> Self {
        Self { form: Some(again::<T>), ..self }
    }

    /// The title of one of the tables. The title of the first table is `caption` unless `captions`
    /// has one.
    pub fn title_of_table(&self, name: &str) -> Option<&'static str> {
        let own = self.captions.iter().find(|(table, _)| *table == name);
        own.map(|(_, title)| *title).or_else(|| self.caption_of(name))
    }

    /// The caption of the result or of one of its tables.
    pub fn caption_of(&self, name: &str) -> Option<&'static str> {
        let further = self.captions.iter().find(|(table, _)| *table == name);
        if name == self.name { self.caption } else { further.map(|(_, caption)| *caption) }
    }
}

//! Kinds of results: the name, titles and tables of each, wherever it is stored or shown.
//!
//! In: nothing. Out: one [`Kind`] per result, defined next to its study. Captions, pages and
//! sentences of a report follow from it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::envelope::{Envelope, again};
use crate::schema::{JOINED_SAMPLE, SEVERAL_INSTANCES, Table};

/// Says in one sentence what was found, from the whole of a stored result.
pub type Sentence = fn(&Envelope) -> Option<String>;

/// What the names in a stored result mean, each in one line: a name and its meaning.
pub type Names = fn(&Envelope) -> Vec<(String, String)>;

/// The first words of the assumptions that matter for every answer: what a task is, and whether the
/// rows are only some of the trace.
pub const FOR_ALL: [&str; 2] = [SEVERAL_INSTANCES, JOINED_SAMPLE];

/// A kind of result.
#[derive(Clone, Copy, Debug)]
pub struct Kind<'a> {
    /// Its name, which is also that of its files.
    pub name: &'a str,
    /// Its title for a reader; `None` if its name is the title.
    pub caption: Option<&'static str>,
    /// The titles of its further tables, by name, and of its first if that is not its caption.
    pub captions: &'static [(&'static str, &'static str)],
    /// Whether its first table stands below the others on a page.
    pub is_table_last: bool,
    /// The tables of the lake that it is made of; empty if it is made of all.
    pub tables: &'static [Table],
    /// Whether it is also made of `task_usage`, if its definition of CPU or memory needs that.
    pub meters: bool,
    /// The first words of the assumptions that matter for it, besides [`FOR_ALL`].
    pub remarks: &'static [&'static str],
    /// Reads an answer as the type of its study, and writes it again.
    pub form: Option<fn(&Value) -> serde_json::Result<Value>>,
    /// What was found, in a sentence.
    pub sentence: Option<Sentence>,
    /// A further sentence about the quality of the data.
    pub quality: Option<Sentence>,
    /// What its names mean, such as those of rules or detectors.
    pub names: Option<Names>,
    /// Whether a page explains the names before the charts, whose curves have them.
    pub names_first: bool,
    /// Headings among its charts on a page: the first letters of the names of charts, and the heading
    /// above the first of them.
    pub parts: &'static [(&'static str, &'static str)],
    /// How the names of charts end that a page folds after the others, since they do not answer its
    /// question.
    pub folded: &'static [&'static str],
    /// The first letters of the name of the chart that the overview shows.
    pub figure: Option<&'static str>,
    /// Which of its items have their own pages in a report.
    pub pages: Option<Pages>,
}

/// The items that have their own pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Its users and its classes of machines.
    Users,
    /// Its jobs.
    Jobs,
    /// Its machines.
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

    /// The title of one of its tables. That of the first is its caption, unless it has its own.
    pub fn title_of_table(&self, name: &str) -> Option<&'static str> {
        let own = self.captions.iter().find(|(table, _)| *table == name);
        own.map(|(_, title)| *title).or_else(|| self.caption_of(name))
    }

    /// Its caption, or that of one of its tables.
    pub fn caption_of(&self, name: &str) -> Option<&'static str> {
        let further = self.captions.iter().find(|(table, _)| *table == name);
        if name == self.name { self.caption } else { further.map(|(_, caption)| *caption) }
    }
}

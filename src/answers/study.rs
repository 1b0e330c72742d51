//! The definition of a study: its command, its results, its page, and its step in an analysis.
//!
//! In: plans and functions of the studies. Out: the types of the
//! [list](crate::answers::STUDIES), and [`Work`], which a step gets when it runs. A study does not
//! print: it reports through a [`Screen`], which the command line implements.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answers::Said;
pub use crate::answers::definitions::{DEFINITIONS, Definitions};
use crate::answers::form::Form;
use crate::answers::sentences::capital;
use crate::answers::spread::{Errand, Folded, Parts, study};
use crate::answers::words::{self, Section, Setting, Wrong};
use crate::defaults::Defaults;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::files::FolderLock;
use crate::lake::{Lake, TableEntry};
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::store::{self, Answer, Files, Origin};
use crate::schema::Table;
use crate::studies::fold::{Asked, Study as Outcomes};

/// The options of a study. The same struct is used for the flags of its command, for a section of
/// the file of an analysis, and for its results.
pub trait Plan: Serialize + DeserializeOwned + Default {
    /// Adopts the definitions that all studies share.
    fn define(&mut self, definitions: &Definitions) {
        let _ = definitions;
    }

    /// Adopts the definitions of a single question, including those that the question refuses. An
    /// analysis shares its definitions, so a study ignores those that do not apply to it.
    fn choose(&mut self, definitions: &Definitions) {
        self.define(definitions);
    }

    /// Checks that the options can be combined.
    ///
    /// # Errors
    /// The options cannot be combined; the text gives the options and the reason.
    fn check(&self) -> Result<(), Usage> {
        Ok(())
    }

    /// Makes the additional checks for a single question. They do not apply to an analysis, because
    /// it fills in options later, and one section may ask several questions.
    ///
    /// # Errors
    /// The options cannot be combined; the text gives the options and the reason.
    fn check_alone(&self) -> Result<(), Usage> {
        Ok(())
    }

    /// The plans in a section: one by default.
    ///
    /// # Errors
    /// The section has an option that the plan does not have, or a value that it does not take.
    fn all(section: &Section) -> Result<Vec<Self>, Wrong> {
        let plan: Self = words::read(section)?;
        plan.check().map_err(serde::de::Error::custom)?;
        Ok(vec![plan])
    }
}

/// The topic of several results: a page of a report.
#[derive(Debug, PartialEq, Eq)]
pub struct Topic {
    /// The name of the file of the page.
    pub file: &'static str,
    /// The title of the page.
    pub title: &'static str,
    /// The question that the page answers.
    pub question: &'static str,
    /// The effect on the answer if parts of its tables are not loaded; empty if unknown.
    pub if_cut: &'static str,
}

/// A study: a row of the list.
#[derive(Debug)]
pub struct Study {
    /// The name of the study, of its command, of its step and of its section.
    pub name: &'static str,
    /// The question that the command answers, for the table of commands.
    pub answers: &'static str,
    /// The page with its results.
    pub topic: &'static Topic,
    /// The results of the study, in their order on the page.
    pub results: &'static [Kind<'static>],
    /// Its form in the portal, if it has one.
    pub form: Option<Form>,
    /// Its step in an analysis, if it has one.
    pub step: Option<Step>,
}

/// The functions that read the section of a study.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Checks that a section can be read.
    pub check: fn(&Section) -> Result<(), Wrong>,
    /// Makes the same check for a single question, whose options include its definitions.
    pub check_alone: fn(&Section) -> Result<(), Wrong>,
    /// The default options of the section.
    pub usual: fn() -> Section,
}

impl Reader {
    /// The reader of a plan.
    pub const fn of<P: Plan>() -> Self {
        Self {
            check: |section| P::all(section).map(drop),
            check_alone: check_question::<P>,
            usual: || words::write(&P::default()),
        }
    }
}

/// Checks a single question.
fn check_question<P: Plan>(section: &Section) -> Result<(), Wrong> {
    let is_definition = |option: &str| DEFINITIONS.contains(&option);
    let (given, own): (Section, Section) =
        section.clone().into_iter().partition(|(option, _)| is_definition(option));
    let mut plans = P::all(&own)?;
    let definitions: Definitions = words::read(&given)?;
    let checked = plans.iter_mut().try_for_each(|plan| {
        plan.choose(&definitions);
        plan.check()?;
        plan.check_alone()
    });
    checked.map_err(serde::de::Error::custom)
}

/// The verdict of a step about the lake, for the end of an analysis.
#[derive(Debug)]
pub struct Verdict {
    /// The note to show.
    pub note: Option<String>,
    /// An error if the lake fails its checks.
    pub result: Result<()>,
}

/// The step of a study in an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Runs the step.
    pub run: fn(&Work<'_>) -> Result<Option<Verdict>>,
    /// The options of `[definitions]` that the step uses.
    pub shares: &'static [&'static str],
    /// The reader of its section, if it has one.
    pub section: Option<Reader>,
    /// Sets the options that have no value in its section, from the lake.
    pub settle: fn(&mut Open<'_>),
    /// Options of its section that follow from the kind of trace.
    pub of_source: &'static [&'static str],
    /// Whether the step checks the lake: it runs first in every run, and its verdict comes last.
    pub is_check: bool,
    /// Whether the results of the step have a separate folder.
    pub has_folder: bool,
    /// The part of the step that a shared pass over the lake, or the workers of a cluster, can do;
    /// `None` if there is no such part.
    pub errand: Option<fn(&Work<'_>) -> Result<Errand>>,
}

impl Step {
    /// A step without a section.
    pub const fn plain(
        run: fn(&Work<'_>) -> Result<Option<Verdict>>,
        shares: &'static [&'static str],
    ) -> Self {
        Self {
            run,
            shares,
            section: None,
            settle: |_| (),
            of_source: &[],
            is_check: false,
            has_folder: false,
            errand: None,
        }
    }

    /// A step with a plan.
    pub const fn of<P: Plan>(
        run: fn(&Work<'_>) -> Result<Option<Verdict>>,
        shares: &'static [&'static str],
    ) -> Self {
        Self { section: Some(Reader::of::<P>()), ..Self::plain(run, shares) }
    }

    /// Adds the part that a shared pass or workers can do.
    #[must_use]
    pub const fn spread(self, errand: fn(&Work<'_>) -> Result<Errand>) -> Self {
        Self { errand: Some(errand), ..self }
    }

    /// Adds the function that sets the options without a value, and the options that follow from
    /// the kind of trace.
    #[must_use]
    pub const fn settled(
        self,
        settle: fn(&mut Open<'_>),
        of_source: &'static [&'static str],
    ) -> Self {
        Self { settle, of_source, ..self }
    }
}

/// A section whose options without a value are set for a lake.
pub struct Open<'a> {
    /// The options that already have a value.
    pub section: &'a mut Section,
    /// The lake.
    pub lake: &'a Lake,
    /// The defaults for its kind of trace.
    pub usual: Defaults,
    /// The default windows of the lake.
    pub windows: Windows,
}

impl Open<'_> {
    /// Whether an option is set.
    pub fn has(&self, option: &str) -> bool {
        self.section.contains_key(option)
    }

    /// Sets an option that has no value yet.
    pub fn default_to(&mut self, option: &str, setting: impl Into<Setting>) {
        let settle = || setting.into();
        self.section.entry(option.to_owned()).or_insert_with(settle);
    }
}

/// The results of a study: an answer, its further tables, and its notes.
pub trait Found {
    /// The notes about the sums.
    fn notes(&self) -> Vec<String>;

    /// Stores the further tables.
    ///
    /// # Errors
    /// A file could not be written.
    fn put_details(&self, files: &mut Files) -> Result<()>;

    /// The answer in all its forms.
    fn answer(&self, windows: Windows) -> Answer<'_>;
}

/// Shows notes, progress and tables while a study runs, and takes its answer.
pub trait Screen {
    /// Adds a note to the answer.
    fn say(&self, said: &Said);

    /// Adds several notes to the answer.
    fn say_all(&self, said: &[Said]) {
        for one in said {
            self.say(one);
        }
    }

    /// Shows progress, counted in `units`, until the returned value is dropped.
    fn follow(&self, what: &str, units: &'static str) -> Box<dyn Any>;

    /// Shows a table under a title.
    ///
    /// # Errors
    /// The table cannot be shown.
    fn show(&self, title: &str, table: &RecordBatch) -> Result<()>;

    /// Shows a line of data.
    ///
    /// # Errors
    /// The line cannot be shown.
    fn line(&self, text: &str) -> Result<()>;

    /// Stores an answer, if files are given, and shows it.
    ///
    /// # Errors
    /// The answer cannot be stored or shown.
    fn give(&self, answer: &Answer<'_>, files: Option<Files>, origin: &Origin) -> Result<()>;
}

/// The input of a step.
pub struct Work<'a> {
    /// The study.
    pub study: &'static Study,
    /// The lake.
    pub lake: &'a Lake,
    /// Whether this run wrote every part of the lake.
    pub is_just_written: bool,
    /// The ends of the windows of the lake.
    pub windows: Windows,
    /// The definitions that studies share.
    pub definitions: Definitions,
    /// The options of the study.
    pub section: &'a Section,
    /// The lock on the folder of the results.
    pub lock: &'a Arc<FolderLock>,
    /// The parts that workers of a cluster have computed from the buckets, if workers are used.
    pub parts: Option<&'a Parts>,
    /// The results of a pass over the lake for several studies.
    pub folded: &'a Folded,
    /// The screen for notes and tables.
    pub screen: &'a dyn Screen,
}

impl Work<'_> {
    /// The folder of the results.
    pub fn out(&self) -> &Path {
        self.lock.folder()
    }

    /// Adds a note.
    pub fn note(&self, text: impl AsRef<str>) {
        self.screen.say(&Said::note(text));
    }

    /// The plans in the section.
    ///
    /// # Errors
    /// An option has a value that it does not take.
    pub fn plans<P: Plan>(&self) -> Result<Vec<P>, Usage> {
        plans_of(self.study.name, self.section, &self.definitions)
    }

    /// The only plan.
    ///
    /// # Errors
    /// An option has a value that it does not take.
    pub fn plan<P: Plan>(&self) -> Result<P, Usage> {
        Ok(self.plans::<P>()?.into_iter().next().unwrap_or_default())
    }

    /// The requested outcomes: from the shared pass, merged from the parts of workers, or folded
    /// now.
    ///
    /// # Errors
    /// The lake or the part of a worker cannot be read.
    pub fn outcomes(&self, asked: &Asked) -> Result<Outcomes> {
        match self.folded.outcomes(self.study.name) {
            Some(outcomes) => Ok(outcomes),
            None => study(self.lake, self.windows, asked, self.parts),
        }
    }

    /// Begins the files of an answer.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn files(&self, name: &str) -> Result<Files> {
        Files::within(self.lock, name)
    }

    /// Begins the files of the study in the study's folder.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn own_files(&self) -> Result<Files> {
        self.own_files_of(self.study.name)
    }

    /// Begins the files of one result of the study, in the study's folder.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn own_files_of(&self, name: &str) -> Result<Files> {
        let (lock, note) = store::lock(&self.out().join(self.study.name))?;
        if let Some(note) = note {
            self.note(note);
        }
        Files::within(&lock, name)
    }

    /// Runs a study, stores its results, and shows its notes under a title.
    ///
    /// # Errors
    /// The study fails, or its files cannot be written.
    pub fn study<S: Found>(
        &self,
        title: &str,
        kind: Kind<'_>,
        study: impl FnOnce() -> Result<S>,
    ) -> Result<Option<Verdict>> {
        let bar = self.screen.follow(kind.name, "rows");
        let studied = study()?;
        drop(bar);
        let mut files = self.files(kind.name)?;
        studied.put_details(&mut files)?;
        self.publish(&studied.answer(self.windows), files)?;
        self.screen.line(&format!("\n{title}"))?;
        studied.notes().iter().for_each(|note| self.note(note));
        Ok(None)
    }

    /// Stores an answer under its name.
    ///
    /// # Errors
    /// The answer cannot be written.
    pub fn store(&self, answer: &Answer<'_>) -> Result<()> {
        self.publish(answer, self.files(answer.kind.name)?)
    }

    /// Stores an answer that has further files.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn publish(&self, answer: &Answer<'_>, files: Files) -> Result<()> {
        files.publish(answer.kind.name, answer, &Origin::of(self.lake)).map(|_| ())
    }

    /// Shows the whole answer, or the reason why there is none.
    ///
    /// # Errors
    /// The text cannot be shown.
    pub fn show(&self, title: &str, answer: &Answer<'_>) -> Result<()> {
        match answer.json[store::NOTHING].as_str() {
            Some(nothing) => self.screen.line(&format!("\n{title}\n{nothing}")),
            None => self.screen.show(title, answer.table),
        }
    }

    /// Whether a table is missing or empty. If so, the result is left out: a note says so, and the
    /// reason is stored.
    ///
    /// # Errors
    /// The reason cannot be stored.
    pub fn is_missing(&self, table: Table, kind: Kind<'_>) -> Result<bool> {
        let rows = self.lake.manifest.table(table).map(TableEntry::rows);
        let is_of_log = self.lake.source().is_log() && table == Table::MachineEvents;
        let why = match rows {
            None | Some(0) if is_of_log => "the log records no machines".to_owned(),
            None => format!("the table `{table}` is not loaded"),
            Some(0) => format!("the table `{table}` is empty"),
            Some(_) => return Ok(false),
        };
        self.leave_out(kind, &why)?;
        Ok(true)
    }

    /// Leaves a result out: adds a note and stores the reason.
    ///
    /// # Errors
    /// The reason cannot be stored.
    pub fn leave_out(&self, kind: Kind<'_>, why: &str) -> Result<()> {
        self.note(format!("skipped: {}: {why}", kind.name));
        let nothing = format!("{}.", capital(why));
        let table = Frame::default().text(store::NOTHING, [nothing.as_str()]).batch();
        let answer = Answer {
            kind,
            table: &table,
            json: json!({ store::NOTHING: nothing }),
            settings: json!({}),
            charts: Vec::new(),
        };
        if self.study.step.is_some_and(|step| step.has_folder) {
            self.own_files()?.publish(store::RESULT, &answer, &Origin::of(self.lake))?;
        } else {
            self.store(&answer)?;
        }
        Ok(())
    }
}

/// The plans in a section, with the definitions that studies share.
///
/// # Errors
/// An option has a value that it does not take.
pub fn plans_of<P: Plan>(
    name: &str,
    section: &Section,
    definitions: &Definitions,
) -> Result<Vec<P>, Usage> {
    let mut plans = P::all(section).map_err(|wrong| Usage(format!("[{name}]: {wrong}")))?;
    for plan in &mut plans {
        plan.define(definitions);
    }
    Ok(plans)
}

/// The settings of a result: every option of the plan, with keys in snake case like all keys of a
/// result. `resolved` has values that were filled in for the lake; they replace the given ones.
pub fn settings<P: Serialize>(plan: &P, resolved: Value) -> Value {
    let object = |value: Value| match value {
        Value::Object(object) => object,
        _ => serde_json::Map::new(),
    };
    let plan = object(serde_json::to_value(plan).unwrap_or_default());
    let mut all: serde_json::Map<String, Value> =
        plan.into_iter().map(|(key, value)| (key.replace('-', "_"), value)).collect();
    all.extend(object(resolved));
    Value::Object(all)
}

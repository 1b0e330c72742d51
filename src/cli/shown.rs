//! Prints answers on stdout, and stores them in the folder of `--out`.
//!
//! In: an answer and a format. Out: a table that fits the terminal, CSV, JSON or Parquet; notes go
//! to stderr.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use serde_json::Value;

use super::{AnswerArgs, AttemptArgs, Form, Format, console};
use jobfate::answers::Said;
use jobfate::answers::study::{Found, Screen};
use jobfate::facts::window::Windows;
use jobfate::faults::Result;
use jobfate::files::FolderLock;
use jobfate::lake::Lake;
use jobfate::results::forms::{self, Made};
use jobfate::results::kind::Kind;
use jobfate::results::store::{
    self, Answer, Files, NOTHING, Origin, RESULT, made_from, with_table,
};
use jobfate::results::view::{self, View};

/// Prepares the files of an answer if `--out` is given, before a computation that may take long.
pub(crate) fn files(out: Option<&Path>, name: &str) -> Result<Option<Files>> {
    out.map(|out| Files::within(&lock(out)?, name)).transpose()
}

/// Creates a folder and keeps other processes from writing results into it.
pub(crate) fn lock(folder: &Path) -> Result<Arc<FolderLock>> {
    let (lock, note) = store::lock(folder)?;
    note.iter().for_each(console::note);
    Ok(lock)
}

/// Runs a study of a lake and shows its result according to `--out` and the flags of the answer.
pub(crate) fn study<S: Found>(
    kind: &Kind<'_>,
    args: &AnswerArgs,
    attempts: AttemptArgs,
    study: impl FnOnce(&Lake, Windows) -> Result<S>,
) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    let windows = super::windows(&lake, args)?.closing(attempts.open_attempts);
    super::show_remarks_for_all(&lake);
    let mut files = files(args.out.as_deref(), kind.name)?;
    let bar = console::Bar::of_work(kind.name, "rows");
    let studied = study(&lake, windows)?;
    drop(bar);
    studied.notes().into_iter().for_each(console::note);
    if let Some(files) = &mut files {
        studied.put_details(files)?;
    }
    give(&studied.answer(windows), files, &Origin::of(&lake), &args.form())
}

/// Stores the answer and its further files if `--out` is given, and prints it on stdout.
pub(crate) fn give(
    answer: &Answer,
    files: Option<Files>,
    origin: &Origin,
    form: &Form,
) -> Result<()> {
    if let Some(note) = origin.gap_note(answer) {
        console::note(note);
    }
    // A column that does not exist is refused before anything is stored.
    form.view.check(answer.table)?;
    if let Some(files) = files {
        let path = files.drawn_as(form.pictures.clone()).publish(RESULT, answer, origin)?;
        console::note(format!("wrote {}", path.display()));
    }
    show(answer.table, form, &answer.json, &made_from(origin, &answer.settings))
}

/// Prints an answer on stdout: a table in the requested format, or JSON with its origin. If the
/// answer is empty, a sentence with the reason replaces the table.
pub(crate) fn show(table: &RecordBatch, form: &Form, json: &Value, made: &Made) -> Result<()> {
    let bytes = match form.format {
        Format::Table => match json[NOTHING].as_str() {
            Some(nothing) => format!("{nothing}\n").into_bytes(),
            None => return show_table(table, &form.view),
        },
        Format::Json => format!("{}\n", with_table(json, table, made)).into_bytes(),
        Format::Csv => forms::csv(&form.view.of(table)?)?,
        Format::Parquet => forms::parquet(&form.view.of(table)?, made)?,
    };
    Ok(console::data_bytes(&bytes)?)
}

/// Prints a table on stdout so that it fits the terminal. If stdout is not a terminal, the whole
/// table is printed.
pub(crate) fn show_table(table: &RecordBatch, view: &View) -> Result<()> {
    let chosen = view.of(table)?;
    let Some(width) = view.width.or_else(console::width).filter(|&width| 0 < width) else {
        return Ok(console::data(&view::table(&chosen))?);
    };
    let (shown, others) = view.of_terminal(&chosen)?;
    console::data(&view::fitted(&shown, width))?;
    if !others.is_empty() {
        console::note(format!("further columns (--columns all): {}", others.join(", ")));
    }
    Ok(())
}

/// The output of a study on the command line.
#[derive(Debug, Default)]
pub(crate) struct Terminal {
    /// The form of answers on stdout.
    pub form: Form,
}

impl Screen for Terminal {
    fn say(&self, said: &Said) {
        console::say(said);
    }

    fn follow(&self, what: &str, units: &'static str) -> Box<dyn Any> {
        Box::new(console::Bar::of_work(what, units))
    }

    fn show(&self, title: &str, table: &RecordBatch) -> Result<()> {
        console::data(&format!("\n{title}\n"))?;
        show_table(table, &View::default())
    }

    fn line(&self, text: &str) -> Result<()> {
        Ok(console::data(&format!("{text}\n"))?)
    }

    fn give(&self, answer: &Answer<'_>, files: Option<Files>, origin: &Origin) -> Result<()> {
        give(answer, files, origin, &self.form)
    }
}

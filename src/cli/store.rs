//! Keeps an answer: `result.json`, the table as CSV, and the charts, in the folder of `--out`.
//!
//! In: an outcome and what it was made from. Out: files from which the report is built without
//! running anything again. Every `result.json` carries the command line, the settings, the
//! program's version and the checksums of the input.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::render::{parquet_writer, render};
use super::{AnswerArgs, Format, console};
use crate::charts::{Chart, write_chart};
use crate::lake::Lake;
use crate::report::RESULT_VERSION;
use crate::sources::hex;

/// An answer in all its forms.
pub(crate) struct Answer<'a> {
    /// The command, which names the files.
    pub name: &'a str,
    /// The table.
    pub table: &'a RecordBatch,
    /// The JSON value of the contract.
    pub json: Value,
    /// Definitions and choices that move the numbers.
    pub settings: Value,
    /// Charts by the stem of their file.
    pub charts: Vec<(String, Chart)>,
}

/// One table of the lake that an answer was made from.
#[derive(Serialize)]
pub(crate) struct Input {
    table: String,
    parts: String,
    rows: u64,
    /// SHA-256 over the SHA-256 sums of the raw parts, in the order of their numbers.
    sha256: String,
}

/// The whole analysis that answers are part of, as resolved; once in a process.
static ANALYSIS: OnceLock<Value> = OnceLock::new();

/// From here on every result holds the analysis that it is part of.
pub(crate) fn set_analysis(analysis: Value) {
    // A process runs one analysis: a second would be told by its results as the first.
    let is_first = ANALYSIS.set(analysis).is_ok();
    debug_assert!(is_first, "one analysis in a process");
}

/// Stores the answer if `--out` is given, and gives it on stdout.
pub(crate) fn give(answer: &Answer, lake: &Lake, args: &AnswerArgs) -> Result<()> {
    give_from(answer, &Origin::of(lake), args)
}

/// Where the numbers of an answer come from, as it is stored with them.
pub(crate) struct Origin {
    /// The kind of trace.
    pub source: Value,
    /// The tables and their checksums.
    pub inputs: Value,
}

impl Origin {
    fn of(lake: &Lake) -> Self {
        Self { source: json!(lake.manifest.source), inputs: json!(inputs(lake)) }
    }
}

/// The same for an answer that no lake has given.
pub(crate) fn give_from(answer: &Answer, origin: &Origin, args: &AnswerArgs) -> Result<()> {
    if let Some(folder) = &args.out {
        store_as("result", answer, origin, folder)?;
        console::note(format!("wrote {}", folder.join("result.json").display()));
    }
    Ok(console::data_bytes(&render(answer.table, args.format, Some(&answer.json))?)?)
}

/// Writes the files of one answer of several into `folder`.
pub(crate) fn store(answer: &Answer, lake: &Lake, folder: &Path) -> Result<()> {
    store_as(answer.name, answer, &Origin::of(lake), folder)
}

/// Writes the files of the only answer of a folder, the JSON as `result.json`.
pub(crate) fn store_result(answer: &Answer, lake: &Lake, folder: &Path) -> Result<()> {
    store_as("result", answer, &Origin::of(lake), folder)
}

/// The same for the only answer of a folder from several lakes; `source` is that of the first.
pub(crate) fn store_lakes(answer: &Answer, lakes: &[&Lake], folder: &Path) -> Result<()> {
    let inputs: Vec<Input> = lakes.iter().flat_map(|lake| inputs(lake)).collect();
    let origin = Origin { source: json!(lakes[0].manifest.source), inputs: json!(inputs) };
    store_as("result", answer, &origin, folder)
}

/// Writes a further table of an answer into `folder`, as `<stem>.csv`.
pub(crate) fn store_table(stem: &str, table: &RecordBatch, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("could not make `{}`", folder.display()))?;
    let path = folder.join(format!("{stem}.csv"));
    fs::write(&path, render(table, Format::Csv, None)?)
        .with_context(|| format!("could not write `{}`", path.display()))
}

/// A further table of an answer that comes in pieces, as `<stem>.csv` and `<stem>.parquet`.
pub(crate) struct Rows {
    path: PathBuf,
    text: BufWriter<fs::File>,
    columns: ArrowWriter<fs::File>,
}

impl Rows {
    /// Begins the files with a table of no rows, which names the columns.
    pub(crate) fn new(stem: &str, empty: &RecordBatch, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| format!("could not make `{}`", folder.display()))?;
        let create = |end: &str| {
            let path = folder.join(format!("{stem}.{end}"));
            fs::File::create(&path).with_context(|| format!("could not write `{}`", path.display()))
        };
        let columns = parquet_writer(create("parquet")?, empty.schema())?;
        let mut rows = Self {
            path: folder.join(format!("{stem}.csv")),
            text: BufWriter::new(create("csv")?),
            columns,
        };
        let header = render(empty, Format::Csv, None)?;
        rows.write(&header)?;
        Ok(rows)
    }

    fn write(&mut self, lines: &[u8]) -> Result<()> {
        let wrote = self.text.write_all(lines);
        wrote.with_context(|| self.failed("csv"))
    }

    /// Writes some rows.
    pub(crate) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let lines = render(batch, Format::Csv, None)?;
        let header = lines.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.write(&lines[header..])?;
        self.columns.write(batch).with_context(|| self.failed("parquet"))
    }

    fn failed(&self, end: &str) -> String {
        format!("could not write `{}`", self.path.with_extension(end).display())
    }

    /// Ends the files.
    pub(crate) fn finish(mut self) -> Result<()> {
        let wrote = self.text.flush();
        wrote.with_context(|| self.failed("csv"))?;
        let wrote = self.columns.finish();
        wrote.map(|_| ()).with_context(|| self.failed("parquet"))
    }
}

/// Writes a further table of an answer into `folder`, as `<stem>.parquet`.
pub(crate) fn store_parquet(stem: &str, table: &RecordBatch, folder: &Path) -> Result<()> {
    let path = folder.join(format!("{stem}.parquet"));
    fs::write(&path, render(table, Format::Parquet, None)?)
        .with_context(|| format!("could not write `{}`", path.display()))
}

/// Writes the files of an answer into `folder`, the JSON as `<stem>.json`.
fn store_as(stem: &str, answer: &Answer, origin: &Origin, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("could not make `{}`", folder.display()))?;
    let write = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).with_context(|| format!("could not write `{}`", path.display()))
    };
    let mut result = json!({
        "program": crate::PROGRAM,
        "format_version": RESULT_VERSION,
        "name": answer.name,
        "command": command(),
        "source": origin.source,
        "inputs": origin.inputs,
        "settings": answer.settings,
        "charts": answer.charts.iter().map(|(stem, chart)| {
            json!({"file": stem, "title": chart.title(), "caption": chart.caption()})
        }).collect::<Vec<Value>>(),
        "answer": answer.json,
    });
    if let Some(analysis) = ANALYSIS.get() {
        result["analysis"] = analysis.clone();
    }
    let mut text = serde_json::to_string_pretty(&result).context("an answer is plain data")?;
    text.push('\n');
    write(format!("{stem}.json"), text.as_bytes())?;
    write(format!("{}.csv", answer.name), &render(answer.table, Format::Csv, None)?)?;
    store_parquet(answer.name, answer.table, folder)?;
    for (stem, chart) in &answer.charts {
        write_chart(chart, folder, stem)?;
    }
    Ok(())
}

/// The command line; wherever the program lies, it is called by its name.
fn command() -> Vec<String> {
    std::iter::once("jobfate".to_owned()).chain(std::env::args().skip(1)).collect()
}

/// The tables of a lake and their checksums.
pub(crate) fn inputs(lake: &Lake) -> Vec<Input> {
    lake.manifest
        .tables
        .iter()
        .map(|(table, entry)| {
            let mut hasher = Sha256::new();
            entry.parts.iter().for_each(|part| hasher.update(part.sha256.as_bytes()));
            Input {
                table: table.clone(),
                parts: entry.part_ranges(),
                rows: entry.rows(),
                sha256: hex(&hasher.finalize()),
            }
        })
        .collect()
}

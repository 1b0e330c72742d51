//! Stores an answer: `result.json`, the table as CSV and Parquet, and the charts, in the folder of
//! `--out`.
//!
//! In: an answer and its origin. Out: files from which the report is built without another run.
//! Every `result.json` has the command line, the settings, the version of the program, and the
//! checksums of the inputs and of the other files.

use std::fs::{self, File};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use super::commit::{self, Earlier, WORK};
pub use super::envelope::NOTHING;
use super::envelope::{Drawn, Envelope, Input, is_left_out};
use super::files::ResultFile;
use super::forms::{self, Made, parquet_writer};
pub use super::inputs::inputs;
use super::kind::Kind;
use super::layout::laid_out;
use super::points::points;
use super::scope::{scope, tables_of};
use super::stored::RESULT_VERSION;
use crate::charts::{Chart, ChartFormat, Look, file_of, worth_drawing};
use crate::faults::{Bug, Context, Hindered, Result};
use crate::files::{self, FolderLock, Summed};
use crate::lake::gaps::note_of;
use crate::lake::{Gap, Lake};

/// An answer in all its forms.
pub struct Answer<'a> {
    /// The kind of result; the names of the files start with its name.
    pub kind: Kind<'a>,
    /// The table.
    pub table: &'a RecordBatch,
    /// The answer as JSON.
    pub json: Value,
    /// Definitions and choices that affect the numbers.
    pub settings: Value,
    /// Charts, each with the name of its file without the ending.
    pub charts: Vec<(String, Chart)>,
}

/// An analysis after all choices were made, with its identifier.
pub struct Whole {
    /// A SHA-256 over its `analysis.toml` and the checksums of what it reads.
    pub sha256: String,
    /// The choices.
    pub asks: Value,
    /// Whether the numbers of its charts are also stored.
    pub has_chart_data: bool,
}

/// The analysis to which answers belong; at most one per process.
static ANALYSIS: OnceLock<Whole> = OnceLock::new();

/// Sets the analysis to which all further results belong.
pub fn set_analysis(analysis: Whole) {
    let is_first = ANALYSIS.set(analysis).is_ok();
    debug_assert!(is_first, "one analysis in a process");
}

/// Records in the JSON of a result that it belongs to this analysis. The rest of the text stays the
/// same.
pub(crate) fn adopt(path: &Path) -> Result<()> {
    let text =
        fs::read_to_string(path).with_context(|| format!("could not read `{}`", path.display()))?;
    // This finds a key of the outer object, because inner keys are indented further and strings
    // contain no line ends.
    let at = text.find(&format!(",\n  \"{ANALYSIS_KEY}\": "));
    let (Some(at), Some(analysis)) = (at.filter(|_| files::is_sealed(&text)), ANALYSIS.get())
    else {
        return Err(Hindered(format!("`{}` is not a result of an analysis", path.display())).into());
    };
    let adopted = files::sealed(&with_analysis(&format!("{}\n}}", &text[..at]), analysis)?);
    if adopted != text {
        files::write_whole(path, adopted.as_bytes()).with_context(|| could_not_write(path))?;
    }
    Ok(())
}

/// The first of the keys that are added at the end of a result.
const ANALYSIS_KEY: &str = "analysis_sha256";

/// The text of a JSON object with the analysis as its last keys.
fn with_analysis(object: &str, analysis: &Whole) -> Result<String> {
    let last = json!({ANALYSIS_KEY: analysis.sha256, "analysis": analysis.asks});
    let last = serde_json::to_string_pretty(&last).context("an analysis is plain data")?;
    let (open, last) = (object.strip_suffix("\n}"), last.strip_prefix('{'));
    let (open, last) = open.zip(last).ok_or_else(|| Bug("a result is an object".to_owned()))?;
    Ok(format!("{open},{last}"))
}

/// The origin of the numbers of an answer, as it is stored with them.
pub struct Origin {
    /// The kind of trace.
    pub source: Option<String>,
    /// The tables and their checksums.
    pub inputs: Vec<Input>,
    /// The gaps between loaded parts.
    pub gaps: Vec<Gap>,
}

impl Origin {
    /// The origin of an answer from one lake.
    pub fn of(lake: &Lake) -> Self {
        Self::of_all(&[lake])
    }

    /// The origin of an answer from several lakes. The kind of trace is that of the first lake.
    pub(crate) fn of_all(lakes: &[&Lake]) -> Self {
        let inputs = lakes.iter().flat_map(|lake| inputs(lake)).collect();
        let gaps = lakes.iter().flat_map(|lake| lake.gaps()).collect();
        Self { source: Some(lakes[0].source().name().to_owned()), inputs, gaps }
    }

    /// A sentence about the gaps in the tables that an answer needs; `None` if there are none.
    pub fn gap_note(&self, answer: &Answer<'_>) -> Option<String> {
        let tables = tables_of(&answer.kind, &answer.settings);
        let is_read =
            |gap: &&Gap| tables.is_empty() || tables.iter().any(|table| table.name() == gap.table);
        note_of(&self.gaps.iter().filter(is_read).cloned().collect::<Vec<Gap>>())
    }
}

/// How an answer was made, for its JSON and Parquet: program and command line.
pub fn made() -> Vec<(&'static str, Value)> {
    vec![("program", json!(crate::PROGRAM)), ("command", json!(command()))]
}

/// The same with the lake and the settings.
pub fn made_from(origin: &Origin, settings: &Value) -> Vec<(&'static str, Value)> {
    let further = [
        ("source", json!(origin.source)),
        ("inputs", json!(origin.inputs)),
        ("settings", settings.clone()),
    ];
    made().into_iter().chain(further).collect()
}

/// The JSON of an answer with how it was made. Under `table` it has the rows that are also in CSV
/// and Parquet.
pub fn with_table(json: &Value, table: &RecordBatch, made: &Made) -> Value {
    let mut whole = json.as_object().cloned().unwrap_or_default();
    whole.insert("table".to_owned(), Value::Array(forms::rows(table)));
    whole.extend(made.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    Value::Object(whole)
}

/// The file name (without ending) of the JSON of an answer that is alone in its folder. If a folder
/// has several answers, each JSON is named after its answer.
pub const RESULT: &str = "result";

/// The files of an answer. They are written into a work folder. When all are complete, they are
/// moved to their places: either all of them or none.
pub struct Files {
    lock: Arc<FolderLock>,
    /// The name of the answer.
    name: String,
    written: Vec<ResultFile>,
    /// How the tables were made, for the metadata of Parquet.
    made: Vec<(&'static str, Value)>,
    pictures: Pictures,
}

/// The end of the file name, before the ending, of a file with the numbers of a chart.
const DATA: &str = ".data";

/// How charts become files.
#[derive(Clone, Debug, PartialEq)]
pub struct Pictures {
    /// The size of charts.
    pub look: Look,
    /// The file formats of each chart.
    pub formats: Vec<ChartFormat>,
    /// Whether the numbers of each chart are also stored, as Parquet.
    pub has_data: bool,
}

impl Default for Pictures {
    fn default() -> Self {
        Self { look: Look::SCREEN, formats: ChartFormat::USUAL.to_vec(), has_data: false }
    }
}

impl Files {
    /// Begins the files of an answer in a folder that this process has locked.
    ///
    /// # Errors
    /// A name is in use, a file of the earlier answer was changed, or the folder cannot be written.
    pub fn within(lock: &Arc<FolderLock>, name: &str) -> Result<Self> {
        let folder = lock.folder();
        // A folder that cannot be read could not be synced at the end, so this is checked first.
        files::sync_folder(folder)
            .with_context(|| format!("could not write into `{}`", folder.display()))?;
        // Most names are known only at the end. These names are checked before anything is
        // computed.
        let names = ["csv", "parquet"].map(|end| format!("{name}.{end}"));
        let names = names.iter().map(String::as_str).chain(["result.json"]);
        let earlier = Earlier::all(folder)?;
        commit::check_names(folder, name, &earlier, names)?;
        // An analysis replaces changed results, because it computes them again.
        if ANALYSIS.get().is_none() {
            commit::check_unchanged(folder, name, &earlier)?;
        }
        let work = folder.join(WORK);
        let cleared = match fs::remove_dir_all(&work) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir(&work),
        };
        cleared.with_context(|| format!("could not make `{}`", work.display()))?;
        let (written, made, pictures) = Default::default();
        Ok(Self { lock: Arc::clone(lock), name: name.to_owned(), written, made, pictures })
    }

    /// Sets how charts are drawn.
    #[must_use]
    pub fn drawn_as(mut self, pictures: Pictures) -> Self {
        self.pictures = pictures;
        self
    }

    /// Sets how the following tables were made.
    pub fn are_made_from(&mut self, origin: &Origin, settings: &Value) {
        self.made = made_from(origin, settings);
    }

    /// Writes a further table of the answer, as `<stem>.csv`.
    pub fn table(&mut self, stem: &str, table: &RecordBatch) -> Result<()> {
        self.put(format!("{stem}.csv"), &forms::csv(table)?)
    }

    /// Writes a further table of the answer, as `<stem>.parquet`.
    pub fn parquet(&mut self, stem: &str, table: &RecordBatch) -> Result<()> {
        self.put(format!("{stem}.parquet"), &forms::parquet(table, &self.made)?)
    }

    /// Writes a further file of the answer.
    pub(crate) fn put(&mut self, file: String, bytes: &[u8]) -> Result<()> {
        let mut new = self.create(file)?;
        new.write_all(bytes).with_context(|| could_not_write(&new.path))?;
        self.take(new)
    }

    /// Begins a further table that is written in pieces, as `<stem>.csv` and `<stem>.parquet`.
    /// `empty` is a table without rows that defines the columns.
    pub(crate) fn rows(&self, stem: &str, empty: &RecordBatch) -> Result<Rows> {
        let mut rows = self.in_pieces(stem, "csv", empty)?;
        rows.write(&forms::csv(empty)?)?;
        Ok(rows)
    }

    /// The same, as `<stem>.txt` and `<stem>.parquet`.
    pub(crate) fn lines(&self, stem: &str, empty: &RecordBatch) -> Result<Rows> {
        self.in_pieces(stem, "txt", empty)
    }

    fn in_pieces(&self, stem: &str, ending: &str, empty: &RecordBatch) -> Result<Rows> {
        let columns = self.create(format!("{stem}.parquet"))?;
        Ok(Rows {
            text: self.create(format!("{stem}.{ending}"))?,
            columns: parquet_writer(columns, empty.schema(), &self.made)?,
        })
    }

    /// Completes a table that was written in pieces.
    pub(crate) fn take_rows(&mut self, rows: Rows) -> Result<()> {
        let path = rows.columns.inner().path.clone();
        self.take(rows.text)?;
        self.take(rows.columns.into_inner().with_context(|| could_not_write(&path))?)
    }

    /// The work folder; it is removed when the files are published or dropped.
    pub(crate) fn work_folder(&self) -> PathBuf {
        self.lock.folder().join(WORK)
    }

    /// Begins a further file; its name may include folders.
    pub(crate) fn create(&self, file: String) -> Result<New> {
        let path = self.lock.folder().join(WORK).join(&file);
        let parent = path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(parent).with_context(|| could_not_write(parent))?;
        let to = File::create_new(&path).with_context(|| could_not_write(&path))?;
        Ok(New { file, path, to: BufWriter::new(Summed::of(to)) })
    }

    /// Completes a file and syncs it.
    pub(crate) fn take(&mut self, new: New) -> Result<()> {
        let New { file, path, to } = new;
        let ended = to.into_inner().map_err(IntoInnerError::into_error).and_then(Summed::finish);
        let (bytes, crc32) = ended.with_context(|| could_not_write(&path))?;
        self.written.push(ResultFile { file, bytes, crc32 });
        Ok(())
    }

    /// Writes the table and charts of the answer and `<stem>.json`, then moves all files to their
    /// places. Returns the path of the JSON.
    ///
    /// # Errors
    /// A file cannot be written, or a name belongs to another file of the folder.
    pub fn publish(mut self, stem: &str, answer: &Answer, origin: &Origin) -> Result<PathBuf> {
        debug_assert_eq!(
            self.name, answer.kind.name,
            "names are checked before the answer is there"
        );
        self.are_made_from(origin, &answer.settings);
        self.table(answer.kind.name, answer.table)?;
        self.parquet(answer.kind.name, answer.table)?;
        let scope = scope(&answer.kind, &answer.settings, &origin.inputs);
        debug_assert!(is_read_back(answer), "`{}` is not read back", answer.kind.name);
        let charts = with_own_stems(&answer.charts, &scope);
        let pictures = self.pictures.clone();
        for (stem, chart) in &charts {
            for &format in &pictures.formats {
                let bytes = file_of(chart, pictures.look, format)?;
                self.put(format!("{stem}.{}", format.ending()), &bytes)?;
            }
            if !pictures.look.is_titled {
                let text = format!("{}\n\n{}\n", chart.title(), chart.caption());
                self.put(format!("{stem}.txt"), text.as_bytes())?;
            }
            if pictures.has_data || ANALYSIS.get().is_some_and(|whole| whole.has_chart_data) {
                self.parquet(&format!("{stem}{DATA}"), &points(chart))?;
            }
        }
        let named = self.written.clone();
        let text = text_of(answer, &charts, origin, &named)?;
        let json = format!("{stem}.json");
        self.put(json.clone(), text.as_bytes())?;
        commit::give_places(self.lock.folder(), &self.name, &named, &json)?;
        Ok(self.lock.folder().join(json))
    }
}

/// Whether the type of the study can read all of an answer.
fn is_read_back(answer: &Answer<'_>) -> bool {
    let Some(form) = answer.kind.form.filter(|_| !is_left_out(&answer.json)) else { return true };
    form(&answer.json).is_ok_and(|read| read == answer.json)
}

impl Drop for Files {
    fn drop(&mut self) {
        // If this fails, the next run removes the folder. An incomplete commit stays, and the next
        // run completes it.
        if !commit::is_waiting(self.lock.folder()) {
            let _ = fs::remove_dir_all(self.lock.folder().join(WORK));
        }
    }
}

/// Creates a folder and locks it, so that no other process writes results into it. If an earlier
/// run was killed while it moved files, this completes the move and returns a note.
///
/// # Errors
/// Another process has locked the folder, or it cannot be created, read or written.
pub fn lock(folder: &Path) -> Result<(Arc<FolderLock>, Option<String>)> {
    let lock = FolderLock::take(folder)
        .with_context(|| format!("could not make `{}`", folder.display()))?;
    let Some(lock) = lock else {
        let what = "another process is writing results into";
        return Err(Hindered(format!("{what} `{}`", folder.display())).into());
    };
    let note = commit::finish_earlier(folder)?;
    Ok((Arc::new(lock), note))
}

pub(crate) fn could_not_write(path: &Path) -> String {
    format!("could not write `{}`", path.display())
}

/// The charts that show something, each with tables and hours in its caption. If several charts
/// have the same file name, a number is added to the later names.
fn with_own_stems(charts: &[(String, Chart)], scope: &str) -> Vec<(String, Chart)> {
    let mut all: Vec<(String, Chart)> = Vec::new();
    for (stem, chart) in charts {
        let Some(chart) = worth_drawing(chart) else { continue };
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        let own = std::iter::once(stem.clone())
            .chain(numbered)
            .find(|own| all.iter().all(|(taken, _)| taken != own));
        all.push((own.expect("numbers never end"), chart.about(scope)));
    }
    all
}

/// A file that is being written.
pub(crate) struct New {
    file: String,
    path: PathBuf,
    to: BufWriter<Summed>,
}

impl Write for New {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// A further table of an answer that is written in pieces.
pub(crate) struct Rows {
    text: New,
    columns: ArrowWriter<New>,
}

impl Rows {
    fn write(&mut self, lines: &[u8]) -> Result<()> {
        self.text.write_all(lines).with_context(|| could_not_write(&self.text.path))
    }

    /// Writes some rows.
    pub(crate) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let lines = forms::csv(batch)?;
        let header = lines.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.push_with(batch, &lines[header..])
    }

    /// Writes some rows as Parquet, and their text as given.
    pub(crate) fn push_with(&mut self, batch: &RecordBatch, lines: &[u8]) -> Result<()> {
        self.write(lines)?;
        let wrote = self.columns.write(batch);
        wrote.with_context(|| could_not_write(&self.columns.inner().path))
    }
}

/// The text of an answer's JSON.
fn text_of(
    answer: &Answer,
    charts: &[(String, Chart)],
    origin: &Origin,
    named: &[ResultFile],
) -> Result<String> {
    let drawn = |(stem, chart): &(String, Chart)| Drawn {
        file: stem.clone(),
        title: chart.title().to_owned(),
        caption: chart.caption().to_owned(),
    };
    let result = Envelope {
        program: crate::PROGRAM.to_owned(),
        format_version: RESULT_VERSION,
        name: answer.kind.name.to_owned(),
        command: command(),
        source: origin.source.clone(),
        inputs: origin.inputs.clone(),
        settings: answer.settings.clone(),
        charts: charts.iter().map(drawn).collect(),
        files: named.to_vec(),
        answer: answer.json.clone(),
        ..Envelope::default()
    };
    let text = laid_out(&result).context("an answer is plain data")?;
    Ok(files::sealed(&match ANALYSIS.get() {
        Some(analysis) => with_analysis(&text, analysis)?,
        None => text,
    }))
}

/// The command line; the program appears by its name, without its folder.
fn command() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("jobfate".to_owned()).chain(words).collect()
}

/// The command line as one line of text.
pub(crate) fn command_line() -> String {
    command().join(" ")
}

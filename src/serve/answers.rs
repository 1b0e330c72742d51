//! The answer of a job on its page, while it is computed and afterwards.
//!
//! In: a job. Out: markup, with charts and tables by the code of the report. Files of an answer are
//! looked up in the list that is stored with the answer, never by a path from a request.

use std::path::{Path, PathBuf};

use maud::{Markup, PreEscaped, html};
use serde::Deserialize;
use serde_json::Value;

use super::fairness::FROM_START;
use super::fields::{in_a_form, without_hints};
use super::form::encoded;
use super::pages::Reader;
use super::portal::Portal;
use super::queue::{Job, Phase, Record, Spec};
use crate::answers::fairness::in_table;
use crate::answers::list;
use crate::answers::sentences::short;
use crate::digits::{counted, unit_of_use};
use crate::fairness::gather::By;
use crate::report::assumed::with_requests;
use crate::report::headings::{heading, is_instant, is_length, is_use};
use crate::report::html::{Cell, figure, named_table};
use crate::report::indices::{IndexColumn, OfIndices};
use crate::report::links::Links;
use crate::report::pages::unit_of;
use crate::report::sentence;
use crate::report::tables::stored_table;
use crate::results::{Limits, Stored, quoted, read_all};
use crate::studies::named::Named;

/// The largest part of a table that a page loads; all rows are in the files.
const LIMITS: Limits = Limits { rows: 200, bytes: 1 << 20 };

/// Largest number of users that are named for each pair of indices.
const MOVES_MAX: usize = 5;

/// If there are more notes than this, they are folded, so that the answer is seen first.
const NOTES_OPEN: usize = 2;

/// Columns of the table of heaviest users that are only in the files.
const LEFT_OUT: [&str; 7] = [
    "unit",
    "ran_cpu_s",
    "ran_memory_s",
    "peak_at_s",
    "first_use_s",
    "last_use_s",
    "largest_step_share",
];

/// The part of a page that is updated while it is open.
pub(super) async fn live(portal: &Portal, reader: &Reader, id: &str, job: &Job) -> Markup {
    let record = &job.record;
    let (first, answer) = if let Some(answer) = &record.answer {
        let folder = portal.state.job(id).join(&answer.folder);
        let (root, spec) = (format!("/jobs/{id}/"), record.spec.clone());
        let made = move || shown(&folder, &root, &spec);
        match tokio::task::spawn_blocking(made).await {
            Ok(Ok(shown)) => shown,
            Ok(Err(said)) => (html! {}, html! { p class="wrong" { (said) } }),
            Err(_) => {
                let said = "The answer could not be shown.";
                (html! {}, html! { p class="wrong" { (said) } })
            }
        }
    } else {
        Default::default()
    };
    html! {
        div id="live" data-job=(id) data-phase=(record.phase.word()) {
            (state(portal, reader, id, job))
            (first)
            (aligned(&record.spec))
            @if record.answer.is_some() { (notes(portal, record)) }
            (answer)
        }
    }
}

/// A note that the portal has chosen how to align the clocks of several lakes.
fn aligned(spec: &Spec) -> Markup {
    let is_asked = spec.page.contains("align=");
    html! {
        @if !is_asked && spec.words.iter().any(|word| word == FROM_START) {
            p class="help" {
                "The clocks of " (spec.lakes.join(" and ")) " are far apart, so each cluster starts at time 0 "
                "(\"Align\": start). On a common clock most of the span would be empty."
            }
        }
    }
}

/// The state of the job, and buttons to cancel it or run it again.
pub(super) fn state(portal: &Portal, reader: &Reader, id: &str, job: &Job) -> Markup {
    let record = &job.record;
    let gone = portal.lakes.gone(&record.spec.lakes);
    let is_old = record.answer.as_ref().is_some_and(|answer| {
        let now = portal.lakes.chosen(record.spec.lakes.iter().map(String::as_str));
        now.is_ok_and(|now| {
            let stamps: Vec<String> = now.iter().map(|at| at.now().stamp.clone()).collect();
            stamps != answer.stamps
        })
    });
    let percent = job.meter.percent();
    html! {
        p class="state" role="status" {
            span class="live" { (record.phase.word()) }
            @if record.phase == Phase::Waiting { " " (waits(portal, id)) }
            @if let (Phase::Done, Some(took)) = (record.phase, record.took_s) { " in " (format!("{took:.1}")) " s" }
            @if is_old && !record.phase.is_open() { " - the lake has grown since" }
        }
        @if !gone.is_empty() {
            p class="wrong" { "This portal no longer serves " (gone.join(", ")) ": the answer is kept, and cannot be computed again." }
        }
        @if record.phase.is_open() {
            progress max="100" value=[percent] aria-label="Progress" {}
        }
        @if let (Phase::Failed, Some(error)) = (record.phase, &record.error) {
            div class="wrong" role="alert" { @if error.contains('\n') { pre { (error) } } @else { (in_a_form(error)) } }
        }
        form method="post" action={ "/jobs/" (id) } class="buttons" {
            (reader.token())
            @if record.phase.is_open() {
                button class="second" name="action" value="cancel" { "Cancel" }
            } @else if gone.is_empty() && (record.phase != Phase::Done || is_old) {
                button class="second" name="action" value="again" { "Run again" }
            }
        }
    }
}

/// What a question waits for, with its place in the queue.
pub(super) fn waits(portal: &Portal, id: &str) -> String {
    let [_, running] = portal.queue.open();
    let runs = counted(running as u64, "question");
    let now = if running == 1 { "runs now" } else { "run now" };
    match portal.queue.place(id) {
        Some(0) => format!("- the next to run, after {runs} that {now}"),
        Some(before) => {
            let wait = if before == 1 { "waits" } else { "wait" };
            format!(
                "- after {} that {wait} before it, and {runs} that {now}",
                counted(before as u64, "question")
            )
        }
        None => "- it starts now".to_owned(),
    }
}

fn notes(portal: &Portal, record: &Record) -> Markup {
    let known = portal.asks.parameters(&record.spec.command);
    let said = |note: &String| with_short_words(&without_hints(note, &known));
    html! {
        @if !record.notes.is_empty() {
            details open[record.notes.len() <= NOTES_OPEN] {
                summary { "How this was computed, and what was assumed: " (counted(record.notes.len() as u64, "note")) }
                ul class="found" { @for note in &record.notes { li { (said(note)) } } }
            }
        }
    }
}

/// A sentence with its hashes shortened.
fn with_short_words(text: &str) -> String {
    text.split(' ').map(short).collect::<Vec<String>>().join(" ")
}

/// The results in a folder as markup: the sentence with the answer, and everything else.
fn shown(folder: &Path, root: &str, spec: &Spec) -> Result<(Markup, Markup), String> {
    let stored = read(folder)?;
    let is_fairness = spec.command == "fairness";
    let (mut first, mut pieces) = (Vec::new(), Vec::new());
    for result in &stored {
        let kind = list::kinds().find(|kind| kind.name == result.name);
        first.extend(kind.and_then(|kind| kind.sentence?(&result.whole)));
        let own = if is_fairness {
            fairness(result, &spec.lakes)
        } else {
            html! {}
        };
        let figures = result.charts().into_iter().map(|chart| figure(chart, result, root, false));
        let figures = figures.collect::<Result<String, _>>().map_err(|error| error.to_string())?;
        let tables: String = result
            .tables
            .iter()
            .filter(|_| !is_fairness)
            .map(|table| {
                let shown = with_requests(table, result.whole.source.as_deref());
                let (caption, links) = (titled(&table.file), Links::default());
                stored_table(&caption, &shown, root, &links, &[], unit_of(result))
            })
            .collect();
        // The tables of indices explain themselves why they are empty.
        let nothing = result.whole.nothing().filter(|_| !is_fairness);
        pieces.push(html! {
            @if let Some(nothing) = nothing { p class="answer" { (nothing) } }
            (own)
            div class="figures" { (PreEscaped(figures)) }
            (PreEscaped(tables))
            p class="source" {
                "Files: "
                @for name in result.file_names() { a href={ (root) "data/" (name) } { (name) } " " }
            }
            details { summary { "Command" } pre { (command(&result.whole.command, spec)) } }
        });
    }
    let first =
        html! { @for said in &first { p class="answer" { (PreEscaped(sentence(said))) "." } } };
    Ok((first, html! { @for piece in pieces { (piece) } }))
}

/// A command line with the names of lakes instead of folders, and without files of the operator.
fn command(words: &[String], spec: &Spec) -> String {
    let mut lakes = spec.lakes.iter();
    let said = |word: &String| {
        if word.starts_with("--lake=") {
            return Some(format!("--lake={}", lakes.next().map_or("LAKE", String::as_str)));
        }
        if let Some(rest) = word.strip_prefix("--index-program=") {
            let name = rest.split_once('=').map_or(rest, |(name, _)| name);
            return Some(format!("--index-program={name}=PROGRAM"));
        }
        match spec.files.iter().find(|file| word.starts_with(&file.flag)) {
            Some(file) => Some(format!("{}FILE", file.flag)),
            None => (!word.starts_with("--out=")).then(|| word.clone()),
        }
    };
    words.iter().filter_map(said).map(|word| quoted(&word)).collect::<Vec<String>>().join(" ")
}

/// A table's name as a caption.
fn titled(file: &str) -> String {
    super::start::titled(&file.trim_end_matches(".csv").replace('-', " "))
}

/// The tables of a comparison of indices. Rows are maps, since columns of memory have other names.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Compared {
    by: By,
    unit: String,
    heaviest: Vec<Row>,
    what_if: Vec<Row>,
    what_if_places: Vec<Row>,
    clusters: Vec<Row>,
    suggestions: Suggested,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Suggested {
    hold_back: Vec<Row>,
    came_when_free: Vec<Row>,
}

/// A row: cells by the names of their columns.
type Row = Named<Value>;

/// The tables of a comparison of indices, from the JSON.
fn fairness(result: &Stored, lakes: &[String]) -> Markup {
    let Compared { by, unit, heaviest, what_if, what_if_places, clusters, suggestions } =
        result.whole.read().unwrap_or_default();
    let nothing = result.whole.nothing();
    let indices = result.found().map_or_else(Vec::new, in_table);
    let of_pair = |one: &Row, other: &Row| {
        one.get("one") == other.get("one") && one.get("other") == other.get("other")
    };
    let moves = what_if_places.chunk_by(of_pair);
    let moves: Vec<Row> = moves.flat_map(|pair| pair.iter().take(MOVES_MAX).cloned()).collect();
    let those = by.plural();
    let heading = super::start::titled(&those);
    let tables = [
        (format!("The heaviest {those}, and each index at the end of the window"), heaviest),
        ("Similarity of the orders under two indices".to_owned(), what_if),
        (format!("{heading} that move most between two indices"), moves),
        ("Clusters".to_owned(), clusters),
    ];
    let further = [
        (format!("{heading} to hold back"), suggestions.hold_back),
        (format!("{heading} that came when capacity was free"), suggestions.came_when_free),
    ];
    // Users have pages in their own lake.
    let lake = match lakes {
        [lake] if by == By::User => Some(lake.as_str()),
        _ => None,
    };
    html! {
        @if let Some(nothing) = nothing { p { (nothing) } }
        @for (caption, rows) in tables.iter().filter(|table| !table.1.is_empty()) {
            (PreEscaped(of_rows(caption, rows, &unit, lake, &indices)))
        }
        @for (caption, rows) in further.iter().filter(|table| !table.1.is_empty()) {
            details { summary { (caption) ": " (rows.len()) } (PreEscaped(of_rows(caption, rows, &unit, lake, &indices))) }
        }
    }
}

/// Whether a column has shares of a whole, which are shown in percent. The value of an index may be
/// a share of an allowance and exceed 1, so it is shown as a number, as on the axis of its chart.
fn is_share(column: &str) -> bool {
    matches!(column, "share" | "heaviest_share" | "largest_step_share")
}

/// Rows as a table; columns with lists or objects are only in the files.
fn of_rows(
    caption: &str,
    rows: &[Row],
    unit: &str,
    lake: Option<&str>,
    indices: &OfIndices<'_>,
) -> String {
    let is_plain = |value: &Value| !value.is_array() && !value.is_object();
    let header: Vec<String> = rows
        .iter()
        .take(1)
        .flat_map(Row::iter)
        .filter(|(name, value)| is_plain(value) && !LEFT_OUT.contains(name))
        .map(|(name, _)| name.to_owned())
        .collect();
    let values = |column: &str| -> Vec<f64> {
        rows.iter().filter_map(|row| row.get(column)?.as_f64()).collect()
    };
    let indices = IndexColumn::all(indices, values);
    let index_of = |column: &str| indices.iter().find(|index| index.column == column);
    // As in the pages of a report: times of use of an hour or more are in hours.
    let amounts = header.iter().filter(|column| is_use(column));
    let top = amounts.flat_map(|column| values(column)).fold(0.0, f64::max);
    let (unit, per) = unit_of_use(unit, top);
    let cell = |row: &Row, name: &str| match row.get(name) {
        Some(Value::Number(value)) if index_of(name).is_some() => {
            index_of(name).map_or_else(|| Cell::name(""), |index| index.cell(&value.to_string()))
        }
        None | Some(Value::Null) => Cell::name(""),
        Some(Value::Number(share)) if is_share(name) => Cell::share(&share.to_string()),
        Some(Value::String(user)) if name == "user" => match lake {
            Some(lake) => {
                let page = format!("/find?lake={}&what=user&id={}", encoded(lake), encoded(user));
                Cell::link(&short(user), &page)
            }
            None => Cell::name(&short(user)),
        },
        // Names of indices may look like hashes.
        Some(Value::String(index)) if matches!(name, "one" | "other") => Cell::name(index),
        Some(Value::String(text)) => Cell::name(&short(text)),
        Some(other) if is_use(name) => Cell::in_units_of(other.as_f64().unwrap_or(f64::NAN), per),
        Some(other) if is_instant(name) => Cell::instant(other.as_f64()),
        Some(other) if is_length(name) => Cell::lasting(other.as_f64()),
        Some(Value::Bool(yes)) => Cell::name(if *yes { "yes" } else { "no" }),
        Some(other) => Cell::of(&other.to_string()),
    };
    let cells: Vec<Vec<Cell>> =
        rows.iter().map(|row| header.iter().map(|name| cell(row, name)).collect()).collect();
    let named = |column: &str| match index_of(column) {
        Some(index) => index.heading.clone(),
        None if is_use(column) => format!("{} ({unit})", heading(column)),
        None => heading(column),
    };
    named_table(caption, &header, named, &cells)
}

/// The results of an answer.
pub(super) fn read(folder: &Path) -> Result<Vec<Stored>, String> {
    let chosen = read_all(&[folder.to_owned()], LIMITS);
    chosen.map(|chosen| chosen.results).map_err(|error| error.to_string())
}

/// The path of a file of a job's answer; `None` if the answer does not list it.
pub(super) fn file(portal: &Portal, id: &str, name: &str) -> Option<PathBuf> {
    let answer = portal.queue.get(id)?.record.answer?;
    let folder = portal.state.job(id).join(&answer.folder);
    read(&folder).ok()?.iter().find_map(|result| {
        let is_json = name == format!("{}.json", result.name);
        if is_json { Some(result.path().to_owned()) } else { result.path_of(name).ok() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::queue::Text;

    #[test]
    fn a_command_has_no_folder_of_the_operator() {
        let text = |flag: &str| Text {
            field: String::new(),
            flag: flag.to_owned(),
            content: String::new(),
        };
        let spec = Spec {
            command: "fairness".to_owned(),
            lakes: vec!["one".to_owned(), "two".to_owned()],
            words: Vec::new(),
            files: vec![text("--accounts="), text("--formula=My budget=")],
            page: String::new(),
        };
        let words = [
            "jobfate",
            "fairness",
            "--lake=one=/srv/one",
            "--lake=two=/srv/two",
            "--days=3",
            "--index-program=own=/srv/own.py",
            "--accounts=/srv/state/1.txt",
            "--formula=My budget=/srv/state/2.txt",
            "--out=/srv/state/out",
        ];
        let said = command(&words.map(str::to_owned), &spec);
        assert_eq!(
            said,
            "jobfate fairness --lake=one --lake=two --days=3 --index-program=own=PROGRAM \
             --accounts=FILE '--formula=My budget=FILE'"
        );
    }
}

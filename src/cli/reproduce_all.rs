//! `jobfate reproduce all`: the five papers one after the other, and a table of their verdicts.
//!
//! In: what the studies of traces read, if it is there. Out: one row per paper with the number of
//! claims by verdict; with `--out` a folder per study as it would store by itself. A study whose
//! trace is not there is passed over with a sentence, and the others run. With `--stored` nothing
//! runs: the verdicts of stored tables of claims are counted.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::console;
use super::exit::{BadFile, Usage};
use super::fairness::ota;
use super::render::{Frame, rows};
use super::reproduce::{self, ReproduceArgs, StudyName};
use super::reproduce_experiments::{experiment_of, set_seed_and_runs, study_of};
use super::reproduce_mandai;
use super::reproduce_study::{self, Study};
use super::store::{self, Answer, Files, Origin};
use crate::claims::{Tally, Verdict};
use crate::lake::Lake;
use crate::schema::Source;

/// One paper in the table.
struct Row {
    study: StudyName,
    /// The verdicts, or why there are none.
    tally: Result<Tally, String>,
}

/// A study, or why it cannot be run here.
type Ran = Result<Study, String>;

pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.answer.window_end.is_some() {
        return Err(Usage("--window-end is for a single study".to_owned()).into());
    }
    let out = args.answer.out.as_deref();
    let files = Files::in_out(out, "verdicts")?;
    let rows: Vec<Row> = match &args.stored {
        Some(folder) => StudyName::EACH
            .map(|study| Ok(Row { study, tally: stored(folder, study)? }))
            .into_iter()
            .collect::<Result<_>>()?,
        None => run_each(args, out)?,
    };
    for row in &rows {
        match &row.tally {
            Ok(tally) => console::note(format!("{}: {}", row.study.paper(), tally.in_words())),
            Err(why) => console::note(format!("{}: {why}", row.study.paper())),
        }
    }
    let table = table(&rows);
    let answer = Answer {
        name: "verdicts",
        table: &table,
        json: json!({"papers": self::rows(&table)}),
        settings: json!({"seed": args.seed, "runs": args.runs}),
        charts: Vec::new(),
    };
    let origin = Origin { source: json!("five papers"), inputs: json!([]), gap_note: None };
    store::give(&answer, files, &origin, &args.answer.form())
}

/// Runs the studies in turn, and says which one is at work.
fn run_each(args: &ReproduceArgs, out: Option<&Path>) -> Result<Vec<Row>> {
    if args.trace.is_some() {
        reproduce::lake_of(args)?;
    }
    let mut rows = Vec::new();
    for (number, study) in (1..).zip(StudyName::EACH) {
        let name = study.answer();
        console::note(format!("{number} of {}: {name}", StudyName::EACH.len()));
        let folder = out.map(|out| out.join(name));
        let files = Files::in_out(folder.as_deref(), name)?;
        let tally = match run_one(args, study)? {
            Ok(study) => {
                let tally = Tally::of(&study.claims);
                reproduce_study::give(study, None, files, None)?;
                Ok(tally)
            }
            Err(why) => Err(why),
        };
        rows.push(Row { study, tally });
    }
    Ok(rows)
}

fn run_one(args: &ReproduceArgs, study: StudyName) -> Result<Ran> {
    let lake = &args.answer.lake;
    let source = lake.exists().then(|| Lake::open(lake)).transpose()?.map(|lake| lake.source());
    match study {
        StudyName::Mandai if source == Some(Source::Google2011) => {
            Ok(Ok(reproduce_mandai::study(&Lake::open(lake)?, &args.answer)?))
        }
        StudyName::Mandai => {
            Ok(Err("skipped: it needs the Google trace of 2011 (TRACE_DIR, or --lake)".to_owned()))
        }
        StudyName::Ota => {
            let is_log = source.is_some_and(|source| !source.is_google());
            let log = args.ota_lake.as_deref().or(is_log.then_some(lake.as_path()));
            let Some(lake) = log else {
                return Ok(Err("skipped: it needs the lake of a log (--ota-lake)".to_owned()));
            };
            let place = ota::Place { lake, window_end: None };
            Ok(Ok(ota::find(&place, &ota::Settings::default())?.study()))
        }
        StudyName::Tan | StudyName::Asahara | StudyName::Cui => {
            let mut experiment = experiment_of(study);
            set_seed_and_runs(&mut experiment, args)?;
            Ok(Ok(study_of(&experiment, &experiment.run())))
        }
        StudyName::All => unreachable!("not one of each"),
    }
}

/// The verdicts of a stored table of claims.
fn stored(folder: &Path, study: StudyName) -> Result<Result<Tally, String>> {
    let name = study.answer();
    let path = folder.join(name).join(format!("{name}.csv"));
    if !path.is_file() {
        return Ok(Err(format!("no stored claims: `{}` is not there", path.display())));
    }
    let at = || format!("could not read `{}`", path.display());
    let bad = |why: &str| BadFile {
        path: path.clone(),
        problem: format!("is no table of claims: {why}"),
    };
    let mut reader = csv::Reader::from_reader(File::open(&path).with_context(at)?);
    let headers = reader.headers().map_err(|error| bad(&error.to_string()))?;
    let column = |name: &str| headers.iter().position(|header| header == name);
    let columns = column("verdict").zip(column("decided_by"));
    let (verdict, decided_by) =
        columns.ok_or_else(|| bad("it has no columns `verdict` and `decided_by`"))?;
    let mut tally = Tally::default();
    for record in reader.records() {
        let record = record.map_err(|error| bad(&error.to_string()))?;
        let key = &record[verdict];
        let known = Verdict::ALL.into_iter().find(|verdict| verdict.key() == key);
        let known = known.ok_or_else(|| bad(&format!("`{key}` is no verdict")))?;
        tally.add(known, &record[decided_by]);
    }
    Ok(Ok(tally))
}

fn table(rows: &[Row]) -> RecordBatch {
    let count = |of: fn(&Tally) -> usize| {
        rows.iter().map(move |row| row.tally.as_ref().ok().map(|tally| of(tally) as u64))
    };
    let notes = rows.iter().map(|row| row.tally.as_ref().err().map(String::as_str));
    Frame::default()
        .text("study", rows.iter().map(|row| row.study.answer()))
        .text("paper", rows.iter().map(|row| row.study.paper()))
        .maybe_count("claims", count(|tally| tally.claims))
        .about("sentences and numbers of the paper")
        .maybe_count("not_reproduced", count(|tally| tally.not_reproduced))
        .about("neither the number nor the direction, or the reverse")
        .maybe_count("same_direction", count(|tally| tally.same_direction))
        .about("the sign or order holds, the size does not")
        .maybe_count("reproduced", count(|tally| tally.reproduced))
        .about("the number lies in the interval of ours; the sentence holds in every cell")
        .maybe_count("worked_examples", count(|tally| tally.worked_examples))
        .about("those of `reproduced` that check a formula and no data")
        .maybe_count("fitted", count(|tally| tally.fitted))
        .about("a parameter was chosen to bring the number about")
        .maybe_count("cannot_be_compared", count(|tally| tally.cannot_be_compared))
        .about("the paper prints no number, or a table is not at hand")
        .maybe_text("note", notes)
        .about("why a study has no verdicts")
        .batch()
}

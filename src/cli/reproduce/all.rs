//! `jobfate reproduce all`: runs the five papers in turn, with a table of their verdicts.
//!
//! In: the traces that the studies need, if they exist. Out: one row per paper with the number of
//! claims by verdict; with `--out` a folder per study. A study whose trace is missing is skipped
//! with a message. With `--stored` no study runs: the verdicts of stored tables are counted.

use std::path::Path;

use serde_json::json;

use super::experiments::{experiment_of, set_seed_and_runs};
use super::tables::{lake_of, mandai_of};
use super::{ReproduceArgs, StudyName, study};
use crate::cli::console;
use crate::cli::shown;
use jobfate::answers::reproduce::experiments::study_of;
use jobfate::answers::reproduce::ota;
use jobfate::answers::reproduce::study::Study;
use jobfate::answers::reproduce::verdicts::{Row, answer, stored_all, table};
use jobfate::claims::Tally;
use jobfate::faults::{Result, Usage};
use jobfate::lake::Lake;
use jobfate::results::store::Origin;
use jobfate::schema::Source;

/// A study, or the reason why it cannot run with these inputs.
type Ran = Result<Study, String>;

pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.answer.window_end.is_some() {
        return Err(Usage("--window-end applies to a single study".to_owned()).into());
    }
    let out = args.answer.out.as_deref();
    let files = shown::files(out, "verdicts")?;
    let rows: Vec<Row> = match &args.stored {
        Some(folder) => {
            let tallies = stored_all(folder, &StudyName::EACH.map(StudyName::answer))?;
            StudyName::EACH.into_iter().zip(tallies).map(|(study, it)| row(study, it)).collect()
        }
        None => run_each(args, out)?,
    };
    rows.iter().map(Row::line).for_each(console::note);
    let table = table(&rows);
    let answer = answer(&table, json!({"seed": args.seed, "runs": args.runs}));
    let origin =
        Origin { source: Some("five papers".to_owned()), inputs: Vec::new(), gaps: Vec::new() };
    shown::give(&answer, files, &origin, &args.answer.form())
}

fn row(study: StudyName, tally: Result<Tally, String>) -> Row {
    Row { study: study.answer(), paper: study.paper(), tally }
}

/// Runs the studies one after the other, and announces each.
fn run_each(args: &ReproduceArgs, out: Option<&Path>) -> Result<Vec<Row>> {
    if args.trace.is_some() {
        lake_of(args)?;
    }
    let mut rows = Vec::new();
    for (number, study) in (1..).zip(StudyName::EACH) {
        let name = study.answer();
        console::note(format!("{number} of {}: {name}", StudyName::EACH.len()));
        let folder = out.map(|out| out.join(name));
        let files = shown::files(folder.as_deref(), name)?;
        let tally = match run_one(args, study)? {
            Ok(study) => {
                let tally = Tally::of(&study.claims);
                study::give(&study, None, files, None)?;
                Ok(tally)
            }
            Err(why) => Err(why),
        };
        rows.push(row(study, tally));
    }
    Ok(rows)
}

fn run_one(args: &ReproduceArgs, study: StudyName) -> Result<Ran> {
    let lake = &args.answer.lake;
    let source = lake.exists().then(|| Lake::open(lake)).transpose()?.map(|lake| lake.source());
    match study {
        StudyName::Mandai if source == Some(Source::Google2011) => {
            Ok(Ok(mandai_of(&Lake::open(lake)?, &args.answer)?))
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
            Ok(Ok(ota::find(&place, &ota::Settings::default(), console::say)?.study()))
        }
        StudyName::Tan | StudyName::Asahara | StudyName::Cui => {
            let mut experiment = experiment_of(study);
            set_seed_and_runs(&mut experiment, args)?;
            Ok(Ok(study_of(&experiment, &experiment.run())))
        }
        StudyName::Literature | StudyName::Course | StudyName::All => {
            unreachable!("not one of each")
        }
    }
}

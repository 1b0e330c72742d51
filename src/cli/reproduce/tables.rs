//! Studies of the tables of a lake: a table of claims, or the ten questions.

use super::super::{AnswerArgs, console, ingest, stop_on_signal, windows};
use super::study::give;
use super::{ReproduceArgs, StudyName};
use crate::cli::shown;
use jobfate::answers::ingest::{IngestChoice, plan};
use jobfate::answers::reproduce::study::{Study, parameters_in_words};
use jobfate::answers::reproduce::{course, literature, mandai};
use jobfate::claims::headline;
use jobfate::faults::Result;
use jobfate::lake::Lake;

/// A study that compares claims with the tables of a lake.
pub(super) fn run(args: &ReproduceArgs) -> Result<()> {
    let lake = lake_of(args)?;
    let files = shown::files(args.answer.out.as_deref(), args.study.answer())?;
    let study = match args.study {
        StudyName::Mandai => mandai_of(&lake, &args.answer)?,
        _ => literature::study(&lake, windows(&lake, &args.answer)?)?,
    };
    console::note(format!("{}: {}", study.paper, headline(&study.claims)));
    parameters_in_words(&study.parameters).iter().for_each(console::note);
    give(&study, None, files, Some(&args.answer.form()))
}

/// The study of 2017 with the tables of a lake.
pub(super) fn mandai_of(lake: &Lake, args: &AnswerArgs) -> Result<Study> {
    let study = mandai::study(lake, windows(lake, args)?)?;
    study.notes.iter().for_each(console::note);
    Ok(study)
}

/// The ten questions with the tables of a lake.
pub(super) fn course(args: &ReproduceArgs) -> Result<()> {
    let lake = lake_of(args)?;
    let mut files = shown::files(args.answer.out.as_deref(), args.study.answer())?;
    let course = course::course(&lake, windows(&lake, &args.answer)?)?;
    course.unanswered().iter().for_each(console::note);
    if let Some(files) = &mut files {
        files.table("course-readings", &course.readings())?;
    }
    let table = course.table();
    shown::give(&course.answer(&table), files, &course.origin, &args.answer.form())
}

/// The lake for a study of a trace; missing parts of the trace are ingested.
pub(super) fn lake_of(args: &ReproduceArgs) -> Result<Lake> {
    if let Some(trace) = &args.trace {
        let plan = plan(trace, &args.answer.lake, &IngestChoice::default(), console::say)?;
        ingest::run_plan(&plan, false, &stop_on_signal()?)?;
    }
    Ok(Lake::open(&args.answer.lake)?)
}

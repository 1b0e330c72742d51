//! The output that all studies of papers share: claims, parameters, figures.
//!
//! In: a [`Study`] and, if a parameter was varied, its claims under each value. Out: the table of
//! claims on stdout, and in `--out` `result.json`, `NAME.csv`, `NAME-parameters.csv`,
//! `NAME-varied.csv`, the study's further tables and its charts.

use super::ReproduceArgs;
use crate::cli::shown;
use crate::cli::{Form, Format, console};
use jobfate::answers::reproduce::study::{
    Study, Varied, claims_table, parameters_table, varied_table,
};
use jobfate::claims::headline;
use jobfate::faults::{Result, Usage};
use jobfate::results::store::{self, Files};
use jobfate::results::view::View;

/// Splits `KEY=VALUE` of `--set`.
pub(crate) fn pairs_of(args: &ReproduceArgs) -> Result<Vec<(&str, &str)>, Usage> {
    let bad = |pair: &str| Usage(format!("--set `{pair}` is not of the form KEY=VALUE"));
    let pairs = args.parameters.set.iter();
    pairs.map(|pair| pair.split_once('=').ok_or_else(|| bad(pair))).collect()
}

/// The key and the values of `--vary`.
pub(crate) fn varied_of(args: &ReproduceArgs) -> Result<Option<(&str, Vec<&str>)>, Usage> {
    let varied = match args.parameters.vary.as_slice() {
        [] => return Ok(None),
        [varied] => varied,
        _ => return Err(Usage("only experiments take --vary twice, and at most twice".to_owned())),
    };
    let bad = || Usage(format!("--vary `{varied}` is not of the form KEY=VALUE,VALUE,..."));
    let (key, values) = varied.split_once('=').ok_or_else(bad)?;
    Ok(Some((key, values.split(',').collect())))
}

/// Stores the study if there are files, and prints its claims on stdout if a format is given.
pub(crate) fn give(
    study: &Study,
    varied: Option<&Varied>,
    mut files: Option<Files>,
    form: Option<&Form>,
) -> Result<()> {
    let name = study.name;
    if let Some(Varied { key, values }) = varied {
        for (value, claims) in values {
            console::note(format!("{key}={value}: {}", headline(claims)));
        }
    }
    let table = claims_table(&study.claims);
    let answer = study.answer(varied, &table);
    if let Some(files) = &mut files {
        files.table(&format!("{name}-parameters"), &parameters_table(&study.parameters))?;
        for (stem, table) in &study.tables {
            files.table(stem, table)?;
        }
        if let Some(varied) = varied {
            files.table(&format!("{name}-varied"), &varied_table(varied))?;
        }
    }
    let Some(form) = form else {
        if let Some(files) = files {
            files.publish(store::RESULT, &answer, &study.origin)?;
        }
        return Ok(());
    };
    shown::give(&answer, files, &study.origin, form)?;
    if let (Some(varied), Format::Table) = (varied, form.format) {
        console::data("\n")?;
        shown::show_table(&varied_table(varied), &View::default())?;
    }
    Ok(())
}

//! The verdicts of the five papers in one table.
//!
//! In: the claims of each study, or its stored table of claims. Out: a row per paper with the
//! number of claims by verdict, or the reason why it has no claims.

use std::fs::File;
use std::path::Path;

use arrow::record_batch::RecordBatch;
use serde_json::{Value, json};

use crate::claims::{Tally, Verdict};
use crate::faults::{BadFile, Context, Result, Usage};
use crate::results::forms::rows;
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::store::Answer;

/// A paper in the table.
pub struct Row {
    /// The name of the study.
    pub study: &'static str,
    /// Authors and year.
    pub paper: &'static str,
    /// The verdicts, or the reason why there are none.
    pub tally: Result<Tally, String>,
}

impl Row {
    /// The row in a sentence.
    pub fn line(&self) -> String {
        let said = match &self.tally {
            Ok(tally) => tally.in_words(),
            Err(why) => why.clone(),
        };
        format!("{}: {said}", self.paper)
    }
}

/// Counts the verdicts of each study in a folder.
///
/// # Errors
/// The folder cannot be read or has no study, or a file is not a table of claims.
pub fn stored_all(folder: &Path, names: &[&str]) -> Result<Vec<Result<Tally, String>>> {
    let found = std::fs::read_dir(folder);
    found.with_context(|| format!("could not read `{}`", folder.display()))?;
    let all: Vec<_> = names.iter().map(|name| stored(folder, name)).collect::<Result<_>>()?;
    if all.iter().all(Result::is_err) {
        let text = format!(
            "--stored: `{}` has none of the studies, as `{}`",
            folder.display(),
            Path::new(names[0]).join(names[0]).with_extension("csv").display()
        );
        return Err(Usage(text).into());
    }
    Ok(all)
}

/// Counts the verdicts in the table of claims that `reproduce NAME --out FOLDER/NAME` stored. The
/// inner error says that there is no such table.
///
/// # Errors
/// The file cannot be read, or is not a table of claims.
fn stored(folder: &Path, name: &str) -> Result<Result<Tally, String>> {
    let path = folder.join(name).join(format!("{name}.csv"));
    if !path.is_file() {
        return Ok(Err(format!("no stored claims: `{}` does not exist", path.display())));
    }
    let at = || format!("could not read `{}`", path.display());
    let bad = |why: &str| BadFile {
        path: path.clone(),
        problem: format!("is not a table of claims: {why}"),
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
        let known = known.ok_or_else(|| bad(&format!("`{key}` is not a verdict")))?;
        tally.add(known, &record[decided_by]);
    }
    Ok(Ok(tally))
}

/// A row per paper.
pub fn table(rows: &[Row]) -> RecordBatch {
    let count = |of: fn(&Tally) -> usize| {
        rows.iter().map(move |row| row.tally.as_ref().ok().map(|tally| of(tally) as u64))
    };
    let notes = rows.iter().map(|row| row.tally.as_ref().err().map(String::as_str));
    Frame::default()
        .text("study", rows.iter().map(|row| row.study))
        .text("paper", rows.iter().map(|row| row.paper))
        .maybe_count("claims", count(|tally| tally.claims))
        .about("sentences and numbers of the paper")
        .maybe_count("not_reproduced", count(|tally| tally.not_reproduced))
        .about("neither the number nor the direction agrees, or the reverse holds")
        .maybe_count("same_direction", count(|tally| tally.same_direction))
        .about("the sign or order agrees, the size does not")
        .maybe_count("reproduced", count(|tally| tally.reproduced))
        .about("the number lies in the interval of ours; the sentence holds in every cell")
        .maybe_count("worked_examples", count(|tally| tally.worked_examples))
        .about("claims among `reproduced` that check a formula, not data")
        .maybe_count("fitted", count(|tally| tally.fitted))
        .about("a parameter was chosen to match the number")
        .maybe_count("cannot_be_compared", count(|tally| tally.cannot_be_compared))
        .about("the paper prints no number, or a table is missing")
        .maybe_text("note", notes)
        .about("why a study has no verdicts")
        .batch()
}

/// The answer of `reproduce all`.
pub fn answer(table: &RecordBatch, settings: Value) -> Answer<'_> {
    let json = json!({"papers": rows(table)});
    Answer { kind: Kind::of("verdicts"), table, json, settings, charts: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Code;

    #[test]
    fn stored_verdicts_are_counted_and_other_tables_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let tan = folder.path().join("tan");
        std::fs::create_dir(&tan).unwrap();
        let count = || stored(folder.path(), "tan");
        let missing = count().unwrap().unwrap_err();
        assert!(missing.contains("tan.csv` does not exist"), "{missing}");
        let all = |folder: &Path| stored_all(folder, &["ota", "tan"]);
        let error = all(folder.path()).unwrap_err();
        assert_eq!(error.code(), Code::Usage);
        assert!(error.to_string().contains("none of the studies, as `ota/ota.csv`"), "{error}");
        let error = all(&folder.path().join("nothere")).unwrap_err();
        assert_eq!(error.code(), Code::Environment);
        let write = |text: &str| std::fs::write(tan.join("tan.csv"), text).unwrap();
        write(
            "verdict,decided_by\nreproduced,x\nfitted,y\nreproduced,\"a check of the formula, not of data\"\n",
        );
        let tally = count().unwrap().unwrap();
        assert_eq!((tally.claims, tally.reproduced, tally.worked_examples), (3, 2, 1));
        assert!(matches!(all(folder.path()).unwrap()[..], [Err(_), Ok(_)]));
        for odd in ["verdict,decided_by\nyes,x\n", "a,b\n1,2\n", "verdict,decided_by\nfitted\n"] {
            write(odd);
            let error = count().unwrap_err().to_string();
            assert!(error.contains("tan.csv` is not a table of claims"), "{error}");
        }
    }
}

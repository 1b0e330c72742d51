//! Chooses the results of some folders that are shown together.
//!
//! In: folders. Out: results of one analysis, or of none, and the names of the others. Two analyses
//! use different definitions, so their numbers are never shown together.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::ResultError;
use super::stored::{Limits, Stored};

/// The file with the steps of an analysis, and with the checksum of the last analysis that was
/// begun in its folder.
pub const ANALYSIS_STEPS: &str = "steps.json";

/// Results that are shown together.
#[derive(Debug)]
pub struct Chosen {
    /// The results, by name.
    pub results: Vec<Stored>,
    /// Other results in the same folders.
    pub left_out: Vec<LeftOut>,
}

/// A result that is not shown.
#[derive(Debug)]
pub struct LeftOut {
    /// The JSON file of the result.
    pub path: PathBuf,
    /// Whether the result belongs to another analysis (true) or to no analysis (false).
    pub has_analysis: bool,
}

/// Reads the results of some folders and of the folders in them. If a folder holds an analysis,
/// only the results of that analysis are chosen.
///
/// # Errors
/// A folder cannot be read or holds no result; it holds results of several analyses, and the last
/// one that was begun is not among them; the folders are of different analyses; two results have
/// the same name; a result is not one of this program, or it was cut off or changed.
pub fn read_all(folders: &[PathBuf], limits: Limits) -> Result<Chosen, ResultError> {
    let mut chosen = Chosen { results: Vec::new(), left_out: Vec::new() };
    let mut first: Option<(&Path, String)> = None;
    for folder in folders {
        let here: Vec<Stored> = candidates(folder)?
            .iter()
            .filter_map(|path| Stored::open(path).transpose())
            .collect::<Result<_, _>>()?;
        if here.is_empty() {
            return Err(ResultError::NoResults { path: folder.clone() });
        }
        let analysis = analysis_of(folder, &here)?;
        match (&first, &analysis) {
            (Some((other, one)), Some(analysis)) if one != analysis => {
                let (first, second) = (other.to_path_buf(), folder.clone());
                return Err(ResultError::OtherAnalysis { first, second });
            }
            (None, Some(analysis)) => first = Some((folder, analysis.clone())),
            _ => {}
        }
        for mut result in here {
            if result.analysis() == analysis.as_deref() {
                result.complete(limits)?;
                chosen.results.push(result);
            } else {
                let (path, has_analysis) = (result.path().to_owned(), result.analysis().is_some());
                chosen.left_out.push(LeftOut { path, has_analysis });
            }
        }
    }
    sort(&mut chosen.results)?;
    Ok(chosen)
}

/// Reads the results of one analysis in its folder.
///
/// # Errors
/// The folder cannot be read, or a result of the analysis was cut off or changed.
pub fn read_analysis(
    folder: &Path,
    limits: Limits,
    sha256: &str,
) -> Result<Vec<Stored>, ResultError> {
    let mut results = Vec::new();
    for path in candidates(folder)? {
        // Other files may be damaged or of any version, so they are not parsed.
        let bytes = fs::read(&path).map_err(|cause| ResultError::io(&path, cause))?;
        if memchr::memmem::find(&bytes, sha256.as_bytes()).is_none() {
            continue;
        }
        if let Some(mut result) = Stored::open(&path)?.filter(|it| it.analysis() == Some(sha256)) {
            result.complete(limits)?;
            results.push(result);
        }
    }
    sort(&mut results)?;
    Ok(results)
}

/// The part of [`ANALYSIS_STEPS`] about the last analysis that was begun.
#[derive(Deserialize)]
struct BegunLast {
    analysis_sha256: String,
}

/// The analysis whose results are chosen in a folder; `None` if no result belongs to an analysis.
fn analysis_of(folder: &Path, here: &[Stored]) -> Result<Option<String>, ResultError> {
    let all: BTreeSet<&str> = here.iter().filter_map(Stored::analysis).collect();
    let begun_last = || {
        let text = fs::read_to_string(folder.join(ANALYSIS_STEPS)).ok()?;
        Some(serde_json::from_str::<BegunLast>(&text).ok()?.analysis_sha256)
    };
    match all.len() {
        0 => Ok(None),
        1 => Ok(all.first().map(|&one| one.to_owned())),
        _ => match begun_last().filter(|last| all.contains(last.as_str())) {
            Some(last) => Ok(Some(last)),
            None => Err(several(here)),
        },
    }
}

fn several(here: &[Stored]) -> ResultError {
    let mut with_analysis = here.iter().filter(|result| result.analysis().is_some());
    let first = with_analysis.next();
    let second = with_analysis.find(|one| one.analysis() != first.and_then(Stored::analysis));
    let path = |result: Option<&Stored>| result.map(|it| it.path().to_owned()).unwrap_or_default();
    ResultError::OtherAnalysis { first: path(first), second: path(second) }
}

/// Files of a folder and of the folders in it that may be the JSON of a result.
fn candidates(folder: &Path) -> Result<Vec<PathBuf>, ResultError> {
    // Folders whose name begins with a dot hold incomplete files.
    let is_hidden = |path: &Path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    let inner = entries(folder)?
        .into_iter()
        .filter(|path| !is_hidden(path) && path.join("result.json").is_file());
    let mut found = Vec::new();
    for folder in std::iter::once(folder.to_owned()).chain(inner) {
        let is_json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
        found.extend(entries(&folder)?.into_iter().filter(|path| is_json(path) && path.is_file()));
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ResultError> {
    let fail = |cause| ResultError::io(folder, cause);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        paths.push(entry.map_err(fail)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn sort(results: &mut [Stored]) -> Result<(), ResultError> {
    results.sort_by(|one, other| one.name.cmp(&other.name));
    let twice = results.array_windows().find(|[one, other]| one.name == other.name);
    let Some([one, other]) = twice else { return Ok(()) };
    let (first, second) = (one.path().to_owned(), other.path().to_owned());
    Err(ResultError::Twice { name: one.name.clone(), first, second })
}

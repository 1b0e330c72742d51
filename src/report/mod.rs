//! Stored results as pages: a folder that a browser opens from disk, with nothing fetched.
//!
//! In: folders of results (`*.json` beside CSV and charts). Out: an overview, a page per study, and
//! of fairness a page per user and per machine. Nothing is computed anew, so a page can be built
//! again whenever the results are at hand. Names from traces are escaped wherever they stand.
//!
//! ```text
//!  report/
//!    index.html  outcomes.html  distributions.html  ...   one per study that has results
//!    users/0001.html ...        machines/0001.html ...     by CPU time
//!    charts/*.svg *.png         data/*.csv *.json          what the pages show, and where it is from
//!    style.css  script.js
//! ```
//!
//! Two sets of results can be compared: a page of what changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::charts::ChartError;

mod compare;
mod compared;
mod drawing;
mod fairness;
mod html;
mod pages;
mod sentences;
mod stored;

pub use compare::{CellChange, ResultChange, Side, TableChange, compare};
pub use compared::{largest, write_comparison};
pub use stored::{
    COMPARE_LIMITS, Limits, PAGE_LIMITS, RESULT_VERSION, ResultFile, Stored, files_of_result,
    read_all,
};

use html::{Navigation, Page};
use pages::STUDIES;

/// A report could not be built.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A folder holds no results.
    #[error("there are no results in `{}`", path.display())]
    NoResults {
        /// The folder.
        path: PathBuf,
    },
    /// A result does not read.
    #[error("`{}` is no result of this program: {problem}", path.display())]
    BadResult {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file of a result is not the one that was written with it.
    #[error(
        "`{}` is not what `{}` says: it is gone, was cut off or changed, or is of another run",
        path.display(), result.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The JSON that names it.
        result: PathBuf,
    },
    /// A file could not be read or written.
    #[error("could not read or write `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A picture could not be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
}

impl ReportError {
    fn io(path: &Path, cause: io::Error) -> Self {
        Self::Io { path: path.to_owned(), cause }
    }
}

/// What was found, in sentences with numbers, at most `count`, the most telling first.
pub fn sentences(results: &[Stored], count: usize) -> Vec<String> {
    let mut found = sentences::of(results);
    // What became of jobs, what it cost, what could have been saved; then the rest.
    let telling = ["classify-jobs", "account", "sweep"];
    let place = |name| telling.iter().position(|one| *one == name).unwrap_or(telling.len());
    found.sort_by_key(|(name, _)| place(*name));
    found.into_iter().take(count).map(|(_, sentence)| sentence).collect()
}

/// Builds the report of `results` in `out`; returns the path of its first page.
///
/// # Errors
/// A result is not one of this program, or a file cannot be read or written.
pub fn write(results: &[Stored], out: &Path) -> Result<PathBuf, ReportError> {
    for folder in ["charts", "data", "users", "machines"] {
        let folder = out.join(folder);
        fs::create_dir_all(&folder).map_err(|cause| ReportError::io(&folder, cause))?;
    }
    remove_pages(out)?;
    put(out, "style.css", include_str!("style.css"))?;
    put(out, "script.js", include_str!("script.js"))?;
    for result in results {
        result.copy_files(out)?;
    }
    let here: Vec<&pages::Study> =
        STUDIES.iter().filter(|study| results.iter().any(|result| study.shows(result))).collect();
    let navigation = Navigation {
        pages: std::iter::once(("index.html", "Overview"))
            .chain(here.iter().map(|study| (study.file, study.title)))
            .collect(),
    };
    let save = |page: Page| put(out, &page.file.clone(), &page.html(&navigation));
    save(pages::overview(results, &here)?)?;
    for study in here {
        let own: Vec<&Stored> = results.iter().filter(|result| study.shows(result)).collect();
        save(pages::study(study, &own)?)?;
        for result in own.into_iter().filter(|result| result.name == "fairness") {
            for page in fairness::pages(result)? {
                save(page)?;
            }
        }
    }
    Ok(out.join("index.html"))
}

/// Removes the pages of an earlier report; this one may have other studies and users.
fn remove_pages(out: &Path) -> Result<(), ReportError> {
    let mut pages: Vec<PathBuf> = STUDIES.iter().map(|study| out.join(study.file)).collect();
    for folder in ["users", "machines"].map(|name| out.join(name)) {
        for entry in fs::read_dir(&folder).map_err(|cause| ReportError::io(&folder, cause))? {
            let path = entry.map_err(|cause| ReportError::io(&folder, cause))?.path();
            let stem = path.file_stem().unwrap_or_default().as_encoded_bytes();
            let is_page = path.extension().is_some_and(|end| end == "html");
            if is_page && stem.iter().all(u8::is_ascii_digit) {
                pages.push(path);
            }
        }
    }
    for page in pages {
        match fs::remove_file(&page) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                return Err(ReportError::io(&page, cause));
            }
            _ => {}
        }
    }
    Ok(())
}

fn put(folder: &Path, name: &str, text: &str) -> Result<(), ReportError> {
    let path = folder.join(name);
    let wrote = without_link(&path).and_then(|()| fs::write(&path, text));
    wrote.map_err(|cause| ReportError::io(&path, cause))
}

/// Removes a link that lies where a file of the report goes: what it leads to is none of ours.
fn without_link(path: &Path) -> io::Result<()> {
    if path.is_symlink() { fs::remove_file(path) } else { Ok(()) }
}

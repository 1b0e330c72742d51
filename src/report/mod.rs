//! Stored results as pages: a folder that a browser opens from disk, without downloads.
//!
//! In: folders of results (`*.json`, CSV and charts). Out: an overview, a page per study, and
//! single pages: for fairness per user and per machine (or class of machines), for a sweep per job,
//! for outages per machine. Nothing is computed again, so a page can be rebuilt from the results at
//! any time. Names from traces are always escaped.
//!
//! ```text
//!  report/
//!    index.html  outcomes.html  distributions.html  ...   one per study that has results
//!    users/0001.html ...        machines/0001.html ...     by CPU time
//!    machines/294820136.html ...                           those that left most often
//!    jobs/6255532702.html ...                              those that a sweep names
//!    charts/*.svg               data/*.csv *.json ...      what the pages show
//!    style.css  script.js
//!    files.json                                            every file with its checksum
//! ```
//!
//! Two sets of results can be compared: a page shows what changed.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::answers::list;
use crate::answers::study::Topic;
use crate::charts::{ChartError, ChartFormat, dark, without_values};
use crate::faults::{Code, Fault};
use crate::results::kind::Pages;
use crate::results::{ResultError, Stored};

mod about;
pub(crate) mod assumed;
mod classes;
mod compared;
mod drawing;
mod early;
mod fading;
pub(crate) mod fairness;
mod findings;
mod fitted;
mod gantt;
mod happened;
pub(crate) mod headings;
pub(crate) mod html;
pub(crate) mod indices;
mod job_cpu;
mod job_sentences;
pub(crate) mod jobs;
pub(crate) mod links;
pub(crate) mod machines;
mod months;
mod names;
mod open_tasks;
mod other;
mod overview;
pub(crate) mod pages;
mod partitions;
mod place;
mod quality;
mod replay;
mod series;
mod settings;
mod suggested;
pub(crate) mod tables;
mod terms;
mod text;
mod ticks;
mod used;
pub(crate) mod users;
mod waits;

#[cfg(feature = "serve")]
pub(crate) use text::{clock, instant, sentence};

pub use compared::{comparison_table, nothing_changed, write_comparison};
pub use place::check_place;

use html::{Navigation, Page};
use pages::Shown;
use place::NewFolder;

/// The style of all pages.
pub(crate) fn style() -> String {
    format!("{}{}", include_str!("style.css"), dark::style())
}

/// The script that makes tables and charts interactive.
pub(crate) const SCRIPT: &str = concat!(
    include_str!("script/tables.js"),
    "\n",
    include_str!("script/window.js"),
    "\n",
    include_str!("script/values.js"),
    "\n",
    include_str!("script/what_if.js"),
    "\n",
    include_str!("script/fading.js"),
);

/// The files of a report with their sizes, as its manifest lists them; empty if the folder is not a
/// report.
#[cfg(feature = "serve")]
pub(crate) fn listed(folder: &Path) -> std::collections::BTreeMap<String, u64> {
    place::listed_in(folder).into_iter().map(|(name, file)| (name, file.bytes)).collect()
}

/// A report could not be built.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A result could not be read.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// The folder of a report holds something else.
    #[error(
        "`{}` does not belong to an earlier report, or was changed: a report replaces its whole \
        folder",
        folder.join(entry).display()
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The entry that is not of a report, relative to the folder.
        entry: PathBuf,
    },
    /// A file has the name that the folder of a report should have.
    #[error("`{}` is a file, and a report is a folder", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder of a report is the one in which the program runs.
    #[error("`{}` is the current folder, and a report replaces its whole folder", path.display())]
    CurrentFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A file was added to the folder of a report while a new one was written.
    #[error(
        "a file was added to `{}` while the report was written: the earlier folder is now `{}`",
        place.display(), kept.display()
    )]
    Kept {
        /// The folder of the report.
        place: PathBuf,
        /// The folder that now holds the earlier report and that file.
        kept: PathBuf,
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

impl Fault for ReportError {
    fn code(&self) -> Code {
        match self {
            Self::Result(error) => error.code(),
            Self::Foreign { .. } | Self::CurrentFolder { .. } | Self::NotAFolder { .. } => {
                Code::Usage
            }
            _ => Code::Environment,
        }
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Result(error) => error.hint(),
            Self::Foreign { .. } | Self::NotAFolder { .. } => {
                Some("move it away, or choose another --out".into())
            }
            Self::CurrentFolder { .. } => Some("choose another --out".into()),
            _ => None,
        }
    }
}

/// At most `count` sentences: the first of each finding with its numbers, the most important first, then what
/// the tables cannot answer.
pub fn sentences(results: &[Stored], count: usize) -> Vec<String> {
    let findings::Findings { found, unanswered, .. } = findings::findings(results);
    let found = found.into_iter().map(|one| match one.scope.as_str() {
        "" => format!("{}.", findings::parts(&one.sentence).0),
        scope => format!("{} ({scope}).", findings::parts(&one.sentence).0),
    });
    let unanswered = unanswered.into_iter().map(|one| {
        let mut asks: Vec<String> = one.asks.into_iter().map(|asked| asked.0).collect();
        // If there is a question, titles of results with the same reason are left out.
        if asks.iter().any(|asked| asked.ends_with('?')) {
            asks.retain(|asked| asked.ends_with('?'));
        }
        format!("{} {}.", asks.join(" "), one.why)
    });
    found.chain(unanswered).take(count).collect()
}

/// Builds the report of `results` in the folder `out`, which is replaced as a whole; returns the
/// path of its first page.
///
/// # Errors
/// The folder holds something other than an earlier report, a result was not written by this
/// program, or a file cannot be read or written.
pub fn write(results: &[Stored], out: &Path) -> Result<PathBuf, ReportError> {
    let mut folder = NewFolder::begin(out)?;
    folder.put("style.css", &style())?;
    folder.put("script.js", SCRIPT)?;
    for result in results {
        copy_files(result, &mut folder)?;
    }
    let here: Vec<(&Topic, Vec<Shown<'_>>)> = list::topics()
        .into_iter()
        .map(|topic| (topic, pages::shown(topic, results)))
        .filter(|(_, shown)| !shown.is_empty())
        .collect();
    let page = |topic: &'static Topic| (topic.file, topic.title);
    let navigation = Navigation {
        pages: std::iter::once(("index.html", "Overview"))
            .chain(here.iter().filter(|own| pages::has_answer(&own.1)).map(|own| own.0).map(page))
            .collect(),
    };
    let mut save = |mut page: Page| {
        terms::add(&mut page, results);
        folder.put(&page.file, &page.html(&navigation))
    };
    save(overview::page(results)?)?;
    for (topic, shown) in here {
        save(if list::is_of_checks(topic) {
            quality::page(topic, &shown, results)
        } else {
            pages::page(topic, &shown, results)?
        })?;
        for (kind, result) in shown {
            let own = match kind.pages {
                Some(Pages::Users) => fairness::pages(result, results),
                Some(Pages::Jobs) => jobs::pages(result, results, topic.file)?,
                Some(Pages::Machines) => machines::pages(result, results, topic.file),
                None => Vec::new(),
            };
            own.into_iter().try_for_each(&mut save)?;
        }
    }
    Ok(folder.publish()?.join("index.html"))
}

/// Copies the JSON, tables and charts of a result into the report.
fn copy_files(result: &Stored, to: &mut NewFolder) -> Result<(), ReportError> {
    if let Some(path) = result.missing() {
        return Err(ResultError::Changed { path, result: result.path().to_owned() }.into());
    }
    if result.is_small() {
        to.copy(result.path(), &format!("data/{}.json", result.name))?;
    }
    let columns = format!("{}.parquet", result.name);
    for file in result.tables.iter().map(|table| &table.file).chain([&columns]) {
        to.copy(&result.path_of(file)?, &format!("data/{file}"))?;
    }
    for chart in result.charts() {
        for end in html::formats(chart, result).into_iter().map(ChartFormat::ending) {
            let file = format!("{}.{end}", chart.file);
            // Pages contain the values of their charts; a second copy would be a tenth of the
            // report.
            if end == ChartFormat::Svg.ending() {
                to.put(&format!("charts/{file}"), &without_values(&result.svg(chart)?))?;
            } else {
                to.copy(&result.path_of(&file)?, &format!("charts/{file}"))?;
            }
        }
    }
    Ok(())
}

//! Builds a report: its pages, and copies of the data and charts that they show.

use std::path::{Path, PathBuf};

use super::assets::{SCRIPT, style};
use super::html::{self, Navigation, Page};
use super::pages::{self, Shown};
use super::place::NewFolder;
use super::{ReportError, fairness, jobs, machines, overview, quality, terms};
use crate::answers::list;
use crate::answers::study::Topic;
use crate::charts::{ChartFormat, without_values};
use crate::results::kind::Pages;
use crate::results::{ResultError, Stored};

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
        .filter(|(topic, shown)| !shown.is_empty() && pages::is_written(topic, shown))
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

//! Writes the page of a comparison, with its data.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::comparable::of_all_outcomes;
use super::names::Names;
use super::origin::{common, data_of, made_from, settings_of};
use super::overview::{in_words, nothing_changed, overview, unchanged};
use super::sections::sections;
use super::{drawn, figures};
use crate::report::ReportError;
use crate::report::assets::{SCRIPT, style};
use crate::report::findings::{lacks_outcomes, side_by_side, unanswered_by};
use crate::report::html::{Navigation, Page};
use crate::report::place::NewFolder;
use crate::report::text::escape;
use crate::results::{ResultChange, Stored};

/// Writes the page of a comparison of two folders, with its data, to the folder `out`, which is
/// replaced as a whole; returns its path.
///
/// # Errors
/// The folder holds something other than an earlier report, or a file cannot be written.
pub fn write_comparison(
    changes: &[ResultChange],
    sides: [(&str, &[Stored]); 2],
    out: &Path,
) -> Result<PathBuf, ReportError> {
    let mut folder = NewFolder::begin(out)?;
    let (names, results) = (sides.map(|side| side.0), sides.map(|side| side.1));
    let (answers, unanswered) = (side_by_side(results), unanswered_by(results));
    let labels = &Names::of(names);
    let lacks_outcomes = |side: &[Stored]| side.iter().any(lacks_outcomes);
    let has_outcomes = !results.into_iter().any(lacks_outcomes);
    let known =
        if has_outcomes { changes.to_vec() } else { changes.iter().map(of_all_outcomes).collect() };
    let mut body = format!(
        "<p class=\"lead\">First: <b>{}</b>. Second: <b>{}</b>.</p>\n",
        escape(names[0]),
        escape(names[1])
    );
    if let Some(said) = nothing_changed(changes) {
        let _ = writeln!(body, "<p class=\"answer\">{said}</p>");
    }
    body.push_str(&figures::same_time(results));
    if nothing_changed(changes).is_none() {
        body.push_str(&figures::verdict(results, has_outcomes, labels));
    }
    body.push_str(&figures::table(results, has_outcomes, labels));
    body.push_str(&drawn::charts(results, labels));
    body.push_str(&in_words(&answers, labels));
    body.push_str(&overview(&known, &unanswered, labels));
    body.push_str(&unchanged(changes, &unanswered));
    let common = [common(&known, settings_of), common(&known, data_of)];
    let (differ, sections) =
        (made_from(&common[0], &common[1], labels), sections(&known, &common, &unanswered, labels));
    if !differ.is_empty() {
        let _ = write!(body, "<h2>What differs behind every result</h2>\n{differ}");
    }
    body.push_str(&sections);
    body.push_str(
        "<p class=\"source\">Complete comparison: <a href=\"comparison.json\">JSON</a></p>\n",
    );
    let file = "comparison.html".to_owned();
    let page = Page { file, title: "What changed".to_owned(), within: "comparison.html", body };
    let navigation = Navigation { pages: vec![("comparison.html", "What changed")] };
    folder.put("style.css", &style())?;
    folder.put("script.js", SCRIPT)?;
    let json = serde_json::json!({
        "program": crate::PROGRAM, "first": names[0], "second": names[1], "results": changes,
        "answers": answers.iter().map(|(asks, [first, second])| {
            serde_json::json!({"question": asks, "first": first, "second": second})
        }).collect::<Vec<_>>(),
    });
    folder.put("comparison.json", &format!("{json:#}\n"))?;
    folder.put("comparison.html", &page.html(&navigation))?;
    Ok(folder.publish()?.join("comparison.html"))
}

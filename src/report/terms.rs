//! Units and terms that a page uses, each explained once.
//!
//! In: a page and all results. Out: the page with a note for each term that it uses. On the
//! overview, the notes are folded and come after the first paragraphs; on other pages they are at
//! the end. A page without such terms stays as it is.

use std::fmt::Write;

use super::html::Page;
use super::text::escape;
use crate::results::Stored;
use crate::results::envelope::Measures;
use crate::schema::Source;
use crate::studies::meter::CpuDefinition;

/// The unit of CPU of traces whose publisher scaled it.
const NCU: &str = "NCU: CPU as a share of that of the largest machine of the trace, the unit in which \
    the publisher gives it. 1 NCU-h is all CPU of such a machine for an hour.";

/// The same for memory.
const NMU: &str = "NMU: memory as a share of that of the largest machine of the trace; 1 NMU-h is all of it for an hour.";

/// The meaning of CPU time if requests are added up.
const REQUESTED: &str = "CPU time on this page is requested CPU time: the CPU that each attempt requested \
    or was allocated, times its running time. The CPU that was really used may be far less.";

/// The start of the clock of the Google traces.
const CLOCK: &str = "Times count from time 0 of the trace's own clock, which this report calls the start of \
    the trace. The trace itself begins 600 s later; what happened before that has time 0.";

/// The start of the paragraph about the loaded data on the first page.
pub(super) const LOADED: &str = "<p class=\"source\">Loaded: ";

/// Words on a page that refer to that clock.
const CLOCK_WORDS: [&str; 3] = ["start of the trace", "clock of the trace", "of the trace)"];

/// Whether a text has this word, not as a part of a longer word.
fn has_word(text: &str, word: &str) -> bool {
    let is_inside = |letter: char| letter.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_inside) && !text[at + word.len()..].starts_with(is_inside)
    })
}

/// The notes for a page; empty if it needs no notes.
fn notes(body: &str, is_requested: bool, is_google: bool) -> String {
    let all = [
        (is_google && CLOCK_WORDS.iter().any(|words| body.contains(words)), CLOCK),
        (is_requested && body.contains("CPU"), REQUESTED),
        (has_word(body, "NCU"), NCU),
        (has_word(body, "NMU"), NMU),
    ];
    let mut html = String::new();
    for (_, note) in all.into_iter().filter(|(is_used, _)| *is_used) {
        let _ = writeln!(html, "<p class=\"source\">{}</p>", escape(note));
    }
    html
}

/// Whether all results with a definition of CPU time add up requests. If some results are measured,
/// a page of the report must not say so about all.
fn are_requested(mut cpus: impl Iterator<Item = String>) -> bool {
    let requested = CpuDefinition::Requested.to_string();
    cpus.next().is_some_and(|first| first == requested) && cpus.all(|cpu| cpu == requested)
}

/// Adds the notes to a page.
pub(super) fn add(page: &mut Page, results: &[Stored]) {
    let cpus = results.iter().filter_map(|result| result.whole.chosen::<Measures>().cpu);
    let mut sources = results.iter().filter_map(|result| result.whole.source.as_ref());
    let is_google = sources.any(|name| name.parse().is_ok_and(Source::is_google));
    let notes = notes(&page.body, are_requested(cpus), is_google);
    if page.file != "index.html" || notes.is_empty() {
        page.body.push_str(&notes);
        return;
    }
    // The findings come first: the notes are folded, after the paragraph about the loaded data.
    let notes = format!("<details><summary>Units and definitions</summary>\n{notes}</details>\n");
    let from = page.body.find(LOADED).unwrap_or(0);
    match page.body[from..].find("</p>\n") {
        Some(at) => page.body.insert_str(from + at + "</p>\n".len(), &notes),
        None => page.body.push_str(&notes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_explains_the_units_that_it_uses() {
        let notes = |body, is_requested| notes(body, is_requested, false);
        assert_eq!(notes("<p>7 processor-h</p>", true), "");
        let html = notes("<p>CPU: 7 NCU-h</p>", true);
        assert!(html.contains("requested CPU time") && html.contains("NCU: CPU as a share"));
        assert!(!html.contains("NMU"), "{html}");
        assert!(notes("7 NMU", false).starts_with("<p class=\"source\">NMU: memory"));
        assert_eq!(notes("xNCU NMUs", false), "");
    }

    #[test]
    fn a_page_says_from_when_times_of_a_google_trace_count() {
        let body = "<p>days and time since the start of the trace</p>";
        assert!(notes(body, false, true).contains("The trace itself begins 600 s later"));
        assert_eq!(notes(body, false, false), "");
        assert_eq!(notes("<p>7 jobs</p>", false, true), "");
    }

    #[test]
    fn requests_are_explained_only_where_nothing_is_measured() {
        let of = |all: &[&str]| are_requested(all.iter().map(|&cpu| cpu.to_owned()));
        assert!(of(&["requested"]) && of(&["requested", "requested"]));
        assert!(!of(&["requested", "measured"]) && !of(&["measured", "requested"]) && !of(&[]));
    }
}

//! Units and terms that a page uses, each explained once.
//!
//! In: a page and all results. Out: the page with a note for each term that it uses: after its first
//! paragraph on the overview, at the end of other pages. A page that uses none is left as it is.

use std::fmt::Write;

use super::html::Page;
use super::text::escape;
use crate::results::Stored;
use crate::results::envelope::Measures;
use crate::studies::meter::CpuDefinition;

/// The unit of CPU of traces whose publisher scaled it.
const NCU: &str = "NCU: CPU as a share of that of the largest machine of the trace, the unit in which \
    the publisher gives it. 1 NCU-h is all CPU of such a machine for an hour.";

/// The same for memory.
const NMU: &str = "NMU: memory as a share of that of the largest machine of the trace; 1 NMU-h is all of it for an hour.";

/// What CPU time means if requests are added up.
const REQUESTED: &str = "CPU time on this page is requested CPU time: the CPU that each attempt requested \
    or was allocated, times its running time. The CPU that was really used may be far less.";

/// Whether a text has a word that is not part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_inside = |letter: char| letter.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_inside) && !text[at + word.len()..].starts_with(is_inside)
    })
}

/// The notes for a page; empty if it needs none.
fn notes(body: &str, is_requested: bool) -> String {
    let all = [
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

/// Whether all results with a definition of CPU time add up requests; a page of a report that also
/// has measured ones cannot say so of all.
fn are_requested(mut cpus: impl Iterator<Item = String>) -> bool {
    let requested = CpuDefinition::Requested.to_string();
    cpus.next().is_some_and(|first| first == requested) && cpus.all(|cpu| cpu == requested)
}

/// Adds the notes to a page.
pub(super) fn add(page: &mut Page, results: &[Stored]) {
    let cpus = results.iter().filter_map(|result| result.whole.chosen::<Measures>().cpu);
    let notes = notes(&page.body, are_requested(cpus));
    let first_end = page.body.find("</p>\n").map(|at| at + "</p>\n".len());
    match first_end.filter(|_| page.file == "index.html") {
        Some(at) => page.body.insert_str(at, &notes),
        None => page.body.push_str(&notes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_explains_the_units_that_it_uses() {
        assert_eq!(notes("<p>7 processor-h</p>", true), "");
        let html = notes("<p>CPU: 7 NCU-h</p>", true);
        assert!(html.contains("requested CPU time") && html.contains("NCU: CPU as a share"));
        assert!(!html.contains("NMU"), "{html}");
        assert!(notes("7 NMU", false).starts_with("<p class=\"source\">NMU: memory"));
        assert_eq!(notes("xNCU NMUs", false), "");
    }

    #[test]
    fn requests_are_explained_only_where_nothing_is_measured() {
        let of = |all: &[&str]| are_requested(all.iter().map(|&cpu| cpu.to_owned()));
        assert!(of(&["requested"]) && of(&["requested", "requested"]));
        assert!(!of(&["requested", "measured"]) && !of(&["measured", "requested"]) && !of(&[]));
    }
}

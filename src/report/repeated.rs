//! Parts of a page that are left out because another part shows the same, and sentences that a
//! section takes from another result.
//!
//! In: the results of a page. Out: the remaining charts, whether a result needs no section, and a
//! sentence as HTML.

use super::findings::nothing;
use super::text::sentence;
use super::ticks::described;
use crate::answers::classify;
use crate::answers::describe::DescribeAnswer;
use crate::results::kind::Kind;
use crate::results::{Picture, Stored};
use crate::studies::samples::What;

/// The charts without bars by outcome, if a chart by outcome and reason shows all of the same
/// numbers.
pub(super) fn without_repeated(charts: Vec<Picture<'_>>) -> Vec<Picture<'_>> {
    let by_reason = |chart: &Picture<'_>| {
        let stem = chart.file.strip_suffix("-reasons")?;
        (!chart.caption.contains("most common")).then(|| stem.to_owned())
    };
    let repeated: Vec<String> = charts.iter().filter_map(by_reason).collect();
    charts.into_iter().filter(|chart| !repeated.iter().any(|stem| stem == chart.file)).collect()
}

/// Whether a survival curve is one minus the distribution of durations on the same page.
pub(super) fn is_in_durations(result: &Stored, shown: &[(&Kind<'_>, &Stored)]) -> bool {
    let is_durations = |answer: &DescribeAnswer| answer.what == What::JobDurations;
    let has_durations = || {
        let own = shown.iter().filter(|(_, own)| nothing(own).is_none() && !is_constant(own));
        own.filter_map(|(_, own)| described(own)).any(is_durations)
    };
    described(result).is_some_and(DescribeAnswer::repeats_durations) && has_durations()
}

/// A sentence on the page of the outcomes that many jobs of an outcome took at most a second; empty
/// on other pages.
pub(super) fn brief(result: &Stored, all: &[Stored]) -> String {
    let mut said =
        all.iter().filter(|_| result.name == classify::KINDS[0].name).filter_map(described);
    let said = said.find_map(DescribeAnswer::brief);
    said.map_or_else(String::new, |said| format!("<p>{}.</p>\n", sentence(&said)))
}

/// Whether all described values are the same, such as one task in every job.
pub(super) fn is_constant(result: &Stored) -> bool {
    described(result).is_some_and(DescribeAnswer::needs_no_table)
}

/// Shorter sentences are repeated, because a reference to them would be as long; in bytes.
const REPEATED_BELOW: usize = 45;

/// A caption without the sentences that captions above it already have. It ends with "Otherwise as
/// above." if any are left out.
pub(super) fn unsaid(caption: &str, said: &mut Vec<String>) -> String {
    let sentences: Vec<&str> = caption.split_inclusive(". ").collect();
    let is_new = |one: &&&str| {
        let whole = one.trim_end().trim_end_matches('.');
        whole.len() < REPEATED_BELOW || said.iter().all(|known| known != whole)
    };
    let fresh: Vec<&str> = sentences.iter().filter(is_new).copied().collect();
    let is_cut = fresh.len() < sentences.len();
    let known = sentences.iter().map(|one| one.trim_end().trim_end_matches('.').to_owned());
    said.extend(known.collect::<Vec<String>>());
    let text = fresh.concat().trim_end().to_owned();
    let space = if text.is_empty() { "" } else { " " };
    if is_cut { format!("{text}{space}Otherwise as above.") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_caption_above_says_is_not_said_again() {
        let long = "A straggler is a task longer than 1.5 times the median of its job";
        let mut said = Vec::new();
        assert_eq!(
            unsaid(&format!("Best: a. {long}. Short."), &mut said),
            format!("Best: a. {long}. Short.")
        );
        assert_eq!(
            unsaid(&format!("Best: b. {long}. Short."), &mut said),
            "Best: b. Short. Otherwise as above."
        );
        assert_eq!(unsaid(&format!("{long}."), &mut said), "Otherwise as above.");
        assert_eq!(unsaid("", &mut said), "");
    }

    #[test]
    fn bars_by_outcome_are_left_out_if_those_by_reason_are_all_drawn() {
        let chart =
            |file: &'static str, caption: &'static str| Picture { file, title: "", caption };
        let kept = |charts: Vec<Picture<'static>>| -> Vec<&str> {
            without_repeated(charts).iter().map(|own| own.file).collect()
        };
        let (bars, flow) = (chart("jobs", ""), chart("jobs-flow", ""));
        let all = chart("jobs-reasons", "By reason.");
        assert_eq!(kept(vec![bars, flow, all]), ["jobs-flow", "jobs-reasons"]);
        let some = chart("jobs-reasons", "The 24 most common of 40 are drawn.");
        assert_eq!(kept(vec![bars, some]), ["jobs", "jobs-reasons"]);
    }
}

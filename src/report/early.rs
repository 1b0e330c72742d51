//! A log that lacks the jobs that had ended before some instant, as an export by time of end does.
//!
//! In: results. Out: the instant, and the warning on pages whose numbers include earlier time.

use crate::answers::load;
use crate::results::Stored;
use crate::studies::first_end::{LACKS_EARLY, LACKS_OPEN};

/// From when on a log seems to hold all jobs, if it was selected by time of end.
fn found(results: &[Stored]) -> Option<load::WholeFrom> {
    let of_load = |result: &&Stored| result.name == load::KIND.name;
    let mut loads = results.iter().filter(of_load).filter_map(Stored::found::<load::LoadAnswer>);
    loads.find_map(|answer| answer.whole_from.clone())
}

/// The same: s of its clock, and in words.
pub(super) fn whole_from(results: &[Stored]) -> Option<(f64, String)> {
    found(results).map(|from| (from.from_s, from.when))
}

/// The same in words.
pub(super) fn complete_from(results: &[Stored]) -> Option<String> {
    whole_from(results).map(|from| from.1)
}

/// A warning that numbers include time for which the log lacks jobs, and what that does to them; empty
/// if there is none.
pub(super) fn incomplete(results: &[Stored]) -> String {
    found(results).map_or_else(String::new, |from| {
        format!("<p class=\"notice\">{} {}</p>\n", holds_only(&from), consequences(&from))
    })
}

/// The same for pages of studies: what it does to numbers is folded.
pub(super) fn incomplete_in_short(results: &[Stored]) -> String {
    found(results).map_or_else(String::new, |from| {
        format!(
            "<details class=\"notice\"><summary>{}</summary>{}</details>\n",
            holds_only(&from),
            consequences(&from)
        )
    })
}

fn holds_only(from: &load::WholeFrom) -> String {
    format!("The log seems to hold only jobs that ended from {} on.", from.when)
}

fn consequences(from: &load::WholeFrom) -> String {
    let lacks_open = from.has_open == Some(false);
    let open = if lacks_open { format!(" {LACKS_OPEN}.") } else { String::new() };
    let means = from.means.said().map_or_else(String::new, |said| format!(" {said}."));
    format!("{LACKS_EARLY}.{means}{open}")
}

//! A log that lacks the jobs that had ended before some instant, as an export by time of end does.
//!
//! In: results. Out: the instant, and the warning on pages whose numbers include earlier time.

use crate::answers::load;
use crate::results::Stored;

/// From when on a log seems to hold all jobs, if it was selected by time of end: s of its clock, and
/// in words.
pub(super) fn whole_from(results: &[Stored]) -> Option<(f64, String)> {
    let of_load = |result: &&Stored| result.name == load::KIND.name;
    let loads = results.iter().filter(of_load).filter_map(Stored::found::<load::LoadAnswer>);
    let mut from = loads.filter_map(|answer| answer.whole_from.as_ref());
    from.next().map(|from| (from.from_s, from.when.clone()))
}

/// The same in words.
pub(super) fn complete_from(results: &[Stored]) -> Option<String> {
    whole_from(results).map(|from| from.1)
}

/// A warning for pages whose numbers include time for which the log lacks jobs; empty if there is
/// none.
pub(super) fn incomplete(results: &[Stored]) -> String {
    complete_from(results).map_or_else(String::new, |when| {
        format!(
            "<p class=\"notice\">The log seems to hold only jobs that ended from {when} on. Use, load, \
            waits and shares that include earlier time are too low.</p>\n"
        )
    })
}

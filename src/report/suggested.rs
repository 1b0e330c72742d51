//! The users to hold back, and those who came when capacity was free.
//!
//! In: a stored result of `fairness`. Out: tables that link to the pages of users.

use super::early::whole_from;
use super::html::{self, Cell};
use super::text::user_name;
use super::used::{FIRST_USE, Of, linked, share};
use crate::answers::sentences::short;

/// The users to hold back, and the users who came when capacity was free. Of the second group,
/// users are left out if they came in the time for which the log lacks jobs.
pub(super) fn table(of: &Of<'_>) -> String {
    let places = of.places();
    let cpu = of.column();
    let name = |user: &str| {
        let shown = short(user_name(user));
        match places.get(user) {
            Some(&place) => linked(&shown, "users", place),
            None => Cell::name(&shown),
        }
    };
    let (found, since_s) = (&of.answer.suggestions, of.since_s());
    let first_s = of.answer.start_s - of.settings.shift_s();
    let whole_from = whole_from(of.all).filter(|_| of.settings.is_only_cluster());
    let whole_from_s = whole_from.map_or(f64::NEG_INFINITY, |from| from.0);
    // The load is that of the interval before the user's first use.
    let is_known = |at_s: f64| whole_from_s <= first_s + at_s - of.answer.interval_s;
    let held = found.hold_back.iter().map(|own| {
        let [before, after] =
            [own.cpu_until_then_s, own.cpu_afterwards_s].map(|cpu_s| of.used(cpu_s));
        vec![name(&own.user), Cell::instant(Some(since_s + own.passed_at_s)), before, after]
    });
    let came = found.came_when_free.iter().filter(|own| is_known(own.first_use_s)).map(|own| {
        let first = Cell::instant(Some(since_s + own.first_use_s));
        vec![name(&own.user), first, share(Some(own.load_before)), of.used(own.cpu_s)]
    });
    let before = format!("{cpu} until then");
    let after = format!("{cpu} afterwards");
    let mut html = String::new();
    for (rows, caption, header) in [
        (
            held.collect::<Vec<Vec<Cell>>>(),
            "Had more than the ceiling early in the span",
            ["user", "passed it at", &before, &after],
        ),
        (
            came.collect(),
            "First used something when capacity was free",
            ["user", FIRST_USE, "load in the interval before", &cpu],
        ),
    ] {
        if !rows.is_empty() {
            let caption = format!("{caption} ({})", of.clock());
            html.push_str(&html::table(&caption, &header.map(str::to_owned), &rows));
        }
    }
    html
}

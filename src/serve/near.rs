//! The users or machines of a lake, for readers who do not know a name: those with most events, and
//! those whose names are near a name that none has.
//!
//! In: a lake. Out: names, the most active first. A search stops at its time limit.

use std::path::Path;
use std::time::Instant;

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use maud::{Markup, PreEscaped, html};
use rustc_hash::FxHashMap;

use super::form::encoded;
use super::look::MACHINE_NAME;
use super::start::titled;
use crate::digits::grouped;
use crate::lake::{Lake, LakeError};
use crate::notation::nearest;
use crate::progress;
use crate::report::html::{Cell, table};
use crate::schema::{SYSTEM_MACHINE, Table};

/// Largest number of names that are listed.
const LISTED_MAX: usize = 100;

/// Largest number of names that are suggested.
const NEAR_MAX: usize = 8;

/// A user or machine and the number of events.
pub(super) type One = (String, u64);

/// The users or machines of a lake.
pub(super) struct Known {
    /// `user` or `machine`.
    what: &'static str,
    /// The most active first.
    all: Vec<One>,
    /// The table whose rows are counted.
    table: Table,
    /// Whether the search was ended by its time limit.
    pub(super) is_cut: bool,
}

/// All users or machines of a lake, the most active first.
pub(super) fn known(path: &Path, what: &str, end: Instant) -> Result<Known, LakeError> {
    let lake = Lake::open(path)?;
    if what == "machine" { machines(&lake, end) } else { users(&lake, end) }
}

fn users(lake: &Lake, end: Instant) -> Result<Known, LakeError> {
    let table = if lake.has(Table::JobEvents) { Table::JobEvents } else { Table::TaskEvents };
    let mut counts: FxHashMap<String, u64> = FxHashMap::default();
    let mut is_cut = false;
    for bucket in 0..lake.bucket_count() {
        is_cut = end < progress::now();
        if is_cut {
            break;
        }
        lake.scan(table, Some(bucket), &["user"], |batch| {
            let users = batch.column(0).as_string::<i32>();
            for row in (0..batch.num_rows()).filter(|&row| users.is_valid(row)) {
                match counts.get_mut(users.value(row)) {
                    Some(count) => *count += 1,
                    None => {
                        counts.insert(users.value(row).to_owned(), 1);
                    }
                }
            }
        })?;
    }
    Ok(Known { what: "user", all: ordered(counts), table, is_cut })
}

/// The machines on which tasks ran, by name in a lake that has names.
fn machines(lake: &Lake, end: Instant) -> Result<Known, LakeError> {
    let table = Table::TaskEvents;
    let mut counts: FxHashMap<i64, u64> = FxHashMap::default();
    let mut is_cut = false;
    for bucket in 0..lake.bucket_count() {
        is_cut = end < progress::now();
        if is_cut || !lake.has(table) {
            break;
        }
        lake.scan(table, Some(bucket), &["machine_id"], |batch| {
            let ids = batch.column(0).as_primitive::<Int64Type>();
            for row in (0..batch.num_rows()).filter(|&row| ids.is_valid(row)) {
                *counts.entry(ids.value(row)).or_default() += 1;
            }
        })?;
    }
    if lake.source().is_log() {
        // In a log this machine stands for the system as a whole.
        counts.remove(&SYSTEM_MACHINE);
    }
    let mut names: FxHashMap<i64, String> = FxHashMap::default();
    if lake.has(Table::MachineEvents) && lake.has_column(Table::MachineEvents, MACHINE_NAME) {
        lake.scan(Table::MachineEvents, None, &["machine_id", MACHINE_NAME], |batch| {
            let ids = batch.column(0).as_primitive::<Int64Type>();
            let own = batch.column(1).as_string::<i32>();
            for row in (0..batch.num_rows()).filter(|&row| own.is_valid(row)) {
                names.entry(ids.value(row)).or_insert_with(|| own.value(row).to_owned());
            }
        })?;
    }
    let by_name = |(id, count): (i64, u64)| {
        (names.get(&id).cloned().unwrap_or_else(|| id.to_string()), count)
    };
    let all = ordered(counts.into_iter().map(by_name).collect());
    Ok(Known { what: "machine", all, table, is_cut })
}

/// The most active first.
fn ordered(counts: FxHashMap<String, u64>) -> Vec<One> {
    let mut all: Vec<One> = counts.into_iter().collect();
    all.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    all
}

/// The names that begin like a name, have it within, or differ in few letters.
pub(super) fn near<'a>(name: &str, known: &'a [One]) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let names = || known.iter().map(|one| one.0.as_str());
    let begins = names().filter(|known| known.to_lowercase().starts_with(&wanted));
    let holds = names().filter(|known| known.to_lowercase().contains(&wanted));
    let mut found: Vec<&str> = Vec::new();
    for known in begins.chain(nearest(name, names())).chain(holds) {
        if !wanted.is_empty() && !found.contains(&known) && found.len() < NEAR_MAX {
            found.push(known);
        }
    }
    found
}

/// The address of the page of a user or a machine.
fn page_of(lake: &str, what: &str, name: &str) -> String {
    format!("/find?lake={}&what={what}&id={}", encoded(lake), encoded(name))
}

/// The address of the list of users or machines.
pub(super) fn list_of(lake: &str, what: &str) -> String {
    format!("/find?lake={}&what={what}&list=yes", encoded(lake))
}

/// How many names are listed of how many, in which order.
fn listed(known: &Known) -> String {
    let events = if known.table == Table::JobEvents { "events of jobs" } else { "events of tasks" };
    let (all, what) = (known.all.len() as u64, known.what);
    match all {
        0 if known.is_cut => format!("No {what} was found in time."),
        0 => format!("No {what} is named."),
        1 => format!("The only {what} that is named."),
        _ if known.all.len() <= LISTED_MAX => {
            format!("All {} {what}s, those with most {events} first.", grouped(all))
        }
        _ => format!("The {LISTED_MAX} {what}s with most {events}, of {} {what}s.", grouped(all)),
    }
}

/// The list of names as markup.
pub(super) fn list(lake: &str, known: &Known) -> Markup {
    let events = if known.table == Table::JobEvents { "job events" } else { "task events" };
    let (what, heading) = (known.what, titled(&format!("{}s", known.what)));
    let header = [what, events].map(str::to_owned);
    let row = |(name, count): &One| {
        vec![Cell::link(name, &page_of(lake, what, name)), Cell::of(&count.to_string())]
    };
    let rows: Vec<Vec<Cell>> = known.all.iter().take(LISTED_MAX).map(row).collect();
    html! {
        h2 { (heading) " of " (lake) }
        p { (listed(known)) }
        @if !rows.is_empty() {
            (PreEscaped(table(&format!("{heading} by number of {events}"), &header, &rows)))
        }
    }
}

/// Names that may have been meant, for a name that no user or machine has.
pub(super) fn suggested(lake: &str, name: &str, known: &Known) -> Markup {
    let (near, what) = (near(name, &known.all), known.what);
    html! {
        @if !near.is_empty() {
            p class="near" { "Did you mean " @for (place, one) in near.iter().enumerate() {
                @if 0 < place { ", " } a href=(page_of(lake, what, one)) { (one) }
            } "?" }
        }
        p { a href=(list_of(lake, what)) { "All " (what) "s of " (lake) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_alike_come_first() {
        let users = ["tanaka", "honbu", "hondo", "xhonx", "u1"];
        let users: Vec<One> = users.iter().map(|name| ((*name).to_owned(), 1)).collect();
        assert_eq!(near("hon", &users), ["honbu", "hondo", "xhonx"]);
        assert_eq!(near("Honbu", &users)[0], "honbu");
        assert_eq!(near("tanakka", &users), ["tanaka"]);
        assert!(near("", &users).is_empty() && near("zzzzzz", &users).is_empty());
    }

    #[test]
    fn a_list_says_how_many_users_of_how_many_it_has() {
        let of = |count: usize| {
            let all = (0..count).map(|number| (format!("u{number}"), 3)).collect();
            listed(&Known { what: "user", all, table: Table::JobEvents, is_cut: false })
        };
        assert_eq!(of(0), "No user is named.");
        assert_eq!(of(2), "All 2 users, those with most events of jobs first.");
        assert_eq!(of(1933), "The 100 users with most events of jobs, of 1,933 users.");
        let of = |what| Known {
            what,
            all: vec![("a b".to_owned(), 1234)],
            table: Table::TaskEvents,
            is_cut: false,
        };
        let one = of("user");
        let machines = list("x", &of("machine")).into_string();
        assert!(machines.contains("Machines of x") && machines.contains("what=machine&amp;id=a"));
        let near = suggested("x", "a c", &of("machine")).into_string();
        assert!(near.contains("Did you mean") && near.contains("All machines of x"), "{near}");
        let page = list("x", &one).into_string();
        assert!(page.contains("what=user&amp;id=a+b") || page.contains("id=a%20b"), "{page}");
        assert!(page.contains("task events") && page.contains("1,234"), "{page}");
    }
}

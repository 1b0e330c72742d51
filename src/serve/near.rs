//! The users or machines of a lake, for readers who do not know a name: those with most events, and
//! those with names similar to an unknown one.
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

/// A user or machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct One {
    /// Its name. A machine also has its number if it shares its name or if its name is a number.
    name: String,
    /// The text that finds it.
    id: String,
    /// The number of its events.
    count: u64,
}

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
    let one = |(name, count): (String, u64)| One { id: name.clone(), name, count };
    Ok(Known { what: "user", all: ordered(counts.into_iter().map(one).collect()), table, is_cut })
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
        // In a log, this machine represents the whole system.
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
    let all = ordered(named(&names, counts));
    Ok(Known { what: "machine", all, table, is_cut })
}

/// Machines by name. A machine also has its number, and is found by it, if it shares its name with
/// another machine or if its name is a number.
fn named(names: &FxHashMap<i64, String>, counts: FxHashMap<i64, u64>) -> Vec<One> {
    let mut sorted: Vec<&str> = names.values().map(String::as_str).collect();
    sorted.sort_unstable();
    let times = |name: &str| {
        let until = sorted.partition_point(|other| *other <= name);
        until - sorted.partition_point(|other| *other < name)
    };
    // A search takes a number as an id before it looks for names.
    let is_own = |name: &str| times(name) == 1 && name.parse::<i64>().is_err();
    let one = |(id, count): (i64, u64)| {
        let (name, id) = (names.get(&id), id.to_string());
        match name {
            Some(name) if is_own(name) => One { name: name.clone(), id: name.clone(), count },
            Some(name) => One { name: format!("{name} (machine {id})"), id, count },
            None => One { name: id.clone(), id, count },
        }
    };
    counts.into_iter().map(one).collect()
}

/// The most active first.
fn ordered(mut all: Vec<One>) -> Vec<One> {
    all.sort_by(|one, other| (other.count, &one.name).cmp(&(one.count, &other.name)));
    all
}

/// The names that begin with a name, contain it, or differ from it in few letters.
pub(super) fn near<'a>(name: &str, known: &'a [One]) -> Vec<&'a One> {
    let wanted = name.to_lowercase();
    let names = || known.iter().map(|one| one.name.as_str());
    let begins = known.iter().filter(|one| one.name.to_lowercase().starts_with(&wanted));
    let holds = known.iter().filter(|one| one.name.to_lowercase().contains(&wanted));
    let nearest = nearest(name, names());
    let nearest = known.iter().filter(|one| nearest == Some(one.name.as_str()));
    let mut found: Vec<&One> = Vec::new();
    for known in begins.chain(nearest).chain(holds) {
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

/// How many of the names are listed, and in which order.
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
    let row = |One { name, id, count }: &One| {
        vec![Cell::link(name, &page_of(lake, what, id)), Cell::of(&count.to_string())]
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

/// Suggestions for a name that no user or machine has.
pub(super) fn suggested(lake: &str, name: &str, known: &Known) -> Markup {
    let (near, what) = (near(name, &known.all), known.what);
    html! {
        @if !near.is_empty() {
            p class="near" { "Did you mean " @for (place, one) in near.iter().enumerate() {
                @if 0 < place { ", " } a href=(page_of(lake, what, &one.id)) { (one.name) }
            } "?" }
        }
        p { a href=(list_of(lake, what)) { "All " (what) "s of " (lake) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, count: u64) -> One {
        One { name: name.to_owned(), id: name.to_owned(), count }
    }

    #[test]
    fn names_that_begin_alike_come_first() {
        let users = ["tanaka", "honbu", "hondo", "xhonx", "u1"];
        let users: Vec<One> = users.iter().map(|name| one(name, 1)).collect();
        let near = |name: &str| -> Vec<&str> {
            near(name, &users).into_iter().map(|one| one.name.as_str()).collect()
        };
        assert_eq!(near("hon"), ["honbu", "hondo", "xhonx"]);
        assert_eq!(near("Honbu")[0], "honbu");
        assert_eq!(near("tanakka"), ["tanaka"]);
        assert!(near("").is_empty() && near("zzzzzz").is_empty());
    }

    #[test]
    fn machines_with_one_name_are_distinguished() {
        let names = [(7, "node"), (8, "node"), (9, "own"), (10, "7")];
        let names = names.map(|(id, name)| (id, name.to_owned())).into_iter().collect();
        let counts = [(7, 30), (8, 20), (9, 10), (10, 5), (11, 1)].into_iter().collect();
        let all = ordered(named(&names, counts));
        let all: Vec<(&str, &str, u64)> =
            all.iter().map(|one| (one.name.as_str(), one.id.as_str(), one.count)).collect();
        let expected = [
            ("node (machine 7)", "7", 30),
            ("node (machine 8)", "8", 20),
            ("own", "own", 10),
            ("7 (machine 10)", "10", 5),
            ("11", "11", 1),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_list_says_how_many_users_of_how_many_it_has() {
        let of = |count: usize| {
            let all = (0..count).map(|number| one(&format!("u{number}"), 3)).collect();
            listed(&Known { what: "user", all, table: Table::JobEvents, is_cut: false })
        };
        assert_eq!(of(0), "No user is named.");
        assert_eq!(of(2), "All 2 users, those with most events of jobs first.");
        assert_eq!(of(1933), "The 100 users with most events of jobs, of 1,933 users.");
        let of = |what| Known {
            what,
            all: vec![one("a b", 1234)],
            table: Table::TaskEvents,
            is_cut: false,
        };
        let users = of("user");
        let machines = list("x", &of("machine")).into_string();
        assert!(machines.contains("Machines of x") && machines.contains("what=machine&amp;id=a"));
        let near = suggested("x", "a c", &of("machine")).into_string();
        assert!(near.contains("Did you mean") && near.contains("All machines of x"), "{near}");
        let page = list("x", &users).into_string();
        assert!(page.contains("what=user&amp;id=a+b") || page.contains("id=a%20b"), "{page}");
        assert!(page.contains("task events") && page.contains("1,234"), "{page}");
    }
}

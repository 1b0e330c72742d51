//! The users of a lake, for readers who do not know a name: those with most events, and those whose
//! names are near a name that no user has.
//!
//! In: a lake. Out: names, the most active first. A search stops at its time limit.

use std::path::Path;
use std::time::Instant;

use arrow::array::{Array, AsArray};
use maud::{Markup, PreEscaped, html};
use rustc_hash::FxHashMap;

use super::form::encoded;
use crate::digits::grouped;
use crate::lake::{Lake, LakeError};
use crate::notation::nearest;
use crate::progress;
use crate::report::html::{Cell, table};
use crate::schema::Table;

/// Largest number of users that are listed.
const LISTED_MAX: usize = 100;

/// Largest number of users that are suggested.
const NEAR_MAX: usize = 8;

/// A user and the number of events.
pub(super) type User = (String, u64);

/// The users of a lake.
pub(super) struct Users {
    /// The most active first.
    all: Vec<User>,
    /// The table whose rows are counted.
    table: Table,
    /// Whether the search was ended by its time limit.
    pub(super) is_cut: bool,
}

/// All users of a lake, the most active first.
pub(super) fn users(path: &Path, end: Instant) -> Result<Users, LakeError> {
    let lake = Lake::open(path)?;
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
    let mut all: Vec<User> = counts.into_iter().collect();
    all.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    Ok(Users { all, table, is_cut })
}

/// The users whose names begin like a name, have it within, or differ in few letters.
pub(super) fn near<'a>(name: &str, users: &'a [User]) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let names = || users.iter().map(|user| user.0.as_str());
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

/// The address of the page of a user.
fn page_of(lake: &str, user: &str) -> String {
    format!("/find?lake={}&what=user&id={}", encoded(lake), encoded(user))
}

/// How many users are listed of how many, in which order.
fn listed(users: &Users) -> String {
    let events = if users.table == Table::JobEvents { "events of jobs" } else { "events of tasks" };
    let all = users.all.len() as u64;
    match all {
        0 if users.is_cut => "No user was found in time.".to_owned(),
        0 => "No user is named.".to_owned(),
        1 => "The only user that is named.".to_owned(),
        _ if users.all.len() <= LISTED_MAX => {
            format!("All {} users, those with most {events} first.", grouped(all))
        }
        _ => format!("The {LISTED_MAX} users with most {events}, of {} users.", grouped(all)),
    }
}

/// The list of users as markup.
pub(super) fn list(lake: &str, users: &Users) -> Markup {
    let events = if users.table == Table::JobEvents { "job events" } else { "task events" };
    let header = ["user", events].map(str::to_owned);
    let row = |(user, count): &User| {
        vec![Cell::link(user, &page_of(lake, user)), Cell::of(&count.to_string())]
    };
    let rows: Vec<Vec<Cell>> = users.all.iter().take(LISTED_MAX).map(row).collect();
    html! {
        h2 { "Users of " (lake) }
        p { (listed(users)) }
        @if !rows.is_empty() { (PreEscaped(table(&format!("Users by number of {events}"), &header, &rows))) }
    }
}

/// Names that may have been meant, for a name that no user has.
pub(super) fn suggested(lake: &str, name: &str, users: &Users) -> Markup {
    let near = near(name, &users.all);
    html! {
        @if !near.is_empty() {
            p { "Did you mean " @for (place, user) in near.iter().enumerate() {
                @if 0 < place { ", " } a href=(page_of(lake, user)) { (user) }
            } "?" }
        }
        p { a href={ "/find?lake=" (encoded(lake)) "&what=user&list=yes" } { "All users of " (lake) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_alike_come_first() {
        let users = ["tanaka", "honbu", "hondo", "xhonx", "u1"];
        let users: Vec<User> = users.iter().map(|name| ((*name).to_owned(), 1)).collect();
        assert_eq!(near("hon", &users), ["honbu", "hondo", "xhonx"]);
        assert_eq!(near("Honbu", &users)[0], "honbu");
        assert_eq!(near("tanakka", &users), ["tanaka"]);
        assert!(near("", &users).is_empty() && near("zzzzzz", &users).is_empty());
    }

    #[test]
    fn a_list_says_how_many_users_of_how_many_it_has() {
        let of = |count: usize| {
            let all = (0..count).map(|number| (format!("u{number}"), 3)).collect();
            listed(&Users { all, table: Table::JobEvents, is_cut: false })
        };
        assert_eq!(of(0), "No user is named.");
        assert_eq!(of(2), "All 2 users, those with most events of jobs first.");
        assert_eq!(of(1933), "The 100 users with most events of jobs, of 1,933 users.");
        let one =
            Users { all: vec![("a b".to_owned(), 1234)], table: Table::TaskEvents, is_cut: false };
        let page = list("x", &one).into_string();
        assert!(page.contains("what=user&amp;id=a+b") || page.contains("id=a%20b"), "{page}");
        assert!(page.contains("task events") && page.contains("1,234"), "{page}");
    }
}

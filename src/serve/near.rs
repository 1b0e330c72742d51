//! The users of a lake, for readers who do not know a name: those with most events, and those whose
//! names are near a name that no user has.
//!
//! In: a lake. Out: names, the most active first. A search stops at its time limit.

use std::path::Path;
use std::time::Instant;

use arrow::array::{Array, AsArray};
use maud::{Markup, html};
use rustc_hash::FxHashMap;

use super::form::encoded;
use crate::digits::grouped;
use crate::lake::{Lake, LakeError};
use crate::notation::nearest;
use crate::progress;
use crate::schema::Table;

/// Largest number of users that are listed.
const LISTED_MAX: usize = 100;

/// Largest number of users that are suggested.
const NEAR_MAX: usize = 8;

/// A user and the number of events.
pub(super) type User = (String, u64);

/// All users of a lake, the most active first, and whether the search was ended by its time limit.
pub(super) fn users(path: &Path, end: Instant) -> Result<(Vec<User>, bool), LakeError> {
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
    Ok((all, is_cut))
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

fn link(lake: &str, user: &str) -> Markup {
    let to = format!("/find?lake={}&what=user&id={}", encoded(lake), encoded(user));
    html! { a href=(to) { (user) } }
}

/// The list of users as markup.
pub(super) fn list(lake: &str, users: &[User]) -> Markup {
    html! {
        h2 { "Users of " (lake) }
        @if LISTED_MAX < users.len() {
            p { "The " (LISTED_MAX) " with most events, of " (grouped(users.len() as u64)) "." }
        }
        ul class="names" {
            @for (user, _) in users.iter().take(LISTED_MAX) { li { (link(lake, user)) } }
        }
    }
}

/// Names that may have been meant, for a name that no user has.
pub(super) fn suggested(lake: &str, name: &str, users: &[User]) -> Markup {
    let near = near(name, users);
    html! {
        @if !near.is_empty() {
            p { "Did you mean " @for (place, user) in near.iter().enumerate() {
                @if 0 < place { ", " } (link(lake, user))
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
}

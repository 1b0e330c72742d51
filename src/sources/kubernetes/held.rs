//! What is held of the pods of a log until its end.
//!
//! In: pods as lists and requests show them, in any order, and their changes. Out: each pod once, with
//! all its attempts, and pods of which only the changes are known.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::super::json::pick::Part;
use super::super::records::hash;
use super::super::records::snapshots::{Attempt, Snapshots, joined, settled};
use super::changes::Changes;
use super::pods::Pod;

/// A pod with its attempts.
pub(super) struct Shown {
    pub(super) pod: Value,
    pub(super) attempts: Vec<Attempt>,
}

impl Shown {
    pub(super) fn pod(&self) -> Pod<'_> {
        Pod(Part(&self.pod))
    }

    /// Its names and its uid, which were checked when it was read.
    fn names(&self) -> [&str; 3] {
        self.pod().names().unwrap_or_default()
    }

    /// How late a snapshot is: what it says can only grow.
    fn age(&self) -> (i64, bool, u64) {
        let has_ended = self.attempts.last().is_some_and(|last| last.end.is_some());
        let version = self.pod["metadata"]["resourceVersion"].as_str();
        let version = version.and_then(|text| text.parse().ok()).unwrap_or_default();
        (self.pod().restarts(), has_ended, version)
    }

    /// Two snapshots of a pod: the later one, with the attempts of both.
    fn join(self, other: Self) -> Self {
        let is_late = other.age() < self.age();
        let (mut late, early) = if is_late { (self, other) } else { (other, self) };
        if 0 < late.pod().restarts() {
            late.attempts = joined(late.attempts, early.attempts);
        }
        late
    }
}

/// What is known of the pods so far.
#[derive(Default)]
pub(super) struct Held {
    pub(super) changes: Changes,
    pub(super) pods: Snapshots<Shown>,
    /// Pods that were shown, by their names.
    names: FxHashSet<u64>,
}

fn name_hash([namespace, name, _]: [&str; 3]) -> u64 {
    hash(namespace.as_bytes()).rotate_left(1) ^ hash(name.as_bytes())
}

/// What tells a pod from all others of the log: its uid. Without one its name is all that does.
fn key_of(names: [&str; 3]) -> u64 {
    if names[2].is_empty() { !name_hash(names) } else { hash(names[2].as_bytes()) }
}

impl Held {
    /// Takes a pod that was checked; gives it back where it ended and was never started again.
    pub(super) fn add(&mut self, shown: Shown) -> Option<Shown> {
        let key = key_of(shown.names());
        self.names.insert(name_hash(shown.names()));
        let is_last = shown.pod().is_final();
        self.pods.add(key, shown, is_last, Shown::join)
    }

    /// The pods that are left, those that were asked for first before the others, with what their
    /// changes say of them. Pods of which only the changes are known come last.
    pub(super) fn take_rest(&mut self) -> Vec<Shown> {
        let mut rest = self.pods.take_held();
        rest.sort_by_cached_key(|shown| {
            (shown.pod().created_us().unwrap_or_default(), shown.names().map(str::to_owned))
        });
        for shown in &mut rest {
            shown.attempts = settled(std::mem::take(&mut shown.attempts));
        }
        // Of several pods of one name the last is the one that is there.
        let both = |shown: &Shown| [name_hash(shown.names()), key_of(shown.names())];
        let places: FxHashMap<u64, usize> =
            (0..).zip(&rest).flat_map(|(at, shown)| both(shown).map(|key| (key, at))).collect();
        for (names, change) in std::mem::take(&mut self.changes).0 {
            let named = names.each_ref().map(String::as_str);
            let (by_name, key) = (name_hash(named), key_of(named));
            let is_named = named[2].is_empty() && self.names.contains(&by_name);
            let place = places.get(if is_named { &by_name } else { &key });
            if let Some(&place) = place.or(places.get(&!by_name)) {
                let asked_us = rest[place].pod().created_us().unwrap_or_default();
                if let Some(last) = rest[place].attempts.last_mut() {
                    let asked_us = last.submit_us.or(asked_us);
                    last.close(asked_us, change.attempt);
                }
            } else if !is_named && ![key, !by_name].iter().any(|&key| self.pods.has_ended(key)) {
                let (pod, attempt) = change.alone(names);
                rest.push(Shown { pod, attempts: vec![attempt] });
            }
        }
        rest
    }
}

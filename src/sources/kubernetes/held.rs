//! Holds the pods of a log until its end.
//!
//! In: pods as lists and requests show them, in any order, and their changes. Out: each pod once,
//! with all its attempts, then the pods that are known only from changes.

use std::cmp::Ordering;

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

    /// The version of the object, which grows with each change.
    fn version(&self) -> Option<u64> {
        self.pod["metadata"]["resourceVersion"].as_str()?.parse().ok()
    }

    /// How far the pod has come: the number of its last attempt, its last end, and whether its last
    /// attempt has started. None of these can decrease.
    fn age(&self) -> (i64, Option<(i64, i32)>, bool) {
        let last = self.attempts.last();
        let has_begun = last.is_some_and(|last| last.start_us.is_some());
        let number = last.and_then(|last| last.number).unwrap_or_default();
        (number, last.and_then(|last| last.end), has_begun)
    }

    /// Whether it shows that there was more than one attempt.
    fn has_several(&self) -> bool {
        1 < self.attempts.len() || 0 < self.pod().restarts()
    }

    /// Whether it is the later of two snapshots, no matter which of them was read first.
    fn is_after(&self, other: &Self) -> bool {
        let versions = self.version().zip(other.version());
        let by_version = versions.map_or(Ordering::Equal, |(version, other)| version.cmp(&other));
        let by_age = || self.age().cmp(&other.age());
        let by_text = || self.pod.to_string().cmp(&other.pod.to_string());
        by_version.then_with(by_age).then_with(by_text).is_gt()
    }

    /// Joins two snapshots of a pod: the later one, with the attempts of both.
    fn join(self, other: Self) -> Self {
        let is_late = self.is_after(&other);
        let (mut late, early) = if is_late { (self, other) } else { (other, self) };
        let were_several = late.has_several() || early.has_several();
        late.attempts = joined(late.attempts, early.attempts, were_several);
        late
    }

    /// Whether no later snapshot can add anything.
    fn is_last(&self) -> bool {
        self.pod().is_final() && self.attempts.iter().all(|attempt| attempt.start_us.is_some())
    }
}

/// What is known of the pods so far.
#[derive(Default)]
pub(super) struct Held {
    pub(super) changes: Changes,
    pub(super) pods: Snapshots<Shown>,
    /// Hashes of the names of pods that were shown.
    names: FxHashSet<u64>,
    /// Hashes of the keys of these pods.
    keys: FxHashSet<u64>,
}

fn name_hash([namespace, name, _]: [&str; 3]) -> u64 {
    hash(namespace.as_bytes()).rotate_left(1) ^ hash(name.as_bytes())
}

/// The key of a pod in changes: its uid, or its name if it has none.
fn key_of(names: [&str; 3]) -> u64 {
    if names[2].is_empty() { !name_hash(names) } else { hash(names[2].as_bytes()) }
}

impl Held {
    /// Adds a checked pod. Returns it if no later snapshot can add anything.
    pub(super) fn add(&mut self, shown: Shown) -> Option<Shown> {
        let names = shown.names();
        let created_us = shown.pod().created_us().unwrap_or_default();
        self.names.insert(name_hash(names));
        self.keys.insert(key_of(names));
        // A pod without a uid that is created again has the same name, but another time.
        let key = match created_us {
            Some(created_us) if names[2].is_empty() => {
                key_of(names).rotate_left(1) ^ hash(&created_us.to_le_bytes())
            }
            _ => key_of(names),
        };
        let is_last = shown.is_last();
        self.pods.add(key, shown, is_last, Shown::join)
    }

    /// The remaining pods in the order of their creation, with their changes. Pods that are known
    /// only from changes come last.
    pub(super) fn take_rest(&mut self) -> Vec<Shown> {
        let mut rest = self.pods.take_held();
        rest.sort_by_cached_key(|shown| {
            (shown.pod().created_us().unwrap_or_default(), shown.names().map(str::to_owned))
        });
        for shown in &mut rest {
            shown.attempts = settled(std::mem::take(&mut shown.attempts));
        }
        // A change by name refers to the last of several pods with that name.
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
            } else if !is_named && ![key, !by_name].iter().any(|key| self.keys.contains(key)) {
                let (pod, attempt) = change.alone(names);
                rest.push(Shown { pod, attempts: vec![attempt] });
            }
        }
        rest
    }
}

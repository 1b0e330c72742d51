//! Distinct values, by position.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Distinct values, by position.
#[derive(Deserialize)]
#[serde(from = "Vec<T>", bound(deserialize = "T: Deserialize<'de> + Clone + Eq + Hash"))]
pub(super) struct Interned<T> {
    pub(super) all: Vec<T>,
    pub(super) index: FxHashMap<T, u32>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { all: Vec::new(), index: FxHashMap::default() }
    }
}

impl<T: Serialize> Serialize for Interned<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(to)
    }
}

impl<T: Clone + Eq + Hash> From<Vec<T>> for Interned<T> {
    fn from(all: Vec<T>) -> Self {
        let index = all.iter().cloned().zip(0..).collect();
        Self { all, index }
    }
}

impl<T: Clone + Eq + Hash> Interned<T> {
    pub(super) fn put(&mut self, value: &T) -> u32 {
        if let Some(&position) = self.index.get(value) {
            return position;
        }
        let position = u32::try_from(self.all.len()).expect("a bucket has fewer than 2^32 names");
        self.all.push(value.clone());
        self.index.insert(value.clone(), position);
        position
    }
}

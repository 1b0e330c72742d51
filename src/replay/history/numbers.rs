//! Numbers for keys, and amounts in whole units.

use rustc_hash::FxHashMap;

use crate::replay::workload::UNITS;

/// An amount in millionths.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below zero")]
#[expect(clippy::cast_precision_loss, reason = "a million is exact")]
pub(super) fn units(amount: f32) -> u64 {
    (f64::from(amount).max(0.0) * UNITS as f64).round() as u64
}

/// Numbers for keys, in order of first appearance.
pub(super) struct Numbers<K>(pub(super) FxHashMap<K, u32>);

impl<K: std::hash::Hash + Eq> Numbers<K> {
    pub(super) fn of(&mut self, key: K) -> u32 {
        let next = u32::try_from(self.0.len()).expect("fewer than 2^32 tasks");
        *self.0.entry(key).or_insert(next)
    }

    /// The keys, in the order of their numbers.
    pub(super) fn in_order(self) -> impl Iterator<Item = K> {
        let mut keys: Vec<(K, u32)> = self.0.into_iter().collect();
        keys.sort_unstable_by_key(|&(_, number)| number);
        keys.into_iter().map(|(key, _)| key)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a trace is far shorter than 2^53 µs")]
#[expect(clippy::cast_possible_truncation, reason = "a trace is far shorter than 2^63 µs")]
pub(super) fn scaled(micros: i64, load: f64) -> i64 {
    if load == 1.0 { micros } else { (micros as f64 / load).round() as i64 }
}

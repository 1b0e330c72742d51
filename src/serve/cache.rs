//! Cached answers, for questions that are repeated.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use hyper::body::Bytes;

/// Answers by question, the most recently used first.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<VecDeque<(String, Bytes)>>);

/// Largest size of all kept answers, bytes.
const BYTES_MAX: usize = 64 << 20;

impl Cache {
    /// The answer to a question.
    pub(super) fn get(&self, key: &str) -> Option<Bytes> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|(known, _)| known == key)?;
        let found = all.remove(place)?;
        all.push_front(found.clone());
        Some(found.1)
    }

    /// Keeps an answer, and drops the least recently used ones above the limit.
    pub(super) fn put(&self, key: String, answer: Bytes) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_front((key, answer));
        let mut sum = 0;
        all.retain(|(_, answer)| {
            sum += answer.len();
            sum <= BYTES_MAX
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_last_stays() {
        let cache = Cache::default();
        let third = Bytes::from(vec![0; BYTES_MAX / 3]);
        for key in ["a", "b", "c"] {
            cache.put(key.to_owned(), third.clone());
        }
        assert!(cache.get("a").is_some());
        cache.put("d".to_owned(), third);
        let kept: Vec<bool> = ["a", "b", "c", "d"].map(|key| cache.get(key).is_some()).to_vec();
        assert_eq!(kept, [true, false, true, true]);
    }
}

//! CPU time of a task over time.

use super::task_view::{Attempt, Window};
use crate::units::{CpuRate, CpuTime};

/// CPU time over time, which can be cut at an instant.
#[derive(Debug, Default)]
pub struct Spent {
    pieces: Vec<(i64, i64, CpuRate)>,
    /// CPU of piece `i` and all later pieces.
    from: Vec<CpuTime>,
    longest_us: i64,
}

impl Spent {
    /// Fills it with slots (rate 1) or requests of attempts.
    pub fn of_attempts(&mut self, attempts: &[Attempt], rate: impl Fn(&Attempt) -> CpuRate) {
        self.pieces.clear();
        self.pieces.extend(
            attempts.iter().map(|attempt| (attempt.start_us, attempt.end_us, rate(attempt))),
        );
        self.prepare();
    }

    /// Fills it with the parts of windows that are inside attempts.
    pub fn of_windows(&mut self, windows: &[Window], attempts: &[Attempt]) {
        self.pieces.clear();
        for window in windows {
            let first = attempts.partition_point(|attempt| attempt.end_us <= window.start_us);
            let rate = CpuRate::new(window.rate);
            for attempt in
                attempts[first..].iter().take_while(|attempt| attempt.start_us < window.end_us)
            {
                let (start, end) =
                    (window.start_us.max(attempt.start_us), window.end_us.min(attempt.end_us));
                if start < end {
                    self.pieces.push((start, end, rate));
                }
            }
        }
        if !self.pieces.is_sorted_by_key(|piece| piece.0) {
            self.pieces.sort_by_key(|piece| piece.0);
        }
        self.prepare();
    }

    fn prepare(&mut self) {
        self.from.clear();
        self.from.resize(self.pieces.len() + 1, CpuTime::ZERO);
        self.longest_us = 0;
        for (idx, &(start, end, rate)) in self.pieces.iter().enumerate().rev() {
            self.from[idx] = self.from[idx + 1] + rate.over(end - start);
            self.longest_us = self.longest_us.max(end - start);
        }
    }

    /// The total.
    pub fn total(&self) -> CpuTime {
        self.from.first().copied().unwrap_or_default()
    }

    /// The part after `instant`; a piece that straddles it is cut in proportion.
    pub fn after(&self, instant: i64) -> CpuTime {
        let later = self.pieces.partition_point(|piece| piece.0 < instant);
        let mut spent = self.from.get(later).copied().unwrap_or_default();
        for &(start, end, rate) in self.pieces[..later].iter().rev() {
            // No piece that starts earlier reaches the instant.
            if start < instant.saturating_sub(self.longest_us) {
                break;
            }
            if instant < end {
                spent += rate.over(end - instant);
            }
        }
        spent
    }
}

//! The rule for intervals that stand out.

use super::{Counts, What};

/// An interval stands out if both conditions hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// It has more events than this many times the mean.
    pub times: u64,
    /// It has at least this many events.
    pub least: u64,
}

/// Neighbouring intervals that stand out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Episode {
    /// What happened.
    pub what: What,
    /// The first interval.
    pub first: usize,
    /// The last.
    pub last: usize,
    /// The number of events.
    pub count: u64,
    /// The mean number of events in as many whole intervals.
    pub expected: f64,
}

impl Episode {
    /// Whether both episodes share an interval.
    pub const fn meets(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl Rule {
    /// The episodes of a kind of event, in time order.
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 events")]
    pub fn episodes(self, counts: &Counts, what: What) -> Vec<Episode> {
        let (total, all) = (counts.total(what), counts.asked.known_us(what));
        let length_us = counts.asked.at.length_us;
        let product = |events: u64, us: i64| i128::from(events) * i128::from(us);
        // In whole numbers: count > times x total x length / all.
        let most = i128::from(self.times) * product(total, length_us);
        let mean = total as f64 * (length_us as f64 / all as f64);
        let mut found: Vec<Episode> = Vec::new();
        for (idx, &count) in counts.events[what as usize].iter().enumerate() {
            if count < self.least || product(count, all) <= most {
                continue;
            }
            match found.last_mut().filter(|last| last.last + 1 == idx) {
                Some(last) => {
                    last.last = idx;
                    last.count += count;
                    last.expected += mean;
                }
                None => found.push(Episode { what, first: idx, last: idx, count, expected: mean }),
            }
        }
        found
    }
}

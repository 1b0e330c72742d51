//! The queue of coming events: a heap with four children per node.
//!
//! In: events with their times. Out: events by (time, rank, order of being put in). The order is
//! total, so a replay never depends on how a heap breaks ties.

use super::event::Event;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at_us: i64,
    /// Rank in the upper 8 bits, sequence number below: one comparison for both.
    order: u64,
    event: Event,
}

impl Entry {
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        // Both tests are made so that no branch has to be guessed.
        (self.at_us < other.at_us) | ((self.at_us == other.at_us) & (self.order < other.order))
    }
}

/// The queue.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: Vec<Entry>,
    sequence: u64,
}

/// Children per node. Four halve the depth and share a cache line or two.
const ARITY: usize = 4;

impl EventQueue {
    /// Puts an event in.
    #[inline]
    pub fn push(&mut self, at_us: i64, event: Event) {
        let order = (u64::from(event.rank()) << 56) | self.sequence;
        self.sequence += 1;
        let entry = Entry { at_us, order, event };
        let mut hole = self.heap.len();
        self.heap.push(entry);
        while 0 < hole {
            let parent = (hole - 1) / ARITY;
            if !entry.is_before(&self.heap[parent]) {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = entry;
    }

    /// The time and rank of the next event.
    #[inline]
    pub fn next(&self) -> Option<(i64, u8)> {
        self.heap.first().map(|entry| (entry.at_us, entry.event.rank()))
    }

    /// Takes the next event out.
    #[inline]
    pub fn pop(&mut self) -> Option<(i64, Event)> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else {
            return Some((last.at_us, last.event));
        };
        let len = self.heap.len();
        let mut hole = 0;
        loop {
            let child = ARITY * hole + 1;
            if len <= child {
                break;
            }
            let mut best = child;
            for other in child + 1..(child + ARITY).min(len) {
                if self.heap[other].is_before(&self.heap[best]) {
                    best = other;
                }
            }
            if !self.heap[best].is_before(&last) {
                break;
            }
            self.heap[hole] = self.heap[best];
            hole = best;
        }
        self.heap[hole] = last;
        Some((first.at_us, first.event))
    }

    /// How many events are to come, void ones included.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::random::{Draws, Purpose};

    #[test]
    fn events_come_by_time_then_rank_then_order_of_entry() {
        let mut queue = EventQueue::default();
        queue.push(5, Event::Heartbeat);
        queue.push(5, Event::TaskKilled { task: 2 });
        queue.push(5, Event::TaskKilled { task: 1 });
        queue.push(4, Event::Heartbeat);
        queue.push(5, Event::AttemptEnded { slot: 0, generation: 0 });
        let mut order = Vec::new();
        while let Some((at_us, event)) = queue.pop() {
            order.push((at_us, event));
        }
        assert_eq!(
            order,
            [
                (4, Event::Heartbeat),
                (5, Event::AttemptEnded { slot: 0, generation: 0 }),
                (5, Event::TaskKilled { task: 2 }),
                (5, Event::TaskKilled { task: 1 }),
                (5, Event::Heartbeat),
            ]
        );
        assert!(queue.is_empty());
    }

    #[test]
    fn a_thousand_events_come_out_sorted() {
        let draws = Draws::new(1, Purpose::Choice);
        let mut queue = EventQueue::default();
        let mut expected = Vec::new();
        for place in 0..1_000_u32 {
            let at_us = i64::from(u8::try_from(draws.bits(0, place.into()) >> 57).unwrap());
            queue.push(at_us, Event::TaskKilled { task: place });
            expected.push((at_us, place));
        }
        expected.sort_unstable();
        for (at_us, task) in expected {
            assert_eq!(queue.pop(), Some((at_us, Event::TaskKilled { task })));
        }
        assert_eq!(queue.len(), 0);
    }
}

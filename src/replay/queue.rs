//! The queue of future events: a heap with four children per node.
//!
//! In: events with their times. Out: events by (time, rank, order of insertion). The order is
//! total, so a replay never depends on how a heap breaks ties. An insertion and a removal cost the
//! logarithm of the number of future events.

use super::event::Event;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Time in the upper 64 bits, then 8 bits of rank, then the sequence number: one comparison for
    /// all three, without a branch to predict.
    key: u128,
    event: Event,
}

impl Entry {
    /// The clock starts at 0, so times compare correctly as unsigned numbers.
    fn at_us(&self) -> i64 {
        let upper = u64::try_from(self.key >> 64).expect("the upper half has 64 bits");
        upper.cast_signed()
    }
}

/// The event queue.
#[derive(Debug, Default)]
pub struct EventQueue {
    /// The first entry is void while `is_open`.
    heap: Vec<Entry>,
    /// Whether the first event was taken and its place is still empty: the next insertion fills it,
    /// so an event that causes another costs one pass through the heap instead of two.
    is_open: bool,
    sequence: u64,
}

/// Children per node. Four halve the depth and fit in one or two cache lines.
const ARITY: usize = 4;

impl EventQueue {
    /// Inserts an event.
    #[inline]
    pub fn push(&mut self, at_us: i64, event: Event) {
        debug_assert!(0 <= at_us, "the clock starts at 0");
        let order = (u64::from(event.rank()) << 56) | self.sequence;
        self.sequence += 1;
        let key = (u128::from(at_us.cast_unsigned()) << 64) | u128::from(order);
        let entry = Entry { key, event };
        if std::mem::take(&mut self.is_open) {
            self.sink(entry);
            return;
        }
        let mut hole = self.heap.len();
        self.heap.push(entry);
        while 0 < hole {
            let parent = (hole - 1) / ARITY;
            if self.heap[parent].key <= key {
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
        self.first().map(|entry| (entry.at_us(), entry.event.rank()))
    }

    #[inline]
    fn first(&self) -> Option<&Entry> {
        if self.is_open {
            smallest(&self.heap, 1).map(|place| &self.heap[place])
        } else {
            self.heap.first()
        }
    }

    /// Removes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(i64, Event)> {
        if std::mem::take(&mut self.is_open) {
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                self.sink(last);
            }
        }
        let first = self.heap.first()?;
        self.is_open = true;
        Some((first.at_us(), first.event))
    }

    /// Puts an entry in the first place and moves it down to its final place.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let heap = self.heap.as_mut_slice();
        let mut hole = 0;
        while let Some(best) = smallest(heap, ARITY * hole + 1) {
            if entry.key <= heap[best].key {
                break;
            }
            heap[hole] = heap[best];
            hole = best;
        }
        heap[hole] = entry;
    }

    /// The time of the next event that is `wanted`. Searches all events, unless it is the next one.
    pub fn next_of(&self, wanted: impl Fn(&Event) -> bool) -> Option<i64> {
        if let Some(next) = self.first().filter(|next| wanted(&next.event)) {
            return Some(next.at_us());
        }
        let entries = self.heap.iter().skip(usize::from(self.is_open));
        entries.filter(|entry| wanted(&entry.event)).min_by_key(|entry| entry.key).map(Entry::at_us)
    }

    /// The number of future events, including void ones.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.is_open)
    }

    /// Whether there are no future events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The place of the smallest of the siblings that begin at `child`; `None` if there are none.
#[inline]
fn smallest(heap: &[Entry], child: usize) -> Option<usize> {
    let Some(children) = heap.get(child..child + ARITY) else {
        return (child..heap.len()).min_by_key(|&idx| heap[idx].key);
    };
    // Two pairs and their winners: the first two comparisons are independent of each other.
    let left = usize::from(children[1].key < children[0].key);
    let right = 2 + usize::from(children[3].key < children[2].key);
    Some(child + if children[right].key < children[left].key { right } else { left })
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

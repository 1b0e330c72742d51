//! The planned use of a machine over time.
//!
//! In: spans of time with the amounts they use, added and removed. Out: the first time from which
//! there is room for a given duration. Steps are stored in blocks. A block stores the least and the
//! most that its steps use, so a search skips blocks in which every step fits, or no step fits. If
//! a span covers a whole block, only one number of the block changes.
//!
//! ```text
//!  used   4 |      bbbbbb|            steps: 3 from now, 4, 3, 0
//!         3 |aaaaaaaaaaaaaaaaaaa|     blocks: [3, 4] least 3, most 4   [3, 0] least 0, most 3
//! ```

use crate::replay::room::Room;

/// CPU and memory in use, millionths. A sum of memory that is not checked may exceed 64 bits.
pub(super) type Used = [i128; 2];

/// A block with more steps is split in two.
const STEPS_MAX: usize = 64;

/// Consecutive steps.
#[derive(Clone, Debug)]
struct Block {
    /// The start of each step and its use, without `more`.
    steps: Vec<(i64, Used)>,
    /// Additional use in every step.
    more: Used,
    /// The least and the most that any step uses, including `more`.
    least: Used,
    most: Used,
}

impl Block {
    fn new(steps: Vec<(i64, Used)>, more: Used) -> Self {
        let mut block = Self { steps, more, least: [0; 2], most: [0; 2] };
        block.sum_up();
        block
    }

    fn begin_us(&self) -> i64 {
        self.steps[0].0
    }

    fn used(&self, idx: usize) -> Used {
        sum(self.steps[idx].1, self.more)
    }

    fn at(&self, at_us: i64) -> usize {
        self.steps.partition_point(|step| step.0 <= at_us) - 1
    }

    fn sum_up(&mut self) {
        (self.least, self.most) = ([i128::MAX; 2], [i128::MIN; 2]);
        for &(_, used) in &self.steps {
            (self.least, self.most) = (least(self.least, used), most(self.most, used));
        }
        (self.least, self.most) = (sum(self.least, self.more), sum(self.most, self.more));
    }
}

fn sum(one: Used, other: Used) -> Used {
    [one[0] + other[0], one[1] + other[1]]
}

fn least(one: Used, other: Used) -> Used {
    [one[0].min(other[0]), one[1].min(other[1])]
}

fn most(one: Used, other: Used) -> Used {
    [one[0].max(other[0]), one[1].max(other[1])]
}

/// Whether a demand fits in addition to the amounts in use.
pub(super) fn is_within(used: Used, demand: [u64; 2], capacity: Room) -> bool {
    let fits = |idx: usize, all: u64| used[idx] + i128::from(demand[idx]) <= i128::from(all);
    fits(0, capacity.cpu) && capacity.memory.is_none_or(|memory| fits(1, memory))
}

/// The use of a machine from each time until the next.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    /// No block is empty, and the first step begins before all times.
    blocks: Vec<Block>,
}

impl Default for Profile {
    fn default() -> Self {
        Self { blocks: vec![Block::new(vec![(i64::MIN, [0; 2])], [0; 2])] }
    }
}

impl Profile {
    /// The block and the step that contain a time.
    fn at(&self, at_us: i64) -> (usize, usize) {
        let block = self.blocks.partition_point(|block| block.begin_us() <= at_us) - 1;
        (block, self.blocks[block].at(at_us))
    }

    /// Makes a step begin at a time.
    fn split(&mut self, at_us: i64) {
        let (block_idx, idx) = self.at(at_us);
        let block = &mut self.blocks[block_idx];
        if block.steps[idx].0 == at_us {
            return;
        }
        block.steps.insert(idx + 1, (at_us, block.steps[idx].1));
        if STEPS_MAX < block.steps.len() {
            let behind = block.steps.split_off(STEPS_MAX / 2);
            let behind = Block::new(behind, block.more);
            block.sum_up();
            self.blocks.insert(block_idx + 1, behind);
        }
    }

    /// Drops the step that begins at a time if it uses the same as the previous one.
    fn join(&mut self, at_us: i64) {
        let (block_idx, idx) = self.at(at_us);
        let before = match (block_idx, idx) {
            (0, 0) => return,
            (_, 0) => {
                let block = &self.blocks[block_idx - 1];
                block.used(block.steps.len() - 1)
            }
            _ => self.blocks[block_idx].used(idx - 1),
        };
        let block = &mut self.blocks[block_idx];
        if block.steps[idx].0 != at_us || block.used(idx) != before {
            return;
        }
        if block.steps.len() == 1 {
            self.blocks.remove(block_idx);
            return;
        }
        block.steps.remove(idx);
        if idx == 0 {
            // An equal step remains in the block.
            block.sum_up();
        }
    }

    fn change(&mut self, (from_us, to_us): (i64, i64), more: Used) {
        if to_us <= from_us {
            return;
        }
        self.split(from_us);
        self.split(to_us);
        let first = self.at(from_us).0;
        for idx in first..self.blocks.len() {
            let next_us = self.blocks.get(idx + 1).map_or(i64::MAX, Block::begin_us);
            let block = &mut self.blocks[idx];
            if to_us <= block.begin_us() {
                break;
            }
            if from_us <= block.begin_us() && next_us <= to_us && next_us < i64::MAX {
                block.more = sum(block.more, more);
                (block.least, block.most) = (sum(block.least, more), sum(block.most, more));
                continue;
            }
            for step in &mut block.steps {
                if (from_us..to_us).contains(&step.0) {
                    step.1 = sum(step.1, more);
                }
            }
            block.sum_up();
        }
        self.join(to_us);
        self.join(from_us);
    }

    /// Adds a demand over a span of time, µs.
    pub(super) fn take(&mut self, span_us: (i64, i64), demand: [u64; 2]) {
        self.change(span_us, demand.map(i128::from));
    }

    /// Removes a demand over a span of time, µs.
    pub(super) fn give_back(&mut self, span_us: (i64, i64), demand: [u64; 2]) {
        self.change(span_us, demand.map(|amount| -i128::from(amount)));
    }

    /// Drops the steps before a time.
    pub(super) fn forget_before(&mut self, at_us: i64) {
        let (block_idx, idx) = self.at(at_us);
        if 0 < block_idx {
            self.blocks.drain(..block_idx);
        }
        let block = &mut self.blocks[0];
        if 0 < idx {
            block.steps.drain(..idx);
            block.sum_up();
        }
        block.steps[0].0 = i64::MIN;
    }

    /// The first time from `from_us` on, and before `before_us`, from which there is room for a
    /// demand for the given duration. From `own_us` on, there is always room.
    pub(super) fn earliest(
        &self,
        (from_us, before_us): (i64, i64),
        (length_us, own_us): (i64, i64),
        (demand, capacity): ([u64; 2], Room),
    ) -> Option<i64> {
        let end_us = |start_us: i64| start_us.saturating_add(length_us).min(own_us);
        let fits = |used: Used| is_within(used, demand, capacity);
        let (first, first_idx) = self.at(from_us);
        // There is room from here to the last step checked.
        let mut start_us = from_us;
        // The least values may come from different steps; if they do not fit, no step does.
        for (block_idx, block) in self.blocks.iter().enumerate().skip(first) {
            if before_us <= start_us {
                return None;
            }
            let next_us = self.blocks.get(block_idx + 1).map_or(i64::MAX, Block::begin_us);
            if fits(block.most) {
                if end_us(start_us) <= next_us {
                    return Some(start_us);
                }
                continue;
            }
            if !fits(block.least) {
                start_us = next_us;
                continue;
            }
            let begin = if block_idx == first { first_idx } else { 0 };
            for idx in begin..block.steps.len() {
                if before_us <= start_us {
                    return None;
                }
                let until_us = block.steps.get(idx + 1).map_or(next_us, |step| step.0);
                if !fits(block.used(idx)) {
                    start_us = until_us;
                } else if end_us(start_us) <= until_us {
                    return Some(start_us);
                }
            }
        }
        None
    }

    /// The least use of each resource within a span of time.
    pub(super) fn least_in(&self, (from_us, until_us): (i64, i64)) -> Used {
        let (first, first_idx) = self.at(from_us);
        let mut sofar = [i128::MAX; 2];
        for (block_idx, block) in self.blocks.iter().enumerate().skip(first) {
            if until_us <= block.begin_us() {
                break;
            }
            let next_us = self.blocks.get(block_idx + 1).map_or(i64::MAX, Block::begin_us);
            if first < block_idx && next_us <= until_us {
                sofar = least(sofar, block.least);
                continue;
            }
            let begin = if block_idx == first { first_idx } else { 0 };
            for idx in begin..block.steps.len() {
                if until_us <= block.steps[idx].0 {
                    break;
                }
                sofar = least(sofar, block.used(idx));
            }
        }
        sofar
    }

    /// Whether use ever exceeds the capacity, from a time on.
    pub(super) fn is_overfull(&self, from_us: i64, capacity: Room) -> bool {
        let (first, first_idx) = self.at(from_us);
        let block = &self.blocks[first];
        (first_idx..block.steps.len()).any(|idx| !is_within(block.used(idx), [0; 2], capacity))
            || self.blocks[first + 1..].iter().any(|block| !is_within(block.most, [0; 2], capacity))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const END_US: i64 = 300;

    /// The use in each µs and the capacity: a plain reference.
    struct Plain(Vec<Used>, i128);

    impl Plain {
        fn earliest(
            &self,
            from_us: i64,
            before_us: i64,
            length_us: i64,
            need: Used,
        ) -> Option<i64> {
            (from_us..before_us).find(|&start_us| {
                (start_us..start_us + length_us).all(|at_us| {
                    let used = self.0.get(usize::try_from(at_us).unwrap()).copied();
                    let used = used.unwrap_or([0; 2]);
                    used[0] + need[0] <= self.1 && used[1] + need[1] <= self.1
                })
            })
        }
    }

    proptest! {
        #[test]
        fn a_profile_is_a_table_of_instants(
            spans in prop::collection::vec((0..END_US, 1..120_i64, 1..4_u64, 0..4_u64, 0..4_u8), 1..300),
            all in 10..250_u64,
            asks in prop::collection::vec((0..END_US, 1..60_i64, 1..10_u64, 0..10_u64), 30),
        ) {
            let mut profile = Profile::default();
            let mut plain = Plain(vec![[0; 2]; 500], i128::from(all));
            let mut taken = Vec::new();
            for (from_us, length_us, cpu, memory, gives_back) in spans {
                let demand = [cpu, memory];
                let (span, demand, sign) = match taken.pop() {
                    Some((span, demand)) if gives_back == 0 => (span, demand, -1),
                    popped => {
                        taken.extend(popped);
                        taken.insert(0, ((from_us, from_us + length_us), demand));
                        ((from_us, from_us + length_us), demand, 1)
                    }
                };
                if sign == 1 { profile.take(span, demand) } else { profile.give_back(span, demand) }
                for at_us in span.0..span.1 {
                    let used = &mut plain.0[usize::try_from(at_us).unwrap()];
                    *used = sum(*used, demand.map(|amount| sign * i128::from(amount)));
                }
            }
            let capacity = Room { cpu: all, memory: Some(all) };
            for (from_us, length_us, cpu, memory) in asks {
                let idx = usize::try_from(from_us).unwrap();
                let until = (idx + usize::try_from(length_us).unwrap()).min(plain.0.len());
                let lows = plain.0[idx..until].iter().copied().reduce(least).unwrap();
                prop_assert_eq!(profile.least_in((from_us, from_us + length_us)), lows);
                let is_over = plain.0[idx..].iter().any(|&used| !is_within(used, [0; 2], capacity));
                prop_assert_eq!(profile.is_overfull(from_us, capacity), is_over);
                for before_us in [from_us + 40, 600] {
                    let ours =
                        profile.earliest((from_us, before_us), (length_us, i64::MAX), ([cpu, memory], capacity));
                    let need = [i128::from(cpu), i128::from(memory)];
                    prop_assert_eq!(ours, plain.earliest(from_us, before_us, length_us, need));
                }
            }
            let mut later = profile.clone();
            later.forget_before(150);
            prop_assert_eq!(later.least_in((150, 400)), profile.least_in((150, 400)));
            let steps: usize = profile.blocks.iter().map(|block| block.steps.len()).sum();
            let changes = plain.0.windows(2).filter(|pair| pair[0] != pair[1]).count();
            let at_once = usize::from(plain.0[0] != [0; 2]);
            prop_assert_eq!(steps, 1 + changes + at_once, "no step is like the one before");
        }
    }
}

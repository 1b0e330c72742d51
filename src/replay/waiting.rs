//! Waiting tasks by a key, searchable by their requests.
//!
//! In: tasks that join behind or before their equals, and tasks that leave from any place. Out: the
//! first task, from a place on, for which some machine has enough room. Tasks with equal keys form
//! a row. A tree over the places of a row stores, for each step of CPU (see
//! [`Steps`](super::placement::steps::Steps)), the least memory that any task of a stretch requests
//! with that much CPU. A stretch without room for any task is skipped as a whole. So searches,
//! insertions and removals cost the logarithm of the row's length, even if many tasks find no room.
//! Places are renumbered when an end of the row is reached.
//!
//! If tasks of one job must not share a machine, they may find room but no machine without a
//! sibling. Tasks of one job with the same request are twins: if room only shrinks while tasks are
//! handed out, only the first of them is found, since the others cannot start either.
//!
//! ```text
//!  place             2     3     4     5          free anywhere: 2 CPU with 1 memory, 1 with 4
//!  CPU, memory     4, 1  2, 2    .   1, 3         the first with room: place 5
//!  stretch [2, 3]: 2 CPU with 2, 4 CPU with 1     no room for any
//! ```

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::placement::{CPU_STEPS, Most, NO_BOUND, Need};
use super::workload::NONE;

/// The waiting tasks.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    rows: Vec<Row>,
    /// The number of the row of each key, and the rows that have no key now.
    by_key: BTreeMap<i64, u32>,
    spare: Vec<u32>,
    /// The row and place of each task.
    stands: Vec<Stand>,
    /// Only if twins are hidden.
    twins: Option<Twins>,
}

/// The row and place of a task; `NONE` if it does not wait.
#[derive(Clone, Copy, Debug)]
struct Stand {
    row: u32,
    place: u32,
}

impl Stand {
    const NOWHERE: Self = Self { row: NONE, place: NONE };
}

/// Twins in order; only the first of them can be found.
#[derive(Debug, Default)]
struct Twins {
    /// Twins that left while they were not first are still listed.
    lines: FxHashMap<Twin, VecDeque<u32>>,
    /// The requests of waiting tasks.
    wants_of: FxHashMap<u32, Wants>,
}

/// The common properties of twins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Twin {
    /// Key.
    pub(super) key: i64,
    /// Job and group.
    pub(super) family: [u32; 2],
    /// CPU and memory.
    pub(super) demand: [u64; 2],
}

/// The request of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wants {
    /// The key; the lowest goes first.
    pub(super) key: i64,
    /// The request, in steps.
    pub(super) need: Need,
    /// The common properties of its twins, if it must not share a machine with its job's tasks.
    pub(super) twin: Option<Twin>,
}

impl Waiting {
    /// From now on, only the first of several twins is found. No task may wait yet.
    pub(super) fn hide_twins(&mut self) {
        debug_assert!(self.by_key.is_empty(), "no task waits yet");
        self.twins = Some(Twins::default());
    }

    /// Puts a task behind its equals.
    pub(super) fn push_back(&mut self, task: u32, wants: Wants) {
        let mut need = wants.need;
        if let Some((twins, twin)) = self.twins.as_mut().zip(wants.twin) {
            let line = twins.lines.entry(twin).or_default();
            if !line.is_empty() {
                need = Need::NOBODY;
            }
            line.push_back(task);
            twins.wants_of.insert(task, wants);
        }
        let number = self.row(wants.key);
        let row = &mut self.rows[number as usize];
        if row.back == row.places.len() {
            row.make_room(&mut self.stands);
        }
        row.back += 1;
        let place = row.back - 1;
        row.put(place, task, need);
        self.stand(task, number, place);
    }

    /// Puts a task before its equals.
    pub(super) fn push_front(&mut self, task: u32, wants: Wants) {
        if let Some((twins, twin)) = self.twins.as_mut().zip(wants.twin) {
            let line = twins.lines.entry(twin).or_default();
            if let Some(&second) = line.front() {
                let Stand { row, place } = self.stands[second as usize];
                self.rows[row as usize].set(place as usize, Need::NOBODY);
            }
            line.push_front(task);
            twins.wants_of.insert(task, wants);
        }
        let number = self.row(wants.key);
        let row = &mut self.rows[number as usize];
        if row.front == 0 {
            row.make_room(&mut self.stands);
        }
        row.front -= 1;
        let place = row.front;
        row.put(place, task, wants.need);
        self.stand(task, number, place);
    }

    /// The row of a key.
    fn row(&mut self, key: i64) -> u32 {
        if let Some(&number) = self.by_key.get(&key) {
            return number;
        }
        let number = self.spare.pop().unwrap_or_else(|| {
            self.rows.push(Row::default());
            u32::try_from(self.rows.len() - 1).expect("fewer keys than tasks")
        });
        self.rows[number as usize].key = key;
        self.by_key.insert(key, number);
        number
    }

    fn stand(&mut self, task: u32, row: u32, place: usize) {
        let idx = task as usize;
        if self.stands.len() <= idx {
            self.stands.resize(idx + 1, Stand::NOWHERE);
        }
        let place = u32::try_from(place).expect("a few per task");
        self.stands[idx] = Stand { row, place };
    }

    fn stand_of(&self, task: u32) -> Option<(&Row, usize)> {
        let stand = self.stands.get(task as usize).filter(|stand| stand.row != NONE)?;
        Some((&self.rows[stand.row as usize], stand.place as usize))
    }

    /// Removes a task, if it waits.
    pub(super) fn remove(&mut self, task: u32) {
        let Some((row, _)) = self.stand_of(task) else { return };
        let key = row.key;
        let Stand { row: number, place } =
            std::mem::replace(&mut self.stands[task as usize], Stand::NOWHERE);
        let row = &mut self.rows[number as usize];
        row.take(place as usize);
        if row.len() == 0 {
            self.by_key.remove(&key);
            self.spare.push(number);
        }
        self.show_next_twin(task);
    }

    fn show_next_twin(&mut self, task: u32) {
        let Some(Twins { lines, wants_of }) = &mut self.twins else { return };
        let Some(Wants { twin: Some(twin), need, .. }) = wants_of.remove(&task) else { return };
        let Some(line) = lines.get_mut(&twin).filter(|line| line.front() == Some(&task)) else {
            return;
        };
        line.pop_front();
        while let Some(&next) = line.front() {
            let Stand { row, place } = self.stands[next as usize];
            if row != NONE {
                self.rows[row as usize].set(place as usize, need);
                return;
            }
            line.pop_front();
        }
        lines.remove(&twin);
    }

    /// The first task.
    pub(super) fn first(&self) -> Option<u32> {
        let (_, &number) = self.by_key.first_key_value()?;
        self.rows[number as usize].first()
    }

    /// The first task behind `after` (or of all tasks) for which there may be room. `offers`
    /// returns for a task the most memory that it and its equals may have, by step of CPU.
    pub(super) fn seek(
        &self,
        after: Option<u32>,
        offers: &mut dyn FnMut(u32) -> Most,
    ) -> Option<u32> {
        let after = after.and_then(|task| self.stand_of(task));
        let from = after.map_or(i64::MIN, |(row, _)| row.key);
        self.by_key.range(from..).find_map(|(&key, &number)| {
            let row = &self.rows[number as usize];
            let behind = after.filter(|(row, _)| row.key == key).map(|(_, place)| place + 1);
            let offers = offers(row.sample);
            let place = row.next(behind.unwrap_or(row.front), &offers)?;
            Some(row.places[place].task)
        })
    }

    /// Whether at most `depth` tasks wait before a task.
    pub(super) fn is_among_first(&self, task: u32, depth: usize) -> bool {
        let Some((row, place)) = self.stand_of(task) else { return true };
        let is_first = self.by_key.first_key_value().is_some_and(|(&key, _)| key == row.key);
        (is_first && place - row.front <= depth) || self.before(row, place) <= depth
    }

    /// The number of tasks that wait before a place.
    fn before(&self, row: &Row, place: usize) -> usize {
        let earlier = self.by_key.range(..row.key);
        let earlier: usize = earlier.map(|(_, &number)| self.rows[number as usize].len()).sum();
        earlier + row.before(place)
    }
}

/// A task and its need.
#[derive(Clone, Copy, Debug)]
struct Place {
    task: u32,
    need: Need,
}

/// An empty place.
const EMPTY: Place = Place { task: NONE, need: Need::NOBODY };

/// Places under a lowest node, which are checked one by one.
const PLACES: usize = 16;

/// The number of places of a new row.
const PLACES_MIN: usize = PLACES;

/// Tasks with equal keys.
#[derive(Debug)]
struct Row {
    key: i64,
    /// A task that is or was in the row: properties that all its tasks share are read from it.
    sample: u32,
    places: Vec<Place>,
    /// The least memory by step of CPU; node 1 is the whole row, node n has the children 2n and
    /// 2n + 1, and each node of the second half covers [`PLACES`] places.
    least: Vec<Most>,
    /// The number of waiting tasks below each node.
    counts: Vec<u32>,
    /// No place before `front` is used, and none from `back` on.
    front: usize,
    back: usize,
}

impl Default for Row {
    fn default() -> Self {
        Self::of(PLACES_MIN)
    }
}

/// A stretch without any requests.
const NOBODY: Most = [u16::MAX; CPU_STEPS];

impl Row {
    /// A row without waiting tasks; the number of places is a power of two.
    fn of(places: usize) -> Self {
        let lowest = places / PLACES;
        Self {
            key: 0,
            sample: NONE,
            places: vec![EMPTY; places],
            least: vec![NOBODY; 2 * lowest],
            counts: vec![0; 2 * lowest],
            front: places / 2,
            back: places / 2,
        }
    }

    fn len(&self) -> usize {
        self.counts[1] as usize
    }

    /// The first task that is not hidden.
    fn first(&self) -> Option<u32> {
        Some(self.places[self.next(self.front, &NO_BOUND)?].task)
    }

    fn put(&mut self, place: usize, task: u32, need: Need) {
        self.sample = task;
        self.places[place].task = task;
        self.count(place, |count| *count += 1);
        self.set(place, need);
    }

    fn take(&mut self, place: usize) {
        self.places[place].task = NONE;
        while self.front < self.back && self.places[self.front].task == NONE {
            self.front += 1;
        }
        self.count(place, |count| *count -= 1);
        self.set(place, Need::NOBODY);
    }

    fn count(&mut self, place: usize, change: impl Fn(&mut u32)) {
        let mut node = self.counts.len() / 2 + place / PLACES;
        while 0 < node {
            change(&mut self.counts[node]);
            node /= 2;
        }
    }

    /// Sets the need at a place.
    fn set(&mut self, place: usize, need: Need) {
        let before = std::mem::replace(&mut self.places[place].need, need);
        if need != Need::NOBODY {
            self.update(place / PLACES, need.cpu);
        }
        if before != Need::NOBODY && (need == Need::NOBODY || before.cpu != need.cpu) {
            self.update(place / PLACES, before.cpu);
        }
    }

    /// Recomputes the least of a block for one step of CPU, and of all stretches that contain it.
    fn update(&mut self, block: usize, cpu: u8) {
        let places = self.places[block * PLACES..][..PLACES].iter();
        let equal = places.filter(|place| place.need.cpu == cpu);
        let mut least = equal.map(|place| place.need.memory).min().unwrap_or(u16::MAX);
        let (mut node, cpu) = (self.counts.len() / 2 + block, usize::from(cpu));
        while self.least[node][cpu] != least {
            self.least[node][cpu] = least;
            if node == 1 {
                return;
            }
            least = least.min(self.least[node ^ 1][cpu]);
            node /= 2;
        }
    }

    /// Whether a stretch has a task that may have room.
    #[inline]
    fn is_in(&self, node: usize, offers: &Most) -> bool {
        // Compares all steps, without a branch between them.
        let fits =
            self.least[node].iter().zip(offers).map(|(least, offer)| u8::from(least <= offer));
        fits.fold(0, |any, fits| any | fits) != 0
    }

    #[inline]
    fn fits(&self, place: usize, offers: &Most) -> bool {
        let Place { need, .. } = self.places[place];
        need.memory <= offers[usize::from(need.cpu)]
    }

    /// The first place from `from` on with a task that may have room.
    fn next(&self, from: usize, offers: &Most) -> Option<usize> {
        let lowest = self.counts.len() / 2;
        let end = from.next_multiple_of(PLACES).min(self.places.len());
        if let Some(place) = (from..end).find(|&place| self.fits(place, offers)) {
            return Some(place);
        }
        let mut node = if from <= self.front { 1 } else { lowest + from.div_ceil(PLACES) };
        if self.counts.len() <= node {
            return None;
        }
        // Go up while the stretch that begins here has no such task.
        while !self.is_in(node, offers) {
            while node % 2 == 1 {
                node /= 2;
            }
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < lowest {
            node = 2 * node + usize::from(!self.is_in(2 * node, offers));
        }
        let begin = (node - lowest) * PLACES;
        (begin..begin + PLACES).find(|&place| self.fits(place, offers))
    }

    /// The number of tasks that wait before a place.
    fn before(&self, place: usize) -> usize {
        let block = place / PLACES;
        let in_block = &self.places[block * PLACES..place];
        let mut count = in_block.iter().filter(|place| place.task != NONE).count();
        let mut node = self.counts.len() / 2 + block;
        while 1 < node {
            if node % 2 == 1 {
                count += self.counts[node - 1] as usize;
            }
            node /= 2;
        }
        count
    }

    /// Renumbers the places: waiting tasks move to the middle, with equal room on either side.
    #[cold]
    fn make_room(&mut self, stands: &mut [Stand]) {
        let waiting: Vec<Place> =
            self.places.iter().copied().filter(|place| place.task != NONE).collect();
        let mut row = Self::of((4 * waiting.len()).next_power_of_two().max(PLACES_MIN));
        (row.key, row.sample) = (self.key, self.sample);
        row.front = (row.places.len() - waiting.len()) / 2;
        row.back = row.front + waiting.len();
        for (place, waits) in (row.front..).zip(waiting) {
            stands[waits.task as usize].place = u32::try_from(place).expect("a few per task");
            row.places[place] = waits;
            let lowest = row.counts.len() / 2 + place / PLACES;
            row.counts[lowest] += 1;
            let least = &mut row.least[lowest][usize::from(waits.need.cpu)];
            *least = waits.need.memory.min(*least);
        }
        for node in (1..row.counts.len() / 2).rev() {
            row.counts[node] = row.counts[2 * node] + row.counts[2 * node + 1];
            let (left, right) = (row.least[2 * node], row.least[2 * node + 1]);
            for (least, (left, right)) in row.least[node].iter_mut().zip(left.iter().zip(right)) {
                *least = right.min(*left);
            }
        }
        *self = row;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replay::placement::steps::Steps;
    use crate::replay::workload::{Column, Workload};

    /// A task in the plain list that the tests compare with.
    #[derive(Clone, Copy, Debug)]
    struct Listed {
        task: u32,
        key: i64,
        job: Option<u32>,
        demand: [u64; 2],
    }

    /// A step: the action, the key, the job if its tasks must not share a machine, CPU, memory.
    type Step = (u8, i64, Option<u32>, u64, u64);

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let job = prop::option::weighted(0.6, 0_u32..2);
        prop::collection::vec((0_u8..6, 0_i64..3, job, 1_u64..50, 0_u64..5), 1..400)
    }

    fn wants(listed: &Listed, steps: &Steps) -> Wants {
        let Listed { key, demand, .. } = *listed;
        let twin = listed.job.map(|job| Twin { key, family: [job, job], demand });
        Wants { key, need: steps.need(demand), twin }
    }

    /// The place of a new task in a list by key.
    fn place(list: &[Listed], key: i64, behind: bool) -> usize {
        list.partition_point(|other| if behind { other.key <= key } else { other.key < key })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Compares with a plain list that is searched from its beginning.
        #[test]
        fn what_waits_is_a_list(draws in steps(), hides in any::<bool>(), room in (0_u64..40, 0_u16..6)) {
            let mut workload = Workload::plain(draws.len(), Column::Same(1));
            workload.cpu = Column::Each(draws.iter().map(|draw| draw.3).collect());
            workload.memory = Column::Each(draws.iter().map(|draw| draw.4).collect());
            let steps = Steps::of(&workload);
            let mut waiting = Waiting::default();
            if hides {
                waiting.hide_twins();
            }
            let mut list: Vec<Listed> = Vec::new();
            let keys: Vec<i64> = draws.iter().map(|draw| draw.1).collect();
            for (task, (what, key, job, cpu, memory)) in (0..).zip(draws) {
                let new = Listed { task, key, job, demand: [cpu, memory] };
                match what {
                    0..=2 => {
                        waiting.push_back(task, wants(&new, &steps));
                        list.insert(place(&list, key, true), new);
                    }
                    3 => {
                        waiting.push_front(task, wants(&new, &steps));
                        list.insert(place(&list, key, false), new);
                    }
                    _ if list.is_empty() => {}
                    _ => {
                        let idx = usize::try_from(7 * cpu + memory).expect("small") % list.len();
                        waiting.remove(list.remove(idx).task);
                    }
                }
                // The offered room is the same for all keys except the first.
                let offers = |key: i64| {
                    let most = if key == 0 { room.0 / 2 } else { room.0 };
                    std::array::from_fn(|step| if step as u64 <= most { room.1 } else { 0 })
                };
                let is_twin = |idx: usize| {
                    let one: &Listed = &list[idx];
                    let same = |other: &Listed| {
                        (other.key, other.job, other.demand) == (one.key, one.job, one.demand)
                    };
                    hides && one.job.is_some() && list[..idx].iter().any(same)
                };
                let may_start = |idx: &usize| {
                    let need = steps.need(list[*idx].demand);
                    let most: Most = offers(list[*idx].key);
                    need.memory <= most[usize::from(need.cpu)] && !is_twin(*idx)
                };
                prop_assert_eq!(waiting.first(), list.first().map(|first| first.task));
                let mut after = None;
                for idx in (0..list.len()).filter(may_start) {
                    let mut offers = |task: u32| offers(keys[task as usize]);
                    let found = waiting.seek(after, &mut offers);
                    prop_assert_eq!(found, Some(list[idx].task));
                    prop_assert!(waiting.is_among_first(list[idx].task, idx));
                    prop_assert!(idx == 0 || !waiting.is_among_first(list[idx].task, idx - 1));
                    after = found;
                }
                let mut offers = |task: u32| offers(keys[task as usize]);
                prop_assert_eq!(waiting.seek(after, &mut offers), None);
            }
        }
    }
}

//! Waiting tasks in line, searched by their requests.
//!
//! In: tasks that join at either end of the line, and tasks that leave it from any place. Out: the
//! first task, from a place on, that may start. A tree over the places stores the smallest request
//! of each stretch of the line. A stretch in which no task may start is skipped as a whole, so a
//! blocked line of a million tasks costs about as much as one of twenty. Places are renumbered when
//! an end of the line is reached, so they must not be stored.
//!
//! ```text
//!  place     2  3  4  5  6  7          stretch [4, 7] : at least 1 CPU, at least 60 s
//!  CPU       8  .  2  1  .  4          the first with at most 2 CPU and 100 s:
//!  seconds  50  . 90 60  . 70          place 4
//! ```

use rustc_hash::FxHashMap;

/// The request of a task, or the smallest of each amount in a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// CPU and memory, millionths.
    pub demand: [u64; 2],
    /// The planned running time, µs at speed 1.
    pub estimate_us: i64,
}

impl Ask {
    /// Whether no amount exceeds that of `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        self.demand[0] <= other.demand[0]
            && self.demand[1] <= other.demand[1]
            && self.estimate_us <= other.estimate_us
    }

    /// The smaller of each amount.
    fn least(self, other: Self) -> Self {
        let least = |resource: usize| self.demand[resource].min(other.demand[resource]);
        Self { demand: [least(0), least(1)], estimate_us: self.estimate_us.min(other.estimate_us) }
    }
}

/// A stretch of the line: the number of waiting tasks, and their smallest request.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    count: u32,
    least: Option<Ask>,
}

impl Stretch {
    fn and(self, other: Self) -> Self {
        let least = match (self.least, other.least) {
            (Some(ours), Some(theirs)) => Some(ours.least(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        Self { count: self.count + other.count, least }
    }
}

/// The line of waiting tasks.
#[derive(Debug)]
pub struct Line {
    /// The fixed place of every task of the workload; `None` if places depend on arrival.
    ranks: Option<Vec<u32>>,
    /// Tasks by place; `None` if the task has left.
    tasks: Vec<Option<u32>>,
    /// The tree: node 1 is the whole line, node n has the halves 2n and 2n + 1.
    tree: Vec<Stretch>,
    place_of: FxHashMap<u32, usize>,
    /// The first place that was ever used, and the place after the last one.
    front: usize,
    back: usize,
}

/// The number of places of a new line.
const PLACES_MIN: usize = 64;

impl Default for Line {
    fn default() -> Self {
        Self {
            ranks: None,
            tasks: vec![None; PLACES_MIN],
            tree: vec![Stretch::default(); 2 * PLACES_MIN],
            place_of: FxHashMap::default(),
            front: PLACES_MIN / 2,
            back: PLACES_MIN / 2,
        }
    }
}

impl Line {
    /// A line in which each task has its own fixed place, by number.
    pub fn ranked(ranks: Vec<u32>) -> Self {
        let places = ranks.len().next_power_of_two().max(PLACES_MIN);
        Self {
            tasks: vec![None; places],
            tree: vec![Stretch::default(); 2 * places],
            place_of: FxHashMap::default(),
            front: 0,
            back: places,
            ranks: Some(ranks),
        }
    }

    /// Puts a task at its fixed place, if it has one.
    fn put_by_rank(&mut self, task: u32, ask: Ask) -> bool {
        let rank = self.ranks.as_ref().map(|ranks| ranks[task as usize] as usize);
        if let Some(place) = rank {
            self.put(place, task, ask);
        }
        rank.is_some()
    }

    /// The waiting tasks, from the first to the last.
    pub fn tasks(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.first(), |&task| self.seek(Some(task), |_| true))
    }

    /// The number of waiting tasks.
    pub fn len(&self) -> usize {
        self.tree[1].count as usize
    }

    /// Whether no task waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a task at the end.
    pub fn push_back(&mut self, task: u32, ask: Ask) {
        if self.put_by_rank(task, ask) {
            return;
        }
        if self.back == self.tasks.len() {
            self.make_room();
        }
        self.back += 1;
        self.put(self.back - 1, task, ask);
    }

    /// Puts a task at the head.
    pub fn push_front(&mut self, task: u32, ask: Ask) {
        if self.put_by_rank(task, ask) {
            return;
        }
        if self.front == 0 {
            self.make_room();
        }
        self.front -= 1;
        self.put(self.front, task, ask);
    }

    /// Removes a task, if it is in line.
    pub fn remove(&mut self, task: u32) {
        if let Some(place) = self.place_of.remove(&task) {
            self.tasks[place] = None;
            self.set(place, Stretch::default());
        }
    }

    /// The first task.
    pub fn first(&self) -> Option<u32> {
        self.seek(None, |_| true)
    }

    /// The first task behind `after`, or of the whole line, for which `admits` accepts the request.
    /// If `admits` accepts a request, it must also accept smaller ones, because stretches are
    /// tested with their smallest request.
    pub fn seek(&self, after: Option<u32>, admits: impl Fn(&Ask) -> bool) -> Option<u32> {
        let behind = after.and_then(|task| self.place_of.get(&task));
        let from = behind.map_or(self.front, |place| place + 1);
        self.first_in(1, 0, self.tasks.len(), from, &admits)
    }

    /// The number of tasks that wait before `task`.
    pub fn before(&self, task: u32) -> usize {
        let Some(place) = self.place_of.get(&task) else { return 0 };
        let mut node = self.tasks.len() + place;
        let mut count = 0;
        while 1 < node {
            if node % 2 == 1 {
                count += self.tree[node - 1].count as usize;
            }
            node /= 2;
        }
        count
    }

    fn first_in(
        &self,
        node: usize,
        begin: usize,
        width: usize,
        from: usize,
        admits: &impl Fn(&Ask) -> bool,
    ) -> Option<u32> {
        if begin + width <= from || !self.tree[node].least.as_ref().is_some_and(admits) {
            return None;
        }
        if width == 1 {
            return self.tasks[begin];
        }
        let half = width / 2;
        self.first_in(2 * node, begin, half, from, admits)
            .or_else(|| self.first_in(2 * node + 1, begin + half, half, from, admits))
    }

    fn put(&mut self, place: usize, task: u32, ask: Ask) {
        self.tasks[place] = Some(task);
        self.place_of.insert(task, place);
        self.set(place, Stretch { count: 1, least: Some(ask) });
    }

    fn set(&mut self, place: usize, stretch: Stretch) {
        let mut node = self.tasks.len() + place;
        self.tree[node] = stretch;
        while 1 < node {
            node /= 2;
            self.tree[node] = self.tree[2 * node].and(self.tree[2 * node + 1]);
        }
    }

    /// Renumbers the places: waiting tasks move to the middle, with equal room on either side.
    #[cold]
    fn make_room(&mut self) {
        let leaves = self.tasks.len();
        let waiting: Vec<(u32, Stretch)> = (self.tasks.iter().enumerate())
            .filter_map(|(place, task)| task.map(|task| (task, self.tree[leaves + place])))
            .collect();
        let places = (4 * waiting.len()).next_power_of_two().max(PLACES_MIN);
        self.front = (places - waiting.len()) / 2;
        self.back = self.front + waiting.len();
        self.tasks = vec![None; places];
        self.tree = vec![Stretch::default(); 2 * places];
        for (place, (task, stretch)) in (self.front..).zip(waiting) {
            self.tasks[place] = Some(task);
            self.place_of.insert(task, place);
            self.tree[places + place] = stretch;
        }
        for node in (1..places).rev() {
            self.tree[node] = self.tree[2 * node].and(self.tree[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn ask(cpu: u64, memory: u64, estimate_us: i64) -> Ask {
        Ask { demand: [cpu, memory], estimate_us }
    }

    #[test]
    fn the_first_that_may_start_is_found() {
        let mut line = Line::default();
        for (task, (cpu, estimate_us)) in (0..).zip([(8, 50), (9, 1), (2, 90), (1, 60), (4, 70)]) {
            line.push_back(task, ask(cpu, 0, estimate_us));
        }
        line.remove(1);
        let small = |ask: &Ask| ask.demand[0] <= 2 && ask.estimate_us <= 100;
        assert_eq!(line.seek(None, small), Some(2));
        assert_eq!(line.seek(Some(2), small), Some(3));
        assert_eq!(line.seek(Some(3), small), None);
        assert_eq!((line.first(), line.before(3), line.len()), (Some(0), 2, 4));
    }

    proptest! {
        /// Compares with a plain list that is searched from its beginning.
        #[test]
        fn a_line_is_a_list(steps in prop::collection::vec((0_u8..5, 0_u64..9, 0_i64..9), 1..400)) {
            let mut line = Line::default();
            let mut list: VecDeque<(u32, Ask)> = VecDeque::new();
            for (task, (what, cpu, estimate_us)) in (0..).zip(steps) {
                let new = ask(cpu, 9 - cpu, estimate_us);
                match what {
                    0 | 1 => {
                        line.push_back(task, new);
                        list.push_back((task, new));
                    }
                    2 => {
                        line.push_front(task, new);
                        list.push_front((task, new));
                    }
                    _ => {
                        let idx = usize::try_from(cpu).unwrap().min(list.len().saturating_sub(1));
                        if let Some((task, _)) = list.remove(idx) {
                            line.remove(task);
                        }
                    }
                }
                let admits = |ask: &Ask| {
                    ask.demand[0] <= cpu && ask.demand[1] <= 5 && ask.estimate_us <= 4
                };
                let found = list.iter().find(|(_, ask)| admits(ask)).map(|(task, _)| *task);
                prop_assert_eq!(line.seek(None, admits), found);
                prop_assert_eq!(line.first(), list.front().map(|(task, _)| *task));
                prop_assert_eq!(line.len(), list.len());
                if let Some(found) = found {
                    let place = list.iter().position(|(task, _)| *task == found).unwrap();
                    prop_assert_eq!(line.before(found), place);
                    let next = list.iter().skip(place + 1).find(|(_, ask)| admits(ask));
                    prop_assert_eq!(line.seek(Some(found), admits), next.map(|(task, _)| *task));
                }
            }
        }
    }
}

//! The task with the least work first. It uses the true work, which no scheduler knows, so it
//! serves as a bound.
//!
//! The work is that of the next attempt if it began now on a machine of speed 1, including slow
//! starts and noise. A task that will be killed at an age runs at most until that age:
//!
//! ```text
//!  now  |---- work 30 ----|                    20 is the key of a task with work 30 that will be
//!  now  |-- kill in 20 --|                     killed in 20, and nothing else ends it
//! ```
//! While a task waits, its kill comes closer. So there are two orders, by work and by time of the
//! kill; the smaller of the two first entries is the least of all.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::passing::{depth_parameter, take_depth};
use super::{Depth, Kind, Order, OrderPlan, Passing, Read};
use crate::notation::{Notation, NotationError};
use crate::replay::state::State;

pub(super) const KIND: Kind = Kind {
    name: "shortest",
    about: "The task with the least work first, counted up to its kill; a real scheduler cannot \
    know this",
    word: "by the work of the task in the replay, up to its kill if it is killed",
    read: Read::Order(read),
};

#[derive(Debug)]
struct Plan {
    depth: Depth,
}

fn read(notation: &mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError> {
    Ok(Arc::new(Plan { depth: take_depth(notation)? }))
}

impl OrderPlan for Plan {
    fn build(&self, _state: &State<'_>, _seed: u64) -> Box<dyn Order> {
        let passing = Passing { depth: self.depth, ..Passing::default() };
        Box::new(Shortest { passing, front: -1, ..Shortest::default() })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        depth_parameter(self.depth).into_iter().collect()
    }
}

/// The entries of a task in both orders.
#[derive(Clone, Copy, Debug)]
struct Keys {
    /// Its work, µs, if it ends by its work.
    work_us: Option<i64>,
    /// When it is killed, µs, if it is.
    kill_us: Option<i64>,
    /// Its place among equals.
    place: i64,
}

#[derive(Debug, Default)]
struct Shortest {
    passing: Passing,
    keys: FxHashMap<u32, Keys>,
    by_work: BTreeSet<(i64, i64, u32)>,
    by_kill: BTreeSet<(i64, i64, u32)>,
    /// The task that was returned last.
    named: Option<u32>,
    /// The place of the next task that goes behind its equals, and of the next that goes before
    /// them.
    back: i64,
    front: i64,
}

#[expect(clippy::cast_possible_truncation, reason = "saturates at the end of time")]
fn keys(state: &State<'_>, task: u32, place: i64) -> Keys {
    let work = state.work_of_next(task);
    let age_us = state.workload.fate.get(task).ends_at_age_us();
    let kill_us = age_us.map(|age_us| state.arrival_us(task).saturating_add(age_us));
    Keys { work_us: work.is_finite().then(|| work.round() as i64), kill_us, place }
}

impl Shortest {
    fn put(&mut self, task: u32, keys: Keys) {
        self.by_work.extend(keys.work_us.map(|work_us| (work_us, keys.place, task)));
        self.by_kill.extend(keys.kill_us.map(|kill_us| (kill_us, keys.place, task)));
        self.keys.insert(task, keys);
    }
}

impl Order for Shortest {
    fn push(&mut self, state: &State<'_>, task: u32) {
        self.back += 1;
        self.put(task, keys(state, task, self.back - 1));
    }

    fn push_front(&mut self, state: &State<'_>, task: u32) {
        self.front -= 1;
        self.put(task, keys(state, task, self.front + 1));
    }

    fn peek(&mut self, state: &State<'_>) -> Option<u32> {
        let by_kill = self
            .by_kill
            .first()
            .map(|&(kill_us, place, task)| (kill_us.saturating_sub(state.now_us), place, task));
        self.named =
            self.by_work.first().copied().into_iter().chain(by_kill).min().map(|key| key.2);
        self.named
    }

    fn pop(&mut self) {
        if let Some(task) = self.named.take() {
            self.forget(task);
        }
    }

    fn forget(&mut self, task: u32) {
        if let Some(Keys { work_us, kill_us, place }) = self.keys.remove(&task) {
            if let Some(work_us) = work_us {
                self.by_work.remove(&(work_us, place, task));
            }
            if let Some(kill_us) = kill_us {
                self.by_kill.remove(&(kill_us, place, task));
            }
        }
    }

    fn passing(&self) -> Passing {
        self.passing
    }
}

//! Work queue with replication: when no task waits, a free machine takes a copy of an unfinished
//! task (Tan, Fujimoto and Hagihara 2003; Cirne and others 2003).
//!
//! ```text
//!  m1 (speed 1)  |--------- A ----x|--- ...         copies=1: A and B get at most one copy each
//!  m2 (speed 1)  |----------------- B ---------x|
//!  m3 (speed 4)  |- copy of A -|- copy of B -|
//!                0            25            50
//! ```
//! All tasks get their first copy before any gets its second. Copies count while they run or are
//! believed to run; `forward` makes copies in the order in which the tasks were handed out,
//! `reverse` in the opposite order. At most `depth` tasks that fit nowhere are passed over at a
//! time.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Kind, Place, Read, Speculation, SpeculationPlan, Wish};
use crate::notation::{Notation, NotationError};
use crate::replay::journal::Kind as Happening;
use crate::replay::state::{Role, State};

pub(super) const KIND: Kind = Kind {
    name: "wqr",
    about: "Work queue with replication: copies=1..unlimited, order=forward|reverse, depth=N",
    word: "",
    read: Read::Speculation(read),
};

/// Maximum number of copies in addition to the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Copies(u32);

impl FromStr for Copies {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "unlimited" { Ok(Self(u32::MAX)) } else { text.parse().map(Self) }
    }
}

impl fmt::Display for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == u32::MAX { f.write_str("unlimited") } else { write!(f, "{}", self.0) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    copies: Copies,
    is_forward: bool,
    depth: usize,
}

fn read(notation: &mut Notation) -> Result<Arc<dyn SpeculationPlan>, NotationError> {
    let expected = "a number of copies from 1, or `unlimited`";
    let choices = [("forward", true), ("reverse", false)];
    Ok(Arc::new(Plan {
        copies: notation
            .take_if("copies", expected, Copies(u32::MAX), |copies| Copies(0) < *copies)?,
        is_forward: notation.choice("order", "`forward` or `reverse`", true, &choices)?,
        depth: notation.take("depth", "a number of tasks", 1_000)?,
    }))
}

impl SpeculationPlan for Plan {
    fn build(&self, _state: &State<'_>) -> Option<Box<dyn Speculation>> {
        let listed = FxHashMap::default();
        Some(Box::new(Replication { plan: *self, round: None, listed, handed_out: 0 }))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let order = if self.is_forward { "forward" } else { "reverse" };
        vec![
            ("copies", self.copies.to_string()),
            ("order", order.to_owned()),
            ("depth", self.depth.to_string()),
        ]
    }
}

#[derive(Debug)]
struct Replication {
    plan: Plan,
    /// Unfinished tasks that were handed out, by (copies, place in the order of copying, task).
    /// `None` while tasks wait, so that the plain queue is not slowed down.
    round: Option<BTreeSet<(u32, i64, u32)>>,
    /// The number of copies and the place with which each task is listed there.
    listed: FxHashMap<u32, (u32, i64)>,
    handed_out: i64,
}

impl Replication {
    /// The running tasks in the order in which they were handed out.
    fn gather(&mut self, state: &State<'_>) {
        let mut tasks: Vec<(i64, u32)> = state
            .live_slots()
            .filter(|&slot| state.attempts.role[slot as usize] == Role::Original)
            .map(|slot| {
                (state.attempts.start_us[slot as usize], state.attempts.task[slot as usize])
            })
            .collect();
        tasks.sort_unstable();
        self.handed_out = 0;
        self.round = Some(BTreeSet::new());
        self.listed.clear();
        for (_, task) in tasks {
            self.insert(state, task);
        }
    }

    fn insert(&mut self, state: &State<'_>, task: u32) {
        self.handed_out += 1;
        let place = if self.plan.is_forward { self.handed_out } else { -self.handed_out };
        let copies = copies_of(state, task);
        if let Some(round) = &mut self.round {
            round.insert((copies, place, task));
            self.listed.insert(task, (copies, place));
        }
    }

    /// Changes the number of copies with which a task is listed; removes it for `None`.
    fn recount(&mut self, task: u32, copies: Option<u32>) {
        let Some(round) = &mut self.round else { return };
        let Some((before, place)) = self.listed.remove(&task) else { return };
        round.remove(&(before, place, task));
        if let Some(copies) = copies {
            round.insert((copies, place, task));
            self.listed.insert(task, (copies, place));
        }
    }
}

impl Speculation for Replication {
    fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        if 0 < state.waiting {
            self.round = None;
            return None;
        }
        if self.round.is_none() {
            self.gather(state);
        }
        let round = self.round.as_ref()?;
        let wishes = round.iter().take_while(|(copies, _, _)| *copies < self.plan.copies.0);
        wishes.take(self.plan.depth.saturating_add(1)).find_map(|&(_, _, task)| {
            let machine = place(task, &|_| true)?;
            Some(Wish { task, machine, role: Role::Copy })
        })
    }

    fn started(&mut self, state: &State<'_>, slot: u32) {
        if self.round.is_none() {
            return;
        }
        let task = state.attempts.task[slot as usize];
        match state.attempts.role[slot as usize] {
            Role::Original => self.insert(state, task),
            Role::Copy | Role::Probe => self.recount(task, Some(copies_of(state, task))),
        }
    }

    fn ending(&mut self, state: &State<'_>, slot: u32, _how: Happening) {
        if self.round.is_none() {
            return;
        }
        let task = state.attempts.task[slot as usize];
        let others = || state.of_task(task).filter(|&other| other != slot);
        // A probe does not continue its task: if only probes are left, the task waits again or is
        // over.
        let goes_on = others().any(|other| state.attempts.role[other as usize] != Role::Probe);
        let copies = u32::try_from(others().count()).expect("fewer copies than machines");
        self.recount(task, copies.checked_sub(1).filter(|_| goes_on));
    }
}

fn copies_of(state: &State<'_>, task: u32) -> u32 {
    u32::try_from(state.of_task(task).count() - 1).expect("fewer copies than machines")
}

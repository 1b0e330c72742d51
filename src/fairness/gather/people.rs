//! Users by position, with their first submission.
//!
//! In: names with their submissions, in any order. Out: a position per name, the earliest
//! submission with its group, and whether a task of the name has run.

use serde::{Deserialize, Serialize};

use super::interned::Interned;
use crate::fairness::history::known_name;

/// The first event of a user: its time and its task. With the task, only one event is the earliest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct First {
    pub(super) at_us: i64,
    pub(super) job_id: i64,
    pub(super) task_index: i32,
}

/// The data of a name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) first: First,
    /// The group of the first submission.
    pub(super) group: Option<String>,
    pub(super) has_run: bool,
    /// The last time of use, µs; `None` if there is none in the intervals.
    pub(super) last_use_us: Option<i64>,
}

/// Names with their data.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct People {
    pub(super) names: Interned<String>,
    pub(super) known: Vec<Known>,
}

impl People {
    /// The position of a name with a submission.
    pub(super) fn see(&mut self, name: &str, first: First, group: Option<&str>) -> u32 {
        let position = match self.names.index.get(name) {
            Some(&position) => position,
            None => self.names.put(&name.to_owned()),
        };
        let group = || group.map(str::to_owned);
        let fresh = || Known { first, group: group(), has_run: false, last_use_us: None };
        match self.known.get_mut(position as usize) {
            None => self.known.push(fresh()),
            Some(known) if first < known.first => {
                (known.first, known.group) = (first, group());
            }
            Some(_) => {}
        }
        position
    }

    /// Records that a task of this name has run.
    pub(super) fn has_run(&mut self, who: u32) {
        self.known[who as usize].has_run = true;
    }

    /// Records usage of this name until a time.
    pub(super) fn has_used(&mut self, who: u32, until_us: i64) {
        let last = &mut self.known[who as usize].last_use_us;
        *last = (*last).max(Some(until_us));
    }

    /// Whether it represents users without a name.
    pub(super) fn is_nobody(&self, who: u32) -> bool {
        known_name(&self.names.all[who as usize]).is_none()
    }

    /// Adds the names of a part, and returns their positions.
    pub(super) fn add(&mut self, part: &Self) -> Vec<u32> {
        let put = |(name, known): (&String, &Known)| {
            let position = self.see(name, known.first, known.group.as_deref());
            let own = &mut self.known[position as usize];
            own.has_run |= known.has_run;
            own.last_use_us = own.last_use_us.max(known.last_use_us);
            position
        };
        part.names.all.iter().zip(&part.known).map(put).collect()
    }
}

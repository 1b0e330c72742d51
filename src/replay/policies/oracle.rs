//! The upper bound: it knows the true end of every attempt, and starts a copy only if it wins.
//!
//! When no task waits, the task with the latest true end gets a copy if the copy would end earlier
//! on the offered machine. The oracle knows the future load of the machines, but not their
//! failures.

use std::sync::Arc;

use super::{Kind, Place, Read, Speculation, SpeculationPlan, Wish};
use crate::notation::{Notation, NotationError};
use crate::replay::state::{Role, State};

pub(super) const KIND: Kind = Kind {
    name: "oracle",
    about: "Knows every true end and starts only copies that win; the upper bound",
    word: "",
    read: Read::Speculation(read),
};

#[derive(Debug)]
struct Plan;

#[expect(clippy::unnecessary_wraps, reason = "all readers have one signature")]
fn read(_: &mut Notation) -> Result<Arc<dyn SpeculationPlan>, NotationError> {
    Ok(Arc::new(Plan))
}

impl SpeculationPlan for Plan {
    fn build(&self, _state: &State<'_>) -> Option<Box<dyn Speculation>> {
        Some(Box::new(Oracle))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

#[derive(Debug)]
struct Oracle;

impl Speculation for Oracle {
    fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        if 0 < state.waiting {
            return None;
        }
        let mut ends: Vec<(i64, u32)> = state
            .live_slots()
            .filter(|&slot| state.attempts.role[slot as usize] == Role::Original)
            .map(|slot| state.attempts.task[slot as usize])
            .map(|task| (true_end_us(state, task), task))
            .collect();
        ends.sort_unstable_by(|a, b| b.cmp(a));
        ends.into_iter().find_map(|(end_us, task)| {
            let machine = place(task, &|_| true)?;
            let speed = state.machines.speed[machine as usize];
            let work = state.work_of_next(task);
            let copy_end_us = state.cluster.end_us(machine, state.now_us, work, speed);
            (copy_end_us < end_us).then_some(Wish { task, machine, role: Role::Copy })
        })
    }
}

/// The earliest true end of a task's attempts; the maximum if all are lost.
fn true_end_us(state: &State<'_>, task: u32) -> i64 {
    let ends = state.of_task(task).map(|slot| {
        let idx = slot as usize;
        if state.attempts.is_lost[idx] {
            return i64::MAX;
        }
        let (machine, rate) = (state.attempts.machine[idx], state.attempts.rate[idx]);
        state.cluster.end_us(machine, state.now_us, state.left_now(slot), rate)
    });
    ends.min().unwrap_or(i64::MAX)
}

//! Dolly: every task of a small job is cloned from the start (Ananthanarayanan and others, 2013).
//!
//! If a task straggles with a chance p, a job of n tasks needs
//! `c = ceil(ln(1 - (1 - e)^(1/n)) / ln p)` attempts of each task so that the job straggles with a
//! chance of at most e. The clones of a job are admitted if all clones stay below a share `budget`
//! of the cluster and all attempts below a share `load`. A job gets all of its clones or none.
//! Admitted clones count from their admission until their task is over, even before they start.

use std::sync::Arc;

use super::{Kind, Place, Read, Speculation, SpeculationPlan, Wish};
use crate::notation::{Notation, NotationError};
use crate::replay::journal::Kind as Happening;
use crate::replay::state::{Role, State};

pub(super) const KIND: Kind = Kind {
    name: "dolly",
    about: "Clones of all tasks of small jobs: straggle, tolerated, budget, load",
    word: "",
    read: Read::Speculation(read),
};

#[derive(Clone, Copy, Debug)]
struct Plan {
    straggle: f64,
    tolerated: f64,
    budget: f64,
    load: f64,
}

fn read(notation: &mut Notation) -> Result<Arc<dyn SpeculationPlan>, NotationError> {
    let chance = "a chance between 0.000001 and 0.999999";
    let share = "a share from 0 to 1";
    Ok(Arc::new(Plan {
        straggle: notation.number("straggle", chance, 0.05, 1e-6..=0.999_999)?,
        tolerated: notation.number("tolerated", chance, 0.05, 1e-6..=0.999_999)?,
        budget: notation.number("budget", share, 0.05, 0.0..=1.0)?,
        load: notation.number("load", share, 0.8, 0.0..=1.0)?,
    }))
}

impl Plan {
    /// Attempts per task for a job of `task_count` tasks, including the original.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 100")]
    fn attempts(&self, task_count: u32) -> u32 {
        let chance = 1.0 - (1.0 - self.tolerated).powf(1.0 / f64::from(task_count));
        let needed = chance.ln() / self.straggle.ln();
        // The quotient of logarithms may be slightly too large by rounding.
        (needed - 1e-9).ceil().clamp(1.0, 100.0) as u32
    }
}

impl SpeculationPlan for Plan {
    fn build(&self, state: &State<'_>) -> Option<Box<dyn Speculation>> {
        let mut task_count = vec![0_u32; state.workload.job_count()];
        for task in (0..).take(state.workload.task_count) {
            task_count[state.workload.job.get(task) as usize] += 1;
        }
        let attempts = vec![None; task_count.len()];
        Some(Box::new(Dolly {
            plan: *self,
            task_count,
            attempts,
            cloned: Vec::new(),
            promised: 0,
            clones: vec![0; state.workload.job_count()],
            held: 0,
        }))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("straggle", self.straggle.to_string()),
            ("tolerated", self.tolerated.to_string()),
            ("budget", self.budget.to_string()),
            ("load", self.load.to_string()),
        ]
    }
}

#[derive(Debug)]
struct Dolly {
    plan: Plan,
    task_count: Vec<u32>,
    /// Attempts per task, by job; `None` before the decision.
    attempts: Vec<Option<u32>>,
    /// Running tasks that should have clones.
    cloned: Vec<u32>,
    /// CPU of the admitted clones of all tasks that are not over.
    promised: u64,
    /// The part of `promised` for one task, by job.
    clones: Vec<u64>,
    /// CPU held by attempts that are not admitted clones.
    held: u64,
}

/// The number of `running` attempts of a task that are not admitted clones; `attempts` is the
/// admitted total.
fn besides_clones(running: usize, attempts: u32) -> u64 {
    let clones = (attempts as usize - 1).min(running.saturating_sub(1));
    (running - clones) as u64
}

impl Dolly {
    #[expect(clippy::cast_precision_loss, reason = "capacities are far below 2^53 millionths")]
    fn decide(&self, state: &State<'_>, task: u32) -> u32 {
        let task_count = self.task_count[state.workload.job.get(task) as usize];
        let attempts = self.plan.attempts(task_count);
        let present = state.machines.capacity.iter().zip(&state.machines.is_present);
        let capacity: u64 = present.filter(|(_, present)| **present).map(|(c, _)| c.cpu).sum();
        let wanted = state.workload.cpu.get(task) * u64::from(attempts) * u64::from(task_count);
        let below = |held: u64, share: f64| (held + wanted) as f64 <= share * capacity as f64;
        let all = self.held + self.promised;
        if below(self.promised, self.plan.budget) && below(all, self.plan.load) {
            attempts
        } else {
            1
        }
    }
}

impl Speculation for Dolly {
    fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        self.cloned.iter().find_map(|&task| {
            let attempts = self.attempts[state.workload.job.get(task) as usize].unwrap_or(1);
            if attempts as usize <= state.of_task(task).count() {
                return None;
            }
            let machine = place(task, &|_| true)?;
            Some(Wish { task, machine, role: Role::Copy })
        })
    }

    fn submitted(&mut self, state: &State<'_>, task: u32) {
        let job = state.workload.job.get(task) as usize;
        if self.attempts[job].is_none() {
            let attempts = self.decide(state, task);
            self.attempts[job] = Some(attempts);
            self.clones[job] = state.workload.cpu.get(task) * u64::from(attempts - 1);
            self.promised += self.clones[job] * u64::from(self.task_count[job]);
        }
    }

    fn concluded(&mut self, state: &State<'_>, task: u32) {
        let job = state.workload.job.get(task) as usize;
        // A task may be over before it arrives, and before the clones of its job are decided.
        if self.attempts[job].is_none() {
            self.task_count[job] -= 1;
        } else {
            self.promised -= self.clones[job];
        }
    }

    fn started(&mut self, state: &State<'_>, slot: u32) {
        let task = state.attempts.task[slot as usize];
        let attempts = self.attempts[state.workload.job.get(task) as usize].unwrap_or(1);
        let running = state.of_task(task).count();
        let more = besides_clones(running, attempts) - besides_clones(running - 1, attempts);
        self.held += more * state.workload.cpu.get(task);
        if state.attempts.role[slot as usize] == Role::Original && 1 < attempts {
            self.cloned.push(task);
        }
    }

    fn ending(&mut self, state: &State<'_>, slot: u32, _how: Happening) {
        let task = state.attempts.task[slot as usize];
        let attempts = self.attempts[state.workload.job.get(task) as usize].unwrap_or(1);
        let running = state.of_task(task).count();
        let less = besides_clones(running, attempts) - besides_clones(running - 1, attempts);
        self.held -= less * state.workload.cpu.get(task);
        if state.of_task(task).count() <= 1 {
            self.cloned.retain(|&other| other != task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admitted_clones_do_not_count_twice_and_other_copies_do() {
        // No clones; one admitted clone.
        assert_eq!([0, 1, 2, 3].map(|running| besides_clones(running, 1)), [0, 1, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(|running| besides_clones(running, 2)), [0, 1, 1, 2]);
    }

    #[test]
    fn larger_jobs_need_more_clones() {
        let plan = Plan { straggle: 0.05, tolerated: 0.05, budget: 0.05, load: 0.8 };
        assert_eq!([1, 10, 100].map(|tasks| plan.attempts(tasks)), [1, 2, 3]);
    }
}

//! `drf`: dominant shares, the larger of a user's shares of CPU and memory.
//!
//! It uses running usage over a sliding window, regardless of when it is charged. The capacity is
//! that of the machines at the time, or the given one. A resource without a capacity does not
//! count.

use std::fmt;

use super::window::Held;
use super::{Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::history::{History, Step};
use crate::notation::{Notation, write_notation};

/// Dominant shares.
#[derive(Debug)]
pub struct Drf {
    window_s: f64,
    /// Given capacities; 0 for the capacities of the machines.
    cpu: f64,
    memory: f64,
    held: Held,
}

impl Drf {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        let window_s = Held::read(notation)?;
        let expected = "a capacity, or 0 to use that of the machines";
        let cpu = notation.number("cpu", expected, 0.0, 0.0..)?;
        let memory = notation.number("memory", expected, 0.0, 0.0..)?;
        Ok(Self { window_s, cpu, memory, held: Held::default() })
    }
}

impl fmt::Display for Drf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: [(&str, &dyn fmt::Display); 3] =
            [("window_s", &self.window_s), ("cpu", &self.cpu), ("memory", &self.memory)];
        write_notation(f, "drf", &parameters)
    }
}

impl Index for Drf {
    fn columns(&self) -> Vec<String> {
        ["dominant", "cpu_share", "memory_share"].map(str::to_owned).into()
    }

    fn remarks(&self, history: &History) -> Vec<String> {
        let is_known = 0.0 < self.cpu || 0.0 < self.memory || !history.capacity.is_empty();
        let remark = "no machine has a known capacity: give cpu=.. or memory=.. to get values";
        if is_known { Vec::new() } else { vec![remark.to_owned()] }
    }

    fn held_per_user(&self, length_s: f64) -> f64 {
        2.0 * Held::rows(self.window_s, length_s)
    }

    fn begin(&mut self, _history: &History) -> Result<(), FairnessError> {
        self.held = Held::default();
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        let machines = step.history.capacity.get(step.idx as usize).copied().unwrap_or_default();
        let or_given = |given: f64, known: f64| if given == 0.0 { known } else { given };
        let capacity = [or_given(self.cpu, machines.cpu), or_given(self.memory, machines.memory)];
        // Usage of all users, then the capacity of both resources.
        let mut row: Vec<f64> =
            step.used.iter().flat_map(|used| [used.held_s, used.held_memory_s]).collect();
        row.extend(capacity.map(|capacity| capacity * step.length_s));
        let sums = self.held.add(row, step.length_s, self.window_s);
        let (used, whole) = sums.split_at(sums.len() - 2);
        for (who, used) in used.chunks_exact(2).enumerate() {
            let share = |resource: usize| used[resource] / whole[resource];
            let known = (0..2).filter(|&resource| 0.0 < whole[resource]).map(share);
            let dominant = known.fold(f64::NAN, f64::max);
            let or_nan = |resource| if whole[resource] == 0.0 { f64::NAN } else { share(resource) };
            out.put(who, [dominant, or_nan(0), or_nan(1)]);
        }
        Ok(())
    }
}

/// The number of tasks of each user. Tasks are assigned one by one. Of the users with a next task
/// that still fits, the one with the smallest dominant share gets it; among equals, the first.
pub fn dominant_fill(capacity: &[f64], demands: &[Vec<f64>]) -> Vec<u64> {
    let mut left = capacity.to_vec();
    let mut tasks = vec![0_u64; demands.len()];
    let per_task: Vec<f64> = demands
        .iter()
        .map(|demand| {
            demand.iter().zip(capacity).map(|(want, there)| want / there).fold(0.0, f64::max)
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 tasks")]
    let share = |tasks: &[u64], user: usize| tasks[user] as f64 * per_task[user];
    loop {
        let fits = |user: &usize| {
            0.0 < per_task[*user]
                && demands[*user].iter().zip(&left).all(|(want, left)| want <= left)
        };
        let next = (0..demands.len())
            .filter(fits)
            .min_by(|&one, &other| share(&tasks, one).total_cmp(&share(&tasks, other)));
        let Some(user) = next else { return tasks };
        left.iter_mut().zip(&demands[user]).for_each(|(left, want)| *left -= want);
        tasks[user] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::history::Capacity;
    use crate::fairness::indices::parse;
    use crate::fairness::samples::history;
    use crate::units::CpuTime;

    #[test]
    fn the_worked_example() {
        // 9 CPU and 18 GB; A needs (1, 4), B (3, 1).
        let tasks = dominant_fill(&[9.0, 18.0], &[vec![1.0, 4.0], vec![3.0, 1.0]]);
        assert_eq!(tasks, [3, 2]);
        // Both hold two thirds: A of the memory, B of the CPU.
        assert_eq!([3.0 * 4.0 / 18.0, 2.0 * 3.0 / 9.0], [2.0 / 3.0; 2]);
    }

    #[test]
    fn the_larger_share_is_the_dominant_one() {
        // The same division as a history of an hour.
        let mut history = history(&[("a", &[3.0 * 3600.0]), ("b", &[6.0 * 3600.0])]);
        history.cells[0].held_memory = CpuTime::from_seconds(12.0 * 3600.0);
        history.cells[1].held_memory = CpuTime::from_seconds(2.0 * 3600.0);
        history.capacity = vec![Capacity { cpu: 9.0, memory: 18.0 }];
        let dominant = |text: &str| {
            let mut index = parse(text).unwrap();
            index.begin(&history).unwrap();
            let mut out = Readings::of(index.as_ref(), 2);
            history.steps(|step| index.step(step, &mut out)).unwrap();
            [out.users[0], out.users[3]]
        };
        assert_eq!(dominant("drf"), [2.0 / 3.0; 2]);
        assert_eq!(dominant("drf:cpu=36,memory=36"), [1.0 / 3.0, 6.0 / 36.0]);
    }
}

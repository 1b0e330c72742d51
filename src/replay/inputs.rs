//! The machines that hold the input of tasks, and the cost of reading it from another machine.
//!
//! In: for each task, the machines that hold its input (the replicas of its block), and a factor.
//! Out: the factor of an attempt's work on a machine, and the waiting tasks whose input a free
//! machine holds. As in Hadoop, a free machine takes the first waiting task whose input it holds,
//! or else the first waiting task. For a copy, only its rule chooses the machine. By default,
//! inputs have no place.
//!
//! ```text
//!  waiting: t1 (m2, m3)  t2 (m1, m2)  t3 (m1, m3)       m1 is free: it takes t2
//! ```

use super::random::{Draws, Purpose};

/// The places of inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// The machines that hold a task's input, by task; empty if inputs have no place.
    homes: Vec<Vec<u32>>,
    /// The tasks whose input a machine holds, by machine, in ascending order.
    tasks: Vec<Vec<u32>>,
    /// Additional work of an attempt on a machine without the input, as a share.
    away: f64,
}

impl Inputs {
    /// Places `replicas` of each input on different random machines; on other machines, an attempt
    /// has `away` (a share of at least 0) more work.
    pub fn drawn(
        task_count: usize,
        machine_count: usize,
        replicas: usize,
        away: f64,
        seed: u64,
    ) -> Self {
        let draws = Draws::new(seed, Purpose::Input);
        let homes = (0_u64..).take(task_count).map(|task| {
            let mut machines: Vec<u32> = (0..).take(machine_count).collect();
            // The first steps of a shuffle (Fisher and Yates).
            for place in 0..replicas.min(machine_count) {
                let left = (machine_count - place) as u64;
                let wide = u128::from(draws.bits(task, place as u64)) * u128::from(left);
                let step = usize::try_from(wide >> 64).expect("below the number of machines");
                machines.swap(place, place + step);
            }
            machines.truncate(replicas);
            machines
        });
        Self::new(homes.collect(), away)
    }

    /// Inputs on the given machines, by task.
    pub fn new(homes: Vec<Vec<u32>>, away: f64) -> Self {
        let mut inputs = Self { homes, tasks: Vec::new(), away };
        inputs.list_tasks();
        inputs
    }

    fn list_tasks(&mut self) {
        self.tasks.clear();
        for (task, machines) in (0..).zip(&self.homes) {
            for &machine in machines {
                if self.tasks.len() <= machine as usize {
                    self.tasks.resize(machine as usize + 1, Vec::new());
                }
                self.tasks[machine as usize].push(task);
            }
        }
    }

    /// Whether inputs have no place.
    pub fn is_empty(&self) -> bool {
        self.homes.is_empty()
    }

    /// Whether there is an entry for each task, or none at all.
    pub(super) fn fits(&self, task_count: usize) -> bool {
        self.homes.is_empty() || self.homes.len() == task_count
    }

    /// The factor of an attempt's work.
    pub(super) fn factor(&self, task: u32, machine: u32) -> f64 {
        let is_away =
            self.homes.get(task as usize).is_some_and(|machines| !machines.contains(&machine));
        if is_away { 1.0 + self.away } else { 1.0 }
    }

    /// The tasks whose input a machine holds, in ascending order.
    pub(super) fn on(&self, machine: u32) -> &[u32] {
        self.tasks.get(machine as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn permute(&mut self, order: &[u32]) {
        if !self.homes.is_empty() {
            self.homes = order.iter().map(|&task| self.homes[task as usize].clone()).collect();
            self.list_tasks();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_input_has_its_replicas_on_different_machines(
            (tasks, machines, replicas) in (0_usize..60, 1_usize..12, 0_usize..14), seed in 0_u64..99,
        ) {
            let inputs = Inputs::drawn(tasks, machines, replicas, 0.5, seed);
            for (task, homes) in (0_u32..).zip(&inputs.homes) {
                let different: std::collections::BTreeSet<_> = homes.iter().collect();
                prop_assert_eq!((homes.len(), different.len()), (replicas.min(machines), homes.len()));
                for machine in (0_u32..).take(machines) {
                    let is_home = homes.contains(&machine);
                    prop_assert_eq!(inputs.factor(task, machine), if is_home { 1.0 } else { 1.5 });
                    prop_assert_eq!(inputs.on(machine).contains(&task), is_home);
                }
            }
        }
    }

    #[test]
    fn inputs_are_spread_evenly() {
        let inputs = Inputs::drawn(9_000, 9, 2, 0.0, 1);
        // 2,000 per machine are expected, with a deviation of 39.
        assert!((0..9).all(|machine| (1_850..2_150).contains(&inputs.on(machine).len())));
    }
}

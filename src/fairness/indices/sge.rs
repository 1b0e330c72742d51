//! `sge`: the share tree of Grid Engine. A node's tickets are in proportion to the square of its
//! shares divided by its usage, so that the long-term share approaches the entitlement.
//!
//! Only active nodes take part: those with running or waiting tasks in the interval. A node that
//! would get more than `compensation` times its entitlement is reduced once, and all are scaled
//! again. This is a soft cap. As coded, the decay per minute is 1 − ln 2/h·60.

use std::fmt;

use super::{Decay, Heavier, Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::accounts::{Standing, Tree};
use crate::fairness::history::{History, Step, Used};
use crate::notation::{Notation, write_notation};

/// Shares of the tickets.
#[derive(Debug)]
pub struct Sge {
    half_life_s: f64,
    decay: Decay,
    compensation: f64,
    usage: Vec<f64>,
    standing: Standing,
}

/// The time between two decays of usage in Grid Engine, s.
const DECAY_EVERY_S: f64 = 60.0;

impl Sge {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        let expected = "a number of seconds, 0 for no decay";
        let half_life_s = notation.number("half_life_s", expected, 604_800.0, 0.0..)?;
        let decay = Decay::read(notation)?;
        let expected = "a number of 1 or more";
        let compensation = notation.number("compensation", expected, 5.0, 1.0..)?;
        let standing = Standing::default();
        Ok(Self { half_life_s, decay, compensation, usage: Vec::new(), standing })
    }

    fn left_after(&self, length_s: f64) -> f64 {
        if self.half_life_s == 0.0 {
            return 1.0;
        }
        match self.decay {
            Decay::Exact => 0.5_f64.powf(length_s / self.half_life_s),
            Decay::Coded => (1.0 - std::f64::consts::LN_2 / self.half_life_s * DECAY_EVERY_S)
                .max(0.0)
                .powf(length_s / DECAY_EVERY_S),
        }
    }
}

impl fmt::Display for Sge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: [(&str, &dyn fmt::Display); 3] = [
            ("half_life_s", &self.half_life_s),
            ("decay", &self.decay.word()),
            ("compensation", &self.compensation),
        ];
        write_notation(f, "sge", &parameters)
    }
}

impl Index for Sge {
    fn columns(&self) -> Vec<String> {
        ["share", "usage"].map(str::to_owned).into()
    }

    fn heavier(&self) -> Heavier {
        Heavier::Smaller
    }

    fn begin(&mut self, history: &History) -> Result<(), FairnessError> {
        self.usage = vec![0.0; history.people.len()];
        self.standing = Standing::default();
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        let left = self.left_after(step.length_s);
        for (usage, used) in self.usage.iter_mut().zip(step.used) {
            *usage = *usage * left + used.cpu_s;
        }
        let active: Vec<bool> = step.used.iter().map(Used::asks).collect();
        let tree = &step.history.tree;
        self.standing.follow(tree, step.idx);
        let shares = share_tree(tree, &self.standing, &self.usage, &active, self.compensation);
        for (who, (share, &usage)) in shares.into_iter().zip(&self.usage).enumerate() {
            // Inactive users get no tickets, and are neither heavy nor light.
            out.put(who, [if active[who] { share } else { f64::NAN }, usage]);
        }
        Ok(())
    }
}

/// The share of the tickets of each user; 0 for one who is not active or has no shares.
pub fn share_tree(
    tree: &Tree,
    standing: &Standing,
    usage: &[f64],
    active: &[bool],
    compensation: f64,
) -> Vec<f64> {
    let sums = standing.sums(tree, usage);
    let marks: Vec<f64> = active.iter().map(|&is_active| f64::from(u8::from(is_active))).collect();
    let active = standing.sums(tree, &marks);
    let mut entitled = vec![0.0; tree.nodes.len()];
    let mut given = vec![0.0; tree.nodes.len()];
    (entitled[0], given[0]) = (1.0, 1.0);
    for idx in 0..tree.nodes.len() {
        let is_active = |&child: &usize| 0.0 < active[child];
        let children: Vec<usize> =
            standing.children(idx).iter().copied().filter(is_active).collect();
        let shares = |child: usize| tree.nodes[child].shares.number();
        let all: f64 = children.iter().map(|&child| shares(child)).sum();
        if all == 0.0 {
            continue;
        }
        for &child in &children {
            entitled[child] = entitled[idx] * shares(child) / all;
        }
        let mut weights: Vec<f64> = children
            .iter()
            .map(|&child| {
                shares(child).powi(2) / sums[child].max(entitled[child]).max(f64::MIN_POSITIVE)
            })
            .collect();
        let all: f64 = weights.iter().sum();
        for (weight, &child) in weights.iter_mut().zip(&children) {
            let target = given[idx] * *weight / all;
            if compensation * entitled[child] < target {
                *weight *= compensation * entitled[child] / target;
            }
        }
        let all: f64 = weights.iter().sum();
        for (weight, &child) in weights.iter().zip(&children) {
            given[child] = given[idx] * weight / all;
        }
    }
    tree.leaf_of.iter().map(|&leaf| given[leaf]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::samples::tree;

    #[test]
    fn the_cap_is_soft() {
        // shr 10 and .8108; share .925 with a limit of .5; reduced to 5.405; .8696 in the end.
        let tree = tree("x 10\ny 90", &["x", "y"]);
        let standing = Standing::of(&tree, 0);
        let found = share_tree(&tree, &standing, &[10.0, 9990.0], &[true, true], 5.0);
        assert_eq!(format!("{:.4}", found[0]), "0.8696");
        let uncapped = share_tree(&tree, &standing, &[10.0, 9990.0], &[true, true], 100.0);
        assert_eq!(format!("{:.3}", uncapped[0]), "0.925");
    }

    #[test]
    fn only_active_nodes_take_part() {
        let tree = tree("x 10\ny 90\nz 5", &["x", "y", "z"]);
        let of = |active: [bool; 3]| {
            share_tree(&tree, &Standing::of(&tree, 0), &[1.0, 2.0, 3.0], &active, 5.0)
        };
        assert_eq!(of([true, false, false]), [1.0, 0.0, 0.0]);
        assert_eq!(of([false; 3]), [0.0; 3]);
    }

    #[test]
    fn decay_is_to_first_order_as_coded() {
        let of = |decay| Sge {
            half_life_s: 604_800.0,
            decay,
            compensation: 5.0,
            usage: Vec::new(),
            standing: Standing::default(),
        };
        assert_eq!(format!("{:.6}", of(Decay::Coded).left_after(604_800.0)), "0.499988");
        assert_eq!(of(Decay::Exact).left_after(604_800.0), 0.5);
    }
}

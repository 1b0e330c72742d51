//! `fair-tree`: Slurm's Fair Tree, the default since 19.05. Users are ranked by walking down the
//! tree of accounts, at each level in the order of shares over usage. The value is the rank divided
//! by the number of users known by then, active or not. Accounts with `parent` are dissolved: their
//! children count as children of the next account above with its own shares.
//!
//! The manual and the code treat a tie between two accounts differently. In the manual, their users
//! are merged before the next level. The code walks through one account after the other, and the
//! second begins with the rank at which the first ended. `reading=code|manual` chooses.

use std::fmt;

use super::slurm::Decaying;
use super::{Heavier, Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::accounts::{Shares, Standing, Tree};
use crate::fairness::history::{History, Step};
use crate::notation::Notation;

/// How ties between accounts are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As in the code.
    Code,
    /// As in the manual.
    Manual,
}

const READINGS: [(&str, Reading); 2] = [("code", Reading::Code), ("manual", Reading::Manual)];

/// Fair Tree ranks.
#[derive(Debug)]
pub struct FairTree {
    usage: Decaying,
    reading: Reading,
    standing: Standing,
}

impl FairTree {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        let usage = Decaying::read(notation)?;
        let reading = notation.choice("reading", "`code` or `manual`", Reading::Code, &READINGS)?;
        Ok(Self { usage, reading, standing: Standing::default() })
    }
}

impl fmt::Display for FairTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reading = READINGS.iter().find(|known| known.1 == self.reading).map_or("", |one| one.0);
        self.usage.write(f, "fair-tree", ("reading", &reading))
    }
}

impl Index for FairTree {
    fn columns(&self) -> Vec<String> {
        ["factor", "level_fs", "raw_usage"].map(str::to_owned).into()
    }

    fn heavier(&self) -> Heavier {
        Heavier::Smaller
    }

    fn reads_dates(&self) -> bool {
        self.usage.reads_dates()
    }

    fn begin(&mut self, history: &History) -> Result<(), FairnessError> {
        self.usage.begin(history);
        self.standing = Standing::default();
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        self.usage.add(step);
        let tree = &step.history.tree;
        self.standing.follow(tree, step.idx);
        let all = fair_tree(tree, &self.standing, &self.usage.raw, self.reading);
        for (who, ((factor, level), &raw)) in all.into_iter().zip(&self.usage.raw).enumerate() {
            out.put(who, [factor, level, raw]);
        }
        Ok(())
    }
}

/// The level of a dissolved account, as coded: it stays among its siblings, without children, and
/// the sibling after it is no longer tied.
const LEVEL_OF_DISSOLVED: f64 = 4_294_967_294.0;

/// LF of each node: its share among its siblings divided by its usage among them. Infinite for a
/// node with shares but no usage, and for a user with its account's shares; 0 without shares.
fn level_fs(tree: &Tree, standing: &Standing, raw: &[f64]) -> Vec<f64> {
    let sums = standing.sums(tree, raw);
    let of = |idx: usize| {
        let node = &tree.nodes[idx];
        let Some(parent) = standing.parent(idx) else { return f64::INFINITY };
        let shares = match node.shares {
            Shares::Own(shares) => shares,
            Shares::Parent if node.is_user => return f64::INFINITY,
            Shares::Parent => return LEVEL_OF_DISSOLVED,
        };
        let below = standing.shares_below(parent);
        if shares == 0.0 || below == 0.0 {
            return 0.0;
        }
        let usage = if sums[parent] == 0.0 { 0.0 } else { sums[idx] / sums[parent] };
        shares / below / usage
    };
    (0..tree.nodes.len()).map(of).collect()
}

/// The rank of each user divided by the number of users, and the user's LF; rank 1 is served last.
pub fn fair_tree(
    tree: &Tree,
    standing: &Standing,
    raw: &[f64],
    reading: Reading,
) -> Vec<(f64, f64)> {
    let levels = level_fs(tree, standing, raw);
    let mut descent = Descent {
        tree,
        standing,
        levels: &levels,
        reading,
        rank: standing.user_count(),
        left: standing.user_count(),
        factors: vec![0.0; tree.leaf_of.len()],
    };
    descent.descend(standing.children(0), false);
    let factors = descent.factors;
    tree.leaf_of.iter().zip(factors).map(|(&leaf, factor)| (factor, levels[leaf])).collect()
}

struct Descent<'a> {
    tree: &'a Tree,
    standing: &'a Standing,
    levels: &'a [f64],
    reading: Reading,
    /// The last rank given.
    rank: usize,
    /// The number of users without a rank.
    left: usize,
    factors: Vec<f64>,
}

impl Descent<'_> {
    /// Ranks these siblings; `is_tied` if their account is tied with the one before.
    fn descend(&mut self, siblings: &[usize], is_tied: bool) {
        let (tree, standing) = (self.tree, self.standing);
        let is_account = |&idx: &usize| !tree.nodes[idx].is_user;
        let mut order = siblings.to_vec();
        if self.reading == Reading::Manual {
            order.retain(|idx| tree.nodes[*idx].shares != Shares::Parent || !is_account(idx));
        }
        // At equal levels, users come before accounts; the sort keeps the order of the file.
        order.sort_by(|one, other| {
            self.levels[*other]
                .total_cmp(&self.levels[*one])
                .then(is_account(one).cmp(&is_account(other)))
        });
        let mut inherited = is_tied;
        let mut previous = None;
        let mut at = 0;
        while at < order.len() {
            let idx = order[at];
            let level = self.levels[idx];
            let is_tied = std::mem::take(&mut inherited) || previous == Some(level);
            previous = Some(level);
            at += 1;
            if tree.nodes[idx].is_user {
                if !is_tied {
                    self.rank = self.left;
                }
                if let Some(who) = tree.nodes[idx].who {
                    self.factors[who] = ratio(self.rank, standing.user_count());
                }
                self.left -= 1;
                continue;
            }
            let mut below = standing.children(idx).to_vec();
            while self.reading == Reading::Manual
                && at < order.len()
                && self.levels[order[at]] == level
            {
                below.extend(standing.children(order[at]));
                at += 1;
            }
            self.descend(&below, is_tied);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 users")]
fn ratio(rank: usize, users: usize) -> f64 {
    rank as f64 / users as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::samples::tree;

    fn check(text: &str, users: &[&str], raw: &[f64], reading: Reading, expected: &[f64]) {
        let tree = tree(text, users);
        let found = fair_tree(&tree, &Standing::of(&tree, 0), raw, reading);
        for ((found, _), expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 5e-4, "{found} {expected}");
        }
    }

    #[test]
    fn accounts_are_descended_in_the_order_of_their_level() {
        let text = "A 1\nB 1\nA/a1 1\nA/a2 1\nB/b1 1";
        let users = ["a1", "a2", "b1"];
        let raw = [20.0, 10.0, 10.0];
        let drawn = tree(text, &users);
        let levels = level_fs(&drawn, &Standing::of(&drawn, 0), &raw);
        let rounded: Vec<String> = levels[1..].iter().map(|level| format!("{level:.3}")).collect();
        assert_eq!(rounded, ["0.667", "2.000", "0.750", "1.500", "1.000"]);
        for reading in [Reading::Code, Reading::Manual] {
            check(text, &users, &raw, reading, &[0.333, 0.667, 1.0]);
        }
    }

    #[test]
    fn tied_accounts_are_read_in_two_ways() {
        // Both accounts used the same; their users have LF 2 and about 0.667: 1/2 divided by 1/4
        // and by 3/4.
        let text = "A 1\nB 1\nA/a1 1\nA/a2 1\nB/b1 1\nB/b2 1";
        let users = ["a1", "a2", "b1", "b2"];
        let raw = [1.0, 3.0, 1.0, 3.0];
        check(text, &users, &raw, Reading::Manual, &[1.0, 0.5, 1.0, 0.5]);
        check(text, &users, &raw, Reading::Code, &[1.0, 0.75, 0.75, 0.25]);
    }

    #[test]
    fn who_used_nothing_is_first_and_who_has_no_shares_last() {
        let text = "x 1\ny 1\nz 0\nw parent";
        check(
            text,
            &["w", "x", "y", "z"],
            &[0.0, 0.0, 5.0, 1.0],
            Reading::Code,
            &[1.0, 1.0, 0.5, 0.25],
        );
    }
}

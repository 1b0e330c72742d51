//! Sums over a sliding window, and the users who are compared.
//!
//! In: usage in each interval. Out: the usage of each user in the last intervals that fit in the
//! window, divided by the user's entitlement.

use std::fmt;

use crate::fairness::FairnessError;
use crate::fairness::accounts::Standing;
use crate::fairness::history::Step;
use crate::notation::{Notation, write_notation};

/// The users whose usage is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// Those with usage in the window.
    Active,
    /// All users who exist by then.
    Everybody,
}

const AMONG: [(&str, Among); 2] = [("active", Among::Active), ("all", Among::Everybody)];

/// The values that an index of equality compares.
#[derive(Debug)]
pub(super) struct Sliding {
    window_s: f64,
    among: Among,
    held: Held,
    standing: Standing,
}

impl Sliding {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        let held = Held::default();
        let window_s = Held::read(notation)?;
        let among = notation.choice("among", "`active` or `all`", Among::Active, &AMONG)?;
        Ok(Self { window_s, among, held, standing: Standing::default() })
    }

    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        let among = AMONG.iter().find(|known| known.1 == self.among).map_or("", |known| known.0);
        write_notation(f, name, &[("window_s", &self.window_s), ("among", &among)])
    }

    /// The number of values kept per user, with intervals of a length.
    pub(super) fn held_per_user(&self, length_s: f64) -> f64 {
        Held::rows(self.window_s, length_s)
    }

    pub(super) fn begin(&mut self) {
        self.held = Held::default();
        self.standing = Standing::default();
    }

    /// The entitlement of each user: one share each if no shares were given.
    fn entitlements(&mut self, step: &Step<'_>) -> Vec<f64> {
        let tree = &step.history.tree;
        if !tree.is_given {
            return vec![1.0; step.used.len()];
        }
        self.standing.follow(tree, step.idx);
        self.standing.entitlements(tree)
    }

    /// Usage over entitlement of the users who are compared. Equal entitlements leave usage
    /// unchanged.
    pub(super) fn add(&mut self, step: &Step<'_>) -> Vec<f64> {
        let usage: Vec<f64> = step.used.iter().map(|used| used.cpu_s).collect();
        let sums = self.held.add(usage, step.length_s, self.window_s);
        let all = sums.into_iter().zip(self.entitlements(step)).enumerate();
        let tree = &step.history.tree;
        // Users of a file exist from the start.
        let is_of_file = |who: usize| tree.nodes[tree.leaf_of[who]].since <= step.idx;
        let is_compared = |who: usize, sum: f64| match self.among {
            Among::Active => 0.0 < sum,
            Among::Everybody => step.is_there(who) || tree.is_given && is_of_file(who),
        };
        let mut compared: Vec<f64> = all
            .filter(|&(who, (sum, entitled))| 0.0 < entitled && is_compared(who, sum))
            .map(|(_, (sum, entitled))| sum / entitled)
            .collect();
        if self.among == Among::Everybody && tree.is_given {
            compared.resize(compared.len() + self.never_seen(step), 0.0);
        }
        compared
    }

    /// The number of users of a file of accounts who never submit anything.
    fn never_seen(&self, step: &Step<'_>) -> usize {
        let tree = &step.history.tree;
        let entitled = self.standing.norm_shares(tree);
        let is_absent = |idx: usize| tree.nodes[idx].is_user && tree.nodes[idx].who.is_none();
        (0..tree.nodes.len()).filter(|&idx| is_absent(idx) && 0.0 < entitled[idx]).count()
    }
}

/// The last intervals that fit in a window.
///
/// They are stored as two stacks. So an interval costs one addition per user for any length of the
/// window, and no number is ever subtracted:
///
/// ```text
///  ended: sums from an interval up to the turn | added: the intervals since, and their sum
///         (3+2+1) (3+2)  (3)                   |        4, 5        9
/// ```
#[derive(Debug, Default)]
pub(super) struct Held {
    ended: Vec<Vec<f64>>,
    added: Vec<Vec<f64>>,
    added_sum: Vec<f64>,
}

impl Held {
    pub(super) fn read(notation: &mut Notation) -> Result<f64, FairnessError> {
        let expected = "a number of seconds above 0";
        Ok(notation.number("window_s", expected, 86_400.0, f64::MIN_POSITIVE..)?)
    }

    /// The number of intervals of a length that fit in a window; at least one.
    pub(super) fn rows(window_s: f64, length_s: f64) -> f64 {
        // The small addend keeps a quotient that was rounded down from losing one interval.
        (window_s / length_s + 1e-9).floor().max(1.0)
    }

    /// Adds an interval, drops those that no longer fit, and returns the sums.
    pub(super) fn add(&mut self, row: Vec<f64>, length_s: f64, window_s: f64) -> Vec<f64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of intervals, saturating"
        )]
        let most = Self::rows(window_s, length_s) as usize;
        self.added_sum.resize(row.len(), 0.0);
        self.added_sum.iter_mut().zip(&row).for_each(|(sum, part)| *sum += part);
        self.added.push(row);
        while most < self.ended.len() + self.added.len() {
            if self.ended.is_empty() {
                self.turn();
            }
            self.ended.pop();
        }
        let mut sums = self.added_sum.clone();
        if let Some(ended) = self.ended.last() {
            sums.iter_mut().zip(ended).for_each(|(sum, part)| *sum += part);
        }
        sums
    }

    /// Moves the added intervals to the other stack, the newest first. Each becomes the sum of
    /// itself and all newer ones.
    fn turn(&mut self) {
        for mut row in self.added.drain(..).rev() {
            if let Some(later) = self.ended.last() {
                row.iter_mut().zip(later).for_each(|(sum, part)| *sum += part);
            }
            self.ended.push(row);
        }
        self.added_sum.fill(0.0);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 users")]
pub(super) fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_the_last_intervals() {
        let mut held = Held::default();
        let sums: Vec<f64> =
            (0..6).map(|bit| held.add(vec![f64::from(1 << bit)], 10.0, 30.0)[0]).collect();
        assert_eq!(sums, [1.0, 3.0, 7.0, 14.0, 28.0, 56.0]);
        // As many intervals as fit: 60 s have one of 37 s, and 74 s have two.
        let fits = [(60.0, 37.0), (74.0, 37.0), (110.0, 37.0), (0.3, 0.1), (86_400.0, 3600.0)];
        assert_eq!(
            fits.map(|(window, length)| Held::rows(window, length)),
            [1.0, 2.0, 2.0, 3.0, 24.0]
        );
        // A window shorter than an interval is one interval.
        assert_eq!(Held::default().add(vec![5.0], 10.0, 1.0), [5.0]);
    }
}

//! `slurm`: Slurm's classic fair-share factor over a tree of accounts.
//!
//! Usage decays with a half-life. Effective usage mixes a user's own usage with that of the
//! account. The factor is 2^(−(UE/S)/d): 1 for users without usage, and 0 for users without shares.
//! The calculation period is the interval. Accounts with `parent` are dissolved: their children
//! count as children of the next account above with its own shares. As coded, the decay per second
//! is 1 − 0.693/h, which gives 0.5000734 over a half-life; `decay=exact` gives exactly one half.

use std::fmt;

use super::{Decay, Heavier, Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::accounts::{Shares, Standing, Tree};
use crate::fairness::history::{History, Step};
use crate::notation::{Notation, write_notation};
use crate::sources::zone::Zone;
use crate::units::MICROS_PER_DAY;

/// The classic factor.
#[derive(Debug)]
pub struct Slurm {
    usage: Decaying,
    dampening: f64,
    standing: Standing,
}

/// Raw usage that decays, as in Slurm.
#[derive(Debug)]
pub(super) struct Decaying {
    half_life_s: f64,
    decay: Decay,
    reset: Option<Period>,
    /// The number of the last interval's period.
    period: Option<i64>,
    pub(super) raw: Vec<f64>,
}

/// How often usage is reset to 0, by the UTC calendar (`PriorityUsageResetPeriod`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Period {
    Daily,
    Weekly,
    Monthly,
    Quarterly,
    Yearly,
}

const PERIODS: [(&str, Option<Period>); 6] = [
    ("none", None),
    ("daily", Some(Period::Daily)),
    ("weekly", Some(Period::Weekly)),
    ("monthly", Some(Period::Monthly)),
    ("quarterly", Some(Period::Quarterly)),
    ("yearly", Some(Period::Yearly)),
];

impl Period {
    /// The number of the period of an instant; weeks begin on Sunday.
    fn of(self, unix_us: i64) -> i64 {
        let day = unix_us.div_euclid(MICROS_PER_DAY);
        let month = Zone::utc().month_of(unix_us).number();
        match self {
            Self::Daily => day,
            // 1 January 1970 was a Thursday.
            Self::Weekly => (day + 4).div_euclid(7),
            Self::Monthly => month,
            Self::Quarterly => month.div_euclid(3),
            Self::Yearly => month.div_euclid(12),
        }
    }
}

impl Decaying {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        let expected = "a number of seconds, 0 for no decay";
        let half_life_s = notation.number("half_life_s", expected, 604_800.0, 0.0..)?;
        let decay = Decay::read(notation)?;
        let expected = "`none`, `daily`, `weekly`, `monthly`, `quarterly` or `yearly`";
        let reset = notation.choice("reset", expected, None, &PERIODS)?;
        Ok(Self { half_life_s, decay, reset, period: None, raw: Vec::new() })
    }

    /// Writes an index with these parameters and one more. `reset` is written only if usage is
    /// reset.
    pub(super) fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &str,
        (key, value): (&str, &dyn fmt::Display),
    ) -> fmt::Result {
        let decay = self.decay.word();
        let mut all: Vec<(&str, &dyn fmt::Display)> =
            vec![("half_life_s", &self.half_life_s), ("decay", &decay), (key, value)];
        let word = PERIODS.iter().find(|known| known.1.is_some() && known.1 == self.reset);
        if let Some((word, _)) = word {
            all.push(("reset", word));
        }
        write_notation(f, name, &all)
    }

    /// Whether usage is reset by the calendar.
    pub(super) fn reads_dates(&self) -> bool {
        self.reset.is_some()
    }

    pub(super) fn begin(&mut self, history: &History) {
        self.raw = vec![0.0; history.people.len()];
        self.period = None;
    }

    /// The share of usage that is left after a time, at least the smallest normal number.
    fn left_after(&self, length_s: f64) -> f64 {
        if self.half_life_s == 0.0 {
            return 1.0;
        }
        match self.decay {
            Decay::Exact => 0.5_f64.powf(length_s / self.half_life_s),
            Decay::Coded => (1.0 - 0.693 / self.half_life_s).max(0.0).powf(length_s),
        }
        .max(f64::MIN_POSITIVE)
    }

    /// Adds the usage of an interval, decayed over that interval as in Slurm. If a new period has
    /// begun by its end, all earlier usage is dropped.
    pub(super) fn add(&mut self, step: &Step<'_>) {
        if let Some(reset) = self.reset {
            let grid = &step.history.grid;
            let ends = i64::from(step.idx) + 1;
            let start_us = grid.start_us.saturating_add(step.history.unix_us.unwrap_or_default());
            let end_us = start_us.saturating_add(grid.interval_us.saturating_mul(ends));
            let period = reset.of(end_us);
            if self.period.replace(period).is_some_and(|last| last != period) {
                self.raw.fill(0.0);
            }
        }
        let left = self.left_after(step.length_s);
        for (raw, used) in self.raw.iter_mut().zip(step.used) {
            *raw = *raw * left + used.cpu_s * left;
        }
    }
}

impl Slurm {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        let usage = Decaying::read(notation)?;
        let dampening =
            notation.number("dampening", "a number above 0", 1.0, f64::MIN_POSITIVE..)?;
        Ok(Self { usage, dampening, standing: Standing::default() })
    }
}

impl fmt::Display for Slurm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.usage.write(f, "slurm", ("dampening", &self.dampening))
    }
}

impl Index for Slurm {
    fn columns(&self) -> Vec<String> {
        ["factor", "effective_usage", "raw_usage"].map(str::to_owned).into()
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
        let all = classic(tree, &self.standing, &self.usage.raw, self.dampening);
        for (who, ((effective, factor), &raw)) in all.into_iter().zip(&self.usage.raw).enumerate() {
            out.put(who, [factor, effective, raw]);
        }
        Ok(())
    }
}

/// The effective usage and factor of each user, from raw usage.
///
/// A user with the shares of an account has the effective usage and the factor of the account.
/// Directly below the root, as coded, the factor is that of the root, 2^(−1/d), but the effective
/// usage is the user's own.
pub fn classic(tree: &Tree, standing: &Standing, raw: &[f64], dampening: f64) -> Vec<(f64, f64)> {
    let sums = standing.sums(tree, raw);
    let share = standing.norm_shares(tree);
    let whole: f64 = raw.iter().sum();
    let mut effective = vec![1.0; tree.nodes.len()];
    for idx in 1..tree.nodes.len() {
        let Some(parent) = standing.parent(idx) else { continue };
        let own = if whole == 0.0 { 0.0 } else { (sums[idx] / whole).min(1.0) };
        let below = standing.shares_below(parent);
        effective[idx] = match tree.nodes[idx].shares {
            _ if parent == 0 => own,
            Shares::Own(shares) if 0.0 < below => {
                own + (effective[parent] - own) * (shares / below)
            }
            _ => effective[parent],
        };
    }
    let factor = |leaf: usize| {
        let of = match (tree.nodes[leaf].shares, standing.parent(leaf)) {
            (Shares::Parent, Some(parent)) => parent,
            _ => leaf,
        };
        if share[of] == 0.0 {
            return 0.0;
        }
        2.0_f64.powf(-(effective[of] / share[of]) / dampening)
    };
    tree.leaf_of.iter().map(|&leaf| (effective[leaf], factor(leaf))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::samples::tree;

    #[test]
    fn fairshare_parent_takes_the_accounts_values() {
        let tree = tree("A 1\nA/x parent\nA/y parent\nB 1\nB/z 0", &["x", "y", "z"]);
        let found = classic(&tree, &Standing::of(&tree, 0), &[3.0, 1.0, 0.0], 1.0);
        assert_eq!(found[0], (1.0, 0.25));
        assert_eq!(found[0], found[1]);
        assert_eq!(found[2].1, 0.0);
    }

    #[test]
    fn decay_is_to_first_order_as_coded() {
        let of = |decay| Decaying {
            half_life_s: 604_800.0,
            decay,
            reset: None,
            period: None,
            raw: Vec::new(),
        };
        assert_eq!(format!("{:.7}", of(Decay::Coded).left_after(604_800.0)), "0.5000734");
        assert_eq!(of(Decay::Exact).left_after(604_800.0), 0.5);
        // A whole period of one core, as charged.
        assert_eq!(format!("{:.4}", 300.0 * of(Decay::Coded).left_after(300.0)), "299.8969");
        let never = Decaying { half_life_s: 0.0, ..of(Decay::Coded) };
        assert_eq!(never.left_after(1e9), 1.0);
    }
}

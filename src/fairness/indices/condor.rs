//! `condor` and `htcondor`: user priorities with a half-life; smaller is better.
//!
//! RUP' = β·RUP + (1 − β)·ρ with β = 0.5^(δ/h), and EUP = RUP · factor. In the paper's form (Ota
//! and Aida 2009, equations 3 to 5), ρ is the CPU-seconds of the interval, RUP starts at 0.5, and
//! the factor is 1. In `HTCondor`'s form, ρ is the cores in use, RUP never falls below 0.5, and the
//! factor is 1000. Shares of the pool are in proportion to 1/EUP, among the users who run or wait
//! in the interval. This does not depend on when their usage is charged; charged usage has its own
//! column. RUP starts with the user's first submission.
//!
//! A factor may apply to a user on some machines. The machines of a line `user NAME on KIND NAME
//! FACTOR` get an additional EUP and share.

use std::fmt;

use super::{Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::factors::{Factors, Target};
use crate::fairness::history::{History, Step};
use crate::notation::{Notation, write_notation};

/// The form that gives the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// That of the paper.
    Paper,
    /// That of `HTCondor` since 8.8.
    Htcondor,
}

/// What ρ measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rho {
    CpuSeconds,
    Cores,
}

const RHO: [(&str, Rho); 2] = [("cpu-s", Rho::CpuSeconds), ("cores", Rho::Cores)];

/// User priorities of Condor.
#[derive(Debug)]
pub struct Condor {
    form: Form,
    half_life_s: f64,
    start: f64,
    floor: f64,
    factor: f64,
    rho: Rho,
    /// Cores to divide; 1 gives shares of the pool.
    pool: f64,
    factors: Factors,
    /// The factor of each user: in general, then on the machines in the file.
    factors_of: Vec<Vec<f64>>,
    rup: Vec<f64>,
}

impl Condor {
    pub(super) fn read(notation: &mut Notation, form: Form) -> Result<Self, FairnessError> {
        let (floor, factor, rho) = match form {
            Form::Paper => (0.0, 1.0, Rho::CpuSeconds),
            Form::Htcondor => (0.5, 1000.0, Rho::Cores),
        };
        let above_0 = f64::MIN_POSITIVE..;
        let half_life_s = notation.number(
            "half_life_s",
            "a number of seconds above 0",
            86_400.0,
            above_0.clone(),
        )?;
        let start = notation.number("start", "a number of 0 or more", 0.5, 0.0..)?;
        let floor = notation.number("floor", "a number of 0 or more", floor, 0.0..)?;
        let factor = notation.number("factor", "a number above 0", factor, above_0.clone())?;
        let rho = notation.choice("rho", "`cpu-s` or `cores`", rho, &RHO)?;
        let pool = notation.number("pool", "a number of cores above 0", 1.0, above_0)?;
        let path: String = notation.take("factors", "a file", String::new())?;
        let factors = Factors::load(&path)?;
        Ok(Self {
            form,
            half_life_s,
            start,
            floor,
            factor,
            rho,
            pool,
            factors,
            factors_of: Vec::new(),
            rup: Vec::new(),
        })
    }
}

impl fmt::Display for Condor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rho = RHO.iter().find(|known| known.1 == self.rho).map_or("", |known| known.0);
        let name = match self.form {
            Form::Paper => "condor",
            Form::Htcondor => "htcondor",
        };
        let path = self.factors.path().unwrap_or_default();
        let mut parameters: Vec<(&str, &dyn fmt::Display)> = vec![
            ("half_life_s", &self.half_life_s),
            ("start", &self.start),
            ("floor", &self.floor),
            ("factor", &self.factor),
            ("rho", &rho),
            ("pool", &self.pool),
        ];
        if !path.is_empty() {
            parameters.push(("factors", &path));
        }
        write_notation(f, name, &parameters)
    }
}

impl Index for Condor {
    fn columns(&self) -> Vec<String> {
        let mut columns: Vec<String> =
            ["eup", "rup", "share", "charged_cpu_s"].map(str::to_owned).into();
        for target in self.factors.targets() {
            let name = target.column();
            columns.extend([format!("eup_on_{name}"), format!("share_on_{name}")]);
        }
        columns
    }

    fn remarks(&self, history: &History) -> Vec<String> {
        self.factors.remark(history, true).into_iter().collect()
    }

    fn adds_up(&self) -> bool {
        // Decaying usage can be added up like usage, unless it has a minimum.
        self.floor == 0.0
    }

    fn begin(&mut self, history: &History) -> Result<(), FairnessError> {
        let targets = self.factors.targets();
        let places = std::iter::once(None).chain(targets.iter().map(Some));
        let of = |place: Option<&Target>| -> Vec<f64> {
            let factors = self.factors.of_people(history, place, self.factor);
            // HTCondor raises factors below 1.
            let least = if self.form == Form::Htcondor { 1.0 } else { 0.0 };
            factors.into_iter().map(|factor| factor.max(least)).collect()
        };
        self.factors_of = places.map(of).collect();
        self.rup = vec![self.start.max(self.floor); history.people.len()];
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        let width = 2 + 2 * self.factors_of.len();
        for (who, (rup, used)) in self.rup.iter_mut().zip(step.used).enumerate() {
            if !step.is_there(who) {
                continue;
            }
            let rho = match self.rho {
                Rho::CpuSeconds => used.cpu_s,
                Rho::Cores => used.held_s / step.length_s,
            };
            *rup = rup_after(*rup, rho, step.length_s, self.half_life_s).max(self.floor);
            let row = &mut out.users[who * width..(who + 1) * width];
            (row[1], row[3]) = (*rup, used.cpu_s);
        }
        let asking: Vec<usize> =
            (0..step.used.len()).filter(|&who| step.used[who].asks()).collect();
        for (place, factors) in self.factors_of.iter().enumerate() {
            // The first columns are placed around RUP.
            let [eup_at, share_at] =
                if place == 0 { [0, 2] } else { [2 + 2 * place, 3 + 2 * place] };
            for (who, (rup, factor)) in self.rup.iter().zip(factors).enumerate() {
                out.users[who * width + eup_at] = rup * factor;
                out.users[who * width + share_at] = 0.0;
            }
            let eups: Vec<f64> =
                asking.iter().map(|&who| out.users[who * width + eup_at]).collect();
            for (&who, share) in asking.iter().zip(pool_shares(&eups)) {
                out.users[who * width + share_at] = share * self.pool;
            }
        }
        Ok(())
    }
}

/// RUP after `length_s` seconds with a usage of `rho`: β·RUP + (1 − β)·ρ.
pub fn rup_after(rup: f64, rho: f64, length_s: f64, half_life_s: f64) -> f64 {
    let beta = 0.5_f64.powf(length_s / half_life_s);
    beta * rup + (1.0 - beta) * rho
}

/// The share of the pool of each effective user priority: in proportion to 1/EUP. If some users
/// have a priority of 0, they divide the whole pool equally.
pub fn pool_shares(eups: &[f64]) -> Vec<f64> {
    let weight = |eup: f64| {
        if eups.contains(&0.0) { f64::from(u8::from(eup == 0.0)) } else { 1.0 / eup }
    };
    let norm: f64 = eups.iter().map(|&eup| weight(eup)).sum();
    eups.iter().map(|&eup| weight(eup) / norm).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fairness::indices::parse;
    use crate::fairness::samples::history;

    const DAY: f64 = 86_400.0;

    #[test]
    fn the_papers_examples() {
        assert_eq!(rup_after(10.0, 0.0, DAY, DAY), 5.0);
        assert_eq!(rup_after(10.0, 0.0, 2.0 * DAY, DAY), 2.5);
        let shares = pool_shares(&[20.0, 10.0, 5.0]);
        assert_eq!([shares[1] / shares[0], shares[2] / shares[0]], [2.0, 4.0]);
    }

    #[test]
    fn the_examples_of_htcondor() {
        // One minute with 10 cores, a day with them, and 48 hours with 100.
        assert_eq!(format!("{:.8}", 0.5_f64.powf(60.0 / DAY)), "0.99951876");
        assert_eq!(format!("{:.7}", rup_after(0.5, 10.0, 60.0, DAY)), "0.5045717");
        assert_eq!(rup_after(0.5, 10.0, DAY, DAY), 5.25);
        assert_eq!(rup_after(0.5, 100.0, 2.0 * DAY, DAY), 75.125);
        let shares: Vec<f64> =
            pool_shares(&[5.0, 10.0, 20.0]).iter().map(|share| share * 70.0).collect();
        for (found, expected) in shares.iter().zip([40.0, 20.0, 10.0]) {
            assert!((found - expected).abs() < 1e-12, "{shares:?}");
        }
    }

    #[test]
    fn one_step_of_a_day_is_24_steps_of_an_hour() {
        // 10 cores for a day, as 24 intervals and as one.
        let hourly = history(&[("a", &[36_000.0; 24])]);
        let mut daily = history(&[("a", &[864_000.0])]);
        daily.grid.interval_us *= 24;
        let last = |history: &History| {
            let mut index = parse("htcondor").unwrap();
            index.begin(history).unwrap();
            let mut out = Readings::of(index.as_ref(), 1);
            history.steps(|step| index.step(step, &mut out)).unwrap();
            out.users
        };
        let (hourly, daily) = (last(&hourly), last(&daily));
        assert!((hourly[1] - 5.25).abs() < 1e-12 && daily[1] == 5.25, "{hourly:?} {daily:?}");
        assert_eq!(daily[0], 5250.0);
    }

    #[test]
    fn priorities_of_nothing_share_the_pool() {
        assert_eq!(pool_shares(&[0.0, 3.0, 0.0]), [0.5, 0.0, 0.5]);
        assert!(pool_shares(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn usage_decays_by_half_in_a_half_life_whatever_the_step(
            rup in 0.001_f64..1e9, half_life in 1.0_f64..1e7, cuts in 1_u32..200
        ) {
            let step = half_life / f64::from(cuts);
            let end = (0..cuts).fold(rup, |rup, _| rup_after(rup, 0.0, step, half_life));
            prop_assert!((end - rup / 2.0).abs() < 1e-12 * rup * f64::from(cuts));
        }

        #[test]
        fn shares_close_to_the_whole(eups in prop::collection::vec(0.0_f64..1e6, 1..40)) {
            let sum: f64 = pool_shares(&eups).iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
        }
    }
}

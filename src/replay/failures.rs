//! Failures of machines, drawn from a model of a trace's outages.
//!
//! In: the outages that [`studies::machines`](crate::studies::machines) finds. Out: a
//! [`FailureModel`], and a cluster whose machines leave and return at random times. Times away are
//! drawn from a Kaplan-Meier curve; machines in its tail do not return. Every machine fails
//! independently, at the same times under every policy.
//!
//! Times up follow two Weibull distributions. The age of a machine in service at the start is
//! unknown: its first time up is the remainder of a longer one (the forward recurrence time of a
//! renewal process). First times up are fitted to those of the trace's machines, from the start of
//! the window. Later times up start with a return, and are fitted to times up after a return. A
//! single distribution would treat every machine at the start as a new one.
//!
//! ```text
//!             start                        end
//!  recorded   ..====|....|=========|..|====..  replaced by
//!  drawn        =========|..|======|......|==  the same laws, at other times, under a seed
//!               | first  |  | later|      |
//! ```
//! Common causes of outages (racks, upgrades) are not modelled: simulated outages are independent.

use std::fmt;
use std::str::FromStr;

use super::cluster::{Change, Cluster, ClusterError, MachineChange, Remark};
use super::random::{Draws, Purpose};
use crate::digits::{counted, grouped, six_digits};
use crate::notation::{Notation, NotationError};
use crate::studies::machines::Fleet;
use crate::studies::machines::survival::{Point, Weibull, curve, weibull};
use crate::units::micros_to_seconds;

/// The source of failures in its notation: `failures:from=machines`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureSpec;

impl FromStr for FailureSpec {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Self, NotationError> {
        let mut notation = Notation::parse("failure model", text)?;
        if notation.name() != "failures" {
            return Err(notation.unknown_name(["failures"]));
        }
        notation.choice("from", "`machines`", (), &[("machines", ())])?;
        notation.finish()?;
        Ok(Self)
    }
}

impl fmt::Display for FailureSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failures:from=machines")
    }
}

/// When machines leave, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureModel {
    /// First times up, from the start of the window.
    pub first_up: Weibull,
    /// Times up from a return.
    pub later_up: Weibull,
    /// Times away, as a survival curve.
    pub away: Vec<Point>,
    /// The number of outages in the model.
    pub outages: u64,
    /// The number of machines with these outages.
    pub machines: u64,
}

impl FailureModel {
    /// The model of a fleet; `None` if too few machines failed to fit one.
    pub fn fit(fleet: &Fleet) -> Option<Self> {
        let away = curve(&fleet.away_spells);
        let first_up = weibull(&fleet.start_spells).filter(|_| !away.is_empty())?;
        let later_up = weibull(&fleet.return_spells)?;
        let outages = fleet.outages.len() as u64;
        Some(Self { first_up, later_up, away, outages, machines: fleet.machines })
    }

    /// The assumptions, as a sentence.
    pub fn told(&self) -> String {
        let of = |fit: &Weibull| {
            format!("shape {} and scale {} s", six_digits(fit.shape), grouped_s(fit.scale_s))
        };
        let lasting = self.away.last().map_or(0.0, |point| point.share);
        format!(
            "Machines fail by a model of {} of {}: all machines are there at the start; times up \
            follow Weibull distributions, the first of {}, later ones of {}; times away follow the \
            recorded ones; {} % of the outages never end.",
            counted(self.outages, "outage"),
            counted(self.machines, "machine"),
            of(&self.first_up),
            of(&self.later_up),
            six_digits(100.0 * lasting)
        )
    }

    /// A time away, s, for a share from 0 to below 1; `None` if the machine does not return.
    fn away_s(&self, share: f64) -> Option<f64> {
        self.away.iter().find(|point| point.share <= share).map(|point| point.time_s)
    }

    /// Replaces the recorded failures of the machines by random ones of this model, between two
    /// times, µs.
    ///
    /// # Errors
    /// The cluster has no machine.
    pub fn draw(
        &self,
        mut cluster: Cluster,
        (from_us, until_us): (i64, i64),
        seed: u64,
    ) -> Result<(Cluster, Vec<Remark>), ClusterError> {
        let times = Draws::new(seed, Purpose::FailureTime);
        let is_kept =
            |change: &MachineChange| !matches!(change.change, Change::Joins | Change::Leaves);
        cluster.changes.retain(is_kept);
        cluster.is_present.fill(true);
        let end = micros_to_seconds(until_us);
        for machine in (0..).take(cluster.machine_count()) {
            let place = cluster.id(machine).cast_unsigned();
            let mut at_s = micros_to_seconds(from_us);
            for number in 0.. {
                let up = if number == 0 { &self.first_up } else { &self.later_up };
                at_s += outlasted_s(up, 1.0 - times.uniform(place, 2 * number));
                if end <= at_s {
                    break;
                }
                let mut change = |at_s: f64, change| {
                    cluster.changes.push(MachineChange { at_us: micros(at_s), machine, change });
                };
                change(at_s, Change::Leaves);
                let Some(away_s) = self.away_s(times.uniform(place, 2 * number + 1)) else { break };
                at_s += away_s;
                change(at_s, Change::Joins);
            }
        }
        cluster.check()
    }
}

/// The time that a share of the times up exceeds, s; the share is above 0 and at most 1.
fn outlasted_s(fit: &Weibull, share: f64) -> f64 {
    fit.scale_s * (-share.ln()).powf(1.0 / fit.shape)
}

#[expect(clippy::cast_possible_truncation, reason = "a trace is far shorter than 2^63 µs")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shown to people")]
fn grouped_s(seconds: f64) -> String {
    grouped(seconds.round() as u64)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::facts::machines::{
        MachineChange as MachineEventChange, MachineEvent, MachineEvents,
    };
    use crate::studies::machines::fleet;
    use crate::studies::machines::survival::Spell;

    /// Spells of these lengths that ended, and one of `open_s` that did not.
    fn spells(lengths_s: impl IntoIterator<Item = i64>, open_s: i64) -> Vec<Spell> {
        let spell =
            |length_s: i64, is_censored| Spell { length_us: length_s * 1_000_000, is_censored };
        let ended = lengths_s.into_iter().map(|length_s| spell(length_s, false));
        ended.chain([spell(open_s, true)]).collect()
    }

    fn model() -> FailureModel {
        let fleet = Fleet {
            machines: 5,
            start_spells: spells([40_000, 50_000, 70_000], 90_000),
            return_spells: spells([1_000, 5_000, 20_000, 90_000], 500_000),
            away_spells: spells([10, 20, 30], 40),
            ..Fleet::default()
        };
        FailureModel::fit(&fleet).unwrap()
    }

    #[test]
    fn a_model_is_written_by_its_source() {
        assert_eq!("failures:from=machines".parse(), Ok(FailureSpec));
        assert_eq!("failures".parse(), Ok(FailureSpec));
        assert_eq!(FailureSpec.to_string(), "failures:from=machines");
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<FailureSpec>().unwrap_err().to_string(), expected);
        };
        check("failures:from=tasks", "failure model `failures`: `from=tasks` is not `machines`");
        check(
            "fails",
            "there is no failure model `fails` (known: failures); did you mean `failures`?",
        );
    }

    #[test]
    fn outages_are_drawn_from_the_recorded_ones_and_some_never_end() {
        // Four spells away: three of 10, 20 and 30 s, and one of 40 s that has not ended.
        let model = model();
        let away = [0.0, 0.2, 0.3, 0.5, 0.7, 0.75, 0.9].map(|share| model.away_s(share));
        assert_eq!(away, [None, None, Some(30.0), Some(20.0), Some(20.0), Some(10.0), Some(10.0)]);
        assert_eq!(FailureModel::fit(&Fleet::default()), None);
    }

    /// The times up and away of a simulated cluster: the first times up, later times up, and
    /// completed times away.
    fn passed(cluster: &Cluster, until_us: i64) -> [Vec<Spell>; 3] {
        let mut found = [Vec::new(), Vec::new(), Vec::new()];
        let mut since = vec![(0_i64, 0_usize); cluster.machine_count()];
        for change in &cluster.changes {
            let (from_us, changes) = &mut since[change.machine as usize];
            assert_eq!(*changes % 2 == 0, change.change == Change::Leaves, "they take turns");
            let kind = if *changes % 2 == 1 { 2 } else { usize::from(0 < *changes) };
            let length_us = change.at_us - *from_us;
            found[kind].push(Spell { length_us, is_censored: false });
            (*from_us, *changes) = (change.at_us, *changes + 1);
        }
        for (from_us, changes) in since.into_iter().filter(|(_, changes)| changes % 2 == 0) {
            let length_us = until_us - from_us;
            found[usize::from(0 < changes)].push(Spell { length_us, is_censored: true });
        }
        found
    }

    /// Many machines under the model: the distributions fitted to their times equal those of the
    /// model.
    #[test]
    fn what_is_drawn_gives_back_the_model() {
        let model = model();
        let count: u32 = 4_000;
        let cluster = Cluster::of_speeds(vec![1.0; count as usize]);
        let until_us = 200_000_000_000;
        let (cluster, remarks) = model.draw(cluster, (0, until_us), 7).unwrap();
        assert!(remarks.is_empty());
        let [first, later, away] = passed(&cluster, until_us);
        let is_in = |value: f64, low: f64, high: f64| low * 0.98 <= value && value <= high * 1.02;
        for (own, spells) in [(&model.first_up, first), (&model.later_up, later)] {
            let fit = weibull(&spells).unwrap();
            assert!(is_in(own.shape, fit.shape_low, fit.shape_high), "{fit:?} {model:?}");
            assert!(is_in(own.scale_s, fit.scale_s_low, fit.scale_s_high), "{fit:?} {model:?}");
        }
        assert!(3_000 < away.len(), "{}", away.len());
        let tens = away.iter().filter(|spell| spell.length_us == 10_000_000).count();
        let off = (3 * tens).abs_diff(away.len());
        assert!(100 * off < 9 * away.len(), "a third of those that end: {tens} of {}", away.len());
        // One more machine does not change the others; another seed changes all machines.
        let more = Cluster::of_speeds(vec![1.0; count as usize + 1]);
        let (more, _) = model.draw(more, (0, until_us), 7).unwrap();
        let own: Vec<&MachineChange> =
            more.changes.iter().filter(|change| change.machine < count).collect();
        assert!(own.into_iter().eq(&cluster.changes));
    }

    /// When the machines of a stationary fleet leave and return in its window, s. They have done so
    /// since long before the window, with times up of this shape and scale.
    fn stationary(
        rng: &mut ChaCha8Rng,
        (count, window_s): (i64, f64),
        (shape, scale_s): (f64, f64),
    ) -> MachineEvents {
        let mut events = Vec::new();
        for machine_id in 0..count {
            let mut event = |at_s, change| {
                events.push(MachineEvent {
                    time_us: micros(at_s),
                    row_id: 0,
                    machine_id,
                    change,
                    platform: None,
                    cpu: None,
                    memory: None,
                    gpus: None,
                });
            };
            let mut at_s = -400.0 * window_s * (1.0 + rng.random::<f64>());
            loop {
                let up_s = scale_s * (-(1.0 - rng.random::<f64>()).ln()).powf(1.0 / shape);
                if at_s + up_s >= 0.0 {
                    event(at_s.max(0.0), MachineEventChange::Add);
                }
                at_s += up_s;
                if window_s <= at_s {
                    break;
                }
                if 0.0 <= at_s {
                    event(at_s, MachineEventChange::Remove);
                }
                at_s += 0.02 * window_s * rng.random::<f64>();
                if window_s <= at_s {
                    break;
                }
            }
        }
        events.sort_by_key(|event| event.time_us);
        MachineEvents { events, ..MachineEvents::default() }
    }

    /// The number of machines that leave until a time, and the variance of this sum.
    fn leave(times: &[(i64, i64)], until_us: i64) -> [f64; 2] {
        let mut counts = std::collections::BTreeMap::new();
        for (machine, _) in times.iter().filter(|(_, at_us)| *at_us <= until_us) {
            *counts.entry(machine).or_insert(0.0) += 1.0;
        }
        let sum: f64 = counts.values().sum();
        [sum, counts.values().map(|count: &f64| count * count).sum()]
    }

    /// Fleets with failures that are clustered, independent, and regular.
    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn as_many_fail_as_in_the_fleet() {
        let window_s = 1e6;
        for (seed, shape, scale) in [(1, 0.4, 0.1), (2, 0.5, 1.0), (3, 1.0, 1.0), (4, 2.0, 1.5)] {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let count = 3_000;
            let events = stationary(&mut rng, (count, window_s), (shape, scale * window_s));
            let seen = events.events.iter().filter(|own| own.change == MachineEventChange::Remove);
            let seen: Vec<(i64, i64)> = seen.map(|own| (own.machine_id, own.time_us)).collect();
            let fleet = fleet(&events, micros(window_s));
            let model = FailureModel::fit(&fleet).unwrap();
            let cluster = Cluster::of_speeds(vec![1.0; usize::try_from(count).unwrap()]);
            let (cluster, _) = model.draw(cluster, (0, micros(window_s)), seed).unwrap();
            let drawn: Vec<(i64, i64)> = cluster
                .changes
                .iter()
                .filter(|own| own.change == Change::Leaves)
                .map(|own| (i64::from(own.machine), own.at_us))
                .collect();
            for part in [0.05, 0.3, 1.0] {
                let [[expected, one], [found, other]] =
                    [&seen, &drawn].map(|times| leave(times, micros(part * window_s)));
                let off = (found - expected) / (one + other).sqrt();
                assert!(off.abs() < 3.0, "shape {shape}, {part}: {found} of {expected}, {off}");
            }
        }
    }
}

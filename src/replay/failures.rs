//! Failures of machines, drawn from what the machines of a trace went through.
//!
//! In: the outages that [`studies::machines`](crate::studies::machines) finds. Out: a
//! [`FailureModel`], and a cluster whose machines leave and return as it draws. Times up follow the
//! Weibull distribution fitted there; times away are drawn from the curve of Kaplan and Meier, whose
//! tail never ends: those machines do not return. Every machine fails by itself, on the same draws
//! under every policy.
//!
//! ```text
//!  recorded   up ====|....|=========|..| ===   replaced by
//!  drawn      up =========|..|======|......|== the same laws, at other times, under a seed
//! ```
//! What the trace has of outages together (racks, upgrades) is lost: the drawn ones are independent.

use std::fmt;
use std::str::FromStr;

use super::cluster::{Change, Cluster, ClusterError, MachineChange, Remark};
use super::random::{Draws, Purpose};
use crate::digits::{counted, grouped, six_digits};
use crate::notation::{Notation, NotationError};
use crate::studies::machines::Fleet;
use crate::studies::machines::survival::{Point, Weibull, curve, weibull};
use crate::units::micros_to_seconds;

/// Where failures come from, as it is written: `failures:from=machines`.
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
    /// Times up.
    pub up: Weibull,
    /// Times away, as a survival curve.
    pub away: Vec<Point>,
    /// Outages that it is made of.
    pub outages: u64,
    /// Machines that these are of.
    pub machines: u64,
}

impl FailureModel {
    /// The model of a fleet; none where too few machines failed to fit one.
    pub fn fit(fleet: &Fleet) -> Option<Self> {
        let away = curve(&fleet.away_spells);
        let up = weibull(&fleet.up_spells).filter(|_| !away.is_empty())?;
        let outages = fleet.outages.len() as u64;
        Some(Self { up, away, outages, machines: fleet.machines })
    }

    /// What is assumed, in words.
    pub fn told(&self) -> String {
        let Weibull { shape, scale_s, .. } = self.up;
        let lasting = self.away.last().map_or(0.0, |point| point.share);
        format!(
            "Machines fail by a model of {} of {}: times up follow a Weibull distribution of shape \
            {} and scale {} s, times away the recorded ones; {} % of the outages never end. All \
            machines are there at the start.",
            counted(self.outages, "outage"),
            counted(self.machines, "machine"),
            six_digits(shape),
            grouped_s(scale_s),
            six_digits(100.0 * lasting)
        )
    }

    /// A time up, s, for a share of the machines from above 0 to 1.
    fn up_s(&self, share: f64) -> f64 {
        self.up.scale_s * (-share.ln()).powf(1.0 / self.up.shape)
    }

    /// A time away, s, for a share from 0 to below 1; none for one that does not end.
    fn away_s(&self, share: f64) -> Option<f64> {
        self.away.iter().find(|point| point.share <= share).map(|point| point.time_s)
    }

    /// The machines with these failures instead of their own, drawn between two times, µs.
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
                at_s += self.up_s(1.0 - times.uniform(place, 2 * number));
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

#[expect(clippy::cast_possible_truncation, reason = "a trace is far shorter than 2^63 µs")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, for people")]
fn grouped_s(seconds: f64) -> String {
    grouped(seconds.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::machines::survival::Spell;

    /// Spells of these lengths that ended, and one that did not.
    fn spells(lengths_s: impl IntoIterator<Item = i64>, open_s: i64) -> Vec<Spell> {
        let spell =
            |length_s: i64, is_censored| Spell { length_us: length_s * 1_000_000, is_censored };
        let ended = lengths_s.into_iter().map(|length_s| spell(length_s, false));
        ended.chain([spell(open_s, true)]).collect()
    }

    fn model() -> FailureModel {
        let fleet = Fleet {
            machines: 5,
            up_spells: spells([1_000, 5_000, 20_000, 90_000], 500_000),
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
        // Four spells away of 10, 20 and 30 s and one of 40 s that has not ended.
        let model = model();
        let away = [0.0, 0.2, 0.3, 0.5, 0.7, 0.75, 0.9].map(|share| model.away_s(share));
        assert_eq!(away, [None, None, Some(30.0), Some(20.0), Some(20.0), Some(10.0), Some(10.0)]);
        assert_eq!(FailureModel::fit(&Fleet::default()), None);
    }

    /// Many machines under the model: the distribution fitted to what they went through is its own.
    #[test]
    fn what_is_drawn_gives_back_the_model() {
        let model = model();
        let count: u32 = 4_000;
        let cluster = Cluster::of_speeds(vec![1.0; count as usize]);
        let until_us = 200_000_000_000;
        let (cluster, remarks) = model.draw(cluster, (0, until_us), 7).unwrap();
        assert!(remarks.is_empty());
        let (mut up, mut away) = (Vec::new(), Vec::new());
        let mut since = vec![(0_i64, true); count as usize];
        for change in &cluster.changes {
            let (from_us, is_up) = &mut since[change.machine as usize];
            assert_eq!(*is_up, change.change == Change::Leaves, "they take turns");
            let spell = Spell { length_us: change.at_us - *from_us, is_censored: false };
            if *is_up {
                up.push(spell);
            } else {
                away.push(spell.length_us);
            }
            (*from_us, *is_up) = (change.at_us, !*is_up);
        }
        let ended = up.len();
        up.extend(
            since
                .iter()
                .filter(|(_, is_up)| *is_up)
                .map(|(from_us, _)| Spell { length_us: until_us - from_us, is_censored: true }),
        );
        let fit = weibull(&up).unwrap();
        assert!(3_000 < ended, "{ended}");
        let is_in = |value: f64, low: f64, high: f64| low * 0.98 <= value && value <= high * 1.02;
        assert!(is_in(model.up.shape, fit.shape_low, fit.shape_high), "{fit:?} {model:?}");
        assert!(is_in(model.up.scale_s, fit.scale_s_low, fit.scale_s_high), "{fit:?} {model:?}");
        let tens = away.iter().filter(|&&length_us| length_us == 10_000_000).count();
        let off = (3 * tens).abs_diff(away.len());
        assert!(100 * off < 9 * away.len(), "a third of those that end: {tens} of {}", away.len());
        // One more machine changes nothing for the others, and another seed everything.
        let more = Cluster::of_speeds(vec![1.0; count as usize + 1]);
        let (more, _) = model.draw(more, (0, until_us), 7).unwrap();
        let own: Vec<&MachineChange> =
            more.changes.iter().filter(|change| change.machine < count).collect();
        assert!(own.into_iter().eq(&cluster.changes));
    }
}

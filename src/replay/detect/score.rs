//! How right the flags were.
//!
//! In: a group and what its detectors flagged. Out: per detector and ground truth who was rightly
//! flagged, how early, and how late after crossing the line. Judged are tasks whose last finished
//! attempt is known from start to end, by that attempt; flags on other attempts are counted apart.

use serde::{Deserialize, Serialize};

use super::groups::Group;
use super::truth::Truth;
use super::walk::Flagged;
use crate::studies::quantile;
use crate::units::micros_to_seconds;

/// The truth about a group under one definition.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// What a straggler is longer than, µs.
    pub line_us: f64,
    /// By unit of the group.
    pub straggles: Vec<bool>,
}

impl Answers {
    /// Tells the stragglers of a group.
    #[expect(clippy::cast_precision_loss, reason = "lengths are below 2^53 µs")]
    pub fn of(group: &Group, truth: Truth) -> Self {
        let Some(line_us) = truth.line_us(&group.unit_lengths_us()) else { return Self::default() };
        let straggles = group
            .units
            .iter()
            .map(|unit| line_us < group.attempts[unit.attempt as usize].length_us() as f64)
            .collect();
        Self { line_us, straggles }
    }

    /// How many stragglers there are.
    pub fn count(&self) -> u64 {
        self.straggles.iter().filter(|&&straggles| straggles).count() as u64
    }

    /// By attempt of the group, whether it is the one that makes its task a straggler.
    pub fn by_attempt(&self, group: &Group) -> Vec<bool> {
        let mut by_attempt = vec![false; group.attempts.len()];
        for (unit, &straggles) in group.units.iter().zip(&self.straggles) {
            by_attempt[unit.attempt as usize] = straggles;
        }
        by_attempt
    }
}

/// Ground truths that can be asked about at once: each is a bit of what is kept of a flag.
pub const TRUTHS_MAX: usize = 32;

/// A flag on a straggler. There are millions: what the figures are made of follows from these.
#[derive(Clone, Copy, Debug)]
struct Hit {
    /// From the flag to the end, µs.
    lead_us: i64,
    /// From start to end, µs.
    length_us: i64,
    /// The group, by number of those that were walked.
    group: u32,
    /// The truths by which it is one, by bit.
    truths: u32,
}

/// What a detector did in all groups, by ground truth.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By truth, stragglers, and others that were flagged.
    counts: Vec<[u64; 2]>,
    hits: Vec<Hit>,
}

impl Tally {
    /// For so many truths.
    pub fn new(truth_count: usize) -> Self {
        Self { counts: vec![[0; 2]; truth_count], hits: Vec::new() }
    }

    /// Adds the flags of a group; `units` gives the unit of an attempt, `answers` are by truth.
    pub fn add(
        &mut self,
        number: u32,
        group: &Group,
        units: &[Option<u32>],
        answers: &[Answers],
        flags: &[Flagged],
    ) {
        for (counts, answers) in self.counts.iter_mut().zip(answers) {
            counts[0] += answers.count();
        }
        for flag in flags {
            let Some(unit) = units[flag.attempt as usize] else { continue };
            let mut truths = 0;
            for (truth, answers) in answers.iter().enumerate() {
                if answers.straggles[unit as usize] {
                    truths |= 1 << truth;
                } else {
                    self.counts[truth][1] += 1;
                }
            }
            if truths != 0 {
                let attempt = &group.attempts[flag.attempt as usize];
                let lead_us = attempt.end_us - flag.time_us;
                let length_us = attempt.length_us();
                self.hits.push(Hit { lead_us, length_us, group: number, truths });
            }
        }
    }

    /// The figures under a truth; `line_us` is what stragglers of a group are longer than by it,
    /// `task_hours` the time that attempts ran under its eyes.
    #[expect(clippy::cast_precision_loss, reason = "counts and lengths are below 2^53")]
    pub fn score(&self, truth: usize, line_us: impl Fn(u32) -> f64, task_hours: f64) -> Score {
        let [stragglers, false_alarms] = self.counts[truth];
        let own = || self.hits.iter().filter(|hit| hit.truths >> truth & 1 == 1);
        let hits = own().count() as u64;
        let ratio = |part: u64, whole: u64| (0 < whole).then(|| part as f64 / whole as f64);
        let sorted = |value: &dyn Fn(&Hit) -> f64| {
            let mut values: Vec<f64> = own().map(value).collect();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        let median = |value: &dyn Fn(&Hit) -> f64| quantile(&sorted(value), 0.5);
        let lead_s = |hit: &Hit| micros_to_seconds(hit.lead_us);
        let ahead = sorted(&lead_s);
        Score {
            hits,
            false_alarms,
            missed: stragglers - hits,
            precision: ratio(hits, hits + false_alarms),
            recall: ratio(hits, stragglers),
            f1: ratio(2 * hits, hits + false_alarms + stragglers),
            false_alarms_per_task_hour: (0.0 < task_hours)
                .then(|| false_alarms as f64 / task_hours),
            lead_p25_s: quantile(&ahead, 0.25),
            lead_median_s: quantile(&ahead, 0.5),
            lead_p75_s: quantile(&ahead, 0.75),
            lead_median_share: median(&|hit| lead_s(hit) / micros_to_seconds(hit.length_us)),
            delay_median_s: median(&|hit| {
                ((hit.length_us - hit.lead_us) as f64 - line_us(hit.group)) / 1e6
            }),
        }
    }
}

/// How right a detector was, under one ground truth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Score {
    /// Stragglers that were flagged: true positives.
    pub hits: u64,
    /// Other judged tasks that were flagged: false positives.
    pub false_alarms: u64,
    /// Stragglers that were not flagged.
    pub missed: u64,
    /// Hits among the judged flags; null without a flag.
    pub precision: Option<f64>,
    /// Hits among the stragglers; null without a straggler.
    pub recall: Option<f64>,
    /// Harmonic mean of the two.
    pub f1: Option<f64>,
    /// False alarms per hour that a task ran.
    pub false_alarms_per_task_hour: Option<f64>,
    /// Time from a hit to the end of its attempt, s, that a quarter of the hits stay below.
    pub lead_p25_s: Option<f64>,
    /// Median time from a hit to the end of its attempt, s.
    pub lead_median_s: Option<f64>,
    /// Time from a hit to the end of its attempt, s, that three quarters of the hits stay below.
    pub lead_p75_s: Option<f64>,
    /// Median share of a hit's attempt that was still to come.
    pub lead_median_share: Option<f64>,
    /// Median time from crossing the line to the flag, s; below 0 where known before.
    pub delay_median_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::super::testing::drawn;
    use super::*;
    use crate::replay::detectors::Action;

    #[test]
    fn a_straggler_is_strictly_longer() {
        // 20, 20, 30 and 35 s: the median is 25 s.
        let group = drawn(&["[===F", "[===F", "[=====F", "[======F"]);
        let straggles = |truth: &str| Answers::of(&group, truth.parse().unwrap()).straggles;
        assert_eq!(straggles("median:1.2"), [false, false, false, true], "30 s are not over 30");
        assert_eq!(straggles("median:1.19"), [false, false, true, true]);
        assert_eq!(straggles("p100"), [false; 4]);
        let nobody = drawn(&["[===K"]);
        assert_eq!(Answers::of(&nobody, Truth::Median(1.5)).count(), 0);
    }

    #[test]
    fn flags_are_hits_false_alarms_or_unjudged() {
        // The killed attempt of the last task comes first, the one that is judged second.
        let group = drawn(&["[=F", "[=F", "[========F", "[==K[=========F"]);
        let answers = Answers::of(&group, Truth::Median(1.0));
        assert_eq!(answers.straggles, [false, false, true, true], "over 27.5 s");
        assert_eq!(answers.by_attempt(&group), [false, false, true, false, true]);
        let units = [Some(0), Some(1), Some(2), None, Some(3)];
        let flag = |attempt, time_s: i64| Flagged {
            attempt,
            time_us: time_s * 1_000_000,
            progress: 0.0,
            action: Action::Copy,
        };
        let mut tally = Tally::new(2);
        let nobody = Answers { straggles: vec![false; 4], ..Answers::default() };
        let line_us = answers.line_us;
        let flags = [flag(0, 5), flag(3, 10), flag(2, 30)];
        tally.add(5, &group, &units, &[answers, nobody], &flags);
        let line = |group| if group == 5 { line_us } else { f64::NAN };
        let score = tally.score(0, line, 2.0);
        assert_eq!((score.hits, score.false_alarms, score.missed), (1, 1, 1));
        assert_eq!((score.precision, score.recall, score.f1), (Some(0.5), Some(0.5), Some(0.5)));
        assert_eq!(score.false_alarms_per_task_hour, Some(0.5));
        assert_eq!(score.lead_median_s, Some(15.0), "45 s are the end");
        assert_eq!(score.lead_median_share, Some(15.0 / 45.0));
        assert_eq!(score.delay_median_s, Some(2.5));
        let other = tally.score(1, line, 2.0);
        assert_eq!((other.hits, other.false_alarms, other.missed), (0, 2, 0));
        let nothing = Tally::new(1).score(0, line, 0.0);
        assert_eq!((nothing.precision, nothing.recall, nothing.f1), (None, None, None));
        assert_eq!(nothing.false_alarms_per_task_hour, None);
    }
}

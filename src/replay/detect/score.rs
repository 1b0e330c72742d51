//! How right the flags were.
//!
//! In: a group and what its detectors flagged. Out: per detector and ground truth who was rightly
//! flagged, how early, and how late after crossing the line. Judged are tasks whose last finished
//! attempt is known from start to end, by that attempt; flags on other attempts are counted apart.

use serde::Serialize;

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

/// What a detector did in all groups, under one ground truth.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Stragglers that were flagged.
    pub hits: u64,
    /// Others that were flagged.
    pub false_alarms: u64,
    /// Stragglers.
    pub stragglers: u64,
    /// By hit: time from flag to end, s; its share of the length; time from crossing the line to
    /// the flag, s (below 0 where it was known before).
    pub times: Vec<(f64, f64, f64)>,
}

impl Tally {
    /// Adds a group's flags; `units` gives the unit of an attempt.
    #[expect(clippy::cast_precision_loss, reason = "lengths are below 2^53 µs")]
    pub fn add(
        &mut self,
        group: &Group,
        units: &[Option<u32>],
        answers: &Answers,
        flags: &[Flagged],
    ) {
        self.stragglers += answers.count();
        for flag in flags {
            let Some(unit) = units[flag.attempt as usize] else { continue };
            if !answers.straggles[unit as usize] {
                self.false_alarms += 1;
                continue;
            }
            self.hits += 1;
            let attempt = &group.attempts[flag.attempt as usize];
            let lead_s = micros_to_seconds(attempt.end_us - flag.time_us);
            let age_us = (flag.time_us - attempt.start_us) as f64;
            let length_s = micros_to_seconds(attempt.length_us());
            self.times.push((lead_s, lead_s / length_s, (age_us - answers.line_us) / 1e6));
        }
    }

    /// Adds what another part of the groups gave.
    pub fn merge(&mut self, other: Self) {
        self.hits += other.hits;
        self.false_alarms += other.false_alarms;
        self.stragglers += other.stragglers;
        self.times.extend(other.times);
    }

    /// The figures that are shown; `task_hours` is the time that attempts ran under its eyes.
    pub fn score(&self, task_hours: f64) -> Score {
        #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
        let ratio = |part: u64, whole: u64| (0 < whole).then(|| part as f64 / whole as f64);
        let precision = ratio(self.hits, self.hits + self.false_alarms);
        let recall = ratio(self.hits, self.stragglers);
        let f1 = ratio(2 * self.hits, self.hits + self.false_alarms + self.stragglers);
        let median = |value: &dyn Fn(&(f64, f64, f64)) -> f64| {
            let mut values: Vec<f64> = self.times.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            quantile(&values, 0.5)
        };
        Score {
            hits: self.hits,
            false_alarms: self.false_alarms,
            missed: self.stragglers - self.hits,
            precision,
            recall,
            f1,
            #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
            false_alarms_per_task_hour: (0.0 < task_hours)
                .then(|| self.false_alarms as f64 / task_hours),
            lead_s_median: median(&|times| times.0),
            lead_share_median: median(&|times| times.1),
            delay_s_median: median(&|times| times.2),
        }
    }
}

/// How right a detector was, under one ground truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Median time from a hit to the end of its attempt, s.
    pub lead_s_median: Option<f64>,
    /// Median share of a hit's attempt that was still to come.
    pub lead_share_median: Option<f64>,
    /// Median time from crossing the line to the flag, s; below 0 where known before.
    pub delay_s_median: Option<f64>,
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
        let mut tally = Tally::default();
        tally.add(&group, &units, &answers, &[flag(0, 5), flag(3, 10), flag(2, 30)]);
        let score = tally.score(2.0);
        assert_eq!((score.hits, score.false_alarms, score.missed), (1, 1, 1));
        assert_eq!((score.precision, score.recall, score.f1), (Some(0.5), Some(0.5), Some(0.5)));
        assert_eq!(score.false_alarms_per_task_hour, Some(0.5));
        assert_eq!(score.lead_s_median, Some(15.0), "45 s are the end");
        assert_eq!(score.lead_share_median, Some(15.0 / 45.0));
        assert_eq!(score.delay_s_median, Some(2.5));
        let nothing = Tally::default().score(0.0);
        assert_eq!((nothing.precision, nothing.recall, nothing.f1), (None, None, None));
        assert_eq!(nothing.false_alarms_per_task_hour, None);
    }
}

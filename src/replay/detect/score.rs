//! How correct the flags were.
//!
//! In: a group and the flags of its detectors. Out: for each detector and ground truth, which tasks
//! were flagged correctly, how early, and how long after crossing the straggler limit. A task is
//! judged by its last finished attempt, if its start and end are known. Flags on other attempts are
//! counted separately.

use serde::{Deserialize, Serialize};

use super::groups::Group;
use super::truth::Truth;
use super::walk::Flagged;
use crate::studies::quantile;
use crate::units::micros_to_seconds;

/// The stragglers of a group under one definition.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The length that stragglers exceed, µs.
    pub line_us: f64,
    /// Whether each judged task of the group is a straggler.
    pub straggles: Vec<bool>,
}

impl Answers {
    /// Finds the stragglers of a group.
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

    /// The number of stragglers.
    pub fn count(&self) -> u64 {
        self.straggles.iter().filter(|&&straggles| straggles).count() as u64
    }

    /// By attempt of the group, whether it makes its task a straggler.
    pub fn by_attempt(&self, group: &Group) -> Vec<bool> {
        let mut by_attempt = vec![false; group.attempts.len()];
        for (unit, &straggles) in group.units.iter().zip(&self.straggles) {
            by_attempt[unit.attempt as usize] = straggles;
        }
        by_attempt
    }
}

/// The most ground truths in one run: each is a bit of a stored flag.
pub const TRUTHS_MAX: usize = 32;

/// A flag on a straggler. All figures are computed from these; there are millions, so each is
/// small.
#[derive(Clone, Copy, Debug)]
struct Hit {
    /// Time from the flag to the end, µs.
    lead_us: i64,
    /// Time from start to end, µs.
    length_us: i64,
    /// The number of the group among those replayed.
    group: u32,
    /// The truths by which the task is a straggler, one bit each.
    truths: u32,
}

/// The flags of a detector in all groups, by ground truth.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By truth, the number of stragglers, and of other flagged tasks.
    counts: Vec<[u64; 2]>,
    hits: Vec<Hit>,
}

impl Tally {
    /// No flags, for `truth_count` truths.
    pub fn new(truth_count: usize) -> Self {
        Self { counts: vec![[0; 2]; truth_count], hits: Vec::new() }
    }

    /// Adds the flags of a group; `units` has the judged task of each attempt, `answers` are by
    /// truth.
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

    /// The figures under a truth; `line_us` gives the length that stragglers of a group exceed,
    /// `task_hours` is the time that the observed attempts ran.
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

/// The score of a detector under one ground truth.
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
    /// Share of the judged flags that are hits; null without a flag.
    pub precision: Option<f64>,
    /// Share of the stragglers that are hits; null without a straggler.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// False alarms per hour of task running time.
    pub false_alarms_per_task_hour: Option<f64>,
    /// Time from a hit to the end of its attempt, s: lower quartile.
    pub lead_p25_s: Option<f64>,
    /// Median time from a hit to the end of its attempt, s.
    pub lead_median_s: Option<f64>,
    /// Time from a hit to the end of its attempt, s: upper quartile.
    pub lead_p75_s: Option<f64>,
    /// Median share of the attempt that was left at a hit.
    pub lead_median_share: Option<f64>,
    /// Median time from crossing the straggler limit to the flag, s; negative if flagged before.
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
        // The killed attempt of the last task comes first, the judged one second.
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

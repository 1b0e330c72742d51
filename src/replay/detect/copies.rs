//! Simulates the copies that a detector's flags would have started.
//!
//! In: a group, its flags, how long each replacement takes, and a budget. Out: copies started and
//! won, CPU wasted, job time saved. A copy starts immediately on its own slot, at the speed of its
//! finished siblings. When the original or the copy finishes, the other is killed. CPU is slot
//! time. A copy of an attempt that did not finish is always wasted.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::groups::Group;
use super::walk::Flagged;
use crate::units::micros_to_seconds;

/// How long a replacement takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Replacement {
    /// The median of the job's finished tasks
    #[default]
    Median,
    /// As long as a finished task other than its own, drawn at random with the seed
    Draw,
}

/// The copies of one detector under one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Copies {
    /// Copies started.
    pub started: u64,
    /// Copies that finished first.
    pub won: u64,
    /// Flags without a copy because the budget was used up.
    pub declined: u64,
    /// Slot time of all copies, µs.
    pub copy_us: i128,
    /// Slot time of the copies that lost, µs.
    pub lost_us: i128,
    /// Slot time of originals that was saved because their copy won, µs.
    pub spared_us: i128,
    /// Time by which jobs ended earlier (by the end of their last attempt, however it ended),
    /// summed over jobs, µs.
    pub earlier_us: i128,
    /// The largest part of `earlier_us` in one job, µs.
    pub largest_earlier_us: i128,
}

impl Copies {
    /// Adds the copies of other groups.
    pub fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.won += other.won;
        self.declined += other.declined;
        self.copy_us += other.copy_us;
        self.lost_us += other.lost_us;
        self.spared_us += other.spared_us;
        self.earlier_us += other.earlier_us;
        self.largest_earlier_us = self.largest_earlier_us.max(other.largest_earlier_us);
    }
}

/// How long a replacement of each attempt would take, µs.
pub fn replacements_us(group: &Group, how: Replacement, seed: u64) -> Vec<i64> {
    let lengths = group.unit_lengths_us();
    if lengths.is_empty() {
        return vec![i64::MAX; group.attempts.len()];
    }
    match how {
        Replacement::Median => {
            let (lower, upper) = (lengths[(lengths.len() - 1) / 2], lengths[lengths.len() / 2]);
            vec![lower + (upper - lower) / 2; group.attempts.len()]
        }
        Replacement::Draw => {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(group.stream());
            let mut is_judged = vec![false; group.attempts.len()];
            group.units.iter().for_each(|unit| is_judged[unit.attempt as usize] = true);
            let others = group.attempts.iter().zip(is_judged).map(|(attempt, is_judged)| {
                // All lengths except its own, if there are others.
                let own = if is_judged && 1 < lengths.len() {
                    lengths.partition_point(|&other| other < attempt.length_us())
                } else {
                    lengths.len()
                };
                let count = lengths.len() - usize::from(own < lengths.len());
                let drawn = rng.random_range(0..count);
                lengths[drawn + usize::from(own <= drawn)]
            });
            others.collect()
        }
    }
}

/// Runs the copies of `flags` (in order of time). `budget` is the share of the group's slot time
/// that copies may take, spent in the order of the flags; `None` for no limit.
pub fn dry_run(
    group: &Group,
    judged: &[Option<u32>],
    flags: &[Flagged],
    lengths_us: &[i64],
    budget: Option<f64>,
) -> Copies {
    let mut copies = Copies::default();
    let slot_us: i128 = group.attempts.iter().map(|attempt| i128::from(attempt.length_us())).sum();
    // A job lasts until its last attempt ends, even if that attempt fails, is killed or still runs.
    let mut new_ends: Vec<i64> = group.attempts.iter().map(|attempt| attempt.end_us).collect();
    let old_end = new_ends.iter().copied().max();
    for flag in flags {
        let attempt = &group.attempts[flag.attempt as usize];
        let replacement_us = lengths_us[flag.attempt as usize];
        let left_us = attempt.end_us - flag.time_us;
        let copy_us = replacement_us.min(left_us);
        #[expect(clippy::cast_precision_loss, reason = "a budget is a rough share")]
        let is_within = budget.is_none_or(|share| {
            (copies.copy_us + i128::from(copy_us)) as f64 <= share * slot_us as f64
        });
        if !is_within {
            copies.declined += 1;
            continue;
        }
        copies.started += 1;
        copies.copy_us += i128::from(copy_us);
        match judged[flag.attempt as usize] {
            Some(_) if replacement_us < left_us => {
                copies.won += 1;
                copies.spared_us += i128::from(left_us - replacement_us);
                new_ends[flag.attempt as usize] = flag.time_us + replacement_us;
            }
            _ => copies.lost_us += i128::from(copy_us),
        }
    }
    if let (Some(old), Some(new)) = (old_end, new_ends.iter().copied().max()) {
        copies.earlier_us = i128::from(old - new);
        copies.largest_earlier_us = copies.earlier_us;
    }
    copies
}

/// A row of results: a detector under a budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CopyRow {
    /// The detector.
    pub detector: String,
    /// Share of a group's slot time that its copies may take; null for no limit.
    pub budget: Option<f64>,
    /// Copies started.
    pub started: u64,
    /// Copies that finished first.
    pub won: u64,
    /// Flags without a copy because the budget was used up.
    pub declined: u64,
    /// Slot time of all copies, s.
    pub copy_s: f64,
    /// Slot time of the copies that lost, s.
    pub lost_s: f64,
    /// `lost_s` as a share of the slot time of all attempts.
    pub lost_share: Option<f64>,
    /// Slot time of originals that was saved because their copy won, s.
    pub spared_s: f64,
    /// Time by which jobs ended earlier, summed over jobs, s.
    pub earlier_s: f64,
    /// `earlier_s` as a share of the time from the first event to the last end, summed over jobs.
    pub earlier_share: Option<f64>,
    /// The largest part of `earlier_s` in one job, as a share of it; null if that is 0.
    pub largest_earlier_share: Option<f64>,
}

impl CopyRow {
    /// Makes a row from sums.
    pub(super) fn new(
        detector: String,
        budget: Option<f64>,
        copies: &Copies,
        slot_us: i128,
        span_us: i128,
    ) -> Self {
        let seconds = |micros: i128| micros_to_seconds(i64::try_from(micros).unwrap_or(i64::MAX));
        let share = |part: i128, whole: i128| (0 < whole).then(|| seconds(part) / seconds(whole));
        Self {
            detector,
            budget,
            started: copies.started,
            won: copies.won,
            declined: copies.declined,
            copy_s: seconds(copies.copy_us),
            lost_s: seconds(copies.lost_us),
            lost_share: share(copies.lost_us, slot_us),
            spared_s: seconds(copies.spared_us),
            earlier_s: seconds(copies.earlier_us),
            earlier_share: share(copies.earlier_us, span_us),
            largest_earlier_share: share(copies.largest_earlier_us, copies.earlier_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::drawn;
    use super::*;
    use crate::replay::detectors::Action;

    const S: i64 = 1_000_000;

    fn flag(attempt: u32, time_s: i64) -> Flagged {
        Flagged { attempt, time_us: time_s * S, progress: 0.0, action: Action::Copy }
    }

    #[test]
    fn a_dry_run_by_hand() {
        //  0    |--10--|                     median of 10, 10, 15, 60 s: 12.5 s
        //  1    |--10--|
        //  2    |---15----|      flagged at 10 s: the copy of 12.5 s loses after 5 s
        //  3    |-------60------| flagged at 20 s: the copy wins at 32.5 s, 27.5 s are spared
        //  4    |------50-----K  flagged at 30 s: a copy of 12.5 s for nothing
        let group = drawn(&["[=F", "[=F", "[==F", "[===========F", "[=========K"]);
        let lengths = replacements_us(&group, Replacement::Median, 1);
        assert_eq!(lengths, [12_500_000; 5]);
        let judged = [Some(0), Some(1), Some(2), Some(3), None];
        let flags = [flag(2, 10), flag(3, 20), flag(4, 30)];
        let copies = dry_run(&group, &judged, &flags, &lengths, None);
        assert_eq!((copies.started, copies.won, copies.declined), (3, 1, 0));
        assert_eq!(copies.copy_us, 30_000_000);
        assert_eq!(copies.lost_us, 17_500_000);
        assert_eq!(copies.spared_us, 27_500_000);
        assert_eq!(copies.earlier_us, 10_000_000, "60 s become 50 s: attempt 4 is killed then");
        assert_eq!(copies.largest_earlier_us, 10_000_000);
        // Of several jobs, the largest value counts.
        let mut sums = Copies { earlier_us: 4, largest_earlier_us: 3, ..Copies::default() };
        sums.merge(&Copies { earlier_us: 2, largest_earlier_us: 2, ..Copies::default() });
        assert_eq!((sums.earlier_us, sums.largest_earlier_us), (6, 3));
        let row = CopyRow::new(String::new(), None, &sums, 100, 100);
        assert_eq!(row.largest_earlier_share, Some(0.5));
        let none = CopyRow::new(String::new(), None, &Copies::default(), 100, 100);
        assert_eq!(none.largest_earlier_share, None);
        // If a killed attempt is the last of a job, the job does not end earlier.
        let group_of_long = drawn(&["[=F", "[=F", "[==F", "[===========F", "[============K"]);
        let copies = dry_run(&group_of_long, &judged, &flags[..2], &lengths, None);
        assert_eq!((copies.won, copies.spared_us, copies.earlier_us), (1, 27_500_000, 0));
        // Flagged at 47.5 s, attempt 3 ends together with its copy: the copy has not won.
        let tie = Flagged { time_us: 47_500_000, ..flag(3, 0) };
        let copies = dry_run(&group, &judged, &[tie], &lengths, None);
        assert_eq!((copies.started, copies.won, copies.lost_us), (1, 0, 12_500_000));
        // Slot time of the group: 145 s. The copies take 5, 12.5 and 12.5 s.
        let within = |share| {
            let copies = dry_run(&group, &judged, &flags, &lengths, Some(share));
            (copies.started, copies.won, copies.declined)
        };
        assert_eq!(within(0.15), (2, 1, 1), "17.5 of 145 s fit, 30 do not");
        assert_eq!(within(0.1), (1, 0, 2), "5 of 145 s fit, 17.5 do not");
        assert_eq!(within(0.0), (0, 0, 3));
    }

    #[test]
    fn a_drawn_replacement_is_the_length_of_a_sibling_and_follows_the_seed() {
        let group = drawn(&["[=F", "[==F", "[===F", "[====F", "[=====F", "[==K", "[==K", "[==K"]);
        let draw = |seed| replacements_us(&group, Replacement::Draw, seed);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let lengths = group.unit_lengths_us();
        assert!(draw(3).iter().all(|length| lengths.contains(length)));
        // All lengths differ: a finished attempt never draws its own length, and draws each other
        // length.
        let all: Vec<Vec<i64>> = (0..200).map(draw).collect();
        for (place, attempt) in group.attempts.iter().enumerate() {
            let mut drawn: Vec<i64> = all.iter().map(|own| own[place]).collect();
            drawn.sort_unstable();
            drawn.dedup();
            let is_judged = group.units.iter().any(|unit| unit.attempt as usize == place);
            let own = attempt.length_us();
            let mut expected = lengths.clone();
            expected.retain(|length| !is_judged || *length != own);
            assert_eq!(drawn, expected, "attempt {place}");
        }
    }
}

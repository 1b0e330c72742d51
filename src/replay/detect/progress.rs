//! Estimated progress of an attempt, which traces do not record.
//!
//! In: an attempt, the time, and its siblings so far. Out: progress between 0 and 1, or none if it
//! is unknown. `linear` and `usage` use the attempt's own end, so they are oracles for progress
//! (and only for progress); `siblings` uses only past events. Work is counted in whole parts, so
//! progress is an exact fraction.

use std::fmt;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::groups::{Attempt, Group, Piece};
use crate::replay::detectors::Progress;

/// Where progress comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ProgressModel {
    /// An oracle: running time so far / final running time; an attempt that does not finish uses the
    /// length of its task's finished attempt, or else the median
    Linear,
    /// An oracle: CPU so far / the attempt's own total; needs `task_usage`
    Usage,
    /// From data that an operator has: work so far / median total of finished siblings
    #[default]
    Siblings,
}

impl ProgressModel {
    /// The model in a caption; oracles are named as oracles.
    pub fn caption(self) -> String {
        match self {
            Self::Linear => "running time over final running time, which only an oracle knows",
            Self::Usage => "CPU used over the CPU of the whole attempt, which only an oracle knows",
            Self::Siblings => {
                "work so far over the median of finished tasks of the job, which an operator knows"
            }
        }
        .to_owned()
    }
}

impl fmt::Display for ProgressModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linear => "linear",
            Self::Usage => "usage",
            Self::Siblings => "siblings",
        })
    }
}

/// How work so far is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Work {
    /// Time run
    #[default]
    Slots,
    /// Measured CPU: needs `task_usage`
    Measured,
}

/// The highest progress of a running attempt when the total is only expected, in %: an attempt past
/// the expected total counts as nearly done until it ends.
const NEARLY_DONE: u8 = 99;

/// Work of an attempt: µs, or CPU-µs in parts of 2^-44.
type Amount = u128;

/// Parts of a CPU rate. A rate of at least 2^-20 has a whole number of them.
const RATE_PARTS: f64 = 17_592_186_044_416.0; // 2^44

/// Progress of the attempts of one group.
#[derive(Debug)]
pub struct ProgressBook {
    model: ProgressModel,
    work: Work,
    /// By attempt, twice the work that counts as 100 %, and whether the attempt reaches it.
    totals: Vec<(Amount, bool)>,
    /// The work of the siblings that have finished so far, ascending, and twice its median.
    finished: Vec<Amount>,
    twice_median: Option<Amount>,
    /// By attempt: the current piece of usage, and the CPU of the pieces before it.
    cursors: Vec<(u32, Amount)>,
    noise: Option<(f64, Vec<Option<ChaCha8Rng>>)>,
}

impl ProgressBook {
    /// Prepares a group. `noise` is the standard deviation of the logarithm of a reported rate.
    pub fn new(group: &Group, model: ProgressModel, work: Work, noise: f64) -> Self {
        let work = if model == ProgressModel::Linear { Work::Slots } else { work };
        let work = if model == ProgressModel::Usage { Work::Measured } else { work };
        let cursors = match work {
            Work::Slots => Vec::new(),
            Work::Measured => {
                group.attempts.iter().map(|attempt| (attempt.pieces.start, 0)).collect()
            }
        };
        let noise = (0.0 < noise).then(|| (noise, vec![None; group.attempts.len()]));
        let totals = match model {
            ProgressModel::Siblings => Vec::new(),
            ProgressModel::Linear | ProgressModel::Usage => totals(group, work),
        };
        Self { model, work, totals, finished: Vec::new(), twice_median: None, cursors, noise }
    }

    /// A sibling has finished.
    pub fn finish(&mut self, group: &Group, attempt: u32) {
        if self.model == ProgressModel::Siblings {
            let total = total_work(group, &group.attempts[attempt as usize], self.work);
            let place = self.finished.partition_point(|&other| other <= total);
            self.finished.insert(place, total);
            self.twice_median = twice_median(&self.finished);
        }
    }

    /// The report of a running attempt at `now_us`: progress without noise.
    #[inline]
    pub fn report(&mut self, group: &Group, attempt: u32, now_us: i64) -> Option<Progress> {
        let row = &group.attempts[attempt as usize];
        let done = match self.work {
            Work::Slots => micros(now_us - row.start_us),
            Work::Measured => {
                let cursor = &mut self.cursors[attempt as usize];
                // The mean of a window is known when the window ends: an operator does not see it
                // earlier.
                let ended_only = self.model == ProgressModel::Siblings;
                let counts = if ended_only { Counts::Ended } else { Counts::Running };
                cpu_so_far(&group.pieces, row.pieces.end, cursor, now_us, counts)
            }
        };
        match self.model {
            ProgressModel::Linear | ProgressModel::Usage => {
                let (twice, is_own) = self.totals[attempt as usize];
                let most = if is_own { 100 } else { NEARLY_DONE };
                Progress::of_at_most(done.saturating_mul(2), twice, most)
            }
            ProgressModel::Siblings => {
                Progress::of_at_most(done.saturating_mul(2), self.twice_median?, NEARLY_DONE)
            }
        }
    }

    /// The time until which a running attempt that reports at `now_us` keeps its rate, if no
    /// sibling ends; `now_us` if that is unknown.
    pub fn steady_until_us(&self, group: &Group, attempt: u32, now_us: i64) -> i64 {
        let start_us = group.attempts[attempt as usize].start_us;
        // A rate is unknown before the least age.
        if self.work == Work::Measured || self.noise.is_some() || now_us < start_us + AGE_MIN_US {
            return now_us;
        }
        let twice = match self.model {
            ProgressModel::Siblings => match self.twice_median {
                Some(twice) => twice,
                None => return i64::MAX,
            },
            ProgressModel::Linear | ProgressModel::Usage => {
                let (twice, is_own) = self.totals[attempt as usize];
                if is_own {
                    return i64::MAX;
                }
                twice
            }
        };
        let until = i64::try_from(twice / 2 / 100 * u128::from(NEARLY_DONE)).unwrap_or(i64::MAX);
        start_us.saturating_add(until).max(now_us)
    }

    /// Whether a running attempt is past the expected total at `now_us`, and so reports that it is
    /// nearly done until a sibling ends.
    pub fn is_stalled(&self, group: &Group, attempt: u32, now_us: i64) -> bool {
        let age_us = now_us.saturating_sub(group.attempts[attempt as usize].start_us);
        if self.work == Work::Measured || self.noise.is_some() || age_us < AGE_MIN_US {
            return false;
        }
        let twice = match self.model {
            ProgressModel::Siblings => self.twice_median,
            ProgressModel::Linear | ProgressModel::Usage => {
                let (twice, is_own) = self.totals[attempt as usize];
                (!is_own).then_some(twice)
            }
        };
        twice.is_some_and(|twice| {
            let nearly = twice.saturating_mul(NEARLY_DONE.into());
            0 < twice && nearly <= micros(age_us).saturating_mul(200)
        })
    }

    /// Adds noise to a report: the attempt's rate appears exp(σz) times as high. The result is
    /// never below the last report, and noise never makes an attempt completely done.
    pub fn blur(&mut self, seed: u64, stream: u64, attempt: u32, exact: f64, last: f64) -> f64 {
        let Some((deviation, states)) = &mut self.noise else { return exact };
        let rng = states[attempt as usize].get_or_insert_with(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(stream);
            rng
        });
        let z: f64 = StandardNormal.sample(rng);
        let most = (f64::from(NEARLY_DONE) / 100.0).max(exact);
        (exact * (*deviation * z).exp()).min(most).max(last)
    }
}

/// The least age at which detectors use a rate, µs.
const AGE_MIN_US: i64 = 1_000;

/// A duration as an amount of work.
fn micros(length_us: i64) -> Amount {
    Amount::try_from(length_us).unwrap_or(0)
}

/// The CPU used at a rate during a time.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^64")]
fn cpu(rate: f32, length_us: i64) -> Amount {
    micros(length_us).saturating_mul((f64::from(rate) * RATE_PARTS).round() as Amount)
}

/// Twice the median of amounts in ascending order; `None` if there are none.
fn twice_median(ascending: &[Amount]) -> Option<Amount> {
    let upper = *ascending.get(ascending.len() / 2)?;
    Some(ascending[(ascending.len() - 1) / 2].saturating_add(upper))
}

/// Twice the work of 100 %, by attempt: its own work if it finished, else that of the finished
/// attempt of its task, else the median of the group's finished attempts.
fn totals(group: &Group, work: Work) -> Vec<(Amount, bool)> {
    let mut finished: Vec<Amount> = Vec::new();
    let mut of_task: Vec<Option<Amount>> = vec![None; group.task_indices.len()];
    for unit in &group.units {
        let total = total_work(group, &group.attempts[unit.attempt as usize], work);
        of_task[unit.task as usize] = Some(total.saturating_mul(2));
        finished.push(total);
    }
    finished.sort_unstable();
    let median = twice_median(&finished).unwrap_or(0);
    group
        .attempts
        .iter()
        .map(|attempt| {
            if attempt.is_finished() {
                (total_work(group, attempt, work).saturating_mul(2), true)
            } else {
                (of_task[attempt.task as usize].unwrap_or(median), false)
            }
        })
        .collect()
}

/// The total work of an attempt.
fn total_work(group: &Group, attempt: &Attempt, work: Work) -> Amount {
    match work {
        Work::Slots => micros(attempt.length_us()),
        Work::Measured => group.pieces[attempt.pieces.start as usize..attempt.pieces.end as usize]
            .iter()
            .map(|piece| cpu(piece.rate, piece.end_us - piece.start_us))
            .fold(0, Amount::saturating_add),
    }
}

/// The usage windows that count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// Windows that have ended.
    Ended,
    /// Also the elapsed part of other windows, at their mean rate.
    Running,
}

/// The CPU of an attempt up to `now_us`; the cursor moves past completed pieces.
fn cpu_so_far(
    pieces: &[Piece],
    end: u32,
    cursor: &mut (u32, Amount),
    now_us: i64,
    counts: Counts,
) -> Amount {
    let cpu = |piece: &Piece, until_us: i64| cpu(piece.rate, until_us - piece.start_us);
    while cursor.0 < end && pieces[cursor.0 as usize].end_us <= now_us {
        let over = &pieces[cursor.0 as usize];
        cursor.1 = cursor.1.saturating_add(cpu(over, over.end_us));
        cursor.0 += 1;
    }
    pieces[cursor.0 as usize..end as usize]
        .iter()
        .take_while(|piece| piece.start_us < now_us)
        .filter(|piece| counts == Counts::Running || piece.end_us <= now_us)
        .fold(cursor.1, |sum, piece| sum.saturating_add(cpu(piece, now_us.min(piece.end_us))))
}

#[cfg(test)]
mod tests {
    use super::super::testing::drawn;
    use super::*;

    const S: i64 = 1_000_000;

    fn book(group: &Group, model: ProgressModel, work: Work) -> ProgressBook {
        ProgressBook::new(group, model, work, 0.0)
    }

    fn report(book: &mut ProgressBook, group: &Group, attempt: u32, now_us: i64) -> Option<f64> {
        book.report(group, attempt, now_us).map(Progress::value)
    }

    #[test]
    fn linear_progress_is_exact_for_what_finishes() {
        // 0 to 20 s; killed after 15 s, then 20 s; killed after 60 s and never started again.
        let group = drawn(&["[===F", "[==K[===F", "[===========K"]);
        let mut book = book(&group, ProgressModel::Linear, Work::Measured);
        assert_eq!(report(&mut book, &group, 0, 5 * S), Some(0.25));
        assert_eq!(report(&mut book, &group, 1, 10 * S), Some(0.5), "of its task's own 20 s");
        assert_eq!(report(&mut book, &group, 2, 10 * S), Some(0.5), "of the median of 20 s");
        assert_eq!(report(&mut book, &group, 2, 50 * S), Some(0.99), "and never done");
        assert_eq!(report(&mut book, &group, 3, 30 * S), Some(0.5));
    }

    #[test]
    fn siblings_tell_nothing_before_one_has_finished() {
        let group = drawn(&["[=F", "[===F", "[===========F"]);
        let mut book = book(&group, ProgressModel::Siblings, Work::Slots);
        assert_eq!(report(&mut book, &group, 2, 5 * S), None);
        book.finish(&group, 0);
        assert_eq!(report(&mut book, &group, 2, 5 * S), Some(0.5));
        assert_eq!(report(&mut book, &group, 2, 10 * S), Some(0.99));
        book.finish(&group, 1);
        assert_eq!(report(&mut book, &group, 2, 6 * S), Some(0.4), "median 15 s");
    }

    #[test]
    fn cpu_so_far_adds_overlapping_windows() {
        // 5 to 10 s at 1, 8 to 12 s at 4, 10 to 15 s at 2: 5 + 16 + 10 CPU-s.
        let piece = |start_s: i64, end_s: i64, rate: f32| Piece {
            start_us: start_s * S,
            end_us: end_s * S,
            rate,
        };
        let pieces = [piece(5, 10, 1.0), piece(8, 12, 4.0), piece(10, 15, 2.0)];
        let counted = |times: &[i64], counts| {
            let mut cursor = (0, 0);
            #[expect(clippy::cast_precision_loss, reason = "a few CPU-s")]
            let at = |&now_s: &i64| {
                cpu_so_far(&pieces, 3, &mut cursor, now_s * S, counts) as f64 / RATE_PARTS / 1e6
            };
            times.iter().map(at).collect::<Vec<f64>>()
        };
        let sums = |times: &[i64]| counted(times, Counts::Running);
        let expected = [0.0, 3.0, 8.0, 13.0, 25.0, 31.0, 31.0];
        assert_eq!(sums(&[5, 8, 9, 10, 12, 16, 90]), expected);
        for (time, expected) in [5, 8, 9, 10, 12, 16, 90].into_iter().zip(expected) {
            assert_eq!(sums(&[time]), [expected], "at once to {time} s");
        }
        // Only completed pieces: 5 CPU-s from 10 s on, 16 more from 12 s on, 10 more from 15 s on.
        let ended = counted(&[5, 9, 10, 11, 12, 14, 15, 90], Counts::Ended);
        assert_eq!(ended, [0.0, 0.0, 5.0, 5.0, 21.0, 21.0, 31.0, 31.0]);
    }

    #[test]
    fn usage_without_any_cpu_tells_nothing() {
        let mut group = drawn(&["[===F", "[===F"]);
        group.pieces = vec![Piece { start_us: 0, end_us: 10 * S, rate: 0.5 }];
        group.attempts[0].pieces = 0..1;
        let mut book = book(&group, ProgressModel::Usage, Work::Slots);
        assert_eq!(report(&mut book, &group, 0, 5 * S), Some(0.5));
        assert_eq!(report(&mut book, &group, 0, 15 * S), Some(1.0), "all of its CPU is used");
        assert_eq!(report(&mut book, &group, 1, 5 * S), None);
    }
}

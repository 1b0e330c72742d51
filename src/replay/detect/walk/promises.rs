//! Tests the promises of a walk on random histories: LATE decides by exact fractions, and quiet
//! detectors miss no flag.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::super::testing::{Story, group_of, plan};
use super::*;
use crate::facts::tasks::Window;
use crate::replay::detect::progress::{ProgressModel, Work};
use crate::replay::detectors::DetectorPlan;
use crate::replay::detectors::{KINDS, tried};
use crate::replay::drawn::drawn;

const S: i64 = 1_000_000;

/// The end of the window, s.
const END_S: i64 = 40_000;

/// Submit, wait, length, and end of a task (0 never ends, 5 is killed and runs again), s.
type Draw = (i64, i64, i64, u8);

fn story(index: i32, (submit_s, wait_s, length_s, end): Draw) -> Story {
    let start_s = submit_s + wait_s;
    let mut events = vec![(submit_s, 0), (start_s, 1)];
    match end {
        0 => {}
        5 => {
            let killed_s = start_s + length_s / 2;
            events.extend([(killed_s, 5), (killed_s, 0), (killed_s + 7, 1)]);
            events.push((killed_s + 7 + length_s, 4));
        }
        _ => events.push((start_s + length_s, 4)),
    }
    let events = events.into_iter().map(|(time_s, kind)| (time_s * S, kind)).collect();
    Story { index, events, windows: Vec::new() }
}

fn stories(draws: &[Draw]) -> Vec<Story> {
    (0..).zip(draws).map(|(index, &draw)| story(index, draw)).collect()
}

/// A fraction of small whole numbers.
#[derive(Clone, Copy, Debug)]
struct Fraction(i128, i128);

impl Fraction {
    fn compare(self, other: Self) -> Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }
}

/// A running attempt: its task, start and total, and whether it reaches the total; times in s.
#[derive(Clone, Copy)]
struct Alive {
    task: usize,
    start_s: i64,
    total_s: Fraction,
    is_own: bool,
}

impl Alive {
    fn progress(&self, now_s: i64) -> Fraction {
        let done = Fraction(i128::from(now_s - self.start_s) * self.total_s.1, self.total_s.0);
        let most = if self.is_own { Fraction(1, 1) } else { Fraction(99, 100) };
        if done.compare(most).is_lt() { done } else { most }
    }

    fn rate(&self, now_s: i64) -> Fraction {
        let progress = self.progress(now_s);
        Fraction(progress.0, progress.1 * i128::from(now_s - self.start_s))
    }

    fn left_s(&self, now_s: i64) -> Fraction {
        let progress = self.progress(now_s);
        Fraction((progress.1 - progress.0) * i128::from(now_s - self.start_s), progress.0)
    }
}

/// The attempts of a task: start, end, and whether it finished, s.
fn attempts_of(draw: Draw) -> Vec<(i64, i64, bool)> {
    let (submit_s, wait_s, length_s, end) = draw;
    let start_s = submit_s + wait_s;
    match end {
        0 => vec![(start_s, END_S, false)],
        5 => {
            let again_s = start_s + length_s / 2 + 7;
            vec![(start_s, again_s - 7, false), (again_s, again_s + length_s, true)]
        }
        _ => vec![(start_s, start_s + length_s, true)],
    }
}

/// The total of the task's attempts: its own finished length, or else the median of all.
fn total_of(draws: &[Draw], task: usize) -> Fraction {
    if draws[task].3 != 0 {
        return Fraction(i128::from(draws[task].2), 1);
    }
    let mut lengths: Vec<i128> =
        draws.iter().filter(|draw| draw.3 != 0).map(|draw| i128::from(draw.2)).collect();
    lengths.sort_unstable();
    Fraction(lengths[(lengths.len() - 1) / 2] + lengths[lengths.len() / 2], 2)
}

/// LATE with its defaults as in its paper, in fractions: (task, heartbeat) of its flags.
fn late(draws: &[Draw]) -> Vec<(usize, i64)> {
    let (mut flags, mut slots): (Vec<(usize, i64)>, usize) = (Vec::new(), 0);
    // By task, the end of its copied attempt.
    let mut copied: Vec<Option<i64>> = vec![None; draws.len()];
    for now_s in (10..END_S).step_by(10) {
        let mut alive = Vec::new();
        let mut waiting = 0;
        for (task, &draw) in draws.iter().enumerate() {
            let attempts = attempts_of(draw);
            let total_s = total_of(draws, task);
            let runs = |row: &&(i64, i64, bool)| row.0 <= now_s && now_s < row.1;
            if let Some(&(start_s, _, is_own)) = attempts.iter().find(runs) {
                alive.push(Alive { task, start_s, total_s, is_own });
            } else {
                let is_over = attempts.last().is_some_and(|last| last.1 <= now_s);
                waiting += usize::from(draw.0 <= now_s && !is_over);
            }
        }
        slots = slots.max(alive.len());
        let held = copied.iter().flatten().filter(|&&end_s| now_s < end_s).count();
        // Copies may start while fewer than a tenth of the slots run copies.
        let room = slots.div_ceil(10).saturating_sub(held);
        if waiting != 0 || alive.is_empty() {
            continue;
        }
        alive.sort_by_key(|one| one.task);
        let known: Vec<&Alive> = alive.iter().filter(|one| one.start_s < now_s).collect();
        let mut rates: Vec<Fraction> = known.iter().map(|one| one.rate(now_s)).collect();
        rates.sort_by(|one, other| one.compare(*other));
        // a quarter of the way from the first to the last; a new attempt has rate 0.
        let fresh = alive.len() - known.len();
        rates.splice(0..0, std::iter::repeat_n(Fraction(0, 1), fresh));
        let quarter = rates.len() - 1;
        let (lower, upper) = (rates[quarter / 4], rates[quarter.div_ceil(4)]);
        let part = i128::try_from(quarter % 4).expect("below 4");
        let threshold = Fraction(
            lower.0 * upper.1 * (4 - part) + upper.0 * lower.1 * part,
            4 * lower.1 * upper.1,
        );
        let mut slow: Vec<&Alive> = known
            .into_iter()
            .filter(|one| copied[one.task].is_none() && one.start_s + 60 <= now_s)
            .filter(|one| one.rate(now_s).compare(threshold).is_lt())
            .collect();
        // A stable sort: among equals, the lower task index first.
        slow.sort_by(|one, other| other.left_s(now_s).compare(one.left_s(now_s)));
        for one in slow.into_iter().take(room) {
            let attempts = attempts_of(draws[one.task]);
            copied[one.task] = attempts.iter().find(|row| row.0 == one.start_s).map(|row| row.1);
            flags.push((one.task, now_s));
        }
    }
    flags
}

/// Few different lengths, so that many rates and ends are equal.
fn even_draws() -> impl Strategy<Value = Vec<Draw>> {
    let length_s = prop::sample::select(vec![70_i64, 110, 130, 210, 300, 330, 490, 700, 910]);
    let draw = (0_i64..9, 0_i64..4, length_s, 0_u8..12)
        .prop_map(|(submit, wait, length_s, end)| (submit * 10, wait * 10, length_s, end));
    prop::collection::vec(draw, 4..40)
}

/// Lengths from seconds to hours.
fn uneven_draws() -> impl Strategy<Value = Vec<Draw>> {
    let length_s = prop_oneof![3 => 1_i64..300, 2 => 300_i64..3_000, 1 => 3_000_i64..30_000];
    prop::collection::vec((0_i64..200, 0_i64..90, length_s, 0_u8..12), 2..25)
}

/// Every detector with its test variants and with the values of its curve.
fn detectors() -> Vec<DetectorPlan> {
    let mut texts = tried();
    for kind in KINDS {
        let (key, values) = kind.curve;
        let between = values.iter().skip(1).take(values.len().saturating_sub(2));
        texts.extend(between.map(|value| format!("{}:{key}={value}", kind.name)));
    }
    texts.iter().map(|text| text.parse().expect("a detector")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: drawn(40), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn late_decides_by_exact_fractions(draws in even_draws()) {
        prop_assume!(draws.iter().any(|draw| draw.3 != 0));
        let group = group_of(&stories(&draws), 0, END_S * S);
        let straggles = vec![false; group.attempts.len()];
        let detectors = ["late".parse().expect("a detector")];
        let walked = walk(&group, &plan(ProgressModel::Linear), &detectors, &straggles);
        let told: Vec<(usize, i64)> = walked.flags[0]
            .iter()
            .map(|flag| {
                let task = group.attempts[flag.attempt as usize].task as usize;
                (usize::try_from(group.task_indices[task]).expect("not negative"), flag.time_us / S)
            })
            .collect();
        prop_assert_eq!(told, late(&draws));
    }
}

/// The models of progress, with the work that they count.
const REPORTS: [(ProgressModel, Work); 4] = [
    (ProgressModel::Linear, Work::Slots),
    (ProgressModel::Usage, Work::Measured),
    (ProgressModel::Siblings, Work::Slots),
    (ProgressModel::Siblings, Work::Measured),
];

/// Adds usage windows of five minutes, with changing rates, while a task may run.
fn measured(mut stories: Vec<Story>) -> Vec<Story> {
    for (story, number) in stories.iter_mut().zip(0..) {
        let first_us = story.events.first().map_or(0, |event| event.0);
        let last_us = story.events.last().map_or(0, |event| event.0).max(first_us + 900 * S);
        let starts = (first_us..last_us).step_by(300_000_000);
        story.windows = starts
            .zip([0.5_f32, 1.0, 0.0, 0.25, 0.75].into_iter().cycle().skip(number % 5))
            .map(|(start_us, rate)| Window {
                start_us,
                end_us: start_us + 300 * S,
                rate,
                memory: 0.0,
                row_id: 0,
            })
            .collect();
    }
    stories
}

proptest! {
    #![proptest_config(ProptestConfig { cases: drawn(200), failure_persistence: None, ..ProptestConfig::default() })]
    /// In each case, some settings of detectors alone and all detectors in one walk.
    #[test]
    fn quiet_detectors_flag_as_if_asked_at_every_heartbeat(
        draws in uneven_draws(),
        stretch in 1_i64..40,
        (progress, work) in prop::sample::select(REPORTS.to_vec()),
        some in prop::sample::subsequence(detectors(), 12),
    ) {
        let group = group_of(&measured(stories(&draws)), 0, END_S * S);
        let straggles: Vec<bool> = (0..group.attempts.len()).map(|idx| idx % 3 == 0).collect();
        let mut lineups: Vec<Vec<DetectorPlan>> = some.into_iter().map(|one| vec![one]).collect();
        lineups.push(KINDS.iter().map(|kind| kind.name.parse().expect("a detector")).collect());
        let needed = WalkPlan { heartbeat_us: stretch * S, work, ..plan(progress) };
        let all = WalkPlan { beats: Beats::All, ..needed.clone() };
        for lineup in &lineups {
            let told = walk(&group, &needed, lineup, &straggles);
            let expected = walk(&group, &all, lineup, &straggles);
            prop_assert_eq!(told, expected, "{} by {}", lineup[0].written(), progress);
        }
    }

    #[test]
    fn heartbeats_are_foretold(draws in uneven_draws()) {
        let group = group_of(&stories(&draws), 0, END_S * S);
        let attempts: Vec<_> = draws.iter().flat_map(|&draw| attempts_of(draw)).collect();
        let expected = (10..100_000).step_by(10).filter(|&now_s| {
            attempts.iter().any(|&(start_s, end_s, _)| start_s <= now_s && now_s < end_s)
        });
        prop_assert_eq!(heartbeats(&group, 10 * S), expected.count() as u64);
    }
}

#[test]
fn a_task_of_thirty_thousand_years_takes_no_time() {
    // Nine tasks of a minute and one of 10^18 µs.
    let mut draws: Vec<Draw> = vec![(0, 0, 60, 1); 9];
    draws.push((0, 0, 1_000_000_000_000, 1));
    let group = group_of(&stories(&draws), 0, 2_000_000_000_000 * S);
    let straggles = vec![false; 10];
    let plans: Vec<DetectorPlan> =
        KINDS.iter().map(|kind| kind.name.parse().expect("a detector")).collect();
    for progress in [ProgressModel::Linear, ProgressModel::Siblings] {
        let walked = walk(&group, &plan(progress), &plans, &straggles);
        assert_eq!(walked.task_heartbeats, 9 * 5 + 99_999_999_999);
    }
    assert_eq!(heartbeats(&group, 10 * S), 99_999_999_999);
}

/// Three tasks that run for thirty thousand years, after nine of about a minute.
#[test]
fn several_tasks_that_go_on_for_ages_take_no_time() {
    let mut draws: Vec<Draw> = (0..9).map(|idx| (0, 0, 55 + idx, 1)).collect();
    draws.extend([(0, 0, 1_000_000_000_000, 1), (0, 3, 900_000_000_000, 1), (1, 7, 1_000, 0)]);
    let group = group_of(&stories(&draws), 0, 2_000_000_000_000 * S);
    let straggles = vec![false; draws.len()];
    let plans: Vec<DetectorPlan> =
        KINDS.iter().map(|kind| kind.name.parse().expect("a detector")).collect();
    let walked = walk(&group, &plan(ProgressModel::Siblings), &plans, &straggles);
    let late = KINDS.iter().position(|kind| kind.name == "late").expect("LATE is a kind");
    assert!(!walked.flags[late].is_empty(), "one of them has the lowest rate");
}

//! The heartbeats of a walk: detectors are called, unless all are quiet.

use serde::{Deserialize, Serialize};

use super::plan::WalkPlan;
use super::watch::{Flagged, Rest, State, Watch};
use crate::replay::detect::groups::Group;
use crate::replay::detect::progress::ProgressBook;
use crate::replay::detectors::{DetectorPlan, Flag, GroupInfo, Outlook, Progress};

/// The result of a walk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Walked {
    /// Flags by detector, in order of time.
    pub flags: Vec<Vec<Flagged>>,
    /// Running attempts, summed over heartbeats.
    pub task_heartbeats: u64,
}

/// Replays the history of `group`. `straggles` is the truth by attempt, for the oracle.
pub fn walk(
    group: &Group,
    plan: &WalkPlan,
    detectors: &[DetectorPlan],
    straggles: &[bool],
) -> Walked {
    let info = GroupInfo { straggles: Some(straggles), ..GroupInfo::default() };
    let mut watches: Vec<Watch> = detectors
        .iter()
        .map(|detector| Watch {
            detector: detector.build(&info),
            has_copy: vec![false; group.attempts.len()],
            was_copied: vec![false; group.task_indices.len()],
            copies: 0,
            flags: Vec::new(),
            rest: Rest::NONE,
        })
        .collect();
    let mut book = ProgressBook::new(group, plan.progress, plan.work, plan.noise);
    let mut state = State::new(group);
    let mut found: Vec<Flag> = Vec::new();
    let mut task_heartbeats = 0;
    let mut now_us = 0;
    while let Some(next_us) = state.next_heartbeat_us(now_us, plan.heartbeat_us) {
        now_us = next_us;
        if state.advance(now_us, &mut book, &mut watches) {
            for watch in &mut watches {
                watch.rest = Rest::NONE;
            }
        }
        task_heartbeats += state.running.len() as u64;
        if state.running.is_empty() {
            continue;
        }
        judge_all(&mut state, &mut book, &mut watches, &mut found, plan, now_us);
        if plan.lets_be_quiet() {
            let rests = watches.iter().map(|watch| watch.rest.until_us);
            let until_us = rests.min().unwrap_or(i64::MAX).min(state.horizon_us(now_us));
            if now_us < until_us {
                // Heartbeats after `now_us` and before `until_us`.
                let passed = (until_us - 1) / plan.heartbeat_us - now_us / plan.heartbeat_us;
                let count = u64::try_from(passed).unwrap_or(0);
                task_heartbeats += state.running.len() as u64 * count;
                now_us += plan.heartbeat_us * passed;
            }
        }
    }
    Walked { flags: watches.into_iter().map(|watch| watch.flags).collect(), task_heartbeats }
}

/// Calls the detectors that are not quiet, and asks each how long it adds no flag.
fn judge_all(
    state: &mut State<'_>,
    book: &mut ProgressBook,
    watches: &mut [Watch],
    found: &mut Vec<Flag>,
    plan: &WalkPlan,
    now_us: i64,
) {
    let is_due = |watch: &Watch| watch.rest.until_us <= now_us;
    if !watches.iter().any(is_due) {
        return;
    }
    report_progress(state, book, plan, now_us);
    let heartbeat_us = plan.heartbeat_us;
    let mut outlook: Option<Outlook> = None;
    for watch in watches.iter_mut().filter(|watch| is_due(watch)) {
        watch.judge(state, now_us, found);
        let rest = &mut watch.rest;
        rest.beats = rest.beats.saturating_add(1);
        if rest.beats < rest.ask_at
            || !plan.lets_be_quiet()
            || state.horizon_us(now_us) - now_us <= heartbeat_us.saturating_mul(4)
        {
            continue;
        }
        let outlook = *outlook.get_or_insert_with(|| Outlook {
            steady_until_us: state.steady_until_us(book, now_us),
            heartbeat_us,
            is_stalled: state.is_stalled(book, now_us),
        });
        rest.ask_at = rest.ask_at.saturating_mul(2);
        let mut until_us = watch.quiet_until_us(state, now_us, outlook);
        if outlook.is_stalled {
            let heard_us = heartbeat_us.saturating_mul(Outlook::HEARD_AGAIN);
            until_us = until_us.min(state.horizon_us(now_us).saturating_sub(heard_us));
        }
        if now_us < until_us {
            watch.rest = Rest { until_us, ..Rest::NONE };
        }
    }
}

/// Updates the reported progress of every running attempt.
fn report_progress(state: &mut State<'_>, book: &mut ProgressBook, plan: &WalkPlan, now_us: i64) {
    let group = state.group;
    for row in &mut state.running {
        let Some(exact) = book.report(group, row.attempt, now_us) else { continue };
        row.progress = if 0.0 < plan.noise {
            let stream = group.stream() ^ (u64::from(row.attempt) << 32);
            let last = row.progress.value();
            Progress::of_value(book.blur(plan.seed, stream, row.attempt, exact.value(), last))
        } else {
            exact
        };
        row.reported_us = now_us;
        row.has_progress = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::beats::*;
    use crate::replay::detect::progress::{ProgressModel, Work};
    use crate::replay::detect::testing::{Story, drawn, group_of, plan};
    use crate::replay::detectors::KINDS;

    const S: i64 = 1_000_000;

    /// Flags as (task number, start, time), s.
    fn flags(group: &Group, detector: &str, progress: ProgressModel) -> Vec<(i32, i64, i64)> {
        let straggles = vec![true; group.attempts.len()];
        let walked = walk(group, &plan(progress), &[detector.parse().unwrap()], &straggles);
        told(group, &walked.flags[0])
    }

    fn told(group: &Group, flags: &[Flagged]) -> Vec<(i32, i64, i64)> {
        flags
            .iter()
            .map(|flag| {
                let attempt = &group.attempts[flag.attempt as usize];
                let task = group.task_indices[attempt.task as usize];
                (task, attempt.start_us / S, flag.time_us / S)
            })
            .collect()
    }

    #[test]
    fn an_attempt_that_ends_at_a_heartbeat_is_never_flagged() {
        // Heartbeats at every other column; the second ends at 20 s, the third just after.
        //                    0 1 2 3
        let group = drawn(&["[=F", "S[==F", "S[===F"]);
        let eager = "spark:quantile=0,multiplier=0.001";
        assert_eq!(flags(&group, eager, ProgressModel::Linear), [(1, 5, 10), (2, 5, 10)]);
        let group = drawn(&["[===F", "S===[F", "[=F"]);
        // At 20 s the first has ended; the second began and runs for 5 s more.
        let found = flags(&group, "spark:quantile=0.9,multiplier=0.001", ProgressModel::Linear);
        assert_eq!(found, []);
        let group = drawn(&["[F", "[===F"]);
        let found = flags(&group, "spark:quantile=0.5,multiplier=3", ProgressModel::Linear);
        assert_eq!(found, [], "at 20 s it would be older than 15 s, but has ended");
        let group = drawn(&["[F", "[====F"]);
        let found = flags(&group, "spark:quantile=0.5,multiplier=3", ProgressModel::Linear);
        assert_eq!(found, [(1, 0, 20)]);
    }

    #[test]
    fn open_attempts_are_followed_to_the_end_of_the_window_and_no_further() {
        // The window ends at 25 s with the last event, between two heartbeats.
        let group = drawn(&["[F", "S===[", "S====Z"]);
        assert_eq!(group.attempts[1].end_us, 25 * S);
        let walked = walk(&group, &plan(ProgressModel::Linear), &[], &[]);
        assert_eq!(walked.task_heartbeats, 1, "at 20 s, not at 30 s");
        let group = drawn(&["[F", "S===[......."]);
        let walked = walk(&group, &plan(ProgressModel::Linear), &[], &[]);
        assert_eq!(walked.task_heartbeats, 4, "20, 30, 40 and 50 s of 55 s");
    }

    #[test]
    fn standings_count_what_waits_and_what_is_over() {
        let group = drawn(&[
            "S[=F",      // over from 15 s
            "S.[=ES=[F", // waits to 10 s, over at 20 s, waits from 25 to 35 s
            ".S[==K",    // killed at 25 s
            "....SSK",   // submitted twice, over at 30 s without a start
        ]);
        let mut state = State::new(&group);
        let mut book = ProgressBook::new(&group, ProgressModel::Linear, Work::Slots, 0.0);
        let mut seen = Vec::new();
        for now_s in [0, 5, 10, 15, 20, 25, 30, 35, 40] {
            state.advance(now_s * S, &mut book, &mut []);
            let running = state.running.len();
            seen.push((state.task_count, state.waiting, running, state.over));
        }
        let expected = [
            (2, 2, 0, 0),
            (3, 2, 1, 0),
            (3, 0, 3, 0),
            (3, 0, 2, 1),
            (4, 1, 1, 2),
            (4, 2, 0, 2),
            (4, 1, 0, 3),
            (4, 0, 1, 3),
            (4, 0, 0, 4),
        ];
        assert_eq!(seen, expected);
        assert_eq!(state.finished.count(), 2);
        assert_eq!(state.most_running, 3);
    }

    #[test]
    fn a_new_attempt_of_a_flagged_task_has_no_copy_but_was_copied() {
        let group = drawn(&["[F", "[=====ES[=====F"]);
        let found = flags(&group, "spark:quantile=0.5,multiplier=1", ProgressModel::Linear);
        assert_eq!(found, [(1, 0, 10), (1, 40, 50)]);
        let found = flags(&group, "google:share=0.5", ProgressModel::Linear);
        assert_eq!(found, [(1, 0, 10)], "one backup per task");
    }

    #[test]
    fn noise_is_the_same_again_and_never_goes_back() {
        let group = drawn(&["[F", "[===================F", "[=========================K"]);
        let mut noisy = plan(ProgressModel::Linear);
        noisy.noise = 0.5;
        let run = || {
            let mut book = ProgressBook::new(&group, noisy.progress, noisy.work, noisy.noise);
            let mut state = State::new(&group);
            let mut reports = Vec::new();
            for beat in 1..10 {
                state.advance(beat * 10 * S, &mut book, &mut []);
                report_progress(&mut state, &mut book, &noisy, beat * 10 * S);
                reports.push(
                    state.running.iter().map(|row| row.progress.value()).collect::<Vec<f64>>(),
                );
            }
            reports
        };
        let reports = run();
        assert_eq!(reports, run());
        assert!(reports.windows(2).all(|pair| pair[0].iter().zip(&pair[1]).all(|(a, b)| a <= b)));
        assert!(reports.iter().flatten().all(|&progress| (0.0..=0.99).contains(&progress)));
        assert_ne!(reports[0][0], 0.1, "it is not exact");
        assert_ne!(reports[0][0] / reports[0][1], 1.3, "each attempt has noise of its own");
    }

    /// Submit, wait, length, and end of a task (0 never ends), s.
    type Draw = (i64, i64, i64, u8);

    fn story(index: i32, (submit_s, wait_s, length_s, end): Draw) -> Story {
        let start_s = submit_s + wait_s;
        let mut events = vec![(submit_s * S, 0), (start_s * S, 1)];
        let kind = [4, 4, 4, 4, 5, 2][usize::from(end.max(1) - 1)];
        events.extend((0 < end).then_some(((start_s + length_s) * S, kind)));
        Story { index, events, windows: Vec::new() }
    }

    /// The same history up to `known_s`, with another future.
    fn changed(mut story: Story, known_s: i64, more_s: i64, end: u8) -> Story {
        let before = story.events.iter().filter(|event| event.0 <= known_s * S).count();
        let later = |nth: i64| (known_s + 1 + nth * more_s) * S;
        story.events.truncate(before);
        match before {
            1 => story.events.extend([(later(0), 1), (later(1), 4)]),
            2 if 0 < end => story.events.push((later(1), if end < 4 { 4 } else { 5 })),
            _ => {}
        }
        story
    }

    fn draws() -> impl Strategy<Value = Vec<Draw>> {
        let draw = (0_i64..60, 0_i64..40, prop_oneof![4 => 0_i64..60, 1 => 60_i64..400], 0_u8..7);
        prop::collection::vec(draw, 1..30)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_future_changes_no_flag_of_the_past(
            draws in draws(),
            more in prop::collection::vec((0_i64..300, 0_u8..6), 30),
            added in 0_i32..6,
            known in 1_i64..20,
        ) {
            let known_s = known * 10;
            let one: Vec<Story> = (0..).zip(&draws).map(|(idx, &draw)| story(idx, draw)).collect();
            let mut other: Vec<Story> = one
                .iter()
                .zip(&more)
                .map(|(story, &(more_s, end))| changed(story.clone(), known_s, more_s, end))
                .filter(|story| !story.events.is_empty())
                .collect();
            let late = (known_s + 1, 3, 50, 1);
            other.extend((0..added).map(|idx| story(if idx % 2 == 0 { -1 - idx } else { 100 + idx }, late)));
            prop_assume!(!other.is_empty());
            let (one, other) = (group_of(&one, 0, 1_000 * S), group_of(&other, 0, 2_000 * S));
            for kind in KINDS.iter().filter(|kind| kind.name != "oracle") {
                let past = |group: &Group| {
                    let mut found = flags(group, kind.name, ProgressModel::Siblings);
                    found.retain(|flag| flag.2 <= known_s);
                    found
                };
                prop_assert_eq!(past(&one), past(&other), "{} up to {} s", kind.name, known_s);
            }
        }

        #[test]
        fn the_order_of_tasks_moves_no_flag_and_nobody_is_flagged_after_the_end(
            draws in draws(),
            turn in 0_usize..30,
        ) {
            let one: Vec<Story> = (0..).zip(&draws).map(|(idx, &draw)| story(idx, draw)).collect();
            let mut other = one.clone();
            other.reverse();
            other.rotate_left(turn % one.len());
            let (one, other) = (group_of(&one, 0, 503 * S), group_of(&other, 0, 503 * S));
            let plans: Vec<DetectorPlan> = KINDS.iter().map(|kind| kind.name.parse().unwrap()).collect();
            for progress in [ProgressModel::Linear, ProgressModel::Siblings] {
                let straggles = vec![true; one.attempts.len()];
                let walked = walk(&one, &plan(progress), &plans, &straggles);
                prop_assert_eq!(&walked, &walk(&other, &plan(progress), &plans, &straggles));
                for flag in walked.flags.iter().flatten() {
                    let attempt = &one.attempts[flag.attempt as usize];
                    prop_assert!(attempt.start_us <= flag.time_us && flag.time_us < attempt.end_us);
                    prop_assert!((0.0..=1.0).contains(&flag.progress));
                }
            }
        }
    }
}

//! Replays a group's history heartbeat by heartbeat, and shows it to detectors.
//!
//! In: a group, detectors, and a model of progress. Out: for each detector, the attempts that it
//! would have flagged, and when. History is not changed: a flagged attempt counts as having a copy
//! until it ends, and continues as recorded. Events at the instant of a heartbeat are known at that
//! heartbeat, so an attempt that has just ended is never flagged. A detector that reports a time
//! until which it stays quiet is called again at the first heartbeat from then on, or when an
//! attempt begins or ends; heartbeats at which all are quiet are skipped. This changes no flag.
//!
//! ```text
//!  heartbeats   |     |     |     |     |     |     |     |
//!  late         j     j ........ quiet ......j     j           j judged
//!  poisson      j     j     j     j     j ....     j
//!                                       a task ends ┘
//! ```

use super::groups::{Group, What};
use super::progress::{ProgressBook, ProgressModel, Work};
use crate::replay::detectors::{
    Action, Detector, DetectorPlan, Ended, Finished, Flag, GroupInfo, Outlook, Progress, Running,
    Scene,
};
use serde::{Deserialize, Serialize};

/// How history is replayed.
#[derive(Clone, Debug)]
pub struct WalkPlan {
    /// Time between heartbeats, µs.
    pub heartbeat_us: i64,
    /// Where progress comes from.
    pub progress: ProgressModel,
    /// How work so far is measured.
    pub work: Work,
    /// Standard deviation of the logarithm of a reported rate; 0 for none.
    pub noise: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// The heartbeats at which detectors are called.
    pub beats: Beats,
}

/// The heartbeats at which detectors are called. The flags are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beats {
    /// Those at which a detector may flag another attempt.
    #[default]
    Needed,
    /// All heartbeats.
    All,
}

impl WalkPlan {
    /// Whether detectors may be quiet: not if each report has new random noise.
    fn lets_be_quiet(&self) -> bool {
        self.beats == Beats::Needed && self.noise == 0.0
    }

    /// The most heartbeats of a run: more if most are skipped, as with progress models that use no
    /// other task.
    pub(super) fn heartbeats_max(&self) -> u64 {
        let is_mostly_quiet = self.lets_be_quiet() && self.progress != ProgressModel::Siblings;
        if is_mostly_quiet { 4_000_000_000 } else { 1_000_000_000 }
    }
}

/// An attempt that a detector has flagged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flagged {
    /// The attempt, by number in its group.
    pub attempt: u32,
    /// The time of the heartbeat, µs.
    pub time_us: i64,
    /// Its progress at that time.
    pub progress: f64,
    /// The action that the detector asked for.
    pub action: Action,
}

/// The result of a walk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Walked {
    /// Flags by detector, in order of time.
    pub flags: Vec<Vec<Flagged>>,
    /// Running attempts, summed over heartbeats.
    pub task_heartbeats: u64,
}

/// A detector and its flags.
struct Watch {
    detector: Box<dyn Detector>,
    has_copy: Vec<bool>,
    was_copied: Vec<bool>,
    copies: u32,
    flags: Vec<Flagged>,
    rest: Rest,
}

/// Until when a detector is quiet. It is not asked for that at every heartbeat, because most groups
/// have no quiet time.
#[derive(Clone, Copy, Debug)]
struct Rest {
    until_us: i64,
    /// Heartbeats since the group changed or the last rest, and the number at which it is asked.
    beats: u32,
    ask_at: u32,
}

impl Rest {
    /// Not quiet; asked soon.
    const NONE: Self = Self { until_us: i64::MIN, beats: 0, ask_at: 2 };
}

/// The state of a task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Unknown,
    Waiting,
    Running,
    Over,
}

/// The known state of a group at the current time of the walk.
struct State<'a> {
    group: &'a Group,
    /// The next change.
    next: usize,
    running: Vec<Running>,
    finished: Finished,
    standings: Vec<Standing>,
    task_count: u32,
    waiting: u32,
    over: u32,
    most_running: u32,
    /// When the first attempt without an end leaves the window, µs.
    first_open_end_us: i64,
    /// Whether a detector has marked its copies in `running`.
    is_marked: bool,
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
                // Heartbeats after now and before that time.
                let passed = (until_us - 1) / plan.heartbeat_us - now_us / plan.heartbeat_us;
                let count = u64::try_from(passed).unwrap_or(0);
                task_heartbeats += state.running.len() as u64 * count;
                now_us += plan.heartbeat_us * passed;
            }
        }
    }
    Walked { flags: watches.into_iter().map(|watch| watch.flags).collect(), task_heartbeats }
}

/// Calls the detectors that are not quiet, and asks them until when no flag can be added.
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

/// The heartbeats of a group while an attempt runs: the cost of a walk without skipping.
pub fn heartbeats(group: &Group, heartbeat_us: i64) -> u64 {
    let (mut beats, mut seen_us) = (0_u64, i64::MIN);
    for attempt in &group.attempts {
        let from_us = attempt.start_us.max(seen_us);
        if from_us < attempt.end_us {
            // The first heartbeat is one period after time 0.
            let beat = |time_us: i64| {
                let rest = i64::from(time_us % heartbeat_us != 0);
                (time_us / heartbeat_us + rest).max(1)
            };
            beats += u64::try_from(beat(attempt.end_us) - beat(from_us)).unwrap_or(0);
            seen_us = attempt.end_us;
        }
    }
    beats
}

impl<'a> State<'a> {
    fn new(group: &'a Group) -> Self {
        let open = group.attempts.iter().filter(|attempt| attempt.how.is_none());
        Self {
            group,
            next: 0,
            first_open_end_us: open.map(|attempt| attempt.end_us).min().unwrap_or(i64::MAX),
            running: Vec::new(),
            finished: Finished::default(),
            standings: vec![Standing::Unknown; group.task_indices.len()],
            task_count: 0,
            waiting: 0,
            over: 0,
            most_running: 0,
            is_marked: false,
        }
    }

    /// Until when no attempt of the group begins or ends, µs.
    fn horizon_us(&self, now_us: i64) -> i64 {
        let change_us = self.group.changes.get(self.next).map_or(i64::MAX, |row| row.time_us);
        if now_us < self.first_open_end_us {
            return change_us.min(self.first_open_end_us);
        }
        let ends_us =
            self.running.iter().map(|row| self.group.attempts[row.attempt as usize].end_us);
        ends_us.min().map_or(change_us, |end_us| end_us.min(change_us))
    }

    /// Until when all running attempts continue at the rate of their last report, µs.
    fn steady_until_us(&self, book: &ProgressBook, now_us: i64) -> i64 {
        let steady = self.running.iter().filter(|row| row.has_progress);
        let steady = steady.map(|row| book.steady_until_us(self.group, row.attempt, now_us));
        steady.min().unwrap_or(i64::MAX)
    }

    /// Whether all running attempts report that they are nearly done until another attempt ends.
    fn is_stalled(&self, book: &ProgressBook, now_us: i64) -> bool {
        let mut running = self.running.iter();
        running.all(|row| row.has_progress && book.is_stalled(self.group, row.attempt, now_us))
    }

    /// The heartbeat after `now_us`; if nothing runs, the first one that sees the next change.
    /// `None` once no attempt runs or will run.
    fn next_heartbeat_us(&self, now_us: i64, heartbeat_us: i64) -> Option<i64> {
        let after = now_us.saturating_add(heartbeat_us);
        let next_change_us = self.group.changes.get(self.next).map(|change| change.time_us);
        match next_change_us {
            Some(change_us) if self.running.is_empty() => {
                let beats = change_us / heartbeat_us + i64::from(change_us % heartbeat_us != 0);
                Some(after.max(beats.saturating_mul(heartbeat_us)))
            }
            // Attempts without an end are followed as long as other events come, or until the end
            // of the window.
            Some(_) => Some(after),
            None => {
                let end_us =
                    self.running.iter().map(|row| self.group.attempts[row.attempt as usize].end_us);
                end_us.max().filter(|&end_us| after < end_us).map(|_| after)
            }
        }
    }

    /// Processes all changes up to `now_us`; returns whether there were any.
    fn advance(&mut self, now_us: i64, book: &mut ProgressBook, watches: &mut [Watch]) -> bool {
        let (mut has_ended, known) = (false, self.next);
        while let Some(change) = self.group.changes.get(self.next)
            && change.time_us <= now_us
        {
            self.next += 1;
            let standing = match change.what {
                What::Submitted => Standing::Waiting,
                What::Started(_) | What::StartedUnseen => Standing::Running,
                What::Ended(_) | What::Over => Standing::Over,
            };
            self.stand(change.task, standing);
            match change.what {
                What::Started(attempt) => self.start(attempt, watches),
                What::Ended(attempt) => {
                    has_ended = true;
                    self.end(attempt, book, watches);
                }
                _ => {}
            }
        }
        let mut has_changed = self.next != known;
        // Open attempts end with the window, which may lie between two heartbeats.
        if has_ended || self.first_open_end_us <= now_us {
            let (group, count) = (self.group, self.running.len());
            self.running.retain(|row| now_us < group.attempts[row.attempt as usize].end_us);
            has_changed |= self.running.len() != count;
        }
        let running = u32::try_from(self.running.len()).expect("a group has fewer than 2^32 tasks");
        self.most_running = self.most_running.max(running);
        has_changed
    }

    fn stand(&mut self, task: u32, standing: Standing) {
        let before = std::mem::replace(&mut self.standings[task as usize], standing);
        self.task_count += u32::from(before == Standing::Unknown);
        self.waiting -= u32::from(before == Standing::Waiting);
        self.over -= u32::from(before == Standing::Over);
        self.waiting += u32::from(standing == Standing::Waiting);
        self.over += u32::from(standing == Standing::Over);
    }

    fn start(&mut self, attempt: u32, watches: &mut [Watch]) {
        let row = &self.group.attempts[attempt as usize];
        for watch in watches {
            watch.detector.started(attempt, row.task, row.start_us);
        }
        let place = self.running.partition_point(|other| other.attempt < attempt);
        self.running.insert(
            place,
            Running {
                attempt,
                task: row.task,
                machine: row.machine,
                start_us: row.start_us,
                progress: Progress::NONE,
                reported_us: row.start_us,
                has_progress: false,
                has_copy: false,
                was_copied: false,
            },
        );
    }

    fn end(&mut self, attempt: u32, book: &mut ProgressBook, watches: &mut [Watch]) {
        let row = &self.group.attempts[attempt as usize];
        let Some(how) = row.how else { return };
        let end = Ended {
            attempt,
            task: row.task,
            machine: row.machine,
            start_us: row.start_us,
            end_us: row.end_us,
            how,
        };
        if row.is_finished() {
            self.finished.add(end);
            book.finish(self.group, attempt);
        }
        for watch in watches {
            watch.detector.ended(&end);
            watch.copies -= u32::from(watch.has_copy[attempt as usize]);
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

impl Watch {
    /// The scene that the detector gets.
    fn scene<'a>(&self, state: &'a mut State<'_>, now_us: i64) -> Scene<'a> {
        let has_flagged = !self.flags.is_empty();
        if has_flagged || state.is_marked {
            for row in &mut state.running {
                row.has_copy = self.has_copy[row.attempt as usize];
                row.was_copied = self.was_copied[row.task as usize];
            }
            state.is_marked = has_flagged;
        }
        Scene {
            now_us,
            begun_us: state.group.begun_us(),
            running: &state.running,
            finished: &state.finished,
            task_count: state.task_count,
            waiting: state.waiting,
            over: state.over,
            slots: state.most_running,
            free_slots: u32::MAX,
            copies: self.copies,
        }
    }

    fn quiet_until_us(&self, state: &mut State<'_>, now_us: i64, outlook: Outlook) -> i64 {
        let scene = self.scene(state, now_us);
        self.detector.quiet_until_us(&scene, outlook)
    }

    fn judge(&mut self, state: &mut State<'_>, now_us: i64, found: &mut Vec<Flag>) {
        found.clear();
        let scene = self.scene(state, now_us);
        self.detector.judge(&scene, found);
        for flag in found.drain(..) {
            let row = &state.running[flag.position];
            // Only the first flag on an attempt counts: history does not restart it.
            if !self.has_copy[row.attempt as usize] {
                self.has_copy[row.attempt as usize] = true;
                self.was_copied[row.task as usize] = true;
                self.copies += 1;
                self.flags.push(Flagged {
                    attempt: row.attempt,
                    time_us: now_us,
                    progress: row.progress.value(),
                    action: flag.action,
                });
            }
        }
    }
}

#[cfg(test)]
mod promises;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{Story, drawn, group_of, plan};
    use super::*;
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

//! The walk through a group's history, heartbeat by heartbeat, under the eyes of detectors.
//!
//! In: a group, detectors, and how progress is told. Out: for each detector the attempts that it
//! would have flagged and when. History is not touched: a flagged attempt counts as having a copy
//! until it ends, and goes on as recorded. What happens at a heartbeat's own instant is known at
//! that heartbeat, so an attempt that has just ended is never flagged.

use super::groups::{Group, What};
use super::progress::{ProgressBook, ProgressModel, Work};
use crate::replay::detectors::{
    Action, Detector, DetectorPlan, Ended, Finished, Flag, GroupInfo, Running, Scene,
};

/// How history is walked.
#[derive(Clone, Debug)]
pub struct WalkPlan {
    /// Time between heartbeats, µs.
    pub heartbeat_us: i64,
    /// Where progress comes from.
    pub progress: ProgressModel,
    /// What work so far is counted in.
    pub work: Work,
    /// Standard deviation of the logarithm of a reported rate; 0 for none.
    pub noise: f64,
    /// Seed of the noise.
    pub seed: u64,
}

/// An attempt that a detector has flagged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flagged {
    /// The attempt, by number in its group.
    pub attempt: u32,
    /// The heartbeat, µs.
    pub time_us: i64,
    /// Its progress then.
    pub progress: f64,
    /// What the detector would have done.
    pub action: Action,
}

/// What a walk gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walked {
    /// By detector, in order of time.
    pub flags: Vec<Vec<Flagged>>,
    /// Running attempts, summed over heartbeats.
    pub task_heartbeats: u64,
}

/// A detector at work, with what it has flagged.
struct Watch {
    detector: Box<dyn Detector>,
    has_copy: Vec<bool>,
    was_copied: Vec<bool>,
    copies: u32,
    flags: Vec<Flagged>,
}

/// Where a task stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Unknown,
    Waiting,
    Running,
    Over,
}

/// What is known of a group at the time that the walk has reached.
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
}

/// Walks through the history of `group`. `straggles` is the truth by attempt, for the oracle.
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
        })
        .collect();
    let mut book = ProgressBook::new(group, plan.progress, plan.work, plan.noise);
    let mut state = State::new(group);
    let mut found: Vec<Flag> = Vec::new();
    let mut task_heartbeats = 0;
    let mut now_us = 0;
    while let Some(next_us) = state.next_heartbeat_us(now_us, plan.heartbeat_us) {
        now_us = next_us;
        state.advance(now_us, &mut book, &mut watches);
        report_progress(&mut state, &mut book, plan, now_us);
        task_heartbeats += state.running.len() as u64;
        if !state.running.is_empty() {
            for watch in &mut watches {
                watch.judge(&mut state, now_us, &mut found);
            }
        }
    }
    Walked { flags: watches.into_iter().map(|watch| watch.flags).collect(), task_heartbeats }
}

impl<'a> State<'a> {
    fn new(group: &'a Group) -> Self {
        Self {
            group,
            next: 0,
            running: Vec::new(),
            finished: Finished::default(),
            standings: vec![Standing::Unknown; group.task_indices.len()],
            task_count: 0,
            waiting: 0,
            over: 0,
            most_running: 0,
        }
    }

    /// The heartbeat after `now_us`; where nothing runs, the first one that sees the next change.
    /// `None` once nothing runs or will.
    fn next_heartbeat_us(&self, now_us: i64, heartbeat_us: i64) -> Option<i64> {
        let after = now_us.saturating_add(heartbeat_us);
        let next_change_us = self.group.changes.get(self.next).map(|change| change.time_us);
        match next_change_us {
            Some(change_us) if self.running.is_empty() => {
                let beats = change_us / heartbeat_us + i64::from(change_us % heartbeat_us != 0);
                Some(after.max(beats.saturating_mul(heartbeat_us)))
            }
            // Attempts that never ended are followed as long as anything else happens, or until
            // the end of the window.
            Some(_) => Some(after),
            None => {
                let end_us =
                    self.running.iter().map(|row| self.group.attempts[row.attempt as usize].end_us);
                end_us.max().filter(|&end_us| after < end_us).map(|_| after)
            }
        }
    }

    /// Takes in all that has happened up to `now_us`.
    fn advance(&mut self, now_us: i64, book: &mut ProgressBook, watches: &mut [Watch]) {
        let mut has_ended = false;
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
        if has_ended {
            let group = self.group;
            // An open attempt is at its end only where the window ends.
            self.running.retain(|row| {
                let attempt = &group.attempts[row.attempt as usize];
                attempt.how.is_none() || now_us < attempt.end_us
            });
        }
        let running = u32::try_from(self.running.len()).expect("a group has fewer than 2^32 tasks");
        self.most_running = self.most_running.max(running);
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
                progress: 0.0,
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

/// Asks every running attempt how far it is.
fn report_progress(state: &mut State<'_>, book: &mut ProgressBook, plan: &WalkPlan, now_us: i64) {
    let group = state.group;
    for row in &mut state.running {
        let Some(exact) = book.report(group, row.attempt, now_us) else { continue };
        row.progress = if 0.0 < plan.noise {
            let stream = noise_stream(group.job_id, row.attempt);
            book.blur(plan.seed, stream, row.attempt, exact, row.progress)
        } else {
            exact
        };
        row.reported_us = now_us;
        row.has_progress = true;
    }
}

/// The stream of random numbers of an attempt: the same in whatever order groups are walked.
#[expect(clippy::cast_sign_loss, reason = "bits of an id")]
fn noise_stream(job_id: i64, attempt: u32) -> u64 {
    (job_id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (u64::from(attempt) << 32)
}

impl Watch {
    fn judge(&mut self, state: &mut State<'_>, now_us: i64, found: &mut Vec<Flag>) {
        for row in &mut state.running {
            row.has_copy = self.has_copy[row.attempt as usize];
            row.was_copied = self.was_copied[row.task as usize];
        }
        let scene = Scene {
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
        };
        found.clear();
        self.detector.judge(&scene, found);
        for flag in found.drain(..) {
            let row = &state.running[flag.position];
            // The first word on an attempt counts: history does not restart it.
            if !self.has_copy[row.attempt as usize] {
                self.has_copy[row.attempt as usize] = true;
                self.was_copied[row.task as usize] = true;
                self.copies += 1;
                self.flags.push(Flagged {
                    attempt: row.attempt,
                    time_us: now_us,
                    progress: row.progress,
                    action: flag.action,
                });
            }
        }
    }
}

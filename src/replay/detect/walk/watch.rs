//! The known state of a group, and the detectors that watch it.

use serde::{Deserialize, Serialize};

use crate::replay::detect::groups::{Group, What};
use crate::replay::detect::progress::ProgressBook;
use crate::replay::detectors::{
    Action, Detector, Ended, Finished, Flag, Outlook, Progress, Running, Scene,
};

/// An attempt that a detector has flagged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flagged {
    /// The attempt, by number in its group.
    pub attempt: u32,
    /// The time of the heartbeat, µs.
    pub time_us: i64,
    /// Its progress at that time.
    pub progress: f64,
    /// The action that the detector requested.
    pub action: Action,
}

/// A detector and its flags.
pub(super) struct Watch {
    pub(super) detector: Box<dyn Detector>,
    pub(super) has_copy: Vec<bool>,
    pub(super) was_copied: Vec<bool>,
    pub(super) copies: u32,
    pub(super) flags: Vec<Flagged>,
    pub(super) rest: Rest,
}

/// The time until which a detector is quiet. The detector is not asked at every heartbeat, because
/// most groups have no quiet time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub(super) until_us: i64,
    /// Heartbeats since the group changed or the last rest ended, and the number at which the
    /// detector is asked again.
    pub(super) beats: u32,
    pub(super) ask_at: u32,
}

impl Rest {
    /// Not quiet; asked soon.
    pub(super) const NONE: Self = Self { until_us: i64::MIN, beats: 0, ask_at: 2 };
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
pub(super) struct State<'a> {
    pub(super) group: &'a Group,
    /// The next change.
    next: usize,
    pub(super) running: Vec<Running>,
    pub(super) finished: Finished,
    standings: Vec<Standing>,
    pub(super) task_count: u32,
    pub(super) waiting: u32,
    pub(super) over: u32,
    pub(super) most_running: u32,
    /// When the window ends for the first attempt without a recorded end, µs.
    first_open_end_us: i64,
    /// Whether a detector has marked its copies in `running`.
    is_marked: bool,
}

impl<'a> State<'a> {
    pub(super) fn new(group: &'a Group) -> Self {
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

    /// The time until which no attempt of the group begins or ends, µs.
    pub(super) fn horizon_us(&self, now_us: i64) -> i64 {
        let change_us = self.group.changes.get(self.next).map_or(i64::MAX, |row| row.time_us);
        if now_us < self.first_open_end_us {
            return change_us.min(self.first_open_end_us);
        }
        let ends_us =
            self.running.iter().map(|row| self.group.attempts[row.attempt as usize].end_us);
        ends_us.min().map_or(change_us, |end_us| end_us.min(change_us))
    }

    /// The time until which all running attempts continue at the rate of their last report, µs.
    pub(super) fn steady_until_us(&self, book: &ProgressBook, now_us: i64) -> i64 {
        let steady = self.running.iter().filter(|row| row.has_progress);
        let steady = steady.map(|row| book.steady_until_us(self.group, row.attempt, now_us));
        steady.min().unwrap_or(i64::MAX)
    }

    /// Whether all running attempts report that they are nearly done until another attempt ends.
    pub(super) fn is_stalled(&self, book: &ProgressBook, now_us: i64) -> bool {
        let mut running = self.running.iter();
        running.all(|row| row.has_progress && book.is_stalled(self.group, row.attempt, now_us))
    }

    /// The heartbeat after `now_us`; if nothing runs, the first one that sees the next change.
    /// `None` once no attempt runs or will run.
    pub(super) fn next_heartbeat_us(&self, now_us: i64, heartbeat_us: i64) -> Option<i64> {
        let after = now_us.saturating_add(heartbeat_us);
        let next_change_us = self.group.changes.get(self.next).map(|change| change.time_us);
        match next_change_us {
            Some(change_us) if self.running.is_empty() => {
                let beats = change_us / heartbeat_us + i64::from(change_us % heartbeat_us != 0);
                Some(after.max(beats.saturating_mul(heartbeat_us)))
            }
            // Attempts without a recorded end are followed as long as other events come, or until
            // the end of the window.
            Some(_) => Some(after),
            None => {
                let end_us =
                    self.running.iter().map(|row| self.group.attempts[row.attempt as usize].end_us);
                end_us.max().filter(|&end_us| after < end_us).map(|_| after)
            }
        }
    }

    /// Processes all changes up to `now_us`; returns whether there were any.
    pub(super) fn advance(
        &mut self,
        now_us: i64,
        book: &mut ProgressBook,
        watches: &mut [Watch],
    ) -> bool {
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
        // Attempts without a recorded end stop with the window, which may end between two
        // heartbeats.
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

    pub(super) fn quiet_until_us(
        &self,
        state: &mut State<'_>,
        now_us: i64,
        outlook: Outlook,
    ) -> i64 {
        let scene = self.scene(state, now_us);
        self.detector.quiet_until_us(&scene, outlook)
    }

    pub(super) fn judge(&mut self, state: &mut State<'_>, now_us: i64, found: &mut Vec<Flag>) {
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

//! The tasks of a job as detectors see them: who was submitted, started and ended when.
//!
//! In: the tasks of a bucket, in any order. Out: one [`Group`] per job (and phase, where the source
//! knows phases), its attempts by (start, task) and its changes in order of time. Attempts that
//! were running at time 0 have no known start: nobody sees them, and they are counted.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::facts::events::is_terminal;
use crate::facts::tasks::{TaskView, Window};
use crate::facts::window::Windows;
use crate::replay::detectors::{End, NO_MACHINE};

/// An attempt of history.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Its task, by position in the group.
    pub task: u32,
    /// Its machine, by position among the group's machines.
    pub machine: u32,
    /// When it was started, µs.
    pub start_us: i64,
    /// When it ended, µs; the end of the window where it was still running.
    pub end_us: i64,
    /// How it ended; `None` where it was still running.
    pub how: Option<End>,
    /// Its usage, in [`Group::pieces`].
    pub pieces: Range<u32>,
}

impl Attempt {
    /// How long it ran, µs.
    pub fn length_us(&self) -> i64 {
        self.end_us - self.start_us
    }

    /// Whether it did its work.
    pub fn is_finished(&self) -> bool {
        self.how == Some(End::Finished)
    }
}

/// A stretch of an attempt during which its CPU rate was the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Start, µs.
    pub start_us: i64,
    /// End, µs.
    pub end_us: i64,
    /// CPU rate.
    pub rate: f32,
}

/// Something that happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When, µs.
    pub time_us: i64,
    /// The task, by position in the group.
    pub task: u32,
    /// What.
    pub what: What,
}

/// What happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It waits for a machine.
    Submitted,
    /// An attempt began.
    Started(u32),
    /// An attempt ended.
    Ended(u32),
    /// An attempt without a known start was running.
    StartedUnseen,
    /// It is over without an attempt that anybody saw.
    Over,
}

/// A task that can be judged: the last attempt that did its work is known from start to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The task, by position in the group.
    pub task: u32,
    /// That attempt.
    pub attempt: u32,
}

/// The tasks of one phase of one job.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The job.
    pub job_id: i64,
    /// The phase, where the source knows phases.
    pub phase: Option<String>,
    /// Numbers of the tasks within the job, ascending.
    pub task_indices: Vec<i32>,
    /// The attempts, by (start, task).
    pub attempts: Vec<Attempt>,
    /// What happened, by (time, task).
    pub changes: Vec<Change>,
    /// Usage of all attempts.
    pub pieces: Vec<Piece>,
    /// The tasks that can be judged, by task.
    pub units: Vec<Unit>,
    /// Attempts that were running at time 0.
    pub left_censored: u64,
    /// Attempts that were still running at the end.
    pub unfinished: u64,
}

impl Group {
    /// When its first task was submitted, µs.
    pub fn begun_us(&self) -> i64 {
        self.changes.first().map_or(0, |change| change.time_us)
    }

    /// The lengths of its units, ascending, µs.
    pub fn unit_lengths_us(&self) -> Vec<i64> {
        let mut lengths: Vec<i64> = self
            .units
            .iter()
            .map(|unit| self.attempts[unit.attempt as usize].length_us())
            .collect();
        lengths.sort_unstable();
        lengths
    }
}

/// Groups in the making.
#[derive(Debug)]
pub struct GroupBuilder {
    windows: Windows,
    groups: BTreeMap<(i64, Option<String>), Raw>,
}

/// A group whose attempts are still in order of their tasks.
#[derive(Debug, Default)]
struct Raw {
    tasks: Vec<RawTask>,
    pieces: Vec<Piece>,
}

#[derive(Debug, Default)]
struct RawTask {
    task_index: i32,
    attempts: Vec<RawAttempt>,
    changes: Vec<(i64, What)>,
}

#[derive(Debug)]
struct RawAttempt {
    machine_id: Option<i64>,
    attempt: Attempt,
}

impl GroupBuilder {
    /// No groups yet.
    pub fn new(windows: Windows) -> Self {
        Self { windows, groups: BTreeMap::new() }
    }

    /// Adds a task.
    pub fn add(&mut self, task: &TaskView<'_>) {
        let raw = self.groups.entry((task.job_id, task.phase.map(str::to_owned))).or_default();
        let mut row = RawTask { task_index: task.task_index, ..RawTask::default() };
        let mut next = 0;
        let mut is_running = false;
        for event in task.events.iter().filter(|event| event.time_us < i64::MAX) {
            let number = u32::try_from(next).expect("a task has fewer than 2^32 attempts");
            match event.event_type {
                0 if !is_running => row.changes.push((event.time_us, What::Submitted)),
                1 => {
                    if is_running {
                        row.changes.push((event.time_us, What::Ended(number - 1)));
                    }
                    row.changes.push((event.time_us, What::Started(number)));
                    next += 1;
                    is_running = true;
                }
                kind if is_terminal(kind) => {
                    let what = if is_running { What::Ended(number - 1) } else { What::Over };
                    row.changes.push((event.time_us, what));
                    is_running = false;
                }
                _ => {}
            }
        }
        for attempt in task.attempts.iter().take(next) {
            let pieces = pieces_of(task.windows, attempt.start_us, attempt.end_us, &mut raw.pieces);
            let how = attempt.ended_by.map(|kind| match kind {
                4 => End::Finished,
                5 => End::Killed,
                _ => End::Failed,
            });
            row.attempts.push(RawAttempt {
                machine_id: attempt.machine_id,
                attempt: Attempt {
                    task: 0,
                    machine: NO_MACHINE,
                    start_us: attempt.start_us,
                    end_us: attempt.end_us,
                    how,
                    pieces,
                },
            });
        }
        raw.tasks.push(row);
    }

    /// The groups, by job and phase.
    pub fn build(self) -> impl Iterator<Item = Group> {
        let windows = self.windows;
        self.groups
            .into_iter()
            .map(move |((job_id, phase), raw)| group_of(job_id, phase, raw, windows))
    }
}

/// The parts of a task's usage windows that lie within one of its attempts.
fn pieces_of(
    windows: &[Window],
    start_us: i64,
    end_us: i64,
    pieces: &mut Vec<Piece>,
) -> Range<u32> {
    let position = |pieces: &Vec<Piece>| {
        u32::try_from(pieces.len()).expect("a job has fewer than 2^32 usage windows")
    };
    let first = position(pieces);
    for window in windows.iter().take_while(|window| window.start_us < end_us) {
        let (start_us, end_us) = (window.start_us.max(start_us), window.end_us.min(end_us));
        if start_us < end_us {
            pieces.push(Piece { start_us, end_us, rate: window.rate });
        }
    }
    first..position(pieces)
}

fn group_of(job_id: i64, phase: Option<String>, mut raw: Raw, windows: Windows) -> Group {
    raw.tasks.sort_by_key(|task| task.task_index);
    let mut group = Group { job_id, phase, pieces: raw.pieces, ..Group::default() };
    // Attempts whose start is known get their numbers in order of (start, task).
    let mut order: Vec<(i64, u32, u32)> = Vec::new();
    for (task, row) in (0_u32..).zip(&raw.tasks) {
        group.task_indices.push(row.task_index);
        for (number, raw) in (0_u32..).zip(&row.attempts) {
            if windows.is_before(raw.attempt.start_us) {
                group.left_censored += 1;
            } else {
                order.push((raw.attempt.start_us, task, number));
            }
        }
    }
    order.sort_unstable();
    let numbers: FxHashMap<(u32, u32), u32> =
        order.iter().zip(0_u32..).map(|(&(_, task, number), idx)| ((task, number), idx)).collect();
    let mut machines: FxHashMap<i64, u32> = FxHashMap::default();
    for &(_, task, number) in &order {
        let raw = &raw.tasks[task as usize].attempts[number as usize];
        let machine = raw.machine_id.map_or(NO_MACHINE, |id| {
            let next =
                u32::try_from(machines.len()).expect("a cluster has fewer than 2^32 machines");
            *machines.entry(id).or_insert(next)
        });
        group.unfinished += u64::from(raw.attempt.how.is_none());
        group.attempts.push(Attempt { task, machine, ..raw.attempt.clone() });
    }
    for (task, row) in (0_u32..).zip(&raw.tasks) {
        for &(time_us, what) in &row.changes {
            let what = match what {
                What::Started(number) => numbers
                    .get(&(task, number))
                    .map_or(What::StartedUnseen, |&idx| What::Started(idx)),
                What::Ended(number) => {
                    numbers.get(&(task, number)).map_or(What::Over, |&idx| What::Ended(idx))
                }
                other => other,
            };
            group.changes.push(Change { time_us, task, what });
        }
        let last = row.attempts.iter().rposition(|raw| raw.attempt.is_finished());
        let last = last.and_then(|number| u32::try_from(number).ok());
        if let Some(&attempt) = last.and_then(|number| numbers.get(&(task, number))) {
            group.units.push(Unit { task, attempt });
        }
    }
    // The order of a task's own events stays.
    group.changes.sort_by_key(|change| (change.time_us, change.task));
    group
}

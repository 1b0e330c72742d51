//! The tasks of a job as detectors see them: when each was submitted, started and ended.
//!
//! In: the tasks of a bucket, in any order. Out: one [`Group`] per job (and phase, if the source
//! has phases), with its attempts by (start, task) and its changes in order of time. Attempts that
//! were running at time 0 have no known start: detectors do not see them, but they are counted.
//! Tasks are counted first ([`GroupSizes`]), so groups with too few judged tasks are never built.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::facts::tasks::{EndedBy, TaskView, Window};
use crate::facts::window::Windows;
use crate::replay::detectors::{End, NO_MACHINE};
use crate::schema::EventType;

/// A recorded attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The task, by position in the group.
    pub task: u32,
    /// The machine, by position among the group's machines.
    pub machine: u32,
    /// The start, µs.
    pub start_us: i64,
    /// The end, µs; the end of the window if it was still running.
    pub end_us: i64,
    /// How it ended; `None` if it was still running.
    pub how: Option<End>,
    /// Its usage, as a range of [`Group::pieces`].
    pub pieces: Range<u32>,
}

impl Attempt {
    /// The running time, µs.
    pub fn length_us(&self) -> i64 {
        self.end_us - self.start_us
    }

    /// Whether it completed its work.
    pub fn is_finished(&self) -> bool {
        self.how == Some(End::Finished)
    }
}

/// A stretch of an attempt with a constant CPU rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Start, µs.
    pub start_us: i64,
    /// End, µs.
    pub end_us: i64,
    /// CPU rate.
    pub rate: f32,
}

/// A change of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The time, µs.
    pub time_us: i64,
    /// The task, by position in the group.
    pub task: u32,
    /// The kind of change.
    pub what: What,
}

/// The kind of a change of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The task waits for a machine.
    Submitted,
    /// An attempt began.
    Started(u32),
    /// An attempt ended.
    Ended(u32),
    /// An attempt without a known start was running.
    StartedUnseen,
    /// The task is over without a visible attempt.
    Over,
}

/// A task that can be judged: the start and end of its last finished attempt are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The task, by position in the group.
    pub task: u32,
    /// Its last finished attempt.
    pub attempt: u32,
}

/// The tasks of one phase of one job.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The job.
    pub job_id: i64,
    /// The phase, if the source has phases.
    pub phase: Option<String>,
    /// The indices of the tasks in the job, ascending.
    pub task_indices: Vec<i32>,
    /// The attempts, by (start, task).
    pub attempts: Vec<Attempt>,
    /// The changes, by (time, task).
    pub changes: Vec<Change>,
    /// Usage of all attempts.
    pub pieces: Vec<Piece>,
    /// The tasks that can be judged, by task.
    pub units: Vec<Unit>,
    /// Attempts that were running at time 0.
    pub left_censored: u64,
    /// Attempts that were still running at the end.
    pub unfinished: u64,
    /// Attempts without a recorded end in the loaded parts; they end with their job.
    pub closed_with_job: u64,
}

impl Group {
    /// The time of the group's first event, µs.
    pub fn begun_us(&self) -> i64 {
        self.changes.first().map_or(0, |change| change.time_us)
    }

    /// The stream of random numbers of the group, independent of the order of the groups.
    #[expect(clippy::cast_sign_loss, reason = "bits of an id")]
    pub fn stream(&self) -> u64 {
        let phase = self.phase.iter().flat_map(|phase| phase.bytes());
        phase.fold(self.job_id as u64, |bits, byte| {
            (bits ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        })
    }

    /// The lengths of the judged attempts, ascending, µs.
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

/// The number of judged tasks of each group.
#[derive(Debug, Default)]
pub struct GroupSizes(FxHashMap<GroupKey, u32>);

/// The job, and the phase if the source has phases.
type GroupKey = (i64, Option<String>);

fn key_of(task: &TaskView<'_>) -> GroupKey {
    (task.job_id, task.phase.map(str::to_owned))
}

impl GroupSizes {
    /// Counts a task.
    pub fn add(&mut self, task: &TaskView<'_>, windows: Windows) {
        let known = task.events.iter().filter(|event| event.time_us < i64::MAX);
        let starts = known.filter(|event| event.event_type == EventType::Schedule).count();
        let last = task
            .attempts
            .iter()
            .take(starts)
            .rfind(|attempt| attempt.ended_by == EndedBy::Event(EventType::Finish));
        let is_judged = last.is_some_and(|attempt| !windows.is_before(attempt.start_us));
        *self.0.entry(key_of(task)).or_insert(0) += u32::from(is_judged);
    }

    /// Whether the group of a task has at least `least` judged tasks.
    pub fn is_large(&self, task: &TaskView<'_>, least: u32) -> bool {
        self.0.get(&key_of(task)).is_some_and(|&count| least <= count)
    }

    /// The number of groups with fewer judged tasks.
    pub fn small_groups(&self, least: u32) -> u64 {
        self.0.values().filter(|&&count| count < least).count() as u64
    }
}

/// Groups that are being built.
#[derive(Debug)]
pub struct GroupBuilder {
    windows: Windows,
    groups: BTreeMap<GroupKey, Raw>,
}

/// A group whose attempts are still ordered by task.
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
    is_closed_with_job: bool,
    attempt: Attempt,
}

impl GroupBuilder {
    /// No groups yet.
    pub fn new(windows: Windows) -> Self {
        Self { windows, groups: BTreeMap::new() }
    }

    /// Adds a task.
    pub fn add(&mut self, task: &TaskView<'_>) {
        let raw = self.groups.entry(key_of(task)).or_default();
        let mut row = RawTask { task_index: task.task_index, ..RawTask::default() };
        let mut next = 0_usize;
        let mut is_running = false;
        for event in task.events.iter().filter(|event| event.time_us < i64::MAX) {
            let number = u32::try_from(next).expect("a task has fewer than 2^32 attempts");
            match event.event_type {
                EventType::Submit if !is_running => {
                    row.changes.push((event.time_us, What::Submitted));
                }
                EventType::Schedule => {
                    if is_running {
                        row.changes.push((event.time_us, What::Ended(number - 1)));
                    }
                    row.changes.push((event.time_us, What::Started(number)));
                    next += 1;
                    is_running = true;
                }
                kind if kind.is_terminal() => {
                    let what = if is_running { What::Ended(number - 1) } else { What::Over };
                    row.changes.push((event.time_us, what));
                    is_running = false;
                }
                _ => {}
            }
        }
        // If an attempt ends with its job, the task has no end event.
        let last = next.checked_sub(1).and_then(|last| Some((last, task.attempts.get(last)?)));
        if let Some((number, attempt)) = last.filter(|last| last.1.ended_by == EndedBy::Job) {
            let number = u32::try_from(number).expect("a task has fewer than 2^32 attempts");
            row.changes.push((attempt.end_us, What::Ended(number)));
        }
        for attempt in task.attempts.iter().take(next) {
            let pieces = pieces_of(task.windows, attempt.start_us, attempt.end_us, &mut raw.pieces);
            let how = match attempt.ended_by {
                EndedBy::Nothing => None,
                EndedBy::Event(EventType::Finish) => Some(End::Finished),
                // It is unknown whether an attempt that ends with its job finished.
                EndedBy::Event(EventType::Kill) | EndedBy::Job => Some(End::Killed),
                EndedBy::Event(_) => Some(End::Failed),
            };
            row.attempts.push(RawAttempt {
                machine_id: attempt.machine_id,
                is_closed_with_job: attempt.ended_by == EndedBy::Job,
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
    // Attempts with a known start are numbered by (start, task).
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
        group.closed_with_job += u64::from(raw.is_closed_with_job);
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
    // The events of each task keep their order.
    group.changes.sort_by_key(|change| (change.time_us, change.task));
    group
}

#[cfg(test)]
mod tests {
    use super::super::testing::{drawn, group_of, stories};
    use super::What::{Ended, Over, Started, StartedUnseen, Submitted};
    use super::*;
    use crate::facts::tasks::Window;

    const S: i64 = 1_000_000;

    /// Attempts as (task, start, end, how), s.
    fn attempts(group: &Group) -> Vec<(u32, i64, i64, Option<End>)> {
        group
            .attempts
            .iter()
            .map(|row| (row.task, row.start_us / S, row.end_us / S, row.how))
            .collect()
    }

    #[test]
    fn attempts_are_numbered_by_start_and_changes_follow_time() {
        let group = drawn(&[
            "S.[=ES[=F", // evicted at 20 s, waits 5 s, finishes
            "S.[==X",    // fails
            "S[=K",      // killed
        ]);
        let (failed, killed) = (Some(End::Failed), Some(End::Killed));
        let expected = [
            (2, 5, 15, killed),
            (0, 10, 20, failed),
            (1, 10, 25, failed),
            (0, 30, 40, Some(End::Finished)),
        ];
        assert_eq!(attempts(&group), expected);
        assert_eq!(group.units, [Unit { task: 0, attempt: 3 }]);
        assert_eq!(group.unit_lengths_us(), [10 * S]);
        let changes: Vec<_> =
            group.changes.iter().map(|row| (row.time_us / S, row.task, row.what)).collect();
        let expected = [
            (0, 0, Submitted),
            (0, 1, Submitted),
            (0, 2, Submitted),
            (5, 2, Started(0)),
            (10, 0, Started(1)),
            (10, 1, Started(2)),
            (15, 2, Ended(0)),
            (20, 0, Ended(1)),
            (25, 0, Submitted),
            (25, 1, Ended(2)),
            (30, 0, Started(3)),
            (40, 0, Ended(3)),
        ];
        assert_eq!(changes, expected);
    }

    #[test]
    fn a_second_schedule_closes_the_first() {
        let group = drawn(&["S[==[=F"]);
        let expected = [(0, 5, 20, Some(End::Failed)), (0, 20, 30, Some(End::Finished))];
        assert_eq!(attempts(&group), expected);
        let what: Vec<What> = group.changes.iter().map(|row| row.what).collect();
        assert_eq!(what, [Submitted, Started(0), Ended(0), Started(1), Ended(1)]);
    }

    #[test]
    fn an_end_without_a_start_is_over_and_a_submit_while_running_is_nothing() {
        let group = drawn(&["S=K", "S[S=F"]);
        assert_eq!(attempts(&group), [(1, 5, 20, Some(End::Finished))]);
        let what: Vec<_> = group.changes.iter().map(|row| (row.task, row.what)).collect();
        let expected = [(0, Submitted), (1, Submitted), (1, Started(0)), (0, Over), (1, Ended(0))];
        assert_eq!(what, expected);
    }

    #[test]
    fn attempts_from_before_the_window_are_counted_and_unseen() {
        //                      | the window begins at 10 s
        let lines = ["[======F", "[===KS[=F", "S[", "S.[==F"];
        let group = group_of(&stories(&lines), 10 * S, 60 * S);
        assert_eq!(group.left_censored, 3);
        assert_eq!(group.unfinished, 0, "one that is left out is not unfinished too");
        let finished = Some(End::Finished);
        assert_eq!(attempts(&group), [(3, 10, 25, finished), (1, 30, 40, finished)]);
        let units: Vec<u32> = group.units.iter().map(|unit| unit.task).collect();
        assert_eq!(units, [1, 3], "the first task cannot be judged");
        let first: Vec<_> = group.changes.iter().filter(|row| row.task == 0).collect();
        assert_eq!(first[0].what, StartedUnseen);
        assert_eq!(first[1].what, Over);
    }

    #[test]
    fn open_attempts_end_with_the_window_and_zero_lengths_stay() {
        let group = drawn(&["S[......", "S=Z", "S[=FS["]);
        let expected = [
            (0, 5, 35, None),
            (2, 5, 15, Some(End::Finished)),
            (1, 10, 10, Some(End::Finished)),
            (2, 25, 35, None),
        ];
        assert_eq!(attempts(&group), expected);
        assert_eq!(group.unfinished, 2);
        let units: Vec<_> = group.units.iter().map(|unit| (unit.task, unit.attempt)).collect();
        assert_eq!(units, [(1, 2), (2, 1)], "the last that finished, not the last");
        let zero: Vec<What> =
            group.changes.iter().filter(|row| row.task == 1).map(|row| row.what).collect();
        assert_eq!(zero, [Submitted, Started(2), Ended(2)]);
    }

    #[test]
    fn usage_is_cut_to_attempts() {
        //  attempts        |--5 to 15--|     |--25 to 35--|
        //  windows   |--0 to 10--|--10 to 30-----|
        //                 |--8 to 12--|               |--40 to 50--|
        let mut stories = stories(&["S[=F.[=F"]);
        let window = |start_s: i64, end_s: i64, rate: f32| Window {
            start_us: start_s * S,
            end_us: end_s * S,
            rate,
            memory: 0.0,
            row_id: 0,
        };
        stories[0].windows =
            vec![window(0, 10, 1.0), window(8, 12, 4.0), window(10, 30, 2.0), window(40, 50, 8.0)];
        let group = group_of(&stories, 0, 60 * S);
        let pieces = |attempt: usize| {
            let range = group.attempts[attempt].pieces.clone();
            group.pieces[range.start as usize..range.end as usize]
                .iter()
                .map(|piece| (piece.start_us / S, piece.end_us / S, piece.rate))
                .collect::<Vec<_>>()
        };
        assert_eq!(pieces(0), [(5, 10, 1.0), (8, 12, 4.0), (10, 15, 2.0)]);
        assert_eq!(pieces(1), [(25, 30, 2.0)]);
    }
}

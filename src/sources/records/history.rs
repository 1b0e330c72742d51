//! The events of an attempt, and the earlier attempts of its task.
//!
//! In: the submit, start and end of an attempt, and the attempts of the task before it. Out: its
//! events in order; none if its row repeats an attempt. Contradictory times are corrected and
//! counted.
//!
//! Attempts of a task do not overlap. So two rows with the same start are two attempts only in two
//! cases: the earlier row ended when it started; or the later row ended when it started, and was
//! submitted at another time than the earlier row, or when it started:
//!
//! ```text
//!  submit   start = end        end             submit    start           end  end
//!    |-----------|                               |---------|---------------|
//!    |-----------|--------------|                |---------|--------------------|
//!              two attempts                         one: the end of the first row
//! ```

use std::hash::{BuildHasher, Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHashSet};

use super::{EVICT, Fault, Life, Remarks, SCHEDULE, SUBMIT};
use crate::sources::reject::RejectReason;

/// The time (µs), the event, and the position among the rows of its line.
pub(super) type RowEvent = (i64, i32, u64);

/// The events of a row, its attempt as it is remembered, and the last attempt before it.
pub(super) type Step = ([Option<RowEvent>; 3], Seen, Option<Seen>);

/// The job and the index of a task.
type TaskId = (i64, i32);

/// An attempt as it is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    pub submit_us: i64,
    pub start_us: Option<i64>,
    pub end: Option<(i64, i32)>,
}

impl Seen {
    /// The attempt of a row.
    ///
    /// # Errors
    /// Its times are not valid times of a trace.
    pub(super) fn of(life: &Life, remarks: &mut Remarks) -> Result<Self, Fault> {
        let is_time = |time_us: i64| (0..i64::MAX).contains(&time_us);
        let end_us = life.end.map(|end| end.0);
        for (time_us, column) in
            [(life.submit_us, "submit"), (life.start_us, "start"), (end_us, "end")]
        {
            if time_us.is_some_and(|time_us| !is_time(time_us)) {
                return Err((column, RejectReason::NegativeTime));
            }
        }
        let submit_us = life.submit_us.ok_or(("time_us", RejectReason::EmptyMandatory))?;
        let begun_us = life.start_us.unwrap_or(submit_us);
        if begun_us < submit_us {
            remarks.add("started before the submit: submitted at the start");
        }
        let end = life.end.map(|(end_us, kind)| {
            if end_us < begun_us {
                remarks.add("ended before it started: no length, set to its start");
            }
            (end_us.max(begun_us), kind)
        });
        Ok(Self { submit_us: submit_us.min(begun_us), start_us: life.start_us, end })
    }

    /// Whether it is an earlier attempt of the task, though its row comes later.
    pub(super) fn is_before(self, other: Self) -> bool {
        // An attempt that waits comes after an attempt that was evicted in the second of their
        // submit.
        if self.submit_us == other.submit_us {
            if self.is_evicted_at_once() && other.waits() {
                return true;
            }
            if self.waits() && other.is_evicted_at_once() {
                return false;
            }
        }
        (self.submit_us, self.start_us) < (other.submit_us, other.start_us)
    }

    /// Whether two attempts overlap: the one that started first ended after the start of the other.
    pub(super) fn overlaps(self, other: Self) -> bool {
        let [first, next] =
            if self.start_us <= other.start_us { [self, other] } else { [other, self] };
        let times = first.start_us.zip(next.start_us).zip(first.end);
        times.is_some_and(|((start, next), (end, _))| start < next && next < end)
    }

    /// Whether it has neither started nor ended.
    const fn waits(self) -> bool {
        self.start_us.is_none() && self.end.is_none()
    }

    /// Whether it was evicted in the second of its submit, so that the next has the same submit
    /// time.
    fn is_evicted_at_once(self) -> bool {
        self.end == Some((self.submit_us, EVICT))
    }

    /// Whether it ended when it started.
    pub(super) fn is_instant(self) -> bool {
        self.start_us.is_some() && self.start_us == self.end.map(|end| end.0)
    }

    /// The turn of each of its events among those of other attempts at the same instant; rows of
    /// these attempts may come later. First comes the end of an attempt that took time, then all
    /// events of an attempt that took none, then the events of one that goes on. `events` are those
    /// that its row adds: an event of an earlier row comes before the others.
    pub(super) fn turns(self, events: &[Option<RowEvent>; 3]) -> [u64; 3] {
        const ENDS: u64 = 0;
        const INSTANT: u64 = 1;
        const GOES_ON: u64 = 2;
        let begun_us = self.start_us.unwrap_or(self.submit_us);
        let Some((end_us, _)) = self.end else { return [GOES_ON; 3] };
        if begun_us < end_us {
            return [GOES_ON, GOES_ON, ENDS];
        }
        let is_submitted_here = self.submit_us < end_us || events[0].is_some();
        let is_whole = is_submitted_here && (self.start_us.is_none() || events[1].is_some());
        let at_once = if is_whole { INSTANT } else { GOES_ON };
        let submit = if self.submit_us < end_us { GOES_ON } else { at_once };
        [submit, at_once, at_once]
    }

    /// Whether it is the attempt of an earlier row. An open row may be an older record of an
    /// attempt that has ended, unless that attempt was evicted, or the open row has another submit.
    fn is_of(self, before: Self) -> bool {
        if self.start_us.is_none() || before.start_us != self.start_us {
            return false;
        }
        let was_evicted = before.end.is_some_and(|(_, kind)| kind == EVICT);
        let is_other = self.end.is_some() || was_evicted || before.submit_us != self.submit_us;
        // If the submits differ, or if it was submitted when it started, the other row has none of
        // its events.
        let is_apart = self.submit_us != before.submit_us || self.start_us == Some(self.submit_us);
        let has_taken_none = self.is_instant() && before.end.is_some() && is_apart;
        !(before.is_instant() && is_other || has_taken_none)
    }
}

/// The last attempt of a task, in 40 bytes, since a log may have millions of tasks. Two are equal
/// if they are of the same task.
#[derive(Clone, Copy)]
struct Kept {
    job_id: i64,
    task_index: i32,
    /// The event that ended it.
    kind: i8,
    submit_us: i64,
    /// [`NONE`] if it did not happen.
    start_us: i64,
    end_us: i64,
}

/// Marks a time that is missing.
const NONE: i64 = -1;

impl Kept {
    const fn new((job_id, task_index): TaskId) -> Self {
        Self { job_id, task_index, kind: 0, submit_us: NONE, start_us: NONE, end_us: NONE }
    }

    fn of(task: TaskId, seen: Seen) -> Self {
        let (end_us, kind) = seen.end.unwrap_or((NONE, 0));
        Self {
            kind: i8::try_from(kind).expect("there are nine kinds of events"),
            submit_us: seen.submit_us,
            start_us: seen.start_us.unwrap_or(NONE),
            end_us,
            ..Self::new(task)
        }
    }

    fn seen(&self) -> Seen {
        let is_time = |time_us: &i64| *time_us != NONE;
        let end_us = Some(self.end_us).filter(is_time);
        Seen {
            submit_us: self.submit_us,
            start_us: Some(self.start_us).filter(is_time),
            end: end_us.map(|end_us| (end_us, self.kind.into())),
        }
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        (self.job_id, self.task_index) == (other.job_id, other.task_index)
    }
}

impl Eq for Kept {}

impl Hash for Kept {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.job_id, self.task_index).hash(state);
    }
}

/// The remembered attempts of the tasks of a part.
#[derive(Default)]
pub(super) struct Attempts {
    /// The last attempt of each task.
    last: FxHashSet<Kept>,
    /// Hashes of the attempts before it.
    before: FxHashSet<u64>,
}

impl Attempts {
    /// The last attempt of each task.
    pub(super) fn last(&self) -> impl Iterator<Item = Seen> {
        self.last.iter().map(Kept::seen)
    }

    fn last_of(&self, task: TaskId) -> Option<Seen> {
        self.last.get(&Kept::new(task)).map(Kept::seen)
    }

    /// The events of a row; `None` if it adds nothing to the attempts so far. With `is_next`, the
    /// row is known to be another attempt.
    pub(super) fn step(
        &self,
        task: TaskId,
        seen: Seen,
        is_next: bool,
        remarks: &mut Remarks,
    ) -> Option<Step> {
        let before = self.last_of(task);
        let was_before = || before.is_some() && self.before.contains(&hash(task, seen));
        if !is_next && (before == Some(seen) || was_before()) {
            remarks.add("rows that repeat an earlier row of the task: left out");
            return None;
        }
        if let Some(before) = before.filter(|&before| !is_next && seen.is_of(before)) {
            return end_of(seen, before, remarks);
        }
        // After an attempt that ended in the second of its submit, the next has the same submit
        // time.
        let was_instant = |own: Seen| own.end.is_some_and(|(end_us, _)| end_us == own.submit_us);
        // A row that waits may be an older record of this attempt, unless this attempt was evicted
        // in the second of its submit.
        let is_other = |before: Seen| !before.waits() || seen.is_evicted_at_once();
        let is_resubmitted = before.is_none_or(|before| {
            before.submit_us != seen.submit_us
                || was_instant(before)
                || was_instant(seen) && is_other(before)
        });
        let events = [
            is_resubmitted.then_some((seen.submit_us, SUBMIT, 0)),
            seen.start_us.map(|start_us| (start_us, SCHEDULE, 1)),
            seen.end.map(|(end_us, kind)| (end_us, kind, 2)),
        ];
        Some((events, seen, before))
    }

    /// Remembers an attempt.
    pub(super) fn add(&mut self, task: TaskId, seen: Seen) {
        let earlier = match self.last_of(task) {
            Some(last) if seen.is_before(last) => Some(seen),
            _ => self.last.replace(Kept::of(task, seen)).map(|before| before.seen()),
        };
        self.before.extend(earlier.map(|earlier| hash(task, earlier)));
    }
}

/// The end that a further row of an attempt adds; `None` if the attempt had ended.
fn end_of(seen: Seen, before: Seen, remarks: &mut Remarks) -> Option<Step> {
    if before.end.is_some() {
        remarks.add(match seen.end {
            Some(_) if seen.end != before.end => {
                "rows with the start of an earlier row of the task, but another end: left out"
            }
            _ => "rows that repeat an earlier row of the task: left out",
        });
        return None;
    }
    let Some((end_us, kind)) = seen.end else {
        remarks.add("rows that repeat an earlier row of the task: left out");
        return None;
    };
    remarks.add("rows that repeat the end of an attempt of an earlier row: one attempt");
    let closed = Seen { end: seen.end, ..before };
    Some(([None, None, Some((end_us, kind, 2))], closed, Some(before)))
}

fn hash(task: TaskId, seen: Seen) -> u64 {
    FxBuildHasher.hash_one((task, seen))
}

//! The submit, start and end of an attempt, from the times of its row.
//!
//! In: times and lengths of time; some may be missing. Out: the times of the attempt. A time that
//! follows from others is derived and counted; any other missing time stays missing.

use super::states::Fate;
use super::{FINISH, Life, Remarks};

/// The times of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::sources) struct Times {
    pub submit_us: Option<i64>,
    pub start_us: Option<i64>,
    pub end_us: Option<i64>,
    /// How long it ran.
    pub run_us: Option<i64>,
    /// How long it waited.
    pub wait_us: Option<i64>,
    /// Whether the submit time is assumed to be that of the start, or else of the end.
    pub is_submit_assumed: bool,
}

/// The times of an attempt.
pub(in crate::sources) struct AttemptTimes {
    pub life: Life,
    pub wait_us: Option<i64>,
    pub run_us: Option<i64>,
}

impl Times {
    /// Whether a job ended without finishing, has no start, and has a run time of 0; counted. The
    /// log must have a column of starts.
    pub(in crate::sources) fn never_ran(&self, fate: Option<Fate>, remarks: &mut Remarks) -> bool {
        let has_failed = fate.and_then(Fate::end).is_some_and(|end| end != FINISH);
        let never_ran = has_failed && self.start_us.is_none() && self.run_us == Some(0);
        remarks.add_many("ended before a start: no SCHEDULE", u64::from(never_ran));
        never_ran
    }

    /// Derives a missing end or start from the run time, if the attempt may have one.
    pub(in crate::sources) fn fill(
        &mut self,
        (may_begin, may_end): (bool, bool),
        remarks: &mut Remarks,
    ) {
        let Some(run) = self.run_us else { return };
        if let (true, None, Some(start)) = (may_end, self.end_us, self.start_us) {
            remarks.add("no end time: start and run time");
            self.end_us = start.checked_add(run);
        }
        if let (true, None, Some(end)) = (may_begin, self.start_us, self.end_us) {
            remarks.add("no start time: end minus the run time");
            self.start_us = end.checked_sub(run);
        }
    }

    /// If the run time is longer than from start to end, moves the end to the start plus the run
    /// time. Suspension makes the run time shorter than the span; a clock that was set back, or a
    /// time in a coarse unit, makes it longer.
    pub(in crate::sources) fn lengthen(&mut self, remarks: &mut Remarks) {
        if let (Some(start), Some(end), Some(run)) = (self.start_us, self.end_us, self.run_us)
            && end.saturating_sub(start) < run
        {
            remarks.add("run time longer than from start to end: ended at the start and run time");
            self.end_us = start.checked_add(run);
        }
    }

    /// Drops the submit time of a started attempt if it is from the column of starts: it then says
    /// nothing about the wait.
    pub(in crate::sources) fn forget_submit(&mut self, is_of_start: bool) {
        if is_of_start && self.start_us.is_some() {
            self.submit_us = None;
        }
    }

    /// Derives a missing submit time: the start (or else the end) minus the wait, which is assumed
    /// to be 0 if it is missing too.
    pub(in crate::sources) fn submit(&mut self, remarks: &mut Remarks) {
        let Some(begun) = self.start_us.or(self.end_us).filter(|_| self.submit_us.is_none()) else {
            return;
        };
        match self.wait_us {
            Some(_) => remarks.add("no submit time: start minus the wait"),
            None => self.is_submit_assumed = true,
        }
        self.submit_us = Some(begun.saturating_sub(self.wait_us.unwrap_or(0)));
    }

    /// The times of the attempt; `end` is the number of the event that ended it, if any.
    pub(in crate::sources) fn of_attempt(
        self,
        end: Option<i32>,
        remarks: &mut Remarks,
    ) -> AttemptTimes {
        let Self { submit_us, start_us, end_us, run_us, wait_us, is_submit_assumed } = self;
        let length_us = start_us.zip(end_us).map(|(start, end)| end.saturating_sub(start).max(0));
        if run_us.zip(length_us).is_some_and(|(run, length)| run < length) {
            remarks.add(
                "run time shorter than from start to end: suspended, which counts as spread evenly",
            );
        }
        let asked_us = submit_us.filter(|_| !is_submit_assumed);
        let waited_us = start_us.zip(asked_us).map(|(start, submit)| start.saturating_sub(submit));
        AttemptTimes {
            life: Life { submit_us, start_us, end: end_us.zip(end), is_submit_assumed },
            wait_us: wait_us.or(waited_us),
            run_us: run_us.or(length_us).filter(|_| start_us.is_some()),
        }
    }
}

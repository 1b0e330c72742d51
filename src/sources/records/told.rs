//! When an attempt was submitted, began and ended, from the times that its row has.
//!
//! In: times and lengths of time, of which some are missing. Out: the attempt in time. A time that
//! follows from others is derived, and counted; one that does not stays missing.

use super::{Life, Remarks};

/// The times of a row.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "all are times in µs")]
pub(in crate::sources) struct Times {
    pub submit_us: Option<i64>,
    pub start_us: Option<i64>,
    pub end_us: Option<i64>,
    /// How long it ran.
    pub run_us: Option<i64>,
    /// How long it waited.
    pub wait_us: Option<i64>,
}

/// An attempt in time.
pub(in crate::sources) struct Told {
    pub life: Life,
    pub wait_us: Option<i64>,
    pub run_us: Option<i64>,
}

impl Times {
    /// Derives the end, or the start of an attempt that may have one.
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
            remarks.add("no start time: end less the run time");
            self.start_us = end.checked_sub(run);
        }
    }

    /// The submission: that of the row, else the start less the wait.
    pub(in crate::sources) fn submitted(&self, remarks: &mut Remarks) -> Option<i64> {
        if self.submit_us.is_some() {
            return self.submit_us;
        }
        let begun = self.start_us.or(self.end_us)?;
        remarks.add(match self.wait_us {
            Some(_) => "no submit time: start less the wait",
            None => "no submit time: submitted at the start",
        });
        Some(begun.saturating_sub(self.wait_us.unwrap_or(0)))
    }

    /// The attempt, which ended by an event or did not.
    pub(in crate::sources) fn told(self, end: Option<i32>, remarks: &mut Remarks) -> Told {
        let Self { submit_us, start_us, end_us, run_us, wait_us } = self;
        let length_us = start_us.zip(end_us).map(|(start, end)| end.saturating_sub(start).max(0));
        if run_us.zip(length_us).is_some_and(|(run, length)| run < length) {
            remarks
                .add("run time shorter than from start to end: CPU time is that of the run time");
        }
        let waited_us = start_us.zip(submit_us).map(|(start, submit)| start.saturating_sub(submit));
        Told {
            life: Life { submit_us, start_us, end: end_us.zip(end) },
            wait_us: wait_us.or(waited_us),
            run_us: run_us.or(length_us).filter(|_| start_us.is_some()),
        }
    }
}

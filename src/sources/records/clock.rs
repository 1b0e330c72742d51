//! Times of rows, with or without a zone.
//!
//! In: times as written in the cells of a row, and the zone that the user gives. Out: µs since
//! 1970. If the clock showed a local time twice, the instant that fits the run time is used, else
//! the first one (for an end, the first one after the start).

use super::Remarks;
use crate::sources::zone::{Instant, Stamp, Zone};

/// The remark about times in the hour that occurs twice when a clock is set back, if nothing shows
/// which of the two is meant.
const TWICE: &str = "ambiguous local times (the clock was set back): the first is taken";

/// The remark about ends in that hour, if only the second instant is after the start.
const AFTER: &str = "ambiguous local times (the clock was set back): the end after the start";

/// The clock of a log.
pub(in crate::sources) struct Clock {
    zone: Zone,
    is_given: bool,
    /// The remark about times without a zone, if no zone is given.
    assumed: &'static str,
}

impl Clock {
    /// The clock of a zone. If none is given, it is UTC, and `assumed` is the remark about it.
    pub(in crate::sources) fn of(zone: Option<&Zone>, assumed: &'static str) -> Self {
        let is_given = zone.is_some();
        Self { zone: zone.cloned().unwrap_or_else(Zone::utc), is_given, assumed }
    }

    /// The entry of a zone in the notes of a log.
    pub(in crate::sources) fn header(zone: Option<&Zone>) -> (String, String) {
        ("timezone".to_owned(), zone.map_or("UTC (assumed)".to_owned(), Zone::to_string))
    }

    /// The instant of a time, which may be ambiguous.
    pub(in crate::sources) fn instant(&self, stamp: Stamp, remarks: &mut Remarks) -> Instant {
        if matches!(stamp, Stamp::Local(_)) && !self.is_given {
            remarks.add_once(self.assumed);
        }
        let instant = stamp.instant_us(&self.zone);
        if matches!(instant, Instant::Never(_)) {
            let wording =
                "local times that the clock skipped: the offset before the change is used";
            remarks.add_once(wording);
        }
        instant
    }
}

/// The start and the end of an attempt. If the clock showed one of them twice, they are the pair
/// that fits the run time best; without a run time, the first start and the first end after it.
/// `beside` is another time of the row; its first instant is always used.
pub(in crate::sources) fn times(
    start: Option<Instant>,
    end: Option<Instant>,
    run_us: Option<i64>,
    beside: Option<Instant>,
    remarks: &mut Remarks,
) -> (Option<i64>, Option<i64>) {
    let is_twice = |instant: Option<Instant>| instant.is_some_and(|it| it.second().is_some());
    let is_unsure = is_twice(start) || is_twice(end);
    if let (true, Some(start), Some(end), Some(run)) = (is_unsure, start, end, run_us) {
        remarks.add("ambiguous local times (the clock was set back): decided by the run time");
        let (start, end) = Instant::fit(start, end, run);
        return (Some(start), Some(end));
    }
    if let (Some(start), Some(end)) = (start.map(Instant::first), end)
        && end.first() < start
        && let Some(second) = end.second().filter(|&second| start <= second)
    {
        remarks.add(AFTER);
        return (Some(start), Some(second));
    }
    if is_unsure || is_twice(beside) {
        remarks.add(TWICE);
    }
    (start.map(Instant::first), end.map(Instant::first))
}

/// A time that no run time can resolve: the first, if the clock showed it twice.
pub(in crate::sources) fn first(instant: Instant, remarks: &mut Remarks) -> i64 {
    if instant.second().is_some() {
        remarks.add(TWICE);
    }
    instant.first()
}

//! Times of rows, which may name no zone.
//!
//! In: times as the cells of a row show them, and the zone that the user names. Out: µs since 1970. A
//! local time that the clock showed twice is the one that fits the run time, else the first.

use super::Remarks;
use crate::sources::zone::{Instant, Stamp, Zone};

/// A time of the hour that comes twice when the clock is put back, and nothing that says which.
const TWICE: &str = "local times that came twice as the clock was put back: the first is taken";

/// The clock of a log.
pub(in crate::sources) struct Clock {
    zone: Zone,
    is_given: bool,
    /// What is counted of times without a zone where none is given.
    assumed: &'static str,
}

impl Clock {
    /// The clock of a zone; UTC where none is given, of which `assumed` is counted.
    pub(in crate::sources) fn of(zone: Option<&Zone>, assumed: &'static str) -> Self {
        let is_given = zone.is_some();
        Self { zone: zone.cloned().unwrap_or_else(Zone::utc), is_given, assumed }
    }

    /// What a zone is called in the notes of a log.
    pub(in crate::sources) fn told(zone: Option<&Zone>) -> (String, String) {
        ("timezone".to_owned(), zone.map_or("UTC (assumed)".to_owned(), Zone::to_string))
    }

    /// What a time may mean.
    pub(in crate::sources) fn instant(&self, stamp: Stamp, remarks: &mut Remarks) -> Instant {
        if matches!(stamp, Stamp::Local(_)) && !self.is_given {
            remarks.add(self.assumed);
        }
        let instant = stamp.instant_us(&self.zone);
        if matches!(instant, Instant::Never(_)) {
            remarks.add("local times that the clock left out: counted on from the hour before");
        }
        instant
    }
}

/// The start and the end of an attempt. Where the clock showed one of them twice, they are the pair
/// that the run time fits best. `beside` are times of the row of which the first is taken anyway.
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
        remarks.add("local times that came twice as the clock was put back: by the run time");
        let (start, end) = Instant::fit(start, end, run);
        return (Some(start), Some(end));
    }
    if is_unsure || is_twice(beside) {
        remarks.add(TWICE);
    }
    (start.map(Instant::first), end.map(Instant::first))
}

/// A time beside which there is none that could tell; the first where the clock shows it twice.
pub(in crate::sources) fn first(instant: Instant, remarks: &mut Remarks) -> i64 {
    if instant.second().is_some() {
        remarks.add(TWICE);
    }
    instant.first()
}

//! The contribution of one task to the ground truth: attempts, CPU pieces, crossings, quality
//! counts.
//!
//! In: the events and usage windows of a task as written. Out: changes to the [`Tally`] and to the
//! sums of its job. The rules are the definitions in `reports/sessions/definitions.md`, applied to
//! the plan. The analysis has separate code for them; both must agree to the last bit.
//!
//! ```text
//!  attempts        |------------|      |---------------|
//!  usage windows |----|-----|-----|      |-----|-----|----|
//!  pieces          |--|-----|---|        |-----|-----|-|      inside: the ledger of an outcome
//!                ^^             ^^                      ^^^   outside_attempts
//! ```

use super::event::{
    Event, SEQUENCE_CLASSES, TERMINAL_CLASSES, count_illegal, count_ties, sequence, sequence_class,
    terminal_class,
};
use super::scene::Scene;
use super::sweep::{JobSums, Piece, TaskCpu};
use super::tally::{Tally, bump};
use super::timeline::TaskEvent;
use super::units::{ExactCpu, exact_rate};

/// An attempt: from SCHEDULE to the next terminal event or SCHEDULE, or to the end of the trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Attempt {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) machine: u64,
    /// CPU request on the SCHEDULE row.
    request: Option<f32>,
    /// `None` if a second SCHEDULE or the end of the trace closed it.
    ended_by: Option<Event>,
}

/// A usage window as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct UsageWindow {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) machine: u64,
    pub(super) rate: Option<f32>,
    /// Whether the row is in the file twice.
    pub(super) is_doubled: bool,
}

/// Returns the attempts of a task, which never overlap; open ones end at `close`.
pub(super) fn attempts_of(events: &[TaskEvent], close: i64) -> Vec<Attempt> {
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut is_open = false;
    for row in events {
        let closes = row.event.is_terminal() || row.event == Event::Schedule;
        if is_open && closes {
            let attempt = attempts.last_mut().expect("an open attempt is the last one");
            attempt.end = row.time;
            attempt.ended_by = Some(row.event).filter(|event| event.is_terminal());
            is_open = false;
        }
        if row.event == Event::Schedule {
            attempts.push(Attempt {
                start: row.time,
                end: close,
                machine: row.machine.expect("a SCHEDULE names its machine"),
                request: row.cpu_request.map(|text| text.parse().expect("a request is a number")),
                ended_by: None,
            });
            is_open = true;
        }
    }
    attempts
}

/// Adds a task with events to the tally.
pub(super) fn book_task(
    tally: &mut Tally,
    sums: &mut JobSums,
    (index, events): (u32, &[TaskEvent]),
    attempts: &[Attempt],
    windows: &[UsageWindow],
) {
    let types = || events.iter().map(|row| row.event);
    let digits = sequence(types());
    bump(&mut tally.task_outcomes.sequence, SEQUENCE_CLASSES[sequence_class(&digits)]);
    bump(&mut tally.task_outcomes.terminal, TERMINAL_CLASSES[terminal_class(types())]);
    *tally.task_sequences.entry(digits).or_default() += 1;
    tally.tasks += 1;
    sums.task_count += 1;
    tally.events_per_task.add(events.len() as u64);
    tally.attempts_per_task.add(attempts.len() as u64);
    book_quality(tally, events, attempts);
    if let Some(last) = attempts.iter().rfind(|each| each.ended_by == Some(Event::Finish)) {
        sums.finished.push((index, last.end - last.start));
    }
    let (pieces, outside) = measured_pieces(attempts, windows);
    book_usage(tally, windows);
    sums.outside += outside;
    let cpu = TaskCpu::new(pieces, attempt_pieces(attempts));
    sums.add_task(events, &cpu);
}

/// Adds usage of a task without events: all of it is outside attempts.
pub(super) fn book_stray_usage(tally: &mut Tally, sums: &mut JobSums, windows: &[UsageWindow]) {
    let (_, outside) = measured_pieces(&[], windows);
    sums.outside += outside;
    book_usage(tally, windows);
    let copies = |window: &UsageWindow| 1 + u64::from(window.is_doubled);
    tally.usage_without_task += windows.iter().map(copies).sum::<u64>();
    tally.stray_tasks += u64::from(!windows.is_empty());
}

/// Returns the parts of the windows inside attempts, and the CPU outside. A row that is in the file
/// twice counts twice.
fn measured_pieces(attempts: &[Attempt], windows: &[UsageWindow]) -> (Vec<Piece>, ExactCpu) {
    let mut pieces = Vec::with_capacity(windows.len());
    let mut outside = 0;
    for window in windows {
        let copies = 1 + ExactCpu::from(window.is_doubled);
        let rate = exact_rate(window.rate.unwrap_or(0.0)) * copies;
        outside += rate * ExactCpu::from(window.end - window.start);
        let first = attempts.partition_point(|attempt| attempt.end <= window.start);
        for attempt in attempts[first..].iter().take_while(|each| each.start < window.end) {
            let piece = Piece {
                start: window.start.max(attempt.start),
                end: window.end.min(attempt.end),
                rate,
            };
            if piece.start < piece.end {
                outside -= piece.cpu();
                pieces.push(piece);
            }
        }
    }
    (pieces, outside)
}

/// Returns the attempts as pieces at the rate of their request, and at rate 1.
fn attempt_pieces(attempts: &[Attempt]) -> [Vec<Piece>; 2] {
    let at = |rate: fn(&Attempt) -> f32| {
        let piece = |each: &Attempt| Piece {
            start: each.start,
            end: each.end,
            rate: exact_rate(rate(each)),
        };
        attempts.iter().map(piece).collect()
    };
    [at(|attempt| attempt.request.unwrap_or(0.0)), at(|_| 1.0)]
}

fn book_usage(tally: &mut Tally, windows: &[UsageWindow]) {
    for window in windows {
        let copies = 1 + u64::from(window.is_doubled);
        tally.counts.windows += copies;
        tally.counts.windows_without_rate += copies * u64::from(window.rate.is_none());
        tally.duplicate_usage += u64::from(window.is_doubled);
        tally.last_usage_end = tally.last_usage_end.max(window.end);
        if Scene::is_unannounced(window.machine) {
            tally.unannounced_usage_rows += copies;
            tally.unannounced.insert(window.machine);
        }
    }
    tally.counts.overlapping_windows += overlapping(windows);
}

/// Counts the windows that start before the latest end of any earlier one, in (start, end) order.
fn overlapping(windows: &[UsageWindow]) -> u64 {
    let mut spans: Vec<(i64, i64)> = Vec::with_capacity(windows.len());
    for window in windows {
        spans.push((window.start, window.end));
        if window.is_doubled {
            spans.push((window.start, window.end));
        }
    }
    spans.sort_unstable();
    let mut latest_end = i64::MIN;
    let mut count = 0;
    for (start, end) in spans {
        count += u64::from(start < latest_end);
        latest_end = latest_end.max(end);
    }
    count
}

fn book_quality(tally: &mut Tally, events: &[TaskEvent], attempts: &[Attempt]) {
    let (ties, later_ties) = count_ties(events.iter().map(|row| row.time));
    tally.task_ties += ties;
    tally.task_ties_after_zero += later_ties;
    count_illegal(events.iter().map(|row| row.event), &mut tally.illegal_task_transitions);
    let mut is_running = false;
    for (position, row) in events.iter().enumerate() {
        bump(&mut tally.task_event_types, row.event.name());
        tally.last_task_event = tally.last_task_event.max(row.time);
        tally.task_rows_at_zero += u64::from(row.time == 0);
        if let Some(code) = row.missing_info {
            bump(&mut tally.task_missing_info, &code.to_string());
        }
        if row.machine.is_some_and(Scene::is_unannounced) {
            tally.unannounced.extend(row.machine);
            tally.unannounced_task_rows += 1;
        }
        let same_instant = events[..position].iter().rev().take_while(|at| at.time == row.time);
        tally.duplicate_task_events += u64::from(same_instant.into_iter().any(|at| at == row));
        if row.event == Event::Schedule {
            tally.schedule_while_running += u64::from(is_running);
            tally.counts.schedules += 1;
            is_running = true;
        } else if row.event.is_terminal() {
            if !is_running {
                bump(&mut tally.terminal_without_schedule, row.event.name());
            }
            is_running = false;
        }
    }
    let without = attempts.iter().filter(|attempt| attempt.request.is_none()).count();
    tally.counts.schedules_without_request += without as u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time: i64, event: Event) -> TaskEvent {
        TaskEvent { time, event, machine: Some(1), cpu_request: Some("0.5"), missing_info: None }
    }

    fn window(start: i64, end: i64) -> UsageWindow {
        UsageWindow { start, end, machine: 1, rate: Some(1.0), is_doubled: false }
    }

    #[test]
    fn windows_count_as_far_as_they_lie_in_attempts() {
        //  attempts      10 |------| 20   25 |-----| 40 (second SCHEDULE) |---| 50 (open)
        //  windows    5 |------| 15 15 |------------| 30             35 |----------| 60
        let rows = [
            event(9, Event::Submit),
            event(10, Event::Schedule),
            event(20, Event::Evict),
            event(21, Event::Submit),
            event(25, Event::Schedule),
            event(40, Event::Schedule),
        ];
        let attempts = attempts_of(&rows, 50);
        let spans: Vec<_> = attempts.iter().map(|each| (each.start, each.end)).collect();
        assert_eq!(spans, [(10, 20), (25, 40), (40, 50)]);
        let windows = [window(5, 15), window(15, 30), window(35, 60)];
        let (pieces, outside) = measured_pieces(&attempts, &windows);
        let spans: Vec<_> = pieces.iter().map(|each| (each.start, each.end)).collect();
        assert_eq!(spans, [(10, 15), (15, 20), (25, 30), (35, 40), (40, 50)]);
        assert_eq!(outside, exact_rate(1.0) * (5 + 5 + 10));
    }

    #[test]
    fn windows_overlap_with_any_earlier_one() {
        assert_eq!(overlapping(&[window(0, 10), window(10, 20)]), 0);
        assert_eq!(overlapping(&[window(0, 100), window(10, 20), window(50, 60)]), 2);
        let doubled = UsageWindow { is_doubled: true, ..window(0, 10) };
        assert_eq!(overlapping(&[doubled]), 1);
    }
}

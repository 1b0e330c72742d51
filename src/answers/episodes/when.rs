//! The time of episodes, in words.

use crate::digits::{counted, instant, is_date, lasting, on_day, utc};

/// An instant in words.
fn at(at_s: f64) -> String {
    if is_date(at_s) { instant(at_s) } else { format!("{} of the trace", on_day(at_s, true)) }
}

/// The time of an episode, in words. If its first and last event are close together, the words give
/// a start and a length; otherwise they give a start and an end.
pub(super) fn when(span_s: [f64; 2], events_s: Option<(f64, f64)>) -> String {
    let [start_s, end_s] = span_s;
    match events_s.filter(|(first, last)| 2.0 * (last - first) < end_s - start_s) {
        Some((first, last)) if last <= first => format!("at {}", at(first)),
        Some((first, last)) => format!("within {} from {} on", lasting(last - first), at(first)),
        None => from_to(span_s),
    }
}

/// The start and the end in words. They have seconds if they are not whole minutes.
pub(super) fn from_to(span_s: [f64; 2]) -> String {
    let are_minutes = span_s.iter().all(|at_s| at_s % 60.0 == 0.0);
    if !is_date(span_s[0]) {
        let [from, to] = span_s.map(|at_s| on_day(at_s, !are_minutes));
        return format!("from {from} to {to} of the trace");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "after 1970")]
    let [from, to] = span_s.map(|at_s| utc(at_s as u64));
    let end = if are_minutes { 16 } else { from.len() };
    let to = if from[..10] == to[..10] { &to[11..end] } else { &to[..end] };
    format!("from {} to {to} UTC", &from[..end])
}

/// A day in words: `on 2017-01-01 (UTC)`, `in the 24 h from 17 d 00:00 of the trace on`.
pub(super) fn on_the_day(start_s: f64) -> String {
    if is_date(start_s) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "after 1970")]
        let date = utc(start_s as u64);
        return format!("on {} (UTC)", &date[..10]);
    }
    format!("in the 24 h from {} of the trace on", on_day(start_s, false))
}

/// A number of intervals of this length, in words: `2 hours`, `2 intervals of 10 min`.
pub(super) fn intervals(count: u64, length_s: f64) -> String {
    match length_s {
        3600.0 => counted(count, "hour"),
        86_400.0 => counted(count, "day"),
        other => format!("{} of {}", counted(count, "interval"), lasting(other)),
    }
}

/// `hour`, `day`, or the length of an interval.
pub(super) fn per_interval(length_s: f64) -> String {
    match length_s {
        3600.0 => "hour".to_owned(),
        86_400.0 => "day".to_owned(),
        other => lasting(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_an_episode_is_as_exact_as_its_events() {
        let at = |events_s| when([28_200.0, 28_800.0], events_s);
        assert_eq!(at(None), "from 0 d 07:50 to 0 d 08:00 of the trace");
        assert_eq!(at(Some((28_210.0, 28_790.0))), "from 0 d 07:50 to 0 d 08:00 of the trace");
        assert_eq!(at(Some((28_260.0, 28_350.0))), "within 90 s from 0 d 07:51:00 of the trace on");
        assert_eq!(at(Some((28_260.0, 28_260.0))), "at 0 d 07:51:00 of the trace");
        assert_eq!(super::at(2_237_405.0), "25 d 21:30:05 of the trace");
        let dated = when([1_483_228_830.0, 1_483_228_840.0], None);
        assert_eq!(dated, "from 2017-01-01 00:00:30 to 00:00:40 UTC");
    }

    #[test]
    fn a_day_is_reported_by_its_date_if_that_is_known() {
        assert_eq!(on_the_day(1_468_800.0), "in the 24 h from 17 d 00:00 of the trace on");
        assert_eq!(on_the_day(1_483_228_800.0), "on 2017-01-01 (UTC)");
    }
}

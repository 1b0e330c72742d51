//! The rules for sequences of events: classes, attempts and legal transitions, as defined in
//! `reports/sessions/definitions.md`.

use std::collections::BTreeMap;

pub(super) use crate::schema::EventType as Event;

/// Returns the event types as digits, `014`.
pub(super) fn sequence(events: impl Iterator<Item = Event>) -> String {
    events.map(|event| char::from(event.digit())).collect()
}

/// Names of the classes of `sequence`, in the order of [`sequence_class`].
pub(super) const SEQUENCE_CLASSES: [&str; 5] = ["finished", "failed", "killed", "running", "other"];

/// The published classification: exact sequences; everything else is `other`.
pub(super) fn sequence_class(sequence: &str) -> usize {
    match sequence {
        "014" => 0,
        "013" => 1,
        "015" => 2,
        "01" => 3,
        _ => 4,
    }
}

/// Names of the classes of `terminal`, in the order of [`terminal_class`].
pub(super) const TERMINAL_CLASSES: [&str; 7] =
    ["finished", "failed", "killed", "evicted", "lost", "pending", "running"];

/// The class by the last event that is not an UPDATE. That is a terminal event, SUBMIT or
/// SCHEDULE.
pub(super) fn terminal_class(events: impl Iterator<Item = Event>) -> usize {
    events.fold(5, |class, event| match event {
        Event::Finish => 0,
        Event::Fail => 1,
        Event::Kill => 2,
        Event::Evict => 3,
        Event::Lost => 4,
        Event::Submit => 5,
        Event::Schedule => 6,
        _ => class,
    })
}

/// Whether a class of [`terminal_class`] means that the job or task has ended.
pub(super) const fn has_ended(terminal_class: usize) -> bool {
    terminal_class < 5
}

/// The state of a job or task in the trace's state machine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Dead,
    Pending,
    Running,
}

/// Counts the transitions that the trace's state machine does not have, by name such as
/// `EVICT while pending`. After such a transition, the event determines the state.
pub(super) fn count_illegal(
    events: impl Iterator<Item = Event>,
    counts: &mut BTreeMap<String, u64>,
) {
    let mut state = State::Dead;
    for event in events {
        let (next, legal) = match (state, event) {
            (_, Event::UpdatePending | Event::UpdateRunning | Event::Queue | Event::Enable) => {
                (state, true)
            }
            (State::Dead, Event::Submit) => (State::Pending, true),
            (_, Event::Submit) => (State::Pending, false),
            (State::Pending, Event::Schedule) => (State::Running, true),
            (_, Event::Schedule) => (State::Running, false),
            (State::Running, _) | (State::Pending, Event::Fail | Event::Kill | Event::Lost) => {
                (State::Dead, true)
            }
            (State::Pending | State::Dead, _) => (State::Dead, false),
        };
        if !legal {
            let while_ = match state {
                State::Dead => "dead",
                State::Pending => "pending",
                State::Running => "running",
            };
            *counts.entry(format!("{} while {while_}", event.name())).or_default() += 1;
        }
        state = next;
    }
}

/// Counts the groups of consecutive events at one instant: all groups, and those after time 0.
pub(super) fn count_ties(times: impl Iterator<Item = i64>) -> (u64, u64) {
    let (mut all, mut after_zero) = (0, 0);
    let (mut previous, mut in_group) = (None, false);
    for time in times {
        let tied = previous == Some(time);
        if tied && !in_group {
            all += 1;
            after_zero += u64::from(time > 0);
        }
        in_group = tied;
        previous = Some(time);
    }
    (all, after_zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(digits: &str) -> impl Iterator<Item = Event> {
        use Event::{
            Evict, Fail, Finish, Kill, Lost, Schedule, Submit, UpdatePending, UpdateRunning,
        };
        let all = [Submit, Schedule, Evict, Fail, Finish, Kill, Lost, UpdatePending, UpdateRunning];
        digits.bytes().map(move |digit| all[usize::from(digit - b'0')])
    }

    #[test]
    fn the_last_event_that_is_no_update_gives_the_class() {
        for (digits, class) in [
            ("014", "finished"),
            ("018", "running"),
            ("018888", "running"),
            ("013014", "finished"),
            ("0130", "pending"),
            ("0148", "finished"),
            ("05", "killed"),
            ("012", "evicted"),
            ("016", "lost"),
        ] {
            assert_eq!(TERMINAL_CLASSES[terminal_class(events(digits))], class, "{digits}");
        }
    }

    #[test]
    fn transitions_outside_the_state_machine_are_counted() {
        for (digits, expected) in [
            ("014", None),
            ("05", None),
            ("0712014", None),
            ("02014", Some("EVICT while pending")),
            ("0114", Some("SCHEDULE while running")),
            ("0014", Some("SUBMIT while pending")),
            ("0144", Some("FINISH while dead")),
        ] {
            let mut counts = BTreeMap::new();
            count_illegal(events(digits), &mut counts);
            assert_eq!(counts.keys().map(String::as_str).next(), expected, "{digits}");
            assert!(counts.values().sum::<u64>() <= 1, "{digits}");
        }
    }

    #[test]
    fn ties_are_counted_by_group() {
        assert_eq!(count_ties([0, 0, 5, 5, 5, 6, 7, 7].into_iter()), (3, 2));
        assert_eq!(count_ties([].into_iter()), (0, 0));
    }
}

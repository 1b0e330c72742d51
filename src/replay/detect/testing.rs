//! Groups drawn as text, for tests.
//!
//! In: one line per task, a column every 5 s. Out: a [`Group`], built as from a lake. `S` submits,
//! `[` schedules, `F` finishes, `X` fails, `K` kills, `E` evicts, `Z` schedules and finishes in the
//! same instant; other characters only make the drawing readable. The window ends with the longest
//! line.

use super::groups::{Group, GroupBuilder};
use super::progress::{ProgressModel, Work};
use super::walk::{Beats, WalkPlan};
use crate::facts::events::Event;
use crate::facts::tasks::{Attempt, EndedBy, TaskView, Window};
use crate::facts::window::{OpenAttempts, Windows};
use crate::schema::EventType;
use crate::units::MICROS_PER_SECOND;

/// Seconds per column.
const COLUMN_S: i64 = 5;

/// A task as events: time in µs, and number of the type.
#[derive(Clone, Debug)]
pub(super) struct Story {
    /// The index of the task.
    pub index: i32,
    /// The events, in order.
    pub events: Vec<(i64, u8)>,
    /// The usage windows: start, end and rate.
    pub windows: Vec<Window>,
}

/// A walk with a heartbeat every 10 s.
pub(super) fn plan(progress: ProgressModel) -> WalkPlan {
    WalkPlan {
        heartbeat_us: 10 * MICROS_PER_SECOND,
        progress,
        work: Work::Slots,
        noise: 0.0,
        seed: 1,
        beats: Beats::Needed,
    }
}

/// Reads a drawing.
pub(super) fn stories(lines: &[&str]) -> Vec<Story> {
    (0..)
        .zip(lines)
        .map(|(index, line)| {
            let mut events = Vec::new();
            for (column, mark) in (0..).zip(line.bytes()) {
                let kinds: &[u8] = match mark {
                    b'S' => &[0],
                    b'[' => &[1],
                    b'E' => &[2],
                    b'X' => &[3],
                    b'F' => &[4],
                    b'K' => &[5],
                    b'Z' => &[1, 4],
                    _ => &[],
                };
                let time_us = column * COLUMN_S * MICROS_PER_SECOND;
                events.extend(kinds.iter().map(|&kind| (time_us, kind)));
            }
            Story { index, events, windows: Vec::new() }
        })
        .collect()
}

/// Builds the single group of `stories`, with a window from `first_us` to `end_us`.
pub(super) fn group_of(stories: &[Story], first_us: i64, end_us: i64) -> Group {
    let windows = Windows {
        job_end_us: end_us,
        task_end_us: end_us,
        first_us,
        open_attempts: OpenAttempts::default(),
    };
    let mut builder = GroupBuilder::new(windows);
    for story in stories {
        let mut events = Vec::new();
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut is_open = false;
        for (row, &(time_us, number)) in (0_u32..).zip(&story.events) {
            let event_type = EventType::of(number).expect("stories hold known events");
            events.push(Event { time_us, row_id: i64::from(row), event_type, row });
            let is_start = event_type == EventType::Schedule;
            if !is_start && !event_type.is_terminal() {
                continue;
            }
            if is_open {
                let open = attempts.last_mut().expect("one is open");
                (open.end_us, open.ended_by) = (time_us, EndedBy::Event(event_type));
            }
            is_open = is_start;
            if is_start {
                attempts.push(Attempt {
                    row: 0,
                    start_us: time_us,
                    end_us,
                    ended_by: EndedBy::Nothing,
                    cpu_request: None,
                    memory: None,
                    gpus: None,
                    cpu_used: None,
                    requested_us: None,
                    ran_us: None,
                    machine_id: Some(i64::from(story.index.rem_euclid(3))),
                });
            }
        }
        builder.add(&TaskView {
            job_id: 7,
            task_index: story.index,
            events: &events,
            attempts: &attempts,
            windows: &story.windows,
            priority: 0,
            phase: None,
            requested_us: None,
            job_end_us: None,
        });
    }
    builder.build().next().expect("there is a task")
}

/// Builds a drawn group; the window begins at 0.
pub(super) fn drawn(lines: &[&str]) -> Group {
    let columns = lines.iter().map(|line| line.len() - 1).max().expect("there is a line");
    let end_us = i64::try_from(columns).expect("short") * COLUMN_S * MICROS_PER_SECOND;
    group_of(&stories(lines), 0, end_us)
}

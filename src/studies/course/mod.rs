//! Ten questions that courses ask about the trace of 2011: the native version of `q23` to `q32`.
//!
//! In: a lake. Out: for each question rows of measure, group, numerator, denominator and value, as
//! the queries define them. Tests compare both versions. Buckets are added up one by one and merged
//! in order, so the results do not depend on the number of threads.

use serde::Serialize;

use crate::facts::FactError;
use crate::facts::machines::MachineEvents;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;

mod fold;
mod machines;
mod sums;

/// Number of questions.
pub const COUNT: usize = 10;

/// A number in an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What is counted.
    pub measure: String,
    /// Class, priority or capacity; -1 for all, -2 if unknown.
    pub group_key: f64,
    /// The numerator of a share, or the sum of a mean.
    pub part: Option<f64>,
    /// The denominator of a share, or the number of values in a mean.
    pub whole: f64,
    /// The share or number.
    pub value: Option<f64>,
}

/// The key of rows over all groups.
pub const ALL: i32 = -1;

/// The key of an unknown group.
pub const UNKNOWN: i32 = -2;

impl Row {
    /// A share.
    fn share(measure: &str, group_key: f64, part: f64, whole: f64) -> Self {
        let value = (0.0 < whole).then(|| part / whole);
        Self { measure: measure.to_owned(), group_key, part: Some(part), whole, value }
    }
}

/// The running tasks of an hour, and the evictions in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HourRow {
    /// Hour of the trace clock.
    pub hour: f64,
    /// CPU requested by running tasks, NCU-s.
    pub requested_s: f64,
    /// Running time of tasks, s.
    pub slots_s: f64,
    /// EVICT rows.
    pub evicted: f64,
}

/// The answers.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// By question; no rows if a table is missing.
    pub questions: [Vec<Row>; COUNT],
    /// The hours in which anything happened.
    pub hours: Vec<HourRow>,
}

/// Answers, in order, every question for which the lake has the tables.
///
/// # Errors
/// A table cannot be read.
pub fn answers(lake: &Lake, windows: Windows) -> Result<Answers, FactError> {
    let mut all = Answers::default();
    let answers = &mut all.questions;
    if lake.has(Table::MachineEvents) {
        let events = MachineEvents::read(lake)?;
        answers[0] = machines::capacities(&events);
        answers[1] = machines::lost(&events, windows);
    }
    let sums = fold::fold(lake, windows)?;
    all.hours = sums.hours();
    sums.write(lake, &all.hours, answers);
    for rows in answers {
        rows.sort_by(|one, other| {
            one.measure.cmp(&other.measure).then(one.group_key.total_cmp(&other.group_key))
        });
    }
    Ok(all)
}

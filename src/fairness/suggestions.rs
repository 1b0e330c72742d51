//! Suggestions that the administrator in the paper reads from figure 3, as data: users to limit for
//! the rest of the week, and users who came when capacity was free. All values use running usage,
//! interval by interval, regardless of when it is charged. So usage, ceiling and load are
//! comparable.
//!
//! ```text
//!  usage so far   ........____----''''   passes the ceiling early: hold back until the end
//!                 |<--- early --->|
//!  load           ############____#__    below the share that counts as free
//!  first use                       ^     came when capacity was free
//! ```

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::history::History;
use super::usage;
use crate::units::CpuTime;

/// The limits for too much, early, and free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The CPU-seconds of a user in the span above which usage is too much.
    pub ceiling_cpu_s: f64,
    /// The time before which passing the ceiling is early, s from the start.
    pub early_s: f64,
    /// The share of the capacity in use below which capacity is free.
    pub free_below: f64,
}

/// A user who passed the ceiling early.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heavy {
    /// The name.
    #[serde(serialize_with = "usage::known", deserialize_with = "usage::named")]
    pub user: String,
    /// The end of the interval in which the ceiling was passed, s.
    pub passed_at_s: f64,
    /// CPU-seconds until then.
    pub cpu_until_then_s: f64,
    /// CPU-seconds after that: the most that a limit would have freed.
    pub cpu_afterwards_s: f64,
}

/// A user who came when capacity was free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opportune {
    /// The name.
    #[serde(serialize_with = "usage::known", deserialize_with = "usage::named")]
    pub user: String,
    /// Start of the first interval with usage, s.
    pub first_use_s: f64,
    /// Share of the capacity in use in the interval before.
    pub load_before: f64,
    /// CPU-seconds in the span.
    pub cpu_s: f64,
}

/// The suggestions for an administrator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Suggestions {
    /// The limits used.
    pub limits: Limits,
    /// The source of the capacity.
    pub capacity: Cow<'static, str>,
    /// Users to hold back, the earliest first.
    pub hold_back: Vec<Heavy>,
    /// Users who came late in the span when capacity was free, the heaviest first.
    pub came_when_free: Vec<Opportune>,
}

/// Finds the suggestions for the shown intervals.
pub fn suggest(history: &History, limits: Limits) -> Suggestions {
    let load = load(history);
    let early = |interval: u32| history.seconds_at(interval + 1) <= limits.early_s;
    let mut hold_back = Vec::new();
    let mut came_when_free = Vec::new();
    for (person, steps) in history.people.iter().zip(usage::held_by_interval(history)) {
        let Some(&(first, _)) = steps.first() else { continue };
        let all_s = steps.iter().map(|step| step.1).sum::<CpuTime>().seconds();
        let mut so_far = CpuTime::ZERO;
        for &(interval, cpu) in steps.iter().take_while(|step| early(step.0)) {
            so_far += cpu;
            if limits.ceiling_cpu_s < so_far.seconds() {
                hold_back.push(Heavy {
                    user: person.name.clone(),
                    passed_at_s: history.seconds_at(interval + 1),
                    cpu_until_then_s: so_far.seconds(),
                    cpu_afterwards_s: all_s - so_far.seconds(),
                });
                break;
            }
        }
        let first_use_s = history.seconds_at(first);
        let before = first.checked_sub(history.shown_from + 1).map(|before| load[before as usize]);
        if let Some(load_before) = before
            && limits.early_s <= first_use_s
            && load_before < limits.free_below
        {
            let user = person.name.clone();
            came_when_free.push(Opportune { user, first_use_s, load_before, cpu_s: all_s });
        }
    }
    hold_back.sort_by(|one: &Heavy, other| one.passed_at_s.total_cmp(&other.passed_at_s));
    came_when_free.sort_by(|one: &Opportune, other| other.cpu_s.total_cmp(&one.cpu_s));
    let capacity = if history.capacity.is_empty() {
        "the busiest interval of the span, because there is no table of machines"
    } else {
        "machine_events"
    };
    Suggestions { limits, capacity: capacity.into(), hold_back, came_when_free }
}

/// The share of the capacity in use in each shown interval, from running usage, regardless of when
/// it is charged. Without a table of machines, the busiest interval counts as full.
pub fn load(history: &History) -> Vec<f64> {
    let count = (history.grid.count - history.shown_from) as usize;
    let mut used = vec![CpuTime::ZERO; count];
    for cell in history.shown() {
        used[(cell.interval - history.shown_from) as usize] += cell.held;
    }
    let busiest = used.iter().max().map_or(0.0, |most| most.seconds());
    used.iter()
        .enumerate()
        .map(|(idx, used)| {
            let known = history.capacity.get(history.shown_from as usize + idx);
            let capacity = known.map_or(busiest, |known| known.cpu * history.grid.length_s());
            if capacity == 0.0 { 0.0 } else { used.seconds() / capacity }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::samples::history;

    #[test]
    fn the_administrators_two_remarks() {
        //  heavy  |400|400|   |100|      early until the end of interval 1
        //  late   |   |   |   | 50|      after an empty interval
        //  also   |   |   | 10|   |      while... interval 1 was busy
        let history = history(&[
            ("also", &[0.0, 0.0, 10.0]),
            ("heavy", &[400.0, 400.0, 0.0, 100.0]),
            ("late", &[0.0, 0.0, 0.0, 50.0]),
        ]);
        let limits = Limits { ceiling_cpu_s: 500.0, early_s: 7200.0, free_below: 0.5 };
        let found = suggest(&history, limits);
        assert_eq!(found.hold_back.len(), 1);
        let heavy = &found.hold_back[0];
        assert_eq!((heavy.user.as_str(), heavy.passed_at_s), ("heavy", 7200.0));
        assert_eq!((heavy.cpu_until_then_s, heavy.cpu_afterwards_s), (800.0, 100.0));
        let names: Vec<&str> = found.came_when_free.iter().map(|user| user.user.as_str()).collect();
        assert_eq!(names, ["late"]);
        assert_eq!(load(&history), [1.0, 1.0, 0.025, 0.375]);
        let hasty = Limits { early_s: 3600.0, ..limits };
        assert!(suggest(&history, hasty).hold_back.is_empty(), "passed after that");
    }
}

//! `slowdown`: how equally the tasks of users are slowed down.
//!
//! The bounded slowdown of a task is max(1, response/max(run, 10 s)). The response is the time from
//! its submission to its end, and the run is the time that it ran; a suspension counts like a wait.
//! That of a user is the mean over the attempts that ended in the window, because at that time it
//! is unknown whether a task runs again. For all users together: the largest mean divided by the
//! smallest, and the coefficient of variation of the means.

use std::fmt;

use super::variation::variation;
use super::{Index, Readings};
use crate::fairness::FairnessError;
use crate::fairness::history::{History, Step};
use crate::fairness::indices::window::Held;
use crate::notation::{Notation, write_notation};

/// Mean bounded slowdown per user.
#[derive(Debug)]
pub struct Slowdown {
    window_s: f64,
    bound_s: f64,
    /// Sums, and the number of attempts, per user and interval.
    held: Held,
    people: usize,
}

impl Slowdown {
    pub(super) fn read(notation: &mut Notation) -> Result<Self, FairnessError> {
        let window_s = Held::read(notation)?;
        let bound_s = notation.number("bound_s", "a number of seconds", 10.0, 0.0..)?;
        Ok(Self { window_s, bound_s, held: Held::default(), people: 0 })
    }
}

impl fmt::Display for Slowdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_notation(f, "slowdown", &[("window_s", &self.window_s), ("bound_s", &self.bound_s)])
    }
}

impl Index for Slowdown {
    fn columns(&self) -> Vec<String> {
        ["slowdown", "attempts"].map(str::to_owned).into()
    }

    fn overall(&self) -> Vec<String> {
        ["max_to_min", "cv"].map(str::to_owned).into()
    }

    fn reads_ends(&self) -> bool {
        true
    }

    fn held_per_user(&self, length_s: f64) -> f64 {
        2.0 * Held::rows(self.window_s, length_s)
    }

    fn begin(&mut self, history: &History) -> Result<(), FairnessError> {
        self.held = Held::default();
        self.people = history.people.len();
        Ok(())
    }

    fn step(&mut self, step: &Step<'_>, out: &mut Readings) -> Result<(), FairnessError> {
        let mut row = vec![0.0; self.people * 2];
        for end in step.ends {
            let idle_s = end.wait_s + end.suspended_s;
            row[end.who as usize * 2] += bounded_slowdown(idle_s, end.run_s, self.bound_s);
            row[end.who as usize * 2 + 1] += 1.0;
        }
        let sums = self.held.add(row, step.length_s, self.window_s);
        let mut means = Vec::new();
        for (who, sums) in sums.chunks_exact(2).enumerate() {
            let mean = sums[0] / sums[1];
            if !mean.is_nan() {
                means.push(mean);
            }
            out.put(who, [mean, sums[1]]);
        }
        let largest = means.iter().copied().fold(f64::NAN, f64::max);
        let smallest = means.iter().copied().fold(f64::NAN, f64::min);
        out.overall.copy_from_slice(&[largest / smallest, variation(&means).unwrap_or(f64::NAN)]);
        Ok(())
    }
}

/// max(1, (wait + run)/max(run, bound)); a suspension is a part of the wait. It is 1 for a task
/// that neither waited nor ran.
pub fn bounded_slowdown(wait_s: f64, run_s: f64, bound_s: f64) -> f64 {
    let length = run_s.max(bound_s);
    if length == 0.0 {
        return if wait_s == 0.0 { 1.0 } else { f64::INFINITY };
    }
    ((wait_s + run_s) / length).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::history::AttemptEnd;
    use crate::fairness::indices::parse;
    use crate::fairness::samples::history;

    #[test]
    fn the_worked_example() {
        assert_eq!(bounded_slowdown(30.0, 5.0, 0.0), 7.0);
        assert_eq!(bounded_slowdown(30.0, 5.0, 10.0), 3.5);
        assert_eq!(bounded_slowdown(0.0, 5.0, 10.0), 1.0);
        assert_eq!(bounded_slowdown(0.0, 0.0, 0.0), 1.0);
    }

    #[test]
    fn users_are_compared_by_their_means() {
        let mut history = history(&[("a", &[1.0]), ("b", &[1.0]), ("c", &[1.0])]);
        let end =
            |who, wait_s| AttemptEnd { interval: 0, who, wait_s, run_s: 10.0, suspended_s: 0.0 };
        history.ends = vec![end(0, 10.0), end(0, 30.0), end(1, 50.0)];
        let mut index = parse("slowdown").unwrap();
        index.begin(&history).unwrap();
        let mut out = Readings::of(index.as_ref(), 3);
        history.steps(|step| index.step(step, &mut out)).unwrap();
        assert_eq!(out.users[..4], [3.0, 2.0, 6.0, 1.0]);
        assert!(out.users[4].is_nan(), "a user without an ended task has no slowdown");
        assert_eq!(out.overall[0], 2.0);
        // A suspension counts like a wait.
        history.ends = vec![AttemptEnd { suspended_s: 30.0, ..end(0, 10.0) }];
        index.begin(&history).unwrap();
        history.steps(|step| index.step(step, &mut out)).unwrap();
        assert_eq!(out.users[..2], [5.0, 1.0]);
    }
}

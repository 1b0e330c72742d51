//! Mantri (Ananthanarayanan et al., OSDI'10): restarts or copies if that saves time and resources.
//!
//! The length of a new attempt is that of one of the group's finished attempts, each equally
//! likely; the time left of a running one is its estimated length (age / progress, smoothed) minus
//! its age. While tasks wait for slots, an attempt is restarted if its time left exceeds the mean
//! length of a new one plus a report period, or else copied if a copy probably saves resources.
//! While slots are idle, it is copied if that saves more than a few report periods.
//!
//! Based on notes, not on the paper itself: the sign of the idle rule follows the paper's prose,
//! and the report period is the smaller of 10 s and a tenth of a task's length. Differences: traces
//! have no input sizes and places, so lengths are not scaled by them; pruning to `alpha` copies is
//! left out, because no attempt gets more than one copy here, and no task a second one. Estimates
//! are whole microseconds; among equal gains the lower task index comes first.

use std::sync::Arc;

use super::support::{count_as_f64, entry, keep_first};
use super::{
    Action, Detector, Ended, Family, Flag, GroupInfo, Kind, Outlook as Reports, Plan, Progress,
    Running, Scene,
};
use crate::notation::{Notation, NotationError};

/// The description of the detector.
pub(super) const KIND: Kind = Kind {
    name: "mantri",
    about: "Mantri: restarts or copies, by remaining time compared with the lengths of finished tasks",
    curve: ("rho", &["30", "10", "5", "3", "1", "0"]),
    family: Family::Others,
    steers: false,
    #[cfg(test)]
    variants: &[
        "gamma=1,delta=0.1,smooth=1,report_s=1",
        "alpha=1",
        "report_s=2",
        "gamma=1,delta=0.1,smooth=1,report_s=1,rho=0",
        "report_s=3,budget=0.2",
    ],
    read: |notation| Ok(Arc::new(Config::read(notation)?)),
};

#[derive(Clone, Copy, Debug)]
struct Config {
    /// Maximum restarts of a task; 3.
    gamma: u32,
    /// Probability of saving resources above which a copy is made while tasks wait; 0.25.
    delta: f64,
    /// Report periods that a copy must save while slots are idle; 3.
    rho: f64,
    /// Simultaneous attempts of a task; 2. With 1 there are no copies; above 2 it acts like 2.
    alpha: u32,
    /// The longest report period, s; 10.
    report_s: f64,
    /// Weight of the last report in the estimated length; 0.5 is our choice, 1 means no smoothing.
    smooth: f64,
}

impl Config {
    fn read(notation: &mut Notation) -> Result<Self, NotationError> {
        let seconds = "a time in seconds above 0";
        let some = |value: &u32| 0 < *value;
        Ok(Self {
            gamma: notation.take("gamma", "a count of restarts", 3)?,
            delta: notation.number("delta", "a probability", 0.25, 0.0..=1.0)?,
            rho: notation.number("rho", "a number of at least 0", 3.0, 0.0..)?,
            alpha: notation.take_if("alpha", "a count of at least 1", 2, some)?,
            report_s: notation.number("report_s", seconds, 10.0, 1e-6..)?,
            smooth: notation.number("smooth", "a share above 0, at most 1", 0.5, 1e-9..=1.0)?,
        })
    }

    /// Decides about an attempt with `left_s` to go and `copies` running in all.
    fn decide(&self, outlook: &Outlook, left_s: f64, copies: u32) -> Decision {
        let may_copy = copies < self.alpha.max(1);
        if !outlook.is_short_of_slots {
            let saves = self.rho * outlook.period_s < left_s - outlook.mean_s;
            return if saves && may_copy { Decision::Copy } else { Decision::Leave };
        }
        if outlook.mean_s + outlook.period_s < left_s {
            return Decision::Restart;
        }
        decide_copy(outlook, left_s, copies, may_copy)
    }
}

fn decide_copy(outlook: &Outlook, left_s: f64, copies: u32, may: bool) -> Decision {
    if may && outlook.saves(left_s, copies) { Decision::Copy } else { Decision::Leave }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Leave,
    Copy,
    Restart,
}

/// Microseconds as a float, for smoothing.
#[expect(clippy::cast_precision_loss, reason = "a length is far below 2^53 µs")]
fn as_f64(micros: i64) -> f64 {
    micros as f64
}

/// The expected length of a new attempt.
#[derive(Clone, Copy, Debug)]
struct Outlook {
    /// The least length, µs, such that more than a share [`Config::delta`] of the finished attempts
    /// are at most as long; infinite if there is none.
    probable_us: f64,
    mean_s: f64,
    period_s: f64,
    is_short_of_slots: bool,
}

impl Outlook {
    /// Whether P(left > new * (c + 1) / c) with c copies running, the chance that total resource
    /// use falls, is above [`Config::delta`].
    fn saves(&self, left_s: f64, copies: u32) -> bool {
        let copies = f64::from(copies);
        self.probable_us < left_s * 1e6 * copies / (copies + 1.0)
    }
}

/// The least of `lengths_us` (ascending) such that more than a share `delta` of them are at most as
/// long.
fn probable_us(lengths_us: &[i64], delta: f64) -> f64 {
    let all = count_as_f64(lengths_us.len());
    let (mut low, mut high) = (0, lengths_us.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if delta < count_as_f64(middle + 1) / all { high = middle } else { low = middle + 1 }
    }
    lengths_us.get(low).copied().map_or(f64::INFINITY, as_f64)
}

impl Plan for Config {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Mantri {
            config: *self,
            attempts: Vec::new(),
            restarts: Vec::new(),
            gains: Vec::new(),
        })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("gamma", self.gamma.to_string()),
            ("delta", self.delta.to_string()),
            ("rho", self.rho.to_string()),
            ("alpha", self.alpha.to_string()),
            ("report_s", self.report_s.to_string()),
            ("smooth", self.smooth.to_string()),
        ]
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    /// Smoothed estimate of its length, µs; `None` before it has progressed.
    length_us: Option<f64>,
    reported_us: i64,
    /// The decision at the last call.
    decision: Option<Action>,
    /// Whether a restart was requested.
    was_restarted: bool,
}

struct Mantri {
    config: Config,
    attempts: Vec<Attempt>,
    /// The restarts of each task that were carried out.
    restarts: Vec<u32>,
    gains: Vec<(f64, usize)>,
}

impl Mantri {
    /// Reads a report; returns the time left now, s. If reports stop, no progress is assumed.
    fn left_s(&mut self, running: &Running, now_us: i64) -> Option<f64> {
        let attempt = entry(&mut self.attempts, running.attempt);
        let is_new = attempt.reported_us < running.reported_us && running.has_progress;
        if let Some(estimate) = running.estimated_length_us().filter(|_| is_new).map(as_f64) {
            let smooth = self.config.smooth;
            // A constant estimate leaves the smoothed value unchanged.
            let smoothed = |before: f64| before + smooth * (estimate - before);
            attempt.length_us = Some(attempt.length_us.map_or(estimate, smoothed));
            attempt.reported_us = running.reported_us;
        }
        let mut length_us = attempt.length_us?;
        let age_us = now_us - running.start_us;
        if running.reported_us < now_us && running.progress < Progress::ALL {
            let silent_us = u64::try_from(age_us).ok().and_then(|us| running.length_us(us));
            length_us = length_us.max(silent_us.map_or(f64::INFINITY, as_f64));
        }
        Some(((length_us - as_f64(age_us)) / 1e6).max(0.0))
    }
}

impl Detector for Mantri {
    fn ended(&mut self, end: &Ended) {
        if entry(&mut self.attempts, end.attempt).was_restarted {
            *entry(&mut self.restarts, end.task) += 1;
        }
    }

    /// A lone task has no finished task to compare with.
    fn judges_lone_tasks(&self) -> bool {
        false
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let mean_s = scene.finished.mean_s();
        let outlook = mean_s.map(|mean_s| Outlook {
            probable_us: probable_us(scene.finished.lengths_us(), self.config.delta),
            mean_s,
            period_s: self.config.report_s.min(mean_s / 10.0),
            is_short_of_slots: 0 < scene.waiting,
        });
        self.gains.clear();
        for (position, running) in scene.running.iter().enumerate() {
            let Some(left_s) = self.left_s(running, scene.now_us) else { continue };
            let Some(outlook) = &outlook else { continue };
            if running.has_copy {
                continue;
            }
            let restarts = *entry(&mut self.restarts, running.task);
            let decision = match self.config.decide(outlook, left_s, 1) {
                Decision::Restart if self.config.gamma <= restarts => {
                    decide_copy(outlook, left_s, 1, 1 < self.config.alpha)
                }
                decision => decision,
            };
            let action = match decision {
                Decision::Restart => Some(Action::Restart),
                Decision::Copy if !running.was_copied => Some(Action::Copy),
                Decision::Copy | Decision::Leave => None,
            };
            if action.is_some() {
                self.gains.push((left_s - outlook.mean_s, position));
            }
            entry(&mut self.attempts, running.attempt).decision = action;
        }
        let task = |position: usize| scene.running[position].task;
        keep_first(&mut self.gains, scene.running.len(), |one, other| {
            other.0.total_cmp(&one.0).then_with(|| task(one.1).cmp(&task(other.1)))
        });
        let mut room = scene.free_slots;
        for &(_, position) in &self.gains {
            let attempt = entry(&mut self.attempts, scene.running[position].attempt);
            match attempt.decision {
                Some(Action::Restart) => {
                    attempt.was_restarted = true;
                    flags.push(Flag::restart(position));
                }
                Some(Action::Copy) if 0 < room => {
                    room -= 1;
                    flags.push(Flag::copy(position));
                }
                Some(Action::Copy) | None => {}
            }
        }
    }

    /// While estimates stay constant, the time left falls, and every rule requires more of it.
    fn quiet_until_us(&self, scene: &Scene<'_>, reports: Reports) -> i64 {
        if reports.is_done_with(scene) {
            return i64::MAX;
        }
        let is_smooth = |running: &Running| {
            let attempt = self.attempts.get(running.attempt as usize);
            running.estimated_length_us().filter(|_| running.has_progress).map(as_f64)
                == attempt.and_then(|attempt| attempt.length_us)
        };
        let is_quiet = scene.running.iter().all(is_smooth);
        if is_quiet { reports.steady_until_us } else { scene.now_us }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Group;
    use super::*;

    fn config(text: &str) -> Config {
        Config::read(&mut Notation::parse("detector", text).unwrap()).unwrap()
    }

    /// A new attempt takes 60, 80, 120 or 150 s.
    const LENGTHS_US: &[i64] = &[60_000_000, 80_000_000, 120_000_000, 150_000_000];

    fn outlook_of(is_short_of_slots: bool, delta: f64) -> Outlook {
        let probable_us = probable_us(LENGTHS_US, delta);
        Outlook { probable_us, mean_s: 102.5, period_s: 10.0, is_short_of_slots }
    }

    fn outlook(is_short_of_slots: bool) -> Outlook {
        outlook_of(is_short_of_slots, 0.25)
    }

    #[test]
    fn the_example_comes_out() {
        let mantri = config("mantri:alpha=3");
        assert_eq!(mantri.decide(&outlook(true), 200.0, 1), Decision::Restart, "200 > 112.5");
        assert_eq!(mantri.decide(&outlook(true), 112.5, 1), Decision::Leave, "P(new < 56.25) = 0");
        // P(new < 100) = 0.5 and P(new < 133.3) = 0.75; a probability equal to `delta` is not above
        // it.
        for (copies, chance) in [(1, 0.5), (2, 0.75)] {
            assert!(outlook_of(true, chance - 0.01).saves(200.0, copies));
            assert!(!outlook_of(true, chance).saves(200.0, copies));
        }
        assert_eq!(decide_copy(&outlook(true), 200.0, 1, true), Decision::Copy);
        assert_eq!(decide_copy(&outlook(true), 200.0, 2, true), Decision::Copy);
        assert_eq!(mantri.decide(&outlook(false), 200.0, 1), Decision::Copy, "97.5 > 30");
        assert_eq!(mantri.decide(&outlook(false), 132.5, 1), Decision::Leave, "30 > 30 is not");
        assert_eq!(config("mantri:alpha=1").decide(&outlook(false), 200.0, 1), Decision::Leave);
    }

    /// Lengths of 60, 80, 120 and 150 s; two attempts with 200 and 250 s left at 160 s.
    fn group(text: &str) -> Group {
        let mut group = Group::of(text, 6);
        for (task, length_s) in (0..).zip([60, 80, 120, 150]) {
            group.run(task, 0, 0.0).stop(task, length_s);
        }
        group.run(4, 110, 0.2).run(5, 110, 50.0 / 300.0);
        group
    }

    #[test]
    fn copies_while_slots_are_idle_restarts_while_tasks_wait() {
        let mut idle = group("mantri");
        assert_eq!(idle.flags(160), [Flag::copy(1), Flag::copy(0)], "the larger gain first");
        idle.free_slots = 1;
        assert_eq!(idle.flags(160), [Flag::copy(1)]);
        let mut busy = group("mantri");
        busy.waiting = 1;
        assert_eq!(busy.flags(160), [Flag::restart(1), Flag::restart(0)]);
    }

    #[test]
    fn a_task_is_restarted_a_few_times_and_then_copied() {
        let mut group = group("mantri:gamma=2");
        group.waiting = 1;
        for restart in 0..3 {
            let flags = group.flags(160 + restart);
            let expected = if restart < 2 { Flag::restart(1) } else { Flag::copy(1) };
            assert!(flags.contains(&expected), "restart {restart}: {flags:?}");
            let attempt = group.running[1].attempt;
            group.detector.ended(&Ended {
                attempt,
                task: 5,
                machine: 0,
                start_us: 0,
                end_us: 1,
                how: super::super::End::Killed,
            });
            group.running[1].attempt = attempt + 10;
        }
    }

    #[test]
    fn estimates_are_smoothed_and_silence_is_no_progress() {
        let mut mantri = Mantri {
            config: config("mantri"),
            attempts: Vec::new(),
            restarts: Vec::new(),
            gains: Vec::new(),
        };
        let mut group = group("none");
        let mut left_s = |progress, reported_s: i64, now_s: i64| {
            let running = &mut group.running[0];
            running.start_us = 0;
            running.progress = Progress::of_value(progress);
            running.reported_us = reported_s * 1_000_000;
            mantri.left_s(running, now_s * 1_000_000)
        };
        assert_eq!(left_s(0.0, 5, 5), None);
        assert_eq!(left_s(0.25, 10, 10), Some(30.0));
        assert_eq!(left_s(0.25, 20, 20), Some(40.0), "half of 40 and half of 80, less 20");
        assert_eq!(left_s(0.25, 20, 40), Some(120.0), "no report for 20 s");
    }
}

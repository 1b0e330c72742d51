//! Straggler detectors, one file each, and what they are told.
//!
//! In: at each heartbeat a [`Scene`] of one group (the tasks of one phase of one job): its running
//! attempts with their last reported progress, and what has ended so far. Out: [`Flag`]s on
//! attempts that are worth a copy or a restart. A detector knows nothing of the future and never
//! sees an attempt that has ended; its caller (a walk over history, or a simulated cluster) carries
//! its flags out, or only records them.
//!
//! A detector has to [judge](Detector::judge). To be skipped where it has nothing to say, it says
//! until when it stays [quiet](Detector::quiet_until_us), and may say when it does not look at
//! [reports](Detector::reads_reports); tests compare its flags with those at every heartbeat. Once
//! it has flagged all that runs, a detector of the list has to be quiet for good: tests walk it
//! past tasks of thirty thousand years, and never return otherwise.
//!
//! `support.rs` has what several detectors need, `testing.rs` a group that tests drive by hand, and
//! `suite.rs` what every detector must hold to.

use std::fmt;
use std::sync::Arc;

use crate::notation::{Notation, NotationError};
use serde::{Deserialize, Serialize};

mod changepoint;
mod criterion;
mod cubed;
mod finished;
mod flink;
mod google;
mod hadoop;
mod histogram;
mod late;
mod late021;
mod limits;
mod mantri;
mod none;
mod oracle;
mod poisson;
mod progress;
mod spark;
mod support;
mod tqst;
mod written;
mod yarn;
mod ytsaurus;

pub use finished::Finished;
pub use limits::Limits;
pub use progress::Progress;
pub use written::DetectorPlan;

/// No machine is known.
pub const NO_MACHINE: u32 = u32::MAX;

/// A running attempt, as it is known at a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    /// The attempt's number within its group, in order of (start, task), from 0.
    pub attempt: u32,
    /// The task's position within its group.
    pub task: u32,
    /// The machine's number; [`NO_MACHINE`] where it is unknown.
    pub machine: u32,
    /// When it was started, µs.
    pub start_us: i64,
    /// Progress at the last report; none while nothing is known.
    pub progress: Progress,
    /// When that report was made, µs.
    pub reported_us: i64,
    /// Whether there is a progress report at all: not before the first, nor for work whose
    /// progress nobody can tell yet.
    pub has_progress: bool,
    /// Whether a copy of it runs; true of the copy, too, while both run. In history, whether it has
    /// been flagged: it stays so until it ends.
    pub has_copy: bool,
    /// Whether its task has ever been given a copy, this attempt or an earlier one.
    pub was_copied: bool,
}

impl Running {
    /// How long it has been running at `now_us`, s.
    pub fn age_s(&self, now_us: i64) -> f64 {
        crate::units::micros_to_seconds(now_us - self.start_us)
    }

    /// Its age at the last report, µs.
    fn reported_age_us(&self) -> u64 {
        u64::try_from(self.reported_us - self.start_us).unwrap_or(0)
    }

    /// Its length if it has made its progress in `age_us`: age / progress to the nearest µs, so
    /// that equal rates give equal lengths; `None` while it has not progressed.
    fn length_us(&self, age_us: u64) -> Option<i64> {
        let (done, total) = (self.progress.done(), self.progress.total());
        // A walk counts linear progress in half microseconds of age: half the total, to the nearest.
        if 0 < done && age_us.checked_mul(2) == Some(done) {
            return Some(i64::try_from(total.div_ceil(2)).unwrap_or(i64::MAX));
        }
        if 0 < done && age_us == done {
            return Some(i64::try_from(total).unwrap_or(i64::MAX));
        }
        // What is nearly done stays at 99 %: a constant is quicker to divide by.
        if (done, total) == (99, 100)
            && let Some(whole) = age_us.checked_mul(100)
        {
            return Some(i64::try_from((whole + 49) / 99).unwrap_or(i64::MAX));
        }
        // Nearly always 64 bits are enough, and quicker to divide.
        if let Some(whole) = age_us.checked_mul(total).and_then(|whole| whole.checked_add(done / 2))
        {
            return Some(i64::try_from(whole.checked_div(done)?).unwrap_or(i64::MAX));
        }
        let done = u128::from(done);
        let whole = u128::from(age_us) * u128::from(total);
        let length_us = (whole + done / 2).checked_div(done)?;
        Some(i64::try_from(length_us).unwrap_or(i64::MAX))
    }

    /// Its estimated length by the last report, µs.
    fn estimated_length_us(&self) -> Option<i64> {
        self.length_us(self.reported_age_us())
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It did its work.
    Finished,
    /// It failed, or was evicted or lost.
    Failed,
    /// Its user killed it.
    Killed,
}

/// An attempt that has just ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The attempt.
    pub attempt: u32,
    /// Its task.
    pub task: u32,
    /// Where it ran.
    pub machine: u32,
    /// When it was started, µs.
    pub start_us: i64,
    /// When it ended, µs.
    pub end_us: i64,
    /// How.
    pub how: End,
}

impl Ended {
    /// How long it ran, µs.
    pub fn length_us(&self) -> i64 {
        self.end_us - self.start_us
    }
}

/// What is known of a group at a heartbeat.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The time, µs.
    pub now_us: i64,
    /// When the group's first task was submitted, µs.
    pub begun_us: i64,
    /// The running attempts, by (start, task). In a replay, copies are among them, begin and end
    /// like all others; in history there are none.
    pub running: &'a [Running],
    /// The attempts that have finished.
    pub finished: &'a Finished,
    /// Tasks submitted so far.
    pub task_count: u32,
    /// Tasks that wait for a machine.
    pub waiting: u32,
    /// Tasks that are over: finished, or failed or killed and not submitted again.
    pub over: u32,
    /// Slots that the group may use; where nobody knows, the most it has used at once so far.
    pub slots: u32,
    /// Copies that may be started now; `u32::MAX` where nothing limits them.
    pub free_slots: u32,
    /// Copies that run.
    pub copies: u32,
}

/// What is to be done with a flagged attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Start a copy beside it.
    Copy,
    /// Kill it and start its task anew.
    Restart,
}

/// A detector's word on one running attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Position in [`Scene::running`].
    pub position: usize,
    /// What is to be done.
    pub action: Action,
}

impl Flag {
    /// A copy of the attempt at `position`.
    pub fn copy(position: usize) -> Self {
        Self { position, action: Action::Copy }
    }

    /// A restart of the attempt at `position`.
    pub fn restart(position: usize) -> Self {
        Self { position, action: Action::Restart }
    }
}

/// How reports continue while nothing begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Until when every attempt that has progress continues at the rate of its last report, and no
    /// other one gets any, if nothing begins or ends, µs; the time now where nobody can say.
    pub steady_until_us: i64,
    /// Time between two heartbeats, µs.
    pub heartbeat_us: i64,
    /// Whether every running attempt has progress and reports the same share of its work, which is
    /// not all of it, for as long as nothing begins or ends: only ages grow. A detector that is
    /// quiet is then asked at the last [`HEARD_AGAIN`](Self::HEARD_AGAIN) heartbeats before
    /// something does, so that it knows the last reports.
    pub is_stalled: bool,
}

impl Outlook {
    /// How many heartbeats in a row a quiet detector is asked at before something begins or ends.
    pub const HEARD_AGAIN: i64 = 8;

    /// Until when a detector is quiet that flags no attempt twice: for as long as all that runs is
    /// flagged and continues reporting the same.
    pub fn is_done_with(&self, scene: &Scene<'_>) -> bool {
        self.is_stalled && scene.running.iter().all(|running| running.has_copy)
    }
}

/// How a machine stands in the eyes of a detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may do anything.
    Normal,
    /// It should run no copies.
    Slow,
    /// It should get nothing but probes: copies of which nobody takes the result.
    VerySlow,
}

/// A detector at work on one group.
pub trait Detector: Send {
    /// An attempt has begun. Called in order of time, together with [`ended`](Self::ended), before
    /// the heartbeat that shows it. What begins and ends in one instant comes in any order.
    fn started(&mut self, _attempt: u32, _task: u32, _start_us: i64) {}

    /// An attempt has ended. Called in order of time, before the next heartbeat; the scene's
    /// [`Finished`] holds it by then.
    fn ended(&mut self, _end: &Ended) {}

    /// Judges the scene and adds its flags, the most urgent first, at most one per attempt and no
    /// more copies than [`free_slots`](Scene::free_slots). Whom a limit leaves out follows from the
    /// rule, not from how tasks are numbered: position decides only among equals. An attempt that
    /// has a copy may be flagged again only to restart it.
    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>);

    /// Whether it can ever flag the task of a group of one, or asks for probes. Where it does not,
    /// such groups need no heartbeats in a replay.
    fn judges_lone_tasks(&self) -> bool {
        true
    }

    /// Until when the detector flags no attempt that it has not flagged by now, if nothing begins
    /// or ends: heartbeats before that time may be left out, and leaving them out changes nothing
    /// later. The time now asks again at the next heartbeat, `i64::MAX` not before something begins
    /// or ends. `outlook` says how reports continue: a rule about ages alone needs none of it, and
    /// is quiet until the first attempt that it may flag is old enough. Asked after
    /// [`judge`](Self::judge), whose flags have been carried out; by default not beyond now.
    fn quiet_until_us(&self, scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        scene.now_us
    }

    /// Whether [`judge`](Self::judge) looks at the running attempts of such a scene, which are not
    /// filled in. Where not, it does nothing, now and until something begins or ends or
    /// [`slots`](Scene::slots) or [`free_slots`](Scene::free_slots) change.
    fn reads_reports(&self, _scene: &Scene<'_>) -> bool {
        true
    }

    /// Whether a change of [`Scene::slots`] alone may bring a flag that [`judge`](Self::judge) has
    /// just not given: what [`quiet_until_us`](Self::quiet_until_us) has said holds no longer then.
    fn heeds_slots(&self, _scene: &Scene<'_>) -> bool {
        false
    }

    /// Whether a copy may run on `machine`, which is free now.
    fn suits(&self, _scene: &Scene<'_>, _machine: u32) -> bool {
        true
    }

    /// How `machine`, which is free now, stands.
    fn standing(&self, _scene: &Scene<'_>, _machine: u32) -> Standing {
        Standing::Normal
    }

    /// Lists the machines that stand as very slow, in order of number: those that are probed.
    fn very_slow(&self, _scene: &Scene<'_>, _machines: &mut Vec<u32>) {}

    /// A probe has run on `machine` at `speed` tasks per second.
    fn probed(&mut self, _machine: u32, _speed: f64) {}
}

/// What a detector is told about its group before the first heartbeat.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupInfo<'a> {
    /// The truth, for [`oracle`](self) alone: by attempt, whether its task straggles.
    pub straggles: Option<&'a [bool]>,
    /// Speeds of machines that are known from earlier jobs, tasks per second.
    pub speeds: &'a [(u32, f64)],
}

/// A detector with its parameters, ready to be put to work on groups.
pub trait Plan: fmt::Debug + Send + Sync {
    /// A detector for one group.
    fn build(&self, group: &GroupInfo<'_>) -> Box<dyn Detector>;

    /// Its parameters as they are written, all of them, in the order of their definition; none by
    /// default.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Detectors that are drawn in one chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Those of Hadoop, what they were made of and what was made of them.
    Hadoop,
    /// All others.
    Others,
}

/// What is known of a detector by its name alone.
#[derive(Debug)]
pub struct Kind {
    /// The name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The parameter that trades precision for recall with values from cautious to eager; empty
    /// where there is none.
    pub curve: (&'static str, &'static [&'static str]),
    /// Those that it is drawn with.
    pub family: Family,
    /// Whether it keeps tasks from machines ([`Detector::standing`], [`Detector::very_slow`]): it is
    /// then asked about each task and machine in turn.
    pub steers: bool,
    /// Parameters under which it decides in other ways than along its curve, for tests.
    #[cfg(test)]
    pub variants: &'static [&'static str],
    read: fn(&mut Notation) -> Result<Arc<dyn Plan>, NotationError>,
}

/// Every detector.
pub const KINDS: &[Kind] = &[
    none::KIND,
    oracle::KIND,
    poisson::KIND,
    hadoop::KIND,
    google::KIND,
    late::KIND,
    late021::KIND,
    yarn::KIND,
    mantri::KIND,
    tqst::KIND,
    spark::KIND,
    flink::KIND,
    cubed::KIND,
    ytsaurus::KIND,
];

#[cfg(test)]
mod suite;
#[cfg(test)]
mod testing;
#[cfg(test)]
pub(super) use testing::tried;

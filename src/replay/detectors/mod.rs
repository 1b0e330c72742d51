//! Straggler detectors, one file each, and their input.
//!
//! In: at each heartbeat a [`Scene`] of one group (the tasks of one phase of one job): its running
//! attempts with their last reported progress, and the attempts that have ended. Out: [`Flag`]s on
//! attempts that deserve a copy or a restart. A detector never sees the future, nor a running
//! attempt after its end; its caller (a walk over history, or a simulated cluster) carries out its
//! flags, or only records them.
//!
//! A detector must [judge](Detector::judge). To be skipped while it would flag nothing, it reports
//! until when it stays [quiet](Detector::quiet_until_us), and may report when it does not use
//! [reports](Detector::reads_reports); tests compare its flags with those at every heartbeat. Once
//! it has flagged all running attempts, a detector of the list must stay quiet until an attempt
//! begins or ends: tests contain tasks of thirty thousand years, and never return otherwise.
//!
//! `support.rs` has what several detectors need, `testing.rs` a group that tests drive by hand, and
//! `suite.rs` the properties that every detector must have.

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

/// Stands for an unknown machine.
pub const NO_MACHINE: u32 = u32::MAX;

/// A running attempt, as known at a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    /// The attempt's number in its group, in order of (start, task), from 0.
    pub attempt: u32,
    /// The task's position in its group.
    pub task: u32,
    /// The machine's number; [`NO_MACHINE`] if it is unknown.
    pub machine: u32,
    /// When it was started, µs.
    pub start_us: i64,
    /// Progress at the last report; none before the first.
    pub progress: Progress,
    /// The time of that report, µs.
    pub reported_us: i64,
    /// Whether there is a progress report: not before the first, nor while the progress of its
    /// work is unknown.
    pub has_progress: bool,
    /// Whether a copy of it is running; true for the copy, too, while both run. In history, whether
    /// it has been flagged: this stays true until it ends.
    pub has_copy: bool,
    /// Whether its task ever had a copy, of this attempt or an earlier one.
    pub was_copied: bool,
}

impl Running {
    /// The age at `now_us`, s.
    pub fn age_s(&self, now_us: i64) -> f64 {
        crate::units::micros_to_seconds(now_us - self.start_us)
    }

    /// The age at the last report, µs.
    fn reported_age_us(&self) -> u64 {
        u64::try_from(self.reported_us - self.start_us).unwrap_or(0)
    }

    /// Its length if it made its progress in `age_us`: age / progress to the nearest µs, so that
    /// equal rates give equal lengths; `None` while it has not progressed.
    fn length_us(&self, age_us: u64) -> Option<i64> {
        let (done, total) = (self.progress.done(), self.progress.total());
        // A walk counts linear progress in half microseconds of age: half the total, rounded.
        if 0 < done && age_us.checked_mul(2) == Some(done) {
            return Some(i64::try_from(total.div_ceil(2)).unwrap_or(i64::MAX));
        }
        if 0 < done && age_us == done {
            return Some(i64::try_from(total).unwrap_or(i64::MAX));
        }
        // Nearly done attempts stay at 99 %: division by a constant is quicker.
        if (done, total) == (99, 100)
            && let Some(whole) = age_us.checked_mul(100)
        {
            return Some(i64::try_from((whole + 49) / 99).unwrap_or(i64::MAX));
        }
        // 64 bits are nearly always enough, and division is quicker.
        if let Some(whole) = age_us.checked_mul(total).and_then(|whole| whole.checked_add(done / 2))
        {
            return Some(i64::try_from(whole.checked_div(done)?).unwrap_or(i64::MAX));
        }
        let done = u128::from(done);
        let whole = u128::from(age_us) * u128::from(total);
        let length_us = (whole + done / 2).checked_div(done)?;
        Some(i64::try_from(length_us).unwrap_or(i64::MAX))
    }

    /// The estimated length by the last report, µs.
    fn estimated_length_us(&self) -> Option<i64> {
        self.length_us(self.reported_age_us())
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It completed its work.
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
    /// The machine it ran on.
    pub machine: u32,
    /// When it was started, µs.
    pub start_us: i64,
    /// When it ended, µs.
    pub end_us: i64,
    /// How it ended.
    pub how: End,
}

impl Ended {
    /// The running time, µs.
    pub fn length_us(&self) -> i64 {
        self.end_us - self.start_us
    }
}

/// The known state of a group at a heartbeat.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The time, µs.
    pub now_us: i64,
    /// When the group's first task was submitted, µs.
    pub begun_us: i64,
    /// The running attempts, by (start, task). In a replay, copies are among them, begin and end
    /// like all others; in history there are none.
    pub running: &'a [Running],
    /// The attempts that have finished so far.
    pub finished: &'a Finished,
    /// Number of tasks submitted so far.
    pub task_count: u32,
    /// Number of tasks that wait for a machine.
    pub waiting: u32,
    /// Number of tasks that are over: finished, or failed or killed and not submitted again.
    pub over: u32,
    /// Number of slots that the group may use; if unknown, the most it has used at once so far.
    pub slots: u32,
    /// Number of copies that may start now; `u32::MAX` if unlimited.
    pub free_slots: u32,
    /// Number of running copies.
    pub copies: u32,
}

/// The action on a flagged attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Start a copy beside it.
    Copy,
    /// Kill it and start its task again.
    Restart,
}

/// A flag on a running attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Position in [`Scene::running`].
    pub position: usize,
    /// The requested action.
    pub action: Action,
}

impl Flag {
    /// Flags the attempt at `position` for a copy.
    pub fn copy(position: usize) -> Self {
        Self { position, action: Action::Copy }
    }

    /// Flags the attempt at `position` for a restart.
    pub fn restart(position: usize) -> Self {
        Self { position, action: Action::Restart }
    }
}

/// How reports continue while no attempt begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Until when every attempt with progress continues at the rate of its last report, and no
    /// other attempt gets any, if nothing begins or ends, µs; the time now if that is unknown.
    pub steady_until_us: i64,
    /// Time between two heartbeats, µs.
    pub heartbeat_us: i64,
    /// Whether every running attempt has progress and keeps reporting the same share of its work,
    /// below 100 %, until an attempt begins or ends: only ages grow. A quiet detector is then
    /// called at the last [`HEARD_AGAIN`](Self::HEARD_AGAIN) heartbeats before that, so that it
    /// gets the last reports.
    pub is_stalled: bool,
}

impl Outlook {
    /// The number of heartbeats before the next begin or end at which a quiet detector is called.
    pub const HEARD_AGAIN: i64 = 8;

    /// Whether a detector that flags no attempt twice can stay quiet: all running attempts are
    /// flagged and keep reporting the same.
    pub fn is_done_with(&self, scene: &Scene<'_>) -> bool {
        self.is_stalled && scene.running.iter().all(|running| running.has_copy)
    }
}

/// A detector's assessment of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may run anything.
    Normal,
    /// It should not run copies.
    Slow,
    /// It should only run probes: copies whose results are discarded.
    VerySlow,
}

/// A detector for one group.
pub trait Detector: Send {
    /// An attempt has begun. Called in order of time, together with [`ended`](Self::ended), before
    /// the first heartbeat that shows it. Calls for the same instant come in any order.
    fn started(&mut self, _attempt: u32, _task: u32, _start_us: i64) {}

    /// An attempt has ended. Called in order of time, before the next heartbeat; [`Finished`] in
    /// the scene then includes it.
    fn ended(&mut self, _end: &Ended) {}

    /// Judges the scene and adds flags, the most urgent first, at most one per attempt and no more
    /// copies than [`free_slots`](Scene::free_slots). If a limit leaves attempts out, the rule must
    /// choose them, not the numbering of tasks: position decides only among equals. An attempt with
    /// a copy may be flagged again only to restart it.
    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>);

    /// Whether it can ever flag the task of a group of one, or request probes. If not, such groups
    /// need no heartbeats in a replay.
    fn judges_lone_tasks(&self) -> bool {
        true
    }

    /// Until when the detector flags no further attempt if no attempt begins or ends: heartbeats
    /// before that time may be skipped without any effect on later ones. The time now means that
    /// it is asked again at the next heartbeat; `i64::MAX` means not before an attempt begins or
    /// ends. `outlook` describes how reports continue; a rule about ages alone does not need it,
    /// and is quiet until the first attempt that it may flag is old enough. Called after
    /// [`judge`](Self::judge), when its flags have been carried out. The default is now.
    fn quiet_until_us(&self, scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        scene.now_us
    }

    /// Whether [`judge`](Self::judge) reads the running attempts of this scene, which are not
    /// filled in. If not, it flags nothing now, nor until an attempt begins or ends or
    /// [`slots`](Scene::slots) or [`free_slots`](Scene::free_slots) change.
    fn reads_reports(&self, _scene: &Scene<'_>) -> bool {
        true
    }

    /// Whether a change of [`Scene::slots`] alone may cause a new flag in [`judge`](Self::judge);
    /// such a change then ends the quiet time of [`quiet_until_us`](Self::quiet_until_us).
    fn heeds_slots(&self, _scene: &Scene<'_>) -> bool {
        false
    }

    /// Whether `machine`, which has free capacity, may run a copy.
    fn suits(&self, _scene: &Scene<'_>, _machine: u32) -> bool {
        true
    }

    /// The assessment of `machine`, which has free capacity.
    fn standing(&self, _scene: &Scene<'_>, _machine: u32) -> Standing {
        Standing::Normal
    }

    /// Lists the very slow machines, which are probed, in ascending order.
    fn very_slow(&self, _scene: &Scene<'_>, _machines: &mut Vec<u32>) {}

    /// A probe has run on `machine` at `speed` tasks per second.
    fn probed(&mut self, _machine: u32, _speed: f64) {}
}

/// The information about a group before the first heartbeat.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupInfo<'a> {
    /// The truth, for [`oracle`](self) only: by attempt, whether its task is a straggler.
    pub straggles: Option<&'a [bool]>,
    /// Machine speeds known from earlier jobs, tasks per second.
    pub speeds: &'a [(u32, f64)],
}

/// A detector with its parameters, which can be built for any group.
pub trait Plan: fmt::Debug + Send + Sync {
    /// Builds a detector for one group.
    fn build(&self, group: &GroupInfo<'_>) -> Box<dyn Detector>;

    /// All its parameters as written, in the order of their definition; none by default.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// A family of detectors that are drawn in one chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Those of Hadoop, its predecessors and successors.
    Hadoop,
    /// All others.
    Others,
}

/// The description of a detector.
#[derive(Debug)]
pub struct Kind {
    /// The name.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The parameter that trades precision for recall, with values from cautious to eager; empty if
    /// there is none.
    pub curve: (&'static str, &'static [&'static str]),
    /// The detectors that it is drawn with.
    pub family: Family,
    /// Whether it keeps tasks from machines ([`Detector::standing`], [`Detector::very_slow`]): it
    /// is then called for each task and machine in turn.
    pub steers: bool,
    /// Parameters for tests, under which it decides differently from its curve.
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

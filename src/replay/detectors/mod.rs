//! Straggler detectors, one file each, and their input.
//!
//! In: at each heartbeat a [`Scene`] of one group (the tasks of one phase of one job): its running
//! attempts with their last reported progress, and the attempts that have ended. Out: [`Flag`]s on
//! attempts that deserve a copy or a restart. A detector never sees the future, nor a running
//! attempt after its end; its caller (a walk over history, or a simulated cluster) carries out its
//! flags, or only records them.
//!
//! A detector must [judge](Detector::judge). If it reports how long it stays
//! [quiet](Detector::quiet_until_us), it is skipped while it would flag nothing. It may also report
//! when it does not use [reports](Detector::reads_reports). Tests compare its flags with those of a
//! run that calls it at every heartbeat. Once it has flagged all running attempts, a detector of
//! the list must stay quiet until an attempt begins or ends: tests contain tasks of thirty thousand
//! years, and would otherwise never end.
//!
//! `support.rs` has what several detectors need, `testing.rs` a group that tests drive by hand, and
//! `suite.rs` the properties that every detector must have.

mod changepoint;
mod criterion;
mod cubed;
mod ended;
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
mod scene;
mod spark;
mod support;
mod tqst;
mod written;
mod yarn;
mod ytsaurus;

use std::fmt;
use std::sync::Arc;

use crate::notation::{Notation, NotationError};

pub use ended::{End, Ended, NO_MACHINE};
pub use finished::Finished;
pub use limits::Limits;
pub use progress::Progress;
pub use scene::{Action, Flag, Outlook, Running, Scene, Standing};
#[cfg(test)]
pub(super) use testing::tried;
pub use written::DetectorPlan;

/// A detector for one group.
pub trait Detector: Send {
    /// An attempt has begun. Called in order of time, together with [`ended`](Self::ended), before
    /// the first heartbeat that shows it. Calls for the same instant come in any order.
    fn started(&mut self, _attempt: u32, _task: u32, _start_us: i64) {}

    /// An attempt has ended. Called in order of time, before the next heartbeat; [`Finished`] in
    /// the scene then includes it.
    fn ended(&mut self, _end: &Ended) {}

    /// Judges the scene and adds flags, the most urgent first, at most one per attempt and no more
    /// copies than [`free_slots`](Scene::free_slots). If a limit allows only some of them, the
    /// detector's rule must choose; the numbers of tasks decide only among equals. An attempt with
    /// a copy may be flagged again only to restart it.
    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>);

    /// Whether it can ever flag the only task of a group, or request probes. If not, groups of one
    /// task need no heartbeats in a replay.
    fn judges_lone_tasks(&self) -> bool {
        true
    }

    /// The time before which the detector flags no further attempt if no attempt begins or ends.
    /// Heartbeats before that time may be skipped without any effect on later ones. With the
    /// current time, it is asked again at the next heartbeat; with `i64::MAX`, not before an
    /// attempt begins or ends. `outlook` describes how reports continue; a rule about ages alone
    /// does not need it, and is quiet until the first attempt that it may flag is old enough.
    /// Called after [`judge`](Self::judge), when its flags have been carried out. The default is
    /// the current time.
    fn quiet_until_us(&self, scene: &Scene<'_>, _outlook: Outlook) -> i64 {
        scene.now_us
    }

    /// Whether [`judge`](Self::judge) reads the running attempts of this scene, which are not
    /// filled in yet. If not, it flags no attempt now. It then also flags none until an attempt
    /// begins or ends, or [`slots`](Scene::slots) or [`free_slots`](Scene::free_slots) change.
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

/// A family of detectors; each family is drawn in one chart.
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
    /// Whether it prevents tasks from running on some machines ([`Detector::standing`],
    /// [`Detector::very_slow`]). It is then called for each task and machine in turn.
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

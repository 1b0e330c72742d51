//! Rules by which a cluster hands out work, one file each.
//!
//! In: the [`State`] of the replay. Out: the next task ([`Order`]), and the running tasks to copy,
//! restart or probe ([`Speculation`]). A policy only decides; the engine carries out. A whole
//! policy is written as its parts, `fifo+best-fit+wqr:copies=2+kill:events=20`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::estimates::Steps;
use super::journal::Kind as Happening;
use super::kill;
use super::line::Line;
use super::placement::{Most, Placement};
use super::state::{Role, State};
use crate::notation::{Notation, NotationError};
use crate::replay::detectors::DetectorPlan;
use crate::studies::rules::RuleGrid;

mod backfilled;
mod both;
mod by_key;
mod by_request;
mod by_user;
mod conservative;
mod dolly;
mod drf;
mod easy;
mod fair;
mod fifo;
mod none;
mod oracle;
mod priority;
mod random;
mod shortest;
mod watch;
mod wqr;
mod written;

#[cfg(test)]
pub(super) use self::watch::sleepless;

/// How many waiting tasks that fit nowhere may be passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// None: all tasks behind the first wait as well.
    #[default]
    First,
    /// So many.
    Tasks(u32),
    /// As many as there are.
    All,
}

impl Depth {
    /// The number, if there is a bound.
    pub fn bound(self) -> Option<usize> {
        match self {
            Self::First => Some(0),
            Self::Tasks(count) => Some(count as usize),
            Self::All => None,
        }
    }
}

/// What later tasks must leave alone when they start before one that has to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backfill {
    /// Nothing: they may delay it.
    #[default]
    None,
    /// The reservation of the first task that waits (EASY).
    Easy,
    /// The reservations of all tasks that wait, each given when the task is submitted.
    Conservative,
}

/// What an order that plans takes for the running time of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Predict {
    /// The estimate of the workload.
    #[default]
    Estimate,
    /// The mean of the user's last two runs that had ended when the task was submitted, prolonged
    /// by steps where it proves too short.
    LastTwo(Steps),
}

/// How far an order looks when its first task fits nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// How many waiting tasks may be passed over.
    pub depth: Depth,
    /// For which of them machines are reserved; an order that reserves has a
    /// [`line`](Order::line).
    pub backfill: Backfill,
    /// Among how many machines the one is chosen where tasks of lower priority make room; 0 if
    /// they do not.
    pub preempts: u32,
    /// By what it plans.
    pub predict: Predict,
}

/// The waiting tasks, in the order in which they are to be started.
pub trait Order: Send {
    /// A task comes, or comes back after a failure: it goes behind its equals.
    fn push(&mut self, state: &State<'_>, task: u32);

    /// A task was passed over, or lost its machine: it goes before its equals.
    fn push_front(&mut self, state: &State<'_>, task: u32);

    /// The next task. Tasks that no longer wait are forgotten on the way.
    fn peek(&mut self, state: &State<'_>) -> Option<u32>;

    /// Takes out the task that [`peek`](Self::peek) has just named.
    fn pop(&mut self);

    /// A waiting task has been started or is over although it was not the first.
    fn forget(&mut self, _task: u32) {}

    /// The waiting tasks, where they can be searched by what they ask for. Every task that stops
    /// waiting is [forgotten](Self::forget) then.
    fn searched(&self) -> Option<&dyn Searched> {
        None
    }

    /// The waiting tasks in line, where later ones may pass earlier ones.
    fn line(&self) -> Option<&Line> {
        None
    }

    /// Called before anything waits where room only shrinks while tasks are handed out: of several
    /// that are alike only the first needs to be [found](Searched::seek).
    fn room_only_shrinks(&mut self) {}

    /// Called before waiting tasks are handed out: whoever was to be first may no longer be.
    fn refresh(&mut self, _state: &State<'_>) {}

    /// Whether tasks stand in the order in which they come, whatever happens to them.
    fn is_by_arrival(&self) -> bool {
        false
    }

    /// How far it looks.
    fn passing(&self) -> Passing {
        Passing::default()
    }

    /// How often [`reorder`](Self::reorder) is to be called, µs.
    fn period_us(&self) -> Option<i64> {
        None
    }

    /// A period is over.
    fn reorder(&mut self, _state: &State<'_>) {}

    /// Whether it wants to hear of starts and ends.
    fn follows_usage(&self) -> bool {
        false
    }

    /// An attempt of `task` has begun (`true`) or ended.
    fn usage(&mut self, _state: &State<'_>, _task: u32, _begins: bool) {}
}

/// Waiting tasks in order, searched by what they ask for.
pub trait Searched {
    /// The first behind `after`, or of all, for which there may be room. `offers` says for a task
    /// how much memory it and its equals may have by step of CPU.
    fn seek(&self, after: Option<u32>, offers: &mut dyn FnMut(u32) -> Most) -> Option<u32>;

    /// Whether at most `depth` wait before `task`.
    fn is_among_first(&self, task: u32, depth: usize) -> bool;
}

/// A copy or a probe that a rule wants, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The task.
    pub task: u32,
    /// On which machine.
    pub machine: u32,
    /// As what.
    pub role: Role,
}

/// Names a machine that has room for a copy of the task now and suits, if there is one.
pub type Place<'p> = dyn FnMut(u32, &dyn Fn(u32) -> bool) -> Option<u32> + 'p;

/// A rule about running tasks.
pub trait Speculation: Send {
    /// How often [`heartbeat`](Self::heartbeat) is to be called, µs.
    fn heartbeat_us(&self) -> Option<i64> {
        None
    }

    /// Whether a heartbeat may change anything before the next attempt begins or ends.
    fn is_watching(&self) -> bool {
        true
    }

    /// Looks at the running attempts; puts the slots of those to be killed and started again into
    /// `restarts`.
    fn heartbeat(&mut self, _state: &State<'_>, _restarts: &mut Vec<u32>) {}

    /// The copy or probe wanted most, on a machine that `place` has named. Asked again until it
    /// answers `None`.
    fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish>;

    /// The same before waiting tasks are handed out; only asked where
    /// [`goes_first`](Self::goes_first).
    fn next_early(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        self.next(state, place)
    }

    /// Whether some copies wait until the waiting tasks have been handed out although others go
    /// before them.
    fn has_later_wishes(&self) -> bool {
        false
    }

    /// Whether copies go before waiting tasks.
    fn goes_first(&self) -> bool {
        false
    }

    /// Whether [`allows`](Self::allows) may say no. What it answers may then depend on who asked
    /// before, so that waiting tasks are tried one by one and not searched.
    fn steers(&self) -> bool {
        false
    }

    /// Whether `machine` may take a waiting task.
    fn allows(&self, _state: &State<'_>, _machine: u32, _task: u32) -> bool {
        true
    }

    /// A task has been submitted.
    fn submitted(&mut self, _state: &State<'_>, _task: u32) {}

    /// An attempt has begun in `slot`.
    fn started(&mut self, _state: &State<'_>, _slot: u32) {}

    /// The attempt in `slot` is ending; it is still there to be looked at.
    fn ending(&mut self, _state: &State<'_>, _slot: u32, _how: Happening) {}

    /// The machine of the attempt in `slot` has gone, without anyone knowing.
    fn lost(&mut self, _state: &State<'_>, _slot: u32) {}

    /// A task is over, however.
    fn concluded(&mut self, _state: &State<'_>, _task: u32) {}
}

/// How often a rule looks at running tasks, and at which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The time between two, µs.
    pub period_us: i64,
    /// Whether it looks at groups of one task, too.
    pub sees_lone_tasks: bool,
}

/// An order with its parameters.
pub trait OrderPlan: fmt::Debug + Send + Sync {
    /// The order, with nothing waiting.
    fn build(&self, state: &State<'_>, seed: u64) -> Box<dyn Order>;
    /// Its parameters as they are written; none by default.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Whether it asks how long tasks are expected to run.
    fn uses_estimates(&self) -> bool {
        false
    }
    /// Whether it books machines for every waiting task, which it does by CPU and memory alone.
    fn books_ahead(&self) -> bool {
        false
    }
    /// What it assumes besides, in words.
    fn assumes(&self) -> Option<&'static str> {
        None
    }
}

/// A rule about running tasks with its parameters.
pub trait SpeculationPlan: fmt::Debug + Send + Sync {
    /// The rule; `None` for one that never does anything.
    fn build(&self, state: &State<'_>) -> Option<Box<dyn Speculation>>;
    /// Its heartbeat, as of the rule that it builds.
    fn heartbeat(&self) -> Option<Heartbeat> {
        None
    }
    /// Its parameters as they are written; none by default.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// What is known of a rule by its name alone.
#[derive(Debug)]
pub struct Kind {
    /// The name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    read: Read,
}

impl Kind {
    /// Whether it is a rule about running tasks, and not an order of the waiting ones.
    pub fn is_speculation(&self) -> bool {
        matches!(self.read, Read::Speculation(_))
    }
}

/// How an order reads its own parameters.
type ReadOrder = fn(&mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError>;

#[derive(Debug)]
enum Read {
    Order(ReadOrder),
    Speculation(fn(&mut Notation) -> Result<Arc<dyn SpeculationPlan>, NotationError>),
}

/// Every order and every rule about running tasks, besides the detectors (see [`watch`](self)).
pub const KINDS: &[Kind] = &[
    fifo::KIND,
    random::KIND,
    shortest::KIND,
    priority::KIND,
    easy::KIND,
    conservative::KIND,
    by_request::SJF,
    by_request::LJF,
    by_request::SMALLEST,
    by_request::LARGEST,
    by_request::WFP3,
    by_request::UNICEP,
    by_request::F1,
    by_request::F2,
    by_request::F3,
    by_request::F4,
    fair::KIND,
    drf::KIND,
    none::KIND,
    oracle::KIND,
    wqr::KIND,
    dolly::KIND,
];

/// A policy as it is written: parts joined by `+`, at most one of each sort, but two rules about
/// running tasks.
///
/// Of two rules, as in `poisson+yarn`, the first judges first and its copies go before those of the
/// second; a task that one of them restarts gets no copy that the other wished for before.
///
/// Without an order it is `fifo`, without a placement `first-free`, without a rule about running
/// tasks `none`, and without `kill` nothing is condemned.
#[derive(Clone, Debug)]
pub struct PolicyPlan {
    /// The order of the waiting tasks.
    pub order: (Cow<'static, str>, Arc<dyn OrderPlan>),
    /// The choice of a machine.
    pub placement: Placement,
    /// What is done about running tasks.
    pub speculation: (Cow<'static, str>, Arc<dyn SpeculationPlan>),
    /// A second rule that acts beside it.
    pub second_speculation: Option<(Cow<'static, str>, Arc<dyn SpeculationPlan>)>,
    /// Which tasks are condemned.
    pub kill: Option<RuleGrid>,
}

impl PolicyPlan {
    /// The policy with a custom order of the waiting tasks.
    #[must_use]
    pub fn with_order(
        self,
        name: impl Into<Cow<'static, str>>,
        order: impl OrderPlan + 'static,
    ) -> Self {
        Self { order: (name.into(), Arc::new(order)), ..self }
    }

    /// The policy with a custom rule about running tasks, alone.
    #[must_use]
    pub fn with_speculation(
        self,
        name: impl Into<Cow<'static, str>>,
        rule: impl SpeculationPlan + 'static,
    ) -> Self {
        Self { speculation: (name.into(), Arc::new(rule)), second_speculation: None, ..self }
    }

    /// The policy with this detector at work, asked at every heartbeat; its copies go before
    /// waiting tasks.
    #[must_use]
    pub fn with_detector(self, detector: DetectorPlan, heartbeat_s: f64) -> Self {
        let speculation = (detector.name().to_owned().into(), watch::around(detector, heartbeat_s));
        Self { speculation, second_speculation: None, ..self }
    }

    /// The policy with a kill rule: the one of a sweep, with one parameter. Of a custom rule it is
    /// asked at every event of a task whether it kills by then.
    ///
    /// # Errors
    /// The rule has no parameter, or several.
    pub fn with_kill(self, rule: RuleGrid) -> Result<Self, NotationError> {
        Ok(Self { kill: Some(kill::with_one_parameter(rule)?), ..self })
    }

    /// The rules about running tasks as one; `None` where nothing is done about them.
    pub(super) fn build_speculation(&self, state: &State<'_>) -> Option<Box<dyn Speculation>> {
        both::build(self, state)
    }

    /// The heartbeat of the rules about running tasks, if any has one.
    pub(super) fn heartbeat(&self) -> Option<Heartbeat> {
        both::heartbeat(self)
    }
}

/// Takes `depth`, how many waiting tasks may be passed over.
fn take_depth(notation: &mut Notation) -> Result<Depth, NotationError> {
    let depth = notation.take("depth", "a number of tasks", 0)?;
    Ok(if depth == 0 { Depth::First } else { Depth::Tasks(depth) })
}

/// `depth` as it is written: not at all where nothing is passed over.
fn depth_parameter(depth: Depth) -> Option<(&'static str, String)> {
    depth.bound().filter(|&depth| 0 < depth).map(|depth| ("depth", depth.to_string()))
}

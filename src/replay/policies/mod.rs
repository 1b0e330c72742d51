//! Policies by which a cluster hands out work, one file each.
//!
//! In: the [`State`] of the replay. Out: the next task ([`Order`]), and the running tasks to copy,
//! restart or probe ([`Speculation`]). A policy only decides; the engine acts. The notation of a
//! policy joins its parts, `fifo+best-fit+wqr:copies=2+kill:events=20`.

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
mod passing;
mod priority;
mod random;
mod shortest;
mod watch;
mod wqr;
mod written;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::journal::Kind as Happening;
use super::kill;
use super::line::Line;
use super::placement::{Most, Placement};
use super::state::{Role, State};
use crate::notation::{Notation, NotationError, listed};
use crate::replay::detectors::DetectorPlan;
use crate::studies::rules::RuleGrid;

pub use self::passing::{Backfill, Depth, Passing, Predict};
#[cfg(test)]
pub(super) use self::watch::sleepless;

/// The waiting tasks, in the order in which they should start.
pub trait Order: Send {
    /// A task arrives, or waits again after a failure: it goes behind its equals.
    fn push(&mut self, state: &State<'_>, task: u32);

    /// A task was passed over, or lost its machine: it goes before its equals.
    fn push_front(&mut self, state: &State<'_>, task: u32);

    /// The next task. Tasks that no longer wait are dropped on the way.
    fn peek(&mut self, state: &State<'_>) -> Option<u32>;

    /// Removes the task that [`peek`](Self::peek) has just returned.
    fn pop(&mut self);

    /// A waiting task was started or ended although it was not the first.
    fn forget(&mut self, _task: u32) {}

    /// The waiting tasks, if they can be searched by requests. Every task that stops waiting must
    /// then be [forgotten](Self::forget). Hidden from the documentation, because the steps in which
    /// requests are counted are internal to the engine.
    #[doc(hidden)]
    fn searched(&self) -> Option<&dyn Searched> {
        None
    }

    /// The line of waiting tasks with their requests ([`State::ask_of`]), if later ones may pass
    /// earlier ones ([`passing`](Self::passing)). Every task that stops waiting must then be
    /// [forgotten](Self::forget).
    fn line(&self) -> Option<&Line> {
        None
    }

    /// Called at the start if room only shrinks while tasks are handed out: of several equal tasks,
    /// only the first needs to be [found](Searched::seek).
    #[doc(hidden)]
    fn room_only_shrinks(&mut self) {}

    /// Called before waiting tasks are handed out: the first task may have changed.
    fn refresh(&mut self, _state: &State<'_>) {}

    /// Whether tasks always keep the order in which they arrived.
    fn is_by_arrival(&self) -> bool {
        false
    }

    /// How the order continues when its first task fits nowhere.
    fn passing(&self) -> Passing {
        Passing::default()
    }

    /// The period between calls of [`reorder`](Self::reorder), µs, at least 1. A replay reads it
    /// once, at the start.
    fn period_us(&self) -> Option<i64> {
        None
    }

    /// A period has passed.
    fn reorder(&mut self, _state: &State<'_>) {}

    /// Whether [`usage`](Self::usage) must be called.
    fn follows_usage(&self) -> bool {
        false
    }

    /// An attempt of `task` has begun (`true`) or ended.
    fn usage(&mut self, _state: &State<'_>, _task: u32, _begins: bool) {}
}

/// Waiting tasks in order, which can be searched by their requests.
pub trait Searched {
    /// The first task behind `after` (or of all tasks) for which there may be room. `offers`
    /// returns for a task the most memory that it and its equals may have, by step of CPU.
    fn seek(&self, after: Option<u32>, offers: &mut dyn FnMut(u32) -> Most) -> Option<u32>;

    /// Whether at most `depth` tasks wait before `task`.
    fn is_among_first(&self, task: u32, depth: usize) -> bool;
}

/// A copy or a probe that a [rule about running tasks](Speculation) requests on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The task, by number in the workload; an attempt of it runs.
    pub task: u32,
    /// The machine, by number in the cluster.
    pub machine: u32,
    /// The role of the new attempt.
    pub role: Role,
}

/// Returns a machine that has room for a copy of the task now and passes a test, if there is one;
/// tasks and machines are numbers in the workload and the cluster.
pub type Place<'p> = dyn FnMut(u32, &dyn Fn(u32) -> bool) -> Option<u32> + 'p;

/// A rule about running tasks, built by a [`SpeculationPlan`]. Its methods identify an attempt by
/// its slot, the position in [`State::attempts`], and a task by its number in the workload.
///
/// ```
/// use jobfate::prelude::*;
///
/// /// Copies each task once, as soon as a machine has nothing else to do.
/// #[derive(Clone, Debug)]
/// struct Twice;
///
/// impl SpeculationPlan for Twice {
///     fn build(&self, _: &State<'_>) -> Option<Box<dyn Speculation>> {
///         Some(Box::new(Twice))
///     }
/// }
///
/// impl Speculation for Twice {
///     fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
///         state.live_slots().find_map(|slot| {
///             let task = state.attempts.task[slot as usize];
///             let is_alone = state.of_task(task).count() == 1;
///             let machine = if is_alone { place(task, &|_| true)? } else { return None };
///             Some(Wish { task, machine, role: Role::Copy })
///         })
///     }
/// }
///
/// let twice = "fifo".parse::<PolicyPlan>()?.with_speculation("twice", Twice);
/// let (cluster, _) = Cluster::of_speeds(vec![0.5, 1.0]).check()?;
/// let workload = Workload::plain(1, Column::Same(100 * SECOND)).check()?;
/// let outcome = replay(&ReplayPlan::new(&cluster, &workload, &twice))?;
/// assert_eq!(outcome.makespan_us, Some(100 * SECOND));
/// let wasted = outcome.sum(Happening::Cancel);
/// assert_eq!((wasted.count, wasted.work), (1, 50e6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Speculation: Send {
    /// The period between calls of [`heartbeat`](Self::heartbeat), µs, at least 1. A replay reads
    /// it once, at the start.
    fn heartbeat_us(&self) -> Option<i64> {
        None
    }

    /// Whether a heartbeat may have an effect before the next attempt begins or ends.
    fn is_watching(&self) -> bool {
        true
    }

    /// Judges the running attempts; adds to `restarts` the slots of attempts to kill and start
    /// again.
    fn heartbeat(&mut self, _state: &State<'_>, _restarts: &mut Vec<u32>) {}

    /// The most urgent copy or probe, on a machine that `place` has returned. Called again until it
    /// returns `None`.
    fn next(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish>;

    /// The same before waiting tasks are handed out; only called if
    /// [`goes_first`](Self::goes_first) is true.
    fn next_early(&mut self, state: &State<'_>, place: &mut Place<'_>) -> Option<Wish> {
        self.next(state, place)
    }

    /// Whether some copies are handed out after the waiting tasks, although others go before them.
    fn has_later_wishes(&self) -> bool {
        false
    }

    /// Whether copies go before waiting tasks.
    fn goes_first(&self) -> bool {
        false
    }

    /// Whether [`allows`](Self::allows) may return false. Its result may then depend on earlier
    /// calls, so waiting tasks are tried one by one and not searched.
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

    /// The attempt in `slot` is ending; its data can still be read.
    fn ending(&mut self, _state: &State<'_>, _slot: u32, _how: Happening) {}

    /// The machine of the attempt in `slot` has left, and the scheduler has not noticed.
    fn lost(&mut self, _state: &State<'_>, _slot: u32) {}

    /// A task is over, however it ended.
    fn concluded(&mut self, _state: &State<'_>, _task: u32) {}
}

/// How often a rule judges running tasks, and which tasks it judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The time between two heartbeats, µs, as in [`Speculation::heartbeat_us`].
    pub period_us: i64,
    /// Whether it also judges groups of one task.
    pub sees_lone_tasks: bool,
}

/// An order with its parameters.
pub trait OrderPlan: fmt::Debug + Send + Sync {
    /// Builds the order, with no waiting tasks.
    fn build(&self, state: &State<'_>, seed: u64) -> Box<dyn Order>;
    /// Its parameters as written; none by default.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Whether it uses expected running times.
    fn uses_estimates(&self) -> bool {
        false
    }
    /// Whether it books machines for every waiting task; bookings count only CPU and memory.
    fn books_ahead(&self) -> bool {
        false
    }
    /// An additional assumption, as a sentence.
    fn assumes(&self) -> Option<&'static str> {
        None
    }
}

/// A rule about running tasks with its parameters.
pub trait SpeculationPlan: fmt::Debug + Send + Sync {
    /// Builds the rule; `None` for a rule that never acts.
    fn build(&self, state: &State<'_>) -> Option<Box<dyn Speculation>>;
    /// The heartbeat of the rule that it builds.
    fn heartbeat(&self) -> Option<Heartbeat> {
        None
    }
    /// Its parameters as written; none by default.
    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// The description of an order or a rule.
#[derive(Debug)]
pub struct Kind {
    /// The name.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The text in parentheses after the name in the help's list; empty if the name is enough.
    word: &'static str,
    read: Read,
}

impl Kind {
    /// The names of the orders, of the orders by request, and of the rules about running tasks, for
    /// the help. Neighbours with the same word share it: `sjf and ljf (requested time)`.
    pub fn names() -> [String; 3] {
        let of = |is_of: fn(&Read) -> bool| {
            let kinds: Vec<&Self> = KINDS.iter().filter(|kind| is_of(&kind.read)).collect();
            let alike = kinds.chunk_by(|one, next| !one.word.is_empty() && one.word == next.word);
            let names = alike.map(|kinds| {
                let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
                match kinds[0].word {
                    "" => listed(&names),
                    word => format!("{} ({word})", listed(&names)),
                }
            });
            names.collect::<Vec<String>>().join(", ")
        };
        [
            of(|read| matches!(read, Read::Order(_))),
            of(|read| matches!(read, Read::ByRequest(_))),
            of(|read| matches!(read, Read::Speculation(_))),
        ]
    }

    /// Whether it is a rule about running tasks, not an order of waiting tasks.
    pub fn is_speculation(&self) -> bool {
        matches!(self.read, Read::Speculation(_))
    }
}

/// A function that reads the parameters of an order.
type ReadOrder = fn(&mut Notation) -> Result<Arc<dyn OrderPlan>, NotationError>;

#[derive(Debug)]
enum Read {
    Order(ReadOrder),
    /// An order by the requested time and CPU of a task.
    ByRequest(ReadOrder),
    Speculation(fn(&mut Notation) -> Result<Arc<dyn SpeculationPlan>, NotationError>),
}

/// Every order and every rule about running tasks, without the detectors (see [`watch`](self)).
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

/// A policy in its notation: parts joined by `+`, at most one of each sort, except that two rules
/// about running tasks are allowed.
///
/// With two rules, as in `poisson+yarn`, the first judges first and its copies go before those of
/// the second; if one of them restarts a task, a copy that the other requested before is not made.
///
/// The defaults are the order `fifo`, the placement `first-free` and the rule `none`; without
/// `kill`, no task is condemned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PolicyPlan {
    /// The order of the waiting tasks.
    pub order: (Cow<'static, str>, Arc<dyn OrderPlan>),
    /// The choice of a machine.
    pub placement: Placement,
    /// The rule about running tasks.
    pub speculation: (Cow<'static, str>, Arc<dyn SpeculationPlan>),
    /// A second rule about running tasks.
    pub second_speculation: Option<(Cow<'static, str>, Arc<dyn SpeculationPlan>)>,
    /// The kill rule.
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

    /// The policy with a custom rule about running tasks, which replaces all others.
    #[must_use]
    pub fn with_speculation(
        self,
        name: impl Into<Cow<'static, str>>,
        rule: impl SpeculationPlan + 'static,
    ) -> Self {
        Self { speculation: (name.into(), Arc::new(rule)), second_speculation: None, ..self }
    }

    /// The policy with this detector, called every `heartbeat_s` seconds; its copies go before
    /// waiting tasks.
    ///
    /// # Errors
    /// The time between heartbeats is not from 0.001 to 10^9 s.
    pub fn with_detector(
        self,
        detector: DetectorPlan,
        heartbeat_s: f64,
    ) -> Result<Self, NotationError> {
        let name = detector.name().to_owned();
        let speculation = (name.into(), watch::around(detector, heartbeat_s)?);
        Ok(Self { speculation, second_speculation: None, ..self })
    }

    /// The policy with a kill rule as in a sweep, with one parameter. A custom rule is called at
    /// every event of a task. It kills the task if it returns a time that is not later than the
    /// event.
    ///
    /// # Errors
    /// The rule has no parameter, or several.
    pub fn with_kill(self, rule: RuleGrid) -> Result<Self, NotationError> {
        Ok(Self { kill: Some(kill::with_one_parameter(rule)?), ..self })
    }

    /// The rules about running tasks, combined into one; `None` if there is none.
    pub(super) fn build_speculation(&self, state: &State<'_>) -> Option<Box<dyn Speculation>> {
        both::build(self, state)
    }

    /// The names of the rules about running tasks.
    pub(super) fn rule_name(&self) -> String {
        let second = self.second_speculation.as_ref().map(|(name, _)| format!("+{name}"));
        format!("{}{}", self.speculation.0, second.unwrap_or_default())
    }

    /// The heartbeat of the rules about running tasks, if any has one.
    pub(super) fn heartbeat(&self) -> Option<Heartbeat> {
        both::heartbeat(self)
    }
}

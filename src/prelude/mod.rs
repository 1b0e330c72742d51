//! Everything that most programs need, with one `use jobfate::prelude::*`.
//!
//! A question is a builder, used in this order: the data, the settings, then the answer.
//! Times are whole microseconds of the trace clock ([`SECOND`], [`HOUR`], [`DAY`]). A call that
//! takes seconds accepts a callback ([`Progress`]) that can stop it.

mod batches;
mod detect;
mod error;
mod ingest;
mod study;
mod trial;
mod usage;

use std::ops::ControlFlow;
use std::sync::Arc;

pub use self::batches::Batches;
pub use self::detect::DetectQuestion;
pub use self::error::{Error, SettingError};
pub use self::ingest::{Ingest, Ingested};
pub use self::study::StudyQuestion;
pub use self::trial::Sample;
pub use self::usage::{Gathered, Usage};
use crate::defaults::Defaults;
pub use crate::facts::FactError;
pub use crate::facts::events::Event;
pub use crate::facts::query::{Query, Settings};
pub use crate::facts::tasks::{Attempt, EndedBy, TaskView};
pub use crate::facts::window::{EarlyEnd, OpenAttempts, Windows};
pub use crate::fairness::FairnessError;
pub use crate::fairness::gather::{Accrual, By, Counts, GatherError};
pub use crate::fairness::history::{Grid, History, Person, Step, Used};
pub use crate::fairness::indices::{
    BuiltIn as BuiltInIndex, Heavier, Index, Readings, parse as index,
};
pub use crate::fairness::series::Series;
pub use crate::fairness::usage::UserUsage;
pub use crate::lake::ingest::FailedPart;
pub use crate::lake::plan::{MaxRejects, Shard};
pub use crate::lake::{Lake, LakeError, LakeErrorKind, PartEntry};
pub use crate::notation::NotationError;
pub use crate::progress::Progress;
use crate::progress::Watch;
pub use crate::replay::cluster::{Change, Cluster, ClusterError, MachineChange};
pub use crate::replay::dependencies::Dependencies;
pub use crate::replay::detect::progress::ProgressModel;
pub use crate::replay::detect::score::Score;
pub use crate::replay::detect::truth::Truth;
pub use crate::replay::detect::{DetectOutcome, DetectPlanError, DetectorRow, FlagRow};
pub use crate::replay::detectors::{
    Action, Detector, DetectorPlan, End, Ended, Finished, Flag, GroupInfo, Outlook,
    Plan as BuildDetector, Progress as TaskProgress, Running, Scene, Standing,
};
pub use crate::replay::engine::{
    Keep, Outcome, Plan as ReplayPlan, ReplayError, Sum as AttemptSum, replay,
};
pub use crate::replay::estimates::Estimates;
pub use crate::replay::feedback::Feedback;
pub use crate::replay::gpus::{GpuAsk, Gpus};
pub use crate::replay::journal::{Entry as JournalEntry, Journal, Kind as Happening};
pub use crate::replay::line::{Ask, Line as WaitingLine};
pub use crate::replay::placement::Placement;
pub use crate::replay::policies::{
    Backfill, Depth, Heartbeat, Order, OrderPlan, Passing, Place, PolicyPlan, Predict, Speculation,
    SpeculationPlan, Wish,
};
pub use crate::replay::room::Room;
pub use crate::replay::state::{Attempts, Machines, Phase, Role, State, Tasks};
pub use crate::replay::workload::{Column, Fate, Workload, WorkloadError};
pub use crate::schema::{EventType, Source, Table, row_id};
pub use crate::sources::parser::{HandOut, Notes, OwnPart, ParserOf, PartParser};
pub use crate::sources::{
    Cell, Reject, RejectReason, RowBlock, RowError, SourceError, SourceErrorKind, TextBlock,
};
pub use crate::studies::fold::Study;
pub use crate::studies::kill_sweep::{ByOutcome, HarmedJob, Sweep, SweepRow};
pub use crate::studies::ledger::{EndRow, GroupBy, Ledger, LedgerRow, ReasonAmount};
use crate::studies::meter::CpuDefinition;
pub use crate::studies::meter::MemoryDefinition;
pub use crate::studies::outcomes::Classes;
pub use crate::studies::rules::{Condemn, RuleError, RuleGrid as KillRule};
pub use crate::synth::SynthError;

/// A second on the trace clock, µs.
pub const SECOND: i64 = 1_000_000;

/// An hour on the trace clock, µs.
pub const HOUR: i64 = 3600 * SECOND;

/// A day on the trace clock, µs.
pub const DAY: i64 = 24 * HOUR;

/// What CPU time means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cpu {
    /// [`Measured`](Self::Measured) if the lake records the CPU time used; otherwise
    /// [`Requested`](Self::Requested), or [`Slots`](Self::Slots) for a log of map-reduce jobs.
    #[default]
    BestAvailable,
    /// Mean CPU rate times length of the usage windows, inside attempts; for a log the CPU time
    /// that it records.
    Measured,
    /// Job duration times mean CPU rate times mean machine capacity: the definition of 2017.
    Published,
    /// CPU request times running time.
    Requested,
    /// Running time.
    Slots,
    /// GPUs requested times the time held.
    GpuSlots,
}

impl Cpu {
    /// The CPU definition for these lakes together.
    fn of(self, lakes: &[&Lake]) -> CpuDefinition {
        match self {
            Self::BestAvailable => Defaults::of_all(lakes).cpu,
            Self::Measured => CpuDefinition::Measured,
            Self::Published => CpuDefinition::Published,
            Self::Requested => CpuDefinition::Requested,
            Self::Slots => CpuDefinition::Slots,
            Self::GpuSlots => CpuDefinition::GpuSlots,
        }
    }
}

impl Lake {
    /// The same lake, but its reads report their progress to `callback`, in rows. They stop when
    /// the callback returns `Break`. Use it for calls that take a lake and have no `on_progress`,
    /// such as [`Query::run`]. A stopped call keeps nothing.
    #[must_use]
    pub fn on_progress(
        &self,
        callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'static,
    ) -> Self {
        self.watched(&Arc::new(Watch::new(callback)))
    }
}

/// The windows of a lake, up to the chosen end if there is one.
fn windows(lake: &Lake, window_end_us: Option<i64>) -> Result<Windows, Error> {
    let refused = |early: EarlyEnd| Error::Setting { setting: "window_end", why: early.into() };
    Windows::ending(lake, window_end_us).map_err(refused)
}

/// The lake, watched by a question's callback.
fn watched(lake: &Lake, watch: Option<&Arc<Watch>>) -> Lake {
    watch.map_or_else(|| lake.clone(), |watch| lake.watched(watch))
}

/// Builder methods that several questions share: `on_progress`, with a text for each question, and
/// `window_end`.
macro_rules! on_progress {
    ($(#[$words:meta])*) => {
        $(#[$words])*
        pub fn on_progress(
            self,
            callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'static,
        ) -> Self {
            Self { watch: Some(Arc::new(Watch::new(callback))), ..self }
        }
    };
}

macro_rules! window_end {
    () => {
        /// Closes open jobs and attempts at this time of the trace clock, µs, instead of at the
        /// last event. A time before the last event is an error.
        pub fn window_end(self, end_us: i64) -> Self {
            Self { window_end_us: Some(end_us), ..self }
        }
    };
}

use {on_progress, window_end};

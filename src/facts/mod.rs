//! Tables computed from the lake: one row per job, task, attempt, crossing.
//!
//! In: a lake. Out: record batches. Every fact is defined by one file of `queries/`, run by Polars
//! bucket by bucket ([`query`]) or by a Spark cluster ([`spark`]); if a fold in Rust is quicker, it
//! returns the same table, and a test compares the two. This module does not interpret results.

use std::borrow::Cow;

use thiserror::Error;

use crate::faults::{Code, Fault, NoThreads};
use crate::lake::LakeError;
use crate::schema::Source;

pub mod bucket;
pub mod census;
#[cfg(feature = "sql")]
mod embedded;
#[cfg(not(feature = "sql"))]
#[path = "no_engine.rs"]
mod embedded;
pub mod events;
pub mod jobs;
pub mod machines;
pub mod published;
pub mod query;
mod recorded;
mod run;
pub mod spark;
mod spent;
pub mod tables;
pub mod task_values;
mod task_view;
pub mod tasks;
#[cfg(feature = "sql")]
mod threads;
mod usage;
pub mod window;

/// A fact could not be computed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FactError {
    /// The lake is at fault.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// The engine refused or failed.
    #[error("query `{query}` failed")]
    Engine {
        /// The query.
        query: &'static str,
        /// The reason.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// This build has no embedded SQL engine.
    #[error("this build has no embedded SQL engine (feature `sql`)")]
    NoEngine,
    /// The engine needs more threads than the system starts.
    #[error(transparent)]
    Threads(#[from] NoThreads),
    /// A kill rule whose result would be meaningless.
    #[error("a kill rule cannot be evaluated")]
    Rule(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Spark could not be started, or failed.
    #[error("Spark failed: {problem}")]
    Spark {
        /// The problem.
        problem: String,
        /// Advice for the user.
        hint: &'static str,
    },
    /// The query reads columns that lakes of this source do not have.
    #[error(
        "query `{query}` needs a lake of {}; this lake is of {found}",
        sources.iter().map(|source| source.name()).collect::<Vec<_>>().join(" or ")
    )]
    OtherSource {
        /// The query.
        query: &'static str,
        /// The source of the lake.
        found: Source,
        /// The sources that have the columns.
        sources: Vec<Source>,
    },
    /// No such query.
    #[error("there is no query `{name}` (known: {})", query::names().join(", "))]
    UnknownQuery {
        /// The requested name.
        name: String,
    },
}

impl FactError {
    /// Whether the data are at fault, rather than the machine.
    pub fn is_bad_data(&self) -> bool {
        match self {
            Self::Lake(error) => error.kind.is_bad_data(),
            Self::Engine { .. }
            | Self::Rule(_)
            | Self::NoEngine
            | Self::Threads(_)
            | Self::Spark { .. }
            | Self::OtherSource { .. }
            | Self::UnknownQuery { .. } => false,
        }
    }
}

impl Fault for FactError {
    fn code(&self) -> Code {
        match self {
            Self::NoEngine | Self::OtherSource { .. } | Self::Rule(_) => Code::Usage,
            Self::Lake(error) => error.code(),
            other => Code::of_data(other.is_bad_data()),
        }
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Lake(error) => error.hint(),
            Self::Threads(error) => error.hint(),
            Self::Spark { hint, .. } => Some((*hint).into()),
            Self::NoEngine => Some(
                "build it with its default features (`cargo build --release`), or use --engine spark"
                    .into(),
            ),
            _ => None,
        }
    }

    fn is_unforeseen(&self) -> bool {
        matches!(self, Self::Engine { .. } | Self::Spark { .. })
    }
}

//! The answer of `describe`: distributions as tables and curves.
//!
//! In: a lake and a question. Out: a summary per outcome, the curves, and the censored values.

mod answer;
mod beside;
mod chances;
mod charts;
mod described;
mod parts;
pub mod plan;
pub(crate) mod step;
mod tables;

use crate::results::envelope::Envelope;
use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::{STARTS, Table};
use crate::studies::samples::What;

pub use answer::DescribeAnswer;
pub use beside::{StartedWaits, Tick};
pub(crate) use described::asked_of;
pub use described::{Described, describe, described};
pub use parts::{Part, edges_of};
pub(crate) use plan::questions;
pub use plan::{Censored, DescribePlan, Question, question};

/// The shares in the answers, in this order: survival curves, chances, distributions.
pub const SHARES: [Share; 3] = [
    share("share", "jobs that last longer than time_s (Kaplan-Meier)", "jobs that were scheduled"),
    share(
        "chance",
        "tasks with at least this many events whose job finished",
        "tasks with at least this many events, of jobs that have ended",
    ),
    share("share_at_or_below", "values at or below value", "values of the row: count"),
];

/// The tables that describe tasks.
const TABLES: &[Table] = &[Table::JobEvents, Table::TaskEvents];

/// The results: one for each [`What`], in the order of a page.
pub static KINDS: [Kind<'static>; 8] = [
    Kind {
        tables: &[Table::JobEvents],
        remarks: &["status ", "wait ", STARTS, "pods deleted"],
        sentence: Some(|it| answer(it)?.durations()),
        figure: Some("job-durations"),
        ..Kind::called("job-durations", "How long jobs last").holding::<DescribeAnswer>()
    },
    Kind {
        tables: &[Table::JobEvents],
        remarks: &["status ", "wait ", STARTS, "pods deleted"],
        sentence: Some(|it| answer(it)?.survival()),
        ..Kind::called("job-survival", "How many jobs last longer than a given time")
            .holding::<DescribeAnswer>()
    },
    Kind {
        tables: TABLES,
        sentence: Some(|it| answer(it)?.counts()),
        ..Kind::called("tasks-per-job", "Tasks of each job").holding::<DescribeAnswer>()
    },
    Kind {
        tables: TABLES,
        sentence: Some(|it| answer(it)?.counts()),
        ..Kind::called("events-per-task", "Events of each task").holding::<DescribeAnswer>()
    },
    Kind {
        tables: TABLES,
        remarks: &["wait ", STARTS],
        sentence: Some(|it| answer(it)?.waits()),
        ..Kind::called("waiting", "How long tasks wait for their first attempt")
            .holding::<DescribeAnswer>()
    },
    Kind {
        tables: TABLES,
        sentence: Some(|it| answer(it)?.counts()),
        ..Kind::called("attempts", "Attempts of each task").holding::<DescribeAnswer>()
    },
    Kind {
        tables: TABLES,
        sentence: Some(|it| answer(it)?.chances()),
        ..Kind::called(
            "finish-given-events",
            "The chance that a task's job finishes, given the number of events of the task so far",
        )
        .holding::<DescribeAnswer>()
    },
    Kind {
        tables: TABLES,
        remarks: &["status ", "run time shorter", "pods deleted"],
        sentence: Some(|it| answer(it)?.estimates()),
        ..Kind::called("estimates", "Running time as a share of the requested time (%)")
            .holding::<DescribeAnswer>()
    },
];

fn answer(of: &Envelope) -> Option<&DescribeAnswer> {
    of.found()
}

/// The kind of result for a quantity.
pub fn kind_of(what: What) -> &'static Kind<'static> {
    KINDS.iter().find(|kind| kind.name == what.name()).expect("there is a kind for each")
}

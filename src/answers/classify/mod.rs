//! The answer of `classify`: what became of jobs or tasks, counted.
//!
//! In: a lake and a definition of outcomes. Out: counts per outcome as table, JSON and bars.

mod answer;
mod charts;
mod counts;
mod other;
mod plan;
mod reasons;
mod result;
mod step;
mod tables;

use crate::answers::sentences::Ends;
use crate::results::envelope::Envelope;
use crate::results::kind::Kind;
use crate::results::shares::{Share, share};
use crate::schema::Table;

pub use answer::ClassifyAnswer;
pub(crate) use answer::Ending;
pub use counts::classification;
pub(crate) use counts::tasks_of;
pub use other::nearly_all;
pub(crate) use other::{main_parts, waits_first, without_attempt};
pub use plan::{By, Choice, ClassifyPlan};
pub use reasons::{add_reasons, reasons, table_of_reasons};
pub use result::answer;
pub(crate) use step::STEP;
pub use tables::table_of;

/// The results: of jobs and of tasks.
pub static KINDS: [Kind<'static>; 2] = [
    Kind {
        tables: &[Table::JobEvents],
        sentence: Some(sentence),
        figure: Some("classify-jobs"),
        ..Kind::called("classify-jobs", "What became of the jobs")
    },
    Kind {
        tables: &[Table::TaskEvents],
        sentence: Some(sentence),
        ..Kind::called("classify-tasks", "What became of the tasks")
    },
];

/// The shares of the answer.
pub const SHARES: [Share; 1] =
    [share("share", "count of the row", "total: all jobs, or tasks, of the table")];

fn sentence(of: &Envelope) -> Option<String> {
    let answer: &ClassifyAnswer = of.found()?;
    Some(answer.sentence(Ends::of(answer.finished(), &of.inputs)))
}

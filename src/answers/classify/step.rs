//! The step of an analysis.

use serde_json::json;

use super::counts::{classification, count_tasks};
use super::plan::{By, Choice, ClassifyPlan};
use super::reasons::{add_reasons, reasons};
use super::result::answer;
use super::tables::table_of;
use crate::answers::spread::Errand;
use crate::answers::study::{Step, Verdict, Work};
use crate::facts::jobs::END_REASON;
use crate::faults::Result;

/// The step of an analysis: jobs, then tasks.
pub(crate) const STEP: Step =
    Step::plain(step, &["classes", "window-end"]).spread(|_| Ok(Errand::Tasks));

fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    let (classes, windows) = (work.definitions.classes, work.windows);
    let mut job_count = None;
    for by in [By::Job, By::Task] {
        if work.is_missing(by.table(), *by.kind())? {
            continue;
        }
        let bar = work.screen.follow(work.study.name, "rows");
        let (outcome, finished_of) = match by {
            By::Job => (classification(work.lake, windows, by, classes, None)?, None),
            By::Task => {
                let folded = work.folded.tasks(work.study.name);
                let counted =
                    folded.map_or_else(|| count_tasks(work.lake, windows, classes), Ok)?;
                let finished_of = counted.finished_of();
                (counted.finish(classes), Some(finished_of))
            }
        };
        let count: u64 = outcome.rows.iter().map(|row| row.count).sum();
        // If each job has one task, the reasons of tasks add nothing.
        let by_reason =
            work.lake.has_column(by.table(), END_REASON) && job_count.replace(count) != Some(count);
        let reasons = by_reason.then(|| reasons(work.lake, by, classes)).transpose()?;
        drop(bar);
        let choice =
            Choice { plan: ClassifyPlan { by, classes, by_reason, sequences: false }, windows };
        let table = table_of(&outcome.rows);
        let mut answer = answer(work.lake, &outcome, choice, &table)?;
        if let Some(rows) = &reasons {
            add_reasons(&mut answer, rows, by);
        }
        if let Some((whole, of)) = answer.json.as_object_mut().zip(finished_of) {
            whole.insert("finished_of".to_owned(), json!(of));
        }
        work.store(&answer)?;
        work.screen.show(by.plural(), &table)?;
    }
    Ok(None)
}

//! The step of `predict` in an analysis.

use super::{KIND, PredictPlan, predicted};
use crate::answers::study::{Step, Verdict, Work};
use crate::faults::Result;
use crate::schema::Table;

/// The step.
pub(crate) const STEP: Step = Step::of::<PredictPlan>(run, &["window-end"]);

fn run(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::JobEvents, KIND)? {
        return Ok(None);
    }
    let plan: PredictPlan = work.plan()?;
    let bar = work.screen.follow(KIND.name, "rows");
    let predicted = predicted(work.lake, work.windows, &plan)?;
    drop(bar);
    let mut files = work.files(KIND.name)?;
    predicted.put_details(&mut files)?;
    let table = predicted.table();
    let answer = predicted.answer(work.windows, &table);
    work.publish(&answer, files)?;
    work.show("what the past of users predicts", &answer)?;
    work.note(predicted.edges());
    Ok(None)
}

//! The step of an analysis.

use super::KIND;
use super::months::{lack, monthly};
use super::plan::MonthlyPlan;
use crate::answers::study::{Step, Verdict, Work};
use crate::faults::Result;
use crate::schema::Table;

/// The step of an analysis.
pub(crate) const STEP: Step =
    Step::of::<MonthlyPlan>(step, &["cpu", "window-end", "open-attempts"]);

fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::JobEvents, KIND)? || work.is_missing(Table::TaskEvents, KIND)? {
        return Ok(None);
    }
    if let Some(why) = lack(work.lake) {
        work.leave_out(KIND, &why)?;
        return Ok(None);
    }
    let plan: MonthlyPlan = work.plan()?;
    work.study("use by account and month", KIND, || monthly(work.lake, work.windows, &plan))
}

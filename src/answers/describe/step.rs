//! The step of `describe` in an analysis: all of its distributions, one after the other.

use crate::answers::describe::plan::{DescribePlan, question};
use crate::answers::describe::{KINDS, describe, kind_of};
use crate::answers::study::{Open, Step, Verdict, Work};
use crate::answers::words::Setting;
use crate::faults::Result;
use crate::studies::samples::What;

/// The step of an analysis.
pub(crate) const STEP: Step =
    Step::of::<DescribePlan>(step, &["classes", "window-end", "open-attempts"])
        .settled(settle, &[]);

/// Few traces record requested times, so an analysis describes `estimates` only if asked to.
fn settle(open: &mut Open<'_>) {
    let usual = KINDS.iter().filter(|kind| kind.name != What::Estimates.name());
    let whats = usual.map(|kind| kind.name.to_owned()).collect();
    open.default_to("what", Setting::Many(whats));
}

fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    for plan in work.plans::<DescribePlan>()? {
        let mut missing = false;
        for table in plan.what.tables(plan.group_by) {
            missing = missing || work.is_missing(table, *kind_of(plan.what))?;
        }
        if !missing {
            step_one(work, &plan)?;
        }
    }
    Ok(None)
}

fn step_one(work: &Work<'_>, plan: &DescribePlan) -> Result<()> {
    let bar = work.screen.follow(work.study.name, "rows");
    let described = describe(work.lake, work.windows, question(plan)?)?;
    drop(bar);
    let answer = described.answer(work.windows);
    let mut files = work.files(answer.kind.name)?;
    described.put_details(&mut files)?;
    work.publish(&answer, files)?;
    if plan.what == What::JobDurations {
        work.show("job durations (s)", &answer)?;
    }
    Ok(())
}

//! The step of an analysis.

use super::KINDS;
use super::details::{ends_line, put_details};
use super::lines::closing_line;
use super::plan::AccountPlan;
use super::result::answer;
use super::tables::table_of;
use crate::answers::spread::Errand;
use crate::answers::study::{Step, Verdict, Work};
use crate::faults::Result;
use crate::schema::Table;
use crate::studies::ledger::ledger;

/// The step of an analysis.
pub(crate) const STEP: Step =
    Step::of::<AccountPlan>(step, &["cpu", "classes", "window-end", "open-attempts"])
        .spread(|work| Ok(Errand::Account(work.section.clone())));

fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::TaskEvents, KINDS[0])? {
        return Ok(None);
    }
    let plan: AccountPlan = work.plan()?;
    let asked = plan.asked(work.lake)?;
    if !work.lake.has(Table::TaskUsage) && !asked.meter.needs_usage() {
        let noun = asked.meter.resource().title();
        work.note(format!("{noun} is {}: there is no table `task_usage`", asked.meter));
    }
    let book = ledger(&work.outcomes(&asked)?);
    let table = table_of(&book, &plan.groups());
    let answer = answer(&plan, &book, work.windows, &table);
    let mut files = work.files(answer.kind.name)?;
    put_details(&book, &mut files)?;
    work.publish(&answer, files)?;
    let title = format!("{} per outcome ({})", asked.meter.resource().title(), book.meter);
    work.show(&title, &answer)?;
    work.note(closing_line(&book));
    if let Some(line) = ends_line(&book) {
        work.note(line);
    }
    Ok(None)
}

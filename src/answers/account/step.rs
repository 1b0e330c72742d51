//! The step of an analysis.

use super::KINDS;
use super::details::{ends_line, put_details};
use super::lines::closing_line;
use super::plan::{AccountPlan, CpuChoice};
use super::result::answer;
use super::tables::table_of;
use crate::answers::spread::{Errand, study};
use crate::answers::study::{Step, Verdict, Work};
use crate::facts::tasks::records_gpus;
use crate::faults::Result;
use crate::schema::Table;
use crate::studies::fold::Asked;
use crate::studies::ledger::{CpuDefinition, Ledger, ledger};
use crate::studies::meter::Resource;

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
    give(work, &plan, &asked, &ledger(&work.outcomes(&asked)?))?;
    if asked.meter.resource() != Resource::Gpu && records_gpus(work.lake)? {
        let cpu = Some(CpuDefinition::GpuSlots);
        let plan = AccountPlan {
            choice: CpuChoice { cpu, ..plan.choice },
            resource: Resource::Gpu,
            memory: None,
            ..plan
        };
        let asked = plan.asked(work.lake)?;
        let book = ledger(&study(work.lake, work.windows, &asked, None)?);
        if book.is_known && 0.0 < book.total {
            give(work, &plan, &asked, &book)?;
        }
    }
    Ok(None)
}

/// Gives the answer of a ledger.
fn give(work: &Work<'_>, plan: &AccountPlan, asked: &Asked, book: &Ledger) -> Result<()> {
    let is_of_gpus = asked.meter.resource() == Resource::Gpu;
    if !work.lake.has(Table::TaskUsage) && !asked.meter.needs_usage() && !is_of_gpus {
        let noun = asked.meter.resource().title();
        work.note(format!("{noun} is {}: there is no table `task_usage`", asked.meter));
    }
    let table = table_of(book, &plan.groups());
    let answer = answer(plan, book, work.windows, &table);
    let mut files = work.files(answer.kind.name)?;
    put_details(book, &mut files)?;
    work.publish(&answer, files)?;
    let title = format!("{} per outcome ({})", asked.meter.resource().title(), book.meter);
    work.show(&title, &answer)?;
    work.note(closing_line(book));
    if let Some(line) = ends_line(book) {
        work.note(line);
    }
    Ok(())
}

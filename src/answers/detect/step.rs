//! The step of `detect` in an analysis.

use crate::answers::detect::plan::{DetectAsked, prepare};
use crate::answers::detect::{
    KIND, answer, counts_line, detect_into, put_details, settings, table_of,
};
use crate::answers::spread::Errand;
use crate::answers::study::{Step, Verdict, Work};
use crate::faults::Result;
use crate::results::store::Origin;
use crate::schema::Table;

/// The step.
pub(crate) const STEP: Step = Step::of::<DetectAsked>(run, &["window-end", "open-attempts"])
    .spread(|work| Ok(Errand::Detect(work.section.clone())));

fn run(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::TaskEvents, KIND)? {
        return Ok(None);
    }
    let asked: DetectAsked = work.plan()?;
    let (lineup, plan) = prepare(&asked, work.lake)?;
    let settings = settings(&asked, &plan, work.windows);
    let mut files = work.files(KIND.name)?;
    files.are_made_from(&Origin::of(work.lake), &settings);
    let bar = work.screen.follow(KIND.name, "rows");
    let outcome = detect_into(work.lake, work.windows, &plan, Some(&mut files), work.parts)?;
    drop(bar);
    put_details(&outcome, &plan, &lineup, &mut files)?;
    let table = table_of(&outcome, lineup.asked);
    let answer = answer(&outcome, &plan, &lineup, settings, &table);
    work.publish(&answer, files)?;
    work.show("straggler detectors", &answer)?;
    work.note(counts_line(&outcome));
    Ok(None)
}

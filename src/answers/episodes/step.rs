//! The step of an analysis.

use super::KIND;
use super::found::{episodes, found};
use super::plan::EpisodesPlan;
use crate::answers::spread::Errand;
use crate::answers::study::{Step, Verdict, Work};
use crate::faults::Result;
use crate::schema::Table;

/// The step.
pub(crate) const STEP: Step = Step::of::<EpisodesPlan>(run, &["window-end", "open-attempts"])
    .spread(|work| Ok(Errand::Episodes(work.section.clone())));

fn run(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::TaskEvents, KIND)? {
        return Ok(None);
    }
    let plan: EpisodesPlan = work.plan()?;
    work.study("what happened when", KIND, || match work.folded.counts(work.study.name) {
        Some(counts) => found(work.lake, work.windows, &plan, counts),
        None => episodes(work.lake, work.windows, &plan),
    })
}

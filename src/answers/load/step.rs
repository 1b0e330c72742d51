//! The step of `load` in an analysis.

use super::loaded::study;
use super::{KIND, Length, LoadPlan, load};
use crate::answers::spread::Errand;
use crate::answers::study::{Open, Step, Verdict, Work};
use crate::faults::Result;
use crate::schema::Table;
use crate::studies::load::span_of;

/// The step.
pub(crate) const STEP: Step =
    Step::of::<LoadPlan>(run, &["classes", "window-end", "open-attempts"])
        .settled(settle, &[])
        .spread(|work| Ok(Errand::Load(work.section.clone())));

/// Lengths of intervals to choose from, the shortest first.
const LENGTHS: [&str; 5] = ["5m", "15m", "1h", "6h", "1d"];
/// Most intervals of a page.
const INTERVALS_MAX: i64 = 500;

/// Fills in the shortest interval that gives no more intervals than a page shows.
fn settle(open: &mut Open<'_>) {
    let [start_us, end_us] = span_of(open.lake, open.windows);
    let span_us = end_us.saturating_sub(start_us);
    let is_long = |text: &&&str| {
        let length = text.parse::<Length>().map_or(i64::MAX, Length::micros);
        span_us / length <= INTERVALS_MAX
    };
    let length = LENGTHS.iter().find(is_long).unwrap_or(&LENGTHS[LENGTHS.len() - 1]);
    open.default_to("interval", *length);
}

fn run(work: &Work<'_>) -> Result<Option<Verdict>> {
    if work.is_missing(Table::TaskEvents, KIND)? {
        return Ok(None);
    }
    let plan: LoadPlan = work.plan()?;
    work.study("the cluster over time", KIND, || match work.folded.load(work.study.name) {
        Some(found) => study(work.lake, work.windows, &plan, found),
        None => load(work.lake, work.windows, &plan),
    })
}

//! The step of `load` in an analysis.

use super::loaded::study;
use super::{KIND, Length, LoadPlan, load};
use crate::answers::spread::Errand;
use crate::answers::study::{Open, Step, Verdict, Work};
use crate::defaults::{LOAD_INTERVALS_MAX, LOAD_LENGTHS};
use crate::faults::Result;
use crate::schema::Table;
use crate::studies::load::span_of;

/// The step.
pub(crate) const STEP: Step =
    Step::of::<LoadPlan>(run, &["classes", "window-end", "open-attempts"])
        .settled(settle, &[])
        .spread(|work| Ok(Errand::Load(work.section.clone())));

/// Sets the shortest interval with which there are no more intervals than a page shows.
fn settle(open: &mut Open<'_>) {
    let [start_us, end_us] = span_of(open.lake, open.windows);
    let span_us = end_us.saturating_sub(start_us);
    let is_long = |text: &&&str| {
        let length = text.parse::<Length>().map_or(i64::MAX, Length::micros);
        span_us / length <= LOAD_INTERVALS_MAX
    };
    let [.., longest] = &LOAD_LENGTHS;
    let length = LOAD_LENGTHS.iter().find(is_long).unwrap_or(longest);
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

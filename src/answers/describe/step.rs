//! The step of `describe` in an analysis: all its distributions, from one pass over the lake.

use crate::answers::describe::described::{of_samples, samples_of};
use crate::answers::describe::plan::{DescribePlan, Question, questions};
use crate::answers::describe::{KINDS, kind_of};
use crate::answers::spread::Errand;
use crate::answers::study::{Open, Step, Verdict, Work};
use crate::answers::words::Setting;
use crate::faults::Result;
use crate::studies::samples::{Samples, What};

/// The step of an analysis.
pub(crate) const STEP: Step =
    Step::of::<DescribePlan>(step, &["classes", "window-end", "open-attempts"])
        .settled(settle, &[])
        .spread(|work| Ok(Errand::Describe(work.section.clone())));

/// Few traces record requested times, so an analysis describes `estimates` only if the user
/// requests it.
fn settle(open: &mut Open<'_>) {
    let usual = KINDS.iter().filter(|kind| kind.name != What::Estimates.name());
    let whats = usual.map(|kind| kind.name.to_owned()).collect();
    open.default_to("what", Setting::Many(whats));
}

fn step(work: &Work<'_>) -> Result<Option<Verdict>> {
    let plans = work.plans::<DescribePlan>()?;
    for plan in &plans {
        for table in plan.what.tables(plan.group_by) {
            if work.is_missing(table, *kind_of(plan.what))? {
                break;
            }
        }
    }
    let questions = questions(plans.iter().filter(|plan| plan.is_answered_by(work.lake)))?;
    let bar = work.screen.follow(work.study.name, "rows");
    let samples = match work.folded.samples(work.study.name) {
        Some(samples) => samples,
        None => samples_of(work.lake, work.windows, &questions)?,
    };
    drop(bar);
    questions.into_iter().zip(samples).try_for_each(|(question, own)| put(work, question, own))?;
    Ok(None)
}

fn put(work: &Work<'_>, question: Question, samples: Samples) -> Result<()> {
    let described = of_samples(work.lake, question, samples);
    let answer = described.answer(work.windows);
    let mut files = work.files(answer.kind.name)?;
    described.put_details(&mut files)?;
    work.publish(&answer, files)?;
    if question.what == What::JobDurations {
        work.show("job durations (s)", &answer)?;
    }
    Ok(())
}

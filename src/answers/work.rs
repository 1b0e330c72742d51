//! This program as a worker: it computes its part of an answer from a range of buckets.
//!
//! In: a question, and the number of a part. Out: the part, exact, as bytes.

use std::ops::Range;

use serde::Serialize;

use crate::answers::account::AccountPlan;
use crate::answers::detect::plan::{DetectAsked, prepare};
use crate::answers::fairness::gathered::gather_some;
use crate::answers::spread::{Errand, Question, worker_failed};
use crate::answers::study::{self, plans_of};
use crate::answers::sweep::plan::{self as sweep, SweepPlan};
use crate::answers::words::Section;
use crate::fairness::gather::Cluster;
use crate::faults::{Failure, Result, Usage};
use crate::lake::Lake;
use crate::replay::detect::walk_range;
use crate::studies::fold::{Asked, fold_range};

/// What this process makes of a part of a study; parts are counted through all studies.
///
/// # Errors
/// The lake does not read, or something is asked for that cannot be.
pub fn answer(question: &Question, task: u32) -> Result<Vec<u8>> {
    let lake = Lake::open(&question.lake)?;
    let (errand, part) = (task / question.parts, task % question.parts);
    let buckets = range(lake.bucket_count(), part, question.parts);
    let errand = question.errands.get(errand as usize);
    let errand = errand.ok_or_else(|| Usage(format!("there is no part {task}")))?;
    match errand {
        Errand::Account(section) => {
            let plan: AccountPlan = plan(question, section)?;
            outcomes(question, &lake, &plan.asked(&lake)?, buckets)
        }
        Errand::Sweep(section) => {
            let plan: SweepPlan = plan(question, section)?;
            outcomes(question, &lake, &sweep::asked(&plan, &lake)?, buckets)
        }
        Errand::Detect(section) => {
            let asked: DetectAsked = plan(question, section)?;
            let (_, plan) = prepare(&asked, &lake)?;
            written(&walk_range::<Failure>(&lake, question.windows, &plan, buckets)?)
        }
        Errand::Usage { plan, name, shift_us } => {
            let (name, windows) = (name.clone(), question.windows);
            let cluster = Cluster { name, lake, windows, shift_us: *shift_us };
            written(&gather_some(&cluster, plan, buckets)?)
        }
    }
}

fn plan<P: study::Plan>(question: &Question, section: &Section) -> Result<P> {
    let plans = plans_of("worker", section, &question.definitions)?;
    Ok(plans.into_iter().next().unwrap_or_default())
}

fn outcomes(
    question: &Question,
    lake: &Lake,
    asked: &Asked,
    buckets: Range<u32>,
) -> Result<Vec<u8>> {
    written(&fold_range(lake, question.windows, asked, buckets)?)
}

/// The buckets of a part.
fn range(buckets: u32, part: u32, parts: u32) -> Range<u32> {
    let from = |part: u32| {
        let from = u64::from(buckets) * u64::from(part) / u64::from(parts);
        u32::try_from(from).expect("no more than the buckets")
    };
    from(part)..from(part + 1)
}

fn written<P: Serialize>(part: &P) -> Result<Vec<u8>> {
    postcard::to_allocvec(part).map_err(|error| worker_failed(&error))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_bucket_is_in_one_part(buckets in 1_u32..5_000, most in 1_u32..100) {
            let parts = most.min(buckets);
            let all: Vec<u32> = (0..parts).flat_map(|part| range(buckets, part, parts)).collect();
            prop_assert_eq!(all, (0..buckets).collect::<Vec<u32>>());
        }
    }
}

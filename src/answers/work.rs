//! This program as a worker. It computes its part of an answer from a range of buckets.
//!
//! In: a question, and the number of a part. Out: the exact part, as bytes.

use std::ops::Range;

use serde::Serialize;

use crate::answers::account::AccountPlan;
use crate::answers::definitions::Definitions;
use crate::answers::describe::{DescribePlan, asked_of, questions};
use crate::answers::detect::plan::{DetectAsked, prepare};
use crate::answers::episodes::asked as asked_of_episodes;
use crate::answers::fairness::gathered::gather_some;
use crate::answers::load::asked as asked_of_load;
use crate::answers::spread::{Errand, Question, worker_failed};
use crate::answers::study::{self, plans_of};
use crate::answers::sweep::plan::{self as sweep, SweepPlan};
use crate::answers::words::Section;
use crate::facts::machines::MachineEvents;
use crate::facts::window::Windows;
use crate::fairness::gather::{Cluster, Plan};
use crate::faults::{Failure, Result, Usage};
use crate::lake::Lake;
use crate::replay::detect::walk_range;
use crate::schema::Table;
use crate::studies::episodes;
use crate::studies::fold::{Asked, fold_range};
use crate::studies::load;
use crate::studies::machines::ran::Leaving;
use crate::studies::machines::{end_of, fleet};
use crate::studies::samples::{Split, What};

/// Computes one part of one study. `task` numbers the parts of all studies, first those of the
/// first study.
///
/// # Errors
/// The lake cannot be read, or the question cannot be answered.
pub fn answer(question: &Question, task: u32) -> Result<Vec<u8>> {
    let lake = question.open()?;
    let (errand, part) = (task / question.parts, task % question.parts);
    let buckets = range(lake.bucket_count(), part, question.parts);
    let errand = question.errands.get(errand as usize);
    let errand = errand.ok_or_else(|| Usage(format!("there is no part {task}")))?;
    if let Some(asked) = outcomes_of(errand, &lake, &question.definitions)? {
        return written(&fold_range(&lake, question.windows, &asked, buckets)?);
    }
    if let Some((cluster, plan)) = usage_of(errand, &lake, question.windows) {
        return written(&gather_some(&cluster, &plan, buckets)?);
    }
    let Errand::Detect(section) = errand else {
        return Err(Usage("this is not for workers".to_owned()).into());
    };
    let asked: DetectAsked = plan_of(section, &question.definitions)?;
    let (_, plan) = prepare(&asked, &lake)?;
    written(&walk_range::<Failure>(&lake, question.windows, &plan, buckets)?)
}

/// The outcomes that an errand needs; `None` if it is about something else.
///
/// # Errors
/// Its section cannot be read, or needs data that the lake does not have.
pub(super) fn outcomes_of(
    errand: &Errand,
    lake: &Lake,
    definitions: &Definitions,
) -> Result<Option<Asked>> {
    Ok(match errand {
        Errand::Account(section) => {
            Some(plan_of::<AccountPlan>(section, definitions)?.asked(lake)?)
        }
        Errand::Sweep(section, harmed) => {
            let plan = SweepPlan { harmed: *harmed, ..plan_of(section, definitions)? };
            Some(sweep::asked(&plan, lake)?)
        }
        _ => None,
    })
}

/// The cluster whose usage an errand gathers, with the plan for it; `None` if the errand is about
/// something else.
pub(super) fn usage_of(errand: &Errand, lake: &Lake, windows: Windows) -> Option<(Cluster, Plan)> {
    let Errand::Usage { plan, name, shift_us } = errand else { return None };
    let (name, lake, shift_us) = (name.clone(), lake.clone(), *shift_us);
    Some((Cluster { name, lake, windows, shift_us }, *plan))
}

/// The load over time that an errand needs; `None` if it is about something else.
///
/// # Errors
/// Its section cannot be read, or needs data that the lake does not have.
pub(super) fn load_of(
    errand: &Errand,
    lake: &Lake,
    (windows, definitions): (Windows, &Definitions),
) -> Result<Option<load::Asked>> {
    let Errand::Load(section) = errand else { return Ok(None) };
    Ok(Some(asked_of_load(lake, windows, &plan_of(section, definitions)?)?))
}

/// The distributions that an errand needs; `None` if it is about something else.
///
/// # Errors
/// Its section cannot be read, or needs data that the lake does not have.
pub(super) fn samples_of(
    errand: &Errand,
    lake: &Lake,
    definitions: &Definitions,
) -> Result<Option<Vec<(What, Split)>>> {
    let Errand::Describe(section) = errand else { return Ok(None) };
    let plans = plans_of::<DescribePlan>("worker", section, definitions)?;
    let questions = questions(plans.iter().filter(|plan| plan.is_answered_by(lake)))?;
    Ok(Some(asked_of(lake, &questions)?))
}

/// The intervals in which an errand counts events; `None` if it is about something else.
///
/// # Errors
/// Its section cannot be read, or needs data that the lake does not have.
pub(super) fn counts_of(
    errand: &Errand,
    lake: &Lake,
    (windows, definitions): (Windows, &Definitions),
) -> Result<Option<episodes::Asked>> {
    let Errand::Episodes(section) = errand else { return Ok(None) };
    Ok(Some(asked_of_episodes(lake, windows, &plan_of(section, definitions)?)?))
}

/// The times at which machines left; `None` if the errand is about something else, or if the lake
/// has no machine events.
///
/// # Errors
/// The machines cannot be read.
pub(super) fn machines_of(
    errand: &Errand,
    lake: &Lake,
    windows: Windows,
) -> Result<Option<Leaving>> {
    if !matches!(errand, Errand::Machines) || !lake.has(Table::MachineEvents) {
        return Ok(None);
    }
    let events = MachineEvents::read(lake)?;
    let fleet = fleet(&events, end_of(&events, windows));
    Ok(Some(Leaving::of(&fleet.outages, windows.task_end_us)))
}

fn plan_of<P: study::Plan>(section: &Section, definitions: &Definitions) -> Result<P> {
    let plans = plans_of("worker", section, definitions)?;
    Ok(plans.into_iter().next().unwrap_or_default())
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

//! The data that follow from the list of studies: steps, kinds of results, and pages.
//!
//! In: [`STUDIES`]. Out: its parts, in the same order.

pub use crate::answers::STUDIES;
use crate::answers::study::{Step, Study, Topic};
use crate::results::kind::Kind;

/// The studies with a step, in the order in which they run.
pub fn steps() -> impl Iterator<Item = (&'static Study, Step)> {
    let of = |is_check: bool| {
        let all = STUDIES.iter().filter_map(|study| Some((study, study.step?)));
        all.filter(move |(_, step)| step.is_check == is_check)
    };
    of(true).chain(of(false))
}

/// The kinds of all results.
pub fn kinds() -> impl Iterator<Item = &'static Kind<'static>> {
    STUDIES.iter().flat_map(|study| study.results)
}

/// The kinds of the results on a page.
pub fn kinds_on(topic: &'static Topic) -> impl Iterator<Item = &'static Kind<'static>> {
    STUDIES.iter().filter(move |study| study.topic == topic).flat_map(|study| study.results)
}

/// The topics of the pages, in order.
pub fn topics() -> Vec<&'static Topic> {
    let mut topics: Vec<&Topic> = Vec::new();
    for study in &STUDIES {
        if !topics.contains(&study.topic) {
            topics.push(study.topic);
        }
    }
    topics
}

/// Whether a page is about checks of the lake.
pub fn is_of_checks(topic: &Topic) -> bool {
    let is_check = |study: &Study| study.step.is_some_and(|step| step.is_check);
    STUDIES.iter().any(|study| study.topic == topic && is_check(study))
}

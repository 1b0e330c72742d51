//! The sections of the file of an analysis: the common ones, and one for each study with options.
//!
//! In: the list of studies. Out: each section, with its parser and its defaults.

use super::{DEFINITIONS, PATHS, TRACE, without_paths};
use crate::answers::ingest::IngestChoice;
use crate::answers::list;
use crate::answers::study::{self, Definitions, Reader};
use crate::answers::words::{self, Section, Setting, Wrong};
use crate::lake::plan::MaxRejects;

/// The options of `[definitions]`.
pub(super) const SHARED: [&str; 4] = study::DEFINITIONS;

/// A section of the file.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// Its name.
    pub name: &'static str,
    /// The parser and the defaults.
    pub reader: Reader,
}

const OF_TRACE: Part = Part {
    name: TRACE,
    reader: Reader { check: check_trace, check_alone: check_trace, usual: usual_of_trace },
};

const OF_DEFINITIONS: Part = Part {
    name: DEFINITIONS,
    reader: Reader {
        check: check_definitions,
        check_alone: check_definitions,
        usual: || words::write(&Definitions::default()),
    },
};

/// All sections.
pub(super) fn sections() -> impl Iterator<Item = Part> {
    let of_studies = list::steps()
        .filter_map(|(study, step)| Some(Part { name: study.name, reader: step.section? }));
    [OF_TRACE, OF_DEFINITIONS].into_iter().chain(of_studies)
}

/// The names of the steps, in the order in which they run.
pub fn steps() -> impl Iterator<Item = &'static str> {
    list::steps().map(|(study, _)| study.name)
}

fn check_definitions(section: &Section) -> Result<(), Wrong> {
    words::read::<Definitions>(section).map(drop)
}

fn check_trace(section: &Section) -> Result<(), Wrong> {
    let choice: IngestChoice = words::read(&without_paths(section)).map_err(|wrong| {
        // The folders are options of this section, but not of `ingest`.
        let problem = wrong.problem.replacen("(known: ", "(known: folder, lake, out, ", 1);
        Wrong { problem, ..wrong }
    })?;
    if choice.table.is_some() && choice.tables.is_some() {
        return Err(serde::de::Error::custom("`table` cannot be used with `tables`"));
    }
    let is_path = |name: &&&str| matches!(section.get(**name), Some(Setting::Many(_)));
    match PATHS.iter().find(is_path) {
        Some(name) => Err(serde::de::Error::custom(format!("`{name}` is one folder"))),
        None => Ok(()),
    }
}

fn usual_of_trace() -> Section {
    let max_rejects = Some(MaxRejects::default());
    words::write(&IngestChoice { max_rejects, ..IngestChoice::default() })
}

#[cfg(feature = "cli")]
#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use clap::{Args, Command};

    use super::*;
    use crate::answers::account::AccountPlan;
    use crate::answers::describe::DescribePlan;
    use crate::answers::detect::plan::DetectAsked;
    use crate::answers::fairness::plan::FairnessPlan;
    use crate::answers::load::LoadPlan;
    use crate::answers::machines::MachinesPlan;
    use crate::answers::predict::PredictPlan;
    use crate::answers::replay::plan::ReplayPlan;
    use crate::answers::study::Plan;
    use crate::answers::sweep::plan::SweepPlan;

    /// Checks two things: a command without flags has the same plan as an empty section, and a plan
    /// that is written and read again is the same.
    fn check<P: Plan + Args + Debug + PartialEq>(name: &str) {
        let flags = |words: &[&str]| {
            let command = P::augment_args(Command::new("jobfate"));
            let words = [&["jobfate"], words].concat();
            let matches = command.try_get_matches_from(words).unwrap();
            words::write(&P::from_arg_matches(&matches).unwrap())
        };
        assert_eq!(flags(&[]), words::write(&P::default()), "{name}");
        let again: P = words::read(&words::write(&P::default())).unwrap();
        assert_eq!(again, P::default());
    }

    #[test]
    fn the_defaults_are_those_of_the_flags() {
        check::<DescribePlan>("describe");
        check::<AccountPlan>("account");
        check::<LoadPlan>("load");
        check::<MachinesPlan>("machines");
        check::<PredictPlan>("predict");
        check::<SweepPlan>("sweep");
        check::<DetectAsked>("detect");
        check::<ReplayPlan>("replay");
        check::<FairnessPlan>("fairness");
    }

    #[test]
    fn what_is_chosen_is_written_and_read_as_the_same() {
        let source = [
            ("policies", "fifo fair+late:cap={0.1,0.2}"),
            ("cluster", "cluster:nodes=9,cpu=0.5"),
            ("from", "0.5"),
            ("killed", "run-time"),
            ("estimates", "factor:2"),
            ("seeds", "3"),
        ];
        let section: Section =
            source.iter().map(|(name, word)| ((*name).to_owned(), (*word).into())).collect();
        let plan: ReplayPlan = words::read(&section).unwrap();
        let again: ReplayPlan = words::read(&words::write(&plan)).unwrap();
        assert_eq!(again, plan);
        // Other serde formats can store a plan, too.
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<ReplayPlan>(&json).unwrap(), plan);
        let parts: IngestChoice =
            serde_json::from_str(r#"{"parts": "0-3,7", "buckets": 4}"#).unwrap();
        assert_eq!(serde_json::to_value(parts).unwrap()["parts"], "0-3,7");
    }
}

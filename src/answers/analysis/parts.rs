//! The parts of an analysis: one list, from which its steps and the sections of its file follow.
//!
//! In: the plans of all studies. Out: a row for each, with what it shares with others, how its
//! section is read, and what it asks where nothing is said.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{
    CpuDefinition, DEFINITIONS, Definitions, IngestChoice, MaxRejects, Section, Setting, TRACE,
    Wrong, without_paths, words,
};
use crate::answers::account::{AccountPlan, CpuChoice};
use crate::answers::describe::DescribePlan;
use crate::answers::detect::plan::DetectAsked;
use crate::answers::fairness::plan::FairnessPlan;
use crate::answers::replay::plan::ReplayPlan;
use crate::answers::sweep::plan::SweepPlan;

/// The options of `[definitions]`.
pub(super) const SHARED: [&str; 4] = ["cpu", "classes", "window-end", "open-attempts"];

/// What a study asks: the same struct for the flags of its command and for a section of a file.
pub trait Plan: Serialize + DeserializeOwned + Default {
    /// The name of its section, which is that of its command.
    const SECTION: &'static str;

    /// Takes over what all studies have in common.
    fn define(&mut self, definitions: &Definitions) {
        let _ = definitions;
    }

    /// Whether what was chosen can stand together.
    ///
    /// # Errors
    /// It cannot.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The plans that a section asks for: one, where nothing else is said.
    ///
    /// # Errors
    /// The section has an option that the plan does not have, or a value that it does not take.
    fn all(section: &Section) -> Result<Vec<Self>, Wrong> {
        let plan: Self = words::read(section)?;
        plan.check().map_err(serde::de::Error::custom)?;
        Ok(vec![plan])
    }
}

impl Plan for DescribePlan {
    const SECTION: &'static str = "describe";

    fn define(&mut self, definitions: &Definitions) {
        self.classes = definitions.classes;
    }

    /// One for each `what`.
    fn all(section: &Section) -> Result<Vec<Self>, Wrong> {
        let mut section = section.clone();
        let whats = match section.remove("what") {
            Some(Setting::Many(whats)) => whats,
            Some(single) => {
                section.insert("what".to_owned(), single);
                return Ok(vec![words::read(&section)?]);
            }
            None => return Ok(vec![words::read(&section)?]),
        };
        let each = whats.into_iter().map(|what| {
            section.insert("what".to_owned(), Setting::One(what));
            words::read(&section)
        });
        each.collect()
    }
}

impl Plan for AccountPlan {
    const SECTION: &'static str = "account";

    fn define(&mut self, definitions: &Definitions) {
        self.choice = CpuChoice { cpu: definitions.cpu, classes: definitions.classes };
    }
}

impl Plan for SweepPlan {
    const SECTION: &'static str = "sweep";

    fn define(&mut self, definitions: &Definitions) {
        self.choice = CpuChoice { cpu: definitions.cpu, classes: definitions.classes };
    }
}

impl Plan for DetectAsked {
    const SECTION: &'static str = "detect";
}

impl Plan for ReplayPlan {
    const SECTION: &'static str = "replay";

    fn check(&self) -> Result<(), String> {
        self.check()
    }
}

impl Plan for FairnessPlan {
    const SECTION: &'static str = "fairness";

    fn define(&mut self, definitions: &Definitions) {
        // Published CPU is known per job and not over time.
        self.cpu = definitions.cpu.map(|cpu| match cpu {
            CpuDefinition::Published => CpuDefinition::Measured,
            other => other,
        });
    }
}

/// How a section is read.
#[derive(Clone, Copy)]
struct Reader {
    check: fn(&Section) -> Result<(), Wrong>,
    usual: fn() -> Section,
}

/// A part of an analysis.
#[derive(Clone, Copy)]
pub struct Part {
    /// Its name: of the step, the section and the command.
    pub name: &'static str,
    /// Whether it is a step that can be left out.
    pub is_step: bool,
    /// The options of `[definitions]` that it has.
    pub(super) shares: &'static [&'static str],
    /// How its section is read, if it has one.
    section: Option<Reader>,
}

impl Part {
    /// Something that every analysis has.
    const fn frame(name: &'static str, section: Reader) -> Self {
        Self { name, is_step: false, shares: &[], section: Some(section) }
    }

    /// A step that nothing is asked of.
    const fn plain(name: &'static str, shares: &'static [&'static str]) -> Self {
        Self { name, is_step: true, shares, section: None }
    }

    /// A study with a plan.
    const fn study<P: Plan>(shares: &'static [&'static str]) -> Self {
        let reader = Reader {
            check: |section| P::all(section).map(drop),
            usual: || words::write(&P::default()),
        };
        Self { name: P::SECTION, is_step: true, shares, section: Some(reader) }
    }

    /// Whether it takes a section.
    pub(super) fn check(&self, section: &Section) -> Result<(), Wrong> {
        self.section.map_or(Ok(()), |reader| (reader.check)(section))
    }

    /// What it asks where nothing is said.
    pub(super) fn usual(&self) -> Section {
        self.section.map(|reader| (reader.usual)()).unwrap_or_default()
    }
}

const OF_TRACE: Reader = Reader { check: check_trace, usual: usual_of_trace };

const OF_DEFINITIONS: Reader = Reader {
    check: |section| words::read::<Definitions>(section).map(drop),
    usual: || words::write(&Definitions::default()),
};

/// All of them; the steps in the order in which they run.
pub const PARTS: [Part; 10] = [
    Part::frame(TRACE, OF_TRACE),
    Part::frame(DEFINITIONS, OF_DEFINITIONS),
    Part::plain("verify", &[]),
    Part::plain("classify", &["classes", "window-end"]),
    Part::study::<DescribePlan>(&["classes", "window-end", "open-attempts"]),
    Part::study::<AccountPlan>(&SHARED),
    Part::study::<SweepPlan>(&SHARED),
    Part::study::<DetectAsked>(&["window-end", "open-attempts"]),
    Part::study::<ReplayPlan>(&["window-end", "open-attempts"]),
    Part::study::<FairnessPlan>(&["cpu", "window-end", "open-attempts"]),
];

/// The names of the steps, in the order in which they run.
pub fn steps() -> impl Iterator<Item = &'static str> {
    PARTS.iter().filter(|part| part.is_step).map(|part| part.name)
}

/// The parts that have a section.
pub(super) fn sections() -> impl Iterator<Item = &'static Part> {
    PARTS.iter().filter(|part| part.section.is_some())
}

fn check_trace(section: &Section) -> Result<(), Wrong> {
    let choice: IngestChoice = words::read(&without_paths(section)).map_err(|wrong| {
        // The folders are options of the section and not of `ingest`.
        let problem = wrong.problem.replacen("(known: ", "(known: folder, lake, out, ", 1);
        Wrong { problem, ..wrong }
    })?;
    if choice.table.is_some() && choice.tables.is_some() {
        return Err(serde::de::Error::custom("`table` cannot be used with `tables`"));
    }
    let is_path = |name: &&&str| matches!(section.get(**name), Some(Setting::Many(_)));
    match super::PATHS.iter().find(is_path) {
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

    /// What the flags give where none is given is what a file gives that says nothing; and what a
    /// plan writes is read as the same plan.
    fn check<P: Plan + Args + Debug + PartialEq>() {
        let flags = |words: &[&str]| {
            let command = P::augment_args(Command::new("jobfate"));
            let words = [&["jobfate"], words].concat();
            let matches = command.try_get_matches_from(words).unwrap();
            words::write(&P::from_arg_matches(&matches).unwrap())
        };
        assert_eq!(flags(&[]), words::write(&P::default()), "{}", P::SECTION);
        let again: P = words::read(&words::write(&P::default())).unwrap();
        assert_eq!(again, P::default());
    }

    #[test]
    fn the_defaults_are_those_of_the_flags() {
        check::<DescribePlan>();
        check::<AccountPlan>();
        check::<SweepPlan>();
        check::<DetectAsked>();
        check::<ReplayPlan>();
        check::<FairnessPlan>();
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
        // Any other format of serde holds a plan as well.
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<ReplayPlan>(&json).unwrap(), plan);
        let parts: IngestChoice =
            serde_json::from_str(r#"{"parts": "0-3,7", "buckets": 4}"#).unwrap();
        assert_eq!(serde_json::to_value(parts).unwrap()["parts"], "0-3,7");
    }
}

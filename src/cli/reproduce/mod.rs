//! `jobfate reproduce`: a published study compared with our results, number by number.

use clap::ValueEnum;

use jobfate::answers::reproduce::{literature, mandai, ota as answers_ota};
use jobfate::faults::Result;

mod all;
mod args;
mod experiments;
mod ota;
mod study;
mod tables;

pub(crate) use args::ReproduceArgs;

/// A published study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StudyName {
    /// Job outcomes, CPU per outcome, and the kill threshold (2017)
    Mandai,
    /// Usage and user priorities of a grid over a week (2009)
    Ota,
    /// A work queue with replication under node failures (2003)
    Tan,
    /// Stragglers when the state of the system changes (2013)
    Asahara,
    /// Finding slow tasks through slow nodes (2014)
    Cui,
    /// What others published about the Google trace of 2011
    Literature,
    /// Ten questions that courses ask of that trace
    Course,
    /// All five papers, with the number of claims per verdict
    All,
}

impl StudyName {
    /// The name of the study's answer.
    pub(crate) const fn answer(self) -> &'static str {
        match self {
            Self::Mandai => "mandai",
            Self::Ota => "ota",
            Self::Tan => "tan",
            Self::Asahara => "asahara",
            Self::Cui => "cui",
            Self::Literature => "literature",
            Self::Course => "course",
            Self::All => "verdicts",
        }
    }

    /// Each study except `all`, in the order of the README.
    pub(crate) const EACH: [Self; 5] =
        [Self::Mandai, Self::Ota, Self::Tan, Self::Asahara, Self::Cui];

    /// Authors and year.
    pub(crate) fn paper(self) -> &'static str {
        match self {
            Self::Mandai => mandai::PAPER,
            Self::Ota => answers_ota::PAPER,
            Self::Tan | Self::Asahara | Self::Cui => experiments::experiment_of(self).paper(),
            Self::Literature => literature::PAPER,
            Self::Course => "ten questions",
            Self::All => "five papers",
        }
    }
}

/// Compares one study, or all of them.
pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    args::check(args)?;
    match args.study {
        StudyName::Mandai | StudyName::Literature => tables::run(args),
        StudyName::Course => tables::course(args),
        StudyName::Ota => {
            tables::lake_of(args)?;
            ota::run(args)
        }
        StudyName::All => all::run(args),
        StudyName::Tan | StudyName::Asahara | StudyName::Cui => experiments::run(args),
    }
}

//! The list of commands, from which the command line, its checks and its dispatch follow.
//!
//! In: parsed flags. Out: the output form of a command, the lakes that it reads, and its run. Each
//! line of the list has a command's flags, its output, and the function that runs it.

use std::path::PathBuf;

use clap::Subcommand;

#[cfg(feature = "serve")]
use super::serve;
use super::{
    Form, about, account, analyze, classify, console, describe, detect, episodes, export, fairness,
    ingest, load, machines, map, monthly, predict, query, replay, report, reproduce, setup, sweep,
    synth, verify, work,
};
use jobfate::faults::Result;

/// How a command answers: `plain` and `reads` (which reads one lake) have no table; `answer` has
/// the flags of all answers; `own` defines its form itself; `results` reads no lake.
macro_rules! form {
    (plain $args:ident) => {
        None
    };
    (reads $args:ident) => {
        None
    };
    (answer $args:ident) => {
        Some($args.answer.form())
    };
    (own $args:ident) => {
        Some($args.form())
    };
    (results $args:ident) => {
        Some($args.form())
    };
}

macro_rules! lakes {
    (plain $args:ident) => {
        Vec::new()
    };
    (reads $args:ident) => {
        vec![$args.lake.clone()]
    };
    (answer $args:ident) => {
        vec![$args.answer.lake.clone()]
    };
    (own $args:ident) => {
        $args.lakes()
    };
    (results $args:ident) => {
        Vec::new()
    };
}

macro_rules! commands {
    ($($(#[$when:meta])* $name:ident($args:ty): $how:ident $run:path,)+) => {
        /// A command with its flags.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$when])* $name($args),)+
        }

        impl Command {
            /// The form of its answer, if it has one.
            #[expect(unused_variables, reason = "not every command has flags of answers")]
            fn form(&self) -> Option<Form> {
                match self {
                    $($(#[$when])* Self::$name(args) => form!($how args),)+
                }
            }

            /// The lakes that it reads.
            #[expect(unused_variables, reason = "not every command reads a lake")]
            pub(crate) fn lakes(&self) -> Vec<PathBuf> {
                match self {
                    $($(#[$when])* Self::$name(args) => lakes!($how args),)+
                }
            }

            /// Runs it.
            pub(crate) fn run(&self) -> Result<()> {
                if let Some(form) = self.form() {
                    console::check_stdout()?;
                    form.check()?;
                }
                match self {
                    $($(#[$when])* Self::$name(args) => $run(args),)+
                }
            }
        }
    };
}

commands! {
    Analyze(analyze::AnalyzeArgs): plain analyze::run,
    Ingest(ingest::IngestArgs): plain ingest::run,
    Map(map::MapArgs): plain map::run,
    Verify(verify::VerifyArgs): answer verify::run,
    Classify(classify::ClassifyArgs): answer classify::run,
    Describe(describe::DescribeArgs): answer describe::run,
    Load(load::LoadArgs): answer load::run,
    Episodes(episodes::EpisodesArgs): answer episodes::run,
    Machines(machines::MachinesArgs): answer machines::run,
    Account(account::AccountArgs): answer account::run,
    Monthly(monthly::MonthlyArgs): answer monthly::run,
    Sweep(sweep::SweepArgs): answer sweep::run,
    Predict(predict::PredictArgs): answer predict::run,
    Detect(detect::DetectArgs): answer detect::run,
    Fairness(Box<fairness::FairnessArgs>): own fairness::run,
    Replay(replay::ReplayArgs): answer replay::run,
    Journal(replay::journal::JournalArgs): plain replay::journal::run,
    Export(export::ExportArgs): reads export::run,
    Report(report::ReportArgs): results report::run,
    Query(query::QueryArgs): answer query::run,
    About(about::AboutArgs): reads about::run,
    Reproduce(reproduce::ReproduceArgs): answer reproduce::run,
    Synth(synth::SynthArgs): plain synth::run,
    Work(work::WorkArgs): plain work::run,
    #[cfg(feature = "serve")]
    Serve(Box<serve::ServeArgs>): plain serve::run,
    Completions(setup::CompletionsArgs): plain setup::completions,
    Man(setup::ManArgs): plain setup::man,
}

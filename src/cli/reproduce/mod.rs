//! `jobfate reproduce`: a published study compared with ours, number by number.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ingest;
use super::{AnswerArgs, console, stop_on_signal};
use crate::cli::shown;
use jobfate::answers::ingest::{IngestChoice, plan};
use jobfate::answers::reproduce::course;
use jobfate::answers::reproduce::literature;
use jobfate::answers::reproduce::mandai;
use jobfate::answers::reproduce::ota as answers_ota;
use jobfate::answers::reproduce::study::{Study, parameters_in_words};
use jobfate::claims::headline;
use jobfate::faults::{Result, Usage};
use jobfate::lake::Lake;

mod all;
mod experiments;
mod ota;
mod study;

/// Repeat a published study and compare number by number
///
/// mandai: Mandai, Kawahara, Kasahara (2017), job outcomes in the Google trace of 2011. A number
/// from incomplete tables is shown but not judged; claims that need a missing table are listed. No
/// parameter is tuned.
///
/// ota: Ota, Aida (2009), fairness among the users of a grid, on a week of any log. The paper does
/// not name its week of Grid'5000. So its worked examples check the formulas, and its figures are
/// drawn for another week. The patterns that the paper sees in its figures are stated as sentences,
/// and each sentence is checked.
///
/// tan, asahara, cui: experiments that are simulated again. Each claim of the paper has a row: the
/// published number, our number with the 95 % interval on which the verdict is based, and the
/// verdict (reproduced, `same_direction`, `not_reproduced`, fitted, `cannot_be_compared`). Every
/// parameter is listed as given by the paper, open, or fitted to one of its numbers.
///
/// literature: what others published about the Google trace of 2011 (durations, users, machines,
/// capacity lost, predictors), each number next to ours. If a definition was not published, each
/// possible one has a row. Scores on other samples are shown but not judged.
///
/// course: the ten questions that courses ask of the Google trace of 2011, each with its exact
/// definition, the query that defines it (`query q23` to `q32`), the answer with its scope, other
/// readings of the same words, and the answers of public reports with the reading that gives the
/// same number.
///
/// all: the five studies one after the other, and a table that counts the claims by verdict. A
/// study whose trace is missing is left out, with a message that says what it needs. With a day of
/// the Google trace and the log LCG it took 13 seconds on two cores.
///
/// Memory: tan, asahara and cui take 100 MB per thread. mandai and ota take 150 MB, and 170 bytes
/// for each row of the tables of events and usage in the lake's largest bucket, per thread. If the
/// trace is ingested first, that step takes the memory named in the help of `ingest`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate reproduce mandai clusterdata-2011-2 --lake lake --out reports/mandai\n  jobfate reproduce ota LCG.swf.gz --lake lcg --out reports/ota\n  jobfate reproduce ota --lake lcg --from 3 --days 5 --users 22,37,41\n  jobfate reproduce literature --lake lake\n  jobfate reproduce course --lake lake --out reports/course\n  jobfate reproduce all --lake lake --ota-lake lcg --out papers\n  jobfate reproduce tan --out reports/tan\n  jobfate reproduce cui --runs 3 --format csv\n  jobfate reproduce tan --vary period_s=10,30,70,100 --out reports/tan\n  jobfate reproduce cui --vary slow_speed=0.1,0.2,0.4 --vary slow_nodes=1,2,3 --out maps"
)]
pub(crate) struct ReproduceArgs {
    /// The study, or all of them
    #[arg(value_enum)]
    pub study: StudyName,

    /// Folder of the trace; tables missing in --lake are ingested
    #[arg(value_name = "TRACE_DIR")]
    pub trace: Option<PathBuf>,

    /// First seed of an experiment; run k has this seed plus k
    #[arg(long, value_name = "SEED", value_parser = jobfate::units::natural::<u64>)]
    pub seed: Option<u64>,

    /// Runs of each setting of an experiment
    ///
    /// By default 100 for tan (a tenth for figures 3 and 4, as in the paper), 5 for asahara, 10 for
    /// cui.
    #[arg(long, value_name = "RUNS", value_parser = jobfate::units::whole(1..=100_000u32))]
    pub runs: Option<u32>,

    #[command(flatten)]
    pub week: WeekArgs,

    /// Lake of the log that ota reads, for `all`
    ///
    /// By default --lake, if it holds a log; mandai is then left out, because it needs the Google
    /// trace.
    #[arg(long, value_name = "DIR")]
    pub ota_lake: Option<PathBuf>,

    /// Count the verdicts of stored results, for `all`
    ///
    /// No study is run: `DIR/NAME/NAME.csv` is read for each study, as `reproduce all --out DIR`
    /// and `reproduce NAME --out DIR/NAME` write it.
    #[arg(long, value_name = "DIR")]
    pub stored: Option<PathBuf>,

    #[command(flatten)]
    pub parameters: experiments::ParameterArgs,

    #[command(flatten)]
    pub answer: AnswerArgs,
}

/// Which days and users the figures of ota show.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WeekArgs {
    /// First day of the figures of ota, from the first event
    ///
    /// By default 0. The paper chose its week at random and does not name it.
    #[arg(long, value_name = "DAYS")]
    pub from: Option<String>,

    /// Days in the figures of ota; 7 as in the paper
    #[arg(long, value_name = "DAYS")]
    pub days: Option<String>,

    /// Number or names of the users in the figures of ota
    ///
    /// The number of heaviest users, by default 7, or up to 7 names separated by commas, for
    /// example `--users 22,37,41`; write a single name with a comma at the end. The sentences
    /// describe these users.
    #[arg(long, value_name = "COUNT|NAME,...")]
    pub users: Option<String>,
}

impl WeekArgs {
    /// Whether any of these flags is set.
    pub(crate) const fn is_chosen(&self) -> bool {
        self.from.is_some() || self.days.is_some() || self.users.is_some()
    }
}

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
    /// The name of the answer.
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

    /// Every single study, in the order of the README.
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

/// The study of 2017 with the tables of a lake.
pub(crate) fn mandai_of(lake: &Lake, args: &AnswerArgs) -> Result<Study> {
    let study = mandai::study(lake, super::windows(lake, args)?)?;
    study.notes.iter().for_each(console::note);
    Ok(study)
}

pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    check(args)?;
    match args.study {
        StudyName::Mandai | StudyName::Literature => {
            let lake = lake_of(args)?;
            let files = shown::files(args.answer.out.as_deref(), args.study.answer())?;
            let study = match args.study {
                StudyName::Mandai => mandai_of(&lake, &args.answer)?,
                _ => literature::study(&lake, super::windows(&lake, &args.answer)?)?,
            };
            console::note(format!("{}: {}", study.paper, headline(&study.claims)));
            parameters_in_words(&study.parameters).iter().for_each(console::note);
            study::give(&study, None, files, Some(&args.answer.form()))
        }
        StudyName::Course => course(args),
        StudyName::Ota => {
            lake_of(args)?;
            ota::run(args)
        }
        StudyName::All => all::run(args),
        StudyName::Tan | StudyName::Asahara | StudyName::Cui => experiments::run(args),
    }
}

/// The ten questions with the tables of a lake.
fn course(args: &ReproduceArgs) -> Result<()> {
    let lake = lake_of(args)?;
    let mut files = shown::files(args.answer.out.as_deref(), args.study.answer())?;
    let course = course::course(&lake, super::windows(&lake, &args.answer)?)?;
    course.unanswered().iter().for_each(console::note);
    if let Some(files) = &mut files {
        files.table("course-readings", &course.readings())?;
    }
    let table = course.table();
    shown::give(&course.answer(&table), files, &course.origin, &args.answer.form())
}

/// Checks that a study supports the given flags.
fn check(args: &ReproduceArgs) -> Result<()> {
    let wrong = |text: &str| Err(Usage(text.to_owned()).into());
    let is_drawn = args.seed.is_some() || args.runs.is_some();
    let is_set = !args.parameters.set.is_empty() || !args.parameters.vary.is_empty();
    match args.study {
        StudyName::Mandai | StudyName::Literature | StudyName::Course if is_drawn || is_set => {
            wrong(
                "--seed, --runs, --set and --vary do not apply to this study, which draws no random \
            numbers; --window-end moves the end of the trace",
            )
        }
        StudyName::Ota if is_drawn => {
            wrong("--seed and --runs apply to experiments; this study draws no random numbers")
        }
        StudyName::All if is_set => wrong("--set and --vary apply to a single study"),
        StudyName::All if args.stored.is_some() && is_drawn => {
            wrong("--seed and --runs do not apply to --stored, which runs no experiment")
        }
        _ if args.week.is_chosen() && !matches!(args.study, StudyName::Ota) => {
            wrong("--from, --days and --users apply to ota")
        }
        _ if args.ota_lake.is_some() && !matches!(args.study, StudyName::All) => {
            wrong("--ota-lake applies to `all`; a single study takes --lake")
        }
        _ if args.stored.is_some() && !matches!(args.study, StudyName::All) => {
            wrong("--stored applies to `all`: it counts the verdicts of every stored study")
        }
        _ => Ok(()),
    }
}

/// The lake for a study of a trace; missing parts of the trace are ingested.
pub(crate) fn lake_of(args: &ReproduceArgs) -> Result<Lake> {
    if let Some(trace) = &args.trace {
        let plan = plan(trace, &args.answer.lake, &IngestChoice::default(), console::say)?;
        ingest::run_plan(&plan, false, &stop_on_signal()?)?;
    }
    Ok(Lake::open(&args.answer.lake)?)
}

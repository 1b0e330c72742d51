//! The options of `reproduce`, and which of them each study supports.

use std::path::PathBuf;

use clap::Args;

use super::super::AnswerArgs;
use super::StudyName;
use jobfate::faults::{Result, Usage};

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
    pub parameters: ParameterArgs,

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

/// Parameters of an experiment.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ParameterArgs {
    /// Set a parameter of an experiment; can be repeated
    ///
    /// The parameters, their values and their origin (given by the paper, open, or fitted to one of
    /// its numbers) are printed with every result, for example `--set period_s=70`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Run an experiment for several values of a parameter
    ///
    /// `KEY=VALUE,VALUE,...`, for example `--vary period_s=10,30,70,100`. A second table and a chart
    /// show how each claim depends on it, `NAME-varied.csv` in --out. Given twice, for two
    /// parameters of an experiment, it runs every pair of values; maps show where each claim holds.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub vary: Vec<String>,
}

/// Checks that a study supports the given flags.
pub(super) fn check(args: &ReproduceArgs) -> Result<()> {
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

//! The command line: from flags to a plan, an outcome and text. The only layer that uses all
//! others, and the only one that prints.
//!
//! In: the command line. Out: data on stdout, everything else on stderr, and an exit code. Each
//! command is one file with `Args`, a function that checks them, and one that shows the outcome.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use jobfate::charts::{ChartFormat, Look};
use jobfate::digits::{self, counted};
use jobfate::facts::window::{OpenAttempts, Windows};
use jobfate::faults::{Code, Hindered, Interrupted, Result, Usage};
use jobfate::lake::{Lake, reads};
use jobfate::results::kind::FOR_ALL;
use jobfate::results::store::Pictures;
use jobfate::results::view::View;
use jobfate::schema::Table;
use jobfate::sources::part::Progress;
use jobfate::units::parse_micros;

mod about;
mod account;
pub(crate) mod analyze;
mod classify;
#[macro_use]
mod commands;
mod console;
mod damage;
mod describe;
mod detect;
mod early;
mod engine;
mod episodes;
mod exit;
mod export;
mod fairness;
mod ingest;
mod load;
mod machines;
mod map;
mod monthly;
mod predict;
mod query;
mod replay;
mod report;
mod reproduce;
#[cfg(feature = "serve")]
mod serve;
mod setup;
mod shown;
pub(crate) mod sweep;
mod synth;
#[cfg(test)]
mod tests;
mod verify;
mod version;
mod work;
#[cfg(feature = "serve")]
mod worker;

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

/// The outcome and cost of every job in a cluster trace, and what another policy would have changed
#[derive(Debug, Parser)]
#[command(name = "jobfate", version = version::short(), long_version = version::long(), max_term_width = 100)]
struct Cli {
    /// Write only warnings and errors to stderr
    #[arg(long, short, global = true, display_order = 900)]
    quiet: bool,

    /// Also write how many bytes of each table were read
    #[arg(long, short, global = true, display_order = 901, conflicts_with = "quiet")]
    verbose: bool,

    #[command(subcommand)]
    command: Command,
}

/// Flags of every command that answers a question from a lake.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct AnswerArgs {
    /// Folder of the lake
    #[arg(long, value_name = "DIR", default_value = "lake")]
    pub lake: PathBuf,

    /// Format of the answer on stdout
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub view: ViewArgs,

    /// Rows to show, after --sort
    #[arg(long, value_name = "ROWS", value_parser = jobfate::units::natural::<usize>)]
    pub top: Option<usize>,

    /// Folder for result.json, data and charts
    ///
    /// Created if it does not exist. Holds `result.json` (the answer with the command line, the
    /// settings, the checksums of the input and of the other files), the answer as CSV and Parquet,
    /// and charts as SVG and PNG. Files of an earlier run of the command are replaced or removed; a
    /// `result.json` of another command is kept under the name of its answer. Other files are never
    /// overwritten: the command refuses a folder with such a file in the way.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub charts: ChartArgs,

    /// End of the window in seconds of the trace clock
    ///
    /// Jobs and attempts that are still open are closed there. By default 2506200 for a whole table
    /// of the 2011 trace, and otherwise the last event of the table. Must not be before the last
    /// event.
    #[arg(long, value_name = "SECONDS", value_parser = parse_micros)]
    pub window_end: Option<i64>,
}

/// Flags about the columns and rows that are shown.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ViewArgs {
    /// Columns to show: `all`, or a list of names
    ///
    /// By default a terminal shows the most important columns; a pipe, CSV and Parquet have all of
    /// them. JSON and the files of --out are always complete.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub columns: Vec<String>,

    /// Column to sort the rows by, `NAME` or `NAME:desc`
    ///
    /// Ascending, or descending with `:desc`. Rows without a value come last; rows with the same
    /// value keep their order.
    #[arg(long, value_name = "NAME")]
    pub sort: Option<String>,

    /// Width of tables in characters, 0 for no limit
    ///
    /// By default the width of the terminal, and no limit in a pipe. A table that is too wide has
    /// its headers in several lines, is transposed if it has few rows, or is printed in several
    /// pieces.
    #[arg(long, value_name = "CHARACTERS", value_parser = jobfate::units::natural::<usize>)]
    pub width: Option<usize>,
}

impl AnswerArgs {
    /// The form of the answer.
    pub(crate) fn form(&self) -> Form {
        Form::new(self.format, &self.view, self.top).with_charts(&self.charts)
    }
}

/// Flags about the charts of --out.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ChartArgs {
    /// Formats of charts: svg, png, pdf
    ///
    /// [default: svg and png]
    #[arg(long, value_name = "FORMAT,...", value_enum, value_delimiter = ',', requires = "out")]
    pub chart_format: Vec<ChartFormat>,

    /// Also write the numbers that each chart draws
    ///
    /// A row for each bar, point, field or span, as `CHART.data.parquet`.
    #[arg(long, requires = "out")]
    pub chart_data: bool,

    /// Width of charts on paper, `3.3in` or `8.4cm`
    ///
    /// Text is 7.5 points high for every width; a PNG has 384 dots per inch. A paper has its own
    /// captions, so title and caption are not in the picture: they are in CHART.txt beside it. By
    /// default charts are made for screens, 840 pixels wide, with title and caption. Leave it out
    /// for results that `report` shows.
    #[arg(long, value_name = "WIDTH", value_parser = look_of, requires = "out")]
    pub chart_width: Option<Look>,

    /// Draw charts without title and caption, for papers
    ///
    /// They are written to CHART.txt instead. `--chart-width` implies this.
    #[arg(long, requires = "out")]
    pub no_title: bool,
}

/// Parses the width of charts.
fn look_of(text: &str) -> std::result::Result<Look, String> {
    let inches = |number: &str, per_inch: f64| Some(number.trim().parse::<f64>().ok()? / per_inch);
    let width = match (text.strip_suffix("in"), text.strip_suffix("cm"), text.strip_suffix("mm")) {
        (Some(number), ..) => inches(number, 1.0),
        (_, Some(number), _) => inches(number, 2.54),
        (.., Some(number)) => inches(number, 25.4),
        _ => None,
    };
    let width = width.ok_or("write a number with `in`, `cm` or `mm`, as in 3.3in")?;
    Look::paper(width).map_err(|error| error.to_string())
}

impl ChartArgs {
    fn pictures(&self) -> Pictures {
        let mut pictures = Pictures::default();
        if !self.chart_format.is_empty() {
            pictures.formats.clone_from(&self.chart_format);
            pictures.formats.sort_unstable();
            pictures.formats.dedup();
        }
        pictures.look = self.chart_width.unwrap_or_default();
        pictures.look.is_titled = !self.no_title && self.chart_width.is_none();
        pictures.has_data = self.chart_data;
        pictures
    }
}

/// The output form of an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    /// The format on stdout.
    pub format: Format,
    /// Columns and rows on stdout.
    pub view: View,
    /// Charts in the folder of `--out`.
    pub pictures: Pictures,
}

impl Form {
    /// The output form from the flags for columns and rows.
    pub(crate) fn new(format: Format, args: &ViewArgs, top: Option<usize>) -> Self {
        let ViewArgs { columns, sort, width } = args.clone();
        let view = View { columns, sort, top, width };
        Self { format, view, pictures: Pictures::default() }
    }

    /// Adds the settings for charts from their flags.
    pub(crate) fn with_charts(self, args: &ChartArgs) -> Self {
        Self { pictures: args.pictures(), ..self }
    }

    /// Refuses output that would harm a terminal, and flags that would have no effect.
    fn check(&self) -> Result<()> {
        let problem = match self.format {
            Format::Parquet if console::width().is_some() => {
                "--format parquet does not print to a terminal: redirect it to a file (> \
                answer.parquet), or give --out"
            }
            Format::Json if self.view.is_chosen() => {
                "--columns, --sort and --top apply to tables; JSON is always complete"
            }
            _ => return Ok(()),
        };
        Err(Usage(problem.to_owned()).into())
    }
}

/// The flag of every command that uses attempts.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct AttemptArgs {
    /// When an attempt without a recorded end is closed
    ///
    /// The end of an attempt may be in a part that is not loaded. An attempt never outlasts its
    /// job. With `job-end` it is closed at the last terminal event of its job in `job_events`, if
    /// no SUBMIT or SCHEDULE of the job follows and the window ends later, but never before its own
    /// start. If its job is open, or missing in `job_events`, the attempt is closed at the window's
    /// end.
    #[arg(long, value_name = "WHERE", value_enum, default_value_t)]
    pub open_attempts: OpenAttempts,
}

/// The windows with their ends. An end before the last event would cut history short, so it is
/// refused.
pub(crate) fn windows(lake: &Lake, args: &AnswerArgs) -> Result<Windows> {
    windows_to(lake, args.window_end)
}

/// The windows with the end that the user set.
pub(crate) fn windows_to(lake: &Lake, window_end: Option<i64>) -> Result<Windows> {
    Windows::ending(lake, window_end).map_err(|early| Usage(early.of_option()).into())
}

/// Warns of assumptions that affect every answer: what a task is, and whether the lake has only
/// some of the rows of the trace.
pub(crate) fn show_remarks_for_all(lake: &Lake) {
    for about in FOR_ALL {
        show_remarks(lake, Table::TaskEvents, about);
    }
}

/// Warns of assumptions about a table if they affect the question.
pub(crate) fn show_remarks(lake: &Lake, table: Table, about: &str) {
    for (wording, count) in lake.remarks(table).into_iter().filter(|one| one.0.starts_with(about)) {
        console::warn(format!("{table}: {wording}: {}", digits::grouped(count)));
    }
}

/// Form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns to read
    #[default]
    Table,
    /// Comma-separated, with a header
    Csv,
    /// One JSON value
    Json,
    /// A Parquet file
    Parquet,
}

/// Lets a signal stop a long run between two blocks.
#[derive(Clone)]
pub(crate) struct Stop {
    progress: Arc<Progress>,
    is_at_once: Arc<AtomicBool>,
}

impl Stop {
    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Declares that from now on a signal may end the program immediately, since the next run
    /// creates incomplete files again. If a signal came earlier, the program ends now.
    pub(crate) fn at_once(&self) -> Result<()> {
        self.is_at_once.store(true, Ordering::Relaxed);
        if self.progress.is_cancelled.load(Ordering::Relaxed) {
            return Err(Interrupted.into());
        }
        Ok(())
    }
}

/// Catches SIGINT and SIGTERM from now on; a second signal ends the program immediately.
pub(crate) fn stop_on_signal() -> Result<Stop> {
    let stop = Stop { progress: Arc::default(), is_at_once: Arc::default() };
    let caught = stop.clone();
    ctrlc::set_handler(move || {
        let is_second = caught.progress.is_cancelled.swap(true, Ordering::Relaxed);
        if caught.is_at_once.load(Ordering::Relaxed) {
            console::note(Interrupted.to_string());
        }
        if is_second || caught.is_at_once.load(Ordering::Relaxed) {
            #[expect(clippy::exit, reason = "the next run removes or rewrites incomplete files")]
            std::process::exit(Code::Interrupted as i32);
        }
        console::note("stopping after the blocks in progress; interrupt again to stop at once");
    })
    .map_err(|error| no_signals(&error))?;
    Ok(stop)
}

/// Ends the program at SIGINT and SIGTERM, after calling `first` to clean up.
pub(crate) fn end_on_signal(first: fn()) -> Result<()> {
    ctrlc::set_handler(move || {
        first();
        console::note("stopped");
        #[expect(clippy::exit, reason = "the next run rewrites incomplete files")]
        std::process::exit(Code::Interrupted as i32);
    })
    .map_err(|error| no_signals(&error).into())
}

fn no_signals(error: &ctrlc::Error) -> Hindered {
    Hindered(format!(
        "could not catch interrupts: {error} (the system gave no thread or no pipe for it; see \
        `ulimit -u` and `ulimit -n`)"
    ))
}

/// The command line in clap's form, for help texts, completions and tests.
pub(crate) fn command() -> clap::Command {
    taking_negatives(Cli::command())
}

/// Lets options accept negative numbers, so that the error for such a number names the option.
fn taking_negatives(command: clap::Command) -> clap::Command {
    let take = |arg: clap::Arg| {
        let is_option = !arg.is_positional() && arg.get_action().takes_values();
        arg.allow_negative_numbers(is_option)
    };
    command.mut_args(take).mut_subcommands(taking_negatives)
}

/// The arguments of the process.
fn parsed() -> std::result::Result<Cli, clap::Error> {
    let matches = command().try_get_matches()?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))
}

/// Whether the error says that this command is unknown.
fn is_unknown(error: &clap::Error, command: &str) -> bool {
    let name = error.get(ContextKind::InvalidSubcommand);
    matches!(name, Some(ContextValue::String(name)) if name == command)
}

/// Runs the program with the arguments of the process.
pub(crate) fn main() -> ExitCode {
    let cli = match parsed() {
        Ok(cli) => cli,
        Err(error) if cfg!(not(feature = "serve")) && is_unknown(&error, "serve") => {
            let text = "this build has no portal: build it with `--features serve`";
            return exit::report(&Usage(text.to_owned()).into()).into();
        }
        Err(error) => {
            // Help and version are answers; everything else is wrong use.
            let code = if error.use_stderr() { Code::Usage } else { Code::Done };
            let is_told = if error.use_stderr() { Ok(()) } else { console::check_stdout() };
            let printed = is_told.and_then(|()| error.print());
            let failed = printed.err().filter(|cause| cause.kind() != io::ErrorKind::BrokenPipe);
            return match failed {
                Some(cause) => exit::report(&cause.into()).into(),
                None => code.into(),
            };
        }
    };
    if cli.quiet {
        console::be_quiet();
    }
    #[cfg(feature = "serve")]
    worker::watch();
    let lakes = cli.command.lakes();
    let done = damage::caught(|| damage::prepare().and_then(|()| cli.command.run()));
    if cli.verbose {
        reads::bytes_read().for_each(|(table, bytes)| {
            console::note(format!("read of {table}: {}", counted(bytes, "byte")));
        });
    }
    match done {
        Ok(()) => Code::Done,
        Err(error) => exit::report(&damage::explained(error, &lakes)),
    }
    .into()
}

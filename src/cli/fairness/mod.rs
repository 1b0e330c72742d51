//! `jobfate fairness`: who used how much, when, and what indices of fairness make of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};

use super::ViewArgs;
use super::{AttemptArgs, Form, Format, console, end_on_signal, parse_window_end};
use crate::answers::fairness as answer;
use crate::answers::fairness::{Found, Wanted, what_if};
use crate::cli::shown;
use crate::defaults;
use crate::digits;
use crate::fairness::accounts::Tree;
use crate::fairness::factors::Factors;
use crate::fairness::formula;
use crate::fairness::gather::{Accrual, By, Machines, gather};
use crate::fairness::indices::{self, Formulated, Index};
use crate::fairness::program::{self, Program};
use crate::fairness::series::{Series, evaluate};
use crate::fairness::template;
use crate::faults::{Result, Usage};
use crate::progress;
use crate::studies::ledger::CpuDefinition;

mod new;
pub(crate) mod ota;
mod room;
mod span;

/// Say who used how much, when, and how fairly
///
/// Usage per user and interval from one lake or several, what indices of fairness make of it, and
/// what an administrator would note. Indices: metered (RV, CV), condor (RUP, EUP of the paper),
/// htcondor (floor 0.5, factor 1000), slurm (classic), fair-tree, sge, jain, gini, cv, max-min,
/// drf, slowdown, each written `name:key=value,...`; or one's own as a formula, a TOML file or a
/// program.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_long_help = "Examples:\n  jobfate fairness --lake lcg --cpu requested --days 7 --out results\n  jobfate fairness --lake lcg --index condor:half_life_s=21600 --show series --format csv\n  jobfate fairness --lake one --lake two --cpu slots --show clusters\n  jobfate fairness --lake lcg --cpu requested --what-if\n  jobfate fairness --lake lcg --formula short=short.formula --index-program own=./index.py\n  jobfate fairness new index.toml --template decay"
)]
pub(crate) struct FairnessArgs {
    #[command(subcommand)]
    pub action: Option<Action>,

    /// Folder of a lake, or NAME=DIR; repeat to merge clusters
    #[arg(long, value_name = "DIR", default_value = "lake")]
    pub lake: Vec<String>,

    /// What CPU time means
    #[arg(long, value_enum, long_help = defaults::cpu_help())]
    pub cpu: Option<CpuDefinition>,

    /// When CPU time is charged
    ///
    /// By default, as every source has it, `running`: under `end` what still runs when the trace
    /// stops is not charged at all.
    #[arg(long, value_enum)]
    pub accrual: Option<Accrual>,

    /// What usage is told apart by
    #[arg(long, value_name = "KEY", value_enum, default_value_t)]
    pub by: By,

    /// Length of an interval in seconds
    ///
    /// By default an hour (3600), and a day (86400) where 100 days or more are shown. All values are
    /// held in memory: users times intervals times columns of all indices, 8 bytes each. At most
    /// 200,000 intervals and 2 GiB of values; more is refused at the start.
    #[arg(long, value_name = "SECONDS")]
    pub interval: Option<f64>,

    /// First day that is shown, from the first event
    #[arg(long, value_name = "DAYS", default_value_t = 0.0)]
    pub from: f64,

    /// Days that are shown; all by default
    #[arg(long, value_name = "DAYS")]
    pub days: Option<f64>,

    /// Days before --from that the indices see
    #[arg(long, value_name = "DAYS", default_value_t = 0.0)]
    pub warm_up: f64,

    /// An index, NAME:KEY=VALUE,...; repeat for several
    ///
    /// By default metered and condor. Files: `charges=FILE` (metered) and `factors=FILE` (condor)
    /// hold lines `KIND NAME FACTOR`, KIND being machine, platform, capacity, site, cluster, user
    /// or group. `user NAME on KIND NAME FACTOR` (or `group`) is the factor of a user on some
    /// machines: condor and htcondor then have a column `eup_on_KIND_NAME` and one `share_on_...`
    /// besides. A value at the end of an interval depends on nothing that comes later: a user has
    /// values from the first submission on. The share of a user follows from what runs and waits;
    /// `charged_cpu_s` is what is charged in the interval.
    #[arg(long, value_name = "INDEX")]
    pub index: Vec<String>,

    /// An index of one's own, a TOML file as `new` writes it
    #[arg(long, value_name = "FILE")]
    pub index_file: Vec<PathBuf>,

    /// An index of one's own, NAME=FILE with a formula
    ///
    /// Statements `state NAME = X`, `update NAME = X`, `display [NAME =] X`, `let NAME = X`,
    /// `heavier larger|smaller`, one a line or divided by `;`. Names: usage (charged), ran, cores,
    /// memory, waiting, ended, factor, entitled, dt, t, k, users, capacity; `sum(X)` over machines
    /// with cpu, charge, `machine_cpu`, `machine_memory`; `all(X)` over users; user, group,
    /// machine, platform, site and cluster compared with a text in quotes. A state begins with the
    /// user's first submission.
    #[arg(long, value_name = "NAME=FILE")]
    pub formula: Vec<String>,

    /// An index of one's own, NAME=PROGRAM with arguments
    ///
    /// The program is started as it is (no shell; words are divided by spaces). It reads
    /// lines from stdin and answers on stdout, fields divided by tabs:
    ///
    ///   reads    jobfate-fairness 2, begin
    ///   answers  columns NAME...                       the first is charted
    ///   reads    user NUMBER NAME GROUP                a user who has come
    ///   reads    machine NUMBER ID PLATFORM CPU MEMORY SITE CLUSTER
    ///                                                  a machine, before its first use
    ///   reads    interval NUMBER END LENGTH            every interval; times in s
    ///   reads    use USER MACHINE CPU MEMORY WAITING RAN
    ///                                                  seconds of each; CPU is what is charged
    ///   reads    ended USER WAIT RUN                   an attempt that ended
    ///   reads    done
    ///   answers  value USER NUMBER...                  as many as there are columns
    ///   answers  done
    ///
    /// Users and machines are numbered in the order in which they come. A user without a value
    /// keeps the last one. In the end stdin is closed, and the program must end with status 0.
    #[arg(verbatim_doc_comment, long, value_name = "NAME=PROGRAM")]
    pub index_program: Vec<String>,

    /// Longest run of an index program, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub time_limit: f64,

    /// File of accounts with shares, lines `ACCOUNT/USER SHARES`
    ///
    /// Used by slurm, fair-tree and sge, and by jain, gini and cv for entitlements. The accounts
    /// and users of the file are there from the start; a line without lines below it is a user.
    /// SHARES is a number or `parent`, for a user who has the account's shares, or for an account
    /// that is dissolved into the one above. By default the groups of the log (of each user's
    /// first submission), one share each; an account or user is there from its first submission.
    #[arg(long, value_name = "FILE")]
    pub accounts: Option<PathBuf>,

    /// Whether the same name on two lakes is one user
    #[arg(long, value_name = "YES_OR_NO", value_parser = clap::builder::BoolishValueParser::new(), default_value = "yes", action = clap::ArgAction::Set)]
    pub same_users: bool,

    /// How the clocks of several lakes are laid side by side
    #[arg(long, value_enum, default_value_t)]
    pub align: span::Align,

    /// Users named in charts and tables
    #[arg(long, value_name = "COUNT", default_value_t = 7)]
    pub top: usize,

    /// What is shown on stdout
    #[arg(long, value_enum, default_value_t)]
    pub show: answer::Show,

    /// Compare the orders of users under all indices
    ///
    /// Without --index: metered, and condor with half-lives of 6 hours, a day and a week. A table
    /// of pairs of indices; `--show places` names every user with the place under each.
    #[arg(long)]
    pub what_if: bool,

    /// Usage of a user that is too much, CPU-seconds or N%
    ///
    /// Of what ran in the span, whenever it is charged, as all suggestions are.
    #[arg(long, value_name = "CPU_SECONDS", default_value = "10%", value_parser = answer::parse_ceiling)]
    pub ceiling: answer::Ceiling,

    /// Days within which the ceiling is passed early
    ///
    /// By default half of the span.
    #[arg(long, value_name = "DAYS")]
    pub early: Option<f64>,

    /// Share of the capacity below which there is room
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub free: f64,

    /// Form of the answer on stdout
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,

    #[command(flatten)]
    pub view: ViewArgs,

    /// Folder for result.json, series and charts
    ///
    /// `result.json` holds users, machines, clusters and suggestions (with `--what-if` the place of
    /// each user under each index as well); `series.csv` and
    /// `series.parquet` every value of every index, `usage.csv` and `usage.parquet` what each user
    /// was charged and what ran in each interval; a chart per index as SVG and PNG.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// End of the window in seconds of the trace clock
    #[arg(long, value_name = "SECONDS", value_parser = parse_window_end)]
    pub window_end: Option<i64>,

    #[command(flatten)]
    pub attempts: AttemptArgs,
}

/// What can be done besides.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Ask for the parameters of an index and write its file
    New(new::NewArgs),
}

pub(crate) fn run(args: &FairnessArgs) -> Result<()> {
    if let Some(Action::New(new)) = &args.action {
        return new::run(new);
    }
    let mut files = shown::files(args.out.as_deref(), "fairness")?;
    let found = find(args)?;
    let wanted = args.wanted();
    let table = answer::table(&found, &wanted);
    answer::notes(&found, &wanted).iter().for_each(console::note);
    answer::warning(&found).iter().for_each(console::warn);
    let (answer, origin) = (answer::answer(&found, &table, &wanted), answer::origin(&found));
    if let Some(files) = &mut files {
        files.are_made_from(&origin, &answer.settings);
        answer::put_series(&found, files)?;
    }
    shown::give(&answer, files, &origin, &args.form())
}

/// Gathers usage and feeds every index.
fn find(args: &FairnessArgs) -> Result<Found> {
    find_with(args, Ends::AsIndicesRead)
}

/// Whether the ends of attempts are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// Only where an index reads them.
    AsIndicesRead,
    /// In any case.
    Kept,
}

/// The same, with the ends of attempts on request.
fn find_with(args: &FairnessArgs, ends: Ends) -> Result<Found> {
    check(args)?;
    let mut indices = indices_of(args)?;
    if !args.index_program.is_empty() {
        end_on_signal(program::stop_all)?;
    }
    let mut span = span::plan(args)?;
    span.plan.keeps_ends =
        ends == Ends::Kept || indices.iter().any(|(_, index)| index.reads_ends());
    span.plan.keeps_machines = indices.iter().any(|(_, index)| index.reads_machines());
    room::check(&span, &indices)?;
    let bar = console::Bar::of_work("usage", "rows");
    let (mut history, counts) = gather(&span.clusters, &span.plan).map_err(room::refusal)?;
    drop(bar);
    if let Some(path) = &args.accounts {
        history.tree = Tree::load(path, &history.people)?;
        if 0 < history.tree.unlisted {
            let count = digits::counted(history.tree.unlisted as u64, "user");
            console::warn(format!("{count} not among the accounts, put under (others)"));
        }
    }
    let bar = console::Bar::of_work("indices", "intervals");
    progress::expect(indices.len() as u64 * u64::from(history.grid.count));
    let series: Vec<Series> = indices
        .iter_mut()
        .map(|(label, index)| evaluate(label, index.as_mut(), &history))
        .collect::<Result<_, _>>()?;
    drop(bar);
    for series in &series {
        series
            .remarks
            .iter()
            .for_each(|remark| console::warn(format!("{}: {remark}", series.index)));
    }
    Ok(Found { span, history, counts, series })
}

fn check(args: &FairnessArgs) -> Result<()> {
    let wrong = |text: String| Err(Usage(text).into());
    let is_days = |days: f64| days.is_finite() && (0.0..=36_500.0).contains(&days);
    for (flag, days) in [
        ("--from", Some(args.from)),
        ("--days", args.days),
        ("--warm-up", Some(args.warm_up)),
        ("--early", args.early),
    ] {
        if days.is_some_and(|days| !is_days(days)) {
            return wrong(format!("{flag} is a number of days of 0 or more"));
        }
    }
    if args.interval.is_some_and(|interval| !(1.0..=1e9).contains(&interval)) {
        return wrong("--interval is a number of seconds of 1 or more".to_owned());
    }
    if !(0.0..=1.0).contains(&args.free) {
        return wrong("--free is a share from 0 to 1".to_owned());
    }
    if !(0.001..=1e6).contains(&args.time_limit) {
        return wrong("--time-limit is a number of seconds above 0".to_owned());
    }
    if args.cpu == Some(CpuDefinition::Published) {
        let text = "`published` CPU time is known per job and not over time; \
                    take measured, requested or slots";
        return wrong(text.to_owned());
    }
    Ok(())
}

/// The indices that were asked for, built-in ones first.
fn indices_of(args: &FairnessArgs) -> Result<Vec<(String, Box<dyn Index>)>> {
    let mut texts: Vec<&str> = args.index.iter().map(String::as_str).collect();
    let has_own = 0 < args.own_count();
    if texts.is_empty() && args.what_if {
        texts.extend(what_if::DEFAULT);
    } else if texts.is_empty() && !has_own {
        texts.extend(["metered", "condor"]);
    }
    let mut all: Vec<(String, Box<dyn Index>)> = Vec::new();
    for text in texts {
        all.push((text.to_owned(), indices::parse(text)?));
    }
    for path in &args.index_file {
        let index = template::load(path)?;
        all.push((index.name(), index));
    }
    for pair in &args.formula {
        let (name, path) = named(pair, "--formula", "FILE")?;
        let text = crate::fairness::read_text(Path::new(path))?;
        let formula = formula::parse(&text, &[]).map_err(|place| {
            crate::fairness::FairnessError::Formula { path: PathBuf::from(path), place }
        })?;
        let index = Formulated::new(name, formula, Factors::default(), Factors::default());
        all.push((name.to_owned(), Box::new(index)));
    }
    for pair in &args.index_program {
        let (name, command) = named(pair, "--index-program", "PROGRAM")?;
        let words = command.split_whitespace().map(str::to_owned).collect();
        let limit = Duration::from_secs_f64(args.time_limit);
        all.push((name.to_owned(), Box::new(Program::new(name, words, limit))));
    }
    // Of those that are built in the text may be longer: it names files.
    let built_in = all.len() - args.own_count();
    if let Some((name, _)) = all[built_in..].iter().find(|(name, _)| NAME_MAX < name.len()) {
        let cut: String = name.chars().take(20).collect();
        let text = format!("the name `{cut}...` of an index is longer than {NAME_MAX} bytes");
        return Err(Usage(text).into());
    }
    let mut names: Vec<String> = all.iter().map(|index| index.0.clone()).collect();
    names.sort();
    if let Some([twice, _]) = names.array_windows().find(|[one, next]| one == next) {
        return Err(Usage(format!("two indices are called `{twice}`")).into());
    }
    Ok(all)
}

fn named<'a>(pair: &'a str, flag: &str, what: &str) -> Result<(&'a str, &'a str)> {
    match pair.split_once('=') {
        Some((name, rest)) if !name.trim().is_empty() && !rest.trim().is_empty() => {
            Ok((name.trim(), rest.trim()))
        }
        _ => Err(Usage(format!("{flag} `{pair}` is not of the form NAME={what}")).into()),
    }
}

/// A longer name of an index would not fit the names of its files.
const NAME_MAX: usize = 100;

impl FairnessArgs {
    /// How the answer is given on stdout; `--top` chooses users before there is a table.
    pub(super) fn form(&self) -> Form {
        Form::new(self.format, &self.view, None)
    }

    /// What is wanted of the answer.
    fn wanted(&self) -> Wanted {
        let &Self { show, top, what_if, ceiling, early, free, days, .. } = self;
        Wanted { show, top, what_if, ceiling, early, free, days }
    }

    /// How many custom indices there are.
    fn own_count(&self) -> usize {
        self.index_file.len() + self.formula.len() + self.index_program.len()
    }

    /// The folders of the lakes.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        self.lake.iter().map(|text| span::named_lake(text).1).collect()
    }
}

/// Whether single machines are told apart.
pub(super) fn machines_of(args: &FairnessArgs) -> Machines {
    let is_each = args.by == By::Machine
        || 0 < args.own_count()
        || args.index.iter().any(|text| text.contains("charges="));
    if is_each { Machines::Each } else { Machines::Classes }
}

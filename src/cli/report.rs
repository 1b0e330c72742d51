//! `jobfate report`: stored results as pages for a browser, or a comparison of two sets of results.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Form, Format, ViewArgs, console};
use crate::cli::shown;
use jobfate::faults::Result;
use jobfate::report::{check_place, comparison_table, nothing_changed, write, write_comparison};
use jobfate::results::{COMPARE_LIMITS, Limits, PAGE_LIMITS, Stored, compare, read_all, store};

/// Write stored results as pages for a browser
///
/// RESULTS are folders written by `analyze` or by --out of other commands; folders inside them are
/// read too. Nothing is computed again and nothing is downloaded: the pages open from disk. Every
/// chart comes with its data, its caption and the command that made it. The jobs that tables and
/// findings name have separate pages, and so have the machines that left most often, the heaviest
/// users and the classes of machines. On a page you can choose a window of time, the price of a
/// harmed job and the order of rows; on a page of fairness also a half-life and a ceiling. The
/// address of a page keeps these choices, so that you can share them.
///
/// For a folder written by `analyze`, only results of that analysis are shown; other results are
/// listed.
///
/// Memory: 200 MB, and 50 times the size of the largest stored JSON.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  jobfate report reports/analysis\n  jobfate account --lake lake --out results/account\n  jobfate fairness --lake lake --out results/fairness\n  jobfate report results --out pages\n  jobfate report --compare before after --out changes"
)]
pub(crate) struct ReportArgs {
    /// Folders of results, with one result of each command
    #[arg(value_name = "RESULTS", default_value = "reports/analysis")]
    pub results: Vec<PathBuf>,

    /// Compare two folders of results instead
    ///
    /// For every table, shows which rows are in only one folder, which numbers changed, and which
    /// settings and inputs differ. A summary goes to stdout; with --out, the page `comparison.html`
    /// and `comparison.json` have every change. Rows are paired by their first columns; as many
    /// columns are used as identify a row. The names of these columns must be the same in both. If
    /// rows repeat, equal rows are counted. Rows with other meanings and numbers with other units are
    /// listed as not compared. Tables of different months leave out the first and last of each; two
    /// tables of one month each are compared as they are, even if a log has only a part of it.
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], conflicts_with = "results")]
    pub compare: Option<Vec<PathBuf>>,

    /// Folder of the pages, by default `report` inside RESULTS
    ///
    /// The folder must be new, empty, or that of an earlier report, which is replaced as a whole. A
    /// folder with other files or with a changed page is refused.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Format of the comparison on stdout
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        requires = "compare",
        conflicts_with = "results"
    )]
    pub format: Format,
}

impl ReportArgs {
    /// The output form of a comparison on stdout.
    pub(super) fn form(&self) -> Form {
        Form::new(self.format, &ViewArgs::default(), None)
    }
}

pub(crate) fn run(args: &ReportArgs) -> Result<()> {
    if let Some([first, second]) = args.compare.as_deref() {
        check(args.out.as_deref())?;
        let folder = |path: &PathBuf| read(std::slice::from_ref(path), COMPARE_LIMITS);
        let results = [folder(first)?, folder(second)?];
        let changes = compare(&results[0], &results[1]);
        if let Some(said) = nothing_changed(&changes) {
            console::note(said);
        }
        if let Some(out) = &args.out {
            let names = [first, second].map(|path| path.display().to_string());
            let sides = [0, 1].map(|side: usize| (names[side].as_str(), results[side].as_slice()));
            let page = write_comparison(&changes, sides, out)?;
            console::note(format!("wrote {}", page.display()));
        }
        let json = serde_json::json!({ "results": changes });
        return shown::show(&comparison_table(&changes), &args.form(), &json, &store::made());
    }
    let out = args.out.clone().unwrap_or_else(|| args.results[0].join("report"));
    check(Some(&out))?;
    let first = write(&read(&args.results, PAGE_LIMITS)?, &out)?;
    Ok(console::data(&format!("{}\n", first.display()))?)
}

/// Refuses a folder with other files before anything is read.
fn check(out: Option<&Path>) -> Result<()> {
    Ok(out.map_or(Ok(()), check_place)?)
}

/// Reads the results that belong together, and warns of the others.
fn read(folders: &[PathBuf], limits: Limits) -> Result<Vec<Stored>> {
    let chosen = read_all(folders, limits)?;
    for left_out in &chosen.left_out {
        let of = if left_out.has_analysis {
            "from another analysis"
        } else {
            "not from an \
        analysis"
        };
        console::warn(format!("left out: `{}`, which is {of}", left_out.path.display()));
    }
    Ok(chosen.results)
}

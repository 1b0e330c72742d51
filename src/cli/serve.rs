//! `jobfate serve`: the portal, with pages and answers over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{command, console};
use jobfate::faults::{Context, Result, Usage};
use jobfate::serve::{self, Config, Limits, named, new_token};

/// Examples for the help.
const EXAMPLES: &str = "Examples:\n  jobfate serve --lake lake\n  jobfate serve --lake one=lakes/one --lake two=lakes/two --results reports/analysis\n  jobfate serve --lake lake --index-program own=./index.py\n  jobfate serve --watch cluster=/var/log/jobs.swf\n  jobfate serve --lake lake --listen 0.0.0.0:8311 --token-file token --host portal.example.org";

/// Serve lakes and results as a portal for browsers
///
/// Pages show the lakes, the stored report, and a form in which users compare fairness indices and
/// enter their own as a template, as a formula, or as a program that you name here. `GET
/// /api/COMMAND` gives the same answers as `--format json`; `/api/openapi.json` describes them.
/// `/healthz` and `/metrics` are for monitoring.
///
/// By default only this machine can connect. With any other --listen address every client needs a
/// token: that of --token-file or `JOBFATE_TOKEN`, or a new one, which is printed once. A name or
/// address other than that of --listen needs --host. With `0.0.0.0`, give --host for every name.
/// The portal speaks plain HTTP: put a proxy with TLS in front of it, and name its host with
/// --host.
///
/// Every question runs in a separate process with limits on time and memory. SIGTERM ends the
/// portal within 2 seconds; saved indices survive a kill at any time.
///
/// Memory: 50 MB, and for the questions at most --memory for each of the --workers.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Folder of a lake, or NAME=DIR; repeat for several
    ///
    /// By default `lake`, unless --watch is given. A folder without a name is called by its last
    /// part; folders with the same last part are called by the folder around them.
    #[arg(long, value_name = "DIR")]
    pub lake: Vec<String>,

    /// A log or a folder of parts that grows, or NAME=PATH
    ///
    /// It is read into a separate lake in --state, and open pages follow it. A log (SWF, GWF,
    /// Slurm; not compressed) is read up to its last complete line, also after a rotation; after
    /// each change the whole log is read again. A file in a folder is read once it has not changed
    /// for 2 seconds.
    #[arg(long, value_name = "PATH")]
    pub watch: Vec<String>,

    /// Folder of results with a report, or a report
    ///
    /// Its pages are at `/report/`. Only files that the report's own manifest lists are served.
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,

    /// Folder for saved indices and jobs
    ///
    /// Created if it does not exist. One portal can use it at a time.
    #[arg(long, value_name = "DIR", default_value = "portal")]
    pub state: PathBuf,

    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8311")]
    pub listen: SocketAddr,

    /// Further host name by which browsers reach the portal
    ///
    /// `name` or `name:port`, as of a proxy. Requests for any other name or address are refused.
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,

    /// File with the token that clients need
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// Program that users can choose as an index
    ///
    /// `NAME=PROGRAM` with arguments, as for `jobfate fairness`. Users choose it by its name; no
    /// user can start any other program.
    #[arg(long, value_name = "NAME=PROGRAM")]
    pub index_program: Vec<String>,

    /// Questions that run at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = jobfate::units::whole(1..=256u64))]
    pub workers: u64,

    /// Longest time for an answer of the API, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = jobfate::units::whole(1..=86_400u64))]
    pub time_limit: u64,

    /// Longest time for a job, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = jobfate::units::whole(1..=604_800u64))]
    pub job_time_limit: u64,

    /// Most memory of one question, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = jobfate::units::whole(64..=1_048_576u64))]
    pub memory: u64,
}

pub(crate) fn run(args: &ServeArgs) -> Result<()> {
    let programs = args.index_program.iter().map(|pair| program(pair)).collect::<Result<_>>()?;
    let mut lakes = args.lake.clone();
    if lakes.is_empty() && args.watch.is_empty() {
        lakes.push("lake".to_owned());
    }
    let named = named(&lakes, &args.watch)?;
    named.notes.iter().for_each(console::note);
    serve::run(Config {
        lakes: named.lakes,
        results: args.results.clone(),
        state: args.state.clone(),
        listen: args.listen,
        hosts: args.host.clone(),
        token: token(args)?,
        programs,
        watch: named.watch,
        limits: Limits {
            workers: usize::try_from(args.workers).unwrap_or(1),
            time: Duration::from_secs(args.time_limit),
            job_time: Duration::from_secs(args.job_time_limit),
            memory: args.memory << 20,
        },
        commands: command(),
        say: |text| console::note(text),
    })
}

/// A shorter token is refused as a probable mistake.
const TOKEN_MIN: usize = 16;

/// The token of clients, if any; access from other machines always needs one.
fn token(args: &ServeArgs) -> Result<Option<String>> {
    let given = match &args.token_file {
        Some(path) => Some(
            std::fs::read_to_string(path)
                .with_context(|| format!("could not read `{}`", path.display()))?,
        ),
        None => std::env::var("JOBFATE_TOKEN").ok(),
    };
    if let Some(token) = given.map(|token| token.trim().to_owned()) {
        let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.len() < TOKEN_MIN || !is_plain {
            let said = format!(
                "a token is one word of at least {TOKEN_MIN} letters, digits and signs: make one \
                with `openssl rand -hex 16`"
            );
            return Err(Usage(said).into());
        }
        return Ok(Some(token));
    }
    if args.listen.ip().is_loopback() {
        return Ok(None);
    }
    let token = new_token()?;
    console::problem(format!("token: {token} (printed only now; --token-file gives a fixed one)"));
    Ok(Some(token))
}

/// Parses `NAME=PROGRAM`. A path is made absolute, since the program starts in another folder.
fn program(pair: &str) -> Result<(String, String)> {
    let wrong = || Usage(format!("--index-program `{pair}` is not of the form NAME=PROGRAM"));
    let (name, command) = pair.split_once('=').ok_or_else(wrong)?;
    let (name, command) = (name.trim(), command.trim());
    let mut words = command.split_whitespace().map(str::to_owned);
    let first = words.next().filter(|_| !name.is_empty()).ok_or_else(wrong)?;
    let first = if first.contains('/') {
        let whole = std::path::absolute(&first).context("could not find the current folder")?;
        if !whole.exists() {
            return Err(Usage(format!("--index-program `{name}`: there is no `{first}`")).into());
        }
        whole.display().to_string()
    } else {
        first
    };
    let words: Vec<String> = std::iter::once(first).chain(words).collect();
    Ok((name.to_owned(), words.join(" ")))
}

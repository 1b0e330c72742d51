//! `jobfate work`: this program as a worker of a Spark cluster. Hidden from the help:
//! `--engine spark` starts it.
//!
//! In: a question, and numbers of parts on stdin, one per line. Out: a line for each part with its
//! result.

use std::io;
use std::path::PathBuf;

use clap::Args;

use super::console;
use jobfate::answers::spread::Question;
use jobfate::answers::work;
use jobfate::facts::spark::line_of;
use jobfate::faults::{Context, Hindered, Result, Usage};

/// Fold parts of a lake for another process
#[derive(Args, Debug)]
#[command(hide = true, after_long_help = "Example:\n  echo 0 | jobfate work question.json")]
pub(crate) struct WorkArgs {
    /// The question
    pub question: PathBuf,
}

pub(crate) fn run(args: &WorkArgs) -> Result<()> {
    let shown = args.question.display();
    let text = std::fs::read_to_string(&args.question);
    let question = Question::read(&text.with_context(|| format!("could not read `{shown}`"))?)?;
    for line in io::stdin().lines() {
        let line = line.map_err(|error| Hindered(format!("stdin: {error}")))?;
        let task = line.trim().parse();
        let task = task.map_err(|_| Usage(format!("`{line}` is not the number of a part")))?;
        console::data(&line_of(task, &work::answer(&question, task)?))?;
    }
    Ok(())
}

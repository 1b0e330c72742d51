//! `jobfate fairness new`: asks for the parameters of a template and writes the file.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use clap::Args;

use crate::cli::console;
use jobfate::fairness::template::Template;
use jobfate::faults::{Context, Result, Usage};

/// Flags of `new`.
#[derive(Args, Debug)]
pub(crate) struct NewArgs {
    /// File to write; refused if it exists
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The template: metered, decay, budget or free
    #[arg(long, value_name = "TEMPLATE")]
    pub template: Option<String>,

    /// A parameter that is not asked for, also name=TEXT
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

pub(super) fn run(args: &NewArgs) -> Result<()> {
    // A dangling link counts as an existing file.
    if args.file.symlink_metadata().is_ok() {
        let taken = args.file.display();
        let what = format!("`{taken}` already exists: move it away, or give another name");
        return Err(Usage(what).into());
    }
    let mut questions = Questions::new(args)?;
    let name = match &args.template {
        Some(name) => name.clone(),
        None => questions.ask("template", "decay", &format!("one of {}", Template::names()))?,
    };
    let Some(template) = Template::find(&name) else {
        let known = Template::names();
        return Err(Usage(format!("there is no template `{name}` (known: {known})")).into());
    };
    let stem = args
        .file
        .file_stem()
        .map_or_else(|| "own".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let title = questions.ask("name", &stem, "the index in charts and tables")?;
    if title.contains(['"', '\\']) || title.chars().any(char::is_control) || title.trim().is_empty()
    {
        return Err(Usage(format!("{title:?} cannot be the name of an index")).into());
    }
    let mut values = Vec::new();
    for (parameter, default, meaning) in template.parameters {
        let answer = questions.ask(parameter, &default.to_string(), meaning)?;
        let value = answer.parse::<f64>().ok().filter(|value| value.is_finite());
        values
            .push(value.ok_or_else(|| Usage(format!("{parameter}: `{answer}` is not a number")))?);
    }
    if let Some((key, _)) = questions.set.first() {
        return Err(Usage(format!("template `{name}` has no parameter `{key}`")).into());
    }
    let text = template.fill(title.trim(), &values);
    // The user may need time to answer: a file that is created in the meantime is not overwritten
    // either.
    File::create_new(&args.file)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("could not write `{}`", args.file.display()))?;
    console::note(format!("wrote {}", args.file.display()));
    console::note(format!("next: jobfate fairness --index-file {}", args.file.display()));
    Ok(())
}

/// Values set on the command line; the others come from stdin, line by line.
struct Questions {
    set: Vec<(String, String)>,
    lines: io::Lines<io::StdinLock<'static>>,
}

impl Questions {
    fn new(args: &NewArgs) -> Result<Self> {
        let pair = |text: &String| match text.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(Usage(format!("--set `{text}` is not of the form KEY=VALUE"))),
        };
        let set = args.set.iter().map(pair).collect::<Result<_, _>>()?;
        Ok(Self { set, lines: io::stdin().lock().lines() })
    }

    /// Asks for a value; an empty line, or the end of stdin, takes the default.
    fn ask(&mut self, key: &str, default: &str, meaning: &str) -> Result<String> {
        if let Some(position) = self.set.iter().position(|(given, _)| given == key) {
            return Ok(self.set.remove(position).1);
        }
        console::note(format!("{key} ({meaning}) [{default}]:"));
        let line = self.lines.next().transpose().context("could not read the answer")?;
        let line = line.unwrap_or_default();
        Ok(if line.trim().is_empty() { default.to_owned() } else { line.trim().to_owned() })
    }
}

//! Generates the Python module's functions from the flags of the commands.
//!
//! In: the command line as described by clap. Out: the text of `python/jobfate/_commands.py`: a
//! function with types and help for each command. A test compares the file with this text, so the
//! two never differ; `UPDATE_GOLDEN=1` writes it.

use std::any::TypeId;
use std::fmt::Write;
use std::path::Path;

use clap::{Arg, ArgAction, Command};

use crate::cli::command;

/// The path of the file.
const FILE: &str = "python/jobfate/_commands.py";

/// Commands without a function: for shells and manuals, for the module itself, and one that never
/// ends.
const NOT_FUNCTIONS: [&str; 5] = ["about", "completions", "man", "serve", "help"];

/// Options that the module sets itself, or that concern a terminal.
const NOT_OPTIONS: [&str; 7] =
    ["help", "version", "quiet", "verbose", "format", "width", "chart_data"];

const HEAD: &str = r#"# Written by `UPDATE_GOLDEN=1 cargo test --bin jobfate python` from the flags of the program.
"""The commands of jobfate as functions."""

from __future__ import annotations

from typing import Literal

from ._lake import Lake, lake_or_trace
from ._result import Result, ask, draw
from ._run import Each, Number, Place, Word, Words
"#;

/// The text of the module.
fn module(program: &Command) -> String {
    let all = program.get_subcommands();
    let functions: Vec<&Command> = all
        .filter(|command| !command.is_hide_set() && !NOT_FUNCTIONS.contains(&command.get_name()))
        .collect();
    let mut text = HEAD.to_owned();
    text.push_str("\n__all__ = [\n");
    for command in &functions {
        let _ = writeln!(text, "    \"{}\",", command.get_name());
    }
    text.push_str("]\n");
    for command in functions {
        function(&mut text, command);
    }
    text
}

fn function(text: &mut String, command: &Command) {
    let name = command.get_name();
    let args: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !NOT_OPTIONS.contains(&arg.get_id().as_str()))
        .collect();
    let has = |id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
    let reads_lake = has("format") || name == "export";
    let is_first = |arg: &&&Arg| arg.is_positional() || reads_lake && arg.get_id() == "lake";
    let mut first: Vec<&&Arg> = args.iter().filter(is_first).collect();
    // The lake comes first, but after required arguments.
    first.sort_by_key(|arg| (!arg.is_required_set(), arg.is_positional()));
    let others: Vec<&&Arg> = args.iter().filter(|arg| !is_first(arg)).collect();
    let answer = if name == "ingest" { "Lake" } else { "Result" };
    let _ = writeln!(text, "\n\ndef {name}(");
    for arg in &first {
        parameter(text, arg);
    }
    if !others.is_empty() {
        text.push_str("    *,\n");
    }
    for arg in &others {
        parameter(text, arg);
    }
    let _ = writeln!(text, ") -> {answer}:");
    explanation(text, command, first.iter().chain(&others).map(|arg| **arg));
    let run = if has("chart_data") && has("format") { "draw" } else { "ask" };
    let call = if name == "ingest" { "" } else { "return " };
    if first.iter().any(|arg| arg.get_id() == "trace") && reads_lake {
        text.push_str("    lake, trace = lake_or_trace(lake, trace)\n");
    }
    let _ = writeln!(text, "    {call}{run}(\n        \"{name}\",\n        {{");
    for arg in first.iter().chain(&others) {
        let (key, value) = (key_of(arg), name_of(arg));
        let is_repeated = !arg.is_positional() && matches!(arg.get_action(), ArgAction::Append);
        let takes_several = arg.get_num_args().is_some_and(|count| 1 < count.min_values());
        let value = match (is_repeated, takes_several) {
            (true, true) => format!("Each({value}, together=True)"),
            (true, false) => format!("Each({value})"),
            (false, _) => value,
        };
        let _ = writeln!(text, "            \"{key}\": {value},");
    }
    if has("chart_data") && !has("format") {
        text.push_str("            \"--chart-data\": True,\n");
    }
    if has("format") && !has("chart_data") {
        // A report has a table only if it compares.
        let only = if has("compare") { " if compare is not None else None" } else { "" };
        let _ = writeln!(text, "            \"--format\": \"parquet\"{only},");
    }
    text.push_str("        },\n    )\n");
    if name == "ingest" {
        text.push_str("    return Lake(lake if lake is not None else \"lake\")\n");
    }
}

/// The option as on the command line; for a positional argument its name.
fn key_of(arg: &Arg) -> String {
    arg.get_long().map_or_else(|| arg.get_id().to_string(), |long| format!("--{long}"))
}

/// The name of the parameter: that of the option, changed if it is a Python keyword.
fn name_of(arg: &Arg) -> String {
    let name =
        arg.get_long().map_or_else(|| arg.get_id().to_string(), |long| long.replace('-', "_"));
    if ["as", "from", "in", "is", "lambda", "class", "import"].contains(&name.as_str()) {
        format!("{name}_")
    } else {
        name
    }
}

fn parameter(text: &mut String, arg: &Arg) {
    let is_switch = !arg.get_action().takes_values();
    let name = name_of(arg);
    let _ = match (is_switch, arg.is_required_set()) {
        (true, _) => writeln!(text, "    {name}: bool = False,"),
        (_, true) => writeln!(text, "    {name}: {},", type_of(arg)),
        _ => writeln!(text, "    {name}: {} | None = None,", type_of(arg)),
    };
}

/// The type of a value.
fn type_of(arg: &Arg) -> String {
    let is_list = matches!(arg.get_action(), ArgAction::Append)
        || arg.get_num_args().is_some_and(|count| 1 < count.max_values());
    let words: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("{:?}", value.get_name()))
        .collect();
    let kind = arg.get_value_parser().type_id();
    let numbers = [TypeId::of::<f64>(), TypeId::of::<u64>(), TypeId::of::<i64>()];
    let counts = [TypeId::of::<usize>(), TypeId::of::<u32>(), TypeId::of::<u8>()];
    if is_list {
        "Words".to_owned()
    } else if !words.is_empty() {
        format!("Literal[{}]", words.join(", "))
    } else if numbers.iter().chain(&counts).any(|number| kind == *number) {
        "Number".to_owned()
    } else if kind == TypeId::of::<std::path::PathBuf>() {
        "Place".to_owned()
    } else if kind == TypeId::of::<String>() {
        "Word".to_owned()
    } else {
        // A notation, which may be a list: of thresholds, of rules.
        "Words".to_owned()
    }
}

/// The short help of the command and of its options; the long help is for the program.
fn explanation<'a>(text: &mut String, command: &Command, args: impl Iterator<Item = &'a Arg>) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(text, "    \"\"\"{}.\n", escaped(&about));
    for arg in args {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let default: Vec<String> = arg
            .get_default_values()
            .iter()
            .filter(|_| arg.get_action().takes_values())
            .map(|value| value.to_string_lossy().into_owned())
            .collect();
        let default = match default.as_slice() {
            [] => String::new(),
            values => format!(" [default: {}]", values.join(",")),
        };
        let _ = writeln!(text, "    {}: {}{}", name_of(arg), escaped(&help), escaped(&default));
    }
    let _ = writeln!(text, "\n    `jobfate {} --help` says more.\n    \"\"\"", command.get_name());
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace("\"\"\"", "'''")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_of_the_python_module_are_those_of_the_command_line() {
        let mut program = command();
        program.build();
        let (path, now) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE), module(&program));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = stored.lines().zip(now.lines()).find(|(stored, now)| stored != now);
        assert_eq!(differs, None, "{FILE} differs from the command line");
        assert_eq!(stored.lines().count(), now.lines().count(), "{FILE}");
    }

    /// A Python keyword cannot be a parameter, and the module's own parameters must be free.
    #[test]
    fn no_option_has_a_name_that_python_refuses() {
        const KEYWORDS: [&str; 35] = [
            "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
            "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
            "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
            "return", "try", "while", "with", "yield",
        ];
        let program = command();
        for subcommand in program.get_subcommands() {
            for arg in subcommand.get_arguments() {
                let name = name_of(arg);
                assert!(!KEYWORDS.contains(&name.as_str()), "{}: {name}", subcommand.get_name());
            }
        }
    }
}

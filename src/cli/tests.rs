//! Requirements for the help of every flag, and examples that must parse.

use jobfate::fairness::indices::BuiltIn;
use jobfate::replay::detectors;
use jobfate::replay::policies;

use super::command;

#[test]
fn every_flag_explains_itself() {
    let program = command();
    let mut faults = vec![];
    for subcommand in program.get_subcommands() {
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        faults.extend(fault_of(&about, subcommand.get_name()));
        for arg in subcommand.get_arguments() {
            let flag = format!("{} --{}", subcommand.get_name(), arg.get_id());
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            faults.extend(fault_of(&help, &flag));
            let is_valued = arg.get_action().takes_values();
            for name in arg.get_value_names().into_iter().flatten().filter(|_| is_valued) {
                if name.chars().any(char::is_lowercase) {
                    faults.push(format!("{flag}: `{name}` is not in capitals"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The fault in a line of short help, if it has one.
fn fault_of(help: &str, of: &str) -> Option<String> {
    let fault = if help.is_empty() {
        "no help"
    } else if help.len() > 60 {
        "the short help is over 60 characters"
    } else if help.ends_with('.') {
        "a full stop in one-line help"
    } else if !help.starts_with(|letter: char| letter.is_uppercase()) {
        "does not begin with a capital"
    } else {
        return None;
    };
    Some(format!("{of}: {fault}: {help}"))
}

/// The help lists every index, detector and policy, including new ones.
#[test]
fn the_help_lists_all_that_can_be_named() {
    let help_of = |name: &str| {
        let program = command();
        let command = program.get_subcommands().find(|command| command.get_name() == name);
        command.unwrap().clone().render_long_help().to_string()
    };
    let indices = BuiltIn::ALL.map(BuiltIn::name);
    let detectors: Vec<&str> = detectors::KINDS.iter().map(|kind| kind.name).collect();
    let policies: Vec<&str> = policies::KINDS.iter().map(|kind| kind.name).collect();
    for (name, listed) in
        [("fairness", indices.as_slice()), ("detect", &detectors), ("replay", &policies)]
    {
        let help = help_of(name);
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '-';
        let words: Vec<&str> = help.split(|letter| !is_part(letter)).collect();
        let missing: Vec<&&str> = listed.iter().filter(|one| !words.contains(*one)).collect();
        assert_eq!(missing, Vec::<&&str>::new(), "{name}");
    }
}

/// Every example in the help must parse.
#[test]
fn the_examples_are_command_lines() {
    let mut count = 0;
    for subcommand in command().get_subcommands() {
        let help = subcommand.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().filter_map(|line| line.strip_prefix("  jobfate ")) {
            let line = line.split(" > ").next().unwrap_or(line);
            // Text in quotes is one word.
            let words = line.split('\'').enumerate().flat_map(|(idx, piece)| match idx % 2 {
                0 => piece.split_whitespace().collect(),
                _ => vec![piece],
            });
            let words = std::iter::once("jobfate").chain(words);
            if let Err(error) = command().try_get_matches_from(words) {
                panic!("`{line}`: {error}");
            }
            count += 1;
        }
    }
    assert!(10 < count);
}

//! The help: its texts as golden files, and what every flag must say about itself.

use super::support::{Place, check_golden, orphans};

fn commands() -> Vec<String> {
    let command = jobfate::cli::command();
    command.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

#[test]
fn the_help_of_every_command_is_as_it_was_read() {
    let place = Place::new();
    let brief = place.run(&["--help"]).ok();
    check_golden("help/jobfate.txt", brief.stdout_text());
    let mut known = vec!["jobfate.txt".to_owned()];
    for name in commands() {
        let long = place.run(&[&name, "--help"]).ok();
        check_golden(&format!("help/{name}.txt"), long.stdout_text());
        let short = place.run(&[&name, "-h"]).ok();
        check_golden(&format!("help/{name}-short.txt"), short.stdout_text());
        known.extend([format!("{name}.txt"), format!("{name}-short.txt")]);
    }
    assert_eq!(orphans("help", &known), Vec::<String>::new());
}

#[test]
fn every_flag_explains_itself() {
    let command = jobfate::cli::command();
    for subcommand in command.get_subcommands() {
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        check_line(&about, subcommand.get_name());
        for arg in subcommand.get_arguments() {
            let flag = format!("{} --{}", subcommand.get_name(), arg.get_id());
            check_line(&arg.get_help().map(ToString::to_string).unwrap_or_default(), &flag);
            let is_valued = arg.get_action().takes_values();
            for name in arg.get_value_names().into_iter().flatten().filter(|_| is_valued) {
                assert!(!name.chars().any(char::is_lowercase), "{flag}: `{name}` is in capitals");
            }
        }
    }
}

fn check_line(help: &str, of: &str) {
    assert!(!help.is_empty(), "{of} has no help");
    assert!(help.len() <= 60, "{of}: the short help must fit one line");
    assert!(!help.ends_with('.'), "{of}: no full stop in one-line help");
    assert!(help.starts_with(|letter: char| letter.is_uppercase()), "{of}: begins with a capital");
}

#[test]
fn every_command_shows_an_example() {
    let place = Place::new();
    for name in commands() {
        let help = place.run(&[&name, "--help"]).ok();
        let text = help.stdout_text().to_owned();
        let example = format!("\n  jobfate {name}");
        assert!(text.contains("Example") && text.contains(&example), "{name}:\n{text}");
    }
}

/// An example in the help that clap would refuse is worse than none.
#[test]
fn the_examples_are_command_lines() {
    let place = Place::new();
    let mut count = 0;
    for name in commands() {
        let help = place.run(&[&name, "--help"]).ok();
        for line in help.stdout_text().lines().filter_map(|line| line.strip_prefix("  jobfate ")) {
            let line = line.split(" > ").next().unwrap();
            // What stands in quotes is one word.
            let words = line.split('\'').enumerate().flat_map(|(idx, piece)| match idx % 2 {
                0 => piece.split_whitespace().collect(),
                _ => vec![piece],
            });
            let words = std::iter::once("jobfate").chain(words);
            if let Err(error) = jobfate::cli::command().try_get_matches_from(words) {
                panic!("`{line}`: {error}");
            }
            count += 1;
        }
    }
    assert!(10 < count);
}

#[test]
fn shells_and_manuals_know_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&["completions", shell]).ok();
        for name in commands() {
            assert!(script.stdout_text().contains(&name), "{shell}: {name}");
        }
    }
    let bash = place.run(&["completions", "bash"]).ok();
    std::fs::write(place.path("jobfate.bash"), &bash.stdout).unwrap();
    let check =
        std::process::Command::new("bash").arg("-n").arg(place.path("jobfate.bash")).status();
    assert!(check.is_ok_and(|status| status.success()), "bash reads what it is given");
    place.run(&["man", "--out", "man"]).ok();
    for name in commands() {
        let page = std::fs::read_to_string(place.path(&format!("man/jobfate-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS") && page.contains("Example"), "{name}");
    }
    assert!(place.run(&["man"]).ok().stdout_text().contains("jobfate\\-ingest"));
}

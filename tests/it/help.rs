//! The help texts as golden files. The rules for the help of every flag are in `src/cli/tests.rs`.

use super::support::{Place, check_golden, commands, orphans};

#[test]
fn the_help_of_every_command_is_as_it_was_read() {
    let place = Place::new();
    let brief = place.run(&["--help"]).ok();
    // The portal is a command only in builds with the feature `serve`, where its help is checked.
    let lines = brief.stdout_text().split_inclusive('\n');
    let brief: String = lines.filter(|line| !line.starts_with("  serve ")).collect();
    check_golden("help/jobfate.txt", &brief);
    let mut known = ["jobfate.txt", "serve.txt", "serve-short.txt"].map(str::to_owned).to_vec();
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
fn every_command_shows_an_example() {
    let place = Place::new();
    for name in commands() {
        let help = place.run(&[&name, "--help"]).ok();
        let text = help.stdout_text().to_owned();
        let example = format!("\n  jobfate {name}");
        assert!(text.contains("Example") && text.contains(&example), "{name}:\n{text}");
    }
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

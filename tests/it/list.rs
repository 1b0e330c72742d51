//! The list of studies: each study in it appears everywhere, and no code elsewhere chooses a study
//! by its name.

use std::collections::BTreeSet;

use jobfate::answers::analysis::Config;
use jobfate::answers::list::{STUDIES, kinds, topics};
use jobfate::replay::detectors::KINDS;

use super::layering::sources;
use super::support::{Place, commands, repository};

/// The rows of the table of commands in the README: the command with its arguments, and its answer.
fn readme_rows() -> Vec<(String, String)> {
    let page = std::fs::read_to_string(repository().join("README.md")).expect("it is there");
    let rows = page.lines().skip_while(|line| *line != "| Command | Answers |").skip(2);
    let rows = rows.map_while(|line| {
        let (command, answers) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        Some((command.to_owned(), answers.to_owned()))
    });
    rows.collect()
}

/// Commands about the program itself.
const OWN: [&str; 2] = ["completions", "man"];

/// Writes the answer of each study into its row of the table, with `UPDATE_GOLDEN=1`; a study
/// without a row gets one at the end.
fn write_readme() {
    let path = repository().join("README.md");
    let page = std::fs::read_to_string(&path).expect("it is there");
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    for study in &STUDIES {
        let (own, row) = (format!("| `{}", study.name), format!("{} |", study.answers));
        if lines.iter().any(|line| line.starts_with(&own) && line.ends_with(&row)) {
            continue;
        }
        let begin = format!("| `{}` | ", study.name);
        let end = lines.iter().rposition(|line| line.starts_with("| `")).expect("a table") + 1;
        match lines.iter_mut().find(|line| line.starts_with(&begin)) {
            Some(line) => *line = format!("{begin}{row}"),
            None => lines.insert(end, format!("{begin}{row}")),
        }
    }
    std::fs::write(path, lines.join("\n") + "\n").expect("it can be written");
}

#[test]
fn the_table_of_readme_has_every_command_and_says_what_the_list_says() {
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        write_readme();
    }
    let rows = readme_rows();
    let named = |command: &str, name: &str| {
        command.trim_matches('`').split([' ', '`']).next() == Some(name)
    };
    for command in commands().iter().filter(|name| !OWN.contains(&name.as_str())) {
        assert!(rows.iter().any(|row| named(&row.0, command)), "README lacks `{command}`");
    }
    for study in &STUDIES {
        let own: Vec<&str> =
            rows.iter().filter(|row| named(&row.0, study.name)).map(|row| row.1.as_str()).collect();
        assert!(own.contains(&study.answers), "{}: {own:?}", study.name);
    }
}

#[test]
fn every_study_is_a_command_a_step_a_section_and_a_page() {
    let (commands, place) = (commands(), Place::new());
    let help = place.run(&["analyze", "--help"]).ok();
    let mut config = Config::default();
    config.fill_in();
    let file = config.toml();
    for study in &STUDIES {
        assert!(commands.iter().any(|command| command == study.name), "{}", study.name);
        let Some(step) = study.step else { continue };
        assert!(help.stdout_text().contains(study.name), "{}: the help", study.name);
        assert!(config.steps.contains(&study.name), "{}", study.name);
        let has_section = file.contains(&format!("\n[{}]\n", study.name));
        assert!(step.section.is_none() || has_section, "{}: {file}", study.name);
        let is_asked = help.stdout_text().contains(&format!("`{}`", study.name));
        assert!(step.section.is_none() || is_asked, "{}: the sections in the help", study.name);
    }
    let all = |names: Vec<&str>| {
        let once: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(once.len(), names.len(), "{names:?}");
        assert!(names.iter().all(|name| !name.is_empty()));
    };
    all(STUDIES.iter().map(|study| study.name).collect());
    all(kinds().map(|kind| kind.name).collect());
    all(topics().iter().map(|topic| topic.file).collect());
    all(topics().iter().map(|topic| topic.title).collect());
    assert!(STUDIES.iter().all(|study| !study.results.is_empty()));
}

#[test]
fn a_report_has_a_page_for_every_study_of_an_analysis() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "150", "--days", "1", "--parts", "1"]).ok();
    place.run(&["analyze", "trace", "--out", "found", "--quiet"]).ok();
    let index = std::fs::read_to_string(place.path("found/report/index.html")).unwrap();
    for study in STUDIES.iter().filter(|study| study.step.is_some()) {
        let page = place.path(&format!("found/report/{}", study.topic.file));
        let Ok(page) = std::fs::read_to_string(page) else {
            // Without an answer there is no page, and the overview gives the reason.
            let (_, reasons) = index.split_once("<ul class=\"unanswered\">").unwrap();
            assert!(reasons.contains("record no dates and no accounts"), "{}", study.name);
            assert_eq!(study.topic.file, "months.html");
            continue;
        };
        assert!(page.contains(study.topic.question), "{}", study.name);
        // The overview links to a skipped study and gives the reason.
        let is_linked = ["\"", "#"]
            .iter()
            .any(|end| index.contains(&format!("href=\"{}{end}", study.topic.file)));
        assert!(is_linked, "{}", study.name);
        // A study without an answer is one line of a list.
        let ways = ["h2", "li"];
        let shown =
            |name: &str| ways.iter().any(|way| page.contains(&format!("<{way} id=\"{name}\">")));
        assert!(study.results.iter().any(|kind| shown(kind.name)), "{}", study.name);
    }
}

/// Names of studies that are also columns and keys: only their use in a choice counts.
const WORDS: [&str; 4] = ["account", "episodes", "load", "machines"];

/// Uses of a name as a text, outside tests: `"sweep"`.
fn uses(source: &str, name: &str) -> usize {
    let text = format!("\"{name}\"");
    let choices = [format!("== {text}"), format!("!= {text}"), format!("{text} =>")];
    let is_use = |line: &str| {
        if WORDS.contains(&name) {
            choices.iter().any(|choice| line.contains(choice))
        } else {
            line.contains(&text)
        }
    };
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or(source);
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    code.lines().filter(is_code).filter(|line| is_use(line)).count()
}

#[test]
fn a_study_is_named_in_the_list_and_beside_its_result_alone() {
    let steps = STUDIES.iter().filter(|study| study.step.is_some());
    for study in steps {
        let mut places = Vec::new();
        for (_, module, source) in sources() {
            // Otherwise a name is a column of a log, or a key.
            let is_test = module.last().is_some_and(|last| last == "tests");
            if is_test || !["answers", "results", "report", "cli"].contains(&module[0].as_str()) {
                continue;
            }
            let module = module.join("::");
            let count = uses(&source, study.name);
            let own = format!("Kind::called(\"{}\"", study.name);
            let allowed = source.matches(&own).count() + usize::from(module == "answers");
            if allowed < count {
                places.push(module);
            }
        }
        assert_eq!(places, Vec::<String>::new(), "`{}` is chosen by its name", study.name);
    }
}

#[test]
fn the_check_sees_a_name() {
    assert_eq!(uses("match name { \"sweep\" => 1 }", "sweep"), 1);
    assert_eq!(uses("match name { \"load\" => 1 }", "load"), 1);
    assert_eq!(uses("if name == \"machines\" { json[\"machines\"] }", "machines"), 1);
    assert_eq!(uses("json[\"load\"]", "load"), 0);
    assert_eq!(uses("// \"sweep\"\n#[cfg(test)]\nmod tests { \"sweep\" }", "sweep"), 0);
}

/// Whether a text lists the detectors: all, or all except two. Some lists leave out detectors
/// without an effect, and a new detector may be missing.
fn lists(text: &str, names: &[&str]) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    let words: BTreeSet<&str> = text.split(|letter| !is_part(letter)).collect();
    names.iter().filter(|name| !words.contains(*name)).count() <= 2
}

/// A new detector needs its file and a line in the list. All other code gets its name from the
/// list; golden texts and pages show the output of the program.
#[test]
fn the_detectors_are_listed_once() {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let sources = sources().into_iter().map(|(path, ..)| path);
    let folders = ["tests/it", "tests/bench", "tests/scripts", "examples"];
    let others = folders.iter().flat_map(|folder| {
        let files = std::fs::read_dir(repository().join(folder)).expect("a folder");
        files.map(|file| file.expect("a file").path()).filter(|path| path.is_file())
    });
    let texts = sources.chain(others).filter_map(|path| {
        let text = std::fs::read_to_string(&path).ok()?;
        lists(&text, &names).then(|| path.strip_prefix(repository()).unwrap_or(&path).to_owned())
    });
    let found: Vec<String> = texts.map(|path| path.display().to_string()).collect();
    // The other file draws the effect of rules on one straggler.
    assert_eq!(found, ["src/replay/detectors/mod.rs", "src/replay/tests.rs"]);
    assert!(lists("`late`, spark and \"flink\"", &["late", "spark", "flink", "yarn", "mantri"]));
    assert!(!lists("late, spark", &["late", "spark", "flink", "yarn", "late021"]));
}

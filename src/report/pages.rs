//! The overview and one page per study: which result stands where.

use std::fmt::Write;

use serde_json::Value;

use super::html::{self, Cell, Page};
use super::text::{caption, escape, figure_text};
use super::{ReportError, sentences};
use crate::digits::{counted, grouped, six_digits};
use crate::results::{Stored, missing};

/// A page and the results that it shows.
pub(super) struct Study {
    pub file: &'static str,
    pub title: &'static str,
    /// What is asked there.
    question: &'static str,
    /// Names of the results, in their order on the page.
    names: &'static [&'static str],
}

/// Every page after the overview.
pub(super) const STUDIES: [Study; 8] = [
    Study {
        file: "outcomes.html",
        title: "Outcomes and CPU time",
        question: "What became of every job and task, and what did it cost?",
        names: &["classify", "classify-jobs", "classify-tasks", "account", "account-memory"],
    },
    Study {
        file: "distributions.html",
        title: "Distributions",
        question: "How long, how many, how often? Per outcome of the job.",
        names: &[
            "job-durations",
            "job-survival",
            "tasks-per-job",
            "events-per-task",
            "waiting",
            "attempts",
            "finish-given-events",
        ],
    },
    Study {
        file: "sweep.html",
        title: "Kill sweep",
        question: "What if hopeless tasks had been killed earlier: CPU saved against finished jobs harmed?",
        names: &["sweep"],
    },
    Study {
        file: "stragglers.html",
        title: "Straggler detectors",
        question: "Which tasks would each detector have flagged, knowing only what was known at \
        the time, and was it right?",
        names: &["detect"],
    },
    Study {
        file: "replay.html",
        title: "Replay",
        question: "How would another policy have handled this history?",
        names: &["replay"],
    },
    Study {
        file: "fairness.html",
        title: "Fairness",
        question: "Who used how much, when, and was it fair?",
        names: &["fairness"],
    },
    Study {
        file: "reproductions.html",
        title: "Published results",
        question: "Which published figures are reproduced?",
        names: &["mandai", "tan", "asahara", "cui", "ota"],
    },
    Study {
        file: "quality.html",
        title: "Data quality",
        question: "Is the trace complete, and what in it is unusual?",
        names: &["verify"],
    },
];

impl Study {
    pub(super) fn shows(&self, result: &Stored) -> bool {
        self.names.contains(&result.name.as_str())
    }

    fn place(&self, result: &Stored) -> usize {
        self.names.iter().position(|name| *name == result.name).unwrap_or(usize::MAX)
    }
}

/// The first page: what trace, what was found, in sentences and figures, and where it is from.
pub(super) fn overview(results: &[Stored], here: &[&Study]) -> Result<Page, ReportError> {
    let mut body = String::new();
    let mut sources: Vec<&str> =
        results.iter().filter_map(|result| result.value["source"].as_str()).collect();
    sources.sort_unstable();
    sources.dedup();
    let _ = writeln!(body, "<p class=\"lead\">From: <b>{}</b>.</p>", escape(&sources.join(", ")));
    let found: Vec<(String, &&Study)> = sentences::of(results)
        .into_iter()
        .filter_map(|found| {
            let study = here.iter().find(|study| study.names.contains(&found.name))?;
            Some((found.sentence, study))
        })
        .collect();
    if !found.is_empty() {
        body.push_str("<h2>What was found</h2>\n<ul class=\"found\">\n");
        for (sentence, study) in found {
            let link = format!("<a href=\"{}\">{}</a>", study.file, escape(study.title));
            let _ = writeln!(body, "<li>{} {link}</li>", escape(&sentence));
        }
        body.push_str("</ul>\n");
    }
    let figures = sentences::FIGURES
        .iter()
        .filter_map(|start| {
            results.iter().filter(|result| !has_nothing(result)).find_map(|result| {
                let chart =
                    result.charts().into_iter().find(|chart| chart.file.starts_with(start))?;
                Some(html::figure(chart, result, ""))
            })
        })
        .collect::<Result<Vec<String>, ReportError>>()?;
    if !figures.is_empty() {
        let _ =
            writeln!(body, "<h2>Charts</h2>\n<div class=\"figures\">{}</div>", figures.concat());
    }
    body.push_str("<h2>Where the numbers come from</h2>\n");
    body.push_str(&inputs(results));
    let mut commands: Vec<String> = results.iter().map(Stored::command).collect();
    commands.sort();
    commands.dedup();
    for command in commands {
        let _ = writeln!(body, "<pre>{}</pre>", escape(&command));
    }
    let (file, title) = ("index.html".into(), "Overview".into());
    Ok(Page { file, title, within: "index.html", body })
}

/// Whether a result says only why it has no answer.
fn has_nothing(result: &Stored) -> bool {
    sentences::nothing(result.answer()).is_some()
}

/// The tables that the results were made from, with their hours and checksums.
fn inputs(results: &[Stored]) -> String {
    let mut lines: Vec<[String; 6]> = Vec::new();
    for input in results.iter().filter_map(|result| result.value["inputs"].as_array()).flatten() {
        let cell = |name: &str| match &input[name] {
            Value::String(text) => text.clone(),
            Value::Null => "unknown".to_owned(),
            other => other.to_string(),
        };
        let mut line = ["table", "parts", "rows", "start_s", "end_s", "sha256"].map(cell);
        if let Some(of) = input["parts_of"].as_u64() {
            line[1] = format!("{} of {of}", line[1]);
        }
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let header =
        ["table", "parts", "rows", "first_row_s", "last_row_s", "SHA-256 of the parts' SHA-256"];
    let rows: Vec<Vec<Cell>> = lines
        .iter()
        .map(|[table, parts, rows, start, end, sum]| {
            let (start, end) = (Cell::of(start), Cell::of(end));
            vec![Cell::name(table), Cell::name(parts), Cell::of(rows), start, end, Cell::name(sum)]
        })
        .collect();
    html::table("Tables that were read", &header.map(str::to_owned), &rows)
}

/// The page of a study.
pub(super) fn study(
    study: &Study,
    results: &[&Stored],
    all: &[Stored],
) -> Result<Page, ReportError> {
    let mut results = results.to_vec();
    results.sort_by_key(|result| study.place(result));
    let mut body = format!("<p class=\"lead\">{}</p>\n", escape(study.question));
    if results.iter().any(|result| result.name == "verify") {
        body.push_str(&holes(all));
    }
    for result in results {
        let heading = caption(&result.name);
        let _ = writeln!(body, "<section>\n<h2 id=\"{0}\">{1}</h2>", result.name, escape(&heading));
        let scope = result.scope();
        if !scope.is_empty() {
            let _ = writeln!(body, "<p class=\"source\">Tables: {}.</p>", escape(&scope));
        }
        if let Some(nothing) = sentences::nothing(result.answer()) {
            let _ = writeln!(body, "<p>{}</p>", escape(nothing));
            if result.name == "fairness" {
                body.push_str(&super::fairness::index(result));
            }
            let _ = writeln!(body, "{}</section>", settings(result));
            continue;
        }
        if let Some(assumptions) = result.answer()["assumptions"].as_array() {
            body.push_str("<p>Assumed:</p>\n<ul>\n");
            for assumption in assumptions.iter().filter_map(Value::as_str) {
                let _ = writeln!(body, "<li>{}</li>", escape(assumption));
            }
            body.push_str("</ul>\n");
        }
        let figures = result.charts().into_iter().map(|chart| html::figure(chart, result, ""));
        let figures = figures.collect::<Result<String, ReportError>>()?;
        let _ = writeln!(body, "<div class=\"figures\">{figures}</div>");
        if result.name == "fairness" {
            body.push_str(&super::fairness::index(result));
        }
        for table in &result.tables {
            let caption = caption(table.file.trim_end_matches(".csv"));
            body.push_str(&html::stored_table(&caption, table, ""));
        }
        body.push_str(&settings(result));
        body.push_str("</section>\n");
    }
    Ok(Page { file: study.file.into(), title: study.title.into(), within: study.file, body })
}

/// What the lake lacks between its parts, and the attempts whose end lies there.
fn holes(results: &[Stored]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let inputs = results.iter().filter_map(|result| result.value["inputs"].as_array()).flatten();
    for input in inputs {
        for gap in input["gaps"].as_array().into_iter().flatten() {
            let table = input["table"].as_str().unwrap_or("unknown");
            let line = format!("{table} lacks {} between its parts.", missing(gap));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.extend(results.iter().filter(|result| result.name == "account").filter_map(closed));
    let lines = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line)));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("<ul class=\"found\">\n{lines}</ul>\n") }
}

/// The attempts of a ledger that are closed at the end of their job.
fn closed(account: &Stored) -> Option<String> {
    let answer = account.answer();
    let attempts = answer["attempts_closed_with_job"].as_u64().filter(|count| 0 < *count)?;
    let cpu = answer["closed_with_job_cpu"].as_f64().map_or_else(String::new, |cpu| {
        let unit = answer["unit"].as_str().unwrap_or_default();
        format!(" They account for {} {unit} of the ledger.", six_digits(cpu))
    });
    Some(format!(
        "{} without an end in the loaded parts, of {}: closed at the end of the job.{cpu}",
        counted(attempts, "attempt"),
        grouped(answer["attempts"].as_u64()?),
    ))
}

/// Definitions and choices that move the numbers, and the command line.
fn settings(result: &Stored) -> String {
    let settings = &result.value["settings"];
    let mut pairs = Vec::new();
    flatten("", settings, &mut pairs);
    let pairs = pairs.iter().map(|(name, text)| (name.as_str(), text.clone()));
    format!(
        "<details><summary>Settings and command</summary>\n{}<pre>{}</pre></details>\n",
        html::facts(pairs),
        escape(&result.command())
    )
}

/// Settings as names and texts: what is within another has both names, times are in seconds, and
/// what was left open is left out.
fn flatten(name: &str, value: &Value, pairs: &mut Vec<(String, String)>) {
    let is_plain = |value: &Value| !value.is_object() && !value.is_array();
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match value {
        Value::Null => {}
        Value::Object(inner) => {
            for (key, value) in inner {
                let spoken = key.replace('_', " ");
                let full = if name.is_empty() { spoken } else { format!("{name}: {spoken}") };
                flatten(&full, value, pairs);
            }
        }
        Value::Array(items) if items.iter().all(is_plain) => {
            let words: Vec<String> = items.iter().map(word).collect();
            pairs.push((name.to_owned(), words.join(", ")));
        }
        Value::Number(number) if name.ends_with(" us") => {
            let seconds = number.as_f64().unwrap_or(f64::NAN) / 1e6;
            pairs.push((name.trim_end_matches(" us").to_owned() + ", s", figure_text(seconds)));
        }
        other => pairs.push((name.to_owned(), word(other))),
    }
}

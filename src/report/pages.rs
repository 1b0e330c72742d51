//! The overview and one page per topic, with the results that the list of studies puts there.

use std::fmt::Write;

use serde_json::Value;

use super::ReportError;
use super::html::{self, Cell, Page};
use super::text::{caption, escape, figure_text};
use crate::answers::list;
use crate::answers::study::Topic;
use crate::results::kind::Kind;
use crate::results::store::NOTHING;
use crate::results::{Stored, missing};

/// What was found by one study.
pub(super) struct Found {
    /// What kind of result it is of.
    pub kind: &'static Kind<'static>,
    /// The page on which the result stands.
    pub topic: &'static Topic,
    /// The sentence.
    pub sentence: String,
    /// Whether it says why there is no answer.
    pub is_nothing: bool,
}

/// One sentence per result, where its kind has one.
pub(super) fn found(results: &[Stored]) -> Vec<Found> {
    let of = |topic: &'static Topic, kind: &'static Kind<'static>| {
        let say = kind.sentence?;
        let result = results.iter().find(|result| result.name == kind.name)?;
        let nothing = nothing(result.answer());
        let sentence = match nothing {
            Some(nothing) => match nothing.strip_prefix("Not run: ") {
                Some(why) => format!("{}: not run, because {why}", caption(kind.name)),
                None => with_scope(nothing.trim_end_matches('.'), &result.scope(kind)),
            },
            None => with_scope(&say(&result.value)?, &result.scope(kind)),
        };
        Some(Found { kind, topic, sentence, is_nothing: nothing.is_some() })
    };
    let kinds = |topic| list::kinds_on(topic).filter_map(move |kind| of(topic, kind));
    list::topics().into_iter().flat_map(kinds).collect()
}

/// A sentence with the tables and hours that it is about.
fn with_scope(said: &str, scope: &str) -> String {
    if scope.is_empty() { format!("{said}.") } else { format!("{said} ({scope}).") }
}

/// Why a study has nothing to say of this trace, where it has not.
fn nothing(answer: &Value) -> Option<&str> {
    answer[NOTHING].as_str()
}

/// A result that stands on a page, and what kind it is.
pub(super) type Shown<'a> = (&'static Kind<'static>, &'a Stored);

/// The results that stand on a page, in their order.
pub(super) fn shown<'a>(topic: &'static Topic, results: &'a [Stored]) -> Vec<Shown<'a>> {
    let of = |kind: &'static Kind<'static>| {
        results.iter().filter(|result| result.name == kind.name).map(move |result| (kind, result))
    };
    list::kinds_on(topic).flat_map(of).collect()
}

/// The first page: what trace, what was found, in sentences and figures, and where it is from.
pub(super) fn overview(results: &[Stored]) -> Result<Page, ReportError> {
    let mut body = String::new();
    let mut sources: Vec<&str> =
        results.iter().filter_map(|result| result.value["source"].as_str()).collect();
    sources.sort_unstable();
    sources.dedup();
    let _ = writeln!(body, "<p class=\"lead\">From: <b>{}</b>.</p>", escape(&sources.join(", ")));
    let found = found(results);
    if !found.is_empty() {
        body.push_str("<h2>What was found</h2>\n<ul class=\"found\">\n");
        for Found { topic, sentence, .. } in found {
            let link = format!("<a href=\"{}\">{}</a>", topic.file, escape(topic.title));
            let _ = writeln!(body, "<li>{} {link}</li>", escape(&sentence));
        }
        body.push_str("</ul>\n");
    }
    let figures = list::topics()
        .into_iter()
        .flat_map(list::kinds_on)
        .filter_map(|kind| {
            let begin = kind.figure?;
            results.iter().filter(|result| nothing(result.answer()).is_none()).find_map(|result| {
                let chart =
                    result.charts().into_iter().find(|chart| chart.file.starts_with(begin))?;
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

/// The page of a topic.
pub(super) fn page(
    topic: &'static Topic,
    shown: &[Shown<'_>],
    all: &[Stored],
) -> Result<Page, ReportError> {
    let mut body = format!("<p class=\"lead\">{}</p>\n", escape(topic.question));
    if list::is_of_checks(topic) {
        body.push_str(&holes(all));
    }
    for &(kind, result) in shown {
        let heading = caption(&result.name);
        let _ = writeln!(body, "<section>\n<h2 id=\"{0}\">{1}</h2>", result.name, escape(&heading));
        let scope = result.scope(kind);
        if !scope.is_empty() {
            let _ = writeln!(body, "<p class=\"source\">Tables: {}.</p>", escape(&scope));
        }
        if let Some(nothing) = nothing(result.answer()) {
            let _ = writeln!(body, "<p>{}</p>", escape(nothing));
            if kind.has_users {
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
        if kind.has_users {
            body.push_str(&super::fairness::index(result));
        }
        for table in &result.tables {
            let caption = caption(table.file.trim_end_matches(".csv"));
            body.push_str(&html::stored_table(&caption, table, ""));
        }
        body.push_str(&settings(result));
        body.push_str("</section>\n");
    }
    Ok(Page { file: topic.file.into(), title: topic.title.into(), within: topic.file, body })
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
    for kind in list::kinds() {
        let of_kind = results.iter().filter(|result| result.name == kind.name);
        lines.extend(of_kind.filter_map(|result| kind.quality?(&result.value)));
    }
    let lines = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line)));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("<ul class=\"found\">\n{lines}</ul>\n") }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sentence_ends_with_its_tables_and_hours() {
        assert_eq!(with_scope("A", ""), "A.");
        assert_eq!(with_scope("A", "task_events: all, 2 days"), "A (task_events: all, 2 days).");
        let why = "Not run: the lake has no table `task_events`.";
        assert_eq!(nothing(&json!({"nothing": why})), Some(why));
        assert_eq!(nothing(&json!({"rows": []})), None);
    }
}

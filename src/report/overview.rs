//! The first page: the trace, the findings, the questions without an answer, and the origin of the
//! numbers.

use std::fmt::Write;

use serde_json::{Value, json};

use super::ReportError;
use super::assumed::Assumed;
use super::early::incomplete_in_short;
use super::findings::{Findings, Other, findings, nothing, parts};
use super::html::{self, Cell, Page};
use super::pages::{is_written, shown};
use super::terms::LOADED;
use super::text::{beside, clock, clock_of_all, escape, sentence};
use crate::answers::study::Topic;
use crate::answers::{fairness, list};
use crate::results::kind::Kind;
use crate::results::{Picture, Stored, scope};
use crate::schema::Source;

/// The trace, with the tables and hours that were read.
fn lead(results: &[Stored]) -> String {
    let mut sources: Vec<&str> =
        results.iter().filter_map(|result| result.whole.source.as_deref()).collect();
    sources.sort_unstable();
    sources.dedup();
    let known = |name: &str| name.parse::<Source>().ok().map(Source::title);
    let sources: Vec<&str> = sources.iter().map(|name| known(name).unwrap_or(name)).collect();
    let mut scopes: Vec<String> = results.iter().map(tables).collect();

    // The longest list of tables is shown for all results.
    scopes.sort_by_key(String::len);
    let tables = scopes.pop().filter(|tables| !tables.is_empty());
    let tables =
        tables.map_or_else(String::new, |tables| format!("{LOADED}{}.</p>\n", escape(&tables)));
    // Results of several traces have no dates in common.
    let about = if sources.len() == 1 { super::about::trace(results) } else { String::new() };
    format!("<p class=\"lead\">{}{}.</p>\n{tables}", escape(&sources.join(", ")), escape(&about))
}

/// The tables that a result read, with their hours.
fn tables(result: &Stored) -> String {
    let all = Kind { remarks: &[], ..Kind::of("") };
    scope(&all, &Value::Null, &result.whole.inputs)
}

/// The findings and, in a separate list, the questions without an answer; each links to its
/// evidence.
fn first_screen(findings: &Findings, assumed: &Assumed, results: &[Stored]) -> String {
    let mut text = String::new();
    let link = |topic: &Topic, result: &str, words: &str| {
        format!("<a href=\"{}#{}\">{}</a>", topic.file, escape(result), escape(words))
    };
    if !findings.found.is_empty() {
        text.push_str("<h2>What was found</h2>\n<ol class=\"found\">\n");
        for one in &findings.found {
            let class = if one.is_shown { "" } else { " class=\"open\"" };
            let scope = match escape(&assumed.without(&one.scope)) {
                scope if scope.is_empty() => scope,
                scope => format!("<p class=\"source\">{scope}.</p>"),
            };
            let (first, further) = parts(&one.sentence);
            let further = further.map(|said| format!("<p>{}.</p>", sentence(said)));
            let further = further.unwrap_or_default();
            let short = match escape(&one.scope_in_short) {
                short if short.is_empty() => short,
                short => format!("{short}. "),
            };
            let _ = writeln!(
                text,
                "<li{class}><h3>{}</h3><p>{}.</p><details><summary>More</summary>{further}{scope}\
                </details><p class=\"source\">{short}{}</p></li>",
                escape(one.asks),
                sentence(first),
                link(one.topic, &one.result, "Evidence"),
            );
        }
        text.push_str("</ol>\n");
    }
    if !findings.others.is_empty() {
        text.push_str("<h2>What the other pages show</h2>\n<ul class=\"others\">\n");
        for one in &findings.others {
            let page = link(one.topic, &one.result, one.topic.title);
            let (asks, said) = (escape(one.topic.question), sentence(&one.sentence));
            let fair = was_fair(one, results);
            let _ = writeln!(text, "<li>{page}. <em>{asks}</em> {said}.{fair}</li>");
        }
        text.push_str("</ul>\n");
    }
    if !findings.unanswered.is_empty() {
        text.push_str("<h2>What this trace cannot answer</h2>\n<ul class=\"unanswered\">\n");
        for one in &findings.unanswered {
            let links = one.asks.iter().map(|(asks, result, topic)| {
                if is_written(topic, &shown(topic, results)) {
                    link(topic, result, asks)
                } else {
                    escape(asks)
                }
            });
            let links: Vec<String> = links.collect();
            let _ = writeln!(text, "<li>{}<br>{}.</li>", links.join(" · "), sentence(&one.why));
        }
        text.push_str("</ul>\n");
    }
    text
}

/// Whether waits were even, as a further sentence about fairness; empty for other pages.
fn was_fair(one: &Other, results: &[Stored]) -> String {
    let result = results.iter().find(|result| result.name == one.result);
    let verdict = result
        .filter(|result| result.name == fairness::KIND.name)
        .and_then(|result| super::fairness::verdict(result, results));
    verdict.map_or_else(String::new, |said| format!(" {}.", sentence(&said)))
}

/// The first page: the trace, the findings in sentences and charts, and the origin of the numbers.
pub(super) fn page(results: &[Stored]) -> Result<Page, ReportError> {
    let mut body = String::new();
    body.push_str(&lead(results));
    body.push_str(&incomplete_in_short(results));
    let (found, assumed) = (findings(results), Assumed::of(results));
    let scopes: Vec<String> = found.found.iter().map(|one| one.scope.clone()).collect();
    body.push_str(&first_screen(&found, &assumed, results));
    body.push_str(&assumed.said(&scopes));
    // Only the charts of findings are shown; other charts are on their own pages.
    let is_found = |result: &&Stored| found.found.iter().any(|one| one.result == result.name);
    let figures = list::topics()
        .into_iter()
        .flat_map(list::kinds_on)
        .filter_map(|kind| {
            let begin = kind.figure?;
            let shown = results.iter().filter(is_found).filter(|result| nothing(result).is_none());
            // Charts of other kinds may begin with the same letters, so a result with a separate
            // figure shows only that figure.
            let has_own =
                |name: &str| list::kinds().any(|kind| kind.name == name && kind.figure.is_some());
            let is_own = |result: &&Stored| result.name == kind.name || !has_own(&result.name);
            shown.filter(is_own).find_map(|result| {
                let chart =
                    result.charts().into_iter().find(|chart| chart.file.starts_with(begin))?;
                let caption = assumed.without(chart.caption);
                Some(html::figure(Picture { caption: &caption, ..chart }, result, "", true))
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
    for input in results.iter().flat_map(|result| &result.whole.inputs) {
        let mut parts = input.parts.clone();
        if let Some((has, of)) = input.part_count.zip(input.parts_of) {
            parts = match (has, of) {
                (1, 1) => "all".to_owned(),
                (has, of) if has == of => format!("all {of}"),
                (has, of) => format!("{has} of {of}: {parts}"),
            };
        }
        let unknown = || "unknown".to_owned();
        // Times have a decimal point, as in JSON.
        let time = |at: Option<f64>| at.map_or_else(unknown, |at| json!(at).to_string());
        let rows = input.rows.map_or_else(unknown, |rows| rows.to_string());
        let (start, end) = (time(input.start_s), time(input.end_s));
        let line = [input.table.clone(), parts, rows, start, end, input.sha256.clone()];
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let header =
        ["table", "parts", "rows", "first row", "last row", "SHA-256 of the parts' SHA-256"];
    let times = lines.iter().flat_map(|line| &line[3..5]).filter_map(|time| time.parse().ok());
    let latest = clock_of_all(times);
    let rows: Vec<Vec<Cell>> = lines
        .iter()
        .map(|[table, parts, rows, start, end, sum]| {
            let [start, end] =
                [start, end].map(|time| Cell::instant(beside(time.parse().ok(), latest)));
            vec![Cell::name(table), Cell::name(parts), Cell::of(rows), start, end, Cell::name(sum)]
        })
        .collect();
    let caption = format!("Tables that were read ({})", clock(latest));
    html::table(&caption, &header.map(str::to_owned), &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::load;
    use crate::results::envelope::Envelope;

    #[test]
    fn fairness_has_its_verdict_on_the_first_page() {
        let of = |name: &str, answer: Value| {
            let name = name.to_owned();
            Stored::of(Envelope { name, answer, ..Envelope::default() })
        };
        let used = |user: &str| json!({"user": user, "share": 0.5, "cpu_s": 50.0});
        let waited = |user: &str, wait_s: f64| json!({"user": user, "jobs": 20, "jobs_with_wait": 20, "wait_s_median": wait_s});
        let results = [
            of(fairness::KIND.name, json!({"by": "user", "users": [used("a"), used("b")]})),
            of(load::KIND.name, json!({"rows": [], "users": [waited("a", 4.0), waited("b", 2.0)]})),
        ];
        let topic = list::topics()[0];
        let said = |result: &str, results: &[Stored]| {
            let one = Other { sentence: String::new(), result: result.to_owned(), topic };
            was_fair(&one, results).replace("&nbsp;", " ")
        };
        assert_eq!(
            said(fairness::KIND.name, &results),
            " By the waits of jobs, nobody was held back for long: with 1.0 % of the CPU time or more and 10 \
            jobs or more, no user has a median wait above 4 s."
        );
        assert_eq!(said(fairness::KIND.name, &results[..1]), "", "no waits");
        assert_eq!(said(load::KIND.name, &results), "", "another page");
    }
}

//! One page per topic, with the results that belong to this topic in the list of studies.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::ReportError;
use super::assumed::{Assumed, recorded, unrecorded, with_requests};
use super::crossed;
use super::early::{incomplete_in_short, whole_rows};
use super::findings::{answer, nothing, parts, question};
use super::fitted::fitted;
use super::html::{self, Page};
use super::indices::of_indices;
use super::links::Links;
use super::months;
use super::open_tasks::added_up;
use super::other::{with_other_named, with_parts};
use super::pivoted::pivoted;
use super::repeated::{brief, is_constant, is_in_durations, unsaid, without_repeated};
use super::replay::context;
use super::settings::flatten;
use super::tables::{FOLDED_ROWS, repeats_others, stored_table};
use super::text::{caption, escape, gpu_time, sentence, sentence_ends};
use super::ticks::{self, described};
use super::together::with_others;
use crate::answers::classify::{self, ClassifyAnswer};
use crate::answers::describe::DescribeAnswer;
use crate::answers::replay::ReplayAnswer;
use crate::answers::study::Topic;
use crate::answers::sweep::{SweepAnswer, SweepSettings, lost_jobs};
use crate::answers::{list, replay, sweep};
use crate::results::kind::{Kind, Pages};
use crate::results::{Picture, Stored, Table};

/// A result on a page, and its kind.
pub(super) type Shown<'a> = (&'static Kind<'static>, &'a Stored);

/// The results on a page, in the order of the page.
pub(super) fn shown<'a>(topic: &'static Topic, results: &'a [Stored]) -> Vec<Shown<'a>> {
    let of = |kind: &'static Kind<'static>| {
        results.iter().filter(|result| result.name == kind.name).map(move |result| (kind, result))
    };
    list::kinds_on(topic).flat_map(of).collect()
}

/// Whether any result of a page has an answer. A page without answers has no link at the head of
/// every page. The first page lists it among the questions without an answer. Pages of single jobs
/// do not answer the question of a study.
pub(super) fn has_answer(shown: &[Shown<'_>]) -> bool {
    let answers = |kind: &Kind<'_>| kind.pages != Some(Pages::Jobs) || shown.len() == 1;
    shown.iter().any(|(kind, result)| answers(kind) && nothing(result).is_none())
}

/// Whether the page is written. If its results have nothing to show, it would only repeat the
/// reasons, which the first page gives. The page of the checks is always written. So is a page to
/// which pages of jobs, users or machines link back.
pub(super) fn is_written(topic: &'static Topic, shown: &[Shown<'_>]) -> bool {
    list::is_of_checks(topic)
        || shown.iter().any(|(kind, result)| kind.pages.is_some() || nothing(result).is_none())
}

/// The page of a topic.
pub(super) fn page(
    topic: &'static Topic,
    shown: &[Shown<'_>],
    all: &[Stored],
) -> Result<Page, ReportError> {
    let mut head = format!("<p class=\"lead\">{}</p>\n", escape(topic.question));
    if has_answer(shown) {
        head.push_str(&incomplete_in_short(all));
    }
    head.push_str(two_ways(shown));
    let (links, assumed) = (Links::of(all), Assumed::of(all));
    let scopes: Vec<String> = shown.iter().map(|(kind, result)| result.scope(kind)).collect();
    head.push_str(&assumed.said(&scopes));
    let [mut body, mut same, mut unknown] = [const { String::new() }; 3];
    let mut constant: Vec<Shown<'_>> = Vec::new();
    for (place, &(kind, result)) in shown.iter().enumerate() {
        let before = shown[..place].iter().find(|(_, other)| is_same(result, other));
        if nothing(result).is_some() {
            unknown.push_str(&item(kind, result));
        } else if let Some((_, other)) = before {
            same.push_str(&same_as(result, other));
        } else if is_in_durations(result, shown) {
            // The section about durations already shows this result.
        } else if is_constant(result) {
            constant.push((kind, result));
        } else {
            body.push_str(&section(kind, (result, all), (&links, &assumed))?);
        }
    }
    let list = |heading: &str, items: &str| {
        if items.is_empty() {
            return String::new();
        }
        format!("<section>\n<h2>{heading}</h2>\n<ul class=\"found\">\n{items}</ul></section>\n")
    };
    let unknown = list("Unknown for this trace", &unknown);
    let same = same + &in_one("Quantities that hardly vary", &constant);
    let zone = assumed.zone(&scopes);
    // If the question of the page is open, the reasons come before the other facts.
    let body = if has_answer(shown) {
        format!("{head}{body}{same}{unknown}{zone}")
    } else {
        format!("{head}{unknown}{body}{same}{zone}")
    };
    Ok(Page { file: topic.file.into(), title: topic.title.into(), within: topic.file, body })
}

/// A note if outcomes on a page are counted in two ways.
fn two_ways(shown: &[Shown<'_>]) -> &'static str {
    let is_both = |result: &Stored| {
        let is_of_outcomes = classify::KINDS.iter().any(|kind| kind.name == result.name);
        let answer = || result.found::<ClassifyAnswer>();
        is_of_outcomes.then(answer).flatten().is_some_and(ClassifyAnswer::is_counted_in_two_ways)
    };
    let has_both = shown.iter().any(|(_, result)| is_both(result));
    if has_both {
        "<p class=\"source\">Jobs and tasks are counted by their last event. CPU time goes by the outcome of \
        the job, by its exact sequence of events, whatever became of its tasks.</p>\n"
    } else {
        ""
    }
}

/// The text, in which GPU time replaces CPU time if the result is about GPUs.
fn of_result(result: &Stored, words: &str) -> String {
    gpu_time(result).map_or_else(|| words.to_owned(), |noun| words.replace("CPU time", noun))
}

/// A line about a result with the same rows as another one on the page.
fn same_as(result: &Stored, other: &Stored) -> String {
    format!(
        "<p class=\"source\" id=\"{}\">{}: the same numbers as in <a href=\"#{}\">{}</a>.{}</p>\n",
        escape(&result.name),
        escape(&caption(&result.name)),
        escape(&other.name),
        escape(&caption(&other.name)),
        data(result)
    )
}

/// The links to the files of a result.
fn data(result: &Stored) -> String {
    let files = linked_files(result).join(" ");
    if files.is_empty() { files } else { format!(" <span class=\"source\">Data: {files}</span>") }
}

/// A result that needs only one sentence, as a list item.
fn item(kind: &Kind<'_>, result: &Stored) -> String {
    let heading = of_result(result, &caption(&result.name));
    let unanswered = nothing(result);
    let is_answered = unanswered.is_none();
    let said = unanswered.or_else(|| answer(kind, result));
    let said =
        said.map_or_else(String::new, |said| format!(": {}", sentence(said.trim_end_matches('.'))));
    format!(
        "<li id=\"{}\"><b>{}</b>{said}.{}{}</li>\n",
        escape(&result.name),
        escape(heading.trim_end_matches('?')),
        if is_answered { data(result) } else { String::new() },
        if is_answered { computed(result) } else { String::new() }
    )
}

/// Results that need only one sentence each, as one paragraph; empty if there are none.
fn in_one(heading: &str, results: &[Shown<'_>]) -> String {
    if results.is_empty() {
        return String::new();
    }
    let (mut said, mut files, mut how) = (String::new(), Vec::new(), String::new());
    for (kind, result) in results {
        let own = answer(kind, result).unwrap_or_else(|| caption(&result.name));
        let (id, own) = (escape(&result.name), sentence(own.trim_end_matches('.')));
        let _ = write!(said, "<span id=\"{id}\">{own}</span>. ");
        files.extend(linked_files(result));
        let _ = writeln!(how, "<p>{}</p>\n{}", escape(&caption(&result.name)), computed(result));
    }
    format!(
        "<section>\n<h2>{heading}</h2>\n<p>{}</p>\n<p class=\"source\">Data: {}</p>\n\
        <details><summary>How they were computed</summary>\n{how}</details>\n</section>\n",
        said.trim_end(),
        files.join(", ")
    )
}

/// Whether the first tables of two results have the same rows, for example when every job has one
/// task.
fn is_same(one: &Stored, other: &Stored) -> bool {
    let pair = one.tables.first().zip(other.tables.first());
    pair.is_some_and(|(one, other)| {
        one.header == other.header && one.rows == other.rows && !one.rows.is_empty()
    })
}

/// The charts of a result, with the headings of its parts. The tables are listed above them.
fn figures(kind: &Kind<'_>, result: &Stored, scope: &str) -> Result<String, ReportError> {
    let end = format!("Tables: {scope}.");
    let mut said: Vec<String> = Vec::new();
    let (mut html, mut part) = (String::new(), None);
    let is_folded = |chart: &Picture<'_>| kind.folded.iter().any(|end| chart.file.ends_with(end));
    let charts = without_repeated(result.charts());
    let (folded, shown): (Vec<Picture<'_>>, Vec<Picture<'_>>) =
        charts.into_iter().partition(is_folded);
    for chart in shown {
        let own = kind.parts.iter().find(|part| chart.file.starts_with(part.0));
        let own = own.map_or("", |part| part.1);
        if part != Some(own) {
            html.push_str(if part.is_some() { "</div>\n" } else { "" });
            if !own.is_empty() {
                let _ = writeln!(html, "<h3>{own}</h3>");
            }
            html.push_str("<div class=\"figures\">");
            part = Some(own);
        }
        html.push_str(&drawn(chart, result, &end, &mut said)?);
    }
    html.push_str(if part.is_some() { "</div>\n" } else { "" });
    if !folded.is_empty() {
        let titles: Vec<String> = folded.iter().map(|chart| escape(chart.title)).collect();
        let _ = writeln!(
            html,
            "<details class=\"long\"><summary>More charts: {}</summary>\n<div class=\"figures\">",
            titles.join("; ")
        );
        for chart in folded {
            html.push_str(&drawn(chart, result, &end, &mut said)?);
        }
        html.push_str("</div></details>\n");
    }
    Ok(html)
}

/// A chart without the sentences that the captions of charts above it already have.
fn drawn(
    chart: Picture<'_>,
    result: &Stored,
    end: &str,
    said: &mut Vec<String>,
) -> Result<String, ReportError> {
    let caption = chart.caption.strip_suffix(end).unwrap_or(chart.caption).trim_end();
    let caption = unsaid(caption, said);
    html::figure(Picture { caption: &caption, ..chart }, result, "", false)
}

/// The heading of a result, with its question unless the heading already asks it. If the heading is
/// the title of the page, the question replaces it.
fn headed(result: &Stored, heading: &str) -> String {
    let said = caption(&result.name);
    // A heading may ask the same question in other words.
    let is_said = |asks: &&str| asks.trim_end_matches('?').replace(" do ", " ") == said;
    let asks = question(result).filter(|asks| !is_said(asks)).map(escape);
    let is_title = list::topics().into_iter().any(|topic| topic.title == said);
    let name = &result.name;
    match asks {
        Some(asks) if is_title => format!("<section>\n<h2 id=\"{name}\">{asks}</h2>\n"),
        Some(asks) => {
            format!("<section>\n<h2 id=\"{name}\">{heading}</h2>\n<p class=\"asks\">{asks}</p>\n")
        }
        None => format!("<section>\n<h2 id=\"{name}\">{heading}</h2>\n"),
    }
}

/// A result on its page: question, answer, picture, table, and how it was computed.
fn section(
    kind: &Kind<'_>,
    (result, all): (&Stored, &[Stored]),
    (links, assumed): (&Links, &Assumed),
) -> Result<String, ReportError> {
    let heading = escape(&of_result(result, &caption(&result.name)));
    // Whether waits were fair comes before who got how much.
    let mut body = match kind.pages {
        Some(Pages::Users) => super::fairness::waited(result, all),
        _ => String::new(),
    };
    body.push_str(&headed(result, &heading));
    if let Some(said) = answer(kind, result) {
        body.push_str(&in_sentences(&with_others(&said, result, all)));
    }
    body.push_str(&months::few(result));
    body.push_str(&ticks::lasts_longer(result, all));
    body.push_str(&brief(result, all));
    body.push_str(&crossed::of_killed_jobs(result, all));
    body.push_str(&super::machines::ended_with_machines(result, all));
    let scope = result.scope(kind);
    let tables = assumed.without(&scope);
    if !tables.is_empty() {
        let _ = writeln!(body, "<p class=\"source\">Tables: {}.</p>", escape(&tables));
    }
    body.push_str(&context(result));
    // A survival curve without censoring shows the same as the distribution.
    if described(result).is_some_and(DescribeAnswer::repeats_durations) {
        let files = linked_files(result).join(", ");
        let _ = writeln!(body, "<p class=\"source\">Data: {files}</p>");
        body.push_str(&computed(result));
        body.push_str("</section>\n");
        return Ok(body);
    }
    let names = super::names::meanings(kind, result);
    let charts = if ticks::is_curve_below(result, all) {
        ticks::curve_below(result)
    } else {
        figures(kind, result, &scope)?
    };
    body.push_str(&if kind.names_first { names + &charts } else { charts + &names });
    if kind.pages == Some(Pages::Users) {
        body.push_str(&super::fairness::index(result, all));
    }
    body.push_str(&all_tables(kind, (result, all), links));
    body.push_str(&added_up(result, all));
    let json = format!("{}.json", result.name);
    let json = (!result.is_small()).then_some(&json);
    for file in result.left_out.iter().chain(json) {
        let _ = writeln!(
            body,
            "<p class=\"source\">Not copied into this report because of its size: {} in the folder of the results.</p>",
            escape(file)
        );
    }
    body.push_str(&computed(result));
    body.push_str("</section>\n");
    Ok(body)
}

/// The tables of a result on its page.
fn all_tables(kind: &Kind<'_>, (result, all): (&Stored, &[Stored]), links: &Links) -> String {
    let mut body = String::new();
    let (unrecorded, indices) = (unrecorded(result, kind.pages), of_indices(result));
    for table in in_order(result, kind).filter_map(|table| recorded(table, &unrecorded)) {
        if let Some(both) = crossed::in_place_of(result, &table) {
            body.push_str(&both);
            continue;
        }
        let table = with_requests(&table, result.whole.source.as_deref());
        let table = with_parts(result, &table);
        let table = with_other_named(result, &table, all);
        let table = fitted(&table);
        let table = &*pivoted(result, &table);
        if let Some(short) = ticks::in_place_of(result, table) {
            body.push_str(if ticks::is_curve_below(result, all) { "" } else { &short });
            continue;
        }
        let started = ticks::with_started(result, table);
        let table = started.as_ref().unwrap_or(table);
        let some = ticks::some_rows(result, table);
        let table = some.as_ref().unwrap_or(table);
        let whole = whole_rows(table, all);
        let table = whole.as_ref().map_or(table, |(own, _)| own);
        if repeats_others(table) {
            let file = linked(table);
            let _ = writeln!(body, "<p class=\"source\">Data: {file}</p>");
            continue;
        }
        let stem = table.file.trim_end_matches(".csv");
        let title = kind.title_of_table(stem).map_or_else(|| caption(stem), str::to_owned);
        let caption = of_result(result, &title);
        let caption = months::with_late(result, table, caption);
        let caption = of_all_episodes(result, table, caption);
        if result.name == sweep::KIND.name && table.file == "sweep.csv" {
            let answer = result.found::<SweepAnswer>();
            let about = answer.map_or(("", ""), |own| (&*own.unit, lost_jobs(&own.total_cpu)));
            body.push_str(&what_if(table, about, result.whole.chosen::<SweepSettings>().price));
        }
        let html = stored_table(&caption, table, "", links, &indices, unit_of(result));
        // The table of all users already names these users.
        let html = match kind.pages {
            Some(Pages::Users) => {
                let caption = escape(&caption);
                format!("<details class=\"long\"><summary>{caption}</summary>\n{html}</details>\n")
            }
            _ => html,
        };
        body.push_str(&months::folded(result, table, (&caption, html)));
        body.push_str(if some.is_some() { ticks::ONLY_SOME } else { "" });
        body.push_str(whole.as_ref().map_or("", |(_, note)| note.as_str()));
    }
    body
}

/// The column with the number of episodes of a kind.
const EPISODES: &str = "episodes";

/// `Episodes, 23 of 48: the largest of each kind`, if the table does not have all episodes.
fn of_all_episodes(result: &Stored, table: &Table, caption: String) -> String {
    let kinds = result.tables.iter().find(|own| own.file == "episodes-kinds.csv");
    let kinds = kinds.filter(|_| table.file == "episodes.csv");
    let all = kinds.and_then(|kinds| {
        let place = kinds.header.iter().position(|column| column == EPISODES)?;
        kinds.rows.iter().map(|row| row.get(place)?.parse::<usize>().ok()).sum::<Option<usize>>()
    });
    match all.filter(|all| table.row_count < *all) {
        Some(all) => format!("{caption}, {} of {all}: the largest of each kind", table.row_count),
        None => caption,
    }
}

/// The tables of a result: the main one, unless it comes last, and the others in the order of their
/// captions.
fn in_order<'a>(result: &'a Stored, kind: &Kind<'_>) -> impl Iterator<Item = &'a Table> {
    let place = |table: &&Table| {
        let stem = table.file.trim_end_matches(".csv");
        let place = kind.captions.iter().position(|(known, _)| *known == stem);
        let is_first = stem == result.name && !kind.is_table_last;
        (!is_first, place.unwrap_or(usize::MAX))
    };
    let mut tables: Vec<&Table> = result.tables.iter().collect();
    tables.sort_by_key(place);
    tables.into_iter()
}

/// Links to the tables of a result.
fn linked_files(result: &Stored) -> Vec<String> {
    result.tables.iter().map(linked).collect()
}

/// A link to a table.
fn linked(table: &Table) -> String {
    let file = escape(&table.file);
    format!("<a href=\"data/{file}\">{file}</a>")
}

/// The element above the table of a sweep in which the script offers a price of a harmed job and a
/// threshold. Empty unless the page has the whole table with one row per rule and threshold: the
/// script computes from these rows.
fn what_if(table: &Table, (unit, lost): (&str, &str), price: f64) -> String {
    let at = |column: &str| table.header.iter().position(|name| name == column);
    let keys = ["rule", "threshold"].map(at);
    let of = |row: &[String]| keys.map(|idx| idx.and_then(|idx| row.get(idx).cloned()));
    let settings: BTreeSet<[Option<String>; 2]> = table.rows.iter().map(|row| of(row)).collect();
    let is_whole = table.rows.len() == table.row_count && table.row_count <= 2 * FOLDED_ROWS;
    if !is_whole || keys.contains(&None) || settings.len() < table.row_count {
        return String::new();
    }
    let unit = escape(unit);
    format!(
        "<div class=\"what-if\" data-unit=\"{unit}\" data-lost=\"{lost}\" data-price=\"{price}\"></div>\n"
    )
}

/// The unit of CPU, GPU and memory times of a result, if it has one: `NCU-s`.
pub(crate) fn unit_of(result: &Stored) -> Option<&str> {
    result.whole.answer.get("unit")?.as_str().filter(|unit| unit.ends_with("-s"))
}

/// An answer without its last full stop, as its first sentence and a list of the other sentences.
fn in_sentences(answer: &str) -> String {
    let (first, rest) = parts(answer);
    let mut text = format!("<p class=\"answer\">{}.</p>\n", sentence(first));
    let Some(rest) = rest else { return text };
    let mut from = 0;
    text.push_str("<ul class=\"more\">\n");
    for end in sentence_ends(rest).chain([rest.len()]) {
        let _ = writeln!(text, "<li>{}.</li>", sentence(&rest[from..end]));
        from = (end + 2).min(rest.len());
    }
    text.push_str("</ul>\n");
    text
}

/// How a result was computed: its assumptions, every definition and choice, the command to run it
/// again, and the checksum of its file.
pub(super) fn computed(result: &Stored) -> String {
    let mut text = String::from("<details><summary>How it was computed</summary>\n");
    if result.name == replay::KIND.name
        && let Some(ReplayAnswer { assumptions, .. }) = result.found()
    {
        text.push_str("<p>Assumed:</p>\n<ul>\n");
        for assumption in assumptions {
            let _ = writeln!(text, "<li>{}</li>", sentence(assumption));
        }
        text.push_str("</ul>\n");
    }
    let mut pairs = Vec::new();
    flatten("", &result.whole.settings, &mut pairs);
    // A ledger has its sums by reason in a further table, even if its rows are not split by reason.
    let has_reasons = result.tables.iter().any(|table| table.file.ends_with("-reasons.csv"));
    pairs.retain(|(name, text)| !(has_reasons && name == "by reason" && text == "false"));
    let sum = result.whole.checksum.as_deref().unwrap_or("unknown");
    pairs.push(("SHA-256 of the result".to_owned(), sum.to_owned()));
    let pairs = pairs.iter().map(|(name, text)| (name.as_str(), text.clone()));
    let _ = writeln!(
        text,
        "{}<p>To run it again:</p>\n<pre>{}</pre></details>",
        html::facts(pairs),
        escape(&result.command())
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_of_how_many_episodes_it_is() {
        let kinds = Table {
            file: "episodes-kinds.csv".to_owned(),
            ..table(&["what", "episodes"], &[&["a", "2"], &["b", "5"]])
        };
        let own = Table { file: "episodes.csv".to_owned(), ..table(&["what"], &[&["a"], &["b"]]) };
        let mut result = Stored::of(crate::results::envelope::Envelope::default());
        result.tables = vec![kinds];
        let said = |table: &Table| of_all_episodes(&result, table, "Episodes".to_owned());
        assert_eq!(said(&own), "Episodes, 2 of 7: the largest of each kind");
        assert_eq!(said(&Table { row_count: 7, ..own }), "Episodes");
    }

    fn table(header: &[&str], rows: &[&[&str]]) -> Table {
        let own = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
        Table {
            file: "x.csv".to_owned(),
            header: own(header),
            rows: rows.iter().map(|row| own(row)).collect(),
            row_count: rows.len(),
        }
    }

    #[test]
    fn a_price_is_offered_above_the_whole_of_a_sweep_alone() {
        let header = ["rule", "threshold", "net_cpu"];
        let rows: [&[&str]; 3] =
            [&["events", "10", "5"], &["events", "20", "3"], &["x", "10", "1"]];
        let whole = table(&header, &rows);
        let offered = "<div class=\"what-if\" data-unit=\"NCU-s\" data-lost=\"jobs that did not finish\" data-price=\"3600\"></div>\n";
        assert_eq!(what_if(&whole, ("NCU-s", "jobs that did not finish"), 3600.0), offered);
        let cut = Table { row_count: 4, ..whole.clone() };
        assert_eq!(what_if(&cut, ("NCU-s", "jobs that did not finish"), 3600.0), "");
        // With groups, several rows have the same rule and threshold.
        let twice = table(&header, &[rows[0], rows[0]]);
        assert_eq!(what_if(&twice, ("NCU-s", "jobs that did not finish"), 3600.0), "");
        assert_eq!(
            what_if(&table(&["rule"], &[&["x"]]), ("NCU-s", "jobs that did not finish"), 3600.0),
            ""
        );
    }
}

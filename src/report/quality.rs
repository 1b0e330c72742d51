//! The page about the quality of the data: whether the lake is complete, what is missing or
//! unusual, and the consequences for each study.
//!
//! In: the stored checks, and the other results of the report. Out: a page that begins with an
//! answer, goes on with findings, each with its number, scope and meaning, and ends with all
//! counts.

use std::fmt::Write;

use super::assumed::{Assumed, lacks_status};
use super::early::complete_from;
use super::findings::{nothing, unanswered};
use super::html::{self, Cell, Page};
use super::links::Links;
use super::pages::{Shown, computed, shown};
use super::tables::stored_table;
use super::text::{beside, clock, clock_of_all, escape, instant, sentence};
use crate::answers::list;
use crate::answers::quality::{Finding, SEE_CLOSED, Verified, Weight};
use crate::answers::study::Topic;
use crate::answers::verify::VerifyAnswer;
use crate::charts::{Chart, GanttChart, GanttSpan, Tone, svg_of};
use crate::digits::{counted, grouped, unit_of_time};
use crate::lake::Gap;
use crate::notation::listed;
use crate::results::Stored;
use crate::results::envelope::Input;
use crate::results::kind::{Kind, Pages};
use crate::results::scope;
use crate::schema::{Source, Table};

/// The data of the page.
struct Lake {
    verified: Verified,
    inputs: Vec<Input>,
    /// The tables that this kind of trace has.
    known: Vec<Table>,
    /// Whether the trace is a log. All tables of a log are made from the same lines.
    is_log: bool,
}

impl Lake {
    fn of(result: &Stored) -> Self {
        let source = result.whole.source.as_ref().and_then(|name| name.parse::<Source>().ok());
        Self {
            verified: result.found::<VerifyAnswer>().map(Verified::from).unwrap_or_default(),
            inputs: result.whole.inputs.clone(),
            known: source.map_or_else(Vec::new, |source| source.tables().to_vec()),
            is_log: source.is_some_and(Source::is_log),
        }
    }

    fn input(&self, table: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.table == table)
    }

    /// Whether nothing is missing from the given tables, as far as they are loaded. An empty list
    /// stands for all loaded tables.
    fn has_all_of(&self, tables: &[Table]) -> bool {
        let is_read = |input: &&Input| {
            tables.is_empty() || tables.iter().any(|table| table.name() == input.table)
        };
        self.inputs.iter().filter(is_read).all(|input| self.is_whole(&input.table))
    }

    /// Whether a table is loaded and nothing is missing from it.
    fn is_whole(&self, table: &str) -> bool {
        self.input(table).is_some_and(|input| input.is_whole() && input.gaps.is_empty())
    }
}

/// The page of the checks.
pub(super) fn page(topic: &'static Topic, checks: &[Shown<'_>], all: &[Stored]) -> Page {
    let mut body = format!("<p class=\"lead\">{}</p>\n", escape(topic.question));
    for &(_, result) in checks {
        let lake = Lake::of(result);
        let findings = lake.verified.findings(&lake.inputs, &lake.known);
        body.push_str(&whole(&lake, complete_from(all).as_deref()));
        body.push_str(&found(&findings, all));
        body.push_str(&for_studies(topic, &lake, all));
        body.push_str(&counts(result));
    }
    Page { file: topic.file.into(), title: topic.title.into(), within: topic.file, body }
}

/// Whether the lake is complete: sentences, a table, and a picture if something is missing.
fn whole(lake: &Lake, complete_from: Option<&str>) -> String {
    let mut html = format!(
        "<h2>What part of the trace is loaded?</h2>\n<p class=\"answer\">{} {}</p>\n",
        sentence(&extent(lake, complete_from)),
        sentence(&published(&lake.verified))
    );
    if let Some((chart, said)) = loaded(&lake.inputs) {
        html.push_str(&html::drawn(&svg_of(&chart), &said));
        let _ = writeln!(html, "<p class=\"source\">{}</p>", escape(&said));
    }
    let times = lake.inputs.iter().flat_map(|input| [input.start_s, input.end_s]);
    let latest = clock_of_all(times.flatten());
    let header = ["table", "loaded", "rows", "first row", "last row"].map(str::to_owned);
    let absent = lake.known.iter().filter(|table| lake.input(table.name()).is_none());
    let rows = lake.inputs.iter().map(|input| {
        vec![
            Cell::name(&input.table),
            Cell::name(&parts(input)),
            Cell::of(&input.rows.map_or_else(|| "unknown".to_owned(), |rows| rows.to_string())),
            Cell::instant(beside(input.start_s, latest)),
            Cell::instant(beside(input.end_s, latest)),
        ]
    });
    let absent = absent.map(|table| {
        let blank = || Cell::name("");
        vec![Cell::name(table.name()), Cell::name("nothing"), blank(), blank(), blank()]
    });
    let rows: Vec<Vec<Cell>> = rows.chain(absent).collect();
    html.push_str(&html::table(&format!("Tables ({})", clock(latest)), &header, &rows));
    html
}

/// How much of a table is loaded.
fn parts(input: &Input) -> String {
    let has = input.part_count.unwrap_or(0);
    match input.parts_of {
        Some(of) if has < of => format!("{has} of {}: {}", counted(of, "part"), input.parts),
        Some(of) if 1 < of => format!("all {of} parts"),
        Some(_) => "all".to_owned(),
        None => counted(has, "part"),
    }
}

/// A sentence about how much of the tables is loaded.
fn extent(lake: &Lake, complete_from: Option<&str>) -> String {
    let (whole, some): (Vec<&Input>, Vec<&Input>) =
        lake.inputs.iter().partition(|input| lake.is_whole(&input.table));
    let names = |inputs: &[&Input]| {
        inputs.iter().map(|input| format!("`{}`", input.table)).collect::<Vec<String>>().join(", ")
    };
    let absent = lake.known.iter().filter(|table| lake.input(table.name()).is_none());
    let absent: Vec<String> = absent.map(|table| format!("`{table}`")).collect();
    let rows: u64 = lake.inputs.iter().filter_map(|input| input.rows).sum();
    if some.is_empty() && absent.is_empty() {
        let (tables, rows) = (counted(whole.len() as u64, "table"), counted(rows, "row"));
        // In a log, a job has a row per event in each of several tables.
        let jobs = Some(lake.verified.jobs()).filter(|jobs| lake.is_log && 0 < *jobs);
        let what = match jobs {
            Some(jobs) => format!("{}, in {tables} with {rows}", counted(jobs, "job")),
            None => format!("{tables} with {rows}"),
        };
        return match complete_from {
            Some(when) => format!(
                "All of it ({what}), but the log itself seems to lack jobs that ended before {when}."
            ),
            None => format!("All of it: {what}, and no part of them is missing."),
        };
    }
    let mut said: Vec<String> = Vec::new();
    let some = some.iter().map(|input| match input.parts_of {
        Some(of) if !input.is_whole() => format!(
            "{} of {} of `{}`",
            grouped(input.part_count.unwrap_or(0)),
            counted(of, "part"),
            input.table
        ),
        _ => format!("`{}` with a gap", input.table),
    });
    said.extend(Some(some.collect::<Vec<String>>().join(", ")).filter(|text| !text.is_empty()));
    said.extend((!whole.is_empty()).then(|| format!("all of {}", names(&whole))));
    said.extend((!absent.is_empty()).then(|| format!("nothing of {}", absent.join(", "))));
    format!("Not all of it: {}.", said.join("; "))
}

/// A sentence about how many published counts agree.
fn published(verified: &Verified) -> String {
    let all = verified.checks.len() as u64;
    let differing = verified.checks.iter().filter(|check| !check.is_ok()).count() as u64;
    match (all, differing) {
        (0, _) => "There are no published counts to compare with.".to_owned(),
        (_, 0) => {
            let mut tables: Vec<String> = Vec::new();
            for check in &verified.checks {
                let name = format!("`{}`", check.table);
                if !tables.contains(&name) {
                    tables.push(name);
                }
            }
            format!(
                "All {} published counts of whole tables agree: those of {}, marked below.",
                grouped(all),
                listed(&tables)
            )
        }
        _ => format!("{} of {} differ.", grouped(differing), counted(all, "published count")),
    }
}

/// The loaded hours of each table, as a chart and a sentence. `None` if every table is complete or
/// the rows span no time.
fn loaded(inputs: &[Input]) -> Option<(Chart, String)> {
    let timed = || inputs.iter().filter_map(|input| Some((input, input.start_s?, input.end_s?)));
    let first = timed().map(|own| own.1).reduce(f64::min)?;
    let last = timed().map(|own| own.2).reduce(f64::max)?;
    if inputs.iter().all(|input| input.is_whole() && input.gaps.is_empty()) || last <= first {
        return None;
    }
    let (unit, per) = unit_of_time(last - first);
    let (mut rows, mut spans) = (Vec::new(), Vec::new());
    for (input, start_s, end_s) in timed() {
        for [from_s, to_s] in pieces(start_s, end_s, &input.gaps) {
            spans.push(GanttSpan {
                row: rows.len(),
                from: (from_s - first) / per,
                to: (to_s - first) / per,
                label: String::new(),
                tone: Tone::Blue,
                is_wait: false,
            });
        }
        rows.push(input.table.clone());
    }
    let said = format!(
        "A bar is the time from the first to the last row that is loaded, of {} in total; from {} on ({}).",
        crate::digits::lasting(last - first),
        instant(first),
        clock(Some(first))
    );
    let chart = Chart::Gantt(GanttChart {
        title: "Loaded time of each table".to_owned(),
        caption: said.clone(),
        time_axis: format!("time since the first row ({unit})"),
        rows,
        spans,
        legend: Vec::new(),
    });
    Some((chart, said))
}

/// The time of a table without its holes, s.
fn pieces(start_s: f64, end_s: f64, gaps: &[Gap]) -> Vec<[f64; 2]> {
    let mut holes: Vec<[f64; 2]> =
        gaps.iter().filter_map(|gap| Some([gap.from_h? * 3600.0, gap.until_h? * 3600.0])).collect();
    holes.sort_by(|one, other| one[0].total_cmp(&other[0]));
    let mut all = Vec::new();
    let mut from_s = start_s;
    for [hole_s, until_s] in holes {
        all.push([from_s, hole_s]);
        from_s = until_s;
    }
    all.push([from_s, end_s]);
    all
}

/// The headings of findings.
const GROUPS: [(&str, bool); 2] =
    [("Changes results", false), ("Unusual, and part of the results", true)];

/// The findings, each with what the user can do about it.
fn found(findings: &[Finding], all: &[Stored]) -> String {
    let mut html = String::from("<h2>What is wrong, missing or unusual</h2>\n");
    if findings.is_empty() {
        html.push_str(
            "<p class=\"answer\">Nothing: no row is duplicated, out of order or without an end.</p>\n",
        );
        return html;
    }
    let more = of_studies(all);
    for (heading, is_unusual) in GROUPS {
        let is_own = |one: &&Finding| (one.weight == Weight::Unusual) == is_unusual;
        let own: Vec<&Finding> = findings.iter().filter(is_own).collect();
        if own.is_empty() {
            continue;
        }
        let class = if is_unusual { " class=\"open\"" } else { "" };
        let _ = writeln!(html, "<h3>{heading}</h3>\n<ol class=\"found\">");
        for one in own {
            let _ = writeln!(
                html,
                "<li{class}><h3>{}</h3><p>{}{}</p>{}<p class=\"source\">{}.</p>{}</li>",
                escape(&one.about),
                sentence(&one.said),
                if one.list.is_empty() { "." } else { ":" },
                items(&one.list),
                sentence(one.means),
                one.act.as_deref().map_or_else(String::new, |act| todo(act, &more))
            );
        }
        html.push_str("</ol>\n");
    }
    let is_said = findings.iter().any(|one| one.act.as_deref() == Some(SEE_CLOSED));
    for line in more.iter().filter(|_| !is_said) {
        let _ = writeln!(html, "<p class=\"source\">{}</p>", sentence(line));
    }
    html
}

/// What the user can do about a finding. If that is only to look up a report of the studies, that
/// report is shown instead.
fn todo(act: &str, said: &[String]) -> String {
    let known = act.strip_suffix(SEE_CLOSED).filter(|_| !said.is_empty());
    match known.map(|rest| rest.trim_end_matches(", or ")) {
        Some("") => {
            let lines: Vec<String> = said.iter().map(|line| sentence(line)).collect();
            format!("<p>{}</p>", lines.join("</p><p>"))
        }
        Some(rest) => format!("<p>What to do: {}.</p>", sentence(rest)),
        None => format!("<p>What to do: {}.</p>", sentence(act)),
    }
}

/// Entries of a finding as a list; empty if there are none.
fn items(all: &[String]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let items = all.iter().map(|text| format!("<li>{}.</li>", sentence(text)));
    format!("<ul>{}</ul>", items.collect::<String>())
}

/// Reports of studies about the quality of the data, such as the number of attempts without an end
/// and their share of a sum.
fn of_studies(all: &[Stored]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for kind in list::kinds() {
        for result in all.iter().filter(|result| result.name == kind.name) {
            let line = kind.quality.and_then(|says| says(&result.whole));
            lines.extend(line.filter(|line| !lines.contains(line)));
        }
    }
    lines
}

/// The consequences of the state of the lake for each study.
fn for_studies(own: &'static Topic, lake: &Lake, all: &[Stored]) -> String {
    let (assumed, cut) = (Assumed::of(all), complete_from(all));
    let parts: Vec<(&str, String)> =
        lake.inputs.iter().filter(|own| !lake.is_whole(&own.table)).map(extent_of).collect();
    // These amounts are given once above the table.
    let in_part = |scope: String| {
        parts.iter().fold(scope, |scope, (_, extent)| scope.replace(extent.as_str(), "in part"))
    };
    let row = |topic: &'static Topic| {
        let results = shown(topic, all);
        if results.is_empty() || topic == own {
            return None;
        }
        // Pages of single jobs do not answer the question of a study.
        let answers = |kind: &Kind<'_>| kind.pages != Some(Pages::Jobs) || results.len() == 1;
        let answered = results.iter().filter(|one| answers(one.0) && nothing(one.1).is_none());
        let answered: Vec<&Shown<'_>> = answered.collect();
        let scopes = answered.iter().map(|(kind, result)| assumed.without(&result.scope(kind)));
        // The longest scope is shown for all of them.
        let Some(scope) = scopes.max_by_key(String::len) else {
            let mut why = results.iter().filter_map(|(_, result)| nothing(result));
            let why = why.next().unwrap_or_default().replace('`', "");
            return Some(vec![
                Cell::name(topic.title),
                Cell::name("not answered"),
                Cell::name(&why),
            ]);
        };
        let open = results.iter().find_map(|(kind, result)| open(kind, result));
        let has_all = answered.iter().all(|(kind, _)| lake.has_all_of(kind.tables));
        let is_whole = has_all && cut.is_none();
        let state = Cell::name(if is_whole && open.is_none() { "whole" } else { "in part" });
        let open = open.map_or_else(String::new, |why| format!(". Not answered: {why}"));
        let means = Some(topic.if_cut).filter(|means| !has_all && !means.is_empty());
        let means = means.map_or_else(String::new, |means| format!("; {means}"));
        let lacks = if cut.is_some() { "; jobs are missing, see above" } else { "" };
        let scope = in_part(scope);
        let from = Cell::name(&format!("{scope}{lacks}{means}{}", open.replace('`', "")));
        Some(vec![Cell::link(topic.title, topic.file), state, from])
    };
    let rows: Vec<Vec<Cell>> = list::topics().into_iter().filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["study", "answered", "from what, or why not"].map(str::to_owned);
    let mut all: Vec<String> =
        parts.iter().map(|(table, extent)| format!("Of `{table}`: {extent}")).collect();
    all.extend(cut.map(|when| {
        format!(
            "No study is complete before {when}: of earlier jobs, the log has only those that \
            waited or ran long"
        )
    }));
    let above = all.iter().map(|said| format!("<p class=\"source\">{}.</p>\n", sentence(said)));
    format!(
        "<h2>What it means for each study</h2>\n{}{}",
        above.collect::<String>(),
        html::table("Studies of this report", &header, &rows)
    )
}

/// How much of a table is loaded, in the words that scopes use.
fn extent_of(input: &Input) -> (&str, String) {
    (&input.table, scope::extent(input))
}

/// The reason why a part of a result, or the question of its study, is not answered.
fn open(kind: &Kind<'_>, result: &Stored) -> Option<String> {
    let status = || {
        let why = "the log records no status, so it is unknown how jobs ended";
        lacks_status(result, kind.pages).then(|| why.to_owned())
    };
    unanswered(result).or_else(status)
}

/// All counts, and how they were computed.
fn counts(result: &Stored) -> String {
    let mut html = format!("<section>\n<h2 id=\"{}\">All counts</h2>\n", result.name);
    for table in &result.tables {
        html.push_str(&stored_table(
            "Counts of every table",
            table,
            "",
            &Links::default(),
            &[],
            None,
        ));
    }
    html.push_str(&computed(result));
    html.push_str("</section>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_at_hand_stands_for_the_command_that_shows_it() {
        let said = ["7 attempts, 5 %.".to_owned()];
        assert_eq!(todo(SEE_CLOSED, &said), "<p>7 attempts, 5&nbsp;%.</p>");
        let act = format!("Load the missing parts, or {SEE_CLOSED}");
        assert_eq!(todo(&act, &said), "<p>What to do: Load the missing parts.</p>");
        assert!(todo(&act, &[]).contains("jobfate account"));
        assert_eq!(todo("Load it", &said), "<p>What to do: Load it.</p>");
    }
}

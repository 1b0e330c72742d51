//! The shares of a distribution at round amounts. They replace the table of its curve, which is in
//! the chart and in the file.
//!
//! In: a stored result of `describe`. Out: a table with a row per outcome as HTML, or the rows of a
//! long table at round numbers of events.

use super::html::{self, Cell};
use super::text::{caption, escape, lasting, sentence};
use crate::answers::describe::{self, DescribeAnswer, Tick};
use crate::digits::grouped;
use crate::results::{Stored, Table};
use crate::studies::samples::What;

/// The answer of a result that describes a distribution.
pub(super) fn described(result: &Stored) -> Option<&DescribeAnswer> {
    let is_described = describe::KINDS.iter().any(|kind| kind.name == result.name);
    is_described.then(|| result.found::<DescribeAnswer>()).flatten()
}

/// The part of a page that replaces a table of curves. `None` for other tables. Also `None` for a
/// survival curve without such shares: older results and groups lack them.
pub(super) fn in_place_of(result: &Stored, table: &Table) -> Option<String> {
    let answer = described(result)?;
    let is_survival = answer.what == What::JobSurvival && !answer.ticks.is_empty();
    if !is_survival && table.file != format!("{}-curves.csv", result.name) {
        return None;
    }
    let file = escape(&table.file);
    let source = format!(
        "<p class=\"source\">Data: <a href=\"data/{file}\">{file}</a>, with the whole curves</p>\n"
    );
    let end = if is_survival { "share that lasts longer" } else { "share at or below" };
    let title = format!("{}: {end}", caption(&result.name));
    let table = of_ticks(&title, answer);
    // The chart has the same shares. The shares of a survival curve are the answer, so they are not
    // folded.
    if is_survival || table.is_empty() {
        return Some(table + &source);
    }
    let title = escape(&title);
    Some(format!("<details class=\"long\"><summary>{title}</summary>\n{table}</details>\n{source}"))
}

/// How many jobs last longer than given times, after the lengths of the same jobs. Empty for other
/// results, and if the curve of survival is drawn.
pub(super) fn lasts_longer(result: &Stored, all: &[Stored]) -> String {
    let is_durations = described(result).is_some_and(|answer| answer.what == What::JobDurations);
    let repeats = |own: &&Stored| described(own).is_some_and(DescribeAnswer::repeats_durations);
    let Some(own) = all.iter().find(repeats).filter(|_| is_durations) else {
        return String::new();
    };
    let said = described(own).and_then(DescribeAnswer::survival).unwrap_or_default();
    let said = said.split(". ").next().filter(|said| !said.is_empty());
    let said = said.map_or_else(String::new, |said| format!("{}. ", sentence(said)));
    let (name, file) = (escape(&own.name), escape(&format!("{}.csv", own.name)));
    format!(
        "<p id=\"{name}\">{said}<span class=\"source\">Data: <a href=\"data/{file}\">{file}</a></span></p>\n"
    )
}

/// The name of an amount in a heading.
fn name_of(value: f64, what: What) -> String {
    const TIMES: [(f64, &str); 8] = [
        (1.0, "1 s"),
        (10.0, "10 s"),
        (60.0, "1 min"),
        (600.0, "10 min"),
        (3600.0, "1 h"),
        (21_600.0, "6 h"),
        (86_400.0, "1 d"),
        (864_000.0, "10 d"),
    ];
    if what.is_time() {
        let known = TIMES.iter().find(|(time_s, _)| *time_s == value);
        return known.map_or_else(|| lasting(value), |(_, name)| (*name).to_owned());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let count = grouped(value as u64);
    if what == What::Estimates { format!("{count} %") } else { count }
}

fn share_of(tick: &Tick) -> Option<f64> {
    tick.share_at_or_below.or(tick.share)
}

/// Whether all jobs of a share last to the end of the window: how long they would last is unknown.
fn is_cut(tick: &Tick, what: What) -> bool {
    tick.outcome == "running" && matches!(what, What::JobDurations | What::JobSurvival)
}

/// Whether the survival curve of the same jobs is on the page: it shows the same as their
/// distribution.
pub(super) fn is_curve_below(result: &Stored, all: &[Stored]) -> bool {
    let is_durations = described(result).is_some_and(|answer| answer.what == What::JobDurations);
    let is_survival = |answer: &DescribeAnswer| {
        let is_drawn = answer.nothing.is_none() && !answer.ticks.is_empty();
        answer.what == What::JobSurvival && is_drawn && !answer.repeats_durations()
    };
    is_durations && all.iter().filter_map(described).any(is_survival)
}

/// The text that replaces the chart and the curves of a distribution if the page has such a
/// survival curve.
pub(super) fn curve_below(result: &Stored) -> String {
    let file = escape(&format!("{}-curves.csv", result.name));
    format!(
        "<p class=\"source\">The next chart shows the same jobs, by the share that lasts longer. Data: \
        <a href=\"data/{file}\">{file}</a>, with the share at or below each length</p>\n"
    )
}

/// The name of the row with the waits of all tasks, in a table that also has the waits that ended
/// with an attempt.
const ALL_WAITS: &str = "all, with those that did not start";

/// The table of waits with an additional row of the waits that ended with an attempt. `None` for
/// other tables, and if all waits ended so.
pub(super) fn with_started(result: &Stored, table: &Table) -> Option<Table> {
    let started = described(result)?.started.as_ref()?;
    let place = |name: &str| table.header.iter().position(|column| column == name);
    let (outcome, count) = (place("outcome")?, place("count")?);
    let all = table.rows.iter().position(|row| row.get(outcome).is_some_and(|own| own == "all"))?;
    if table.rows[all].get(count) == Some(&started.count.to_string()) {
        return None;
    }
    let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let cell = |(name, of_all): (&String, &String)| match name.as_str() {
        "outcome" => "all that started".to_owned(),
        "count" => started.count.to_string(),
        "mean" => text(started.mean),
        "median" => text(started.median),
        "p99" => text(started.p99),
        "max" => text(started.max),
        name if name.ends_with("unit") => of_all.clone(),
        _ => String::new(),
    };
    let mut own = table.clone();
    ALL_WAITS.clone_into(&mut own.rows[all][outcome]);
    own.rows.insert(all + 1, table.header.iter().zip(&table.rows[all]).map(cell).collect());
    own.row_count += 1;
    Some(own)
}

/// A row for each outcome and a column for each amount. An amount is left out if each share there
/// is 0 or 1. Empty if no amount is left.
fn of_ticks(caption: &str, answer: &DescribeAnswer) -> String {
    let (mut outcomes, mut values): (Vec<&str>, Vec<f64>) = (Vec::new(), Vec::new());
    for tick in answer.ticks.iter().filter(|tick| !is_cut(tick, answer.what)) {
        if !outcomes.contains(&tick.outcome.as_str()) {
            outcomes.push(&tick.outcome);
        }
        if !values.contains(&tick.value) {
            values.push(tick.value);
        }
    }
    let at = |value: f64| answer.ticks.iter().filter(move |tick| tick.value == value);
    let differs = |value: &f64| {
        let is_between = |share: f64| 0.0 < share && share < 1.0;
        at(*value).filter_map(share_of).any(is_between)
    };
    values.retain(differs);
    if values.is_empty() {
        return String::new();
    }
    let names = values.iter().map(|value| name_of(*value, answer.what));
    let header: Vec<String> = ["outcome of the job".to_owned()].into_iter().chain(names).collect();
    let cell = |outcome: &str, value: f64| {
        let share = at(value).find(|tick| tick.outcome == outcome).and_then(share_of);
        Cell::share(&share.map_or_else(String::new, |share| share.to_string()))
    };
    let row = |outcome: &&str| -> Vec<Cell> {
        let cells = values.iter().map(|value| cell(outcome, *value));
        [Cell::name(outcome)].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<Cell>> = outcomes.iter().map(row).collect();
    html::named_table(caption, &header, str::to_owned, &rows)
}

/// The numbers of events that have a row on a page.
const EVENTS: [&str; 8] = ["1", "2", "5", "10", "20", "50", "100", "200"];

/// The rows of the chances to finish at round numbers of events. `None` for other tables, and for
/// short ones.
pub(super) fn some_rows(result: &Stored, table: &Table) -> Option<Table> {
    let answer = described(result)?;
    let is_long = answer.what == What::FinishGivenEvents && EVENTS.len() < table.row_count;
    let place = table.header.iter().position(|column| column == "events").filter(|_| is_long)?;
    let is_round =
        |row: &&Vec<String>| row.get(place).is_some_and(|events| EVENTS.contains(&events.as_str()));
    let rows: Vec<Vec<String>> = table.rows.iter().filter(is_round).cloned().collect();
    Some(Table { row_count: rows.len(), rows, ..table.clone() })
}

/// The note below a table that shows only some rows.
pub(super) const ONLY_SOME: &str =
    "<p class=\"source\">The file also has the other numbers of events.</p>\n";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::results::envelope::Envelope;
    use crate::studies::distributions::TICKS_S;

    #[test]
    fn the_lengths_say_how_many_jobs_last_longer() {
        let of = |what: &str, censored: u64| {
            let row = |time_s: f64, share: f64| json!({"outcome": "all", "time_s": time_s, "share": share});
            let answer = json!({"what": what, "unit": "s", "quantiles": "R-7",
                "censoring": {"of": "jobs", "censored": censored},
                "rows": [row(0.0, 1.0), row(3000.0, 0.25), row(9000.0, 0.0)]});
            Stored::of(Envelope { name: what.to_owned(), answer, ..Envelope::default() })
        };
        let durations = of("job-durations", 0);
        let html = lasts_longer(&durations, &[of("job-survival", 0)]);
        let said = "<p id=\"job-survival\">Of the jobs that started, 25.0&nbsp;% last longer than an hour. ";
        assert!(html.starts_with(said), "{html}");
        // A curve with open jobs is drawn separately.
        assert_eq!(lasts_longer(&durations, &[of("job-survival", 3)]), "");
    }

    #[test]
    fn a_table_has_the_amounts_at_which_outcomes_differ() {
        let tick = |outcome: &str, value: f64, share: f64| json!({"outcome": outcome, "value": value, "share_at_or_below": share});
        let answer: DescribeAnswer = serde_json::from_value(json!({
            "what": "waiting", "unit": "s", "quantiles": "R-7", "censoring": {"of": "tasks"},
            "rows": [], "ticks": [
                tick("all", 1.0, 0.0), tick("all", 60.0, 0.25), tick("all", 86_400.0, 1.0),
                tick("failed", 1.0, 0.0), tick("failed", 60.0, 1.0), tick("failed", 86_400.0, 1.0),
            ],
        }))
        .unwrap();
        let html = of_ticks("Waits: share at or below", &answer);
        assert!(html.contains(">1 min<") && !html.contains(">1 s<"), "{html}");
        assert!(!html.contains(">1 d<") && html.matches("<tr").count() == 3, "{html}");
        assert!(html.contains("25.00 %") && html.contains(">failed<"), "{html}");
        let times = TICKS_S.map(|time_s| name_of(time_s, What::Waiting));
        assert_eq!(times, ["1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "10 d"]);
        // Jobs that still run have no row of lengths.
        let running = Tick {
            outcome: "running".to_owned(),
            value: 60.0,
            share: Some(1.0),
            ..Tick::default()
        };
        let mut lengths = DescribeAnswer { what: What::JobSurvival, ..answer.clone() };
        lengths.ticks.push(running);
        assert!(!of_ticks("x", &lengths).contains("running"));
        let none = DescribeAnswer { ticks: Vec::new(), ..answer };
        assert_eq!(of_ticks("x", &none), "");
    }
}

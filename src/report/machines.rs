//! Pages of single machines.
//!
//! In: the machines that left most often, each in detail. Out: a page per machine with its load
//! over time, the longest attempts on it, its outages and its jobs. Pages are named by the number
//! of the machine, so no name becomes a path; those of fairness, which are of classes of machines,
//! begin with a zero.

use std::fmt::Write;

use rayon::prelude::*;
use serde_json::Value;

use super::gantt::Bars;
use super::html::{self, Cell, Page};
use super::links::{Links, closeups, file_of_machine};
use super::text::{clock, escape, figure_text, lasting};
use crate::charts::{Area, AreaChart, Chart, HOURS_OF_TRACE, Tone, svg_of};
use crate::digits::{counted, grouped};
use crate::results::Stored;

const HOUR_S: f64 = 3600.0;

/// The pages of the machines of a result.
pub(super) fn pages(result: &Stored, all: &[Stored], within: &'static str) -> Vec<Page> {
    let links = Links::of(all);
    let load = &result.answer()["load"];
    let machines = closeups(result, "machines");
    machines.par_iter().filter_map(|own| page(result, own, load, &links, within)).collect()
}

fn items<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().map_or(&[], Vec::as_slice)
}

fn known(of: &Value, name: &str) -> String {
    of[name].as_f64().map_or_else(|| "-".to_owned(), figure_text)
}

/// A length of time in words.
fn time(of: &Value, name: &str) -> String {
    of[name].as_f64().map_or_else(|| "-".to_owned(), lasting)
}

fn number(value: &Value) -> Cell {
    Cell::of(&value.as_f64().map_or_else(String::new, |number| number.to_string()))
}

fn page(
    result: &Stored,
    own: &Value,
    load: &Value,
    links: &Links,
    within: &'static str,
) -> Option<Page> {
    let id = own["machine_id"].as_i64()?;
    let title = format!("Machine {id}");
    let count = |name: &str, noun: &str| counted(own[name].as_u64().unwrap_or(0), noun);
    let mut body =
        format!("<p><a href=\"../{within}#{}\">All machines with a page</a></p>\n", result.name);
    let share = own["cpu_requested_share"].as_f64();
    let share = share.map_or_else(String::new, |share| {
        format!("; they requested {:.1} % of its CPU while that is known", share * 100.0)
    });
    let _ = writeln!(
        body,
        "<p class=\"answer\">It left {} and was away for {} in all. {}{} of {} ran on it{share}.</p>",
        counted(own["outage_count"].as_u64().unwrap_or(0), "time"),
        time(own, "away_s"),
        loaded_hours(load),
        count("attempt_count", "attempt"),
        count("job_count", "job"),
    );
    let capacities = items(own, "capacities")
        .iter()
        .map(|at| format!("{} CPU, {} memory", known(at, "cpu"), known(at, "memory")));
    let mut facts = vec![
        ("capacity", capacities.collect::<Vec<String>>().join("; then ")),
        ("first seen", time(own, "first_s")),
    ];
    let ended: Vec<String> = own["ended"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(end, count)| format!("{} {end}", grouped(count.as_u64().unwrap_or(0))))
        .collect();
    if !ended.is_empty() {
        facts.push(("ends of attempts", ended.join(", ")));
    }
    body.push_str(&html::facts(facts));
    body.push_str(&drawings(own, load, &title));
    body.push_str(&tables(own, links));
    let _ =
        writeln!(body, "<p class=\"source\">From <code>{}</code></p>", escape(&result.command()));
    Some(Page { file: file_of_machine(id), title, within, body })
}

/// Its load over time, and the longest attempts on it.
pub(crate) fn drawings(own: &Value, load: &Value, title: &str) -> String {
    let mut body = String::from("<h2>Its load over time</h2>\n");
    let (chart, said) = over_time(own, load, title);
    body.push_str(&html::drawn(&svg_of(&chart), &said));
    let _ = writeln!(body, "<p class=\"source\">{}</p>", escape(&said));
    body.push_str("<h2>Attempts on it</h2>\n");
    match attempts(own, title) {
        Some((chart, said)) => {
            body.push_str(&html::drawn(&svg_of(&chart), &said));
            let _ = writeln!(body, "<p class=\"source\">{}</p>", escape(&said));
        }
        None => body.push_str("<p>Nothing ran on it in the loaded parts.</p>\n"),
    }
    body
}

/// `In the 25.1 hours for which tasks are loaded, `, where machines are known for longer.
fn loaded_hours(load: &Value) -> String {
    let length_s = |[from, to]: [&str; 2]| Some(load[to].as_f64()? - load[from].as_f64()?);
    let Some(loaded_s) = length_s(["start_s", "end_s"]) else { return String::new() };
    let machines_s = length_s(["machines_start_s", "machines_end_s"]);
    // Tasks may begin a little later; 600 s in the trace of 2011.
    if machines_s.is_some_and(|machines_s| 0.99 * machines_s <= loaded_s) {
        return String::new();
    }
    let hours = loaded_s / HOUR_S;
    let hours = if hours < 1.0 { hours } else { (hours * 10.0).round() / 10.0 };
    format!("In the {} hours for which tasks are loaded, ", figure_text(hours))
}

/// `Outages, 30 of 165`, where not all are listed.
fn of_all(caption: &str, shown: usize, all: &Value) -> String {
    let all = all.as_u64().unwrap_or(0);
    if all <= shown as u64 {
        return caption.to_owned();
    }
    format!("{caption}, {} of {}", grouped(shown as u64), grouped(all))
}

/// Its jobs and its outages.
fn tables(own: &Value, links: &Links) -> String {
    let jobs = items(own, "jobs");
    let row = |job: &Value| {
        let id = job["job_id"].to_string();
        let name = match links.page("job_id", &id) {
            Some(page) => Cell::link(&id, &format!("../{page}")),
            None => Cell::name(&id),
        };
        vec![name, number(&job["attempts"]), Cell::lasting(job["running_s"].as_f64())]
    };
    let mut html = String::new();
    if !jobs.is_empty() {
        let rows: Vec<Vec<Cell>> = jobs.iter().map(row).collect();
        let caption = of_all("Jobs that ran there longest", jobs.len(), &own["job_count"]);
        let header = ["job_id", "attempts", "running"].map(str::to_owned);
        html.push_str(&html::table(&caption, &header, &rows));
    }
    let outages = items(own, "outages");
    let row = |outage: &Value| {
        let [from, to] = ["start_s", "end_s"].map(|name| outage[name].as_f64());
        let length = from.zip(to).map(|(from, to)| to - from);
        vec![Cell::instant(from), Cell::instant(to), Cell::lasting(length)]
    };
    let rows: Vec<Vec<Cell>> = outages.iter().map(row).collect();
    let caption = of_all("Outages", outages.len(), &own["outage_count"]);
    let first = outages.first().and_then(|outage| outage["start_s"].as_f64());
    let caption = format!("{caption} ({})", clock(first));
    let header = ["left", "came back", "away"].map(str::to_owned);
    html + &html::table(&caption, &header, &rows)
}

/// What running attempts requested, and what there was.
fn over_time(own: &Value, load: &Value, title: &str) -> (Chart, String) {
    let at = |name: &str| load[name].as_f64().unwrap_or(0.0);
    let (start_s, interval_s, end_s) = (at("start_s"), at("interval_s"), at("end_s"));
    let values =
        |name: &str| -> Vec<Option<f64>> { items(own, name).iter().map(Value::as_f64).collect() };
    let requested = values("cpu_requested");
    let said = format!(
        "CPU that running attempts requested, and that the machine had; each value is the mean over \
         {}. Where it was away, its CPU is 0. More may be requested than there is.",
        lasting(interval_s)
    );
    let edge = |idx: u32| (start_s + f64::from(idx) * interval_s).min(end_s) / HOUR_S;
    let count = u32::try_from(requested.len()).unwrap_or(0);
    let area = |name: &str, values, tone| Area { name: name.to_owned(), values, tone };
    let chart = Chart::Areas(AreaChart {
        title: format!("{title}: its load over time"),
        caption: said.clone(),
        x_axis: HOURS_OF_TRACE.to_owned(),
        y_axis: "CPU".to_owned(),
        edges: (0..=count).map(edge).collect(),
        areas: vec![area("requested", requested, Tone::Blue)],
        lines: vec![area("CPU of the machine", values("cpu_capacity"), Tone::Ink)],
    });
    (chart, said)
}

/// Attempts side by side; each in the first row that is free when it begins.
fn attempts(own: &Value, title: &str) -> Option<(Chart, String)> {
    let mut bars = Bars::default();
    let mut free: Vec<f64> = Vec::new();
    for attempt in items(own, "attempts") {
        let Some((from, to)) = attempt["start_s"].as_f64().zip(attempt["end_s"].as_f64()) else {
            continue;
        };
        let row = free.iter().position(|&until| until <= from).unwrap_or_else(|| {
            free.push(to);
            free.len() - 1
        });
        free[row] = to;
        bars.add(row, attempt, &format!("{}-{}", attempt["job_id"], attempt["task_index"]));
    }
    bars.bounds()?;
    let said = format!(
        "{} of {}, those that ran longest; on a bar stand its job, task and end. Rows have no meaning but \
         that bars in one do not overlap.",
        grouped(bars.len() as u64),
        counted(own["attempt_count"].as_u64()?, "attempt"),
    );
    let rows = vec![String::new(); free.len()];
    let axis = (HOURS_OF_TRACE.to_owned(), 0.0, HOUR_S);
    Some((bars.chart((format!("{title}: attempts on it"), said.clone()), axis, rows), said))
}

//! Pages of fairness: every user and every machine (or class of machines), and the links to them.
//!
//! In: a stored result of `fairness`. Out: two tables that link to a page per user and per machine;
//! on each what was used, when, and by or with whom. Pages are numbered by CPU time, so no name
//! becomes a path.

use std::collections::BTreeMap;
use std::fmt::Write;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::html::{self, Cell, Page};
use super::jobs;
use super::links::{PAGES_MAX, file_of, jobs_by_user};
use super::text::{escape, figure_text, gpu_time, instant, lasting, percent, sentence, user_name};
use super::users::{self, Indices, Outcomes};
use crate::answers::sentences::short;
use crate::charts::{DAYS_OF_SPAN, Line, LineChart, Scale, Tone};
use crate::digits::{counted, grouped};
use crate::results::Stored;

const PAGE: &str = "fairness.html";

fn entries<'a>(result: &'a Stored, what: &str) -> &'a [Value] {
    result.answer()[what].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("-")
}

fn number(value: &Value, name: &str) -> Cell {
    Cell::of(&value[name].as_f64().map_or_else(String::new, |number| number.to_string()))
}

/// What usage is grouped by: `user`, or another key.
fn kind(result: &Stored) -> &str {
    text(result.answer(), "by")
}

/// A machine's whole name with its hashes cut short.
fn short_parts(name: &str) -> String {
    let word = |word: &str| match word.strip_suffix(',') {
        Some(word) => format!("{},", short(word)),
        None => short(word),
    };
    name.split(' ').map(word).collect::<Vec<String>>().join(" ")
}

/// What a machine, or a class of machines, is called; the cluster is named where there are several.
fn machine_name(machine: &Value, is_only_cluster: bool, spell: impl Fn(&str) -> String) -> String {
    let mut parts = Vec::new();
    if !is_only_cluster {
        parts.push(text(machine, "cluster").to_owned());
    }
    for key in ["machine", "site", "platform", "cpu", "memory"] {
        match &machine[key] {
            Value::Null => {}
            Value::String(text) => parts.push(format!("{key} {}", spell(text))),
            Value::Number(size) if size.is_f64() => {
                parts.push(format!("{key} {}", figure_text(size.as_f64().unwrap_or(f64::NAN))));
            }
            other => parts.push(format!("{key} {other}")),
        }
    }
    if parts.is_empty() { "machines not distinguished".to_owned() } else { parts.join(", ") }
}

/// Whether there is one cluster, which then goes without saying.
fn is_only_cluster(result: &Stored) -> bool {
    result.value["settings"]["clusters"].as_array().is_none_or(|all| all.len() < 2)
}

/// The tables of users and machines on the page of the study.
pub(super) fn index(result: &Stored) -> String {
    let is_only = is_only_cluster(result);
    let users = entries(result, "users");
    let (peak, most) = peak(result);
    let unit = text(result.answer(), "unit");
    let used = format!("{} ({unit})", noun(result));
    let header = [kind(result), &used, "share", most, "first use", "last use", LARGEST];
    let rows: Vec<Vec<Cell>> = users
        .iter()
        .enumerate()
        .map(|(place, user)| {
            vec![
                linked(&short(user_name(text(user, "user"))), "users", place),
                number(user, "cpu_s"),
                share(user, "share"),
                number(user, peak),
                Cell::instant(user["first_use_s"].as_f64()),
                Cell::instant(user["last_use_s"].as_f64()),
                share(user, "largest_step_share"),
            ]
        })
        .collect();
    let caption = format!("By {} (times since the start of the span)", kind(result));
    let mut html = super::fading::element(result).unwrap_or_default();
    html.push_str(&html::table(&caption, &header.map(str::to_owned), &rows));
    let rows: Vec<Vec<Cell>> = entries(result, "machines")
        .iter()
        .enumerate()
        .map(|(place, machine)| {
            let name = linked(&machine_name(machine, is_only, short), "machines", place);
            vec![name, number(machine, "cpu_s"), share(machine, "share")]
        })
        .collect();
    // One class of all machines says nothing.
    if 1 < rows.len() {
        let header = ["machines", &used, "share"].map(str::to_owned);
        html.push_str(&html::table("By machine, or class of machines", &header, &rows));
    }
    html.push_str(&suggestions(result));
    html
}

/// The heaviest interval of a user, in words.
const LARGEST: &str = "share of its heaviest interval";

/// A share in per cent.
fn share(of: &Value, name: &str) -> Cell {
    Cell::share(&of[name].as_f64().map_or_else(String::new, |share| share.to_string()))
}

fn linked(name: &str, folder: &str, place: usize) -> Cell {
    if place < PAGES_MAX { Cell::link(name, &file_of(folder, place)) } else { Cell::name(name) }
}

/// Who should be held back, and who came when there was room.
fn suggestions(result: &Stored) -> String {
    let places: FxHashMap<&str, usize> = entries(result, "users")
        .iter()
        .enumerate()
        .map(|(place, user)| (text(user, "user"), place))
        .collect();
    let found = &result.answer()["suggestions"];
    let cpu = format!("{} ({})", noun(result), text(result.answer(), "unit"));
    let cell = |row: &Value, key: &str| match key {
        "passed_at_s" | "first_use_s" => Cell::instant(row[key].as_f64()),
        "load_before" => share(row, key),
        _ => number(row, key),
    };
    let before = format!("{cpu} until then");
    let after = format!("{cpu} afterwards");
    let mut html = String::new();
    for (key, caption, keys, header) in [
        (
            "hold_back",
            "Passed the ceiling early in the span",
            ["passed_at_s", "cpu_until_then_s", "cpu_afterwards_s"],
            ["user", "passed it at", &before, &after],
        ),
        (
            "came_when_free",
            "Came when capacity was free",
            ["first_use_s", "load_before", "cpu_s"],
            ["user", "first use", "load before", &cpu],
        ),
    ] {
        let Some(rows) = found[key].as_array().filter(|rows| !rows.is_empty()) else { continue };
        let rows: Vec<Vec<Cell>> = rows
            .iter()
            .map(|row| {
                let user = text(row, "user");
                let shown = short(user_name(user));
                let name = match places.get(user) {
                    Some(&place) => linked(&shown, "users", place),
                    None => Cell::name(&shown),
                };
                std::iter::once(name).chain(keys.map(|key| cell(row, key))).collect()
            })
            .collect();
        let caption = format!("{caption} (times since the start of the span)");
        html.push_str(&html::table(&caption, &header.map(str::to_owned), &rows));
    }
    html
}

/// The pages of users and machines; those of users lead to the pages of their jobs.
pub(super) fn pages(result: &Stored, all: &[Stored]) -> Vec<Page> {
    let jobs = jobs_by_user(all);
    let (indices, outcomes) = (Indices::read(result), Outcomes::of(all));
    let users = entries(result, "users");
    let machines = entries(result, "machines");
    let places: FxHashMap<&str, usize> =
        users.iter().enumerate().map(|(place, user)| (text(user, "user"), place)).collect();
    let mut used: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
    for (place, machine) in machines.iter().enumerate() {
        for pair in machine["users"].as_array().into_iter().flatten() {
            if let Some(cpu_s) = pair[1].as_f64() {
                let name = pair[0].as_str().unwrap_or("-");
                used.entry(name).or_default().push((place, cpu_s));
            }
        }
    }
    // Who used most of a machine comes first on its page, and the other way round.
    for own in used.values_mut() {
        own.sort_by(|one, other| other.1.total_cmp(&one.1));
    }
    let is_only = is_only_cluster(result);
    let whole = |name: &str| name.to_owned();
    let names: Vec<String> =
        machines.iter().map(|machine| machine_name(machine, is_only, whole)).collect();
    let mut pages: Vec<Page> = users
        .par_iter()
        .take(PAGES_MAX)
        .enumerate()
        .map(|(place, user)| {
            let machines = used.get(text(user, "user")).map_or(&[][..], Vec::as_slice);
            let mut more = String::new();
            if kind(result) == "user" {
                let name = text(user, "user");
                more.push_str(&outcomes.html(name));
                more.push_str(&jobs.get(name).map_or_else(String::new, |own| jobs::table(own)));
            }
            user_page(result, (place, user), (machines, &names), &indices, &more)
        })
        .collect();
    for (place, machine) in machines.iter().enumerate().take(PAGES_MAX) {
        pages.push(machine_page(result, place, machine, &names[place], &places));
    }
    pages
}

/// What a user used so far, and its indices among those of all users, for a page of the portal; nothing
/// of one who used nothing.
#[cfg(feature = "serve")]
pub(crate) fn user_beside(result: &Stored, name: &str) -> Option<String> {
    let mut all = entries(result, "users").iter().enumerate();
    let (place, user) = all.find(|(_, user)| text(user, "user") == name)?;
    let title = format!("{} {}: {} so far", kind(result), short(user_name(name)), noun(result));
    let indices = Indices::of(result, &std::iter::once(name).collect());
    let chart = users::over_time(&indices, name, kind(result), over_time(result, user, &title));
    Some(user_answer(result, place, user) + &chart)
}

/// What a user used, its place among all, and how evenly it was spread over time; as HTML.
fn user_answer(result: &Stored, place: usize, user: &Value) -> String {
    let answer = result.answer();
    let known = |key: &str| user[key].as_f64().map_or_else(|| "-".to_owned(), figure_text);
    let mut said = format!(
        "It used {} {} of {}, {} of all: place {} of {}",
        known("cpu_s"),
        text(answer, "unit"),
        noun(result),
        share_text(user, "share"),
        grouped(place as u64 + 1),
        counted(entries(result, "users").len() as u64, kind(result)),
    );
    let when = charged(result);
    let active = user["active_intervals"].as_u64().zip(answer["intervals"].as_u64());
    if let Some((active, all)) = active {
        let length = lasting(answer["interval_s"].as_f64().unwrap_or(0.0));
        let _ = write!(
            said,
            ". It was charged for use in {} of {} of {length}, {when}; the heaviest holds {} of its use",
            grouped(active),
            counted(all, "interval"),
            share_text(user, "largest_step_share")
        );
    }
    format!("<p class=\"answer\">{}.</p>\n", sentence(&said))
}

/// When use is charged.
fn charged(result: &Stored) -> &'static str {
    match text(&result.value["settings"], "accrual") {
        "running" => "charged as it runs",
        _ => "charged when an attempt ends",
    }
}

/// The page of a user, with its machines, its place among all and what else is known of it.
fn user_page(
    result: &Stored,
    (place, user): (usize, &Value),
    (machines, names): (&[(usize, f64)], &[String]),
    indices: &Indices,
    more: &str,
) -> Page {
    let name = user_name(text(user, "user"));
    let known = |key: &str| user[key].as_f64().map_or_else(|| "-".to_owned(), figure_text);
    let at = |key: &str| user[key].as_f64().map_or_else(|| "-".to_owned(), instant);
    let (peak, most) = peak(result);
    let mut pairs = vec![
        (most, format!("{}, at {}", known(peak), at("peak_at_s"))),
        ("first use, since the start of the span", at("first_use_s")),
        ("last use", at("last_use_s")),
    ];
    if let Some(group) = user["group"].as_str() {
        pairs.insert(0, ("group", group.to_owned()));
    }
    let mut body = back();
    body.push_str(&user_answer(result, place, user));
    body.push_str(&html::facts(pairs));
    let title = format!("{} {name}: {} so far", kind(result), noun(result));
    let _ = writeln!(body, "<h2>Its {} so far, over time</h2>", noun(result));
    let so_far = over_time(result, user, &title);
    body.push_str(&users::over_time(indices, text(user, "user"), kind(result), so_far));
    let column = format!("{} ({})", noun(result), text(result.answer(), "unit"));
    let rows: Vec<Vec<Cell>> = machines
        .iter()
        .map(|&(machine, cpu_s)| {
            let href = format!("../{}", file_of("machines", machine));
            let link = if machine < PAGES_MAX {
                Cell::link(&short_parts(&names[machine]), &href)
            } else {
                Cell::name(&short_parts(&names[machine]))
            };
            vec![link, Cell::of(&cpu_s.to_string())]
        })
        .collect();
    // One class of all machines says nothing.
    if !rows.is_empty() && 1 < names.len() {
        let header = ["machines", &column].map(str::to_owned);
        body.push_str(&html::table("Where it ran", &header, &rows));
    }
    if let Some(clusters) = user["by_cluster"].as_object().filter(|clusters| 1 < clusters.len()) {
        let rows: Vec<Vec<Cell>> = clusters
            .iter()
            .map(|(cluster, cpu_s)| vec![Cell::name(cluster), Cell::of(&cpu_s.to_string())])
            .collect();
        let header = ["cluster", &column].map(str::to_owned);
        body.push_str(&html::table("By cluster", &header, &rows));
    }
    body.push_str(more);
    let _ =
        writeln!(body, "<p class=\"source\">From <code>{}</code></p>", escape(&result.command()));
    let title = format!("{} {name}", capital(kind(result)));
    Page { file: file_of("users", place), title, within: PAGE, body }
}

fn share_text(of: &Value, name: &str) -> String {
    of[name].as_f64().map_or_else(|| "-".to_owned(), percent)
}

/// A word at the begin of a sentence.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn back() -> String {
    format!("<p><a href=\"../{PAGE}\">All users and machines</a></p>\n")
}

/// What was metered, in words.
fn noun(result: &Stored) -> &'static str {
    gpu_time(result).unwrap_or("CPU time")
}

/// The key of the most that was used at once, and what it counts.
fn peak(result: &Stored) -> (&'static str, &'static str) {
    let of_cores = ("peak_cores", "most at once, cores");
    gpu_time(result).map_or(of_cores, |_| ("peak_gpus", "most at once, GPUs"))
}

/// All that was used so far, interval by interval.
#[expect(clippy::cast_precision_loss, reason = "intervals are below 2^53")]
fn over_time(result: &Stored, user: &Value, title: &str) -> LineChart {
    let answer = result.answer();
    let interval_s = answer["interval_s"].as_f64().unwrap_or(1.0);
    let count = answer["intervals"].as_u64().unwrap_or(0);
    let days = |interval: u64| interval as f64 * interval_s / 86_400.0;
    let mut so_far = 0.0;
    let mut points = vec![(0.0, 0.0)];
    for pair in user["by_interval"].as_array().into_iter().flatten() {
        if let (Some(interval), Some(cpu_s)) = (pair[0].as_u64(), pair[1].as_f64()) {
            so_far += cpu_s;
            points.push((days(interval + 1), so_far));
        }
    }
    points.push((days(count), so_far));
    let step = match text(&result.value["settings"], "accrual") {
        "running" => "A steep step is heavy use within a short time",
        _ => "A step is an attempt that ended, however long it ran",
    };
    let when = charged(result);
    let said = format!("{step}. Sums over intervals of {}, {when}.", lasting(interval_s));
    LineChart {
        title: title.to_owned(),
        caption: said,
        x_axis: DAYS_OF_SPAN.to_owned(),
        y_axis: text(answer, "unit").to_owned(),
        x_scale: Scale::Linear,
        lines: vec![Line::steps(String::new(), points, Tone::Blue)],
    }
}

fn machine_page(
    result: &Stored,
    place: usize,
    machine: &Value,
    name: &str,
    places: &FxHashMap<&str, usize>,
) -> Page {
    let known = |key: &str| machine[key].as_f64().map_or_else(|| "-".to_owned(), figure_text);
    let unit = text(result.answer(), "unit");
    let mut body = back();
    body.push_str(&html::facts([
        (noun(result), format!("{} {unit}", known("cpu_s"))),
        ("share of all", share_text(machine, "share")),
    ]));
    let rows: Vec<Vec<Cell>> = machine["users"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|pair| {
            let user = pair[0].as_str().unwrap_or("-");
            let shown = short(user_name(user));
            let cell = match places.get(user).filter(|&&place| place < PAGES_MAX) {
                Some(&place) => Cell::link(&shown, &format!("../{}", file_of("users", place))),
                None => Cell::name(&shown),
            };
            Some(vec![cell, Cell::of(&pair[1].as_f64()?.to_string())])
        })
        .collect();
    let header = [kind(result).to_owned(), format!("{} ({unit})", noun(result))];
    body.push_str(&html::table("Who used it", &header, &rows));
    let _ =
        writeln!(body, "<p class=\"source\">From <code>{}</code></p>", escape(&result.command()));
    Page { file: file_of("machines", place), title: name.to_owned(), within: PAGE, body }
}

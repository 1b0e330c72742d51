//! What was found as tables, as `result.json` and series, and as a few lines of notes.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use arrow::record_batch::RecordBatch;
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::answers::account::cpu_time_line;
use crate::answers::fairness::plan::FairnessPlan;
use crate::answers::{edges, sentences, study};
use crate::digits;
use crate::fairness::gather::{Accrual, By, Cluster, Counts, Plan};
use crate::fairness::history::{Cell, History, known_name};
use crate::fairness::series::Series;
use crate::fairness::suggestions::{Limits, Suggestions, load, suggest};
use crate::fairness::usage::{self, UserUsage};
use crate::faults::Result;
use crate::results::forms::rows;
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::shares::{self, Share, share};
use crate::results::store::{self, Answer, Files, Origin};
use crate::schema::Table;
use crate::studies::meter::{CpuDefinition, MemoryDefinition, Meter, Resource};
use crate::units::{CpuTime, micros_to_seconds};

pub(crate) mod charts;
pub mod gathered;
pub mod plan;
mod resource;
mod room;
mod span;
pub mod step;
pub(crate) mod what_if;

/// The shares that are given; values of indices are none of them.
pub const SHARES: [Share; 5] = [
    share(
        "share",
        "cpu_s of the user, cluster or machine",
        "total_cpu_s: all CPU time charged in the span",
    ),
    share(
        "largest_step_share",
        "cpu_s of the user in their heaviest interval",
        "cpu_s of the user",
    ),
    share("heaviest_share", "cpu_s of the heaviest user of the cluster", "cpu_s of the cluster"),
    share("load", "CPU in use in the interval", "CPU of the machines present, in the interval"),
    share(
        "load_before",
        "CPU in use in the interval before",
        "CPU of the machines present, in \
    that interval",
    ),
];

/// What is shown on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Show {
    /// The heaviest users
    #[default]
    Heaviest,
    /// Every user with usage
    Users,
    /// Every value of every index
    Series,
    /// Lakes side by side
    Clusters,
    /// Machines, or classes of them
    Machines,
    /// Users to limit, and users who came when capacity was free
    Suggestions,
    /// The place of every user under each pair of indices
    Places,
}

/// The result.
pub const KIND: Kind<'static> = Kind {
    tables: &[Table::TaskEvents],
    meters: true,
    remarks: &[],
    sentence: Some(sentences::USERS),
    figure: Some("fairness-"),
    has_users: true,
    ..Kind::called("fairness", "The heaviest users and their indices")
};

/// The result where memory was charged.
pub const MEMORY_KIND: Kind<'static> = Kind {
    tables: &[Table::TaskEvents],
    meters: true,
    remarks: &[],
    ..Kind::called("fairness-memory", "The heaviest users of memory")
};

/// The result of a resource.
pub const fn kind_of(resource: Resource) -> Kind<'static> {
    match resource {
        Resource::Cpu => KIND,
        Resource::Memory => MEMORY_KIND,
    }
}

/// Usage of a user that is too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ceiling {
    /// CPU-seconds.
    Seconds(f64),
    /// Percent of all usage of the span.
    Percent(f64),
}

/// A text that is not a ceiling.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is neither a number of CPU-seconds such as 360000 nor a share such as `10%`")]
pub struct CeilingError(String);

impl FromStr for Ceiling {
    type Err = CeilingError;

    fn from_str(text: &str) -> Result<Self, CeilingError> {
        let number = |text: &str| {
            text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && 0.0 <= *number)
        };
        let read = match text.strip_suffix('%') {
            Some(percent) => number(percent).map(Ceiling::Percent),
            None => number(text).map(Ceiling::Seconds),
        };
        read.ok_or_else(|| CeilingError(text.to_owned()))
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds) => write!(f, "{seconds}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

/// What is wanted of the answer.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// What is shown.
    pub show: Show,
    /// Users that are named, by use.
    pub top: usize,
    /// Whether each pair of indices is compared.
    pub what_if: bool,
    /// Usage of a user that is too much.
    pub ceiling: Ceiling,
    /// Days that are early, from the begin of the span; half of it otherwise.
    pub early: Option<f64>,
    /// The share of a cluster that is free when there is room.
    pub free: f64,
    /// Days that were asked for.
    pub days: Option<f64>,
}

/// Lakes and intervals, checked.
pub struct Span {
    pub clusters: Vec<Cluster>,
    pub plan: Plan,
    /// Unit of CPU time.
    pub unit: &'static str,
}

/// Everything that was found.
pub struct Found {
    /// What was asked.
    pub asked: FairnessPlan,
    pub span: Span,
    pub history: History,
    pub counts: Counts,
    pub series: Vec<Series>,
}

impl Found {
    /// Seconds that are shown.
    fn length_s(&self) -> f64 {
        self.history.seconds_at(self.history.grid.count)
    }

    pub(crate) fn suggestions(&self, wanted: &Wanted) -> Suggestions {
        let ceiling_cpu_s = match wanted.ceiling {
            Ceiling::Seconds(seconds) => seconds,
            Ceiling::Percent(percent) => {
                usage::total_ran(&self.history).seconds() * percent / 100.0
            }
        };
        let early_s = wanted.early.map_or(self.length_s() / 2.0, |days| days * 86_400.0);
        suggest(&self.history, Limits { ceiling_cpu_s, early_s, free_below: wanted.free })
    }

    /// The value of a series at the end of the span, none where it is not defined.
    fn last(series: &Series, who: usize) -> Option<f64> {
        let last = series.intervals().checked_sub(1)?;
        Some(series.value(last, who, 0)).filter(|value| value.is_finite())
    }
}

/// The table that was asked for.
pub fn table(found: &Found, wanted: &Wanted) -> RecordBatch {
    resource::table(table_of(found, wanted), found.span.plan.meter.resource())
}

fn table_of(found: &Found, wanted: &Wanted) -> RecordBatch {
    let users = usage::users(&found.history);
    if wanted.what_if && wanted.show == Show::Heaviest {
        return what_if::table(&what_if::compare(&found.history, &found.series));
    }
    match wanted.show {
        Show::Places => what_if::places_table(&what_if::places(&found.history, &found.series)),
        Show::Heaviest => heaviest(found, &users, wanted.top),
        Show::Users => heaviest(found, &users, users.len()),
        Show::Series => series_table(found, whole_series(found)),
        Show::Clusters => clusters_table(found),
        Show::Machines => machines_table(found),
        Show::Suggestions => suggestions_table(&found.suggestions(wanted)),
    }
}

/// The users that used most.
fn heaviest(found: &Found, users: &[UserUsage], top: usize) -> RecordBatch {
    let unit = found.span.unit;
    let named = &users[..top.min(users.len())];
    let mut frame = Frame::default()
        .maybe_text("user", named.iter().map(|user| known_name(&user.user)))
        .float("cpu_s", named.iter().map(|user| Some(user.cpu_s)))
        .unit(unit)
        .about("CPU time that is charged in the span")
        .text("unit", named.iter().map(|_| unit))
        .float("share", named.iter().map(|user| user.share))
        .about("Share of all CPU time that is charged in the span")
        .float("ran_cpu_s", named.iter().map(|user| Some(user.ran_cpu_s)))
        .unit(unit)
        .about("CPU time that ran in the span, whenever it is charged")
        .float("peak_cores", named.iter().map(|user| Some(user.peak_cores)))
        .float("peak_at_s", named.iter().map(|user| Some(user.peak_at_s)))
        .float("first_use_s", named.iter().map(|user| Some(user.first_use_s)))
        .float("last_use_s", named.iter().map(|user| Some(user.last_use_s)))
        .float("largest_step_share", named.iter().map(|user| Some(user.largest_step_share)));
    let mut shown: Vec<String> = ["user", "cpu_s", "share", "peak_cores"].map(str::to_owned).into();
    for series in found.series.iter().filter(|series| !series.columns.is_empty()) {
        let about = format!("{} of {} at the end of the span", series.columns[0], series.index);
        let name = value_name(series, &shown);
        frame = frame
            .float(&name, named.iter().map(|user| Found::last(series, user.who)))
            .about(&about);
        shown.push(name);
    }
    frame.view(&shown.iter().map(String::as_str).collect::<Vec<&str>>()).batch()
}

/// Index and column in one name: `metered_rv`, `condor_half_life_s_21600_rup`; with a number where
/// two indices would have the same.
fn value_name(series: &Series, taken: &[String]) -> String {
    let kept = series.index.chars().map(|letter| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' }
    });
    let name = format!("{}_{}", kept.collect::<String>(), series.columns[0]);
    let pieces: Vec<&str> = name.split('_').filter(|piece| !piece.is_empty()).collect();
    let name = pieces.join("_");
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut all = std::iter::once(name.clone()).chain(numbered);
    all.find(|name| !taken.contains(name)).unwrap_or_default()
}

/// Usage by user and interval, as it is charged and as it ran, where there was any.
fn usage_table(found: &Found) -> RecordBatch {
    let history = &found.history;
    let shown = history.shown();
    let rows = shown.chunk_by(|one, other| (one.interval, one.who) == (other.interval, other.who));
    let sums: Vec<(&Cell, [f64; 2])> = rows
        .map(|own| {
            let sum = |part: fn(&Cell) -> CpuTime| own.iter().map(part).sum::<CpuTime>().seconds();
            (&own[0], [sum(|cell| cell.cpu), sum(|cell| cell.held)])
        })
        .filter(|(_, sums)| sums.iter().any(|&sum| sum != 0.0))
        .collect();
    let end_s = |cell: &Cell| history.seconds_at(cell.interval + 1);
    Frame::default()
        .float("end_s", sums.iter().map(|(cell, _)| Some(end_s(cell))))
        .maybe_text(
            "user",
            sums.iter().map(|(cell, _)| known_name(&history.people[cell.who as usize].name)),
        )
        .float("charged_cpu_s", sums.iter().map(|(_, sums)| Some(sums[0])))
        .unit(found.span.unit)
        .about("CPU time charged in the interval")
        .float("ran_cpu_s", sums.iter().map(|(_, sums)| Some(sums[1])))
        .unit(found.span.unit)
        .about("CPU time that ran in the interval")
        .text("unit", sums.iter().map(|_| found.span.unit))
        .batch()
}

/// Every value of some intervals of a series.
type Piece<'a> = (&'a Series, Range<usize>);

/// The share of the capacity in use by interval.
fn load_table(found: &Found) -> RecordBatch {
    let history = &found.history;
    let load = load(history);
    let ends = (history.shown_from..)
        .zip(&load)
        .map(|(position, _)| Some(history.seconds_at(position + 1)));
    Frame::default()
        .float("end_s", ends)
        .float("load", load.iter().map(|&load| Some(load)))
        .about("CPU in use over the CPU that is there, in the interval")
        .batch()
}

/// Every value: one row per index, interval, user and column; no user stands for what an index says
/// of all together. Values that are not defined have no row.
fn series_table<'a>(found: &'a Found, pieces: impl Iterator<Item = Piece<'a>>) -> RecordBatch {
    let history = &found.history;
    let (mut index, mut end_s, mut user, mut name, mut value) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (series, intervals) in pieces {
        for (interval, position) in
            intervals.clone().zip((history.shown_from..).skip(intervals.start))
        {
            let at = history.seconds_at(position + 1);
            let mut put = |who: Option<&'a str>, column: &'a str, number: f64| {
                if number.is_finite() {
                    index.push(series.index.as_str());
                    end_s.push(Some(at));
                    user.push(who);
                    name.push(column);
                    value.push(Some(number));
                }
            };
            if !series.columns.is_empty() {
                for (who, person) in history.people.iter().enumerate() {
                    for (column, title) in series.columns.iter().enumerate() {
                        put(known_name(&person.name), title, series.value(interval, who, column));
                    }
                }
            }
            let width = series.overall.len();
            for (column, title) in series.overall.iter().enumerate() {
                put(None, title, series.overall_values[interval * width + column]);
            }
        }
    }
    Frame::default()
        .text("index", index)
        .float("end_s", end_s)
        .maybe_text("user", user)
        .about("The user; null for what an index says of all together")
        .text("column", name)
        .float("value", value)
        .batch()
}

/// All intervals of every series.
fn whole_series(found: &Found) -> impl Iterator<Item = Piece<'_>> {
    found.series.iter().map(|series| (series, 0..series.intervals()))
}

fn clusters_table(found: &Found) -> RecordBatch {
    let all = usage::clusters(&found.history);
    Frame::default()
        .text("cluster", all.iter().map(|one| &one.cluster))
        .float("cpu_s", all.iter().map(|one| Some(one.cpu_s)))
        .unit(found.span.unit)
        .text("unit", all.iter().map(|_| found.span.unit))
        .float("share", all.iter().map(|one| one.share))
        .about("Share of all CPU time that is shown")
        .count("users", all.iter().map(|one| one.users))
        .maybe_text("heaviest", all.iter().map(|one| one.heaviest.as_deref()))
        .float("heaviest_share", all.iter().map(|one| one.heaviest_share))
        .batch()
}

fn machines_table(found: &Found) -> RecordBatch {
    let all = usage::machines(&found.history);
    let id = |one: &usage::MachineUsage| one.machine.map(|id| id.to_string());
    let ids: Vec<Option<String>> = all.iter().map(id).collect();
    Frame::default()
        .text("cluster", all.iter().map(|one| &one.cluster))
        .maybe_text("machine", ids.iter().map(Option::as_deref))
        .maybe_text("platform", all.iter().map(|one| one.platform.as_deref()))
        .float("cpu", all.iter().map(|one| one.cpu.map(f64::from)))
        .about("CPU of one machine; null where unknown")
        .float("memory", all.iter().map(|one| one.memory.map(f64::from)))
        .maybe_text("site", all.iter().map(|one| one.site.as_deref()))
        .float("cpu_s", all.iter().map(|one| Some(one.cpu_s)))
        .unit(found.span.unit)
        .text("unit", all.iter().map(|_| found.span.unit))
        .float("share", all.iter().map(|one| one.share))
        .about("Share of all CPU time that is shown")
        .count("users", all.iter().map(|one| one.users.len() as u64))
        .maybe_text(
            "heaviest",
            all.iter().map(|one| one.users.first().and_then(|user| user.0.as_deref())),
        )
        .batch()
}

fn suggestions_table(found: &Suggestions) -> RecordBatch {
    let (held, came) = (&found.hold_back, &found.came_when_free);
    Frame::default()
        .text("what", held.iter().map(|_| "hold back").chain(came.iter().map(|_| "came when free")))
        .maybe_text(
            "user",
            held.iter()
                .map(|one| known_name(&one.user))
                .chain(came.iter().map(|one| known_name(&one.user))),
        )
        .float(
            "at_s",
            held.iter()
                .map(|one| Some(one.passed_at_s))
                .chain(came.iter().map(|one| Some(one.first_use_s))),
        )
        .float(
            "cpu_until_then_s",
            held.iter().map(|one| Some(one.cpu_until_then_s)).chain(came.iter().map(|_| Some(0.0))),
        )
        .float(
            "cpu_afterwards_s",
            held.iter()
                .map(|one| Some(one.cpu_afterwards_s))
                .chain(came.iter().map(|one| Some(one.cpu_s))),
        )
        .float(
            "load_before",
            held.iter().map(|_| None).chain(came.iter().map(|one| Some(one.load_before))),
        )
        .batch()
}

/// What must be known of the numbers.
pub fn notes(found: &Found, wanted: &Wanted) -> Vec<String> {
    let mut notes = Vec::new();
    let history = &found.history;
    let users = usage::users(history);
    notes.push(format!(
        "{} by {} users in {} intervals of {} s: {} {}",
        found.span.plan.meter,
        digits::grouped(users.len() as u64),
        digits::grouped(u64::from(history.grid.count - history.shown_from)),
        history.grid.length_s(),
        digits::six_digits(usage::total(history).seconds()),
        found.span.unit,
    ));
    let counts = found.counts;
    if found.span.plan.accrual == Accrual::End && 0 < counts.open_attempts {
        notes.push(format!(
            "{} of {} attempts are open at the end and not charged (--accrual running does)",
            digits::grouped(counts.open_attempts),
            digits::grouped(counts.attempts)
        ));
    }
    notes.push(closed(found));
    let meter = found.span.plan.meter;
    let is_of_requests = matches!(
        meter,
        Meter::Cpu(CpuDefinition::Requested) | Meter::Memory(MemoryDefinition::Requested)
    );
    if is_of_requests && 0 < counts.without_request {
        let count = digits::grouped(counts.without_request);
        notes.push(format!("{count} attempts without a request, counted as 0"));
    }
    if 0 < counts.users_without_attempts {
        let count = digits::counted(counts.users_without_attempts, "more user");
        notes.push(format!("{count} submitted jobs none of whose tasks has run"));
    }
    if meter == Meter::Cpu(CpuDefinition::Measured) && 0 < counts.with_cpu_time {
        notes.push(cpu_time_line(counts.with_cpu_time, counts.attempts));
    }
    notes.extend(rest_note(&users, wanted));
    if 0 < counts.without_name {
        let count = digits::counted(counts.without_name, "attempt");
        notes.push(format!("{count} without a name"));
    }
    let shown_days = found.length_s() / 86_400.0;
    if let Some(asked) = wanted.days.filter(|asked| *asked + 1e-9 < shown_days) {
        notes.push(format!("{shown_days} days are shown instead of {asked}: whole intervals"));
    }
    if wanted.what_if {
        notes.extend(what_if::moves(history, &found.series));
    }
    notes
}

/// Attempts without an end of their own that are closed at the end of their job, with their CPU in
/// what is shown.
pub(super) fn closed(found: &Found) -> String {
    let counts = found.counts;
    let cpu = counts.closed_with_job_cpu.seconds();
    edges::closed_with_job(counts.closed_with_job, Some(cpu), found.span.unit)
}

/// What the users used that the table leaves out.
fn rest_note(users: &[UserUsage], wanted: &Wanted) -> Option<String> {
    let rest = users.get(wanted.top..).unwrap_or_default();
    if rest.is_empty() || wanted.show != Show::Heaviest || wanted.what_if {
        return None;
    }
    let all: f64 = users.iter().map(|user| user.cpu_s).sum();
    let rest_s: f64 = rest.iter().map(|user| user.cpu_s).sum();
    Some(format!(
        "{} used the other {:.1} % (--show users names them)",
        digits::counted(rest.len() as u64, "more user"),
        rest_s / all * 100.0
    ))
}

/// Why there is nothing to compare.
pub fn warning(found: &Found) -> Option<&'static str> {
    let is_unused = usage::total(&found.history) == CpuTime::ZERO;
    is_unused.then_some("no CPU time was used in the span: there is nothing to compare")
}

/// The whole answer as JSON.
fn json_of(found: &Found, wanted: &Wanted) -> Value {
    let history = &found.history;
    let users = usage::users(history);
    let finite = |number: f64| number.is_finite().then_some(number);
    let indices: Vec<Value> = found
        .series
        .iter()
        .map(|series| {
            let width = series.overall.len();
            let overall = series.overall.iter().enumerate().map(|(column, name)| {
                let of = |interval: usize| finite(series.overall_values[interval * width + column]);
                (name.clone(), json!((0..series.intervals()).map(of).collect::<Vec<_>>()))
            });
            json!({
                "index": series.index,
                "settings": series.settings,
                "columns": series.columns,
                "heavier": if series.heavier == crate::fairness::indices::Heavier::Larger { "larger" } else { "smaller" },
                "overall": overall.collect::<serde_json::Map<_, _>>(),
            })
        })
        .collect();
    let mut answer = json!({
        "unit": found.span.unit,
        "by": found.span.plan.by,
        "start_s": micros_to_seconds(history.grid.start_of(history.shown_from)),
        "interval_s": history.grid.length_s(),
        "intervals": history.grid.count - history.shown_from,
        "total_cpu_s": usage::total(history).seconds(),
        "counts": found.counts,
        "heaviest": rows(&heaviest(found, &users, wanted.top)),
        "users": users,
        "inequality": usage::inequality(&users),
        "clusters": usage::clusters(history),
        "machines": usage::machines(history),
        "load": load(history),
        "suggestions": found.suggestions(wanted),
        "indices": indices,
    });
    shares::put(&mut answer, &SHARES);
    if users.len() < 2 && wanted.show == Show::Heaviest && found.span.plan.by == By::User {
        answer[store::NOTHING] = alone(found, &users).into();
    }
    if wanted.what_if {
        answer["what_if"] = json!(what_if::compare(history, &found.series));
        answer["what_if_places"] = json!(what_if::places(history, &found.series));
    }
    answer
}

/// Why there are no users to compare.
fn alone(found: &Found, users: &[UserUsage]) -> String {
    match users {
        [only] => format!(
            "The only user, {}, used {} {}: there is no other user to compare with.",
            known_name(&only.user).unwrap_or("without a name"),
            digits::six_digits(only.cpu_s),
            found.span.unit
        ),
        _ => "No user used any CPU time: there is nothing to compare.".to_owned(),
    }
}

/// The answer in all its forms.
pub fn answer<'a>(found: &Found, table: &'a RecordBatch, wanted: &Wanted) -> Answer<'a> {
    Answer {
        kind: kind_of(found.span.plan.meter.resource()),
        table,
        json: resource::json(json_of(found, wanted), found.span.plan.meter.resource()),
        settings: settings(found),
        charts: charts::charts(found, wanted.top),
    }
}

/// What it was made from.
pub fn origin(found: &Found) -> Origin {
    let lakes: Vec<_> = found.span.clusters.iter().map(|cluster| &cluster.lake).collect();
    Origin::of_all(&lakes)
}

/// Definitions and choices that move the numbers.
pub(crate) fn settings(found: &Found) -> Value {
    let (asked, plan) = (&found.asked, &found.span.plan);
    let resolved = json!({
        plan.meter.resource().name(): plan.meter.to_string(),
        "accrual": plan.accrual,
        "interval": plan.grid.length_s(),
        "index": found.series.iter().map(|series| &series.index).collect::<Vec<_>>(),
        "index_program": asked.index_program,
        "show": asked.show,
        "what_if": asked.what_if,
        "grid": plan.grid,
        "shown_from": plan.shown_from,
        "clusters": found.span.clusters.iter().map(|cluster| json!({
            "name": cluster.name,
            "window_end_us": cluster.windows.task_end_us,
            "open_attempts": cluster.windows.open_attempts,
            "shift_us": cluster.shift_us,
        })).collect::<Vec<_>>(),
        "indices": found.series.iter().map(|series| &series.settings).collect::<Vec<_>>(),
    });
    study::settings(asked, resolved)
}

/// Intervals whose values are put into a table at once: users times indices times hours are many.
const INTERVALS_AT_ONCE: usize = 32;

pub fn put_series(found: &Found, files: &mut Files) -> Result<()> {
    let mut rows = files.rows("series", &series_table(found, std::iter::empty()))?;
    for (series, all) in whole_series(found) {
        for start in all.clone().step_by(INTERVALS_AT_ONCE) {
            let some = start..all.end.min(start + INTERVALS_AT_ONCE);
            rows.push(&series_table(found, std::iter::once((series, some))))?;
        }
    }
    files.take_rows(rows)?;
    let usage = resource::table(usage_table(found), found.span.plan.meter.resource());
    files.table("usage", &usage)?;
    files.parquet("usage", &usage)?;
    files.table("load", &load_table(found))
}

//! The answer of `fairness`: usage by user, the values of indices, `result.json` and notes.

use std::fmt;
use std::str::FromStr;

use arrow::record_batch::RecordBatch;
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::answers::account::{cpu_time_line, unknown_of};
use crate::answers::fairness::plan::FairnessPlan;
use crate::answers::{edges, study};
use crate::digits;
use crate::fairness::gather::{Accrual, By, Cluster, Counts, Plan};
use crate::fairness::history::{History, known_name};
use crate::fairness::series::Series;
use crate::fairness::suggestions::{Limits, Suggestions, load, suggest};
use crate::fairness::usage::{self, UserUsage};
use crate::results::kind::{Kind, Pages};
use crate::results::rows::TableRows;
use crate::results::shares::{Share, Terms, share};
use crate::results::store::{Answer, Origin};
use crate::schema::Table;
use crate::studies::meter::{CpuDefinition, MemoryDefinition, Meter, Resource};
use crate::units::{CpuTime, micros_to_seconds};

mod answer;
pub(crate) mod charts;
mod entitled;
pub mod gathered;
pub mod plan;
mod resource;
mod room;
mod span;
pub mod step;
mod tables;
mod undefined;
mod values;
pub(crate) mod what_if;

pub use self::answer::{AttemptCounts, FairnessAnswer, FairnessSettings, OfIndex};
pub use self::tables::{put_series, table};
pub(crate) use self::undefined::undefined_of;
pub(crate) use self::values::{
    in_table, is_custom, meaning_of_index, meanings, unit_of_value, units_of,
};

/// The shares of the answer. Values of indices are not shares.
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
    /// Users to limit, and users whose usage began when capacity was free
    Suggestions,
    /// The place of every user under each pair of indices
    Places,
}

/// The result.
pub const KIND: Kind<'static> = Kind {
    tables: &[Table::TaskEvents],
    meters: true,
    remarks: &[],
    form: Some(answer::form),
    sentence: Some(answer::sentence),
    figure: Some("fairness-"),
    pages: Some(Pages::Users),
    ..Kind::called("fairness", "The heaviest users and their indices")
};

/// The result if memory was charged.
pub const MEMORY_KIND: Kind<'static> = Kind {
    tables: &[Table::TaskEvents],
    meters: true,
    remarks: &[],
    ..Kind::called("fairness-memory", "The heaviest users of memory")
};

/// The result of a resource.
pub const fn kind_of(resource: Resource) -> Kind<'static> {
    match resource {
        Resource::Cpu | Resource::Gpu => KIND,
        Resource::Memory => MEMORY_KIND,
    }
}

/// The usage above which a user should be limited.
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

/// The choices for the answer.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// What is shown.
    pub show: Show,
    /// Number of users that are named, the heaviest first.
    pub top: usize,
    /// Whether each pair of indices is compared.
    pub what_if: bool,
    /// The usage above which a user should be limited.
    pub ceiling: Ceiling,
    /// Days from the start of the span that count as early; half of the span if `None`.
    pub early: Option<f64>,
    /// The share of the capacity in use below which capacity counts as free.
    pub free: f64,
    /// The number of days that was asked for.
    pub days: Option<f64>,
}

/// Lakes and intervals, checked.
pub struct Span {
    pub clusters: Vec<Cluster>,
    pub plan: Plan,
    /// Unit of CPU time.
    pub unit: &'static str,
}

/// The results: usage, and the values of all indices.
pub struct Found {
    /// The plan.
    pub asked: FairnessPlan,
    pub span: Span,
    pub history: History,
    pub counts: Counts,
    pub series: Vec<Series>,
}

impl Found {
    /// Length of the shown span, s.
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

    /// The value of a series at the end of the span; `None` if it is not defined.
    fn last(series: &Series, who: usize) -> Option<f64> {
        let last = series.intervals().checked_sub(1)?;
        Some(series.value(last, who, 0)).filter(|value| value.is_finite())
    }
}

/// What a reader must know about the numbers.
pub fn notes(found: &Found, wanted: &Wanted) -> Vec<String> {
    let mut notes = Vec::new();
    let (history, by) = (&found.history, found.span.plan.by);
    let users = usage::users(history);
    notes.push(format!(
        "{} by {} {} in {} intervals of {} s: {} {}",
        found.span.plan.meter,
        digits::grouped(users.len() as u64),
        by.noun(users.len() as u64),
        digits::grouped(u64::from(history.grid.count - history.shown_from)),
        history.grid.length_s(),
        digits::six_digits(usage::total(history).seconds()),
        found.span.unit,
    ));
    let counts = found.counts;
    if found.span.plan.accrual == Accrual::End && 0 < counts.open_attempts {
        notes.push(format!(
            "{} of {} attempts are open at the end and not charged (--accrual running charges them)",
            digits::grouped(counts.open_attempts),
            digits::grouped(counts.attempts)
        ));
    }
    notes.push(closed(found));
    let series = found.series.iter();
    notes.extend(series.filter_map(|series| undefined::said(&series.index, series.undefined)));
    let meter = found.span.plan.meter;
    let is_of_requests = matches!(
        meter,
        Meter::Cpu(CpuDefinition::Requested) | Meter::Memory(MemoryDefinition::Requested)
    );
    if meter == Meter::Cpu(CpuDefinition::GpuSlots) && 0 < counts.without_request {
        let count = digits::grouped(counts.without_request);
        notes.push(format!("{count} attempts without a record of GPUs, counted as 0"));
    }
    if is_of_requests && 0 < counts.without_request {
        let count = digits::grouped(counts.without_request);
        notes.push(format!("{count} attempts without a request, counted as 0"));
    }
    if 0 < counts.users_without_attempts {
        let count = counts.users_without_attempts;
        let (shown, noun) = (digits::grouped(count), by.noun(count));
        notes.push(format!(
            "{shown} more {noun} with jobs, but without attempts in the loaded parts"
        ));
    }
    if meter == Meter::Cpu(CpuDefinition::Measured) && 0 < counts.with_cpu_time {
        notes.push(cpu_time_line(counts.with_cpu_time, counts.attempts));
    }
    notes.extend(rest_note(&users, by, wanted));
    if 0 < counts.without_name {
        let count = digits::counted(counts.without_name, "attempt");
        notes.push(format!("{count} without a {}", by.noun(1)));
    }
    let shown_days = found.length_s() / 86_400.0;
    if let Some(asked) = wanted.days.filter(|asked| *asked + 1e-9 < shown_days) {
        notes.push(format!(
            "{shown_days} days are shown instead of {asked}, because intervals are whole"
        ));
    }
    if wanted.what_if {
        notes.extend(what_if::moves(history, &found.series));
    }
    notes
}

/// The number of attempts without an end event that are closed at the end of their job, and their
/// usage in the shown span, in words; empty if there are none.
pub(super) fn closed(found: &Found) -> String {
    let counts = found.counts;
    let cpu = counts.closed_with_job_cpu.seconds();
    edges::closed_with_job(counts.closed_with_job, Some(cpu), found.span.unit)
}

/// The usage of the users that the table leaves out.
fn rest_note(users: &[UserUsage], by: By, wanted: &Wanted) -> Option<String> {
    let rest = users.get(wanted.top..).unwrap_or_default();
    if rest.is_empty() || wanted.show != Show::Heaviest || wanted.what_if {
        return None;
    }
    let all: f64 = users.iter().map(|user| user.cpu_s).sum();
    let rest_s: f64 = rest.iter().map(|user| user.cpu_s).sum();
    Some(format!(
        "{} more {} used the other {:.1} % (--show users names them)",
        digits::grouped(rest.len() as u64),
        by.noun(rest.len() as u64),
        rest_s / all * 100.0
    ))
}

/// Why usage is unknown, if so: no attempt records it.
pub(crate) fn unknown(found: &Found) -> Option<String> {
    let Counts { attempts, without_request, with_cpu_time, .. } = found.counts;
    let (meter, clusters) = (found.span.plan.meter, &found.span.clusters);
    let said = [attempts, without_request, with_cpu_time];
    let is_silent = clusters.iter().all(|one| meter.is_silent(one.lake.source(), said));
    is_silent.then(|| unknown_of(meter, attempts))
}

/// Why there is nothing to compare, if so.
pub fn warning(found: &Found) -> Option<String> {
    if let Some(unknown) = unknown(found) {
        return Some(unknown);
    }
    let is_unused = usage::total(&found.history) == CpuTime::ZERO;
    let noun = found.span.plan.meter.resource().noun();
    is_unused.then(|| format!("no {noun} was used in the span: there is nothing to compare"))
}

/// An index as it is stored, with the column of its values in the table of the heaviest users.
fn of_index((series, column_in_table): (&Series, Option<String>)) -> OfIndex {
    let finite = |number: f64| number.is_finite().then_some(number);
    let width = series.overall.len();
    let overall = series.overall.iter().enumerate().map(|(column, name)| {
        let of = |interval: usize| finite(series.overall_values[interval * width + column]);
        (name.clone(), (0..series.intervals()).map(of).collect::<Vec<_>>())
    });
    let is_larger = series.heavier == crate::fairness::indices::Heavier::Larger;
    OfIndex {
        index: series.index.clone(),
        settings: series.settings.clone(),
        columns: series.columns.clone(),
        heavier: if is_larger { "larger" } else { "smaller" }.into(),
        overall: overall.collect(),
        undefined: Some(series.undefined),
        column_in_table,
    }
}

/// The whole answer.
fn whole(found: &Found, wanted: &Wanted) -> FairnessAnswer {
    let history = &found.history;
    let users = usage::users(history);
    let unknown = unknown(found);
    let is_alone =
        users.len() < 2 && wanted.show == Show::Heaviest && found.span.plan.by == By::User;
    let nothing = unknown.clone().or_else(|| is_alone.then(|| alone(found, &users)));
    let known = |_: &f64| unknown.is_none();
    let compared = wanted.what_if.then_some(&found.series);
    FairnessAnswer {
        unit: found.span.unit.into(),
        by: found.span.plan.by,
        start_s: micros_to_seconds(history.grid.start_of(history.shown_from)),
        interval_s: history.grid.length_s(),
        intervals: u64::from(history.grid.count - history.shown_from),
        total_cpu_s: Some(usage::total(history).seconds()).filter(known),
        counts: found.counts.into(),
        heaviest: match unknown {
            Some(_) => TableRows::default(),
            None => TableRows::of(&tables::heaviest(found, &users, wanted.top)),
        },
        inequality: usage::inequality(&users),
        clusters: usage::clusters(history),
        machines: usage::machines(history),
        load: load(history).into_iter().map(Some).collect(),
        suggestions: found.suggestions(wanted),
        indices: found
            .series
            .iter()
            .zip(tables::value_names(&found.series))
            .map(of_index)
            .collect(),
        users: if unknown.is_some() { Vec::new() } else { users },
        terms: Terms::of(&SHARES),
        nothing,
        what_if: compared.map(|series| what_if::compare(history, series)),
        what_if_places: compared.map(|series| what_if::places(history, series)),
    }
}

/// Why there are no users to compare.
fn alone(found: &Found, users: &[UserUsage]) -> String {
    if let [only] = users {
        return format!(
            "The only user, {}, used {} {}: there is no other user to compare with.",
            known_name(&only.user).unwrap_or("without a name"),
            digits::six_digits(only.cpu_s),
            found.span.unit
        );
    }
    let noun = found.span.plan.meter.resource().noun();
    format!("No user used any {noun}: there is nothing to compare.")
}

/// The answer in all its forms.
pub fn answer<'a>(found: &Found, table: &'a RecordBatch, wanted: &Wanted) -> Answer<'a> {
    Answer {
        kind: kind_of(found.span.plan.meter.resource()),
        table,
        json: resource::json(json!(whole(found, wanted)), found.span.plan.meter.resource()),
        settings: settings(found),
        charts: charts::charts(found, wanted.top),
    }
}

/// The lakes from which the answer was made.
pub fn origin(found: &Found) -> Origin {
    let lakes: Vec<_> = found.span.clusters.iter().map(|cluster| &cluster.lake).collect();
    Origin::of_all(&lakes)
}

/// Definitions and choices that move the numbers.
pub(crate) fn settings(found: &Found) -> Value {
    let (asked, plan) = (&found.asked, &found.span.plan);
    let resolved = json!({
        plan.meter.column(): plan.meter.to_string(),
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

//! The tables of the answer: the shown one, and the others that `--out` stores.

use std::ops::Range;

use arrow::record_batch::RecordBatch;

use super::{Found, Show, Wanted, resource, unit_of_value, unknown, what_if};
use crate::fairness::gather::By;
use crate::fairness::history::{Cell, known_name};
use crate::fairness::series::Series;
use crate::fairness::suggestions::{Suggestions, load};
use crate::fairness::usage::{self, UserUsage};
use crate::faults::Result;
use crate::results::frame::Frame;
use crate::results::store::Files;
use crate::units::CpuTime;

/// The requested table.
pub fn table(found: &Found, wanted: &Wanted) -> RecordBatch {
    resource::table(table_of(found, wanted), found.span.plan.meter.resource())
}

fn table_of(found: &Found, wanted: &Wanted) -> RecordBatch {
    let users = found.users();
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

/// The users with most usage.
pub(super) fn heaviest(found: &Found, users: &[UserUsage], top: usize) -> RecordBatch {
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
        .about("CPU time that ran in the span, even if it is charged at another time")
        .float("peak_cores", named.iter().map(|user| Some(user.peak_cores)))
        .float("peak_at_s", named.iter().map(|user| Some(user.peak_at_s)))
        .float("first_use_s", named.iter().map(|user| Some(user.first_use_s)))
        .float("last_use_s", named.iter().map(|user| Some(user.last_use_s)))
        .float("largest_step_share", named.iter().map(|user| Some(user.largest_step_share)));
    let mut shown: Vec<String> = SHOWN.map(str::to_owned).into();
    for (series, name) in found.series.iter().zip(value_names(&found.series)) {
        let Some(name) = name else { continue };
        let mut about = format!("{} of {} at the end of the span", series.columns[0], series.index);
        if let Some(unit) = unit_of_value(&series.settings, &series.columns[0], unit) {
            about = format!("{about}, in {unit}");
        }
        frame = frame
            .float(&name, named.iter().map(|user| Found::last(series, user.who)))
            .about(&about);
        shown.push(name);
    }
    frame.view(&shown.iter().map(String::as_str).collect::<Vec<&str>>()).batch()
}

/// The columns that are shown on stdout, in addition to those of indices.
const SHOWN: [&str; 4] = ["user", "cpu_s", "share", "peak_cores"];

/// The columns that are not shown on stdout.
const NOT_SHOWN: [&str; 6] =
    ["unit", "ran_cpu_s", "peak_at_s", "first_use_s", "last_use_s", "largest_step_share"];

/// The columns of all indices in the table of the heaviest users; `None` for an index without
/// values of users.
pub(super) fn value_names(all: &[Series]) -> Vec<Option<String>> {
    let mut taken: Vec<String> = SHOWN.into_iter().chain(NOT_SHOWN).map(str::to_owned).collect();
    let names = all.iter().map(|series| {
        let name = value_name(&series.index, series.columns.first()?, &taken);
        taken.push(name.clone());
        Some(name)
    });
    names.collect()
}

/// Index and column in one name: `metered_rv`, `condor_half_life_s_21600_rup`. If the name is
/// taken, a number is added. Letters and digits of every script are kept.
fn value_name(index: &str, column: &str, taken: &[String]) -> String {
    let kept = index.chars().flat_map(char::to_lowercase);
    let kept = kept.map(|letter| if letter.is_alphanumeric() { letter } else { '_' });
    let name = format!("{}_{column}", kept.collect::<String>());
    let pieces: Vec<&str> = name.split('_').filter(|piece| !piece.is_empty()).collect();
    let name = pieces.join("_");
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut all = std::iter::once(name.clone()).chain(numbered);
    all.find(|name| !taken.contains(name)).unwrap_or_default()
}

/// Usage by user and interval, as charged and as it ran; intervals without usage have no row.
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

/// A series, and the range of intervals whose values are written.
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
        .about("CPU in use over the available CPU, in the interval")
        .batch()
}

/// Every value: one row per index, interval, user and column. Rows without a user are values for
/// all users together. Undefined values have no row.
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
        .about("The user; null for values of an index for all users together")
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

/// Number of intervals whose values are converted to a table at a time, to save memory.
const INTERVALS_AT_ONCE: usize = 32;

/// Stores the values of all indices, and the usage and load by interval. For a log, it also stores
/// the places of users under other half-lives.
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
    // The operators of a computing centre choose the half-life.
    let mut lakes = found.span.clusters.iter().map(|cluster| &cluster.lake);
    let is_of_users = found.span.plan.by == By::User && unknown(found).is_none();
    if is_of_users && lakes.all(|lake| lake.source().is_log()) {
        let places = what_if::half_lives(&found.history)?;
        if 0 < places.num_rows() {
            files.table("half-lives", &places)?;
        }
    }
    files.table("load", &load_table(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_indices_have_names_of_their_own() {
        let mut taken = vec!["share".to_owned()];
        for (index, column, name) in [
            ("condor:half_life_s=21600", "eup", "condor_half_life_s_21600_eup"),
            ("日本", "x", "日本_x"),
            ("中国", "x", "中国_x"),
            ("Größe", "x", "größe_x"),
            ("a b", "x", "a_b_x"),
            ("a-b", "x", "a_b_x_2"),
            ("???", "share", "share_2"),
            ("<b>", "x", "b_x"),
        ] {
            let found = value_name(index, column, &taken);
            assert_eq!(found, name);
            taken.push(found);
        }
    }
}

//! The answer in all its forms.

use arrow::record_batch::RecordBatch;
use serde_json::json;

use super::answer::{FairnessAnswer, OfIndex};
use super::found::{Found, settings, unknown};
use super::wanted::{Show, Wanted};
use super::{SHARES, charts, kind_of, resource, tables, what_if};
use crate::digits;
use crate::fairness::gather::By;
use crate::fairness::history::known_name;
use crate::fairness::series::Series;
use crate::fairness::suggestions::load;
use crate::fairness::usage::{self, UserUsage};
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::results::store::{Answer, Origin};
use crate::units::micros_to_seconds;

/// An index as it is stored, with the name of its column in the table of the heaviest users.
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
    let users = found.users();
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

/// The reason why there are no users to compare.
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

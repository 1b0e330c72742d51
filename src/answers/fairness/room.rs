//! Checks that the answer fits into memory, before any usage is gathered.
//!
//! In: the lakes, the intervals and the indices. Out: a note about the memory that the values take,
//! or an error. The number of values is users times intervals times columns of all indices, plus
//! the values that indices keep per user.

use std::collections::BTreeSet;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;

use crate::answers::Said;
use crate::answers::fairness::Span;
use crate::digits;
use crate::fairness::gather::{By, Cluster, GatherError};
use crate::fairness::indices::Index;
use crate::fairness::series::VALUES_MAX;
use crate::faults::{Failure, Result, Usage};
use crate::lake::LakeError;
use crate::schema::Table;

/// Bytes of a value.
const VALUE_BYTES: u64 = 8;

/// The number of values above which there is a note; they take 128 MiB.
const NOTED: u64 = 1 << 24;

/// Refuses values that would not fit into memory; returns a note if they take much of it.
///
/// # Errors
/// There are too many values, or a lake cannot be read.
pub(super) fn check(span: &Span, indices: &[(String, Box<dyn Index>)]) -> Result<Option<Said>> {
    let users = user_count(span)?;
    let intervals = u64::from(span.plan.grid.count);
    let columns: u64 = indices.iter().map(|(_, index)| index.columns().len().max(1) as u64).sum();
    let length_s = span.plan.grid.length_s();
    #[expect(clippy::cast_precision_loss, reason = "at most 200,000 intervals")]
    let most = intervals as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few times the intervals"
    )]
    let held: u64 =
        indices.iter().map(|(_, index)| index.held_per_user(length_s).min(2.0 * most) as u64).sum();
    let values = users.saturating_mul(intervals * columns + held);
    let told = format!(
        "up to {} in {} with {} ({} of values in memory)",
        digits::counted(users, "user"),
        digits::counted(intervals, "interval"),
        digits::counted(columns, "column"),
        bytes(values),
    );
    if VALUES_MAX < values {
        let most = bytes(VALUES_MAX);
        let text = format!(
            "{told} are too many (at most {most}): give a longer --interval, fewer --days or \
            fewer indices"
        );
        return Err(Usage(text).into());
    }
    Ok((NOTED < values).then(|| Said::note(told)))
}

#[expect(clippy::cast_precision_loss, reason = "rounded to a few digits all the same")]
fn bytes(values: u64) -> String {
    let gib = values.saturating_mul(VALUE_BYTES) as f64 / f64::from(1 << 30);
    format!("{gib:.2} GiB")
}

/// The error if usage could not be gathered. If there is too much usage, the error gives advice on
/// the options.
pub(super) fn refusal(error: GatherError) -> Failure {
    match error {
        GatherError::Fact(error) => error.into(),
        GatherError::TooMuch => {
            Usage(format!("{error}: give a longer --interval or fewer --days")).into()
        }
        error => Usage(error.to_string()).into(),
    }
}

/// An upper bound for the number of users (or other groups of usage) in the lakes.
fn user_count(span: &Span) -> Result<u64, LakeError> {
    let mut names = BTreeSet::new();
    let mut count = 0;
    for cluster in &span.clusters {
        add_names(cluster, span.plan.by, &mut names)?;
        if span.plan.separate_users {
            count += names.len() as u64;
            names.clear();
        }
    }
    // One more, for attempts without a name.
    Ok(count + names.len() as u64 + 1)
}

fn add_names(cluster: &Cluster, by: By, names: &mut BTreeSet<String>) -> Result<(), LakeError> {
    let lake = &cluster.lake;
    let has = |table: Table, column: &&'static str| lake.has_column(table, column);
    let places = ["last_run_site", "partition"];
    let (table, column) = match by {
        By::User if lake.has(Table::JobEvents) => (Table::JobEvents, "user"),
        By::User => (Table::TaskEvents, "user"),
        By::Group => (Table::TaskEvents, "user_group"),
        By::Queue => (Table::TaskEvents, "queue"),
        By::Qos => (Table::TaskEvents, "qos"),
        By::Site => {
            let site = places.into_iter().find(|column| has(Table::TaskEvents, column));
            (Table::TaskEvents, site.unwrap_or(places[0]))
        }
        By::Machine if lake.has(Table::MachineEvents) => (Table::MachineEvents, "machine_id"),
        By::Machine => (Table::TaskEvents, "machine_id"),
        // There are only a few groups.
        By::Class | By::Cluster => return Ok(()),
    };
    if !has(table, &column) {
        return Ok(());
    }
    lake.scan(table, None, &[column], |batch| {
        let cells = batch.column(0);
        if by == By::Machine {
            let ids = cells.as_primitive::<Int64Type>();
            names.extend(ids.iter().flatten().map(|id| id.to_string()));
            return;
        }
        for name in cells.as_string::<i32>().iter().flatten() {
            if !names.contains(name) {
                names.insert(name.to_owned());
            }
        }
    })
}

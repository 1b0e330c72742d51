//! `jobfate reproduce mandai`: the study of 2017 compared with ours, number by number.
//!
//! In: a lake of the trace of 2011 with any parts. Out: one claim for each number and sentence of
//! the paper, and its figures with the paper's readable values as marks. Numbers from incomplete
//! tables are shown next to those of the paper, but are never called reproduced.

mod cpu;
mod events;
mod figures;
mod found;
mod jobs;
mod sizes;

use serde_json::{Map, json};

use crate::answers::reproduce::study::Study;
use crate::claims::{Parameter, Settled};
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::store::Origin;
use crate::schema::Source;
use cpu::cpu;
use events::events;
use found::Found;
use jobs::jobs;
use sizes::sizes;

pub(super) use found::basis;

/// The name of the paper in its claims.
pub const PAPER: &str = "Mandai, Kawahara and Kasahara (2017)";

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// Compares the study of 2017 with a lake.
///
/// # Errors
/// The lake is of another trace, or a table cannot be read.
pub fn study(lake: &Lake, windows: Windows) -> Result<Study> {
    if lake.source() != Source::Google2011 {
        let source = lake.source();
        return Err(Usage(format!(
            "the study needs a lake of google-2011, and this one is of {source}"
        ))
        .into());
    }
    let mut found = Found::default();
    jobs(lake, windows, &mut found)?;
    sizes(lake, windows, &mut found)?;
    events(lake, windows, &mut found)?;
    cpu(lake, windows, &mut found)?;
    Ok(Study {
        name: "mandai",
        paper: PAPER,
        claims: found.claims,
        parameters: parameters(windows),
        figures: json!([]),
        settings: Map::from_iter([("windows".to_owned(), json!(windows))]),
        charts: found.charts,
        tables: Vec::new(),
        origin: Origin::of(lake),
        notes: found.notes,
    })
}

/// The parameters that the paper gives, and those that it leaves open.
fn parameters(windows: Windows) -> Vec<Parameter> {
    let of = |key, value: &str, settled, about| Parameter {
        key,
        value: value.to_owned(),
        settled,
        about,
    };
    let end_s = crate::units::micros_to_seconds(windows.job_end_us);
    vec![
        of("thresholds", "10..=400:10", Settled::Given, "values of T, events of a task"),
        of("classes", "sequence", Settled::Given, "how the outcome of a job is defined"),
        of(
            "cpu",
            "published",
            Settled::Given,
            "duration of a job times mean CPU rate times mean capacity of its machines",
        ),
        of(
            "share_base",
            "672,032 jobs",
            Settled::Open,
            "base of the percentages of table 3.1.1: all jobs that are not `other`, the only base \
             that gives all printed digits",
        ),
        of(
            "task_outcome",
            "of the job; of the task's own last event",
            Settled::Open,
            "which tasks of section 4.1 are failed, killed or finished: both are shown",
        ),
        of(
            "window_end",
            &format!("{end_s} s"),
            Settled::Open,
            "end of the trace, at which jobs that still run are closed (--window-end, in days)",
        ),
    ]
}

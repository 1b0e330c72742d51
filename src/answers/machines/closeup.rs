//! Machines in detail: the answer behind the pages of machines.
//!
//! In: a lake and its fleet. Out: for each machine that left most often, its outages, its load, and
//! the longest attempts and jobs on it. Lists are bounded, with the total count.

use serde_json::json;

use super::{
    AttemptThere, Capacity, JobThere, KIND as MACHINES, LoadedHours, MachineDetail, MachineDetails,
    OutageSpan, Studied,
};
use crate::answers::study::Work;
use crate::digits::shortest;
#[cfg(feature = "serve")]
use crate::facts::FactError;
use crate::facts::machines::MachineEvents;
#[cfg(feature = "serve")]
use crate::facts::window::Windows;
use crate::faults::Result;
#[cfg(feature = "serve")]
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::kind::{Kind, Pages};
use crate::results::store::Answer;
use crate::schema::Table;
use crate::studies::load::Intervals;
use crate::studies::machines::closeup::{Closeup, Left, Ran, closeups, intervals, left_most_often};
use crate::studies::machines::{Fleet, Outage};
#[cfg(feature = "serve")]
use crate::studies::machines::{end_of, fleet};
use crate::units::{CpuTime, micros_to_seconds};

/// The result.
pub(crate) const KIND: Kind<'static> = Kind {
    tables: &[Table::MachineEvents, Table::TaskEvents],
    pages: Some(Pages::Machines),
    sentence: Some(|it| it.found::<MachineDetails>()?.sentence()),
    ..Kind::called("machine-details", "Machines in detail").holding::<MachineDetails>()
};

/// The most machines in detail, as in the chart with one strip per machine.
pub(super) const MACHINES_MAX: usize = 30;

/// The most outages that are listed for a machine.
const OUTAGES_MAX: usize = 1000;

/// Stores the machines that left most often, next to the study that names them.
///
/// # Errors
/// A table cannot be read, or the result cannot be written.
pub(super) fn put(work: &Work<'_>, studied: &Studied) -> Result<()> {
    let left = left_most_often(&studied.fleet, MACHINES_MAX);
    let named: Vec<i64> = left.iter().map(|own| own.0).collect();
    let events = MachineEvents::read(work.lake)?;
    let all = closeups(work.lake, work.windows, &events, &named)?;
    if all.is_empty() {
        return Ok(());
    }
    let at = intervals(work.lake, work.windows);
    let both: Vec<(&Closeup, &Left<'_>)> = all.iter().zip(&left).collect();
    let rows = || both.iter();
    let table = Frame::default()
        .int("machine_id", rows().map(|(own, _)| own.machine_id))
        .float("cpu_capacity", rows().map(|(own, _)| last_cpu(own)))
        .about("Its last known CPU")
        .count("outages", rows().map(|(_, left)| left.2.len() as u64))
        .about("Times at which it left")
        .float("away_s", rows().map(|(_, left)| Some(micros_to_seconds(left.1))))
        .about("How long it was away in total, to the end of the window")
        .count("attempts", rows().map(|(own, _)| own.attempt_count()))
        .about("Attempts that ran on it in the hours for which tasks are loaded")
        .count("jobs", rows().map(|(own, _)| own.job_count as u64))
        .about("Jobs that ran on it in the hours for which tasks are loaded")
        .float("cpu_requested_share", rows().map(|(own, _)| share(own)))
        .about("CPU that running attempts requested x time over its own CPU x time, while tasks and its CPU are known")
        .batch();
    let machines = both.iter().map(|(own, left)| of_machine(own, left, &at)).collect();
    let load = hours(&at, &events, &studied.fleet);
    work.store(&Answer {
        kind: KIND,
        table: &table,
        json: json!(MachineDetails { load, machines }),
        settings: json!({
            "machines_max": MACHINES_MAX, "windows": work.windows, "named_by": MACHINES.name,
        }),
        charts: Vec::new(),
    })
}

/// Any machine in detail: the loaded hours, and the machine as it is in the result. `None` if the
/// lake does not know the machine.
///
/// # Errors
/// A table cannot be read, or the callback of a watched lake stops the call.
#[cfg(feature = "serve")]
pub(crate) fn one(
    lake: &Lake,
    windows: Windows,
    machine_id: i64,
) -> Result<Option<(LoadedHours, MachineDetail)>, FactError> {
    let events = MachineEvents::read(lake)?;
    let all = closeups(lake, windows, &events, &[machine_id])?;
    let Some(own) = all.first().filter(|own| !own.up.is_empty() || 0 < own.attempt_count()) else {
        return Ok(None);
    };
    let (at, fleet) = (intervals(lake, windows), fleet(&events, end_of(&events, windows)));
    let outages: Vec<&Outage> =
        fleet.outages.iter().filter(|outage| outage.machine_id == machine_id).collect();
    let away_us = outages.iter().map(|outage| outage.until(fleet.end_us) - outage.from_us).sum();
    let machine = of_machine(own, &(machine_id, away_us, outages), &at);
    Ok(Some((hours(&at, &events, &fleet), machine)))
}

/// The hours for which tasks and machines are loaded.
fn hours(at: &Intervals, events: &MachineEvents, fleet: &Fleet) -> LoadedHours {
    let machines_start_us = events.events.first().map_or(at.start_us, |event| event.time_us);
    LoadedHours {
        start_s: micros_to_seconds(at.start_us),
        interval_s: micros_to_seconds(at.length_us),
        end_s: micros_to_seconds(at.end_us),
        machines_start_s: micros_to_seconds(machines_start_us),
        machines_end_s: micros_to_seconds(fleet.end_us),
    }
}

fn last_cpu(own: &Closeup) -> Option<f64> {
    own.up.iter().rev().find_map(|up| up.cpu).map(shortest)
}

/// The share of the machine's CPU that was requested, while its CPU is known.
fn share(own: &Closeup) -> Option<f64> {
    own.requested_of_known.share_of(own.capacity.iter().copied().sum())
}

fn of_machine(own: &Closeup, (_, away_us, outages): &Left<'_>, at: &Intervals) -> MachineDetail {
    let seconds = micros_to_seconds;
    let mut capacities: Vec<Capacity> = Vec::new();
    for up in own.up.iter().filter(|up| up.cpu.is_some() || up.memory.is_some()) {
        let capacity = Capacity { cpu: up.cpu.map(shortest), memory: up.memory.map(shortest) };
        if capacities.last() != Some(&capacity) {
            capacities.push(capacity);
        }
    }
    // The longest outages, in order of time.
    let mut longest: Vec<&Outage> = outages.clone();
    longest.sort_by_key(|own| own.from_us - own.until(i64::MAX));
    longest.truncate(OUTAGES_MAX);
    longest.sort_by_key(|own| own.from_us);
    let outage =
        |own: &&Outage| OutageSpan { start_s: seconds(own.from_us), end_s: own.to_us.map(seconds) };
    let attempt = |own: &Ran| AttemptThere {
        job_id: own.job_id,
        task_index: own.task_index,
        start_s: seconds(own.start_us),
        end_s: seconds(own.end_us),
        ended_by: own.ended_by.name().to_owned(),
    };
    let jobs = own.jobs.iter().map(|(id, worked)| JobThere {
        job_id: *id,
        attempts: worked.attempts,
        running_s: seconds(worked.length_us),
    });
    let means = |sums: &[CpuTime]| -> Vec<f64> {
        sums.iter().enumerate().map(|(idx, sum)| sum.seconds() / at.length_s(idx)).collect()
    };
    MachineDetail {
        machine_id: own.machine_id,
        first_s: own.up.first().map(|up| seconds(up.from_us)),
        capacities,
        cpu_requested_share: share(own),
        outage_count: outages.len() as u64,
        away_s: seconds(*away_us),
        outages: longest.iter().map(outage).collect(),
        attempt_count: own.attempt_count(),
        ended: own.ends.iter().map(|(&end, &count)| (end, count)).collect(),
        job_count: own.job_count as u64,
        jobs: jobs.collect(),
        attempts: own.attempts.iter().map(attempt).collect(),
        cpu_requested: means(&own.requested),
        cpu_capacity: means(&own.capacity),
    }
}

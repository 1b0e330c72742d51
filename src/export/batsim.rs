//! Batsim: `workload.json` with jobs and profiles, and `platform.xml`.
//!
//! In: tasks ordered by submission. Out: a job for each task that ran, whose profile is a delay of
//! its recorded running time, and a platform with a master and as many equal hosts as the cluster
//! has processors.
//!
//! The format is that of Batsim's documentation, `docs/input-workload.rst` and
//! `docs/input-platform.rst`. Version 5 calls the profile `DelayProfile`, version 4 `delay`. Batsim
//! has no JSON for platforms: they are `SimGrid` XML, modelled on its `platforms/cluster512.xml`.
//!
//! | Field | Content |
//! |---|---|
//! | `id` | the job's number if each job has one task and a number; else a number (`numbers.csv`) |
//! | `subtime`, `walltime` | s; the walltime is the requested time, and absent without one |
//! | `res` | processors, rounded up; 1 if the lake does not have them |
//! | `profile` | `delay` of the last attempt; with `ret` 1 if it failed |
//! | `extra_data` | a JSON text: job, task, outcome, user, group, queue, memory, GPUs, dependencies |

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::gather::Gathered;
use super::items::{Counts, Item, Life, MEMORY_SHARES, Named, State};
use super::links::Links;
use super::scene::{Form, Scene};
use crate::digits::shortest;
use crate::faults::{Context, Result};
use crate::results::store::{Files, could_not_write};
use crate::units::{MICROS_PER_SECOND, micros_to_seconds};

/// The file of the jobs.
const WORKLOAD: &str = "workload.json";

/// Writes workload and platform. Returns the number of tasks, and counts of what was left out.
pub(super) fn write(
    scene: &Scene<'_>,
    mut all: Gathered,
    files: &mut Files,
) -> Result<(u64, Counts)> {
    let links = Links::of(&mut all, true, |item| has_run(&item.life))?;
    let mut counts = std::mem::take(&mut all.counts);
    counts.add("GPUs of machines: left out", scene.fleet.gpus());
    counts.add("models of machines: left out", scene.models());
    let hosts = hosts(scene, &all, &mut counts)?;
    let mut jobs = Jobs { scene, all: &all, links, written: 0 };
    let fail = || could_not_write(Path::new(WORKLOAD));
    let mut file = files.create(WORKLOAD.to_owned())?;
    let mut ids = (!all.has_numbers).then(|| files.create("numbers.csv".to_owned())).transpose()?;
    if let Some(ids) = &mut ids {
        ids.write_all(b"number,job_id,task_index\n").with_context(fail)?;
    }
    write!(file, "{{\n\"nb_res\": {hosts},\n\"jobs\": [").with_context(fail)?;
    let mut delays = BTreeSet::new();
    all.items
        .for_each(|item| jobs.write(item, &mut delays, &mut counts, &mut file, ids.as_mut()))
        .with_context(fail)?;
    let kind = if scene.plan.form == Form::Batsim4 { "delay" } else { "DelayProfile" };
    file.write_all(b"\n],\n\"profiles\": {").with_context(fail)?;
    for (place, &(delay_us, has_failed)) in delays.iter().enumerate() {
        let mut profile = json!({"type": kind, "delay": micros_to_seconds(delay_us)});
        if has_failed {
            profile["ret"] = json!(1);
        }
        let name = profile_name(delay_us, has_failed);
        let comma = if place == 0 { "" } else { "," };
        write!(file, "{comma}\n{}: {profile}", Value::from(name)).with_context(fail)?;
    }
    file.write_all(b"\n}\n}\n").with_context(fail)?;
    let written = jobs.written;
    files.take(file)?;
    ids.map_or(Ok(()), |ids| files.take(ids))?;
    files.put("platform.xml".to_owned(), platform(hosts).as_bytes())?;
    let machines = if scene.fleet.is_system { 0 } else { scene.fleet.len() };
    counts.add("machines: written as hosts of one processor each", machines);
    Ok((written, counts))
}

/// Writes the lines of jobs.
struct Jobs<'a> {
    scene: &'a Scene<'a>,
    all: &'a Gathered,
    links: Links,
    written: u64,
}

impl Jobs<'_> {
    fn write(
        &mut self,
        item: &Item,
        delays: &mut BTreeSet<(i64, bool)>,
        counts: &mut Counts,
        to: &mut impl Write,
        ids: Option<&mut impl Write>,
    ) -> io::Result<()> {
        let life = self.scene.life(item);
        let Some(run_us) = life.run_us().filter(|_| has_run(&life)) else {
            counts.add("tasks without a whole attempt: left out", 1);
            return Ok(());
        };
        for (state, wording) in [
            (State::Killed, "killed tasks: end by themselves after their running time"),
            (State::Evicted, "evicted tasks: end by themselves after their running time"),
            (State::EndedWithJob, "tasks that ended with their job: taken as successful"),
        ] {
            counts.see(life.state == state, wording);
        }
        let is_share = item.memory.is_some() && self.scene.mib_per_unit.is_none();
        counts.see(is_share, MEMORY_SHARES);
        let has_failed = matches!(life.state, State::Failed | State::Lost);
        delays.insert((run_us, has_failed));
        let number = self.all.id((item.number, item.job_id), true);
        if let Some(ids) = ids {
            writeln!(ids, "{number},{},{}", item.job_id, item.task_index)?;
        }
        let processors = self.scene.processors(item, counts);
        counts.see(processors.is_none(), "tasks without a CPU request: one processor");
        let unix_us = self.scene.unix_start_s(self.all.first_us) * MICROS_PER_SECOND;
        let mut job = json!({
            "id": number.to_string(),
            "subtime": micros_to_seconds(life.submit_us - unix_us),
            "res": processors.unwrap_or(1),
            "profile": profile_name(run_us, has_failed),
        });
        if let Some(limit_us) = item.log.requested_time_us.filter(|&limit_us| 0 < limit_us) {
            job["walltime"] = json!(micros_to_seconds(limit_us));
        }
        job["extra_data"] = Value::from(self.extra(item).to_string());
        let comma = if self.written == 0 { "" } else { "," };
        self.written += 1;
        write!(to, "{comma}\n{job}")
    }

    /// Fields that Batsim passes on to the scheduler.
    fn extra(&self, item: &Item) -> Value {
        let mut extra = Map::new();
        let mut add = |key: &str, value: Value| {
            if !value.is_null() {
                extra.insert(key.to_owned(), value);
            }
        };
        add("job_id", json!(item.job_id));
        add("task_index", json!(item.task_index));
        add("outcome", json!(item.life.state.name()));
        for named in Named::ALL {
            add(named.word(), json!(self.all.names[named as usize].at(item.name(named))));
        }
        add("memory_mib", json!(self.scene.memory_mib(item)));
        add("gpu_request", json!(item.gpu.map(shortest)));
        let before: Vec<String> =
            self.links.parents(item).into_iter().map(|other| other.to_string()).collect();
        if !before.is_empty() {
            add("dependencies", json!(before));
        }
        Value::Object(extra)
    }
}

/// Whether the task has an ended attempt that decided its outcome.
fn has_run(life: &Life) -> bool {
    life.state != State::Waiting && life.run_us().is_some()
}

fn profile_name(delay_us: i64, has_failed: bool) -> String {
    let end = if has_failed { "-failed" } else { "" };
    format!("delay-{}{end}", micros_to_seconds(delay_us))
}

/// The number of hosts: the processors of the cluster, or of its largest job if that has more.
fn hosts(scene: &Scene<'_>, all: &Gathered, counts: &mut Counts) -> Result<i64> {
    let mut largest = 1;
    let mut unused = Counts::default();
    all.items
        .for_each(|item| {
            largest = largest.max(scene.processors(item, &mut unused).unwrap_or(1));
            Ok::<(), io::Error>(())
        })
        .context("could not read a temporary file")?;
    let known = scene.all_processors();
    counts
        .see(known.is_none(), "machines unknown: as many hosts as the largest job has processors");
    counts.see(
        known.is_some_and(|known| known < largest),
        "a job with more processors than the cluster: as many hosts as it has",
    );
    Ok(known.unwrap_or(1).max(largest))
}

/// A platform of `hosts` hosts with one processor each, and a master.
fn platform(hosts: i64) -> String {
    format!(
        r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd">
<platform version="4.1">
  <zone id="AS0" routing="Full">
    <cluster id="compute" prefix="host" suffix="" radical="0-{}"
      speed="1Gf" bw="1GBps" lat="5us" bb_bw="3GBps" bb_lat="3us"/>
    <cluster id="master" prefix="master_host" suffix="" radical="0-0"
      speed="1Gf" bw="1GBps" lat="5us" bb_bw="3GBps" bb_lat="3us">
      <prop id="role" value="master"/>
    </cluster>
    <link id="backbone" bandwidth="5GBps" latency="2us"/>
    <zoneRoute src="compute" dst="master" gw_src="hostcompute_router" gw_dst="master_hostmaster_router">
      <link_ctn id="backbone"/>
    </zoneRoute>
  </zone>
</platform>
"#,
        hosts - 1
    )
}

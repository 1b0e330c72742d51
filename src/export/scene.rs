//! Data about a lake that every format needs in addition to its tasks: sizes, units, and settings.
//!
//! In: a lake and the plan. Out: a [`Scene`], which converts requests of tasks into processors and
//! MiB, and reads the tasks.

use std::collections::BTreeSet;
use std::path::PathBuf;

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use serde::Serialize;
use serde_json::{Value, json};

use super::fleet::{Fleet, Machine};
use super::gather::{Gathered, Visit, gather};
use super::items::{Counts, Item, Life};
use super::replayed::Replayed;
use super::spill::Spill;
use crate::digits::shortest;
use crate::facts::tasks::Usage;
use crate::faults::{Context, Result};
use crate::lake::Lake;
use crate::lake::manifest::TableEntry;
use crate::results::kind::FOR_ALL;
use crate::results::store::{Files, could_not_write};
use crate::schema::{STARTS, Table};
use crate::units::MICROS_PER_SECOND;

/// A form that simulators read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Standard workload format 2.2 of the Parallel Workloads Archive
    Swf,
    /// Workflow Trace Archive 1.0: Parquet tables of workflows, tasks and resources
    Wta,
    /// Tasks and fragments as Parquet, and a topology
    Opendc,
    /// Batsim 5: jobs and delay profiles as JSON, the platform as XML
    Batsim,
    /// The same in the format of Batsim 4
    #[cfg_attr(feature = "cli", value(name = "batsim-4"))]
    #[serde(rename = "batsim-4")]
    Batsim4,
}

/// The settings of an export.
#[derive(Clone, Debug)]
pub struct ExportPlan {
    /// The format.
    pub form: Form,
    /// The journal of a replay of the lake, whose times and ends are exported.
    pub journal: Option<PathBuf>,
    /// Processors of the largest machine, if the lake has only shares of this machine.
    pub cores: u32,
    /// Whether times are rounded to whole seconds.
    pub whole_seconds: bool,
}

/// Data about the lake that every format needs in addition to its tasks.
pub(super) struct Scene<'a> {
    pub lake: &'a Lake,
    pub plan: &'a ExportPlan,
    pub fleet: Fleet,
    /// Processors per CPU unit of the lake.
    pub processors_per_unit: f64,
    /// MiB per memory unit of the lake; `None` if memory is a share.
    pub mib_per_unit: Option<f64>,
    /// Whether the waits of tasks that started are known, from the record or from a replay.
    knows_waits: bool,
}

impl<'a> Scene<'a> {
    pub(super) fn of(lake: &'a Lake, plan: &'a ExportPlan) -> Result<Self> {
        let unit = |name: &str| unit_of(lake, name);
        let is_share = |unit: &str| matches!(unit, "NCU" | "share");
        let per_unit = if is_share(unit("cpu_request")) { f64::from(plan.cores) } else { 1.0 };
        let mib_per_unit = match unit("memory_request") {
            "B" => Some(1.0 / f64::from(1 << 20)),
            "KiB" => Some(1.0 / 1024.0),
            "MiB" => Some(1.0),
            "GiB" => Some(1024.0),
            _ => None,
        };
        let fleet = Fleet::read(lake)?;
        let knows_waits =
            plan.journal.is_some() || !lake.remarks(Table::TaskEvents).contains_key(STARTS);
        Ok(Self { lake, plan, fleet, processors_per_unit: per_unit, mib_per_unit, knows_waits })
    }

    /// The time that a task waited for its start, or until it ended without a start; `None` if
    /// unknown.
    pub(super) fn wait_us(&self, life: &Life, counts: &mut Counts) -> Option<i64> {
        if life.start_us.is_some() && !self.knows_waits {
            counts.add("waits that the log does not record: unknown", 1);
            return None;
        }
        life.start_us.or(life.end_us).map(|until_us| until_us - life.submit_us)
    }

    /// The life of a task, with exact times or in whole seconds.
    pub(super) fn life(&self, item: &Item) -> Life {
        if self.plan.whole_seconds { item.life.rounded(MICROS_PER_SECOND) } else { item.life }
    }

    /// Reads the tasks, and counts data of this lake that no format can hold.
    pub(super) fn gather(
        &self,
        files: &Files,
        usage: Usage,
        replayed: Option<&Replayed>,
        visit: &mut Visit<'_>,
    ) -> Result<Gathered> {
        let folder = files.work_folder();
        let items = Spill::within(&folder).with_context(|| could_not_write(&folder))?;
        let mut all = gather(self.lake, usage, replayed, items, visit)?;
        let rows = |table| self.lake.manifest.table(table).map_or(0, TableEntry::rows);
        if usage == Usage::Skip {
            all.counts.add("usage windows: left out", rows(Table::TaskUsage));
        }
        all.counts.add("placement constraints: left out", rows(Table::TaskConstraints));
        all.counts.add("attributes of machines: left out", rows(Table::MachineAttributes));
        all.counts.add("machines that left, returned or changed: left out", self.fleet.changes);
        let wording = "models of the GPUs of machines: left out";
        all.counts.add(wording, gpu_models(self.lake)?);
        let remarks = self.lake.remarks(Table::TaskEvents);
        for about in FOR_ALL {
            all.counts.add(about, remarks.get(about).copied().unwrap_or(0));
        }
        Ok(all)
    }

    /// The number of machines with a known model. In a log, this column has the name of the cluster
    /// instead.
    pub(super) fn models(&self) -> u64 {
        let is_known = |machine: &&Machine| machine.platform.is_some();
        let count = self.fleet.machines.iter().filter(is_known).count() as u64;
        if self.lake.source().is_log() { 0 } else { count }
    }

    /// The unit of an amount in the lake.
    pub(super) fn unit(&self, column: &str) -> &'static str {
        unit_of(self.lake, column)
    }

    /// The CPU request of a task, in processors; 1 if unknown.
    pub(super) fn cpus(&self, item: &Item) -> f64 {
        item.cpu.map_or(1.0, |cpu| shortest(cpu) * self.processors_per_unit)
    }

    /// The average number of processors that a task used according to its log, or requested if the
    /// log has no use.
    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^53 µs")]
    pub(super) fn logged_cpus(&self, item: &Item, run_us: Option<i64>) -> f64 {
        let used = item.log.cpu_time_us.zip(run_us).filter(|(_, run_us)| 0 < *run_us);
        let share = used.map(|(used_us, run_us)| used_us as f64 / run_us as f64);
        self.cpus(item) * share.unwrap_or(1.0)
    }

    /// Whether tasks request shares of the largest machine.
    pub(super) fn is_of_shares(&self) -> bool {
        self.processors_per_unit != 1.0
    }

    /// The processors of a task, rounded up to a whole number: the processors that it had, or those
    /// that it requested if these are unknown.
    pub(super) fn processors(&self, item: &Item, counts: &mut Counts) -> Option<i64> {
        let logged = item.log.processors.filter(|&count| 0 < count);
        let logged = logged.or(item.log.requested_processors.filter(|&count| 0 < count));
        if logged.is_some() {
            return logged;
        }
        let cpu = f64::from(item.cpu?) * self.processors_per_unit;
        // 0.1 in 32 bits times 100 is a little more than 10.
        let whole = (cpu - 1e-4).ceil().max(1.0);
        counts.see(1e-4 < (whole - cpu).abs(), "CPU requests of no whole processors: rounded up");
        #[expect(clippy::cast_possible_truncation, reason = "a conversion saturates")]
        Some(whole as i64)
    }

    /// The memory request of a task, MiB; `None` if unknown or a share.
    pub(super) fn memory_mib(&self, item: &Item) -> Option<f64> {
        Some(shortest(item.memory?) * self.mib_per_unit?)
    }

    /// The processors of the whole cluster, if the lake has machines.
    pub(super) fn all_processors(&self) -> Option<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "a conversion saturates")]
        let whole = (self.fleet.cpu * self.processors_per_unit - 1e-4).ceil() as i64;
        Some(whole).filter(|&whole| 0 < whole)
    }

    /// The offset that makes times count from 1970, s, if times in the lake do so. The first
    /// submission then has time 0.
    pub(super) fn unix_start_s(&self, first_us: Option<i64>) -> i64 {
        // Only clocks that count from 1970 have their first job more than 20 years after time 0.
        const TWENTY_YEARS_S: i64 = 631_152_000;
        let begin_s = first_us.unwrap_or(0).div_euclid(MICROS_PER_SECOND);
        let is_own = self.lake.source().is_workload_format();
        if TWENTY_YEARS_S <= begin_s && !is_own { begin_s } else { 0 }
    }

    pub(super) fn settings(&self) -> Value {
        json!({
            "as": self.plan.form,
            "journal": self.plan.journal,
            "cores": self.is_of_shares().then_some(self.plan.cores),
            "whole_seconds": self.plan.whole_seconds,
        })
    }
}

/// The number of machines for which the lake has the model of their GPUs.
fn gpu_models(lake: &Lake) -> Result<u64> {
    const MODEL: &str = "gpu_model";
    let mut machines = BTreeSet::new();
    if lake.has_column(Table::MachineEvents, MODEL) {
        lake.scan(Table::MachineEvents, None, &["machine_id", MODEL], |batch| {
            let ids = batch.column(0).as_primitive::<Int64Type>();
            let known = (0..batch.num_rows()).filter(|&row| batch.column(1).is_valid(row));
            machines.extend(known.map(|row| ids.value(row)));
        })?;
    }
    Ok(machines.len() as u64)
}

/// The unit of an amount of `task_events`.
fn unit_of(lake: &Lake, name: &str) -> &'static str {
    let columns = Table::TaskEvents.columns(lake.source());
    columns.iter().find(|column| column.name == name).map_or("", |column| column.unit)
}

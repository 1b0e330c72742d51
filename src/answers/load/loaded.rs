//! The load of a cluster, and its numbers.

use arrow::record_batch::RecordBatch;

use super::answer::{LevelChange, LoadAnswer, Totals, WaitingOf, WholeFrom, share_of};
use super::plan::{LoadPlan, asked};
use super::{SHARES, fates, table};
use crate::answers::assumed::{WaitsOf, assumed_waits};
use crate::answers::later_use::LaterUse;
use crate::answers::sentences::Capacity;
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::{Gap, Lake};
use crate::results::missing::Missing;
use crate::results::rows::TableRows;
use crate::results::shares::{Share, Terms, share};
use crate::schema::Table;
use crate::studies::censoring::Censoring;
use crate::studies::first_end::FirstEnd;
use crate::studies::load::arrivals::{ArrivalStudy, Clock};
use crate::studies::load::fragmentation::{Fragmentation, fragmentation};
use crate::studies::load::{Amount, Load, fold};
use crate::studies::meter::{CpuDefinition, Resource};
use crate::studies::whole_use::WholeUse;
use crate::units::{CpuTime, micros_to_seconds};

/// The additional share if GPUs are known.
const GPU_SHARE: Share = share("gpu_allocated_share", "gpu_allocated", "gpu_capacity");

/// The load of a lake, with its tables.
pub struct Loaded {
    pub(super) plan: LoadPlan,
    pub(super) load: Load,
    /// Free capacity that no waiting task fits; `None` if the plan does not include it.
    pub(super) fragmentation: Option<Fragmentation>,
    /// The note if the log records no waits.
    pub(super) assumed: Option<String>,
    pub(super) arrivals: ArrivalStudy,
    /// A row per interval.
    pub(super) intervals: RecordBatch,
    /// A row per interval and group.
    pub(super) stacked: RecordBatch,
    pub(super) sizes: RecordBatch,
    /// Where the CPU capacity comes from.
    pub(super) capacity: Capacity,
    /// The gaps between the loaded parts.
    pub(super) gaps: Vec<Gap>,
    /// The first end, for a log that seems to be selected by time of end.
    pub(super) first_end: Option<FirstEnd>,
    /// The use of the CPU of such a log.
    pub(super) whole_use: Option<WholeUse>,
    /// Waits and slowdowns by the requests of jobs: first CPU, then memory.
    pub(super) requests: [RecordBatch; 2],
    pub(super) users: RecordBatch,
}

/// Adds up the load of a lake.
///
/// # Errors
/// There are too many intervals, there is no `task_events`, the lake does not record what the plan
/// needs, or a table cannot be read.
pub fn load(lake: &Lake, windows: Windows, plan: &LoadPlan) -> Result<Loaded> {
    let asked = asked(lake, windows, plan)?;
    study(lake, windows, plan, fold(lake, windows, &asked)?)
}

/// The tables of a load.
pub(super) fn study(
    lake: &Lake,
    windows: Windows,
    plan: &LoadPlan,
    mut load: Load,
) -> Result<Loaded> {
    let assumed = assumed_waits(lake, WaitsOf::Attempts(load.counts.attempts));
    if assumed.as_ref().is_some_and(|waits| waits.of_all) {
        load.knows_waits = false;
        load.job_sums.without_waits();
    }
    let fragmentation = plan.fragmentation.then(|| free_of(lake, windows, &load)).transpose()?;
    let first_end = FirstEnd::of(lake, windows)?;
    if let Some(first) = &first_end {
        load.arrivals.leave_out_before(first.at_us);
    }
    let whole_use = first_end.map(|first| WholeUse::of(lake, windows, first.at_us)).transpose()?;
    let arrivals = load.arrivals.study(Clock::of(lake), windows);
    let intervals = table::intervals(plan, &load, fragmentation.as_ref());
    let stacked = table::stacked(plan, &load);
    let sizes = fates::sizes(&load.job_sums);
    let requests = [("cpu_request", Resource::Cpu), ("memory_request", Resource::Memory)]
        .map(|(key, resource)| fates::requests(key, &load.job_sums.by_request(resource)));
    let users = fates::users(&load.job_sums);
    let plan = plan.clone();
    Ok(Loaded {
        plan,
        load,
        capacity: Capacity::of_lake(lake),
        gaps: lake.gaps(),
        first_end,
        whole_use,
        fragmentation,
        assumed: assumed.map(|waits| waits.note),
        arrivals,
        intervals,
        stacked,
        sizes,
        requests,
        users,
    })
}

/// Free capacity over time. It is unknown if the times at which tasks wait are not known.
fn free_of(lake: &Lake, windows: Windows, load: &Load) -> Result<Fragmentation> {
    if !load.knows_waits {
        return Ok(Fragmentation::default());
    }
    let has_memory = load.counts.without_memory_request < load.counts.attempts;
    Ok(fragmentation(lake, windows, (load.asked.at, has_memory))?)
}

impl Loaded {
    /// The jobs, tasks or attempts that cross the edges of the window.
    pub fn censoring(&self) -> Censoring {
        let counts = self.load.counts;
        Censoring {
            of: "attempts",
            left_censored: counts.left_censored,
            censored: Some(counts.censored),
            ..Censoring::default()
        }
    }

    /// The line with the sums over all intervals, in the units of `account`.
    pub(super) fn total_line(&self) -> String {
        let all = &self.load.all;
        let sum = |amount| digits::six_digits(all.total(amount).seconds());
        let unit = CpuDefinition::Requested.unit(self.load.source);
        let gpus = self.load.knows_gpus().then(|| sum(Amount::GpusAllocated));
        let gpus = gpus.map(|sum| format!(", {sum} GPU-s")).unwrap_or_default();
        let waits = self.load.knows_waits.then(|| sum(Amount::Pending));
        let waits = waits.map(|sum| format!("; waiting: {sum} task-s")).unwrap_or_default();
        format!(
            "requested by running attempts: {} {unit}{gpus}; running: {} task-s{waits}",
            sum(Amount::CpuAllocated),
            sum(Amount::Running),
        )
    }

    /// Whether the amount is known in any interval.
    pub(super) fn knows(&self, amount: Amount) -> bool {
        let known = table::known(&self.load, amount);
        (0..self.load.asked.at.count()).any(known)
    }

    /// The sums over all intervals.
    pub(super) fn totals(&self) -> Totals {
        let load = &self.load;
        let total = |amount| self.knows(amount).then(|| load.all.total(amount).seconds());
        let of = |sums: &Option<Vec<CpuTime>>| {
            sums.as_ref().map(|sums| sums.iter().copied().sum::<CpuTime>().seconds())
        };
        let of_gpus = |sum: Option<f64>| load.knows_gpus().then_some(sum);
        let free = self.fragmentation.as_ref();
        let cpu_capacity_s = of(&load.capacity.cpu);
        let (cpu_allocated_s, cpu_used_s) = (total(Amount::CpuAllocated), total(Amount::CpuUsed));
        let memory_capacity_s = of(&load.capacity.memory);
        let memory_allocated_s = total(Amount::MemoryAllocated);
        Totals {
            cpu_capacity_s,
            memory_capacity_s,
            cpu_allocated_s,
            cpu_used_s,
            cpu_pending_s: total(Amount::CpuPending),
            memory_allocated_s,
            memory_used_s: total(Amount::MemoryUsed),
            memory_pending_s: total(Amount::MemoryPending),
            running_s: total(Amount::Running),
            pending_s: total(Amount::Pending),
            gpu_capacity_s: of_gpus(of(&load.capacity.gpus)),
            gpu_allocated_s: of_gpus(total(Amount::GpusAllocated)),
            gpu_pending_s: of_gpus(total(Amount::GpusPending)),
            cpu_allocated_of_capacity_share: share_of(cpu_allocated_s, cpu_capacity_s),
            cpu_used_of_capacity_share: share_of(cpu_used_s, cpu_capacity_s),
            memory_allocated_of_capacity_share: share_of(memory_allocated_s, memory_capacity_s),
            cpu_free_on_machines_s: free.map(|known| of(&known.free[0])),
            cpu_fragmented_s: free.map(|known| of(&known.fragmented[0])),
            memory_free_on_machines_s: free.map(|known| of(&known.free[1])),
            memory_fragmented_s: free.map(|known| of(&known.fragmented[1])),
        }
    }

    /// The total waiting time of the tasks of each group.
    fn waiting(&self) -> Vec<WaitingOf> {
        let groups = self.load.groups.iter().map(|(name, cells)| WaitingOf {
            name: name.clone(),
            pending_s: cells.total(Amount::Pending).seconds(),
        });
        groups.collect()
    }

    pub(super) fn found(&self) -> LoadAnswer {
        let Self { plan, load, .. } = self;
        let counts = load.counts;
        let of_gpus = load.knows_gpus().then_some(GPU_SHARE);
        let nothing = "No task ran or waited in the loaded parts.";
        let missing = Missing::of(&self.gaps, &[Table::TaskEvents, Table::MachineEvents]);
        LoadAnswer {
            interval_s: micros_to_seconds(plan.interval.micros()),
            by: load.asked.by.name().into(),
            unit: table::cpu_unit(load).into(),
            memory_unit: table::memory_unit(load).into(),
            memory: plan.memory,
            totals: self.totals(),
            attempts: counts.attempts,
            attempts_without_cpu_request: counts.without_cpu_request,
            attempts_without_memory_request: counts.without_memory_request,
            attempts_closed_with_job: counts.closed_with_job,
            attempts_with_cpu_time: counts.with_cpu_time,
            censoring: self.censoring(),
            rows: TableRows::of(&self.intervals),
            arrivals: Some(self.arrivals.clone()),
            sizes: TableRows::of(&self.sizes),
            cpu_requests: TableRows::of(&self.requests[0]),
            memory_requests: TableRows::of(&self.requests[1]),
            users: TableRows::of(&self.users),
            has_queues: load.job_sums.has_queues(),
            gpu_unit: load.knows_gpus().then(|| "GPUs".into()),
            attempts_without_gpu_request: load.knows_gpus().then_some(counts.without_gpu_request),
            waits_without_request: self.fragmentation.as_ref().map(|known| known.without_request),
            stacked: plan.by.map(|_| TableRows::of(&self.stacked)),
            waiting: if load.knows_waits { self.waiting() } else { Vec::new() },
            whole_from: self.first_end.as_ref().map(|first| WholeFrom {
                used: self.whole_use.as_ref().map(LaterUse::of),
                ..WholeFrom::of(first, load)
            }),
            level: LevelChange::of(load, self.first_end.as_ref(), &missing),
            terms: Terms::of(&SHARES.into_iter().chain(of_gpus).collect::<Vec<Share>>()),
            nothing: load.all.is_empty().then(|| nothing.to_owned()),
        }
    }
}

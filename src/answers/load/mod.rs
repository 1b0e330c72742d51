//! The answer of `load`: the cluster over time, as rows, stacked areas and profiles.
//!
//! In: a lake, the length of intervals, and the groups. Out: means per interval, in total and by
//! group; arrivals of jobs; waits and slowdowns by size, request and user.

use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answers::assumed::assumed_waits;
use crate::answers::edges;
use crate::answers::grouped::{check_accounts, check_qos};
use crate::answers::sentences::Capacity;
use crate::answers::study::{Definitions, Found, Plan, settings};
use crate::digits;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::{Gap, Lake};
use crate::results::kind::Kind;
use crate::results::rows::TableRows;
use crate::results::shares::{Share, Terms, share};
use crate::results::store::{Answer, Files};
use crate::schema::Table;
use crate::studies::censoring::Censoring;
use crate::studies::load::arrivals::{ArrivalStudy, Clock};
use crate::studies::load::fragmentation::{Fragmentation, fragmentation};
use crate::studies::load::{Amount, Asked, By, Intervals, Load, fold, span_of};
use crate::studies::meter::{CpuDefinition, MemoryDefinition, Resource};
use crate::studies::outcomes::Classes;
use crate::units::{CpuTime, micros_to_seconds};

mod answer;
mod arrival_charts;
mod charts;
mod length;
mod size_charts;
pub(crate) mod step;
mod table;
mod units;

pub use answer::{LoadAnswer, LoadRow, Totals};
pub(crate) use answer::{averaged, share_of};
pub use length::{Length, LengthError};
pub(crate) use table::fate_columns;

/// The result.
pub const KIND: Kind<'static> = Kind {
    captions: &[
        ("load-by-priority-band", "Load by priority band"),
        ("load-by-outcome", "Load by outcome of the job"),
        ("load-intervals", "Load of all groups together"),
        ("load-by-size", "Waits and slowdowns by size of the job"),
        ("load-by-cpu-request", "Waits and slowdowns by the CPU that the job requests"),
        ("load-by-memory-request", "Waits and slowdowns by the memory that the job requests"),
        ("load-by-machine", "Load of a sample of machines"),
        ("load-by-job-user", "Waits and slowdowns by user"),
        ("load-hours", "Submissions by hour of the week"),
        ("load-dispersion", "Submissions in bursts"),
    ],
    remarks: &["status ", "wait "],
    sentence: Some(|it| it.found::<LoadAnswer>()?.sentence(&it.inputs)),
    figure: Some("load-cpu-allocated"),
    ..Kind::called("load", "The cluster over time").holding::<LoadAnswer>()
};

/// The shares of the answer.
pub const SHARES: [Share; 4] = [
    share("cpu_allocated_share", "cpu_allocated", "cpu_capacity"),
    share("cpu_used_share", "cpu_used", "cpu_allocated"),
    share("memory_allocated_share", "memory_allocated", "memory_capacity"),
    share("memory_used_share", "memory_used", "memory_allocated"),
];

/// The further share if GPUs are known.
const GPU_SHARE: Share = share("gpu_allocated_share", "gpu_allocated", "gpu_capacity");

/// The usual number of separate groups.
const GROUPS: usize = 6;

/// Most intervals times groups: about 1.5 GB per thread.
const CELLS_MAX: usize = 4_000_000;

/// What is asked of a lake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadPlan {
    /// Length of an interval: 90s, 5m, 1h or 1d
    ///
    /// A number without a unit is in seconds. The first interval begins with the first event of a
    /// task, the last one ends with the window.
    #[cfg_attr(feature = "cli", arg(long, value_name = "LENGTH", default_value = "5m"))]
    pub interval: Length,

    /// Split each interval into groups, such as users or bands
    ///
    /// Gives a row for each interval and group. The rows of an interval add up to its row without
    /// --by. Bands of 2011 are free (0, 1), other (2 to 8), production (9), and monitoring and
    /// infrastructure (10, 11); those of 2019 are free (to 99), best-effort batch (to 115), mid (to
    /// 119), production (to 359) and monitoring. Without --by there is a row per interval; charts
    /// then show priority bands for the Google traces, and the outcomes of jobs for all others.
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEY", value_enum))]
    pub by: Option<By>,

    /// Number of users or accounts with a separate group
    ///
    /// For --by user, account and qos. Those with the most requested CPU time have separate groups;
    /// the rest share the group `(others)`.
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = GROUPS, value_parser = crate::units::natural::<usize>))]
    pub groups: usize,

    /// How outcomes are defined: sequence or terminal
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLASSES", default_value_t))]
    #[serde(skip)]
    pub classes: Classes,

    /// Only the columns and charts of one resource
    ///
    /// By default CPU and memory, and GPUs where attempts record them.
    #[cfg_attr(feature = "cli", arg(long, value_enum))]
    pub resource: Option<Resource>,

    /// Measure of used memory: canonical or assigned
    ///
    /// The Google trace has two measures: `canonical` is what the processes of the task used,
    /// `assigned` is the memory of its container, whether it was used or not. A log has the memory
    /// that it records.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "MEMORY", value_enum, default_value = "canonical")
    )]
    pub memory: UsedMemory,

    /// Also show the free capacity that no waiting task fits
    ///
    /// The free capacity of a machine is its capacity minus the requests of the attempts that run
    /// on it, at least 0. It is fragmented while tasks wait but none fits the machine, because each
    /// requests more CPU or more memory than is free there. Other constraints and GPUs are not
    /// considered (for GPUs see `jobfate replay --fragmentation`). Waiting tasks without a recorded
    /// request are left out, and so are machines whose CPU or memory is not recorded. Reads the
    /// events a second time.
    #[cfg_attr(feature = "cli", arg(long))]
    pub fragmentation: bool,
}

impl Default for LoadPlan {
    fn default() -> Self {
        Self {
            interval: Length::seconds(300),
            by: None,
            groups: GROUPS,
            classes: Classes::default(),
            resource: None,
            memory: UsedMemory::default(),
            fragmentation: false,
        }
    }
}

impl Plan for LoadPlan {
    fn define(&mut self, definitions: &Definitions) {
        self.classes = definitions.classes;
    }

    fn check(&self) -> Result<(), String> {
        let has_largest = matches!(self.by, Some(By::User | By::Account | By::Qos));
        if self.groups != GROUPS && !has_largest {
            return Err("--groups is for --by user, account and qos".to_owned());
        }
        if self.groups < 1 {
            return Err("--groups 0 leaves no group: give 1 or more".to_owned());
        }
        if self.resource == Some(Resource::Gpu) && self.fragmentation {
            let text = "--fragmentation is about CPU and memory, and this is --resource gpu; \
            `jobfate replay --fragmentation` shows that of GPUs";
            return Err(text.to_owned());
        }
        match self.resource {
            Some(resource) if resource != Resource::Memory => {
                let name = resource.name();
                let text =
                    format!("--memory is for --resource memory, and this is --resource {name}");
                if self.memory == UsedMemory::default() { Ok(()) } else { Err(text) }
            }
            _ => Ok(()),
        }
    }
}

/// What used memory means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum UsedMemory {
    /// What the processes of the task used
    #[default]
    Canonical,
    /// What its container had, used or not
    Assigned,
}

impl UsedMemory {
    const fn definition(self) -> MemoryDefinition {
        match self {
            Self::Canonical => MemoryDefinition::Canonical,
            Self::Assigned => MemoryDefinition::Assigned,
        }
    }
}

/// The load of a lake, with its tables.
pub struct Loaded {
    plan: LoadPlan,
    load: Load,
    /// Free capacity that no waiting task fits; `None` if not asked for.
    fragmentation: Option<Fragmentation>,
    /// The note if the log records no wait.
    assumed: Option<String>,
    arrivals: ArrivalStudy,
    /// A row per interval.
    intervals: RecordBatch,
    /// A row per interval and group.
    stacked: RecordBatch,
    sizes: RecordBatch,
    /// Where the CPU capacity comes from.
    capacity: Capacity,
    /// What is missing between the loaded parts.
    gaps: Vec<Gap>,
    /// Waits and slowdowns by the requests of jobs: CPU, memory.
    requests: [RecordBatch; 2],
    users: RecordBatch,
}

/// What a plan asks of a lake.
///
/// # Errors
/// There are too many intervals, no `task_events`, or the lake does not record what the plan needs.
pub(super) fn asked(lake: &Lake, windows: Windows, plan: &LoadPlan) -> Result<Asked> {
    plan.check().map_err(Usage)?;
    lake.require(Table::TaskEvents)?;
    let [start_us, end_us] = span_of(lake, windows);
    let at = Intervals { start_us, length_us: plan.interval.micros(), end_us };
    // Only the Google traces have priority bands.
    let usual = if lake.source().is_google() { By::PriorityBand } else { By::Outcome };
    let by = plan.by.unwrap_or(usual);
    if by == By::PriorityBand && by != usual {
        let text = format!(
            "--by priority-band is only for the Google traces: {} has no such bands",
            lake.source().name()
        );
        return Err(Usage(text).into());
    }
    if by == By::Qos {
        check_qos(lake, Table::TaskEvents)?;
    }
    if by == By::Account {
        check_accounts(lake, Table::TaskEvents)?;
    }
    let most = match by {
        By::User | By::Account | By::Qos => plan.groups + 1,
        _ => 9,
    };
    if plan.resource == Some(Resource::Gpu) {
        lake.require_gpus()?;
    }
    if CELLS_MAX / most < at.count() {
        let text = format!(
            "{} intervals with {most} groups would fill memory: give a longer --interval or fewer \
            --groups",
            digits::grouped(at.count() as u64)
        );
        return Err(Usage(text).into());
    }
    Ok(Asked { at, by, classes: plan.classes, most: plan.groups, memory: plan.memory.definition() })
}

/// Adds up the load of a lake.
///
/// # Errors
/// There are too many intervals, no `task_events`, the lake does not record what the plan needs, or
/// a table cannot be read.
pub fn load(lake: &Lake, windows: Windows, plan: &LoadPlan) -> Result<Loaded> {
    let asked = asked(lake, windows, plan)?;
    study(lake, windows, plan, fold(lake, windows, &asked)?)
}

/// The tables of a load that was added up.
fn study(lake: &Lake, windows: Windows, plan: &LoadPlan, mut load: Load) -> Result<Loaded> {
    let assumed = assumed_waits(lake, load.counts.attempts);
    if assumed.as_ref().is_some_and(|waits| waits.of_all) {
        load.knows_waits = false;
        load.job_sums.without_waits();
    }
    let fragmentation = plan.fragmentation.then(|| free_of(lake, windows, &load)).transpose()?;
    let arrivals = load.arrivals.study(Clock::of(lake), windows);
    let intervals = table::intervals(plan, &load, fragmentation.as_ref());
    let stacked = table::stacked(plan, &load);
    let sizes = table::fates("size", &load.job_sums.by_size());
    let requests = [("cpu_request", Resource::Cpu), ("memory_request", Resource::Memory)]
        .map(|(key, resource)| table::fates(key, &load.job_sums.by_request(resource)));
    let users = table::fates("user", &load.job_sums.by_user());
    let plan = plan.clone();
    Ok(Loaded {
        plan,
        load,
        capacity: Capacity::of_lake(lake),
        gaps: lake.gaps(),
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

/// Free capacity over time; unknown if the times at which tasks wait are not known.
fn free_of(lake: &Lake, windows: Windows, load: &Load) -> Result<Fragmentation> {
    if !load.knows_waits {
        return Ok(Fragmentation::default());
    }
    let has_memory = load.counts.without_memory_request < load.counts.attempts;
    Ok(fragmentation(lake, windows, (load.asked.at, has_memory))?)
}

impl Loaded {
    /// What crosses the edges of the window.
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
    fn total_line(&self) -> String {
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
    fn knows(&self, amount: Amount) -> bool {
        let known = table::known(&self.load, amount);
        (0..self.load.asked.at.count()).any(known)
    }

    /// The sums over all intervals.
    fn totals(&self) -> Totals {
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

    fn found(&self) -> LoadAnswer {
        let Self { plan, load, .. } = self;
        let counts = load.counts;
        let of_gpus = load.knows_gpus().then_some(GPU_SHARE);
        let nothing = "No task ran or waited in the loaded parts.";
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
            gpu_unit: load.knows_gpus().then(|| "GPUs".into()),
            attempts_without_gpu_request: load.knows_gpus().then_some(counts.without_gpu_request),
            waits_without_request: self.fragmentation.as_ref().map(|known| known.without_request),
            stacked: plan.by.map(|_| TableRows::of(&self.stacked)),
            terms: Terms::of(&SHARES.into_iter().chain(of_gpus).collect::<Vec<Share>>()),
            nothing: load.all.is_empty().then(|| nothing.to_owned()),
        }
    }
}

impl Found for Loaded {
    fn notes(&self) -> Vec<String> {
        let counts = self.load.counts;
        let mut notes = vec![self.total_line()];
        let without = |count: u64, what: &str| {
            let attempts = digits::grouped(counts.attempts);
            let count_text = digits::grouped(count);
            (0 < count).then(|| {
                format!("{count_text} of {attempts} attempts without {what}, counted as 0")
            })
        };
        notes.extend(without(counts.without_cpu_request, "a CPU request"));
        let no_memory = counts.without_memory_request;
        notes
            .extend(without(no_memory, "a memory request").filter(|_| no_memory < counts.attempts));
        if self.load.knows_gpus() {
            notes.extend(without(counts.without_gpu_request, "a record of GPUs"));
            notes.push(table::idle_gpus(&self.totals()));
        } else if self.plan.resource == Some(Resource::Gpu) {
            notes.push("no attempt records its GPUs: nothing is known of them".to_owned());
        }
        notes.extend(self.fragmentation.iter().flat_map(table::fragmentation_notes));
        notes.extend(self.assumed.clone());
        notes.push(edges::sentence(&self.censoring()));
        notes.push(edges::closed_with_job(counts.closed_with_job, None, ""));
        notes.retain(|note| !note.is_empty());
        notes
    }

    fn put_details(&self, files: &mut Files) -> Result<()> {
        let by = self.load.asked.by.name().replace('_', "-");
        if self.plan.by.is_none() {
            files.table(&format!("load-by-{by}"), &self.stacked)?;
        } else {
            files.table("load-intervals", &self.intervals)?;
        }
        files.table("load-by-size", &self.sizes)?;
        for (stem, rows) in
            ["load-by-cpu-request", "load-by-memory-request"].iter().zip(&self.requests)
        {
            if 0 < rows.num_rows() {
                files.table(stem, rows)?;
            }
        }
        if !self.load.strips.machines.is_empty() {
            files.table("load-by-machine", &table::machines(&self.plan, &self.load))?;
        }
        files.table("load-by-job-user", &self.users)?;
        files.table("load-hours", &table::hours(&self.arrivals))?;
        files.table("load-dispersion", &table::dispersion(&self.arrivals))
    }

    fn answer(&self, windows: Windows) -> Answer<'_> {
        Answer {
            kind: KIND,
            table: if self.plan.by.is_some() { &self.stacked } else { &self.intervals },
            json: json!(self.found()),
            settings: settings(
                &self.plan,
                json!({ "classes": self.plan.classes, "windows": windows }),
            ),
            charts: charts::all(self),
        }
    }
}

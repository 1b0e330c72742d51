//! Load as it is stored and read back, and its sentence.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::later_use::LaterUse;
use crate::answers::load::UsedMemory;
use crate::answers::sentences::{Capacity, percent, short};
use crate::digits::{grouped, six_digits};
use crate::results::envelope::{Input, there};
use crate::results::missing::Missing;
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::schema::Table;
use crate::studies::censoring::Censoring;
use crate::studies::first_end::{FirstEnd, Means, instant_text};
use crate::studies::load::arrivals::ArrivalStudy;
use crate::studies::load::level::{self, Level};
use crate::studies::load::{Amount, Load};
use crate::units::{CpuTime, micros_to_seconds};

/// The answer of `load`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadAnswer {
    /// The length of an interval, s.
    pub interval_s: f64,
    /// The group by which load is split.
    pub by: Cow<'static, str>,
    /// The unit of CPU.
    pub unit: Cow<'static, str>,
    /// The unit of memory.
    pub memory_unit: Cow<'static, str>,
    /// The definition of used memory.
    pub memory: UsedMemory,
    /// Sums over all intervals.
    pub totals: Totals,
    /// Number of attempts.
    pub attempts: u64,
    /// Attempts without a CPU request, counted as 0.
    pub attempts_without_cpu_request: u64,
    /// Attempts without a memory request, counted as 0.
    pub attempts_without_memory_request: u64,
    /// Attempts closed at the end of their job.
    pub attempts_closed_with_job: u64,
    /// Attempts whose CPU time the log records.
    pub attempts_with_cpu_time: u64,
    /// The jobs, tasks or attempts that cross the edges of the window.
    pub censoring: Censoring,
    /// One row per interval.
    pub rows: TableRows<LoadRow>,
    /// The times at which jobs are submitted.
    pub arrivals: Option<ArrivalStudy>,
    /// Waits and slowdowns by size of the job.
    pub sizes: TableRows<OfSize>,
    /// Waits and slowdowns by the CPU that the job requests.
    pub cpu_requests: TableRows<Value>,
    /// Waits and slowdowns by the memory that the job requests.
    pub memory_requests: TableRows<Value>,
    /// Waits and slowdowns by user.
    pub users: TableRows<Value>,
    /// Whether users are compared by the queue (or priority band) of their jobs in addition to
    /// size.
    pub has_queues: bool,
    /// The unit of GPUs; `None` if no attempt records them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_unit: Option<Cow<'static, str>>,
    /// Attempts without a record of GPUs, counted as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_without_gpu_request: Option<u64>,
    /// Waits of tasks without a recorded request; `None` if the plan does not include free
    /// capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_without_request: Option<u64>,
    /// One row per interval and group; `None` without `--by`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacked: Option<TableRows<Value>>,
    /// The total waiting time of the tasks of each group; empty in older results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingOf>,
    /// The instant from which on the log seems to be whole. `None` unless the log seems to contain
    /// only jobs that ended from some instant on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_from: Option<WholeFrom>,
    /// The lasting change of the share of the CPU that was requested; `None` if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<LevelChange>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// The total waiting time of the tasks of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitingOf {
    /// The group.
    pub name: String,
    /// The sum of the waiting times of all tasks, s.
    pub pending_s: f64,
}

/// The load from the first end on, for a log that seems to contain only jobs that ended from then
/// on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WholeFrom {
    /// The instant of the first end, on the clock of the log, s.
    pub from_s: f64,
    /// The instant in words.
    pub when: String,
    /// The start of the first complete interval from that instant on, on the clock of the log, s.
    /// `intervals_when` has it in words. Both are `None` in older results, and if there is no such
    /// interval.
    pub intervals_from_s: Option<f64>,
    pub intervals_when: Option<String>,
    /// Requested CPU over the CPU of the machines, in the intervals from `intervals_from_s` on.
    pub cpu_allocated_of_capacity_share: Option<f64>,
    /// Whether a job is open at the end of the log. If none is, the jobs that were still running
    /// then are missing. `None` in older results.
    pub has_open: Option<bool>,
    /// How jobs that were submitted before the instant affect means.
    pub means: Means,
    /// The use of the CPU from the instant on; `None` in older results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<LaterUse>,
}

impl WholeFrom {
    /// Whether the jobs that still ran at the end of the log are missing too.
    pub(crate) fn lacks_open(&self) -> bool {
        self.has_open == Some(false)
    }

    /// The load of a log from its first end on.
    pub(super) fn of(first: &FirstEnd, load: &Load) -> Self {
        let at = &load.asked.at;
        let from = at.first_from(first.at_us);
        let later = |sums: &[CpuTime]| -> f64 {
            let sums = sums.get(from..).unwrap_or_default();
            sums.iter().copied().sum::<CpuTime>().seconds()
        };
        let capacity = load.capacity.cpu.as_deref().map(later);
        let allocated = later(load.all.amounts(Amount::CpuAllocated));
        let begin_us = (from < at.count()).then(|| at.start_of(from));
        Self {
            from_s: micros_to_seconds(first.at_us),
            when: first.when(),
            intervals_from_s: begin_us.map(micros_to_seconds),
            intervals_when: begin_us.map(instant_text),
            cpu_allocated_of_capacity_share: share_of(Some(allocated), capacity),
            has_open: Some(first.has_open),
            means: first.means,
            used: None,
        }
    }

    /// The start of the average, in words. If an interval begins after the instant, it is the start
    /// of this interval, because intervals are not divided.
    pub(crate) fn averaged_from(&self) -> &str {
        self.intervals_when.as_deref().unwrap_or(&self.when)
    }

    /// The effect on averages over the whole log, as the beginning of a sentence.
    fn said(&self) -> String {
        let when = &self.when;
        let from_then = self.cpu_allocated_of_capacity_share.map_or_else(String::new, |share| {
            format!(": from {} on {} was requested", self.averaged_from(), percent(share))
        });
        format!(
            ". Averages are too low, because the log seems to hold only jobs that ended from \
            {when} on{from_then}"
        )
    }
}

/// A lasting change of the requested share of the CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LevelChange {
    /// The instant, s of the clock of the log.
    pub at_s: f64,
    /// The instant in words.
    pub when: String,
    /// Requested CPU over the CPU of the machines, before the change (from
    /// `whole_from.intervals_from_s` on).
    pub before_share: f64,
    /// The same share after the change.
    pub after_share: f64,
}

impl LevelChange {
    /// The change in a load. Intervals that contain times outside the log do not count.
    pub(super) fn of(load: &Load, first: Option<&FirstEnd>, missing: &Missing) -> Option<Self> {
        let at = &load.asked.at;
        let capacity = load.capacity.cpu.as_deref()?;
        let allocated = load.all.amounts(Amount::CpuAllocated).iter().zip(capacity).enumerate();
        let amounts: Vec<Option<[f64; 2]>> = allocated
            .map(|(idx, (own, whole))| {
                let span_s = [at.start_of(idx), at.end_of(idx)].map(micros_to_seconds);
                (!missing.overlaps(span_s)).then(|| [own.seconds(), whole.seconds()])
            })
            .collect();
        let from = first.map_or(0, |first| at.first_from(first.at_us));
        let Level { at: idx, before, after } = level::change(&amounts, from..amounts.len())?;
        Some(Self {
            at_s: micros_to_seconds(at.start_of(idx)),
            when: instant_text(at.start_of(idx)),
            before_share: before,
            after_share: after,
        })
    }
}

/// Sums over all intervals: amounts times seconds. A sum is `None` if the amount is not known in
/// any interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// CPU of the machines.
    pub cpu_capacity_s: Option<f64>,
    /// Memory of the machines.
    pub memory_capacity_s: Option<f64>,
    /// CPU that running attempts requested.
    pub cpu_allocated_s: Option<f64>,
    /// CPU that running attempts used.
    pub cpu_used_s: Option<f64>,
    /// CPU that waiting tasks requested.
    pub cpu_pending_s: Option<f64>,
    /// Memory that running attempts requested.
    pub memory_allocated_s: Option<f64>,
    /// Memory that running attempts used.
    pub memory_used_s: Option<f64>,
    /// Memory that waiting tasks requested.
    pub memory_pending_s: Option<f64>,
    /// Running tasks.
    pub running_s: Option<f64>,
    /// Waiting tasks.
    pub pending_s: Option<f64>,
    /// GPUs of the machines; the field is missing if no attempt records GPUs.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub gpu_capacity_s: Option<Option<f64>>,
    /// GPUs that running attempts requested.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub gpu_allocated_s: Option<Option<f64>>,
    /// GPUs that waiting tasks requested.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub gpu_pending_s: Option<Option<f64>>,
    /// Requested CPU over the CPU of the machines.
    pub cpu_allocated_of_capacity_share: Option<f64>,
    /// Used CPU over the CPU of the machines.
    pub cpu_used_of_capacity_share: Option<f64>,
    /// Requested memory over the memory of the machines.
    pub memory_allocated_of_capacity_share: Option<f64>,
    /// Free CPU on machines; the field is missing if the plan does not include free capacity.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub cpu_free_on_machines_s: Option<Option<f64>>,
    /// The part of the free CPU that is on machines that no waiting task fits.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub cpu_fragmented_s: Option<Option<f64>>,
    /// Free memory on machines.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub memory_free_on_machines_s: Option<Option<f64>>,
    /// The part of the free memory that is on machines that no waiting task fits.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub memory_fragmented_s: Option<Option<f64>>,
}

/// Jobs of a size, in a table of waits.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OfSize {
    /// The queue of the jobs, if the table is by queue.
    pub queue: String,
    /// The number of processors or tasks.
    pub size: String,
    /// The number of jobs.
    pub jobs: u64,
    /// Jobs with a known wait.
    pub jobs_with_wait: u64,
    /// Their median wait, s.
    pub wait_s_median: Option<f64>,
    /// The 95 % quantile of their waits, s.
    pub wait_s_p95: Option<f64>,
    /// The user with most of these jobs; `None` if not counted.
    pub most_user: Option<String>,
    /// The number of jobs of this user.
    pub most_user_jobs: Option<u64>,
    /// The median running time of the jobs that ended, s.
    pub run_s_median: Option<f64>,
    /// The median bounded slowdown of the jobs.
    pub slowdown_median: Option<f64>,
}

impl OfSize {
    /// `, 47 of them of user x`; `None` unless one user has more than half of the jobs with a wait.
    pub(crate) fn mostly_of(&self) -> Option<String> {
        let (user, jobs) = (self.most_user.as_ref()?, self.most_user_jobs?);
        let whose = format!("of user {}", short(user));
        match self.jobs_with_wait {
            all if jobs == all => Some(format!(", all {whose}")),
            all if all < 2 * jobs => Some(format!(", {} of them {whose}", grouped(jobs))),
            _ => None,
        }
    }
}

/// The fewest jobs with a wait for which a median is compared with others.
pub(crate) const WAITS_MIN: u64 = 10;

/// The row with the longest median wait, and this wait, s. Rows with too few jobs do not count.
pub(crate) fn longest_wait(rows: &TableRows<OfSize>) -> Option<(f64, OfSize)> {
    let rows = rows.iter().filter(|row| WAITS_MIN <= row.jobs_with_wait);
    let known = rows.filter_map(|row| Some((row.wait_s_median?, row)));
    known.max_by(|one, other| one.0.total_cmp(&other.0))
}

/// The row of an interval.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct LoadRow {
    /// CPU of the machines.
    pub cpu_capacity: Option<f64>,
    /// Mean requested CPU.
    pub cpu_allocated: Option<f64>,
    /// Requested CPU over the CPU of the machines.
    pub cpu_allocated_share: Option<f64>,
    /// Mean number of waiting tasks.
    pub pending_tasks: Option<f64>,
}

/// A further sentence that averages include time that is not in the log; empty if there is none.
pub(crate) fn averaged(inputs: &[Input]) -> String {
    let missing = Missing::of_inputs(inputs, &[Table::TaskEvents, Table::MachineEvents]);
    missing.in_averages().map_or_else(String::new, |said| format!(". {said}"))
}

/// A sum as a share of `whole`; `None` if `whole` is not above 0.
pub(crate) fn share_of(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    Some(part? / whole.filter(|&whole| 0.0 < whole)?)
}

impl LoadAnswer {
    /// A further sentence that averages over a log are too low because it is selected by time of
    /// end; empty if the log is whole.
    pub(crate) fn cut(&self) -> String {
        self.whole_from.as_ref().map_or_else(String::new, WholeFrom::said)
    }

    /// How long before the end of the log the last job was submitted, without a full stop. `None`
    /// if that time is short.
    pub(crate) fn quiet_end(&self) -> Option<String> {
        #[expect(clippy::cast_precision_loss, reason = "a log has far fewer than 2^53 intervals")]
        let length_s = self.rows.len() as f64 * self.interval_s;
        self.arrivals.as_ref()?.quiet_end(length_s)
    }

    /// The sentence with the shares of the CPU that were requested and used, and the number of
    /// waiting tasks.
    pub(crate) fn sentence(&self, inputs: &[Input]) -> Option<String> {
        let totals = &self.totals;
        let of_capacity = |sum| share_of(sum, totals.cpu_capacity_s).map(percent);
        let allocated = of_capacity(totals.cpu_allocated_s)?;
        let used = of_capacity(totals.cpu_used_s);
        let used = used.map_or_else(String::new, |used| format!(" and {used} used"));
        let pending = share_of(Some(totals.pending_s?), totals.running_s)?;
        Some(format!(
            "{allocated} of {} was requested by running tasks{used}; for every 100 running tasks {} waited{}{}",
            Capacity::of(inputs).or_used("the CPU"),
            six_digits(pending * 100.0),
            self.cut(),
            averaged(inputs)
        ))
    }
}

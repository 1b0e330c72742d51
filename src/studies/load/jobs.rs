//! How long jobs waited and ran, by size and by user.
//!
//! In: jobs, with their tasks (or the processors of a log). Out: the number, waits and bounded
//! slowdowns of jobs, per class of sizes and per user. A job submitted before the window has no
//! known wait, and a job that has not ended has no slowdown. Both are counted as jobs.
//!
//! ```text
//!  SUBMIT     SCHEDULE                                end
//!    |-- wait --|-- run --|-- suspended --|-- run --|
//!    |------------------- response -----------------|
//! ```
//!
//! The slowdown is the response time over the run time, so a suspension counts like a wait
//! (Feitelson and Rudolph 1998: response time over the time that the job would take on a dedicated
//! system).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::alike::{Alike, Compared};
use super::sizes::{CLASSES, size_class};
use super::sums::sorted;
use crate::facts::jobs::Job;
use crate::facts::tasks::Attempt;
use crate::facts::window::Windows;
use crate::studies::ledger::UNKNOWN;
use crate::studies::meter::Resource;
use crate::studies::quantile;
use crate::units::micros_to_seconds;

/// Runs shorter than this count as this long in a bounded slowdown, µs (Feitelson, Rudolph 1998).
const BOUND_US: i64 = 10_000_000;

/// The time for which a job was suspended. A job of several tasks runs while any of its tasks runs,
/// and logs do not record when a task was suspended. So such a job has no suspended time.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::studies) struct Suspended {
    tasks: u64,
    of_tasks_us: i64,
}

impl Suspended {
    /// Adds a task with its attempts.
    pub(in crate::studies) fn add(&mut self, attempts: &[Attempt]) {
        self.tasks += 1;
        self.of_tasks_us += attempts.iter().map(Attempt::suspended_us).sum::<i64>();
    }

    fn us(self) -> i64 {
        if self.tasks == 1 { self.of_tasks_us } else { 0 }
    }
}

/// The wait of a job, its length from start to end, and its running time, µs, if known.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "each name ends in its unit")]
pub(in crate::studies) struct Times {
    wait_us: Option<i64>,
    length_us: Option<i64>,
    run_us: Option<i64>,
}

impl Times {
    /// The wait, µs, if known.
    pub(in crate::studies) const fn wait_us(self) -> Option<i64> {
        self.wait_us
    }

    pub(in crate::studies) fn of(job: &Job, windows: Windows, suspended: Suspended) -> Self {
        let begun_before = windows.has_begun_before(job.first_event_us);
        let start_us = job.first_schedule_us.filter(|&start| start < i64::MAX);
        let wait_us = start_us.zip(job.first_submit_us).map(|(start, submit)| start - submit);
        let has_ended = !begun_before && !job.is_open_at(windows.job_end_us);
        let length_us = start_us.filter(|_| has_ended).map(|start| job.last_event_us - start);
        Self {
            wait_us: wait_us.filter(|&wait| 0 <= wait && !begun_before),
            length_us,
            run_us: length_us.map(|length_us| (length_us - suspended.us()).max(0)),
        }
    }
}

/// Waits and runs of some jobs.
#[derive(Clone, Debug, Default)]
pub(in crate::studies) struct Fates {
    jobs: u64,
    waits_us: Vec<i64>,
    /// Responses and runs of the jobs that have ended.
    ended_us: Vec<[i64; 2]>,
    runs_us: Vec<i64>,
}

impl Fates {
    pub(in crate::studies) fn add(&mut self, times: Times) {
        let Times { wait_us, length_us, run_us } = times;
        self.jobs += 1;
        self.waits_us.extend(wait_us);
        self.runs_us.extend(run_us);
        let response_us = wait_us.zip(length_us).map(|(wait, length)| wait + length);
        self.ended_us.extend(response_us.zip(run_us).map(|(response, run)| [response, run]));
    }

    pub(in crate::studies) fn merge(&mut self, other: Self) {
        self.jobs += other.jobs;
        self.waits_us.extend(other.waits_us);
        self.runs_us.extend(other.runs_us);
        self.ended_us.extend(other.ended_us);
    }

    pub(in crate::studies) const fn has_jobs(&self) -> bool {
        0 < self.jobs
    }

    /// Drops all waits.
    pub(in crate::studies) fn without_waits(&mut self) {
        self.waits_us.clear();
        self.ended_us.clear();
    }

    pub(in crate::studies) fn row(&self, name: &str) -> FateRow {
        let seconds = |values: &[i64]| ascending(values.iter().map(|&us| micros_to_seconds(us)));
        let waits = seconds(&self.waits_us);
        let runs = seconds(&self.runs_us);
        let slowdown = |&[response, run]: &[i64; 2]| {
            (micros_to_seconds(response) / micros_to_seconds(run.max(BOUND_US))).max(1.0)
        };
        let slowdowns = ascending(self.ended_us.iter().map(slowdown));
        let longer = self.ended_us.iter().filter(|&&[_, run]| BOUND_US <= run);
        let longer: Vec<f64> = longer.map(slowdown).collect();
        FateRow {
            name: name.to_owned(),
            jobs: self.jobs,
            jobs_with_wait: waits.len() as u64,
            jobs_ended: runs.len() as u64,
            wait_s_mean: mean(&waits),
            wait_s_median: quantile(&waits, 0.5),
            wait_s_p95: quantile(&waits, 0.95),
            run_s_mean: mean(&runs),
            run_s_median: quantile(&runs, 0.5),
            slowdown_mean: mean(&slowdowns),
            slowdown_median: quantile(&slowdowns, 0.5),
            slowdown_p95: quantile(&slowdowns, 0.95),
            slowdowns: slowdowns.len() as u64,
            jobs_under_10s: self.ended_us.iter().filter(|&&[_, run]| run < BOUND_US).count() as u64,
            slowdown_mean_of_longer: mean(&longer),
        }
    }
}

fn ascending(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = values.collect();
    all.sort_unstable_by(f64::total_cmp);
    all
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Jobs of one size or one user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FateRow {
    /// The class of sizes, or the user.
    pub name: String,
    /// Jobs.
    pub jobs: u64,
    /// Jobs with a known wait: submitted in the window, and started.
    pub jobs_with_wait: u64,
    /// Jobs that started and ended in the window.
    pub jobs_ended: u64,
    /// The mean time from the first SUBMIT to the first SCHEDULE, s.
    pub wait_s_mean: Option<f64>,
    /// The median.
    pub wait_s_median: Option<f64>,
    /// The 95 % quantile (R-7).
    pub wait_s_p95: Option<f64>,
    /// The mean time from the first SCHEDULE to the end, s, without suspended time.
    pub run_s_mean: Option<f64>,
    /// The median.
    pub run_s_median: Option<f64>,
    /// Bounded slowdown: (first SUBMIT to end) / max(run, 10 s), at least 1.
    pub slowdown_mean: Option<f64>,
    /// The median.
    pub slowdown_median: Option<f64>,
    /// The 95 % quantile (R-7).
    pub slowdown_p95: Option<f64>,
    /// Jobs with a slowdown.
    pub slowdowns: u64,
    /// Jobs with a slowdown that ran for less than 10 s.
    pub jobs_under_10s: u64,
    /// The mean slowdown of the jobs that ran for 10 s or more.
    pub slowdown_mean_of_longer: Option<f64>,
}

/// Data about a job from its tasks: their number and total requests, which are the size of the job,
/// and the time for which it was suspended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) suspended: Suspended,
    /// The first row of its first task, and the priority of that task.
    pub(super) first: Option<(u32, i32)>,
    tasks: u64,
    /// Total requests of CPU and memory; `None` if no task has the request.
    requests: [Option<f64>; 2],
}

impl Size {
    /// Adds a task with its requests of CPU and memory.
    pub(super) fn add(&mut self, requests: [Option<f32>; 2]) {
        self.tasks += 1;
        for (sum, request) in self.requests.iter_mut().zip(requests) {
            *sum = request.map(|own| sum.unwrap_or(0.0) + f64::from(own)).or(*sum);
        }
    }

    /// The tasks, or the processors of a log; `None` if unknown.
    fn count(&self, is_log: bool) -> Option<u64> {
        let processors = || whole(self.requests[0].unwrap_or(0.0));
        let count = if is_log { processors() } else { self.tasks };
        (0 < self.tasks && 0 < count).then_some(count)
    }
}

/// The exponent of the largest power of ten that an amount reaches; `i32::MIN` for zero. An amount
/// within a millionth below a power counts as reaching it, because sums are rounded.
#[expect(clippy::cast_possible_truncation, reason = "powers of ten of a 64-bit number")]
fn decade(amount: f64) -> i32 {
    const ROUNDED_OFF: f64 = 1e-6;
    if amount <= 0.0 {
        return i32::MIN;
    }
    (amount * (1.0 + ROUNDED_OFF)).log10().floor() as i32
}

/// The name of a class between two powers of ten, such as `0.01 to 0.1`. It has no commas, which
/// would need quotes in CSV.
fn decade_name(decade: i32) -> String {
    if decade == i32::MIN {
        return "0".to_owned();
    }
    let power = |exponent: i32| {
        let decimals = usize::try_from(-exponent).unwrap_or(0);
        format!("{:.decimals$}", 10_f64.powi(exponent))
    };
    format!("{} to {}", power(decade), power(decade + 1))
}

/// The exponent of the largest power of four that an amount reaches; `i32::MIN` for zero. Memory in
/// KiB has classes of powers of four, so that the bounds are whole numbers of larger units.
fn fourfold(kib: f64) -> i32 {
    if kib <= 0.0 {
        return i32::MIN;
    }
    let mut exponent = 0;
    while exponent < FOURFOLD_MAX && 4_f64.powi(exponent + 1) <= kib {
        exponent += 1;
    }
    while -FOURFOLD_MAX < exponent && kib < 4_f64.powi(exponent) {
        exponent -= 1;
    }
    exponent
}

/// Amounts above 4^40 KiB (2^30 EiB) have no separate classes.
const FOURFOLD_MAX: i32 = 40;

/// The name of a class between two powers of four, in KiB: `4194304 to 16777216` is 4 to 16 GiB.
fn fourfold_name(exponent: i32) -> String {
    match exponent {
        i32::MIN => "0".to_owned(),
        _ => format!("{} to {}", 4_f64.powi(exponent), 4_f64.powi(exponent + 1)),
    }
}

/// Outcomes of jobs by size and by user.
#[derive(Clone, Debug, Default)]
pub struct JobSums {
    sizes: [Fates; CLASSES.len()],
    /// Whether memory is that of a log, in KiB: its classes are powers of four.
    is_log: bool,
    /// By requested CPU and memory, in powers of ten (or of four).
    requests: [BTreeMap<i32, Fates>; 2],
    users: FxHashMap<String, Fates>,
    /// Waits of jobs with a known size, by queue, user and class of sizes.
    alike: Alike,
}

impl JobSums {
    /// Adds a job. Its size is known if any of its tasks is loaded. In a log the size of a job is
    /// its CPU, which is its number of processors. `queue` is its queue, or its band of priorities.
    pub(super) fn add(
        &mut self,
        job: &Job,
        windows: Windows,
        (user, queue): (Option<&str>, &str),
        (size, is_log): (&Size, bool),
    ) {
        self.is_log |= is_log;
        let times = Times::of(job, windows, size.suspended);
        let user = user.unwrap_or(UNKNOWN);
        if let Some(count) = size.count(is_log) {
            let class = size_class(count).0;
            self.sizes[class].add(times);
            if let Some(wait_us) = times.wait_us {
                self.alike.add(queue, user, class, wait_us);
            }
        }
        for (idx, classes) in self.requests.iter_mut().enumerate() {
            if let Some(amount) = size.requests[idx].filter(|_| !is_log || idx == 1) {
                let class = if is_log { fourfold(amount) } else { decade(amount) };
                classes.entry(class).or_default().add(times);
            }
        }
        if let Some(fates) = self.users.get_mut(user) {
            fates.add(times);
        } else {
            self.users.entry(user.to_owned()).or_default().add(times);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.is_log |= other.is_log;
        self.sizes.iter_mut().zip(other.sizes).for_each(|(own, others)| own.merge(others));
        for (own, others) in self.requests.iter_mut().zip(other.requests) {
            for (class, fates) in others {
                own.entry(class).or_default().merge(fates);
            }
        }
        for (user, fates) in sorted(other.users) {
            self.users.entry(user).or_default().merge(fates);
        }
        self.alike.merge(other.alike);
    }

    /// Drops all waits, for a log that records none.
    pub fn without_waits(&mut self) {
        let requests = self.requests.iter_mut().flat_map(BTreeMap::values_mut);
        let all = self.sizes.iter_mut().chain(self.users.values_mut()).chain(requests);
        all.for_each(Fates::without_waits);
        self.alike.clear();
    }

    /// By class of sizes; classes without jobs are left out.
    pub fn by_size(&self) -> Vec<FateRow> {
        let classes = CLASSES.iter().zip(&self.sizes).filter(|(_, fates)| 0 < fates.jobs);
        classes.map(|(class, fates)| fates.row(class.1)).collect()
    }

    /// For each row of [`JobSums::by_size`], the user with most jobs with a known wait, and the
    /// number of these jobs. `None` if there are no such jobs.
    pub fn most_by_size(&self) -> Vec<Option<(&str, u64)>> {
        let classes = self.sizes.iter().enumerate().filter(|(_, fates)| 0 < fates.jobs);
        classes.map(|(class, _)| self.alike.most_of(None, class)).collect()
    }

    /// By the total CPU that the tasks of a job request, or by their total memory. For a log there
    /// are no rows by CPU, because the size shows it.
    pub fn by_request(&self, resource: Resource) -> Vec<FateRow> {
        let idx = usize::from(resource != Resource::Cpu);
        let name = if self.is_log { fourfold_name } else { decade_name };
        self.requests[idx].iter().map(|(&class, fates)| fates.row(&name(class))).collect()
    }

    /// By user, ordered by descending number of jobs.
    pub fn by_user(&self) -> Vec<FateRow> {
        let mut users: Vec<(&String, &Fates)> = self.users.iter().collect();
        users.sort_unstable_by_key(|(user, fates)| (std::cmp::Reverse(fates.jobs), *user));
        users.into_iter().map(|(user, fates)| fates.row(user)).collect()
    }

    /// Whether jobs are also compared by their queue.
    pub fn has_queues(&self) -> bool {
        self.alike.has_queues()
    }

    /// How long the jobs of each user waited, compared with jobs of other users in the same queue
    /// (or band of priorities) and class of sizes.
    pub fn compared(&self) -> BTreeMap<&str, Compared> {
        self.alike.compared()
    }
}

/// A number of processors, rounded up.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; saturates")]
pub(in crate::studies) fn whole(processors: f64) -> u64 {
    processors.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tasks::EndedBy;
    use crate::schema::EventType;

    #[test]
    fn slowdowns_are_bounded() {
        let mut fates = Fates::default();
        //  wait 30 s, run 60 s: 90 / 60; wait 5 s, run 1 s: 6 / 10, raised to 1; wait 40 s, run
        //  5 s: 45 / 10.
        for (wait_s, run_s) in [(30, 60), (5, 1), (40, 5)] {
            let [wait_us, run_us] = [wait_s, run_s].map(|time_s| Some(time_s * 1_000_000));
            fates.add(Times { wait_us, length_us: run_us, run_us });
        }
        fates.add(Times { wait_us: Some(7_000_000), ..Times::default() });
        let row = fates.row("1");
        assert_eq!((row.jobs, row.jobs_with_wait, row.jobs_ended), (4, 4, 3));
        assert_eq!(row.slowdown_median, Some(1.5));
        // The jobs of 1 s and of 5 s.
        assert_eq!((row.slowdowns, row.jobs_under_10s), (3, 2));
        assert_eq!(row.slowdown_mean_of_longer, Some(1.5));
        assert!((row.slowdown_mean.unwrap() - 7.0 / 3.0).abs() < 1e-12);
        assert_eq!(row.wait_s_mean, Some(20.5));
        //  wait 10 s, run 20 s, suspended 70 s: 100 / 20.
        let mut suspended = Fates::default();
        let [wait_us, length_us, run_us] = [10, 90, 20].map(|s: i64| Some(s * 1_000_000));
        suspended.add(Times { wait_us, length_us, run_us });
        let row = suspended.row("1");
        assert_eq!((row.run_s_mean, row.slowdown_mean), (Some(20.0), Some(5.0)));
    }

    #[test]
    fn only_a_job_of_one_task_is_suspended() {
        let attempt = Attempt {
            start_us: 10,
            end_us: 100,
            ended_by: EndedBy::Event(EventType::Finish),
            cpu_request: None,
            memory: None,
            gpus: None,
            machine_id: None,
            cpu_used: None,
            requested_us: None,
            ran_us: Some(20),
            row: 0,
        };
        let mut suspended = Suspended::default();
        suspended.add(&[attempt]);
        assert_eq!(suspended.us(), 70);
        suspended.add(&[attempt]);
        assert_eq!(suspended.us(), 0, "one task may run while the other is suspended");
    }

    #[test]
    fn amounts_are_sorted_by_powers_of_ten() {
        let check = |amount: f64, name: &str| assert_eq!(decade_name(decade(amount)), name);
        check(0.0, "0");
        check(0.0125, "0.01 to 0.1");
        // Ten tasks of 0.1 in 32 bits are a little less than 1, and count as 1.
        let tenth = f64::from(0.1_f32);
        check(10.0 * tenth * (1.0 - 1e-8), "1 to 10");
        check(0.999, "0.1 to 1");
        check(1234.0, "1000 to 10000");
    }

    #[test]
    fn memory_of_logs_is_sorted_by_powers_of_four() {
        let check = |kib: f64, name: &str| assert_eq!(fourfold_name(fourfold(kib)), name);
        check(0.0, "0");
        check(0.5, "0.25 to 1");
        check(1.0, "1 to 4");
        // 4 GiB, and 4 GiB less one KiB.
        check(4_194_304.0, "4194304 to 16777216");
        check(4_194_303.0, "1048576 to 4194304");
    }

    #[test]
    fn a_job_is_as_large_as_what_its_tasks_request() {
        let mut size = Size::default();
        size.add([Some(0.5), None]);
        size.add([None, None]);
        size.add([Some(0.25), None]);
        assert_eq!((size.tasks, size.requests), (3, [Some(0.75), None]));
        // Whole processors for a log; no requests give no size.
        assert_eq!([size.count(false), size.count(true)], [Some(3), Some(1)]);
        assert_eq!(Size::default().count(false), None);
        size.requests = [Some(0.0), None];
        assert_eq!([size.count(false), size.count(true)], [Some(3), None]);
    }
}

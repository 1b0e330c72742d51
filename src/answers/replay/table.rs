//! The figures of replays: a row per policy, over one seed or several.

use arrow::record_batch::RecordBatch;

use super::{Replayed, Run};
use crate::replay::experiments::Estimate;
use crate::replay::history::AtTime;
use crate::replay::metrics::{CAUSES, GpuFragmentation, GpuSample, GroupRow, Spread};
use crate::results::frame::Frame;
use crate::results::shares::{Share, share};
use crate::studies::named::Named;

/// The shares in a replay.
pub const SHARES: [Share; 6] = [
    share(
        "utilisation",
        "CPU requested by attempts times their time",
        "CPU of the machines present times their time, from the first submit to the last event",
    ),
    share(
        "cpu_share",
        "CPU requested by attempts in a period",
        "CPU of the machines present in that period",
    ),
    share("largest_used_share", "largest used_cpu_s of one job", "used_cpu_s"),
    share("largest_wasted_share", "largest wasted_cpu_s of one job", "wasted_cpu_s"),
    share(
        "dropped_cpu_share",
        "requested CPU time of recorded attempts that are not replayed",
        "that of all recorded attempts",
    ),
    share("mean_ratio", "response of a job", "its response under the first policy; mean over jobs"),
];

/// Further shares of a replay with `--fragmentation`.
const SHARES_OF_GPUS: [Share; 2] = [
    share("fragmented_gpu_share", "fragmented_gpu_s", "free_gpu_s"),
    share("expected_gpu_share", "expected_gpu_s", "free_gpu_s"),
];

/// The shares in a replay; if `has_gpus`, also those of GPUs.
pub fn shares(has_gpus: bool) -> Vec<Share> {
    SHARES.into_iter().chain(SHARES_OF_GPUS.into_iter().filter(|_| has_gpus)).collect()
}

/// A figure of a replay.
struct Figure {
    name: &'static str,
    is_count: bool,
    value: fn(&Run) -> Option<f64>,
}

impl Figure {
    /// The unit of a CPU or GPU time. Other figures have no unit, or have it in their name.
    fn unit<'a>(&self, of_cpu: &'a str) -> &'a str {
        match self.name {
            name if name.ends_with("gpu_s") => "GPU-s",
            name if name.ends_with("cpu_s") => of_cpu,
            _ => "",
        }
    }
}

const fn count(name: &'static str, value: fn(&Run) -> Option<f64>) -> Figure {
    Figure { name, is_count: true, value }
}

const fn quantity(name: &'static str, value: fn(&Run) -> Option<f64>) -> Figure {
    Figure { name, is_count: false, value }
}

/// Every figure, in the order of the table.
const FIGURES: [Figure; 26] = [
    quantity("makespan_s", |run| run.metrics.makespan_s),
    count("finished", |run| whole(run.metrics.finished as u64)),
    count("refused", |run| whole(run.refused.len() as u64)),
    quantity(RESPONSE, |run| response(run, |spread| spread.mean)),
    quantity("response_s_median", |run| response(run, |spread| spread.median)),
    quantity("response_s_p95", |run| response(run, |spread| spread.p95)),
    quantity("response_s_p99", |run| response(run, |spread| spread.p99)),
    quantity("waiting_s_mean", |run| run.metrics.waiting_s.map(|spread| spread.mean)),
    quantity("waiting_s_p99", |run| run.metrics.waiting_s.map(|spread| spread.p99)),
    quantity("slowdown_mean", |run| run.metrics.bounded_slowdown.map(|spread| spread.mean)),
    quantity("utilisation", |run| run.metrics.utilisation),
    count("copies", |run| whole(run.metrics.copies.0)),
    count("copies_won", |run| whole(run.metrics.copies.1)),
    count("restarts", |run| whole(run.metrics.restarted.count)),
    count("preemptions", |run| whole(run.metrics.evicted.count)),
    count("condemned", |run| whole(run.metrics.condemned_tasks as u64)),
    quantity("used_cpu_s", |run| Some(run.metrics.cpu_s)),
    quantity("largest_used_share", |run| run.metrics.largest_used_share),
    quantity("wasted_cpu_s", |run| Some(run.metrics.wasted_cpu_s())),
    quantity("largest_wasted_share", |run| run.metrics.largest_wasted_share),
    quantity("response_s_change", |run| run.paired.mean_change_s),
    count("jobs_hurt", |run| whole(run.paired.hurt as u64)),
    count("jobs_helped", |run| whole(run.paired.helped as u64)),
    count("jobs_harmed", |run| whole(run.paired.harmed as u64)),
    count("depth_cuts", |run| run.depth_cuts.and_then(whole)),
    quantity("user_fairness", |run| run.metrics.user_fairness),
];

/// Further figures with `--fragmentation`.
const OF_GPUS: [Figure; 5] = [
    quantity("free_gpu_s", |run| left(run, |gpus| Some(gpus.free_gpu_s))),
    quantity("fragmented_gpu_s", |run| left(run, |gpus| Some(gpus.fragmented_gpu_s))),
    quantity("fragmented_gpu_share", |run| left(run, |gpus| gpus.fragmented_gpu_share)),
    quantity("expected_gpu_s", |run| left(run, |gpus| Some(gpus.expected_gpu_s))),
    quantity("expected_gpu_share", |run| left(run, |gpus| gpus.expected_gpu_share)),
];

fn left(run: &Run, value: fn(&GpuFragmentation) -> Option<f64>) -> Option<f64> {
    run.gpus.as_ref().and_then(value)
}

/// The figures of some runs.
fn figures(runs: &[Vec<Run>]) -> impl Iterator<Item = &'static Figure> {
    let has_gpus = runs[0].iter().any(|run| run.gpus.is_some());
    FIGURES.iter().chain(OF_GPUS.iter().filter(move |_| has_gpus))
}

/// The columns that are shown by default: those in which policies differ.
const VIEW: [&str; 20] = [
    "policy",
    "arrivals",
    "seeds",
    "makespan_s",
    "finished",
    RESPONSE,
    "response_s_median",
    "response_s_p95",
    "waiting_s_mean",
    "slowdown_mean",
    "utilisation",
    "wasted_cpu_s",
    "largest_wasted_share",
    "difference_s*",
    "jobs_hurt",
    "jobs_helped",
    "jobs_harmed",
    "fragmented_gpu_share",
    "expected_gpu_share",
    "moved_s_mean",
];

/// The figure with confidence intervals.
const RESPONSE: &str = "response_s_mean";

#[expect(clippy::unnecessary_wraps, reason = "a figure may be unknown")]
#[expect(clippy::cast_precision_loss, reason = "a replay has far fewer than 2^53 events")]
fn whole(count: u64) -> Option<f64> {
    Some(count as f64)
}

fn response(run: &Run, value: fn(Spread) -> f64) -> Option<f64> {
    run.metrics.job_response_s.map(value)
}

/// A figure of every policy over the seeds; `None` if it is unknown under one of them.
fn estimates(
    runs: &[Vec<Run>],
    value: impl Fn(&Run, &Run) -> Option<f64>,
) -> Vec<Option<Estimate>> {
    let of = |policy: usize| {
        let values: Option<Vec<f64>> =
            runs.iter().map(|of_seed| value(&of_seed[policy], &of_seed[0])).collect();
        values.map(|values| Estimate::of(&values))
    };
    (0..runs[0].len()).map(of).collect()
}

/// The increase of the mean response over that under the first policy, s.
fn difference_s(run: &Run, first: &Run) -> Option<f64> {
    let mean = |run| response(run, |spread| spread.mean);
    Some(mean(run)? - mean(first)?)
}

/// The policy of each row and, if the plan includes it, when users submit.
fn kinds<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> Frame {
    let frame = Frame::default().text("policy", runs.clone().map(|run| run.policy.as_str()));
    let arrivals: Vec<String> = runs.filter_map(|run| Some(run.arrivals?.to_string())).collect();
    if arrivals.is_empty() {
        return frame;
    }
    frame.text("arrivals", arrivals.iter().map(String::as_str))
}

/// The table. `runs` are by seed and policy. With several seeds, every figure is a mean.
pub fn of(runs: &[Vec<Run>], unit: &str) -> RecordBatch {
    let mut frame = kinds(runs[0].iter());
    if runs.len() == 1 {
        for figure in figures(runs) {
            let values = runs[0].iter().map(figure.value);
            frame = if figure.is_count {
                #[expect(clippy::cast_possible_truncation, reason = "it was a count before")]
                let counts = values.map(|value| value.map(|count| count as i64));
                frame.maybe_int(figure.name, counts)
            } else {
                frame.float(figure.name, values).unit(figure.unit(unit))
            };
        }
        return with_unit(frame, runs, unit);
    }
    frame = frame.count("seeds", runs[0].iter().map(|_| runs.len() as u64));
    for figure in figures(runs) {
        let found = estimates(runs, |run, _| (figure.value)(run));
        frame = frame
            .float(figure.name, found.iter().map(|found| found.map(|found| found.mean)))
            .unit(figure.unit(unit));
        if figure.name == RESPONSE {
            let differences = estimates(runs, difference_s);
            frame = bounds_of(frame, RESPONSE, &found)
                .float("difference_s", differences.iter().map(|d| d.map(|d| d.mean)));
            frame = bounds_of(frame, "difference_s", &differences);
        }
    }
    with_unit(frame, runs, unit)
}

/// Adds the last columns: how submissions moved, if the plan includes arrivals, and the unit of CPU
/// time.
fn with_unit(mut frame: Frame, runs: &[Vec<Run>], unit: &str) -> RecordBatch {
    if runs[0].iter().any(|run| run.arrivals.is_some()) {
        let submitted = estimates(runs, |run, _| whole(run.moved.jobs_submitted));
        let moved = estimates(runs, |run, _| run.moved.moved_s_mean);
        let means = |found: Vec<Option<Estimate>>| {
            found.into_iter().map(|found| found.map(|found| found.mean))
        };
        frame = frame.float("jobs_submitted", means(submitted)).float("moved_s_mean", means(moved));
    }
    frame.text("unit", runs[0].iter().map(|_| unit)).view(&VIEW).batch()
}

/// The columns of the bounds of the 95 % interval of a figure.
fn bounds_of(frame: Frame, name: &str, found: &[Option<Estimate>]) -> Frame {
    frame
        .float(&format!("{name}_low"), found.iter().map(|found| found.and_then(|one| one.mean_low)))
        .float(
            &format!("{name}_high"),
            found.iter().map(|found| found.and_then(|one| one.mean_high)),
        )
}

/// A row per policy and group, under the first seed.
pub fn by_group(runs: &[Run], unit: &str) -> RecordBatch {
    let rows = || runs.iter().flat_map(|run| run.groups.iter().map(move |row| (run, row)));
    let float = |frame: Frame, name, value: fn(&GroupRow) -> Option<f64>| {
        frame.float(name, rows().map(|(_, row)| value(row)))
    };
    let mut frame = kinds(rows().map(|(run, _)| run))
        .text("group", rows().map(|(_, row)| row.group.as_str()))
        .count("tasks", rows().map(|(_, row)| row.tasks))
        .count("finished", rows().map(|(_, row)| row.finished));
    frame = float(frame, "waiting_s_mean", |row| row.waiting_s_mean);
    // This column is about tasks; the column of the same name in the table of policies is not.
    frame = float(frame, "response_s_mean", |row| row.response_s_mean)
        .about("Mean time of finished tasks from their first submit to their end");
    frame = float(frame, "slowdown_mean", |row| row.slowdown_mean);
    frame = float(frame, "slowdown_median", |row| row.slowdown_median);
    frame = float(frame, "slowdown_p95", |row| row.slowdown_p95);
    frame = float(frame, "used_cpu_s", |row| Some(row.used_cpu_s)).unit(unit);
    frame.text("unit", rows().map(|_| unit)).batch()
}

/// Queue and use of machines over time, as the charts show them: the first seed of every policy.
pub fn over_time(runs: &[Run]) -> RecordBatch {
    let rows = || runs.iter().flat_map(|run| run.metrics.samples.iter().map(move |one| (run, one)));
    kinds(rows().map(|(run, _)| run))
        .float("time_s", rows().map(|(_, sample)| Some(sample.time_s)))
        .about("End of the period, on the trace clock")
        .float("waiting", rows().map(|(_, sample)| Some(sample.waiting)))
        .unit("tasks")
        .float("utilisation", rows().map(|(_, sample)| sample.cpu_share))
        .about("Mean CPU in use over the available CPU (capacity x `overcommit`), in the period")
        .batch()
}

/// The record over time, as the charts show it.
pub fn recorded(record: &[AtTime]) -> RecordBatch {
    Frame::default()
        .float("time_s", record.iter().map(|row| Some(row.time_s)))
        .about("End of the period, on the trace clock")
        .float("waiting", record.iter().map(|row| Some(row.waiting)))
        .unit("tasks")
        .about("Replayed tasks that waited for their first attempt, the mean of the period")
        .float("cpu_requested", record.iter().map(|row| row.cpu_share))
        .about("Requested CPU of running attempts over the CPU of the machines, in the period")
        .batch()
}

/// Free GPUs over time, and the part of them that tasks cannot use: the first seed of every policy.
pub fn of_gpus(runs: &[Run]) -> RecordBatch {
    let samples = |run| left_samples(run).iter().map(move |one| (run, one));
    let rows = || runs.iter().flat_map(samples);
    kinds(rows().map(|(run, _)| run))
        .float("time_s", rows().map(|(_, sample)| Some(sample.time_s)))
        .about("End of the period, on the trace clock")
        .float("free", rows().map(|(_, sample)| Some(sample.free)))
        .unit("GPUs")
        .about("Free GPUs of the machines present, the mean of the period")
        .float("fragmented", rows().map(|(_, sample)| Some(sample.fragmented)))
        .unit("GPUs")
        .about(
            "The part of it that no waiting task could be given, while tasks that request GPUs \
        waited",
        )
        .float("expected", rows().map(|(_, sample)| Some(sample.expected)))
        .unit("GPUs")
        .about(
            "The part of it that could not be given to a task of the workload, the mean over all \
            tasks",
        )
        .batch()
}

fn left_samples(run: &Run) -> &[GpuSample] {
    run.gpus.as_ref().map_or(&[], |gpus| &gpus.samples)
}

/// Free GPU time that tasks of the workload could not use, by cause: the first seed of every
/// policy.
pub fn by_cause(runs: &[Run]) -> RecordBatch {
    let gpus = runs.iter().filter_map(|run| Some((run, run.gpus.as_ref()?)));
    let rows: Vec<_> = gpus
        .flat_map(|(run, gpus)| CAUSES.iter().zip(gpus.by_cause_gpu_s).map(move |row| (run, row)))
        .collect();
    kinds(rows.iter().map(|(run, _)| *run))
        .text("cause", rows.iter().map(|(_, (cause, _))| **cause))
        .about(
            "no_gpu: the task requests none; model, gpu, cpu_or_memory, both (gpu and \
            cpu_or_memory): what the machine lacks",
        )
        .float("expected_gpu_s", rows.iter().map(|(_, (_, gpu_s))| Some(*gpu_s)))
        .unit("GPU-s")
        .about("Free GPU time that could not be given to a task, the mean over all tasks")
        .batch()
}

/// The results of one policy: everything under the first seed, and the spread of the figures over
/// several seeds.
pub fn found(runs: &[Vec<Run>], policy: usize) -> Replayed {
    let run = &runs[0][policy];
    let over_seeds = || -> Named<Option<Estimate>> {
        let difference = ("difference_s", estimates(runs, difference_s)[policy]);
        let of = |figure: &'static Figure| {
            (figure.name, estimates(runs, |run, _| (figure.value)(run))[policy])
        };
        figures(runs).map(of).chain([difference]).collect()
    };
    Replayed {
        policy: run.policy.clone(),
        metrics: run.metrics.clone(),
        wasted_cpu_s: run.metrics.wasted_cpu_s(),
        against_first: run.paired,
        cpu_saved_share: run.cpu_saved_share(&runs[0][0]),
        refused: run.refused.len() as u64,
        depth_cuts: run.depth_cuts,
        arrivals: run.arrivals.map(|arrivals| arrivals.to_string()),
        submissions: run.arrivals.map(|_| run.moved),
        gpu_fragmentation: run.gpus.clone(),
        groups: run.groups.clone(),
        over_seeds: (1 < runs.len()).then(over_seeds),
    }
}

//! Charts of replays: response times, queue and use over time, and which task ran where.

use super::{Run, Setting, densities, gantt};
use crate::answers::sentences::{Capacity, MOST_USED};
use crate::charts::{Bar, BarChart, Chart, HOURS_OF_REPLAY, Line, LineChart, Scale, Stroke, Tone};
use crate::digits::{self, lasting, unit_of_time};
use crate::replay::metrics::{GpuSample, Sample, Spread};
use crate::units::micros_to_seconds;

/// The most policies in a chart over time.
const LINES_MAX: usize = 6;

/// The charts of one seed's replays, by the stem of their files.
pub fn of(runs: &[Run], setting: &Setting) -> Vec<(String, Chart)> {
    let used = match setting.capacity {
        Capacity::Recorded => String::new(),
        Capacity::FromUse => format!(" The capacity is {MOST_USED} in the log."),
    };
    let caption = format!(
        "{} of {} on {}.{used}",
        digits::counted(setting.history.counts.tasks, "recorded task"),
        digits::counted(setting.history.counts.jobs, "job"),
        digits::counted(setting.cluster.machine_count() as u64, "machine"),
    );
    // Tasks are in order of arrival.
    let workload = &setting.history.workload;
    let first_us = if workload.task_count == 0 { 0 } else { workload.arrival_us.get(0) };
    let begin_s = micros_to_seconds(first_us);
    let hours = |time_s: f64| (time_s - begin_s) / 3600.0;
    let over_time = |title: &str, [axis, unit]: [&str; 2], value: fn(&Sample) -> Option<f64>| {
        let point = |sample: &Sample| Some((hours(sample.time_s), value(sample)?));
        let most = |run: &Run| {
            let most = run.metrics.samples.iter().filter_map(value).reduce(f64::max)?;
            Some((format!("{}{unit}", digits::three_digits(most)), run.label.clone()))
        };
        let most: Vec<(String, String)> = runs.iter().take(LINES_MAX).filter_map(most).collect();
        let said = format!("At most {}. {caption}", at_most(&most));
        lines(runs, [title, if most.is_empty() { &caption } else { &said }, axis], |run| {
            run.metrics.samples.iter().filter_map(point).collect()
        })
    };
    let response = responses(runs, &caption);
    let queue = over_time("Tasks that wait", ["tasks waiting", ""], |sample| Some(sample.waiting));
    let axis = match setting.capacity {
        Capacity::Recorded => "CPU in use (% of the available)",
        Capacity::FromUse => "CPU in use (% of the most ever used at once)",
    };
    let in_use =
        over_time("CPU in use", [axis, " %"], |sample| sample.cpu_share.map(|share| share * 100.0));
    let mut charts = Vec::new();
    // If no task ever waits, all policies give the same result: charts of responses and queues
    // would only seem to show something.
    let waits = |run: &Run| run.metrics.waiting_s.is_none_or(|waiting| 0.0 < waiting.max);
    if runs.iter().any(waits) {
        if are_apart(response.bars.iter().map(|bar| bar.value)) {
            charts.push(("replay-response".to_owned(), Chart::Bars(response)));
        }
        charts.push(("replay-queue".to_owned(), queue));
        let both = densities::chart(runs, workload.task_count, &caption);
        charts.extend(both.map(|chart| ("replay-densities".to_owned(), chart)));
    }
    charts.push(("replay-utilisation".to_owned(), in_use));
    if setting.has_fragmentation {
        let title = "Free GPUs that cannot be given to a task of the workload, the mean over tasks";
        let point = |sample: &GpuSample| {
            (0.0 < sample.free).then(|| (hours(sample.time_s), sample.expected / sample.free))
        };
        let chart = lines(runs, [title, &caption, "share of the free GPUs"], |run| {
            run.gpus.iter().flat_map(|gpus| &gpus.samples).filter_map(point).collect()
        });
        charts.push(("replay-gpus".to_owned(), chart));
    }
    for (number, run) in (1..).zip(runs) {
        if let Some(gantt) = gantt::chart(run, setting, &caption) {
            charts.push((format!("replay-gantt-{number}"), Chart::Gantt(gantt)));
        }
    }
    charts
}

/// The maximum under each policy, given once if it is the same.
fn at_most(most: &[(String, String)]) -> String {
    match most {
        [(first, _), _, ..] if most.iter().all(|(own, _)| own == first) => {
            format!("{first} under each policy")
        }
        _ => {
            let all = most.iter().map(|(own, policy)| format!("{own} under {policy}"));
            all.collect::<Vec<String>>().join(", ")
        }
    }
}

/// Mean response times, a bar per policy.
fn responses(runs: &[Run], caption: &str) -> BarChart {
    let known: Vec<(&str, Spread)> = runs
        .iter()
        .filter_map(|run| Some((run.label.as_str(), run.metrics.job_response_s?)))
        .collect();
    let by_mean =
        |one: &&(&str, Spread), other: &&(&str, Spread)| one.1.mean.total_cmp(&other.1.mean);
    let (least, most) = (known.iter().min_by(by_mean), known.iter().max_by(by_mean));
    let found = least.zip(most).map_or_else(String::new, |(least, most)| {
        format!(
            "The mean is {} under {} and {} under {}. ",
            lasting(least.1.mean),
            least.0,
            lasting(most.1.mean),
            most.0
        )
    });
    let (unit, per) = unit_of_time(most.map_or(0.0, |most| most.1.mean));
    let bars = known.iter().map(|(label, spread)| Bar {
        label: (*label).to_owned(),
        value: spread.mean / per,
        note: format!(
            "mean {}, median {}, p95 {}, p99 {}",
            lasting(spread.mean),
            lasting(spread.median),
            lasting(spread.p95),
            lasting(spread.p99)
        ),
        tone: Tone::Blue,
    });
    BarChart {
        title: "Response time of jobs under each policy".to_owned(),
        caption: format!("{found}{caption}"),
        value_axis: format!("mean response time ({unit})"),
        bars: bars.collect(),
    }
}

/// Whether values differ so much that bars show it: the largest is at least 1 % above the smallest.
fn are_apart(values: impl Iterator<Item = f64> + Clone) -> bool {
    const APART: f64 = 0.01;
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    least * (1.0 + APART) <= most
}

/// A line for each policy over the hours of the replay, with the title, the caption and the y axis.
fn lines(
    runs: &[Run],
    [title, caption, axis]: [&str; 3],
    points: impl Fn(&Run) -> Vec<(f64, f64)>,
) -> Chart {
    let lines = runs.iter().take(LINES_MAX).zip(Tone::SERIES).map(|(run, tone)| Line {
        name: run.label.clone(),
        points: points(run),
        band: Vec::new(),
        tone,
        stroke: Stroke::Straight,
    });
    Chart::Lines(LineChart {
        title: title.to_owned(),
        caption: caption.to_owned(),
        x_axis: HOURS_OF_REPLAY.to_owned(),
        y_axis: axis.to_owned(),
        x_scale: Scale::Linear,
        lines: lines.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::are_apart;

    #[test]
    fn bars_are_drawn_of_what_differs_by_a_hundredth() {
        let check = |values: &[f64]| are_apart(values.iter().copied());
        assert!(check(&[100.0, 101.0]) && check(&[50.0, 49.0, 49.9]));
        assert!(!check(&[772.892, 768.915, 773.546]));
        assert!(!check(&[5.0]) && !check(&[]));
    }
}

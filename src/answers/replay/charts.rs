//! Pictures of replays: response times, queue and use over time, and who ran where.

use std::collections::BTreeMap;

use super::{Run, Setting, densities};
use crate::charts::{
    Bar, BarChart, Chart, GanttChart, GanttSpan, HOURS_OF_REPLAY, Line, LineChart, Scale, Stroke,
    Tone,
};
use crate::digits;
use crate::replay::journal::Kind;
use crate::replay::metrics::{GpuSample, Sample};
use crate::units::micros_to_seconds;

/// Policies in one picture over time.
const LINES_MAX: usize = 6;

/// Rows and attempts of a picture of who ran where, at most; larger runs have none.
const ROWS_MAX: usize = 32;
const SPANS_MAX: usize = 400;

/// The pictures of a seed's replays, by the name of their files.
pub fn of(runs: &[Run], setting: &Setting) -> Vec<(String, Chart)> {
    let caption = format!(
        "{} of {} on {}.",
        digits::counted(setting.history.counts.tasks, "recorded task"),
        digits::counted(setting.history.counts.jobs, "job"),
        digits::counted(setting.cluster.machine_count() as u64, "machine"),
    );
    // Tasks stand in order of arrival.
    let workload = &setting.history.workload;
    let first_us = if workload.task_count == 0 { 0 } else { workload.arrival_us.get(0) };
    let begin_s = micros_to_seconds(first_us);
    let hours = |time_s: f64| (time_s - begin_s) / 3600.0;
    let over_time = |title: &str, axis: &str, value: fn(&Sample) -> Option<f64>| {
        let point = |sample: &Sample| Some((hours(sample.time_s), value(sample)?));
        let most = |run: &Run| {
            let most = run.metrics.samples.iter().filter_map(value).reduce(f64::max)?;
            let decimals = if most < 10.0 { 2 } else { 0 };
            Some(format!("{} under {}", digits::grouped_decimal(most, decimals), run.label))
        };
        let most: Vec<String> = runs.iter().take(LINES_MAX).filter_map(most).collect();
        let said = format!("At most {}. {caption}", most.join(", "));
        lines(runs, [title, if most.is_empty() { &caption } else { &said }, axis], |run| {
            run.metrics.samples.iter().filter_map(point).collect()
        })
    };
    let response = responses(runs, &caption);
    let queue = over_time("Tasks that wait", "tasks waiting", |sample| Some(sample.waiting));
    let in_use = over_time("CPU in use", "share of the available CPU", |sample| sample.cpu_share);
    let mut charts = Vec::new();
    // Where no task ever waits, all policies are one: bars and queues would only look like a result.
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
        if let Some(gantt) = gantt(run, setting, &caption) {
            charts.push((format!("replay-gantt-{number}"), Chart::Gantt(gantt)));
        }
    }
    charts
}

/// Mean response times, a bar per policy.
fn responses(runs: &[Run], caption: &str) -> BarChart {
    let seconds = |value: f64| digits::six_digits(value.round());
    let bars = runs.iter().filter_map(|run| {
        let spread = run.metrics.job_response_s?;
        Some(Bar {
            label: run.label.clone(),
            value: spread.mean,
            note: format!(
                "mean {} s, median {}, p95 {}, p99 {}",
                seconds(spread.mean),
                seconds(spread.median),
                seconds(spread.p95),
                seconds(spread.p99)
            ),
            tone: Tone::Blue,
        })
    });
    BarChart {
        title: "Response time of jobs under each policy".to_owned(),
        caption: caption.to_owned(),
        value_axis: "mean response time, s".to_owned(),
        bars: bars.collect(),
    }
}

/// Whether values differ so much that bars show it: the largest by 1 % from the smallest.
fn are_apart(values: impl Iterator<Item = f64> + Clone) -> bool {
    const APART: f64 = 0.01;
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    least * (1.0 + APART) <= most
}

/// A line for each policy over the hours of the replay; with title, caption and what is shown.
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

/// An attempt on its machine, µs.
struct Attempt {
    machine: u32,
    task: u32,
    from_us: i64,
    to_us: i64,
    how: Kind,
    is_copy: bool,
}

/// The attempts of a journal, if there are not too many to be seen.
fn attempts(run: &Run) -> Option<Vec<Attempt>> {
    let mut begun = BTreeMap::new();
    let mut found = Vec::new();
    for entry in run.journal.entries() {
        let key = (entry.task, entry.attempt);
        if entry.kind.is_begin() {
            begun.insert(key, (entry.at_us, entry.kind != Kind::Start));
        } else if entry.kind.is_end()
            && let Some((from_us, is_copy)) = begun.remove(&key)
        {
            let (machine, task, how) = (entry.machine, entry.task, entry.kind);
            found.push(Attempt { machine, task, from_us, to_us: entry.at_us, how, is_copy });
            if SPANS_MAX < found.len() {
                return None;
            }
        }
    }
    found.sort_by_key(|attempt| (attempt.machine, attempt.from_us, attempt.task));
    Some(found)
}

fn gantt(run: &Run, setting: &Setting, caption: &str) -> Option<GanttChart> {
    let attempts = attempts(run)?;
    let (mut rows, mut spans): (Vec<String>, Vec<GanttSpan>) = (Vec::new(), Vec::new());
    // When each row of the present machine is free again.
    let mut free_us: Vec<i64> = Vec::new();
    let mut machine = None;
    let begin_us = attempts.iter().map(|attempt| attempt.from_us).min()?;
    let since_s = |at_us: i64| micros_to_seconds(at_us - begin_us);
    for attempt in &attempts {
        if machine != Some(attempt.machine) {
            machine = Some(attempt.machine);
            free_us.clear();
        }
        let row = free_us.iter().position(|&free_us| free_us <= attempt.from_us);
        let row = row.unwrap_or_else(|| {
            let name = setting.cluster.id(attempt.machine).to_string();
            rows.push(if free_us.is_empty() { name } else { String::new() });
            free_us.push(0);
            free_us.len() - 1
        });
        free_us[row] = attempt.to_us;
        let (job, number) = setting.history.ids[attempt.task as usize];
        spans.push(GanttSpan {
            row: rows.len() - free_us.len() + row,
            from: since_s(attempt.from_us),
            to: since_s(attempt.to_us),
            label: format!("{job}/{number}"),
            tone: meaning(attempt).1,
        });
    }
    if rows.len() > ROWS_MAX || rows.is_empty() {
        return None;
    }
    let mut legend: Vec<(String, Tone)> = Vec::new();
    for attempt in &attempts {
        let (name, tone) = meaning(attempt);
        if legend.iter().all(|(known, _)| known != name) {
            legend.push((name.to_owned(), tone));
        }
    }
    legend.sort();
    Some(GanttChart {
        title: format!("Who ran where under {}", run.label),
        caption: format!("{caption} A bar is an attempt: job/task, a row a machine."),
        time_axis: format!("seconds since {} s of the trace", micros_to_seconds(begin_us)),
        rows,
        spans,
        legend,
    })
}

/// What became of an attempt, and its colour.
fn meaning(attempt: &Attempt) -> (&'static str, Tone) {
    match (attempt.how, attempt.is_copy) {
        (Kind::Finish, true) => ("copy that finished", Tone::Sky),
        (Kind::Finish, false) => ("finished", Tone::Green),
        (Kind::Fail, _) => ("failed", Tone::Vermilion),
        (Kind::Kill | Kind::Condemn, _) => ("killed", Tone::Blue),
        (Kind::Evict | Kind::Lost | Kind::Restart, _) => {
            ("evicted, lost or restarted", Tone::Orange)
        }
        (Kind::ProbeEnd, _) => ("probe", Tone::Purple),
        _ => ("cancelled or cut", Tone::Grey),
    }
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

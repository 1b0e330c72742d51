//! The charts of `load` by the size of jobs: how many there are, how long they run and wait.
//!
//! In: what was added up. Out: bars per class of sizes, of CPU and of memory; none where no size is
//! known.

use super::{Loaded, table};
use crate::charts::{Bar, BarChart, Chart, Tone};
use crate::digits;
use crate::studies::load::jobs::FateRow;
use crate::studies::meter::Resource;

/// What jobs are sorted by in charts.
struct Sizes {
    /// What the names of files end with.
    stem: &'static str,
    /// The titles of the charts of how many jobs there are, and how long they run.
    titles: [&'static str; 2],
    /// What it is, in words.
    by: String,
    rows: Vec<FateRow>,
}

/// Every chart, by the stem of its file.
pub(super) fn all(loaded: &Loaded) -> Vec<(String, Chart)> {
    let load = &loaded.load;
    let sums = &load.job_sums;
    let noun = if load.source.is_log() { "processors" } else { "tasks" };
    let own = Sizes {
        stem: "",
        titles: ["How large jobs are", "How long jobs of each size run"],
        by: format!("{noun} of the job"),
        rows: sums.by_size(),
    };
    let mut charts = charts_of(&own, load.knows_waits);
    let requested = [
        (
            Resource::Cpu,
            Sizes {
                stem: "-cpu",
                titles: [
                    "How much CPU jobs request",
                    "How long jobs run, by the CPU that they request",
                ],
                by: format!(
                    "CPU that the tasks of the job request together ({})",
                    table::cpu_unit(load)
                ),
                rows: sums.by_request(Resource::Cpu),
            },
        ),
        (
            Resource::Memory,
            Sizes {
                stem: "-memory",
                titles: [
                    "How much memory jobs request",
                    "How long jobs run, by the memory that they request",
                ],
                by: format!(
                    "memory that the tasks of the job request together ({})",
                    table::memory_unit(load)
                ),
                rows: sums.by_request(Resource::Memory),
            },
        ),
    ];
    let wants = |resource| loaded.plan.resource.is_none_or(|wanted| wanted == resource);
    let wanted = requested.iter().filter(|(resource, _)| wants(*resource));
    charts.extend(wanted.flat_map(|(_, own)| charts_of(own, false)));
    charts
}

fn charts_of(sizes: &Sizes, with_waits: bool) -> Vec<(String, Chart)> {
    let Sizes { stem, titles: [how_large, how_long], by, rows } = sizes;
    let bars = |value: fn(&FateRow) -> Option<f64>, note: fn(f64) -> String| -> Vec<Bar> {
        let bar = |row: &FateRow| {
            let value = value(row);
            Bar {
                label: row.name.clone(),
                note: value.map_or_else(|| "unknown".to_owned(), note),
                value: value.unwrap_or(0.0),
                tone: Tone::Blue,
            }
        };
        rows.iter().map(bar).collect()
    };
    if rows.is_empty() {
        return Vec::new();
    }
    let seconds = |value: f64| format!("{} s", digits::six_digits(value));
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    let jobs = bars(|row| Some(row.jobs as f64), |count| digits::grouped_decimal(count, 0));
    let chart = |title: &str, caption: &str, axis: &str, bars| {
        let caption = format!("By {by}. {caption}");
        let (title, value_axis) = (title.to_owned(), axis.to_owned());
        Chart::Bars(BarChart { title, caption, value_axis, bars })
    };
    let mut charts = vec![
        (
            format!("load-sizes{stem}"),
            chart(how_large, "Jobs with tasks in the loaded parts.", "jobs", jobs),
        ),
        (
            format!("load-size-run{stem}"),
            chart(
                how_long,
                "Median from the first SCHEDULE to the end, of jobs that started and ended in the window.",
                "median run time (s)",
                bars(|row| row.run_s_median, seconds),
            ),
        ),
    ];
    if with_waits {
        charts.push((
            format!("load-size-wait{stem}"),
            chart(
                "How long jobs of each size wait",
                "Mean from the first SUBMIT to the first SCHEDULE, of jobs submitted in the window.",
                "mean wait (s)",
                bars(|row| row.wait_s_mean, seconds),
            ),
        ));
        charts.push((
            format!("load-size-slowdown{stem}"),
            chart(
                "How much waiting slows jobs of each size down",
                "Mean bounded slowdown: wait plus run time, divided by the run time (at least 10 s); at least 1.",
                "mean bounded slowdown",
                bars(|row| row.slowdown_mean, digits::six_digits),
            ),
        ));
    }
    charts
}

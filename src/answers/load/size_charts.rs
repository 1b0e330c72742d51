//! The charts of `load` by the size of jobs: how many there are, how long they run and wait.
//!
//! In: the load of a lake. Out: bars by size, by requested CPU and by requested memory; none for an
//! amount without classes (no job records it, or the size of a log's jobs already shows it).

use super::{Loaded, table};
use crate::answers::sentences::aside;
use crate::charts::{Bar, BarChart, Chart, Tone, beside_name};
use crate::digits;
use crate::studies::load::jobs::FateRow;
use crate::studies::meter::Resource;

/// How charts sort jobs into classes.
struct Sizes {
    /// The end of the names of files.
    stem: &'static str,
    /// The titles of the charts of how many jobs there are, and how long they run.
    titles: [&'static str; 2],
    /// The amount that makes the classes, in words.
    by: String,
    /// What a class is counted in: `tasks`, or the unit of a request.
    unit: &'static str,
    /// Whether classes are of requests, not of sizes.
    is_of_requests: bool,
    rows: Vec<FateRow>,
}

impl Sizes {
    /// The label of a class: `2-4`, `1 to 10 GiB`.
    fn label(&self, name: &str) -> String {
        if self.is_of_requests { of_request(name, self.unit) } else { name.to_owned() }
    }

    /// The jobs of a class: `jobs of 2 to 4 tasks`, `jobs that request 1 to 10 GiB`.
    fn jobs(&self, name: &str) -> String {
        let label = self.label(name);
        if self.is_of_requests {
            return format!("jobs that request {label}");
        }
        let size = match label.strip_suffix('+') {
            Some(least) => format!("{least} or more"),
            None => label.replace('-', " to "),
        };
        let unit = if label == "1" { self.unit.trim_end_matches('s') } else { self.unit };
        format!("jobs of {size} {unit}")
    }
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
        unit: noun,
        is_of_requests: false,
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
                by: "CPU that the tasks of the job request together".to_owned(),
                unit: table::cpu_unit(load),
                is_of_requests: true,
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
                by: "memory that the tasks of the job request together".to_owned(),
                unit: table::memory_unit(load),
                is_of_requests: true,
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
    let Sizes { stem, titles: [how_large, how_long], rows, .. } = sizes;
    if rows.is_empty() {
        return Vec::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    let jobs = Measure {
        of: |row| Some(row.jobs as f64),
        beside: None,
        note: |count| digits::grouped_decimal(count, 0),
        axis: "jobs",
        is_time: false,
        count: None,
    };
    let mut charts = vec![
        (
            format!("load-sizes{stem}"),
            chart(sizes, how_large, "All jobs of which a task is loaded.", {
                let (_, bars, axis) = jobs.drawn(sizes);
                (most(sizes), bars, axis)
            }),
        ),
        (
            format!("load-size-run{stem}"),
            chart(
                sizes,
                how_long,
                "Median from the first start to the end, of jobs that started and ended in the window.",
                RUN.drawn(sizes),
            ),
        ),
    ];
    if with_waits {
        // Bars of equal length show nothing, such as waits of 0 s, or slowdowns of 1.
        charts.extend(delays(sizes).into_iter().filter(|(_, chart)| differ(chart)));
    }
    charts
}

/// A chart of the classes.
fn chart(
    sizes: &Sizes,
    title: &str,
    caption: &str,
    (found, bars, value_axis): (String, Vec<Bar>, String),
) -> Chart {
    let caption = format!("{found}By {}. {caption}", sizes.by);
    BarChart { title: title.to_owned(), caption, value_axis, bars }.on_fitting_axis()
}

/// How long jobs run.
const RUN: Measure = Measure {
    of: |row| row.run_s_median,
    beside: None,
    note: digits::lasting,
    axis: "median run time",
    is_time: true,
    count: Some(|row| row.jobs_ended),
};

/// How long jobs wait, and how much that slows them down.
fn delays(sizes: &Sizes) -> [(String, Chart); 2] {
    let Sizes { stem, rows, .. } = sizes;
    let most = Measure {
        of: |row| row.wait_s_p95,
        beside: Some((|row| row.wait_s_median, "median")),
        axis: "95 % quantile of the wait",
        count: Some(|row| row.jobs_with_wait),
        ..RUN
    };
    let median = Measure {
        of: |row| row.wait_s_median,
        beside: Some((|row| row.wait_s_mean, "mean")),
        axis: "median wait",
        ..most
    };
    let (how, wait) = usual(rows, median, most);
    let wait = chart(
        sizes,
        "How long jobs of each size wait",
        &format!(
            "{how} time from the submission to the first start, of jobs submitted in the window."
        ),
        wait.drawn(sizes),
    );
    let most = Measure {
        of: |row| row.slowdown_p95,
        beside: Some((|row| row.slowdown_median, "median")),
        note: digits::three_digits,
        axis: "95 % quantile of the bounded slowdown",
        is_time: false,
        count: Some(|row| row.jobs_ended),
    };
    let median = Measure {
        of: |row| row.slowdown_median,
        beside: Some((|row| row.slowdown_mean, "mean")),
        axis: "median bounded slowdown",
        ..most
    };
    let (how, slowdown) = usual(rows, median, most);
    let slowdown = chart(
        sizes,
        "How much waiting slows jobs of each size down",
        &format!(
            "{how} bounded slowdown: time from the submission to the end, divided by the run time \
            (at least 10 s); at least 1. All jobs that ended count, whatever their outcome."
        ),
        slowdown.drawn(sizes),
    );
    [(format!("load-size-wait{stem}"), wait), (format!("load-size-slowdown{stem}"), slowdown)]
}

/// Whether the bars of a chart have different lengths; true for a single bar.
fn differ(chart: &Chart) -> bool {
    let Chart::Bars(chart) = chart else { return true };
    chart.bars.len() < 2 || !are_alike(chart.bars.iter().map(|bar| bar.value))
}

/// Whether the largest value is less than 5 % above the smallest: bars would look the same.
fn are_alike(values: impl Iterator<Item = f64>) -> bool {
    const ALIKE: f64 = 1.05;
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    most < least * ALIKE || most == least
}

/// The name of a class of requests for readers, in millions or billions if it is large; bytes are in
/// a unit of which there is one or more: `0.954 to 9.54 GiB` for `1000000 to 10000000` KiB.
pub(crate) fn of_request(name: &str, unit: &'static str) -> String {
    let units = table::several(unit);
    let Some((from, to)) = name.split_once(" to ") else { return format!("{name} {units}") };
    let (Ok(from), Ok(to)) = (from.parse::<f64>(), to.parse::<f64>()) else {
        return format!("{name} {units}");
    };
    let (larger, per_larger) = super::units::in_words(unit, to);
    if 1.0 < per_larger {
        let shown = |value: f64| digits::three_digits(value / per_larger);
        return format!("{} to {} {larger}", shown(from), shown(to));
    }
    let names = [(1e9, " billion"), (1e6, " million"), (1.0, "")];
    let (per, name) = names.into_iter().find(|name| name.0 <= to).unwrap_or((1.0, ""));
    // The edges are powers of ten.
    let shown = |value: f64| beside_name(value / per);
    format!("{} to {}{name} {units}", shown(from), shown(to))
}

/// The medians, if they differ between classes; otherwise the 95 % quantiles, since a mean may be that of
/// a single job. With what is drawn, in words.
fn usual(rows: &[FateRow], median: Measure, most: Measure) -> (&'static str, Measure) {
    if 1 < rows.len() && are_alike(rows.iter().filter_map(median.of)) {
        ("All medians are about equal, so bars show the 95 % quantiles. 95 % quantile of the", most)
    } else {
        ("Median of the", median)
    }
}

/// A further value of a class, and its name.
type Beside = (fn(&FateRow) -> Option<f64>, &'static str);

/// The value that is drawn for each class.
#[derive(Clone, Copy)]
struct Measure {
    of: fn(&FateRow) -> Option<f64>,
    /// The value that is noted beside it, with its name: a few large values can make up most of a
    /// mean, so the median stands beside it.
    beside: Option<Beside>,
    note: fn(f64) -> String,
    axis: &'static str,
    /// Whether it is a time in seconds, which is drawn in a unit that suits the largest value.
    is_time: bool,
    /// The number of jobs that it is of, noted beside it; `None` if it is that number itself.
    count: Option<fn(&FateRow) -> u64>,
}

impl Measure {
    /// The smallest and the largest value in words, the bars, and the title of their axis.
    fn drawn(&self, sizes: &Sizes) -> (String, Vec<Bar>, String) {
        let rows = &sizes.rows;
        let known: Vec<(f64, String)> =
            rows.iter().filter_map(|row| Some(((self.of)(row)?, sizes.jobs(&row.name)))).collect();
        let least = known.iter().min_by(|one, other| one.0.total_cmp(&other.0));
        let most = known.iter().max_by(|one, other| one.0.total_cmp(&other.0));
        let found = least.zip(most).filter(|(least, most)| least.0 < most.0).map_or_else(
            String::new,
            |(least, most)| {
                let said = |of: &(f64, String)| format!("{} for {}", (self.note)(of.0), of.1);
                format!("From {} to {}. ", said(least), said(most))
            },
        );
        // Between values that are far apart, the unit is that of the middle on a logarithmic axis.
        let middle = least.zip(most).map(|(least, most)| match least.0 / most.0 {
            far if 0.0 < far && far <= 0.01 => (least.0 * most.0).sqrt(),
            _ => most.0,
        });
        let (unit, per) = digits::unit_of_time(middle.unwrap_or(0.0));
        let (axis, per) = if self.is_time {
            (format!("{} ({unit})", self.axis), per)
        } else {
            (self.axis.to_owned(), 1.0)
        };
        let bar = |row: &FateRow| {
            let value = (self.of)(row);
            let beside = self.beside.and_then(|(of, name)| Some((of(row)?, name)));
            let beside = beside.map(|(value, name)| format!("{name} {}", (self.note)(value)));
            let jobs = self.count.map(|count| digits::counted(count(row), "job"));
            let beside = aside([beside, jobs]);
            let note = |value| format!("{}{beside}", (self.note)(value));
            Bar {
                label: sizes.label(&row.name),
                note: value.map_or_else(|| "unknown".to_owned(), note),
                value: value.unwrap_or(0.0) / per,
                tone: Tone::Blue,
            }
        };
        (found, rows.iter().map(bar).collect(), axis)
    }
}

/// The class with most jobs: `Most are jobs of 5 to 16 tasks: 11,581 of 11,704 jobs. `; empty for
/// one class.
fn most(sizes: &Sizes) -> String {
    let rows = &sizes.rows;
    let all: u64 = rows.iter().map(|row| row.jobs).sum();
    let most = rows.iter().max_by_key(|row| row.jobs).filter(|_| 1 < rows.len());
    most.map_or_else(String::new, |most| {
        let which = if all < 2 * most.jobs { "Most" } else { "The largest class" };
        format!(
            "{which} are {}: {} of {}. ",
            sizes.jobs(&most.name),
            digits::grouped(most.jobs),
            digits::counted(all, "job")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_sizes_are_said_in_words() {
        for (name, unit, said) in [
            ("1000000 to 10000000", "processor", "1 to 10 million processors"),
            ("1000000 to 10000000", "KiB", "0.954 to 9.54 GiB"),
            ("1000 to 10000", "KiB", "0.977 to 9.77 MiB"),
            ("100 to 1000", "KiB", "100 to 1,000 KiB"),
            ("0.01 to 0.1", "NCU", "0.01 to 0.1 NCU"),
            ("0.0000001 to 0.000001", "NMU", "10⁻⁷ to 10⁻⁶ NMU"),
            ("0", "KiB", "0 KiB"),
        ] {
            assert_eq!(of_request(name, unit), said);
        }
        let sizes = of("tasks", Vec::new());
        for (name, said) in [
            ("1", "jobs of 1 task"),
            ("2-4", "jobs of 2 to 4 tasks"),
            ("1025+", "jobs of 1025 or more tasks"),
        ] {
            assert_eq!(sizes.jobs(name), said);
        }
    }

    fn of(unit: &'static str, rows: Vec<FateRow>) -> Sizes {
        let titles = ["Large", "Long"];
        Sizes { stem: "", titles, by: unit.to_owned(), unit, is_of_requests: false, rows }
    }

    #[test]
    fn medians_are_drawn_beside_means_unless_all_are_equal() {
        let row = |name: &str, median, mean| FateRow {
            name: name.to_owned(),
            jobs: 5,
            wait_s_median: Some(median),
            wait_s_mean: Some(mean),
            slowdown_median: Some(1.0),
            slowdown_p95: Some(mean / 10.0),
            jobs_with_wait: 4,
            jobs_ended: 3,
            ..FateRow::default()
        };
        let rows = vec![row("1", 2.0, 70.0), row("2-4", 3.0, 9.0)];
        let charts = charts_of(&of("tasks", rows), true);
        let of = |name: &str| {
            let found = charts.iter().find(|chart| chart.0 == name).unwrap();
            let Chart::Bars(chart) = &found.1 else { panic!() };
            (chart.caption.as_str(), chart.bars[0].note.as_str(), chart.value_axis.as_str())
        };
        let (caption, note, axis) = of("load-size-wait");
        assert!(
            caption.starts_with(
                "From 2 s for jobs of 1 task to 3 s for jobs of 2 to 4 tasks. By tasks. Median of the"
            ),
            "{caption}"
        );
        assert_eq!((note, axis), ("2 s (mean 70 s; 4 jobs)", "median wait (s)"));
        let (caption, note, axis) = of("load-size-slowdown");
        assert!(
            caption.contains("so bars show the 95 % quantiles. 95 % quantile of the bounded"),
            "{caption}"
        );
        assert_eq!((note, axis), ("7 (median 1; 3 jobs)", "95 % quantile of the bounded slowdown"));
    }

    #[test]
    fn times_are_drawn_in_a_unit_that_says_more_and_captions_name_the_extremes() {
        let row = |name: &str, jobs, run_s_median| FateRow {
            name: name.to_owned(),
            jobs,
            run_s_median,
            ..FateRow::default()
        };
        let rows = vec![row("1", 2, Some(90.5)), row("2-4", 8, Some(194_733.0)), row("5", 1, None)];
        let charts = charts_of(&of("tasks", rows), false);
        let [(_, Chart::Bars(large)), (_, Chart::LogBars(long))] = &charts[..] else { panic!() };
        let most = "Most are jobs of 2 to 4 tasks: 8 of 11 jobs. By tasks.";
        assert!(large.caption.starts_with(most), "{}", large.caption);
        let range = "From 90.5 s for jobs of 1 task to 2.25 d for jobs of 2 to 4 tasks. By tasks. ";
        assert!(long.caption.starts_with(range), "{}", long.caption);
        assert_eq!(long.value_axis, "median run time (min)");
        assert!((long.bars[1].value - 194_733.0 / 60.0).abs() < 1e-9);
        assert_eq!(long.bars[2].note, "unknown");
    }
}

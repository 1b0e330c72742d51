//! The charts of `load` by the size of jobs: how many there are, how long they run and wait.
//!
//! In: the load of a lake. Out: bars by size, by requested CPU and by requested memory; none for an
//! amount without classes (no job records it, or the size of a log's jobs already shows it).

use super::{Loaded, table};
use crate::charts::{Bar, BarChart, Chart, Tone};
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
    };
    let mut charts = vec![
        (
            format!("load-sizes{stem}"),
            chart(sizes, how_large, "Jobs with tasks in the loaded parts.", {
                let (_, bars, axis) = jobs.drawn(rows);
                (most(rows), bars, axis)
            }),
        ),
        (
            format!("load-size-run{stem}"),
            chart(
                sizes,
                how_long,
                "Median from the first SCHEDULE to the end, of jobs that started and ended in the window.",
                RUN.drawn(rows),
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
    Chart::Bars(BarChart { title: title.to_owned(), caption, value_axis, bars })
}

/// How long jobs run.
const RUN: Measure = Measure {
    of: |row| row.run_s_median,
    beside: None,
    note: digits::lasting,
    axis: "median run time",
    is_time: true,
};

/// How long jobs wait, and how much that slows them down.
fn delays(sizes: &Sizes) -> [(String, Chart); 2] {
    let Sizes { stem, rows, .. } = sizes;
    let mean = Measure {
        of: |row| row.wait_s_mean,
        beside: Some((|row| row.wait_s_median, "median")),
        axis: "mean wait",
        ..RUN
    };
    let median = Measure {
        of: |row| row.wait_s_median,
        beside: Some((|row| row.wait_s_mean, "mean")),
        axis: "median wait",
        ..RUN
    };
    let (how, wait) = usual(rows, median, mean);
    let wait = chart(
        sizes,
        "How long jobs of each size wait",
        &format!(
            "{how} from the first SUBMIT to the first SCHEDULE, of jobs submitted in the window."
        ),
        wait.drawn(rows),
    );
    let mean = Measure {
        of: |row| row.slowdown_mean,
        beside: Some((|row| row.slowdown_median, "median")),
        note: digits::three_digits,
        axis: "mean bounded slowdown",
        is_time: false,
    };
    let median = Measure {
        of: |row| row.slowdown_median,
        beside: Some((|row| row.slowdown_mean, "mean")),
        axis: "median bounded slowdown",
        ..mean
    };
    let (how, slowdown) = usual(rows, median, mean);
    let slowdown = chart(
        sizes,
        "How much waiting slows jobs of each size down",
        &format!(
            "{how} bounded slowdown: wait plus run time, divided by the run time (at least 10 s); at \
            least 1."
        ),
        slowdown.drawn(rows),
    );
    [(format!("load-size-wait{stem}"), wait), (format!("load-size-slowdown{stem}"), slowdown)]
}

/// Whether the bars of a chart have different lengths; true for a single bar.
fn differ(chart: &Chart) -> bool {
    let Chart::Bars(chart) = chart else { return true };
    let first = chart.bars.first().map(|bar| bar.value);
    chart.bars.len() < 2 || chart.bars.iter().any(|bar| Some(bar.value) != first)
}

/// The name of a class for readers: `1 to 10 million` for `1000000 to 10000000`.
fn in_words(name: &str) -> String {
    let Some((from, to)) = name.split_once(" to ") else { return name.to_owned() };
    let (Ok(from), Ok(to)) = (from.parse::<f64>(), to.parse::<f64>()) else {
        return name.to_owned();
    };
    let units = [(1e9, " billion"), (1e6, " million"), (1.0, "")];
    let (per, unit) = units.into_iter().find(|unit| unit.0 <= to).unwrap_or((1.0, ""));
    let [from, to] = [from / per, to / per].map(digits::three_digits);
    format!("{from} to {to}{unit}")
}

/// The medians, if they differ between classes; otherwise the means. With what is drawn, in words.
fn usual(rows: &[FateRow], median: Measure, mean: Measure) -> (&'static str, Measure) {
    let mut known = rows.iter().filter_map(median.of);
    let first = known.next();
    let is_same = known.all(|value| Some(value) == first);
    if is_same && 1 < rows.len() {
        ("All medians are equal, so bars show the means. Mean", mean)
    } else {
        ("Median", median)
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
}

impl Measure {
    /// The smallest and the largest value in words, the bars, and the title of their axis.
    fn drawn(&self, rows: &[FateRow]) -> (String, Vec<Bar>, String) {
        let known: Vec<(f64, String)> =
            rows.iter().filter_map(|row| Some(((self.of)(row)?, in_words(&row.name)))).collect();
        let least = known.iter().min_by(|one, other| one.0.total_cmp(&other.0));
        let most = known.iter().max_by(|one, other| one.0.total_cmp(&other.0));
        let found = least.zip(most).filter(|(least, most)| least.0 < most.0).map_or_else(
            String::new,
            |(least, most)| {
                let said = |of: &(f64, String)| format!("{} ({})", (self.note)(of.0), of.1);
                format!("From {} to {}. ", said(least), said(most))
            },
        );
        let (unit, per) = digits::unit_of_time(most.map_or(0.0, |most| most.0));
        let (axis, per) = if self.is_time {
            (format!("{} ({unit})", self.axis), per)
        } else {
            (self.axis.to_owned(), 1.0)
        };
        let bar = |row: &FateRow| {
            let value = (self.of)(row);
            let beside = self.beside.and_then(|(of, name)| Some((of(row)?, name)));
            let beside = beside.map_or_else(String::new, |(value, name)| {
                format!(" ({name} {})", (self.note)(value))
            });
            let note = |value| format!("{}{beside}", (self.note)(value));
            Bar {
                label: in_words(&row.name),
                note: value.map_or_else(|| "unknown".to_owned(), note),
                value: value.unwrap_or(0.0) / per,
                tone: Tone::Blue,
            }
        };
        (found, rows.iter().map(bar).collect(), axis)
    }
}

/// The class with most jobs: `Most: 5-16, with 11,581 of 11,704 jobs. `; empty for one class.
fn most(rows: &[FateRow]) -> String {
    let all: u64 = rows.iter().map(|row| row.jobs).sum();
    let most = rows.iter().max_by_key(|row| row.jobs).filter(|_| 1 < rows.len());
    most.map_or_else(String::new, |most| {
        let which = if all < 2 * most.jobs { "Most" } else { "The largest class" };
        format!(
            "{which}: {}, with {} of {}. ",
            in_words(&most.name),
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
        for (name, said) in [
            ("1000000 to 10000000", "1 to 10 million"),
            ("100000 to 1000000", "0.1 to 1 million"),
            ("100 to 1000", "100 to 1,000"),
            ("0.01 to 0.1", "0.01 to 0.1"),
            ("5-16", "5-16"),
            ("0", "0"),
        ] {
            assert_eq!(in_words(name), said);
        }
    }

    #[test]
    fn medians_are_drawn_beside_means_unless_all_are_equal() {
        let row = |name: &str, median, mean| FateRow {
            name: name.to_owned(),
            jobs: 5,
            wait_s_median: Some(median),
            wait_s_mean: Some(mean),
            slowdown_median: Some(1.0),
            slowdown_mean: Some(mean / 10.0),
            ..FateRow::default()
        };
        let rows = vec![row("1", 2.0, 70.0), row("2-4", 3.0, 9.0)];
        let sizes = Sizes { stem: "", titles: ["Large", "Long"], by: "tasks".to_owned(), rows };
        let charts = charts_of(&sizes, true);
        let of = |name: &str| {
            let found = charts.iter().find(|chart| chart.0 == name).unwrap();
            let Chart::Bars(chart) = &found.1 else { panic!() };
            (chart.caption.as_str(), chart.bars[0].note.as_str(), chart.value_axis.as_str())
        };
        let (caption, note, axis) = of("load-size-wait");
        assert!(
            caption.starts_with("From 2 s (1) to 3 s (2-4). By tasks. Median from"),
            "{caption}"
        );
        assert_eq!((note, axis), ("2 s (mean 70 s)", "median wait (s)"));
        let (caption, note, axis) = of("load-size-slowdown");
        assert!(caption.contains("equal, so bars show the means. Mean bounded"), "{caption}");
        assert_eq!((note, axis), ("7 (median 1)", "mean bounded slowdown"));
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
        let sizes = Sizes { stem: "", titles: ["Large", "Long"], by: "tasks".to_owned(), rows };
        let charts = charts_of(&sizes, false);
        let [(_, Chart::Bars(large)), (_, Chart::Bars(long))] = &charts[..] else { panic!() };
        assert!(large.caption.starts_with("Most: 2-4, with 8 of 11 jobs. By tasks."));
        assert!(long.caption.starts_with("From 90.5 s (1) to 2.25 d (2-4). By tasks. Median"));
        assert_eq!(long.value_axis, "median run time (d)");
        assert!((long.bars[1].value - 194_733.0 / 86_400.0).abs() < 1e-9);
        assert_eq!(long.bars[2].note, "unknown");
    }
}

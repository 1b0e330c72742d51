//! The charts of `load` by the size of jobs: how many jobs there are, how long they run and how
//! long they wait.
//!
//! In: the load of a lake. Out: a figure by size, by requested CPU and by requested memory. An
//! amount without classes has no figure: no job records it, or the size of a log's jobs already
//! shows it.

use super::{Loaded, WAITS_MIN, table};
use crate::charts::{Chart, ForestChart, ForestColumn, Interval, Scale, Tone, beside_name};
use crate::digits;
use crate::studies::load::jobs::FateRow;
use crate::studies::meter::Resource;

/// How charts sort jobs into classes.
struct Sizes {
    /// The end of the name of the file.
    stem: &'static str,
    /// The name of the classes in the title.
    of: &'static str,
    /// The amount that defines the classes, in words.
    by: String,
    /// The unit of a class: `tasks`, or the unit of a request.
    unit: &'static str,
    /// Whether the classes are requests, not sizes.
    is_of_requests: bool,
    rows: Vec<FateRow>,
}

impl Sizes {
    /// The label of a class: `2-4`, `4 to 16 GiB`.
    fn label(&self, name: &str) -> String {
        if self.is_of_requests { of_request(name, self.unit) } else { name.to_owned() }
    }

    /// The jobs of a class: `jobs of 2 to 4 tasks`, `jobs that request 4 to 16 GiB`.
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
        of: "size",
        by: format!("{noun} of the job"),
        unit: noun,
        is_of_requests: false,
        rows: sums.by_size(),
    };
    let requested = |resource, stem, of: &'static str, unit| Sizes {
        stem,
        of,
        by: format!("{} that the tasks of the job request together", resource_name(resource)),
        unit,
        is_of_requests: true,
        rows: sums.by_request(resource),
    };
    let requests = [
        (Resource::Cpu, "-cpu", "requested CPU", table::cpu_unit(load)),
        (Resource::Memory, "-memory", "requested memory", table::memory_unit(load)),
    ];
    let wants = |resource| loaded.plan.resource.is_none_or(|wanted| wanted == resource);
    let requests = requests.into_iter().filter(|(resource, ..)| wants(*resource));
    let requests = requests.map(|(resource, stem, of, unit)| requested(resource, stem, of, unit));
    std::iter::once(own)
        .chain(requests)
        .filter(|sizes| !sizes.rows.is_empty())
        .map(|sizes| (format!("load-size{}", sizes.stem), chart_of(&sizes, load.knows_waits)))
        .collect()
}

const fn resource_name(resource: Resource) -> &'static str {
    match resource {
        Resource::Memory => "memory",
        _ => "CPU",
    }
}

/// The number of jobs, their run times, waits and slowdowns by class, side by side.
fn chart_of(sizes: &Sizes, with_waits: bool) -> Chart {
    let (jobs, run) = (JOBS.drawn(sizes), RUN.drawn(sizes));
    let delays: Vec<Drawn> = [WAIT, SLOWDOWN]
        .iter()
        .filter(|_| with_waits)
        .map(|measure| measure.drawn(sizes))
        // Equal values show nothing, such as waits of 0 s or slowdowns of 1.
        .filter(|drawn| drawn.column.values.len() < 2 || !drawn.is_alike)
        .collect();
    let what = match delays.as_slice() {
        [] => "how long they run",
        [only] if only.column.axis == SLOWDOWN.axis => "how long they run and are slowed down",
        _ => "how long they run and wait",
    };
    let found: String = [&run].into_iter().chain(&delays).map(|own| own.found.as_str()).collect();
    let is_unknown = |own: &Drawn| own.column.values.iter().any(Option::is_none);
    let unknown = if is_unknown(&run) || delays.iter().any(is_unknown) {
        " A row without a value is of jobs of which it is not known."
    } else {
        ""
    };
    let lines = if delays.is_empty() { "" } else { ", lines go to the 95 % quantile" };
    let mut meanings: String = delays.iter().map(|own| own.meaning).collect();
    if delays.iter().any(|own| own.column.axis == SLOWDOWN.axis) {
        meanings.push_str(&of_short_jobs(&sizes.rows));
    }
    Chart::Forest(ForestChart {
        title: format!("Jobs by {}: how many, and {what}", sizes.of),
        caption: format!(
            "{}{found}By {}. All jobs of which a task is loaded; run times from the first start to the end, \
            of those that started and ended in the window. Dots are medians{lines}.{meanings}{unknown}",
            most(sizes),
            sizes.by
        ),
        rows: sizes.rows.iter().map(|row| sizes.label(&row.name)).collect(),
        columns: [jobs, run].into_iter().chain(delays).map(|drawn| drawn.column).collect(),
    })
}

/// The name of a class of requests for readers. Large numbers are in millions or billions, and
/// bytes are in a larger unit: `4 to 16 GiB` for `4194304 to 16777216` KiB.
pub(crate) fn of_request(name: &str, unit: &'static str) -> String {
    let units = table::several(unit);
    let Some((from, to)) = name.split_once(" to ") else { return format!("{name} {units}") };
    let (Ok(from), Ok(to)) = (from.parse::<f64>(), to.parse::<f64>()) else {
        return format!("{name} {units}");
    };
    if let Some(said) = super::units::of_fourfold(unit, [from, to]) {
        return said;
    }
    // In results of older versions, the edges are powers of ten.
    if let Some((unit, per)) = super::units::in_decimal(unit, from) {
        let shown = |value: f64| digits::three_digits(value / per);
        return format!("{} to {} {unit}", shown(from), shown(to));
    }
    let names = [(1e9, " billion"), (1e6, " million"), (1.0, "")];
    let (per, name) = names.into_iter().find(|name| name.0 <= to).unwrap_or((1.0, ""));
    // The edges are powers of ten.
    let shown = |value: f64| beside_name(value / per);
    format!("{} to {}{name} {units}", shown(from), shown(to))
}

/// The value that is drawn for each class.
struct Measure {
    of: fn(&FateRow) -> Option<f64>,
    /// The other end of the line that begins at the value.
    most: fn(&FateRow) -> Option<f64>,
    note: fn(f64) -> String,
    axis: &'static str,
    /// What the measure shows, as a sentence; `None` if the caption says it.
    said: Option<&'static str>,
    /// The definition of the measure, as a further sentence; empty if the caption has it.
    meaning: &'static str,
    /// Whether the measure is a time in seconds. It is drawn in a unit that suits the largest
    /// value.
    is_time: bool,
    /// If the ratio of two values is below this, they look the same.
    alike: f64,
    tone: Tone,
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
const JOBS: Measure = Measure {
    of: |row| Some(row.jobs as f64),
    most: |row| Some(row.jobs as f64),
    note: |count| digits::grouped_decimal(count, 0),
    axis: "jobs",
    said: None,
    meaning: "",
    is_time: false,
    alike: 1.05,
    tone: Tone::Ink,
};

const RUN: Measure = Measure {
    of: |row| row.run_s_median,
    most: |row| row.run_s_median,
    note: digits::lasting,
    axis: "median run time",
    said: Some("Median run times"),
    meaning: "",
    is_time: true,
    alike: 1.05,
    tone: Tone::Blue,
};

const WAIT: Measure = Measure {
    of: |row| row.wait_s_median,
    most: |row| row.wait_s_p95,
    axis: "wait, median to 95 %",
    said: Some("Median waits"),
    meaning: " Wait: from the submission to the first start, of jobs submitted in the window.",
    tone: Tone::Vermilion,
    ..RUN
};

const SLOWDOWN: Measure = Measure {
    of: |row| row.slowdown_median,
    most: |row| row.slowdown_p95,
    note: digits::three_digits,
    axis: "slowdown, median to 95 %",
    said: Some("Median slowdowns"),
    meaning: " Bounded slowdown: time from the submission to the end, divided by the run time (at least 10 s); \
        at least 1; of all jobs that started and ended, whatever their outcome.",
    is_time: false,
    // All values are about 1: nothing was slowed down.
    alike: 1.25,
    tone: Tone::Green,
};

/// A measure of all classes.
struct Drawn {
    /// The smallest and the largest value in words.
    found: String,
    column: ForestColumn,
    /// The definition of the measure, as a further sentence.
    meaning: &'static str,
    /// Whether all values, and all ends of lines, are about equal.
    is_alike: bool,
}

impl Measure {
    fn drawn(&self, sizes: &Sizes) -> Drawn {
        let rows = &sizes.rows;
        let all = |of: fn(&FateRow) -> Option<f64>| rows.iter().filter_map(of);
        // The median of only a few jobs says little.
        let many = rows.iter().filter(|row| WAITS_MIN <= row.jobs_ended);
        let known: Vec<(f64, String)> =
            many.filter_map(|row| Some(((self.of)(row)?, sizes.jobs(&row.name)))).collect();
        let are_all = known.len() == all(self.of).count();
        let least = known.iter().min_by(|one, other| one.0.total_cmp(&other.0));
        let most = known.iter().max_by(|one, other| one.0.total_cmp(&other.0));
        let range = least.zip(most).filter(|(least, most)| least.0 < most.0);
        let found = range.zip(self.said).map_or_else(String::new, |((least, most), said)| {
            let told = |of: &(f64, String)| format!("{} for {}", (self.note)(of.0), of.1);
            let of = if are_all {
                String::new()
            } else {
                format!(" (of classes with {WAITS_MIN} jobs or more)")
            };
            format!("{said} range from {} to {}{of}. ", told(least), told(most))
        });
        let positive = || all(self.of).chain(all(self.most)).filter(|value| 0.0 < *value);
        let low = positive().fold(f64::INFINITY, f64::min);
        let high = positive().fold(0.0, f64::max);
        let is_far = FAR_APART * low <= high;
        // If values are far apart, the unit is chosen for the middle of the logarithmic axis.
        let (unit, per) = digits::unit_of_time(if is_far { (low * high).sqrt() } else { high });
        let (axis, per) = if self.is_time {
            (format!("{} ({unit})", self.axis), per)
        } else {
            (self.axis.to_owned(), 1.0)
        };
        let value = |row: &FateRow| {
            let value = (self.of)(row)? / per;
            let high = (self.most)(row).map_or(value, |most| most / per);
            Some(Interval { low: value.min(high), value, high })
        };
        // The text gives the dot and the end of its line.
        let note = |row: &FateRow| {
            let [value, most] = [self.of, self.most].map(|of| of(row).map(self.note));
            match (value, most) {
                (Some(value), Some(most)) if value != most => format!("{value} to {most}"),
                (value, _) => value.unwrap_or_default(),
            }
        };
        let column = ForestColumn {
            notes: rows.iter().map(note).collect(),
            scale: if is_far { Scale::Log } else { Scale::Linear },
            ..ForestColumn::new(axis, rows.iter().map(value).collect(), self.tone)
        };
        let meaning = self.meaning;
        Drawn {
            found,
            column,
            meaning,
            is_alike: [self.of, self.most].into_iter().all(|of| are_alike(all(of), self.alike)),
        }
    }
}

/// If the largest value is at least this many times the smallest, the axis is logarithmic.
const FAR_APART: f64 = 100.0;

/// Whether the largest value is less than `alike` times the smallest, or equal to it, so that
/// points would look the same.
fn are_alike(values: impl Iterator<Item = f64>, alike: f64) -> bool {
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    most < least * alike || most == least
}

/// If the mean slowdown of all jobs is at least this many times that of longer jobs, short jobs
/// explain it.
const RAISED: f64 = 1.5;

/// A further sentence that says how much very short jobs raise slowdowns; empty if the effect is
/// small.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn of_short_jobs(rows: &[FateRow]) -> String {
    let mean = |of: fn(&FateRow) -> (Option<f64>, u64)| {
        let known = rows.iter().map(of).filter_map(|(mean, jobs)| Some((mean?, jobs as f64)));
        let (sum, jobs) =
            known.fold((0.0, 0.0), |sums, (mean, jobs)| (sums.0 + mean * jobs, sums.1 + jobs));
        (0.0 < jobs).then(|| sum / jobs)
    };
    let all = mean(|row| (row.slowdown_mean, row.slowdowns));
    let longer = mean(|row| (row.slowdown_mean_of_longer, row.slowdowns - row.jobs_under_10s));
    let raised = all.zip(longer).filter(|(all, longer)| RAISED * longer <= *all);
    let [short, jobs] = [|row: &FateRow| row.jobs_under_10s, |row: &FateRow| row.slowdowns]
        .map(|of| rows.iter().map(of).sum());
    raised.map_or_else(String::new, |(all, longer)| {
        format!(
            " {} of {} ran for less than 10 s, which makes slowdowns large if they waited: the mean \
            slowdown of all is {}, without these jobs {}.",
            digits::grouped(short),
            digits::counted(jobs, "job"),
            digits::three_digits(all),
            digits::three_digits(longer)
        )
    })
}

/// The class with most jobs: `Most are jobs of 5 to 16 tasks: 11,581 of 11,704 jobs. `; empty if
/// there is only one class.
fn most(sizes: &Sizes) -> String {
    let rows = &sizes.rows;
    let all: u64 = rows.iter().map(|row| row.jobs).sum();
    let most = rows.iter().max_by_key(|row| row.jobs).filter(|_| 1 < rows.len());
    most.map_or_else(String::new, |most| {
        let which = if all < 2 * most.jobs { "Most are" } else { "The largest class is that of" };
        format!(
            "{which} {}: {} of {}. ",
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
            ("4194304 to 16777216", "KiB", "4 to 16 GiB"),
            ("1000000 to 10000000", "KiB", "1.02 to 10.2 GB"),
            ("1000 to 10000", "KiB", "1.02 to 10.2 MB"),
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

    #[test]
    fn short_jobs_are_said_if_they_raise_slowdowns() {
        let row = |all, longer| FateRow {
            slowdowns: 10,
            jobs_under_10s: 4,
            slowdown_mean: Some(all),
            slowdown_mean_of_longer: Some(longer),
            ..FateRow::default()
        };
        assert_eq!(
            of_short_jobs(&[row(100.0, 2.0), row(200.0, 4.0)]),
            " 8 of 20 jobs ran for less than 10 s, which makes slowdowns large if they waited: the mean \
            slowdown of all is 150, without these jobs 3."
        );
        assert_eq!(of_short_jobs(&[row(2.9, 2.0)]), "");
        assert_eq!(of_short_jobs(&[FateRow::default()]), "");
    }

    fn of(unit: &'static str, rows: Vec<FateRow>) -> Sizes {
        Sizes { stem: "", of: "size", by: unit.to_owned(), unit, is_of_requests: false, rows }
    }

    fn columns(sizes: &Sizes, with_waits: bool) -> (String, Vec<ForestColumn>) {
        let Chart::Forest(chart) = chart_of(sizes, with_waits) else { panic!() };
        (chart.caption, chart.columns)
    }

    #[test]
    fn lines_go_from_the_median_to_the_quantile_unless_all_are_equal() {
        let row = |name: &str, median, most| FateRow {
            name: name.to_owned(),
            jobs: 5,
            jobs_ended: 10,
            run_s_median: Some(60.0),
            wait_s_median: Some(median),
            wait_s_p95: Some(most),
            slowdown_median: Some(1.0),
            slowdown_p95: Some(1.02),
            ..FateRow::default()
        };
        let mut sizes = of("tasks", vec![row("1", 0.0, 70.0), row("2-4", 3.0, 9.0)]);
        let (caption, all) = columns(&sizes, true);
        assert_eq!(all.len(), 3, "slowdowns are about equal");
        assert!(!caption.contains("slowdown"), "{caption}");
        let told = "Median waits range from 0 s for jobs of 1 task to 3 s for jobs of 2 to 4 tasks. By tasks.";
        assert!(caption.contains(told), "{caption}");
        let wait = &all[2];
        assert_eq!((wait.axis.as_str(), wait.scale), ("wait, median to 95 % (s)", Scale::Linear));
        assert_eq!(wait.values[0], Some(Interval { low: 0.0, value: 0.0, high: 70.0 }));
        assert_eq!(wait.notes, ["0 s to 70 s", "3 s to 9 s"]);
        // Equal medians are still drawn if a quantile differs.
        sizes.rows[0].slowdown_p95 = Some(7.0);
        let (caption, all) = columns(&sizes, true);
        assert!(
            all.len() == 4
                && caption.contains(" Wait: ")
                && caption.contains(" Bounded slowdown: ")
        );
        assert_eq!(columns(&sizes, false).1.len(), 2);
    }

    #[test]
    fn times_are_drawn_in_a_unit_that_says_more_and_captions_name_the_extremes() {
        let row = |name: &str, jobs, run_s_median| FateRow {
            name: name.to_owned(),
            jobs,
            jobs_ended: if jobs == 1 { 9 } else { 10 },
            run_s_median,
            ..FateRow::default()
        };
        let mut rows =
            vec![row("1", 2, Some(90.5)), row("2-4", 8, Some(194_733.0)), row("5", 1, None)];
        // The class is drawn, but too few jobs have ended for a sentence.
        rows.push(row("6-8", 1, Some(30.0)));
        let (caption, all) = columns(&of("tasks", rows), false);
        let most = "Most are jobs of 2 to 4 tasks: 8 of 12 jobs. Median run times range from 90.5 s for jobs of 1 \
            task to 2.25 d for jobs of 2 to 4 tasks (of classes with 10 jobs or more). By tasks. ";
        assert!(caption.starts_with(most), "{caption}");
        let [jobs, long] = &all[..] else { panic!() };
        assert_eq!((jobs.scale, long.scale), (Scale::Linear, Scale::Log));
        assert_eq!(long.axis, "median run time (min)");
        let value = long.values[1].unwrap().value;
        assert!((value - 194_733.0 / 60.0).abs() < 1e-9);
        assert_eq!((long.values[2], long.notes[2].as_str()), (None, ""));
    }
}

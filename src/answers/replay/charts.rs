//! Charts of replays: response times, queue and use over time, and the machine of each task.

use super::{MENTIONED, RECORD, Run, Setting, gantt, killed, longer, tone};
use crate::answers::sentences::{Capacity, MOST_USED, percent};
use crate::charts::{Bar, BarChart, Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::digits::{self, lasting, unit_of_time};
use crate::replay::history::{AtTime, Counts};
use crate::replay::metrics::{GpuSample, Sample, Spread};
use crate::units::micros_to_seconds;

/// The most policies in a chart over time.
const LINES_MAX: usize = 6;

/// The charts of one seed's replays, by the stem of their files.
pub fn of(runs: &[Run], setting: &Setting) -> Vec<(String, Chart)> {
    let caption = caption_of(setting);
    // Tasks are in order of arrival.
    let workload = &setting.history.workload;
    let first_us = if workload.task_count == 0 { 0 } else { workload.arrival_us.get(0) };
    let begin_s = micros_to_seconds(first_us);
    let (axis, since_s) = setting.absent.axis(begin_s);
    let frame = Frame { runs, setting, begin_s, since_s, axis, caption: &caption };
    let samples: Vec<Sample> = runs.iter().flat_map(|run| run.metrics.samples.clone()).collect();
    let idle = idle_end(&samples, begin_s);
    let last_s = samples.iter().map(|sample| sample.time_s).fold(0.0, f64::max);
    let until_s = idle.as_ref().map_or(f64::INFINITY, |idle| idle.from_s).min(last_s);
    let until =
        Until { at_s: until_s, said: idle.map_or_else(String::new, |idle| idle.said(since_s)) };
    let response = responses(runs, &caption, setting);
    let mut charts = Vec::new();
    // If no task ever waits, all policies give the same result. Charts of responses and queues
    // would then be meaningless.
    let waits = |run: &Run| run.metrics.waiting_s.is_none_or(|waiting| 0.0 < waiting.max);
    if runs.iter().any(waits) {
        let of_policies = runs.iter().filter_map(|run| run.metrics.responses_of_whole_jobs());
        if are_apart(of_policies.map(|spread| spread.mean)) {
            charts.push(("replay-response".to_owned(), Chart::Bars(response)));
        }
        charts.push(("replay-queue".to_owned(), queue(&frame, &until)));
        charts.extend(waits_of_tasks(runs, setting, &caption));
    }
    charts.push(("replay-utilisation".to_owned(), in_use(&frame, until)));
    if setting.has_fragmentation {
        // In this chart, an idle end is not cut off.
        let chart = free_gpus(runs, setting, begin_s, &caption);
        let chart = setting.absent.over_time(chart, since_s, 3600.0);
        charts.push(("replay-gpus".to_owned(), chart));
    }
    charts.extend(gantts(runs, setting, &caption));
    charts
}

/// The common parts of the charts over time.
struct Frame<'a> {
    runs: &'a [Run],
    setting: &'a Setting,
    /// The first arrival, s.
    begin_s: f64,
    /// Where the axis starts on the clock of the replay, s.
    since_s: f64,
    /// The title of the axis of time.
    axis: &'static str,
    caption: &'a str,
}

/// The end of a chart over time.
struct Until {
    at_s: f64,
    /// Sentences about what is not drawn; may be empty.
    said: String,
}

/// The record in a chart over time.
struct Record<'a> {
    /// Its name in the legend of the chart.
    name: &'static str,
    value: fn(&AtTime) -> Option<f64>,
    /// Sentences that describe it.
    said: &'a str,
}

impl Frame<'_> {
    /// A line per policy, and the record if it is known. The caption begins with the description of
    /// the record.
    fn over_time(
        &self,
        [title, axis, unit]: [&str; 3],
        (until, record): (&Until, &Record<'_>),
        value: impl Fn(&Sample) -> Option<f64>,
    ) -> Chart {
        let absent = self.setting.absent.within([self.begin_s, until.at_s]);
        let hours = |time_s: f64| (time_s - self.since_s) / 3600.0;
        let is_drawn = |time_s: f64| time_s <= until.at_s && !absent.has(time_s);
        let point = |sample: &Sample| {
            let drawn = Some((hours(sample.time_s), value(sample)?));
            drawn.filter(|_| is_drawn(sample.time_s))
        };
        let most = |run: &Run| {
            let drawn = run.metrics.samples.iter().filter_map(point);
            let most = drawn.map(|point| point.1).reduce(f64::max)?;
            Some((format!("{}{unit}", digits::three_digits(most)), run.label.clone()))
        };
        let most: Vec<_> = self.runs.iter().take(LINES_MAX).filter_map(most).collect();
        let most = Some(at_most(&most)).filter(|said| !said.is_empty());
        let most =
            most.map_or_else(String::new, |said| format!("Highest of the drawn points: {said}. "));
        let rows = self.setting.recorded.iter().filter(|row| is_drawn(row.time_s));
        let own = rows.filter_map(|row| Some((hours(row.time_s), (record.value)(row)?)));
        let own: Vec<(f64, f64)> = own.collect();
        let mut caption = format!("{most}{}{}", until.said, self.caption);
        if !own.is_empty() {
            let until = known_until(self.setting, self.since_s, until.at_s);
            caption = format!("{} {caption}{until}", record.said);
        }
        let chart = lines(self.runs, [title, &caption, self.axis, axis], |run| {
            run.metrics.samples.iter().filter_map(point).collect()
        });
        absent.over_time(with_record(chart, record.name, own), self.since_s, 3600.0)
    }
}

/// The number of waiting tasks over time.
fn queue(frame: &Frame<'_>, until: &Until) -> Chart {
    let counts = &frame.setting.history.counts;
    let said = waits_of_record(counts);
    let name = if is_of_some(counts) { RECORD_OF_SOME } else { RECORD };
    let record = Record { name, value: |row| Some(row.waiting), said: &said };
    let titles = ["Tasks that wait", "tasks waiting", ""];
    frame.over_time(titles, (until, &record), |sample| Some(sample.waiting))
}

/// The CPU that running tasks request. The capacity counts once, as on the page about load, even
/// with overcommitment.
fn in_use(frame: &Frame<'_>, until: Until) -> Chart {
    let setting = frame.setting;
    let axis =
        format!("CPU requested (% of {})", setting.capacity.or_used("the machines' capacity"));
    let overcommit = setting.history.overcommit;
    let percent_of = |share: f64| share * overcommit * 100.0;
    let said = cpu_of_record(setting);
    let said = with_limit(said, overcommit);
    let value: fn(&AtTime) -> Option<f64> = |row| row.cpu_share.map(|share| share * 100.0);
    let record = Record { name: RECORD, value, said: &said };
    let last_s = setting.recorded.last().map(|row| row.time_s);
    let cut = setting.history.counts.still_running;
    let until = until_end_of_record(until, (last_s, cut), frame.since_s);
    let titles = ["CPU requested by running tasks", &axis, " %"];
    let chart =
        frame.over_time(titles, (&until, &record), |sample| sample.cpu_share.map(percent_of));
    if setting.recorded.is_empty() {
        with_sentence(chart, &with_limit(String::new(), overcommit))
    } else {
        chart
    }
}

/// The end of the chart. If the record ends earlier and the window cuts tasks, the chart ends with
/// the record: these tasks get no more work in the replays, so the curves would fall for a reason
/// that has nothing to do with the policies.
fn until_end_of_record(until: Until, (last_s, cut): (Option<f64>, u64), since_s: f64) -> Until {
    match last_s {
        Some(at_s) if 0 < cut && at_s < until.at_s => Until {
            at_s,
            said: format!(
                "Not drawn: the time after {}, where the window ends: what still ran then, {}, gets no more \
                work in the replays. ",
                lasting(at_s - since_s),
                digits::counted(cut, "task")
            ),
        },
        _ => until,
    }
}

/// The chart of tasks that wait longer than a time, if enough tasks wait.
fn waits_of_tasks(runs: &[Run], setting: &Setting, caption: &str) -> Option<(String, Chart)> {
    let drawn = &runs[..runs.len().min(LINES_MAX)];
    let recorded = setting.history.over_time.as_ref().map_or(&[][..], |all| all.waits_s());
    let task_count = setting.history.workload.task_count;
    let chart = longer::chart(drawn, (task_count, recorded), caption);
    chart.map(|chart| ("replay-longer".to_owned(), chart))
}

/// What is replayed, and on which machines.
fn caption_of(setting: &Setting) -> String {
    let used = match setting.capacity {
        Capacity::Recorded => String::new(),
        Capacity::FromUse => format!(" The capacity is {MOST_USED} in the log."),
    };
    format!(
        "{} of {} on {}.{used}",
        digits::counted(setting.history.counts.tasks, "recorded task"),
        digits::counted(setting.history.counts.jobs, "job"),
        setting.machines(),
    )
}

/// A further sentence that the record ends before the chart does; otherwise empty.
fn known_until(setting: &Setting, since_s: f64, last_s: f64) -> String {
    match setting.recorded.last() {
        Some(row) if row.time_s < last_s => {
            format!(" The record is drawn until {}.", lasting(row.time_s - since_s))
        }
        _ => String::new(),
    }
}

/// The name of the record if it has only some of the waits on the page about load.
const RECORD_OF_SOME: &str = "as recorded, first attempts of replayed tasks";

/// Whether the record also has waits of other tasks, or later waits of the same tasks.
const fn is_of_some(counts: &Counts) -> bool {
    0 < counts.left_out || 0 < counts.dropped_attempts
}

/// Which waits the record has, and which further waits the page about load has.
fn waits_of_record(counts: &Counts) -> String {
    let left = (0 < counts.left_out).then(|| {
        let left = digits::counted(counts.left_out, "task");
        format!("{left} with too little data for a replay")
    });
    let again =
        (0 < counts.dropped_attempts).then(|| "waits after an eviction or a loss".to_owned());
    let more = [left, again].into_iter().flatten().collect::<Vec<String>>().join(" and ");
    let mut said = if more.is_empty() {
        "As recorded: the same tasks before their first attempt.".to_owned()
    } else {
        format!(
            "As recorded: only first attempts of replayed tasks; the queue on the page about load also has \
            {more}."
        )
    };
    if 0 < counts.began_before {
        said.push_str(
            " Waits of tasks that were submitted before the window are not known in full.",
        );
    }
    said
}

/// The attempts in the record of requested CPU, and the share of them that is not replayed.
fn cpu_of_record(setting: &Setting) -> String {
    let share = setting.history.schedule.and_then(|schedule| schedule.dropped_cpu_share);
    match share.filter(|share| MENTIONED <= *share) {
        Some(share) => format!(
            "As recorded: all attempts; those with {} of this CPU time, which ended with an eviction, a loss or \
            a resubmission, are not replayed.",
            percent(share)
        ),
        None => "As recorded: all attempts of these tasks and of those left out, replayed or not."
            .to_owned(),
    }
}

/// The lines of a chart over time.
fn lines_of(chart: &mut Chart) -> Option<&mut LineChart> {
    match chart {
        Chart::Lines(lines) => Some(lines),
        Chart::Timed(timed) => match &mut *timed.chart {
            Chart::Lines(lines) => Some(lines),
            _ => None,
        },
        _ => None,
    }
}

/// The same chart with the record as a further line, if it has any point.
fn with_record(mut chart: Chart, name: &str, points: Vec<(f64, f64)>) -> Chart {
    if let Some(lines) = lines_of(&mut chart).filter(|_| !points.is_empty()) {
        lines.lines.push(Line {
            name: name.to_owned(),
            points,
            band: Vec::new(),
            tone: Tone::Grey,
            stroke: Stroke::Straight,
        });
    }
    chart
}

/// The sentences, followed by how full the machines may get, if that is not 100 %.
fn with_limit(said: String, overcommit: f64) -> String {
    if overcommit == 1.0 {
        return said;
    }
    let space = if said.is_empty() { "" } else { " " };
    format!("{said}{space}Policies fill machines up to {} of their capacity.", percent(overcommit))
}

/// The same chart with a further sentence in its caption; unchanged if the sentence is empty.
fn with_sentence(mut chart: Chart, said: &str) -> Chart {
    if let Some(lines) = lines_of(&mut chart).filter(|_| !said.is_empty()) {
        lines.caption = format!("{} {said}", lines.caption);
    }
    chart
}

/// The free GPUs that tasks cannot use, over time.
fn free_gpus(runs: &[Run], setting: &Setting, begin_s: f64, caption: &str) -> Chart {
    let title = "Free GPUs that cannot be given to a task of the workload, the mean over tasks";
    let (axis, since_s) = setting.absent.axis(begin_s);
    let point = |sample: &GpuSample| {
        let hours = (sample.time_s - since_s) / 3600.0;
        (0.0 < sample.free).then(|| (hours, sample.expected / sample.free))
    };
    lines(runs, [title, caption, axis, "share of the free GPUs"], |run| {
        run.gpus.iter().flat_map(|gpus| &gpus.samples).filter_map(point).collect()
    })
}

/// The machine and time of each task, for each policy under which tasks wait. Policies with the
/// same journal share one chart.
fn gantts<'a>(
    runs: &'a [Run],
    setting: &'a Setting,
    caption: &'a str,
) -> impl Iterator<Item = (String, Chart)> + 'a {
    let is_first = |place: &usize| {
        runs[..*place].iter().all(|earlier| earlier.journal != runs[*place].journal)
    };
    // An evicted task may wait although every task starts immediately.
    let has_queue =
        |place: &usize| runs[*place].metrics.samples.iter().any(|sample| 0.0 < sample.waiting);
    let places = (0..runs.len()).filter(has_queue).filter(is_first);
    places.filter_map(move |place| {
        let run = &runs[place];
        let same = runs[place + 1..].iter().filter(|later| later.journal == run.journal);
        let same: Vec<&str> = same.map(|later| later.label.as_str()).collect();
        let same = if same.is_empty() {
            String::new()
        } else {
            format!(" The same under {}.", same.join(" and "))
        };
        let gantt = gantt::chart(run, setting, &format!("{caption}{same}"))?;
        Some((format!("replay-gantt-{}", place + 1), gantt))
    })
}

/// The end of a replay in which hardly anything runs. It would leave most of a chart blank.
struct Idle {
    /// The start of the idle end, s.
    from_s: f64,
    /// The largest share of the CPU that is in use after the start.
    most: f64,
}

impl Idle {
    /// The idle end is a time in which no task waits, and CPU use is at most this share of the
    /// largest use.
    const BELOW: f64 = 0.05;

    /// An idle end that is shorter than this share of the replay is drawn.
    const FROM: f64 = 0.2;

    fn said(&self, since_s: f64) -> String {
        format!(
            "Not drawn: the time after {}, in which nothing waits and no point is above {} of the \
            CPU. ",
            lasting(self.from_s - since_s),
            percent(self.most)
        )
    }
}

/// The idle end of all runs; `None` if it is short.
fn idle_end(samples: &[Sample], begin_s: f64) -> Option<Idle> {
    let samples = || samples.iter();
    let share = |sample: &Sample| sample.cpu_share.unwrap_or(0.0);
    let most = samples().map(share).fold(0.0, f64::max);
    let is_busy = |sample: &&Sample| 0.0 < sample.waiting || Idle::BELOW * most < share(sample);
    let from_s = samples().filter(is_busy).map(|sample| sample.time_s).reduce(f64::max)?;
    let end_s = samples().map(|sample| sample.time_s).reduce(f64::max)?;
    let after = samples().filter(|sample| from_s < sample.time_s);
    let idle = Idle { from_s, most: after.map(share).fold(0.0, f64::max) };
    (Idle::FROM * (end_s - begin_s) < end_s - from_s).then_some(idle)
}

/// The maximum under each policy; a single value if all are equal.
fn at_most(most: &[(String, String)]) -> String {
    match most {
        [] => String::new(),
        [(first, _), _, ..] if most.iter().all(|(own, _)| own == first) => {
            format!("{first} under each policy")
        }
        _ => {
            let all = most.iter().map(|(own, policy)| format!("{own} under {policy}"));
            all.collect::<Vec<String>>().join(", ")
        }
    }
}

/// The effect of kill rules, policy by policy.
fn kills(runs: &[Run]) -> String {
    let first = runs.first();
    let all = runs.iter().filter_map(|run| {
        let first = first?;
        let labels = [run.label.as_str(), first.label.as_str()];
        let (tasks, harmed) = (run.metrics.condemned_tasks, run.paired.harmed);
        killed(labels, tasks, harmed, run.cpu_saved_share(first))
    });
    all.flat_map(|said| [said, ". ".to_owned()]).collect()
}

/// The name of a policy, the responses of its jobs, and its tone.
type Known<'a> = (&'a str, Spread, Tone);

/// Mean response times, with a bar for each policy and one for the record.
fn responses(runs: &[Run], caption: &str, setting: &Setting) -> BarChart {
    let policies: Vec<Known<'_>> = runs
        .iter()
        .enumerate()
        .filter_map(|(place, run)| {
            Some((run.label.as_str(), run.metrics.responses_of_whole_jobs()?, tone(place)))
        })
        .collect();
    let by_mean = |one: &&Known<'_>, other: &&Known<'_>| one.1.mean.total_cmp(&other.1.mean);
    let (least, most) = (policies.iter().min_by(by_mean), policies.iter().max_by(by_mean));
    let found = least.zip(most).map_or_else(String::new, |(least, most)| {
        format!(
            "The mean is {} under {} and {} under {}. ",
            lasting(least.1.mean),
            least.0,
            lasting(most.1.mean),
            most.0
        )
    });
    let is_of_whole = runs.iter().any(|run| run.metrics.whole_job_response_s.is_some());
    let whole = if is_of_whole { " Without jobs that the end of the window cuts." } else { "" };
    // At another load, or if users react, jobs do not arrive at their recorded times.
    let schedule = setting.history.over_time.as_ref().and(setting.history.schedule);
    let record = schedule.and_then(|schedule| schedule.responses_of_whole_jobs());
    let record = record.map(|spread| (RECORD, spread, Tone::Grey));
    let left_out = if record.is_some() { RECORD_WAITS_MORE } else { "" };
    let known: Vec<Known<'_>> = policies.into_iter().chain(record).collect();
    let (unit, per) = unit_of_time(known.iter().map(|row| row.1.mean).fold(0.0, f64::max));
    let bars = known.iter().map(|(label, spread, tone)| Bar {
        label: (*label).to_owned(),
        value: spread.mean / per,
        note: format!(
            "mean {}, median {}, p95 {}, p99 {}",
            lasting(spread.mean),
            lasting(spread.median),
            lasting(spread.p95),
            lasting(spread.p99)
        ),
        tone: *tone,
        part: None,
    });
    BarChart {
        title: "Response time of jobs under each policy".to_owned(),
        caption: format!("{}{found}{left_out}{caption}{whole}", kills(runs)),
        value_axis: format!("mean response time ({unit})"),
        bars: bars.collect(),
    }
}

/// The reason why the bar of the record cannot be compared with those of policies.
const RECORD_WAITS_MORE: &str =
    "As recorded: with everything that made jobs wait, which a replay leaves out. ";

/// Whether values differ so much that bars show it: the largest is at least 5 % above the smallest.
fn are_apart(values: impl Iterator<Item = f64> + Clone) -> bool {
    const APART: f64 = 0.05;
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    least * (1.0 + APART) <= most
}

/// A line for each policy over the hours of the replay, with the title, the caption and the y axis.
fn lines(
    runs: &[Run],
    [title, caption, x_axis, y_axis]: [&str; 4],
    points: impl Fn(&Run) -> Vec<(f64, f64)>,
) -> Chart {
    let lines = runs.iter().take(LINES_MAX).enumerate().map(|(place, run)| Line {
        name: run.label.clone(),
        points: points(run),
        band: Vec::new(),
        tone: tone(place),
        stroke: Stroke::Straight,
    });
    Chart::Lines(LineChart {
        title: title.to_owned(),
        caption: caption.to_owned(),
        x_axis: x_axis.to_owned(),
        y_axis: y_axis.to_owned(),
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines: lines.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{
        Until, are_apart, idle_end, is_of_some, until_end_of_record, waits_of_record, with_limit,
    };
    use crate::replay::history::Counts;
    use crate::replay::metrics::Sample;

    #[test]
    fn the_recorded_queue_says_which_waits_it_lacks() {
        let all = Counts::default();
        assert!(!is_of_some(&all));
        assert_eq!(
            waits_of_record(&all),
            "As recorded: the same tasks before their first attempt."
        );
        let some = Counts { left_out: 15_811, dropped_attempts: 7, began_before: 3, ..all };
        assert!(is_of_some(&some));
        assert_eq!(
            waits_of_record(&some),
            "As recorded: only first attempts of replayed tasks; the queue on the page about load also has \
            15,811 tasks with too little data for a replay and waits after an eviction or a loss. Waits of \
            tasks that were submitted before the window are not known in full."
        );
        let one = Counts { left_out: 1, ..all };
        assert!(
            waits_of_record(&one).ends_with("also has 1 task with too little data for a replay.")
        );
    }

    #[test]
    fn the_use_is_drawn_until_the_window_cuts_tasks() {
        let until = |last_s, cut| {
            let until = Until { at_s: 97_200.0, said: "Idle. ".to_owned() };
            let found = until_end_of_record(until, (last_s, cut), 0.0);
            (found.at_s, found.said)
        };
        let idle = (97_200.0, "Idle. ".to_owned());
        assert_eq!(until(Some(90_720.0), 0), idle, "no task is cut");
        assert_eq!(until(None, 7), idle, "the record is unknown");
        assert_eq!(until(Some(97_200.0), 7), idle, "the chart ends there");
        let (at_s, said) = until(Some(90_720.0), 7);
        assert_eq!(at_s, 90_720.0);
        let expected = "Not drawn: the time after 25.2 h, where the window ends: what still ran then, 7 tasks, \
            gets no more work in the replays. ";
        assert_eq!(said, expected);
    }

    #[test]
    fn how_full_machines_may_get_is_said_unless_it_is_whole() {
        assert_eq!(with_limit("All.".to_owned(), 1.0), "All.");
        let said = with_limit("All.".to_owned(), 1.48);
        assert_eq!(said, "All. Policies fill machines up to 148.0 % of their capacity.");
    }

    #[test]
    fn an_end_in_which_hardly_anything_runs_is_not_drawn() {
        let sample = |hour: u32, share: f64, waiting: f64| Sample {
            time_s: f64::from(hour) * 3600.0,
            cpu_share: Some(share),
            waiting,
        };
        let busy = (1..=25).map(|hour| sample(hour, 0.8, 0.0));
        let tail =
            |share: f64, waiting: f64| (26..=72).map(move |hour| sample(hour, share, waiting));
        let idle = |tail: &mut dyn Iterator<Item = Sample>| {
            idle_end(&busy.clone().chain(tail).collect::<Vec<Sample>>(), 0.0)
        };
        let found = idle(&mut tail(0.01, 0.0)).unwrap();
        assert_eq!(
            found.said(0.0),
            "Not drawn: the time after 25 h, in which nothing waits and no point is above 1.0 % of the CPU. "
        );
        assert!(idle(&mut tail(0.01, 2.0)).is_none(), "tasks wait");
        assert!(idle(&mut tail(0.1, 0.0)).is_none(), "machines are in use");
        assert!(idle(&mut tail(0.01, 0.0).take(5)).is_none(), "it is short");
        assert!(idle_end(&[], 0.0).is_none());
    }

    #[test]
    fn bars_are_drawn_of_what_differs_by_a_twentieth() {
        let check = |values: &[f64]| are_apart(values.iter().copied());
        assert!(check(&[100.0, 105.0]) && check(&[52.0, 49.0, 49.9]));
        assert!(!check(&[21.9, 21.5, 22.3]), "bars that look alike");
        assert!(!check(&[772.892, 768.915, 773.546]));
        assert!(!check(&[5.0]) && !check(&[]));
    }
}

//! Pages of single machines.
//!
//! In: the machines that left most often, each in detail. Out: a page per machine with its load
//! over time, the longest attempts on it, its outages and its jobs. Pages are named by the number
//! of the machine, so no name becomes a path. Pages of fairness in the same folder, some of them
//! for classes of machines, have names that begin with a zero.

use std::fmt::Write;

use rayon::prelude::*;

use super::early::whole_from;
use super::gantt::Bars;
use super::html::{self, Cell, Page};
use super::links::{Links, file_of_machine};
use super::text::{clock, escape, figure_text, is_date, lasting, percent_said};
use crate::answers::account::{self, AccountAnswer};
use crate::answers::machines::{
    JobThere, LoadedHours, MachineDetail, MachineDetails, MachinesAnswer, OutageSpan,
};
use crate::charts::{
    Area, AreaChart, Chart, DAYS_OF_TRACE, GanttChart, GanttSpan, HOURS_OF_TRACE, Tone, svg_of,
};
use crate::digits::{counted, grouped};
use crate::lake::Gap;
use crate::results::Stored;
use crate::results::missing::Missing;
use crate::schema::{Source, Table};
use crate::studies::meter::{CpuDefinition, MemoryDefinition};

const HOUR_S: f64 = 3600.0;
const DAY_S: f64 = 86_400.0;

/// The pages of the machines of a result.
pub(super) fn pages(result: &Stored, all: &[Stored], within: &'static str) -> Vec<Page> {
    let links = Links::of(all);
    let Some(MachineDetails { load, machines }) = result.found() else { return Vec::new() };
    let missing = missing(result.whole.inputs.iter().flat_map(|input| &input.gaps))
        .whole_from(whole_from(all));
    let page = |own: &MachineDetail| page(result, own, (*load, &missing), &links, within);
    machines.par_iter().map(page).collect()
}

/// The share of all CPU time in attempts that were evicted or killed with their machine. Empty for
/// other results, or if it is unknown.
pub(super) fn ended_with_machines(result: &Stored, all: &[Stored]) -> String {
    let is_studied = result.name == crate::answers::machines::KIND.name;
    let ran = is_studied.then(|| result.found::<MachinesAnswer>()).flatten();
    let total = all.iter().find(|own| own.name == account::KINDS[0].name);
    let total = total.and_then(Stored::found::<AccountAnswer>);
    let said = ran.zip(total).and_then(|(own, account)| {
        let (ran, total_s) = (own.ran.as_ref()?, account.total.filter(|total_s| 0.0 < *total_s)?);
        let ended =
            ran.rows.iter().filter(|row| matches!(row.ended.as_str(), "evicted" | "killed"));
        let ended_s: f64 = ended.map(|row| row.cpu_s).sum();
        let is_same = account.unit == own.unit && 0.0 < ended_s;
        is_same.then(|| percent_said(ended_s / total_s))
    });
    said.map_or_else(String::new, |share| {
        format!("<p>What was evicted or killed with its machine had run for {share} of all CPU time.</p>\n")
    })
}

/// The times for which the drawn data of a machine is not in the log.
pub(crate) fn missing<'a>(gaps: impl IntoIterator<Item = &'a Gap>) -> Missing {
    Missing::of(gaps, &[Table::TaskEvents, Table::MachineEvents])
}

fn known(number: Option<f64>) -> String {
    number.map_or_else(|| "-".to_owned(), figure_text)
}

fn page(
    result: &Stored,
    own: &MachineDetail,
    (load, missing): (LoadedHours, &Missing),
    links: &Links,
    within: &'static str,
) -> Page {
    let id = own.machine_id;
    let title = format!("Machine {id}");
    let mut body =
        format!("<p><a href=\"../{within}#{}\">All machines with a page</a></p>\n", result.name);
    let share = own.cpu_requested_share;
    let share = share.map_or_else(String::new, |share| {
        format!(
            "; they requested {:.1} % of its CPU, over the time for which both are known",
            share * 100.0
        )
    });
    let _ = writeln!(
        body,
        "<p class=\"answer\">It left {} and was away for {} in total, in {} of machine events. {}{} of {} \
        ran on it{share}.</p>",
        counted(own.outage_count, "time"),
        lasting(own.away_s),
        lasting(load.machines_s()),
        loaded_hours(load),
        counted(own.attempt_count, "attempt"),
        counted(own.job_count, "job"),
    );
    let capacities = own.capacities.iter();
    let unit = Units::of(result.whole.source.as_deref());
    let capacities = capacities.map(|at| {
        format!("CPU {} {}, memory {} {}", known(at.cpu), unit.cpu, known(at.memory), unit.memory)
    });
    let mut facts = vec![
        ("capacity", capacities.collect::<Vec<String>>().join("; then ")),
        ("first seen", first_seen(own.first_s, load)),
    ];
    let ended = own.ended.iter().map(|(end, count)| format!("{} {end}", grouped(*count)));
    let ended: Vec<String> = ended.collect();
    if !ended.is_empty() {
        facts.push(("ends of attempts", ended.join(", ")));
    }
    body.push_str(&html::facts(facts));
    body.push_str(&drawings(own, (load, missing), (&title, unit)));
    body.push_str(&tables(own, links));
    let _ =
        writeln!(body, "<p class=\"source\">From <code>{}</code></p>", escape(&result.command()));
    Page { file: file_of_machine(id), title, within, body }
}

/// The units of the amounts in a trace; empty if they are unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Units {
    pub(super) cpu: &'static str,
    pub(super) memory: &'static str,
}

impl Units {
    /// The units of a kind of trace, found by its name.
    pub(crate) fn of(source: Option<&str>) -> Self {
        let Some(source) = source.and_then(|name| name.parse::<Source>().ok()) else {
            return Self::default();
        };
        let plain = |unit: &'static str| unit.trim_end_matches("-s");
        Self {
            cpu: plain(CpuDefinition::Requested.unit(source)),
            memory: plain(MemoryDefinition::Requested.unit(source)),
        }
    }
}

/// The load of the machine over time, and the longest attempts on it.
pub(crate) fn drawings(
    own: &MachineDetail,
    (load, missing): (LoadedHours, &Missing),
    (title, unit): (&str, Units),
) -> String {
    let mut body = String::new();
    if let Some(chart) = outages(own, load, title) {
        let chart = Missing::default().over_time(chart, axis_from(load), DAY_S);
        body.push_str("<h2>When it was away</h2>\n");
        body.push_str(&html::drawn(&svg_of(&chart), chart.caption()));
        let _ = writeln!(body, "<p class=\"source\">{}</p>", escape(chart.caption()));
    }
    let draw = |body: &mut String, chart: Chart| {
        let chart = missing.over_time(chart, axis_from(load), HOUR_S);
        body.push_str(&html::drawn(&svg_of(&chart), chart.caption()));
        let _ = writeln!(body, "<p class=\"source\">{}</p>", escape(chart.caption()));
    };
    body.push_str("<h2>Its load over time</h2>\n");
    let has_cpu = |amounts: &[f64]| amounts.iter().any(|&cpu| 0.0 < cpu);
    if has_cpu(&own.cpu_requested) || has_cpu(&own.cpu_capacity) {
        draw(&mut body, over_time(own, load, (title, unit)));
    } else if own.first_s.is_some_and(|first_s| load.end_s <= first_s) {
        body.push_str("<p>It was first seen after the time for which tasks are loaded.</p>\n");
    } else {
        body.push_str(
            "<p>Neither requested CPU nor the CPU of the machine is recorded here.</p>\n",
        );
    }
    body.push_str("<h2>Attempts on it</h2>\n");
    match attempts(own, load, title) {
        Some(chart) => draw(&mut body, chart),
        None => body.push_str("<p>Nothing ran on it in the loaded parts.</p>\n"),
    }
    body
}

/// When a machine was first seen. Most machines exist from the first machine event on.
fn first_seen(first_s: Option<f64>, load: LoadedHours) -> String {
    match first_s {
        None => "-".to_owned(),
        Some(first_s) if first_s <= load.machines_start_s => "at the start of the trace".to_owned(),
        Some(first_s) => lasting(first_s),
    }
}

/// `In the 25.2 hours for which tasks are loaded, `, if machines are known for longer.
fn loaded_hours(load: LoadedHours) -> String {
    if !load.has_more_of_machines() {
        return String::new();
    }
    let hours = load.tasks_s() / HOUR_S;
    let hours = if hours < 1.0 { hours } else { (hours * 10.0).round() / 10.0 };
    format!("In the {} hours for which tasks are loaded, ", figure_text(hours))
}

/// `Outages, 30 of 165`, if not all are listed.
fn of_all(caption: &str, shown: usize, all: u64) -> String {
    if all <= shown as u64 {
        return caption.to_owned();
    }
    format!("{caption}, {} of {}", grouped(shown as u64), grouped(all))
}

/// The jobs and the outages of the machine.
fn tables(own: &MachineDetail, links: &Links) -> String {
    let row = |job: &JobThere| {
        let id = job.job_id.to_string();
        let name = match links.page("job_id", &id) {
            Some(page) => Cell::link(&id, &format!("../{page}")),
            None => Cell::name(&id),
        };
        vec![name, Cell::of(&job.attempts.to_string()), Cell::lasting(Some(job.running_s))]
    };
    let mut html = String::new();
    if !own.jobs.is_empty() {
        let rows: Vec<Vec<Cell>> = own.jobs.iter().map(row).collect();
        let caption = of_all("Jobs that ran there longest", own.jobs.len(), own.job_count);
        let header = ["job_id", "attempts", "running"].map(str::to_owned);
        html.push_str(&html::table(&caption, &header, &rows));
    }
    let row = |outage: &OutageSpan| {
        let (from, to) = (Some(outage.start_s), outage.end_s);
        let length = to.map(|to| to - outage.start_s);
        vec![Cell::instant(from), Cell::instant(to), Cell::lasting(length)]
    };
    let rows: Vec<Vec<Cell>> = own.outages.iter().map(row).collect();
    let caption = of_all("Outages", own.outages.len(), own.outage_count);
    let first = own.outages.first().map(|outage| outage.start_s);
    let caption = format!("{caption} ({})", clock(first));
    let header = ["left", "came back", "away"].map(str::to_owned);
    html + &html::table(&caption, &header, &rows)
}

/// The start of the time axis: the start of the trace, or the first task event in a log whose clock
/// counts from 1970.
fn axis_from(load: LoadedHours) -> f64 {
    if is_date(load.start_s) { load.start_s } else { 0.0 }
}

/// The outages over the whole time for which machines are known; `None` if there are none.
fn outages(own: &MachineDetail, load: LoadedHours, title: &str) -> Option<Chart> {
    let since_s = axis_from(load);
    let days = |at_s: f64| (at_s - since_s) / DAY_S;
    let end_s = load.machines_end_s;
    let span = |from: f64, to: f64, label: &str, tone: Tone, is_wait: bool| GanttSpan {
        row: 0,
        from: days(from),
        to: days(to),
        label: label.to_owned(),
        tone,
        is_wait,
    };
    let away = own.outages.iter();
    let away = away.map(|outage| {
        let to = outage.end_s.unwrap_or(end_s);
        span(outage.start_s, to, "away", Tone::Vermilion, false)
    });
    // A machine may have been added later.
    let first_s = own.first_s.unwrap_or(load.machines_start_s).clamp(load.machines_start_s, end_s);
    let whole = span(first_s, end_s, "known", Tone::Grey, true);
    (!own.outages.is_empty()).then(|| {
        Chart::Gantt(GanttChart {
            title: format!("{title}: when it was away"),
            caption: format!(
                "{}, in {} of machine events; the thin line is {}.",
                of_all("Outages", own.outages.len(), own.outage_count),
                lasting(load.machines_s()),
                if load.machines_start_s < first_s {
                    "the time since it was first seen"
                } else {
                    "all of that time"
                }
            ),
            time_axis: DAYS_OF_TRACE.to_owned(),
            rows: vec![String::new()],
            spans: std::iter::once(whole).chain(away).collect(),
            legend: vec![("away".to_owned(), Tone::Vermilion)],
        })
    })
}

/// The CPU that running attempts requested, and the CPU of the machine.
fn over_time(own: &MachineDetail, load: LoadedHours, (title, unit): (&str, Units)) -> Chart {
    let LoadedHours { start_s, interval_s, end_s, .. } = load;
    let values = |values: &[f64]| values.iter().copied().map(Some).collect();
    let requested: Vec<Option<f64>> = values(&own.cpu_requested);
    // A log may not record the CPU of its machines: a line at 0 would state that they have none.
    let has_capacity = own.cpu_capacity.iter().any(|&cpu| 0.0 < cpu);
    let what = if has_capacity {
        "CPU that running attempts requested, and that the machine had. Where it was away, its CPU is \
        0. More may be requested than there is."
    } else {
        "CPU that running attempts requested. The CPU of the machine is not recorded."
    };
    let said = format!("{what} Each value is the mean over {}.", lasting(interval_s));
    let since_s = axis_from(load);
    let edge = |idx: u32| ((start_s + f64::from(idx) * interval_s).min(end_s) - since_s) / HOUR_S;
    let count = u32::try_from(requested.len()).unwrap_or(0);
    let area = |name: &str, values, tone| Area { name: name.to_owned(), values, tone };
    let capacity =
        has_capacity.then(|| area("CPU of the machine", values(&own.cpu_capacity), Tone::Ink));
    Chart::Areas(AreaChart {
        title: format!("{title}: its load over time"),
        caption: said,
        x_axis: HOURS_OF_TRACE.to_owned(),
        y_axis: match unit.cpu {
            "" => "CPU".to_owned(),
            unit => format!("CPU ({unit})"),
        },
        edges: (0..=count).map(edge).collect(),
        areas: vec![area("requested", requested, Tone::Blue)],
        lines: capacity.into_iter().collect(),
    })
}

/// Attempts as bars; each is in the first row that is free when it begins.
fn attempts(own: &MachineDetail, load: LoadedHours, title: &str) -> Option<Chart> {
    let mut bars = Bars::default();
    let mut free: Vec<f64> = Vec::new();
    for attempt in &own.attempts {
        let (from, to) = (attempt.start_s, attempt.end_s);
        let row = free.iter().position(|&until| until <= from).unwrap_or_else(|| {
            free.push(to);
            free.len() - 1
        });
        free[row] = to;
        let name = format!("{}-{}", attempt.job_id, attempt.task_index);
        bars.add(row, (from, to), &attempt.ended_by, &name);
    }
    bars.bounds()?;
    let said = format!(
        "{} of {}, those that ran longest; each bar shows its job, task and end. Rows only keep bars from \
         overlapping.",
        grouped(bars.attempts() as u64),
        counted(own.attempt_count, "attempt"),
    );
    let rows = vec![String::new(); free.len()];
    let axis = (HOURS_OF_TRACE.to_owned(), axis_from(load), HOUR_S);
    Some(bars.chart((format!("{title}: attempts on it"), said), axis, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_with_dates_is_drawn_from_its_first_event_on_an_axis_of_dates() {
        let start_s = 1_482_356_614.0;
        let load = LoadedHours {
            start_s,
            interval_s: 3600.0,
            end_s: start_s + 7200.0,
            ..LoadedHours::default()
        };
        let own = MachineDetail {
            cpu_requested: vec![12.0, 6.0],
            cpu_capacity: vec![0.0, 0.0],
            ..MachineDetail::default()
        };
        let chart = over_time(&own, load, ("Machine 1", Units::of(Some("slurm"))));
        let dated = Missing::default().over_time(chart.clone(), axis_from(load), HOUR_S);
        let svg = svg_of(&dated);
        assert!(
            svg.contains(">22:00<") && svg.contains(">time (UTC), from 2016-12-21 on<"),
            "{svg}"
        );
        assert!(svg.contains("time: 2016-12-21 22:13:34 UTC"), "{svg}");
        let Chart::Areas(chart) = chart else { panic!() };
        assert_eq!(chart.edges, [0.0, 1.0, 2.0]);
        assert_eq!(chart.y_axis, "CPU (processor)");
        assert!(chart.lines.is_empty(), "no line at 0 for a CPU that is not recorded");
        let trace = LoadedHours { start_s: 600.0, end_s: 7800.0, ..load };
        let own = MachineDetail { cpu_capacity: vec![0.5, 0.5], ..own };
        let chart = over_time(&own, trace, ("Machine 1", Units::default()));
        let svg = svg_of(&Missing::default().over_time(chart.clone(), axis_from(trace), HOUR_S));
        assert!(svg.contains(">time since the start of the trace (h)<"), "{svg}");
        let Chart::Areas(chart) = chart else { panic!() };
        assert_eq!((chart.edges[0] * HOUR_S, chart.lines.len()), (600.0, 1));
    }

    #[test]
    fn outages_are_drawn_over_all_the_time_of_machine_events() {
        let load =
            LoadedHours { machines_end_s: 10.0 * DAY_S, end_s: DAY_S, ..LoadedHours::default() };
        let outage = OutageSpan { start_s: 7.0 * DAY_S, end_s: None };
        let own =
            MachineDetail { outages: vec![outage], outage_count: 3, ..MachineDetail::default() };
        let Some(Chart::Gantt(chart)) = outages(&own, load, "Machine 1") else { panic!() };
        let spans: Vec<(f64, f64)> = chart.spans.iter().map(|span| (span.from, span.to)).collect();
        assert_eq!(spans, [(0.0, 10.0), (7.0, 10.0)]);
        assert!(chart.caption.starts_with("Outages, 1 of 3, in 10 d"), "{}", chart.caption);
        assert!(outages(&MachineDetail::default(), load, "Machine 1").is_none());
        // A machine that was added later.
        let later = MachineDetail { first_s: Some(5.0 * DAY_S), ..own };
        let Some(Chart::Gantt(chart)) = outages(&later, load, "Machine 1") else { panic!() };
        assert_eq!((chart.spans[0].from, chart.spans[0].to), (5.0, 10.0));
        assert!(chart.caption.ends_with("since it was first seen."), "{}", chart.caption);
        let html = drawings(&later, (load, &Missing::default()), ("Machine 1", Units::default()));
        assert!(html.contains("first seen after the time for which tasks are loaded"), "{html}");
        let early = MachineDetail { first_s: Some(0.5 * DAY_S), ..later };
        let html = drawings(&early, (load, &Missing::default()), ("Machine 1", Units::default()));
        assert!(html.contains("Neither requested CPU nor"), "{html}");
    }

    #[test]
    fn hours_of_tasks_are_counted_from_the_start_of_the_trace() {
        let load = |start_s: f64, end_s: f64| LoadedHours {
            start_s,
            interval_s: 1.0,
            end_s,
            machines_start_s: 0.0,
            machines_end_s: 2_506_200.0,
        };
        for (start_s, end_s, said) in [
            (600.0, 90_800.8, "In the 25.2 hours for which tasks are loaded, "),
            (0.0, 90_800.8, "In the 25.2 hours for which tasks are loaded, "),
            (3600.0, 90_800.8, "In the 24.2 hours for which tasks are loaded, "),
            (600.0, 2_506_200.0, ""),
        ] {
            assert_eq!(loaded_hours(load(start_s, end_s)), said);
        }
        let first = |first_s| first_seen(first_s, load(600.0, 90_800.0));
        assert_eq!(first(Some(0.0)), "at the start of the trace");
        assert_eq!(first(Some(7200.0)), "2 h");
        assert_eq!(first(None), "-");
    }
}

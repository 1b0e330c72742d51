//! The charts of `load`: stacked areas over time with the capacity above them, running and waiting
//! tasks, single machines, arrivals of jobs, and sizes.
//!
//! In: the load of a lake. Out: charts, with neighbouring intervals joined if there are too many.

use super::units::in_words;
use super::{Loaded, arrival_charts, size_charts, table};
use crate::answers::edges;
use crate::answers::sentences::{Capacity, capital, percent};
use crate::charts::{
    Area, AreaChart, Chart, DAYS_FROM_S, DAYS_OF_TRACE, HOURS_OF_TRACE, HeatChart, HeatRow, Line,
    LineChart, PanelChart, Scale, Tone, outcome_tone,
};
use crate::digits;
use crate::results::missing::Missing;
use crate::schema::Table;
use crate::studies::first_end::{FirstEnd, instant_text};
use crate::studies::load::groups::band_in_words;
use crate::studies::load::strips::{Strip, Strips};
use crate::studies::load::{Amount, By, Cells, Intervals, Load};
use crate::studies::meter::Resource;
use crate::units::{CpuTime, micros_to_seconds};

/// The most intervals of a chart; if there are more, they are joined.
const COLUMNS_MAX: usize = 360;

/// Shares of machines are rounded to multiples of this, in per cent. Neighbouring fields of equal
/// value are drawn as one field, which keeps a page small.
const SHADE: f64 = 10.0;

/// Every chart, by the stem of its file.
pub(super) fn all(loaded: &Loaded) -> Vec<(String, Chart)> {
    if loaded.load.all.is_empty() {
        return Vec::new();
    }
    let mut charts = over_time(loaded);
    if 0 < loaded.arrivals.jobs {
        let hours = arrival_charts::hours(loaded);
        charts.extend(hours.map(|chart| ("load-arrivals".to_owned(), chart)));
        charts.extend(arrival_charts::bursts(loaded));
    }
    charts.extend(size_charts::all(loaded));
    charts
}

/// The charts over time. Nothing is drawn in the gaps of a chart's tables.
fn over_time(loaded: &Loaded) -> Vec<(String, Chart)> {
    let wants = |resource| loaded.plan.resource.is_none_or(|wanted| wanted == resource);
    let at = loaded.load.asked.at;
    let whole_from = loaded.first_end.as_ref().map(FirstEnd::instant);
    let gapped = |chart: Chart, tables: &[Table]| {
        let missing = Missing::of(&loaded.gaps, tables).whole_from(whole_from.clone());
        missing.over_time(chart, micros_to_seconds(at.start_us), axis_of(&at).1)
    };
    let averaged = &averaged(loaded);
    let mut charts = Vec::new();
    for (resource, amounts) in [
        (Resource::Cpu, &[Amount::CpuAllocated, Amount::CpuUsed][..]),
        (Resource::Memory, &[Amount::MemoryAllocated, Amount::MemoryUsed]),
        (Resource::Gpu, &[Amount::GpusAllocated]),
    ] {
        let kinds = [("allocated", &EVENTS[..]), ("used", &[Table::TaskEvents, Table::TaskUsage])];
        for (&amount, (name, tables)) in amounts.iter().zip(kinds).filter(|_| wants(resource)) {
            if loaded.knows(amount) {
                let stem = format!("load-{}-{name}", resource.name());
                charts.push((stem, gapped(areas(loaded, resource, amount, averaged), tables)));
            }
        }
    }
    if let Some(known) = loaded.fragmentation.as_ref() {
        let all = [Resource::Cpu, Resource::Memory].into_iter().zip(0..);
        for (resource, idx) in all.filter(|(resource, _)| wants(*resource)) {
            if let (Some(free), Some(part)) = (&known.free[idx], &known.fragmented[idx]) {
                let stem = format!("load-{}-fragmented", resource.name());
                let chart = fragmented(loaded, resource, [free, part], averaged);
                charts.push((stem, gapped(chart, &EVENTS)));
            }
        }
    }
    charts.extend(strips(loaded, averaged).map(|(stem, chart)| (stem, gapped(chart, &EVENTS))));
    charts.push(("load-tasks".to_owned(), gapped(tasks(loaded), &EVENTS)));
    charts
}

/// A sentence that averages include time that is not in the log; empty if there is none.
fn averaged(loaded: &Loaded) -> String {
    let missing = Missing::of(&loaded.gaps, &EVENTS).in_averages();
    missing.map_or_else(String::new, |said| format!(" {said}."))
}

/// The tables with the attempts and the capacity.
const EVENTS: [Table; 2] = [Table::TaskEvents, Table::MachineEvents];

/// The title of the time axis, and its unit, s.
fn axis_of(at: &Intervals) -> (&'static str, f64) {
    let length_s = micros_to_seconds(at.end_us - at.start_us);
    if length_s < DAYS_FROM_S { (HOURS_OF_TRACE, 3600.0) } else { (DAYS_OF_TRACE, 86_400.0) }
}

/// How intervals are joined: the number that makes one value, the edges of the values on the axis,
/// and the title of the axis.
struct Joined {
    each: usize,
    edges: Vec<f64>,
    axis: &'static str,
}

impl Joined {
    fn of(loaded: &Loaded) -> Self {
        let at = loaded.load.asked.at;
        let each = at.count().div_ceil(COLUMNS_MAX);
        let (axis, unit_s) = axis_of(&at);
        let starts = (0..at.count()).step_by(each).map(|idx| at.start_of(idx));
        let ends = starts.chain([at.end_of(at.count() - 1)]);
        let since = |us: i64| micros_to_seconds(us - at.start_us) / unit_s;
        Self { each, edges: ends.map(since).collect(), axis }
    }

    /// The values of an area as a step line with its own axis.
    fn panel(&self, area: &Area, noun: &str) -> LineChart {
        let starts = self.edges.iter().zip(&area.values);
        let mut points: Vec<(f64, f64)> =
            starts.filter_map(|(at, value)| Some((*at, (*value)?))).collect();
        let end = self.edges.last().zip(points.last().copied());
        points.extend(end.map(|(end, last)| (*end, last.1)));
        LineChart {
            title: format!("{} {noun}", capital(&area.name)),
            caption: String::new(),
            x_axis: self.axis.to_owned(),
            y_axis: noun.to_owned(),
            x_scale: Scale::Linear,
            y_from: 0.0,
            lines: vec![Line::steps(String::new(), points, area.tone)],
        }
    }

    /// The time that one value of the chart covers, in words.
    fn length(&self, loaded: &Loaded) -> String {
        let each = i64::try_from(self.each).unwrap_or(i64::MAX);
        loaded.plan.interval.times(each).words()
    }

    /// Means over the joined intervals; unknown intervals are left out.
    fn means(&self, loaded: &Loaded, values: &[Option<f64>]) -> Vec<Option<f64>> {
        let at = loaded.load.asked.at;
        let joined = |(chunk, values): (usize, &[Option<f64>])| {
            let mut sums = (0.0, 0.0);
            for (idx, value) in values.iter().enumerate() {
                let length = at.length_s(chunk * self.each + idx);
                if let Some(value) = value {
                    sums = (sums.0 + value * length, sums.1 + length);
                }
            }
            (0.0 < sums.1).then(|| sums.0 / sums.1)
        };
        values.chunks(self.each).enumerate().map(joined).collect()
    }
}

/// The colour of a group.
fn tone(by: By, position: usize, name: &str) -> Tone {
    match by {
        By::Outcome => outcome_tone(name),
        _ if name == crate::studies::load::groups::OTHERS || name == "-" => Tone::Grey,
        _ => Tone::SERIES[position % Tone::SERIES.len()],
    }
}

fn areas(loaded: &Loaded, resource: Resource, amount: Amount, averaged: &str) -> Chart {
    let load = &loaded.load;
    let joined = Joined::of(loaded);
    let by = load.asked.by;
    let (sums, unit, title) = match resource {
        Resource::Cpu => (load.capacity.cpu.as_ref(), table::cpu_unit(load), "CPU"),
        Resource::Memory => (load.capacity.memory.as_ref(), table::memory_unit(load), "Memory"),
        Resource::Gpu => (load.capacity.gpus.as_ref(), "GPUs", "GPUs"),
    };
    let capacity = table::capacity(load, sums);
    let whole = joined.means(loaded, &table::means(load, &load.all, amount));
    let top = largest(&whole);
    let (unit, per) = in_words(unit, top);
    let values = |cells: &Cells| -> Vec<Option<f64>> {
        let means = joined.means(loaded, &table::means(load, cells, amount));
        means.into_iter().map(|mean| mean.map(|mean| mean / per)).collect()
    };
    let is_used = matches!(amount, Amount::CpuUsed | Amount::MemoryUsed);
    let what = if is_used { "used" } else { "requested" };
    let said = if is_used { "What running attempts used" } else { "Requests of running attempts" };
    let limit = joined.means(loaded, &capacity);
    let source = if resource == Resource::Cpu { loaded.capacity } else { Capacity::Recorded };
    let is_from_use = source == Capacity::FromUse;
    let is_high = top < DRAWN_FROM * largest(&limit);
    let lines = if limit.iter().any(Option::is_some) && !is_high {
        let values = limit.iter().map(|value| value.map(|value| value / per)).collect();
        let name = if is_from_use { "most ever used at once" } else { "capacity" };
        vec![Area { name: name.to_owned(), values, tone: Tone::Ink }]
    } else {
        Vec::new()
    };
    let found = found((&capacity, source), &table::means(load, &load.all, amount), loaded)
        .unwrap_or_else(|| {
            format!("At most {} {}. ", digits::three_digits(top / per), table::several(unit))
        });
    let above = if is_high {
        let limit = digits::three_digits(largest(&limit) / per);
        let (what, unit) = (capital(source.or_used("the capacity")), table::several(unit));
        format!(" {what}, {limit} {unit}, is far above the chart.")
    } else {
        String::new()
    };
    // If only one group has the amount, the group is not named.
    let groups = load.groups.iter().enumerate();
    let groups: Vec<_> =
        groups.filter(|(_, group)| table::has_any(load, &group.1, amount)).collect();
    let is_apart = 1 < groups.len();
    let by_what = if is_apart { format!(", by {}", by.noun()) } else { String::new() };
    Chart::Areas(AreaChart {
        title: format!("{title} {what} over time{by_what}"),
        caption: format!(
            "{found}{said}; each value is the mean over {}.{above}{averaged}{}",
            joined.length(loaded),
            edges::ending(&edges::sentence(&loaded.censoring()))
        ),
        x_axis: joined.axis.to_owned(),
        y_axis: format!("{} {what} ({})", in_axis(resource), table::several(unit)),
        areas: groups
            .into_iter()
            .map(|(position, (name, cells))| Area {
                name: if is_apart { in_legend(load, name) } else { what.to_owned() },
                values: values(cells),
                tone: if is_apart { tone(by, position, name) } else { Tone::Blue },
            })
            .collect(),
        lines,
        edges: joined.edges,
    })
}

/// The name of a group for readers.
fn in_legend(load: &Load, name: &str) -> String {
    match name {
        "-" => "unknown".to_owned(),
        band if load.asked.by == By::PriorityBand => band_in_words(load.source, band),
        name => name.to_owned(),
    }
}

/// The capacity is drawn only if the largest load has at least this share of it.
const DRAWN_FROM: f64 = 0.05;

fn largest(values: &[Option<f64>]) -> f64 {
    values.iter().copied().flatten().fold(0.0, f64::max)
}

/// The name of a resource at the start of an axis title.
const fn in_axis(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpu => "CPU",
        Resource::Memory => "memory",
        Resource::Gpu => "GPUs",
    }
}

/// Free capacity: the part that no waiting task fits is at the bottom, the rest is above it.
fn fragmented(
    loaded: &Loaded,
    resource: Resource,
    [free, part]: [&Vec<CpuTime>; 2],
    averaged: &str,
) -> Chart {
    let load = &loaded.load;
    let joined = Joined::of(loaded);
    let rest: Vec<CpuTime> = free.iter().zip(part).map(|(&free, &part)| free - part).collect();
    let (unit, title) = match resource {
        Resource::Cpu => (table::cpu_unit(load), "CPU"),
        Resource::Memory | Resource::Gpu => (table::memory_unit(load), "memory"),
    };
    let area = |name: &str, sums: &Vec<CpuTime>, tone| Area {
        name: name.to_owned(),
        values: joined.means(loaded, &table::capacity(load, Some(sums))),
        tone,
    };
    let sum = |sums: &[CpuTime]| sums.iter().copied().sum::<CpuTime>();
    let share = sum(part).share_of(sum(free)).map_or_else(String::new, |share| {
        format!(" {:.1} % of it is on machines that no waiting task fits.", share * 100.0)
    });
    Chart::Areas(AreaChart {
        title: format!("Free {title} over time, and what no waiting task fits"),
        caption: format!(
            "Capacity minus requests, machine by machine; each value is the mean over {}.{share}{averaged}{}",
            joined.length(loaded),
            edges::ending(&edges::sentence(&loaded.censoring()))
        ),
        x_axis: joined.axis.to_owned(),
        y_axis: format!("free {} ({})", resource.name(), table::several(unit)),
        areas: vec![
            area("fragmented", part, Tone::Vermilion),
            area("fits a waiting task, or none waits", &rest, Tone::Sky),
        ],
        lines: Vec::new(),
        edges: joined.edges,
    })
}

/// `On average 78.1 % of the capacity, in the fullest hour 96.8 %. `; `None` without a capacity.
/// For a log that lacks early jobs, the average begins when the log is whole, and the average over
/// all time follows.
fn found(
    (capacity, source): (&[Option<f64>], Capacity),
    amounts: &[Option<f64>],
    loaded: &Loaded,
) -> Option<String> {
    let at = loaded.load.asked.at;
    let first = loaded.first_end.as_ref();
    let whole_from = first.map_or(0, |first| at.first_from(first.at_us));
    let (mut sums, mut later, mut most) = ((0.0, 0.0), (0.0, 0.0), 0.0_f64);
    for (idx, (whole, part)) in capacity.iter().zip(amounts).enumerate() {
        if let (Some(whole), Some(part)) = (whole, part) {
            let [part_s, whole_s] = [part, whole].map(|own| own * at.length_s(idx));
            sums = (sums.0 + part_s, sums.1 + whole_s);
            if whole_from <= idx {
                later = (later.0 + part_s, later.1 + whole_s);
            }
            most = most.max(if 0.0 < *whole { part / whole } else { 0.0 });
        }
    }
    let share = |sums: (f64, f64)| (0.0 < sums.1).then(|| percent(sums.0 / sums.1));
    let average = share(sums)?;
    let what = source.or_used("the capacity");
    let average = match first.zip(share(later)) {
        Some((first, later)) => {
            let from = instant_text(at.start_of(at.first_from(first.at_us)));
            format!("{later} of {what} from {from} on, {average} with the time before")
        }
        None => format!("{average} of {what}"),
    };
    let gap = if averaged(loaded).is_empty() { "" } else { " (with the hatched time)" };
    let length = loaded.plan.interval.words();
    Some(format!(
        "On average {average}{gap}; in the fullest {} {}. ",
        length
            .split_once(' ')
            .filter(|(one, _)| ["a", "an"].contains(one))
            .map_or(&*length, |it| it.1),
        percent(most)
    ))
}

/// Running and waiting tasks in two plots, one below the other. On one axis, the smaller number
/// would be a thin band.
fn tasks(loaded: &Loaded) -> Chart {
    let load = &loaded.load;
    let joined = Joined::of(loaded);
    let noun = if load.source.is_log() { "jobs" } else { "tasks" };
    let mut kinds = vec![("running", Amount::Running, Tone::Sky)];
    let (mut title, mut defined) = (format!("Running {noun} over time"), "");
    if load.knows_waits {
        kinds.push(("waiting", Amount::Pending, Tone::Orange));
        title = format!("Running and waiting {noun} over time");
        defined = " Waiting is from each SUBMIT to the next SCHEDULE or end.";
    }
    let areas: Vec<Area> = kinds
        .into_iter()
        .map(|(name, amount, tone)| Area {
            name: name.to_owned(),
            values: joined.means(loaded, &table::means(load, &load.all, amount)),
            tone,
        })
        .collect();
    let most = areas.iter().filter_map(|area| {
        let most = area.values.iter().copied().flatten().reduce(f64::max)?;
        let decimals = if most < 10.0 { 2 } else { 0 };
        Some(format!("{} {}", digits::grouped_decimal(most, decimals), area.name))
    });
    let most: Vec<String> = most.collect();
    let caption = format!(
        "At most {}. Each value is the mean over {}.{defined}{}",
        most.join(" and "),
        joined.length(loaded),
        edges::ending(&edges::sentence(&loaded.censoring()))
    );
    let panels: Vec<LineChart> = areas.iter().map(|area| joined.panel(area, noun)).collect();
    match <[Area; 1]>::try_from(areas) {
        Ok(only) => Chart::Areas(AreaChart {
            title,
            caption,
            x_axis: joined.axis.to_owned(),
            y_axis: noun.to_owned(),
            areas: only.into(),
            lines: Vec::new(),
            edges: joined.edges,
        }),
        Err(_) => Chart::Panels(PanelChart { title, caption, panels, columns: 1 }),
    }
}

/// The most strips of a chart, so that it fits half a page. The table has all machines of the
/// sample.
const STRIPS_MAX: usize = 15;

/// At most `most` values, evenly spaced from the first on.
fn spaced<T>(all: &[T], most: usize) -> Vec<&T> {
    let count = all.len().min(most);
    (0..count).map(|place| &all[place * all.len() / count]).collect()
}

/// Whether a machine is in service for at least half of a piece of time, measured by the most
/// capacity that it has in any piece. Otherwise, a machine that leaves would show far too large
/// shares: the requests of tasks that end just after it has left would be divided by the little
/// capacity that remains.
fn is_mostly_there(at: &Intervals, strip: &Strip, resource: usize, piece: usize) -> bool {
    strip.capacity[resource].as_ref().is_some_and(|capacity| {
        // The last piece may be shorter.
        let mean = |piece: usize| capacity[piece].seconds() / at.length_s(piece);
        mean(piece) >= (0..capacity.len()).map(mean).fold(0.0, f64::max) / 2.0
    })
}

/// A strip per machine of the sample, for CPU or the requested resource. `None` for GPUs, or if the
/// capacity of no machine is known.
fn strips(loaded: &Loaded, averaged: &str) -> Option<(String, Chart)> {
    let Strips { at, machine_count, machines } = &loaded.load.strips;
    let (idx, stem, title, noun) = match loaded.plan.resource {
        None | Some(Resource::Cpu) => (0, "load-cpu-machines", "CPU", "CPU"),
        Some(Resource::Memory) => (1, "load-memory-machines", "Memory", "memory"),
        Some(Resource::Gpu) => return None,
    };
    let has_capacity = machines.iter().any(|strip| strip.capacity[idx].is_some());
    if !has_capacity {
        return None;
    }
    let drawn = spaced(machines, STRIPS_MAX);
    let rows = drawn.iter().map(|strip| HeatRow {
        name: strip.machine_id.to_string(),
        values: (0..at.count())
            .map(|piece| {
                let is_there = is_mostly_there(at, strip, idx, piece);
                let share = strip.share(idx, piece).filter(|_| is_there)?;
                Some((share * 100.0 / SHADE).round() * SHADE)
            })
            .collect(),
    });
    let (axis, unit_s) = axis_of(at);
    let length = micros_to_seconds(at.end_us - at.start_us) / unit_s;
    let sample = if drawn.len() < *machine_count {
        format!(
            "{} of the {} machines of that time, small and large ones",
            drawn.len(),
            digits::grouped(*machine_count as u64)
        )
    } else {
        format!("All {}", digits::counted(machines.len() as u64, "machine"))
    };
    let chart = Chart::Heat(HeatChart {
        title: format!("{title} requested on single machines over time"),
        caption: format!(
            "{}{sample}; the fullest first. Each field is a mean; blank while the machine is away \
            for most of it.{averaged}{}",
            extremes(&drawn, idx, noun),
            edges::ending(&edges::sentence(&loaded.censoring()))
        ),
        x_axis: axis.to_owned(),
        x: 0.0..length,
        y_axis: "machines".to_owned(),
        rows: rows.collect(),
        value: format!("% of the machine's {noun} requested, in steps of {SHADE} %"),
    });
    Some((stem.to_owned(), chart))
}

/// A sentence about the fullest and the emptiest of some machines over the whole time.
fn extremes(strips: &[&Strip], resource: usize, noun: &str) -> String {
    let shares = strips.iter().filter_map(|strip| Some((strip.share_in_all(resource)?, strip)));
    let mut shares: Vec<(f64, &&Strip)> = shares.collect();
    shares.sort_by(|one, other| other.0.total_cmp(&one.0));
    let (Some(most), Some(least)) = (shares.first(), shares.last()) else { return String::new() };
    let rest = if shares.len() < 2 {
        String::new()
    } else {
        format!(", of machine {} {}", least.1.machine_id, percent(least.0))
    };
    format!(
        "On average {} of the {noun} of machine {} was requested{rest}. ",
        percent(most.0),
        most.1.machine_id
    )
}

#[cfg(test)]
mod tests {
    use super::{Strip, extremes, spaced};
    use crate::units::CpuTime;

    #[test]
    fn the_fullest_and_the_emptiest_machine_are_named() {
        let seconds =
            |all: [i64; 2]| all.map(|one: i64| CpuTime::of_slot(one * 1_000_000)).to_vec();
        let strip = |machine_id, allocated| Strip {
            machine_id,
            capacity: [Some(seconds([100, 100])), None],
            allocated: [seconds(allocated), Vec::new()],
            running: Vec::new(),
        };
        let (one, two) = (strip(7, [20, 40]), strip(9, [100, 150]));
        assert_eq!(
            extremes(&[&one, &two], 0, "CPU"),
            "On average 125.0 % of the CPU of machine 9 was requested, of machine 7 30.0 %. "
        );
        assert_eq!(
            extremes(&[&one], 0, "CPU"),
            "On average 30.0 % of the CPU of machine 7 was requested. "
        );
        assert_eq!(extremes(&[&one], 1, "memory"), "");
    }

    #[test]
    fn machines_are_evenly_spaced() {
        let all: Vec<usize> = (0..40).collect();
        assert_eq!(spaced(&all, 4), [&0, &10, &20, &30]);
        assert_eq!(spaced(&all[..3], 15), [&0, &1, &2]);
        assert!(spaced::<usize>(&[], 15).is_empty());
    }
}

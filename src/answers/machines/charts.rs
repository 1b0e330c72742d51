//! The charts of `machines`: machines away over time, survival, a strip per machine.

use super::studied::Spells;
use super::{MISFIT, Studied};
use crate::answers::sentences::{capital, percent};
use crate::charts::{
    Area, AreaChart, Chart, DAYS_OF_TRACE, HeatChart, HeatRow, Line, LineChart, Scale, Stroke, Tone,
};
use crate::digits;
use crate::studies::load::Intervals;
use crate::studies::machines::closeup::{Left, left_most_often};
use crate::studies::machines::outages::most_away;
use crate::studies::machines::{Fleet, Outage};
use crate::units::micros_to_seconds;

/// The number of columns in a chart over time.
const COLUMNS: i64 = 300;

/// The most machines in a chart with one strip per machine, so that it fits half a page.
const STRIPS_MAX: usize = 15;

/// The number of points of a fitted curve.
const POINTS: u32 = 120;

/// Every chart, by the stem of its file.
pub(super) fn all(studied: &Studied) -> Vec<(String, Chart)> {
    if studied.fleet.outages.is_empty() {
        return Vec::new();
    }
    let [up, from_start, returned, away] = &studied.spells;
    let later = up.count.saturating_sub(from_start.count + returned.count);
    let began = format!(
        " Of {}, {} began at the start of the table, {} with a return, and {} when a machine was first \
        seen later.",
        digits::counted(up.count as u64, "spell"),
        digits::grouped(from_start.count as u64),
        digits::grouped(returned.count as u64),
        digits::grouped(later as u64),
    );
    let since_s = micros_to_seconds(columns(&studied.fleet).start_us);
    let gapped = |chart| studied.missing.over_time(chart, since_s, DAY_S);
    vec![
        ("machines-away".to_owned(), gapped(away_over_time(&studied.fleet))),
        (
            "machines-survival-up".to_owned(),
            survival(
                ["How long machines stay up", &began],
                "up",
                &[(up, "up", Tone::Blue), (returned, "up after return", Tone::Vermilion)],
            ),
        ),
        (
            "machines-survival-away".to_owned(),
            survival(["How long machines are away", ""], "away", &[(away, "away", Tone::Blue)]),
        ),
        ("machines-strips".to_owned(), gapped(strips(&studied.fleet))),
    ]
}

/// Columns over the whole time. They begin at the first event of a machine if it has a date,
/// otherwise at the start of the trace.
fn columns(fleet: &Fleet) -> Intervals {
    let Fleet { start_us, end_us, .. } = *fleet;
    let has_date = digits::is_date(micros_to_seconds(start_us));
    let start_us = if has_date { start_us.min(end_us - 1) } else { 0 };
    let end_us = end_us.max(start_us + 1);
    Intervals::new([start_us, end_us], ((end_us - start_us) / COLUMNS).max(1))
}

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// Adds the time of an outage to the columns that it overlaps, s.
fn spread(at: &Intervals, outage: &Outage, sums: &mut [f64]) {
    let until_us = outage.until(at.end_us);
    let (Some(first), Some(last)) = (at.of(outage.from_us), at.of(until_us)) else { return };
    for (idx, sum) in sums.iter_mut().enumerate().take(last + 1).skip(first) {
        let within = until_us.min(at.end_of(idx)) - outage.from_us.max(at.start_of(idx));
        *sum += micros_to_seconds(within.max(0));
    }
}

fn away_over_time(fleet: &Fleet) -> Chart {
    let at = columns(fleet);
    let count = at.count();
    let (mut back, mut gone) = (vec![0.0; count], vec![0.0; count]);
    for outage in &fleet.outages {
        let sums = if outage.to_us.is_some() { &mut back } else { &mut gone };
        spread(&at, outage, sums);
    }
    let means = |sums: Vec<f64>| -> Vec<Option<f64>> {
        let own = sums.iter().enumerate();
        own.map(|(idx, &sum)| (0.0 < at.length_s(idx)).then(|| sum / at.length_s(idx))).collect()
    };
    let edges = (0..count).map(|idx| at.start_of(idx)).chain([at.end_of(count - 1)]);
    let most = most_away(&fleet.outages, fleet.end_us).map_or_else(String::new, |most| {
        format!(
            "At most {} were away at once; each column is the mean of {}, in which a short peak is lower. ",
            digits::grouped(most.machines),
            digits::lasting(at.length_s(0))
        )
    });
    Chart::Areas(AreaChart {
        title: "Machines that are away".to_owned(),
        caption: format!(
            "{most}The edges of the log make two things: machines that were away when it began are not known \
            before they come back, so that the first days are too low; and the grey part grows towards the \
            end, since fewer had the time to come back. {} of {} machines were away at least once, {} times in \
            total; {} had not come back when the trace ended.",
            digits::grouped(fleet.machines_down),
            digits::grouped(fleet.machines),
            digits::grouped(fleet.outages.len() as u64),
            digits::grouped((fleet.outages.len() - fleet.lengths_us().len()) as u64),
        ),
        x_axis: DAYS_OF_TRACE.to_owned(),
        y_axis: "machines".to_owned(),
        edges: edges.map(|us| micros_to_seconds(us - at.start_us) / DAY_S).collect(),
        areas: vec![
            Area {
                name: "did not come back before the end".to_owned(),
                values: means(gone),
                tone: Tone::Grey,
            },
            Area { name: "came back".to_owned(), values: means(back), tone: Tone::Vermilion },
        ],
        lines: Vec::new(),
    })
}

fn survival([title, began]: [&str; 2], what: &str, all: &[(&Spells, &str, Tone)]) -> Chart {
    let mut lines = Vec::new();
    let (mut said, mut medians) = (Vec::new(), Vec::new());
    for (spells, name, tone) in all {
        let points = &spells.points;
        let half = points.iter().find(|point| point.share <= 0.5);
        medians.extend(half.map(|point| format!("{name} {}", digits::lasting(point.time_s))));
        lines.push(Line {
            name: (*name).to_owned(),
            points: points.iter().map(|point| (point.time_s, point.share)).collect(),
            band: points.iter().map(|own| (own.time_s, own.share_low, own.share_high)).collect(),
            tone: *tone,
            stroke: Stroke::Steps,
        });
        let Some(fit) = &spells.fit else { continue };
        let ends = points.first().zip(points.last());
        let Some((from, to)) = ends.map(|(first, last)| (first.time_s.max(1e-6), last.time_s))
        else {
            continue;
        };
        let at = |idx: u32| {
            let time = from * (to / from).powf(f64::from(idx) / f64::from(POINTS));
            (time, fit.share_after(time))
        };
        let apart = fit.farthest(points).filter(|(apart, _)| MISFIT <= *apart);
        if apart.is_none() {
            lines.push(Line {
                name: format!("Weibull, {name}"),
                points: (0..=POINTS).map(at).collect(),
                band: Vec::new(),
                tone: if *tone == Tone::Blue { Tone::Sky } else { Tone::Orange },
                stroke: Stroke::Straight,
            });
        }
        let apart = apart.map_or_else(String::new, |(apart, at_s)| {
            let (at, apart) = (digits::lasting(at_s), percent(apart));
            format!(", which does not fit and is not drawn: {apart} away from the curve at {at}")
        });
        said.push(format!(
            "{}: {} of {} censored (they last beyond the end of the trace), Weibull shape {} ({} to {}){apart}",
            capital(name),
            digits::grouped(spells.censored as u64),
            digits::grouped(spells.count as u64),
            digits::grouped_decimal(fit.shape, 3),
            digits::grouped_decimal(fit.shape_low, 3),
            digits::grouped_decimal(fit.shape_high, 3),
        ));
    }
    let found = match medians.len() {
        0 => String::new(),
        1 => format!("Median: {}. ", medians[0]),
        _ => format!("Medians: {}. ", medians.join(", ")),
    };
    Chart::Lines(LineChart {
        title: title.to_owned(),
        caption: format!(
            "{found}{}.{began} Kaplan-Meier with 95 % band (Greenwood) and the Weibull distribution of \
            largest likelihood; shape 1 would be exponential.",
            said.join(". ")
        ),
        x_axis: "time (s)".to_owned(),
        y_axis: format!("share still {what}"),
        x_scale: Scale::Log,
        y_from: 0.0,
        lines,
    })
}

/// A sentence about the machine that left most often, with the share of time that it was away after
/// it first left. A machine that is nearly always away says little about others.
fn most_often((id, away_us, outages): &Left<'_>, end_us: i64) -> String {
    let times = digits::counted(outages.len() as u64, "time");
    let first_us = outages.iter().map(|outage| outage.from_us).min();
    let after_us = first_us.map(|first_us| end_us - first_us).filter(|after_us| 0 < *after_us);
    let away = after_us.map_or_else(String::new, |after_us| {
        let [part_s, whole_s] = [*away_us, after_us].map(micros_to_seconds);
        let share = percent(part_s / whole_s);
        format!(
            ", and it was away for {share} of the {} after it first left",
            digits::lasting(whole_s)
        )
    });
    format!("Machine {id} left most often: {times}{away}. ")
}

fn strips(fleet: &Fleet) -> Chart {
    let at = columns(fleet);
    let longest = left_most_often(fleet, STRIPS_MAX);
    let row = |(id, _, outages): &Left<'_>| {
        let mut sums = vec![0.0; at.count()];
        for outage in outages {
            spread(&at, outage, &mut sums);
        }
        let own = sums.iter().enumerate();
        let share = |(idx, &sum): (usize, &f64)| {
            let length_s = at.length_s(idx);
            (0.0 < length_s).then(|| sum / length_s * 100.0)
        };
        HeatRow { name: id.to_string(), values: own.map(share).collect() }
    };
    Chart::Heat(HeatChart {
        title: "When the machines that left most often were away".to_owned(),
        caption: format!(
            "{}Each strip is a machine: the {} that left most often, {} to {} times.",
            longest.first().map_or_else(String::new, |own| most_often(own, fleet.end_us)),
            longest.len(),
            longest.last().map_or(0, |own| own.2.len()),
            longest.first().map_or(0, |own| own.2.len()),
        ),
        x_axis: DAYS_OF_TRACE.to_owned(),
        x: 0.0..(micros_to_seconds(at.end_us - at.start_us) / DAY_S),
        y_axis: "machines".to_owned(),
        rows: longest.iter().map(row).collect(),
        value: "% of the time away".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::machines::{MachineChange, MachineEvent, MachineEvents};
    use crate::studies::machines::fleet;

    #[test]
    fn the_machine_that_left_most_often_is_reported_with_its_time_away() {
        let outage = |from_us: i64, to_us: Option<i64>| Outage {
            machine_id: 7,
            from_us: from_us * 3_600_000_000,
            to_us: to_us.map(|hour| hour * 3_600_000_000),
            cpu: None,
            memory: None,
            configuration: 0,
        };
        let all = [outage(10, Some(11)), outage(12, None)];
        let own: Left<'_> = (7, 9 * 3_600_000_000, all.iter().collect());
        let said = most_often(&own, 20 * 3_600_000_000);
        assert_eq!(
            said,
            "Machine 7 left most often: 2 times, and it was away for 90.0 % of the 10 h after it first left. "
        );
    }

    proptest! {
        /// Promise: charts with dates begin with the first event, whatever its date; other charts
        /// begin with the trace.
        #[test]
        fn charts_do_not_depend_on_the_clock(
            events in prop::collection::vec((0..40_i64, 0..3_i64, prop::bool::ANY), 1..30),
            since_us in 1_000_000_000_000_000_i64..2_000_000_000_000_000,
        ) {
            let event = |(row_id, &(hour, machine_id, is_add)): (i64, &(i64, i64, bool))| MachineEvent {
                time_us: hour * 3_600_000_000,
                row_id,
                machine_id,
                change: if is_add { MachineChange::Add } else { MachineChange::Remove },
                platform: None,
                cpu: Some(1.0),
                memory: None,
                gpus: None,
            };
            let mut all: Vec<MachineEvent> = (0..).zip(&events).map(event).collect();
            all.sort_by_key(|event| (event.time_us, event.row_id));
            let first_us = all[0].time_us;
            let at = |offset_us: i64| {
                let moved = |event: &MachineEvent| {
                    let time_us = event.time_us - first_us + offset_us;
                    MachineEvent { time_us, ..*event }
                };
                let events = all.iter().map(moved).collect();
                let end_us = 60 * 3_600_000_000 + offset_us;
                let fleet = fleet(&MachineEvents { events, ..MachineEvents::default() }, end_us);
                (away_over_time(&fleet), strips(&fleet))
            };
            let ((Chart::Areas(away), Chart::Heat(strips)), (Chart::Areas(zero), Chart::Heat(plain))) =
                (at(since_us), at(1_400_000_000_000_000)) else { unreachable!() };
            prop_assert_eq!(away.edges[0], 0.0);
            prop_assert!((away.edges.last().unwrap() - 2.5).abs() < 1e-9);
            for (one, other) in away.edges.iter().zip(&zero.edges) {
                prop_assert!((one - other).abs() < 1e-9);
            }
            for (one, other) in away.areas.iter().zip(&zero.areas) {
                prop_assert_eq!(&one.values, &other.values);
            }
            let (Chart::Areas(undated), _) = at(36_000_000_000) else { unreachable!() };
            prop_assert_eq!(undated.edges[0], 0.0);
            prop_assert!((undated.edges.last().unwrap() - 2.5 - 10.0 / 24.0).abs() < 1e-9);
            prop_assert_eq!(strips.x, plain.x);
            prop_assert_eq!(strips.rows.len(), plain.rows.len());
            for (one, other) in strips.rows.iter().zip(&plain.rows) {
                prop_assert_eq!(&one.values, &other.values);
            }
        }
    }
}

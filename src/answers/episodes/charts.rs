//! The chart of `episodes`: what happened and what the cluster did, over one axis of time.

use std::ops::Range;

use super::answer::times_words;
use super::seen::Seen;
use crate::answers::sentences::capital;
use crate::charts::{
    Chart, DAYS_OF_SPAN, Line, LineChart, PanelChart, Scale, Stroke, Tone, over_span,
};
use crate::digits::{counted, grouped, lasting};
use crate::studies::episodes::{Counts, Episode, What};
use crate::units::micros_to_seconds;

/// The most points of a line: longer logs have the highest of several intervals in each.
const POINTS_MAX: usize = 400;

/// The intervals that are drawn: those of tasks if these are known for less than half of the log.
fn drawn(counts: &Counts) -> Range<usize> {
    let known = |idx: &usize| counts.running[*idx].is_some();
    let count = counts.asked.at.count();
    let (first, last) = ((0..count).find(known), (0..count).rev().find(known));
    match first.zip(last) {
        Some((first, last)) if 2 * (last + 1 - first) < count => first..last + 1,
        _ => 0..count,
    }
}

/// The chart, if anything happened or ran.
pub(super) fn all(found: &Seen) -> Vec<(String, Chart)> {
    let (counts, at) = (&found.counts, &found.counts.asked.at);
    let drawn = drawn(counts);
    let since_s = micros_to_seconds(at.start_of(drawn.start));
    let each = drawn.len().div_ceil(POINTS_MAX).max(1);
    let day = |idx: usize| (micros_to_seconds(at.start_of(idx)) - since_s) / 86_400.0;
    // The highest of `each` neighbouring intervals; a last point closes the line where it ends.
    let line = |values: &dyn Fn(usize) -> Option<f64>, tone| {
        let stretches = drawn.clone().step_by(each);
        let point = |first: usize| {
            let last = (first + each).min(drawn.end);
            let highest = (first..last).filter_map(values).max_by(f64::total_cmp)?;
            Some((day(first), highest))
        };
        let mut points: Vec<(f64, f64)> = stretches.filter_map(point).collect();
        let last = drawn.clone().rev().find(|idx| values(*idx).is_some());
        let end = last.map(|idx| (micros_to_seconds(at.end_of(idx)) - since_s) / 86_400.0);
        points.extend(end.zip(points.last().copied()).map(|(end, last)| (end, last.1)));
        Line::steps(String::new(), points, tone)
    };
    let per = format!("per {}", per_interval(micros_to_seconds(at.length_us)));
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 events")]
    let panel_of = |what: What| {
        let events = &counts.events[what as usize];
        let known = |idx: usize| counts.knows(what, idx);
        let curve = line(&|idx| known(idx).then(|| events[idx] as f64), tone(what));
        // At the height of the line, which is that of the highest interval.
        let peak = |first: usize, last: usize| {
            let highest = (first..=last).max_by_key(|idx| (events[*idx], usize::MAX - idx))?;
            let place = highest.checked_sub(drawn.start).filter(|_| highest < drawn.end)?;
            Some((day(highest - place % each), events[highest] as f64))
        };
        let rings = Line {
            stroke: Stroke::Rings,
            ..Line::steps(
                "the largest episodes of each kind".to_owned(),
                episodes_of(found, what).filter_map(|one| peak(one.first, one.last)).collect(),
                Tone::Ink,
            )
        };
        panel(&capital(what.name()), format!("{} {per}", what.name()), vec![curve, rings])
    };
    let happened = What::ALL.into_iter().filter(|what| 0 < counts.total(*what));
    let mut panels: Vec<LineChart> = happened.map(panel_of).collect();
    let running = line(&|idx| counts.running[idx], Tone::Blue);
    let waiting = line(&|idx| counts.waiting[idx].filter(|_| found.knows_waits), Tone::Orange);
    let has_any = |line: &Line| line.points.iter().any(|point| 0.0 < point.1);
    for (title, unit, line) in
        [("Running tasks", "running tasks", running), ("Waiting tasks", "waiting tasks", waiting)]
    {
        if has_any(&line) {
            panels.push(panel(title, unit.to_owned(), vec![line]));
        }
    }
    if panels.is_empty() {
        return Vec::new();
    }
    let chart = Chart::Panels(PanelChart {
        title: "What happened when".to_owned(),
        caption: caption(found, &drawn, each),
        panels,
        columns: 1,
    });
    let length_us = at.end_of(drawn.end - 1) - at.start_of(drawn.start);
    let (chart, per) = over_span(chart, micros_to_seconds(length_us));
    vec![("episodes-time".to_owned(), found.missing.over_time(chart, since_s, per))]
}

fn panel(title: &str, unit: String, lines: Vec<Line>) -> LineChart {
    LineChart {
        title: title.to_owned(),
        caption: String::new(),
        x_axis: DAYS_OF_SPAN.to_owned(),
        y_axis: unit,
        x_scale: Scale::Linear,
        lines,
    }
}

/// The episodes of a kind that are shown.
fn episodes_of(found: &Seen, what: What) -> impl Iterator<Item = &Episode> {
    found.shown.iter().map(|(one, _)| one).filter(move |one| one.what == what)
}

/// `hour`, `day`, or the length.
fn per_interval(length_s: f64) -> String {
    match length_s {
        3600.0 => "hour".to_owned(),
        86_400.0 => "day".to_owned(),
        other => lasting(other),
    }
}

const fn tone(what: What) -> Tone {
    match what {
        What::Submitted => Tone::Green,
        What::Failed => Tone::Vermilion,
        What::Killed => Tone::Purple,
        What::Evicted | What::Lost => Tone::Orange,
        What::Left => Tone::Grey,
    }
}

fn caption(found: &Seen, drawn: &Range<usize>, each: usize) -> String {
    let rule = &found.plan;
    let all: usize = found.all.iter().map(Vec::len).sum();
    let length_s = micros_to_seconds(found.counts.asked.at.length_us);
    let length = match length_s {
        3600.0 => "an hour".to_owned(),
        86_400.0 => "a day".to_owned(),
        other => lasting(other),
    };
    let highest = if 1 < each {
        format!(" A point is the highest of {}.", counted(each as u64, "interval"))
    } else {
        String::new()
    };
    let (found_all, rings) = match all {
        0 => ("Nothing stands out".to_owned(), String::new()),
        some => {
            let within = |one: &&Episode| one.first < drawn.end && drawn.start <= one.last;
            let shown = found.all.iter().flatten().filter(within).count();
            let of_all = counted(some as u64, "episode");
            let of_all = match shown {
                all if all == some => of_all,
                part => format!("{} of {of_all}", grouped(part as u64)),
            };
            let largest = match rule.most {
                1 => "largest".to_owned(),
                most => format!("{} largest", grouped(most as u64)),
            };
            (of_all, format!(" Rings: the {largest} of each kind."))
        }
    };
    let part = if drawn.len() < found.counts.asked.at.count() {
        " Only the time for which tasks are loaded is drawn."
    } else {
        ""
    };
    format!(
        "{found_all}: an interval of {length} stands out if it has more than {} of its kind, and at \
        least {}; neighbours are one episode.{rings} Running and waiting tasks are means.{highest}{part}",
        times_words(rule.times),
        counted(rule.least, "event"),
    )
}

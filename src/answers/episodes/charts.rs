//! The charts of `episodes`: what happened and what the cluster did, over one axis of time.

use std::ops::Range;

use super::answer::times_words;
use super::seen::Seen;
use super::when::per_interval;
use crate::answers::sentences::capital;
use crate::charts::{
    Chart, DAYS_OF_SPAN, DAYS_OF_TRACE, Line, LineChart, PanelChart, Scale, Stroke, Tone,
    outcome_tone, over_span,
};
use crate::digits::{counted, grouped, is_date, lasting};
use crate::results::missing::Missing;
use crate::studies::episodes::{Counts, Episode, What};
use crate::units::micros_to_seconds;

/// The most points of a line. In longer logs, a point is the highest of several intervals.
const POINTS_MAX: usize = 400;

/// The intervals that are drawn. If tasks are known for less than half of the log, only those
/// intervals are drawn.
fn drawn(counts: &Counts) -> Range<usize> {
    let known = |idx: &usize| counts.running[*idx].is_some();
    let count = counts.asked.at.count();
    let (first, last) = ((0..count).find(known), (0..count).rev().find(known));
    match first.zip(last) {
        Some((first, last)) if 2 * (last + 1 - first) < count => first..last + 1,
        _ => 0..count,
    }
}

/// The charts. The first one shows the time for which tasks are known, if anything happened or ran.
/// If that is a small part of the log, a second one shows the whole log, with the kinds of events
/// that are known outside of that part.
pub(super) fn all(found: &Seen) -> Vec<(String, Chart)> {
    let counts = &found.counts;
    let whole = 0..counts.asked.at.count();
    let kinds = What::ALL.into_iter().filter(|what| 0 < counts.total(*what));
    let kinds: Vec<What> = kinds.collect();
    let near = Drawing::of(found, drawn(counts));
    let is_outside = |what: &What| {
        whole.clone().any(|idx| !near.range.contains(&idx) && counts.knows(*what, idx))
    };
    let outside: Vec<What> = kinds.iter().copied().filter(is_outside).collect();
    let mut panels: Vec<LineChart> = kinds.iter().map(|what| near.panel_of(*what)).collect();
    panels.extend(near.tasks());
    let mut charts = Vec::new();
    if !panels.is_empty() {
        let mut caption = near.caption(&kinds);
        caption.push_str(" Running and waiting tasks are means.");
        if near.range != whole {
            caption.push_str(" Only the time for which tasks are loaded is drawn");
            caption.push_str(if outside.is_empty() { "." } else { "; the whole log is below." });
        }
        let chart = near.chart("Events over time", caption, panels, &found.missing);
        charts.push(("episodes-time".to_owned(), chart));
    }
    if !outside.is_empty() {
        let far = Drawing::of(found, whole);
        let panels = outside.iter().map(|what| far.panel_of(*what)).collect();
        let (caption, missing) = (far.caption(&outside), &found.missing_of_whole);
        let chart = far.chart("Events over the whole log", caption, panels, missing);
        charts.push(("episodes-whole".to_owned(), chart));
    }
    charts
}

/// A range of intervals on a time axis.
struct Drawing<'a> {
    found: &'a Seen,
    range: Range<usize>,
    /// Number of neighbouring intervals per point; the point has the highest of them.
    each: usize,
    /// The instant at which the axis begins, s of the trace clock.
    since_s: f64,
    /// The title of the axis.
    axis: &'static str,
}

impl<'a> Drawing<'a> {
    /// Usually the axis begins with the clock of the trace, as in other charts. It begins with the
    /// drawn intervals if the log has dates, or if these intervals would be a small part at the
    /// right end.
    fn of(found: &'a Seen, range: Range<usize>) -> Self {
        let at = &found.counts.asked.at;
        let start_s = micros_to_seconds(at.start_of(range.start));
        let end_s = micros_to_seconds(at.end_of(range.end - 1));
        let is_own = is_date(start_s) || end_s < 2.0 * start_s;
        let (since_s, axis) = if is_own { (start_s, DAYS_OF_SPAN) } else { (0.0, DAYS_OF_TRACE) };
        let each = range.len().div_ceil(POINTS_MAX).max(1);
        Self { found, range, each, since_s, axis }
    }

    /// An instant on the axis, days.
    fn day(&self, us: i64) -> f64 {
        (micros_to_seconds(us) - self.since_s) / 86_400.0
    }

    /// A line through the highest of neighbouring intervals. A last point extends the line to its
    /// end.
    fn line(&self, values: &dyn Fn(usize) -> Option<f64>, tone: Tone) -> Line {
        let at = &self.found.counts.asked.at;
        let stretches = self.range.clone().step_by(self.each);
        let point = |first: usize| {
            let last = (first + self.each).min(self.range.end);
            let highest = (first..last).filter_map(values).max_by(f64::total_cmp)?;
            Some((self.day(at.start_of(first)), highest))
        };
        let mut points: Vec<(f64, f64)> = stretches.filter_map(point).collect();
        let last = self.range.clone().rev().find(|idx| values(*idx).is_some());
        let end = last.map(|idx| self.day(at.end_of(idx)));
        points.extend(end.zip(points.last().copied()).map(|(end, last)| (end, last.1)));
        Line::steps(String::new(), points, tone)
    }

    /// The events of a kind, with a ring around its largest episodes.
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 events")]
    fn panel_of(&self, what: What) -> LineChart {
        let counts = &self.found.counts;
        let events = &counts.events[what as usize];
        let known = |idx: usize| counts.knows(what, idx);
        let curve = self.line(&|idx| known(idx).then(|| events[idx] as f64), tone(what));
        // A ring is at the height of the line, which is the highest interval.
        let peak = |first: usize, last: usize| {
            let highest = (first..=last).max_by_key(|idx| (events[*idx], usize::MAX - idx))?;
            let place = highest.checked_sub(self.range.start)?;
            let point = highest - place % self.each;
            let is_drawn = highest < self.range.end;
            let at_us = counts.asked.at.start_of(point);
            is_drawn.then(|| (self.day(at_us), events[highest] as f64))
        };
        let rings = Line {
            stroke: Stroke::Rings,
            ..Line::steps(
                "the largest episodes of each kind".to_owned(),
                episodes_of(self.found, what).filter_map(|one| peak(one.first, one.last)).collect(),
                Tone::Ink,
            )
        };
        let length_s = micros_to_seconds(counts.asked.at.length_us);
        let unit = format!("{} per {}", noun(what), per_interval(length_s));
        self.panel(&capital(what.name()), unit, vec![curve, rings])
    }

    /// Running and waiting tasks, if there are any.
    fn tasks(&self) -> Vec<LineChart> {
        let counts = &self.found.counts;
        let knows_waits = self.found.knows_waits;
        let running = self.line(&|idx| counts.running[idx], Tone::Sky);
        let waiting = self.line(&|idx| counts.waiting[idx].filter(|_| knows_waits), Tone::Orange);
        let both = [("Running tasks", "running", running), ("Waiting tasks", "waiting", waiting)];
        let has_any = |line: &Line| line.points.iter().any(|point| 0.0 < point.1);
        let known = both.into_iter().filter(|(_, _, line)| has_any(line));
        known.map(|(title, unit, line)| self.panel(title, unit.to_owned(), vec![line])).collect()
    }

    fn panel(&self, title: &str, unit: String, lines: Vec<Line>) -> LineChart {
        LineChart {
            title: title.to_owned(),
            caption: String::new(),
            x_axis: self.axis.to_owned(),
            y_axis: unit,
            x_scale: Scale::Linear,
            y_from: 0.0,
            lines,
        }
    }

    fn chart(
        &self,
        title: &str,
        caption: String,
        panels: Vec<LineChart>,
        missing: &Missing,
    ) -> Chart {
        let chart =
            Chart::Panels(PanelChart { title: title.to_owned(), caption, panels, columns: 1 });
        let end_us = self.found.counts.asked.at.end_of(self.range.end - 1);
        let (chart, per) = over_span(chart, micros_to_seconds(end_us) - self.since_s);
        missing.over_time(chart, self.since_s, per)
    }

    /// The number of episodes of these kinds in the chart, and the definition of an episode.
    fn caption(&self, kinds: &[What]) -> String {
        let (found, range) = (self.found, &self.range);
        let rule = &found.plan;
        let all: usize = found.all.iter().map(Vec::len).sum();
        let length_s = micros_to_seconds(found.counts.asked.at.length_us);
        let length = match length_s {
            3600.0 => "an hour".to_owned(),
            86_400.0 => "a day".to_owned(),
            other => lasting(other),
        };
        let highest = if 1 < self.each {
            format!(" A point is the highest of {}.", counted(self.each as u64, "interval"))
        } else {
            String::new()
        };
        let (found_all, rings) = match all {
            0 => ("Nothing stands out".to_owned(), String::new()),
            some => {
                let is_drawn = |one: &&Episode| {
                    let is_within = one.first < range.end && range.start <= one.last;
                    is_within && kinds.contains(&one.what)
                };
                let shown = found.all.iter().flatten().filter(is_drawn).count();
                let of_all = counted(some as u64, "episode");
                let of_all = match shown {
                    all if all == some => of_all,
                    part => format!("{} of {of_all}", grouped(part as u64)),
                };
                let are_all_shown = found.all.iter().all(|all| all.len() <= rule.most);
                let rings = match rule.most {
                    _ if are_all_shown => "the episodes".to_owned(),
                    1 => "the largest of each kind".to_owned(),
                    most => format!("the {} largest of each kind", grouped(most as u64)),
                };
                (of_all, format!(" Rings: {rings}."))
            }
        };
        let late = if 0.0 < self.since_s && !is_date(self.since_s) {
            format!(" The axis begins {} after the start of the trace.", lasting(self.since_s))
        } else {
            String::new()
        };
        format!(
            "{found_all}: an interval of {length} stands out if it has more than {} of its kind, and \
            at least {}; neighbours are one episode.{rings}{highest}{late}",
            times_words(rule.times),
            counted(rule.least, "event"),
        )
    }
}

/// The episodes of a kind that are shown.
fn episodes_of(found: &Seen, what: What) -> impl Iterator<Item = &Episode> {
    found.shown.iter().map(|(one, _)| one).filter(move |one| one.what == what)
}

/// The noun for the axis; the title above it says what happened.
const fn noun(what: What) -> &'static str {
    match what {
        What::Submitted => "jobs",
        What::Failed => "failures",
        What::Killed => "kills",
        What::Evicted => "evictions",
        What::Lost => "losses",
        What::Left => "machines",
    }
}

/// The colour of an end is the colour of its outcome.
fn tone(what: What) -> Tone {
    match what {
        What::Submitted => Tone::Ink,
        What::Failed => outcome_tone("failed"),
        What::Killed => outcome_tone("killed"),
        What::Evicted | What::Lost => outcome_tone("evicted"),
        What::Left => Tone::Grey,
    }
}

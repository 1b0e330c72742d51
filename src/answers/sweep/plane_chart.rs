//! All rules of a kill sweep in one plane: net CPU saved against finished jobs harmed.
//!
//! In: sweeps, with intervals if jobs were resampled, and the rule that was chosen on earlier jobs.
//! Out: a chart. Settings that are named in the sentences of a page get their labels first.

use super::drawn::{NEXT_TO_NOTHING, band_note, definition, drawn, saved_of};
use super::gentle::{self, SHOWN, row_at};
use super::lost_jobs;
use super::tables::{FEW_TASKS, lost_tasks};
use crate::answers::condition::{condition, name_of};
use crate::answers::sentences::percent;
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::digits;
use crate::studies::fold::Study;
use crate::studies::kill_sweep::{PlanePoint, Sweep, SweepRow, plane, total_cpu};
use crate::studies::selection::Selection;

/// All rules in one plane. The most important settings get their labels first.
pub(super) fn plane_chart(study: &Study, sweeps: &[Sweep], selection: Option<&Selection>) -> Chart {
    let (what, lost) = (saved_of(study), lost_jobs(&total_cpu(study)));
    let points = plane(study, sweeps);
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let at =
        |point: &PlanePoint| (point.harmed_jobs as f64, point.net_share.unwrap_or(0.0) * 100.0);
    let line = |name: &str, points: Vec<(f64, f64)>, tone: Tone, stroke: Stroke| Line {
        name: name.to_owned(),
        points,
        band: Vec::new(),
        tone,
        stroke,
    };
    let (drawn, left_out) = drawn(sweeps);
    // A rule always has the same colour, whichever other rules are drawn.
    let tones = || {
        let all = sweeps.iter().zip(Tone::SERIES.iter().cycle());
        all.filter(|(sweep, _)| drawn.iter().any(|own| own.rule == sweep.rule))
    };
    // The oracle is far above all rules.
    let is_of_rule = |point: &&PlanePoint| point.net_share.is_some() && point.threshold.is_some();
    let within = seen(points.iter().filter(is_of_rule).map(at));
    let is_outside = |ends: &Vec<(f64, f64)>| ends.iter().any(|end| within.nearest(*end) != *end);
    let is_cut =
        sweeps.iter().flat_map(|sweep| &sweep.rows).flat_map(whiskers).any(|own| is_outside(&own));
    let mut lines: Vec<Line> = tones()
        .flat_map(|(sweep, &tone)| {
            let ends = sweep.rows.iter().flat_map(whiskers);
            let ends = ends.map(|ends| ends.into_iter().map(|end| within.nearest(end)).collect());
            ends.map(move |ends| line("", ends, tone, Stroke::Whisker)).collect::<Vec<Line>>()
        })
        .collect();
    // The front is drawn before the points of the rules, which touch it.
    let front = points.iter().filter(|point| point.is_on_front).map(at).collect();
    lines.push(line("Pareto front", front, Tone::Ink, Stroke::Steps));
    lines.extend(tones().map(|(sweep, &tone)| {
        let own = points.iter().filter(|point| point.rule == sweep.rule).map(at).collect();
        line(name_of(&sweep.rule), own, tone, Stroke::Points)
    }));
    let named = gentle::named(sweeps, selection);
    let labels = labels(&points, sweeps, &named).into_iter();
    lines.extend(labels.map(|(text, at)| line(&text, vec![at], Tone::Ink, Stroke::Label)));
    lines.push(line("never kill", vec![(0.0, 0.0)], Tone::Grey, Stroke::Marked));
    let whiskers = whisker_note(sweeps, is_cut);
    let destroys = if points.iter().any(|point| point.destroyed_cpu_share > Some(0.0)) {
        format!(", in brackets with the share of the {what} of finished jobs that it destroys")
    } else {
        String::new()
    };
    Chart::Lines(LineChart {
        title: format!("{what} saved against finished jobs harmed"),
        caption: format!(
            "{}Net {what} saved as a share of the {what} of {lost}; each point is a rule with one value of its parameter T, which is written beside it where there is room{destroys}.{whiskers}{left_out} {}",
            best_of(&points, sweeps, selection.is_some(), (what, lost)),
            definition(study)
        ),
        x_axis: "finished jobs harmed".to_owned(),
        y_axis: format!("net {what} saved (%)"),
        x_scale: scale(&points),
        y_from: 0.0,
        lines,
    })
}

/// The meaning of the whiskers; empty if jobs were not resampled.
fn whisker_note(sweeps: &[Sweep], is_cut: bool) -> &'static str {
    match (sweeps.iter().any(|sweep| !band_note(sweep).is_empty()), is_cut) {
        (true, true) => " Whiskers: 95 % under resampling of jobs; some go on beyond the plot.",
        (true, false) => " Whiskers: 95 % under resampling of jobs.",
        (false, _) => "",
    }
}

/// From this many harmed jobs on, a linear axis would squeeze the settings that harm few jobs.
const MANY: u64 = 30;

/// The scale of the harmed jobs.
fn scale(points: &[PlanePoint]) -> Scale {
    let of_rules = points.iter().filter(|point| point.threshold.is_some());
    let most = of_rules.map(|point| point.harmed_jobs).max().unwrap_or(0);
    if MANY <= most { Scale::Root } else { Scale::Linear }
}

/// The part of a plane that is drawn.
struct Seen {
    low: (f64, f64),
    high: (f64, f64),
}

impl Seen {
    /// The nearest position inside.
    fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.low.0, self.high.0), y.clamp(self.low.1, self.high.1))
    }
}

/// The part of a plane to draw for these points and the origin: their range, extended by its size
/// on each side. Much wider intervals would squeeze the points together.
fn seen(points: impl Iterator<Item = (f64, f64)>) -> Seen {
    let (low, high) = points.fold(((0.0, 0.0), (0.0, 0.0)), |(low, high), (x, y): (f64, f64)| {
        ((x.min(low.0), y.min(low.1)), (x.max(high.0), y.max(high.1)))
    });
    let wide = (high.0 - low.0, high.1 - low.1);
    Seen { low: (low.0 - wide.0, low.1 - wide.1), high: (high.0 + wide.0, high.1 + wide.1) }
}

/// A sentence about the point that saves most, and about the point that saves most without harm.
/// Empty if no point saves anything.
pub(super) fn best_of(
    points: &[PlanePoint],
    sweeps: &[Sweep],
    is_tested: bool,
    (what, lost): (&str, &str),
) -> String {
    let known = || points.iter().filter(|point| point.threshold.is_some());
    let most = |all: &mut dyn Iterator<Item = &PlanePoint>| -> Option<(f64, String, PlanePoint)> {
        let shares = all.filter_map(|point| Some((point.net_share?, point)));
        let (share, point) = shares.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let when = condition(&point.rule, point.threshold?);
        (0.0 < share).then_some((share, when, point.clone()))
    };
    let Some((share, when, best)) = most(&mut known()) else { return String::new() };
    let harmed = best.harmed_jobs;
    let destroys = best.destroyed_cpu_share.filter(|share| SHOWN <= *share);
    let destroys = destroys.map_or_else(String::new, |share| {
        format!(" and destroys {} of the {what} of finished jobs", percent(share))
    });
    let comma = if destroys.is_empty() { ", and" } else { "," };
    let harmless =
        if harmed == 0 { None } else { most(&mut known().filter(|point| point.harmed_jobs == 0)) };
    let harmless = harmless.filter(|(share, _, _)| NEXT_TO_NOTHING <= *share);
    let harmless = harmless.map_or_else(String::new, |(share, when, _)| {
        format!("; without harm, killing {when} saves {}", percent(share))
    });
    format!(
        "Killing tasks {when} saves most, a net {} of the {what} of {lost}{}{comma} harms \
        {}{destroys}{harmless}. ",
        percent(share),
        of_few(sweeps, &best, is_tested),
        digits::counted(harmed, "finished job")
    )
}

/// `, but on 9 tasks only and not tested on later jobs`, if a setting kills so few tasks that its
/// saving is not proven; otherwise empty.
fn of_few(sweeps: &[Sweep], point: &PlanePoint, is_tested: bool) -> String {
    let tasks = row_at(sweeps, &point.rule, point.threshold).map_or(0, lost_tasks);
    if (1..FEW_TASKS).contains(&tasks) {
        let untested = if is_tested { "" } else { " and not tested on later jobs" };
        format!(", but on {} only{untested}", digits::counted(tasks, "task"))
    } else {
        String::new()
    }
}

/// The values of T as labels, first of the points that sentences name, then of the points on the
/// front. The chart leaves out labels that do not fit. Other points have no label, because their
/// values have the different units of the rules. If all points belong to one rule, they have
/// labels.
fn labels(
    points: &[PlanePoint],
    sweeps: &[Sweep],
    named: &[(String, i64)],
) -> Vec<(String, (f64, f64))> {
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let place = |point: &PlanePoint| Some((point.harmed_jobs as f64, point.net_share? * 100.0));
    let rank = |point: &PlanePoint| {
        let is_own = |(rule, threshold): &(String, i64)| {
            *rule == point.rule && Some(*threshold) == point.threshold
        };
        named.iter().position(is_own).unwrap_or(usize::MAX)
    };
    let known = points.iter().filter(|point| point.threshold.is_some());
    let known = known.filter_map(|point| Some((rank(point), point, place(point)?)));
    let mut known: Vec<(usize, &PlanePoint, (f64, f64))> =
        known.filter(|(_, _, at)| 0.0 < at.0 || at.1 != 0.0).collect();
    let is_one_rule = known.windows(2).all(|two| two[0].1.rule == two[1].1.rule);
    known.retain(|(rank, point, _)| is_one_rule || *rank < usize::MAX || point.is_on_front);
    known.sort_by_key(|(rank, _, _)| *rank);
    let text = |point: &PlanePoint| {
        let destroys = point.destroyed_cpu_share.filter(|share| SHOWN <= *share);
        let destroys = destroys.map_or_else(String::new, |share| format!(" ({})", percent(share)));
        format!("{} {}{destroys}", name_of(&point.rule), parameter_text(point, sweeps))
    };
    known.into_iter().map(|(_, point, at)| (text(point), at)).collect()
}

/// A value of T with its unit: `75 %`, `30 min`, `3`.
#[expect(clippy::cast_precision_loss, reason = "a parameter, which is rounded for a label")]
fn parameter_text(point: &PlanePoint, sweeps: &[Sweep]) -> String {
    let threshold = point.threshold.unwrap_or(0);
    let unit = sweeps.iter().find(|sweep| sweep.rule == point.rule);
    match unit.map_or("", |sweep| sweep.threshold_unit.as_ref()) {
        "s" => digits::lasting(threshold as f64),
        "%" => format!("{threshold} %"),
        _ => digits::grouped_signed(threshold),
    }
}

/// The intervals of a row: a vertical and a horizontal line through its point.
fn whiskers(row: &SweepRow) -> Vec<Vec<(f64, f64)>> {
    let Some(interval) = &row.interval else { return Vec::new() };
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let Some(x) = row.harmed_jobs.map(|jobs| jobs as f64) else { return Vec::new() };
    let y = row.net_share.unwrap_or(0.0) * 100.0;
    let upright = interval.net_share.map(|(low, high)| vec![(x, low * 100.0), (x, high * 100.0)]);
    let level = interval.harmed_jobs.map(|(low, high)| vec![(low, y), (high, y)]);
    upright.into_iter().chain(level).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{from_value, json};

    use super::*;

    fn point(
        rule: &str,
        threshold: i64,
        harmed_jobs: u64,
        net: f64,
        is_on_front: bool,
    ) -> PlanePoint {
        PlanePoint {
            rule: rule.to_owned(),
            threshold: Some(threshold),
            harmed_jobs,
            net_cpu: 0.0,
            net_share: Some(net),
            destroyed_cpu_share: Some(if threshold == 4 { 0.4 } else { 0.0004 }),
            is_on_front,
        }
    }

    /// Promise: the settings that sentences name get their labels first, whether they are on the
    /// front or not. Other points behind the front have no labels.
    #[test]
    fn settings_that_sentences_name_are_labelled_first() {
        let points = [
            point("dead-time", 4, 10, 0.076, true),
            point("dead-time", 8, 10, 0.068, false),
            point("dead-time", 9, 12, 0.05, false),
            point("restarts", 1, 179, 0.1, true),
        ];
        let rows = |points: &[PlanePoint]| -> Vec<SweepRow> {
            let row = |own: &PlanePoint| {
                let destroyed = if own.threshold == Some(4) { 0.4 } else { 0.1 };
                from_value(json!({"threshold": own.threshold, "harmed_jobs": own.harmed_jobs,
                    "net_share": own.net_share, "destroyed_cpu_share": destroyed}))
                .unwrap()
            };
            points.iter().map(row).collect()
        };
        let sweep = |rule: &str, own: &[PlanePoint]| Sweep {
            rule: rule.to_owned(),
            rows: rows(own),
            ..Sweep::default()
        };
        let sweeps = [sweep("dead-time", &points[..3]), sweep("restarts", &points[3..])];
        let named = gentle::named(&sweeps, None);
        assert_eq!(named, [("dead-time".to_owned(), 8), ("restarts".to_owned(), 1)]);
        let texts = labels(&points, &sweeps, &named);
        let texts: Vec<&str> = texts.iter().map(|own| own.0.as_str()).collect();
        assert_eq!(texts, ["dead-time 8", "restarts 1", "dead-time 4 (40.0 %)"]);
        assert_eq!([scale(&points), scale(&points[..3])], [Scale::Root, Scale::Linear]);
        // Points of a single rule have labels, even behind the front.
        let texts = labels(&points[..3], &sweeps[..1], &gentle::named(&sweeps[..1], None));
        assert_eq!(texts.len(), 3, "{texts:?}");
    }

    #[test]
    fn a_saving_on_few_tasks_and_a_harmless_one_that_is_tiny_say_so() {
        let said = |tasks: u64, harmless: f64| {
            let row = json!({"threshold": 75, "condemned_tasks": {"failed": tasks},
                "condemned_at_end": {"failed": 0}});
            let rule = "slurm:of=requested";
            let own = Sweep {
                rule: rule.to_owned(),
                rows: vec![from_value(row).unwrap()],
                ..Sweep::default()
            };
            let points = [point(rule, 75, 2, 0.15, true), point(rule, 90, 0, harmless, true)];
            best_of(&points, &[own], false, ("CPU", "jobs that did not finish"))
        };
        assert_eq!(
            said(9, 0.02),
            "Killing tasks at 75 % of the requested time saves most, a net 15.0 % of the CPU of jobs that did \
            not finish, but on 9 tasks only and not tested on later jobs, and harms 2 finished jobs; without harm, killing at 90 % of the \
            requested time saves 2.0 %. "
        );
        let many = said(10, 0.0009);
        assert!(!many.contains("only") && !many.contains("without harm"), "{many}");
    }

    proptest! {
        /// Promise: every point is drawn, and an interval extends the drawn part by at most the
        /// range of the points.
        #[test]
        fn intervals_do_not_press_the_points_together(
            points in prop::collection::vec((0.0..200.0_f64, -50.0..50.0_f64), 1..10),
            end in (-900.0..900.0_f64, -900.0..900.0_f64),
        ) {
            let seen = seen(points.iter().copied());
            for point in &points {
                prop_assert_eq!(seen.nearest(*point), *point);
            }
            let top = points.iter().fold(0.0, |top: f64, point| top.max(point.1));
            let bottom = points.iter().fold(0.0, |bottom: f64, point| bottom.min(point.1));
            let drawn = seen.nearest(end);
            prop_assert!(drawn.1 <= 2.0 * top - bottom + 1e-9);
            prop_assert!(2.0 * bottom - top - 1e-9 <= drawn.1);
        }
    }
}

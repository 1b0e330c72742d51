//! Charts of a kill sweep: saved and harmed by threshold, and all rules in one plane.
//!
//! In: sweeps, with intervals if jobs were resampled. Out: charts by the stem of their files.

use super::{lost_jobs, sum_of};
use crate::answers::condition::condition;
use crate::answers::edges;
use crate::answers::sentences::{self, percent};
use crate::charts::{Chart, Line, LineChart, PanelChart, Scale, Stroke, Tone, outcome_tone};
use crate::digits;
use crate::studies::fold::Study;
use crate::studies::kill_sweep::{PlanePoint, Sweep, SweepRow, plane, total_cpu};
use crate::studies::meter::Resource;
use crate::studies::selection::Interval;

/// A point, with the bounds of its interval if it has one.
type Bounded = (f64, Option<(f64, f64)>);

/// Two charts: what each rule saves and harms, and all rules in one plane.
pub(crate) fn charts(study: &Study, sweeps: &[Sweep]) -> Vec<(String, Chart)> {
    vec![
        ("sweep-rules".to_owned(), rules_chart(study, sweeps)),
        ("sweep-plane".to_owned(), plane_chart(study, sweeps)),
    ]
}

/// How CPU time and outcomes are defined, and what crosses the edges of the window.
fn definition(study: &Study) -> String {
    let requested = if study.asked.meter.to_string() == "requested" {
        " (as requested, whether it was used or not)"
    } else {
        ""
    };
    format!(
        "{}: {}{requested}; outcomes classified by {}.{}",
        study.asked.meter.resource().title(),
        study.asked.meter,
        study.asked.classes,
        edges::ending(&edges::of_study(study))
    )
}

/// Figures 4.2.1 and 4.2.2 of the paper of 2017, of one rule; with all values of T.
pub(crate) fn of_paper(study: &Study, sweep: &Sweep) -> [LineChart; 2] {
    let caption = caption(study, std::slice::from_ref(sweep), Shown::All);
    let of = |title: &str, plot: LineChart| LineChart {
        title: title.to_owned(),
        caption: caption.clone(),
        ..plot
    };
    [
        of("CPU saved by killing at T", saved_plot(study, sweep)),
        of("finished jobs harmed by killing at T", harmed_plot(sweep)),
    ]
}

/// Which values of T the curves of a chart have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    All,
    /// Only up to where nothing happens any more.
    Cut,
}

/// What each rule saves, and below it what it harms, over its parameter.
fn rules_chart(study: &Study, sweeps: &[Sweep]) -> Chart {
    let what = saved_of(study);
    let drawn = drawn(sweeps).0;
    let (told, is_cut): (Vec<Sweep>, Vec<bool>) =
        drawn.iter().map(|sweep| until_flat(sweep)).unzip();
    let columns = told.len().clamp(1, COLUMNS);
    let rows = told.chunks(columns).flat_map(|row| {
        // In a log without a status, nothing can be saved.
        let saved = row.iter().map(|sweep| saved_plot(study, sweep)).filter(has_points);
        saved.chain(row.iter().map(harmed_plot)).collect::<Vec<LineChart>>()
    });
    let panels: Vec<LineChart> = rows.collect();
    let title = if panels.len() == drawn.len() {
        "Finished jobs harmed, by rule".to_owned()
    } else {
        format!("{what} saved and finished jobs harmed, by rule")
    };
    let shown = if is_cut.contains(&true) { Shown::Cut } else { Shown::All };
    let caption = caption(study, sweeps, shown);
    Chart::Panels(PanelChart { title, caption, panels, columns })
}

/// The caption of what rules save and harm over their parameters.
fn caption(study: &Study, sweeps: &[Sweep], shown: Shown) -> String {
    let what = saved_of(study);
    let (drawn, left_out) = drawn(sweeps);
    let said = if drawn.iter().any(|sweep| has_points(&saved_plot(study, sweep))) {
        format!(
            "Above: {what} saved, which is the {what} after the kill, as a share of all {what} of jobs \
             of that outcome. Below: finished jobs of which at least one task would be killed."
        )
    } else {
        "Finished jobs of which at least one task would be killed.".to_owned()
    };
    let one_job = of_one_job(&drawn);
    let bands = sweeps.first().map_or("", band_note);
    let beyond = match shown {
        Shown::All => "",
        Shown::Cut => {
            " Beyond the last T that is drawn, a rule harms no job and saves under 0.1 % of any outcome."
        }
    };
    let lost = lost_jobs(&total_cpu(study));
    let found = match best_of(&plane(study, sweeps), (what, lost)) {
        found if found.is_empty() => most_harm(&drawn),
        found => found,
    };
    format!("{found}{said}{one_job}{bands}{beyond}{left_out} {}", definition(study))
}

/// A sentence about outcomes whose curves show one job more than all others: it is most of the largest
/// saving; empty if there is none.
fn of_one_job(drawn: &[&Sweep]) -> String {
    let rows = || drawn.iter().flat_map(|sweep| &sweep.rows);
    let said = ["failed", "killed", "running"].into_iter().filter_map(|outcome| {
        let known = rows().filter_map(|row| Some((row.saved_share.get(outcome)?, row)));
        let (share, row) = known.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let largest = row.largest_saved_share.get(outcome);
        let largest = largest.filter(|_| NEXT_TO_NOTHING <= share);
        sentences::most_of(largest, &format!("the largest saving in {outcome} jobs"))
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() {
        return String::new();
    }
    format!(" {}.", sentences::capital(&said.join("; ")))
}

/// Whether a plot has a point.
fn has_points(plot: &LineChart) -> bool {
    plot.lines.iter().any(|line| !line.points.is_empty())
}

/// The sweeps that are drawn, and a sentence about the others: drawn are rules that save or harm
/// something, or all if none does.
fn drawn(sweeps: &[Sweep]) -> (Vec<&Sweep>, String) {
    let (drawn, others): (Vec<&Sweep>, Vec<&Sweep>) =
        sweeps.iter().partition(|sweep| sweep.rows.iter().any(SweepRow::has_effect));
    if drawn.is_empty() || others.is_empty() {
        return (sweeps.iter().collect(), String::new());
    }
    let said = left_out(&others);
    (drawn, format!(" Left out, because they would have saved and harmed nothing: {said}."))
}

/// Rules that save and harm nothing. Those that kill tasks are named apart: the table has rows of
/// them.
fn left_out(rules: &[&Sweep]) -> String {
    let kills = |sweep: &&Sweep| sweep.rows.iter().any(|row| 0 < sum_of(&row.condemned_tasks));
    let (kill, idle): (Vec<&Sweep>, Vec<&Sweep>) = rules.iter().copied().partition(kills);
    let said = |rules: &[&Sweep], what: &str| {
        let names: Vec<&str> = rules.iter().map(|sweep| sweep.rule.as_str()).collect();
        let verb = if names.len() == 1 { "kills" } else { "kill" };
        (!names.is_empty()).then(|| format!("{} ({verb} {what})", names.join(", ")))
    };
    let parts =
        [said(&idle, "no task"), said(&kill, "only tasks that have no CPU time left to use")];
    parts.into_iter().flatten().collect::<Vec<String>>().join("; ")
}

/// The rows of a sweep up to the first of those at its end that harm nothing and save next to nothing,
/// even in the intervals, and whether more follow.
fn until_flat(sweep: &Sweep) -> (Sweep, bool) {
    let is_small = |share: f64| share.abs() < NEXT_TO_NOTHING;
    let is_flat = |row: &SweepRow| {
        let interval = row.interval.as_ref();
        let bounds = |of: fn(&Interval) -> Option<(f64, f64)>| {
            let (low, high) = interval.and_then(of).unwrap_or((0.0, 0.0));
            [low, high]
        };
        let mut shares = row.saved_share.iter().filter_map(|(_, share)| share).chain(row.net_share);
        let outcomes = row
            .saved_share
            .iter()
            .filter_map(|(outcome, _)| interval.and_then(|own| own.saved_share_of(outcome)));
        let mut widths = outcomes.flat_map(|(low, high)| [low, high]);
        row.harmed_jobs.unwrap_or(0) == 0
            && shares.all(is_small)
            && widths.all(is_small)
            && bounds(|own| own.net_share).into_iter().all(is_small)
            && bounds(|own| own.harmed_jobs) == [0.0, 0.0]
    };
    let last = sweep.rows.iter().rposition(|row| !is_flat(row));
    let kept = last.map_or(sweep.rows.len(), |last| (last + 2).max(FEWEST)).min(sweep.rows.len());
    let rows = sweep.rows[..kept].to_vec();
    (Sweep { rows, ..sweep.clone() }, kept < sweep.rows.len())
}

/// A smaller share looks like zero in a chart.
const NEXT_TO_NOTHING: f64 = 0.001;

/// The fewest values of T of a curve, if there are as many.
const FEWEST: usize = 3;

/// The most rules in a row of the chart.
const COLUMNS: usize = 4;

/// One curve over the parameters, with a band if jobs were resampled.
#[expect(clippy::cast_precision_loss, reason = "a place on paper")]
fn curve(
    name: &str,
    tone: Tone,
    sweep: &Sweep,
    value: &dyn Fn(&SweepRow) -> Option<Bounded>,
) -> Line {
    let known: Vec<(f64, Bounded)> =
        sweep.rows.iter().filter_map(|row| Some((row.threshold as f64, value(row)?))).collect();
    let band =
        known.iter().filter_map(|(x, (_, bounds))| bounds.map(|(low, high)| (*x, low, high)));
    Line {
        name: name.to_owned(),
        points: known.iter().map(|(x, (y, _))| (*x, *y)).collect(),
        band: band.collect(),
        tone,
        stroke: Stroke::Marked,
    }
}

/// A sentence that explains the bands; empty if there are none.
fn band_note(sweep: &Sweep) -> &'static str {
    if sweep.rows.iter().any(|row| row.interval.is_some()) {
        " Bands: 95 % under resampling of jobs."
    } else {
        ""
    }
}

/// A logarithmic axis if the largest threshold is more than 15 times the smallest.
fn x_scale(sweep: &Sweep) -> Scale {
    let thresholds = || sweep.rows.iter().map(|row| row.threshold);
    let (least, most) = (thresholds().min().unwrap_or(1), thresholds().max().unwrap_or(1));
    if 0 < least && least.saturating_mul(15) < most { Scale::Log } else { Scale::Linear }
}

/// The name of what a kill saves.
fn saved_of(study: &Study) -> &'static str {
    if study.asked.meter.resource() == Resource::Gpu { "GPU time" } else { "CPU" }
}

fn saved_plot(study: &Study, sweep: &Sweep) -> LineChart {
    let percent = |bounds: (f64, f64)| (bounds.0 * 100.0, bounds.1 * 100.0);
    let lines = ["failed", "killed", "running", "evicted", "other"]
        .into_iter()
        .filter(|outcome| study.outcomes().contains(outcome))
        // An outcome that does not occur has no CPU, so it has no share.
        .filter(|outcome| sweep.rows.iter().any(|row| row.saved_share.get(outcome).is_some()))
        .map(|outcome| {
            curve(outcome, outcome_tone(outcome), sweep, &|row| {
                let share = row.saved_share.get(outcome)?;
                let bounds = row.interval.as_ref().and_then(|found| found.saved_share_of(outcome));
                Some((share * 100.0, bounds.map(percent)))
            })
        })
        .collect();
    plot(sweep, &format!("{} saved (%)", saved_of(study)), lines)
}

fn harmed_plot(sweep: &Sweep) -> LineChart {
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let line = curve("", Tone::Ink, sweep, &|row| {
        let bounds = row.interval.as_ref().and_then(|interval| interval.harmed_jobs);
        Some((row.harmed_jobs? as f64, bounds))
    });
    plot(sweep, "harmed jobs", vec![line])
}

/// A plot over the parameter of a rule.
fn plot(sweep: &Sweep, y_axis: &str, lines: Vec<Line>) -> LineChart {
    LineChart {
        title: sweep.rule.clone(),
        caption: String::new(),
        x_axis: axis_of(sweep),
        y_axis: y_axis.to_owned(),
        x_scale: x_scale(sweep),
        lines,
    }
}

/// The title of the axis of a parameter. That of a length of time ends in its unit, so that its ticks are
/// in words.
fn axis_of(sweep: &Sweep) -> String {
    match sweep.parameter.strip_prefix("s ") {
        Some(of_what) => format!("T, time {of_what} (s)"),
        None => format!("T ({})", sweep.parameter),
    }
}

fn plane_chart(study: &Study, sweeps: &[Sweep]) -> Chart {
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
    // A rule has the same colour whichever others are drawn.
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
        line(&sweep.rule, own, tone, Stroke::Points)
    }));
    lines.extend(
        labels(&points, sweeps)
            .into_iter()
            .map(|(text, at)| line(&text, vec![at], Tone::Ink, Stroke::Label)),
    );
    lines.push(line("never kill", vec![(0.0, 0.0)], Tone::Grey, Stroke::Marked));
    let note = if sweeps.iter().any(|sweep| !band_note(sweep).is_empty()) {
        if is_cut {
            " Whiskers: 95 % under resampling of jobs; some go on beyond the plot."
        } else {
            " Whiskers: 95 % under resampling of jobs."
        }
    } else {
        ""
    };
    Chart::Lines(LineChart {
        title: format!("{what} saved against finished jobs harmed"),
        caption: format!(
            "{}Net {what} saved as a share of the {what} of {lost}; each point is a rule with one value of its parameter T, which is written beside it where there is room. The oracle, which knows how jobs end, is above the chart, at 100 % and 0 jobs.{note}{left_out} {}",
            best_of(&points, (what, lost)),
            definition(study)
        ),
        x_axis: "finished jobs harmed".to_owned(),
        y_axis: format!("net {what} saved (%)"),
        x_scale: Scale::Linear,
        lines,
    })
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

/// What is drawn of a plane with these points and the origin: their range, and on each side as much
/// again. Intervals that are much wider than the points are apart would press these together.
fn seen(points: impl Iterator<Item = (f64, f64)>) -> Seen {
    let (low, high) = points.fold(((0.0, 0.0), (0.0, 0.0)), |(low, high), (x, y): (f64, f64)| {
        ((x.min(low.0), y.min(low.1)), (x.max(high.0), y.max(high.1)))
    });
    let wide = (high.0 - low.0, high.1 - low.1);
    Seen { low: (low.0 - wide.0, low.1 - wide.1), high: (high.0 + wide.0, high.1 + wide.1) }
}

/// A sentence about the point that saves most, and about the one that saves most without harm;
/// empty if none saves anything.
fn best_of(points: &[PlanePoint], (what, lost): (&str, &str)) -> String {
    let known = || points.iter().filter(|point| point.threshold.is_some());
    let most = |all: &mut dyn Iterator<Item = &PlanePoint>| -> Option<(f64, String, u64)> {
        let shares = all.filter_map(|point| Some((point.net_share?, point)));
        let (share, point) = shares.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let when = condition(&point.rule, point.threshold?);
        (0.0 < share).then_some((share, when, point.harmed_jobs))
    };
    let Some((share, when, harmed)) = most(&mut known()) else { return String::new() };
    let harmless =
        if harmed == 0 { None } else { most(&mut known().filter(|point| point.harmed_jobs == 0)) };
    let harmless = harmless.map_or_else(String::new, |(share, when, _)| {
        format!("; without harm, killing {when} saves {}", percent(share))
    });
    format!(
        "Killing tasks {when} saves most, a net {} of the {what} of {lost}, and harms \
        {}{harmless}. ",
        percent(share),
        digits::counted(harmed, "finished job")
    )
}

/// The setting that harms most, as a sentence, for a log in which nothing can be saved; empty if none
/// harms a job.
fn most_harm(sweeps: &[&Sweep]) -> String {
    let rows = sweeps.iter().flat_map(|sweep| sweep.rows.iter().map(|row| (&sweep.rule, row)));
    let known = rows.filter_map(|(rule, row)| Some((row.harmed_jobs?, rule, row.threshold)));
    match known.max_by_key(|one| one.0).filter(|one| 0 < one.0) {
        Some((jobs, rule, threshold)) => format!(
            "Killing tasks {} harms most: {}. ",
            condition(rule, threshold),
            digits::counted(jobs, "finished job")
        ),
        None => String::new(),
    }
}

/// The values of T beside the points of the front; of several there, the chart leaves out those
/// without room. Points behind the front have no label: their values mix the units of the rules.
fn labels(points: &[PlanePoint], sweeps: &[Sweep]) -> Vec<(String, (f64, f64))> {
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let place = |point: &PlanePoint| Some((point.harmed_jobs as f64, point.net_share? * 100.0));
    let known = points.iter().filter(|point| point.threshold.is_some());
    let known = known.filter_map(|point| Some((point, place(point)?)));
    let known = known.filter(|(point, at)| point.is_on_front && (0.0 < at.0 || at.1 != 0.0));
    let text = |point: &PlanePoint| format!("{} {}", point.rule, parameter_text(point, sweeps));
    known.map(|(point, at)| (text(point), at)).collect()
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

    use super::*;

    #[test]
    fn a_curve_of_one_job_is_named_and_times_have_ticks_in_words() {
        let row = |share: f64, largest: f64| -> SweepRow {
            serde_json::from_value(serde_json::json!({"threshold": 60,
                "saved_share": {"failed": share, "killed": 0.1},
                "largest_saved_share": {"failed": largest, "killed": 0.2}}))
            .unwrap()
        };
        let of = |rows: Vec<SweepRow>| Sweep {
            rows,
            parameter: "s in dead attempts".into(),
            ..Sweep::default()
        };
        let said = |rows: Vec<SweepRow>| of_one_job(&[&of(rows)]);
        assert_eq!(
            said(vec![row(0.6, 0.95), row(0.1, 0.2)]),
            " One job makes up 95.0 % of the largest saving in failed jobs."
        );
        assert_eq!(said(vec![row(0.6, 0.2), row(0.1, 0.95)]), "");
        assert_eq!(axis_of(&of(Vec::new())), "T, time in dead attempts (s)");
        let events = Sweep { parameter: "events".into(), ..Sweep::default() };
        assert_eq!(axis_of(&events), "T (events)");
    }

    proptest! {
        /// Promise: what is left out at the end of a curve saves and harms nothing, also in its
        /// intervals; one such row stays, and no curve is cut below the fewest rows.
        #[test]
        fn only_a_flat_end_of_a_curve_is_left_out(
            rows in prop::collection::vec((0..3_u64, 0..3_u32, prop::bool::weighted(0.2)), 1..15),
        ) {
            let row = |(threshold, &(harmed, net, is_wide)): (i64, &(u64, u32, bool))| SweepRow {
                threshold,
                harmed_jobs: Some(harmed / 2),
                net_share: Some(f64::from(net / 2)),
                interval: is_wide.then(|| Interval {
                    harmed_jobs: Some((0.0, 1.0)),
                    ..Interval::default()
                }),
                ..SweepRow::default()
            };
            let sweep = Sweep { rows: (0..).zip(&rows).map(row).collect(), ..Sweep::default() };
            let (kept, is_cut) = until_flat(&sweep);
            let count = kept.rows.len();
            prop_assert_eq!(is_cut, count < rows.len());
            let is_flat = |own: &(u64, u32, bool)| own.0 < 2 && own.1 < 2 && !own.2;
            prop_assert!(rows[count..].iter().all(is_flat));
            if is_cut {
                prop_assert!(FEWEST <= count && is_flat(&rows[count - 1]));
                let flat = rows.iter().rev().take_while(|own| is_flat(own)).count();
                prop_assert!(flat == rows.len() || count == FEWEST.max(rows.len() - flat + 1));
            }
        }

        /// Promise: every point is drawn, and an interval goes beyond the points by at most their own
        /// range.
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

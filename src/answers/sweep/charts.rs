//! Pictures of a kill sweep: saved and harmed by threshold, and all rules in one plane.
//!
//! In: sweeps, with intervals where jobs were resampled. Out: charts by the stem of their files.

use crate::answers::edges;
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone, outcome_tone};
use crate::studies::fold::Study;
use crate::studies::kill_sweep::{PlanePoint, Sweep, SweepRow, plane};

/// A point with the bounds of its interval, where there is one.
type Bounded = (f64, Option<(f64, f64)>);

/// Figures 4.2.1 and 4.2.2 of the paper of 2017 for each rule, and all rules in one plane.
pub(crate) fn charts(study: &Study, sweeps: &[Sweep]) -> Vec<(String, Chart)> {
    let definition = format!(
        "CPU time: {}; outcomes told by {}.{}",
        study.asked.meter,
        study.asked.classes,
        edges::ending(&edges::of_study(study))
    );
    let mut charts = Vec::new();
    for (idx, sweep) in sweeps.iter().enumerate() {
        let suffix = if idx == 0 { String::new() } else { format!("-{}", stem(&sweep.rule)) };
        charts.push((format!("sweep-saved{suffix}"), saved_chart(study, sweep, &definition)));
        charts.push((format!("sweep-harmed{suffix}"), harmed_chart(sweep, &definition)));
    }
    charts.push(("sweep-plane".to_owned(), plane_chart(study, sweeps, &definition)));
    charts
}

/// A rule as a part of a file's name.
fn stem(rule: &str) -> String {
    rule.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

/// One curve over the parameters, with a band where jobs were resampled.
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

/// What the bands are, where there are any.
fn band_note(sweep: &Sweep) -> &'static str {
    if sweep.rows.iter().any(|row| row.interval.is_some()) {
        " Bands: 95 % under resampling of jobs."
    } else {
        ""
    }
}

/// Grids of many sizes are spread by powers of ten, even ones evenly.
fn x_scale(sweep: &Sweep) -> Scale {
    let gaps = sweep.rows.windows(2).map(|pair| pair[1].threshold - pair[0].threshold);
    let (smallest, largest) = (gaps.clone().min().unwrap_or(1), gaps.max().unwrap_or(1));
    let is_positive = sweep.rows.first().is_none_or(|row| 0 < row.threshold);
    if is_positive && 10 * smallest < largest { Scale::Log } else { Scale::Linear }
}

fn saved_chart(study: &Study, sweep: &Sweep, definition: &str) -> Chart {
    let percent = |bounds: (f64, f64)| (bounds.0 * 100.0, bounds.1 * 100.0);
    let lines = ["failed", "killed", "running", "evicted", "other"]
        .into_iter()
        .filter(|outcome| study.outcomes().contains(outcome))
        .map(|outcome| {
            curve(outcome, outcome_tone(outcome), sweep, &|row| {
                let share = row.saved_share.get(outcome)?;
                let bounds = row.interval.as_ref().and_then(|found| found.saved_share_of(outcome));
                Some((share * 100.0, bounds.map(percent)))
            })
        })
        .collect();
    Chart::Lines(LineChart {
        title: format!("CPU saved by killing at T ({})", sweep.rule),
        caption: format!(
            "CPU after the kill as a share of all CPU of jobs of that outcome.{} {definition}",
            band_note(sweep)
        ),
        x_axis: format!("threshold T ({})", sweep.parameter),
        y_axis: "CPU saved (%)".to_owned(),
        x_scale: x_scale(sweep),
        lines,
    })
}

fn harmed_chart(sweep: &Sweep, definition: &str) -> Chart {
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let line = curve("", Tone::Vermilion, sweep, &|row| {
        let bounds = row.interval.as_ref().and_then(|interval| interval.harmed_jobs);
        Some((row.harmed_jobs? as f64, bounds))
    });
    Chart::Lines(LineChart {
        title: format!("Finished jobs harmed by killing at T ({})", sweep.rule),
        caption: format!(
            "Finished jobs with at least one condemned task.{} {definition}",
            band_note(sweep)
        ),
        x_axis: format!("threshold T ({})", sweep.parameter),
        y_axis: "harmed jobs".to_owned(),
        x_scale: x_scale(sweep),
        lines: vec![line],
    })
}

fn plane_chart(study: &Study, sweeps: &[Sweep], definition: &str) -> Chart {
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
    let tones = || sweeps.iter().zip(Tone::SERIES.iter().cycle());
    let mut lines: Vec<Line> = tones()
        .flat_map(|(sweep, &tone)| {
            let ends = sweep.rows.iter().flat_map(whiskers);
            ends.map(move |ends| line("", ends, tone, Stroke::Whisker)).collect::<Vec<Line>>()
        })
        .collect();
    // Below the rules, which touch it.
    let front = points.iter().filter(|point| point.is_on_front).map(at).collect();
    lines.push(line("Pareto front", front, Tone::Grey, Stroke::Steps));
    lines.extend(tones().map(|(sweep, &tone)| {
        let own = points.iter().filter(|point| point.rule == sweep.rule).map(at).collect();
        line(&sweep.rule, own, tone, Stroke::Marked)
    }));
    lines.extend([
        line("never kill", vec![(0.0, 0.0)], Tone::Ink, Stroke::Marked),
        line("oracle", vec![(0.0, 100.0)], Tone::Sky, Stroke::Marked),
    ]);
    let note = if sweeps.iter().any(|sweep| !band_note(sweep).is_empty()) {
        " Whiskers: 95 % under resampling of jobs."
    } else {
        ""
    };
    Chart::Lines(LineChart {
        title: "CPU saved against finished jobs harmed".to_owned(),
        caption: format!(
            "Net CPU saved as a share of the CPU of jobs that did not finish; each point is one parameter of a rule. Bounds: never killing is (0, 0), an oracle reaches 100 % without harm.{note} {definition}"
        ),
        x_axis: "finished jobs harmed".to_owned(),
        y_axis: "net CPU saved (%)".to_owned(),
        x_scale: Scale::Linear,
        lines,
    })
}

/// The interval of a row as an upright and a level line through its point.
fn whiskers(row: &SweepRow) -> Vec<Vec<(f64, f64)>> {
    let Some(interval) = &row.interval else { return Vec::new() };
    #[expect(clippy::cast_precision_loss, reason = "a place on paper")]
    let Some(x) = row.harmed_jobs.map(|jobs| jobs as f64) else { return Vec::new() };
    let y = row.net_share.unwrap_or(0.0) * 100.0;
    let upright = interval.net_share.map(|(low, high)| vec![(x, low * 100.0), (x, high * 100.0)]);
    let level = interval.harmed_jobs.map(|(low, high)| vec![(low, y), (high, y)]);
    upright.into_iter().chain(level).collect()
}

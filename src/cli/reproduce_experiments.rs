//! `jobfate reproduce tan | asahara | cui`: published experiments run again.
//!
//! In: a study, seed and runs. Out: every comparison with its paper's number, ours, the accepted
//! range and whether ours lies in it; the curves as a second table; each figure as a picture. A
//! number out of its range is an answer and no failure.

use anyhow::Result;
use arrow::record_batch::RecordBatch;
use serde_json::{Value, json};

use super::console;
use super::exit::Usage;
use super::render::Frame;
use super::reproduce::{ReproduceArgs, StudyName};
use super::store::{self, Answer, Files, Origin};
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::replay::experiments::{Check, Curve, Figure, Verdict, asahara, cui, tan};

/// What came out of an experiment, in the same form for all.
struct Experiment {
    name: &'static str,
    paper: &'static str,
    settings: Value,
    figures: Vec<Figure>,
    /// Other readings of what the paper leaves open: name and figures.
    readings: Vec<(String, Vec<Figure>)>,
    /// What other readings came to, in words.
    notes: Vec<String>,
    /// The whole outcome.
    whole: Value,
}

/// Runs a study that is an experiment, and gives it.
pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.trace.is_some() || args.answer.window_end.is_some() {
        let only = "TRACE_DIR and --window-end are for studies of a trace, and this one has none";
        return Err(Usage(only.to_owned()).into());
    }
    let mut files = Files::in_out(args.answer.out.as_deref(), args.study.answer())?;
    let experiment = match args.study {
        StudyName::Tan => of_tan(args),
        StudyName::Asahara => of_asahara(args),
        StudyName::Cui => of_cui(args),
        StudyName::Mandai | StudyName::Ota => unreachable!("a study of a trace"),
    };
    let table = checks_table(&experiment.figures);
    tell(&experiment);
    let answer = Answer {
        name: experiment.name,
        table: &table,
        json: experiment.whole.clone(),
        settings: experiment.settings.clone(),
        charts: experiment.figures.iter().flat_map(|figure| charts(&experiment, figure)).collect(),
    };
    let origin = Origin { source: json!(experiment.paper), inputs: json!([]), gap_note: None };
    if let Some(files) = &mut files {
        files.table(&format!("{}-curves", experiment.name), &curves_table(&experiment))?;
    }
    store::give(&answer, files, &origin, &args.answer.form())
}

fn of_tan(args: &ReproduceArgs) -> Experiment {
    let mut settings = tan::Settings::default();
    settings.seed = args.seed.unwrap_or(settings.seed);
    // The paper has 100 runs, and 10 where they are long.
    settings.effort = args.runs.map_or(settings.effort, |runs| f64::from(runs) / 100.0);
    let found = tan::reproduce(&settings);
    let notes = found.influence.iter().map(|reading| {
        format!(
            "{}: mean gain of figure 1 {:.2} %; figure 3 mean {:.2} %, best {:.2} %; figure 4 mean {:.2} %, best {:.2} %",
            reading.reading,
            reading.figure_1_gain,
            reading.figure_3_gain.0,
            reading.figure_3_gain.1,
            reading.figure_4_gain.0,
            reading.figure_4_gain.1
        )
    });
    Experiment {
        name: "tan",
        paper: "Tan, Fujimoto and Hagihara (2003)",
        settings: json!(settings),
        notes: notes.collect(),
        readings: Vec::new(),
        whole: json!(found),
        figures: found.figures,
    }
}

fn of_asahara(args: &ReproduceArgs) -> Experiment {
    let mut settings = asahara::Settings::default();
    settings.seed = args.seed.unwrap_or(settings.seed);
    settings.runs = args.runs.map_or(settings.runs, |runs| runs as usize);
    let found = asahara::reproduce(&settings);
    Experiment {
        name: "asahara",
        paper: "Asahara, Fujimori, Narita and Liu (2013)",
        settings: json!(settings),
        notes: readings_in_words(&found.influence),
        whole: json!(found),
        figures: found.figures,
        readings: found.influence,
    }
}

fn of_cui(args: &ReproduceArgs) -> Experiment {
    let mut settings = cui::Settings::default();
    settings.seed = args.seed.unwrap_or(settings.seed);
    settings.runs = args.runs.map_or(settings.runs, |runs| runs as usize);
    let found = cui::reproduce(&settings);
    Experiment {
        name: "cui",
        paper: "Cui and others (2014)",
        settings: json!(found.settings),
        notes: readings_in_words(&found.influence),
        whole: json!(found),
        figures: found.figures,
        readings: found.influence,
    }
}

fn readings_in_words(readings: &[(String, Vec<Figure>)]) -> Vec<String> {
    let told = readings.iter().flat_map(|(reading, figures)| {
        figures.iter().map(move |figure| {
            let checks: Vec<String> = figure
                .checks
                .iter()
                .map(|check| format!("{} {:.3} ({})", check.what, check.ours, word(check)))
                .collect();
            format!("{reading}, {}: {}", figure.name, checks.join("; "))
        })
    });
    told.collect()
}

/// Says on stderr what each figure came to, what was assumed, and how far that matters.
fn tell(experiment: &Experiment) {
    console::note(format!("assumed where the paper is silent: {}", experiment.settings));
    for figure in &experiment.figures {
        console::note(format!("{} ({}): {}", figure.name, figure.title, verdict(figure)));
        for remark in &figure.remarks {
            console::note(format!("  {remark}"));
        }
    }
    for note in &experiment.notes {
        console::note(format!("another reading, {note}"));
    }
}

fn verdict(figure: &Figure) -> &'static str {
    match figure.verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::SameShape => "same shape",
        Verdict::NotReproduced => "not reproduced",
    }
}

fn word(check: &Check) -> &'static str {
    if check.is_met { "in range" } else { "out of range" }
}

/// A bound far out is none.
fn bound(value: f64) -> Option<f64> {
    (value.abs() < 1e9).then_some(value)
}

/// One row per comparison.
fn checks_table(figures: &[Figure]) -> RecordBatch {
    let rows =
        || figures.iter().flat_map(|figure| figure.checks.iter().map(move |check| (figure, check)));
    Frame::default()
        .text("figure", rows().map(|(figure, _)| figure.name.as_str()))
        .text("what", rows().map(|(_, check)| check.what.as_str()))
        .text("paper", rows().map(|(_, check)| check.paper.as_str()))
        .float("ours", rows().map(|(_, check)| Some(check.ours).filter(|ours| ours.is_finite())))
        .float("from", rows().map(|(_, check)| bound(check.from)))
        .float("to", rows().map(|(_, check)| bound(check.to)))
        .text("verdict", rows().map(|(_, check)| word(check)))
        .text("figure_verdict", rows().map(|(figure, _)| verdict(figure)))
        .batch()
}

/// One row per point of a curve, other readings included.
fn curves_table(experiment: &Experiment) -> RecordBatch {
    let usual = experiment.figures.iter().map(|figure| ("", figure));
    let others = experiment.readings.iter().flat_map(|(reading, figures)| {
        figures.iter().map(move |figure| (reading.as_str(), figure))
    });
    let mut rows = Vec::new();
    for (reading, figure) in usual.chain(others) {
        for curve in &figure.curves {
            rows.extend(curve.points.iter().map(|point| (reading, figure, curve, point)));
        }
    }
    let rows = || rows.iter();
    Frame::default()
        .text("reading", rows().map(|row| row.0))
        .text("figure", rows().map(|row| row.1.name.as_str()))
        .text("curve", rows().map(|row| row.2.name.as_str()))
        .text("x", rows().map(|row| row.3.x.as_str()))
        .count("runs", rows().map(|row| row.3.value.runs as u64))
        .float("mean", rows().map(|row| Some(row.3.value.mean)))
        .float("half_width_95", rows().map(|row| Some(row.3.value.half_width)))
        .float("min", rows().map(|row| Some(row.3.value.min)))
        .float("max", rows().map(|row| Some(row.3.value.max)))
        .batch()
}

/// The pictures of a figure: times and counts do not share an axis.
fn charts(experiment: &Experiment, figure: &Figure) -> Vec<(String, Chart)> {
    let (times, others): (Vec<&Curve>, Vec<&Curve>) =
        figure.curves.iter().partition(|curve| curve.name.ends_with(", s"));
    let stem = format!("{}-{}", experiment.name, figure.name.replace(' ', "-"));
    let mut charts = Vec::new();
    if times.is_empty() {
        charts.push((stem, chart(experiment, figure, &others, &figure.axes.1)));
        return charts;
    }
    charts.push((format!("{stem}-times"), chart(experiment, figure, &times, "time, s")));
    charts.push((format!("{stem}-counts"), chart(experiment, figure, &others, "number")));
    charts
}

fn chart(experiment: &Experiment, figure: &Figure, curves: &[&Curve], y_axis: &str) -> Chart {
    let labels: Vec<&str> =
        curves.first().map_or_else(Vec::new, |curve| curve.points.iter().map(|p| &*p.x).collect());
    let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
    let (places, x_axis) = if let Some(numbers) = numbers {
        (numbers, figure.axes.0.clone())
    } else {
        let named: Vec<String> = (1..)
            .zip(&labels)
            .map(|(place, label)| (place.to_string(), label))
            .filter(|(place, label)| place != *label)
            .map(|(place, label)| format!("{place}: {label}"))
            .collect();
        let places = (1_u32..).take(labels.len()).map(f64::from).collect();
        (places, format!("{} ({})", figure.axes.0, named.join(", ")))
    };
    let (least, most) = (places.first(), places.last());
    let is_wide = least.zip(most).is_some_and(|(&least, &most)| 0.0 < least && least * 50.0 < most);
    let runs = curves.iter().flat_map(|curve| &curve.points).map(|point| point.value.runs).max();
    let lines = curves.iter().zip(Tone::SERIES.into_iter().cycle()).map(|(curve, tone)| {
        let points = || places.iter().copied().zip(curve.points.iter().map(|point| point.value));
        Line {
            name: curve.name.clone(),
            points: points().map(|(x, value)| (x, value.mean)).collect(),
            band: points()
                .map(|(x, value)| (x, value.mean - value.half_width, value.mean + value.half_width))
                .collect(),
            tone,
            stroke: Stroke::Marked,
        }
    });
    Chart::Lines(LineChart {
        title: format!("{}: {}", figure.name, figure.title),
        caption: format!(
            "{}, run again: {}. Means of up to {} runs; bands are 95 % confidence intervals.",
            experiment.paper,
            verdict(figure),
            runs.unwrap_or(0)
        ),
        x_axis,
        y_axis: y_axis.to_owned(),
        x_scale: if is_wide { Scale::Log } else { Scale::Linear },
        lines: lines.collect(),
    })
}

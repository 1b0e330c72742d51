//! `jobfate reproduce tan | asahara | cui`: published experiments run again.
//!
//! In: a study, its parameters, seed and runs. Out: every claim of the paper with its number, ours,
//! the interval that decides and the verdict; the curves and the parameters as further tables; each
//! figure as a picture, the paper's values as marks. A claim that is not reproduced is an answer and
//! no failure.

use arrow::record_batch::RecordBatch;
use clap::Args;
use serde_json::{Map, json};

use super::console;
use super::reproduce::{ReproduceArgs, StudyName};
use super::reproduce_study::{
    self, Study, Varied, pairs_of, parameters_in_words, places_of, varied_of,
};
use super::varied;
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::claims::{Claim, headline};
use crate::cli::shown;
use crate::faults::{Result, Usage};
use crate::replay::experiments::{Curve, Experiment, Figure, asahara, cui, tan};
use crate::results::frame::Frame;
use crate::results::store::Origin;

/// Parameters of an experiment.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ParameterArgs {
    /// Set a parameter of an experiment; may be given again
    ///
    /// The parameters, their values and who settled them (given by the paper, open, or fitted to a
    /// number of it) are printed with every result, for example `--set period_s=70`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Run an experiment for several values of a parameter
    ///
    /// `KEY=VALUE,VALUE,...`, for example `--vary period_s=10,30,70,100`. A second table and a chart
    /// show how each claim depends on it, `NAME-varied.csv` in --out. Given twice, for two
    /// parameters of an experiment, it runs every pair of values; maps show which claims hold where.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub vary: Vec<String>,
}

/// Runs a study that is an experiment, and shows it.
pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.trace.is_some() || args.answer.window_end.is_some() {
        let only = "TRACE_DIR and --window-end are for studies of a trace, and this one has none";
        return Err(Usage(only.to_owned()).into());
    }
    let mut experiment = experiment_of(args.study);
    for (key, value) in pairs_of(args)? {
        experiment.set(key, value).map_err(|error| Usage(format!("--set: {error}")))?;
    }
    set_seed_and_runs(&mut experiment, args)?;
    let (variants, pairs) = match args.parameters.vary.as_slice() {
        [one, other] => (None, Some(varied::variants_of([one, other], &experiment)?)),
        _ => (variants_of(args, &experiment)?, None),
    };
    let files = shown::files(args.answer.out.as_deref(), args.study.answer())?;
    let figures = experiment.run();
    let varied = variants.map(|(key, variants)| Varied {
        key,
        values: variants
            .into_iter()
            .map(|(value, variant)| (value, claims_of(&variant.run())))
            .collect(),
    });
    show(&experiment, &figures);
    let mut study = study_of(&experiment, &figures);
    if let Some(pairs) = pairs.map(varied::Variants::run) {
        pairs.note();
        study.charts.extend(pairs.charts(&experiment));
        study.tables.push((format!("{}-varied", experiment.name()), pairs.table()));
    }
    reproduce_study::give(study, varied.as_ref(), files, Some(&args.answer.form()))
}

/// The experiment as the paper has it, as far as it says.
pub(crate) fn experiment_of(study: StudyName) -> Experiment {
    match study {
        StudyName::Tan => Experiment::Tan(tan::Settings::default()),
        StudyName::Asahara => Experiment::Asahara(asahara::Settings::default()),
        StudyName::Cui => Experiment::Cui(cui::Settings::default()),
        StudyName::Mandai | StudyName::Ota | StudyName::All => unreachable!("no single experiment"),
    }
}

/// Seed and runs of the command line.
pub(crate) fn set_seed_and_runs(experiment: &mut Experiment, args: &ReproduceArgs) -> Result<()> {
    let seed = args.seed.map(|seed| ("seed", seed.to_string()));
    let runs = args.runs.map(|runs| ("runs", runs.to_string()));
    for (key, value) in [seed, runs].into_iter().flatten() {
        experiment.set(key, &value).map_err(|error| Usage(format!("--set: {error}")))?;
    }
    Ok(())
}

/// The values of `--vary`, each with its experiment.
type Variants = (String, Vec<(String, Experiment)>);

fn variants_of(args: &ReproduceArgs, experiment: &Experiment) -> Result<Option<Variants>> {
    let Some((key, values)) = varied_of(args)? else { return Ok(None) };
    let variants = values.into_iter().map(|value| {
        let mut variant = experiment.clone();
        variant.set(key, value).map_err(|error| Usage(format!("--vary: {error}")))?;
        Ok((value.to_owned(), variant))
    });
    Ok(Some((key.to_owned(), variants.collect::<Result<_, Usage>>()?)))
}

/// The experiment in the form that all studies have.
pub(crate) fn study_of(experiment: &Experiment, figures: &[Figure]) -> Study {
    let name = experiment.name();
    let in_json = figures.iter().map(|figure| {
        json!({
            "name": figure.name, "title": figure.title, "axes": figure.axes,
            "curves": figure.curves, "marks": figure.marks, "remarks": figure.remarks,
        })
    });
    Study {
        name,
        paper: experiment.paper(),
        claims: claims_of(figures),
        parameters: experiment.parameters(),
        figures: in_json.collect(),
        settings: Map::new(),
        charts: figures.iter().flat_map(|figure| charts_of(experiment, figure)).collect(),
        tables: vec![(format!("{name}-curves"), curves_table(figures))],
        origin: Origin { source: json!(experiment.paper()), inputs: json!([]), gap_note: None },
    }
}

fn claims_of(figures: &[Figure]) -> Vec<Claim> {
    figures.iter().flat_map(|figure| figure.claims.clone()).collect()
}

/// Says on stderr what each figure came to, and by which parameters.
fn show(experiment: &Experiment, figures: &[Figure]) {
    console::note(format!("{}: {}", experiment.paper(), headline(&claims_of(figures))));
    for line in parameters_in_words(&experiment.parameters()) {
        console::note(line);
    }
    for figure in figures {
        console::note(format!("{} ({}): {}", figure.name, figure.title, headline(&figure.claims)));
        for remark in &figure.remarks {
            console::note(format!("  {remark}"));
        }
    }
}

/// One row per point of a curve; the published value where the paper prints one.
fn curves_table(figures: &[Figure]) -> RecordBatch {
    let mut rows = Vec::new();
    for figure in figures {
        for curve in &figure.curves {
            rows.extend(curve.points.iter().map(|point| {
                let mark =
                    figure.marks.iter().find(|mark| mark.curve == curve.name && mark.x == point.x);
                (figure, curve, point, mark.map(|mark| mark.value))
            }));
        }
    }
    let rows = || rows.iter();
    Frame::default()
        .text("figure", rows().map(|row| row.0.name.as_str()))
        .text("curve", rows().map(|row| row.1.name.as_str()))
        .text("x", rows().map(|row| row.2.x.as_str()))
        .count("runs", rows().map(|row| row.2.value.runs as u64))
        .float("mean", rows().map(|row| Some(row.2.value.mean)))
        .float("mean_low", rows().map(|row| row.2.value.mean_low))
        .float("mean_high", rows().map(|row| row.2.value.mean_high))
        .float("min", rows().map(|row| Some(row.2.value.min)))
        .float("max", rows().map(|row| Some(row.2.value.max)))
        .float("published", rows().map(|row| row.3))
        .batch()
}

/// The pictures of a figure: times, shares, ratios and counts do not share an axis.
fn charts_of(experiment: &Experiment, figure: &Figure) -> Vec<(String, Chart)> {
    let stem = format!("{}-{}", experiment.name(), figure.name.replace(' ', "-"));
    let units = [(", s", "times", "time, s"), (", %", "shares", "%"), (", x", "ratios", "times")];
    if !figure.curves.iter().any(|curve| curve.name.ends_with(units[0].0)) {
        let all: Vec<&Curve> = figure.curves.iter().collect();
        return vec![(stem, chart(experiment, figure, &all, &figure.axes.1))];
    }
    let is_count = |curve: &Curve| units.iter().all(|unit| !curve.name.ends_with(unit.0));
    let of_unit = units.map(|(end, name, axis)| {
        let curves = figure.curves.iter().filter(|curve| curve.name.ends_with(end));
        (name, axis, curves.collect::<Vec<_>>())
    });
    let counts: Vec<&Curve> = figure.curves.iter().filter(|curve| is_count(curve)).collect();
    let all = of_unit.into_iter().chain([("counts", "number", counts)]);
    let drawn = all.filter(|(_, _, curves)| !curves.is_empty());
    drawn
        .map(|(name, axis, curves)| {
            (format!("{stem}-{name}"), chart(experiment, figure, &curves, axis))
        })
        .collect()
}

fn chart(experiment: &Experiment, figure: &Figure, curves: &[&Curve], y_axis: &str) -> Chart {
    let labels: Vec<&str> =
        curves.first().map_or_else(Vec::new, |curve| curve.points.iter().map(|p| &*p.x).collect());
    let (places, x_axis) = places_of(&labels, &figure.axes.0);
    let (least, most) = (places.first(), places.last());
    let is_wide = least.zip(most).is_some_and(|(&least, &most)| 0.0 < least && least * 50.0 < most);
    let runs = curves.iter().flat_map(|curve| &curve.points).map(|point| point.value.runs).max();
    let mut lines = Vec::new();
    for (curve, tone) in curves.iter().zip(Tone::SERIES.into_iter().cycle()) {
        let points = || places.iter().copied().zip(curve.points.iter().map(|point| point.value));
        lines.push(Line {
            name: curve.name.clone(),
            points: points().map(|(x, value)| (x, value.mean)).collect(),
            band: points()
                .filter_map(|(x, value)| Some((x, value.mean_low?, value.mean_high?)))
                .collect(),
            tone,
            stroke: Stroke::Marked,
        });
        let marks = figure.marks.iter().filter(|mark| mark.curve == curve.name);
        let published: Vec<(f64, f64)> = marks
            .filter_map(|mark| {
                let at = labels.iter().position(|label| *label == mark.x)?;
                Some((places[at], mark.value))
            })
            .collect();
        if !published.is_empty() {
            lines.push(Line {
                name: format!("{}, as published", curve.name),
                points: published,
                band: Vec::new(),
                tone: Tone::Ink,
                stroke: Stroke::Marked,
            });
        }
    }
    Chart::Lines(LineChart {
        title: format!("{}: {}", figure.name, figure.title),
        caption: format!(
            "{}, run again: {}. Means of up to {} runs; bands are 95 % confidence intervals.",
            experiment.paper(),
            headline(&figure.claims),
            runs.unwrap_or(0)
        ),
        x_axis,
        y_axis: y_axis.to_owned(),
        x_scale: if is_wide { Scale::Log } else { Scale::Linear },
        lines,
    })
}

//! `jobfate reproduce tan | asahara | cui`: published experiments run again.
//!
//! In: a study, its parameters, seed and runs. Out: every claim of the paper with its number, ours,
//! the interval that decides and the verdict; the curves and the parameters as further tables; each
//! figure as a picture, the paper's values as marks. A claim that is not reproduced is an answer and
//! no failure.

use anyhow::Result;
use arrow::record_batch::RecordBatch;
use clap::Args;
use serde_json::{Map, Value, json};

use super::console;
use super::exit::Usage;
use super::render::Frame;
use super::reproduce::{ReproduceArgs, StudyName};
use super::store::{self, Answer, Files, Origin};
use super::view::View;
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::claims::{Claim, Parameter, Settled, Verdict, counts, headline};
use crate::replay::experiments::{Curve, Experiment, Figure, asahara, cui, tan};

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
    /// show how each claim depends on it, `NAME-varied.csv` in --out.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub vary: Option<String>,
}

/// A parameter varied.
struct Varied {
    key: String,
    /// Each value, and the claims under it.
    values: Vec<(String, Vec<Claim>)>,
}

/// Runs a study that is an experiment, and shows it.
pub(crate) fn run(args: &ReproduceArgs) -> Result<()> {
    if args.trace.is_some() || args.answer.window_end.is_some() {
        let only = "TRACE_DIR and --window-end are for studies of a trace, and this one has none";
        return Err(Usage(only.to_owned()).into());
    }
    let experiment = experiment_of(args)?;
    let variants = variants_of(args, &experiment)?;
    let mut files = Files::in_out(args.answer.out.as_deref(), args.study.answer())?;
    let figures = experiment.run();
    let claims = claims_of(&figures);
    let varied = variants.map(|(key, variants)| Varied {
        key,
        values: variants
            .into_iter()
            .map(|(value, variant)| (value, claims_of(&variant.run())))
            .collect(),
    });
    let table = claims_table(&claims);
    show(&experiment, &figures, &claims);
    if let Some(Varied { key, values }) = &varied {
        for (value, claims) in values {
            console::note(format!("{key}={value}: {}", headline(claims)));
        }
    }
    let mut charts: Vec<(String, Chart)> =
        figures.iter().flat_map(|figure| charts_of(&experiment, figure)).collect();
    if let Some(varied) = &varied {
        charts
            .push((format!("{}-varied", experiment.name()), chart_of_varied(&experiment, varied)));
    }
    let parameters = experiment.parameters();
    let answer = Answer {
        name: experiment.name(),
        table: &table,
        json: json_of(&experiment, &figures, &claims, varied.as_ref()),
        settings: parameters
            .iter()
            .map(|one| (one.key.to_owned(), json!(one.value)))
            .collect::<Map<_, _>>()
            .into(),
        charts,
    };
    let origin = Origin { source: json!(experiment.paper()), inputs: json!([]), gap_note: None };
    if let Some(files) = &mut files {
        files.table(&format!("{}-curves", experiment.name()), &curves_table(&figures))?;
        files
            .table(&format!("{}-parameters", experiment.name()), &parameters_table(&parameters))?;
        if let Some(varied) = &varied {
            files.table(&format!("{}-varied", experiment.name()), &varied_table(varied))?;
        }
    }
    store::give(&answer, files, &origin, &args.answer.form())?;
    if let (Some(varied), super::Format::Table) = (&varied, args.answer.format) {
        console::data("\n")?;
        store::show_table(&varied_table(varied), &View::default())?;
    }
    Ok(())
}

/// The experiment with the parameters of the command line.
fn experiment_of(args: &ReproduceArgs) -> Result<Experiment> {
    let mut experiment = match args.study {
        StudyName::Tan => Experiment::Tan(tan::Settings::default()),
        StudyName::Asahara => Experiment::Asahara(asahara::Settings::default()),
        StudyName::Cui => Experiment::Cui(cui::Settings::default()),
        StudyName::Mandai | StudyName::Ota => unreachable!("a study of a trace"),
    };
    let mut set = |key: &str, value: &str| {
        experiment.set(key, value).map_err(|error| Usage(format!("--set: {error}")))
    };
    for pair in &args.parameters.set {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| Usage(format!("--set `{pair}` is not of the form KEY=VALUE")))?;
        set(key, value)?;
    }
    if let Some(seed) = args.seed {
        set("seed", &seed.to_string())?;
    }
    if let Some(runs) = args.runs {
        set("runs", &runs.to_string())?;
    }
    Ok(experiment)
}

/// The values of `--vary`, each with its experiment.
type Variants = (String, Vec<(String, Experiment)>);

fn variants_of(args: &ReproduceArgs, experiment: &Experiment) -> Result<Option<Variants>> {
    let Some(varied) = &args.parameters.vary else { return Ok(None) };
    let bad = || Usage(format!("--vary `{varied}` is not of the form KEY=VALUE,VALUE,..."));
    let (key, values) = varied.split_once('=').ok_or_else(bad)?;
    let variants = values.split(',').map(|value| {
        let mut variant = experiment.clone();
        variant.set(key, value).map_err(|error| Usage(format!("--vary: {error}")))?;
        Ok((value.to_owned(), variant))
    });
    Ok(Some((key.to_owned(), variants.collect::<Result<_, Usage>>()?)))
}

fn claims_of(figures: &[Figure]) -> Vec<Claim> {
    figures.iter().flat_map(|figure| figure.claims.clone()).collect()
}

/// Says on stderr what each figure came to, and by which parameters.
fn show(experiment: &Experiment, figures: &[Figure], claims: &[Claim]) {
    console::note(format!("{}: {}", experiment.paper(), headline(claims)));
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

/// One line for each way in which a parameter was settled.
fn parameters_in_words(parameters: &[Parameter]) -> Vec<String> {
    let of = |wanted: fn(&Settled) -> bool| {
        let found = parameters.iter().filter(|one| wanted(&one.settled));
        found.map(|one| format!("{}={}", one.key, one.value)).collect::<Vec<_>>().join(", ")
    };
    let mut lines = vec![
        format!("given by the paper: {}", of(|settled| *settled == Settled::Given)),
        format!("left open by the paper: {}", of(|settled| *settled == Settled::Open)),
    ];
    lines.extend(parameters.iter().filter_map(|one| match one.settled {
        Settled::Fitted(to) => Some(format!("fitted: {}={} to {to}", one.key, one.value)),
        Settled::Given | Settled::Open => None,
    }));
    lines
}

/// The claims as rows.
pub(crate) fn claims_table(claims: &[Claim]) -> RecordBatch {
    let rows = || claims.iter();
    Frame::default()
        .text("place", rows().map(|claim| &claim.place))
        .text("claim", rows().map(|claim| &claim.claim))
        .float("published", rows().map(|claim| claim.published))
        .about("the number of the paper; none where the claim is a sentence")
        .float("ours", rows().map(|claim| claim.ours))
        .about("the mean of our runs; of a sentence, the cell that is nearest to breaking it")
        .float("low", rows().map(|claim| claim.low))
        .float("high", rows().map(|claim| claim.high))
        .text("verdict", rows().map(|claim| claim.verdict.key()))
        .text("decided_by", rows().map(|claim| &claim.decided_by))
        .view(&["claim", "published", "ours", "low", "high", "verdict"])
        .batch()
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
        .float("low", rows().map(|row| Some(row.2.value.mean - row.2.value.half_width)))
        .float("high", rows().map(|row| Some(row.2.value.mean + row.2.value.half_width)))
        .float("min", rows().map(|row| Some(row.2.value.min)))
        .float("max", rows().map(|row| Some(row.2.value.max)))
        .float("published", rows().map(|row| row.3))
        .batch()
}

fn parameters_table(parameters: &[Parameter]) -> RecordBatch {
    let rows = || parameters.iter();
    let (settled, to): (Vec<&str>, Vec<Option<&str>>) = rows()
        .map(|one| match one.settled {
            Settled::Given => ("given", None),
            Settled::Open => ("open", None),
            Settled::Fitted(to) => ("fitted", Some(to)),
        })
        .unzip();
    Frame::default()
        .text("key", rows().map(|one| one.key))
        .text("value", rows().map(|one| one.value.as_str()))
        .text("settled", settled)
        .maybe_text("fitted_to", to)
        .text("about", rows().map(|one| one.about))
        .batch()
}

/// Claim by claim, one row for each value of the varied parameter.
fn varied_table(varied: &Varied) -> RecordBatch {
    let rows: Vec<(&str, &Claim)> = (0..varied.values.first().map_or(0, |one| one.1.len()))
        .flat_map(|idx| {
            varied.values.iter().map(move |(value, claims)| (value.as_str(), &claims[idx]))
        })
        .collect();
    let rows = || rows.iter();
    Frame::default()
        .text("place", rows().map(|row| &row.1.place))
        .text("claim", rows().map(|row| &row.1.claim))
        .text("parameter", rows().map(|_| &varied.key))
        .text("value", rows().map(|row| row.0))
        .float("published", rows().map(|row| row.1.published))
        .float("ours", rows().map(|row| row.1.ours))
        .float("low", rows().map(|row| row.1.low))
        .float("high", rows().map(|row| row.1.high))
        .text("verdict", rows().map(|row| row.1.verdict.key()))
        .batch()
}

/// The claims and their counts, in one form for every paper.
pub(crate) fn json_of_claims(paper: &str, claims: &[Claim]) -> Value {
    let counts = counts(claims).map(|(verdict, count)| (verdict.key().to_owned(), json!(count)));
    json!({
        "paper": paper,
        "headline": headline(claims),
        "counts": counts.into_iter().collect::<Map<_, _>>(),
        "claims": claims,
    })
}

fn json_of(
    experiment: &Experiment,
    figures: &[Figure],
    claims: &[Claim],
    varied: Option<&Varied>,
) -> Value {
    let mut json = json_of_claims(experiment.paper(), claims);
    json["parameters"] = json!(experiment.parameters());
    let figures = figures.iter().map(|figure| {
        json!({
            "name": figure.name, "title": figure.title, "axes": figure.axes,
            "curves": figure.curves, "marks": figure.marks, "remarks": figure.remarks,
        })
    });
    json["figures"] = figures.collect();
    if let Some(varied) = varied {
        let values = varied.values.iter();
        let values = values.map(|(value, claims)| json!({"value": value, "claims": claims}));
        json["varied"] = json!({"parameter": varied.key, "values": values.collect::<Vec<_>>()});
    }
    json
}

/// The pictures of a figure: times and counts do not share an axis.
fn charts_of(experiment: &Experiment, figure: &Figure) -> Vec<(String, Chart)> {
    let (times, others): (Vec<&Curve>, Vec<&Curve>) =
        figure.curves.iter().partition(|curve| curve.name.ends_with(", s"));
    let stem = format!("{}-{}", experiment.name(), figure.name.replace(' ', "-"));
    if times.is_empty() {
        return vec![(stem, chart(experiment, figure, &others, &figure.axes.1))];
    }
    vec![
        (format!("{stem}-times"), chart(experiment, figure, &times, "time, s")),
        (format!("{stem}-counts"), chart(experiment, figure, &others, "number")),
    ]
}

/// Places of the points on the x axis, and the axis in words. Labels that are no numbers are
/// numbered.
fn places_of(labels: &[&str], axis: &str) -> (Vec<f64>, String) {
    let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
    if let Some(numbers) = numbers {
        return (numbers, axis.to_owned());
    }
    let named: Vec<String> = (1..)
        .zip(labels)
        .map(|(place, label)| (place.to_string(), label))
        .filter(|(place, label)| place != *label)
        .map(|(place, label)| format!("{place}: {label}"))
        .collect();
    let places = (1_u32..).take(labels.len()).map(f64::from).collect();
    (places, format!("{axis} ({})", named.join(", ")))
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
                .map(|(x, value)| (x, value.mean - value.half_width, value.mean + value.half_width))
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

/// How many claims come to each verdict, by the value of the parameter.
fn chart_of_varied(experiment: &Experiment, varied: &Varied) -> Chart {
    let labels: Vec<&str> = varied.values.iter().map(|(value, _)| value.as_str()).collect();
    let (places, x_axis) = places_of(&labels, &varied.key);
    #[expect(clippy::cast_precision_loss, reason = "a few claims")]
    let line = |verdict: Verdict, tone: Tone| {
        let points = places.iter().zip(&varied.values).map(|(&place, (_, claims))| {
            let count = claims.iter().filter(|claim| claim.verdict == verdict).count();
            (place, count as f64)
        });
        Line {
            name: verdict.name().to_owned(),
            points: points.collect(),
            band: Vec::new(),
            tone,
            stroke: Stroke::Marked,
        }
    };
    Chart::Lines(LineChart {
        title: format!("Claims of {} by {}", experiment.paper(), varied.key),
        caption: format!("How many claims come to each verdict as `{}` varies.", varied.key),
        x_axis,
        y_axis: "claims".to_owned(),
        x_scale: Scale::Linear,
        lines: Verdict::ALL
            .into_iter()
            .zip(Tone::SERIES)
            .map(|(verdict, tone)| line(verdict, tone))
            .collect(),
    })
}

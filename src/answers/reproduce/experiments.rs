//! Answers of experiments: figures as curves and claims.
//!
//! In: figures of a simulated paper. Out: a study with its tables and charts.

use arrow::record_batch::RecordBatch;
use serde_json::{Map, json};

use crate::answers::reproduce::study::{Study, places_of};
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::claims::{Claim, headline};
use crate::replay::experiments::{Curve, Experiment, Figure};
use crate::results::frame::Frame;
use crate::results::store::Origin;

/// An experiment as a study of a paper.
pub fn study_of(experiment: &Experiment, figures: &[Figure]) -> Study {
    let name = experiment.name();
    let in_json = figures.iter().map(|figure| {
        json!({
            "name": figure.name, "title": figure.title, "axes": figure.axes,
            "curves": figure.curves, "marks": figure.marks, "remarks": figure.remarks,
        })
    });
    Study {
        notes: Vec::new(),
        name,
        paper: experiment.paper(),
        claims: claims_of(figures),
        parameters: experiment.parameters(),
        figures: in_json.collect(),
        settings: Map::new(),
        charts: figures.iter().flat_map(|figure| charts_of(experiment, figure)).collect(),
        tables: vec![(format!("{name}-curves"), curves_table(figures))],
        origin: Origin {
            source: Some(experiment.paper().to_owned()),
            inputs: Vec::new(),
            gaps: Vec::new(),
        },
    }
}

/// The claims of all figures.
pub fn claims_of(figures: &[Figure]) -> Vec<Claim> {
    figures.iter().flat_map(|figure| figure.claims.clone()).collect()
}

/// One row per point of a curve, with the published value if the paper prints one.
pub(crate) fn curves_table(figures: &[Figure]) -> RecordBatch {
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

/// The charts of a figure: times, shares, ratios and counts have separate charts.
pub(crate) fn charts_of(experiment: &Experiment, figure: &Figure) -> Vec<(String, Chart)> {
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

pub(crate) fn chart(
    experiment: &Experiment,
    figure: &Figure,
    curves: &[&Curve],
    y_axis: &str,
) -> Chart {
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
        y_from: 0.0,
        lines,
    })
}

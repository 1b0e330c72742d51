//! `jobfate reproduce NAME --vary KEY=VALUES --vary KEY=VALUES`: shows which claims hold for which
//! values.
//!
//! In: the experiment, and two parameters with their values. Out: a table with every claim at every
//! pair of values, and a chart per figure. The chart has a map for each kind of claim, with the
//! number of reproduced claims of this kind at each pair.

use std::collections::BTreeMap;

use arrow::record_batch::RecordBatch;

use crate::charts::{Chart, MapChart, MapField, MapPanel};
use crate::claims::{Claim, Verdict, headline};
use crate::faults::Usage;
use crate::replay::experiments::Experiment;
use crate::results::frame::Frame;

/// The most pairs of values; each pair needs a run.
const POINTS_MAX: usize = 10_000;

/// A parameter and its values.
type Key = (String, Vec<String>);

/// Two parameters with their values, each pair with its experiment.
pub struct Variants {
    keys: [Key; 2],
    points: Vec<([String; 2], Experiment)>,
}

/// The claims at each pair of values.
pub struct Pairs {
    keys: [Key; 2],
    /// Ordered by the value of the first key, then by that of the second.
    points: Vec<Point>,
}

/// The claims at one pair of values.
struct Point {
    values: [String; 2],
    /// The claims of each figure, by its name.
    figures: Vec<(String, Vec<Claim>)>,
}

/// Reads two values of `--vary`.
///
/// # Errors
/// A value is not of the form `KEY=VALUES`, both name the same key, the experiment does not take a
/// value, or there are too many pairs.
pub fn variants_of([first, second]: [&str; 2], experiment: &Experiment) -> Result<Variants, Usage> {
    let keys = [key_of(first)?, key_of(second)?];
    if keys[0].0 == keys[1].0 {
        let key = &keys[0].0;
        return Err(Usage(format!(
            "--vary names `{key}` twice: give all its values in one --vary"
        )));
    }
    let count = keys[0].1.len() * keys[1].1.len();
    if POINTS_MAX < count {
        return Err(Usage(format!(
            "--vary would need {count} runs; at most {POINTS_MAX} are allowed"
        )));
    }
    let mut points = Vec::new();
    for one in &keys[0].1 {
        for other in &keys[1].1 {
            let mut variant = experiment.clone();
            for (key, value) in [(&keys[0].0, one), (&keys[1].0, other)] {
                variant.set(key, value).map_err(|error| Usage(format!("--vary: {error}")))?;
            }
            points.push(([one.clone(), other.clone()], variant));
        }
    }
    Ok(Variants { keys, points })
}

fn key_of(varied: &str) -> Result<Key, Usage> {
    let bad = || Usage(format!("--vary `{varied}` is not of the form KEY=VALUE,VALUE,..."));
    let (key, values) = varied.split_once('=').ok_or_else(bad)?;
    Ok((key.to_owned(), values.split(',').map(str::to_owned).collect()))
}

impl Variants {
    /// Runs the experiment at every pair of values.
    pub fn run(self) -> Pairs {
        let run = |(values, experiment): ([String; 2], Experiment)| {
            let figures = experiment.run().into_iter();
            Point { values, figures: figures.map(|figure| (figure.name, figure.claims)).collect() }
        };
        Pairs { keys: self.keys, points: self.points.into_iter().map(run).collect() }
    }
}

impl Point {
    fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.figures.iter().flat_map(|(_, claims)| claims)
    }
}

impl Pairs {
    /// A line per pair of values, with the number of claims per verdict.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.points.iter().map(|point| {
            let claims: Vec<Claim> = point.claims().cloned().collect();
            format!("{}: {}", self.pair(point), headline(&claims))
        })
    }

    /// The values of a point: `key=value key=value`.
    fn pair(&self, point: &Point) -> String {
        let pairs = self.keys.iter().zip(&point.values);
        pairs.map(|((key, _), value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    /// A row for each claim and each pair of values, claim by claim.
    pub fn table(&self) -> RecordBatch {
        let count = self.points.first().map_or(0, |point| point.claims().count());
        let rows: Vec<(&Point, &Claim)> = (0..count)
            .flat_map(|idx| {
                let at = move |point| Point::claims(point).nth(idx).map(|claim| (point, claim));
                self.points.iter().filter_map(at)
            })
            .collect();
        let rows = || rows.iter();
        let mut frame = Frame::default()
            .text("place", rows().map(|row| &row.1.place))
            .text("claim", rows().map(|row| &row.1.claim))
            .whole();
        let names = [("parameter", "value"), ("second_parameter", "second_value")];
        for (idx, ((key, _), names)) in self.keys.iter().zip(names).enumerate() {
            frame = frame
                .text(names.0, rows().map(|_| key))
                .text(names.1, rows().map(|row| &row.0.values[idx]));
        }
        frame
            .float("published", rows().map(|row| row.1.published))
            .float("ours", rows().map(|row| row.1.ours))
            .float("ours_low", rows().map(|row| row.1.ours_low))
            .float("ours_high", rows().map(|row| row.1.ours_high))
            .text("verdict", rows().map(|row| row.1.verdict.key()))
            .batch()
    }

    /// A chart for each figure, with a map for each kind of claim.
    pub fn charts(&self, experiment: &Experiment) -> Vec<(String, Chart)> {
        let [first, second] = &self.keys;
        let names: Vec<&String> = self
            .points
            .first()
            .map_or_else(Vec::new, |point| point.figures.iter().map(|(name, _)| name).collect());
        let chart = |(figure, name): (usize, &String)| {
            let chart = MapChart {
                title: format!("{name}: which claims hold where"),
                caption: format!(
                    "{}, run again. Fields: in how many of the settings of the figure the claim is \
                     reproduced (darker means more).",
                    experiment.paper()
                ),
                x: first.clone(),
                y: second.clone(),
                panels: self.panels(figure, first.1.len(), second.1.len()),
            };
            let stem = format!("{}-map-{}", experiment.name(), name.replace(' ', "-"));
            (stem, Chart::Maps(chart))
        };
        names.into_iter().enumerate().map(chart).collect()
    }

    /// A panel for each kind of claim of a figure.
    fn panels(&self, figure: usize, columns: usize, rows: usize) -> Vec<MapPanel> {
        let mut panels: BTreeMap<usize, MapPanel> = BTreeMap::new();
        for row in 0..rows {
            for column in 0..columns {
                // The values of the first key increase to the right, those of the second upwards.
                let (_, claims) = &self.points[column * rows + row].figures[figure];
                for (place, (name, share, label)) in held(claims).into_iter().enumerate() {
                    let panel = panels
                        .entry(place)
                        .or_insert_with(|| MapPanel { name, fields: Vec::new() });
                    panel.fields.push(MapField { share, label });
                }
            }
        }
        panels.into_values().collect()
    }
}

/// The kinds of claims (the text before `: `) in order. Each has the share of its claims that are
/// reproduced, and the number of its claims.
fn held(claims: &[Claim]) -> Vec<(String, f64, String)> {
    let mut kinds: Vec<(String, usize, usize)> = Vec::new();
    for claim in claims {
        let kind = claim.claim.split(": ").next().unwrap_or(&claim.claim);
        let kind = kind.trim_end_matches(", s");
        let found = kinds.iter().position(|(known, ..)| known == kind);
        let idx = found.unwrap_or_else(|| {
            kinds.push((kind.to_owned(), 0, 0));
            kinds.len() - 1
        });
        kinds[idx].1 += usize::from(claim.verdict == Verdict::Reproduced);
        kinds[idx].2 += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a few claims")]
    let share = |holds: usize, all: usize| holds as f64 / all as f64;
    let kinds = kinds.into_iter();
    kinds
        .map(|(kind, holds, all)| {
            (format!("{kind} (of {all})"), share(holds, all), holds.to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{Cell, direction};
    use crate::replay::experiments::cui;

    fn experiment() -> Experiment {
        let mut experiment = Experiment::Cui(cui::Settings::default());
        experiment.set("runs", "1").unwrap();
        experiment
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn every_pair_of_values_is_run_once() {
        let vary = ["slow_nodes=1,2,3", "slow_speed=0.2,0.5"];
        let varied = variants_of(vary, &experiment()).unwrap().run();
        let pairs: Vec<String> = varied.points.iter().map(|one| varied.pair(one)).collect();
        let expected: Vec<String> = ["1", "2", "3"]
            .iter()
            .flat_map(|one| ["0.2", "0.5"].map(|two| format!("slow_nodes={one} slow_speed={two}")))
            .collect();
        assert_eq!(pairs, expected);
        for (point, pair) in varied.points.iter().zip(&pairs) {
            let mut alone = experiment();
            for one in pair.split(' ') {
                let (key, value) = one.split_once('=').unwrap();
                alone.set(key, value).unwrap();
            }
            let figures = alone.run().into_iter().map(|figure| (figure.name, figure.claims));
            assert_eq!(point.figures, figures.collect::<Vec<_>>(), "{pair}");
        }
        assert_eq!(varied.table().num_rows(), 6 * 84);
        assert_eq!(varied.charts(&experiment()).len(), 3, "one for each number of tasks");
    }

    #[test]
    fn fields_stand_where_their_values_are() {
        let vary = ["slow_nodes=0,1,2", "slow_speed=0.2,0.5"];
        let mut varied = variants_of(vary, &experiment()).unwrap().run();
        // A claim that holds only in one corner: the largest first value, and the lowest second
        // value.
        for point in &mut varied.points {
            let holds = point.values == ["2", "0.2"];
            let cell = Cell::new("", vec![if holds { 1.0 } else { -1.0 }]);
            point.figures = vec![("f".to_owned(), vec![direction("", "rises: a", &[cell])])];
        }
        let panels = varied.panels(0, 3, 2);
        assert_eq!(panels.len(), 1);
        assert_eq!(panels[0].name, "rises (of 1)");
        let shares: Vec<f64> = panels[0].fields.iter().map(|field| field.share).collect();
        assert_eq!(shares, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], "row by row from the lowest");
    }

    #[test]
    fn what_cannot_be_varied_is_refused() {
        for wrong in [
            ["slots", "noise=0"],
            ["slots=1,x", "noise=0"],
            ["slots=1", "slots=2"],
            ["slots=1", "no_such_key=2"],
        ] {
            assert!(variants_of(wrong, &experiment()).is_err(), "{wrong:?}");
        }
    }
}

//! The answer of a reproduction: claims with verdicts, parameters and their effect.
//!
//! In: a study of a paper, and a parameter that was varied, if any. Out: tables and charts of both.

use arrow::record_batch::RecordBatch;
use serde_json::{Map, Value, json};

use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::claims::{Claim, Parameter, Settled, Tally, Verdict, headline};
use crate::results::frame::Frame;
use crate::results::kind::Kind;
use crate::results::store::{Answer, Origin};

/// A published study that is repeated.
pub struct Study {
    /// The notes about the study.
    pub notes: Vec<String>,
    /// The name of the study on the command line.
    pub name: &'static str,
    /// Authors and year.
    pub paper: &'static str,
    /// Every claim of the paper.
    pub claims: Vec<Claim>,
    /// Every parameter, and how its value was chosen.
    pub parameters: Vec<Parameter>,
    /// The figures, each with name, title, axes, curves, marks and remarks.
    pub(crate) figures: Value,
    /// Settings other than the parameters.
    pub(crate) settings: Map<String, Value>,
    /// The charts, by the stem of their files.
    pub charts: Vec<(String, Chart)>,
    /// Further tables for `--out`, by the stem of their files.
    pub tables: Vec<(String, RecordBatch)>,
    /// The origin of the study.
    pub origin: Origin,
}

/// A parameter that was varied.
pub struct Varied {
    /// The parameter.
    pub key: String,
    /// Each value with its claims. The claims are in the same order for all values.
    pub values: Vec<(String, Vec<Claim>)>,
}

/// One line for the parameters that the paper gives, one for those that it leaves open, and one for
/// each fitted parameter.
pub fn parameters_in_words(parameters: &[Parameter]) -> Vec<String> {
    let of = |wanted: fn(&Settled) -> bool| {
        let found = parameters.iter().filter(|one| wanted(&one.settled));
        found.map(|one| format!("{}={}", one.key, one.value)).collect::<Vec<_>>().join(", ")
    };
    let groups = [
        ("given by the paper", of(|settled| *settled == Settled::Given)),
        ("left open by the paper", of(|settled| *settled == Settled::Open)),
    ];
    let groups = groups.iter().filter(|(_, keys)| !keys.is_empty());
    let mut lines: Vec<String> = groups.map(|(what, keys)| format!("{what}: {keys}")).collect();
    lines.extend(parameters.iter().filter_map(|one| match one.settled {
        Settled::Fitted(to) => Some(format!("fitted: {}={} to {to}", one.key, one.value)),
        Settled::Given | Settled::Open => None,
    }));
    lines
}

/// A row per claim.
pub fn claims_table(claims: &[Claim]) -> RecordBatch {
    let rows = || claims.iter();
    Frame::default()
        .text("place", rows().map(|claim| &claim.place))
        .text("claim", rows().map(|claim| &claim.claim))
        .whole()
        .float("published", rows().map(|claim| claim.published))
        .about("the number of the paper; none if the claim is a sentence")
        .float("ours", rows().map(|claim| claim.ours))
        .about("the mean of our runs; for a sentence, the cell that comes closest to violating it")
        .float("ours_low", rows().map(|claim| claim.ours_low))
        .float("ours_high", rows().map(|claim| claim.ours_high))
        .text("verdict", rows().map(|claim| claim.verdict.key()))
        .text("decided_by", rows().map(|claim| &claim.decided_by))
        .whole()
        .view(&["claim", "published", "ours", "ours_low", "ours_high", "verdict"])
        .batch()
}

/// A row per parameter.
pub fn parameters_table(parameters: &[Parameter]) -> RecordBatch {
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
        .whole()
        .batch()
}

/// A row for each claim and each value of the varied parameter, claim by claim.
pub fn varied_table(varied: &Varied) -> RecordBatch {
    let rows: Vec<(&str, &Claim)> = (0..varied.values.first().map_or(0, |one| one.1.len()))
        .flat_map(|idx| {
            varied.values.iter().map(move |(value, claims)| (value.as_str(), &claims[idx]))
        })
        .collect();
    let rows = || rows.iter();
    Frame::default()
        .text("place", rows().map(|row| &row.1.place))
        .text("claim", rows().map(|row| &row.1.claim))
        .whole()
        .text("parameter", rows().map(|_| &varied.key))
        .text("value", rows().map(|row| row.0))
        .float("published", rows().map(|row| row.1.published))
        .float("ours", rows().map(|row| row.1.ours))
        .float("ours_low", rows().map(|row| row.1.ours_low))
        .float("ours_high", rows().map(|row| row.1.ours_high))
        .text("verdict", rows().map(|row| row.1.verdict.key()))
        .batch()
}

impl Study {
    /// The claims as the answer of a command, with the charts of the study and the chart of a
    /// varied parameter. `table` is the [table of the claims](claims_table).
    pub fn answer<'a>(&self, varied: Option<&Varied>, table: &'a RecordBatch) -> Answer<'a> {
        let mut charts = self.charts.clone();
        let of_varied = |one| (format!("{}-varied", self.name), chart_of_varied(self.paper, one));
        charts.extend(varied.map(of_varied));
        let mut settings = self.settings.clone();
        let parameters = self.parameters.iter();
        settings.extend(parameters.map(|one| (one.key.to_owned(), json!(one.value))));
        Answer {
            kind: Kind::of(self.name),
            table,
            json: json_of(self, varied),
            settings: settings.into(),
            charts,
        }
    }
}

/// The whole answer, with the same keys for all studies.
fn json_of(study: &Study, varied: Option<&Varied>) -> Value {
    let varied = varied.map(|Varied { key, values }| {
        let values = values.iter();
        let values = values.map(|(value, claims)| json!({"value": value, "claims": claims}));
        json!({"parameter": key, "values": values.collect::<Vec<_>>()})
    });
    json!({
        "paper": study.paper,
        "headline": headline(&study.claims),
        "counts": Tally::of(&study.claims),
        "claims": study.claims,
        "parameters": study.parameters,
        "figures": study.figures,
        "varied": varied,
    })
}

/// The positions of the points on the x axis, and the name of the axis. If any label is not a
/// number, all labels are numbered, and the axis lists them.
pub(crate) fn places_of(labels: &[&str], axis: &str) -> (Vec<f64>, String) {
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

/// The number of claims with each verdict, by the value of the parameter.
fn chart_of_varied(paper: &str, varied: &Varied) -> Chart {
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
        title: format!("Claims of {} by {}", paper, varied.key),
        caption: format!("Number of claims with each verdict as `{}` varies.", varied.key),
        x_axis,
        y_axis: "claims".to_owned(),
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines: Verdict::ALL
            .into_iter()
            .zip(Tone::SERIES)
            .map(|(verdict, tone)| line(verdict, tone))
            .collect(),
    })
}

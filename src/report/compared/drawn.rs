//! Charts with a line for each of two sets of results: how long jobs last, how long tasks wait, and
//! how much CPU is requested over time.
//!
//! In: the stored curves and intervals of both sides. Out: charts as HTML. A chart is left out if
//! one side lacks its data, or if the two sides have different units.

use super::names::Names;
use crate::answers::load::{self, LoadAnswer};
use crate::charts::{Chart, Line, LineChart, Scale, Stroke, Tone};
use crate::digits::{lasting, three_digits};
use crate::report::series::html;
use crate::results::Stored;

/// Points of a cumulative share: values in order, each with the share of all values at or below it.
type Curve = Vec<(f64, f64)>;

/// A study with a curve, and the words for it: the title, the quantity of the values, and the
/// counted things.
struct Drawn {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    of: &'static str,
}

const CURVES: [Drawn; 2] = [
    Drawn {
        name: "job-durations",
        title: "How long jobs last",
        axis: "from the first start to the last event (s)",
        of: "jobs",
    },
    Drawn {
        name: "waiting",
        title: "How long tasks wait, started or not",
        axis: "waiting (s)",
        of: "tasks",
    },
];

/// The charts of both sides; empty if nothing can be drawn.
pub(super) fn charts(results: [&[Stored]; 2], names: &Names<'_>) -> String {
    let curves = CURVES.iter().filter_map(|drawn| {
        let [first, second] = results.map(|side| curve(drawn, side));
        Some(shares(drawn, [first?, second?], names))
    });
    let all: String = curves.chain(over_time(results, names)).map(|chart| html(&chart)).collect();
    if all.is_empty() { all } else { format!("<h2>Both in one picture</h2>\n{all}") }
}

/// A file of one side: its result, its columns and its rows.
fn file_of<'a>(
    side: &'a [Stored],
    name: &str,
    file: &str,
) -> Option<(&'a Stored, csv::Reader<std::fs::File>)> {
    let result = side.iter().find(|result| result.name == name)?;
    let reader = csv::Reader::from_path(result.path_of(file).ok()?).ok()?;
    Some((result, reader))
}

/// The rows of a file as numbers of these columns. Rows with a cell that is not a number are left
/// out. If the file has rows of all outcomes or of all groups, only these are taken.
fn numbers<const N: usize>(
    reader: &mut csv::Reader<std::fs::File>,
    columns: [&str; N],
) -> Option<Vec<[f64; N]>> {
    let header = reader.headers().ok()?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let whole = [("outcome", "all"), ("is_total", "true")];
    let whole = whole.map(|(column, text)| (place(column), text));
    let places: Option<Vec<usize>> = columns.iter().map(|name| place(name)).collect();
    let places = places?;
    let rows = reader.records().filter_map(|row| {
        let row = row.ok()?;
        if whole.iter().any(|(idx, text)| idx.is_some_and(|idx| row.get(idx) != Some(*text))) {
            return None;
        }
        let mut own = [0.0; N];
        for (number, &idx) in own.iter_mut().zip(&places) {
            *number = row.get(idx)?.parse().ok()?;
        }
        Some(own)
    });
    Some(rows.collect())
}

/// The stored curve of one side; `None` if that side has no curve.
fn curve(drawn: &Drawn, side: &[Stored]) -> Option<Curve> {
    let (_, mut reader) = file_of(side, drawn.name, &format!("{}-curves.csv", drawn.name))?;
    let rows = numbers(&mut reader, ["value", "share_at_or_below"])?;
    (1 < rows.len()).then(|| rows.into_iter().map(|[value, share]| (value, share)).collect())
}

/// The share at or below a value.
fn share_at(curve: &Curve, value: f64) -> f64 {
    let until = curve.partition_point(|point| point.0 <= value);
    curve[..until].last().map_or(0.0, |point| point.1)
}

/// The value at which two curves are furthest apart, and both shares there.
fn furthest(curves: [&Curve; 2]) -> (f64, [f64; 2]) {
    let at = |value: f64| (value, curves.map(|curve| share_at(curve, value)));
    let apart = |point: &(f64, [f64; 2])| (point.1[0] - point.1[1]).abs();
    let all = curves.into_iter().flatten().map(|point| at(point.0));
    all.max_by(|one, other| apart(one).total_cmp(&apart(other))).unwrap_or((0.0, [0.0; 2]))
}

/// A chart with two lines.
fn lines(
    [title, caption, x_axis, y_axis]: [String; 4],
    x_scale: Scale,
    points: [Vec<(f64, f64)>; 2],
    stroke: Stroke,
    names: &Names<'_>,
) -> Chart {
    let sides = [(names.first, Tone::Blue), (names.second, Tone::Vermilion)];
    let lines = sides.into_iter().zip(points).map(|((name, tone), points)| Line {
        name: name.to_owned(),
        points,
        band: Vec::new(),
        tone,
        stroke,
    });
    Chart::Lines(LineChart {
        title,
        caption,
        x_axis,
        y_axis,
        x_scale,
        y_from: 0.0,
        lines: lines.collect(),
    })
}

/// Two curves, and the value at which they are furthest apart.
fn shares(drawn: &Drawn, curves: [Curve; 2], names: &Names<'_>) -> Chart {
    let (value, both) = furthest(curves.each_ref());
    let [first, second] = both.map(|share| three_digits(share * 100.0));
    let when = lasting(value);
    let caption = format!(
        "{}: the share of {} at or below a time. The curves are furthest apart at {when}: {first} % in {}, \
        {second} % in {}.",
        drawn.title, drawn.of, names.first, names.second
    );
    let percent = |curve: Curve| curve.into_iter().map(|(at, share)| (at, share * 100.0)).collect();
    lines(
        [
            drawn.title.to_owned(),
            caption,
            drawn.axis.to_owned(),
            format!("{} at or below (%)", drawn.of),
        ],
        Scale::Log,
        curves.map(percent),
        Stroke::Steps,
        names,
    )
}

/// The CPU that running attempts requested, over the days since the start of each side.
fn over_time(results: [&[Stored]; 2], names: &Names<'_>) -> Option<Chart> {
    const DAY_S: f64 = 86_400.0;
    let of = |side: &[Stored]| {
        let (result, mut reader) = file_of(side, load::KIND.name, "load.csv")?;
        let answer: &LoadAnswer = result.found()?;
        let rows = numbers(&mut reader, ["start_s", "end_s", "cpu_allocated"])?;
        let begin_s = rows.first()?[0];
        let points: Vec<(f64, f64)> =
            rows.iter().map(|row| ((row[0] - begin_s) / DAY_S, row[2])).collect();
        let end = rows.last().map(|row| ((row[1] - begin_s) / DAY_S, row[2]));
        let points: Vec<(f64, f64)> = points.into_iter().chain(end).collect();
        Some((answer.unit.to_string(), points))
    };
    let [(unit, first), (other, second)] = [of(results[0])?, of(results[1])?];
    if unit != other {
        return None;
    }
    let most = |points: &[(f64, f64)]| {
        let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
        three_digits(most)
    };
    let caption = format!(
        "CPU that running attempts requested: at most {} {unit} in {}, {} in {}.",
        most(&first),
        names.first,
        most(&second),
        names.second
    );
    Some(lines(
        [
            "CPU requested over time".to_owned(),
            caption,
            "time since the start of each (d)".to_owned(),
            format!("CPU requested ({unit})"),
        ],
        Scale::Linear,
        [first, second],
        Stroke::Steps,
        names,
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The cumulative share of drawn values.
    fn curve_of(mut values: Vec<u8>) -> Curve {
        values.sort_unstable();
        let count = f64::from(u32::try_from(values.len()).unwrap());
        let mut curve: Curve = Vec::new();
        for (rank, value) in (1_u32..).zip(values) {
            let point = (f64::from(value), f64::from(rank) / count);
            match curve.last_mut() {
                Some(last) if last.0 == point.0 => *last = point,
                _ => curve.push(point),
            }
        }
        curve
    }

    proptest! {
        /// Promise: at no value are the curves further apart than at the reported one, and the
        /// shares there are those of the values.
        #[test]
        fn curves_are_furthest_apart_where_it_is_said(
            one in prop::collection::vec(0_u8..20, 1..30),
            other in prop::collection::vec(0_u8..20, 1..30),
        ) {
            let share = |values: &[u8], at: u8| {
                let below = values.iter().filter(|value| **value <= at).count();
                let [below, all] = [below, values.len()].map(|count| u32::try_from(count).unwrap());
                f64::from(below) / f64::from(all)
            };
            let (at, both) = furthest([&curve_of(one.clone()), &curve_of(other.clone())]);
            let apart = (both[0] - both[1]).abs();
            for value in 0..20_u8 {
                let own = [share(&one, value), share(&other, value)];
                prop_assert!((own[0] - own[1]).abs() <= apart + 1e-12);
                if f64::from(value) == at {
                    prop_assert!((own[0] - both[0]).abs() + (own[1] - both[1]).abs() < 1e-12);
                }
            }
        }
    }
}

//! The charts of `fairness`. Those of indices are as in figures 3 and 4 of the paper: a step line
//! per user, and one for the sum of all others if values can be added up.

use super::{Found, entitled, meaning_of_index, values};
use crate::answers::edges;
use crate::answers::sentences::{meaning_of_meter, percent, short};
use crate::charts::{
    Bar, BarChart, Chart, DAYS_OF_SPAN, DAYS_OF_TRACE, Line, LineChart, Scale, Stroke, Tone,
    over_span,
};
use crate::digits;
use crate::fairness::gather::Accrual;
use crate::fairness::indices::Heavier;
use crate::fairness::series::Series;
use crate::fairness::usage::{self, UserUsage};

const DAY_S: f64 = 86_400.0;

/// All charts, by the stem of their file: values of each index for the `top` heaviest users and for
/// all users together, the Lorenz curve, and usage against entitlement.
pub(crate) fn charts(found: &Found, top: usize) -> Vec<(String, Chart)> {
    let users = found.users();
    let (named, rest) = users.split_at(top.min(Tone::SERIES.len()).min(users.len()));
    let named: Vec<&UserUsage> = named.iter().collect();
    let rest: Vec<usize> = rest.iter().map(|user| user.who).collect();
    let asked = top.min(users.len());
    let mut all: Vec<(String, Chart)> = Vec::new();
    let bars = shares(found, &users).map(|chart| (SHARES.to_owned(), chart));
    for series in &found.series {
        let stem = match stem(&series.index) {
            stem if stem.is_empty() => "index".to_owned(),
            stem => stem,
        };
        if !series.columns.is_empty() {
            let mut chart = of_users(found, series, &named, &rest);
            if named.len() < asked {
                let more = format!(
                    " Only the {} heaviest of {asked} requested {} are drawn.",
                    named.len(),
                    found.span.plan.by.noun(asked as u64)
                );
                chart.caption.push_str(&more);
            }
            all.push((format!("fairness-{stem}"), Chart::Lines(chart)));
        }
        if !series.overall.is_empty() {
            all.push((format!("fairness-{stem}-all"), of_all(found, series)));
        }
    }
    let name = |user: &UserUsage| shown(found, &user.user);
    let entitled = entitled::chart(found, &users, name, &caption(found));
    all.extend(entitled.map(|chart| ("fairness-entitled".to_owned(), chart)));
    let (missing, since_s) = found.missing();
    let axis = axis_from(since_s);
    let mut all: Vec<(String, Chart)> = all
        .into_iter()
        .map(|(stem, chart)| {
            let (chart, unit_s) = over_span(on_axis(chart, axis), found.length_s());
            (stem, missing.over_time(chart, since_s, unit_s))
        })
        .collect();
    all.extend(lorenz(found, &users).map(|chart| ("fairness-lorenz".to_owned(), chart)));
    bars.into_iter().chain(all).collect()
}

/// The title of an axis of days. The axis begins with the span, which may begin with the trace.
pub(crate) fn axis_from(start_s: f64) -> &'static str {
    if start_s == 0.0 { DAYS_OF_TRACE } else { DAYS_OF_SPAN }
}

/// The same chart with another title on its axis of days.
pub(crate) fn on_axis(mut chart: Chart, axis: &str) -> Chart {
    let set = |lines: &mut LineChart| {
        if lines.x_axis == DAYS_OF_SPAN {
            axis.clone_into(&mut lines.x_axis);
        }
    };
    match &mut chart {
        Chart::Lines(lines) => set(lines),
        Chart::Panels(panels) => panels.panels.iter_mut().for_each(set),
        _ => {}
    }
    chart
}

/// The name of the chart that shows how much each user got.
const SHARES: &str = "fairness-shares";

/// The most users with a separate bar.
const BARS_MAX: usize = 10;

/// The share of each of the heaviest users, and of all other users together; `None` for a single
/// user.
fn shares(found: &Found, users: &[UserUsage]) -> Option<Chart> {
    let plan = &found.span.plan;
    let (named, rest) = users.split_at(BARS_MAX.min(users.len()));
    let sum = |users: &[UserUsage]| users.iter().filter_map(|user| user.share).sum::<f64>();
    let bar = |label: String, share: f64, tone| Bar {
        label,
        value: 100.0 * share,
        note: percent(share),
        tone,
        part: None,
    };
    let mut bars: Vec<Bar> = named
        .iter()
        .map(|user| bar(shown(found, &user.user), user.share.unwrap_or(0.0), Tone::Blue))
        .collect();
    if !rest.is_empty() {
        let count = rest.len() as u64;
        let label = format!("the other {} {}", digits::grouped(count), plan.by.noun(count));
        bars.push(bar(label, sum(rest), Tone::Grey));
    }
    let together = if rest.is_empty() {
        String::new()
    } else {
        format!("The {} heaviest have {} together. ", named.len(), percent(sum(named)))
    };
    (1 < users.len()).then(|| {
        Chart::Bars(BarChart {
            title: format!("Who got how much, by {}", plan.by.name()),
            caption: together + &caption(found),
            value_axis: format!("share of the {} (%)", plan.meter.resource().noun()),
            bars,
        })
    })
}

/// The most points of a Lorenz curve.
const LORENZ_POINTS: usize = 200;

/// The Lorenz curve: the share of the usage that the lightest users have together (Lorenz, 1905). A
/// straight line shows equal usage of all users.
#[expect(clippy::cast_precision_loss, reason = "users are far below 2^53")]
fn lorenz(found: &Found, users: &[UserUsage]) -> Option<Chart> {
    let inequality = usage::inequality(users)?;
    let total: f64 = users.iter().map(|user| user.cpu_s).sum();
    let count = users.len();
    let mut so_far = 0.0;
    let mut points = vec![(0.0, 0.0)];
    for (place, user) in (1..).zip(users.iter().rev()) {
        so_far += user.cpu_s;
        // The points are evenly spaced, and the last one is always included.
        if place == count || place * LORENZ_POINTS / count != (place - 1) * LORENZ_POINTS / count {
            points.push((place as f64 / count as f64 * 100.0, so_far / total * 100.0));
        }
    }
    let straight = |name: &str, points: Vec<(f64, f64)>, tone| Line {
        name: name.to_owned(),
        points,
        band: Vec::new(),
        tone,
        stroke: Stroke::Straight,
    };
    let by = found.span.plan.by.name();
    Some(Chart::Lines(LineChart {
        title: format!("How unequal the usage by {by} is (Lorenz curve)"),
        caption: format!(
            "The top {} of {} have {}; the Gini index is {:.3}. The curve is the share of the usage that \
            the lightest have together. {}",
            digits::grouped(inequality.users_of_half),
            digits::grouped(inequality.users),
            percent(of_top(users, inequality.users_of_half)),
            inequality.gini,
            caption(found)
        ),
        x_axis: format!("share of the {}, the lightest first (%)", found.span.plan.by.plural()),
        y_axis: format!("share of the {} (%)", found.span.plan.meter.resource().noun()),
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines: vec![
            straight("recorded", points, Tone::Blue),
            straight("equal shares", vec![(0.0, 0.0), (100.0, 100.0)], Tone::Grey),
        ],
    }))
}

/// The share that the heaviest users have together.
fn of_top(users: &[UserUsage], top: u64) -> f64 {
    let top = usize::try_from(top).unwrap_or(usize::MAX);
    users.iter().take(top).filter_map(|user| user.share).sum()
}

/// A name for the legend; a number gets a noun, as in `user 7`.
pub(crate) fn shown(found: &Found, name: &str) -> String {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    let what = found.span.plan.by.name();
    // Tables shorten hashes in the same way: the first letters identify users.
    if is_number { format!("{what} {name}") } else { short(name) }
}

/// The name of a value of an index in words, with known abbreviations in full.
fn in_words(column: &str) -> String {
    match column {
        "cv" => "Charged value".to_owned(),
        "eup" => "Effective user priority".to_owned(),
        "factor" => "Fair-share factor".to_owned(),
        other => {
            let words = other.replace('_', " ");
            let mut letters = words.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        }
    }
}

/// The text of an index as part of the name of a file: letters, digits and dashes, of limited
/// length.
fn stem(index: &str) -> String {
    const LETTERS_MAX: usize = 120;
    let kept =
        index.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    kept.take(LETTERS_MAX).collect::<String>().trim_matches('-').to_owned()
}

/// The length of an interval in words: `1 h`, `90 s`.
fn words(length_s: f64) -> String {
    let units = [("d", 86_400.0), ("h", 3600.0), ("min", 60.0)];
    let whole = units.iter().find(|(_, per)| length_s % per == 0.0);
    whole.map_or_else(
        || format!("{} s", digits::six_digits(length_s)),
        |(unit, per)| format!("{} {unit}", digits::six_digits(length_s / per)),
    )
}

fn caption(found: &Found) -> String {
    let plan = &found.span.plan;
    let when = match plan.accrual {
        Accrual::End => "when an attempt ends",
        Accrual::Running => "as it runs",
    };
    // A single cluster needs no name, because it is the lake of the command.
    let clusters = match found.history.clusters.as_slice() {
        [_] => String::new(),
        several => format!("{}; ", several.join(" + ")),
    };
    let meaning = meaning_of_meter(plan.meter);
    format!(
        "{clusters}{meaning}, charged {when}, intervals of {}.{}",
        words(plan.grid.length_s()),
        edges::ending(&super::closed(found))
    )
}

/// The main value of the named users, and the sum of all others. There are at most as many named
/// users as colours.
pub(crate) fn of_users(
    found: &Found,
    series: &Series,
    named: &[&UserUsage],
    rest: &[usize],
) -> LineChart {
    let history = &found.history;
    let everyone = named.iter().map(|user| user.who).chain(rest.iter().copied());
    let (unit, per) = shown_in(found, series, &everyone.collect::<Vec<usize>>());
    let at = |interval: usize| {
        let position =
            history.shown_from + u32::try_from(interval).expect("a grid's intervals fit");
        history.seconds_at(position + 1) / DAY_S
    };
    let intervals = series.intervals();
    let points = |who: &[usize]| -> Vec<(f64, f64)> {
        (0..intervals)
            .map(|interval| {
                // A user has no value before the first submission.
                let values = who.iter().map(|&who| series.value(interval, who, 0));
                let known: Vec<f64> = values.filter(|value| value.is_finite()).collect();
                let sum = known.iter().sum::<f64>() / per;
                (at(interval), if known.is_empty() { f64::NAN } else { sum })
            })
            // Undefined values are not drawn.
            .filter(|point| point.1.is_finite())
            .collect()
    };
    let mut lines: Vec<Line> = named
        .iter()
        .zip(Tone::SERIES)
        .map(|(user, tone)| Line::steps(shown(found, &user.user), points(&[user.who]), tone))
        .collect();
    let mut not_drawn = String::new();
    // The bills of several users can be added up; factors and priorities cannot.
    if !rest.is_empty() && series.adds_up {
        let rest_points = points(rest);
        let most = |points: &[(f64, f64)]| points.iter().map(|point| point.1).fold(0.0, f64::max);
        let highest = lines.iter().map(|line| most(&line.points)).fold(0.0, f64::max);
        let noun = found.span.plan.by.noun(rest.len() as u64);
        let count = digits::grouped(rest.len() as u64);
        let rest_most = most(&rest_points);
        if is_drawn(rest_most, highest) {
            let name = format!("rest: {count} {noun}");
            lines.push(Line::steps(name, rest_points, Tone::Grey));
        } else {
            let space = if unit.is_empty() { "" } else { " " };
            not_drawn = format!(
                "Not drawn: the other {count} {noun}, together up to {}{space}{unit}. ",
                digits::three_digits(rest_most)
            );
        }
    }
    let (column, by) = (&series.columns[0], found.span.plan.by);
    LineChart {
        title: format!("{} of the heaviest {} ({})", in_words(column), by.plural(), series.index),
        caption: format!(
            "{}{not_drawn}{}",
            highest(found, series, named, (&unit, per)),
            caption(found)
        ),
        x_axis: DAYS_OF_SPAN.to_owned(),
        y_axis: if unit.is_empty() {
            in_words(column).to_lowercase()
        } else {
            format!("{} ({unit})", in_words(column).to_lowercase())
        },
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines,
    }
}

/// The unit in which the values of some users are shown, and how many units of the files make one.
/// The unit is empty if there is none.
fn shown_in(found: &Found, series: &Series, who: &[usize]) -> (String, f64) {
    let last = who.iter().filter_map(|&who| Found::last(series, who));
    let top = last.fold(0.0, f64::max);
    let of = (found.span.unit, found.span.plan.grid.length_s());
    values::shown_in((&series.settings, &series.columns[0]), of, top)
}

/// Sentences that say which of the named users has the largest value at the end, and what the index
/// means.
fn highest(
    found: &Found,
    series: &Series,
    named: &[&UserUsage],
    (unit, per): (&str, f64),
) -> String {
    let value = |user: &&UserUsage| Some((Found::last(series, user.who)?, user.user.clone()));
    let most = named.iter().filter_map(value).max_by(|one, other| one.0.total_cmp(&other.0));
    let most = most.map_or_else(String::new, |(value, user)| {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        format!(
            "Of these, {} has the largest value at the end, {}{unit}; a large value means {} use. ",
            shown(found, &user),
            digits::three_digits(value / per),
            match series.heavier {
                Heavier::Larger => "much",
                Heavier::Smaller => "little",
            }
        )
    });
    let meaning = meaning_of_index(&series.settings);
    let meaning = meaning.map(|meaning| format!("{}: {meaning}. ", series.index));
    most + &meaning.unwrap_or_default()
}

/// Whether the sum of all other users is drawn. It is not drawn if it is so high that the named
/// users would be hard to see.
fn is_drawn(rest: f64, highest: f64) -> bool {
    const HIGHER: f64 = 1.5;
    rest <= HIGHER * highest
}

/// The first value of an index for all users together.
fn of_all(found: &Found, series: &Series) -> Chart {
    let history = &found.history;
    let width = series.overall.len();
    let points = (0..series.intervals())
        .zip(history.shown_from..)
        .map(|(interval, position)| {
            let value = series.overall_values[interval * width];
            (history.seconds_at(position + 1) / DAY_S, value)
        })
        .filter(|point| point.1.is_finite())
        .collect();
    Chart::Lines(LineChart {
        title: series.index.clone(),
        caption: caption(found),
        x_axis: DAYS_OF_SPAN.to_owned(),
        y_axis: series.overall[0].clone(),
        x_scale: Scale::Linear,
        y_from: 0.0,
        lines: vec![Line::steps(String::new(), points, Tone::Blue)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_of_a_whole_trace_is_that_of_the_trace() {
        let chart = |axis: &str| LineChart {
            title: String::new(),
            caption: String::new(),
            x_axis: axis.to_owned(),
            y_axis: String::new(),
            x_scale: Scale::Linear,
            y_from: 0.0,
            lines: Vec::new(),
        };
        let on = |chart: LineChart, start_s: f64| {
            let Chart::Lines(own) = on_axis(Chart::Lines(chart), axis_from(start_s)) else {
                panic!("lines stay lines");
            };
            own.x_axis
        };
        assert_eq!(on(chart(DAYS_OF_SPAN), 0.0), DAYS_OF_TRACE);
        assert_eq!(on(chart(DAYS_OF_SPAN), 600.0), DAYS_OF_SPAN);
        assert_eq!(on(chart("share (%)"), 0.0), "share (%)");
    }

    #[test]
    fn the_share_of_the_top_is_that_of_the_named_number() {
        let user = |share: f64| UserUsage { share: Some(share), ..UserUsage::default() };
        let users = [user(0.303), user(0.174), user(0.153), user(0.37)];
        assert!((of_top(&users, 3) - 0.63).abs() < 1e-12);
        assert!(is_drawn(15.0, 10.0) && !is_drawn(15.1, 10.0));
    }
}

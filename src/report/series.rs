//! The indices of a user over time, next to those of all users.
//!
//! In: the stored series of `fairness`, with a value per user and interval. Out: a chart and
//! sentences as HTML. No index is computed here. A curve has the smallest and the largest value of
//! each step, so that no peak is lost even if a step is long.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::html;
use super::links::PAGES_MAX;
use super::text::escape;
use crate::answers::fairness::{FairnessAnswer, FairnessSettings, shown_in};
use crate::answers::labels::labels;
use crate::answers::sentences::capital;
use crate::charts::{
    Chart, DAYS_OF_SPAN, Line, LineChart, PanelChart, Scale, Stroke, Tone, svg_of,
};
use crate::digits::{counted, grouped, lasting, three_digits};
use crate::fairness::history::known_name;
use crate::results::Stored;
use crate::studies::quantile;

/// Larger series are not read, bytes.
const SERIES_MAX: u64 = 256 << 20;

/// Largest number of steps of a curve. The smallest and the largest value of each step are drawn.
const STEPS_MAX: u64 = 100;

/// Largest number of indices that are drawn.
const INDICES_MAX: usize = 3;

/// Longer names of indices are cut in the title of their plot, letters. The caption has the whole
/// name.
const TITLE_MAX: usize = 40;

/// The band of the users with usage: the range between these two quantiles.
const BAND: [f64; 2] = [0.1, 0.9];

/// A band below this share of the user's largest value is too low to be seen, and is not drawn.
const SEEN: f64 = 0.02;

/// One index over time: the values of users with pages, and the distribution over the users with
/// usage in the span.
#[derive(Default)]
struct OfIndex {
    index: String,
    /// The name of the index, short enough for the title of a plot.
    title: String,
    column: String,
    /// The name of the index with all parameters.
    settings: String,
    /// The unit of usage, and the length of an interval, s.
    usage: (String, f64),
    /// The ends of the steps, days since the start of the span.
    days: Vec<f64>,
    /// The lower end of the band, the median and the upper end, at the end of each step.
    all: Vec<[f64; 3]>,
    /// Points (day, value) of each user with a page, from the first interval with a value on: the
    /// smallest and the largest of each step, and the last one.
    own: FxHashMap<String, Vec<(f64, f64)>>,
    /// While reading, the values of all users with usage at the current instant. After that, their
    /// values at the end of the span, ascending.
    last: Vec<f64>,
    /// The points of users with pages in the current step.
    now: FxHashMap<String, Vec<(f64, f64)>>,
    /// The current instant as written in the file, and its day.
    at: (String, f64),
    /// The number of instants so far.
    instants: u64,
}

/// The indices of a result over time.
#[derive(Default)]
pub(super) struct Indices {
    all: Vec<OfIndex>,
    /// The length of a step in words, if it is longer than an interval.
    step: Option<String>,
    /// The number of users with usage in the span.
    count: usize,
}

impl Indices {
    /// Reads the series of the users with pages; empty if there is no series, or the file is too
    /// large.
    pub(super) fn read(result: &Stored) -> Self {
        let answer: Option<&FairnessAnswer> = result.found();
        let users = answer.into_iter().flat_map(|answer| &answer.users).take(PAGES_MAX);
        Self::of(result, &users.filter_map(|user| known_name(&user.user)).collect())
    }

    /// Reads the series of these users.
    pub(super) fn of(result: &Stored, users: &FxHashSet<&str>) -> Self {
        read(result, users).unwrap_or_default()
    }

    /// The indices of a user among those of all users, next to the plot `so_far`. The caption has
    /// sentences about them.
    pub(super) fn chart(&self, user: &str, kind: &str, so_far: LineChart) -> Chart {
        let mut said = vec![so_far.caption.clone()];
        let mut panels = vec![so_far];
        for own in &self.all {
            let Some(values) = own.own.get(user) else { continue };
            let (panel, unseen) = own.panel(values, kind);
            said.extend(own.place(values, kind, self.count));
            said.extend(unseen);
            panels.push(panel);
        }
        said.extend(self.drawn(&panels, kind));
        let alone = panels.len() < 2;
        let (title, caption) = (panels[0].title.clone(), said.join(" "));
        if alone {
            return Chart::Lines(LineChart { caption, ..panels.remove(0) });
        }
        "So far".clone_into(&mut panels[0].title);
        Chart::Panels(PanelChart { title, caption, panels, columns: 2 })
    }

    /// Sentences that say which values the panels of indices show.
    fn drawn(&self, panels: &[LineChart], kind: &str) -> Vec<String> {
        let is_banded = |line: &Line| !line.band.is_empty();
        let has_band = panels.iter().any(|panel| panel.lines.iter().any(is_banded));
        let mut said = Vec::new();
        if let Some(step) = self.step.as_ref().filter(|_| 1 < panels.len()) {
            let others =
                if has_band { ", and the median and the band at the end of the step" } else { "" };
            said.push(format!(
                "Indices are drawn in steps of {step}: the smallest and the largest value of this {kind} \
                in each step{others}."
            ));
        }
        if has_band {
            said.push(format!(
                "The band is from the lowest {:.0} % to the highest {:.0} % of the {kind}s with usage.",
                BAND[0] * 100.0,
                (1.0 - BAND[1]) * 100.0
            ));
        }
        said
    }
}

impl OfIndex {
    fn name(&self) -> String {
        match self.column.as_str() {
            "eup" => "effective user priority".to_owned(),
            "factor" => "fair-share factor".to_owned(),
            "cv" => "charged value".to_owned(),
            other => other.replace('_', " "),
        }
    }

    /// The unit of the shown values (empty if they have none), and how many units of the file make
    /// one.
    fn shown_in(&self) -> (String, f64) {
        let (unit, interval_s) = &self.usage;
        let top = self.last.last().copied().unwrap_or(0.0);
        shown_in((&self.settings, &self.column), (unit, *interval_s), top)
    }

    /// A sentence about the rank of the user among the others with usage at the end. `count` is the
    /// number of all users with usage; an index may have no value for some of them.
    fn place(&self, values: &[(f64, f64)], kind: &str, count: usize) -> Option<String> {
        let own = values.last()?.1;
        let below = self.last.partition_point(|value| *value < own);
        let median = quantile(&self.last, 0.5)?;
        let (unit, per) = self.shown_in();
        let unit = if unit.is_empty() { unit } else { format!(" {unit}") };
        let known = if self.last.len() < count { " and a value" } else { "" };
        let others = self.last.len().saturating_sub(1) as u64;
        let counted = counted(others, &format!("other {kind}"));
        let place = match below as u64 {
            0 if 0 < others => {
                let all = crate::digits::counted(others + 1, kind);
                format!("the lowest of the {all} with usage{known}")
            }
            all if 1 < all && all == others => {
                format!("larger than that of all {counted} with usage{known}")
            }
            some => {
                format!("larger than that of {} of the {counted} with usage{known}", grouped(some))
            }
        };
        Some(format!(
            "At the end its {} ({}) is {}{unit}, {place}; the median of all is {}.",
            self.name(),
            self.index,
            three_digits(own / per),
            three_digits(median / per),
        ))
    }

    /// The curve of the user next to the median and the band. If these are too low to be seen, a
    /// sentence replaces them.
    fn panel(&self, values: &[(f64, f64)], kind: &str) -> (LineChart, Option<String>) {
        let (unit, per) = self.shown_in();
        let unit = if unit.is_empty() { unit } else { format!(" ({unit})") };
        let all = || self.days.iter().zip(self.all.iter().map(|all| all.map(|value| value / per)));
        let values: Vec<(f64, f64)> =
            values.iter().map(|&(day, value)| (day, value / per)).collect();
        let most = values.iter().map(|point| point.1).fold(0.0, f64::max);
        let own = Line::steps(format!("this {kind}"), values, Tone::Blue);
        let upper = all().map(|(_, all)| all[2]).fold(0.0, f64::max);
        let unseen = (0.0 <= upper && upper < SEEN * most).then(|| {
            format!(
                "The median {kind} and the band are not drawn: {:.0} % of the {kind}s with usage are \
                never above {} at the drawn instants.",
                BAND[1] * 100.0,
                three_digits(upper)
            )
        });
        let median = all().map(|(&day, all)| (day, all[1])).collect();
        let median = Line {
            band: all().map(|(&day, all)| (day, all[0], all[2])).collect(),
            // A whisker has no tooltips: a report has a hundred such pages, and they stay small.
            stroke: Stroke::Whisker,
            ..Line::steps(format!("median {kind}"), median, Tone::Vermilion)
        };
        let panel = LineChart {
            title: format!("{} ({})", capital(&self.name()), self.title),
            caption: String::new(),
            x_axis: DAYS_OF_SPAN.to_owned(),
            y_axis: format!("{}{unit}", self.name()),
            x_scale: Scale::Linear,
            y_from: 0.0,
            lines: if unseen.is_some() { vec![own] } else { vec![own, median] },
        };
        (panel, unseen)
    }
}

/// The names of the indices to draw, each with its first column and all its parameters. `metered`
/// with default settings is left out: it is the use so far, which is drawn in any case.
fn wanted(answer: &FairnessAnswer) -> Vec<(String, String, String)> {
    let all = || answer.indices.iter();
    let known = all().filter_map(|index| {
        // The table cannot distinguish two indices with the same name.
        let same = all().filter(|other| other.index == index.index).count();
        let column = index.columns.first().filter(|_| same == 1)?;
        let settings = index.settings.clone();
        (settings != "metered").then(|| (index.index.clone(), column.clone(), settings))
    });
    known.take(INDICES_MAX).collect()
}

fn read(result: &Stored, users: &FxHashSet<&str>) -> Option<Indices> {
    let answer: &FairnessAnswer = result.found()?;
    let wanted = wanted(answer);
    let path = result.path_of("series.csv").ok().filter(|_| !wanted.is_empty())?;
    if SERIES_MAX < std::fs::metadata(&path).ok()?.len() {
        return None;
    }
    let each = answer.intervals.div_ceil(STEPS_MAX).max(1);
    // Times count from the first interval. With a warm-up, this interval is before the span.
    let settings: FairnessSettings = result.whole.chosen();
    let before_s = settings.shown_from.unwrap_or(0.0) * answer.interval_s;
    let names: Vec<String> = wanted.iter().map(|one| one.0.clone()).collect();
    let of = |((index, column, settings), title)| OfIndex {
        index,
        title,
        column,
        settings,
        usage: (answer.unit.to_string(), answer.interval_s),
        ..OfIndex::default()
    };
    let mut found: Vec<OfIndex> =
        wanted.into_iter().zip(labels(&names, TITLE_MAX)).map(of).collect();
    // The file also has users who submitted jobs but used nothing.
    let with_usage: FxHashSet<&str> =
        answer.users.iter().map(|user| known_name(&user.user).unwrap_or_default()).collect();
    let mut reader = csv::Reader::from_path(&path).ok()?;
    let header = reader.headers().ok()?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let [index, end_s, user, column, value] =
        [place("index")?, place("end_s")?, place("user")?, place("column")?, place("value")?];
    // The rows of an index are sorted by time, so the rows of an instant are together.
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).ok()? {
        let Some(own) = found.iter_mut().find(|own| {
            record.get(index) == Some(&own.index) && record.get(column) == Some(&own.column)
        }) else {
            continue;
        };
        let at = record.get(end_s)?;
        if own.at.0 != at {
            own.next(at, (at.parse::<f64>().ok()? - before_s) / 86_400.0, each);
        }
        // A user has no value if the index is not defined for this user.
        let Ok(number) = record.get(value)?.parse::<f64>() else { continue };
        let name = record.get(user)?;
        own.add(number, with_usage.contains(name), users.get(name).copied());
    }
    for own in &mut found {
        own.close(true);
    }
    found.retain(OfIndex::is_whole);
    #[expect(clippy::cast_precision_loss, reason = "intervals are below 2^53")]
    let step = (1 < each).then(|| lasting(each as f64 * answer.interval_s));
    Some(Indices { all: found, step, count: with_usage.len() })
}

impl OfIndex {
    /// Begins an instant. If the earlier instants complete a step of `each` instants, that step
    /// ends.
    fn next(&mut self, at: &str, day: f64, each: u64) {
        if 0 < self.instants && self.instants.is_multiple_of(each) {
            self.close(false);
        }
        self.last.clear();
        self.at = (at.to_owned(), day);
        self.instants += 1;
    }

    /// Adds a value at the current instant. `with_page` names the user if it has a page.
    fn add(&mut self, value: f64, is_used: bool, with_page: Option<&str>) {
        if is_used {
            self.last.push(value);
        }
        if let Some(name) = with_page {
            self.now.entry(name.to_owned()).or_default().push((self.at.1, value));
        }
    }

    /// Ends a step: keeps the smallest and the largest value of each user with a page, and the band
    /// at the end of the step. The last step also keeps the last value.
    fn close(&mut self, is_last: bool) {
        #[expect(clippy::iter_over_hash_type, reason = "each user has its own entry")]
        for (name, points) in self.now.drain() {
            let own = self.own.entry(name).or_default();
            own.extend(ends_of(&points));
            own.extend(points.last().filter(|last| is_last && own.last() != Some(*last)));
        }
        if self.last.is_empty() {
            return;
        }
        self.last.sort_by(f64::total_cmp);
        let at = |share: f64| quantile(&self.last, share).unwrap_or(0.0);
        self.all.push([at(BAND[0]), at(0.5), at(BAND[1])]);
        self.days.push(self.at.1);
    }

    /// Whether there is something to draw.
    const fn is_whole(&self) -> bool {
        1 < self.days.len() && self.all.len() == self.days.len()
    }
}

/// The first smallest point and the first largest point, in order of time; a single point if all
/// values are the same.
fn ends_of(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let least = points.iter().min_by(|one, other| one.1.total_cmp(&other.1));
    let most = points.iter().rev().max_by(|one, other| one.1.total_cmp(&other.1));
    let mut ends: Vec<(f64, f64)> = least.into_iter().chain(most).copied().collect();
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    ends.dedup();
    ends
}

/// A chart and its caption, as HTML.
pub(super) fn html(chart: &Chart) -> String {
    let mut html = html::drawn(&svg_of(chart), chart.title());
    let _ = writeln!(html, "<p class=\"source\">{}</p>", escape(chart.caption()));
    html
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "small whole numbers")]

    use proptest::prelude::*;

    use super::*;

    /// An index for users with these values at each instant; the first user has a page.
    fn of_values(instants: &[Vec<f64>], each: u64, used: usize) -> OfIndex {
        let (index, column) = ("condor".to_owned(), "eup".to_owned());
        let mut own = OfIndex { index, column, ..OfIndex::default() };
        for (number, values) in (0_u32..).zip(instants) {
            own.next(&number.to_string(), f64::from(number), each);
            for (user, value) in values.iter().enumerate() {
                own.add(*value, user < used, (user == 0).then_some("a"));
            }
        }
        own.close(true);
        own
    }

    #[test]
    fn a_user_stands_among_the_others() {
        // Steps of two instants: the second step has only the last instant.
        let instants =
            [vec![1.0, 2.0, 9.0, 8.0], vec![0.0, 0.0, 0.0, 8.0], vec![3.0, 1.0, 7.0, 8.0]];
        let index = of_values(&instants, 2, 3);
        assert_eq!(index.days, [1.0, 2.0]);
        assert_eq!(index.own["a"], [(0.0, 1.0), (1.0, 0.0), (2.0, 3.0)]);
        assert_eq!(index.all.iter().map(|all| all[1]).collect::<Vec<f64>>(), [0.0, 3.0]);
        assert!(index.is_whole());
        // The fourth user used nothing, and does not count.
        let said = |count| index.place(&index.own["a"], "user", count).unwrap();
        assert_eq!(
            said(3),
            "At the end its effective user priority (condor) is 3, larger than that of 1 of the 2 \
            other users with usage; the median of all is 3."
        );
        let first = [vec![9.0, 2.0, 1.0]];
        let index = of_values(&first, 1, 3);
        let said_first = index.place(&index.own["a"], "user", 3).unwrap();
        assert!(said_first.contains("is 9, larger than that of all 2 other users"), "{said_first}");
        let last = [vec![1.0, 2.0, 9.0]];
        let index = of_values(&last, 1, 3);
        let said_last = index.place(&index.own["a"], "user", 3).unwrap();
        assert!(said_last.contains("is 1, the lowest of the 3 users with usage; "), "{said_last}");
        assert!(said(5).contains("2 other users with usage and a value;"));
        assert!(!of_values(&instants[..1], 2, 3).is_whole());
    }

    #[test]
    fn what_is_too_low_to_be_seen_is_said_and_not_drawn() {
        for (most, lines, part) in [(50.0, 2, None), (1e4, 1, Some("never above 1 "))] {
            let values = [vec![most, 0.1, 0.2], vec![most, 0.1, 0.1]];
            let mut index = of_values(&values, 1, 3);
            index.all.iter_mut().for_each(|all| all[2] = if most < 1e3 { 2.0 } else { 1.0 });
            let (panel, said) = index.panel(&index.own["a"], "user");
            assert_eq!(panel.lines.len(), lines);
            assert_eq!(part.is_none(), said.is_none());
            assert!(part.is_none_or(|part| said.clone().unwrap().contains(part)), "{said:?}");
        }
    }

    proptest! {
        /// Promise: no step of a curve hides a peak, and the curve ends at the last value.
        #[test]
        fn a_curve_keeps_the_smallest_and_the_largest_value_of_each_step(
            values in prop::collection::vec(-100_i32..100, 1..120),
            each in 1_u64..14,
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let instants: Vec<Vec<f64>> = values.iter().map(|value| vec![*value]).collect();
            let own = &of_values(&instants, each, 1).own["a"];
            prop_assert_eq!(own.last().unwrap().1, *values.last().unwrap());
            prop_assert!(own.windows(2).all(|two| two[0].0 < two[1].0));
            let (mut from, width) = (0, usize::try_from(each).unwrap());
            while from < values.len() {
                let to = values.len().min(from + width);
                let within: Vec<f64> = own
                    .iter()
                    .filter(|point| (from..to).any(|at| at as f64 == point.0))
                    .map(|point| point.1)
                    .collect();
                let (drawn, all) = (&within, &values[from..to]);
                let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
                let most = |of: &[f64]| of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                prop_assert_eq!([least(drawn), most(drawn)], [least(all), most(all)]);
                prop_assert!(drawn.len() <= 2 + usize::from(to == values.len()));
                from = to;
            }
            // Every point is a value of its instant.
            let known: Vec<(f64, f64)> = (0..values.len()).map(|at| (at as f64, values[at])).collect();
            prop_assert!(own.iter().all(|point| known.contains(point)));
        }
    }
}

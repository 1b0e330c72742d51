//! Parts of the page of a user: its indices over time among those of all users, and the outcomes of
//! its jobs.
//!
//! In: the stored series of `fairness`, a value per user and interval, and the outcomes that a
//! stored sweep counted. Out: charts and tables as HTML. No index is computed here.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::html::{self, Cell};
use super::links::{PAGES_MAX, of_kind};
#[cfg(feature = "serve")]
use super::text::instant;
use super::text::{escape, figure_text, percent, sentence};
use crate::answers::fairness::{FairnessAnswer, FairnessSettings};
use crate::answers::sweep::{JobDetails, UserOutcomes};
#[cfg(feature = "serve")]
use crate::charts::{Area, AreaChart, Bar, BarChart, outcome_tone};
use crate::charts::{
    Chart, DAYS_OF_SPAN, Line, LineChart, PanelChart, Scale, Stroke, Tone, svg_of,
};
use crate::digits::{counted, grouped};
#[cfg(feature = "serve")]
use crate::digits::{lasting, three_digits, unit_of_time};
use crate::fairness::history::known_name;
use crate::results::Stored;
use crate::results::kind::Pages;
use crate::studies::named::Named;
use crate::studies::quantile;
#[cfg(feature = "serve")]
use crate::units::AFTER_TRACE_US;

/// Series of more bytes are not read.
const SERIES_MAX: u64 = 256 << 20;

/// Largest number of instants of a curve.
const POINTS_MAX: usize = 20;

/// Largest number of indices that are drawn.
const INDICES_MAX: usize = 3;

/// The band of all users: from the first to the second of these quantiles.
const BAND: [f64; 2] = [0.1, 0.9];

/// One index over time: the values of users with pages, and the distribution over all users.
struct OfIndex {
    index: String,
    column: String,
    /// The ends of the drawn intervals, days since the start of the span.
    days: Vec<f64>,
    /// The lower end of the band, the median and the upper end, for each instant.
    all: Vec<[f64; 3]>,
    /// Points (day, value) of each user with a page, from its first interval with a value on.
    own: FxHashMap<String, Vec<(f64, f64)>>,
    /// The values of all users at the current instant while reading; then those at the end of the
    /// span, ascending.
    last: Vec<f64>,
    /// The values of users with pages at the current instant.
    now: Vec<(String, f64)>,
}

/// The indices of a result over time.
pub(super) struct Indices(Vec<OfIndex>);

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
        Self(read(result, users).unwrap_or_default())
    }

    /// The indices of a user among those of all users, and sentences about them; `so_far` is drawn
    /// beside them.
    pub(super) fn chart(&self, user: &str, kind: &str, so_far: LineChart) -> (Chart, Vec<String>) {
        let mut said = vec![so_far.caption.clone()];
        let mut panels = vec![so_far];
        for own in &self.0 {
            let Some(values) = own.own.get(user) else { continue };
            said.extend(own.place(values, kind));
            panels.push(own.panel(values, kind));
        }
        let alone = panels.len() < 2;
        let (title, caption) = (panels[0].title.clone(), said.join(" "));
        if alone {
            return (Chart::Lines(panels.remove(0)), said);
        }
        "So far".clone_into(&mut panels[0].title);
        (Chart::Panels(PanelChart { title, caption, panels, columns: 2 }), said)
    }
}

impl OfIndex {
    fn name(&self) -> String {
        match self.column.as_str() {
            "eup" => "effective user priority".to_owned(),
            "cv" => "charged value".to_owned(),
            other => other.replace('_', " "),
        }
    }

    /// The place of the user among all at the end, as a sentence.
    fn place(&self, values: &[(f64, f64)], kind: &str) -> Option<String> {
        let own = values.last()?.1;
        let below = self.last.partition_point(|value| *value < own);
        let median = quantile(&self.last, 0.5)?;
        Some(format!(
            "At the end its {} ({}) is {}, larger than that of {} of {}; the median is {}.",
            self.name(),
            self.index,
            figure_text(own),
            grouped(below as u64),
            counted(self.last.len().saturating_sub(1) as u64, &format!("other {kind}")),
            figure_text(median),
        ))
    }

    fn panel(&self, values: &[(f64, f64)], kind: &str) -> LineChart {
        let all = || self.days.iter().zip(&self.all);
        let own = Line::steps(format!("this {kind}"), values.to_vec(), Tone::Blue);
        let median = all().map(|(&day, all)| (day, all[1])).collect();
        let median = Line {
            band: all().map(|(&day, all)| (day, all[0], all[2])).collect(),
            // A whisker has no tooltips, which keeps a report with a hundred such pages small.
            stroke: Stroke::Whisker,
            ..Line::steps(format!("median {kind}"), median, Tone::Vermilion)
        };
        LineChart {
            title: self.index.clone(),
            caption: String::new(),
            x_axis: DAYS_OF_SPAN.to_owned(),
            y_axis: self.name(),
            x_scale: Scale::Linear,
            lines: vec![own, median],
        }
    }
}

/// The names of the indices to draw, each with its first column. `metered` with default settings is
/// left out: it is the use so far, which is drawn anyway.
fn wanted(answer: &FairnessAnswer) -> Vec<(String, String)> {
    let all = || answer.indices.iter();
    let known = all().filter_map(|index| {
        // The table does not distinguish two indices with the same name.
        let same = all().filter(|other| other.index == index.index).count();
        let column = index.columns.first().filter(|_| same == 1)?;
        (index.settings != "metered").then(|| (index.index.clone(), column.clone()))
    });
    known.take(INDICES_MAX).collect()
}

fn read(result: &Stored, users: &FxHashSet<&str>) -> Option<Vec<OfIndex>> {
    let answer: &FairnessAnswer = result.found()?;
    let wanted = wanted(answer);
    let path = result.path_of("series.csv").ok().filter(|_| !wanted.is_empty())?;
    if SERIES_MAX < std::fs::metadata(&path).ok()?.len() {
        return None;
    }
    let intervals = usize::try_from(answer.intervals).ok()?;
    let each = intervals.div_ceil(POINTS_MAX).max(1);
    // Times count from the first interval; a warm-up puts it before the span.
    let settings: FairnessSettings = result.whole.chosen();
    let before_s = settings.shown_from.unwrap_or(0.0) * answer.interval_s;
    let mut found: Vec<OfIndex> = wanted
        .into_iter()
        .map(|(index, column)| OfIndex {
            index,
            column,
            days: Vec::new(),
            all: Vec::new(),
            own: FxHashMap::default(),
            last: Vec::new(),
            now: Vec::new(),
        })
        .collect();
    let mut reader = csv::Reader::from_path(&path).ok()?;
    let header = reader.headers().ok()?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let [index, end_s, user, column, value] =
        [place("index")?, place("end_s")?, place("user")?, place("column")?, place("value")?];
    // Rows of an index are in order of time, so those of an instant are together.
    let (mut record, mut instants) = (csv::StringRecord::new(), 0_usize);
    let mut last = [String::new(), String::new()];
    while reader.read_record(&mut record).ok()? {
        let Some(own) = found.iter_mut().find(|own| {
            record.get(index) == Some(&own.index) && record.get(column) == Some(&own.column)
        }) else {
            continue;
        };
        let at = record.get(end_s)?;
        if own.index != last[0] || at != last[1] {
            instants = if own.index == last[0] { instants + 1 } else { 1 };
            own.close(instants - 1, each, intervals);
            own.days.push((at.parse::<f64>().ok()? - before_s) / 86_400.0);
            last = [own.index.clone(), at.to_owned()];
        }
        // A user has no value where the index is not defined for it.
        let Ok(number) = record.get(value)?.parse::<f64>() else { continue };
        own.last.push(number);
        if let Some(known) = record.get(user).and_then(|name| users.get(name)) {
            own.now.push(((*known).to_owned(), number));
        }
    }
    for own in &mut found {
        own.close(intervals, each, intervals);
    }
    found.retain(OfIndex::is_whole);
    Some(found)
}

impl OfIndex {
    /// Ends an instant: summarises it if it is drawn, drops it otherwise.
    fn close(&mut self, number: usize, each: usize, intervals: usize) {
        if self.last.is_empty() {
            return;
        }
        let now = std::mem::take(&mut self.now);
        if number < intervals && !number.is_multiple_of(each) {
            self.days.pop();
            self.last.clear();
            return;
        }
        self.last.sort_by(f64::total_cmp);
        let at = |share: f64| quantile(&self.last, share).unwrap_or(0.0);
        self.all.push([at(BAND[0]), at(0.5), at(BAND[1])]);
        let day = self.days.last().copied().unwrap_or(0.0);
        for (name, value) in now {
            self.own.entry(name).or_default().push((day, value));
        }
        if number < intervals {
            self.last.clear();
        }
    }

    /// Whether there is something to draw.
    const fn is_whole(&self) -> bool {
        1 < self.days.len() && self.all.len() == self.days.len()
    }
}

/// The indices of a user over time and its use so far, as HTML.
pub(super) fn over_time(indices: &Indices, user: &str, kind: &str, so_far: LineChart) -> String {
    let title = so_far.title.clone();
    let (chart, said) = indices.chart(user, kind, so_far);
    let mut html = html::drawn(&svg_of(&chart), &title);
    let band = if matches!(chart, Chart::Panels(_)) {
        format!(
            " The band holds the {kind}s from the lowest {:.0} % to the highest {:.0} %.",
            BAND[0] * 100.0,
            (1.0 - BAND[1]) * 100.0
        )
    } else {
        String::new()
    };
    let _ = writeln!(html, "<p class=\"source\">{}{band}</p>", escape(&said.join(" ")));
    html
}

/// The outcomes of the jobs of every user, by name.
pub(super) struct Outcomes<'a> {
    users: FxHashMap<&'a str, &'a Named<u64>>,
    /// The outcomes of the jobs of all users.
    all: Vec<(&'a str, u64)>,
}

impl<'a> Outcomes<'a> {
    /// The outcomes in the results of a report.
    pub(super) fn of(results: &'a [Stored]) -> Self {
        let details = of_kind(results, Pages::Jobs).filter_map(Stored::found::<JobDetails>);
        let mut users: FxHashMap<&str, &Named<u64>> = FxHashMap::default();
        let mut all: Vec<(&str, u64)> = Vec::new();
        for UserOutcomes { user, outcomes } in details.flat_map(|found| &found.users) {
            users.insert(user, outcomes);
            for (outcome, &count) in outcomes.iter() {
                match all.iter_mut().find(|known| known.0 == outcome) {
                    Some(known) => known.1 += count,
                    None => all.push((outcome, count)),
                }
            }
        }
        Self { users, all }
    }

    /// The outcomes of the jobs of a user, as HTML; empty if they are not known.
    pub(super) fn html(&self, user: &str) -> String {
        let Some(own) = self.users.get(user) else { return String::new() };
        let jobs: u64 = own.iter().map(|(_, count)| count).sum();
        let all: u64 = self.all.iter().map(|known| known.1).sum();
        if jobs == 0 {
            return String::new();
        }
        let of = |outcome: &str| self.all.iter().find(|known| known.0 == outcome);
        let mut outcomes: Vec<(&str, u64)> =
            own.iter().map(|(outcome, count)| (outcome, *count)).collect();
        outcomes.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        let rows: Vec<Vec<Cell>> = outcomes
            .iter()
            .map(|(outcome, count)| {
                let among_all = of(outcome).map_or(0, |known| known.1);
                let shares = [share(*count, jobs), share(among_all, all)];
                let [own, others] = shares.map(|share| Cell::share(&share.to_string()));
                vec![Cell::name(outcome), Cell::of(&count.to_string()), own, others]
            })
            .collect();
        let (most, most_count) = outcomes[0];
        let among_all = of(most).map_or(0, |known| known.1);
        let said = format!(
            "Of its {}, {} count as {most}; of the jobs of all users, {}",
            counted(jobs, "job"),
            percent(share(most_count, jobs)),
            percent(share(among_all, all))
        );
        let header = ["outcome", "jobs", "share", "share among all users"].map(str::to_owned);
        format!(
            "<h2>What became of its jobs</h2>\n<p>{}.</p>\n{}",
            sentence(&said),
            html::table("Jobs by outcome, by their exact event sequence", &header, &rows)
        )
    }
}

/// The jobs of a user, for a page of the portal.
#[cfg(feature = "serve")]
pub(crate) struct JobsOfUser<'a> {
    /// Jobs by outcome.
    pub outcomes: &'a [(&'static str, u64)],
    /// First SCHEDULE and last event of each job that was scheduled, µs.
    pub spans: &'a [[i64; 2]],
}

/// The jobs of a user by outcome and over time, for a page of the portal.
#[cfg(feature = "serve")]
pub(crate) fn drawings(jobs: &JobsOfUser<'_>, user: &str) -> String {
    let all: u64 = jobs.outcomes.iter().map(|known| known.1).sum();
    let mut known: Vec<(&str, u64)> =
        jobs.outcomes.iter().copied().filter(|known| 0 < known.1).collect();
    known.sort_by_key(|known| std::cmp::Reverse(known.1));
    let said = known.iter().map(|(name, count)| format!("{} {name}", percent(share(*count, all))));
    let said = said.collect::<Vec<String>>().join(", ");
    let said = format!("Of its {}, {said}", counted(all, "job"));
    let mut html = format!("<p class=\"answer\">{}.</p>\n", sentence(&said));
    let bars = BarChart {
        title: format!("Jobs of user {user} by outcome"),
        caption: "By their exact event sequence.".to_owned(),
        value_axis: "jobs".to_owned(),
        bars: known
            .iter()
            .map(|(name, count)| Bar {
                label: (*name).to_owned(),
                #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs")]
                value: *count as f64,
                note: grouped(*count),
                tone: outcome_tone(name),
            })
            .collect(),
    };
    // A single bar would repeat the sentence.
    if 1 < known.len() {
        html.push_str("<h2>What became of its jobs</h2>\n");
        html.push_str(&html::drawn(&svg_of(&Chart::Bars(bars)), &said));
    }
    if let Some((chart, said)) = running(jobs.spans, user) {
        html.push_str("<h2>Its jobs over time</h2>\n");
        html.push_str(&html::drawn(&svg_of(&chart), &said));
        let _ = writeln!(html, "<p class=\"source\">{}</p>", escape(&said));
    }
    html
}

/// The number of running jobs over time, as a chart and a sentence.
#[cfg(feature = "serve")]
#[expect(clippy::cast_precision_loss, reason = "lengths of time are below 2^53")]
fn running(spans: &[[i64; 2]], user: &str) -> Option<(Chart, String)> {
    const INTERVALS: i64 = 120;
    let spans = || spans.iter().filter(|span| span[0] < AFTER_TRACE_US);
    let from_us = spans().map(|span| span[0]).min()?;
    let to_us = spans().flatten().copied().filter(|at_us| *at_us < AFTER_TRACE_US).max()?;
    let length_us = ((to_us - from_us) / INTERVALS + 1).max(1);
    let mut sums = vec![0_i64; usize::try_from(INTERVALS).ok()?];
    for &[start_us, stop_us] in spans() {
        for (number, sum) in (0..).zip(&mut sums) {
            let begin_us = from_us + number * length_us;
            *sum += (stop_us.min(begin_us + length_us) - start_us.max(begin_us)).max(0);
        }
    }
    let means: Vec<f64> = sums.iter().map(|&sum| sum as f64 / length_us as f64).collect();
    let most = means.iter().copied().fold(0.0, f64::max);
    let interval_s = length_us as f64 / 1e6;
    let said = format!(
        "At most {} at once, from the first SCHEDULE of each to its last event; each value is the \
        mean over {}. From {} on.",
        three_digits(most),
        lasting(interval_s),
        instant(from_us as f64 / 1e6),
    );
    let (unit, per) = unit_of_time(interval_s * INTERVALS as f64);
    let edges = (0..=INTERVALS).map(|edge| edge as f64 * interval_s / per).collect();
    let area = Area {
        name: String::new(),
        values: means.into_iter().map(Some).collect(),
        tone: Tone::Blue,
    };
    let chart = Chart::Areas(AreaChart {
        title: format!("Running jobs of user {user} over time"),
        caption: said.clone(),
        x_axis: format!("time since its first attempt ({unit})"),
        y_axis: "running jobs".to_owned(),
        edges,
        areas: vec![area],
        lines: Vec::new(),
    });
    Some((chart, said))
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_stands_among_the_others() {
        let mut index = OfIndex {
            index: "condor".to_owned(),
            column: "eup".to_owned(),
            days: Vec::new(),
            all: Vec::new(),
            own: FxHashMap::default(),
            last: Vec::new(),
            now: Vec::new(),
        };
        // Three instants, of which every second one and the last are drawn.
        for (number, values) in
            [[1.0, 2.0, 9.0], [0.0, 0.0, 0.0], [3.0, 1.0, 7.0]].iter().enumerate()
        {
            index.days.push([0.0, 1.0, 2.0][number]);
            index.now.push(("a".to_owned(), values[0]));
            index.last.extend(values);
            index.close(if number == 2 { 3 } else { number }, 2, 3);
        }
        assert_eq!(index.days, [0.0, 2.0]);
        assert_eq!(index.own["a"], [(0.0, 1.0), (2.0, 3.0)]);
        assert_eq!(index.all.iter().map(|all| all[1]).collect::<Vec<f64>>(), [2.0, 3.0]);
        assert!(index.is_whole());
        assert_eq!(
            index.place(&index.own["a"], "user").unwrap(),
            "At the end its effective user priority (condor) is 3, larger than that of 1 of 2 other \
            users; the median is 3."
        );
        index.days.pop();
        assert!(!index.is_whole());
    }

    #[cfg(feature = "serve")]
    #[test]
    fn jobs_of_a_user_are_drawn_over_time() {
        //  |--- a ---|
        //       |--- b ---|
        //  0    60   120  180 s
        let spans = [[0, 120_000_000], [60_000_000, 180_000_000]];
        let (chart, said) = running(&spans, "u").unwrap();
        assert!(said.starts_with("At most 2 at once"), "{said}");
        let Chart::Areas(chart) = chart else { panic!() };
        let sum: f64 = chart.areas[0].values.iter().flatten().sum();
        let width = chart.edges[1] - chart.edges[0];
        assert!((sum * width - 4.0).abs() < 1e-6, "240 s are 4 min: {}", sum * width);
        assert!(running(&[[0, i64::MAX], [5_000_000, 9_000_000]], "u").is_some());
        assert!(running(&[[i64::MAX, i64::MAX]], "u").is_none());
        let outcomes = [("finished", 1), ("failed", 3), ("other", 0)];
        let html = drawings(&JobsOfUser { outcomes: &outcomes, spans: &[] }, "<u>");
        assert!(
            html.contains("Of its 4 jobs, 75.00&nbsp;% failed, 25.00&nbsp;% finished."),
            "{html}"
        );
        assert!(!html.contains("<u>") && !html.contains("over time"));
    }

    #[test]
    fn outcomes_of_a_user_stand_beside_those_of_all() {
        let own = Named::from_iter([("finished", 1), ("failed", 3)]);
        let outcomes = Outcomes {
            users: FxHashMap::from_iter([("a", &own)]),
            all: vec![("finished", 9), ("failed", 3)],
        };
        let html = outcomes.html("a");
        assert!(html.contains(
            "Of its 4 jobs, 75.00&nbsp;% count as failed; of the jobs of all users, 25.00&nbsp;%."
        ));
        assert!(html.contains("75.00 %") && html.contains("What became of its jobs"));
        assert_eq!(outcomes.html("b"), "");
    }
}

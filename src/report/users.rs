//! The outcomes of the jobs of a user, and these jobs over time.
//!
//! In: the outcomes that a stored sweep counted, or the jobs that a search found. Out: charts and
//! tables as HTML.

#[cfg(feature = "serve")]
use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::html::{self, Cell};
use super::links::of_kind;
#[cfg(feature = "serve")]
use super::text::{escape, instant};
use super::text::{percent_said, sentence};
use crate::answers::sentences::{Ends, capital, short};
use crate::answers::sweep::{JobDetails, UserOutcomes};
#[cfg(feature = "serve")]
use crate::charts::{Area, AreaChart, Tone};
use crate::charts::{Bar, BarChart, Chart, outcome_tone, svg_of};
use crate::digits::{counted, grouped, lasting};
#[cfg(feature = "serve")]
use crate::digits::{three_digits, unit_of_time};
use crate::results::Stored;
use crate::results::kind::Pages;
#[cfg(feature = "serve")]
use crate::results::missing::Missing;
use crate::schema::Table;
use crate::studies::named::Named;
use crate::studies::outcomes::Classes;
#[cfg(feature = "serve")]
use crate::units::AFTER_TRACE_US;

/// The outcomes of the jobs of every user, by name.
pub(super) struct Outcomes<'a> {
    users: FxHashMap<&'a str, &'a Named<u64>>,
    /// The outcomes of the jobs of all users.
    all: Vec<(&'a str, u64)>,
    /// The time for which jobs are known, s.
    known_s: Option<f64>,
    /// Whether the log records how jobs ended.
    pub(super) ends: Ends,
    classes: Classes,
}

/// The time between the first and the last event of a table that a result was made from, s.
fn span_of(result: &Stored, table: Table) -> Option<f64> {
    let input = result.whole.inputs.iter().find(|input| input.table == table.to_string())?;
    Some(input.end_s? - input.start_s?)
}

/// The meaning of `other`, for the text below a table of outcomes.
const OTHER: &str = "<p class=\"source\">Other: killed before the start, evicted, run several times, or \
    without a recorded SUBMIT.</p>\n";

/// How outcomes are defined, in words.
const fn how(classes: Classes) -> &'static str {
    match classes {
        Classes::Sequence => "by their exact sequence of events",
        Classes::Terminal => "by their last event",
    }
}

/// A sentence that jobs are known for a longer time than usage, if so.
pub(crate) fn known_for(jobs_s: Option<f64>, used_s: Option<f64>) -> Option<String> {
    let (jobs_s, used_s) = jobs_s.zip(used_s)?;
    (used_s < 0.99 * jobs_s).then(|| {
        format!(
            "The jobs are from {} of job events, the usage is from {} of task events.",
            lasting(jobs_s),
            lasting(used_s)
        )
    })
}

/// Outcomes of jobs that did not finish.
const LOST: [&str; 4] = ["failed", "killed", "evicted", "lost"];

impl<'a> Outcomes<'a> {
    /// The outcomes in the results of a report.
    pub(super) fn of(results: &'a [Stored]) -> Self {
        let known_s = of_kind(results, Pages::Jobs).next();
        let known_s = known_s.and_then(|result| span_of(result, Table::JobEvents));
        let details = || of_kind(results, Pages::Jobs).filter_map(Stored::found::<JobDetails>);
        let classes = details().next().map_or_else(Classes::default, |found| found.classes);
        let mut users: FxHashMap<&str, &Named<u64>> = FxHashMap::default();
        let mut all: Vec<(&str, u64)> = Vec::new();
        for UserOutcomes { user, outcomes } in details().flat_map(|found| &found.users) {
            users.insert(user, outcomes);
            for (outcome, &count) in outcomes.iter() {
                match all.iter_mut().find(|known| known.0 == outcome) {
                    Some(known) => known.1 += count,
                    None => all.push((outcome, count)),
                }
            }
        }
        let ends = of_kind(results, Pages::Jobs).next().map_or(Ends::Known, super::jobs::ends_of);
        Self { users, all, known_s, ends, classes }
    }

    /// The outcomes of the jobs of a user, as HTML; empty if they are unknown. `usage` is the
    /// result with the usage of the user.
    pub(super) fn html(&self, user: &str, usage: &Stored) -> String {
        self.beside(user, span_of(usage, Table::TaskEvents))
    }

    /// The share of the user's jobs that did not finish, next to the share for all users. Empty if
    /// outcomes are counted by the exact sequence, because some of these jobs are then `other`.
    fn lost(&self, own: &Named<u64>, [jobs, all]: [u64; 2]) -> String {
        if self.classes == Classes::Sequence {
            return String::new();
        }
        let is_lost = |outcome: &str| LOST.contains(&outcome);
        let of_own = own.iter().filter(|(name, _)| is_lost(name)).map(|(_, count)| *count);
        let of_all = self.all.iter().filter(|(name, _)| is_lost(name)).map(|(_, count)| *count);
        let [own_share, all_share] =
            [share(of_own.sum(), jobs), share(of_all.sum(), all)].map(percent_said);
        format!(" {own_share} of its jobs did not finish ({all_share} of those of all users).")
    }

    fn beside(&self, user: &str, used_s: Option<f64>) -> String {
        let Some(own) = self.users.get(user) else { return String::new() };
        let jobs: u64 = own.iter().map(|(_, count)| count).sum();
        let all: u64 = self.all.iter().map(|known| known.1).sum();
        if jobs == 0 {
            return String::new();
        }
        let known =
            known_for(self.known_s, used_s).map_or_else(String::new, |said| format!(" {said}"));
        if self.ends == Ends::Assumed {
            return format!(
                "<h2>What became of the jobs</h2>\n<p>This user has {}; the log does not record how jobs \
                ended.{known}</p>\n",
                counted(jobs, "job")
            );
        }
        let of = |outcome: &str| self.all.iter().find(|known| known.0 == outcome);
        let mut outcomes: Vec<(&str, u64)> =
            own.iter().map(|(outcome, count)| (outcome, *count)).collect();
        let has = |outcome: &str| own.iter().any(|known| known.0 == outcome);
        outcomes
            .extend(self.all.iter().filter(|one| 0 < one.1 && !has(one.0)).map(|one| (one.0, 0)));
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
            "Of {}, {} {}; of the jobs of all users, {}",
            counted(jobs, "job"),
            percent_said(share(most_count, jobs)),
            match most {
                "running" | "other" => format!("count as {most}"),
                known => known.to_owned(),
            },
            percent_said(share(among_all, all))
        );
        let header = ["outcome", "jobs", "share", "share among all users"].map(str::to_owned);
        let has_other = outcomes.iter().any(|own| own.0 == "other" && 0 < own.1);
        let other = if has_other { OTHER } else { "" };
        let drawn: Vec<(&str, u64)> =
            outcomes.iter().copied().filter(|outcome| 0 < outcome.1).collect();
        // A single bar would only repeat the sentence.
        let chart = if 1 < drawn.len() {
            html::drawn(&svg_of(&bars(&drawn, &short(user), self.classes)), &said)
        } else {
            String::new()
        };
        format!(
            "<h2>What became of the jobs</h2>\n<p>{}.{}{known}</p>\n{chart}{}{other}",
            sentence(&said),
            sentence(&self.lost(own, [jobs, all])),
            html::table(&format!("Jobs by outcome, {}", how(self.classes)), &header, &rows)
        )
    }
}

/// The jobs of a user by outcome, as bars.
fn bars(known: &[(&str, u64)], user: &str, classes: Classes) -> Chart {
    let bar = |(name, count): &(&str, u64)| Bar {
        label: (*name).to_owned(),
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs")]
        value: *count as f64,
        note: grouped(*count),
        tone: outcome_tone(name),
        part: None,
    };
    Chart::Bars(BarChart {
        title: format!("Jobs of user {user} by outcome"),
        caption: format!("{}.", capital(how(classes))),
        value_axis: "jobs".to_owned(),
        bars: known.iter().map(bar).collect(),
    })
}

/// The jobs of a user, for a page of the portal.
#[cfg(feature = "serve")]
pub(crate) struct JobsOfUser<'a> {
    /// Jobs by outcome.
    pub outcomes: &'a [(&'static str, u64)],
    /// How outcomes are defined.
    pub classes: Classes,
    /// First SCHEDULE and last event of each job that was scheduled, µs.
    pub spans: &'a [[i64; 2]],
    /// A sentence that jobs are known for a longer time than usage, if so.
    pub known: Option<String>,
    /// The times for which the events of jobs are not loaded.
    pub missing: &'a Missing,
}

/// The jobs of a user by outcome and over time, for a page of the portal.
#[cfg(feature = "serve")]
pub(crate) fn drawings(jobs: &JobsOfUser<'_>, user: &str) -> String {
    let all: u64 = jobs.outcomes.iter().map(|known| known.1).sum();
    let mut known: Vec<(&str, u64)> =
        jobs.outcomes.iter().copied().filter(|known| 0 < known.1).collect();
    known.sort_by_key(|known| std::cmp::Reverse(known.1));
    let said =
        known.iter().map(|(name, count)| format!("{} {name}", percent_said(share(*count, all))));
    let said = said.collect::<Vec<String>>().join(", ");
    let said = format!("Of {}, {said}", counted(all, "job"));
    let span = jobs.known.as_ref().map_or_else(String::new, |said| format!(" {}", escape(said)));
    let mut html = format!("<p class=\"answer\">{}.{span}</p>\n", sentence(&said));
    // A single bar would only repeat the sentence.
    if 1 < known.len() {
        html.push_str("<h2>What became of the jobs</h2>\n");
        let bars = bars(&known, user, jobs.classes);
        html.push_str(&html::drawn(&svg_of(&bars), &said));
    }
    if let Some(chart) = running(jobs.spans, jobs.missing, user) {
        html.push_str("<h2>Its jobs over time</h2>\n");
        html.push_str(&html::drawn(&svg_of(&chart), chart.caption()));
        let _ = writeln!(html, "<p class=\"source\">{}</p>", escape(chart.caption()));
    }
    html
}

/// The number of running jobs over time.
#[cfg(feature = "serve")]
#[expect(clippy::cast_precision_loss, reason = "lengths of time are below 2^53")]
fn running(spans: &[[i64; 2]], missing: &Missing, user: &str) -> Option<Chart> {
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
        "Each value is the mean over {}; the largest is {}. A job counts from its first SCHEDULE to its \
        last event. From {} on.",
        lasting(interval_s),
        three_digits(most),
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
        caption: said,
        x_axis: format!("time since its first attempt ({unit})"),
        y_axis: "running jobs".to_owned(),
        edges,
        areas: vec![area],
        lines: Vec::new(),
    });
    let begin_s = from_us as f64 / 1e6;
    let whole = [begin_s, begin_s + interval_s * INTERVALS as f64];
    Some(missing.within(whole).over_time(chart, begin_s, per))
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "serve")]
    #[test]
    fn jobs_of_a_user_are_drawn_over_time() {
        //  |--- a ---|
        //       |--- b ---|
        //  0    60   120  180 s
        let spans = [[0, 120_000_000], [60_000_000, 180_000_000]];
        let none = &Missing::default();
        let chart = running(&spans, none, "u").unwrap();
        let said = chart.caption().to_owned();
        assert!(
            said.starts_with("Each value is the mean over 1.5 s; the largest is 2. A job"),
            "{said}"
        );
        let Chart::Areas(chart) = chart else { panic!() };
        let sum: f64 = chart.areas[0].values.iter().flatten().sum();
        let width = chart.edges[1] - chart.edges[0];
        assert!((sum * width - 4.0).abs() < 1e-6, "240 s are 4 min: {}", sum * width);
        assert!(running(&[[0, i64::MAX], [5_000_000, 9_000_000]], none, "u").is_some());
        assert!(running(&[[i64::MAX, i64::MAX]], none, "u").is_none());
        let outcomes = [("finished", 1), ("failed", 3), ("other", 0)];
        let html = drawings(
            &JobsOfUser {
                outcomes: &outcomes,
                classes: Classes::Sequence,
                spans: &[],
                known: None,
                missing: none,
            },
            "<u>",
        );
        assert!(html.contains("Of 4 jobs, 75.0&nbsp;% failed, 25.0&nbsp;% finished."), "{html}");
        assert!(!html.contains("<u>") && !html.contains("over time"));
    }

    #[test]
    fn outcomes_of_a_user_stand_beside_those_of_all() {
        let own = Named::from_iter([("finished", 1), ("failed", 3)]);
        let outcomes = Outcomes {
            users: FxHashMap::from_iter([("a", &own)]),
            all: vec![("finished", 9), ("failed", 3)],
            known_s: Some(29.0 * 86_400.0),
            ends: Ends::Known,
            classes: Classes::Sequence,
        };
        let html = outcomes.beside("a", Some(90_800.0));
        let known =
            "The jobs are from 29 d of job events, the usage is from 25.2 h of task events.";
        assert!(html.contains(known), "{html}");
        assert!(!outcomes.beside("a", Some(29.0 * 86_400.0)).contains("The jobs are"));
        assert!(!outcomes.beside("a", None).contains("The jobs are"));
        assert!(
            html.contains("Of 4 jobs, 75.0&nbsp;% failed; of the jobs of all users, 25.0&nbsp;%.")
        );
        assert!(html.contains("75.00 %") && html.contains("What became of the jobs"));
        assert_eq!(outcomes.beside("b", None), "");
        let html = Outcomes { ends: Ends::Assumed, ..outcomes }.beside("a", None);
        assert!(
            html.contains("This user has 4 jobs; the log does not record how jobs ended."),
            "{html}"
        );
        assert!(!html.contains("failed"), "{html}");
    }
}

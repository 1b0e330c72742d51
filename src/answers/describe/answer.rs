//! A distribution as it is stored and read back, and what it shows in a sentence.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::beside::{StartedWaits, Tick};
use crate::answers::sentences::percent;
use crate::digits::{counted, grouped, six_digits, three_digits};
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::studies::censoring::Censoring;
use crate::studies::distributions::READ_AT_S;
use crate::studies::samples::What;

/// The answer of `describe`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DescribeAnswer {
    /// The described quantity.
    pub what: What,
    /// The unit of the values.
    pub unit: Cow<'static, str>,
    /// The name of the quantile estimator.
    pub quantiles: Cow<'static, str>,
    /// The jobs, tasks or attempts that cross the edges of the window.
    pub censoring: Censoring,
    /// One row per outcome, or per point of a curve.
    pub rows: TableRows<DescribedRow>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The shares of each outcome at round amounts. Empty for groups and in older results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<Tick>,
    /// The waits that ended with an attempt, if all waits are described.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<StartedWaits>,
    /// The reason if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// A row of a distribution or of a survival curve.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DescribedRow {
    /// Whether the row is for all groups together; `None` without groups.
    pub is_total: Option<bool>,
    /// The outcome of the jobs, or `all`.
    pub outcome: String,
    /// Number of values.
    pub count: Option<u64>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// The names of the statistics that are lower bounds, because some values had not ended or
    /// began before the window.
    pub at_least: Option<String>,
    /// Values that were cut off by the window's end.
    pub censored: Option<u64>,
    /// Waits that ended before any attempt.
    pub ended_waiting: Option<u64>,
    /// Time since the start of the job, s.
    pub time_s: Option<f64>,
    /// Share of jobs that last longer.
    pub share: Option<f64>,
    /// Number of events of a task so far.
    pub events: Option<u64>,
    /// Number of tasks with at least as many events.
    pub tasks: Option<u64>,
    /// Share of these tasks whose job finished.
    pub chance: Option<f64>,
    /// Number of these tasks whose job finished.
    pub finished: Option<u64>,
    /// Number of the tasks of finished jobs in the job that has most of them. `None` in results of
    /// earlier versions.
    pub largest_job_finished: Option<u64>,
}

/// The value that one in a hundred reaches. "More than" would be wrong if many values are equal.
enum Rarely {
    /// The 99 % quantile: at least one in a hundred is as large, or larger.
    AtLeast(f64),
    /// The 99 % quantile is the maximum: no value is larger.
    Longest(f64),
}

impl DescribedRow {
    fn rarely(&self) -> Option<Rarely> {
        let p99 = self.p99?;
        let is_largest = self.max.is_some_and(|max| max <= p99);
        Some(if is_largest { Rarely::Longest(p99) } else { Rarely::AtLeast(p99) })
    }

    /// Whether a statistic, such as `median`, is a lower bound.
    fn is_lower_bound(&self, value: &str) -> bool {
        let mut names = self.at_least.iter().flat_map(|names| names.split(','));
        names.any(|name| name == value)
    }

    /// Whether the median is a lower bound, because some values had not ended or began before the
    /// window.
    fn median_may_grow(&self) -> bool {
        self.is_lower_bound("median")
    }

    /// Describes half of the values, with the median in words: `at most 5 s`, or `5 s or more` if
    /// the median may be larger.
    fn half(&self, median: &str) -> String {
        if self.median_may_grow() {
            format!("{median} or more")
        } else {
            format!("at most {median}")
        }
    }

    /// The wait that one in a hundred reaches, in words.
    fn rare_wait(&self) -> Option<String> {
        Some(match self.rarely()? {
            Rarely::Longest(most) => {
                format!("at least one in a hundred for {} s, the longest", seconds(most))
            }
            Rarely::AtLeast(p99) => format!("one in a hundred for at least {} s", seconds(p99)),
        })
    }

    fn is_of_all(&self) -> bool {
        self.outcome == "all" && self.is_total != Some(false)
    }

    /// The number of values; `None` if it is 0 or missing.
    pub(crate) fn known(&self) -> Option<u64> {
        self.count.filter(|count| 0 < *count)
    }
}

/// `; 12 had not ended and count with the time seen so far`; empty if no value is censored.
fn open(row: &DescribedRow, what: &str) -> String {
    let open = row.censored.filter(|open| 0 < *open);
    open.map_or_else(String::new, |open| {
        format!("; {} {what} and count with the time seen so far", grouped(open))
    })
}

/// `at least ` if some values may be larger.
fn at_least(row: &DescribedRow) -> &'static str {
    let is_open = row.censored.is_some_and(|open| 0 < open);
    // The mean is a lower bound if any value is.
    if is_open || row.is_lower_bound("mean") { "at least " } else { "" }
}

/// How waits ended: `. Of these, 568,531 were started; 39,701 ended before any attempt and 8,429
/// still wait, and count with the time until then`. Empty if all tasks were started.
fn ends_of_waits(row: &DescribedRow) -> String {
    let [ended, waiting] = [row.ended_waiting, row.censored].map(|count| count.unwrap_or(0));
    let Some(started) = row.count.and_then(|all| all.checked_sub(ended + waiting)) else {
        return String::new();
    };
    let parts = [(ended, "ended before any attempt"), (waiting, "still wait at the end")];
    let parts: Vec<String> = (parts.iter())
        .filter(|(count, _)| 0 < *count)
        .map(|(count, how)| format!("{} {how}", grouped(*count)))
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    let parts = parts.join(" and ");
    format!(
        ". Of these, {} were started; {parts}, and count with the time until then",
        grouped(started)
    )
}

/// Seconds with three digits if pages show them in seconds; pages show longer times in larger
/// units.
fn seconds(amount: f64) -> String {
    if amount.abs() < 120.0 { three_digits(amount) } else { six_digits(amount) }
}

impl DescribeAnswer {
    /// The row of all outcomes together, and its count in words: `188,041 jobs`.
    fn whole(&self) -> Option<(DescribedRow, String)> {
        let row = self.rows.iter().find(DescribedRow::is_of_all)?;
        let all = counted(row.known()?, self.censoring.of.trim_end_matches('s'));
        Some((row, all))
    }

    /// The median, the 99 % quantile and the mean of job durations. With fewer than 100 jobs, the
    /// maximum replaces the 99 % quantile.
    pub(crate) fn durations(&self) -> Option<String> {
        let all = self.rows.iter().find(DescribedRow::is_of_all)?;
        let count = all.count?;
        // With fewer than 100 jobs, one in a hundred is less than one job.
        let longest = match all.rarely()? {
            _ if count < 100 => format!("the longest {} s", seconds(all.max?)),
            Rarely::Longest(most) => {
                // Jobs that the end of the window cuts off may also have equal durations.
                let is_limit = LIMIT_FROM <= count && all.censored.unwrap_or(0) == 0;
                let limit = if is_limit { ", which looks like a limit" } else { "" };
                let most = seconds(most);
                format!("and at least one in a hundred took {most} s, the longest{limit}")
            }
            Rarely::AtLeast(p99) => format!("one in a hundred at least {} s", seconds(p99)),
        };
        Some(format!(
            "Half of {} that started took {}, {longest}; the mean is {}{} s{}{}",
            counted(count, "job"),
            all.half(&format!("{} s", seconds(all.median?))),
            at_least(&all),
            seconds(all.mean?),
            open(&all, "had not ended"),
            self.brief().map_or_else(String::new, |said| format!(". {said}")),
        ))
    }

    /// `83.8 % of the 1,016 failed jobs took at most a second`, for failed, killed and evicted
    /// jobs. An outcome counts only if it has enough jobs and enough of them were so short; `None`
    /// if there is none.
    pub(crate) fn brief(&self) -> Option<String> {
        let row = |outcome: &str| self.rows.iter().find(|row| row.outcome == outcome);
        let is_lost = |outcome: &str| ["failed", "killed", "evicted"].contains(&outcome);
        let first = self.ticks.iter().filter(|tick| tick.value == 1.0 && is_lost(&tick.outcome));
        let said = first.filter_map(|tick| {
            let share = tick.share_at_or_below.filter(|share| BRIEF <= *share)?;
            let count = row(&tick.outcome)?.known().filter(|count| BRIEF_OF <= *count)?;
            let (share, count) = (percent(share), grouped(count));
            Some(format!("{share} of the {count} {} jobs took at most a second", tick.outcome))
        });
        let said: Vec<String> = said.collect();
        (self.what == What::JobDurations && !said.is_empty()).then(|| said.join(", "))
    }

    /// The sentence about counts: tasks of each job, events of each task, and attempts of each
    /// task.
    pub(crate) fn counts(&self) -> Option<String> {
        let (row, all) = self.whole()?;
        let unit = self.unit.trim_end_matches('s');
        let (min, median, max) = (row.min?, row.median?, row.max?);
        let of = |amount: f64| {
            let plural = if amount == 1.0 { "" } else { "s" };
            format!("{} {unit}{plural}", six_digits(amount))
        };
        if min >= max {
            return Some(format!("{all}, each with {}", of(max)));
        }
        let parts = self.none_one_several(&row, unit).map(|said| format!("Of {all}, {said}"));
        if let Some(said) = parts.as_ref().filter(|_| max <= 1.0) {
            return Some(said.clone());
        }
        if median >= max {
            return Some(format!("{all}, each with {} to {}", six_digits(min), of(max)));
        }
        let few = match row.rarely()? {
            Rarely::AtLeast(p99) if 1.0 < p99 => {
                format!(", one in a hundred at least {}", six_digits(p99))
            }
            _ => String::new(),
        };
        let (least, most) = (at_least(&row), six_digits(max));
        // With whole numbers, far more than half of the values may be at most the median.
        let to_median = self.at_or_below(median).filter(|_| !row.median_may_grow());
        let said = parts.unwrap_or_else(|| match to_median {
            Some(share) => format!("{} of {all} have at most {}", percent(share), of(median)),
            None => format!("Half of {all} have {}", row.half(&of(median))),
        });
        let open = row.censored.filter(|open| 0 < *open).map_or_else(String::new, |open| {
            format!("; {} had not ended and count with what is known so far", grouped(open))
        });
        Some(format!("{said}{few}; the most is {least}{most}{open}"))
    }

    /// The share of all values at or below a round amount; `None` if it is not known.
    fn at_or_below(&self, amount: f64) -> Option<f64> {
        let own = self.ticks.iter().find(|tick| tick.outcome == "all" && tick.value == amount)?;
        own.share_at_or_below
    }

    /// `8.4 % have no attempt, 78.1 % one, 13.5 % several`; `None` if the median is above 1.
    fn none_one_several(&self, row: &DescribedRow, unit: &str) -> Option<String> {
        row.median.filter(|median| *median <= 1.0)?;
        let (none, to_one) = self.at_or_below(0.0).zip(self.at_or_below(1.0))?;
        let parts = [(none, "no"), (to_one - none, "one"), (1.0 - to_one, "several")];
        let known = parts.into_iter().filter(|(share, _)| 0.0 < *share).enumerate();
        let said = known.map(|(place, (share, word))| match place {
            0 => format!("{} have {word} {unit}", percent(share)),
            _ => format!("{} {word}", percent(share)),
        });
        Some(said.collect::<Vec<String>>().join(", "))
    }

    /// The sentence about waits that ended with an attempt, and the number of waits that ended
    /// without one.
    fn waits_of_started(&self, row: &DescribedRow) -> Option<String> {
        let own = self.started.as_ref()?;
        let started = DescribedRow { p99: own.p99, max: own.max, ..DescribedRow::default() };
        let which = if 0 < self.censoring.left_censored_out {
            "were submitted in the window and started"
        } else {
            "started"
        };
        let [ended, waiting] = [row.ended_waiting, row.censored].map(|count| count.unwrap_or(0));
        let ended = (0 < ended).then(|| {
            let more = if ended == 1 { "" } else { " or more" };
            let after = own
                .ended_min
                .map_or_else(String::new, |least| format!(", after {} s{more}", seconds(least)));
            format!("{} more ended before any attempt{after}", grouped(ended))
        });
        let waiting = (0 < waiting).then(|| {
            let verb = if waiting == 1 { "waits" } else { "wait" };
            format!("{} still {verb} at the end", grouped(waiting))
        });
        let others: Vec<String> = ended.into_iter().chain(waiting).collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            let others = others.join(", and ");
            format!(". {others}; the table and the curves count them with the time until then")
        };
        Some(format!(
            "Half of the {} that {which} waited for at most {} s, {}; the mean is {} s{others}",
            counted(own.count, self.censoring.of.trim_end_matches('s')),
            seconds(own.median?),
            started.rare_wait()?,
            seconds(own.mean?),
        ))
    }

    /// The median, the 99 % quantile and the mean of waits.
    pub(crate) fn waits(&self) -> Option<String> {
        let (row, all) = self.whole()?;
        if let Some(said) = self.waits_of_started(&row) {
            return Some(said);
        }
        Some(format!(
            "Half of {all} that were submitted in the window wait for {}, {}; the mean is {}{} s{}",
            row.half(&format!("{} s", seconds(row.median?))),
            row.rare_wait()?,
            at_least(&row),
            seconds(row.mean?),
            ends_of_waits(&row),
        ))
    }

    /// The median and the mean share of the requested time for which attempts run.
    pub(crate) fn estimates(&self) -> Option<String> {
        let (row, all) = self.whole()?;
        Some(format!(
            "Half of {all} run for {} of the time that was requested for them; the mean is {} %",
            row.half(&format!("{} %", three_digits(row.median?))),
            three_digits(row.mean?)
        ))
    }

    /// The share of jobs that last longer than a time of [`READ_AT_S`], for at most two times: the
    /// longest at which the share is neither near 0 nor near 1.
    pub(crate) fn survival(&self) -> Option<String> {
        let points = self.rows.iter().filter(DescribedRow::is_of_all);
        let points = points.filter_map(|row| Some((row.time_s?, row.share?)));
        let points: Vec<(f64, f64)> = points.collect();
        let end_s = points.last()?.0;
        // The share stays the same from one step to the next.
        let share_at = |time_s: f64| {
            let before = points.iter().take_while(|point| point.0 <= time_s);
            before.last().map_or(1.0, |point| point.1)
        };
        let told = READ_AT_S.into_iter().zip(READ_AT).filter(|(time_s, _)| *time_s <= end_s);
        let told = told.map(|(time_s, words)| (share_at(time_s), words));
        let told = told.filter(|(share, _)| SAID_FROM <= *share && *share <= 1.0 - SAID_FROM);
        let told: Vec<String> = told
            .map(|(share, words)| format!("{:.1} % last longer than {words}", share * 100.0))
            .collect();
        let last = &told[told.len().saturating_sub(2)..];
        let same = if self.repeats_durations() {
            ". No job is open at the end, so this is one minus the distribution of job durations"
        } else {
            ""
        };
        let said = || format!("Of the jobs that started, {}{same}", last.join(", and "));
        (!last.is_empty()).then(said)
    }

    /// Whether a survival curve is exactly one minus the distribution of durations, because nothing
    /// is censored.
    pub(crate) fn repeats_durations(&self) -> bool {
        self.what == What::JobSurvival && self.censoring.censored == Some(0)
    }

    /// Whether a sentence can say everything: all counts differ by at most 1, such as 2 or 3
    /// events, or no task has more than `FEW_EVENTS`. Never true for times, shares and groups.
    pub(crate) fn has_few_counts(&self) -> bool {
        let rows: Vec<DescribedRow> = self.rows.iter().collect();
        if self.what == What::FinishGivenEvents {
            let most = rows.iter().filter_map(|row| row.events).max();
            let is_split = rows.windows(2).any(|two| two[1].events <= two[0].events);
            return !is_split && most.is_some_and(|most| most <= FEW_EVENTS);
        }
        let known = || rows.iter().filter(|row| 1 < row.count.unwrap_or(0));
        let bound = |bound: Option<f64>| bound.unwrap_or(f64::NAN);
        let least = known().map(|row| bound(row.min)).fold(f64::INFINITY, f64::min);
        let is_count = !self.what.is_time() && self.what != What::Estimates;
        // A missing bound is NaN, which makes the comparison false.
        is_count && known().next().is_some() && known().all(|row| bound(row.max) - least <= 1.0)
    }

    /// Whether the sentence says everything about a result without groups: all values are equal, or
    /// counts differ by at most 1.
    pub(crate) fn needs_no_table(&self) -> bool {
        let is_split = self.rows.iter().any(|row| row.is_total.is_some());
        !is_split && (self.is_constant() || self.has_few_counts())
    }

    /// Whether all values are equal, such as one task in every job, so that the sentence says
    /// everything. Never true for an answer with groups, because no sentence describes groups.
    fn is_constant(&self) -> bool {
        let rows: Vec<DescribedRow> = self.rows.iter().collect();
        let mut known = rows.iter().filter(|row| row.known().is_some());
        let Some(first) = known.clone().next().and_then(|row| row.min) else { return false };
        rows.iter().all(|row| row.is_total.is_none())
            && known.all(|row| row.min == Some(first) && row.max == Some(first))
    }
}

/// If at least this share of the jobs of an outcome took at most a second, a sentence reports it:
/// these jobs never did any work.
const BRIEF: f64 = 0.25;

/// The fewest jobs of an outcome for which this is reported.
const BRIEF_OF: u64 = 30;

/// From this many jobs on, one in a hundred is at least ten jobs. Ten jobs have the same duration
/// only if a limit ends them.
const LIMIT_FROM: u64 = 1000;

/// If a task has at most this many events (a submit, a start and an end), the chance to finish by
/// events says nothing.
const FEW_EVENTS: u64 = 3;

/// The times of [`READ_AT_S`] in words.
const READ_AT: [&str; 4] = ["a minute", "an hour", "a day", "a week"];

/// Shares below this, or above 1 minus this, are not reported.
const SAID_FROM: f64 = 0.0005;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn row(min: f64, median: f64, p99: f64, max: f64) -> Value {
        json!({"outcome": "all", "count": 1200, "min": min, "median": median, "p99": p99, "max": max,
            "mean": 3.5, "censored": 2})
    }

    fn of_rows(what: &str, unit: &str, rows: &[Value]) -> DescribeAnswer {
        let json = json!({"what": "attempts", "unit": unit, "quantiles": "R-7",
            "censoring": {"of": what}, "rows": rows});
        serde_json::from_value(json).unwrap()
    }

    fn of(what: &str, unit: &str, row: &Value) -> DescribeAnswer {
        of_rows(what, unit, &[row.clone(), json!({"outcome": "failed"})])
    }

    #[test]
    fn jobs_that_fail_at_once_are_reported() {
        let json = |count: u64, share: f64| -> DescribeAnswer {
            let mut own = row(0.0, 5.0, 60.0, 90.0);
            own["censored"] = json!(0);
            let rows = [own, json!({"outcome": "failed", "count": count})];
            let mut answer = of_rows("jobs", "s", &rows);
            answer.what = What::JobDurations;
            answer.ticks = vec![Tick {
                outcome: "failed".to_owned(),
                value: 1.0,
                share_at_or_below: Some(share),
                ..Tick::default()
            }];
            answer
        };
        let said = json(1016, 0.8376).durations().unwrap();
        assert!(
            said.ends_with(". 83.8 % of the 1,016 failed jobs took at most a second"),
            "{said}"
        );
        assert_eq!((json(29, 0.9).brief(), json(1016, 0.2).brief()), (None, None));
    }

    #[test]
    fn a_distribution_is_reported_by_its_own_numbers() {
        for (what, unit, row, said) in [
            (
                "jobs",
                "tasks",
                row(1.0, 1.0, 40.0, 90.0),
                "Half of 1,200 jobs have at most 1 task, one in a hundred at least 40; the most is at \
                least 90; 2 had not ended and count with what is known so far",
            ),
            ("tasks", "events", row(3.0, 3.0, 3.0, 3.0), "1,200 tasks, each with 3 events"),
            ("tasks", "events", row(2.0, 3.0, 3.0, 3.0), "1,200 tasks, each with 2 to 3 events"),
            (
                "tasks",
                "events",
                row(2.0, 3.0, 4.0, 4.0),
                "Half of 1,200 tasks have at most 3 events; the most is at least 4; 2 had not ended and \
                count with what is known so far",
            ),
        ] {
            assert_eq!(of(what, unit, &row).counts().unwrap(), said);
        }
        assert_eq!(
            of("tasks", "s", &row(0.0, 2.0, 600.0, 900.0)).waits().unwrap(),
            "Half of 1,200 tasks that were submitted in the window wait for at most 2 s, one in a hundred \
            for at least 600 s; the mean is at least 3.5 s. Of these, 1,198 were started; 2 still wait at the \
            end, and count with the time until then"
        );
        let mut open = row(0.0, 2.0, 600.0, 900.0);
        open["at_least"] = json!("mean,median,p99");
        let said = of("tasks", "s", &open).waits().unwrap();
        assert!(
            said.contains(" wait for 2 s or more, one in a hundred for at least 600 s"),
            "{said}"
        );
        let said = of("attempts", "%", &row(0.0, 9.0, 99.0, 100.0)).estimates().unwrap();
        assert!(said.starts_with("Half of 1,200 attempts run for at most 9 %"), "{said}");
        let all = json!({"outcome": "all", "count": 700, "censored": 2, "median": 178.5,
            "p99": 1000.0, "mean": 255.0, "at_least": "mean,median,p99"});
        assert_eq!(
            of("jobs", "s", &all).durations().unwrap(),
            "Half of 700 jobs that started took 178.500 s or more, one in a hundred at least 1,000 s; the mean is at least 255 s; 2 had not ended and count with the time seen so far"
        );
    }

    #[test]
    fn the_longest_value_is_not_exceeded() {
        let all = json!({"outcome": "all", "count": 188_041, "median": 255.0, "p99": 172_800.0,
            "max": 172_800.0, "mean": 7990.0});
        assert_eq!(
            of("jobs", "s", &all).durations().unwrap(),
            "Half of 188,041 jobs that started took at most 255 s, and at least one in a hundred took \
            172,800 s, the longest, which looks like a limit; the mean is 7,990 s"
        );
        let cut = json!({"outcome": "all", "count": 188_041, "median": 255.0, "p99": 172_800.0,
            "max": 172_800.0, "mean": 7990.0, "censored": 2000});
        assert!(!of("jobs", "s", &cut).durations().unwrap().contains("a limit"));
        let said = of("tasks", "s", &row(0.0, 2.0, 900.0, 900.0)).waits().unwrap();
        assert!(said.contains(" 2 s, at least one in a hundred for 900 s, the longest;"), "{said}");
    }

    #[test]
    fn counts_are_reported_by_the_shares_of_none_one_and_several() {
        let with = |rows: &[Value], shares: &[(f64, f64)]| {
            let tick = |&(value, share): &(f64, f64)| Tick {
                outcome: "all".to_owned(),
                value,
                share_at_or_below: Some(share),
                share: None,
            };
            let ticks = shares.iter().map(tick).collect();
            DescribeAnswer { ticks, ..of_rows("tasks", "attempts", rows) }
        };
        let mut attempts = row(0.0, 1.0, 11.0, 2466.0);
        attempts["censored"] = json!(0);
        let shares = [(0.0, 0.084), (1.0, 0.865)];
        assert_eq!(
            with(&[attempts], &shares).counts().unwrap(),
            "Of 1,200 tasks, 8.4 % have no attempt, 78.1 % one, 13.5 % several, one in a hundred at \
            least 11; the most is 2,466"
        );
        let said = with(&[row(1.0, 1.0, 1.0, 9.0)], &[(0.0, 0.0), (1.0, 0.995)]).counts().unwrap();
        assert!(said.starts_with("Of 1,200 tasks, 99.5 % have one attempt, 0.5 % several; the "));
        let said = with(&[row(0.0, 1.0, 1.0, 1.0)], &[(0.0, 0.25), (1.0, 1.0)]).counts().unwrap();
        assert_eq!(said, "Of 1,200 tasks, 25.0 % have no attempt, 75.0 % one");
        let said = with(&[row(1.0, 3.0, 34.0, 90.0)], &[(3.0, 0.76)]).counts().unwrap();
        assert!(
            said.starts_with("76.0 % of 1,200 tasks have at most 3 attempts, one in a"),
            "{said}"
        );
        let mut open = row(1.0, 3.0, 34.0, 90.0);
        open["at_least"] = json!("mean,median");
        let said = with(&[open], &[(3.0, 0.76)]).counts().unwrap();
        assert!(said.starts_with("Half of 1,200 tasks have 3 attempts or more"), "{said}");
    }

    #[test]
    fn waits_are_reported_of_the_tasks_that_started() {
        let mut all = row(0.0, 141.0, 70_000.0, 90_000.0);
        all["ended_waiting"] = json!(419);
        let started = StartedWaits {
            count: 779,
            mean: Some(60.0),
            median: Some(90.0),
            p99: Some(100.0),
            max: Some(110.0),
            ended_min: Some(12.0),
        };
        let answer = DescribeAnswer { started: Some(started), ..of_rows("tasks", "s", &[all]) };
        assert_eq!(
            answer.waits().unwrap(),
            "Half of the 779 tasks that started waited for at most 90 s, one in a hundred for at \
            least 100 s; the mean is 60 s. 419 more ended before any attempt, after 12 s or more, and \
            2 still wait at the end; the table and the curves count them with the time until then"
        );
    }

    #[test]
    fn survival_without_open_jobs_is_said_to_be_the_distribution() {
        let point =
            |time_s: f64, share: f64| json!({"outcome": "all", "time_s": time_s, "share": share});
        let rows = [point(10.0, 0.5), point(4000.0, 0.25), point(5000.0, 0.0)];
        let of = |censored: u64| {
            let mut answer =
                DescribeAnswer { what: What::JobSurvival, ..of_rows("jobs", "s", &rows) };
            answer.censoring.censored = Some(censored);
            answer
        };
        let said = of(0).survival().unwrap();
        assert!(said.ends_with("so this is one minus the distribution of job durations"), "{said}");
        assert!(of(0).repeats_durations() && !of(3).repeats_durations());
        assert!(!of(3).survival().unwrap().contains("one minus"));
    }

    #[test]
    fn groups_and_empty_answers_have_no_sentence() {
        let mut group = row(1.0, 1.0, 1.0, 2.0);
        group["is_total"] = json!(false);
        assert_eq!(of("jobs", "tasks", &group).counts(), None);
        assert_eq!(of("jobs", "s", &group).durations(), None);
        let point = json!({"outcome": "all", "is_total": false, "time_s": 90.0, "share": 0.5});
        assert_eq!(of("jobs", "s", &point).survival(), None);
        group["is_total"] = json!(true);
        assert!(of("jobs", "tasks", &group).counts().is_some());
        let none = of("jobs", "tasks", &json!({"outcome": "all", "count": 0}));
        for said in [none.counts(), none.waits(), none.estimates()] {
            assert_eq!(said, None);
        }
        assert_eq!(of_rows("jobs", "s", &[]).survival(), None);
    }

    #[test]
    fn one_value_throughout_needs_no_table() {
        let row = |count: u64, min: f64, max: f64| json!({"count": count, "min": min, "max": max});
        let is_constant = |rows: &[Value]| of_rows("jobs", "tasks", rows).is_constant();
        assert!(is_constant(&[row(9, 1.0, 1.0), row(2, 1.0, 1.0), row(0, 0.0, 0.0)]));
        assert!(!is_constant(&[row(9, 1.0, 1.0), row(2, 2.0, 2.0)]));
        assert!(!is_constant(&[row(9, 1.0, 3.0)]) && !is_constant(&[row(0, 1.0, 1.0)]));
        let mut group = row(9, 1.0, 1.0);
        group["is_total"] = json!(true);
        assert!(!is_constant(&[]) && !is_constant(&[group.clone()]));
        let needs_no_table = |rows: &[Value]| of_rows("jobs", "tasks", rows).needs_no_table();
        assert!(needs_no_table(&[row(9, 2.0, 3.0), row(2, 2.0, 2.0), row(0, 0.0, 0.0)]));
        assert!(!needs_no_table(&[row(9, 2.0, 4.0)]) && !needs_no_table(&[group]));
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small index")]
    fn at(place: f64) -> usize {
        place as usize
    }

    proptest! {
        /// At least one in a hundred values is as large as the sentence says, even if many values
        /// are equal. "The longest" is the largest value.
        #[test]
        fn one_in_a_hundred_is_as_large_as_it_says(
            values in prop::collection::vec(prop_oneof![0..5_u32, 100..110_u32], 100..700),
        ) {
            let mut values = values;
            values.sort_unstable();
            let most = f64::from(*values.last().unwrap());
            #[expect(clippy::cast_precision_loss, reason = "a few")]
            let place = 0.99 * (values.len() - 1) as f64;
            let [low, high] = [place.floor(), place.ceil()]
                .map(|place| f64::from(values[at(place)]));
            let p99 = low + (high - low) * place.fract();
            let row = DescribedRow { p99: Some(p99), max: Some(most), ..DescribedRow::default() };
            let (least, is_most) = match row.rarely().unwrap() {
                Rarely::AtLeast(least) => (least, false),
                Rarely::Longest(most) => (most, true),
            };
            let reached = values.iter().filter(|&&value| least <= f64::from(value)).count();
            prop_assert!(values.len() <= reached * 100, "{reached} of {}", values.len());
            prop_assert_eq!(is_most, least == most);
        }

        /// Compares the curve with the share of longer durations, counted directly. Nothing is
        /// censored.
        #[test]
        fn a_curve_is_read_where_it_says(
            lengths in prop::collection::vec(prop_oneof![1..200_u32, 3000..5000_u32, 80_000..100_000_u32], 2..40),
        ) {
            let mut times: Vec<u32> = lengths.clone();
            times.sort_unstable();
            times.dedup();
            let longer = |than: u32| lengths.iter().filter(|length| than < **length).count();
            #[expect(clippy::cast_precision_loss, reason = "a few")]
            let share = |than: u32| longer(than) as f64 / lengths.len() as f64;
            let rows: Vec<Value> = times.iter()
                .map(|&time| json!({"outcome": "all", "time_s": f64::from(time), "share": share(time)}))
                .collect();
            let said = of_rows("jobs", "s", &rows).survival();
            let end = *times.last().unwrap();
            let mut expected: Vec<String> = Vec::new();
            for (time, words) in [(60, "a minute"), (3600, "an hour"), (86_400, "a day")] {
                if time <= end && 0 < longer(time) && longer(time) < lengths.len() {
                    expected.push(format!("{:.1} % last longer than {words}", share(time) * 100.0));
                }
            }
            for one in expected.iter().rev().take(2) {
                prop_assert!(said.as_ref().unwrap().contains(one.as_str()), "{said:?} {one}");
            }
            prop_assert_eq!(said.is_none(), expected.is_empty());
        }
    }
}

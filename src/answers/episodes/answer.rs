//! Episodes, as they are stored and read back, and their sentences.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::sentences::{capital, percent, short};
use crate::digits::{counted, grouped, grouped_decimal, is_date, lasting, six_digits, utc};
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::studies::episodes::What;

/// The answer of `episodes`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EpisodesAnswer {
    /// The length of an interval, s.
    pub interval_s: f64,
    /// The number of intervals.
    pub intervals: u64,
    /// How many times the mean is far more.
    pub times: u64,
    /// The fewest events of an interval that stands out.
    pub least: u64,
    /// The largest episodes of each kind of event, in the order of their time.
    pub rows: TableRows<EpisodeRow>,
    /// A row for each kind of event.
    pub kinds: TableRows<OfKind>,
    /// The intervals.
    pub by_interval: TableRows<Value>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason, if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// An episode.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct EpisodeRow {
    /// What happened.
    pub what: String,
    /// Start of its first interval, s.
    pub start_s: f64,
    /// End of its last interval, s.
    pub end_s: f64,
    /// The number of events.
    pub count: u64,
    /// How many times the mean that is.
    pub times_the_mean: Option<f64>,
    /// Of all events of the kind.
    pub share: Option<f64>,
    /// The user with most of them.
    pub user: Option<String>,
    /// Its part.
    pub user_share: Option<f64>,
    /// The job with most of them.
    pub job_id: Option<i64>,
    /// Its part.
    pub job_share: Option<f64>,
    /// The most frequent reason.
    pub reason: Option<String>,
    /// Its part.
    pub reason_share: Option<f64>,
    /// Tasks that ran in the interval before, the mean.
    pub running_before: Option<f64>,
    /// The same in the interval after.
    pub running_after: Option<f64>,
    /// Tasks that waited in the interval before, the mean.
    pub waiting_before: Option<f64>,
    /// The same in the interval after.
    pub waiting_after: Option<f64>,
    /// Other kinds of episodes at the same time.
    pub together_with: String,
}

/// The events of a kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OfKind {
    /// What happened.
    pub what: String,
    /// The number of events.
    pub count: u64,
    /// Intervals of episodes.
    pub intervals: u64,
    /// Intervals for which the kind is known.
    pub known_intervals: u64,
    /// Episodes.
    pub episodes: u64,
    /// Events in them.
    pub in_episodes: u64,
    /// The same as a share.
    pub in_episodes_share: Option<f64>,
}

/// Part of an episode from which on a user, job or reason is named.
const NAMED: f64 = 0.5;

/// Change of running or waiting tasks from which on it is told.
const CHANGED: f64 = 1.25;

/// From when to when, in words; with seconds if these are not whole minutes.
fn when(row: &EpisodeRow) -> String {
    let are_whole = |per: f64| [row.start_s, row.end_s].iter().all(|at_s| at_s % per == 0.0);
    if !is_date(row.start_s) {
        // Hundredths of an hour are 36 s.
        let decimals = if row.end_s - row.start_s < 72.0 { 4 } else { 2 };
        let hours = |at_s: f64| grouped_decimal(at_s / 3600.0, decimals);
        return format!("in hours {} to {} of the trace", hours(row.start_s), hours(row.end_s));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "after 1970")]
    let [from, to] = [row.start_s, row.end_s].map(|at_s| utc(at_s as u64));
    let end = if are_whole(60.0) { 16 } else { from.len() };
    let to = if from[..10] == to[..10] { &to[11..end] } else { &to[..end] };
    format!("from {} to {to} UTC", &from[..end])
}

/// `5 times the mean`.
pub(super) fn times_words(times: u64) -> String {
    if times == 1 { "the mean".to_owned() } else { format!("{} times the mean", grouped(times)) }
}

/// Intervals of this length in words: `hours`, `intervals of 10 min`.
fn intervals(count: u64, length_s: f64) -> String {
    match length_s {
        3600.0 => counted(count, "hour"),
        86_400.0 => counted(count, "day"),
        other => format!("{} of {}", counted(count, "interval"), lasting(other)),
    }
}

impl EpisodeRow {
    /// Who or what most of it was.
    fn who(&self) -> String {
        let most = |name: Option<String>, share: Option<f64>| {
            let share = share.filter(|share| NAMED <= *share)?;
            let part = if share < 1.0 { percent(share) } else { "all".to_owned() };
            Some(format!("{part} {}", name?))
        };
        let user = self.user.as_deref().map(|user| format!("by user {}", short(user)));
        let job = self.job_id.map(|id| format!("of job {id}"));
        // Why jobs ended is not why they were submitted.
        let reason = self.reason.as_deref().filter(|_| self.what != What::Submitted.name());
        let reason = reason.map(|why| format!("in jobs that ended as {why}"));
        let of = [
            most(user, self.user_share),
            most(job, self.job_share),
            most(reason, self.reason_share),
        ];
        let of: Vec<String> = of.into_iter().flatten().collect();
        if of.is_empty() { String::new() } else { format!(", {}", of.join(", ")) }
    }

    /// What running and waiting tasks did, if they changed.
    fn then(&self) -> Option<String> {
        let change = |what: &str, before: Option<f64>, after: Option<f64>| {
            let (before, after) = (before?, after?);
            let (low, high) = (before.min(after), before.max(after));
            let is_told = 1.0 <= high - low && CHANGED * low < high;
            let words = if before < after { "rose" } else { "fell" };
            let [before, after] = [before, after].map(|tasks| six_digits(tasks.round()));
            is_told.then(|| format!("{what} tasks {words} from {before} to {after}"))
        };
        let running = change("running", self.running_before, self.running_after);
        let waiting = change("waiting", self.waiting_before, self.waiting_after);
        let all: Vec<String> = running.into_iter().chain(waiting).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

impl EpisodesAnswer {
    /// The sentences: the largest episode of the kind of bad end with most events in episodes, how many
    /// of them are in any, and the other kinds.
    pub(crate) fn sentence(&self) -> Option<String> {
        let kinds: Vec<OfKind> = self.kinds.iter().filter(|kind| 0 < kind.episodes).collect();
        let is_submitted = |kind: &OfKind| kind.what == What::Submitted.name();
        let bad = kinds.iter().filter(|kind| !is_submitted(kind));
        let Some(lead) = first_most(bad, |kind| kind.in_episodes).or(kinds.first()) else {
            let known = self.kinds.iter().map(|kind| kind.known_intervals).max();
            let only = match self.kinds.iter().collect::<Vec<_>>().as_slice() {
                [only] => format!(". Only {} are recorded", only.what),
                _ => String::new(),
            };
            return Some(format!(
                "Nothing stands out: of {}, none has more than {} of any kind of event, and at \
                least {}{only}",
                intervals(known.unwrap_or(self.intervals), self.interval_s),
                times_words(self.times),
                self.least
            ));
        };
        let rows: Vec<EpisodeRow> = self.rows.iter().collect();
        let of_kind = rows.iter().filter(|row| row.what == lead.what);
        let largest = first_most(of_kind, |row| row.count)?;
        let other = |kind: &OfKind| {
            Some(format!(
                "{} ({}, {} of all)",
                kind.what,
                counted(kind.episodes, "episode"),
                percent(kind.in_episodes_share?)
            ))
        };
        let others = kinds.iter().filter(|kind| kind.what != lead.what).filter_map(other);
        let others: Vec<String> = others.collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            format!(". Also far more than usual: {}", others.join("; "))
        };
        let (noun, of) = nouns(lead);
        let with = if largest.together_with.is_empty() {
            String::new()
        } else {
            format!(". At the same time far more than usual: {}", largest.together_with)
        };
        let then = largest.then().map_or_else(String::new, |said| format!(". {}", capital(&said)));
        let (each, spans) = match (lead.episodes, lead.intervals) {
            (1, 1) => ("", "That is".to_owned()),
            (1, _) => ("each ", "That is".to_owned()),
            _ => ("each ", format!("In all, {} fell into", percent(lead.in_episodes_share?))),
        };
        Some(format!(
            "{} of {}{of} ({}) happened {}{}{then}. {spans} {} of {}, {each}with more than {}{with}{others}",
            grouped(largest.count),
            counted(lead.count, noun),
            percent(largest.share?),
            when(largest),
            largest.who(),
            grouped(lead.intervals),
            intervals(lead.known_intervals, self.interval_s),
            times_words(self.times),
        ))
    }
}

/// The first of those with the most.
fn first_most<'a, T>(all: impl Iterator<Item = &'a T>, most: fn(&T) -> u64) -> Option<&'a T> {
    all.reduce(|best, next| if most(best) < most(next) { next } else { best })
}

/// What an event of a kind is, and of what.
fn nouns(kind: &OfKind) -> (&'static str, &'static str) {
    let what = What::ALL.into_iter().find(|what| what.name() == kind.what);
    match what {
        Some(What::Failed) => ("failure", " of tasks"),
        Some(What::Killed) => ("kill", " of tasks"),
        Some(What::Evicted) => ("eviction", " of tasks"),
        Some(What::Lost) => ("LOST event", " of tasks"),
        Some(What::Left) => ("departure", " of machines"),
        Some(What::Submitted) | None => ("submission", " of jobs"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_largest_episode_of_the_most_frequent_kind_is_told_with_who_it_was() {
        let mut answer: EpisodesAnswer = serde_json::from_value(json!({
            "interval_s": 3600.0, "intervals": 267, "times": 5, "least": 10,
            "kinds": [
                {"what": "jobs submitted", "count": 900, "episodes": 1, "intervals": 2,
                    "known_intervals": 77, "in_episodes": 450, "in_episodes_share": 0.5},
                {"what": "tasks failed", "count": 1000, "episodes": 2, "intervals": 3,
                    "known_intervals": 77, "in_episodes": 982, "in_episodes_share": 0.982},
                {"what": "tasks lost", "count": 3, "known_intervals": 77, "in_episodes_share": 0.0}],
            "rows": [
                {"what": "tasks failed", "start_s": 1_483_149_600.0, "end_s": 1_483_153_200.0, "count": 12},
                {"what": "tasks failed", "start_s": 1_483_228_800.0, "end_s": 1_483_236_000.0, "count": 970,
                    "share": 0.97, "user": "honbu", "user_share": 1.0, "job_id": 7, "job_share": 0.1,
                    "reason": "FAILED", "reason_share": 0.75, "running_before": 84.6,
                    "running_after": 30.9, "waiting_before": 5.0, "waiting_after": 5.5,
                    "together_with": "jobs submitted"}],
        }))
        .unwrap();
        assert_eq!(
            answer.sentence().unwrap(),
            "970 of 1,000 failures of tasks (97.0 %) happened from 2017-01-01 00:00 to 02:00 UTC, all by user \
            honbu, 75.0 % in jobs that ended as FAILED. Running tasks fell from 85 to 31. In all, 98.2 % fell \
            into 3 of 77 hours, each with more than 5 times the mean. At the same time far more than usual: jobs \
            submitted. Also far more than usual: jobs submitted (1 episode, 50.0 % of all)"
        );
        answer.kinds = TableRows::default();
        assert_eq!(
            answer.sentence().unwrap(),
            "Nothing stands out: of 267 hours, none has more than 5 times the mean of any kind of event, \
            and at least 10"
        );
        let row = EpisodeRow { start_s: 28_200.0, end_s: 28_800.0, ..EpisodeRow::default() };
        assert_eq!(when(&row), "in hours 7.83 to 8.00 of the trace");
        assert_eq!(intervals(1, 600.0), "1 interval of 10 min");
        let row = EpisodeRow { start_s: 1_483_228_830.0, end_s: 1_483_228_840.0, ..row };
        assert_eq!(when(&row), "from 2017-01-01 00:00:30 to 00:00:40 UTC");
        assert_eq!(times_words(1), "the mean");
    }
}

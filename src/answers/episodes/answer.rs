//! Episodes, as they are stored and read back, and their sentences.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::surges::{DayRow, LongQueue, day_lines, day_names};
use super::when::{intervals, per_interval, when};
use crate::answers::sentences::{capital, percent, short};
use crate::digits::{counted, grouped, six_digits, three_digits};
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
    /// An interval stands out if it has more than this many times the mean.
    pub times: u64,
    /// An interval stands out only if it has at least this many events.
    pub least: u64,
    /// The largest episodes of each kind of event, in order of time.
    pub rows: TableRows<EpisodeRow>,
    /// A row for each kind of event.
    pub kinds: TableRows<OfKind>,
    /// For each kind of event, the largest of the days with far more than the median day, in order
    /// of time. Empty in results of older versions.
    #[serde(skip_serializing_if = "TableRows::is_empty")]
    pub days: TableRows<DayRow>,
    /// The longest queue, if it is far longer than usual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<LongQueue>,
    /// The intervals.
    pub by_interval: TableRows<Value>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// An episode.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct EpisodeRow {
    /// The kind of event.
    pub what: String,
    /// Start of its first interval, s.
    pub start_s: f64,
    /// End of its last interval, s.
    pub end_s: f64,
    /// When the first of the events happened, s; missing in results of older versions.
    pub first_at_s: Option<f64>,
    /// When the last of the events happened, s; missing in results of older versions.
    pub last_at_s: Option<f64>,
    /// The number of events.
    pub count: u64,
    /// How many times the mean this number is.
    pub times_the_mean: Option<f64>,
    /// Share of all events of the kind.
    pub share: Option<f64>,
    /// Jobs with such an event.
    pub jobs: Option<u64>,
    /// The user with most of them.
    pub user: Option<String>,
    /// The share of the events that this user has.
    pub user_share: Option<f64>,
    /// The job with most of them.
    pub job_id: Option<i64>,
    /// The share of the events that this job has.
    pub job_share: Option<f64>,
    /// The most frequent reason.
    pub reason: Option<String>,
    /// The share of the events that have this reason.
    pub reason_share: Option<f64>,
    /// Attempts that ended with one of these events; `None` in results of older versions.
    pub attempts: Option<u64>,
    /// Those of these attempts that ended within 10 s of their start.
    pub attempts_under_10s: Option<u64>,
    /// Machines on which these attempts ran.
    pub machines: Option<u64>,
    /// Events of tasks that were waiting.
    pub were_waiting: Option<u64>,
    /// The mean number of running tasks in the interval before.
    pub running_before: Option<f64>,
    /// The mean number of running tasks in the interval after.
    pub running_after: Option<f64>,
    /// The mean number of waiting tasks in the interval before.
    pub waiting_before: Option<f64>,
    /// The mean number of waiting tasks in the interval after.
    pub waiting_after: Option<f64>,
    /// Other kinds of episodes at the same time.
    pub together_with: String,
}

/// The events of a kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OfKind {
    /// The kind of event.
    pub what: String,
    /// The number of events.
    pub count: u64,
    /// Number of intervals in episodes.
    pub intervals: u64,
    /// Number of intervals for which this kind of event is known.
    pub known_intervals: u64,
    /// Number of episodes.
    pub episodes: u64,
    /// Number of events in episodes.
    pub in_episodes: u64,
    /// Share of events in episodes.
    pub in_episodes_share: Option<f64>,
}

/// A user, job or reason is named if it has at least this part of an episode.
const NAMED: f64 = 0.5;

/// The smallest change of running or waiting tasks that is reported, as a factor.
const CHANGED: f64 = 1.25;

/// An episode with at least this part of all events of its kind is reported first.
const LEADS: f64 = 0.05;

/// An episode with at least this part of all events of its kind is a finding about the whole log.
const STRIKES: f64 = 0.5;

/// `5 times the mean`.
pub(super) fn times_words(times: u64) -> String {
    if times == 1 { "the mean".to_owned() } else { format!("{} times the mean", grouped(times)) }
}

impl EpisodeRow {
    /// The time of the episode, in words.
    fn when(&self) -> String {
        when([self.start_s, self.end_s], self.first_at_s.zip(self.last_at_s))
    }

    /// The user, job and reason that most of the events belong to, in words.
    fn who(&self) -> String {
        let most = |name: Option<String>, share: Option<f64>| {
            let share = share.filter(|share| NAMED <= *share)?;
            let part = if share < 1.0 { percent(share) } else { "all".to_owned() };
            Some(format!("{part} {}", name?))
        };
        // A user submits jobs, but does not evict tasks.
        let is_submitted = self.what == What::Submitted.name();
        let by = if is_submitted { "by" } else { "in tasks of" };
        let user = self.user.as_deref().map(|user| format!("{by} user {}", short(user)));
        let job = self.job_id.map(|id| format!("of job {id}"));
        // The reason why jobs ended does not explain why they were submitted.
        let reason = self.reason.as_deref().filter(|_| !is_submitted);
        let reason = reason.map(|why| format!("in jobs that ended as {why}"));
        let of = [
            most(user, self.user_share),
            most(job, self.job_share),
            most(reason, self.reason_share),
        ];
        let of: Vec<String> = of.into_iter().flatten().collect();
        if of.is_empty() { String::new() } else { format!(", {}", of.join(", ")) }
    }

    /// Further clauses. One says how long the attempts had run and on how many machines, if most
    /// ran for less than 10 s or if they failed. Another says that most of the tasks were waiting.
    fn ran(&self) -> String {
        let attempts = self.attempts.unwrap_or(0);
        let machines = self.machines.filter(|machines| 0 < *machines);
        let machines = machines.map(|machines| counted(machines, "machine"));
        let quick = self.attempts_under_10s.filter(|quick| 0 < attempts && attempts <= 2 * quick);
        let is_failed = self.what == What::Failed.name();
        let ran = match (quick, machines) {
            (Some(quick), machines) => {
                let on = machines.map_or_else(String::new, |machines| format!(", on {machines}"));
                let of = if quick == attempts {
                    format!("all {} attempts", grouped(attempts))
                } else {
                    format!("{} of {}", grouped(quick), counted(attempts, "attempt"))
                };
                format!("; {of} ran for less than 10 s{on}")
            }
            (None, Some(machines)) if is_failed => format!("; they ran on {machines}"),
            _ => String::new(),
        };
        let waited = self.were_waiting.filter(|waited| 0 < *waited && self.count <= 2 * waited);
        let waited = waited.map_or_else(String::new, |waited| {
            format!("; {} of them still waited", grouped(waited))
        });
        format!("{ran}{waited}")
    }

    /// How the numbers of running and waiting tasks changed; `None` if they hardly changed.
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

impl EpisodeRow {
    /// `22.2 %; per hour 7.88 times the mean`: the share of all events of the kind, and the number
    /// per interval.
    fn amount(&self, interval_s: f64) -> Option<String> {
        let share = percent(self.share?);
        let times = self.times_the_mean.map(|times| {
            format!("; per {} {} times the mean", per_interval(interval_s), three_digits(times))
        });
        Some(format!("{share}{}", times.unwrap_or_default()))
    }

    /// Whether the episode has at least this part of all events of its kind.
    fn has(&self, part: f64) -> bool {
        self.share.is_some_and(|share| part <= share)
    }
}

impl OfKind {
    /// `31.6 % in 3 episodes`; `None` with fewer than two episodes.
    fn in_all(&self) -> Option<String> {
        let share = self.in_episodes_share.filter(|_| 1 < self.episodes)?;
        Some(format!("{} in {}", percent(share), counted(self.episodes, "episode")))
    }

    /// A sentence about the largest episode of this kind; it begins with the name of the kind.
    fn line(&self, largest: &EpisodeRow, interval_s: f64) -> Option<String> {
        let in_all = self.in_all().map_or_else(String::new, |all| format!("; in all, {all}"));
        Some(format!(
            "{}: {} of {} ({}) {}{}{}{in_all}",
            capital(&self.what),
            grouped(largest.count),
            grouped(self.count),
            largest.amount(interval_s)?,
            largest.when(),
            largest.who(),
            largest.ran(),
        ))
    }

    /// The first sentences about the largest episode of this kind, which also say what the cluster
    /// did.
    fn lead(&self, largest: &EpisodeRow, interval_s: f64) -> Option<String> {
        let (noun, of) = nouns(self);
        let then = largest.then().map_or_else(String::new, |said| format!("; {said}"));
        let in_all = self.in_episodes_share.filter(|_| 1 < self.episodes);
        let in_all = in_all.map_or_else(String::new, |share| {
            let episodes = grouped(self.episodes);
            format!(". The {episodes} episodes of {noun}s hold {} of them", percent(share))
        });
        let with = if largest.together_with.is_empty() {
            String::new()
        } else {
            format!(". At the same time far more than usual: {}", largest.together_with)
        };
        Some(format!(
            "{} of {}{of} ({}) happened {}{}{}{then}{in_all}{with}",
            grouped(largest.count),
            counted(self.count, noun),
            largest.amount(interval_s)?,
            largest.when(),
            largest.who(),
            largest.ran(),
        ))
    }
}

impl EpisodesAnswer {
    /// All sentences. The first ones are about the largest episode of one kind: an episode with at
    /// least half of all events of its kind comes first, then bad ends come before submissions,
    /// then the largest share decides. One sentence follows for each other kind.
    pub(crate) fn sentence(&self) -> Option<String> {
        let kinds: Vec<OfKind> = self.kinds.iter().filter(|kind| 0 < kind.episodes).collect();
        if kinds.is_empty() {
            let all = std::iter::once(self.nothing_stands_out()).chain(self.surges());
            return Some(all.collect::<Vec<String>>().join(". "));
        }
        let rows: Vec<EpisodeRow> = self.rows.iter().collect();
        let own = kinds.iter().filter_map(|kind| Some((kind, largest(&rows, &kind.what)?)));
        let all: Vec<(&OfKind, &EpisodeRow)> = own.collect();
        let is_bad = |kind: &OfKind| kind.what != What::Submitted.name();
        let leading = all.iter().filter(|(_, row)| row.has(LEADS));
        let lead = leading.max_by(|one, other| {
            let strikes = one.1.has(STRIKES).cmp(&other.1.has(STRIKES));
            let bad = is_bad(one.0).cmp(&is_bad(other.0));
            strikes
                .then(bad)
                .then(one.1.share.unwrap_or(0.0).total_cmp(&other.1.share.unwrap_or(0.0)))
        });
        let first = match lead {
            Some((kind, row)) => kind.lead(row, self.interval_s)?,
            None => format!("No episode has {} or more of all events of its kind", percent(LEADS)),
        };
        let lead = lead.map(|(kind, _)| kind.what.as_str());
        let others = all.iter().filter(|(kind, _)| Some(kind.what.as_str()) != lead);
        let others = others.filter_map(|(kind, row)| kind.line(row, self.interval_s));
        let all = std::iter::once(first).chain(others).chain(self.surges());
        Some(all.collect::<Vec<String>>().join(". "))
    }

    /// The sentences about days and about the longest queue.
    fn surges(&self) -> impl Iterator<Item = String> {
        let days: Vec<DayRow> = self.days.iter().collect();
        day_lines(&days).into_iter().chain(self.queue.as_ref().map(LongQueue::line))
    }

    /// The sentences, but only if an episode has half of all events of its kind or more.
    pub(crate) fn striking(&self) -> Option<String> {
        self.rows.iter().any(|row| row.has(STRIKES)).then(|| self.sentence()).flatten()
    }

    /// The meanings of names. An end can count more events than attempts that ended in this way.
    /// The name of a day is explained, too.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        let ends = [What::Failed, What::Killed, What::Evicted, What::Lost].map(What::name);
        let there = self.kinds.iter().map(|kind| kind.what);
        let there: Vec<String> = there.filter(|what| ends.contains(&what.as_str())).collect();
        let meaning = "each such event, also of a task that waited or whose start is not recorded: these \
            can be more than the attempts that ended so";
        let names = Some(there.join(", ")).filter(|names| !names.is_empty());
        let names = names.map(|names| (names, meaning.to_owned()));
        let days = Some(day_names()).filter(|_| !self.days.is_empty());
        names.into_iter().chain(days).collect()
    }

    /// The sentence that no interval stands out.
    fn nothing_stands_out(&self) -> String {
        let known = self.kinds.iter().map(|kind| kind.known_intervals).max();
        let only = match self.kinds.iter().collect::<Vec<_>>().as_slice() {
            [only] => format!(". Only {} are recorded", only.what),
            _ => String::new(),
        };
        let is_all = self.days.is_empty() && self.queue.is_none();
        let what = if is_all { "Nothing" } else { "No single interval" };
        format!(
            "{what} stands out: of {}, none has more than {} of any kind of event, and at \
            least {}{only}",
            intervals(known.unwrap_or(self.intervals), self.interval_s),
            times_words(self.times),
            self.least
        )
    }
}

/// The largest episode of a kind.
fn largest<'a>(rows: &'a [EpisodeRow], what: &str) -> Option<&'a EpisodeRow> {
    first_most(rows.iter().filter(|row| row.what == what), |row| row.count)
}

/// The first of the values with the largest number.
fn first_most<'a, T>(all: impl Iterator<Item = &'a T>, most: fn(&T) -> u64) -> Option<&'a T> {
    all.reduce(|best, next| if most(best) < most(next) { next } else { best })
}

/// The noun for an event of this kind, and the words for what it happens to.
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
    fn the_largest_episode_of_the_most_frequent_kind_is_reported_with_who_it_was() {
        let mut answer: EpisodesAnswer = serde_json::from_value(json!({
            "interval_s": 3600.0, "intervals": 267, "times": 5, "least": 10,
            "kinds": [
                {"what": "jobs submitted", "count": 900, "episodes": 1, "intervals": 2,
                    "known_intervals": 77, "in_episodes": 900, "in_episodes_share": 1.0},
                {"what": "tasks failed", "count": 1000, "episodes": 2, "intervals": 3,
                    "known_intervals": 77, "in_episodes": 982, "in_episodes_share": 0.982},
                {"what": "tasks killed", "count": 468, "episodes": 1, "intervals": 2,
                    "known_intervals": 77, "in_episodes": 395, "in_episodes_share": 0.844},
                {"what": "tasks lost", "count": 3, "known_intervals": 77, "in_episodes_share": 0.0}],
            "rows": [
                {"what": "tasks failed", "start_s": 1_483_149_600.0, "end_s": 1_483_153_200.0, "count": 12},
                {"what": "tasks killed", "start_s": 1_483_156_800.0, "end_s": 1_483_164_000.0,
                    "count": 395, "share": 0.844, "times_the_mean": 30.32, "user": "honbu",
                    "user_share": 1.0, "first_at_s": 1_483_156_860.0, "last_at_s": 1_483_156_927.0},
                {"what": "jobs submitted", "start_s": 1_483_149_600.0, "end_s": 1_483_153_200.0,
                    "count": 900, "share": 1.0, "times_the_mean": 77.0, "user": "honbu",
                    "user_share": 0.9},
                {"what": "tasks failed", "start_s": 1_483_228_800.0, "end_s": 1_483_236_000.0, "count": 970,
                    "share": 0.97, "times_the_mean": 37.345, "user": "honbu", "user_share": 1.0,
                    "job_id": 7, "job_share": 0.1,
                    "reason": "FAILED", "reason_share": 0.75, "running_before": 84.6,
                    "running_after": 30.9, "waiting_before": 5.0, "waiting_after": 5.5,
                    "together_with": "jobs submitted"}],
        }))
        .unwrap();
        assert_eq!(
            answer.sentence().unwrap(),
            "970 of 1,000 failures of tasks (97.0 %; per hour 37.3 times the mean) happened from 2017-01-01 00:00 to \
            02:00 UTC, all in tasks of user honbu, 75.0 % in jobs that ended as FAILED; running tasks fell \
            from 85 to 31. The 2 episodes of failures hold 98.2 % of them. At the same time far more than usual: jobs \
            submitted. Jobs submitted: 900 of 900 (100.0 %; per hour 77 times the mean) from 2016-12-31 02:00 to \
            03:00 UTC, 90.0 % by user honbu. Tasks killed: 395 of 468 (84.4 %; per hour 30.3 times the mean) within \
            67 s from 2016-12-31 04:01:00 UTC on, all in tasks of user honbu"
        );
        let names = answer.names();
        assert_eq!(names[0].0, "tasks failed, tasks killed, tasks lost");
        assert!(names[0].1.contains("can be more than the attempts"), "{names:?}");
        assert!(answer.striking().is_some_and(|said| said.starts_with("970 of 1,000")));
        answer.kinds = TableRows::default();
        assert!(answer.names().is_empty());
        assert_eq!(
            answer.sentence().unwrap(),
            "Nothing stands out: of 267 hours, none has more than 5 times the mean of any kind of event, \
            and at least 10"
        );
        assert_eq!(intervals(1, 600.0), "1 interval of 10 min");
        assert_eq!(times_words(1), "the mean");
    }

    #[test]
    fn a_small_part_of_a_kind_is_not_reported_first() {
        let answer: EpisodesAnswer = serde_json::from_value(json!({
            "interval_s": 3600.0, "intervals": 3585, "times": 5, "least": 10,
            "kinds": [{"what": "tasks failed", "count": 1870, "episodes": 11, "intervals": 14,
                "known_intervals": 817, "in_episodes": 203, "in_episodes_share": 0.1086}],
            "rows": [{"what": "tasks failed", "start_s": 10_623_600.0, "end_s": 10_630_800.0,
                "count": 36, "share": 0.0193, "times_the_mean": 7.864}],
        }))
        .unwrap();
        assert_eq!(
            answer.sentence().unwrap(),
            "No episode has 5.0 % or more of all events of its kind. Tasks failed: 36 of 1,870 (1.9 %; \
            per hour 7.86 times the mean) from 122 d 23:00 to 123 d 01:00 of the trace; in all, 10.9 % in 11 episodes"
        );
    }

    #[test]
    fn attempts_that_hardly_ran_and_tasks_that_waited_are_reported() {
        let row = |what: &str, [attempts, quick, machines, waited]: [u64; 4]| EpisodeRow {
            what: what.to_owned(),
            count: 100,
            attempts: Some(attempts),
            attempts_under_10s: Some(quick),
            machines: Some(machines),
            were_waiting: Some(waited),
            ..EpisodeRow::default()
        };
        let said = |what, numbers| row(what, numbers).ran();
        let failed = "tasks failed";
        assert_eq!(
            said(failed, [90, 45, 52, 0]),
            "; 45 of 90 attempts ran for less than 10 s, on 52 machines"
        );
        assert_eq!(said(failed, [90, 44, 1, 0]), "; they ran on 1 machine");
        assert_eq!(said("tasks killed", [90, 44, 1, 49]), "");
        assert_eq!(
            said("tasks killed", [50, 50, 0, 50]),
            "; all 50 attempts ran for less than 10 s; 50 of them still waited"
        );
        assert_eq!(said("tasks killed", [0, 0, 0, 100]), "; 100 of them still waited");
        assert_eq!(EpisodeRow::default().ran(), "", "a result of an older version");
    }
}

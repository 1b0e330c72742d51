//! Days with far more events than usual, and the longest queue: as they are stored and read back,
//! and their sentences.

use serde::{Deserialize, Serialize};

use super::when::{from_to, on_the_day};
use crate::answers::sentences::{capital, percent, short};
use crate::digits::{counted, grouped, grouped_decimal, six_digits, three_digits};
use crate::studies::episodes::{DAY_SPREADS, DAY_TIMES, DAYS_MIN, What};

/// A day.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DayRow {
    /// The kind of event.
    pub what: String,
    /// Start of the day, s.
    pub start_s: f64,
    /// The number of events.
    pub count: u64,
    /// The median of the days that are known completely.
    pub median_day: f64,
    /// How many times the median `count` is; `None` if the median is 0.
    pub times_the_median: Option<f64>,
    /// Number of days that are known completely.
    pub known_days: u64,
    /// Number of these days that stand out.
    pub found_days: u64,
    /// The user with most of the events.
    pub user: Option<String>,
    /// The share of the events that this user has.
    pub user_share: Option<f64>,
}

/// The longest queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LongQueue {
    /// Start of the interval from which on the queue grew, s.
    pub start_s: f64,
    /// End of the interval in which the queue was longest, s.
    pub end_s: f64,
    /// The mean number of waiting tasks in the first of these intervals.
    pub waiting_from: f64,
    /// The mean number of waiting tasks in the last of these intervals.
    pub waiting_most: f64,
    /// The mean number of waiting tasks over all intervals.
    pub waiting_mean: f64,
    /// The user with the longest total waiting time in the last interval.
    pub user: Option<String>,
    /// The share of the waiting time that this user has.
    pub queue_user_share: Option<f64>,
}

/// A user with at least this part of a day or a queue is named. The part is small because a day
/// contains the work of many users.
const NAMED: f64 = 0.2;

impl DayRow {
    fn line(&self) -> String {
        let by = if self.what == What::Submitted.name() { "by" } else { "in tasks of" };
        let user = self.user.as_deref().zip(self.user_share.filter(|share| NAMED <= *share));
        let user = user.map_or_else(String::new, |(user, share)| {
            format!(", {} {by} user {}", percent(share), short(user))
        });
        let median = grouped_decimal(self.median_day, 0);
        let times = self.times_the_median.map_or_else(
            || format!("the median day has {median}"),
            |times| format!("{} times the median day ({median})", three_digits(times)),
        );
        let days = counted(self.known_days, "day");
        let verb = if self.found_days == 1 { "stands" } else { "stand" };
        format!(
            "{} {}: {}, {times}{user}; {} of {days} {verb} out",
            capital(&self.what),
            on_the_day(self.start_s),
            grouped(self.count),
            grouped(self.found_days),
        )
    }
}

/// One sentence for the largest day of each kind.
pub(super) fn day_lines(days: &[DayRow]) -> Vec<String> {
    let largest = |what: What| {
        let own = days.iter().filter(|day| day.what == what.name());
        own.reduce(|best, next| if best.count < next.count { next } else { best })
    };
    What::ALL.into_iter().filter_map(largest).map(DayRow::line).collect()
}

/// The definition of a day that stands out: its name and the rule.
pub(super) fn day_names() -> (String, String) {
    let rule = format!(
        "at least {DAY_TIMES} times the median day, and above it by more than {DAY_SPREADS} times the \
        median distance of days from it; of days that are known in full, if there are {DAYS_MIN} or more"
    );
    ("day that stands out".to_owned(), rule)
}

impl LongQueue {
    pub(super) fn line(&self) -> String {
        let [most, mean] =
            [self.waiting_most, self.waiting_mean].map(|tasks| six_digits(tasks.round()));
        let times = three_digits(self.waiting_most / self.waiting_mean);
        let when = from_to([self.start_s, self.end_s]);
        let rose = if self.waiting_from < self.waiting_most {
            let from = six_digits(self.waiting_from.round());
            format!("Waiting tasks rose from {from} to {most} {when}")
        } else {
            format!("Most tasks waited {when}: {most}")
        };
        let user = self.user.as_deref().zip(self.queue_user_share.filter(|share| NAMED <= *share));
        let user = user.map_or_else(String::new, |(user, share)| {
            format!("; {} of the longest queue were tasks of user {}", percent(share), short(user))
        });
        format!("{rose}, {times} times the mean of all intervals ({mean}){user}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_day_of_each_kind_is_reported() {
        let day = |what: &str, day: f64, count, share| DayRow {
            what: what.to_owned(),
            start_s: day * 86_400.0,
            count,
            median_day: 22_338.5,
            times_the_median: Some(1.991),
            known_days: 28,
            found_days: 2,
            user: Some("honbu".to_owned()),
            user_share: Some(share),
        };
        let days = [
            day("jobs submitted", 9.0, 33_600, 0.3),
            day("jobs submitted", 17.0, 44_483, 0.2),
            DayRow {
                found_days: 1,
                times_the_median: None,
                median_day: 0.0,
                ..day("tasks failed", 18_000.0, 12, 0.19)
            },
        ];
        assert_eq!(
            day_lines(&days),
            [
                "Jobs submitted in the 24 h from 17 d 00:00 of the trace on: 44,483, 1.99 times the median \
                day (22,338), 20.0 % by user honbu; 2 of 28 days stand out",
                "Tasks failed on 2019-04-14 (UTC): 12, the median day has 0; 1 of 28 days stands out",
            ]
        );
        assert!(
            day_names().1.starts_with("at least 1.5 times the median day"),
            "{:?}",
            day_names()
        );
    }

    #[test]
    fn the_longest_queue_is_reported_with_whose_it_was() {
        let queue = LongQueue {
            start_s: 1_483_174_800.0,
            end_s: 1_483_192_800.0,
            waiting_from: 150.88,
            waiting_most: 1_019.2,
            waiting_mean: 350.4,
            user: Some("honbu".to_owned()),
            queue_user_share: Some(0.95),
        };
        assert_eq!(
            queue.line(),
            "Waiting tasks rose from 151 to 1,019 from 2016-12-31 09:00 to 14:00 UTC, 2.91 times the mean of \
            all intervals (350); 95.0 % of the longest queue were tasks of user honbu"
        );
        let few = LongQueue { waiting_from: 1_019.2, queue_user_share: Some(0.1), ..queue };
        assert_eq!(
            few.line(),
            "Most tasks waited from 2016-12-31 09:00 to 14:00 UTC: 1,019, 2.91 times the mean of all \
            intervals (350)"
        );
    }
}

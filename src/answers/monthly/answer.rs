//! Months and accounts, as they are stored and read back, and their sentence.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::units::noun;
use crate::answers::later_use::{Of, UseSince};
use crate::answers::load::{OfSize, WAITS_MIN, longest_wait, share_of};
use crate::answers::sentences::{MOST, capital, percent, short};
use crate::digits::{counted, grouped, lasting, six_digits};
use crate::results::rows::TableRows;
use crate::results::shares::Terms;
use crate::studies::ledger::UNKNOWN;
use crate::studies::meter::{CpuDefinition, Meter};

/// The answer of `monthly`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MonthlyAnswer {
    /// The definition of CPU time.
    pub cpu: CpuDefinition,
    /// The unit of CPU time.
    pub unit: String,
    /// The time zone of the months.
    pub zone: String,
    /// The date of the first event.
    pub from_date: String,
    /// The date of the last instant of the window.
    pub to_date: String,
    /// The time between these two dates, s.
    pub length_s: f64,
    /// Months that are only partly in the log.
    pub months_in_part: Vec<String>,
    /// Running time from which a failure counts as late, s.
    pub late_s: f64,
    /// Whether the log has no accounts, so that users replace them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_accounts: bool,
    /// CPU time of all attempts.
    pub total: f64,
    /// CPU time of attempts that did not finish.
    pub total_wasted: f64,
    /// CPU time of attempts that did not finish and ran for at least `late_s`.
    pub total_late: f64,
    /// GPU time, if it is known.
    pub total_gpu_s: Option<f64>,
    /// Limit x processors of attempts with a limit.
    pub total_asked: f64,
    /// CPU time of the attempts with a limit.
    pub total_used_of_asked: f64,
    /// The median of running time over time limit, for attempts with a limit.
    pub limit_used_median: Option<f64>,
    /// The number of jobs.
    pub jobs: u64,
    /// Jobs that did not finish.
    pub not_finished_jobs: u64,
    /// The use of a log that lacks earlier jobs, since the log is whole. `None` for any other log,
    /// or if CPU time is not the requested one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<UseSince>,
    /// The user who has half or more of the jobs that did not finish. `None` if no user has, or if
    /// there is only one user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_not_finished: Option<MostOfUser>,
    /// The fewest users who together wasted half or more of the wasted CPU time; `None` if these
    /// are not few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_wasted: Option<MostWasted>,
    /// The median wait of jobs, s.
    pub wait_s_median: Option<f64>,
    /// The 95 % quantile of the waits of jobs, s.
    pub wait_s_p95: Option<f64>,
    /// The number of attempts.
    pub attempts: u64,
    /// Attempts without a CPU request, counted as 0.
    pub attempts_without_request: u64,
    /// Use by account and month.
    pub rows: TableRows<Value>,
    /// Use of all accounts, month by month.
    pub months: TableRows<Value>,
    /// Use by account over the whole log.
    pub accounts: TableRows<OfAccount>,
    /// The users with most use.
    pub users: TableRows<Value>,
    /// The accounts of each user who has several, for as many users as have pages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accounts_of_users: Vec<AccountsOfUser>,
    /// Waits by queue and size of the job.
    pub waits: TableRows<OfSize>,
    /// How and why jobs ended.
    pub ends: TableRows<OfReason>,
    /// Time limits by queue.
    pub limits: TableRows<OfQueue>,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
    /// The reason if there is nothing to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nothing: Option<String>,
}

/// The user with most of the jobs that did not finish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MostOfUser {
    /// The user.
    pub user: String,
    /// The number of jobs of this user.
    pub jobs: u64,
    /// The number of these jobs that did not finish.
    pub not_finished_jobs: u64,
}

/// The accounts of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccountsOfUser {
    /// The user.
    pub user: String,
    /// The accounts of this user; the one with most CPU time comes first.
    pub accounts: Vec<String>,
}

/// The users who wasted most CPU time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MostWasted {
    /// The users, the heaviest first.
    pub users: Vec<String>,
    /// The CPU time that these users wasted together, in the unit of the answer.
    pub wasted: f64,
}

/// An account over the whole log.
#[derive(Clone, Debug, Deserialize)]
pub struct OfAccount {
    /// Its name.
    pub account: String,
    /// Its share of all CPU time.
    pub share: Option<f64>,
}

/// The jobs that ended with the same outcome, for the same reason.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OfReason {
    /// The outcome by the last event.
    pub outcome: String,
    /// The reason in the words of the log.
    pub end_reason: Option<String>,
    /// The number of jobs.
    pub jobs: u64,
    /// CPU time of the attempts of these jobs that did not finish, h.
    pub wasted_cpu_h: f64,
    /// The number of these attempts, without those that used nothing.
    pub wasted_attempts: u64,
}

/// The smallest share of the wasted CPU time for which a reason is named.
const NAMED: f64 = 0.1;

/// The time limits of a queue.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OfQueue {
    /// The name of the queue.
    pub queue: String,
    /// Attempts with a limit.
    pub attempts: u64,
    /// The median limit of these attempts, s.
    pub limit_s_median: Option<f64>,
    /// The median running time of these attempts, s.
    pub run_s_median: Option<f64>,
    /// Time limit x processors, h.
    pub asked_cpu_h: f64,
    /// Running time x processors, h.
    pub used_cpu_h: f64,
    /// `used_cpu_h` over `asked_cpu_h`.
    pub used_share: Option<f64>,
    /// Attempts that reached their limit.
    pub reached: u64,
    /// The CPU time of these attempts, h.
    pub reached_cpu_h: f64,
}

/// The used share of time limits: `Attempts with a time limit ran for 0.2 % of the processor time
/// that their limits allow; without queue croutons, whose limits make up 82.0 % of that, they ran
/// for 0.9 %`. If the limits of one queue are most of the total, the share without this queue
/// follows. Each row has a queue, the requested time and the used time.
pub(super) fn used_of_limits(rows: &[(&str, f64, f64)]) -> Option<String> {
    let sums = |rows: &mut dyn Iterator<Item = &(&str, f64, f64)>| {
        rows.fold((0.0, 0.0), |sums, row| (sums.0 + row.1, sums.1 + row.2))
    };
    let (asked, used) = sums(&mut rows.iter());
    let whole = share_of(Some(used), Some(asked))?;
    let said = format!(
        "Attempts with a time limit ran for {} of the processor time that their limits allow",
        percent(whole)
    );
    let largest = rows.iter().max_by(|one, other| one.1.total_cmp(&other.1));
    let largest = largest.filter(|row| MOST * asked < row.1);
    let without = largest.and_then(|(queue, own, _)| {
        let (rest, used) = sums(&mut rows.iter().filter(|row| row.0 != *queue));
        let (share, rest) = (own / asked, share_of(Some(used), Some(rest))?);
        Some(format!(
            "; without queue {queue}, whose limits make up {} of that, they ran for {}",
            percent(share),
            percent(rest)
        ))
    });
    Some(said + &without.unwrap_or_default())
}

/// If half of the attempts ran for at most this share of their limit, limits say little.
const FAR: f64 = 0.05;

/// The beginning of the sentence about such limits, after another sentence.
const FAR_LIMITS: &str = ". Limits say little of running times";

/// The fewest attempts of a queue for which its limit is reported.
const LIMITS_OF: u64 = 10;

/// The medians of the queues with most attempts: `Limits say little of running times: 3 d in queue
/// black and 125 d in queue croutons, while the median runs take 3.88 min and 32.8 min`.
fn far_limits(mut rows: Vec<OfQueue>) -> Option<String> {
    const QUEUES: usize = 2;
    let is_far = |row: &OfQueue| {
        let times = row.run_s_median.zip(row.limit_s_median);
        times.is_some_and(|(run_s, limit_s)| run_s <= FAR * limit_s)
    };
    rows.retain(|row| LIMITS_OF <= row.attempts && is_far(row));
    rows.sort_by_key(|row| std::cmp::Reverse(row.attempts));
    let known = rows.iter().filter_map(|row| {
        let queue = match row.queue.as_str() {
            UNKNOWN => "in the median".to_owned(),
            name => format!("in queue {name}"),
        };
        Some((format!("{} {queue}", lasting(row.limit_s_median?)), lasting(row.run_s_median?)))
    });
    let (limits, runs): (Vec<String>, Vec<String>) = known.take(QUEUES).unzip();
    let take = match runs.len() {
        0 => return None,
        1 => "run takes",
        _ => "runs take",
    };
    Some(format!(
        "Limits say little of running times: {}, while the median {take} {}",
        limits.join(" and "),
        runs.join(" and ")
    ))
}

/// Whether fewer than two of the months are complete, so that there is nothing to compare.
pub(super) const fn are_few(months: usize, in_part: usize) -> bool {
    months < 2 + in_part
}

impl MonthlyAnswer {
    /// Whether the log covers fewer than two complete months, so that there is nothing to compare.
    pub(crate) fn has_few_months(&self) -> bool {
        are_few(self.months.len(), self.months_in_part.len())
    }

    /// The verb for CPU time: attempts used it, or requested it.
    const fn verb(&self) -> &'static str {
        Meter::Cpu(self.cpu).verb()
    }

    /// The number of attempts that reached their time limit in words, and their share of all CPU
    /// time.
    fn reached(&self) -> Option<(String, f64)> {
        let sums = self.limits.iter().fold((0, 0.0), |sums, row| {
            (sums.0 + row.reached, sums.1 + row.reached_cpu_h * 3600.0)
        });
        let (attempts, cpu_s) = Some(sums).filter(|sums| 0 < sums.0)?;
        let who = match attempts {
            1 => "1 attempt that reached its time limit".to_owned(),
            _ => format!("{} attempts that reached their time limit", grouped(attempts)),
        };
        let share = share_of(Some(cpu_s), Some(self.total))?;
        Some((format!("{who} {} {} of all CPU time", self.verb(), percent(share)), share))
    }

    /// The used share of time limits: by the median attempt, and of all processor time that limits
    /// allow.
    fn limits(&self) -> Option<String> {
        let rows: Vec<OfQueue> = self.limits.iter().collect();
        if self.limit_used_median.is_some_and(|share| share <= FAR)
            && let Some(said) = far_limits(rows.clone())
        {
            return Some(format!(". {said}"));
        }
        let rows = rows.iter().map(|row| (row.queue.as_str(), row.asked_cpu_h, row.used_cpu_h));
        let used = used_of_limits(&rows.collect::<Vec<_>>())?;
        let median = self.limit_used_median.map_or_else(String::new, |share| {
            let share = percent(share);
            format!(
                ". Half of the attempts with a time limit ran for at most {share} of their limit"
            )
        });
        Some(format!("{median}. {used}"))
    }

    /// How long jobs waited, and which user has most of the jobs that did not finish.
    fn waits(&self) -> Option<String> {
        let wait = self.wait_s_median.zip(self.wait_s_p95).map(|(median, most)| {
            format!(
                "half of the jobs that started had waited for at most {} s, and 95 % for at most {} s",
                six_digits(median),
                six_digits(most)
            )
        });
        let most = self.most_not_finished.as_ref().map(|most| {
            format!(
                "{} of {} that did not finish are of one user, {}, who has {} jobs in all",
                grouped(most.not_finished_jobs),
                counted(self.not_finished_jobs, "job"),
                short(&most.user),
                grouped(most.jobs)
            )
        });
        let said: Vec<String> = wait.into_iter().chain(most).collect();
        (!said.is_empty()).then(|| capital(&said.join("; ")))
    }

    /// The users who wasted most.
    fn wasters(&self) -> Option<String> {
        let most = self.most_wasted.as_ref()?;
        let users: Vec<String> = most.users.iter().map(|user| short(user)).collect();
        let (are, names) = match users.as_slice() {
            [only] => ("user", only.clone()),
            [first @ .., last] => ("users", format!("{} and {last}", first.join(", "))),
            [] => return None,
        };
        let share = percent(most.wasted / self.total_wasted);
        Some(format!("; {are} {names} wasted {share} of it"))
    }

    /// The jobs that waited longest, among the sizes and queues with enough jobs.
    fn waited_longest(&self) -> Option<String> {
        let (median, longest) = longest_wait(&self.waits)?;
        let processors = if longest.size == "1" { "processor" } else { "processors" };
        let queue = format!(" in queue {}", longest.queue);
        let queue = if longest.queue == UNKNOWN { "" } else { queue.as_str() };
        (self.wait_s_median? < median).then(|| {
            format!(
                ". Jobs of {} {processors}{queue} waited longest: {} s in the median, {} jobs{} (of sizes and \
                queues with {WAITS_MIN} jobs or more)",
                longest.size,
                six_digits(median),
                grouped(longest.jobs_with_wait),
                longest.mostly_of().unwrap_or_default()
            )
        })
    }

    /// The noun for what uses are grouped by: `account` or `user`.
    const fn noun(&self) -> &'static str {
        noun(!self.without_accounts)
    }

    /// The sentences: how much accounts used; how much was wasted and why; how long jobs waited and
    /// which user has most of the jobs that did not finish; and how much of the time limits was
    /// used.
    pub(crate) fn sentence(&self) -> Option<String> {
        let total = Some(self.total).filter(|&total| 0.0 < total)?;
        let first = self.accounts.iter().next()?;
        let waits = self.waits().map_or_else(String::new, |said| format!(". {said}"));
        let longest = self.waited_longest().unwrap_or_default();
        let limits = self.limits().unwrap_or_default();
        // Limits that say little are an important finding; the used share of other limits is a
        // detail.
        let (far, limits) = if limits.starts_with(FAR_LIMITS) {
            (limits, String::new())
        } else {
            (String::new(), limits)
        };
        let wasted = Some(self.total_wasted).filter(|&wasted| 0.0 < wasted);
        // If nothing was wasted, attempts that ended at their limit matter most.
        let [at_limit, reached] = match self.reached() {
            Some((said, share)) if wasted.is_none() && NAMED <= share => {
                [format!("; {said}"), String::new()]
            }
            Some((said, _)) => [String::new(), format!(". {}{}", capital(&said), self.resumed())],
            None => Default::default(),
        };
        let [wasted, late] = wasted.map_or_else(Default::default, |wasted| {
            let late = format!(
                ". {} of what was wasted was in runs of {} or more{}",
                percent(self.total_late / wasted),
                lasting(self.late_s),
                self.wasters().unwrap_or_default(),
            );
            let share = percent(wasted / total);
            [
                format!(
                    ". {share} of all CPU time went to attempts that did not finish (wasted){}",
                    self.why()
                ),
                late,
            ]
        });
        let amount = format!("{} {}", six_digits(total), self.unit);
        let used = match self.accounts.len() as u64 {
            1 => format!("{} {} {} {amount}", capital(self.noun()), first.account, self.verb()),
            all => format!(
                "{}{} {} {amount}, {} {} most ({})",
                self.since.as_ref().map_or_else(String::new, |since| {
                    since.before(if self.without_accounts { Of::Users } else { Of::Accounts })
                }),
                counted(all, self.noun()),
                self.verb(),
                self.noun(),
                first.account,
                percent(first.share?)
            ),
        };
        let rows = if self.without_accounts {
            ". The log has no accounts: the tables of accounts show users"
        } else {
            ""
        };
        Some(format!(
            "{used}{wasted}{at_limit}{far}. The log spans {} to {} ({}){rows}{late}{waits}{longest}{reached}{limits}",
            self.from_date,
            self.to_date,
            lasting(self.length_s),
        ))
    }

    /// A remark that the work of attempts at their limit may not be lost; empty if no attempt
    /// counts as wasted.
    fn resumed(&self) -> &'static str {
        if 0.0 < self.total_wasted {
            " (where such a job goes on from a checkpoint, it is not wasted)"
        } else {
            ""
        }
    }

    /// The main reasons for the wasted CPU time, the largest first; empty if the log has no
    /// reasons.
    fn why(&self) -> String {
        let share = |row: &OfReason| row.wasted_cpu_h * 3600.0 / self.total_wasted;
        let mut lost: Vec<(f64, OfReason)> =
            self.ends.iter().map(|row| (share(&row), row)).collect();
        lost.retain(|(share, _)| NAMED <= *share);
        lost.sort_by(|one, other| other.0.total_cmp(&one.0));
        let said = lost.into_iter().filter_map(|(share, row)| {
            let attempts = counted(row.wasted_attempts, "attempt");
            let reason = row.end_reason?;
            Some(format!("{} to {attempts} of jobs that ended as {reason}", percent(share)))
        });
        let said: Vec<String> = said.collect();
        if said.is_empty() { String::new() } else { format!(", of that {}", said.join(" and ")) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_queue_that_makes_up_most_of_the_limits_is_named_and_left_out() {
        for (rows, said) in [
            (
                &[("croutons", 900.0, 1.0), ("5", 100.0, 9.0)][..],
                "Attempts with a time limit ran for 1.0 % of the processor time that their limits allow; \
                without queue croutons, whose limits make up 90.0 % of that, they ran for 9.0 %",
            ),
            (
                &[("a", 40.0, 4.0), ("b", 40.0, 4.0), ("c", 20.0, 2.0)],
                "Attempts with a time limit ran for 10.0 % of the processor time that their limits allow",
            ),
            (
                &[("a", 40.0, 4.0)],
                "Attempts with a time limit ran for 10.0 % of the processor time that their limits allow",
            ),
        ] {
            assert_eq!(used_of_limits(rows).unwrap(), said);
        }
        assert_eq!(used_of_limits(&[]), None);
    }

    #[test]
    fn limits_far_above_running_times_are_reported_of_two_queues() {
        let row = |queue: &str, attempts: u64, limit_s: f64, run_s: f64| OfQueue {
            queue: queue.to_owned(),
            attempts,
            limit_s_median: Some(limit_s),
            run_s_median: Some(run_s),
            ..OfQueue::default()
        };
        let rows = [
            row("short", 9, 60.0, 30.0),
            row("croutons", 1011, 10_800_000.0, 1968.0),
            row("black", 10_182, 259_200.0, 232.8),
            row("chapti", 20, 10_800_000.0, 6600.0),
        ];
        let two = far_limits(rows.to_vec()).unwrap();
        assert_eq!(
            two,
            "Limits say little of running times: 3 d in queue black and 125 d in queue croutons, while \
            the median runs take 3.88 min and 32.8 min"
        );
        let one = far_limits(vec![row(UNKNOWN, 20, 259_200.0, 60.0)]).unwrap();
        assert!(one.ends_with(": 3 d in the median, while the median run takes 60 s"), "{one}");
        assert_eq!(far_limits(rows[..1].to_vec()), None);
        let answer: MonthlyAnswer = serde_json::from_value(json!({
            "limit_used_median": 0.001,
            "limits": [{"queue": "black", "attempts": 20, "limit_s_median": 259_200.0,
                "run_s_median": 60.0, "asked_cpu_h": 900.0, "used_cpu_h": 1.0}],
        }))
        .unwrap();
        let said = answer.limits().unwrap();
        assert!(said.starts_with(". Limits say little") && !said.contains("Half of"), "{said}");
    }

    #[test]
    fn attempts_at_their_limit_come_first_where_no_waste_is_known() {
        let answer = |total_wasted: f64, months: &[&str]| -> MonthlyAnswer {
            let months: Vec<Value> = months.iter().map(|month| json!({"month": month})).collect();
            serde_json::from_value(json!({
                "cpu": "slots", "from_date": "2005-11-20", "to_date": "2005-12-02",
                "length_s": 86_400.0, "total": 36_000.0, "unit": "processor-s", "months": months,
                "months_in_part": ["2005-11", "2005-12"], "total_wasted": total_wasted,
                "accounts": [{"account": "4", "share": 1.0}],
                "limits": [{"queue": "a", "reached": 2, "reached_cpu_h": 2.5}],
            }))
            .unwrap()
        };
        let said = answer(0.0, &["2005-11", "2005-12"]).sentence().unwrap();
        assert_eq!(
            said,
            "Account 4 used 36,000 processor-s; 2 attempts that reached their time limit used 25.0 % of \
            all CPU time. The log spans 2005-11-20 to 2005-12-02 (24 h)"
        );
        let said = answer(9.0, &[]).sentence().unwrap();
        assert!(said.contains(". 2 attempts that reached their time limit used 25.0 %"), "{said}");
        assert!(answer(0.0, &["2005-11", "2005-12"]).has_few_months());
        assert!(answer(0.0, &["2005-11", "2005-12", "2006-01"]).has_few_months());
        assert!(!answer(0.0, &["2005-11", "2005-12", "2006-01", "2006-02"]).has_few_months());
    }

    #[test]
    fn attempts_that_reached_their_limit_are_reported_with_the_dates() {
        let answer: MonthlyAnswer = serde_json::from_value(json!({
            "cpu": "requested",
            "from_date": "2016-12-21", "to_date": "2017-01-01", "length_s": 959_040.0,
            "total": 360_000.0, "unit": "processor-s", "limit_used_median": 0.09,
            "accounts": [{"account": "taifl", "share": 0.5}, {"account": "calla", "share": 0.5}],
            "jobs": 12, "wait_s_median": 90.0, "wait_s_p95": 7_200.0, "not_finished_jobs": 11,
            "most_not_finished": {"user": "honbu", "jobs": 11, "not_finished_jobs": 10},
            "total_wasted": 90_000.0, "total_late": 45_000.0, "late_s": 3600.0,
            "ends": [{"outcome": "finished", "end_reason": "COMPLETED", "jobs": 1, "wasted_cpu_h": 0.0},
                {"outcome": "killed", "end_reason": "CANCELLED", "jobs": 5, "wasted_attempts": 1, "wasted_cpu_h": 3.0},
                {"outcome": "failed", "end_reason": "FAILED", "jobs": 1, "wasted_cpu_h": 2.0},
                {"outcome": "failed", "end_reason": "TIMEOUT", "jobs": 9, "wasted_attempts": 12, "wasted_cpu_h": 20.0}],
            "most_wasted": {"users": ["ovenb", "sancr"], "wasted": 80_000.0},
            "waits": [{"queue": "a", "size": "1", "jobs_with_wait": 9, "wait_s_median": 9000.0},
                {"queue": "a", "size": "5-16", "jobs_with_wait": 10, "wait_s_median": 120.0}],
            "limits": [{"queue": "a", "asked_cpu_h": 50.0, "used_cpu_h": 5.0, "reached": 1,
                "reached_cpu_h": 2.0}, {"queue": "b", "asked_cpu_h": 50.0, "used_cpu_h": 5.0,
                "reached": 8, "reached_cpu_h": 10.5}],
        }))
        .unwrap();
        assert_eq!(
            answer.sentence().unwrap(),
            "2 accounts requested 360,000 processor-s, account taifl most (50.0 %). 25.0 % of all CPU time went to \
            attempts that did not finish (wasted), of that 80.0 % to 12 attempts of jobs that ended as TIMEOUT and 12.0 % to \
            1 attempt of jobs that ended as CANCELLED. The log spans 2016-12-21 to 2017-01-01 (11.1 d). 50.0 % of what was \
            wasted was in runs of 60 min or more; users ovenb and sancr wasted 88.9 % of it. Half of the \
            jobs that started had waited for at most 90 s, and 95 % for at most 7,200 s; 10 of 11 jobs that did \
            not finish are of one user, honbu, who has 11 jobs in all. Jobs of 5-16 processors in queue \
            a waited longest: 120 s in the median, 10 jobs (of sizes and queues with 10 jobs or more). 9 attempts that reached their time limit \
            requested 12.5 % of all CPU time (where such a job goes on from a checkpoint, it is not wasted). Half of the attempts with a time limit ran for at most 9.0 % of their \
            limit. Attempts with a time limit ran for 10.0 % of the processor time that their limits allow"
        );
    }
}

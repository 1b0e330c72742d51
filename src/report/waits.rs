//! How long the jobs of users waited, beside what the users got.
//!
//! In: a stored load. Out: the waits and slowdowns of a user, and whose jobs waited longest and
//! shortest, as HTML.

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::html::Cell;
use super::text::{escape, lasting, percent, user_name};
use crate::answers::load::{self, LoadAnswer};
use crate::answers::sentences::short;
use crate::digits::{counted, grouped};
use crate::fairness::rank::spearman;
use crate::fairness::usage::UserUsage;
use crate::results::Stored;

/// The jobs of a user.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OfUser {
    user: String,
    jobs: u64,
    jobs_with_wait: u64,
    jobs_ended: u64,
    wait_s_median: Option<f64>,
    slowdown_median: Option<f64>,
}

/// The jobs of each user, by its name; empty if the load was not computed, or no wait is known.
#[derive(Default)]
pub(super) struct Waits(FxHashMap<String, OfUser>);

impl Waits {
    /// The columns of [`Waits::cells`].
    pub(super) const HEADER: [&'static str; 3] =
        ["jobs submitted", "median wait of jobs", "median bounded slowdown of jobs"];

    /// Fewer jobs tell little of a user.
    const JOBS_MIN: u64 = 10;

    /// A correlation of fewer users tells little.
    const USERS_MIN: usize = 10;

    /// Users with less of all use are not compared.
    const SHARE_MIN: f64 = 0.01;

    /// A shorter wait is not long, s.
    const LONG_S: f64 = 60.0;

    /// From this factor on, waits are not alike.
    const APART: f64 = 10.0;

    /// Those in the results of a report.
    pub(super) fn of(results: &[Stored]) -> Self {
        let mut loads = results.iter().filter(|result| result.name == load::KIND.name);
        let answer = loads.next().and_then(Stored::found::<LoadAnswer>);
        let rows = answer.iter().flat_map(|answer| answer.users.iter());
        let rows = rows.filter_map(|row| OfUser::deserialize(row).ok());
        let all: Vec<OfUser> = rows.collect();
        if all.iter().all(|own| own.jobs_with_wait == 0) {
            return Self::default();
        }
        Self(all.into_iter().map(|own| (own.user.clone(), own)).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of jobs of a user, their median wait and their median bounded slowdown.
    pub(super) fn cells(&self, user: &str) -> [Cell; 3] {
        let own = self.0.get(user);
        let jobs = own.map_or_else(|| Cell::name(""), |own| Cell::of(&own.jobs.to_string()));
        let wait = Cell::lasting(own.and_then(|own| own.wait_s_median));
        let slowdown = own.and_then(|own| own.slowdown_median).unwrap_or(f64::NAN);
        [jobs, wait, Cell::rounded(slowdown)]
    }

    /// The same with their names, for the page of a user.
    pub(super) fn facts(&self, user: &str) -> Vec<(&'static str, String)> {
        let Some(own) = self.0.get(user) else { return Vec::new() };
        let wait = own.wait_s_median.map(|wait_s| (Self::HEADER[1], lasting(wait_s)));
        std::iter::once((Self::HEADER[0], grouped(own.jobs))).chain(wait).collect()
    }

    /// Whether the jobs of users who got more were slowed down more, as fair share intends: the rank
    /// correlation of use and median bounded slowdown; empty for a few users, or if all have the same.
    pub(super) fn beside_use(&self, users: &[UserUsage], noun: &str) -> String {
        let known = users.iter().filter_map(|user| {
            let own = self.0.get(&user.user).filter(|own| Self::JOBS_MIN <= own.jobs_ended)?;
            Some((user.share?, own.slowdown_median?))
        });
        let (shares, slowdowns): (Vec<f64>, Vec<f64>) = known.unzip();
        let count = shares.len();
        let correlation = spearman(&shares, &slowdowns).filter(|_| Self::USERS_MIN <= count);
        let Some(correlation) = correlation else { return String::new() };
        #[expect(clippy::cast_precision_loss, reason = "users are far below 2^53")]
        let deviations = correlation * (count as f64 - 1.0).sqrt();
        let verdict = match deviations {
            far if 1.96 <= far => {
                "jobs of users who got more were slowed down more, as they are under fair share"
            }
            far if far <= -1.96 => {
                "jobs of users who got more were slowed down less. Long jobs have low slowdowns under any \
                policy, so this alone does not show that the policy favours these users"
            }
            _ => {
                "it is not shown that jobs of users who got more were slowed down more or less than those \
                of others"
            }
        };
        // Without a minus before zero.
        let shown = (correlation * 100.0).round() / 100.0 + 0.0;
        let said = format!(
            "Over the {} with {} jobs or more that ended, the rank correlation of their {noun} and the median \
            bounded slowdown of their jobs is {shown:.2}: {verdict}.",
            counted(count as u64, "user"),
            Self::JOBS_MIN,
        );
        format!("<p>{}</p>\n", escape(&said))
    }

    /// Whether waits were fair, and, of the users with enough use and jobs, whose jobs waited longest and
    /// shortest; empty if all waited equally long.
    pub(super) fn said(&self, users: &[UserUsage], noun: &str) -> String {
        let known = users.iter().filter_map(|user| {
            let share = user.share.filter(|share| Self::SHARE_MIN <= *share)?;
            let own = self.0.get(&user.user).filter(|own| Self::JOBS_MIN <= own.jobs_with_wait)?;
            Some((own.wait_s_median?, own, share))
        });
        let mut known: Vec<(f64, &OfUser, f64)> = known.collect();
        known.sort_by(|one, other| other.0.total_cmp(&one.0));
        let (Some(longest), Some(shortest)) = (known.first(), known.last()) else {
            return String::new();
        };
        if longest.0 <= shortest.0 {
            return String::new();
        }
        let of = |(wait_s, own, share): &(f64, &OfUser, f64)| {
            format!(
                "{} ({} in the median of {} that started; {} of the {noun})",
                short(user_name(&own.user)),
                lasting(*wait_s),
                counted(own.jobs_with_wait, "job"),
                percent(*share)
            )
        };
        let verdict = if longest.0 < Self::LONG_S {
            "By the median waits of jobs it was: no user waited long"
        } else if longest.0 < Self::APART * shortest.0 {
            "By waits it is not shown that anybody was put back"
        } else {
            "Not by waits, but the log does not say who was owed more, and who asks for what is scarce waits longer"
        };
        let said = format!(
            "Was it fair? {verdict}. Of the {} with {} of the {noun} or more and {} jobs or more that \
            started: longest waited {}, shortest {}.",
            counted(known.len() as u64, "user"),
            percent(Self::SHARE_MIN),
            Self::JOBS_MIN,
            of(longest),
            of(shortest)
        );
        format!("<p>{}</p>\n", escape(&said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_more_use_meant_more_slowdown_is_told() {
        let users: Vec<UserUsage> = (0..20_u32)
            .map(|idx| UserUsage {
                user: idx.to_string(),
                share: Some(f64::from(idx) / 190.0),
                ..UserUsage::default()
            })
            .collect();
        let said = |slowdown: fn(u32) -> f64, jobs: u64| {
            let own = |idx: u32| {
                let user = idx.to_string();
                let slowdown_median = Some(slowdown(idx));
                (
                    user.clone(),
                    OfUser { user, jobs_ended: jobs, slowdown_median, ..OfUser::default() },
                )
            };
            Waits((0..20).map(own).collect()).beside_use(&users, "CPU time")
        };
        let rising = said(|idx| f64::from(idx) + 1.0, 10);
        assert!(
            rising.contains("20 users")
                && rising.contains("is 1.00: jobs of users who got more were slowed down more"),
            "{rising}"
        );
        assert!(rising.contains("under fair share"), "{rising}");
        assert!(
            said(|idx| 1.0 / f64::from(idx + 1), 10)
                .contains("is -1.00: jobs of users who got more were slowed down less")
        );
        assert!(said(|idx| f64::from(idx % 2), 10).contains("it is not shown that"));
        assert_eq!(said(|_| 1.0, 10), "");
        assert_eq!(said(f64::from, 9), "");
    }

    #[test]
    fn the_longest_and_the_shortest_waits_are_told_beside_the_shares() {
        let own = |user: &str, jobs: u64, wait_s: f64| {
            let wait_s_median = Some(wait_s);
            let user = user.to_owned();
            (
                user.clone(),
                OfUser { user, jobs, jobs_with_wait: jobs, wait_s_median, ..OfUser::default() },
            )
        };
        let waits = Waits(
            [own("a", 20, 7200.0), own("b", 10, 30.0), own("c", 9, 0.0), own("d", 50, 9000.0)]
                .into_iter()
                .collect(),
        );
        let used = |user: &str, share: f64| UserUsage {
            user: user.to_owned(),
            share: Some(share),
            ..UserUsage::default()
        };
        let users = [used("a", 0.5), used("b", 0.4), used("c", 0.091), used("d", 0.009)];
        assert_eq!(
            waits.said(&users, "CPU time"),
            "<p>Was it fair? Not by waits, but the log does not say who was owed more, and who asks for what is scarce waits longer. Of the 2 users with 1.00 % of the CPU time or more and 10 jobs or more that started: longest \
            waited a (2 h in the median of 20 jobs that started; 50.00 % of the CPU time), shortest b (30 s in \
            the median of 10 jobs that started; 40.00 % of the CPU time).</p>\n"
        );
        let verdict = |first: f64, second: f64| {
            let waits = Waits([own("a", 20, first), own("b", 10, second)].into_iter().collect());
            waits.said(&users, "CPU time")
        };
        assert!(
            verdict(59.0, 1.0).contains("By the median waits of jobs it was: no user waited long")
        );
        assert!(verdict(600.0, 61.0).contains("not shown that anybody was put back"));
        assert!(verdict(610.0, 61.0).contains("Not by waits"));
        assert_eq!(waits.said(&users[1..], "CPU time"), "");
        assert_eq!(Waits::default().said(&users, "CPU time"), "");
    }
}

//! The use of the CPU by user, in a log that lacks earlier jobs, from the instant at which the log
//! becomes whole. As it is stored and read back, with its sentence.

use serde::{Deserialize, Serialize};

use super::sentences::{percent, short};
use crate::facts::FactError;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::notation::listed;
use crate::studies::first_end::FirstEnd;
use crate::studies::whole_use::{Both, WholeUse};

/// Requested CPU x time, for the whole log and from that instant on, in the log's unit of CPU x s.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LaterUse {
    /// The use of all jobs.
    pub total_s: [f64; 2],
    /// The use of jobs that finished.
    pub finished_s: [f64; 2],
    /// The users with most use: those of the whole log, and those from that instant on.
    pub users: Vec<OfName>,
    /// The accounts with most use, chosen in the same way; empty if the log has none.
    pub accounts: Vec<OfName>,
}

/// The use of a user or an account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OfName {
    /// The name.
    pub name: String,
    /// The use in the whole log, and from that instant on.
    pub cpu_s: [f64; 2],
}

/// The number of names that are kept of each of the two orders.
const KEPT: usize = 10;

/// The smallest difference of two shares that is reported.
const DIFFERENCE: f64 = 0.01;

/// The use, together with the instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UseSince {
    /// The instant in words.
    pub when: String,
    /// The use.
    pub used: LaterUse,
}

impl UseSince {
    /// The use in a log that lacks earlier jobs; `None` for any other log.
    ///
    /// # Errors
    /// A table cannot be read.
    pub(crate) fn of(lake: &Lake, windows: Windows) -> Result<Option<Self>, FactError> {
        let Some(first) = FirstEnd::of(lake, windows)? else { return Ok(None) };
        let used = LaterUse::of(&WholeUse::of(lake, windows, first.at_us)?);
        Ok(Some(Self { when: first.when(), used }))
    }

    /// The name with most use from the instant on, as a sentence before that of the whole log;
    /// empty if the shares hardly differ.
    pub(crate) fn before(&self, of: Of) -> String {
        let said = self.used.most_from(&self.when, of);
        said.map_or_else(String::new, |said| format!("{said}. Over the whole log, "))
    }
}

impl LaterUse {
    /// The stored form.
    pub(crate) fn of(sums: &WholeUse) -> Self {
        let named = |group: &std::collections::BTreeMap<String, Both>| {
            let rows = group.iter().map(|(name, &sum)| (name.clone(), seconds(sum)));
            let mut rows: Vec<OfName> = rows.map(|(name, cpu_s)| OfName { name, cpu_s }).collect();
            let mut kept: Vec<OfName> = Vec::new();
            for place in [0, 1] {
                rows.sort_by(|one, other| other.cpu_s[place].total_cmp(&one.cpu_s[place]));
                for row in rows.iter().take(KEPT) {
                    if !kept.contains(row) {
                        kept.push(row.clone());
                    }
                }
            }
            kept
        };
        Self {
            total_s: seconds(sums.total),
            finished_s: seconds(sums.finished),
            users: named(&sums.users),
            accounts: named(&sums.accounts),
        }
    }

    /// The shares of a sum: of the whole log, and from the instant on. `None` if there is no use in
    /// one of the two.
    fn shares(&self, cpu_s: [f64; 2]) -> Option<[f64; 2]> {
        let [all_s, later_s] = self.total_s;
        (0.0 < all_s && 0.0 < later_s).then(|| [cpu_s[0] / all_s, cpu_s[1] / later_s])
    }

    /// The share of the use before the instant.
    pub(crate) fn before_share(&self) -> Option<f64> {
        let [all_s, later_s] = self.total_s;
        (0.0 < all_s).then(|| 1.0 - later_s / all_s)
    }

    /// `From 2016-12-30 on, account taifl requested most: 45.9 % of the CPU time`; `None` if this
    /// share hardly differs from that of the whole log.
    pub(crate) fn most_from(&self, when: &str, of: Of) -> Option<String> {
        let (name, [_, later]) = self.most(of)?;
        let (name, later) = (short(name), percent(later));
        Some(format!(
            "From {when} on, {} {name} requested most: {later} of the CPU time",
            of.noun()
        ))
    }

    /// The name with most use from the instant on, with its shares of the whole log and from then
    /// on; `None` if the two hardly differ.
    fn most(&self, of: Of) -> Option<(&str, [f64; 2])> {
        self.first(of).filter(|(_, shares)| differ(*shares))
    }

    fn first(&self, of: Of) -> Option<(&str, [f64; 2])> {
        let most = |one: &&OfName, other: &&OfName| one.cpu_s[1].total_cmp(&other.cpu_s[1]);
        let row = self.rows(of).iter().max_by(most)?;
        Some((&row.name, self.shares(row.cpu_s)?))
    }

    /// The shares of jobs that did not finish, in the whole log and from the instant on; `None` if
    /// they hardly differ.
    pub(crate) fn unfinished(&self) -> Option<[f64; 2]> {
        let shares = self.shares(self.finished_s)?.map(|share| 1.0 - share);
        Some(shares).filter(|&shares| differ(shares))
    }

    const fn rows(&self, of: Of) -> &Vec<OfName> {
        match of {
            Of::Users => &self.users,
            Of::Accounts => &self.accounts,
        }
    }

    /// How the time before the instant affects shares, as sentences without the last full stop.
    /// `None` if the effect is negligible.
    pub(crate) fn said(&self) -> Option<String> {
        let before = self.before_share().filter(|&share| DIFFERENCE <= share)?;
        let most = |of: Of| {
            let (name, shares) = self.most(of)?;
            let [all, later] = shares.map(percent);
            Some(format!("{} {} has most ({later}; {all} of all)", of.noun(), short(name)))
        };
        let parts = [
            most(Of::Accounts),
            most(Of::Users),
            self.unfinished().map(|shares| {
                let [all, later] = shares.map(percent);
                format!("jobs that did not finish have {later} ({all} of all)")
            }),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| {
            let first = format!("{} of the requested CPU time is earlier", percent(before));
            format!("{first}. Of the rest, {}", listed(&parts))
        })
    }
}

/// Users or accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Users,
    Accounts,
}

impl Of {
    const fn noun(self) -> &'static str {
        match self {
            Self::Users => "user",
            Self::Accounts => "account",
        }
    }
}

fn differ([all, later]: [f64; 2]) -> bool {
    DIFFERENCE <= (all - later).abs()
}

fn seconds(sum: Both) -> [f64; 2] {
    [sum.all.seconds(), sum.later.seconds()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, all: f64, later: f64) -> OfName {
        OfName { name: name.to_owned(), cpu_s: [all, later] }
    }

    #[test]
    fn the_account_with_most_is_that_of_the_whole_part() {
        let mut used = LaterUse {
            total_s: [1_000.0, 500.0],
            finished_s: [700.0, 450.0],
            users: vec![row("u", 100.0, 50.0)],
            accounts: vec![row("calla", 400.0, 100.0), row("taifl", 300.0, 250.0)],
        };
        assert_eq!(
            used.said().unwrap(),
            "50.0 % of the requested CPU time is earlier. Of the rest, account taifl has most \
            (50.0 %; 30.0 % of all) and jobs that did not finish have 10.0 % (30.0 % of all)"
        );
        // There is no use before the instant.
        used.total_s[0] = 501.0;
        assert_eq!(used.said(), None);
        assert_eq!(LaterUse::default().said(), None);
        used.total_s[0] = 1_000.0;
        let since = UseSince { when: "2016-12-30".to_owned(), used };
        assert_eq!(
            since.before(Of::Accounts),
            "From 2016-12-30 on, account taifl requested most: 50.0 % of the CPU time. Over the whole log, "
        );
        assert_eq!(since.before(Of::Users), "", "10 % of both");
    }
}

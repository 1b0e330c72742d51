//! Sums over a log by month.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::zone::Month;
use crate::studies::load::Alike;
use crate::studies::load::jobs::{FateRow, Fates, Times};
use crate::studies::load::sizes::CLASSES;
use crate::studies::quantile;
use crate::studies::texts::entry;
use crate::units::CpuTime;

/// CPU and GPU time used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// CPU time.
    pub cpu: CpuTime,
    /// GPU time.
    pub gpu: CpuTime,
}

impl Used {
    pub(super) fn add(&mut self, other: Self) {
        self.cpu += other.cpu;
        self.gpu += other.gpu;
    }
}

/// Use, number and waits of jobs.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Jobs with their last event in the month.
    pub jobs: u64,
    /// Jobs that did not finish.
    pub not_finished: u64,
    /// Use of all attempts.
    pub used: Used,
    /// Use of attempts that ended without FINISH.
    pub wasted: Used,
    /// Use of late attempts.
    pub late: Used,
    /// Users of the jobs.
    pub users: BTreeSet<String>,
    fates: Fates,
}

impl Sums {
    /// The sum of several.
    pub fn of<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        all.into_iter().for_each(|sums| sum.merge(sums.clone()));
        sum
    }

    fn merge(&mut self, other: Self) {
        self.jobs += other.jobs;
        self.not_finished += other.not_finished;
        self.used.add(other.used);
        self.wasted.add(other.wasted);
        self.late.add(other.late);
        self.users.extend(other.users);
        self.fates.merge(other.fates);
    }

    pub(super) fn add_piece(&mut self, piece: Piece, user: &str) {
        self.used.add(piece.used);
        if piece.is_wasted {
            self.wasted.add(piece.used);
        }
        if piece.is_late {
            self.late.add(piece.used);
        }
        self.name(user);
    }

    pub(super) fn add_job(&mut self, has_finished: bool, user: &str, times: Times) {
        self.jobs += 1;
        self.not_finished += u64::from(!has_finished);
        self.fates.add(times);
        self.name(user);
    }

    fn name(&mut self, user: &str) {
        if !self.users.contains(user) {
            self.users.insert(user.to_owned());
        }
    }

    /// Waits and runs of its jobs.
    pub fn fate(&self) -> FateRow {
        self.fates.row("")
    }
}

/// A part of an attempt in one month.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) used: Used,
    pub(super) is_wasted: bool,
    pub(super) is_late: bool,
}

/// Jobs that ended in one way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    /// Jobs.
    pub jobs: u64,
    /// Their use.
    pub used: Used,
    /// The CPU time of their attempts that did not finish.
    pub wasted: CpuTime,
    /// Number of these attempts, without attempts that used nothing.
    pub wasted_attempts: u64,
}

/// Attempts with a time limit that ended.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Attempts that ran at least as long as their limit.
    pub reached: u64,
    /// CPU time of those attempts.
    pub reached_cpu: CpuTime,
    /// Time limit times CPU request, of all attempts.
    pub asked: CpuTime,
    /// Running time times CPU request, of all attempts.
    pub used: CpuTime,
    /// Limit and running time of each attempt, µs.
    pub times_us: Vec<[i64; 2]>,
}

impl Monthly {
    /// The median of running time over time limit of all attempts with a limit; `None` without any.
    #[expect(clippy::cast_precision_loss, reason = "limits are far below 2^53 µs")]
    pub fn limit_used_median(&self) -> Option<f64> {
        let times = self.limits.values().flat_map(|limits| &limits.times_us);
        let known = times.filter(|times| 0 < times[0]);
        let mut shares: Vec<f64> = known.map(|times| times[1] as f64 / times[0] as f64).collect();
        shares.sort_unstable_by(f64::total_cmp);
        quantile(&shares, 0.5)
    }
}

impl Limits {
    fn merge(&mut self, other: Self) {
        self.reached += other.reached;
        self.reached_cpu += other.reached_cpu;
        self.asked += other.asked;
        self.used += other.used;
        self.times_us.extend(other.times_us);
    }
}

/// A log by month.
#[derive(Clone, Debug, Default)]
pub struct Monthly {
    /// By account and month.
    pub accounts: BTreeMap<String, BTreeMap<Month, Sums>>,
    /// By user, with the use of each in each account.
    pub users: BTreeMap<String, (Sums, BTreeMap<String, CpuTime>)>,
    /// By queue and class of sizes.
    pub(super) queues: BTreeMap<String, [Fates; CLASSES.len()]>,
    /// Waits by queue, user and class of sizes.
    pub(super) alike: Alike,
    /// By outcome (by the last terminal event) and reason.
    pub ends: BTreeMap<(u8, String), Ends>,
    /// By queue.
    pub limits: BTreeMap<String, Limits>,
    /// Attempts.
    pub attempts: u64,
    /// Attempts without a CPU request, counted as 0.
    pub without_request: u64,
    /// Whether any GPU was requested.
    pub has_gpus: bool,
    /// Whether the log names accounts; otherwise users take the place of accounts.
    pub has_accounts: bool,
}

impl Monthly {
    pub(super) fn merge(mut self, other: Self) -> Self {
        for (account, months) in other.accounts {
            let own = self.accounts.entry(account).or_default();
            for (month, sums) in months {
                own.entry(month).or_default().merge(sums);
            }
        }
        for (user, (sums, accounts)) in other.users {
            let own = self.users.entry(user).or_default();
            own.0.merge(sums);
            for (name, cpu) in accounts {
                *own.1.entry(name).or_default() += cpu;
            }
        }
        for (queue, classes) in other.queues {
            let own = self.queues.entry(queue).or_default();
            own.iter_mut().zip(classes).for_each(|(own, others)| own.merge(others));
        }
        self.alike.merge(other.alike);
        for (key, ends) in other.ends {
            let own = self.ends.entry(key).or_default();
            own.jobs += ends.jobs;
            own.used.add(ends.used);
            own.wasted += ends.wasted;
            own.wasted_attempts += ends.wasted_attempts;
        }
        for (queue, limits) in other.limits {
            self.limits.entry(queue).or_default().merge(limits);
        }
        self.attempts += other.attempts;
        self.without_request += other.without_request;
        self.has_gpus |= other.has_gpus;
        self
    }

    /// The sum over all accounts and months.
    pub fn total(&self) -> Sums {
        Sums::of(self.accounts.values().flat_map(BTreeMap::values))
    }

    /// Each account over all months.
    pub fn by_account(&self) -> Vec<(&str, Sums)> {
        let of = |months: &BTreeMap<Month, Sums>| Sums::of(months.values());
        self.accounts.iter().map(|(name, months)| (name.as_str(), of(months))).collect()
    }

    /// The accounts with sums in a month.
    pub fn in_month(&self, month: Month) -> Vec<(&str, Sums)> {
        let mut all = Vec::new();
        for (name, months) in &self.accounts {
            all.extend(months.get(&month).map(|sums| (name.as_str(), sums.clone())));
        }
        all
    }

    /// Each month over all accounts.
    pub fn by_month(&self) -> BTreeMap<Month, Sums> {
        let mut sums: BTreeMap<Month, Sums> = BTreeMap::new();
        for (month, own) in self.accounts.values().flatten() {
            sums.entry(*month).or_default().merge(own.clone());
        }
        sums
    }

    /// Waits and runs by queue and class of sizes; empty classes are left out.
    pub fn waits(&self) -> Vec<(&str, FateRow)> {
        self.classes().map(|(queue, class, fates)| (queue, fates.row(CLASSES[class].1))).collect()
    }

    /// For each row of [`Monthly::waits`], the user with most jobs with a known wait, and the
    /// number of these jobs.
    pub fn most_in_waits(&self) -> Vec<Option<(&str, u64)>> {
        let classes = self.classes();
        classes.map(|(queue, class, _)| self.alike.most_of(Some(queue), class)).collect()
    }

    /// The queues and classes of sizes with jobs.
    fn classes(&self) -> impl Iterator<Item = (&str, usize, &Fates)> {
        let all = self.queues.iter().flat_map(|(queue, classes)| {
            classes.iter().enumerate().map(move |(class, fates)| (queue.as_str(), class, fates))
        });
        all.filter(|(_, _, fates)| fates.has_jobs())
    }

    /// Drops all waits, for a log that records none.
    pub fn without_waits(&mut self) {
        let accounts = self.accounts.values_mut().flat_map(BTreeMap::values_mut);
        let users = self.users.values_mut().map(|user| &mut user.0);
        let sums = accounts.chain(users).map(|sums| &mut sums.fates);
        sums.chain(self.queues.values_mut().flatten()).for_each(Fates::without_waits);
        self.alike.clear();
    }
}

/// The sums of an account in a month.
pub(super) fn month_of<'a>(
    accounts: &'a mut BTreeMap<String, BTreeMap<Month, Sums>>,
    account: &str,
    month: Month,
) -> &'a mut Sums {
    entry(accounts, account).entry(month).or_default()
}

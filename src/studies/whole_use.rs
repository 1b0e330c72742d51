//! Who used the CPU of a log: over the whole log, and from the instant from which it is complete.
//!
//! In: a lake and an instant. Out: requested CPU × time of running attempts, in total and from that
//! instant on: by user, by account, and of jobs that finished. Before the instant only long jobs
//! are in the log (see [`first_end`](super::first_end)), so the users of long jobs have too large a
//! share of the total.
//!
//! ```text
//!                              first end
//!  calla  ─────────────────────|───────────   36 % of all, 29 % from here on
//!  taifl            --   ---   |--- ----- --  35 %         46 %
//! ```

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::jobs::{ACCOUNT, LABELS, TERMINAL_OUTCOMES};
use crate::facts::tasks::Usage;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::units::CpuTime;

/// CPU time of the whole log, and of the time from the instant on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Both {
    /// Of the whole log.
    pub all: CpuTime,
    /// From the instant on.
    pub later: CpuTime,
}

impl Both {
    fn add(&mut self, other: Self) {
        self.all += other.all;
        self.later += other.later;
    }
}

/// Requested CPU × time of running attempts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WholeUse {
    /// Of all attempts.
    pub total: Both,
    /// Of jobs that finished.
    pub finished: Both,
    /// By user.
    pub users: BTreeMap<String, Both>,
    /// By account; empty if the log has none.
    pub accounts: BTreeMap<String, Both>,
}

impl WholeUse {
    /// Adds up a lake.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn of(lake: &Lake, windows: Windows, from_us: i64) -> Result<Self, FactError> {
        let parts = (0..lake.bucket_count()).into_par_iter().with_max_len(1);
        let part = |number| Self::of_bucket(&Bucket::of(lake, number, windows), from_us);
        parts.map(part).try_reduce(Self::default, |one, other| Ok(one.merge(other)))
    }

    fn of_bucket(bucket: &Bucket<'_>, from_us: i64) -> Result<Self, FactError> {
        let account = LABELS.iter().position(|name| *name == ACCOUNT);
        let (jobs, mut sums) = (bucket.jobs_without_names()?, Self::default());
        bucket.tasks(Usage::Skip)?.for_each(|task| {
            let mut own = Both::default();
            for attempt in task.attempts {
                let rate = attempt.requested_rate();
                let later_us = attempt.end_us - attempt.start_us.max(from_us);
                let later = rate.over(later_us.max(0));
                own.add(Both { all: rate.over(attempt.length_us()), later });
            }
            sums.total.add(own);
            let Some(job) = jobs.find(task.job_id).map(|place| &jobs.jobs[place]) else { return };
            if TERMINAL_OUTCOMES[usize::from(job.by_terminal)] == "finished" {
                sums.finished.add(own);
            }
            for (name, group) in [
                (job.user, &mut sums.users),
                (account.and_then(|place| job.labels[place]), &mut sums.accounts),
            ] {
                if let Some(name) = name {
                    group.entry(jobs.names.get(name).to_owned()).or_default().add(own);
                }
            }
        });
        Ok(sums)
    }

    fn merge(mut self, other: Self) -> Self {
        self.total.add(other.total);
        self.finished.add(other.finished);
        for (own, others) in [(&mut self.users, other.users), (&mut self.accounts, other.accounts)]
        {
            for (name, sum) in others {
                own.entry(name).or_default().add(sum);
            }
        }
        self
    }
}

//! How long the jobs of a user waited, compared with similar jobs of other users.
//!
//! In: the wait of each job, with its user, its queue (or band of priorities) and its class of
//! sizes. Out: for each user, the share of the other users' jobs in the same queue and class that
//! waited less, averaged over the jobs of the user. Equal waits count half. 0.5 is an even chance;
//! 1 means that all other jobs waited less.
//!
//! A job is not compared if other users have fewer than [`OTHERS_MIN`] jobs in its queue and class.

use std::collections::BTreeMap;

use super::sizes::CLASSES;
use crate::studies::ledger::UNKNOWN;
use crate::studies::texts::entry;

/// The fewest jobs of other users for a comparison, because fewer jobs say little.
const OTHERS_MIN: usize = 10;

/// The waits of a user, µs, by class of sizes.
type OfUser = [Vec<i64>; CLASSES.len()];

/// The jobs of a user for which other users have enough similar jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    /// Jobs.
    pub jobs: u64,
    /// The sum, over these jobs, of the share of the other users' jobs that waited less.
    sum: f64,
}

impl Compared {
    /// The share of the other users' jobs that waited less: the mean over the jobs of the user.
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
    pub fn waited_longer_than(self) -> Option<f64> {
        (0 < self.jobs).then(|| self.sum / self.jobs as f64)
    }
}

/// Waits by queue and user.
#[derive(Clone, Debug, Default)]
pub(in crate::studies) struct Alike(BTreeMap<String, BTreeMap<String, OfUser>>);

impl Alike {
    /// Adds the wait of a job.
    pub(in crate::studies) fn add(&mut self, queue: &str, user: &str, class: usize, wait_us: i64) {
        entry(entry(&mut self.0, queue), user)[class].push(wait_us);
    }

    pub(in crate::studies) fn merge(&mut self, other: Self) {
        for (queue, users) in other.0 {
            let own = self.0.entry(queue).or_default();
            for (user, classes) in users {
                let all = own.entry(user).or_default().iter_mut();
                all.zip(classes).for_each(|(own, waits)| own.extend(waits));
            }
        }
    }

    /// Drops all waits.
    pub(in crate::studies) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether any queue has a name.
    pub(super) fn has_queues(&self) -> bool {
        self.0.keys().any(|queue| queue != UNKNOWN)
    }

    /// The known user with most jobs of a class of sizes, in one queue or in all, and the number
    /// of these jobs.
    pub(in crate::studies) fn most_of(
        &self,
        queue: Option<&str>,
        class: usize,
    ) -> Option<(&str, u64)> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let queues = self.0.iter().filter(|(own, _)| queue.is_none_or(|queue| queue == *own));
        for (user, classes) in queues.flat_map(|(_, users)| users) {
            *counts.entry(user).or_default() += classes[class].len() as u64;
        }
        let counts = counts.into_iter().filter(|&(user, count)| 0 < count && user != UNKNOWN);
        counts.max_by_key(|&(user, count)| (count, std::cmp::Reverse(user)))
    }

    /// The comparison for each user with jobs that can be compared.
    pub(super) fn compared(&self) -> BTreeMap<&str, Compared> {
        let mut compared: BTreeMap<&str, Compared> = BTreeMap::new();
        for users in self.0.values() {
            for class in 0..CLASSES.len() {
                let all = ascending(users.values().flat_map(|classes| &classes[class]));
                for (user, classes) in users.iter().filter(|(user, _)| *user != UNKNOWN) {
                    let own = ascending(&classes[class]);
                    if own.is_empty() || all.len() - own.len() < OTHERS_MIN {
                        continue;
                    }
                    let of_user = compared.entry(user).or_default();
                    of_user.jobs += own.len() as u64;
                    of_user.sum += own.iter().map(|&wait| place(wait, &own, &all)).sum::<f64>();
                }
            }
        }
        compared
    }
}

fn ascending<'a>(waits: impl IntoIterator<Item = &'a i64>) -> Vec<i64> {
    let mut all: Vec<i64> = waits.into_iter().copied().collect();
    all.sort_unstable();
    all
}

/// The share of the other users' jobs that waited less than `wait`, which is a wait of the user.
/// Equal waits count half.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn place(wait: i64, own: &[i64], all: &[i64]) -> f64 {
    let less = |waits: &[i64]| waits.partition_point(|&other| other < wait);
    let not_more = |waits: &[i64]| waits.partition_point(|&other| other <= wait);
    let twice = less(all) - less(own) + not_more(all) - not_more(own);
    twice as f64 / (2 * (all.len() - own.len())) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_jobs_that_others_have_the_like_of_are_compared() {
        let mut alike = Alike::default();
        for wait in 0..10 {
            alike.add("q", "a", 0, wait);
        }
        // One waits longer than all others, one as long as the fifth; two have no similar jobs.
        for (queue, class, wait) in [("q", 0, 99), ("q", 0, 4), ("q", 1, 7), ("r", 0, 7)] {
            alike.add(queue, "b", class, wait);
        }
        let compared = alike.compared();
        let users: Vec<&str> = compared.keys().copied().collect();
        assert_eq!(users, ["b"], "b has two jobs, too few for a");
        assert_eq!(compared["b"].jobs, 2);
        assert_eq!(compared["b"].waited_longer_than(), Some(f64::midpoint(1.0, 0.45)));
        alike.clear();
        assert!(alike.compared().is_empty());
    }

    proptest! {
        /// Compared with a count over all pairs of jobs, for any division of the jobs into buckets.
        #[test]
        fn it_is_the_mean_over_pairs_of_jobs(
            jobs in prop::collection::vec((0..2_u8, 0..4_u8, 0..2_usize, 0..6_i64), 0..80),
            cut in 0..80_usize,
        ) {
            let name = |number: u8| number.to_string();
            let of = |jobs: &[(u8, u8, usize, i64)]| {
                let mut alike = Alike::default();
                for &(queue, user, class, wait) in jobs {
                    alike.add(&name(queue), &name(user), class, wait);
                }
                alike
            };
            let (one, other) = jobs.split_at(cut.min(jobs.len()));
            let mut alike = of(one);
            alike.merge(of(other));
            for user in 0..4 {
                let (mut count, mut sum) = (0, 0.0);
                for own in jobs.iter().filter(|own| own.1 == user) {
                    let others: Vec<_> = jobs
                        .iter()
                        .filter(|job| job.1 != user && (job.0, job.2) == (own.0, own.2))
                        .collect();
                    if others.len() < 10 {
                        continue;
                    }
                    count += 1;
                    let points = others.iter().map(|other| match other.3.cmp(&own.3) {
                        std::cmp::Ordering::Less => 1.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Greater => 0.0,
                    });
                    sum += points.sum::<f64>() / f64::from(u32::try_from(others.len()).unwrap());
                }
                let compared = alike.compared().get(&*name(user)).copied().unwrap_or_default();
                prop_assert_eq!(compared.jobs, count);
                let mean = (0 < count).then(|| sum / f64::from(u32::try_from(count).unwrap()));
                let found = compared.waited_longer_than();
                prop_assert_eq!(found.is_some(), mean.is_some());
                if let (Some(found), Some(mean)) = (found, mean) {
                    prop_assert!((found - mean).abs() < 1e-12);
                }
            }
        }
    }
}

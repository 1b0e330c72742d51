//! Retry limits and time limits in a replay.
//!
//! In: the ends of attempts as they happen. Out: how long a failed task waits before it is tried
//! again, and the tasks or jobs without further retries. The rules are those of a sweep
//! ([`Retries`], [`LimitOf`]): a sweep applies them to recorded failures. In a replay, the wait of
//! a back-off also delays everything that follows from it.
//!
//! ```text
//!  k8s:backoff_limit=6    |--x...10 s...|--x......20 s......|--x   the third failure in a row
//!  of one job             t1            t2 or t1, any           waits for 40 s, at most max_s
//! ```
//! The wait doubles with each failure of the job (with `per=task`: of the task) since its last
//! success. It applies to the failed task: tasks that wait for a machine are not affected.

use rustc_hash::FxHashMap;

use super::journal::Kind;
use crate::schema::EventType;
use crate::studies::rules::{LimitOf, Retries, Rule, Scope};

/// The owner of failures: a rule by its number, and a job or a task.
type Owner = (usize, u32);

/// The retry state of all tasks.
#[derive(Debug)]
pub(super) struct RetryWatch {
    /// The number of the condition, the rule, and the number of failures that ends a job or task.
    rules: Vec<(usize, Retries, i64)>,
    /// The number of the condition, and the limit.
    limits: Vec<(usize, LimitOf, i64)>,
    failed: FxHashMap<Owner, i64>,
    in_row: FxHashMap<Owner, u32>,
    /// The task that failed last, and the time that it must wait, µs.
    wait: Option<(u32, i64)>,
}

impl RetryWatch {
    /// No failures yet; `None` if no rule is about retries or limits.
    pub(super) fn new(conditions: &[(&Rule, i64)]) -> Option<Self> {
        let (mut rules, mut limits) = (Vec::new(), Vec::new());
        for (bit, (rule, parameter)) in conditions.iter().enumerate() {
            match rule {
                Rule::Retries(retries) => rules.push((bit, *retries, retries.fatal(*parameter))),
                Rule::Limit(limit) => limits.push((bit, *limit, *parameter)),
                _ => {}
            }
        }
        if rules.is_empty() && limits.is_empty() {
            return None;
        }
        Some(Self {
            rules,
            limits,
            failed: FxHashMap::default(),
            in_row: FxHashMap::default(),
            wait: None,
        })
    }

    /// An attempt of a task has ended; calls `fire` with each condition that is reached, and with
    /// whether it ends the whole job.
    pub(super) fn ended(
        &mut self,
        (task, job): (u32, u32),
        how: Kind,
        mut fire: impl FnMut(usize, bool),
    ) {
        let event = match how {
            Kind::Fail => EventType::Fail,
            Kind::Evict => EventType::Evict,
            Kind::Lost => EventType::Lost,
            Kind::Finish => EventType::Finish,
            Kind::Restart => EventType::Kill,
            _ => return,
        };
        let mut wait_us = 0;
        for (place, &(bit, retries, fatal)) in self.rules.iter().enumerate() {
            let owner = (place, if retries.is_pooled() { job } else { task });
            if event == EventType::Finish {
                self.in_row.remove(&owner);
            }
            if !retries.counts(event) {
                continue;
            }
            let in_row = self.in_row.entry(owner).or_default();
            wait_us = wait_us.max(retries.wait_us(*in_row));
            *in_row = in_row.saturating_add(1);
            let failed = self.failed.entry(owner).or_default();
            *failed += 1;
            if *failed < fatal {
                continue;
            }
            fire(bit, retries.scope == Scope::Job);
        }
        self.wait = (0 < wait_us).then_some((task, wait_us));
    }

    /// Takes the time that a task must wait before it is tried again, µs.
    pub(super) fn take_wait_us(&mut self, task: u32) -> i64 {
        self.wait.take().filter(|wait| wait.0 == task).map_or(0, |wait| wait.1)
    }

    /// The limits on the running time of an attempt, µs, with the number of the condition.
    pub(super) fn limits_us(
        &self,
        requested_us: Option<i64>,
    ) -> impl Iterator<Item = (usize, i64)> + '_ {
        let limits = self.limits.iter();
        limits.filter_map(move |(bit, limit, parameter)| {
            Some((*bit, limit.limit_us(*parameter, requested_us)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use crate::replay::cluster::Notice;
    use crate::replay::drawn::drawn;
    use crate::replay::engine::{Plan, replay};
    use crate::replay::journal::Kind;
    use crate::replay::policies::PolicyPlan;
    use crate::replay::properties::{cluster, machine, task, workload};
    use crate::replay::state::Phase;

    proptest! {
        #![proptest_config(ProptestConfig { cases: drawn(4_000), failure_persistence: None, ..ProptestConfig::default() })]

        /// Checks with only the journal: a failed task waits as long as the rule says, and no
        /// attempt of a job begins after one failure too many.
        #[test]
        fn jobs_end_at_one_failure_too_many_and_tries_wait_before(
            tasks in prop::collection::vec(task(), 1..25),
            machines in prop::collection::vec(machine(), 1..4),
            order in prop::sample::select(vec!["fifo", "easy", "conservative", "fair:interval_s=7"]),
            (limit, base_s, max_s) in (0_i64..4, 0_i64..6, 0_i64..20),
            has_evictions in any::<bool>(),
            per in prop::sample::select(vec!["job", "task"]),
        ) {
            let workload = workload(&tasks, 0.0);
            let cluster = cluster(&machines, None, Notice::After(0), false);
            let on = if has_evictions { "fail+evict" } else { "fail" };
            let policy = format!(
                "{order}+kill:k8s:backoff_limit={limit},base_s={base_s},max_s={max_s},on={on},per={per}"
            );
            let policy: PolicyPlan = policy.parse().unwrap();
            let outcome = replay(&Plan { seed: 3, ..Plan::new(&cluster, &workload, &policy) }).unwrap();
            let journal = outcome.journal.unwrap();
            let owner = |task: u32| if per == "job" { workload.job.get(task) } else { task };
            // Failures in total and in a row, by job or by task.
            let (mut all, mut in_row) = (BTreeMap::<u32, i64>::new(), BTreeMap::<u32, u32>::new());
            let mut over = BTreeMap::<u32, i64>::new();
            // When a task failed, and when the tasks that failed at that time may be tried again,
            // µs. If two are lost with one machine, the journal does not show which failure counts
            // first.
            let mut failed_us = BTreeMap::<u32, i64>::new();
            let mut due_us = BTreeMap::<(u32, i64), Vec<i64>>::new();
            for entry in journal.entries() {
                let counts = match entry.kind {
                    Kind::Fail => true,
                    Kind::Evict | Kind::Lost => has_evictions,
                    _ => false,
                };
                let (task, at_us) = (entry.task, entry.at_us);
                if counts {
                    let row = in_row.entry(owner(task)).or_default();
                    let wait_s = (base_s * 2_i64.pow(*row)).min(max_s);
                    failed_us.insert(task, at_us);
                    let due_us = due_us.entry((owner(task), at_us)).or_default();
                    due_us.push(at_us + wait_s * 1_000_000);
                    *row += 1;
                    let failed = all.entry(owner(task)).or_default();
                    *failed += 1;
                    if limit < *failed {
                        over.entry(owner(task)).or_insert(at_us);
                    }
                } else if entry.kind == Kind::Finish {
                    in_row.remove(&owner(task));
                } else if entry.kind == Kind::Start {
                    prop_assert!(over.get(&owner(task)).is_none_or(|&over_us| at_us <= over_us));
                } else if entry.kind == Kind::Submit && let Some(then_us) = failed_us.remove(&task) {
                    let due_us = due_us.get_mut(&(owner(task), then_us)).unwrap();
                    let place = due_us.iter().position(|due_us| *due_us == at_us);
                    prop_assert!(place.is_some(), "task {task} at {at_us}: {due_us:?}");
                    due_us.swap_remove(place.unwrap());
                } else if entry.kind == Kind::Condemn {
                    prop_assert!(over.contains_key(&owner(task)), "only those are condemned");
                }
            }
            prop_assert_eq!(outcome.phase.iter().filter(|phase| **phase == Phase::Delayed).count(), 0);
        }
    }
}

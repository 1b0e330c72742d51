//! Policies side by side, as they are stored and read back, and their sentence.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::answers::sentences::{Capacity, percent};
use crate::digits::{counted, lasting, six_digits};
use crate::replay::experiments::Estimate;
use crate::replay::history::{Counts, Schedule};
use crate::replay::metrics::{GpuFragmentation, GroupRow, Metrics, Moved, Paired, Tolerance};
use crate::results::shares::Terms;
use crate::studies::named::Named;
use crate::studies::queues::LargestQueue;

/// The answer of `replay`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplayAnswer {
    /// Unit of CPU time.
    pub unit: Cow<'static, str>,
    /// The policies, in the order in which the user gave them.
    pub policies: Vec<Replayed>,
    /// The number of machines.
    pub machines: Option<u64>,
    /// What was replayed, and what was left out.
    pub history: Option<Counts>,
    /// The assumptions of the replay.
    pub assumptions: Vec<String>,
    /// The assumptions that decide how close the replay is to the record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisive: Vec<String>,
    /// The recorded schedule of the replayed tasks; `None` if the log records no waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Schedule>,
    /// The processors of a log, if the replay uses its machines as one pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooled_processors: Option<f64>,
    /// The queue with most tasks in such a log; `None` in older results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_queue: Option<LargestQueue>,
    /// The smallest difference of responses that counts.
    pub tolerance: Tolerance,
    /// The numerator and denominator of each share.
    #[serde(flatten)]
    pub terms: Terms,
}

/// The assumption of a replay whose capacity is inferred from the use of the machines.
pub(crate) const FROM_USE: &str = "The log does not record the capacity: it is the most processors \
    ever used at once, so that the machines are full at least once.";

/// The results of one policy: everything under the first seed, and the spread of its figures over
/// several seeds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Replayed {
    /// The policy.
    pub policy: String,
    /// Its metrics.
    pub metrics: Metrics,
    /// CPU time of attempts that were overtaken by a copy, restarted, lost or evicted.
    pub wasted_cpu_s: f64,
    /// The comparison with the first policy, job by job.
    pub against_first: Paired,
    /// The CPU time that a kill rule saved, as a share of the CPU time under the first policy;
    /// `None` if no rule killed a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_saved_share: Option<f64>,
    /// The number of tasks that are larger than any machine.
    pub refused: u64,
    /// The number of instants at which a machine had room, but tasks waited beyond the depth of the
    /// order. `None` for an order without a depth.
    pub depth_cuts: Option<u64>,
    /// When users submit, if the plan includes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<String>,
    /// How much later than recorded jobs were submitted, if the plan includes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submissions: Option<Moved>,
    /// The free GPUs that tasks could not use, if the plan includes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_fragmentation: Option<GpuFragmentation>,
    /// The tasks by size or user, if the plan includes groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupRow>,
    /// The figures over several seeds, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<Named<Option<Estimate>>>,
}

impl Replayed {
    /// The mean response of jobs, s.
    pub(crate) fn response_s(&self) -> Option<f64> {
        Some(self.metrics.job_response_s?.mean)
    }
}

impl ReplayAnswer {
    /// Where the CPU capacity comes from.
    pub(crate) fn capacity(&self) -> Capacity {
        let is_from_use = self.assumptions.iter().any(|assumed| assumed == FROM_USE);
        if is_from_use { Capacity::FromUse } else { Capacity::Recorded }
    }

    /// The difference by which a job must end sooner or later to count: `more than 1 s and 1 % of
    /// their time`.
    pub(crate) fn by_more_than(&self) -> String {
        let Tolerance { seconds, share } = self.tolerance;
        format!("more than {} and {} % of their time", lasting(seconds), six_digits(share * 100.0))
    }

    /// The first policy, and the best of the others (the one with the shortest mean response).
    pub(crate) fn first_and_best(&self) -> Option<[(f64, &Replayed); 2]> {
        let (first, rest) = self.policies.split_first()?;
        let known = rest.iter().filter_map(|row| Some((row.response_s()?, row)));
        let best = known.min_by(|one, other| one.0.total_cmp(&other.0))?;
        Some([(first.response_s()?, first), best])
    }

    /// The sentence with the time that jobs would have taken under the first policy and under the
    /// best of the others.
    pub(crate) fn sentence(&self) -> Option<String> {
        let [(took, first), (best_s, best)] = self.first_and_best()?;
        let waits = |row: &Replayed| row.metrics.waiting_s.is_none_or(|waits| waits.mean != 0.0);
        if !self.policies.iter().any(waits) {
            let names: Vec<&str> = self.policies.iter().map(|row| row.policy.as_str()).collect();
            let share = self.policies.first().and_then(|row| row.metrics.cpu_share_max);
            let most = share.map_or_else(String::new, |share| {
                format!(", at most {} of the CPU is in use", percent(share))
            });
            return Some(format!(
                "Replayed under {}, no task waits{most}, and the policies cannot be distinguished",
                names.join(", ")
            ));
        }
        let other = if best_s == took {
            "the same".to_owned()
        } else {
            format!("{} s", six_digits(best_s))
        };
        let jobs = self.history.map_or_else(|| "jobs".to_owned(), |all| counted(all.jobs, "job"));
        let machines = self.machines.filter(|_| self.history.is_some());
        let machines = machines.map(|machines| counted(machines, "machine"));
        let machines = self.pooled_processors.map(pool).or(machines);
        let on = machines.map(|machines| format!(" on {machines}"));
        Some(format!(
            "Replayed under {}, {jobs}{} would have taken {} s on average; under {}, {other}",
            first.policy,
            on.unwrap_or_default(),
            six_digits(took),
            best.policy,
        ))
    }
}

/// The processors of a log that are one machine in a replay: `one pool of 1,159 processors`.
pub(crate) fn pool(processors: f64) -> String {
    format!("one pool of {} processors", six_digits(processors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::metrics::Spread;

    #[test]
    fn the_first_and_the_best_policy_are_reported() {
        let spread = |mean: f64| Some(Spread { mean, ..Spread::default() });
        let policy = |name: &str, mean: f64, waits: f64| {
            let metrics = Metrics {
                job_response_s: spread(mean),
                waiting_s: spread(waits),
                ..Metrics::default()
            };
            Replayed { policy: name.to_owned(), metrics, ..Replayed::default() }
        };
        let policies =
            vec![policy("fifo", 50.0, 1.0), policy("easy", 30.0, 1.0), policy("fair", 40.0, 1.0)];
        let answer = ReplayAnswer { policies, ..ReplayAnswer::default() };
        assert_eq!(
            answer.sentence().unwrap(),
            "Replayed under fifo, jobs would have taken 50 s on average; under easy, 30 s"
        );
        let policies = vec![policy("fifo", 5.0, 0.0), policy("easy", 5.0, 0.0)];
        let said = ReplayAnswer { policies, ..ReplayAnswer::default() }.sentence().unwrap();
        assert!(said.starts_with("Replayed under fifo, easy, no task waits, and"), "{said}");
    }
}

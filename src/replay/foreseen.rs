//! The kill rule `history` in a replay: predictions from the users' past jobs, in replayed time.
//!
//! In: the recorded outcome of each job ([`JobPasts`]), and tasks as they start and end. Out: the
//! tasks to kill. The rule learns the recorded outcome of a job after the instant at which its last
//! task ends in the replay. It does not learn from a job with a condemned or refused task, because
//! the outcome of that job in the replay is unknown. Of the recorded jobs outside the
//! replay, it uses only those that ended before the first arrival.
//!
//! ```text
//!  recorded   job a  |-------------- FAIL
//!  replayed   job a       |---------------x            known from here on
//!             job b          |-- 60 s --.. no past     ..|-- killed if another of its user began
//! ```

use rustc_hash::{FxHashMap, FxHashSet};

use super::pasts::{JobPast, JobPasts, Pair};
use super::state::{Phase, State};
use super::workload::Workload;
use crate::studies::predict::known::{Known, Reached, ages_us};
use crate::studies::rules::{By, HistoryRule, Rule, Scope};
use crate::units::MICROS_PER_SECOND;

/// The state of the rule during a replay.
#[derive(Debug)]
pub(super) struct HistoryWatch<'a> {
    /// The number of the condition, the rule, and the least chance at which it kills, in per cent.
    rules: Vec<(usize, HistoryRule, f64)>,
    pasts: &'a JobPasts,
    known: Known,
    /// The tasks that are not over, by job.
    left: Vec<u32>,
    /// Whether the replay condemned or refused a task of a job, by job.
    is_cut: Vec<bool>,
    /// The chance of each job when it was submitted.
    chances: Vec<Option<f64>>,
    /// The ages and events that the tasks of a job reached, for jobs with a task that is over.
    reached: FxHashMap<u32, Reached>,
    /// Jobs whose last task ended at an instant: their outcomes are known after it.
    over: (i64, Vec<u32>),
    /// The number of condemned tasks, by condition and job.
    votes: FxHashMap<(usize, u32), usize>,
    /// The tasks that `votes` counts, by condition.
    has_voted: FxHashSet<(usize, u32)>,
}

impl<'a> HistoryWatch<'a> {
    /// Starts with no jobs ended; `None` if no rule uses the past of users.
    pub(super) fn new(conditions: &[(&Rule, i64)], workload: &'a Workload) -> Option<Self> {
        #[expect(clippy::cast_precision_loss, reason = "per cent")]
        let asks = |(bit, (rule, per_cent)): (usize, &(&Rule, i64))| match rule {
            Rule::History(history) => Some((bit, *history, *per_cent as f64)),
            _ => None,
        };
        let rules: Vec<_> = conditions.iter().enumerate().filter_map(asks).collect();
        if rules.is_empty() {
            return None;
        }
        let job_count = workload.job_count();
        let mut left = vec![0; job_count];
        for task in (0..).take(workload.task_count) {
            left[workload.job.get(task) as usize] += 1;
        }
        let mut known = Known::default();
        for &(pair, is_lost) in &workload.pasts.before {
            known.end(pair, is_lost, &Reached::default());
        }
        Some(Self {
            rules,
            pasts: &workload.pasts,
            known,
            left,
            is_cut: vec![false; job_count],
            chances: vec![None; job_count],
            reached: FxHashMap::default(),
            over: (i64::MIN, Vec::new()),
            votes: FxHashMap::default(),
            has_voted: FxHashSet::default(),
        })
    }

    fn pair(&self, job: u32) -> Option<Pair> {
        self.pasts.jobs.get(job as usize)?.pair
    }

    /// Learns the outcomes of the jobs that ended before an instant.
    fn learn_until(&mut self, now_us: i64) {
        if now_us <= self.over.0 {
            return;
        }
        for job in std::mem::take(&mut self.over.1) {
            let JobPast { pair: Some(pair), is_lost: Some(is_lost) } =
                self.pasts.jobs[job as usize]
            else {
                continue;
            };
            let reached = self.reached.remove(&job).unwrap_or_default();
            self.known.end(pair, is_lost, &reached);
        }
    }

    /// A task of a job is submitted.
    pub(super) fn submitted(&mut self, job: u32, now_us: i64) {
        if self.chances[job as usize].is_none()
            && let Some(pair) = self.pair(job)
        {
            self.learn_until(now_us);
            self.chances[job as usize] = Some(self.known.rate(pair));
        }
    }

    /// The times at which a task that begins now is checked, even if it has no event then, µs.
    pub(super) fn looks_us(&self, now_us: i64) -> Vec<i64> {
        let mut ages = Vec::new();
        for (_, rule, _) in &self.rules {
            let after_us = rule.after_s.saturating_mul(MICROS_PER_SECOND);
            ages.push(after_us);
            if rule.by != By::Submission {
                ages.extend(ages_us().filter(|&age_us| after_us < age_us));
            }
        }
        ages.sort_unstable();
        ages.dedup();
        ages.into_iter().map(|age_us| now_us.saturating_add(age_us)).collect()
    }

    /// Checks a task that waits or runs; calls `fire` with each condition that is reached, and with
    /// whether it ends the whole job.
    pub(super) fn look(
        &mut self,
        state: &State<'_>,
        (task, job): (u32, u32),
        mut fire: impl FnMut(usize, bool),
    ) {
        let Some(first_us) = state.tasks.first_start_us[task as usize] else { return };
        let Some(pair) = self.pair(job) else { return };
        self.learn_until(state.now_us);
        let age_us = state.now_us - first_us;
        let events = usize::from(state.tasks.events[task as usize]);
        for &(bit, rule, per_cent) in &self.rules {
            if age_us < rule.after_s.saturating_mul(MICROS_PER_SECOND) {
                continue;
            }
            let chance = match rule.by {
                By::Submission => self.chances[job as usize].unwrap_or(0.0),
                By::Age => self.known.chance(pair, age_us, 0),
                By::Events => self.known.chance(pair, age_us, events),
            };
            if chance * 100.0 < per_cent {
                continue;
            }
            if rule.scope == Scope::Task {
                fire(bit, false);
                continue;
            }
            let votes = self.votes.entry((bit, job)).or_default();
            *votes += usize::from(self.has_voted.insert((bit, task)));
            if rule.tasks <= *votes {
                fire(bit, true);
            }
        }
    }

    /// A task is over.
    pub(super) fn concluded(&mut self, state: &State<'_>, task: u32) {
        let job = state.workload.job.get(task);
        let idx = task as usize;
        self.learn_until(state.now_us);
        if matches!(state.tasks.phase[idx], Phase::Condemned | Phase::Refused) {
            self.is_cut[job as usize] = true;
        } else if let Some(first_us) = state.tasks.first_start_us[idx] {
            // The end is also an event.
            let events = usize::from(state.tasks.events[idx]) + 1;
            self.reached.entry(job).or_default().add(state.now_us - first_us, events);
        }
        self.left[job as usize] -= 1;
        if 0 < self.left[job as usize] {
            return;
        }
        if self.is_cut[job as usize] || self.pasts.jobs.is_empty() {
            self.reached.remove(&job);
            return;
        }
        self.over.0 = state.now_us;
        self.over.1.push(job);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replay::cluster::{Cluster, Notice};
    use crate::replay::drawn::drawn;
    use crate::replay::engine::{Outcome, Plan, replay};
    use crate::replay::policies::PolicyPlan;
    use crate::replay::properties::{cluster, machine, task, workload};
    use crate::replay::workload::{Column, Fate};

    const S: i64 = MICROS_PER_SECOND;

    fn run(workload: &Workload, cluster: &Cluster, policy: &str) -> Outcome {
        let policy: PolicyPlan = policy.parse().unwrap();
        replay(&Plan { seed: 3, ..Plan::new(cluster, workload, &policy) }).unwrap()
    }

    fn lines(outcome: &Outcome, until_us: i64) -> Vec<String> {
        let entries = outcome.journal.as_ref().unwrap().entries();
        let early = entries.filter(|entry| entry.at_us <= until_us);
        early.map(|entry| entry.to_string()).collect()
    }

    fn past(lost: bool) -> JobPast {
        JobPast { pair: Some((0, 0)), is_lost: Some(lost) }
    }

    #[test]
    fn a_task_is_killed_by_what_had_ended_in_the_replay() {
        //  t1  |0 -- 10|           its job is lost
        //  t2  at 10               submitted as t1 ends: its past is empty
        //  t3  at 11, runs from 11: 60 s later it reaches the age of the rule
        let mut workload = Workload::plain(3, Column::Each([10, 100, 100].map(|s| s * S).into()));
        workload.arrival_us = Column::Each([0, 10, 11].map(|s| s * S).into());
        workload.job = Column::Each(vec![0, 1, 2]);
        workload.pasts.jobs = vec![past(true), past(false), past(false)];
        let mut workload = workload.check().unwrap();
        let (two, _) = Cluster::of_speeds(vec![1.0, 1.0]).check().unwrap();
        let condemned = |workload: &Workload, policy: &str| {
            let lines = lines(&run(workload, &two, policy), i64::MAX);
            let is_task = |line: &String| line.contains("condemn t") && !line.contains(" m");
            lines.into_iter().filter(is_task).collect::<Vec<_>>()
        };
        assert_eq!(condemned(&workload, "fifo+kill:history:p=0.9"), ["71 condemn t3"]);
        assert_eq!(condemned(&workload, "fifo+kill:history:p=0.9,after=30"), ["41 condemn t3"]);
        // With `by=age`, the chance of t2 is just as large at that age.
        let both = ["70 condemn t2", "71 condemn t3"];
        assert_eq!(condemned(&workload, "fifo+kill:history:p=0.9,by=age"), both);
        // A job of one task never has two condemned tasks.
        let two_of_job = "fifo+kill:history:p=0.9,per=job,tasks=2";
        assert_eq!(condemned(&workload, two_of_job), [""; 0]);
        // Jobs that ended before the first arrival are known from the start.
        workload.pasts.before = vec![((0, 0), true)];
        let all = ["70 condemn t2", "71 condemn t3"];
        assert_eq!(condemned(&workload, "fifo+kill:history:p=0.9"), all);
        workload.pasts.before = vec![((0, 0), false); 20];
        assert_eq!(condemned(&workload, "fifo+kill:history:p=0.9"), [""; 0]);
    }

    #[test]
    fn a_job_that_was_condemned_teaches_nothing() {
        // The outcomes known at the start kill t1 at 60 s; its recorded outcome would save t2.
        let mut workload = Workload::plain(2, Column::Same(100 * S));
        workload.arrival_us = Column::Each(vec![0, 80 * S]);
        workload.job = Column::Each(vec![0, 1]);
        workload.pasts.jobs = vec![past(false); 2];
        workload.pasts.before = vec![((0, 0), true)];
        let workload = workload.check().unwrap();
        let (one, _) = Cluster::of_speeds(vec![1.0]).check().unwrap();
        let outcome = run(&workload, &one, "fifo+kill:history:p=0.9");
        assert_eq!(outcome.end_us, [Some(60 * S), Some(140 * S)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: drawn(4_000), failure_persistence: None, ..ProptestConfig::default() })]

        /// Promise: the rule does not use the future. If jobs that are over at an instant or later,
        /// and their tasks, have other outcomes, nothing changes up to that instant.
        #[test]
        fn later_ends_change_nothing_before(
            tasks in prop::collection::vec(task(), 1..25),
            machines in prop::collection::vec(machine(), 1..4),
            pairs in prop::collection::vec((0_u32..2, 0_u32..2), 8),
            lost in prop::collection::vec(prop::option::of(any::<bool>()), 8),
            others in prop::collection::vec(prop::option::of(any::<bool>()), 8),
            order in prop::sample::select(vec!["fifo", "priority", "easy", "conservative"]),
            by in prop::sample::select(vec!["submission", "age", "events"]),
            per in prop::sample::select(vec!["task", "job,tasks=1", "job,tasks=2"]),
            (p, after, until_s) in (30_u32..100, 0_u32..20, 0_i64..120),
        ) {
            let mut workload = workload(&tasks, 0.0);
            let cluster = cluster(&machines, None, Notice::After(0), false);
            let of_job = |lost: &[Option<bool>]| -> Vec<JobPast> {
                let jobs = (0..workload.job_count()).map(|job| job % 8);
                jobs.map(|job| JobPast { pair: Some(pairs[job]), is_lost: lost[job] }).collect()
            };
            let (one, another) = (of_job(&lost), of_job(&others));
            let policy = format!("{order}+kill:history:p=0.{p},after={after},by={by},per={per}");
            workload.pasts.jobs = one.clone();
            let first = run(&workload, &cluster, &policy);
            let until_us = until_s * S;
            let mut over_us = vec![0; workload.job_count()];
            for (task, end_us) in (0..).zip(&first.end_us) {
                let over_us: &mut i64 = &mut over_us[workload.job.get(task) as usize];
                *over_us = (*over_us).max(end_us.unwrap_or(i64::MAX));
            }
            let mut changed = workload.clone();
            for (job, &over_us) in over_us.iter().enumerate() {
                if until_us <= over_us {
                    changed.pasts.jobs[job] = another[job];
                }
            }
            let fates = (0..).zip(&first.end_us).map(|(task, end_us)| match workload.fate.get(task) {
                Fate::Finishes if end_us.is_none_or(|end_us| until_us < end_us) => Fate::Fails,
                fate => fate,
            });
            changed.fate = Column::Each(fates.collect());
            let second = run(&changed, &cluster, &policy);
            prop_assert_eq!(lines(&first, until_us), lines(&second, until_us));
        }
    }
}

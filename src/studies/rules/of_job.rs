//! Rules that end a whole job.
//!
//! In: the tasks of a bucket, one after another. Out: by job, the instant at which a rule ends it,
//! for each parameter that ends it. A job ends when its tasks together have failed too often, or
//! when one of them is given up.
//!
//! ```text
//!  k8s:backoff_limit=2    t1  |--x  |--x      pooled: the third failure of the job
//!                         t2  |-------x
//!  spark:max_failures=2   t1  |--x  |--x      the first task with two failures
//! ```

use rustc_hash::FxHashMap;

use super::{Owner, Rule, RuleGrid, Scope};
use crate::facts::tasks::TaskView;

/// When a rule ends the jobs of a bucket.
#[derive(Debug, Default)]
pub struct JobEnds {
    /// By job: the failures of all tasks, if failures are pooled. Otherwise, for each parameter,
    /// the first instant at which a task of the job is given up.
    by_job: FxHashMap<i64, Vec<i64>>,
    times: Vec<i64>,
    /// By job and parameter, the times at which its first tasks are condemned. Only as many are
    /// kept as are needed to end the job.
    condemned: FxHashMap<i64, Vec<Vec<i64>>>,
}

impl RuleGrid {
    /// Whether the rule ends whole jobs.
    pub const fn ends_jobs(&self) -> bool {
        self.rule.ends_jobs()
    }
}

impl Rule {
    /// Whether the rule ends whole jobs.
    pub const fn ends_jobs(&self) -> bool {
        match self {
            Self::Retries(retries) => matches!(retries.scope, Scope::Job),
            Self::History(history) => matches!(history.scope, Scope::Job),
            _ => false,
        }
    }
}

impl JobEnds {
    /// Adds a task, which must not be a spared one.
    pub fn add(&mut self, rule: &RuleGrid, task: &TaskView<'_>, owner: Owner<'_>) {
        if let Rule::History(history) = rule.rule {
            self.times.clear();
            history.kill_times(task, owner, &rule.grid, &mut self.times);
            if self.times.is_empty() {
                return;
            }
            let condemned = self.condemned.entry(task.job_id).or_default();
            condemned.resize_with(condemned.len().max(self.times.len()), Vec::new);
            for (times, &at_us) in condemned.iter_mut().zip(&self.times) {
                times.insert(times.partition_point(|&time| time <= at_us), at_us);
                times.truncate(history.tasks);
            }
            return;
        }
        let Rule::Retries(retries) = &rule.rule else { return };
        let mut failures = retries.failures(task).peekable();
        if failures.peek().is_none() {
            return;
        }
        if retries.is_pooled() {
            self.by_job.entry(task.job_id).or_default().extend(failures);
            return;
        }
        let failures: Vec<i64> = failures.collect();
        self.times.clear();
        retries.kill_times(&failures, &rule.grid, &mut self.times);
        let ends = self.by_job.entry(task.job_id).or_default();
        for (idx, &time) in self.times.iter().enumerate() {
            match ends.get_mut(idx) {
                Some(end) => *end = time.min(*end),
                None => ends.push(time),
            }
        }
    }

    /// Turns pooled failures and condemned tasks into ends of jobs, once all tasks are added.
    pub fn close(&mut self, rule: &RuleGrid) {
        if let Rule::History(history) = rule.rule {
            #[expect(clippy::iter_over_hash_type, reason = "each job by itself")]
            for (&job_id, condemned) in &self.condemned {
                let ends = condemned.iter().map_while(|times| times.get(history.tasks - 1));
                self.by_job.insert(job_id, ends.copied().collect());
            }
            return;
        }
        let Rule::Retries(retries) = &rule.rule else { return };
        if !retries.is_pooled() {
            return;
        }
        #[expect(clippy::iter_over_hash_type, reason = "each job by itself")]
        for failures in self.by_job.values_mut() {
            failures.sort_unstable();
            let mut ends = Vec::new();
            retries.kill_times(failures, &rule.grid, &mut ends);
            *failures = ends;
        }
    }

    /// The instants at which a job is ended, for the first parameters of the grid.
    pub fn of(&self, job_id: i64) -> &[i64] {
        self.by_job.get(&job_id).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::events::Event;
    use crate::schema::EventType;

    /// The ends of a job, from the minutes and types of the events of its tasks.
    fn ends(rule: &str, tasks: &[Vec<(i64, u8)>]) -> Vec<i64> {
        let rule: RuleGrid = rule.parse().unwrap();
        let owner = Owner { chance: Some(0.9), ..Owner::default() };
        let mut ends = JobEnds::default();
        for (task_index, events) in (0..).zip(tasks) {
            let events: Vec<Event> = (0..)
                .zip(events)
                .map(|(row_id, &(minute, kind))| Event {
                    time_us: minute,
                    row_id,
                    event_type: EventType::of(kind).unwrap(),
                    row: 0,
                })
                .collect();
            let task = TaskView {
                job_id: 1,
                task_index,
                events: &events,
                attempts: &[],
                windows: &[],
                priority: 0,
                phase: None,
                requested_us: None,
                job_end_us: None,
            };
            ends.add(&rule, &task, owner);
        }
        ends.close(&rule);
        ends.of(1).to_vec()
    }

    #[test]
    fn a_job_ends_as_its_system_would_end_it() {
        //  minute  1 2 3 4 5 6 7
        //  t1        x   e   x      x fails, e is evicted, l is lost
        //  t2          x   l   x
        let tasks = [vec![(2, 3), (4, 2), (6, 3)], vec![(3, 3), (5, 6), (7, 3)]];
        let check =
            |rule: &str, expected: &[i64]| assert_eq!(ends(rule, &tasks), expected, "{rule}");
        // Kubernetes: more failed pods in the job than the limit.
        check("k8s:backoff_limit={0,1,2,3,4}", &[2, 3, 6, 7]);
        check("k8s:backoff_limit={0,1,2,3,4,5,6},on=fail+evict", &[2, 3, 4, 5, 6, 7]);
        // Spark and Hadoop: the first task with as many failures as the limit.
        check("spark:max_failures={1,2,3}", &[2, 6]);
        // `history`: the job ends with the second condemned task, both scheduled once.
        let started = [vec![(1, 1)], vec![(3, 1)], vec![(4, 0)]];
        let history = |tasks: usize| {
            ends(&format!("history:p={{0.5,0.9,0.95}},after=0,per=job,tasks={tasks}"), &started)
        };
        assert_eq!([history(1), history(2), history(3)], [vec![1, 1], vec![3, 3], vec![]]);
        check("hadoop:max_attempts={1,2,3},on=fail+evict", &[2, 4, 6]);
    }

    proptest! {
        /// Compared with a count of failures, instant by instant.
        #[test]
        fn a_job_ends_when_a_clock_would_see_it_end(
            tasks in prop::collection::vec(prop::collection::vec((0_i64..12, 2_u8..7), 0..6), 1..5),
            counts_evictions: bool,
            is_pooled: bool,
            limit in 1_i64..6,
        ) {
            let mut tasks = tasks;
            for events in &mut tasks {
                events.sort_unstable_by_key(|event| event.0);
            }
            let on = if counts_evictions { ",on=fail+evict" } else { "" };
            let rule = if is_pooled {
                format!("k8s:backoff_limit={limit}{on}")
            } else {
                format!("spark:max_failures={limit}{on}")
            };
            let counted = |kind: u8| kind == 3 || (counts_evictions && [2, 6].contains(&kind));
            let failed = |events: &Vec<(i64, u8)>, now: i64| -> i64 {
                let past = events.iter().filter(|event| event.0 <= now);
                past.map(|event| i64::from(counted(event.1))).sum()
            };
            let is_over = |now: i64| if is_pooled {
                limit < tasks.iter().map(|events| failed(events, now)).sum()
            } else {
                tasks.iter().any(|events| limit <= failed(events, now))
            };
            let expected: Vec<i64> = (0..12).find(|&now| is_over(now)).into_iter().collect();
            prop_assert_eq!(ends(&rule, &tasks), expected);
        }
    }
}

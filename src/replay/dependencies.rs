//! Dependencies between tasks of a job: stages, and the stages that must end before them.
//!
//! In: the stage of each task, and pairs of stages. Out: [`Dependencies`]. A task may start once
//! all tasks of the stages before its own are over, however they ended.
//!
//! ```text
//!  M1  |=====|                M1, M2 and J3_1_2: J3 waits for both
//!  M2  |==|
//!  J3        |===|
//! ```

use super::column::{Column, NONE};

/// Lists of numbers, one per owner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lists {
    /// The start of each owner's list, and the end of the last list.
    first: Vec<usize>,
    numbers: Vec<u32>,
}

impl Lists {
    /// Groups (owner, number) pairs by owner; the numbers of an owner keep their order.
    pub fn new(owner_count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut first = vec![0; owner_count + 1];
        for (owner, _) in pairs.clone() {
            first[owner as usize + 1] += 1;
        }
        for owner in 1..first.len() {
            first[owner] += first[owner - 1];
        }
        let mut next = first.clone();
        let mut numbers = vec![0; first[owner_count]];
        for (owner, number) in pairs {
            let place = &mut next[owner as usize];
            numbers[*place] = number;
            *place += 1;
        }
        Self { first, numbers }
    }

    /// The numbers of an owner.
    pub fn of(&self, owner: u32) -> &[u32] {
        &self.numbers[self.first[owner as usize]..self.first[owner as usize + 1]]
    }

    /// The number of owners.
    pub fn owner_count(&self) -> usize {
        self.first.len().saturating_sub(1)
    }
}

/// Which tasks wait for which other tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependencies {
    /// The stage of each task; `NONE` if it waits for no task and no task waits for it.
    pub stage: Column<u32>,
    /// The stages that must be over before each stage.
    before: Lists,
    /// The stages that wait for each stage.
    after: Lists,
}

impl Default for Dependencies {
    fn default() -> Self {
        let (before, after) = (Lists::default(), Lists::default());
        Self { stage: Column::Same(NONE), before, after }
    }
}

impl Dependencies {
    /// Dependencies among `stage_count` stages, by pairs of (stage, a stage before it). The pairs
    /// must not form a cycle: its tasks would wait forever.
    pub fn new(stage: Column<u32>, stage_count: usize, pairs: &[(u32, u32)]) -> Self {
        let turned = pairs.iter().map(|&(stage, before)| (before, stage));
        let before = Lists::new(stage_count, pairs.iter().copied());
        Self { stage, before, after: Lists::new(stage_count, turned) }
    }

    /// Whether no task waits for another.
    pub fn is_empty(&self) -> bool {
        self.before.numbers.is_empty()
    }

    /// The number of stages.
    pub fn stage_count(&self) -> usize {
        self.before.owner_count()
    }

    /// The stages that must be over before a stage.
    pub fn before(&self, stage: u32) -> &[u32] {
        self.before.of(stage)
    }

    /// The stages that wait for a stage.
    pub fn after(&self, stage: u32) -> &[u32] {
        self.after.of(stage)
    }

    /// Whether a task waits for others, or has waited.
    pub fn waits(&self, task: u32) -> bool {
        let stage = self.stage.get(task);
        stage != NONE && !self.before(stage).is_empty()
    }
}

/// A stage, and a stage before it.
type Pair = (u32, u32);

/// The dependencies of a log that can be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Each pair once.
    pub pairs: Vec<(u32, u32)>,
    /// The number of dependencies left out because the other stage does not exist.
    pub without_other: u64,
    /// The number of dependencies left out because both stages are in or behind a cycle.
    pub circular: u64,
}

impl Kept {
    /// Selects from pairs of (stage, stage before it). The second is `None` if it does not exist;
    /// pairs may be repeated.
    pub fn of(stage_count: usize, mut pairs: Vec<(u32, Option<u32>)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let all = pairs.len();
        let pairs: Vec<Pair> =
            pairs.into_iter().filter_map(|(stage, other)| Some((stage, other?))).collect();
        let kept = without_circles(stage_count, &pairs);
        Self {
            without_other: (all - pairs.len()) as u64,
            circular: (pairs.len() - kept.len()) as u64,
            pairs: kept,
        }
    }
}

/// The pairs without cycles: a pair is dropped if both of its stages are in or behind a cycle.
fn without_circles(stage_count: usize, pairs: &[Pair]) -> Vec<Pair> {
    let after = Lists::new(stage_count, pairs.iter().map(|&(stage, before)| (before, stage)));
    let mut open = vec![0_u32; stage_count];
    for &(stage, _) in pairs {
        open[stage as usize] += 1;
    }
    let mut free: Vec<u32> =
        (0..).take(stage_count).filter(|&stage| open[stage as usize] == 0).collect();
    while let Some(stage) = free.pop() {
        for &next in after.of(stage) {
            open[next as usize] -= 1;
            if open[next as usize] == 0 {
                free.push(next);
            }
        }
    }
    let is_stuck = |stage: u32| 0 < open[stage as usize];
    let kept = pairs.iter().filter(|(stage, before)| !is_stuck(*stage) || !is_stuck(*before));
    kept.copied().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::replay::cluster::Cluster;
    use crate::replay::drawn::drawn;
    use crate::replay::engine::{Outcome, Plan, replay};
    use crate::replay::journal::Kind;
    use crate::replay::metrics::{fates, job_ends};
    use crate::replay::policies::PolicyPlan;
    use crate::replay::properties::{cluster, machine, notice, task, workload};
    use crate::replay::workload::{Fate, Workload};
    use crate::units::MICROS_PER_SECOND;

    const S: i64 = MICROS_PER_SECOND;

    fn lines(outcome: &Outcome) -> Vec<String> {
        let entries = outcome.journal.as_ref().unwrap().entries();
        let shown = entries.filter(|entry| entry.kind != Kind::Submit);
        shown.map(|entry| entry.to_string()).collect()
    }

    #[test]
    fn a_task_starts_once_all_before_it_are_over_however_they_ended() {
        //  t3 and t6 wait for t1 and t2, and t4 for t3 and t6; t5 is of another job
        //  m1  |0 ---- t1 fails ---- 4|4 --- t3 --- 7|
        //  m2  |0 t2 2|2 ---- t5 ---- 5|5 t6 6|      |7 --- t4 --- 10|
        //  t1, t2 and t3 arrive at 0, t4 and t5 at 1, t6 at 5
        let mut workload =
            Workload::plain(6, Column::Each([4, 2, 3, 3, 3, 1].map(|s| s * S).into()));
        workload.arrival_us = Column::Each([0, 0, 0, 1, 1, 5].map(|s| s * S).into());
        workload.job = Column::Each(vec![0, 0, 0, 0, 1, 0]);
        let mut fates_of = vec![Fate::Finishes; 6];
        fates_of[0] = Fate::Fails;
        workload.fate = Column::Each(fates_of);
        let stage = Column::Each(vec![0, 1, 2, 3, NONE, 2]);
        workload.dependencies = Dependencies::new(stage, 4, &[(2, 0), (2, 1), (3, 2)]);
        let workload = workload.check().unwrap();
        let (cluster, _) = Cluster::of_speeds(vec![1.0, 1.0]).check().unwrap();
        let policy: PolicyPlan = "fifo".parse().unwrap();
        let outcome = replay(&Plan::new(&cluster, &workload, &policy)).unwrap();
        assert_eq!(
            lines(&outcome),
            [
                "0 start t1 m1",
                "0 start t2 m2",
                "2 finish t2 m2",
                "2 start t5 m2",
                "4 fail t1 m1",
                "4 start t3 m1",
                "5 finish t5 m2",
                "5 start t6 m2",
                "6 finish t6 m2",
                "7 finish t3 m1",
                "7 start t4 m2",
                "10 finish t4 m2",
            ]
        );
        // The job lasts from the submission of its first tasks to its last end.
        let ends = job_ends(&fates(outcome.journal.as_ref().unwrap(), 6), &workload);
        assert_eq!(ends[0].response_s, Some(10.0));
    }

    #[test]
    fn a_long_chain_is_condemned_with_its_job() {
        //  t1  |0 ---- fails ---- 1|
        //  t2, which waits for t1, t3, which waits for t2, and so on are condemned at 1
        let stage_count = 50_000_u32;
        let task_count = stage_count as usize;
        let mut workload = Workload::plain(task_count, Column::Same(S));
        workload.job = Column::Same(0);
        let mut fates = vec![Fate::Finishes; task_count];
        fates[0] = Fate::Fails;
        workload.fate = Column::Each(fates);
        let pairs: Vec<_> = (1..stage_count).map(|stage| (stage, stage - 1)).collect();
        let stages = Column::Each((0..stage_count).collect());
        workload.dependencies = Dependencies::new(stages, task_count, &pairs);
        let workload = workload.check().unwrap();
        let (cluster, _) = Cluster::of_speeds(vec![1.0]).check().unwrap();
        let policy: PolicyPlan = "fifo+kill:spark=1".parse().unwrap();
        let outcome = replay(&Plan::new(&cluster, &workload, &policy)).unwrap();
        let shown: Vec<String> =
            outcome.journal.unwrap().entries().map(|entry| entry.to_string()).collect();
        let condemned = (2..=stage_count).map(|task| format!("1 condemn t{task}"));
        let first = ["0 submit t1", "0 start t1 m1", "1 fail t1 m1"].map(str::to_owned);
        assert!(first.into_iter().chain(condemned).eq(shown));
    }

    #[test]
    fn a_late_task_of_an_ended_job_is_condemned_when_it_arrives() {
        //  t1  |0 ---- fails ---- 1|          its job ends at 1
        //  t2 of the job arrives at 2, and waits for t3, which arrives at 5
        let mut workload = Workload::plain(3, Column::Same(S));
        workload.arrival_us = Column::Each([0, 2, 5].map(|s| s * S).into());
        workload.job = Column::Same(0);
        workload.fate = Column::Each(vec![Fate::Fails, Fate::Finishes, Fate::Finishes]);
        workload.dependencies = Dependencies::new(Column::Each(vec![NONE, 1, 0]), 2, &[(1, 0)]);
        let workload = workload.check().unwrap();
        let (cluster, _) = Cluster::of_speeds(vec![1.0]).check().unwrap();
        let policy: PolicyPlan = "fifo+kill:spark=1".parse().unwrap();
        let outcome = replay(&Plan::new(&cluster, &workload, &policy)).unwrap();
        let expected = ["0 start t1 m1", "1 fail t1 m1", "2 condemn t2", "5 condemn t3"];
        assert_eq!(lines(&outcome), expected);
    }

    /// A job ends when a task has failed `fatal` times. Checks with the journal that all its tasks
    /// are over at that time, or when they arrive.
    fn check_ended_jobs(
        workload: &Workload,
        outcome: &Outcome,
        fatal: u32,
    ) -> Result<(), TestCaseError> {
        let (mut failed, mut ended_us) = (BTreeMap::new(), BTreeMap::new());
        for entry in outcome.journal.as_ref().unwrap().entries() {
            if entry.kind == Kind::Fail {
                let count = failed.entry(entry.task).or_insert(0);
                *count += 1;
                if *count == fatal {
                    ended_us.entry(workload.job.get(entry.task)).or_insert(entry.at_us);
                }
            }
        }
        for (task, end_us) in (0..).zip(&outcome.end_us) {
            if let Some(&ended_us) = ended_us.get(&workload.job.get(task)) {
                let latest_us = ended_us.max(workload.arrival_us.get(task));
                prop_assert!(end_us.is_some_and(|end_us| end_us <= latest_us), "{task}");
            }
        }
        Ok(())
    }

    const POLICIES: [&str; 10] = [
        "fifo",
        "priority",
        "easy",
        "conservative",
        "sjf",
        "fair:interval_s=7",
        "fifo+wqr:copies=1",
        "fifo+kill:failures=2",
        "fifo+kill:spark=1",
        "fifo+kill:spark=2",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: drawn(4_000), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_task_starts_before_those_before_it_are_over(
            tasks in prop::collection::vec((task(), 0_u32..6), 1..30),
            pairs in prop::collection::btree_set((0_u32..6, 0_u32..6), 1..8),
            machines in prop::collection::vec(machine(), 1..4),
            notice in notice(),
            policy_text in prop::sample::select(POLICIES.to_vec()),
        ) {
            let (tasks, stages): (Vec<_>, Vec<u32>) = tasks.into_iter().unzip();
            let free = workload(&tasks, 0.0);
            // The stages of the tasks in the order of arrival.
            let sorted = (0..tasks.len()).map(|task| match free.origin.get(task) {
                Some(&given) => stages[given as usize],
                None => stages[task],
            });
            let stage = Column::Each(sorted.collect());
            // Pairs that point to lower numbers form no cycle.
            let pairs: Vec<(u32, u32)> =
                pairs.into_iter().filter(|(stage, before)| before < stage).collect();
            let cluster = cluster(&machines, None, notice, false);
            let policy: PolicyPlan = policy_text.parse().unwrap();
            let run = |workload: &Workload| {
                replay(&Plan { seed: 3, ..Plan::new(&cluster, workload, &policy) }).unwrap()
            };
            let mut bound = free.clone();
            bound.dependencies = Dependencies::new(stage.clone(), 6, &pairs);
            let outcome = run(&bound);
            for task in 0..bound.task_count {
                let Some(start_us) = outcome.first_start_us[task] else { continue };
                for other in 0..bound.task_count {
                    let own = stage.get(u32::try_from(task).unwrap());
                    let before = stage.get(u32::try_from(other).unwrap());
                    if pairs.contains(&(own, before)) {
                        let end_us = outcome.end_us[other];
                        prop_assert!(end_us.is_some_and(|end_us| end_us <= start_us), "{task} {other}");
                    }
                }
            }
            if let Some(of_job) = policy_text.strip_prefix("fifo+kill:spark=") {
                check_ended_jobs(&bound, &outcome, of_job.parse().unwrap())?;
            }
            // Without dependencies, stages do not change the journal.
            bound.dependencies = Dependencies::new(stage, 6, &[]);
            prop_assert_eq!(run(&bound), run(&free));
        }

        /// The kept pairs form no cycle. A pair is kept if one of its stages is neither in nor
        /// behind a cycle.
        #[test]
        fn only_circles_are_left_out(
            pairs in prop::collection::btree_set((0_u32..8, 0_u32..8), 0..16),
        ) {
            let pairs: Vec<Pair> = pairs.into_iter().collect();
            let kept = without_circles(8, &pairs);
            // Which stages can be reached from which, by Warshall's algorithm.
            let reach = |pairs: &[Pair]| {
                let mut reached = [[false; 8]; 8];
                for &(stage, before) in pairs {
                    reached[stage as usize][before as usize] = true;
                }
                for via in 0..8 {
                    for from in 0..8 {
                        for to in 0..8 {
                            reached[from][to] |= reached[from][via] && reached[via][to];
                        }
                    }
                }
                reached
            };
            let (before, after) = (reach(&pairs), reach(&kept));
            prop_assert!((0..8).all(|stage| !after[stage][stage]));
            // A stage with no cycle before it keeps all its dependencies.
            for &(stage, other) in &pairs {
                let is_sound = |stage: usize| {
                    !before[stage][stage] && (0..8).all(|o| !before[stage][o] || !before[o][o])
                };
                if is_sound(stage as usize) || is_sound(other as usize) {
                    prop_assert!(kept.contains(&(stage, other)));
                }
            }
        }
    }
}

//! Runs policies over one history, and compares each with the first.
//!
//! In: what is replayed, and policies. Out: runs, and what is said of them.

use rayon::prelude::*;

use crate::answers::Said;
use crate::answers::replay::{Run, Setting};
use crate::digits;
use crate::progress;
use crate::replay::cluster::Cluster;
use crate::replay::engine::{Plan, replay};
use crate::replay::history::History;
use crate::replay::metrics::{Paired, Tolerance, measure_with_jobs, pair};
use crate::replay::policies::PolicyPlan;

/// Stretches of time in the pictures.
pub(crate) const SAMPLES: usize = 120;

/// Jobs whose tasks need more different machines than there are: some of them have to
/// wait for others, and whoever waits behind them in a strict order as well.
pub fn warning_of_apart(history: &History, cluster: &Cluster) -> Option<Said> {
    let workload = &history.workload;
    let mut tasks = vec![0_usize; workload.job_count()];
    for task in (0..).take(workload.task_count).filter(|&task| workload.is_apart.get(task)) {
        tasks[workload.job.get(task) as usize] += 1;
    }
    let count = tasks.iter().filter(|&&tasks| cluster.machine_count() < tasks).count();
    (0 < count).then(|| {
        Said::warning(format!(
            "{} need more different machines than the cluster has, and block all tasks that wait behind them",
            digits::counted(count as u64, "job")
        ))
    })
}

/// What is replayed and what was assumed.
pub fn tell(setting: &Setting, seconds: f64) -> Vec<Said> {
    let Setting { history, cluster, remarks, .. } = setting;
    let mut said = vec![Said::note(format!(
        "{} of {} on {}, read in {seconds:.1} s",
        digits::counted(history.counts.tasks, "task"),
        digits::counted(history.counts.jobs, "job"),
        digits::counted(cluster.machine_count() as u64, "machine"),
    ))];
    said.extend(history.assumptions.iter().cloned().map(Said::Assumption));
    said.extend(remarks.iter().take(3).map(|remark| Said::warning(format!("left out: {remark}"))));
    if 3 < remarks.len() {
        let more = remarks.len() - 3;
        said.push(Said::warning(format!("and {more} more changes of machines")));
    }
    said
}

/// Replays every policy, each beside the first.
pub fn replay_all(
    policies: &[&(String, PolicyPlan)],
    setting: &Setting,
    seed: u64,
    tolerance: Tolerance,
) -> Vec<Run> {
    let mut runs: Vec<Run> =
        policies.par_iter().map(|named| replay_one(named, setting, seed)).collect();
    let paired: Vec<Paired> =
        runs.iter().map(|run| pair(&run.jobs, &runs[0].jobs, tolerance)).collect();
    for (run, paired) in runs.iter_mut().zip(paired) {
        run.paired = paired;
    }
    runs
}

pub(crate) fn replay_one(
    (name, policy): &(String, PolicyPlan),
    setting: &Setting,
    seed: u64,
) -> Run {
    let started = progress::now();
    let Setting { history, cluster, .. } = setting;
    let workload = &history.workload;
    let plan = Plan { seed, ..Plan::new(cluster, workload, policy) };
    let outcome = replay(&plan);
    let seconds = started.elapsed().as_secs_f64();
    let journal = outcome.journal.unwrap_or_default();
    let (metrics, jobs) = measure_with_jobs(&journal, workload, cluster, SAMPLES);
    Run {
        policy: name.clone(),
        metrics,
        jobs,
        groups: Vec::new(),
        paired: Paired::default(),
        refused: outcome.refused,
        depth_cuts: outcome.depth_cuts,
        journal,
        seconds,
        events: outcome.events,
    }
}

/// How long a replay took and which tasks it could not run.
pub fn report(run: &Run, history: &History) -> Vec<Said> {
    let mut said = vec![Said::note(format!(
        "{}: {} events in {:.1} s",
        run.policy,
        digits::grouped(run.events),
        run.seconds
    ))];
    if !run.refused.is_empty() {
        let some = run.refused.iter().take(3).map(|&task| {
            let (job, number) = history.ids[task as usize];
            format!("{job}/{number}")
        });
        said.push(Said::warning(format!(
            "{}: larger than any machine and never started: {}, such as {}",
            run.policy,
            digits::counted(run.refused.len() as u64, "task"),
            some.collect::<Vec<String>>().join(", ")
        )));
    }
    let left = history.workload.task_count - run.metrics.over;
    if 0 < left {
        said.push(Said::warning(format!(
            "{}: never finish, because no remaining machine can run them: {}",
            run.policy,
            digits::counted(left as u64, "task")
        )));
    }
    said
}

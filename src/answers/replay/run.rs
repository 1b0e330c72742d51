//! Replays policies on one history, and compares each with the first.
//!
//! In: a workload and policies. Out: runs, and notes about them.

use rayon::prelude::*;

use crate::answers::Said;
use crate::answers::replay::{Run, Setting};
use crate::digits::{self, lasting, three_digits};
use crate::progress;
use crate::replay::cluster::Cluster;
use crate::replay::engine::{Plan, replay};
use crate::replay::feedback::{Arrivals, Feedback};
use crate::replay::history::{History, Schedule};
use crate::replay::metrics::{
    Moved, Paired, STRETCHES, Tolerance, gpu_fragmentation, measure_with_jobs, moved, pair,
};
use crate::replay::policies::PolicyPlan;

/// A warning if jobs need more different machines than there are. Some of their tasks wait for
/// others, and in a strict order all tasks behind them wait, too.
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

/// Notes about what is replayed, what was assumed, and what was left out.
pub fn tell(setting: &Setting, seconds: f64) -> Vec<Said> {
    let Setting { history, cluster, remarks, .. } = setting;
    let mut said = vec![Said::note(format!(
        "{} of {} on {}, read in {seconds:.1} s",
        digits::counted(history.counts.tasks, "task"),
        digits::counted(history.counts.jobs, "job"),
        digits::counted(cluster.machine_count() as u64, "machine"),
    ))];
    said.extend(history.schedule.as_ref().and_then(told).map(Said::note));
    said.extend(history.assumptions.iter().cloned().map(Said::Assumption));
    said.extend(remarks.iter().take(3).map(|remark| Said::warning(format!("left out: {remark}"))));
    if 3 < remarks.len() {
        let more = remarks.len() - 3;
        said.push(Said::warning(format!("and {more} more changes of machines")));
    }
    said
}

/// The recorded schedule in a sentence.
fn told(record: &Schedule) -> Option<String> {
    Some(format!(
        "in the record, tasks waited {} on average, with a mean bounded slowdown of {}, and jobs took \
        {}",
        lasting(record.waiting_s?.mean),
        three_digits(record.bounded_slowdown?.mean),
        lasting(record.job_response_s?.mean)
    ))
}

/// When users submit, and which jobs then follow others; `None` if the plan does not include it.
type Reaction<'a> = Option<&'a (Arrivals, Option<Feedback>)>;

/// Replays every policy under all arrivals, and compares each with the first.
pub fn replay_all(
    policies: &[&(String, PolicyPlan)],
    setting: &Setting,
    seed: u64,
    tolerance: Tolerance,
) -> Vec<Run> {
    let reactions: Vec<Reaction<'_>> = match setting.arrivals.as_slice() {
        [] => vec![None],
        several => several.iter().map(Some).collect(),
    };
    let kinds: Vec<(&(String, PolicyPlan), Reaction<'_>)> =
        policies.iter().flat_map(|&named| reactions.iter().map(move |&how| (named, how))).collect();
    let mut runs: Vec<Run> =
        kinds.par_iter().map(|&(named, how)| replay_one(named, setting, how, seed)).collect();
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
    how: Reaction<'_>,
    seed: u64,
) -> Run {
    let started = progress::now();
    let Setting { history, cluster, .. } = setting;
    let workload = &history.workload;
    let feedback = how.and_then(|(_, feedback)| feedback.as_ref());
    let plan = Plan { feedback, seed, ..Plan::new(cluster, workload, policy) };
    let outcome = replay(&plan).expect("a policy in words has periods, and its GPUs were checked");
    let seconds = started.elapsed().as_secs_f64();
    let journal = outcome.journal.unwrap_or_default();
    let (metrics, jobs) = measure_with_jobs(&journal, workload, cluster, STRETCHES);
    let gpus = || gpu_fragmentation(&journal, workload, cluster, STRETCHES);
    Run {
        policy: name.clone(),
        gpus: setting.has_fragmentation.then(gpus).flatten(),
        arrivals: how.map(|(arrivals, _)| *arrivals),
        label: match how {
            Some((arrivals, _)) if 1 < setting.arrivals.len() => format!("{name} ({arrivals})"),
            _ => name.clone(),
        },
        moved: how.map_or_else(Moved::default, |_| moved(&journal, workload)),
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

/// Notes about the time that a replay took, and the tasks that it could not run.
pub fn report(run: &Run, history: &History) -> Vec<Said> {
    let mut said = vec![Said::note(format!(
        "{}: {} events in {:.1} s",
        run.label,
        digits::grouped(run.events),
        run.seconds
    ))];
    if !run.refused.is_empty() {
        let some = run.refused.iter().take(3).map(|&task| {
            let (job, number) = history.ids[task as usize];
            format!("{job}/{number}")
        });
        let count = run.refused.len() as u64;
        let gpus = &history.workload.gpus;
        let asks = run.refused.iter().any(|&task| !gpus.get(task).is_none());
        said.push(Said::warning(format!(
            "{}: {} never {}{}, such as {}",
            run.label,
            digits::counted(count, "task"),
            match (count, asks) {
                (1, false) => "starts because it is larger than any machine",
                (_, false) => "start because they are larger than any machine",
                (1, true) => "starts",
                (_, true) => "start",
            },
            if asks { " because no machine is large enough or has the GPUs" } else { "" },
            some.collect::<Vec<String>>().join(", ")
        )));
    }
    let left = history.workload.task_count - run.metrics.over;
    if 0 < left {
        said.push(Said::warning(format!(
            "{}: {} never {}{}",
            run.label,
            digits::counted(left as u64, "task"),
            if left == 1 {
                "finishes because no remaining machine can run it"
            } else {
                "finish because no remaining machine can run them"
            },
            match run.arrivals {
                Some(Arrivals::Closed { .. }) => " or the jobs that they follow",
                _ => "",
            }
        )));
    }
    said
}

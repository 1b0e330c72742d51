//! Task completions per second of the replay: the plain work queue and the one with copies, at
//! constant speeds from 1 to 16. `tests/bench/replay.py` runs it beside other simulators.
//!
//! `replay TASKS MACHINES POLICY RUNS` prints the best and the median of `RUNS` and the makespan.

use std::time::Instant;

use jobfate::replay::cluster::Cluster;
use jobfate::replay::engine::{Keep, Plan, replay};
use jobfate::replay::policies::PolicyPlan;
use jobfate::replay::workload::{Column, Workload};

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 tasks")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tasks, machines, policy, runs] = arguments.as_slice() else {
        return Err("usage: replay TASKS MACHINES POLICY RUNS".into());
    };
    let (tasks, machines): (usize, u32) = (tasks.parse()?, machines.parse()?);
    let (policy, runs): (PolicyPlan, usize) = (policy.parse()?, runs.parse()?);
    // The same formula in every simulator of the comparison.
    let speeds =
        (0..machines).map(|idx| 1.0 + 15.0 * f64::from(idx * 37 % machines) / f64::from(machines));
    let (cluster, _) = Cluster::of_speeds(speeds.collect()).check()?;
    let workload = Workload::plain(tasks, Column::Same(100_000_000)).check()?;
    let plan = Plan { journal: Keep::Sums, ..Plan::new(&cluster, &workload, &policy) };
    let mut seconds = Vec::new();
    let mut makespan_us = None;
    for _ in 0..runs.max(1) {
        let begun = Instant::now();
        let outcome = replay(&plan);
        seconds.push(begun.elapsed().as_secs_f64());
        makespan_us = outcome.makespan_us;
    }
    seconds.sort_unstable_by(f64::total_cmp);
    let rate = |seconds: f64| tasks as f64 / seconds;
    println!(
        "jobfate {tasks} {machines} {policy} best={:.0} median={:.0} makespan_s={:.6}",
        rate(seconds[0]),
        rate(seconds[seconds.len() / 2]),
        makespan_us.unwrap_or(-1) as f64 / 1e6
    );
    Ok(())
}

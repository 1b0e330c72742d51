//! Task completions per second of the replay: the plain work queue and the one with copies, at
//! constant speeds from 1 to 16. `tests/bench/replay.py` compares it with other simulators.
//!
//! `replay TASKS MACHINES POLICY RUNS` prints the best and the median of `RUNS` and the makespan.
//!
//! `replay costs RUNS` prints the cost of one task as Markdown, for tasks that request different
//! amounts. The costs are by the number of machines, of waiting tasks, and of running tasks per
//! machine.

use std::time::Instant;

use jobfate::replay::cluster::Cluster;
use jobfate::replay::engine::{Keep, Plan, replay};
use jobfate::replay::policies::PolicyPlan;
use jobfate::replay::workload::{Column, UNITS, Workload};

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 tasks")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, runs] = arguments.as_slice()
        && word == "costs"
    {
        return costs(runs.parse()?);
    }
    let [tasks, machines, policy, runs] = arguments.as_slice() else {
        return Err("usage: replay TASKS MACHINES POLICY RUNS | replay costs RUNS".into());
    };
    let (tasks, machines): (usize, u32) = (tasks.parse()?, machines.parse()?);
    let (policy, runs): (PolicyPlan, usize) = (policy.parse()?, runs.parse()?);
    // The same formula in every simulator of the comparison.
    let speeds =
        (0..machines).map(|idx| 1.0 + 15.0 * f64::from(idx * 37 % machines) / f64::from(machines));
    let (cluster, _) = Cluster::of_speeds(speeds.collect()).check()?;
    let workload = Workload::plain(tasks, Column::Same(100_000_000)).check()?;
    let plan = Plan::new(&cluster, &workload, &policy).keep(Keep::Sums);
    let mut seconds = Vec::new();
    let mut makespan_us = None;
    for _ in 0..runs.max(1) {
        let begun = Instant::now();
        let outcome = replay(&plan)?;
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

/// Policies whose costs are shown.
const POLICIES: [&str; 5] = [
    "fifo",
    "fifo:depth=100",
    "fifo:depth=100+best-fit",
    "priority:depth=100",
    "fifo:depth=100+late:heartbeat_s=60",
];

/// The workload: tasks of about ten minutes in jobs of twenty.
#[derive(Clone, Copy, Debug)]
struct Size {
    tasks: usize,
    machines: usize,
    /// The number of tasks that fit on one machine, on average.
    per_machine: u64,
    /// The number of waiting tasks if all arrive at the same time; otherwise tasks arrive over time
    /// and keep nine tenths of the machines busy.
    waiting: Option<usize>,
}

impl Size {
    fn workload(self) -> Result<Workload, Box<dyn std::error::Error>> {
        // A linear congruential generator, so that the tasks are the same on every computer.
        let mut seed = 1_u64;
        let mut draw = |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut work_us = Vec::new();
        let (mut cpu, mut memory, mut priority) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.tasks {
            // Every tenth takes three times as long.
            let stretch = if draw(10) == 0 { 3 } else { 1 };
            work_us.push(i64::try_from((300 + draw(600)) * stretch)? * 1_000_000);
            cpu.push((1 + draw(8)) * UNITS / (9 * self.per_machine));
            memory.push((1 + draw(8)) * UNITS / (9 * self.per_machine));
            priority.push(Some(i32::try_from(draw(4))?));
        }
        let mut workload = Workload::plain(self.tasks, Column::Each(work_us));
        let count = u32::try_from(self.tasks)?;
        let jobs: Vec<u32> = (0..count).map(|task| task / 20).collect();
        (workload.job, workload.group) = (Column::Each(jobs.clone()), Column::Each(jobs));
        if self.waiting.is_none() {
            // Tasks take about 720 s; with their mean request, a machine holds twice `per_machine`
            // of them.
            let gap_us = 720_000_000 * 10 / 9 / (2 * self.machines as u64 * self.per_machine);
            let gap_us = i64::try_from(gap_us.max(1))?;
            workload.arrival_us =
                Column::Each((0..).map(|nth| nth * gap_us).take(self.tasks).collect());
        }
        (workload.cpu, workload.memory) = (Column::Each(cpu), Column::Each(memory));
        workload.priority = Column::Each(priority);
        Ok(workload.check()?)
    }

    /// Median time per task, µs.
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 tasks")]
    fn cost_us(self, policy: &str, runs: usize) -> Result<f64, Box<dyn std::error::Error>> {
        let mut cluster = Cluster::of_speeds(vec![1.0; self.machines]);
        cluster.memory = vec![Some(UNITS); self.machines];
        let (cluster, _) = cluster.check()?;
        let (workload, policy): (Workload, PolicyPlan) = (self.workload()?, policy.parse()?);
        // If all tasks wait from the start, only the starts of a few rounds are measured.
        let until_us = if self.waiting.is_some() { 7_200_000_000 } else { i64::MAX };
        let plan = Plan::new(&cluster, &workload, &policy).keep(Keep::Sums).until(until_us);
        let mut costs_us = Vec::new();
        for _ in 0..runs.max(1) {
            let begun = Instant::now();
            let outcome = replay(&plan)?;
            let started = outcome.first_start_us.iter().flatten().count().max(1);
            costs_us.push(begun.elapsed().as_secs_f64() * 1e6 / started as f64);
        }
        costs_us.sort_unstable_by(f64::total_cmp);
        Ok(costs_us[costs_us.len() / 2])
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn costs(runs: usize) -> Result<(), Box<dyn std::error::Error>> {
    let usual = Size { tasks: 200_000, machines: 1_000, per_machine: 8, waiting: None };
    let machines = [100, 1_000, 10_000, 100_000].map(|machines| Size { machines, ..usual });
    let waiting = [10, 1_000, 100_000, 1_000_000].map(|waiting| Size {
        tasks: waiting + 1_600,
        machines: 100,
        waiting: Some(waiting),
        ..usual
    });
    let running = [1, 4, 16, 64, 256].map(|per_machine| Size { per_machine, ..usual });
    let rows = |sizes: &[Size], count: fn(&Size) -> u64, title: &str| {
        println!("| {title} | {} |\n|---|{}", POLICIES.join(" | "), "---:|".repeat(POLICIES.len()));
        for size in sizes {
            let costs_us: Result<Vec<f64>, _> =
                POLICIES.iter().map(|policy| size.cost_us(policy, runs)).collect();
            let cells: Vec<String> = costs_us?.iter().map(|us| format!("{us:.2}")).collect();
            println!("| {} | {} |", count(size), cells.join(" | "));
        }
        println!();
        Ok::<(), Box<dyn std::error::Error>>(())
    };
    rows(&machines, |size| size.machines as u64, "machines")?;
    rows(&waiting, |size| size.waiting.unwrap_or(0) as u64, "tasks waiting")?;
    rows(&running, |size| size.per_machine, "tasks per machine")
}

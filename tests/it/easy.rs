//! The promise of EASY backfilling: a later job never delays the first waiting job.
//!
//! Random workloads are replayed and compared with two computations that share no code with the
//! replay: the rule by its definition, followed second by second; and, for each moment, the time at
//! which the first waiting job would start if all jobs behind it were removed.
//!
//! ```text
//!  10 processors   |0 ---- job 1, 8 ----- 100|100 - job 2, 10 - 150|150 ---- job 3, 2 ---- 1150|
//!  job 3 would fit next to job 1 at 2 s, and would keep job 2 waiting until 1002 s
//! ```

use std::fmt::Write as _;

use jobfate::replay::cluster::Cluster;
use jobfate::replay::engine::{Outcome, Plan, replay};
use jobfate::replay::policies::PolicyPlan;
use jobfate::replay::workload::{Column, Estimates, Workload};
use proptest::prelude::*;

use super::support::{Place, Run};

#[derive(Clone, Copy, Debug)]
struct Job {
    arrival: i64,
    work: i64,
    demand: [u64; 2],
    asked: Option<i64>,
}

/// A job; its request may be missing, too short or too long.
fn job() -> impl Strategy<Value = Job> {
    let asked = prop::option::of(prop::sample::select(vec![5_i64, 10, 15, 30]));
    (0_i64..60, 0_i64..40, 1_u64..9, 0_u64..5, asked).prop_map(
        |(arrival, work, cpu, memory, tenths)| {
            let asked = tenths.map(|tenths| (work * tenths + 9) / 10);
            Job { arrival, work, demand: [cpu, memory], asked }
        },
    )
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    prop::collection::vec(job(), 1..40).prop_map(|mut jobs| {
        jobs.sort_by_key(|job| job.arrival);
        jobs
    })
}

/// The running time that `easy` assumes, by the definition of the three rules.
fn estimate(job: &Job, estimates: Estimates) -> i64 {
    match (estimates, job.asked) {
        (Estimates::Requested, Some(asked)) => asked,
        (Estimates::Factor(_), _) => job.work * 3,
        _ => job.work,
    }
}

fn run(jobs: &[Job], machines: &[[u64; 2]], policy: &str, estimates: Estimates) -> Outcome {
    let each = |value: fn(&Job) -> i64| Column::Each(jobs.iter().map(value).collect());
    let mut workload = Workload::plain(jobs.len(), each(|job| job.work));
    workload.arrival_us = each(|job| job.arrival);
    workload.cpu = Column::Each(jobs.iter().map(|job| job.demand[0]).collect());
    workload.memory = Column::Each(jobs.iter().map(|job| job.demand[1]).collect());
    workload.requested_us = Column::Each(jobs.iter().map(|job| job.asked).collect());
    workload.estimates = estimates;
    let mut cluster = Cluster::of_speeds(vec![1.0; machines.len()]);
    cluster.cpu = machines.iter().map(|machine| machine[0]).collect();
    cluster.memory = machines.iter().map(|machine| Some(machine[1])).collect();
    let policy: PolicyPlan = policy.parse().unwrap();
    let (cluster, workload) = (cluster.check().unwrap().0, workload.check().unwrap());
    replay(&Plan::new(&cluster, &workload, &policy)).unwrap()
}

/// The start of each job; all jobs start.
fn starts_of(outcome: &Outcome) -> Vec<i64> {
    outcome.first_start_us.iter().map(|start_us| start_us.unwrap()).collect()
}

fn fits(free: [u64; 2], demand: [u64; 2]) -> bool {
    demand[0] <= free[0] && demand[1] <= free[1]
}

/// A running job: its machine, its true and its planned end, and its resources.
#[derive(Clone, Copy)]
struct Running {
    machine: usize,
    end: i64,
    planned: i64,
    demand: [u64; 2],
}

fn free(machines: &[[u64; 2]], running: &[Running]) -> Vec<[u64; 2]> {
    let mut free = machines.to_vec();
    for run in running {
        let held = &mut free[run.machine];
        *held = [held[0] - run.demand[0], held[1] - run.demand[1]];
    }
    free
}

/// The first time from `now` at which a machine will have room, and what is left there then.
fn promise(
    now: i64,
    machine: usize,
    size: [u64; 2],
    demand: [u64; 2],
    running: &[Running],
) -> Option<(i64, [u64; 2])> {
    let ends = running.iter().filter(|run| run.machine == machine).map(|run| run.planned.max(now));
    let mut times: Vec<i64> = ends.chain([now]).collect();
    times.sort_unstable();
    times.into_iter().find_map(|at| {
        let still =
            running.iter().filter(|run| run.machine == machine && at < run.planned.max(now));
        let free = still.fold(size, |free, run| [free[0] - run.demand[0], free[1] - run.demand[1]]);
        let left = [free[0].checked_sub(demand[0])?, free[1].checked_sub(demand[1])?];
        Some((at, left))
    })
}

/// The rule by its definition, on the lowest machine with free capacity: starts of the jobs, and
/// how often tasks waited beyond the depth while a machine had free capacity.
fn by_definition(
    jobs: &[Job],
    machines: &[[u64; 2]],
    estimates: Estimates,
    depth: usize,
) -> (Vec<i64>, u64) {
    let least = [0, 1].map(|resource| jobs.iter().map(|job| job.demand[resource]).min().unwrap());
    let (mut starts, mut cuts, mut now) = (vec![-1; jobs.len()], 0, -1);
    let (mut waiting, mut running, mut arrived): (Vec<usize>, Vec<Running>, usize) =
        (Vec::new(), Vec::new(), 0);
    loop {
        let ends = running.iter().map(|run| run.end);
        let arrivals = jobs.get(arrived).map(|job| job.arrival);
        let Some(next) = ends.chain(arrivals).min() else { return (starts, cuts) };
        now = next.max(now);
        running.retain(|run| now < run.end);
        while arrived < jobs.len() && jobs[arrived].arrival == now {
            waiting.push(arrived);
            arrived += 1;
        }
        let has_room =
            |running: &[Running]| free(machines, running).iter().any(|free| fits(*free, least));
        let room_before = has_room(&running);
        // Machine, time and remaining capacity, once a job has been passed over.
        let mut reserved: Option<(usize, i64, [u64; 2])> = None;
        let mut passed = Vec::new();
        let mut line = std::mem::take(&mut waiting).into_iter();
        for idx in line.by_ref() {
            let job = &jobs[idx];
            let planned = now + estimate(job, estimates);
            let free = free(machines, &running);
            let machine = (0..machines.len()).find(|&machine| {
                fits(free[machine], job.demand)
                    && reserved.is_none_or(|(held, at, left)| {
                        machine != held || planned <= at || fits(left, job.demand)
                    })
            });
            if let Some(machine) = machine {
                if let Some((held, at, left)) = &mut reserved
                    && *held == machine
                    && *at < planned
                {
                    *left = [left[0] - job.demand[0], left[1] - job.demand[1]];
                }
                starts[idx] = now;
                running.push(Running { machine, end: now + job.work, planned, demand: job.demand });
                continue;
            }
            passed.push(idx);
            if depth < passed.len() {
                break;
            }
            if reserved.is_none() {
                let promises = (0..machines.len()).filter_map(|machine| {
                    let (at, left) =
                        promise(now, machine, machines[machine], job.demand, &running)?;
                    Some((at, machine, left))
                });
                reserved = promises.min().map(|(at, machine, left)| (machine, at, left));
            }
        }
        waiting = passed;
        waiting.extend(line);
        cuts += u64::from(room_before && has_room(&running) && depth + 1 < waiting.len());
    }
}

const MACHINES: [[u64; 2]; 3] = [[8, 4], [6, 4], [9, 3]];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn starts_are_those_of_the_definition(
        mut jobs in jobs(),
        machine_count in 1_usize..=3,
        estimates in prop::sample::select(vec![
            Estimates::Requested, Estimates::Exact, Estimates::Factor(3.0),
        ]),
        depth in prop::option::of(0_usize..4),
    ) {
        let machines = &MACHINES[..machine_count];
        jobs.retain(|job| machines.iter().any(|machine| fits(*machine, job.demand)));
        prop_assume!(!jobs.is_empty());
        let depth_part = depth.map_or(String::new(), |depth| format!(":depth={depth}"));
        let outcome = run(&jobs, machines, &format!("easy{depth_part}+first-fit"), estimates);
        let (starts, cuts) = by_definition(&jobs, machines, estimates, depth.unwrap_or(usize::MAX - 1));
        prop_assert_eq!(starts_of(&outcome), starts);
        prop_assert_eq!(outcome.depth_cuts, depth.map(|_| cuts));
    }

    /// This holds with true running times, and with planned ones as long as no job runs longer than
    /// planned.
    #[test]
    fn no_job_delays_the_first_that_waits(
        mut jobs in jobs(),
        machine_count in 1_usize..=3,
        policy in prop::sample::select(vec!["easy", "easy+best-fit", "easy+worst-fit", "easy:depth=3"]),
        is_exact in any::<bool>(),
    ) {
        let machines = &MACHINES[..machine_count];
        jobs.retain(|job| machines.iter().any(|machine| fits(*machine, job.demand)));
        for job in &mut jobs {
            // A job of length 0 starts and ends at the instant of a decision, and another decision
            // follows.
            job.work = job.work.max(1);
            job.asked = job.asked.map(|asked| asked.max(job.work));
        }
        let estimates = if is_exact { Estimates::Exact } else { Estimates::Requested };
        let outcome = run(&jobs, machines, policy, estimates);
        let journal = outcome.journal.as_ref().unwrap();
        let mut machine_of = vec![0; jobs.len()];
        for entry in journal.entries().filter(|entry| entry.kind.is_begin()) {
            machine_of[entry.task as usize] = entry.machine as usize;
        }
        let starts = starts_of(&outcome);
        for now in journal.entries().map(|entry| entry.at_us) {
            let waits = |idx: usize| jobs[idx].arrival <= now && now < starts[idx];
            let Some(first) = (0..jobs.len()).find(|&idx| waits(idx)) else { continue };
            // The jobs that run now, without those that have just passed the first waiting job.
            let running: Vec<Running> = (0..jobs.len())
                .filter(|&idx| starts[idx] < now || (starts[idx] == now && idx < first))
                .map(|idx| {
                    let (job, start) = (&jobs[idx], starts[idx]);
                    let planned = start + estimate(job, estimates);
                    Running { machine: machine_of[idx], end: start + job.work, planned, demand: job.demand }
                })
                .filter(|run| now < run.end)
                .collect();
            let alone = (0..machines.len())
                .filter_map(|machine| promise(now, machine, machines[machine], jobs[first].demand, &running))
                .map(|(at, _)| at)
                .min()
                .unwrap();
            prop_assert!(
                starts[first] <= alone,
                "at {}, job {} would start at {} without those behind it, and starts at {}",
                now, first, alone, starts[first],
            );
        }
    }
}

/// A log of 10 processors whose jobs are (submit, run, processors, requested time).
fn log(jobs: &[(u32, u32, u32, i32)]) -> Place {
    let place = Place::new();
    let mut text = "; MaxProcs: 10\n".to_owned();
    for (number, (submit, run, processors, asked)) in (1..).zip(jobs) {
        writeln!(
            text,
            "{number} {submit} 0 {run} {processors} -1 -1 {processors} {asked} -1 1 1 1 -1 -1 -1 -1 -1"
        )
        .unwrap();
    }
    place.raw("log.swf", text);
    place.run(&["ingest", "trace/log.swf", "--lake", "lake"]).ok();
    place
}

fn makespan_s(run: &Run) -> f64 {
    let answer: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    answer.pointer("/policies/0/metrics/makespan_s").unwrap().as_f64().unwrap()
}

#[test]
fn a_job_without_requests_does_not_jump_ahead() {
    let place = log(&[(0, 100, 8, -1), (1, 50, 10, -1), (2, 1000, 2, -1)]);
    let easy = |more: &[&str]| {
        let args = ["replay", "--policies", "easy", "--format", "json"];
        place.run(&[&args, more].concat()).ok()
    };
    let run = easy(&[]);
    assert_eq!(makespan_s(&run), 1150.0);
    let told = "assumed: backfilling plans with recorded running times: no job has a known requested time.";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert_eq!(makespan_s(&easy(&["--estimates", "factor:2"])), 1150.0);

    // Job 3 requests less than its running time: by its request it would end in time.
    let place = log(&[(0, 100, 8, 100), (1, 50, 10, -1), (2, 1000, 2, 90)]);
    let easy = |more: &[&str]| {
        let args = ["replay", "--policies", "easy", "--format", "json"];
        place.run(&[&args, more].concat()).ok()
    };
    let run = easy(&[]);
    assert_eq!(makespan_s(&run), 1052.0);
    let told = "the requested time is known for 66.7 % of the jobs (2 of 3).";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert_eq!(makespan_s(&easy(&["--estimates", "exact"])), 1150.0);
    for bad in ["factor:0", "guess", "factor:x"] {
        let run = place.run(&["replay", "--policies", "easy", "--estimates", bad]);
        assert_eq!(run.code, Some(2), "{bad}: {}", run.stderr);
        assert!(
            run.stderr.contains("is not `requested`, `exact`, or `factor:F`"),
            "{}",
            run.stderr
        );
    }
}

//! Tests of GPUs in a replay: small cases drawn by hand, and random ones against a plain scan.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::cluster::{Change, Cluster, MachineChange};
use super::engine::{Plan, replay};
use super::gpus::{ANY_MODEL, GpuAsk, Gpus};
use super::journal::{Entry, Kind};
use super::metrics::{GpuFragmentation, gpu_fragmentation};
use super::policies::PolicyPlan;
use super::tests::{check, read};
use super::workload::{Column, NONE, UNITS, Workload};
use crate::units::micros_to_seconds;

#[test]
fn shares_lie_on_one_gpu_and_whole_ones_stay_whole() {
    //  GPU 0   |---- t1 .6 ----|---- t4 .5 ----|
    //          |---- t2 .4 ------------|
    //  GPU 1   |---- t3 1 ---------------------------|
    //          0               5       9  10        20
    check(
        "machine m1 cpu=8 gpus=2
         task t1 runs=5 gpus=1 milli=600
         task t2 runs=9 gpus=1 milli=400
         task t3 runs=20 gpus=1
         task t4 at=1 runs=5 gpus=1 milli=500",
        "fifo",
        "0 start t1 m1
         0 start t2 m1
         0 start t3 m1
         5 finish t1 m1
         5 start t4 m1
         9 finish t2 m1
         10 finish t4 m1
         20 finish t3 m1",
    );
}

#[test]
fn two_halves_are_no_whole_gpu() {
    //  GPU 0   |-- t1 .5 --|--- t3 1 ---|       GPU 0 and 1 have .9 free in sum, but t3 waits
    //  GPU 1   |-- t2 .6 ----------|
    check(
        "machine m1 cpu=8 gpus=2
         task t1 runs=4 gpus=1 milli=500
         task t2 runs=9 gpus=1 milli=600
         task t3 runs=3 gpus=1",
        "fifo",
        "0 start t1 m1
         0 start t2 m1
         4 finish t1 m1
         4 start t3 m1
         7 finish t3 m1
         9 finish t2 m1",
    );
}

#[test]
fn a_task_waits_for_the_models_that_it_takes() {
    //  m1 (model 1)  |--- t2 ---|
    //  m2 (model 2)  |--- t1 ---|--- t3 ---|   t3 accepts only model 2, t4 no present one
    let outcome = check(
        "machine m1 cpu=8 gpus=1 model=1
         machine m2 cpu=8 gpus=1 model=2
         task t1 runs=5 gpus=1 models=2
         task t2 runs=5 gpus=1 models=3
         task t3 runs=5 gpus=1 models=2
         task t4 runs=5 gpus=1 models=4
         task t5 runs=5 gpus=2",
        "fifo:depth=9",
        "0 refuse t4
         0 refuse t5
         0 start t1 m2
         0 start t2 m1
         5 finish t1 m2
         5 finish t2 m1
         5 start t3 m2
         10 finish t3 m2",
    );
    assert_eq!(outcome.refused, [3, 4]);
}

#[test]
fn gpus_are_a_dominant_resource() {
    //  10 CPU, 4 GPUs. User 0 requests 1 CPU and 1 GPU (a quarter of them), user 1 2 CPU (a fifth).
    //  shares   user 0: 1/4       1/2       3/4
    //           user 1:    1/5 2/5      3/5
    check(
        "machine m1 cpu=10 gpus=4
         task t1 user=0 runs=9 gpus=1
         task t2 user=0 runs=9 gpus=1
         task t3 user=0 runs=9 gpus=1
         task t4 user=1 runs=9 cpu=2
         task t5 user=1 runs=9 cpu=2
         task t6 user=1 runs=9 cpu=2",
        "drf",
        "0 start t1 m1
         0 start t4 m1
         0 start t5 m1
         0 start t2 m1
         0 start t6 m1
         0 start t3 m1
         9 finish t1 m1
         9 finish t4 m1
         9 finish t5 m1
         9 finish t2 m1
         9 finish t6 m1
         9 finish t3 m1",
    );
}

#[test]
fn backfilling_does_not_delay_who_waits_for_gpus() {
    //  GPU 0   |---- t1 ----|---- t2 ----
    //  GPU 1        t3      |---- t2 ----   t3 would hold it until 12; t4 ends in time
    //          0            10
    check(
        "machine m1 cpu=8 gpus=2
         task t1 runs=10 gpus=1
         task t2 runs=5 gpus=2
         task t3 runs=12 gpus=1
         task t4 runs=6 gpus=1
         task t5 runs=30",
        "easy",
        "0 start t1 m1
         0 start t4 m1
         0 start t5 m1
         6 finish t4 m1
         10 finish t1 m1
         10 start t2 m1
         15 finish t2 m1
         15 start t3 m1
         27 finish t3 m1
         30 finish t5 m1",
    );
}

/// A machine with the free thousandths of each GPU, for independent counting.
struct Scan {
    model: u64,
    used: Vec<u32>,
    cpu: u64,
    all_cpu: u64,
}

impl Scan {
    /// The GPUs that a task gets: among those with enough left, the fullest.
    fn gpus_for(&self, ask: GpuAsk) -> Option<Vec<usize>> {
        if ask.models != ANY_MODEL && ask.models & self.model == 0 {
            return None;
        }
        let fits = |idx: &usize| self.used[*idx] + u32::from(ask.milli) <= 1000;
        let mut open: Vec<usize> = (0..self.used.len()).filter(fits).collect();
        open.sort_by_key(|&idx| (std::cmp::Reverse(self.used[idx]), idx));
        open.truncate(usize::from(ask.count));
        (open.len() == usize::from(ask.count)).then_some(open)
    }
}

/// Follows a journal GPU by GPU.
fn follow(entries: &[Entry], cluster: &Cluster, workload: &Workload, is_fifo: bool) {
    let machines = cluster.gpus.iter().zip(&cluster.cpu);
    let mut machines: Vec<Scan> = machines
        .map(|(gpus, &all_cpu)| Scan {
            model: gpus.model,
            used: vec![0; usize::from(gpus.count)],
            cpu: 0,
            all_cpu,
        })
        .collect();
    let mut held: BTreeMap<(u32, u16), Vec<usize>> = BTreeMap::new();
    let mut waiting: Vec<u32> = Vec::new();
    let mut is_there = vec![true; machines.len()];
    for (place, entry) in entries.iter().enumerate() {
        let (ask, key) = (|| workload.gpus.get(entry.task), (entry.task, entry.attempt));
        if entry.kind == Kind::Submit {
            waiting.push(entry.task);
        } else if entry.kind.is_begin() {
            let machine = &mut machines[entry.machine as usize];
            assert!(is_there[entry.machine as usize]);
            let gpus = machine.gpus_for(ask()).expect("no GPU is ever over-committed");
            for &idx in &gpus {
                machine.used[idx] += u32::from(ask().milli);
            }
            machine.cpu += workload.cpu.get(entry.task);
            assert!(machine.cpu <= machine.all_cpu);
            assert!(held.insert(key, gpus).is_none());
            waiting.retain(|&task| task != entry.task);
        } else if entry.kind.is_end()
            && let Some(gpus) = held.remove(&key)
        {
            let machine = &mut machines[entry.machine as usize];
            for idx in gpus {
                machine.used[idx] -= u32::from(ask().milli);
            }
            machine.cpu -= workload.cpu.get(entry.task);
        } else if entry.kind == Kind::MachineLeave {
            is_there[entry.machine as usize] = false;
        } else if entry.kind == Kind::MachineJoin {
            is_there[entry.machine as usize] = true;
        } else if entry.kind == Kind::Refuse {
            let could = |machine: &Scan| {
                let empty = Scan { used: vec![0; machine.used.len()], cpu: 0, ..*machine };
                empty.gpus_for(ask()).is_some() && workload.cpu.get(entry.task) <= machine.all_cpu
            };
            assert!(!machines.iter().any(could), "only what fits nowhere is refused");
        }
        // At the end of an instant, the first task in line does not wait if a machine could take
        // it.
        let is_over = entries.get(place + 1).is_none_or(|next| entry.at_us < next.at_us);
        if let Some(&first) = waiting.first().filter(|_| is_over && is_fifo) {
            let (ask, cpu) = (workload.gpus.get(first), workload.cpu.get(first));
            let fits = |(machine, is_there): (&Scan, &bool)| {
                *is_there && machine.cpu + cpu <= machine.all_cpu && machine.gpus_for(ask).is_some()
            };
            assert!(!machines.iter().zip(&is_there).any(fits), "the first in line starts");
        }
    }
    assert!(machines.iter().all(|machine| machine.used.iter().all(|&used| used == 0)));
}

/// Arrival and running time (s), CPU in halves, GPUs, thousandths of one, models, and user.
type DrawnTask = (i64, i64, u64, u8, u16, Option<u64>, u32);

fn drawn(
    machines: &[(u64, u8, u32)],
    tasks: &[DrawnTask],
    changes: &[(i64, u32, bool)],
    wholes: bool,
) -> (Cluster, Workload) {
    let mut workload = Workload::plain(tasks.len(), Column::Same(0));
    workload.arrival_us = Column::Each(tasks.iter().map(|task| task.0 * 1_000_000).collect());
    workload.work_us = Column::Each(tasks.iter().map(|task| task.1 * 1_000_000).collect());
    workload.cpu = Column::Each(tasks.iter().map(|task| task.2 * UNITS / 2).collect());
    let ask = |task: &DrawnTask| {
        let milli = if wholes || 1 < task.3 { 1000 } else { task.4 };
        GpuAsk::new(task.3, milli, task.5.unwrap_or(ANY_MODEL))
    };
    workload.gpus = Column::Each(tasks.iter().map(ask).collect());
    workload.user = Column::Each(tasks.iter().map(|task| task.6).collect());
    workload.job = Column::Each(tasks.iter().map(|task| task.6).collect());
    let priority = |task: &DrawnTask| Some(i32::from(task.4 < 500));
    workload.priority = Column::Each(tasks.iter().map(priority).collect());
    let workload = workload.check().expect("valid input");
    let mut cluster = Cluster::of_speeds(vec![1.0; machines.len()]);
    cluster.cpu = machines.iter().map(|machine| machine.0 * UNITS).collect();
    cluster.gpus =
        machines.iter().map(|machine| Gpus { count: machine.1, model: 1 << machine.2 }).collect();
    for &(at_s, machine, leaves) in changes {
        let change = if leaves { Change::Leaves } else { Change::Joins };
        let machine = machine % u32::try_from(machines.len()).expect("a small number");
        cluster.changes.push(MachineChange { at_us: at_s * 1_000_000, machine, change });
    }
    let cluster = cluster.check().expect("valid input").0;
    (cluster, workload)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Promise: under every policy and placement, no GPU is ever used beyond 1, and no task gets a
    /// model that it does not accept. With first come, first served, no task waits without need.
    #[test]
    fn no_gpu_is_ever_over_committed(
        machines in prop::collection::vec((1_u64..6, 0_u8..5, 0_u32..3), 1..8),
        tasks in prop::collection::vec((0_i64..40, 1_i64..30, 0_u64..5, 0_u8..4, 1_u16..=1000, prop::option::weighted(0.3, 0_u64..8), 0_u32..4), 1..60),
        changes in prop::collection::vec((0_i64..60, 0_u32..8, any::<bool>()), 0..6),
        policy in prop::sample::select(vec![
            "fifo", "fifo+first-fit", "fifo+best-fit", "fifo+worst-fit", "fifo+random-fit",
            "fifo:depth=3", "drf", "drf:depth=5", "fair", "easy", "sjf", "sjf:backfill=easy", "priority",
            "priority:depth=4+best-fit", "wqr:copies=2", "fifo+late:heartbeat_s=5", "easy:predict=last2",
        ]),
        wholes in any::<bool>(),
    ) {
        let (cluster, workload) = drawn(&machines, &tasks, &changes, wholes);
        let plan: PolicyPlan = policy.parse().expect("valid input");
        let outcome = replay(&Plan { seed: 3, ..Plan::new(&cluster, &workload, &plan) }).expect("valid input");
        let entries: Vec<Entry> = outcome.journal.as_ref().expect("kept").entries().collect();
        // A task that loses its machine waits again before the others, without a line in the
        // journal.
        let is_fifo = cluster.changes.is_empty()
            && (policy == "fifo" || policy.starts_with("fifo+") && policy.ends_with("-fit"));
        follow(&entries, &cluster, &workload, is_fifo);
    }
}

#[test]
fn what_is_left_is_fragmented_for_those_it_does_not_serve() {
    //  GPU 0   |-- t1 .5 ---------|       left on m1: 1.5 until 4, then 0.5 until 10, then 2
    //  GPU 1       |-- t2 1 ------|
    //          0   4             10   12
    //  t3 requests 2 and waits from 4 to 10: it cannot use the 0.5 that is free.
    let text = "machine m1 cpu=8 gpus=2
         task t1 runs=10 gpus=1 milli=500
         task t2 at=4 runs=6 gpus=1
         task t3 at=4 runs=2 gpus=2
         task t4 at=0 runs=1";
    let found = left(text, "fifo");
    // 4 s x 1.5 + 6 s x 0.5, and nothing while t3 runs.
    assert_eq!((found.free_gpu_s, found.fragmented_gpu_s), (9.0, 3.0));
    // Of the 1.5 free from 0 to 4: t1 (.5) can use all and t2 1.0; t3 and t4 can use nothing.
    let until_4 = 4.0 * (0.0 + 0.5 + 1.5 + 1.5) / 4.0;
    // Of the 0.5 free from 4 to 10: t1 can use all, the other tasks nothing.
    let until_10 = 6.0 * (0.0 + 0.5 + 0.5 + 0.5) / 4.0;
    assert_eq!(found.expected_gpu_s, until_4 + until_10);
    // t4 requests no GPU; for t2 and t3, too few GPUs are free.
    let no_gpu = (4.0 * 1.5 + 6.0 * 0.5) / 4.0;
    let gpu = (4.0 * (0.5 + 1.5) + 6.0 * (0.5 + 0.5)) / 4.0;
    assert_eq!(found.by_cause_gpu_s, [no_gpu, 0.0, gpu, 0.0, 0.0]);
    assert_eq!(found.expected_gpu_share, Some((until_4 + until_10) / 9.0));
}

#[test]
fn each_cause_is_named() {
    // m1 has model 1 and 1 CPU, all used by t1 for 10 s; its GPU is free.
    let text = "machine m1 cpu=1 gpus=1 model=1
         machine m2 cpu=9 gpus=4 model=2
         task t1 runs=10 gpus=0
         task t2 runs=10 gpus=4 models=2
         task t3 runs=10 gpus=1 models=1
         task t4 runs=10 gpus=2 cpu=2 models=3";
    let found = left(text, "fifo:depth=9");
    // Only the GPU of m1 is free until t3 gets it at 10 s; t4 begins on m2 at 10 s, with 2 of 4.
    let of = [10.0, 10.0, 0.0, 10.0, 10.0].map(|gpu_s| gpu_s / 4.0);
    // From 10 to 20 s, 2 GPUs of m2 are free: t1 requests none, t2 requests 4, t3 requests the
    // other model, and t4 fits.
    let later = [20.0, 20.0, 20.0, 0.0, 0.0].map(|gpu_s| gpu_s / 4.0);
    let sum: Vec<f64> = of.iter().zip(later).map(|(one, other)| one + other).collect();
    assert_eq!(found.by_cause_gpu_s.to_vec(), sum);
    assert_eq!((found.free_gpu_s, found.fragmented_gpu_s), (30.0, 10.0));
}

fn left(text: &str, policy: &str) -> GpuFragmentation {
    let (cluster, workload) = read(text);
    let plan: PolicyPlan = policy.parse().expect("a policy");
    let outcome = replay(&Plan::new(&cluster, &workload, &plan)).expect("valid input");
    let journal = outcome.journal.expect("kept");
    gpu_fragmentation(&journal, &workload, &cluster, 7).expect("there are GPUs")
}

/// The present machines and the waiting tasks after some lines of a journal.
fn after(entries: &[Entry], cluster: &Cluster, workload: &Workload) -> (Vec<Scan>, Vec<u32>) {
    let empty = |machine: usize| Scan {
        model: cluster.gpus[machine].model,
        used: vec![0; usize::from(cluster.gpus[machine].count)],
        cpu: 0,
        all_cpu: cluster.cpu[machine],
    };
    let mut machines: Vec<Scan> = (0..cluster.cpu.len()).map(empty).collect();
    let mut is_there = vec![true; machines.len()];
    let mut held: BTreeMap<(u32, u16), (u32, Vec<usize>)> = BTreeMap::new();
    let mut waits = vec![false; workload.task_count];
    for entry in entries {
        let (on, key) = (entry.machine as usize, (entry.task, entry.attempt));
        match entry.kind {
            Kind::Submit => waits[entry.task as usize] = true,
            Kind::MachineJoin => is_there[on] = true,
            Kind::MachineLeave => {
                is_there[on] = false;
                machines[on] = empty(on);
                held.retain(|_, held| held.0 != entry.machine);
            }
            kind if kind.is_begin() => {
                if kind == Kind::Start {
                    waits[entry.task as usize] = false;
                }
                let ask = workload.gpus.get(entry.task);
                let gpus = machines[on].gpus_for(ask).expect("there is enough");
                for &idx in &gpus {
                    machines[on].used[idx] += u32::from(ask.milli);
                }
                machines[on].cpu += workload.cpu.get(entry.task);
                held.insert(key, (entry.machine, gpus));
            }
            kind if kind.is_end() && entry.machine == NONE => waits[entry.task as usize] = false,
            kind if kind.is_end() => {
                let Some((_, gpus)) = held.remove(&key) else { continue };
                for idx in gpus {
                    machines[on].used[idx] -= u32::from(workload.gpus.get(entry.task).milli);
                }
                machines[on].cpu -= workload.cpu.get(entry.task);
            }
            _ => {}
        }
    }
    let there = machines.into_iter().zip(is_there).filter(|(_, is_there)| *is_there);
    let waiting = (0..).zip(&waits).filter(|(_, waits)| **waits).map(|(task, _)| task);
    (there.map(|(machine, _)| machine).collect(), waiting.collect())
}

/// Free, fragmented and expected GPU-s by the definitions, at every instant, task by task.
fn plainly(entries: &[Entry], cluster: &Cluster, workload: &Workload) -> [f64; 3] {
    let tasks = || (0..).take(workload.task_count);
    let task_count = f64::from(u32::try_from(workload.task_count).expect("a small number"));
    let first = entries.iter().position(|entry| matches!(entry.kind, Kind::Submit | Kind::Refuse));
    let mut sums = [0.0; 3];
    for end in first.map_or(1, |first| first + 1)..entries.len() {
        let seconds = micros_to_seconds(entries[end].at_us - entries[end - 1].at_us);
        if seconds == 0.0 {
            continue;
        }
        let (machines, waiting) = after(&entries[..end], cluster, workload);
        for machine in machines {
            // The part of a GPU's free amount that a task cannot use.
            let lost = |task: u32, left: u32| {
                let ask = workload.gpus.get(task);
                let fits = machine.cpu + workload.cpu.get(task) <= machine.all_cpu
                    && machine.gpus_for(ask).is_some();
                if !ask.is_none() && fits && u32::from(ask.milli) <= left { 0 } else { left }
            };
            for left in machine.used.iter().map(|&used| 1000 - used) {
                sums[0] += f64::from(left) / 1e3 * seconds;
                let asking = waiting.iter().filter(|task| !workload.gpus.get(**task).is_none());
                let least = asking.map(|&task| lost(task, left)).min();
                sums[1] += f64::from(least.unwrap_or(0)) / 1e3 * seconds;
                let all: f64 = tasks().map(|task| f64::from(lost(task, left))).sum();
                sums[2] += all / task_count / 1e3 * seconds;
            }
        }
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Promise: under every policy, free, fragmented and expected amounts follow the definitions at
    /// every instant. The causes add up to the total, and so do the samples.
    #[test]
    fn fragmentation_is_that_of_the_definitions(
        machines in prop::collection::vec((1_u64..6, 0_u8..5, 0_u32..3), 1..6),
        tasks in prop::collection::vec((0_i64..40, 1_i64..30, 0_u64..5, 0_u8..4, 1_u16..=1000, prop::option::weighted(0.3, 0_u64..8), 0_u32..4), 1..30),
        changes in prop::collection::vec((0_i64..60, 0_u32..8, any::<bool>()), 0..6),
        policy in prop::sample::select(vec!["fifo", "fifo:depth=9", "easy", "drf", "wqr:copies=2", "priority:depth=4+best-fit"]),
        wholes in any::<bool>(),
    ) {
        let (cluster, workload) = drawn(&machines, &tasks, &changes, wholes);
        let plan: PolicyPlan = policy.parse().expect("valid input");
        let journal = replay(&Plan { seed: 3, ..Plan::new(&cluster, &workload, &plan) }).expect("valid input").journal.expect("kept");
        let Some(found) = gpu_fragmentation(&journal, &workload, &cluster, 9) else {
            prop_assert!(!workload.has_gpus());
            return Ok(());
        };
        let entries: Vec<Entry> = journal.entries().collect();
        let [free, fragmented, expected] = plainly(&entries, &cluster, &workload);
        let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other.abs().max(1.0);
        prop_assert!(is_near(found.free_gpu_s, free), "free {} and {free}", found.free_gpu_s);
        prop_assert!(is_near(found.fragmented_gpu_s, fragmented), "{} and {fragmented}", found.fragmented_gpu_s);
        prop_assert!(is_near(found.expected_gpu_s, expected), "{} and {expected}", found.expected_gpu_s);
        prop_assert!(is_near(found.by_cause_gpu_s.iter().sum(), expected));
        let mut since_s = entries.iter().find(|entry| entry.task != NONE).map_or(0.0, |entry| micros_to_seconds(entry.at_us));
        let mut sums = [0.0; 3];
        for sample in &found.samples {
            let length_s = sample.time_s - since_s;
            since_s = sample.time_s;
            for (sum, value) in sums.iter_mut().zip([sample.free, sample.fragmented, sample.expected]) {
                *sum += length_s * value;
            }
        }
        for (sum, whole) in sums.into_iter().zip([free, fragmented, expected]) {
            prop_assert!((sum - whole).abs() <= 1e-5 * whole.max(1.0), "samples {sum} and {whole}");
        }
    }
}

//! Properties of any workload on any cluster under any policy.

#![expect(clippy::cast_precision_loss, reason = "small whole numbers")]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::cluster::{Change, Cluster, MachineChange, Notice, Utilisation};
use super::drawn::drawn;
use super::engine::{Outcome, Plan, replay};
use super::journal::{Entry, Kind};
use super::metrics::{fates, job_ends, measure};
use super::policies::{KINDS, PolicyPlan};
use super::room::Room;
use super::state::Phase;
use super::workload::{Column, Failures, Fate, NONE, UNITS, Workload};

/// Number of random workloads and clusters for each property.
const CASES: u32 = drawn(10_000);

/// Orders with parameters, in addition to all orders of [`KINDS`] without parameters.
const ORDERS: [&str; 11] = [
    "easy:predict=last2",
    "easy:predict=last2,steps_min=1/2",
    "fifo:depth=3",
    "priority:preempt=no,depth=2",
    "easy:depth=2",
    "fair:interval_s=7",
    "wfp3:depth=2",
    "f1:backfill=easy",
    "fair:interval_s=7,backfill=easy",
    "priority:preempt=no,backfill=conservative",
    "unicep:depth=2,backfill=easy",
];
const PLACEMENTS: [&str; 5] = ["first-free", "first-fit", "best-fit", "worst-fit", "random-fit"];

/// Every order.
fn orders() -> Vec<String> {
    let names = KINDS.iter().filter(|kind| !kind.is_speculation()).map(|kind| kind.name);
    names.chain(ORDERS).map(str::to_owned).collect()
}

/// Every rule about running tasks, with a heartbeat that suits short runs.
fn rules() -> Vec<String> {
    let names = KINDS.iter().filter(|kind| kind.is_speculation()).map(|kind| kind.name);
    let mut rules: Vec<String> = names.map(str::to_owned).collect();
    rules.push("wqr:copies=1,order=reverse".to_owned());
    let ours = rules.clone();
    let detectors = super::detectors::KINDS.iter().map(|kind| kind.name.to_owned());
    rules.extend(detectors.filter(|name| !ours.contains(name)));
    rules.push("late:age_s=2".to_owned());
    rules.push("dolly:budget=1,load=1".to_owned());
    rules.push("poisson:bin_s=1,verdicts=1,heartbeat_s=1+yarn".to_owned());
    rules.push("wqr:copies=1+tqst:age_s=2".to_owned());
    rules
}

/// Single rules other than `late`.
fn rules_that_can_stand_beside_late() -> Vec<String> {
    let is_fit = |rule: &String| !rule.contains('+') && rule.split(':').next() != Some("late");
    rules().into_iter().filter(is_fit).collect()
}

fn policy() -> impl Strategy<Value = String> {
    let part = prop::sample::select(orders());
    let place = prop::sample::select(PLACEMENTS.to_vec());
    let kills = [
        "",
        "+kill:events=3",
        "+kill:events=7",
        "+kill:failures=2",
        "+kill:restarts=1",
        "+kill:dead-time=9",
        "+kill:events=4+dead-time=5~priority=150",
        "+kill:k8s:backoff_limit=2,base_s=3,max_s=8",
        "+kill:k8s:backoff_limit=1,on=fail+evict,per=task,base_s=2",
        "+kill:spark:max_failures=2~priority=150",
        "+kill:slurm:limit=9",
        "+kill:slurm:limit=110,of=requested+events=3",
    ];
    let kill = prop::sample::select(kills.to_vec());
    (part, place, prop::sample::select(rules()), kill)
        .prop_map(|(order, place, rule, kill)| format!("{order}+{place}+{rule}{kill}"))
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    arrival_s: i64,
    work_s: i64,
    cpu: u64,
    priority: Option<i32>,
    user: u32,
    job: u32,
    is_apart: bool,
    fate: Fate,
    fails_s: Vec<i64>,
    extra_s: i64,
}

pub(super) fn task() -> impl Strategy<Value = Task> {
    let fate = prop_oneof![
        6 => Just(Fate::Finishes),
        1 => Just(Fate::Fails),
        1 => Just(Fate::Stopped),
        1 => (0_i64..40).prop_map(|age_s| Fate::Killed { age_us: age_s * 1_000_000 }),
        1 => (0_i64..40).prop_map(|age_s| Fate::Withdrawn { age_us: age_s * 1_000_000 })
    ];
    let fails = prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(0_i64..9, 1..4)];
    let place = (0_i64..40, 0_i64..30, 1_u64..6, 0_u8..4);
    let who = (0_u32..3, 0_u32..4, prop::bool::weighted(0.2));
    (place, who, fate, fails, prop_oneof![4 => Just(0), 1 => 20_i64..60]).prop_map(
        |((arrival_s, work_s, cpu, priority), (user, job, is_apart), fate, fails_s, extra_s)| {
            Task {
                arrival_s,
                work_s,
                cpu,
                priority: priority.checked_sub(1).map(|number| i32::from(number) * 150),
                user,
                job,
                is_apart,
                fate,
                fails_s,
                extra_s,
            }
        },
    )
}

impl Task {
    /// Multiplies the task's work by a factor.
    pub(super) fn stretch(&mut self, factor: i64) {
        self.work_s *= factor;
    }
}

impl Machine {
    /// Gives the machine the common speed, without changes.
    pub(super) fn even_out(&mut self) {
        self.speed = 1.0;
        self.changes.retain(|&(_, what)| what != 3);
    }
}

pub(super) fn workload(tasks: &[Task], noise: f64) -> Workload {
    let second = 1_000_000;
    let each = |value: &dyn Fn(&Task) -> i64| Column::Each(tasks.iter().map(value).collect());
    let mut workload = Workload::plain(tasks.len(), each(&|task| task.work_s * second));
    workload.arrival_us = each(&|task| task.arrival_s * second);
    workload.extra_us = each(&|task| task.extra_s * second);
    let asked_us = |task: &Task| (task.user != 0).then_some((task.work_s + 5) * second);
    workload.requested_us = Column::Each(tasks.iter().map(asked_us).collect());
    workload.cpu = Column::Each(tasks.iter().map(|task| task.cpu * UNITS / 2).collect());
    workload.memory = Column::Each(tasks.iter().map(|task| (6 - task.cpu) * UNITS).collect());
    workload.priority = Column::Each(tasks.iter().map(|task| task.priority).collect());
    workload.user = Column::Each(tasks.iter().map(|task| task.user).collect());
    workload.job = Column::Each(tasks.iter().map(|task| task.job).collect());
    workload.group = workload.job.clone();
    workload.is_apart = Column::Each(tasks.iter().map(|task| task.is_apart).collect());
    workload.fate = Column::Each(tasks.iter().map(|task| task.fate).collect());
    workload.failures = Failures { first: vec![0], work_us: Vec::new() };
    for task in tasks {
        let works = task.fails_s.iter().map(|seconds| seconds * second);
        workload.failures.work_us.extend(works);
        let count = u32::try_from(workload.failures.work_us.len()).expect("valid input");
        workload.failures.first.push(count);
    }
    workload.noise = noise;
    workload.check().expect("valid input")
}

#[derive(Clone, Debug)]
pub(super) struct Machine {
    speed: f64,
    cpu: u64,
    memory: Option<u64>,
    changes: Vec<(i64, u8)>,
}

pub(super) fn machine() -> impl Strategy<Value = Machine> {
    let changes =
        prop_oneof![2 => Just(vec![]), 1 => prop::collection::vec((0_i64..60, 0_u8..5), 1..5)];
    let memory = prop::sample::select(vec![Some(7), Some(7), None]);
    (prop::sample::select(vec![0.5, 1.0, 2.0, 4.0]), 2_u64..8, memory, changes)
        .prop_map(|(speed, cpu, memory, changes)| Machine { speed, cpu, memory, changes })
}

pub(super) fn cluster(
    machines: &[Machine],
    load: Option<u64>,
    notice: Notice,
    shared: bool,
) -> Cluster {
    let mut cluster = Cluster::of_speeds(machines.iter().map(|machine| machine.speed).collect());
    cluster.cpu = machines.iter().map(|machine| machine.cpu * UNITS / 2).collect();
    cluster.memory = machines.iter().map(|m| m.memory.map(|memory| memory * UNITS)).collect();
    cluster.utilisation =
        load.map(|seed| Utilisation { period_us: 5_000_000, left: (0.1, 1.0), seed });
    cluster.notice = notice;
    cluster.shared_cores = shared.then_some(Column::Same(1.5));
    for (machine, changes) in (0..).zip(machines) {
        for &(at_s, what) in &changes.changes {
            let change = match what {
                0 | 1 => Change::Leaves,
                2 => Change::Joins,
                3 => Change::Speed(0.7),
                _ => Change::Capacity(Room {
                    cpu: UNITS,
                    memory: machines[0].memory.map(|_| 3 * UNITS),
                }),
            };
            cluster.changes.push(MachineChange { at_us: at_s * 1_000_000, machine, change });
        }
    }
    cluster.check().expect("valid input").0
}

pub(super) fn notice() -> impl Strategy<Value = Notice> {
    prop_oneof![Just(Notice::After(0)), Just(Notice::After(4_000_000)), Just(Notice::Never)]
}

fn run(cluster: &Cluster, workload: &Workload, policy: &str) -> Outcome {
    let policy: PolicyPlan = policy.parse().expect("valid input");
    replay(&Plan { seed: 3, ..Plan::new(cluster, workload, &policy) }).expect("valid input")
}

/// Checks a journal by the basic rules of replays.
fn follow(outcome: &Outcome, workload: &Workload, cluster: &Cluster) {
    let journal = outcome.journal.as_ref().expect("requested");
    assert!(journal.entries().is_sorted_by_key(|entry| entry.at_us), "time never goes back");
    let mut running: BTreeMap<(u32, u16), Entry> = BTreeMap::new();
    let mut changes = cluster.changes.iter();
    let mut capacity: Vec<Room> = (cluster.cpu.iter().zip(&cluster.memory))
        .map(|(&cpu, &memory)| Room { cpu, memory })
        .collect();
    let mut is_present = cluster.is_present.clone();
    let mut used = vec![[0_u64; 2]; capacity.len()];
    let mut finished = vec![0; workload.task_count];
    let mut machine_time_us = 0;
    let entries: Vec<Entry> = journal.entries().collect();
    for (place, entry) in entries.iter().enumerate() {
        let at_us = entry.at_us;
        if entry.kind.is_begin() {
            let machine = entry.machine as usize;
            assert!(is_present[machine], "only machines that are there get work");
            let demand = workload.demand(entry.task);
            if workload.is_apart.get(entry.task) {
                let job = workload.job.get(entry.task);
                let sibling = running.values().find(|other| {
                    other.machine == entry.machine && workload.job.get(other.task) == job
                });
                assert_eq!(sibling, None, "tasks of a job keep apart");
            }
            for resource in 0..2 {
                used[machine][resource] += demand[resource];
            }
            assert!(used[machine][0] <= capacity[machine].cpu, "capacity");
            assert!(capacity[machine].memory.is_none_or(|all| used[machine][1] <= all), "capacity");
            assert!(running.insert((entry.task, entry.attempt), *entry).is_none());
            assert_eq!(finished[entry.task as usize], 0, "nothing begins after the end");
        } else if entry.kind.is_end() && entry.machine != NONE {
            let begun = running.remove(&(entry.task, entry.attempt)).expect("ends once");
            assert_eq!(begun.machine, entry.machine);
            machine_time_us += i128::from(at_us - begun.at_us);
            let demand = workload.demand(entry.task);
            for resource in 0..2 {
                used[entry.machine as usize][resource] -= demand[resource];
            }
            if entry.kind == Kind::Finish {
                finished[entry.task as usize] += 1;
                let later = entries[place + 1..].iter().take_while(|other| other.at_us == at_us);
                let cancelled = later.filter(|o| o.task == entry.task && o.kind == Kind::Cancel);
                let sisters = running.keys().filter(|key| key.0 == entry.task).count();
                assert_eq!(cancelled.count(), sisters, "all others are killed at once");
            }
        } else if matches!(entry.kind, Kind::MachineJoin | Kind::MachineLeave | Kind::MachineChange)
        {
            let change = changes.next().expect("valid input");
            match change.change {
                Change::Joins => is_present[change.machine as usize] = true,
                Change::Leaves => is_present[change.machine as usize] = false,
                // Attempts that no longer fit are evicted in the same instant, after this line.
                Change::Capacity(new) => capacity[change.machine as usize] = new,
                _ => {}
            }
        }
    }
    assert!(running.is_empty(), "every attempt ends");
    assert_eq!(machine_time_us, outcome.machine_time_us(), "work is conserved");
    assert!(finished.iter().all(|&count| count <= 1), "a task ends once");
    compare_metrics(outcome, workload, cluster, &finished);
}

fn compare_metrics(outcome: &Outcome, workload: &Workload, cluster: &Cluster, finished: &[usize]) {
    let journal = outcome.journal.as_ref().expect("requested");
    let metrics = measure(journal, workload, cluster, 7);
    assert_eq!(metrics.finished, finished.iter().sum::<usize>());
    assert_eq!(metrics.copies, (outcome.copies, outcome.copies_won));
    assert_eq!(metrics.useful.count, outcome.sum(Kind::Finish).count);
    assert_eq!(metrics.overtaken.count, outcome.sum(Kind::Cancel).count);
    let is_share = |share: f64| (0.0..=1.0 + 1e-9).contains(&share);
    assert!(metrics.utilisation.is_none_or(is_share), "{:?}", metrics.utilisation);
    for sample in &metrics.samples {
        assert!(sample.cpu_share.is_none_or(is_share) && 0.0 <= sample.waiting);
    }
    if let Some(index) = metrics.user_fairness {
        assert!((1.0 / workload.user_count() as f64 - 1e-9..=1.0 + 1e-9).contains(&index));
    }
    let fates = fates(journal, workload.task_count);
    for task in 0..workload.task_count {
        assert_eq!(fates.end_us[task].is_some(), outcome.phase[task].is_over(), "task {task}");
        assert_eq!(fates.end_us[task], outcome.end_us[task], "task {task}");
    }
    assert_eq!(metrics.over + outcome.unfinished, workload.task_count);
}

/// A task of the regression below: its job, arrival, work and failures, s.
fn small(job: u32, arrival_s: i64, work_s: i64, fails_s: &[i64], fate: Fate) -> Task {
    let fails_s = fails_s.to_vec();
    Task {
        arrival_s,
        work_s,
        cpu: 1,
        priority: None,
        user: 0,
        job,
        is_apart: false,
        fate,
        fails_s,
        extra_s: 0,
    }
}

#[test]
fn a_task_that_is_killed_beside_its_probes_is_over() {
    let tasks = [
        small(3, 25, 0, &[4, 3], Fate::Finishes),
        small(0, 1, 2, &[], Fate::Finishes),
        small(3, 28, 0, &[], Fate::Killed { age_us: 10_000_000 }),
        small(3, 1, 1, &[4], Fate::Finishes),
        small(0, 3, 3, &[], Fate::Finishes),
    ];
    let machines: Vec<Machine> = [(0.5, 2), (1.0, 3), (0.5, 2), (1.0, 10)]
        .map(|(speed, cpu)| Machine { speed, cpu, memory: Some(7), changes: vec![] })
        .into();
    let cluster = cluster(&machines, None, Notice::After(1_000_000), false);
    let outcome = run(&cluster, &workload(&tasks, 0.0), "fifo+worst-fit+tqst+kill:events=7");
    let journal = outcome.journal.as_ref().expect("it was requested");
    assert_eq!(outcome.unfinished, 0, "{journal}");
}

#[test]
fn a_task_that_is_over_gets_no_copy() {
    let tasks = [
        small(3, 19, 6, &[], Fate::Finishes),
        small(3, 20, 0, &[7], Fate::Finishes),
        Task { cpu: 4, extra_s: 38, ..small(0, 9, 19, &[], Fate::Finishes) },
        small(3, 16, 11, &[5, 6], Fate::Finishes),
        Task { cpu: 5, priority: Some(0), extra_s: 20, ..small(0, 16, 0, &[], Fate::Finishes) },
    ];
    let machine = |speed, cpu, changes| Machine { speed, cpu, memory: Some(7), changes };
    let machines = [
        machine(0.5, 2, vec![]),
        machine(2.0, 2, vec![]),
        machine(4.0, 5, vec![(23, 0)]),
        machine(1.0, 10, vec![]),
    ];
    let (cluster, workload) =
        (cluster(&machines, None, Notice::After(1_000_000), false), workload(&tasks, 0.0));
    let policy = "random+best-fit+wqr:copies=1+tqst:age_s=2+kill:dead-time=9";
    let outcome = run(&cluster, &workload, policy);
    let journal = outcome.journal.as_ref().expect("it was requested");
    assert_eq!(outcome.unfinished, 0, "{journal}");
    follow(&outcome, &workload, &cluster);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_rules_of_the_game_hold(
        tasks in prop::collection::vec(task(), 0..25),
        machines in prop::collection::vec(machine(), 1..6),
        load in prop::option::of(0_u64..9),
        notice in notice(),
        shared in prop::bool::weighted(0.3),
        policy in policy(),
        noise in prop_oneof![Just(0.0), Just(0.3)],
    ) {
        let (workload, cluster) =
            (workload(&tasks, noise), cluster(&machines, load, notice, shared));
        let outcome = run(&cluster, &workload, &policy);
        follow(&outcome, &workload, &cluster);
        prop_assert_eq!(run(&cluster, &workload, &policy), outcome, "same plan, same bytes");
    }

    /// Promise: a job ends at the instant at which it exceeds its retries. None of its attempts
    /// begins later, and running ones end then.
    #[test]
    fn a_job_ends_with_its_last_retry(
        tasks in prop::collection::vec(task(), 1..25),
        machines in prop::collection::vec(machine(), 1..4),
        order in prop::sample::select(vec!["priority:preempt=yes", "priority:preempt=yes,depth=1", "fifo", "random"]),
        limit in 0_u32..3,
        is_of_evictions in any::<bool>(),
    ) {
        let (workload, cluster) =
            (workload(&tasks, 0.0), cluster(&machines, None, Notice::After(0), false));
        let on = if is_of_evictions { "fail+evict" } else { "fail" };
        let policy = format!("{order}+kill:k8s:backoff_limit={limit},base_s=0,on={on}");
        let journal = run(&cluster, &workload, &policy).journal.expect("requested");
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        let mut ended: BTreeMap<u32, i64> = BTreeMap::new();
        for entry in journal.entries().filter(|entry| entry.task != NONE) {
            let job = workload.job.get(entry.task);
            if let Some(&ended_us) = ended.get(&job) {
                prop_assert!(!entry.kind.is_begin(), "{policy}: job {job} begins again");
                let is_late = entry.kind.is_end() && entry.machine != NONE && ended_us != entry.at_us;
                prop_assert!(!is_late, "{policy}: job {job} still runs");
            }
            let counts_it = entry.kind == Kind::Fail
                || is_of_evictions && matches!(entry.kind, Kind::Evict | Kind::Lost);
            if counts_it {
                let count = counts.entry(job).or_default();
                *count += 1;
                if limit < *count {
                    ended.entry(job).or_insert(entry.at_us);
                }
            }
        }
    }

    #[test]
    fn no_task_is_lost_when_machines_come_back(
        tasks in prop::collection::vec(task(), 1..25),
        machines in prop::collection::vec(machine(), 1..5),
        policy in policy(),
    ) {
        let mut machines = machines;
        // A large machine without changes, so that every task can run at some time.
        machines.push(Machine { speed: 1.0, cpu: 10, memory: Some(7), changes: vec![] });
        let workload = workload(&tasks, 0.0);
        let cluster = cluster(&machines, None, Notice::After(1_000_000), false);
        let outcome = run(&cluster, &workload, &policy);
        prop_assert_eq!(outcome.unfinished, 0);
        prop_assert!(outcome.refused.is_empty());
        for (task, phase) in (0..).zip(&outcome.phase) {
            let expected = match workload.fate.get(task) {
                Fate::Finishes => Phase::Finished,
                Fate::Fails => Phase::Failed,
                Fate::Stopped | Fate::Killed { .. } | Fate::Withdrawn { .. } => Phase::Killed,
            };
            let killed_early = policy.contains("kill") && *phase == Phase::Condemned;
            prop_assert!(*phase == expected || killed_early, "task {}: {:?}", task, phase);
        }
    }

    #[test]
    fn priorities_say_who_goes_first_and_nothing_else(
        tasks in prop::collection::vec(task(), 1..25),
        machines in prop::collection::vec(machine(), 1..5),
        policy in prop::sample::select(vec!["priority", "priority:preempt=no", "priority:depth=2"]),
        far in prop::array::uniform3(any::<i32>()),
    ) {
        let mut far = far;
        far.sort_unstable();
        prop_assume!(far[0] < far[1] && far[1] < far[2]);
        let of_rank = |rank: Option<i32>| rank.map(|rank| far[usize::try_from(rank / 150).expect("from 0")]);
        let near = workload(&tasks, 0.0);
        let mut same_order = near.clone();
        let ranks = (0..).take(near.task_count).map(|task| of_rank(near.priority.get(task)));
        same_order.priority = Column::Each(ranks.collect());
        let cluster = cluster(&machines, None, Notice::After(0), false);
        prop_assert_eq!(run(&cluster, &same_order, policy), run(&cluster, &near, policy));
    }

    #[test]
    fn what_is_not_known_is_not_checked(
        tasks in prop::collection::vec((task(), any::<u64>()), 1..25),
        machines in prop::collection::vec(machine(), 1..5),
        policy in policy(),
    ) {
        // A random search makes new draws, unless it knows that no machine can serve the demand.
        let policy = policy.replace("random-fit", "first-fit");
        let mut machines = machines;
        for machine in &mut machines {
            machine.memory = None;
        }
        let cluster = cluster(&machines, None, Notice::After(0), false);
        let (tasks, memory): (Vec<Task>, Vec<u64>) = tasks.into_iter().unzip();
        let mut asking = workload(&tasks, 0.0);
        let mut modest = asking.clone();
        asking.memory = Column::Each(memory);
        modest.memory = Column::Each(vec![0; tasks.len()]);
        prop_assert_eq!(run(&cluster, &asking, &policy), run(&cluster, &modest, &policy));
    }

    /// With predictions from the last two runs, later ends do not change anything before them.
    #[test]
    fn predicted_running_times_know_no_future(
        tasks in prop::collection::vec(task(), 1..25),
        machines in prop::collection::vec(machine(), 1..5),
        order in prop::sample::select(vec!["easy:predict=last2", "easy:depth=2,predict=last2"]),
        at_s in 0_i64..60,
    ) {
        let workload = workload(&tasks, 0.0);
        let cluster = cluster(&machines, None, Notice::After(0), false);
        let first = run(&cluster, &workload, order);
        let at_us = at_s * 1_000_000;
        let mut other = workload.clone();
        let work_us = (0..).take(workload.task_count).map(|task| {
            let is_known = first.end_us[task as usize].is_some_and(|end_us| end_us <= at_us);
            workload.work_us.get(task) + if is_known { 0 } else { 1_000_000_000 }
        });
        other.work_us = Column::Each(work_us.collect());
        let until = |outcome: Outcome| -> Vec<Entry> {
            let journal = outcome.journal.expect("requested");
            journal.entries().take_while(|entry| entry.at_us <= at_us).collect()
        };
        prop_assert_eq!(until(first), until(run(&cluster, &other, order)));
    }

    /// A task that starts on a machine for one task at a time has the least work of all waiting
    /// tasks, counted up to its kill.
    #[test]
    fn the_shortest_is_the_one_with_the_least_to_do(tasks in prop::collection::vec(task(), 1..25)) {
        let mut workload = workload(&tasks, 0.0);
        workload.cpu = Column::Same(UNITS);
        workload.memory = Column::Same(0);
        workload.extra_us = Column::Same(0);
        workload.failures = Failures::default();
        let cluster = Cluster::of_speeds(vec![1.0]).check().expect("valid input").0;
        let outcome = run(&cluster, &workload, "shortest");
        let takes_us = |task: u32, now_us: i64| match workload.fate.get(task) {
            Fate::Killed { age_us } => workload.arrival_us.get(task) + age_us - now_us,
            Fate::Withdrawn { age_us } => {
                workload.work_us.get(task).min(workload.arrival_us.get(task) + age_us - now_us)
            }
            _ => workload.work_us.get(task),
        };
        let starts = outcome.journal.as_ref().expect("it was requested").entries();
        for start in starts.filter(|entry| entry.kind == Kind::Start) {
            let now_us = start.at_us;
            let waits = |task: u32| {
                let idx = task as usize;
                let is_ahead = |at_us: Option<i64>| at_us.is_none_or(|at_us| now_us < at_us);
                workload.arrival_us.get(task) <= now_us
                    && is_ahead(outcome.end_us[idx])
                    && is_ahead(outcome.first_start_us[idx])
            };
            for other in (0..).take(workload.task_count).filter(|&other| waits(other)) {
                prop_assert!(takes_us(start.task, now_us) <= takes_us(other, now_us));
            }
        }
    }

    #[test]
    fn a_rule_beside_one_that_never_acts_acts_as_alone(
        tasks in prop::collection::vec(task(), 1..25),
        machines in prop::collection::vec(machine(), 1..5),
        rule in prop::sample::select(rules_that_can_stand_beside_late()),
        is_first in any::<bool>(),
    ) {
        let idle = "late:cap=0";
        let pair = if is_first { format!("{rule}+{idle}") } else { format!("{idle}+{rule}") };
        let (workload, cluster) =
            (workload(&tasks, 0.0), cluster(&machines, None, Notice::After(0), false));
        let (alone, beside) = (run(&cluster, &workload, &rule), run(&cluster, &workload, &pair));
        prop_assert_eq!(alone.journal, beside.journal);
    }

    #[test]
    fn copies_change_nothing_where_nothing_straggles(
        tasks in prop::collection::vec((0_i64..40, 0_u32..3), 1..30),
        machine_count in 1_usize..6,
        rule in prop::sample::select(rules()),
    ) {
        // If all tasks have the same length and all machines the same speed, a copy never ends
        // first.
        let mut workload = Workload::plain(tasks.len(), Column::Same(10_000_000));
        workload.arrival_us = Column::Each(tasks.iter().map(|task| task.0 * 1_000_000).collect());
        workload.job = Column::Each(tasks.iter().map(|task| task.1).collect());
        workload.group = workload.job.clone();
        let workload = workload.check().expect("valid input");
        let cluster = Cluster::of_speeds(vec![1.0; machine_count]).check().expect("valid input").0;
        let base = run(&cluster, &workload, "fifo");
        let ours = run(&cluster, &workload, &format!("fifo+{rule}"));
        // A copy without use may still delay a task that arrives later.
        let at_once = tasks.iter().all(|task| task.0 == tasks[0].0);
        if at_once || (ours.copies == 0 && ours.sum(Kind::Restart).count == 0) {
            prop_assert_eq!(&ours.end_us, &base.end_us);
        }
        let ends = |outcome: &Outcome| {
            job_ends(&fates(outcome.journal.as_ref().expect("requested"), tasks.len()), &workload)
        };
        let over = |outcome: &Outcome| ends(outcome).iter().filter(|job| job.response_s.is_some()).count();
        prop_assert_eq!(over(&ours), over(&base));
    }
}

//! Tests orders and backfilling against a plain simulation that shares no code with the engine: one
//! machine, whole seconds, everything recomputed each second.

use proptest::prelude::*;

use super::cluster::Cluster;
use super::drawn::drawn;
use super::engine::{Plan, replay};
use super::policies::PolicyPlan;
use super::workload::{Column, UNITS, Workload};

const CASES: u32 = drawn(1_000);

/// Processors of the machine.
const ALL: u64 = 6;

/// A job: submit time, running time and requested time, s, and processors.
#[derive(Clone, Copy, Debug)]
struct Job {
    submit_s: i64,
    run_s: i64,
    asked_s: i64,
    cpu: u64,
}

fn job() -> impl Strategy<Value = Job> {
    (0_i64..40, 1_i64..25, prop_oneof![Just(0), 0_i64..20], 1..=ALL).prop_map(
        |(submit_s, run_s, more_s, cpu)| Job { submit_s, run_s, asked_s: run_s + more_s, cpu },
    )
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    prop::collection::vec(job(), 1..22).prop_map(|mut jobs| {
        jobs.sort_by_key(|job| job.submit_s);
        jobs
    })
}

/// Jobs that all request the same number of processors.
fn jobs_of_one_size() -> impl Strategy<Value = Vec<Job>> {
    (jobs(), 1..=ALL).prop_map(|(mut jobs, cpu)| {
        for job in &mut jobs {
            job.cpu = cpu;
        }
        jobs
    })
}

/// More jobs than can run at once, most of them submitted within a short time.
fn many_jobs() -> impl Strategy<Value = Vec<Job>> {
    prop::collection::vec(job(), 40..70).prop_map(|mut jobs| {
        for job in &mut jobs {
            job.submit_s *= 3;
        }
        jobs.sort_by_key(|job| job.submit_s);
        jobs
    })
}

/// When each job starts under a policy, s.
fn replayed(jobs: &[Job], policy: &str) -> Vec<i64> {
    replayed_of(jobs, &vec![0; jobs.len()], policy)
}

/// The same as [`replayed`], with the user of each job.
fn replayed_of(jobs: &[Job], users: &[u32], policy: &str) -> Vec<i64> {
    let micros = |value: fn(&Job) -> i64| {
        Column::Each(jobs.iter().map(|job| value(job) * 1_000_000).collect())
    };
    let mut workload = Workload::plain(jobs.len(), micros(|job| job.run_s));
    workload.arrival_us = micros(|job| job.submit_s);
    workload.cpu = Column::Each(jobs.iter().map(|job| job.cpu * UNITS).collect());
    let asked = jobs.iter().map(|job| Some(job.asked_s * 1_000_000));
    workload.requested_us = Column::Each(asked.collect());
    workload.user = Column::Each(users.to_vec());
    let workload = workload.check().expect("valid input");
    let mut cluster = Cluster::of_speeds(vec![1.0]);
    cluster.cpu = vec![ALL * UNITS];
    let cluster = cluster.check().expect("valid input").0;
    let policy: PolicyPlan = policy.parse().expect("valid input");
    let outcome = replay(&Plan::new(&cluster, &workload, &policy)).expect("valid input");
    outcome.first_start_us.iter().map(|at_us| at_us.expect("all start") / 1_000_000).collect()
}

/// The score of a job; the lowest score starts first. A second implementation of each formula.
#[expect(clippy::cast_precision_loss, reason = "small whole numbers")]
fn score(order: &str, job: Job, now_s: i64) -> f64 {
    let (r, n) = (job.asked_s as f64, job.cpu as f64);
    let (s, w) = (job.submit_s.max(1) as f64, (now_s - job.submit_s) as f64);
    match order {
        "sjf" => r,
        "ljf" => -r,
        "smallest" => n,
        "largest" => -n,
        "wfp3" => -(w / r) * (w / r) * (w / r) * n,
        "unicep" if job.cpu == 1 => f64::NEG_INFINITY,
        "unicep" => -w / (n.log2() * r),
        "f1" => r.log10() * n + 8.70e2 * s.log10(),
        "f2" => r.sqrt() * n + 2.56e4 * s.log10(),
        "f3" => r * n + 6.86e6 * s.log10(),
        "f4" => r * n.sqrt() + 5.30e5 * s.log10(),
        _ => 0.0,
    }
}

const ORDERS: [&str; 11] =
    ["fifo", "sjf", "ljf", "smallest", "largest", "wfp3", "unicep", "f1", "f2", "f3", "f4"];

/// A job that has started.
#[derive(Clone, Copy)]
struct Started {
    job: Job,
    start_s: i64,
}

fn used(running: &[Started]) -> u64 {
    running.iter().map(|one| one.job.cpu).sum()
}

/// The waiting jobs in the given order.
fn in_order(jobs: &[Job], waiting: &[usize], order: &str, now_s: i64) -> Vec<usize> {
    let mut sorted = waiting.to_vec();
    sorted.sort_by(|&one, &other| {
        let of = |idx: usize| score(order, jobs[idx], now_s);
        of(one).total_cmp(&of(other)).then(one.cmp(&other))
    });
    sorted
}

/// The waiting jobs that start now: strictly in order, or with EASY also behind the first job that
/// does not fit.
fn starts_now(
    jobs: &[Job],
    sorted: &[usize],
    running: &[Started],
    is_easy: bool,
    now_s: i64,
) -> Vec<usize> {
    let mut running = running.to_vec();
    let mut starts = Vec::new();
    // The planned start of the first job that does not fit, and the processors left free then.
    let mut shadow: Option<(i64, u64)> = None;
    for &idx in sorted {
        let job = jobs[idx];
        let fits = used(&running) + job.cpu <= ALL;
        match &mut shadow {
            None if fits => {}
            None if !is_easy => break,
            None => {
                let mut ends: Vec<i64> =
                    running.iter().map(|one| one.start_s + one.job.asked_s).collect();
                ends.sort_unstable();
                let left = |at_s: i64| {
                    let still = running.iter().filter(|one| at_s < one.start_s + one.job.asked_s);
                    ALL - still.map(|one| one.job.cpu).sum::<u64>()
                };
                let at_s = ends.into_iter().find(|&at_s| job.cpu <= left(at_s)).expect("all end");
                shadow = Some((at_s, left(at_s) - job.cpu));
                continue;
            }
            Some((at_s, _)) if fits && now_s + job.asked_s <= *at_s => {}
            Some((_, spare)) if fits && job.cpu <= *spare => *spare -= job.cpu,
            Some(_) => continue,
        }
        running.push(Started { job, start_s: now_s });
        starts.push(idx);
    }
    starts
}

/// Simulated start times with an order, s.
fn simulated(jobs: &[Job], order: &str, is_easy: bool) -> Vec<i64> {
    let mut starts = vec![-1; jobs.len()];
    let (mut waiting, mut running): (Vec<usize>, Vec<Started>) = (Vec::new(), Vec::new());
    let mut now_s = 0;
    while starts.contains(&-1) {
        let known = running.len() + waiting.len();
        let before = running.len();
        running.retain(|one| one.start_s + one.job.run_s != now_s);
        waiting.extend((0..jobs.len()).filter(|&idx| jobs[idx].submit_s == now_s));
        // A scheduler acts when a job is submitted or ends.
        let has_news = running.len() < before || known < running.len() + waiting.len();
        let sorted = if has_news { in_order(jobs, &waiting, order, now_s) } else { Vec::new() };
        for idx in starts_now(jobs, &sorted, &running, is_easy, now_s) {
            starts[idx] = now_s;
            running.push(Started { job: jobs[idx], start_s: now_s });
            waiting.retain(|&other| other != idx);
        }
        now_s += 1;
    }
    starts
}

/// The planned running time of a job that has run for `age_s`, given its predicted and its
/// requested time.
fn planned_s(predicted_s: i64, asked_s: i64, age_s: i64) -> i64 {
    let mut minutes = [1, 5, 15, 30].into_iter();
    let mut planned_s = predicted_s;
    while planned_s <= age_s && planned_s < asked_s {
        let more_s = minutes.next().expect("jobs are short") * 60;
        planned_s = (planned_s + more_s).min(asked_s);
    }
    planned_s
}

/// Simulated start times with EASY and predictions from the user's last two runs, s.
fn simulated_by_last_two(jobs: &[Job], users: &[u32]) -> Vec<i64> {
    let mut starts = vec![-1; jobs.len()];
    let (mut waiting, mut running): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut planned = jobs.to_vec();
    let mut runs: Vec<Vec<i64>> = vec![Vec::new(); 3];
    let mut now_s = 0;
    while starts.contains(&-1) {
        let is_over = |idx: &usize| starts[*idx] + jobs[*idx].run_s == now_s;
        let over: Vec<usize> = running.iter().copied().filter(is_over).collect();
        running.retain(|idx| !over.contains(idx));
        for &idx in &over {
            runs[users[idx] as usize].push(jobs[idx].run_s);
        }
        let new: Vec<usize> = (0..jobs.len()).filter(|&idx| jobs[idx].submit_s == now_s).collect();
        for &idx in &new {
            let last: Vec<i64> = runs[users[idx] as usize].iter().rev().take(2).copied().collect();
            let count = i64::try_from(last.len()).expect("at most two");
            planned[idx].asked_s = match count {
                0 => jobs[idx].asked_s,
                _ => (last.iter().sum::<i64>() / count).min(jobs[idx].asked_s),
            };
        }
        waiting.extend(&new);
        if !over.is_empty() || !new.is_empty() {
            let now = |&idx: &usize| {
                let age_s = now_s - starts[idx];
                let asked_s = planned_s(planned[idx].asked_s, jobs[idx].asked_s, age_s);
                Started { job: Job { asked_s, ..jobs[idx] }, start_s: starts[idx] }
            };
            let going: Vec<Started> = running.iter().map(now).collect();
            for idx in starts_now(&planned, &waiting, &going, true, now_s) {
                starts[idx] = now_s;
                running.push(idx);
                waiting.retain(|&other| other != idx);
            }
        }
        now_s += 1;
    }
    starts
}

/// Start times with conservative backfilling, and those promised at submission, s.
fn conserved(jobs: &[Job], order: &str) -> (Vec<i64>, Vec<i64>) {
    let count = jobs.len();
    let (mut starts, mut promised) = (vec![-1; count], vec![-1; count]);
    // Running jobs hold processors until the end of their requested time; bookings hold them, too.
    let mut booked: Vec<Option<i64>> = vec![None; count];
    let mut over = vec![false; count];
    let mut now_s = 0;
    while starts.contains(&-1) {
        let earliest = |booked: &[Option<i64>], over: &[bool], idx: usize| {
            let is_free = |at_s: i64| {
                let holds = (0..count).filter(|&other| {
                    other != idx
                        && !over[other]
                        && booked[other].is_some_and(|start_s| {
                            (start_s..start_s + jobs[other].asked_s).contains(&at_s)
                        })
                });
                holds.map(|other| jobs[other].cpu).sum::<u64>() + jobs[idx].cpu <= ALL
            };
            (now_s..6_000).find(|&from_s| (from_s..from_s + jobs[idx].asked_s).all(is_free))
        };
        let mut is_early = false;
        for idx in 0..count {
            if 0 <= starts[idx] && starts[idx] + jobs[idx].run_s == now_s {
                over[idx] = true;
                is_early |= jobs[idx].run_s < jobs[idx].asked_s;
            }
        }
        let waiting: Vec<usize> =
            (0..count).filter(|&idx| booked[idx].is_some() && starts[idx] < 0).collect();
        let sorted = in_order(jobs, &waiting, order, now_s);
        while std::mem::take(&mut is_early) {
            for &idx in &sorted {
                let better = earliest(&booked, &over, idx);
                if better < booked[idx] {
                    booked[idx] = better;
                    is_early = true;
                }
            }
        }
        let new: Vec<usize> = (0..count).filter(|&idx| jobs[idx].submit_s == now_s).collect();
        for idx in in_order(jobs, &new, order, now_s) {
            booked[idx] = earliest(&booked, &over, idx);
            promised[idx] = booked[idx].expect("there is always a later second");
        }
        for idx in 0..count {
            if starts[idx] < 0 && booked[idx] == Some(now_s) {
                starts[idx] = now_s;
            }
        }
        now_s += 1;
    }
    (starts, promised)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn orders_by_request_start_as_in_a_plain_simulation(
        jobs in jobs(),
        order in prop::sample::select(ORDERS.to_vec()),
    ) {
        prop_assert_eq!(replayed(&jobs, order), simulated(&jobs, order, false));
    }

    #[test]
    fn any_order_backfills_as_in_a_plain_simulation(
        jobs in jobs(),
        order in prop::sample::select(ORDERS.to_vec()),
    ) {
        let policy = format!("{order}:backfill=easy");
        prop_assert_eq!(replayed(&jobs, &policy), simulated(&jobs, order, true));
    }

    #[test]
    fn no_start_is_later_than_was_promised_at_submission(
        jobs in jobs(),
        order in prop::sample::select(ORDERS.to_vec()),
    ) {
        let policy = format!("{order}:backfill=conservative");
        let (starts, promised) = conserved(&jobs, order);
        let ours = replayed(&jobs, &policy);
        prop_assert!(ours.iter().zip(&promised).all(|(ours, promised)| ours <= promised));
        prop_assert_eq!(ours, starts);
    }

    #[test]
    fn jobs_of_one_size_start_as_promised_too(
        jobs in jobs_of_one_size(),
        order in prop::sample::select(ORDERS.to_vec()),
    ) {
        let policy = format!("{order}:backfill=conservative");
        prop_assert_eq!(replayed(&jobs, &policy), conserved(&jobs, order).0);
        prop_assert_eq!(replayed(&jobs, "conservative"), conserved(&jobs, "fifo").0);
    }

    #[test]
    fn easy_by_the_last_two_runs_starts_as_in_a_plain_simulation(
        jobs in prop::collection::vec((job(), 0_u32..3), 1..22),
    ) {
        // Running times are even, so the mean of two is a whole number.
        let even = |job: Job| Job { run_s: 2 * job.run_s, asked_s: job.asked_s + job.run_s, ..job };
        let mut jobs: Vec<(Job, u32)> = jobs.into_iter().map(|(job, user)| (even(job), user)).collect();
        jobs.sort_by_key(|(job, _)| job.submit_s);
        let (jobs, users): (Vec<Job>, Vec<u32>) = jobs.into_iter().unzip();
        let expected = simulated_by_last_two(&jobs, &users);
        prop_assert_eq!(replayed_of(&jobs, &users, "easy:predict=last2"), expected);
    }

    #[test]
    fn easy_is_fifo_with_backfilling(jobs in jobs()) {
        prop_assert_eq!(replayed(&jobs, "easy"), replayed(&jobs, "fifo:backfill=easy"));
        let conservative = replayed(&jobs, "conservative");
        prop_assert_eq!(&conservative, &replayed(&jobs, "fifo:backfill=conservative"));
        // If only one job waits at a time, its reservation is the only one.
        let waits = |at_s: i64| {
            let all = jobs.iter().zip(&conservative);
            all.filter(|(job, start_s)| job.submit_s <= at_s && at_s < **start_s).count()
        };
        if (0..400).all(|at_s| waits(at_s) <= 1) {
            prop_assert_eq!(replayed(&jobs, "easy"), conservative);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES.div_ceil(100), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn long_queues_start_as_in_a_plain_simulation(
        jobs in many_jobs(),
        order in prop::sample::select(vec!["fifo", "sjf", "largest", "wfp3"]),
    ) {
        let policy = format!("{order}:backfill=conservative");
        prop_assert_eq!(replayed(&jobs, &policy), conserved(&jobs, order).0);
    }
}

/// On a machine of six processors, `a` holds four until 10 s. `b` needs all six, `c` four for 10 s,
/// `d` two for 7 s, and `e` two for 20 s.
#[test]
fn a_promise_holds_back_whom_easy_lets_pass() {
    let job = |submit_s, run_s, cpu| Job { submit_s, run_s, asked_s: run_s, cpu };
    let jobs = [job(0, 10, 4), job(1, 10, 6), job(2, 10, 4), job(3, 7, 2), job(4, 20, 2)];
    //          a              b: after a     c: after b     d: with a     e: with c
    assert_eq!(replayed(&jobs, "fifo"), [0, 10, 20, 20, 27]);
    assert_eq!(replayed(&jobs, "easy"), [0, 10, 20, 3, 20]);
    assert_eq!(replayed(&jobs, "conservative"), [0, 10, 20, 3, 20]);
    // An early end moves bookings to earlier times, but none past another booking.
    let mut early = jobs;
    early[0].run_s = 5;
    assert_eq!(replayed(&early, "conservative"), [0, 10, 20, 3, 20]);
    early[3].run_s = 3;
    assert_eq!(replayed(&early, "conservative"), [0, 6, 16, 3, 16]);
}

/// `d` requests 100 s and runs for 4 s. By the last two runs of its user, it fits before `c`.
#[test]
fn the_last_two_runs_let_a_careless_user_pass() {
    let job = |submit_s, run_s, asked_s, cpu| Job { submit_s, run_s, asked_s, cpu };
    //  u1  a |=| 4   b |=| 4        d |=| 4 instead of 100
    //  u0      long |=========================| 40, c behind it wants all
    let jobs = [
        job(0, 4, 100, 1),
        job(5, 4, 100, 1),
        job(10, 30, 30, 4),
        job(11, 10, 10, 6),
        job(12, 4, 100, 2),
    ];
    let users = [1, 1, 0, 0, 1];
    assert_eq!(replayed_of(&jobs, &users, "easy"), [0, 5, 10, 40, 50]);
    assert_eq!(replayed_of(&jobs, &users, "easy:predict=last2"), [0, 5, 10, 40, 12]);
    assert_eq!(replayed_of(&jobs, &users, "fifo:predict=last2,backfill=easy")[4], 12);
    // A run counts only if it has ended before `d` is submitted.
    let mut late = jobs;
    late[0].submit_s = 5;
    (late[0].run_s, late[1].run_s) = (8, 8);
    assert_eq!(replayed_of(&late, &users, "easy:predict=last2")[4], 50);
}

/// `d` exceeds its prediction of 10 s at 30 s. When `e` comes at 40 s, the plan of `d` is one
/// minute longer, so `e`, which takes 100 s, would delay `c`. If the first step were two minutes,
/// it would not.
#[test]
fn steps_say_how_long_an_outlived_prediction_becomes() {
    let job = |submit_s, run_s, asked_s, cpu| Job { submit_s, run_s, asked_s, cpu };
    //  u1  a, b |=| 10   d 20 |=================| 220
    //  u2, u3                  c 21, wants all     e 40
    let jobs = [
        job(0, 10, 100, 1),
        job(0, 10, 100, 1),
        job(20, 200, 1000, 4),
        job(21, 10, 10, 6),
        job(40, 100, 100, 2),
    ];
    let users = [1, 1, 1, 2, 3];
    let check = |policy: &str, e_s: i64| {
        assert_eq!(replayed_of(&jobs, &users, policy), [0, 0, 20, 220, e_s], "{policy}");
    };
    check("easy:predict=last2", 230);
    check("easy:predict=last2,steps_min=1/5/15/30/60/120/300/600/1200/3000/6000", 230);
    check("easy:predict=last2,steps_min=2", 40);
}

/// The choice of each formula among three jobs that wait for the whole machine until 100 s.
#[test]
fn published_formulas_order_the_same_jobs_differently() {
    let job = |submit_s, asked_s, cpu| Job { submit_s, run_s: asked_s, asked_s, cpu };
    // x: 1000 s on 2 processors at 10 s; y: 10 s on 6 at 20 s; z: 100 s on 4 at 90 s.
    let jobs = [job(0, 100, 6), job(10, 1000, 2), job(20, 10, 6), job(90, 100, 4)];
    let first = |policy: &str| {
        let starts = replayed(&jobs, policy);
        ["x", "y", "z"][(1..4).find(|&idx| starts[idx] == 100).expect("one starts") - 1]
    };
    // wfp3: x (90/1000)^3 2 = 0.0015, y (80/10)^3 6 = 3072, z (10/100)^3 4 = 0.004.
    assert_eq!(first("wfp3"), "y");
    // f1: x 3 x 2 + 870 = 876, y 6 + 870 x 1.30 = 1138, z 8 + 870 x 1.95 = 1708.
    assert_eq!(first("f1"), "x");
    assert_eq!((first("sjf"), first("largest")), ("y", "y"));
    assert_eq!((first("ljf"), first("smallest")), ("x", "x"));
    // unicep: x 90/(1 x 1000) = 0.09, y 80/(2.58 x 10) = 3.1, z 10/(2 x 100) = 0.05.
    assert_eq!(first("unicep"), "y");
}

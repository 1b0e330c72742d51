//! Small cases with drawn timelines: text of a workload and a policy in, text of the journal out.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::format_push_string,
    clippy::format_collect,
    reason = "small whole numbers"
)]

use super::cluster::{Change, Cluster, MachineChange, Notice};
use super::engine::{Outcome, Plan, heartbeats, replay};
use super::gpus::{ANY_MODEL, GpuAsk, Gpus};
use super::inputs::Inputs;
use super::journal::Kind;
use super::metrics::measure;
use super::policies::PolicyPlan;
use super::room::Room;
use super::state::Phase;
use super::workload::{Column, Failures, Fate, Reruns, Workload};

/// Reads a case. Lines: `machine m1 speed=2 cpu=4 memory=8 gpus=2 model=1`, `task t1 at=0 runs=5
/// ...`, `leave m1 at=3`, `join m1 at=9`, `speed m1 at=3 to=0.5`, `unnoticed`. Times are seconds.
pub(super) fn read(text: &str) -> (Cluster, Workload) {
    let mut cluster = Cluster::of_speeds(vec![]);
    let mut columns = Columns::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let (what, name) = (words.next().unwrap(), words.next().unwrap_or(""));
        let pairs: Vec<(&str, f64)> = words
            .map(|word| word.split_once('=').unwrap())
            .filter(|(key, _)| *key != "fails")
            .map(|(key, value)| (key, value.parse().unwrap()))
            .collect();
        let get = |key: &str, default: f64| {
            pairs.iter().find(|pair| pair.0 == key).map_or(default, |pair| pair.1)
        };
        let machine = || name[1..].parse::<u32>().unwrap() - 1;
        let at_us = micros(get("at", 0.0));
        let change = match what {
            "machine" => {
                cluster.speed.push(get("speed", 1.0));
                cluster.cpu.push(units(get("cpu", 1.0)));
                cluster.memory.push(memory(get("memory", -1.0)));
                let (count, model) = (get("gpus", 0.0) as u8, get("model", 0.0) as u64);
                cluster.gpus.push(Gpus { count, model });
                cluster.is_present.push(true);
                continue;
            }
            "task" => {
                let fails = line.split_once("fails=").map(|(_, rest)| rest);
                columns.add(&get, fails.map(|rest| rest.split(' ').next().unwrap()));
                continue;
            }
            "unnoticed" => {
                cluster.notice = Notice::Never;
                continue;
            }
            "leave" => Change::Leaves,
            "join" => Change::Joins,
            "speed" => Change::Speed(get("to", 1.0)),
            "capacity" => {
                let (cpu, memory) = (units(get("cpu", 1.0)), memory(get("memory", -1.0)));
                Change::Capacity(Room { cpu, memory })
            }
            _ => panic!("unknown line: {line}"),
        };
        cluster.changes.push(MachineChange { at_us, machine: machine(), change });
    }
    // A case without GPUs does not check GPUs.
    if cluster.gpus.iter().all(|gpus| gpus.count == 0) {
        cluster.gpus.clear();
        columns.gpus.clear();
    }
    (cluster.check().unwrap().0, columns.workload())
}

fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

/// Memory in millionths; `None` if the case does not give it.
fn memory(amount: f64) -> Option<u64> {
    (0.0 <= amount).then(|| units(amount))
}

fn units(amount: f64) -> u64 {
    (amount * 1e6).round() as u64
}

#[derive(Default)]
struct Columns {
    rows: Vec<[f64; 11]>,
    gpus: Vec<GpuAsk>,
    failures: Vec<Vec<i64>>,
}

impl Columns {
    fn add(&mut self, get: &dyn Fn(&str, f64) -> f64, fails: Option<&str>) {
        let runs = get("runs", 0.0);
        self.rows.push([
            get("at", 0.0),
            runs,
            get("cpu", 1.0),
            get("memory", 0.0),
            get("priority", 0.0),
            get("user", 0.0),
            get("job", self.rows.len() as f64),
            get("asks", -1.0),
            get("apart", 0.0),
            get("killed", -1.0),
            get("fate", 4.0),
        ]);
        let models = get("models", -1.0);
        let models = if models < 0.0 { ANY_MODEL } else { models as u64 };
        self.gpus.push(GpuAsk::new(get("gpus", 0.0) as u8, get("milli", 1000.0) as u16, models));
        let fails = fails.map(|text| text.split('/').map(|work| micros(work.parse().unwrap())));
        self.failures.push(fails.map_or(Vec::new(), Iterator::collect));
    }

    fn workload(&self) -> Workload {
        let mut workload = Workload::plain(self.rows.len(), Column::Same(0));
        let column = |idx: usize| self.rows.iter().map(move |row| row[idx]);
        workload.arrival_us = Column::Each(column(0).map(micros).collect());
        workload.work_us = Column::Each(column(1).map(micros).collect());
        workload.cpu = Column::Each(column(2).map(units).collect());
        workload.memory = Column::Each(column(3).map(units).collect());
        if !self.gpus.is_empty() {
            workload.gpus = Column::Each(self.gpus.clone());
        }
        workload.priority = Column::Each(column(4).map(|value| Some(value as i32)).collect());
        workload.user = Column::Each(column(5).map(|value| value as u32).collect());
        workload.job = Column::Each(column(6).map(|value| value as u32).collect());
        workload.requested_us =
            Column::Each(column(7).map(|asks| (0.0 <= asks).then(|| micros(asks))).collect());
        workload.is_apart = Column::Each(column(8).map(|value| 0.0 < value).collect());
        let fate = |row: &[f64; 11]| match row[10] {
            _ if 0.0 <= row[9] => Fate::Killed { age_us: micros(row[9]) },
            3.0 => Fate::Fails,
            5.0 => Fate::Stopped,
            _ => Fate::Finishes,
        };
        workload.fate = Column::Each(self.rows.iter().map(fate).collect());
        let mut failures = Failures { first: vec![0], work_us: Vec::new() };
        for fails in &self.failures {
            failures.work_us.extend(fails);
            failures.first.push(u32::try_from(failures.work_us.len()).unwrap());
        }
        workload.failures = failures;
        workload.check().unwrap()
    }
}

fn run(text: &str, policy: &str) -> Outcome {
    let (cluster, workload) = read(text);
    let policy: PolicyPlan = policy.parse().unwrap();
    replay(&Plan::new(&cluster, &workload, &policy)).unwrap()
}

/// Replays a case and compares the journal, without submits.
pub(super) fn check(text: &str, policy: &str, expected: &str) -> Outcome {
    let outcome = run(text, policy);
    let journal = outcome.journal.as_ref().unwrap();
    let lines: Vec<String> = journal
        .entries()
        .filter(|entry| entry.kind != Kind::Submit)
        .map(|entry| entry.to_string())
        .collect();
    let expected: Vec<&str> =
        expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected, "{policy}");
    outcome
}

#[test]
fn a_freed_slot_is_used_in_the_same_instant() {
    //  m1:   |--- t1 ---|--- t2 ---|
    //        0          5          9
    check(
        "machine m1
         task t1 at=0 runs=5
         task t2 at=5 runs=4",
        "fifo",
        "0 start t1 m1
         5 finish t1 m1
         5 start t2 m1
         9 finish t2 m1",
    );
}

#[test]
fn replication_of_a_work_queue_halves_the_makespan() {
    //  m1 (speed 1)  |--------- t1 ----x|
    //  m2 (speed 1)  |----------------- t2 ------------x|
    //  m3 (speed 4)  |- copy of t1 ----|- copy of t2 ---|
    //                0                 25               50
    let text = "machine m1
         machine m2
         machine m3 speed=4
         task t1 runs=100
         task t2 runs=100";
    let outcome = check(
        text,
        "wqr:copies=1",
        "0 start t1 m1
         0 start t2 m2
         0 copy t1 m3
         25 finish t1 m3
         25 cancel t1 m1
         25 copy t2 m3
         50 finish t2 m3
         50 cancel t2 m2",
    );
    assert_eq!(outcome.makespan_us, Some(50_000_000));
    // 75 units are wasted, 200 are useful.
    assert_eq!(outcome.sum(Kind::Cancel).work / outcome.sum(Kind::Finish).work, 0.375);
    assert_eq!((outcome.copies, outcome.copies_won), (2, 2));
    assert_eq!(run(text, "fifo").makespan_us, Some(100_000_000));
}

#[test]
fn reverse_copies_what_was_handed_out_last() {
    //  m1  |---------- t1 -----------|
    //  m2  |---------- t2 ---------x|
    //  m3  |-t3-|- copy of t2 ------|   forward would have copied t1
    //      0    2                   7
    let text = "machine m1 speed=1
         machine m2 speed=1
         machine m3 speed=2
         task t1 runs=10
         task t2 runs=10
         task t3 runs=4";
    check(
        text,
        "wqr:copies=1,order=reverse",
        "0 start t1 m1
         0 start t2 m2
         0 start t3 m3
         2 finish t3 m3
         2 copy t2 m3
         7 finish t2 m3
         7 cancel t2 m2
         7 copy t1 m3
         10 finish t1 m1
         10 cancel t1 m3",
    );
}

#[test]
fn only_a_copy_saves_a_task_whose_machine_went_unnoticed() {
    //  m1  |--x                            gone at 1, never detected
    //  m2  |--- t2 ---|--- copy of t1 ---|
    //      0          4                  8
    let text = "machine m1
         machine m2
         unnoticed
         task t1 runs=4
         task t2 runs=4
         leave m1 at=1";
    check(
        text,
        "wqr",
        "0 start t1 m1
         0 start t2 m2
         1 machine_leave m1
         1 lost t1 m1
         4 finish t2 m2
         4 copy t1 m2
         8 finish t1 m2",
    );
    let stuck = run(text, "fifo");
    assert_eq!((stuck.makespan_us, stuck.unfinished), (None, 1));
}

#[test]
fn what_is_lost_with_a_machine_goes_first() {
    //  m1  |--- t1 -x        |- t3 -|
    //  m2  |-- t2 --|- t1 ...
    check(
        "machine m1
         machine m2
         task t1 runs=4
         task t2 runs=2
         task t3 runs=1
         leave m1 at=2
         join m1 at=5",
        "fifo",
        "0 start t1 m1
         0 start t2 m2
         2 finish t2 m2
         2 machine_leave m1
         2 lost t1 m1
         2 notice m1
         2 start t1 m2
         5 machine_join m1
         5 start t3 m1
         6 finish t1 m2
         6 finish t3 m1",
    );
}

#[test]
fn failures_and_kills_are_carried_along() {
    //  m1  |t1 x|- t2 ---------- killed |t1 x|- t1 ---|
    //      0    2                       6    9        14
    check(
        "machine m1
         task t1 runs=5 fails=2/3
         task t2 at=1 killed=5 runs=1",
        "fifo",
        "0 start t1 m1
         2 fail t1 m1
         2 start t2 m1
         6 kill t2 m1
         6 kill t2
         6 start t1 m1
         9 fail t1 m1
         9 start t1 m1
         14 finish t1 m1",
    );
}

#[test]
fn a_task_is_condemned_at_the_event_after_the_threshold() {
    // Submit, start, fail and submit are four events; the second start would be the fifth.
    let text = "machine m1
         task t1 runs=5 fails=2/2/2";
    check(
        text,
        "kill:events=4",
        "0 start t1 m1
         2 fail t1 m1
         2 start t1 m1
         2 condemn t1 m1
         2 condemn t1",
    );
    assert_eq!(run(text, "kill:events=20").makespan_us, Some(11_000_000));
}

#[test]
fn a_task_is_condemned_by_every_rule_of_the_sweep() {
    let condemned_s = |text: &str, policy: &str| {
        let outcome = run(text, policy);
        let at_us = outcome.end_us[0].unwrap() / 1_000_000;
        (outcome.phase[0] == Phase::Condemned).then_some(at_us)
    };
    //  m1  |t1 x|t1 x|t1 x|-- t1 ---|
    let failing = "machine m1\ntask t1 runs=5 fails=2/2/2";
    //  m1  |t1 x|t1| gone |t1 x|t1 x|-- t1 ---|     a loss ends the row of failures
    let lost = format!("{failing}\nleave m1 at=3\njoin m1 at=4");
    for (policy, expected, expected_with_loss) in [
        ("kill:failures=2", Some(4), Some(8)),
        ("kill:failures=4", None, None),
        ("kill:dead-time=5", Some(6), Some(6)),
        ("kill:dead-time=7", None, Some(8)),
        ("kill:restarts=1", Some(2), Some(2)),
        ("kill:restarts=4", None, Some(8)),
        ("kill:events=4+failures=3", Some(6), None),
        ("kill:events=11+failures=2", None, Some(8)),
        ("kill:failures=2~priority=0", None, None),
    ] {
        assert_eq!(condemned_s(failing, policy), expected, "{policy}");
        assert_eq!(condemned_s(&lost, policy), expected_with_loss, "{policy} with a loss");
    }
}

#[test]
fn a_back_off_lets_others_go_first_and_doubles() {
    //  m1  |t1 x|-- t2 --|        |t1 x|                    |- t1 -|
    //      0    2        7       12   14                   34      39
    //           |......10 s.......|    |.......20 s........|
    let text = "machine m1
         task t1 at=0 runs=5 fails=2/2
         task t2 at=1 runs=5";
    check(
        text,
        "kill:k8s:backoff_limit=6,base_s=10,max_s=360",
        "0 start t1 m1
         2 fail t1 m1
         2 start t2 m1
         7 finish t2 m1
         12 start t1 m1
         14 fail t1 m1
         34 start t1 m1
         39 finish t1 m1",
    );
    let ends = |policy: &str| run(text, policy).end_us[0].map(|end_us| end_us / 1_000_000);
    assert_eq!(ends("kill:k8s:backoff_limit=6,max_s=12"), Some(31), "at most 12 s");
    assert_eq!(ends("kill:k8s:backoff_limit=6,base_s=0"), ends("fifo"), "no wait");
    // The third failure exceeds the limit.
    assert_eq!(ends("kill:k8s:backoff_limit=1"), Some(14));
    assert_eq!(ends("kill:k8s:backoff_limit=2"), Some(39));
}

#[test]
fn a_success_in_the_job_ends_the_row_of_failures() {
    //  m1  |t1 x|.....10 s......|t1 x|......10 s......|t1|     t2 finishes between the failures
    //  m2  |-------- t2 ---------|
    let text = "machine m1
         machine m2
         task t1 at=0 job=0 runs=1 fails=2/2
         task t2 at=0 job=0 runs=13";
    let end_s = |policy: &str| run(text, policy).end_us[0].map(|end_us| end_us / 1_000_000);
    assert_eq!(end_s("kill:k8s:backoff_limit=6"), Some(2 + 10 + 2 + 10 + 1));
    // Per task, t1 has no success between its failures, so it waits for 20 s.
    assert_eq!(end_s("kill:k8s:backoff_limit=6,per=task"), Some(2 + 10 + 2 + 20 + 1));
}

#[test]
fn retries_that_are_used_up_end_the_job() {
    //  m1  |t1 x|t1|        the second failure of the job exceeds the limit: t1 runs, t2 waits
    //  m2  |-t2-x           for 10 s, t3 has not come
    let text = "machine m1
         machine m2
         task t1 at=0 job=0 runs=9 fails=2
         task t2 at=0 job=0 runs=9 fails=3
         task t3 at=50 job=0 runs=1
         task t4 at=60 job=1 runs=1";
    check(
        text,
        "kill:k8s:backoff_limit=1,base_s=0",
        "0 start t1 m1
         0 start t2 m2
         2 fail t1 m1
         2 start t1 m1
         3 fail t2 m2
         3 condemn t2
         3 condemn t1 m1
         3 condemn t1
         50 condemn t3
         60 start t4 m2
         61 finish t4 m2",
    );
    // Spark and Hadoop count the failures of one task; Hadoop may give up only that task.
    let phases = |policy: &str| run(text, policy).phase;
    assert_eq!(phases("kill:spark:max_failures=2"), [Phase::Finished; 4]);
    let (c, f) = (Phase::Condemned, Phase::Finished);
    assert_eq!(phases("kill:hadoop:max_attempts=1"), [c, c, c, f]);
    assert_eq!(phases("kill:hadoop:max_attempts=1,per=task"), [c, c, f, f]);
    assert_eq!(phases("kill:spark:max_failures=1~priority=0"), [f; 4], "all are spared");
}

#[test]
fn an_eviction_counts_where_it_is_said() {
    //  m1  |- t1 -| gone |..6 s..|- t1 ---|
    let text = "machine m1
         task t1 runs=5
         leave m1 at=3
         join m1 at=4";
    let end_s = |policy: &str| run(text, policy).end_us[0].map(|end_us| end_us / 1_000_000);
    assert_eq!(end_s("kill:k8s:backoff_limit=6,base_s=6"), Some(9));
    assert_eq!(end_s("kill:k8s:backoff_limit=6,base_s=6,on=fail+evict"), Some(14));
    assert_eq!(end_s("kill:k8s:backoff_limit=0,on=fail+evict"), Some(3));
}

#[test]
fn a_limit_cuts_off_what_runs_longer() {
    //  m1  |- t1 50 -|-- t2 60 --|---- t3 70 ---x      t4 requested 20 s
    let text = "machine m1
         task t1 runs=50
         task t2 runs=60
         task t3 runs=70
         task t4 runs=30 asks=20";
    let ends = |policy: &str| -> Vec<i64> {
        run(text, policy).end_us.iter().map(|end_us| end_us.unwrap() / 1_000_000).collect()
    };
    assert_eq!(ends("kill:slurm:limit=60"), [50, 110, 170, 200]);
    assert_eq!(ends("kill:slurm:limit=100,of=requested"), [50, 110, 180, 200]);
    assert_eq!(ends("kill:slurm:limit=150,of=requested"), [50, 110, 180, 210]);
    // The full limit applies to each attempt.
    let failing = "machine m1\ntask t1 runs=60 fails=50/60";
    assert_eq!(run(failing, "kill:slurm:limit=60").phase, [Phase::Finished]);
    assert_eq!(run(failing, "kill:slurm:limit=59").phase, [Phase::Condemned]);
    assert_eq!(run(failing, "kill:slurm:limit=59+failures=2").phase, [Phase::Condemned]);
    assert_eq!(run(failing, "kill:slurm:limit=60+failures=1").phase, [Phase::Finished]);
}

#[test]
fn a_higher_priority_makes_room() {
    //  m1  |- t1 --x|- t3 -|- t1 ----|      t1 starts again
    //  m2  |----- t2 --------|
    check(
        "machine m1
         machine m2
         task t1 runs=5 at=1 priority=1
         task t2 runs=9 at=0 priority=1
         task t3 runs=3 at=3 priority=9",
        "priority",
        "0 start t1 m1
         1 start t2 m2
         3 evict t2 m2
         3 start t3 m2
         6 finish t3 m2
         6 start t2 m2
         9 finish t1 m1
         11 finish t2 m2",
    );
}

#[test]
fn backfilling_does_not_delay_the_first() {
    //  cpu 2  |----- t1 -----|==== t2 (both) ====|
    //  cpu 1  |- t4 -|       |                   |- t3 -|
    //         0      3       4                   8      13
    let text = "machine m1 cpu=2
         task t1 runs=4 asks=4
         task t2 runs=4 asks=4 cpu=2
         task t3 runs=5 asks=5
         task t4 runs=3 asks=3";
    check(
        text,
        "easy",
        "0 start t1 m1
         0 start t4 m1
         3 finish t4 m1
         4 finish t1 m1
         4 start t2 m1
         8 finish t2 m1
         8 start t3 m1
         13 finish t3 m1",
    );
    assert_eq!(run(text, "fifo").makespan_us, Some(13_000_000));
    assert_eq!(run(text, "fifo:depth=9").makespan_us, Some(11_000_000), "t3 and t4 delay t2 to 7");
}

#[test]
fn dominant_shares_are_evened_out() {
    // The example of Ghodsi and others (2011): 9 CPUs and 18 GB; one user requests (1, 4), the
    // other (3, 1). Shares are equal with three and two running tasks.
    let mut text = String::from("machine m1 cpu=9 memory=18\n");
    for task in 0..10 {
        let user = if task < 5 { "user=0 cpu=1 memory=4" } else { "user=1 cpu=3 memory=1" };
        text += &format!("task t{} runs=10 {user}\n", task + 1);
    }
    let outcome = run(&text, "drf");
    let begun = |tasks: std::ops::Range<usize>| {
        tasks.filter(|&task| outcome.first_start_us[task] == Some(0)).count()
    };
    assert_eq!((begun(0..5), begun(5..10)), (3, 2));
}

#[test]
fn a_user_with_a_past_gets_less() {
    // User 0 has held 8 CPUs for two half-lives of 10 s: its priority is 0.5/4 + 8 x 3/4 = 6.125.
    // User 1 starts with 0.5, and gets 6.125 / 0.5 = 12 times as much: all but the last slot.
    let mut text: String = (1..=8).map(|machine| format!("machine m{machine}\n")).collect();
    for task in 1..=8 {
        text += &format!("task t{task} runs=21 user=0\n");
    }
    for task in 9..=24 {
        text += &format!("task t{task} at=1 runs=5 user={}\n", task % 2);
    }
    let outcome = run(&text, "fair:half_life_s=10,interval_s=10");
    let mut begun = [0, 0];
    for task in (8..24).filter(|&task| outcome.first_start_us[task] == Some(21_000_000)) {
        begun[(task + 1) % 2] += 1;
    }
    assert_eq!(begun, [1, 7]);
}

#[test]
fn the_shortest_goes_first() {
    check(
        "machine m1
         task t1 runs=5
         task t2 runs=2
         task t3 runs=3",
        "shortest",
        "0 start t2 m1
         2 finish t2 m1
         2 start t3 m1
         5 finish t3 m1
         5 start t1 m1
         10 finish t1 m1",
    );
}

#[test]
fn placements_choose_among_machines_with_room() {
    let text = "machine m1 cpu=4 memory=4
         machine m2 cpu=1 memory=1
         machine m3 cpu=8 memory=8
         task t1 runs=1 memory=1";
    let machine = |policy: &str| {
        let outcome = run(text, policy);
        outcome.journal.unwrap().entries().find(|e| e.kind == Kind::Start).unwrap().machine + 1
    };
    assert_eq!(machine("first-free"), 1);
    assert_eq!(machine("first-fit"), 1);
    assert_eq!(machine("best-fit"), 2);
    assert_eq!(machine("worst-fit"), 3);
}

#[test]
fn tasks_of_a_job_keep_apart() {
    check(
        "machine m1 cpu=4
         machine m2 cpu=4
         task t1 runs=2 job=0 apart=1
         task t2 runs=2 job=0 apart=1
         task t3 runs=2 job=0 apart=1",
        "first-fit",
        "0 start t1 m1
         0 start t2 m2
         2 finish t1 m1
         2 finish t2 m2
         2 start t3 m1
         4 finish t3 m1",
    );
}

#[test]
fn the_oracle_copies_only_where_it_wins() {
    //  m1 (speed 1)  |-------- t1 -------x|
    //  m2 (speed 2)  |- t2 --|- copy of t1 |
    let text = "machine m1
         machine m2 speed=2
         task t1 runs=10
         task t2 runs=4";
    check(
        text,
        "oracle",
        "0 start t1 m1
         0 start t2 m2
         2 finish t2 m2
         2 copy t1 m2
         7 finish t1 m2
         7 cancel t1 m1",
    );
    let close = text.replace("runs=4", "runs=18");
    assert_eq!(run(&close, "oracle").copies, 0);
}

#[test]
fn a_small_job_is_cloned_from_the_start() {
    // Each of ten tasks straggles with a chance of 5 %, so each has two attempts; 10 x 2 of 100
    // machines.
    let mut text: String = (1..=100).map(|machine| format!("machine m{machine}\n")).collect();
    for task in 1..=10 {
        text += &format!("task t{task} runs=4 job=0\n");
    }
    assert_eq!(run(&text, "dolly:budget=0.2").copies, 10);
    assert_eq!(run(&text, "dolly:budget=0.19").copies, 0);
}

#[test]
fn a_task_that_only_a_probe_is_left_of_waits_again() {
    //  m1 (speed 4)  |-- t1 --x              leaves at 5
    //  m2 (speed 4)           |----- t1 -----|
    //  m3 (speed 1)       |-- probe of t1 ---x   very slow: under half of the average of 3
    check(
        "machine m1 speed=4
         machine m2 speed=4
         machine m3
         task t1 runs=40
         leave m1 at=5",
        "tqst:nodes=known",
        "0 start t1 m1
         3 probe t1 m3
         5 machine_leave m1
         5 lost t1 m1
         5 notice m1
         5 start t1 m2
         15 finish t1 m2
         15 cancel t1 m3",
    );
}

#[test]
fn probes_do_not_keep_a_replay_going() {
    // The loss of t1 is never detected. Probes of it could follow each other endlessly.
    let text = "machine m1 speed=4\nmachine m2 speed=4\nmachine m3\ntask t1 runs=40\nleave m1 at=5\nunnoticed";
    let outcome = run(text, "tqst:nodes=known");
    assert_eq!((outcome.unfinished, outcome.makespan_us), (1, None));
    let running = outcome.journal.unwrap().entries().filter(|e| e.kind == Kind::Cut).count();
    assert_eq!(running, 1, "the last probe");
}

#[test]
fn a_free_machine_takes_the_task_whose_input_it_holds() {
    //  m1  |- t2 -|- t3 -|              holds the input of t2 and t3
    //  m2  |- t1 -|---- t4 ----|        of t1; t4 has its input nowhere: 1.5 times as long
    let (cluster, mut workload) = read(
        "machine m1
         machine m2
         task t1 runs=10
         task t2 runs=10
         task t3 runs=10
         task t4 runs=10",
    );
    workload.inputs = Inputs::new(vec![vec![1], vec![0], vec![0], vec![]], 0.5);
    let workload = workload.check().unwrap();
    let policy: PolicyPlan = "fifo".parse().unwrap();
    let starts = |workload: &Workload| {
        let outcome = replay(&Plan::new(&cluster, workload, &policy)).unwrap();
        let journal = outcome.journal.unwrap();
        let starts = journal.entries().filter(|entry| entry.kind == Kind::Start);
        (starts.map(|entry| entry.to_string()).collect::<Vec<_>>(), outcome.makespan_us)
    };
    let (near, end_us) = starts(&workload);
    assert_eq!(near, ["0 start t2 m1", "0 start t1 m2", "10 start t3 m1", "10 start t4 m2"]);
    assert_eq!(end_us, Some(25_000_000));
    let plain = Workload { inputs: Inputs::default(), ..workload.clone() };
    let (in_order, end_us) = starts(&plain);
    assert_eq!(in_order, ["0 start t1 m1", "0 start t2 m2", "10 start t3 m1", "10 start t4 m2"]);
    assert_eq!(end_us, Some(20_000_000));
    // m2 holds all inputs: t1 takes 30 s on m1, the other three run one after another on m2.
    let far = Inputs::new(vec![vec![1]; 4], 2.0);
    assert_eq!(starts(&Workload { inputs: far, ..plain }).1, Some(30_000_000));
}

#[test]
fn a_rerun_has_the_work_of_its_task_or_of_a_sibling() {
    //  m1  |- t1 -|- copy of t2 ...   10 s if it has the work of a sibling, else 100 s
    //  m2  |---------- t2 (100 s) -----
    let (cluster, mut workload) = read(
        "machine m1
         machine m2
         task t1 runs=10 job=0
         task t2 runs=100 job=0
         task t3 runs=7 job=1 at=500 fate=3",
    );
    workload.group = workload.job.clone();
    let policy: PolicyPlan = "wqr:copies=1".parse().unwrap();
    let ends = |workload: &Workload| -> Vec<i64> {
        let plan = |seed| Plan { seed, ..Plan::new(&cluster, workload, &policy) };
        (0..20).map(|seed| replay(&plan(seed)).unwrap().end_us[1].unwrap() / 1_000_000).collect()
    };
    assert_eq!(ends(&workload), [100; 20]);
    workload.reruns = Reruns::of_siblings(&workload);
    assert_eq!(workload.reruns.of(0), [10_000_000, 100_000_000]);
    assert_eq!(workload.reruns.of(1), [0; 0], "it fails");
    let drawn = ends(&workload);
    assert!(drawn.iter().all(|end_s| [20, 100].contains(end_s)), "{drawn:?}");
    assert!(drawn.contains(&20) && drawn.contains(&100), "{drawn:?}");
}

/// Promise: the attempt after a recorded failure has its recorded work, even if the failed attempt
/// had a copy.
#[test]
fn a_copy_of_a_failed_try_does_not_change_the_next_one() {
    let (cluster, mut workload) = read(
        "machine m1
         machine m2
         task t1 runs=10 job=0
         task t2 runs=40 fails=50 job=0",
    );
    workload.group = workload.job.clone();
    workload.reruns = Reruns::of_siblings(&workload);
    let policy: PolicyPlan = "wqr:copies=1".parse().unwrap();
    let mut all_s = Vec::new();
    for seed in 0..20 {
        let journal = replay(&Plan { seed, ..Plan::new(&cluster, &workload, &policy) })
            .unwrap()
            .journal
            .unwrap();
        let own: Vec<_> = journal.entries().filter(|entry| entry.task == 1).collect();
        let finish = own.iter().find(|entry| entry.kind == Kind::Finish).unwrap();
        let is_copy = own.iter().any(|own| own.kind == Kind::Copy && own.attempt == finish.attempt);
        // Only a copy of the second try can have the 10 s of the first task.
        let end_s = finish.at_us / 1_000_000;
        assert!(end_s == 90 || is_copy && end_s == 60, "{own:?}");
        all_s.push(end_s);
    }
    assert!(all_s.contains(&60) && all_s.contains(&90), "{all_s:?}");
}

#[test]
fn each_rule_about_stragglers_acts_in_its_own_way() {
    //  m1 (speed 1)    |-- t1 --|-- t5 --|
    //  m2 (speed 1)    |-- t2 --|-- t6 --|
    //  m3 (speed 1)    |-- t3 --|                  free from 10 s on
    //  m4 (speed 0.2)  |---------------- t4 ----------------|
    //                  0       10       20                 50
    let (cluster, mut workload) = read(
        "machine m1
         machine m2
         machine m3
         machine m4 speed=0.2
         task t1 runs=10 job=0
         task t2 runs=10 job=0
         task t3 runs=10 job=0
         task t4 runs=10 job=0
         task t5 runs=10 job=0
         task t6 runs=10 job=0",
    );
    workload.group = workload.job.clone();
    // No copy starts while tasks wait at 10 s; one heartbeat later the free machine takes a copy.
    let copied = ["11 copy t4 m3", "21 finish t4 m3", "21 cancel t4 m4"].as_slice();
    let left_alone = ["50 finish t4 m4"].as_slice();
    for (policy, expected) in [
        ("hadoop:age_s=5", copied),
        ("late:age_s=5", copied),
        ("late021:age_s=5", copied),
        ("yarn", copied),
        // Its copies go before waiting tasks.
        ("tqst:age_s=5", &["10 copy t4 m1", "20 finish t4 m1", "20 cancel t4 m4"]),
        // Killed each time its estimate is abnormal: before 10 s, only its own machine is free.
        (
            "poisson:window_s=6,bin_s=1",
            &[
                "3 restart t4 m4",
                "3 submit t4",
                "3 start t4 m4",
                "6 restart t4 m4",
                "6 submit t4",
                "6 start t4 m4",
                "9 restart t4 m4",
                "9 submit t4",
                "9 start t4 m4",
                "12 restart t4 m4",
                "12 submit t4",
                "12 start t4 m3",
                "22 finish t4 m3",
            ],
        ),
        // Five of six are done at 20 s; attempts are copied past three medians.
        ("spark", &["31 copy t4 m3", "41 finish t4 m3", "41 cancel t4 m4"]),
        // Three of six are enough; the limit is the same.
        ("cubed:min_started=6", &["31 copy t4 m3", "41 finish t4 m3", "41 cancel t4 m4"]),
        // Few attempts run, and only t4 has run for 5 s and has 5 s left.
        ("ytsaurus:min_time_s=5", copied),
        // Restarts while tasks wait; the restarted task goes first.
        ("mantri", &["10 restart t4 m4", "10 submit t4", "10 start t4 m1", "20 finish t4 m1"]),
        // No attempt runs when 95 % of the tasks are over, and no attempt runs for a minute.
        ("google", left_alone),
        ("flink", left_alone),
    ] {
        let separator = if policy.contains(':') { ',' } else { ':' };
        let plan: PolicyPlan = format!("{policy}{separator}heartbeat_s=1").parse().unwrap();
        let outcome = replay(&Plan::new(&cluster, &workload, &plan)).unwrap();
        let journal = outcome.journal.unwrap();
        let lines = journal.entries().filter(|entry| entry.task == 3 && 0 < entry.at_us);
        assert_eq!(lines.map(|entry| entry.to_string()).collect::<Vec<_>>(), expected, "{policy}");
    }
}

#[test]
fn heartbeats_are_not_counted_out_where_nothing_runs() {
    // Clocks of some traces begin in 1970, and jobs may be years apart.
    let text = "machine m1\ntask t1 at=1000000000 runs=5\ntask t2 at=2000000000 runs=5";
    let outcome = run(text, "late");
    assert_eq!(outcome.end_us, [Some(1_000_000_005_000_000), Some(2_000_000_005_000_000)]);
    assert!(outcome.events < 20, "{}", outcome.events);
}

/// The same job at time 0, after fifty days, and on a clock that starts in 1970: its straggler is
/// copied or restarted at the same time after its arrival.
#[test]
fn what_happens_after_a_long_time_is_what_happens_at_once() {
    let tasks = |at_s: i64, job: i64| {
        let task = |number| format!("task t{} at={at_s} runs=10 job={job}\n", 4 * job + number);
        (1..=4).map(task).collect::<String>()
    };
    // All three times are on a heartbeat of 1 s, 3 s or 6 s.
    let at_s = [0, 4_320_000, 1_000_000_002];
    let tasks: String = (0..).zip(at_s).map(|(job, at_s)| tasks(at_s, job)).collect();
    let (cluster, mut workload) = read(&format!(
        "machine m1\nmachine m2\nmachine m3\nmachine m4 speed=0.02\nmachine m5\n{tasks}"
    ));
    workload.group = workload.job.clone();
    for (policy, kind) in [
        ("late:age_s=5", Kind::Copy),
        ("yarn", Kind::Copy),
        ("fair+late:age_s=5", Kind::Copy),
        ("poisson:window_s=6,bin_s=1", Kind::Restart),
    ] {
        // The lowest machine number first, so that each job finds the machines in the same order.
        let plan: PolicyPlan = format!("{policy}+first-fit").parse().unwrap();
        let outcome = replay(&Plan::new(&cluster, &workload, &plan)).unwrap();
        let journal = outcome.journal.unwrap();
        let of = |job: u32| {
            let all = journal.entries().filter(move |entry| entry.task / 4 == job);
            let begin_us = at_s[job as usize] * 1_000_000;
            all.map(move |entry| {
                (entry.at_us - begin_us, entry.kind, entry.task % 4, entry.machine)
            })
            .collect::<Vec<_>>()
        };
        assert!(of(0).iter().any(|entry| entry.1 == kind), "{policy}");
        for job in [1, 2] {
            assert_eq!(of(job), of(0), "{policy}, job {job}");
        }
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_machine_that_joins_at_the_end_of_time_is_not_waited_for_beat_by_beat() {
    let (mut cluster, mut workload) =
        read("machine m1\nmachine m2 cpu=4\ntask t1 at=0 runs=5\ntask t2 at=1 runs=5 cpu=4\n");
    workload.group = workload.job.clone();
    cluster.is_present[1] = false;
    let at_us = i64::MAX - 10_000_000;
    cluster.changes = vec![MachineChange { at_us, machine: 1, change: Change::Joins }];
    for policy in ["fifo:depth=2", "easy", "fair:depth=1+late", "priority:depth=1", "shortest+yarn"]
    {
        let plan: PolicyPlan = policy.parse().unwrap();
        let outcome = replay(&Plan::new(&cluster, &workload, &plan)).unwrap();
        assert_eq!(outcome.end_us[1], Some(at_us + 5_000_000), "{policy}");
        let metrics = measure(&outcome.journal.unwrap(), &workload, &cluster, 120);
        assert_eq!(metrics.samples.len(), 120, "{policy}");
    }
}

#[test]
fn tasks_that_no_detector_can_judge_need_no_heartbeats() {
    let tasks: String =
        (1..=500).map(|task| format!("task t{task} at={task} runs=36000 job={task}\n")).collect();
    let (cluster, mut workload) = read(&format!("machine m1 cpu=500\n{tasks}"));
    workload.group = workload.job.clone();
    for rule in ["late", "hadoop", "mantri"] {
        let policy: PolicyPlan = format!("{rule}:heartbeat_s=0.001").parse().unwrap();
        assert_eq!(heartbeats(&workload, &policy), Some(0.0), "{rule}");
        let outcome = replay(&Plan::new(&cluster, &workload, &policy)).unwrap();
        assert!(outcome.events < 5_000, "{rule}: {} events", outcome.events);
        assert_eq!(outcome.makespan_us, Some(36_500_000_000), "{rule}");
    }
    // As one job, they are judged a thousand times a second, for ten hours and 499 s.
    workload.group = Column::Same(0);
    let policy: PolicyPlan = "late:heartbeat_s=0.001".parse().unwrap();
    assert_eq!(heartbeats(&workload, &policy), Some(36_499_000.0));
}

#[test]
fn a_change_of_speed_applies_to_what_is_left() {
    //  m1  |---- 4 s at 1 ----|-------- 6 units at 0.5 --------|
    //      0                  4                                16
    check(
        "machine m1
         task t1 runs=10
         speed m1 at=4 to=0.5",
        "fifo",
        "0 start t1 m1
         4 machine_change m1
         16 finish t1 m1",
    );
}

#[test]
fn odd_input_is_reported_not_waited_for() {
    let outcome = check(
        "machine m1 cpu=2
         task t1 runs=1 cpu=3
         task t2 runs=0
         task t3 runs=1 cpu=2",
        "fifo",
        "0 refuse t1
         0 start t2 m1
         0 finish t2 m1
         0 start t3 m1
         1 finish t3 m1",
    );
    assert_eq!(outcome.refused, [0]);
    let gone = run("machine m1\ntask t1 runs=5\nleave m1 at=1", "fifo");
    assert_eq!((gone.makespan_us, gone.unfinished), (None, 1));
    let shrunk =
        run("machine m1 cpu=2\ntask t1 runs=5\ntask t2 runs=5\ncapacity m1 at=1 cpu=1", "fifo");
    assert_eq!(shrunk.makespan_us, Some(10_000_000));
    assert_eq!(shrunk.sum(Kind::Evict).count, 1);
}

#[test]
fn typos_in_policies_are_errors_that_list_what_is_known() {
    let check = |text: &str, expected: &str| {
        assert_eq!(text.parse::<PolicyPlan>().unwrap_err().to_string(), expected);
    };
    let detectors = super::detectors::KINDS.iter().map(|kind| kind.name);
    let detectors = detectors.filter(|name| !["none", "oracle"].contains(name));
    let policies = super::policies::KINDS.iter().map(|kind| kind.name);
    let known: Vec<&str> = policies.chain(detectors).collect();
    assert!(known.starts_with(&["fifo", "random", "shortest"]) && known.contains(&"wqr"));
    check(
        "fifo+wqrr",
        &format!(
            "there is no policy `wqrr` (known: {}, first-free, first-fit, best-fit, worst-fit, \
             random-fit, kill); did you mean `wqr`?",
            known.join(", ")
        ),
    );
    check("wqr:copy=1", "policy `wqr` has no parameter `copy` (it takes: copies, order, depth)");
    check(
        "wqr:copies=0",
        "policy `wqr`: `copies=0` is not a number of copies from 1, or `unlimited`",
    );
    check("fifo+shortest", "policy `fifo+shortest`: `shortest` is given twice");
    for text in [
        "fifo",
        "fifo+wqr:copies=unlimited,order=forward,depth=9",
        "priority:preempt=no,depth=3+best-fit+dolly:straggle=0.05,tolerated=0.05,budget=0.05,\
         load=0.8+kill:events=7~user=a~user=b%2Bc",
        "fair:half_life_s=86400,interval_s=60",
    ] {
        assert_eq!(text.parse::<PolicyPlan>().unwrap().to_string(), text);
    }
}

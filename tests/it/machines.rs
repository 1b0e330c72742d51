//! `machines`: outages of random machines, the attempts on them, and the whole real table.

use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;

use super::engines::python;
use super::support::{Place, real_trace, repository, skipped};

/// Number of random fleets.
const FLEETS: u32 = 24;

/// A machine: CPU in eighths, and the instants (s) at which it alternately comes and leaves.
type Drawn = (u64, Vec<u64>);

fn machines() -> impl Strategy<Value = Vec<Drawn>> {
    let times = prop::collection::btree_set(0_u64..1000, 1..8);
    let machine = (1_u64..8, times.prop_map(|times| times.into_iter().collect()));
    prop::collection::vec(machine, 1..12)
}

/// The end of the window: the last event of all.
const END: u64 = 2000;

fn lake(machines: &[Drawn], tasks: &str) -> Place {
    let place = Place::new();
    let mut lines: Vec<(u64, String)> = Vec::new();
    for (id, (eighths, times)) in machines.iter().enumerate() {
        for (idx, time) in times.iter().enumerate() {
            let (kind, thousandths) = (idx % 2, eighths * 125);
            lines.push((*time, format!("{time}000000,{id},{kind},p,0.{thousandths:03},0.5\n")));
        }
    }
    lines.sort();
    let text: String = lines.into_iter().map(|line| line.1).collect();
    place.raw("machine_events/part-00000-of-00001.csv", text);
    place.raw("job_events/part-00000-of-00001.csv", format!("{END}000000,,1,0,u,0,n,l\n"));
    place.raw("task_events/part-00000-of-00001.csv", tasks);
    place.ingest(&[]).ok();
    place
}

fn json(place: &Place) -> Value {
    place.run(&["machines", "--format", "json"]).ok().json()
}

proptest! {
    #![proptest_config(Config { cases: FLEETS, ..Config::default() })]

    #[test]
    fn outages_are_those_that_were_drawn(machines in machines()) {
        let found = json(&lake(&machines, ""));
        let (mut down, mut outages, mut lengths) = (0, 0, Vec::new());
        let (mut up, mut lost, mut gone) = (0, 0, 0);
        for (eighths, times) in &machines {
            let until = |idx: usize| times.get(idx + 1).copied();
            for (idx, &time) in times.iter().enumerate() {
                let length = until(idx).unwrap_or(END) - time;
                match (idx % 2, until(idx)) {
                    (0, _) => up += eighths * length,
                    (_, Some(_)) => {
                        lost += eighths * length;
                        lengths.push(length);
                    }
                    (_, None) => gone += eighths * length,
                }
            }
            outages += times.len() / 2;
            down += usize::from(1 < times.len());
        }
        lengths.sort_unstable();
        prop_assert_eq!(found["machines"].as_u64(), Some(machines.len() as u64));
        prop_assert_eq!(found["machines_down"].as_u64(), Some(down as u64));
        prop_assert_eq!(found["outages"].as_u64(), Some(outages as u64));
        prop_assert_eq!(found["outages_ended"].as_u64(), Some(lengths.len() as u64));
        #[expect(clippy::cast_precision_loss, reason = "small numbers of a test")]
        let eighths = |amount: u64| Some(amount as f64 / 8.0);
        prop_assert_eq!(found["lost_cpu_s"].as_f64(), eighths(lost));
        prop_assert_eq!(found["up_and_lost_cpu_s"].as_f64(), eighths(up + lost));
        prop_assert_eq!(found["gone_cpu_s"].as_f64(), eighths(gone));
        #[expect(clippy::cast_precision_loss, reason = "small numbers of a test")]
        let max = lengths.last().map(|&length| length as f64);
        prop_assert_eq!(found["outage_s_max"].as_f64(), max);
    }
}

#[test]
fn what_ran_on_a_machine_when_it_left_is_reported() {
    //  machine 0 leaves at 100, comes back at 200
    //  task 0  SCHEDULE 40 ==== EVICT 101, SCHEDULE 150 on machine 1 ==== FAIL 170
    //  task 1  SCHEDULE 40 ==== FINISH 90       ended shortly before
    //  task 2  SCHEDULE 10 ==== FINISH 30       long before
    //  task 3  SCHEDULE 40 ============= FINISH 300   went on, by the table
    let event = |time, task, machine, kind| {
        format!("{time}000000,,1,{task},{machine},{kind},u,0,0,0.5,0.5,,\n")
    };
    let tasks = [
        event(10, 2, 0, 1),
        event(30, 2, 0, 4),
        event(40, 0, 0, 1),
        event(40, 1, 0, 1),
        event(40, 3, 0, 1),
        event(90, 1, 0, 4),
        event(101, 0, 0, 2),
        event(150, 0, 1, 1),
        event(170, 0, 1, 3),
        event(300, 3, 0, 4),
    ];
    let found = json(&lake(&[(4, vec![0, 100, 200]), (4, vec![0])], &tasks.concat()));
    let row = |name: &str| {
        let rows = found["ran"]["rows"].as_array().unwrap();
        rows.iter().find(|row| row["ended"] == name).unwrap().clone()
    };
    let evicted = row("evicted");
    let counts = ["attempts", "restarted", "elsewhere", "failed_elsewhere"];
    assert_eq!(counts.map(|name| evicted[name].as_u64()), [Some(1); 4]);
    assert_eq!(evicted["cpu_s"], 30.0);
    assert_eq!(row("finished")["attempts"], 1, "task 2 had ended 70 s before");
    assert_eq!(row("later")["attempts"], 1);
}

#[test]
fn a_log_without_failures_is_refused() {
    let place = Place::new();
    place.raw("small.swf", "; MaxProcs: 4\n1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n");
    place.run(&["ingest", "trace/small.swf", "--lake", "lake"]).ok();
    let run = place.run(&["machines"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("does not record when machines fail"), "{}", run.stderr);
}

#[test]
fn the_whole_real_table_says_the_same_to_a_script() {
    let Some(trace) = real_trace() else {
        return skipped("the real trace is not beside this repository");
    };
    let Some(python) = python("csv") else { return };
    let place = Place::new();
    let raw = trace.to_str().unwrap();
    place.run(&["ingest", raw, "--lake", "lake", "--tables", "machine_events"]).ok();
    let found = json(&place);
    assert_eq!(found["end_s"], 2_506_200.0, "the published end, though no job is in the lake");
    assert_eq!(found["machines"], 12_583);
    assert_eq!(found["machines_down"], 5_141);
    assert_eq!(found["outages"], 8_957);
    assert_eq!(found["outages_ended"], 8_860);
    assert_eq!(found["outage_s_median"].as_f64().map(f64::round), Some(998.0));
    assert_eq!(found["outage_s_min"].as_f64().map(f64::round), Some(5.0));
    let days = found["outage_s_max"].as_f64().unwrap() / 86_400.0;
    assert!((days - 12.1).abs() < 0.05, "{days}");
    let lost = found["capacity_lost_share"].as_f64().unwrap();
    assert!((lost - 0.0048).abs() < 0.000_05, "{lost}");
    let run = Command::new(python)
        .arg(repository().join("tests/scripts/machines_crosscheck.py"))
        .args([env!("CARGO_BIN_EXE_jobfate"), place.path("lake").to_str().unwrap(), raw])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("all equal"), "{said}");
}

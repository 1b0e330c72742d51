//! Jobs that were suspended: every study uses the time that they ran.
//!
//! ```text
//!  the log      |== run ==|..suspended..|== run ==|      Elapsed: the time that it ran
//!  its twin     |======= run =======|                    the same, with the end at start + run
//! ```

use std::fmt::Write;
use std::fs;

use proptest::prelude::*;
use serde_json::Value;

use super::fairness::{of, series};
use super::support::Place;

/// A job: wait, run and suspension, s; CPUs; time limit, min; state.
type Job = (i64, i64, i64, i64, i64, &'static str);

/// The first submission: 2024-01-01, so that all jobs are of one month.
const BEGIN_S: i64 = 1_704_067_200;

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let suspended = prop_oneof![1 => Just(0), 2 => 1_i64..9_000];
    let state = prop::sample::select(vec!["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"]);
    prop::collection::vec(
        (0_i64..1_000, 1_i64..5_000, suspended, 1_i64..32, 1_i64..90, state),
        1..20,
    )
}

/// The lake of a log, or of its twin without suspensions.
fn lake(jobs: &[Job], with_suspensions: bool) -> Place {
    let place = Place::new();
    let mut log = "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|NCPUS|\
        TimelimitRaw\n"
        .to_owned();
    for (id, &(wait, run, suspended, cpus, limit, state)) in (1..).zip(jobs) {
        let submit = BEGIN_S + 100 * id;
        let start = submit + wait;
        let end = start + run + if with_suspensions { suspended } else { 0 };
        let names = format!("u{}|a{}|p", id % 3, id % 2);
        writeln!(log, "{id}|{names}|{state}|{submit}|{start}|{end}|{run}|{cpus}|{limit}").unwrap();
    }
    place.raw("log.sacct", log);
    place.run(&["ingest", "trace/log.sacct", "--lake", "lake"]).ok();
    place
}

/// Whether two answers agree; logs have whole seconds, and kills are rounded to microseconds.
fn agree(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            (one - other).abs() <= 1e-7 * one.abs().max(other.abs()).max(1_000.0)
        }
        (Value::Array(one), Value::Array(other)) => {
            // Jobs with equal losses may be in any order.
            let [one, other] = [one, other].map(|all| {
                let mut all: Vec<&Value> = all.iter().collect();
                all.sort_by_key(|value| value["job_id"].as_i64());
                all
            });
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| agree(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| agree(one, other)))
        }
        _ => one == other,
    }
}

/// The answer for a log, which must have the same values of `keys` as that for its twin.
fn same_answer(jobs: &[Job], args: &[&str], keys: &[&str]) -> Value {
    let [mut one, other] = [true, false].map(|with_suspensions| {
        let place = lake(jobs, with_suspensions);
        place.run(&[args, &["--format", "json"]].concat()).ok().json()
    });
    for key in keys {
        assert!(!one[key].is_null(), "{args:?} has no {key}");
        assert!(agree(&one[key], &other[key]), "{args:?} {key}: {} {}", one[key], other[key]);
    }
    one.take()
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn seconds(whole: i64) -> f64 {
    whole as f64
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn is(found: &Value, expected: i64) -> bool {
    agree(found, &Value::from(expected as f64))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]
    /// Promise: the share of the requested time that a job used is that of the time that it ran.
    #[test]
    fn estimates_are_compared_with_the_time_that_jobs_ran(jobs in jobs()) {
        let found = same_answer(&jobs, &["describe", "--what", "estimates"], &["rows"]);
        let over = jobs.iter().filter(|&&(_, run, _, _, limit, _)| 60 * limit < run).count();
        prop_assert_eq!(found["rows"][0]["overruns"].as_u64(), Some(over as u64));
    }

    /// Promise: the work of a task in a replay is the time that it ran.
    #[test]
    fn a_replay_runs_jobs_for_the_time_that_they_ran(jobs in jobs()) {
        let args = [
            "replay", "--cluster", "cluster:nodes=2,cpu=32,memory=1", "--policies",
            "fifo", "easy", "fifo+kill:slurm:limit=50,of=requested",
        ];
        let found = same_answer(&jobs, &args, &["policies", "table"]);
        let used_s: i64 = jobs.iter().map(|&(_, run, _, cpus, ..)| run * cpus).sum();
        prop_assert!(is(&found["table"][0]["used_cpu_s"], used_s), "{}: {used_s}", found["table"]);
    }

    /// Promise: a time limit condemns the jobs that ran for longer than the limit, and saves the
    /// part of their run beyond it.
    #[test]
    fn a_limit_counts_the_time_that_jobs_ran(jobs in jobs()) {
        for rule in ["slurm:limit={600,1800}", "dead-time={60,600,1800}"] {
            same_answer(&jobs, &["sweep", "--rules", rule], &["rows", "total_cpu"]);
        }
        let rule = "slurm:limit={25,100,150},of=requested";
        let found = same_answer(&jobs, &["sweep", "--rules", rule], &["rows", "total_cpu"]);
        for (row, percent) in found["rows"].as_array().unwrap().iter().zip([25, 100, 150]) {
            let all = |values: &Value| -> f64 {
                values.as_object().unwrap().values().map(|value| value.as_f64().unwrap()).sum()
            };
            let (mut condemned, mut saved_s) = (0, 0);
            for &(_, run, _, cpus, limit, state) in &jobs {
                // Hundredths of a second, in which these limits are whole.
                let beyond = 100 * run - percent * 60 * limit;
                condemned += i64::from(0 < beyond);
                saved_s += if state == "COMPLETED" { 0 } else { beyond.max(0) * cpus };
            }
            prop_assert!(is(&all(&row["condemned_tasks"]).into(), condemned), "{row}: {condemned}");
            let saved = Value::from(100.0 * row["net_cpu"].as_f64().unwrap()
                + 100.0 * row["destroyed_cpu"].as_f64().unwrap());
            prop_assert!(is(&saved, saved_s), "{row}: {saved_s}");
        }
    }

    /// Promise: the page of a job shows the amount that each rule saves: its processors times the
    /// time that it ran beyond the limit.
    #[test]
    fn a_job_has_what_each_rule_saves_of_it(jobs in jobs()) {
        let place = lake(&jobs, true);
        let rule = "slurm:limit={25,100,150},of=requested";
        let config = format!("steps = [\"sweep\"]\n\n[sweep]\nrules = [\"{rule}\"]\n");
        fs::write(place.path("limits.toml"), config).unwrap();
        place.run(&["analyze", "--config", "limits.toml", "--lake", "lake", "--out", "all"]).ok();
        let stored: Value =
            serde_json::from_slice(&fs::read(place.path("all/jobs.json")).unwrap()).unwrap();
        let named = stored["answer"]["jobs"].as_array().unwrap();
        prop_assert!(!named.is_empty());
        for job in named {
            let idx = usize::try_from(job["job_id"].as_u64().unwrap()).unwrap() - 1;
            let (_, run, _, cpus, limit, _) = jobs[idx];
            let beyond = [25, 100, 150].map(|percent| (percent, 100 * run - percent * 60 * limit));
            let expected: Vec<(i64, i64)> =
                beyond.into_iter().filter(|&(_, beyond)| 0 < beyond).collect();
            let kills = job["kills"].as_array().unwrap();
            prop_assert_eq!(kills.len(), expected.len(), "{}", job);
            for (kill, (percent, beyond)) in kills.iter().zip(expected) {
                prop_assert_eq!(kill["threshold"].as_i64(), Some(percent));
                let saved = Value::from(100.0 * kill["saved_cpu"].as_f64().unwrap());
                prop_assert!(is(&saved, beyond * cpus), "{kill} of {job}");
            }
        }
    }

    /// Promise: a failure is late by the time that the job ran.
    #[test]
    fn a_failure_is_late_by_the_time_that_it_ran(jobs in jobs()) {
        let keys = ["accounts", "users", "limits", "total_late"];
        let found = same_answer(&jobs, &["monthly", "--late", "30m"], &keys);
        let late = jobs.iter().filter(|job| job.5 != "COMPLETED" && 1_800 <= job.1);
        let late_s: i64 = late.map(|&(_, run, _, cpus, ..)| run * cpus).sum();
        prop_assert!(is(&found["total_late"], late_s), "{}: {late_s}", found["total_late"]);
    }

    /// Promise: a suspension is not run time, and slows a job down as a wait does.
    #[test]
    fn a_suspension_slows_a_job_down_as_a_wait_does(jobs in jobs()) {
        let place = lake(&jobs, true);
        let ran = |job: &Job| seconds(job.1);
        let slowdown = |job: &Job| {
            let (wait, run, suspended) = (job.0, job.1, job.2);
            (seconds(wait + run + suspended) / seconds(run.max(10))).max(1.0)
        };
        let near = |found: &Value, expected: f64| {
            let found = found.as_f64().unwrap();
            (found - expected).abs() <= 1e-9 * expected.max(1.0)
        };
        let load = place.run(&["load", "--format", "json"]).ok().json();
        let fairness = series(&place, &["--index", "slowdown", "--interval", "100000"]);
        for row in load["users"].as_array().unwrap() {
            let user = row["user"].as_str().unwrap();
            let own: Vec<&Job> = (1_usize..)
                .zip(&jobs)
                .filter(|(id, _)| format!("u{}", id % 3) == user)
                .map(|(_, job)| job)
                .collect();
            let mean = |of: &dyn Fn(&Job) -> f64| {
                let sum: f64 = own.iter().map(|job| of(job)).sum();
                sum / seconds(i64::try_from(own.len()).unwrap())
            };
            prop_assert!(near(&row["run_s_mean"], mean(&ran)), "{}", row);
            prop_assert!(near(&row["slowdown_mean"], mean(&slowdown)), "{}", row);
            let index = *of(&fairness, "slowdown", user, "slowdown").last().unwrap();
            prop_assert!(near(&index.into(), mean(&slowdown)), "{}: {index}", user);
        }
        let monthly = place.run(&["monthly", "--format", "json"]).ok().json();
        let sum = |column: &str| -> f64 {
            let rows = monthly["waits"].as_array().unwrap().iter();
            rows.map(|row| row["jobs"].as_f64().unwrap() * row[column].as_f64().unwrap()).sum()
        };
        let all: f64 = jobs.iter().map(ran).sum();
        prop_assert!(near(&sum("run_s_mean").into(), all), "{}: {all}", monthly["waits"]);
        let all: f64 = jobs.iter().map(slowdown).sum();
        prop_assert!(near(&sum("slowdown_mean").into(), all), "{}: {all}", monthly["waits"]);
    }

    /// Promise: exports have the time that jobs ran, and count the suspensions that they lose.
    #[test]
    fn exports_have_the_time_that_jobs_ran(jobs in jobs()) {
        let places = [true, false].map(|with_suspensions| lake(&jobs, with_suspensions));
        let suspended = jobs.iter().filter(|job| 0 < job.2).count();
        for form in ["swf", "batsim", "opendc", "wta"] {
            let said = places.each_ref().map(|place| {
                place.run(&["export", "--lake", "lake", "--as", form, "--out", form]).ok().stderr
            });
            let lost = "suspended tasks: run without a break for the time that they ran";
            let counted = format!("{lost}: {suspended}\n");
            prop_assert_eq!(said[0].contains(&counted), 0 < suspended, "{}", said[0]);
            prop_assert!(!said[1].contains(lost), "{}", said[1]);
        }
        let lines = places.each_ref().map(|place| {
            let log = fs::read_to_string(place.path("swf/log.swf")).unwrap();
            log.lines().filter(|line| !line.starts_with(';')).collect::<Vec<_>>().join("\n")
        });
        prop_assert_eq!(&lines[0], &lines[1]);
        let runs: Vec<i64> = lines[0]
            .lines()
            .map(|line| line.split(' ').nth(3).unwrap().parse().unwrap())
            .collect();
        prop_assert_eq!(runs, jobs.iter().map(|job| job.1).collect::<Vec<i64>>());
        let [one, other] = places.each_ref().map(|place| {
            let text = fs::read_to_string(place.path("batsim/workload.json")).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()
        });
        // The number of hosts is the largest number of processors in use at the same time.
        prop_assert_eq!(&one["jobs"], &other["jobs"]);
        prop_assert_eq!(&one["profiles"], &other["profiles"]);
        for table in ["opendc/tasks.parquet", "opendc/fragments.parquet", "wta/tasks/schema-1.0/part.0.parquet"] {
            let [one, other] = places.each_ref().map(|place| fs::read(place.path(table)).unwrap());
            prop_assert!(one == other, "{table}");
        }
    }
}

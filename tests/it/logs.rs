//! Logs other than the Google trace: small hand-made logs, the real logs next to this repository,
//! and random bytes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Float32Type, Int32Type, Int64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use jobfate::lake::ingest::ingest;
use jobfate::lake::plan::{Cut, IngestPlan, MaxRejects, choose_parts};
use jobfate::lake::{Lake, Origin};
use jobfate::schema::{ROW_ID, Source, Table};
use jobfate::sources::open_trace;
use jobfate::sources::part::Progress;
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::support::{Place, assert_same_files, check_golden, golden, gzip, repository, skipped};

/// The small logs and the arguments of `ingest`.
const SMALL: [(&str, Source, &[&str]); 6] = [
    ("small.swf", Source::Swf, &[]),
    ("small.gwf", Source::Gwf, &[]),
    ("small-trace.json", Source::Rumen, &["small-topology.json"]),
    ("small.sacct", Source::Slurm, &[]),
    ("small-batch-tasks.csv", Source::Alibaba2018, &[]),
    ("small-pods.json", Source::Kubernetes, &[]),
];

/// A lake of a small log. Its bad lines are allowed.
fn small(name: &str, beside: &[&str]) -> Place {
    let place = Place::new();
    for name in [&[name], beside].concat() {
        place.raw(name, fs::read(golden("logs").join(name)).unwrap());
    }
    place
        .run(&["ingest", &format!("trace/{name}"), "--lake", "lake", "--max-rejects", "100%"])
        .ok();
    place
}

/// Every row of a lake, one per line, without its missing cells, in the order of the files.
fn dump(lake: &Lake) -> String {
    let mut text = String::new();
    for table in Table::ALL.into_iter().filter(|&table| lake.has(table)) {
        let names: Vec<&'static str> = std::iter::once(ROW_ID)
            .chain(table.columns(lake.source()).iter().map(|column| column.name))
            .collect();
        writeln!(text, "{table}").unwrap();
        lake.scan(table, None, &names, |batch| {
            for row in 0..batch.num_rows() {
                for (name, column) in names.iter().zip(batch.columns()) {
                    if column.is_valid(row) {
                        let cells =
                            ArrayFormatter::try_new(column, &FormatOptions::default()).unwrap();
                        write!(text, " {name}={}", cells.value(row)).unwrap();
                    }
                }
                text.push('\n');
            }
        })
        .unwrap();
    }
    text
}

#[test]
fn small_logs_give_the_rows_that_were_read() {
    for (name, source, beside) in SMALL {
        let place = small(name, beside);
        let lake = place.lake();
        assert_eq!(lake.source(), source);
        let mut text = dump(&lake);
        text.push_str(&place.rejects("job_events", 0));
        for (wording, count) in lake.remarks(Table::TaskEvents) {
            writeln!(text, "{count} x {wording}").unwrap();
        }
        check_golden(&format!("logs/{name}.txt"), &text);
        assert_eq!(place.rejects("job_events", 0), place.rejects("task_events", 0));
        // Two ingests give the same bytes, and a third changes nothing.
        let again = small(name, beside);
        assert_same_files(&place.path("lake"), &again.path("lake"));
        let run = place.run(&["ingest", &format!("trace/{name}")]).ok();
        let count = Table::ALL.into_iter().filter(|&table| lake.has(table)).count();
        let said = format!("already in the lake: {count} parts");
        assert!(run.stderr.contains(&said), "{}", run.stderr);
        assert_same_files(&place.path("lake"), &again.path("lake"));
    }
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn every_question_is_answered_or_refused_with_a_reason() {
    for (name, _, beside) in SMALL {
        let place = small(name, beside);
        let path = format!("trace/{name}");
        for args in [
            &["verify"][..],
            &["verify", &path],
            &["classify"],
            &["classify", "--by", "task", "--classes", "terminal"],
            &["describe", "--what", "job-durations"],
            &["describe", "--what", "job-survival"],
            &["describe", "--what", "tasks-per-job"],
            &["describe", "--what", "events-per-task"],
            &["describe", "--what", "waiting"],
            &["describe", "--what", "attempts"],
            &["account", "--cpu", "slots"],
            &["account", "--cpu", "requested", "--group-by", "user"],
            &["sweep", "--cpu", "requested", "--thresholds", "1..=5:1"],
            &["query", "q01"],
            &["query", "q02"],
            &["query", "q03"],
            &["query", "q04"],
            &["query", "q05"],
            &["query", "q08"],
            &["query", "q09"],
            &["query", "q10"],
        ] {
            let run = place.run(args);
            // `verify` of the raw file finds the inserted bad lines.
            let has_bad_lines = args == ["verify", &path] && name != "small-trace.json";
            let has_machines = place.lake().has(Table::MachineEvents);
            let expected = match args {
                ["query", "q10"] if !has_machines => 3,
                _ => i32::from(has_bad_lines),
            };
            assert_eq!(run.code, Some(expected), "{name} {args:?}: {}", run.stderr);
        }
        let tells_cpu = ["small.swf", "small.sacct"].contains(&name);
        for command in ["account", "sweep"] {
            let run = place.run(&[command, "--cpu", "measured"]);
            assert_eq!(run.code, Some(if tells_cpu { 0 } else { 2 }), "{name}: {}", run.stderr);
            let is_refused = run.stderr.contains("no table `task_usage`");
            assert_eq!(is_refused, !tells_cpu, "{name} {command}: {}", run.stderr);
        }
        for args in [&["query", "q06"][..], &["query", "q11"]] {
            let run = place.run(args);
            assert_eq!(run.code, Some(2), "{name} {args:?}: {}", run.stderr);
            assert!(run.stderr.contains("has no table `task_usage`"), "{}", run.stderr);
            assert!(run.stderr.contains("--cpu requested"), "{}", run.stderr);
        }
        let run = place.run(&["reproduce", "mandai"]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("the study needs a lake of google-2011"), "{}", run.stderr);
        place.run(&["analyze", &path, "--out", "out", "--max-rejects", "100%"]).ok();
    }
}

#[test]
fn the_same_log_plain_zipped_in_a_folder_and_in_shards() {
    for (name, source, beside) in SMALL {
        let plain = small(name, beside);
        // As a folder that also contains notes.
        let place = small(name, beside);
        place.raw("README", "a made log");
        place.run(&["ingest", "trace", "--lake", "folder", "--max-rejects", "100%"]).ok();
        assert_same_files(&plain.path("lake"), &place.path("folder"));
        for shard in ["2/2", "1/2"] {
            let args = ["ingest", "trace", "--lake", "shards", "--max-rejects", "100%"];
            place.run(&[&args[..], &["--shard", shard]].concat()).ok();
        }
        place.run(&["ingest", "trace", "--lake", "shards", "--max-rejects", "100%"]).ok();
        assert_eq!(dump(&plain.lake()), dump(&Lake::open(place.path("shards")).unwrap()));
        // As gzip, with the source named.
        let zipped = Place::new();
        for name in [&[name], beside].concat() {
            let bytes = fs::read(golden("logs").join(name)).unwrap();
            zipped.raw(&format!("{name}.gz"), gzip(&bytes));
        }
        let path = format!("trace/{name}.gz");
        let args = ["ingest", &path, "--source", source.name(), "--max-rejects", "100%"];
        zipped.run(&args).ok();
        assert_eq!(dump(&plain.lake()), dump(&zipped.lake()), "{name}");
    }
}

#[test]
fn what_cannot_be_decided_is_refused_with_a_way_out() {
    let place = small("small.swf", &[]);
    place.raw("other.swf", "; Version: 2.2\n");
    place.raw("notes.txt", "some notes\n");
    place.raw("page.json", "{\"a\":1}");
    fs::create_dir(place.path("empty")).unwrap();
    let cases: [(&[&str], i32, &str, &str); 10] = [
        (&["trace/notes.txt"], 3, "the kind of trace cannot be recognised", "--source"),
        (&["trace/page.json"], 3, "the kind of trace cannot be recognised", "--source"),
        (&["trace"], 3, "it contains several logs: other.swf, small.swf", "give the path of"),
        (&["trace", "--source", "gwf"], 3, "it contains no gwf log", "give the path of"),
        (&["empty"], 3, "it contains no table of the trace", "job_events"),
        (&["nowhere.swf"], 4, "there is no such file or folder", "give the folder"),
        (&["trace/small.swf", "--source", "google-2011"], 3, "it is a file", "give the folder"),
        (&["trace/small.swf", "--source", "gwf"], 3, "no line has the 29 fields", "--source"),
        (&["trace/small.swf", "--source", "rumen"], 3, "no line has the shape of", "--source"),
        (&["trace/small.swf", "--source", "swf", "--table", "job_events"], 2, "--table is for", ""),
    ];
    for (idx, (args, code, what, hint)) in cases.into_iter().enumerate() {
        let lake = format!("new-{idx}");
        let run = place.run(&[&["ingest"], args, &["--lake", &lake]].concat());
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(what) && run.stderr.contains(hint), "{args:?}: {}", run.stderr);
    }
    // Another kind of trace, or another file of the same kind, is not mixed into a lake.
    let run = place.run(&["ingest", &golden("trace").to_string_lossy()]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("another kind of trace: swf (original)"), "{}", run.stderr);
    place.raw("small.swf", "1 0 0 5 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n");
    let run = place.run(&["ingest", "trace/small.swf"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("but from another file"), "{}", run.stderr);
    let run = place.run(&["ingest", &golden("logs/small-topology.json").to_string_lossy()]);
    assert!(run.stderr.contains("the topology of a Rumen trace"), "{}", run.stderr);
}

#[test]
fn outcomes_are_split_by_the_reason_of_the_last_attempt() {
    let place = small("small.sacct", &[]);
    let args = ["classify", "--by-reason", "--classes", "terminal", "--format", "csv"];
    insta::assert_snapshot!(place.run(&args).ok().stdout_text(), @"
    outcome,end_reason,count,share
    finished,COMPLETED,2,0.2222222222222222
    failed,FAILED,1,0.1111111111111111
    failed,OUT_OF_MEMORY,1,0.1111111111111111
    failed,TIMEOUT,1,0.1111111111111111
    killed,CANCELLED,1,0.1111111111111111
    lost,NODE_FAIL,1,0.1111111111111111
    pending,,1,0.1111111111111111
    running,,1,0.1111111111111111
    ");
    let swf = small("small.swf", &[]);
    let run = swf.run(&["classify", "--by-reason"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("does not record why jobs ended"), "{}", run.stderr);
}

#[test]
fn bad_lines_count_against_the_limit() {
    let place = Place::new();
    let good = "1 0 0 5 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1";
    place.raw("a.swf", format!("{good}\nbad line\n2{}\r\n", &good[1..]));
    let run = place.run(&["ingest", "trace/a.swf"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("1 of 3 lines were rejected"), "{}", run.stderr);
    // If several files are read as one, line numbers continue from file to file.
    let several = Place::new();
    let pod = serde_json::json!({"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Pending"},
        "spec": {"containers": []},
        "metadata": {"name": "a", "creationTimestamp": "2024-03-01T00:00:00Z"}});
    several.raw("1.json", format!("{pod}\n"));
    several.raw("2.json", format!("{pod}\nx\n"));
    let run = several.run(&["ingest", "trace", "--source", "kubernetes"]);
    for said in ["1.json", "1 of 3 lines, counted over this file and 1 more,", "line 3: bad_value"]
    {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    place.run(&["ingest", "trace/a.swf", "--max-rejects", "1"]).ok();
    let part = &place.lake().manifest.tables["job_events"].parts[0];
    assert_eq!((part.rows, part.lines, part.rejects["too_few_columns"]), (6, 3, 1));
    insta::assert_snapshot!(place.rejects("task_events", 0), @"
    part,line,column,reason,text
    0,2,,too_few_columns,bad line
    ");
}

/// The golden Google trace with its stored bytes. They contain the versions of this program and of
/// the Parquet writer; only a new version of either may change them.
#[test]
fn a_lake_of_the_google_trace_keeps_its_bytes() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let mut text = String::new();
    for name in super::support::tree(&place.path("lake")).into_keys() {
        let digest = jobfate::sources::digest_file(&place.path("lake").join(&name)).unwrap();
        writeln!(text, "{} {name}", digest.sha256).unwrap();
    }
    check_golden("lake.sha256", &text);
}

/// A log of the real data, if the data exists next to the repository.
fn real_log(name: &str) -> Option<PathBuf> {
    let path = repository().join("../shared/data").join(name);
    if !path.is_file() {
        skipped(&format!("there is no real log at `../shared/data/{name}`"));
        return None;
    }
    Some(path)
}

/// The counts of plain Python in a log.
fn naive(args: &[&PathBuf]) -> Option<serde_json::Value> {
    let python = std::env::var("JOBFATE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = repository().join("tests/scripts/naive_logs.py");
    let Ok(output) = Command::new(&python).arg(script).args(args).output() else {
        skipped(&format!("`{python}` is not there (set JOBFATE_PYTHON)"));
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Ingests a real log and compares it with known counts and with plain Python.
fn check_real(log: &PathBuf, topology: Option<&PathBuf>, known: [u64; 4]) {
    let place = Place::new();
    place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
    assert!(!place.path("lake/rejects").exists(), "a real log has no bad line");
    let run = place.run(&["verify", "--format", "csv"]).ok();
    let count = |table: &str, what: &str| -> u64 {
        let begin = format!("{table},{what},");
        let line = run.stdout_text().lines().find(|line| line.starts_with(&begin));
        line.and_then(|line| line[begin.len()..].split(',').next()?.parse().ok()).unwrap()
    };
    let [jobs, tasks, attempts, machines] = known;
    assert_eq!(count("job_events", "jobs"), jobs);
    assert_eq!(count("task_events", "entities"), tasks);
    assert_eq!(count("task_events", "event_type 1"), attempts);
    assert_eq!(count("machine_events", "machines"), machines);
    let args: Vec<&PathBuf> = std::iter::once(log).chain(topology).collect();
    let Some(naive) = naive(&args) else { return };
    for (name, found) in
        [("jobs", jobs), ("tasks", tasks), ("attempts", attempts), ("machines", machines)]
    {
        assert_eq!(naive[name], found, "{name}");
    }
    let csv = place.run(&["classify", "--sequences", "--format", "csv"]).ok();
    let sequences = csv.stdout_text().lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[0].to_owned(), serde_json::json!(fields[2].parse::<u64>().unwrap()))
    });
    assert_eq!(naive["sequences"], serde_json::Value::Object(sequences.collect()));
    // A copy that was killed because another attempt had finished does not decide the outcome of a
    // task.
    if let Some(finished) = naive["finished_tasks"].as_u64() {
        let asked = ["classify", "--by", "task", "--classes", "terminal", "--format", "json"];
        let rows = place.run(&asked).ok().json()["rows"].as_array().unwrap().clone();
        let found = rows.iter().find(|row| row["outcome"] == "finished").unwrap();
        assert_eq!(found["count"], finished);
    }
    for (cpu, name) in [("slots", "task_s"), ("requested", "processor_s")] {
        let total = place.run(&["account", "--cpu", cpu, "--format", "json"]).ok().json();
        let (found, expected) = (total["total"].as_f64().unwrap(), naive[name].as_f64().unwrap());
        assert!((found - expected).abs() <= 1e-9 * expected, "{cpu}: {found}, not {expected}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_lcg_grid_of_2005() {
    let Some(log) = real_log("swf/LCG.swf.gz") else { return };
    check_real(&log, None, [188_041, 188_041, 188_041, 1]);
    let place = Place::new();
    place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
    let lake = place.lake();
    assert_eq!(lake.header("MaxProcs").collect::<Vec<&str>>(), ["24515"]);
    assert_eq!(lake.header("Partition").count(), 170);
    let last_us = lake.manifest.tables["task_events"].parts[0].max_time_us.unwrap();
    assert!(950_392_000_000 <= last_us, "the last submit is at 950,392 s");
    assert_eq!(lake.remarks(Table::JobEvents)["wait unknown: started at the submit"], 188_041);
    let columns = ["cpu_capacity", "machine_id", "event_type"];
    let machines = lake.read(Table::MachineEvents, None, &columns).unwrap();
    assert_eq!(machines[0].column(0).as_primitive::<Float32Type>().value(0), 24_515.0);
    assert_eq!(machines[0].column(1).as_primitive::<Int64Type>().value(0), 1);
    assert_eq!(machines[0].column(2).as_primitive::<Int32Type>().value(0), 0);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn the_nasa_ipsc_of_1993() {
    let Some(log) = real_log("swf/NASA-iPSC-1993-3.1-cln.swf.gz") else { return };
    check_real(&log, None, [18_239, 18_239, 18_239, 1]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn the_19_hadoop_jobs_of_2009() {
    let Some(log) = real_log("rumen/19-jobs.trace.json.gz") else { return };
    let Some(topology) = real_log("rumen/19-jobs.topology.json.gz") else { return };
    check_real(&log, Some(&topology), [19, 11_869, 12_892, 1_545]);
    let place = Place::new();
    place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
    let lake = place.lake();
    assert!(lake.has_column(Table::TaskEvents, "phase"));
    assert!(!lake.has_column(Table::TaskEvents, "site"));
    let mut phases = BTreeMap::new();
    lake.scan(Table::TaskEvents, None, &["phase", "event_type"], |batch| {
        assert_eq!(batch.column(0).data_type(), &DataType::Utf8);
        let kinds = batch.column(1).as_primitive::<Int32Type>().values();
        for (phase, _) in
            batch.column(0).as_string::<i32>().iter().zip(kinds).filter(|(_, kind)| **kind == 0)
        {
            *phases.entry(phase.unwrap().to_owned()).or_insert(0_u32) += 1;
        }
    })
    .unwrap();
    let expected = [("cleanup", 21), ("map", 8_573), ("reduce", 3_256), ("setup", 19)];
    assert_eq!(phases, expected.map(|(phase, count)| (phase.to_owned(), count)).into());
}

/// The counts of plain Python in an accounting log.
fn naive_accounting(kind: &str, paths: &[&PathBuf]) -> Option<serde_json::Value> {
    let python = std::env::var("JOBFATE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = repository().join("tests/scripts/naive_accounting.py");
    let Ok(output) = Command::new(&python).arg(script).arg(kind).args(paths).output() else {
        skipped(&format!("`{python}` is not there (set JOBFATE_PYTHON)"));
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Promise: jobs and processor-seconds by the state in the log, machines and the peak of the system
/// equal the counts of plain Python in the text.
#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn the_slurm_cluster_pozidriv() {
    let Some(log) = real_log("slurm/pozidriv.sacct.gz") else { return };
    let place = Place::new();
    place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
    assert!(!place.path("lake/rejects").exists(), "a real log has no bad line");
    let Some(naive) = naive_accounting("slurm", &[&log]) else { return };
    let lake = place.lake();
    let mut ends = BTreeMap::new();
    let mut used_s = BTreeMap::new();
    let columns = ["end_reason", "event_type", "run_us", "processors"];
    lake.scan(Table::TaskEvents, None, &columns, |batch| {
        let kinds = batch.column(1).as_primitive::<Int32Type>();
        let runs = batch.column(2).as_primitive::<Int64Type>();
        let processors = batch.column(3).as_primitive::<Int32Type>();
        for (row, reason) in batch.column(0).as_string::<i32>().iter().enumerate() {
            if !(2..=6).contains(&kinds.value(row)) {
                continue;
            }
            *ends.entry(reason.unwrap().to_owned()).or_insert(0_u64) += 1;
            let has_run = runs.is_valid(row) && processors.is_valid(row);
            let used = if has_run { runs.value(row) * i64::from(processors.value(row)) } else { 0 };
            *used_s.entry(reason.unwrap().to_owned()).or_insert(0) += used / 1_000_000;
        }
    })
    .unwrap();
    assert_eq!(serde_json::to_value(&ends).unwrap(), naive["ends"]);
    assert_eq!(serde_json::to_value(&used_s).unwrap(), naive["cpu_s_by_end"]);
    let total = place.run(&["account", "--format", "json"]).ok().json();
    assert_eq!(total["total"].as_f64(), naive["cpu_s"].as_f64());
    // Promise: an outcome split by reason equals the log, in numbers and in CPU time.
    let of = |args: &[&str], name_at: usize, count_at: usize| {
        let csv = place.run(args).ok();
        let mut sums = BTreeMap::new();
        for line in csv.stdout_text().lines().skip(1) {
            let row: Vec<&str> = line.split(',').collect();
            let sum = row[count_at].split('.').next().unwrap().parse::<u64>().unwrap_or(0);
            if !row[name_at].is_empty() {
                *sums.entry(row[name_at].to_owned()).or_insert(0) += sum;
            }
        }
        serde_json::to_value(&sums).unwrap()
    };
    let args = ["classify", "--by-reason", "--classes", "terminal", "--format", "csv"];
    assert_eq!(of(&args, 1, 2), naive["ends"]);
    assert_eq!(of(&["account", "--by-reason", "--format", "csv"], 0, 5), naive["cpu_s_by_end"]);
    let machines =
        lake.read(Table::MachineEvents, None, &["cpu_capacity", "machine_name"]).unwrap();
    let capacity = machines[0].column(0).as_primitive::<Float32Type>();
    assert_eq!(Some(f64::from(capacity.value(0))), naive["peak"].as_f64());
    let named = machines.iter().map(|batch| batch.num_rows() - batch.column(1).null_count());
    assert_eq!(serde_json::json!(named.sum::<usize>()), naive["machines"]);
}

/// Task events of some types by the state in the log.
fn states_of(lake: &Lake, wanted: &[i32]) -> serde_json::Value {
    let mut states = BTreeMap::new();
    lake.scan(Table::TaskEvents, None, &["state", "event_type"], |batch| {
        let kinds = batch.column(1).as_primitive::<Int32Type>();
        for (row, state) in batch.column(0).as_string::<i32>().iter().enumerate() {
            if wanted.contains(&kinds.value(row)) {
                *states.entry(state.unwrap().to_owned()).or_insert(0_u64) += 1;
            }
        }
    })
    .unwrap();
    serde_json::to_value(&states).unwrap()
}

/// The seconds from SCHEDULE to the end times a column, for all tasks except those in one state.
fn amount_seconds(lake: &Lake, column: &'static str, left_out: &str) -> f64 {
    let mut sum = 0.0;
    lake.scan(Table::TaskEvents, None, &["time_us", "event_type", column, "state"], |batch| {
        let times = batch.column(0).as_primitive::<Int64Type>();
        let kinds = batch.column(1).as_primitive::<Int32Type>();
        let amounts = batch.column(2).as_primitive::<Float32Type>();
        for (row, state) in batch.column(3).as_string::<i32>().iter().enumerate() {
            let seconds = f64::from(i32::try_from(times.value(row) / 1_000_000).unwrap());
            let amount = if amounts.is_null(row) { 0.0 } else { f64::from(amounts.value(row)) };
            match kinds.value(row) {
                0 => {}
                _ if state == Some(left_out) => {}
                1 => sum -= seconds * amount,
                _ => sum += seconds * amount,
            }
        }
    })
    .unwrap();
    sum
}

/// Promise: pods by phase, core-seconds, GPU-seconds, nodes and their GPUs equal the counts of
/// plain Python.
#[test]
fn the_pods_of_alibaba_2023() {
    let Some(log) = real_log("alibaba-gpu-2023/openb_pod_list_default.csv") else { return };
    let Some(nodes) = real_log("alibaba-gpu-2023/openb_node_list_all_node.csv") else { return };
    let place = Place::new();
    place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
    assert!(!place.path("lake/rejects").exists(), "a real log has no bad line");
    let Some(naive) = naive_accounting("openb", &[&log, &nodes]) else { return };
    let lake = place.lake();
    assert_eq!(states_of(&lake, &[3, 4, 5]), naive["ends"]);
    let total = place.run(&["account", "--format", "json"]).ok().json();
    let (found, expected) = (total["total"].as_f64().unwrap(), naive["cpu_s"].as_f64().unwrap());
    assert!((found - expected).abs() <= 1e-6 * expected, "{found}, not {expected}");
    let args = ["account", "--cpu", "gpu-slots", "--format", "json"];
    let gpu_s = place.run(&args).ok().json()["total"].as_f64().unwrap();
    let expected = naive["gpu_s"].as_f64().unwrap();
    assert!((gpu_s - expected).abs() <= 1e-6 * expected, "{gpu_s}, not {expected}");
    let (mut machines, mut sum) = (0, 0);
    lake.scan(Table::MachineEvents, None, &["gpu_capacity"], |batch| {
        machines += batch.num_rows();
        sum += batch.column(0).as_primitive::<Int32Type>().values().iter().sum::<i32>();
    })
    .unwrap();
    assert_eq!(
        (naive["machines"].as_u64(), naive["gpus"].as_i64()),
        (Some(machines as u64), Some(i64::from(sum)))
    );
}

/// Promise: tasks by status, core-seconds and jobs equal the counts of plain Python.
#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn the_batch_tasks_of_alibaba_2017() {
    let Some(log) = real_log("alibaba-2017/batch_task.csv.gz") else { return };
    let place = Place::new();
    place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
    assert!(!place.path("lake/rejects").exists(), "a real log has no bad line");
    let Some(naive) = naive_accounting("alibaba-2017", &[&log]) else { return };
    // Every task is submitted once.
    assert_eq!(states_of(&place.lake(), &[0]), naive["states"]);
    let used = amount_seconds(&place.lake(), "cpu_request", "Running");
    let expected = naive["cpu_s"].as_f64().unwrap();
    assert!((used - expected).abs() <= 1e-6 * expected, "{used}, not {expected}");
    let jobs = place.run(&["classify", "--format", "json"]).ok().json();
    assert_eq!(jobs["total"], naive["jobs"]);
}

/// Random tables in the exact format of the trace of 2017: tasks, instances with several tries in
/// any order, and machines, some with errors.
fn draw_alibaba_2017(place: &Place) -> [PathBuf; 3] {
    let mut draws = ChaCha8Rng::seed_from_u64(2017);
    let (mut tasks, mut instances, mut machines) = (String::new(), Vec::new(), String::new());
    for job in 1..=150 {
        for task in 1..=draws.random_range(1..4) {
            let (count, cpu) = (draws.random_range(1..4), 50 + 10 * draws.random_range(0..20));
            let start = draws.random_range(-50..80_000);
            let end = start + draws.random_range(0..5_000);
            let state = ["Terminated", "Failed", "Running"][draws.random_range(0..3)];
            writeln!(tasks, "{start},{end},{job},{task},{count},{state},{cpu},0.0039").unwrap();
            for _ in 0..count {
                let tries = 1 + draws.random_range(0..4) / 2;
                for attempt in 1..=tries {
                    let states = ["Terminated", "Failed", "Interrupted", "Running"];
                    let state =
                        if attempt < tries { "Failed" } else { states[draws.random_range(0..4)] };
                    let start = start + 1_000 * attempt;
                    let end =
                        if state == "Running" { 0 } else { start + draws.random_range(1..900) };
                    let machine = draws.random_range(1..40);
                    let task = if draws.random_range(0..50) == 0 {
                        String::new()
                    } else {
                        task.to_string()
                    };
                    instances.push(format!(
                        "{start},{end},{job},{task},{machine},{state},{attempt},{tries},1.5,0.5,0.02,0.01\n"
                    ));
                }
            }
        }
    }
    instances.shuffle(&mut draws);
    for machine in 1..40 {
        writeln!(machines, "0,{machine},add,,64,0.69,0.37").unwrap();
        if machine % 9 == 0 {
            writeln!(machines, "{},{machine},softerror,disk_full,64,0.69,0.37", 600 * machine)
                .unwrap();
        }
    }
    [
        place.raw("batch_task.csv", tasks),
        place.raw("batch_instance.csv.gz", gzip(instances.concat().as_bytes())),
        place.raw("server_event.csv", machines),
    ]
}

/// Promise: for generated tables in the format of the trace of 2017, tries by status and number,
/// core-seconds, jobs, instances and machines equal the counts of plain Python.
#[test]
fn the_instances_of_alibaba_2017() {
    let place = Place::new();
    let tables = draw_alibaba_2017(&place);
    place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    assert!(!place.path("lake/rejects").exists());
    let Some(naive) = naive_accounting("alibaba-2017", &tables.each_ref()) else {
        return;
    };
    let lake = place.lake();
    // Every try has a start.
    assert_eq!(states_of(&lake, &[1]), naive["tries"]);
    let used = amount_seconds(&lake, "cpu_request", "Running");
    let expected = naive["try_cpu_s"].as_f64().unwrap();
    assert!((used - expected).abs() <= 1e-6 * expected, "{used}, not {expected}");
    let jobs = place.run(&["classify", "--format", "json"]).ok().json();
    assert_eq!(jobs["total"], naive["jobs"]);
    // Each instance is submitted with its first try; an instance has one task_index in its job.
    let (mut submits, mut numbers) = (0, BTreeMap::<i32, u64>::new());
    let mut of_instance = BTreeMap::<(i64, i32), Vec<i32>>::new();
    let columns = ["job_id", "task_index", "event_type", "attempt"];
    lake.scan(Table::TaskEvents, None, &columns, |batch| {
        let jobs = batch.column(0).as_primitive::<Int64Type>().values();
        let [indexes, kinds, attempts] =
            [1, 2, 3].map(|idx| batch.column(idx).as_primitive::<Int32Type>().values());
        for row in 0..batch.num_rows() {
            submits += u64::from(kinds[row] == 0);
            if kinds[row] == 1 {
                *numbers.entry(attempts[row]).or_default() += 1;
                of_instance.entry((jobs[row], indexes[row])).or_default().push(attempts[row]);
            }
        }
    })
    .unwrap();
    assert_eq!(naive["instances"], submits);
    let numbers: serde_json::Value = numbers
        .iter()
        .map(|(number, count)| (number.to_string(), (*count).into()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    assert_eq!(numbers, naive["numbers"]);
    assert_eq!(naive["histories"], of_instance.len());
    for (instance, mut attempts) in of_instance {
        attempts.sort_unstable();
        let count = attempts.len();
        attempts.dedup();
        assert_eq!(attempts.len(), count, "{instance:?} has an attempt twice");
    }
    let (mut rows, mut cores) = (0, 0.0);
    lake.scan(Table::MachineEvents, None, &["event_type", "cpu_capacity"], |batch| {
        rows += batch.num_rows();
        let kinds = batch.column(0).as_primitive::<Int32Type>().values();
        let capacities = batch.column(1).as_primitive::<Float32Type>().values();
        cores += kinds
            .iter()
            .zip(capacities)
            .filter(|(kind, _)| **kind == 0)
            .map(|(_, cores)| f64::from(*cores))
            .sum::<f64>();
    })
    .unwrap();
    assert_eq!(
        (naive["machine_rows"].as_u64(), naive["cores"].as_f64()),
        (Some(rows as u64), Some(cores))
    );
    // Its tasks alone: the CPU of all their instances.
    place.run(&["ingest", "trace/batch_task.csv", "--lake", "tasks"]).ok();
    let lake = Lake::open(place.path("tasks")).unwrap();
    assert_eq!(states_of(&lake, &[0]), naive["states"]);
    let (used, expected) =
        (amount_seconds(&lake, "cpu_request", "Running"), naive["cpu_s"].as_f64().unwrap());
    assert!((used - expected).abs() <= 1e-6 * expected, "{used}, not {expected}");
    place.run(&["verify", "--lake", "lake"]).ok();
}

/// Random tables in the exact format of the trace of 2018: tasks, instances with several tries, and
/// machines.
fn draw_alibaba_2018(place: &Place) -> [PathBuf; 3] {
    let mut seed = 7_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let states = ["Terminated", "Terminated", "Failed", "Cancelled", "Running", "Waiting"];
    let (mut tasks, mut instances, mut machines) = (String::new(), String::new(), String::new());
    let mut number = 100;
    for job in 1..=150 {
        for task in 1..=1 + draw(4) {
            let name = match (task, draw(5)) {
                (1, _) => "M1".to_owned(),
                (_, 0) => format!("task_{job}x{task}="),
                _ => format!("R{task}_{}", task - 1),
            };
            let start = draw(600_000);
            let (count, cpu) = (1 + draw(3), 50 + 10 * draw(20));
            let state = states[usize::try_from(draw(6)).unwrap()];
            let end = start + draw(5_000);
            writeln!(tasks, "{name},{count},j_{job},1,{state},{start},{end},{cpu},0.39").unwrap();
            for _ in 0..count {
                number += 1;
                let tries = 1 + draw(3) / 2;
                for attempt in 1..=tries {
                    let state = match attempt {
                        _ if attempt < tries => "Failed",
                        _ => states[usize::try_from(draw(4)).unwrap()],
                    };
                    let start = start + 100 * attempt;
                    let (end, machine) = (start + draw(900), draw(40));
                    writeln!(
                        instances,
                        "ins_{number},{name},j_{job},1,{state},{start},{end},m_{machine},{attempt},\
                        {tries},50,80,0.1,0.2"
                    )
                    .unwrap();
                }
            }
        }
    }
    for machine in 0..40 {
        writeln!(machines, "m_{machine},0,{},{},96,100,USING", machine % 7, machine % 3).unwrap();
    }
    [
        place.raw("batch_task.csv", tasks),
        place.raw("batch_instance.csv.gz", gzip(instances.as_bytes())),
        place.raw("machine_meta.csv", machines),
    ]
}

/// Promise: for generated tables in the format of the trace, tries by status, core-seconds, jobs,
/// instances and machines equal the counts of plain Python.
#[test]
fn the_batch_jobs_of_alibaba_2018() {
    let place = Place::new();
    let [tasks, instances, machines] = draw_alibaba_2018(&place);
    place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    assert!(!place.path("lake/rejects").exists());
    let Some(naive) = naive_accounting("alibaba-2018", &[&tasks, &instances, &machines]) else {
        return;
    };
    let lake = place.lake();
    // Every try has a start.
    assert_eq!(states_of(&lake, &[1]), naive["states"]);
    let used = amount_seconds(&lake, "cpu_request", "Running");
    let expected = naive["cpu_s"].as_f64().unwrap();
    assert!((used - expected).abs() <= 1e-6 * expected, "{used}, not {expected}");
    let jobs = place.run(&["classify", "--format", "json"]).ok().json();
    assert_eq!(jobs["total"], naive["jobs"]);
    let of_instances = place.run(&["classify", "--by", "task", "--format", "json"]).ok().json();
    assert_eq!(of_instances["total"], naive["instances"]);
    let mut machines = 0;
    lake.scan(Table::MachineEvents, None, &["machine_id"], |batch| machines += batch.num_rows())
        .unwrap();
    assert_eq!(naive["machines"], machines);
    // Its tasks alone: the CPU of all their instances.
    place.run(&["ingest", "trace/batch_task.csv", "--lake", "tasks"]).ok();
    let lake = Lake::open(place.path("tasks")).unwrap();
    assert_eq!(states_of(&lake, &[0]), naive["task_states"]);
    let (used, expected) =
        (amount_seconds(&lake, "cpu_request", "Running"), naive["task_cpu_s"].as_f64().unwrap());
    assert!((used - expected).abs() <= 1e-6 * expected, "{used}, not {expected}");
    place.run(&["verify", "--lake", "lake"]).ok();
}

/// The outcomes of jobs, from pods in one JSON array.
fn of_array(place: &Place, pods: &[serde_json::Value]) -> serde_json::Value {
    place.raw("array.json", serde_json::to_string_pretty(pods).unwrap());
    let args = ["ingest", "trace/array.json", "--source", "kubernetes", "--lake", "array"];
    place.run(&args).ok();
    place.run(&["classify", "--lake", "array", "--format", "json"]).ok().json()
}

/// Promise: for a generated list of pods, the pods by phase, core-seconds, GPU-seconds, jobs and
/// nodes equal the counts of plain Python, on any number of threads. Pods in an array give the
/// same.
#[test]
fn the_pods_of_kubernetes() {
    let mut seed = 11_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let at = |second: u64| {
        let (day, hour, minute) = (1 + second / 86_400, second / 3_600 % 24, second / 60 % 60);
        format!("2024-03-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
    };
    let items: Vec<serde_json::Value> = (0..400)
        .map(|number| {
            let created = draw(2_000_000);
            let scheduled = created + draw(600);
            let ended = scheduled + draw(50_000);
            let phase = ["Succeeded", "Failed", "Running", "Pending"][usize::try_from(draw(4)).unwrap()];
            let (code, reason) = if phase == "Failed" { (137, "OOMKilled") } else { (0, "Completed") };
            let state = match phase {
                "Running" => serde_json::json!({"running": {"startedAt": at(scheduled)}}),
                "Pending" => serde_json::json!({"waiting": {}}),
                _ => serde_json::json!({"terminated": {"startedAt": at(scheduled),
                    "finishedAt": at(ended), "exitCode": code, "reason": reason}}),
            };
            let mut status = serde_json::json!({"phase": phase,
                "containerStatuses": [{"restartCount": 0, "state": state}]});
            if phase != "Pending" {
                status["startTime"] = serde_json::json!(at(scheduled));
            }
            serde_json::json!({"kind": "Pod", "status": status,
                "metadata": {"name": format!("pod-{number}"), "namespace": format!("team-{}", draw(5)),
                    "creationTimestamp": at(created), "ownerReferences": [
                        {"kind": "Job", "name": format!("job-{}", number / 3), "controller": true}]},
                "spec": {"nodeName": format!("node-{}", draw(20)), "containers": [
                    {"resources": {"requests": {"cpu": format!("{}m", 250 * (1 + draw(8))),
                        "memory": "1Gi"}, "limits": {"nvidia.com/gpu": draw(3)}}}]}})
        })
        .collect();
    let list = serde_json::json!({"apiVersion": "v1", "items": items, "kind": "List"});
    let place = Place::new();
    let log = place.raw("pods.json", serde_json::to_string_pretty(&list).unwrap());
    place.run(&["ingest", "trace/pods.json", "--lake", "lake", "--threads", "1"]).ok();
    place.run(&["ingest", "trace/pods.json", "--lake", "four", "--threads", "4"]).ok();
    assert_same_files(&place.path("lake"), &place.path("four"));
    assert!(!place.path("lake/rejects").exists());
    let Some(naive) = naive_accounting("kubernetes", &[&log]) else { return };
    let lake = place.lake();
    assert_eq!(states_of(&lake, &[0]), naive["states"]);
    for (column, name) in [("cpu_request", "cpu_s"), ("gpu_request", "gpu_s")] {
        let (found, expected) =
            (amount_seconds(&lake, column, "Running"), naive[name].as_f64().unwrap());
        assert!((found - expected).abs() <= 1e-6 * expected, "{column}: {found}, not {expected}");
    }
    let jobs = place.run(&["classify", "--format", "json"]).ok().json();
    assert_eq!(jobs["total"], naive["jobs"]);
    assert_eq!(of_array(&place, &items)["rows"], jobs["rows"]);
    let mut nodes = 0;
    lake.scan(Table::MachineEvents, None, &["machine_id"], |batch| nodes += batch.num_rows())
        .unwrap();
    assert_eq!(naive["machines"], nodes);
    place.run(&["verify", "--lake", "lake"]).ok();
    // With users from another field.
    let args = ["ingest", "trace/pods.json", "--lake", "x", "--user-from", "label:team"];
    let run = place.run(&args).ok();
    assert!(
        run.stderr.contains("pods without the namespace or label that names the user: 400"),
        "{}",
        run.stderr
    );
    let run = place.run(&["ingest", "trace/pods.json", "--lake", "y", "--user-from", "team"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

/// Promise: outputs of `kubectl get pods` at several times, in one file or several, are read as one
/// log, with each attempt once.
#[test]
fn outputs_of_kubernetes_at_several_times_are_read_as_one() {
    let place = Place::new();
    let pods = |status: serde_json::Value| {
        let pod = serde_json::json!({"kind": "Pod", "status": status,
            "metadata": {"name": "a", "namespace": "n", "creationTimestamp": "2024-03-01T00:00:00Z"},
            "spec": {"nodeName": "m", "containers": [{"resources": {"requests": {"cpu": "1"}}}]}});
        let list = serde_json::json!({"apiVersion": "v1", "items": [pod], "kind": "List"});
        serde_json::to_string_pretty(&list).unwrap() + "\n"
    };
    let first = pods(serde_json::json!({"phase": "Running", "startTime": "2024-03-01T00:00:05Z",
        "containerStatuses": [{"restartCount": 0, "state":
            {"running": {"startedAt": "2024-03-01T00:00:06Z"}}}]}));
    let second =
        pods(serde_json::json!({"phase": "Succeeded", "startTime": "2024-03-01T00:00:05Z",
        "containerStatuses": [{"restartCount": 0, "state": {"terminated": {"exitCode": 0,
            "startedAt": "2024-03-01T00:00:06Z", "finishedAt": "2024-03-01T00:10:00Z"}}}]}));
    place.raw("pods-1.json", &first);
    place.raw("pods-2.json", &second);
    let run = place.run(&["ingest", "trace", "--lake", "folder"]).ok();
    let again = "repeated snapshots of a pod: the last one counts: 1";
    assert!(run.stderr.contains(again), "{}", run.stderr);
    let manifest = fs::read_to_string(place.path("folder/manifest.json")).unwrap();
    assert!(manifest.contains("pods-1.json and 1 more"), "{manifest}");
    let args = ["classify", "--lake", "folder", "--by", "task", "--format", "json"];
    assert_eq!(place.run(&args).ok().json()["rows"][0]["sequence"], "014");
    // Changes after the last output are in the events; repeated changes count once.
    let event = |reason: &str, time: &str| {
        serde_json::json!({"apiVersion": "v1", "kind": "Event", "reason": reason,
            "firstTimestamp": time,
            "involvedObject": {"kind": "Pod", "namespace": "n", "name": "a"}})
    };
    let events =
        [event("Scheduled", "2024-03-01T00:00:05Z"), event("Evicted", "2024-03-01T00:09:00Z")];
    let events = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": events});
    fs::write(place.path("one.json"), format!("{first}{events:#}\n")).unwrap();
    place.run(&["ingest", "one.json", "--lake", "joined"]).ok();
    let args = ["classify", "--lake", "joined", "--by", "task", "--format", "json"];
    let rows = place.run(&args).ok().json();
    assert_eq!(
        (&rows["total"], &rows["sequences"][0]["sequence"]),
        (&1.into(), &"012".into()),
        "{rows}"
    );
    fs::write(place.path("all.json"), first + &second).unwrap();
    place.run(&["ingest", "all.json", "--lake", "lake"]).ok();
    let rows =
        place.run(&["classify", "--lake", "lake", "--by", "task", "--format", "json"]).ok().json();
    assert_eq!(
        (&rows["total"], &rows["rows"][0]["sequence"]),
        (&1.into(), &"014".into()),
        "{rows}"
    );
}

/// The life of a pod, in seconds of a day: when it is requested, when it gets a node, the runs of
/// its container with their exit codes, and how it is ended from outside.
#[derive(Clone, Debug)]
struct Lived {
    number: u32,
    runs: Vec<(u32, u32, i32)>,
    is_open: bool,
    killed: Option<&'static str>,
}

impl Lived {
    fn at(second: u32) -> String {
        format!("2024-03-01T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
    }

    /// Two pods never have the same time, because the pods of one index must follow each other.
    fn time(&self, step: u32) -> u32 {
        16 * step + self.number
    }

    fn names(&self) -> serde_json::Value {
        let (name, uid) = (format!("fit-{}", self.number), format!("u{}", self.number));
        serde_json::json!({"kind": "Pod", "resource": "pods", "namespace": "n", "name": name, "uid": uid})
    }

    /// The output of `kubectl get pods` for it.
    fn shown(&self, step: u32) -> serde_json::Value {
        let span = |&(start, end, code): &(u32, u32, i32)| {
            serde_json::json!({"startedAt": Self::at(self.time(start)), "exitCode": code,
                "finishedAt": Self::at(self.time(end)), "reason": if code == 0 { "Completed" } else { "Error" }})
        };
        let begun = self.runs.iter().filter(|run| run.0 <= step).count();
        let is_last = begun == self.runs.len();
        let mut status =
            serde_json::json!({"phase": if begun == 0 { "Pending" } else { "Running" }});
        if let Some(idx) = begun.checked_sub(1) {
            status["startTime"] = Self::at(self.time(1)).into();
            let run = &self.runs[idx];
            let has_ended = run.1 <= step && !(is_last && self.is_open);
            let (state, before, restarts) = if has_ended && is_last {
                status["phase"] = if run.2 == 0 { "Succeeded" } else { "Failed" }.into();
                (serde_json::json!({"terminated": span(run)}), idx.checked_sub(1), idx)
            } else if has_ended {
                (serde_json::json!({"waiting": {"reason": "CrashLoopBackOff"}}), Some(idx), idx + 1)
            } else {
                let running = serde_json::json!({"startedAt": Self::at(self.time(run.0))});
                (serde_json::json!({"running": running}), idx.checked_sub(1), idx)
            };
            let last = before.map_or(
                serde_json::json!({}),
                |idx| serde_json::json!({"terminated": span(&self.runs[idx])}),
            );
            status["containerStatuses"] = serde_json::json!([
                {"restartCount": restarts, "state": state, "lastState": last}]);
        }
        let mut meta = self.names();
        meta["creationTimestamp"] = Self::at(self.time(0)).into();
        meta["resourceVersion"] = step.to_string().into();
        meta["ownerReferences"] =
            serde_json::json!([{"kind": "Job", "name": "fit", "controller": true}]);
        meta["annotations"] = serde_json::json!(
            {"batch.kubernetes.io/job-completion-index": (self.number % 5).to_string()});
        serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "status": status,
            "spec": {"nodeName": format!("node-{}", self.number % 3), "containers": [
                {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]}})
    }

    /// Its events, and the requests about it.
    fn told(&self) -> Vec<serde_json::Value> {
        let event = |reason: &str, step| {
            serde_json::json!({"apiVersion": "v1", "kind": "Event", "reason": reason,
                "firstTimestamp": Self::at(self.time(step)), "involvedObject": self.names(),
                "message": "Stopping container"})
        };
        let request = |verb: &str, subresource: &str, step| {
            let mut object = self.names();
            object["subresource"] = subresource.into();
            serde_json::json!({"apiVersion": "audit.k8s.io/v1", "kind": "Event", "auditID": "x",
                "stage": "ResponseComplete", "verb": verb, "objectRef": object,
                "requestReceivedTimestamp": Self::at(self.time(step)), "responseStatus": {"code": 200}})
        };
        let mut all = vec![event("Scheduled", 1), event("Pulled", 2), request("create", "", 0)];
        all.extend(self.killed.map(|reason| event(reason, 60)));
        all.extend(self.killed.map(|_| request("delete", "", 61)));
        all
    }
}

fn lived() -> impl Strategy<Value = (Lived, Vec<u32>)> {
    let spans = proptest::collection::vec((1..9_u32, 1..9_u32, 0..2_i32), 1..4);
    let killed = proptest::sample::select(vec![None, Some("Killing"), Some("Evicted")]);
    let shown = proptest::collection::vec(0..58_u32, 0..5);
    (spans, any::<bool>(), killed, shown).prop_map(|(spans, is_open, killed, shown)| {
        let mut step = 1;
        let run = |&(gap, length, code): &(u32, u32, i32)| {
            let start = step + gap;
            step = start + length;
            (start, step, code)
        };
        let runs = spans.iter().map(run).collect();
        (Lived { number: 0, runs, is_open, killed: killed.filter(|_| is_open) }, shown)
    })
}

/// The rows of a lake by task, in the order of each task, without their numbers; and the rejects
/// and remarks in its manifest.
fn rows_and_remarks(place: &Place, name: &str) -> (Vec<String>, String) {
    let lake = Lake::open(place.path(name)).unwrap();
    let mut table = String::new();
    let mut rows: Vec<([String; 2], [i64; 2], String)> = Vec::new();
    for line in dump(&lake).lines() {
        let value = |key: &str| {
            let rest = line.split_once(&format!(" {key}="))?.1;
            rest.split(' ').next().map(str::to_owned)
        };
        let Some(row_id) = value(ROW_ID) else {
            line.clone_into(&mut table);
            continue;
        };
        let text = format!("{table}{}", line.replace(&format!(" {ROW_ID}={row_id}"), ""));
        let number = |key| value(key).map_or(0, |value| value.parse().unwrap());
        let task = ["job_id", "task_index"].map(|key| value(key).unwrap_or_default());
        let task = [format!("{table} {}", task.join("/")), value("machine_id").unwrap_or_default()];
        let task = if table == "machine_events" { task } else { [task[0].clone(), String::new()] };
        rows.push((task, [number("time_us"), row_id.parse().unwrap()], text));
    }
    rows.sort();
    let manifest = fs::read_to_string(place.path(name).join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let said: Vec<String> = manifest["tables"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(table, entry)| {
            let parts = entry["parts"].as_array().unwrap();
            parts.iter().map(move |part| format!("{table} {} {}", part["remarks"], part["rejects"]))
        })
        .collect();
    (rows.into_iter().map(|(_, _, text)| text).collect(), said.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(debug_assertions) { 12 } else { 120 })
    })]
    /// Promise: outputs of Kubernetes in several files are read as one log, for any distribution
    /// and order of the objects.
    #[test]
    fn objects_of_kubernetes_are_the_same_in_any_files_and_order(
        pods in proptest::collection::vec(lived(), 1..12),
        files in 1..5_usize,
        seed: u64,
    ) {
        let mut objects = Vec::new();
        for (number, (pod, shown)) in (0_u32..).zip(&pods) {
            let pod = Lived { number, ..pod.clone() };
            objects.extend(shown.iter().map(|&step| pod.shown(step)));
            objects.extend(pod.told());
        }
        let place = Place::new();
        let lines = |objects: &[serde_json::Value]| -> String {
            objects.iter().flat_map(|object| [object.to_string(), "\n".to_owned()]).collect()
        };
        fs::write(place.path("one.json"), lines(&objects)).unwrap();
        place.run(&["ingest", "one.json", "--lake", "one"]).ok();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        objects.shuffle(&mut rng);
        let mut parts = vec![Vec::new(); files];
        for object in objects {
            parts[rng.random_range(0..files)].push(object);
        }
        for (number, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let text = match rng.random_range(0..3) {
                0 => lines(part),
                1 => format!("{:#}\n", serde_json::json!({"apiVersion": "v1", "kind": "List", "items": part})),
                _ => serde_json::json!({"kind": "List", "apiVersion": "v1", "items": part}).to_string(),
            };
            place.raw(&format!("out-{number}.json"), &text);
        }
        place.run(&["ingest", "trace", "--source", "kubernetes", "--lake", "several"]).ok();
        prop_assert_eq!(rows_and_remarks(&place, "one"), rows_and_remarks(&place, "several"));
    }
}

/// Text that resembles a log of some format, and text that does not.
fn near_logs() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        6 => "-?[0-9]{1,4}",
        1 => "-?[0-9]{0,22}\\.?[0-9]{0,8}([eE]-?[0-9]{1,3})?",
        1 => "[ -~]{0,6}",
    ];
    let line = (proptest::collection::vec(field, 16..31), prop_oneof!["\n", "\r\n", "\t"])
        .prop_map(|(fields, end)| format!("{}{end}", fields.join(" ")).into_bytes());
    let json = proptest::sample::select(vec![
        "{\"jobID\":\"job_1_2\",\"submitTime\":",
        "-1,\"outcome\":\"FAILED\"",
        "1240336647215,\"mapTasks\":[{\"taskID\":\"t\",\"attempts\":[{\"startTime\":5,",
        "\"finishTime\":9223372036854775807,\"result\":\"KILLED\"}]}]",
        "{\"name\":\"r\",\"children\":[",
        "}\n",
        "\"\\",
        "; MaxProcs: 99999999999999999999999\n",
        "# MaxNodes:\n",
    ])
    .prop_map(|text| text.as_bytes().to_vec());
    let noise = proptest::collection::vec(any::<u8>(), 0..40);
    proptest::collection::vec(prop_oneof![6 => line, 3 => json, 1 => noise], 0..30)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any bytes, each source makes a lake or gives a reason.
    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn no_bytes_are_too_odd_for_a_source(text in near_logs()) {
        let place = Place::new();
        let path = place.raw("log", &text);
        // With or without a named source, nothing panics.
        let _ = open_trace(&path, None, None);
        for source in
            [
                Source::Swf,
                Source::Gwf,
                Source::Rumen,
                Source::Slurm,
                Source::Alibaba2018,
                Source::Kubernetes,
            ]
        {
            let mut trace = open_trace(&path, Some(source), None).unwrap();
            if source == Source::Rumen {
                // The text as a topology as well.
                let mut topology = trace.parts[&Table::JobEvents][0].clone();
                topology.table = Table::MachineEvents;
                trace.parts.insert(Table::MachineEvents, vec![topology]);
            }
            let plan = IngestPlan {
                lake: place.path(source.name()),
                source,
                origin: Origin::Original,
                parts: choose_parts(&trace, None, None),
                max_rejects: MaxRejects::Percent(100.0),
                bucket_count: None,
                shard: None,
                threads: 1,
                cut: Cut::default(),
            };
            let outcome = ingest(&plan, &Progress::default()).unwrap();
            let lake = Lake::open(&plan.lake);
            prop_assert_eq!(lake.is_ok(), !outcome.stored.is_empty(), "{:?}", outcome);
            if let Ok(lake) = lake {
                jobfate::facts::census::census(&lake).unwrap();
            }
        }
    }
}

/// Memory per processor, KiB; processors; run time, s; `-1` if the log does not record it.
const USED: [(i32, i32, i32); 5] =
    [(100, 2, 30), (250, 1, 3_600), (-1, 4, 10), (0, 3, 50), (7, 16, 86_400)];

#[test]
fn memory_that_a_log_tells_is_added_up_per_processor_and_second() {
    let place = Place::new();
    let rows = (1..).zip(USED).map(|(id, (memory, processors, run))| {
        format!(
            "{id} {id} 0 {run} {processors} -1 {memory} {processors} -1 -1 1 1 1 -1 1 1 -1 -1\n"
        )
    });
    fs::write(place.path("used.swf"), format!("; MaxProcs: 32\n{}", rows.collect::<String>()))
        .unwrap();
    place.run(&["ingest", "used.swf", "--lake", "lake"]).ok();
    let account = ["account", "--lake", "lake", "--resource", "memory", "--memory"];
    let run = place.run(&[&account[..], &["used", "--format", "json"]].concat()).ok();
    let expected: f64 = USED
        .iter()
        .filter(|(memory, ..)| 0 <= *memory)
        .map(|(memory, processors, run)| f64::from(memory * processors) * f64::from(*run))
        .sum();
    let json = run.json();
    let rows = json["rows"].as_array().unwrap();
    let sum: f64 = rows.iter().filter_map(|row| row["memory"].as_f64()).sum();
    assert!((sum - expected).abs() < 1e-3 * expected, "{sum}, {expected}: {json}");
    let said = place.run(&[&account[..], &["used"]].concat()).ok();
    assert!(said.stderr.contains("the memory of 1 is not recorded in the log"));
    let sql = place.run(&[&account[..], &["used", "--engine", "polars"]].concat());
    assert!(sql.stderr.contains("no query gives"), "{}", sql.stderr);
    place.run(&[&account[..], &["requested"]].concat()).ok();
}

#[test]
fn memory_used_is_refused_where_no_log_tells_it() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let run = place.run(&["account", "--resource", "memory", "--memory", "used"]);
    assert!(run.stderr.contains("give --memory requested"), "{}", run.stderr);
}

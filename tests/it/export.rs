//! Exports: simulators read the data of the lake, and data that a format cannot hold is counted.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use jobfate::digits::grouped;
use jobfate::schema::Table;
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::drawn::{self, Event, Job};
use super::engines::{python, script};
use super::support::{Place, golden, repository, skipped};

/// Commands with answers that an export and a new ingest must not change.
const QUESTIONS: [&str; 12] = [
    "classify",
    "classify --by task --classes terminal",
    "account",
    "account --cpu slots --group-by user",
    "describe --what job-durations",
    "describe --what tasks-per-job",
    "describe --what events-per-task",
    "describe --what waiting",
    "describe --what attempts",
    "describe --what job-survival",
    "describe --what finish-given-events",
    "fairness",
];

/// The answers of a lake, with all digits.
fn answers(place: &Place, lake: &str) -> Vec<String> {
    let ask = |question: &&str| {
        let args: Vec<&str> = question.split(' ').chain(["--lake", lake]).collect();
        let run = place.run(&[&args[..], &["--format", "csv"]].concat()).ok();
        format!("{question}\n{}", run.stdout_text())
    };
    QUESTIONS.iter().map(ask).collect()
}

/// Exports `lake` as SWF into `out` and ingests it as the lake `again`.
fn around(place: &Place) {
    place.run(&["export", "--lake", "lake", "--as", "swf", "--out", "out"]).ok();
    place.run(&["ingest", "out/log.swf", "--lake", "again"]).ok();
}

/// The fields of the lines of a log.
fn lines(place: &Place, path: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(place.path(path)).unwrap();
    let jobs = text.lines().filter(|line| !line.starts_with(';'));
    jobs.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// How often the format could not hold a value.
fn not_held(place: &Place, out: &str) -> BTreeMap<String, u64> {
    let text = fs::read_to_string(place.path(out).join("result.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(json["answer"]["not_held"].clone()).unwrap()
}

/// A log of the real data, if the data exists next to the repository.
fn real_log(name: &str) -> Option<PathBuf> {
    let path = repository().join("../shared/data").join(name);
    if !path.exists() {
        skipped(&format!("there is no real log at `../shared/data/{name}`"));
        return None;
    }
    Some(path)
}

/// The partial runs of a job become one run, with their total length and without the breaks. This
/// is counted.
#[test]
fn partial_runs_are_joined_and_counted() {
    let place = Place::new();
    let lines =
        ["1 0 0 5 2 -1 -1 2 60 -1 2", "1 10 20 7 2 -1 -1 2 60 -1 3", "2 5 0 10 1 -1 -1 1 60 -1 1"];
    let log: String = lines.map(|line| format!("{line} 1 1 1 1 1 -1 -1\n")).concat();
    fs::write(place.path("log.swf"), format!("; UnixStartTime: 1000000000\n; MaxProcs: 8\n{log}"))
        .unwrap();
    place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    place.run(&["export", "--lake", "lake", "--as", "swf", "--out", "out"]).ok();
    let joined =
        "jobs of partial runs: one run of their total length, without the breaks".to_owned();
    assert_eq!(not_held(&place, "out"), BTreeMap::from([(joined, 1)]));
    let own = &self::lines(&place, "out/log.swf")[0];
    assert_eq!(own[..5], ["1", "0", "0", "12", "2"], "submitted at 0, and run for 5 and 7 s");
}

/// Promise: LCG and NASA give the same answers after an export and a new ingest, and no line is
/// lost.
#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn real_logs_say_the_same_after_an_export() {
    for name in ["LCG.swf.gz", "NASA-iPSC-1993-3.1-cln.swf.gz"] {
        let Some(log) = real_log(&format!("swf/{name}")) else { return };
        let place = Place::new();
        place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
        around(&place);
        assert_eq!(not_held(&place, "out"), BTreeMap::new(), "{name}");
        assert_eq!(answers(&place, "lake"), answers(&place, "again"), "{name}");
        let sorted = place.shell(&format!(
            "cmp <(zcat {} | grep -v '^;' | awk 'NF {{$1=$1; print}}' | sort) \
             <(grep -v '^;' out/log.swf | sort)",
            log.display()
        ));
        assert_eq!(sorted.code, Some(0), "{name}: {}", sorted.stdout_text());
    }
}

/// Compares the data that an independent reader finds in the other formats with the log, job by
/// job.
fn check_forms(python: &str, place: &Place, log: &str) {
    for form in ["wta", "opendc", "batsim", "batsim-4"] {
        let export = ["export", "--lake", "lake", "--as", form, "--out", form];
        let run = place.run(&export).ok();
        let folder = place.path(form);
        let args = [form, &folder.to_string_lossy(), log];
        let count = script(python, "read_exports.py", &args);
        let said = format!("wrote {} task", grouped(count.trim().parse().unwrap()));
        assert!(run.stderr.contains(&said), "{form}: {said}: {}", run.stderr);
        // A second export replaces the first.
        place.run(&export).ok();
    }
}

/// Promise: readers of the published schemas find every job of a real log.
#[test]
fn a_real_log_is_read_in_every_form() {
    let Some(python) = python("pyarrow.parquet") else { return };
    let Some(log) = real_log("swf/NASA-iPSC-1993-3.1-cln.swf.gz") else { return };
    let place = Place::new();
    place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
    check_forms(&python, &place, &log.to_string_lossy());
}

/// Promise: evalys, the tool for results of Batsim, reads every field of all jobs in a log that we
/// export. Only the jobs that it leaves out of every log are missing.
#[test]
fn evalys_reads_our_logs() {
    let Ok(python) = std::env::var("JOBFATE_EVALYS_PYTHON") else {
        return skipped("no Python with evalys (set JOBFATE_EVALYS_PYTHON)");
    };
    for name in ["swf/NASA-iPSC-1993-3.1-cln.swf.gz", "slurm/pozidriv.sacct.gz"] {
        let Some(log) = real_log(name) else { return };
        let place = Place::new();
        place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
        place.run(&["export", "--lake", "lake", "--as", "swf", "--out", "out"]).ok();
        let path = place.path("out/log.swf");
        let said = script(&python, "read_evalys.py", &[&path.to_string_lossy()]);
        if said.starts_with("SKIPPED") {
            return skipped(said.trim());
        }
        let kept = lines(&place, "out/log.swf").into_iter().skip(1);
        let kept = kept.filter(|line| line[10].parse::<i64>().unwrap() <= 1).count();
        assert_eq!(said.trim(), kept.to_string(), "{name}");
    }
}

/// A random line of SWF with the values of real logs; optional fields may be missing.
fn swf_line() -> impl Strategy<Value = [i64; 10]> {
    let maybe = |range: std::ops::Range<i64>| prop_oneof![1 => Just(-1), 4 => range];
    let times = (0_i64..5_000, maybe(0..900), maybe(0..4_000), maybe(1..9));
    let rest = (
        prop::sample::select(vec![-1_i64, 0, 1, 1, 1, 5, 5]),
        maybe(1..5),
        maybe(0..4),
        maybe(0..3),
        maybe(60..9_000),
        maybe(1..5_000),
    );
    (times, rest).prop_map(
        |((submit, wait, run, procs), (status, user, queue, part, limit, kib))| {
            [submit, wait, run, procs, status, user, queue, part, limit, kib]
        },
    )
}

/// A lake of random jobs; every third job waits for the one before it.
fn drawn_lake(jobs: &[[i64; 10]]) -> Place {
    let mut text = String::from("; Computer: drawn\n; MaxProcs: 64\n; Note: a: b\n");
    for (id, job) in (1_i64..).zip(jobs) {
        let [submit, wait, run, procs, status, user, queue, part, limit, kib] = job;
        let before = if id % 3 == 0 { id - 1 } else { -1 };
        writeln!(
            text,
            "{id} {submit} {wait} {run} {procs} {run}.25 {kib} {procs} {limit} {kib} {status} \
             {user} {user} -1 {queue} {part} {before} {before}"
        )
        .unwrap();
    }
    let place = Place::new();
    fs::write(place.path("drawn.swf"), text.replace(" -1.25 ", " -1 ")).unwrap();
    place.run(&["ingest", "drawn.swf", "--lake", "lake"]).ok();
    place
}

/// A task in a graph: its job, its number, the tasks before it, and the states of its instances.
fn graph_task() -> impl Strategy<Value = (u32, u32, Vec<u32>, Vec<usize>)> {
    let before = prop::collection::vec(1_u32..7, 0..3);
    (1_u32..8, 1_u32..6, before, prop::collection::vec(0_usize..6, 0..4))
}

/// The tables of tasks in a graph, in the format of Alibaba's trace of 2018.
fn drawn_graph(tasks: &[(u32, u32, Vec<u32>, Vec<usize>)]) -> Place {
    const STATES: [&str; 6] =
        ["Terminated", "Terminated", "Terminated", "Failed", "Running", "Waiting"];
    let place = Place::new();
    // A plain task: it has no number, and does not wait for another task.
    let (mut rows, mut instances) =
        (String::new(), "ins_1,task_a,j_1,1,Terminated,5,9,m_1,1,1,50,80,0.1,0.2\n".to_owned());
    for (at, (job, number, before, states)) in (0_u32..).zip(tasks) {
        let numbers: Vec<String> = [number].into_iter().chain(before).map(u32::to_string).collect();
        let name = ["M", "R", "J"][at as usize % 3].to_owned() + &numbers.join("_");
        writeln!(rows, "{name},1,j_{job},1,Terminated,{at},{},100,0.1", at + 50).unwrap();
        for (part, state) in (0_u32..).zip(states) {
            let ins = 10 + 10 * at + part;
            let (state, end) = (STATES[*state], at + 7 + part);
            let line = format!("ins_{ins},{name},j_{job},1,{state},{at},{end},m_1,1,1");
            writeln!(instances, "{line},50,80,0.1,0.2").unwrap();
        }
    }
    writeln!(rows, "task_a,1,j_1,1,Terminated,5,9,100,0.1").unwrap();
    place.raw("batch_task.csv", rows);
    place.raw("batch_instance.csv", instances);
    place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    place
}

proptest! {
    #![proptest_config(Config { cases: 4, failure_persistence: None, ..Config::default() })]

    /// Promise: after an export, a log of this format gives the same answers, digit by digit, for
    /// any missing fields.
    #[test]
    fn drawn_logs_say_the_same_after_an_export(jobs in prop::collection::vec(swf_line(), 1..60)) {
        let place = drawn_lake(&jobs);
        around(&place);
        prop_assert_eq!(answers(&place, "lake"), answers(&place, "again"));
        // A second export gives the same lines.
        place.run(&["export", "--lake", "again", "--as", "swf", "--out", "twice"]).ok();
        prop_assert_eq!(lines(&place, "out/log.swf"), lines(&place, "twice/log.swf"));
    }

    /// Promise: readers of the published schemas find every job of a random log unchanged.
    #[test]
    fn drawn_logs_are_read_in_every_form(jobs in prop::collection::vec(swf_line(), 1..60)) {
        let Some(python) = python("pyarrow.parquet") else { return Ok(()) };
        let place = drawn_lake(&jobs);
        check_forms(&python, &place, &place.path("drawn.swf").to_string_lossy());
    }

    /// Promise: every instance of a task waits for every instance of the tasks before it. The
    /// expected pairs are counted from the names.
    #[test]
    fn drawn_graphs_are_read_in_every_form(tasks in prop::collection::vec(graph_task(), 1..60)) {
        let Some(python) = python("pyarrow.parquet") else { return Ok(()) };
        let place = drawn_graph(&tasks);
        for form in ["wta", "opendc", "batsim"] {
            place.run(&["export", "--lake", "lake", "--as", form, "--out", form]).ok();
            let paths = [form, "trace"].map(|path| place.path(path).to_string_lossy().into_owned());
            script(&python, "read_graph.py", &[form, &paths[0], &paths[1]]);
        }
    }

    /// Promise: for any trace, each line has the submit, the last attempt and the end of its task,
    /// as computed here from the raw events.
    #[test]
    fn drawn_traces_are_written_as_they_ended(jobs in drawn::jobs()) {
        let place = drawn::lake(&jobs, "job_events,task_events");
        if !place.path("lake").join("manifest.json").exists() || place.lake().files(Table::TaskEvents).is_empty() {
            return Ok(());
        }
        place.run(&["export", "--lake", "lake", "--as", "swf", "--cores", "8", "--out", "out"]).ok();
        let numbers = fs::read_to_string(place.path("out/numbers.csv")).unwrap_or_default();
        let mut ids: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for line in numbers.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            ids.insert(cells[0].to_owned(), (cells[1].parse().unwrap(), cells[2].parse().unwrap()));
        }
        let mut found = BTreeMap::new();
        for line in lines(&place, "out/log.swf") {
            let id = ids.get(&line[0]).copied();
            let id = id.unwrap_or_else(|| (line[0].parse().unwrap(), 0));
            prop_assert_eq!(&line[7], "4");
            found.insert(id, [1, 2, 3, 4, 10].map(|field: usize| line[field].clone()));
        }
        prop_assert_eq!(found, expected(&jobs));
    }
}

/// Submit, wait, run, allocated processors and status of each task with a deciding event.
fn expected(jobs: &[Job]) -> BTreeMap<(usize, usize), [String; 5]> {
    let mut all = BTreeMap::new();
    let last_s = jobs.iter().flat_map(|job| &job.1).flatten().map(|event| event.0).max();
    for (id, (of_job, tasks)) in jobs.iter().enumerate() {
        for (index, events) in tasks.iter().enumerate() {
            if let Some(line) = line_of(events, of_job, last_s.unwrap_or(0)) {
                all.insert((id, index), line);
            }
        }
    }
    all
}

fn line_of(events: &[Event], of_job: &[Event], last_s: u64) -> Option<[String; 5]> {
    let last = events.iter().rev().find(|event| event.1 <= 6)?;
    let submit = events.iter().find(|event| event.1 == 0).unwrap_or(&events[0]).0;
    let mut starts = events.iter().enumerate().filter(|(_, event)| event.1 == 1);
    let start = starts.next_back().map(|(at, event)| (at, event.0));
    // The end of the job ends an attempt without a recorded end.
    let job_end = of_job.last().filter(|event| (2..=6).contains(&event.1)).map(|event| event.0);
    let job_end = job_end.filter(|end| *end < last_s);
    let text = |value: Option<i64>| value.map_or("-1".to_owned(), |value| value.to_string());
    let signed = |time: u64| i64::try_from(time).unwrap();
    let since = |time: u64| Some(signed(time) - signed(submit));
    let (wait, run, status) = match (last.1, start) {
        (0, _) => (None, None, None),
        (1, Some((_, start))) => {
            let run = job_end.map(|end| signed(end.max(start)) - signed(start));
            (since(start), run, None)
        }
        (kind, start) => {
            let status = match kind {
                4 => 1,
                3 | 6 => 0,
                _ => 5,
            };
            let end = |at: usize| events[at..].iter().find(|event| (2..=6).contains(&event.1));
            match start {
                Some((at, start)) => {
                    let end = end(at).map_or(start, |event| event.0);
                    (since(start), Some(signed(end) - signed(start)), Some(status))
                }
                None => (since(last.0), None, Some(status)),
            }
        }
    };
    // A task that waits, or never ran, has no processors.
    let had = start.filter(|_| last.1 != 0).map(|_| 4);
    Some([submit.to_string(), text(wait), text(run), text(had), text(status)])
}

proptest! {
    #![proptest_config(Config { cases: 12, failure_persistence: None, ..Config::default() })]

    /// Promise: a part of a CPU becomes a whole processor in SWF, because SWF has no parts of
    /// processors. This is counted. The CPU time and the memory of the job stay the same.
    #[test]
    fn parts_of_a_cpu_are_rounded_up_and_counted(
        jobs in prop::collection::vec((1_i32..64, 1_i32..9_000, 1_i32..5_000, any::<bool>()), 1..20),
    ) {
        let place = Place::new();
        let mut table = "j,q,a,b,n,c,m,u\n".to_owned();
        for (id, &(quarters, run, memory, has_run)) in (1..).zip(&jobs) {
            let start = if has_run { "1010".to_owned() } else { String::new() };
            let (cpus, end) = (f64::from(quarters) / 4.0, 1010 + run);
            writeln!(table, "{id},1000,{start},{end},{cpus},{run},{memory},{memory}").unwrap();
        }
        place.raw("t.csv", table);
        let map = "[columns]\njob = \"j\"\ncpus = \"n\"\n\
            submit = { column = \"q\", unit = \"s\" }\n\
            start = { column = \"a\", unit = \"s\" }\n\
            end = { column = \"b\", unit = \"s\" }\n\
            cpu_time = { column = \"c\", unit = \"s\" }\n\
            memory = { column = \"m\", unit = \"KiB\" }\n\
            used_memory = { column = \"u\", unit = \"KiB\" }\n";
        fs::write(place.path("map.toml"), map).unwrap();
        place.run(&["ingest", "trace/t.csv", "--map", "map.toml", "--lake", "lake"]).ok();
        place.run(&["export", "--lake", "lake", "--as", "swf", "--out", "out"]).ok();
        let found: BTreeMap<String, Vec<f64>> = lines(&place, "out/log.swf")
            .into_iter()
            .map(|line| (line[0].clone(), line.iter().map(|field| field.parse().unwrap()).collect()))
            .collect();
        prop_assert_eq!(found.len(), jobs.len());
        let is_near = |one: f64, other: i32| (one - f64::from(other)).abs() < 1e-3;
        let mut parts = 0;
        for (id, &(quarters, run, memory, has_run)) in (1..).zip(&jobs) {
            let line = &found[&id.to_string()];
            let whole = f64::from((quarters + 3) / 4);
            parts += u64::from(quarters % 4 != 0);
            prop_assert!(is_near(line[7], (quarters + 3) / 4), "requested: {line:?}");
            prop_assert!(is_near(line[9] * whole, memory), "requested memory: {line:?}");
            if has_run {
                prop_assert!(is_near(line[4], (quarters + 3) / 4), "allocated: {line:?}");
                prop_assert!(is_near(line[5] * whole, run), "CPU time: {line:?}");
                prop_assert!(is_near(line[6] * whole, memory), "used memory: {line:?}");
            }
        }
        let wording = "CPU requests of no whole processors: rounded up";
        prop_assert_eq!(not_held(&place, "out").get(wording).copied().unwrap_or(0), parts);
    }
}

#[test]
fn columns_that_no_format_holds_are_counted() {
    let place = Place::new();
    let header =
        "JobID|Cluster|Partition|QOS|User|Group|Submit|Start|End|State|ExitCode|NCPUS|NodeList\n";
    let at = "2024-01-15T08:00:00|2024-01-15T08:00:00|2024-01-15T09:00:00|COMPLETED";
    let jobs = format!(
        "1_7|c|fast|high|ada|staff|{at}|0:0|2|n1\n2+0|c|fast||ada||{at}||2|n[1-2]\n\
        3|c|fast|low|bob|staff|{at}|1:0|2|\n"
    );
    place.raw("log.sacct", header.to_owned() + &jobs);
    place.run(&["ingest", "trace/log.sacct", "--lake", "lake"]).ok();
    for form in ["swf", "wta", "opendc", "batsim"] {
        place.run(&["export", "--lake", "lake", "--as", form, "--out", form]).ok();
        let counts = not_held(&place, form);
        let found = [
            "clusters that tasks belong to: left out",
            "exit codes: left out",
            "lists of the machines of tasks: left out",
            "qualities of service: left out",
            "Unix groups of users: left out",
            "arrays that tasks are elements of: left out",
            "heterogeneous jobs that tasks are components of: left out",
        ]
        .map(|wording| counts.get(wording).copied());
        let expected = [3, 2, 2, 2, 2, 1, 1].map(Some);
        assert_eq!(found, expected, "{form}: {counts:?}");
    }
}

/// A lake of three pods and a node with two GPUs. One pod ran, one never ran, and the third names a
/// GPU that no machine has.
fn of_pods() -> Place {
    let place = Place::new();
    let header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,\
        creation_time,deletion_time,scheduled_time";
    let pods = "openb-pod-0000,4000,1024,1,1000,V100|A10,LS,Failed,5,90,7\n\
        openb-pod-0001,2000,1024,0,0,,LS,Pending,6,90,\n\
        openb-pod-0002,3000,1536,1,1000,V100M32,LS,Succeeded,7,90,20\n";
    place.raw("openb_pod_list.csv", format!("{header}\n{pods}"));
    let nodes = "sn,cpu_milli,memory_mib,gpu,model\nopenb-node-0000,8000,16384,2,A10\n";
    place.raw("openb_node_list.csv", nodes);
    place.run(&["ingest", "trace", "--lake", "lake"]).ok();
    place
}

/// Numbers count from 1, and a pod that never ran has no processors. Memory is in KiB per
/// processor.
#[test]
fn pods_are_lines_of_a_log_and_their_gpus_are_counted() {
    let place = of_pods();
    place.run(&["export", "--lake", "lake", "--as", "swf", "--out", "swf"]).ok();
    let found = lines(&place, "swf/log.swf");
    let found: Vec<String> = found.iter().map(|line| line.join(" ")).collect();
    assert_eq!(
        found,
        [
            "1 5 2 83 4 -1 -1 4 -1 262144 0 -1 -1 -1 1 -1 -1 -1",
            "2 6 84 -1 -1 -1 -1 2 -1 524288 5 -1 -1 -1 1 -1 -1 -1",
            "3 7 13 70 3 -1 -1 3 -1 524288 1 -1 -1 -1 1 -1 -1 -1",
        ]
    );
    let numbers = fs::read_to_string(place.path("swf/numbers.csv")).unwrap();
    assert_eq!(numbers, "number,job_id,task_index\n1,0,0\n2,1,0\n3,2,0\n");
    let counts = not_held(&place, "swf");
    for (wording, count) in [
        ("GPU requests: left out", 2),
        ("models of GPUs that tasks ask for: left out", 2),
        ("GPUs of machines: left out", 2),
    ] {
        assert_eq!(counts.get(wording), Some(&count), "{wording}: {counts:?}");
    }
    for form in ["swf", "wta", "opendc", "batsim"] {
        place.run(&["export", "--lake", "lake", "--as", form, "--out", form]).ok();
        let counts = not_held(&place, form);
        let models = counts.get("models of the GPUs of machines: left out");
        assert_eq!(models, Some(&1), "{form}: {counts:?}");
    }
}

/// A replay refuses the pod that no machine can hold. It had no processors, and the export shows
/// this.
#[test]
fn a_refused_task_of_a_replay_has_no_processors() {
    let place = of_pods();
    let replay =
        ["replay", "--lake", "lake", "--policies", "fifo", "--journal", "--out", "replayed"];
    place.run(&replay).ok();
    let journal = "replayed/journal-1.parquet";
    let export = ["export", "--lake", "lake", "--journal", journal, "--as", "swf", "--out", "out"];
    place.run(&export).ok();
    let refused = lines(&place, "out/log.swf").into_iter().find(|line| line[7] == "3").unwrap();
    assert_eq!([&refused[3], &refused[4], &refused[10]], ["-1", "-1", "5"], "{refused:?}");
    let wording = "tasks that the replay refused: written as killed before they started";
    assert_eq!(not_held(&place, "out").get(wording), Some(&1));
}

/// Memory as a share of a machine is not an amount in MiB.
#[test]
fn shares_of_memory_are_not_written_as_amounts() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let counts = |form: &str| {
        place.run(&["export", "--lake", "lake", "--as", form, "--out", form]).ok();
        not_held(&place, form)
    };
    let swf = counts("swf")["memory requests as shares of a machine: left out"];
    assert!(0 < swf);
    assert_eq!(counts("wta")["memory requests as shares of a machine: only in params"], swf);
    // The export for Batsim has no jobs for tasks without a complete attempt.
    let batsim = counts("batsim");
    let left_out = batsim.get("tasks without a whole attempt: left out").copied().unwrap_or(0);
    let batsim = batsim["memory requests as shares of a machine: left out"];
    assert!(batsim <= swf && swf - left_out <= batsim, "{batsim} of {swf}");
}

#[test]
fn what_swf_cannot_hold_is_counted_and_named() {
    let place = Place::new();
    place.raw("small.sacct", fs::read(golden("logs").join("small.sacct")).unwrap());
    place.run(&["ingest", "trace/small.sacct", "--lake", "lake", "--max-rejects", "100%"]).ok();
    let run = place.run(&["export", "--lake", "lake", "--as", "swf", "--out", "out"]).ok();
    for wording in ["GPU requests: left out: ", "reasons why tasks ended: left out: "] {
        assert!(run.stderr.contains(wording), "{}", run.stderr);
    }
    let counts = not_held(&place, "out");
    assert!(counts.values().all(|count| 0 < *count), "{counts:?}");
    place.run(&["export", "--lake", "lake", "--as", "opendc", "--out", "opendc"]).ok();
    let counts = not_held(&place, "opendc");
    for wording in ["users: left out", "requested times: left out", "partitions: left out"] {
        assert!(counts.contains_key(wording), "{wording}: {counts:?}");
    }
    // Names are numbers in the log; a second file has the names.
    let names = fs::read_to_string(place.path("out/names.csv")).unwrap();
    let users: BTreeMap<&str, &str> =
        names.lines().filter_map(|line| line.strip_prefix("user,")?.split_once(',')).collect();
    assert!(!users.is_empty(), "{names}");
    for line in lines(&place, "out/log.swf") {
        assert!(line[11] == "-1" || users.contains_key(line[11].as_str()), "{line:?}");
        assert_eq!(line.len(), 18);
    }
    let text = fs::read_to_string(place.path("out/log.swf")).unwrap();
    for key in ["Version: 2.2", "Computer: ", "Installation: ", "MaxJobs: ", "MaxRecords: "] {
        assert!(text.contains(&format!("; {key}")), "{key}: {text}");
    }
    // The lake has times since 1970, the log has times since the first submit.
    assert_eq!(lines(&place, "out/log.swf")[0][1], "0");
    assert!(!text.contains("; UnixStartTime: 0\n"), "{text}");
}

#[test]
fn times_are_exact_or_rounded_as_asked() {
    let place = Place::new();
    let log = "1 0.5 0.25 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n";
    fs::write(place.path("log.swf"), log).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    let export = ["export", "--lake", "lake", "--as", "swf", "--out", "out"];
    let run = place.run(&export).ok();
    assert_eq!(lines(&place, "out/log.swf")[0].join(" "), log.trim());
    assert!(run.stderr.contains("a time that is not whole seconds: 1"), "{}", run.stderr);
    let run = place.run(&[&export[..], &["--whole-seconds"]].concat()).ok();
    assert_eq!(lines(&place, "out/log.swf")[0][1..4], ["1", "0", "10"]);
    assert!(!run.stderr.contains("whole seconds"), "{}", run.stderr);
}

#[test]
fn an_export_replaces_its_own_files_and_no_others() {
    let place = Place::new().with_golden_trace();
    place.ingest(&[]).ok();
    let export = ["export", "--lake", "lake", "--as", "swf", "--out", "out"];
    place.run(&export).ok();
    let before = fs::read(place.path("out/log.swf")).unwrap();
    place.run(&export).ok();
    assert_eq!(before, fs::read(place.path("out/log.swf")).unwrap(), "the same bytes");
    fs::create_dir(place.path("other")).unwrap();
    fs::write(place.path("other/log.swf"), "mine").unwrap();
    let run = place.run(&["export", "--lake", "lake", "--as", "swf", "--out", "other"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("does not belong to an earlier result"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(place.path("other/log.swf")).unwrap(), "mine");
    // Any number of buckets gives the same lines.
    place.run(&["ingest", "trace", "--lake", "wide", "--buckets", "7"]).ok();
    place.run(&["export", "--lake", "wide", "--as", "swf", "--out", "wide-out"]).ok();
    assert_eq!(lines(&place, "out/log.swf"), lines(&place, "wide-out/log.swf"));
}

#[test]
fn a_replay_is_written_as_its_journal_says() {
    let place = Place::new();
    let mut log = String::from("; MaxProcs: 4\n");
    for job in 1..=60 {
        let (submit, run, procs) = (job * 7 % 50, 20 + job * 13 % 90, 1 + job % 4);
        let status = [1, 1, 0, 5][job % 4];
        writeln!(
            log,
            "{job} {submit} 0 {run} {procs} -1 -1 {procs} -1 -1 {status} {} 1 -1 1 1 -1 -1",
            job % 5
        )
        .unwrap();
    }
    fs::write(place.path("log.swf"), log).unwrap();
    place.run(&["ingest", "log.swf", "--lake", "lake"]).ok();
    place
        .run(&["replay", "--lake", "lake", "--policies", "fifo", "--out", "runs", "--journal"])
        .ok();
    let journal = "runs/journal-1.parquet";
    let args = ["export", "--lake", "lake", "--journal", journal, "--as", "swf", "--out", "out"];
    place.run(&args).ok();
    // The same from the text of the journal: `25 start 7/0 #1 on 1`.
    let text = fs::read_to_string(place.path("runs/journal-1.txt")).unwrap();
    let mut expected: BTreeMap<String, [String; 4]> = BTreeMap::new();
    let mut starts: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let Some((job, _)) = words.get(2).and_then(|task| task.split_once('/')) else { continue };
        let at: i64 = words[0].parse().unwrap();
        match words[1] {
            "submit" => drop(starts.insert(job.to_owned(), (at, -1))),
            "start" => starts.get_mut(job).unwrap().1 = at,
            end => {
                let status = match end {
                    "finish" => "1",
                    "fail" => "0",
                    "kill" => "5",
                    other => panic!("{other}"),
                };
                let (submit, start) = starts[job];
                let [wait, run] = [start - submit, at - start].map(|span| span.to_string());
                expected.insert(job.to_owned(), [submit.to_string(), wait, run, status.to_owned()]);
            }
        }
    }
    let found: BTreeMap<String, [String; 4]> = lines(&place, "out/log.swf")
        .into_iter()
        .map(|line| (line[0].clone(), [1, 2, 3, 10].map(|field: usize| line[field].clone())))
        .collect();
    assert_eq!(found.len(), 60);
    assert_eq!(found, expected);
    assert!(found.values().any(|line| line[1] != "0"), "some had to wait");
    let run =
        place.run(&[&args[..3], &["--journal", "log.swf", "--as", "swf", "--out", "no"]].concat());
    assert_eq!(run.code, Some(3), "{}", run.stderr);
}

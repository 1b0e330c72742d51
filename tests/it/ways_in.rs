//! The promises of every source: the lake is the same for any number of threads, any steps and any
//! compression. Damage to gzip is an error or changes nothing. Kills only cost time.
//!
//! ```text
//!  a log of N jobs, drawn ──► ingest ──► lake
//!                    threads, table by table, file by file, gzip ──► the same lake
//!                    a flipped bit, a truncation                ──► an error, or the same rows
//!                    kill -9, then a second run                 ──► the same lake
//! ```
//!
//! A new source needs a line in `WAYS`.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use jobfate::lake::Lake;
use jobfate::schema::Source;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::joined;
use super::support::{Place, assert_same_files, contents, golden, gzip, now};

/// A way to ingest: its source, how a log with a number of jobs is made, and further arguments.
struct Way {
    source: Source,
    make: fn(&Place, u32),
    args: &'static [&'static str],
    /// Whether the log grows with the number of jobs.
    grows: bool,
}

const fn way(source: Source, make: fn(&Place, u32)) -> Way {
    Way { source, make, args: &[], grows: true }
}

const WAYS: [Way; 10] = [
    way(Source::Swf, swf),
    Way { grows: false, ..way(Source::Gwf, |place, _| small(place, &["small.gwf"])) },
    Way {
        grows: false,
        ..way(Source::Rumen, |place, _| small(place, &["small-trace.json", "small-topology.json"]))
    },
    way(Source::Slurm, slurm),
    way(Source::Openb, openb),
    way(Source::Kubernetes, kubernetes),
    way(Source::Alibaba2017, alibaba_2017),
    way(Source::Alibaba2018, alibaba_2018),
    way(Source::Google2019, google_joined),
    Way { args: &["--map", "map.toml"], ..way(Source::Mapped, mapped) },
];

/// Number of flipped bits of each log, and of places at which it is cut.
const DAMAGES: usize = if cfg!(debug_assertions) { 10 } else { 100 };

/// Number of kills of each ingest, and of jobs in its log.
const KILLS: u32 = if cfg!(debug_assertions) { 4 } else { 12 };
const MANY: u32 = if cfg!(debug_assertions) { 3_000 } else { 40_000 };

/// A small stored log.
fn small(place: &Place, names: &[&str]) {
    for name in names {
        place.raw(name, fs::read(golden("logs").join(name)).unwrap());
    }
}

/// A pseudo-random number below a bound.
fn drawn(id: u32, which: u32, below: u32) -> u32 {
    let mixed = (id ^ which.wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B);
    (mixed ^ (mixed >> 15)).wrapping_mul(0xC2B2_AE35) % below
}

/// When a job was submitted, started and ended, s.
fn times(id: u32) -> [u32; 3] {
    let submit = 1_000 + 7 * id + drawn(id, 1, 50);
    let start = submit + drawn(id, 2, 900);
    [submit, start, start + 1 + drawn(id, 3, 5_000)]
}

fn lines(head: &str, ids: impl Iterator<Item = u32>, line: impl Fn(u32) -> String) -> String {
    ids.fold(head.to_owned(), |mut text, id| {
        writeln!(text, "{}", line(id)).unwrap();
        text
    })
}

pub(crate) fn swf(place: &Place, count: u32) {
    let line = |id| {
        let [submit, start, end] = times(id);
        let (wait, run) = (start - submit, end - start);
        let user = drawn(id, 4, 9);
        format!("{id} {submit} {wait} {run} 2 -1 -1 2 -1 9 {} {user} 1 -1 1 1 -1 -1", id % 2)
    };
    place.raw("log.swf", lines("; MaxProcs: 64\n", 1..=count, line));
}

/// Two months; every tenth job was preempted in the first and ran again in the second.
pub(crate) fn slurm(place: &Place, count: u32) {
    let head = "JobID|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES\n";
    let line = |id: u32, state: &str, late: u32| {
        let [submit, start, end] = times(id);
        let (start, end, user) = (start + late, end + late, drawn(id, 4, 9));
        let gpus = drawn(id, 5, 3);
        format!(
            "{id}|u{user}|a{}|{state}|{submit}|{start}|{end}|{}|4|cpu=4,gres/gpu={gpus}",
            user % 3,
            end - start
        )
    };
    let first = lines(head, 1..=count / 2, |id| {
        line(id, ["COMPLETED", "FAILED", "CANCELLED by 7"][id as usize % 3], 0)
    });
    let again = (1..=count / 20).map(|id| id * 10);
    let first = lines(&first, again.clone(), |id| line(count + id, "PREEMPTED", 0));
    let second = lines(head, count / 2 + 1..=count, |id| line(id, "TIMEOUT", 0));
    let second = lines(&second, again, |id| line(count + id, "COMPLETED", 50_000));
    place.raw("2024-01.sacct", first);
    place.raw("2024-02.sacct", second);
}

fn openb(place: &Place, count: u32) {
    let head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,\
        deletion_time,scheduled_time\n";
    let pods = lines(head, 1..=count, |id| {
        let [submit, start, end] = times(id);
        let phase = ["Succeeded", "Failed", "Running"][id as usize % 3];
        let milli = 100 * (1 + drawn(id, 4, 10));
        format!("openb-pod-{id},4000,1024,1,{milli},V100|A10,LS,{phase},{submit},{end},{start}")
    });
    place.raw("openb_pod_list_default.csv", pods);
    let nodes = lines("sn,cpu_milli,memory_mib,gpu,model\n", 1..=count / 9 + 1, |id| {
        format!("openb-node-{id},64000,262144,{},A10", id % 9)
    });
    place.raw("openb_node_list_all_node.csv", nodes);
}

fn kubernetes(place: &Place, count: u32) {
    let at = |second: u32| {
        let (day, hour, minute) = (1 + second / 86_400, second / 3_600 % 24, second / 60 % 60);
        format!("2024-03-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
    };
    let pod = |id: u32| {
        let [submit, start, end] = times(id);
        let state = serde_json::json!({"terminated": {"startedAt": at(start),
            "finishedAt": at(end), "exitCode": id % 2, "reason": "Completed"}});
        serde_json::json!({"kind": "Pod",
            "metadata": {"name": format!("pod-{id}"), "namespace": format!("team-{}", id % 5),
                "creationTimestamp": at(submit), "ownerReferences": [
                    {"kind": "Job", "name": format!("job-{}", id / 3), "controller": true}]},
            "spec": {"nodeName": format!("node-{}", id % 20), "containers": [
                {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]},
            "status": {"phase": if id.is_multiple_of(2) { "Succeeded" } else { "Failed" },
                "startTime": at(start), "containerStatuses": [{"restartCount": 0, "state": state}]}})
    };
    let items: Vec<serde_json::Value> = (1..=count).map(pod).collect();
    let list = serde_json::json!({"apiVersion": "v1", "items": items, "kind": "List"});
    place.raw("pods.json", serde_json::to_string_pretty(&list).unwrap());
}

pub(crate) fn alibaba_2017(place: &Place, count: u32) {
    let line = |id| {
        let [submit, _, end] = times(id);
        let state = ["Terminated", "Failed", "Running", "Waiting"][id as usize % 4];
        format!("{submit},{end},{},{id},{},{state},50,0.01", id / 3, 1 + drawn(id, 4, 5))
    };
    place.raw("batch_task.csv", lines("", 1..=count, line));
    let instances = lines("", 1..=count, |id| {
        let [_, start, end] = times(id);
        let (machine, tries) = (1 + drawn(id, 5, 40), 1 + id % 2);
        format!(
            "{start},{end},{},{id},{machine},Terminated,{},{tries},1.5,0.5,0.1,0.05",
            id / 3,
            1 + drawn(id, 6, tries)
        )
    });
    place.raw("batch_instance.csv", instances);
    place.raw("server_event.csv", lines("", 1..=40, |id| format!("0,{id},add,,64,0.7,0.4")));
}

fn alibaba_2018(place: &Place, count: u32) {
    let tasks = lines("", 1..=count, |id| {
        let [_, start, end] = times(id);
        format!("R{}_1,1,j_{},1,Terminated,{start},{end},100,0.5", 1 + id % 3, id / 3)
    });
    let instances = lines("", 1..=count, |id| {
        let [_, start, end] = times(id);
        let state = if id.is_multiple_of(7) { "Failed" } else { "Terminated" };
        let (task, machine) = (1 + id % 3, drawn(id, 4, 40));
        format!(
            "ins_{id},R{task}_1,j_{},1,{state},{start},{end},m_{machine},1,1,50,80,0.1,0.2",
            id / 3
        )
    });
    let machines = lines("", 0..40, |id| format!("m_{id},0,{},{},96,100,USING", id % 7, id % 3));
    place.raw("batch_task.csv", tasks);
    place.raw("batch_instance.csv", instances);
    place.raw("machine_meta.csv", machines);
}

fn google_joined(place: &Place, count: u32) {
    let small = |id, which, below| u8::try_from(drawn(id, which, below)).unwrap();
    let rows = (1..=count).map(|id| {
        let time_s = u16::try_from(id % 60_000).unwrap();
        let collection = u8::try_from(id % 200).unwrap();
        (
            1 + small(id, 1, 3),
            collection,
            small(id, 2, 3),
            time_s,
            small(id, 3, 9),
            small(id, 4, 4),
            false,
        )
    });
    place.raw("borg_traces_data.csv", joined::file(&rows.collect::<Vec<_>>()));
}

fn mapped(place: &Place, count: u32) {
    let map = "[columns]\njob = \"id\"\nuser = \"user\"\nstate = \"state\"\ncpus = \"cpus\"\n\
        submit = { column = \"submit\", unit = \"s\" }\nstart = { column = \"start\", unit = \"s\" }\n\
        end = { column = \"end\", unit = \"s\" }\n\n[states]\nfertig = \"finished\"\n\
        Fehler = \"failed\"\n";
    fs::write(place.path("map.toml"), map).unwrap();
    let table = lines("id,user,submit,start,end,cpus,state\n", 1..=count, |id| {
        let [submit, start, end] = times(id);
        let state = if id.is_multiple_of(3) { "Fehler" } else { "fertig" };
        format!("{id},u{},{submit},{start},{end},8,{state}", id % 7)
    });
    place.raw("table.csv", table);
}

/// The arguments of an ingest: the folder, or the file if a log is one file.
fn words(place: &Place, way: &Way, lake: &str, more: &[&str]) -> Vec<String> {
    let files: Vec<_> = fs::read_dir(place.path("trace")).unwrap().collect();
    let trace = match files.as_slice() {
        [Ok(file)] => format!("trace/{}", file.file_name().to_string_lossy()),
        _ => "trace".to_owned(),
    };
    let args = ["ingest", &trace, "--lake", lake, "--source", way.source.name()];
    let limit = ["--max-rejects", "100%"];
    [&args[..], way.args, &limit, more].concat().into_iter().map(str::to_owned).collect()
}

fn ingest(place: &Place, way: &Way, lake: &str, more: &[&str]) -> super::support::Run {
    let words = words(place, way, lake, more);
    place.run(&words.iter().map(String::as_str).collect::<Vec<&str>>())
}

fn rows_of(
    path: &Path,
) -> std::collections::BTreeMap<(jobfate::schema::Table, u32), Vec<(i64, u64)>> {
    contents(&Lake::open(path).unwrap())
}

/// Compresses every file of the log.
fn zip(place: &Place) {
    for file in fs::read_dir(place.path("trace")).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let name = format!("{}.gz", path.file_name().unwrap().to_string_lossy());
        place.raw(&name, gzip(&bytes));
    }
}

/// Promise: any number of threads, and tables ingested one after the other, give the same files.
/// Files ingested one after the other, and gzip, give the same rows.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn threads_steps_and_packing_do_not_show() {
    for way in &WAYS {
        let (place, name) = (Place::new(), way.source.name());
        (way.make)(&place, 200);
        ingest(&place, way, "lake", &["--threads", "1"]).ok();
        let whole = rows_of(&place.path("lake"));
        assert!(10 < whole.values().map(Vec::len).sum::<usize>(), "{name}");
        ingest(&place, way, "threads", &["--threads", "8"]).ok();
        assert_same_files(&place.path("lake"), &place.path("threads"));
        let lake = place.lake();
        let mut tables: Vec<&str> = lake.manifest.tables.keys().map(String::as_str).collect();
        tables.reverse();
        for table in tables {
            ingest(&place, way, "tables", &["--tables", table]).ok();
        }
        assert_eq!(whole, rows_of(&place.path("tables")), "{name}, table by table");
        if way.source == Source::Slurm {
            ingest(&place, way, "files", &["--parts", "1"]).ok();
            ingest(&place, way, "files", &[]).ok();
            assert_eq!(whole, rows_of(&place.path("files")), "the second month first");
        }
        zip(&place);
        ingest(&place, way, "zipped", &[]).ok();
        assert_eq!(whole, rows_of(&place.path("zipped")), "{name}, as gzip");
    }
}

/// Promise: a flipped bit in a compressed log is an error that names the file, or no row differs; a
/// truncation is an error.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn damage_of_gzip_is_an_error_or_changes_no_row() {
    for way in &WAYS {
        let (place, name) = (Place::new(), way.source.name());
        (way.make)(&place, 200);
        zip(&place);
        ingest(&place, way, "lake", &[]).ok();
        let whole = rows_of(&place.path("lake"));
        let files = fs::read_dir(place.path("trace")).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        let mut draws = ChaCha8Rng::seed_from_u64(24);
        for number in 0_usize..2 * DAMAGES {
            let path = &files[draws.random_range(0..files.len())];
            let bytes = fs::read(path).unwrap();
            let is_cut = number.is_multiple_of(2);
            let mut damaged = bytes.clone();
            if is_cut {
                damaged.truncate(draws.random_range(1..bytes.len()));
            } else {
                let bit = draws.random_range(0..bytes.len() * 8);
                damaged[bit / 8] ^= 1 << (bit % 8);
            }
            fs::write(path, &damaged).unwrap();
            let lake = format!("damaged-{number}");
            let run = ingest(&place, way, &lake, &[]);
            fs::write(path, &bytes).unwrap();
            match run.code {
                Some(0) => {
                    assert!(!is_cut, "{name}: a cut is not seen, {} bytes", damaged.len());
                    assert_eq!(whole, rows_of(&place.path(&lake)), "{name}, {number}");
                }
                Some(2 | 3) => {
                    let file = path.file_name().unwrap().to_string_lossy();
                    assert!(run.stderr.contains(&*file), "{name}, {file}: {}", run.stderr);
                }
                code => panic!("{name}: {code:?}: {}", run.stderr),
            }
        }
    }
}

/// Promise: an ingest that is killed at any instant leaves only complete files, and a second run of
/// the command gives the bytes of an undisturbed run.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn an_ingest_of_any_source_that_is_killed_goes_on() {
    let mut interrupted = 0;
    for way in WAYS.iter().filter(|way| way.grows) {
        let place = Place::new();
        (way.make)(&place, MANY);
        let begin = now();
        ingest(&place, way, "whole", &[]).ok();
        let takes = begin.elapsed();
        let mut draws = ChaCha8Rng::seed_from_u64(9);
        for _ in 0..KILLS {
            let words = words(&place, way, "lake", &[]);
            let mut command = place.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            thread::sleep(takes.mul_f64(draws.random_range(0.0..1.0)));
            child.kill().unwrap();
            interrupted += u32::from(!child.wait().unwrap().success());
            if place.path("lake/manifest.json").exists() {
                Lake::open(place.path("lake")).unwrap().check_sums().unwrap();
            }
            if draws.random_range(0..3) == 0 {
                ingest(&place, way, "lake", &[]).ok();
                assert_same_files(&place.path("whole"), &place.path("lake"));
                fs::remove_dir_all(place.path("lake")).unwrap();
            }
        }
        ingest(&place, way, "lake", &[]).ok();
        assert_same_files(&place.path("whole"), &place.path("lake"));
    }
    assert!(KILLS < interrupted, "{interrupted} kills came before the end");
}

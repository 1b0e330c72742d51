//! Lakes whose names are replaced by keyed hashes.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use jobfate::lake::Lake;
use jobfate::schema::Table;

use super::support::{Place, assert_same_files};

/// The names in the generated log below: people, accounts, groups, queues, programs, machines,
/// sites.
const NAMES: [&str; 16] = [
    "grace",
    "hopper",
    "navyacct",
    "yalegrp",
    "longqueue",
    "cobolprog",
    "vault07",
    "vault08",
    "univac9",
    "qosplus",
    "secretsite",
    "secretnote",
    "fileofnames",
    "badline",
    "1001",
    "arrayed",
];

/// A log with all of these names, one of them in a line that does not parse.
fn log_of_names(place: &Place, name: &str) {
    let header = "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|User|Submit|Start|End|State|NNodes|AllocCPUS|NodeList|JobName";
    let lines = [
        "1|1|univac9|longqueue|qosplus|navyacct|yalegrp|grace|2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T00:10:10|COMPLETED|2|8|vault[07-08]|cobolprog",
        "2|2|univac9|longqueue|qosplus|navyacct|yalegrp|hopper|2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T00:10:10|CANCELLED by 1001|1|4|vault07|cobolprog",
        "arrayed_[3-4]||univac9|longqueue|qosplus|navyacct|yalegrp|grace|2024-01-01T00:00:00|Unknown|Unknown|PENDING|1|4|None assigned|cobolprog",
        "4|4|univac9|longqueue|qosplus|navyacct|yalegrp|badline|soon|2024-01-01T00:00:10|2024-01-01T00:10:10|COMPLETED|1|4|vault07|cobolprog",
    ];
    place.raw(name, format!("{header}\n{}\n", lines.join("\n")));
}

/// Every byte of every file of a folder, and every cell of its Parquet files.
fn all_texts(folder: &std::path::Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all_texts(&path));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let mut text = path.file_name().unwrap().to_string_lossy().into_owned();
        text.extend(bytes.iter().map(|&byte| char::from(byte)));
        if path.extension().is_some_and(|end| end == "parquet") {
            let file = fs::File::open(&path).unwrap();
            let reader =
                parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
            for batch in reader.unwrap().build().unwrap() {
                let batch = batch.unwrap();
                for column in batch.columns() {
                    let cells = ArrayFormatter::try_new(column, &FormatOptions::default()).unwrap();
                    for row in 0..batch.num_rows() {
                        writeln!(text, "{}", cells.value(row)).unwrap();
                    }
                }
            }
        }
        found.push((path, text));
    }
    found
}

/// Promise: with a key, no file of a lake holds a name of the log. The same key gives the same
/// names in every lake, and another key gives other names. Counts are unchanged.
#[test]
fn a_lake_made_with_a_key_holds_no_name_of_the_log() {
    let place = Place::new();
    log_of_names(&place, "fileofnames.sacct");
    place.raw(
        "swf/fileofnames.swf",
        "; Computer: univac9\n; Installation: secretsite\n; Note: secretnote\n; Acknowledge: grace\n\
         ; Queue: 1 longqueue\n; UnixStartTime: 1704067200\n; MaxProcs: 64\n\
         1 0 10 600 8 -1 -1 8 -1 -1 1 1 1 1 1 -1 -1 -1\n",
    );
    fs::write(place.path("key"), "0123456789abcdef0123\n").unwrap();
    fs::write(place.path("other-key"), "0123456789abcdef0124\n").unwrap();
    fs::write(place.path("short-key"), "0123456789abcde\n").unwrap();
    let ingest = |log: &str, lake: &str, key: Option<&str>| {
        let args = ["ingest", log, "--lake", lake, "--max-rejects", "50%"];
        place.run(
            &[&args[..], key.map(|key| ["--anonymize", key]).as_ref().map_or(&[], |key| key)]
                .concat(),
        )
    };
    let log = "trace/fileofnames.sacct";
    ingest(log, "plain", None).ok();
    ingest(log, "one", Some("key")).ok();
    ingest(log, "two", Some("key")).ok();
    ingest(log, "three", Some("other-key")).ok();
    ingest("trace/swf/fileofnames.swf", "swf", Some("key")).ok();
    ingest("trace/swf/fileofnames.swf", "swf-plain", None).ok();
    let plain: String = ["plain", "swf-plain"]
        .iter()
        .flat_map(|lake| all_texts(&place.path(lake)))
        .map(|(_, text)| text)
        .collect();
    for name in NAMES {
        assert!(plain.contains(name), "{name} stands in the lakes without a key");
        for lake in ["one", "three", "swf"] {
            for (path, text) in all_texts(&place.path(lake)) {
                assert!(!text.contains(name), "{name} stands in {}", path.display());
            }
        }
    }
    assert_same_files(&place.path("one"), &place.path("two"));
    let manifest = |lake: &str| -> serde_json::Value {
        serde_json::from_slice(&fs::read(place.path(lake).join("manifest.json")).unwrap()).unwrap()
    };
    assert_eq!(manifest("plain").get("anonymized"), None);
    assert_eq!(manifest("one")["anonymized"], manifest("swf")["anonymized"]);
    assert_ne!(manifest("one")["anonymized"], manifest("three")["anonymized"]);
    let text = manifest("swf").to_string();
    assert!(text.contains("MaxProcs") && text.contains("1704067200"), "{text}");
    // Counts by user, by job and by account are unchanged.
    for args in [
        &["classify", "--format", "csv"][..],
        &["account", "--cpu", "requested", "--format", "csv"],
        &["describe", "--what", "job-durations", "--format", "csv"],
    ] {
        let of = |lake: &str| place.run(&[args, &["--lake", lake]].concat()).ok().stdout;
        assert_eq!(of("plain"), of("one"), "{args:?}");
    }
    let users = |lake: &str| {
        let args = ["account", "--cpu", "requested", "--group-by", "user", "--format", "json"];
        let json = place.run(&[&args[..], &["--lake", lake]].concat()).ok().json();
        json["rows"].as_array().unwrap().len()
    };
    assert_eq!(users("plain"), users("one"));
    // The lake refuses rows with another key or without a key.
    for key in [Some("other-key"), None] {
        let run = ingest(log, "one", key);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains("with another key"), "{}", run.stderr);
    }
    let run = ingest(log, "four", Some("short-key"));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("has 15 bytes: a key has at least 16"), "{}", run.stderr);
    assert!(ingest(log, "four", Some("no-key")).stderr.contains("could not read the key file"));
}

/// The numbers of some columns of a lake.
fn numbers(lake: &Lake, table: Table, columns: &[&'static str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    lake.scan(table, None, columns, |batch| {
        for column in batch.columns() {
            let cells = ArrayFormatter::try_new(column, &FormatOptions::default()).unwrap();
            found.extend((0..batch.num_rows()).map(|row| cells.value(row).to_string()));
        }
    })
    .unwrap();
    found
}

/// Promise: without the key, a guessed name cannot be tested against a number made from a name. The
/// ids of a lake with a key differ from those of a lake without one, and the answers are the same.
#[test]
fn numbers_made_from_names_depend_on_the_key() {
    let place = Place::new();
    let pods: Vec<serde_json::Value> = (0..4)
        .map(|number| {
            let at = |second: i32| format!("2024-01-01T00:00:{second:02}Z");
            serde_json::json!({"kind": "Pod",
                "metadata": {"name": format!("fit-{number}-abcde"), "namespace": "physics",
                    "creationTimestamp": at(0),
                    "ownerReferences": [{"kind": "Job", "name": "fit", "controller": true}]},
                "spec": {"nodeName": format!("n{number}"), "containers": [
                    {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]},
                "status": {"phase": "Succeeded", "startTime": at(5), "containerStatuses": [
                    {"restartCount": 0, "state": {"terminated": {"startedAt": at(6),
                        "finishedAt": at(20 + number), "exitCode": 0, "reason": "Completed"}}}]}})
        })
        .collect();
    let list = serde_json::json!({"apiVersion": "v1", "items": pods, "kind": "List"});
    place.raw("pods.json", list.to_string());
    place.raw("jobs.csv", "job,start,end,cpus,machines\nalpha,1,5,2,vault1\nbeta,2,9,2,vault2\n");
    let map = "[columns]\njob = \"job\"\nstart = { column = \"start\", unit = \"s\" }\n\
        end = { column = \"end\", unit = \"s\" }\ncpus = \"cpus\"\nmachines = \"machines\"\n";
    fs::write(place.path("map.toml"), map).unwrap();
    place.raw(
        "tasks.csv",
        "task_red,2,j_one,1,Terminated,10,30,100,0.5\ntask_blue,1,j_one,1,Terminated,10,40,100,0.5\n",
    );
    fs::write(place.path("key"), "0123456789abcdef0123\n").unwrap();
    for (log, more, is_named) in [
        ("pods.json", &[][..], true),
        ("jobs.csv", &["--map", "map.toml"], false),
        ("tasks.csv", &["--source", "alibaba-2018"], true),
    ] {
        let path = format!("trace/{log}");
        let [plain, masked] = ["plain", "masked"].map(|lake| format!("{lake}-{log}"));
        let args = [&["ingest", &path, "--lake", &plain][..], more].concat();
        place.run(&args).ok();
        let args = [&["ingest", &path, "--lake", &masked, "--anonymize", "key"][..], more].concat();
        place.run(&args).ok();
        let [open, hidden] = [&plain, &masked].map(|lake| Lake::open(place.path(lake)).unwrap());
        for column in ["job_id", "machine_id", "task_index"] {
            let of = |lake: &Lake| numbers(lake, Table::TaskEvents, &[column]);
            let [open, hidden] = [of(&open), of(&hidden)];
            assert_eq!(open.len(), hidden.len(), "{log}: {column}");
            if column != "task_index" || is_named {
                let both: Vec<&String> =
                    open.intersection(&hidden).filter(|number| !number.is_empty()).collect();
                assert_eq!(both, Vec::<&String>::new(), "{log}: {column}");
            }
        }
        for args in [&["classify", "--by", "task"][..], &["account", "--cpu", "requested"]] {
            let of = |lake: &str| {
                place.run(&[args, &["--lake", lake, "--format", "csv"]].concat()).ok().stdout
            };
            assert_eq!(of(&plain), of(&masked), "{log}: {args:?}");
        }
    }
}

/// Promise: with a key, the states of a mapped table are the words of its map. No name that follows
/// them in a cell is stored.
#[test]
fn states_of_mapped_tables_keep_the_words_of_the_map() {
    let place = Place::new();
    place.raw(
        "jobs.csv",
        "job,start,end,cpus,state\n1,1,5,2,killed by limit\n2,2,9,2,killed by user\n\
         3,2,9,2,Stopped by grace\n4,2,9,2,ended by hopper\n",
    );
    let map = "[columns]\njob = \"job\"\nstart = { column = \"start\", unit = \"s\" }\n\
        end = { column = \"end\", unit = \"s\" }\ncpus = \"cpus\"\nstate = \"state\"\n[states]\n\
        \"killed by limit\" = \"killed\"\n\"killed by user\" = \"killed\"\n\
        \"stopped by*\" = \"killed\"\n\"*\" = \"failed\"\n";
    fs::write(place.path("map.toml"), map).unwrap();
    fs::write(place.path("key"), "0123456789abcdef0123\n").unwrap();
    let args = ["ingest", "trace/jobs.csv", "--map", "map.toml", "--anonymize", "key"];
    place.run(&args).ok();
    let args = ["classify", "--classes", "terminal", "--by-reason", "--format", "csv"];
    let text = place.run(&args).ok().stdout_text().to_owned();
    for reason in ["killed by limit", "killed by user", "Stopped by"] {
        assert!(text.contains(&format!(",{reason},1,")), "{reason}: {text}");
    }
    for (path, text) in all_texts(&place.path("lake")) {
        for name in ["grace", "hopper"] {
            assert!(!text.contains(name), "{name} stands in {}", path.display());
        }
    }
}

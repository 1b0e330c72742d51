//! Tables of any layout, read with a map: the same answers as for the same log in another format,
//! errors of wrong maps and tables, and a German table from file to answer.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::process::Command;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, DurationMillisecondArray, Int64Array, StringArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel};
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

use super::support::{Place, assert_same_files, gzip};

/// A random job: submit, wait and run (s), processors, memory (KiB per processor), user, outcome.
type Job = (i64, i64, i64, i64, i64, u8, u8);

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let job =
        (0_i64..900_000, 0_i64..50_000, 1_i64..90_000, 1_i64..65, 1_i64..5_000, 0_u8..4, 0_u8..3);
    prop::collection::vec(job, 1..25)
}

/// The outcome numbers of SWF, and words for them.
const OUTCOMES: [(i64, &str); 3] = [(1, "fertig"), (0, "Fehler"), (5, "abgebrochen")];

fn as_swf(jobs: &[Job]) -> String {
    let mut text = String::from("; MaxProcs: 64\n");
    for (id, &(submit, wait, run, cpus, memory, user, outcome)) in (1..).zip(jobs) {
        let status = OUTCOMES[usize::from(outcome)].0;
        writeln!(
            text,
            "{id} {submit} {wait} {run} {cpus} -1 -1 {cpus} -1 {memory} {status} {user} 1 -1 1 1 -1 -1"
        )
        .unwrap();
    }
    text
}

/// A date and time in the format of a German table, from seconds since 1970.
fn german(at: i64) -> String {
    let (day, of_day) = (at / 86_400, at % 86_400);
    let month = if day < 31 { (1, day + 1) } else { (2, day - 30) };
    assert!(day < 59, "within January and February");
    format!(
        "{:02}.{:02}.1970 {:02}:{:02}:{:02}",
        month.1,
        month.0,
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

/// The same log as tables: file name, bytes and map.
fn as_tables(jobs: &[Job]) -> Vec<(&'static str, Vec<u8>, String)> {
    let mut plain = String::from("id,user,submit,start,end,cpus,mem,state\n");
    let mut local = String::from("Nr;Wer;Abgabe;Wartezeit;Dauer;Kerne;Speicher;Status;Rest\n");
    let mut lines = String::new();
    let mut tabs = String::new();
    let mut columns: [Vec<i64>; 6] = Default::default();
    let mut words: [Vec<String>; 2] = Default::default();
    for (id, &(submit, wait, run, cpus, memory, user, outcome)) in (1..).zip(jobs) {
        let word = OUTCOMES[usize::from(outcome)].1;
        let (start, end, total) = (submit + wait, submit + wait + run, memory * cpus);
        writeln!(plain, "{id},{user},{submit},{start},{end},{cpus},{total},{word}").unwrap();
        // Times by a clock one hour ahead, lengths in minutes with nine decimals after a comma.
        let minutes = |seconds: i64| {
            let nanos = (seconds * 10_000_000_000 / 60 + 5) / 10;
            format!("{},{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
        };
        writeln!(
            local,
            "{id};{user};\"{}\";{};{};{cpus};{},{:03};{word};x",
            german(submit + 3600),
            minutes(wait),
            minutes(run),
            total / 1000,
            total % 1000
        )
        .unwrap();
        writeln!(lines, "{{\"id\":{id},\"who\":\"{user}\",\"at\":{{\"end\":{},\"from\":[{}]}},\"wait\":{wait},\"cpu\":{},\"mem\":{total},\"state\":\"{word}\"}}", end * 1000, start * 1000, cpus * 1000).unwrap();
        writeln!(
            tabs,
            "{word}\t{end}\t{run}\t{wait}\t{}\t{user}\t{id}\t{}",
            cpus * 100,
            total * 1024
        )
        .unwrap();
        for (column, value) in columns.iter_mut().zip([id, submit, start, end, cpus, total]) {
            column.push(value);
        }
        words[0].push(word.to_owned());
        words[1].push(user.to_string());
    }
    let [plain_map, local_map, lines_map, tabs_map, typed_map] = maps();
    let typed = as_typed_parquet(&columns, &words);
    let parquet = as_parquet(columns, words);
    vec![
        ("plain.csv", plain.clone().into_bytes(), plain_map.clone()),
        ("zipped.csv.gz", gzip(plain.as_bytes()), plain_map.clone()),
        ("german.csv", local.into_bytes(), local_map),
        ("lines.jsonl", lines.into_bytes(), lines_map),
        ("tabs.tsv", tabs.into_bytes(), tabs_map),
        ("table.parquet", parquet, plain_map),
        ("typed.parquet", typed, typed_map),
    ]
}

/// Columns of numbers and of words as a Parquet file.
fn as_parquet(columns: [Vec<i64>; 6], words: [Vec<String>; 2]) -> Vec<u8> {
    let ints = ["id", "submit", "start", "end", "cpus", "mem"].into_iter().zip(columns);
    let mut arrays: Vec<(&str, ArrayRef)> =
        ints.map(|(name, column)| (name, Arc::new(Int64Array::from(column)) as ArrayRef)).collect();
    for (name, column) in ["state", "user"].into_iter().zip(words) {
        arrays.push((name, Arc::new(StringArray::from(column))));
    }
    written(arrays, Compression::UNCOMPRESSED)
}

/// The same with instants in named zones and a length of time as such, as pandas writes them.
fn as_typed_parquet(columns: &[Vec<i64>; 6], words: &[Vec<String>; 2]) -> Vec<u8> {
    let [id, submit, start, end, cpus, mem] = columns;
    let int = |column: &[i64]| Arc::new(Int64Array::from(column.to_vec())) as ArrayRef;
    let times = |column: &[i64], per_s: i64| column.iter().map(|at| at * per_s).collect::<Vec<_>>();
    let submitted = TimestampNanosecondArray::from(times(submit, 1_000_000_000));
    let ended = TimestampMillisecondArray::from(times(end, 1000));
    let waits: Vec<i64> = start.iter().zip(submit).map(|(start, submit)| start - submit).collect();
    let waited = DurationMillisecondArray::from(times(&waits, 1000));
    let arrays = vec![
        ("id", int(id)),
        ("submit", Arc::new(submitted.with_timezone("Europe/Berlin")) as ArrayRef),
        ("wait", Arc::new(waited)),
        ("end", Arc::new(ended.with_timezone("UTC"))),
        ("cpus", int(cpus)),
        ("mem", int(mem)),
        ("state", Arc::new(StringArray::from(words[0].clone()))),
        ("user", Arc::new(StringArray::from(words[1].clone()))),
    ];
    written(arrays, Compression::GZIP(GzipLevel::default()))
}

fn written(arrays: Vec<(&str, ArrayRef)>, compression: Compression) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(arrays).unwrap();
    let mut parquet = Vec::new();
    let how = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(&mut parquet, batch.schema(), Some(how)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    parquet
}

/// The maps of the tables. The memory of the German table is in units of 10^6 bytes, which SWF
/// cannot hold as a whole number, so it is left out.
fn maps() -> [String; 5] {
    let states = "[states]\nfertig = \"finished\"\nFehler = \"failed\"\n\"abge*\" = \"killed\"\n";
    let s = |key: &str, column: &str, unit: &str| {
        format!("{key} = {{ column = \"{column}\", unit = \"{unit}\" }}\n")
    };
    let plain_map = format!(
        "[columns]\njob = \"id\"\nuser = \"user\"\nstate = \"state\"\ncpus = \"cpus\"\n{}{}{}{}{states}",
        s("submit", "submit", "s"),
        s("start", "start", "s"),
        s("end", "end", "s"),
        s("memory", "mem", "KiB")
    );
    let local_map = format!(
        "[table]\nseparator = \";\"\ndecimal = \",\"\ntimezone = \"+01:00\"\n[columns]\njob = \"Nr\"\nuser = \"Wer\"\nstate = \"Status\"\ncpus = \"Kerne\"\nsubmit = {{ column = \"Abgabe\", format = \"%d.%m.%Y %H:%M:%S\" }}\n{}{}{states}",
        s("wait", "Wartezeit", "min"),
        s("run", "Dauer", "min")
    );
    let lines_map = format!(
        "[columns]\njob = \"id\"\nuser = \"who\"\nstate = \"state\"\n{}{}{}{}{}{states}",
        s("start", "at.from[0]", "ms"),
        s("end", "at.end", "ms"),
        s("wait", "wait", "s"),
        s("cpus", "cpu", "milli-cores"),
        s("memory", "mem", "KiB")
    );
    let tabs_map = format!(
        "[table]\nseparator = \"\\t\"\ncolumns = [\"s\", \"e\", \"r\", \"w\", \"c\", \"u\", \"j\", \"m\"]\n[columns]\njob = \"j\"\nuser = \"u\"\nstate = \"s\"\n{}{}{}{}{}{states}",
        s("end", "e", "s"),
        s("run", "r", "s"),
        s("wait", "w", "s"),
        s("cpus", "c", "percent"),
        s("memory", "m", "bytes")
    );
    let typed_map = format!(
        "[columns]\njob = \"id\"\nuser = \"user\"\nstate = \"state\"\ncpus = \"cpus\"\nsubmit = \"submit\"\nend = \"end\"\nwait = {{ column = \"wait\", format = \"clock\" }}\n{}{states}",
        s("memory", "mem", "KiB")
    );
    [plain_map, local_map, lines_map, tabs_map, typed_map]
}

/// The answers of three commands, without the fields about their origin.
fn answers(place: &Place, lake: &str) -> Vec<String> {
    let mut all = Vec::new();
    for args in [
        &["classify"][..],
        &["classify", "--by", "task", "--classes", "terminal"],
        &["account", "--cpu", "requested"],
        &["account", "--cpu", "slots", "--group-by", "user"],
        &["describe", "--what", "job-durations"],
        &["describe", "--what", "waiting"],
    ] {
        let args = [args, &["--lake", lake, "--format", "csv"]].concat();
        all.push(place.run(&args).ok().stdout_text().to_owned());
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    /// Promise: a log as a table, in any layout, gives the same answers as the same log in SWF.
    #[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn a_mapped_table_gives_the_answers_of_the_same_log(jobs in jobs()) {
        let place = Place::new();
        place.raw("log.swf", as_swf(&jobs));
        place.run(&["ingest", "trace/log.swf", "--lake", "swf"]).ok();
        let expected = answers(&place, "swf");
        let memory = |lake: &str| {
            let args = ["account", "--resource", "memory", "--lake", lake, "--format", "csv"];
            place.run(&args).ok().stdout_text().to_owned()
        };
        for (name, bytes, map) in as_tables(&jobs) {
            place.raw(name, bytes);
            fs::write(place.path("map.toml"), map).unwrap();
            let path = format!("trace/{name}");
            place.run(&["ingest", &path, "--map", "map.toml", "--lake", name]).ok();
            prop_assert!(!place.path(&format!("{name}/rejects")).exists(), "{name}");
            prop_assert_eq!(&answers(&place, name), &expected, "{}", name);
            if name != "german.csv" {
                prop_assert_eq!(memory(name), memory("swf"), "{}", name);
            }
        }
    }
}

/// A random row with a part of a CPU: run time (s), milli-cores, and the recorded CPU time (s) and
/// memory (KiB).
type Part = (i64, i64, Option<i64>, Option<i64>);

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let recorded = |most: i64| prop::option::of(0_i64..most);
    let row = (1_i64..90_000, 1_i64..9_000, recorded(100_000), recorded(1_000_000));
    prop::collection::vec(row, 1..30).prop_map(|mut rows| {
        // At least one row has both, so that the log records them.
        (rows[0].2, rows[0].3) = (Some(100), Some(5_120));
        rows
    })
}

/// A random attempt: the time since the previous one (s), how often it is written, and its length
/// (s). Many have length 0.
fn lengths() -> impl Strategy<Value = Vec<(i64, usize, i64)>> {
    let length = prop_oneof![Just(0_i64), 1_i64..5_000];
    prop::collection::vec((0_i64..3, 1_usize..3, length), 1..20)
}

/// The number of a row of an answer as JSON.
fn real(answer: &serde_json::Value, name: &str) -> f64 {
    answer[name].as_f64().unwrap_or_else(|| panic!("no number `{name}`: {answer}"))
}

#[expect(clippy::cast_precision_loss, reason = "sums far below 2^53")]
fn is_near(found: f64, expected: i64, unit: f64) -> bool {
    let expected = expected as f64 / unit;
    (found - expected).abs() <= 1e-6 * expected + 1e-3
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    /// Promise: the CPU time and the memory that a table records for parts of CPUs add up to the
    /// sums of its rows. Rows without CPU time count with CPUs times run time.
    #[test]
    fn recorded_use_of_parts_of_cpus_adds_up(rows in parts()) {
        let cell = |amount: Option<i64>| amount.map_or(String::new(), |amount| amount.to_string());
        let mut table = "j,a,r,n,t,m\n".to_owned();
        for (job, &(run, cpus, time, memory)) in rows.iter().enumerate() {
            writeln!(table, "{job},100,{run},{cpus},{},{}", cell(time), cell(memory)).unwrap();
        }
        let map = "[columns]\njob = \"j\"\nstart = { column = \"a\", unit = \"s\" }\nrun = { column = \"r\", unit = \"s\" }\ncpus = { column = \"n\", unit = \"milli-cores\" }\ncpu_time = { column = \"t\", unit = \"s\" }\nused_memory = { column = \"m\", unit = \"KiB\" }\n";
        let place = with(table, map);
        place.run(&["ingest", "trace/t.csv", "--map", "map.toml", "--lake", "lake"]).ok();
        let answer = |args: &[&str]| {
            place.run(&[&["account", "--lake", "lake", "--format", "json"], args].concat()).ok().json()
        };
        let cpu = answer(&["--cpu", "measured"]);
        let milli = rows.iter().map(|row| row.2.map_or(row.0 * row.1, |time| time * 1000)).sum();
        prop_assert!(is_near(real(&cpu, "total"), milli, 1000.0), "{} {}", cpu, milli);
        let recorded = rows.iter().filter(|row| row.2.is_some()).count();
        prop_assert_eq!(&cpu["attempts_with_cpu_time"], recorded);
        let memory = answer(&["--resource", "memory", "--memory", "used"]);
        let used = rows.iter().map(|row| row.0 * row.3.unwrap_or(0)).sum();
        prop_assert!(is_near(real(&memory, "total"), used, 1.0), "{} {}", memory, used);
        let without = rows.iter().filter(|row| row.3.is_none()).count();
        prop_assert_eq!(&memory["attempts_without_request"], without);
    }

    /// Promise: each row of a job that differs from all earlier rows is an attempt with its CPU
    /// time, even if it starts at the instant at which an earlier attempt started and ended.
    #[test]
    fn attempts_that_start_together_add_up(rows in lengths()) {
        let mut table = "j,q,a,b,n\n".to_owned();
        let (mut at, mut different, mut seconds) = (1_000, BTreeSet::new(), 0);
        for (number, &(gap, copies, length)) in (0..).zip(&rows) {
            at += gap;
            let line = format!("7,{},{at},{},3\n", (at - 3).max(990 + number), at + length);
            table.push_str(&line.repeat(copies));
            if different.insert(line) {
                seconds += 3 * length;
            }
            at += length;
        }
        let place = with(table, &format!("{MAP}submit = {{ column = \"q\", unit = \"s\" }}\n"));
        place.run(&["ingest", "trace/t.csv", "--map", "map.toml", "--lake", "lake"]).ok();
        let args = ["account", "--lake", "lake", "--cpu", "requested", "--format", "json"];
        let answer = place.run(&args).ok().json();
        prop_assert!(is_near(real(&answer, "total"), seconds, 1.0), "{} {}", answer, seconds);
        prop_assert_eq!(&answer["attempts"], different.len());
    }
}

const MAP: &str = "[columns]\njob = \"j\"\nstart = { column = \"a\", unit = \"s\" }\nend = { column = \"b\", unit = \"s\" }\ncpus = \"n\"\n";

/// A place with a table and a map.
fn with(table: impl AsRef<[u8]>, map: &str) -> Place {
    let place = Place::new();
    place.raw("t.csv", table);
    fs::write(place.path("map.toml"), map).unwrap();
    place
}

#[test]
fn what_is_wrong_is_said_with_its_line_before_anything_is_written() {
    let good = "j,a,b,n\n1,5,9,2\n";
    for (table, map, args, code, said) in [
        (
            good,
            MAP.replace("\"n\"", "\"kerne\""),
            &["--map", "map.toml"][..],
            2,
            "line 5, column 8: the table has no column `kerne` (it has: j, a, b, n)",
        ),
        (
            good,
            MAP.replace("unit = \"s\" }\ncpus", "unit = \"x\" }\ncpus"),
            &["--map", "map.toml"],
            2,
            "line 4, column 30: unknown unit `x` (known: us, ms, s, min, h, d)",
        ),
        (
            good,
            format!("{MAP}state = \"n\"\n[states]\n2 = \"good\"\n"),
            &["--map", "map.toml"],
            2,
            "line 8, column 5: unknown outcome `good`",
        ),
        (
            good,
            "[columns".to_owned(),
            &["--map", "map.toml"],
            2,
            "the map `map.toml` is wrong in line 1",
        ),
        (good, MAP.to_owned(), &["--source", "mapped"], 2, "--source mapped needs --map FILE.toml"),
        (
            good,
            MAP.to_owned(),
            &["--source", "swf", "--map", "map.toml"],
            2,
            "--map is for --source mapped, not swf",
        ),
        (
            good,
            MAP.to_owned(),
            &["--map", "nowhere.toml"],
            4,
            "could not read the map `nowhere.toml`",
        ),
        (good, MAP.to_owned(), &[], 3, "`jobfate map FILE` proposes a map"),
        ("", MAP.to_owned(), &["--map", "map.toml"], 2, "the table has no column `j`"),
        (
            "j,a,b,n\n1,x,9,2\n",
            MAP.to_owned(),
            &["--map", "map.toml"],
            3,
            "line 2, column `start`: bad_value",
        ),
        (
            good,
            format!("{MAP}state = \"n\"\n[states]\n3 = \"failed\"\n"),
            &["--map", "map.toml"],
            3,
            "say in `[states]` of the map what the states in these lines mean",
        ),
    ] {
        let place = with(table, &map);
        let run = place.run(&[&["ingest", "trace/t.csv", "--lake", "lake"], args].concat());
        assert_eq!(run.code, Some(code), "{args:?} {said}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{said} is not in: {}", run.stderr);
        if code == 2 {
            assert!(!place.path("lake").exists(), "{said}");
        }
    }
}

#[test]
fn rejects_have_line_column_and_reason() {
    let place = with("j,a,b,n\n1,5,9,2\n2,x,9,2\n3,5\n4,5,9,two\n", MAP);
    place.run(&["ingest", "trace/t.csv", "--map", "map.toml", "--max-rejects", "3"]).ok();
    insta::assert_snapshot!(place.rejects("task_events", 0), @r#"
    part,line,column,reason,text
    0,3,start,bad_value,"2,x,9,2"
    0,4,,too_few_columns,"3,5"
    0,5,cpus,bad_value,"4,5,9,two"
    "#);
}

/// Promise: before anything is written, `verify --map` counts the lines that `ingest` would reject.
#[test]
fn verify_counts_what_ingest_would_reject() {
    let verify = ["verify", "trace/t.csv", "--map", "map.toml", "--format", "json"];
    let place = with("j,a,b,n\n1,5,9,2\n2,x,9,2\n3,5\n4,5,9,two\n", MAP);
    let run = place.run(&verify);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains("3 lines would be rejected (first: line 3, start"),
        "{}",
        run.stderr
    );
    for row in run.json()["rows"].as_array().unwrap() {
        // A rejected line may still name a machine.
        let expected = if row["table"] == "machine_events" { 0 } else { 3 };
        assert_eq!(row["lines_without_row"], expected, "{row}");
    }
    let good = with("j,a,b,n\n1,5,9,2\n", MAP).run(&verify).ok();
    assert_eq!(good.json()["rows"][0]["lines_without_row"], 0);
    // The same refusals as those of `ingest`.
    let other = with("j,a,b\n1,5,9\n", MAP).run(&verify);
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(other.stderr.contains("the table has no column `n`"), "{}", other.stderr);
    let swf = with("", MAP).run(&[&verify[..], &["--source", "swf"]].concat());
    assert!(swf.stderr.contains("--map is for --source mapped, not swf"), "{}", swf.stderr);
    let none = with("j\n", MAP).run(&["verify", "trace/t.csv", "--source", "mapped"]);
    assert_eq!(none.code, Some(2), "{}", none.stderr);
}

#[test]
fn a_gzip_that_is_cut_or_damaged_leaves_nothing() {
    let rows: String = (0..500)
        .fold("j,a,b,n\n".to_owned(), |text, id| format!("{text}{id},{id},9999,{}\n", id % 7 + 1));
    let whole = gzip(rows.as_bytes());
    let mut damaged = whole.clone();
    let at = damaged.len() - 6;
    damaged[at] ^= 1;
    for (bytes, said) in [
        (whole[..whole.len() / 2].to_vec(), "the gzip stream is cut short"),
        (damaged, "the gzip stream is damaged"),
        (b"not gzip".to_vec(), "is not gzip"),
    ] {
        let place = Place::new();
        place.raw("t.csv.gz", bytes);
        fs::write(place.path("map.toml"), MAP).unwrap();
        let run = place.run(&["ingest", "trace/t.csv.gz", "--map", "map.toml", "--lake", "lake"]);
        assert_eq!(run.code, Some(3), "{said}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        // The whole file again.
        place.raw("t.csv.gz", &whole);
        place.run(&["ingest", "trace/t.csv.gz", "--map", "map.toml", "--lake", "lake"]).ok();
        let json = place.run(&["classify", "--format", "json"]).ok().json();
        assert_eq!(json["total"], 500);
    }
}

/// Promise: a folder of tables is one log, in any number of steps; maps in the folder do not count
/// as tables.
#[test]
fn a_folder_of_tables_is_one_log() {
    let place = Place::new();
    place.raw("a.csv", "j,a,b,n\n1,5,9,2\n2,5,,2\n");
    place.raw("b.csv", "j,a,b,n\n2,5,99,2\n3,50,70,2\n");
    place.raw("map.toml", MAP);
    let ingest = |lake: &str, more: &[&str]| {
        let args = ["ingest", "trace", "--map", "trace/map.toml", "--lake", lake];
        place.run(&[&args[..], more].concat()).ok()
    };
    ingest("lake", &[]);
    let run = place.run(&["classify", "--sequences", "--format", "csv"]).ok();
    insta::assert_snapshot!(run.stdout_text(), @"
    sequence,outcome,count,share
    014,finished,3,1.0
    ");
    ingest("steps", &["--parts", "0"]);
    ingest("steps", &[]);
    assert_eq!(answers(&place, "steps"), answers(&place, "lake"));
    ingest("again", &[]);
    assert_same_files(&place.path("lake"), &place.path("again"));
}

/// Promise: more files may be added later to a folder with one file, or to a file that was ingested
/// alone. The lake is then that of all files.
#[test]
fn a_log_of_one_file_gets_its_second() {
    let place = Place::new();
    let [one, two] = ["j,a,b,n\n1,5,9,2\n2,5,,2\n", "j,a,b,n\n2,5,99,2\n3,50,70,2\n"];
    place.raw("a.csv", one);
    fs::write(place.path("map.toml"), MAP).unwrap();
    let ingest = |trace: &str, lake: &str| {
        place.run(&["ingest", trace, "--map", "map.toml", "--lake", lake]).ok()
    };
    ingest("trace", "folder");
    ingest("trace/a.csv", "file");
    place.raw("b.csv", two);
    ingest("trace", "both");
    for lake in ["folder", "file"] {
        ingest("trace", lake);
        assert_eq!(answers(&place, lake), answers(&place, "both"), "{lake}");
        let run = place.run(&["verify", "--lake", lake]).ok();
        assert!(!run.stderr.contains(" of 1 "), "{lake}: {}", run.stderr);
        let run = ingest("trace", lake);
        assert!(run.stderr.contains("already in the lake: 6 parts"), "{lake}: {}", run.stderr);
    }
    // A file of the same name with another size is another log.
    place.raw("a.csv", "j,a,b,n\n1,5,9,2\n");
    let run = place.run(&["ingest", "trace", "--map", "map.toml", "--lake", "folder"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
}

#[test]
fn a_map_is_proposed_shown_and_listed() {
    let table = "Nr;Benutzer;Beginn;Ende;Dauer in Minuten;Kerne;Status\n1;anna;05.03.2024 08:10;05.03.2024 09:40;90;4;fertig\n2;bert;05.03.2024 08:20;05.03.2024 08:50;30;8;seltsam\n";
    let place = Place::new();
    place.raw("jobs.csv", table);
    let run = place.run(&["map", "trace/jobs.csv"]).ok();
    insta::assert_snapshot!(run.stdout_text());
    assert!(run.stderr.contains("no row: state unknown_event_type"), "{}", run.stderr);
    let map = run
        .stdout_text()
        .replace("# \"seltsam\" = \"...\"", "\"seltsam\" = \"killed\"")
        .replace("\"UTC\"", "\"+01:00\"");
    fs::write(place.path("jobs.toml"), map).unwrap();
    let run = place.run(&["map", "trace/jobs.csv", "--map", "jobs.toml"]).ok();
    insta::assert_snapshot!(run.stdout_text(), @"
    line  job  user  submit                start                 end                   outcome   cpus  memory_kib  gpus  limit_s
    2     1    anna  2024-03-05T07:10:00Z  2024-03-05T07:10:00Z  2024-03-05T08:40:00Z  finished  4     -           -     -
    3     2    bert  2024-03-05T07:20:00Z  2024-03-05T07:20:00Z  2024-03-05T07:50:00Z  killed    8     -           -     -
    ");
    let list = place.run(&["map", "--list"]).ok();
    for name in ["helios", "acme", "philly", "pai", "pai-joined", "f-data", "pm100"] {
        assert!(list.stdout_text().contains(name), "{}", list.stdout_text());
        let map = place.run(&["map", name]).ok();
        assert!(map.stdout_text().contains("not tested on the real file"), "{name}");
    }
    let run = place.run(&["map", "nowhere.csv"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("neither a file `nowhere.csv` nor a map"), "{}", run.stderr);
}

/// Promise: each included map reads a table with the columns that the authors of the trace
/// published.
#[test]
fn ready_maps_read_rows_in_the_published_form() {
    let at = ["2020-04-01 00:00:00", "2020-04-01 00:00:10", "2020-04-01 00:01:50"];
    let [submit, start, end] = at;
    for (name, file, text) in [
        (
            "helios",
            "t.csv",
            format!(
                "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n1,u1,vc1,2,8,1,COMPLETED,{submit},{start},{end},100,10\n"
            ),
        ),
        (
            "acme",
            "t.csv",
            format!(
                "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue\n1,u1,1,2,8,Pretrain,COMPLETED,{submit}+08:00,{start}+08:00,{end}+08:00,100,10\n"
            ),
        ),
        (
            "philly",
            "cluster_job_log",
            format!(
                "[{{\"status\":\"Pass\",\"vc\":\"v\",\"jobid\":\"application_1\",\"attempts\":[{{\"start_time\":\"{start}\",\"end_time\":\"{end}\",\"detail\":[{{\"ip\":\"m1\",\"gpus\":[\"gpu0\"]}}]}}],\"submitted_time\":\"{submit}\",\"user\":\"u\"}}]\n"
            ),
        ),
        ("pai", "t.csv", "abc,i1,u,Terminated,10.0,110.0\n".to_owned()),
        (
            "pai-joined",
            "t.csv",
            "job_name,inst_id,user,status,start_time,end_time,first_start,cpu_percent,memory_gb,gpu_percent,gpu_type\nabc,i1,u,Terminated,10.0,150.0,50.0,600,29.3,50,V100\n".to_owned(),
        ),
        (
            "f-data",
            "t.jsonl",
            format!(
                "{{\"jid\":\"a\",\"usr\":\"u\",\"adt\":\"{submit}\",\"sdt\":\"{start}\",\"edt\":\"{end}\",\"exit state\":\"completed\",\"nnumr\":1,\"elpl\":3600}}\n"
            ),
        ),
        (
            "pm100",
            "t.jsonl",
            format!(
                "{{\"job_id\":1,\"job_state\":\"COMPLETED\",\"submit_time\":\"{submit}\",\"start_time\":\"{start}\",\"end_time\":\"{end}\",\"time_limit\":60,\"num_nodes_alloc\":1}}\n"
            ),
        ),
    ] {
        let place = Place::new();
        place.raw(file, text);
        place.run(&["ingest", &format!("trace/{file}"), "--map", name, "--lake", "lake"]).ok();
        let json = place.run(&["account", "--cpu", "slots", "--format", "json"]).ok().json();
        assert_eq!(
            (&json["total"], &json["rows"][0]["jobs"]),
            (&100.0.into(), &1.into()),
            "{name}"
        );
        // The `queue` of Helios and Acme is a length of time, not a queue.
        let run = place.run(&["fairness", "--by", "queue", "--cpu", "slots", "--format", "csv"]);
        assert!(!run.ok().stdout_text().contains("\n10,"), "{name}");
    }
}

/// Promise: the SQL statement in the map `pai-joined` makes the table that the map reads, from the
/// two tables in their published form. CPU and GPU time are those of the tasks.
#[test]
fn the_statement_of_a_ready_map_makes_its_table() {
    let Some(python) = super::engines::python("duckdb") else { return };
    let place = Place::new();
    place.raw("pai_job_table.csv", "a,i1,u1,Terminated,10.0,150.0\nb,i2,u2,Failed,20.0,30.0\n");
    place.raw(
        "pai_task_table.csv",
        "a,ps,2.0,Terminated,60.0,150.0,600.0,10.0,0.0,CPU\na,worker,3.0,Terminated,50.0,150.0,400.0,29.3,50.0,V100\n",
    );
    let map = place.run(&["map", "pai-joined"]).ok().stdout_text().to_owned();
    let code: String =
        map.lines().filter_map(|line| line.strip_prefix("#   ")).collect::<Vec<_>>().join("\n");
    let code = format!("import duckdb\nduckdb.sql(\"\"\"{code}\"\"\")");
    let made = Command::new(python).args(["-c", &code]).current_dir(place.path("trace")).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    place.run(&["ingest", "trace/pai.csv", "--map", "pai-joined", "--lake", "lake"]).ok();
    // Job a ran for 100 s on 2 x 6 + 3 x 4 CPUs and 3 x 0.5 GPUs; job b never began.
    let total = |cpu: &str| {
        place.run(&["account", "--cpu", cpu, "--format", "json"]).ok().json()["total"].clone()
    };
    assert_eq!((total("requested"), total("gpu-slots")), (2400.0.into(), 150.0.into()));
    let csv = fs::read_to_string(place.path("trace/pai.csv")).unwrap();
    assert!(
        csv.contains(",V100\n") && !csv.contains("CPU\n"),
        "the model of the tasks with GPUs: {csv}"
    );
    let counts = place.run(&["classify", "--format", "csv"]).ok();
    assert!(counts.stdout_text().contains("\n014,"), "{}", counts.stdout_text());
}

/// Promise: a job with a bad attempt in the first file is left out of that file, and read
/// completely from the next file of the log.
#[test]
fn a_job_left_out_of_one_file_is_read_from_the_next() {
    let place = Place::new();
    let map = "[table]\nattempts = 'tries'\nbefore_last = 'failed'\n[columns]\njob = 'id'\nuser = 'by'\nsubmit = { column = 'at', unit = 's' }\nstart = { column = 'tries[].a', unit = 's' }\nend = { column = 'tries[].b', unit = 's' }\nstate = 's'\n[states]\nok = 'finished'\n";
    fs::write(place.path("map.toml"), map).unwrap();
    let job = |last: &str| {
        format!(
            "{{\"id\":7,\"by\":\"u\",\"at\":100,\"s\":\"ok\",\"tries\":[{{\"a\":110,\"b\":120}},{{\"a\":130,\"b\":{last}}}]}}\n"
        )
    };
    place.raw("log/1.jsonl", job("\"soon\""));
    place.raw("log/2.jsonl", job("170"));
    let args = ["ingest", "trace/log", "--map", "map.toml", "--lake", "lake"];
    place.run(&[&args[..], &["--max-rejects", "100%"]].concat()).ok();
    let json = place.run(&["account", "--cpu", "slots", "--format", "json"]).ok().json();
    assert_eq!(json["total"], 50.0);
}

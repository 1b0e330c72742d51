//! The queries and the studies on a real Spark cluster: a master and two workers, each a separate
//! process.
//!
//! Needs Java and Spark: `SPARK_HOME`, or the Spark of the `PySpark` of `JOBFATE_PYTHON`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type};
use jobfate::facts::query::QUERIES;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::engines::python;
use super::studies::{STUDIES, assert_studies};
use super::support::{Place, repository, skipped};

/// A cluster that is stopped when it is no longer needed.
struct Cluster {
    folder: PathBuf,
    home: String,
    master: String,
}

impl Cluster {
    /// Starts a cluster, or prints why it cannot.
    fn start(folder: &Path) -> Option<Self> {
        let home = if let Ok(home) = std::env::var("SPARK_HOME") {
            home
        } else {
            let python = python("pyspark")?;
            let print = "import os, pyspark; print(os.path.dirname(pyspark.__file__))";
            let output = Command::new(python).args(["-c", print]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        if Command::new("java").arg("-version").output().is_err() {
            skipped("there is no Java for Spark");
            return None;
        }
        let mut cluster =
            Self { folder: folder.to_owned(), home: home.clone(), master: String::new() };
        let output = cluster.script("start").stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "the cluster does not start");
        cluster.master = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        Some(cluster)
    }

    fn script(&self, what: &str) -> Command {
        let mut command = Command::new(repository().join("tests/spark/cluster.sh"));
        command.arg(what).arg(&self.folder).env("SPARK_HOME", &self.home);
        command
    }

    fn args(&self) -> [&str; 12] {
        [
            "--engine",
            "spark",
            "--master",
            &self.master,
            "--spark-home",
            &self.home,
            // Small tables: a Spark task per bucket instead of two hundred.
            "--spark-conf",
            "spark.sql.shuffle.partitions=4",
            // Each command starts three processes of Java that end before they would be optimised.
            "--spark-conf",
            "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "--spark-conf",
            "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        ]
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.script("stop").status();
    }
}

fn table(path: &Path) -> RecordBatch {
    let file = std::fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let schema = batches[0].schema();
    arrow::compute::concat_batches(&schema, &batches).unwrap()
}

/// Whole numbers, names and missing values are equal, quantities to 1e-9 of their size.
#[track_caller]
fn assert_same_table(one: &RecordBatch, other: &RecordBatch, what: &str) {
    assert_eq!(one.num_rows(), other.num_rows(), "{what}");
    let names = |batch: &RecordBatch| -> Vec<String> {
        batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    };
    assert_eq!(names(one), names(other), "{what}");
    for ((name, ours), theirs) in names(one).iter().zip(one.columns()).zip(other.columns()) {
        if *ours.data_type() == DataType::Float64 {
            let (ours, theirs) =
                (ours.as_primitive::<Float64Type>(), theirs.as_primitive::<Float64Type>());
            for (row, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                let is_near = match (ours, theirs) {
                    (Some(one), Some(other)) => {
                        (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
                    }
                    (one, other) => one == other,
                };
                assert!(is_near, "{what}.{name}, row {row}: {ours:?} {theirs:?}");
            }
        } else {
            assert_eq!(ours, theirs, "{what}.{name}");
        }
    }
}

fn golden_and_synthetic() -> [Place; 2] {
    let golden = Place::new().with_golden_trace();
    golden.ingest(&["--buckets", "3"]).ok();
    let synthetic = Place::new();
    let args = ["synth", "trace", "--source", "google-2019", "--jobs", "150", "--days", "0.4"];
    synthetic.run(&[&args[..], &["--parts", "2", "--seed", "5"]].concat()).ok();
    synthetic.ingest(&["--buckets", "4"]).ok();
    [golden, synthetic]
}

/// The answer without the fields about its computation.
fn answer_of(place: &Place, args: &[&str]) -> serde_json::Value {
    let mut answer = place.run(args).ok().json();
    answer["command"] = serde_json::Value::Null;
    answer
}

/// The program folds kill rules, detectors and usage over time on the workers, with the same digits
/// as in one process: for kill rules that `analyze` does not ask for, and for an analysis.
fn what_no_query_answers(place: &Place, cluster: &Cluster) {
    let sweep = "sweep --rules failures,k8s,history:by=age --bootstrap 20 --format json";
    let args: Vec<&str> = sweep.split(' ').collect();
    let ours = answer_of(place, &args);
    assert_eq!(ours, answer_of(place, &[&args[..], &cluster.args()].concat()), "{sweep}");
    let steps = ["analyze", "--lake", "lake", "--again", "--out"];
    place.run(&[&steps[..], &["here"]].concat()).ok();
    let run = place.run(&[&steps[..], &["there"], &cluster.args()].concat()).ok();
    let on = format!("on the workers of {}: account, sweep, detect, fairness", cluster.master);
    assert!(run.stderr.contains(&on), "{}", run.stderr);
    for name in ["account", "sweep", "detect", "fairness/result"] {
        let [ours, theirs] = ["here", "there"].map(|out| {
            let file = place.path(out).join(format!("{name}.json"));
            let text = std::fs::read_to_string(&file).unwrap();
            let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
            for key in ["command", "files", "checksum", "analysis", "analysis_sha256"] {
                json[key] = serde_json::Value::Null;
            }
            json
        });
        assert_eq!(ours, theirs, "{name} of an analysis");
    }
}

/// Kills a worker as soon as a command has begun to write facts into the lake.
fn kill_a_worker_at_work(cluster: &Cluster, lake: &Path) {
    let is_facts = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().to_string_lossy().starts_with(".facts")
    };
    let is_at_work = (0..60_000).any(|_| {
        std::thread::sleep(Duration::from_millis(2));
        std::fs::read_dir(lake).unwrap().any(is_facts)
    });
    assert!(is_at_work, "no facts were written");
    assert!(cluster.script("kill-worker").status().unwrap().success());
}

#[test]
#[cfg_attr(any(debug_assertions, not(feature = "sql")), ignore = "needs sql and optimisation")]
fn a_cluster_answers_as_polars_does() {
    let folder = tempfile::tempdir().unwrap();
    let Some(cluster) = Cluster::start(folder.path()) else { return };
    let places = golden_and_synthetic();
    // The facts of further traces are compared in three engines by `engines_agree.py`.
    let place = &places[0];
    let all = ["query", "all", "--thresholds", "1,2,10,50", "--out"];
    place.run(&[&all[..], &["polars"]].concat()).ok();
    place.run(&[&all[..], &["spark"], &cluster.args()[..]].concat()).ok();
    for query in QUERIES.iter().filter(|query| query.sources().contains(&place.lake().source())) {
        let name = format!("{}.parquet", query.name);
        let read = |engine: &str| table(&place.path(engine).join(&name));
        assert_same_table(&read("polars"), &read("spark"), query.name);
    }
    let left = std::fs::read_dir(place.path("lake")).unwrap();
    let left: Vec<String> = left
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".facts"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    // One study of each command. The others only process the same facts differently; `classify` is
    // asked below.
    let studies = STUDIES.iter().filter(|study| {
        let words = study.join(" ");
        ["sweep --cpu measured", "describe --what waiting --group-by", "account --cpu measured"]
            .iter()
            .any(|chosen| words.starts_with(chosen))
    });
    let studies: Vec<&[&str]> = studies.copied().collect();
    assert_eq!(studies.len(), 3);
    assert_studies(place, &studies, &cluster.args());
    what_no_query_answers(&places[1], &cluster);
    // If a worker is killed while it computes facts, or is missing, only time is lost.
    let classify =
        |more: &[&str]| place.run(&[&["classify", "--format", "csv"], more].concat()).ok().stdout;
    let ours = classify(&[]);
    let theirs = std::thread::scope(|scope| {
        let killer = scope.spawn(|| kill_a_worker_at_work(&cluster, &place.path("lake")));
        let theirs = classify(&cluster.args());
        killer.join().unwrap();
        theirs
    });
    assert_eq!(ours, theirs, "a worker was killed");
    assert_eq!(ours, classify(&cluster.args()), "one worker is left");
    let detect = ["detect", "--min-tasks", "2", "--format", "json"];
    let there = answer_of(place, &[&detect[..], &cluster.args()].concat());
    assert_eq!(answer_of(place, &detect), there, "one worker is left");
    cluster.script("stop").status().unwrap();
    let gone = place.run(&[&["classify"], &cluster.args()[..]].concat());
    assert_eq!(gone.code, Some(4));
    assert!(gone.stderr.contains("no Spark master answers at `spark://"), "{}", gone.stderr);
}

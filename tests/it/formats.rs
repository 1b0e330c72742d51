//! Answers for programs: the same names, types and values in CSV, JSON and Parquet, with their
//! origin. Answers for people: tables that fit the terminal.

use std::process::Command;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use arrow::record_batch::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value, json};

use super::support::{Place, skipped};

/// Every command that prints a table, and every shape of its table.
const QUESTIONS: &[&str] = &[
    "verify",
    "classify",
    "classify --by task --classes terminal --sequences",
    "describe",
    "describe --what waiting --group-by priority",
    "describe --what tasks-per-job --group-by user",
    "describe --what job-survival --group-by class",
    "describe --what finish-given-events --group-by priority",
    "account",
    "account --cpu slots --group-by class,priority,user",
    "sweep --thresholds 2,5,10",
    "sweep --cpu slots --rules events,failures,dead-time,restarts --bootstrap 20",
    "sweep --cpu slots --thresholds 2,5 --harmed 2",
    "detect --detectors late poisson",
    "fairness --cpu requested",
    "fairness --cpu slots --what-if",
    "fairness --show users --index condor:half_life_s=3600 --index jain",
    "fairness --show series --index slurm --index gini",
    "fairness --show clusters",
    "fairness --show machines --by machine",
    "fairness --show suggestions",
    "replay --policies fifo easy",
    "replay --policies fifo priority --seeds 2 --sample 0.5",
    "query q02",
];

fn place() -> Place {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "120", "--days", "0.5", "--dirty"]).ok();
    place.ingest(&["--max-rejects", "50%"]).ok();
    place
}

fn ask(place: &Place, question: &str, more: &[&str]) -> super::support::Run {
    let words: Vec<&str> = question.split(' ').collect();
    place.run(&[&words[..], more].concat())
}

/// The batches of a Parquet file, and the key-value pairs of its metadata.
fn parquet(bytes: Vec<u8>) -> (Vec<RecordBatch>, Map<String, Value>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let pairs = pairs.iter().map(|pair| (pair.key.clone(), json!(pair.value)));
    let pairs = pairs.collect();
    (reader.build().unwrap().map(|batch| batch.unwrap()).collect(), pairs)
}

fn cell(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
        DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => json!(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => json!(column.as_boolean().value(row)),
        other => panic!("an answer holds {other}"),
    }
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn csv_json_and_parquet_say_the_same() {
    let place = place();
    for &question in QUESTIONS {
        let csv = ask(&place, question, &["--format", "csv"]);
        let json = ask(&place, question, &["--format", "json"]).json();
        let (batches, pairs) = parquet(ask(&place, question, &["--format", "parquet"]).stdout);
        let mut reader = csv::Reader::from_reader(&csv.stdout[..]);
        let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let rows = json["table"].as_array().unwrap();
        let mut lines = reader.records().map(|line| line.unwrap());
        let mut count = 0;
        for batch in &batches {
            let schema = batch.schema();
            let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
            assert_eq!(names, header.iter().collect::<Vec<&String>>(), "{question}");
            for row in 0..batch.num_rows() {
                let line = lines.next().unwrap();
                let own = rows[count].as_object().unwrap();
                assert_eq!(own.keys().collect::<Vec<&String>>(), names, "{question}");
                for (column, name) in batch.columns().iter().zip(&names) {
                    let value = cell(column, row);
                    assert!(is_same(&own[*name], &value), "{question}: {name}: {value}");
                    let text = match &value {
                        Value::Null => String::new(),
                        Value::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    let place = header.iter().position(|one| one == *name).unwrap();
                    let told = line[place].trim_start_matches('\'');
                    let number =
                        || told.parse::<f64>().is_ok_and(|told| is_same(&json!(told), &value));
                    assert!(told == text || number(), "{question}: {name}: {told} {text}");
                    check_cell(question, name, &value);
                }
                count += 1;
            }
        }
        assert_eq!(rows.len(), count, "{question}");
        check_columns(question, &header, &pairs);
        for key in ["program", "command", "source", "inputs", "settings"] {
            assert!(!json[key].is_null(), "{question}: {key}");
            let told = pairs[&format!("jobfate.{key}")].as_str().unwrap();
            let told: Value = serde_json::from_str(told).unwrap_or_else(|_| json!(told));
            // The format is part of the command line.
            assert!(key == "command" || told == json[key], "{question}: {key} {told}");
        }
        assert_eq!(json["inputs"].as_array().unwrap().len(), place.lake().manifest.tables.len());
    }
}

/// Commands with `--out`. Their additional tables have units as well.
const KEPT: &[&str] = &[
    "classify",
    "describe",
    "describe --what job-survival",
    "describe --what tasks-per-job",
    "account --cpu slots",
    "sweep --cpu slots --rules events,failures,dead-time --bootstrap 20 --train-until 0.25",
    "sweep --cpu slots --thresholds 2,5 --harmed 2",
    "detect --detectors late poisson",
    "fairness --cpu requested",
    "replay --policies fifo fifo+wqr:copies=2",
    "replay --policies fifo easy --seeds 2 --sample 0.5",
];

/// The CSV column with the unit of a column, if the name of the column has no unit.
fn column_of_unit(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix("_low").or_else(|| name.strip_suffix("_high")).unwrap_or(name);
    let plain = ["train_", "test_", "hindsight_"].iter().find_map(|begin| name.strip_prefix(begin));
    match plain.unwrap_or(name) {
        "variance" => Some("variance_unit"),
        "threshold" if name == "hindsight_threshold" => Some("hindsight_threshold_unit"),
        "threshold" => Some("threshold_unit"),
        "chosen_threshold" => Some("chosen_threshold_unit"),
        "mean" | "median" | "p25" | "p75" | "p90" | "p99" | "value" | "gain" => Some("unit"),
        // The CPU of one machine is a share of the largest machine, or a number of processors.
        "cpu" => None,
        plain if plain.ends_with("_cpu") || plain.ends_with("cpu_s") => Some("unit"),
        _ => None,
    }
}

/// The CSV files of a folder, with their names.
fn csv_files(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tables = files.filter(|path| path.extension().is_some_and(|end| end == "csv"));
    tables
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect()
}

#[test]
fn every_csv_says_its_units_and_json_has_its_bounds() {
    let place = place();
    let mut seen = std::collections::BTreeSet::new();
    for (number, question) in KEPT.iter().enumerate() {
        let out = format!("out{number}");
        let answer = ask(&place, question, &["--format", "json", "--out", &out]).ok().json();
        for (file, text) in csv_files(&place.path(&out)) {
            let mut reader = csv::Reader::from_reader(&text[..]);
            let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
            let at = |name: &str| header.iter().position(|one| one == name);
            let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            for (column, name) in header.iter().enumerate() {
                // The values of an index have the unit of that index.
                let Some(unit) = column_of_unit(name).filter(|_| file != "series.csv") else {
                    continue;
                };
                let place = at(unit)
                    .unwrap_or_else(|| panic!("{question}: {file}: `{name}` lacks `{unit}`"));
                for row in rows.iter().filter(|row| !row[column].is_empty()) {
                    assert!(!row[place].is_empty(), "{question}: {file}: {name} {row:?}");
                    if name == "variance" {
                        let square = format!("{}^2", &row[at("unit").unwrap()]);
                        assert_eq!(row[place], square, "{question}: {file}");
                    }
                }
                seen.insert(unit);
            }
            let is_of_answer = file == "sweep.csv" || file == "replay.csv";
            for name in header.iter().filter(|name| is_of_answer && name.ends_with("_low")) {
                let high = name.replace("_low", "_high");
                assert!(at(&high).is_some(), "{question}: {file}: {high}");
                for bound in [name, &high] {
                    let key = bound.strip_prefix("response_s_").unwrap_or(bound);
                    let key = key.strip_prefix("difference_s_").map_or(key, |_| "mean_low");
                    let json = json!({"rows": answer["rows"], "policies": answer["policies"]});
                    assert!(has_key(&json, key), "{question}: {file}: {bound}");
                }
            }
        }
        let pairs = json!({"rows": answer["rows"], "rules": answer["rules"]});
        assert!(!has_bare_pair(&pairs), "{question}: bounds have names");
    }
    let units = ["chosen_threshold_unit", "hindsight_threshold_unit", "threshold_unit", "unit"];
    assert!(units.iter().chain(&["variance_unit"]).all(|unit| seen.contains(unit)), "{seen:?}");
}

/// Whether a value contains this key at any depth, with a number or null.
fn has_key(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(object) => object
            .iter()
            .any(|(name, inner)| (name == key && !inner.is_array()) || has_key(inner, key)),
        Value::Array(array) => array.iter().any(|inner| has_key(inner, key)),
        _ => false,
    }
}

/// Whether a value contains two numbers without different names.
fn has_bare_pair(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.values().any(has_bare_pair),
        Value::Array(array) => {
            (array.len() == 2 && array.iter().all(Value::is_f64)) || array.iter().any(has_bare_pair)
        }
        _ => false,
    }
}

/// Whether two cells have the same type and value; numbers may differ in the last digit, as readers
/// of JSON do.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(first), Value::Number(second)) if first.is_f64() && second.is_f64() => {
            let (first, second) = (first.as_f64().unwrap(), second.as_f64().unwrap());
            (first - second).abs() <= 1e-15 * first.abs()
        }
        _ => one == other,
    }
}

/// Unknown values are null, and yes or no is a boolean.
fn check_cell(question: &str, name: &str, value: &Value) {
    // Usage of users without a name in the trace has the user `-`.
    let is_tidy = name == "user" || !matches!(value.as_str(), Some("-" | "yes" | "no"));
    assert!(is_tidy, "{question}: {name} is {value}");
}

/// Every column has a tidy name and a meaning, and a unit if its name ends in one.
fn check_columns(question: &str, header: &[String], pairs: &Map<String, Value>) {
    let columns: Vec<Value> =
        serde_json::from_str(pairs["jobfate.columns"].as_str().unwrap()).unwrap();
    assert_eq!(columns.len(), header.len(), "{question}");
    for (column, name) in columns.iter().zip(header) {
        assert_eq!(column["name"], json!(name), "{question}");
        let is_snake =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        assert!(name.chars().all(is_snake), "{question}: `{name}`");
        assert!(column["meaning"].is_string(), "{question}: `{name}` has no meaning");
        for (end, unit) in [("_us", "us"), ("_s", "s"), ("net_cpu", "s")] {
            let told = column["unit"].as_str().unwrap_or_default();
            let is_right = !name.ends_with(end) || told.ends_with(unit);
            assert!(is_right, "{question}: `{name}` is in `{told}`");
        }
    }
}

#[test]
fn tables_fit_a_width() {
    let place = place();
    for &question in QUESTIONS {
        for width in [60, 80, 120] {
            let run = ask(&place, question, &["--width", &width.to_string()]);
            for line in run.stdout_text().lines() {
                assert!(line.chars().count() <= width, "{question}, {width}: {line}");
            }
        }
        // In a pipe no column is left out.
        let whole = ask(&place, question, &[]);
        let csv = ask(&place, question, &["--format", "csv"]);
        let lines = |text: &str| text.split("\n\n").next().unwrap().lines().count();
        assert_eq!(lines(whole.stdout_text()), csv.stdout_text().lines().count(), "{question}");
    }
}

#[test]
fn columns_and_rows_can_be_chosen() {
    let place = place();
    let chosen = |more: &[&str]| {
        let args = ["classify", "--format", "csv", "--columns", "outcome,count"];
        place.run(&[&args, more].concat()).ok().stdout_text().to_owned()
    };
    let all = chosen(&[]);
    assert!(all.starts_with("outcome,count\n"), "{all}");
    let count = |line: &str| line.split(',').nth(1).unwrap().parse::<u64>().unwrap();
    let mut expected: Vec<u64> = all.lines().skip(1).map(count).collect();
    expected.sort_unstable();
    let sorted = chosen(&["--sort", "count"]);
    assert_eq!(sorted.lines().skip(1).map(count).collect::<Vec<u64>>(), expected);
    expected.reverse();
    let top = chosen(&["--sort", "count:desc", "--top", "2"]);
    assert_eq!(top.lines().skip(1).map(count).collect::<Vec<u64>>(), expected[..2]);
    for (args, word) in [
        (&["classify", "--columns", "cuont"][..], "there is no column `cuont`"),
        (&["classify", "--sort", "count:up"], "`up` is not a direction"),
        (&["classify", "--top", "2", "--format", "json"], "JSON is always complete"),
    ] {
        let run = place.run(args);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(word), "{}", run.stderr);
    }
}

#[test]
fn quiet_is_quiet() {
    let place = place();
    for args in [&["account", "--quiet"][..], &["-q", "describe", "--what", "waiting"]] {
        let run = place.run(args).ok();
        assert!(run.stderr.lines().all(|line| line.starts_with("warning: ")), "{}", run.stderr);
    }
    assert!(place.run(&["account", "--lake", "nothing", "-q"]).stderr.contains("error: "));
}

/// The bytes that a command read, by table, as it reports with `-v`.
fn bytes_read(place: &Place, args: &[&str]) -> Vec<(String, u64)> {
    let run = place.run(args);
    let said = run.stderr.lines().filter_map(|line| line.strip_prefix("read of "));
    said.map(|line| {
        let (table, bytes) = line.split_once(": ").unwrap();
        let digits: String = bytes.chars().filter(char::is_ascii_digit).collect();
        (table.to_owned(), digits.parse().unwrap())
    })
    .collect()
}

#[test]
fn bytes_read_are_shown_by_table() {
    let place = place();
    let manifest = std::fs::read_to_string(place.path("lake/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    // The bytes of the rows of a table.
    let size = |table: &str| {
        let files = manifest["tables"][table]["files"].as_array().unwrap();
        let words = files.iter().flat_map(|file| file["stretches"].as_str().unwrap().split(' '));
        let bytes: Vec<u64> =
            words.map(|word| word.split(':').nth(2).unwrap().parse().unwrap()).collect();
        bytes.iter().sum::<u64>()
    };
    // Every byte is hashed. Row counts and footers are read again, and jobs are read once more for
    // the ends of their tasks.
    let verified = bytes_read(&place, &["verify", "--lake", "lake", "-v"]);
    assert_eq!(verified.len(), manifest["tables"].as_object().unwrap().len());
    for (table, bytes) in verified {
        assert!((size(&table)..4 * size(&table)).contains(&bytes), "{table}: {bytes}");
    }
    // A command reads only its table, and not every column of it.
    let classified = bytes_read(&place, &["classify", "--verbose"]);
    let [(table, bytes)] = classified.as_slice() else { panic!("{classified:?}") };
    assert_eq!(table, "job_events");
    assert!((1..2 * size(table)).contains(bytes), "{bytes}");
    assert_eq!(bytes_read(&place, &["classify"]), []);
    assert_eq!(place.run(&["classify", "-q", "-v"]).code, Some(2));
}

#[test]
fn an_analysis_reads_usage_once_for_the_studies_that_ask_for_it() {
    let place = place();
    let analyze = |name: &str, steps: &str| {
        let file = format!("{name}.toml");
        std::fs::write(place.path(&file), format!("steps = [{steps}]\n")).unwrap();
        ["analyze", "--config", &file, "--lake", "lake", "--out", name, "-v"].map(str::to_owned)
    };
    let usage = |args: &[String]| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let read = bytes_read(&place, &args);
        read.iter().find(|(table, _)| table == "task_usage").map(|(_, bytes)| *bytes)
    };
    let alone = usage(&["account", "--cpu", "measured", "-v"].map(str::to_owned)).unwrap();
    assert_eq!(usage(&analyze("two", "\"account\", \"fairness\"")), Some(alone));
    // The jobs that have a page are known after the sweep: their buckets are read once more.
    let three = usage(&analyze("three", "\"account\", \"sweep\", \"fairness\"")).unwrap();
    assert!(alone < three && three <= 2 * alone, "{alone} {three}");
    // `load` also reads the used memory, and no further CPU columns.
    let load = usage(&["load", "-v"].map(str::to_owned));
    assert_eq!(usage(&analyze("four", "\"load\", \"account\", \"fairness\"")), load);
}

/// Runs the program with a terminal of 80 characters as stdout.
fn on_terminal(place: &Place, args: &str) -> Option<(i32, String)> {
    let program = env!("CARGO_BIN_EXE_jobfate");
    let line = format!("stty cols 80; {program} {args}; echo \"code $?\"");
    let run = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(place.path("."))
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&run.stdout).replace('\r', "");
    let code = text.lines().last()?.strip_prefix("code ")?.parse().ok()?;
    Some((code, text))
}

#[test]
fn a_terminal_gets_tables_and_no_parquet() {
    let place = place();
    let Some((code, text)) = on_terminal(&place, "classify --format parquet") else {
        return skipped("no `script`, which gives a terminal");
    };
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("--format parquet does not print to a terminal"), "{text}");
    let args = "replay --policies fifo priority fair --quiet";
    let (code, text) = on_terminal(&place, args).unwrap();
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("policy") && text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let (_, text) = on_terminal(&place, "replay --policies fifo fair").unwrap();
    assert!(text.contains("further columns (--columns all): "), "{text}");
}

/// Charts for a paper: the requested width, text as text, and title and caption in a separate file.
#[test]
fn charts_are_as_wide_as_asked_and_their_text_is_text() {
    let place = place();
    let asked = ["account", "--cpu", "slots", "--out", "paper", "--no-title"];
    let width = ["--chart-width", "8.4cm", "--chart-format", "svg,pdf,png"];
    // The width option alone has this effect, because a paper has its own captions.
    place.run(&[&asked[..5], &width].concat()).ok();
    let beside = std::fs::read_to_string(place.path("paper/account-slots.txt")).unwrap();
    let (title, caption) = beside.split_once("\n\n").unwrap();
    assert!(title.starts_with("CPU") && 40 < caption.len(), "{beside}");
    let read =
        |ending: &str| std::fs::read(place.path(&format!("paper/account-slots.{ending}"))).unwrap();
    let svg = String::from_utf8(read("svg")).unwrap();
    // 8.4 cm are 317.48 pixels of 1/96 in, and 1,270 dots at 384 to the inch.
    assert!(svg.contains(" width=\"317.48\""), "{}", svg.lines().next().unwrap());
    assert!(!svg.contains("class=\"head\"") && svg.contains(">finished</text>"));
    let png = read("png");
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 1270);
    // 384 dots per inch, in dots per metre.
    let dots = png.windows(4).position(|kind| kind == b"pHYs").expect("a resolution") + 4;
    assert_eq!(u32::from_be_bytes(png[dots..dots + 4].try_into().unwrap()), 15_118);
    let pdf = read("pdf");
    let pdf = String::from_utf8_lossy(&pdf);
    assert!(pdf.starts_with("%PDF-") && pdf.contains("/MediaBox [0 0 238.11"), "317.48 * 3 / 4");
    assert!(pdf.contains("/ToUnicode") && pdf.contains("/FontFile2"), "letters can be searched");
    // A report shows the available files: a PNG if there is no SVG, and a link to a PDF.
    place.run(&[&asked[..], &["--chart-format", "png,pdf"]].concat()).ok();
    place.run(&["report", "paper"]).ok();
    let page = std::fs::read_to_string(place.path("paper/report/outcomes.html")).unwrap();
    assert!(page.contains("<img src=\"charts/account-slots.png\""));
    assert!(page.contains("charts/account-slots.pdf") && !page.contains("account-slots.svg"));
    for wrong in ["3", "0.1in", "nanin", "-3in", "1e9cm", "in"] {
        let run = place.run(&["account", "--out", "paper", &format!("--chart-width={wrong}")]);
        assert_eq!(run.code, Some(2), "{wrong}");
        assert!(run.stderr.contains("--chart-width"), "{}", run.stderr);
    }
}

//! Lakes that were changed and then got new checksums, so that every checksum is right. Each column
//! of each table is dropped, of another type, empty, or full of values that no ingest stores. Every
//! command answers, or exits with 3 and names the file and the column; no command panics. `verify`
//! also finds changes within types and ranges, such as duplicate rows or rows in another bucket.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use arrow::array::{
    ArrayRef, BooleanArray, Float32Array, Int32Array, Int64Array, ListArray, StringArray,
    new_null_array,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Float32Type, Schema};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use jobfate::lake::segment::{Joiner, Stretch, Stretches};
use jobfate::lake::{FileEntry, Lake};
use jobfate::schema::{ROW_ID, Source, Table};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::support::{Place, copy_folder, golden};

/// Commands that read a lake.
const COMMANDS: [&[&str]; 16] = [
    &["verify"],
    &["classify", "--by", "job"],
    &["classify", "--by", "task"],
    &["describe", "--what", "job-durations"],
    &["describe", "--what", "waiting"],
    &["describe", "--what", "attempts", "--group-by", "priority"],
    &["account", "--cpu", "slots"],
    &["account", "--cpu", "requested"],
    &["account", "--cpu", "measured"],
    &["sweep", "--cpu", "slots"],
    &["detect", "--min-tasks", "2"],
    &["replay", "--policies", "fifo,easy"],
    &["fairness"],
    &["fairness", "--index", "fair-tree", "--index", "metered"],
    &["query", "q07"],
    &["query", "q10"],
];

/// The change of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Dropped,
    OfAnotherType,
    Null,
    OutOfRange,
}

const CHANGES: [Change; 4] =
    [Change::Dropped, Change::OfAnotherType, Change::Null, Change::OutOfRange];

/// The lakes whose tables are mutated: of the Google trace, of SWF and of Rumen.
pub(crate) const SOURCES: [&str; 3] = ["trace", "small.swf", "small-trace.json"];

/// A lake of the golden trace or of a small log.
fn lake_of(name: &str) -> Place {
    let place = Place::new();
    if name == "trace" {
        let place = place.with_golden_trace();
        place.ingest(&["--buckets", "2"]).ok();
        return place;
    }
    place.raw(name, fs::read(golden("logs").join(name)).unwrap());
    let log = format!("trace/{name}");
    let args = ["ingest", &log, "--lake", "lake", "--max-rejects", "100%", "--buckets", "2"];
    place.run(&args).ok();
    place
}

/// Writes the manifest of a lake with the present sizes and checksums of its files.
fn seal(lake: &Path, edit: impl FnOnce(&mut Value)) {
    let path = lake.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for table in manifest["tables"].as_object_mut().unwrap().values_mut() {
        for file in table["files"].as_array_mut().unwrap() {
            let bytes = fs::read(lake.join(file["path"].as_str().unwrap())).unwrap();
            file["bytes"] = bytes.len().into();
            file["crc32"] = crc32fast::hash(&bytes).into();
        }
    }
    edit(&mut manifest);
    manifest.as_object_mut().unwrap().shift_remove("checksum");
    let body = serde_json::to_string_pretty(&manifest).unwrap();
    let sum = Sha256::digest(&body).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    });
    manifest["checksum"] = sum.into();
    fs::write(path, format!("{}\n", serde_json::to_string_pretty(&manifest).unwrap())).unwrap();
}

/// The rows of each bucket of a file, by bucket.
type Pieces = Vec<(u32, RecordBatch)>;

fn read(lake: &Lake, file: &FileEntry) -> Pieces {
    let bytes = Bytes::from(fs::read(lake.path.join(&file.path)).unwrap());
    let mut start = 4;
    let mut pieces = Vec::new();
    for stretch in &file.stretches.0 {
        let end = start + usize::try_from(stretch.bytes).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes.slice(start..end)).unwrap();
        let schema = Arc::clone(reader.schema());
        let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
        pieces.push((stretch.bucket, concat_batches(&schema, &batches).unwrap()));
        start = end;
    }
    pieces
}

/// Writes a file of the lake with other rows.
fn file_of(pieces: &Pieces) -> (Vec<u8>, Stretches) {
    let mut joiner = Joiner::new(Vec::new()).unwrap();
    for (bucket, batch) in pieces {
        let mut stream = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut stream, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        let about = writer.close().unwrap();
        joiner.add(*bucket, &stream, &about, crc32fast::hash(&stream)).unwrap();
    }
    joiner.finish().unwrap()
}

/// Writes a file of a lake again, with its entry in the manifest; the manifest does not get a new
/// checksum.
fn write(lake: &Path, path: &str, pieces: &Pieces) {
    let (bytes, stretches) = file_of(pieces);
    fs::write(lake.join(path), bytes).unwrap();
    let manifest_path = lake.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&manifest_path).unwrap()).unwrap();
    for table in manifest["tables"].as_object_mut().unwrap().values_mut() {
        for file in table["files"].as_array_mut().unwrap() {
            if file["path"] == path {
                file["stretches"] = String::from(stretches.clone()).into();
            }
        }
    }
    fs::write(manifest_path, serde_json::to_string_pretty(&manifest).unwrap()).unwrap();
}

/// Values that an ingest never or almost never stores.
fn out_of_range(data_type: &DataType, count: usize) -> ArrayRef {
    fn cycle<T: Copy>(values: &[T], count: usize) -> Vec<T> {
        values.iter().copied().cycle().take(count).collect()
    }
    match data_type {
        DataType::Int64 => {
            Arc::new(Int64Array::from(cycle(&[i64::MAX, i64::MIN, -1, i64::MAX - 1], count)))
        }
        DataType::Int32 => Arc::new(Int32Array::from(cycle(&[77, i32::MIN, -1, i32::MAX], count))),
        DataType::Float32 => {
            let values = [f32::NAN, f32::INFINITY, -1.0, f32::MAX, -0.0];
            Arc::new(Float32Array::from(cycle(&values, count)))
        }
        DataType::Boolean => Arc::new(BooleanArray::from(cycle(&[true, false], count))),
        DataType::Utf8 => {
            let long = "x".repeat(100_000);
            let values = ["", long.as_str(), "\0", "</script>", "=1+1", "-"];
            Arc::new(StringArray::from(cycle(&values, count)))
        }
        DataType::List(_) => {
            let lists = (0..count).map(|_| Some(vec![Some(f32::NAN), None, Some(-1.0)]));
            Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists))
        }
        other => panic!("a lake holds no {other}"),
    }
}

/// The batch with a column changed.
fn changed(batch: &RecordBatch, column: &str, change: Change) -> RecordBatch {
    let schema = batch.schema();
    let mut fields: Vec<Field> = schema.fields().iter().map(|field| (**field).clone()).collect();
    let mut columns = batch.columns().to_vec();
    let at = schema.index_of(column).unwrap();
    let rows = batch.num_rows();
    let new: ArrayRef = match (change, fields[at].data_type()) {
        (Change::Dropped, _) => {
            fields.remove(at);
            columns.remove(at);
            return RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        }
        (Change::OfAnotherType, DataType::Utf8) => Arc::new(Int64Array::from(vec![7; rows])),
        (Change::OfAnotherType, _) => Arc::new(StringArray::from(vec!["7"; rows])),
        (Change::Null, data_type) => new_null_array(data_type, rows),
        (Change::OutOfRange, data_type) => out_of_range(data_type, rows),
    };
    fields[at] = Field::new(column, new.data_type().clone(), true);
    columns[at] = new;
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// Changes a column in every file of a table, runs `verify` and a quarter of the other commands
/// (another quarter for each change), and returns how many refused. The message of a refusal names
/// a file of the table and the column.
fn ask(original: &Path, table: Table, column: &str, change: Change) -> usize {
    let place = Place::new();
    copy_folder(original, &place.path("lake"));
    let lake = place.lake();
    for file in lake.files(table) {
        let mut pieces = read(&lake, file);
        for (_, batch) in &mut pieces {
            *batch = changed(batch, column, change);
        }
        write(&lake.path, &file.path, &pieces);
    }
    seal(&place.path("lake"), |_| ());
    let mut refused = 0;
    let quarter = CHANGES.iter().position(|known| *known == change).unwrap();
    let [verify, others @ ..] = COMMANDS;
    let asked = others.into_iter().skip(quarter).step_by(CHANGES.len());
    for command in std::iter::once(verify).chain(asked) {
        let run = place.run(command);
        let what = format!("{change:?} {table}.{column}, {command:?}");
        match run.code {
            Some(3) if run.stderr.contains(&format!("column `{column}`")) => {
                assert!(run.stderr.contains(&format!("lake/{table}/")), "{what}: {}", run.stderr);
                refused += 1;
            }
            // The command does not read the column, the values are unusual but valid, or the study
            // does not use them.
            Some(0..=3) => {}
            code => panic!("{what} ended with {code:?}: {}", run.stderr),
        }
        if command == ["verify"] && change != Change::OutOfRange {
            let is_optional = table
                .columns(place.lake().source())
                .iter()
                .any(|known| known.name == column && !known.is_mandatory);
            let is_allowed = change == Change::Null && is_optional;
            assert_eq!(run.code == Some(3), !is_allowed, "{what}: {}", run.stderr);
        }
    }
    refused
}

/// Every column of every table of a source.
fn mutate(name: &str) {
    let place = lake_of(name);
    let lake = place.lake();
    let source = lake.source();
    let tables = Table::ALL.into_iter().filter(|&table| lake.has(table));
    let mut cases: Vec<(Table, &'static str, Change)> = Vec::new();
    for table in tables {
        let own = table.columns(source).iter().map(|column| column.name);
        for column in std::iter::once(ROW_ID).chain(own) {
            cases.extend(CHANGES.map(|change| (table, column, change)));
        }
    }
    let refused: usize = thread::scope(|scope| {
        let threads: Vec<_> = cases
            .chunks(cases.len().div_ceil(2))
            .map(|chunk| {
                let lake = place.path("lake");
                scope.spawn(move || {
                    chunk
                        .iter()
                        .map(|&(table, column, change)| ask(&lake, table, column, change))
                        .sum::<usize>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(cases.len() / 2 < refused, "{name}: {refused} refusals of {} changes", cases.len());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_changed_column_of_a_google_lake_is_answered_or_refused() {
    mutate("trace");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_changed_column_of_a_log_is_answered_or_refused() {
    mutate("small.swf");
    mutate("small-trace.json");
}

/// Edits a manifest, updates its checksum, and returns the messages of `verify` and `classify`.
fn edited(edit: impl FnOnce(&mut Value)) -> [(Option<i32>, String); 2] {
    let place = lake_of("trace");
    seal(&place.path("lake"), edit);
    [&["verify"], &["classify"]].map(|command| {
        let run = place.run(command);
        (run.code, run.stderr)
    })
}

/// A change of a manifest.
type Edit = Box<dyn FnOnce(&mut Value)>;

/// Changes the recorded places of the rows of each bucket in the first file of `job_events`.
fn edit_stretches(manifest: &mut Value, edit: impl FnOnce(&mut [Stretch])) {
    let text = &mut manifest["tables"]["job_events"]["files"][0]["stretches"];
    let mut all = Stretches::try_from(text.as_str().unwrap().to_owned()).unwrap();
    edit(&mut all.0);
    *text = String::from(all).into();
}

#[test]
fn a_manifest_that_counts_a_file_twice_is_refused_by_every_command() {
    let files = |manifest: &mut Value| {
        manifest["tables"]["job_events"]["files"].as_array_mut().unwrap().clone()
    };
    let cases: [(&str, Edit); 7] = [
        (
            "bucket_count is 4294967295",
            Box::new(|manifest| manifest["bucket_count"] = u32::MAX.into()),
        ),
        (
            "is listed twice",
            Box::new(move |manifest| {
                let mut all = files(manifest);
                all.push(all[0].clone());
                let rows = &mut manifest["tables"]["job_events"]["parts"][0]["rows"];
                *rows = (rows.as_u64().unwrap() + all[0]["rows"].as_u64().unwrap()).into();
                manifest["tables"]["job_events"]["files"] = all.into();
            }),
        ),
        (
            "is not a file of table",
            Box::new(move |manifest| {
                let mut all = files(manifest);
                let mut again = all[0].clone();
                let path = again["path"].as_str().unwrap().replace("/part", "/./part");
                again["path"] = path.into();
                all.push(again);
                manifest["tables"]["job_events"]["files"] = all.into();
            }),
        ),
        (
            "its files",
            Box::new(|manifest| {
                let rows = &mut manifest["tables"]["job_events"]["parts"][0]["rows"];
                *rows = (rows.as_u64().unwrap() + 1).into();
            }),
        ),
        (
            "which is of bucket",
            Box::new(|manifest| {
                edit_stretches(manifest, |all| {
                    all[0].bucket = 1;
                    all[1].bucket = 0;
                });
            }),
        ),
        (
            "has rows of bucket 2, which does not exist",
            Box::new(|manifest| edit_stretches(manifest, |all| all[0].bucket = 2)),
        ),
        (
            "but its blocks have",
            Box::new(|manifest| edit_stretches(manifest, |all| all[0].rows += 1)),
        ),
    ];
    for (said, edit) in cases {
        for (code, stderr) in edited(edit) {
            assert_eq!(code, Some(3), "{said}: {stderr}");
            assert!(stderr.contains(said), "{said}: {stderr}");
        }
    }
}

/// The end of the window follows from the times of parts, and affects every number about open
/// tasks.
#[test]
fn times_and_counts_of_parts_that_the_files_contradict_are_found() {
    fn part<'a>(manifest: &'a mut Value, table: &str) -> &'a mut Value {
        &mut manifest["tables"][table]["parts"][0]
    }
    let of_every_table = ["job_events", "task_events", "task_usage", "machine_events"];
    for table in of_every_table {
        let moved = |end: &'static str, by: i64| {
            move |manifest: &mut Value| {
                let time = &mut part(manifest, table)[end];
                *time = (time.as_i64().unwrap() + by).into();
            }
        };
        for (end, by) in
            [("min_time_us", 1), ("max_time_us", -1), ("max_time_us", 1), ("max_time_us", 1 << 60)]
        {
            let [(code, stderr), _] = edited(moved(end, by));
            let what = format!("{table}, {end} by {by}: {stderr}");
            assert_eq!(code, Some(3), "{what}");
            assert!(stderr.contains("time"), "{what}");
        }
    }
    // Commands that read rows also find rows outside of the window.
    let [_, (code, stderr)] = edited(|manifest| {
        for part in manifest["tables"]["job_events"]["parts"].as_array_mut().unwrap() {
            part["max_time_us"] = part["min_time_us"].clone();
        }
    });
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("lake/job_events/") && stderr.contains("column `time_us`"), "{stderr}");
    let contradictions: [(&str, Edit); 4] = [
        ("is one of 4294967295", Box::new(|part| part["of"] = u32::MAX.into())),
        ("before it begins", Box::new(|part| part["max_time_us"] = (-1).into())),
        (
            "a time is known: false",
            Box::new(|part| {
                part["min_time_us"] = Value::Null;
                part["max_time_us"] = Value::Null;
            }),
        ),
        ("has no begin", Box::new(|part| part["min_time_us"] = Value::Null)),
    ];
    for (said, edit) in contradictions {
        for (code, stderr) in edited(|manifest| edit(part(manifest, "task_events"))) {
            assert_eq!(code, Some(3), "{said}: {stderr}");
            assert!(stderr.contains(said), "{said}: {stderr}");
        }
    }
}

#[test]
fn rows_that_are_there_twice_or_elsewhere_are_found_by_verify() {
    let place = lake_of("trace");
    let lake = place.lake();
    let file = lake.files(Table::TaskEvents)[0].clone();
    let path = file.path.as_str();
    let count_as = |manifest: &mut Value, path: &str, rows: usize| {
        let entry = &mut manifest["tables"]["task_events"];
        let segment = path.rsplit('/').next().unwrap().trim_end_matches(".parquet").to_owned();
        let files = entry["files"].as_array_mut().unwrap();
        let file = files.iter_mut().find(|file| file["path"] == path).unwrap();
        let more = rows as u64 - file["rows"].as_u64().unwrap();
        file["rows"] = rows.into();
        let parts = entry["parts"].as_array_mut().unwrap();
        let part = parts.iter_mut().find(|part| part["segment"] == *segment).unwrap();
        part["rows"] = (part["rows"].as_u64().unwrap() + more).into();
    };
    let check = |pieces: &Pieces, said: &str| {
        let changed = Place::new();
        copy_folder(&place.path("lake"), &changed.path("lake"));
        write(&changed.path("lake"), path, pieces);
        let rows = pieces.iter().map(|(_, batch)| batch.num_rows()).sum();
        seal(&changed.path("lake"), |manifest| count_as(manifest, path, rows));
        let run = changed.run(&["verify"]);
        assert_eq!(run.code, Some(3), "{said}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
        assert!(run.stderr.contains(path), "{}", run.stderr);
    };
    let pieces = read(&lake, &file);
    assert_eq!(pieces.iter().map(|(bucket, _)| *bucket).collect::<Vec<u32>>(), [0, 1]);
    let (first, second) = (&pieces[0].1, &pieces[1].1);
    let with = |batch: RecordBatch| vec![(0, batch), pieces[1].clone()];
    let last = first.num_rows() - 1;
    let again = concat_batches(&first.schema(), [first, &first.slice(last, 1)]).unwrap();
    check(&with(again), "again");
    let turned = [&first.slice(1, last), &first.slice(0, 1)];
    check(&with(concat_batches(&first.schema(), turned).unwrap()), "not in the order of time");
    let foreign = concat_batches(&first.schema(), [&second.slice(0, 1), first]).unwrap();
    check(&with(foreign), "column `");
    let sevens: ArrayRef = Arc::new(Int32Array::from(vec![7; first.num_rows()]));
    let mut columns = first.columns().to_vec();
    *columns.last_mut().unwrap() = sevens;
    let elsewhere = RecordBatch::try_new(first.schema(), columns).unwrap();
    check(&with(elsewhere), "column `bucket` holds 7, not bucket 0");
    // Ordered by time in each stretch, but not in the file.
    let split = [(0, first.slice(last, 1)), (0, first.slice(0, last)), pieces[1].clone()];
    check(&split.to_vec(), "not in the order of time");
}

/// Other programs must read the same rows as this one.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_footer_that_leaves_out_a_bucket_is_found() {
    let place = lake_of("trace");
    let lake = place.lake();
    let file = lake.files(Table::MachineEvents)[0].clone();
    let pieces = read(&lake, &file);
    let twice = vec![pieces[0].clone(), pieces[0].clone()];
    let ((whole, stretches), (longer, _)) = (file_of(&pieces), file_of(&twice));
    let body = 4 + usize::try_from(stretches.0[0].bytes).unwrap();
    // The rows of the first stretch under a footer that lists them twice.
    let forged = [&whole[..body], &longer[2 * body - 4..]].concat();
    write(&lake.path, &file.path, &pieces);
    fs::write(lake.path.join(&file.path), forged).unwrap();
    seal(&lake.path, |_| ());
    let run = place.run(&["verify"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("its footer differs"), "{}", run.stderr);
    let run = place.run(&["query", "q10"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
}

#[test]
fn the_helpers_leave_a_lake_that_is_whole() {
    for name in SOURCES {
        let place = lake_of(name);
        let lake = place.lake();
        assert_eq!(lake.source() == Source::Google2011, name == "trace");
        for file in Table::ALL.into_iter().flat_map(|table| lake.files(table)) {
            write(&lake.path, &file.path, &read(&lake, file));
        }
        seal(&place.path("lake"), |_| ());
        let run = place.run(&["verify"]);
        assert!(matches!(run.code, Some(0 | 1)), "{name}: {}", run.stderr);
    }
}

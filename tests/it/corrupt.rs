//! Changed bytes: flipped bits in parts, in the files of a lake and in its manifest. The result is
//! an error that names the file, a reject, or a different checksum. Nothing panics, and no total is
//! wrong without a message.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use jobfate::lake::Lake;
use jobfate::schema::{Source, Table};
use jobfate::sources::RawPart;
use jobfate::sources::part::{PartStop, Progress, read_part};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::support::{Place, Run, copy_folder, golden, gzip};

/// Flipped bits in gzip parts, and the same number in plain parts.
pub(crate) const FLIPS: usize = 10_000;

/// Flipped bits in the Parquet files of a lake.
pub(crate) const LAKE_FLIPS: usize = 2_000;

/// The number of these flips after which a command runs.
pub(crate) const ASKED_FLIPS: usize = 150;

/// Edits of a manifest.
pub(crate) const MANIFEST_EDITS: usize = 500;

/// A part and its bytes.
struct Sample {
    part: RawPart,
    bytes: Vec<u8>,
}

/// A part of every table of every kind of trace, some in two members of gzip.
fn samples(place: &Place, is_gzip: bool) -> Vec<Sample> {
    let trace = |table: &str| {
        let folder = golden("trace").join(table);
        fs::read(fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()).unwrap()
    };
    let log = |name: &str| fs::read(golden("logs").join(name)).unwrap();
    let mut texts: Vec<(Source, Table, Vec<u8>)> = Table::ALL
        .into_iter()
        .map(|table| (Source::Google2011, table, trace(table.name())))
        .collect();
    for table in [Table::JobEvents, Table::TaskEvents] {
        texts.push((Source::Swf, table, log("small.swf")));
        texts.push((Source::Gwf, table, log("small.gwf")));
        texts.push((Source::Rumen, table, log("small-trace.json")));
    }
    let name = |number: usize| format!("{number}.csv{}", if is_gzip { ".gz" } else { "" });
    let packed = |number: usize, text: &[u8]| match (is_gzip, number % 2) {
        (false, _) => text.to_vec(),
        (true, 0) => gzip(text),
        (true, _) => [gzip(&text[..text.len() / 2]), gzip(&text[text.len() / 2..])].concat(),
    };
    (0..)
        .zip(texts)
        .map(|(number, (source, table, text))| {
            let bytes = packed(number, &text);
            let path = place.path(&name(number));
            let part = RawPart {
                source,
                table,
                part: 0,
                of: None,
                bytes: bytes.len() as u64,
                path,
                joined: Vec::new(),
                beside: None,
                owners: None,
                own: None,
                reading: std::sync::Arc::default(),
            };
            Sample { part, bytes }
        })
        .collect()
}

/// The result of reading a part.
#[derive(Debug, PartialEq)]
struct Read {
    rows: String,
    row_count: u64,
    reject_count: u64,
    line_count: u64,
    sha256: String,
}

/// Reads a part of these bytes; the error of a file that cannot be read as text.
fn read(part: &RawPart, bytes: &[u8]) -> Result<Read, String> {
    fs::write(&part.path, bytes).unwrap();
    let (mut rows, mut row_count, mut reject_count) = (String::new(), 0, 0);
    let summary = read_part::<()>(part, &Progress::default(), |block| {
        write!(rows, "{:?} {:?} {:?}", block.row_ids, block.columns, block.rejects).unwrap();
        row_count += block.row_ids.len() as u64;
        reject_count += block.rejects.len() as u64;
        Ok(())
    });
    match summary {
        Ok(summary) => Ok(Read {
            rows,
            row_count,
            reject_count,
            line_count: summary.line_count,
            sha256: summary.digest.sha256,
        }),
        Err(PartStop::Source(error)) => {
            assert_eq!(error.path, part.path);
            Err(error.kind.to_string())
        }
        Err(PartStop::Sink(()) | PartStop::Cancelled) => unreachable!("nobody stops it"),
    }
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_flipped_bit_in_gzip_is_an_error_or_changes_no_row() {
    let place = Place::new();
    let samples = samples(&place, true);
    let whole: Vec<Read> =
        samples.iter().map(|sample| read(&sample.part, &sample.bytes).unwrap()).collect();
    let mut draws = ChaCha8Rng::seed_from_u64(7);
    let mut errors = 0;
    for _ in 0..FLIPS {
        let number = draws.random_range(0..samples.len());
        let Sample { part, bytes } = &samples[number];
        let bit = draws.random_range(0..bytes.len() * 8);
        match read(part, &flipped(bytes, bit)) {
            Err(_) => errors += 1,
            // Name, time and system in the header do not affect the content.
            Ok(found) => {
                assert_eq!(found.rows, whole[number].rows, "sample {number}, bit {bit}");
                assert_ne!(found.sha256, whole[number].sha256);
            }
        }
    }
    assert!(FLIPS * 8 / 10 < errors, "{errors} errors");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_gzip_cut_anywhere_is_an_error() {
    let place = Place::new();
    let mut between_members = 0;
    for Sample { part, bytes } in samples(&place, true) {
        for len in 0..bytes.len() {
            if read(&part, &bytes[..len]).is_ok() {
                // Whole members only: the loss is visible only in a list of checksums.
                assert!(bytes[len..].starts_with(&[0x1F, 0x8B, 8]), "{len} of {}", bytes.len());
                between_members += 1;
            }
        }
    }
    assert_eq!(between_members, 6, "half of the samples have two members");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_flipped_bit_in_plain_text_is_in_the_checksum() {
    let place = Place::new();
    let samples = samples(&place, false);
    let whole: Vec<Read> =
        samples.iter().map(|sample| read(&sample.part, &sample.bytes).unwrap()).collect();
    let mut draws = ChaCha8Rng::seed_from_u64(8);
    let (mut rejects, mut others) = (0, 0);
    for _ in 0..FLIPS {
        let number = draws.random_range(0..samples.len());
        let Sample { part, bytes } = &samples[number];
        let found = read(part, &flipped(bytes, draws.random_range(0..bytes.len() * 8))).unwrap();
        assert_ne!(found.sha256, whole[number].sha256);
        if part.source == Source::Google2011 {
            assert_eq!(found.row_count + found.reject_count, found.line_count);
        }
        rejects += usize::from(whole[number].reject_count < found.reject_count);
        others += usize::from(whole[number].rows != found.rows);
    }
    assert!(FLIPS / 10 < rejects && rejects < others, "{rejects} with a reject, {others} other");
}

#[test]
fn verify_names_the_damaged_part() {
    let place = Place::new();
    place.run(&["synth", "trace", "--jobs", "20", "--days", "0.2", "--parts", "2"]).ok();
    let parts: Vec<PathBuf> = fs::read_dir(place.path("trace"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .collect();
    let mut draws = ChaCha8Rng::seed_from_u64(9);
    for _ in 0..50 {
        let path = &parts[draws.random_range(0..parts.len())];
        let bytes = fs::read(path).unwrap();
        fs::write(path, flipped(&bytes, draws.random_range(0..bytes.len() * 8))).unwrap();
        let run = place.run(&["verify", "trace"]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        let name = path.strip_prefix(place.path("trace")).unwrap().to_string_lossy();
        let said = format!("{name}: its checksum differs from the list");
        assert!(run.stderr.contains(&said), "{said} in {}", run.stderr);
        fs::write(path, bytes).unwrap();
    }
    place.run(&["verify", "trace"]).ok();
}

// The lake

fn lake() -> Place {
    let place = Place::new().with_golden_trace();
    place.ingest(&["--buckets", "2"]).ok();
    place
}

fn parquet_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            parquet_files(&path, found);
        } else if path.extension().is_some_and(|end| end == "parquet") {
            found.push(path);
        }
    }
}

const QUESTIONS: [&[&str]; 7] = [
    &["classify", "--format", "csv"],
    &["account", "--cpu", "measured", "--format", "csv"],
    &["describe", "--what", "waiting", "--format", "csv"],
    &["sweep", "--format", "csv"],
    &["query", "q07", "--format", "csv"],
    &["fairness", "--format", "csv"],
    &["replay", "--policies", "fifo", "--format", "csv"],
];

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_flipped_bit_in_the_lake_is_found_and_named() {
    let place = lake();
    let mut files = Vec::new();
    parquet_files(&place.path("lake"), &mut files);
    files.sort();
    let whole: Vec<Run> = QUESTIONS.iter().map(|question| place.run(question).ok()).collect();
    let mut draws = ChaCha8Rng::seed_from_u64(10);
    let (mut refused, mut unnoticed) = (0, 0);
    for round in 0..LAKE_FLIPS {
        let path = &files[draws.random_range(0..files.len())];
        let bytes = fs::read(path).unwrap();
        fs::write(path, flipped(&bytes, draws.random_range(0..bytes.len() * 8))).unwrap();
        let name = path.strip_prefix(place.path("")).unwrap().to_string_lossy().into_owned();
        let error = place.lake().check_sums().expect_err(&name);
        assert_eq!(error.path, *path);
        if round < ASKED_FLIPS {
            let question = draws.random_range(0..QUESTIONS.len());
            let run = place.run(QUESTIONS[question]);
            if run.code == Some(0) {
                unnoticed += usize::from(run.stdout != whole[question].stdout);
            } else {
                assert_eq!(run.code, Some(3), "{:?}: {}", QUESTIONS[question], run.stderr);
                assert!(run.stderr.contains(&name), "{name}: {}", run.stderr);
                refused += 1;
            }
            // Another valid value is found by `verify`.
            let run = place.run(&["verify"]);
            assert_eq!(run.code, Some(3), "{}", run.stderr);
            assert!(
                run.stderr.contains(&name) && run.stderr.contains("checksum"),
                "{}",
                run.stderr
            );
        }
        fs::write(path, bytes).unwrap();
    }
    place.run(&["verify"]).ok();
    assert!(0 < refused, "{refused} refused, {unnoticed} only by verify");
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_foreign_file_in_the_lake_is_refused_by_name() {
    let place = lake();
    let other = Place::new();
    let text = "7,9,0,x,0.5,0.5\n8,9,1,x,0.5,0.5\n";
    other.raw("machine_events/part-00000-of-00001.csv", text);
    other.ingest(&[]).ok();
    let name = "lake/machine_events/part-00000-00000.parquet";
    for foreign in [
        fs::read(other.path(name)).unwrap(),
        fs::read(place.path("lake/machine_attributes/part-00000-00000.parquet")).unwrap(),
        b"PAR1PAR1".to_vec(),
        b"not Parquet at all".to_vec(),
        Vec::new(),
    ] {
        let bytes = fs::read(place.path(name)).unwrap();
        fs::write(place.path(name), &foreign).unwrap();
        for question in [&["verify"][..], &["replay", "--policies", "fifo"], &["query", "q10"]] {
            let run = place.run(question);
            assert_eq!(run.code, Some(3), "{question:?}: {}", run.stderr);
            assert!(run.stderr.contains(name), "{question:?}: {}", run.stderr);
        }
        fs::write(place.path(name), bytes).unwrap();
    }
}

/// Every value of a JSON, as mutable references.
fn values<'a>(value: &'a mut serde_json::Value, found: &mut Vec<&'a mut serde_json::Value>) {
    match value {
        serde_json::Value::Object(map) => map.values_mut().for_each(|value| values(value, found)),
        serde_json::Value::Array(list) => list.iter_mut().for_each(|value| values(value, found)),
        value => found.push(value),
    }
}

#[test]
fn an_edited_manifest_is_refused_by_name() {
    let place = lake();
    let path = place.path("lake/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut draws = ChaCha8Rng::seed_from_u64(11);
    for _ in 0..MANIFEST_EDITS {
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut all = Vec::new();
        values(&mut json, &mut all);
        let chosen = draws.random_range(0..all.len());
        let value = &mut *all[chosen];
        *value = match value {
            serde_json::Value::Number(number) => (number.as_i64().unwrap() + 1).into(),
            serde_json::Value::String(text) => format!("{text}0").into(),
            _ => 7.into(),
        };
        fs::write(&path, json.to_string()).unwrap();
        let error = Lake::open(place.path("lake")).expect_err("an edit");
        assert_eq!(error.path, path);
    }
    for edited in [text.replace("  \"checksum\"", "  \"sum\""), text.replace("\"rows\"", "\"row\"")]
    {
        fs::write(&path, edited).unwrap();
        let run = place.run(&["classify"]);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains("lake/manifest.json"), "{}", run.stderr);
    }
    // A different spelling of the same value is not a change.
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    fs::write(&path, json.to_string()).unwrap();
    place.run(&["verify"]).ok();
}

#[test]
fn a_name_in_a_manifest_leads_out_of_no_lake() {
    let place = lake();
    copy_folder(&place.path("lake"), &place.path("other"));
    let path = place.path("lake/manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    for away in ["../other/", "/etc/", "job_events/../../other/"] {
        fs::write(&path, text.replace("\"path\": \"", &format!("\"path\": \"{away}"))).unwrap();
        let run = place.run(&["verify"]);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains("is not a file of table"), "{}", run.stderr);
    }
}

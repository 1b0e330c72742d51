//! Mutated exports of the Google trace of 2019 and logs in the grid workload format, through whole
//! commands: `ingest`, `verify`, `classify`, `account` and `describe`. Whatever the bytes are, a
//! command answers (0, or 1 for a check that fails), or says that the data (3) or the machine (4)
//! are at fault.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use jobfate::synth::{Form, SynthConfig, write_trace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::support::{Place, copy_folder, golden};

/// Mutated inputs of each form.
pub(crate) const MUTATED: usize = 24;

/// What is asked of a lake that came about.
const COMMANDS: [&[&str]; 7] = [
    &["verify"],
    &["classify", "--by", "job"],
    &["classify", "--by", "task"],
    &["account", "--cpu", "requested"],
    &["account", "--cpu", "slots"],
    &["describe", "--what", "waiting"],
    &["describe", "--what", "events-per-task"],
];

/// Values that a field may be replaced by, as JSON and as a field of a log.
const JSON_VALUES: [&str; 20] = [
    "null",
    "0",
    "-1",
    "1",
    "\"1\"",
    "9223372036854775807",
    "-9223372036854775808",
    "\"9223372036854775807\"",
    "18446744073709551615",
    "1e300",
    "-0.0",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[[1]]",
    "\"\\u0000\"",
    "\"</script>\"",
    "2147483648",
    "11",
];
const LOG_VALUES: [&str; 14] = [
    "-1",
    "0",
    "1",
    "9223372036854",
    "9223372036855",
    "-9",
    "1e12",
    "0.0000001",
    "x",
    "BoT",
    "nan",
    "2147483647",
    "2",
    "5",
];

/// Changes a line: a field, a byte, its place.
fn mutate_line(line: &str, separator: char, values: &[&str], draws: &mut ChaCha8Rng) -> String {
    let mut fields: Vec<String> = line.split(separator).map(str::to_owned).collect();
    let at = draws.random_range(0..fields.len());
    let value = values[draws.random_range(0..values.len())];
    match draws.random_range(0..6) {
        0 => drop(fields.remove(at)),
        1 => fields.insert(at, fields[at].clone()),
        2 => {
            let cut = draws.random_range(0..=line.len());
            return String::from_utf8_lossy(&line.as_bytes()[..cut]).into_owned();
        }
        _ => {
            fields[at] = match fields[at].split_once(':') {
                Some((key, rest)) => {
                    let tail: String =
                        rest.chars().rev().take_while(|char| matches!(char, '}' | ']')).collect();
                    format!("{key}:{value}{tail}")
                }
                None => value.to_owned(),
            };
        }
    }
    fields.join(&separator.to_string())
}

/// A text with some lines changed, doubled, gone or moved.
fn mutated(text: &str, separator: char, values: &[&str], draws: &mut ChaCha8Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // Few changes or very many.
    let most = lines.len().max(2);
    let most = if draws.random_bool(0.5) { 4 } else { most };
    for _ in 0..draws.random_range(1..most) {
        if lines.is_empty() {
            break;
        }
        let at = draws.random_range(0..lines.len());
        let other = draws.random_range(0..lines.len());
        match draws.random_range(0..8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            _ => lines[at] = mutate_line(&lines[at], separator, values, draws),
        }
    }
    lines.join("\n") + "\n"
}

/// Ingests what lies at `trace` and asks everything; returns whether a lake came about.
fn ask(place: &Place, trace: &str, what: &str) -> bool {
    let ingest = ["ingest", trace, "--lake", "lake", "--max-rejects", "100%", "--buckets", "2"];
    let run = place.run(&ingest);
    assert!(matches!(run.code, Some(0 | 3 | 4)), "{what}: {:?} {}", run.code, run.stderr);
    if run.code != Some(0) {
        assert!(run.stderr.contains("error: "), "{what}: {}", run.stderr);
        return false;
    }
    let raw = place.run(&["verify", trace]);
    assert!(matches!(raw.code, Some(0 | 1 | 3)), "{what}: {:?} {}", raw.code, raw.stderr);
    for command in COMMANDS {
        let run = place.run(command);
        let is_allowed = match run.code {
            Some(1) => command[0] == "verify",
            code => matches!(code, Some(0 | 3 | 4)),
        };
        assert!(is_allowed, "{what}, {command:?}: {:?} {}", run.code, run.stderr);
    }
    true
}

/// The export of a small trace of 2019, unpacked.
fn export() -> Place {
    let place = Place::new();
    let small = SynthConfig { job_count: 30, days: 0.1, part_count: 1, ..SynthConfig::default() };
    let config = SynthConfig { seed: 9, form: Form::Google2019, ..small };
    write_trace(&config, &place.path("trace"), &|_| ()).unwrap();
    for entry in fs::read_dir(place.path("trace")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "gz") {
            let mut text = String::new();
            GzDecoder::new(fs::File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
            // Enough lines for every kind of row, few enough to be quick.
            let lines: Vec<&str> = text.lines().take(400).collect();
            fs::write(path.with_extension(""), lines.join("\n")).unwrap();
        }
        fs::remove_file(path).unwrap();
    }
    place
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn mutated_exports_of_2019_are_answered_or_refused() {
    let original = export();
    let files = names(&original.path("trace"));
    assert!(4 < files.len(), "{files:?}");
    let mut lakes = 0;
    for seed in 0..MUTATED as u64 {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        let place = Place::new();
        copy_folder(&original.path("trace"), &place.path("trace"));
        for name in &files {
            if draws.random_bool(0.6) {
                let path = place.path("trace").join(name);
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, mutated(&text, ',', &JSON_VALUES, &mut draws)).unwrap();
            }
        }
        lakes += usize::from(ask(&place, "trace", &format!("2019, seed {seed}")));
    }
    assert!(MUTATED / 2 < lakes, "{lakes} lakes");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn mutated_logs_of_grids_are_answered_or_refused() {
    let text = fs::read_to_string(golden("logs/small.gwf")).unwrap();
    let mut lakes = 0;
    for seed in 0..MUTATED as u64 {
        let mut draws = ChaCha8Rng::seed_from_u64(1000 + seed);
        let place = Place::new();
        let separator = if text.contains('\t') { '\t' } else { ' ' };
        fs::write(place.path("log.gwf"), mutated(&text, separator, &LOG_VALUES, &mut draws))
            .unwrap();
        lakes += usize::from(ask(&place, "log.gwf", &format!("GWF, seed {seed}")));
    }
    assert!(MUTATED / 2 < lakes, "{lakes} lakes");
}

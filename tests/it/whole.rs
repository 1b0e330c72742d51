//! Runs whole commands on mutated exports of the Google trace of 2019 and logs in the grid workload
//! format, and on random traces of every format with extreme values. For any bytes, a command
//! answers (0, or 1 for a check that fails), or reports a fault of the command line (2), the data
//! (3) or the machine (4).

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use jobfate::synth::{Form, SynthConfig, write_trace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::support::{Place, copy_folder, golden};

/// Mutated inputs of each form.
pub(crate) const MUTATED: usize = 24;

/// The commands that run on the lake.
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

/// A text with some lines changed, duplicated, removed or moved.
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

/// Ingests the file or folder `trace` and runs all commands; returns whether a lake was made.
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

/// Commands that answer about any lake; a few of them are drawn for each input.
const QUESTIONS: [&str; 22] = [
    "classify --by job",
    "classify --by task --classes terminal",
    "account --cpu slots",
    "account --cpu requested --group-by priority,user",
    "account --resource memory",
    "describe",
    "describe --what waiting --group-by priority",
    "describe --what finish-given-events",
    "sweep --cpu slots --rules events,failures,dead-time,restarts --thresholds 1,2,5",
    "sweep --cpu requested --thresholds 1,3 --bootstrap 20 --group-by user",
    "detect --min-tasks 1 --detectors late poisson spark",
    "detect --min-tasks 2 --detectors all",
    "fairness --cpu slots",
    "fairness --cpu requested --what-if --accrual end",
    "replay --policies fifo priority fair",
    "replay --policies easy fifo+late --cluster cluster:nodes=3,cpu=1",
    "classify --by-reason",
    "sweep --rules k8s:backoff_limit={1,2} spark:max_failures=2 history:p=0.5 --cpu slots",
    "load --interval 600",
    "load --interval 1h --by user",
    "machines",
    "predict",
];

/// Extreme times, numbers and sizes of a field.
const EDGES: [&str; 16] = [
    "9223372036854775807",
    "9223372036854775806",
    "9223372036854775000",
    "9223372036854",
    "9223372036853",
    "4611686018427387904",
    "-9223372036854775808",
    "2147483647",
    "2147483648",
    "256",
    "360",
    "0",
    "-1",
    "1e300",
    "0.0000001",
    "",
];

/// Number of random inputs of each of the five formats: `JOBFATE_WHOLE`, or 40, or 4 in an
/// unoptimised build.
fn drawn_count() -> u64 {
    let few = if cfg!(debug_assertions) { 4 } else { 40 };
    std::env::var("JOBFATE_WHOLE").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Runs a command, which must end within two minutes, and checks how.
fn ends_well(place: &Place, words: &str, what: &str) -> super::support::Run {
    let run = place.shell(&format!("timeout 120 $JOBFATE {words}"));
    let is_allowed = matches!(run.code, Some(0 | 2 | 3 | 4));
    assert!(is_allowed, "{what}, {words}: {:?} {}", run.code, run.stderr);
    let is_said = run.code == Some(0) || run.stderr.contains("error: ");
    assert!(is_said, "{what}, {words}: {:?} {}", run.code, run.stderr);
    run
}

/// Every share is between 0 and 1; unknown shares are null.
fn check_shares(value: &serde_json::Value, at: &str) {
    // Destroyed CPU may exceed saved CPU, requests may exceed capacity (machines are
    // overcommitted), and use may exceed requests.
    const RATIOS: [&str; 11] = [
        "net_share",
        "cpu_allocated_share",
        "cpu_allocated_of_capacity_share",
        "cpu_used_of_capacity_share",
        "before_share",
        "after_share",
        "memory_allocated_of_capacity_share",
        "cpu_saved_share",
        "memory_allocated_share",
        "cpu_used_share",
        "memory_used_share",
    ];
    const SHARES: [&str; 6] = ["share", "precision", "recall", "f1", "chance", "utilisation"];
    match value {
        serde_json::Value::Object(object) => {
            for (key, inner) in object.iter().filter(|(key, _)| *key != "settings") {
                let is_share = (SHARES.contains(&key.as_str()) || key.ends_with("_share"))
                    && !RATIOS.contains(&key.as_str());
                if let (true, Some(share)) = (is_share, inner.as_f64()) {
                    assert!((-1e-9..=1.0 + 1e-9).contains(&share), "{at}: {key} {share}");
                }
                check_shares(inner, at);
            }
        }
        serde_json::Value::Array(all) => all.iter().for_each(|inner| check_shares(inner, at)),
        _ => {}
    }
}

/// Ingests and runs a few commands; returns whether a lake was made.
fn asked(place: &Place, trace: &str, draws: &mut ChaCha8Rng, what: &str) -> bool {
    let ingest = format!("ingest {trace} --lake lake --max-rejects 100% --buckets 2");
    if ends_well(place, &ingest, what).code != Some(0) {
        return false;
    }
    for _ in 0..3 {
        let question = QUESTIONS[draws.random_range(0..QUESTIONS.len())];
        let words = format!("{question} --format json --out out-{}", question.replace(' ', "-"));
        let words = words.replace([',', ':', '=', '+'], "-");
        let out = words.rsplit(' ').next().unwrap_or_default().to_owned();
        let run = ends_well(place, &format!("{question} --format json --out {out}"), what);
        if run.code == Some(0) {
            check_shares(&run.json(), &format!("{what}, {question}"));
            ends_well(place, &format!("report {out}"), what);
        }
    }
    true
}

/// A file of a random trace with extreme fields.
fn edged(text: &str, separator: char, draws: &mut ChaCha8Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let share = [0.01, 0.05, 0.3][draws.random_range(0..3)];
    // In some inputs only one column has extreme values, in all rows.
    let column = draws.random_bool(0.3).then(|| draws.random_range(0..12_usize));
    for line in &mut lines {
        let is_comment = line.starts_with([';', '#']);
        let is_changed = !is_comment && (column.is_some() || draws.random_bool(share));
        if !is_changed {
            continue;
        }
        let mut fields: Vec<&str> = line.split(separator).collect();
        let at = column.unwrap_or_else(|| draws.random_range(0..fields.len()));
        if let Some(field) = fields.get_mut(at) {
            *field = EDGES[draws.random_range(0..EDGES.len())];
        }
        *line = fields.join(&separator.to_string());
    }
    lines.join("\n") + "\n"
}

/// Promise: for any content of a trace, each command ends: it answers with shares between 0 and 1,
/// or refuses with a sentence (2, 3 or 4). `JOBFATE_WHOLE=1000` draws 1,000 inputs of each format.
#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn drawn_traces_at_the_edges_are_answered_or_refused() {
    let export = export();
    let swf = fs::read_to_string(golden("logs/small.swf")).unwrap();
    let gwf = fs::read_to_string(golden("logs/small.gwf")).unwrap();
    let sacct = fs::read_to_string(golden("logs/small.sacct")).unwrap();
    let lakes: u64 = (0..drawn_count())
        .into_par_iter()
        .map(|seed| {
            let mut lakes = 0;
            for (form, text) in [("swf", &swf), ("gwf", &gwf), ("sacct", &sacct)] {
                let mut draws = ChaCha8Rng::seed_from_u64(seed);
                let place = Place::new();
                let known = ['|', '\t'].into_iter().find(|&separator| text.contains(separator));
                let separator = known.unwrap_or(' ');
                fs::write(place.path(&format!("log.{form}")), edged(text, separator, &mut draws))
                    .unwrap();
                let what = format!("{form}, seed {seed}");
                lakes += u64::from(asked(&place, &format!("log.{form}"), &mut draws, &what));
            }
            for (form, from) in [("2011", golden("trace")), ("2019", export.path("trace").clone())]
            {
                let mut draws = ChaCha8Rng::seed_from_u64(seed);
                let place = Place::new();
                copy_folder(&from, &place.path("trace"));
                for path in files_below(&place.path("trace")) {
                    let Ok(text) = fs::read_to_string(&path) else { continue };
                    if draws.random_bool(0.5) {
                        let changed = match form {
                            "2011" => edged(&text, ',', &mut draws),
                            _ => mutated(&text, ',', &JSON_VALUES, &mut draws),
                        };
                        fs::write(&path, changed).unwrap();
                    }
                }
                let what = format!("Google {form}, seed {seed}");
                lakes += u64::from(asked(&place, "trace", &mut draws, &what));
            }
            lakes
        })
        .sum();
    assert!(drawn_count() < lakes, "{lakes} lakes");
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| files_below(folder)));
    files.sort();
    files
}

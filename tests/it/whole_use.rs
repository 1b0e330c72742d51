//! Who used the CPU of a log since the instant from which it is complete, compared with its raw
//! lines.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::support::{Place, repository, skipped};

/// Seconds of a date and time such as `2016-12-30T03:43:09`, counted from a fixed day.
fn clock_s(text: &str) -> Option<i64> {
    let parts: Vec<i64> = text.split(['-', 'T', ':']).map_while(|part| part.parse().ok()).collect();
    let &[year, month, day, hour, minute, second] = parts.as_slice() else { return None };
    // Years begin in March here, so that the leap day is the last day of a year.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// A number of whole seconds.
#[expect(clippy::cast_possible_truncation, reason = "seconds of a log")]
fn whole(value: &Value) -> i64 {
    value.as_f64().unwrap().round() as i64
}

/// Promise: in a log that lacks earlier jobs, the use of users and accounts since it is complete
/// equals that of the lines of the log, cut at the first end.
#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn who_used_a_real_log_since_it_is_whole() {
    let log = repository().join("../shared/data/slurm/pozidriv.sacct.gz");
    if !log.exists() {
        return skipped("there is no real log at `../shared/data/slurm/pozidriv.sacct.gz`");
    }
    let place = Place::new();
    place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
    let mut text = String::new();
    let file = File::open(&log).unwrap();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    let lines = || text.lines().map(|line| line.split('|').collect::<Vec<&str>>());
    let first_end = lines().filter_map(|row| clock_s(row[13])).min().unwrap();
    let mut sums: BTreeMap<(&str, String), [i64; 2]> = BTreeMap::new();
    for row in lines() {
        let (Some(start), Some(end)) = (clock_s(row[12]), clock_s(row[13])) else { continue };
        let processors: i64 = row[18].parse().unwrap();
        let own = [start, start.max(first_end)].map(|from| processors * (end - from).max(0));
        let finished = if row[16] == "COMPLETED" { "finished" } else { "not" };
        for key in [("user", row[8]), ("account", row[5]), ("outcome", finished), ("all", "")] {
            let sum = sums.entry((key.0, key.1.to_owned())).or_default();
            *sum = [sum[0] + own[0], sum[1] + own[1]];
        }
    }
    let found = place.run(&["load", "--format", "json"]).ok().json();
    let used = &found["whole_from"]["used"];
    let both = |value: &Value| [0, 1].map(|place| whole(&value[place]));
    assert_eq!(both(&used["total_s"]), sums[&("all", String::new())]);
    assert_eq!(both(&used["finished_s"]), sums[&("outcome", "finished".to_owned())]);
    for (kind, list) in [("user", "users"), ("account", "accounts")] {
        let rows = used[list].as_array().unwrap();
        for row in rows {
            let name = row["name"].as_str().unwrap().to_owned();
            assert_eq!(both(&row["cpu_s"]), sums[&(kind, name.clone())], "{kind} {name}");
        }
        // The users and accounts with most use are among them.
        for place in [0, 1] {
            let own = sums.iter().filter(|(key, _)| key.0 == kind);
            let most = own.map(|(_, sum)| sum[place]).max().unwrap();
            assert!(rows.iter().any(|row| both(&row["cpu_s"])[place] == most), "{kind}");
        }
    }
}

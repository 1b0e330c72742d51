//! The joined CSV of 2019 (`borg_traces_data.csv`): generated rows in its exact format, compared
//! with the ground truth from which they were generated.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use jobfate::defaults::Defaults;
use jobfate::lake::TableEntry;
use jobfate::schema::{Source, Table};
use jobfate::studies::outcomes::Classes;
use proptest::prelude::*;

use super::support::{Place, gzip};

/// The header of the file: an unnamed row number first.
const HEADER: &str = ",time,instance_events_type,collection_id,scheduling_class,collection_type,\
priority,alloc_collection_id,instance_index,machine_id,resource_request,constraint,\
collections_events_type,user,collection_name,collection_logical_name,start_after_collection_ids,\
vertical_scaling,scheduler,start_time,end_time,average_usage,maximum_usage,random_sample_usage,\
assigned_memory,page_cache_memory,cycles_per_instruction,memory_accesses_per_instruction,\
sample_rate,cpu_usage_distribution,tail_cpu_usage_distribution,cluster,event,failed";

/// The names that the author of the file gave to the type numbers: the names in alphabetical order.
const NAMES: [&str; 9] =
    ["ENABLE", "EVICT", "FAIL", "FINISH", "KILL", "LOST", "SCHEDULE", "SUBMIT", "QUEUE"];

/// A row: cell, collection, instance, time (s), type, window, and whether it is of an alloc set.
pub(crate) type Row = (u8, u8, u8, u16, u8, u8, bool);

/// Events of a task: time, place in the file, type.
type Events = Vec<(u16, usize, u8)>;

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (1_u8..4, 0_u8..4, 0_u8..3, 0_u16..50, 0_u8..9, 0_u8..4, prop::bool::weighted(0.1));
    prop::collection::vec(row, 1..60)
}

/// A row of the file as pandas writes it.
fn line(number: usize, (cell, collection, instance, time, kind, window, is_set): Row) -> String {
    let id = 380_000_000_000_i64 + i64::from(collection);
    let time = i64::from(time) * 1_000_000;
    let start = 300_000_000 * i64::from(window);
    let rate = f64::from(window) / 8.0;
    format!(
        "{number},{time},{kind},{id},2,{},200,0,{instance},{},\
         \"{{'cpus': 0.02, 'memory': None}}\",\"[{{'name': \"\"o'Q\"\", 'relation': 1, 'value': 'a,b'}}]\",{},\
         \"a \"\"user\"\"\",,+lW,\"['12', '13']\",1.0,0.0,{start},{},\
         \"{{'cpus': {rate}, 'memory': 0.25}}\",\"{{'cpus': 0.5, 'memory': 0.5}}\",\"{{'cpus': {rate}, 'memory': None}}\",\
         0.001,nan,1.5,,1.0,\"[0.   0.1\n 0.2 1e-05]\",[],{cell},{},{}",
        u8::from(is_set),
        if instance == 0 { -1 } else { 77 },
        if kind == 8 { 7 } else { kind },
        start + 300_000_000,
        NAMES[usize::from(kind)],
        u8::from(kind == 2),
    )
}

pub(crate) fn file(rows: &[Row]) -> String {
    let mut text = format!("{HEADER}\n");
    for (number, row) in rows.iter().enumerate() {
        writeln!(text, "{}", line(number, *row)).unwrap();
    }
    text
}

/// The number that an event of v3 has in v2.1; `None` for QUEUE and ENABLE.
fn in_v2(kind: u8) -> Option<u8> {
    match kind {
        0 => Some(0),
        1 | 2 => None,
        kind => Some(kind - 2),
    }
}

/// Promise: for any random rows and repetitions, the tables hold each event, window and job once,
/// with the cell in the ids.
fn check(rows: &[Row]) -> Result<(), TestCaseError> {
    let place = Place::new();
    fs::write(place.path("borg_traces_data.csv.gz"), gzip(file(rows).as_bytes())).unwrap();
    let ingest = ["ingest", "borg_traces_data.csv.gz", "--lake", "lake"];
    place.run(&ingest).ok();
    let lake = place.lake();
    prop_assert_eq!(lake.source(), Source::Google2019);
    let jobs = || rows.iter().filter(|row| !row.6);
    let id = |row: &Row| (380_000_000_000 + i64::from(row.1)) * 10 + i64::from(row.0);
    let events: BTreeSet<_> =
        jobs().filter_map(|row| Some((id(row), row.2, row.3, in_v2(row.4)?))).collect();
    let of_jobs: BTreeSet<_> = jobs()
        .filter_map(|row| Some((id(row), row.3, in_v2(if row.4 == 8 { 7 } else { row.4 })?)))
        .collect();
    let windows: BTreeMap<_, _> =
        jobs().map(|row| ((id(row), row.2, row.5), f64::from(row.5) / 8.0 * 300.0)).collect();
    for (table, count) in [
        (Table::TaskEvents, events.len()),
        (Table::JobEvents, of_jobs.len()),
        (Table::TaskUsage, windows.len()),
    ] {
        let found = lake.manifest.table(table).map_or(0, TableEntry::rows);
        prop_assert_eq!(found, count as u64, "{}", table);
    }
    if events.is_empty() {
        return Ok(());
    }
    // Sequences computed here: by time, then in the order of the file.
    let mut sequences: BTreeMap<(i64, u8), Events> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| !row.6) {
        if let Some(kind) = in_v2(row.4)
            && seen.insert((id(row), row.2, row.3, kind))
        {
            sequences.entry((id(row), row.2)).or_default().push((row.3, place, kind));
        }
    }
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for events in sequences.values_mut() {
        events.sort_unstable();
        let digits = events.iter().map(|event| char::from(b'0' + event.2)).collect();
        *expected.entry(digits).or_default() += 1;
    }
    let classify = ["classify", "--by", "task", "--sequences", "--format", "json"];
    let found = place.run(&classify).ok().json();
    let found: BTreeMap<String, u64> = found["sequences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["sequence"].as_str().unwrap().to_owned(), row["count"].as_u64().unwrap()))
        .collect();
    prop_assert_eq!(found, expected);
    let remarks = lake.remarks(Table::TaskEvents);
    let count = |begin: &str| {
        remarks
            .iter()
            .filter(|remark| remark.0.starts_with(begin))
            .map(|remark| remark.1)
            .sum::<u64>()
    };
    prop_assert_eq!(count("rows of a joined sample"), rows.len() as u64);
    // No event type has the same name in both lists.
    prop_assert_eq!(count("`event` contradicts"), rows.len() as u64);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(debug_assertions) { 12 } else { 120 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn rows_are_taken_apart_and_kept_once(rows in rows()) {
        check(&rows)?;
    }
}

/// Promise: outcomes of a sample are defined by the last event, and answers say that the trace is a
/// sample.
#[test]
fn a_sample_goes_by_the_last_event() {
    let place = Place::new();
    fs::write(place.path("data.csv"), file(&[(1, 0, 1, 5, 6, 2, false)])).unwrap();
    place.run(&["ingest", "data.csv", "--lake", "lake"]).ok();
    assert_eq!(Defaults::of(&place.lake()).classes, Classes::Terminal);
    let run = place.run(&["classify", "--by", "task"]).ok();
    for said in ["rows of a joined sample", "100.0 % of the tasks are `other`"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    let run = place.run(&["classify", "--by", "task", "--classes", "terminal"]).ok();
    assert!(!run.stderr.contains("`other`"), "{}", run.stderr);
}

#[test]
fn cells_constraints_and_gaps_of_a_row_are_read() {
    let place = Place::new();
    let first = (1, 0, 1, 5, 3, 2, false);
    fs::write(place.path("data.csv"), file(&[first, (2, 0, 1, 5, 3, 2, false), first])).unwrap();
    let run = place.run(&["ingest", "data.csv", "--lake", "lake"]).ok();
    assert!(run.stderr.contains("joined sample"), "{}", run.stderr);
    assert!(run.stderr.contains("left out"), "{}", run.stderr);
    let lake = place.lake();
    let rows = |table| lake.manifest.table(table).unwrap().rows();
    assert_eq!([Table::TaskEvents, Table::TaskUsage, Table::TaskConstraints].map(rows), [2, 2, 2]);
    let mut ids = Vec::new();
    let columns = ["job_id", "machine_id", "user"];
    lake.scan(Table::TaskEvents, None, &columns, |batch| {
        use arrow::array::AsArray;
        use arrow::datatypes::Int64Type;
        let of = |column: usize| batch.column(column).as_primitive::<Int64Type>().values().to_vec();
        ids.extend(of(0).into_iter().zip(of(1)));
        assert_eq!(batch.column(2).as_string::<i32>().value(0), "a \"user\"");
    })
    .unwrap();
    ids.sort_unstable();
    assert_eq!(ids, [(3_800_000_000_001, 771), (3_800_000_000_002, 772)]);
}

/// Rejects name the line in which their row starts, even if rows contain line ends.
#[test]
fn what_does_not_read_is_a_reject_at_its_line() {
    let good = line(0, (1, 0, 1, 5, 3, 2, false));
    for (bad, column) in [
        (good.replace("'cpus': 0.02", "'cpus': zero"), "resource_request"),
        (good.replace(",380000000000,", ",,"), "job_id"),
        (good.replace(",1,FINISH,0", ",99,FINISH,0"), "cluster"),
        (good.replacen(",5000000,", ",5 s,", 1), "time_us"),
        (good.replace(",380000000000,", ",3800000000000000000,"), "collection_id"),
        (good.replace(",1,FINISH,0", ""), ""),
    ] {
        let place = Place::new();
        assert_ne!(bad, good);
        fs::write(place.path("data.csv"), format!("{HEADER}\n{good}\n{bad}\n{good}\n")).unwrap();
        let args = ["ingest", "data.csv", "--lake", "lake", "--max-rejects", "1"];
        let run = place.run(&args);
        assert_eq!(run.code, Some(0), "{column}: {}", run.stderr);
        // The first row ends in line 3; the bad row starts in line 4.
        let rejects = fs::read_to_string(place.path("lake/rejects/task_events/part-00000.csv"));
        let rejects = rejects.unwrap_or_else(|error| panic!("{column}: {error}: {}", run.stderr));
        assert!(
            rejects.lines().any(|line| line.contains("4,") && line.contains(column)),
            "{column}: {rejects}"
        );
    }
}

/// Promise: a quote that is not closed, at any place, costs only its own record; all others are
/// read.
#[test]
fn a_lost_quote_costs_its_own_record() {
    let rows: Vec<Row> = (0..40_u16).map(|number| (1, 0, 1, number, 0, 0, false)).collect();
    let whole = file(&rows);
    for (lost, record) in [("None}\",\"[{", 3), ("1e-05]\",", 17), ("[0.   0.1", 39)] {
        let place = Place::new();
        let begin = whole.match_indices('\n').nth(2 * record).unwrap().0;
        let at = begin + whole[begin..].find(lost).unwrap();
        let quote = if lost.starts_with('[') { at - 1 } else { at + lost.find('"').unwrap() };
        let text = format!("{}{}", &whole[..quote], &whole[quote + 1..]);
        fs::write(place.path("borg_traces_data.csv"), text).unwrap();
        let words = ["ingest", "borg_traces_data.csv", "--max-rejects", "10%", "--lake", "lake"];
        place.run(&words).ok();
        let kept = place.lake().manifest.table(Table::TaskEvents).map_or(0, TableEntry::rows);
        assert_eq!(kept, 39, "{lost} of record {record}");
    }
}

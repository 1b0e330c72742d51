//! Broken input end to end: each line that is not a row is a reject with its line, its column and a
//! reason under `lake/rejects/`, and each file that is not a part is an error. No line is lost.

use std::collections::BTreeMap;
use std::fs;

use jobfate::lake::ingest::ingest;
use jobfate::lake::plan::{Cut, IngestPlan, MaxRejects, choose_parts};
use jobfate::lake::{Lake, Origin};
use jobfate::schema::{Source, Table};
use jobfate::sources::TraceFolder;
use jobfate::sources::part::Progress;
use proptest::prelude::*;

use super::support::{Place, contents, gzip};

/// The expected result of a line: `row`, or the column and the reason of its reject.
type Line<'a> = (&'a [u8], &'a str);

/// Ingests the lines as one part and compares the rejects with the expected results.
#[track_caller]
fn check(table: &str, lines: &[Line]) {
    let place = Place::new();
    let text: Vec<&[u8]> = lines.iter().map(|(line, _)| *line).collect();
    place.part(table, 0, [&text.join(&b'\n')[..], b"\n"].concat());
    let run = place.ingest(&["--max-rejects", "100%"]).ok();
    let expected: Vec<String> = (1..)
        .zip(lines)
        .filter(|(_, (_, what))| *what != "row")
        .map(|(number, (_, what))| format!("0 {number} {what}"))
        .collect();
    assert_eq!(listed(&place, table), expected);
    let entry = &place.lake().manifest.tables[table].parts[0];
    let row_count = lines.len() - expected.len();
    assert_eq!((entry.lines, entry.rows), (lines.len() as u64, row_count as u64));
    let noted: u64 = entry.rejects.values().sum();
    assert_eq!(noted, expected.len() as u64, "the manifest counts them");
    assert_eq!(run.stderr.contains("lines without a row"), !expected.is_empty(), "{}", run.stderr);
}

/// The rejects of part 0 as `part line column reason`.
fn listed(place: &Place, table: &str) -> Vec<String> {
    let text = place.rejects(table, 0);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    if !text.is_empty() {
        assert_eq!(reader.headers().unwrap(), vec!["part", "line", "column", "reason", "text"]);
    }
    reader
        .records()
        .map(|record| {
            let record = record.unwrap();
            [&record[0], &record[1], &record[2], &record[3]]
                .iter()
                .filter(|text| !text.is_empty())
                .copied()
                .collect::<Vec<&str>>()
                .join(" ")
        })
        .collect()
}

#[test]
fn a_header_is_a_reject_and_the_rest_is_read() {
    check(
        "job_events",
        &[
            (
                b"time,missing info,job ID,event type,user,scheduling class,job name,logical job name",
                "time_us bad_value",
            ),
            (b"600,,7,0,u,1,n,l", "row"),
        ],
    );
    check(
        "job_events",
        &[(b"\xEF\xBB\xBF600,,7,0,u,1,n,l", "time_us bad_value"), (b"600,,7,0,u,1,n,l", "row")],
    );
}

#[test]
fn line_ends_of_every_kind() {
    check(
        "job_events",
        &[
            (b"600,,7,0,u,1,n,l\r", "row"),
            (b"600,,7,0,u,1,n,\r", "row"),
            (b"600,,7,0,,,,\r", "row"),
            (b"", "too_few_columns"),
            (b"\r", "too_few_columns"),
            (b"600,,7,0,u\r,1,n,l", "user bad_value"),
            (b"600,,7,0,u,1,n,l\r\r", "logical_job_name bad_value"),
            // Old line ends (CR alone): all text is one line.
            (b"600,,7,0,u,1,n,l\r601,,7,1,u,1,n,l", "too_many_columns"),
            (b"600,,7,0,u,1,n,l", "row"),
        ],
    );
}

#[test]
fn the_last_line_needs_no_line_end() {
    for (text, row_count) in [("600,,7,0,u,1,n,l\n601,,7,1,u,1,n,l", 2), ("600,,7,0,,,,", 1)] {
        for is_gzip in [false, true] {
            let place = Place::new();
            if is_gzip {
                place.gzip_part("job_events", 0, text);
            } else {
                place.part("job_events", 0, text);
            }
            place.ingest(&[]).ok();
            assert_eq!(place.lake().manifest.tables["job_events"].rows(), row_count);
        }
    }
}

#[test]
fn columns_too_few_and_too_many() {
    check(
        "machine_events",
        &[
            (b"0,5,0,x,0.5", "too_few_columns"),
            (b"0,5,0,x,0.5,", "row"),
            (b"0,5,0,x,0.5,0.5,", "too_many_columns"),
            (b"0,5,0,x,0,5,0,5", "too_many_columns"),
            (b"0;5;0;x;0.5;0.5", "too_few_columns"),
            (b"0\t5\t0\tx\t0.5\t0.5", "too_few_columns"),
            (b"0,5,0,\"a,b\",0.5,0.5", "row"),
            (b"0,5,0,\"a,b,0.5,0.5", "too_few_columns"),
            // A wrong number of fields is reported before a wrong field.
            (b"-1,5,9,x", "too_few_columns"),
            (b",,,,,", "time_us empty_mandatory"),
            (b"0,,0,x,0.5,0.5", "machine_id empty_mandatory"),
            (b"0,5,,x,0.5,0.5", "event_type empty_mandatory"),
        ],
    );
}

#[test]
fn bytes_that_are_no_text() {
    check(
        "job_events",
        &[
            (b"600,,7,0,u\0,1,n,l", "user bad_value"),
            (b"\0,,7,0,u,1,n,l", "time_us bad_value"),
            (b"600,,7,0\0,u,1,n,l", "event_type bad_value"),
            (b"600,,7,0,\xFF\xFE,1,n,l", "user bad_value"),
            (b"600,,7,0,u,1,\xC3,l", "job_name bad_value"),
            (b"600,,7,0,u,1,n,\x1B[31m", "logical_job_name bad_value"),
            ("600,,7,0,Zoë,1,n,l".as_bytes(), "row"),
            (b"\0\0\0\0\0\0\0\0", "too_few_columns"),
        ],
    );
}

#[test]
fn whole_numbers_that_are_none() {
    check(
        "job_events",
        &[
            (b" 600,,7,0,u,1,n,l", "time_us bad_value"),
            (b"600 ,,7,0,u,1,n,l", "time_us bad_value"),
            (b"+600,,7,0,u,1,n,l", "time_us bad_value"),
            (b"6e2,,7,0,u,1,n,l", "time_us bad_value"),
            (b"600.0,,7,0,u,1,n,l", "time_us bad_value"),
            (b"0x258,,7,0,u,1,n,l", "time_us bad_value"),
            (b"6 00,,7,0,u,1,n,l", "time_us bad_value"),
            (b"-600,,7,0,u,1,n,l", "time_us negative_time"),
            (b"-9223372036854775808,,7,0,u,1,n,l", "time_us negative_time"),
            (b"18446744073709551615,,7,0,u,1,n,l", "row"),
            (b"18446744073709551616,,7,0,u,1,n,l", "time_us bad_value"),
            (b"600,,9223372036854775807,0,u,1,n,l", "row"),
            (b"600,,9223372036854775808,0,u,1,n,l", "job_id bad_value"),
            (b"600,,7.0,0,u,1,n,l", "job_id bad_value"),
            (b"600,,7,0,u,2147483648,n,l", "scheduling_class bad_value"),
            (b"600,,7,0,u,1.5,n,l", "scheduling_class bad_value"),
            (b"600,x,7,0,u,1,n,l", "missing_info bad_value"),
            (b"00000000000000000000000600,,7,0,u,1,n,l", "row"),
        ],
    );
}

#[test]
fn events_that_the_source_does_not_have() {
    check(
        "job_events",
        &[
            (b"600,,7,8,u,1,n,l", "row"),
            (b"600,,7,9,u,1,n,l", "event_type unknown_event_type"),
            (b"600,,7,-1,u,1,n,l", "event_type unknown_event_type"),
            (b"600,,7,4294967296,u,1,n,l", "event_type unknown_event_type"),
            (b"600,,7,1.0,u,1,n,l", "event_type bad_value"),
            (b"600,,7,SUBMIT,u,1,n,l", "event_type bad_value"),
        ],
    );
    check("machine_events", &[(b"0,5,3,x,1,1", "event_type unknown_event_type")]);
    check(
        "task_constraints",
        &[(b"0,5,0,3,k,x", "row"), (b"0,5,0,4,k,x", "comparison_operator unknown_event_type")],
    );
}

#[test]
fn quantities_that_are_none() {
    check(
        "machine_events",
        &[
            (b"0,5,0,x,1e-05,2.5E-3", "row"),
            (b"0,5,0,x,.5,1.", "row"),
            (b"0,5,0,x,-0,1048576", "row"),
            (b"0,5,0,x,-0.5,0", "cpu_capacity out_of_range"),
            (b"0,5,0,x,1e20,0", "cpu_capacity out_of_range"),
            (b"0,5,0,x,0,1048576.2", "memory_capacity out_of_range"),
            (b"0,5,0,x,1e400,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,1e39,1", "cpu_capacity bad_value"),
            (b"0,5,0,x, 0.5,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,0.5 ,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,+0.5,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,inf,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,NaN,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,0x1,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,1_000,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,1e,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,1e-,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,.,1", "cpu_capacity bad_value"),
            (b"0,5,0,x,0.5,1.2.3", "memory_capacity bad_value"),
        ],
    );
    let mut task = b"600,,7,0,,0,u,1,4,0.5,0.5,0.5,".to_vec();
    task.extend(b"yes");
    check("task_events", &[(&task, "different_machines bad_value")]);
    check("task_events", &[(b"600,,7,0,,0,u,1,4,1e20,,,", "cpu_request out_of_range")]);
    let usage = |rate: &str| format!("600,900,7,0,5,{rate}{}", ",".repeat(14)).into_bytes();
    let (negative, absurd) = (usage("-0.1"), usage("1e20"));
    check(
        "task_usage",
        &[
            (&usage("4.5"), "row"),
            (&negative, "mean_cpu_rate out_of_range"),
            (&absurd, "mean_cpu_rate out_of_range"),
        ],
    );
}

#[test]
fn a_line_of_ten_megabytes_is_one_reject_and_its_text_is_cut() {
    let place = Place::new();
    let text = format!("600,,7,0,u,1,n,l\n{}\n601,,7,1,u,1,n,l\n", "x".repeat(10 << 20));
    place.gzip_part("job_events", 0, &text);
    place.ingest(&["--max-rejects", "1"]).ok();
    assert_eq!(listed(&place, "job_events"), ["0 2 too_few_columns"]);
    assert!(place.rejects("job_events", 0).len() < 5_000);
    let rows: Vec<i64> =
        contents(&place.lake())[&(Table::JobEvents, 0)].iter().map(|row| row.0).collect();
    assert_eq!(rows, [1, 3], "a reject takes its line number along");
}

#[test]
fn a_line_without_end_is_an_error() {
    let place = Place::new();
    place.gzip_part("job_events", 0, vec![b'x'; 70 << 20]);
    let run = place.ingest(&[]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("a line is longer than 64 MiB"), "{}", run.stderr);
}

#[test]
fn an_empty_file_is_a_part_without_rows() {
    for is_gzip in [false, true] {
        let place = Place::new();
        if is_gzip {
            place.gzip_part("job_events", 0, "");
        } else {
            place.part("job_events", 0, "");
        }
        place.part("job_events", 1, "600,,7,0,u,1,n,l\n");
        place.ingest(&[]).ok();
        let entry = &place.lake().manifest.tables["job_events"];
        assert_eq!((entry.parts.len(), entry.parts[0].lines, entry.rows()), (2, 0, 1));
    }
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn a_table_without_any_row_can_be_asked() {
    let place = Place::new();
    place.part("job_events", 0, "");
    place.part("task_events", 0, "");
    place.part("task_usage", 0, "");
    place.part("machine_events", 0, "");
    place.ingest(&[]).ok();
    for by in ["job", "task"] {
        let run = place.run(&["classify", "--lake", "lake", "--by", by, "--format", "json"]).ok();
        assert_eq!(run.json()["total"], 0);
    }
    for query in
        ["q01", "q02", "q03", "q05", "q07", "q09", "q10", "q11", "q12", "q13", "q15", "q16"]
    {
        let run = place.run(&["query", query, "--lake", "lake", "--format", "csv"]).ok();
        assert_eq!(run.stdout_text().lines().count(), 1, "{query}: only the header");
    }
    place.run(&["verify", "--lake", "lake"]).ok();
}

#[test]
fn odd_names_of_parts_are_an_error_that_names_the_file() {
    for name in [
        "part-00000.csv",
        "part-0-of-2.csv",
        "part-00000-of-00002 (1).csv",
        "copy of part-00000-of-00002.csv",
        "jobs.csv",
        "part-99999999999-of-00002.csv",
    ] {
        let place = Place::new();
        place.raw(&format!("job_events/{name}"), "600,,7,0,u,1,n,l\n");
        let run = place.ingest(&[]);
        assert_eq!(run.code, Some(3), "{name}: {}", run.stderr);
        assert!(run.stderr.contains(name) && run.stderr.contains("hint: "), "{}", run.stderr);
        assert!(!place.path("lake").exists(), "nothing was begun");
    }
}

#[test]
fn the_same_part_twice_is_an_error_that_names_both() {
    let place = Place::new();
    place.part("job_events", 0, "600,,7,0,u,1,n,l\n");
    let again = place.gzip_part("job_events", 0, "600,,7,0,u,1,n,l\n");
    let run = place.ingest(&[]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    for name in ["part-00000-of-00002.csv.gz`", "part-00000-of-00002.csv`", "keep one of the two"] {
        assert!(run.stderr.contains(name), "{}", run.stderr);
    }
    fs::remove_file(again).unwrap();
    place.ingest(&[]).ok();
}

#[test]
fn a_folder_in_place_of_a_part_is_an_error() {
    let place = Place::new();
    place.part("job_events", 0, "600,,7,0,u,1,n,l\n");
    fs::create_dir(place.path("trace/job_events/part-00001-of-00002.csv")).unwrap();
    let run = place.ingest(&[]);
    assert!(matches!(run.code, Some(3 | 4)), "{:?}: {}", run.code, run.stderr);
    assert!(run.stderr.contains("part-00001-of-00002.csv"), "{}", run.stderr);
}

#[test]
fn members_of_a_gzip_are_one_file_even_cut_within_a_line() {
    let place = Place::new();
    let raw = [gzip(b"600,,7,0,u,1,n,l\n601,,"), gzip(b"7,1,u,1,n,l\n")].concat();
    place.raw("job_events/part-00000-of-00002.csv.gz", raw);
    place.ingest(&[]).ok();
    assert_eq!(place.lake().manifest.tables["job_events"].rows(), 2);
}

#[test]
fn rejects_are_kept_part_by_part_and_quoted() {
    let place = Place::new();
    place.part("job_events", 0, "600,,7,9,\"a,\"\"b\",1,n,l\n600,,7,0,u,1,n,l\n");
    place.part("job_events", 1, "601,,7,1,u,1,n,l\n602,,7,=x,u,1,n,l\n");
    place.ingest(&["--max-rejects", "50%"]).ok();
    insta::assert_snapshot!(
        format!("{}{}", place.rejects("job_events", 0), place.rejects("job_events", 1)),
        @r#"
        part,line,column,reason,text
        0,1,event_type,unknown_event_type,"600,,7,9,""a,""""b"",1,n,l"
        part,line,column,reason,text
        1,2,event_type,bad_value,"602,,7,=x,u,1,n,l"
    "#
    );
}

/// Lines that resemble a row of `machine_events`, and some that do not.
fn near_rows() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        4 => "[0-9]{1,3}",
        1 => "-?[0-9]{0,22}\\.?[0-9]{0,6}(e-?[0-9]{1,3})?",
        1 => "[ -~]{0,6}",
        1 => Just(String::new()),
    ];
    let line = (
        proptest::collection::vec(field, 5..8),
        prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")],
    )
        .prop_map(|(fields, end)| format!("{}{end}", fields.join(",")).into_bytes());
    let noise = proptest::collection::vec(any::<u8>(), 0..40);
    proptest::collection::vec(prop_oneof![9 => line, 1 => noise], 0..60)
        .prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any bytes, each line is a row or a reject, and both are numbered.
    #[test]
    fn every_line_is_a_row_or_a_reject(text in near_rows()) {
        let place = Place::new();
        place.part("machine_events", 0, &text);
        let folder = TraceFolder::open(&place.path("trace"), None).unwrap();
        let plan = IngestPlan {
            lake: place.path("lake"),
            source: Source::Google2011,
            origin: Origin::Original,
            parts: choose_parts(&folder, None, None),
            max_rejects: MaxRejects::Percent(100.0),
            bucket_count: None,
            shard: None,
            threads: 1,
            cut: Cut::default(),
        };
        let outcome = ingest(&plan, &Progress::default()).unwrap();
        prop_assert!(outcome.failed.is_empty());
        let is_open = !text.is_empty() && !text.ends_with(b"\n");
        let line_count = text.split(|&byte| byte == b'\n').count() - usize::from(!is_open);
        let lake = Lake::open(&plan.lake).unwrap();
        let rows: Vec<i64> = contents(&lake)[&(Table::MachineEvents, 0)].iter().map(|row| row.0).collect();
        let mut rejects: BTreeMap<i64, String> = BTreeMap::new();
        for reject in listed(&place, "machine_events") {
            let line = reject.split(' ').nth(1).unwrap().parse().unwrap();
            prop_assert!(rejects.insert(line, reject.clone()).is_none(), "line {line} twice");
        }
        let mut lines: Vec<i64> = rows.into_iter().chain(rejects.into_keys()).collect();
        lines.sort_unstable();
        prop_assert_eq!(lines, (1..=i64::try_from(line_count).unwrap()).collect::<Vec<i64>>());
    }
}

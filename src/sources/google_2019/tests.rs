//! Lines of an export, and their rows and rejects.

use crate::schema::{Source, Table};
use crate::sources::tests::{Rows, parsed};

fn listed(rows: &Rows, columns: &[&str]) -> Vec<String> {
    let cells = |row| columns.iter().map(|column| rows.cell(column, row)).collect::<Vec<_>>();
    (0..rows.block.row_ids.len()).map(|row| cells(row).join(" ")).collect()
}

#[track_caller]
fn check(table: Table, lines: &[&str], columns: &[&str], expected: &[&str]) -> Rows {
    let rows = parsed(Source::Google2019, table, &(lines.join("\n") + "\n"));
    assert_eq!(rows.rejects(), Vec::<String>::new());
    assert_eq!(listed(&rows, columns), expected);
    rows
}

fn remarks(rows: &Rows) -> Vec<(&'static str, u64)> {
    rows.notes.remarks.iter().map(|(&wording, &count)| (wording, count)).collect()
}

const EVENTS: [&str; 6] = [
    r#"{"time":"600000000","type":"0","collection_id":"380602459104","scheduling_class":"2","missing_type":"1","collection_type":"0","priority":"103","alloc_collection_id":"0","user":"u\/+==","collection_name":"n","collection_logical_name":"l","parent_collection_id":"7","start_after_collection_ids":["8","9"],"max_per_machine":"1","vertical_scaling":"3","scheduler":"1"}"#,
    r#"{"time":600000001,"type":1,"collection_id":380602459104,"collection_type":0}"#,
    r#"{"time":"600000002","type":"2","collection_id":"380602459104","collection_type":"0"}"#,
    r#"{"time":"600000003","type":"3","collection_id":"380602459104","collection_type":"0","user":null,"alloc_collection_id":"5","unknown_field":{"x":[1]}}"#,
    r#"{"time":"600000004","type":"6","collection_id":"380602459104","missing_type":"0","start_after_collection_ids":[]}"#,
    r#"{"time":"600000005","type":"0","collection_id":"5","collection_type":"1"}"#,
];

#[test]
fn collections_are_jobs_under_the_numbers_of_2011() {
    let rows = check(
        Table::JobEvents,
        &EVENTS,
        &["time_us", "event_type", "job_id", "missing_info", "alloc_collection_id"],
        &[
            "600000000 0 380602459104 0 -",
            "600000003 1 380602459104 - 5",
            "600000004 4 380602459104 - -",
        ],
    );
    for (column, expected) in [
        ("scheduling_class", "2"),
        ("priority", "103"),
        ("user", "u/+=="),
        ("job_name", "n"),
        ("logical_job_name", "l"),
        ("parent_collection_id", "7"),
        ("start_after_collection_ids", "8 9"),
        ("max_per_machine", "1"),
        ("max_per_switch", "-"),
        ("vertical_scaling", "3"),
        ("scheduler", "1"),
    ] {
        assert_eq!(rows.cell(column, 0), expected, "{column}");
    }
    assert_eq!(rows.block.row_ids, [1, 4, 5], "the line in the file");
    assert_eq!(
        remarks(&rows),
        [(super::parser::NO_NUMBER, 2), (super::parser::NO_KIND, 1), (super::parser::ALLOC_SET, 1)]
    );
    let every_number: Vec<String> = (0..=10)
        .map(|kind| {
            format!(r#"{{"time":"1","type":"{kind}","collection_id":"1","collection_type":"0"}}"#)
        })
        .collect();
    let lines: Vec<&str> = every_number.iter().map(String::as_str).collect();
    check(
        Table::JobEvents,
        &lines,
        &["event_type"],
        &["0", "1", "2", "3", "4", "5", "6", "7", "8"],
    );
}

#[test]
fn alloc_sets_make_a_lake_of_their_own() {
    let rows = parsed(Source::Google2019AllocSets, Table::JobEvents, &EVENTS.join("\n"));
    assert_eq!(listed(&rows, &["job_id", "event_type"]), ["5 0"]);
    assert_eq!(remarks(&rows)[1], (super::parser::JOB, 5));
}

#[test]
fn instances_are_tasks_and_their_demands_constraints() {
    let line = r#"{"time":"0","type":"3","collection_id":"1","instance_index":"4","collection_type":"0","priority":"360","machine_id":"-1","alloc_collection_id":"9","alloc_instance_index":"0","resource_request":{"cpus":0.25,"memory":"0.5"},"constraint":[{"name":"a","value":"x","relation":"0"},{"name":"b","relation":"6"}]}"#;
    let bare = r#"{"time":"9223372036854775807","type":"10","collection_id":"1","instance_index":"5","collection_type":"0","machine_id":"0","alloc_instance_index":"-1","resource_request":null,"constraint":null}"#;
    check(
        Table::TaskEvents,
        &[line, bare],
        &[
            "time_us",
            "event_type",
            "task_index",
            "machine_id",
            "priority",
            "cpu_request",
            "memory_request",
            "alloc_collection_id",
            "alloc_instance_index",
            "user",
        ],
        &["0 1 4 -1 360 0.25 0.5 9 0 -", "9223372036854775807 8 5 - - - - - - -"],
    );
    let rows = check(
        Table::TaskConstraints,
        &[line, bare],
        &["job_id", "task_index", "comparison_operator", "attribute_name", "attribute_value"],
        &["1 4 0 a x", "1 4 6 b -"],
    );
    assert_eq!(rows.block.row_ids, [256, 257]);
}

#[test]
fn usage_keeps_its_histograms_as_lists() {
    let line = |more: &str| {
        format!(
            r#"{{"start_time":"300000000","end_time":"600000000","collection_id":"1","instance_index":"2","machine_id":"3","collection_type":"0","average_usage":{{"cpus":0.1,"memory":0.2}},"maximum_usage":{{"cpus":0.3,"memory":0.4}},"assigned_memory":0.5,"page_cache_memory":0,"sample_rate":0.99,"alloc_instance_index":"6"{more}}}"#
        )
    };
    let full = line(
        r#","alloc_collection_id":"9","random_sample_usage":{"cpus":0.15},"cycles_per_instruction":1.5,"memory_accesses_per_instruction":0.01,"cpu_usage_distribution":[0,0.5,1],"tail_cpu_usage_distribution":[0.9]"#,
    );
    let bare = line(r#","random_sampled_usage":{"cpus":0.25},"cpu_usage_distribution":[]"#);
    check(
        Table::TaskUsage,
        &[&full, &bare],
        &[
            "start_time_us",
            "mean_cpu_rate",
            "canonical_memory",
            "max_cpu_rate",
            "max_memory",
            "assigned_memory",
            "total_page_cache",
            "cycles_per_instruction",
            "memory_accesses_per_instruction",
            "sample_portion",
            "sampled_cpu_usage",
            "alloc_collection_id",
            "alloc_instance_index",
            "cpu_usage_distribution",
            "tail_cpu_usage_distribution",
        ],
        &[
            "300000000 0.1 0.2 0.3 0.4 0.5 0 1.5 0.01 0.99 0.15 9 6 [0.0, 0.5, 1.0] [0.9]",
            "300000000 0.1 0.2 0.3 0.4 0.5 0 - - 0.99 0.25 - - - -",
        ],
    );
}

#[test]
fn machines_and_attributes_are_read() {
    check(
        Table::MachineEvents,
        &[
            r#"{"time":"0","machine_id":"92","type":"1","switch_id":"s=","capacity":{"cpus":1,"memory":0.5},"platform_id":"p="}"#,
            r#"{"time":"5","machine_id":"92","type":"2","missing_data_reason":"1"}"#,
            r#"{"time":"6","machine_id":"92","type":"3","capacity":{"memory":0.25}}"#,
        ],
        &[
            "time_us",
            "machine_id",
            "event_type",
            "platform_id",
            "cpu_capacity",
            "memory_capacity",
            "switch_id",
            "missing_info",
        ],
        &["0 92 0 p= 1 0.5 s= -", "5 92 1 - - - - 0", "6 92 2 - - 0.25 - -"],
    );
    check(
        Table::MachineAttributes,
        &[
            r#"{"time":"0","machine_id":"92","name":"n","value":"3","deleted":false}"#,
            r#"{"time":"1","machine_id":"92","name":"n","deleted":"true"}"#,
        ],
        &["time_us", "attribute_name", "attribute_value", "is_deleted"],
        &["0 n 3 false", "1 n - true"],
    );
}

#[test]
fn odd_lines_are_rejects_with_their_column() {
    let task = |more: &str| {
        format!(
            r#"{{"time":"1","type":"0","collection_id":"1","instance_index":"1","collection_type":"0"{more}}}"#
        )
    };
    let lines = [
        "no json".to_owned(),
        String::new(),
        task("").replace(r#""time":"1""#, r#""time":"-1""#),
        task("").replace(r#""time":"1","#, ""),
        task("").replace(r#""type":"0""#, r#""type":"11""#),
        task("").replace(r#""type":"0""#, r#""type":"SUBMIT""#),
        task(r#","priority":"99999999999""#),
        task(r#","resource_request":{"cpus":-1}"#),
        task(r#","resource_request":{"cpus":"NaN"}"#),
        task(r#","scheduling_class":"x""#),
        task(r#","machine_id":[1]"#),
        task(r#","time":1"#),
        task(r#","constraint":[{"name":"a","relation":"0"},{"name":"b","relation":"8"}]"#),
    ];
    let text = lines.join("\n");
    let rows = parsed(Source::Google2019, Table::TaskEvents, &text);
    assert_eq!(
        rows.rejects(),
        [
            "1  bad_value",
            "3 time_us negative_time",
            "4 time_us empty_mandatory",
            "5 event_type unknown_event_type",
            "6 event_type bad_value",
            "7 priority bad_value",
            "8 cpu_request out_of_range",
            "9 cpu_request bad_value",
            "10 scheduling_class bad_value",
            "11 machine_id bad_value",
            "12  bad_value",
        ]
    );
    assert_eq!(rows.block.row_ids, [13]);
    assert_eq!(rows.block.line_count, 13);
    // A bad constraint rejects the whole line.
    let rows = parsed(Source::Google2019, Table::TaskConstraints, &text);
    assert_eq!(rows.rejects().last().unwrap(), "13 comparison_operator unknown_event_type");
    assert!(rows.block.row_ids.is_empty());
    assert_eq!(listed(&rows, &["time_us"]), Vec::<String>::new());
}

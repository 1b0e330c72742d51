//! Rows of the three tables, in the exact form of the published schema.

use super::super::tests::{parsed, parsed_part};
use super::super::trace::open_trace;
use crate::schema::{Source, Table};

fn history(table: Table, text: &str) -> String {
    let rows = parsed(Source::Alibaba2017, table, text);
    assert_eq!(rows.rejects(), Vec::<String>::new(), "{text}");
    rows.history()
}

#[test]
fn every_status_ends_a_task_as_it_says() {
    for (status, expected) in [
        ("Terminated", "10 SUBMIT, 10 SCHEDULE, 90 FINISH"),
        ("Failed", "10 SUBMIT, 10 SCHEDULE, 90 FAIL"),
        ("Cancelled", "10 SUBMIT, 10 SCHEDULE, 90 KILL"),
        ("Running", "10 SUBMIT, 10 SCHEDULE"),
        ("Waiting", "10 SUBMIT"),
        ("Ready", "10 SUBMIT"),
    ] {
        let line = format!("10,90,3,4,8,{status},50,0.01\n");
        for table in [Table::JobEvents, Table::TaskEvents] {
            assert_eq!(history(table, &line), expected);
        }
    }
}

#[test]
fn a_job_begins_with_its_first_task_and_ends_with_its_last() {
    let lines = |states: [&str; 3]| {
        let [one, two, three] = states;
        format!(
            "created, ended,job_id, task_id,instances, status,cpu,mem\n\
             20,50,3,1,1,{one},50,0.1\n10,40,3,2,1,{two},50,0.1\n30,90,3,3,1,{three},50,0.1\n"
        )
    };
    for (states, expected) in [
        (["Terminated"; 3], "10 SUBMIT, 10 SCHEDULE, 90 FINISH"),
        (["Terminated", "Failed", "Terminated"], "10 SUBMIT, 10 SCHEDULE, 90 FAIL"),
        (["Terminated", "Cancelled", "Terminated"], "10 SUBMIT, 10 SCHEDULE, 90 KILL"),
        (["Failed", "Cancelled", "Terminated"], "10 SUBMIT, 10 SCHEDULE, 90 FAIL"),
        (["Failed", "Running", "Terminated"], "10 SUBMIT, 10 SCHEDULE"),
        (["Waiting", "Waiting", "Terminated"], "10 SUBMIT, 30 SCHEDULE"),
    ] {
        assert_eq!(history(Table::JobEvents, &lines(states)), expected, "{states:?}");
    }
    let jobs = parsed(Source::Alibaba2017, Table::JobEvents, &lines(["Failed"; 3]));
    assert_eq!((jobs.cell("tasks", 0), jobs.cell("end_reason", 2)), ("3".into(), "Failed".into()));
}

#[test]
fn what_happened_before_the_trace_is_at_its_start() {
    let line = "-60,110,6168,1,1,Terminated,50,0.1\n";
    assert_eq!(history(Table::TaskEvents, line), "0 SUBMIT, 0 SCHEDULE, 110 FINISH");
    let before = "-60,-55,6168,1,1,Terminated,50,0.1\n";
    assert_eq!(history(Table::TaskEvents, before), "0 SUBMIT, 0 SCHEDULE, 0 FINISH");
}

#[test]
fn requests_are_those_of_all_instances() {
    let rows = parsed(Source::Alibaba2017, Table::TaskEvents, "10,90,3,4,8,Failed,50,0.25\n");
    let columns = ["cpu_request", "memory_request", "instances", "instance_cpu_request"];
    assert_eq!(columns.map(|column| rows.cell(column, 0)), ["4", "2", "8", "0.5"]);
}

#[test]
fn tasks_of_several_instances_and_starts_are_counted() {
    // The third has not started, and the second has one instance.
    let text = "10,90,3,1,8,Failed,50,0.25\n10,90,3,2,1,Terminated,50,0.25\n\
        10,90,3,3,8,Waiting,50,0.25\n10,90,3,4,2,Running,50,0.25\n";
    let rows = parsed(Source::Alibaba2017, Table::TaskEvents, text);
    let count = |begin: &str| {
        let own = rows.notes.remarks.iter().filter(|(said, _)| said.starts_with(begin));
        own.map(|(_, count)| count).sum::<u64>()
    };
    let started = "no start time: started when it was created";
    assert_eq!((count("tasks of several instances"), count(started)), (2, 3));
}

#[test]
fn what_does_not_parse_is_a_reject() {
    for (line, expected) in [
        ("10,90,3,4,8,Failed,50", "2  too_few_columns"),
        ("x,90,3,4,8,Failed,50,1", "2 create_timestamp bad_value"),
        ("10,90,,4,8,Failed,50,1", "2 job_id empty_mandatory"),
        ("10,90,3,4,8,Gone,50,1", "2 status unknown_event_type"),
        ("10,90,3,4,8,Failed,-1,1", "2 plan_cpu bad_value"),
        ("10,90,3,99999999999,8,Failed,1,1", "2 task_index out_of_range"),
    ] {
        let text = format!("1,2,1,1,1,Waiting,,\n{line}\n");
        for table in [Table::JobEvents, Table::TaskEvents] {
            assert_eq!(parsed(Source::Alibaba2017, table, &text).rejects(), [expected]);
        }
    }
}

#[test]
fn every_status_ends_an_instance_as_it_says() {
    for (status, expected) in [
        ("Terminated", "10 SUBMIT, 10 SCHEDULE, 90 FINISH"),
        ("Failed", "10 SUBMIT, 10 SCHEDULE, 90 FAIL"),
        ("Cancelled", "10 SUBMIT, 10 SCHEDULE, 90 KILL"),
        ("Interrupted", "10 SUBMIT, 10 SCHEDULE, 90 KILL"),
        ("Running", "10 SUBMIT, 10 SCHEDULE"),
        ("Waiting", "10 SUBMIT"),
    ] {
        let line = format!("10,90,3,4,17,{status},1,1,1.5,0.5,0.02,0.01\n");
        for table in [Table::JobEvents, Table::TaskEvents] {
            assert_eq!(history(table, &line), expected);
        }
    }
    // A time of 0 is missing: no end, or no time at all. -5 is before the trace.
    for (line, expected) in [
        ("10,0,3,4,17,Failed,1,1,,,,\n", "10 SUBMIT, 10 SCHEDULE"),
        ("0,0,3,4,,Waiting,1,1,,,,\n", "0 SUBMIT"),
        ("-5,90,3,4,17,Terminated,1,1,,,,\n", "0 SUBMIT, 0 SCHEDULE, 90 FINISH"),
    ] {
        assert_eq!(history(Table::TaskEvents, line), expected);
    }
}

#[test]
fn tries_of_an_instance_are_attempts_of_one_task() {
    let rows = [
        "10,40,3,1,17,Terminated,1,1,1.5,0.5,0.02,0.01\n",
        "30,90,3,1,18,Terminated,2,2,,,,\n",
        "10,20,3,1,17,Failed,1,2,,,,\n",
        "30,95,3,1,18,Interrupted,2,2,,,,\n",
        "10,50,3,1,17,Terminated,1,2,,,,\n",
        "10,60,3,2,19,Terminated,1,1,,,,\n",
    ];
    let pairs = |text: &str| {
        let rows = parsed(Source::Alibaba2017, Table::TaskEvents, text);
        assert_eq!(rows.rejects(), Vec::<String>::new());
        let columns = ["task_index", "task_id", "attempt", "event_type", "time_us"];
        let all = 0..rows.block.row_ids.len();
        all.map(|row| columns.map(|column| rows.cell(column, row)).join(" ")).collect::<Vec<_>>()
    };
    let found = pairs(&rows.concat());
    let expected = [
        "1 1 1 0 10000000",
        "1 1 1 1 10000000",
        "1 1 1 4 40000000",
        // The first row with try 2 of 2 belongs to the first row with try 1 of 2.
        "2 1 2 1 30000000",
        "2 1 2 4 90000000",
        "2 1 1 0 10000000",
        "2 1 1 1 10000000",
        "2 1 1 3 20000000",
        "3 1 1 0 10000000",
        "3 1 1 1 10000000",
        "3 1 1 4 50000000",
        "4 2 1 0 10000000",
        "4 2 1 1 10000000",
        "4 2 1 4 60000000",
    ];
    assert_eq!(found, expected);
    let text = rows.concat();
    let tasks = parsed(Source::Alibaba2017, Table::TaskEvents, &text);
    let unnamed = "tries of unnamed instances: matched in the order of the rows";
    assert_eq!(tasks.notes.remarks[unnamed], 2);
    assert_eq!(
        ["mean_cpu", "max_cpu", "mean_memory", "max_memory"].map(|column| tasks.cell(column, 0)),
        ["0.5", "1.5", "0.01", "0.02"]
    );
    // The failed first try and the lost backup do not decide the outcome.
    let jobs = parsed(Source::Alibaba2017, Table::JobEvents, &text);
    assert_eq!(jobs.history(), "10 SUBMIT, 10 SCHEDULE, 90 FINISH");
    assert_eq!(jobs.cell("tasks", 0), "4");
}

#[test]
fn instances_without_a_job_or_a_task_are_left_out_and_counted() {
    let text = "10,90,3,1,17,Terminated,1,1,,,,\n10,90,,1,17,Terminated,1,1,,,,\n\
        10,90,3,,17,Terminated,1,1,,,,\n";
    let rows = parsed(Source::Alibaba2017, Table::TaskEvents, text);
    assert_eq!((rows.rejects().len(), rows.block.row_ids.len()), (0, 3));
    let gap = "instances without a job or a task, a known gap of the trace: left out";
    assert_eq!(rows.notes.remarks[gap], 2);
}

#[test]
fn errors_of_machines_are_changes_that_keep_the_capacity() {
    let text = "0,1,add,,64,0.68,0.4\n0,2,add,,64,1,0.4\n50,1,softerror,disk_full,,,\n\
        60,2,harderror,,32,1,0.4\nx,3,add,,64,1,1\n0,4,gone,,64,1,1\n0,,add,,64,1,1\n";
    let found = parsed(Source::Alibaba2017, Table::MachineEvents, text);
    let bad =
        ["5 time_us bad_value", "6 status unknown_event_type", "7 machine_name empty_mandatory"];
    assert_eq!(found.rejects(), bad);
    let columns = [
        "time_us",
        "event_type",
        "machine_name",
        "cpu_capacity",
        "memory_capacity",
        "status",
        "detail",
    ];
    let row = |row: usize| columns.map(|column| found.cell(column, row));
    assert_eq!(row(0), ["0", "0", "1", "64", "0.68", "add", "-"]);
    assert_eq!(row(2), ["50000000", "2", "1", "64", "0.68", "softerror", "disk_full"]);
    assert_eq!(row(3), ["60000000", "2", "2", "32", "1", "harderror", "-"]);
    assert_eq!(found.cell("machine_id", 0), found.cell("machine_id", 2));
    let errors = "errors of machines without a duration: the machine stays";
    assert_eq!(found.notes.remarks[errors], 2);
}

#[test]
fn what_does_not_parse_of_an_instance_is_a_reject() {
    for (line, expected) in [
        ("10,90,3,4,17,Failed,1,1,,,", "2  too_few_columns"),
        ("x,90,3,4,17,Failed,1,1,,,,", "2 start_timestamp bad_value"),
        ("10,soon,3,4,17,Failed,1,1,,,,", "2 end_timestamp bad_value"),
        ("10,90,j,4,17,Failed,1,1,,,,", "2 job_id bad_value"),
        ("10,90,3,4,17,Gone,1,1,,,,", "2 status unknown_event_type"),
        ("10,90,3,4,17,Failed,,1,,,,", "2 seq_no empty_mandatory"),
        ("10,90,3,4,17,Failed,1,x,,,,", "2 total_seq_no bad_value"),
        ("10,90,3,4,17,Failed,1,1,,-1,,", "2 real_cpu_avg bad_value"),
        ("10,90,3,4,17,Failed,1,1,,,,no", "2 real_mem_avg bad_value"),
    ] {
        let text = format!("1,2,1,1,1,Terminated,1,1,,,,\n{line}\n");
        for table in [Table::JobEvents, Table::TaskEvents] {
            assert_eq!(parsed(Source::Alibaba2017, table, &text).rejects(), [expected], "{line}");
        }
    }
}

#[test]
fn a_folder_of_tables_is_one_trace_and_a_table_alone_is_one_too() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let tasks = put("batch_task.csv", "-5,90,3,1,2,Terminated,150,0.5\n");
    let instances = put(
        "batch_instance.csv",
        "10,80,3,1,17,Terminated,1,1,,,,\n20,90,3,1,17,Terminated,1,1,,,,\n\
         20,90,3,2,17,Terminated,1,1,,,,\n",
    );
    put("server_event.csv", "0,17,add,,64,1,1\n");
    put("server_usage.csv", "0,17,30,40,50,1,2,3\n");
    put("container_event.csv", "0,Create,1,17,4,0.1,0.1,1|2|3|4\n");
    let trace = open_trace(folder.path(), None, None).unwrap();
    assert_eq!((trace.source, trace.parts.len()), (Source::Alibaba2017, 3));
    assert_eq!(trace.ignored, ["container_event.csv", "server_usage.csv"]);
    let of = |table| parsed_part(&trace.parts[&table][0]);
    let found = of(Table::TaskEvents);
    assert_eq!(found.block.row_ids.len(), 9);
    // Each instance has the request of its task.
    assert_eq!(
        (found.cell("cpu_request", 0), found.cell("cpu_request", 6)),
        ("1.5".into(), "-".into())
    );
    assert_eq!(found.notes.remarks["CPU request unknown: no CPU time is charged"], 1);
    let jobs = of(Table::JobEvents);
    assert_eq!(jobs.history(), "0 SUBMIT, 0 SCHEDULE, 90 FINISH");
    // A task of the lake is one instance.
    assert!(jobs.notes.remarks.keys().all(|said| !said.starts_with("tasks of several instances")));
    for alone in [&tasks, &instances] {
        let trace = open_trace(alone, None, None).unwrap();
        assert_eq!((trace.source, trace.parts.len()), (Source::Alibaba2017, 2), "{alone:?}");
    }
    assert!(open_trace(&folder.path().join("server_event.csv"), None, None).is_err());
}

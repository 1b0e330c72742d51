//! Rows of the three tables, in the exact form of the published schema.

use super::super::tests::{Rows, parsed, parsed_part};
use super::super::trace::open_trace;
use crate::schema::{Source, Table};

fn rows(table: Table, text: &str) -> Rows {
    let rows = parsed(Source::Alibaba2018, table, text);
    assert_eq!(rows.rejects(), Vec::<String>::new(), "{text}");
    rows
}

#[test]
fn every_status_ends_a_task_and_an_instance_as_it_says() {
    for (status, expected) in [
        ("Terminated", "10 SUBMIT, 10 SCHEDULE, 90 FINISH"),
        ("Failed", "10 SUBMIT, 10 SCHEDULE, 90 FAIL"),
        ("Cancelled", "10 SUBMIT, 10 SCHEDULE, 90 KILL"),
        ("Interrupted", "10 SUBMIT, 10 SCHEDULE, 90 KILL"),
        ("Running", "10 SUBMIT, 10 SCHEDULE"),
        ("Waiting", "10 SUBMIT"),
        ("Ready", "10 SUBMIT"),
    ] {
        let task = format!("M1,8,j_3,1,{status},10,90,50,0.5\n");
        let instance = format!("ins_4,M1,j_3,1,{status},10,90,m_7,1,1,50,80,0.5,0.6\n");
        for table in [Table::JobEvents, Table::TaskEvents] {
            for text in [&task, &instance] {
                let rows = rows(table, text);
                assert_eq!(rows.history(), expected, "{table} {text}");
                assert_eq!(rows.cell("job_id", 0), "3");
            }
        }
    }
}

#[test]
fn the_name_of_a_task_says_its_number_and_what_it_waits_for() {
    for (name, number, waits_for) in [
        ("M1", Some("1"), "-"),
        ("M5_3_4", Some("5"), "3 4"),
        ("R2_1_Stg7", Some("2"), "1"),
        ("J12_11", Some("12"), "11"),
        ("task_Nzg3ODAwNDgzMTAwNTc2NTQ2Mw==", None, "-"),
        ("MergeTask", None, "-"),
        ("M01_2", None, "-"),
        ("7_1", None, "-"),
    ] {
        let rows = rows(Table::TaskEvents, &format!("{name},1,j_3,1,Terminated,10,90,50,0.5\n"));
        let index = rows.cell("task_index", 0);
        match number {
            Some(number) => assert_eq!(index, number, "{name}"),
            None => assert!(1 << 20 <= index.parse::<i32>().unwrap(), "{name}: {index}"),
        }
        assert_eq!(rows.cell("depends_on", 0), waits_for, "{name}");
        let is_counted = rows.notes.remarks.contains_key("task names without dependencies");
        assert_eq!(is_counted, number.is_none(), "{name}");
    }
}

#[test]
fn requests_are_in_cores_and_what_is_not_known_is_missing() {
    let columns = ["cpu_request", "memory_request", "instances"];
    for (amounts, expected) in [
        ("50,0.5", ["4", "0.04", "8"]),
        ("-1,101", ["-", "-", "8"]),
        ("101,-1", ["8.08", "-", "8"]),
        (",", ["-", "-", "8"]),
    ] {
        let rows = rows(Table::TaskEvents, &format!("M1,8,j_3,1,Terminated,10,90,{amounts}\n"));
        assert_eq!(columns.map(|column| rows.cell(column, 0)), expected, "{amounts}");
    }
}

#[test]
fn a_time_of_0_is_outside_of_the_trace() {
    let history = |status: &str, times: &str| {
        let text = format!("M1,8,j_3,1,{status},{times},50,0.5\n");
        rows(Table::TaskEvents, &text).history()
    };
    assert_eq!(history("Terminated", "0,90"), "0 SUBMIT, 0 SCHEDULE, 90 FINISH");
    assert_eq!(history("Terminated", "10,0"), "10 SUBMIT, 10 SCHEDULE");
    assert_eq!(history("Waiting", "0,0"), "0 SUBMIT");
    assert_eq!(history("Failed", "90,10"), "90 SUBMIT, 90 SCHEDULE, 90 FAIL");
}

#[test]
fn tries_of_an_instance_are_attempts_of_one_task() {
    let text = "ins_4,M1,j_3,1,Failed,10,20,m_7,1,2,50,80,0.5,0.6\n\
                ins_4,M1,j_3,1,Terminated,30,90,m_8,2,2,50,80,0.5,0.6\n\
                ins_5,M1,j_3,1,Terminated,10,40,m_7,1,2,50,80,0.5,0.6\n\
                ins_5,M1,j_3,1,Interrupted,30,95,m_8,2,2,50,80,0.5,0.6\n\
                ins_6,M1,j_3,1,Interrupted,10,95,m_7,1,2,50,80,0.5,0.6\n\
                ins_6,M1,j_3,1,Terminated,60,95,m_8,2,2,50,80,0.5,0.6\n";
    let rows_of = |table| rows(table, text);
    let tasks = rows_of(Table::TaskEvents);
    assert_eq!(
        tasks.history(),
        "10 SUBMIT, 10 SCHEDULE, 20 FAIL, 30 SCHEDULE, 90 FINISH, 10 SUBMIT, 10 SCHEDULE, \
        40 FINISH, 10 SUBMIT, 10 SCHEDULE, 60 SCHEDULE, 95 FINISH"
    );
    assert_eq!(
        (tasks.cell("end_reason", 2), tasks.cell("end_reason", 9)),
        ("Failed".into(), "-".into())
    );
    assert_eq!(tasks.notes.remarks["backups that lost (Interrupted): left out"], 1);
    let first = "first tries that lost against a backup (Interrupted): end where the next starts";
    assert_eq!(tasks.notes.remarks[first], 1);
    assert_eq!((tasks.cell("task_index", 0), tasks.cell("attempt", 3)), ("4".into(), "2".into()));
    assert_eq!(tasks.cell("mean_cpu", 0), "0.5");
    let later = "later tries of an instance: attempts without a SUBMIT";
    assert_eq!(tasks.notes.remarks[later], 2);
    // The failed first try and the lost backup do not decide the outcome.
    let jobs = rows_of(Table::JobEvents);
    assert_eq!(jobs.history(), "10 SUBMIT, 10 SCHEDULE, 95 FINISH");
    assert_eq!(jobs.cell("tasks", 0), "3");
}

#[test]
fn machines_are_added_once_and_then_change() {
    let text = "m_1,0,1,a,96,100,USING\nm_2,0,2,a,64,50,USING\nm_1,50,1,a,48,101,IMPORT\n\
                m_3,x,1,a,96,100,USING\n";
    let found = parsed(Source::Alibaba2018, Table::MachineEvents, text);
    assert_eq!(found.rejects(), ["4 time_us bad_value"]);
    let columns =
        ["time_us", "event_type", "machine_name", "cpu_capacity", "memory_capacity", "status"];
    let row = |row: usize| columns.map(|column| found.cell(column, row));
    assert_eq!(row(0), ["0", "0", "m_1", "96", "1", "USING"]);
    assert_eq!(row(1), ["0", "0", "m_2", "64", "0.5", "USING"]);
    // A share of 101 is unknown, so the previous one is kept.
    assert_eq!(row(2), ["50000000", "2", "m_1", "48", "1", "IMPORT"]);
    assert_eq!(found.cell("machine_id", 0), found.cell("machine_id", 2));
}

#[test]
fn what_does_not_parse_is_a_reject() {
    let check = |first: &str, line: &str, expected: &str| {
        let text = format!("{first}\n{line}\n");
        for table in [Table::JobEvents, Table::TaskEvents] {
            let rejects = parsed(Source::Alibaba2018, table, &text).rejects();
            assert_eq!(rejects, [expected], "{line}");
        }
    };
    let task = "M1,8,j_3,1,Terminated,10,90,50,0.5";
    for (line, expected) in [
        ("M1,8,j_3,1,Terminated,10,90,50", "2  too_few_columns"),
        ("M1,8,j_3,1,Terminated,10,90,50,0.5,9", "2  too_many_columns"),
        (",8,j_3,1,Terminated,10,90,50,0.5", "2 task_name empty_mandatory"),
        ("M1,,j_3,1,Terminated,10,90,50,0.5", "2 instances empty_mandatory"),
        ("M1,8,,1,Terminated,10,90,50,0.5", "2 job_name empty_mandatory"),
        ("M1,8,j_3,1,Gone,10,90,50,0.5", "2 status unknown_event_type"),
        ("M1,8,j_3,1,Terminated,-10,90,50,0.5", "2 start_time bad_value"),
        ("M1,8,j_3,1,Terminated,10,soon,50,0.5", "2 end_time bad_value"),
        ("M1,8,j_3,1,Terminated,10,90,-2,0.5", "2 plan_cpu bad_value"),
        ("M1,8,j_3,1,Terminated,10,90,50,x", "2 plan_mem bad_value"),
    ] {
        check(task, line, expected);
    }
    let instance = "ins_4,M1,j_3,1,Terminated,10,90,m_7,1,1,50,80,0.5,0.6";
    for (line, expected) in [
        ("ins_5,M1,j_3,1,Terminated,10,90,m_7,1,1,50,80,0.5", "2  too_few_columns"),
        (",M1,j_3,1,Terminated,10,90,m_7,1,1,50,80,0.5,1", "2 instance_name empty_mandatory"),
        ("ins_5,M1,j_3,1,Terminated,10,90,m_7,,1,50,80,0.5,1", "2 seq_no empty_mandatory"),
        ("ins_5,M1,j_3,1,Terminated,10,90,m_7,1,x,50,80,0.5,1", "2 total_seq_no bad_value"),
        ("ins_5,M1,j_3,1,Terminated,10,90,m_7,1,1,50,80,0.5,-7", "2 mem_max bad_value"),
    ] {
        check(instance, line, expected);
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
    let tasks = put("batch_task.csv", "M1,2,j_3,1,Terminated,10,90,150,0.5\n");
    let instances = put(
        "batch_instance.csv",
        "ins_4,M1,j_3,1,Terminated,10,80,m_7,1,1,50,80,0.5,0.6\n\
         ins_5,M1,j_3,1,Terminated,20,90,m_7,1,1,50,80,0.5,0.6\n\
         ins_6,M2,j_3,1,Terminated,20,90,m_7,1,1,50,80,0.5,0.6\n",
    );
    put("machine_meta.csv", "m_7,0,1,a,96,100,USING\n");
    put("container_meta.csv", "c_1,m_7,0,app_1,started,400,400,1.56\n");
    let trace = open_trace(folder.path(), None, None).unwrap();
    assert_eq!((trace.source, trace.parts.len()), (Source::Alibaba2018, 3));
    assert_eq!(trace.ignored, ["container_meta.csv"]);
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
    assert_eq!(jobs.history(), "10 SUBMIT, 10 SCHEDULE, 90 FINISH");
    // Only the table of instances has earlier tries.
    let latest = "only the latest state of a task is recorded: earlier tries are missing";
    assert!(!jobs.notes.remarks.contains_key(latest));
    let alone = parsed(Source::Alibaba2018, Table::JobEvents, "M1,1,j_3,1,Failed,10,90,1,1\n");
    assert_eq!(alone.notes.remarks[latest], 1);
    for alone in [&tasks, &instances] {
        let trace = open_trace(alone, None, None).unwrap();
        assert_eq!((trace.source, trace.parts.len()), (Source::Alibaba2018, 2), "{alone:?}");
    }
    assert!(open_trace(&folder.path().join("machine_meta.csv"), None, None).is_err());
    put("batch_task_again.csv", "M1,2,j_3,1,Terminated,10,90,150,0.5\n");
    assert!(open_trace(folder.path(), None, None).is_err());
}

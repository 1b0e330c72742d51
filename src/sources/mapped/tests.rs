//! Maps, mistakes in them, and rows that are read with them.

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::tests::{Rows, parsed_part};
use super::table::TableRows;
use crate::schema::{Source, Table};
use crate::sources::folder::RawPart;
use crate::sources::map::Map;
use crate::sources::propose::{preview, propose};
use crate::sources::reading::Reading;
use crate::sources::zone::Zone;

/// The rows of a text, read with a map.
fn read(map: &str, text: &str, table: Table) -> Rows {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text).unwrap();
    let map = Map::read(map).unwrap();
    let reading = Reading { map: Some(Arc::new(map)), ..Reading::default() };
    let part = RawPart::of_file(Source::Mapped, table, (0, Some(1)), &path).unwrap();
    parsed_part(&RawPart { reading: Arc::new(reading), ..part })
}

/// Checks the events of a text that is read with a map, in both tables, and its remarks.
#[track_caller]
fn check(map: &str, text: &str, expected: &str, remarks: &[&str]) {
    for table in [Table::JobEvents, Table::TaskEvents] {
        let rows = read(map, text, table);
        assert_eq!(rows.rejects(), Vec::<String>::new(), "{text}");
        assert_eq!(rows.history(), expected, "{text}");
        let found: Vec<&str> = rows.notes.remarks.keys().copied().collect();
        assert_eq!(found, remarks, "{text}");
    }
}

const STATES: &str = "[states]\nok = \"finished\"\nbad = \"failed\"\n\"stop*\" = \"killed\"\nrun = \"running\"\nwait = \"pending\"\nno = \"skip\"\n";

#[test]
fn what_a_row_lacks_is_derived_and_counted() {
    let no_cpus = "CPUs unknown: no CPU time is charged";
    for (columns, header, row, expected, remarks) in [
        (
            "submit={column='a',unit='s'}\nstart={column='b',unit='s'}\nend={column='c',unit='s'}",
            "a,b,c",
            "1,5,9",
            "1 SUBMIT, 5 SCHEDULE, 9 FINISH",
            vec!["no state: taken as finished, as it ended"],
        ),
        (
            "start={column='b',unit='s'}\nrun={column='r',unit='min'}",
            "b,r",
            "5,1.5",
            "5 SUBMIT, 5 SCHEDULE, 95 FINISH",
            vec![
                "no end time: start and run time",
                "no state: taken as finished, as it ended",
                "no submit time: submitted at the start",
            ],
        ),
        (
            "end={column='c',unit='s'}\nrun={column='r',unit='s'}\nwait={column='w',unit='s'}",
            "c,r,w",
            "50,10,30",
            "10 SUBMIT, 40 SCHEDULE, 50 FINISH",
            vec![
                "no start time: end minus the run time",
                "no state: taken as finished, as it ended",
                "no submit time: start minus the wait",
            ],
        ),
        (
            "submit={column='a',unit='ms'}\nwait={column='w',format='clock'}\nrun={column='r',unit='h'}",
            "a,w,r",
            "1000,00:00:09,1",
            "1 SUBMIT, 10 SCHEDULE, 3610 FINISH",
            vec![
                "no end time: start and run time",
                "no start time: submit and wait",
                "no state: taken as finished, as it ended",
            ],
        ),
    ] {
        let map = format!("[columns]\n{columns}\n");
        let mut remarks: Vec<&str> =
            [vec![no_cpus, "no job: the number of the line"], remarks].concat();
        remarks.sort_unstable();
        check(&map, &format!("{header}\n{row}\n"), expected, &remarks);
    }
}

#[test]
fn a_run_time_longer_than_the_span_is_counted() {
    let map = "[columns]\njob='j'\nstart={column='a',unit='s'}\nend={column='b',unit='s'}\nrun={column='r',unit='s'}\ncpus='n'\nstate='s'\n[states]\nok='finished'\nrun='running'";
    let submitted = "no submit time: submitted at the start";
    let longer = "run time longer than from start to end: ended at the start and run time";
    let shorter =
        "run time shorter than from start to end: suspended, which counts as spread evenly";
    for (row, expected, remarks) in [
        ("7,10,70,3600,4,ok", "10 SUBMIT, 10 SCHEDULE, 3610 FINISH", &[submitted, longer][..]),
        // The clock was set forward or back between the start and the end.
        ("7,70,10,30,4,ok", "70 SUBMIT, 70 SCHEDULE, 100 FINISH", &[submitted, longer]),
        ("7,10,70,60,4,ok", "10 SUBMIT, 10 SCHEDULE, 70 FINISH", &[submitted]),
        ("7,10,70,50,4,ok", "10 SUBMIT, 10 SCHEDULE, 70 FINISH", &[submitted, shorter]),
        ("7,10,70,3600,4,run", "10 SUBMIT, 10 SCHEDULE", &[submitted]),
    ] {
        check(map, &format!("j,a,b,r,n,s\n{row}\n"), expected, remarks);
    }
}

#[test]
fn states_mean_what_the_map_says() {
    let map = format!(
        "[columns]\njob='j'\nsubmit={{column='a',unit='s'}}\nstart={{column='b',unit='s'}}\nend={{column='c',unit='s'}}\nstate='s'\ncpus='n'\n{STATES}"
    );
    for (row, expected, remarks) in [
        ("7,1,5,9,ok,2", "1 SUBMIT, 5 SCHEDULE, 9 FINISH", &[][..]),
        ("7,1,5,9,BAD,2", "1 SUBMIT, 5 SCHEDULE, 9 FAIL", &[]),
        ("7,1,5,9,stopped by 5,2", "1 SUBMIT, 5 SCHEDULE, 9 KILL", &[]),
        ("7,1,,9,stop,2", "1 SUBMIT, 9 KILL", &[]),
        ("7,1,5,9,run,2", "1 SUBMIT, 5 SCHEDULE", &[]),
        ("7,1,5,9,wait,2", "1 SUBMIT", &[]),
        ("7,1,5,9,no,2", "", &["rows with a state that the map skips: left out"]),
        ("7,1,5,,ok,2", "1 SUBMIT, 5 SCHEDULE", &["ended, but no end time: left open"]),
    ] {
        check(&map, &format!("j,a,b,c,s,n\n{row}\n"), expected, remarks);
    }
    let rows = read(
        &map,
        "j,a,b,c,s,n\n7,1,5,9,gone,2\n8,1,5\nx,1,5,9,ok,2,9\n,1,5,9,ok,2\n9,1,b,9,ok,2\n9,1,5,9,ok,two\n9,,,,wait,2\n",
        Table::TaskEvents,
    );
    assert_eq!(
        rows.rejects(),
        [
            "2 state unknown_event_type",
            "3  too_few_columns",
            "4  too_many_columns",
            "5 job empty_mandatory",
            "6 start bad_value",
            "7 cpus bad_value",
            "8 submit empty_mandatory",
        ]
    );
}

#[test]
fn what_ended_without_a_start_and_a_running_time_never_ran() {
    let columns = |start: &str| {
        format!(
            "[columns]\njob='j'\nsubmit={{column='a',unit='s'}}\n{start}end={{column='c',unit='s'}}\nrun={{column='r',unit='s'}}\nstate='s'\ncpus='n'\n{STATES}"
        )
    };
    let map = columns("start={column='b',unit='s'}\n");
    let derived = "no start time: end minus the run time";
    let never = "ended before a start: no SCHEDULE";
    for (row, expected, remarks) in [
        ("7,1,,9,0,stop,2", "1 SUBMIT, 9 KILL", &[never][..]),
        ("7,1,,9,0,BAD,2", "1 SUBMIT, 9 FAIL", &[never]),
        // It finished, so it ran. Or it has a running time, or its start is known.
        ("7,1,,9,0,ok,2", "1 SUBMIT, 9 SCHEDULE, 9 FINISH", &[derived]),
        ("7,1,,9,3,stop,2", "1 SUBMIT, 6 SCHEDULE, 9 KILL", &[derived]),
        ("7,1,9,9,0,stop,2", "1 SUBMIT, 9 SCHEDULE, 9 KILL", &[]),
    ] {
        check(&map, &format!("j,a,b,c,r,s,n\n{row}\n"), expected, remarks);
    }
    // A table without a column of starts says nothing about them.
    let text = "j,a,c,r,s,n\n7,1,9,0,ok,2\n";
    check(&columns(""), text, "1 SUBMIT, 9 SCHEDULE, 9 FINISH", &[derived]);
}

#[test]
fn a_column_that_is_submission_and_start_gives_no_wait() {
    let map = format!(
        "[columns]\njob='j'\nsubmit={{column='a',unit='s'}}\nstart={{column='a',unit='s'}}\nend={{column='c',unit='s'}}\nstate='s'\ncpus='n'\n{STATES}"
    );
    let no_wait = "no submit time: submitted at the start";
    for (row, expected, remarks) in [
        ("7,5,9,ok,2", "5 SUBMIT, 5 SCHEDULE, 9 FINISH", &[no_wait][..]),
        ("7,5,,run,2", "5 SUBMIT, 5 SCHEDULE", &[no_wait]),
        ("7,5,,wait,2", "5 SUBMIT", &[]),
    ] {
        check(&map, &format!("j,a,c,s,n\n{row}\n"), expected, remarks);
    }
    let rows = read(&map, "j,a,c,s,n\n7,5,9,ok,2\n", Table::TaskEvents);
    assert_eq!(rows.cell("wait_us", 0), "-");
}

/// A map of a table with names.
const NAMED: &str =
    "[columns]\njob='j'\nstart={column='a',unit='s'}\nend={column='b',unit='s'}\nname='n'\n";

#[test]
fn a_field_in_quotes_may_have_line_ends() {
    let text = "j,a,b,n\n1,5,9,\"multi\r\n\nline\"\n2,5,9,\"one, \"\"two\"\"\"\n3,x,9,y\n4,5,9,z\n";
    let rows = read(NAMED, text, Table::TaskEvents);
    assert_eq!(rows.rejects(), ["6 start bad_value"], "lines are those of the file");
    assert_eq!(rows.cell("executable", 0), "multi  line");
    assert_eq!(rows.cell("executable", 3), "one, \"two\"");
    assert_eq!(rows.cell("executable", 6), "z");
    assert_eq!(rows.notes.remarks["rows with a line end within quotes: read as one row"], 1);
    assert_eq!(rows.notes.remarks["rows with line ends in their texts: read as spaces"], 1);
    let rows = read(NAMED, "{\"j\":1,\"a\":5,\"b\":9,\"n\":\"x\\ny\"}\n", Table::TaskEvents);
    assert_eq!(rows.cell("executable", 0), "x y");
    // The header may have line ends too.
    let map = NAMED.replace("name='n'", "name=\"n\\n(text)\"");
    let text = "j,a,b,\"n\n(text)\"\n1,5,9,x\n2,5,y,\n";
    let rows = read(&map, text, Table::TaskEvents);
    assert_eq!(
        (rows.rejects(), rows.cell("executable", 0)),
        (vec!["4 end bad_value".into()], "x".into())
    );
    let shown = preview(text.as_bytes(), Map::read(&map).unwrap(), None, 9).unwrap();
    assert_eq!(shown.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [3, 4]);
    let proposal = propose(b"Job,Start,End,\"CPU\ncount\",Note\n1,5,9,2,\"a\nb,c\"\n").unwrap();
    assert!(proposal.text.contains("Start"), "{}", proposal.text);
}

#[test]
fn a_quote_that_is_not_closed_costs_its_own_row() {
    let text = "j,a,b,n\n1,5,9,\"open\n2,5,9,5\" disk\n3,5,9,\"open\n4,5,9,x\n";
    let rows = read(NAMED, text, Table::TaskEvents);
    assert_eq!(rows.rejects(), ["2  line_end_in_quotes", "4  line_end_in_quotes"]);
    assert_eq!(rows.cell("executable", 0), "5\" disk");
    assert_eq!(rows.cell("executable", 3), "x");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    /// Promise: rows with line ends in quotes are read whole, no matter where the file is cut into
    /// blocks, and rejects have the lines of the file.
    #[test]
    fn rows_of_several_lines_are_read_across_blocks(
        rows in prop::collection::vec(("[ab,\"\n]{0,9}", any::<bool>()), 1..40),
        fill in 1_usize..20_000,
    ) {
        let (mut text, mut line) = ("j,a,b,n\n".to_owned(), 2);
        let (mut names, mut rejects) = (Vec::new(), Vec::new());
        for (number, (name, is_good)) in rows.iter().enumerate() {
            let name = format!("<{name}{}>", "x".repeat(fill % 300));
            let end = if *is_good { "9" } else { "?" };
            let in_quotes = name.replace('"', "\"\"");
            writeln!(text, "{number},5,{end},\"{in_quotes}\"").unwrap();
            if *is_good {
                names.push(name.replace('\n', " "));
            } else {
                rejects.push(format!("{line} end bad_value"));
            }
            line += 1 + name.matches('\n').count();
            // Blank lines, so that blocks end anywhere.
            let blank = fill * (number + 1) % 20_000;
            text.push_str(&"\n".repeat(blank));
            line += blank;
        }
        let found = read(NAMED, &text, Table::TaskEvents);
        prop_assert_eq!(found.rejects(), rejects);
        prop_assert_eq!(found.block.line_count + 1, line as u64);
        let read: Vec<String> = (0..names.len()).map(|row| found.cell("executable", 3 * row)).collect();
        prop_assert_eq!(read, names);
    }
}

#[test]
fn amounts_have_the_unit_that_the_map_says() {
    let cell = |line: &str, text: &str, column: &str| {
        let map = format!(
            "[table]\nseparator=';'\ndecimal=','\n[columns]\nstart={{column='a',unit='s'}}\nrun={{column='r',unit='s'}}\n{line}\n"
        );
        let table = if column == "job_name" { Table::JobEvents } else { Table::TaskEvents };
        let rows = read(&map, &format!("a;r;x\n0;10;{text}\n"), table);
        assert_eq!(rows.rejects(), Vec::<String>::new(), "{line}");
        rows.cell(column, 1)
    };
    for (line, text, column, expected) in [
        ("cpus='x'", "4", "cpu_request", "4"),
        ("cpus={column='x',unit='milli-cores'}", "1500", "cpu_request", "1.5"),
        ("cpus={column='x',unit='percent'}", "250", "cpu_request", "2.5"),
        ("cpus='x'", "0,5", "cpu_request", "0.5"),
        ("memory={column='x',unit='bytes'}", "2048", "memory_request", "2"),
        ("memory={column='x',unit='GiB'}", "1,5", "memory_request", "1572864"),
        ("memory={column='x',unit='KB'}", "1024", "memory_request", "1000"),
        ("gpus='x'", "2", "gpu_request", "2"),
        ("gpus={column='x',unit='milli-gpus'}", "500", "gpu_request", "0.5"),
        ("time_limit={column='x',unit='min'}", "1,5", "requested_time_us", "90000000"),
        ("priority='x'", "-3", "priority", "-3"),
        ("user='x'", "Jürgen Öl", "user", "Jürgen Öl"),
        ("job='x'", "0012", "job_name", "0012"),
        ("job='x'", "12", "job_id", "12"),
    ] {
        assert_eq!(cell(line, text, column), expected, "{line} {text}");
    }
}

#[test]
fn means_are_per_cpu_even_of_a_part_of_one() {
    let map = "[columns]\nstart={column='a',unit='s'}\nrun={column='r',unit='s'}\ncpus={column='n',unit='milli-cores'}\ncpu_time={column='t',unit='s'}\nused_memory={column='m',unit='KiB'}\n";
    let text = "a,r,n,t,m\n0,10,500,100,5\n0,10,1500,300,6\n0,10,2000,300,6\n0,10,,300,6\n0,10,0.000000001,9000000,6\n";
    let rows = read(map, text, Table::TaskEvents);
    let columns = ["cpu_request", "processors", "cpu_time_us", "used_memory_kib"];
    for (row, expected) in [
        ["0.5", "-", "200000000", "10"],
        ["1.5", "-", "200000000", "4"],
        ["2", "2", "150000000", "3"],
        ["-", "-", "-", "-"],
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(columns.map(|column| rows.cell(column, 3 * row + 1)), expected, "{row}");
    }
    assert_eq!(rows.cell("cpu_time_us", 13), "-");
    let wording = "CPU time too large for so small a part of a CPU: taken as unknown";
    assert_eq!(rows.notes.remarks.get(wording), Some(&1));
}

#[test]
fn objects_and_deeper_columns_are_read() {
    let map = "[columns]\njob='id'\nsubmit={column='t.submit',unit='s'}\nstart={column='tries[0].from',unit='s'}\nend={column='tries[-1].to',unit='s'}\ncpus='n'\nstate='s'\n[states]\nok='finished'";
    let text = "{\"id\":\"a b\",\"t\":{\"submit\":1},\"tries\":[{\"from\":5,\"to\":6},{\"from\":7,\"to\":9}],\"n\":2,\"s\":\"ok\"}\n";
    check(map, text, "1 SUBMIT, 5 SCHEDULE, 9 FINISH", &[]);
    let rows = read(map, &format!("{text}{{\"id\":\n"), Table::TaskEvents);
    assert_eq!(rows.rejects(), ["2  bad_value"]);
}

const JOBS: &str = "[table]\nattempts='tries'\nbefore_last='failed'\n[columns]\njob='id'\nsubmit={column='at',unit='s'}\nstart={column='tries[].from',unit='s'}\nend={column='tries[].to',unit='s'}\ncpus='n'\nmachines={column='tries[].on[*].m',optional=true}\ngpus={column='tries[].on[*].g[*]',count=true,optional=true}\nstate='s'\n[states]\nok='finished'\nstop='killed'";

#[test]
fn a_preview_shows_gpus_and_limits() {
    let map = "[columns]\njob='id'\nstart={column='from',unit='s'}\nrun={column='run',unit='s'}\ngpus='g'\ntime_limit={column='l',unit='min'}";
    let text = b"id,from,run,g,l\n1,5,6,0.5,90\n";
    let shown = preview(text, Map::read(map).unwrap(), None, 10).unwrap();
    assert_eq!(shown.rows[0].cells.clone().unwrap()[8..], ["0.5", "5400"]);
}

#[test]
fn a_job_may_hold_its_attempts() {
    let text = "[{\"id\":1,\"at\":0,\"n\":2,\"s\":\"ok\",\"tries\":[{\"from\":5,\"to\":6,\"on\":[{\"m\":\"a\",\"g\":[0,1]},\n{\"m\":\"b\",\"g\":[7]}]},{\"from\":7,\"to\":9,\"on\":[{\"m\":\"c\",\"g\":[]}]}]},\n{\"id\":2,\"at\":3,\"n\":2,\"s\":\"stop\",\"tries\":[]}]\n";
    let rows = read(JOBS, text, Table::TaskEvents);
    assert_eq!(rows.rejects(), Vec::<String>::new());
    assert_eq!(
        rows.history(),
        "0 SUBMIT, 5 SCHEDULE, 6 FAIL, 7 SUBMIT, 7 SCHEDULE, 9 FINISH, 3 SUBMIT"
    );
    let remarks: Vec<&str> = rows.notes.remarks.keys().copied().collect();
    assert_eq!(
        remarks,
        [
            "attempts before the last of their job: ended as `before_last` in the map says",
            "ended, but no end time: left open",
            "no submit time of a later attempt: submitted at its start",
            "ran on several machines: all in `node_list`, none in `machine_id`",
        ]
    );
    let of = |column, row| rows.cell(column, row);
    assert_eq!((of("gpu_request", 1), of("node_list", 1)), ("3".into(), "a,b".into()));
    assert_eq!((of("gpu_request", 4), of("node_list", 4)), ("-".into(), "c".into()));
}

#[test]
fn a_bad_attempt_costs_its_job() {
    let text = "{\"id\":1,\"at\":0,\"n\":1,\"s\":\"ok\",\"tries\":[{\"from\":5,\"to\":6},{\"from\":\"x\",\"to\":8},{\"from\":9,\"to\":10}]}\n";
    let rows = read(JOBS, text, Table::TaskEvents);
    assert_eq!(rows.rejects(), ["1 start bad_value"]);
    assert_eq!(rows.history(), "");
}

#[test]
fn attempts_of_a_list_are_those_that_took_place() {
    let job = |more: &str, tries: &str| {
        format!("{{\"id\":1,\"at\":0,\"n\":1,{more}\"tries\":[{tries}]}}\n")
    };
    let history = |map: &str, text: String| read(map, &text, Table::TaskEvents).history();
    let two = "{\"from\":5,\"to\":6},{\"from\":7,\"to\":8}";
    // An attempt that never began does not count, so that the one before it is the last.
    let unborn = "{\"from\":5,\"to\":6},{\"from\":null,\"to\":null}";
    assert_eq!(history(JOBS, job("\"s\":\"stop\",", unborn)), "0 SUBMIT, 5 SCHEDULE, 6 KILL");
    // A job that is skipped is skipped with all its attempts.
    let skips = format!("{JOBS}\nno='skip'");
    assert_eq!(history(&skips, job("\"s\":\"no\",", two)), "");
    // Without a state, the last has finished and the others have not.
    let finished = "0 SUBMIT, 5 SCHEDULE, 6 FAIL, 7 SUBMIT, 7 SCHEDULE, 8 FINISH";
    assert_eq!(history(JOBS, job("\"s\":null,", two)), finished);
    // If the state of an attempt is known, it is used.
    let own = JOBS.replace("state='s'", "state='tries[].s'");
    let tries = "{\"from\":5,\"to\":6,\"s\":\"stop\"},{\"from\":7,\"to\":8,\"s\":\"ok\"}";
    assert_eq!(history(&own, job("", tries)), finished.replace("FAIL", "KILL"));
    // A wait of the job is that of its first attempt.
    let waits = JOBS.replace("cpus='n'", "cpus='n'\nwait={column='w',unit='s'}");
    assert_eq!(history(&waits, job("\"w\":5,\"s\":\"ok\",", two)), finished);
    // Lists may be empty in all rows.
    let empty = job("\"s\":\"stop\",", "");
    assert_eq!(history(JOBS, empty), "0 SUBMIT");
}

proptest! {
    /// Promise: a table of jobs with lists of attempts is read as the same attempts, each in a
    /// separate row. These rows have different numbers, in the order of the attempts.
    #[test]
    fn attempts_of_jobs_are_read_as_rows_of_attempts(
        jobs in prop::collection::vec(prop::collection::vec((0_i64..50, 1_i64..50), 1..4), 1..5),
    ) {
        let (mut nested, mut flat) = (String::from("["), String::from("id,at,from,to,n,s\n"));
        for (id, tries) in jobs.iter().enumerate() {
            let (mut at, mut items, count) = (i64::try_from(id).unwrap() * 7, Vec::new(), tries.len());
            let submit = at;
            for (idx, (wait, run)) in tries.iter().enumerate() {
                let (from, to) = (at + wait, at + wait + run);
                items.push(format!("{{\"from\":{from},\"to\":{to}}}"));
                let submit = if idx == 0 { submit.to_string() } else { String::new() };
                let state = if idx + 1 == count { "ok" } else { "again" };
                writeln!(flat, "{id},{submit},{from},{to},1,{state}").unwrap();
                at = to;
            }
            let comma = if id == 0 { "" } else { ",\n" };
            write!(nested, "{comma}{{\"id\":{id},\"at\":{submit},\"n\":1,\"s\":\"ok\",\"tries\":[{}]}}", items.join(",")).unwrap();
        }
        nested.push(']');
        let of_rows = "[columns]\njob='id'\nsubmit={column='at',unit='s'}\nstart={column='from',unit='s'}\nend={column='to',unit='s'}\ncpus='n'\nstate='s'\n[states]\nok='finished'\nagain='failed'";
        for table in [Table::JobEvents, Table::TaskEvents] {
            let (nested, flat) = (read(JOBS, &nested, table), read(of_rows, &flat, table));
            prop_assert_eq!(nested.history(), flat.history());
            let mut ids = nested.block.row_ids.clone();
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), flat.block.row_ids.len());
        }
    }
}

#[test]
fn attempts_that_overlap_are_counted() {
    let map =
        "[columns]\njob='id'\nstart={column='from',unit='s'}\nend={column='to',unit='s'}\ncpus='n'";
    let counted = |rows: &str| {
        let rows = read(map, &format!("id,from,to,n\n{rows}"), Table::TaskEvents);
        let wording = "attempts of a task that overlap: an end ends both";
        rows.notes.remarks.get(wording).copied()
    };
    assert_eq!(counted("1,5,9,1\n1,7,12,1\n"), Some(1));
    assert_eq!(counted("1,7,12,1\n1,5,9,1\n"), Some(1));
    assert_eq!(counted("1,5,9,1\n1,9,12,1\n2,6,10,1\n"), None);
    // An attempt without an end ends when the next starts.
    assert_eq!(counted("1,5,,1\n1,9,12,1\n"), None);
}

#[test]
fn an_hour_that_comes_twice_is_fitted_by_the_run() {
    if "Europe/Berlin".parse::<Zone>().is_err() {
        // Some systems have no zone files.
        return;
    }
    let map = "[table]\nseparator=';'\ntimezone='Europe/Berlin'\n[columns]\njob='j'\nstart={column='a',format='%d.%m.%Y %H:%M'}\nend={column='b',format='%d.%m.%Y %H:%M'}\nrun={column='r',unit='min'}\ncpus='n'";
    let text = "j;a;b;r;n\n7;29.10.2023 02:50;29.10.2023 02:10;20;1\n";
    let twice = "ambiguous local times (the clock was set back): decided by the run time";
    check(
        map,
        text,
        "1698540600 SUBMIT, 1698540600 SCHEDULE, 1698541800 FINISH",
        &[
            twice,
            "no state: taken as finished, as it ended",
            "no submit time: submitted at the start",
        ],
    );
}

/// Every mistake in a map is reported with its line.
#[test]
fn what_is_wrong_with_a_map_has_a_line() {
    let columns = "[columns]\nstart = { column = \"b\", unit = \"s\" }\nrun = { column = \"r\", unit = \"s\" }\n";
    for (text, line, problem) in [
        (format!("{columns}cpu = \"x\"\n"), 4, "unknown key `cpu` (known: job, user,"),
        (
            format!("{columns}wait = {{ column = \"w\", unit = \"fortnights\" }}\n"),
            4,
            "unknown unit `fortnights` (known: us, ms, s, min, h, d)",
        ),
        (format!("{columns}memory = \"m\"\n"), 4, "it needs a `unit`: bytes, KB,"),
        (
            format!("{columns}user = {{ column = \"u\", unit = \"s\" }}\n"),
            4,
            "a column of this kind has no unit",
        ),
        (format!("{columns}user = {{ name = \"u\" }}\n"), 4, "unknown key `name`"),
        (
            format!("{columns}user = {{ optional = true }}\n"),
            4,
            "`user` does not name its `column`",
        ),
        (format!("{columns}user = 5\n"), 4, "`user` is a column:"),
        (
            format!("{columns}submit = {{ column = \"s\", format = \"%d.%Q\" }}\n"),
            4,
            "`%Q` is not known",
        ),
        (format!("{columns}state = \"s\"\n"), 4, "`state` needs a table [states]"),
        (
            format!("{columns}state = \"s\"\n[states]\nok = \"fine\"\n"),
            6,
            "unknown outcome `fine` (known: finished,",
        ),
        (format!("[table]\ndecimal = \"x\"\n{columns}"), 2, "the decimal sign is `,` or `.`"),
        (format!("[table]\nseparator = \"::\"\n{columns}"), 2, "a separator is one character"),
        (
            format!("[table]\ntimezone = \"Berlin/Mitte\"\n{columns}"),
            2,
            "`Berlin/Mitte` is not a time zone",
        ),
        (format!("[tabel]\n{columns}"), 1, "unknown key `tabel`"),
        ("[columns]\nstart = \"a\"\n".to_owned(), 1, "nothing says when a job ended"),
        ("[columns]\nend = \"a\"\n".to_owned(), 1, "nothing says when a job began"),
        ("[columns]\nrun = { column = \"r\", unit = \"s\" }\n".to_owned(), 1, "it names no time"),
        ("[columns\n".to_owned(), 1, ""),
        ("a = 1\n".to_owned(), 1, "unknown key `a`"),
    ] {
        let mistake = Map::read(&text).unwrap_err();
        assert_eq!(mistake.line, line, "{text}: {mistake}");
        assert!(mistake.problem.starts_with(problem), "{text}: {mistake}");
    }
    let map = Map::read(columns).unwrap();
    let mistake = TableRows::of(&map, b"b,x\n1,2\n").err().unwrap();
    assert_eq!(mistake.line, 3);
    assert_eq!(mistake.problem, "the table has no column `r` (it has: b, x)");
}

#[test]
fn every_ready_map_is_a_map() {
    for ready in crate::sources::propose::ready::READY {
        let map =
            Map::read(ready.text).unwrap_or_else(|mistake| panic!("{}: {mistake}", ready.name));
        assert!(ready.text.contains("not tested on the real file"), "{}", ready.name);
        assert!(!map.columns.is_empty());
    }
}

#[test]
fn a_queue_of_numbers_is_to_be_checked() {
    let check = |cells: [&str; 2], is_checked: bool| {
        let [one, other] = cells;
        let text = format!("job_id,start,end,queue\n1,5,9,{one}\n2,5,9,{other}\n");
        let proposal = propose(text.as_bytes()).unwrap();
        let line = proposal.text.lines().find(|line| line.starts_with("queue = ")).unwrap();
        assert_eq!(line.contains("# CHECK: its cells are numbers"), is_checked, "{line}");
    };
    check(["32", "13.0"], true);
    check(["long", "13"], false);
}

#[test]
fn a_proposal_reads_the_table_that_it_was_made_for() {
    let text = "Auftragsnummer;Benutzer;Eingereicht;Beginn;Ende;Laufzeit (min);Kerne;Speicher (GB);Status\n\
        1;anna;05.03.2024 08:00;05.03.2024 08:10;05.03.2024 09:40;90,0;4;1,5;fertig\n\
        2;bert;05.03.2024 08:05;05.03.2024 08:20;05.03.2024 08:50;30,0;8;2,0;abgebrochen\n\
        3;anna;05.03.2024 09:00;;;;2;0,5;wartend\n";
    let proposal = propose(text.as_bytes()).unwrap();
    for line in [
        "separator = \";\"",
        "decimal = \",\"",
        "job = \"Auftragsnummer\"",
        "user = \"Benutzer\"",
        "submit = { column = \"Eingereicht\", format = \"%d.%m.%Y %H:%M\" }",
        "run = { column = \"Laufzeit (min)\", unit = \"min\" }",
        "memory = { column = \"Speicher (GB)\", unit = \"GB\" }",
        "cpus = \"Kerne\"",
        "\"fertig\" = \"finished\"",
        "\"abgebrochen\" = \"killed\"",
        "\"wartend\" = \"pending\"",
    ] {
        assert!(proposal.text.contains(line), "{line} is not in:\n{}", proposal.text);
    }
    assert_eq!(proposal.checks, 1, "{}", proposal.text);
    let shown = preview(text.as_bytes(), Map::read(&proposal.text).unwrap(), None, 10).unwrap();
    let first = shown.rows[0].cells.clone().unwrap();
    assert_eq!(
        first,
        [
            "1",
            "anna",
            "2024-03-05T08:00:00Z",
            "2024-03-05T08:10:00Z",
            "2024-03-05T09:40:00Z",
            "finished",
            "4",
            "1464843.8",
            "-",
            "-"
        ]
    );
    assert_eq!(shown.rows[2].cells.clone().unwrap()[5], "pending");
    for odd in [&b""[..], b"only one column\n1\n", b"a;b\xFF\n", b"PK\x03\x04\0\0"] {
        assert!(propose(odd).is_err());
    }
}

#[test]
fn what_a_proposal_had_to_guess_is_to_be_checked() {
    let of = |text: &str| propose(text.as_bytes()).unwrap().text;
    let line = |text: &str, begin: &str| {
        let text = of(text);
        let line = text.lines().find(|line| line.starts_with(begin));
        line.unwrap_or_else(|| panic!("{begin} is not in:\n{text}")).to_owned()
    };
    let dates = |one: &str, other: &str| {
        line(&format!("job,start,end\n1,{one},{one}\n2,{other},{other}\n"), "start = ")
    };
    let either = dates("03/04/2024 10:00", "05/04/2024 10:00");
    assert!(either.contains("\"%m/%d/%Y %H:%M\" }  # CHECK: day and month"), "{either}");
    assert!(!dates("03/04/2024 10:00", "05/24/2024 10:00").contains("CHECK"));
    assert!(dates("03/04/2024 10:00", "25/04/2024 10:00").ends_with("\"%d/%m/%Y %H:%M\" }"));
    let numbers = |at: &str| line(&format!("job,start,end\n1,{at},{at}\n"), "start = ");
    assert!(numbers("86400").contains("CHECK: small numbers"));
    assert!(!numbers("1704067200").contains("CHECK"));
    let names =
        of("Job ID,CPU cores,GPU count,Queue Wait (hours),Wall limit (h),queued,began,Endezeit\n\
        1,2,3,0.5,4,2024-01-01T00:00:00Z,2024-01-01T00:30:00Z,2024-01-01T01:00:00Z\n");
    for line in [
        "cpus = \"CPU cores\"",
        "gpus = \"GPU count\"",
        "wait = { column = \"Queue Wait (hours)\", unit = \"h\" }",
        "time_limit = { column = \"Wall limit (h)\", unit = \"h\" }",
        "submit = \"queued\"",
        "start = \"began\"",
        "end = \"Endezeit\"",
    ] {
        assert!(names.contains(line), "{line} is not in:\n{names}");
    }
    let nested =
        of("{\"id\":1,\"t\":{\"start\":1704067200,\"end\":1704067300},\"state\":\"ok\"}\n");
    assert!(nested.contains("start = { column = \"t.start\""), "{nested}");
}

/// Promise: two clusters may have jobs of the same number; the jobs of the first cluster keep
/// theirs.
#[test]
fn jobs_of_two_clusters_are_not_one_job() {
    let map =
        "[columns]\njob='j'\ncluster='c'\nstart={column='a',unit='s'}\nend={column='b',unit='s'}\n";
    let rows = read(map, "j,c,a,b\n7,one,5,9\n7,two,5,9\n8,one,6,9\n", Table::JobEvents);
    let jobs: std::collections::BTreeSet<String> =
        (0..rows.block.row_ids.len()).map(|row| rows.cell("job_id", row)).collect();
    assert_eq!(jobs.len(), 3, "{jobs:?}");
    assert!(jobs.contains("7") && jobs.contains("8"), "{jobs:?}");
}

/// Promise: the user who ended a job does not make a separate state, neither in a proposal nor as a
/// reason.
#[test]
fn a_state_that_names_a_user_is_one_state() {
    let text = "job,start,end,cpus,state\n1,1704067200,1704067300,1,CANCELLED by alice\n\
        2,1704067200,1704067300,1,CANCELLED by 1001\n3,1704067200,1704067300,1,OUT_OF_MEMORY\n\
        4,1704067200,1704067300,1,Aborted: exit 2\n";
    let proposal = propose(text.as_bytes()).unwrap();
    let states = proposal.text.split("[states]\n").nth(1).unwrap();
    assert_eq!(
        states,
        "\"Aborted:*\" = \"killed\"\n\"CANCELLED*\" = \"killed\"\n\"OUT_OF_MEMORY\" = \"failed\"\n"
    );
    let rows = read(&proposal.text, text, Table::JobEvents);
    let mut reasons: Vec<String> =
        (0..rows.block.row_ids.len()).map(|row| rows.cell("end_reason", row)).collect();
    reasons.dedup();
    assert_eq!(reasons, ["CANCELLED", "OUT_OF_MEMORY", "Aborted: exit 2"]);
}

#[test]
fn a_wrong_format_names_the_line_of_the_map() {
    let text = "job,start,end\n1,03.04.2024,04.04.2024\n";
    let map = "[columns]\njob = \"job\"\nstart = { column = \"start\", format = \"%m/%d/%Y\" }\n\
        end = { column = \"end\", format = \"%d.%m.%Y\" }\n";
    let shown = preview(text.as_bytes(), Map::read(map).unwrap(), None, 10).unwrap();
    assert_eq!(shown.rows[0].cells, Err("start bad_value (line 3 of the map)".to_owned()));
}

#[test]
fn a_table_without_a_known_job_is_to_be_checked() {
    let of = |name: &str| {
        let text = format!("{name};Startdatum;Enddatum\n7;05.03.2024 08:10;05.03.2024 09:40\n");
        propose(text.as_bytes()).unwrap()
    };
    let known = of("Job-Nr.");
    for line in
        ["job = \"Job-Nr.\"", "start = { column = \"Startdatum\"", "end = { column = \"Enddatum\""]
    {
        assert!(known.text.contains(line), "{line} is not in:\n{}", known.text);
    }
    let unknown = of("Vorgang");
    let check = "\n# job = \"...\"  # CHECK: without it, each row is another job";
    assert!(unknown.text.contains(check), "{}", unknown.text);
    assert_eq!(unknown.checks, known.checks + 1);
}

/// The unit follows from the jobs that have ended; others have no end and no run time.
#[test]
fn a_unit_is_reported_by_the_jobs_that_have_ended() {
    let text = "Nr.\tGestartet am\tBeendet am\tDauer\tErgebnis\n\
        1\t05.03.2024 08:10\t\t\tläuft\n\
        2\t05.03.2024 08:20\t05.03.2024 09:50\t90,0\tfertig\n\
        3\t\t\t\twartet\n\
        4\t05.03.2024 08:20\t05.03.2024 08:50\t30,0\tfertig\n";
    let proposal = propose(text.as_bytes()).unwrap();
    for line in [
        "start = { column = \"Gestartet am\", format = \"%d.%m.%Y %H:%M\" }",
        "end = { column = \"Beendet am\", format = \"%d.%m.%Y %H:%M\" }",
        "run = { column = \"Dauer\", unit = \"min\" }",
    ] {
        assert!(proposal.text.contains(line), "{line} is not in:\n{}", proposal.text);
    }
    let json = "{\"id\":1,\"start\":100}\n{\"id\":2,\"start\":100,\"end\":5500,\"duration\":90}\n";
    let proposal = propose(json.as_bytes()).unwrap();
    assert!(proposal.text.contains("unit = \"min\""), "{}", proposal.text);
}

#[test]
fn a_table_that_is_not_utf_8_below_its_header_is_said_to_be_so() {
    let text = b"job;start;end;user\n1;5;9;M\xFCller\n2;5;9;anna\n";
    let proposal = propose(text).unwrap();
    assert!(proposal.text.contains("CHECK: some cells are not UTF-8, and their rows are rejected"));
    assert!(proposal.text.contains("iconv -f latin1 -t utf-8"), "{}", proposal.text);
    let shown = preview(text, Map::read(&proposal.text).unwrap(), None, 10).unwrap();
    let are_read: Vec<bool> = shown.rows.iter().map(|row| row.cells.is_ok()).collect();
    assert_eq!(are_read, [false, true]);
    // The rows are read if no column of the map has such a cell.
    let text = b"job;start;end;remark\n1;5;9;M\xFCller\n2;5;9;anna\n";
    let proposal = propose(text).unwrap();
    assert!(proposal.text.contains("only in columns that are not used"), "{}", proposal.text);
    let shown = preview(text, Map::read(&proposal.text).unwrap(), None, 10).unwrap();
    assert!(shown.rows.iter().all(|row| row.cells.is_ok()));
}

#[test]
fn points_between_three_digits_are_no_decimals_where_others_have_commas() {
    let of = |limits: [&str; 2], other: &str, separator: &str| {
        let row = |limit: &str, other: &str| format!("1|5|9|{limit}|{other}\n");
        let text = "job|start|end|Zeitlimit (Min.)|Auslastung\n".to_owned()
            + &row(limits[0], other)
            + &row(limits[1], "8");
        let text = text.replace('|', separator);
        let proposal = propose(text.as_bytes()).unwrap();
        let line = proposal.text.lines().find(|line| line.starts_with("time_limit = ")).unwrap();
        let shown = preview(text.as_bytes(), Map::read(&proposal.text).unwrap(), None, 10).unwrap();
        let limit_s = shown.rows[1].cells.clone().unwrap()[9].clone();
        (limit_s, line.split("# CHECK: ").nth(1).unwrap_or_default().to_owned())
    };
    // 1,440 min are a day.
    assert_eq!(
        of(["60", "1.440"], "32,5", ";"),
        ("86400".into(), "`1.440` is read as 1440".into())
    );
    let (limit_s, check) = of(["60", "1.440"], "32", ";");
    assert_eq!(limit_s, "86.4");
    assert_eq!(check, "`1.440` is read as 1.440; with `decimal = \",\"` it is 1440");
    // Another limit has a point for the decimals.
    assert_eq!(of(["1.5", "1.440"], "32,5", ";").0, "86.4");
    assert_eq!(of(["1.5", "1.440"], "32", "\t"), ("86.4".into(), String::new()));
    assert_eq!(of(["0.5", "0.125"], "32", ";"), ("7.5".into(), String::new()));
}

#[test]
fn a_count_is_a_number_and_german_names_are_known() {
    let of = |node: &str| {
        let text = format!(
            "Auftrags-ID;Beginn;Ende;Knoten;Speicherbedarf (GB)\nA-1;5;9;{node};32,5\nA-2;5;9;{node};8\n"
        );
        let proposal = propose(text.as_bytes()).unwrap();
        for line in [
            "job = \"Auftrags-ID\"",
            "decimal = \",\"",
            "memory = { column = \"Speicherbedarf (GB)\", unit = \"GB\" }",
        ] {
            assert!(proposal.text.contains(line), "{line} is not in:\n{}", proposal.text);
        }
        let shown = preview(text.as_bytes(), Map::read(&proposal.text).unwrap(), None, 10).unwrap();
        assert!(shown.rows.iter().all(|row| row.cells.is_ok()), "{}", shown.table());
        proposal.text
    };
    assert!(of("n1").contains("machines = \"Knoten\""));
    assert!(of("2").contains("nodes = \"Knoten\""));
}

proptest::proptest! {
    /// Promise: no text causes a panic of a proposal, its preview or the reading of a map.
    #[test]
    fn any_text_is_proposed_for_or_refused(text in "([-A-Za-z0-9 _.:\"äöü]{0,12}[,;|\t\n]){0,60}") {
        if let Ok(proposal) = propose(text.as_bytes())
            && let Ok(map) = Map::read(&proposal.text)
        {
            let _ = preview(text.as_bytes(), map, None, 10);
        }
        let _ = Map::read(&text);
    }
}

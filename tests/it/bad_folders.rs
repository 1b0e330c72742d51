//! Folders and parts that cannot be ingested: the error says what to do, and the next run repairs
//! the lake.
//!
//! Stored rows are kept: after the repair the lake equals a lake without the fault.

use std::fs;

use insta::assert_snapshot;

use super::support::{LINE, Place, assert_repaired, gzip};

#[test]
fn a_flat_folder_needs_its_table() {
    let place = Place::new();
    place.raw("cut-part-00003-first120rows.csv", LINE);
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not read `trace`
        cause: it contains neither a table of the trace nor a log: `cut-part-00003-first120rows.csv`: its first line has 8 fields between commas, as a part of the Google trace of 2011 may have: give their folder, or name the table with `--table`
        hint: expected folders such as `job_events/part-00000-of-00500.csv.gz`, or a log; for a flat folder of parts of one table, name it with `--table`
    ");
    assert_snapshot!(place.ingest(&["--table", "job_events"]).text(), @r"
        exit code: 0
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (3)
        in [TIME]
        next: jobfate classify --lake lake
    ");
    assert_eq!(place.lake().manifest.tables["job_events"].parts[0].part, 3);
}

#[test]
fn no_such_folder() {
    let place = Place::new();
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not read `trace`
        cause: there is no such file or folder
        hint: give the folder that holds `job_events/`, `task_events/`, ...
    ");
    assert_snapshot!(place.run(&["verify", "trace"]).text(), @r"
        exit code: 4
        --- stdout
        --- stderr
        error: could not read `trace`
        cause: there is no such file or folder
        hint: give the folder that holds `job_events/`, `task_events/`, ...
    ");
    place.part("job_events", 0, LINE);
    assert_repaired(&place, &[]);
}

#[test]
fn no_table_in_the_folder() {
    let place = Place::new();
    place.raw("notes.txt", "");
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not read `trace`
        cause: it contains neither a table of the trace nor a log: `notes.txt`: it is empty
        hint: expected folders such as `job_events/part-00000-of-00500.csv.gz`, or a log; for a flat folder of parts of one table, name it with `--table`
    ");
    place.part("job_events", 0, LINE);
    assert_repaired(&place, &[]);
}

#[test]
fn none_of_the_chosen_parts() {
    let place = Place::new();
    place.part("job_events", 0, LINE);
    assert_snapshot!(place.ingest(&["--parts", "7"]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: the folder has none of the chosen tables and parts
    ");
    assert_snapshot!(place.ingest(&["--tables", "task_usage"]).text(), @r"
        exit code: 2
        --- stdout
        --- stderr
        error: the folder has none of the chosen tables and parts
    ");
    assert_snapshot!(place.ingest(&["--tables", "job_events,task_usage"]).text(), @r"
        exit code: 0
        --- stdout
        --- stderr
        warning: the folder has no table `task_usage`, or none of its chosen parts
        job_events: 1 row of 1 part (0)
        in [TIME]
        next: jobfate classify --lake lake
    ");
}

/// Part 0 is good and part 1 is faulty; part 0 is kept, and part 1 is added once it is repaired.
#[track_caller]
fn check_fault(fault: &[u8], more: &[&str]) -> String {
    let place = Place::new();
    place.gzip_part("job_events", 0, LINE);
    let path = place.raw("job_events/part-00001-of-00002.csv.gz", fault);
    let run = place.ingest(more);
    assert_eq!(place.lake().manifest.tables["job_events"].part_ranges(), "0");
    fs::write(path, gzip(LINE.repeat(2).as_bytes())).unwrap();
    assert_repaired(&place, &[]);
    assert_eq!(place.lake().manifest.tables["job_events"].rows(), 3);
    run.text()
}

#[test]
fn a_file_that_is_not_gzip() {
    assert_snapshot!(check_fault(b"<html>404</html>\n", &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: the file is not gzip, although its name ends in `.gz`
        hint: it may be a web server's error page: look at the file, then download it again
        error: 1 of 2 parts could not be ingested; the lake contains the others
    ");
}

#[test]
fn an_empty_file_that_should_be_gzip() {
    assert_snapshot!(check_fault(b"", &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: the file is empty, without even a gzip header
        hint: download or copy the file again (parts of a trace with its `fetch` in `data-scripts/`), then run the same command: completed parts are kept
        error: 1 of 2 parts could not be ingested; the lake contains the others
    ");
}

#[test]
fn a_gzip_that_is_cut_short() {
    let whole = gzip(LINE.repeat(1000).as_bytes());
    assert_snapshot!(check_fault(&whole[..whole.len() / 2], &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: the gzip stream is cut short
        hint: download or copy the file again (parts of a trace with its `fetch` in `data-scripts/`), then run the same command: completed parts are kept
        error: 1 of 2 parts could not be ingested; the lake contains the others
    ");
}

#[test]
fn a_gzip_whose_crc_is_wrong() {
    let mut damaged = gzip(LINE.repeat(1000).as_bytes());
    let crc_at = damaged.len() - 6;
    damaged[crc_at] ^= 1;
    assert_snapshot!(check_fault(&damaged, &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: the gzip stream is damaged: corrupt gzip stream does not have a matching checksum
        hint: download or copy the file again (parts of a trace with its `fetch` in `data-scripts/`), then run the same command: completed parts are kept
        error: 1 of 2 parts could not be ingested; the lake contains the others
    ");
}

#[test]
fn a_gzip_damaged_in_the_middle() {
    let text: String =
        (0..20_000).map(|job| format!("600,,{job},0,u,1,n,l")).collect::<Vec<String>>().join("\n");
    let mut damaged = gzip(text.as_bytes());
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xA5);
    let text = check_fault(&damaged, &[]);
    assert!(text.contains("cause: the gzip stream is damaged: "), "{text}");
}

#[test]
fn a_gzip_with_something_behind_it() {
    let trailing = [gzip(LINE.as_bytes()), b"garbage".to_vec()].concat();
    let text = check_fault(&trailing, &[]);
    assert!(text.contains("gzip stream is"), "{text}");
}

#[test]
fn every_row_has_another_number_of_columns() {
    let other = gzip(b"0,9001,0,PA=,0.5,0.25\n0,9002,0,PA=,1,1\n");
    assert_snapshot!(check_fault(&other, &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: no line has the 8 columns of table `job_events`: this is probably another trace
          line 1: too_few_columns: 0,9001,0,PA=,0.5,0.25
          line 2: too_few_columns: 0,9002,0,PA=,1,1
        hint: check that the folder holds the v2.1 trace of 2011, and the right table if you gave `--table`
        error: 1 of 2 parts could not be ingested; the lake contains the others
    ");
    assert_snapshot!(check_fault(&other, &["--max-rejects", "0"]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: no line has the 8 columns of table `job_events`: this is probably another trace
          line 1: too_few_columns: 0,9001,0,PA=,0.5,0.25
          line 2: too_few_columns: 0,9002,0,PA=,1,1
        hint: check that the folder holds the v2.1 trace of 2011, and the right table if you gave `--table`
        error: 1 of 2 parts could not be ingested; the lake contains the others
    ");
}

#[test]
fn too_many_rejects_by_count() {
    let text = format!("{}600,,7,9,u,1,n,l\nx\n-1,,7,0,u,1,n,l\n", LINE.repeat(4));
    assert_snapshot!(check_fault(&gzip(text.as_bytes()), &["--max-rejects", "2"]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: 3 of 7 lines were rejected; at most 2 are allowed
          line 5, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 6: too_few_columns: x
          line 7, column `time_us`: negative_time: -1,,7,0,u,1,n,l
        hint: look at the lines, then allow more with `--max-rejects`
        error: 1 of 2 parts could not be ingested; the lake contains the others
    ");
}

#[test]
fn too_many_rejects_by_share() {
    let text = format!("{}{}", LINE.repeat(900), "600,,7,9,u,1,n,l\n".repeat(12));
    assert_snapshot!(check_fault(&gzip(text.as_bytes()), &[]), @r"
        exit code: 3
        --- stdout
        --- stderr
        job_events: 1 row of 1 part (0)
        error: could not use `trace/job_events/part-00001-of-00002.csv.gz`
        cause: 12 of 912 lines were rejected; at most 0.1% are allowed
          line 901, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 902, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 903, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 904, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 905, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 906, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 907, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 908, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 909, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
          line 910, column `event_type`: unknown_event_type: 600,,7,9,u,1,n,l
        hint: look at the lines, then allow more with `--max-rejects`
        error: 1 of 2 parts could not be ingested; the lake contains the others
    ");
}

#[test]
fn as_many_rejects_as_allowed_are_no_error() {
    for (more, is_ok) in [
        (&["--max-rejects", "2"][..], true),
        (&["--max-rejects", "1"], false),
        (&["--max-rejects", "0.2%"], true),
        (&["--max-rejects", "0.19%"], false),
        (&[], false),
    ] {
        let place = Place::new();
        place.part("job_events", 0, format!("{}{}", LINE.repeat(998), "x\n".repeat(2)));
        assert_eq!(place.ingest(more).code, Some(if is_ok { 0 } else { 3 }), "{more:?}");
    }
}

#[test]
fn a_fault_of_several_files_is_shown_once() {
    let place = Place::new();
    for part in 0..6 {
        place.raw(&format!("job_events/part-{part:05}-of-00006.csv.gz"), "x");
    }
    assert_snapshot!(place.ingest(&[]).text(), @r"
        exit code: 3
        --- stdout
        --- stderr
        error: could not use `trace/job_events/part-00000-of-00006.csv.gz`
        cause: the file is not gzip, although its name ends in `.gz`
        hint: it may be a web server's error page: look at the file, then download it again
          the same in 5 more files: `trace/job_events/part-00001-of-00006.csv.gz`, `trace/job_events/part-00002-of-00006.csv.gz`, `trace/job_events/part-00003-of-00006.csv.gz`, `trace/job_events/part-00004-of-00006.csv.gz`, `trace/job_events/part-00005-of-00006.csv.gz`
        error: 6 of 6 parts could not be ingested; nothing was stored
    ");
}

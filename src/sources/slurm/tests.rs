//! Lines of `sacct`, and their rows.

use std::fmt::Write;

use proptest::prelude::*;

use super::super::error::{EXPORT_AGAIN, SourceErrorKind};
use super::super::map::Map;
use super::super::propose::ready;
use super::super::records::states::{Fate, loosely_named};
use super::super::tests::{Rows, check, parsed, parsed_in, parsed_part};
use crate::schema::{EventType, Source, Table};

/// 2024-01-01, s since 1970.
const NEW_YEAR_S: i64 = 1_704_067_200;

/// Checks the events of a text in both tables, s since 2024, and its remarks.
#[track_caller]
fn check_from(header: &str, lines: &[&str], expected: &str, remarks: &[&str]) {
    let text = format!("{header}\n{}\n", lines.join("\n"));
    for table in [Table::JobEvents, Table::TaskEvents] {
        let rows = parsed(Source::Slurm, table, &text);
        assert_eq!(rows.rejects(), Vec::<String>::new(), "{text}");
        assert_eq!(since_new_year(&rows), expected, "{text}");
        let found: Vec<&str> = rows
            .notes
            .remarks
            .keys()
            .copied()
            .filter(|wording| !wording.starts_with("times without a zone"))
            .collect();
        assert_eq!(found, remarks, "{text}");
    }
}

fn since_new_year(rows: &Rows) -> String {
    let history = rows.history();
    let events = history.split(", ").filter(|event| !event.is_empty()).map(|event| {
        let (time, kind) = event.split_once(' ').unwrap();
        format!("{} {kind}", time.parse::<i64>().unwrap() - NEW_YEAR_S)
    });
    events.collect::<Vec<String>>().join(", ")
}

const LATER: &str =
    "preempted or requeued, and no later record of the job in its file (see `--duplicates`)";

const HEADER: &str = "JobID|State|Submit|Start|End|Elapsed|NCPUS|NodeList|JobName";

/// A line of [`HEADER`] for the first minute of 2024.
fn line(id: &str, state: &str, times: [&str; 3], nodes: &str) -> String {
    let of = |second: &str| match second {
        "" => "Unknown".to_owned(),
        _ => format!("2024-01-01T00:00:{second}"),
    };
    let [submit, start, end] = times;
    let elapsed = match (start.parse::<u32>(), end.parse::<u32>()) {
        (Ok(start), Ok(end)) => format!("00:00:{:02}", end - start),
        _ => "00:00:00".to_owned(),
    };
    format!("{id}|{state}|{}|{}|{}|{elapsed}|4|{nodes}|a job", of(submit), of(start), of(end))
}

#[test]
fn every_state_ends_an_attempt_as_it_says() {
    for (states, end) in [
        (&["COMPLETED", "CD"][..], "FINISH"),
        (&["FAILED", "OUT_OF_MEMORY", "OOM", "TIMEOUT", "DEADLINE"], "FAIL"),
        (&["CANCELLED", "CANCELLED by 1001", "CANCELLED+", "REVOKED"], "KILL"),
        (&["PREEMPTED", "REQUEUED"], "EVICT"),
    ] {
        for state in states {
            let line = line("7", state, ["00", "10", "40"], "n1");
            let remarks = if end == "EVICT" { &[LATER][..] } else { &[] };
            check_from(HEADER, &[&line], &format!("0 SUBMIT, 10 SCHEDULE, 40 {end}"), remarks);
        }
    }
    for state in ["NODE_FAIL", "BOOT_FAIL"] {
        let text = format!("{HEADER}\n{}", line("7", state, ["00", "10", "40"], "n1"));
        let rows = parsed(Source::Slurm, Table::TaskEvents, &text);
        assert_eq!(rows.cell("event_type", 2), "6", "LOST");
    }
    for state in ["RUNNING", "SUSPENDED", "RESIZING"] {
        let line = line("7", state, ["00", "10", ""], "n1");
        check_from(HEADER, &[&line], "0 SUBMIT, 10 SCHEDULE", &[]);
    }
    check_from(HEADER, &[&line("7", "PENDING", ["00", "", ""], "None assigned")], "0 SUBMIT", &[]);
}

#[test]
fn ready_maps_know_every_state_of_slurm() {
    let ended = Fate::Ended;
    for (states, fate) in [
        ("COMPLETED", ended(EventType::Finish)),
        (
            "FAILED,TIMEOUT,OUT_OF_MEMORY,OUT_OF_ME+,DEADLINE,LAUNCH_FAILED,SPECIAL_EXIT,SPECIAL_E+",
            ended(EventType::Fail),
        ),
        ("CANCELLED,CANCELLED by 123,CANCELLED+,REVOKED", ended(EventType::Kill)),
        ("PREEMPTED,PREEMPTED+,REQUEUED", ended(EventType::Evict)),
        ("NODE_FAIL,NODE_FAIL+,BOOT_FAIL", ended(EventType::Lost)),
        (
            "RUNNING,SUSPENDED,RESIZING,COMPLETING,COMPLETIN+,STOPPED,SIGNALING,STAGE_OUT,UPDATE_DB",
            Fate::Running,
        ),
        (
            "PENDING,CONFIGURING,CONFIGURI+,REQUEUE_HOLD,REQUEUE_FED,RESV_DEL_HOLD,POWER_UP_NODE,\
             POWER_UP_+,POWER_WAIT,RECONFIG_FAIL,RECONFIG_+,EXPEDITING",
            Fate::Pending,
        ),
    ] {
        for state in states.split(',') {
            let word = state.split(' ').next().unwrap().as_bytes();
            assert_eq!(
                loosely_named(super::life::STATES, word).map(|(fate, _)| fate),
                Some(fate),
                "{state}"
            );
            for name in ["helios", "acme", "pm100"] {
                let map = Map::read(ready::find(name).unwrap().text).unwrap();
                assert_eq!(map.fate(state), Some(fate), "{name}: {state}");
            }
        }
    }
    for odd in ["COMP+", "C+", "+", "CANCELLED++", "GONE+"] {
        let is_known = loosely_named(super::life::STATES, odd.as_bytes()).is_some();
        assert_eq!(is_known, odd == "COMP+", "{odd}");
    }
}

#[test]
fn a_time_limit_that_no_clock_has_is_a_reject() {
    let text = "JobID|State|Start|End|TimelimitRaw\n7|COMPLETED|1|2|999999999999\n";
    let rows = parsed(Source::Slurm, Table::TaskEvents, text);
    assert_eq!(rows.rejects(), ["2 TimelimitRaw bad_value"]);
}

#[test]
fn a_job_that_never_got_a_machine_has_no_attempt() {
    let cancelled = line("7", "CANCELLED by 5", ["00", "30", "30"], "None assigned");
    let remark = ["ended before a start: no SCHEDULE"];
    check_from(HEADER, &[&cancelled], "0 SUBMIT, 30 KILL", &remark);
    let rows = parsed(Source::Slurm, Table::TaskEvents, &format!("{HEADER}\n{cancelled}"));
    assert_eq!((rows.cell("processors", 0), rows.cell("run_us", 0)), ("-".into(), "-".into()));
    // A job that failed within its first second has run.
    let failed = line("8", "FAILED", ["00", "30", "30"], "n1");
    check_from(HEADER, &[&failed], "0 SUBMIT, 30 SCHEDULE, 30 FAIL", &[]);
}

#[test]
fn lines_of_one_job_are_attempts_of_one_task() {
    let first = line("7", "PREEMPTED", ["00", "10", "20"], "n1");
    let again = line("7", "COMPLETED", ["00", "30", "40"], "n2");
    let expected = "0 SUBMIT, 10 SCHEDULE, 20 EVICT, 30 SCHEDULE, 40 FINISH";
    check_from(HEADER, &[&first, &again], expected, &[]);
    let resubmitted = line("7", "COMPLETED", ["25", "30", "40"], "n2");
    let expected = "0 SUBMIT, 10 SCHEDULE, 20 EVICT, 25 SUBMIT, 30 SCHEDULE, 40 FINISH";
    check_from(HEADER, &[&first, &resubmitted], expected, &[]);
    let repeated = [LATER, "rows that repeat an earlier row of the task: left out"];
    check_from(HEADER, &[&first, &first], "0 SUBMIT, 10 SCHEDULE, 20 EVICT", &repeated);
}

#[test]
fn steps_and_repeated_headers_are_left_out_and_counted() {
    let job = line("7", "COMPLETED", ["00", "10", "20"], "n1");
    let steps =
        ["7.batch", "7.extern", "7.0"].map(|id| line(id, "COMPLETED", ["10", "10", "20"], "n1"));
    let lines = [&job, &steps[0], HEADER, &steps[1], &steps[2]];
    let remarks = ["lines that repeat the header: left out", "steps of jobs: left out"];
    check_from(HEADER, &lines, "0 SUBMIT, 10 SCHEDULE, 20 FINISH", &remarks);
}

#[test]
fn elements_of_arrays_are_jobs_of_their_own() {
    let header = "JobID|JobIDRaw|State|Submit|Start|End|Elapsed";
    let times = "2024-01-01T00:00:00|2024-01-01T00:00:01|2024-01-01T00:00:02|00:00:01";
    let text = format!(
        "{header}\n123_4|125|COMPLETED|{times}\n123_[5-9%2]|123|PENDING|2024-01-01T00:00:00|Unknown|Unknown|00:00:00\n130+1|131|FAILED|{times}\n"
    );
    let rows = parsed(Source::Slurm, Table::JobEvents, &text);
    assert_eq!(rows.rejects(), Vec::<String>::new());
    for (row, id, name, array, index, het) in [
        (0, "125", "123_4", "123", "4", "-"),
        (3, "123", "123_[5-9%2]", "123", "-", "-"),
        (4, "131", "130+1", "-", "-", "130"),
    ] {
        let columns = ["job_id", "job_name", "array_job_id", "array_index", "het_job_id"];
        assert_eq!(columns.map(|column| rows.cell(column, row)), [id, name, array, index, het]);
    }
    // An element without a number gets one that is computed from its name, the same in every file.
    let plain = "JobID|State|Start|End";
    let of = |text: &str| parsed(Source::Slurm, Table::TaskEvents, text).cell("job_id", 0);
    let times = "2024-01-01T00:00:01|2024-01-01T00:00:02";
    let one = of(&format!("{plain}|Elapsed\n123_4|FAILED|{times}|00:00:01\n"));
    let other = of(&format!("{plain}|Elapsed\n\n123_4|TIMEOUT|{times}|00:00:01\n"));
    assert!(one.starts_with('-') && one == other, "{one} {other}");
}

#[test]
fn what_is_missing_is_derived_and_counted() {
    let end = "no end time: start and run time";
    let run = "no run time: CPUTimeRAW or CPUTime divided by the processors";
    let submitted = "no submit time: submitted at the start";
    let waited = "no submit time: start minus the wait";
    let numbered = "no job id: the number of the line";
    let unknown = "processors unknown: no CPU time is charged";
    let (at_10, at_40) = ("2024-01-01T00:00:10", "2024-01-01T00:00:40");
    for (header, line, expected, remarks) in [
        (
            "JobID|State|Start|Elapsed",
            format!("7|FAILED|{at_10}|00:00:30"),
            "10 SUBMIT, 10 SCHEDULE, 40 FAIL",
            vec![end, submitted, unknown],
        ),
        (
            "JobID|State|Start|ElapsedRaw|NCPUS",
            format!("7|FAILED|{at_10}|30|1"),
            "10 SUBMIT, 10 SCHEDULE, 40 FAIL",
            vec![end, submitted],
        ),
        (
            "JobID|State|Start|CPUTimeRAW|AllocCPUS",
            format!("7|FAILED|{at_10}|120|4"),
            "10 SUBMIT, 10 SCHEDULE, 40 FAIL",
            vec![end, run, submitted],
        ),
        (
            "State|End|Elapsed|NCPUS",
            format!("TIMEOUT|{at_40}|00:00:30|1"),
            "10 SUBMIT, 10 SCHEDULE, 40 FAIL",
            vec![numbered, "no start time: end minus the run time", submitted],
        ),
        (
            "JobID|State|Start|End|Planned|NCPUS",
            format!("7|FAILED|{at_10}|{at_40}|00:00:08|1"),
            "2 SUBMIT, 10 SCHEDULE, 40 FAIL",
            vec![waited],
        ),
        (
            "JobID|State|Start|End|Reserved|NCPUS",
            format!("7|FAILED|{at_10}|{at_40}|00:00:08|1"),
            "2 SUBMIT, 10 SCHEDULE, 40 FAIL",
            vec![waited],
        ),
        (
            "JobID|State|Start|End|ResvCPURAW|ReqCPUS",
            format!("7|FAILED|{at_10}|{at_40}|16|2"),
            "2 SUBMIT, 10 SCHEDULE, 40 FAIL",
            vec![waited],
        ),
        (
            "JobID|State|Start|End|Eligible|NCPUS",
            format!("7|FAILED|{at_10}|{at_40}|2024-01-01T00:00:05|2"),
            "5 SUBMIT, 10 SCHEDULE, 40 FAIL",
            vec!["no submit time: when it became eligible"],
        ),
        (
            "JobID|State|Submit|Start|End|NCPUS",
            format!("7|FAILED|{at_10}|{at_10}|Unknown|2"),
            "10 SUBMIT, 10 SCHEDULE",
            vec!["ended, but no end time: left open"],
        ),
    ] {
        check_from(header, &[&line], expected, &remarks);
    }
}

#[test]
fn starts_and_ends_in_the_queue_follow_from_the_wait() {
    let end = "no end time: start and run time";
    let run = "no run time: CPUTimeRAW or CPUTime divided by the processors";
    let left = "no start time: when it became eligible, or else its submit, and the wait";
    let in_queue = "ended in the queue, but no end time: after the wait, or else at the submit";
    let at_10 = "2024-01-01T00:00:10";
    for (header, line, expected, remarks) in [
        (
            "JobID|State|Start|CPUTime|AllocCPUS",
            format!("7|FAILED|{at_10}|00:02:00|4"),
            "10 SUBMIT, 10 SCHEDULE, 40 FAIL",
            vec![end, run, "no submit time: submitted at the start"],
        ),
        (
            "JobID|State|Submit|Planned|ElapsedRaw|NCPUS",
            format!("7|FAILED|{at_10}|00:00:08|22|1"),
            "10 SUBMIT, 18 SCHEDULE, 40 FAIL",
            vec![end, left],
        ),
        (
            "JobID|State|Submit|Eligible|PlannedCPU|Elapsed|NCPUS",
            format!("7|FAILED|{at_10}|2024-01-01T00:00:15|00:00:06|00:00:22|2"),
            "10 SUBMIT, 18 SCHEDULE, 40 FAIL",
            vec![end, left],
        ),
        (
            "JobID|State|Submit|Planned|ElapsedRaw|NCPUS",
            format!("7|PENDING|{at_10}|00:00:08|0|1"),
            "10 SUBMIT",
            vec![],
        ),
        (
            "JobID|State|Submit|Planned|ElapsedRaw|NCPUS",
            format!("7|CANCELLED by 5|{at_10}|00:00:08|0|1"),
            "10 SUBMIT, 18 KILL",
            vec!["ended before a start: no SCHEDULE", end, left],
        ),
        (
            "JobID|State|Submit|Start|ElapsedRaw|NCPUS",
            format!("7|CANCELLED by 5|{at_10}|None|0|1"),
            "10 SUBMIT, 10 KILL",
            vec![in_queue],
        ),
        (
            "JobID|State|Submit|Planned|ElapsedRaw|NCPUS",
            format!("7|CANCELLED by 5|{at_10}||0|1"),
            "10 SUBMIT, 10 KILL",
            vec![in_queue],
        ),
        // A job without processors used no CPU time.
        (
            "JobID|State|Submit|Planned|CPUTimeRAW|AllocCPUS|ReqCPUS",
            format!("7|CANCELLED by 5|{at_10}|00:00:08|0|0|2"),
            "10 SUBMIT, 18 KILL",
            vec!["ended before a start: no SCHEDULE", end, run, left],
        ),
        (
            "JobID|State|Submit|Start|ElapsedRaw|Planned|NCPUS",
            format!("7|CANCELLED by 5|{at_10}|None|0|00:00:08|1"),
            "10 SUBMIT, 18 KILL",
            vec![in_queue],
        ),
    ] {
        check_from(header, &[&line], expected, &remarks);
    }
}

#[test]
fn an_export_that_says_too_little_is_refused_by_column() {
    for (header, lack) in [
        ("JobID|Submit|Start|End", "State"),
        ("JobID|State|Submit", "Start"),
        ("JobID|State|Start", "End (or Elapsed)"),
        ("JobID|State|End", "Start (or Elapsed)"),
        ("JobID|State|Start|CPUTimeRAW", "AllocCPUS (or Elapsed)"),
        ("JobID|State|End|CPUTime", "AllocCPUS (or Elapsed)"),
        ("JobID|State|Submit|Planned", "End (or Elapsed)"),
        ("JobID|State|Submit|Elapsed", "Start"),
        ("JobID|State|Submit|Elapsed|ResvCPU", "AllocCPUS (or Start)"),
        // What `sacct --parsable2` prints without `--format`.
        ("JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode", "Start"),
    ] {
        let found = super::columns::Layout::of(header.as_bytes()).unwrap_err();
        assert!(
            matches!(&found, SourceErrorKind::MissingColumn(name) if name == lack),
            "{header}: {found:?}"
        );
        assert!(super::seen_as(header.as_bytes()), "{header}");
    }
}

#[test]
fn an_export_that_is_aligned_with_blanks_is_refused_with_the_command() {
    let text = "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n\
        ------------ ---------- ---------- ---------- ---------- ---------- -------- \n\
        7                  wrap     normal       root          1  COMPLETED      0:0 \n";
    assert!(super::seen_as(text.as_bytes()));
    let found = super::columns::Layout::of(text.as_bytes()).unwrap_err();
    assert!(matches!(found, SourceErrorKind::Aligned), "{found:?}");
    assert!(found.hint().is_some_and(|hint| hint.contains("--parsable2")));
    for other in ["JobID\tState\tStart\tEnd", "JobID,User", "a job and its State"] {
        assert!(
            !super::columns::Layout::of(other.as_bytes())
                .is_err_and(|kind| matches!(kind, SourceErrorKind::Aligned)),
            "{other}"
        );
    }
}

#[test]
fn amounts_are_read_with_their_suffixes() {
    let header = "JobID|State|Start|End|AllocCPUS|ReqCPUS|NNodes|ReqMem|ReqTRES|AllocTRES|Timelimit|TotalCPU";
    let times = "2024-01-01T00:00:00Z|2024-01-01T01:00:00Z";
    let cell = |column: &str, fields: &str| {
        let text = format!("{header}\n7|COMPLETED|{times}|{fields}\n");
        let rows = parsed(Source::Slurm, Table::TaskEvents, &text);
        assert_eq!(rows.rejects(), Vec::<String>::new(), "{text}");
        rows.cell(column, 1)
    };
    for (column, fields, expected) in [
        ("memory_request", "4|4|2|1000Mn||||", "2048000"),
        ("memory_request", "4|4|2|1000Mc||||", "4096000"),
        ("memory_request", "4|4|2|62.50Gn||||", "131072000"),
        ("memory_request", "4|4|2|1.5G||||", "1572864"),
        ("memory_request", "4|4|2|2048K||||", "2048"),
        ("memory_request", "4|4|2|500||||", "512000"),
        // The bit for "per CPU" within the number: 8 CPUs of 2,800 MiB each.
        ("memory_request", "8|8|1|2147486448Mn||||", "22937600"),
        ("memory_request", "8|8|1|0n|cpu=8|cpu=8,mem=22400M,node=1||", "22937600"),
        ("requested_memory_kib", "4|4|2|1000Mc||||", "1024000"),
        ("cpu_request", "4|2|1|||||", "4"),
        ("cpu_request", "0|2|1|||||", "2"),
        ("cpu_request", "|||||cpu=6,mem=1G||", "6"),
        ("requested_processors", "4|2|1|||||", "2"),
        ("gpu_request", "4|4|1|||cpu=4,gres/gpu=2||", "2"),
        ("gpu_request", "4|4|1|||cpu=4,gres/gpu:a100=2,gres/gpu=2||", "2"),
        ("gpu_request", "4|4|1|||gres/gpu:a100=2,gres/gpu:v100=1||", "3"),
        ("gpu_model", "4|4|1|||cpu=4,gres/gpu:a100=2,gres/gpu=2||", "a100"),
        ("gpu_model", "4|4|1|||gres/gpu:a100=2,gres/gpu:v100=1||", "-"),
        ("gpu_request", "4|4|1|||gpu:a100:2(S:0-1)||", "2"),
        ("cpu_request", "2K|2K|1|||||", "2048"),
        ("cpu_request", "|||||cpu=2K,mem=1G||", "2048"),
        ("gpu_request", "4|4|1|||cpu=4||", "-"),
        ("requested_time_us", "4|4|1||||3-12:00:00|", "302400000000"),
        ("requested_time_us", "4|4|1||||UNLIMITED|", "-"),
        ("requested_time_us", "4|4|1||||Partition_Limit|", "-"),
        ("requested_time_us", "4|4|1||||90|", "5400000000"),
        ("cpu_time_us", "4|4|1|||||01:00:02.500", "900625000"),
        ("cpu_time_us", "4|4|1|||||00:00:00", "-"),
    ] {
        assert_eq!(cell(column, fields), expected, "{column} of {fields}");
    }
}

#[test]
fn counts_in_lists_are_read_or_rejected() {
    let read = |list: &str| {
        let at = "2024-01-01T00:00:00Z";
        let text = format!("JobID|State|Start|End|AllocTRES\n7|FAILED|{at}|{at}|{list}\n");
        parsed(Source::Slurm, Table::TaskEvents, &text)
    };
    let mixed = "GPUs of several models: counted together, model unknown";
    assert_eq!(read("cpu=4,gres/gpu:a100=2,gres/gpu:v100=1").notes.remarks[mixed], 1);
    assert_eq!(read("cpu=4,gres/gpu:a100=2").notes.remarks.get(mixed), None);
    for odd in ["cpu=4,gres/gpu=1.5", "cpu=1.95K", "cpu=many"] {
        assert_eq!(read(odd).rejects(), ["2 AllocTRES bad_value"], "{odd}");
    }
}

#[test]
fn gpus_that_were_requested_and_not_allocated_are_none() {
    let read = |lists: &str| {
        let at = "2024-01-01T00:00:00Z";
        let header = "JobID|State|Start|End|NNodes|ReqTRES|AllocTRES|AllocGRES";
        let text = format!("{header}\n7|FAILED|{at}|{at}|1|{lists}\n");
        let rows = parsed(Source::Slurm, Table::TaskEvents, &text);
        let remarks = rows.notes.remarks.keys().filter(|said| said.contains("AllocTRES"));
        let remark = remarks.copied().next();
        (rows.cell("gpu_request", 0), rows.cell("gpu_model", 0), remark)
    };
    let (none, of_request) = (
        "GPUs requested, but not in AllocTRES: counted as none",
        "GPUs not in AllocTRES: those of ReqTRES",
    );
    for (lists, gpus, model, remark) in [
        ("cpu=4,gres/gpu:v100=3|cpu=4,mem=10G,node=1|", "0", "-", Some(none)),
        ("cpu=4,gres/gpu:v100=3|cpu=4|", "3", "v100", Some(of_request)),
        ("cpu=4,gres/gpu:v100=3|cpu=4,mem=10G,node=1|gpu:v100:2", "2", "v100", None),
        ("cpu=4,gres/gpu:v100=3||", "3", "v100", None),
        ("cpu=4,gres/gpu:v100=3|cpu=4,mem=10G,gres/gpu=2|", "2", "-", None),
        ("cpu=4|cpu=4,mem=10G,node=1|", "-", "-", None),
    ] {
        assert_eq!(read(lists), (gpus.into(), model.into(), remark), "{lists}");
    }
}

/// Promise: the command that the program gives to paste exports columns that are read, with the
/// free text at the end, and is the same everywhere.
#[test]
fn memory_in_lists_is_read_or_rejected() {
    let header = "JobID|State|Submit|Start|End|NCPUS|ReqMem|ReqTRES|AllocTRES";
    let memory = |amounts: &str| {
        let text = format!("{header}\n7|COMPLETED|1704067200|1704067210|1704067240|4|{amounts}\n");
        let rows = parsed(Source::Slurm, Table::TaskEvents, &text);
        let rejects = rows.rejects();
        if rejects.is_empty() { rows.cell("memory_request", 0) } else { rejects.join(", ") }
    };
    for (amounts, expected) in [
        ("|cpu=4,mem=abc|", "2 ReqTRES bad_value"),
        ("|cpu=4,mem=16Q|", "2 ReqTRES bad_value"),
        ("||cpu=4,mem=16Q", "2 AllocTRES bad_value"),
        ("16Q|cpu=4,mem=16G|", "2 ReqMem bad_value"),
        ("abcn||", "2 ReqMem bad_value"),
        ("16Gn|mem=abc|", "16777216"),
        ("4Gc||", "16777216"),
        ("0n|cpu=4,mem=16G|", "16777216"),
        ("0c|cpu=4,mem=0|cpu=4,mem=16G", "16777216"),
        ("|cpu=4|cpu=4,mem=1.50G", "1572864"),
        ("||", "-"),
    ] {
        assert_eq!(memory(amounts), expected, "{amounts}");
    }
}

/// The columns of `sacct --format ALL` of a version of Slurm.
fn all_columns(version: &str) -> &'static str {
    match version {
        "14.11" => {
            "AllocCPUS|AllocGRES|Account|AssocID|AveCPU|AveCPUFreq|AveDiskRead|AveDiskWrite|\
            AvePages|AveRSS|AveVMSize|BlockID|Cluster|Comment|ConsumedEnergy|ConsumedEnergyRaw|\
            CPUTime|CPUTimeRAW|DerivedExitCode|Elapsed|Eligible|End|ExitCode|GID|Group|JobID|\
            JobIDRaw|JobName|Layout|MaxDiskRead|MaxRSS|NCPUS|NNodes|NodeList|NTasks|Priority|\
            Partition|QOS|QOSRAW|ReqCPUFreq|ReqCPUS|ReqGRES|ReqMem|Reservation|ReservationId|\
            Reserved|ResvCPU|ResvCPURAW|Start|State|Submit|Suspended|SystemCPU|Timelimit|TotalCPU|\
            UID|User|UserCPU|WCKey|WCKeyID"
        }
        _ => {
            "Account|AdminComment|AllocCPUS|AllocGRES|AllocNodes|AllocTRES|AssocID|AveCPU|Cluster|\
            Comment|ConsumedEnergy|ConsumedEnergyRaw|CPUTime|CPUTimeRAW|DBIndex|DerivedExitCode|\
            Elapsed|ElapsedRaw|Eligible|End|ExitCode|Flags|GID|Group|JobID|JobIDRaw|JobName|\
            MaxRSS|McsLabel|NCPUS|NNodes|NodeList|NTasks|Priority|Partition|QOS|QOSRAW|Reason|\
            ReqCPUFreq|ReqCPUFreqMin|ReqCPUS|ReqGRES|ReqMem|ReqTRES|Reservation|Reserved|ResvCPU|\
            ResvCPURAW|Start|State|Submit|Suspended|SystemCPU|SystemComment|Timelimit|TimelimitRaw|\
            TotalCPU|TRESUsageInAve|UID|User|UserCPU|WCKey|WorkDir"
        }
    }
}

#[test]
fn all_columns_of_old_versions_are_read() {
    let row = |version: &str, cells: &[(&str, &str)]| {
        let of = |name: &str| cells.iter().find(|cell| cell.0 == name).map_or("", |cell| cell.1);
        let line: Vec<&str> = all_columns(version).split('|').map(of).collect();
        format!("{}\n{}\n", all_columns(version), line.join("|"))
    };
    let cells = [
        ("JobID", "7"),
        ("State", "COMPLETED"),
        ("Start", "2024-01-01T00:00:10"),
        ("End", "2024-01-01T00:00:40"),
        ("Elapsed", "00:00:30"),
        ("Reserved", "00:00:08"),
        ("ResvCPU", "00:00:32"),
        ("NCPUS", "4"),
        ("NNodes", "2"),
        ("ReqMem", "4Gn"),
        ("ReqGRES", "gpu:1"),
        ("AllocGRES", "7696487:2"),
        ("ConsumedEnergyRaw", "18446744073709551614"),
        ("ReqCPUFreq", "Unknown"),
        ("Timelimit", "Partition_Limit"),
        ("TotalCPU", "01:20.500"),
        ("NodeList", "n[1-2]"),
    ];
    for version in ["14.11", "19.05"] {
        let text = row(version, &cells);
        let rows = parsed(Source::Slurm, Table::TaskEvents, &text);
        assert_eq!(rows.rejects(), Vec::<String>::new(), "{text}");
        assert_eq!(since_new_year(&rows), "2 SUBMIT, 10 SCHEDULE, 40 FINISH", "from `Reserved`");
        for (column, expected) in [
            ("cpu_request", "4"),
            ("memory_request", "8388608"),
            ("gpu_request", "2"),
            ("cpu_time_us", "20125000"),
            ("requested_time_us", "-"),
        ] {
            assert_eq!(rows.cell(column, 1), expected, "{version} {column}");
        }
        // Only `ResvCPURAW`, the CPU time that it was reserved for, and memory per CPU.
        let of = |name: &str, value| {
            let changed = cells.map(|cell| match cell.0 {
                "Reserved" => ("ResvCPURAW", "32"),
                known if known == name => (name, value),
                _ => cell,
            });
            parsed(Source::Slurm, Table::TaskEvents, &row(version, &changed))
        };
        let rows = of("ReqMem", "2Gc");
        assert_eq!(since_new_year(&rows), "2 SUBMIT, 10 SCHEDULE, 40 FINISH", "from `ResvCPURAW`");
        assert_eq!(rows.cell("memory_request", 1), "8388608");
        for (column, value) in [("ReqMem", "4Qn"), ("AllocGRES", "gpu:1.5"), ("NCPUS", "many")] {
            assert_eq!(of(column, value).rejects(), [format!("2 {column} bad_value")], "{version}");
        }
    }
}

#[test]
fn an_attempt_that_waits_again_is_a_later_record() {
    let header = "JobID|State|Submit|Start|End|NCPUS";
    let evicted = "7|REQUEUED|1000|1000|1000|2";
    let waits = "7|PENDING|1000|Unknown|Unknown|2";
    let count = |lines: &[&str]| {
        let text = format!("{header}\n{}\n", lines.join("\n"));
        let found = parsed(Source::Slurm, Table::TaskEvents, &text);
        found.notes.remarks.iter().find(|(said, _)| said.starts_with("preempted")).map(|it| *it.1)
    };
    assert_eq!(count(&[evicted, waits]), None);
    assert_eq!(count(&[waits, evicted]), None);
    assert_eq!(count(&[evicted]), Some(1));
    // An older record of an attempt that takes no time, or none after a wait, is not another
    // attempt.
    for (later, history) in [
        ("7|COMPLETED|1000|1000|1000|2", "1000 SUBMIT, 1000 SCHEDULE, 1000 FINISH"),
        ("7|PREEMPTED|1000|1500|1500|2", "1000 SUBMIT, 1500 SCHEDULE, 1500 EVICT"),
    ] {
        let text = format!("{header}\n{waits}\n{later}\n");
        let found = parsed(Source::Slurm, Table::TaskEvents, &text);
        assert_eq!(found.history_in_time(), history);
        assert_eq!(count(&[waits, later]), later.contains("PREEMPTED").then_some(1));
    }
}

#[test]
fn nodes_are_those_of_the_list_of_resources_if_there_is_no_column() {
    let times = "2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T00:00:40";
    let read = |columns: &str, cells: &str| {
        let text = format!(
            "JobID|State|Submit|Start|End|NCPUS|ReqMem|{columns}\n7|COMPLETED|{times}|4|4Gn|{cells}\n"
        );
        let rows = parsed(Source::Slurm, Table::TaskEvents, &text);
        let is_derived =
            rows.notes.remarks.contains_key("no number of nodes: that of the list of resources");
        (rows.cell("memory_request", 1), is_derived)
    };
    let eight = read("NNodes", "2");
    assert_eq!(eight, ("8388608".to_owned(), false));
    assert_eq!(read("AllocTRES", "cpu=4,node=2"), (eight.0.clone(), true));
    assert_eq!(read("AllocTRES|ReqTRES", "cpu=4|cpu=4,node=2"), (eight.0.clone(), true));
    // A number that does not parse is not replaced by another.
    let one = ("4194304".to_owned(), false);
    assert_eq!(read("AllocTRES|ReqTRES", "cpu=4,node=x|cpu=4,node=2"), one);
    // The column comes first.
    assert_eq!(read("NNodes|AllocTRES", "2|cpu=4,node=3"), eight);
}

#[test]
fn requested_gpus_are_per_node() {
    let read = |list: &str, nodes: &str| {
        let columns = "JobID|State|Submit|Start|End|NCPUS|NNodes|ReqGRES";
        let times = "2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T00:00:40";
        let text = format!("{columns}\n7|COMPLETED|{times}|4|{nodes}|{list}\n");
        let rows = parsed(Source::Slurm, Table::TaskEvents, &text);
        let said = rows.notes.remarks.keys().find(|said| said.starts_with("GPUs requested"));
        let said = said.map_or("-", |said| said.strip_prefix("GPUs requested per ").unwrap());
        (rows.cell("gpu_request", 1), said.to_owned())
    };
    for (list, nodes, gpus, said) in [
        ("PER_NODE:gpu:2", "4", "8", "node: multiplied by the nodes"),
        ("PER_NODE:gpu:volta:2", "1", "2", "-"),
        ("gpu:1", "2", "2", "node: multiplied by the nodes"),
        ("gpu:1", "", "1", "node, number of nodes unknown: taken as one"),
        ("PER_JOB:gpu:8", "4", "8", "-"),
        ("PER_TASK:gpu:1", "4", "-", "socket, per task or in several ways: number unknown"),
        ("PER_SOCKET:gpu:1", "1", "-", "socket, per task or in several ways: number unknown"),
        (
            "PER_JOB:gpu:8,PER_NODE:gpu:4",
            "2",
            "-",
            "socket, per task or in several ways: number unknown",
        ),
        ("PER_NODE:gpu:2,PER_JOB:license:1", "3", "6", "node: multiplied by the nodes"),
        ("PER_NODE:craynetwork:1", "4", "-", "-"),
        ("0", "4", "-", "-"),
    ] {
        assert_eq!(read(list, nodes), (gpus.to_owned(), said.to_owned()), "{list} on {nodes}");
    }
}

#[test]
fn the_export_command_names_columns_that_are_read() {
    let command = EXPORT_AGAIN.split_once(": ").unwrap().1;
    let columns = command.split_once("--format ").unwrap().1.split(' ').next().unwrap();
    let layout = super::columns::Layout::of(columns.replace(',', "|").as_bytes()).unwrap();
    assert_eq!(layout.names, columns);
    assert!(layout.lines.is_last_open, "{columns}");
    let at = "2024-01-01T00:00:00";
    let line = format!(
        "7|7|c|p|q|a|g|u|{at}|{at}|{at}|{at}|0|0:0|COMPLETED|1|1|1|1G|cpu=1|cpu=1|90|n1|a|b\n"
    );
    let text = format!("{}\n{line}", columns.replace(',', "|"));
    let rows = parsed(Source::Slurm, Table::JobEvents, &text);
    assert_eq!(rows.rejects(), Vec::<String>::new());
    assert_eq!(rows.cell("logical_job_name", 0), "a|b");
    for page in ["tests/golden/help/ingest.txt", "reports/sessions/slurm.md"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = std::fs::read_to_string(path).unwrap().replace("\\\n", "");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(command), "{page}");
    }
}

#[test]
fn what_does_not_parse_is_a_reject() {
    let check = |fields: &str, expected: &str| {
        let text = format!("JobID|State|Submit|Start|End|NCPUS|ReqMem|JobName\n{fields}\n");
        for table in [Table::JobEvents, Table::TaskEvents] {
            assert_eq!(parsed(Source::Slurm, table, &text).rejects(), [expected], "{text}");
        }
        assert!(parsed(Source::Slurm, Table::MachineEvents, &text).rejects().is_empty());
    };
    let at = "2024-01-01T00:00:00";
    check("7|FAILED", "2  too_few_columns");
    check(&format!("|FAILED|{at}|{at}|{at}|1||"), "2 job_id empty_mandatory");
    check(&format!("7||{at}|{at}|{at}|1||"), "2 State empty_mandatory");
    check(&format!("7|DONE|{at}|{at}|{at}|1||"), "2 State unknown_event_type");
    check(&format!("7|FAILED|yesterday|{at}|{at}|1||"), "2 Submit bad_value");
    check(&format!("7|FAILED|{at}|2024-02-30T00:00:00|{at}|1||"), "2 Start bad_value");
    check(&format!("7|FAILED|{at}|{at}|{at}|many||"), "2 NCPUS bad_value");
    check(&format!("7|FAILED|{at}|{at}|{at}|1|much|"), "2 ReqMem bad_value");
    check("7|PENDING||||1||", "2 Submit empty_mandatory");
    check("7|FAILED|1900-01-01T00:00:00|||1||", "2 submit negative_time");
    let wait = |raw: &str| {
        let text = format!("JobID|State|Start|End|NCPUS|ResvCPURAW\n7|FAILED|{at}|{at}|2|{raw}\n");
        parsed(Source::Slurm, Table::TaskEvents, &text)
    };
    assert_eq!(wait("abc").rejects(), ["2 ResvCPURAW bad_value"]);
    assert_eq!(wait("60").cell("time_us", 0), "1704067170000000");
    let more = parsed(
        Source::Slurm,
        Table::TaskEvents,
        &format!("JobName|JobID|State|Start|End\na|b|7|FAILED|{at}|{at}\n"),
    );
    assert_eq!(more.rejects(), ["2  too_many_columns"]);
}

/// Promise: in an export without submits, a job without a start and an end is left out and counted.
#[test]
fn what_has_no_time_at_all_is_left_out() {
    let at = "2024-01-01T00:00:00Z";
    let text = format!(
        "JobID|State|Start|End|Elapsed|NCPUS\n1|CANCELLED|Unknown|{at}|00:00:00|1\n\
        2|PENDING|Unknown|Unknown|00:00:00|1\n3|COMPLETED|{at}|{at}|00:00:00|1\n"
    );
    let rows = parsed(Source::Slurm, Table::JobEvents, &text);
    assert_eq!(rows.rejects(), Vec::<String>::new());
    assert_eq!(rows.notes.remarks["never started, and no submit time: left out"], 1);
    assert_eq!([rows.cell("job_id", 0), rows.cell("job_id", 2)], ["1", "3"]);
}

#[test]
fn a_name_at_the_end_may_hold_separators_and_a_line_may_end_with_one() {
    let at = "2024-01-01T00:00:00Z";
    for (header, line, name) in [
        ("JobID|State|Start|End|JobName", format!("7|FAILED|{at}|{at}|a|b|c"), "a|b|c"),
        ("JobID|State|Start|JobName|End|", format!("7|FAILED|{at}|x|{at}|"), "x"),
        ("JobID|State|Start|End|JobName|", format!("7|FAILED|{at}|{at}|n|"), "n"),
        ("JobID|State|Start|End|JobName|", format!("7|FAILED|{at}|{at}|a|b|"), "a|b"),
        ("JobID|State|Start|End|JobName|", format!("7|FAILED|{at}|{at}|n"), "n"),
        ("JobID|State|Start|End|JobName", format!("7|FAILED|{at}|{at}|n|"), "n|"),
        ("JobID,State,Start,End,JobName", format!("7,FAILED,{at},{at},\"a, b\""), "a, b"),
        ("jobid\tstate\tstart\tend\tjobname", format!("7\tFAILED\t{at}\t{at}\ta b"), "a b"),
    ] {
        let rows =
            parsed(Source::Slurm, Table::JobEvents, &format!("\u{FEFF}{header}\r\n{line}\r\n"));
        assert_eq!(rows.rejects(), Vec::<String>::new(), "{header}");
        assert_eq!(rows.cell("logical_job_name", 0), name, "{header}");
        assert_eq!(
            rows.notes
                .remarks
                .get("times without a zone: taken as UTC (`--timezone` says otherwise)"),
            None
        );
    }
}

#[test]
fn the_26_fields_of_xdmod_need_no_header() {
    let line = "990270|990270|made|black|high|physics|staff|1|ada|2|2024-01-01T00:00:00|\
        2024-01-01T00:00:05|2024-01-01T00:00:10|2024-01-01T00:00:40|00:00:30|1:0|TIMEOUT|2|8|6|\
        4000Mn|cpu=6,mem=8000M,node=2|billing=8,cpu=8,mem=8000M,node=2|00:00:30|n[1-2]|a|b";
    assert!(super::seen_as(line.as_bytes()));
    check(
        Source::Slurm,
        line,
        &[(0, "SUBMIT"), (10, "SCHEDULE"), (40, "FAIL")]
            .map(|(second, kind)| format!("{} {kind}", NEW_YEAR_S + second))
            .join(", "),
    );
    let rows = parsed(Source::Slurm, Table::TaskEvents, line);
    for (column, expected) in [
        ("job_id", "990270"),
        ("user", "ada"),
        ("account", "physics"),
        ("user_group", "physics"),
        ("unix_group", "staff"),
        ("qos", "high"),
        ("queue", "black"),
        ("cpu_request", "8"),
        ("requested_processors", "6"),
        ("end_reason", "TIMEOUT"),
        ("exit_code", "1:0"),
        ("wait_us", "10000000"),
        ("run_us", "30000000"),
        ("requested_time_us", "30000000"),
        ("node_list", "n[1-2]"),
        ("nodes", "2"),
        ("machine_id", "-"),
        ("executable", "a|b"),
    ] {
        assert_eq!(rows.cell(column, 1), expected, "{column}");
    }
}

/// Promise: an assumed wait is not stored as a wait.
#[test]
fn an_assumed_wait_is_no_wait() {
    let wait = |header: &str, line: &str| {
        parsed(Source::Slurm, Table::TaskEvents, &format!("{header}\n{line}\n")).cell("wait_us", 1)
    };
    assert_eq!(wait("JobID|State|Start|End|NCPUS", "7|FAILED|1010|1040|1"), "-");
    assert_eq!(wait("JobID|State|Submit|Start|End|NCPUS", "7|FAILED|1010|1010|1040|1"), "0");
    let planned = wait("JobID|State|Start|End|Planned|NCPUS", "7|FAILED|1010|1040|00:00:08|1");
    assert_eq!(planned, "8000000");
}

#[test]
fn machines_are_those_of_the_lists_and_the_system_is_as_large_as_its_peak() {
    let lines = [
        line("1", "COMPLETED", ["00", "00", "20"], "n[01-02]"),
        line("2", "COMPLETED", ["00", "10", "30"], "n03"),
        // Begins when the first ends, and its 4 processors are free.
        line("3", "RUNNING", ["00", "20", ""], "n02"),
        line("4", "PENDING", ["00", "", ""], "None assigned"),
    ];
    let text = format!("{HEADER}\n{}", lines.join("\n"));
    let machines = parsed(Source::Slurm, Table::MachineEvents, &text);
    assert_eq!(machines.cell("cpu_capacity", 0), "8");
    let names: Vec<String> = (0..4).map(|row| machines.cell("machine_name", row)).collect();
    assert_eq!(names, ["-", "n01", "n02", "n03"]);
    let tasks = parsed(Source::Slurm, Table::TaskEvents, &text);
    assert_eq!(tasks.cell("machine_id", 0), "-");
    assert_eq!(tasks.cell("machine_id", 3), machines.cell("machine_id", 3));
}

/// Job 2 runs on into the second file, so it counts once. Its 4 processors and the 40 of job 1 are
/// in use at once, although the first file does not have job 1, and the second has 3 more later.
#[test]
fn the_system_of_several_files_is_as_large_as_the_peak_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let header = "JobID|State|Submit|Start|End|AllocCPUS\n";
    for (name, rows) in [
        ("2024-01.sacct", "2|RUNNING|1000|1000|Unknown|4\n3|COMPLETED|1000|1000|1100|20\n"),
        (
            "2024-02.sacct",
            "1|COMPLETED|1100|1100|1200|40\n2|COMPLETED|1000|1000|2000|4\n\
            4|COMPLETED|1900|1900|3000|3\n",
        ),
    ] {
        std::fs::write(folder.path().join(name), format!("{header}{rows}")).unwrap();
    }
    let trace = crate::sources::open_trace(folder.path(), Some(Source::Slurm), None).unwrap();
    for part in &trace.parts[&Table::MachineEvents] {
        let machines = parsed_part(part);
        let system = ["time_us", "machine_id", "cpu_capacity"].map(|name| machines.cell(name, 0));
        assert_eq!(system, ["0", "1", "44"]);
    }
}

#[test]
fn jobs_of_a_second_cluster_do_not_take_the_numbers_of_the_first() {
    let at = "2024-01-01T00:00:00Z";
    let text =
        format!("JobID|Cluster|State|Start|End\n7|one|FAILED|{at}|{at}\n7|two|FAILED|{at}|{at}\n");
    let rows = parsed(Source::Slurm, Table::JobEvents, &text);
    assert_eq!(
        (rows.cell("job_id", 0), rows.cell("job_name", 3)),
        ("7".to_owned(), "7".to_owned())
    );
    assert!(rows.cell("job_id", 3).starts_with('-'));
}

/// Promise: the files of a folder are one log. The jobs of two clusters are kept apart in it as in
/// one file, no matter which file has which jobs.
#[test]
fn jobs_of_a_second_cluster_keep_their_own_numbers_in_other_files() {
    let header = "JobID|Cluster|State|Submit|Start|End|User\n";
    let lines = |cluster: &str, ids: std::ops::Range<u32>| -> String {
        let at = |second: u32| format!("2024-01-01T00:00:{second:02}Z");
        let line = |id: u32| {
            let [submit, start, end] = [0, 1, 2].map(|after| at(id + after));
            format!("{id}|{cluster}|COMPLETED|{submit}|{start}|{end}|{cluster}\n")
        };
        ids.map(line).collect()
    };
    let events = |rows: &Rows| -> Vec<[String; 4]> {
        let all = 0..rows.block.row_ids.len();
        let of = |row| ["job_id", "time_us", "event_type", "user"].map(|name| rows.cell(name, row));
        all.map(of).collect()
    };
    let files = [
        String::new(),
        lines("one", 0..9),
        lines("two", 0..9),
        lines("two", 9..12) + &lines("one", 9..12),
        lines("three", 3..5),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (number, text) in files.iter().enumerate() {
        let path = folder.path().join(format!("{number}.sacct"));
        std::fs::write(path, format!("{header}{text}")).unwrap();
    }
    let trace = crate::sources::open_trace(folder.path(), Some(Source::Slurm), None).unwrap();
    let whole = format!("{header}{}", files.concat());
    let mut found: Vec<_> =
        trace.parts[&Table::JobEvents].iter().flat_map(|part| events(&parsed_part(part))).collect();
    let mut expected = events(&parsed(Source::Slurm, Table::JobEvents, &whole));
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(found.len(), 3 * (9 + 9 + 3 + 3 + 2));
}

/// Promise: a table with a state is not taken for an export of Slurm unless its columns are those
/// of Slurm.
#[test]
fn a_table_of_ones_own_is_not_an_export() {
    for (header, is_export) in [
        ("job_id,user,submit,start,end,state,cpus,gpus", false),
        ("user;submit;start;end;state;cores", false),
        ("JobID,User,Submit,Start,End,State,mine", true),
        ("User\tSubmit\tStart\tEnd\tState\tAllocCPUS", true),
        ("user|start|end|state|cores", true),
    ] {
        assert_eq!(super::seen_as(header.as_bytes()), is_export, "{header}");
    }
}

#[test]
fn a_job_that_was_suspended_is_charged_for_the_time_that_it_ran() {
    let header = "JobID|State|Submit|Start|End|ElapsedRaw|NCPUS";
    let at = |second: u32| format!("2024-01-01T00:00:{second:02}Z");
    let line = format!("7|COMPLETED|{}|{}|{}|10|4", at(0), at(5), at(45));
    let remark =
        "run time shorter than from start to end: suspended, which counts as spread evenly";
    check_from(header, &[&line], "0 SUBMIT, 5 SCHEDULE, 45 FINISH", &[remark]);
    let rows = parsed(Source::Slurm, Table::TaskEvents, &format!("{header}\n{line}\n"));
    assert_eq!(rows.cell("run_us", 1), "10000000");
    // A run time longer than the span: the clock was set back, in a zone that is not given.
    let line = format!("7|COMPLETED|{}|{}|{}|40|4", at(0), at(15), at(5));
    let remark = "run time longer than from start to end: ended at the start and run time";
    check_from(header, &[&line], "0 SUBMIT, 15 SCHEDULE, 55 FINISH", &[remark]);
}

#[test]
fn a_start_of_1970_is_no_start() {
    let header = "JobID|State|Submit|Start|End|ElapsedRaw|NCPUS";
    let (submit, end) = ("2024-01-01T00:00:00Z", "2024-01-01T00:00:30Z");
    let zero = "1970-01-01T00:00:00: taken as an unknown time";
    let line = format!("7|CANCELLED|{submit}|1970-01-01T00:00:00Z|{end}|0|4");
    check_from(header, &[&line], "0 SUBMIT, 30 KILL", &[zero]);
    // In an export from another zone, time 0 is another hour of that day.
    let line = format!("7|FAILED|{submit}|1970-01-01T01:00:00Z|{end}|0|4");
    let early = "a start before the submit and no run time: no SCHEDULE";
    check_from(header, &[&line], "0 SUBMIT, 30 FAIL", &[early]);
    let line = format!("7|FAILED|{submit}|1970-01-01T00:00:00Z|{end}|20|4");
    let derived = "no start time: end minus the run time";
    check_from(header, &[&line], "0 SUBMIT, 10 SCHEDULE, 30 FAIL", &[zero, derived]);
}

/// The events of a text in the zone of Berlin, s since 1970, and its remarks; `None` if the system
/// has no zone files.
fn in_berlin(lines: &[&str]) -> Option<(String, Vec<&'static str>)> {
    // Some systems have no zone files.
    let zone = "Europe/Berlin".parse().ok()?;
    let text = format!("JobID|State|Submit|Start|End|ElapsedRaw|NCPUS\n{}\n", lines.join("\n"));
    let rows = parsed_in(Some(zone), Source::Slurm, Table::TaskEvents, &text);
    assert_eq!(rows.rejects(), Vec::<String>::new());
    Some((rows.history(), rows.notes.remarks.keys().copied().collect()))
}

#[test]
fn an_hour_that_comes_twice_is_the_one_that_the_run_time_fits() {
    let by_run = "ambiguous local times (the clock was set back): decided by the run time";
    let first = "ambiguous local times (the clock was set back): the first is taken";
    let left_out = "local times that the clock skipped: the offset before the change is used";
    // 2023-10-29 02:30 is 1,698,539,400 in summer and 1,698,543,000 in winter time.
    for (submit, start, end, run, expected, remark) in [
        (
            "10-29T01:00:00",
            "10-29T02:30:00",
            "10-29T03:10:00",
            "2400",
            [1_698_534_000, 1_698_543_000, 1_698_545_400],
            by_run,
        ),
        (
            "10-29T01:00:00",
            "10-29T02:30:00",
            "10-29T03:10:00",
            "6000",
            [1_698_534_000, 1_698_539_400, 1_698_545_400],
            by_run,
        ),
        (
            "10-29T01:00:00",
            "10-29T02:50:00",
            "10-29T02:10:00",
            "1200",
            [1_698_534_000, 1_698_540_600, 1_698_541_800],
            by_run,
        ),
        (
            "10-29T01:00:00",
            "10-29T01:50:00",
            "10-29T02:10:00",
            "4800",
            [1_698_534_000, 1_698_537_000, 1_698_541_800],
            by_run,
        ),
        (
            "10-29T01:00:00",
            "10-29T02:30:00",
            "10-29T03:10:00",
            "",
            [1_698_534_000, 1_698_539_400, 1_698_545_400],
            first,
        ),
        (
            "10-29T02:10:00",
            "10-29T03:30:00",
            "10-29T03:40:00",
            "600",
            [1_698_538_200, 1_698_546_600, 1_698_547_200],
            first,
        ),
        (
            "03-26T01:00:00",
            "03-26T02:30:00",
            "03-26T03:40:00",
            "600",
            [1_679_788_800, 1_679_794_200, 1_679_794_800],
            left_out,
        ),
    ] {
        let line = format!("7|COMPLETED|2023-{submit}|2023-{start}|2023-{end}|{run}|1");
        let Some((history, remarks)) = in_berlin(&[&line]) else { return };
        let [submit, start, end] = expected;
        let expected = format!("{submit} SUBMIT, {start} SCHEDULE, {end} FINISH");
        assert_eq!((history, remarks), (expected, vec![remark]), "{line}");
    }
}

#[test]
fn an_end_that_comes_twice_is_the_one_after_the_start() {
    let first = "ambiguous local times (the clock was set back): the first is taken";
    let after = "ambiguous local times (the clock was set back): the end after the start";
    for (start, end, expected, remark) in [
        ("02:50:00", "02:20:00", [1_698_540_600, 1_698_542_400], after),
        ("02:20:00", "02:50:00", [1_698_538_800, 1_698_540_600], first),
        // The start is after both: nothing fits.
        ("03:20:00", "02:50:00", [1_698_546_000, 1_698_546_000], first),
    ] {
        let line =
            format!("7|COMPLETED|2023-10-29T01:00:00|2023-10-29T{start}|2023-10-29T{end}||1");
        let Some((history, remarks)) = in_berlin(&[&line]) else { return };
        let [start, end] = expected;
        let expected = format!("1698534000 SUBMIT, {start} SCHEDULE, {end} FINISH");
        assert_eq!((history, remarks[0]), (expected, remark), "{line}");
    }
}

#[test]
fn a_submit_that_comes_twice_is_counted_once_where_the_start_is_derived() {
    let Ok(zone) = "Europe/Berlin".parse() else { return };
    let text = "JobID|State|Submit|Planned|ElapsedRaw|NCPUS\n\
        7|COMPLETED|2023-10-29T02:10:00|00:10:00|600|1\n";
    let rows = parsed_in(Some(zone), Source::Slurm, Table::TaskEvents, text);
    let [submit, start, end] = [1_698_538_200, 1_698_538_800, 1_698_539_400];
    assert_eq!(rows.history(), format!("{submit} SUBMIT, {start} SCHEDULE, {end} FINISH"));
    let first = "ambiguous local times (the clock was set back): the first is taken";
    assert_eq!(rows.notes.remarks[first], 1);
}

#[test]
fn an_array_in_one_record_is_counted() {
    let header = "JobID|JobIDRaw|State|Submit|Start|End|NCPUS";
    let line = "123_[4-9]|123|PENDING|2024-01-01T00:00:00|Unknown|Unknown|1";
    let remark = "records of several array elements: each counts as one job";
    check_from(header, &[line], "0 SUBMIT", &[remark]);
}

#[test]
fn rows_of_one_start_are_one_attempt() {
    let open = line("7", "RUNNING", ["00", "10", ""], "n1");
    let ended = line("7", "COMPLETED", ["00", "10", "20"], "n1");
    let remark = "rows that repeat the end of an attempt of an earlier row: one attempt";
    let expected = "0 SUBMIT, 10 SCHEDULE, 20 FINISH";
    check_from(HEADER, &[&open, &ended], expected, &[remark]);
    let repeated = "rows that repeat an earlier row of the task: left out";
    check_from(HEADER, &[&ended, &open], expected, &[repeated]);
    let other = "rows with the start of an earlier row of the task, but another end: left out";
    let longer = line("7", "FAILED", ["00", "10", "30"], "n1");
    check_from(HEADER, &[&ended, &longer], expected, &[other]);
}

#[test]
fn an_attempt_may_start_when_one_before_it_started_and_ended() {
    let at_once = line("7", "PREEMPTED", ["00", "10", "10"], "n1");
    let next = line("7", "COMPLETED", ["10", "10", "40"], "n1");
    let expected = "0 SUBMIT, 10 SCHEDULE, 10 EVICT, 10 SUBMIT, 10 SCHEDULE, 40 FINISH";
    check_from(HEADER, &[&at_once, &next], expected, &[]);
    let same_submit = line("7", "FAILED", ["00", "10", "40"], "n1");
    let expected = "0 SUBMIT, 10 SCHEDULE, 10 EVICT, 10 SCHEDULE, 40 FAIL";
    check_from(HEADER, &[&at_once, &same_submit], expected, &[]);
    let open = line("7", "RUNNING", ["00", "10", ""], "n1");
    check_from(HEADER, &[&at_once, &open], "0 SUBMIT, 10 SCHEDULE, 10 EVICT, 10 SCHEDULE", &[]);
    // An older record of an attempt whose end was corrected to its start.
    let ended = line("7", "COMPLETED", ["00", "10", "10"], "n1");
    let repeated = ["rows that repeat an earlier row of the task: left out"];
    let expected = "0 SUBMIT, 10 SCHEDULE, 10 FINISH";
    check_from(HEADER, &[&ended, &open], expected, &repeated);
    // The reverse order: the attempt without length adds no CPU time, and is counted.
    let other = ["rows with the start of an earlier row of the task, but another end: left out"];
    let expected = "0 SUBMIT, 10 SCHEDULE, 40 FAIL";
    check_from(HEADER, &[&same_submit, &at_once], expected, &other);
}

#[test]
fn cpu_time_is_of_the_processors_that_were_requested_if_no_others_are_known() {
    let text = "JobID|State|Start|End|ReqCPUS|TotalCPU\n7|COMPLETED|1000|2000|4|00:20:00\n";
    let rows = parsed(Source::Slurm, Table::TaskEvents, text);
    let of = |column: &str| rows.cell(column, 1);
    assert_eq!([of("processors"), of("requested_processors")], ["-", "4"]);
    assert_eq!(of("cpu_time_us"), "300000000");
}

/// A random job: its submit, and for each attempt the gap before it and its length, s.
type DrawnJob = (i64, Vec<(i64, i64)>);

/// The lines of a job in the export of a month: its attempts that ran or waited in the month, as
/// known at the end of the month. Empty if there are none.
fn in_month(job: &DrawnJob, id: usize, from: i64, to: i64) -> String {
    let mut text = String::new();
    let mut at = 1000 + job.0;
    for &(gap, length) in &job.1 {
        let (submit, start, end) = (1000 + job.0, at + gap, at + gap + length);
        at = end;
        if end < from || to <= submit || to <= start && submit != start - gap {
            continue;
        }
        let (state, start, end) = match () {
            () if to <= start => ("PENDING", "Unknown".to_owned(), "Unknown".to_owned()),
            () if to <= end => ("RUNNING", start.to_string(), "Unknown".to_owned()),
            () => ("PREEMPTED", start.to_string(), end.to_string()),
        };
        writeln!(text, "{id}|{state}|{submit}|{start}|{end}|2").unwrap();
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Promise: a job in several files of a log has the same events as in one file with every
    /// record once, no matter which months it ran in.
    #[test]
    fn a_job_in_several_files_is_reported_once(
        jobs in prop::collection::vec(
            (
                0_i64..300,
                prop::collection::vec(
                    (prop_oneof![Just(0_i64), 1_i64..150], prop_oneof![Just(0_i64), 1_i64..200]),
                    1..5,
                ),
            ),
            1..12,
        ),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let header = "JobID|State|Submit|Start|End|AllocCPUS\n";
        let month = |number: i64| {
            let (from, to) = (1000 + number * 200, 1200 + number * 200);
            let lines = (1..).zip(&jobs).map(|(id, job)| in_month(job, id, from, to));
            lines.collect::<String>()
        };
        let last = 12;
        for number in 0..last {
            let path = folder.path().join(format!("{number:02}.sacct"));
            std::fs::write(path, format!("{header}{}", month(number))).unwrap();
        }
        let whole = (1..).zip(&jobs).map(|(id, job)| in_month(job, id, 0, 1_000_000));
        let whole = format!("{header}{}", whole.collect::<String>());
        let events = |rows: &Rows| {
            let cells = |row: usize| {
                ["job_id", "time_us", "event_type"].map(|column| rows.cell(column, row).parse::<i64>().unwrap())
            };
            let mut all: Vec<[i64; 3]> = (0..rows.block.row_ids.len()).map(cells).collect();
            all.sort_unstable();
            all
        };
        let trace = crate::sources::open_trace(folder.path(), Some(Source::Slurm), None).unwrap();
        for table in [Table::JobEvents, Table::TaskEvents] {
            let mut found: Vec<[i64; 3]> =
                trace.parts[&table].iter().flat_map(|part| events(&parsed_part(part))).collect();
            found.sort_unstable();
            prop_assert_eq!(found, events(&parsed(Source::Slurm, table, &whole)));
        }
    }
}

/// Events in the order of their times; those of one time stay as they are.
fn in_time(events: &[String]) -> String {
    let mut all: Vec<String> =
        events.iter().flat_map(|row| row.split(", ")).map(str::to_owned).collect();
    all.sort_by_key(|event| event.split_once(' ').unwrap().0.parse::<i64>().unwrap());
    all.join(", ")
}

/// A random instant: the time since the attempt before it, s; the attempts that end at that
/// instant, with their waits and states; and the length and state of an attempt that runs.
type Instant = (i64, Vec<(i64, usize)>, Option<(i64, usize)>);

fn instants() -> impl Strategy<Value = Vec<Instant>> {
    let at_once = prop::collection::vec((0_i64..4, 0_usize..3), 0..4);
    let instant = (0_i64..3, at_once, prop::option::of((1_i64..50, 0_usize..3)));
    prop::collection::vec(instant, 1..8)
}

/// The attempts of a job in order: submit, start, end and state.
fn attempts_at(instants: &[Instant]) -> Vec<(i64, i64, i64, usize)> {
    let (mut submit, mut at, mut rows) = (1000, 1000, Vec::new());
    for (gap, at_once, running) in instants {
        at += gap;
        for &(wait, state) in at_once {
            submit = submit.max(at - wait);
            rows.push((submit, at, at, state));
        }
        if let &Some((length, state)) = running {
            rows.push((submit, at, at + length, state));
            at += length;
        }
    }
    rows
}

proptest! {
    /// Promise: each row of a job that differs from all before it is an attempt, even if several
    /// start at the same time. A row that repeats all of an earlier one is left out and counted.
    #[test]
    fn rows_that_differ_are_attempts(
        instants in instants(),
        repeats in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 0..6),
    ) {
        const STATES: [[&str; 2]; 3] =
            [["COMPLETED", "FINISH"], ["TIMEOUT", "FAIL"], ["PREEMPTED", "EVICT"]];
        let mut rows = attempts_at(&instants);
        for [which, place] in repeats {
            if !rows.is_empty() {
                let which = which.index(rows.len());
                rows.insert(which + 1 + place.index(rows.len() - which), rows[which]);
            }
        }
        let mut text = "JobID|State|Submit|Start|End|AllocCPUS\n".to_owned();
        let (mut kept, mut expected, mut left_out) = (Vec::new(), Vec::new(), 0);
        for &row in &rows {
            let (submit, start, end, state) = row;
            let [word, event] = STATES[state];
            writeln!(text, "7|{word}|{submit}|{start}|{end}|2").unwrap();
            if kept.contains(&row) {
                left_out += 1;
                continue;
            }
            // With the same submit time, it was submitted again only if the attempt before it had
            // ended by then.
            if kept.last().is_none_or(|last| last.0 != submit || last.2 == submit) {
                expected.push(format!("{submit} SUBMIT"));
            }
            expected.push(format!("{start} SCHEDULE, {end} {event}"));
            kept.push(row);
        }
        for table in [Table::JobEvents, Table::TaskEvents] {
            let found = parsed(Source::Slurm, table, &text);
            prop_assert_eq!(found.rejects(), Vec::<String>::new());
            prop_assert_eq!(found.history(), expected.join(", "), "{}", text);
            prop_assert_eq!(found.history_in_time(), in_time(&expected), "{}", text);
            let repeated = "rows that repeat an earlier row of the task: left out";
            let count = found.notes.remarks.get(repeated).copied();
            prop_assert_eq!(count.unwrap_or(0), left_out, "{}", text);
        }
    }

    /// Promise: the order of the rows of a job does not matter, even if an attempt ends at the
    /// instant at which the next is submitted or starts. (Of several that take no time at one
    /// instant, only the order of their rows shows which was first.)
    #[test]
    fn attempts_that_touch_may_be_in_any_order(
        drawn in prop::collection::vec((0_i64..3, 0_i64..3, 1_i64..4, any::<bool>()), 1..6)
            .prop_flat_map(|attempts| {
                let places: Vec<usize> = (0..attempts.len()).collect();
                (Just(attempts), Just(places).prop_shuffle())
            }),
        instant in prop::option::of(0_usize..6),
    ) {
        let (attempts, order) = drawn;
        let (mut at, mut rows, mut expected) = (1000, Vec::new(), Vec::new());
        for (place, (gap, wait, length, is_evicted)) in attempts.into_iter().enumerate() {
            let (submit, length) = (at + gap, if instant == Some(place) { 0 } else { length });
            let start = submit + wait;
            at = start + length;
            let [word, event] =
                if is_evicted { ["PREEMPTED", "EVICT"] } else { ["TIMEOUT", "FAIL"] };
            rows.push(format!("7|{word}|{submit}|{start}|{at}|2\n"));
            expected.push(format!("{submit} SUBMIT, {start} SCHEDULE, {at} {event}"));
        }
        let rows: String = order.iter().map(|&place| rows[place].as_str()).collect();
        let text = format!("JobID|State|Submit|Start|End|AllocCPUS\n{rows}");
        for table in [Table::JobEvents, Table::TaskEvents] {
            let found = parsed(Source::Slurm, table, &text);
            prop_assert_eq!(found.history_in_time(), expected.join(", "), "{}", text);
        }
    }

    /// Promise: the CPU time of a random export, summed over its events, equals the sum over its
    /// lines.
    #[test]
    fn cpu_time_is_what_the_lines_say(
        jobs in prop::collection::vec((0_i64..1_000, 0_i64..5_000, 1_i64..64, 0_usize..4), 1..60),
    ) {
        const STATES: [&str; 4] = ["COMPLETED", "TIMEOUT", "CANCELLED by 7", "PREEMPTED"];
        let mut text = "JobID|State|Submit|Start|End|AllocCPUS\n".to_owned();
        let (mut expected, mut id) = (0, 0);
        for (start, length, cpus, state) in jobs {
            id += 1;
            expected += length * cpus;
            let state = STATES[state];
            // Seconds since 1970, as SLURM_TIME_FORMAT=%s prints them.
            let (begun, ended) = (1000 + start, 1000 + start + length);
            writeln!(text, "{id}|{state}|1000|{begun}|{ended}|{cpus}").unwrap();
        }
        let rows = parsed(Source::Slurm, Table::TaskEvents, &text);
        prop_assert_eq!(rows.rejects(), Vec::<String>::new());
        let mut found = 0;
        let number = |column: &str, row: usize| rows.cell(column, row).parse::<i64>().unwrap();
        for row in 0..rows.block.row_ids.len() {
            let seconds = number("time_us", row) / 1_000_000 * number("cpu_request", row);
            match rows.cell("event_type", row).as_str() {
                "0" => {}
                "1" => found -= seconds,
                _ => found += seconds,
            }
        }
        // A job that was cancelled after 0 s counts as never started, and used nothing.
        prop_assert_eq!(found - killed_unstarted(&rows), expected);
    }
}

/// Processor-seconds of ends without a start, as the sum above counts them.
fn killed_unstarted(rows: &Rows) -> i64 {
    let count = rows.block.row_ids.len();
    (0..count)
        .filter(|&row| {
            let is_end = !matches!(rows.cell("event_type", row).as_str(), "0" | "1");
            is_end && rows.cell("event_type", row - 1) != "1"
        })
        .map(|row| {
            let number = |column: &str| rows.cell(column, row).parse::<i64>().unwrap();
            number("time_us") / 1_000_000 * number("cpu_request")
        })
        .sum()
}

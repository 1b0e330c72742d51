//! Standard workload format 2.2: one line of 18 fields per job.
//!
//! In: lines of text; `;` begins a line of the header. Out: the events that [`super::log`] makes of
//! jobs. Fields are separated by spaces or tabs, times are seconds since the start of the log, and
//! every field is a number, -1 if it is missing. Users, groups and the like are numbers that are
//! kept as text. Some published logs have additional fields after the 18: they are left out, and
//! the lines are counted.
//!
//! Source: Chapin et al., "Benchmarks and standards for the evaluation of parallel job
//! schedulers" (1999), and the description of the format at the Parallel Workloads Archive.

use super::fields;
use super::folder::RawPart;
use super::log::{self, Fault, JobKey, LineFormat, LogJob, LogParser};
use super::reject::RejectReason;
use super::rows::Cell;

/// Fields of a line.
pub(super) const FIELD_COUNT: usize = 18;

/// Reads the jobs of a log.
pub(super) struct Swf;

/// A parser for one table of a log.
pub(super) fn parser(part: &RawPart) -> LogParser<Swf> {
    LogParser::new(Swf, part)
}

impl LineFormat for Swf {
    const COMMENT: u8 = b';';

    fn job<'a>(&mut self, line: &'a [u8]) -> Result<LogJob<'a>, Fault> {
        let (fields, has_more) = split(line)?;
        Ok(LogJob {
            key: JobKey::Number(
                id(fields[0], "job_id")?.ok_or(("job_id", RejectReason::EmptyMandatory))?,
            ),
            submit_us: log::span_micros(fields[1], "time_us")?,
            wait_us: log::any_micros(fields[2], "wait_us")?,
            run_us: log::span_micros(fields[3], "run_us")?,
            processors: log::whole(fields[4], "processors")?,
            cpu_time_us: log::span_micros(fields[5], "cpu_time_us")?,
            used_memory_kib: log::quantity(fields[6], "used_memory_kib")?,
            requested_processors: log::whole(fields[7], "requested_processors")?,
            requested_time_us: log::span_micros(fields[8], "requested_time_us")?,
            requested_memory_kib: log::quantity(fields[9], "requested_memory_kib")?,
            status: log::status(fields[10])?,
            user: number(fields[11], "user")?,
            group: number(fields[12], "user_group")?,
            executable: number(fields[13], "executable")?,
            queue: number(fields[14], "queue")?,
            partition: number(fields[15], "partition")?,
            own: vec![
                Cell::from(id(fields[16], "preceding_job")?),
                Cell::from(log::span_micros(fields[17], "think_time_us")?),
            ],
            remark: has_more.then_some(MORE_FIELDS),
        })
    }
}

/// The remark about lines with additional fields.
const MORE_FIELDS: &str = "lines with more than 18 fields: the first 18 are read";

/// The first 18 fields of a line, and whether there are more.
fn split(line: &[u8]) -> Result<([&[u8]; FIELD_COUNT], bool), Fault> {
    let mut all = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let mut fields = [&[][..]; FIELD_COUNT];
    for field in &mut fields {
        *field = all.next().ok_or(("", RejectReason::TooFewColumns))?;
    }
    Ok((fields, all.next().is_some()))
}

/// A number that names a job; -1 is missing.
fn id(field: &[u8], column: &'static str) -> Result<Option<i64>, Fault> {
    match fields::careful_i64(field) {
        Some(-1) => Ok(None),
        Some(number) if 0 <= number => Ok(Some(number)),
        _ => Err((column, RejectReason::BadValue)),
    }
}

/// A number that names a user, group, queue, ..., kept as it is written; -1 is missing.
fn number<'a>(field: &'a [u8], column: &'static str) -> Result<Option<&'a str>, Fault> {
    id(field, column)?;
    log::name(field, column)
}

#[cfg(test)]
mod tests {
    use crate::schema::{Source, Table};
    use crate::sources::tests::{check, parsed};

    #[test]
    fn a_job_is_submitted_scheduled_and_ended() {
        let line = "7 100 20 300 4 -1 -1 4 600 -1 1 3 1 -1 0 -1 -1 -1";
        check(Source::Swf, line, "100 SUBMIT, 120 SCHEDULE, 420 FINISH");
        let rows = parsed(Source::Swf, Table::TaskEvents, line);
        assert_eq!(rows.cell("cpu_request", 1), "4");
        assert_eq!(rows.cell("user", 1), "3");
        assert_eq!(rows.cell("queue", 1), "0");
        assert_eq!(rows.cell("partition", 1), "-");
        assert_eq!(rows.cell("requested_time_us", 1), "600000000");
        assert_eq!(rows.block.row_ids, [4, 5, 6]);
    }

    /// A line of job 1 with these first fields: submit, wait, run, processors; and a status.
    fn line(submit: &str, wait: &str, run: &str, processors: &str, status: &str) -> String {
        format!("1 {submit} {wait} {run} {processors} -1 -1 -1 -1 -1 {status} 3 1 -1 0 -1 -1 -1\n")
    }

    #[test]
    fn what_is_missing_is_assumed_as_stated_and_counted() {
        let check = |text: &str, expected: &str, wording: &str| {
            check(Source::Swf, text, expected);
            let remarks = parsed(Source::Swf, Table::JobEvents, text).notes.remarks;
            let found: Vec<(&str, u64)> = remarks.into_iter().collect();
            let expected: Vec<(&str, u64)> =
                if wording.is_empty() { Vec::new() } else { vec![(wording, 1)] };
            assert_eq!(found, expected, "{text}");
        };
        check(&line("5", "2", "3", "1", "1"), "5 SUBMIT, 7 SCHEDULE, 10 FINISH", "");
        check(&line("5", "2", "3", "1", "0"), "5 SUBMIT, 7 SCHEDULE, 10 FAIL", "");
        check(&line("5", "2", "3", "1", "5"), "5 SUBMIT, 7 SCHEDULE, 10 KILL", "");
        check(&line("0", "0", "0", "1", "1"), "0 SUBMIT, 0 SCHEDULE, 0 FINISH", "");
        let unknown = "status unknown, has run: taken as finished";
        check(&line("5", "2", "3", "1", "-1"), "5 SUBMIT, 7 SCHEDULE, 10 FINISH", unknown);
        let wait = "wait unknown: started at the submit";
        check(&line("5", "-1", "3", "1", "1"), "5 SUBMIT, 5 SCHEDULE, 8 FINISH", wait);
        let late = "wait negative: submitted at the start";
        check(&line("5", "-3", "3", "1", "1"), "2 SUBMIT, 2 SCHEDULE, 5 FINISH", late);
        let cancelled = "cancelled before a start: SUBMIT and KILL";
        check(&line("5", "2", "-1", "-1", "5"), "5 SUBMIT, 7 KILL", cancelled);
        check(&line("5", "-1", "-1", "-1", "5"), "5 SUBMIT, 5 KILL", cancelled);
        check(&line("5", "2", "0", "0", "5"), "5 SUBMIT, 7 KILL", cancelled);
        check(&line("5", "2", "0", "4", "5"), "5 SUBMIT, 7 SCHEDULE, 7 KILL", "");
        let ended = "ended, run time unknown: no attempt";
        check(&line("5", "2", "-1", "1", "1"), "5 SUBMIT, 7 FINISH", ended);
        check(&line("5", "2", "-1", "1", "0"), "5 SUBMIT, 7 FAIL", ended);
        let open = "neither run time nor status: submitted only";
        check(&line("5", "2", "-1", "1", "-1"), "5 SUBMIT", open);
        check(&line("5.5", "0.25", "0.25", "1", "1"), "5 SUBMIT, 5 SCHEDULE, 6 FINISH", "");
    }

    #[test]
    fn parts_of_a_run_are_attempts_unless_a_line_stands_for_the_whole() {
        let parts = [
            line("5", "2", "10", "1", "2"),
            line("-1", "3", "10", "1", "2"),
            line("-1", "1", "4", "1", "3"),
        ]
        .concat();
        let expected =
            "5 SUBMIT, 7 SCHEDULE, 17 EVICT, 20 SCHEDULE, 30 EVICT, 31 SCHEDULE, 35 FINISH";
        check(Source::Swf, &parts, expected);
        let failed = parts.replace(" 3 3 1 ", " 4 3 1 ");
        check(Source::Swf, &failed, &expected.replace("FINISH", "FAIL"));
        let whole = line("5", "2", "24", "1", "1");
        for text in [format!("{whole}{parts}"), format!("{parts}{whole}")] {
            check(Source::Swf, &text, "5 SUBMIT, 7 SCHEDULE, 31 FINISH");
            let notes = parsed(Source::Swf, Table::JobEvents, &text).notes;
            assert_eq!(notes.remarks.into_values().collect::<Vec<u64>>(), [3]);
        }
        let headless = parsed(Source::Swf, Table::JobEvents, &line("-1", "3", "10", "1", "2"));
        assert_eq!(headless.rejects(), ["1 time_us empty_mandatory"]);
    }

    #[test]
    fn what_does_not_parse_is_a_reject() {
        let good = line("5", "2", "3", "1", "1");
        let check = |text: &str, expected: &str| {
            for table in [Table::JobEvents, Table::TaskEvents] {
                assert_eq!(parsed(Source::Swf, table, text).rejects(), [expected], "{text}");
            }
            assert!(parsed(Source::Swf, Table::MachineEvents, text).rejects().is_empty());
        };
        check(&format!("{good}{good}"), "2 job_id duplicate_job");
        check("1 2 3", "1  too_few_columns");
        check(&line("x", "2", "3", "1", "1"), "1 time_us bad_value");
        check(&line("-1", "2", "3", "1", "1"), "1 time_us empty_mandatory");
        check(&line("-7", "2", "3", "1", "1"), "1 time_us negative_time");
        check(&line("5", "-9", "3", "1", "1"), "1 wait_us negative_time");
        check(&line("5", "2", "-2", "1", "1"), "1 run_us negative_time");
        check(&line("5", "2", "3", "1.5", "1"), "1 processors bad_value");
        check(&line("5", "2", "3", "1", "6"), "1 status unknown_event_type");
        check(&line("9000000000000", "9000000000000", "3", "1", "1"), "1 wait_us bad_value");
        check(&good.replace(" 3 1 -1 0", " bob 1 -1 0"), "1 user bad_value");
        check(&good.replacen('1', "-1", 1), "1 job_id empty_mandatory");
    }

    #[test]
    fn fields_beyond_the_eighteenth_are_left_out_and_counted() {
        let plain = line("5", "2", "3", "1", "1");
        let text = format!("{} 5\n{} 1 2 3\n", plain.trim(), plain.trim().replacen('1', "2", 1));
        check(
            Source::Swf,
            &text,
            "5 SUBMIT, 7 SCHEDULE, 10 FINISH, 5 SUBMIT, 7 SCHEDULE, 10 FINISH",
        );
        for table in [Table::JobEvents, Table::TaskEvents] {
            let rows = parsed(Source::Swf, table, &text);
            let alone = parsed(Source::Swf, table, &plain);
            assert_eq!(rows.notes.remarks.iter().collect::<Vec<_>>(), [(&super::MORE_FIELDS, &2)]);
            for column in table.columns(Source::Swf) {
                assert_eq!(
                    rows.cell(column.name, 0),
                    alone.cell(column.name, 0),
                    "{}",
                    column.name
                );
            }
        }
    }

    #[test]
    fn lines_of_a_header_that_are_not_kept_are_counted() {
        let many = "; Note: a\n".repeat(10_050);
        let text = format!("{many}; MaxProcs: 64\n; Computer: {}\n", "x".repeat(2 << 20));
        let jobs = parsed(Source::Swf, Table::JobEvents, &text);
        assert_eq!(jobs.notes.header.len(), 10_001, "what the machine is made of is always kept");
        for table in [Table::JobEvents, Table::TaskEvents, Table::MachineEvents] {
            let remarks = parsed(Source::Swf, table, &text).notes.remarks;
            assert_eq!(remarks.into_values().collect::<Vec<u64>>(), [51], "{table}");
        }
        let machines = parsed(Source::Swf, Table::MachineEvents, &text);
        assert_eq!(machines.cell("cpu_capacity", 0), "64");
        // A value that continues over too many lines is truncated.
        let endless = format!("; Note: a\n{}", ";  and so on\n".repeat(200_000));
        let jobs = parsed(Source::Swf, Table::JobEvents, &endless);
        let kept: usize = jobs.notes.header.iter().map(|(_, value)| value.len()).sum();
        assert!(kept <= 1 << 20, "{kept}");
        assert_eq!(jobs.notes.remarks.into_values().collect::<Vec<u64>>(), [190_001]);
    }

    #[test]
    fn the_header_tells_the_machine() {
        let text = "\u{FEFF}; Version: 2.2\r\n;MaxNodes: 64\r\n; MaxProcs: 128 (one cabinet)\r\n\
                    ; Computer: iPSC\r\n; Note: a\r\n;   and b, see\r\n;   http://x.y/\r\n;\r\n";
        let jobs = parsed(Source::Swf, Table::JobEvents, text);
        let header: Vec<String> =
            jobs.notes.header.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            header,
            [
                "Version=2.2",
                "MaxNodes=64",
                "MaxProcs=128 (one cabinet)",
                "Computer=iPSC",
                "Note=a and b, see http://x.y/"
            ]
        );
        let machines = parsed(Source::Swf, Table::MachineEvents, text);
        assert_eq!(machines.cell("cpu_capacity", 0), "128");
        assert_eq!(machines.cell("platform_id", 0), "iPSC");
        assert_eq!(machines.cell("time_us", 0), "0");
        assert!(machines.notes.header.is_empty(), "the header stands with the first table");
        let nodes = parsed(Source::Swf, Table::MachineEvents, "; MaxNodes: 64\n");
        assert_eq!(nodes.cell("cpu_capacity", 0), "64");
        assert!(
            parsed(Source::Swf, Table::MachineEvents, "; MaxProcs: -1\n").block.row_ids.is_empty()
        );
    }

    #[test]
    fn the_size_of_the_system_is_a_whole_number_or_left_out() {
        for (value, expected) in [
            ("1024", Some("1024")),
            ("1,024", Some("1024")),
            ("1,163,212 cores", Some("1163212")),
            ("128, of two kinds", Some("128")),
            ("1 024", None),
            ("1.024", None),
            ("1,02", None),
            ("1,0244", None),
            ("1024,512", None),
            ("1k", None),
            ("many", None),
        ] {
            let text = format!("; MaxProcs: {value}\n");
            let found = parsed(Source::Swf, Table::MachineEvents, &text);
            let rows = found.block.row_ids.len();
            let capacity = (0 < rows).then(|| found.cell("cpu_capacity", 0));
            assert_eq!(capacity.as_deref(), expected, "{value}");
            let remarks: Vec<u64> = found.notes.remarks.into_values().collect();
            assert_eq!(remarks, vec![1; usize::from(expected.is_none())], "{value}");
        }
        let both = "; MaxProcs: ?\n; MaxNodes: 64\n";
        let found = parsed(Source::Swf, Table::MachineEvents, both);
        assert_eq!(found.cell("cpu_capacity", 0), "64");
        assert_eq!(found.notes.remarks.len(), 1);
    }
}

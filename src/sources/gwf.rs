//! Grid workload format: one line of 29 fields per job.
//!
//! In: lines of text; `#` begins a line of the header. Out: the events that [`super::log`] makes of
//! jobs. The first 16 fields are those of the standard format, but identifiers are names, and
//! submit times are often seconds since 1970. A job whose id is not a whole number gets minus the
//! number of its line as `job_id`, and keeps its id in `job_name`.
//!
//! Some files have 30 fields, with an undocumented one after the 18th. Some separate fields by
//! tabs, so that names may contain spaces. Both are detected from the first job of a file and apply
//! to all its lines.
//!
//! Source: Iosup et al., "The Grid Workloads Archive" (2008), and its description of the format.

use super::fields;
use super::folder::RawPart;
use super::log::{self, Fault, JobKey, LineFormat, LogJob, LogParser};
use super::reject::RejectReason;
use super::rows::Cell;

/// Fields of a line.
pub(super) const FIELD_COUNT: usize = 29;

/// Position of the field that only files of 30 fields have.
const UNKNOWN_FIELD: usize = 18;

/// The separator of fields.
#[derive(Clone, Copy)]
enum Separator {
    /// Any number of spaces or tabs.
    Space,
    /// One tab.
    Tab,
}

/// The layout of the lines of a file.
#[derive(Clone, Copy)]
struct Layout {
    separator: Separator,
    field_count: usize,
}

/// Reads the jobs of a file; the layout is known after the first job.
#[derive(Default)]
pub(super) struct Gwf {
    layout: Option<Layout>,
}

/// A parser for one table of a log.
pub(super) fn parser(part: &RawPart) -> LogParser<Gwf> {
    LogParser::new(Gwf::default(), part)
}

impl LineFormat for Gwf {
    const COMMENT: u8 = b'#';

    fn job<'a>(&mut self, line: &'a [u8]) -> Result<LogJob<'a>, Fault> {
        let layout = *self.layout.get_or_insert_with(|| Layout::of(line));
        let fields = layout.split(line)?;
        let text = |idx: usize, column| log::name(fields[idx], column).map(Cell::from);
        let amount = |idx: usize, column| log::quantity(fields[idx], column).map(Cell::from);
        Ok(LogJob {
            key: key(fields[0])?,
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
            user: log::name(fields[11], "user")?,
            group: log::name(fields[12], "user_group")?,
            executable: log::name(fields[13], "executable")?,
            queue: log::name(fields[14], "queue")?,
            partition: log::name(fields[15], "partition")?,
            own: vec![
                text(16, "site")?,
                text(17, "last_run_site")?,
                text(18, "job_structure")?,
                text(19, "job_structure_params")?,
                amount(20, "used_network")?,
                amount(21, "used_disk_mib")?,
                text(22, "used_resources")?,
                text(23, "requested_platform")?,
                text(24, "requested_network")?,
                text(25, "requested_disk")?,
                text(26, "requested_resources")?,
                text(27, "virtual_organisation")?,
                text(28, "project")?,
            ],
            remark: None,
        })
    }
}

impl Layout {
    /// The layout of a file, from its first job; 29 fields between spaces if no layout fits.
    fn of(line: &[u8]) -> Self {
        for separator in [Separator::Tab, Separator::Space] {
            match split_by(separator, line).count() {
                // A tab after the last field does not begin another field.
                30 if split_by(separator, line).last() == Some(&[]) => {
                    return Self { separator, field_count: FIELD_COUNT };
                }
                field_count @ (29 | 30) => return Self { separator, field_count },
                _ => {}
            }
        }
        Self { separator: Separator::Space, field_count: FIELD_COUNT }
    }

    /// The 29 fields of a line.
    fn split(self, line: &[u8]) -> Result<[&[u8]; FIELD_COUNT], Fault> {
        let mut fields = [&[][..]; FIELD_COUNT];
        let mut count = 0;
        for field in split_by(self.separator, line) {
            let idx = match count {
                _ if self.field_count == FIELD_COUNT || count < UNKNOWN_FIELD => Some(count),
                UNKNOWN_FIELD => None,
                _ => Some(count - 1),
            };
            match idx.map(|idx| fields.get_mut(idx)) {
                Some(Some(slot)) => *slot = field,
                Some(None) if field.is_empty() => {}
                Some(None) => return Err(("", RejectReason::TooManyColumns)),
                None => {}
            }
            count += 1;
        }
        if count < self.field_count { Err(("", RejectReason::TooFewColumns)) } else { Ok(fields) }
    }
}

fn split_by(separator: Separator, line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(move |byte| match separator {
        Separator::Space => byte.is_ascii_whitespace(),
        Separator::Tab => *byte == b'\t',
    })
    .map(<[u8]>::trim_ascii)
    .filter(move |field| matches!(separator, Separator::Tab) || !field.is_empty())
}

/// A whole number from 0 up, or a name.
fn key(field: &[u8]) -> Result<JobKey<'_>, Fault> {
    let name = log::name(field, "job_id")?.ok_or(("job_id", RejectReason::EmptyMandatory))?;
    match fields::careful_i64(field) {
        Some(number) if 0 <= number => Ok(JobKey::Number(number)),
        _ => Ok(JobKey::Name(name)),
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::{Source, Table};
    use crate::sources::tests::{check, parsed};

    const TAIL: &str = "-1 -1 -1 -1 -1 -1 -1 VO1 P1";

    #[test]
    fn a_job_of_29_fields() {
        let line =
            format!("12 1100000000 5 60 2 58 -1 1 -1 -1 1 U3 G1 -1 Q0 -1 S1 S2 BoT b42 {TAIL}");
        check(Source::Gwf, &line, "1100000000 SUBMIT, 1100000005 SCHEDULE, 1100000065 FINISH");
        let rows = parsed(Source::Gwf, Table::JobEvents, &format!("# Site: x\n{line}\n"));
        for (column, expected) in [
            ("job_id", "12"),
            ("job_name", "-"),
            ("user", "U3"),
            ("user_group", "G1"),
            ("queue", "Q0"),
            ("site", "S1"),
            ("last_run_site", "S2"),
            ("job_structure", "BoT"),
            ("job_structure_params", "b42"),
            ("used_network", "-"),
            ("virtual_organisation", "VO1"),
            ("project", "P1"),
            ("cpu_time_us", "58000000"),
        ] {
            assert_eq!(rows.cell(column, 0), expected, "{column}");
        }
        assert_eq!(rows.notes.header, [("Site".to_owned(), "x".to_owned())]);
        assert_eq!(rows.block.row_ids, [8, 9, 10]);
    }

    #[test]
    fn the_thirtieth_field_is_known_from_the_first_job() {
        let head = "0 -1 60 2 -1 -1 -1 -1 -1 1 U3 G1 -1 Q0 -1 S1 S2";
        let text = format!("1 {head} extra BoT b1 {TAIL}\n2 {head} BoT b2 {TAIL}\n");
        let rows = parsed(Source::Gwf, Table::JobEvents, &text);
        assert_eq!(rows.cell("job_structure", 0), "BoT");
        assert_eq!(rows.cell("project", 0), "P1");
        assert_eq!(rows.rejects(), ["2  too_few_columns"]);
    }

    #[test]
    fn names_between_tabs_may_hold_spaces_and_be_empty() {
        let mut fields = vec!["-1"; 29];
        fields[..4].copy_from_slice(&["job one", "10", "-20", "60"]);
        fields[10..12].copy_from_slice(&["5", "John Doe"]);
        fields[16] = "";
        fields[1] = "30";
        let rows = parsed(Source::Gwf, Table::TaskEvents, &fields.join("\t"));
        assert_eq!(rows.rejects(), Vec::<String>::new());
        assert_eq!(rows.cell("user", 0), "John Doe");
        assert_eq!(rows.cell("site", 0), "-");
        assert_eq!(rows.cell("job_id", 0), "-1");
        check(Source::Gwf, &fields.join("\t"), "10 SUBMIT, 10 SCHEDULE, 70 KILL");
        assert_eq!(rows.notes.remarks["wait negative: submitted at the start"], 1);
        fields[28] = "P1";
        let with_a_tab_more = format!("{}\t\n2{}\t\n", fields.join("\t"), &fields.join("\t")[7..]);
        let rows = parsed(Source::Gwf, Table::TaskEvents, &with_a_tab_more);
        assert_eq!(rows.rejects(), Vec::<String>::new());
        assert_eq!((rows.cell("project", 0), rows.cell("project", 3)), ("P1".into(), "P1".into()));
    }

    #[test]
    fn a_job_called_by_a_name_keeps_it() {
        let tail = vec!["-1"; 18].join(" ");
        let text = format!(
            "\nsite/7.x 5 1 1 1 -1 -1 -1 -1 -1 1 {tail}\n8 5 1 1 1 -1 -1 -1 -1 -1 1 {tail}\n\
             site/7.x 6 1 1 1 -1 -1 -1 -1 -1 1 {tail}\n-1 6 1 1 1 -1 -1 -1 -1 -1 1 {tail}"
        );
        let rows = parsed(Source::Gwf, Table::JobEvents, &text);
        assert_eq!(rows.cell("job_id", 0), "-2");
        assert_eq!(rows.cell("job_name", 0), "site/7.x");
        assert_eq!(rows.cell("job_id", 3), "8");
        assert_eq!(rows.rejects(), ["4 job_id duplicate_job", "5 job_id empty_mandatory"]);
    }
}

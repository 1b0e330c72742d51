//! The batch tasks of Alibaba's cluster trace of 2017: `batch_task.csv`, with or without a header.
//!
//! In: lines of eight fields between commas. Out: what [`super::records`] makes of tasks: several a
//! job. A row has one state, the latest, with the time at which it came.
//!
//! ```text
//!  create                                    modify
//!    SUBMIT, SCHEDULE --------------------------- by status
//! ```
//!
//! | Status | Events |
//! |---|---|
//! | Terminated | SUBMIT, SCHEDULE, FINISH |
//! | Failed | SUBMIT, SCHEDULE, FAIL |
//! | Cancelled | SUBMIT, SCHEDULE, KILL |
//! | Running | SUBMIT, SCHEDULE |
//! | Ready, Waiting | SUBMIT |
//!
//! Times are seconds since the start of the trace; one before it counts as 0. The table does not say when a task started: its instances did, each at its own time. It is taken
//! to start when it was created, which is counted. The CPU request is that of all its instances
//! together.

use super::folder::RawPart;
use super::records::fields::{Fields, whole};
use super::records::{
    FAIL, FINISH, Fault, KILL, Life, Line, Parsed, Record, RecordFormat, RecordParser, Remarks,
};
use super::rows::{Cell, RejectReason};
use crate::sources::fields::careful_f32;
use crate::units::MICROS_PER_SECOND;

/// Fields of a line.
pub(super) const FIELD_COUNT: usize = 8;

/// What a task may be.
const STATES: [&str; 7] =
    ["Ready", "Waiting", "Running", "Terminated", "Failed", "Cancelled", "Interrupted"];

/// Whether a text begins like the table of tasks.
pub(super) fn is_seen(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.by_ref().take(2).any(|line| {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
        fields.len() == FIELD_COUNT
            && fields[..4].iter().all(|field| whole(field).is_some())
            && STATES.iter().any(|state| state.as_bytes() == fields[5])
    })
}

/// A parser for one table of the log.
pub(super) fn parser(part: &RawPart) -> RecordParser<Tasks> {
    RecordParser::new(Tasks { fields: Fields::default() }, part, Vec::new())
}

/// How the trace writes a task.
pub(super) struct Tasks {
    fields: Fields,
}

impl RecordFormat for Tasks {
    const HAS_TASKS: bool = true;

    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a> {
        let fields = self.fields.split_into(FIELD_COUNT, line.raw)?;
        let field = |idx: usize| fields.get(line.raw, idx);
        if line.number == 1 && field(0).first().is_some_and(u8::is_ascii_alphabetic) {
            return Ok(None);
        }
        task(&field, remarks).map(Some)
    }

    fn own_of_job(tasks: u32, end_reason: Option<&'static str>, cells: &mut Vec<Cell<'_>>) {
        cells.push(i32::try_from(tasks).ok().into());
        cells.push(end_reason.into());
    }
}

/// A task, given its fields.
fn task<'a>(field: &dyn Fn(usize) -> &'a [u8], remarks: &mut Remarks) -> Result<Record<'a>, Fault> {
    let must = |idx: usize, column| match field(idx) {
        b"" => Err((column, RejectReason::EmptyMandatory)),
        text => whole(text).ok_or((column, RejectReason::BadValue)),
    };
    let small = |idx: usize, column| {
        i32::try_from(must(idx, column)?).map_err(|_| (column, RejectReason::OutOfRange))
    };
    let amount = |idx: usize, column| match field(idx) {
        b"" => Ok(None),
        text => careful_f32(text)
            .filter(|value| 0.0 <= *value)
            .map(Some)
            .ok_or((column, RejectReason::BadValue)),
    };
    let create_us = time_us(field(0), "create_timestamp", remarks)?;
    let modify_us = time_us(field(1), "modify_timestamp", remarks)?;
    let state = STATES.into_iter().find(|state| state.as_bytes() == field(5));
    let state = state.ok_or(("status", RejectReason::UnknownEventType))?;
    let end = match state {
        "Terminated" => Some(FINISH),
        "Failed" => Some(FAIL),
        "Cancelled" | "Interrupted" => Some(KILL),
        _ => None,
    };
    let has_begun = end.is_some() || state == "Running";
    if has_begun {
        remarks.add("no start time: started when it was created");
    }
    let instances = small(4, "instances")?;
    #[expect(clippy::cast_precision_loss, reason = "no task has 2^24 instances")]
    let times = |each: f32| each * instances as f32;
    let (cpu, memory) = (amount(6, "plan_cpu")?, amount(7, "plan_mem")?);
    if cpu.is_none() && has_begun {
        remarks.add("CPU request unknown: no CPU time is charged");
    }
    // 100 is a core.
    let each = cpu.map(|cpu| cpu / 100.0);
    let end_reason = end.map(|_| state);
    Ok(Record {
        job_id: must(2, "job_id")?,
        task_index: small(3, "task_index")?,
        turn: None,
        life: Life {
            submit_us: Some(create_us),
            start_us: has_begun.then_some(create_us),
            end: end.map(|end| (modify_us, end)),
        },
        user: None,
        job_name: None,
        logical_name: None,
        scheduling_class: None,
        priority: None,
        machine_id: None,
        cpu: each.map(times),
        memory: memory.map(times),
        end_reason,
        nodes: None,
        cluster: None,
        own: vec![
            Cell::Text(state),
            end_reason.into(),
            Cell::I32(instances),
            each.into(),
            memory.into(),
        ],
    })
}

/// A time in seconds; one before the trace is its start.
fn time_us(text: &[u8], column: &'static str, remarks: &mut Remarks) -> Result<i64, Fault> {
    if text.is_empty() {
        return Err((column, RejectReason::EmptyMandatory));
    }
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let seconds = whole(digits).ok_or((column, RejectReason::BadValue))?;
    if digits.len() < text.len() {
        remarks.add("times before the trace: at its start");
        return Ok(0);
    }
    Ok(seconds * MICROS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use crate::schema::{Source, Table};
    use crate::sources::tests::parsed;

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
        assert_eq!(
            (jobs.cell("tasks", 0), jobs.cell("end_reason", 2)),
            ("3".into(), "Failed".into())
        );
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
}

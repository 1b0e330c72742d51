//! The pods of Alibaba's Kubernetes cluster with GPUs of 2023 (openb), and its list of nodes.
//!
//! In: a table of pods with a header, and the list of nodes in the same folder. Out: the events
//! that [`super::records`] makes of pods, each a job of one task; `machine_events` of the nodes.
//!
//! ```text
//!  creation_time      scheduled_time                deletion_time
//!    SUBMIT ............ SCHEDULE ---------------------- by pod_phase
//! ```
//!
//! | Phase | End |
//! |---|---|
//! | Succeeded | FINISH |
//! | Failed | FAIL |
//! | Running | KILL at its deletion |
//! | Pending | KILL at its deletion, without a SCHEDULE |
//!
//! Times are seconds since the start of the log. A pod may use shares of GPUs: `gpu_milli`
//! thousandths of each of its `num_gpu` GPUs. The node of a pod is not recorded.

use super::folder::RawPart;
use super::format::FileKind;
use super::part::PartParser;
use super::records::amounts::float;
use super::records::fields::{Fields, whole};
use super::records::lines::{first_line, names_of};
use super::records::machines::{Listed, Machines};
use super::records::row::Row;
use super::records::states::{Fate, States};
use super::records::{
    Fault, Life, Line, Parsed, Record, RecordFormat, RecordParser, Remarks, number_of_name,
};
use super::reject::RejectReason;
use super::rows::Cell;
use super::{SourceError, SourceErrorKind};
use crate::schema::{EventType, Source, Table};
use crate::units::MICROS_PER_SECOND;

/// The columns of the table of pods.
const PODS: [&str; 11] = [
    "name",
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "qos",
    "pod_phase",
    "creation_time",
    "deletion_time",
    "scheduled_time",
];

/// The columns of the list of nodes.
const NODES: [&str; 5] = ["sn", "cpu_milli", "memory_mib", "gpu", "model"];

/// Whether a text begins like a table of pods.
fn are_pods(text: &[u8]) -> bool {
    is_table(text, &PODS)
}

/// Whether a text begins like a list of nodes.
fn are_nodes(text: &[u8]) -> bool {
    is_table(text, &NODES)
}

fn is_table(text: &[u8], columns: &[&str]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut fields = line.split(|&byte| byte == b',');
    columns.iter().all(|column| fields.next() == Some(column.as_bytes()))
}

/// The kind of a file.
pub(super) fn kind_of(text: &[u8]) -> Option<FileKind> {
    if are_pods(text) {
        return Some(FileKind::Log(Source::Openb));
    }
    are_nodes(text).then_some(FileKind::Nodes)
}

/// A parser for one table of the log.
pub(super) fn parser(part: &RawPart, begin: &[u8]) -> Result<Box<dyn PartParser>, SourceError> {
    let begin = begin.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(begin);
    if part.table == Table::MachineEvents {
        return Ok(Box::new(Machines::new(part, NODES.len(), node)));
    }
    if !are_pods(begin) {
        let own = names_of(first_line(begin), b',');
        let lacks = |(place, name): &(usize, &&str)| own.get(*place).is_none_or(|own| own != *name);
        let (place, name) = PODS.iter().enumerate().find(lacks).unwrap_or((0, &PODS[0]));
        let (place, all) = (place + 1, PODS.join(","));
        let lack = SourceErrorKind::MissingOfPods { name, place, all };
        return Err(SourceError::new(&part.path, lack));
    }
    Ok(Box::new(RecordParser::new(Pods::default(), part, Vec::new())))
}

/// Reads the pods of a log.
#[derive(Default)]
struct Pods {
    fields: Fields,
}

impl RecordFormat for Pods {
    const HAS_TASKS: bool = false;

    fn record<'a>(&'a mut self, line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a> {
        if line.number == 1 {
            return Ok(None);
        }
        let fields = self.fields.split_into(PODS.len(), line.raw)?;
        pod(Row { fields, line: line.raw }, remarks).map(Some)
    }
}

/// The end of a pod when it is deleted, by phase.
const PHASES: &States = &[
    (Fate::Ended(EventType::Finish), "Succeeded"),
    (Fate::Ended(EventType::Fail), "Failed"),
    (Fate::Ended(EventType::Kill), "Running Pending"),
];

/// A pod, from its fields.
fn pod<'a>(row: Row<'a>, remarks: &mut Remarks) -> Result<Record<'a>, Fault> {
    let number = |idx: usize| row.number(idx, PODS[idx]);
    let time = |idx: usize| Ok::<_, Fault>(number(idx)?.map(|second| second * MICROS_PER_SECOND));
    let text = |idx: usize| row.optional(idx, PODS[idx]);
    let name = row.text(0, "job_id")?;
    let (fate, phase) = row.state(PHASES, 7, PODS[7])?;
    let end = time(9)?.zip(fate.end());
    match (end, phase) {
        (None, _) => remarks.add("pods without a deletion: open"),
        (_, "Running") => remarks.add("pods deleted while they ran: killed"),
        (_, "Pending") => remarks.add("pods deleted before they were scheduled: killed"),
        _ => {}
    }
    let amount = |value: Option<i64>| value.map(float);
    let (gpus, milli) = (number(3)?, number(4)?);
    let shares = gpus.zip(milli).map(|(gpus, milli)| gpus.saturating_mul(milli));
    let small = |value: Option<i64>| value.and_then(|value| i32::try_from(value).ok());
    let number_in_name = name.rsplit('-').next().and_then(|digits| whole(digits.as_bytes()));
    Ok(Record {
        job_id: number_in_name.unwrap_or_else(|| number_of_name(name.as_bytes())),
        life: Life::of(time(8)?, time(10)?.filter(|_| phase != "Pending"), end),
        job_name: Some(name),
        cpu: amount(number(1)?).map(|milli| milli / 1000.0),
        memory: amount(number(2)?),
        end_reason: end.map(|_| phase),
        own: vec![
            Cell::Text(phase),
            end.map(|_| phase).into(),
            text(6)?.into(),
            amount(shares).map(|milli| milli / 1000.0).into(),
            small(gpus).into(),
            small(milli).into(),
            text(5)?.into(),
        ],
        ..Record::default()
    })
}

/// A machine, from the line of a node.
fn node<'a>(
    fields: &'a Fields,
    line: Line<'a>,
    _remarks: &mut Remarks,
) -> Result<Option<Listed<'a>>, Fault> {
    if line.number == 1 {
        return Ok(None);
    }
    let row = Row { fields, line: line.raw };
    let number =
        |idx: usize| row.number(idx, NODES[idx])?.ok_or((NODES[idx], RejectReason::BadValue));
    let name = row.text(0, "machine_name")?;
    let (cores, memory) = (Some(float(number(1)?) / 1000.0), Some(float(number(2)?)));
    let gpus = i32::try_from(number(3)?).map_err(|_| (NODES[3], RejectReason::OutOfRange))?;
    let own = vec![Cell::I32(gpus), row.optional(4, NODES[4])?.into()];
    Ok(Some(Listed { time_us: 0, name, cores, memory, own }))
}

#[cfg(test)]
mod tests {
    use crate::schema::{Source, Table};
    use crate::sources::tests::{check, parsed};

    const HEADER: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,\
        creation_time,deletion_time,scheduled_time";

    #[test]
    fn every_phase_ends_a_pod_as_it_says() {
        for (phase, scheduled, expected) in [
            ("Succeeded", "7", "5 SUBMIT, 7 SCHEDULE, 90 FINISH"),
            ("Failed", "7", "5 SUBMIT, 7 SCHEDULE, 90 FAIL"),
            ("Running", "7", "5 SUBMIT, 7 SCHEDULE, 90 KILL"),
            ("Pending", "", "5 SUBMIT, 90 KILL"),
        ] {
            let line = format!("openb-pod-0012,1500,2048,2,460,V100,LS,{phase},5,90,{scheduled}");
            check(Source::Openb, &format!("{HEADER}\n{line}\n"), expected);
        }
        let open = format!("{HEADER}\r\na,1000,1,0,0,,BE,Running,5,,7\r\n");
        check(Source::Openb, &open, "5 SUBMIT, 7 SCHEDULE");
    }

    #[test]
    fn the_missing_column_is_named() {
        let header = HEADER.replace("gpu_spec,", "");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pods.csv");
        std::fs::write(&path, &header).unwrap();
        let place = (0, Some(1));
        let part = super::RawPart::of_file(Source::Openb, Table::TaskEvents, place, &path).unwrap();
        let told = super::parser(&part, header.as_bytes()).err().unwrap();
        let told = told.kind.to_string();
        assert!(told.contains("no column `gpu_spec`, number 6 of `name,cpu_milli,"), "{told}");
    }

    #[test]
    fn shares_of_gpus_are_added_up() {
        let text = format!("{HEADER}\nopenb-pod-0012,1500,2048,2,460,V100|A10,LS,Failed,5,90,7\n");
        let rows = parsed(Source::Openb, Table::TaskEvents, &text);
        for (column, expected) in [
            ("job_id", "12"),
            ("cpu_request", "1.5"),
            ("memory_request", "2048"),
            ("gpu_request", "0.92"),
            ("gpu_count", "2"),
            ("gpu_milli", "460"),
            ("gpu_model", "V100|A10"),
            ("qos", "LS"),
            ("end_reason", "Failed"),
        ] {
            assert_eq!(rows.cell(column, 0), expected, "{column}");
        }
    }

    #[test]
    fn what_does_not_parse_is_a_reject() {
        let check = |line: &str, expected: &str| {
            let text = format!("{HEADER}\n{line}\n");
            for table in [Table::JobEvents, Table::TaskEvents] {
                assert_eq!(parsed(Source::Openb, table, &text).rejects(), [expected], "{line}");
            }
        };
        check("a,1,1,0,0,,LS,Failed,5,9", "2  too_few_columns");
        check("a,1,1,0,0,,LS,Failed,5,9,7,8", "2  too_many_columns");
        check(",1,1,0,0,,LS,Failed,5,9,7", "2 job_id empty_mandatory");
        check("a,1,1,0,0,,LS,Gone,5,9,7", "2 pod_phase unknown_event_type");
        check("a,1,1,0,0,,LS,Failed,,9,7", "2 time_us empty_mandatory");
        check("a,x,1,0,0,,LS,Failed,5,9,7", "2 cpu_milli bad_value");
        check("a,1,1,0,0,,LS,Failed,5,-9,7", "2 deletion_time bad_value");
    }

    #[test]
    fn nodes_are_machines_with_gpus() {
        let text = "sn,cpu_milli,memory_mib,gpu,model\nopenb-node-0,32000,262144,0,\n\
            openb-node-1,96000,786432,8,V100M32\nopenb-node-2,x,1,8,V100M32\n";
        let rows = parsed(Source::Openb, Table::MachineEvents, text);
        assert_eq!(rows.rejects(), ["4 cpu_milli bad_value"]);
        let row = |row: usize| {
            ["machine_name", "cpu_capacity", "memory_capacity", "gpu_capacity", "gpu_model"]
                .map(|column| rows.cell(column, row))
        };
        assert_eq!(row(0), ["openb-node-0", "32", "262144", "0", "-"]);
        assert_eq!(row(1), ["openb-node-1", "96", "786432", "8", "V100M32"]);
    }
}

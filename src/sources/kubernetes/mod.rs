//! Kubernetes: pods as `kubectl get pods -o json` prints them, events, and lines of an audit log.
//!
//! In: a list with `items`, or objects one after the other. Out: what `records` makes of
//! pods; objects of another kind are left out and counted. Items are read one at a time: memory does not hold the list.
//!
//! ```text
//!  creationTimestamp   PodScheduled   container ends    started again         ends
//!    SUBMIT ............ SCHEDULE ------ FAIL .......... SCHEDULE --------------- by phase
//! ```
//!
//! | Pod | End |
//! |---|---|
//! | Succeeded | FINISH |
//! | Failed | FAIL |
//! | Failed as `Evicted`, `Preempting`, `Terminated`, `NodeShutdown`, `Shutdown` | EVICT |
//! | Failed as `NodeLost`, `Unknown` phase | LOST |
//! | deleted before | KILL |
//! | marked as the target of a disruption | EVICT, where it failed or was deleted |
//! | a container that was started again | FAIL, or FINISH where it ended with 0 |
//! | a container that waits to be started again | SUBMIT when it ended |
//! | Pending, Running | none: open |
//!
//! A job is what owns the pod: a Job, the Deployment of a `ReplicaSet`, a `StatefulSet`; else the pod
//! itself. `task_index` is the index of the pod in an indexed Job or a `StatefulSet`, else a hash of
//! its name. Only the last two attempts of a container are in its pod. The same pod in
//! several prints is one. A list without items is a reject: its last brace.
//!
//! | Change of a pod (event, request) | What is made of it |
//! |---|---|
//! | `create` of a pod; `FailedScheduling` | SUBMIT |
//! | `create` of its binding; `Scheduled` | SCHEDULE |
//! | `delete` of a pod; `Killing` | KILL |
//! | `create` of an eviction; `Evicted`, `Preempted`, `TaintManagerEviction` | EVICT |
//!
//! A request that was logged with the pod it answered with is read as that pod. Events and
//! requests are put together at the end of the file: 200 bytes are held for each pod, and what was
//! read of each pod that is open. A pod that is shown is told by what shows it; changes tell the
//! end of one that was open, and pods that no print has shown.

use super::blocks::TextBlock;
use super::folder::RawPart;
use super::json::{ObjectReader, is_list};
use super::part::{HandOut, Notes, PartParser};
use super::records::{Fault, Line, Parsed, RecordFormat, RecordParser, Remarks};
use super::reject::RejectReason;
use super::rows::{Cell, RowBlock};
use crate::schema::Table;

mod changes;
mod objects;
pub mod pods;

use self::pods::Pods;

/// Whether a text begins like objects of Kubernetes.
pub(super) fn is_seen(text: &[u8]) -> bool {
    let says = |key: &[u8]| memchr::memmem::find(text, key).is_some();
    says(b"\"apiVersion\"")
        && (says(b"\"involvedObject\"")
            || says(b"\"auditID\"")
            || says(b"\"containers\"") && says(b"\"metadata\"")
            || is_list(text) && says(b"\"kind\""))
}

/// A parser for one table of a log.
pub(super) fn parser(part: &RawPart, begin: &[u8]) -> Parser {
    let user_from = part.reading.user_from.clone().unwrap_or_default();
    let header = vec![("user".to_owned(), user_from.to_string())];
    Parser {
        table: part.table,
        objects: ObjectReader::of(begin),
        records: RecordParser::new(Pods::new(user_from, part.table), part, header),
        count: 0,
    }
}

/// Parses the blocks of a log for one of its tables.
pub(super) struct Parser {
    table: Table,
    objects: ObjectReader,
    records: RecordParser<Pods>,
    /// Attempts so far, by which rows are numbered.
    count: u64,
}

impl Parser {
    /// Adds the attempts of an object.
    fn object(&mut self, raw: &[u8], rows: &mut RowBlock) -> Result<(), Fault> {
        let (attempts, remark) = self.records.format().begin(raw)?;
        if let Some(remark) = remark {
            self.records.remark(remark);
        }
        for _ in 0..attempts {
            self.count += 1;
            self.records.line(Line { number: self.count, raw }, rows)?;
        }
        Ok(())
    }

    /// Machines are told from the same objects as events, of which these are rejects.
    fn drop_rejects(&self, rows: &mut RowBlock) {
        if self.table == Table::MachineEvents {
            rows.rejects.clear();
        }
    }
}

impl PartParser for Parser {
    fn parse(
        &mut self,
        text: &TextBlock,
        first_line: u64,
        rows: &mut RowBlock,
        _hand_out: &mut HandOut<'_>,
    ) {
        let mut objects = std::mem::take(&mut self.objects);
        objects.each(text, first_line, rows, |object, rows| self.object(object, rows));
        self.objects = objects;
        self.drop_rejects(rows);
    }

    fn finish(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        self.objects.finish(rows);
        self.drop_rejects(rows);
        for (change, pod) in self.records.format().take_changes() {
            if !self.records.format().resume(change, pod) {
                continue;
            }
            self.count += 1;
            let line = Line { number: self.count, raw: b"" };
            // Its times were read before: what is wrong was a reject then.
            let _ = self.records.line(line, rows);
        }
        self.records.finish(rows, hand_out);
    }

    fn notes(&mut self) -> Notes {
        self.records.notes()
    }
}

impl RecordFormat for Pods {
    const HAS_TASKS: bool = true;

    fn record<'a>(&'a mut self, _line: Line<'a>, remarks: &mut Remarks) -> Parsed<'a> {
        self.attempt(remarks).map(Some)
    }

    fn has_fleet(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;

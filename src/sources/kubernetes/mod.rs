//! Kubernetes: pods as `kubectl get pods -o json` prints them, events, and lines of an audit log.
//!
//! In: a list with `items`, or objects one after the other. Out: what `records` makes of
//! pods. The first pod, event or request tells what a file holds; objects of another kind are left
//! out and counted. Items are read one at a time: memory does not hold the list.
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
//! | a container that was started again | FAIL, or FINISH where it ended with 0 |
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
//! requests are put together at the end of the file: 200 bytes are held for each pod.

use super::blocks::TextBlock;
use super::folder::RawPart;
use super::part::{HandOut, Notes, PartParser};
use super::records::{Fault, Line, Parsed, RecordFormat, RecordParser, Remarks};
use super::rows::{Cell, Reject, RejectReason, RowBlock, reject_text};
use super::rumen::objects::Objects;
use crate::schema::Table;

mod changes;
mod envelope;
mod objects;
pub mod pods;

use self::envelope::Envelope;
use self::pods::Pods;

/// Whether a text begins like objects of Kubernetes.
pub(super) fn is_seen(text: &[u8]) -> bool {
    let says = |key: &[u8]| memchr::memmem::find(text, key).is_some();
    says(b"\"apiVersion\"")
        && (says(b"\"involvedObject\"")
            || says(b"\"auditID\"")
            || says(b"\"containers\"") && says(b"\"metadata\"")
            || envelope::is_list(text) && says(b"\"kind\""))
}

/// A parser for one table of a log.
pub(super) fn parser(part: &RawPart, begin: &[u8]) -> Parser {
    let user_from = part.reading.user_from.clone().unwrap_or_default();
    let header = vec![("user".to_owned(), user_from.to_string())];
    Parser {
        table: part.table,
        envelope: envelope::is_list(begin).then(Envelope::new),
        objects: Objects::default(),
        records: RecordParser::new(Pods::new(user_from, part.table), part, header),
        count: 0,
        last_line: 1,
    }
}

/// Parses the blocks of a log for one of its tables.
pub(super) struct Parser {
    table: Table,
    envelope: Option<Envelope>,
    objects: Objects,
    records: RecordParser<Pods>,
    /// Attempts so far, by which rows are numbered.
    count: u64,
    last_line: u64,
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

    fn reject(&self, line: u64, (column, reason): Fault, raw: &[u8], rows: &mut RowBlock) {
        // Machines are told from the same objects.
        if self.table != Table::MachineEvents {
            rows.rejects.push(Reject { line, column, reason, text: reject_text(raw) });
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
        rows.clear();
        rows.line_count = memchr::memchr_iter(b'\n', text.text()).count() as u64;
        self.last_line = (first_line + rows.line_count).saturating_sub(1).max(1);
        let stripped = self.envelope.as_mut().map(|list| list.strip(text.text()));
        let mut objects = std::mem::take(&mut self.objects);
        objects.feed(stripped.as_deref().unwrap_or(text.text()), first_line, &mut |line, piece| {
            let (raw, fault) = match piece {
                Ok(object) => (object, self.object(object, rows).err()),
                Err((junk, reason)) => (junk, Some(("", reason))),
            };
            if let Some(fault) = fault {
                self.reject(line, fault, raw, rows);
            }
        });
        self.objects = objects;
    }

    fn finish(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        let cut = self.objects.unfinished().map(|(line, raw)| (line, raw.to_vec()));
        let is_open = self.envelope.as_ref().is_some_and(Envelope::is_open);
        if let Some((line, raw)) = cut.or(is_open.then(|| (self.last_line, Vec::new()))) {
            self.reject(line, ("", RejectReason::BadValue), &raw, rows);
        }
        for change in self.records.format().take_changes() {
            self.records.format().change = Some(change);
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

    fn own_of_job(tasks: u32, end_reason: Option<&'static str>, cells: &mut Vec<Cell<'_>>) {
        cells.push(i32::try_from(tasks).ok().into());
        cells.push(end_reason.into());
    }

    fn has_fleet(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;

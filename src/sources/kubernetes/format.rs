//! Turns pods, read from objects, into rows.

use serde_json::Value;

use super::held::{Held, Shown};
use super::objects::{Object, shown_pod};
use super::pods::Pod;
use crate::sources::folder::RawPart;
use crate::sources::json::containers::init_restarts;
use crate::sources::json::pick::Part;
use crate::sources::json::{ObjectFormat, ObjectParser, ObjectReader, is_list};
use crate::sources::part::{HandOut, Notes, hand_out_many};
use crate::sources::reading::UserFrom;
use crate::sources::records::snapshots::{before, has_gap};
use crate::sources::records::{Fault, RecordRows, Remarks};
use crate::sources::reject::RejectReason;
use crate::sources::rows::RowBlock;

/// Whether a text begins like objects of Kubernetes.
pub(in crate::sources) fn is_seen(text: &[u8]) -> bool {
    let says = |key: &[u8]| memchr::memmem::find(text, key).is_some();
    says(b"\"apiVersion\"")
        && (says(b"\"involvedObject\"")
            || says(b"\"auditID\"")
            || says(b"\"containers\"") && says(b"\"metadata\"")
            || is_list(text) && says(b"\"kind\""))
}

/// A parser for one table of a log.
pub(in crate::sources) fn parser(part: &RawPart, begin: &[u8]) -> ObjectParser<Pods> {
    let user_from = part.reading.user_from.clone().unwrap_or_default();
    let header = vec![("user".to_owned(), user_from.to_string())];
    let all = RecordRows::new(part, header, true, true);
    let format = Pods { user_from, held: Held::default(), job: String::new(), count: 0, all };
    ObjectParser { objects: ObjectReader::of(begin), format }
}

/// Reads the pods of a log.
pub(in crate::sources) struct Pods {
    user_from: UserFrom,
    held: Held,
    /// The name of the job of the current pod.
    job: String,
    /// The number of attempts so far, which numbers the rows.
    count: u64,
    all: RecordRows,
}

impl Pods {
    /// Adds a snapshot of a pod, completely or not at all.
    pub(super) fn pod(&mut self, pod: Value, rows: &mut RowBlock) -> Result<(), Fault> {
        if Pod(Part(&pod)).names()?[1].is_empty() {
            return Err(("name", RejectReason::EmptyMandatory));
        }
        init_restarts(Part(&pod))?;
        let shown = Shown { attempts: Pod(Part(&pod)).attempts()?, pod };
        for attempt in &shown.attempts {
            let unsaid = &mut Remarks::default();
            let record = shown.pod().record(attempt, &self.user_from, &mut self.job, unsaid)?;
            RecordRows::check(&record)?;
        }
        self.held.add(shown).map_or(Ok(()), |shown| self.push(&shown, rows))
    }

    /// Makes rows of a pod.
    pub(super) fn push(&mut self, shown: &Shown, rows: &mut RowBlock) -> Result<(), Fault> {
        let before = before(&shown.attempts, shown.pod().scheduled_us()?);
        let gaps = u64::from(has_gap(&shown.attempts));
        let (restarts, remarks) = (init_restarts(Part(&shown.pod))?, &mut self.all.remarks);
        remarks.add_many("earlier restarts: the pod no longer has their times", gaps);
        remarks.add_many("restarts of init containers: not attempts of the task", restarts);
        let mut submit_us = None;
        for (place, attempt) in before.iter().chain(&shown.attempts).enumerate() {
            self.count += 1;
            let (from, job) = (&self.user_from, &mut self.job);
            let mut record = shown.pod().record(attempt, from, job, &mut self.all.remarks)?;
            // Requests do not give the size of the system, and its nodes are not in the log.
            record.cpu = record.cpu.filter(|_| !self.all.are_of_machines());
            record.is_next = 0 < place;
            record.follows = record.is_next && attempt.submit_us.is_none();
            // An attempt is not submitted before the previous one.
            submit_us = record.life.submit_us.max(submit_us);
            record.life.submit_us = submit_us;
            self.all.add(&record, self.count, rows)?;
        }
        Ok(())
    }
}

impl ObjectFormat for Pods {
    /// Reads an object, and makes rows of a pod that is final.
    fn object(
        &mut self,
        raw: &[u8],
        rows: &mut RowBlock,
        _hand_out: &mut HandOut<'_>,
    ) -> Result<(), Fault> {
        let is_told = match Object::read(raw)? {
            Object::Pod(pod) => return self.pod(pod, rows),
            Object::Event(event) => self.held.changes.add_event(Part(&event))?,
            Object::Request(mut request) => match shown_pod(&mut request) {
                Some(pod) => return self.pod(pod, rows),
                None => self.held.changes.add_request(Part(&request))?,
            },
            Object::Other => {
                self.all.remarks.add("objects that are not pods: left out");
                true
            }
        };
        if !is_told {
            self.all
                .remarks
                .add("events and requests that do not change a pod, or do not name it: left out");
        }
        Ok(())
    }

    fn has_rejects(&self) -> bool {
        !self.all.are_of_machines()
    }

    fn end(&mut self, rows: &mut RowBlock, hand_out: &mut HandOut<'_>) {
        let repeats = self.held.pods.repeats;
        self.all.remarks.add_many("repeated snapshots of a pod: the last one counts", repeats);
        for shown in self.held.take_rest() {
            // All of them were checked when they were read, including their changes.
            let _ = self.push(&shown, rows);
            hand_out_many(rows, hand_out);
        }
        self.all.finish(rows, hand_out);
    }

    fn notes(&mut self) -> Notes {
        self.all.notes()
    }
}

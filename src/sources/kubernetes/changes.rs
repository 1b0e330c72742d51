//! The events and requests of a pod, put together.

use std::collections::BTreeMap;

use super::super::records::{EVICT, Fault, KILL, Life, Remarks};
use super::objects::{Event, Place, time};

/// A pod as its changes tell it.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub namespace: String,
    pub name: String,
    /// Which of the pods that had the name; empty where nothing says it.
    pub uid: String,
    pub node: Option<String>,
    first_us: i64,
    pub start_us: Option<i64>,
    pub end: Option<(i64, i32)>,
    pub reason: Option<&'static str>,
}

impl Change {
    /// When it was asked for, began and ended.
    pub(super) fn life(&self, remarks: &mut Remarks) -> Life {
        if self.start_us.is_none() && self.end.is_some() {
            remarks.add(
                "pods whose log begins after their start: the length of the attempt is not known",
            );
        }
        Life { submit_us: Some(self.first_us), start_us: self.start_us, end: self.end }
    }
}

/// The pods of a file, by namespace, name and uid.
#[derive(Default)]
pub(super) struct Changes(BTreeMap<(String, String, String), Change>);

/// What a change means.
#[derive(Clone, Copy)]
enum Step {
    Submit,
    Start,
    End(i32, &'static str),
}

impl Changes {
    /// Adds an event; says whether it changes a pod.
    pub(super) fn add_event(&mut self, event: &Event) -> Result<bool, Fault> {
        let object = &event.involved_object;
        let step = match event.reason.as_str() {
            _ if object.kind != "Pod" => return Ok(false),
            // A probe failed: the pod stays.
            "Killing" if event.message.contains("restarted") => return Ok(false),
            "FailedScheduling" => Step::Submit,
            "Scheduled" => Step::Start,
            "Killing" => Step::End(KILL, "Killing"),
            "Evicted" => Step::End(EVICT, "Evicted"),
            "Preempted" => Step::End(EVICT, "Preempted"),
            "TaintManagerEviction" => Step::End(EVICT, "TaintManagerEviction"),
            _ => return Ok(false),
        };
        let first = event.first_timestamp.as_deref().or(event.time.as_deref());
        let at_us = time(first, "firstTimestamp")?;
        let at_us = at_us.ok_or(("firstTimestamp", super::RejectReason::EmptyMandatory))?;
        let host = event.source.as_ref().and_then(|source| source.host.clone());
        self.add(object, &object.uid, step, at_us, host)
    }

    /// Adds a request to the server; says whether it changes a pod.
    pub(super) fn add_request(&mut self, event: &Event) -> Result<bool, Fault> {
        let Some(object) = &event.object_ref else { return Ok(false) };
        let is_done = event.stage == "ResponseComplete"
            && event.response_status.as_ref().is_none_or(|status| status.code < 300);
        let step = match (event.verb.as_str(), object.subresource.as_str()) {
            _ if object.resource != "pods" || !is_done => return Ok(false),
            ("create", "") => Step::Submit,
            ("create", "binding") => Step::Start,
            ("create", "eviction") => Step::End(EVICT, "Evicted"),
            ("delete", "") => Step::End(KILL, "Deleted"),
            _ => return Ok(false),
        };
        let at = event.request_received_timestamp.as_deref();
        let at_us = time(at, "requestReceivedTimestamp")?;
        let missing = ("requestReceivedTimestamp", super::RejectReason::EmptyMandatory);
        // The request that creates a pod does not know its uid yet.
        self.add(object, "", step, at_us.ok_or(missing)?, None)
    }

    fn add(
        &mut self,
        Place { namespace, name, .. }: &Place,
        uid: &str,
        step: Step,
        at_us: i64,
        host: Option<String>,
    ) -> Result<bool, Fault> {
        if name.is_empty() {
            return Err(("name", super::RejectReason::EmptyMandatory));
        }
        let (namespace, name, uid) = (namespace.clone(), name.clone(), uid.to_owned());
        let key = (namespace.clone(), name.clone(), uid.clone());
        let change = self.0.entry(key).or_insert_with(|| Change {
            namespace,
            name,
            uid,
            first_us: at_us,
            ..Change::default()
        });
        change.first_us = change.first_us.min(at_us);
        match step {
            Step::Submit => {}
            Step::Start => {
                change.start_us = Some(change.start_us.map_or(at_us, |start| start.min(at_us)));
            }
            // The first end is the one that was: an evicted pod is killed after it.
            Step::End(kind, reason) => {
                if change.end.is_none_or(|(end_us, _)| at_us < end_us) {
                    change.end = Some((at_us, kind));
                    change.reason = Some(reason);
                }
                change.node = change.node.take().or(host);
            }
        }
        Ok(true)
    }

    /// All of them.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Change> + use<> {
        std::mem::take(&mut self.0).into_values()
    }
}

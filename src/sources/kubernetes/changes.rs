//! Combines the events and requests of each pod.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::json::pick::Part;
use super::super::records::snapshots::{Attempt, Step};
use super::super::records::{EVICT, Fault, KILL};
use crate::sources::reject::RejectReason;

/// The remark about pods that are known only from changes.
pub(super) const ALONE: &str =
    "pods known only from changes: each is a separate job without requests";

/// The remark about pods that ended without a start, although the log shows that they were created
/// or waited.
const UNSTARTED: &str = "pods that ended without a start in the log: no SCHEDULE";

/// The same for pods for which the log has only the end.
const STARTED_BEFORE: &str = "pods known only by their end: length of the attempt unknown";

/// A pod as its changes describe it: one attempt, and its node.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    pub(super) attempt: Attempt,
    node: Option<String>,
    /// Whether the log shows that it was created or waited.
    has_waited: bool,
}

impl Change {
    /// The pod and its attempt, if they are known only from changes.
    pub(super) fn alone(mut self, [namespace, name, _]: [String; 3]) -> (Value, Attempt) {
        let pod = json!({
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"nodeName": self.node},
        });
        let remarks = &mut self.attempt.remarks;
        remarks.push(ALONE);
        if self.attempt.start_us.is_none() && self.attempt.end.is_some() {
            remarks.push(if self.has_waited { UNSTARTED } else { STARTED_BEFORE });
        }
        (pod, self.attempt)
    }
}

/// The pods of a log, by namespace, name and uid; an unknown uid is empty.
#[derive(Default)]
pub(super) struct Changes(pub(super) BTreeMap<[String; 3], Change>);

/// The meaning of the events of pods, by reason.
const EVENTS: [(&str, Step); 6] = [
    ("FailedScheduling", Step::Submit),
    ("Scheduled", Step::Start),
    ("Killing", Step::End(KILL, "Killing")),
    ("Evicted", Step::End(EVICT, "Evicted")),
    ("Preempted", Step::End(EVICT, "Preempted")),
    ("TaintManagerEviction", Step::End(EVICT, "TaintManagerEviction")),
];

/// The meaning of requests, by verb and subresource of a pod.
const REQUESTS: [([&str; 2], Step); 4] = [
    (["create", ""], Step::Submit),
    (["create", "binding"], Step::Start),
    (["create", "eviction"], Step::End(EVICT, "Evicted")),
    (["delete", ""], Step::End(KILL, "Deleted")),
];

impl Changes {
    /// Adds an event; returns whether it changes a pod.
    pub(super) fn add_event(&mut self, event: Part<'_>) -> Result<bool, Fault> {
        let reason = event.text("/reason")?.unwrap_or_default();
        let step = EVENTS.iter().find(|(known, _)| *known == reason);
        let message = event.text("/message")?.unwrap_or_default();
        // A failed probe restarts a container; the pod does not end.
        let stays = reason == "Killing" && message.contains("restarted");
        let is_of_pod = event.text("/involvedObject/kind")? == Some("Pod");
        let Some(&(_, step)) = step.filter(|_| is_of_pod && !stays) else { return Ok(false) };
        let at_us = event.first_time(&["/firstTimestamp", "/eventTime"])?;
        let object = event.at("/involvedObject");
        let uid = object.text("/uid")?.unwrap_or_default();
        self.add(object, uid, (step, at_us), event.text("/source/host")?)
    }

    /// Adds a request to the server; returns whether it changes a pod.
    pub(super) fn add_request(&mut self, event: Part<'_>) -> Result<bool, Fault> {
        let object = event.at("/objectRef");
        let is_done = event.text("/stage")? == Some("ResponseComplete")
            && event.whole("/responseStatus/code")?.is_none_or(|code| code < 300);
        let about = [event.text("/verb")?, object.text("/subresource")?];
        let about = about.map(Option::unwrap_or_default);
        let step = REQUESTS.iter().find(|(known, _)| *known == about);
        // The server chooses the name of a pod with `generateName`; only its answer has this name.
        let is_told = is_done && object.text("/name")?.is_some();
        let is_of_pod = object.text("/resource")? == Some("pods");
        let Some(&(_, step)) = step.filter(|_| is_of_pod && is_told) else { return Ok(false) };
        let at_us = event.first_time(&["/requestReceivedTimestamp"])?;
        // Requests are stored without a uid: the one that creates a pod does not know it yet.
        self.add(object, "", (step, at_us), None)
    }

    fn add(
        &mut self,
        object: Part<'_>,
        uid: &str,
        (step, at_us): (Step, i64),
        host: Option<&str>,
    ) -> Result<bool, Fault> {
        let [namespace, name] = ["/namespace", "/name"].map(|path| object.text(path));
        let name = name?.filter(|name| !name.is_empty());
        let name = name.ok_or(("name", RejectReason::EmptyMandatory))?;
        let key = [namespace?.unwrap_or_default(), name, uid].map(str::to_owned);
        let Change { attempt, node, has_waited } = self.0.entry(key).or_default();
        attempt.learn(step, at_us);
        *has_waited |= matches!(step, Step::Submit);
        if matches!(step, Step::End(..)) {
            *node = node.take().or(host.map(str::to_owned));
        }
        Ok(true)
    }
}

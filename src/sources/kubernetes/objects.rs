//! The kinds of Kubernetes objects, and the keys of pods, events and requests that are read.

use std::sync::LazyLock;

use serde_json::Value;

use super::super::json::pick::{Part, Pick};
use super::super::records::Fault;
use crate::sources::reject::RejectReason;

/// The keys that are read.
const KEYS: &str = "kind apiVersion metadata name namespace uid resourceVersion creationTimestamp \
    deletionTimestamp annotations batch.kubernetes.io/job-completion-index ownerReferences \
    controller spec nodeName priority priorityClassName containers initContainers restartPolicy \
    resources status phase reason startTime qosClass conditions type lastTransitionTime \
    containerStatuses initContainerStatuses restartCount state lastState running terminated \
    startedAt finishedAt exitCode involvedObject message firstTimestamp eventTime source host stage verb objectRef resource subresource \
    requestReceivedTimestamp responseStatus code responseObject";

/// Keys whose values are read completely.
const WHOLE: &str = "labels requests limits overhead";

static PICK: LazyLock<Pick> =
    LazyLock::new(|| Pick::of(KEYS.split_whitespace(), WHOLE.split_whitespace()));

/// An object, by its kind.
#[derive(Debug, PartialEq)]
pub(super) enum Object {
    Pod(Value),
    Event(Value),
    Request(Value),
    Other,
}

impl Object {
    /// Reads an object.
    pub(super) fn read(raw: &[u8]) -> Result<Self, Fault> {
        let object = PICK.read(raw)?;
        if !object.is_object() {
            return Err(("", RejectReason::BadValue));
        }
        let part = Part(&object);
        let is_of_audit = part.text("/apiVersion")?.is_some_and(|api| api.starts_with("audit."));
        Ok(match part.text("/kind")? {
            None | Some("Pod") => Self::Pod(object),
            Some("Event") if is_of_audit => Self::Request(object),
            Some("Event") => Self::Event(object),
            // A list after lines of objects would be read as one object.
            Some(list) if list.ends_with("List") => return Err(("kind", RejectReason::BadValue)),
            Some(_) => Self::Other,
        })
    }
}

/// The pod in the answer to a request, if there is one.
pub(super) fn shown_pod(request: &mut Value) -> Option<Value> {
    let shown = request.get_mut("responseObject").map(Value::take);
    shown.filter(|shown| shown["kind"] == "Pod" && request["stage"] == "ResponseComplete")
}

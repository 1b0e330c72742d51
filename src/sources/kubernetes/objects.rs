//! What Kubernetes writes of a pod, an event and a request, as far as it is read here.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::records::Fault;
use super::super::zone::{Stamp, Zone};
use super::RejectReason;

/// Any object, by its kind.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub kind: Option<String>,
    #[serde(rename = "apiVersion", default)]
    pub api_version: String,
}

/// A pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pod {
    pub metadata: Metadata,
    pub spec: Spec,
    pub status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub name: String,
    pub namespace: String,
    pub uid: String,
    pub creation_timestamp: Option<String>,
    pub deletion_timestamp: Option<String>,
    pub labels: Option<BTreeMap<String, String>>,
    pub annotations: Option<BTreeMap<String, serde_json::Value>>,
    pub owner_references: Option<Vec<Owner>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Owner {
    pub kind: String,
    pub name: String,
    pub controller: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Spec {
    pub node_name: Option<String>,
    pub priority: Option<i32>,
    pub priority_class_name: Option<String>,
    pub containers: Vec<Container>,
    pub init_containers: Option<Vec<Container>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Container {
    pub resources: Resources,
}

/// Amounts by the name of the resource, such as `cpu: 500m`.
pub(super) type Amounts = BTreeMap<String, serde_json::Value>;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Resources {
    pub requests: Option<Amounts>,
    pub limits: Option<Amounts>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Status {
    pub phase: String,
    pub reason: Option<String>,
    pub start_time: Option<String>,
    pub qos_class: Option<String>,
    pub conditions: Option<Vec<Condition>>,
    pub container_statuses: Option<Vec<ContainerStatus>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub reason: Option<String>,
    pub last_transition_time: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ContainerStatus {
    pub restart_count: i32,
    pub state: State,
    pub last_state: State,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct State {
    pub running: Option<Span>,
    pub terminated: Option<Span>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Span {
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    pub exit_code: Option<i32>,
    pub reason: Option<String>,
}

/// An event, or a line of an audit log.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event {
    pub involved_object: Place,
    pub reason: String,
    pub message: String,
    pub first_timestamp: Option<String>,
    #[serde(rename = "eventTime")]
    pub time: Option<String>,
    pub source: Option<Host>,
    pub stage: String,
    pub verb: String,
    pub object_ref: Option<Place>,
    pub request_received_timestamp: Option<String>,
    pub response_status: Option<Code>,
    pub response_object: Option<serde_json::Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Place {
    pub kind: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Host {
    pub host: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Code {
    pub code: i32,
}

/// What stands behind an amount, with what it is multiplied by.
const SUFFIXES: [(&str, f64); 15] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
];

/// An amount such as `500m`, `2`, `1e3`, `512Mi` or `4G`, in units; nothing for another text.
pub(super) fn quantity(value: &serde_json::Value) -> Option<f64> {
    let text = match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let found = SUFFIXES.iter().find_map(|(suffix, factor)| {
        text.strip_suffix(suffix).map(|digits| (digits.to_owned(), *factor))
    });
    let (digits, factor) = found.unwrap_or((text, 1.0));
    let amount = crate::sources::fields::careful_f64(digits.as_bytes())? * factor;
    (0.0 <= amount && amount.is_finite()).then_some(amount)
}

/// A time as Kubernetes writes it, µs since 1970.
pub(super) fn time(text: Option<&str>, column: &'static str) -> Result<Option<i64>, Fault> {
    let Some(text) = text else { return Ok(None) };
    let stamp = Stamp::iso(text.as_bytes()).ok_or((column, RejectReason::BadValue))?;
    Ok(Some(stamp.instant_us(&Zone::utc()).first()))
}

//! A pod as a list or a request shows it, made into attempts.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::super::reading::UserFrom;
use super::super::records::{
    EVICT, FAIL, FINISH, Fault, KILL, LOST, Life, Record, Remarks, hash, machine_id, number_of_name,
};
use super::changes::{Change, Changes};
use super::objects::{
    Container, ContainerStatus, Event, Head, Pod, Resources, Span, Status, quantity, time,
};
use super::{Cell, RejectReason, Table};

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pod,
    Event,
    Request,
}

/// An attempt of the current pod.
#[derive(Clone, Debug, Default)]
struct Attempt {
    /// When it was asked for, where that is not when its pod was.
    submit_us: Option<i64>,
    start_us: Option<i64>,
    end: Option<(i64, i32)>,
    reason: Option<String>,
    exit_code: Option<String>,
    /// What is counted of it.
    remark: Option<&'static str>,
}

/// How the log writes a pod.
pub(super) struct Pods {
    user_from: UserFrom,
    table: Table,
    pod: Pod,
    attempts: std::vec::IntoIter<Attempt>,
    at_hand: Attempt,
    job: String,
    change: Option<Change>,
    changes: Changes,
    /// Pods that were shown whole, by their names and by their uids.
    shown: FxHashSet<u64>,
    /// Those that had not ended when they were shown.
    open: BTreeMap<u64, Pod>,
    /// Attempts before the last of a pod, which a later snapshot shows again.
    told: FxHashSet<(u64, i64)>,
}

impl Pods {
    pub(super) fn new(user_from: UserFrom, table: Table) -> Self {
        Self {
            user_from,
            table,
            pod: Pod::default(),
            attempts: Vec::new().into_iter(),
            at_hand: Attempt::default(),
            job: String::new(),
            change: None,
            changes: Changes::default(),
            shown: FxHashSet::default(),
            open: BTreeMap::new(),
            told: FxHashSet::default(),
        }
    }

    /// Takes an object, and says how many attempts it shows and what is to be counted.
    pub(super) fn begin(&mut self, raw: &[u8]) -> Result<(usize, Option<&'static str>), Fault> {
        let bad = ("", RejectReason::BadValue);
        let head: Head = serde_json::from_slice(raw).map_err(|_| bad)?;
        let kind = match head.kind.as_deref() {
            None | Some("Pod") => Kind::Pod,
            Some("Event") if head.api_version.starts_with("audit.") => Kind::Request,
            Some("Event") => Kind::Event,
            // Behind lines it would be one object.
            Some(list) if list.ends_with("List") => return Err(("kind", RejectReason::BadValue)),
            Some(_) => return Ok((0, Some("objects that are no pod: left out"))),
        };
        if kind == Kind::Pod {
            self.pod = serde_json::from_slice(raw).map_err(|_| bad)?;
            return self.begin_pod();
        }
        let mut event: Event = serde_json::from_slice(raw).map_err(|_| bad)?;
        let is_told = if kind == Kind::Event {
            self.changes.add_event(&event)?
        } else {
            let shown = event.response_object.take().filter(|object| object["kind"] == "Pod");
            if let Some(object) = shown.filter(|_| event.stage == "ResponseComplete") {
                self.pod = serde_json::from_value(object).map_err(|_| bad)?;
                return self.begin_pod();
            }
            self.changes.add_request(&event)?
        };
        Ok((0, (!is_told).then_some("events and requests that change no pod: left out")))
    }

    /// What events and requests tell that no pod has shown: pods that were gone, and what became
    /// of those that were open.
    pub(super) fn take_changes(&mut self) -> Vec<(Change, Option<Pod>)> {
        let mut found = Vec::new();
        for change in self.changes.take() {
            let by_name = pod_hash(&change.namespace, &change.name);
            let id = if change.uid.is_empty() { by_name } else { hash(change.uid.as_bytes()) };
            if !self.shown.contains(&id) && !self.shown.contains(&!by_name) {
                found.push((change, None));
            } else if let Some(pod) = self.open.remove(&by_name) {
                found.push((change, Some(pod)));
            }
        }
        found
    }

    /// Makes a change the attempt at hand, or what it adds to the last attempt of its pod; says
    /// whether there is one.
    pub(super) fn resume(&mut self, change: Change, pod: Option<Pod>) -> bool {
        let Some(pod) = pod else {
            self.change = Some(change);
            return true;
        };
        self.change = None;
        let last = attempts(&pod).ok().and_then(|mut attempts| attempts.pop()).unwrap_or_default();
        // What was before the pod, or before its last start, is of another of that name.
        let created = pod.metadata.creation_timestamp.as_deref();
        let asked_us = last.submit_us.or(time(created, "").unwrap_or_default());
        let start_us = change.start_us.filter(|_| last.start_us.is_none());
        let start_us = start_us.filter(|&start_us| asked_us <= Some(start_us));
        let begun_us = start_us.or(last.start_us).or(asked_us);
        let end = change.end.filter(|end| begun_us <= Some(end.0));
        let reason = end.and(change.reason).map(str::to_owned);
        let is_new = start_us.or(end.map(|end| end.0)).is_some();
        let start_us = start_us.or(last.start_us);
        self.attempts = vec![Attempt { start_us, end, reason, remark: None, ..last }].into_iter();
        self.pod = pod;
        is_new
    }

    fn begin_pod(&mut self) -> Result<(usize, Option<&'static str>), Fault> {
        let meta = &self.pod.metadata;
        if meta.name.is_empty() {
            return Err(("name", RejectReason::EmptyMandatory));
        }
        let pod = pod_hash(&meta.namespace, &meta.name);
        let mut attempts = attempts(&self.pod)?;
        if let [before, last] = &mut attempts[..] {
            let ended_us = before.end.map_or(0, |end| end.0);
            if last.submit_us.is_some() {
                self.told.insert((pod, -ended_us));
            } else if self.told.contains(&(pod, -ended_us)) {
                last.submit_us = Some(ended_us);
            }
            if !self.told.insert((pod, before.start_us.unwrap_or(0))) {
                attempts.remove(0);
            }
        }
        // Without a uid the name is all that tells it.
        let uid = Some(&meta.uid).filter(|uid| !uid.is_empty());
        self.shown.extend([pod, uid.map_or(!pod, |uid| hash(uid.as_bytes()))]);
        if attempts.last().is_some_and(|last| last.end.is_none()) {
            self.open.insert(pod, self.pod.clone());
        } else {
            self.open.remove(&pod);
        }
        let count = attempts.len();
        self.attempts = attempts.into_iter();
        let restarts = self.pod.status.main().map_or(0, |container| container.restart_count);
        let remark = "restarts before the last: times that a pod no longer has";
        Ok((count, (1 < restarts).then_some(remark)))
    }

    /// The next attempt of the current object.
    pub(super) fn attempt<'a>(&'a mut self, remarks: &mut Remarks) -> Result<Record<'a>, Fault> {
        if let Some(change) = self.change.as_ref() {
            return Ok(change_record(change, &mut self.job, remarks));
        }
        self.at_hand = self.attempts.next().unwrap_or_default();
        let (pod, attempt) = (&self.pod, &self.at_hand);
        let meta = &pod.metadata;
        let creation = time(meta.creation_timestamp.as_deref(), "creationTimestamp")?;
        attempt.remark.into_iter().for_each(|remark| remarks.add(remark));
        let (kind, owner) = owner(pod);
        self.job = format!("{}/{kind}/{owner}", meta.namespace);
        let task_index = task_index(pod, kind);
        if kind == "Job" && pod.status.phase == "Failed" {
            remarks
                .add("failed pods of a Job: it counts as failed, though it may have tried again");
        }
        let [cpu, memory, gpus] = requests(pod)?;
        if cpu.is_none() {
            remarks.add("CPU request unknown: no CPU time is charged");
        }
        let user = match &self.user_from {
            UserFrom::Namespace => Some(meta.namespace.as_str()),
            UserFrom::Label(key) => {
                meta.labels.as_ref().and_then(|labels| labels.get(key)).map(String::as_str)
            }
        };
        let user = user.filter(|user| !user.is_empty());
        if user.is_none() {
            remarks.add("rows of pods without what stands for the user");
        }
        let (status, node) = (&pod.status, pod.spec.node_name.as_deref());
        let restarts = status.main().map(|container| container.restart_count);
        Ok(Record {
            job_id: number_of_name(self.job.as_bytes()),
            task_index,
            life: Life {
                submit_us: attempt.submit_us.max(creation),
                start_us: attempt.start_us,
                end: attempt.end,
            },
            user,
            job_name: Some(&self.job),
            logical_name: Some(owner),
            priority: pod.spec.priority,
            machine_id: node.map(machine_id),
            // How large the system is, its nodes say, which are not in the log.
            cpu: cpu.filter(|_| self.table != Table::MachineEvents),
            memory: memory.map(|bytes| bytes / 1_048_576.0),
            end_reason: attempt.reason.as_deref().map(known),
            nodes: node,
            own: vec![
                Cell::Text(&status.phase),
                attempt.reason.as_deref().into(),
                attempt.exit_code.as_deref().into(),
                Cell::Text(&meta.namespace),
                Cell::Text(&meta.name),
                Cell::Text(kind),
                status.qos_class.as_deref().into(),
                restarts.into(),
                pod.spec.priority_class_name.as_deref().into(),
                gpus.into(),
                node.into(),
            ],
            ..Record::default()
        })
    }
}

/// A pod of which only the changes are known.
fn change_record<'a>(change: &'a Change, job: &'a mut String, remarks: &mut Remarks) -> Record<'a> {
    *job = format!("{}/Pod/{}", change.namespace, change.name);
    remarks.add("pods known by their changes alone: each a job of its own, without requests");
    let life = change.life(remarks);
    let node = change.node.as_deref();
    Record {
        job_id: number_of_name(job.as_bytes()),
        life,
        user: Some(change.namespace.as_str()).filter(|name| !name.is_empty()),
        job_name: Some(job),
        logical_name: Some(&change.name),
        machine_id: node.map(machine_id),
        end_reason: change.reason,
        nodes: node,
        own: vec![
            Cell::Missing,
            change.reason.into(),
            Cell::Missing,
            Cell::Text(&change.namespace),
            Cell::Text(&change.name),
            Cell::Text("Pod"),
            Cell::Missing,
            Cell::Missing,
            Cell::Missing,
            Cell::Missing,
            node.into(),
        ],
        ..Record::default()
    }
}

fn pod_hash(namespace: &str, name: &str) -> u64 {
    hash(namespace.as_bytes()).rotate_left(1) ^ hash(name.as_bytes())
}

/// The attempts that a pod shows: at most the last two.
fn attempts(pod: &Pod) -> Result<Vec<Attempt>, Fault> {
    let status = &pod.status;
    let scheduled = status.condition("PodScheduled").or(status.start_time.as_deref());
    let scheduled_us = time(scheduled, "startTime")?;
    let mut found = Vec::new();
    let main = status.main();
    let before = main.filter(|main| 0 < main.restart_count).map(|main| &main.last_state);
    if let Some(span) = before.and_then(|state| state.terminated.as_ref()) {
        let started_us = time(span.started_at.as_deref(), "startedAt")?;
        let is_first = main.is_some_and(|main| main.restart_count == 1);
        let kind = if span.exit_code == Some(0) { FINISH } else { FAIL };
        let end_us = time(span.finished_at.as_deref(), "finishedAt")?;
        found.push(Attempt {
            start_us: scheduled_us.filter(|_| is_first).or(started_us),
            end: end_us.map(|end_us| (end_us, kind)),
            ..Attempt::of(span)
        });
    }
    let state = main.map(|main| &main.state);
    let begun = state.and_then(|state| state.running.as_ref().or(state.terminated.as_ref()));
    let (kind, phase_reason) = fate(pod)?;
    let before_us = found.first().and_then(|before| before.end).map(|end| end.0);
    if found.is_empty() || begun.is_some() || before_us.is_some() {
        let started_us = time(begun.and_then(|span| span.started_at.as_deref()), "startedAt")?;
        let mut last = begun.map(Attempt::of).unwrap_or_default();
        last.start_us = if found.is_empty() { scheduled_us } else { started_us };
        // It waits to be started again.
        last.submit_us = before_us.filter(|_| begun.is_none());
        if let Some(kind) = kind {
            let (end_us, remark) = end_us(pod)?;
            (last.end, last.remark) = (end_us.map(|end_us| (end_us, kind)), remark);
        }
        last.reason = last.end.and(phase_reason.or(last.reason));
        last.exit_code = last.end.and(last.exit_code);
        found.push(last);
    }
    Ok(found)
}

impl Attempt {
    /// Why the container ended.
    fn of(span: &Span) -> Self {
        Self {
            reason: span.reason.clone(),
            exit_code: span.exit_code.map(|code| code.to_string()),
            ..Self::default()
        }
    }
}

/// What became of a pod, and why where the pod itself says it.
fn fate(pod: &Pod) -> Result<(Option<i32>, Option<String>), Fault> {
    let status = &pod.status;
    let reason = status.reason.clone().filter(|reason| !reason.is_empty());
    let mut all = status.conditions.iter().flatten();
    // As the server marks what it ends for others, or for a node.
    let target = all.find(|it| it.kind == "DisruptionTarget" && it.status == "True");
    let why = || reason.clone().or_else(|| target?.reason.clone());
    let kind = match status.phase.as_str() {
        "Succeeded" => Some(FINISH),
        "Failed" => Some(match reason.as_deref() {
            Some("Evicted" | "Preempting" | "Terminated" | "NodeShutdown" | "Shutdown") => EVICT,
            Some("NodeLost") => LOST,
            _ if target.is_some() => return Ok((Some(EVICT), why())),
            _ => FAIL,
        }),
        "Unknown" => Some(LOST),
        "Running" | "Pending" if pod.metadata.deletion_timestamp.is_some() => {
            let deleted = (Some(KILL), Some("Deleted".to_owned()));
            return Ok(if target.is_some() { (Some(EVICT), why()) } else { deleted });
        }
        "Running" | "Pending" => None,
        "" => return Err(("phase", RejectReason::EmptyMandatory)),
        _ => return Err(("phase", RejectReason::UnknownEventType)),
    };
    Ok((kind, reason))
}

/// The last of some times.
fn latest<'a>(
    mut times: impl Iterator<Item = Option<&'a str>>,
    column: &'static str,
) -> Result<Option<i64>, Fault> {
    times.try_fold(None, |last, text| Ok(last.max(time(text, column)?)))
}

/// When a pod ended: its last container, else its deletion, else its last change; with what is
/// counted of it.
fn end_us(pod: &Pod) -> Result<(Option<i64>, Option<&'static str>), Fault> {
    let containers = pod.status.container_statuses.iter().flatten();
    let ends = containers.map(|it| it.state.terminated.as_ref()?.finished_at.as_deref());
    if let Some(end_us) = latest(ends, "finishedAt")? {
        return Ok((Some(end_us), None));
    }
    if let Some(deleted_us) = time(pod.metadata.deletion_timestamp.as_deref(), "deletionTimestamp")?
    {
        return Ok((Some(deleted_us), None));
    }
    let conditions = pod.status.conditions.iter().flatten();
    let changed = conditions.map(|it| it.last_transition_time.as_deref());
    Ok(match latest(changed, "lastTransitionTime")? {
        None => (None, Some("ended, but no end time: left open")),
        changed_us => (changed_us, Some("no end of a container: ended at the pod's last change")),
    })
}

impl Status {
    /// The container that was started again most often.
    fn main(&self) -> Option<&ContainerStatus> {
        self.container_statuses.iter().flatten().rev().max_by_key(|status| status.restart_count)
    }

    /// Since when a condition holds.
    fn condition(&self, kind: &str) -> Option<&str> {
        let mut all = self.conditions.iter().flatten();
        let found = all.find(|condition| condition.kind == kind && condition.status == "True")?;
        found.last_transition_time.as_deref()
    }
}

/// What a pod belongs to: the kind and the name.
fn owner(pod: &Pod) -> (&str, &str) {
    let meta = &pod.metadata;
    let mut owners = meta.owner_references.iter().flatten();
    let Some(owner) = owners.find(|owner| owner.controller == Some(true)) else {
        return ("Pod", &meta.name);
    };
    let hash = meta.labels.as_ref().and_then(|labels| labels.get("pod-template-hash"));
    let of_deployment = hash.and_then(|hash| {
        owner.name.strip_suffix(hash.as_str()).and_then(|name| name.strip_suffix('-'))
    });
    match (owner.kind.as_str(), of_deployment) {
        ("ReplicaSet", Some(name)) => ("Deployment", name),
        (kind, _) => (kind, &owner.name),
    }
}

/// The index of a pod in what owns it.
fn task_index(pod: &Pod, kind: &str) -> i32 {
    const INDEX: &str = "batch.kubernetes.io/job-completion-index";
    let meta = &pod.metadata;
    let annotation = meta.annotations.as_ref().and_then(|all| all.get(INDEX)?.as_str());
    let label = meta.labels.as_ref().and_then(|all| all.get(INDEX)).map(String::as_str);
    let text = match kind {
        "Pod" => Some("0"),
        "StatefulSet" => meta.name.rsplit('-').next(),
        _ => annotation.or(label),
    };
    let index = text.and_then(|text| text.parse::<i32>().ok()).filter(|&index| 0 <= index);
    let of_name = || i32::try_from(hash(meta.name.as_bytes()) >> 33).expect("31 bits");
    index.unwrap_or_else(of_name)
}

/// Tells a resource by its name.
type IsWanted = fn(&str) -> bool;

/// What each of some containers asks for of a resource, or is limited to.
fn amounts(
    containers: &[Container],
    (is_wanted, column): (IsWanted, &'static str),
) -> Result<Vec<f64>, Fault> {
    let of = |container: &Container| {
        let Resources { requests, limits } = &container.resources;
        let mut all = requests.iter().chain(limits).flatten();
        all.find(|(name, _)| is_wanted(name)).map(|(_, value)| quantity(value))
    };
    let bad = (column, RejectReason::BadValue);
    containers.iter().filter_map(of).map(|amount| amount.ok_or(bad)).collect()
}

/// CPU in cores, memory in bytes and GPUs: what the containers ask for together, or the largest of
/// those that run before them.
fn requests(pod: &Pod) -> Result<[Option<f32>; 3], Fault> {
    let kinds: [(IsWanted, &str); 3] = [
        (|name| name == "cpu", "cpu"),
        (|name| name == "memory", "memory"),
        (|name| name.ends_with("/gpu"), "gpu"),
    ];
    let mut found = [None; 3];
    for (place, kind) in found.iter_mut().zip(kinds) {
        let together = amounts(&pod.spec.containers, kind)?;
        let before = amounts(pod.spec.init_containers.as_deref().unwrap_or_default(), kind)?;
        let sum = (!together.is_empty()).then(|| together.iter().sum());
        let most = before.into_iter().chain(sum).reduce(f64::max);
        #[expect(clippy::cast_possible_truncation, reason = "an amount")]
        let most = most.map(|most| most as f32);
        *place = most;
    }
    Ok(found)
}

/// Reasons that are known by name.
const REASONS: &str = "OOMKilled Error Completed Evicted Deleted DeadlineExceeded \
    ContainerCannotRun StartError Preempting Terminated NodeLost NodeShutdown NodeAffinity \
    Shutdown UnexpectedAdmissionError PreemptionByScheduler DeletionByTaintManager \
    EvictionByEvictionAPI DeletionByPodGC TerminationByKubelet Killing Preempted \
    TaintManagerEviction";

/// A reason by its known name, for the sum of a job.
fn known(reason: &str) -> &'static str {
    REASONS.split(' ').find(|known| *known == reason).unwrap_or("Other")
}

//! Reads a pod that a list or a request shows: its attempts, its owner and its requests.

use super::super::json::containers::{CONTAINERS, INIT_CONTAINERS, first_failed, request_of_pod};
use super::super::json::pick::Part;
use super::super::reading::UserFrom;
use super::super::records::amounts::narrow;
use super::super::records::numbers::{NAMED_FROM, index_of_name};
use super::super::records::snapshots::Attempt;
use super::super::records::states::{Fate, States, named, state_of};
use super::super::records::{
    EVICT, FAIL, FINISH, Fault, KILL, Life, Record, Remarks, machine_id, number_of_name,
};
use super::changes::ALONE;
use crate::schema::EventType;
use crate::sources::rows::Cell;

/// A pod as it is shown.
#[derive(Clone, Copy)]
pub(super) struct Pod<'a>(pub Part<'a>);

impl<'a> Pod<'a> {
    /// Its names and its uid.
    pub(super) fn names(self) -> Result<[&'a str; 3], Fault> {
        let text = |path| Ok(self.0.text(path)?.unwrap_or_default());
        Ok([text("/metadata/namespace")?, text("/metadata/name")?, text("/metadata/uid")?])
    }

    /// The time of its creation, µs since 1970.
    pub(super) fn created_us(self) -> Result<Option<i64>, Fault> {
        self.0.time("/metadata/creationTimestamp")
    }

    /// The record of one of its attempts; `job` receives the name of its job.
    pub(super) fn record<'r>(
        self,
        attempt: &'r Attempt,
        user_from: &UserFrom,
        job: &'r mut String,
        remarks: &mut Remarks,
    ) -> Result<Record<'r>, Fault>
    where
        'a: 'r,
    {
        let [namespace, name, _] = self.names()?;
        let created_us = self.created_us()?;
        attempt.remarks.iter().for_each(|remark| remarks.add(remark));
        let (kind, owner) = self.owner()?;
        *job = format!("{namespace}/{kind}/{owner}");
        let phase = self.0.text("/status/phase")?.filter(|phase| !phase.is_empty());
        if kind == "Job" && phase == Some("Failed") {
            remarks.add(
                "failed pods of a Job: the Job counts as failed, although it may have retried",
            );
        }
        let cpu = self.asked("cpu")?;
        if cpu.is_none() && !attempt.remarks.contains(&ALONE) {
            remarks.add("CPU request unknown: no CPU time is charged");
        }
        let user = match user_from {
            UserFrom::Namespace => Some(namespace),
            UserFrom::Label(key) => self.0.at("/metadata/labels").0[key].as_str(),
        };
        let user = user.filter(|user| !user.is_empty());
        if user.is_none() {
            remarks.add("rows of pods without the namespace or label that names the user");
        }
        let node = self.0.text("/spec/nodeName")?;
        let main = self.main()?;
        let small = |value: Option<i64>| value.and_then(|value| i32::try_from(value).ok());
        Ok(Record {
            job_id: number_of_name(job.as_bytes()),
            task_index: self.task_index(kind)?,
            life: Life::of(attempt.submit_us.max(created_us), attempt.start_us, attempt.end),
            user,
            job_name: Some(job),
            logical_name: Some(owner),
            priority: small(self.0.whole("/spec/priority")?),
            machine_id: node.map(machine_id),
            cpu,
            memory: self.asked("memory")?.map(|bytes| bytes / 1_048_576.0),
            end_reason: attempt.reason.as_deref(),
            nodes: node,
            own: vec![
                phase.into(),
                attempt.reason.as_deref().into(),
                attempt.exit_code.as_deref().into(),
                Cell::Text(namespace),
                Cell::Text(name),
                Cell::Text(kind),
                self.0.text("/status/qosClass")?.into(),
                small(main.map(|(restarts, _)| restarts)).into(),
                self.0.text("/spec/priorityClassName")?.into(),
                self.asked("gpu")?.into(),
                node.into(),
            ],
            ..Record::default()
        })
    }

    /// The highest number of restarts of a container, and the first container with that number.
    fn main(self) -> Result<Option<(i64, Part<'a>)>, Fault> {
        let all = self.0.list(CONTAINERS)?;
        let all = all.map(|it| Ok((it.whole("/restartCount")?.unwrap_or(0), it)));
        let all = all.collect::<Result<Vec<_>, Fault>>()?;
        Ok(all.into_iter().rev().max_by_key(|(restarts, _)| *restarts))
    }

    /// The highest number of restarts of any of its containers.
    pub(super) fn restarts(self) -> i64 {
        self.main().ok().flatten().map_or(0, |(restarts, _)| restarts)
    }

    /// The first condition of a kind that is true.
    fn condition(self, kind: &str) -> Result<Option<Part<'a>>, Fault> {
        self.0.item("/status/conditions", [("/status", "True"), ("/type", kind)])
    }

    /// When it got a node, if the pod shows this.
    pub(super) fn scheduled_us(self) -> Result<Option<i64>, Fault> {
        let told = self.condition("PodScheduled")?.map(|it| it.time("/lastTransitionTime"));
        Ok(told.transpose()?.flatten().or(self.0.time("/status/startTime")?))
    }

    /// The attempts that it shows: at most the last two.
    pub(super) fn attempts(self) -> Result<Vec<Attempt>, Fault> {
        let scheduled_us = self.scheduled_us()?;
        let (mut found, main) = (Vec::new(), self.main()?);
        let states =
            main.map(|(_, main)| [main.at("/state/running"), main.at("/state/terminated")]);
        let begun = states.into_iter().flatten().find(|span| !span.is_missing());
        // A restart is counted when the container starts. A container that waits for its restart
        // has not counted it yet.
        let number = main.map(|(restarts, _)| restarts - i64::from(begun.is_some()));
        if let Some((number @ 0.., (_, main))) = number.zip(main)
            && let span = main.at("/lastState/terminated")
            && !span.is_missing()
        {
            let kind = if span.whole("/exitCode")? == Some(0) { FINISH } else { FAIL };
            found.push(Attempt {
                number: Some(number),
                start_us: scheduled_us.filter(|_| number == 0).or(span.time("/startedAt")?),
                end: span.time("/finishedAt")?.map(|end_us| (end_us, kind)),
                ..why(span)?
            });
        }
        let (kind, phase_reason) = self.fate()?;
        let before_us = found.first().and_then(|before| before.end).map(|end| end.0);
        if found.is_empty() || begun.is_some() || before_us.is_some() {
            let failed = kind.filter(|&kind| kind == FAIL).and(self.first_failed()?);
            let mut last = failed.or(begun).map(why).transpose()?.unwrap_or_default();
            last.number =
                number.map(|number| number + 1).filter(|_| begun.is_some() || !found.is_empty());
            let started_us = begun.map_or(Ok(None), |span| span.time("/startedAt"))?;
            last.start_us = if found.is_empty() { scheduled_us } else { started_us };
            // The container waits for its restart.
            last.submit_us = before_us.filter(|_| begun.is_none());
            if let Some(kind) = kind {
                let (end_us, remark) = self.end_us()?;
                last.end_with(kind, end_us, scheduled_us.or(self.created_us()?));
                last.remarks.extend(remark);
            }
            last.reason = last.end.and(phase_reason.map(str::to_owned).or(last.reason));
            last.exit_code = last.end.and(last.exit_code);
            found.push(last);
        }
        Ok(found)
    }

    /// The event that ended it, and the reason that it gives.
    fn fate(self) -> Result<(Option<i32>, Option<&'a str>), Fault> {
        let reason = self.0.text("/status/reason")?.filter(|reason| !reason.is_empty());
        let phase = self.0.text("/status/phase")?.unwrap_or_default();
        let (fate, _) = state_of(named(PHASES, phase.as_bytes()), phase.as_bytes(), "phase")?;
        let is_deleted = !self.0.at("/metadata/deletionTimestamp").is_missing();
        // The server sets this condition on pods that it ends to make room or to free a node.
        let target = self.condition("DisruptionTarget")?;
        let why = reason.or(target.map_or(Ok(None), |target| target.text("/reason"))?);
        let failed_as = reason.and_then(|reason| named(FAILED_AS, reason.as_bytes()));
        Ok(match fate {
            Fate::Running if is_deleted && target.is_some() => (Some(EVICT), why),
            Fate::Running if is_deleted => (Some(KILL), Some("Deleted")),
            Fate::Ended(EventType::Fail) => match failed_as {
                Some((fate, _)) => (fate.end(), reason),
                None if target.is_some() => (Some(EVICT), why),
                None => (fate.end(), reason),
            },
            _ => (fate.end(), reason),
        })
    }

    /// The end of the container that failed first; if none did, of the init container.
    fn first_failed(self) -> Result<Option<Part<'a>>, Fault> {
        let failed = first_failed(self.0, CONTAINERS)?;
        failed.map_or_else(|| first_failed(self.0, INIT_CONTAINERS), |end| Ok(Some(end)))
    }

    /// The end of its last container. After an init container that failed, no other starts.
    fn container_end_us(self) -> Result<Option<i64>, Fault> {
        let last_of = |list| self.0.last_time(list, "/state/terminated/finishedAt");
        match last_of(CONTAINERS)? {
            None => first_failed(self.0, INIT_CONTAINERS)?
                .map_or(Ok(None), |end| end.time("/finishedAt")),
            end_us => Ok(end_us.max(last_of(INIT_CONTAINERS)?)),
        }
    }

    /// Its end: the end of its last container, else its deletion, else its last change, with a
    /// remark. `None` if it shows none of these: a node that evicts a pod may leave only the reason
    /// and the start in its status.
    fn end_us(self) -> Result<(Option<i64>, Option<&'static str>), Fault> {
        let container_us = self.container_end_us()?;
        if let Some(end_us) = container_us.or(self.0.time("/metadata/deletionTimestamp")?) {
            return Ok((Some(end_us), None));
        }
        let changed = self.0.last_time("/status/conditions", "/lastTransitionTime")?;
        let remark = match changed {
            None => "ended, but no end time: when it started, so that no time is charged",
            Some(_) => "no end of a container: the pod's last change is used",
        };
        Ok((changed, Some(remark)))
    }

    /// Whether no later snapshot can add anything to it.
    pub(super) fn is_final(self) -> bool {
        let phase = self.0.text("/status/phase").ok().flatten();
        self.restarts() == 0
            && matches!(phase, Some("Succeeded" | "Failed"))
            && self.container_end_us().is_ok_and(|end_us| end_us.is_some())
    }

    /// The kind and name of its owner; the pod itself if it has none.
    fn owner(self) -> Result<(&'a str, &'a str), Fault> {
        let mut owners = self.0.list("/metadata/ownerReferences")?;
        let Some(owner) = owners.find(|owner| owner.at("/controller").0 == true) else {
            return Ok(("Pod", self.names()?[1]));
        };
        let name = owner.text("/name")?.unwrap_or_default();
        let hash = self.0.text("/metadata/labels/pod-template-hash")?;
        let of_deployment = hash.and_then(|hash| name.strip_suffix(hash)?.strip_suffix('-'));
        Ok(match (owner.text("/kind")?.unwrap_or_default(), of_deployment) {
            ("ReplicaSet", Some(name)) => ("Deployment", name),
            (kind, _) => (kind, name),
        })
    }

    /// Its index in its owner, else a hash of its name.
    fn task_index(self, kind: &str) -> Result<i32, Fault> {
        let name = self.names()?[1];
        let text = match kind {
            "Pod" => Some("0"),
            "StatefulSet" => name.rsplit('-').next(),
            _ => ["/metadata/annotations", "/metadata/labels"]
                .into_iter()
                .find_map(|place| self.0.at(place).0[INDEX].as_str()),
        };
        let index =
            text.and_then(|text| text.parse().ok()).filter(|at| (0..NAMED_FROM).contains(at));
        Ok(index.unwrap_or_else(|| index_of_name(name.as_bytes())))
    }

    /// Its request for a resource.
    fn asked(self, resource: &'static str) -> Result<Option<f32>, Fault> {
        Ok(request_of_pod(self.0.at("/spec"), resource)?.map(narrow))
    }
}

/// An attempt with the reason and exit code of its container.
fn why(span: Part<'_>) -> Result<Attempt, Fault> {
    let reason = span.text("/reason")?.map(str::to_owned);
    let exit_code = span.whole("/exitCode")?.map(|code| code.to_string());
    Ok(Attempt { reason, exit_code, ..Attempt::default() })
}

/// The end of a pod, by phase.
const PHASES: &States = &[
    (Fate::Ended(EventType::Finish), "Succeeded"),
    (Fate::Ended(EventType::Fail), "Failed"),
    (Fate::Ended(EventType::Lost), "Unknown"),
    (Fate::Running, "Running Pending"),
];

/// The end of a failed pod, by reason: it made room for other pods, its node evicted it or shut
/// down, or its node was lost.
const FAILED_AS: &States = &[
    (Fate::Ended(EventType::Evict), "Evicted Preempting Terminated NodeShutdown Shutdown"),
    (Fate::Ended(EventType::Lost), "NodeLost"),
];

/// The label or annotation with the index of a pod in a Job.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

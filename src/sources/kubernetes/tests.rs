//! Invented pods, events and requests in the exact form of Kubernetes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::reading::{Reading, UserFrom};
use super::super::tests::{Rows, parsed, parsed_part};
use crate::schema::{Source, Table};

/// A second of 2024-01-01.
fn at(second: u32) -> String {
    format!("2024-01-01T00:{:02}:{:02}Z", second / 60, second % 60)
}

/// A pod that was created at 0 and got a node at 5.
fn pod(name: &str, status: impl Into<Value>) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "physics", "creationTimestamp": at(0),
            "labels": {"team": "ada"},
        },
        "spec": {
            "nodeName": "n1",
            "containers": [
                {"name": "main", "resources": {"requests": {"cpu": "1500m", "memory": "2Gi"}}},
                {"name": "side", "resources": {"limits": {"cpu": 1, "nvidia.com/gpu": "2"}}},
            ],
        },
        "status": {
            "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": at(5)}],
        },
    });
    let status = status.into();
    for (key, value) in status.as_object().unwrap() {
        pod["status"][key] = value.clone();
    }
    pod
}

fn ended(from: u32, to: u32, code: i32, reason: &str) -> Value {
    json!({"startedAt": at(from), "finishedAt": at(to), "exitCode": code, "reason": reason})
}

fn list(items: &[Value]) -> String {
    let list = json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}});
    serde_json::to_string_pretty(&list).unwrap()
}

/// The events of both tables, in seconds of the year.
#[track_caller]
fn history(text: &str) -> String {
    let of = |table| {
        let rows = parsed(Source::Kubernetes, table, text);
        assert_eq!(rows.rejects(), Vec::<String>::new(), "{text}");
        since_new_year(&rows)
    };
    let (jobs, tasks) = (of(Table::JobEvents), of(Table::TaskEvents));
    if jobs == tasks { tasks } else { format!("{tasks}; job {jobs}") }
}

fn since_new_year(rows: &Rows) -> String {
    rows.history()
        .split(", ")
        .filter(|event| !event.is_empty())
        .map(|event| {
            let (time, kind) = event.split_once(' ').unwrap();
            format!("{} {kind}", time.parse::<i64>().unwrap() - 1_704_067_200)
        })
        .collect::<Vec<String>>()
        .join(", ")
}

fn status(phase: &str, state: impl Into<Value>) -> Value {
    let state = state.into();
    json!({"phase": phase, "containerStatuses": [{"restartCount": 0, "state": state}]})
}

#[test]
fn every_phase_ends_a_pod_as_it_says() {
    let check = |pod: Value, expected: &str| {
        for text in [list(std::slice::from_ref(&pod)), format!("{pod}\n"), format!("{pod:#}")] {
            assert_eq!(history(&text), expected, "{text}");
        }
    };
    let done = json!({"terminated": ended(6, 90, 0, "Completed")});
    check(pod("a", status("Succeeded", done)), "0 SUBMIT, 5 SCHEDULE, 90 FINISH");
    let failed = json!({"terminated": ended(6, 90, 137, "OOMKilled")});
    check(pod("a", status("Failed", failed)), "0 SUBMIT, 5 SCHEDULE, 90 FAIL");
    let running = json!({"running": {"startedAt": at(6)}});
    check(pod("a", status("Running", running.clone())), "0 SUBMIT, 5 SCHEDULE");
    let mut deleted = pod("a", status("Running", running));
    deleted["metadata"]["deletionTimestamp"] = json!(at(70));
    check(deleted, "0 SUBMIT, 5 SCHEDULE, 70 KILL");
    let mut pending = pod("a", json!({"phase": "Pending", "conditions": []}));
    check(pending.clone(), "0 SUBMIT");
    pending["metadata"]["deletionTimestamp"] = json!(at(30));
    check(pending, "0 SUBMIT, 30 KILL");
    let evicted = json!({"phase": "Failed", "reason": "Evicted", "conditions": [
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(5)},
        {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": at(40)}]});
    check(pod("a", evicted), "0 SUBMIT, 5 SCHEDULE, 40 EVICT");
}

#[test]
fn a_container_that_was_started_again_is_another_attempt() {
    let again = |restarts: i32| {
        json!({"phase": "Running", "containerStatuses": [
            {"restartCount": 0, "state": {"running": {"startedAt": at(6)}}},
            {"restartCount": restarts, "state": {"running": {"startedAt": at(50)}},
             "lastState": {"terminated": ended(20, 40, 1, "Error")}}]})
    };
    let once = pod("a", again(1));
    let expected = "0 SUBMIT, 5 SCHEDULE, 40 FAIL, 50 SCHEDULE; job 0 SUBMIT, 5 SCHEDULE";
    assert_eq!(history(&list(std::slice::from_ref(&once))), expected);
    // Two snapshots of it, and one from before the restart.
    let before = pod("a", status("Running", json!({"running": {"startedAt": at(6)}})));
    let text =
        format!("{}\n{}\n{}", list(&[before]), list(std::slice::from_ref(&once)), list(&[once]));
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
    assert_eq!(since_new_year(&rows), "0 SUBMIT, 5 SCHEDULE, 40 FAIL, 50 SCHEDULE");
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &list(&[pod("a", again(3))]));
    // The attempts before the last two become one, from second 5 on: the pod got its node then.
    let expected = "0 SUBMIT, 5 SCHEDULE, 20 SCHEDULE, 40 FAIL, 50 SCHEDULE";
    assert_eq!(since_new_year(&rows), expected);
    assert_eq!(rows.notes.remarks["earlier restarts: the pod no longer has their times"], 1);
}

#[test]
fn a_pod_that_waits_to_be_started_again_has_not_failed() {
    let waiting = |name: &str, phase: &str| {
        let mut pod = pod(
            name,
            json!({"phase": phase, "containerStatuses": [
                {"restartCount": 0, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                 "lastState": {"terminated": ended(6, 40, 1, "Error")}}]}),
        );
        pod["spec"]["nodeName"] = json!("n1");
        pod
    };
    let back_off = waiting("a", "Running");
    let expected = "0 SUBMIT, 5 SCHEDULE, 40 FAIL, 40 SUBMIT; job 0 SUBMIT, 5 SCHEDULE";
    assert_eq!(history(&list(std::slice::from_ref(&back_off))), expected);
    // A second snapshot, and another one when it runs.
    let mut runs = pod("a", status("Running", json!({"running": {"startedAt": at(50)}})));
    runs["status"]["containerStatuses"][0]["restartCount"] = json!(1);
    runs["status"]["containerStatuses"][0]["lastState"] =
        json!({"terminated": ended(6, 40, 1, "Error")});
    let text = list(&[back_off.clone(), back_off, runs]);
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
    assert_eq!(since_new_year(&rows), "0 SUBMIT, 5 SCHEDULE, 40 FAIL, 40 SUBMIT, 50 SCHEDULE");
    let mut evicted = waiting("b", "Failed");
    evicted["status"]["reason"] = json!("Evicted");
    evicted["metadata"]["deletionTimestamp"] = json!(at(60));
    let expected = "0 SUBMIT, 5 SCHEDULE, 40 FAIL, 40 SUBMIT, 60 EVICT; job 0 SUBMIT, 5 SCHEDULE, \
                    60 EVICT";
    assert_eq!(history(&list(&[evicted])), expected);
}

#[test]
fn a_pod_that_waits_for_its_second_restart_has_ended_twice() {
    let mut pod =
        again(1, json!({"waiting": {"reason": "CrashLoopBackOff"}}), ended(50, 60, 1, "Error"));
    let text = list(std::slice::from_ref(&pod));
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
    assert_eq!(since_new_year(&rows), "0 SUBMIT, 5 SCHEDULE, 50 SCHEDULE, 60 FAIL, 60 SUBMIT");
    let remark = "earlier restarts: the pod no longer has their times";
    assert_eq!(rows.notes.remarks[remark], 1);
    // A snapshot from before shows the first attempt.
    let before = again(1, json!({"running": {"startedAt": at(50)}}), ended(6, 40, 2, "Error"));
    pod["status"]["phase"] = json!("Running");
    for text in both_orders(&before, &pod) {
        let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
        let expected = "0 SUBMIT, 5 SCHEDULE, 40 FAIL, 50 SCHEDULE, 60 FAIL, 60 SUBMIT";
        assert_eq!(since_new_year(&rows), expected);
        assert!(!rows.notes.remarks.contains_key(remark));
    }
}

/// A container that starts at 5 and fails again and again: for each attempt, how long it waited for
/// its start and how long it ran, s.
fn lives() -> impl Strategy<Value = Vec<(u32, u32)>> {
    prop::collection::vec(
        (prop_oneof![Just(0_u32), 0_u32..40], prop_oneof![Just(0_u32), 0_u32..40]),
        1..8,
    )
}

proptest! {
    /// Promise: every start of a container is an attempt, even if several start in one second, and
    /// in any order of the snapshots.
    #[test]
    fn every_start_of_a_container_is_an_attempt(
        lives in lives(),
        extra in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..6),
        order in any::<u64>(),
    ) {
        let (mut spans, mut now) = (Vec::new(), 5);
        for (number, &(wait, run)) in lives.iter().enumerate() {
            let start = if number == 0 { 5 } else { now + wait };
            now = start + run;
            spans.push((start, now));
        }
        let span = |number: usize| ended(spans[number].0, spans[number].1, 1, "Error");
        let restarts = |number: usize| i32::try_from(number).unwrap();
        // The pod while attempt `number` runs, and while it waits after that.
        let runs = |number: usize| {
            let state = json!({"running": {"startedAt": at(spans[number].0)}});
            let last = number.checked_sub(1).map_or(Value::Null, span);
            again(restarts(number), state, last)
        };
        let waits = |number: usize| {
            let state = json!({"waiting": {"reason": "CrashLoopBackOff"}});
            again(restarts(number), state, span(number))
        };
        let last = spans.len() - 1;
        let mut all: Vec<Value> = (0..=last).map(runs).chain([waits(last)]).collect();
        for (number, is_running) in extra {
            let number = number.index(spans.len());
            all.push(if is_running { runs(number) } else { waits(number) });
        }
        all.sort_by_cached_key(|pod| {
            let text = pod.to_string();
            text.bytes().fold(order, |sum, byte| sum.rotate_left(5).wrapping_mul(31) ^ u64::from(byte))
        });
        let expected: Vec<String> =
            spans.iter().map(|(start, end)| format!("{start} SCHEDULE, {end} FAIL")).collect();
        let rows = parsed(Source::Kubernetes, Table::TaskEvents, &list(&all));
        let found = since_new_year(&rows);
        let found: Vec<&str> = found.split(", ").filter(|event| !event.contains("SUBMIT")).collect();
        prop_assert_eq!(found.join(", "), expected.join(", "), "{:?}", all);
    }
}

#[test]
fn init_containers_count_as_kubernetes_counts_them() {
    let mut pod = pod("a", status("Running", json!({"running": {"startedAt": at(30)}})));
    // The sidecar runs along with a first step, and then with the two containers, which need 2.5
    // CPUs.
    pod["spec"]["initContainers"] = json!([
        {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
        {"name": "fetch", "resources": {"requests": {"cpu": "1", "memory": "3Gi"}}},
    ]);
    pod["status"]["initContainerStatuses"] = json!([
        {"name": "proxy", "restartCount": 2, "state": {"running": {"startedAt": at(7)}}},
        {"name": "fetch", "restartCount": 1, "state": {"terminated": ended(9, 20, 0, "Completed")}},
    ]);
    let text = list(std::slice::from_ref(&pod));
    assert_eq!(history(&text), "0 SUBMIT, 5 SCHEDULE");
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
    assert_eq!(rows.cell("cpu_request", 0), "3");
    assert_eq!(rows.cell("memory_request", 0), "3072");
    assert_eq!(rows.notes.remarks["restarts of init containers: not attempts of the task"], 3);
    pod["spec"]["initContainers"][1]["resources"]["requests"]["cpu"] = json!("4");
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &list(std::slice::from_ref(&pod)));
    assert_eq!(rows.cell("cpu_request", 0), "4.5");
    // A pod whose init container fails never starts its containers.
    let waits = json!({"waiting": {"reason": "PodInitializing"}});
    let mut failed = self::pod("b", status("Failed", waits));
    failed["status"]["initContainerStatuses"] =
        json!([{"restartCount": 0, "state": {"terminated": ended(6, 8, 3, "Error")}}]);
    let text = list(&[failed]);
    assert_eq!(history(&text), "0 SUBMIT, 5 SCHEDULE, 8 FAIL");
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
    assert_eq!(
        (rows.cell("end_reason", 2), rows.cell("exit_code", 2)),
        ("Error".into(), "3".into())
    );
    assert_eq!(rows.notes.remarks.len(), 0);
}

#[test]
fn a_pod_that_was_disrupted_is_evicted() {
    let disrupted = |phase: &str| {
        let mut pod = pod("a", status(phase, json!({"terminated": ended(6, 40, 143, "Error")})));
        let target = json!({"type": "DisruptionTarget", "status": "True",
            "reason": "PreemptionByScheduler", "lastTransitionTime": at(38)});
        pod["status"]["conditions"].as_array_mut().unwrap().push(target);
        pod
    };
    let mut deleted = disrupted("Running");
    deleted["metadata"]["deletionTimestamp"] = json!(at(70));
    for pod in [disrupted("Failed"), deleted] {
        let text = list(&[pod]);
        assert_eq!(history(&text), "0 SUBMIT, 5 SCHEDULE, 40 EVICT");
        let rows = parsed(Source::Kubernetes, Table::JobEvents, &text);
        assert_eq!(rows.cell("end_reason", 2), "PreemptionByScheduler");
    }
    let done = list(&[disrupted("Succeeded")]);
    assert_eq!(history(&done), "0 SUBMIT, 5 SCHEDULE, 40 FINISH");
}

#[test]
fn a_pod_fails_for_the_reason_of_the_container_that_failed_first() {
    let state = |terminated: Value| json!({"restartCount": 0, "state": {"terminated": terminated}});
    let side = state(ended(6, 60, 0, "Completed"));
    let main = state(ended(6, 80, 137, "OOMKilled"));
    let later = state(ended(6, 90, 1, "Error"));
    let mut again = later.clone();
    again["restartCount"] = json!(1);
    again["lastState"] = json!({"terminated": ended(6, 40, 2, "Error")});
    let check = |containers: [&Value; 3], end: usize| {
        let failed = pod("a", json!({"phase": "Failed", "containerStatuses": containers}));
        for table in [Table::JobEvents, Table::TaskEvents] {
            let rows = parsed(Source::Kubernetes, table, &list(std::slice::from_ref(&failed)));
            let end = if table == Table::JobEvents { 2 } else { end };
            assert_eq!(rows.cell("end_reason", end), "OOMKilled", "{failed}");
        }
        let rows = parsed(Source::Kubernetes, Table::TaskEvents, &list(&[failed]));
        assert_eq!(rows.cell("exit_code", end), "137");
    };
    check([&side, &main, &later], 2);
    check([&later, &side, &main], 2);
    // The attempts are those of the container that was restarted; the pod ended in another way.
    check([&again, &side, &main], 4);
    // A pod that finished ended as its containers did.
    let done = json!({"phase": "Succeeded", "containerStatuses": [&side]});
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &list(&[pod("a", done)]));
    assert_eq!(rows.cell("end_reason", 2), "Completed");
}

#[test]
fn an_end_that_no_container_tells_is_counted() {
    let remark = |pod: Value| {
        let rows = parsed(Source::Kubernetes, Table::TaskEvents, &list(&[pod]));
        let remarks: Vec<&str> = rows.notes.remarks.keys().copied().collect();
        format!("{}: {}", since_new_year(&rows), remarks.join("; "))
    };
    let mut evicted = pod("a", json!({"phase": "Failed", "reason": "Evicted"}));
    let expected =
        "0 SUBMIT, 5 SCHEDULE, 5 EVICT: no end of a container: the pod's last change is used";
    assert_eq!(remark(evicted.clone()), expected);
    evicted["status"] = json!({"phase": "Failed", "reason": "Evicted", "startTime": at(7)});
    let unknown = "ended, but no end time: when it started, so that no time is charged";
    assert_eq!(remark(evicted.clone()), format!("0 SUBMIT, 7 SCHEDULE, 7 EVICT: {unknown}"));
    evicted["status"] = json!({"phase": "Failed", "reason": "Evicted"});
    assert_eq!(remark(evicted), format!("0 SUBMIT, 0 EVICT: {unknown}"));
}

#[test]
fn a_pod_is_reported_with_what_it_asked_for_and_whose_it_is() {
    let mut pod = pod("train-x7-abc", status("Running", json!({"running": {}})));
    pod["metadata"]["ownerReferences"] =
        json!([{"kind": "ReplicaSet", "name": "train-x7", "controller": true}]);
    pod["metadata"]["labels"]["pod-template-hash"] = json!("x7");
    let text = pod.to_string();
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
    for (column, expected) in [
        ("cpu_request", "2.5"),
        ("memory_request", "2048"),
        ("gpu_request", "2"),
        ("user", "physics"),
        ("pod_name", "train-x7-abc"),
        ("owner_kind", "Deployment"),
        ("machine_name", "n1"),
        ("end_reason", "-"),
    ] {
        assert_eq!(rows.cell(column, 0), expected, "{column}");
    }
    let jobs = parsed(Source::Kubernetes, Table::JobEvents, &text);
    assert_eq!(jobs.cell("job_name", 0), "physics/Deployment/train");
    let machines = parsed(Source::Kubernetes, Table::MachineEvents, &text);
    assert_eq!(machines.cell("machine_name", 0), "n1");
    assert_eq!(machines.cell("machine_id", 0), rows.cell("machine_id", 0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pods.json");
    std::fs::write(&path, &text).unwrap();
    let trace = super::super::open_trace(&path, None, None).unwrap();
    assert_eq!(trace.source, Source::Kubernetes);
    let mut part = trace.parts[&Table::TaskEvents][0].clone();
    let user_from = Some("label:team".parse::<UserFrom>().unwrap());
    part.reading = std::sync::Arc::new(Reading { user_from, ..Reading::default() });
    assert_eq!(parsed_part(&part).cell("user", 0), "ada");
    for text in ["label:", "team"] {
        let error: &dyn std::error::Error = &text.parse::<UserFrom>().unwrap_err();
        let said = format!("`{text}` is neither `namespace` nor `label:KEY`");
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn pods_of_one_index_are_attempts_of_one_task() {
    let of = |name: &str, created: u32, state: Value, phase: &str| {
        let mut pod = pod(name, status(phase, json!({"terminated": state})));
        pod["metadata"]["creationTimestamp"] = json!(at(created));
        pod["status"]["conditions"][0]["lastTransitionTime"] = json!(at(created + 5));
        pod["metadata"]["ownerReferences"] =
            json!([{"kind": "Job", "name": "fit", "controller": true}]);
        pod["metadata"]["annotations"] = json!({"batch.kubernetes.io/job-completion-index": "3"});
        pod
    };
    let text = list(&[
        of("fit-3-a", 0, ended(6, 20, 1, "Error"), "Failed"),
        of("fit-3-b", 30, ended(36, 90, 0, "Completed"), "Succeeded"),
    ]);
    let expected = "0 SUBMIT, 5 SCHEDULE, 20 FAIL, 30 SUBMIT, 35 SCHEDULE, 90 FINISH; \
                    job 0 SUBMIT, 5 SCHEDULE, 90 FINISH";
    assert_eq!(history(&text), expected);
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
    assert_eq!((rows.cell("task_index", 0), rows.cell("task_index", 5)), ("3".into(), "3".into()));
}

#[test]
fn events_and_requests_are_put_together_by_pod() {
    let event = |name: &str, reason: &str, second: u32| {
        json!({"apiVersion": "v1", "kind": "Event", "reason": reason, "firstTimestamp": at(second),
            "involvedObject": {"kind": "Pod", "namespace": "physics", "name": name},
            "source": {"host": "n1"}})
    };
    // In any order.
    let text = list(&[
        event("a", "Killing", 60),
        event("a", "Evicted", 59),
        event("b", "Pulled", 7),
        event("a", "Scheduled", 9),
        event("a", "FailedScheduling", 3),
    ]);
    assert_eq!(history(&text), "3 SUBMIT, 9 SCHEDULE, 59 EVICT");
    let request = |verb: &str, sub: &str, second: u32, code: i32| {
        json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete",
            "auditID": "x", "verb": verb, "requestReceivedTimestamp": at(second),
            "objectRef": {"resource": "pods", "subresource": sub, "namespace": "x", "name": "a"},
            "responseStatus": {"code": code}})
    };
    // The server named this one: only its answer, which is not logged, has the name.
    let mut unnamed = request("create", "", 1, 201);
    unnamed["objectRef"].as_object_mut().unwrap().remove("name");
    let text = [
        unnamed,
        request("create", "", 1, 201),
        request("create", "binding", 4, 201),
        request("delete", "", 20, 403),
        request("delete", "", 30, 200),
        request("get", "", 31, 200),
    ]
    .map(|line| line.to_string())
    .join("\n");
    assert_eq!(history(&text), "1 SUBMIT, 4 SCHEDULE, 30 KILL");
    // A pod without a binding: the log has its creation, or only its end.
    let created = request("create", "", 4, 201).to_string();
    let evicted = request("create", "eviction", 10, 201).to_string();
    for (text, expected, remark) in [
        (
            format!("{created}\n{evicted}\n"),
            "4 SUBMIT, 10 EVICT",
            "pods that ended without a start",
        ),
        (format!("{evicted}\n"), "10 SUBMIT, 10 EVICT", "pods known only by their end"),
    ] {
        assert_eq!(history(&text), expected);
        let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
        let mut remarks = rows.notes.remarks.keys();
        assert!(remarks.any(|said| said.starts_with(remark)), "{:?}", rows.notes.remarks);
    }
    // A request with the pod as its answer.
    let mut shows = request("update", "status", 40, 200);
    shows["responseObject"] =
        pod("a", status("Succeeded", json!({"terminated": ended(6, 90, 0, "Completed")})));
    shows["responseObject"]["metadata"]["namespace"] = json!("x");
    let text = format!("{}\n{shows}\n", request("create", "", 0, 201));
    assert_eq!(history(&text), "0 SUBMIT, 5 SCHEDULE, 90 FINISH");
}

/// An event of a pod.
fn event(name: &str, uid: &str, reason: &str, second: u32) -> Value {
    json!({"apiVersion": "v1", "kind": "Event", "reason": reason, "firstTimestamp": at(second),
        "involvedObject": {"kind": "Pod", "namespace": "physics", "name": name, "uid": uid},
        "source": {"host": "n1"}, "message": "Stopping container main"})
}

#[test]
fn events_beside_pods_tell_what_pods_do_not() {
    let running = |name: &str, uid: &str| {
        let mut pod = pod(name, status("Running", json!({"running": {"startedAt": at(6)}})));
        pod["metadata"]["uid"] = json!(uid);
        pod
    };
    let check = |pods: &[Value], events: &[Value], expected: &str| {
        for text in [
            format!("{}\n{}", list(pods), list(events)),
            format!("{}\n{}", list(events), list(pods)),
        ] {
            assert_eq!(history(&text), expected, "{text}");
        }
    };
    let is = "0 SUBMIT, 5 SCHEDULE";
    // Events do not repeat an attempt that the pod shows.
    check(&[running("a", "1")], &[event("a", "1", "Scheduled", 5)], is);
    let done = pod("a", status("Succeeded", json!({"terminated": ended(6, 90, 0, "Completed")})));
    let events = [event("a", "1", "Scheduled", 5), event("a", "1", "Killing", 91)];
    check(&[done], &events, "0 SUBMIT, 5 SCHEDULE, 90 FINISH");
    // A pod that was open when it was printed has ended since.
    let killed = [event("a", "1", "Scheduled", 5), event("a", "1", "Killing", 70)];
    check(&[running("a", "1")], &killed, "0 SUBMIT, 5 SCHEDULE, 70 KILL");
    check(&[running("a", "")], &killed, "0 SUBMIT, 5 SCHEDULE, 70 KILL");
    // The pod shows only the reason of its end; an event has the time.
    let mut bare = running("a", "1");
    bare["status"] = json!({"phase": "Failed", "reason": "Evicted", "startTime": at(5)});
    let evicted = [event("a", "1", "Scheduled", 5), event("a", "1", "Evicted", 70)];
    check(std::slice::from_ref(&bare), &evicted, "0 SUBMIT, 5 SCHEDULE, 70 EVICT");
    check(std::slice::from_ref(&bare), &[], "0 SUBMIT, 5 SCHEDULE, 5 EVICT");
    // Earlier snapshots show its attempts; the last of them was open.
    let mut again = running("a", "1");
    let runs = json!({"restartCount": 1, "state": {"running": {"startedAt": at(50)}},
        "lastState": {"terminated": ended(6, 40, 2, "Error")}});
    again["status"]["containerStatuses"] = json!([runs]);
    again["metadata"]["resourceVersion"] = json!("1");
    bare["metadata"]["resourceVersion"] = json!("2");
    let expected =
        "0 SUBMIT, 5 SCHEDULE, 40 FAIL, 50 SCHEDULE, 50 EVICT; job 0 SUBMIT, 5 SCHEDULE, 50 EVICT";
    check(&[again.clone(), bare.clone()], &[], expected);
    check(&[bare, again], &[], expected);
    // A pod that waited has started since.
    let waits = pod("a", json!({"phase": "Pending", "conditions": []}));
    check(std::slice::from_ref(&waits), &killed, "0 SUBMIT, 5 SCHEDULE, 70 KILL");
    // A failed probe does not end the pod.
    let mut probe = event("a", "1", "Killing", 70);
    probe["message"] = json!("Container main failed liveness probe, will be restarted");
    check(&[running("a", "1")], &[probe], is);
    // An earlier pod with the same name is another attempt.
    let mut later = running("a", "1");
    later["metadata"]["creationTimestamp"] = json!(at(4));
    let before = [event("a", "0", "Scheduled", 2), event("a", "0", "Evicted", 3)];
    let text = format!("{}\n{}", list(&[later]), list(&before));
    let expected = "4 SUBMIT, 5 SCHEDULE, 2 SUBMIT, 2 SCHEDULE, 3 EVICT; job 2 SUBMIT, 2 SCHEDULE";
    assert_eq!(history(&text), expected);
}

#[test]
fn an_end_reported_late_is_that_of_its_own_pod() {
    // Two pods of one index: the one that runs is printed before the one that failed.
    let of = |name: &str, created: u32, status: Value| {
        let mut pod = pod(name, status);
        pod["metadata"]["creationTimestamp"] = json!(at(created));
        pod["status"]["conditions"][0]["lastTransitionTime"] = json!(at(created + 5));
        pod["metadata"]["ownerReferences"] =
            json!([{"kind": "Job", "name": "fit", "controller": true}]);
        pod["metadata"]["annotations"] = json!({"batch.kubernetes.io/job-completion-index": "3"});
        pod
    };
    let text = [
        of("fit-3-a", 30, status("Running", json!({"running": {"startedAt": at(36)}}))),
        of("fit-3-b", 0, status("Failed", json!({"terminated": ended(6, 20, 1, "Error")}))),
        event("fit-3-a", "", "Evicted", 80),
    ]
    .map(|object| object.to_string())
    .join("\n");
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
    let expected = "0 SUBMIT, 5 SCHEDULE, 20 FAIL, 30 SUBMIT, 35 SCHEDULE, 80 EVICT";
    assert_eq!(since_new_year(&rows), expected);
    let jobs = parsed(Source::Kubernetes, Table::JobEvents, &text);
    assert_eq!(since_new_year(&jobs), "0 SUBMIT, 5 SCHEDULE, 80 EVICT");
}

#[test]
fn what_does_not_parse_is_a_reject_with_its_line() {
    let check = |text: &str, expected: &[&str]| {
        for table in [Table::JobEvents, Table::TaskEvents] {
            assert_eq!(parsed(Source::Kubernetes, table, text).rejects(), expected, "{text}");
        }
    };
    let good = pod("a", json!({"phase": "Pending"}));
    let with = |path: &str, value: Value| {
        let mut pod = good.clone();
        *pod.pointer_mut(path).unwrap() = value;
        format!("{good}\n{pod}\n")
    };
    check(&with("/metadata/name", json!("")), &["2 name empty_mandatory"]);
    check(&with("/metadata/creationTimestamp", json!("soon")), &["2 creationTimestamp bad_value"]);
    check(&with("/metadata/creationTimestamp", Value::Null), &["2 time_us empty_mandatory"]);
    check(&with("/status/phase", json!("Gone")), &["2 phase unknown_event_type"]);
    check(&with("/status/phase", json!("")), &["2 phase empty_mandatory"]);
    check(&with("/spec/containers/0/resources/requests/cpu", json!("-1")), &["2 cpu bad_value"]);
    check(&with("/spec/containers", json!(7)), &["2 containers bad_value"]);
    check(&format!("{good}\nx\n{{}}\n"), &["2  bad_value", "3 name empty_mandatory"]);
    let whole = list(&[good.clone(), good.clone()]);
    let cut = &whole[..whole.len() - 80];
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, cut);
    assert_eq!(rows.rejects().len(), 1, "{cut}: {:?}", rows.rejects());
    check(
        &format!("{}\n{{\"a\":1}}\n", list(std::slice::from_ref(&good)).replace('\n', " ")),
        &["2  bad_value"],
    );
    check(&format!("{good}\n{}\n", list(&[])), &["2 kind bad_value"]);
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}});
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &list(&[good, service]));
    assert_eq!(rows.notes.remarks["objects that are not pods: left out"], 1);
}

#[test]
fn files_of_a_folder_are_read_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let running = pod("a", status("Running", json!({"running": {"startedAt": at(6)}})));
    let whole = list(&[running.clone(), pod("b", json!({"phase": "Pending", "conditions": []}))]);
    let done = json!({"terminated": ended(6, 90, 0, "Completed")});
    write("1.json", whole.clone());
    write("2.log", format!("{}\n", event("b", "", "Scheduled", 9)));
    write("3.json", list(&[pod("a", status("Succeeded", done))]));
    let parsed = || {
        let trace = super::super::open_trace(folder.path(), None, None).unwrap();
        let [part] = &trace.parts[&Table::TaskEvents][..] else { panic!("one part") };
        parsed_part(part)
    };
    let rows = parsed();
    assert_eq!(rows.rejects(), Vec::<String>::new());
    let expected = "0 SUBMIT, 5 SCHEDULE, 90 FINISH, 0 SUBMIT, 9 SCHEDULE";
    assert_eq!(since_new_year(&rows), expected);
    let again = "repeated snapshots of a pod: the last one counts";
    assert_eq!(rows.notes.remarks[again], 1);
    // A truncated list ends with its file, and line numbers continue.
    write("1.json", whole.lines().take(30).collect::<Vec<&str>>().join("\n"));
    write("2.log", format!("{}\nx\n", event("b", "", "Scheduled", 9)));
    let rows = parsed();
    assert_eq!(rows.rejects(), ["4  bad_value", "32  bad_value"]);
    assert_eq!(since_new_year(&rows), "0 SUBMIT, 5 SCHEDULE, 90 FINISH, 9 SUBMIT, 9 SCHEDULE");
}

/// Texts of the objects in both orders.
fn both_orders(first: &Value, second: &Value) -> [String; 2] {
    [format!("{first}\n{second}\n"), format!("{second}\n{first}\n")]
}

/// A pod whose container has restarted `restarts` times, with its current state and the end of its
/// last attempt.
fn again(restarts: i32, state: impl Into<Value>, last: impl Into<Value>) -> Value {
    let mut pod = pod("a", status("Running", state));
    let container = &mut pod["status"]["containerStatuses"][0];
    container["restartCount"] = json!(restarts);
    container["lastState"] = json!({"terminated": last.into()});
    pod
}

#[test]
fn an_attempt_that_follows_one_that_waited_is_the_last() {
    let waits = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let first = again(0, waits, ended(6, 40, 1, "Error"));
    let second = again(2, json!({"running": {"startedAt": at(80)}}), ended(50, 60, 1, "Error"));
    for text in both_orders(&first, &second) {
        let expected = "0 SUBMIT, 5 SCHEDULE, 40 FAIL, 40 SUBMIT, 50 SCHEDULE, 60 FAIL, \
                        80 SCHEDULE; job 0 SUBMIT, 5 SCHEDULE";
        assert_eq!(history(&text), expected);
        let jobs = parsed(Source::Kubernetes, Table::JobEvents, &text);
        assert_eq!(jobs.cell("end_reason", 1), "-");
    }
}

#[test]
fn a_pod_without_a_uid_that_is_made_again_is_another_pod() {
    let of = |created: u32, end: u32| {
        let done = json!({"terminated": ended(created + 6, end, 1, "Error")});
        let mut pod = pod("web-0", status("Failed", done));
        pod["metadata"]["creationTimestamp"] = json!(at(created));
        pod["status"]["conditions"][0]["lastTransitionTime"] = json!(at(created + 5));
        pod
    };
    for text in both_orders(&of(0, 20), &of(30, 50)) {
        let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
        assert_eq!(rows.block.row_ids.len(), 6, "{text}");
        let repeats = rows.notes.remarks.keys().filter(|wording| wording.starts_with("snapshots"));
        assert_eq!(repeats.count(), 0);
    }
    // Two snapshots of it are one pod.
    let rows =
        parsed(Source::Kubernetes, Table::TaskEvents, &both_orders(&of(0, 20), &of(0, 20))[0]);
    assert_eq!(rows.block.row_ids.len(), 3);
    // A change with a uid belongs to the pod that was shown without one.
    let text = format!("{}\n{}\n", of(0, 20), event("web-0", "7", "Killing", 20));
    assert_eq!(history(&text), "0 SUBMIT, 5 SCHEDULE, 20 FAIL");
}

#[test]
fn the_later_snapshot_wins_in_whatever_order_they_are_read() {
    let running = json!({"running": {"startedAt": at(6)}});
    let shown = |version: Option<u32>, status: Value, class: &str| {
        let mut pod = pod("a", status);
        if let Some(version) = version {
            pod["metadata"]["resourceVersion"] = json!(version.to_string());
        }
        pod["spec"]["priorityClassName"] = json!(class);
        pod
    };
    let class = |text: &str| {
        let rows = parsed(Source::Kubernetes, Table::TaskEvents, text);
        rows.cell("priority_class", 0)
    };
    // Versions count first, and are compared as numbers.
    let one = |version| shown(Some(version), status("Running", running.clone()), "old");
    let pending = json!({"phase": "Pending", "conditions": []});
    for text in both_orders(&one(9), &shown(Some(10), pending.clone(), "new")) {
        assert_eq!((history(&text), class(&text)), ("0 SUBMIT, 5 SCHEDULE".into(), "new".into()));
    }
    // Without versions, everything that any of them shows is kept: one has the start, the other the
    // end.
    let evicted = json!({"phase": "Failed", "reason": "Evicted", "conditions": [
        {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": at(40)}]});
    let begun = shown(None, status("Running", running.clone()), "x");
    for text in both_orders(&begun, &shown(None, evicted, "x")) {
        assert_eq!(history(&text), "0 SUBMIT, 5 SCHEDULE, 40 EVICT");
    }
    for text in both_orders(&begun, &shown(None, pending.clone(), "x")) {
        assert_eq!(history(&text), "0 SUBMIT, 5 SCHEDULE");
    }
    // Of two snapshots of the same age, the same one counts in either order.
    let [first, second] = ["a", "b"].map(|class| shown(None, pending.clone(), class));
    let [one, other] = both_orders(&first, &second);
    assert_eq!(class(&one), class(&other));
}

#[test]
fn a_time_of_a_change_that_is_none_is_a_reject() {
    let zero = "0001-01-01T00:00:00Z";
    let check = |event: &Value, expected: &[&str]| {
        for table in [Table::JobEvents, Table::TaskEvents] {
            let rows = parsed(Source::Kubernetes, table, &format!("{event}\n"));
            assert_eq!(rows.rejects(), expected, "{event}");
        }
    };
    let mut told = event("a", "", "Scheduled", 5);
    told["firstTimestamp"] = json!("1969-12-31T23:59:59Z");
    check(&told, &["1 firstTimestamp negative_time"]);
    told["firstTimestamp"] = json!(zero);
    check(&told, &["1 firstTimestamp empty_mandatory"]);
    told["eventTime"] = json!(at(9));
    assert_eq!(history(&told.to_string()), "9 SUBMIT, 9 SCHEDULE");
    let request = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": "x",
        "stage": "ResponseComplete", "verb": "create", "requestReceivedTimestamp": zero,
        "objectRef": {"resource": "pods", "namespace": "x", "name": "a"}});
    check(&request, &["1 requestReceivedTimestamp empty_mandatory"]);
    // A container without a known end does not give its pod one.
    let mut lost = pod("a", status("Failed", json!({"terminated": ended(6, 90, 137, "Error")})));
    lost["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] = json!(zero);
    assert_eq!(history(&lost.to_string()), "0 SUBMIT, 5 SCHEDULE, 5 FAIL");
}

#[test]
fn a_pod_known_by_its_changes_alone_is_its_namespaces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.json");
    std::fs::write(&path, event("a", "", "Scheduled", 5).to_string()).unwrap();
    let trace = super::super::open_trace(&path, None, None).unwrap();
    let mut part = trace.parts[&Table::TaskEvents][0].clone();
    let rows = parsed_part(&part);
    assert_eq!(rows.cell("user", 0), "physics");
    let remarks: Vec<(&str, u64)> =
        rows.notes.remarks.iter().map(|(&wording, &count)| (wording, count)).collect();
    assert_eq!(remarks, [(super::changes::ALONE, 1)]);
    let user_from = Some("label:team".parse::<UserFrom>().unwrap());
    part.reading = std::sync::Arc::new(Reading { user_from, ..Reading::default() });
    assert_eq!(parsed_part(&part).cell("user", 0), "-");
}

#[test]
fn marks_of_byte_order_are_no_part_of_any_file() {
    let folder = tempfile::tempdir().unwrap();
    let pending = |name: &str| pod(name, json!({"phase": "Pending", "conditions": []}));
    let texts = [list(&[pending("a")]), format!("{}\n", pending("b")), list(&[pending("c")])];
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.json")), format!("\u{feff}{text}"))
            .unwrap();
    }
    let trace = super::super::open_trace(folder.path(), None, None).unwrap();
    let rows = parsed_part(&trace.parts[&Table::TaskEvents][0]);
    assert_eq!(rows.rejects(), Vec::<String>::new());
    assert_eq!(since_new_year(&rows), "0 SUBMIT, 0 SUBMIT, 0 SUBMIT");
}

#[test]
fn phases_are_matched_to_the_letter() {
    for phase in ["pending", "Pend+", "SUCCEEDED"] {
        let text = pod("a", json!({"phase": phase})).to_string();
        let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
        assert_eq!(rows.rejects(), ["1 phase unknown_event_type"], "{phase}");
    }
}

//! Pods, events and requests in the exact form of Kubernetes, made up.

use serde_json::{Value, json};

use super::super::reading::{Reading, UserFrom};
use super::super::tests::{Rows, parsed, parsed_part};
use crate::schema::{Source, Table};

/// A second of 2024-01-01.
fn at(second: u32) -> String {
    format!("2024-01-01T00:{:02}:{:02}Z", second / 60, second % 60)
}

/// A pod that was asked for at 0 and given a node at 5.
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
    // Two prints of it, and one before it was started again.
    let before = pod("a", status("Running", json!({"running": {"startedAt": at(6)}})));
    let text =
        format!("{}\n{}\n{}", list(&[before]), list(std::slice::from_ref(&once)), list(&[once]));
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &text);
    assert_eq!(since_new_year(&rows), "0 SUBMIT, 5 SCHEDULE, 40 FAIL, 50 SCHEDULE");
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &list(&[pod("a", again(3))]));
    assert_eq!(since_new_year(&rows), "0 SUBMIT, 20 SCHEDULE, 40 FAIL, 50 SCHEDULE");
    assert_eq!(rows.notes.remarks["restarts before the last: times that a pod no longer has"], 1);
}

#[test]
fn a_pod_is_told_with_what_it_asked_for_and_whose_it_is() {
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
    assert!("label:".parse::<UserFrom>().is_err() && "team".parse::<UserFrom>().is_err());
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
    let text = [
        request("create", "", 1, 201),
        request("create", "binding", 4, 201),
        request("delete", "", 20, 403),
        request("delete", "", 30, 200),
        request("get", "", 31, 200),
    ]
    .map(|line| line.to_string())
    .join("\n");
    assert_eq!(history(&text), "1 SUBMIT, 4 SCHEDULE, 30 KILL");
    // A request that shows the pod.
    let mut shows = request("update", "status", 40, 200);
    shows["responseObject"] =
        pod("a", status("Succeeded", json!({"terminated": ended(6, 90, 0, "Completed")})));
    shows["responseObject"]["metadata"]["namespace"] = json!("x");
    let text = format!("{}\n{shows}\n", request("create", "", 0, 201));
    assert_eq!(history(&text), "0 SUBMIT, 5 SCHEDULE, 90 FINISH");
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
    check(&with("/spec/containers", json!(7)), &["2  bad_value"]);
    check(&format!("{good}\nx\n{{}}\n"), &["2  bad_value", "3 name empty_mandatory"]);
    let whole = list(&[good.clone(), good.clone()]);
    let cut = &whole[..whole.len() - 80];
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, cut);
    assert_eq!(rows.rejects().len(), 1, "{cut}: {:?}", rows.rejects());
    check(
        &format!("{}\n{{\"a\":1}}\n", list(std::slice::from_ref(&good)).replace('\n', " ")),
        &["2  bad_value"],
    );
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}});
    let rows = parsed(Source::Kubernetes, Table::TaskEvents, &list(&[good, service]));
    assert_eq!(rows.notes.remarks["objects that are no pod: left out"], 1);
}

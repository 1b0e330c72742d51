//! The total request of the containers of a pod, and how they failed.
//!
//! In: a pod or its specification. Out: the amount of a resource that Kubernetes reserves for the
//! pod. Init containers run one after the other before the others start; one that is always
//! restarted (a sidecar) keeps running along with all that start after it.
//!
//! ```text
//!  init a   |-----|
//!  sidecar        |----------------------------------
//!  init b            |------|
//!  app                       |-----------------------
//!           the most at any time: max(a, sidecar + b, sidecar + app)
//! ```
//!
//! A request for the pod as a whole replaces this amount. The overhead of the pod is added in both
//! cases.

use super::super::records::Fault;
use super::super::reject::RejectReason;
use super::pick::Part;

/// The amount of a resource that is reserved for a pod; `None` if no container requests it.
pub(in crate::sources) fn request_of_pod(
    spec: Part<'_>,
    resource: &'static str,
) -> Result<Option<f64>, Fault> {
    let (mut most, mut staying) = (None, None);
    for container in spec.list("/initContainers")? {
        let running = sum(staying, request(container, resource)?);
        most = max(most, running);
        if container.text("/restartPolicy")? == Some("Always") {
            staying = running;
        }
    }
    for container in spec.list("/containers")? {
        staying = sum(staying, request(container, resource)?);
    }
    let whole = request(spec, resource)?.or(max(most, staying));
    Ok(sum(whole, amount(spec.at("/overhead"), resource)?))
}

/// The lists of the states of a pod's containers, and of its init containers.
pub(in crate::sources) const CONTAINERS: &str = "/status/containerStatuses";
pub(in crate::sources) const INIT_CONTAINERS: &str = "/status/initContainerStatuses";

/// How often the init containers of a pod were restarted.
pub(in crate::sources) fn init_restarts(pod: Part<'_>) -> Result<u64, Fault> {
    pod.list(INIT_CONTAINERS)?.try_fold(0, |sum: u64, container| {
        let count = container.whole("/restartCount")?.unwrap_or(0);
        Ok(sum.saturating_add(u64::try_from(count).unwrap_or(0)))
    })
}

/// The end of the container that failed first, in a list of states.
pub(in crate::sources) fn first_failed<'a>(
    pod: Part<'a>,
    list: &'static str,
) -> Result<Option<Part<'a>>, Fault> {
    let ends = pod.list(list)?.map(|it| it.at("/state/terminated"));
    let is_failed = |end: &Part<'_>| {
        let code = end.at("/exitCode");
        !code.is_missing() && code.0 != 0
    };
    Part::earliest(ends.filter(is_failed), "/finishedAt")
}

/// The request of a container, or of a pod as a whole; else its limit.
fn request(of: Part<'_>, resource: &'static str) -> Result<Option<f64>, Fault> {
    match amount(of.at("/resources/requests"), resource)? {
        None => amount(of.at("/resources/limits"), resource),
        known => Ok(known),
    }
}

/// The amount of a resource in a list of amounts. The names of GPUs begin with their vendor.
fn amount(amounts: Part<'_>, resource: &'static str) -> Result<Option<f64>, Fault> {
    let is_it = |name: &str| match name.rsplit_once('/') {
        Some((_, name)) => name == "gpu" && name == resource,
        None => name == resource,
    };
    let found = amounts.0.as_object().into_iter().flatten().find(|(name, _)| is_it(name));
    let Some((_, amount)) = found else { return Ok(None) };
    Part(amount).quantity().map(Some).ok_or((resource, RejectReason::BadValue))
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    [one, other].into_iter().flatten().reduce(|one, other| one + other)
}

fn max(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    [one, other].into_iter().flatten().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn container(cpu: Option<u32>) -> Value {
        cpu.map_or(json!({}), |cpu| json!({"resources": {"requests": {"cpu": format!("{cpu}m")}}}))
    }

    fn milli(spec: &Value) -> Option<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "a small amount")]
        let whole = |cpu: f64| (cpu * 1000.0).round() as i64;
        request_of_pod(Part(spec), "cpu").unwrap().map(whole)
    }

    #[test]
    fn a_pod_requests_what_it_holds_at_most() {
        let check =
            |spec: Value, expected: Option<i64>| assert_eq!(milli(&spec), expected, "{spec}");
        let app = [container(Some(500)), container(None), container(Some(200))];
        check(json!({"containers": app}), Some(700));
        check(json!({"containers": [container(None)]}), None);
        check(json!({"containers": app, "initContainers": [container(Some(600))]}), Some(700));
        check(json!({"containers": app, "initContainers": [container(Some(900))]}), Some(900));
        let mut sidecar = container(Some(300));
        sidecar["restartPolicy"] = json!("Always");
        let init = [container(Some(900)), sidecar.clone(), container(Some(100))];
        check(json!({"containers": app, "initContainers": init}), Some(1000));
        let init = [sidecar, container(Some(900))];
        check(json!({"containers": app, "initContainers": init}), Some(1200));
        let whole = json!({"requests": {"cpu": 2}});
        let overhead = json!({"cpu": "250m", "memory": "1Mi"});
        check(json!({"containers": app, "resources": whole, "overhead": overhead}), Some(2250));
    }

    /// A container, and whether it is a sidecar.
    fn init() -> impl Strategy<Value = Vec<(Option<u32>, bool)>> {
        prop::collection::vec((prop::option::of(0_u32..1000), any::<bool>()), 0..6)
    }

    proptest! {
        /// Promise: no more than the request is held at any time, and all of it at some time.
        #[test]
        fn the_request_is_the_most_that_is_held_at_any_time(
            init in init(), app in prop::collection::vec(prop::option::of(0_u32..1000), 1..5),
        ) {
            let of_init = |&(cpu, is_sidecar): &(Option<u32>, bool)| {
                let mut all = container(cpu);
                all["restartPolicy"] = json!(is_sidecar.then_some("Always"));
                all
            };
            let spec = json!({
                "initContainers": init.iter().map(of_init).collect::<Vec<_>>(),
                "containers": app.iter().copied().map(container).collect::<Vec<_>>(),
            });
            // The containers that run while the one at `at` starts.
            let held = |at: usize| -> i64 {
                let beside = init[..at].iter().filter(|(_, is_sidecar)| *is_sidecar);
                let own = init.get(at).map(|(cpu, _)| *cpu);
                let now = own.map_or_else(|| app.clone(), |own| vec![own]);
                beside.map(|(cpu, _)| *cpu).chain(now).flatten().map(i64::from).sum()
            };
            let most = (0..=init.len()).map(held).max().unwrap();
            prop_assert_eq!(milli(&spec).unwrap_or(0), most);
        }
    }
}

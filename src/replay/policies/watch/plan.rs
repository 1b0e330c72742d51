//! The parameters of a detector in a policy.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::notation::{Notation, NotationError};
use crate::replay::detectors::{self, DetectorPlan, GroupInfo};
use crate::replay::policies::SpeculationPlan;

/// Keys of the policy, not of the detector.
const KEYS: [&str; 4] = ["heartbeat_s", "restarts", "copies", "nodes"];

/// The default maximum of restarts of a task. Without a maximum, a rule that flags every attempt
/// would never let it end.
pub(super) const RESTARTS_MAX: u32 = 100;

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) detector: DetectorPlan,
    pub(super) heartbeat_s: f64,
    pub(super) goes_first: bool,
    pub(super) knows_nodes: bool,
    /// The maximum number of restarts of a task.
    pub(super) restarts_max: u32,
    /// Whether groups skip heartbeats without an effect; false in tests, for comparison.
    pub(super) lets_sleep: bool,
}

/// The name of the detector in a part of a policy, if it is one.
pub(in crate::replay::policies) fn name(part: &str) -> Option<&'static str> {
    let name = part.split(':').next().unwrap_or(part).trim();
    detectors::KINDS.iter().map(|kind| kind.name).find(|known| *known == name)
}

/// The accepted times between heartbeats, s; a shorter time would count as no time.
const HEARTBEATS_S: RangeInclusive<f64> = 1e-3..=1e9;

/// A policy of a detector, without known speeds of machines.
///
/// # Errors
/// The time between heartbeats is not accepted.
pub(in crate::replay::policies) fn around(
    detector: DetectorPlan,
    heartbeat_s: f64,
) -> Result<Arc<dyn SpeculationPlan>, NotationError> {
    if !HEARTBEATS_S.contains(&heartbeat_s) {
        return Err(NotationError::BadValue {
            kind: "policy",
            name: detector.name().to_owned(),
            key: "heartbeat_s",
            value: heartbeat_s.to_string(),
            expected: "a time from 0.001 to 10^9 s",
        });
    }
    Ok(Arc::new(Plan {
        detector,
        heartbeat_s,
        goes_first: true,
        knows_nodes: false,
        restarts_max: RESTARTS_MAX,
        lets_sleep: true,
    }))
}

/// Reads a detector with the parameters of the policy.
pub(in crate::replay::policies) fn read(
    part: &str,
) -> Result<Arc<dyn SpeculationPlan>, NotationError> {
    Ok(Arc::new(plan(part)?))
}

pub(super) fn plan(part: &str) -> Result<Plan, NotationError> {
    let (name, pairs) = part.split_once(':').unwrap_or((part, ""));
    let is_own = |pair: &&str| KEYS.contains(&pair.split('=').next().unwrap_or("").trim());
    let (own, detectors): (Vec<&str>, Vec<&str>) =
        pairs.split(',').filter(|pair| !pair.trim().is_empty()).partition(is_own);
    let mut notation = Notation::parse("policy", &format!("{name}:{}", own.join(",")))?;
    let (copies, nodes) =
        ([("first", true), ("last", false)], [("known", true), ("unknown", false)]);
    let plan = Plan {
        heartbeat_s: notation.number("heartbeat_s", "a time above 0 s", 3.0, HEARTBEATS_S)?,
        goes_first: notation.choice("copies", "`first` or `last`", true, &copies)?,
        knows_nodes: notation.choice("nodes", "`known` or `unknown`", false, &nodes)?,
        restarts_max: notation.take("restarts", "a number of restarts", RESTARTS_MAX)?,
        detector: format!("{name}:{}", detectors.join(",")).trim_end_matches(':').parse()?,
        lets_sleep: true,
    };
    notation.finish()?;
    Ok(plan)
}

/// The same rule, with every group judged at every heartbeat.
#[cfg(test)]
pub(in crate::replay) fn sleepless(part: &str) -> Arc<dyn SpeculationPlan> {
    Arc::new(Plan { lets_sleep: false, ..plan(part).expect("a rule") })
}

impl Plan {
    #[expect(clippy::cast_possible_truncation, reason = "at most 10^9 s")]
    pub(super) fn period_us(&self) -> i64 {
        (self.heartbeat_s * 1e6) as i64
    }

    pub(super) fn judges_lone_tasks(&self) -> bool {
        self.detector.build(&GroupInfo::default()).judges_lone_tasks()
    }
}

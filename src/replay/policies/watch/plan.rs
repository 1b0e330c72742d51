//! The parameters of a detector in a policy.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Watch;
use super::sleep::Sleep;
use crate::notation::{Notation, NotationError};
use crate::replay::detectors::{self, DetectorPlan, GroupInfo};
use crate::replay::policies::{Heartbeat, Speculation, SpeculationPlan};
use crate::replay::random::{Draws, Purpose};
use crate::replay::state::State;

/// Keys of the policy, not of the detector.
const KEYS: [&str; 4] = ["heartbeat_s", "restarts", "copies", "nodes"];

/// The default maximum of restarts of a task: otherwise a rule that flags every attempt would never
/// let it end.
const RESTARTS_MAX: u32 = 100;

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) detector: DetectorPlan,
    pub(super) heartbeat_s: f64,
    pub(super) goes_first: bool,
    pub(super) knows_nodes: bool,
    /// The maximum number of restarts of a task.
    pub(super) restarts_max: u32,
    /// Whether groups skip heartbeats without an effect; false in tests of this.
    pub(super) lets_sleep: bool,
}

/// The name of the detector in a part of a policy, if it is one.
pub(in crate::replay::policies) fn name(part: &str) -> Option<&'static str> {
    let name = part.split(':').next().unwrap_or(part).trim();
    detectors::KINDS.iter().map(|kind| kind.name).find(|known| *known == name)
}

/// A policy of a detector, without known speeds of machines.
pub(in crate::replay::policies) fn around(
    detector: DetectorPlan,
    heartbeat_s: f64,
) -> Arc<dyn SpeculationPlan> {
    Arc::new(Plan {
        detector,
        heartbeat_s,
        goes_first: true,
        knows_nodes: false,
        restarts_max: RESTARTS_MAX,
        lets_sleep: true,
    })
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
        heartbeat_s: notation.number("heartbeat_s", "a time above 0 s", 3.0, 1e-3..=1e9)?,
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

    fn judges_lone_tasks(&self) -> bool {
        self.detector.build(&GroupInfo::default()).judges_lone_tasks()
    }
}

impl SpeculationPlan for Plan {
    fn build(&self, state: &State<'_>) -> Option<Box<dyn Speculation>> {
        let groups = (0..state.workload.group_count()).map(|_| None).collect();
        let (position, sizes) = positions(state);
        Some(Box::new(Watch {
            plan: self.clone(),
            steers: self.detector.steers(),
            sleep: Sleep::new(state, self.lets_sleep),
            judges_lone_tasks: self.judges_lone_tasks(),
            groups,
            position,
            sizes,
            active: BTreeSet::new(),
            is_settled: false,
            was_copied: vec![false; state.workload.task_count],
            restarts: FxHashMap::default(),
            number: Vec::new(),
            wishes: Vec::new(),
            flags: Vec::new(),
            slots: [0; 2],
            draws: Draws::new(0, Purpose::Choice),
            probes: 0,
            probed_us: vec![None; state.machines.speed.len()],
        }))
    }

    fn heartbeat(&self) -> Option<Heartbeat> {
        let sees_lone_tasks = self.judges_lone_tasks();
        Some(Heartbeat { period_us: self.period_us(), sees_lone_tasks })
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let text = self.detector.to_string();
        let pairs = text.split_once(':').map_or("", |(_, pairs)| pairs);
        let mut parameters: Vec<(&'static str, String)> = vec![
            ("heartbeat_s", self.heartbeat_s.to_string()),
            ("copies", if self.goes_first { "first" } else { "last" }.to_owned()),
            ("nodes", if self.knows_nodes { "known" } else { "unknown" }.to_owned()),
        ];
        if self.restarts_max != RESTARTS_MAX {
            parameters.insert(1, ("restarts", self.restarts_max.to_string()));
        }
        // The detector writes its own pairs: the first key stands for all of them.
        if let (Some(last), false) = (parameters.last_mut(), pairs.is_empty()) {
            last.1 = format!("{},{pairs}", last.1);
        }
        parameters
    }
}

/// The position of each task in its group, and the sizes of the groups.
fn positions(state: &State<'_>) -> (Vec<u32>, Vec<u32>) {
    let mut sizes = vec![0; state.workload.group_count()];
    let position = (0..).take(state.workload.task_count).map(|task| {
        let size: &mut u32 = &mut sizes[state.workload.group.get(task) as usize];
        *size += 1;
        *size - 1
    });
    let position = position.collect();
    (position, sizes)
}

//! Sets up the detector for the groups of a workload.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::plan::{Plan, RESTARTS_MAX};
use super::sleep::Sleep;
use super::speculation::Watch;
use crate::replay::policies::{Heartbeat, Speculation, SpeculationPlan};
use crate::replay::random::{Draws, Purpose};
use crate::replay::state::State;

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
        // The detector writes its own pairs, so they are appended to the last value.
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

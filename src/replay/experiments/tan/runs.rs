//! One setting of the experiment, and its runs.

use super::settings::{Settings, SpeedLaw};
use crate::replay::cluster::{Cluster, Utilisation};
use crate::replay::engine::{Keep, Outcome, Plan, replay};
use crate::replay::policies::PolicyPlan;
use crate::replay::random::{Draws, Purpose};
use crate::replay::workload::{Column, Workload};

/// The upper ends of the paper's speed ranges, which start at 1.
pub(super) const SPEEDS: [f64; 4] = [2.0, 4.0, 8.0, 16.0];

/// One setting of the experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) nodes: usize,
    tasks: usize,
    /// Minimum and maximum size, uniformly drawn; whole numbers if they differ.
    pub(super) sizes: (f64, f64),
    speed_max: f64,
}

impl Setting {
    pub(super) const fn new(nodes: usize, tasks: usize, size: f64, speed_max: f64) -> Self {
        Self { nodes, tasks, sizes: (size, size), speed_max }
    }

    pub(super) fn workload(&self, seed: u64) -> Workload {
        let (from, to) = self.sizes;
        let work_us = if from == to {
            Column::Same(work_us(from))
        } else {
            let draws = Draws::new(seed, Purpose::Size);
            let sizes = (0..).take(self.tasks);
            let draw = |task| from + ((to - from + 1.0) * draws.uniform(task, 0)).floor();
            Column::Each(sizes.map(|task| work_us(draw(task))).collect())
        };
        Workload::plain(self.tasks, work_us).check().expect("sizes are positive")
    }

    pub(super) fn cluster(&self, settings: &Settings, seed: u64) -> Cluster {
        let draws = Draws::new(seed, Purpose::Speed);
        let speeds = (0..).take(self.nodes).map(|node| {
            let share = draws.uniform(node, 0);
            match settings.speeds {
                SpeedLaw::Continuous => 1.0 + (self.speed_max - 1.0) * share,
                SpeedLaw::Whole => 1.0 + (self.speed_max * share).floor(),
            }
        });
        let mut cluster = Cluster::of_speeds(speeds.collect());
        let period_us = work_us(settings.period_s);
        cluster.utilisation = Some(Utilisation { period_us, left: (0.0, 1.0), seed });
        cluster.check().expect("speeds are positive").0
    }
}

/// Size 100 on a node of speed 1 takes 100 units of time, which we read as seconds.
#[expect(clippy::cast_possible_truncation, reason = "sizes are far below 2^43 s")]
fn work_us(size: f64) -> i64 {
    (size * 1e6) as i64
}

pub(super) fn policy(copies: Option<u32>, order: &str) -> PolicyPlan {
    let copies = copies.map_or("unlimited".to_owned(), |copies| copies.to_string());
    format!("wqr:copies={copies},order={order}").parse().expect("a valid policy")
}

pub(super) fn plain() -> PolicyPlan {
    "fifo".parse().expect("a valid policy")
}

pub(super) fn run(
    cluster: &Cluster,
    workload: &Workload,
    policy: &PolicyPlan,
    seed: u64,
) -> Outcome {
    replay(&Plan { seed, journal: Keep::Sums, ..Plan::new(cluster, workload, policy) })
        .expect("a policy of the list can be replayed")
}

#[expect(clippy::cast_precision_loss, reason = "a makespan is far below 2^53 µs")]
pub(super) fn makespan(outcome: &Outcome) -> f64 {
    outcome.makespan_us.map_or(f64::INFINITY, |makespan_us| makespan_us as f64)
}

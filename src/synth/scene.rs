//! Data that all jobs of a trace share: the window, the users, the machines, and the sizes that
//! follow from the configuration. Made once, read by every thread.

use super::config::{Dirty, SynthConfig, Window};
use super::draw::{Draws, Stream};
use super::text::hash_text;
use super::units::{float_of_count, whole};

/// Job names per user; the first ones are the most frequent.
pub(super) const NAMES_PER_USER: u64 = 200;
/// Job names that share a logical name.
const NAMES_PER_LOGICAL: u64 = 5;
const ATTRIBUTES: u64 = 12;
/// Machines that run tasks but are not in `machine_events`.
const UNANNOUNCED: [u64; 3] = [4_900_000_001, 4_900_000_002, 4_900_000_003];

/// Data that all jobs share.
pub(super) struct Scene {
    pub(super) config: SynthConfig,
    pub(super) window: Window,
    pub(super) users: Vec<String>,
    /// Machines in `machine_events`; their position is their number.
    pub(super) machines: Vec<u64>,
    /// Names of machine attributes.
    pub(super) attributes: Vec<String>,
    /// Most tasks of a job: 90,050 for the real trace's number of jobs.
    pub(super) tasks_max: f64,
    /// Jobs that are only in `task_events`, numbered after the others.
    pub(super) unknown_job_count: u64,
}

impl Scene {
    pub(super) fn new(config: &SynthConfig, window: Window) -> Self {
        let jobs = float_of_count(config.job_count);
        let user_count = whole((933.0 * (jobs / 672_074.0).sqrt()).clamp(10.0, 100_000.0));
        let users =
            (0..user_count).map(|number| hash_text(config.seed, Stream::User, number)).collect();
        Self {
            config: config.clone(),
            window,
            users,
            machines: machine_ids(config),
            attributes: (0..ATTRIBUTES)
                .map(|number| hash_text(config.seed, Stream::Attribute, number))
                .collect(),
            tasks_max: (jobs * 0.134).clamp(8.0, 90_050.0),
            unknown_job_count: if config.job_count < 200 {
                0
            } else {
                2 + config.job_count / 20_000
            },
        }
    }

    /// Whether one job of each rare kind is planted.
    pub(super) fn plants_rarities(&self) -> bool {
        self.config.job_count >= 200
    }

    /// Whether rows are duplicated.
    pub(super) fn is_dirty(&self) -> bool {
        self.config.dirty == Dirty::Dirty
    }

    /// A machine for an attempt.
    pub(super) fn any_machine(&self, draws: &mut Draws) -> u64 {
        *draws.pick(&self.machines)
    }

    /// A machine without a row in `machine_events`.
    pub(super) fn unannounced_machine(draws: &mut Draws) -> u64 {
        *draws.pick(&UNANNOUNCED)
    }

    /// Whether a machine is left out of `machine_events`.
    pub(super) fn is_unannounced(machine: u64) -> bool {
        UNANNOUNCED.contains(&machine)
    }

    /// The text of a job name.
    pub(super) fn job_name(&self, number: u64) -> String {
        hash_text(self.config.seed, Stream::JobName, number)
    }

    /// The number and text of the logical name of a job name.
    pub(super) fn logical_name(&self, job_name: u64) -> (u64, String) {
        let number = job_name / NAMES_PER_LOGICAL;
        (number, hash_text(self.config.seed, Stream::LogicalName, number))
    }
}

/// Distinct ids, some small and most with nine or ten digits, as in the real trace.
fn machine_ids(config: &SynthConfig) -> Vec<u64> {
    let mut draws = Draws::new(config.seed, Stream::Machines, 0);
    let count = u64::from(config.machines());
    let stride = 4_800_000_000 / count.max(1);
    (0..count)
        .map(|number| match number % 4 {
            0 if number < 8_000 => 5 + number,
            _ => 20_000 + number * stride + draws.below(stride),
        })
        .collect()
}

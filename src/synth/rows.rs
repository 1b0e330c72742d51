//! The text of rows of `job_events`, `task_events` and `task_constraints`.
//!
//! Values that are the same on all rows of a job are drawn and printed once.

use super::draw::Draws;
use super::event::Event;
use super::fate::JobPlan;
use super::scene::{NAMES_PER_USER, Scene};
use super::spill::RowBuffer;
use super::text::{push_int, push_time};
use super::timeline::{CPU_REQUESTS, TaskEvent};

/// Values that the rows of a job share.
pub(super) struct JobLabels {
    /// The position of the user in the list of the scene, and the numbers of the job names. They
    /// are used to count distinct users and names.
    pub(super) user: u64,
    pub(super) job_name: u64,
    pub(super) logical_name: u64,
    pub(super) cpu_request: Option<&'static str>,
    /// Columns 5 to 8 of `job_events`.
    job_tail: String,
    /// Columns 7 to 9 of `task_events`, with the commas around them.
    task_middle: String,
    /// Columns 11 to 13 of `task_events`, with the comma before them.
    task_tail: String,
}

const CLASSES: [(u8, u32); 4] = [(0, 383), (1, 320), (2, 289), (3, 8)];
const PRIORITIES: [(u8, u32); 12] = [
    (0, 280),
    (1, 80),
    (2, 120),
    (3, 20),
    (4, 360),
    (5, 2),
    (6, 10),
    (7, 1),
    (8, 15),
    (9, 90),
    (10, 20),
    (11, 2),
];
const MEMORY_REQUESTS: [&str; 8] =
    ["0.0159", "0.03339", "0.07959", "0.01193", "0.006218", "0.1241", "0.2493", "0"];
const DISK_REQUESTS: [&str; 6] =
    ["0.0003862", "0.0001154", "0.0004044", "7.725e-05", "3.815e-05", "0"];

impl JobLabels {
    pub(super) fn draw(scene: &Scene, draws: &mut Draws) -> Self {
        let user = draws.zipf(scene.users.len() as u64);
        let job_name = user * NAMES_PER_USER + draws.zipf(NAMES_PER_USER);
        let (logical_name, logical_text) = scene.logical_name(job_name);
        let user_text = &scene.users[usize::try_from(user).expect("a position in a list")];
        let class = draws.weighted(&CLASSES);
        let priority = draws.weighted(&PRIORITIES);
        let cpu_request = (!draws.chance(0.01)).then(|| *draws.pick(&CPU_REQUESTS));
        let memory = draws.pick(&MEMORY_REQUESTS);
        let disk = draws.pick(&DISK_REQUESTS);
        let different_machines = u8::from(draws.chance(0.1));
        let name_text = scene.job_name(job_name);
        Self {
            user,
            job_name,
            logical_name,
            cpu_request,
            job_tail: format!("{user_text},{class},{name_text},{logical_text}"),
            task_middle: format!(",{user_text},{class},{priority},"),
            task_tail: format!(",{memory},{disk},{different_machines}"),
        }
    }
}

/// One row of `job_events`, without the values that all rows of the job share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobEvent {
    pub(super) time: i64,
    pub(super) event: Event,
    pub(super) missing_info: Option<u8>,
}

/// Writes the rows of a job.
pub(super) fn write_job_events(
    job: &JobPlan,
    labels: &JobLabels,
    events: &[JobEvent],
    rows: &mut RowBuffer,
) {
    for row in events {
        rows.push(row.time, |out| {
            push_time(out, row.time);
            out.push(b',');
            out.extend(row.missing_info.map(|code| b'0' + code));
            out.push(b',');
            push_int(out, job.id);
            out.extend_from_slice(&[b',', row.event.digit(), b',']);
            out.extend_from_slice(labels.job_tail.as_bytes());
        });
    }
}

/// Writes the rows of a task.
pub(super) fn write_task_events(
    (job_id, index): (u64, u32),
    labels: &JobLabels,
    events: &[TaskEvent],
    rows: &mut RowBuffer,
) {
    for row in events {
        rows.push(row.time, |out| {
            push_time(out, row.time);
            out.push(b',');
            out.extend(row.missing_info.map(|code| b'0' + code));
            for number in [job_id, u64::from(index)] {
                out.push(b',');
                push_int(out, number);
            }
            out.push(b',');
            if let Some(machine) = row.machine {
                push_int(out, machine);
            }
            out.extend_from_slice(&[b',', row.event.digit()]);
            out.extend_from_slice(labels.task_middle.as_bytes());
            match row.cpu_request {
                Some(request) => {
                    out.extend_from_slice(request.as_bytes());
                    out.extend_from_slice(labels.task_tail.as_bytes());
                }
                None => out.extend_from_slice(b",,,"),
            }
        });
    }
}

/// Placement constraints, which the first tasks of a job share.
pub(super) struct Constraints(Vec<(u64, u8, String)>);

/// Most tasks of a job with constraints; limits the size of the table.
const CONSTRAINED_TASKS_MAX: u32 = 50;

impl Constraints {
    /// Draws one to three constraints for 6 % of jobs, each on a different attribute.
    pub(super) fn draw(scene: &Scene, draws: &mut Draws) -> Self {
        if !draws.chance(0.06) {
            return Self(Vec::new());
        }
        let count = scene.attributes.len() as u64;
        let (first, how_many) = (draws.below(count), 1 + draws.below(3));
        let each = |offset| {
            let operator = draws.weighted(&[(0_u8, 60), (1, 25), (2, 8), (3, 7)]);
            let value = match (operator, draws.below(4)) {
                (0 | 1, 0) => String::new(),
                (0 | 1, 1) => scene.attributes[0].clone(),
                _ => draws.below(20).to_string(),
            };
            ((first + offset) % count, operator, value)
        };
        Self((0..how_many).map(each).collect())
    }

    /// Writes the rows of one task.
    pub(super) fn write(
        &self,
        scene: &Scene,
        (job_id, index): (u64, u32),
        time: i64,
        rows: &mut RowBuffer,
    ) {
        if index >= CONSTRAINED_TASKS_MAX {
            return;
        }
        for (attribute, operator, value) in &self.0 {
            let name = &scene.attributes[usize::try_from(*attribute).expect("a position")];
            rows.push(time, |out| {
                push_time(out, time);
                for number in [job_id, u64::from(index), u64::from(*operator)] {
                    out.push(b',');
                    push_int(out, number);
                }
                for text in [name, value] {
                    out.push(b',');
                    out.extend_from_slice(text.as_bytes());
                }
            });
        }
    }
}

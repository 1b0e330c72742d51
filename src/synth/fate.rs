//! Draws the fate of one job: its outcome, arrival, length, and number of tasks.
//!
//! In: the job's number and random stream. Out: a [`JobPlan`]. In traces of at least 200 jobs, the
//! first jobs are [`PLANTED`], so that every rarity of the real trace also occurs in a small trace.

use super::config::WINDOW_START;
use super::draw::Draws;
use super::scene::Scene;
use super::units::{DAY, SECOND, float, micros, whole};

/// The fate of a job, by its event sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// 014
    Finished,
    /// 013
    Failed,
    /// 015
    Killed,
    /// 01
    Running,
    /// 012
    Evicted,
    /// 016
    Lost,
    /// 018
    Updated,
    /// 018888
    UpdatedOften,
    /// 013014: fails and runs again under the same id.
    Reconfigured,
    /// 05
    KilledPending,
    /// 0
    Pending,
}

/// Shares of the real trace, in parts per million; the rarest are slightly more frequent.
const FATES: [(Fate, u32); 11] = [
    (Fate::Finished, 573_700),
    (Fate::Failed, 15_060),
    (Fate::Killed, 405_200),
    (Fate::Running, 5_930),
    (Fate::Evicted, 40),
    (Fate::Lost, 30),
    (Fate::Updated, 8),
    (Fate::UpdatedOften, 4),
    (Fate::Reconfigured, 4),
    (Fate::KilledPending, 16),
    (Fate::Pending, 8),
];

/// Other properties of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Ordinary,
    /// Its last event is the last of the trace.
    LastOfAll,
    /// A finished job with a task of 280 events, the longest of the real trace.
    LongFinisher,
    /// One task per quirk.
    Zoo,
    /// A task that fails 140 times.
    CrashLoop,
    /// Forty finished tasks, five of them slow.
    Stragglers,
    /// No row in `task_events`.
    NoTasks,
    /// Usage of a task without rows in `task_events`.
    StrayUsage,
    /// Submitted at time 0 and scheduled in the window.
    LateSchedule,
}

/// When a job arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// At time 0: before the window.
    Zero,
    /// In the first third of the window, which leaves time for long sequences of events.
    Early,
    /// Any time, more often by day than by night.
    Window,
}

/// The first jobs of a trace of 200 jobs or more; every trace has the first of them.
const PLANTED: [(Fate, Role, Arrival); 22] = [
    (Fate::Finished, Role::LastOfAll, Arrival::Early),
    (Fate::Finished, Role::LongFinisher, Arrival::Early),
    (Fate::Finished, Role::Zoo, Arrival::Early),
    (Fate::Failed, Role::CrashLoop, Arrival::Early),
    (Fate::Killed, Role::CrashLoop, Arrival::Early),
    (Fate::Running, Role::CrashLoop, Arrival::Early),
    (Fate::Running, Role::Ordinary, Arrival::Zero),
    (Fate::Running, Role::Ordinary, Arrival::Window),
    (Fate::Finished, Role::Ordinary, Arrival::Zero),
    (Fate::Killed, Role::LateSchedule, Arrival::Zero),
    (Fate::Killed, Role::Zoo, Arrival::Early),
    (Fate::Failed, Role::Ordinary, Arrival::Window),
    (Fate::Evicted, Role::Ordinary, Arrival::Window),
    (Fate::Lost, Role::Ordinary, Arrival::Window),
    (Fate::Updated, Role::Ordinary, Arrival::Window),
    (Fate::UpdatedOften, Role::Ordinary, Arrival::Window),
    (Fate::Reconfigured, Role::Ordinary, Arrival::Early),
    (Fate::KilledPending, Role::Ordinary, Arrival::Window),
    (Fate::Pending, Role::Ordinary, Arrival::Window),
    (Fate::Finished, Role::Stragglers, Arrival::Early),
    (Fate::Finished, Role::NoTasks, Arrival::Window),
    (Fate::Finished, Role::StrayUsage, Arrival::Window),
];

/// Most usage windows of one job. The real trace has larger jobs; with this limit a batch of jobs
/// fits in memory. Long jobs with many tasks are shortened, and running jobs get fewer tasks.
const WINDOWS_MAX: f64 = 150_000.0;

/// The plan of one job.
#[derive(Debug, Clone)]
pub(super) struct JobPlan {
    pub(super) id: u64,
    pub(super) fate: Fate,
    pub(super) role: Role,
    /// Whether the job is in `job_events`; if not, its tasks are unmatched.
    pub(super) is_known: bool,
    pub(super) submit: i64,
    /// Time from the first attempt (but not before the window) to about the end of the job.
    pub(super) stretch: i64,
    pub(super) task_count: u32,
    /// Probability that a task enters a crash loop.
    pub(super) loop_chance: f64,
}

impl JobPlan {
    /// Draws the plan of job `number`.
    pub(super) fn draw(scene: &Scene, number: u64, draws: &mut Draws) -> Self {
        let is_known = number < scene.config.job_count;
        let (fate, role, arrival) = draw_kind(scene, number, draws);
        let submit = match arrival {
            Arrival::Zero => 0,
            Arrival::Early => early_arrival(scene, draws),
            Arrival::Window => diurnal_arrival(scene, draws),
        };
        let id_noise = draws.below(61);
        let id = match arrival {
            Arrival::Zero => 3_418_309 + number * 5,
            _ => 6_250_000_000 + number * 61 + id_noise,
        };
        let (stretch, task_count) = draw_size(scene, (fate, role), submit, draws);
        let task_count = if is_known { task_count } else { task_count.clamp(1, 5) };
        let loop_chance = draw_loop_chance(fate, draws);
        Self { id, fate, role, is_known, submit, stretch, task_count, loop_chance }
    }

    /// The instant at which killed tasks of the job end.
    pub(super) fn stop(&self, scene: &Scene) -> i64 {
        (self.submit.max(WINDOW_START) + self.stretch).min(scene.window.task_limit())
    }
}

fn draw_kind(scene: &Scene, number: u64, draws: &mut Draws) -> (Fate, Role, Arrival) {
    let planted_count = if scene.plants_rarities() { PLANTED.len() } else { 1 };
    if let Some(kind) = usize::try_from(number).ok().and_then(|at| PLANTED[..planted_count].get(at))
    {
        return *kind;
    }
    let fate = draws.weighted(&FATES);
    // Of 672,074 jobs, 3,986 were submitted before the window. Of the running jobs, also 3,986,
    // 2,329 are among them.
    let zero_chance = if fate == Fate::Running { 0.584 } else { 0.002_48 };
    let arrival = if draws.chance(zero_chance) { Arrival::Zero } else { Arrival::Window };
    let chance = draws.unit();
    let role = match chance {
        _ if chance < 0.000_1 => Role::NoTasks,
        _ if chance < 0.002 => Role::StrayUsage,
        _ => Role::Ordinary,
    };
    (fate, role, arrival)
}

fn early_arrival(scene: &Scene, draws: &mut Draws) -> i64 {
    WINDOW_START + micros(float(scene.window.length()) / 1e6 * draws.between(0.02, 0.3))
}

/// An arrival in the window, by rejection from 1 + 0.6 sin(2π t / day). The trace begins on a
/// Sunday at 19:00, so the peak is in the second half of the first day.
fn diurnal_arrival(scene: &Scene, draws: &mut Draws) -> i64 {
    let latest = float(scene.window.length() - 60 * SECOND);
    loop {
        let offset = latest * draws.unit();
        let phase = (offset / float(DAY) - 0.5).fract() * std::f64::consts::TAU;
        if draws.unit() * 1.6 < 1.0 + 0.6 * phase.sin() {
            return WINDOW_START + micros(offset / 1e6);
        }
    }
}

/// Draws length and number of tasks, limited by the window and [`WINDOWS_MAX`].
fn draw_size(
    scene: &Scene,
    (fate, role): (Fate, Role),
    submit: i64,
    draws: &mut Draws,
) -> (i64, u32) {
    let room = float(scene.window.task_limit() - submit.max(WINDOW_START)) / 1e6;
    let wanted = match role {
        Role::LastOfAll | Role::LongFinisher | Role::CrashLoop => 1.0,
        Role::Zoo | Role::Stragglers => 40.0,
        _ if fate == Fate::Reconfigured => 1.0,
        _ => draw_task_count(scene, draws),
    };
    let (median, sigma) = match fate {
        Fate::Finished => (160.0, 1.7),
        Fate::Failed => (250.0, 2.4),
        Fate::Killed => (170.0, 2.6),
        _ => (300.0, 1.5),
    };
    // Large jobs that do not finish run long: they use most CPU of the real trace.
    let patience = if wanted > 1.0 && fate != Fate::Finished { 10.0 } else { 1.0 };
    let mut stretch = draws.lognormal(median * patience, sigma).max(0.5);
    if stretch > room * 0.98 {
        stretch = room * draws.between(0.3, 0.98);
    }
    let is_open = matches!(fate, Fate::Running | Fate::Updated | Fate::UpdatedOften);
    let tasks = if is_open {
        wanted.min((WINDOWS_MAX / (room / 300.0 + 1.0)).max(1.0))
    } else {
        stretch = stretch.min((WINDOWS_MAX / wanted - 1.0).max(0.1) * 300.0);
        wanted
    };
    let roomy = matches!(role, Role::Zoo | Role::Stragglers | Role::LongFinisher | Role::CrashLoop);
    if roomy {
        stretch = stretch.max(room * 0.4).min(4.0 * 3_600.0);
    }
    (micros(stretch).max(1), u32::try_from(whole(tasks)).expect("at most 90,050"))
}

/// Three of four jobs have one task. For the others the number is Pareto with exponent 0.65, up to
/// the limit for a trace of this size. At full size the mean is 39 and the variance about 10^6, as
/// in the real trace.
fn draw_task_count(scene: &Scene, draws: &mut Draws) -> f64 {
    if draws.chance(0.75) {
        return 1.0;
    }
    draws.bounded_pareto(2.0, scene.tasks_max, 0.65).floor().max(2.0)
}

/// Crash loops belong to jobs that do not finish, and to about one in a thousand finished jobs.
fn draw_loop_chance(fate: Fate, draws: &mut Draws) -> f64 {
    match fate {
        Fate::Finished if draws.chance(0.001) => 0.5,
        Fate::Finished | Fate::KilledPending | Fate::Pending | Fate::Reconfigured => 0.0,
        Fate::Failed => draws.between(0.3, 1.0),
        Fate::Killed => draws.between(0.0, 0.2),
        _ => draws.between(0.0, 0.1),
    }
}

/// Returns the number of jobs to make, including those without rows in `job_events`.
pub(super) fn jobs_to_make(scene: &Scene) -> u64 {
    scene.config.job_count + scene.unknown_job_count
}

/// The planned share of a fate, for the tests.
#[cfg(test)]
pub(super) fn planned_share(fate: Fate) -> f64 {
    let total: u32 = FATES.iter().map(|(_, weight)| weight).sum();
    let weight = FATES.iter().find(|(other, _)| *other == fate).map_or(0, |(_, weight)| *weight);
    f64::from(weight) / f64::from(total)
}

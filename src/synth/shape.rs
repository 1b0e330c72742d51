//! Draws the fate of one task: its dead runs, its end, and its quirk.
//!
//! In: the job's plan. Out: a [`TaskPlan`] with desired times in microseconds; `timeline` makes
//! them fit and turns them into events.

use super::draw::Draws;
use super::event::Event;
use super::fate::{Fate, JobPlan, Role};
use super::scene::Scene;
use super::units::{SECOND, float, float_of_count, micros, scaled, whole};

/// An oddity of a task. A trace that is large enough, or has a zoo job, has each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quirk {
    None,
    /// `UPDATE_PENDING` before the last SCHEDULE, with a new request.
    UpdatePending,
    /// `UPDATE_RUNNING` in the last attempt, with a new request on the rows after it.
    UpdateRunning,
    /// EVICT while pending: an illegal transition.
    EvictPending,
    /// Two SCHEDULE events without a terminal event between them.
    DoubleSchedule,
    /// `UPDATE_RUNNING` at the same instant before the end.
    TieBeforeEnd,
    /// `UPDATE_RUNNING` at the same instant after the end.
    TieAfterEnd,
    /// FAIL, SUBMIT and SCHEDULE at one instant.
    TieChain,
    /// SCHEDULE and the end at one instant.
    ZeroLength,
    /// No request on any row.
    NoRequest,
    /// A machine without a row in `machine_events`.
    StrangeMachine,
    /// A missing-info code on the last row.
    MissingInfo,
    /// No usage windows.
    NoUsage,
    /// Usage for some seconds to minutes after the end.
    LateUsage,
    /// Usage windows that overlap.
    OverlappingUsage,
    /// Usage windows without a CPU rate.
    NoRate,
}

/// Quirks of ordinary tasks, in parts per 10,000.
const QUIRKS: [(Quirk, u32); 16] = [
    (Quirk::None, 9_595),
    (Quirk::UpdatePending, 5),
    (Quirk::UpdateRunning, 40),
    (Quirk::EvictPending, 3),
    (Quirk::DoubleSchedule, 3),
    (Quirk::TieBeforeEnd, 8),
    (Quirk::TieAfterEnd, 3),
    (Quirk::TieChain, 8),
    (Quirk::ZeroLength, 10),
    (Quirk::NoRequest, 20),
    (Quirk::StrangeMachine, 3),
    (Quirk::MissingInfo, 2),
    (Quirk::NoUsage, 150),
    (Quirk::LateUsage, 80),
    (Quirk::OverlappingUsage, 30),
    (Quirk::NoRate, 40),
];

/// Dead runs of the task with 280 events: 3 × 92, one update, SUBMIT, SCHEDULE, FINISH.
const LONG_FINISHER_RUNS: usize = 92;
const CRASH_LOOP_RUNS: usize = 140;

/// A run that ends early and is followed by another attempt.
#[derive(Debug, Clone)]
pub(super) struct DeadRun {
    /// From SUBMIT to SCHEDULE.
    pub(super) wait: i64,
    /// From SCHEDULE to the end.
    pub(super) run: i64,
    pub(super) how: Event,
    /// From the end to the next SUBMIT; 0 is a tie.
    pub(super) gap: i64,
}

/// How a task ends, if it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// After a run of this length.
    Run(i64, Event),
    /// Killed while running when the job stops.
    KillAtStop,
    /// Killed while pending when the job stops.
    KillPending,
    /// Runs past the end of the window.
    Open,
    /// Waits past the end of the window.
    Pending,
}

/// The desired times of one task.
#[derive(Debug, Clone)]
pub(super) struct TaskPlan {
    pub(super) submit: i64,
    /// Whether a task submitted at time 0 waits until the window begins.
    pub(super) is_late: bool,
    pub(super) dead: Vec<DeadRun>,
    pub(super) wait: i64,
    pub(super) ending: Ending,
    /// The latest possible end of the task.
    pub(super) stop: i64,
    pub(super) quirk: Quirk,
}

impl TaskPlan {
    /// Draws the plan of task `index`.
    pub(super) fn draw(scene: &Scene, job: &JobPlan, index: u32, draws: &mut Draws) -> Self {
        let submit = if job.submit == 0 || index == 0 || draws.chance(0.3) {
            job.submit
        } else {
            let spread = micros(draws.lognormal(0.05, 2.0).min(5.0));
            (job.submit + spread).min(scene.window.task_limit())
        };
        let quirk = draw_quirk(job, index, draws);
        let ending = draw_ending(job, index, draws);
        let stop = match ending {
            Ending::Run(..) if matches!(job.fate, Fate::Failed | Fate::Killed) => job.stop(scene),
            Ending::KillAtStop | Ending::KillPending => {
                let jitter = i64::from(index).min(SECOND / 2);
                (job.stop(scene) + jitter).min(scene.window.task_limit())
            }
            _ => scene.window.task_limit(),
        };
        let mut task = Self {
            submit,
            is_late: job.role == Role::LateSchedule,
            dead: draw_dead_runs(job, index, draws),
            wait: draws.span(3.0, 1.3, (0.0, 3_600.0)),
            ending,
            stop,
            quirk,
        };
        task.apply(scene, job, draws);
        task
    }

    /// Adapts the plan to the task's quirk and the job's role.
    fn apply(&mut self, scene: &Scene, job: &JobPlan, draws: &mut Draws) {
        match (self.quirk, &mut self.ending) {
            (Quirk::ZeroLength, Ending::Run(run, _)) => *run = 0,
            (Quirk::TieChain, _) => {
                let mut chained = dead_run(Event::Fail, 20.0, draws);
                chained.gap = 0;
                self.dead = vec![chained];
                self.wait = 0;
            }
            _ => {}
        }
        if job.role == Role::LastOfAll {
            self.dead.clear();
            self.wait = 5 * SECOND;
            self.stop = scene.window.last_event();
            let run = self.stop - self.submit - self.wait;
            self.ending = Ending::Run(run, Event::Finish);
        }
    }
}

fn draw_quirk(job: &JobPlan, index: u32, draws: &mut Draws) -> Quirk {
    match job.role {
        Role::LongFinisher => Quirk::UpdateRunning,
        Role::LastOfAll | Role::CrashLoop => Quirk::None,
        Role::Zoo => QUIRKS[usize::try_from(index).expect("small") % QUIRKS.len()].0,
        _ if job.fate == Fate::Reconfigured => Quirk::None,
        _ => draws.weighted(&QUIRKS),
    }
}

fn draw_ending(job: &JobPlan, index: u32, draws: &mut Draws) -> Ending {
    let is_first = index == 0;
    let length = run_length(job, index, draws);
    let roll = draws.unit();
    match job.fate {
        Fate::Finished | Fate::Reconfigured if is_first || roll < 0.97 => {
            Ending::Run(length, Event::Finish)
        }
        Fate::Finished if roll < 0.98 => Ending::Run(length, Event::Fail),
        Fate::Finished if roll < 0.985 => Ending::Run(length, Event::Lost),
        Fate::Finished if roll < 0.99 => Ending::KillPending,
        Fate::Failed if is_first || roll < 0.5 => Ending::Run(length, Event::Fail),
        Fate::Failed if roll < 0.7 => Ending::Run(length, Event::Finish),
        Fate::Killed if !is_first && roll < 0.25 => {
            Ending::Run(scaled(length, draws.between(0.1, 0.9)), Event::Finish)
        }
        Fate::Killed if !is_first && roll < 0.29 => Ending::KillPending,
        Fate::Evicted => Ending::Run(length, Event::Evict),
        Fate::Lost => Ending::Run(length, Event::Lost),
        Fate::Running if !is_first && roll < 0.05 => Ending::Run(length, Event::Finish),
        Fate::Running if !is_first && roll < 0.08 => Ending::Pending,
        Fate::Running | Fate::Updated | Fate::UpdatedOften => Ending::Open,
        Fate::KilledPending => Ending::KillPending,
        Fate::Pending => Ending::Pending,
        Fate::Finished | Fate::Reconfigured | Fate::Failed | Fate::Killed => Ending::KillAtStop,
    }
}

/// Siblings have similar lengths, but one in 25 takes 1.6 to 6 times as long.
fn run_length(job: &JobPlan, index: u32, draws: &mut Draws) -> i64 {
    let slow = match job.role {
        Role::Stragglers => (35..40).contains(&index),
        _ => index > 0 && draws.chance(0.04),
    };
    let factor = draws.lognormal(0.85, 0.2) * if slow { draws.between(1.6, 6.0) } else { 1.0 };
    micros(float(job.stretch) / 1e6 * factor).max(1)
}

fn draw_dead_runs(job: &JobPlan, index: u32, draws: &mut Draws) -> Vec<DeadRun> {
    let in_loop = job.role == Role::Ordinary && index < LOOPING_TASKS_MAX;
    let count = match job.role {
        Role::LongFinisher => LONG_FINISHER_RUNS,
        Role::CrashLoop => CRASH_LOOP_RUNS,
        _ if job.fate == Fate::Reconfigured => 1,
        _ if in_loop && draws.chance(job.loop_chance) => {
            let median = if job.fate == Fate::Failed { 25.0 } else { 12.0 };
            let wanted = draws.lognormal(median, 1.0).clamp(2.0, 140.0);
            usize::try_from(whole(wanted)).expect("2 to 140")
        }
        _ if draws.chance(0.015) => 1,
        _ => 0,
    };
    if count == 0 || matches!(job.fate, Fate::Pending | Fate::KilledPending) {
        return Vec::new();
    }
    // Few patterns, so that a large trace has few distinct sequences.
    let pattern = match job.fate {
        Fate::Finished | Fate::Reconfigured if count > 1 || job.fate == Fate::Reconfigured => {
            &[Event::Fail][..]
        }
        _ => draws.weighted(&PATTERNS),
    };
    // The runs of a crash loop together last as long as the job.
    let share = float(job.stretch) / 1e6 / (float_of_count(count as u64) + 1.0);
    let run_s = if count > 1 { share.clamp(5.0, 3_600.0) } else { 20.0 };
    (0..count).map(|run| dead_run(pattern[run % pattern.len()], run_s, draws)).collect()
}

/// Most tasks of one job that may be in a crash loop; it limits the events of the largest jobs.
const LOOPING_TASKS_MAX: u32 = 2_000;

const PATTERNS: [(&[Event], u32); 5] = [
    (&[Event::Fail], 70),
    (&[Event::Evict], 20),
    (&[Event::Fail, Event::Evict], 6),
    (&[Event::Kill], 3),
    (&[Event::Lost], 1),
];

fn dead_run(how: Event, run_s: f64, draws: &mut Draws) -> DeadRun {
    let gap = if draws.chance(0.05) { 0 } else { micros(draws.between(0.001, 2.0)) };
    DeadRun {
        wait: draws.span(2.0, 1.0, (0.01, 600.0)),
        run: draws.span(run_s, 0.8, (1.0, 7_200.0)),
        how,
        gap,
    }
}

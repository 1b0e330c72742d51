//! Makes one job: its tasks, its rows in four tables, and its entry in the truth.
//!
//! The SUBMIT of a job is never after that of its first task, its SCHEDULE is that of its first
//! task, and its end is never before that of its last task.

use super::account::{attempts_of, book_stray_usage, book_task};
use super::draw::{Draws, Stream};
use super::event::Event;
use super::fate::{Fate, JobPlan, Role};
use super::rows::{Constraints, JobEvent, JobLabels, write_job_events, write_task_events};
use super::scene::Scene;
use super::shape::{Quirk, TaskPlan};
use super::spill::RowBuffers;
use super::sweep::JobSums;
use super::table::Table;
use super::tally::Tally;
use super::timeline::{TaskEvent, events_of};
use super::units::{SECOND, scaled};
use super::usage::{Consumer, UsageDraws};

/// Makes job `number`, appends its rows, and adds it to the tally.
pub(super) fn make_job(scene: &Scene, number: u64, rows: &mut RowBuffers, tally: &mut Tally) {
    let seed = scene.config.seed;
    let mut draws = Draws::new(seed, Stream::Job, number);
    let plan = JobPlan::draw(scene, number, &mut draws);
    let labels = JobLabels::draw(scene, &mut draws);
    let constraints = Constraints::draw(scene, &mut draws);
    let duplicates = scene.is_dirty().then(|| Draws::new(seed, Stream::DuplicateEvents, number));
    let usage = scene.config.with_usage.then(|| UsageDraws::new(scene, number));
    let mut work = JobWork { scene, plan, labels, constraints, duplicates, usage };

    let mut sums = JobSums::new();
    let mut span = TaskSpan::default();
    if work.plan.role != Role::NoTasks {
        for index in 0..work.plan.task_count {
            let task = work.make_task(index, &mut draws, rows);
            span.add(&task, index);
            work.use_and_book(index, &task, (&mut sums, tally), rows);
        }
        if work.plan.role == Role::StrayUsage {
            work.use_astray((&mut sums, tally), rows);
        }
    }
    let job_events = work.job_events(&span, &mut draws);
    if work.plan.is_known {
        write_job_events(&work.plan, &work.labels, &job_events, rows.table(Table::JobEvents));
    }
    let known = work.plan.is_known.then_some((&job_events[..], &work.labels));
    tally.close_job(scene, work.plan.id, known, sums);
}

/// Data that the steps of one job share.
struct JobWork<'a> {
    scene: &'a Scene,
    plan: JobPlan,
    labels: JobLabels,
    constraints: Constraints,
    duplicates: Option<Draws>,
    usage: Option<UsageDraws>,
}

impl JobWork<'_> {
    /// Draws a task, and writes its events and constraints.
    fn make_task(&mut self, index: u32, draws: &mut Draws, rows: &mut RowBuffers) -> MadeTask {
        let id = (self.plan.id, index);
        let plan = TaskPlan::draw(self.scene, &self.plan, index, draws);
        let mut events = events_of(self.scene, &plan, self.labels.cpu_request, draws);
        if let Some(duplicates) = &mut self.duplicates {
            let is_planted = self.plan.role == Role::Zoo && index % 8 == 3;
            let is_allowed = self.plan.fate != Fate::Reconfigured;
            if is_allowed && (duplicates.chance(0.004) || is_planted) {
                events.insert(1, events[0]);
            }
        }
        write_task_events(id, &self.labels, &events, rows.table(Table::TaskEvents));
        let constraint_rows = rows.table(Table::TaskConstraints);
        self.constraints.write(self.scene, id, plan.submit, constraint_rows);
        MadeTask { events, quirk: plan.quirk }
    }

    /// Writes a task's usage, and adds the task to the tally.
    fn use_and_book(
        &mut self,
        index: u32,
        task: &MadeTask,
        (sums, tally): (&mut JobSums, &mut Tally),
        rows: &mut RowBuffers,
    ) {
        let attempts = attempts_of(&task.events, self.scene.window.last_event());
        let mut windows = Vec::new();
        if let Some(draws) = &mut self.usage {
            let id = (self.plan.id, index);
            let consumer = Consumer::draw(id, task.quirk, task.events[0].cpu_request, draws);
            let usage_rows = rows.table(Table::TaskUsage);
            windows = consumer.write(self.scene, &attempts, draws, usage_rows);
        }
        book_task(tally, sums, (index, &task.events), &attempts, &windows);
    }

    /// Writes usage of a task without events, from the submission of the job to its stop, but for
    /// at least 40 s.
    fn use_astray(&mut self, (sums, tally): (&mut JobSums, &mut Tally), rows: &mut RowBuffers) {
        let Some(draws) = &mut self.usage else { return };
        let end = self.plan.stop(self.scene);
        let machine = Some(self.scene.machines[0]);
        let event =
            |time, event| TaskEvent { time, event, machine, cpu_request: None, missing_info: None };
        let shadow = [
            event(self.plan.submit, Event::Schedule),
            event(end.max(self.plan.submit + 40 * SECOND), Event::Finish),
        ];
        let attempts = attempts_of(&shadow, end);
        let id = (self.plan.id, self.plan.task_count + 1);
        let consumer = Consumer::draw(id, Quirk::None, None, draws);
        let windows = consumer.write(self.scene, &attempts, draws, rows.table(Table::TaskUsage));
        book_stray_usage(tally, sums, &windows);
    }

    /// Returns the job's own events around those of its tasks.
    fn job_events(&self, span: &TaskSpan, draws: &mut Draws) -> Vec<JobEvent> {
        let plan = &self.plan;
        let limit = self.scene.window.task_limit();
        let schedule = span.first_schedule.unwrap_or((plan.submit + SECOND).min(limit));
        let is_last_of_all = plan.role == Role::LastOfAll;
        let late = if is_last_of_all || draws.chance(0.3) { 0 } else { draws.below(900_000) };
        let late = i64::try_from(late).expect("under a second");
        let end = span.last_event.unwrap_or_else(|| plan.stop(self.scene)).max(schedule) + late;
        let running = |share| schedule + scaled(limit - schedule, share);
        let mut events = vec![(plan.submit, Event::Submit)];
        if !matches!(plan.fate, Fate::KilledPending | Fate::Pending | Fate::Reconfigured) {
            events.push((schedule, Event::Schedule));
        }
        match plan.fate {
            Fate::Finished => events.push((end, Event::Finish)),
            Fate::Failed => events.push((end, Event::Fail)),
            Fate::Killed | Fate::KilledPending => events.push((end, Event::Kill)),
            Fate::Evicted => events.push((end, Event::Evict)),
            Fate::Lost => events.push((end, Event::Lost)),
            Fate::Updated => events.push((running(0.4), Event::UpdateRunning)),
            Fate::UpdatedOften => {
                events.extend(
                    [0.2, 0.4, 0.6, 0.8].map(|share| (running(share), Event::UpdateRunning)),
                );
            }
            // Its only task has the same events.
            Fate::Reconfigured => events.extend(span.first_task.iter().skip(1)),
            Fate::Running | Fate::Pending => {}
        }
        let missing_info = (plan.fate == Fate::Lost).then_some(1);
        events
            .into_iter()
            .map(|(time, event)| {
                let missing_info = missing_info.filter(|_| event.is_terminal());
                JobEvent { time, event, missing_info }
            })
            .collect()
    }
}

/// The events of a task, and the inputs of its usage.
struct MadeTask {
    events: Vec<TaskEvent>,
    quirk: Quirk,
}

/// The times of tasks that determine the events of their job.
#[derive(Default)]
struct TaskSpan {
    first_schedule: Option<i64>,
    last_event: Option<i64>,
    /// Events of the first task.
    first_task: Vec<(i64, Event)>,
}

impl TaskSpan {
    fn add(&mut self, task: &MadeTask, index: u32) {
        let schedule = task.events.iter().find(|row| row.event == Event::Schedule);
        if let Some(row) = schedule {
            let earlier = self.first_schedule.unwrap_or(i64::MAX).min(row.time);
            self.first_schedule = Some(earlier);
        }
        self.last_event = self.last_event.max(task.events.last().map(|row| row.time));
        if index == 0 {
            self.first_task = task.events.iter().map(|row| (row.time, row.event)).collect();
        }
    }
}

//! A group that a test builds step by step and shows to a detector.

use std::ops::Range;

use super::{
    Detector, DetectorPlan, End, Ended, Finished, Flag, GroupInfo, KINDS, NO_MACHINE, Progress,
    Running, Scene,
};

/// Every detector in the forms that tests try: with its defaults, at both ends of its curve, and
/// with its variants.
pub(in crate::replay) fn tried() -> Vec<String> {
    let mut texts = Vec::new();
    for kind in KINDS {
        let (key, values) = kind.curve;
        let ends = values.first().into_iter().chain(values.last());
        texts.push(kind.name.to_owned());
        texts.extend(ends.map(|value| format!("{}:{key}={value}", kind.name)));
        texts.extend(kind.variants.iter().map(|pairs| format!("{}:{pairs}", kind.name)));
    }
    texts
}

/// A second, in microseconds.
pub(super) const SECOND: i64 = 1_000_000;

/// A group with one detector. Times are whole seconds.
pub(super) struct Group {
    pub(super) detector: Box<dyn Detector>,
    pub(super) running: Vec<Running>,
    pub(super) finished: Finished,
    pub(super) task_count: u32,
    pub(super) waiting: u32,
    pub(super) over: u32,
    pub(super) slots: u32,
    pub(super) free_slots: u32,
    pub(super) copies: u32,
    attempts: u32,
}

impl Group {
    pub(super) fn of(detector: &str, task_count: u32) -> Self {
        let plan: DetectorPlan = detector.parse().expect("a detector");
        Self {
            detector: plan.build(&GroupInfo::default()),
            running: Vec::new(),
            finished: Finished::default(),
            task_count,
            waiting: 0,
            over: 0,
            slots: task_count,
            free_slots: u32::MAX,
            copies: 0,
            attempts: 0,
        }
    }

    /// Starts a task, with a progress that stays until it is set again.
    pub(super) fn run(&mut self, task: u32, start_s: i64, progress: f64) -> &mut Self {
        self.run_on(task, NO_MACHINE, start_s, progress)
    }

    pub(super) fn run_on(
        &mut self,
        task: u32,
        machine: u32,
        start_s: i64,
        progress: f64,
    ) -> &mut Self {
        let began_us = start_s * SECOND;
        self.detector.started(self.attempts, task, began_us);
        self.running.push(Running {
            attempt: self.attempts,
            task,
            machine,
            start_us: began_us,
            progress: Progress::of_value(progress),
            reported_us: began_us,
            has_progress: true,
            has_copy: false,
            was_copied: false,
        });
        self.attempts += 1;
        self
    }

    /// Finishes a running task.
    pub(super) fn stop(&mut self, task: u32, end_s: i64) {
        let found = self.running.iter().position(|running| running.task == task);
        let running = self.running.remove(found.expect("it runs"));
        self.over += 1;
        let end = Ended {
            attempt: running.attempt,
            task,
            machine: running.machine,
            start_us: running.start_us,
            end_us: end_s * SECOND,
            how: End::Finished,
        };
        self.finished.add(end);
        self.detector.ended(&end);
    }

    /// Runs tasks and finishes them.
    pub(super) fn finish(&mut self, tasks: Range<u32>, start_s: i64, end_s: i64) {
        for task in tasks {
            self.run(task, start_s, 0.0).stop(task, end_s);
        }
    }

    pub(super) fn set(&mut self, task: u32, progress: f64) -> &mut Self {
        let found = self.running.iter_mut().find(|running| running.task == task);
        found.expect("it runs").progress = Progress::of_value(progress);
        self
    }

    /// The flags of the detector at `now_s`, when every attempt reports.
    pub(super) fn flags(&mut self, now_s: i64) -> Vec<Flag> {
        for running in &mut self.running {
            running.reported_us = now_s * SECOND;
        }
        let mut flags = Vec::new();
        let Self { detector, running, finished, .. } = self;
        let scene = Scene {
            now_us: now_s * SECOND,
            begun_us: 0,
            running,
            finished,
            task_count: self.task_count,
            waiting: self.waiting,
            over: self.over,
            slots: self.slots,
            free_slots: self.free_slots,
            copies: self.copies,
        };
        detector.judge(&scene, &mut flags);
        flags
    }

    /// The flagged tasks in the detector's order; they count as copied from now on.
    pub(super) fn judge(&mut self, now_s: i64) -> Vec<u32> {
        let flags = self.flags(now_s);
        self.copies += u32::try_from(flags.len()).expect("few flags");
        let mut tasks = Vec::new();
        for flag in flags {
            let running = &mut self.running[flag.position];
            running.has_copy = true;
            running.was_copied = true;
            tasks.push(running.task);
        }
        tasks
    }

    /// Asks the detector about a machine.
    pub(super) fn ask<T>(&self, now_s: i64, ask: impl Fn(&dyn Detector, &Scene<'_>) -> T) -> T {
        let scene = Scene {
            now_us: now_s * SECOND,
            begun_us: 0,
            running: &self.running,
            finished: &self.finished,
            task_count: self.task_count,
            waiting: self.waiting,
            over: self.over,
            slots: self.slots,
            free_slots: self.free_slots,
            copies: self.copies,
        };
        ask(&*self.detector, &scene)
    }
}

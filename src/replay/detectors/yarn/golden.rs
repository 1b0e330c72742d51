//! Repeats Hadoop's integration test of its estimators: 200 maps, 150 reduces, 600 slots.
//!
//! The set-up is that of `TestRuntimeEstimators` (apache/hadoop): a map takes 3 slots and runs for
//! 200, 150, 200 or 250 s by its number modulo 4 (every fortieth runs for 600 s on its first
//! attempt); a reduce takes 4 slots, shuffles (half of its progress) with the maps and then
//! computes for its time. Every second all attempts report, and every tenth second both kinds are
//! scanned. Hadoop visits tasks in the order of a hash map, this test by number.

use super::super::testing::SECOND;
use super::super::{Detector, End, Ended, Finished, Progress, Running, Scene};
use super::detector::Yarn;
use super::rules::rules_of;

const SLOTS: u32 = 600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Running,
    Finished,
    Killed,
}

struct Attempt {
    state: State,
    start_s: i64,
    /// When the attempt first saw that all maps are done, s.
    shuffled_s: i64,
}

struct Phase {
    slots: u32,
    is_map: bool,
    tasks: Vec<Vec<Attempt>>,
    yarn: Yarn,
    finished: Finished,
}

fn run_s(task: usize, attempt: usize) -> f32 {
    match task % 4 {
        0 if task.is_multiple_of(40) && attempt == 0 => 600.0,
        1 => 150.0,
        3 => 250.0,
        _ => 200.0,
    }
}

impl Phase {
    fn new(estimator: &str, is_map: bool, count: usize, slots: u32) -> Self {
        let rules = rules_of(&format!("yarn:estimator={estimator},retry_s=10,retry_after_s=10"));
        let attempt = || vec![Attempt { state: State::New, start_s: 0, shuffled_s: i64::MAX }];
        let mut yarn = Yarn::new(rules);
        yarn.next_scan_ms = 10_000;
        let tasks = (0..count).map(|_| attempt()).collect();
        Self { slots, is_map, tasks, yarn, finished: Finished::default() }
    }

    fn done(&self) -> usize {
        let is_done = |task: &&Vec<Attempt>| task.iter().any(|a| a.state == State::Finished);
        self.tasks.iter().filter(is_done).count()
    }

    /// Progress as the mock reports it, in 32 bits.
    #[expect(clippy::cast_precision_loss, reason = "the mock counts in 32 bits")]
    fn progress(&mut self, task: usize, idx: usize, now_s: i64, maps: (usize, usize)) -> f32 {
        let attempt = &mut self.tasks[task][idx];
        let run_s = run_s(task, idx);
        if self.is_map {
            return ((now_s - attempt.start_s) as f32 / run_s).min(1.0);
        }
        if maps.0 < maps.1 {
            return maps.0 as f32 / maps.1 as f32 * 0.5;
        }
        attempt.shuffled_s = attempt.shuffled_s.min(now_s);
        ((now_s - attempt.shuffled_s) as f32 / (run_s * 2.0) + 0.5).min(1.0)
    }

    /// Starts attempts that fit and ends those that are done; returns the number of won copies.
    fn step(&mut self, now_s: i64, maps: (usize, usize), in_use: &mut u32) -> u32 {
        let mut won = 0;
        for task in 0..self.tasks.len() {
            for idx in 0..self.tasks[task].len() {
                let state = self.tasks[task][idx].state;
                match state {
                    State::New if *in_use + self.slots <= SLOTS => {
                        self.tasks[task][idx].state = State::Running;
                        self.tasks[task][idx].start_s = now_s;
                        *in_use += self.slots;
                    }
                    State::Running if 1.0 <= self.progress(task, idx, now_s, maps) => {
                        won += self.finish(task, idx, now_s, in_use);
                    }
                    _ => {}
                }
            }
        }
        won
    }

    fn finish(&mut self, task: usize, idx: usize, now_s: i64, in_use: &mut u32) -> u32 {
        self.tasks[task][idx].state = State::Finished;
        *in_use -= self.slots;
        let number = u32::try_from(task).expect("a small number");
        let end = Ended {
            attempt: number * 4 + u32::try_from(idx).expect("a small number"),
            task: number,
            machine: 0,
            start_us: self.tasks[task][idx].start_s * SECOND,
            end_us: now_s * SECOND,
            how: End::Finished,
        };
        self.finished.add(end);
        self.yarn.ended(&end);
        let mut won = 0;
        for (other, attempt) in self.tasks[task].iter_mut().enumerate() {
            // The mock does not kill an original that beats its copy.
            if attempt.state == State::Running && other < idx {
                attempt.state = State::Killed;
                *in_use -= self.slots;
                won += 1;
            }
        }
        won
    }

    fn scan(&mut self, now_s: i64, maps: (usize, usize)) {
        let mut running = Vec::new();
        let mut waiting = 0;
        for task in 0..self.tasks.len() {
            for idx in 0..self.tasks[task].len() {
                waiting += u32::from(self.tasks[task][idx].state == State::New);
                if self.tasks[task][idx].state != State::Running {
                    continue;
                }
                let live = self.tasks[task].iter().filter(|a| a.state == State::Running).count();
                running.push(Running {
                    attempt: u32::try_from(task * 4 + idx).expect("a small number"),
                    task: u32::try_from(task).expect("a small number"),
                    machine: 0,
                    start_us: self.tasks[task][idx].start_s * SECOND,
                    progress: Progress::of_value(f64::from(self.progress(task, idx, now_s, maps))),
                    reported_us: now_s * SECOND,
                    has_progress: true,
                    has_copy: 1 < live,
                    was_copied: 1 < self.tasks[task].len(),
                });
            }
        }
        running.sort_by_key(|running| (running.start_us, running.task));
        let mut flags = Vec::new();
        let scene = Scene {
            // The clock advances between the reports and the scan.
            now_us: (now_s + 1) * SECOND,
            begun_us: 0,
            running: &running,
            finished: &self.finished,
            task_count: u32::try_from(self.tasks.len()).expect("a small number"),
            waiting,
            over: u32::try_from(self.finished.count()).expect("a small number"),
            slots: SLOTS / self.slots,
            free_slots: u32::MAX,
            copies: 0,
        };
        self.yarn.judge(&scene, &mut flags);
        for flag in flags {
            let copy = Attempt { state: State::New, start_s: 0, shuffled_s: i64::MAX };
            self.tasks[running[flag.position].task as usize].push(copy);
        }
    }
}

fn successful_speculations(estimator: &str) -> u32 {
    let mut maps = Phase::new(estimator, true, 200, 3);
    let mut reduces = Phase::new(estimator, false, 150, 4);
    let (mut won, mut in_use) = (0, 0);
    for now_s in 1.. {
        let undone = 350 - maps.done() - reduces.done();
        if undone == 0 {
            break;
        }
        let done = (maps.done(), 200);
        won += maps.step(now_s, done, &mut in_use);
        let done = (maps.done(), 200);
        won += reduces.step(now_s, done, &mut in_use);
        maps.scan(now_s, done);
        reduces.scan(now_s, done);
        assert!(now_s < 10_000, "it ends");
    }
    won
}

#[test]
fn three_speculations_succeed() {
    assert_eq!(successful_speculations("legacy"), 3);
    assert_eq!(successful_speculations("exponential"), 3);
}

//! The detector: its data about attempts and tasks, and its scans.

use std::sync::Arc;

use super::estimators::Memory;
use super::rules::{ESTIMATORS, Estimator, MODES, Mode, Rules, cut};
use crate::replay::detectors::criterion::{Bounds, Rates};
use crate::replay::detectors::support::{ExactSums, entry, word};
use crate::replay::detectors::{
    Detector, End, Ended, Family, Flag, GroupInfo, Kind, Outlook, Plan, Running, Scene,
};

/// The description of the detector.
pub(in crate::replay::detectors) const KIND: Kind = Kind {
    name: "yarn",
    about: "Hadoop YARN: one copy per scan, the one that saves the most time; three estimators",
    curve: ("min_tasks", &["1", "2", "5", "10", "20", "50", "200"]),
    family: Family::Hadoop,
    steers: false,
    #[cfg(test)]
    variants: &[
        "estimator=exponential,retry_after_s=1",
        "estimator=exponential,mode=intended,retry_after_s=1",
        "estimator=simple,min_tasks=2",
        "estimator=simple,mode=intended,skip=2,lambda_s=30,retry_after_s=0",
        "mode=intended,sigma=0.5",
        "slow_share=0.2,slow_rate=0.5,age_s=30",
        "mode=intended,sigma=0.5,retry_s=37",
        "slow_share=0.2,slow_rate=0.9,age_s=300",
        "min_tasks=1,retry_s=1,retry_after_s=1",
        "estimator=simple,retry_s=1,retry_after_s=1",
        "estimator=exponential,mode=intended,retry_s=3",
    ],
    read: |notation| Ok(Arc::new(Rules::read(notation)?)),
};

/// Share of tasks that must be over; 32 bits, hard-coded.
const MIN_COMPLETE: f32 = 0.05;

/// Silence after which an unchanged report is simulated, ms; hard-coded.
const SILENCE_MS: i64 = 9_000;

impl Plan for Rules {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Yarn::new(*self))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let [slow_share, slow_rate] = self.criterion.parameters();
        vec![
            ("estimator", word(ESTIMATORS, &self.estimator)),
            ("mode", word(MODES, &self.mode)),
            ("min_tasks", self.min_tasks.to_string()),
            ("cap_total", self.cap_total.to_string()),
            ("cap_running", self.cap_running.to_string()),
            ("retry_s", self.retry_s.to_string()),
            ("retry_after_s", self.retry_after_s.to_string()),
            ("lambda_s", self.lambda_s.to_string()),
            ("sigma", self.sigma.to_string()),
            ("stagnated_s", self.stagnated_s.to_string()),
            ("skip", self.skip.to_string()),
            ("age_s", self.age_s.to_string()),
            slow_share,
            slow_rate,
        ]
    }
}

/// The score of a task; only tasks with a value are candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Score {
    AlreadySpeculating,
    TooNew,
    ProgressIsGood,
    TooLate,
    Value(i64),
}

/// The state of an attempt.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    memory: Option<Memory>,
    /// The time of its last report, µs.
    reported_us: i64,
    /// Estimate and progress at the last scan that saw a change, and the time of that scan, ms.
    change: Option<(i64, f32, i64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    has_finished: bool,
    /// The last scan that included it.
    scan: u64,
}

pub(super) struct Yarn {
    rules: Rules,
    attempts: Vec<Attempt>,
    tasks: Vec<Task>,
    /// Lengths of finished tasks, ms.
    lengths: ExactSums,
    /// Rates for the criterion.
    rates: Rates,
    finished: u32,
    scan: u64,
    pub(super) next_scan_ms: i64,
}

/// Whole milliseconds.
fn ms(time_us: i64) -> i64 {
    time_us.div_euclid(1_000)
}

#[expect(clippy::cast_possible_truncation, reason = "what the program keeps")]
fn single(progress: f64) -> f32 {
    progress as f32
}

impl Yarn {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            attempts: Vec::new(),
            tasks: Vec::new(),
            lengths: ExactSums::default(),
            rates: Rates::new(rules.criterion),
            finished: 0,
            scan: 0,
            next_scan_ms: i64::MIN,
        }
    }

    fn read_reports(&mut self, scene: &Scene<'_>) {
        for running in scene.running.iter().filter(|running| running.has_progress) {
            let attempt = entry(&mut self.attempts, running.attempt);
            if attempt.memory.is_some() && running.reported_us <= attempt.reported_us {
                continue;
            }
            attempt.reported_us = running.reported_us;
            let estimator = self.rules.estimator;
            let memory = attempt.memory.get_or_insert_with(|| Memory::new(estimator));
            let (start_ms, time_ms) = (ms(running.start_us), ms(running.reported_us));
            memory.report(&self.rules, start_ms, time_ms, single(running.progress.value()));
        }
    }

    /// The running time above which a task is slow, ms; `None` before 5 % of the tasks are over.
    #[expect(clippy::cast_precision_loss, reason = "the program divides in 32 bits")]
    fn threshold_ms(&self, scene: &Scene<'_>) -> Option<i64> {
        let share = scene.over as f32 / scene.task_count.max(1) as f32;
        if scene.over < 1 || share < MIN_COMPLETE {
            return None;
        }
        if self.finished == 0 {
            return Some(0);
        }
        Some(cut(self.lengths.mean() + self.lengths.deviation() * self.rules.sigma))
    }

    /// The running time of a new attempt, ms.
    fn new_attempt_ms(&self) -> i64 {
        let (mean, count) = (self.lengths.mean(), f64::from(self.finished));
        match self.rules.estimator {
            _ if self.finished == 0 => 0,
            Estimator::Legacy | Estimator::Exponential => cut(mean),
            Estimator::Simple if self.finished <= 1 => 0,
            Estimator::Simple => {
                let deviation = self.lengths.deviation();
                let upper = mean + 1.96 * deviation / count.sqrt();
                cut(upper + (0.25 * upper).min(deviation / 2.0))
            }
        }
    }

    /// The score of a task by its first running attempt.
    fn score(&mut self, running: &Running, now_ms: i64, replaced_ms: i64) -> Score {
        let start_ms = ms(running.start_us);
        if now_ms < start_ms {
            return Score::TooNew;
        }
        let rules = &self.rules;
        let attempt = entry(&mut self.attempts, running.attempt);
        let run_ms = attempt.memory.map_or(-1, |memory| memory.run_ms(rules, start_ms));
        if let Some(memory) = &mut attempt.memory {
            let progress = single(running.progress.value());
            match attempt.change {
                Some((last_ms, last, changed_ms)) if last_ms == run_ms && last == progress => {
                    let is_silent = SILENCE_MS < now_ms - changed_ms;
                    if is_silent {
                        attempt.change = Some((run_ms, progress, now_ms));
                    }
                    if is_silent || memory.is_stagnated(rules, now_ms) {
                        memory.report(rules, start_ms, now_ms, progress);
                    }
                }
                _ => attempt.change = Some((run_ms, progress, now_ms)),
            }
        }
        let end_ms = start_ms.wrapping_add(run_ms);
        if end_ms < now_ms {
            Score::ProgressIsGood
        } else if end_ms <= replaced_ms {
            Score::TooLate
        } else if running.has_copy {
            Score::AlreadySpeculating
        } else {
            Score::Value(end_ms - replaced_ms)
        }
    }

    /// The position of the task to copy, if any.
    pub(super) fn scan(&mut self, scene: &Scene<'_>, now_ms: i64) -> Option<usize> {
        // Waiting containers block the scan. Without a threshold every uncopied task is
        // ON_SCHEDULE, and no task was copied before there was one.
        let threshold_ms = self.threshold_ms(scene).filter(|_| scene.waiting == 0)?;
        self.scan += 1;
        let replaced_ms = now_ms + self.new_attempt_ms();
        let (mut already, mut running_count, mut best) = (0_u32, 0_u32, None);
        let mut best_value = -1;
        let bounds = self.rates.bounds(scene);
        for (position, running) in scene.running.iter().enumerate() {
            let task = entry(&mut self.tasks, running.task);
            if task.scan == self.scan {
                continue;
            }
            task.scan = self.scan;
            running_count += 1;
            match self.score(running, now_ms, replaced_ms) {
                Score::AlreadySpeculating => already += 1,
                Score::Value(value) if best_value < value => {
                    let length_ms = value + replaced_ms - ms(running.start_us);
                    if self.admits(running, length_ms, threshold_ms, bounds) {
                        (best_value, best) = (value, Some(position));
                    }
                }
                Score::TooNew | Score::ProgressIsGood | Score::TooLate | Score::Value(_) => {}
            }
        }
        let allowed = self.allowed(scene.task_count, running_count);
        best.filter(|_| i64::from(already) < allowed && 0 < scene.free_slots)
    }

    /// Whether a task that is worth a copy is also old and slow enough for one.
    fn admits(
        &self,
        running: &Running,
        length_ms: i64,
        threshold_ms: i64,
        bounds: Option<Bounds>,
    ) -> bool {
        (self.rules.mode == Mode::AsCoded || threshold_ms < length_ms)
            && self.rules.age_s <= running.age_s(running.reported_us)
            && bounds.is_none_or(|bounds| bounds.is_slow(running))
    }

    /// The number of copies that may run.
    fn allowed(&self, tasks: u32, running: u32) -> i64 {
        let total = cut(self.rules.min_tasks.max(self.rules.cap_total * f64::from(tasks)));
        total.max(cut(self.rules.cap_running * f64::from(running)))
    }
}

impl Detector for Yarn {
    fn ended(&mut self, end: &Ended) {
        self.rates.ended(end);
        let task = entry(&mut self.tasks, end.task);
        if end.how == End::Finished && !task.has_finished {
            task.has_finished = true;
            self.lengths.add(ms(end.end_us) - ms(end.start_us));
            self.finished += 1;
        }
    }

    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        self.read_reports(scene);
        let now_ms = ms(scene.now_us);
        if now_ms < self.next_scan_ms {
            return;
        }
        let found = self.scan(scene, now_ms);
        let wait_s = if found.is_some() { self.rules.retry_after_s } else { self.rules.retry_s };
        self.next_scan_ms = now_ms.saturating_add(cut(wait_s * 1e3));
        flags.extend(found.map(Flag::copy));
    }

    /// The legacy estimator uses only the last report. While rates stay constant, its estimates are
    /// also constant, except for rounding, and a copy saves less and less.
    fn quiet_until_us(&self, scene: &Scene<'_>, outlook: Outlook) -> i64 {
        let now_ms = ms(scene.now_us);
        let scans_always = cut(self.rules.retry_s * 1e3) <= outlook.heartbeat_us / 1_000;
        let is_due = self.next_scan_ms <= now_ms.saturating_add(outlook.heartbeat_us / 1_000);
        if self.rules.estimator != Estimator::Legacy || !scans_always || !is_due {
            return scene.now_us;
        }
        if 0 < scene.waiting || self.threshold_ms(scene).is_none() {
            return i64::MAX;
        }
        if outlook.is_done_with(scene) {
            return i64::MAX;
        }
        let replaced_ms = now_ms.saturating_add(self.new_attempt_ms());
        let is_over = |running: &Running| {
            let age_ms = now_ms - ms(running.start_us);
            if 0 < running.progress.done() && age_ms < 1 {
                return false;
            }
            let Some(estimate) = running.estimated_length_us() else { return true };
            // Progress has 24 bits, and ages are whole milliseconds.
            let length_ms = ms(estimate);
            let error_ms = (length_ms >> 20) + length_ms / age_ms.max(1) + 2;
            let has_estimate = running.progress.total() / 10_000 < running.progress.done();
            has_estimate
                && ms(running.start_us).saturating_add(length_ms).saturating_add(error_ms)
                    <= replaced_ms
        };
        let mut open =
            scene.running.iter().filter(|running| running.has_progress && !running.has_copy);
        if open.all(is_over) { outlook.steady_until_us } else { scene.now_us }
    }
}

#[cfg(test)]
mod tests {
    use super::super::detector::*;
    use super::super::rules::rules_of;
    use crate::replay::detectors::testing::Group;

    #[test]
    fn statistics_are_those_of_the_first_example() {
        let mut yarn = Yarn::new(rules_of("yarn:estimator=simple"));
        for (task, length_s) in [(0, 90), (1, 100), (2, 110), (3, 100), (3, 777)] {
            let (start_us, end_us) = (0, length_s * 1_000_000);
            let end =
                Ended { attempt: task, task, machine: 0, start_us, end_us, how: End::Finished };
            yarn.ended(&end);
        }
        assert_eq!(yarn.lengths.mean(), 100_000.0, "the first success of a task alone counts");
        assert_eq!(format!("{:.2}", yarn.lengths.deviation()), "7071.07");
        let mut group = Group::of("none", 4);
        group.over = 4;
        group.ask(0, |_, scene| assert_eq!(yarn.threshold_ms(scene), Some(107_071)));
        let upper = 100_000.0 + 1.96 * yarn.lengths.deviation() / 2.0;
        assert_eq!(format!("{upper:.2}"), "106929.65");
        assert_eq!(yarn.new_attempt_ms(), 110_465);
        yarn.rules.estimator = Estimator::Legacy;
        assert_eq!(yarn.new_attempt_ms(), 100_000);
    }

    #[test]
    fn the_second_example_is_worth_260_s() {
        let mut group = Group::of("none", 20);
        let mut yarn = Yarn::new(rules_of("yarn"));
        group.finish(0..4, 0, 100);
        group.finished.ends().iter().for_each(|end| yarn.ended(end));
        group.run(4, 1, 0.25);
        group.running[0].reported_us = 121_000_000;
        group.ask(121, |_, scene| {
            let mut yarn =
                Yarn { attempts: Vec::new(), tasks: Vec::new(), ..Yarn::new(yarn.rules) };
            scene.finished.ends().iter().for_each(|end| yarn.ended(end));
            yarn.read_reports(scene);
            let replaced_ms = 121_000 + yarn.new_attempt_ms();
            assert_eq!(replaced_ms, 221_000);
            let score = yarn.score(&scene.running[0], 121_000, replaced_ms);
            assert_eq!(score, Score::Value(260_000));
        });
    }

    #[test]
    fn the_cap_is_the_largest_of_three() {
        let yarn = Yarn::new(rules_of("yarn"));
        assert_eq!(yarn.allowed(4_000, 150), 40);
        assert_eq!(yarn.allowed(20, 20), 10);
        assert_eq!(yarn.allowed(20, 150), 15);
    }

    #[test]
    fn five_percent_must_be_over_in_32_bits() {
        for (tasks, expected) in [(20, vec![1]), (21, vec![])] {
            let mut group = Group::of("yarn", tasks);
            group.run(1, 0, 0.01).finish(0..1, 0, 10);
            assert_eq!(group.judge(100), expected, "1 of {tasks}");
        }
    }

    #[test]
    fn one_copy_per_scan_the_most_valuable_first() {
        let mut group = Group::of("yarn", 10);
        group.run(7, 0, 0.02).run(8, 0, 0.01).run(9, 0, 0.9).finish(0..7, 0, 10);
        assert_eq!(group.judge(100), [8]);
        for now_s in 101..115 {
            assert_eq!(group.judge(now_s), Vec::<u32>::new(), "15 s after a copy");
        }
        group.set(7, 0.03);
        group.waiting = 1;
        assert_eq!(group.judge(115), Vec::<u32>::new(), "a container is outstanding");
        group.waiting = 0;
        assert_eq!(group.judge(115), Vec::<u32>::new(), "1 s after none");
        assert_eq!(group.judge(116), [7]);
        assert_eq!(group.judge(131), [9], "111 s of run time left against 10");
    }

    #[test]
    fn the_first_of_equals_is_copied_and_two_attempts_are_one_task() {
        let mut group = Group::of("yarn:min_tasks=2", 4);
        group.finish(0..1, 0, 10);
        group.run(1, 0, 0.1).run(2, 50, 0.05).run(3, 0, 0.1).run(1, 90, 0.01);
        group.running.sort_by_key(|running| (running.start_us, running.task));
        for running in group.running.iter_mut().filter(|running| running.task == 1) {
            running.has_copy = true;
        }
        // Tasks 2 and 3 end at 1050 and 1000 s; one of two copies runs.
        assert_eq!(group.judge(100), [2]);
        let mut group = Group::of("yarn", 3);
        group.run(1, 0, 0.1).run(2, 0, 0.1).finish(0..1, 0, 10);
        assert_eq!(group.judge(100), [1]);
    }

    #[test]
    fn an_attempt_is_copied_once_it_has_reported_for_a_while() {
        for (age_s, expected) in [(0, [vec![9], vec![]]), (60, [vec![], vec![9]])] {
            let mut group = Group::of(&format!("yarn:age_s={age_s},min_tasks=1"), 10);
            group.finish(0..9, 0, 10);
            group.run(9, 0, 0.01);
            assert_eq!(group.judge(59), expected[0], "59 s, age_s={age_s}");
            assert_eq!(group.judge(60), expected[1], "60 s, age_s={age_s}");
        }
    }

    #[test]
    fn scans_follow_each_other_by_what_the_last_one_did() {
        // Three tasks that hang; each scan copies one.
        let scans = |text: &str| -> Vec<i64> {
            let mut group = Group::of(text, 10);
            group.run(7, 0, 0.01).run(8, 0, 0.01).run(9, 0, 0.01).finish(0..7, 0, 10);
            (100..200).filter(|&now_s| !group.judge(now_s).is_empty()).collect()
        };
        assert_eq!(scans("yarn"), [100, 115, 130], "15 s after a copy");
        assert_eq!(scans("yarn:retry_after_s=40"), [100, 140, 180]);
        // The first two scans find no task, because none is old enough.
        assert_eq!(scans("yarn:age_s=101"), [101, 116, 131], "1 s after none");
        assert_eq!(scans("yarn:age_s=101,retry_s=7"), [107, 122, 137]);
    }

    #[test]
    fn a_criterion_bounds_what_may_be_copied() {
        // Seven rates of 0.1 per s; at 100 s the rates of three are 0.009, 0.002 and 0.0001.
        let judge = |text: &str| {
            let mut group = Group::of(text, 10);
            group.run(7, 0, 0.9).run(8, 0, 0.2).run(9, 0, 0.01).finish(0..7, 0, 10);
            [group.judge(100), group.judge(115), group.judge(130)].concat()
        };
        assert_eq!(judge("yarn"), [9, 8, 7]);
        assert_eq!(judge("yarn:slow_share=0.2,slow_rate=0.5"), [9, 8], "two of ten");
        assert_eq!(judge("yarn:slow_rate=0.05"), [9, 8], "under 0.0036");
        assert_eq!(judge("yarn:slow_share=0.1"), [9]);
    }

    #[test]
    fn the_threshold_is_inert_as_coded() {
        for (mode, expected) in [("as-coded", vec![9]), ("intended", vec![])] {
            let mut group = Group::of(&format!("yarn:mode={mode},sigma=3"), 10);
            for (task, end_s) in (0..9).zip([10, 20, 30, 40, 50, 60, 70, 80, 90]) {
                group.run(task, 0, 0.0).stop(task, end_s);
            }
            // Mean 50, deviation 25.8: an estimate of 100 s is within three deviations.
            group.run(9, 90, 0.1);
            assert_eq!(group.judge(100), expected, "{mode}");
        }
    }
}

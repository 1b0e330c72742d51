//! The detector: verdicts on running attempts, from the lengths of those that finished.

use std::sync::Arc;

use super::config::{Config, Lambda, Ready, Window};
use super::pace::Pace;
use super::probability::first_rare;
use crate::replay::detectors::histogram::{Edges, Histogram, bin};
use crate::replay::detectors::support::{count_as_f64, entry};
use crate::replay::detectors::{
    Action, Detector, Ended, Family, Flag, GroupInfo, Kind, Outlook, Plan, Running, Scene,
};
use crate::units::micros_to_seconds;

/// The description of the detector.
pub(in crate::replay::detectors) const KIND: Kind = Kind {
    name: "poisson",
    about: "Asahara et al. 2013: rare in a Poisson distribution above the mode of recent lengths",
    curve: ("p", &["0.00001", "0.001", "0.005", "0.05", "0.1", "0.2", "0.4"]),
    family: Family::Others,
    steers: false,
    #[cfg(test)]
    variants: &[
        "lambda=sample,ties=low,action=copy,verdicts=1,window_s=200,p=0.2",
        "scale_s=60,estimates=1,verdicts=2",
        "window_s=9,bin_s=2,p=0.2",
        "window_s=30,bin_s=1,p=0.3,verdicts=1,action=copy",
        "scale_s=9,verdicts=2,p=0.2,stall_s=4",
    ],
    read: |notation| Ok(Arc::new(Ready::of(Config::read(notation)?))),
};

/// 64 bytes: every heartbeat reads those of all running attempts.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    reports: u32,
    /// The last heartbeat that showed it.
    beat: u32,
    reported_us: i64,
    /// The last estimate, µs, and how often in a row it was reported.
    last_us: i64,
    same: u32,
    /// The smallest of the last estimates, and of those in the current block of its ring, µs.
    smallest_us: i64,
    least_us: i64,
    /// The bin in which it is counted, or [`NO_BIN`], and the estimate of that bin, µs.
    bin: u64,
    binned_us: i64,
}

/// The abnormal verdicts in a row on an attempt, and the heartbeat of the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Verdicts {
    count: u32,
    beat: u32,
}

impl Default for Attempt {
    fn default() -> Self {
        Self {
            reports: 0,
            beat: 0,
            reported_us: 0,
            last_us: NO_ESTIMATE,
            same: 0,
            smallest_us: NO_ESTIMATE,
            least_us: NO_ESTIMATE,
            bin: NO_BIN,
            binned_us: NO_ESTIMATE,
        }
    }
}

impl Attempt {
    /// Adds an estimate. The smallest of the last `ring.len()` estimates is known without a search.
    /// When the ring is full, each entry is replaced by the minimum from its place to the end; the
    /// next estimates then overwrite the ring from the front.
    fn estimate(&mut self, ring: &mut [i64], length_us: i64) {
        self.same = if length_us == self.last_us { self.same.saturating_add(1) } else { 1 };
        self.last_us = length_us;
        let count = ring.len();
        // If all stored estimates equal the new one, it changes nothing, at any position in the
        // ring.
        if count < self.same as usize {
            return;
        }
        let place = self.reports as usize % count;
        if place == 0 {
            let mut smallest_us = NO_ESTIMATE;
            for slot in ring.iter_mut().rev() {
                smallest_us = smallest_us.min(*slot);
                *slot = smallest_us;
            }
            self.least_us = NO_ESTIMATE;
        }
        ring[place] = length_us;
        self.least_us = self.least_us.min(length_us);
        let before_us = ring.get(place + 1).copied().unwrap_or(NO_ESTIMATE);
        self.smallest_us = self.least_us.min(before_us);
        self.reports = self.reports.wrapping_add(1);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6) as i64
}

/// A number of bins as a float.
#[expect(clippy::cast_precision_loss, reason = "a limit of bins is compared with a distance")]
fn limit_as_f64(limit: u64) -> f64 {
    limit as f64
}

/// The effect of an attempt's report on the histogram.
struct Heard {
    /// The bin in which it is counted now.
    bin: u64,
    /// Whether it was in this bin at the last heartbeat.
    is_same: bool,
}

/// The number that means a missing estimate.
const NO_ESTIMATE: i64 = i64::MAX;

/// The bin of an attempt without an estimate: the highest.
const NO_BIN: u64 = u64::MAX;

struct Poisson {
    config: Config,
    /// The smallest abnormal k', if lambda is fixed.
    limit: u64,
    /// The edges of the bins, unless their width depends on the lengths.
    edges: Option<Arc<Edges>>,
    attempts: Vec<Attempt>,
    verdicts: Vec<Verdicts>,
    /// The last estimates, a ring of [`Config::estimates`] for each attempt, µs, as kept by
    /// [`Attempt::estimate`]; [`NO_ESTIMATE`] for missing ones.
    estimates: Vec<i64>,
    histogram: Histogram,
    /// Width of the bins in the histogram, s.
    width_s: f64,
    /// The range of finished attempts in the histogram.
    ended: (usize, usize),
    /// Length of the window at the last heartbeat, µs.
    window_us: i64,
    /// By position, the bin of the estimate; [`NO_BIN`] while there is none.
    bins: Vec<u64>,
    /// The number of attempts in the histogram, and of heartbeats so far.
    counted: usize,
    beats: u32,
    calm: Calm,
    pace: Pace,
}

/// The sample at the last heartbeats, if it was the same at all of them.
#[derive(Debug, Default)]
struct Calm {
    /// The running attempts.
    seen: Vec<u32>,
    mode: Option<u64>,
    ended: (usize, usize),
    /// The number of consecutive heartbeats with the same sample.
    beats: u32,
}

impl Poisson {
    /// The state before the first heartbeat.
    fn of(config: Config, limit: u64, edges: Option<Arc<Edges>>) -> Self {
        Self {
            config,
            limit,
            edges,
            attempts: Vec::new(),
            verdicts: Vec::new(),
            estimates: Vec::new(),
            histogram: Histogram::new(config.ties),
            width_s: 0.0,
            ended: (0, 0),
            window_us: 0,
            bins: Vec::new(),
            counted: 0,
            beats: 0,
            calm: Calm::default(),
            pace: Pace::default(),
        }
    }

    /// Reads a report and counts the attempt in the bin of the smallest of its last estimates.
    fn hear(&mut self, running: &Running, width_s: f64) -> Heard {
        let attempt = entry(&mut self.attempts, running.attempt);
        let before = attempt.bin;
        let was_there = attempt.beat + 1 == self.beats;
        attempt.beat = self.beats;
        if running.has_progress {
            let is_new = attempt.reports == 0 || attempt.reported_us < running.reported_us;
            if is_new && let Some(length_us) = running.estimated_length_us() {
                attempt.reported_us = running.reported_us;
                let stride = self.config.estimates as usize;
                let from = running.attempt as usize * stride;
                if self.estimates.len() < from + stride {
                    self.estimates.resize(from + stride, NO_ESTIMATE);
                }
                let ring = &mut self.estimates[from..from + stride];
                attempt.estimate(ring, length_us.min(NO_ESTIMATE - 1));
            }
            if attempt.binned_us != attempt.smallest_us {
                attempt.binned_us = attempt.smallest_us;
                attempt.bin = match &self.edges {
                    Some(edges) => edges.bin(attempt.smallest_us, before),
                    None => bin(micros_to_seconds(attempt.smallest_us), width_s),
                };
                attempt.bin = attempt.bin.min(NO_BIN - 1);
            }
        } else {
            (attempt.bin, attempt.binned_us) = (NO_BIN, NO_ESTIMATE);
        }
        let bin = attempt.bin;
        if before != bin {
            self.count(before, bin);
        }
        Heard { bin, is_same: was_there && before == bin }
    }

    /// Moves an attempt from one bin to another.
    fn count(&mut self, before: u64, bin: u64) {
        if before == NO_BIN {
            self.counted += 1;
        } else {
            self.histogram.remove(before);
        }
        if bin == NO_BIN {
            self.counted -= 1;
        } else {
            self.histogram.add(bin);
        }
    }

    /// Updates the finished attempts in the histogram.
    fn slide(&mut self, scene: &Scene<'_>, window_s: f64, width_s: f64) {
        if self.width_s != width_s {
            self.forget();
            self.width_s = width_s;
        }
        if self.config.window == Window::Auto {
            return self.grow(scene, width_s);
        }
        self.window_us = micros(window_s);
        let since_us = scene.now_us.saturating_sub(self.window_us);
        let ends = scene.finished.ends();
        let from = scene.finished.count() - scene.finished.since(since_us).len();
        let bin = |idx: usize| bin(micros_to_seconds(ends[idx].length_us()), width_s);
        for idx in self.ended.0..from.min(self.ended.1) {
            self.histogram.remove(bin(idx));
        }
        for idx in from.max(self.ended.1)..ends.len() {
            self.histogram.add(bin(idx));
        }
        self.ended = (from, ends.len());
    }

    /// The same as [`slide`](Self::slide) for a sample of all attempts that started since the last
    /// change.
    fn grow(&mut self, scene: &Scene<'_>, width_s: f64) {
        if self.pace.look(scene) {
            self.forget();
        }
        let ends = scene.finished.ends();
        for end in &ends[self.ended.1..] {
            if self.is_recent(end) {
                self.histogram.add(bin(micros_to_seconds(end.length_us()), width_s));
            }
        }
        self.ended = (0, ends.len());
    }

    /// Whether an attempt in the sample began after the last change of the system.
    fn is_recent(&self, end: &Ended) -> bool {
        self.pace.change.since_us().is_none_or(|since_us| since_us <= end.start_us)
    }

    /// Empties the histogram.
    fn forget(&mut self) {
        self.histogram.clear();
        self.ended = (0, 0);
        self.counted = 0;
        for attempt in &mut self.attempts {
            (attempt.bin, attempt.binned_us) = (NO_BIN, NO_ESTIMATE);
        }
    }

    /// Reads the reports and updates the bins of the running attempts; returns whether attempts and
    /// bins are the same as at the last heartbeat, and the highest bin.
    fn look(&mut self, scene: &Scene<'_>, width_s: f64) -> (bool, u64) {
        self.beats += 1;
        self.bins.clear();
        let (mut known, mut highest) = (0, 0);
        let mut is_same = self.calm.seen.len() == scene.running.len();
        for running in scene.running {
            let heard = self.hear(running, width_s);
            is_same = is_same && heard.is_same;
            self.bins.push(heard.bin);
            highest = highest.max(heard.bin);
            known += usize::from(heard.bin != NO_BIN);
        }
        // Some attempts have ended: removes them.
        if known < self.counted {
            for &attempt in &self.calm.seen {
                let attempt = &mut self.attempts[attempt as usize];
                if attempt.beat < self.beats && attempt.bin != NO_BIN {
                    self.histogram.remove(std::mem::replace(&mut attempt.bin, NO_BIN));
                    attempt.binned_us = NO_ESTIMATE;
                    self.counted -= 1;
                }
            }
        }
        debug_assert_eq!(known, self.counted, "only what runs is counted");
        if !is_same {
            self.calm.seen.clear();
            self.calm.seen.extend(scene.running.iter().map(|running| running.attempt));
        }
        (is_same, highest)
    }

    /// Counts consecutive heartbeats with the same sample.
    fn count_calm(&mut self, is_same: bool, mode: Option<u64>) {
        let is_same = is_same && self.calm.mode == mode && self.calm.ended == self.ended;
        self.calm.beats = if is_same { self.calm.beats.saturating_add(1) } else { 0 };
        (self.calm.mode, self.calm.ended) = (mode, self.ended);
    }

    /// Whether all stored estimates of an attempt are equal.
    fn is_even(&self, attempt: u32) -> bool {
        let attempt = self.attempts.get(attempt as usize);
        attempt.is_none_or(|known| known.reports == 0 || self.config.estimates <= known.same)
    }

    /// Whether no unflagged attempt can become abnormal while only ages grow. This holds if all
    /// ended attempts have left the window, and all estimates grow together.
    fn stays_together(&self, scene: &Scene<'_>) -> bool {
        let is_alone = self.ended.0 == scene.finished.ends().len();
        let is_known = |running: &Running| {
            let attempt = self.attempts.get(running.attempt as usize);
            attempt.is_some_and(|attempt| self.config.estimates <= attempt.reports)
        };
        if !is_alone || self.limit == 0 || !scene.running.iter().all(is_known) {
            return false;
        }
        if scene.running.len() == 1 {
            return true;
        }
        let latest_us = scene.running.iter().map(|running| running.start_us).max().unwrap_or(0);
        let is_near = |running: &Running| {
            // Estimates are ages over the same progress; one more bin for each of two roundings.
            let apart_s = micros_to_seconds(latest_us - running.start_us);
            let bins = apart_s / running.progress.value() / self.width_s + 2.0;
            matches!(self.config.lambda, Lambda::Fixed(_)) && bins < limit_as_f64(self.limit)
        };
        scene.running.iter().filter(|running| !running.has_copy).all(is_near)
    }

    /// The smallest abnormal k' for this sample.
    fn limit(&self, scene: &Scene<'_>, mode: u64) -> u64 {
        if let Lambda::Fixed(_) = self.config.lambda {
            return self.limit;
        }
        let ended = scene.finished.ends()[self.ended.0..].iter();
        let ended = ended.filter(|end| self.is_recent(end));
        let ended = ended.map(|end| bin(micros_to_seconds(end.length_us()), self.width_s));
        let (mut count, mut sum) = (0, 0_u128);
        let running = self.bins.iter().copied().filter(|&bin| bin != NO_BIN);
        for bin in ended.chain(running) {
            count += 1;
            sum += u128::from(bin.saturating_sub(mode));
        }
        #[expect(clippy::cast_precision_loss, reason = "bins are sums of far less than 2^53")]
        let lambda = sum as f64 / count_as_f64(count);
        // Without any spread, no attempt is above the mode.
        if 0.0 < lambda { first_rare(lambda, self.config.p) } else { u64::MAX }
    }
}

impl Detector for Poisson {
    fn judge(&mut self, scene: &Scene<'_>, flags: &mut Vec<Flag>) {
        let Config { window_s, bin_s, stall_s, action, .. } = self.config;
        let scale = match self.config.scale_s.0 {
            None => 1.0,
            Some(scale_s) => match scene.finished.median_s() {
                Some(median_s) if 0.0 < median_s => median_s / scale_s,
                _ => {
                    self.calm.beats = 0;
                    return;
                }
            },
        };
        let width_s = bin_s * scale;
        self.slide(scene, window_s * scale, width_s);
        let (is_same, highest) = self.look(scene, width_s);
        let mode = self.histogram.mode();
        let limit = mode.map_or(u64::MAX, |mode| self.limit(scene, mode));
        self.count_calm(is_same, mode);
        let mode = mode.unwrap_or(u64::MAX);
        // Bins from here on are abnormal. An attempt without an estimate has the highest.
        let abnormal = mode.saturating_add(limit);
        if highest < abnormal {
            return;
        }

        let first = flags.len();
        let high = (0..).zip(&self.bins).filter(|(_, bin)| abnormal <= **bin);
        for (position, &bin) in high {
            let running: &Running = &scene.running[position];
            let has_stalled = || {
                running.has_progress
                    && running.progress.done() == 0
                    && stall_s <= running.age_s(scene.now_us)
            };
            if bin == NO_BIN && !has_stalled() {
                continue;
            }
            let verdicts = entry(&mut self.verdicts, running.attempt);
            let is_again = verdicts.beat + 1 == self.beats;
            verdicts.count = if is_again { verdicts.count.saturating_add(1) } else { 1 };
            verdicts.beat = self.beats;
            if self.config.verdicts <= verdicts.count && !running.has_copy {
                flags.push(Flag { position, action });
            }
        }
        // The farthest above the mode comes first; attempts without progress come before all
        // others.
        flags[first..].sort_by_key(|flag| std::cmp::Reverse(self.bins[flag.position]));
        if action == Action::Copy {
            flags.truncate(first + scene.free_slots as usize);
        }
    }

    /// Once the sample has been the same for the required number of verdicts, it stays the same
    /// until the first ended attempt leaves the window.
    fn quiet_until_us(&self, scene: &Scene<'_>, outlook: Outlook) -> i64 {
        if self.config.window == Window::Auto {
            return scene.now_us;
        }
        let is_scaled = self.config.scale_s.0.is_some();
        if is_scaled && scene.finished.count() == 0 {
            return i64::MAX;
        }
        let remembers_few = i64::from(self.config.estimates) <= Outlook::HEARD_AGAIN;
        let stays_together = || outlook.is_stalled && self.stays_together(scene);
        if remembers_few && (outlook.is_done_with(scene) || stays_together()) {
            return i64::MAX;
        }
        let has_stalled = |running: &Running| running.has_progress && running.progress.done() == 0;
        let is_calm = self.config.verdicts <= self.calm.beats
            && !scene.running.iter().any(has_stalled)
            && scene.running.iter().all(|running| self.is_even(running.attempt));
        if !is_calm {
            return scene.now_us;
        }
        let leaves_us =
            scene.finished.ends().get(self.ended.0).map_or(i64::MAX, |end| {
                end.end_us.saturating_add(self.window_us).max(scene.now_us)
            });
        leaves_us.min(outlook.steady_until_us)
    }
}

impl Plan for Ready {
    fn build(&self, _group: &GroupInfo<'_>) -> Box<dyn Detector> {
        Box::new(Poisson::of(self.config, self.limit, self.edges.clone()))
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.config.parameters()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::detector::*;
    use super::super::probability::ln_probability;
    use crate::notation::Notation;
    use crate::replay::detectors::testing::Group;

    #[test]
    fn probabilities_are_those_of_the_paper() {
        let p = |lambda: f64, k: u64| format!("{:.4}", ln_probability(lambda, k).exp());
        assert_eq!(p(1.0, 3), "0.0613");
        assert_eq!(p(1.0, 0), "0.3679");
        assert_eq!(p(30.0, 30), "0.0726");
        for (lambda, p, expected) in
            [(1.0, 0.1, 3), (1.0, 0.05, 4), (1.0, 0.4, 1), (1.0, 0.2, 2), (2.5, 0.05, 6)]
        {
            assert_eq!(first_rare(lambda, p), expected, "{lambda} {p}");
        }
        let slow = (7..100).find(|&k| ln_probability(7.0, k).exp() < 1e-6);
        assert_eq!(Some(first_rare(7.0, 1e-6)), slow);
    }

    proptest! {
        #[test]
        fn the_smallest_of_the_last_estimates_is_known(
            lengths in vec(1_i64..6, 0..60),
            growing in any::<bool>(),
            count in 1_usize..8,
        ) {
            let (mut attempt, mut ring) = (Attempt::default(), vec![NO_ESTIMATE; count]);
            let mut so_far = Vec::new();
            for (step, length_us) in (0..).zip(lengths) {
                let length_us = if growing { step * 2 + length_us } else { length_us };
                attempt.estimate(&mut ring, length_us);
                so_far.push(length_us);
                let last = &so_far[so_far.len().saturating_sub(count)..];
                prop_assert_eq!(Some(&attempt.smallest_us), last.iter().min());
                let is_even = last.len() == count && last.iter().all(|&one| one == length_us);
                prop_assert_eq!(count <= attempt.same as usize, is_even);
            }
        }
    }

    #[test]
    fn the_third_of_the_first_example_is_abnormal() {
        // 5, 4, 20, 5, 7, 4 s with bins of 5 s: bins 2, 1, 5, 2, 2, 1 as the paper counts them.
        let mut group = Group::of("poisson:bin_s=5,p=0.1,verdicts=1", 6);
        group.run(0, 93, 0.0).stop(0, 98);
        group.run(1, 95, 0.0).stop(1, 99);
        for (task, estimate_s) in [(2, 20.0), (3, 5.0), (4, 7.0), (5, 4.0)] {
            group.run(task, 98, 2.0 / estimate_s);
        }
        assert_eq!(group.judge(100), [2]);
    }

    #[test]
    fn the_sample_of_the_second_example_is_the_last_four() {
        let config = Config::read(&mut Notation::parse("detector", "poisson").unwrap()).unwrap();
        let mut detector = Poisson::of(config, 4, None);
        let mut group = Group::of("none", 6);
        for (task, end_s) in (0..).zip([8, 11, 32, 36]) {
            group.run(task, 0, 0.0).stop(task, end_s);
        }
        group.run(4, 25, 1.0).run(5, 40, 1.0);
        group.ask(45, |_, scene| assert_eq!(scene.finished.since(15_000_000).len(), 2));
        let mut flags = Vec::new();
        let Group { running, finished, .. } = &group;
        let scene = Scene {
            now_us: 45_000_000,
            begun_us: 0,
            running,
            finished,
            task_count: 6,
            waiting: 0,
            over: 4,
            slots: 6,
            free_slots: u32::MAX,
            copies: 0,
        };
        detector.judge(&scene, &mut flags);
        assert_eq!(detector.ended, (2, 4), "T1 and T2 are forgotten");
        assert_eq!(detector.bins.len(), 2, "T5 and T6 run");
    }

    #[test]
    fn a_fast_task_is_never_abnormal() {
        for lambda in ["1", "sample", "0.01"] {
            let text = format!("poisson:verdicts=1,window_s=1000,p=1,lambda={lambda}");
            let mut group = Group::of(&text, 20);
            group.finish(0..19, 0, 500);
            group.run(19, 499, 0.9);
            assert_eq!(group.judge(500), Vec::<u32>::new(), "lambda {lambda}");
        }
    }

    #[test]
    fn a_flag_takes_several_verdicts_and_the_smallest_estimate() {
        let mut group = Group::of("poisson:window_s=1000", 20);
        group.finish(0..19, 0, 30);
        group.run(19, 30, 0.5);
        assert_eq!(group.judge(45), Vec::<u32>::new(), "on its way to 30 s");
        // Estimates of 400 s from here on; the good estimate is dropped after five reports.
        let mut flagged = None;
        for report in 1..=9 {
            let age_s = 15 + report * 3;
            group.set(19, f64::from(age_s) / 400.0);
            if flagged.is_none() && !group.judge(30 + i64::from(age_s)).is_empty() {
                flagged = Some(report);
            }
        }
        assert_eq!(flagged, Some(7), "the fifth report drops the good one, three verdicts");
    }

    #[test]
    fn a_change_of_state_is_forgotten_with_the_window() {
        for (window_s, expected) in [(30, 0), (1_000, 10)] {
            let mut group = Group::of(&format!("poisson:verdicts=1,window_s={window_s}"), 30);
            group.finish(0..20, 0, 30);
            for task in 20..30 {
                group.run(task, 30, 0.0);
            }
            assert_eq!(group.judge(40).len(), 0, "nothing is known of who runs");
            for task in 20..30 {
                group.set(task, 0.2);
            }
            assert_eq!(group.judge(61).len(), expected, "155 s after 30 s, window {window_s}");
        }
    }

    #[test]
    fn what_never_progresses_is_abnormal_after_a_minute() {
        let mut group = Group::of("poisson:verdicts=2", 2);
        group.run(0, 0, 0.0).run(1, 0, 0.5);
        assert_eq!(group.judge(59), Vec::<u32>::new());
        assert_eq!(group.judge(60), Vec::<u32>::new(), "the first verdict");
        let flags = group.flags(61);
        assert_eq!(flags, [Flag::restart(0)]);
        group.running[0].has_progress = false;
        assert_eq!(group.flags(62), [], "nobody knows");
    }

    #[test]
    fn windows_scale_with_the_lengths() {
        // Lengths ten times those of the paper's cluster: bins of 150 s instead of 15 s.
        for (text, expected) in [
            ("poisson:verdicts=1,window_s=1000", 1),
            ("poisson:verdicts=1,window_s=1000,scale_s=60", 0),
        ] {
            let mut group = Group::of(text, 20);
            group.finish(0..19, 0, 600);
            group.run(19, 500, 100.0 / 750.0);
            assert_eq!(group.judge(600).len(), expected, "{text}: 750 s against 600 s");
        }
    }

    /// Tasks of 100 s, ten at a time; from 300 s on, all take `slow_down` times as long. Returns
    /// the number of verdicts before 300 s and after it.
    fn verdicts_around_a_change(text: &str, slow_down: f64) -> (usize, usize) {
        let mut group = Group::of(text, 200);
        let (mut done, mut counts) = ([(0_u32, 0.0_f64, 0_i64); 10], (0, 0));
        for (slot, task) in done.iter_mut().zip(0..) {
            // Staggered, so that a task ends every 10 s.
            let age_s = 10 * i64::from(task);
            *slot = (task, f64::from(10 * task) / 100.0, -age_s);
            group.run(task, -age_s, slot.1);
        }
        let mut next = 10;
        for now_s in (3..=900).step_by(3) {
            let speed = if now_s <= 300 { 0.01 } else { 0.01 / slow_down };
            for (task, progress, began_s) in &mut done {
                *progress += 3.0 * speed;
                if 1.0 <= *progress {
                    group.stop(*task, now_s);
                    (*task, *progress, *began_s) = (next, 0.0, now_s);
                    group.run(next, now_s, 0.0);
                    next += 1;
                } else {
                    group.set(*task, *progress);
                }
            }
            let flags = group.flags(now_s).len();
            if now_s <= 300 { counts.0 += flags } else { counts.1 += flags }
        }
        counts
    }

    #[test]
    fn a_window_that_adapts_itself_forgets_a_change_and_nothing_else() {
        let rule = "poisson:verdicts=5,bin_s=15";
        let check = |text: &str, slow_down: f64| verdicts_around_a_change(text, slow_down);
        assert_eq!(check(&format!("{rule},window=auto"), 1.0), (0, 0), "nothing changes");
        let long = check(&format!("{rule},window_s=480"), 3.0);
        let auto = check(&format!("{rule},window=auto"), 3.0);
        assert_eq!((long.0, auto.0), (0, 0));
        assert!(0 < long.1 && 5 * auto.1 < long.1, "auto {auto:?}, 480 s {long:?}");
    }

    #[test]
    fn a_window_is_long_or_adapts_itself() {
        let parse = |text: &str| text.parse::<super::super::super::DetectorPlan>();
        let auto = parse("poisson:window=auto").unwrap().to_string();
        assert!(auto.starts_with("poisson:window=auto,bin_s=15,"), "{auto}");
        assert_eq!(parse(&auto).unwrap().to_string(), auto);
        assert_eq!(
            parse("poisson:window=auto,window_s=60").unwrap_err().to_string(),
            "detector `poisson`: `window_s=60` is not used with `window=auto`: leave it out"
        );
    }
}

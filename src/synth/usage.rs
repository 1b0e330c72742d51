//! Usage windows: one row per task and 300 s of the clock while an attempt runs.
//!
//! In: the attempts of a task. Out: rows of `task_usage`, and the windows as written for the truth.
//! Windows are aligned to multiples of 300 s and cut at the start and end of the attempt. As in the
//! real trace, these are often rounded outwards to full seconds. Windows use the second random
//! stream of the job, so the other tables do not depend on whether usage is written.

use super::account::{Attempt, UsageWindow};
use super::config::WINDOW_START;
use super::draw::{Draws, Stream};
use super::scene::Scene;
use super::shape::Quirk;
use super::spill::RowBuffer;
use super::text::{push_float, push_g4, push_int, push_time};
use super::units::{DAY, SECOND, micros};

const WINDOW: i64 = 300 * SECOND;

/// Disk times exist for about the first 14 days of the real trace.
const DISK_TIMES_END: i64 = WINDOW_START + 14 * DAY;

/// The random streams of one job's usage.
pub(super) struct UsageDraws {
    usage: Draws,
    /// Decides which rows are duplicated; only in a dirty trace.
    duplicates: Option<Draws>,
}

impl UsageDraws {
    pub(super) fn new(scene: &Scene, job_number: u64) -> Self {
        let seed = scene.config.seed;
        Self {
            usage: Draws::new(seed, Stream::Usage, job_number),
            duplicates: scene
                .is_dirty()
                .then(|| Draws::new(seed, Stream::DuplicateUsage, job_number)),
        }
    }

    fn doubles_row(&mut self) -> bool {
        self.duplicates.as_mut().is_some_and(|draws| draws.chance(0.000_5))
    }
}

/// A task with written usage, and its level of use.
pub(super) struct Consumer {
    job_id: u64,
    task_index: u32,
    quirk: Quirk,
    cpu: f64,
    memory: f64,
    disk_time: f64,
}

impl Consumer {
    pub(super) fn draw(
        (job_id, task_index): (u64, u32),
        quirk: Quirk,
        cpu_request: Option<&str>,
        draws: &mut UsageDraws,
    ) -> Self {
        let draws = &mut draws.usage;
        let request = cpu_request.and_then(|text| text.parse().ok()).unwrap_or(0.02_f64);
        Self {
            job_id,
            task_index,
            quirk,
            cpu: (request.max(0.001) * draws.lognormal(0.25, 1.0)).min(0.9),
            memory: draws.lognormal(0.012, 1.2).min(0.8),
            disk_time: draws.lognormal(0.000_2, 1.5),
        }
    }

    /// Writes the windows of all `attempts`; `draws` is the job's usage stream.
    pub(super) fn write(
        &self,
        scene: &Scene,
        attempts: &[Attempt],
        draws: &mut UsageDraws,
        rows: &mut RowBuffer,
    ) -> Vec<UsageWindow> {
        let mut windows = Vec::new();
        if self.quirk == Quirk::NoUsage {
            return windows;
        }
        for attempt in attempts {
            // Sampling misses half of the runs that are shorter than 30 s.
            if attempt.end - attempt.start < 30 * SECOND && draws.usage.chance(0.5) {
                continue;
            }
            let (start, end) = self.sampled_span(scene, attempt, &mut draws.usage);
            let mut from = start;
            while from < end {
                let to = end.min(from - from % WINDOW + WINDOW);
                if !draws.usage.chance(0.003) {
                    windows.push(self.write_window((from, to), attempt.machine, draws, rows));
                }
                if self.quirk == Quirk::OverlappingUsage
                    && to - from > SECOND
                    && draws.usage.chance(0.3)
                {
                    let again = (from + (to - from) / 3, to);
                    windows.push(self.write_window(again, attempt.machine, draws, rows));
                }
                from = to;
            }
        }
        windows
    }

    /// The sampled span: the attempt, mostly rounded outwards, sometimes longer.
    fn sampled_span(&self, scene: &Scene, attempt: &Attempt, draws: &mut Draws) -> (i64, i64) {
        let (mut start, mut end) = (attempt.start, attempt.end);
        if draws.chance(0.7) {
            start -= start % SECOND;
        }
        if draws.chance(0.7) {
            end += (SECOND - end % SECOND) % SECOND;
        }
        if self.quirk == Quirk::LateUsage {
            end += micros(draws.between(5.0, 120.0));
        }
        (start.max(WINDOW_START), end.min(scene.window.last_event()))
    }

    fn write_window(
        &self,
        (start, end): (i64, i64),
        machine: u64,
        draws: &mut UsageDraws,
        rows: &mut RowBuffer,
    ) -> UsageWindow {
        let has_rate = !draws.usage.chance(if self.quirk == Quirk::NoRate { 0.4 } else { 0.001 });
        let bits = draws.usage.bits();
        let rate = self.cpu * draws.usage.lognormal(1.0, 0.25);
        let mut written = None;
        rows.push(start, |out| {
            for time in [start, end] {
                push_time(out, time);
                out.push(b',');
            }
            for number in [self.job_id, u64::from(self.task_index), machine] {
                push_int(out, number);
                out.push(b',');
            }
            if has_rate {
                written = Some(push_float(out, rate));
            }
            self.push_rest(out, rate, start, Jitter(bits));
        });
        let is_doubled = draws.doubles_row();
        if is_doubled {
            rows.repeat_last();
        }
        UsageWindow { start, end, machine, rate: written, is_doubled }
    }

    /// Columns 7 to 20.
    fn push_rest(&self, out: &mut Vec<u8>, rate: f64, start: i64, jitter: Jitter) {
        let memory = self.memory;
        let floats = [
            Some(memory * jitter.at(0)),
            Some(memory * 1.15 * jitter.at(1)),
            Some(memory * 0.02 * jitter.at(2)),
            Some(memory * 0.03 * jitter.at(3)),
            Some(memory * 1.2 * jitter.at(0)),
            (start < DISK_TIMES_END).then(|| self.disk_time * jitter.at(4)),
            Some(0.000_19 * jitter.at(5)),
            Some(rate * 2.5 * jitter.at(6)),
            (start < DISK_TIMES_END).then(|| self.disk_time * 8.0 * jitter.at(6)),
            jitter.is_usual(4).then(|| 2.4 * jitter.at(2) * jitter.at(5)),
            jitter.is_usual(4).then(|| 0.009 * jitter.at(3) * jitter.at(1)),
            Some(if jitter.is_usual(6) { 0.0 } else { 0.003 * jitter.at(1) }),
        ];
        for float in floats {
            out.push(b',');
            if let Some(value) = float {
                push_g4(out, value);
            }
        }
        out.extend_from_slice(if jitter.is_usual(1) { b",1," } else { b",0," });
        push_g4(out, rate * jitter.at(7));
    }
}

/// Eight small random factors from one draw.
#[derive(Clone, Copy)]
struct Jitter(u64);

impl Jitter {
    fn byte(self, index: usize) -> u8 {
        self.0.to_le_bytes()[index]
    }

    /// Between 0.8 and 1.2.
    fn at(self, index: usize) -> f64 {
        0.8 + f64::from(self.byte(index)) / 640.0
    }

    /// True in about 19 of 20 cases.
    fn is_usual(self, index: usize) -> bool {
        self.byte(index) >= 13
    }
}

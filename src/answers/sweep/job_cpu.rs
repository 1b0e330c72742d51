//! The CPU of one job over time: what its running attempts requested, and what they used.
//!
//! In: the attempts of its tasks, then its usage windows in any order. Out: the mean of each
//! interval. Only the part of a window inside an attempt counts, as for `account`, so the means
//! times the length of an interval add up to the measured CPU of the job. Windows are not stored.
//!
//! ```text
//!  attempts      |-------- 1 --------|     |------ 2 ------|
//!  windows    |====|====|====|                 |====|====|
//!  intervals     |     |     |     |     |     |     |     |
//!  used          known known none  none  none  known known
//! ```

use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::facts::tasks::TaskView;
use crate::units::{AFTER_TRACE_US, CpuRate, CpuTime, micros_to_seconds};

/// The number of intervals.
const INTERVALS: usize = 32;

/// The number of spans of a task that are collected before touching ones are joined.
const SPANS_MAX: usize = 1024;

/// The CPU of a job over time, as the mean of each interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobCpu {
    /// The start of the first interval, s.
    pub start_s: f64,
    /// The length of each interval, s.
    pub interval_s: f64,
    /// The CPU that its running attempts requested; empty if no request is known.
    pub requested: Vec<f64>,
    /// The CPU that its running attempts used; `None` if no usage is recorded.
    #[serde(default)]
    pub used: Option<JobUse>,
}

/// The measured CPU of a job over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobUse {
    /// The mean of each interval; `None` if no usage is recorded in it.
    pub means: Vec<Option<f64>>,
    /// The total, CPU-seconds.
    pub cpu_s: f64,
    /// The CPU that the attempts requested in the recorded time, CPU-seconds; `None` if an attempt
    /// has no request.
    pub requested_cpu_s: Option<f64>,
    /// The share of the time of its attempts for which usage is recorded.
    pub recorded_share: f64,
}

/// The CPU time of the attempts of a job, as the log records it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToldUse {
    /// CPU-seconds.
    pub cpu_s: f64,
    /// The CPU that the same attempts requested, CPU-seconds.
    pub requested_cpu_s: f64,
    /// Number of attempts for which the log records CPU time.
    pub attempts: u64,
}

/// The data about a job that is gathered before its intervals are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    attempts: Vec<Attempted>,
    /// The position of each task in `tasks`, which contains the range of its attempts.
    places: FxHashMap<i32, usize>,
    tasks: Vec<Range<usize>>,
    told: [CpuTime; 2],
    told_count: u64,
}

/// The time for which an attempt ran, µs, and its request.
#[derive(Clone, Copy, Debug)]
struct Attempted {
    span: [i64; 2],
    rate: CpuRate,
    says_request: bool,
}

impl Gathered {
    /// Adds a task.
    pub(super) fn add(&mut self, task: &TaskView<'_>) {
        let first = self.attempts.len();
        self.attempts.extend(task.attempts.iter().map(|attempt| Attempted {
            span: [attempt.start_us, attempt.end_us],
            rate: attempt.requested_rate(),
            says_request: attempt.cpu_request.is_some(),
        }));
        self.places.insert(task.task_index, self.tasks.len());
        self.tasks.push(first..self.attempts.len());
        for attempt in task.attempts {
            let Some(used) = attempt.cpu_used else { continue };
            self.told[0] += used;
            self.told[1] += attempt.requested_rate().over(attempt.length_us());
            self.told_count += 1;
        }
    }

    /// The CPU time that a log records for its attempts, if it records any.
    pub(super) fn told(&self) -> Option<ToldUse> {
        let [cpu_s, requested_cpu_s] = self.told.map(CpuTime::seconds);
        let told = ToldUse { cpu_s, requested_cpu_s, attempts: self.told_count };
        (0 < told.attempts).then_some(told)
    }

    /// The intervals, after all tasks are added; `None` if no task ran.
    pub(super) fn over_time(self) -> Option<OverTime> {
        let grid = Grid::of(&self.attempts)?;
        let recorded = vec![Recorded::default(); self.tasks.len()];
        Some(OverTime { grid, job: self, used: vec![(CpuTime::ZERO, 0); INTERVALS], recorded })
    }
}

/// Intervals of the same length.
#[derive(Clone, Copy, Debug)]
struct Grid {
    from_us: i64,
    length_us: i64,
}

impl Grid {
    /// The grid from the first start to the last known instant; `None` if an interval would be
    /// shorter than 1 µs.
    fn of(attempts: &[Attempted]) -> Option<Self> {
        let known = || attempts.iter().filter(|own| own.span[0] < AFTER_TRACE_US);
        let from_us = known().map(|own| own.span[0]).min()?;
        let ends = known().flat_map(|own| own.span).filter(|at_us| *at_us < AFTER_TRACE_US);
        let to_us = ends.max()?;
        #[expect(clippy::cast_possible_wrap, reason = "a small constant")]
        let count = INTERVALS as i64;
        if to_us - from_us < count {
            return None;
        }
        // Rounded up, so that the last interval includes the end.
        Some(Self { from_us, length_us: (to_us - from_us + count - 1) / count })
    }

    /// The parts of a span in each interval that it reaches, µs.
    fn parts(self, [start_us, end_us]: [i64; 2]) -> impl Iterator<Item = (usize, i64)> {
        let first = (start_us - self.from_us).max(0) / self.length_us;
        let first = usize::try_from(first).unwrap_or(INTERVALS).min(INTERVALS);
        let begins = (first..INTERVALS).map(move |place| {
            #[expect(clippy::cast_possible_wrap, reason = "a small number")]
            let begin_us = self.from_us + place as i64 * self.length_us;
            (place, begin_us)
        });
        begins
            .take_while(move |(_, begin_us)| *begin_us < end_us)
            .map(move |(place, begin_us)| {
                (place, end_us.min(begin_us + self.length_us) - start_us.max(begin_us))
            })
            .filter(|(_, length_us)| 0 < *length_us)
    }
}

/// A job whose intervals are known.
#[derive(Clone, Debug)]
pub(super) struct OverTime {
    grid: Grid,
    job: Gathered,
    /// By interval, the used CPU, and the time for which usage is recorded, µs.
    used: Vec<(CpuTime, i64)>,
    /// By task, the time for which its usage is recorded.
    recorded: Vec<Recorded>,
}

impl OverTime {
    /// Adds the parts of a usage window of a task that are inside attempts.
    pub(super) fn add_window(&mut self, task_index: i32, [start_us, end_us]: [i64; 2], rate: f32) {
        let Some(&task) = self.job.places.get(&task_index) else { return };
        let (own, rate) = (&self.job.attempts[self.job.tasks[task].clone()], CpuRate::new(rate));
        for attempt in running_in(own, [start_us, end_us]) {
            let inside = [start_us.max(attempt.span[0]), end_us.min(attempt.span[1])];
            for (place, length_us) in self.grid.parts(inside) {
                self.used[place].0 += rate.over(length_us);
                self.used[place].1 += length_us;
            }
            if inside[0] < inside[1] {
                self.recorded[task].add(inside);
            }
        }
    }

    /// The means. `None` if no use is recorded and requests show nothing. This is so if there is
    /// only one attempt, whose request is constant, or if no request is known.
    #[expect(clippy::cast_precision_loss, reason = "lengths of time are below 2^53")]
    pub(super) fn ended(mut self) -> Option<JobCpu> {
        let used = self.take_use();
        let attempts = &self.job.attempts;
        let says_nothing = attempts.iter().all(|own| own.rate == CpuRate::ZERO);
        if used.is_none() && (attempts.len() < 2 || says_nothing) {
            return None;
        }
        let mut requested = vec![CpuTime::ZERO; INTERVALS];
        for own in attempts {
            for (place, length_us) in self.grid.parts(own.span) {
                requested[place] += own.rate.over(length_us);
            }
        }
        if says_nothing {
            requested.clear();
        }
        let length_s = self.grid.length_us as f64 / 1e6;
        Some(JobCpu {
            start_s: micros_to_seconds(self.grid.from_us),
            interval_s: micros_to_seconds(self.grid.length_us),
            requested: requested.into_iter().map(|sum| sum.seconds() / length_s).collect(),
            used,
        })
    }

    /// The used CPU; `None` if no usage is recorded.
    #[expect(clippy::cast_precision_loss, reason = "lengths of time are below 2^53")]
    fn take_use(&mut self) -> Option<JobUse> {
        let length_s = self.grid.length_us as f64 / 1e6;
        let (mut recorded_us, mut requested, mut says_all) = (0_i64, CpuTime::ZERO, true);
        for (task, recorded) in self.job.tasks.iter().zip(&mut self.recorded) {
            let own = &self.job.attempts[task.clone()];
            for span in recorded.joined() {
                recorded_us += span[1] - span[0];
                // Windows are cut at the ends of attempts, but the spans of two touching attempts
                // are joined.
                for attempt in running_in(own, *span) {
                    let inside = span[1].min(attempt.span[1]) - span[0].max(attempt.span[0]);
                    requested += attempt.rate.over(inside);
                    says_all &= attempt.says_request;
                }
            }
        }
        if recorded_us == 0 {
            return None;
        }
        let ran_us: i64 =
            self.job.attempts.iter().map(|own| (own.span[1] - own.span[0]).max(0)).sum();
        let mean = |(sum, recorded_us): &(CpuTime, i64)| {
            (0 < *recorded_us).then(|| sum.seconds() / length_s)
        };
        Some(JobUse {
            means: self.used.iter().map(mean).collect(),
            cpu_s: self.used.iter().map(|own| own.0).sum::<CpuTime>().seconds(),
            requested_cpu_s: says_all.then(|| requested.seconds()),
            recorded_share: recorded_us as f64 / ran_us as f64,
        })
    }
}

/// The attempts of a task that run in a span, in order.
fn running_in(attempts: &[Attempted], span: [i64; 2]) -> impl Iterator<Item = &Attempted> {
    let first = attempts.partition_point(|attempt| attempt.span[1] <= span[0]);
    attempts[first..].iter().take_while(move |attempt| attempt.span[0] < span[1])
}

/// The time for which something is recorded. Spans may overlap and come in any order.
#[derive(Clone, Debug, Default)]
struct Recorded(Vec<[i64; 2]>);

impl Recorded {
    fn add(&mut self, span: [i64; 2]) {
        match self.0.last_mut() {
            // The windows of a task follow each other, so most of them extend the last span.
            Some(last) if last[0] <= span[0] && span[0] <= last[1] => {
                last[1] = last[1].max(span[1]);
            }
            _ => {
                self.0.push(span);
                if self.0.len().is_multiple_of(SPANS_MAX) {
                    self.joined();
                }
            }
        }
    }

    /// The spans in order; no two of them touch.
    fn joined(&mut self) -> &[[i64; 2]] {
        self.0.sort_unstable();
        let spans = std::mem::take(&mut self.0);
        for span in spans {
            match self.0.last_mut() {
                Some(last) if span[0] <= last[1] => last[1] = last[1].max(span[1]),
                _ => self.0.push(span),
            }
        }
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::tasks::{Attempt, EndedBy, Spent, Window};

    const SECOND: i64 = 1_000_000;

    fn attempt([start_us, end_us]: [i64; 2], cpu_request: Option<f32>) -> Attempt {
        Attempt {
            start_us,
            end_us,
            ended_by: EndedBy::Nothing,
            cpu_request,
            memory: None,
            gpus: None,
            cpu_used: None,
            requested_us: None,
            ran_us: None,
            machine_id: None,
            row: 0,
        }
    }

    fn gathered(tasks: &[Vec<Attempt>]) -> Gathered {
        let mut found = Gathered::default();
        for (task_index, attempts) in (0..).zip(tasks) {
            found.add(&TaskView {
                job_id: 1,
                task_index,
                events: &[],
                attempts,
                windows: &[],
                priority: 0,
                phase: None,
                requested_us: None,
                job_end_us: None,
            });
        }
        found
    }

    fn cpu(attempts: &[([i64; 2], f32)]) -> Option<JobCpu> {
        let tasks = attempts.iter().map(|&(span, rate)| vec![attempt(span, Some(rate))]);
        gathered(&tasks.collect::<Vec<_>>()).over_time()?.ended()
    }

    #[test]
    fn requests_add_up_over_the_time_of_a_job() {
        //  |--- 1 CPU ---|
        //          |--- 2 CPU ---|
        //  0       16   32      48   s
        let held = [([0, 32 * SECOND], 1.0), ([16 * SECOND, 48 * SECOND], 2.0)];
        let found = cpu(&held).unwrap();
        assert_eq!((found.start_s, found.interval_s), (0.0, 1.5));
        assert_eq!((found.requested[0], found.requested[31]), (1.0, 2.0));
        assert_eq!(found.requested[15], 3.0);
        let sum: f64 = found.requested.iter().sum::<f64>() * found.interval_s;
        assert!((sum - 96.0).abs() < 1e-9);
        // An attempt that ends after the trace counts up to the last known instant.
        let open = [held[0], ([16 * SECOND, i64::MAX], 1.0)];
        let found = cpu(&open).unwrap();
        assert_eq!((found.interval_s, found.requested[31]), (1.0, 2.0));
        assert_eq!(cpu(&held[..1]), None, "one attempt is even");
        assert_eq!(cpu(&[([0, SECOND], 0.0); 2]), None, "nothing is known");
    }

    #[test]
    fn use_is_known_where_it_is_recorded() {
        //  attempt   0 |-------- 2 CPU --------| 64 s      intervals of 2 s
        //  windows     |==1==|  8 to 16: |==3==|  -> 24    nothing after 24 s
        let mut job = gathered(&[vec![attempt([0, 64 * SECOND], Some(2.0))]]).over_time().unwrap();
        job.add_window(0, [-5 * SECOND, 8 * SECOND], 1.0);
        job.add_window(0, [15 * SECOND, 24 * SECOND], 3.0);
        job.add_window(7, [0, 64 * SECOND], 9.0);
        let found = job.ended().unwrap();
        let used = found.used.unwrap();
        assert_eq!(used.means[..4], [Some(1.0); 4]);
        assert_eq!(used.means[4..7], [None; 3]);
        assert_eq!(used.means[7], Some(1.5), "half of its interval");
        assert_eq!((used.means[8], used.means[12]), (Some(3.0), None));
        assert_eq!((used.cpu_s, used.requested_cpu_s), (35.0, Some(34.0)));
        assert!((used.recorded_share - 17.0 / 64.0).abs() < 1e-12);
    }

    /// A task: its attempts, and windows with their rates.
    type Drawn = (Vec<Attempt>, Vec<([i64; 2], f32)>);

    /// Attempts that follow each other, and windows anywhere, of some tasks.
    fn tasks() -> impl Strategy<Value = Vec<Drawn>> {
        let attempts = prop::collection::vec((0_i64..50, 1_i64..5_000, 0_u16..40), 1..6);
        let attempts = attempts.prop_map(|drawn| {
            let mut at_us = 0;
            drawn
                .into_iter()
                .map(|(wait_us, length_us, rate)| {
                    let start_us = at_us + wait_us;
                    at_us = start_us + length_us;
                    attempt([start_us, at_us], Some(f32::from(rate) / 7.0))
                })
                .collect::<Vec<_>>()
        });
        let window = (-100_i64..9_000, 0_i64..3_000, 0_u16..90);
        let window = window.prop_map(|(start_us, length_us, rate)| {
            ([start_us, start_us + length_us], f32::from(rate) / 11.0)
        });
        prop::collection::vec((attempts, prop::collection::vec(window, 0..12)), 1..5)
    }

    proptest! {
        #[test]
        fn means_add_up_to_the_measured_cpu(drawn in tasks()) {
            let attempts: Vec<Vec<Attempt>> = drawn.iter().map(|task| task.0.clone()).collect();
            let Some(mut job) = gathered(&attempts).over_time() else { return Ok(()) };
            let (mut measured, mut recorded_us, mut ran_us) = (CpuTime::ZERO, 0_i64, 0_i64);
            for (index, (attempts, windows)) in (0..).zip(&drawn) {
                for &(span, rate) in windows {
                    job.add_window(index, span, rate);
                }
                let mut own: Vec<Window> = windows
                    .iter()
                    .map(|&([start_us, end_us], rate)| Window { start_us, end_us, rate, memory: 0.0, row_id: 0 })
                    .collect();
                own.sort_by_key(|window| window.start_us);
                let mut spent = Spent::default();
                spent.of_windows(&own, attempts);
                measured += spent.total();
                // Counts the recorded time microsecond by microsecond.
                for attempt in attempts {
                    ran_us += attempt.length_us();
                    let is_known = |at_us: &i64| own.iter().any(|it| (it.start_us..it.end_us).contains(at_us));
                    let known = (attempt.start_us..attempt.end_us).filter(is_known).count();
                    recorded_us += i64::try_from(known).unwrap();
                }
            }
            let used = job.ended().and_then(|found| Some((found.interval_s, found.used?)));
            prop_assert_eq!(used.is_some(), 0 < recorded_us);
            let Some((interval_s, used)) = used else { return Ok(()) };
            prop_assert_eq!(used.cpu_s, measured.seconds());
            let sum: f64 = used.means.iter().flatten().sum::<f64>() * interval_s;
            prop_assert!((sum - used.cpu_s).abs() <= 1e-9 * used.cpu_s.max(1e-9), "{} {}", sum, used.cpu_s);
            prop_assert!((used.recorded_share - micros_to_seconds(recorded_us) / micros_to_seconds(ran_us)).abs() < 1e-12);
        }
    }
}

//! Hours in which the cluster's state shifts, and false alarms inside and outside of them.
//!
//! In: ends and lengths of finished tasks, times that attempts ran, and times of false alarms. Out:
//! for each hour in which a judged task finished, the typical length of tasks; the hours that
//! differ from those before; and per detector, false alarms per task-hour inside and outside of
//! them. The paper on the Poisson detector (Asahara and others, 2013) argues that a change of state
//! causes false alarms.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::studies::quantile;

/// Microseconds of an hour.
const HOUR_US: i64 = 3_600_000_000;

/// How a shift is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShiftPlan {
    /// The factor of a shift: the median is this many times larger or smaller than in the hours
    /// before.
    pub factor: f64,
    /// The number of previous hours to compare with (by the median of their medians).
    pub hours_before: usize,
    /// The fewest finished tasks of an hour; hours with fewer are ignored.
    pub tasks_min: usize,
}

impl Default for ShiftPlan {
    fn default() -> Self {
        Self { factor: 1.5, hours_before: 6, tasks_min: 30 }
    }
}

/// Sums by hour; a task of many years takes no more memory than one of an hour.
#[derive(Clone, Debug, Default)]
pub struct Hours {
    /// By hour, the lengths of the tasks that finished in it, s.
    lengths_s: BTreeMap<i64, Vec<f64>>,
    /// By hour, the time of attempts that ran only in part of it, µs.
    running_us: BTreeMap<i64, i128>,
    /// By hour, the change in the number of attempts that run all of it.
    filled: BTreeMap<i64, i64>,
    /// False alarms, by detector and hour.
    false_alarms: Vec<BTreeMap<i64, u64>>,
}

impl Hours {
    /// No sums, for `detector_count` detectors.
    pub fn new(detector_count: usize) -> Self {
        Self { false_alarms: vec![BTreeMap::new(); detector_count], ..Self::default() }
    }

    /// Adds a finished task.
    pub fn finished(&mut self, end_us: i64, length_s: f64) {
        self.lengths_s.entry(end_us / HOUR_US).or_default().push(length_s);
    }

    /// Adds an attempt.
    pub fn ran(&mut self, start_us: i64, end_us: i64) {
        let (first, last) = (start_us / HOUR_US, end_us / HOUR_US);
        let mut ran = |hour: i64, micros: i64| {
            if 0 < micros {
                *self.running_us.entry(hour).or_insert(0) += i128::from(micros);
            }
        };
        if first == last {
            ran(first, end_us - start_us);
            return;
        }
        ran(first, HOUR_US - start_us % HOUR_US);
        ran(last, end_us % HOUR_US);
        if first + 1 < last {
            *self.filled.entry(first + 1).or_insert(0) += 1;
            *self.filled.entry(last).or_insert(0) -= 1;
        }
    }

    /// Adds a flag on a task that is not a straggler.
    pub fn false_alarm(&mut self, detector: usize, time_us: i64) {
        *self.false_alarms[detector].entry(time_us / HOUR_US).or_insert(0) += 1;
    }

    /// Finds the shifts.
    pub fn outcome(mut self, plan: ShiftPlan, detectors: &[String]) -> Shifts {
        let mut medians: BTreeMap<i64, f64> = BTreeMap::new();
        for (&hour, lengths) in &mut self.lengths_s {
            lengths.sort_by(f64::total_cmp);
            if plan.tasks_min <= lengths.len() {
                medians.extend(quantile(lengths, 0.5).map(|median| (hour, median)));
            }
        }
        let (mut changes, mut filled) = (self.filled.iter().peekable(), 0_i64);
        let hours: Vec<HourRow> = self
            .lengths_s
            .iter()
            .map(|(&hour, lengths)| {
                while let Some((_, change)) = changes.next_if(|change| *change.0 <= hour) {
                    filled += change;
                }
                let ratio = ratio_to_before(&medians, hour, plan);
                let part_us = self.running_us.get(&hour).copied().unwrap_or(0);
                HourRow {
                    hour: hour.unsigned_abs(),
                    finished_tasks: lengths.len() as u64,
                    length_median_s: medians.get(&hour).copied(),
                    ratio_to_before: ratio,
                    is_shift: ratio.map(|ratio| plan.factor <= ratio || ratio <= 1.0 / plan.factor),
                    task_hours: hours_of(part_us + i128::from(filled) * i128::from(HOUR_US)),
                }
            })
            .collect();
        let rows = detectors
            .iter()
            .zip(&self.false_alarms)
            .map(|(detector, alarms)| ShiftRow::new(detector, alarms, &hours))
            .collect();
        Shifts { plan, hours, rows }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a sum of hours is a rough figure")]
fn hours_of(micros: i128) -> f64 {
    micros as f64 / 3.6e9
}

/// An hour's median over the median of the hours before; `None` if there is nothing to compare.
fn ratio_to_before(medians: &BTreeMap<i64, f64>, hour: i64, plan: ShiftPlan) -> Option<f64> {
    let first = hour.saturating_sub(i64::try_from(plan.hours_before).unwrap_or(i64::MAX));
    let mut before: Vec<f64> = medians.range(first..hour).map(|(_, &median)| median).collect();
    before.sort_by(f64::total_cmp);
    let typical = quantile(&before, 0.5).filter(|&typical| 0.0 < typical)?;
    Some(medians.get(&hour)? / typical)
}

/// The state of the cluster hour by hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shifts {
    /// How a shift is recognised.
    pub plan: ShiftPlan,
    /// The hours of the trace clock in which a judged task finished.
    pub hours: Vec<HourRow>,
    /// Rows by detector.
    pub rows: Vec<ShiftRow>,
}

/// One hour of the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HourRow {
    /// Hours since time 0.
    pub hour: u64,
    /// Judged tasks that finished in the hour.
    pub finished_tasks: u64,
    /// The median length of these tasks, s.
    pub length_median_s: Option<f64>,
    /// `length_median_s` over the median of the hours before.
    pub ratio_to_before: Option<f64>,
    /// Whether the hour is a shift; null if there is nothing to compare with.
    pub is_shift: Option<bool>,
    /// Time that attempts ran in the hour, in hours.
    pub task_hours: f64,
}

/// False alarms of a detector in hours with and without a shift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShiftRow {
    /// The detector.
    pub detector: String,
    /// False alarms in hours of a shift.
    pub in_shift: u64,
    /// False alarms in the other comparable hours.
    pub in_calm: u64,
    /// False alarms in hours that cannot be compared with the hours before, because they have too
    /// few finished tasks or no hour before. They have no rate. 0 in older results.
    #[serde(default)]
    pub in_neither: u64,
    /// False alarms per task-hour in hours of a shift.
    pub rate_in_shift: Option<f64>,
    /// False alarms per task-hour in the other hours.
    pub rate_in_calm: Option<f64>,
}

impl ShiftRow {
    fn new(detector: &str, alarms: &BTreeMap<i64, u64>, hours: &[HourRow]) -> Self {
        let sum = |is_shift: bool| {
            let alarms_in = |row: &HourRow| {
                let hour = i64::try_from(row.hour).ok();
                hour.and_then(|hour| alarms.get(&hour)).copied().unwrap_or(0)
            };
            hours
                .iter()
                .filter(|row| row.is_shift == Some(is_shift))
                .fold((0, 0.0), |(count, task_hours), row| {
                    (count + alarms_in(row), task_hours + row.task_hours)
                })
        };
        #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
        let rate =
            |(count, task_hours): (u64, f64)| (0.0 < task_hours).then(|| count as f64 / task_hours);
        let (shift, calm) = (sum(true), sum(false));
        Self {
            detector: detector.to_owned(),
            in_shift: shift.0,
            in_calm: calm.0,
            in_neither: alarms.values().sum::<u64>() - shift.0 - calm.0,
            rate_in_shift: rate(shift),
            rate_in_calm: rate(calm),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_reported_by_the_hours_before_and_alarms_are_split_by_it() {
        let mut hours = Hours::new(1);
        // Three hours of 100 s tasks, one of 200 s tasks, one with too few tasks.
        for (hour, length_s, count) in
            [(0, 100.0, 3), (1, 100.0, 3), (2, 100.0, 3), (3, 200.0, 3), (4, 900.0, 1)]
        {
            (0..count).for_each(|_| hours.finished(hour * HOUR_US + 5, length_s));
        }
        hours.ran(HOUR_US / 2, 4 * HOUR_US);
        hours.false_alarm(0, 3 * HOUR_US);
        hours.false_alarm(0, 3 * HOUR_US + 9);
        hours.false_alarm(0, HOUR_US);
        // An hour that cannot be compared counts in neither.
        hours.false_alarm(0, HOUR_US / 2);
        let plan = ShiftPlan { factor: 1.5, hours_before: 2, tasks_min: 2 };
        let shifts = hours.outcome(plan, &["x".to_owned()]);
        let is_shift: Vec<Option<bool>> = shifts.hours.iter().map(|row| row.is_shift).collect();
        assert_eq!(is_shift, [None, Some(false), Some(false), Some(true), None]);
        assert_eq!(shifts.hours[0].task_hours, 0.5);
        assert_eq!(shifts.rows[0].in_shift, 2);
        assert_eq!(shifts.rows[0].in_calm, 1);
        assert_eq!(shifts.rows[0].in_neither, 1);
        assert_eq!(shifts.rows[0].rate_in_shift, Some(2.0));
        assert_eq!(shifts.rows[0].rate_in_calm, Some(0.5));
    }
}

//! Distributions of durations and counts per outcome, survival curves, and chances.
//!
//! In: counted whole numbers per outcome. Out: summaries, cumulative curves, Kaplan-Meier curves
//! and the chance to finish after a number of events. Quantiles are R-7; variances are population
//! variances.

use std::iter::repeat;

use serde::Serialize;

use super::counted::{Counted, Value};
use super::kaplan_meier::{KaplanMeier, Left, Z_95};

/// One line of a table of distributions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The group, if values are split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The outcome of the jobs, or `all`.
    pub outcome: String,
    /// Number of values.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Population variance.
    pub variance: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Lower quartile.
    pub p25: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// Upper quartile.
    pub p75: Option<f64>,
    /// 90 % quantile.
    pub p90: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Censored values; the true values are larger.
    pub censored: u64,
    /// The statistics that are lower bounds, such as `mean,p99,max`. The reason is censored values,
    /// or values that are partly before the window. The variance is not a bound in this case: the
    /// true variance may be larger or smaller.
    pub at_least: String,
    /// Waits that ended without an attempt; `None` for other quantities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_waiting: Option<u64>,
    /// Attempts that ran longer than requested; `None` for other quantities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overruns: Option<u64>,
    /// Values that began before the window (at time 0). They are included as written.
    pub left_censored: u64,
}

/// Summarises values; one unit as shown is `per_unit` stored amounts.
#[expect(clippy::cast_precision_loss, reason = "amounts are below 2^53; sums are taken in i128")]
pub fn summarize(outcome: &str, values: &Counted, per_unit: f64) -> Summary {
    let count = values.count(|_| true);
    let sum: i128 = values.runs().map(|run| i128::from(run.0.amount()) * i128::from(run.1)).sum();
    let mean = (0 < count).then(|| sum as f64 / count as f64 / per_unit);
    let square = |run: (Value, u64), mean: f64| {
        run.1 as f64 * (run.0.amount() as f64 / per_unit - mean).powi(2)
    };
    let variance =
        mean.map(|mean| values.runs().map(|run| square(run, mean)).sum::<f64>() / count as f64);
    let [min, p25, median, p75, p90, p99, max] =
        values.quantiles(QUANTILES.map(|quantile| quantile.1), per_unit);
    Summary {
        group: None,
        outcome: outcome.to_owned(),
        count,
        mean,
        variance,
        min,
        p25,
        median,
        p75,
        p90,
        p99,
        max,
        censored: values.count(Value::is_censored),
        at_least: at_least(values),
        ended_waiting: None,
        overruns: None,
        left_censored: values.count(Value::is_left_censored),
    }
}

/// The quantiles of a summary.
const QUANTILES: [(&str, f64); 7] = [
    ("min", 0.0),
    ("p25", 0.25),
    ("median", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p99", 0.99),
    ("max", 1.0),
];

/// The statistics that are lower bounds because some values are. These are the mean, and each
/// quantile that would change if all these values grew without limit. Such values can only grow, so
/// the other quantiles never change.
fn at_least(values: &Counted) -> String {
    if values.count(Value::is_lower_bound) == 0 {
        return String::new();
    }
    let growing = values.growing(QUANTILES.map(|quantile| quantile.1));
    let quantiles = QUANTILES.into_iter().zip(growing).filter(|(_, is_growing)| *is_growing);
    ["mean"].into_iter().chain(quantiles.map(|((name, _), _)| name)).collect::<Vec<_>>().join(",")
}

/// Most points of a curve that are kept for a chart or table.
const CURVE_POINTS: usize = 400;

/// The share of values at or below each amount, thinned to a few hundred points.
#[expect(clippy::cast_precision_loss, reason = "amounts and counts are below 2^53")]
pub fn cumulative(values: &Counted, per_unit: f64) -> Vec<(f64, f64)> {
    let count = values.count(|_| true) as f64;
    let mut passed = 0;
    thin(values.amounts().map(move |same| {
        passed += same.count;
        (same.amount as f64 / per_unit, passed as f64 / count)
    }))
}

/// The lengths of time at which reports show a distribution, s.
pub const TICKS_S: [f64; 8] = [1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 864_000.0];

/// The values at which reports show a distribution of counts, or of shares in per cent.
pub const TICKS: [f64; 10] = [0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0];

/// The share of values at or below each of the given ascending amounts; NaN without values.
#[expect(clippy::cast_precision_loss, reason = "amounts and counts are below 2^53")]
pub fn shares_at(values: &Counted, ticks: &[f64], per_unit: f64) -> Vec<f64> {
    let mut within = vec![0_u64; ticks.len()];
    let mut count = 0_u64;
    for (value, own) in values.runs() {
        count += own;
        let amount = value.amount() as f64 / per_unit;
        let first = ticks.partition_point(|tick| *tick < amount);
        if let Some(sum) = within.get_mut(first) {
            *sum += own;
        }
    }
    let mut passed = 0_u64;
    let share = |own: u64| {
        passed += own;
        passed as f64 / count as f64
    };
    within.into_iter().map(share).collect()
}

/// The share that lasts longer than each of the given ascending times, s, by Kaplan and Meier.
pub fn survival_at(values: &Counted, ticks: &[f64]) -> Vec<f64> {
    let mut shares = vec![1.0; ticks.len()];
    for point in every_end(values) {
        let first = ticks.partition_point(|tick| *tick < point.time_s);
        shares[first..].fill(point.share);
    }
    shares
}

/// Keeps points that differ enough in height or on a logarithmic axis, and always the last one. A
/// short list is kept as it is.
fn thin<T: Copy + AsPoint>(points: impl Iterator<Item = T> + Clone) -> Vec<T> {
    let (Some(first), Some(last)) = (points.clone().next(), points.clone().last()) else {
        return Vec::new();
    };
    let is_few = points.clone().nth(CURVE_POINTS).is_none();
    let (first, end) = (first.x().max(1e-9).ln(), last.x().max(1e-9).ln());
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let step = ((end - first) / CURVE_POINTS as f64).max(1e-12);
    let mut kept: Vec<T> = Vec::new();
    for point in points {
        let is_apart = kept.last().is_none_or(|before| {
            step <= point.x().max(1e-9).ln() - before.x().max(1e-9).ln()
                || 0.01 <= (point.y() - before.y()).abs()
        });
        if is_few || is_apart || point.x() == last.x() {
            kept.push(point);
        }
    }
    kept
}

/// A point that can be thinned.
trait AsPoint {
    fn x(&self) -> f64;
    fn y(&self) -> f64;
}

impl AsPoint for (f64, f64) {
    fn x(&self) -> f64 {
        self.0
    }
    fn y(&self) -> f64 {
        self.1
    }
}

impl AsPoint for Survival {
    fn x(&self) -> f64 {
        self.time_s
    }
    fn y(&self) -> f64 {
        self.share
    }
}

/// A point of a survival curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Survival {
    /// Time since the start, s.
    pub time_s: f64,
    /// Share that lasts longer than this.
    pub share: f64,
    /// Lower end of the 95 % band.
    pub share_low: f64,
    /// Upper end of the 95 % band.
    pub share_high: f64,
    /// The number of values that are still observed just before this time.
    pub at_risk: u64,
}

/// The Kaplan-Meier estimate with Greenwood's band, for values in microseconds.
///
/// S(t) = Π (1 − d/n) over ends up to t; its variance is S² Σ d/(n(n−d)). Values that are censored
/// at the time of an end count as at risk for that end. (Kaplan and Meier, 1958.)
///
/// Some points close to each other are left out; [`every_end`] has all points.
pub fn kaplan_meier(values: &Counted) -> Vec<Survival> {
    thin(every_end(values))
}

/// Times at which a curve is read, s.
pub const READ_AT_S: [f64; 4] = [60.0, 3600.0, 86_400.0, 604_800.0];

/// The same curve, but it always keeps the last point up to each time in [`READ_AT_S`]. So values
/// read at these times are exact.
pub fn readable(values: &Counted) -> Vec<Survival> {
    let mut kept = kaplan_meier(values);
    for at_s in READ_AT_S {
        let Some(exact) = every_end(values).take_while(|point| point.time_s <= at_s).last() else {
            continue;
        };
        let place = kept.partition_point(|point| point.time_s < exact.time_s);
        if kept.get(place).is_none_or(|point| point.time_s != exact.time_s) {
            kept.insert(place, exact);
        }
    }
    kept
}

/// The same curve, with a point for every time at which a value ends.
pub fn every_end(values: &Counted) -> impl Iterator<Item = Survival> + Clone {
    let mut left = KaplanMeier::new(values.count(|_| true));
    values.amounts().filter_map(move |same| {
        let Left { share, band, at_risk } = left.step(same.count - same.censored, same.censored)?;
        let time_s = crate::units::micros_to_seconds(same.amount);
        Some(Survival { time_s, share, share_low: band[0], share_high: band[1], at_risk })
    })
}

/// The number of values still observed just before each time, s: those that last at least as long.
pub fn at_risk(values: &Counted, times_s: &[f64]) -> Vec<u64> {
    let micros = |time_s: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "times of a trace fit")]
        let micros = (time_s * 1e6).round() as i64;
        micros
    };
    let last = |time_s: &f64| values.count(|value| micros(*time_s) <= value.amount());
    times_s.iter().map(last).collect()
}

/// The chance that a task's job finishes, given the number of events of the task so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chance {
    /// The group, or `all`.
    pub group: String,
    /// Events so far.
    pub events: u64,
    /// Tasks with at least that many events.
    pub tasks: u64,
    /// Those of these tasks that belong to finished jobs.
    pub finished: u64,
    /// Tasks with an event before the window (at time 0).
    pub left_censored: u64,
    /// Number of the finished ones in the job that has most of them.
    pub largest_job_finished: u64,
    /// The chance.
    pub chance: f64,
    /// Lower end of the 95 % band (Wilson).
    pub chance_low: f64,
    /// Upper end of the 95 % band (Wilson).
    pub chance_high: f64,
}

impl Chance {
    /// The share of the largest job in the tasks of finished jobs. `None` without such tasks.
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
    pub fn of_one_job(&self) -> Option<f64> {
        (0 < self.finished).then(|| self.largest_job_finished as f64 / self.finished as f64)
    }
}

/// For each number of events, counts the tasks that reached it, and those with a finished job.
///
/// In: the numbers of events of the tasks of finished jobs, and of all other jobs that ended; the
/// largest number of tasks of one finished job that reached 1, 2, ... events.
pub fn chances(
    group: &str,
    finished: &Counted,
    others: &Counted,
    of_one_job: &[u64],
) -> Vec<Chance> {
    let longest = [finished, others].into_iter().filter_map(Counted::largest);
    let longest = longest.map(Value::amount).max().unwrap_or(0);
    let position = |amount: i64| usize::try_from(amount).expect("a task has few events");
    // By number of events: tasks, tasks of finished jobs, tasks that began before the window.
    let mut counts = vec![(0_u64, 0_u64, 0_u64); position(longest) + 2];
    for (tasks, is_finished) in [(finished, true), (others, false)] {
        for (events, count) in tasks.runs() {
            let cell = &mut counts[position(events.amount())];
            cell.0 += count;
            cell.1 += if is_finished { count } else { 0 };
            cell.2 += if events.is_left_censored() { count } else { 0 };
        }
    }
    for events in (1..counts.len()).rev() {
        let longer = counts[events];
        let cell = &mut counts[events - 1];
        *cell = (cell.0 + longer.0, cell.1 + longer.1, cell.2 + longer.2);
    }
    (1_u64..)
        .zip(&counts[1..])
        .zip(of_one_job.iter().copied().chain(repeat(0)))
        .take_while(|((_, count), _)| 0 < count.0)
        .map(|((events, &(tasks, finished, left_censored)), largest_job_finished)| {
            let (chance, chance_low, chance_high) = wilson(finished, tasks);
            let group = group.to_owned();
            Chance {
                group,
                events,
                tasks,
                finished,
                left_censored,
                largest_job_finished,
                chance,
                chance_low,
                chance_high,
            }
        })
        .collect()
}

/// A share with Wilson's 95 % interval (1927).
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub fn wilson(hits: u64, count: u64) -> (f64, f64, f64) {
    let (n, p) = (count as f64, hits as f64 / count as f64);
    let z2 = Z_95 * Z_95;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z_95 / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    (p, (middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::counted::{Edges, values};
    use super::*;

    #[test]
    fn a_summary_is_the_textbooks() {
        let four = values(&[(8, true), (2, false), (4, false), (2, false)]);
        let row = summarize("all", &four, 1.0);
        assert_eq!((row.count, row.censored), (4, 1));
        // The 8 may grow: quantiles between 2 and 4, such as the median, do not change.
        assert_eq!(row.at_least, "mean,p75,p90,p99,max");
        // One of three equal values may grow: the other two do not, and the median stays the same.
        let equal = values(&[(5, false), (5, false), (5, true)]);
        assert_eq!(summarize("all", &equal, 1.0).at_least, "mean,p75,p90,p99,max");
        let low = values(&[(1, true), (2, false), (4, false)]);
        assert_eq!(summarize("all", &low, 1.0).at_least, "mean,min,p25,median,p75,p90,p99,max");
        assert_eq!(summarize("all", &values(&[(1, false)]), 1.0).at_least, "");
        // A value that began before the window is a lower bound too.
        let left = Value::new(8, Edges { is_cut_before: true, ..Edges::default() });
        let begun = Counted::from(vec![Value::new(2, Edges::default()), left]);
        assert_eq!(summarize("all", &begun, 1.0).at_least, "mean,p25,median,p75,p90,p99,max");
        assert_eq!((row.mean, row.variance), (Some(4.0), Some(6.0)));
        assert_eq!((row.min, row.median, row.max), (Some(2.0), Some(3.0), Some(8.0)));
        // 0.9 of the way along 3 gaps is 0.7 between the third and the fourth.
        assert!((row.p90.unwrap() - 6.8).abs() < 1e-12);
        assert_eq!(summarize("all", &Counted::default(), 1.0).mean, None);
    }

    proptest! {
        /// A statistic is a lower bound if and only if it changes when censored values grow.
        #[test]
        fn lower_bounds_are_the_statistics_that_move(
            amounts in prop::collection::vec((0_i64..6, any::<bool>()), 1..12),
        ) {
            let row = summarize("all", &values(&amounts), 1.0);
            let grown: Vec<(i64, bool)> = amounts
                .iter()
                .map(|&(amount, is_cut)| (if is_cut { 1000 } else { amount }, is_cut))
                .collect();
            let other = summarize("all", &values(&grown), 1.0);
            let of = |row: &Summary| {
                [row.mean, row.min, row.p25, row.median, row.p75, row.p90, row.p99, row.max]
            };
            let names = ["mean", "min", "p25", "median", "p75", "p90", "p99", "max"];
            let moved: Vec<&str> = names
                .into_iter()
                .zip(of(&row).into_iter().zip(of(&other)))
                .filter(|(_, (one, other))| one != other)
                .map(|(name, _)| name)
                .collect();
            prop_assert_eq!(row.at_least, moved.join(","));
        }
    }

    /// A curve of many ends is thinned, but it is exact at the times at which it is read.
    #[test]
    fn a_thinned_curve_is_read_as_the_whole_one() {
        let ends: Vec<(i64, bool)> =
            (1..=100_000).step_by(7).map(|s| (s * 1_000_000, false)).collect();
        let times = values(&ends);
        let (exact, kept): (Vec<Survival>, _) = (every_end(&times).collect(), readable(&times));
        assert!(kept.len() < exact.len() / 10, "{}", kept.len());
        assert!(kept.is_sorted_by(|one, next| one.time_s < next.time_s));
        for at_s in READ_AT_S {
            // The ends are 7 s apart, starting at 1 s: this many have ended by then.
            let ended = exact.iter().filter(|point| point.time_s <= at_s).count();
            let read = kept.iter().rfind(|point| point.time_s <= at_s).unwrap().share;
            #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
            let expected = 1.0 - ended as f64 / exact.len() as f64;
            assert!((read - expected).abs() < 1e-9, "{at_s}: {read} instead of {expected}");
        }
    }

    #[test]
    fn shares_at_round_amounts_are_exact() {
        let four = values(&[(1, false), (1, false), (2, false), (7, false)]);
        assert_eq!(shares_at(&four, &[0.0, 1.0, 2.0, 5.0, 10.0], 1.0), [0.0, 0.5, 0.75, 0.75, 1.0]);
        // Ends at 1, 3 and 3 s; one value is censored at 2 s.
        let second = 1_000_000;
        let times = [(second, false), (2 * second, true), (3 * second, false), (3 * second, false)];
        assert_eq!(survival_at(&values(&times), &[0.5, 1.0, 2.5, 3.0]), [1.0, 0.75, 0.75, 0.0]);
    }

    #[test]
    fn kaplan_meier_is_the_worked_example() {
        // Ends at 1, 3, 3, 5 s; censored at 2 and 5 s. S: 5/6, then 5/6 * 2/4, then * 1/2.
        let second = 1_000_000;
        let times = values(&[
            (second, false),
            (2 * second, true),
            (3 * second, false),
            (3 * second, false),
            (5 * second, false),
            (5 * second, true),
        ]);
        let curve = kaplan_meier(&times);
        let shares: Vec<f64> =
            curve.iter().map(|point| (point.share * 1e6).round() / 1e6).collect();
        assert_eq!(shares, [0.833_333, 0.416_667, 0.208_333]);
        assert_eq!(curve.iter().map(|point| point.at_risk).collect::<Vec<u64>>(), [6, 4, 2]);
        let ends: Vec<f64> = curve.iter().map(|point| point.time_s).collect();
        assert_eq!(at_risk(&times, &ends), [6, 4, 2]);
        assert_eq!(at_risk(&times, &[0.1, 1.5, 2.0, 2.5, 5.0, 6.0]), [6, 5, 5, 4, 2, 0]);
        assert!(
            curve
                .iter()
                .all(|point| point.share_low <= point.share && point.share <= point.share_high)
        );
    }

    #[test]
    fn chances_count_tasks_that_got_so_far() {
        let finished = values(&[(3, false), (3, false)]);
        let rows = chances("all", &finished, &values(&[(6, false), (1, false)]), &[2, 2, 1]);
        let counts: Vec<(u64, u64, u64)> =
            rows.iter().map(|row| (row.events, row.tasks, row.finished)).collect();
        assert_eq!(counts, [(1, 4, 2), (2, 3, 2), (3, 3, 2), (4, 1, 0), (5, 1, 0), (6, 1, 0)]);
        let of_one: Vec<u64> = rows.iter().map(|row| row.largest_job_finished).collect();
        assert_eq!(of_one, [2, 2, 1, 0, 0, 0]);
        assert!(chances("all", &Counted::default(), &Counted::default(), &[]).is_empty());
    }

    #[test]
    fn wilson_is_the_published_interval() {
        // 81 of 263: Newcombe (1998), method 3: 0.2553 to 0.3662.
        let (_, low, high) = wilson(81, 263);
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5, "{low} {high}");
    }

    #[test]
    fn a_curve_ends_at_one() {
        let many: Vec<(i64, bool)> = (1..10_000).map(|amount| (amount, false)).collect();
        let many = values(&many);
        let curve = cumulative(&many, 1.0);
        assert!(curve.len() < 1000);
        assert_eq!(curve.last(), Some(&(9_999.0, 1.0)));
    }
}

//! How long, how many, how often: distributions per outcome, survival, and chances.
//!
//! In: whole numbers per outcome. Out: summaries, cumulative curves, Kaplan-Meier curves and the
//! chance to finish given so many events. Quantiles are R-7, variances those of the population.

use serde::Serialize;

use super::quantile;

/// One line of a table of distributions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The outcome of the jobs, or `all`.
    pub outcome: String,
    /// Values.
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
    /// Values that were cut off by the window's end and stand for something larger.
    pub censored: u64,
}

/// A value, and whether the window's end cut it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    /// Whole microseconds, or a count.
    pub amount: i64,
    /// Whether it stands for something larger.
    pub is_censored: bool,
}

/// Summarises values (sorted here); `per_unit` amounts are one of the unit shown.
#[expect(clippy::cast_precision_loss, reason = "amounts are below 2^53; sums are taken in i128")]
pub fn summarize(outcome: &str, values: &mut [Value], per_unit: f64) -> Summary {
    values.sort_unstable();
    let count = values.len();
    let scaled: Vec<f64> = values.iter().map(|value| value.amount as f64 / per_unit).collect();
    let sum: i128 = values.iter().map(|value| i128::from(value.amount)).sum();
    let mean = (0 < count).then(|| sum as f64 / count as f64 / per_unit);
    let variance = mean
        .map(|mean| scaled.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count as f64);
    let at = |share| quantile(&scaled, share);
    Summary {
        outcome: outcome.to_owned(),
        count: count as u64,
        mean,
        variance,
        min: at(0.0),
        p25: at(0.25),
        median: at(0.5),
        p75: at(0.75),
        p90: at(0.9),
        p99: at(0.99),
        max: at(1.0),
        censored: values.iter().filter(|value| value.is_censored).count() as u64,
    }
}

/// Points of a curve that are kept for a picture or a table.
const CURVE_POINTS: usize = 400;

/// The share of values at or below each amount, thinned to a few hundred points.
#[expect(clippy::cast_precision_loss, reason = "amounts and counts are below 2^53")]
pub fn cumulative(ascending: &[Value], per_unit: f64) -> Vec<(f64, f64)> {
    let count = ascending.len() as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (idx, value) in ascending.iter().enumerate() {
        if ascending.get(idx + 1).is_none_or(|next| next.amount != value.amount) {
            points.push((value.amount as f64 / per_unit, (idx + 1) as f64 / count));
        }
    }
    thin(points)
}

/// Keeps points that are apart on a logarithmic axis or in height, and always the last.
fn thin<T: Copy + AsPoint>(points: Vec<T>) -> Vec<T> {
    if points.len() <= CURVE_POINTS {
        return points;
    }
    let (first, last) = (points[0].x().max(1e-9).ln(), points[points.len() - 1].x().max(1e-9).ln());
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let step = ((last - first) / CURVE_POINTS as f64).max(1e-12);
    let mut kept: Vec<T> = Vec::new();
    for (idx, &point) in points.iter().enumerate() {
        let is_apart = kept.last().is_none_or(|before| {
            step <= point.x().max(1e-9).ln() - before.x().max(1e-9).ln()
                || 0.01 <= (point.y() - before.y()).abs()
        });
        if is_apart || idx + 1 == points.len() {
            kept.push(point);
        }
    }
    kept
}

/// What can be thinned.
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
    /// Share that lasts longer.
    pub share: f64,
    /// Lower end of the 95 % band.
    pub low: f64,
    /// Upper end of the 95 % band.
    pub high: f64,
    /// Still followed just before.
    pub at_risk: u64,
}

/// Two-sided 95 % point of the normal distribution.
const Z_95: f64 = 1.959_963_984_540_054;

/// The Kaplan-Meier estimate with Greenwood's band, for values in microseconds.
///
/// S(t) = Π (1 − d/n) over ends up to t; its variance is S² Σ d/(n(n−d)). Censored values leave
/// at their time, after the ends of the same instant. (Kaplan and Meier, 1958.)
#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
pub fn kaplan_meier(ascending: &[Value]) -> Vec<Survival> {
    let mut points = Vec::new();
    let (mut share, mut greenwood) = (1.0_f64, 0.0_f64);
    let mut idx = 0;
    while idx < ascending.len() {
        let at_risk = ascending.len() - idx;
        let same = ascending[idx..]
            .iter()
            .take_while(|value| value.amount == ascending[idx].amount)
            .count();
        let ends = ascending[idx..idx + same].iter().filter(|value| !value.is_censored).count();
        if 0 < ends {
            let (dead, risk) = (ends as f64, at_risk as f64);
            share *= 1.0 - dead / risk;
            greenwood += if ends < at_risk { dead / (risk * (risk - dead)) } else { 0.0 };
            let half = Z_95 * share * greenwood.sqrt();
            points.push(Survival {
                time_s: crate::units::micros_to_seconds(ascending[idx].amount),
                share,
                low: (share - half).max(0.0),
                high: (share + half).min(1.0),
                at_risk: at_risk as u64,
            });
        }
        idx += same;
    }
    thin(points)
}

/// The chance that a task's job finishes, given that the task has so many events already.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chance {
    /// The group, or `all`.
    pub group: String,
    /// Events so far.
    pub events: u64,
    /// Tasks with at least so many.
    pub tasks: u64,
    /// Those whose job finished.
    pub finished: u64,
    /// The chance.
    pub chance: f64,
    /// Lower end of the 95 % band (Wilson).
    pub low: f64,
    /// Upper end of the 95 % band (Wilson).
    pub high: f64,
}

/// Counts, for each number of events, the tasks that got so far and those whose job finished.
///
/// `tasks` holds (events, whether the job finished), in any order.
pub fn chances(group: &str, tasks: &[(u64, bool)]) -> Vec<Chance> {
    let longest = tasks.iter().map(|task| task.0).max().unwrap_or(0);
    let len = usize::try_from(longest).expect("a task has few events") + 2;
    let (mut all, mut finished) = (vec![0_u64; len], vec![0_u64; len]);
    for &(events, is_finished) in tasks {
        let events = usize::try_from(events).expect("a task has few events");
        all[events] += 1;
        finished[events] += u64::from(is_finished);
    }
    for events in (1..len).rev() {
        all[events - 1] += all[events];
        finished[events - 1] += finished[events];
    }
    let rows = (1_u64..).zip(all[1..].iter().zip(&finished[1..]));
    rows.take_while(|(_, (all, _))| 0 < **all)
        .map(|(events, (&tasks, &finished))| {
            let (chance, low, high) = wilson(finished, tasks);
            Chance { group: group.to_owned(), events, tasks, finished, chance, low, high }
        })
        .collect()
}

/// A share with Wilson's 95 % interval (1927).
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
fn wilson(hits: u64, count: u64) -> (f64, f64, f64) {
    let (n, p) = (count as f64, hits as f64 / count as f64);
    let z2 = Z_95 * Z_95;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z_95 / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    (p, (middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(amounts: &[(i64, bool)]) -> Vec<Value> {
        amounts.iter().map(|&(amount, is_censored)| Value { amount, is_censored }).collect()
    }

    #[test]
    fn a_summary_is_the_textbooks() {
        let mut four = values(&[(8, true), (2, false), (4, false), (2, false)]);
        let row = summarize("all", &mut four, 1.0);
        assert_eq!((row.count, row.censored), (4, 1));
        assert_eq!((row.mean, row.variance), (Some(4.0), Some(6.0)));
        assert_eq!((row.min, row.median, row.max), (Some(2.0), Some(3.0), Some(8.0)));
        assert_eq!(summarize("all", &mut [], 1.0).mean, None);
    }

    #[test]
    fn kaplan_meier_is_the_worked_example() {
        // Ends at 1, 3, 3, 5 s; censored at 2 and 5 s. S: 5/6, then 5/6 * 2/4, then * 1/2.
        let second = 1_000_000;
        let mut times = values(&[
            (second, false),
            (2 * second, true),
            (3 * second, false),
            (3 * second, false),
            (5 * second, false),
            (5 * second, true),
        ]);
        times.sort_unstable();
        let curve = kaplan_meier(&times);
        let shares: Vec<f64> =
            curve.iter().map(|point| (point.share * 1e6).round() / 1e6).collect();
        assert_eq!(shares, [0.833_333, 0.416_667, 0.208_333]);
        assert_eq!(curve.iter().map(|point| point.at_risk).collect::<Vec<u64>>(), [6, 4, 2]);
        assert!(curve.iter().all(|point| point.low <= point.share && point.share <= point.high));
    }

    #[test]
    fn chances_count_tasks_that_got_so_far() {
        let rows = chances("all", &[(3, true), (3, true), (6, false), (1, false)]);
        let counts: Vec<(u64, u64, u64)> =
            rows.iter().map(|row| (row.events, row.tasks, row.finished)).collect();
        assert_eq!(counts, [(1, 4, 2), (2, 3, 2), (3, 3, 2), (4, 1, 0), (5, 1, 0), (6, 1, 0)]);
        assert!(chances("all", &[]).is_empty());
    }

    #[test]
    fn wilson_is_the_published_interval() {
        // 81 of 263: Newcombe (1998), method 3: 0.2553 to 0.3662.
        let (_, low, high) = wilson(81, 263);
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5, "{low} {high}");
    }

    #[test]
    fn a_curve_ends_at_one() {
        let many: Vec<Value> =
            (1..10_000).map(|amount| Value { amount, is_censored: false }).collect();
        let curve = cumulative(&many, 1.0);
        assert!(curve.len() < 1000);
        assert_eq!(curve.last(), Some(&(9_999.0, 1.0)));
    }
}

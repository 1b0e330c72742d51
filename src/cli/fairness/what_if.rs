//! `--what-if`: the same history under several indices, and how the order of users changes.

use arrow::record_batch::RecordBatch;
use serde::Serialize;

use crate::cli::render::Frame;
use crate::fairness::rank::{kendall, ranks, spearman};
use crate::fairness::series::Series;
use crate::fairness::usage::UserUsage;

/// The indices that are compared without `--index`.
pub(super) const DEFAULT: [&str; 4] =
    ["metered", "condor:half_life_s=21600", "condor", "condor:half_life_s=604800"];

/// How alike the orders of users under two indices are.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Pair {
    pub one: String,
    pub other: String,
    /// Users of whom both say something at the end of the span.
    pub users: u64,
    /// At the end of the span.
    pub spearman_end: Option<f64>,
    pub kendall_end: Option<f64>,
    /// Mean over the intervals where it is defined.
    pub spearman_mean: Option<f64>,
    /// Users whose rank differs at the end.
    pub users_moved: u64,
    /// The user whose rank differs most, and by how many places.
    pub most_moved: Option<String>,
    pub most_places: f64,
}

/// Every pair of indices that have values of users, among users with usage.
pub(super) fn compare(series: &[Series], users: &[UserUsage]) -> Vec<Pair> {
    let ranked: Vec<&Series> = series.iter().filter(|one| !one.columns.is_empty()).collect();
    let mut pairs = Vec::new();
    for (idx, one) in ranked.iter().enumerate() {
        for other in &ranked[idx + 1..] {
            pairs.push(pair(one, other, users));
        }
    }
    pairs
}

fn pair(one: &Series, other: &Series, users: &[UserUsage]) -> Pair {
    // Users of whom both say something.
    let at = |interval: usize| -> (Vec<&UserUsage>, Vec<f64>, Vec<f64>) {
        let all = |series: &Series| {
            series.heaviness(interval).expect("only indices with values are paired")
        };
        let (one, other) = (all(one), all(other));
        let known = |user: &&UserUsage| one[user.who].is_finite() && other[user.who].is_finite();
        let users: Vec<&UserUsage> = users.iter().filter(known).collect();
        let of = |all: &[f64]| users.iter().map(|user| all[user.who]).collect();
        let (one, other) = (of(&one), of(&other));
        (users, one, other)
    };
    let intervals = one.intervals().min(other.intervals());
    let last = intervals.saturating_sub(1);
    let (users, end_one, end_other) = at(last);
    let known: Vec<f64> = (0..intervals)
        .filter_map(|interval| {
            let (_, one, other) = at(interval);
            spearman(&one, &other)
        })
        .collect();
    let moved: Vec<f64> = ranks(&end_one)
        .iter()
        .zip(ranks(&end_other))
        .map(|(one, other)| (one - other).abs())
        .collect();
    let most = (0..moved.len()).rev().max_by(|&a, &b| moved[a].total_cmp(&moved[b]));
    #[expect(clippy::cast_precision_loss, reason = "a count of intervals")]
    let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
    Pair {
        users: users.len() as u64,
        one: one.index.clone(),
        other: other.index.clone(),
        spearman_end: spearman(&end_one, &end_other),
        kendall_end: kendall(&end_one, &end_other),
        spearman_mean: mean,
        users_moved: moved.iter().filter(|&&places| 0.0 < places).count() as u64,
        most_moved: most.filter(|&who| 0.0 < moved[who]).map(|who| users[who].user.clone()),
        most_places: most.map_or(0.0, |who| moved[who]),
    }
}

pub(super) fn table(pairs: &[Pair]) -> RecordBatch {
    Frame::default()
        .text("one", pairs.iter().map(|pair| &pair.one))
        .text("other", pairs.iter().map(|pair| &pair.other))
        .count("users", pairs.iter().map(|pair| pair.users))
        .float("spearman_end", pairs.iter().map(|pair| pair.spearman_end))
        .float("kendall_end", pairs.iter().map(|pair| pair.kendall_end))
        .float("spearman_mean", pairs.iter().map(|pair| pair.spearman_mean))
        .count("users_moved", pairs.iter().map(|pair| pair.users_moved))
        .maybe_text("most_moved", pairs.iter().map(|pair| pair.most_moved.as_deref()))
        .float("most_places", pairs.iter().map(|pair| Some(pair.most_places)))
        .batch()
}

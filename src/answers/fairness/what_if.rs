//! `--what-if` compares the orders of users under several indices, for the same history. Every
//! analysis of a log also stores the places of users under other half-lives.

use std::cmp::Ordering;

use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};

use crate::fairness::history::{History, known_name};
use crate::fairness::indices;
use crate::fairness::rank::{kendall, ranks, spearman};
use crate::fairness::series::{Series, evaluate};
use crate::faults::Result;
use crate::results::frame::Frame;
use crate::units::CpuTime;

/// The indices that are compared if the user names none with `--index`.
pub(crate) const DEFAULT: [&str; 4] =
    ["metered", "condor:half_life_s=21600", "condor", "condor:half_life_s=604800"];

/// How similar the orders of users under two indices are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    pub one: String,
    pub other: String,
    /// Users with usage for which both indices have a value at the end of the span.
    pub users: u64,
    /// Rank correlation at the end of the span.
    pub spearman_end: Option<f64>,
    pub kendall_end: Option<f64>,
    /// Mean rank correlation over the intervals in which it is defined. Each interval counts only
    /// users with usage by then.
    pub spearman_mean: Option<f64>,
    /// Users whose rank differs at the end.
    pub users_moved: u64,
    /// The user whose rank differs most; `most_places` is by how many places.
    pub most_moved: Option<String>,
    pub most_places: f64,
}

/// The places of a user under two indices. Place 1 is the heaviest user; users with equal values
/// share the mean of their places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    pub one: String,
    pub other: String,
    pub user: Option<String>,
    pub place_one: f64,
    pub place_other: f64,
    /// Places by which the user moves up (is heavier) under the other index; negative if the user
    /// moves down.
    pub places_up: f64,
}

/// Every pair of indices that have values for each user.
fn pairs(series: &[Series]) -> impl Iterator<Item = (&Series, &Series)> {
    let ranked: Vec<&Series> = series.iter().filter(|one| !one.columns.is_empty()).collect();
    let pairs = (0..ranked.len())
        .flat_map(|one| (one + 1..ranked.len()).map(move |other| (one, other)))
        .collect::<Vec<(usize, usize)>>();
    pairs.into_iter().map(move |(one, other)| (ranked[one], ranked[other]))
}

/// Compares every pair of indices, among the users with usage. Pairs with fewer than two users are
/// left out.
pub(crate) fn compare(history: &History, series: &[Series]) -> Vec<Pair> {
    let first = first_use(history);
    // A single user has no order.
    let is_telling = |pair: &Pair| 1 < pair.users;
    pairs(series)
        .map(|(one, other)| pair(history, [one, other], &first))
        .filter(is_telling)
        .collect()
}

/// The places of all users at the end of the span, pair by pair; users who move most come first.
pub(crate) fn places(history: &History, series: &[Series]) -> Vec<Shift> {
    let first = first_use(history);
    let of = |(one, other): (&Series, &Series)| {
        let last = one.intervals().min(other.intervals()).saturating_sub(1);
        let at = Order::at([one, other], last, &first);
        let [places_one, places_other] = at.values.map(|values| places_of(&values));
        let mut places: Vec<Shift> = at
            .users
            .iter()
            .zip(places_one.into_iter().zip(places_other))
            .map(|(&who, (place_one, place_other))| Shift {
                one: one.index.clone(),
                other: other.index.clone(),
                user: known_name(&history.people[who].name).map(str::to_owned),
                place_one,
                place_other,
                places_up: place_one - place_other,
            })
            .collect();
        places.sort_by(|one, other| other.places_up.abs().total_cmp(&one.places_up.abs()));
        places
    };
    pairs(series).flat_map(of).collect()
}

/// A sentence for each index after the first. It names the users whose place changes most from the
/// first index to this one.
pub(crate) fn moves(history: &History, series: &[Series]) -> Vec<String> {
    const NAMED: usize = 3;
    let places = places(history, series);
    let Some(first) = places.first().map(|place| place.one.clone()) else { return Vec::new() };
    let beside: Vec<&Shift> = places.iter().filter(|place| place.one == first).collect();
    let sentence = |own: &[&Shift]| {
        let moved = |is_up: bool| -> String {
            let is_so =
                |place: &&&Shift| place.places_up != 0.0 && (0.0 < place.places_up) == is_up;
            let names: Vec<String> = own
                .iter()
                .filter(is_so)
                .take(NAMED)
                .map(|place| {
                    let name = place.user.as_deref().unwrap_or("(without a name)");
                    format!("{name} (place {} to {})", place.place_one, place.place_other)
                })
                .collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        format!(
            "{} compared with {first}: heavier {}; lighter {}",
            own[0].other,
            moved(true),
            moved(false)
        )
    };
    beside.chunk_by(|one, other| one.other == other.other).map(sentence).collect()
}

/// The place of each user by use, and under each half-life of [`DEFAULT`]; the heaviest user comes
/// first. Empty if fewer than two users have used something, because there is no order then.
///
/// # Errors
/// An index has too many values.
pub(crate) fn half_lives(history: &History) -> Result<RecordBatch> {
    let first = first_use(history);
    let mut all: Vec<Vec<f64>> = Vec::new();
    for text in DEFAULT {
        // Only the values of one index are in memory at a time.
        let series = evaluate(text, indices::parse(text)?.as_mut(), history)?;
        let last = series.intervals().checked_sub(1);
        let values = last.and_then(|last| series.heaviness(last));
        all.push(values.unwrap_or_else(|| vec![f64::NAN; first.len()]));
    }
    let has_used = |&who: &usize| {
        first[who].is_some() && all.iter().all(|values: &Vec<f64>| values[who].is_finite())
    };
    let mut users: Vec<usize> = (0..first.len()).filter(has_used).collect();
    if users.len() < 2 {
        users.clear();
    }
    let places: Vec<Vec<f64>> = all
        .iter()
        .map(|values| places_of(&users.iter().map(|&who| values[who]).collect::<Vec<f64>>()))
        .collect();
    let mut order: Vec<usize> = (0..users.len()).collect();
    let at = |row: usize| places.iter().map(move |own| own[row]);
    order.sort_by(|&one, &other| at(one).partial_cmp(at(other)).unwrap_or(Ordering::Equal));
    let name = |row: &usize| known_name(&history.people[users[*row]].name);
    let mut frame = Frame::default().maybe_text("user", order.iter().map(name));
    for (text, own) in DEFAULT.iter().zip(&places) {
        let life = text.split_once("half_life_s=").map_or(A_DAY_S, |(_, seconds)| seconds);
        let (column, about) = match *text {
            "metered" => ("place_by_use".to_owned(), "by use; 1 is the heaviest".to_owned()),
            _ => (
                format!("place_half_life_s_{life}"),
                format!("by `{text}`: use counts half after {life} s"),
            ),
        };
        frame = frame
            .float(&column, order.iter().map(|&row| Some(own[row])))
            .about(&format!("Place of the user at the end, {about}"));
    }
    Ok(frame.batch())
}

/// The half-life of `condor` if it has no parameter, s.
const A_DAY_S: &str = "86400";

/// Places by value, 1 for the largest; equal values share the mean of their places.
fn places_of(values: &[f64]) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 users")]
    let count = values.len() as f64;
    ranks(values).into_iter().map(|rank| count + 1.0 - rank).collect()
}

/// By user, the first shown interval (counted from 0) with a charge.
fn first_use(history: &History) -> Vec<Option<usize>> {
    let mut first = vec![None; history.people.len()];
    for cell in history.shown().iter().filter(|cell| cell.cpu != CpuTime::ZERO) {
        let own = &mut first[cell.who as usize];
        *own = own.or(Some((cell.interval - history.shown_from) as usize));
    }
    first
}

/// The users for which two indices have a value, with both values; a larger value means heavier
/// use.
struct Order {
    users: Vec<usize>,
    values: [Vec<f64>; 2],
}

impl Order {
    /// The order at the end of an interval, among users who have used something by then.
    fn at(series: [&Series; 2], interval: usize, first: &[Option<usize>]) -> Self {
        let all = series
            .map(|series| series.heaviness(interval).expect("only indices with values are paired"));
        let is_known = |&who: &usize| {
            first[who].is_some_and(|first| first <= interval)
                && all.iter().all(|values| values[who].is_finite())
        };
        let users: Vec<usize> = (0..first.len()).filter(is_known).collect();
        let values = all.map(|values| users.iter().map(|&who| values[who]).collect());
        Self { users, values }
    }
}

/// How similar the orders under two indices are, at the end of each interval.
fn correlations(series: [&Series; 2], first: &[Option<usize>]) -> Vec<Option<f64>> {
    let intervals = series[0].intervals().min(series[1].intervals());
    (0..intervals)
        .map(|interval| {
            let [one, other] = Order::at(series, interval, first).values;
            spearman(&one, &other)
        })
        .collect()
}

fn pair(history: &History, series: [&Series; 2], first: &[Option<usize>]) -> Pair {
    let all = correlations(series, first);
    let Order { users, values: [end_one, end_other] } =
        Order::at(series, all.len().saturating_sub(1), first);
    let known: Vec<f64> = all.into_iter().flatten().collect();
    let moved: Vec<f64> = ranks(&end_one)
        .iter()
        .zip(ranks(&end_other))
        .map(|(one, other)| (one - other).abs())
        .collect();
    let most = (0..moved.len()).rev().max_by(|&a, &b| moved[a].total_cmp(&moved[b]));
    let most_moved = most.filter(|&user| 0.0 < moved[user]).map(|user| users[user]);
    #[expect(clippy::cast_precision_loss, reason = "a count of intervals")]
    let mean = (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
    Pair {
        users: users.len() as u64,
        one: series[0].index.clone(),
        other: series[1].index.clone(),
        spearman_end: spearman(&end_one, &end_other),
        kendall_end: kendall(&end_one, &end_other),
        spearman_mean: mean,
        users_moved: moved.iter().filter(|&&places| 0.0 < places).count() as u64,
        most_moved: most_moved
            .and_then(|who| known_name(&history.people[who].name))
            .map(str::to_owned),
        most_places: most.map_or(0.0, |user| moved[user]),
    }
}

pub(crate) fn places_table(places: &[Shift]) -> RecordBatch {
    Frame::default()
        .text("one", places.iter().map(|place| &place.one))
        .text("other", places.iter().map(|place| &place.other))
        .maybe_text("user", places.iter().map(|place| place.user.as_deref()))
        .float("place_one", places.iter().map(|place| Some(place.place_one)))
        .float("place_other", places.iter().map(|place| Some(place.place_other)))
        .float("places_up", places.iter().map(|place| Some(place.places_up)))
        .batch()
}

pub(crate) fn table(pairs: &[Pair]) -> RecordBatch {
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

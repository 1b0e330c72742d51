//! The measures by which policies are compared, and their values in words.
//!
//! In: two policies of a stored replay. Out: measures in the order of the sentences, and lists of
//! them with both values.

use crate::answers::replay::Replayed;
use crate::digits::{alike, three_digits};
use crate::replay::metrics::Spread;

/// A difference counts if it is more than this share of the value under the first policy.
const APART: f64 = 0.01;

/// A value by which policies are compared.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    name: &'static str,
    pub(super) what: What,
    pub(super) of: fn(&Replayed) -> Option<f64>,
}

/// The kind of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A length of time.
    Time,
    /// A response time of jobs.
    Response,
    /// The shortest response time of the slowest jobs.
    Slowest,
    /// A ratio to the run time.
    Slowdown,
}

const fn measure(name: &'static str, what: What, of: fn(&Replayed) -> Option<f64>) -> Measure {
    Measure { name, what, of }
}

fn response(row: &Replayed, value: fn(Spread) -> f64) -> Option<f64> {
    row.metrics.responses_of_whole_jobs().map(value)
}

/// The wait of tasks.
const WAIT: Measure = measure("the mean wait of tasks", What::Time, wait_s);

/// The wait of tasks that arrive after the first tenth of the time.
const SETTLED: Measure =
    measure("the mean wait of tasks after the first tenth of the time", What::Time, settled_s);

const SLOWDOWN: Measure =
    measure("the mean bounded slowdown of finished tasks", What::Slowdown, slowdown);

const MEDIAN: Measure = measure("the response of the median job", What::Response, |row| {
    response(row, |spread| spread.median)
});

/// Responses are those of jobs that the end of the window does not cut: the others last as long as
/// the window under every policy.
const RESPONSES: [Measure; 3] = [
    measure("the mean response of jobs", What::Response, |row| response(row, |spread| spread.mean)),
    measure("the response of the slowest 5 % of jobs", What::Slowest, |row| {
        response(row, |spread| spread.p95)
    }),
    measure("the response of the slowest 1 % of jobs", What::Slowest, |row| {
        response(row, |spread| spread.p99)
    }),
];

const MAKESPAN: Measure = measure("the makespan", What::Time, |row| row.metrics.makespan_s);

/// The number of measures in the first sentence.
pub(super) const FIRST: usize = 2;

/// All measures, starting with those of the first sentence. These are the wait and the slowdown,
/// which decide which policy is compared with the first. If the response of the median job falls by
/// a larger factor than the wait, they are that response and the wait.
pub(super) fn measures(pair: [&Replayed; 2], is_settled: bool) -> [Measure; 7] {
    let wait = if is_settled { SETTLED } else { WAIT };
    let factor = |measure: &Measure| {
        let [own, first] = pair.map(|row| (measure.of)(row));
        Some(own? / first?).filter(|factor| factor.is_finite())
    };
    let is_median = factor(&MEDIAN)
        .zip(factor(&wait))
        .is_some_and(|(median, wait)| median < wait && median < 1.0 - APART);
    let [mut mean, p95, p99] = RESPONSES;
    if pair.iter().any(|row| row.metrics.whole_job_response_s.is_some()) {
        // The sentence says which jobs are meant.
        mean.name = "the mean response";
    }
    if is_median {
        [MEDIAN, wait, SLOWDOWN, mean, p95, p99, MAKESPAN]
    } else {
        [wait, SLOWDOWN, mean, MEDIAN, p95, p99, MAKESPAN]
    }
}

pub(super) fn settled_s(row: &Replayed) -> Option<f64> {
    Some(row.metrics.settled_waiting_s?.mean)
}

pub(super) fn wait_s(row: &Replayed) -> Option<f64> {
    Some(row.metrics.waiting_s?.mean)
}

pub(super) fn slowdown(row: &Replayed) -> Option<f64> {
    Some(row.metrics.bounded_slowdown?.mean)
}

/// How a value changes from the first policy to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Lower,
    Same,
    Higher,
}

impl Change {
    pub(super) fn of(own: f64, first: f64) -> Self {
        if own < first * (1.0 - APART) {
            Self::Lower
        } else if first * (1.0 + APART) < own {
            Self::Higher
        } else {
            Self::Same
        }
    }
}

/// Measures with their values. If responses are not those of all jobs, they come last, with a note
/// about their jobs.
pub(super) fn listed_of(
    measures: &[Measure],
    pair: [&Replayed; 2],
    is_whole: bool,
) -> Option<String> {
    let of = |measures: Vec<&Measure>| {
        let values = |measure: &Measure| Some([(measure.of)(pair[0])?, (measure.of)(pair[1])?]);
        let all = measures.into_iter().filter_map(|one| Some(told(one, values(one)?)));
        listed(&all.collect::<Vec<String>>())
    };
    if !is_whole {
        return of(measures.iter().collect());
    }
    let is_response = |one: &&Measure| matches!(one.what, What::Response | What::Slowest);
    let (responses, others): (Vec<&Measure>, Vec<&Measure>) =
        measures.iter().partition(is_response);
    let comma = if responses.len() == 1 { "" } else { "," };
    let responses = of(responses).map(|responses| format!("{responses}{comma} {OF_WHOLE}"));
    match [of(others), responses] {
        [Some(others), Some(responses)] => Some(format!("{others} and {responses}")),
        [others, responses] => others.or(responses),
    }
}

/// The jobs with these responses, if the window cuts some jobs.
const OF_WHOLE: &str = "among jobs that the end of the window does not cut";

/// `the mean wait of tasks (28.2 min instead of 41.9 min)`; without values if the two look the
/// same.
fn told(measure: &Measure, values: [f64; 2]) -> String {
    let is_slowdown = measure.what == What::Slowdown;
    let [own, first] = if is_slowdown { values.map(three_digits) } else { alike(values) };
    if own == first {
        return measure.name.to_owned();
    }
    let [at_least, of] = match measure.what {
        What::Slowest => [" or longer", ""],
        What::Slowdown => ["", " times their run time"],
        What::Time | What::Response => ["", ""],
    };
    format!("{} ({own}{at_least} instead of {first}{of})", measure.name)
}

/// `a, b and c`; `None` for an empty list.
pub(super) fn listed(all: &[String]) -> Option<String> {
    match all {
        [] => None,
        [one] => Some(one.clone()),
        [most @ .., last] => Some(format!("{} and {last}", most.join(", "))),
    }
}

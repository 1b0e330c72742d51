//! Whether another policy would have done better: both what it improves and what it makes worse.

use super::Told;
use crate::answers::assumed::NO_WAIT;
use crate::answers::replay::{
    ReplayAnswer, Replayed, common_name, in_words, killed, left_out, pool, recorded,
};
use crate::answers::sentences::{Capacity, capital, percent};
use crate::digits::{alike, counted, grouped, six_digits, three_digits};
use crate::replay::metrics::Spread;
use crate::results::envelope::Envelope;

/// A difference counts if it is more than this share of the value under the first policy.
const APART: f64 = 0.01;

/// A value by which policies are compared.
#[derive(Clone, Copy)]
struct Measure {
    name: &'static str,
    is_time: bool,
    of: fn(&Replayed) -> Option<f64>,
}

const fn time(name: &'static str, of: fn(&Replayed) -> Option<f64>) -> Measure {
    Measure { name, is_time: true, of }
}

fn response(row: &Replayed, value: fn(Spread) -> f64) -> Option<f64> {
    row.metrics.responses_of_whole_jobs().map(value)
}

/// The wait and the slowdown decide which policy is compared with the first. Responses are of jobs that
/// the end of the window does not cut, since the others last as long as the window under every policy.
const MEASURES: [Measure; 6] = [
    time("the mean wait of tasks", wait_s),
    Measure { name: "the mean bounded slowdown of finished tasks", is_time: false, of: slowdown },
    time("the mean response of jobs", |row| response(row, |spread| spread.mean)),
    time("the 95 % quantile of responses", |row| response(row, |spread| spread.p95)),
    time("the 99 % quantile of responses", |row| response(row, |spread| spread.p99)),
    time("the makespan", |row| row.metrics.makespan_s),
];

/// The same, with the wait of tasks that arrive after the first tenth of the time if `is_settled`, and
/// with the name of the jobs that responses are of.
fn measures([best, first]: [&Replayed; 2], is_settled: bool) -> [Measure; 6] {
    let mut all = MEASURES;
    if is_settled {
        all[0] = time("the mean wait of tasks after the first tenth of the time", settled_s);
    }
    if [best, first].iter().any(|row| row.metrics.whole_job_response_s.is_some()) {
        all[2].name = "the mean response of jobs that the end of the window does not cut";
    }
    all
}

fn settled_s(row: &Replayed) -> Option<f64> {
    Some(row.metrics.settled_waiting_s?.mean)
}

/// Whether many tasks arrive at once when the replay starts, and the waits of later ones change in the same
/// direction: these say more of the policies.
fn is_settled(answer: &ReplayAnswer, [best, first]: [&Replayed; 2]) -> bool {
    let change = |of: fn(&Replayed) -> Option<f64>| Some(Change::of(of(best)?, of(first)?));
    let has_crowd = answer.history.is_some_and(|counts| 0 < counts.began_before);
    has_crowd && change(settled_s).is_some() && change(settled_s) == change(wait_s)
}

fn wait_s(row: &Replayed) -> Option<f64> {
    Some(row.metrics.waiting_s?.mean)
}

fn slowdown(row: &Replayed) -> Option<f64> {
    Some(row.metrics.bounded_slowdown?.mean)
}

/// How a value compares with that under the first policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Lower,
    Same,
    Higher,
}

impl Change {
    fn of(own: f64, first: f64) -> Self {
        if own < first * (1.0 - APART) {
            Self::Lower
        } else if first * (1.0 + APART) < own {
            Self::Higher
        } else {
            Self::Same
        }
    }
}

/// How a policy compares with the first in the wait and the slowdown of tasks.
fn delay(row: &Replayed, first: &Replayed) -> Option<[Change; 2]> {
    let of = |value: fn(&Replayed) -> Option<f64>| Some(Change::of(value(row)?, value(first)?));
    Some([of(wait_s)?, of(slowdown)?])
}

/// The other policy with the smallest mean bounded slowdown, if that and the mean wait are more
/// than 1 % smaller than under the first policy; with everything that gets better and worse. If no
/// task waits under any policy, the policies cannot differ.
pub(super) fn policy(stored: &Envelope) -> Option<Told> {
    let answer: &ReplayAnswer = stored.found()?;
    let first = answer.policies.first()?;
    let kills: Vec<String> = answer.policies.iter().filter_map(|row| kill_of(row, first)).collect();
    let kills = kills.join("; ");
    let waits = |row: &Replayed| row.metrics.waiting_s.is_none_or(|waits| waits.max != 0.0);
    if !answer.policies.iter().any(waits) {
        let why = never_full(first, answer, stored);
        return Some(if kills.is_empty() {
            Told::Unknown(format!("The policies change nothing: {why}"))
        } else {
            Told::Shown(format!("{kills}; otherwise the policies change nothing: {why}"))
        });
    }
    let known = answer.policies[1..].iter();
    let known = known.filter_map(|row| Some((delay(row, first)?, slowdown(row)?, row)));
    // Of policies that are equal in this, the first one.
    let (delay, _, best) = known.min_by(|one, other| {
        let is_worse = |delay: [Change; 2]| delay != [Change::Lower; 2];
        is_worse(one.0).cmp(&is_worse(other.0)).then(one.1.total_cmp(&other.1))
    })?;
    let kills = if kills.is_empty() { kills } else { format!("; {kills}") };
    let jobs = jobs(answer, best)?;
    let waited = recorded(answer, [first, best]);
    let record = waited.as_ref().map(|said| format!("{said}. {}. ", left_out(answer)));
    let record = record.unwrap_or_default();
    let pair = [best, first];
    let is_settled = is_settled(answer, pair);
    let Compared { mut said, more, mut is_worse_in_part } = compared(pair, is_settled);
    if let Some(later) = later(answer, pair) {
        (said, is_worse_in_part) = (said + &later, true);
    }
    let rest = [of_all_jobs(pair), codes(pair), settled(answer, pair, is_settled), pooled(answer)];
    let more = more + &rest.into_iter().flatten().collect::<String>();
    if delay != [Change::Lower; 2] {
        return Some(Told::NotShown(format!(
            "No other policy is shown to lower both the mean wait of tasks and their mean slowdown: {said}{kills}{more}. {record}{jobs}"
        )));
    }
    let others = worse_ones(answer, first);
    if answer.policies.iter().all(|row| waits_longer(row, answer)) {
        return Some(Told::NotShown(format!(
            "No policy is shown to do better than what was done: under each of them tasks wait longer than \
            they did. Among them, {said}{kills}{more}. {}{jobs}{others}",
            waited.map_or_else(String::new, |said| format!("{said}. "))
        )));
    }
    // A policy that is better than one that is worse than what was done may be no improvement.
    let is_weak = waits_longer(first, answer);
    let verdict = match (is_worse_in_part, is_weak) {
        (true, _) => "In part",
        (false, true) => "Perhaps",
        (false, false) => "Yes",
    };
    let record = if is_weak {
        format!(
            "{record}Under `{}` tasks wait longer than they did: that is a weak rival. ",
            first.policy
        )
    } else {
        record
    };
    Some(Told::Shown(format!("{verdict}: {said}{kills}{more}. {record}{jobs}{others}")))
}

/// What the kill rule of a policy did; `None` if it has none that killed.
fn kill_of(row: &Replayed, first: &Replayed) -> Option<String> {
    let names = [&row.policy, &first.policy].map(|name| format!("`{name}`"));
    let harmed = row.against_first.harmed;
    killed([&names[0], &names[1]], row.metrics.condemned_tasks, harmed, row.cpu_saved_share)
}

/// What a policy changes, compared with the first.
struct Compared {
    /// `fair share, compared with first come, first served, lowers the mean wait of tasks (28.2 min instead
    /// of 41.9 min), but raises ...`: what decides, and everything that gets worse.
    said: String,
    /// `. It also lowers .... Within 1 %: the makespan`: the rest.
    more: String,
    is_worse_in_part: bool,
}

/// The measures that decide are the first ones.
const DECISIVE: usize = 2;

fn compared(pair: [&Replayed; 2], is_settled: bool) -> Compared {
    let [best, first] = pair;
    let list = |measures: &[Measure], wanted: Change| {
        let all = measures.iter().filter_map(|measure| {
            let values = [(measure.of)(best)?, (measure.of)(first)?];
            (Change::of(values[0], values[1]) == wanted).then(|| told(measure, values))
        });
        listed(&all.collect::<Vec<String>>())
    };
    let measures = measures(pair, is_settled);
    let (decisive, others) = measures.split_at(DECISIVE);
    let higher = list(&measures, Change::Higher);
    let (lower, also) = match list(decisive, Change::Lower) {
        Some(lower) => (Some(lower), list(others, Change::Lower)),
        None => (list(others, Change::Lower), None),
    };
    let is_worse_in_part = lower.is_some() && higher.is_some();
    let does = match (lower, higher) {
        (Some(lower), Some(higher)) => format!("lowers {lower}, but raises {higher}"),
        (Some(lower), None) => format!("lowers {lower}"),
        (None, Some(higher)) => format!("raises {higher}"),
        (None, None) => "changes nothing by more than 1 %".to_owned(),
    };
    let also = also.map_or_else(String::new, |also| format!(". It also lowers {also}"));
    let same = list(&measures, Change::Same);
    let same = same.map_or_else(String::new, |same| format!(". Within 1 %: {same}"));
    let [own, other] = names(pair).unwrap_or_else(|| pair.map(|row| in_words(&row.policy)));
    let said = format!("{own}, compared with {other}, {does}");
    Compared { said, more: also + &same, is_worse_in_part }
}

/// The common names of two policies; `None` unless both have one and these differ.
fn names(pair: [&Replayed; 2]) -> Option<[String; 2]> {
    match pair.map(|row| common_name(&row.policy)) {
        [Some(own), Some(other)] if own != other => Some([own, other].map(str::to_owned)),
        _ => None,
    }
}

/// ``. Fair share is `fair:depth=100`, and first come, first served `fifo:depth=100` ``, if the first sentence
/// has only the common names.
fn codes(pair: [&Replayed; 2]) -> Option<String> {
    let [own, other] = names(pair)?;
    let [best, first] = pair.map(|row| &row.policy);
    Some(format!(". {} is `{best}`, and {other} is `{first}`", capital(&own)))
}

/// That a replay ignores the partitions of a log.
fn pooled(answer: &ReplayAnswer) -> Option<String> {
    let pool = answer.pooled_processors.map(pool)?;
    Some(format!(
        ". The replays treat the whole system as {pool}: tasks that waited for their partition in the record \
        may start at once there"
    ))
}

/// That many jobs end later, as the end of the first sentence: more than end sooner, or so many that the
/// mean response of all jobs rises. `None` otherwise.
fn later(answer: &ReplayAnswer, pair: [&Replayed; 2]) -> Option<String> {
    let against = &pair[0].against_first;
    let [helped, hurt] = [against.helped as u64, against.hurt as u64];
    if helped < hurt {
        let [helped, hurt] = [helped, hurt].map(grouped);
        return Some(format!("; it ends more jobs later ({hurt}) than sooner ({helped})"));
    }
    let jobs = counted(answer.history?.jobs, "job");
    (0 < hurt && all_rises(pair)).then(|| format!("; {} of {jobs} end later", grouped(hurt)))
}

/// The mean waits under both policies as a further sentence, if many tasks arrive at once when the replay
/// starts: over the whole time if the first sentence leaves the first tenth of it out, else without that.
fn settled(answer: &ReplayAnswer, pair: [&Replayed; 2], is_settled: bool) -> Option<String> {
    let crowd = counted(answer.history?.began_before, "task");
    let of = if is_settled { wait_s } else { settled_s };
    let values = alike([of(pair[0])?, of(pair[1])?]);
    let waits = if values[0] == values[1] {
        format!("is {} under both", values[0])
    } else {
        format!("is {} instead of {}", values[0], values[1])
    };
    let time =
        if is_settled { "Over the whole time" } else { "Without the first tenth of the time" };
    (answer.history?.began_before != 0).then(|| {
        format!(
            ". {time}, at whose start {crowd} from before the window arrive at once, the mean wait {waits}"
        )
    })
}

/// `the mean wait of tasks (28.2 min instead of 41.9 min)`; without values if they look the same.
fn told(measure: &Measure, values: [f64; 2]) -> String {
    let [own, first] = if measure.is_time { alike(values) } else { values.map(three_digits) };
    if own == first {
        return measure.name.to_owned();
    }
    let of = if measure.is_time { "" } else { " times their run time" };
    format!("{} ({own} instead of {first}{of})", measure.name)
}

/// `a, b and c`; `None` for nothing.
fn listed(all: &[String]) -> Option<String> {
    match all {
        [] => None,
        [one] => Some(one.clone()),
        [most @ .., last] => Some(format!("{} and {last}", most.join(", "))),
    }
}

/// Whether the tasks that started in the record wait longer under a policy than they did.
fn waits_longer(row: &Replayed, answer: &ReplayAnswer) -> bool {
    let record = answer.recorded.and_then(|record| record.waiting_s);
    let waits = record.zip(row.metrics.recorded_waiting_s.or(row.metrics.waiting_s));
    waits.is_some_and(|(record, own)| Change::of(own.mean, record.mean) == Change::Higher)
}

/// How many jobs end sooner than under the first policy, and how many later.
fn jobs(answer: &ReplayAnswer, best: &Replayed) -> Option<String> {
    let first = answer.policies.first()?;
    let against = &best.against_first;
    let (helped, hurt) = (grouped(against.helped as u64), grouped(against.hurt as u64));
    let of = counted(answer.history?.jobs, "job");
    Some(format!(
        "Of {of}{}, {helped} end sooner under `{}` than under `{}`, and {hurt} later (by {})",
        cut(answer),
        best.policy,
        first.policy,
        answer.by_more_than()
    ))
}

/// The policies under which tasks wait longer and are slowed down more than under the first.
fn worse_ones(answer: &ReplayAnswer, first: &Replayed) -> String {
    let worse =
        answer.policies[1..].iter().filter(|row| delay(row, first) == Some([Change::Higher; 2]));
    let said = worse.filter_map(|row| {
        let [own, first_wait] = alike([wait_s(row)?, wait_s(first)?]);
        let [own_slowdown, first_slowdown] = [slowdown(row)?, slowdown(first)?].map(three_digits);
        let copies = match row.metrics.copies {
            (0, _) => String::new(),
            (started, won) => format!(
                " (it started {} copies, of which {} ended first)",
                grouped(started),
                grouped(won)
            ),
        };
        Some(format!(
            ". `{}` raises both the mean wait ({own} instead of {first_wait}) and the mean \
            slowdown ({own_slowdown} instead of {first_slowdown}){copies}",
            row.policy
        ))
    });
    said.collect()
}

/// ` (1,502 with a task that still runs at the end, ...)`; empty if there is none.
fn cut(answer: &ReplayAnswer) -> String {
    let Some(counts) = answer.history.filter(|counts| 0 < counts.still_running) else {
        return String::new();
    };
    let who = match counts.jobs_still_running {
        Some(jobs) => grouped(jobs),
        None => "some".to_owned(),
    };
    let is_apart = answer.policies.iter().any(|row| row.metrics.whole_job_response_s.is_some());
    let apart = if is_apart { ", which are left out of the responses" } else { "" };
    format!(" ({who} with a task that is cut at the end of the window{apart})")
}

/// The mean responses of all jobs under both policies, as a further sentence, if a policy raises them
/// although it does not raise those of the jobs that the end of the window does not cut.
fn of_all_jobs(pair: [&Replayed; 2]) -> Option<String> {
    let all = |row: &Replayed| Some(row.metrics.job_response_s?.mean);
    let [own, first] = alike([all(pair[0])?, all(pair[1])?]);
    all_rises(pair).then(|| {
        format!(
            ". Over all jobs, with those that the end of the window cuts, the mean response is {own} instead \
            of {first}"
        )
    })
}

/// Whether a policy raises the mean response of all jobs, and not that of those that the window does not
/// cut.
fn all_rises([best, first]: [&Replayed; 2]) -> bool {
    let change =
        |of: fn(&Replayed) -> Option<Spread>| Some(Change::of(of(best)?.mean, of(first)?.mean));
    let whole = change(|row| row.metrics.whole_job_response_s);
    let all = change(|row| row.metrics.job_response_s);
    all == Some(Change::Higher) && whole.is_some_and(|whole| whole != Change::Higher)
}

/// Why no policy can differ.
fn never_full(first: &Replayed, answer: &ReplayAnswer, stored: &Envelope) -> String {
    let stands_for = match answer.capacity() {
        Capacity::Recorded => "",
        Capacity::FromUse => " (the most ever used at once)",
    };
    let full = first.metrics.cpu_share_max.filter(|share| *share < 1.0);
    let full = full.map_or_else(String::new, |share| {
        format!(
            ", and at most {} of {} {}s{stands_for} are in use",
            percent(share),
            six_digits(first.metrics.cpu_there_at_max),
            answer.unit.trim_end_matches("-s")
        )
    });
    let mut remarks = stored.inputs.iter().flat_map(|input| input.remarks.keys());
    let is_known = answer.recorded.is_some_and(|record| record.waiting_s.is_some());
    let is_assumed = |wording: &String| NO_WAIT.iter().any(|begin| wording.starts_with(begin));
    let unknown = if !is_known && remarks.any(is_assumed) {
        ". The log records no waits, so that each job is submitted when it started"
    } else {
        ""
    };
    format!("no task waits{full}{unknown}")
}

//! The tables of `episodes`.

use std::collections::BTreeMap;

use arrow::record_batch::RecordBatch;

use super::seen::Seen;
use super::surges::LongQueue;
use crate::answers::load::share_of;
use crate::results::frame::Frame;
use crate::studies::episodes::{Episode, What, Who};
use crate::units::micros_to_seconds;

/// The key with most events, and its number of events. Of several such keys, it is the first in
/// their order. `None` if no key has more than one event, because such a key means nothing.
fn most<K: Ord>(counts: &BTreeMap<K, u64>) -> Option<(&K, u64)> {
    let all = counts.iter().map(|(key, count)| (key, *count)).filter(|(_, count)| 1 < *count);
    all.max_by(|one, other| one.1.cmp(&other.1).then_with(|| other.0.cmp(one.0)))
}

#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 events")]
fn share(part: u64, whole: u64) -> Option<f64> {
    share_of(Some(part as f64), Some(whole as f64))
}

/// The mean of each interval for which all tasks are known; `None` for the others.
fn means(found: &Seen, means: &[Option<f64>]) -> Vec<Option<f64>> {
    let all = means.iter().enumerate();
    all.map(|(idx, mean)| mean.filter(|_| found.counts.is_whole(idx))).collect()
}

/// The means of running and of waiting tasks.
fn running_and_waiting(found: &Seen) -> [Vec<Option<f64>>; 2] {
    let waiting: &[Option<f64>] = if found.knows_waits { &found.counts.waiting } else { &[] };
    [means(found, &found.counts.running), means(found, waiting)]
}

/// The mean of the interval that is `steps` after `idx` (before it if negative).
fn beside(means: &[Option<f64>], idx: usize, steps: isize) -> Option<f64> {
    means.get(idx.checked_add_signed(steps)?).copied().flatten()
}

/// A row for each episode that is shown.
pub(super) fn episodes(found: &Seen) -> RecordBatch {
    let (counts, at) = (&found.counts, &found.counts.asked.at);
    let each = || found.shown.iter().map(|(one, _)| one);
    let frame = Frame::default()
        .float("start_s", each().map(|one| Some(micros_to_seconds(at.start_of(one.first)))))
        .about("Start of the first interval")
        .float("end_s", each().map(|one| Some(micros_to_seconds(at.end_of(one.last)))))
        .about("End of the last interval")
        .float("first_at_s", instants(found, 0))
        .about("When the first of the events happened, on the trace clock")
        .float("last_at_s", instants(found, 1))
        .about("When the last of the events happened, on the trace clock")
        .text("what", each().map(|one| one.what.name()))
        .about("What happened far more often than usual")
        .count("count", each().map(|one| one.count))
        .about("How often it happened in the episode")
        .float("times_the_mean", each().map(times))
        .about("`count` over what the mean gives in as many intervals")
        .float("share", each().map(|one| share(one.count, counts.total(one.what))))
        .about("`count` over all such events in the time that is known");
    ran(found, others(found, around(found, users(found, frame))))
        .view(&[
            "start_s",
            "end_s",
            "what",
            "count",
            "times_the_mean",
            "share",
            "user",
            "user_share",
            "reason",
            "together_with",
        ])
        .batch()
}

/// The first (0) or the last (1) event of each episode, s.
fn instants(found: &Seen, place: usize) -> Vec<Option<f64>> {
    let spans = found.shown.iter().map(|(_, who)| who.span_us);
    spans.map(|span_us| Some(micros_to_seconds(span_us?[place]))).collect()
}

/// For each episode, the share of its events that `part` counts.
fn shares(found: &Seen, part: fn(&Who) -> Option<u64>) -> Vec<Option<f64>> {
    found.shown.iter().map(|(one, who)| share(part(who)?, one.count)).collect()
}

/// Adds the columns of users.
fn users(found: &Seen, frame: Frame) -> Frame {
    let each = || found.shown.iter();
    frame
        .maybe_text("user", each().map(|(_, who)| Some(most(&who.users)?.0.as_str())))
        .about("The user with most of the events")
        .float("user_share", shares(found, |who| Some(most(&who.users)?.1)))
        .about("Events of this user over `count`")
}

/// Adds the columns of reasons, jobs, users and machines.
fn others(found: &Seen, frame: Frame) -> Frame {
    let each = || found.shown.iter();
    let of_tasks = |counted: fn(&Who) -> usize| {
        let some = |(one, who): &(Episode, Who)| {
            (one.what != What::Left).then(|| counted(who) as u64).filter(|count| 0 < *count)
        };
        each().map(some).collect::<Vec<_>>()
    };
    frame
        .maybe_text("reason", each().map(|(_, who)| Some(most(&who.reasons)?.0.as_str())))
        .about("The most frequent reason for which the jobs ended, if the log records it")
        .float("reason_share", shares(found, |who| Some(most(&who.reasons)?.1)))
        .about("Events with this reason over `count`")
        .maybe_count("jobs", of_tasks(|who| who.jobs.len()))
        .about("Jobs with such an event in the episode")
        .maybe_count("users", of_tasks(|who| who.users.len()))
        .about("Users of these jobs")
        .maybe_int("job_id", each().map(|(_, who)| Some(*most(&who.jobs)?.0)))
        .about("The job with most of the events; none if each has one")
        .float("job_share", shares(found, |who| Some(most(&who.jobs)?.1)))
        .about("Events of this job over `count`")
        .maybe_int("machine_id", each().map(|(_, who)| Some(*most(&who.machines)?.0)))
        .about("The machine with most of the attempts that ended so")
        .float("machine_share", shares(found, |who| Some(most(&who.machines)?.1)))
        .about("Attempts that ended so on this machine over `count`")
}

/// Adds the columns about the attempts that these events ended.
fn ran(found: &Seen, frame: Frame) -> Frame {
    let ended = |count: fn(&Who) -> u64| {
        let each = found.shown.iter();
        each.map(|(_, who)| (0 < who.attempts).then(|| count(who))).collect::<Vec<_>>()
    };
    let waited = |(one, who): &(Episode, Who)| {
        let is_of_tasks = one.what != What::Left && one.what != What::Submitted;
        is_of_tasks.then_some(who.waiting)
    };
    frame
        .maybe_count("attempts", ended(|who| who.attempts))
        .about("Attempts that ended so in the episode")
        .maybe_count("attempts_under_10s", ended(|who| who.quick))
        .about("Those of them that ended less than 10 s after their start")
        .maybe_count("machines", ended(|who| who.machines.len() as u64))
        .about("Machines on which they ran")
        .maybe_count("were_waiting", found.shown.iter().map(waited))
        .about("Events of tasks that waited, for their first attempt or for another one")
}

/// A row for each day that is shown.
pub(super) fn days(found: &Seen) -> RecordBatch {
    let at = &found.counts.asked.at;
    let each = || found.shown_days.iter();
    let own = |one: &Episode| &found.days[one.what as usize];
    Frame::default()
        .float("start_s", each().map(|(one, _)| Some(micros_to_seconds(at.start_of(one.first)))))
        .about("Start of the day")
        .float("end_s", each().map(|(one, _)| Some(micros_to_seconds(at.end_of(one.last)))))
        .about("End of the day")
        .text("what", each().map(|(one, _)| one.what.name()))
        .about("What happened far more often than on other days")
        .count("count", each().map(|(one, _)| one.count))
        .about("How often it happened on the day")
        .float("median_day", each().map(|(one, _)| Some(own(one).median)))
        .about("The median of the days that are known in full")
        .float("times_the_median", each().map(|(one, _)| times(one)))
        .about("`count` over the median")
        .float("deviation", each().map(|(one, _)| Some(own(one).spread)))
        .about("The median absolute deviation of these days from their median")
        .count("known_days", each().map(|(one, _)| own(one).known as u64))
        .about("Days that are known in full")
        .count("found_days", each().map(|(one, _)| own(one).found.len() as u64))
        .about("Those of them that stand out")
        .maybe_text("user", each().map(|(_, who)| Some(most(&who.users)?.0.as_str())))
        .about("The user with most of the events")
        .float("user_share", each().map(|(one, who)| share(most(&who.users)?.1, one.count)))
        .about("Events of this user over `count`")
        .batch()
}

/// The longest queue, with the user whose tasks waited longest.
pub(super) fn queue(found: &Seen) -> Option<LongQueue> {
    let (queue, at) = (found.queue?, &found.counts.asked.at);
    let us = |us: i64| u64::try_from(us).unwrap_or(0);
    let by_user: BTreeMap<&str, u64> =
        found.queue_us.iter().map(|(user, own)| (user.as_str(), us(*own))).collect();
    let most = most(&by_user);
    let all = us(found.queue_all_us);
    Some(LongQueue {
        start_s: micros_to_seconds(at.start_of(queue.first)),
        end_s: micros_to_seconds(at.end_of(queue.last)),
        waiting_from: queue.from,
        waiting_most: queue.most,
        waiting_mean: queue.mean,
        user: most.map(|(user, _)| (*user).to_owned()),
        queue_user_share: most.and_then(|(_, own)| share(own, all)),
    })
}

/// Adds what the cluster did before, during and after the episodes.
fn around(found: &Seen, frame: Frame) -> Frame {
    let counts = &found.counts;
    let each = || found.shown.iter().map(|(one, _)| one);
    let [running, waiting] = running_and_waiting(found);
    let before =
        |means: &[Option<f64>]| each().map(|one| beside(means, one.first, -1)).collect::<Vec<_>>();
    let after =
        |means: &[Option<f64>]| each().map(|one| beside(means, one.last, 1)).collect::<Vec<_>>();
    let left = |one: &Episode| -> Option<u64> {
        let within = one.first..=one.last;
        let is_known = within.clone().all(|idx| counts.knows(What::Left, idx));
        is_known.then(|| counts.events[What::Left as usize][within].iter().sum())
    };
    frame
        .float("running_before", before(&running))
        .about("Running tasks in the interval before, the mean")
        .float("running_after", after(&running))
        .about("Running tasks in the interval after, the mean")
        .float("waiting_before", before(&waiting))
        .about("Waiting tasks in the interval before, the mean")
        .float("waiting_after", after(&waiting))
        .about("Waiting tasks in the interval after, the mean")
        .maybe_count("machines_left", each().map(left))
        .about("Machines that left in the episode")
        .text("together_with", each().map(|one| with(found, one)))
        .about("What else happened far more often than usual at the same time")
}

fn times(one: &Episode) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 events")]
    let count = one.count as f64;
    (0.0 < one.expected).then(|| count / one.expected)
}

/// The other kinds that have an episode in one of the same intervals, including episodes that are
/// not shown.
fn with(found: &Seen, one: &Episode) -> String {
    let other = |what: &What| {
        *what != one.what && found.all[*what as usize].iter().any(|other| one.meets(other))
    };
    let names: Vec<&str> =
        What::ALL.iter().filter(|what| other(what)).map(|what| what.name()).collect();
    names.join(", ")
}

/// A row for each kind of event that occurs.
pub(super) fn kinds(found: &Seen) -> RecordBatch {
    let (counts, asked) = (&found.counts, &found.counts.asked);
    let kinds: Vec<What> = What::ALL.into_iter().filter(|what| 0 < counts.total(*what)).collect();
    let each = || kinds.iter().copied();
    let within = |what: What| -> u64 { found.all[what as usize].iter().map(|one| one.count).sum() };
    let intervals = |what: What| -> u64 {
        found.all[what as usize].iter().map(|one| (one.last - one.first + 1) as u64).sum()
    };
    let known =
        |what: What| (0..asked.at.count()).filter(|idx| counts.knows(what, *idx)).count() as u64;
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 events")]
    let mean = |what: What| {
        let intervals = asked.known_us(what) as f64 / asked.at.length_us as f64;
        (0.0 < intervals).then(|| counts.total(what) as f64 / intervals)
    };
    Frame::default()
        .text("what", each().map(What::name))
        .about("What happened")
        .count("count", each().map(|what| counts.total(what)))
        .about("How often it happened")
        .count("known_intervals", each().map(known))
        .about("Intervals for which it is known, in full or in part")
        .float("mean", each().map(mean))
        .about("`count` per interval")
        .count("episodes", each().map(|what| found.all[what as usize].len() as u64))
        .about("Runs of neighbouring intervals that stand out")
        .count("intervals", each().map(intervals))
        .about("Intervals in episodes")
        .count("in_episodes", each().map(within))
        .about("Events in episodes")
        .float("in_episodes_share", each().map(|what| share(within(what), counts.total(what))))
        .about("`in_episodes` over `count`")
        .batch()
}

/// A row for each interval.
pub(super) fn intervals(found: &Seen) -> RecordBatch {
    let (counts, at) = (&found.counts, &found.counts.asked.at);
    let all = || 0..at.count();
    let mut frame = Frame::default()
        .float("start_s", all().map(|idx| Some(micros_to_seconds(at.start_of(idx)))))
        .about("Start of the interval")
        .float("end_s", all().map(|idx| Some(micros_to_seconds(at.end_of(idx)))))
        .about("End of the interval");
    for what in What::ALL {
        if 0 < counts.total(what) {
            let cell = |idx| counts.knows(what, idx).then(|| counts.events[what as usize][idx]);
            let name = what.name().replace(' ', "_");
            frame = frame.maybe_count(&name, all().map(cell)).about("How often it happened");
        }
    }
    let [running, waiting] = running_and_waiting(found);
    let waiting = if waiting.is_empty() { vec![None; at.count()] } else { waiting };
    frame
        .float("running", running)
        .about("Running tasks, the mean")
        .float("waiting", waiting)
        .about("Waiting tasks, the mean")
        .batch()
}

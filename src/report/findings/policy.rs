//! Whether another policy would have done better: the values that improve and those that get worse.

use super::Told;
use super::policy_burst::in_one_burst;
use super::policy_measures::{
    Change, FIRST, Measure, What, listed, listed_of, measures, settled_s, slowdown, wait_s,
};
use crate::answers::assumed::NO_WAIT;
use crate::answers::replay::{
    COPY_HAS_SAME_WORK, ReplayAnswer, Replayed, common_name, in_words, killed, left_out, name_in,
    pool, recorded,
};
use crate::answers::sentences::{Capacity, capital, percent};
use crate::digits::{alike, counted, grouped, six_digits, three_digits};
use crate::replay::metrics::{Paired, Spread};
use crate::results::envelope::Envelope;
use crate::schema::Source;

/// Whether many tasks arrive at once when the replay starts, and the waits of later tasks change in
/// the same direction. The waits of later tasks then say more about the policies.
fn is_settled(answer: &ReplayAnswer, [best, first]: [&Replayed; 2]) -> bool {
    let change = |of: fn(&Replayed) -> Option<f64>| Some(Change::of(of(best)?, of(first)?));
    let has_crowd = answer.history.is_some_and(|counts| 0 < counts.began_before);
    has_crowd && change(settled_s).is_some() && change(settled_s) == change(wait_s)
}

/// How the wait and the slowdown of tasks change from the first policy to this one.
fn delay(row: &Replayed, first: &Replayed) -> Option<[Change; 2]> {
    let of = |value: fn(&Replayed) -> Option<f64>| Some(Change::of(value(row)?, value(first)?));
    Some([of(wait_s)?, of(slowdown)?])
}

/// The other policy with the smallest mean bounded slowdown, if that and the mean wait are more
/// than 1 % smaller than under the first policy. The sentences have everything that gets better or
/// worse. If no task waits under any policy, the policies cannot differ.
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
    // If several policies have equal values, the first one is taken.
    let (delay, _, best) = known.min_by(|one, other| {
        let is_worse = |delay: [Change; 2]| delay != [Change::Lower; 2];
        is_worse(one.0).cmp(&is_worse(other.0)).then(one.1.total_cmp(&other.1))
    })?;
    let kills = if kills.is_empty() { kills } else { format!("; {kills}") };
    let pair = [best, first];
    let is_settled = is_settled(answer, pair);
    let Compared { said, more, is_worse_in_part } = compared(answer, pair, is_settled);
    let confined = confined(answer, stored);
    let is_confined = confined.is_some();
    let pooled = if is_confined { None } else { pooled(answer) };
    let confined = confined.map_or_else(String::new, |said| format!(" ({said})"));
    let settled = settled(answer, pair, is_settled);
    let rest = [
        lost_more(pair),
        pooled,
        settled,
        in_one_burst(pair, is_settled),
        limited(answer, pair),
        even(pair),
        jobs(answer, best),
    ];
    let more = more + &rest.into_iter().flatten().collect::<String>();
    let record = recorded(answer).map(|said| format!(". {said}"));
    let weak = record.as_ref().map(|said| format!("{said}; {}", left_out(answer)));
    let weak = weak.unwrap_or_default();
    if delay != [Change::Lower; 2] {
        return Some(Told::NotShown(format!(
            "No other policy is shown to lower both the mean wait of tasks and their mean slowdown{confined}: {said}{kills}{more}{weak}"
        )));
    }
    let others = worse_ones(answer, first);
    if answer.policies.iter().all(|row| waits_longer(row, answer)) {
        return Some(Told::NotShown(format!(
            "No policy is shown to do better than what was done: under each of them tasks wait longer than \
            they did{confined}. Among them, {said}{kills}{more}{}{others}",
            record.unwrap_or_default()
        )));
    }
    // If the first policy is worse than what was done, a policy that is better than the first may
    // not be an improvement.
    let is_weak = waits_longer(first, answer);
    let verdict = match (is_worse_in_part, is_weak || is_confined) {
        (true, _) if is_confined => "Perhaps in part",
        (true, _) => "In part",
        (false, true) => "Perhaps",
        (false, false) => "Yes",
    };
    let weak = if is_weak {
        let name = name_in(answer, &first.policy);
        format!("{weak}. Under {name} tasks wait longer than they did: that is a weak rival")
    } else {
        weak
    };
    Some(Told::Shown(format!("{verdict}{confined}: {said}{kills}{more}{weak}{others}")))
}

/// The effect of the kill rule of a policy; `None` if there is no kill rule or it killed no task.
fn kill_of(row: &Replayed, first: &Replayed) -> Option<String> {
    let names = [&row.policy, &first.policy].map(|name| format!("`{name}`"));
    let harmed = row.against_first.harmed;
    killed([&names[0], &names[1]], row.metrics.condemned_tasks, harmed, row.cpu_saved_share)
}

/// The changes under a policy, compared with the first.
struct Compared {
    /// `fair share, compared with first come, first served, ends 1,043 of 12,001 jobs sooner and
    /// 346 later; it lowers the mean wait of tasks (28.2 min instead of 41.9 min), but raises ...`:
    /// the jobs, the decisive changes, and those for the worse.
    said: String,
    /// `. It also lowers ...; within 1 %: ...`: the other changes.
    more: String,
    is_worse_in_part: bool,
}

fn compared(answer: &ReplayAnswer, pair: [&Replayed; 2], is_settled: bool) -> Compared {
    let [best, first] = pair;
    let is_whole = pair.iter().any(|row| row.metrics.whole_job_response_s.is_some());
    let changes = |measure: &&Measure, wanted: Change| {
        let values = (measure.of)(best).zip((measure.of)(first));
        values.is_some_and(|(own, first)| Change::of(own, first) == wanted)
    };
    let of = |measures: &[Measure], wanted: Change| -> Vec<Measure> {
        measures.iter().filter(|measure| changes(measure, wanted)).copied().collect()
    };
    let list = |measures: &[Measure]| listed_of(measures, pair, is_whole);
    let measures = measures(pair, is_settled);
    let (decisive, others) = measures.split_at(FIRST);
    let mut higher = of(&measures, Change::Higher);
    // The slowest 1 % are among the slowest 5 %.
    let slowest = |one: &Measure| one.what == What::Slowest;
    let is_twice = higher.iter().filter(|one| slowest(one)).count() == 2;
    let at = higher.iter().rposition(slowest).filter(|_| is_twice);
    let slower: Vec<Measure> = at.map(|at| higher.remove(at)).into_iter().collect();
    let (lower, also) = match list(&of(decisive, Change::Lower)) {
        Some(lower) => (Some(lower), list(&of(others, Change::Lower))),
        None => (list(&of(others, Change::Lower)), None),
    };
    let higher = list(&higher);
    let is_worse = higher.is_some() || is_later_in_all(pair);
    let is_worse_in_part = lower.is_some() && is_worse;
    let does = match (lower, higher) {
        (Some(lower), Some(higher)) => format!("lowers {lower}, but raises {higher}"),
        (Some(lower), None) => format!("lowers {lower}"),
        (None, Some(higher)) => format!("raises {higher}"),
        (None, None) => "changes nothing by more than 1 %".to_owned(),
    };
    let in_all = risen(pair).map(|risen| format!("; {OF_ALL_JOBS}, it raises {risen}"));
    let does = does + &in_all.unwrap_or_default();
    let mut further: Vec<String> =
        also.map(|also| format!("it also lowers {also}")).into_iter().collect();
    further.extend(list(&slower).map(|slower| format!("it also raises {slower}")));
    // A makespan that stays the same says little, because the last jobs decide it.
    let same: Vec<Measure> = of(&measures[..measures.len() - 1], Change::Same);
    further.extend(list(&same).map(|same| format!("within 1 %: {same}")));
    let more = capital(&further.join("; "));
    let more = if more.is_empty() { more } else { format!(". {more}") };
    let [own, other] = names(pair).unwrap_or_else(|| pair.map(|row| in_words(&row.policy)));
    let [helped, hurt] = [best.against_first.helped as u64, best.against_first.hurt as u64];
    let jobs = answer.history.map(|counts| counts.jobs).filter(|_| 0 < helped + hurt);
    let ends = jobs.map_or_else(String::new, |jobs| {
        let (helped, hurt) = (grouped(helped), grouped(hurt));
        format!("ends {helped} of {} sooner and {hurt} later; it ", counted(jobs, "job"))
    });
    let said = format!("{own}, compared with {other}, {ends}{does}");
    Compared { said, more, is_worse_in_part }
}

/// The common names of two policies; `None` unless both have one and the names differ.
fn names(pair: [&Replayed; 2]) -> Option<[String; 2]> {
    match pair.map(|row| common_name(&row.policy)) {
        [Some(own), Some(other)] if own != other => Some([own, other]),
        _ => None,
    }
}

/// A queue was confined if it never used more than this part of all processors. A replay with a
/// single pool is then a strong assumption.
const CONFINED: f64 = 0.9;

/// A clause for the start of the first sentence: the queue with most tasks never used all
/// processors.
fn confined(answer: &ReplayAnswer, stored: &Envelope) -> Option<String> {
    let queue = answer.largest_queue.as_ref()?;
    let all = answer.pooled_processors?;
    let is_slurm = stored.source.as_deref() == Some(Source::Slurm.name());
    let noun = if is_slurm { "partition" } else { "queue" };
    (queue.processors_max <= CONFINED * all).then(|| {
        format!(
            "the replays give all {} processors to every job, but {noun} {}, with {} of the tasks, never used \
            more than {} at once in the record",
            six_digits(all),
            queue.name,
            percent(queue.part()),
            six_digits(queue.processors_max)
        )
    })
}

/// A sentence that a replay ignores the partitions of a log.
fn pooled(answer: &ReplayAnswer) -> Option<String> {
    let pool = answer.pooled_processors.map(pool)?;
    Some(format!(
        ". The replays treat the whole system as {pool}: tasks that waited for their partition in the record \
        may start at once there"
    ))
}

/// Whether a policy is worse for jobs as a whole: it ends more of them later than sooner, or the
/// responses of all jobs rise and some end later.
fn is_later_in_all(pair: [&Replayed; 2]) -> bool {
    let against = &pair[0].against_first;
    let rises = 0 < against.hurt && risen(pair).is_some();
    against.helped < against.hurt || rises
}

/// A further sentence if many tasks arrive at once when the replay starts. It says why the first
/// sentence leaves out the first tenth of the time, or gives the waits without that tenth.
fn settled(answer: &ReplayAnswer, pair: [&Replayed; 2], is_settled: bool) -> Option<String> {
    let crowd = answer.history?.began_before;
    let values = alike([settled_s(pair[0])?, settled_s(pair[1])?]);
    let crowd = (crowd != 0).then(|| counted(crowd, "task"))?;
    if is_settled {
        return Some(format!(
            ". The first tenth of the time is left out there since {crowd} from before the window arrive at \
            its start at once; means over the whole time are in the table of the page"
        ));
    }
    let waits = if values[0] == values[1] {
        format!("is {} under both", values[0])
    } else {
        format!("is {} instead of {}", values[0], values[1])
    };
    Some(format!(
        ". Without the first tenth of the time, at whose start {crowd} from before the window arrive at once, \
        the mean wait {waits}"
    ))
}

/// How often each of two policies looked no further although a machine had room, if one of them did
/// so at least twice as often. Its limit may then explain a difference.
fn limited(answer: &ReplayAnswer, [best, first]: [&Replayed; 2]) -> Option<String> {
    let [own, other] = [best.depth_cuts?, first.depth_cuts?];
    let [few, many] = [own.min(other), own.max(other)];
    (0 < many && few.saturating_mul(2) <= many).then(|| {
        format!(
            ". At {} instants under {} and {} under {}, tasks waited beyond the depth of the policy although \
            a machine had room: part of the difference may come from this limit, and a replay with a larger depth \
            would show how much",
            grouped(other),
            name_in(answer, &first.policy),
            grouped(own),
            name_in(answer, &best.policy),
        )
    })
}

/// How even the slowdowns of users are under both policies; `None` if that does not change.
fn even([best, first]: [&Replayed; 2]) -> Option<String> {
    let [own, other] = [best.metrics.user_fairness?, first.metrics.user_fairness?];
    let how = match Change::of(own, other) {
        Change::Higher => "more",
        Change::Lower => "less",
        Change::Same => return None,
    };
    Some(format!(
        ". The mean slowdowns of users are {how} even: Jain's index of them, which is 1 if all are equal, is {} \
        instead of {}",
        three_digits(own),
        three_digits(other)
    ))
}

/// Whether the tasks that started in the record wait longer under a policy than they did in the
/// record.
fn waits_longer(row: &Replayed, answer: &ReplayAnswer) -> bool {
    let record = answer.recorded.and_then(|record| record.waiting_s);
    let waits = record.zip(row.metrics.recorded_waiting_s.or(row.metrics.waiting_s));
    waits.is_some_and(|(record, own)| Change::of(own.mean, record.mean) == Change::Higher)
}

/// What the numbers of jobs that end sooner and later mean, as a further sentence.
/// `None` if no job does.
fn jobs(answer: &ReplayAnswer, best: &Replayed) -> Option<String> {
    let counts = answer.history?;
    let Paired { helped, hurt, .. } = best.against_first;
    if helped + hurt == 0 && counts.still_running == 0 {
        return None;
    }
    Some(format!(". Jobs count as sooner or later by {}{}", answer.by_more_than(), cut(answer)))
}

/// One sentence about the policies with a longer mean wait and a larger mean slowdown than under
/// the first.
fn worse_ones(answer: &ReplayAnswer, first: &Replayed) -> String {
    let is_repeated = answer.decisive.iter().any(|assumed| assumed == COPY_HAS_SAME_WORK);
    let why = if is_repeated { ": each repeats the whole work of its task" } else { "" };
    let worse =
        answer.policies[1..].iter().filter(|row| delay(row, first) == Some([Change::Higher; 2]));
    let said = worse.filter_map(|row| {
        let [own, first_wait] = alike([wait_s(row)?, wait_s(first)?]);
        let [own_slowdown, first_slowdown] = [slowdown(row)?, slowdown(first)?].map(three_digits);
        let copies = match row.metrics.copies {
            (0, _) => String::new(),
            (started, won) => format!(
                " (it started {} copies, of which {} ended first{why})",
                grouped(started),
                grouped(won)
            ),
        };
        Some(format!(
            "{} raises both the mean wait ({own} instead of {first_wait}) and the mean \
            slowdown ({own_slowdown} instead of {first_slowdown}){copies}",
            name_in(answer, &row.policy)
        ))
    });
    let said = said.collect::<Vec<String>>().join("; ");
    if said.is_empty() { said } else { format!(". {}", capital(&said)) }
}

/// `; 1,502 have a task that is cut at the end of the window, ...`; empty if there is no such task.
fn cut(answer: &ReplayAnswer) -> String {
    let Some(counts) = answer.history.filter(|counts| 0 < counts.still_running) else {
        return String::new();
    };
    let who = match counts.jobs_still_running {
        Some(jobs) => grouped(jobs),
        None => "some".to_owned(),
    };
    let is_apart = answer.policies.iter().any(|row| row.metrics.whole_job_response_s.is_some());
    let apart = if is_apart { ", and are left out of the responses" } else { "" };
    format!("; {who} of them have a task that is cut at the end of the window{apart}")
}

/// The jobs of [`risen`].
const OF_ALL_JOBS: &str = "over all jobs, with those that the end of the window cuts";

/// The responses over all jobs that rise under a policy, although they do not rise over the jobs
/// that the end of the window does not cut. `None` if there are none.
fn risen(pair: [&Replayed; 2]) -> Option<String> {
    let change = |spreads: [Spread; 2], value: fn(Spread) -> f64| {
        let [own, first] = spreads.map(value);
        Change::of(own, first)
    };
    let [own, first] = pair.map(|row| row.metrics.job_response_s);
    let [own_whole, first_whole] = pair.map(|row| row.metrics.whole_job_response_s);
    let (all, whole) = ([own?, first?], [own_whole?, first_whole?]);
    let said = |name: &str, longer: &str, value: fn(Spread) -> f64| {
        let rises = |spreads| change(spreads, value) == Change::Higher;
        let [own, first] = alike(all.map(value));
        (rises(all) && !rises(whole)).then(|| format!("{name} ({own}{longer} instead of {first})"))
    };
    let rising = [
        said("the mean response", "", |spread| spread.mean),
        said("that of the slowest 5 %", " or longer", |spread| spread.p95),
        said("that of the slowest 1 %", " or longer", |spread| spread.p99),
    ];
    listed(&rising.into_iter().flatten().collect::<Vec<String>>())
}

/// Lost running time may explain a rise of all responses if it is at least this part of the rise.
const EXPLAINED: f64 = 0.5;

/// A further sentence if the responses over all jobs rise: more running time was lost with
/// machines, which may explain the rise. Tasks on a machine that leaves start again.
#[expect(clippy::cast_precision_loss, reason = "a count of jobs")]
fn lost_more(pair: [&Replayed; 2]) -> Option<String> {
    risen(pair)?;
    let [own, other] = pair.map(|row| row.metrics.job_response_s);
    let (own, other) = own.zip(other)?;
    let rise_s = own.mean * own.count as f64 - other.mean * other.count as f64;
    let lost_s = pair.map(|row| row.metrics.lost.time_s);
    (0.0 < rise_s && EXPLAINED * rise_s <= lost_s[0] - lost_s[1]).then(|| {
        let [own, first] = lost_s.map(|lost_s| three_digits(lost_s / 3600.0));
        format!(
            ". More running time was lost with machines that left ({own} task-h instead of {first} task-h), which may \
            explain why responses over all jobs rise: it depends on which tasks ran there"
        )
    })
}

/// The reason why the policies cannot differ.
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

//! Words about replays: what a policy does, what a kill rule cost, and which assumptions decide.
//!
//! In: names of policies, counts and metrics. Out: parts of sentences for findings, captions and
//! pages. No number is computed here.

use std::fmt::Write;

use super::{ReplayAnswer, Replayed, pool};
use crate::answers::sentences::percent;
use crate::digits::{counted, grouped, lasting, three_digits};
use crate::replay::detectors;
use crate::replay::history::{Counts, HistoryPlan, Overcommit, RerunWork};
use crate::replay::policies::{self, PolicyPlan};
use crate::schema::Source;

/// What a policy does, in words: `first come, first served, skipping at most 100 tasks that fit
/// nowhere`; `None` if it cannot be read.
pub(crate) fn explained(policy: &str) -> Option<String> {
    let plan: PolicyPlan = policy.parse().ok()?;
    let (order, parameters) = (plan.order.0.as_ref(), plan.order.1.parameters());
    let of = |key: &str| parameters.iter().find(|own| own.0 == key).map(|own| own.1.as_str());
    let mut said = match order {
        "fifo" => "first come, first served".to_owned(),
        "easy" => "EASY backfilling: first come, first served, but a later task may start earlier \
            if it does not delay the first that waits"
            .to_owned(),
        "fair" => {
            let half_life_s = of("half_life_s").and_then(|text| text.parse().ok());
            let half_life = half_life_s.map_or_else(String::new, |seconds: f64| {
                format!("; use counts half after {}", lasting(seconds))
            });
            format!(
                "the user with the least recent use comes first (HTCondor's fair share{half_life})"
            )
        }
        other => about(other)?,
    };
    if let Some(depth) = of("depth").filter(|depth| *depth != "all") {
        let tasks = depth.parse().map_or_else(|_| depth.to_owned(), |count| counted(count, "task"));
        let _ = write!(said, ", skipping at most {tasks} that fit nowhere");
    }
    let rules = [Some(&plan.speculation), plan.second_speculation.as_ref()];
    for (name, _) in rules.into_iter().flatten().filter(|rule| rule.0 != "none") {
        let about = about(name).map_or_else(String::new, |about| format!(" ({about})"));
        let _ = write!(said, ", with the rule {name} about running tasks{about}");
    }
    if plan.kill.is_some() {
        said.push_str(", with a rule that kills tasks");
    }
    Some(said)
}

/// A policy in a few words with its notation: ``fair share (`fair:depth=100`)``; the notation alone if
/// there is no common name for it.
pub(crate) fn in_words(policy: &str) -> String {
    let name = common_name(policy);
    name.map_or_else(|| format!("`{policy}`"), |name| format!("{name} (`{policy}`)"))
}

/// The common name of a policy without rules about running tasks: `fair share`.
pub(crate) fn common_name(policy: &str) -> Option<&'static str> {
    let plan: PolicyPlan = policy.parse().ok()?;
    let is_alone =
        plan.kill.is_none() && plan.speculation.0 == "none" && plan.second_speculation.is_none();
    match plan.order.0.as_ref() {
        "fifo" => Some("first come, first served"),
        "easy" => Some("EASY backfilling"),
        "fair" => Some("fair share"),
        _ => None,
    }
    .filter(|_| is_alone)
}

/// The first clause of the description of an order, a rule or a detector.
fn about(name: &str) -> Option<String> {
    let known = policies::KINDS.iter().map(|kind| (kind.name, kind.about));
    let known = known.chain(detectors::KINDS.iter().map(|kind| (kind.name, kind.about)));
    let text = known.into_iter().find(|kind| kind.0 == name)?.1;
    Some(text.split(';').next().unwrap_or(text).to_owned())
}

/// What the kill rule of a policy did, compared with the first policy: `b kills 31 tasks: 4 jobs
/// that finish under a do not finish (harmed), and 3.1 % of the CPU time is saved`; `None` if it
/// killed nothing.
pub(crate) fn killed(
    [policy, first]: [&str; 2],
    tasks: usize,
    harmed: usize,
    saved_share: Option<f64>,
) -> Option<String> {
    if tasks == 0 {
        return None;
    }
    let harmed = match harmed {
        0 => format!("no job that finishes under {first} is harmed"),
        1 => format!("1 job that finishes under {first} does not finish (harmed)"),
        some => {
            let jobs = grouped(some as u64);
            format!("{jobs} jobs that finish under {first} do not finish (harmed)")
        }
    };
    let saved = saved_share.map_or_else(String::new, |share| {
        if share < 0.0 {
            format!(", and {} more CPU time is used", percent(-share))
        } else {
            format!(", and {} of the CPU time is saved", percent(share))
        }
    });
    Some(format!("{policy} kills {}: {harmed}{saved}", counted(tasks as u64, "task")))
}

/// The assumptions that decide how close a replay is to the record, as sentences. `preempted` are
/// the attempts that were evicted to make room and `copies` those that were started, under all policies
/// and seeds.
pub(super) fn decisive(
    (counts, (plan, overcommit), source): (&Counts, (&HistoryPlan, f64), Source),
    pooled: Option<f64>,
    [preempted, copies]: [u64; 2],
) -> Vec<String> {
    let mut said = Vec::new();
    if 0 < counts.dropped_attempts {
        let attempts = counted(counts.dropped_attempts, "recorded attempt");
        said.push(format!(
            "{attempts} that ended with an eviction, a loss or a resubmission {} not replayed.",
            if counts.dropped_attempts == 1 { "is" } else { "are" }
        ));
    }
    if source.is_google() && preempted == 0 {
        said.push("No task is preempted, whatever its priority.".to_owned());
    }
    if overcommit != 1.0 {
        let as_recorded = match plan.overcommit {
            Overcommit::Recorded => ", which was enough for 99 % of the machines in the record",
            Overcommit::Factor(_) => "",
        };
        said.push(format!(
            "The requests on a machine may add up to {overcommit} times its capacity{as_recorded}."
        ));
    }
    match pooled {
        Some(processors) => said.push(format!(
            "Any processor can run any job: the whole system is {}.",
            pool(processors)
        )),
        None if source.is_google() => {
            said.push("Most placement constraints are ignored.".to_owned());
        }
        None => {}
    }
    if 0 < copies {
        let work = match plan.reruns {
            RerunWork::Same => {
                "A copy has as much work as its task, so it ends first only if its machine is faster; \
                with --reruns sibling it has the work of another task of its job, much as in the dry \
                run of the detectors."
            }
            RerunWork::Sibling => {
                "A copy has the work of another task of its job: the cause of a slow task never recurs."
            }
        };
        said.push(work.to_owned());
    }
    said
}

/// The recorded mean wait in a sentence, beside that of the same tasks under some of the policies;
/// `None` if it is not known of the record or of any of them.
pub(crate) fn recorded<'a>(
    answer: &ReplayAnswer,
    policies: impl IntoIterator<Item = &'a Replayed>,
) -> Option<String> {
    let waits = answer.recorded?.waiting_s?;
    let known = policies.into_iter().filter_map(|row| {
        Some((row, row.metrics.recorded_waiting_s.or(row.metrics.waiting_s)?.mean))
    });
    let known: Vec<(&Replayed, f64)> = known.collect();
    let under = known.iter().map(|(row, own)| format!("{} under `{}`", lasting(*own), row.policy));
    let under: Vec<String> = under.collect();
    (!under.is_empty()).then(|| {
        format!(
            "The {} that started waited {} on average in the record; in the replays the same tasks wait {}{}",
            counted(waits.count as u64, "task"),
            lasting(waits.mean),
            under.join(" and "),
            other_way(answer, &known).unwrap_or_default()
        )
    })
}

/// That the record has longer waits than a policy and yet a smaller slowdown, in which a wait weighs
/// the more, the shorter its task; `None` unless that holds for one of them.
fn other_way(answer: &ReplayAnswer, policies: &[(&Replayed, f64)]) -> Option<String> {
    let record = answer.recorded?;
    let (wait_s, slowdown) = (record.waiting_s?.mean, record.bounded_slowdown?.mean);
    let mut slower = policies.iter().filter_map(|(row, own_s)| {
        let own = row.metrics.bounded_slowdown?.mean;
        let is_told = three_digits(slowdown) != three_digits(own);
        (*own_s < wait_s && slowdown < own && is_told).then_some((row, own))
    });
    let (row, own) = slower.next()?;
    Some(format!(
        ". The record still has a smaller mean bounded slowdown of finished tasks ({}) than `{}` ({}), which \
        happens if long tasks wait longest",
        three_digits(slowdown),
        row.policy,
        three_digits(own)
    ))
}

/// What to think of a difference between the record and a replay, in a sentence.
pub(crate) fn left_out(answer: &ReplayAnswer) -> String {
    let such = not_replayed(answer).map_or_else(String::new, |share| {
        format!(", such as attempts with {} of the requested CPU time", percent(share))
    });
    format!(
        "The replays leave out what else made tasks wait{such}: compare the policies with each other, not \
        with the record"
    )
}

/// The smallest share of the recorded CPU time that is worth a word.
const MENTIONED: f64 = 0.01;

/// The share of the recorded CPU time in attempts that are not replayed, if it is worth a word.
pub(crate) fn not_replayed(answer: &ReplayAnswer) -> Option<f64> {
    let share = answer.recorded.and_then(|record| record.dropped_cpu_share);
    share.filter(|&share| MENTIONED <= share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::history::Schedule;
    use crate::replay::metrics::{Metrics, Spread};

    #[test]
    fn common_policies_have_a_name() {
        assert_eq!(in_words("fair:depth=100"), "fair share (`fair:depth=100`)");
        assert_eq!(in_words("easy"), "EASY backfilling (`easy`)");
        for own in ["fifo+late:heartbeat_s=60", "kill:events=20+fifo", "mine"] {
            assert_eq!(in_words(own), format!("`{own}`"));
        }
    }

    #[test]
    fn policies_are_explained_in_words() {
        for (policy, said) in [
            ("fifo", "first come, first served"),
            (
                "fifo:depth=100",
                "first come, first served, skipping at most 100 tasks that fit nowhere",
            ),
            (
                "easy",
                "EASY backfilling: first come, first served, but a later task may start earlier if \
                it does not delay the first that waits",
            ),
            (
                "fair:depth=100",
                "the user with the least recent use comes first (HTCondor's fair share; use counts \
                half after 24 h), skipping at most 100 tasks that fit nowhere",
            ),
            ("fifo+kill:events=20", "first come, first served, with a rule that kills tasks"),
        ] {
            assert_eq!(explained(policy).as_deref(), Some(said), "{policy}");
        }
        let late = explained("fifo+late:heartbeat_s=60").unwrap();
        assert!(late.contains("with the rule late about running tasks (LATE as "), "{late}");
        assert_eq!(explained("?"), None);
        assert!(
            policies::KINDS
                .iter()
                .all(|kind| kind.is_speculation() || explained(kind.name).is_some())
        );
    }

    #[test]
    fn a_kill_rule_says_whom_it_harmed_and_what_it_saved() {
        let said = |tasks, harmed, share| killed(["b", "a"], tasks, harmed, share);
        assert_eq!(said(0, 0, Some(0.0)), None);
        assert_eq!(
            said(31, 4, Some(0.25)).unwrap(),
            "b kills 31 tasks: 4 jobs that finish under a do not finish (harmed), and 25.0 % of the \
            CPU time is saved"
        );
        assert_eq!(
            said(1, 0, Some(-0.01)).unwrap(),
            "b kills 1 task: no job that finishes under a is harmed, and 1.0 % more CPU time is used"
        );
    }

    #[test]
    fn the_assumptions_that_decide_are_few() {
        let counts = Counts { dropped_attempts: 1, ..Counts::default() };
        let plan = HistoryPlan::default();
        let google = decisive((&counts, (&plan, 1.25), Source::Google2011), None, [0, 0]);
        assert_eq!(
            google[..3],
            [
                "1 recorded attempt that ended with an eviction, a loss or a resubmission is not \
                replayed.",
                "No task is preempted, whatever its priority.",
                "The requests on a machine may add up to 1.25 times its capacity.",
            ]
        );
        let recorded = HistoryPlan { overcommit: Overcommit::Recorded, ..plan };
        let some = decisive((&counts, (&recorded, 1.49), Source::Google2011), None, [1, 0]);
        assert_eq!(
            some[1],
            "The requests on a machine may add up to 1.49 times its capacity, which was enough \
            for 99 % of the machines in the record."
        );
        assert_eq!(
            decisive((&Counts::default(), (&plan, 1.0), Source::Slurm), Some(1159.0), [0, 0]),
            ["Any processor can run any job: the whole system is one pool of 1,159 processors."]
        );
        let of_copies = |reruns| {
            let plan = HistoryPlan { reruns, ..HistoryPlan::default() };
            decisive((&Counts::default(), (&plan, 1.0), Source::Swf), None, [0, 5]).join(" ")
        };
        assert!(of_copies(RerunWork::Same).starts_with("A copy has as much work as its task"));
        assert!(of_copies(RerunWork::Sibling).ends_with("a slow task never recurs."));
    }

    #[test]
    fn the_recorded_wait_is_the_mean_of_started_tasks() {
        let waits = Spread { count: 4, mean: 7560.0, ..Spread::default() };
        let schedule = Schedule { waiting_s: Some(waits), ..Schedule::default() };
        let answer = ReplayAnswer { recorded: Some(schedule), ..ReplayAnswer::default() };
        let row = |policy: &str, mean| {
            let own = Some(Spread { mean, ..Spread::default() });
            let metrics = Metrics { recorded_waiting_s: own, ..Metrics::default() };
            Replayed { policy: policy.to_owned(), metrics, ..Replayed::default() }
        };
        let said = "The 4 tasks that started waited 2.1 h on average in the record; in the replays the \
            same tasks wait 46 s under `a` and 7 s under `b`";
        assert_eq!(recorded(&answer, &[row("a", 46.0), row("b", 7.0)]).unwrap(), said);
        assert_eq!(recorded(&answer, &[]), None);
        // The slowdown of the record: below that of `a`, not below that of `b`, and its waits are longer.
        let slow = |mean| Some(Spread { mean, ..Spread::default() });
        let schedule = Schedule { bounded_slowdown: slow(6.862), ..schedule };
        let record = ReplayAnswer { recorded: Some(schedule), ..ReplayAnswer::default() };
        let with = |mut row: Replayed, mean| {
            row.metrics.bounded_slowdown = slow(mean);
            row
        };
        let told =
            recorded(&record, &[with(row("b", 7.0), 2.0), with(row("a", 46.0), 15.0)]).unwrap();
        let why = ". The record still has a smaller mean bounded slowdown of finished tasks (6.86) than `a` \
            (15), which happens if long tasks wait longest";
        assert!(told.ends_with(why), "{told}");
        let told = recorded(&record, &[with(row("a", 7561.0), 14.95)]).unwrap();
        assert!(!told.contains("slowdown"), "{told}");
        assert_eq!(recorded(&ReplayAnswer::default(), &[row("a", 46.0)]), None);
    }
}

//! Words about replays: what a policy does, what a kill rule costs, and which assumptions decide.
//!
//! In: names of policies, counts and metrics. Out: parts of sentences for findings, captions and
//! pages. No number is computed here.

use std::fmt::Write;

use super::{ReplayAnswer, pool};
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

/// A policy in a few words with its notation: ``fair share (`fair:depth=100`)``. The notation alone
/// if there is no common name.
pub(crate) fn in_words(policy: &str) -> String {
    let name = common_name(policy);
    name.map_or_else(|| format!("`{policy}`"), |name| format!("{name} (`{policy}`)"))
}

/// The common names of rules about running tasks.
const RULES: [(&str, &str); 5] = [
    ("late", "LATE"),
    ("mantri", "Mantri"),
    ("spark", "Spark's speculation"),
    ("flink", "Flink's slow task detector"),
    ("dolly", "Dolly"),
];

/// The common name of a policy without a kill rule, such as `fair share` or `first come, first
/// served with LATE`.
pub(crate) fn common_name(policy: &str) -> Option<String> {
    let plan: PolicyPlan = policy.parse().ok()?;
    let order = match plan.order.0.as_ref() {
        "fifo" => "first come, first served",
        "easy" => "EASY backfilling",
        "fair" => "fair share",
        _ => return None,
    };
    if plan.kill.is_some() || plan.second_speculation.is_some() {
        return None;
    }
    if plan.speculation.0 == "none" {
        return Some(order.to_owned());
    }
    let rule = RULES.iter().find(|rule| plan.speculation.0 == rule.0)?.1;
    Some(format!("{order} with {rule}"))
}

/// The common name of a policy in an answer, or its notation if another policy has the same common
/// name.
pub(crate) fn name_in(answer: &ReplayAnswer, policy: &str) -> String {
    let others = answer.policies.iter().filter(|row| row.policy != policy);
    let name = common_name(policy)
        .filter(|own| others.clone().all(|row| common_name(&row.policy).as_ref() != Some(own)));
    name.unwrap_or_else(|| format!("`{policy}`"))
}

/// The first clause of the description of an order, a rule or a detector.
fn about(name: &str) -> Option<String> {
    let known = policies::KINDS.iter().map(|kind| (kind.name, kind.about));
    let known = known.chain(detectors::KINDS.iter().map(|kind| (kind.name, kind.about)));
    let text = known.into_iter().find(|kind| kind.0 == name)?.1;
    Some(text.split(';').next().unwrap_or(text).to_owned())
}

/// The effect of a policy's kill rule, compared with the first policy: `b kills 31 tasks: 4 jobs
/// that finish under a do not finish (harmed), and 3.1 % of the CPU time is saved`. `None` if the
/// rule killed no task.
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

/// The decisive assumption of a replay in which copies repeat the work of their tasks.
pub(crate) const COPY_HAS_SAME_WORK: &str = "A copy has as much work as its task, so it ends first \
    only if its machine is faster; with --reruns sibling it has the work of another task of its job, \
    much as in the dry run of the detectors.";

/// The assumptions that decide how close a replay is to the record, as sentences. `preempted`
/// counts the attempts that were evicted to make room, and `copies` the copies that were started,
/// under all policies and seeds.
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
            RerunWork::Same => COPY_HAS_SAME_WORK,
            RerunWork::Sibling => {
                "A copy has the work of another task of its job: the cause of a slow task never recurs."
            }
        };
        said.push(work.to_owned());
    }
    said
}

/// The recorded mean wait in a sentence; `None` if it is unknown. The waits of the same tasks under
/// the policies are in the table of the page.
pub(crate) fn recorded(answer: &ReplayAnswer) -> Option<String> {
    let waits = answer.recorded?.waiting_s?;
    Some(format!(
        "The {} that started waited {} on average in the record",
        counted(waits.count as u64, "task"),
        lasting(waits.mean),
    ))
}

/// A sentence about a policy under which waits are shorter than in the record, but the mean
/// slowdown is larger. In the slowdown, a wait weighs more if its task is shorter. `None` if there
/// is no such policy.
pub(crate) fn other_way(answer: &ReplayAnswer) -> Option<String> {
    let record = answer.recorded?;
    let (wait_s, slowdown) = (record.waiting_s?.mean, record.bounded_slowdown?.mean);
    let mut slower = answer.policies.iter().filter_map(|row| {
        let own_s = row.metrics.recorded_waiting_s.or(row.metrics.waiting_s)?.mean;
        let own = row.metrics.bounded_slowdown?.mean;
        let is_told = three_digits(slowdown) != three_digits(own);
        (own_s < wait_s && slowdown < own && is_told).then_some((row, own))
    });
    let (row, own) = slower.next()?;
    Some(format!(
        "The record has longer waits than {}, and still a smaller mean bounded slowdown of finished tasks \
        ({} instead of {}), which happens if long tasks wait longest",
        name_in(answer, &row.policy),
        three_digits(slowdown),
        three_digits(own)
    ))
}

/// A sentence on how to read a difference between the record and a replay.
pub(crate) fn left_out(answer: &ReplayAnswer) -> String {
    let such = not_replayed(answer).map_or_else(String::new, |share| {
        format!(", such as attempts with {} of the requested CPU time", percent(share))
    });
    format!(
        "the replays leave out what else made tasks wait{such}: compare the policies with each other, not \
        with the record"
    )
}

/// The smallest share of the recorded CPU time that is mentioned.
pub(super) const MENTIONED: f64 = 0.01;

/// The share of the recorded CPU time in attempts that are not replayed, if it is large enough to
/// be mentioned.
pub(crate) fn not_replayed(answer: &ReplayAnswer) -> Option<f64> {
    let share = answer.recorded.and_then(|record| record.dropped_cpu_share);
    share.filter(|&share| MENTIONED <= share)
}

#[cfg(test)]
mod tests {
    use super::super::Replayed;
    use super::*;
    use crate::replay::history::Schedule;
    use crate::replay::metrics::{Metrics, Spread};

    #[test]
    fn common_policies_have_a_name() {
        assert_eq!(in_words("fair:depth=100"), "fair share (`fair:depth=100`)");
        assert_eq!(in_words("easy"), "EASY backfilling (`easy`)");
        for own in ["kill:events=20+fifo", "fifo+oracle", "mine"] {
            assert_eq!(in_words(own), format!("`{own}`"));
        }
        let late = "fifo:depth=100+late:heartbeat_s=60";
        assert_eq!(common_name(late).as_deref(), Some("first come, first served with LATE"));
        let row = |policy: &str| Replayed { policy: policy.to_owned(), ..Replayed::default() };
        let policies = vec![row("fifo:depth=100"), row(late), row("fifo:depth=10")];
        let answer = ReplayAnswer { policies, ..ReplayAnswer::default() };
        assert_eq!(name_in(&answer, late), "first come, first served with LATE");
        // Two policies share the name.
        assert_eq!(name_in(&answer, "fifo:depth=10"), "`fifo:depth=10`");
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
        let said = "The 4 tasks that started waited 2.1 h on average in the record";
        assert_eq!(recorded(&answer).as_deref(), Some(said));
        assert_eq!(recorded(&ReplayAnswer::default()), None);
    }

    #[test]
    fn longer_waits_may_go_with_a_smaller_slowdown() {
        let spread = |mean| Some(Spread { mean, ..Spread::default() });
        let row = |policy: &str, wait_s, slowdown| {
            let (recorded_waiting_s, bounded_slowdown) = (spread(wait_s), spread(slowdown));
            let metrics = Metrics { recorded_waiting_s, bounded_slowdown, ..Metrics::default() };
            Replayed { policy: policy.to_owned(), metrics, ..Replayed::default() }
        };
        let said = |policies: Vec<Replayed>| {
            let (waiting_s, bounded_slowdown) = (spread(7560.0), spread(6.862));
            let recorded = Some(Schedule { waiting_s, bounded_slowdown, ..Schedule::default() });
            other_way(&ReplayAnswer { policies, recorded, ..ReplayAnswer::default() })
        };
        // The slowdown of the record is below that of `easy`, not below that of `fair`.
        assert_eq!(
            said(vec![row("fair", 7.0, 2.0), row("easy", 46.0, 15.0)]).as_deref(),
            Some(
                "The record has longer waits than EASY backfilling, and still a smaller mean bounded slowdown \
                of finished tasks (6.86 instead of 15), which happens if long tasks wait longest"
            )
        );
        assert_eq!(said(vec![row("easy", 7561.0, 14.95)]), None);
    }
}

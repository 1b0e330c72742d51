//! What other results add to the answer of a result.
//!
//! In: an answer and all stored results. Out: the answer, with a clause about episodes if most jobs
//! that did not finish ended in them, or after the shares since a log is whole. Episodes count
//! events of tasks, so they match jobs only if every job is one task that ends once.

use super::early::later_shares;
use crate::answers::classify::{self, ClassifyAnswer};
use crate::answers::episodes::{self, EpisodeRow, EpisodesAnswer};
use crate::answers::sentences::{percent, short};
use crate::digits::{counted, grouped, lasting};
use crate::notation::listed;
use crate::results::Stored;

/// Episodes are reported with the outcomes if they have at least this part of the jobs that did not
/// finish.
const MOST: f64 = 0.5;

/// Episodes with a smaller part of these jobs are not included.
const PART: f64 = 0.1;

/// Outcomes of jobs that did not finish, each with the kind of its events and the verb of a
/// sentence.
const ENDS: [(&str, &str, &str); 4] = [
    ("failed", "tasks failed", "failed"),
    ("killed", "tasks killed", "were killed"),
    ("evicted", "tasks evicted", "were evicted"),
    ("lost", "tasks lost", "were lost"),
];

/// The answer of a result with what other results know about it. Outcomes of jobs get a clause
/// about jobs that ended together. Shares of use in a log that lacks earlier jobs come after the
/// same shares of the time for which it is whole. Other answers stay as they are.
pub(super) fn with_others(said: &str, result: &Stored, all: &[Stored]) -> String {
    match later_shares(result, all) {
        Some(later) => format!("{later}. Over the whole log: {said}"),
        None => with_episodes(said, result, all),
    }
}

fn with_episodes(said: &str, result: &Stored, all: &[Stored]) -> String {
    let jobs = Some(result).filter(|own| own.name == classify::KINDS[0].name);
    let of = |name: &str| all.iter().find(|own| own.name == name);
    let clause = jobs.and_then(Stored::found::<ClassifyAnswer>).and_then(|jobs| {
        let tasks = of(classify::KINDS[1].name)?.found()?;
        clause(jobs, tasks, of(episodes::KIND.name)?.found()?)
    });
    match clause {
        Some(clause) => format!("{}; {clause}", said.trim_end_matches('.')),
        None => said.to_owned(),
    }
}

/// `1,393 of the 1,570 that did not finish ended in 2 episodes, all of user honbu: 998 failed
/// within 67 s and 395 were killed within 58.1 min; of the other 10,311 jobs, 98.3 % finished`.
/// `None` if most of them did not end together, or if tasks are not jobs.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs")]
fn clause(
    jobs: &ClassifyAnswer,
    tasks: &ClassifyAnswer,
    episodes: &EpisodesAnswer,
) -> Option<String> {
    if jobs.total != tasks.total || jobs.rows != tasks.rows {
        return None;
    }
    let endings = jobs.endings();
    let count = |outcome: &str| {
        endings.iter().find(|own| own.outcome == outcome).map_or(0, |own| own.count)
    };
    let lost: u64 = ENDS.iter().map(|end| count(end.0)).sum();
    let mut own: Vec<(EpisodeRow, &str)> = Vec::new();
    for (outcome, what, verb) in ENDS {
        // If there are as many events as jobs with this outcome, each event is the end of a job.
        let is_of_jobs =
            episodes.kinds.iter().any(|kind| kind.what == what && kind.count == count(outcome));
        let is_large = |row: &EpisodeRow| {
            row.what == what
                && row.jobs == Some(row.count)
                && PART * lost as f64 <= row.count as f64
        };
        let rows = episodes.rows.iter().filter(|row| is_of_jobs && is_large(row));
        own.extend(rows.map(|row| (row, verb)));
    }
    own.sort_by_key(|(row, _)| std::cmp::Reverse(row.count));
    let ended: u64 = own.iter().map(|(row, _)| row.count).sum();
    if own.is_empty() || (ended as f64) < MOST * lost as f64 {
        return None;
    }
    let others = jobs.total - ended;
    let rest = if others == 0 {
        String::new()
    } else {
        let finished = percent(count("finished") as f64 / others as f64);
        format!("; of the other {}, {finished} finished", counted(others, "job"))
    };
    let parts: Vec<String> = own.iter().map(|(row, verb)| said(row, verb)).collect();
    Some(format!(
        "{} of the {} that did not finish ended in {}{}: {}{rest}",
        grouped(ended),
        grouped(lost),
        counted(own.len() as u64, "episode"),
        of_one_user(&own),
        listed(&parts)
    ))
}

/// `998 failed within 67 s`.
fn said(row: &EpisodeRow, verb: &str) -> String {
    let length_s = row.first_at_s.zip(row.last_at_s).map(|(first_s, last_s)| last_s - first_s);
    let when = match length_s {
        Some(length_s) if length_s <= 0.0 => " at once".to_owned(),
        Some(length_s) => format!(" within {}", lasting(length_s)),
        None => String::new(),
    };
    format!("{} {verb}{when}", grouped(row.count))
}

/// `, all of user honbu`, if all of them belong to one user.
fn of_one_user(rows: &[(EpisodeRow, &str)]) -> String {
    let first = rows.first().and_then(|(row, _)| row.user.as_deref());
    let is_own = |row: &EpisodeRow| {
        row.user.as_deref() == first && row.user_share.is_some_and(|share| 1.0 <= share)
    };
    let user = first.filter(|_| rows.iter().all(|(row, _)| is_own(row)));
    user.map_or_else(String::new, |user| format!(", all of user {}", short(user)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    /// The log of a cluster: of 20 jobs, 10 finished, 8 failed and 2 were killed.
    fn jobs() -> ClassifyAnswer {
        let row = |sequence: &str, outcome: &str, count: u64| {
            json!({"sequence": sequence, "outcome": outcome,
            "count": count, "share": 0.5})
        };
        let all = [row("014", "finished", 10), row("013", "failed", 8), row("015", "killed", 2)];
        from_value(json!({"rows": all, "sequences": all, "total": 20})).unwrap()
    }

    fn episodes(rows: &[Value]) -> EpisodesAnswer {
        let kind = |what: &str, count: u64| json!({"what": what, "count": count});
        let kinds = [kind("tasks failed", 8), kind("tasks killed", 2)];
        from_value(json!({"rows": rows, "kinds": kinds})).unwrap()
    }

    fn row(what: &str, count: u64, user: &str, length_s: f64) -> Value {
        json!({"what": what, "count": count, "jobs": count, "user": user, "user_share": 1.0,
            "first_at_s": 100.0, "last_at_s": 100.0 + length_s})
    }

    #[test]
    fn jobs_that_ended_together_are_reported_with_the_outcomes() {
        let all = [row("tasks killed", 2, "ann", 0.0), row("tasks failed", 5, "ann", 67.0)];
        let said = clause(&jobs(), &jobs(), &episodes(&all)).unwrap();
        assert_eq!(
            said,
            "7 of the 10 that did not finish ended in 2 episodes, all of user ann: 5 failed within 67 s and \
            2 were killed at once; of the other 13 jobs, 76.9 % finished"
        );
        let two = [row("tasks killed", 2, "ann", 9.0), row("tasks failed", 5, "bob", 67.0)];
        let said = clause(&jobs(), &jobs(), &episodes(&two)).unwrap();
        assert!(said.contains("2 episodes: 5 failed"), "{said}");
    }

    #[test]
    fn few_that_ended_together_and_tasks_that_are_no_jobs_are_not_reported() {
        let most = [row("tasks failed", 5, "ann", 67.0)];
        assert!(clause(&jobs(), &jobs(), &episodes(&most)).is_some());
        let few = [row("tasks failed", 4, "ann", 67.0)];
        assert_eq!(clause(&jobs(), &jobs(), &episodes(&few)), None);
        // Jobs of several tasks.
        let tasks = ClassifyAnswer { total: 21, ..jobs() };
        assert_eq!(clause(&jobs(), &tasks, &episodes(&most)), None);
        // Five events of four jobs, and jobs that failed more than once.
        let mut twice = most.clone();
        twice[0]["jobs"] = json!(4);
        assert_eq!(clause(&jobs(), &jobs(), &episodes(&twice)), None);
        let mut more = episodes(&most);
        more.kinds = from_value(json!([{"what": "tasks failed", "count": 9}])).unwrap();
        assert_eq!(clause(&jobs(), &jobs(), &more), None);
    }
}

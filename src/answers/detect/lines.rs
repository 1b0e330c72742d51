//! Counts in single lines.

use crate::answers::edges;
use crate::digits;
use crate::replay::detect::{DetectOutcome, GroupCounts};

/// `; 7 attempts without an end in the loaded parts closed at the end of the job`. Empty if there
/// are no such attempts.
pub(crate) fn closed(counts: GroupCounts) -> String {
    match edges::closed_with_job(counts.attempts_closed_with_job, None, "") {
        none if none.is_empty() => none,
        closed => format!("; {closed}"),
    }
}

/// One line about the groups, tasks and attempts that were replayed.
pub fn counts_line(outcome: &DetectOutcome) -> String {
    let GroupCounts { groups, small_groups, judged_tasks, left_censored, unfinished, .. } =
        outcome.counts;
    let (count, counted) = (digits::grouped, digits::counted);
    let small = format!("{} with too few finished tasks", counted(small_groups, "group"));
    let begun = format!("{} that began before the window", counted(left_censored, "attempt"));
    let out = [(small_groups, small), (left_censored, begun)];
    let out: Vec<String> = out.into_iter().filter(|own| 0 < own.0).map(|(_, said)| said).collect();
    let out =
        if out.is_empty() { String::new() } else { format!("; left out: {}", out.join(", ")) };
    let running = format!(
        "; not judged: {} still running at the end of the window",
        counted(unfinished, "attempt")
    );
    let running = if unfinished == 0 { String::new() } else { running };
    format!(
        "{} with {}, {} of them stragglers{out}{running}{}; {} task-heartbeats",
        counted(groups, "group"),
        counted(judged_tasks, "judged task"),
        count(outcome.stragglers.first().copied().unwrap_or(0)),
        closed(outcome.counts),
        count(outcome.counts.task_heartbeats),
    )
}

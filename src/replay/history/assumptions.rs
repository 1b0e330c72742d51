//! The assumptions of a replayed history, as sentences.
//!
//! In: a replayed history and its plan. Out: one sentence per assumption, for people and for
//! `result.json`.

use super::{Counts, History, HistoryPlan, KilledTasks, Overcommit, RerunWork, stages};
use crate::digits::{counted, grouped};
use crate::replay::cluster::Cluster;
use crate::replay::feedback::{Feedback, Followed};
use crate::replay::workload::Estimates;
use crate::schema::Source;

/// The assumptions of every replay of this history.
pub(super) fn of(
    (counts, waiting): (&Counts, stages::Counts),
    (plan, overcommit): (&HistoryPlan, f64),
    source: Source,
) -> Vec<String> {
    let mut told = of_every_history(counts, (plan, overcommit));
    of_kills(counts, plan, source, &mut told);
    of_tasks(counts, source, &mut told);
    of_dependencies(waiting, &mut told);
    of_choices(plan, source, &mut told);
    told
}

/// Describes which tasks wait for others of their job.
fn of_dependencies(waiting: stages::Counts, told: &mut Vec<String>) {
    let stages::Counts { tasks, overlapping, without_other, circular } = waiting;
    if 0 < tasks {
        told.push(format!(
            "{} others of their job (`depends_on`): they start once these are over, finished or \
            not, and not before they arrive.",
            waits(tasks)
        ));
    }
    if 0 < overlapping {
        told.push(format!(
            "{} of them began in the record before one of these had ended; the replay makes them \
            wait.",
            grouped(overlapping)
        ));
    }
    if 0 < without_other + circular {
        told.push(format!(
            "Dependencies left out: {} on tasks that are not replayed, {} in or behind circles.",
            grouped(without_other),
            grouped(circular)
        ));
    }
}

fn waits(tasks: u64) -> String {
    let (tasks, verb) = (counted(tasks, "task"), if tasks == 1 { "waits" } else { "wait" });
    format!("{tasks} {verb} for")
}

/// Describes the running times that orders use to plan, and how many jobs have a known request.
pub fn of_estimates(counts: &Counts, estimates: Estimates) -> String {
    let (known, all) = (counts.jobs_with_request, counts.jobs);
    let share = match known {
        0 => "no job has a known requested time".to_owned(),
        _ if known == all => "the requested time is known for all jobs".to_owned(),
        _ => format!(
            "the requested time is known for {:.1} % of the jobs ({} of {})",
            percent(known, all),
            grouped(known),
            grouped(all)
        ),
    };
    match estimates {
        Estimates::Requested if known == 0 => {
            format!("backfilling plans with recorded running times: {share}.")
        }
        Estimates::Requested => format!(
            "backfilling plans with requested times, and with recorded running times where none is known: {share}."
        ),
        Estimates::Exact => format!("backfilling plans with recorded running times; {share}."),
        Estimates::Factor(factor) => {
            format!("backfilling plans with {factor} times the recorded running times; {share}.")
        }
    }
}

/// Describes what the jobs follow if users react.
pub fn of_feedback(feedback: &Feedback) -> String {
    let Followed { ends, submissions, sessions, recorded } = feedback.followed();
    format!(
        "Closed arrivals: {} after the end of an earlier job and its think time, {} at their \
        distance from an earlier submission, {} with a session that waits for the one before, {} \
        as recorded.",
        counted(ends, "job"),
        grouped(submissions),
        grouped(sessions),
        grouped(recorded)
    )
}

/// Describes how GPUs are assigned, if tasks request any.
pub fn of_gpus(cluster: &Cluster, history: &History) -> Option<String> {
    let asking = history.unchecked_gpus + history.workload.asks_for_gpus();
    let all: u64 = cluster.gpus.iter().map(|gpus| u64::from(gpus.count)).sum();
    let with = cluster.gpus.iter().filter(|gpus| 0 < gpus.count).count() as u64;
    let asking = match asking {
        0 => return None,
        1 => "1 task asks".to_owned(),
        _ => format!("{} tasks ask", grouped(asking)),
    };
    if cluster.gpus.is_empty() {
        return Some(format!(
            "{asking} for GPUs, but the machines of this replay have none on record: whether GPUs \
            are free is not checked."
        ));
    }
    Some(format!(
        "{asking} for GPUs: {} in {}. Shares lie on one GPU, and models that a task names are kept; \
        GPUs are never overcommitted.",
        grouped(all),
        counted(with, "machine"),
    ))
}

/// Describes what is unknown about the machines, and what the replay assumes instead.
pub fn of_machines(cluster: &Cluster, without_cpu: u64, source: Source) -> Vec<String> {
    let machines = cluster.machine_count() as u64;
    let of_all = |count: u64| {
        if count == machines {
            "any machine".to_owned()
        } else {
            format!("{} of {}", grouped(count), counted(machines, "machine"))
        }
    };
    let mut told = Vec::new();
    let without_memory = cluster.memory.iter().filter(|memory| memory.is_none()).count() as u64;
    if 0 < without_memory {
        let of = of_all(without_memory);
        told.push(format!(
            "The memory of {of} is unknown: requests for memory are not checked there."
        ));
    }
    if 0 < without_cpu {
        let of = of_all(without_cpu);
        let then = if source.is_google() {
            "they run no task that requests CPU"
        } else {
            "each has one CPU"
        };
        told.push(format!("The CPU of {of} is unknown: {then}."));
    }
    told
}

/// Describes the changes of machines after the end of the tasks' window.
pub fn of_late_changes(count: u64) -> Option<String> {
    (0 < count).then(|| {
        format!(
            "After the last event of a task, machines stay as they are: {} then {} left out.",
            counted(count, "change"),
            if count == 1 { "is" } else { "are" }
        )
    })
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}

fn of_every_history(counts: &Counts, (plan, overcommit): (&HistoryPlan, f64)) -> Vec<String> {
    vec![
        "The work of a task is its recorded running time; all machines of the trace are equally \
        fast."
            .to_owned(),
        match plan.overcommit {
            Overcommit::Factor(1.0) => {
                "The requests of the tasks on a machine add up to at most its \
                capacity; real clusters overcommit."
                    .to_owned()
            }
            Overcommit::Factor(factor) => format!(
                "The requests of the tasks on a machine add up to at most {factor} times its \
                capacity."
            ),
            Overcommit::Recorded if overcommit == 1.0 => "The requests of the tasks on a machine add \
                up to at most its capacity: the record needs no more, or does not say on which machines \
                tasks ran (`--overcommit recorded`)."
                .to_owned(),
            Overcommit::Recorded => format!(
                "The requests of the tasks on a machine add up to at most {overcommit} times its \
                capacity, which was enough for 99 % of the machines in the record (`--overcommit \
                recorded`)."
            ),
        },
        format!(
            "Failed attempts are replayed: {}. Recorded evictions, losses and resubmissions are \
            not replayed: {} (the replay decides its own).",
            grouped(counts.failures),
            grouped(counts.dropped_attempts)
        ),
        match plan.reruns {
            RerunWork::Same => {
                "A copy or a restart has the same work as the attempt before it: \
            on equally fast machines it only costs."
            }
            RerunWork::Sibling => {
                "A copy or a restart has the work of a random finished task of \
            its job: the cause of a slow task never recurs."
            }
        }
        .to_owned(),
        if plan.has_feedback {
            // All recorded times are divided by the load, including think times.
            let divided = match plan.load {
                1.0 => String::new(),
                load => format!(" divided by {load}"),
            };
            format!(
                "Under closed arrivals users submit when their earlier jobs have ended, after the \
                recorded think times{divided}; under open ones at the recorded times{divided}, \
                whatever becomes of these jobs."
            )
        } else {
            "Users submit at the recorded times, whatever the outcome of their earlier \
            jobs."
                .to_owned()
        },
    ]
}

/// Describes when killed tasks are killed, and why.
fn of_kills(counts: &Counts, plan: &HistoryPlan, source: Source, told: &mut Vec<String>) {
    let tasks = |count: u64| counted(count, "task");
    if 0 < counts.stopped {
        told.push(format!(
            "{} killed while running: killed after the recorded running time (`--killed run-time`).",
            tasks(counts.stopped)
        ));
    }
    let at_age = tasks(counts.killed_at_age);
    match plan.killed {
        _ if counts.killed_at_age == 0 => {}
        KilledTasks::RunTime => {
            told.push(format!(
                "{at_age} killed while waiting: leave at the recorded age; one whose turn comes \
                before then ends at once, for it never ran."
            ));
        }
        KilledTasks::Age => {
            let why =
                if source.is_google() { "; kills come from users and from other jobs" } else { "" };
            told.push(format!(
                "{at_age} killed: killed at the recorded age, waiting or running (`--killed age`{why})."
            ));
        }
    }
}

fn of_tasks(counts: &Counts, source: Source, told: &mut Vec<String>) {
    let mut say = |count: u64, text: &str| {
        if 0 < count {
            told.push(format!("{} {text}", counted(count, "task")));
        }
    };
    say(
        counts.began_before,
        "submitted before the window: they arrive at its start, and only their time inside it \
        counts as work.",
    );
    say(
        counts.still_running,
        "still running at the end: they finish after the work recorded so far.",
    );
    say(
        counts.ended_with_job,
        "without an end in the loaded parts, whose job ended: they finish when the job ends.",
    );
    say(counts.never_back, "evicted or lost for good: they count as killed then.");
    say(counts.left_out, "left out: they neither ran nor were killed.");
    let without = if source.is_google() { "none" } else { "one" };
    say(counts.without_cpu, &format!("without a CPU request: they request {without}."));
    say(counts.without_memory, "without a memory request: they request none.");
    say(counts.without_user, "without a user: they count as one further user's.");
    if counts.without_priority < counts.tasks {
        say(counts.without_priority, "without a priority: they rank below all others.");
    } else {
        told.push("No task has a known priority: rules treat all tasks alike.".to_owned());
    }
}

fn of_choices(plan: &HistoryPlan, source: Source, told: &mut Vec<String>) {
    if source.is_google() {
        told.push("Placement constraints other than different machines are ignored.".to_owned());
    }
    if source.is_log() {
        told.push(
            "Any processor can run any job: partitions and sites of the log are ignored."
                .to_owned(),
        );
    }
    if source == Source::Rumen {
        told.push("Reduces arrive at their recorded times and do not wait for maps.".to_owned());
    }
    if plan.sample < 1.0 {
        told.push(format!("Jobs are a sample of {} of all, seed {}.", plan.sample, plan.seed));
    }
    if plan.machines < 1.0 {
        told.push(format!("Machines are a sample of {} of all.", plan.machines));
    }
    if 0 < plan.from_us {
        told.push("The cluster is empty at the start of the window.".to_owned());
    }
    if plan.load != 1.0 {
        told.push(format!(
            "Tasks arrive {} times as fast; ages of killed tasks and changes of machines are as recorded.",
            plan.load
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_are_reported_as_they_are_replayed() {
        let told = |load: f64| {
            let plan = HistoryPlan { has_feedback: true, load, ..HistoryPlan::default() };
            of_every_history(&Counts::default(), (&plan, 1.0)).join(" ")
        };
        assert!(told(1.0).contains("after the recorded think times; under open ones"));
        assert!(told(1.8).contains("after the recorded think times divided by 1.8; under open"));
    }
}

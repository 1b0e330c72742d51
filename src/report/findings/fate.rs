//! What became of the jobs, and how much CPU time was lost with them.

use super::{Told, length_of};
use crate::answers::account::{self, AccountAnswer};
use crate::answers::classify::{ClassifyAnswer, Ending};
use crate::answers::describe::DescribeAnswer;
use crate::answers::sentences::{Ends, MOST, percent};
use crate::answers::sweep::{self, SweepAnswer};
use crate::digits::{self, counted, six_digits};
use crate::results::envelope::{Envelope, Input};
use crate::schema::{Source, Table};

/// The share of each outcome that occurs, the most frequent first. If a log records no status, the
/// outcomes are unknown.
pub(super) fn fate(stored: &Envelope) -> Option<Told> {
    let answer: &ClassifyAnswer = stored.found()?;
    let total = Some(answer.total).filter(|total| 0 < *total)?;
    if Ends::of(answer.finished(), &stored.inputs) == Ends::Assumed {
        return Some(Told::Unknown(no_status(total)));
    }
    let all = answer.rows.iter().map(|row| (row.share, row.outcome.as_str()));
    let mut all: Vec<(f64, &str)> = all.filter(|(share, _)| 0.0 < *share).collect();
    all.sort_by(|one, other| other.0.total_cmp(&one.0));
    if let [(_, "finished" | "failed" | "killed")] = all[..] {
        let verb = if all[0].1 == "killed" { "were killed" } else { all[0].1 };
        return Some(Told::Shown(format!("All {} {verb}", counted(total, "job"))));
    }
    if let [(_, only)] = all[..] {
        return Some(Told::Shown(format!(
            "All {} are {}",
            counted(total, "job"),
            answer.words(only)
        )));
    }
    // What the exact sequence calls `other` has a name by its last event.
    let parts: Vec<String> = match answer.by_last_event() {
        Some(endings) => endings.iter().map(Ending::said).collect(),
        None => all
            .iter()
            .map(|(share, of)| format!("{} {}", percent(*share), answer.words(of)))
            .collect(),
    };
    Some(Told::Shown(format!("Of {}, {}", counted(total, "job"), parts.join(", "))))
}

/// The reason why a result about outcomes has no answer: the log records no status, and its jobs
/// count as finished only because they ran.
pub(super) fn no_outcomes(stored: &Envelope) -> Option<String> {
    let (finished, jobs) = if stored.name == sweep::KIND.name {
        let finished = stored.found::<SweepAnswer>()?.finished_jobs_with_tasks?;
        (finished, finished)
    } else if [&account::KINDS[0], &account::KINDS[2]].iter().any(|kind| kind.name == stored.name) {
        let answer: &AccountAnswer = stored.found()?;
        (answer.finished(), answer.rows.iter().filter_map(|row| row.jobs).sum())
    } else if stored.name.starts_with("classify-") {
        let answer: &ClassifyAnswer = stored.found()?;
        (answer.finished(), answer.total)
    } else {
        return None;
    };
    (Ends::of(finished, &stored.inputs) == Ends::Assumed).then(|| no_status(jobs))
}

/// CPU time by outcome: lost with failed and killed jobs, used by finished jobs, and open because
/// jobs still run.
pub(super) fn waste(stored: &Envelope) -> Option<Told> {
    let answer: &AccountAnswer = stored.found()?;
    if Ends::of(answer.finished(), &stored.inputs) == Ends::Assumed {
        let jobs = answer.rows.iter().filter_map(|row| row.jobs).sum();
        return Some(Told::Unknown(no_status(jobs)));
    }
    let total = answer.total.filter(|total| 0.0 < *total)?;
    let unit = &answer.unit;
    let used = answer.meter.verb();
    let share = |outcome: &str| answer.sum_of(outcome, |row| row.share);
    let known = ["killed", "failed", "evicted", "lost", "other"].into_iter();
    let lossy: Vec<&str> = known.filter(|outcome| 0.0 < share(outcome)).collect();
    let of_one = |outcome: &str| {
        let most = largest(answer, outcome).filter(|share| MOST <= *share);
        most.map_or_else(String::new, |share| format!(" ({} of it by one job)", percent(share)))
    };
    let told = |own: &str| {
        let all = percent(share(own));
        // A reason of nearly all of it says nothing more.
        let reason = answer.main_reason(own).filter(|said| !said.starts_with(&all));
        let reason = reason.map(|said| format!(" ({said})"));
        format!("{all}{}", reason.unwrap_or_else(|| of_one(own)))
    };
    let is_google = stored.source.as_deref().is_some_and(|source| source.starts_with("google"));
    let has_services = is_google && share("finished") < share("killed");
    let source = stored.source.as_deref().and_then(|name| name.parse::<Source>().ok());
    let has_pods = source.is_some_and(Source::has_pods);
    let lost = lossy.iter().map(|own| {
        let killed = match *own {
            "killed" if has_services => SERVICES,
            "killed" if has_pods => PODS,
            _ => "",
        };
        format!("{} {}{killed}", jobs_of(own), told(own))
    });
    let lost: Vec<String> = lost.collect();
    let [within, at_end, after] =
        apart(&stored.inputs).unwrap_or_else(|| ["", "at the end", ""].map(str::to_owned));
    let amount = format!("{} {unit}{within}", six_digits(total));
    let finished = told("finished");
    let open = |outcome: &str, said: &str| match share(outcome) {
        open if 0.0 < open => format!("; {} belongs to jobs {said}", percent(open)),
        _ => String::new(),
    };
    let open = [
        open("running", &format!("that still ran {at_end}")),
        open("pending", &format!("that waited again {at_end}")),
        open("unknown", "whose end is not known"),
    ]
    .concat();
    if lost.is_empty() {
        return Some(Told::Shown(format!(
            "No {} is known to be wasted: of {amount}, finished jobs {used} {finished}{open}{after}",
            answer.meter.resource().noun()
        )));
    }
    let lost = joined(&lost).replacen(" jobs ", &format!(" jobs {used} "), 1);
    let in_all: f64 = lossy.iter().map(|outcome| share(outcome)).sum();
    Some(Told::Shown(format!(
        "{} of {amount} went to jobs that did not finish: {lost}; finished jobs {finished}{open}{}{after}",
        percent(in_all),
        by_ends(answer)
    )))
}

/// A sentence about what the attempts did; empty if it is what became of their jobs.
fn by_ends(answer: &AccountAnswer) -> String {
    answer.by_ends().map_or_else(String::new, |ends| {
        let elsewhere = if answer.finished_in_other_jobs() {
            let used = answer.meter.verb();
            let still_run = answer.sum_of("running", |row| row.share);
            let or_run = if 0.0 < still_run { " or still run" } else { "" };
            format!(
                ". Most of what finished attempts {used} is in jobs that did not finish{or_run}"
            )
        } else {
            String::new()
        };
        format!(". By how the attempts ended, whatever became of their jobs: {ends}{elsewhere}")
    })
}

/// What a kill may be; the trace does not mark services.
const SERVICES: &str = " (services, which run until they are killed, among them)";

/// The end of a pod that is deleted while it runs, which may be its normal one.
const PODS: &str = " (deleted pods count as killed)";

/// ` in the first 25.2 h`, `after 29 d`, and `. Outcomes are those of the jobs after 29 d`, if tasks
/// are loaded for a shorter time than jobs.
fn apart(inputs: &[Input]) -> Option<[String; 3]> {
    const SHORTER: f64 = 0.99;
    let [jobs, tasks] = [Table::JobEvents, Table::TaskEvents].map(|table| length_of(inputs, table));
    let (jobs_s, tasks_s) = jobs.zip(tasks).filter(|(jobs, tasks)| *tasks < jobs * SHORTER)?;
    Some([
        format!(" in the first {}", digits::lasting(tasks_s)),
        format!("after {}", digits::lasting(jobs_s)),
        format!(
            ". Outcomes are those of the jobs after {}, when the trace of jobs ends",
            digits::lasting(jobs_s)
        ),
    ])
}

/// `a, b and c`.
fn joined(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => parts.concat(),
    }
}

/// The reason why the outcomes of a log are unknown.
fn no_status(jobs: u64) -> String {
    format!(
        "The log records no status: how its {} ended is unknown, and so are failures and waste",
        counted(jobs, "job")
    )
}

fn jobs_of(outcome: &str) -> &'static str {
    match outcome {
        "killed" => "killed jobs",
        "failed" => "failed jobs",
        "finished" => "finished jobs",
        "evicted" => "evicted jobs",
        "lost" => "lost jobs",
        _ => "jobs with another outcome",
    }
}

/// The share of the largest job in what an outcome used. If the ledger is split, each job is in one
/// of its groups.
fn largest(answer: &AccountAnswer, outcome: &str) -> Option<f64> {
    let own = answer.of_outcome(outcome);
    if let [only] = own.as_slice() {
        return only.largest_job_share;
    }
    let of_job = own.iter().filter_map(|row| Some(row.largest_job_share? * row.cpu?));
    let all: f64 = own.iter().filter_map(|row| row.cpu).sum();
    (0.0 < all).then(|| of_job.fold(0.0, f64::max) / all)
}

/// How long jobs last: the median, the 99 % quantile (the longest of fewer than 100), and the mean.
pub(super) fn lasting(stored: &Envelope) -> Option<Told> {
    stored.found::<DescribeAnswer>()?.durations().map(Told::Shown)
}

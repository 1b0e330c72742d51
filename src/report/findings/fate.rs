//! The outcomes of the jobs, and how much CPU time was lost with them.

use super::{Told, length_of, within};
use crate::answers::account::{self, AccountAnswer};
use crate::answers::classify::{ClassifyAnswer, Ending};
use crate::answers::describe::DescribeAnswer;
use crate::answers::sentences::{Ends, MOST, percent};
use crate::answers::sweep::{self, SweepAnswer};
use crate::digits::{self, counted, six_digits};
use crate::notation::listed;
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
    // Outcomes that the exact sequence calls `other` have a name by their last event.
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

/// CPU time by outcome, the largest share first. Then the part of it that was lost with jobs that
/// did not finish, and the reasons.
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
    let [within, at_end, after] =
        apart(&stored.inputs).unwrap_or_else(|| ["", "at the end", ""].map(str::to_owned));
    let amount = format!("{} {unit}", six_digits(total));
    let lossy: Vec<&str> = LOSSY.into_iter().filter(|outcome| 0.0 < share(outcome)).collect();
    if lossy.is_empty() {
        let open = open_shares(&share, &at_end);
        return Some(Told::Shown(format!(
            "No {} is known to be wasted: of {amount}{within}, finished jobs {used} {}{open}{after}",
            answer.meter.resource().noun(),
            percent(share("finished")) + &of_one(answer, "finished")
        )));
    }
    let in_all: f64 = lossy.iter().map(|outcome| share(outcome)).sum();
    let notes = notes(stored, answer, &lossy);
    let notes = if notes.is_empty() { String::new() } else { format!("; {}", notes.join("; ")) };
    Some(Told::Shown(format!(
        "Of the {amount} that jobs {used}{within}, {}. {} went to jobs that did not finish{notes}{}{after}",
        listed(&by_outcome(&share, &at_end)),
        percent(in_all),
        by_ends(answer)
    )))
}

/// The outcomes with which CPU time is lost.
const LOSSY: [&str; 5] = ["killed", "failed", "evicted", "lost", "other"];

/// Smaller shares are not mentioned.
const NAMED: f64 = 0.0005;

/// `54.0 % are of jobs that still ran at the end`, `41.7 % of killed jobs` and so on, the largest
/// first.
fn by_outcome(share: &dyn Fn(&str) -> f64, at_end: &str) -> Vec<String> {
    let outcomes = LOSSY.into_iter().chain(["finished", "running", "pending", "unknown"]);
    let mut all: Vec<(f64, &str)> = outcomes.map(|outcome| (share(outcome), outcome)).collect();
    all.retain(|(share, _)| NAMED <= *share);
    all.sort_by(|one, other| other.0.total_cmp(&one.0));
    let said = all.iter().enumerate().map(|(place, (share, outcome))| {
        let are = if place == 0 { "are " } else { "" };
        let jobs = match *outcome {
            "running" => format!("jobs that still ran {at_end}"),
            "pending" => format!("jobs that waited again {at_end}"),
            "unknown" => "jobs whose end is not known".to_owned(),
            known => jobs_of(known).to_owned(),
        };
        format!("{} {are}of {jobs}", percent(*share))
    });
    said.collect()
}

/// `; 20.0 % belongs to jobs that still ran at the end`: the open part if no CPU time is lost.
fn open_shares(share: &dyn Fn(&str) -> f64, at_end: &str) -> String {
    let open = |outcome: &str, said: &str| match share(outcome) {
        open if 0.0 < open => format!("; {} belongs to jobs {said}", percent(open)),
        _ => String::new(),
    };
    [
        open("running", &format!("that still ran {at_end}")),
        open("pending", &format!("that waited again {at_end}")),
        open("unknown", "whose end is not known"),
    ]
    .concat()
}

/// ` (87.2 % of it by one job)` if one job used most of the CPU time of an outcome.
fn of_one(answer: &AccountAnswer, outcome: &str) -> String {
    let most = largest(answer, outcome).filter(|share| MOST <= *share);
    most.map_or_else(String::new, |share| format!(" ({} of it by one job)", percent(share)))
}

/// The largest job of an outcome is reported if it has at least this part of its CPU time. At this
/// part, the share of the outcome would be up to a third smaller without the job.
const ONE_JOB: f64 = 0.3;

/// Reasons for the shares of outcomes: a reason in the log, or one job that has much of a share.
fn notes(stored: &Envelope, answer: &AccountAnswer, lossy: &[&str]) -> Vec<String> {
    let share = |outcome: &str| answer.sum_of(outcome, |row| row.share);
    let is_google = stored.source.as_deref().is_some_and(|source| source.starts_with("google"));
    let source = stored.source.as_deref().and_then(|name| name.parse::<Source>().ok());
    let killed = if !lossy.contains(&"killed") {
        None
    } else if is_google && share("finished") < share("killed") {
        Some(SERVICES)
    } else {
        source.is_some_and(Source::has_pods).then_some(PODS)
    };
    let named = lossy.iter().chain(&["finished"]).filter(|outcome| NAMED <= share(outcome));
    let each = named.filter_map(|outcome| {
        let (all, jobs) = (percent(share(outcome)), jobs_of(outcome));
        // A reason that applies to nearly all of an outcome adds no information.
        let reason = answer.main_reason(outcome).filter(|said| !said.starts_with(&all));
        if let Some((share, whose)) = reason.as_deref().and_then(|said| said.split_once(" in ")) {
            return Some(format!("{share} of all, most of the {all} of {jobs}, is in {whose}"));
        }
        let most = largest(answer, outcome).filter(|share| ONE_JOB <= *share)?;
        let used = answer.meter.verb();
        Some(format!("one job makes up {} of what {jobs} {used}", percent(most)))
    });
    killed.map(str::to_owned).into_iter().chain(each).collect()
}

/// A sentence about CPU time by how attempts ended. Empty if the ends of the attempts match the
/// outcomes of their jobs.
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

/// A possible meaning of a kill; the trace does not mark services.
const SERVICES: &str = "killed jobs include services, which run until they are killed";

/// The end of a pod that is deleted while it runs. This may be the normal end of the pod.
const PODS: &str = "deleted pods count as killed";

/// ` in the first 25.2 h`, `after 29 d`, and
/// `. Outcomes are those of the jobs after 29 d, when the trace of jobs ends`, if tasks are loaded
/// for a shorter time than jobs.
fn apart(inputs: &[Input]) -> Option<[String; 3]> {
    let within = Some(within(inputs)).filter(|within| !within.is_empty())?;
    let jobs = digits::lasting(length_of(inputs, Table::JobEvents)?);
    Some([
        within,
        format!("after {jobs}"),
        format!(". Outcomes are those of the jobs after {jobs}, when the trace of jobs ends"),
    ])
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

/// The share of the largest job in the CPU time of an outcome. If the ledger is split, each job is
/// in only one of its groups.
fn largest(answer: &AccountAnswer, outcome: &str) -> Option<f64> {
    let own = answer.of_outcome(outcome);
    if let [only] = own.as_slice() {
        return only.largest_job_share;
    }
    let of_job = own.iter().filter_map(|row| Some(row.largest_job_share? * row.cpu?));
    let all: f64 = own.iter().filter_map(|row| row.cpu).sum();
    (0.0 < all).then(|| of_job.fold(0.0, f64::max) / all)
}

/// How long jobs last: the median, the 99 % quantile (for fewer than 100 jobs the longest), and the
/// mean.
pub(super) fn lasting(stored: &Envelope) -> Option<Told> {
    stored.found::<DescribeAnswer>()?.durations().map(Told::Shown)
}

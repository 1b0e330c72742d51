//! Single jobs in detail: those that a sweep would harm, and the longest of each outcome.
//!
//! In: a lake and a sweep. Out: a few hundred jobs. Each has its events, the attempts of its tasks
//! on machines, both classifications, the running time of its tasks, and the instant at which each
//! rule would have killed the first of them. Lists are bounded, but total counts are included.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Float32Type, Int32Type, Int64Type};
use rayon::prelude::*;
use serde_json::json;

use super::job_cpu::OverTime;
use super::jobs::{JobDetail, JobDetails, JobEvent, JobKill, JobTask, TaskAttempt, UserOutcomes};
use super::{KIND as SWEEP, Swept, harms, job_record};
use crate::answers::sentences::Ends;
use crate::answers::study::Work;
use crate::digits::{counted, grouped};
use crate::facts::FactError;
use crate::facts::events::{Event, Histories};
use crate::facts::jobs::{Job, Jobs, SEQUENCE_OUTCOMES, TERMINAL_OUTCOMES};
use crate::facts::tasks::{Attempt, EndedBy, Spent, TaskView, Tasks, Usage, closed};
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::kind::{Kind, Pages};
use crate::results::store::Answer;
use crate::schema::{EventType, Table};
use crate::studies::meter::CpuDefinition;
use crate::studies::outcomes::Classes;
use crate::studies::quantile;
use crate::studies::rules::{Owner, RuleGrid};
use crate::units::micros_to_seconds;

/// The result.
pub const KIND: Kind<'static> = Kind {
    tables: &[Table::JobEvents, Table::TaskEvents],
    pages: Some(Pages::Jobs),
    sentence: Some(|it| {
        let details = it.found::<JobDetails>()?;
        let which = match (Ends::of(details.finished(), &it.inputs), details.harmed()) {
            (Ends::Known, 0) => "those of each outcome whose tasks ran longest".to_owned(),
            (Ends::Known, harmed) if harmed == details.jobs.len() as u64 => {
                "finished jobs that a rule would harm".to_owned()
            }
            (Ends::Known, harmed) => format!(
                "{} of the finished jobs that a rule would harm, and the jobs of each outcome whose tasks \
                ran longest",
                grouped(harmed)
            ),
            (Ends::Assumed, _) => {
                "some of the jobs whose tasks ran longest, or that reached the threshold of a rule"
                    .to_owned()
            }
        };
        let jobs = counted(details.jobs.len() as u64, "job");
        Some(format!("{jobs} with a page: {which}"))
    }),
    ..Kind::called("jobs", "Jobs in detail").holding::<JobDetails>()
};

/// The most harmed jobs in detail, and the number of longest-running jobs per outcome.
const HARMED_MAX: usize = 150;
const LONGEST: usize = 8;

/// The most items that are listed for a job. `TASKS_HELD` is the most tasks in memory.
const TASKS_MAX: usize = 12;
const TASKS_HELD: usize = 100 * TASKS_MAX;
const EVENTS_MAX: usize = 60;
const ATTEMPTS_MAX: usize = 24;
const SEQUENCE_MAX: usize = 60;

/// The number of steps from the lowest to the highest quantile of lengths, and the fewest lengths
/// for which quantiles are stored.
const QUANTILES: u32 = 20;
const LENGTHS_MIN: usize = 10;

/// The outcomes of all jobs are stored for at most this many users, those with most jobs.
const USERS_MAX: usize = 5000;

/// Stores the jobs next to the sweep that names them.
///
/// # Errors
/// A table cannot be read, or the result cannot be written.
pub(super) fn put(work: &Work<'_>, rules: &[RuleGrid], swept: &Swept) -> Result<()> {
    if work.is_missing(Table::JobEvents, KIND)? {
        return Ok(());
    }
    let mut named: BTreeSet<i64> = harms::harmed(swept, HARMED_MAX).into_iter().collect();
    let classes = work.definitions.classes;
    let (longest, users) = looked_over(work.lake, work.windows, classes)?;
    named.extend(longest);
    let mut jobs = closeups(work.lake, work.windows, rules, &named)?;
    let named_by = harms::naming(swept);
    for job in &mut jobs {
        job.outcome = match classes {
            Classes::Terminal => job.outcome_by_last_event.clone(),
            Classes::Sequence => job.outcome_by_sequence.clone(),
        };
        let named = named_by.get(&job.job_id).map_or(&[][..], Vec::as_slice);
        job.harmed_by = harms::harmed_by(job, swept, named);
    }
    let rows = || jobs.iter();
    let unit = CpuDefinition::Requested.unit(work.lake.source());
    let is_requested = rows().any(|job| job.requested_cpu.is_some_and(|cpu| 0.0 < cpu));
    let frame = Frame::default()
        .int("job_id", rows().map(|job| job.job_id))
        .maybe_text("user", rows().map(|job| job.user.as_deref()));
    let frame = match classes {
        Classes::Terminal => frame,
        Classes::Sequence => {
            let outcomes = rows().map(|job| job.outcome_by_sequence.as_ref());
            frame.text("outcome_sequence", outcomes)
        }
    };
    let table = frame
        .text("outcome_terminal", rows().map(|job| job.outcome_by_last_event.as_ref()))
        .text("harmed_by", rows().map(|job| job.harmed_by.join(", ")))
        .about("The rules that would have killed a task of it, if it finished")
        .count("tasks", rows().map(|job| job.task_count))
        .count("attempts", rows().map(|job| job.attempt_count))
        .float("requested_cpu", rows().map(|job| job.requested_cpu.filter(|_| is_requested)))
        .unit(unit)
        .about("CPU that its attempts requested, times their running time")
        .maybe_text("unit", rows().map(|_| is_requested.then_some(unit)))
        .float("running_s", rows().map(|job| Some(job.running_s)))
        .batch();
    let settings = json!({
        "harmed_max": HARMED_MAX, "longest_per_outcome": LONGEST, "windows": work.windows,
        "named_by": SWEEP.name,
    });
    work.store(&Answer {
        kind: KIND,
        table: &table,
        json: json!(JobDetails { classes, jobs, users: by_user(users, classes) }),
        settings,
        charts: Vec::new(),
    })
}

/// By outcome, the total running time of the tasks of a job, µs, and the job; the longest comes
/// first.
type Longest = BTreeMap<u8, Vec<(Reverse<i64>, i64)>>;

/// By user: the number of jobs with each outcome.
type Users = BTreeMap<String, [u64; TERMINAL_OUTCOMES.len()]>;

/// The jobs of each outcome whose tasks ran longest, and the outcomes of the jobs of each user.
fn looked_over(
    lake: &Lake,
    windows: Windows,
    classes: Classes,
) -> Result<(Vec<i64>, Users), FactError> {
    let outcome = |job: &Job| match classes {
        Classes::Sequence => job.by_sequence,
        Classes::Terminal => job.by_terminal,
    };
    let of_bucket = |bucket: u32| -> Result<(Longest, Users), FactError> {
        let known = Jobs::read(lake, bucket)?;
        let mut sums: BTreeMap<usize, i64> = BTreeMap::new();
        Tasks::read(lake, bucket, windows, Usage::Skip)?.for_each(|task| {
            if let Some(job) = known.find(task.job_id) {
                let ran: i64 = task.attempts.iter().map(Attempt::run_us).sum();
                *sums.entry(job).or_default() += ran;
            }
        });
        let mut all = Longest::new();
        for (job, ran_us) in sums {
            let job = &known.jobs[job];
            all.entry(outcome(job)).or_default().push((Reverse(ran_us), job.id));
        }
        let mut users = Users::new();
        for job in &known.jobs {
            if let Some(user) = job.user {
                let name = known.names.get(user).to_owned();
                users.entry(name).or_default()[outcome(job) as usize] += 1;
            }
        }
        Ok((shortened(all), users))
    };
    let merge = |mut one: (Longest, Users), other: (Longest, Users)| {
        for (outcome, jobs) in other.0 {
            one.0.entry(outcome).or_default().extend(jobs);
        }
        for (user, counts) in other.1 {
            let own = one.1.entry(user).or_default();
            own.iter_mut().zip(counts).for_each(|(own, count)| *own += count);
        }
        Ok((shortened(one.0), one.1))
    };
    let (longest, users) = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(of_bucket)
        .try_reduce(Default::default, merge)?;
    Ok((longest.into_values().flatten().map(|(_, id)| id).collect(), users))
}

/// Users with the outcomes of their jobs; users with most jobs come first.
fn by_user(users: Users, classes: Classes) -> Vec<UserOutcomes> {
    let mut users: Vec<_> = users.into_iter().collect();
    users.sort_by_cached_key(|(name, counts)| (Reverse(counts.iter().sum::<u64>()), name.clone()));
    users.truncate(USERS_MAX);
    let of = |(name, counts): (String, [u64; TERMINAL_OUTCOMES.len()])| {
        let known = classes.outcomes().iter().zip(counts).filter(|(_, count)| 0 < *count);
        let outcomes = known.map(|(outcome, count)| (*outcome, count)).collect();
        UserOutcomes { user: name, outcomes }
    };
    users.into_iter().map(of).collect()
}

fn shortened(mut all: Longest) -> Longest {
    for jobs in all.values_mut() {
        jobs.sort_unstable();
        jobs.truncate(LONGEST);
    }
    all
}

/// The named jobs in detail, by id.
fn closeups(
    lake: &Lake,
    windows: Windows,
    rules: &[RuleGrid],
    named: &BTreeSet<i64>,
) -> Result<Vec<JobDetail>> {
    let of_bucket = |bucket: u32| in_bucket(lake, bucket, windows, rules, named);
    let all: Vec<Vec<JobDetail>> = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(of_bucket)
        .collect::<Result<_>>()?;
    let mut all: Vec<JobDetail> = all.into_iter().flatten().collect();
    all.sort_by_key(|job| job.job_id);
    Ok(all)
}

/// The named jobs of a bucket in detail, by id.
fn in_bucket(
    lake: &Lake,
    bucket: u32,
    windows: Windows,
    rules: &[RuleGrid],
    named: &BTreeSet<i64>,
) -> Result<Vec<JobDetail>> {
    let known = Jobs::read(lake, bucket)?;
    let mut all: BTreeMap<i64, JobDetail> = BTreeMap::new();
    for job in known.jobs.iter().filter(|job| named.contains(&job.id)) {
        let cpu_unit = CpuDefinition::Requested.unit(lake.source()).trim_end_matches("-s").into();
        all.insert(job.id, JobDetail { cpu_unit, ..begun(job, &known) });
    }
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let histories = Histories::read(lake, Table::JobEvents, bucket)?;
    for (entity, id) in histories.ids.iter().enumerate() {
        if let Some(job) = all.get_mut(&id.0) {
            let events = histories.events(entity);
            job.event_count = events.len();
            job.events = events.iter().take(EVENTS_MAX).map(moment).collect();
        }
    }
    let mut records = all.iter_mut().map(|(id, job)| (*id, &mut job.record)).collect();
    job_record::add(lake, bucket, &mut records)?;
    let mut refused = None;
    // Only the usage windows of the named jobs are needed, and they are read below.
    let has_windows = lake.has(Table::TaskUsage);
    let usage = if has_windows { Usage::Skip } else { Usage::Read };
    Tasks::read(lake, bucket, windows, usage)?.for_each(|task| {
        if let Some(job) = all.get_mut(&task.job_id) {
            let facts = known.find(task.job_id).map(|position| &known.jobs[position]);
            refused = refused.take().or(add(job, (task, windows), facts, rules).err());
        }
    });
    if let Some(error) = refused {
        return Err(FactError::from(error).into());
    }
    let mut over_time: BTreeMap<i64, OverTime> = BTreeMap::new();
    for (id, job) in &mut all {
        let gathered = std::mem::take(&mut job.gathered);
        job.told_use = gathered.told();
        over_time.extend(gathered.over_time().map(|gathered| (*id, gathered)));
    }
    if has_windows {
        add_use(lake, (bucket, windows), &mut over_time)?;
    }
    for (id, gathered) in over_time {
        if let Some(job) = all.get_mut(&id) {
            job.cpu = gathered.ended();
        }
    }
    Ok(all.into_values().map(ended).collect())
}

/// Adds the usage windows of a bucket to their jobs.
fn add_use(
    lake: &Lake,
    (bucket, windows): (u32, Windows),
    jobs: &mut BTreeMap<i64, OverTime>,
) -> Result<(), FactError> {
    const COLUMNS: [&str; 5] =
        ["job_id", "task_index", "start_time_us", "end_time_us", "mean_cpu_rate"];
    lake.scan(Table::TaskUsage, Some(bucket), &COLUMNS, |batch| {
        let [ids, begins, ends] = [0, 2, 3].map(|at| batch.column(at).as_primitive::<Int64Type>());
        let tasks = batch.column(1).as_primitive::<Int32Type>();
        let rates = batch.column(4).as_primitive::<Float32Type>();
        for (row, id) in ids.values().iter().enumerate() {
            let Some(job) = jobs.get_mut(id) else { continue };
            let end_us = closed(ends.value(row), windows.task_end_us);
            // A window without a rate counts as no use, as for `account`.
            let rate = if rates.is_null(row) { 0.0 } else { rates.value(row) };
            job.add_window(tasks.value(row), [begins.value(row), end_us], rate);
        }
    })?;
    Ok(())
}

/// Any job in detail, as in the result but without rules. `None` if the lake does not know the job.
///
/// # Errors
/// A table cannot be read, or the callback of a watched lake stops the call.
#[cfg(feature = "serve")]
pub(crate) fn one(lake: &Lake, windows: Windows, job_id: i64) -> Result<Option<JobDetail>> {
    let bucket = crate::schema::bucket_of(job_id, lake.bucket_count());
    let all = in_bucket(lake, bucket, windows, &[], &BTreeSet::from([job_id]))?;
    Ok(all.into_iter().next())
}

fn begun(job: &Job, known: &Jobs) -> JobDetail {
    let name = |position: Option<u32>| position.map(|it| known.names.get(it).to_owned());
    JobDetail {
        job_id: job.id,
        user: name(job.user),
        job_name: name(job.name),
        outcome_by_sequence: SEQUENCE_OUTCOMES[job.by_sequence as usize].into(),
        outcome_by_last_event: TERMINAL_OUTCOMES[job.by_terminal as usize].into(),
        sequence: cut(&job.sequence),
        ..JobDetail::default()
    }
}

/// Adds a task to its job.
fn add(
    job: &mut JobDetail,
    (task, windows): (&TaskView<'_>, Windows),
    facts: Option<&Job>,
    rules: &[RuleGrid],
) -> Result<(), crate::studies::rules::RuleError> {
    job.task_count += 1;
    job.attempt_count += task.attempts.len() as u64;
    job.gathered.add(task);
    for attempt in task.attempts {
        let run_s = micros_to_seconds(attempt.run_us());
        job.running_s += run_s;
        if attempt.cpu_request.is_some() {
            let requested = attempt.requested_rate().over(attempt.length_us()).seconds();
            *job.requested_cpu.get_or_insert(0.0) += requested;
        }
        if attempt.ended_by == EndedBy::Event(EventType::Finish) {
            job.finished_s.push(run_s);
        }
    }
    let listed = task.attempts.iter().take(ATTEMPTS_MAX);
    job.tasks.push(JobTask {
        task_index: task.task_index,
        sequence: cut(&crate::facts::jobs::sequence_of(task.events)),
        event_count: task.events.len(),
        attempt_count: task.attempts.len(),
        attempts: listed.map(|attempt| of_attempt(task, attempt, windows)).collect(),
    });
    // A job may have a million tasks. Only tasks that may be listed stay in memory.
    if TASKS_HELD < job.tasks.len() {
        keep_first_tasks(&mut job.tasks);
    }
    let scheduling_class = facts.and_then(|job| job.scheduling_class);
    let mut times = Vec::new();
    let mut requested = Spent::default();
    requested.of_attempts(task.attempts, Attempt::requested_rate);
    let is_requested = task.attempts.iter().any(|attempt| attempt.cpu_request.is_some());
    for rule in rules.iter().filter(|rule| !rule.ends_jobs() && !rule.asks_history()) {
        let user = job.user.as_deref();
        let owner = Owner { scheduling_class, user, ..Owner::default() };
        rule.kill_times(task, owner, &mut times)?;
        let name = rule.to_string();
        let end_us = task.attempts.last().map_or(i64::MAX, |attempt| attempt.end_us);
        for (&threshold, &at_us) in rule.grid.iter().zip(&times) {
            let first_s = micros_to_seconds(at_us);
            let over = u64::from(end_us <= at_us);
            let saved = is_requested.then(|| requested.after(at_us).seconds());
            let is_it = |kill: &&mut JobKill| kill.rule == name && kill.threshold == threshold;
            match job.kills.iter_mut().find(is_it) {
                Some(kill) => {
                    kill.condemned_tasks += 1;
                    kill.over_by_then = kill.over_by_then.map(|count| count + over);
                    kill.first_s = kill.first_s.min(first_s);
                    kill.saved_cpu = sum_of_known(kill.saved_cpu, saved);
                }
                None => job.kills.push(JobKill {
                    rule: name.clone(),
                    threshold,
                    unit: rule.rule.unit().into(),
                    condemned_tasks: 1,
                    over_by_then: Some(over),
                    first_s,
                    saved_cpu: saved,
                }),
            }
        }
    }
    Ok(())
}

/// The sum of two amounts; `None` if both are unknown.
fn sum_of_known(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.or(other).map(|_| one.unwrap_or(0.0) + other.unwrap_or(0.0))
}

/// Completes a job after all its tasks are added: computes quantiles, and selects the tasks that
/// are listed.
fn ended(mut job: JobDetail) -> JobDetail {
    let mut lengths = std::mem::take(&mut job.finished_s);
    lengths.sort_by(f64::total_cmp);
    job.finished_attempts = lengths.len();
    job.finished_s_min = lengths.first().copied();
    job.finished_s_median = quantile(&lengths, 0.5);
    job.finished_s_p95 = quantile(&lengths, 0.95);
    job.finished_s_max = lengths.last().copied();
    if LENGTHS_MIN <= lengths.len() {
        let steps = (0..=QUANTILES).map(|step| f64::from(step) / f64::from(QUANTILES));
        job.finished_s_quantiles = steps.filter_map(|share| quantile(&lengths, share)).collect();
    }
    keep_first_tasks(&mut job.tasks);
    job.kills.sort_by(|one, other| (&one.rule, one.threshold).cmp(&(&other.rule, other.threshold)));
    job
}

/// Keeps the tasks that are listed: those with most attempts.
fn keep_first_tasks(tasks: &mut Vec<JobTask>) {
    tasks.sort_by_key(|task| (Reverse(task.attempt_count), task.task_index));
    tasks.truncate(TASKS_MAX);
}

fn moment(event: &Event) -> JobEvent {
    JobEvent { time_s: micros_to_seconds(event.time_us), event: event.event_type.name().to_owned() }
}

/// The instant at which the task was submitted for an attempt, µs: the SUBMIT before its SCHEDULE.
/// `None` if that SUBMIT is not recorded, or is before the window.
fn submitted(task: &TaskView<'_>, attempt: &Attempt, windows: Windows) -> Option<i64> {
    let scheduled = task.events.iter().position(|event| event.row == attempt.row)?;
    let mut before = task.events[..scheduled].iter().rev();
    let last = before.find(|event| event.event_type.is_deciding())?;
    let is_known = last.event_type == EventType::Submit && !windows.is_before(last.time_us);
    is_known.then_some(last.time_us)
}

fn of_attempt(task: &TaskView<'_>, attempt: &Attempt, windows: Windows) -> TaskAttempt {
    TaskAttempt {
        submit_s: submitted(task, attempt, windows).map(micros_to_seconds),
        start_s: micros_to_seconds(attempt.start_us),
        end_s: micros_to_seconds(attempt.end_us),
        ended_by: attempt.ended_by.name().to_owned(),
        machine_id: attempt.machine_id,
    }
}

/// The beginning of a sequence, because crash loops have thousands of events.
fn cut(sequence: &str) -> String {
    match sequence.char_indices().nth(SEQUENCE_MAX) {
        Some((end, _)) => format!("{}…", &sequence[..end]),
        None => sequence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::envelope::Envelope;

    #[test]
    fn a_job_without_a_harmed_one_beside_it_is_one_of_the_longest() {
        let said = |harmed_by: &[&str]| {
            let job = json!({"job_id": 7, "outcome_by_sequence": "finished",
                "harmed_by": harmed_by});
            let answer = json!({"jobs": [job], "users": []});
            KIND.sentence.unwrap()(&Envelope { answer, ..Envelope::default() }).unwrap()
        };
        assert_eq!(said(&["restarts"]), "1 job with a page: finished jobs that a rule would harm");
        assert_eq!(said(&[]), "1 job with a page: those of each outcome whose tasks ran longest");
    }

    #[test]
    fn users_with_most_jobs_come_first() {
        let mut users = Users::new();
        users.entry("a".to_owned()).or_default()[0] = 1;
        users.entry("b".to_owned()).or_default()[1] = 2;
        let found = by_user(users, Classes::Sequence);
        let one = SEQUENCE_OUTCOMES[1];
        assert_eq!(json!(found[0]), json!({"user": "b", "outcomes": {one: 2}}));
        assert_eq!(found[1].user, "a");
    }
}

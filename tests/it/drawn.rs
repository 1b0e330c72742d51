//! Compares studies of random traces with sums computed here from the raw events alone: the kill
//! sweep, its shares and its groups; waits; memory; and open tasks and jobs.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;

use super::support::Place;

/// Number of random traces.
const TRACES: u32 = 8;

/// An event: when (s), and its type.
pub(super) type Event = (u64, u32);

/// A job: its events, and those of each of its tasks.
pub(super) type Job = (Vec<Event>, Vec<Vec<Event>>);

const TERMINAL: [u32; 5] = [2, 3, 4, 5, 6];

/// Events with the types in a text, at random instants; ties keep the order of the text.
fn events(texts: Vec<&'static str>) -> impl Strategy<Value = Vec<Event>> {
    let types = prop::sample::select(texts);
    (types, prop::collection::vec(1_u64..400, 12)).prop_map(|(types, mut times)| {
        let types: Vec<u32> = types.bytes().map(|digit| u32::from(digit - b'0')).collect();
        times.truncate(types.len());
        times.sort_unstable();
        times.into_iter().zip(types).collect()
    })
}

pub(super) fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let task = events(vec![
        "014",
        "013014",
        "0114",
        "0130130140",
        "01",
        "05",
        "0",
        "050",
        "0105",
        "15",
        "018801",
        "01441",
        "8",
        "077",
        "0714",
        "01307",
    ]);
    let job = events(vec!["014", "014", "013", "015", "01", "0", "013014", ""]);
    prop::collection::vec((job, prop::collection::vec(task, 0..4)), 1..7)
}

fn user(job: usize) -> String {
    format!("user{}", job % 2)
}

/// Lines ordered by time. Events at the same instant keep the order of the list.
fn sorted(mut lines: Vec<(u64, String)>) -> String {
    lines.sort_by_key(|line| line.0);
    lines.into_iter().map(|line| line.1).collect()
}

/// The number of usage windows of each task: 40 s each, one every 50 s. There are also windows of
/// one task that the job does not have.
const WINDOWS: u64 = 8;

/// Memory in eighths of that of the largest machine, so that every sum is exact; empty for none.
fn eighths(amount: Option<u64>) -> String {
    amount.map_or_else(String::new, |eighths| format!("{}.{:03}", eighths / 8, eighths % 8 * 125))
}

/// The memory that a task requests, in eighths.
fn asked_of(job: usize, index: usize) -> Option<u64> {
    let amount = (job * 7 + index * 3) as u64 % 6;
    (0 < amount).then_some(amount)
}

/// The canonical and the assigned memory of a window, in eighths.
fn used_by(job: usize, index: usize, window: u64) -> [Option<u64>; 2] {
    let amount = (job * 5 + index) as u64 + window * 3;
    [
        Some(amount % 7).filter(|amount| 0 < *amount),
        Some(1 + amount % 8).filter(|amount| *amount < 8),
    ]
}

/// A lake of the jobs, with or without `job_events`.
pub(super) fn lake(jobs: &[Job], tables: &str) -> Place {
    let place = Place::new();
    let (mut of_jobs, mut of_tasks) = (Vec::new(), Vec::new());
    for (id, (events, tasks)) in jobs.iter().enumerate() {
        let user = user(id);
        of_jobs.extend(events.iter().map(|(time, kind)| {
            (*time, format!("{time}000000,,{id},{kind},{user},0,name,logical\n"))
        }));
        for (index, events) in tasks.iter().enumerate() {
            let memory = eighths(asked_of(id, index));
            of_tasks.extend(events.iter().map(|(time, kind)| {
                (*time, format!("{time}000000,,{id},{index},5,{kind},{user},0,1,0.5,{memory},,\n"))
            }));
        }
    }
    let mut of_usage = String::new();
    for (id, index) in jobs
        .iter()
        .enumerate()
        .flat_map(|(id, job)| (0..=job.1.len()).map(move |index| (id, index)))
    {
        for window in 0..WINDOWS {
            let (start, rest) = (window * 50, ",".repeat(12));
            let [canonical, assigned] = used_by(id, index, window).map(eighths);
            let line = format!(
                "{start}000000,{}000000,{id},{index},5,0.5,{canonical},{assigned}{rest}\n",
                start + 40
            );
            of_usage.push_str(&line);
        }
    }
    place.raw("task_usage/part-00000-of-00001.csv", of_usage);
    place.raw("job_events/part-00000-of-00001.csv", sorted(of_jobs));
    place.raw("task_events/part-00000-of-00001.csv", sorted(of_tasks));
    place.ingest(&["--buckets", "3", "--tables", tables]).ok();
    place
}

/// The last event that decides whether a job or task has ended, with its instant and type.
fn deciding(events: &[Event]) -> Option<Event> {
    events.iter().copied().rfind(|event| event.1 < 2 || TERMINAL.contains(&event.1))
}

pub(super) fn end_of(events: &[Event]) -> Option<u64> {
    deciding(events).filter(|event| TERMINAL.contains(&event.1)).map(|event| event.0)
}

pub(super) fn window_end(jobs: &[Job]) -> u64 {
    jobs.iter().flat_map(|job| job.1.iter().flatten()).map(|event| event.0).max().unwrap_or(0)
}

/// Waits as (start, end), s: from each SUBMIT to the next event that decides, or to the end of the job.
pub(super) fn waits(events: &[Event], job_end: Option<u64>, window_end: u64) -> Vec<(u64, u64)> {
    let submits = events.iter().enumerate().filter(|(_, event)| event.1 == 0);
    let wait = |(place, (start, _)): (usize, &Event)| {
        let next = events[place + 1..].iter().find(|event| event.1 < 7);
        let end = next.map_or_else(|| job_end.unwrap_or(window_end).min(window_end), |next| next.0);
        (*start, end.max(*start))
    };
    submits.map(wait).collect()
}

/// Attempts as (start, end), s.
pub(super) fn attempts(events: &[Event], job_end: Option<u64>, window_end: u64) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for (place, (start, _)) in events.iter().enumerate().filter(|(_, event)| event.1 == 1) {
        let next =
            events[place + 1..].iter().find(|event| event.1 == 1 || TERMINAL.contains(&event.1));
        let end = match next {
            Some(next) => next.0,
            None => {
                job_end.filter(|&end| end < window_end).map_or(window_end, |end| end.max(*start))
            }
        };
        found.push((*start, end));
    }
    found
}

/// The effect of a threshold on a job: condemned tasks, those condemned at their end, seconds saved
/// and spent.
#[derive(Clone, Copy, Default)]
struct Killed {
    tasks: u64,
    at_end: u64,
    saved: u64,
    spent: u64,
}

fn killed(job: &Job, threshold: usize, window_end: u64, spares: bool) -> Killed {
    let mut all = Killed::default();
    for events in job.1.iter().filter(|events| threshold < events.len()) {
        let at = events[threshold].0;
        let last = deciding(events);
        let is_at_end = last.is_some_and(|event| event.1 == 4 && event.0 <= at);
        if is_at_end && spares {
            continue;
        }
        all.tasks += 1;
        all.at_end += u64::from(is_at_end);
        for (start, end) in attempts(events, end_of(&job.0), window_end) {
            all.saved += end.saturating_sub(start.max(at));
            all.spent += (end - start) - end.saturating_sub(start.max(at));
        }
    }
    all
}

fn is_finished(job: &Job) -> bool {
    job.0.iter().map(|event| event.1).eq([0, 1, 4])
}

/// Whether a share is `part` of `whole`, up to rounding of its last digits; null if `whole` is 0.
#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn is_share(share: &Value, part: u64, whole: u64) -> bool {
    match share.as_f64() {
        Some(share) => 0 < whole && (share - part as f64 / whole as f64).abs() < 1e-12,
        None => share.is_null() && whole == 0,
    }
}

/// Compares a row of a sweep with brute force over `jobs`.
fn check_row(
    row: &Value,
    jobs: &[&Job],
    window_end: u64,
    spares: bool,
) -> Result<(), TestCaseError> {
    let threshold = usize::try_from(row["threshold"].as_u64().unwrap()).unwrap();
    let all: Vec<(&&Job, Killed)> =
        jobs.iter().map(|job| (job, killed(job, threshold, window_end, spares))).collect();
    let finished = || all.iter().filter(|(job, _)| is_finished(job));
    let harmed = || finished().filter(|(_, killed)| 0 < killed.tasks);
    let sum = |column: &str| -> u64 {
        row[column].as_object().unwrap().values().filter_map(Value::as_u64).sum()
    };
    prop_assert_eq!(sum("condemned_tasks"), all.iter().map(|one| one.1.tasks).sum::<u64>());
    prop_assert_eq!(sum("condemned_at_end"), all.iter().map(|one| one.1.at_end).sum::<u64>());
    prop_assert_eq!(row["harmed_jobs"].as_u64().unwrap(), harmed().count() as u64);
    let at_end = harmed().filter(|(_, killed)| killed.at_end == killed.tasks).count() as u64;
    prop_assert_eq!(row["harmed_at_end"].as_u64().unwrap(), at_end);
    // A share of the finished jobs that have tasks in the loaded parts.
    let with_tasks =
        finished().filter(|(job, _)| job.1.iter().any(|events| !events.is_empty())).count() as u64;
    prop_assert!(is_share(&row["harmed_jobs_share"], harmed().count() as u64, with_tasks), "{row}");
    let destroyed: u64 = harmed().map(|(_, killed)| killed.spent).sum();
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let seconds = |sum: u64| Value::from(sum as f64);
    prop_assert_eq!(&row["destroyed_cpu"], &seconds(destroyed));
    let saved = |job: &&Job, killed: &Killed| if is_finished(job) { 0 } else { killed.saved };
    let in_all: u64 = all.iter().map(|(job, killed)| saved(job, killed)).sum();
    let most = all.iter().map(|(job, killed)| saved(job, killed)).max().unwrap_or(0);
    prop_assert!(is_share(&row["largest_saved_in_all"], most, in_all), "{row}");
    let most = harmed().map(|(_, killed)| killed.spent).max().unwrap_or(0);
    prop_assert!(is_share(&row["largest_destroyed_share"], most, destroyed), "{row}");
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: TRACES, ..Config::default() })]

    /// Each share has one denominator, and each sum has the largest share of one job.
    #[test]
    #[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
    fn a_sweep_is_the_sum_over_jobs(jobs in jobs()) {
        let place = lake(&jobs, "job_events,task_events");
        let window_end = window_end(&jobs);
        // A job without any record is not counted; a job without job events is unmatched.
        let all: Vec<&Job> = jobs.iter().collect();
        for (spares, engine) in [(false, "native"), (true, "native"), (false, "polars"), (true, "polars")] {
            let mut args = vec![
                "sweep", "--cpu", "slots", "--thresholds", "1..=5", "--group-by", "user",
                "--format", "json", "--engine", engine,
            ];
            if spares {
                args.push("--spare-finishing");
            }
            let answer = place.run(&args).ok().json();
            for row in answer["rows"].as_array().unwrap() {
                check_row(row, &all, window_end, spares)?;
            }
            for group in answer["groups"].as_array().unwrap() {
                let value = group["group"]["value"].as_str();
                // The user is the one in job_events.
                let own = jobs.iter().enumerate().filter(|(id, job)| {
                    let known = (!job.0.is_empty()).then(|| user(*id));
                    known.as_deref() == value
                });
                let own: Vec<&Job> = own.map(|(_, job)| job).collect();
                for row in group["rows"].as_array().unwrap() {
                    check_row(row, &own, window_end, spares)?;
                }
            }
        }
    }

    /// A wait ends with the first attempt, with the task or with its job. Only tasks that are still
    /// pending or running are censored.
    #[test]
    #[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
    fn waits_and_counts_say_what_has_ended(jobs in jobs()) {
        let place = lake(&jobs, "job_events,task_events");
        let window_end = window_end(&jobs);
        let (mut ends, mut total, mut open) = (BTreeMap::new(), 0, 0);
        for (events, tasks) in &jobs {
            let job_end = end_of(events).filter(|&end| end < window_end);
            for events in tasks.iter().filter(|events| !events.is_empty()) {
                open += u64::from(end_of(events).is_none() && job_end.is_none());
                let Some(place) = events.iter().position(|event| event.1 == 0) else { continue };
                let submit = events[place].0;
                let start = events[place..].iter().find(|event| event.1 == 1);
                let own = events.last().filter(|event| TERMINAL.contains(&event.1));
                let (end, until) = match (start, own.map(|event| event.0).or(job_end)) {
                    (Some(start), _) => ("started", start.0),
                    (None, Some(end)) => ("ended", end.max(submit)),
                    (None, None) => ("open", window_end),
                };
                *ends.entry(end).or_insert(0_u64) += 1;
                total += until - submit;
            }
        }
        let count = |end: &str| ends.get(end).copied().unwrap_or(0);
        for engine in ["native", "polars"] {
            let describe = |what: &str, more: &[&str]| {
                let args = ["describe", "--what", what, "--format", "json", "--engine", engine];
                place.run(&[&args[..], more].concat()).ok().json()["rows"][0].clone()
            };
            let all = describe("waiting", &[]);
            prop_assert_eq!(all["count"].as_u64().unwrap(), ends.values().sum::<u64>());
            prop_assert_eq!(all["ended_waiting"].as_u64().unwrap(), count("ended"));
            prop_assert_eq!(all["censored"].as_u64().unwrap(), count("open"));
            #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
            if let Some(mean) = all["mean"].as_f64() {
                prop_assert!((mean * ends.values().sum::<u64>() as f64 - total as f64).abs() < 1e-6);
            }
            for waits in ["started", "ended"] {
                let some = describe("waiting", &["--waits", waits]);
                prop_assert_eq!(some["count"].as_u64().unwrap(), count(waits));
            }
            for what in ["attempts", "events-per-task"] {
                prop_assert_eq!(describe(what, &[])["censored"].as_u64().unwrap(), open, "{}", what);
            }
        }
        // The facts and the study have the same definition.
        let facts = place.run(&["query", "q02", "--format", "json"]).ok().json();
        let waits = facts["table"].as_array().unwrap().iter().filter_map(|row| row["wait_us"].as_u64());
        prop_assert_eq!(waits.sum::<u64>(), total * 1_000_000);
    }

    /// An analysis counts the tasks that finished under the outcome of their job.
    #[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn tasks_that_finished_are_counted_by_the_outcome_of_their_job(jobs in jobs(), by_end in any::<bool>()) {
        let place = lake(&jobs, "job_events,task_events");
        let classes = if by_end { "terminal" } else { "sequence" };
        let config = format!("steps = [\"classify\", \"sweep\"]\n\n[definitions]\nclasses = \"{classes}\"\n");
        fs::write(place.path("outcomes.toml"), config).unwrap();
        place.run(&["analyze", "--config", "outcomes.toml", "--lake", "lake", "--out", "all"]).ok();
        let bytes = fs::read(place.path("all/classify-tasks.json")).unwrap();
        let found: Value = serde_json::from_slice(&bytes).unwrap();
        if found["answer"]["nothing"].is_string() {
            prop_assert!(jobs.iter().all(|job| job.1.iter().all(Vec::is_empty)));
            return Ok(());
        }
        let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
        for (job_events, tasks) in &jobs {
            let kinds: Vec<u32> = job_events.iter().map(|event| event.1).collect();
            let Some(last) = kinds.last() else { continue };
            let outcome = match (by_end, &kinds[..], last) {
                (false, [0, 1, 4], _) | (true, _, 4) => "finished",
                (false, [0, 1, 3], _) | (true, _, 3) => "failed",
                (false, [0, 1, 5], _) | (true, _, 5) => "killed",
                (false, [0, 1], _) | (true, _, 1) => "running",
                (true, _, _) => "pending",
                (false, _, _) => "other",
            };
            let last_kinds = tasks.iter().filter_map(|events| events.last());
            let finished = last_kinds.filter(|event| event.1 == 4).count() as u64;
            if 0 < finished {
                *expected.entry(outcome).or_default() += finished;
            }
        }
        prop_assert_eq!(&found["answer"]["finished_of"], &serde_json::json!(expected), "{}", found);
    }

    /// Of the tasks with at least so many events, those of finished jobs are counted, in all and in
    /// the job that has most of them.
    #[test]
    fn tasks_of_finished_jobs_are_counted_by_events_in_all_and_in_one_job(jobs in jobs()) {
        let place = lake(&jobs, "job_events,task_events");
        let run = place.run(&["describe", "--what", "finish-given-events", "--format", "json"]);
        if jobs.iter().all(|job| job.1.iter().all(Vec::is_empty)) {
            return Ok(());
        }
        let found = run.ok().json();
        for row in found["table"].as_array().unwrap() {
            let least = row["events"].as_u64().unwrap();
            let finished = jobs.iter().filter(|job| {
                job.0.iter().map(|event| event.1).eq([0, 1, 4])
            });
            let reached = |tasks: &[Vec<Event>]| {
                tasks.iter().filter(|events| least <= events.len() as u64).count() as u64
            };
            let own: Vec<u64> = finished.map(|job| reached(&job.1)).collect();
            prop_assert_eq!(&row["finished"], own.iter().sum::<u64>(), "{}", &row);
            let most = own.iter().max().copied().unwrap_or(0);
            prop_assert_eq!(&row["largest_job_finished"], most, "{}", &row);
        }
    }

    /// The used CPU on the page of a job adds up to the measured CPU time of the job. All jobs
    /// together add up to that of the ledger.
    #[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn the_cpu_of_a_job_over_time_is_that_of_the_ledger(jobs in jobs()) {
        let place = lake(&jobs, "job_events,task_events,task_usage");
        let window_end = window_end(&jobs);
        fs::write(place.path("sweep.toml"), "steps = [\"account\", \"sweep\"]\n\n[definitions]\ncpu = \"measured\"\n").unwrap();
        place.run(&["analyze", "--config", "sweep.toml", "--lake", "lake", "--out", "all"]).ok();
        let read = |name: &str| -> Value {
            let path = place.path(&format!("all/{name}.json"));
            fs::read(path).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap())
        };
        let (named, ledger) = (read("jobs"), read("account"));
        let mut all = 0.0;
        for job in named["answer"]["jobs"].as_array().into_iter().flatten() {
            let id = usize::try_from(job["job_id"].as_u64().unwrap()).unwrap();
            let (mut used, mut ran, mut recorded) = (0, 0, 0);
            for events in &jobs[id].1 {
                for (start, end) in attempts(events, end_of(&jobs[id].0), window_end) {
                    ran += end - start;
                    let inside = |window: u64| end.min(window * 50 + 40).saturating_sub(start.max(window * 50));
                    recorded += (0..WINDOWS).map(inside).sum::<u64>();
                }
            }
            // Half a CPU in each window.
            used += recorded;
            let of = &job["cpu"]["used"];
            prop_assert_eq!(of.is_object(), 0 < recorded, "{}", job);
            if recorded == 0 {
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
            let (used_s, share) = (used as f64 / 2.0, recorded as f64 / ran as f64);
            let means = of["means"].as_array().unwrap().iter().filter_map(Value::as_f64);
            let sum = means.sum::<f64>() * job["cpu"]["interval_s"].as_f64().unwrap();
            prop_assert!((sum - used_s).abs() < 1e-6, "{sum} {used_s}: {job}");
            prop_assert!((of["cpu_s"].as_f64().unwrap() - used_s).abs() < 1e-9, "{used_s}: {job}");
            prop_assert!((of["recorded_share"].as_f64().unwrap() - share).abs() < 1e-9, "{share}: {job}");
            all += used_s;
        }
        // Fewer jobs than are named; those without events are unmatched.
        let known = ledger["answer"]["rows"].as_array().into_iter().flatten();
        let total: f64 = known.filter_map(|row| row["cpu"].as_f64()).sum();
        prop_assert!((all - total).abs() < 1e-6, "{all} {total}: {ledger}");
    }

    /// Memory times time, as requested, canonical or assigned, is attributed to the outcome of the
    /// job, to unmatched jobs or outside of attempts; the parts add up to the total.
    #[test]
    #[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
    fn memory_time_is_the_sum_over_attempts(jobs in jobs()) {
        let place = lake(&jobs, "job_events,task_events,task_usage");
        let window_end = window_end(&jobs);
        for (number, memory) in ["requested", "canonical", "assigned"].into_iter().enumerate() {
            // By outcome, unmatched and outside of attempts, in eighths.
            let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
            for (id, (job_events, tasks)) in jobs.iter().enumerate() {
                let outcome = match job_events.iter().map(|event| event.1).collect::<Vec<u32>>()[..] {
                    [] => "unmatched",
                    [0, 1, 4] => "finished",
                    [0, 1, 3] => "failed",
                    [0, 1, 5] => "killed",
                    [0, 1] => "running",
                    _ => "other",
                };
                for index in 0..=tasks.len() {
                    let events = tasks.get(index).map_or(&[][..], Vec::as_slice);
                    let spans = attempts(events, end_of(job_events), window_end);
                    if memory == "requested" {
                        let length: u64 = spans.iter().map(|(start, end)| end - start).sum();
                        *sums.entry(outcome).or_default() += length * asked_of(id, index).unwrap_or(0);
                        continue;
                    }
                    for window in 0..WINDOWS {
                        let (from, to) = (window * 50, window * 50 + 40);
                        let amount = used_by(id, index, window)[number - 1].unwrap_or(0);
                        let inside = |&(start, end): &(u64, u64)| end.min(to).saturating_sub(start.max(from));
                        let inside: u64 = spans.iter().map(inside).sum();
                        *sums.entry(outcome).or_default() += amount * inside;
                        *sums.entry("outside").or_default() += amount * (40 - inside);
                    }
                }
            }
            #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
            let seconds = |eighths: u64| eighths as f64 / 8.0;
            for engine in ["native", "polars"] {
                let args = ["account", "--resource", "memory", "--memory", memory, "--format", "json"];
                let ledger = place.run(&[&args[..], &["--engine", engine]].concat()).ok().json();
                let sum = |outcome: &str| seconds(sums.get(outcome).copied().unwrap_or(0));
                // Memory that no task requests is unknown.
                let is_alike = |found: &Value, expected: f64| {
                    found.as_f64().map_or(expected == 0.0, |found| (found - expected).abs() < 1e-9)
                };
                for row in ledger["rows"].as_array().unwrap() {
                    let outcome = row["outcome"].as_str().unwrap();
                    prop_assert!(is_alike(&row["memory"], sum(outcome)), "{memory}, {engine}: {row} {}", sum(outcome));
                    prop_assert_eq!(&row["unit"], "NMU-s");
                }
                prop_assert!(is_alike(&ledger["unmatched"], sum("unmatched")), "{ledger}");
                prop_assert!(is_alike(&ledger["outside_attempts"], sum("outside")), "{ledger}");
                prop_assert!(is_alike(&ledger["total"], seconds(sums.values().sum())), "{ledger}");
            }
        }
    }

    /// If tasks are split by their end, every task counts once, by its own last event. The outcome
    /// of its job does not matter, known or not.
    #[test]
    #[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
    fn tasks_are_split_by_their_own_end(jobs in jobs()) {
        let mut expected: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for events in jobs.iter().flat_map(|job| &job.1).filter(|events| !events.is_empty()) {
            // The texts contain only SUBMIT, SCHEDULE, FAIL, FINISH, KILL and UPDATE.
            let outcome = match events.iter().rev().map(|event| event.1).find(|&kind| kind < 7) {
                Some(0) => "pending",
                Some(1) => "running",
                Some(3) => "failed",
                Some(4) => "finished",
                Some(5) => "killed",
                _ => "unknown",
            };
            let (count, sum) = expected.entry(outcome).or_default();
            *count += 1;
            *sum += events.len() as u64;
        }
        if expected.is_empty() {
            return Ok(());
        }
        for tables in ["job_events,task_events", "task_events"] {
            let place = lake(&jobs, tables);
            for engine in ["native", "polars"] {
                let args = ["describe", "--what", "events-per-task", "--by-own-end", "--format", "json"];
                let answer = place.run(&[&args[..], &["--engine", engine]].concat()).ok().json();
                let mut found: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
                for row in answer["rows"].as_array().unwrap().iter().skip(1) {
                    let count = row["count"].as_u64().unwrap();
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a few hundred")]
                    let sum = (row["mean"].as_f64().unwrap_or(0.0) * count as f64).round() as u64;
                    if 0 < count {
                        found.insert(row["outcome"].as_str().unwrap(), (count, sum));
                    }
                }
                prop_assert_eq!(&found, &expected, "{} of {}", engine, tables);
            }
        }
    }

    /// Without `job_events` no outcomes are reported.
    #[test]
    fn unknown_is_unknown(jobs in jobs()) {
        let place = lake(&jobs, "task_events");
        if window_end(&jobs) == 0 {
            return Ok(());
        }
        let ledger = place.run(&["account", "--cpu", "slots", "--format", "json"]).ok().json();
        for row in ledger["rows"].as_array().unwrap() {
            for column in ["jobs", "tasks", "cpu", "share"] {
                prop_assert!(row[column].is_null(), "{}: {}", column, row);
            }
        }
        prop_assert_eq!(&ledger["unmatched"], &ledger["total"]);
        let sweep = place.run(&["sweep", "--cpu", "slots", "--thresholds", "1..=3", "--format", "json"]);
        let sweep = sweep.ok().json();
        prop_assert!(sweep["total_cpu"]["finished"].is_null());
        for row in sweep["rows"].as_array().unwrap() {
            prop_assert!(row["saved_share"]["failed"].is_null());
            for column in ["harmed_jobs", "harmed_jobs_share", "destroyed_cpu", "net_cpu", "net_share"] {
                prop_assert!(row[column].is_null(), "{}: {}", column, row);
            }
        }
    }
}

/// `--train-until` counts from the first event, regardless of the start of the loaded parts.
#[test]
fn the_past_begins_with_the_first_event() {
    const DAY: u64 = 86_400;
    let place = Place::new();
    let begin = 20 * DAY;
    let (mut of_jobs, mut of_tasks) = (Vec::new(), Vec::new());
    for id in 0..10 {
        // The last two finish.
        for (offset, kind) in [(0, 0), (10, 1), (100, if id < 8 { 3 } else { 4 })] {
            let time = begin + id * DAY / 10 + offset;
            of_jobs.push((time, format!("{time}000000,,{id},{kind},u,0,n,l\n")));
            of_tasks.push((time, format!("{time}000000,,{id},0,5,{kind},u,0,1,0.5,,,\n")));
        }
    }
    place.raw("job_events/part-00000-of-00001.csv", sorted(of_jobs));
    let tasks = sorted(of_tasks);
    place.raw("task_events/part-00000-of-00001.csv", tasks.clone());
    place.ingest(&[]).ok();
    let sweep = |days: &str| {
        let args = ["sweep", "--cpu", "slots", "--thresholds", "1", "--train-until", days];
        place.run(&[&args[..], &["--format", "json"]].concat())
    };
    let half = sweep("0.5").ok().json();
    let selection = &half["selection"];
    assert_eq!((&selection["train_jobs"], &selection["test_jobs"]), (&5.into(), &5.into()));
    assert_eq!(selection["test_finished_jobs"], 2);
    #[expect(clippy::cast_precision_loss, reason = "a time")]
    let split_s = begin as f64 + 0.5 * DAY as f64;
    assert_eq!(selection["split_s"], split_s);
    for (days, sides) in [
        ("0.001", "0 jobs with tasks loaded ended before it, 9 were submitted after it"),
        ("5", "10 jobs with tasks loaded ended before it, 0 were submitted"),
    ] {
        let refused = sweep(days);
        assert_eq!(refused.code, Some(2), "{days}");
        assert!(refused.stderr.contains(sides), "{}", refused.stderr);
    }
    let blind = Place::new();
    blind.raw("task_events/part-00000-of-00001.csv", tasks);
    blind.ingest(&[]).ok();
    let refused = blind.run(&["sweep", "--cpu", "slots", "--train-until", "0.5"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("there is no `job_events`"), "{}", refused.stderr);
}

#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn the_queries_are_listed_with_their_tables() {
    let place = Place::new();
    let list = place.run(&["query", "--list"]).ok();
    assert_eq!(list.stdout_text(), place.run(&["query"]).ok().stdout_text());
    assert!(list.stdout_text().contains("q07_cpu_measured"), "{}", list.stdout_text());
    assert!(list.stdout_text().contains("(task_events, task_usage)"), "{}", list.stdout_text());
}

/// 32-bit columns of the lake keep their digits, and a machine that is away has no capacity.
#[test]
#[cfg_attr(not(feature = "sql"), ignore = "needs the feature sql")]
fn facts_are_as_the_trace_writes_them() {
    let place = Place::new();
    place.raw(
        "machine_events/part-00000-of-00001.csv",
        "0,7,0,p,0.2493,0.2498\n100000000,7,1,p,0.2493,0.2498\n200000000,7,0,p,0.2493,0.2498\n",
    );
    place.raw("job_events/part-00000-of-00001.csv", "10,,1,0,u,0,n,l\n");
    place.raw("task_events/part-00000-of-00001.csv", "10,,1,0,5,1,u,0,1,0.06873,,,\n");
    place.ingest(&[]).ok();
    let q03 = place.run(&["query", "q03", "--format", "json"]).ok().json();
    assert_eq!(q03["table"][0]["cpu_request"].to_string(), "0.06873");
    let csv = place.run(&["query", "q10", "--format", "csv"]).ok();
    let lines: Vec<&str> = csv.stdout_text().lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "7,1,0,100000000,0,0.2493,0.2498",
            "7,2,100000000,200000000,1,0.0,0.0",
            "7,3,200000000,,0,0.2493,0.2498",
        ]
    );
}

/// Groups are ordered by number, not by digits.
#[test]
fn groups_are_in_the_order_of_their_numbers() {
    let place = Place::new();
    let (mut of_jobs, mut of_tasks) = (Vec::new(), Vec::new());
    for (id, priority) in [360, 9, 1000, 0, 255].into_iter().enumerate() {
        for (offset, kind) in [(0_u64, 0), (10, 1), (100, 4)] {
            let time = 600 + offset;
            of_jobs.push((time, format!("{time}000000,,{id},{kind},u,0,n,l\n")));
            of_tasks.push((time, format!("{time}000000,,{id},0,5,{kind},u,0,{priority},0.5,,,\n")));
        }
    }
    place.raw("job_events/part-00000-of-00001.csv", sorted(of_jobs));
    place.raw("task_events/part-00000-of-00001.csv", sorted(of_tasks));
    place.ingest(&[]).ok();
    for command in [
        &["account", "--cpu", "slots"][..],
        &["sweep", "--cpu", "slots", "--thresholds", "1"],
        &["describe", "--what", "waiting"],
    ] {
        let more = ["--group-by", "priority", "--columns", "priority", "--format", "csv"];
        let run = place.run(&[command, &more].concat()).ok();
        let text = run.stdout_text();
        let mut shown: Vec<i64> = text.lines().filter_map(|line| line.parse().ok()).collect();
        shown.dedup();
        assert_eq!(shown, [0, 9, 255, 360, 1000], "{command:?}: {text}");
    }
    let refused = place.run(&["replay", "--policies", "fifo"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--tables machine_events"), "{}", refused.stderr);
}

//! `episodes`: in random traces, the unusual intervals and the users and jobs in them equal a count
//! of the raw events. The real trace and a real log are compared with a script that reads their raw
//! files.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;

use super::drawn::{Event, Job, attempts, end_of, jobs, lake, waits, window_end};
use super::engines::{python, script};
use super::support::{Place, repository, skipped};

/// Number of random traces.
const TRACES: u32 = 24;

/// Kinds of events, in the order of the answer, and the type of task event of each.
const KINDS: [(&str, u32); 5] = [
    ("jobs submitted", 0),
    ("tasks failed", 3),
    ("tasks killed", 5),
    ("tasks evicted", 2),
    ("tasks lost", 6),
];

/// The settings of a question.
#[derive(Clone, Copy, Debug)]
struct Asked {
    interval: u64,
    times: u64,
    least: u64,
}

/// Intervals of equal length from `start` to `end`, s.
#[derive(Clone, Copy, Debug)]
struct Grid {
    start: u64,
    end: u64,
    length: u64,
}

impl Grid {
    fn count(self) -> u64 {
        (self.end - self.start).div_ceil(self.length).max(1)
    }

    fn of(self, at: u64) -> u64 {
        ((at - self.start) / self.length).min(self.count() - 1)
    }

    fn bounds(self, idx: u64) -> [u64; 2] {
        let from = self.start + idx * self.length;
        [from, (from + self.length).min(self.end)]
    }
}

/// The seconds that two spans share.
fn common([from, to]: [u64; 2], [start, end]: [u64; 2]) -> u64 {
    to.min(end).saturating_sub(from.max(start))
}

/// The first and last instant of some events, if these differ.
fn span(events: impl Iterator<Item = u64> + Clone) -> Option<[u64; 2]> {
    let (from, to) = (events.clone().min()?, events.max()?);
    (from < to).then_some([from, to])
}

/// An episode: its kind, its first and last interval, its number of events.
type Found = (usize, u64, u64, u64);

/// The spans of a task from its events, the end of its job and that of the window.
type SpansOf = fn(&[Event], Option<u64>, u64) -> Vec<(u64, u64)>;

/// The grid, the spans for which events of jobs and of tasks are known, and all episodes.
type Counted = (Grid, [Option<[u64; 2]>; 2], Vec<Found>);

/// The times of the events of a kind, each with its job.
fn times_of(jobs: &[Job], kind: usize) -> Vec<(u64, usize)> {
    let first =
        |events: &[Event]| events.iter().filter(|event| event.1 == 0).map(|event| event.0).min();
    let all = jobs.iter().enumerate();
    if kind == 0 {
        return all.filter_map(|(id, job)| Some((first(&job.0)?, id))).collect();
    }
    all.flat_map(|(id, job)| job.1.iter().flatten().map(move |event| (id, event)))
        .filter(|(_, event)| event.1 == KINDS[kind].1)
        .map(|(id, event)| (event.0, id))
        .collect()
}

/// The episodes, by counting.
fn counted(jobs: &[Job], asked: Asked) -> Option<Counted> {
    let of_jobs = span(jobs.iter().flat_map(|job| &job.0).map(|event| event.0));
    let of_tasks = span(jobs.iter().flat_map(|job| job.1.iter().flatten()).map(|event| event.0));
    let spans = [of_jobs, of_tasks];
    let start = spans.iter().flatten().map(|span| span[0]).min()?;
    let end = spans.iter().flatten().map(|span| span[1]).max()?;
    let grid = Grid { start: start / asked.interval * asked.interval, end, length: asked.interval };
    let mut found: Vec<Found> = Vec::new();
    for kind in 0..KINDS.len() {
        let Some(known) = spans[usize::from(0 < kind)] else { continue };
        let events = times_of(jobs, kind);
        let total = events.len() as u64;
        for idx in 0..grid.count() {
            let count = events.iter().filter(|event| grid.of(event.0) == idx).count() as u64;
            // More than `times` the mean of a whole interval.
            let is_many = asked.times * total * grid.length < count * (known[1] - known[0]);
            if count < asked.least || !is_many {
                continue;
            }
            match found.last_mut().filter(|last| last.0 == kind && last.2 + 1 == idx) {
                Some(last) => (last.2, last.3) = (idx, last.3 + count),
                None => found.push((kind, idx, idx, count)),
            }
        }
    }
    Some((grid, spans, found))
}

/// The name with most of the events, and how many it has. Of several names, the first; `None` if it
/// has only one event.
fn most<K: Ord + Clone>(names: impl Iterator<Item = K>) -> Option<(K, u64)> {
    let mut counts: BTreeMap<K, u64> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let most = *counts.values().max()?;
    let first = counts.into_iter().find(|(_, count)| *count == most)?;
    (1 < most).then_some(first)
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn close(found: &Value, part: u64, whole: u64) -> bool {
    found.as_f64().is_some_and(|found| (found - part as f64 / whole as f64).abs() < 1e-9)
}

/// The mean number of spans of tasks in an interval of the grid, as the seconds of the spans and of
/// the interval. `None` outside of the grid or where tasks are unknown.
fn mean_of(
    jobs: &[Job],
    spans_of: SpansOf,
    interval: Option<[u64; 2]>,
    known: Option<[u64; 2]>,
) -> Option<(u64, u64)> {
    let (interval, end) = (interval?, window_end(jobs));
    let part = common(interval, known?);
    let of_job = |(events, tasks): &Job| -> u64 {
        let spans = tasks.iter().flat_map(|task| spans_of(task, end_of(events), end));
        spans.map(|(from, to)| common([from, to], interval)).sum()
    };
    (0 < part).then(|| (jobs.iter().map(of_job).sum(), part))
}

proptest! {
    #![proptest_config(Config { cases: TRACES, ..Config::default() })]

    #[test]
    fn episodes_are_those_of_a_count_of_the_raw_events(
        jobs in prop::collection::vec(jobs(), 1..4).prop_map(|all| all.concat()),
        interval in 5_u64..120,
        times_mean in 1_u64..4,
        least in 1_u64..4,
        most_shown in 1_usize..5,
    ) {
        prop_assume!(0 < window_end(&jobs));
        let asked = Asked { interval, times: times_mean, least };
        let Some((grid, spans, all)) = counted(&jobs, asked) else { return Ok(()) };
        let place = lake(&jobs, "job_events,task_events");
        let [length, times, least, shown] =
            [format!("{interval}s"), times_mean.to_string(), least.to_string(), most_shown.to_string()];
        let found = place
            .run(&["episodes", "--interval", &length, "--times", &times, "--least", &least, "--most",
                &shown, "--format", "json"])
            .ok()
            .json();
        let mut expected: Vec<Found> = Vec::new();
        for kind in 0..KINDS.len() {
            let mut own: Vec<Found> = all.iter().copied().filter(|one| one.0 == kind).collect();
            own.sort_by_key(|one| (std::cmp::Reverse(one.3), one.1));
            expected.extend(own.into_iter().take(most_shown));
        }
        expected.sort_by_key(|one| (one.1, one.0));
        let rows = found["rows"].as_array().unwrap();
        prop_assert_eq!(rows.len(), expected.len(), "{:?}", expected);
        for (row, one) in rows.iter().zip(&expected) {
            let &(kind, first, last, count) = one;
            prop_assert_eq!(&row["what"], KINDS[kind].0);
            let [from, to] = [grid.bounds(first)[0], grid.bounds(last)[1]];
            prop_assert!(close(&row["start_s"], from, 1) && close(&row["end_s"], to, 1), "{row}");
            prop_assert_eq!(&row["count"], count);
            let events: Vec<(u64, usize)> = times_of(&jobs, kind);
            let total = events.len() as u64;
            prop_assert!(close(&row["share"], count, total), "{row}");
            let known = spans[usize::from(0 < kind)].unwrap();
            let length = (last - first + 1) * interval;
            let mean = (count * (known[1] - known[0]), total * length);
            prop_assert!(close(&row["times_the_mean"], mean.0, mean.1), "{row}");
            let within = || {
                let is_in = |at: u64| (first..=last).contains(&grid.of(at));
                events.iter().filter(move |event| is_in(event.0)).map(|event| event.1)
            };
            // A job without its own events has no user.
            let users = within().filter(|id| !jobs[*id].0.is_empty()).map(|id| format!("user{}", id % 2));
            let at_within = events.iter().map(|event| event.0);
            let at_within = at_within.filter(|at| (first..=last).contains(&grid.of(*at)));
            let at_within: Vec<u64> = at_within.collect();
            let [earliest, latest] =
                [at_within.iter().min(), at_within.iter().max()].map(|at| *at.unwrap());
            prop_assert!(close(&row["first_at_s"], earliest, 1), "{row}");
            prop_assert!(close(&row["last_at_s"], latest, 1), "{row}");
            let jobs_within: BTreeSet<usize> = within().collect();
            prop_assert_eq!(&row["jobs"], jobs_within.len());
            for (name, share, expected) in [
                ("user", "user_share", most(users).map(|(user, count)| (Value::from(user), count))),
                ("job_id", "job_share", most(within()).map(|(id, count)| (Value::from(id), count))),
            ] {
                match expected {
                    Some((own, events)) => {
                        prop_assert_eq!(&row[name], &own, "{}", row);
                        prop_assert!(close(&row[share], events, count), "{row}");
                    }
                    None => prop_assert!(row[name].is_null() && row[share].is_null(), "{row}"),
                }
            }
            let sides = [first.checked_sub(1), Some(last + 1).filter(|idx| *idx < grid.count())];
            for (side, idx) in ["before", "after"].into_iter().zip(sides) {
                let interval = idx.map(|idx| grid.bounds(idx));
                for (what, of) in [("running", attempts as SpansOf), ("waiting", waits)] {
                    let cell = &row[format!("{what}_{side}")];
                    match mean_of(&jobs, of, interval, spans[1]) {
                        Some((sum, part)) => prop_assert!(close(cell, sum, part), "{what} {side}: {row}"),
                        None => prop_assert!(cell.is_null(), "{what} {side}: {row}"),
                    }
                }
            }
            let meets = |other: &&Found| other.0 != kind && other.1 <= last && first <= other.2;
            let mut with: Vec<usize> = all.iter().filter(meets).map(|other| other.0).collect();
            with.sort_unstable();
            with.dedup();
            let with: Vec<&str> = with.into_iter().map(|kind| KINDS[kind].0).collect();
            prop_assert_eq!(&row["together_with"], &with.join(", "));
        }
        let occurs = |kind: &usize| !times_of(&jobs, *kind).is_empty();
        let occurring: Vec<usize> = (0..KINDS.len()).filter(occurs).collect();
        let kinds = found["kinds"].as_array().unwrap();
        prop_assert_eq!(kinds.len(), occurring.len());
        for (row, kind) in kinds.iter().zip(occurring) {
            prop_assert_eq!(&row["what"], KINDS[kind].0);
            let own: Vec<&Found> = all.iter().filter(|one| one.0 == kind).collect();
            let (total, within) =
                (times_of(&jobs, kind).len() as u64, own.iter().map(|one| one.3).sum::<u64>());
            prop_assert_eq!(&row["episodes"], own.len());
            prop_assert_eq!(&row["in_episodes"], within);
            prop_assert!(close(&row["in_episodes_share"], within, total), "{row}");
            prop_assert_eq!(&row["count"], total);
            // At most one interval in `times_mean` is part of an episode.
            let intervals: u64 = own.iter().map(|one| one.2 - one.1 + 1).sum();
            prop_assert_eq!(&row["intervals"], intervals);
            if let Some([from, to]) = spans[usize::from(0 < kind)] {
                prop_assert!(intervals * times_mean * interval <= to - from, "{row}");
            }
            let column = KINDS[kind].0.replace(' ', "_");
            let rows = found["by_interval"].as_array().unwrap().iter();
            let sum: u64 = rows.filter_map(|row| row[&column].as_u64()).sum();
            prop_assert_eq!(sum, total, "{}", column);
        }
    }
}

/// Runs the script that counts the raw files, and compares it with the answer about their lake.
fn crosscheck(raw: &str, form: &str, tables: &[&str]) {
    let raw = repository().join("../shared/data").join(raw);
    if !raw.exists() {
        return skipped(&format!("there is no `{}`", raw.display()));
    }
    let Some(python) = python("csv") else { return };
    let (place, raw) = (Place::new(), raw.to_string_lossy().into_owned());
    place.run(&[&["ingest", &raw, "--lake", "lake"], tables].concat()).ok();
    let out = place.run(&["episodes", "--format", "json", "--most", "1000"]).ok().stdout;
    let answer = place.path("episodes.json");
    std::fs::write(&answer, out).unwrap();
    let said = script(&python, "episodes_crosscheck.py", &[form, &raw, &answer.to_string_lossy()]);
    assert!(said.contains(" 0 differ"), "{said}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn the_real_trace_has_the_episodes_of_its_raw_files() {
    crosscheck(
        "clusterdata-2011-2",
        "google",
        &["--tables", "job_events,task_events,machine_events"],
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn a_real_log_has_the_episodes_of_its_raw_file() {
    crosscheck("slurm/pozidriv.sacct.gz", "slurm", &[]);
}

//! `jobfate reproduce literature`: published numbers about the trace of 2011, compared with ours.
//!
//! In: a lake of that trace with any parts. Out: one claim for each published number. If a paper
//! does not state a definition, each possible definition has a row. Scores of other predictors and
//! kill rules are shown next to those of the one-line rule `last` of `predict`. They come from
//! other samples and units, so they are never judged.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde_json::{Map, json};

use super::mandai::basis;
use crate::answers::describe::{Described, Question, describe};
use crate::answers::predict::{PredictPlan, predicted};
use crate::answers::reproduce::study::Study;
use crate::claims::{Claim, Parameter, Settled, Side};
use crate::facts::jobs::Jobs;
use crate::facts::machines::{MachineChange, MachineEvents};
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::store::Origin;
use crate::schema::{Source, Table};
use crate::studies::asked::GroupBy;
use crate::studies::machines::{Fleet, fleet};
use crate::studies::mandai::{Basis, Place};
use crate::studies::predict::rules::Predictor;
use crate::studies::samples::What;
use crate::units::micros_to_seconds;

/// The name of the literature in the study.
pub const PAPER: &str = "What others published about the trace of 2011";

const MINUTE_S: f64 = 60.0;
const DAY_S: f64 = 86_400.0;

/// Shares of the six most frequent configurations, % (Maggioni's thesis).
const CONFIGURATION_SHARES: [f64; 6] = [53.47, 30.74, 7.95, 6.32, 0.99, 0.43];

/// Machines by configuration (Reiss et al. 2012, table 1).
const CONFIGURATION_COUNTS: [f64; 10] =
    [6732.0, 3863.0, 1001.0, 795.0, 126.0, 52.0, 5.0, 5.0, 3.0, 1.0];

/// Capacity lost to removals, % (four reports of students).
const LOST_SHARES: [f64; 4] = [0.48, 1.86, 1.89, -60.47];

/// Priorities, and the share of their tasks that finish, % (Maggioni's thesis).
const FINISHED_BY_PRIORITY: [(&str, f64); 5] =
    [("0", 53.80), ("1", 67.44), ("2", 90.78), ("3", 95.62), ("9", 23.35)];

/// Compares the literature with a lake.
///
/// # Errors
/// The lake is of another trace, or a table cannot be read.
pub fn study(lake: &Lake, windows: Windows) -> Result<Study> {
    if lake.source() != Source::Google2011 {
        let source = lake.source();
        let problem = format!("these papers are about google-2011, and this lake holds {source}");
        return Err(Usage(problem).into());
    }
    let mut claims = jobs(lake)?;
    claims.extend(machines(lake, windows)?);
    claims.extend(tasks(lake, windows)?);
    claims.extend(predictions(lake, windows)?);
    Ok(Study {
        name: "literature",
        paper: PAPER,
        claims,
        parameters: parameters(),
        figures: json!([]),
        settings: Map::from_iter([("windows".to_owned(), json!(windows))]),
        charts: Vec::new(),
        tables: Vec::new(),
        origin: Origin::of(lake),
        notes: Vec::new(),
    })
}

/// The parameters that the papers do not give.
fn parameters() -> Vec<Parameter> {
    let open = |key, value: &str, about| Parameter {
        key,
        value: value.to_owned(),
        settled: Settled::Open,
        about,
    };
    vec![
        open(
            "duration",
            "from the first SCHEDULE; from the first event",
            "when a job begins to run: both are shown, up to the last event of the jobs that \
            ended, as a share of all jobs",
        ),
        open(
            "open_jobs",
            "counted, and never as short",
            "jobs that have not ended when the trace does, or never ran: they are among all jobs, \
             and not among those that ran less than 3 minutes or 2 hours",
        ),
        open(
            "configuration",
            "at time 0; the last one",
            "which CPU and memory a machine is counted under: that of machines in service at time \
            0, or the last one of each machine",
        ),
        open("repair", "REMOVE to the next ADD", "how long a machine is away"),
        open(
            "capacity_lost",
            "CPU x time of outages that ended, over the sum of this and the CPU x time of machines \
            up",
            "numerator and denominator of the capacity lost",
        ),
        open("task_outcome", "of the task's own last event", "which tasks finish"),
    ]
}

/// A share in per cent.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn percent(count: u64, of: u64) -> Option<f64> {
    (0 < of).then(|| count as f64 / of as f64 * 100.0)
}

/// The counts over all jobs.
#[derive(Default)]
struct JobCounts {
    jobs: u64,
    /// Jobs that ended within 3 minutes and within 2 hours, counted from the first SCHEDULE and
    /// from the first event.
    within: [[u64; 2]; 2],
    users: FxHashSet<String>,
}

impl JobCounts {
    fn of(lake: &Lake) -> Result<Self> {
        let mut counts = Self::default();
        for bucket in 0..lake.bucket_count() {
            let Jobs { jobs, names, .. } = Jobs::read(lake, bucket)?;
            for job in jobs {
                counts.jobs += 1;
                if let Some(user) = job
                    .user
                    .map(|user| names.get(user))
                    .filter(|&user| !counts.users.contains(user))
                {
                    counts.users.insert(user.to_owned());
                }
                let begins = [job.first_schedule_us, Some(job.first_event_us)];
                for (within, begin) in counts.within.iter_mut().zip(begins) {
                    let Some(begin) = begin.filter(|_| job.is_ended()) else { continue };
                    let lasted_s = micros_to_seconds(job.last_event_us - begin);
                    within[0] += u64::from(lasted_s < 3.0 * MINUTE_S);
                    within[1] += u64::from(lasted_s < 120.0 * MINUTE_S);
                }
            }
        }
        Ok(counts)
    }
}

/// The claims about durations and users.
fn jobs(lake: &Lake) -> Result<Vec<Claim>> {
    let basis = basis(lake, &[Table::JobEvents]);
    let counts = lake.has(Table::JobEvents).then(|| JobCounts::of(lake)).transpose()?;
    let share = |begin: usize, length: usize| {
        counts.as_ref().and_then(|counts| percent(counts.within[begin][length], counts.jobs))
    };
    let place = Place { name: "Reiss et al. (2012)", basis: &basis };
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let users = counts.as_ref().map(|counts| counts.users.len() as f64);
    Ok(vec![
        place.number("jobs that ran less than 3 min, from SCHEDULE, %", (50.0, 1.0), share(0, 0)),
        place.number("jobs that lasted less than 3 min, from SUBMIT, %", (50.0, 1.0), share(1, 0)),
        place.bound("jobs that ran less than 2 h, % (over 95)", Side::AtLeast, 95.0, share(0, 1)),
        place.number("users", (925.0, 1.0), users),
    ])
}

/// The number of machines with each configuration, the largest first.
fn counted(configurations: &BTreeMap<i64, (u32, u32)>) -> Vec<u64> {
    let mut counts: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for configuration in configurations.values() {
        *counts.entry(*configuration).or_default() += 1;
    }
    let mut counts: Vec<u64> = counts.into_values().collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    counts
}

/// Configurations, outages, and the capacity lost in them.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn machines(lake: &Lake, windows: Windows) -> Result<Vec<Claim>> {
    let basis = basis(lake, &[Table::MachineEvents]);
    let events = MachineEvents::read(lake)?;
    let [mut at_start, mut last] = [BTreeMap::new(), BTreeMap::new()];
    for event in &events.events {
        let Some((cpu, memory)) = event.cpu.zip(event.memory) else { continue };
        let configuration = (cpu.to_bits(), memory.to_bits());
        if event.time_us == 0 && event.change == MachineChange::Add {
            at_start.entry(event.machine_id).or_insert(configuration);
        }
        last.insert(event.machine_id, configuration);
    }
    let known = lake.has(Table::MachineEvents);
    let seen = events.events.iter().map(|event| event.time_us).filter(|&time| time < i64::MAX);
    let end_us = seen.chain([windows.job_end_us, windows.task_end_us]).max().unwrap_or(0);
    let fleet = known.then(|| fleet(&events, end_us));
    let down = fleet.as_ref().and_then(|fleet| percent(fleet.machines_down, fleet.machines));
    let mut claims = vec![Place { name: "Reiss et al. (2012)", basis: &basis }.number(
        "machines that are away at least once, %",
        (40.0, 1.0),
        down,
    )];
    let counts = counted(&at_start);
    let all: u64 = counts.iter().sum();
    let place = Place { name: "Maggioni's thesis", basis: &basis };
    for (rank, published) in CONFIGURATION_SHARES.into_iter().enumerate() {
        let ours = counts.get(rank).and_then(|&count| percent(count, all));
        let claim = format!("machines of configuration {}, at time 0, %", rank + 1);
        claims.push(place.number(&claim, (published, 0.01), ours));
    }
    let counts = counted(&last);
    let place = Place { name: "Reiss et al. (2012), table 1", basis: &basis };
    for (rank, published) in CONFIGURATION_COUNTS.into_iter().enumerate() {
        let ours = counts.get(rank).map(|&count| count as f64);
        let claim = format!("machines of configuration {}, the last of each", rank + 1);
        claims.push(place.number(&claim, (published, 1.0), ours));
    }
    let lengths = fleet.as_ref().map(Fleet::lengths_us).unwrap_or_default();
    let ends = [lengths.first(), lengths.last()].map(|end| end.copied().map(micros_to_seconds));
    let place = Place { name: "Garraghan et al. (2014)", basis: &basis };
    claims.extend([
        place.number(
            "shortest repair, min",
            (25.0, 1.0),
            ends[0].map(|seconds| seconds / MINUTE_S),
        ),
        place.number("longest repair, days", (8.0, 1.0), ends[1].map(|seconds| seconds / DAY_S)),
    ]);
    let lost_share = fleet.as_ref().and_then(|fleet| fleet.lost.share_of(fleet.lost + fleet.up));
    for (number, published) in (1..).zip(LOST_SHARES) {
        let name = format!("report of students {number}");
        let place = Place { name: &name, basis: &basis };
        let ours = lost_share.map(|share| share * 100.0);
        claims.push(place.number("CPU capacity lost to removals, %", (published, 0.01), ours));
    }
    Ok(claims)
}

/// Events of tasks, and tasks that finish by priority.
fn tasks(lake: &Lake, windows: Windows) -> Result<Vec<Claim>> {
    let basis = basis(lake, &[Table::TaskEvents]);
    let question = Question {
        group_by: Some(GroupBy::Priority),
        ..Question::plain(What::EventsPerTask).by_own_end()
    };
    let has_tasks = lake.has(Table::TaskEvents);
    let found: Option<Described> =
        has_tasks.then(|| describe(lake, windows, question)).transpose()?;
    let mean = |outcome: &str| found.as_ref()?.summary(outcome)?.mean;
    let place = Place { name: "Maggioni's thesis", basis: &basis };
    let mut claims = vec![
        place.number("mean events of a task that ends in EVICT", (2.372, 0.001), mean("evicted")),
        place.number("mean events of a task that ends in FAIL", (3.130, 0.001), mean("failed")),
    ];
    for (priority, published) in FINISHED_BY_PRIORITY {
        let count = |outcome: &str| {
            let values = found.as_ref()?.values_in(priority, outcome)?;
            Some(values.count(|_| true))
        };
        let ours = count("all").and_then(|all| percent(count("finished").unwrap_or(0), all));
        let claim = format!("tasks of priority {priority} that finish, %");
        claims.push(place.number(&claim, (published, 0.01), ours));
    }
    Ok(claims)
}

/// Scores of published predictors and kill rules, next to those of the rule `last` of `predict`.
fn predictions(lake: &Lake, windows: Windows) -> Result<Vec<Claim>> {
    let basis = basis(lake, &[Table::JobEvents]);
    let plan = PredictPlan { rules: vec![Predictor::Last], ..PredictPlan::default() };
    let is_known = !matches!(basis, Basis::Missing(_));
    let found = is_known.then(|| predicted(lake, windows, &plan)).transpose()?;
    let score = found.as_ref().and_then(|found| found.scores.first());
    let of = |value: Option<f64>| value.map(|share| share * 100.0);
    let [accuracy, precision, recall, alarms] = [
        of(score.and_then(|score| score.accuracy)),
        of(score.and_then(|score| score.precision)),
        of(score.and_then(|score| score.recall)),
        of(score.and_then(|score| score.false_positive_rate)),
    ];
    let anchors: [(&str, &str, f64, Option<f64>); 11] = [
        ("Rosà et al. (2015)", "waste saved by killing predicted failures, %", 41.9, None),
        ("Rosà et al. (2015)", "tasks killed by mistake, %", 1.0, None),
        ("Chen et al. (2014)", "resources saved, % (6 to 10)", 6.0, None),
        ("Islam, Manivannan (2017)", "failure of tasks: accuracy, %", 87.0, accuracy),
        ("Islam, Manivannan (2017)", "failure of tasks: recall, %", 85.0, recall),
        ("Islam, Manivannan (2017)", "failure of tasks: false positive rate, %", 11.0, alarms),
        ("Gao et al. (2020)", "failure of tasks: accuracy, %", 93.0, accuracy),
        ("Gao et al. (2020)", "failure of jobs: accuracy, %", 87.0, accuracy),
        ("Soualhia et al. (2015)", "precision, at most, %", 97.4, precision),
        ("Soualhia et al. (2015)", "recall, at most, %", 96.2, recall),
        (
            "Sîrbu et al. (2015)",
            "failure of machines: recall at 5 % false alarms, at most, %",
            88.0,
            None,
        ),
    ];
    let place = |name| Place { name, basis: &basis };
    let claims = anchors.into_iter().map(|(name, claim, published, ours)| match ours {
        None => Claim::without(name, claim, Some(published), "no rule of ours gives this number"),
        Some(_) => place(name).number(claim, (published, 0.1), ours).not_comparable(
            "another sample and unit; ours is `predict --rules last`: jobs that do not finish",
        ),
    });
    Ok(claims.collect())
}

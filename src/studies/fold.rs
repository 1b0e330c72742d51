//! One pass over a lake for the whole outcome study: ledger, sweep, and harmed jobs.
//!
//! In: a lake and the settings in [`Asked`]. Out: a [`Study`], the sums over jobs behind every
//! table of the study. The jobs of a bucket are added up before the next bucket is read, so memory
//! depends on the largest bucket and not on the size of the trace. The sums are exact: they do not
//! depend on the number of threads or on the order of buckets.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

pub use super::asked::Asked;
use super::asked::JobRow;
use super::censoring::Censoring;
use super::ends::EndSums;
use super::foreseen::Foreseen;
use super::meter::Meter;
use super::outcomes::Classes;
use super::rules::{JobEnds, Owner, RuleGrid};
use super::scratch::Scratch;
use super::sums::{GroupSums, LedgerSums, ReasonSums, Resampled, RuleSums, SplitSums};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::jobs::{Job, Jobs};
use crate::facts::published::Published;
use crate::facts::tasks::{Attempt, EndedBy, Spent, Tasks, UsageCounts};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{EventType, Source, Table};
use crate::units::CpuTime;

/// The whole study: sums over the jobs of `job_events` and `task_events`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Study {
    /// The settings; they are not sent between processes.
    #[serde(skip)]
    pub asked: Asked,
    /// The kind of trace.
    pub source: Source,
    pub(super) ledger: LedgerSums,
    /// By how attempts ended. `None` for memory, because no query has memory by attempt, and under
    /// a definition that has only jobs.
    pub(super) ends: Option<EndSums>,
    /// By the reasons that a log records.
    pub(super) reasons: ReasonSums,
    /// Whether the lake has `job_events`; without it no outcome is known.
    pub(super) knows_outcomes: bool,
    /// By rule.
    pub(super) rules: Vec<RuleSums>,
    /// By the group of the sweep; the key is `None` for jobs without a known group.
    pub(super) groups: BTreeMap<Option<String>, GroupSums>,
    pub(super) split: Option<SplitSums>,
    pub(super) resampled: Option<Resampled>,
    /// Measured CPU outside attempts, including windows without a task. Zero under all other
    /// definitions.
    pub outside: CpuTime,
    /// Counts of usage rows.
    pub usage: UsageCounts,
    /// Attempts.
    pub attempts: u64,
    /// Restarts: attempts after the first of their task.
    pub restarts: u64,
    /// Restarts after an attempt that was evicted.
    pub restarts_after_eviction: u64,
    /// Attempts without a CPU request.
    pub attempts_without_request: u64,
    /// Attempts without an end event, closed with their job.
    pub closed_with_job: ClosedWithJob,
    /// Attempts with a CPU time recorded by the log, if CPU time is read.
    pub attempts_with_cpu_time: u64,
    /// Attempts that cross the edges of the window.
    pub attempt_edges: EdgeCounts,
    /// Jobs with a duration that crosses the edges of the window.
    pub job_edges: EdgeCounts,
}

/// Attempts without an end event, closed with their job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedWithJob {
    /// Number of attempts.
    pub attempts: u64,
    /// The CPU of these attempts; it has no meaning under the published definition, which has only
    /// jobs.
    pub cpu: CpuTime,
}

/// Attempts (or jobs) that cross the edges of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeCounts {
    /// Begun before the window, at time 0.
    pub left_censored: u64,
    /// Open at the window's end.
    pub censored: u64,
}

impl EdgeCounts {
    pub(super) fn add(&mut self, is_left_censored: bool, is_censored: bool) {
        self.left_censored += u64::from(is_left_censored);
        self.censored += u64::from(is_censored);
    }

    fn merge(&mut self, other: Self) {
        self.left_censored += other.left_censored;
        self.censored += other.censored;
    }
}

impl Study {
    pub(super) fn new(lake: &Lake, asked: &Asked) -> Self {
        Self {
            asked: asked.clone(),
            source: lake.source(),
            knows_outcomes: lake.has(Table::JobEvents),
            groups: BTreeMap::new(),
            ledger: LedgerSums::default(),
            ends: EndSums::has(asked.meter).then(EndSums::default),
            reasons: ReasonSums::default(),
            rules: (0..asked.rules.len()).map(|rule_idx| RuleSums::new(asked, rule_idx)).collect(),
            split: asked.split_us.map(|split_us| SplitSums::new(asked, split_us)),
            resampled: Resampled::of(asked),
            outside: CpuTime::ZERO,
            usage: UsageCounts::default(),
            attempts: 0,
            restarts: 0,
            restarts_after_eviction: 0,
            attempts_without_request: 0,
            closed_with_job: ClosedWithJob::default(),
            attempts_with_cpu_time: 0,
            attempt_edges: EdgeCounts::default(),
            job_edges: EdgeCounts::default(),
        }
    }

    /// Whether the lake has `job_events`; without it no outcome is known.
    pub const fn knows_outcomes(&self) -> bool {
        self.knows_outcomes
    }

    /// Adds a complete job.
    pub(super) fn add(&mut self, row: &JobRow<'_>) {
        self.ledger.add(&self.asked, row);
        self.reasons.add(row);
        if let Some(resampled) = &mut self.resampled {
            resampled.add(row);
        }
        if let Some(split) = &mut self.split {
            split.add(row);
        }
        if let Some(key) = self.asked.sweep_by.filter(|_| 0 < row.task_count) {
            let asked = &self.asked;
            let group = self.groups.entry(key.of(row)).or_insert_with(|| GroupSums::new(asked));
            group.add(row);
        }
        for (sums, steps) in self.rules.iter_mut().zip(&row.kills) {
            sums.add(row, steps);
        }
    }

    /// Counts the attempts of a task. `spent` has the CPU of the task over time.
    fn add_attempts(&mut self, attempts: &[Attempt], spent: &Spent, windows: Windows) {
        self.attempts += attempts.len() as u64;
        let before = attempts.split_last().map_or(&[][..], |(_, before)| before);
        self.restarts += before.len() as u64;
        let is_evicted = |of: &&Attempt| of.ended_by == EndedBy::Event(EventType::Evict);
        self.restarts_after_eviction += before.iter().filter(is_evicted).count() as u64;
        for attempt in attempts {
            let request = self.asked.meter.request_of(attempt);
            self.attempts_without_request += u64::from(request.is_none());
            self.attempts_with_cpu_time += u64::from(attempt.records_cpu_time());
            if attempt.start_us < i64::MAX {
                let is_before = windows.is_before(attempt.start_us);
                self.attempt_edges.add(is_before, attempt.is_open());
            }
            let cpu = spent.after(attempt.start_us) - spent.after(attempt.end_us);
            if let Some(ends) = &mut self.ends {
                ends.add(attempt.ended_by, cpu);
            }
            if attempt.ended_by == EndedBy::Job {
                self.closed_with_job.attempts += 1;
                self.closed_with_job.cpu += cpu;
            }
        }
    }

    /// Counts the jobs that cross the edges of the window.
    pub(super) fn add_job_edges(&mut self, known: &Jobs, windows: Windows) {
        for job in &known.jobs {
            if job.first_schedule_us.is_some_and(|start| start < i64::MAX) {
                let has_begun_before = windows.has_begun_before(job.first_event_us);
                self.job_edges.add(has_begun_before, job.is_open_at(windows.job_end_us));
            }
        }
    }

    /// Adds the sums of other buckets.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.ledger.merge(other.ledger);
        if let (Some(own), Some(others)) = (&mut self.ends, &other.ends) {
            own.merge(others);
        }
        self.reasons.merge(other.reasons);
        self.rules.iter_mut().zip(other.rules).for_each(|(own, others)| own.merge(others));
        for (key, sums) in other.groups {
            match self.groups.entry(key) {
                Entry::Vacant(free) => {
                    free.insert(sums);
                }
                Entry::Occupied(mut own) => own.get_mut().merge(&sums),
            }
        }
        if let (Some(own), Some(others)) = (&mut self.resampled, other.resampled) {
            own.merge(&others);
        }
        if let (Some(own), Some(others)) = (&mut self.split, other.split) {
            own.merge(&others);
        }
        self.outside += other.outside;
        self.usage.windows += other.usage.windows;
        self.usage.without_rate += other.usage.without_rate;
        self.usage.overlapping += other.usage.overlapping;
        self.attempts += other.attempts;
        self.restarts += other.restarts;
        self.restarts_after_eviction += other.restarts_after_eviction;
        self.attempts_without_request += other.attempts_without_request;
        self.closed_with_job.attempts += other.closed_with_job.attempts;
        self.closed_with_job.cpu += other.closed_with_job.cpu;
        self.attempts_with_cpu_time += other.attempts_with_cpu_time;
        self.attempt_edges.merge(other.attempt_edges);
        self.job_edges.merge(other.job_edges);
        self
    }

    /// Every outcome of the classification.
    pub fn outcomes(&self) -> &'static [&'static str] {
        self.asked.classes.outcomes()
    }

    /// The unit of the sums.
    pub fn unit(&self) -> &'static str {
        self.asked.meter.unit(self.source)
    }

    /// CPU (or memory time) of attempts closed with their job, in the unit of the sums. `None`
    /// under the published definition.
    pub fn closed_with_job_sum(&self) -> Option<f64> {
        let is_known = self.asked.meter != Meter::PUBLISHED;
        is_known.then(|| self.closed_with_job.cpu.seconds())
    }

    /// CPU per outcome, with unmatched jobs last.
    pub fn totals(&self) -> Vec<CpuTime> {
        self.ledger.totals(self.asked.outcome_count())
    }

    /// Whether any attempt has the amount that is added up, as a request or as use.
    pub fn knows_amounts(&self) -> bool {
        let attempts = [self.attempts, self.attempts_without_request, self.attempts_with_cpu_time];
        !self.asked.meter.is_silent(self.source, attempts)
    }

    /// The attempts that cross the edges of the window. Under the published definition these are
    /// jobs, because that definition uses the durations of jobs.
    pub fn censoring(&self) -> Censoring {
        let (of, edges) = match self.asked.meter {
            Meter::PUBLISHED => ("jobs", self.job_edges),
            _ => ("attempts", self.attempt_edges),
        };
        Censoring {
            of,
            left_censored: edges.left_censored,
            censored: Some(edges.censored),
            ..Censoring::default()
        }
    }
}

/// Folds a lake. Without `task_events` only jobs are known.
///
/// # Errors
/// A table that the CPU definition needs is missing or cannot be read, a grid of thresholds does
/// not ascend, or the callback stops the call. Nothing is kept in that case.
pub fn fold(lake: &Lake, windows: Windows, asked: &Asked) -> Result<Study, FactError> {
    fold_range(lake, windows, asked, 0..lake.bucket_count())
}

/// Merges the results of [`fold_range`] for ranges that together cover all buckets.
pub fn fold_parts(lake: &Lake, asked: &Asked, parts: impl IntoIterator<Item = Study>) -> Study {
    parts.into_iter().fold(Study::new(lake, asked), Study::merge)
}

/// Folds some of the buckets of a lake.
///
/// # Errors
/// Those of [`fold`].
pub fn fold_range(
    lake: &Lake,
    windows: Windows,
    asked: &Asked,
    buckets: Range<u32>,
) -> Result<Study, FactError> {
    let folding = Folding::of(lake, windows, asked.clone())?;
    let rows = lake.expect_rows(&[Table::JobEvents, Table::TaskEvents, Table::TaskUsage]);
    let study = buckets
        .into_par_iter()
        .with_max_len(1)
        .map(|bucket| {
            let folded = folding.bucket(&Bucket::of(lake, bucket, windows))?;
            lake.step(rows)?;
            Ok(folded)
        })
        .try_reduce_with(|one, other| Ok(one.merge(other)));
    study.unwrap_or_else(|| Ok(Study::new(lake, asked)))
}

/// A study that is ready to fold buckets. The caller reads the buckets.
pub struct Folding {
    asked: Asked,
    published: Option<Published>,
    foreseen: Foreseen,
}

impl Folding {
    /// Reads the data of the lake as a whole.
    ///
    /// # Errors
    /// Those of [`fold`].
    pub fn of(lake: &Lake, windows: Windows, asked: Asked) -> Result<Self, FactError> {
        asked.rules.iter().try_for_each(RuleGrid::check)?;
        // The published definition needs only jobs, unless a rule condemns tasks.
        if asked.meter != Meter::PUBLISHED || !asked.rules.is_empty() {
            lake.require(Table::TaskEvents)?;
        }
        asked.meter.check(lake)?;
        let published = match asked.meter {
            Meter::PUBLISHED => Some(Published::of(lake)?),
            _ => None,
        };
        let foreseen = Foreseen::read(lake, windows, &asked.rules)?;
        Ok(Self { asked, published, foreseen })
    }

    /// Folds a bucket.
    ///
    /// # Errors
    /// A table cannot be read, or a custom rule breaks its promise.
    pub fn bucket(&self, bucket: &Bucket<'_>) -> Result<Study, FactError> {
        let (asked, windows, lake) = (&self.asked, bucket.windows, bucket.lake);
        let known = bucket.jobs()?;
        let tasks = bucket.tasks(asked.meter.usage())?;
        let mut study = Study::new(lake, asked);
        study.usage = tasks.usage;
        study.outside = tasks.orphan_cpu;
        let mut rows: Vec<JobRow<'_>> =
            known.jobs.iter().map(|job| row_of(job, &known, asked.classes)).collect();
        let mut unknown: FxHashMap<i64, usize> = FxHashMap::default();
        let mut scratch = Scratch::default();
        let unmatched = asked.classes.outcomes().len();
        for row in &mut rows {
            row.chance = self.foreseen.chance(row.job_id);
            row.moment = self.foreseen.moment(row.job_id);
        }
        let ends = job_ends(&tasks, &known, asked, &self.foreseen);
        let mut refused = None;
        tasks.for_each(|task| {
            if refused.is_some() {
                return;
            }
            let position = known.find(task.job_id).unwrap_or_else(|| {
                *unknown.entry(task.job_id).or_insert_with(|| {
                    rows.push(JobRow {
                        job_id: task.job_id,
                        outcome: unmatched,
                        ..JobRow::default()
                    });
                    rows.len() - 1
                })
            });
            match scratch.add(task, asked, &ends, lake.source(), &mut rows[position]) {
                Ok(outside) => study.outside += outside,
                Err(error) => refused = Some(error),
            }
            study.add_attempts(task.attempts, &scratch.spent, windows);
        });
        drop(tasks);
        if let Some(error) = refused {
            return Err(error.into());
        }
        study.add_job_edges(&known, windows);
        if let Some(published) = &self.published {
            let cpu = published.of_bucket(lake, bucket.number, windows, &known)?;
            for row in &mut rows {
                republish(row, cpu.get(&row.job_id).copied().unwrap_or(0.0));
            }
            // The published definition has no amounts below a whole job.
            study.outside = CpuTime::ZERO;
        }
        for row in &rows {
            study.add(row);
        }
        Ok(study)
    }
}

/// For each rule that ends whole jobs, the times at which it ends the jobs of a bucket.
fn job_ends(tasks: &Tasks, known: &Jobs, asked: &Asked, foreseen: &Foreseen) -> Vec<JobEnds> {
    let mut ends: Vec<JobEnds> = asked.rules.iter().map(|_| JobEnds::default()).collect();
    if !asked.rules.iter().any(RuleGrid::ends_jobs) {
        return ends;
    }
    tasks.for_each(|task| {
        let job = known.find(task.job_id).map(|position| &known.jobs[position]);
        let user = job.and_then(|job| job.user).map(|user| known.names.get(user));
        let scheduling_class = job.and_then(|job| job.scheduling_class);
        let (chance, moment) = (foreseen.chance(task.job_id), foreseen.moment(task.job_id));
        let owner = Owner { scheduling_class, user, chance, moment };
        for (rule, ends) in asked.rules.iter().zip(&mut ends) {
            if rule.ends_jobs() && !rule.spares(Some(task.priority), owner) {
                ends.add(rule, task, owner);
            }
        }
    });
    asked.rules.iter().zip(&mut ends).for_each(|(rule, ends)| ends.close(rule));
    ends
}

pub(super) fn row_of<'a>(job: &'a Job, known: &'a Jobs, classes: Classes) -> JobRow<'a> {
    let name = |position: Option<u32>| position.map(|position| known.names.get(position));
    JobRow {
        job_id: job.id,
        job: Some(job),
        user: name(job.user),
        reason: name(job.end_reason),
        labels: job.labels.map(name),
        name: name(job.name),
        outcome: usize::from(match classes {
            Classes::Sequence => job.by_sequence,
            Classes::Terminal => job.by_terminal,
        }),
        ..JobRow::default()
    }
}

/// Replaces the measured CPU of a job by its published CPU. The published definition has only
/// jobs, so the parts of a job keep their measured proportions.
pub(super) fn republish(row: &mut JobRow<'_>, published_s: f64) {
    let measured = row.cpu;
    row.cpu = CpuTime::from_seconds(published_s);
    let part =
        |part: CpuTime| CpuTime::from_seconds(published_s * part.share_of(measured).unwrap_or(0.0));
    for step in row.kills.iter_mut().flatten() {
        (step.saved, step.spent) = (part(step.saved), part(step.spent));
    }
}

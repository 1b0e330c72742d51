//! Counts of events per interval, and mean numbers of running and waiting tasks.

use rayon::prelude::*;

use super::What;
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::machines::{MachineChange, MachineEvents};
use crate::facts::window::{BEGIN_2011_US, Windows, gaps_us};
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::first_end::FirstEnd;
use crate::studies::load::intervals::Amounts;
use crate::studies::load::{Intervals, span_of, waits};
use crate::studies::machines::end_of;
use crate::units::{CpuRate, micros_to_seconds};

/// The settings: the intervals, and the known times.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The intervals of all kinds of events.
    pub at: Intervals,
    /// The first end of a log that lacks earlier jobs.
    pub first_end: Option<FirstEnd>,
    /// By kind: the times for which its table is loaded, µs, in order; none without the table.
    known: [Vec<[i64; 2]>; 6],
    /// Events before this time are not counted, µs. They are before the window, or the log does not
    /// have all of them.
    since_us: i64,
    /// From the first to the last instant of tasks, µs.
    tasks: Option<[i64; 2]>,
}

impl Asked {
    /// Intervals of this length over all tables that are used, starting at a multiple of the
    /// length. For a log selected by time of end, only the time from its first end on counts.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn of(
        lake: &Lake,
        windows: Windows,
        length_us: i64,
        first_end: Option<FirstEnd>,
    ) -> Result<Self, FactError> {
        let machines = MachineEvents::read(lake)?;
        let mut spans = What::ALL.map(|what| span(lake, windows, &machines, what));
        // Machines of a log are present from the beginning of its clock. Here they count from the
        // first instant of the other tables.
        let start_us = spans[..What::Left as usize].iter().flatten().map(|span| span[0]).min();
        if let (Some(own), Some(start_us)) = (&mut spans[What::Left as usize], start_us) {
            own[0] = own[0].max(start_us).min(own[1]);
        }
        let all = || spans.iter().flatten();
        let start_us = all().map(|span| span[0]).min().unwrap_or(0);
        let end_us = all().map(|span| span[1]).max().unwrap_or(start_us);
        let start_us = start_us.div_euclid(length_us) * length_us;
        let since_us = first_end.map_or(windows.first_us, |first| first.at_us);
        let known = std::array::from_fn(|idx| {
            let span = spans[idx].map(|[from, to]| [from.max(since_us), to]);
            let span = span.filter(|[from, to]| from < to).into_iter();
            span.flat_map(|span| without_gaps(lake, What::ALL[idx].table(), span)).collect()
        });
        let tasks = spans[What::Failed as usize];
        Ok(Self {
            at: Intervals::new([start_us, end_us], length_us),
            first_end,
            known,
            since_us,
            tasks,
        })
    }

    /// The part of a span at or after the first instant of tasks.
    fn within_tasks(&self, [from, to]: [i64; 2]) -> [i64; 2] {
        let first = self.tasks.map_or(0, |tasks| tasks[0]);
        [from.max(first).min(to), to]
    }

    /// How much of an interval is between the first and the last instant of tasks, µs.
    fn tasks_in(&self, idx: usize) -> i64 {
        let [from, to] = self.tasks.unwrap_or_default();
        (self.at.end_of(idx).min(to) - self.at.start_of(idx).max(from)).max(0)
    }

    /// The interval in which an event at this instant counts.
    pub(super) fn place(&self, time_us: i64) -> Option<usize> {
        self.at.of(time_us).filter(|_| self.since_us <= time_us)
    }

    /// The total time for which a kind of event is known, µs.
    pub fn known_us(&self, what: What) -> i64 {
        self.known[what as usize].iter().map(|[from, to]| to - from).sum()
    }

    /// The same within an interval.
    pub fn known_in(&self, what: What, idx: usize) -> i64 {
        let (start, end) = (self.at.start_of(idx), self.at.end_of(idx));
        let spans = self.known[what as usize].iter();
        spans.map(|[from, to]| (end.min(*to) - start.max(*from)).max(0)).sum()
    }
}

/// The span that a kind of event covers; `None` if its table is not loaded.
fn span(lake: &Lake, windows: Windows, machines: &MachineEvents, what: What) -> Option<[i64; 2]> {
    let first = |table| {
        let parts = lake.manifest.table(table)?.parts.iter();
        parts.filter_map(|part| part.min_time_us).min()
    };
    // Everything from before the window has time 0. No event is recorded between time 0 and the
    // start of the window.
    let from_us = |first_us: i64, to_us: i64| {
        let is_early = first_us < windows.first_us && BEGIN_2011_US < to_us;
        if is_early { BEGIN_2011_US } else { first_us.max(windows.first_us) }
    };
    let [from, to] = match what.table() {
        Table::JobEvents => {
            let to = windows.job_end_us;
            [from_us(first(Table::JobEvents)?, to), to]
        }
        Table::MachineEvents => {
            let begin = machines.events.first()?.time_us;
            [begin, end_of(machines, windows)]
        }
        _ => {
            first(Table::TaskEvents)?;
            let [from, to] = span_of(lake, windows);
            [from_us(from, to), to]
        }
    };
    // All events of a table may have the same time.
    (from <= to).then_some([from, to])
}

/// A span without the gaps between the loaded parts of a table.
fn without_gaps(lake: &Lake, table: Table, [from, to]: [i64; 2]) -> Vec<[i64; 2]> {
    let gaps = gaps_us(lake, table);
    let (mut known, mut since) = (Vec::new(), from);
    for [start, end] in gaps {
        if since < start.min(to) {
            known.push([since, start.min(to)]);
        }
        since = since.max(end);
    }
    if since < to {
        known.push([since, to]);
    }
    known
}

/// What happened in each interval.
#[derive(Clone, Debug)]
pub struct Counts {
    /// The settings.
    pub asked: Asked,
    /// By kind and interval: the number of events.
    pub events: [Vec<u64>; 6],
    /// By interval: the mean number of running tasks. It is too low where events are missing, and
    /// `None` outside the span of the table.
    pub running: Vec<Option<f64>>,
    /// The same for waiting tasks.
    pub waiting: Vec<Option<f64>>,
    /// Attempts.
    pub attempts: u64,
}

impl Counts {
    /// Whether any part of an interval is known for a kind of event.
    pub fn knows(&self, what: What, idx: usize) -> bool {
        // The last event of a span may be exactly at the beginning of an interval.
        0 < self.asked.known_in(what, idx) || 0 < self.events[what as usize][idx]
    }

    /// Whether all tasks that ran or waited in an interval are known.
    pub fn is_whole(&self, idx: usize) -> bool {
        let length_us = self.asked.tasks_in(idx);
        0 < length_us && self.asked.known_in(What::Failed, idx) == length_us
    }

    /// The number of events of a kind.
    pub fn total(&self, what: What) -> u64 {
        self.events[what as usize].iter().sum()
    }
}

/// The sums of some buckets.
pub struct Part {
    events: [Vec<u64>; 6],
    running: Amounts,
    waiting: Amounts,
    attempts: u64,
}

impl Part {
    fn new(count: usize) -> Self {
        Self {
            events: std::array::from_fn(|_| vec![0; count]),
            running: Amounts::new(count),
            waiting: Amounts::new(count),
            attempts: 0,
        }
    }

    /// Merges both.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        for (own, others) in self.events.iter_mut().zip(other.events) {
            own.iter_mut().zip(others).for_each(|(own, other)| *own += other);
        }
        self.running.merge(&other.running);
        self.waiting.merge(&other.waiting);
        self.attempts += other.attempts;
        self
    }
}

impl Asked {
    /// The sums of no bucket.
    pub fn nothing(&self) -> Part {
        Part::new(self.at.count())
    }

    /// Adds the events of a bucket to the sums.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn add(&self, part: &mut Part, bucket: &Bucket<'_>) -> Result<(), FactError> {
        let (at, windows) = (&self.at, bucket.windows);
        let mut happened = |what: What, time_us: i64| {
            if let Some(idx) = self.place(time_us) {
                part.events[what as usize][idx] += 1;
            }
        };
        for job in &bucket.jobs_without_names()?.jobs {
            if let Some(submit_us) = job.first_submit_us {
                happened(What::Submitted, submit_us);
            }
        }
        if !bucket.lake.has(Table::TaskEvents) {
            return Ok(());
        }
        let tasks = bucket.tasks_alone()?;
        tasks.for_each(|task| {
            for event in task.events {
                if let Some(what) = What::of_task(event.event_type) {
                    happened(what, event.time_us);
                }
            }
            for attempt in task.attempts {
                let time = self.within_tasks([attempt.start_us, attempt.end_us]);
                part.running.add(at, time, CpuRate::ONE);
            }
            part.attempts += task.attempts.len() as u64;
            waits(windows, &tasks, task, |time, _| {
                part.waiting.add(at, self.within_tasks(time), CpuRate::ONE);
            });
        });
        Ok(())
    }

    /// The counts of a lake, from the sums of all its buckets.
    ///
    /// # Errors
    /// `machine_events` cannot be read.
    pub fn counts(self, lake: &Lake, mut all: Part) -> Result<Counts, FactError> {
        let left = MachineEvents::read(lake)?.events;
        let left = left.iter().filter(|event| event.change == MachineChange::Remove);
        for idx in left.filter_map(|event| self.place(event.time_us)) {
            all.events[What::Left as usize][idx] += 1;
        }
        let means = |amounts: &Amounts| -> Vec<Option<f64>> {
            let sums = amounts.integrals(&self.at).into_iter().enumerate();
            sums.map(|(idx, sum)| {
                let known_us = self.tasks_in(idx);
                (0 < known_us).then(|| sum.seconds() / micros_to_seconds(known_us))
            })
            .collect()
        };
        let (running, waiting) = (means(&all.running), means(&all.waiting));
        Ok(Counts { asked: self, events: all.events, running, waiting, attempts: all.attempts })
    }
}

/// Counts the events of a lake.
///
/// # Errors
/// A table cannot be read, or the callback stops the call.
pub fn count(lake: &Lake, windows: Windows, asked: Asked) -> Result<Counts, FactError> {
    let rows = lake.expect_rows(&[Table::JobEvents, Table::TaskEvents]);
    let all = (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .try_fold(
            || asked.nothing(),
            |mut part, bucket| {
                asked.add(&mut part, &Bucket::of(lake, bucket, windows))?;
                lake.step(rows)?;
                Ok::<Part, FactError>(part)
            },
        )
        .try_reduce_with(|one, other| Ok(one.merge(other)))
        .unwrap_or_else(|| Ok(asked.nothing()))?;
    asked.counts(lake, all)
}

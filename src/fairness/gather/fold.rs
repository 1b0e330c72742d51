//! One bucket: the usage of its tasks, interval by interval.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::extra::Extra;
use super::fleet::Fleet;
use super::parts::{Key, Piece, Sums};
use super::people::First;
use super::{Accrual, By, CELLS_MAX, Cluster, Machines, Part, Plan};
use crate::facts::FactError;
use crate::facts::bucket::Bucket;
use crate::facts::jobs::Jobs;
use crate::facts::tasks::{Attempt, EndedBy, TaskView};
use crate::fairness::history::{AttemptEnd, NOBODY};
use crate::schema::EventType;
use crate::studies::meter::{CpuDefinition, MemoryDefinition, Meter, Resource};
use crate::units::{CpuRate, CpuTime, micros_to_seconds};

/// Folds a bucket of the cluster `idx`.
pub(super) fn fold_bucket(
    clusters: &[Cluster],
    fleet: &Fleet,
    idx: usize,
    bucket: &Bucket<'_>,
    plan: &Plan,
) -> Result<Part, FactError> {
    let cluster = &clusters[idx];
    let needs_jobs = matches!(plan.by, By::User | By::Class);
    let jobs = if needs_jobs { bucket.jobs()? } else { Rc::default() };
    let tasks = bucket.tasks(plan.meter.usage())?;
    let extra = Extra::read(bucket.lake, bucket.number, plan)?;
    let cluster_idx = u32::try_from(idx).expect("a few clusters");
    let mut part = Part { cluster: cluster_idx, ..Part::default() };
    let mut fold = Fold { plan, fleet, cluster, jobs: &jobs, extra: &extra, part: &mut part };
    fold.submitters();
    tasks.for_each(|task| fold.task(task));
    Ok(part)
}

struct Fold<'a> {
    plan: &'a Plan,
    fleet: &'a Fleet,
    cluster: &'a Cluster,
    jobs: &'a Jobs,
    extra: &'a Extra,
    part: &'a mut Part,
}

fn cell_of(column: Option<&Vec<Option<String>>>, row: u32) -> Option<&str> {
    column?[row as usize].as_deref()
}

impl Fold<'_> {
    /// Adds the users of `job_events`, even if none of their tasks is known.
    fn submitters(&mut self) {
        if self.plan.by != By::User {
            return;
        }
        for job in &self.jobs.jobs {
            let Some(user) = job.user else { continue };
            let at = job.first_submit_us.or(job.first_schedule_us).unwrap_or(job.last_event_us);
            // Comes after tasks of the same time, because their group is known.
            let first = First { at_us: self.shifted(at), job_id: job.id, task_index: i32::MAX };
            let name = self.qualified(self.jobs.names.get(user));
            self.part.people.see(&name, first, None);
        }
    }

    fn task(&mut self, task: &TaskView<'_>) {
        // Above this limit the run fails, so the remaining tasks are skipped.
        if CELLS_MAX < self.part.cells.len() {
            return;
        }
        self.waits(task);
        for attempt in task.attempts {
            let who = self.who(task, attempt.row, attempt.start_us, attempt.machine_id);
            self.part.people.has_run(who);
            self.attempt(task, attempt, who);
            self.end(task, attempt, who);
        }
    }

    fn shifted(&self, time_us: i64) -> i64 {
        time_us.saturating_add(self.cluster.shift_us)
    }

    /// A name, with its cluster if users of the same name are separate.
    fn qualified(&self, name: &str) -> String {
        if self.plan.separate_users && self.plan.by != By::Cluster {
            return format!("{}/{name}", self.cluster.name);
        }
        name.to_owned()
    }

    /// The user of a task, by one of its events.
    fn who(&mut self, task: &TaskView<'_>, row: u32, time_us: i64, machine: Option<i64>) -> u32 {
        let job = self.jobs.find(task.job_id).map(|position| &self.jobs.jobs[position]);
        let extra = self.extra;
        let name = match self.plan.by {
            By::User => match job {
                Some(job) => job.user.map(|user| self.jobs.names.get(user).to_owned()),
                None => cell_of(extra.user.as_ref(), row).map(str::to_owned),
            },
            By::Group => cell_of(extra.group.as_ref(), row).map(str::to_owned),
            By::Site => cell_of(extra.site.as_ref(), row).map(str::to_owned),
            By::Queue | By::Qos => cell_of(extra.queue.as_ref(), row).map(str::to_owned),
            By::Machine => machine.map(|id| id.to_string()),
            By::Class => {
                job.and_then(|job| job.scheduling_class).map(|class| format!("class {class}"))
            }
            By::Cluster => Some(self.cluster.name.clone()),
        };
        let name = self.qualified(name.as_deref().unwrap_or(NOBODY));
        let (job_id, task_index) = (task.job_id, task.task_index);
        let first = First { at_us: self.shifted(time_us), job_id, task_index };
        self.part.people.see(&name, first, cell_of(extra.group.as_ref(), row))
    }

    /// Adds the waits of a task: from each SUBMIT until the task is scheduled or ends, or its job
    /// has ended. Each part of a wait has the request that is known at its start, because an UPDATE
    /// can change it.
    fn waits(&mut self, task: &TaskView<'_>) {
        // While a task waits, its machine is unknown.
        if matches!(self.plan.by, By::Machine | By::Site) {
            return;
        }
        let mut since: Option<(i64, u32)> = None;
        let mut request = None;
        for event in task.events {
            let (is_submit, is_update) = (
                event.event_type == EventType::Submit,
                event.event_type == EventType::UpdatePending,
            );
            if let Some((from_us, row)) = since
                && (event.event_type.is_deciding() || is_update)
            {
                self.wait(task, row, [from_us, event.time_us], request);
            }
            if is_submit || is_update && since.is_some() {
                let asked = match self.plan.meter.resource() {
                    Resource::Cpu => &self.extra.cpu,
                    Resource::Memory => &self.extra.memory,
                    Resource::Gpu => &self.extra.gpus,
                };
                request = asked[event.row as usize].or(request);
                since = Some((event.time_us, since.map_or(event.row, |(_, row)| row)));
            } else if event.event_type.is_deciding() {
                (since, request) = (None, None);
            }
        }
        if let Some((from_us, row)) = since {
            let job = self.jobs.find(task.job_id).map(|position| &self.jobs.jobs[position]);
            let ended_us = job.filter(|job| job.is_ended()).map(|job| job.last_event_us);
            let window_end_us = self.cluster.windows.task_end_us;
            let end_us = ended_us.map_or(window_end_us, |end| end.min(window_end_us));
            // A submission may be after the window.
            let until_us = end_us.max(from_us);
            self.wait(task, row, [from_us, until_us], request);
        }
    }

    fn wait(
        &mut self,
        task: &TaskView<'_>,
        row: u32,
        [from_us, until_us]: [i64; 2],
        request: Option<f32>,
    ) {
        let who = self.who(task, row, from_us, None);
        let asked = match self.plan.meter {
            Meter::Cpu(CpuDefinition::Slots) => CpuRate::ONE,
            // While a task waits, its usage is unknown.
            Meter::Memory(MemoryDefinition::Used) => CpuRate::ZERO,
            _ => request.map_or(CpuRate::ZERO, CpuRate::new),
        };
        let machine = self.part.machines.put(&(None, None));
        let (from_us, until_us) = (self.shifted(from_us), self.shifted(until_us));
        self.plan.grid.split(from_us, until_us, |interval, length_us| {
            let sums = Sums { waiting: asked.over(length_us), ..Sums::default() };
            if sums.waiting != CpuTime::ZERO {
                add(&mut self.part.cells, (interval, who, machine), sums);
            }
        });
    }

    fn attempt(&mut self, task: &TaskView<'_>, attempt: &Attempt, who: u32) {
        let plan = self.plan;
        let site = cell_of(self.extra.site.as_ref(), attempt.row).map(str::to_owned);
        // Merge machines of a class from the start: otherwise each would have its own cells.
        let machine_id = attempt.machine_id.map(|id| match plan.machines {
            Machines::Each => id,
            Machines::Classes => self.fleet.of_class(id),
        });
        let machine = self.part.machines.put(&(machine_id, site));
        let told =
            if plan.keeps_machines { machine } else { self.part.machines.put(&(None, None)) };
        let is_open = attempt.is_open();
        let counts = &mut self.part.counts;
        counts.attempts += 1;
        counts.open_attempts += u64::from(is_open);
        counts.without_request += u64::from(plan.meter.request_of(attempt).is_none());
        counts.with_cpu_time += u64::from(attempt.records_cpu_time());
        counts.without_name += u64::from(self.part.people.is_nobody(who));
        let memory = self.extra.memory[attempt.row as usize].map_or(CpuRate::ZERO, CpuRate::new);
        let rate = match plan.meter {
            Meter::Cpu(CpuDefinition::Slots) => attempt.slot_rate(),
            Meter::Cpu(CpuDefinition::GpuSlots) => attempt.held_gpus(),
            Meter::Cpu(CpuDefinition::Measured) => attempt.used_rate(self.cluster.lake.source()),
            Meter::Cpu(_) => attempt.requested_rate(),
            // Measured values come from windows.
            Meter::Memory(memory) if memory.usage_column().is_some() => CpuRate::ZERO,
            Meter::Memory(_) => attempt.held_memory(),
        };
        let mut pieces = vec![(attempt.start_us, attempt.end_us, rate, memory)];
        if plan.meter.needs_usage() {
            pieces.extend(
                measured(task, attempt).map(|(from, to, rate)| (from, to, rate, CpuRate::ZERO)),
            );
        }
        self.charge(attempt, &pieces, who, [machine, told]);
    }

    /// Charges the pieces of an attempt. The two machines are the one on which it ran, and the one
    /// of its cells.
    fn charge(&mut self, attempt: &Attempt, pieces: &[Piece], who: u32, [machine, told]: [u32; 2]) {
        let grid = &self.plan.grid;
        let shift = self.cluster.shift_us;
        let (cells, on_machines) = (&mut self.part.cells, &mut self.part.on_machines);
        let shown_from = self.plan.shown_from;
        let mut shown = CpuTime::ZERO;
        let mut put = |interval, sums: Sums| {
            if shown_from <= interval && sums.cpu != CpuTime::ZERO {
                *on_machines.entry((machine, who)).or_default() += sums.cpu;
            }
            add(cells, (interval, who, told), sums);
        };
        let is_charged = self.plan.accrual == Accrual::Running;
        for &(from, to, rate, memory) in pieces {
            grid.split(from + shift, to + shift, |interval, length_us| {
                let (held, held_memory) = (rate.over(length_us), memory.over(length_us));
                let mut sums = Sums { held, held_memory, ..Sums::default() };
                shown += if shown_from <= interval { held } else { CpuTime::ZERO };
                if is_charged {
                    (sums.cpu, sums.memory) = (held, held_memory);
                }
                put(interval, sums);
            });
        }
        let until = |&(from, to, rate, _): &Piece| {
            let (from, to) = ((from + shift).max(grid.start_us), (to + shift).min(grid.end_us()));
            (rate != CpuRate::ZERO && from < to).then_some(to)
        };
        if let Some(last_us) = pieces.iter().filter_map(until).max() {
            self.part.people.has_used(who, last_us);
        }
        let shown_us = grid.start_of(shown_from)..grid.end_us();
        let is_shown = shown_us.start <= attempt.end_us.saturating_add(shift)
            && attempt.start_us.saturating_add(shift) < shown_us.end;
        if attempt.ended_by == EndedBy::Job && is_shown {
            self.part.counts.closed_with_job += 1;
            self.part.counts.closed_with_job_cpu += shown;
        }
        let is_due = self.plan.accrual == Accrual::End && !attempt.is_open();
        if let Some(interval) = grid.interval_of(attempt.end_us + shift).filter(|_| is_due) {
            let cpu = pieces.iter().map(|piece| piece.2.over(piece.1 - piece.0)).sum();
            let memory = pieces.iter().map(|piece| piece.3.over(piece.1 - piece.0)).sum();
            put(interval, Sums { cpu, memory, ..Sums::default() });
        }
    }

    /// Adds the wait and run of an attempt that has ended. At its end it is unknown whether its
    /// task runs again.
    fn end(&mut self, task: &TaskView<'_>, attempt: &Attempt, who: u32) {
        if !self.plan.keeps_ends || attempt.is_open() {
            return;
        }
        let start = attempt.start_us;
        // In the Google trace, a submit at 0 is before the window.
        let is_known = |&submit: &i64| {
            submit <= start && (submit != 0 || !self.cluster.lake.source().is_google())
        };
        let interval = self.plan.grid.interval_of(self.shifted(attempt.end_us));
        let (Some(submit), Some(interval)) = (submit_of(task, attempt).filter(is_known), interval)
        else {
            return;
        };
        self.part.ends.push(AttemptEnd {
            interval,
            who,
            wait_s: micros_to_seconds(start - submit),
            run_s: micros_to_seconds(attempt.run_us()),
            suspended_s: micros_to_seconds(attempt.suspended_us()),
        });
    }
}

/// The SUBMIT from which an attempt waited: the first since the end of the previous attempt.
fn submit_of(task: &TaskView<'_>, attempt: &Attempt) -> Option<i64> {
    let mut submit = None;
    for event in task.events.iter().take_while(|event| event.row != attempt.row) {
        match event.event_type {
            EventType::Submit => submit = submit.or(Some(event.time_us)),
            kind if kind.is_deciding() => submit = None,
            _ => {}
        }
    }
    submit
}

pub(super) fn add(cells: &mut FxHashMap<Key, Sums>, key: Key, part: Sums) {
    let sums = cells.entry(key).or_default();
    sums.cpu += part.cpu;
    sums.memory += part.memory;
    sums.waiting += part.waiting;
    sums.held += part.held;
    sums.held_memory += part.held_memory;
}

/// The parts of usage windows inside an attempt.
fn measured<'a>(
    task: &'a TaskView<'_>,
    attempt: &'a Attempt,
) -> impl Iterator<Item = (i64, i64, CpuRate)> + 'a {
    task.windows
        .iter()
        .take_while(|window| window.start_us < attempt.end_us)
        .map(|window| {
            let (from, to) =
                (window.start_us.max(attempt.start_us), window.end_us.min(attempt.end_us));
            (from, to, CpuRate::new(window.rate))
        })
        .filter(|(from, to, _)| from < to)
}

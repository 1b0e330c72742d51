//! Builds a workload from the tasks of a lake.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::counts::Counts;
use super::gpus::Models;
use super::items::{Item, Items};
use super::numbers::{Numbers, scaled, units};
use super::overcommit::{Overcommit, RecordedLoad};
use super::plan::{HistoryPlan, RerunWork};
use super::recorded::History;
use super::schedule::Schedule;
use super::{assumptions, schedule, stages};
use crate::facts::FactError;
use crate::facts::window::{Windows, first_event_us};
use crate::lake::Lake;
use crate::replay::cluster::Cluster;
use crate::replay::feedback::Stay;
use crate::replay::workload::{Column, Failures, Fate, Reruns, UNITS, Workload, WorkloadError};
use crate::schema::{Source, Table};
use crate::units::{CpuTime, micros_to_seconds};

/// Reads the tasks of a lake. `cluster` has its machines, with their own capacities.
pub fn workload(
    lake: &Lake,
    windows: Windows,
    plan: &HistoryPlan,
    cluster: &Cluster,
) -> Result<Result<History, WorkloadError>, FactError> {
    lake.require(Table::TaskEvents)?;
    let rows = lake.expect_rows(&[Table::TaskEvents]);
    let models = Models::read(lake)?;
    let span_us = plan.span_us(first_event_us(lake), windows);
    let recorded =
        (plan.overcommit == Overcommit::Recorded).then(|| RecordedLoad::new(cluster, span_us));
    let parts: Vec<Items> = (0..lake.bucket_count())
        .into_par_iter()
        .map(|bucket| {
            let read =
                Items::read(lake, bucket, windows, plan, (models.as_ref(), recorded.as_ref()))?;
            lake.step(rows)?;
            Ok(read)
        })
        .collect::<Result<_, FactError>>()?;
    let overcommit = match plan.overcommit {
        Overcommit::Factor(factor) => factor,
        Overcommit::Recorded => recorded.map_or(1.0, |recorded| recorded.factor()),
    };
    let mut assembled =
        assemble(Items::join(parts), (plan, overcommit), (lake.source(), windows.task_end_us));
    if let Ok(history) = &mut assembled
        && models.is_some_and(|models| !models.of_machines)
        && cluster.gpus.is_empty()
    {
        history.leave_out_gpus();
    }
    Ok(assembled)
}

fn assemble(
    all: Items,
    (plan, overcommit): (&HistoryPlan, f64),
    (source, end_us): (Source, i64),
) -> Result<History, WorkloadError> {
    let Items {
        tasks: mut items,
        failures,
        users: user_names,
        texts,
        mut counts,
        cpu,
        over_time,
        ..
    } = all;
    items.sort_unstable_by_key(|item| (item.arrival_us, item.id));
    let start_us = items.first().map_or(0, |item| item.arrival_us);
    let last = items.last().map(|item| arrival_us(item, start_us, plan.load));
    if last == Some(i64::MAX) {
        return Err(WorkloadError::Late { load: plan.load });
    }
    count(&items, &failures, &mut counts);
    let mut workload = columns(&items, &failures, plan, source);
    let mut users = Numbers(FxHashMap::default());
    workload.user = Column::Each(items.iter().map(|item| users.of(item.user)).collect());
    let name = |user: Option<u32>| user.map(|user| user_names.name(user)).unwrap_or_default();
    workload.user_names = users.in_order().map(|user| name(user).to_owned()).collect();
    let (dependencies, waiting) = stages::dependencies(&items, &texts);
    workload.dependencies = dependencies;
    let mut workload = workload.check()?;
    counts.jobs = workload.job_count() as u64;
    let [cpu_s, dropped_cpu_s] = cpu.map(CpuTime::seconds);
    let schedule = schedule::schedule(&items, &workload, end_us);
    let waits_s = items.iter().filter_map(|item| item.wait_us.map(micros_to_seconds)).collect();
    let dropped_cpu_share = cpu[1].share_of(cpu[0]);
    let schedule = Schedule { cpu_s, dropped_cpu_s, dropped_cpu_share, ..schedule };
    if plan.reruns == RerunWork::Sibling {
        workload.reruns = Reruns::of_siblings(&workload);
    }
    Ok(History {
        workload,
        ids: items.iter().map(|item| item.id).collect(),
        stays: if plan.has_feedback { stays(&items, plan.load) } else { Vec::new() },
        counts,
        schedule: Some(schedule),
        over_time: Some(over_time.with_waits(waits_s)),
        unchecked_gpus: 0,
        overcommit,
        assumptions: assumptions::of((&counts, waiting), (plan, overcommit), source),
    })
}

/// The recorded jobs, by number; `items` are in order of arrival.
pub(super) fn stays(items: &[Item], load: f64) -> Vec<Stay> {
    let start_us = items.first().map_or(0, |item| item.arrival_us);
    let mut numbers = Numbers(FxHashMap::default());
    let mut stays: Vec<Stay> = Vec::new();
    let mut named = Vec::new();
    for item in items {
        let end_us = item.ended_us.map(|end_us| start_us + scaled(end_us - start_us, load));
        let job = numbers.of(item.id.0) as usize;
        if let Some(stay) = stays.get_mut(job) {
            // A job ends with the last of its tasks.
            stay.end_us = stay.end_us.zip(end_us).map(|(one, another)| one.max(another));
            continue;
        }
        let submit_us = arrival_us(item, start_us, load);
        stays.push(Stay { user: item.user, submit_us, end_us, after: None });
        named.push(item.more().after);
    }
    for (stay, after) in stays.iter_mut().zip(named) {
        stay.after = after.and_then(|job| numbers.0.get(&job).copied());
    }
    stays
}

/// Counts the tasks with missing values.
pub(super) fn count(items: &[Item], failures: &[i64], counts: &mut Counts) {
    counts.tasks = items.len() as u64;
    let last = items.iter().filter(|item| item.fate == Fate::Fails).count();
    counts.failures = (failures.len() + last) as u64;
    let (mut with_request, mut open) = (FxHashSet::default(), FxHashSet::default());
    for item in items {
        counts.without_priority += u64::from(item.priority.is_none());
        counts.without_user += u64::from(item.user.is_none());
        counts.without_cpu += u64::from(item.cpu.is_none());
        counts.without_memory += u64::from(item.memory.is_none());
        if item.more().requested_us.is_some() {
            with_request.insert(item.id.0);
        }
        if item.ended_us.is_none() {
            open.insert(item.id.0);
        }
    }
    counts.jobs_with_request = with_request.len() as u64;
    counts.jobs_still_running = Some(open.len() as u64);
}

pub(super) fn arrival_us(item: &Item, start_us: i64, load: f64) -> i64 {
    start_us.saturating_add(scaled(item.arrival_us - start_us, load))
}

/// The columns of the tasks, except users.
pub(super) fn columns(
    items: &[Item],
    failures: &[i64],
    plan: &HistoryPlan,
    source: Source,
) -> Workload {
    let start_us = items.first().map_or(0, |item| item.arrival_us);
    let default_cpu = if source.is_google() { 0 } else { UNITS };
    let mut workload = Workload::plain(items.len(), Column::Same(0));
    workload.arrival_us = each(items, |item| arrival_us(item, start_us, plan.load));
    workload.work_us = each(items, |item| item.work_us);
    workload.cpu = each(items, |item| item.cpu.map_or(default_cpu, units));
    workload.memory = each(items, |item| item.memory.map_or(0, units));
    workload.gpus = each(items, |item| item.more().gpus);
    workload.priority = each(items, |item| item.priority);
    workload.class = each(items, |item| item.class);
    workload.requested_us = each(items, |item| item.more().requested_us);
    workload.estimates = plan.estimates;
    workload.is_apart = each(items, |item| item.is_apart);
    workload.has_wait = each(items, |item| item.wait_us.is_some());
    workload.is_cut = each(items, |item| item.ended_us.is_none());
    workload.fate = each(items, |item| item.fate);
    let mut jobs = Numbers(FxHashMap::default());
    workload.job = Column::Each(items.iter().map(|item| jobs.of(item.id.0)).collect());
    let mut groups = Numbers(FxHashMap::default());
    let group = items.iter().map(|item| groups.of((item.id.0, item.more().phase)));
    workload.group = Column::Each(group.collect());
    let mut first = Vec::with_capacity(items.len() + 1);
    let mut work_us = Vec::with_capacity(failures.len());
    first.push(0);
    for item in items {
        work_us.extend(&failures[item.failures.start as usize..item.failures.end as usize]);
        first.push(u32::try_from(work_us.len()).expect("fewer than 2^32"));
    }
    workload.failures = Failures { first, work_us };
    workload
}

/// A column; with a single value if all items have the same value.
fn each<T: PartialEq>(items: &[Item], value: impl Fn(&Item) -> T) -> Column<T> {
    match items.split_first() {
        Some((first, rest)) if rest.iter().all(|item| value(item) == value(first)) => {
            Column::Same(value(first))
        }
        _ => Column::Each(items.iter().map(value).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::assembled::*;

    fn item(id: (i64, i32), arrival_us: i64) -> Item {
        Item {
            arrival_us,
            id,
            work_us: 10,
            fate: Fate::Finishes,
            failures: 0..0,
            cpu: Some(0.5),
            memory: None,
            priority: None,
            class: None,
            user: None,
            is_apart: false,
            wait_us: None,
            ended_us: None,
            more: None,
        }
    }

    #[test]
    fn tasks_are_numbered_by_arrival_and_load_brings_them_closer() {
        let mut late = item((7, 0), 300);
        late.failures = 1..3;
        let mut first = item((9, 1), 100);
        first.failures = 0..1;
        let mut all = Items { tasks: vec![late, first, item((9, 0), 100)], ..Items::default() };
        all.failures = vec![7, 4, 5];
        all.tasks[0].user = Some(all.users.code("u"));
        let plan = HistoryPlan { load: 2.0, ..HistoryPlan::default() };
        let history = assemble(all, (&plan, 1.0), (Source::Google2011, 400)).unwrap();
        assert_eq!(history.ids, [(9, 0), (9, 1), (7, 0)]);
        let workload = history.workload;
        assert_eq!(workload.arrival_us, Column::Each(vec![100, 100, 200]));
        assert_eq!(workload.job, Column::Each(vec![0, 0, 1]));
        assert_eq!(workload.user, Column::Each(vec![0, 0, 1]));
        assert_eq!(workload.user_names, ["", "u"]);
        assert_eq!(workload.cpu.get(0), UNITS / 2);
        assert_eq!(workload.failures.of(1), [7]);
        assert_eq!(workload.failures.of(2), [4, 5]);
        assert_eq!((history.counts.tasks, history.counts.jobs, history.counts.failures), (3, 2, 3));
        assert_eq!(history.counts.without_memory, 3);
    }
}

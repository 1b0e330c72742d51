//! The numbers of a replay by size of jobs or by user, as in papers on workload logs.
//!
//! In: the fates of the tasks. Out: a row for each group with tasks: the mean wait, response and
//! bounded slowdown of its tasks, and the CPU time of all its attempts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tally::cpu_seconds;
use super::{Fates, Spread};
use crate::replay::journal::Journal;
use crate::replay::workload::{NONE, Workload};
use crate::studies::load::sizes::size_class;

/// What tasks are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum GroupedBy {
    /// Tasks of the job; processors in a log
    Size,
    /// User
    User,
}

/// How the size of a job is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeOf {
    /// The number of its tasks.
    Tasks,
    /// The CPU of its largest request, rounded up: processors of a log.
    Processors,
}

/// The numbers of a group of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupRow {
    /// The class of sizes, or the user; empty for tasks without a user.
    pub group: String,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of tasks that finished.
    pub finished: u64,
    /// First submit to first start, mean over the tasks that started, s.
    pub waiting_s_mean: Option<f64>,
    /// First submit to end, mean over the finished tasks, s.
    pub response_s_mean: Option<f64>,
    /// Bounded slowdown, mean over the finished tasks.
    pub slowdown_mean: Option<f64>,
    /// The median bounded slowdown.
    pub slowdown_median: Option<f64>,
    /// The 95 % quantile of the bounded slowdown.
    pub slowdown_p95: Option<f64>,
    /// CPU time of all attempts, CPU-s.
    pub used_cpu_s: f64,
}

/// The values of a group.
#[derive(Default)]
struct Group {
    tasks: u64,
    finished: u64,
    waiting_s: Vec<f64>,
    response_s: Vec<f64>,
    slowdown: Vec<f64>,
    cpu_time: i128,
}

/// The rows of the groups: sizes ascending, users with most tasks first.
pub fn by_group(
    journal: &Journal,
    workload: &Workload,
    grouped: GroupedBy,
    size_of: SizeOf,
) -> Vec<GroupRow> {
    let fates = super::fates(journal, workload.task_count);
    let cpu_time = cpu_times(journal, workload);
    let sizes = if grouped == GroupedBy::Size { sizes(workload, size_of) } else { Vec::new() };
    let mut groups: BTreeMap<(usize, String), Group> = BTreeMap::new();
    for task in (0..).take(workload.task_count) {
        let key = match grouped {
            GroupedBy::Size => {
                let (place, name) = size_class(sizes[workload.job.get(task) as usize]);
                (place, name.to_owned())
            }
            GroupedBy::User => {
                let user = workload.user.get(task) as usize;
                (0, workload.user_names.get(user).cloned().unwrap_or_default())
            }
        };
        let group = groups.entry(key).or_default();
        group.add(&fates, task as usize);
        group.cpu_time += cpu_time[task as usize];
    }
    let mut rows: Vec<GroupRow> =
        groups.into_iter().map(|((_, name), group)| group.row(name)).collect();
    if grouped == GroupedBy::User {
        rows.sort_by_key(|row| std::cmp::Reverse(row.tasks));
    }
    rows
}

impl Group {
    fn add(&mut self, fates: &Fates, task: usize) {
        self.tasks += 1;
        self.waiting_s.extend(fates.waiting_s(task));
        if fates.run_us[task].is_some() {
            self.finished += 1;
            self.response_s.extend(fates.response_s(task));
            self.slowdown.extend(fates.bounded_slowdown(task));
        }
    }

    fn row(self, group: String) -> GroupRow {
        let slowdown = Spread::of(self.slowdown);
        let mean = |values: Vec<f64>| Spread::of(values).map(|spread| spread.mean);
        GroupRow {
            group,
            tasks: self.tasks,
            finished: self.finished,
            waiting_s_mean: mean(self.waiting_s),
            response_s_mean: mean(self.response_s),
            slowdown_mean: slowdown.map(|spread| spread.mean),
            slowdown_median: slowdown.map(|spread| spread.median),
            slowdown_p95: slowdown.map(|spread| spread.p95),
            used_cpu_s: cpu_seconds(self.cpu_time),
        }
    }
}

/// The size of each job.
fn sizes(workload: &Workload, size_of: SizeOf) -> Vec<u64> {
    let mut sizes = vec![0_u64; workload.job_count()];
    for task in (0..).take(workload.task_count) {
        let size = &mut sizes[workload.job.get(task) as usize];
        match size_of {
            SizeOf::Tasks => *size += 1,
            SizeOf::Processors => *size = (*size).max(workload.cpu.get(task).div_ceil(1_000_000)),
        }
    }
    sizes
}

/// The CPU time of the attempts of each task, millionths of a CPU-µs.
fn cpu_times(journal: &Journal, workload: &Workload) -> Vec<i128> {
    let mut cpu_time = vec![0_i128; workload.task_count];
    for entry in journal.entries().filter(|entry| entry.task != NONE && entry.machine != NONE) {
        let is_end = entry.kind.is_end();
        if entry.kind.is_begin() || is_end {
            let at = i128::from(entry.at_us) * i128::from(workload.cpu.get(entry.task));
            cpu_time[entry.task as usize] += if is_end { at } else { -at };
        }
    }
    cpu_time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::cluster::Cluster;
    use crate::replay::engine::{Plan, replay};
    use crate::replay::metrics::measure;
    use crate::replay::workload::{Column, UNITS};

    /// Three jobs on a machine of four processors: 4 for 20 s, then 1 for 5 s and 3 for 100 s, all
    /// submitted at the same time, by `u`, `v` and `v`.
    #[test]
    fn groups_are_of_the_tasks_in_them() {
        let second = 1_000_000;
        let mut workload =
            Workload::plain(3, Column::Each(vec![20 * second, 5 * second, 100 * second]));
        workload.cpu = Column::Each(vec![4 * UNITS, UNITS, 3 * UNITS]);
        workload.job = Column::Each(vec![0, 1, 2]);
        workload.user = Column::Each(vec![0, 1, 1]);
        workload.user_names = vec!["u".to_owned(), "v".to_owned()];
        let workload = workload.check().unwrap();
        let mut cluster = Cluster::of_speeds(vec![1.0]);
        cluster.cpu = vec![4 * UNITS];
        let cluster = cluster.check().unwrap().0;
        let policy = "fifo".parse().unwrap();
        let journal = replay(&Plan::new(&cluster, &workload, &policy)).unwrap().journal.unwrap();
        let rows = |by, size_of| by_group(&journal, &workload, by, size_of);
        let sizes = rows(GroupedBy::Size, SizeOf::Processors);
        let shown = |row: &GroupRow| (row.group.clone(), row.tasks, row.waiting_s_mean.unwrap());
        assert_eq!(
            sizes.iter().map(shown).collect::<Vec<_>>(),
            [("1".to_owned(), 1, 20.0), ("2-4".to_owned(), 2, 10.0)]
        );
        // (20 + 5) / 10, since 5 s count as 10; and (20 + 100) / 100 and 1.
        assert_eq!(sizes[0].slowdown_mean, Some(2.5));
        assert_eq!(sizes[1].slowdown_mean, Some(1.1));
        assert_eq!(rows(GroupedBy::Size, SizeOf::Tasks).len(), 1, "all have one task");
        let users = rows(GroupedBy::User, SizeOf::Tasks);
        assert_eq!(users.iter().map(|row| row.group.as_str()).collect::<Vec<_>>(), ["v", "u"]);
        assert_eq!(users[0].used_cpu_s, 305.0);
        // The groups add up to the total.
        let whole = measure(&journal, &workload, &cluster, 7);
        let sum = |rows: &[GroupRow]| rows.iter().map(|row| row.used_cpu_s).sum::<f64>();
        assert!(
            (sum(&sizes) - whole.cpu_s).abs() < 1e-9 && (sum(&users) - whole.cpu_s).abs() < 1e-9
        );
    }
}

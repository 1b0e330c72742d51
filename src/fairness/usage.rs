//! Usage of users, clusters and machines, with their shares, peaks and last uses.
//!
//! In: a [`History`]. Out: rows, the heaviest first. Times are seconds from the start of the span.
//! They are whole intervals, because usage is known only per interval; only the last use is exact.
//! CPU time and its shares are charged usage. Peaks, first and last uses are of running usage,
//! regardless of when it is charged.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::history::{Cell, History, NOBODY, known_name};
use crate::units::{CpuTime, micros_to_seconds};

/// The usage of a user in the shown intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct UserUsage {
    /// Position among the people.
    #[serde(skip)]
    pub who: usize,
    /// The name.
    #[serde(serialize_with = "known", deserialize_with = "named")]
    pub user: String,
    /// The group of the first submission in the log.
    pub group: Option<String>,
    /// Charged CPU-seconds.
    pub cpu_s: f64,
    /// Share of all charged CPU time.
    pub share: Option<f64>,
    /// CPU-seconds that ran, regardless of when they are charged.
    pub ran_cpu_s: f64,
    /// The most cores in use over an interval, regardless of when they are charged.
    #[serde(alias = "peak_gpus")]
    pub peak_cores: f64,
    /// Start of that interval, s.
    pub peak_at_s: f64,
    /// Start of the first interval in which a task ran, s.
    pub first_use_s: f64,
    /// The last instant at which a task ran, s; if none ran in the shown intervals, the end of the
    /// last interval with a charge.
    pub last_use_s: f64,
    /// Number of intervals with a charge. Usage rises as a staircase in many intervals, and as a
    /// steep step in one.
    pub active_intervals: u64,
    /// The largest share of the user's usage in one interval: near 1 for a steep step.
    pub largest_step_share: f64,
    /// CPU-seconds on each cluster.
    pub by_cluster: BTreeMap<String, f64>,
    /// Interval (from 0, among those shown) and CPU-seconds, for intervals with usage.
    pub by_interval: Vec<(u32, f64)>,
}

/// The usage of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterUsage {
    /// The name.
    pub cluster: String,
    /// CPU-seconds.
    pub cpu_s: f64,
    /// Share of all usage.
    pub share: Option<f64>,
    /// Users with usage on it.
    pub users: u64,
    /// The heaviest user.
    pub heaviest: Option<String>,
    /// The share of that user in the cluster's usage.
    pub heaviest_share: Option<f64>,
}

/// The usage of a machine or class of machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineUsage {
    /// The cluster.
    pub cluster: String,
    /// The id; `None` for a class.
    pub machine: Option<i64>,
    /// Micro-architecture.
    pub platform: Option<String>,
    /// CPU of one machine.
    pub cpu: Option<f32>,
    /// Memory of one machine.
    pub memory: Option<f32>,
    /// Site or partition.
    pub site: Option<String>,
    /// CPU-seconds.
    pub cpu_s: f64,
    /// Share of all usage.
    pub share: Option<f64>,
    /// CPU-seconds per user, the heaviest first; `None` for users without a name.
    pub users: Vec<(Option<String>, f64)>,
}

/// Writes a name, or null for users without a name.
pub(super) fn known<S: serde::Serializer>(name: &str, to: S) -> Result<S::Ok, S::Error> {
    known_name(name).serialize(to)
}

/// Reads the name of a user.
pub(super) fn named<'de, D: Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    let name = Option::<String>::deserialize(source)?;
    Ok(name.unwrap_or_else(|| NOBODY.to_owned()))
}

/// The CPU time that ran in the shown intervals, regardless of when it is charged.
pub fn total_ran(history: &History) -> CpuTime {
    history.shown().iter().map(|cell| cell.held).sum()
}

/// The CPU time charged in the shown intervals.
pub fn total(history: &History) -> CpuTime {
    history.shown().iter().map(|cell| cell.cpu).sum()
}

/// Users with usage, the heaviest first, and equal ones by name.
pub fn users(history: &History) -> Vec<UserUsage> {
    users_where(history, &|_| true)
}

/// The same, with peaks only in known intervals. A user who ran in no known interval has the peak
/// of all intervals.
pub fn users_where(history: &History, is_known: &dyn Fn(u32) -> bool) -> Vec<UserUsage> {
    let total = total(history);
    let mut cells: Vec<&Cell> =
        history.shown().iter().filter(|cell| cell.cpu != CpuTime::ZERO).collect();
    cells.sort_by_key(|cell| (cell.who, cell.interval));
    let held = held_by_interval(history);
    let mut rows: Vec<(CpuTime, UserUsage)> = cells
        .chunk_by(|one, other| one.who == other.who)
        .map(|own| row(history, own, &held[own[0].who as usize], (total, is_known)))
        .collect();
    rows.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.who.cmp(&other.1.who)));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The inequality of users' usage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inequality {
    /// Users with usage.
    pub users: u64,
    /// The Gini index (Gini, 1912): 0 if all used the same, near 1 if one used all.
    pub gini: f64,
    /// The smallest number of users who together used half.
    pub users_of_half: u64,
}

/// The inequality of users; `None` for fewer than two, or if nothing is charged.
#[expect(clippy::cast_precision_loss, reason = "users are far below 2^53")]
pub fn inequality(users: &[UserUsage]) -> Option<Inequality> {
    let mut ascending: Vec<f64> = users.iter().map(|user| user.cpu_s).collect();
    ascending.sort_by(f64::total_cmp);
    let (count, total) = (ascending.len() as f64, ascending.iter().sum::<f64>());
    if ascending.len() < 2 || total <= 0.0 {
        return None;
    }
    let ranked: f64 = (1_u32..).zip(&ascending).map(|(rank, cpu_s)| f64::from(rank) * cpu_s).sum();
    let mut left = total / 2.0;
    let of_half = ascending.iter().rev().take_while(|cpu_s| {
        let is_needed = 0.0 < left;
        left -= *cpu_s;
        is_needed
    });
    let users_of_half = of_half.count() as u64;
    let gini = 2.0 * ranked / (count * total) - (count + 1.0) / count;
    Some(Inequality { users: ascending.len() as u64, gini, users_of_half })
}

/// The running usage of each user in each interval (from the first shown one), regardless of when
/// it is charged.
pub fn held_by_interval(history: &History) -> Vec<Vec<(u32, CpuTime)>> {
    let mut all: Vec<Vec<(u32, CpuTime)>> = vec![Vec::new(); history.people.len()];
    for cell in history.shown().iter().filter(|cell| cell.held != CpuTime::ZERO) {
        let own = &mut all[cell.who as usize];
        match own.last_mut() {
            Some(last) if last.0 == cell.interval => last.1 += cell.held,
            _ => own.push((cell.interval, cell.held)),
        }
    }
    all
}

fn row(
    history: &History,
    own: &[&Cell],
    held: &[(u32, CpuTime)],
    (total, is_known): (CpuTime, &dyn Fn(u32) -> bool),
) -> (CpuTime, UserUsage) {
    let who = own[0].who as usize;
    let steps: Vec<(u32, CpuTime)> = own
        .chunk_by(|one, other| one.interval == other.interval)
        .map(|step| (step[0].interval, step.iter().map(|cell| cell.cpu).sum()))
        .collect();
    let all: CpuTime = steps.iter().map(|step| step.1).sum();
    let most = steps.iter().map(|step| step.1).max().expect("a user here has usage");
    // The first of equal peaks.
    let highest = |steps: &mut dyn DoubleEndedIterator<Item = &(u32, CpuTime)>| {
        steps.rev().max_by_key(|step| step.1).copied()
    };
    let peak = highest(&mut held.iter().filter(|step| is_known(step.0)))
        .or_else(|| highest(&mut held.iter()))
        .unwrap_or(steps[0]);
    // Usage that is charged in the span may have run before it.
    let first = held.first().map_or(steps[0].0, |step| step.0);
    let last = held.last().map_or(steps[steps.len() - 1].0, |step| step.0);
    let last_us = history.people[who].last_use_us.filter(|_| !held.is_empty());
    let last_us = last_us.unwrap_or_else(|| history.grid.start_of(last + 1));
    let mut by_cluster: BTreeMap<String, CpuTime> = BTreeMap::new();
    for cell in own {
        let cluster = history.machines[cell.machine as usize].cluster as usize;
        *by_cluster.entry(history.clusters[cluster].clone()).or_default() += cell.cpu;
    }
    let person = &history.people[who];
    let usage = UserUsage {
        who,
        user: person.name.clone(),
        group: person.group.clone(),
        cpu_s: all.seconds(),
        share: all.share_of(total),
        ran_cpu_s: held.iter().map(|step| step.1).sum::<CpuTime>().seconds(),
        peak_cores: peak.1.seconds() / history.grid.length_s(),
        peak_at_s: history.seconds_at(peak.0),
        first_use_s: history.seconds_at(first),
        last_use_s: micros_to_seconds(last_us - history.grid.start_of(history.shown_from)),
        active_intervals: steps.len() as u64,
        largest_step_share: most.share_of(all).unwrap_or(0.0),
        by_cluster: by_cluster.into_iter().map(|(name, cpu)| (name, cpu.seconds())).collect(),
        by_interval: steps
            .iter()
            .map(|&(interval, cpu)| (interval - history.shown_from, cpu.seconds()))
            .collect(),
    };
    (all, usage)
}

fn name_of(history: &History, who: u32) -> Option<String> {
    known_name(&history.people[who as usize].name).map(str::to_owned)
}

/// Every cluster, in the order of the lakes.
pub fn clusters(history: &History) -> Vec<ClusterUsage> {
    let total = total(history);
    let mut sums: Vec<BTreeMap<u32, CpuTime>> = vec![BTreeMap::new(); history.clusters.len()];
    for cell in history.shown().iter().filter(|cell| cell.cpu != CpuTime::ZERO) {
        let cluster = history.machines[cell.machine as usize].cluster as usize;
        *sums[cluster].entry(cell.who).or_default() += cell.cpu;
    }
    let of = |(name, users): (&String, BTreeMap<u32, CpuTime>)| {
        let all: CpuTime = users.values().copied().sum();
        let heaviest = users.iter().rev().max_by_key(|user| user.1);
        ClusterUsage {
            cluster: name.clone(),
            cpu_s: all.seconds(),
            share: all.share_of(total),
            users: users.len() as u64,
            heaviest: heaviest.and_then(|(&who, _)| name_of(history, who)),
            heaviest_share: heaviest.and_then(|(_, cpu)| cpu.share_of(all)),
        }
    };
    history.clusters.iter().zip(sums).map(of).collect()
}

/// Machines (or classes) with usage, the heaviest first.
pub fn machines(history: &History) -> Vec<MachineUsage> {
    let total = total(history);
    let mut sums: BTreeMap<u32, BTreeMap<u32, CpuTime>> = BTreeMap::new();
    for &(machine, who, cpu) in &history.on_machines {
        sums.entry(machine).or_default().insert(who, cpu);
    }
    let mut rows: Vec<(CpuTime, MachineUsage)> = sums
        .into_iter()
        .map(|(machine, users)| {
            let all: CpuTime = users.values().copied().sum();
            let mut users: Vec<(u32, CpuTime)> = users.into_iter().collect();
            users.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
            let of = &history.machines[machine as usize];
            let name = |who: u32| name_of(history, who);
            let usage = MachineUsage {
                cluster: history.clusters[of.cluster as usize].clone(),
                machine: of.id,
                platform: of.platform.clone(),
                cpu: of.cpu,
                memory: of.memory,
                site: of.site.clone(),
                cpu_s: all.seconds(),
                share: all.share_of(total),
                users: users.into_iter().map(|(who, cpu)| (name(who), cpu.seconds())).collect(),
            };
            (all, usage)
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.0));
    rows.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fairness::samples::history;

    #[test]
    fn heavy_users_come_first_with_peak_and_last_use() {
        //  a  |....|7200|....|3600|     b  |3600|....|
        let history = history(&[("a", &[0.0, 7200.0, 0.0, 3600.0]), ("b", &[3600.0]), ("c", &[])]);
        let rows = users(&history);
        assert_eq!(rows.len(), 2, "c used nothing");
        let a = &rows[0];
        assert_eq!((a.user.as_str(), a.cpu_s, a.share), ("a", 10_800.0, Some(0.75)));
        assert_eq!((a.peak_cores, a.peak_at_s), (2.0, 3600.0));
        assert_eq!((a.first_use_s, a.last_use_s, a.active_intervals), (3600.0, 14_400.0, 2));
        // Intervals that the log does not cover have no peak.
        let known = users_where(&history, &|idx| idx != 1);
        assert_eq!(
            (known[0].peak_cores, known[0].peak_at_s, known[0].cpu_s),
            (1.0, 10_800.0, 10_800.0)
        );
        assert_eq!(users_where(&history, &|_| false)[0].peak_at_s, 3600.0);
        assert_eq!(a.by_interval, [(1, 7200.0), (3, 3600.0)]);
        assert_eq!(rows[1].largest_step_share, 1.0);
        let cluster = &clusters(&history)[0];
        assert_eq!((cluster.users, cluster.heaviest_share), (2, Some(0.75)));
        assert_eq!(machines(&history)[0].users[1], (Some("b".to_owned()), 3600.0));
    }

    #[test]
    fn equal_users_are_equal_and_one_among_many_is_not() {
        let of = |amounts: &[f64]| {
            let names: Vec<String> = (0..amounts.len()).map(|who| format!("u{who}")).collect();
            let cells: Vec<[f64; 1]> = amounts.iter().map(|amount| [*amount]).collect();
            let rows = names.iter().zip(&cells).map(|(name, own)| (name.as_str(), &own[..]));
            inequality(&users(&history(&rows.collect::<Vec<_>>())))
        };
        let same = of(&[60.0; 4]).unwrap();
        assert!(same.gini.abs() < 1e-12 && same.users_of_half == 2, "{same:?}");
        assert_eq!(of(&[60.0]), None);
        assert_eq!(of(&[]), None);
    }

    proptest! {
        /// The Gini index is the mean difference of two users over twice the mean; one user fewer
        /// than `users_of_half` would not reach half.
        #[test]
        fn the_gini_index_is_the_mean_difference_of_two_users(
            amounts in prop::collection::vec(1..100_000_u32, 2..20),
        ) {
            let amounts: Vec<f64> = amounts.into_iter().map(f64::from).collect();
            let names: Vec<String> = (0..amounts.len()).map(|who| format!("u{who}")).collect();
            let cells: Vec<[f64; 1]> = amounts.iter().map(|amount| [*amount]).collect();
            let rows = names.iter().zip(&cells).map(|(name, own)| (name.as_str(), &own[..]));
            let found = inequality(&users(&history(&rows.collect::<Vec<_>>()))).unwrap();
            let pairs = amounts.iter().flat_map(|one| amounts.iter().map(move |two| (one - two).abs()));
            let count = f64::from(u32::try_from(amounts.len()).unwrap());
            let total: f64 = amounts.iter().sum();
            let gini = pairs.sum::<f64>() / (2.0 * count * total);
            prop_assert!((found.gini - gini).abs() < 1e-9, "{found:?} {gini}");
            let mut heaviest = amounts.clone();
            heaviest.sort_by(|one, other| other.total_cmp(one));
            let of = |users: usize| heaviest[..users].iter().sum::<f64>();
            let half = usize::try_from(found.users_of_half).unwrap();
            prop_assert!(total / 2.0 <= of(half) && of(half - 1) < total / 2.0);
        }
    }

    #[test]
    fn nothing_used_is_no_row() {
        let history = history(&[("a", &[0.0, 0.0])]);
        assert!(users(&history).is_empty() && machines(&history).is_empty());
        assert_eq!(clusters(&history)[0].share, None);
    }
}

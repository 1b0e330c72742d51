//! The use of machines over time, summed exactly.

use super::fates::Begun;
use super::stretches::{Lengths, shown};
use super::{Endings, Fates, Sample};
use crate::replay::cluster::{Change, Cluster};
use crate::replay::journal::{Entry, Journal, Kind};
use crate::replay::workload::{NONE, Workload};
use crate::units::micros_to_seconds;

/// Sums that are updated while a journal is read.
pub(super) struct Tally {
    pub(super) first_us: i64,
    pub(super) endings: [(u64, i128, i128); crate::replay::journal::KINDS.len()],
    /// Per job: CPU-µs (millionths) used and wasted.
    pub(super) by_job: Vec<[i128; 2]>,
    pub(super) copies: (u64, u64),
    pub(super) condemned_tasks: usize,
    /// Per stretch: CPU-µs in use and present (millionths), task-µs waiting.
    pub(super) stretches: Vec<[i128; 3]>,
    pub(super) lengths: Lengths,
    /// CPU in use and present (millionths) when the share in use was largest.
    pub(super) fullest: [i128; 2],
}

/// The use of machines and the queue between two lines of a journal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    pub(super) in_use: i128,
    pub(super) there: i128,
    pub(super) waiting: i128,
}

impl Tally {
    pub(super) fn new(journal: &Journal, fates: &Fates, sample_count: usize) -> Self {
        let first_us = fates.submit_us.iter().flatten().copied().min().unwrap_or(0);
        let last_us = journal.last_us().unwrap_or(0).max(first_us);
        Self {
            first_us,
            endings: [(0, 0, 0); crate::replay::journal::KINDS.len()],
            by_job: Vec::new(),
            copies: (0, 0),
            condemned_tasks: 0,
            stretches: vec![[0; 3]; sample_count.max(1)],
            lengths: Lengths::new([first_us, last_us], sample_count),
            fullest: [0, 0],
        }
    }

    pub(super) fn read(&mut self, journal: &Journal, workload: &Workload, cluster: &Cluster) {
        let mut capacity = cluster.cpu.clone();
        let mut is_present = cluster.is_present.clone();
        let mut level = Level { there: cpu_there(&capacity, &is_present), ..Level::default() };
        let mut begun: Begun<(i64, bool)> = Begun::new(workload.task_count);
        let mut is_waiting = vec![false; workload.task_count];
        let mut changes = cluster.changes.iter();
        let mut at_us = self.first_us;
        for entry in journal.entries() {
            if at_us < entry.at_us {
                self.spread(at_us, entry.at_us, level);
                at_us = entry.at_us;
            }
            if entry.task == NONE {
                if matches!(
                    entry.kind,
                    Kind::MachineJoin | Kind::MachineLeave | Kind::MachineChange
                ) {
                    let change = changes.next().expect("a journal has the cluster's changes");
                    let machine = change.machine as usize;
                    let there = |capacity: &[u64], is_present: &[bool]| {
                        if is_present[machine] { i128::from(capacity[machine]) } else { 0 }
                    };
                    level.there -= there(&capacity, &is_present);
                    match change.change {
                        Change::Joins => is_present[machine] = true,
                        Change::Leaves => is_present[machine] = false,
                        Change::Capacity(room) => capacity[machine] = room.cpu,
                        Change::Speed(_) | Change::Cores(_) => {}
                    }
                    level.there += there(&capacity, &is_present);
                }
                continue;
            }
            let cpu = i128::from(workload.cpu.get(entry.task));
            let was_waiting = &mut is_waiting[entry.task as usize];
            let wants = waits_after(&entry, *was_waiting);
            level.waiting += i128::from(wants) - i128::from(*was_waiting);
            *was_waiting = wants;
            if entry.kind.is_begin() {
                level.in_use += cpu;
                self.copies.0 += u64::from(entry.kind == Kind::Copy);
                begun.put(entry.task, entry.attempt, (at_us, entry.kind == Kind::Copy));
            } else if entry.kind.is_end() && entry.machine != NONE {
                level.in_use -= cpu;
                let (start_us, is_copy) =
                    begun.take(entry.task, entry.attempt).expect("an attempt that ends has begun");
                let ending = &mut self.endings[entry.kind as usize];
                ending.0 += 1;
                let time_us = i128::from(at_us - start_us);
                ending.1 += time_us;
                ending.2 += time_us * cpu;
                let own = &mut self.by_job[workload.job.get(entry.task) as usize];
                own[0] += time_us * cpu;
                own[1] += if entry.kind.is_waste() { time_us * cpu } else { 0 };
                if entry.kind == Kind::Finish {
                    self.copies.1 += u64::from(is_copy);
                }
            } else if entry.kind == Kind::Condemn {
                self.condemned_tasks += 1;
            }
        }
    }

    /// Adds a level that held over a time span to the stretches of that span.
    pub(super) fn spread(&mut self, from_us: i64, to_us: i64, level: Level) {
        let [in_use, there] = self.fullest;
        // Among equal shares, the first one stays; fractions are compared without division.
        if in_use * level.there < level.in_use * there || there == 0 {
            self.fullest = [level.in_use, level.there];
        }
        for (idx, length_us) in self.lengths.parts(from_us, to_us) {
            let (stretch, length) = (&mut self.stretches[idx], i128::from(length_us));
            stretch[0] += length * level.in_use;
            stretch[1] += length * level.there;
            stretch[2] += length * level.waiting;
        }
    }

    pub(super) fn endings(&self, kind: Kind) -> Endings {
        let (count, time_us, cpu_time) = self.endings[kind as usize];
        Endings { count, time_s: shown(time_us) / 1e6, cpu_s: cpu_seconds(cpu_time) }
    }

    /// The largest share of one job in the used (0) or wasted (1) CPU time.
    pub(super) fn largest_share(&self, which: usize) -> Option<f64> {
        let amounts = || self.by_job.iter().map(|job| job[which]);
        ratio(amounts().max()?, amounts().sum())
    }

    pub(super) fn utilisation(&self) -> Option<f64> {
        let sum = |which: usize| self.stretches.iter().map(|stretch| stretch[which]).sum();
        ratio(sum(0), sum(1))
    }

    /// The largest share of the CPU in use at an instant.
    pub(super) fn fullest_share(&self) -> Option<f64> {
        ratio(self.fullest[0], self.fullest[1])
    }

    pub(super) fn samples(&self) -> Vec<Sample> {
        let of = |([from_us, to_us], stretch): ([i64; 2], &[i128; 3])| Sample {
            time_s: micros_to_seconds(to_us),
            cpu_share: ratio(stretch[0], stretch[1]),
            waiting: ratio(stretch[2], i128::from(to_us - from_us)).unwrap_or(0.0),
        };
        self.lengths.all().zip(&self.stretches).map(of).collect()
    }
}

/// Whether a task waits after an entry about it.
pub(super) fn waits_after(entry: &Entry, was_waiting: bool) -> bool {
    match entry.kind {
        Kind::Submit => true,
        Kind::Copy | Kind::Probe => was_waiting,
        kind if kind.is_end() && entry.machine != NONE => was_waiting,
        _ => false,
    }
}

pub(super) fn cpu_there(capacity: &[u64], is_present: &[bool]) -> i128 {
    let machines = capacity.iter().zip(is_present).filter(|(_, present)| **present);
    machines.map(|(&cpu, _)| i128::from(cpu)).sum()
}

pub(super) fn cpu_seconds(cpu_time: i128) -> f64 {
    shown(cpu_time) / 1e12
}

/// The ratio; `None` if `whole` is 0.
#[expect(clippy::cast_precision_loss, reason = "a share is shown with a few digits")]
pub(super) fn ratio(part: i128, whole: i128) -> Option<f64> {
    (whole != 0).then(|| part as f64 / whole as f64)
}

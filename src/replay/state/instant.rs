//! The state at an instant, and how it changes when attempts start and end.

use std::cell::Cell;

use super::columns::{Attempts, Machines, Phase, Role, Tasks};
use super::last_two::LastTwo;
use super::siblings::Siblings;
use crate::replay::cluster::{Cluster, Drawn};
use crate::replay::detectors::Progress;
use crate::replay::gpus::{FreeGpus, GpuAsk};
use crate::replay::line::Ask;
use crate::replay::placement::steps::{Need, Steps};
use crate::replay::random::{Draws, Purpose};
use crate::replay::room::Room;
use crate::replay::workload::{Column, Fate, NONE, Workload};

/// The state of a replay.
#[derive(Debug)]
#[non_exhaustive]
pub struct State<'a> {
    /// The tasks to run.
    pub workload: &'a Workload,
    /// The machines.
    pub cluster: &'a Cluster,
    /// The time, µs.
    pub now_us: i64,
    /// Machines.
    pub machines: Machines,
    /// Running attempts.
    pub attempts: Attempts,
    /// Tasks.
    pub tasks: Tasks,
    /// The number of attempts that run or are believed to run.
    pub live: u32,
    /// The number of tasks that wait for a machine.
    pub waiting: u32,
    /// The number of machines with room for the least demand of the workload.
    pub roomy: u32,
    /// How often machines have joined, left or changed.
    pub machine_changes: u64,
    /// Machines that gained room since the last time that a rule about running tasks could start
    /// nothing more. Kept only with such a rule.
    pub fresh: Vec<u32>,
    is_fresh: Vec<bool>,
    least: [u64; 2],
    /// The steps of the requested amounts.
    pub(in crate::replay) steps: Steps,
    needs: Column<Need>,
    /// When each task arrives, µs, if that differs from the workload.
    pub(in crate::replay) arrival_us: Vec<i64>,
    /// Only if running times are predicted.
    pub(in crate::replay) last_two: Option<LastTwo>,
    siblings: Siblings,
    noise: Draws,
    slow: Draws,
    rerun: Draws,
}

/// An attempt has at least this share of its task's work, with any noise.
const NOISE_FACTOR_MIN: f64 = 0.1;

impl<'a> State<'a> {
    /// The state before the first event.
    pub(in crate::replay) fn new(workload: &'a Workload, cluster: &'a Cluster, seed: u64) -> Self {
        let count = cluster.machine_count();
        let task_count = workload.task_count;
        let capacity: Vec<Room> = (cluster.cpu.iter().zip(&cluster.memory))
            .map(|(&cpu, &memory)| Room { cpu, memory })
            .collect();
        let free = (capacity.iter().zip(&cluster.is_present))
            .map(|(&capacity, &present)| if present { capacity } else { Room::NOTHING })
            .collect();
        let cores = (0..).take(count).map(|machine| {
            cluster.shared_cores.as_ref().map_or(f64::INFINITY, |cores| cores.get(machine))
        });
        let steps = Steps::of(workload);
        let mut state = Self {
            workload,
            cluster,
            now_us: 0,
            machines: Machines {
                is_present: cluster.is_present.clone(),
                capacity,
                free,
                gpus: cluster.gpus.iter().map(|&gpus| FreeGpus::all(gpus)).collect(),
                speed: cluster.speed.clone(),
                cores: cores.collect(),
                running: vec![0; count],
                first: vec![NONE; count],
            },
            attempts: Attempts::default(),
            tasks: Tasks {
                phase: vec![Phase::Future; task_count],
                started: vec![0; task_count],
                started_before: vec![0; task_count],
                failed: vec![0; task_count],
                events: vec![0; task_count],
                first: vec![NONE; task_count],
                first_start_us: vec![None; task_count],
                end_us: vec![None; task_count],
            },
            live: 0,
            waiting: 0,
            roomy: 0,
            machine_changes: 0,
            fresh: Vec::new(),
            is_fresh: vec![false; count],
            least: workload.least_demand(),
            needs: steps.needs(workload),
            steps,
            arrival_us: Vec::new(),
            last_two: None,
            siblings: Siblings::new(workload),
            noise: Draws::new(seed, Purpose::Noise),
            slow: Draws::new(seed, Purpose::Slow),
            rerun: Draws::new(seed, Purpose::Rerun),
        };
        state.roomy = (0..).take(count).map(|machine| u32::from(state.has_room(machine))).sum();
        state
    }

    /// When an arrived task was submitted, µs.
    pub fn arrival_us(&self, task: u32) -> i64 {
        let moved_us = self.arrival_us.get(task as usize).copied();
        moved_us.unwrap_or_else(|| self.workload.arrival_us.get(task))
    }

    /// Whether tasks may arrive at other times than in the workload.
    pub fn is_closed(&self) -> bool {
        !self.arrival_us.is_empty()
    }

    /// The request of a task, in steps.
    #[inline]
    pub(in crate::replay) fn need(&self, task: u32) -> Need {
        self.needs.get(task)
    }

    /// The least CPU and memory that any task of the workload requests.
    #[inline]
    pub fn least_demand(&self) -> [u64; 2] {
        self.least
    }

    /// Whether the least demand of the workload fits on a machine.
    #[inline]
    pub fn has_room(&self, machine: u32) -> bool {
        self.fits(machine, self.least)
    }

    /// Sets the free capacity of a machine, and whether it is present.
    #[inline]
    pub(in crate::replay) fn set_free(&mut self, machine: u32, free: Room, is_present: bool) {
        let had_room = self.has_room(machine);
        self.machines.free[machine as usize] = free;
        self.machines.is_present[machine as usize] = is_present;
        self.roomy += u32::from(self.has_room(machine));
        self.roomy -= u32::from(had_room);
    }

    /// Marks a machine that gained room.
    pub(in crate::replay) fn mark_fresh(&mut self, machine: u32) {
        if !std::mem::replace(&mut self.is_fresh[machine as usize], true) {
            self.fresh.push(machine);
        }
    }

    /// Clears the marks: a rule can start nothing more on these machines.
    pub(in crate::replay) fn forget_fresh(&mut self) {
        for machine in self.fresh.drain(..) {
            self.is_fresh[machine as usize] = false;
        }
    }

    /// Whether a marked machine has room for `demand` and passes `suits`.
    pub fn has_fresh(&self, demand: [u64; 2], suits: impl Fn(u32) -> bool) -> bool {
        self.fresh.iter().any(|&machine| self.fits(machine, demand) && suits(machine))
    }

    /// Whether `demand` fits on `machine` now.
    #[inline]
    pub fn fits(&self, machine: u32, demand: [u64; 2]) -> bool {
        self.machines.is_present[machine as usize]
            && self.machines.free[machine as usize].holds(demand)
    }

    /// Whether a machine has enough free GPUs for a task; true if no machine records GPUs.
    #[inline]
    pub fn holds_gpus(&self, machine: u32, task: u32) -> bool {
        let ask = self.workload.gpus.get(task);
        let free = self.machines.gpus.get(machine as usize);
        ask.is_none() || free.is_none_or(|free| free.holds(ask))
    }

    /// Takes the GPUs of a task that begins on a machine.
    fn take_gpus(&mut self, slot: u32, machine: usize, task: u32) {
        let ask = self.workload.gpus.get(task);
        let Some(free) = self.machines.gpus.get_mut(machine).filter(|_| !ask.is_none()) else {
            return;
        };
        let picked = free.pick(ask).expect("a task begins where its GPUs are free");
        free.take(picked, ask);
        self.attempts.gpus[slot as usize] = picked;
    }

    /// Frees the GPUs of an attempt that leaves its machine.
    fn give_back_gpus(&mut self, slot: u32, machine: usize, task: u32) {
        let picked = std::mem::take(&mut self.attempts.gpus[slot as usize]);
        if picked != 0 {
            self.machines.gpus[machine].give_back(picked, self.workload.gpus.get(task));
        }
    }

    /// The attempts on a machine.
    pub fn on_machine(&self, machine: u32) -> impl Iterator<Item = u32> + '_ {
        follow(self.machines.first[machine as usize], &self.attempts.next)
    }

    /// The attempts of a task that run or are believed to run.
    pub fn of_task(&self, task: u32) -> impl Iterator<Item = u32> + '_ {
        follow(self.tasks.first[task as usize], &self.attempts.sister)
    }

    /// The slots of the attempts that run or are believed to run.
    pub fn live_slots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.attempts.task).filter(|(_, task)| **task != NONE).map(|(slot, _)| slot)
    }

    /// Whether a task of `job` is on the machine. The job must have tasks that must not share a
    /// machine.
    #[inline]
    pub fn has_sibling(&self, machine: u32, job: u32) -> bool {
        debug_assert!(
            self.siblings.counts(job),
            "only jobs with tasks that keep apart are counted"
        );
        self.siblings.counts.contains_key(&(job, machine))
    }

    /// Whether all tasks request the same.
    pub fn is_uniform(&self) -> bool {
        let Workload { cpu, memory, gpus, .. } = self.workload;
        let is_same = matches!((cpu, memory), (Column::Same(_), Column::Same(_)));
        is_same && *gpus == Column::Same(GpuAsk::NONE)
    }

    /// Whether an attempt of the task is on the machine.
    pub fn has_attempt(&self, machine: u32, task: u32) -> bool {
        self.of_task(task).any(|slot| self.attempts.machine[slot as usize] == machine)
    }

    /// The reported progress of an attempt; none during its start-up, or if its work is endless.
    #[expect(clippy::cast_precision_loss, reason = "work is far below 2^53 µs")]
    pub fn progress(&self, slot: u32) -> Progress {
        let idx = slot as usize;
        let (task, work) = (self.attempts.task[idx], self.attempts.work[idx]);
        let startup = self.workload.startup_us as f64;
        let done = if work.is_finite() { work - self.left_now(slot) - startup } else { 0.0 };
        let shape = self.workload.shape(task);
        let part = if done <= 0.0 { 0.0 } else { (done / (work - startup)).min(1.0) };
        if shape.is_linear() && 0.0 < part {
            return Progress::of_work(done, work - startup).unwrap_or(Progress::ALL);
        }
        Progress::of_value(shape.progress(part))
    }

    /// Progress of an attempt with this much work that has run at speed 1 for some time, reported
    /// linearly and without a start-up.
    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^53 µs")]
    pub(in crate::replay) fn even_progress(work: f64, age_us: i64) -> Progress {
        let left = (work - age_us as f64).max(0.0);
        let done = if work.is_finite() { work - left } else { 0.0 };
        if done <= 0.0 {
            return Progress::of_value(0.0);
        }
        Progress::of_work(done, work).unwrap_or(Progress::ALL)
    }

    /// The work that an attempt still has to do.
    pub(in crate::replay) fn left_now(&self, slot: u32) -> f64 {
        let idx = slot as usize;
        if self.attempts.is_lost[idx] {
            return self.attempts.left[idx];
        }
        let machine = self.attempts.machine[idx];
        let (since_us, rate) = (self.attempts.since_us[idx], self.attempts.rate[idx]);
        // Without a load of other users, there is nothing to store.
        let cell = self.cluster.utilisation.is_some().then(|| &self.attempts.drawn[idx]);
        let known = cell.map(Cell::get).filter(|drawn| drawn.from_us == since_us);
        let mut drawn = known.unwrap_or(Drawn::from(since_us));
        let done = self.cluster.work_until(machine, &mut drawn, self.now_us, rate);
        if let Some(cell) = cell {
            cell.set(drawn);
        }
        (self.attempts.left[idx] - done).max(0.0)
    }

    /// The request of a waiting task, for the [line](crate::replay::line::Line) of an order.
    pub fn ask_of(&self, task: u32) -> Ask {
        let failed = self.tasks.failed[task as usize];
        let estimate_us = match &self.last_two {
            Some(known) => known.of(task),
            None => self.workload.estimate_us(task, failed),
        };
        Ask { demand: self.workload.demand(task), estimate_us }
    }

    /// The work of a task's next attempt, µs at speed 1; infinite if only its user ends it.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "work is far below 2^53 µs")]
    pub(in crate::replay) fn work_of_next(&self, task: u32) -> f64 {
        let (idx, workload) = (task as usize, self.workload);
        let failed = self.tasks.failed[idx];
        let is_last = workload.failures.of(task).len() <= usize::from(failed);
        if is_last && workload.fate.get(task).is_endless() {
            return f64::INFINITY;
        }
        let started = self.tasks.started[idx];
        let mut work_us = workload.try_work_us(task, failed);
        // The first attempt of a try has its recorded work.
        let is_rerun = self.tasks.started_before[idx] < started;
        if is_last && is_rerun && workload.fate.get(task) == Fate::Finishes {
            let siblings = workload.reruns.of(workload.group.get(task));
            if !siblings.is_empty() {
                let drawn = self.rerun.bits(u64::from(task), u64::from(started));
                let lot = drawn % siblings.len() as u64;
                work_us = siblings[usize::try_from(lot).expect("below the length")];
            }
        }
        let is_slow = match workload.extra_chance {
            None => started == 0,
            Some(chance) => self.slow.uniform(u64::from(task), u64::from(started)) < chance,
        };
        if is_slow {
            work_us += workload.extra_us.get(task);
        }
        let work = work_us as f64;
        if workload.noise == 0.0 {
            return work;
        }
        let drawn = self.noise.normal(u64::from(task), u64::from(started));
        work * (1.0 + workload.noise * drawn).max(NOISE_FACTOR_MIN)
    }

    /// Takes a slot for a new attempt, and links it to its machine and task.
    #[inline]
    pub(in crate::replay) fn occupy(
        &mut self,
        task: u32,
        machine: u32,
        role: Role,
        work: f64,
    ) -> u32 {
        let attempts = &mut self.attempts;
        let slot = attempts.empty.pop().unwrap_or_else(|| attempts.grow());
        let idx = slot as usize;
        let (task_idx, machine_idx) = (task as usize, machine as usize);
        let started = &mut self.tasks.started[task_idx];
        *started = started.saturating_add(1);
        attempts.task[idx] = task;
        attempts.machine[idx] = machine;
        attempts.start_us[idx] = self.now_us;
        attempts.role[idx] = role;
        attempts.number[idx] = *started;
        attempts.is_lost[idx] = false;
        attempts.work[idx] = work;
        attempts.left[idx] = work;
        attempts.since_us[idx] = self.now_us;
        attempts.drawn[idx].set(Drawn::from(self.now_us));
        attempts.rate[idx] = self.machines.speed[machine_idx];
        let head = std::mem::replace(&mut self.machines.first[machine_idx], slot);
        attempts.next[idx] = head;
        attempts.previous[idx] = NONE;
        if head != NONE {
            attempts.previous[head as usize] = slot;
        }
        attempts.sister[idx] = std::mem::replace(&mut self.tasks.first[task_idx], slot);
        self.machines.running[machine_idx] += 1;
        let demand = self.workload.demand(task);
        let free = self.machines.free[machine_idx];
        self.set_free(machine, free.without(demand), true);
        self.take_gpus(slot, machine_idx, task);
        self.live += 1;
        if !self.siblings.keeps_apart.is_empty() {
            let job = self.workload.job.get(task);
            if self.siblings.counts(job) {
                self.siblings.come(job, machine);
            }
        }
        slot
    }

    /// Unlinks an attempt from its machine and frees its capacity.
    #[inline]
    pub(in crate::replay) fn leave_machine(&mut self, slot: u32) {
        let idx = slot as usize;
        let machine = self.attempts.machine[idx] as usize;
        let (next, previous) = (self.attempts.next[idx], self.attempts.previous[idx]);
        if previous == NONE {
            self.machines.first[machine] = next;
        } else {
            self.attempts.next[previous as usize] = next;
        }
        if next != NONE {
            self.attempts.previous[next as usize] = previous;
        }
        self.machines.running[machine] -= 1;
        let task = self.attempts.task[idx];
        if !self.siblings.keeps_apart.is_empty() {
            let job = self.workload.job.get(task);
            if self.siblings.counts(job) {
                self.siblings.go(job, self.attempts.machine[idx]);
            }
        }
        let demand = self.workload.demand(task);
        let free = self.machines.free[machine];
        self.set_free(self.attempts.machine[idx], free.with(demand), true);
        self.give_back_gpus(slot, machine, task);
    }

    /// Unlinks an attempt from its task and frees the slot.
    #[inline]
    pub(in crate::replay) fn vacate(&mut self, slot: u32) {
        let idx = slot as usize;
        let task = self.attempts.task[idx] as usize;
        let after = self.attempts.sister[idx];
        if self.tasks.first[task] == slot {
            self.tasks.first[task] = after;
        } else {
            let mut at = self.tasks.first[task];
            while self.attempts.sister[at as usize] != slot {
                at = self.attempts.sister[at as usize];
            }
            self.attempts.sister[at as usize] = after;
        }
        self.attempts.task[idx] = NONE;
        self.attempts.generation[idx] = self.attempts.generation[idx].wrapping_add(1);
        self.attempts.empty.push(slot);
        self.live -= 1;
    }
}

fn follow(first: u32, next: &[u32]) -> impl Iterator<Item = u32> + '_ {
    std::iter::successors((first != NONE).then_some(first), move |&slot| {
        let after = next[slot as usize];
        (after != NONE).then_some(after)
    })
}

//! Fragmentation of GPUs: free GPUs that tasks cannot use.
//!
//! In: a journal, and its workload and cluster. Out: exact integrals of the free GPUs, of those
//! that no waiting task can use, and of the published measure.
//!
//! The published measure (Weng et al., USENIX ATC 2023, "Beware of Fragmentation") is: for a
//! machine and a task, the free GPUs that the task cannot use; for a machine, the mean over the
//! tasks of the workload; for a cluster, the sum over machines. As in the paper, tasks without GPUs
//! are included, and both CPU and memory count. (The paper's simulator ignores memory and uses only
//! the most frequent shapes of tasks.)
//!
//! ```text
//!  left    GPU 0: 0.5    GPU 1: 1.0       cannot be used by a task that requests
//!                                         0.7 of one: 0.5      2 whole ones: 1.5
//!                                         no GPU: 1.5          1 and too much CPU: 1.5
//! ```

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::stretches::{Lengths, shown};
use super::tally::{ratio, waits_after};
use crate::replay::cluster::{Change, Cluster};
use crate::replay::gpus::{FreeGpus, GpuAsk, MILLI};
use crate::replay::journal::{Entry, Journal, Kind};
use crate::replay::room::Room;
use crate::replay::workload::{NONE, Workload};
use crate::units::micros_to_seconds;

/// Why a task cannot use free GPUs, in the order of the amounts.
pub const CAUSES: [&str; 5] = ["no_gpu", "model", "gpu", "cpu_or_memory", "both"];

/// Free GPU time, GPU-s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuFragmentation {
    /// On present machines.
    pub free_gpu_s: f64,
    /// The part that no waiting task could use, while tasks that request GPUs waited.
    pub fragmented_gpu_s: f64,
    /// Its share; `None` if no GPU was free.
    pub fragmented_gpu_share: Option<f64>,
    /// The part that a task of the workload could not use, as the mean over tasks.
    pub expected_gpu_s: f64,
    /// Its share; `None` if no GPU was free.
    pub expected_gpu_share: Option<f64>,
    /// `expected_gpu_s` by cause, in the order of [`CAUSES`].
    pub by_cause_gpu_s: [f64; 5],
    /// The same numbers over time, in equal stretches.
    pub samples: Vec<GpuSample>,
}

/// Free GPUs, the mean over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuSample {
    /// The end of the stretch, s.
    pub time_s: f64,
    /// Free GPUs.
    pub free: f64,
    /// Free GPUs that no waiting task could use.
    pub fragmented: f64,
    /// Free GPUs that a task of the workload could not use, as the mean over tasks.
    pub expected: f64,
}

/// The request of a task. Shapes are in order of their share of a GPU: the first that fits a
/// machine leaves the smallest part of the free GPUs unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Shape {
    ask: GpuAsk,
    demand: [u64; 2],
}

/// The different requests of the tasks that request GPUs.
struct Shapes {
    all: Vec<Shape>,
    /// The number of tasks of each shape.
    counts: Vec<u64>,
    /// The shape of each task; `NONE` if it requests no GPU.
    of_task: Vec<u32>,
    tasks: u64,
}

impl Shapes {
    fn of(workload: &Workload) -> Self {
        let shape = |task| Shape { ask: workload.gpus.get(task), demand: workload.demand(task) };
        let tasks = || (0..).take(workload.task_count).map(shape);
        let known: FxHashSet<Shape> = tasks().filter(|shape| !shape.ask.is_none()).collect();
        let mut all: Vec<Shape> = known.into_iter().collect();
        all.sort_unstable_by_key(|Shape { ask, demand }| {
            (ask.milli, ask.count, ask.models, *demand)
        });
        let places: FxHashMap<Shape, u32> = all.iter().copied().zip(0..).collect();
        let of_task: Vec<u32> =
            tasks().map(|shape| places.get(&shape).copied().unwrap_or(NONE)).collect();
        let mut counts = vec![0; all.len()];
        for &shape in of_task.iter().filter(|&&shape| shape != NONE) {
            counts[shape as usize] += 1;
        }
        Self { all, counts, of_task, tasks: workload.task_count as u64 }
    }

    fn without_gpus(&self) -> u64 {
        self.tasks - self.counts.iter().sum::<u64>()
    }
}

/// Thousandths of GPUs at an instant, or summed over µs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Level {
    free: i128,
    fragmented: i128,
    /// By cause, multiplied by the number of tasks to which it applies.
    by_cause: [i128; 5],
}

impl Level {
    fn add(&mut self, other: &Self, times: i128) {
        self.free += times * other.free;
        self.fragmented += times * other.fragmented;
        for (own, others) in self.by_cause.iter_mut().zip(other.by_cause) {
            *own += times * others;
        }
    }
}

/// The state of a machine.
struct Machine {
    capacity: Room,
    held: [u64; 2],
    gpus: FreeGpus,
    is_present: bool,
    /// The free GPUs, without the part that depends on the waiting tasks.
    level: Level,
    /// The first waiting shape that fits.
    fitting: Option<u32>,
}

impl Machine {
    fn free_milli(&self) -> u64 {
        if self.is_present { self.gpus.milli().iter().copied().map(u64::from).sum() } else { 0 }
    }

    /// The free thousandths of the GPUs that have less than `milli` free, summed.
    fn below(&self, milli: u16) -> u64 {
        let left = self.gpus.milli().iter().filter(|&&left| left < milli);
        left.copied().map(u64::from).sum()
    }

    fn has_room(&self, demand: [u64; 2]) -> bool {
        let left = |has: u64, held: u64| has.saturating_sub(held);
        let memory = self.capacity.memory.map(|has| left(has, self.held[1]));
        Room { cpu: left(self.capacity.cpu, self.held[0]), memory }.holds(demand)
    }

    fn fits(&self, shape: &Shape) -> bool {
        self.is_present && self.gpus.holds(shape.ask) && self.has_room(shape.demand)
    }

    /// The index of the cause, and the amount of the free GPUs that a task cannot use.
    fn lost_to(&self, shape: &Shape) -> (usize, u64) {
        if !self.gpus.is_of_model(shape.ask) {
            return (1, self.free_milli());
        }
        match (self.gpus.holds(shape.ask), self.has_room(shape.demand)) {
            (true, true) => (2, self.below(shape.ask.milli)),
            (false, true) => (2, self.free_milli()),
            (true, false) => (3, self.free_milli()),
            (false, false) => (4, self.free_milli()),
        }
    }

    /// The free GPUs that no waiting task can use.
    fn fragmented(&self, shapes: &Shapes) -> i128 {
        let fitting = self.fitting.map(|shape| &shapes.all[shape as usize]);
        i128::from(fitting.map_or_else(|| self.free_milli(), |shape| self.below(shape.ask.milli)))
    }

    fn weigh(&self, shapes: &Shapes) -> Level {
        let free = i128::from(self.free_milli());
        let mut level = Level { free, ..Level::default() };
        if free == 0 {
            return level;
        }
        level.by_cause[0] = free * i128::from(shapes.without_gpus());
        for (shape, &count) in shapes.all.iter().zip(&shapes.counts) {
            let (cause, lost) = self.lost_to(shape);
            level.by_cause[cause] += i128::from(lost) * i128::from(count);
        }
        level
    }
}

/// Free GPUs and waiting tasks, while a journal is read.
struct Scene<'a> {
    shapes: &'a Shapes,
    workload: &'a Workload,
    machines: Vec<Machine>,
    /// The GPUs that attempts hold, and their machine.
    held: FxHashMap<(u32, u16), (u32, u64)>,
    is_waiting: Vec<bool>,
    waiting: Vec<u32>,
    /// Shapes with a waiting task.
    present: BTreeSet<u32>,
    /// Machines and shapes that have changed since the last check.
    changed: BTreeSet<u32>,
    changed_shapes: BTreeSet<u32>,
    level: Level,
}

impl<'a> Scene<'a> {
    fn new(shapes: &'a Shapes, workload: &'a Workload, cluster: &Cluster) -> Self {
        let machines = cluster.gpus.iter().enumerate().map(|(idx, &gpus)| Machine {
            capacity: Room { cpu: cluster.cpu[idx], memory: cluster.memory[idx] },
            held: [0; 2],
            gpus: FreeGpus::all(gpus),
            is_present: cluster.is_present[idx],
            level: Level::default(),
            fitting: None,
        });
        let machines: Vec<Machine> = machines.collect();
        Self {
            shapes,
            workload,
            held: FxHashMap::default(),
            is_waiting: vec![false; workload.task_count],
            waiting: vec![0; shapes.all.len()],
            present: BTreeSet::new(),
            changed: (0..).take(machines.len()).collect(),
            changed_shapes: BTreeSet::new(),
            machines,
            level: Level::default(),
        }
    }

    fn take(&mut self, entry: &Entry, change: Option<Change>) {
        if entry.task == NONE {
            if let Some(change) = change {
                self.change(entry.machine, change);
            }
            return;
        }
        self.wait(entry);
        let key = (entry.task, entry.attempt);
        if entry.kind.is_begin() {
            self.begin(entry);
        } else if entry.kind.is_end()
            && entry.machine != NONE
            && let Some(held) = self.held.remove(&key)
        {
            self.end(entry.task, held);
        }
    }

    fn wait(&mut self, entry: &Entry) {
        let was_waiting = &mut self.is_waiting[entry.task as usize];
        let waits = waits_after(entry, *was_waiting);
        let shape = self.shapes.of_task[entry.task as usize];
        if std::mem::replace(was_waiting, waits) == waits || shape == NONE {
            return;
        }
        let count = &mut self.waiting[shape as usize];
        *count = if waits { *count + 1 } else { *count - 1 };
        self.changed_shapes.insert(shape);
    }

    fn begin(&mut self, entry: &Entry) {
        let (ask, demand) = (self.workload.gpus.get(entry.task), self.workload.demand(entry.task));
        let machine = &mut self.machines[entry.machine as usize];
        let picked = machine.gpus.pick(ask).expect("a task begins where its GPUs are free");
        machine.gpus.take(picked, ask);
        machine.held.iter_mut().zip(demand).for_each(|(held, amount)| *held += amount);
        self.held.insert((entry.task, entry.attempt), (entry.machine, picked));
        self.changed.insert(entry.machine);
    }

    fn end(&mut self, task: u32, (place, picked): (u32, u64)) {
        let machine = &mut self.machines[place as usize];
        machine.gpus.give_back(picked, self.workload.gpus.get(task));
        let demand = self.workload.demand(task);
        machine.held.iter_mut().zip(demand).for_each(|(held, amount)| *held -= amount);
        self.changed.insert(place);
    }

    fn change(&mut self, place: u32, change: Change) {
        let machine = &mut self.machines[place as usize];
        match change {
            Change::Joins => machine.is_present = true,
            Change::Capacity(room) => machine.capacity = room,
            Change::Leaves => {
                machine.is_present = false;
                // Its attempts are lost immediately, even if the scheduler notices later.
                let lost: Vec<_> = self.held.extract_if(|_, (on, _)| *on == place).collect();
                for ((task, _), held) in lost {
                    self.end(task, held);
                }
            }
            Change::Speed(_) | Change::Cores(_) => {}
        }
        self.changed.insert(place);
    }

    /// Updates the sums at the end of an instant.
    fn settle(&mut self) -> Level {
        let (mut came, mut went) = (Vec::new(), Vec::new());
        for shape in std::mem::take(&mut self.changed_shapes) {
            let waits = 0 < self.waiting[shape as usize];
            match (waits, self.present.contains(&shape)) {
                (true, false) => came.push(shape),
                (false, true) => went.push(shape),
                _ => continue,
            }
            if waits {
                self.present.insert(shape)
            } else {
                self.present.remove(&shape)
            };
        }
        if !came.is_empty() || !went.is_empty() {
            for place in (0..).take(self.machines.len()) {
                self.look(place, &came, &went);
            }
        }
        for place in std::mem::take(&mut self.changed) {
            let own = self.machines[place as usize].weigh(self.shapes);
            let before = std::mem::replace(&mut self.machines[place as usize].level, own);
            self.level.add(&own, 1);
            self.level.add(&before, -1);
            self.find(place);
        }
        if self.present.is_empty() { Level { fragmented: 0, ..self.level } } else { self.level }
    }

    /// Updates a machine after shapes came or went.
    fn look(&mut self, place: u32, came: &[u32], went: &[u32]) {
        let machine = &self.machines[place as usize];
        let fits = |shape: &&u32| machine.fits(&self.shapes.all[**shape as usize]);
        if machine.fitting.is_some_and(|fitting| went.contains(&fitting)) {
            return self.find(place);
        }
        let better = came.iter().filter(|&&shape| machine.fitting.is_none_or(|own| shape < own));
        if let Some(&shape) = better.clone().find(fits) {
            self.put(place, Some(shape));
        }
    }

    /// Finds the first waiting shape that fits a machine.
    fn find(&mut self, place: u32) {
        let machine = &self.machines[place as usize];
        let fits = |shape: &&u32| machine.fits(&self.shapes.all[**shape as usize]);
        let found = self.present.iter().find(fits).copied();
        self.put(place, found);
    }

    fn put(&mut self, place: u32, fitting: Option<u32>) {
        let machine = &mut self.machines[place as usize];
        machine.fitting = fitting;
        let now = machine.fragmented(self.shapes);
        let before = std::mem::replace(&mut machine.level.fragmented, now);
        self.level.fragmented += now - before;
    }
}

/// Sums up the free GPUs over a replay, from the first submit to the last event, in `sample_count`
/// stretches; `None` if no machine records GPUs, or no task requests any.
pub fn gpu_fragmentation(
    journal: &Journal,
    workload: &Workload,
    cluster: &Cluster,
    sample_count: usize,
) -> Option<GpuFragmentation> {
    if cluster.gpus.is_empty() || !workload.has_gpus() {
        return None;
    }
    let shapes = Shapes::of(workload);
    let submits =
        journal.entries().filter(|entry| matches!(entry.kind, Kind::Submit | Kind::Refuse));
    let first_us = submits.map(|entry| entry.at_us).min().unwrap_or(0);
    let last_us = journal.last_us().unwrap_or(0).max(first_us);
    let lengths = Lengths::new([first_us, last_us], sample_count);
    let mut sums = vec![Level::default(); sample_count.max(1)];
    let mut scene = Scene::new(&shapes, workload, cluster);
    let mut changes = cluster.changes.iter();
    let mut at_us = first_us;
    for entry in journal.entries() {
        if at_us < entry.at_us {
            let level = scene.settle();
            for (idx, length_us) in lengths.parts(at_us, entry.at_us) {
                sums[idx].add(&level, i128::from(length_us));
            }
            at_us = entry.at_us;
        }
        let is_change =
            matches!(entry.kind, Kind::MachineJoin | Kind::MachineLeave | Kind::MachineChange);
        let change =
            is_change.then(|| changes.next().expect("a journal has the cluster's changes"));
        scene.take(&entry, change.map(|change| change.change));
    }
    Some(of_sums(&sums, lengths, shapes.tasks))
}

fn of_sums(sums: &[Level], lengths: Lengths, tasks: u64) -> GpuFragmentation {
    let mut all = Level::default();
    for sum in sums {
        all.add(sum, 1);
    }
    let (unit, tasks) = (i128::from(MILLI), i128::from(tasks));
    let expected = |level: &Level| level.by_cause.iter().sum::<i128>();
    let gpu_s = |sum: i128| shown(sum) / shown(unit * 1_000_000);
    let of_tasks = |sum: i128| ratio(sum, unit * tasks * 1_000_000).unwrap_or(0.0);
    let sample = |([from_us, to_us], sum): ([i64; 2], &Level)| {
        let length = unit * i128::from(to_us - from_us);
        let mean = |sum: i128, over: i128| ratio(sum, over).unwrap_or(0.0);
        GpuSample {
            time_s: micros_to_seconds(to_us),
            free: mean(sum.free, length),
            fragmented: mean(sum.fragmented, length),
            expected: mean(expected(sum), length * tasks),
        }
    };
    GpuFragmentation {
        free_gpu_s: gpu_s(all.free),
        fragmented_gpu_s: gpu_s(all.fragmented),
        fragmented_gpu_share: ratio(all.fragmented, all.free),
        expected_gpu_s: of_tasks(expected(&all)),
        expected_gpu_share: ratio(expected(&all), all.free * tasks),
        by_cause_gpu_s: all.by_cause.map(of_tasks),
        samples: lengths.all().zip(sums).map(sample).collect(),
    }
}

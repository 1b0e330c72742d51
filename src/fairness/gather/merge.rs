//! Merges the buckets of all lakes, with names and machines sorted.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::fleet::{Fleet, capacity};
use super::fold::add;
use super::interned::Interned;
use super::parts::{Key, Sums};
use super::people::{Known, People};
use super::{By, Cluster, Counts, Machines, Part, Plan};
use crate::fairness::accounts::Tree;
use crate::fairness::history::{AttemptEnd, Capacity, Cell, Grid, History, Machine, Person};
use crate::sources::zone::Zone;
use crate::studies::meter::Resource;
use crate::studies::monthly::Calendar;
use crate::units::CpuTime;

/// The key of machines, and their order.
type MachineKey = (u32, Option<i64>, Option<String>, Option<u32>, Option<u32>, Option<String>);

/// The sum of all parts so far; users and machines are in order of arrival.
#[derive(Default)]
pub(super) struct Merger {
    people: People,
    machines: Interned<MachineKey>,
    /// By position in `machines`.
    known: Vec<Machine>,
    cells: FxHashMap<Key, Sums>,
    on_machines: BTreeMap<(u32, u32), CpuTime>,
    ends: Vec<AttemptEnd>,
    counts: Counts,
}

impl Merger {
    /// Adds a part; sums are exact, so the order of the parts does not matter.
    pub(super) fn add(&mut self, fleet: &Fleet, plan: &Plan, part: Part) {
        let people = self.people.add(&part.people);
        let mut machines: Vec<u32> = Vec::with_capacity(part.machines.all.len());
        for (id, site) in &part.machines.all {
            let known = id.and_then(|id| fleet.known.get(&id)).cloned().unwrap_or_default();
            let id = id.filter(|_| plan.machines == Machines::Each);
            let machine = Machine { cluster: part.cluster, id, site: site.clone(), ..known };
            let position = self.machines.put(&key_of(&machine));
            if self.known.len() == position as usize {
                self.known.push(machine);
            }
            machines.push(position);
        }
        part.cells.iter().for_each(|(&(interval, who, machine), &sums)| {
            let key = (interval, people[who as usize], machines[machine as usize]);
            add(&mut self.cells, key, sums);
        });
        part.on_machines.into_iter().for_each(|((machine, who), cpu)| {
            let key = (machines[machine as usize], people[who as usize]);
            *self.on_machines.entry(key).or_default() += cpu;
        });
        let owned = |end: AttemptEnd| AttemptEnd { who: people[end.who as usize], ..end };
        self.ends.extend(part.ends.into_iter().map(owned));
        self.counts.attempts += part.counts.attempts;
        self.counts.open_attempts += part.counts.open_attempts;
        self.counts.closed_with_job += part.counts.closed_with_job;
        self.counts.closed_with_job_cpu += part.counts.closed_with_job_cpu;
        self.counts.without_request += part.counts.without_request;
        self.counts.with_cpu_time += part.counts.with_cpu_time;
        self.counts.without_name += part.counts.without_name;
    }

    /// The number of cells so far.
    pub(super) fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// The number of ends of attempts.
    pub(super) fn end_count(&self) -> usize {
        self.ends.len()
    }

    /// The history, in orders that do not depend on the order of the parts.
    pub(super) fn history(
        self,
        clusters: &[Cluster],
        fleets: &[Fleet],
        plan: &Plan,
    ) -> (History, Counts) {
        let mut counts = self.counts;
        let (people, people_places) = self.people(&plan.grid);
        let has_come = |known: &&Known| plan.grid.since(known.first.at_us).is_some();
        let is_idle = |known: &&Known| has_come(known) && !known.has_run;
        counts.users_without_attempts = self.people.known.iter().filter(is_idle).count() as u64;
        let (keys, machine_places) = in_order(&self.machines.all);
        let mut ends = self.ends;
        for end in &mut ends {
            end.who = people_places[end.who as usize];
        }
        ends.sort_by(|one, other| {
            (one.interval, one.who)
                .cmp(&(other.interval, other.who))
                .then(one.wait_s.total_cmp(&other.wait_s))
                .then(one.run_s.total_cmp(&other.run_s))
                .then(one.suspended_s.total_cmp(&other.suspended_s))
        });
        let place = |((machine, who), cpu): ((u32, u32), CpuTime)| {
            (machine_places[machine as usize], people_places[who as usize], cpu)
        };
        let mut on_machines: Vec<(u32, u32, CpuTime)> =
            self.on_machines.into_iter().map(place).collect();
        on_machines.sort_unstable();
        let history = History {
            clusters: clusters.iter().map(|cluster| cluster.name.clone()).collect(),
            tree: if plan.by == By::User { Tree::of_groups(&people) } else { Tree::flat(&people) },
            people,
            machines: keys.iter().map(|&at| self.known[at].clone()).collect(),
            grid: plan.grid,
            unix_us: unix_us(clusters),
            shown_from: plan.shown_from,
            cells: cells(self.cells, &people_places, &machine_places),
            on_machines,
            ends,
            capacity: charged(capacity(fleets, &plan.grid), plan.meter.resource()),
            keeps_ends: plan.keeps_ends,
            keeps_machines: plan.keeps_machines,
        };
        (history, counts)
    }
}

impl Merger {
    /// The users who appear by the end of the grid, sorted by name, and the place of each name
    /// among them. Other users have no usage in the grid.
    fn people(&self, grid: &Grid) -> (Vec<Person>, Vec<u32>) {
        let (order, _) = in_order(&self.people.names.all);
        let mut places = vec![0; order.len()];
        let mut people = Vec::new();
        for at in order {
            let known = &self.people.known[at];
            let Some(since) = grid.since(known.first.at_us) else { continue };
            places[at] = u32::try_from(people.len()).expect("fewer than 2^32 names");
            let name = self.people.names.all[at].clone();
            let group = known.group.clone();
            people.push(Person { name, group, since, last_use_us: known.last_use_us });
        }
        (people, places)
    }
}

/// The positions of values in ascending order, and the place of each value in it.
fn in_order<T: Ord>(values: &[T]) -> (Vec<usize>, Vec<u32>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].cmp(&values[other]));
    let mut places = vec![0; values.len()];
    for (place, &at) in (0..).zip(&order) {
        places[at] = place;
    }
    (order, places)
}

/// The Unix time at clock time 0, µs; `None` if a cluster has no date, or if dates differ.
fn unix_us(clusters: &[Cluster]) -> Option<i64> {
    let utc = Zone::utc();
    let mut all = clusters.iter().map(|cluster| {
        let calendar = Calendar::of(&cluster.lake, Some(&utc))?;
        calendar.begin_us.checked_sub(cluster.shift_us)
    });
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

fn key_of(machine: &Machine) -> MachineKey {
    let bits = |number: Option<f32>| number.map(f32::to_bits);
    let Machine { cluster, id, platform, cpu, memory, site } = machine.clone();
    (cluster, id, platform, bits(cpu), bits(memory), site)
}

fn cells(sums: FxHashMap<Key, Sums>, people: &[u32], machines: &[u32]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = sums
        .into_iter()
        .map(|((interval, who, machine), sums)| Cell {
            interval,
            who: people[who as usize],
            machine: machines[machine as usize],
            cpu: sums.cpu,
            memory: sums.memory,
            waiting: sums.waiting,
            held: sums.held,
            held_memory: sums.held_memory,
        })
        .collect();
    cells.sort_unstable_by_key(|cell| (cell.interval, cell.who, cell.machine));
    cells
}

/// The capacity of the charged resource, instead of that of CPU.
fn charged(capacity: Vec<Capacity>, resource: Resource) -> Vec<Capacity> {
    let of = |own: Capacity| match resource {
        // For GPUs, the capacity of machines was read as that of GPUs.
        Resource::Cpu | Resource::Gpu => own,
        Resource::Memory => Capacity { cpu: own.memory, ..own },
    };
    capacity.into_iter().map(of).collect()
}

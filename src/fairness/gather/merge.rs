//! The buckets of all lakes put together: names in their order, machines in theirs.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::fleet::{Fleet, capacity};
use super::{By, Cluster, Counts, Key, Machines, Part, Plan, Sums, add};
use crate::fairness::accounts::Tree;
use crate::fairness::history::{Cell, History, Machine, Person, TaskEnd};
use crate::units::CpuTime;

/// What tells machines apart, and their order.
type MachineKey = (u32, Option<i64>, Option<String>, Option<u32>, Option<u32>, Option<String>);

/// Puts the parts together.
pub(super) fn merge(
    clusters: &[Cluster],
    fleets: &[Fleet],
    plan: &Plan,
    parts: &[Part],
) -> (History, Counts) {
    let mut names: Vec<&String> = parts.iter().flat_map(|part| &part.names.all).collect();
    names.sort();
    names.dedup();
    let mut people: Vec<Person> =
        names.iter().map(|name| Person { name: (*name).clone(), group: None }).collect();
    let machine_of = |part: &Part, id: Option<i64>, site: &Option<String>| {
        let fleet = &fleets[part.cluster as usize];
        let known = id.and_then(|id| fleet.known.get(&id)).cloned().unwrap_or_default();
        let id = id.filter(|_| plan.machines == Machines::Each);
        Machine { cluster: part.cluster, id, site: site.clone(), ..known }
    };
    let own_machines = |part: &Part| -> Vec<Machine> {
        part.machines.all.iter().map(|(id, site)| machine_of(part, *id, site)).collect()
    };
    let machines: BTreeMap<MachineKey, Machine> =
        parts.iter().flat_map(own_machines).map(|machine| (key_of(&machine), machine)).collect();
    let keys: Vec<&MachineKey> = machines.keys().collect();
    let mut all = All::default();
    for part in parts {
        let places = Places {
            people: part.names.all.iter().map(|name| place(names.binary_search(&name))).collect(),
            machines: own_machines(part)
                .iter()
                .map(|machine| place(keys.binary_search(&&key_of(machine))))
                .collect(),
        };
        all.add(part, &places);
    }
    for (who, own) in all.groups {
        // The first by name of equals.
        let most = own.into_iter().rev().max_by_key(|group| group.1);
        people[who as usize].group = most.map(|group| group.0);
    }
    let mut counts = all.counts;
    let submitted: BTreeSet<&String> = parts.iter().flat_map(|part| &part.submitted).collect();
    let idle = submitted.into_iter().filter(|user| names.binary_search(user).is_err());
    counts.users_without_attempts = idle.count() as u64;
    let mut ends = all.ends;
    ends.sort_by(|one, other| {
        (one.interval, one.who)
            .cmp(&(other.interval, other.who))
            .then(one.wait_s.total_cmp(&other.wait_s))
            .then(one.run_s.total_cmp(&other.run_s))
    });
    let history = History {
        clusters: clusters.iter().map(|cluster| cluster.name.clone()).collect(),
        tree: if plan.by == By::User { Tree::of_groups(&people) } else { Tree::flat(&people) },
        people,
        machines: machines.into_values().collect(),
        grid: plan.grid,
        shown_from: plan.shown_from,
        cells: in_order(all.cells),
        ends,
        capacity: capacity(fleets, &plan.grid),
    };
    (history, counts)
}

fn key_of(machine: &Machine) -> MachineKey {
    let bits = |number: Option<f32>| number.map(f32::to_bits);
    let Machine { cluster, id, platform, cpu, memory, site } = machine.clone();
    (cluster, id, platform, bits(cpu), bits(memory), site)
}

fn place(found: Result<usize, usize>) -> u32 {
    let idx = found.expect("everything of every part is listed");
    u32::try_from(idx).expect("there are fewer than 2^32 users and machines")
}

/// Positions of a part's users and machines among all.
struct Places {
    people: Vec<u32>,
    machines: Vec<u32>,
}

/// What all parts have added.
#[derive(Default)]
struct All {
    cells: FxHashMap<Key, Sums>,
    groups: BTreeMap<u32, BTreeMap<String, CpuTime>>,
    ends: Vec<TaskEnd>,
    counts: Counts,
}

impl All {
    fn add(&mut self, part: &Part, places: &Places) {
        let (people, machines) = (&places.people, &places.machines);
        part.cells.iter().for_each(|(&(interval, who, machine), &sums)| {
            let key = (interval, people[who as usize], machines[machine as usize]);
            add(&mut self.cells, key, sums);
        });
        part.groups.iter().for_each(|((who, group), cpu)| {
            let own = self.groups.entry(people[*who as usize]).or_default();
            *own.entry(group.clone()).or_default() += *cpu;
        });
        let owned = |end: &TaskEnd| TaskEnd { who: people[end.who as usize], ..*end };
        self.ends.extend(part.ends.iter().map(owned));
        self.counts.attempts += part.counts.attempts;
        self.counts.open_attempts += part.counts.open_attempts;
        self.counts.without_request += part.counts.without_request;
        self.counts.without_name += part.counts.without_name;
    }
}

fn in_order(cells: FxHashMap<Key, Sums>) -> Vec<Cell> {
    let mut cells: Vec<Cell> = cells
        .into_iter()
        .map(|((interval, who, machine), sums)| Cell {
            interval,
            who,
            machine,
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

//! Compares every placement with the simplest search, over random starts and ends.

use proptest::prelude::*;

use super::super::state::State;
use super::finder::Finder;
use super::*;
use crate::replay::cluster::Cluster;
use crate::replay::state::Role;
use crate::replay::workload::{Column, UNITS, Workload};

/// The machine that `kind` chooses, found by checking all machines; for the work queue in the order
/// of `line`.
fn plainest(
    kind: Placement,
    state: &State<'_>,
    task: u32,
    line: &[u32],
    suits: &dyn Fn(u32) -> bool,
) -> Option<u32> {
    let demand = state.workload.demand(task);
    let serves = |machine: &u32| {
        let job = state.workload.job.get(task);
        let is_alone = state
            .on_machine(*machine)
            .all(|slot| state.workload.job.get(state.attempts.task[slot as usize]) != job);
        let keeps_apart = state.workload.is_apart.get(task);
        state.fits(*machine, demand) && (is_alone || !keeps_apart) && suits(*machine)
    };
    let all = (0..).take(state.machines.free.len()).filter(serves);
    let left = |machine: &u32| ranks::left_share(state, *machine, demand);
    match kind {
        Placement::FirstFree => line.iter().copied().find(serves),
        Placement::FirstFit => all.into_iter().next(),
        Placement::BestFit => all.min_by(|a, b| left(a).total_cmp(&left(b)).then_with(|| a.cmp(b))),
        Placement::WorstFit => {
            all.min_by(|a, b| left(b).total_cmp(&left(a)).then_with(|| a.cmp(b)))
        }
        Placement::RandomFit => unreachable!("compared by what it may name"),
    }
}

/// Updates the work queue: freed machines go to the back, full ones leave.
fn stand_in_line(line: &mut Vec<u32>, state: &State<'_>, changed: u32) {
    line.retain(|&machine| state.has_room(machine));
    if !line.contains(&changed) && state.has_room(changed) {
        line.push(changed);
    }
}

#[derive(Clone, Debug)]
struct Step {
    ends: bool,
    which: usize,
    unsuited: Option<u32>,
}

fn step() -> impl Strategy<Value = Step> {
    let unsuited = prop::option::weighted(0.2, 0_u32..40);
    (prop::bool::weighted(0.45), 0_usize..1_000, unsuited)
        .prop_map(|(ends, which, unsuited)| Step { ends, which, unsuited })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn placements_name_what_a_look_at_all_machines_names(
        kind in prop::sample::select(PLACEMENTS.map(|(_, kind)| kind).to_vec()),
        machines in prop::collection::vec((1_u64..5, prop::option::weighted(0.8, 1_u64..5)), 1..40),
        parts in prop::sample::select(vec![1_u64, 16]),
        tasks in prop::collection::vec((0_u64..64, 0_u64..64, 0_u32..3, prop::bool::weighted(0.3)), 1..60),
        steps in prop::collection::vec(step(), 1..300),
    ) {
        // Either few different demands, or more than there are steps.
        let of_parts = |part: u64| (part * parts / 16) * UNITS / parts;
        let mut workload = Workload::plain(tasks.len(), Column::Same(1));
        workload.cpu = Column::Each(tasks.iter().map(|task| of_parts(task.0)).collect());
        workload.memory = Column::Each(tasks.iter().map(|task| of_parts(task.1)).collect());
        workload.job = Column::Each(tasks.iter().map(|task| task.2).collect());
        workload.is_apart = Column::Each(tasks.iter().map(|task| task.3).collect());
        let workload = workload.check().expect("valid input");
        let mut cluster = Cluster::of_speeds(vec![1.0; machines.len()]);
        cluster.cpu = machines.iter().map(|machine| machine.0 * UNITS).collect();
        let of_memory = |machine: &(u64, Option<u64>)| machine.1.map(|memory| memory * UNITS);
        cluster.memory = machines.iter().map(of_memory).collect();
        let cluster = cluster.check().expect("valid input").0;
        let mut state = State::new(&workload, &cluster, 1);
        let mut finder = Finder::new(kind, 1, &state);
        let mut line: Vec<u32> = Vec::new();
        for machine in (0..).take(machines.len()) {
            stand_in_line(&mut line, &state, machine);
        }
        for step in steps {
            let running: Vec<u32> = state.live_slots().collect();
            if step.ends {
                if let Some(&slot) = running.get(step.which % running.len().max(1)) {
                    let machine = state.attempts.machine[slot as usize];
                    state.leave_machine(slot);
                    state.vacate(slot);
                    finder.freed(&state, machine);
                    stand_in_line(&mut line, &state, machine);
                }
                continue;
            }
            let task = u32::try_from(step.which % tasks.len()).expect("a small number");
            let suits = |machine: u32| step.unsuited != Some(machine);
            let found = finder.find(&state, task, step.unsuited.is_some().then_some(&suits));
            if kind == Placement::RandomFit {
                let first = plainest(Placement::FirstFit, &state, task, &line, &suits);
                prop_assert_eq!(found.is_some(), first.is_some());
                let is_good = |machine: u32| {
                    plainest(Placement::FirstFit, &state, task, &line, &|other| other == machine && suits(other)).is_some()
                };
                prop_assert!(found.is_none_or(is_good));
            } else {
                prop_assert_eq!(found, plainest(kind, &state, task, &line, &suits));
            }
            if let Some(machine) = found {
                state.occupy(task, machine, Role::Original, 1.0);
                finder.taken(&state, machine);
                stand_in_line(&mut line, &state, machine);
            }
        }
    }

    #[test]
    fn a_random_fit_is_even(seed in 0_u64..50) {
        // Three of forty machines have room: most draws miss, so the final draw is also used.
        let mut cluster = Cluster::of_speeds(vec![1.0; 40]);
        cluster.cpu = (0..40).map(|machine| if machine % 16 == 3 { 2 * UNITS } else { UNITS }).collect();
        let cluster = cluster.check().expect("valid input").0;
        let mut workload = Workload::plain(1, Column::Same(1));
        workload.cpu = Column::Same(2 * UNITS);
        let workload = workload.check().expect("valid input");
        let state = State::new(&workload, &cluster, seed);
        let mut finder = Finder::new(Placement::RandomFit, seed, &state);
        let mut counts = [0_u32; 3];
        for _ in 0..3_000 {
            let machine = finder.find(&state, 0, None).expect("three have room");
            counts[(machine / 16) as usize] += 1;
        }
        prop_assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{:?}", counts);
    }
}

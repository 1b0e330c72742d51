//! Small histories and account trees for the tests of this layer.

use super::accounts::Tree;
use super::history::{Cell, Grid, History, Machine, Person};
use crate::units::{CpuTime, MICROS_PER_SECOND};

/// A history of intervals of an hour, one row of CPU-seconds per user, all on one machine.
pub(crate) fn history(rows: &[(&str, &[f64])]) -> History {
    let count = rows.iter().map(|row| row.1.len()).max().unwrap_or(0);
    let people: Vec<Person> = people(&rows.iter().map(|row| row.0).collect::<Vec<&str>>());
    let mut cells = Vec::new();
    for interval in 0..count {
        for (who, row) in (0..).zip(rows) {
            if let Some(&cpu) = row.1.get(interval).filter(|&&cpu| 0.0 < cpu) {
                cells.push(Cell {
                    interval: u32::try_from(interval).expect("a few intervals"),
                    who,
                    cpu: CpuTime::from_seconds(cpu),
                    held: CpuTime::from_seconds(cpu),
                    ..Cell::default()
                });
            }
        }
    }
    let used = |row: &(&str, &[f64])| CpuTime::from_seconds(row.1.iter().sum());
    let on_machines = (0..).zip(rows).map(|(who, row)| (0, who, used(row)));
    History {
        clusters: vec!["one".to_owned()],
        tree: Tree::flat(&people),
        people,
        machines: vec![Machine::default()],
        grid: Grid {
            start_us: 0,
            interval_us: 3600 * MICROS_PER_SECOND,
            count: u32::try_from(count).expect("a few intervals"),
        },
        unix_us: Some(0),
        shown_from: 0,
        cells,
        on_machines: on_machines.filter(|sum| sum.2 != CpuTime::ZERO).collect(),
        ends: Vec::new(),
        capacity: Vec::new(),
        keeps_ends: true,
        keeps_machines: true,
    }
}

/// People with these names, without groups.
pub(crate) fn people(names: &[&str]) -> Vec<Person> {
    let of = |name: &&str| Person { name: (*name).to_owned(), ..Person::default() };
    names.iter().map(of).collect()
}

/// The tree of a file of accounts.
pub(crate) fn tree(text: &str, names: &[&str]) -> Tree {
    Tree::read(text, &people(names)).expect("the test input is valid")
}

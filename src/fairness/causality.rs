//! The promise of every index: a value at the end of an interval does not depend on later events. A
//! random history that is cut at an interval must give the same values up to it, to the last bit.
//! Users have no values before they appear.

use std::collections::BTreeMap;
use std::io::Write;

use proptest::prelude::*;
use tempfile::NamedTempFile;

use super::accounts::Tree;
use super::factors::Factors;
use super::formula;
use super::history::{AttemptEnd, Capacity, Cell, Grid, History, Machine, Person};
use super::indices::{BuiltIn, Formulated, Index, parse};
use super::series::{Series, evaluate};
use crate::units::{CpuTime, MICROS_PER_SECOND};

/// Parameters that make built-in indices read more data than by default. Every index is also tested
/// with its defaults.
const VARIANTS: [&str; 8] = [
    "htcondor:half_life_s=7200",
    "slurm:half_life_s=0,decay=exact",
    "fair-tree:half_life_s=0",
    "fair-tree:half_life_s=0,reading=manual",
    "gini:among=all",
    "cv:among=all,window_s=7200",
    "jain:among=all",
    "theil:among=all",
];

/// Custom indices that read every number of a formula.
const FORMULAS: [&str; 3] = [
    "state x = entitled + users; update x = x / 2 + usage + all(waiting); display x; display users",
    "state n = 0; update n = n + ended; display n / (1 + all(n)); display capacity + k + t; \
     display ran + cores; display memory + entitled",
    "state m = k; update m = m + sum(cpu * factor * charge); display m; display sum(1)",
];

/// Files of accounts that contain all users or some, or dissolve accounts.
const ACCOUNTS: [Option<&str>; 4] = [
    None,
    Some("A 3\nA/a 1\nA/b 2\nB 1\nB/c 1\nB/d 1\nB/e 5\nB/never 2"),
    Some("A 2\nA/a 1\nc 4"),
    Some("P parent\nP/a 1\nP/Q parent\nP/Q/b 3\nP/Q/c parent\nd 2\nE 1\nE/e 1"),
];

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Intervals of a random history.
const COUNT: u32 = 8;

/// The usage of a user in an interval: charged CPU, CPU that ran, waiting, memory, the machine, and
/// whether a task ends.
type Deed = (u8, u8, u8, u8, bool, bool);

#[derive(Clone, Debug)]
struct Drawn {
    /// The group and first interval of each user.
    users: Vec<(Option<bool>, u32)>,
    /// By user and interval.
    deeds: Vec<Vec<Option<Deed>>>,
    capacity: Vec<u8>,
    accounts: usize,
    cut: u32,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let deed = (0..4_u8, 0..4_u8, 0..3_u8, 0..3_u8, any::<bool>(), any::<bool>());
    let days = prop::collection::vec(prop::option::of(deed), COUNT as usize);
    (
        prop::collection::vec((prop::option::of(any::<bool>()), 0..COUNT + 2), NAMES.len()),
        prop::collection::vec(days, NAMES.len()),
        prop::collection::vec(0..5_u8, COUNT as usize),
        0..ACCOUNTS.len(),
        1..COUNT,
    )
        .prop_map(|(users, deeds, capacity, accounts, cut)| Drawn {
            users,
            deeds,
            capacity,
            accounts,
            cut,
        })
}

/// The history up to an interval.
fn history(drawn: &Drawn, count: u32) -> History {
    let mut people = Vec::new();
    let (mut cells, mut ends) = (Vec::new(), Vec::new());
    for (name, ((group, since), deeds)) in NAMES.iter().zip(drawn.users.iter().zip(&drawn.deeds)) {
        if count <= *since {
            continue;
        }
        let who = u32::try_from(people.len()).expect("a random history is valid");
        let group = group.map(|is_first| if is_first { "g" } else { "h" }.to_owned());
        people.push(Person { name: (*name).to_owned(), group, since: *since, last_use_us: None });
        for (interval, deed) in (0..count).zip(deeds).filter(|deed| *since <= deed.0) {
            let Some((cpu, held, waiting, memory, machine, has_ended)) = *deed else { continue };
            let time = |units: u8| CpuTime::from_seconds(f64::from(units) * 1800.0);
            cells.push(Cell {
                interval,
                who,
                machine: u32::from(machine),
                cpu: time(cpu),
                memory: time(memory),
                waiting: time(waiting),
                held: time(held),
                held_memory: time(memory),
            });
            if has_ended {
                ends.push(AttemptEnd {
                    interval,
                    who,
                    wait_s: f64::from(waiting),
                    run_s: 60.0,
                    suspended_s: 0.0,
                });
            }
        }
    }
    cells.sort_by_key(|cell| (cell.interval, cell.who));
    ends.sort_by_key(|end| (end.interval, end.who));
    let machine = |platform: &str, cpu| Machine {
        platform: Some(platform.to_owned()),
        cpu: Some(cpu),
        ..Machine::default()
    };
    let capacity = |&cpu: &u8| Capacity { cpu: f64::from(cpu), memory: f64::from(cpu) * 2.0 };
    History {
        clusters: vec!["one".to_owned()],
        tree: match ACCOUNTS[drawn.accounts] {
            None => Tree::of_groups(&people),
            Some(text) => Tree::read(text, &people).expect("a random history is valid"),
        },
        people,
        machines: vec![machine("fast", 1.0), machine("slow", 0.5)],
        grid: Grid { start_us: 0, interval_us: 3600 * MICROS_PER_SECOND, count },
        unix_us: Some(0),
        shown_from: 0,
        cells,
        on_machines: Vec::new(),
        ends,
        capacity: drawn.capacity[..count as usize].iter().map(capacity).collect(),
        keeps_ends: true,
        keeps_machines: true,
    }
}

/// Every index, newly built.
fn indices(factors: &str) -> Vec<(String, Box<dyn Index>)> {
    let built_in = BuiltIn::ALL.into_iter().map(BuiltIn::name).chain(VARIANTS);
    let mut all: Vec<(String, Box<dyn Index>)> = built_in
        .map(str::to_owned)
        .chain([format!("condor:factors={factors}"), format!("metered:charges={factors}")])
        .map(|text| (text.clone(), parse(&text).expect("a random history is valid")))
        .collect();
    for text in FORMULAS {
        let formula = formula::parse(text, &[]).expect("a random history is valid");
        let [charges, of_people] =
            [(); 2].map(|()| Factors::load(factors).expect("a random history is valid"));
        all.push((text.to_owned(), Box::new(Formulated::new("own", formula, charges, of_people))));
    }
    all
}

/// The values of a series by interval, name (`None` for all users together) and column.
fn values(series: &Series, history: &History) -> BTreeMap<(usize, Option<String>, usize), u64> {
    let mut all = BTreeMap::new();
    for interval in 0..history.grid.count as usize {
        let mut put = |who: Option<&str>, column: usize, value: f64| {
            if !value.is_nan() {
                all.insert((interval, who.map(str::to_owned), column), value.to_bits());
            }
        };
        for (who, person) in history.people.iter().enumerate() {
            for column in 0..series.columns.len() {
                put(Some(&person.name), column, series.value(interval, who, column));
            }
        }
        for column in 0..series.overall.len() {
            let width = series.overall.len();
            put(None, column, series.overall_values[interval * width + column]);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cutting_a_history_changes_no_value_before_the_cut(drawn in drawn()) {
        let mut file = NamedTempFile::new().expect("a random history is valid");
        file.write_all(b"platform fast 3\nuser a 2\nuser b on platform slow 5\ngroup g 7\n").expect("a random history is valid");
        let factors = file.path().display().to_string();
        let (whole, cut) = (history(&drawn, COUNT), history(&drawn, drawn.cut));
        for ((label, mut index), (_, mut again)) in indices(&factors).into_iter().zip(indices(&factors)) {
            let full = evaluate(&label, index.as_mut(), &whole).expect("a random history is valid");
            let full: BTreeMap<_, _> = values(&full, &whole)
                .into_iter()
                .filter(|value| value.0.0 < drawn.cut as usize)
                .collect();
            let part = values(&evaluate(&label, again.as_mut(), &cut).expect("a random history is valid"), &cut);
            prop_assert_eq!(full, part, "{}", label);
        }
    }
}

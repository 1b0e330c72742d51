//! The machines of a trace over time.

use std::collections::BTreeMap;

use serde::Serialize;

use super::survival::Spell;
use crate::facts::machines::{MachineChange, MachineEvent, MachineEvents};
use crate::facts::window::Windows;
use crate::units::{CpuRate, CpuTime};

/// A time during which a machine was away.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// The machine.
    pub machine_id: i64,
    /// When it left, µs.
    pub from_us: i64,
    /// When it came back, µs; `None` if it did not.
    pub to_us: Option<i64>,
    /// Its last known CPU when it left.
    pub cpu: Option<f32>,
    /// Its last known memory when it left.
    pub memory: Option<f32>,
    /// Index of its configuration in [`Fleet::configurations`].
    pub configuration: usize,
}

impl Outage {
    /// The end of the outage, at most the end of the window, µs.
    pub fn until(&self, end_us: i64) -> i64 {
        self.to_us.unwrap_or(end_us).min(end_us).max(self.from_us)
    }
}

/// Machines of one platform with one capacity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// The platform.
    pub platform: Option<String>,
    /// The CPU.
    pub cpu: Option<f32>,
    /// The memory.
    pub memory: Option<f32>,
    /// Machines with this configuration when last seen.
    pub machines: u64,
    /// Machines with this configuration when first seen.
    pub machines_first: u64,
    /// The machines of `machines` that were away at least once.
    pub machines_down: u64,
    /// Outages of machines that had this configuration when they left.
    pub outages: u64,
    /// Lengths of the outages that ended, µs, ascending.
    pub lengths_us: Vec<i64>,
    /// CPU × time lost in outages that ended.
    pub lost: CpuTime,
    /// CPU × time after the last REMOVE of machines that did not come back.
    pub gone: CpuTime,
    /// CPU × time of machines in service.
    pub up: CpuTime,
}

/// Machines that left at about the same time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Together {
    /// When the first of them left, µs.
    pub from_us: i64,
    /// When the last of them left, µs.
    pub to_us: i64,
    /// Number of machines.
    pub machines: u64,
    /// Number of their platforms.
    pub platforms: u64,
}

/// History of all machines.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// The first event, µs; 0 if machines were present when the trace began.
    pub start_us: i64,
    /// End of the window, µs.
    pub end_us: i64,
    /// Number of machines that were seen.
    pub machines: u64,
    /// Machines that were away at least once.
    pub machines_down: u64,
    /// All outages, ordered by start.
    pub outages: Vec<Outage>,
    /// CPU × time of machines in service.
    pub up: CpuTime,
    /// CPU × time lost in outages that ended.
    pub lost: CpuTime,
    /// CPU × time after the last REMOVE of machines that did not come back.
    pub gone: CpuTime,
    /// Memory × time: in service, lost, gone.
    pub memory: [CpuTime; 3],
    /// Spells of machines in service.
    pub up_spells: Vec<Spell>,
    /// Spells of machines that were up at the very first event. They are measured from that event,
    /// because the age of these machines is unknown.
    pub start_spells: Vec<Spell>,
    /// Spells that begin with a return.
    pub return_spells: Vec<Spell>,
    /// Spells of absence of machines.
    pub away_spells: Vec<Spell>,
    /// Platforms and capacities, ordered by descending number of machines.
    pub configurations: Vec<Configuration>,
    /// Events without a CPU capacity.
    pub without_capacity: u64,
}

/// The state of a machine while its events are read.
struct Machine {
    platform: Option<u32>,
    cpu: Option<f32>,
    memory: Option<f32>,
    /// Start of its current time in service or away, µs.
    since_us: i64,
    /// Start of the spell in service, µs.
    spell_from_us: i64,
    is_up: bool,
    begin: Begin,
    was_down: bool,
    first: Key,
    open_outage: Option<usize>,
}

/// How a spell in service begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begin {
    /// With the first of all events: the machine was present before.
    Start,
    /// With the first event of the machine.
    First,
    /// With its return.
    Return,
}

/// Platform, and the bit patterns of CPU and memory.
type Key = (Option<u32>, Option<u32>, Option<u32>);

impl Machine {
    fn key(&self) -> Key {
        (self.platform, self.cpu.map(f32::to_bits), self.memory.map(f32::to_bits))
    }
}

pub(super) fn rate(amount: Option<f32>) -> CpuRate {
    amount.map_or(CpuRate::ZERO, CpuRate::new)
}

/// End of the known time of machines, µs. This is the end of the window, unless machines have later
/// events. In that case it is the published end of the trace if their table is complete, and their
/// last event otherwise.
pub fn end_of(events: &MachineEvents, windows: Windows) -> i64 {
    let times = events.events.iter().map(|event| event.time_us);
    let last = times.filter(|&at_us| at_us < i64::MAX).max();
    let (window_us, last) = (windows.job_end_us.max(windows.task_end_us), last.unwrap_or(0));
    if window_us < last { events.window_end_us.unwrap_or(last) } else { window_us }
}

/// Follows all machines to the end of the window.
pub fn fleet(events: &MachineEvents, end_us: i64) -> Fleet {
    // Events with the largest time happened after the trace.
    let within = || events.events.iter().filter(|event| event.time_us < i64::MAX);
    let start_us = within().next().map_or(0, |event| event.time_us);
    let fleet = Fleet { start_us, ..Fleet::default() };
    let mut fold = Fold { end_us, fleet, ..Fold::default() };
    for event in within() {
        fold.fleet.without_capacity += u64::from(event.cpu.is_none());
        let at_us = event.time_us.min(end_us);
        let known = fold.machines.entry(event.machine_id);
        let is_new = matches!(known, std::collections::btree_map::Entry::Vacant(_));
        let machine = known.or_insert_with(|| Machine {
            platform: event.platform,
            cpu: event.cpu,
            memory: event.memory,
            since_us: at_us,
            spell_from_us: at_us,
            is_up: event.change != MachineChange::Remove,
            begin: if event.time_us == start_us { Begin::Start } else { Begin::First },
            was_down: false,
            first: (None, None, None),
            open_outage: None,
        });
        if is_new {
            machine.first = machine.key();
        } else {
            machine.account(&mut fold.fleet, &mut fold.sums, at_us);
        }
        machine.change(event, (at_us, is_new), &mut fold.fleet, &mut fold.outage_keys);
    }
    fold.end(&events.platforms)
}

#[derive(Default)]
struct Fold {
    end_us: i64,
    fleet: Fleet,
    machines: BTreeMap<i64, Machine>,
    sums: BTreeMap<Key, CpuTime>,
    outage_keys: Vec<Key>,
}

impl Machine {
    /// Adds its capacity from its last event until `at_us`.
    fn account(&mut self, fleet: &mut Fleet, sums: &mut BTreeMap<Key, CpuTime>, at_us: i64) {
        if self.is_up {
            let length_us = at_us - self.since_us;
            let cpu = rate(self.cpu).over(length_us);
            fleet.up += cpu;
            fleet.memory[0] += rate(self.memory).over(length_us);
            *sums.entry(self.key()).or_default() += cpu;
            self.since_us = at_us;
        }
    }

    /// Applies an event.
    fn change(
        &mut self,
        event: &MachineEvent,
        (at_us, is_new): (i64, bool),
        fleet: &mut Fleet,
        keys: &mut Vec<Key>,
    ) {
        match event.change {
            MachineChange::Remove if self.is_up || is_new => {
                if !is_new {
                    self.spell(fleet, at_us, false);
                }
                // The outage has the capacity in this REMOVE event, so the event is applied first.
                self.update(event);
                (self.is_up, self.was_down, self.since_us) = (false, true, at_us);
                self.open_outage = Some(fleet.outages.len());
                keys.push(self.key());
                fleet.outages.push(Outage {
                    machine_id: event.machine_id,
                    from_us: at_us,
                    to_us: None,
                    cpu: self.cpu,
                    memory: self.memory,
                    configuration: 0,
                });
            }
            MachineChange::Add if !self.is_up => {
                let length_us = at_us - self.since_us;
                if let Some(idx) = self.open_outage.take() {
                    let outage = &mut fleet.outages[idx];
                    outage.to_us = Some(at_us);
                    fleet.lost += rate(outage.cpu).over(length_us);
                    fleet.memory[1] += rate(outage.memory).over(length_us);
                }
                fleet.away_spells.push(Spell { length_us, is_censored: false });
                (self.is_up, self.begin) = (true, Begin::Return);
                (self.since_us, self.spell_from_us) = (at_us, at_us);
            }
            _ => {}
        }
        self.update(event);
    }

    fn update(&mut self, event: &MachineEvent) {
        self.platform = event.platform.or(self.platform);
        self.cpu = event.cpu.or(self.cpu);
        self.memory = event.memory.or(self.memory);
    }

    fn spell(&self, fleet: &mut Fleet, at_us: i64, is_censored: bool) {
        let spell = Spell { length_us: at_us - self.spell_from_us, is_censored };
        fleet.up_spells.push(spell);
        match self.begin {
            Begin::Start => fleet.start_spells.push(spell),
            Begin::First => {}
            Begin::Return => fleet.return_spells.push(spell),
        }
    }
}

impl Fold {
    /// Closes all machines at the end of the window.
    fn end(mut self, platforms: &[String]) -> Fleet {
        let end_us = self.end_us;
        let mut configurations: BTreeMap<Key, Configuration> = BTreeMap::new();
        for machine in self.machines.values_mut() {
            machine.account(&mut self.fleet, &mut self.sums, end_us.max(machine.since_us));
            let fleet = &mut self.fleet;
            if machine.is_up {
                machine.spell(fleet, end_us.max(machine.spell_from_us), true);
            } else {
                let length_us = end_us.max(machine.since_us) - machine.since_us;
                fleet.away_spells.push(Spell { length_us, is_censored: true });
                let last = machine.open_outage.map(|idx| &fleet.outages[idx]);
                let [cpu, memory] = last.map_or([None; 2], |last| [last.cpu, last.memory]);
                fleet.gone += rate(cpu).over(length_us);
                fleet.memory[2] += rate(memory).over(length_us);
            }
            fleet.machines += 1;
            fleet.machines_down += u64::from(machine.was_down);
            let last = configurations.entry(machine.key()).or_default();
            last.machines += 1;
            last.machines_down += u64::from(machine.was_down);
            configurations.entry(machine.first).or_default().machines_first += 1;
        }
        let fleet = &mut self.fleet;
        for (outage, key) in fleet.outages.iter().zip(&self.outage_keys) {
            let own = configurations.entry(*key).or_default();
            own.outages += 1;
            let length_us = outage.to_us.unwrap_or(end_us.max(outage.from_us)) - outage.from_us;
            let cpu = rate(outage.cpu).over(length_us);
            if outage.to_us.is_some() {
                own.lengths_us.push(length_us);
                own.lost += cpu;
            } else {
                own.gone += cpu;
            }
        }
        for (key, up) in self.sums {
            configurations.entry(key).or_default().up += up;
        }
        let mut ordered: Vec<(Key, Configuration)> = configurations.into_iter().collect();
        ordered.sort_by_key(|(_, own)| std::cmp::Reverse((own.machines, own.machines_first)));
        for (outage, key) in fleet.outages.iter_mut().zip(&self.outage_keys) {
            let place = ordered.iter().position(|(own, _)| own == key);
            outage.configuration = place.expect("every outage has a configuration");
        }
        let named = |(key, mut own): (Key, Configuration)| {
            own.platform = key.0.map(|idx| platforms[idx as usize].clone());
            (own.cpu, own.memory) = (key.1.map(f32::from_bits), key.2.map(f32::from_bits));
            own.lengths_us.sort_unstable();
            own
        };
        fleet.configurations = ordered.into_iter().map(named).collect();
        fleet.end_us = end_us;
        self.fleet
    }
}

impl Fleet {
    /// Lengths of the outages that ended, µs, ascending.
    pub fn lengths_us(&self) -> Vec<i64> {
        let ended = self.outages.iter().filter_map(|own| Some(own.to_us? - own.from_us));
        let mut lengths: Vec<i64> = ended.collect();
        lengths.sort_unstable();
        lengths
    }

    /// Runs of outages of at least two machines, where each outage begins at most `gap_us` after
    /// the one before. Runs with most machines come first.
    pub fn together(&self, gap_us: i64) -> Vec<Together> {
        let near = |one: &Outage, next: &Outage| next.from_us - one.from_us <= gap_us;
        let mut all: Vec<Together> = self
            .outages
            .chunk_by(near)
            .filter_map(|some| {
                let mut machines: Vec<i64> = some.iter().map(|own| own.machine_id).collect();
                machines.sort_unstable();
                machines.dedup();
                let platform =
                    |own: &Outage| self.configurations[own.configuration].platform.clone();
                let mut platforms: Vec<_> = some.iter().map(platform).collect();
                platforms.sort_unstable();
                platforms.dedup();
                (1 < machines.len()).then(|| Together {
                    from_us: some[0].from_us,
                    to_us: some[some.len() - 1].from_us,
                    machines: machines.len() as u64,
                    platforms: platforms.len() as u64,
                })
            })
            .collect();
        all.sort_by_key(|own| (std::cmp::Reverse(own.machines), own.from_us));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::fleet::*;

    #[test]
    fn capacity_is_there_lost_or_gone() {
        use MachineChange::{Add, Remove, Update};
        //  1  0.5 ====== 1 CPU ====|....|=====|      end 100: 10×0.5 + 30×1 + 10 lost + 50×1
        //  2  0.5 ======|.........................   30×0.5, then gone for 70×0.5
        //  3                            no CPU |==   comes at 90
        let event = |time_us, machine_id, change, cpu| MachineEvent {
            time_us,
            row_id: time_us,
            machine_id,
            change,
            platform: Some(0),
            cpu,
            memory: None,
            gpus: None,
        };
        let events = vec![
            event(0, 1, Add, Some(0.5)),
            event(0, 2, Add, Some(0.5)),
            event(10, 1, Update, Some(1.0)),
            event(30, 2, Remove, Some(0.5)),
            event(40, 1, Remove, None),
            event(50, 1, Add, None),
            event(90, 3, Add, None),
        ];
        let found = fleet(
            &MachineEvents { events, platforms: vec!["a".to_owned()], ..MachineEvents::default() },
            100,
        );
        let micros = |time: CpuTime| (time.seconds() * 1e6).round();
        assert_eq!((found.machines, found.machines_down, found.outages.len()), (3, 2, 2));
        assert_eq!([found.up, found.lost, found.gone].map(micros), [100.0, 10.0, 35.0]);
        let gone: f64 = found.configurations.iter().map(|own| micros(own.gone)).sum();
        assert_eq!(gone, 35.0, "that of all configurations");
        assert_eq!(found.lengths_us(), [10]);
        let spells = |all: &[Spell]| {
            all.iter().map(|own| (own.length_us, own.is_censored)).collect::<Vec<_>>()
        };
        assert_eq!(spells(&found.up_spells), [(30, false), (40, false), (50, true), (10, true)]);
        assert_eq!(spells(&found.start_spells), [(30, false), (40, false)]);
        assert_eq!(spells(&found.return_spells), [(50, true)]);
        assert_eq!(spells(&found.away_spells), [(10, false), (70, true)]);
        let counts: Vec<_> = found
            .configurations
            .iter()
            .map(|own| (own.cpu, own.machines, own.machines_first, own.outages))
            .collect();
        let expected = [(Some(0.5), 1, 2, 1), (None, 1, 1, 0), (Some(1.0), 1, 0, 1)];
        assert_eq!(counts, expected);
        assert_eq!(found.together(10).iter().map(|own| own.machines).collect::<Vec<_>>(), [2]);
        assert!(found.together(9).is_empty());
        // One machine that leaves twice does not count as two machines.
        let twice = [(0, Add), (10, Remove), (11, Add), (12, Remove)];
        let twice = twice.map(|(at, change)| event(at, 1, change, Some(0.5))).to_vec();
        let of = |events| {
            fleet(
                &MachineEvents {
                    events,
                    platforms: vec!["a".to_owned()],
                    ..MachineEvents::default()
                },
                100,
            )
        };
        assert!(of(twice).together(10).is_empty());
        // The lost capacity is that of the REMOVE event, in the sum and in the configurations.
        let grown = vec![
            event(0, 1, Add, Some(0.5)),
            event(10, 1, Remove, Some(1.0)),
            event(15, 1, Update, Some(2.0)),
            event(30, 1, Add, Some(0.5)),
            event(i64::MAX, 1, Remove, Some(0.5)),
        ];
        let found = of(grown);
        let lost: f64 = found.configurations.iter().map(|own| micros(own.lost)).sum();
        assert_eq!((micros(found.lost), lost, found.outages.len()), (20.0, 20.0, 1));
    }
}

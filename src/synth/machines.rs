//! The machines: `machine_events` and `machine_attributes`.
//!
//! The mix of capacities is that of the real trace (CPU 0.5 for 92.7 %, 1.0 for 6.3 %, 0.25 for 1
//! %). Most machines are present at time 0; some leave and return, some never return, some are
//! updated. Tasks ignore these events: as in the real trace, a task may run on a machine that is
//! away.

use super::config::WINDOW_START;
use super::draw::{Draws, Stream};
use super::scene::Scene;
use super::spill::RowBuffer;
use super::tally::{Tally, bump};
use super::text::{hash_text, push_int, push_time};
use super::units::{HOUR, SECOND, float, micros};

const ADD: u8 = 0;
const REMOVE: u8 = 1;
const UPDATE: u8 = 2;

const CPUS: [(&str, u32); 3] = [("0.5", 927), ("1", 63), ("0.25", 10)];
const MEMORIES: [(&str, u32); 7] = [
    ("0.4995", 53),
    ("0.2493", 31),
    ("0.749", 8),
    ("1", 6),
    ("0.2498", 1),
    ("0.1241", 1),
    ("0.03085", 1),
];
const PLATFORM_COUNT: u64 = 4;

/// A machine while its rows are written.
struct Machine<'a> {
    id: u64,
    platform: &'a str,
    cpu: &'static str,
    memory: &'static str,
}

/// Writes both tables.
pub(super) fn write_machines(scene: &Scene, tally: &mut Tally) -> (RowBuffer, RowBuffer) {
    let platforms: Vec<String> = (0..PLATFORM_COUNT)
        .map(|number| hash_text(scene.config.seed, Stream::Attribute, 1_000 + number))
        .collect();
    let (mut events, mut attributes) = (RowBuffer::default(), RowBuffer::default());
    for (number, id) in (1..).zip(&scene.machines) {
        let mut draws = Draws::new(scene.config.seed, Stream::Machines, number);
        let machine = Machine {
            id: *id,
            platform: draws.pick(&platforms).as_str(),
            cpu: draws.weighted(&CPUS),
            memory: draws.weighted(&MEMORIES),
        };
        write_life(scene, machine, &mut draws, tally, &mut events);
        write_attributes(scene, *id, &mut draws, &mut attributes);
    }
    tally.machines.machines = scene.machines.len() as u64;
    (events, attributes)
}

fn any_time(scene: &Scene, draws: &mut Draws) -> i64 {
    WINDOW_START + micros(float(scene.window.length() - 2 * HOUR / 3) / 1e6 * draws.unit())
}

/// Writes the ADD, REMOVE and UPDATE rows of one machine.
fn write_life(
    scene: &Scene,
    mut machine: Machine<'_>,
    draws: &mut Draws,
    tally: &mut Tally,
    rows: &mut RowBuffer,
) {
    let start = if draws.chance(0.99) { 0 } else { any_time(scene, draws) };
    tally.machines.present_at_zero += u64::from(start == 0);
    let has_capacity = !draws.chance(0.003);
    push_event(&machine, start, ADD, has_capacity, tally, rows);
    let mut now = start.max(WINDOW_START);
    if draws.chance(0.3) {
        now += micros(float(scene.window.end - now) / 1e6 * draws.between(0.05, 0.5));
        machine.memory = draws.weighted(&MEMORIES);
        push_event(&machine, now, UPDATE, true, tally, rows);
    }
    while now < scene.window.end - HOUR / 4 && draws.chance(0.35) {
        now += micros(float(scene.window.end - now) / 1e6 * draws.between(0.1, 0.6));
        push_event(&machine, now, REMOVE, true, tally, rows);
        if draws.chance(0.01) {
            tally.machines.never_return += 1;
            return;
        }
        let away = draws.span(1_200.0, 1.5, (10.0, 86_400.0));
        now = (now + away).min(scene.window.end - SECOND);
        push_event(&machine, now, ADD, true, tally, rows);
    }
}

fn push_event(
    machine: &Machine<'_>,
    time: i64,
    event: u8,
    has_capacity: bool,
    tally: &mut Tally,
    rows: &mut RowBuffer,
) {
    let name = ["ADD", "REMOVE", "UPDATE"][usize::from(event)];
    bump(&mut tally.machines.event_types, name);
    tally.machines.rows_without_capacity += u64::from(!has_capacity);
    rows.push(time, |out| {
        push_time(out, time);
        for number in [machine.id, u64::from(event)] {
            out.push(b',');
            push_int(out, number);
        }
        let (cpu, memory) = if has_capacity { (machine.cpu, machine.memory) } else { ("", "") };
        for text in [machine.platform, cpu, memory] {
            out.push(b',');
            out.extend_from_slice(text.as_bytes());
        }
    });
}

/// Writes a few attributes at time 0, and sometimes a later change or deletion.
fn write_attributes(scene: &Scene, id: u64, draws: &mut Draws, rows: &mut RowBuffer) {
    for name in &scene.attributes {
        if !draws.chance(0.6) {
            continue;
        }
        push_attribute((0, id), name, &draws.below(30).to_string(), rows);
        if draws.chance(0.08) {
            let value = if draws.chance(0.3) { String::new() } else { draws.below(30).to_string() };
            push_attribute((any_time(scene, draws), id), name, &value, rows);
        }
    }
}

/// Writes an attribute; an empty value is a deletion.
fn push_attribute((time, id): (i64, u64), name: &str, value: &str, rows: &mut RowBuffer) {
    rows.push(time, |out| {
        push_time(out, time);
        out.push(b',');
        push_int(out, id);
        for text in [name, value, if value.is_empty() { "1" } else { "0" }] {
            out.push(b',');
            out.extend_from_slice(text.as_bytes());
        }
    });
}

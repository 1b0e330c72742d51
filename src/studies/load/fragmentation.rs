//! Fragmentation: free capacity where no waiting task fits.
//!
//! In: the capacity of machines, the requests of the attempts that run on them, and the requests of
//! waiting tasks. Out: per interval the exact integrals of free capacity, and of the part of it on
//! machines where no waiting task fits. A task fits on a machine if the free CPU and memory cover
//! its requests, up to a millionth. Constraints are ignored. While no task waits, nothing is
//! fragmented.
//!
//! ```text
//!  machine 1   CPU ######....  memory ##########    a task waits for 0.2 CPU and 0.1 memory
//!  machine 2   CPU ########..  memory #####.....    it fits only on machine 2:
//!                                                   0.4 CPU of machine 1 is fragmented
//! ```
//!
//! Time advances in steps; in each step something begins or ends. Only the front of the waiting
//! requests matters: the requests for which no other request is smaller in both resources. A
//! machine keeps one request that fits as its witness. It is checked again only when the witness
//! leaves or the free capacity of the machine shrinks. A machine where no request fits is checked
//! again when a new request joins the front. Only the steps of one stretch of time are in memory,
//! so memory does not grow with the trace.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::fold::waits;
use super::intervals::{Amounts, Intervals};
use crate::facts::FactError;
use crate::facts::machines::{MachineEvents, UpTime};
use crate::facts::tasks::{Tasks, Usage};
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::Table;
use crate::units::{CpuRate, CpuTime};

/// The most rows of `task_events` with steps in memory, about 100 bytes each.
const ROWS_MAX: u64 = 20_000_000;

/// CPU and memory.
type Pair = [CpuRate; 2];

/// Free capacity of CPU and memory per interval; `None` if the trace does not record it.
#[derive(Clone, Debug, Default)]
pub struct Fragmentation {
    /// Capacity minus requests per machine, at least 0.
    pub free: [Option<Vec<CpuTime>>; 2],
    /// The part of that capacity on machines where no waiting task fits.
    pub fragmented: [Option<Vec<CpuTime>>; 2],
    /// Waits of tasks with unknown requests; left out.
    pub without_request: u64,
}

/// What a step changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// The capacity of a machine.
    Capacity(u32),
    /// The requests on a machine.
    Held(u32),
    /// The waiting requests.
    Waiting,
}

/// The beginning or end of something.
#[derive(Clone, Copy, Debug)]
struct Step {
    time_us: i64,
    change: Change,
    begins: bool,
    amounts: [f32; 2],
}

/// The stretch of time that the steps cover, and the resources that count.
#[derive(Clone, Copy)]
struct Stretch {
    from_us: i64,
    to_us: i64,
    /// Whether memory counts.
    has_memory: bool,
}

impl Stretch {
    /// Adds an amount between two times, as far as the times are in the stretch.
    fn add(self, steps: &mut Vec<Step>, [from, to]: [i64; 2], change: Change, amounts: [f32; 2]) {
        let (from_us, to_us) = (from.max(self.from_us), to.min(self.to_us));
        if from_us < to_us {
            let amounts = [amounts[0], if self.has_memory { amounts[1] } else { 0.0 }];
            let at = |time_us, begins| Step { time_us, change, begins, amounts };
            steps.extend([at(from_us, true), at(to_us, false)]);
        }
    }

    /// The request of a waiting task; `None` if the request for a resource that counts is unknown.
    fn request(self, [cpu, memory, _]: [Option<f32>; 3]) -> Option<[f32; 2]> {
        Some([cpu?, if self.has_memory { memory? } else { 0.0 }])
    }
}

/// Adds up the free capacity of a lake; none if it has no capacities, or does not record where
/// tasks run.
///
/// # Errors
/// A table cannot be read, or the callback stops the call.
pub fn fragmentation(
    lake: &Lake,
    windows: Windows,
    (at, has_memory): (Intervals, bool),
) -> Result<Fragmentation, FactError> {
    let up = MachineEvents::read(lake)?.up_times(at.end_us);
    let mut places: FxHashMap<i64, u32> = FxHashMap::default();
    let has_memory = has_memory && up.iter().any(|time| time.memory.is_some());
    // The capacity of a machine must be known, of both resources if both count.
    let is_known = |time: &UpTime| time.cpu.is_some() && (!has_memory || time.memory.is_some());
    for time in up.iter().filter(|time| is_known(time)) {
        let next = u32::try_from(places.len()).expect("few machines");
        places.entry(time.machine_id).or_insert(next);
    }
    if places.is_empty() {
        return Ok(Fragmentation::default());
    }
    let mut sums = [(); 4].map(|()| Amounts::new(at.count()));
    let (mut without_request, mut is_placed) = (0, false);
    let rows = lake
        .manifest
        .table(Table::TaskEvents)
        .map_or(0, |entry| entry.parts.iter().map(|part| part.rows).sum::<u64>());
    let stretches = i64::try_from(rows / ROWS_MAX).expect("far fewer rows") + 1;
    let length_us = (at.end_us - at.start_us) / stretches + 1;
    for number in 0..stretches {
        let from_us = at.start_us + number * length_us;
        let to_us = (from_us + length_us).min(at.end_us);
        let stretch = Stretch { from_us, to_us, has_memory };
        let mut steps = Vec::new();
        for time in up.iter().filter(|time| is_known(time)) {
            if let (Some(&place), Some(cpu)) = (places.get(&time.machine_id), time.cpu) {
                let amounts = [cpu, time.memory.unwrap_or(0.0)];
                let change = Change::Capacity(place);
                stretch.add(&mut steps, [time.from_us, time.to_us], change, amounts);
            }
        }
        let found = gather(lake, windows, (stretch, &places))?;
        is_placed |= found.is_placed;
        without_request += found.without_request;
        steps.extend(found.steps);
        steps.par_sort_unstable_by_key(|step| step.time_us);
        follow(&at, &steps, places.len(), &mut sums);
    }
    if !is_placed {
        return Ok(Fragmentation::default());
    }
    let [free_cpu, free_memory, cpu, memory] = sums.map(|sum| sum.integrals(&at));
    let of_memory = |sum: Vec<CpuTime>| has_memory.then_some(sum);
    Ok(Fragmentation {
        free: [Some(free_cpu), of_memory(free_memory)],
        fragmented: [Some(cpu), of_memory(memory)],
        without_request,
    })
}

/// The steps of tasks.
#[derive(Default)]
struct Gathered {
    steps: Vec<Step>,
    without_request: u64,
    /// Whether any attempt ran on a known machine.
    is_placed: bool,
}

impl Gathered {
    fn merge(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self.without_request += other.without_request;
        self.is_placed |= other.is_placed;
        self
    }
}

fn gather(
    lake: &Lake,
    windows: Windows,
    (stretch, places): (Stretch, &FxHashMap<i64, u32>),
) -> Result<Gathered, FactError> {
    // In a system of one machine, all attempts run on it.
    let only = (places.len() == 1).then_some(0);
    let of_bucket = |bucket: u32| {
        let mut found = Gathered::default();
        let tasks = Tasks::read(lake, bucket, windows, Usage::MemoryRequests)?;
        tasks.for_each(|task| {
            for attempt in task.attempts {
                let named = attempt.machine_id.and_then(|machine| places.get(&machine).copied());
                let Some(place) = named.or(only) else { continue };
                found.is_placed = true;
                let amounts = [attempt.cpu_request, attempt.memory].map(Option::unwrap_or_default);
                let time = [attempt.start_us, attempt.end_us];
                stretch.add(&mut found.steps, time, Change::Held(place), amounts);
            }
            waits(windows, &tasks, task, |time, request| {
                if let Some(amounts) = stretch.request(request) {
                    stretch.add(&mut found.steps, time, Change::Waiting, amounts);
                } else {
                    // Each such wait is counted in the stretch where it begins.
                    let is_in = (stretch.from_us..stretch.to_us).contains(&time[0]);
                    found.without_request += u64::from(is_in);
                }
            });
        });
        Ok::<Gathered, FactError>(found)
    };
    (0..lake.bucket_count())
        .into_par_iter()
        .with_max_len(1)
        .map(of_bucket)
        .try_reduce_with(|one, other| Ok(one.merge(other)))
        .unwrap_or_else(|| Ok(Gathered::default()))
}

/// Adds amounts between steps to sums: free CPU, free memory, and the fragmented part of both.
fn follow(at: &Intervals, steps: &[Step], machine_count: usize, sums: &mut [Amounts; 4]) {
    let mut state = State::new(machine_count);
    let mut now_us = at.start_us;
    for same in steps.chunk_by(|one, other| one.time_us == other.time_us) {
        let time = [now_us, same[0].time_us];
        for (sum, rate) in sums.iter_mut().zip(state.rates()) {
            sum.add(at, time, rate);
        }
        now_us = time[1];
        for step in same {
            state.take(step);
        }
    }
}

/// The free amount that a request needs: the request less a millionth of it, and less 5e-7. Decimal
/// amounts are stored as binary numbers, so the sum of requests that fit exactly may be slightly
/// too large.
fn needed(request: f32) -> CpuRate {
    CpuRate::new((request - (5e-7 + request * 1e-6)).max(0.0))
}

#[derive(Clone, Default)]
struct Machine {
    capacity: Pair,
    held: Pair,
    free: Pair,
    /// The waiting request that was last found to fit.
    witness: Option<Pair>,
}

/// A waiting request.
#[derive(Default)]
struct Waiting {
    count: u32,
    /// Machines that have had this request as their witness.
    machines: Vec<u32>,
}

/// Free capacity and waiting requests at an instant.
struct State {
    machines: Vec<Machine>,
    waiting: BTreeMap<Pair, Waiting>,
    /// Minimal requests: no other is smaller in both resources. Memory falls as CPU rises.
    front: BTreeMap<CpuRate, CpuRate>,
    /// Machines where no waiting request fits, by their free CPU.
    blocked: BTreeSet<(CpuRate, u32)>,
    free: Pair,
    /// The free capacity of blocked machines.
    fragmented: Pair,
}

impl State {
    fn new(machine_count: usize) -> Self {
        Self {
            machines: vec![Machine::default(); machine_count],
            waiting: BTreeMap::new(),
            front: BTreeMap::new(),
            blocked: (0..).take(machine_count).map(|place| (CpuRate::ZERO, place)).collect(),
            free: Pair::default(),
            fragmented: Pair::default(),
        }
    }

    fn rates(&self) -> [CpuRate; 4] {
        let waits = !self.waiting.is_empty();
        let part = self.fragmented.map(|rate| if waits { rate } else { CpuRate::ZERO });
        [self.free[0], self.free[1], part[0], part[1]]
    }

    fn take(&mut self, step: &Step) {
        let amounts = step.amounts.map(CpuRate::new);
        let needed = step.amounts.map(needed);
        let place = match step.change {
            Change::Waiting if step.begins => return self.wait(needed),
            Change::Waiting => return self.leave(needed),
            Change::Capacity(place) | Change::Held(place) => place,
        };
        let machine = &mut self.machines[place as usize];
        let own = match step.change {
            Change::Held(_) => &mut machine.held,
            _ => &mut machine.capacity,
        };
        for (own, amount) in own.iter_mut().zip(amounts) {
            if step.begins { *own += amount } else { *own -= amount }
        }
        self.look(place);
    }

    /// The request of the front that fits into this free capacity and has the most CPU.
    fn fitting(&self, free: Pair) -> Option<Pair> {
        // Among the requests with at most this CPU, this one has the least memory.
        let (&cpu, &memory) = self.front.range(..=free[0]).next_back()?;
        (memory <= free[1]).then_some([cpu, memory])
    }

    /// Recomputes the free capacity of a machine, and whether any request fits.
    fn look(&mut self, place: u32) {
        let own = &self.machines[place as usize];
        let free = [0, 1].map(|idx| {
            let mut free = own.capacity[idx];
            free -= own.held[idx];
            free.max(CpuRate::ZERO)
        });
        let still = own.witness.filter(|&[cpu, memory]| cpu <= free[0] && memory <= free[1]);
        let (before, was) = (own.free, own.witness);
        let witness = still.or_else(|| self.fitting(free));
        for idx in [0, 1] {
            self.free[idx] += free[idx];
            self.free[idx] -= before[idx];
            if was.is_none() {
                self.fragmented[idx] -= before[idx];
            }
            if witness.is_none() {
                self.fragmented[idx] += free[idx];
            }
        }
        if was.is_none() {
            self.blocked.remove(&(before[0], place));
        }
        match witness {
            None => {
                self.blocked.insert((free[0], place));
            }
            Some(request) if was != witness => self.note(request, place),
            Some(_) => {}
        }
        let own = &mut self.machines[place as usize];
        (own.free, own.witness) = (free, witness);
    }

    /// Records that a request is the witness of a machine.
    fn note(&mut self, request: Pair, place: u32) {
        let machines = &self.machines;
        let noted = &mut self.waiting.get_mut(&request).expect("a witness waits").machines;
        if 2 * machines.len() < noted.len() {
            noted.retain(|&place| machines[place as usize].witness == Some(request));
            noted.sort_unstable();
            noted.dedup();
        }
        noted.push(place);
    }

    fn wait(&mut self, request: Pair) {
        let known = self.waiting.entry(request).or_default();
        known.count += 1;
        if 1 < known.count || self.fitting(request).is_some() {
            return;
        }
        self.join(request);
        let may_fit: Vec<u32> = self
            .blocked
            .range((request[0], 0)..)
            .map(|&(_, place)| place)
            .filter(|&place| request[1] <= self.machines[place as usize].free[1])
            .collect();
        for place in may_fit {
            self.look(place);
        }
    }

    /// Adds a request to the front, and drops the requests there that are not smaller. The caller
    /// makes sure that no request of the front is smaller than the new one.
    fn join(&mut self, [cpu, memory]: Pair) {
        let above = self.front.range(cpu..).take_while(|&(_, &other)| memory <= other);
        let above: Vec<CpuRate> = above.map(|(&cpu, _)| cpu).collect();
        for cpu in above {
            self.front.remove(&cpu);
        }
        self.front.insert(cpu, memory);
    }

    fn leave(&mut self, request: Pair) {
        let known = self.waiting.get_mut(&request).expect("it waited");
        known.count -= 1;
        if 0 < known.count {
            return;
        }
        let gone = self.waiting.remove(&request).expect("it waited");
        if self.front.get(&request[0]) == Some(&request[1]) {
            self.front.remove(&request[0]);
            self.fill(request);
        }
        for place in gone.machines {
            let own = &mut self.machines[place as usize];
            if own.witness == Some(request) {
                // Marked as blocked until it is checked.
                own.witness = None;
                let free = own.free;
                for idx in [0, 1] {
                    self.fragmented[idx] += free[idx];
                }
                self.blocked.insert((free[0], place));
                self.look(place);
            }
        }
    }

    /// Adds to the front the requests that were kept out only by the removed request.
    fn fill(&mut self, [cpu, memory]: Pair) {
        let mut least = self.front.range(..cpu).next_back().map(|(_, &memory)| memory);
        let end = self.front.range(cpu..).next().map(|(&cpu, _)| cpu);
        let mut joined = Vec::new();
        for &[own_cpu, own_memory] in self.waiting.range([cpu, memory]..).map(|(own, _)| own) {
            if end.is_some_and(|end| end <= own_cpu) {
                break;
            }
            if least.is_none_or(|least| own_memory < least) {
                joined.push([own_cpu, own_memory]);
                least = Some(own_memory);
            }
        }
        for request in joined {
            self.join(request);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From, to, the machine (`None` if it waits), and CPU and memory in eighths.
    type Drawn = (i64, i64, Option<u32>, [u8; 2]);

    const MACHINES: u32 = 3;

    fn pieces(machine: impl Strategy<Value = Option<u32>>) -> impl Strategy<Value = Drawn> {
        let amount = || 0_u8..6;
        (0_i64..60, 1_i64..40, machine, [amount(), amount()])
            .prop_map(|(from, length, machine, amounts)| (from, from + length, machine, amounts))
    }

    /// Free and fragmented capacity at an instant, computed from the definition, in eighths.
    fn expected(capacity: &[Drawn], held: &[Drawn], waiting: &[Drawn], now: i64) -> [i64; 4] {
        let is_now = |own: &&Drawn| own.0 <= now && now < own.1;
        let sum = |all: &[Drawn], machine: u32| {
            let own = all.iter().filter(is_now).filter(|own| own.2 == Some(machine));
            own.fold([0, 0], |sum, own| [0, 1].map(|idx| sum[idx] + i64::from(own.3[idx])))
        };
        let mut found = [0; 4];
        for machine in 0..MACHINES {
            let (has, used) = (sum(capacity, machine), sum(held, machine));
            let free = [0, 1].map(|idx: usize| (has[idx] - used[idx]).max(0));
            let fits = |own: &Drawn| (0..2).all(|idx| i64::from(own.3[idx]) <= free[idx]);
            let waits: Vec<_> = waiting.iter().filter(is_now).collect();
            let is_lost = !waits.is_empty() && !waits.into_iter().any(fits);
            for idx in [0, 1] {
                found[idx] += free[idx];
                found[2 + idx] += if is_lost { free[idx] } else { 0 };
            }
        }
        found
    }

    /// Promise: requests that add up to the capacity in decimals fit, although their binary values
    /// may not.
    #[test]
    fn what_fits_exactly_in_decimals_fits() {
        let mut state = State::new(1);
        let mut add = |change, amount: f32| {
            state.take(&Step { time_us: 0, change, begins: true, amounts: [amount, 0.0] });
        };
        add(Change::Capacity(0), 0.25);
        add(Change::Held(0), 0.1);
        add(Change::Held(0), 0.1);
        add(Change::Waiting, 0.05);
        assert_eq!(state.rates()[2], CpuRate::ZERO);
        let mut state = State::new(1);
        let amounts = [(Change::Capacity(0), 24.9), (Change::Held(0), 8.3), (Change::Held(0), 8.3)];
        for (change, amount) in amounts.into_iter().chain([(Change::Waiting, 8.3)]) {
            state.take(&Step { time_us: 0, change, begins: true, amounts: [amount, 0.0] });
        }
        assert_eq!(state.rates()[2], CpuRate::ZERO);
        // A request that is too large by more than a millionth does not fit.
        let mut state = State::new(1);
        for (change, amount) in [(Change::Capacity(0), 0.05_f32), (Change::Waiting, 0.050_001_5)] {
            state.take(&Step { time_us: 0, change, begins: true, amounts: [amount, 0.0] });
        }
        assert_eq!(state.rates()[2], CpuRate::new(0.05));
    }

    proptest! {
        #[test]
        fn free_capacity_is_that_of_the_definition(
            capacity in prop::collection::vec(pieces((0..MACHINES).prop_map(Some)), 0..8),
            held in prop::collection::vec(pieces((0..MACHINES).prop_map(Some)), 0..12),
            waiting in prop::collection::vec(pieces(Just(None)), 0..16),
            length_us in 1_i64..50,
            cuts in 1_i64..5,
        ) {
            let at = Intervals::new([0, 100], length_us);
            let mut sums = [(); 4].map(|()| Amounts::new(at.count()));
            for number in 0..cuts {
                let [from_us, to_us] = [number, number + 1].map(|part| part * 100 / cuts);
                let stretch = Stretch { from_us, to_us, has_memory: true };
                let mut steps = Vec::new();
                let mut add = |all: &[Drawn], change: fn(u32) -> Change| {
                    for &(from, to, machine, amounts) in all {
                        let amounts = amounts.map(|eighths| f32::from(eighths) / 8.0);
                        let change = change(machine.unwrap_or(0));
                        stretch.add(&mut steps, [from, to], change, amounts);
                    }
                };
                add(&capacity, Change::Capacity);
                add(&held, Change::Held);
                add(&waiting, |_| Change::Waiting);
                steps.sort_by_key(|step| step.time_us);
                follow(&at, &steps, MACHINES as usize, &mut sums);
            }
            let mut eighths = vec![[0; 4]; at.count()];
            for now in 0..100 {
                let here = expected(&capacity, &held, &waiting, now);
                let cell = &mut eighths[usize::try_from(now / length_us).unwrap()];
                cell.iter_mut().zip(here).for_each(|(sum, here)| *sum += here);
            }
            for (idx, sum) in sums.iter().enumerate() {
                let expected: Vec<CpuTime> =
                    eighths.iter().map(|cell| CpuRate::new(0.125).over(cell[idx])).collect();
                prop_assert_eq!(sum.integrals(&at), expected, "{}", idx);
            }
        }
    }
}

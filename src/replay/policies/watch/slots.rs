//! The slots of a group.

use crate::replay::room::Room;
use crate::replay::state::State;

/// The numbers of attempts with the least demand that fit in the free and in the total capacity.
pub(super) fn slots(state: &State<'_>) -> [u32; 2] {
    let least = state.least_demand();
    // The maximum if neither resource is a limit.
    let fit = |room: Room| {
        let of_cpu = room.cpu.checked_div(least[0]);
        let of_memory = room.memory.and_then(|memory| memory.checked_div(least[1]));
        of_cpu.into_iter().chain(of_memory).min().unwrap_or(u64::from(u32::MAX))
    };
    let mut sums = [0_u64; 2];
    for (machine, &present) in state.machines.is_present.iter().enumerate() {
        if present {
            sums[0] = sums[0].saturating_add(fit(state.machines.free[machine]));
            sums[1] = sums[1].saturating_add(fit(state.machines.capacity[machine]));
        }
    }
    sums.map(|sum| u32::try_from(sum).unwrap_or(u32::MAX))
}

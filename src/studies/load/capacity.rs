//! The capacity of the cluster by interval.

use super::intervals::{Amounts, Intervals};
use crate::facts::machines::UpTime;
use crate::facts::window::Windows;
use crate::lake::Lake;
use crate::schema::{SYSTEM_MACHINE, Table};
use crate::units::{CpuRate, CpuTime};

/// Capacity of the machines per interval. A field is `None` if no row has that capacity.
#[derive(Clone, Debug, Default)]
pub struct Capacity {
    /// CPU.
    pub cpu: Option<Vec<CpuTime>>,
    /// Memory.
    pub memory: Option<Vec<CpuTime>>,
    /// GPUs.
    pub gpus: Option<Vec<CpuTime>>,
    /// Number of machines.
    pub machines: Option<Vec<CpuTime>>,
}

impl Capacity {
    pub(super) fn of(up: &[UpTime], at: &Intervals) -> Self {
        if up.is_empty() {
            return Self::default();
        }
        // A log that names its machines also has an entry for the whole system, and only that entry
        // has a capacity. It must not be counted as another machine.
        let is_named = |time: &&UpTime| time.machine_id != SYSTEM_MACHINE;
        let names = || up.iter().filter(is_named);
        let is_log = names().next().is_some() && names().all(|time| time.cpu.is_none());
        let over = |rate: &dyn Fn(usize) -> Option<CpuRate>| {
            let mut amounts = Amounts::new(at.count());
            let mut is_known = false;
            for (idx, time) in up.iter().enumerate() {
                let Some(rate) = rate(idx) else { continue };
                is_known = true;
                amounts.add(at, [time.from_us, time.to_us], rate);
            }
            is_known.then(|| amounts.integrals(at))
        };
        Self {
            cpu: over(&|idx| up[idx].cpu.map(CpuRate::new)),
            memory: over(&|idx| up[idx].memory.map(CpuRate::new)),
            #[expect(clippy::cast_precision_loss, reason = "no machine has 2^24 GPUs")]
            gpus: over(&|idx| up[idx].gpus.map(|gpus| CpuRate::new(gpus as f32))),
            machines: over(&|idx| (!is_log || is_named(&&up[idx])).then_some(CpuRate::ONE)),
        }
    }
}

/// The span of a lake: from the first event of a task to the end of the window.
pub fn span_of(lake: &Lake, windows: Windows) -> [i64; 2] {
    let parts = lake.manifest.table(Table::TaskEvents).map(|entry| entry.parts.iter());
    let first = parts.into_iter().flatten().filter_map(|part| part.min_time_us).min();
    let start_us = first.unwrap_or(0);
    [start_us, windows.task_end_us.max(start_us)]
}

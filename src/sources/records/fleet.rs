//! The machines that the rows of an accounting log name.
//!
//! In: its attempts, with the machines of each. Out: rows of `machine_events`: the whole system as
//! machine 1, with the most processors in use at once as its capacity, then each machine by its
//! name. A log does not record the sizes of its machines, and jobs share machines. Each part of a
//! log in several files has these rows, with the peak of all files as the capacity.

use std::collections::BTreeSet;

use super::fields::expand_nodes;
use super::{EVENTS_PER_LINE, Record, Remarks, hash};
use crate::schema::{CAPACITY_FROM_USE, ON_SEVERAL, SYSTEM_MACHINE, row_id};
use crate::sources::part::HandOut;
use crate::sources::part::hand_out_many;
use crate::sources::rows::{Cell, RowBlock};
use crate::units::most_at_once;

/// The most machines of a log.
const MACHINES_MAX: usize = 1 << 20;

/// The number of a machine, from its name; never the number of the system.
pub(in crate::sources) fn machine_id(name: &str) -> i64 {
    SYSTEM_MACHINE + 1 + i64::try_from(hash(name.as_bytes()) >> 2).expect("62 bits")
}

/// The machine of an attempt that ran on one machine; `None` if it ran on several.
pub(in crate::sources) fn only_machine(nodes: &str, remarks: &mut Remarks) -> Option<i64> {
    let is_one = !nodes.contains([',', '[']);
    if !is_one {
        remarks.add(ON_SEVERAL);
    }
    is_one.then(|| machine_id(nodes))
}

/// What is known of the machines.
#[derive(Default)]
pub(super) struct Fleet {
    /// Processors allocated and released, with the times; 16 bytes each.
    changes: Vec<(i64, f32)>,
    names: BTreeSet<String>,
    /// The previous list of machines, which often repeats.
    last: String,
    cluster: Option<String>,
}

impl Fleet {
    /// Adds an attempt, or only its end if `is_closing`: its start was added before.
    pub(super) fn add(&mut self, record: &Record<'_>, is_closing: bool) {
        let Some(start_us) = record.life.start_us else { return };
        if let Some(cpu) = record.cpu {
            if !is_closing {
                self.changes.push((start_us, cpu));
            }
            if let Some((end_us, _)) = record.life.end {
                self.changes.push((end_us.max(start_us), -cpu));
            }
        }
        if self.cluster.is_none() {
            self.cluster = record.cluster.map(str::to_owned);
        }
        let Some(nodes) = record.nodes.filter(|&nodes| nodes != self.last) else { return };
        nodes.clone_into(&mut self.last);
        expand_nodes(nodes, &mut |name| {
            if self.names.len() < MACHINES_MAX && !self.names.contains(name) {
                self.names.insert(name.to_owned());
            }
        });
    }

    /// Adds the rows of the machines of a part, and the remark that their capacity is inferred.
    /// `of_log` is the most processors in use at once, if the log has other files.
    pub(super) fn push(
        &mut self,
        part: u32,
        of_log: Option<f32>,
        rows: &mut RowBlock,
        hand_out: &mut HandOut<'_>,
    ) -> Remarks {
        let mut remarks = Remarks::default();
        let own = most_at_once(&mut self.changes);
        let peak = of_log.unwrap_or(own);
        let names = std::mem::take(&mut self.names);
        let mut number = EVENTS_PER_LINE;
        if 0.0 < own {
            let cells = [
                Cell::I64(0),
                Cell::I64(SYSTEM_MACHINE),
                Cell::I32(0),
                self.cluster.as_deref().into(),
                Cell::F32(peak),
                Cell::Missing,
                Cell::Missing,
            ];
            rows.push_row(row_id(part, number), &cells);
            remarks.add(CAPACITY_FROM_USE);
        }
        for name in &names {
            number += 1;
            let cells = [
                Cell::I64(0),
                Cell::I64(machine_id(name)),
                Cell::I32(0),
                Cell::Missing,
                Cell::Missing,
                Cell::Missing,
                Cell::Text(name),
            ];
            rows.push_row(row_id(part, number), &cells);
            hand_out_many(rows, hand_out);
        }
        self.changes = Vec::new();
        remarks
    }
}

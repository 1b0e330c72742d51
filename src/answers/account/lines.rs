//! The ledger in single lines.

use std::iter;

use super::details::ends_line;
use super::result::unknown;
use crate::answers::edges;
use crate::digits;
use crate::studies::ledger::{CpuDefinition, Ledger};
use crate::studies::meter::{MemoryDefinition, Meter};

/// The notes about a ledger: that its parts add up to the total, what was counted as 0 or twice,
/// how attempts ended, and what crosses the edges of the window.
pub fn lines(ledger: &Ledger) -> Vec<String> {
    let further = [counts_line(ledger), ends_line(ledger)].into_iter().flatten();
    iter::once(closing_line(ledger)).chain(further).chain([edges::of_ledger(ledger)]).collect()
}

/// The line that shows that the parts of the ledger add up to the total. If the amounts are
/// unknown, the line has the reason.
pub(super) fn closing_line(ledger: &Ledger) -> String {
    if !ledger.is_known {
        return unknown(ledger);
    }
    let outcomes: f64 = ledger.rows.iter().filter_map(|row| row.amount).sum();
    format!(
        "outcomes {} + unmatched {} + outside_attempts {} = total {} {}",
        digits::six_digits(outcomes),
        digits::six_digits(ledger.unmatched),
        digits::six_digits(ledger.outside_attempts),
        digits::six_digits(ledger.total),
        ledger.unit
    )
}

/// The line about what was counted as 0, twice, or with the CPU time that a log records; `None` for
/// `slots`.
fn counts_line(ledger: &Ledger) -> Option<String> {
    let requested = || {
        format!(
            "{} attempts: {} without a request, counted as 0",
            digits::grouped(ledger.attempts),
            digits::grouped(ledger.attempts_without_request)
        )
    };
    let windows = |what: &str| {
        format!(
            "{} usage windows: {} without a {what}, counted as 0; {} overlap an earlier one and count as well",
            digits::grouped(ledger.windows),
            digits::grouped(ledger.windows_without_rate),
            digits::grouped(ledger.windows_overlapping)
        )
    };
    match ledger.meter {
        Meter::Cpu(CpuDefinition::Measured) if 0 < ledger.attempts_with_cpu_time => {
            Some(cpu_time_line(ledger.attempts_with_cpu_time, ledger.attempts))
        }
        Meter::Cpu(CpuDefinition::Measured | CpuDefinition::Published) => Some(windows("rate")),
        Meter::Memory(MemoryDefinition::Canonical | MemoryDefinition::Assigned) => {
            Some(windows("figure"))
        }
        Meter::Cpu(CpuDefinition::Requested) | Meter::Memory(MemoryDefinition::Requested) => {
            Some(requested())
        }
        Meter::Memory(MemoryDefinition::Used) => Some(format!(
            "{} attempts: the memory of {} is not recorded in the log and counts as 0",
            digits::grouped(ledger.attempts),
            digits::grouped(ledger.attempts_without_request)
        )),
        Meter::Cpu(CpuDefinition::GpuSlots) => Some(format!(
            "{} attempts: {} without a record of GPUs, counted as 0",
            digits::grouped(ledger.attempts),
            digits::grouped(ledger.attempts_without_request)
        )),
        Meter::Cpu(CpuDefinition::Slots) => None,
    }
}

/// The line with the number and share of attempts whose CPU time a log records.
pub(crate) fn cpu_time_line(told: u64, attempts: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 attempts")]
    let percent = told as f64 / attempts.max(1) as f64 * 100.0;
    format!(
        "CPU time as recorded in the log for {} of {} attempts ({percent:.1} %), processors times \
        run time for the others",
        digits::grouped(told),
        digits::grouped(attempts)
    )
}

//! Notes and warnings about an answer.

use super::found::{Found, unknown};
use super::wanted::{Show, Wanted};
use super::{undefined, what_if};
use crate::answers::account::cpu_time_line;
use crate::answers::edges;
use crate::digits;
use crate::fairness::gather::{Accrual, By};
use crate::fairness::usage::{self, UserUsage};
use crate::studies::meter::{CpuDefinition, MemoryDefinition, Meter};
use crate::units::CpuTime;

/// The notes that a reader needs to understand the numbers.
pub fn notes(found: &Found, wanted: &Wanted) -> Vec<String> {
    let mut notes = Vec::new();
    let (history, by) = (&found.history, found.span.plan.by);
    let users = found.users();
    notes.push(format!(
        "{} by {} {} in {} intervals of {} s: {} {}",
        found.span.plan.meter,
        digits::grouped(users.len() as u64),
        by.noun(users.len() as u64),
        digits::grouped(u64::from(history.grid.count - history.shown_from)),
        history.grid.length_s(),
        digits::six_digits(usage::total(history).seconds()),
        found.span.unit,
    ));
    let counts = found.counts;
    if found.span.plan.accrual == Accrual::End && 0 < counts.open_attempts {
        notes.push(format!(
            "{} of {} attempts are open at the end and not charged (--accrual running charges them)",
            digits::grouped(counts.open_attempts),
            digits::grouped(counts.attempts)
        ));
    }
    notes.push(closed(found));
    let series = found.series.iter();
    notes.extend(series.filter_map(|series| undefined::said(&series.index, series.undefined)));
    let meter = found.span.plan.meter;
    let is_of_requests = matches!(
        meter,
        Meter::Cpu(CpuDefinition::Requested) | Meter::Memory(MemoryDefinition::Requested)
    );
    if meter == Meter::Cpu(CpuDefinition::GpuSlots) && 0 < counts.without_request {
        let count = digits::grouped(counts.without_request);
        notes.push(format!("{count} attempts without a record of GPUs, counted as 0"));
    }
    if is_of_requests && 0 < counts.without_request {
        let count = digits::grouped(counts.without_request);
        notes.push(format!("{count} attempts without a request, counted as 0"));
    }
    if 0 < counts.users_without_attempts {
        let count = counts.users_without_attempts;
        let (shown, noun) = (digits::grouped(count), by.noun(count));
        notes.push(format!(
            "{shown} more {noun} with jobs, but without attempts in the loaded parts"
        ));
    }
    if meter == Meter::Cpu(CpuDefinition::Measured) && 0 < counts.with_cpu_time {
        notes.push(cpu_time_line(counts.with_cpu_time, counts.attempts));
    }
    notes.extend(rest_note(&users, by, wanted));
    if 0 < counts.without_name {
        let count = digits::counted(counts.without_name, "attempt");
        notes.push(format!("{count} without a {}", by.noun(1)));
    }
    let shown_days = found.length_s() / 86_400.0;
    if let Some(asked) = wanted.days.filter(|asked| *asked + 1e-9 < shown_days) {
        notes.push(format!(
            "{shown_days} days are shown instead of {asked}, because intervals are whole"
        ));
    }
    if wanted.what_if {
        notes.extend(what_if::moves(history, &found.series));
    }
    notes
}

/// The number of attempts without an end event that are closed at the end of their job, and their
/// usage in the shown span. In words; empty if there are no such attempts.
pub(in crate::answers) fn closed(found: &Found) -> String {
    let counts = found.counts;
    let cpu = counts.closed_with_job_cpu.seconds();
    edges::closed_with_job(counts.closed_with_job, Some(cpu), found.span.unit)
}

/// The note about the usage of the users that are not in the table.
fn rest_note(users: &[UserUsage], by: By, wanted: &Wanted) -> Option<String> {
    let rest = users.get(wanted.top..).unwrap_or_default();
    if rest.is_empty() || wanted.show != Show::Heaviest || wanted.what_if {
        return None;
    }
    let all: f64 = users.iter().map(|user| user.cpu_s).sum();
    let rest_s: f64 = rest.iter().map(|user| user.cpu_s).sum();
    Some(format!(
        "{} more {} used the other {:.1} % (--show users names them)",
        digits::grouped(rest.len() as u64),
        by.noun(rest.len() as u64),
        rest_s / all * 100.0
    ))
}

/// The reason if there is nothing to compare.
pub fn warning(found: &Found) -> Option<String> {
    if let Some(unknown) = unknown(found) {
        return Some(unknown);
    }
    let is_unused = usage::total(&found.history) == CpuTime::ZERO;
    let noun = found.span.plan.meter.resource().noun();
    is_unused.then(|| format!("no {noun} was used in the span: there is nothing to compare"))
}

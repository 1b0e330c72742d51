//! Claims about CPU time, memory and kill rules.

use super::figures;
use super::found::{Found, basis};
use crate::answers::{account, sweep};
use crate::claims::Claim;
use crate::facts::window::Windows;
use crate::faults::Result;
use crate::lake::Lake;
use crate::schema::Table;
use crate::studies::fold::{Asked, fold};
use crate::studies::kill_sweep::{self, Sweep};
use crate::studies::ledger::{CpuDefinition, Ledger, ledger};
use crate::studies::mandai::{Basis, MEMORY_NOT_PRINTED, Place};
use crate::studies::meter::{MemoryDefinition, Meter};
use crate::studies::rules::{Rule, RuleGrid};

/// Table 3.1.2, memory per outcome, and figures 4.2.1 and 4.2.2.
pub(super) fn cpu(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let tables = [Table::JobEvents, Table::TaskEvents, Table::TaskUsage, Table::MachineEvents];
    let basis = basis(lake, &tables);
    let has_usage = !matches!(basis, Basis::Missing(_));
    // Without usage, the curves are drawn for slots, and are not compared with the paper.
    let cpu = if has_usage { CpuDefinition::Published } else { CpuDefinition::Slots };
    let rules = vec![RuleGrid::new(Rule::Events, Rule::Events.default_grid())];
    let asked = Asked { meter: Meter::Cpu(cpu), rules, ..Asked::default() };
    let study = if lake.has(Table::TaskEvents) && lake.has(Table::JobEvents) {
        Some(fold(lake, windows, &asked)?)
    } else {
        let why = "skipped: figures 4.2.1 and 4.2.2, which need job_events and task_events";
        found.notes.push(why.to_owned());
        None
    };
    let book = study.as_ref().map(ledger);
    cpu_shares(&basis, book.as_ref().filter(|_| has_usage), found);
    memory(lake, windows, found)?;
    let swept = study.as_ref().map(|study| kill_sweep::sweep(study, 0));
    sweep(lake, &basis, swept.as_ref(), found);
    if let (Some(study), Some(book), Some(swept)) = (&study, &book, &swept) {
        let bars = figures::with_published_shares(account::chart(book, &[]));
        found.charts.push((format!("table-3.1.2-{cpu}"), bars));
        found.charts.extend(figures::of_sweep(sweep::charts::of_paper(study, swept)));
        found.charts.extend(sweep::charts::charts(study, std::slice::from_ref(swept), None));
    }
    Ok(())
}

/// The share of an outcome in a ledger, %; `None` if it is unknown.
fn share_of(book: Option<&Ledger>, outcome: &str) -> Option<f64> {
    let row = book?.rows.iter().find(|row| row.outcome == outcome)?;
    row.share.map(|share| share * 100.0)
}

/// Table 3.1.2, and the sentence about it.
fn cpu_shares(basis: &Basis, book: Option<&Ledger>, found: &mut Found) {
    let place = Place { name: "table 3.1.2", basis };
    for (outcome, paper) in figures::CPU_SHARES {
        let claim = format!("CPU time of {outcome} jobs, %");
        found.claims.push(place.number(&claim, (paper, 0.001), share_of(book, outcome)));
    }
    let both = share_of(book, "failed").zip(share_of(book, "killed"));
    let both = both.map(|(one, other)| one + other);
    found.claims.push(place.number("CPU time of failed and killed jobs, %", (44.0, 1.0), both));
}

/// Memory per outcome, which section 3.1 announces. It is measured if the lake has usage, otherwise
/// requested.
fn memory(lake: &Lake, windows: Windows, found: &mut Found) -> Result<()> {
    let memory = MemoryDefinition::usual(lake);
    let asked = Asked { meter: Meter::Memory(memory), ..Asked::default() };
    let book = lake
        .has(Table::TaskEvents)
        .then(|| fold(lake, windows, &asked).map(|study| ledger(&study)))
        .transpose()?;
    let why = format!("{MEMORY_NOT_PRINTED}; ours is {memory} memory x time");
    for (outcome, _) in figures::CPU_SHARES {
        let claim = format!("memory of {outcome} jobs, % (announced)");
        let ours = share_of(book.as_ref(), outcome);
        let claim = Claim::without("section 3.1", &claim, None, &why);
        found.claims.push(Claim { ours, ..claim });
    }
    let chart = book.as_ref().map(|book| account::chart(book, &[]));
    found.charts.extend(chart.map(|chart| (format!("memory-{memory}"), chart)));
    Ok(())
}

/// Figures 4.2.1 and 4.2.2.
fn sweep(lake: &Lake, basis: &Basis, swept: Option<&Sweep>, found: &mut Found) {
    let has_usage = !matches!(basis, Basis::Missing(_));
    let harm_basis = super::basis(lake, &[Table::JobEvents, Table::TaskEvents]);
    let saved = Place { name: "section 4.2, figure 4.2.1", basis };
    let harmed = Place { name: "section 4.2, figure 4.2.2", basis: &harm_basis };
    for (threshold, failed, killed, harmed_jobs, digit) in
        [(10, 89.0, 15.0, 246.0, 1.0), (300, 36.0, 0.1, 0.0, 0.1)]
    {
        let row = swept.and_then(|swept| swept.rows.iter().find(|row| row.threshold == threshold));
        let share = |outcome: &str| {
            let share: Option<f64> = row.and_then(|row| row.saved_share.get(outcome));
            share.filter(|_| has_usage).map(|share| share * 100.0)
        };
        let at = |claim: &str| format!("T = {threshold}: {claim}");
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
        let ours = row.and_then(|row| Some(row.harmed_jobs? as f64));
        found.claims.extend([
            saved.number(&at("CPU time saved of failed jobs, %"), (failed, 1.0), share("failed")),
            saved.number(&at("CPU time saved of killed jobs, %"), (killed, digit), share("killed")),
            harmed.number(&at("harmed finished jobs"), (harmed_jobs, 1.0), ours),
        ]);
    }
}

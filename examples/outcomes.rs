//! Prints the outcomes of jobs and the cost of the jobs that did not finish:
//! `LAKE=lake cargo run --example outcomes`.
#![expect(clippy::print_stdout, reason = "this is a program of its own")]

use jobfate::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sample = Sample::lake()?;
    let lake = match std::env::var_os("LAKE") {
        Some(path) => Lake::open(path)?,
        None => sample.clone(),
    };
    let ledger = lake.study().cpu(Cpu::BestAvailable).ledger()?;
    for row in &ledger.rows {
        let (jobs, amount) = (row.jobs.unwrap_or(0), row.amount.unwrap_or(0.0));
        let percent = row.share.unwrap_or(0.0) * 100.0;
        println!(
            "{:>9}  {jobs:>6} jobs  {amount:>12.1} {}  {percent:>5.1} %",
            row.outcome, ledger.unit
        );
    }
    let by_class = lake.study().by(GroupBy::Class).ledger()?;
    println!("{} rows by scheduling class", by_class.rows.len());
    Ok(())
}

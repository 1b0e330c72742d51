//! Ingests a trace, reports its progress, and stops half-way on request: `TRACE=trace cargo run --example ingest`.
#![expect(clippy::print_stdout, reason = "this is a program of its own")]

use std::ops::ControlFlow::{Break, Continue};
use std::path::PathBuf;

use jobfate::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given = std::env::var_os("TRACE").map(PathBuf::from);
    let trace = given.clone().map_or_else(Sample::trace, Ok)?;
    let lake = std::env::temp_dir().join(format!("half-lake-{}", std::process::id()));
    let half = |progress: Progress| {
        println!("{:.0} % of {} bytes", progress.share() * 100.0, progress.total);
        if progress.share() < 0.5 { Continue(()) } else { Break(()) }
    };
    let first = Ingest::of(&trace)?.into(&lake).threads(1).on_progress(half).run()?;
    println!("stopped: {}, {} rows are stored", first.is_cancelled, first.rows());
    let second = Ingest::of(&trace)?.into(&lake).run()?;
    println!("the rest: {} rows, {} parts skipped", second.rows(), second.skipped);
    std::fs::remove_dir_all(lake)?;
    given.map_or_else(|| std::fs::remove_dir_all(trace), |_| Ok(()))?;
    Ok(())
}

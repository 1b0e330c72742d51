//! Compares a custom kill rule with a built-in one: `LAKE=lake cargo run --example own_kill_rule`.
#![expect(clippy::print_stdout, reason = "this is a program of its own")]

use jobfate::prelude::*;

/// Kills a task that has failed a given number of times within a day.
fn failed_in_a_day(task: &TaskView<'_>, count: i64) -> Option<i64> {
    task.nth_within(EventType::Fail, usize::try_from(count).ok()?, DAY)
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sample = Sample::lake()?;
    let lake = match std::env::var_os("LAKE") {
        Some(path) => Lake::open(path)?,
        None => sample.clone(),
    };
    let own = KillRule::own("failed-in-a-day", [1, 2, 3, 5, 10], failed_in_a_day);
    let events: KillRule = "events".parse()?;
    let study = lake.study().rule(own).rule(events.over([5, 10, 20, 40]));
    for sweep in study.sweeps()? {
        for row in &sweep.rows {
            let (harmed, net) = (row.harmed_jobs.unwrap_or(0), row.net_share.unwrap_or(0.0));
            println!(
                "{} {}: {harmed} harmed, {:.1} % saved",
                sweep.rule,
                row.threshold,
                net * 100.0
            );
        }
    }
    Ok(())
}

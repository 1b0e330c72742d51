//! What an analysis asks where its file is silent, some of it by what the lake holds.

use super::config::{Config, DEFINITIONS, Setting};
use crate::facts::window::Windows;
use crate::lake::{Lake, LakeError};
use crate::schema::Table;
use crate::studies::ledger::CpuDefinition;
use crate::studies::rules::Rule;
use crate::studies::samples::What;
use crate::units::MICROS_PER_DAY;

/// What is described.
const WHATS: [What; 7] = [
    What::JobDurations,
    What::JobSurvival,
    What::TasksPerJob,
    What::EventsPerTask,
    What::Waiting,
    What::Attempts,
    What::FinishGivenEvents,
];

/// Policies that are replayed.
const REPLAYED: [&str; 3] =
    ["fifo:depth=100", "fair:depth=100", "fifo:depth=100+late:heartbeat_s=60"];

/// Rows of `task_events` that are replayed: a minute or two on two cores. Of a larger trace a share
/// of jobs and machines is.
const REPLAYED_ROWS: f64 = 2e6;

/// A trace of fewer days is cut into hours, a longer one into days.
const HOURLY_DAYS: i64 = 100;

/// Resamplings of jobs for the intervals of the sweep.
const BOOTSTRAP_ROUNDS: &str = "200";

/// Settles what was left open.
pub(super) fn settle(config: &mut Config, lake: &Lake) -> Result<(), LakeError> {
    config.default_to(DEFINITIONS, "cpu", cpu_of(lake).to_string().as_str().into());
    let whats = WHATS.map(|what| what.name().to_owned()).to_vec();
    config.default_to("describe", "what", Setting::Many(whats));
    let rules = Rule::ALL.map(|rule| rule.name().to_owned()).to_vec();
    config.default_to("sweep", "rules", Setting::Many(rules));
    config.default_to("sweep", "bootstrap", BOOTSTRAP_ROUNDS.into());
    // Chosen on the first half of the tasks' history, scored on the second.
    let windows = Windows::of(lake, None);
    let end_us = windows.job_end_us.min(windows.task_end_us);
    #[expect(clippy::cast_precision_loss, reason = "a time, rounded all the same")]
    let half = (end_us / 2 - 600_000_000).max(0) as f64 / MICROS_PER_DAY as f64;
    config.default_to("sweep", "train-until", format!("{half:.4}").as_str().into());
    let policies = REPLAYED.map(str::to_owned).to_vec();
    config.default_to("replay", "policies", Setting::Many(policies));
    if config.get("replay", "cluster").is_none() {
        config.default_to("replay", "overcommit", "1.25".into());
    }
    if lake.has(Table::TaskEvents) {
        let events = lake.require(Table::TaskEvents)?;
        #[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 rows")]
        let share = REPLAYED_ROWS / events.rows() as f64;
        if share < 1.0 {
            let share = format!("{share:.4}");
            config.default_to("replay", "sample", share.as_str().into());
            config.default_to("replay", "machines", share.as_str().into());
        }
        let first = events.parts.iter().filter_map(|part| part.min_time_us).min().unwrap_or(0);
        let last = events.parts.iter().filter_map(|part| part.max_time_us).max().unwrap_or(0);
        let is_short = last - first < HOURLY_DAYS * MICROS_PER_DAY;
        config.default_to("fairness", "interval", if is_short { "3600" } else { "86400" }.into());
    }
    // The ledger's CPU, as it runs, so that the sum is the ledger's as well.
    config.default_to("fairness", "accrual", "running".into());
    config.fill_in();
    Ok(())
}

/// Measured CPU where there is a usage table, slots where there is none.
fn cpu_of(lake: &Lake) -> CpuDefinition {
    if lake.has(Table::TaskUsage) { CpuDefinition::Measured } else { CpuDefinition::Slots }
}

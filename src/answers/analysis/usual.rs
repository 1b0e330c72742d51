//! What an analysis asks where its file is silent: the defaults of the kind of trace, which every
//! command has, and beside them what an analysis alone asks (all rules, a replay of a few minutes).

use std::fmt::Write;

use super::{Config, DEFINITIONS};
use crate::answers::words::Setting;
use crate::defaults::{self, Defaults};
use crate::facts::window::{Windows, first_event_us};
use crate::lake::{Lake, LakeError};
use crate::schema::{Source, Table};
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

/// Rows of `task_events` that are replayed: a minute or two on two cores. Of a larger trace a share
/// of jobs and machines is.
const REPLAYED_ROWS: f64 = 2e6;

/// Resamplings of jobs for the intervals of the sweep.
const BOOTSTRAP_ROUNDS: &str = "200";

/// Settles what was left open.
///
/// # Errors
/// The lake cannot be read.
pub fn settle(config: &mut Config, lake: &Lake) -> Result<(), LakeError> {
    let usual = Defaults::of(lake);
    config.default_to(DEFINITIONS, "cpu", usual.cpu.to_string().as_str().into());
    let whats = WHATS.map(|what| what.name().to_owned()).to_vec();
    config.default_to("describe", "what", Setting::Many(whats));
    let rules = Rule::ALL.map(|rule| rule.name().to_owned()).to_vec();
    config.default_to("sweep", "rules", Setting::Many(rules));
    config.default_to("sweep", "bootstrap", BOOTSTRAP_ROUNDS.into());
    // Chosen on the first half of the tasks' history, scored on the second.
    let windows = Windows::of(lake, None);
    let end_us = windows.job_end_us.min(windows.task_end_us);
    #[expect(clippy::cast_precision_loss, reason = "a time, rounded all the same")]
    let half = (end_us - first_event_us(lake)).max(0) as f64 / 2.0 / MICROS_PER_DAY as f64;
    config.default_to("sweep", "train-until", format!("{half:.4}").as_str().into());
    let policies = usual.policies.iter().map(|&policy| policy.to_owned()).collect();
    config.default_to("replay", "policies", Setting::Many(policies));
    if config.get("replay", "cluster").is_none() {
        config.default_to("replay", "overcommit", usual.overcommit.to_string().as_str().into());
    }
    let killed = defaults::killed_name(usual.killed);
    config.default_to("replay", "killed", killed.into());
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
        let interval = defaults::interval_s(windows.task_end_us.saturating_sub(first));
        // Where days are chosen, `fairness` takes what fits them.
        if config.get("fairness", "days").is_none() {
            config.default_to("fairness", "interval", interval.to_string().as_str().into());
        }
    }
    let accrual = defaults::accrual_name(usual.accrual);
    config.default_to("fairness", "accrual", accrual.into());
    config.fill_in();
    Ok(())
}

/// Options that follow from the kind of trace, with their sections.
const OF_SOURCE: [(&str, &str); 8] = [
    (DEFINITIONS, "cpu"),
    ("fairness", "accrual"),
    ("fairness", "interval"),
    ("replay", "overcommit"),
    ("replay", "killed"),
    ("replay", "policies"),
    ("replay", "sample"),
    ("replay", "machines"),
];

/// The choices that follow from the kind of trace, one line each; those of the user as well.
pub fn table(config: &Config, source: Source) -> String {
    let mut text = format!("for {source} (--config FILE with other values changes them):");
    for (section, option) in OF_SOURCE {
        let value = match config.get(section, option) {
            Some(Setting::One(word)) => word.clone(),
            Some(Setting::Many(words)) => words.join(" "),
            Some(Setting::Flag(_)) | None => continue,
        };
        let of = if section == DEFINITIONS { "account, sweep, fairness" } else { section };
        let _ = write!(text, "\n  {:<13}{value} ({of})", format!("--{option}"));
    }
    text
}

//! Runs a rule with all its limits.

use crate::digits;
use crate::faults::{Result, Usage};
use crate::studies::fold::Study;
use crate::studies::kill_sweep::{Sweep, sweep, sweep_groups};
use crate::studies::selection::{Selection, intervals, select, sides};

/// A sweep of several rules, with intervals, and the rule chosen on earlier jobs.
#[derive(Debug)]
pub struct Swept {
    pub sweeps: Vec<Sweep>,
    /// The sweeps by rule and group, if the sweep is split.
    pub groups: Vec<Sweep>,
    pub selection: Option<Selection>,
}

impl Swept {
    /// The sweeps in the table: those of the groups if the sweep is split.
    pub fn shown(&self) -> &[Sweep] {
        if self.groups.is_empty() { &self.sweeps } else { &self.groups }
    }
}

/// Sweeps every rule of a study. For the choice of a rule, a harmed job costs `price` CPU-seconds.
pub fn sweep_all(study: &Study, price: f64) -> Swept {
    let mut sweeps: Vec<Sweep> =
        (0..study.asked.rules.len()).map(|rule_idx| sweep(study, rule_idx)).collect();
    for (sweep, intervals) in sweeps.iter_mut().zip(intervals(study)) {
        for (row, interval) in sweep.rows.iter_mut().zip(intervals) {
            row.interval = Some(interval);
        }
    }
    let is_split = study.asked.sweep_by.is_some();
    let rules = 0..if is_split { study.asked.rules.len() } else { 0 };
    let groups = rules.flat_map(|rule_idx| sweep_groups(study, rule_idx)).collect();
    let selection = select(study, price).filter(|_| study.knows_amounts());
    Swept { sweeps, groups, selection }
}

/// Refuses to choose a rule if there are no jobs to choose it on, or no later jobs to test it on.
///
/// # Errors
/// One side has no job with tasks loaded, or no outcome is known.
pub fn check_sides(study: &Study) -> Result<()> {
    match sides(study) {
        Some(_) if !study.knows_outcomes() => {
            let text = "--train-until needs outcomes of jobs, and there is no `job_events`";
            Err(Usage(text.to_owned()).into())
        }
        Some((past, future)) if past == 0 || future == 0 => Err(Usage(format!(
            "--train-until leaves no jobs to choose on or to test on: {} with tasks loaded ended \
            before it, {} submitted after it",
            digits::counted(past, "job"),
            if future == 1 {
                "1 was".to_owned()
            } else {
                format!("{} were", digits::grouped(future))
            }
        ))
        .into()),
        _ => Ok(()),
    }
}

//! The common parts of the charts of a kill sweep: the sweeps that are drawn, and words in
//! captions.

use super::sum_of;
use crate::answers::edges;
use crate::studies::fold::Study;
use crate::studies::kill_sweep::{Sweep, SweepRow};
use crate::studies::meter::Resource;

/// The definitions of CPU time and outcomes, and what crosses the edges of the window.
pub(super) fn definition(study: &Study) -> String {
    let requested = if study.asked.meter.to_string() == "requested" {
        " (as requested, whether it was used or not)"
    } else {
        ""
    };
    format!(
        "{}: {}{requested}; outcomes classified by {}.{}",
        study.asked.meter.resource().title(),
        study.asked.meter,
        study.asked.classes,
        edges::ending(&edges::of_study(study))
    )
}

/// The sweeps that are drawn, and a sentence about the others. Rules are drawn if they save or harm
/// something; if no rule does, all are drawn.
pub(super) fn drawn(sweeps: &[Sweep]) -> (Vec<&Sweep>, String) {
    let (drawn, others): (Vec<&Sweep>, Vec<&Sweep>) =
        sweeps.iter().partition(|sweep| sweep.rows.iter().any(SweepRow::has_effect));
    if drawn.is_empty() || others.is_empty() {
        return (sweeps.iter().collect(), String::new());
    }
    let said = left_out(&others);
    (drawn, format!(" Left out, because they would have saved and harmed nothing: {said}."))
}

/// A sentence about rules that save and harm nothing. Rules that kill tasks are named separately,
/// because the table has rows of them.
fn left_out(rules: &[&Sweep]) -> String {
    let kills = |sweep: &&Sweep| sweep.rows.iter().any(|row| 0 < sum_of(&row.condemned_tasks));
    let (kill, idle): (Vec<&Sweep>, Vec<&Sweep>) = rules.iter().copied().partition(kills);
    let said = |rules: &[&Sweep], what: &str| {
        let names: Vec<&str> = rules.iter().map(|sweep| sweep.rule.as_str()).collect();
        let verb = if names.len() == 1 { "kills" } else { "kill" };
        (!names.is_empty()).then(|| format!("{} ({verb} {what})", names.join(", ")))
    };
    let parts =
        [said(&idle, "no task"), said(&kill, "only tasks that have no CPU time left to use")];
    parts.into_iter().flatten().collect::<Vec<String>>().join("; ")
}

/// A share below this looks like zero in a chart.
pub(super) const NEXT_TO_NOTHING: f64 = 0.001;

/// A sentence that explains the bands; empty if there are none.
pub(super) fn band_note(sweep: &Sweep) -> &'static str {
    if sweep.rows.iter().any(|row| row.interval.is_some()) {
        " Bands: 95 % under resampling of jobs."
    } else {
        ""
    }
}

/// The name of what a kill saves.
pub(super) fn saved_of(study: &Study) -> &'static str {
    if study.asked.meter.resource() == Resource::Gpu { "GPU time" } else { "CPU" }
}

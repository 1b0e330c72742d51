//! Attempts over time as bars: on the page of a job a row per task, on that of a machine as many
//! rows as attempts ran side by side.
//!
//! In: attempts as results store them. Out: a chart whose colours are those of outcomes.

use crate::charts::{Chart, GanttChart, GanttSpan, Tone, outcome_tone};

/// Bars that are being gathered, in seconds on the trace clock.
#[derive(Default)]
pub(super) struct Bars {
    spans: Vec<GanttSpan>,
    outcomes: Vec<&'static str>,
}

impl Bars {
    /// Adds an attempt, from one instant to another, to a row.
    pub(super) fn add(&mut self, row: usize, (from, to): (f64, f64), ended_by: &str, name: &str) {
        let outcome = outcome(ended_by);
        if !self.outcomes.contains(&outcome) {
            self.outcomes.push(outcome);
        }
        let label = format!("{name} {outcome}").trim_start().to_owned();
        self.spans.push(GanttSpan { row, from, to, label, tone: tone(outcome) });
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.spans.len()
    }

    /// Where the first begins and the last ends, s.
    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        let from = self.spans.iter().map(|span| span.from).reduce(f64::min)?;
        let to = self.spans.iter().map(|span| span.to).reduce(f64::max)?;
        Some((from, to))
    }

    /// The chart; its axis counts from `since_s`, in units of so many seconds.
    pub(super) fn chart(
        mut self,
        (title, caption): (String, String),
        (time_axis, since_s, per): (String, f64, f64),
        rows: Vec<String>,
    ) -> Chart {
        for span in &mut self.spans {
            (span.from, span.to) = ((span.from - since_s) / per, (span.to - since_s) / per);
        }
        let named = |outcome: &&str| ((*outcome).to_owned(), tone(outcome));
        let legend = self.outcomes.iter().map(named).collect();
        Chart::Gantt(GanttChart { title, caption, time_axis, rows, spans: self.spans, legend })
    }
}

/// What ended an attempt, as an outcome.
fn outcome(ended_by: &str) -> &'static str {
    match ended_by {
        "FINISH" => "finished",
        "FAIL" => "failed",
        "KILL" => "killed",
        "EVICT" => "evicted",
        "LOST" => "lost",
        "still running" => "running",
        _ => "ended with the job",
    }
}

fn tone(outcome: &str) -> Tone {
    if outcome == "ended with the job" { Tone::Ink } else { outcome_tone(outcome) }
}

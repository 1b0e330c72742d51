//! Attempts over time as bars. The page of a job has one row per task. The page of a machine has as
//! many rows as attempts ran there at the same time.
//!
//! In: attempts of a stored result. Out: a chart with the colours of outcomes.

use crate::charts::{Chart, GanttChart, GanttSpan, Tone, outcome_tone};

/// The name of the end of an attempt in a log that records no status.
pub(super) const ENDED: &str = "ended";

/// Bars collected for a chart, in seconds on the trace clock.
#[derive(Default)]
pub(super) struct Bars {
    spans: Vec<GanttSpan>,
    outcomes: Vec<&'static str>,
    attempts: usize,
    has_waits: bool,
}

/// The name of waits in the legend.
const WAITING: &str = "waiting";

/// The colour of waits.
const WAIT: Tone = Tone::Grey;

impl Bars {
    /// Adds an attempt with its start and end to a row.
    pub(super) fn add(&mut self, row: usize, (from, to): (f64, f64), ended_by: &str, name: &str) {
        let outcome = outcome(ended_by);
        if !self.outcomes.contains(&outcome) {
            self.outcomes.push(outcome);
        }
        let label = format!("{name} {outcome}").trim_start().to_owned();
        self.attempts += 1;
        let (tone, is_wait) = (tone(outcome), false);
        self.spans.push(GanttSpan { row, from, to, label, tone, is_wait });
    }

    /// Adds the time from the submission of a task to the start of its attempt.
    pub(super) fn add_wait(&mut self, row: usize, (from, to): (f64, f64)) {
        if from < to {
            self.has_waits = true;
            let (label, tone, is_wait) = (WAITING.to_owned(), WAIT, true);
            self.spans.push(GanttSpan { row, from, to, label, tone, is_wait });
        }
    }

    /// The number of attempts.
    pub(super) const fn attempts(&self) -> usize {
        self.attempts
    }

    /// Whether any attempt waited.
    pub(super) const fn has_waits(&self) -> bool {
        self.has_waits
    }

    /// The earliest start and the latest end, s.
    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        let from = self.spans.iter().map(|span| span.from).reduce(f64::min)?;
        let to = self.spans.iter().map(|span| span.to).reduce(f64::max)?;
        Some((from, to))
    }

    /// The chart. Its time axis starts at `since_s` and has units of `per` seconds.
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
        let mut legend: Vec<(String, Tone)> = self.outcomes.iter().map(named).collect();
        legend.extend(self.has_waits.then(|| (WAITING.to_owned(), WAIT)));
        Chart::Gantt(GanttChart { title, caption, time_axis, rows, spans: self.spans, legend })
    }
}

/// The outcome for the event that ended an attempt.
fn outcome(ended_by: &str) -> &'static str {
    match ended_by {
        "FINISH" => "finished",
        "FAIL" => "failed",
        "KILL" => "killed",
        "EVICT" => "evicted",
        "LOST" => "lost",
        "still running" => "running",
        ENDED => "ended",
        _ => "ended with the job",
    }
}

fn tone(outcome: &str) -> Tone {
    if outcome == "ended with the job" || outcome == ENDED {
        Tone::Ink
    } else {
        outcome_tone(outcome)
    }
}

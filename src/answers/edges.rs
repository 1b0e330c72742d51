//! Says how many of a statistic's jobs, tasks or attempts reach over the edges of the window.
//!
//! In: a [`Censoring`], or what it is part of. Out: a sentence without its full stop, for captions
//! and for stderr.

use crate::digits::{self, counted, six_digits};
use crate::studies::censoring::Censoring;
use crate::studies::fold::Study;
use crate::studies::ledger::Ledger;
use digits::grouped;

/// The sentence of a study, with the attempts that are closed at the end of their job.
pub(crate) fn of_study(study: &Study) -> String {
    let cpu = study.closed_with_job_sum();
    with_closed(&study.censoring(), study.closed_with_job.attempts, cpu, study.unit())
}

/// The same of a ledger.
pub(crate) fn of_ledger(ledger: &Ledger) -> String {
    let cpu = ledger.closed_with_job_sum;
    with_closed(&ledger.censoring, ledger.attempts_closed_with_job, cpu, ledger.unit)
}

fn with_closed(censoring: &Censoring, closed: u64, cpu: Option<f64>, unit: &str) -> String {
    let edges = sentence(censoring);
    if closed == 0 {
        return edges;
    }
    let cpu = cpu.map_or_else(String::new, |cpu| format!(" ({} {unit})", six_digits(cpu)));
    format!(
        "{edges}; {} without an end in the loaded parts closed at the end of the job{cpu}",
        counted(closed, "attempt")
    )
}

/// `7 jobs begun before the window (time 0) are in, 3,989 open at its end are closed there`.
pub(crate) fn sentence(censoring: &Censoring) -> String {
    let of = censoring.of;
    let begun = format!("{of} begun before the window (time 0) are");
    let begun = match censoring.left_censored_out {
        0 => format!("{} {begun} in", grouped(censoring.left_censored)),
        out => format!("{} {begun} left out", grouped(out)),
    };
    let ended = censoring
        .ended_waiting
        .map_or_else(String::new, |ended| format!(", {} ended before any attempt", grouped(ended)));
    let open = match (censoring.censored_out, censoring.censored) {
        (0, None) => String::new(),
        (0, Some(open)) if censoring.is_of_counts => {
            format!(", {} open at its end are in with what they have so far", grouped(open))
        }
        (0, Some(open)) => format!(", {} open at its end are closed there", grouped(open)),
        (out, _) => format!(", {} open at its end are left out", grouped(out)),
    };
    format!("{begun}{ended}{open}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_and_what_is_out_is_said() {
        let jobs = Censoring { of: "jobs", left_censored: 7, ..Censoring::default() };
        assert_eq!(sentence(&jobs), "7 jobs begun before the window (time 0) are in");
        let closed = Censoring { censored: Some(3989), ..jobs };
        assert_eq!(
            sentence(&closed),
            "7 jobs begun before the window (time 0) are in, 3,989 open at its end are closed there"
        );
        let out = Censoring { left_censored_out: 2, censored_out: 5, ..closed };
        assert_eq!(
            sentence(&out),
            "2 jobs begun before the window (time 0) are left out, 5 open at its end are left out"
        );
    }
}

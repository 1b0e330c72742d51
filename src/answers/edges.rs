//! Counts the jobs, tasks or attempts of a statistic that cross the start or the end of the window.
//!
//! In: a [`Censoring`], or the study or ledger that contains it. Out: a sentence without its full
//! stop, for captions and for stderr.

use crate::digits::{counted, grouped, six_digits};
use crate::studies::censoring::Censoring;
use crate::studies::fold::Study;
use crate::studies::ledger::Ledger;

/// The sentence for a study, with the attempts that are closed at the end of their job.
pub fn of_study(study: &Study) -> String {
    let cpu = study.closed_with_job_sum();
    with_closed(&study.censoring(), study.closed_with_job.attempts, cpu, study.unit())
}

/// The sentence for a ledger, with the attempts that are closed at the end of their job.
pub fn of_ledger(ledger: &Ledger) -> String {
    let cpu = ledger.closed_with_job_sum;
    with_closed(&ledger.censoring, ledger.attempts_closed_with_job, cpu, ledger.unit)
}

/// A sentence for the end of a caption, with a space before it and a full stop. Empty if `sentence`
/// is empty.
pub(crate) fn ending(sentence: &str) -> String {
    if sentence.is_empty() { String::new() } else { format!(" {sentence}.") }
}

fn with_closed(censoring: &Censoring, closed: u64, cpu: Option<f64>, unit: &str) -> String {
    let edges = sentence(censoring);
    let clauses = [edges, closed_with_job(closed, cpu, unit)];
    clauses.into_iter().filter(|clause| !clause.is_empty()).collect::<Vec<_>>().join("; ")
}

/// `7 attempts have no end in the loaded parts and are closed at the end of their job (8.5
/// task-s)`. Empty if there are no such attempts.
pub(crate) fn closed_with_job(closed: u64, cpu: Option<f64>, unit: &str) -> String {
    if closed == 0 {
        return String::new();
    }
    let cpu = cpu.map_or_else(String::new, |cpu| format!(" ({} {unit})", six_digits(cpu)));
    let (have, job) = if closed == 1 { ("has", "its job") } else { ("have", "their job") };
    format!(
        "{} {have} no end in the loaded parts and {} closed at the end of {job}{cpu}",
        counted(closed, "attempt"),
        if closed == 1 { "is" } else { "are" }
    )
}

/// `7 jobs that began before the window (time 0) are included, 3,989 open at its end are closed
/// then`. Counts of 0 are left out, so the sentence may be empty.
pub(crate) fn sentence(censoring: &Censoring) -> String {
    let noun = censoring.of.trim_end_matches('s');
    let mut clauses: Vec<String> = Vec::new();
    // The first count in the sentence names the noun and the window.
    let mut say = |count: u64, what: &str, verb: &str, then: &str| {
        if count == 0 {
            return;
        }
        let counted = if clauses.is_empty() { counted(count, noun) } else { grouped(count) };
        let is = match (verb, count) {
            ("be", 1) => " is",
            ("be", _) => " are",
            _ => "",
        };
        let what = if clauses.iter().any(|clause| clause.contains("the window")) {
            what.replace("the end of the window", "its end")
        } else {
            what.to_owned()
        };
        clauses.push(format!("{counted} {what}{is}{then}"));
    };
    let begun = "that began before the window (time 0)";
    match censoring.left_censored_out {
        0 => say(censoring.left_censored, begun, "be", " included"),
        out => say(out, begun, "be", " left out"),
    }
    say(censoring.ended_waiting.unwrap_or(0), "ended before any attempt", "", "");
    let open = "open at the end of the window";
    match (censoring.censored_out, censoring.censored) {
        (0, None) => {}
        (0, Some(count)) if censoring.is_of_counts => {
            say(count, open, "be", " included with what is known so far");
        }
        (0, Some(count)) => say(count, open, "be", " closed then"),
        (out, _) => say(out, open, "be", " left out"),
    }
    clauses.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_and_what_is_out_is_said() {
        let jobs = Censoring { of: "jobs", left_censored: 7, ..Censoring::default() };
        assert_eq!(sentence(&jobs), "7 jobs that began before the window (time 0) are included");
        let closed = Censoring { censored: Some(3989), ..jobs };
        assert_eq!(
            sentence(&closed),
            "7 jobs that began before the window (time 0) are included, 3,989 open at its end are closed then"
        );
        let out = Censoring { left_censored_out: 2, censored_out: 5, ..closed };
        assert_eq!(
            sentence(&out),
            "2 jobs that began before the window (time 0) are left out, 5 open at its end are left out"
        );
        let one = Censoring { left_censored: 0, censored: Some(1), ..jobs };
        assert_eq!(sentence(&one), "1 job open at the end of the window is closed then");
        let none = Censoring { left_censored: 0, censored: Some(0), ..jobs };
        assert_eq!((sentence(&none), ending(&sentence(&none))), (String::new(), String::new()));
        assert_eq!(ending("a"), " a.");
    }
}

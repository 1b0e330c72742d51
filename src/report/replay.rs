//! What a reader must know beside the charts of a replay: the record and the policies side by side,
//! what each policy does, and the assumptions that decide.
//!
//! In: a stored replay. Out: HTML above its charts; nothing for other results.

use std::fmt::Write;

use super::html::{self, Cell};
use super::text::escape;
use crate::answers::replay::{self, RECORD, ReplayAnswer, Replayed, explained};
use crate::digits::grouped;
use crate::replay::metrics::Spread;
use crate::results::Stored;

/// The record beside the policies, the policies in words and the decisive assumptions; empty for
/// another result.
pub(super) fn context(result: &Stored) -> String {
    if result.name != replay::KIND.name {
        return String::new();
    }
    let Some(answer) = result.found::<ReplayAnswer>() else { return String::new() };
    let mut names: Vec<&str> = answer.policies.iter().map(|row| row.policy.as_str()).collect();
    names.dedup();
    let policies = names.into_iter().filter_map(|name| Some((name, explained(name)?)));
    format!("{}{}{}", beside_record(answer), html::facts(policies), assumed(answer))
}

/// A schedule in the numbers that the record and every policy have.
struct Row<'a> {
    name: &'a str,
    finished: u64,
    /// Of all tasks; not known in the record.
    waiting_s: Option<Spread>,
    /// Of the tasks that started in the record.
    recorded_waiting_s: Option<Spread>,
    job_response_s: Option<Spread>,
    bounded_slowdown: Option<Spread>,
}

impl<'a> Row<'a> {
    fn of(row: &'a Replayed) -> Self {
        let metrics = &row.metrics;
        Self {
            name: &row.policy,
            finished: metrics.finished as u64,
            waiting_s: metrics.waiting_s,
            recorded_waiting_s: metrics.recorded_waiting_s.or(metrics.waiting_s),
            job_response_s: metrics.responses_of_whole_jobs(),
            bounded_slowdown: metrics.bounded_slowdown,
        }
    }

    fn cells(&self) -> Vec<Cell> {
        let time =
            |spread: Option<Spread>, value: fn(Spread) -> f64| Cell::lasting(spread.map(value));
        let slowdown = self.bounded_slowdown.map_or(f64::NAN, |spread| spread.mean);
        vec![
            Cell::name(self.name),
            time(self.waiting_s, |spread| spread.mean),
            time(self.recorded_waiting_s, |spread| spread.mean),
            time(self.recorded_waiting_s, |spread| spread.p95),
            Cell::rounded(slowdown),
            time(self.job_response_s, |spread| spread.mean),
            time(self.job_response_s, |spread| spread.median),
            time(self.job_response_s, |spread| spread.p95),
            Cell::of(&self.finished.to_string()),
        ]
    }
}

/// A table with a row for the record and one per policy; empty if the log records no waits, or if
/// users react, so that a policy has several rows.
fn beside_record(answer: &ReplayAnswer) -> String {
    let Some(record) = answer.recorded else { return String::new() };
    if answer.policies.iter().any(|row| row.arrivals.is_some()) {
        return String::new();
    }
    let first = Row {
        name: RECORD,
        finished: record.finished,
        waiting_s: None,
        recorded_waiting_s: record.waiting_s,
        job_response_s: record.responses_of_whole_jobs(),
        bounded_slowdown: record.bounded_slowdown,
    };
    let rows: Vec<Vec<Cell>> = std::iter::once(first)
        .chain(answer.policies.iter().map(Row::of))
        .map(|row| row.cells())
        .collect();
    let columns = [
        "policy",
        "mean wait of all tasks",
        "mean wait of tasks that started in the record",
        "95 % of these wait at most",
        "mean bounded slowdown of finished tasks",
        "mean response of jobs",
        "median response of jobs",
        "95 % of responses at most",
        "finished tasks",
    ]
    .map(str::to_owned);
    let table = html::named_table(
        "What happened, and what each policy would have done",
        &columns,
        str::to_owned,
        &rows,
    );
    format!("{table}<p class=\"source\">{}</p>\n", escape(&populations(answer)))
}

/// Which tasks and jobs the numbers of the record and of the policies are about.
fn populations(answer: &ReplayAnswer) -> String {
    let counts = answer.history.unwrap_or_default();
    let mut said = "Response: from submission to end. Bounded slowdown: response over run time, \
        where runs of less than 10 s count as 10 s. It is that of finished tasks here; on the page about \
        load, it is that of all jobs that ended. Makespan: from the first submission to the last \
        end; charts leave out its end if nothing waits and hardly anything runs then."
        .to_owned();
    if 0 < counts.dropped_attempts {
        said.push_str(
            " In the record both include attempts that were evicted, lost or submitted again, which the \
            replays leave out, so a slowdown may be larger there although tasks start sooner.",
        );
    }
    if 0 < counts.still_running {
        let _ = write!(
            said,
            " Tasks that still run at the end of the window ({}) count as finished there, in the \
            record as in the replays.",
            grouped(counts.still_running)
        );
        if answer.policies.iter().any(|row| row.metrics.whole_job_response_s.is_some()) {
            said.push_str(
                " Responses in this table and in the chart are those of jobs without such tasks, which last \
                as long as the window under every policy; those in the last table are of all jobs.",
            );
        }
    }
    if 0 < counts.began_before {
        let _ = write!(
            said,
            " Tasks that were submitted before the window ({}) have no recorded wait; the replays \
            submit them when the window starts.",
            grouped(counts.began_before)
        );
    }
    said
}

/// The assumptions that decide, in one paragraph.
fn assumed(answer: &ReplayAnswer) -> String {
    if answer.decisive.is_empty() {
        return String::new();
    }
    format!(
        "<p class=\"source\">The replay is not the recorded schedule. {}</p>\n",
        escape(&answer.decisive.join(" "))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assumptions_that_decide_are_in_sight() {
        let decisive = vec!["No task is preempted.".to_owned(), "a < b.".to_owned()];
        let answer = ReplayAnswer { decisive, ..ReplayAnswer::default() };
        assert_eq!(
            assumed(&answer),
            "<p class=\"source\">The replay is not the recorded schedule. No task is preempted. \
            a &lt; b.</p>\n"
        );
        assert_eq!(assumed(&ReplayAnswer::default()), "");
    }
}

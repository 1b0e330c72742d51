//! How the counts of tasks without an end add up: each page counts the ones that matter for its
//! question.
//!
//! In: the stored outcomes of tasks, CPU time, and attempts of each task. Out: HTML below the
//! tables of tasks. It shows how the counts of open tasks add up, unless all pages have the same
//! counts or a result is missing. It also says what tasks without an attempt are.
//!
//! ```text
//!  last event is a SCHEDULE or a SUBMIT      flow of tasks
//!    ├── exactly 01; or no attempt           outcomes by sequence
//!    ├── the job has ended                   CPU time: closed with the job
//!    └── the job has not ended               CPU time, load, distributions: open at the end
//! ```

use super::html::{self, Cell};
use super::text::sentence;
use crate::answers::account::AccountAnswer;
use crate::answers::classify::{self, ClassifyAnswer};
use crate::answers::describe::DescribeAnswer;
use crate::answers::flow::ending_as;
use crate::digits::grouped;
use crate::results::Stored;
use crate::studies::censoring::Censoring;
use crate::studies::outcomes::OutcomeRow;

/// Counts of running and of waiting tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counts {
    running: u64,
    waiting: u64,
}

/// No task.
const NONE: Counts = Counts { running: 0, waiting: 0 };

impl Counts {
    fn row(self, name: &str) -> Vec<Cell> {
        let Self { running, waiting } = self;
        let count = |count: u64| Cell::of(&count.to_string());
        vec![Cell::name(name), count(running), count(waiting), count(running + waiting)]
    }
}

/// The tasks without an end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Open {
    /// All of them, by their last event.
    last: Counts,
    /// The running ones with the sequence 01, and the waiting ones that wait for their first
    /// attempt.
    plain: Counts,
    /// Those whose job has ended.
    closed: Counts,
    /// Those whose job has not ended.
    going_on: Counts,
}

impl Open {
    /// `None` if the counts do not add up, for example because a result is about other tasks.
    fn of(tasks: &ClassifyAnswer, cpu: &AccountAnswer, open_tasks: u64) -> Option<Self> {
        let plain = |is_one: fn(&str) -> bool| -> u64 {
            let is_one = |row: &&OutcomeRow| row.sequence.as_deref().is_some_and(is_one);
            tasks.sequences.iter().filter(is_one).map(|row| row.count).sum()
        };
        let last = Counts {
            running: ending_as(&tasks.sequences, "running"),
            waiting: ending_as(&tasks.sequences, "pending"),
        };
        let running = cpu.censoring.censored?;
        let going_on = Counts { running, waiting: open_tasks.checked_sub(running)? };
        let closed = Counts {
            running: last.running.checked_sub(going_on.running)?,
            waiting: last.waiting.checked_sub(going_on.waiting)?,
        };
        let plain =
            Counts { running: plain(|own| own == "01"), waiting: plain(classify::waits_first) };
        (closed.running == cpu.attempts_closed_with_job).then_some(Self {
            last,
            plain,
            closed,
            going_on,
        })
    }
}

/// The counts of open tasks next to each other, and what tasks without an attempt are. Empty for
/// results other than the outcomes of tasks by their exact sequence.
pub(super) fn added_up(result: &Stored, all: &[Stored]) -> String {
    let named = |name: &str| all.iter().find(|result| result.name == name);
    let tasks = (result.name == TASKS).then(|| result.found::<ClassifyAnswer>()).flatten();
    let Some(tasks) = tasks.filter(|own| own.is_counted_in_two_ways()) else {
        return String::new();
    };
    let cpu = named("account").and_then(|result| result.found::<AccountAnswer>());
    let attempts = named("attempts").and_then(|result| result.found::<DescribeAnswer>());
    let open = cpu.zip(attempts).and_then(|(cpu, attempts)| {
        let Censoring { censored, censored_out, .. } = attempts.censoring;
        Open::of(tasks, cpu, censored? + censored_out)
    });
    let table = open.filter(|open| open.last != open.plain || open.closed != NONE).map(Open::table);
    format!("{}{}", table.unwrap_or_default(), without_attempt(&tasks.sequences))
}

/// The name of the result with the outcomes of tasks.
const TASKS: &str = classify::KINDS[1].name;

impl Open {
    fn table(self) -> String {
        let columns = ["tasks without an end", "running", "waiting", "together"].map(str::to_owned);
        let rows = [
            self.last.row("all, by their last event (bars and flow above)"),
            self.plain.row(
                "those with the sequence 01, or that wait for the first attempt (two columns of the table above)",
            ),
            self.closed.row("those of jobs that have ended (CPU time closes them with the job)"),
            self.going_on
                .row("those of other jobs (open at the end: in CPU time, load and distributions)"),
        ];
        let table =
            html::named_table("Open tasks, as they are counted", &columns, str::to_owned, &rows);
        format!(
            "<details><summary>How many tasks have no end, as each page counts them</summary>\n{table}\
            </details>\n"
        )
    }
}

/// A paragraph that says what the tasks without an attempt are; empty if there is only one kind of
/// them.
fn without_attempt(sequences: &[OutcomeRow]) -> String {
    let parts = classify::without_attempt(sequences);
    let total: u64 = parts.iter().map(|part| part.count).sum();
    if parts.len() < 2 {
        return String::new();
    }
    let parts = parts.iter().map(|part| format!("{} {}", grouped(part.count), part.words));
    let parts: Vec<String> = parts.collect();
    format!(
        "<p class=\"source\">{}.</p>\n",
        sentence(&format!("{} tasks have no attempt: {}", grouped(total), parts.join(", ")))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_open_tasks_are_shown_if_they_add_up() {
        let row = |sequence: &str, count| OutcomeRow {
            sequence: Some(sequence.to_owned()),
            outcome: "other".to_owned(),
            count,
            ..OutcomeRow::default()
        };
        let tasks = ClassifyAnswer {
            sequences: vec![
                row("01", 5),
                row("0121", 3),
                row("0", 2),
                row("0120", 1),
                row("014", 9),
            ],
            ..ClassifyAnswer::default()
        };
        let cpu = |closed, open| AccountAnswer {
            attempts_closed_with_job: closed,
            censoring: Censoring { censored: Some(open), ..Censoring::default() },
            ..AccountAnswer::default()
        };
        let counts = |running, waiting| Counts { running, waiting };
        assert_eq!(
            Open::of(&tasks, &cpu(2, 6), 8),
            Some(Open {
                last: counts(8, 3),
                plain: counts(5, 2),
                closed: counts(2, 1),
                going_on: counts(6, 2),
            })
        );
        for (closed, running, open) in [(1, 6, 8), (2, 9, 9), (2, 6, 5), (2, 6, 10)] {
            assert_eq!(Open::of(&tasks, &cpu(closed, running), open), None);
        }
    }
}

//! Outcomes by last event and by course, in one table.
//!
//! In: stored outcomes whose counts by the last event differ from those by the exact sequence of
//! events. Out: a table as HTML that replaces the one of sequences, and a sentence about tasks of
//! killed jobs.

use super::html::{self, Cell};
use super::text::{caption, escape};
use crate::answers::classify::{self, ClassifyAnswer};
use crate::answers::describe::DescribeAnswer;
use crate::answers::flow::{Way, ending_as, shown};
use crate::answers::sentences::percent;
use crate::digits::grouped;
use crate::results::{Stored, Table};
use crate::studies::outcomes::OutcomeRow;

/// The answer of a result whose outcomes are counted in two ways.
fn in_two_ways(result: &Stored) -> Option<&ClassifyAnswer> {
    let is_of_outcomes = classify::KINDS.iter().any(|kind| kind.name == result.name);
    let answer = is_of_outcomes.then(|| result.found::<ClassifyAnswer>()).flatten();
    answer.filter(|own| own.is_counted_in_two_ways())
}

/// The table that replaces the one of exact sequences; `None` for other tables.
pub(super) fn in_place_of(result: &Stored, table: &Table) -> Option<String> {
    let answer = in_two_ways(result).filter(|_| table.file == format!("{}.csv", result.name))?;
    let file = escape(&table.file);
    let source = format!(
        "<p class=\"source\">Data: <a href=\"data/{file}\">{file}</a>, which counts by the exact sequence of events only: \
        014 is submitted, scheduled, finished; 013 ends with a failure, 015 with a kill, and 01 still \
        runs; any other sequence is \"other\"</p>\n"
    );
    let title = format!("{}: last event and course", caption(&result.name));
    let header = HEADER.map(str::to_owned);
    Some(html::named_table(&title, &header, str::to_owned, &rows(answer)) + &source)
}

/// The last event, the number of jobs or tasks with it, their share, and their courses before it.
const HEADER: [&str; 7] = [
    "last event",
    "all",
    "share",
    "one attempt and no other event",
    "one attempt and other events",
    "several attempts",
    "no start seen",
];

/// The index of a course among the columns of courses.
fn course(row: &OutcomeRow) -> usize {
    let way = Way::of(row.sequence.as_deref().unwrap_or_default());
    match way.attempts() {
        _ if row.outcome != "other" => 0,
        1 => 1,
        2 => 2,
        _ => 3,
    }
}

/// A row for each last event that occurs, the most frequent first. Each job or task is counted in
/// exactly one course.
fn rows(answer: &ClassifyAnswer) -> Vec<Vec<Cell>> {
    let row = |ending: classify::Ending| {
        let mut courses = [0; 4];
        for row in &answer.sequences {
            if Way::of(row.sequence.as_deref().unwrap_or_default()).end() == ending.outcome {
                courses[course(row)] += row.count;
            }
        }
        let count = |count: u64| Cell::of(&count.to_string());
        let first = [
            Cell::name(shown(ending.outcome)),
            count(ending.count),
            Cell::share(&ending.share.to_string()),
        ];
        first.into_iter().chain(courses.map(count)).collect()
    };
    answer.endings().into_iter().map(row).collect()
}

/// A sentence that most tasks belong to killed jobs, although many of these tasks finished. Empty
/// if that is not so, or not known.
pub(super) fn of_killed_jobs(result: &Stored, all: &[Stored]) -> String {
    let tasks = in_two_ways(result).filter(|_| result.name == classify::KINDS[1].name);
    let attempts = all.iter().find(|own| own.name == "attempts");
    let attempts = attempts.and_then(Stored::found::<DescribeAnswer>);
    let said = tasks.zip(attempts).and_then(|(tasks, attempts)| {
        let count = |outcome: &str| {
            let row = attempts.rows.iter().find(|row| row.outcome == outcome)?;
            row.count
        };
        let finished = ending_as(&tasks.sequences, "finished");
        let of_killed = tasks.finished_of.as_ref()?.get("killed").copied().unwrap_or(0);
        killed([count("killed")?, count("all")?, tasks.total], [of_killed, finished])
    });
    said.map_or_else(String::new, |said| format!("<p>{said}</p>\n"))
}

/// The sentence from these counts: tasks of killed jobs, tasks whose job is known, all tasks; then
/// the finished tasks in killed jobs, and in all jobs.
#[expect(clippy::cast_precision_loss, reason = "tasks are far below 2^53")]
fn killed([killed, known, total]: [u64; 3], [of_killed, finished]: [u64; 2]) -> Option<String> {
    let is_most = total < 2 * killed && known == total && finished < 2 * of_killed;
    is_most.then(|| {
        format!(
            "{} of the {} tasks ({}) belong to jobs that were killed, among them {} of the {} tasks \
            that finished ({}): outcomes of tasks are not those of their jobs.",
            grouped(killed),
            grouped(total),
            percent(killed as f64 / total as f64),
            grouped(of_killed),
            grouped(finished),
            percent(of_killed as f64 / finished as f64)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_in_one_course() {
        let row = |sequence: &str, outcome: &str, count: u64| OutcomeRow {
            sequence: Some(sequence.to_owned()),
            outcome: outcome.to_owned(),
            count,
            share: 0.0,
        };
        let sequences = vec![
            row("014", "finished", 60),
            row("01214", "other", 20),
            row("05", "other", 12),
            row("0714", "other", 8),
        ];
        let answer = ClassifyAnswer { sequences, total: 100, ..ClassifyAnswer::default() };
        let table =
            html::named_table("x", &HEADER.map(str::to_owned), str::to_owned, &rows(&answer));
        assert_eq!(table.matches("<tr").count(), 3, "{table}");
        for count in ["88", "60", "8", "20", "12"] {
            assert!(table.contains(&format!(">{count}<")), "{count}: {table}");
        }
    }

    #[test]
    fn tasks_of_killed_jobs_may_have_finished() {
        assert_eq!(
            killed([622_806, 767_616, 767_616], [358_596, 405_363]).unwrap(),
            "622,806 of the 767,616 tasks (81.1 %) belong to jobs that were killed, among them \
            358,596 of the 405,363 tasks that finished (88.5 %): outcomes of tasks are not those of their jobs."
        );
        assert_eq!(killed([40, 100, 100], [60, 90]), None);
        assert_eq!(killed([60, 90, 100], [60, 90]), None);
        assert_eq!(killed([60, 100, 100], [20, 40]), None);
    }
}

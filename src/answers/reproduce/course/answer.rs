//! The answers to the questions, in all their forms.

use arrow::record_batch::RecordBatch;
use serde_json::{Value, json};

use super::groups::{group, scope};
use super::words::{QUESTIONS, Question, Said};
use super::{KIND, charts};
use crate::answers::reproduce::mandai::basis;
use crate::charts::Chart;
use crate::facts::window::Windows;
use crate::faults::{Result, Usage};
use crate::lake::Lake;
use crate::results::frame::Frame;
use crate::results::store::{Answer, Origin};
use crate::schema::Source;
use crate::studies::course::{Answers, COUNT, Row, answers};
use crate::studies::mandai::Basis;

/// The answers on the loaded tables.
pub struct Course {
    pub(super) answers: Answers,
    /// By question, the part of its tables that is loaded.
    scopes: [Basis; COUNT],
    windows: Windows,
    /// The origin of the answers.
    pub origin: Origin,
}

/// Answers all questions whose tables are loaded.
///
/// # Errors
/// The lake is of another trace, or a table cannot be read.
pub fn course(lake: &Lake, windows: Windows) -> Result<Course> {
    if lake.source() != Source::Google2011 {
        let source = lake.source();
        let problem =
            format!("these questions are about google-2011, and this lake holds {source}");
        return Err(Usage(problem).into());
    }
    Ok(Course {
        answers: answers(lake, windows)?,
        scopes: QUESTIONS.each_ref().map(|question| basis(lake, question.tables)),
        windows,
        origin: Origin::of(lake),
    })
}

impl Course {
    /// Each question with its number, rows and scope.
    fn questions(&self) -> impl Iterator<Item = (u64, &'static Question, &[Row], &Basis)> {
        let all = QUESTIONS.iter().zip(&self.answers.questions).zip(&self.scopes);
        (1..).zip(all).map(|(number, ((question, rows), scope))| {
            // A question has no answer without one of its tables, even if another table gives some
            // of its numbers.
            let rows = if matches!(scope, Basis::Missing(_)) { &[] } else { rows.as_slice() };
            (number, question, rows, scope)
        })
    }

    /// The questions that need a missing table, in words.
    pub fn unanswered(&self) -> Vec<String> {
        let missing = self.questions().filter_map(|(number, _, _, scope)| match scope {
            Basis::Missing(table) => Some(format!("question {number} needs {table}")),
            _ => None,
        });
        missing.collect()
    }

    /// A row per number. With `is_answer`, the numbers are the answers; otherwise, they are those
    /// of other readings.
    fn frame(&self, is_answer: bool) -> RecordBatch {
        let rows: Vec<(u64, &Question, &Row, &Basis)> = self
            .questions()
            .flat_map(|(number, question, rows, scope)| {
                rows.iter().map(move |row| (number, question, row, scope))
            })
            .filter(|(_, question, row, _)| question.is_answer(&row.measure) == is_answer)
            .collect();
        let rows = || rows.iter();
        Frame::default()
            .int("question", rows().map(|row| i64::try_from(row.0).expect("ten questions")))
            .about("Number of the question, 1 to 10")
            .text("measure", rows().map(|row| row.2.measure.as_str()))
            .about("What is counted, as the query defines it")
            .text("group", rows().map(|row| group(row.1, row.2)))
            .float("value", rows().map(|row| row.2.value))
            .about("A share (part over whole), a correlation, or a wait in seconds")
            .float("part", rows().map(|row| row.2.part))
            .about("Numerator of the share, or sum of the mean; empty for other numbers")
            .float("whole", rows().map(|row| Some(row.2.whole)))
            .about("Denominator, or the number of values behind the number")
            .text("query", rows().map(|row| row.1.query))
            .about("The query that defines the number")
            .text("scope", rows().map(|row| scope(row.1, row.3)))
            .about("The tables and parts that it covers")
            .whole()
            .view(&["question", "measure", "group", "value", "part", "whole"])
            .batch()
    }

    /// The answers.
    pub fn table(&self) -> RecordBatch {
        self.frame(true)
    }

    /// The numbers that other readings give.
    pub fn readings(&self) -> RecordBatch {
        self.frame(false)
    }

    /// The answer in all its forms.
    pub fn answer<'a>(&self, table: &'a RecordBatch) -> Answer<'a> {
        Answer {
            kind: KIND,
            table,
            json: self.json(),
            settings: json!({"windows": self.windows}),
            charts: self.charts(),
        }
    }

    fn charts(&self) -> Vec<(String, Chart)> {
        let mut all = Vec::new();
        for (number, question, rows, _) in self.questions() {
            let caption = question.definition.to_owned();
            let drawn = charts::of(number, question, rows, &self.answers.hours, caption);
            all.extend(drawn.map(|chart| (format!("course-{number:02}"), chart)));
        }
        all
    }

    fn json(&self) -> Value {
        let of = |(number, question, rows, basis): (u64, &Question, &[Row], &Basis)| {
            let json_of = |row: &&Row| {
                json!({
                    "measure": row.measure,
                    "group": group(question, row),
                    "group_key": row.group_key,
                    "part": row.part,
                    "whole": row.whole,
                    "value": row.value,
                })
            };
            let (answer, readings): (Vec<&Row>, Vec<&Row>) =
                rows.iter().partition(|row| question.is_answer(&row.measure));
            json!({
                "number": number,
                "question": question.asked,
                "definition": question.definition,
                "query": question.query,
                "scope": scope(question, basis),
                "answer": answer.iter().map(json_of).collect::<Vec<_>>(),
                "other_readings": readings.iter().map(json_of).collect::<Vec<_>>(),
                "published": question.said.iter().map(|said| beside(said, rows)).collect::<Vec<_>>(),
                "why_answers_differ": question.differ,
            })
        };
        json!({"questions": self.questions().map(of).collect::<Vec<_>>()})
    }
}

/// A number of a public report, next to our number for the same reading if this reading is known.
fn beside(said: &Said, rows: &[Row]) -> Value {
    let (measure, key) = said.reading;
    let row =
        rows.iter().find(|row| row.measure == measure && row.group_key.to_bits() == key.to_bits());
    let ours = row.and_then(|row| if said.is_count { row.part } else { row.value });
    let is_same = |ours: f64| (ours - said.value).abs() <= 0.500_001 * said.digit;
    json!({
        "published": said.value,
        "reading": Some(measure).filter(|measure| !measure.is_empty()),
        "ours": ours,
        "equal": ours.map(is_same),
        "about": said.about,
    })
}

#[cfg(test)]
mod tests {
    use super::super::answer::*;
    use crate::facts::query::Query;

    #[test]
    fn every_question_names_a_query_and_its_tables() {
        for question in &QUESTIONS {
            let query = Query::find(question.query).unwrap();
            let tables = query.tables();
            let is_needed = |table| tables.contains(table);
            assert!(question.tables.iter().all(is_needed), "{}", question.query);
            for measure in question.answers {
                assert!(query.text.contains(measure.split(": ").next().unwrap()), "{measure}");
            }
            assert!(200 < question.differ.len(), "{}", question.query);
        }
    }
}

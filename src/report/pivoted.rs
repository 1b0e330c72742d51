//! The table of predictions by outcome with a row per rule and a column per outcome.
//!
//! In: a result and a table of it. Out: for each rule and outcome, the share of the jobs that the
//! rule predicts not to finish. The rules are in the order of the table above. Other tables stay as
//! they are. The file has a row per rule and outcome, with counts.

use std::borrow::Cow;

use crate::answers::predict::PredictAnswer;
use crate::results::{Stored, Table};

/// The table of predictions by outcome.
const FILE: &str = "predict-outcomes.csv";

/// The start of the names of columns with shares; an outcome follows.
const SHARE_OF: &str = "predicted_share_";

/// The table by rule.
pub(super) fn pivoted<'a>(result: &Stored, table: &'a Table) -> Cow<'a, Table> {
    let own = if table.file == FILE { by_rule(table) } else { None };
    let Some(mut own) = own else { return Cow::Borrowed(table) };
    sort(&mut own.rows, result.found());
    Cow::Owned(own)
}

/// Sorts the rules like the table of their scores: the largest area under the ROC curve first.
fn sort(rows: &mut [Vec<String>], answer: Option<&PredictAnswer>) {
    let rules = answer.map_or(&[][..], |own| own.rules.as_slice());
    let area = |row: &[String]| {
        let own = rules.iter().find(|score| Some(&score.rule) == row.first());
        own.and_then(|score| score.auc).unwrap_or(0.0)
    };
    rows.sort_by(|one, other| area(other).total_cmp(&area(one)));
}

/// The heading of a column of shares; `None` for other columns.
pub(super) fn heading(column: &str) -> Option<String> {
    let outcome = column.strip_prefix(SHARE_OF)?;
    Some(format!("of the {outcome} jobs, predicted not to finish"))
}

fn by_rule(table: &Table) -> Option<Table> {
    let place = |name: &str| table.header.iter().position(|column| column == name);
    let (rule, outcome) = (place("rule")?, place("outcome")?);
    let share = place("predicted_share")?;
    if table.rows.len() < table.row_count {
        return None;
    }
    let mut outcomes: Vec<&String> = Vec::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for row in &table.rows {
        let (rule, outcome, share) = (row.get(rule)?, row.get(outcome)?, row.get(share)?);
        if !outcomes.contains(&outcome) {
            outcomes.push(outcome);
        }
        let column = 1 + outcomes.iter().position(|known| *known == outcome)?;
        if rows.last().is_none_or(|last| last[0] != *rule) {
            rows.push(vec![rule.clone()]);
        }
        let own = rows.last_mut()?;
        own.resize((column + 1).max(own.len()), String::new());
        own[column].clone_from(share);
    }
    for row in &mut rows {
        row.resize(1 + outcomes.len(), String::new());
    }
    let columns = outcomes.iter().map(|outcome| format!("{SHARE_OF}{outcome}"));
    let header = std::iter::once("rule".to_owned()).chain(columns).collect();
    Some(Table { file: table.file.clone(), header, row_count: rows.len(), rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::predict::KIND;
    use crate::results::envelope::Envelope;
    use crate::studies::predict::score::Score;

    #[test]
    fn predictions_have_a_row_per_rule() {
        let own = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let table = Table {
            file: FILE.to_owned(),
            header: own(["rule", "outcome", "jobs", "predicted_share"]),
            rows: vec![
                own(["last", "finished", "9", "0.1"]),
                own(["last", "killed", "4", "0.5"]),
                own(["rate", "killed", "4", "0.75"]),
            ],
            row_count: 3,
        };
        let result = |areas: [f64; 2]| {
            let rules = [("last", areas[0]), ("rate", areas[1])];
            let rules = rules.map(|(rule, auc)| Score {
                rule: rule.to_owned(),
                auc: Some(auc),
                ..Score::default()
            });
            let answer = serde_json::json!({"rules": rules, "jobs_in_all": 9, "jobs_before_window": 0,
                "jobs_without_end": 0, "of": {}, "numerators": {}});
            let name = KIND.name.to_owned();
            Stored::of(Envelope { name, answer, ..Envelope::default() })
        };
        let found = result([0.9, 0.8]);
        let shown = pivoted(&found, &table);
        assert_eq!(shown.header, ["rule", "predicted_share_finished", "predicted_share_killed"]);
        assert_eq!(shown.rows, [["last", "0.1", "0.5"], ["rate", "", "0.75"]]);
        // The rules are in the order of their areas, as in the table above.
        assert_eq!(pivoted(&result([0.8, 0.9]), &table).rows[0][0], "rate");
        assert_eq!(
            heading("predicted_share_killed").unwrap(),
            "of the killed jobs, predicted not to finish"
        );
        assert_eq!(heading("predicted_share"), None);
        let cut = Table { row_count: 4, ..table.clone() };
        assert_eq!(pivoted(&found, &cut).header, table.header);
        let other = Table { file: "x.csv".to_owned(), ..table };
        assert_eq!(pivoted(&found, &other).header, other.header);
    }
}

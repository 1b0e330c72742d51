//! The table of predictions by outcome with a row per rule and a column per outcome.
//!
//! In: a table of a result. Out: the shares of the jobs of each outcome that each rule predicts not to
//! finish; other tables as they are. The file has a row per rule and outcome, with counts.

use std::borrow::Cow;

use crate::results::Table;

/// The table of predictions by outcome.
const FILE: &str = "predict-outcomes.csv";

/// How the columns of shares begin; an outcome follows.
const SHARE_OF: &str = "predicted_share_";

/// The table by rule.
pub(super) fn pivoted(table: &Table) -> Cow<'_, Table> {
    let own = if table.file == FILE { by_rule(table) } else { None };
    own.map_or(Cow::Borrowed(table), Cow::Owned)
}

/// The heading of one of its columns; `None` for others.
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
        let shown = pivoted(&table);
        assert_eq!(shown.header, ["rule", "predicted_share_finished", "predicted_share_killed"]);
        assert_eq!(shown.rows, [["last", "0.1", "0.5"], ["rate", "", "0.75"]]);
        assert_eq!(
            heading("predicted_share_killed").unwrap(),
            "of the killed jobs, predicted not to finish"
        );
        assert_eq!(heading("predicted_share"), None);
        let cut = Table { row_count: 4, ..table.clone() };
        assert_eq!(pivoted(&cut).header, table.header);
        let other = Table { file: "x.csv".to_owned(), ..table };
        assert_eq!(pivoted(&other).header, other.header);
    }
}

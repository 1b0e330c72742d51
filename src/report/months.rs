//! The tables of months and accounts on their page: which tables are folded, and what counts as a
//! long run.
//!
//! In: a stored result and its tables. Out: captions and folds. Tables of other results stay as
//! they are.

use serde::Deserialize;

use super::text::{escape, percent_said};
use crate::answers::monthly::{self, MonthlyAnswer};
use crate::digits::{lasting, three_digits};
use crate::results::{Stored, Table};

/// The tables by month. They say little if the log has no whole months.
const BY_MONTH: [&str; 2] = ["monthly-months.csv", "monthly.csv"];

fn answer(result: &Stored) -> Option<&MonthlyAnswer> {
    let is_monthly = result.name == monthly::KIND.name;
    is_monthly.then(|| result.found::<MonthlyAnswer>()).flatten()
}

/// The caption of a table. If the table has a column about long runs, the caption says what counts
/// as one.
pub(super) fn with_late(result: &Stored, table: &Table, caption: String) -> String {
    let has_late = table.header.iter().any(|column| column == "late_cpu_h");
    match answer(result).filter(|_| has_late) {
        Some(own) => format!("{caption}; long runs: {} or more", lasting(own.late_s)),
        None => caption,
    }
}

/// A note that the log covers less than two whole months, so that no months are compared; empty for
/// other results.
pub(super) fn few(result: &Stored) -> String {
    let short = answer(result).filter(|own| own.has_few_months() && 1 < own.months.len());
    short.map_or_else(String::new, |own| {
        let parts = match own.months_in_part.as_slice() {
            [] => String::new(),
            parts => format!(" (in part: {})", escape(&parts.join(", "))),
        };
        format!(
            "<p class=\"source\">The log covers less than two whole months{parts}: months are not \
            compared.</p>\n"
        )
    })
}

/// The CPU time of a user in attempts that did not finish:
/// `4,153 processor-h, 37.8 % of its CPU time`. `None` if the months were not computed or do not
/// name the user.
pub(super) fn wasted_of(user: &str, all: &[Stored]) -> Option<String> {
    #[derive(Deserialize)]
    struct OfUser {
        user: String,
        wasted_cpu_h: Option<f64>,
        wasted_share: Option<f64>,
    }
    let answer = all.iter().find_map(answer)?;
    let mut rows = answer.users.iter().filter_map(|row| OfUser::deserialize(row).ok());
    let own = rows.find(|own| own.user == user)?;
    let (cpu_h, share) = own.wasted_cpu_h.zip(own.wasted_share)?;
    let unit = answer.unit.trim_end_matches("-s");
    Some(format!("{} {unit}-h, {} of its CPU time", three_digits(cpu_h), percent_said(share)))
}

/// A table as HTML. It is folded if it is by month and the log has no months to compare.
pub(super) fn folded(result: &Stored, table: &Table, (caption, html): (&str, String)) -> String {
    let is_by_month = BY_MONTH.contains(&table.file.as_str());
    let is_short = answer(result).is_some_and(MonthlyAnswer::has_few_months);
    // A long table is already folded.
    if !is_by_month || !is_short || html.contains("<details class=\"long\">") {
        return html;
    }
    let caption = escape(caption);
    format!("<details class=\"long\"><summary>{caption}</summary>\n{html}</details>\n")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::results::envelope::Envelope;

    fn stored(answer: &Value, files: &[&str]) -> Stored {
        let (name, answer) = (monthly::KIND.name.to_owned(), answer.clone());
        let mut own = Stored::of(Envelope { name, answer, ..Envelope::default() });
        let table = |file: &&str| Table {
            file: (*file).to_owned(),
            header: vec!["late_cpu_h".to_owned()],
            rows: Vec::new(),
            row_count: 0,
        };
        own.tables = files.iter().map(table).collect();
        own
    }

    #[test]
    fn the_waste_of_a_user_is_that_of_the_months() {
        let users = json!([{"user": "ann", "wasted_cpu_h": 4153.2, "wasted_share": 0.378},
            {"user": "bob", "wasted_cpu_h": null, "wasted_share": null}]);
        let all = [stored(&json!({"unit": "processor-s", "users": users}), &[])];
        let said = wasted_of("ann", &all).unwrap();
        assert_eq!(said, "4,153 processor-h, 37.8 % of its CPU time");
        assert_eq!((wasted_of("bob", &all), wasted_of("eve", &all)), (None, None));
    }

    #[test]
    fn months_of_a_short_log_are_folded() {
        let answer = json!({"late_s": 3600.0, "months": [{"month": "2016-12"}, {"month": "2017-01"}],
            "months_in_part": ["2016-12", "2017-01"]});
        let files =
            ["monthly.csv", "monthly-accounts.csv", "monthly-months.csv", "monthly-users.csv"];
        let own = stored(&answer, &files);
        let [by_month, accounts] = [&own.tables[0], &own.tables[1]];
        let said = with_late(&own, accounts, "Accounts".to_owned());
        assert_eq!(said, "Accounts; long runs: 60 min or more");
        let html = |table: &Table| folded(&own, table, ("Use", "<p></p>".to_owned()));
        assert!(html(by_month).starts_with("<details") && html(accounts) == "<p></p>");
        assert!(few(&own).contains("(in part: 2016-12, 2017-01): months are not compared"));
        let whole = stored(&json!({"months": [{"month": "a"}, {"month": "b"}]}), &files);
        assert_eq!(few(&whole), "");
        assert_eq!(folded(&whole, by_month, ("Use", "<p></p>".to_owned())), "<p></p>");
    }
}

//! The published study beside ours: Mandai, Kawahara, Kasahara, "Improvement of job scheduling in
//! a cloud platform" (2017).
//!
//! In: what our study found, and which tables are whole. Out: one [`Comparison`] per number that
//! the paper prints, with a verdict. A number from tables that are not whole is shown beside the
//! paper's and judged not comparable; it is never called reproduced.

use serde::Serialize;

/// A number of the paper beside ours.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Table or figure of the paper.
    pub item: &'static str,
    /// What is counted, with its unit.
    pub what: String,
    /// As printed.
    pub paper: f64,
    /// As found; none where a table is missing.
    pub ours: Option<f64>,
    /// What this means.
    pub verdict: Verdict,
    /// Why.
    pub note: String,
}

/// What a comparison means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Equal to the digits that the paper prints.
    Reproduced,
    /// On whole tables, and not equal.
    Differs,
    /// From a part of the tables.
    NotComparable,
    /// A table is not there.
    Missing,
}

impl Verdict {
    /// As it is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Differs => "DIFFERS",
            Self::NotComparable => "not comparable",
            Self::Missing => "table missing",
        }
    }
}

/// How far a number can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// All tables that it needs are whole.
    Whole,
    /// Some are partial; says which.
    Partial(String),
    /// One is missing; says which.
    Missing(String),
}

/// A number as the paper prints it.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    number: f64,
    digit: f64,
}

/// A number and the unit of its last printed digit, for example 0.001.
pub const fn printed(number: f64, digit: f64) -> Printed {
    Printed { number, digit }
}

/// Collects comparisons.
#[derive(Debug, Default)]
pub struct Comparisons(pub Vec<Comparison>);

impl Comparisons {
    /// Compares a number of a table or figure with what the paper prints.
    pub fn add(
        &mut self,
        item: &'static str,
        what: &str,
        paper: Printed,
        ours: Option<f64>,
        basis: &Basis,
    ) {
        let (verdict, note) = match (basis, ours) {
            (Basis::Missing(table), _) => (Verdict::Missing, format!("needs {table}")),
            (Basis::Partial(parts), _) => (Verdict::NotComparable, format!("on {parts} only")),
            (Basis::Whole, Some(ours))
                if (ours - paper.number).abs() <= paper.digit * 0.500_001 =>
            {
                (Verdict::Reproduced, String::new())
            }
            (Basis::Whole, _) => (Verdict::Differs, String::new()),
        };
        self.0.push(Comparison {
            item,
            what: what.to_owned(),
            paper: paper.number,
            ours,
            verdict,
            note,
        });
    }

    /// Adds a remark to the last comparison.
    pub fn remark(&mut self, text: &str) {
        if let Some(last) = self.0.last_mut() {
            let gap = if last.note.is_empty() { "" } else { "; " };
            last.note = format!("{}{gap}{text}", last.note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_reproduced_to_the_printed_digit_and_on_whole_tables_only() {
        let mut all = Comparisons::default();
        all.add("a", "x", printed(255.0, 1.0), Some(255.149), &Basis::Whole);
        all.add("a", "x", printed(2.83e10, 1e8), Some(2.818e10), &Basis::Whole);
        all.add("a", "x", printed(37.9, 0.1), Some(37.9), &Basis::Partial("parts 0-13".into()));
        all.add("a", "x", printed(0.71, 0.001), None, &Basis::Missing("task_usage".into()));
        let verdicts: Vec<Verdict> = all.0.iter().map(|one| one.verdict).collect();
        assert_eq!(
            verdicts,
            [Verdict::Reproduced, Verdict::Differs, Verdict::NotComparable, Verdict::Missing]
        );
    }
}

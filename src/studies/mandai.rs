//! Compares the published study with ours: Mandai, Kawahara, Kasahara, "Improvement of job
//! scheduling in a cloud platform" (2017).
//!
//! In: our results, and which tables are complete. Out: one [`Claim`] for each number and sentence
//! of the paper. Numbers from incomplete tables are shown next to those of the paper but are not
//! compared, so they are never called reproduced.

use crate::claims::{Cell, Claim, Published, Side, bound, direction};

/// Why memory per outcome cannot be compared.
pub const MEMORY_NOT_PRINTED: &str = "the paper announces memory but prints no number";

/// How far numbers can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// All needed tables are complete.
    Whole,
    /// Some needed tables are incomplete; says which.
    Partial(String),
    /// A needed table is missing; says which.
    Missing(String),
}

/// The claims of one table or figure of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The table or figure.
    pub name: &'a str,
    /// How far its numbers can be compared.
    pub basis: &'a Basis,
}

impl Place<'_> {
    /// A claim about a number, with the unit of its last printed digit.
    pub fn number(&self, claim: &str, (number, digit): (f64, f64), ours: Option<f64>) -> Claim {
        let values: Vec<f64> = ours.into_iter().collect();
        self.settled(Published::exact(number, digit).beside(self.name, claim, &values))
    }

    /// A claim of a bound in words ("over 20 %").
    pub fn bound(&self, claim: &str, side: Side, limit: f64, ours: Option<f64>) -> Claim {
        let cell = Cell::new("", ours.into_iter().collect());
        self.settled(bound(self.name, claim, side, limit, &[cell]))
    }

    /// A claim about an order; each cell holds the margin.
    pub fn direction(&self, claim: &str, cells: &[(&str, Option<f64>)]) -> Claim {
        let cells = cells.iter().map(|(name, by)| Cell::new(*name, by.iter().copied().collect()));
        self.settled(direction(self.name, claim, &cells.collect::<Vec<Cell>>()))
    }

    /// Returns the claim, or marks it as not comparable if tables are incomplete or missing.
    fn settled(&self, claim: Claim) -> Claim {
        match self.basis {
            Basis::Whole => claim,
            Basis::Partial(parts) => claim.not_comparable(&format!("on {parts} only")),
            Basis::Missing(table) => {
                let why = format!("needs {table}");
                Claim::without(self.name, &claim.claim, claim.published, &why)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Verdict;

    #[test]
    fn a_number_is_reproduced_to_the_printed_digit_and_on_whole_tables_only() {
        let verdict = |basis: &Basis, printed: (f64, f64), ours: Option<f64>| {
            Place { name: "a", basis }.number("x", printed, ours).verdict
        };
        let partial = Basis::Partial("parts 0-13".into());
        let missing = Basis::Missing("task_usage".into());
        assert_eq!(verdict(&Basis::Whole, (255.0, 1.0), Some(255.149)), Verdict::Reproduced);
        assert_eq!(verdict(&Basis::Whole, (2.83e10, 1e8), Some(2.818e10)), Verdict::NotReproduced);
        assert_eq!(verdict(&partial, (37.9, 0.1), Some(37.9)), Verdict::CannotBeCompared);
        assert_eq!(verdict(&missing, (0.71, 0.001), None), Verdict::CannotBeCompared);
    }
}

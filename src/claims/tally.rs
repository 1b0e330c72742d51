//! The number of claims of a paper with each verdict.
//!
//! In: claims, or the verdicts of a stored table of claims. Out: counts, and the first line about a
//! paper. Claims that are not reproduced come first. Worked examples are counted separately,
//! because they check a formula and not data.

use serde::Serialize;

use super::{Claim, Verdict, WORKED_EXAMPLE};

/// Numbers of claims of a paper by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All claims.
    pub claims: usize,
    /// Neither the number nor the direction holds, or the reverse holds.
    pub not_reproduced: usize,
    /// The direction is right, but the size is not.
    pub same_direction: usize,
    /// Reproduced, including worked examples.
    pub reproduced: usize,
    /// Worked examples that are reproduced.
    pub worked_examples: usize,
    /// A parameter was fitted to the number.
    pub fitted: usize,
    /// Claims that have nothing to compare with.
    pub cannot_be_compared: usize,
}

impl Tally {
    /// Counts the verdicts of claims.
    pub fn of(claims: &[Claim]) -> Self {
        let mut tally = Self::default();
        for claim in claims {
            tally.add(claim.verdict, &claim.decided_by);
        }
        tally
    }

    /// Adds a claim.
    pub fn add(&mut self, verdict: Verdict, decided_by: &str) {
        self.claims += 1;
        *match verdict {
            Verdict::NotReproduced => &mut self.not_reproduced,
            Verdict::SameDirection => &mut self.same_direction,
            Verdict::Reproduced => &mut self.reproduced,
            Verdict::Fitted => &mut self.fitted,
            Verdict::CannotBeCompared => &mut self.cannot_be_compared,
        } += 1;
        if verdict == Verdict::Reproduced && decided_by == WORKED_EXAMPLE {
            self.worked_examples += 1;
        }
    }

    /// The number of claims with a verdict.
    pub const fn count(&self, verdict: Verdict) -> usize {
        match verdict {
            Verdict::NotReproduced => self.not_reproduced,
            Verdict::SameDirection => self.same_direction,
            Verdict::Reproduced => self.reproduced,
            Verdict::Fitted => self.fitted,
            Verdict::CannotBeCompared => self.cannot_be_compared,
        }
    }

    /// The counts in words, with claims that are not reproduced first.
    ///
    /// `not reproduced: 9 of 16 claims; same direction: 2; reproduced: 4; fitted: 1`
    pub fn in_words(&self) -> String {
        let [first, rest @ ..] = Verdict::ALL;
        let mut line = format!("{}: {} of {} claims", first.name(), self.count(first), self.claims);
        for verdict in rest.into_iter().filter(|verdict| 0 < self.count(*verdict)) {
            line = format!("{line}; {}: {}", verdict.name(), self.count(verdict));
            if verdict == Verdict::Reproduced && 0 < self.worked_examples {
                line = format!("{line} ({})", self.worked_examples_in_words());
            }
        }
        line
    }

    fn worked_examples_in_words(&self) -> String {
        let only = "worked examples, which check a formula and no data";
        if self.worked_examples == self.reproduced {
            format!("all {only}")
        } else {
            format!("{} of them {only}", self.worked_examples)
        }
    }
}

/// The first line about a paper, with claims that are not reproduced first.
pub fn headline(claims: &[Claim]) -> String {
    Tally::of(claims).in_words()
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Published, direction};
    use super::*;

    #[test]
    fn what_is_not_reproduced_comes_first() {
        let reproduced = Published::exact(1.0, 1.0).beside("1", "a", &[1.0]);
        let reversed = direction("2", "rises", &[Cell::new("x", vec![-1.0])]);
        let fitted = reproduced.clone().fitted("period_s");
        let example = Published::exact(5.0, 0.1).worked_example("3", "b", 5.0);
        assert_eq!(
            headline(&[reproduced.clone(), reversed.clone(), fitted]),
            "not reproduced: 1 of 3 claims; reproduced: 1; fitted: 1"
        );
        assert_eq!(
            headline(&[reproduced, reversed, example.clone()]),
            "not reproduced: 1 of 3 claims; reproduced: 2 (1 of them worked examples, which check \
             a formula and no data)"
        );
        assert_eq!(
            headline(&[example]),
            "not reproduced: 0 of 1 claims; reproduced: 1 (all worked examples, which check a \
             formula and no data)"
        );
    }
}

//! Claims of a paper, and the rules that judge them.

use serde::Serialize;

use super::Verdict;
use super::spread::Spread;

/// A claim of a paper and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Where the paper makes it: section, figure or table.
    pub place: String,
    /// The claim in words, with the unit of its number.
    pub claim: String,
    /// The published number; `None` if the claim is a sentence.
    pub published: Option<f64>,
    /// Our mean over runs; for a sentence, the mean of the cell that comes closest to breaking it.
    pub ours: Option<f64>,
    /// Lower end of the 95 % interval of the test; `None` for a single value.
    #[serde(rename = "low")]
    pub ours_low: Option<f64>,
    /// Upper end of the interval.
    #[serde(rename = "high")]
    pub ours_high: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason for the verdict, in words.
    pub decided_by: String,
    /// The rule and its values; not part of answers.
    #[serde(skip)]
    pub judged: Judged,
}

/// The rule that judges a claim, with its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Judged {
    /// No rule.
    #[default]
    ByNothing,
    /// A worked example: a formula of the paper with the paper's numbers.
    WorkedExample(Published, f64),
    /// A number, and the values of our runs.
    Number(Published, Vec<f64>),
    /// A sentence of [`direction`].
    Direction(Vec<Cell>),
    /// A sentence of [`bound`].
    Bound(Side, f64, Vec<Cell>),
}

/// The reason given for a worked example.
pub const WORKED_EXAMPLE: &str = "a check of the formula, not of data";

impl Claim {
    /// Applies the same rule to other values, cell by cell; `None` if there is no rule. Other
    /// properties of the claim (such as [`fitted`](Self::fitted)) are not kept.
    pub fn again(&self, change: impl Fn(&[f64]) -> Vec<f64>) -> Option<Self> {
        let (place, claim) = (self.place.as_str(), self.claim.as_str());
        let changed = |cells: &[Cell]| -> Vec<Cell> {
            cells.iter().map(|cell| Cell::new(&cell.name, change(&cell.values))).collect()
        };
        match &self.judged {
            Judged::ByNothing => None,
            Judged::WorkedExample(published, ours) => {
                let changed = change(&[*ours]);
                changed.first().map(|ours| published.worked_example(place, claim, *ours))
            }
            Judged::Number(published, values) => {
                Some(published.beside(place, claim, &change(values)))
            }
            Judged::Direction(cells) => Some(direction(place, claim, &changed(cells))),
            Judged::Bound(side, limit, cells) => {
                Some(bound(place, claim, *side, *limit, &changed(cells)))
            }
        }
    }

    /// The same claim, marked as fitted by a parameter.
    #[must_use]
    pub fn fitted(self, parameter: &str) -> Self {
        let decided_by = format!("`{parameter}` was chosen to match this number");
        Self { verdict: Verdict::Fitted, decided_by, ..self }
    }

    /// A claim that cannot be compared with anything.
    pub fn without(place: &str, claim: &str, published: Option<f64>, why: &str) -> Self {
        Self {
            place: place.to_owned(),
            claim: claim.to_owned(),
            published,
            ours: None,
            ours_low: None,
            ours_high: None,
            verdict: Verdict::CannotBeCompared,
            decided_by: why.to_owned(),
            judged: Judged::ByNothing,
        }
    }

    /// The same claim and number, marked as not comparable.
    #[must_use]
    pub fn not_comparable(self, why: &str) -> Self {
        Self { verdict: Verdict::CannotBeCompared, decided_by: why.to_owned(), ..self }
    }
}

/// A number as the paper prints it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The number.
    pub number: f64,
    /// The unit of its last printed digit, such as 0.01 for 24.75.
    pub digit: f64,
    /// The number of runs behind the mean.
    pub runs: u32,
    /// The value that means no effect, if there is one: 0 for a saving, 1 for a ratio.
    pub neutral: Option<f64>,
}

impl Published {
    /// A number from one run, or from none, with the unit of its last printed digit.
    pub const fn exact(number: f64, digit: f64) -> Self {
        Self { number, digit, runs: 1, neutral: None }
    }

    /// A mean over runs.
    pub const fn mean(number: f64, digit: f64, runs: u32) -> Self {
        Self { number, digit, runs, neutral: None }
    }

    /// The same number; its direction is measured from `neutral`.
    #[must_use]
    pub const fn against(self, neutral: f64) -> Self {
        Self { neutral: Some(neutral), ..self }
    }

    /// Compares the number of a worked example with the result of our formula.
    pub fn worked_example(&self, place: &str, claim: &str, ours: f64) -> Claim {
        Claim {
            decided_by: WORKED_EXAMPLE.to_owned(),
            judged: Judged::WorkedExample(*self, ours),
            ..self.beside(place, claim, &[ours])
        }
    }

    /// Compares the number with the values of our runs; without values it cannot be compared.
    ///
    /// The interval is the 95 % prediction interval of the mean of as many new runs as the paper
    /// has: mean ± t · s · sqrt(1/n + 1/m), with n runs of ours, m runs of the paper, and Student's
    /// t with n - 1 degrees of freedom. Half a printed digit is added on each side. A single value
    /// has no interval and is compared directly.
    pub fn beside(&self, place: &str, claim: &str, values: &[f64]) -> Claim {
        let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let Some(spread) = Spread::of(&values) else {
            return Claim::without(place, claim, Some(self.number), "no run of ours gave a number");
        };
        let half = spread.half_width_of_mean_of(self.runs);
        let (low, high) = (spread.mean - half, spread.mean + half);
        let rounding = self.digit * 0.500_001;
        let is_same_side = self.neutral.is_some_and(|neutral| {
            let own = spread.half_width();
            let (side, of_paper) = (spread.mean - neutral, self.number - neutral);
            0.0 < side * of_paper && own < side.abs()
        });
        let verdict = if low - rounding <= self.number && self.number <= high + rounding {
            Verdict::Reproduced
        } else if is_same_side {
            Verdict::SameDirection
        } else {
            Verdict::NotReproduced
        };
        let decided_by = if values.len() == 1 {
            "one value: equal to the printed digits or not".to_owned()
        } else {
            format!(
                "95 % prediction interval of the mean of {} runs, from {} of ours",
                self.runs,
                values.len()
            )
        };
        Claim {
            published: Some(self.number),
            ours: Some(spread.mean),
            ours_low: spread.end(low),
            ours_high: spread.end(high),
            verdict,
            decided_by,
            judged: Judged::Number(*self, values),
            ..Claim::without(place, claim, None, "")
        }
    }
}

/// One setting that a sentence covers.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The setting in words.
    pub name: String,
    /// The margin by which the sentence holds in each run; below 0 the reverse holds. For a
    /// [bound], the bounded number itself.
    pub values: Vec<f64>,
}

impl Cell {
    /// A cell of a sentence.
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), values }
    }
}

/// Judges a sentence about a direction ("rises with", "sooner than") over its cells.
///
/// Without cells, or with a cell without values, it cannot be compared.
pub fn direction(place: &str, claim: &str, cells: &[Cell]) -> Claim {
    let Some(spreads) = spreads_of(cells) else {
        return Claim::without(place, claim, None, "no run of ours gave a number");
    };
    let lowest = |spread: &Spread| spread.mean - spread.half_width();
    let holds = spreads.iter().filter(|spread| 0.0 < spread.mean).count();
    let certain = spreads.iter().filter(|spread| 0.0 < spread.mean && 0.0 < lowest(spread)).count();
    let verdict = match (holds == cells.len(), certain == cells.len()) {
        (_, true) => Verdict::Reproduced,
        (true, false) => Verdict::SameDirection,
        (false, false) => Verdict::NotReproduced,
    };
    let worst = least_by(&spreads, lowest);
    let (spread, cell) = (&spreads[worst], &cells[worst]);
    let count = match cells.len() {
        1 if holds == 1 => "holds in the mean".to_owned(),
        1 => "does not hold".to_owned(),
        all => {
            format!("holds in the mean of {holds} of {all} cells, beyond its interval in {certain}")
        }
    };
    let worst = if cells.len() == 1 { String::new() } else { format!("; least: {}", cell.name) };
    Claim {
        ours: Some(spread.mean),
        ours_low: spread.end(lowest(spread)),
        ours_high: spread.end(spread.mean + spread.half_width()),
        verdict,
        decided_by: format!("{count}{worst}"),
        judged: Judged::Direction(cells.to_vec()),
        ..Claim::without(place, claim, None, "")
    }
}

/// The side of a limit on which a number must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At most the limit.
    AtMost,
    /// At least the limit.
    AtLeast,
}

/// Judges a bound ("under 5 %", "over 20 %") over its cells, each by its mean.
///
/// Without cells, or with a cell without values, it cannot be compared.
pub fn bound(place: &str, claim: &str, side: Side, limit: f64, cells: &[Cell]) -> Claim {
    let Some(spreads) = spreads_of(cells) else {
        return Claim::without(place, claim, Some(limit), "no run of ours gave a number");
    };
    let room = |spread: &Spread| match side {
        Side::AtMost => limit - spread.mean,
        Side::AtLeast => spread.mean - limit,
    };
    // The mean of equal values may differ from them in its last digits.
    let rounding = 1e-12 * limit.abs();
    let kept = spreads.iter().filter(|spread| -rounding <= room(spread)).count();
    let worst = least_by(&spreads, room);
    let spread = &spreads[worst];
    let of_cells = if cells.len() == 1 {
        if kept == 1 { "the mean keeps the bound" } else { "the mean breaks the bound" }.to_owned()
    } else {
        let name = &cells[worst].name;
        format!("the mean keeps the bound in {kept} of {} cells; least: {name}", cells.len())
    };
    Claim {
        published: Some(limit),
        ours: Some(spread.mean),
        ours_low: spread.end(spread.mean - spread.half_width()),
        ours_high: spread.end(spread.mean + spread.half_width()),
        verdict: if kept == cells.len() { Verdict::Reproduced } else { Verdict::NotReproduced },
        decided_by: of_cells,
        judged: Judged::Bound(side, limit, cells.to_vec()),
        ..Claim::without(place, claim, None, "")
    }
}

fn spreads_of(cells: &[Cell]) -> Option<Vec<Spread>> {
    let spreads: Option<Vec<Spread>> = cells.iter().map(|cell| Spread::of(&cell.values)).collect();
    spreads.filter(|spreads| !spreads.is_empty())
}

fn least_by(spreads: &[Spread], key: impl Fn(&Spread) -> f64) -> usize {
    let keyed = spreads.iter().map(key).enumerate();
    keyed.min_by(|(_, one), (_, other)| one.total_cmp(other)).map_or(0, |(idx, _)| idx)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::claim::*;
    use super::super::spread::student_975;

    fn values() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(-1e6_f64..1e6, 1..40)
    }

    fn mean(values: &[f64]) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a few values")]
        let count = values.len() as f64;
        values.iter().sum::<f64>() / count
    }

    proptest! {
        #[test]
        fn the_published_number_put_in_as_ours_is_reproduced(
            number in -1e6_f64..1e6, digit in 0.001_f64..10.0, runs in 1_u32..100, ours in 1_usize..40,
            neutral in proptest::option::of(-10.0_f64..10.0),
        ) {
            let published = Published { number, digit, runs, neutral };
            let claim = published.beside("", "", &vec![number; ours]);
            prop_assert_eq!(claim.verdict, Verdict::Reproduced);
        }

        #[test]
        fn a_single_value_has_no_interval(ours in values(), number in -1e6_f64..1e6) {
            let claims = [
                Published::exact(number, 0.1).beside("", "", &ours),
                direction("", "", &[Cell::new("", ours.clone())]),
                bound("", "", Side::AtLeast, number, &[Cell::new("", ours.clone())]),
            ];
            for claim in claims {
                prop_assert_eq!(claim.ours_low.is_some(), 1 < ours.len());
                prop_assert_eq!(claim.ours_high.is_some(), 1 < ours.len());
            }
        }

        #[test]
        fn the_mean_of_our_own_runs_is_reproduced(values in values(), runs in 1_u32..100) {
            let claim = Published::mean(mean(&values), 0.001, runs).beside("", "", &values);
            prop_assert_eq!(claim.verdict, Verdict::Reproduced);
        }

        #[test]
        fn the_reverse_of_a_direction_is_not_reproduced(
            cells in proptest::collection::vec(values(), 1..6),
        ) {
            let of = |sign: f64| {
                let cells = cells.iter().map(|values| {
                    Cell::new("", values.iter().map(|value| sign * value).collect())
                });
                direction("", "", &cells.collect::<Vec<_>>()).verdict
            };
            let (one, reverse) = (of(1.0), of(-1.0));
            let holds = |verdict| verdict == Verdict::Reproduced || verdict == Verdict::SameDirection;
            prop_assert!(!(holds(one) && holds(reverse)), "{:?} and {:?}", one, reverse);
            if cells.iter().all(|values| 0.0 < mean(values)) {
                prop_assert!(holds(one));
                prop_assert_eq!(reverse, Verdict::NotReproduced);
            }
        }

        #[test]
        fn a_number_on_the_other_side_is_not_reproduced(
            number in 1.0_f64..100.0, ours in 1.0_f64..100.0, runs in 1_usize..40,
        ) {
            let published = Published::exact(number, 0.01).against(0.0);
            let claim = published.beside("", "", &vec![-ours; runs]);
            prop_assert_eq!(claim.verdict, Verdict::NotReproduced);
        }

        #[test]
        fn a_limit_put_in_as_ours_keeps_its_bound(limit in -1e3_f64..1e3, runs in 1_usize..9) {
            for side in [Side::AtMost, Side::AtLeast] {
                let cell = Cell::new("", vec![limit; 1 << runs.min(3)]);
                let claim = bound("", "", side, limit, &[cell]);
                prop_assert_eq!(claim.verdict, Verdict::Reproduced);
            }
        }
    }

    /// Integrates the density of Student's t by Simpson's rule; independent of the table.
    fn student_cdf(t: f64, degrees: f64) -> f64 {
        let density = |x: f64| (1.0 + x * x / degrees).powf(-f64::midpoint(degrees, 1.0));
        let simpson = |from: f64, to: f64| {
            let steps = 20_000;
            let width = (to - from) / f64::from(steps);
            let at = |step: i32| density(from + width * f64::from(step));
            let inner: f64 =
                (1..steps).map(|step| at(step) * if step % 2 == 1 { 4.0 } else { 2.0 }).sum();
            (at(0) + inner + at(steps)) * width / 3.0
        };
        // Integrates the tail with x = tan(u), which maps infinity to pi/2.
        let to_angle = |from: f64, to: f64| {
            let steps = 20_000;
            let width = (to - from) / f64::from(steps);
            let at = |step: i32| {
                let angle = from + width * f64::from(step);
                density(angle.tan()) / angle.cos().powi(2)
            };
            let inner: f64 =
                (1..steps).map(|step| at(step) * if step % 2 == 1 { 4.0 } else { 2.0 }).sum();
            (at(0) + inner + at(steps)) * width / 3.0
        };
        let half = to_angle(0.0, std::f64::consts::FRAC_PI_2 - 1e-6);
        0.5 + 0.5 * simpson(0.0, t) / half
    }

    #[test]
    fn the_quantiles_are_those_of_student() {
        for degrees in [1, 2, 4, 9, 20, 30, 31, 50, 99, 200] {
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            let cdf = student_cdf(student_975(degrees), degrees as f64);
            assert!((cdf - 0.975).abs() < 2e-4, "{degrees}: {cdf}");
        }
    }

    #[test]
    fn a_number_outside_keeps_its_direction_only_beyond_its_own_interval() {
        let published = Published::mean(50.0, 0.1, 3).against(0.0);
        let verdict = |values: &[f64]| published.beside("", "", values).verdict;
        assert_eq!(verdict(&[10.0, 11.0, 12.0, 10.5]), Verdict::SameDirection);
        assert_eq!(verdict(&[-1.0, 1.5, 0.5, -0.2]), Verdict::NotReproduced, "spans no effect");
        assert_eq!(verdict(&[30.0, 70.0, 55.0]), Verdict::Reproduced);
        assert_eq!(verdict(&[]), Verdict::CannotBeCompared);
        assert_eq!(verdict(&[f64::INFINITY]), Verdict::CannotBeCompared);
    }
}

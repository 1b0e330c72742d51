//! The figures of the paper, and its examples.

use super::settings::DAY_S;
use crate::claims::{Claim, Published};
use crate::fairness::indices::{pool_shares, rup_after};
use crate::fairness::week::Seen;

/// Section 3.1.2: worked examples, which check a formula, not data.
pub(crate) fn examples() -> Vec<Claim> {
    let check = |claim: &str, paper: f64, ours: f64| {
        Published::exact(paper, 0.1).worked_example("section 3.1.2", claim, ours)
    };
    let idle = [(1.0, 5.0, "1 day"), (2.0, 2.5, "2 days")].map(|(days, paper, text)| {
        let ours = rup_after(10.0, 0.0, days * DAY_S, DAY_S);
        check(&format!("RUP 10 after {text} without usage"), paper, ours)
    });
    let shares = pool_shares(&[20.0, 10.0, 5.0]);
    let pool = [(1, 2.0), (2, 4.0)].map(|(idx, paper)| {
        let eup = [20, 10, 5][idx];
        check(&format!("share of EUP {eup} over that of EUP 20"), paper, shares[idx] / shares[0])
    });
    idle.into_iter().chain(pool).collect()
}

/// The claims of figures 3 and 4.
pub(crate) fn figures(seen: &Seen) -> Vec<Claim> {
    #[expect(clippy::cast_precision_loss, reason = "a count of users or attempts")]
    let counted = |count: usize| Some(count as f64);
    let pair = seen.pair.as_ref();
    let row = |place: &str, claim: &str, published: Option<f64>, ours: Option<f64>| Claim {
        ours,
        ..Claim::without(place, claim, published, "our week is of another log")
    };
    let free = seen.late.iter().filter(|late| late.came_when_free()).count();
    vec![
        row("figure 3", "users who used much early", Some(3.0), counted(seen.early.len())),
        row("figure 3", "users who came late, when capacity was free", Some(3.0), counted(free)),
        row(
            "figure 4",
            "final RV of a steep step over that of a staircase, about 1",
            None,
            pair.map(|pair| pair.step.cpu_s / pair.stairs.cpu_s),
        ),
        row(
            "figure 4",
            "long jobs behind the steep step",
            Some(1.0),
            pair.and_then(|pair| counted(pair.step.ended_in_largest_step)),
        ),
        row(
            "figure 4",
            "median run of the step's jobs over that of the staircase's, above 1",
            None,
            pair.and_then(|pair| Some(pair.step.median_run_in_step_s? / pair.stairs.median_run_s?)),
        ),
    ]
}

//! The share of the usage compared with the entitlement, over time.
//!
//! In: a history of usage. Out: for each of the heaviest users, the share of all usage so far and
//! the entitlement. Entitlements follow from the given accounts. Without accounts, all users with
//! usage so far have the same entitlement. Values never depend on later events.

use super::Found;
use crate::charts::{Chart, DAYS_OF_SPAN, Line, LineChart, PanelChart, Scale, Stroke, Tone};
use crate::digits::grouped;
use crate::fairness::accounts::Standing;
use crate::fairness::history::History;
use crate::fairness::usage::UserUsage;

const DAY_S: f64 = 86_400.0;

/// The most users that are drawn, each in a separate plot.
const USERS_MAX: usize = 6;

/// The most points of a curve, apart from the last one.
const POINTS_MAX: usize = 120;

/// The part of the span, from its start, that is not drawn. Only few users have arrived by then,
/// and their shares are far from the later ones.
const LEFT_OUT: f64 = 0.02;

/// The shares of all users at the end of an interval.
struct Instant {
    /// Days since the start of the span.
    days: f64,
    /// By user, the share of everything that was charged so far.
    had: Vec<f64>,
    /// By user, the share to which the user is entitled.
    entitled: Vec<f64>,
}

/// The shares at the ends of intervals. The intervals are evenly spaced, and the last one is always
/// included. Intervals before the first usage are left out.
fn over_time(history: &History) -> Vec<Instant> {
    let first = history.shown_from;
    let ends = first..history.grid.count;
    let every = ends.len().div_ceil(POINTS_MAX).max(1);
    let mut standing = Standing::default();
    let mut sums = vec![0.0; history.people.len()];
    let mut cells = history.shown().iter().peekable();
    let mut found = Vec::new();
    for interval in ends {
        standing.follow(&history.tree, interval);
        while let Some(cell) = cells.next_if(|cell| cell.interval <= interval) {
            sums[cell.who as usize] += cell.cpu.seconds();
        }
        let is_last = interval + 1 == history.grid.count;
        if !is_last && !((interval - first) as usize).is_multiple_of(every) {
            continue;
        }
        let total: f64 = sums.iter().sum();
        if 0.0 < total {
            found.push(Instant {
                days: history.seconds_at(interval + 1) / DAY_S,
                had: sums.iter().map(|sum| sum / total).collect(),
                entitled: if history.tree.is_given {
                    standing.entitlements(&history.tree)
                } else {
                    equal(&sums)
                },
            });
        }
    }
    found
}

/// The same share for each user with usage.
#[expect(clippy::cast_precision_loss, reason = "users are far below 2^53")]
fn equal(sums: &[f64]) -> Vec<f64> {
    let users = sums.iter().filter(|sum| 0.0 < **sum).count();
    let share = |sum: &f64| if 0.0 < *sum { 1.0 / users as f64 } else { 0.0 };
    sums.iter().map(share).collect()
}

/// The instants that are drawn.
fn drawn(mut instants: Vec<Instant>) -> Vec<Instant> {
    let from = instants.last().map_or(0.0, |last| last.days * LEFT_OUT);
    instants.retain(|at| from <= at.days);
    instants
}

/// A share that varies by no more than this, relative to its mean, is a flat line.
const FLAT: f64 = 0.1;

/// Whether the share of a user is about the same at all instants, so that the last value is enough.
fn is_flat(instants: &[Instant], who: usize) -> bool {
    let shares = || instants.iter().map(|at| at.had[who]);
    let (least, most) =
        shares().fold((f64::INFINITY, 0.0), |(least, most), own| (own.min(least), own.max(most)));
    most - least <= FLAT * (most + least) / 2.0
}

/// A chart with a plot for each of the heaviest users. `None` for fewer than two users, or if no
/// entitlements are given and all shares are flat.
pub(super) fn chart(
    found: &Found,
    users: &[UserUsage],
    name: impl Fn(&UserUsage) -> String,
    caption: &str,
) -> Option<Chart> {
    let history = &found.history;
    let instants = drawn(over_time(history));
    let last = instants.last().filter(|_| 1 < users.len())?;
    let mut shown = users.iter().take(USERS_MAX);
    if !history.tree.is_given && shown.all(|user| is_flat(&instants, user.who)) {
        return None;
    }
    let has_more = |who: usize| last.entitled[who] < last.had[who];
    let more = users.iter().filter(|user| has_more(user.who)).count();
    let heaviest = users.first()?;
    let line = |called: &str, points: Vec<(f64, f64)>, tone| Line {
        name: called.to_owned(),
        points,
        band: Vec::new(),
        tone,
        stroke: Stroke::Straight,
    };
    let limit = if history.tree.is_given { "entitled" } else { "equal share" };
    let panel = |user: &UserUsage| {
        let of = |share: fn(&Instant) -> &Vec<f64>| -> Vec<(f64, f64)> {
            instants.iter().map(|at| (at.days, share(at)[user.who] * 100.0)).collect()
        };
        LineChart {
            title: name(user),
            caption: String::new(),
            x_axis: DAYS_OF_SPAN.to_owned(),
            y_axis: "share (%)".to_owned(),
            x_scale: Scale::Linear,
            y_from: 0.0,
            lines: vec![
                line("used so far", of(|at| &at.had), Tone::Blue),
                line(limit, of(|at| &at.entitled), Tone::Vermilion),
            ],
        }
    };
    let by = found.span.plan.by;
    let is_given = history.tree.is_given;
    let (than, how) = if is_given {
        ("they are entitled to", "entitled: by the accounts given".to_owned())
    } else {
        let how = format!("equal share: one by the number of {} with usage so far", by.plural());
        ("an equal share", how)
    };
    let assumed = if is_given {
        ""
    } else {
        " No entitlements are given, so equal shares are an assumption of this comparison."
    };
    Some(Chart::Panels(PanelChart {
        title: if is_given {
            "Share of the usage against entitlement".to_owned()
        } else {
            "Share of the usage against an equal share".to_owned()
        },
        caption: format!(
            "At the end {} of {} have more than {}; {} has {:.1} % against {:.2} %.{assumed} Used: the \
            share of all usage charged so far; {how}. The first 2 % of the time are \
            not drawn. {}",
            grouped(more as u64),
            grouped(users.len() as u64),
            than,
            name(heaviest),
            last.had[heaviest.who] * 100.0,
            last.entitled[heaviest.who] * 100.0,
            caption
        ),
        panels: users.iter().take(USERS_MAX).map(panel).collect(),
        columns: 3,
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fairness::accounts::Tree;
    use crate::fairness::samples::{history, tree};

    /// Three users over some hours; each is present from the first use on. A use consists of an
    /// hour, a user and CPU-seconds.
    fn drawn(hours: usize, used: &[(u32, usize, u32)]) -> History {
        let mut rows = vec![vec![0.0; hours]; 3];
        for &(hour, who, cpu_s) in used {
            rows[who][hour as usize] += f64::from(cpu_s);
        }
        let mut history = history(&[("a", &rows[0]), ("b", &rows[1]), ("c", &rows[2])]);
        for (who, person) in history.people.iter_mut().enumerate() {
            let own = used.iter().filter(|one| one.1 == who);
            person.since = own.map(|one| one.0).min().unwrap_or(u32::MAX);
        }
        History { tree: Tree::flat(&history.people), ..history }
    }

    #[test]
    fn a_file_of_accounts_says_who_is_entitled_to_what() {
        let tree = tree("A 30\nA/a 1\nA/b 2\nc 10", &["a", "b", "c"]);
        let history = History { tree, ..drawn(1, &[(0, 0, 5), (0, 2, 15)]) };
        let at = &over_time(&history)[0];
        assert_eq!(
            (at.had.as_slice(), at.entitled.as_slice()),
            (&[0.25, 0.0, 0.75][..], &[0.25, 0.5, 0.25][..])
        );
    }

    #[test]
    fn an_equal_share_is_that_of_those_with_usage_so_far() {
        let mut history = drawn(2, &[(0, 0, 5), (1, 2, 15)]);
        history.people[0].group = Some("g".to_owned());
        let entitled: Vec<Vec<f64>> =
            over_time(&history).into_iter().map(|at| at.entitled).collect();
        assert_eq!(entitled, [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]]);
    }

    #[test]
    fn a_share_is_flat_if_it_hardly_varies() {
        let of = |shares: &[f64]| {
            let at = |&share: &f64| Instant { days: 1.0, had: vec![share], entitled: vec![1.0] };
            is_flat(&shares.iter().map(at).collect::<Vec<Instant>>(), 0)
        };
        assert!(of(&[0.11, 0.105, 0.112]) && of(&[0.3]) && of(&[0.0, 0.0]));
        assert!(!of(&[0.11, 0.09]) && !of(&[0.0, 0.01]));
    }

    proptest! {
        /// At every instant, shares and entitlements add up to 1. The last share is that of the
        /// whole span. No instant depends on later usage.
        #[test]
        fn shares_are_of_what_was_used_so_far(
            used in prop::collection::vec((0..9_u32, 0..3_usize, 1..50_u32), 1..20),
            cut in 1..9_u32,
        ) {
            let of = |used: &[(u32, usize, u32)]| drawn(9, used);
            let whole = over_time(&of(&used));
            for at in &whole {
                prop_assert!((at.had.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                prop_assert!((at.entitled.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
            let total: u32 = used.iter().map(|one| one.2).sum();
            for who in 0..3 {
                let own: u32 = used.iter().filter(|one| one.1 == who).map(|one| one.2).sum();
                let share = f64::from(own) / f64::from(total);
                prop_assert!((whole.last().unwrap().had[who] - share).abs() < 1e-9);
            }
            let before: Vec<(u32, usize, u32)> =
                used.iter().copied().filter(|one| one.0 < cut).collect();
            let early = over_time(&of(&before));
            for (one, other) in whole.iter().zip(&early).filter(|(one, _)| one.days < f64::from(cut) / 24.0 + 1e-9) {
                prop_assert_eq!((&one.had, &one.entitled), (&other.had, &other.entitled));
            }
        }
    }
}

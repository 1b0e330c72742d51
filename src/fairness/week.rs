//! Finds the patterns of figures 3 and 4 of the paper in the data.
//!
//! In: a [`History`], Condor's effective priority as a [`Series`], and the users in the figures.
//! Out: users who used much early, users who came late and whether more capacity was free then, and
//! two users with the same final usage, one in many small steps and the other in one steep step.
//! Halves are halves of the span; the first is shorter if the number of intervals is odd.
//!
//! ```text
//!            first half     | second half
//!  early     ___----''''''''|''''''''''''   over half of the usage, and the priority above the mean
//!  late      _______________|___---''''''   over half of what ran
//!  stairs    ___---'''---'''|---'''---'''   no interval has over a tenth
//!  step      _______________|_____|''''''   one interval has over half
//! ```

use serde::Serialize;

use super::history::{AttemptEnd, History};
use super::series::Series;
use super::suggestions::load;
use super::usage::{self, UserUsage, held_by_interval};

/// A user who used much early.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Early {
    /// The name.
    #[serde(serialize_with = "usage::known")]
    pub user: String,
    /// CPU-seconds charged in the first half.
    pub charged_first_s: f64,
    /// CPU-seconds charged in the second half: the most that a limit would have freed.
    pub charged_second_s: f64,
    /// Effective priority in the middle.
    pub eup_middle: f64,
}

/// A user who came late.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Late {
    /// The name.
    #[serde(serialize_with = "usage::known")]
    pub user: String,
    /// CPU-seconds that ran in the second half.
    pub ran_second_s: f64,
    /// Share of the capacity that all others used while the user ran in the second half: the mean
    /// over intervals, weighted by the user's running usage.
    pub others_meanwhile: f64,
    /// Mean share of the capacity that all others used in the first half.
    pub others_before: f64,
}

impl Late {
    /// Whether the others used less while the user ran than in the first half.
    pub fn came_when_free(&self) -> bool {
        self.others_meanwhile < self.others_before
    }
}

/// How a user reached the final usage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Climb {
    /// The position among the people.
    #[serde(skip)]
    pub who: usize,
    /// The name.
    #[serde(serialize_with = "usage::known")]
    pub user: String,
    /// Charged CPU-seconds.
    pub cpu_s: f64,
    /// Number of intervals with a charge.
    pub active_intervals: u64,
    /// The largest share of the charge in one interval.
    pub largest_step_share: f64,
    /// Number of attempts that ended.
    pub ended: usize,
    /// Number of attempts that ended in the interval of the largest step.
    pub ended_in_largest_step: usize,
    /// Median run time of the attempts that ended, s.
    pub median_run_s: Option<f64>,
    /// Median run time of those that ended in the interval of the largest step, s.
    pub median_run_in_step_s: Option<f64>,
}

/// Two users with about the same final usage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The user with many small steps.
    pub stairs: Climb,
    /// The user with one steep step.
    pub step: Climb,
}

/// The patterns in the figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// Number of users drawn.
    pub drawn: usize,
    /// The middle of the shown intervals, s from their start.
    pub middle_s: f64,
    /// The largest share of the capacity in use in an interval.
    pub load_max: f64,
    /// Users who used much early: over half of their charge is in the first half, and their
    /// priority in the middle is above the mean of the drawn users. The heaviest first.
    pub early: Vec<Early>,
    /// Users who came late: over half of their running usage was in the second half. The heaviest
    /// first.
    pub late: Vec<Late>,
    /// A staircase and a steep step: the heaviest user with a steep step that matches another
    /// user's staircase.
    pub pair: Option<Pair>,
}

/// The largest relative difference at which final usages are about the same.
pub const ALIKE: f64 = 0.1;
/// The largest share of usage in one interval of a staircase.
pub const STAIR_MOST: f64 = 0.1;
/// A steep step has more than this share of the usage in one interval.
pub const STEEP: f64 = 0.5;

/// Finds the patterns: early and late users among those in `drawn`, and a pair among those in
/// `pairs`. Users are given by their position among the people.
pub fn read(history: &History, eup: &Series, drawn: &[usize], pairs: &[usize]) -> Seen {
    let users = usage::users(history);
    let of = |whom: &[usize]| -> Vec<&UserUsage> {
        users.iter().filter(|user| whom.contains(&user.who)).collect()
    };
    let shown = history.grid.count - history.shown_from;
    let half = shown / 2;
    let load = load(history);
    let (early, late) = if half == 0 {
        (Vec::new(), Vec::new())
    } else {
        (early(eup, &of(drawn), half), late(history, &load, &of(drawn), half))
    };
    Seen {
        drawn: drawn.len(),
        middle_s: history.seconds_at(history.shown_from + half),
        load_max: load.iter().copied().fold(0.0, f64::max),
        early,
        late,
        pair: pair(history, &of(pairs)),
    }
}

fn early(eup: &Series, drawn: &[&UserUsage], half: u32) -> Vec<Early> {
    let middle: Vec<f64> =
        drawn.iter().map(|user| eup.value(half as usize - 1, user.who, 0)).collect();
    let known: Vec<f64> = middle.iter().copied().filter(|eup| eup.is_finite()).collect();
    #[expect(clippy::cast_precision_loss, reason = "a few users")]
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    let rows = drawn.iter().zip(middle).filter_map(|(user, eup_middle)| {
        let first = user.by_interval.iter().filter(|step| step.0 < half);
        let charged_first_s: f64 = first.map(|step| step.1).sum();
        (user.cpu_s < 2.0 * charged_first_s && mean < eup_middle).then(|| Early {
            user: user.user.clone(),
            charged_first_s,
            charged_second_s: (user.cpu_s - charged_first_s).max(0.0),
            eup_middle,
        })
    });
    rows.collect()
}

fn late(history: &History, load: &[f64], drawn: &[&UserUsage], half: u32) -> Vec<Late> {
    let held = held_by_interval(history);
    let capacity_s = capacity_of_intervals(history);
    let rows = drawn.iter().filter_map(|user| {
        let mut own = vec![0.0; load.len()];
        for &(interval, cpu) in &held[user.who] {
            own[(interval - history.shown_from) as usize] = cpu.seconds();
        }
        let (before, after) = own.split_at(half as usize);
        let ran_second_s: f64 = after.iter().sum();
        let others = |idx: usize| load[idx] - own[idx] / capacity_s[idx];
        let meanwhile = (half as usize..own.len()).map(|idx| own[idx] * others(idx)).sum::<f64>();
        (before.iter().sum::<f64>() < ran_second_s).then(|| Late {
            user: user.user.clone(),
            ran_second_s,
            others_meanwhile: meanwhile / ran_second_s,
            others_before: (0..half as usize).map(others).sum::<f64>() / f64::from(half),
        })
    });
    rows.collect()
}

/// The CPU-seconds available in each interval, as in [`load`]; infinite if there are none.
fn capacity_of_intervals(history: &History) -> Vec<f64> {
    let mut used = vec![0.0; (history.grid.count - history.shown_from) as usize];
    for cell in history.shown() {
        used[(cell.interval - history.shown_from) as usize] += cell.held.seconds();
    }
    let busiest = used.iter().copied().fold(0.0, f64::max);
    let known = |idx: usize| {
        let capacity = history.capacity.get(history.shown_from as usize + idx);
        capacity.map_or(busiest, |known| known.cpu * history.grid.length_s())
    };
    let all = (0..used.len()).map(known);
    all.map(|capacity| if capacity == 0.0 { f64::INFINITY } else { capacity }).collect()
}

fn pair(history: &History, users: &[&UserUsage]) -> Option<Pair> {
    let steps = users.iter().filter(|user| STEEP < user.largest_step_share);
    let stairs = |step: &UserUsage| {
        let is_like = |user: &&&UserUsage| {
            user.largest_step_share <= STAIR_MOST
                && (user.cpu_s - step.cpu_s).abs() <= ALIKE * step.cpu_s
        };
        let all = users.iter().filter(is_like);
        all.min_by(|one, other| one.largest_step_share.total_cmp(&other.largest_step_share))
            .copied()
    };
    let (stairs, step) = { steps }.find_map(|step| Some((stairs(step)?, *step)))?;
    Some(Pair { stairs: climb(history, stairs), step: climb(history, step) })
}

fn climb(history: &History, user: &UserUsage) -> Climb {
    let own: Vec<&AttemptEnd> = history
        .ends
        .iter()
        .filter(|end| end.who as usize == user.who && history.shown_from <= end.interval)
        .collect();
    let largest = user.by_interval.iter().rev().max_by(|one, other| one.1.total_cmp(&other.1));
    let largest = largest.map(|step| step.0 + history.shown_from);
    let in_step = own.iter().filter(|end| Some(end.interval) == largest);
    let in_step: Vec<f64> = in_step.map(|end| end.run_s).collect();
    Climb {
        who: user.who,
        user: user.user.clone(),
        cpu_s: user.cpu_s,
        active_intervals: user.active_intervals,
        largest_step_share: user.largest_step_share,
        ended: own.len(),
        ended_in_largest_step: in_step.len(),
        median_run_s: median(own.iter().map(|end| end.run_s).collect()),
        median_run_in_step_s: median(in_step),
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => None,
        0 => Some(f64::midpoint(values[middle - 1], values[middle])),
        _ => Some(values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairness::indices;
    use crate::fairness::samples::history;
    use crate::fairness::series::evaluate;

    fn read_all(history: &History) -> Seen {
        let mut condor = indices::parse("condor").unwrap();
        let eup = evaluate("condor", condor.as_mut(), history).unwrap();
        let all: Vec<usize> = (0..history.people.len()).collect();
        read(history, &eup, &all, &all)
    }

    /// Twelve intervals: six in the first half, six in the second.
    fn ended(who: u32, interval: u32, run_s: f64) -> AttemptEnd {
        AttemptEnd { interval, who, wait_s: 0.0, run_s, suspended_s: 0.0 }
    }

    #[test]
    fn who_used_much_early_and_who_came_when_there_was_room() {
        //  early  |900|900|900|900|900|900|100|   |   |   |   |   |
        //  little |  9|  9|   |   |   |   |   |   |   |   |   |   |   over half, and little
        //  late   |   |   |   |   |   |   |   |500|500|500|500|500|
        //  both   | 50| 50| 50| 50| 50| 50| 50| 50| 50| 50| 50| 50|   not over half in either
        let early = [900.0, 900.0, 900.0, 900.0, 900.0, 900.0, 100.0];
        let mut late = [0.0; 12];
        late[7..].fill(500.0);
        let history = history(&[
            ("early", &early),
            ("little", &[9.0, 9.0]),
            ("late", &late),
            ("both", &[50.0; 12]),
        ]);
        let seen = read_all(&history);
        assert_eq!((seen.middle_s, seen.load_max), (6.0 * 3600.0, 1.0));
        let names: Vec<&str> = seen.early.iter().map(|one| one.user.as_str()).collect();
        assert_eq!(names, ["early"]);
        assert_eq!(
            (seen.early[0].charged_first_s, seen.early[0].charged_second_s),
            (5400.0, 100.0)
        );
        assert_eq!(seen.late.len(), 1);
        let late = &seen.late[0];
        assert!(late.came_when_free() && late.ran_second_s == 2500.0);
        // The busiest interval, 959, counts as full.
        assert!((late.others_meanwhile - 50.0 / 959.0).abs() < 1e-12, "{late:?}");
        assert!((late.others_before - (5700.0 + 18.0) / 6.0 / 959.0).abs() < 1e-12, "{late:?}");
    }

    #[test]
    fn who_comes_late_into_a_crowd_did_not_come_when_there_was_room() {
        let history = history(&[("crowd", &[1.0, 1.0, 9.0, 9.0]), ("late", &[0.0, 0.0, 2.0, 2.0])]);
        let seen = read_all(&history);
        let late: Vec<(&str, bool)> =
            seen.late.iter().map(|one| (one.user.as_str(), one.came_when_free())).collect();
        assert_eq!(late, [("crowd", false), ("late", false)]);
    }

    #[test]
    fn a_staircase_stands_beside_a_steep_step_of_about_its_height() {
        let stairs = [100.0; 12];
        let step = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 990.0, 60.0];
        let high = [0.0, 0.0, 9000.0];
        let mut history = history(&[("stairs", &stairs), ("step", &step), ("high", &high)]);
        history.ends = (0..12).map(|interval| ended(0, interval, 100.0)).collect();
        history.ends.extend([ended(1, 9, 3600.0), ended(1, 10, 1.0)]);
        let pair = read_all(&history).pair;
        assert_eq!(pair, None, "1200 is over a tenth more than 1050");
        let seven = [150.0; 7];
        history = crate::fairness::samples::history(&[("stairs", &seven), ("step", &step)]);
        assert_eq!(read_all(&history).pair, None, "a step of a seventh is no stair");
        history = crate::fairness::samples::history(&[
            ("stairs", &[90.0; 12]),
            ("step", &step),
            ("high", &high),
        ]);
        history.ends = (0..12).map(|interval| ended(0, interval, 100.0)).collect();
        history.ends.extend([ended(1, 9, 3600.0), ended(1, 10, 1.0)]);
        let pair = read_all(&history).pair.unwrap();
        assert_eq!((pair.stairs.user.as_str(), pair.step.user.as_str()), ("stairs", "step"));
        assert_eq!((pair.stairs.ended, pair.stairs.median_run_s), (12, Some(100.0)));
        assert_eq!((pair.step.ended_in_largest_step, pair.step.ended), (1, 2));
        assert_eq!(pair.step.median_run_in_step_s, Some(3600.0));
    }

    #[test]
    fn a_single_interval_has_no_halves() {
        let seen = read_all(&history(&[("a", &[5.0])]));
        assert!(seen.early.is_empty() && seen.late.is_empty() && seen.pair.is_none());
    }
}

//! The machine and time of each task under a policy: a bar for each attempt, in the row of its
//! machine.
//!
//! In: the journal of a replay. Out: a chart of the whole run if it fits, otherwise a cut. A cut
//! shows the time around the longest queue, on the busiest machines whose attempts all fit; the
//! caption names both. A machine is drawn with all of its attempts in this time, or not at all.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Run, Setting};
use crate::charts::{Chart, GanttChart, GanttSpan, Tone};
use crate::digits::{counted, grouped, lasting, unit_of_time};
use crate::replay::journal::Kind;
use crate::units::micros_to_seconds;

/// The most rows and attempts of a chart of a whole run.
const ROWS_MAX: usize = 32;
const SPANS_MAX: usize = 400;

/// The most attempts, rows and machines of a cut.
const CUT_SPANS_MAX: usize = 48;
const CUT_ROWS_MAX: usize = 16;
const CUT_MACHINES_MAX: usize = 8;

/// The fewest machines of a cut, and the most machines that are tried, in order from the busiest.
const CUT_MACHINES_MIN: usize = 2;
const TRIED_MAX: usize = 500;

/// The number of parts into which a long run is divided. A cut is at most as long as one part, and
/// is around the time at which most tasks wait.
const PARTS: i64 = 12;

/// The shortest cut, µs.
const SHORTEST_US: i64 = 1_000_000;

/// An attempt on its machine, µs.
#[derive(Clone, Debug, PartialEq)]
struct Attempt {
    machine: u32,
    task: u32,
    from_us: i64,
    to_us: i64,
    how: Kind,
    is_copy: bool,
}

/// The attempts of a journal, in order of their ends.
fn attempts(run: &Run) -> Vec<Attempt> {
    let mut begun = FxHashMap::default();
    let mut found = Vec::new();
    for entry in run.journal.entries() {
        let key = (entry.task, entry.attempt);
        if entry.kind.is_begin() {
            begun.insert(key, (entry.at_us, entry.kind != Kind::Start));
        } else if entry.kind.is_end()
            && let Some((from_us, is_copy)) = begun.remove(&key)
        {
            let (machine, task, how) = (entry.machine, entry.task, entry.kind);
            found.push(Attempt { machine, task, from_us, to_us: entry.at_us, how, is_copy });
        }
    }
    found
}

fn sort(attempts: &mut [Attempt]) {
    attempts.sort_by_key(|attempt| (attempt.machine, attempt.from_us, attempt.task));
}

/// Assigns attempts to rows, machine by machine, so that they do not overlap. Returns the row of
/// each attempt, and the machine of each row. The machine is `None` if the row continues the
/// machine above.
fn rows_of(attempts: &[Attempt]) -> (Vec<usize>, Vec<Option<u32>>) {
    let (mut places, mut rows) = (Vec::new(), Vec::new());
    // The time at which each row of the current machine is free again.
    let mut free_us: Vec<i64> = Vec::new();
    let mut machine = None;
    for attempt in attempts {
        if machine != Some(attempt.machine) {
            machine = Some(attempt.machine);
            free_us.clear();
        }
        let row = free_us.iter().position(|&free_us| free_us <= attempt.from_us);
        let row = row.unwrap_or_else(|| {
            rows.push(machine.filter(|_| free_us.is_empty()));
            free_us.push(0);
            free_us.len() - 1
        });
        free_us[row] = attempt.to_us;
        places.push(rows.len() - free_us.len() + row);
    }
    (places, rows)
}

/// A part of a run that fits in a chart: everything that some machines ran in this time.
#[derive(Debug, PartialEq)]
struct Cut {
    attempts: Vec<Attempt>,
    from_us: i64,
    to_us: i64,
    /// The number of machines that are drawn, and the number of all machines that ran something in
    /// this time.
    machines: [usize; 2],
}

/// The part of a run around an instant. Its length is halved until the attempts of the busiest
/// machines fit. `None` if they do not fit even in a part of about a second, as on one machine with
/// hundreds of processors.
fn cut(all: Vec<Attempt>, [begin_us, end_us]: [i64; 2], around_us: i64) -> Option<Cut> {
    let mut length_us = (end_us - begin_us) / PARTS;
    let mut within = all;
    while SHORTEST_US <= length_us {
        let last_us = (end_us - length_us).max(begin_us);
        let from_us = (around_us - length_us / 2).clamp(begin_us, last_us);
        let to_us = from_us + length_us;
        // The next parts are shorter and within this one.
        within.retain(|own| own.from_us < to_us && from_us < own.to_us);
        let (attempts, machines) = busiest(&within, [from_us, to_us]);
        if CUT_MACHINES_MIN.min(machines[1]) <= machines[0] && 0 < machines[0] {
            return Some(Cut { attempts, from_us, to_us, machines });
        }
        length_us /= 2;
    }
    None
}

/// The attempts of the busiest machines in a time, cut at its ends. A machine has all of its
/// attempts, or none if they do not fit. Also the number of chosen machines, and the number of all.
fn busiest(within: &[Attempt], [from_us, to_us]: [i64; 2]) -> (Vec<Attempt>, [usize; 2]) {
    let mut by_machine: BTreeMap<u32, Vec<Attempt>> = BTreeMap::new();
    for own in within {
        let (from_us, to_us) = (own.from_us.max(from_us), own.to_us.min(to_us));
        by_machine.entry(own.machine).or_default().push(Attempt { from_us, to_us, ..own.clone() });
    }
    let count = by_machine.len();
    let busy_us = |own: &[Attempt]| own.iter().map(|one| one.to_us - one.from_us).sum::<i64>();
    let mut machines: Vec<Vec<Attempt>> = by_machine.into_values().collect();
    machines.sort_by_key(|own| (Reverse(busy_us(own)), own[0].machine));
    let (mut taken, mut rows, mut machine_count) = (Vec::new(), 0, 0);
    for mut own in machines.into_iter().take(TRIED_MAX) {
        sort(&mut own);
        let own_rows = rows_of(&own).1.len();
        let fits = rows + own_rows <= CUT_ROWS_MAX && taken.len() + own.len() <= CUT_SPANS_MAX;
        if fits && machine_count < CUT_MACHINES_MAX {
            (rows, machine_count) = (rows + own_rows, machine_count + 1);
            taken.append(&mut own);
        }
    }
    sort(&mut taken);
    (taken, [machine_count, count])
}

/// The instant at which most tasks wait, µs; `begin_us` if no task waits.
fn fullest_us(run: &Run, begin_us: i64) -> i64 {
    let waiting = run.metrics.samples.iter().filter(|sample| 0.0 < sample.waiting);
    let most = waiting.max_by(|one, other| one.waiting.total_cmp(&other.waiting));
    #[expect(clippy::cast_possible_truncation, reason = "an instant of the trace")]
    most.map_or(begin_us, |sample| (sample.time_s * 1e6) as i64)
}

/// The chart; `None` for a run without attempts, or if no cut fits.
pub(super) fn chart(run: &Run, setting: &Setting, caption: &str) -> Option<Chart> {
    let mut all = attempts(run);
    let begin_us = all.iter().map(|attempt| attempt.from_us).min()?;
    let end_us = all.iter().map(|attempt| attempt.to_us).max()?;
    let is_short = all.len() <= SPANS_MAX;
    if is_short {
        sort(&mut all);
    }
    let fits = is_short && rows_of(&all).1.len() <= ROWS_MAX;
    let (attempts, from_us, said) = if fits {
        (all, begin_us, String::new())
    } else {
        let bounds = [begin_us, end_us];
        let cut = cut(all, bounds, fullest_us(run, begin_us))?;
        let said = said(&cut, begin_us);
        (cut.attempts, cut.from_us, said)
    };
    let (places, rows) = rows_of(&attempts);
    let last_us = attempts.iter().map(|attempt| attempt.to_us).max()?;
    let (unit, per) = unit_of_time(micros_to_seconds(last_us - from_us));
    let since = |at_us: i64| micros_to_seconds(at_us - from_us) / per;
    let spans = attempts.iter().zip(places).map(|(attempt, row)| {
        let (job, number) = setting.history.ids[attempt.task as usize];
        GanttSpan {
            row,
            from: since(attempt.from_us),
            to: since(attempt.to_us),
            label: format!("{job}/{number}"),
            tone: meaning(attempt).1,
            is_wait: false,
        }
    });
    let name = |machine: &Option<u32>| {
        machine.map_or_else(String::new, |machine| setting.cluster.id(machine).to_string())
    };
    let chart = GanttChart {
        title: format!("Attempts by machine under {}", run.label),
        caption: format!(
            "{said}{caption} A bar is an attempt (job/task); a row without a name belongs to the \
            machine above it."
        ),
        time_axis: if from_us == begin_us {
            format!("time since the first start ({unit})")
        } else {
            let since = lasting(micros_to_seconds(from_us - begin_us));
            format!("time, starting {since} after the first start ({unit})")
        },
        rows: rows.iter().map(name).collect(),
        spans: spans.collect(),
        legend: legend(&attempts),
    };
    let absent = setting.absent.within([from_us, last_us].map(micros_to_seconds));
    Some(absent.over_time(Chart::Gantt(chart), micros_to_seconds(from_us), per))
}

/// The sentence that says which part of a larger run is drawn.
fn said(cut: &Cut, begin_us: i64) -> String {
    let [drawn, all] = cut.machines.map(|count| count as u64);
    let which = if drawn < all {
        format!("{} of {}, the busiest that fit", grouped(drawn), counted(all, "machine"))
    } else {
        counted(all, "machine")
    };
    format!(
        "{} around the longest queue, starting {} after the first start: {which}, with {}. Bars at an \
         edge continue beyond it. ",
        lasting(micros_to_seconds(cut.to_us - cut.from_us)),
        lasting(micros_to_seconds(cut.from_us - begin_us)),
        counted(cut.attempts.len() as u64, "attempt"),
    )
}

/// The legend, with each way in which an attempt ended once.
fn legend(attempts: &[Attempt]) -> Vec<(String, Tone)> {
    let mut legend: Vec<(String, Tone)> = Vec::new();
    for attempt in attempts {
        let (name, tone) = meaning(attempt);
        if legend.iter().all(|(known, _)| known != name) {
            legend.push((name.to_owned(), tone));
        }
    }
    legend.sort();
    legend
}

/// How an attempt ended, and its colour.
fn meaning(attempt: &Attempt) -> (&'static str, Tone) {
    match (attempt.how, attempt.is_copy) {
        (Kind::Finish, true) => ("copy that finished", Tone::Sky),
        (Kind::Finish, false) => ("finished", Tone::Green),
        (Kind::Fail, _) => ("failed", Tone::Vermilion),
        (Kind::Kill | Kind::Condemn, _) => ("killed", Tone::Blue),
        (Kind::Evict | Kind::Lost | Kind::Restart, _) => {
            ("evicted, lost or restarted", Tone::Orange)
        }
        (Kind::ProbeEnd, _) => ("probe", Tone::Purple),
        _ => ("cancelled or cut", Tone::Grey),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(machine: u32, task: u32, from_us: i64, to_us: i64) -> Attempt {
        Attempt { machine, task, from_us, to_us, how: Kind::Finish, is_copy: false }
    }

    #[test]
    fn attempts_side_by_side_have_rows_of_their_own() {
        //  machine 1:  |--- 0 ---|--- 2 ---|      machine 4:  |--- 3 ---|
        //                  |--- 1 ---|
        let all =
            [attempt(1, 0, 0, 5), attempt(1, 1, 2, 7), attempt(1, 2, 5, 9), attempt(4, 3, 0, 4)];
        assert_eq!(rows_of(&all), (vec![0, 1, 0, 2], vec![Some(1), None, Some(4)]));
    }

    #[test]
    fn a_cut_is_around_the_queue_and_has_all_of_the_busiest_machines_that_fit() {
        let second = 1_000_000;
        // 40 machines, each with 100 attempts of 10 s one after the other; the first machine has
        // one more attempt, as long as the run.
        let mut all: Vec<Attempt> = (0..40_u32)
            .flat_map(|machine| {
                let at = |task: u32| i64::from(task) * 10 * second;
                (0..100).map(move |task| attempt(machine, task, at(task), at(task + 1)))
            })
            .collect();
        all.push(attempt(0, 100, 0, 1000 * second));
        sort(&mut all);
        let found = cut(all, [0, 1000 * second], 500 * second).unwrap();
        assert!(found.from_us <= 500 * second && 500 * second <= found.to_us);
        assert_eq!(found.to_us - found.from_us, 1000 * second / PARTS);
        assert!(found.attempts.len() <= CUT_SPANS_MAX && 30 < found.attempts.len());
        assert_eq!(found.attempts[0].machine, 0, "the machine with two rows is the busiest");
        let is_within = |own: &Attempt| found.from_us <= own.from_us && own.to_us <= found.to_us;
        assert!(found.attempts.iter().all(is_within));
        assert_eq!(found.machines, [4, 40]);
        let said = said(&found, 0);
        assert!(said.contains(": 4 of 40 machines, the busiest that fit, with "), "{said}");
        // A machine with too many attempts at a time is not drawn, but other machines are.
        let full = |machine: u32, count: u32| {
            (0..count).map(move |task| attempt(machine, task, 0, 100 * second))
        };
        let all: Vec<Attempt> = full(7, 500).collect();
        assert_eq!(cut(all, [0, 100 * second], 0), None);
        let all: Vec<Attempt> = full(7, 500).chain(full(8, 2)).chain(full(9, 3)).collect();
        let found = cut(all, [0, 100 * second], 0).unwrap();
        assert_eq!((found.attempts.len(), found.machines), (5, [2, 3]));
    }
}

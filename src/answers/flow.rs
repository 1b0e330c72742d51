//! A chart of the paths of jobs or tasks, from submission through attempts to the outcome.
//!
//! In: event sequences with their counts. Out: bands that lead from how a job was submitted,
//! through its number of attempts, to how it ended. Every job is in exactly one band.

use std::collections::BTreeMap;

use crate::charts::{FlowChart, FlowNode, FlowWay, Tone, outcome_tone};
use crate::digits::grouped;
use crate::studies::outcomes::{Classes, OutcomeRow};

/// Labels for how a job was submitted, and for how often it was scheduled.
const CAME: [&str; 2] = ["submitted", "no SUBMIT"];
const ATTEMPTS: [&str; 3] = ["1 attempt", "2+ attempts", "no start seen"];

/// The path of a sequence, as positions in `CAME`, in `ATTEMPTS` and among the outcomes of
/// [`Classes::Terminal`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way([usize; 3]);

impl Way {
    /// The path of a sequence.
    pub(crate) fn of(sequence: &str) -> Self {
        Self(way(sequence))
    }

    /// Whether the first event is a SUBMIT.
    pub(crate) const fn has_submit(self) -> bool {
        self.0[0] == 0
    }

    /// Number of attempts: 0, 1, or 2 for two or more.
    pub(crate) const fn attempts(self) -> u8 {
        match self.0[1] {
            0 => 1,
            1 => 2,
            _ => 0,
        }
    }

    /// The outcome by the last terminal event.
    pub(crate) fn end(self) -> &'static str {
        Classes::Terminal.outcomes()[self.0[2]]
    }
}

/// The name of an outcome in charts.
pub(crate) fn shown(outcome: &'static str) -> &'static str {
    match outcome {
        "pending" => "still waiting",
        "running" => "still running",
        ended => ended,
    }
}

/// The number of jobs or tasks with an outcome by the last terminal event.
pub(crate) fn ending_as(sequences: &[OutcomeRow], outcome: &str) -> u64 {
    let of =
        |row: &&OutcomeRow| Way::of(row.sequence.as_deref().unwrap_or_default()).end() == outcome;
    sequences.iter().filter(of).map(|row| row.count).sum()
}

/// The positions that [`Way`] holds. The last event from SUBMIT to LOST (0 to 6) decides the
/// outcome.
fn way(sequence: &str) -> [usize; 3] {
    let came = usize::from(!sequence.starts_with('0'));
    let attempts = match sequence.matches('1').count() {
        0 => 2,
        1 => 0,
        _ => 1,
    };
    let outcome = match sequence.chars().rev().find(|event| ('0'..='6').contains(event)) {
        Some('4') => "finished",
        Some('3') => "failed",
        Some('5') => "killed",
        Some('2') => "evicted",
        Some('6') => "lost",
        Some('0') => "pending",
        Some('1') => "running",
        _ => "unknown",
    };
    let ended = Classes::Terminal.outcomes().iter().position(|known| *known == outcome);
    [came, attempts, ended.expect("all are among the outcomes")]
}

/// The chart of `sequences`. `plural` is `jobs` or `tasks`; `edges` ends the caption.
pub(crate) fn chart(sequences: &[OutcomeRow], plural: &str, edges: &str) -> FlowChart {
    let mut ways: BTreeMap<[usize; 3], u64> = BTreeMap::new();
    for row in sequences {
        *ways.entry(way(row.sequence.as_deref().unwrap_or_default())).or_default() += row.count;
    }
    let total: u64 = ways.values().sum();
    let outcomes = Classes::Terminal.outcomes();
    let most = ways.iter().max_by_key(|(nodes, count)| (**count, std::cmp::Reverse(**nodes)));
    let found = most.map_or_else(String::new, |(&[came, attempts, ended], &count)| {
        let [came, attempts] = [CAME[came], ATTEMPTS[attempts]];
        format!(
            "The most frequent path, {} of {} {plural}: {came}, {attempts}, {}. ",
            grouped(count),
            grouped(total),
            shown(outcomes[ended])
        )
    });
    let node = |name: &&str, tone| FlowNode { name: (*name).to_owned(), tone };
    let grey = |names: &[&str]| names.iter().map(|name| node(name, Tone::Grey)).collect();
    let ends = outcomes.iter().map(|name| node(&shown(name), outcome_tone(name)));
    FlowChart {
        title: format!("From submission to outcome: {} {plural}", grouped(total)),
        caption: format!(
            "{found}The height of a band is a number of {plural}; an attempt \
             begins with a SCHEDULE. The outcome is that of the last end; {plural} that were \
             submitted or scheduled again after it still wait or run.{edges}"
        ),
        unit: plural.to_owned(),
        stages: vec![grey(&CAME), grey(&ATTEMPTS), ends.collect()],
        ways: ways
            .into_iter()
            .map(|(nodes, count)| FlowWay { nodes: nodes.into(), count })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::events::Event;
    use crate::facts::jobs;
    use crate::schema::EventType;

    #[test]
    fn ways_are_those_of_the_sequences() {
        let said = |sequence: &str| {
            let [came, attempts, ended] = way(sequence);
            [CAME[came], ATTEMPTS[attempts], Classes::Terminal.outcomes()[ended]]
        };
        assert_eq!(said("014"), ["submitted", "1 attempt", "finished"]);
        assert_eq!(said("05"), ["submitted", "no start seen", "killed"]);
        assert_eq!(said("01201"), ["submitted", "2+ attempts", "running"]);
        assert_eq!(said("0120"), ["submitted", "1 attempt", "pending"]);
        assert_eq!(said("18"), ["no SUBMIT", "1 attempt", "running"]);
        assert_eq!(said("7"), ["no SUBMIT", "no start seen", "unknown"]);
    }

    proptest! {
        /// The outcome at the end of a path is the outcome under `--classes terminal`, and every
        /// job is in exactly one path.
        #[test]
        fn ends_are_those_of_the_terminal_classes(
            all in prop::collection::vec(prop::collection::vec(0..11_i32, 1..9), 1..20),
        ) {
            let rows = all.iter().map(|kinds| {
                let events: Vec<Event> = kinds
                    .iter()
                    .filter_map(|&kind| EventType::of(kind))
                    .map(|event_type| Event { time_us: 0, row_id: 0, event_type, row: 0 })
                    .collect();
                let mut sequence = String::new();
                jobs::write_sequence(&events, &mut sequence);
                let ended = way(&sequence)[2];
                prop_assert_eq!(ended, usize::from(jobs::by_terminal(&events)));
                Ok(OutcomeRow {
                    sequence: Some(sequence), outcome: String::new(), count: 1, share: 0.0,
                })
            });
            let rows: Result<Vec<OutcomeRow>, TestCaseError> = rows.collect();
            let chart = chart(&rows?, "jobs", "");
            prop_assert_eq!(chart.ways.iter().map(|way| way.count).sum::<u64>(), all.len() as u64);
        }
    }
}

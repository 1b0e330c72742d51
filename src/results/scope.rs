//! The scope of a result: the tables of the lake that it read, how much of them was loaded, and how
//! many hours.
//!
//! In: the `inputs` and the settings of a stored result. Out: words for its sentences and captions.
//! Without these words, a figure would seem to describe the whole trace.

use serde::Deserialize;
use serde_json::Value;

use super::envelope::{Input, Measures, if_it_reads};
use super::kind::{FOR_ALL, Kind};
use crate::charts::DAYS_FROM_S;
use crate::digits::{counted, grouped};
use crate::lake::Gap;
use crate::notation::listed;
use crate::schema::{JOINED_SAMPLE, Table};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The tables from which an answer is made; empty if it is made from the whole lake.
pub(crate) fn tables_of(kind: &Kind<'_>, settings: &Value) -> Vec<Table> {
    let Measures { cpu, memory } = Measures::deserialize(settings).unwrap_or_default();
    let has_usage = matches!(cpu.as_deref(), Some("measured" | "published"))
        || matches!(memory.as_deref(), Some("canonical" | "assigned"));
    let usage = (kind.meters && has_usage).then_some(Table::TaskUsage);
    kind.tables.iter().copied().chain(usage).collect()
}

/// `task_events: 17 of 500 parts, 25.0 hours; job_events: all, 29.0 days`; empty if nothing is
/// known about the tables.
pub fn scope(kind: &Kind<'_>, settings: &Value, inputs: &[Input]) -> String {
    let wanted = tables_of(kind, settings);
    let is_read =
        |table: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted.name() == table);
    let mut extents: Vec<(String, Vec<&str>)> = Vec::new();
    for input in inputs.iter().filter(|input| is_read(&input.table)) {
        let table = input.table.as_str();
        let extent = extent(input);
        match extents.iter_mut().find(|known| known.0 == extent) {
            Some((_, tables)) if tables.contains(&table) => {}
            Some((_, tables)) => tables.push(table),
            None => extents.push((extent, vec![table])),
        }
    }
    let pieces = extents.iter().map(|(extent, tables)| format!("{}: {extent}", listed(tables)));
    let pieces = pieces.chain(assumed(kind, inputs)).chain(drawn(settings));
    pieces.collect::<Vec<String>>().join("; ")
}

/// The assumptions about rows that affect an answer. For example, those about status matter if it
/// counts outcomes; those about waits matter if it uses waits or starts.
fn assumed(kind: &Kind<'_>, inputs: &[Input]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (wording, &count) in inputs.iter().flat_map(|input| &input.remarks) {
        let is_about = kind.remarks.iter().chain(&FOR_ALL).any(|start| wording.starts_with(start));
        let said = format!("{wording}: {}", grouped(count));
        if is_about && !all.contains(&said) {
            all.push(said);
        }
    }
    all
}

/// A note about a replay that samples jobs or machines, with the chance of each; `None` if it takes
/// all.
fn drawn(settings: &Value) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Shares {
        #[serde(deserialize_with = "if_it_reads")]
        sample: Option<f64>,
        #[serde(deserialize_with = "if_it_reads")]
        machines: Option<f64>,
    }
    let Shares { sample, machines } = Shares::deserialize(settings).unwrap_or_default();
    let (jobs, machines) = (sample.unwrap_or(1.0), machines.unwrap_or(1.0));
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    match (jobs < 1.0, machines < 1.0) {
        (false, false) => None,
        (true, false) => {
            Some(format!("a random sample of the jobs: each with a chance of {}", percent(jobs)))
        }
        (false, true) => Some(format!(
            "a random sample of the machines: each with a chance of {}",
            percent(machines)
        )),
        (true, true) => Some(format!(
            "a random sample: each job with a chance of {}, each machine with {}",
            percent(jobs),
            percent(machines)
        )),
    }
}

/// How much of a table there is: `17 of 500 parts, 25.0 hours`.
pub(crate) fn extent(input: &Input) -> String {
    let parts = match (input.part_count, input.parts_of) {
        _ if input.remarks.contains_key(JOINED_SAMPLE) => "a sample".to_owned(),
        (Some(has), Some(of)) if has == of => "all".to_owned(),
        (Some(has), Some(of)) => format!("{} of {}", grouped(has), counted(of, "part")),
        (Some(has), None) => counted(has, "part"),
        (None, _) if input.parts.is_empty() => "parts unknown".to_owned(),
        (None, _) => format!("parts {}", input.parts),
    };
    let extent = length(input).map_or(parts.clone(), |length| format!("{parts}, {length}"));
    input.gaps.iter().fold(extent, |extent, gap| format!("{extent} without {}", missing(gap)))
}

/// The time from the first to the last row of a table: `25.0 hours`. `None` if it is unknown, or if
/// all rows are at one instant, such as the machines of a log.
fn length(input: &Input) -> Option<String> {
    let days = (input.end_s? - input.start_s?) / SECONDS_PER_DAY;
    match days {
        days if days <= 0.0 => None,
        days if days * SECONDS_PER_DAY < DAYS_FROM_S => Some(format!("{:.1} hours", days * 24.0)),
        days => Some(format!("{days:.1} days")),
    }
}

/// The scope of an answer on a page that already says what was loaded: `task_events: 25.0 hours` if
/// tables have different lengths, and whether the answer is about a sample. Otherwise empty.
pub(crate) fn in_short(kind: &Kind<'_>, settings: &Value, inputs: &[Input]) -> String {
    let wanted = tables_of(kind, settings);
    let mut lengths: Vec<(String, Vec<&str>)> = Vec::new();
    let known = inputs.iter().filter_map(|input| Some((length(input)?, input.table.as_str())));
    for (length, table) in known {
        match lengths.iter_mut().find(|known| known.0 == length) {
            Some((_, tables)) if tables.contains(&table) => {}
            Some((_, tables)) => tables.push(table),
            None => lengths.push((length, vec![table])),
        }
    }
    if lengths.len() == 1 {
        lengths.clear();
    }
    let is_read = |table: &&str| wanted.is_empty() || wanted.iter().any(|own| own.name() == *table);
    let pieces = lengths.iter().filter_map(|(length, tables)| {
        let read: Vec<&str> = tables.iter().copied().filter(is_read).collect();
        (!read.is_empty()).then(|| format!("{}: {length}", listed(&read)))
    });
    pieces.chain(drawn(settings)).collect::<Vec<String>>().join("; ")
}

/// The part that a gap of a table lacks: `part 14 (hours 19.50 to 20.90)`.
fn missing(gap: &Gap) -> String {
    let Gap { parts, from_h, until_h, .. } = gap;
    let noun = if parts.contains(['-', ',']) { "parts" } else { "part" };
    match from_h.zip(*until_h) {
        Some((from, until)) => format!("{noun} {parts} (hours {from:.2} to {until:.2})"),
        None => format!("{noun} {parts}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sample_is_not_all() {
        let sample = Input {
            table: "task_events".to_owned(),
            part_count: Some(1),
            parts_of: Some(1),
            start_s: Some(0.0),
            end_s: Some(864_000.0),
            remarks: [(JOINED_SAMPLE.to_owned(), 30)].into(),
            ..Input::default()
        };
        let tasks = Kind { tables: &[Table::TaskEvents], ..Kind::of("attempts") };
        assert_eq!(
            scope(&tasks, &json!({}), &[sample]),
            format!("task_events: a sample, 10.0 days; {JOINED_SAMPLE}: 30")
        );
    }

    #[test]
    fn the_tables_of_an_answer_are_named_with_their_hours() {
        let table = |name: &str, has: u64, of: Option<u64>, end_s: Option<f64>| {
            let start_s = end_s.map(|_| 0.0);
            Input {
                table: name.to_owned(),
                parts: "x".to_owned(),
                part_count: Some(has),
                parts_of: of,
                start_s,
                end_s,
                ..Input::default()
            }
        };
        let inputs = [
            table("job_events", 500, Some(500), Some(2_506_200.0)),
            table("task_events", 17, Some(500), Some(90_000.0)),
            table("task_usage", 1, None, None),
        ];
        let of = |tables| Kind { tables, ..Kind::of("x") };
        let jobs = of(&[Table::JobEvents]);
        let tasks = of(&[Table::TaskEvents]);
        let both = Kind { meters: true, ..of(&[Table::JobEvents, Table::TaskEvents]) };
        let said = |kind: &Kind<'_>, cpu: &str| scope(kind, &json!({"cpu": cpu}), &inputs);
        assert_eq!(said(&jobs, ""), "job_events: all, 29.0 days");
        assert_eq!(
            said(&both, "slots"),
            "job_events: all, 29.0 days; task_events: 17 of 500 parts, 25.0 hours"
        );
        assert!(said(&both, "measured").ends_with("; task_usage: 1 part"));
        let log = [
            table("job_events", 1, Some(1), Some(864_000.0)),
            table("task_events", 1, Some(1), Some(864_000.0)),
        ];
        let said = scope(&both, &json!({"cpu": "requested"}), &log);
        assert_eq!(said, "job_events and task_events: all, 10.0 days");
        assert_eq!(scope(&both, &json!({}), &[]), "");
        let mut holed = table("task_events", 16, Some(500), Some(90_000.0));
        let table = "task_events".to_owned();
        let (parts, from_h, until_h) = ("14".to_owned(), Some(19.5), Some(20.875));
        holed.gaps = vec![Gap { table, parts, from_h, until_h }];
        assert_eq!(
            scope(&tasks, &json!({}), &[holed]),
            "task_events: 16 of 500 parts, 25.0 hours without part 14 (hours 19.50 to 20.88)"
        );
        let mut assumed = log.clone();
        let remarks = [("status unknown: taken as finished", 1200), ("wait unknown", 7)];
        assumed[1].remarks = remarks.map(|(said, count)| (said.to_owned(), count)).into();
        let said = scope(&both, &json!({"cpu": "slots"}), &assumed);
        assert!(said.ends_with("10.0 days; status unknown: taken as finished: 1,200"), "{said}");
        assert!(
            scope(&Kind { remarks: &["wait "], ..both }, &json!({}), &assumed)
                .ends_with("; wait unknown: 7")
        );
        assert_eq!(
            scope(&Kind { remarks: &[], ..tasks }, &json!({}), &log),
            "task_events: all, 10.0 days"
        );
        let half = json!({"sample": 0.5, "machines": 0.25});
        assert_eq!(in_short(&tasks, &json!({}), &inputs), "task_events: 25.0 hours");
        assert_eq!(in_short(&tasks, &json!({}), &log), "");
        assert!(in_short(&tasks, &half, &log).starts_with("a random sample: each job"));
        let said = scope(&tasks, &half, &log);
        assert!(said.ends_with(
            "; a random sample: each job with a chance of 50.0 %, each machine with 25.0 %"
        ));
        let machines = scope(&tasks, &json!({"sample": 1.0, "machines": 0.25}), &log);
        assert!(
            machines.ends_with("; a random sample of the machines: each with a chance of 25.0 %")
        );
        let jobs = scope(&tasks, &json!({"sample": 0.5}), &log);
        assert!(jobs.ends_with("; a random sample of the jobs: each with a chance of 50.0 %"));
    }
}

//! Settings and inputs of results in words.
//!
//! In: the JSON of settings, or the key and the value of a difference between two results. Out:
//! names and texts for readers. Times have a unit or are dates.

use std::collections::BTreeMap;

use serde_json::Value;

use super::text::{figure_text, instant, is_date};
use crate::digits::{grouped, number_in};

/// Settings as names and texts. The name of a nested setting has the names of all levels. Times
/// have a unit. Settings without a value are left out.
pub(super) fn flatten(name: &str, value: &Value, pairs: &mut Vec<(String, String)>) {
    let is_plain = |value: &Value| !value.is_object() && !value.is_array();
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match value {
        Value::Null => {}
        Value::Array(items) if items.is_empty() => {}
        Value::Object(inner) => {
            for (key, value) in inner {
                let spoken = key.replace('_', " ");
                let full = if name.is_empty() { spoken } else { format!("{name}: {spoken}") };
                flatten(&full, value, pairs);
            }
        }
        Value::Array(items) if items.iter().all(is_plain) => {
            let words: Vec<String> = items.iter().map(word).collect();
            pairs.push((name.to_owned(), words.join(", ")));
        }
        Value::Number(number) if name.ends_with(" us") => {
            let time = of_micros(number.as_f64().unwrap_or(f64::NAN));
            pairs.push((spoken(name.trim_end_matches(" us")), time));
        }
        other => pairs.push((spoken(name), word(other))),
    }
}

/// Names for settings whose keys are not clear enough.
const SPOKEN: [(&str, &str); 4] = [
    ("windows: first", "window starts at"),
    ("windows: job end", "window of job events ends at"),
    ("windows: task end", "window of task events ends at"),
    ("windows: open attempts", "attempts without an end are closed at"),
];

/// The name of a setting for readers.
fn spoken(name: &str) -> String {
    let known = SPOKEN.iter().find(|(key, _)| *key == name);
    known.map_or(name, |(_, words)| words).to_owned()
}

/// A time given in microseconds; a date if the time counts from 1970.
fn of_micros(micros: f64) -> String {
    if is_date(micros / 1e6) {
        format!("{} UTC", instant(micros / 1e6))
    } else if micros != 0.0 && micros.abs() < 1e3 {
        format!("{} µs", figure_text(micros))
    } else {
        format!("{} s", figure_text(micros / 1e6))
    }
}

/// The key and the value of a difference between two results, in words:
/// `inputs.job_events.end_s` is the last row of `job_events`.
pub(super) fn in_words(key: &str, value: &str) -> (String, String) {
    if let Some((table, rest)) = key.strip_prefix("inputs.").and_then(|rest| rest.split_once('.')) {
        return of_input(table, rest, value);
    }
    let Some(path) = key.strip_prefix("settings.") else {
        return (key.to_owned(), value.to_owned());
    };
    let name = path.replace('.', ": ").replace('_', " ");
    match name.strip_suffix(" us") {
        Some(name) => (spoken(name), value.parse().map_or_else(|_| value.to_owned(), of_micros)),
        None => (spoken(&name), value.to_owned()),
    }
}

/// A field of an input in words.
fn of_input(table: &str, field: &str, value: &str) -> (String, String) {
    if let Some(remark) = field.strip_prefix("remarks.") {
        let lines = value.parse().map_or_else(|_| value.to_owned(), grouped);
        return (format!("{table}, lines for which this was assumed: {remark}"), lines);
    }
    if field == "remarks"
        && let Ok(all) = serde_json::from_str::<BTreeMap<String, u64>>(value)
    {
        let all = all.into_iter().map(|(remark, count)| format!("{remark} ({})", grouped(count)));
        return (format!("{table}, assumed"), all.collect::<Vec<String>>().join("; "));
    }
    let said = match field {
        "start_s" => "first row",
        "end_s" => "last row",
        other => other,
    };
    let number = number_in(value);
    let text = match (field, number, value.parse()) {
        ("start_s" | "end_s", Some(seconds), _) => instant(seconds),
        (_, _, Ok(count)) => grouped(count),
        _ => value.to_owned(),
    };
    (format!("{table}: {}", said.replace('_', " ")), text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_said_in_words_and_times_with_their_unit() {
        let mut pairs = Vec::new();
        let windows = json!({"windows": {"first_us": 1, "job_end_us": 2_506_200_000_000_i64,
            "task_end_us": 0, "open_attempts": "job-end"}, "cpu": "slots"});
        flatten("", &windows, &mut pairs);
        let expected = [
            ("cpu", "slots"),
            ("window starts at", "1 µs"),
            ("window of job events ends at", "2,506,200 s"),
            ("attempts without an end are closed at", "job-end"),
            ("window of task events ends at", "0 s"),
        ];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        pairs.sort();
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn differences_are_said_in_words() {
        for (key, value, name, said) in [
            (
                "settings.windows.job_end_us",
                "7949022000000",
                "window of job events ends at",
                "7,949,022 s",
            ),
            ("settings.windows.first_us", "1", "window starts at", "1 µs"),
            ("settings.windows.first_us", "", "window starts at", ""),
            ("settings.cpu", "slots", "cpu", "slots"),
            (
                "inputs.job_events.end_s",
                "1483314685.0",
                "job_events: last row",
                "2017-01-01 23:51:25",
            ),
            ("inputs.job_events.end_s", "", "job_events: last row", ""),
            ("inputs.job_events.rows", "54717", "job_events: rows", "54,717"),
            (
                "inputs.job_events.remarks.wait unknown",
                "18239",
                "job_events, lines for which this was assumed: wait unknown",
                "18,239",
            ),
            (
                "inputs.machine_events.remarks",
                "{\"x\":1200}",
                "machine_events, assumed",
                "x (1,200)",
            ),
            ("inputs.machine_events.remarks", "", "machine_events: remarks", ""),
            ("source", "swf", "source", "swf"),
        ] {
            assert_eq!(in_words(key, value), (name.to_owned(), said.to_owned()), "{key}");
        }
    }
}

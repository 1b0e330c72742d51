//! What distributions show, in sentences with numbers.
//!
//! In: the JSON of stored descriptions. Out: a sentence for each, made of its numbers alone; nothing
//! where it has none.

use serde_json::Value;

use crate::digits::{counted, grouped, six_digits};
use crate::results::kind::Sentence;

/// Of counts: tasks of each job, events and attempts of each task.
pub(crate) const COUNTS: Sentence = |it| counts(&it["answer"]);
/// Of waits.
pub(crate) const WAITS: Sentence = |it| waits(&it["answer"]);
/// Of running times as shares of what was requested.
pub(crate) const ESTIMATES: Sentence = |it| estimates(&it["answer"]);
/// Of a survival curve.
pub(crate) const SURVIVAL: Sentence = |it| survival(&it["answer"]);

/// The row of all outcomes together, of a result that is not in groups.
fn whole(answer: &Value) -> Option<&Value> {
    let mut rows = answer["rows"].as_array()?.iter().filter(|row| row["outcome"] == "all");
    rows.next().filter(|row| row["group"].is_null() && 0 < row["count"].as_u64().unwrap_or(0))
}

/// How many there are, and of what: `188,041 jobs`.
fn all_of(answer: &Value, row: &Value) -> Option<String> {
    let noun = answer["censoring"]["of"].as_str()?;
    Some(counted(row["count"].as_u64()?, noun.trim_end_matches('s')))
}

fn counts(answer: &Value) -> Option<String> {
    let row = whole(answer)?;
    let unit = answer["unit"].as_str()?.trim_end_matches('s');
    let amount = |name: &str| row[name].as_f64();
    let (min, median, max) = (amount("min")?, amount("median")?, amount("max")?);
    let of = |amount: f64| {
        let plural = if amount == 1.0 { "" } else { "s" };
        format!("{} {unit}{plural}", six_digits(amount))
    };
    let all = all_of(answer, row)?;
    if min >= max {
        return Some(format!("{all}, each with {}", of(max)));
    }
    if median >= max {
        return Some(format!("{all}, each with {} to {}", six_digits(min), of(max)));
    }
    let p99 = amount("p99")?;
    let few = if p99 < max {
        format!(", one in a hundred more than {}", six_digits(p99))
    } else {
        String::new()
    };
    Some(format!("Half of {all} have at most {}{few}; the most is {}", of(median), six_digits(max)))
}

fn waits(answer: &Value) -> Option<String> {
    let row = whole(answer)?;
    let time = |name: &str| row[name].as_f64().map(six_digits);
    let open = row["censored"].as_u64().filter(|open| 0 < *open).map_or_else(String::new, |open| {
        format!("; {} still wait and count with the time seen so far", grouped(open))
    });
    Some(format!(
        "Half of {} wait for at most {} s, one in a hundred for more than {} s; the mean is {} s{open}",
        all_of(answer, row)?,
        time("median")?,
        time("p99")?,
        time("mean")?
    ))
}

fn estimates(answer: &Value) -> Option<String> {
    let row = whole(answer)?;
    Some(format!(
        "Half of {} run for at most {} % of the time that was requested for them; the mean is {} %",
        all_of(answer, row)?,
        six_digits(row["median"].as_f64()?),
        six_digits(row["mean"].as_f64()?)
    ))
}

/// Times at which a curve is read, s, in words.
const READ_AT: [(f64, &str); 4] =
    [(60.0, "a minute"), (3600.0, "an hour"), (86_400.0, "a day"), (604_800.0, "a week")];

/// Shares below this and their opposites say nothing.
const SAID_FROM: f64 = 0.0005;

/// How many last longer than two of the times, the longest that tell something.
fn survival(answer: &Value) -> Option<String> {
    let rows = answer["rows"].as_array()?;
    let points = rows.iter().filter(|row| row["outcome"] == "all" && row["group"].is_null());
    let points = points.filter_map(|row| Some((row["time_s"].as_f64()?, row["share"].as_f64()?)));
    let points: Vec<(f64, f64)> = points.collect();
    let end_s = points.last()?.0;
    // A step holds its share until the next one.
    let share_at = |time_s: f64| {
        let before = points.iter().take_while(|point| point.0 <= time_s);
        before.last().map_or(1.0, |point| point.1)
    };
    let told = READ_AT.iter().filter(|(time_s, _)| *time_s <= end_s);
    let told = told.map(|(time_s, words)| (share_at(*time_s), words));
    let told = told.filter(|(share, _)| SAID_FROM <= *share && *share <= 1.0 - SAID_FROM);
    let told: Vec<String> = told
        .map(|(share, words)| format!("{:.1} % last longer than {words}", share * 100.0))
        .collect();
    let last = &told[told.len().saturating_sub(2)..];
    (!last.is_empty()).then(|| format!("Of all jobs, {}", last.join(", and ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn row(min: f64, median: f64, p99: f64, max: f64) -> Value {
        json!({"outcome": "all", "count": 1200, "min": min, "median": median, "p99": p99, "max": max,
            "mean": 3.5, "censored": 2})
    }

    fn of(what: &str, unit: &str, row: &Value) -> Value {
        json!({"unit": unit, "censoring": {"of": what}, "rows": [row, {"outcome": "failed"}]})
    }

    #[test]
    fn a_distribution_is_told_by_its_own_numbers() {
        assert_eq!(
            counts(&of("jobs", "tasks", &row(1.0, 1.0, 40.0, 90.0))).unwrap(),
            "Half of 1,200 jobs have at most 1 task, one in a hundred more than 40; the most is 90"
        );
        assert_eq!(
            counts(&of("tasks", "events", &row(3.0, 3.0, 3.0, 3.0))).unwrap(),
            "1,200 tasks, each with 3 events"
        );
        assert_eq!(
            counts(&of("tasks", "events", &row(2.0, 3.0, 3.0, 3.0))).unwrap(),
            "1,200 tasks, each with 2 to 3 events"
        );
        assert_eq!(
            counts(&of("tasks", "events", &row(2.0, 3.0, 4.0, 4.0))).unwrap(),
            "Half of 1,200 tasks have at most 3 events; the most is 4"
        );
        assert_eq!(
            waits(&of("tasks", "s", &row(0.0, 2.0, 600.0, 900.0))).unwrap(),
            "Half of 1,200 tasks wait for at most 2 s, one in a hundred for more than 600 s; the \
            mean is 3.50000 s; 2 still wait and count with the time seen so far"
        );
        assert!(
            estimates(&of("attempts", "%", &row(0.0, 9.0, 99.0, 100.0)))
                .unwrap()
                .starts_with("Half of 1,200 attempts run for at most 9 %")
        );
    }

    #[test]
    fn groups_and_empty_answers_have_no_sentence() {
        let mut group = row(1.0, 1.0, 1.0, 2.0);
        group["group"] = json!("a");
        assert_eq!(counts(&of("jobs", "tasks", &group)), None);
        let none = json!({"outcome": "all", "count": 0});
        for say in [counts, waits, estimates] {
            assert_eq!(say(&of("jobs", "tasks", &none)), None);
        }
        assert_eq!(survival(&json!({"rows": []})), None);
    }

    proptest! {
        /// Against the lengths themselves, without censoring: the share that is longer.
        #[test]
        fn a_curve_is_read_where_it_says(
            lengths in prop::collection::vec(prop_oneof![1..200_u32, 3000..5000_u32, 80_000..100_000_u32], 2..40),
        ) {
            let mut times: Vec<u32> = lengths.clone();
            times.sort_unstable();
            times.dedup();
            let longer = |than: u32| lengths.iter().filter(|length| than < **length).count();
            #[expect(clippy::cast_precision_loss, reason = "a few")]
            let share = |than: u32| longer(than) as f64 / lengths.len() as f64;
            let rows: Vec<Value> = times.iter()
                .map(|&time| json!({"outcome": "all", "time_s": f64::from(time), "share": share(time)}))
                .collect();
            let said = survival(&json!({"rows": rows}));
            let end = *times.last().unwrap();
            let mut expected: Vec<String> = Vec::new();
            for (time, words) in [(60, "a minute"), (3600, "an hour"), (86_400, "a day")] {
                if time <= end && 0 < longer(time) && longer(time) < lengths.len() {
                    expected.push(format!("{:.1} % last longer than {words}", share(time) * 100.0));
                }
            }
            for one in expected.iter().rev().take(2) {
                prop_assert!(said.as_ref().unwrap().contains(one.as_str()), "{said:?} {one}");
            }
            prop_assert_eq!(said.is_none(), expected.is_empty());
        }
    }
}

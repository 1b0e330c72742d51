//! What was found, in sentences with numbers.
//!
//! In: stored results. Out: for each that is there a sentence, made of its numbers alone.

use serde_json::Value;

use super::stored::Stored;
use crate::digits::{counted, grouped, six_digits};

/// Beginnings of the charts that stand on the overview, in their order.
pub(super) const FIGURES: [&str; 6] =
    ["classify-jobs", "account-", "job-durations", "sweep-plane", "detect-scores", "fairness-"];

/// One sentence per result that has something to say, with the result's name.
pub(super) fn of(results: &[Stored]) -> Vec<(&'static str, String)> {
    type Say = fn(&Value) -> Option<String>;
    let all: [(&str, Say); 8] = [
        ("classify-jobs", outcomes),
        ("account", cpu),
        ("job-durations", durations),
        ("sweep", kill),
        ("detect", stragglers),
        ("replay", replay),
        ("fairness", fairness),
        ("verify", quality),
    ];
    all.into_iter()
        .filter_map(|(name, say)| {
            let result = results.iter().find(|result| result.name == name)?;
            Some((name, say(result.answer())?))
        })
        .collect()
}

fn percent(share: f64) -> String {
    if 0.0 < share && share < 0.0005 {
        return "under 0.1 %".to_owned();
    }
    format!("{:.1} %", share * 100.0)
}

fn rows(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["rows"].as_array().into_iter().flatten()
}

/// The row whose `key` is `value`.
fn row<'a>(answer: &'a Value, key: &str, value: &str) -> Option<&'a Value> {
    rows(answer).find(|row| row[key] == value)
}

fn outcomes(answer: &Value) -> Option<String> {
    let parts: Vec<String> = rows(answer)
        .filter_map(|row| {
            let share = row["share"].as_f64().filter(|share| 0.0 < *share)?;
            Some(format!("{} {}", percent(share), row["outcome"].as_str()?))
        })
        .collect();
    let jobs = counted(answer["total"].as_u64()?, "job");
    Some(format!("Of {jobs}, {}.", parts.join(", ")))
}

fn cpu(answer: &Value) -> Option<String> {
    let finished = row(answer, "outcome", "finished")?["share"].as_f64()?;
    let total = answer["total"].as_f64()?;
    Some(format!(
        "Jobs that finished used {} of the CPU time ({} {}, {}).",
        percent(finished),
        six_digits(total),
        answer["unit"].as_str()?,
        answer["cpu"].as_str()?,
    ))
}

fn durations(answer: &Value) -> Option<String> {
    let all = row(answer, "outcome", "all")?;
    Some(format!(
        "Half of the jobs took at most {} s, one in a hundred more than {} s; the mean is {} s.",
        six_digits(all["median"].as_f64()?),
        six_digits(all["p99"].as_f64()?),
        six_digits(all["mean"].as_f64()?),
    ))
}

fn kill(answer: &Value) -> Option<String> {
    let row = rows(answer).next()?;
    let saved = row["saved_share"]["failed"].as_f64();
    let saved = saved.map_or_else(String::new, |share| {
        format!(" would have saved {} of the CPU of failed jobs and", percent(share))
    });
    Some(format!(
        "Killing tasks after {} {}{saved} would have harmed {}.",
        row["threshold"],
        answer["rule"].as_str()?,
        counted(row["harmed_jobs"].as_u64()?, "finished job"),
    ))
}

fn stragglers(answer: &Value) -> Option<String> {
    let scored = rows(answer).filter(|row| row["name"] != "oracle").filter_map(|row| {
        let score = &row["scores"][0];
        Some((score["f1"].as_f64()?, row["name"].as_str()?, score))
    });
    let (_, name, score) = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(format!(
        "Of {}, {name} would have found {} with {} of its judged flags right: the best F1 of this run's detectors.",
        counted(answer["stragglers"][0].as_u64()?, "straggler"),
        percent(score["recall"].as_f64()?),
        percent(score["precision"].as_f64()?),
    ))
}

fn replay(answer: &Value) -> Option<String> {
    let response = |row: &Value| row["metrics"]["job_response_s"]["mean"].as_f64();
    let policies = || answer["policies"].as_array().into_iter().flatten();
    let (first, rest) = (policies().next()?, policies().skip(1));
    let best = rest
        .filter_map(|row| Some((response(row)?, row["policy"].as_str()?)))
        .min_by(|one, other| one.0.total_cmp(&other.0))?;
    let (under, took) = (first["policy"].as_str()?, response(first)?);
    let other =
        if best.0 == took { "the same".to_owned() } else { format!("{} s", six_digits(best.0)) };
    Some(format!(
        "Replayed under {under}, jobs would have taken {} s in the mean; under {}, {other}.",
        six_digits(took),
        best.1,
    ))
}

fn fairness(answer: &Value) -> Option<String> {
    let users = answer["users"].as_array()?;
    let heaviest = users.first()?;
    Some(format!(
        "{} used {} {}; the heaviest, {}, {} of it.",
        counted(users.len() as u64, "user"),
        six_digits(answer["total_cpu_s"].as_f64()?),
        answer["unit"].as_str()?,
        heaviest["user"].as_str()?,
        percent(heaviest["share"].as_f64()?),
    ))
}

fn quality(answer: &Value) -> Option<String> {
    let checks = answer["checks"].as_array()?;
    let differing = checks.iter().filter(|check| check["found"] != check["published"]).count();
    Some(if checks.is_empty() {
        "The published counts do not apply to this trace; what is odd in it is counted.".to_owned()
    } else if differing == 0 {
        format!("All {} published counts that apply agree.", grouped(checks.len() as u64))
    } else {
        format!(
            "{} of {} published counts differ.",
            grouped(differing as u64),
            grouped(checks.len() as u64)
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sentence_is_made_of_the_numbers_of_its_result() {
        let answer = json!({"rows": [
            {"outcome": "finished", "count": 385_581, "share": 0.57372},
            {"outcome": "failed", "count": 9, "share": 0.0},
            {"outcome": "killed", "count": 9, "share": 0.4}], "total": 672_074});
        assert_eq!(outcomes(&answer).unwrap(), "Of 672,074 jobs, 57.4 % finished, 40.0 % killed.");
        assert_eq!(outcomes(&json!({})), None);
        let answer = json!({"cpu": "slots", "unit": "task-s", "total": 200.0, "rows": [
            {"outcome": "finished", "share": 0.25}, {"outcome": "failed", "share": 0.75}]});
        assert_eq!(
            cpu(&answer).unwrap(),
            "Jobs that finished used 25.0 % of the CPU time (200 task-s, slots)."
        );
        let answer = json!({"rows": [
            {"outcome": "all", "median": 178.5, "p99": 1000.0, "mean": 255.0},
            {"outcome": "failed", "median": 1.0, "p99": 1.0, "mean": 1.0}]});
        assert_eq!(
            durations(&answer).unwrap(),
            "Half of the jobs took at most 178.500 s, one in a hundred more than 1,000 s; the mean is 255 s."
        );
        let score = |f1: f64, recall: f64| json!({"f1": f1, "recall": recall, "precision": 0.5});
        let answer = json!({"stragglers": [397, 1], "rows": [
            {"name": "oracle", "scores": [score(1.0, 1.0)]},
            {"name": "late", "scores": [score(0.4, 0.3), score(0.9, 0.9)]},
            {"name": "tqst", "scores": [score(0.6, 0.75), score(0.1, 0.1)]}]});
        assert_eq!(
            stragglers(&answer).unwrap(),
            "Of 397 stragglers, tqst would have found 75.0 % with 50.0 % of its judged flags right: the best F1 of this run's detectors."
        );
        let policy = |name: &str, mean: f64| json!({"policy": name, "metrics": {"job_response_s": {"mean": mean}}});
        let answer =
            json!({"policies": [policy("fifo", 50.0), policy("easy", 30.0), policy("fair", 40.0)]});
        assert_eq!(
            replay(&answer).unwrap(),
            "Replayed under fifo, jobs would have taken 50 s in the mean; under easy, 30 s."
        );
        let answer = json!({"unit": "NCU-s", "total_cpu_s": 10.0, "users": [
            {"user": "a", "share": 0.6}, {"user": "b", "share": 0.4}]});
        assert_eq!(
            fairness(&answer).unwrap(),
            "2 users used 10 NCU-s; the heaviest, a, 60.0 % of it."
        );
        let check = |found: u64| json!({"table": "job_events", "published": 5, "found": found});
        let said = |checks: &[Value]| quality(&json!({"checks": checks})).unwrap();
        assert_eq!(said(&[check(5), check(5)]), "All 2 published counts that apply agree.");
        assert_eq!(said(&[check(5), check(6)]), "1 of 2 published counts differ.");
        assert!(said(&[]).starts_with("The published counts do not apply"));
        let answer = json!({"rule": "events", "rows": [
            {"threshold": 10, "saved_share": {"failed": 0.89}, "harmed_jobs": 1}]});
        assert_eq!(
            kill(&answer).unwrap(),
            "Killing tasks after 10 events would have saved 89.0 % of the CPU of failed jobs and would have harmed 1 finished job."
        );
    }
}

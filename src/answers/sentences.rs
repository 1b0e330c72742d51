//! Results in sentences.
//!
//! In: the JSON of stored results. Out: a sentence for each kind of result, from its numbers alone.

use serde_json::Value;

use super::condition::condition;
use crate::digits::{counted, grouped, grouped_signed, six_digits};
use crate::results::kind::Sentence;
use crate::studies::meter::{CpuDefinition, Resource};

/// Of the outcomes of jobs.
pub(crate) const OUTCOMES: Sentence = |it| outcomes(&it["answer"], Ends::of(&it["answer"], it));
/// Of CPU time.
pub(crate) const CPU: Sentence = |it| cpu(&it["answer"], Ends::of(&it["answer"], it));
/// Of attempts that a ledger closes.
pub(crate) const CLOSED: Sentence = |it| closed(&it["answer"]);
/// Of the durations of jobs.
pub(crate) const DURATIONS: Sentence = |it| durations(&it["answer"]);
/// Of kills.
pub(crate) const KILLS: Sentence = |it| kill(&it["answer"]);
/// Of the cluster over time.
pub(crate) const LOAD: Sentence = |it| load(&it["answer"]);
/// Of predictions.
pub(crate) const PREDICTIONS: Sentence = |it| predictions(&it["answer"]);
/// Of machines.
pub(crate) const MACHINES: Sentence = |it| machines(&it["answer"]);
/// Of straggler detectors.
pub(crate) const STRAGGLERS: Sentence = |it| stragglers(&it["answer"]);
/// Of policies.
pub(crate) const POLICIES: Sentence = |it| replay(&it["answer"]);
/// Of months and accounts.
pub(crate) const MONTHS: Sentence = |it| months(&it["answer"]);
/// Of users.
pub(crate) const USERS: Sentence = |it| fairness(&it["answer"], &it["settings"]);

/// A share as a reader wants it.
pub(crate) fn percent(share: f64) -> String {
    if share == 0.0 {
        return "0 %".to_owned();
    }
    if 0.0 < share && share < 0.0005 {
        return "under 0.1 %".to_owned();
    }
    format!("{:.1} %", share * 100.0)
}

fn rows(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["rows"].as_array().into_iter().flatten()
}

/// Whether a row is of all groups together.
fn is_whole(row: &Value) -> bool {
    let is_all = |group: &Value| group.is_null() || group == "all";
    row["is_total"] != false && is_all(&row["group"])
}

/// The sum of a number over the rows of an outcome: one row, or one per group.
fn sum_of(answer: &Value, outcome: &str, key: &str) -> f64 {
    let own = rows(answer).filter(|row| row["outcome"] == outcome);
    own.filter_map(|row| row[key].as_f64()).sum()
}

/// How often the best rule is right about a job, at its submission or later.
fn predictions(answer: &Value) -> Option<String> {
    let rules = answer["rules"].as_array().into_iter().flatten();
    let right = rules.filter_map(|rule| Some((rule["accuracy"].as_f64()?, rule)));
    let (accuracy, rule) = right.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let share = |name: &str, before: &str, after: &str| {
        let share = rule[name].as_f64().map(percent);
        share.map_or_else(String::new, |share| format!("{before} {share} {after}"))
    };
    let when = when_predicted(answer["age_s"].as_f64());
    Some(format!(
        "{}{}, `{}` is right about {} of {}{}{}{}",
        when[..1].to_uppercase(),
        &when[1..],
        rule["rule"].as_str()?,
        percent(accuracy),
        counted(rule["jobs"].as_u64()?, "job"),
        without_rule(rule).unwrap_or_default(),
        share("recall", "; it finds", "of those that do not finish"),
        share("precision", ", and", " of those that it predicts not to finish do not"),
    ))
}

/// How right it would be to say the same of every job: ` (87.3 % if all were predicted to finish)`.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 jobs")]
fn without_rule(rule: &Value) -> Option<String> {
    let count = |name: &str| rule[name].as_u64();
    let lost = count("true_positives")? + count("false_negatives")?;
    let jobs = count("jobs").filter(|jobs| 0 < *jobs)?;
    let finished = jobs.checked_sub(lost)?;
    let (most, not) = if lost <= finished { (finished, "") } else { (lost, "not ") };
    let share = percent(most as f64 / jobs as f64);
    Some(format!(" ({share} if all were predicted {not}to finish)"))
}

/// When a rule is asked: `at submission`, `3,600 s after submission`.
pub(crate) fn when_predicted(age_s: Option<f64>) -> String {
    let age_s = age_s.filter(|age_s| 0.0 < *age_s);
    age_s.map_or_else(
        || "at submission".to_owned(),
        |age_s| format!("{} s after submission", six_digits(age_s)),
    )
}

/// How many machines left, and what that cost.
fn machines(answer: &Value) -> Option<String> {
    let count = |name: &str| answer[name].as_u64().map(grouped);
    let median = answer["outage_s_median"].as_f64().map_or_else(String::new, |median| {
        format!("; half of the outages that ended lasted {} s or less", six_digits(median))
    });
    let lost = answer["capacity_lost_share"].as_f64().map_or_else(String::new, |share| {
        format!(", and {:.2} % of the CPU time was lost in them", share * 100.0)
    });
    Some(format!(
        "{} of {} machines were away at least once, {} times in all{median}{lost}.",
        count("machines_down")?,
        count("machines")?,
        count("outages")?,
    ))
}

/// One sum as a share of another that is above zero.
pub(crate) fn share_of_sum(sums: &Value, part: &str, whole: &str) -> Option<f64> {
    let whole = sums[whole].as_f64().filter(|&whole| 0.0 < whole)?;
    Some(sums[part].as_f64()? / whole)
}

/// What was handed out of what there was, and what waited.
fn load(answer: &Value) -> Option<String> {
    let totals = &answer["totals"];
    let sum = |name: &str| totals[name].as_f64();
    let of_capacity = |name: &str| share_of_sum(totals, name, "cpu_capacity_s").map(percent);
    let allocated = of_capacity("cpu_allocated_s");
    let used = of_capacity("cpu_used_s");
    let what = match (allocated, used) {
        (Some(allocated), Some(used)) => {
            format!("{allocated} of the CPU was requested by running tasks and {used} used")
        }
        (Some(allocated), None) => format!("{allocated} of the CPU was requested by running tasks"),
        _ => return None,
    };
    let pending = sum("pending_s")? / sum("running_s").filter(|&running| 0.0 < running)?;
    Some(format!("{what}; for every 100 running tasks {} waited.", six_digits(pending * 100.0)))
}

/// Whether it is known that the jobs that count as finished have finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Known for some at least.
    Known,
    /// Not known for any: the log has no status, and what ran counts as finished.
    Assumed,
}

impl Ends {
    /// What is known of an answer's ends, from the whole of its JSON.
    pub(crate) fn of(answer: &Value, stored: &Value) -> Self {
        let finished = rows(answer).filter(|row| row["outcome"] == "finished");
        let counts = finished.filter_map(|row| row["count"].as_u64().or(row["jobs"].as_u64()));
        let finished: u64 = counts.sum();
        let inputs = stored["inputs"].as_array().into_iter().flatten();
        let remarks = inputs.filter_map(|input| input["remarks"].as_object()).flatten();
        let assumed = remarks.filter(|(wording, _)| wording.starts_with("status unknown"));
        let assumed = assumed.filter_map(|(_, count)| count.as_u64()).max().unwrap_or(0);
        if 0 < finished && finished <= assumed { Self::Assumed } else { Self::Known }
    }
}

fn outcomes(answer: &Value, ends: Ends) -> Option<String> {
    let total = answer["total"].as_u64()?;
    let of = answer["censoring"]["of"].as_str().unwrap_or("jobs").trim_end_matches('s');
    if total == 0 {
        return Some(format!("There are no {of}s"));
    }
    let parts: Vec<String> = rows(answer)
        .filter_map(|row| {
            let share = row["share"].as_f64().filter(|share| 0.0 < *share)?;
            Some(match (ends, row["outcome"].as_str()?) {
                (Ends::Assumed, "finished") => {
                    format!("{} ran to an end that the log does not record", percent(share))
                }
                (_, outcome) => format!("{} {outcome}", percent(share)),
            })
        })
        .collect();
    Some(format!("Of {}, {}", counted(total, of), parts.join(", ")))
}

fn cpu(answer: &Value, ends: Ends) -> Option<String> {
    let (unit, cpu) = (answer["unit"].as_str()?, answer["cpu"].as_str()?);
    let total = answer["total"].as_f64()?;
    if total <= 0.0 {
        return Some(format!("No {} is known ({cpu})", noun_of(cpu)));
    }
    let amount = format!("{} {unit}, {cpu}{}", six_digits(total), told(answer));
    let unmatched = answer["unmatched"].as_f64().unwrap_or(0.0);
    let finished = sum_of(answer, "finished", "cpu") / total;
    let unknown = (unmatched + sum_of(answer, "unknown", "cpu")) / total;
    let rest = if unknown < UNKNOWN_SAID {
        String::new()
    } else {
        format!(", jobs of unknown outcome {}", percent(unknown))
    };
    let jobs = rows(answer).filter_map(|row| row["jobs_with_tasks"].as_u64()).sum::<u64>();
    let jobs = if jobs == 0 { String::new() } else { format!(" of {}", counted(jobs, "job")) };
    // A job is in one group: the largest of all is the largest of its group.
    let largest = rows(answer)
        .filter(|row| row["outcome"] == "finished")
        .filter_map(|row| Some(row["largest_job_share"].as_f64()? * row["cpu"].as_f64()?));
    let largest = largest.fold(0.0, f64::max) / (finished * total).max(f64::MIN_POSITIVE);
    let (who, sum) = match ends {
        Ends::Known => ("Jobs that finished", "what finished jobs used"),
        Ends::Assumed => ("Jobs that ran to an end that the log does not record", "what they used"),
    };
    let said = aside([Some(amount), most_of(&largest.into(), sum)]);
    let noun = noun_of(cpu);
    Some(format!("{who} used {} of the {noun}{jobs}{said}{rest}", percent(finished)))
}

/// What a definition of `--cpu` counts.
pub(crate) fn noun_of(cpu: &str) -> &'static str {
    let is_of_gpus = cpu == CpuDefinition::GpuSlots.to_string();
    if is_of_gpus { Resource::Gpu } else { Resource::Cpu }.noun()
}

/// The share of attempts whose CPU time a log records, if it records any.
#[expect(clippy::cast_precision_loss, reason = "a trace has far fewer than 2^53 attempts")]
fn told(answer: &Value) -> String {
    let told = answer["attempts_with_cpu_time"].as_u64().filter(|told| 0 < *told);
    match told.zip(answer["attempts"].as_u64()) {
        Some((told, all)) if told < all => {
            format!(
                " as the log records it for {} of the attempts",
                percent(told as f64 / all as f64)
            )
        }
        _ => String::new(),
    }
}

/// Shares of unknown outcome below this one go without saying.
const UNKNOWN_SAID: f64 = 0.0005;

pub(crate) fn durations(answer: &Value) -> Option<String> {
    let all = rows(answer).find(|row| row["outcome"] == "all" && is_whole(row))?;
    let count = all["count"].as_u64()?;
    let open = match all["censored"].as_u64() {
        Some(open) if 0 < open => {
            format!("; {} had not ended and count with the time seen so far", grouped(open))
        }
        _ => String::new(),
    };
    // Of fewer jobs a hundredth is none.
    let longest = if count < 100 {
        format!("the longest {} s", six_digits(all["max"].as_f64()?))
    } else {
        format!("one in a hundred more than {} s", six_digits(all["p99"].as_f64()?))
    };
    Some(format!(
        "Half of {} took at most {} s, {longest}; the mean is {} s{open}",
        counted(count, "job"),
        six_digits(all["median"].as_f64()?),
        six_digits(all["mean"].as_f64()?),
    ))
}

fn kill(answer: &Value) -> Option<String> {
    let row = rows(answer).find(|row| is_whole(row))?;
    let condition = condition(answer["rule"].as_str()?, &row["threshold"]);
    let interval = &row["interval"];
    let saved = row["saved_share"]["failed"].as_f64();
    let saved = saved.map_or_else(String::new, |share| {
        let said = aside([
            bounds(interval, "saved_share_failed", percent),
            most_of(&row["largest_saved_share"]["failed"], "it"),
        ]);
        format!(" would have saved {} of the CPU of failed jobs{said} and", percent(share))
    });
    #[expect(clippy::cast_possible_truncation, reason = "a count of jobs, shown whole")]
    let jobs = bounds(interval, "harmed_jobs", |jobs| grouped_signed(jobs.round() as i64));
    let harmed = row["harmed_jobs"].as_u64()?;
    let harmed = match answer["finished_jobs_with_tasks"].as_u64() {
        Some(all) => format!("{} of {} with tasks", grouped(harmed), counted(all, "finished job")),
        None => counted(harmed, "finished job"),
    };
    Some(format!(
        "Killing tasks {condition}{saved} would have harmed {harmed}{}",
        aside([jobs, concentration(row)]),
    ))
}

/// ` (what is known; what else)`; empty where nothing is.
fn aside(clauses: [Option<String>; 2]) -> String {
    let said: Vec<String> = clauses.into_iter().flatten().collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) }
}

/// `one job makes up 97.7 % of it` where one job is most of a sum.
fn most_of(largest: &Value, sum: &str) -> Option<String> {
    let share = largest.as_f64().filter(|share| MOST <= *share)?;
    Some(format!("one job makes up {} of {sum}", percent(share)))
}

/// `95 % interval 5.2 % to 38.4 %`; nothing where jobs were not resampled.
fn bounds(interval: &Value, name: &str, text: impl Fn(f64) -> String) -> Option<String> {
    let bound = |side: &str| interval[format!("{name}_{side}")].as_f64();
    let (low, high) = bound("low").zip(bound("high"))?;
    Some(format!("95 % interval {} to {}", text(low), text(high)))
}

/// Says so where one job makes up most of the work that a kill would have destroyed.
fn concentration(row: &Value) -> Option<String> {
    let largest = row["harmed"][0]["destroyed_cpu"].as_f64();
    let shares = largest.zip(row["destroyed_cpu"].as_f64().filter(|cpu| 0.0 < *cpu));
    let share = row["largest_destroyed_share"].as_f64();
    most_of(
        &share.or_else(|| shares.map(|(largest, all)| largest / all)).into(),
        "the work destroyed",
    )
}

/// From this share on one job is most of a sum.
const MOST: f64 = 0.5;

fn stragglers(answer: &Value) -> Option<String> {
    let scored = rows(answer).filter(|row| row["detector"] != "oracle").filter_map(|row| {
        let score = &row["scores"][0];
        Some((score["f1"].as_f64()?, row["detector"].as_str()?, score))
    });
    let (_, name, score) = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let judged = match (&answer["counts"]["judged_tasks"], &answer["counts"]["groups"]) {
        (Value::Number(tasks), Value::Number(groups)) => format!(
            " among {} in {}",
            counted(tasks.as_u64()?, "judged task"),
            counted(groups.as_u64()?, "group"),
        ),
        _ => String::new(),
    };
    Some(format!(
        "Of {}{judged}, {name} would have found {} with {} of its judged flags right: the best F1 of this run's detectors",
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
    if policies().all(|row| row["metrics"]["waiting_s"]["mean"].as_f64() == Some(0.0)) {
        let names: Vec<&str> = policies().filter_map(|row| row["policy"].as_str()).collect();
        return Some(format!(
            "Replayed under {}, no task waits: capacity is always free, and the policies cannot \
            be distinguished",
            names.join(", ")
        ));
    }
    let other =
        if best.0 == took { "the same".to_owned() } else { format!("{} s", six_digits(best.0)) };
    let jobs = answer["history"]["jobs"].as_u64().map_or_else(
        || "jobs".to_owned(),
        |jobs| match answer["machines"].as_u64() {
            Some(machines) => {
                format!("{} on {}", counted(jobs, "job"), counted(machines, "machine"))
            }
            None => counted(jobs, "job"),
        },
    );
    Some(format!(
        "Replayed under {under}, {jobs} would have taken {} s on average; under {}, {other}",
        six_digits(took),
        best.1,
    ))
}

/// Letters of a hash that tell it from others, and the fewest that a hash has.
const HASH_SHOWN: usize = 8;
const HASH_LETTERS: usize = 40;

/// A name with its hash shortened; its own page has the whole name.
pub(crate) fn short(name: &str) -> String {
    let is_of_hash = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    if name.len() < HASH_LETTERS || !name.bytes().all(is_of_hash) {
        return name.to_owned();
    }
    format!("{}…", &name[..HASH_SHOWN])
}

fn fairness(answer: &Value, settings: &Value) -> Option<String> {
    let users = answer["users"].as_array()?;
    let heaviest = users.first()?;
    let count = match (answer["by"].as_str().unwrap_or("user"), users.len() as u64) {
        ("class", 1) => "1 class".to_owned(),
        ("class", several) => format!("{} classes", grouped(several)),
        (by, count) => counted(count, by),
    };
    let charged = match settings["accrual"].as_str() {
        Some("end") => ", charged when an attempt ends",
        _ => "",
    };
    let cpu = settings["cpu"].as_str().map_or_else(String::new, |cpu| format!(" ({cpu}{charged})"));
    Some(format!(
        "{count} used {} {}{cpu}; the heaviest ({}) {} of it",
        six_digits(answer["total_cpu_s"].as_f64()?),
        answer["unit"].as_str()?,
        short(heaviest["user"].as_str().unwrap_or("(unknown)")),
        percent(heaviest["share"].as_f64()?),
    ))
}

/// What accounts used, what of it was wasted, how long jobs waited, and what limits left unused.
fn months(answer: &Value) -> Option<String> {
    let total = answer["total"].as_f64().filter(|&total| 0.0 < total)?;
    let first = answer["accounts"].as_array()?.first()?;
    let count = |list: &str, noun: &str| Some(counted(answer[list].as_array()?.len() as u64, noun));
    let wait = answer["wait_s_median"].as_f64().map_or_else(String::new, |median| {
        format!("; half of the jobs waited for at most {} s", six_digits(median))
    });
    let limits = share_of_sum(answer, "total_used_of_asked", "total_asked");
    let limits = limits.map_or_else(String::new, |share| {
        format!("; {} of the time requested by limits was used", percent(share))
    });
    let wasted = answer["total_wasted"].as_f64().filter(|&wasted| 0.0 < wasted);
    let wasted = wasted.map_or_else(String::new, |wasted| {
        format!(
            "; attempts that did not finish used {}, {} of it in runs of {} s or more",
            percent(wasted / total),
            percent(answer["total_late"].as_f64().unwrap_or(0.0) / wasted),
            six_digits(answer["late_s"].as_f64().unwrap_or(0.0)),
        )
    });
    Some(format!(
        "In {}, {} used {} {}, of which account {} used {}{wasted}{wait}{limits}",
        count("months", "month")?,
        count("accounts", "account")?,
        six_digits(total),
        answer["unit"].as_str()?,
        first["account"].as_str()?,
        percent(first["share"].as_f64()?),
    ))
}

/// The attempts of a ledger that are closed at the end of their job.
fn closed(answer: &Value) -> Option<String> {
    let attempts = answer["attempts_closed_with_job"].as_u64().filter(|count| 0 < *count)?;
    let cpu = answer["closed_with_job_cpu"].as_f64().map_or_else(String::new, |cpu| {
        let unit = answer["unit"].as_str().unwrap_or_default();
        format!(" They account for {} {unit} of the total.", six_digits(cpu))
    });
    Some(format!(
        "{} without an end in the loaded parts, of {}: closed at the end of the job.{cpu}",
        counted(attempts, "attempt"),
        grouped(answer["attempts"].as_u64()?),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::condition::LIMITS;
    use super::*;

    #[test]
    fn a_sentence_is_made_of_the_numbers_of_its_result() {
        let answer = json!({"rows": [
            {"outcome": "finished", "count": 385_581, "share": 0.57372},
            {"outcome": "failed", "count": 9, "share": 0.0},
            {"outcome": "killed", "count": 9, "share": 0.4}], "total": 672_074});
        assert_eq!(
            outcomes(&answer, Ends::Known).unwrap(),
            "Of 672,074 jobs, 57.4 % finished, 40.0 % killed"
        );
        assert_eq!(outcomes(&json!({}), Ends::Known), None);
        let answer = json!({"cpu": "slots", "unit": "task-s", "total": 200.0, "rows": [
            {"outcome": "finished", "cpu": 50.0}, {"outcome": "failed", "cpu": 150.0}]});
        assert_eq!(
            cpu(&answer, Ends::Known).unwrap(),
            "Jobs that finished used 25.0 % of the CPU time (200 task-s, slots)"
        );
        let answer = json!({"rows": [
            {"outcome": "all", "count": 700, "censored": 2, "median": 178.5, "p99": 1000.0, "mean": 255.0},
            {"outcome": "failed", "median": 1.0, "p99": 1.0, "mean": 1.0}]});
        assert_eq!(
            durations(&answer).unwrap(),
            "Half of 700 jobs took at most 178.500 s, one in a hundred more than 1,000 s; the mean is 255 s; 2 had not ended and count with the time seen so far"
        );
        let score = |f1: f64, recall: f64| json!({"f1": f1, "recall": recall, "precision": 0.5});
        let answer = json!({"stragglers": [397, 1], "rows": [
            {"detector": "oracle", "scores": [score(1.0, 1.0)]},
            {"detector": "late", "scores": [score(0.4, 0.3), score(0.9, 0.9)]},
            {"detector": "tqst", "scores": [score(0.6, 0.75), score(0.1, 0.1)]}]});
        assert_eq!(
            stragglers(&answer).unwrap(),
            "Of 397 stragglers, tqst would have found 75.0 % with 50.0 % of its judged flags right: the best F1 of this run's detectors"
        );
        let policy = |name: &str, mean: f64| json!({"policy": name, "metrics": {"job_response_s": {"mean": mean}}});
        let answer =
            json!({"policies": [policy("fifo", 50.0), policy("easy", 30.0), policy("fair", 40.0)]});
        assert_eq!(
            replay(&answer).unwrap(),
            "Replayed under fifo, jobs would have taken 50 s on average; under easy, 30 s"
        );
        let idle = |name: &str| json!({"policy": name, "metrics": {"job_response_s": {"mean": 5.0}, "waiting_s": {"mean": 0.0}}});
        let said = replay(&json!({"policies": [idle("fifo"), idle("easy")]})).unwrap();
        assert!(said.starts_with("Replayed under fifo, easy, no task waits:"), "{said}");
        let answer = json!({"unit": "NCU-s", "total_cpu_s": 10.0, "users": [
            {"user": "a", "share": 0.6}, {"user": "b", "share": 0.4}]});
        assert_eq!(
            fairness(&answer, &json!({"cpu": "slots", "accrual": "running"})).unwrap(),
            "2 users used 10 NCU-s (slots); the heaviest (a) 60.0 % of it"
        );
        let answer = json!({"rule": "events", "rows": [
            {"threshold": 10, "saved_share": {"failed": 0.89}, "harmed_jobs": 1}]});
        assert_eq!(
            kill(&answer).unwrap(),
            "Killing tasks after 10 events would have saved 89.0 % of the CPU of failed jobs and would have harmed 1 finished job"
        );
    }

    #[test]
    fn a_result_in_groups_is_told_as_the_whole_that_they_add_up_to() {
        let row = |group: &str, outcome: &str, cpu: f64| json!({"priority": group, "outcome": outcome, "cpu": cpu});
        let answer = json!({"cpu": "slots", "unit": "task-s", "total": 200.0, "rows": [
            row("0", "finished", 10.0), row("0", "failed", 70.0),
            row("9", "finished", 40.0), row("9", "failed", 80.0)]});
        assert_eq!(
            cpu(&answer, Ends::Known).unwrap(),
            "Jobs that finished used 25.0 % of the CPU time (200 task-s, slots)"
        );
        // Where no row is of all groups together there is no sentence.
        let row = |is_total: Value| json!({"is_total": is_total, "outcome": "all", "count": 1, "median": 1.0, "max": 2.0, "mean": 3.0});
        assert_eq!(durations(&json!({"rows": [row(json!(false))]})), None);
        for all in [json!(true), Value::Null] {
            assert!(durations(&json!({"rows": [row(json!(false)), row(all)]})).is_some());
        }
        let answer = json!({"rule": "events", "rows": [
            {"group": "a", "threshold": 10, "harmed_jobs": 1}]});
        assert_eq!(kill(&answer), None);
    }

    #[test]
    fn a_figure_of_one_job_says_so_with_its_interval() {
        let row = |largest: f64| {
            json!({"rule": "events", "rows": [{"threshold": 10, "harmed_jobs": 8,
                "saved_share": {"failed": 0.349}, "destroyed_cpu": 100.0,
                "interval": {"saved_share_failed_low": 0.052, "saved_share_failed_high": 0.384,
                    "harmed_jobs_low": 4.0, "harmed_jobs_high": 14.0},
                "harmed": [{"destroyed_cpu": largest}, {"destroyed_cpu": 1.0}]}]})
        };
        let said = "Killing tasks after 10 events would have saved 34.9 % of the CPU of failed jobs (95 % interval 5.2 % to 38.4 %) and would have harmed 8 finished jobs (95 % interval 4 to 14)";
        assert_eq!(kill(&row(20.0)).unwrap(), said);
        assert_eq!(
            kill(&row(97.7)).unwrap(),
            format!("{}; one job makes up 97.7 % of the work destroyed)", &said[..said.len() - 1])
        );
        let mut whole = row(1.0);
        whole["finished_jobs_with_tasks"] = json!(12_231);
        whole["rows"][0]["largest_saved_share"] = json!({"failed": 0.9});
        assert_eq!(
            kill(&whole).unwrap(),
            "Killing tasks after 10 events would have saved 34.9 % of the CPU of failed jobs (95 % interval 5.2 % to 38.4 %; one job makes up 90.0 % of it) and would have harmed 8 of 12,231 finished jobs with tasks (95 % interval 4 to 14)"
        );
        let answer = json!({"cpu": "slots", "unit": "task-s", "total": 200.0, "rows": [
            {"outcome": "finished", "cpu": 50.0, "largest_job_share": 0.75, "jobs_with_tasks": 3},
            {"outcome": "failed", "cpu": 150.0, "jobs_with_tasks": 4}]});
        assert_eq!(
            cpu(&answer, Ends::Known).unwrap(),
            "Jobs that finished used 25.0 % of the CPU time of 7 jobs (200 task-s, slots; one job makes up 75.0 % of what finished jobs used)"
        );
    }

    #[test]
    fn what_is_unknown_is_said_to_be_unknown() {
        let answer = json!({"cpu": "slots", "unit": "task-s", "total": 200.0, "unmatched": 50.0,
            "rows": [{"outcome": "finished", "cpu": 150.0}]});
        assert_eq!(
            cpu(&answer, Ends::Known).unwrap(),
            "Jobs that finished used 75.0 % of the CPU time (200 task-s, slots), jobs of unknown outcome 25.0 %"
        );
    }

    #[test]
    fn jobs_whose_end_no_log_tells_are_not_said_to_have_finished() {
        let stored = |assumed: u64| {
            json!({"inputs": [{"table": "job_events",
            "remarks": {"status unknown, has run: taken as finished": assumed}}]})
        };
        let answer = json!({"total": 10, "rows": [
            {"outcome": "finished", "count": 9, "share": 0.9},
            {"outcome": "killed", "count": 1, "share": 0.1}]});
        assert_eq!(Ends::of(&answer, &stored(9)), Ends::Assumed);
        assert_eq!(Ends::of(&answer, &stored(8)), Ends::Known);
        assert_eq!(Ends::of(&answer, &json!({})), Ends::Known);
        assert_eq!(
            outcomes(&answer, Ends::Assumed).unwrap(),
            "Of 10 jobs, 90.0 % ran to an end that the log does not record, 10.0 % killed"
        );
        let answer = json!({"cpu": "slots", "unit": "task-s", "total": 200.0, "rows": [
            {"outcome": "finished", "jobs": 9, "cpu": 150.0}]});
        assert_eq!(Ends::of(&answer, &stored(9)), Ends::Assumed);
        assert_eq!(
            cpu(&answer, Ends::Assumed).unwrap(),
            "Jobs that ran to an end that the log does not record used 75.0 % of the CPU time \
            (200 task-s, slots)"
        );
    }

    #[test]
    fn a_threshold_is_named_with_what_it_counts() {
        assert_eq!(condition("dead-time", &json!(3600)), "after 3600 s of dead time");
        assert_eq!(condition("events", &json!(1)), "after 1 event");
        assert_eq!(condition(LIMITS, &json!(75)), "at 75 % of the requested time");
        assert_eq!(condition("k8s:backoff_limit=6", &json!(6)), "by k8s:backoff_limit=6");
        assert_eq!(
            condition("failures+events=5", &json!(3)),
            "after 3 failures in a row (failures+events=5)"
        );
    }
}

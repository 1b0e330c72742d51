//! Tests of each rule, and a promise of all rules: every number in a finding is a number of its
//! result.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::cluster::load;
use super::detector::detector;
use super::fate::{fate, waste};
use super::kill::kill;
use super::policy::policy;
use super::users::users;
use super::*;
use crate::schema::CAPACITY_FROM_USE;

/// Every number of a stored result.
fn numbers_of(value: &Value, all: &mut Vec<f64>) {
    match value {
        Value::Number(number) => all.extend(number.as_f64()),
        Value::Array(items) => items.iter().for_each(|item| numbers_of(item, all)),
        Value::Object(object) => object.values().for_each(|item| numbers_of(item, all)),
        _ => {}
    }
}

/// The numbers of a sentence as written, each with the factor from the result to its unit: 100 for
/// a share in per cent, less than 1 for times in units larger than seconds.
fn numbers_in(sentence: &str) -> Vec<(String, f64)> {
    // Names in backticks, and the levels of intervals and quantiles, are not results.
    let outside = sentence.split('`').step_by(2).collect::<String>();
    let levels =
        ["95 % interval", "under 0.1 %", "95 % quantile", "99 % quantile", "1 %:", "than 1 %"];
    let text = levels.iter().fold(outside, |text, level| text.replace(level, ""));
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let sign = if rest[..start].ends_with('-') { "-" } else { "" };
        let tail = &rest[start..];
        let end = tail
            .find(|letter: char| !letter.is_ascii_digit() && !",.e-".contains(letter))
            .unwrap_or(tail.len());
        let number = tail[..end].trim_end_matches([',', '.', '-']);
        let after = &tail[number.len()..];
        let units =
            [(" %", 100.0), (" min", 1.0 / 60.0), (" h", 1.0 / 3600.0), (" d", 1.0 / 86_400.0)];
        let is_next = |unit: &str| {
            let rest = after.strip_prefix(unit);
            rest.is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_alphanumeric()))
        };
        let factor = units.iter().find(|unit| is_next(unit.0)).map_or(1.0, |unit| unit.1);
        found.push((format!("{sign}{}", number.replace(',', "")), factor));
        rest = after;
    }
    found
}

/// The share of all jobs that did not finish, if the result has shares by outcome.
fn lost_of(stored: &Value) -> Option<f64> {
    let rows = stored["answer"]["rows"].as_array()?;
    let is_lost = |row: &&Value| {
        !["finished", "running"].contains(&row["outcome"].as_str().unwrap_or("running"))
    };
    Some(rows.iter().filter(is_lost).filter_map(|row| row["share"].as_f64()).sum())
}

/// Asserts that every number of a sentence is a number of the result, rounded as it is written.
fn assert_founded(sentence: &str, stored: &Value) {
    let mut known = Vec::new();
    numbers_of(stored, &mut known);
    known.extend(lost_of(stored));
    // The name of a definition of stragglers contains its factor.
    let truths = stored["answer"]["truths"].as_array().into_iter().flatten();
    known.extend(truths.filter_map(|name| name.as_str()?.split(':').nth(1)?.parse::<f64>().ok()));
    for (text, factor) in numbers_in(sentence) {
        let number: f64 = text.parse().unwrap();
        let decimals =
            text.split('.').nth(1).map_or(0, |digits| digits.trim_end_matches('e').len());
        let half = 0.5001 * 10_f64.powi(-i32::try_from(decimals).unwrap());
        let is_known = known.iter().any(|&value| {
            let value = value * factor;
            // Large amounts are written with six digits.
            (value - number).abs() <= half.max(value.abs() * 6e-6)
        });
        assert!(is_known, "{text} of `{sentence}` is not in {stored}");
    }
}

/// The answer of a rule about a result.
fn by(rule: fn(&Envelope) -> Option<Told>, stored: &Value) -> Option<Told> {
    let part = |key: &str| stored.get(key).cloned().unwrap_or_default();
    let inputs = serde_json::from_value(part("inputs")).unwrap_or_default();
    let (settings, answer) = (part("settings"), part("answer"));
    let source = part("source").as_str().map(str::to_owned);
    rule(&Envelope { source, inputs, settings, answer, ..Envelope::default() })
}

fn said(told: Option<Told>) -> String {
    match told.expect("a rule that speaks") {
        Told::Shown(text) => format!("shown: {text}"),
        Told::NotShown(text) => format!("not shown: {text}"),
        Told::Unknown(text) => format!("unknown: {text}"),
    }
}

#[test]
fn what_became_of_the_jobs_names_the_outcomes_that_occur() {
    let row = |outcome: &str, count: u32| json!({"outcome": outcome, "count": count, "share": f64::from(count) / 1000.0});
    let of = |rows: Vec<Value>| json!({"answer": {"total": 1000, "rows": rows}});
    let stored =
        of(vec![row("failed", 400), row("finished", 550), row("other", 50), row("killed", 0)]);
    assert_eq!(
        said(by(fate, &stored)),
        "shown: Of 1,000 jobs, 55.0 % finished, 40.0 % failed, 5.0 % with another outcome"
    );
    let stored = of(vec![row("finished", 1000), row("failed", 0)]);
    assert_eq!(said(by(fate, &stored)), "shown: All 1,000 jobs finished");
    let mut unknown = of(vec![row("finished", 1000)]);
    unknown["inputs"] = json!([{"remarks": {"status unknown, has run: taken as finished": 1000}}]);
    assert!(
        said(by(fate, &unknown))
            .starts_with("unknown: The log records no status: how its 1,000 jobs")
    );
    assert_eq!(by(fate, &json!({"answer": {"total": 0, "rows": []}})), None);
}

#[test]
fn waste_is_what_failed_and_killed_jobs_used_and_running_ones_are_open() {
    let row = |outcome: &str, share: f64, largest: f64| json!({"outcome": outcome, "jobs": 9, "share": share, "largest_job_share": largest});
    let of = |rows: Vec<Value>| json!({"answer": {"total": 2000.0, "unit": "NCU-s", "cpu": "requested", "rows": rows}});
    let stored = of(vec![
        row("finished", 0.1, 0.2),
        row("failed", 0.3, 0.97),
        row("killed", 0.4, 0.1),
        row("running", 0.2, 0.6),
    ]);
    assert_eq!(
        said(by(waste, &stored)),
        "shown: Of the 2,000 NCU-s that jobs requested, 40.0 % are of killed jobs, 30.0 % of failed jobs, \
        20.0 % of jobs that still ran at the end and 10.0 % of finished jobs. 70.0 % went to jobs that did not \
        finish; one job makes up 97.0 % of what failed jobs requested"
    );
    let stored = of(vec![
        row("finished", 0.5, 0.2),
        row("evicted", 0.1, 0.2),
        row("pending", 0.3, 0.2),
        row("unknown", 0.1, 0.2),
    ]);
    assert_eq!(
        said(by(waste, &stored)),
        "shown: Of the 2,000 NCU-s that jobs requested, 50.0 % are of finished jobs, 30.0 % of jobs that \
        waited again at the end, 10.0 % of evicted jobs and 10.0 % of jobs whose end is not known. 10.0 % went \
        to jobs that did not finish"
    );
    let stored = of(vec![row("finished", 1.0, 0.2), row("failed", 0.0, 0.0)]);
    assert_eq!(
        said(by(waste, &stored)),
        "shown: No CPU time is known to be wasted: of 2,000 NCU-s, finished jobs requested \
        100.0 %"
    );
}

/// Promise: the main reason of a large outcome is reported if there are several reasons. What the
/// attempts did is reported if it differs from the outcomes of their jobs.
#[test]
fn waste_says_its_main_reason_and_what_the_attempts_did() {
    let row = |outcome: &str, share: f64| json!({"outcome": outcome, "jobs": 9, "share": share});
    let reason = |outcome: &str, end_reason: &str, jobs: u64, share: f64| json!({"outcome": outcome, "end_reason": end_reason, "jobs": jobs, "amount": share * 2000.0, "share": share});
    let end = |end: &str, share: f64| json!({"end": end, "attempts": 7, "amount": share * 2000.0, "share": share});
    let of = |ends: Vec<Value>| {
        json!({"answer": {"total": 2000.0, "unit": "NCU-s", "cpu": "requested",
            "rows": [row("finished", 0.5), row("failed", 0.3), row("killed", 0.192), row("other", 0.008)],
            "ends": ends,
            "reasons": [reason("failed", "TIMEOUT", 2, 0.2), reason("failed", "FAILED", 7, 0.1),
                reason("killed", "CANCELLED", 9, 0.192),
                reason("other", "PREEMPTED", 4, 0.007), reason("other", "CANCELLED", 5, 0.001)]}})
    };
    let jobs = "shown: Of the 2,000 NCU-s that jobs requested, 50.0 % are of finished jobs, 30.0 % of failed \
        jobs, 19.2 % of killed jobs and 0.8 % of jobs with another outcome. 50.0 % went to jobs that did not \
        finish; 20.0 % of all, most of the 30.0 % of failed jobs, is in 2 jobs that ended as TIMEOUT";
    let same = of(vec![end("finished", 0.5), end("failed", 0.3), end("killed", 0.2)]);
    assert_eq!(said(by(waste, &same)), jobs);
    let other = of(vec![end("finished", 0.6), end("evicted", 0.0004), end("open", 0.3996)]);
    assert_eq!(
        said(by(waste, &other)),
        format!(
            "{jobs}. By how the attempts ended, whatever became of their jobs: finished 60.0 %, still \
            running 40.0 %"
        )
    );
    let row = |outcome: &str, share: f64| json!({"outcome": outcome, "jobs": 9, "share": share});
    let little = json!({"source": "openb", "answer": {"total": 2000.0, "unit": "core-s", "cpu": "requested",
        "rows": [row("finished", 0.1), row("killed", 0.5), row("running", 0.4)],
        "ends": [end("finished", 0.3), end("killed", 0.3), end("open", 0.4)]}});
    let found = said(by(waste, &little));
    assert!(found.contains("did not finish; deleted pods count as killed. By how"), "{found}");
    assert!(
        found.ends_with(
            ". Most of what finished attempts requested is in jobs that did not finish or still run"
        ),
        "{found}"
    );
}

fn a_sweep(gain: f64, [low, net, high]: [f64; 3], largest: f64) -> Value {
    json!({"answer": {"unit": "task-s", "rule": "events", "rows": [], "finished_jobs_with_tasks": 14,
        "rules": [{"rule": "restarts", "rows": [{"threshold": 1, "harmed_jobs": 7,
            "net_share": net, "largest_saved_in_all": largest,
            "interval": {"net_share_low": low, "net_share_high": high}}]}],
        "selection": {"price": 3600.0, "train_jobs": 950, "test_jobs": 860, "test_finished_jobs": 640, "chosen": {
            "train": {"rule": "restarts", "threshold": 1},
            "test": {"net_cpu": 3300.0, "harmed_jobs": 12, "gain": gain}}}}})
}

#[test]
fn a_kill_rule_is_shown_if_later_jobs_and_the_interval_confirm_it() {
    let later = "a net 3,300 task-s on 860 jobs submitted after the rule was chosen and harms 12 of the 640 that \
        finished";
    let all = "Over all jobs, in hindsight, it saves a net 10.0 % of the CPU of jobs that did not finish (95 % interval";
    assert_eq!(
        said(by(kill, &a_sweep(5.0, [0.05, 0.1, 0.2], 0.2))),
        format!(
            "shown: At 3,600 task-s per harmed job, killing tasks at the first restart saves a net 10.0 % of the \
            CPU of jobs that did not finish and harms 7 of 14 finished jobs. The rule was chosen on 950 jobs that \
            ended first; it saves {later}. {all} 5.0 % to 20.0 %)"
        )
    );
    assert_eq!(
        said(by(kill, &a_sweep(5.0, [-0.05, 0.1, 0.2], 0.99))),
        format!(
            "not shown: No kill rule is shown to save CPU time, because the interval spans zero: killing tasks at \
            the first restart saves {later}. The rule was chosen on 950 jobs that ended first, at a price of \
            3,600 task-s for each harmed job. {all} -5.0 % to 20.0 %) (one job makes up 99.0 % of what is \
            saved); it harms 7 finished jobs"
        )
    );
    // The CPU that the later jobs used in total, and the share of harmed jobs, if they are known.
    let mut known = a_sweep(5.0, [0.05, 0.1, 0.2], 0.2);
    known["answer"]["selection"]["test_cpu"] = json!(6600.0);
    known["answer"]["rules"][0]["rows"][0]["harmed_jobs_share"] = json!(0.5);
    let text = said(by(kill, &known));
    for part in [
        " and harms 7 of 14 finished jobs (50.0 %). The rule",
        "; it saves a net 3,300 task-s, 50.0 % of the CPU of 860 jobs submitted after the rule was chosen, and \
        harms 12 of",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let said_of_loss = said(by(kill, &a_sweep(-5.0, [0.05, 0.1, 0.2], 0.2)));
    assert!(
        said_of_loss.starts_with(
            "not shown: No kill rule is shown to save CPU time, because later jobs do"
        )
    );
    let mut never = a_sweep(0.0, [0.0; 3], 0.0);
    never["answer"]["selection"]["chosen"]["train"] = json!({"rule": "never", "threshold": null});
    assert!(said(by(kill, &never)).contains("the best choice is `never`"));
    let mut hindsight = a_sweep(0.0, [0.05, 0.1, 0.2], 0.2);
    hindsight["answer"].as_object_mut().unwrap().remove("selection");
    let text = said(by(kill, &hindsight));
    assert!(text.starts_with("shown: In hindsight, killing tasks at the first restart "), "{text}");
    assert!(text.contains(" harms 7 of 14 finished jobs and saves a net 10.0 % "), "{text}");
    assert!(text.ends_with("fitted to these jobs and not tested on others"), "{text}");
}

#[test]
fn a_rule_that_was_gentler_on_earlier_jobs_comes_first_if_later_jobs_confirm_it() {
    let mut swept = a_sweep(5.0, [0.05, 0.1, 0.2], 0.2);
    let answer = &mut swept["answer"];
    answer["selection"]["chosen"]["train"] =
        json!({"rule": "restarts", "threshold": 1, "harmed_jobs": 40});
    answer["selection"]["gentler"] = json!({
        "train": {"rule": "restarts", "threshold": 3, "harmed_jobs": 2},
        "test": {"net_cpu": 3100.0, "harmed_jobs": 1, "gain": 3.0}});
    answer["rules"][0]["rows"].as_array_mut().unwrap().push(json!({"threshold": 3,
        "harmed_jobs": 3, "net_share": 0.09, "interval": {"net_share_low": 0.04, "net_share_high": 0.2}}));
    let text = said(by(kill, &swept));
    assert!(
        text.starts_with(
            "shown: At 3,600 task-s per harmed job, killing tasks after 3 restarts within an hour (the largest T that \
            was tried) saves a net 9.0 % of the CPU of jobs that did not finish and harms 3 of 14 finished \
            jobs. The rule was chosen on 950 jobs that ended first: of those that saved nearly as much as the \
            best, it harmed fewest, 2 finished jobs instead of 40; it saves a net 3,100 task-s on 860 jobs submitted \
            after the rule was chosen and harms 1 of the 640 that finished. The best rule of the past: killing \
            tasks at the first restart saves a net 3,300 task-s on 860 jobs submitted after the rule was chosen \
            and harms 12 of the 640 that finished. Over all jobs, in hindsight, it saves a net 9.0 % "
        ),
        "{text}"
    );
    // No gentler rule is given if it loses on later jobs.
    swept["answer"]["selection"]["gentler"]["test"]["gain"] = json!(-3.0);
    let text = said(by(kill, &swept));
    assert!(
        text.starts_with(
            "shown: At 3,600 task-s per harmed job, killing tasks at the first restart saves a net 10.0 %"
        ),
        "{text}"
    );
}

fn chosen_of(swept: &mut Value) -> &mut Value {
    &mut swept["answer"]["selection"]["chosen"]
}

/// A row of a sweep.
fn a_row(threshold: u32, harmed: u32, net: f64, destroyed: f64) -> Value {
    json!({"threshold": threshold, "harmed_jobs": harmed, "net_share": net,
        "destroyed_cpu_share": destroyed})
}

/// A sweep whose chosen rule acts at restarts, most of which follow an eviction; others are
/// gentler.
fn a_doubtful_sweep() -> Value {
    let mut swept = a_sweep(5.0, [0.05, 0.1, 0.2], 0.2);
    let answer = &mut swept["answer"];
    answer["cpu"] = json!("requested");
    answer["restarts"] = json!(100);
    answer["restarts_after_eviction"] = json!(93);
    let row = &mut answer["rules"][0]["rows"][0];
    row["net_cpu"] = json!(69_424_300.0);
    row["destroyed_cpu_share"] = json!(0.145);
    let second = json!({"threshold": 2, "harmed_jobs": 1, "net_share": 0.04});
    answer["rules"][0]["rows"].as_array_mut().unwrap().push(second);
    let of = a_row;
    // After 2400 s, one job less is harmed, but more CPU is destroyed.
    let others = json!({"rule": "dead-time", "rows": [of(60, 4, 0.099, 0.1), of(600, 3, 0.098, 0.1),
        of(1800, 2, 0.091, 0.1), of(2400, 1, 0.095, 0.165), of(3600, 1, 0.08, 0.1)]});
    answer["rules"].as_array_mut().unwrap().push(others);
    swept
}

/// Promise: a rule is not recommended if most of its restarts follow evictions, or if hardly any of
/// its saving could be tested. The first sentence has the reason, the second one the gentlest rule
/// that still saves much.
#[test]
fn a_doubtful_rule_is_not_recommended() {
    let evicted = "93.0 % of restarts follow an eviction, not a failure";
    // After 2400 s and 3600 s one job is harmed; after 2400 s more CPU is destroyed.
    let gentlest = "The gentlest candidate kills tasks after 60 min of dead time (in attempts that did not \
        finish): it saves a net 8.0 % of the requested CPU of jobs that did not finish, harms 1 of 14 finished \
        jobs and destroys 10.0 % of the CPU of finished jobs, already deducted from the net. It harms fewest jobs of the settings that save at \
        least half as much as the rule chosen on earlier jobs. It is found in hindsight: it was neither chosen on \
        earlier jobs nor tested on later ones. Killing tasks after 40 min of dead time would save 9.5 % and harm as \
        many jobs, but destroy 16.5 % of the CPU of finished jobs instead of 10.0 %. ";
    let swept = a_doubtful_sweep();
    assert_eq!(
        said(by(kill, &swept)),
        format!(
            "shown: Do not adopt a kill rule yet: {evicted}. {gentlest}On the 950 jobs that ended first, at a \
            price of 3,600 task-s for each harmed job, the best choice was killing tasks at the first restart: \
            over all jobs, it saves a net 10.0 % of the requested CPU of jobs that did not finish (95 % interval \
            5.0 % to 20.0 %). This rule saves a net 3,300 task-s of requested CPU on 860 jobs submitted after the rule \
            was chosen and harms 12 of the 640 that finished. Over all jobs, this rule harms 7 finished jobs and \
            destroys 14.5 % of the CPU of finished jobs; killing tasks after 30 min of dead time saves 9.1 %, \
            harms 2 and destroys 10.0 %"
        )
    );
    // Most of the saving is in jobs that ran at the time of the choice.
    let mut between = swept.clone();
    let chosen = chosen_of(&mut between);
    chosen["train"]["net_cpu"] = json!(1_000_000.0);
    chosen["test"] =
        json!({"rule": "restarts", "threshold": 1, "net_cpu": 2_000_000.0, "gain": 5.0});
    let tested = "the rule chosen on earlier jobs, killing tasks at the first restart, is hardly tested: 95.7 % of what it \
        saves is on jobs by which it was neither chosen nor tested";
    let both = format!("shown: Do not adopt a kill rule yet: {tested}. {gentlest}{evicted}. ");
    let text = said(by(kill, &between));
    assert!(text.starts_with(&both), "{text}");
    // Tasks are loaded for a shorter time than jobs.
    let table = |name: &str, end_s: f64| json!({"table": name, "start_s": 0.0, "end_s": end_s});
    between["inputs"] = json!([table("job_events", 864_000.0), table("task_events", 7200.0)]);
    let text = said(by(kill, &between));
    assert!(
        text.contains("harms 1 of 14 finished jobs with tasks in the first 2 h and destroys"),
        "{text}"
    );
    // Without evictions, a tested quarter of the saving is enough, and for a tested half nothing is
    // said.
    between["answer"]["restarts_after_eviction"] = json!(49);
    for (net, is_doubtful, is_said) in
        [(12_000_001.0, true, true), (11_999_999.0, false, true), (5_999_999.0, false, false)]
    {
        between["answer"]["rules"][0]["rows"][0]["net_cpu"] = json!(net);
        let text = said(by(kill, &between));
        assert_eq!(text.starts_with("shown: Do not adopt"), is_doubtful, "{text}");
        assert_eq!(text.contains(". Only ") || is_doubtful, is_said, "{text}");
    }
    // No share is given if the groups have different parameters, or if they lose.
    for (key, value) in [("net_cpu", json!(-3_000_000.0)), ("threshold", json!(2))] {
        let mut other = between.clone();
        other["answer"]["rules"][0]["rows"][0]["net_cpu"] = json!(69_424_300.0);
        chosen_of(&mut other)["train"][key] = value;
        let text = said(by(kill, &other));
        assert!(text.starts_with("shown: At 3,600 task-s per harmed job"), "{text}");
    }
}

/// The candidate is found in hindsight, so the reader needs its interval, and what it depends on.
#[test]
fn a_candidate_has_its_interval_and_what_it_depends_on() {
    let mut swept = a_doubtful_sweep();
    let row = &mut swept["answer"]["rules"][1]["rows"][4];
    row["interval"] = json!({"net_share_low": 0.035, "net_share_high": 0.107});
    row["largest_saved_in_all"] = json!(0.255);
    row["largest_destroyed_share"] = json!(0.727);
    row["saved_cpu"] = json!({"killed": 70.0, "running": 30.0, "finished": 900.0});
    let text = said(by(kill, &swept));
    let net = "saves a net 8.0 % of the requested CPU of jobs that did not finish, 95 % interval 3.5 % to 10.7 %, harms 1";
    assert!(text.contains(net), "{text}");
    let depends = ". One job makes up 25.5 % of what it saves; one finished job makes up 72.7 % of what it destroys; \
        30.0 % of what it saves is in jobs that still ran at the end. ";
    assert!(text.contains(depends), "{text}");
    // Small parts are not named, and nothing is destroyed by one job if nothing is destroyed.
    let row = &mut swept["answer"]["rules"][1]["rows"][4];
    row["largest_saved_in_all"] = json!(0.09);
    row["saved_cpu"] = json!({"killed": 91.0, "running": 9.0});
    row["destroyed_cpu_share"] = json!(0.0);
    let text = said(by(kill, &swept));
    assert!(!text.contains("what it saves;") && !text.contains("finished job makes up"), "{text}");
    assert!(!text.contains("% of what it saves is in jobs"), "{text}");
}

#[test]
fn what_a_gentler_rule_destroys_is_in_the_first_sentence() {
    let mut swept = a_doubtful_sweep();
    swept["answer"]["restarts_after_eviction"] = json!(49);
    let of = |swept: &Value| said(by(kill, swept));
    swept["answer"]["rules"][0]["rows"][0]["destroyed_cpu"] = json!(2_000.0);
    let text = of(&swept);
    let first = "shown: At 3,600 task-s per harmed job, killing tasks at the first restart saves a net 69,424,300 task-s \
        (10.0 % of the requested CPU of jobs that did not finish), harms 7 of 14 finished jobs and destroys 2,000 task-s \
        (14.5 % of the CPU of finished jobs), already deducted from the net; killing tasks after 30 min of dead time (in attempts that did not finish) saves \
        9.1 %, harms 2 and destroys 10.0 %. ";
    assert!(text.starts_with(first), "{text}");
    // Rules that destroy more are named if there is no other rule.
    swept["answer"]["rules"][1]["rows"] =
        json!([a_row(1800, 2, 0.091, 0.165), a_row(60, 4, 0.099, 0.1)]);
    swept["answer"]["rules"][0]["rows"][0]["largest_destroyed_share"] = json!(0.784);
    let text = of(&swept);
    assert!(text.contains("saves 9.1 %, harms 2 and destroys 16.5 %. "), "{text}");
    assert!(text.ends_with(". One job makes up 78.4 % of what it destroys"), "{text}");
}

#[test]
fn a_limit_says_what_it_cuts_and_that_it_is_fitted() {
    let row = |threshold: u32, harmed: u32, net: f64| {
        json!({"threshold": threshold, "net_share": net,
        "harmed_jobs": harmed, "condemned_tasks": {"failed": 10, "finished": harmed},
        "condemned_at_end": {"failed": 0}, "net_cpu": 8.0})
    };
    let mut swept = json!({"answer": {"unit": "processor-s", "cpu": "requested", "rule": "slurm:of=requested",
        "finished_jobs_with_tasks": 100, "total_cpu": {"finished": 200.0, "failed": 56.0},
        "rows": [row(25, 16, 0.14), row(50, 7, -0.1), row(75, 0, 0.151), row(100, 0, 0.0)]}});
    assert_eq!(
        said(by(kill, &swept)),
        "shown: In hindsight, killing tasks at 75 % of the requested time, that is with all time limits \
        cut by a quarter, harms 0 of 100 finished jobs and saves a net 8 processor-s, 15.1 % of the \
        requested CPU of jobs that did not finish and 3.1 % of all requested CPU by killing 10 of their \
        tasks. The rule is fitted to these jobs and not tested on others: 7 finished jobs took more than \
        50 % of the requested time, and none more than 75 %; the tasks that it kills are those that ran \
        to their limit (if such a job goes on from a checkpoint, nothing is saved)"
    );
    // A setting that loses because of one job is reported as such.
    let mut lost = swept.clone();
    let row = &mut lost["answer"]["rows"][1];
    row["net_cpu"] = json!(-5.0);
    row["harmed"] = json!([{"job_id": 7, "user": "swath", "job_name": null, "condemned_tasks": 1,
        "destroyed_cpu": 9.0}]);
    assert!(said(by(kill, &lost)).ends_with(
        ". Killing tasks at 50 % of the requested time loses a net 10.0 %, because of one finished job of user \
        swath (9 processor-s by then)"
    ));
    lost["answer"]["rows"][1]["harmed"][0]["destroyed_cpu"] = json!(4.0);
    assert!(!said(by(kill, &lost)).contains("loses"));
    // The saving depends on too few tasks, and the limit itself ended all of them.
    for row in swept["answer"]["rows"].as_array_mut().unwrap() {
        row["condemned_tasks"]["failed"] = json!(9);
    }
    let text = said(by(kill, &swept));
    let few = "not shown: Do not adopt a kill rule yet: the best one in hindsight, killing tasks at 75 % of the \
        requested time, that is with all time limits cut by a quarter, would have saved 3.1 % of all requested \
        CPU, but by killing only 9 tasks. It harms 0 of 100 finished jobs and saves a net 8 processor-s, ";
    assert!(text.starts_with(few) && text.contains(". The rule is fitted to these jobs"), "{text}");
}

#[test]
fn a_saving_says_on_which_tasks_it_rests_and_how_much_of_it_is_open() {
    let mut swept = a_sweep(5.0, [0.05, 0.1, 0.2], 0.2);
    let row = &mut swept["answer"]["rules"][0]["rows"][0];
    row["condemned_tasks"] =
        json!({"finished": 70, "failed": 5, "killed": 4, "running": 3, "unmatched": 0});
    row["condemned_at_end"] = json!({"finished": 70, "failed": 1, "killed": 0, "running": 0});
    row["saved_cpu"] = json!({"finished": 900.0, "failed": 25.0, "killed": 25.0, "running": 50.0});
    swept["answer"]["total_cpu"] =
        json!({"finished": 1e6, "failed": 1.0, "killed": 2.0, "running": 9.0});
    let text = said(by(kill, &swept));
    assert!(
        text.contains("(95 % interval 5.0 % to 20.0 %) by killing 11 of their tasks"),
        "{text}"
    );
    assert!(
        text.contains(
            "; 50.0 % of what it saves, and 75.0 % of the CPU of jobs that did not finish or still ran, belong to jobs \
            that still ran at the end, whose outcome is not known"
        ),
        "{text}"
    );
    // Nothing is saved in jobs that still run.
    swept["answer"]["rules"][0]["rows"][0]["saved_cpu"]["running"] = json!(0.0);
    assert!(said(by(kill, &swept)).ends_with(" by killing 11 of their tasks"));
}

#[test]
fn what_a_log_without_a_status_says_of_outcomes_is_not_shown() {
    let inputs = json!([{"remarks": {"status unknown, has run: taken as finished": 14}}]);
    let of = |name: &str, stored: &Value, inputs: &Value| {
        let answer = stored["answer"].clone();
        let inputs = serde_json::from_value(inputs.clone()).unwrap();
        fate::no_outcomes(&Envelope {
            name: name.to_owned(),
            inputs,
            answer,
            ..Envelope::default()
        })
    };
    let row = json!({"outcome": "finished", "jobs": 14, "count": 14, "share": 1.0});
    let rows = json!({"answer": {"total": 14, "cpu": "requested", "rows": [row]}});
    let swept = a_sweep(5.0, [0.05, 0.1, 0.2], 0.2);
    for (name, stored) in
        [("classify-jobs", &rows), ("classify-tasks", &rows), ("account", &rows), ("sweep", &swept)]
    {
        let why = of(name, stored, &inputs);
        assert!(why.is_some_and(|why| why.contains("how its 14 jobs ended is unknown")), "{name}");
        assert_eq!(of(name, stored, &json!([])), None, "{name}");
    }
    assert_eq!(of("load", &rows, &inputs), None);
}

#[test]
fn waste_of_fewer_hours_than_jobs_says_so() {
    let table =
        |name: &str, hours: f64| json!({"table": name, "start_s": 0.0, "end_s": hours * 3600.0});
    let mut stored = json!({"answer": {"total": 2000.0, "unit": "NCU-s", "cpu": "requested", "rows": [
        {"outcome": "finished", "jobs": 9, "share": 1.0}]}});
    stored["inputs"] = json!([table("job_events", 696.0), table("task_events", 25.2)]);
    assert_eq!(
        said(by(waste, &stored)),
        "shown: No CPU time is known to be wasted: of 2,000 NCU-s in the first 25.2 h, finished \
        jobs requested 100.0 %. Outcomes are those of the jobs after 29 d, when the trace of jobs \
        ends"
    );
    let inputs: Vec<Input> = serde_json::from_value(stored["inputs"].clone()).unwrap();
    assert_eq!(open_at(&inputs, "jobs"), "open at the end of job_events (29 d)");
    assert_eq!(open_at(&inputs, "attempts"), "open at the end of task_events (25.2 h)");
    assert_eq!(open_at(&[], "jobs"), "open at its end");
}

#[test]
fn other_time_limits_are_reported_beside_the_rule() {
    let of = |net: f64| {
        let mut swept = a_sweep(5.0, [0.05, 0.1, 0.2], 0.2);
        let row = |threshold: u32, net: f64| json!({"threshold": threshold, "net_share": net, "harmed_jobs": 3});
        let limits = json!({"rule": "slurm:of=requested", "rows": [row(25, -0.5), row(75, net)]});
        swept["answer"]["rules"].as_array_mut().unwrap().push(limits);
        swept
    };
    let text = said(by(kill, &of(0.25)));
    let expected = ". In hindsight, a limit at 75 % of the requested time, that is with all time limits cut by a \
        quarter, saves a net 25.0 % of the CPU of jobs that did not finish, and harms 3 finished jobs";
    assert!(text.ends_with(expected), "{text}");
    let text = said(by(kill, &of(-0.1)));
    assert!(text.ends_with(". No time limit is shown to save more than it destroys"), "{text}");
    // If the chosen rule is itself a limit, it is mentioned only once.
    let mut hindsight = of(0.25);
    hindsight["answer"].as_object_mut().unwrap().remove("selection");
    let text = said(by(kill, &hindsight));
    assert_eq!(text.matches("of the requested time").count(), 1, "{text}");
}

#[test]
fn a_detector_is_worth_having_if_its_copies_end_jobs_earlier() {
    let of = |earlier: f64| {
        let copy = |name: &str, budget: Value, earlier: f64| json!({"detector": name, "budget": budget, "earlier_share": earlier, "lost_share": 0.004});
        let row = |name: &str, f1: f64| json!({"detector": name, "scores": [{"f1": f1, "recall": 0.587, "precision": 0.805}]});
        json!({"answer": {"stragglers": [397], "rows": [row("oracle", 1.0), row("late", 0.9), row("flink", 0.6)],
            "copies": [copy("oracle", Value::Null, 0.9), copy("late", json!(0.1), 0.8),
                copy("late", Value::Null, earlier / 2.0), copy("flink", Value::Null, earlier)]}})
    };
    assert_eq!(
        said(by(detector, &of(0.052))),
        "shown: `flink`: copies of the tasks that it flags would end jobs 5.2 % earlier (90.0 % with a detector \
        that knows the stragglers). Copies of `flink` that lose take 0.4 % of the slot time of all jobs. This is a \
        dry run, in which a copy takes as long as the median sibling of its task, and the time of jobs is the sum over \
        all of them. `flink` finds 58.7 % of 397 stragglers; 80.5 % of its flags on judged tasks are right"
    );
    assert!(said(by(detector, &of(0.049))).starts_with(
        "shown: Hardly any: with `flink`, the best, copies of the tasks that it flags would end jobs 4.9 % earlier (90.0 % "
    ));
    assert!(
        said(by(detector, &of(0.0)))
            .starts_with("not shown: No detector is worth having: with 397")
    );
    // The bound is the reason.
    let mut bounded = of(0.03);
    bounded["answer"]["copies"][0]["earlier_share"] = json!(0.048);
    let text = said(by(detector, &bounded));
    let reason = "shown: Hardly any: even copies of all stragglers, if they were known, would end jobs only 4.8 % earlier; \
        with `flink`, the best detector, copies of the tasks that it flags would end them 3.0 % earlier. Copies of";
    assert!(text.starts_with(reason), "{text}");
    assert_founded(&text, &bounded);
}

#[test]
fn a_detector_says_what_its_copies_need_and_how_alike_the_truth_is() {
    let score =
        |f1: f64| json!({"f1": f1, "recall": 0.587, "precision": 0.805, "lead_median_s": 58.06});
    let copy = |budget: Value, earlier: f64| {
        json!({"detector": "flink", "budget": budget,
        "earlier_share": earlier, "lost_share": 0.004, "started": 26_282, "won": 2028})
    };
    let of = |other: f64| {
        json!({"answer": {"stragglers": [397, 200], "truths": ["median:1.5", "mean:1.5"],
        "rows": [{"detector": "flink", "flags": 26_282, "flags_unjudged": 11_317,
            "scores": [score(0.68), score(0.64)]},
            {"detector": "late", "scores": [score(0.5), score(other)]}],
        "copies": [copy(json!(0.005), 0.001), copy(json!(0.05), 0.038), copy(json!(0.2), 0.052),
            copy(json!(0.5), 0.052), copy(Value::Null, 0.052)]}})
    };
    let stored = of(0.5);
    let text = said(by(detector, &stored));
    assert_eq!(
        text,
        "shown: `flink`: copies of the tasks that it flags would end jobs 5.2 % earlier, and only \
        2,028 of the 26,282 copies end before their task. Copies of `flink` that lose take 0.4 % of the slot time of all \
        jobs. With a limit of 5.0 % of the slot time of each single job, `flink` still ends jobs 3.8 % earlier, and from \
        20.0 % on the limit changes nothing. This is a dry run, in which a copy takes as long as the median sibling \
        of its task, and the time of jobs is the sum over all of them. `flink` finds 58.7 % of 397 stragglers, tasks longer than 1.5 times the median of their job's \
        finished ones; 80.5 % of its flags on judged tasks are right. Half of the right flags come 58.1 s or less \
        before the task ends. 11,317 of its 26,282 flags are on attempts that did not finish, which \
        are not judged. A straggler is defined here by a multiple of the median, much as this detector flags; \
        by other definitions its F1 is 0.64 by `mean:1.5` instead of 0.68, still the best of all"
    );
    assert_founded(&text, &stored);
    assert!(said(by(detector, &of(0.7))).ends_with("instead of 0.68, not the best by all of them"));
    // Another detector saves nearly as much with far fewer copies, and most of that is in one job.
    let mut cheap = of(0.5);
    let copies = cheap["answer"]["copies"].as_array_mut().unwrap();
    copies[1]["largest_earlier_share"] = json!(0.934);
    copies[4]["largest_earlier_share"] = json!(0.6);
    let other = |name: &str, earlier: f64, started: u64| {
        json!({"detector": name, "budget": null, "earlier_share": earlier, "started": started,
            "won": 1180})
    };
    copies.extend([other("cubed", 0.045, 4463), other("late", 0.05, 20_000)]);
    copies.extend([other("spark", 0.02, 100), other("oracle", 0.06, 50)]);
    copies[5]["largest_earlier_share"] = json!(0.526);
    let text = said(by(detector, &cheap));
    assert!(
        text.starts_with(
            "shown: Hardly any: with `flink`, the best, copies of the tasks that it flags would end jobs 5.2 % earlier \
            (6.0 % with a detector that knows the stragglers), 60.0 % of that in one job, and only 2,028 of the 26,282 \
            copies end before their task. With 4,463 copies, 1,180 of which end first, `cubed` would end jobs 4.5 % \
            earlier, 52.6 % of that in one job. Copies"
        ),
        "{text}"
    );
    let limit =
        "`flink` still ends jobs 3.8 % earlier, 93.4 % of that in one job, and from 20.0 % on";
    assert!(text.contains(limit), "{text}");
    assert_founded(&text, &cheap);
    // If a tenth of the copies end first, the gain does not count as luck.
    cheap["answer"]["copies"][4]["won"] = json!(2629);
    assert!(said(by(detector, &cheap)).starts_with("shown: Perhaps `flink`: copies of the tasks"));
}

/// The answer if `fair` is better in all measures and tasks waited this long in the record, s.
fn with_record(stored: &mut Value, wait_s: f64) -> String {
    stored["answer"]["policies"][2]["metrics"]["job_response_s"]["mean"] = json!(4.0);
    stored["answer"]["recorded"]["waiting_s"]["mean"] = json!(wait_s);
    said(by(policy, stored))
}

/// The answer if tasks wait longer than in the record under all policies.
const NONE_BETTER: &str = "not shown: No policy is shown to do better than what was done: under each of them \
    tasks wait longer than they did. Among them, fair share, compared with first come, first served, ends 13 of 19 \
    jobs sooner and 1 later; it lowers";

/// Four policies. `fair` has this mean wait and slowdown, helps and hurts these numbers of jobs,
/// and has these open jobs.
fn replayed(wait: f64, slowdown: f64, [helped, hurt]: [u32; 2], open: u32) -> Value {
    // The mean response is never better: it does not decide.
    let row = |name: &str, response: f64, wait: f64, slowdown: f64| {
        json!({"policy": name, "metrics": {"job_response_s": {"mean": response},
            "makespan_s": 300.0,
        "waiting_s": {"mean": wait, "max": wait}, "bounded_slowdown": {"mean": slowdown},
        "cpu_share_max": 0.1, "cpu_there_at_max": 24_115.0},
        "against_first": {"helped": helped, "hurt": hurt}})
    };
    json!({"answer": {"unit": "processor-s",
        "history": {"jobs": 19, "still_running": open * 3, "jobs_still_running": open},
        "recorded": {"waiting_s": {"count": 17, "mean": 49.0}, "dropped_cpu_share": 0.25},
        "policies": [row("fifo", 5.0, 184.0, 2.13), row("late", 1.0, 200.0, 1.0),
            row("fair", 9.0, wait, slowdown), row("wqr", 5.0, 200.0, 3.0)]}})
}

#[test]
fn a_policy_is_shown_if_it_lowers_waits_and_slowdowns_by_a_hundredth() {
    let of = replayed;
    assert_eq!(
        said(by(policy, &of(49.0, 1.23, [13, 1], 0))),
        "shown: In part: fair share, compared with first come, first served, ends 13 of 19 jobs sooner and 1 later; it \
        lowers the mean wait of tasks (49 s instead of 3.07 min) and the mean bounded slowdown of finished tasks (1.23 instead of 2.13 times their run time), but \
        raises the mean response of jobs (9 s instead of 5 s). Within 1 %: the response of the median job, the \
        response of the slowest 5 % of jobs and the response of the slowest 1 % of jobs. Jobs count as sooner or later by \
        more than 1 s and 1 % of their time. The 17 tasks that started waited 49 s on average in the record; the replays leave out what else made tasks wait, such as attempts with 25.0 % of \
        the requested CPU time: compare the policies with each other, not with the record. Under first come, first served \
        tasks wait longer than they did: that is a weak rival. `wqr` raises both the \
        mean wait (3.33 min instead of 3.07 min) and the mean slowdown (3 instead of 2.13)"
    );
    // Copies that repeat the work of their tasks hardly ever end first.
    let mut copies = of(49.0, 1.23, [13, 1], 0);
    copies["answer"]["policies"][3]["metrics"]["copies"] = json!([40, 1]);
    let started = " (it started 40 copies, of which 1 ended first";
    assert!(said(by(policy, &copies)).ends_with(&format!("{started})")));
    copies["answer"]["decisive"] = json!([replay::COPY_HAS_SAME_WORK]);
    let why = ": each repeats the whole work of its task)";
    assert!(said(by(policy, &copies)).ends_with(&format!("{started}{why}")));
    // Where no job ends sooner or later, nothing is said about what counts as that.
    assert!(!said(by(policy, &of(49.0, 1.23, [0, 0], 0))).contains("Jobs count"));
    let mut better = of(49.0, 1.23, [13, 1], 0);
    assert!(
        with_record(&mut better, 49.0).starts_with("shown: Perhaps: fair share, compared with")
    );
    assert!(with_record(&mut better, 46.0).starts_with(NONE_BETTER));
    assert!(with_record(&mut better, 184.0).starts_with("shown: Yes: fair share, compared with"));
    let text = said(by(policy, &of(49.0, 1.23, [13, 1], 4)));
    let cut = "1 % of their time; 4 of them have a task that is cut at the end of the window. The";
    assert!(text.contains(cut), "{text}");
    let text = said(by(policy, &of(49.0, 1.23, [13, 14], 0)));
    let more = "ends 13 of 19 jobs sooner and 14 later; it lowers the mean wait";
    assert!(text.contains(more), "{text}");
    let mut pooled = of(49.0, 1.23, [13, 1], 0);
    pooled["answer"]["pooled_processors"] = json!(1159.0);
    let text = said(by(policy, &pooled));
    let pool = "1 % of jobs. The replays treat the whole system as one pool of 1,159 processors: tasks that waited for";
    assert!(text.contains(pool), "{text}");
    pooled["answer"]["largest_queue"] =
        json!({"name": "black", "tasks": 10, "all_tasks": 11, "processors_max": 756.0});
    pooled["source"] = json!("slurm");
    let text = said(by(policy, &pooled));
    let confined = "shown: Perhaps in part (the replays give all 1,159 processors to every job, but partition black, with \
        90.9 % of the tasks, never used more than 756 at once in the record): fair share, ";
    assert!(text.starts_with(confined), "{text}");
    // A queue that used nearly all of the processors.
    pooled["answer"]["largest_queue"]["processors_max"] = json!(1100.0);
    assert!(!said(by(policy, &pooled)).contains("black"));
    for (wait, slowdown) in [(183.0, 1.23), (49.0, 2.12), (190.0, 3.0)] {
        let text = said(by(policy, &of(wait, slowdown, [13, 1], 0)));
        let none = "not shown: No other policy is shown to lower both the mean wait of tasks and \
            their mean slowdown: first come, first served with LATE, compared with first come, first served, ends 13 of 19 jobs sooner \
            and 1 later; it lowers the mean bounded slowdown of finished tasks (1 instead of 2.13 times their run time), but raises the mean wait of tasks \
            (3.33 min instead of 3.07 min). It also lowers the mean response of jobs (1 s instead of 5 s); \
            within 1 %: ";
        assert!(text.starts_with(none), "{text}");
    }
}

#[test]
fn the_median_job_comes_first_if_it_gains_more_than_the_waits() {
    let mut stored = replayed(150.0, 1.23, [13, 14], 0);
    stored["answer"]["recorded"]["waiting_s"]["mean"] = json!(300.0);
    for (place, response, fairness) in [
        (0, json!({"mean": 72.0, "median": 1170.0, "p95": 15_372.0, "p99": 19_548.0}), 0.2269),
        (2, json!({"mean": 62.0, "median": 410.4, "p95": 17_424.0, "p99": 22_032.0}), 0.5722),
    ] {
        let metrics = &mut stored["answer"]["policies"][place]["metrics"];
        metrics["job_response_s"] = response;
        metrics["user_fairness"] = json!(fairness);
    }
    let text = said(by(policy, &stored));
    let first = "shown: In part: fair share, compared with first come, first served, ends 13 of 19 jobs sooner and 14 \
        later; it lowers the response of the median job (6.84 min instead of 19.5 min) and the mean wait of tasks (2.5 min instead of 3.07 min), but raises the \
        response of the slowest 5 % of jobs (4.84 h or longer instead of 4.27 h). It also lowers the mean bounded slowdown of finished tasks (1.23 instead of 2.13 times their run time) and the \
        mean response of jobs (62 s instead of 72 s); it also raises the response of the slowest 1 % of jobs (6.12 h or \
        longer instead of 5.43 h). The mean slowdowns of users are more even: Jain's index of them, which is 1 if all are \
        equal, is 0.572 instead of 0.227. Jobs count";
    assert!(text.starts_with(first), "{text}");
}

#[test]
fn policies_under_which_no_task_waits_change_nothing() {
    let mut idle = replayed(49.0, 1.23, [0, 0], 0);
    for row in idle["answer"]["policies"].as_array_mut().unwrap() {
        row["metrics"]["waiting_s"]["max"] = json!(0.0);
    }
    assert_eq!(
        said(by(policy, &idle)),
        "unknown: The policies change nothing: no task waits, and at most 10.0 % of 24,115 \
        processors are in use"
    );
    idle["inputs"] = json!([{"table": "task_events", "remarks": {"wait unknown: x": 19}}]);
    let text = said(by(policy, &idle));
    assert!(!text.contains("records no waits"), "one line without a wait is not all: {text}");
    idle["answer"]["recorded"] = json!(null);
    let text = said(by(policy, &idle));
    assert!(
        text.ends_with(". The log records no waits, so that each job is submitted when it started")
    );
    let killing = &mut idle["answer"]["policies"][1];
    killing["metrics"]["condemned_tasks"] = json!(31);
    killing["against_first"]["harmed"] = json!(4);
    killing["cpu_saved_share"] = json!(0.03);
    let text = said(by(policy, &idle));
    let harmed = "shown: `late` kills 31 tasks: 4 jobs that finish under `fifo` do not finish \
        (harmed), and 3.0 % of the CPU time is saved; otherwise the policies change nothing: ";
    assert!(text.starts_with(harmed), "{text}");
}

#[test]
fn what_waits_at_the_start_of_a_replay_is_kept_apart() {
    let mut crowded = replayed(49.0, 1.23, [13, 1], 4);
    crowded["answer"]["history"]["began_before"] = json!(8);
    for (place, settled, response) in [(0, 7.0, 100.0), (2, 2.0, 101.5)] {
        let metrics = &mut crowded["answer"]["policies"][place]["metrics"];
        metrics["settled_waiting_s"] = json!({"mean": settled});
        metrics["whole_job_response_s"] = json!({"mean": 50.0 - settled});
        metrics["job_response_s"] = json!({"mean": response});
    }
    let text = said(by(policy, &crowded));
    let first = "lowers the mean wait of tasks after the first tenth of the time (2 s instead of 7 s) and the mean \
        bounded slowdown of finished tasks (1.23 instead of 2.13 times their run time), but raises the mean response \
        (48 s instead of 43 s) among jobs that the end of the window does not cut. ";
    assert!(text.contains(first), "{text}");
    let whole = ". The first tenth of the time is left out there since 8 tasks from before the window arrive at its \
        start at once; means over the whole time are in the table of the page. Jobs count";
    assert!(text.contains(whole), "{text}");
    assert!(!text.contains("over all jobs"), "both rise: {text}");
    let mut rises = crowded.clone();
    rises["answer"]["policies"][2]["metrics"]["whole_job_response_s"]["mean"] = json!(40.0);
    let text = said(by(policy, &rises));
    assert!(text.starts_with("shown: In part: "), "{text}");
    let part = "ends 13 of 19 jobs sooner and 1 later; it lowers the mean wait of tasks after";
    assert!(text.contains(part), "{text}");
    let all = "; over all jobs, with those that the end of the window cuts, it raises the mean response (102 s instead of \
        100 s). ";
    assert!(text.contains(all), "{text}");
    // More running time was lost with machines than responses rose.
    for (place, hours) in [(0, 100.0), (2, 101.0)] {
        let metrics = &mut rises["answer"]["policies"][place]["metrics"];
        metrics["lost"] = json!({"count": 9, "time_s": hours * 3600.0, "cpu_s": 0.0});
        metrics["job_response_s"]["count"] = json!(19);
    }
    let text = said(by(policy, &rises));
    assert!(text.starts_with("shown: In part: ") && text.contains("it raises the mean"), "{text}");
    let lost = ". More running time was lost with machines that left (101 task-h instead of 100 task-h), which may \
        explain why responses over all jobs rise: it depends on which tasks ran there. ";
    assert!(text.contains(lost), "{text}");
    rises["answer"]["policies"][2]["metrics"]["lost"]["time_s"] = json!(360_010.0);
    assert!(!said(by(policy, &rises)).contains("was lost with machines"));
    // The waits of later tasks change in another direction.
    crowded["answer"]["policies"][2]["metrics"]["settled_waiting_s"]["mean"] = json!(8.0);
    let text = said(by(policy, &crowded));
    let without = ". Without the first tenth of the time, at whose start 8 tasks from before the window arrive at \
        once, the mean wait is 8 s instead of 7 s. Jobs count";
    assert!(text.contains(without) && text.contains("wait of tasks (49 s instead of"), "{text}");
}

/// A policy that looks no further although a machine has room waits for its limit, not for its order.
#[test]
fn a_limit_that_one_policy_meets_far_more_often_is_reported() {
    let said_of = |cuts: [Value; 2]| {
        let mut stored = replayed(49.0, 1.23, [13, 1], 4);
        for (place, cuts) in [0, 2].into_iter().zip(cuts) {
            stored["answer"]["policies"][place]["depth_cuts"] = cuts;
        }
        said(by(policy, &stored))
    };
    let text = said_of([json!(1229), json!(186)]);
    let limit = "although a machine had room: part of the difference may come from this limit";
    assert!(
        text.contains(". At 1,229 instants under ") && text.contains(" and 186 under "),
        "{text}"
    );
    assert!(text.contains(limit), "{text}");
    for cuts in [[json!(200), json!(186)], [json!(0), json!(0)], [Value::Null, json!(9)]] {
        assert!(!said_of(cuts).contains(limit));
    }
}

/// A log without open jobs ends too low; a request that rises at the end needs no such note.
#[test]
fn a_log_that_lacks_running_jobs_ends_too_low() {
    let said_of = |has_open: Value, before: f64| {
        let level =
            json!({"at_s": 4e8, "when": "noon", "before_share": before, "after_share": 0.1});
        said(by(
            load,
            &json!({"answer": {"interval_s": 3600.0, "rows": [], "level": level,
            "totals": {"cpu_allocated_of_capacity_share": 0.4},
            "whole_from": {"from_s": 3e8, "when": "dawn", "has_open": has_open}}}),
        ))
    };
    let too_low =
        "10.0 % from then on (too low: jobs that still ran at the end seem to be missing)";
    for (has_open, is_noted) in [(json!(false), true), (json!(true), false), (json!(null), false)] {
        let text = said_of(has_open, 0.9);
        assert_eq!(text.contains(too_low), is_noted, "{text}");
        assert!(text.contains("10.0 % from then on"), "{text}");
    }
    let risen = said_of(json!(false), 0.05);
    assert!(risen.contains("5.0 % until noon") && !risen.contains("too low"), "{risen}");
}

#[test]
fn the_longest_queue_stands_beside_what_was_requested_then() {
    let row =
        |share: f64, waiting: f64| json!({"cpu_allocated_share": share, "pending_tasks": waiting});
    let mut stored = json!({"answer": {"interval_s": 300.0, "rows": [row(0.9, 10.0), row(0.74, 1200.0), row(0.5, 2.0)],
        "totals": {"cpu_allocated_of_capacity_share": 0.4}}});
    let text = said(by(load, &stored));
    let queue = "; 404 tasks waited on average and at most 1,200 (mean per five minutes), when running tasks requested \
        74.0 %";
    assert!(text.ends_with(queue), "{text}");
    // The mean of a log that lacks earlier jobs would be too low.
    stored["answer"]["whole_from"] =
        json!({"from_s": 4e8, "when": "noon", "cpu_allocated_of_capacity_share": 0.6});
    let text = said(by(load, &stored));
    let queue = "; at most 1,200 tasks waited (mean per five minutes), when running tasks requested 74.0 %. ";
    assert!(text.contains(queue) && !text.contains("404"), "{text}");
    stored["answer"]["rows"] = json!([row(0.9, 0.4)]);
    assert!(!said(by(load, &stored)).contains("waited"));
}

#[test]
fn the_load_is_reported_on_average_and_at_its_fullest() {
    let row = |share: f64| json!({"cpu_allocated_share": share});
    let mut stored = json!({"answer": {"interval_s": 3600.0, "rows": [row(0.2), row(0.9), row(0.1)],
        "totals": {"cpu_allocated_of_capacity_share": 0.4}}});
    let said_of = |stored: &Value| said(by(load, stored));
    assert_eq!(
        said_of(&stored),
        "shown: On average, running tasks requested 40.0 % of the CPU of the machines; in the \
        fullest hour they requested 90.0 %"
    );
    stored["answer"]["totals"]["cpu_used_of_capacity_share"] = json!(0.25);
    assert!(said_of(&stored).contains("requested 40.0 % and used 25.0 % of the CPU"));
    let mut cut = stored.clone();
    cut["answer"]["whole_from"] = json!({"from_s": 4e8, "when": "1982-09-04 15:06:40",
        "cpu_allocated_of_capacity_share": 0.64});
    assert_eq!(
        said_of(&cut),
        "shown: On average from 1982-09-04 15:06:40 on, running tasks requested 64.0 % of the CPU of \
        the machines; in the fullest hour they requested 90.0 %. Before 1982-09-04 15:06:40, the log \
        seems to hold only jobs that ended later"
    );
    // The instant in the text does not split an interval.
    cut["answer"]["whole_from"]["intervals_when"] = json!("1982-09-04 16:00:00");
    assert!(said_of(&cut).contains("average from 1982-09-04 16:00:00 on, running"));
    // A change that lasts, and the number of processors to which shares refer.
    let mut fell = stored.clone();
    fell["answer"]["unit"] = json!("processor");
    fell["answer"]["level"] = json!({"at_s": 4e8, "when": "1982-09-04 15:06:40", "before_share": 0.9,
        "after_share": 0.1});
    fell["answer"]["rows"] = json!([{"cpu_capacity": 1159.0, "cpu_allocated_share": 0.9}]);
    let text = said_of(&fell);
    assert!(
        text.starts_with(
            "shown: On average, running tasks requested 40.0 % and used 25.0 % of the 1,159 processors; in the \
            fullest hour they requested 90.0 %. The request was 90.0 % until 1982-09-04 15:06:40, and 10.0 % from then on"
        ),
        "{text}"
    );
    assert_founded(&text.replace("1982-09-04 15:06:40", ""), &fell);
    // Three intervals of an hour: a tenth of that time is reported, a minute is not.
    let mut quiet = stored.clone();
    for (without_s, is_told) in [(1080.0, true), (60.0, false)] {
        quiet["answer"]["arrivals"] = json!({"jobs": 1, "left_censored_out": 0, "time_of_day": "local",
            "without_s": without_s, "hours": [], "dispersion": [], "hourly_autocorrelation": []});
        let text = said_of(&quiet);
        let end = ". The last job was submitted 18 min before the end of the log";
        assert_eq!(text.ends_with(end), is_told, "{text}");
    }
    let mut log = stored.clone();
    log["inputs"] = json!([{"table": "machine_events", "remarks": {CAPACITY_FROM_USE: 1}}]);
    assert_eq!(
        said_of(&log),
        "shown: On average, running tasks requested 40.0 % and used 25.0 % of the most processors \
        ever used at once; in the fullest hour they requested 90.0 % (the log does not record the \
        capacity)"
    );
    stored["answer"]["totals"]["memory_allocated_of_capacity_share"] = json!(0.956);
    stored["answer"]["rows"] = json!([row(0.2), row(1.2)]);
    let text = said_of(&stored);
    assert!(
        text.ends_with(
            "they requested 120.0 %; of the memory, 95.6 % on average. A request is not use: the \
            cluster accepts requests for more than it has"
        ),
        "{text}"
    );
    let gap = json!({"table": "task_events", "parts": "14", "from_h": 19.65, "until_h": 21.05});
    stored["inputs"] = json!([{"table": "task_events", "gaps": [gap]}]);
    let text = said_of(&stored);
    let averaged = ". Averages include hours 19.65 to 21.05 of the trace, which are not in the log: \
        attempts count as running there until their next event";
    assert!(text.ends_with(averaged), "{text}");
    assert_founded(&said_of(&stored), &stored);
}

#[test]
fn users_are_reported_with_the_heaviest_and_how_unequal_they_are() {
    let stored = json!({"settings": {"cpu": "requested"}, "answer": {"by": "user", "unit": "NCU-s",
        "total_cpu_s": 1000.0, "inequality": {"users": 570, "gini": 0.9234, "users_of_half": 12},
        "users": [{"user": "ann", "share": 0.11}]}});
    assert_eq!(
        said(by(users, &stored)),
        "shown: User ann got most: 11.0 % of the 1,000 NCU-s that 570 users requested; the top 12 \
        requested half or more (Gini index 0.923)"
    );
    let mut stored = stored;
    stored["settings"]["cpu"] = json!("slots");
    stored["answer"]["inequality"]["users"] = json!(3);
    stored["answer"]["inequality"]["users_of_half"] = json!(2);
    let user = |name: &str, share: f64| json!({"user": name, "share": share});
    stored["answer"]["users"] = json!([user("7", 0.6), user("8", 0.39), user("-", 0.01)]);
    assert_eq!(
        said(by(users, &stored)),
        "shown: User 7 got most: 60.0 % of the 1,000 NCU-s that 3 users used; the top 2 used 99.0 %. \
        With equal shares each would have 33.3 %: 2 of 3 got more (Gini index 0.923)"
    );
}

#[test]
fn what_is_not_shown_comes_last_and_is_left_out_first() {
    let (kind, topic) = kind_of(RULES[2].of).unwrap();
    let finding = |number: usize| Finding {
        scope_in_short: String::new(),
        asks: "",
        sentence: number.to_string(),
        is_shown: number != 2 && number != 5,
        scope: String::new(),
        result: kind.name.to_owned(),
        topic,
    };
    let kept = chosen((0..7).map(finding).collect());
    let kept: Vec<&str> = kept.iter().map(|one| one.sentence.as_str()).collect();
    assert_eq!(kept, ["0", "1", "3", "4", "6", "2"]);
}

#[test]
fn every_rule_is_of_a_result_that_exists() {
    for rule in &RULES {
        assert!(kind_of(rule.of).is_some(), "{}", rule.of);
    }
}

proptest! {
    /// Every number in a sentence is a number of the result, for any contents of the result.
    #[test]
    fn a_finding_holds_no_number_that_its_result_does_not(
        shares in prop::collection::vec(0.0..1.0_f64, 8),
        amounts in prop::collection::vec(0.001..1e9_f64, 6),
        counts in prop::collection::vec(0..100_000_u64, 8),
        bounds in prop::collection::vec(-0.5..1.0_f64, 2),
    ) {
        let outcomes = ["finished", "failed", "killed", "running", "other"];
        let rows: Vec<Value> = outcomes.iter().zip(&shares).map(|(outcome, share)| json!({
            "outcome": outcome, "share": share, "largest_job_share": 1.0 - share, "jobs": 5,
        })).collect();
        let jobs = json!({"answer": {"total": counts[0] + 1, "rows": rows}});
        let cpu = json!({"answer": {"total": amounts[0], "unit": "x-s", "cpu": "slots", "rows": rows}});
        let mut swept = a_sweep(amounts[1] - 5e8, [bounds[0], shares[0], bounds[1]], shares[1]);
        swept["answer"]["selection"]["test_jobs"] = json!(counts[1]);
        swept["answer"]["selection"]["chosen"]["test"]["net_cpu"] = json!(amounts[2]);
        let score = json!({"recall": shares[2], "precision": shares[3], "f1": shares[4]});
        let detected = json!({"answer": {"stragglers": [counts[2]],
            "rows": [{"detector": "late", "scores": [score]}],
            "copies": [{"detector": "late", "budget": null, "earlier_share": shares[5], "lost_share": shares[6]}]}});
        let run = |name: &str, mean: f64| json!({"policy": name, "metrics": {
            "waiting_s": {"mean": mean, "max": shares[7]},
            "bounded_slowdown": {"mean": 1.0 + mean / 1e9},
            "cpu_share_max": shares[0], "cpu_there_at_max": amounts[0]},
            "against_first": {"helped": counts[3], "hurt": counts[4]}});
        let replayed = json!({"answer": {"unit": "x-s", "tolerance": {"seconds": 1.0, "part_of_response": 0.01}, "history": {"jobs": counts[5]},
            "policies": [run("fifo", amounts[3]), run("fair", amounts[4])]}});
        let used = json!({"settings": {"cpu": "slots"}, "answer": {"by": "user", "unit": "x-s",
            "total_cpu_s": amounts[5], "users": [{"user": "ann", "share": shares[1]}],
            "inequality": {"users": counts[6], "gini": shares[2], "users_of_half": counts[7]}}});
        for (rule, stored) in [
            (fate as fn(&Envelope) -> Option<Told>, &jobs), (waste, &cpu), (kill, &swept),
            (detector, &detected), (policy, &replayed), (users, &used),
        ] {
            assert_founded(&said(by(rule, stored)), stored);
        }
    }
}

/// Promise: an outcome that depends on one job is named if the total does not; a small outcome is
/// not.
#[test]
fn an_outcome_that_rests_on_one_job_is_named() {
    let of = |share: f64, failed: f64, all: f64| {
        let mut swept = a_doubtful_sweep();
        let row = swept["answer"]["rules"][1]["rows"].as_array_mut().unwrap().last_mut().unwrap();
        row["saved_share"] = json!({"failed": share, "killed": 0.1});
        row["largest_saved_share"] = json!({"failed": failed, "killed": 0.4});
        row["largest_saved_in_all"] = json!(all);
        said(by(kill, &swept))
    };
    let text = of(0.5, 0.948, 0.25);
    assert!(
        text.contains(". In failed jobs, one job makes up 94.8 % of what it saves. Killing"),
        "{text}"
    );
    for text in [of(0.5, 0.4, 0.25), of(0.009, 0.948, 0.25), of(0.5, 0.948, 0.6)] {
        assert!(!text.contains("In failed jobs"), "{text}");
    }
}

#[test]
fn the_first_sentence_of_a_finding_ends_at_its_full_stop() {
    let one = parts("User J. Smith got most: 30.3 %. 3 of them requested half");
    assert_eq!(one, ("User J. Smith got most: 30.3 %", Some("3 of them requested half")),);
    assert_eq!(parts("Half ended within 60 s. Few did").1, Some("Few did"));
    assert_eq!(parts("User Dr. Wu got most").1, None);
    // The reason not to adopt a rule needs the numbers of the next sentence.
    let advice =
        parts("Do not adopt a kill rule yet: few could be tested. It saves 6.8 %. It is gentle");
    assert_eq!(advice.0, "Do not adopt a kill rule yet: few could be tested. It saves 6.8 %");
    assert_eq!(advice.1, Some("It is gentle"));
    assert_eq!(parts("Do not adopt a kill rule yet: why. It saves 6.8 %").1, None);
    let two = parts("It saves 9.7 % of all. In hindsight, it saves 10.3 %");
    assert_eq!(two, ("It saves 9.7 % of all", Some("In hindsight, it saves 10.3 %")));
}

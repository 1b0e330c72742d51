//! Clean and dirty synthetic traces: the analysis must find exactly the ground truth.
//!
//! `synth` records the ground truth without code of the analysis. The test compares the numbers
//! that both define in the same way; ties are not compared, because `synth` counts them in groups
//! and the census in pairs.

use std::collections::BTreeMap;

use jobfate::facts::census::census;
use jobfate::facts::query::{Query, Settings};
use jobfate::facts::window::Windows;
use jobfate::lake::Lake;
use jobfate::schema::Table;
use jobfate::synth::{Dirty, Form, SynthConfig, Truth, thresholds, write_trace};

use super::support::{Place, floats, ints, texts};

type Counts = BTreeMap<String, u64>;

/// Makes a trace, ingests it, and passes both to `check`.
fn with_trace(config: &SynthConfig, check: impl Fn(&Place, &Lake, &Truth)) {
    let place = Place::new();
    let truth = write_trace(config, &place.path("trace"), &|_| ()).unwrap();
    place.ingest(&["--max-rejects", "50%", "--buckets", "3"]).ok();
    check(&place, &place.lake(), &truth);
}

fn configs() -> Vec<SynthConfig> {
    let small = SynthConfig { job_count: 300, days: 0.5, part_count: 4, ..SynthConfig::default() };
    vec![
        SynthConfig { seed: 1, ..small.clone() },
        SynthConfig { seed: 2, dirty: Dirty::Dirty, ..small.clone() },
        SynthConfig { seed: 3, job_count: 40, days: 0.05, part_count: 1, ..small.clone() },
        SynthConfig { seed: 4, job_count: 700, with_usage: false, part_count: 9, ..small.clone() },
        SynthConfig { seed: 5, job_count: 500, days: 2.0, dirty: Dirty::Dirty, ..small.clone() },
        SynthConfig { seed: 6, form: Form::Google2019, ..small },
    ]
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn the_analysis_finds_what_was_planted() {
    for config in configs() {
        with_trace(&config, |place, lake, truth| {
            check_rows(lake, truth);
            check_left_out(lake, truth);
            check_classes(place, truth);
            check_census(lake, truth);
            check_ledgers(lake, truth);
            check_sweep(lake, truth);
            check_account(place, truth);
            check_sweep_command(place, truth);
            check_describe(place, truth);
        });
    }
}

fn check_rows(lake: &Lake, truth: &Truth) {
    let rows: Counts =
        lake.manifest.tables.iter().map(|(name, entry)| (name.clone(), entry.rows())).collect();
    let planted: Counts = truth
        .rows
        .iter()
        .filter(|(name, _)| lake.manifest.tables.contains_key(*name))
        .map(|(name, count)| (name.clone(), *count))
        .collect();
    assert_eq!(rows, planted, "rows, seed {}", truth.config.seed);
    let mut rejects: BTreeMap<String, Counts> = BTreeMap::new();
    for (name, entry) in &lake.manifest.tables {
        for (reason, count) in entry.parts.iter().flat_map(|part| &part.rejects) {
            *rejects.entry(name.clone()).or_default().entry(reason.clone()).or_default() += count;
        }
    }
    assert_eq!(rejects, truth.rejects, "rejects, seed {}", truth.config.seed);
    assert_eq!(rejects.is_empty(), truth.config.dirty == Dirty::Clean);
}

/// Data that v2.1 cannot hold is counted, and no line is lost.
fn check_left_out(lake: &Lake, truth: &Truth) {
    assert_eq!(truth.left_out.is_empty(), truth.config.form == Form::Google2011);
    for (table, planted) in &truth.left_out {
        let table: Table = table.parse().unwrap();
        let count = |begin: &str| -> u64 {
            let remarks = lake.remarks(table);
            remarks
                .iter()
                .filter(|(text, _)| text.starts_with(begin))
                .map(|(_, count)| *count)
                .sum()
        };
        let planted = |what: &str| planted.get(what).copied().unwrap_or(0);
        assert_eq!(count("of an alloc set"), planted("alloc sets"), "{table}");
        assert_eq!(count("QUEUE or ENABLE"), planted("queue and enable"), "{table}");
        let lines: u64 =
            lake.manifest.tables[table.name()].parts.iter().map(|part| part.lines).sum();
        let rows = lake.manifest.tables[table.name()].rows();
        assert_eq!(lines, rows + planted("alloc sets") + planted("queue and enable"), "{table}");
        assert!(0 < planted("alloc sets"), "{table}");
    }
}

/// Counts without zeros: one side lists every outcome, the other only those that occur.
fn occurring(counts: &Counts) -> Counts {
    counts
        .iter()
        .filter(|(_, count)| 0 < **count)
        .map(|(name, count)| (name.clone(), *count))
        .collect()
}

fn check_classes(place: &Place, truth: &Truth) {
    for (by, sequences, outcomes) in [
        ("job", &truth.job_sequences, &truth.job_outcomes),
        ("task", &truth.task_sequences, &truth.task_outcomes),
    ] {
        for (classes, planted) in
            [("sequence", &outcomes.sequence), ("terminal", &outcomes.terminal)]
        {
            let args = ["classify", "--by", by, "--classes", classes, "--format", "json"];
            let answer = place.run(&args).ok().json();
            let by_sql = place.run(&[&args[..], &["--engine", "polars"]].concat()).ok().json();
            assert_eq!(answer["rows"], by_sql["rows"], "the engines agree, {by} {classes}");
            assert_eq!(answer["sequences"], by_sql["sequences"], "{by} {classes}");
            let mut rows = Counts::new();
            for row in answer["rows"].as_array().unwrap() {
                rows.insert(
                    row["outcome"].as_str().unwrap().to_owned(),
                    row["count"].as_u64().unwrap(),
                );
            }
            assert_eq!(occurring(&rows), occurring(planted), "{by} {classes}");
            let mut found = Counts::new();
            for row in answer["sequences"].as_array().unwrap() {
                let sequence = row["sequence"].as_str().unwrap().to_owned();
                *found.entry(sequence).or_default() += row["count"].as_u64().unwrap();
            }
            assert_eq!(&found, sequences, "{by} {classes}");
            let total: u64 = sequences.values().sum();
            assert_eq!(answer["total"], total);
        }
    }
}

fn check_census(lake: &Lake, truth: &Truth) {
    let census = census(lake).unwrap();
    let count = |table: Table, what: &str| {
        census.tables.get(&table).and_then(|counts| counts.get(what)).copied().unwrap_or(0)
    };
    let quality = &truth.quality;
    let (jobs, tasks, usage) = (Table::JobEvents, Table::TaskEvents, Table::TaskUsage);
    for (table, what, planted) in [
        (jobs, "jobs", truth.jobs),
        (jobs, "distinct user", truth.users),
        (jobs, "distinct job_name", truth.job_names),
        (jobs, "distinct logical_job_name", truth.logical_names),
        (jobs, "rows at time 0", quality.job_rows_at_zero),
        (tasks, "jobs", truth.jobs_in_task_events),
        (tasks, "entities", truth.tasks),
        (tasks, "rows at time 0", quality.task_rows_at_zero),
        (usage, "windows without a task", quality.usage_without_task),
        (usage, "windows that overlap an earlier one", truth.cpu_counts.overlapping_windows),
        (usage, "nulls in mean_cpu_rate", truth.cpu_counts.windows_without_rate),
        (usage, "rows", truth.cpu_counts.windows),
        (Table::MachineEvents, "machines", truth.machines.machines),
        (Table::MachineEvents, "nulls in cpu_capacity", truth.machines.rows_without_capacity),
    ] {
        assert_eq!(count(table, what), planted, "{table}: {what}, seed {}", truth.config.seed);
    }
    for (table, codes) in [(jobs, &quality.job_missing_info), (tasks, &quality.task_missing_info)] {
        for (code, &planted) in codes {
            assert_eq!(count(table, &format!("missing_info {code}")), planted, "{table}: {code}");
        }
    }
    for (table, types) in [(jobs, &truth.job_event_types), (tasks, &truth.task_event_types)] {
        for (name, &planted) in types {
            assert_eq!(
                count(table, &format!("event_type {}", number_of(name))),
                planted,
                "{table}: {name}"
            );
        }
    }
    for (table, illegal) in
        [(jobs, &quality.illegal_job_transitions), (tasks, &quality.illegal_task_transitions)]
    {
        let found: Counts = census.tables[&table]
            .iter()
            .filter_map(|(what, &count)| Some((what.strip_prefix("illegal: ")?.to_owned(), count)))
            // The census also counts updates of tasks that neither run nor wait; the truth does
            // not.
            .filter(|(what, _)| !what.starts_with("UPDATE_"))
            .collect();
        assert_eq!(found, *illegal, "{table}, seed {}", truth.config.seed);
    }
    for table in Table::ALL.into_iter().filter(|&table| lake.has(table)) {
        let planted = quality.duplicate_rows.get(table.name()).copied().unwrap_or(0);
        assert_eq!(count(table, "exact duplicates"), planted, "{table}: duplicates");
    }
    // The census counts them by table, the truth in total.
    let (of_tasks, of_usage) =
        (count(tasks, "machines never announced"), count(usage, "machines never announced"));
    let planted = quality.machines_never_announced.machines;
    assert!((of_tasks.max(of_usage)..=of_tasks + of_usage).contains(&planted), "unannounced");
}

fn number_of(event: &str) -> usize {
    const NAMES: [&str; 9] = [
        "SUBMIT",
        "SCHEDULE",
        "EVICT",
        "FAIL",
        "FINISH",
        "KILL",
        "LOST",
        "UPDATE_PENDING",
        "UPDATE_RUNNING",
    ];
    NAMES.iter().position(|name| *name == event).unwrap_or_else(|| panic!("`{event}`"))
}

fn run(lake: &Lake, query: &str) -> arrow::record_batch::RecordBatch {
    let thresholds = thresholds().iter().map(|&threshold| i64::from(threshold)).collect();
    let settings = Settings::new(Windows::of(lake), thresholds);
    Query::find(query).unwrap().run(lake, &settings).unwrap()
}

/// The outcome of each job by `sequence`.
fn outcomes(lake: &Lake) -> BTreeMap<i64, String> {
    let jobs = run(lake, "q01");
    let names = texts(&jobs, "outcome_sequence").into_iter().map(str::to_owned);
    ints(&jobs, "job_id").iter().copied().zip(names).collect()
}

#[track_caller]
fn assert_near(found: f64, planted: f64, what: &str) {
    let is_near = (found - planted).abs() <= 1e-12 * planted.abs().max(1.0);
    assert!(is_near, "{what}: found {found}, planted {planted}");
}

/// Sums a column of a fact by the outcome of the job.
fn by_outcome(
    lake_outcomes: &BTreeMap<i64, String>,
    facts: &arrow::record_batch::RecordBatch,
    column: &str,
) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for (job, cpu) in ints(facts, "job_id").iter().zip(floats(facts, column)) {
        let outcome = lake_outcomes.get(job).map_or("unmatched", String::as_str);
        *sums.entry(outcome.to_owned()).or_default() += cpu;
    }
    sums
}

fn check_ledgers(lake: &Lake, truth: &Truth) {
    let outcomes = outcomes(lake);
    let held = run(lake, "q05");
    let mut ledgers = vec![
        ("slots", by_outcome(&outcomes, &held, "slots_s")),
        ("requested", by_outcome(&outcomes, &held, "requested_s")),
    ];
    assert_eq!(
        run(lake, "q03").num_rows() as u64,
        truth.cpu_counts.schedules,
        "one attempt per SCHEDULE"
    );
    let without: i64 = ints(&held, "attempts_without_request").iter().sum();
    assert_eq!(u64::try_from(without).unwrap(), truth.cpu_counts.schedules_without_request);
    if lake.has(Table::TaskUsage) {
        let measured = run(lake, "q07");
        let outside: f64 = floats(&measured, "outside_s").iter().sum();
        assert_near(outside, truth.cpu["measured"].outside_attempts, "outside attempts");
        ledgers.push(("measured", by_outcome(&outcomes, &measured, "measured_s")));
        let overlapping: i64 = ints(&measured, "windows_overlapping").iter().sum();
        assert_eq!(u64::try_from(overlapping).unwrap(), truth.cpu_counts.overlapping_windows);
    }
    for (cpu, ledger) in ledgers {
        let planted = &truth.cpu[cpu];
        for (outcome, &sum) in &planted.sequence {
            let found = ledger.get(outcome).copied().unwrap_or(0.0);
            assert_near(found, sum, &format!("{cpu} of {outcome}, seed {}", truth.config.seed));
        }
        let found = ledger.get("unmatched").copied().unwrap_or(0.0);
        assert_near(found, planted.unmatched, &format!("{cpu} of unmatched jobs"));
    }
}

fn check_sweep(lake: &Lake, truth: &Truth) {
    let outcomes = outcomes(lake);
    let held = run(lake, "q09");
    let measured = lake.has(Table::TaskUsage).then(|| run(lake, "q12"));
    for planted in &truth.sweep {
        let of_threshold = |facts: &arrow::record_batch::RecordBatch| {
            let keep: arrow::array::BooleanArray = ints(facts, "threshold")
                .iter()
                .map(|&threshold| Some(threshold == i64::from(planted.threshold)))
                .collect();
            arrow::compute::filter_record_batch(facts, &keep).unwrap()
        };
        let facts = of_threshold(&held);
        let mut condemned = Counts::new();
        let mut harmed: Vec<u64> = Vec::new();
        for job in ints(&facts, "job_id") {
            let outcome = outcomes.get(job).map_or("unmatched", String::as_str);
            *condemned.entry(outcome.to_owned()).or_default() += 1;
            if outcome == "finished" {
                harmed.push(u64::try_from(*job).unwrap());
            }
        }
        harmed.dedup();
        let what = format!("T = {}, seed {}", planted.threshold, truth.config.seed);
        condemned.remove("unmatched");
        let mut expected = occurring(&planted.condemned_tasks);
        expected.remove("unmatched");
        assert_eq!(condemned, expected, "{what}");
        assert_eq!(harmed, planted.harmed_job_ids, "{what}");
        let mut saved = vec![
            ("slots", by_outcome(&outcomes, &facts, "saved_slots_s")),
            ("requested", by_outcome(&outcomes, &facts, "saved_requested_s")),
        ];
        if let Some(measured) = &measured {
            let facts = of_threshold(measured);
            saved.push(("measured", by_outcome(&outcomes, &facts, "saved_measured_s")));
        }
        for (cpu, found) in saved {
            for (outcome, &sum) in &planted.cpu[cpu].saved_cpu {
                let found = found.get(outcome).copied().unwrap_or(0.0);
                assert_near(found, sum, &format!("saved {cpu} of {outcome}, {what}"));
            }
        }
    }
}

fn definitions(truth: &Truth) -> Vec<&'static str> {
    let usage = if truth.config.with_usage { &["measured"][..] } else { &[] };
    [&["slots", "requested"], usage].concat()
}

fn check_account(place: &Place, truth: &Truth) {
    for cpu in definitions(truth) {
        let planted = &truth.cpu[cpu];
        for (classes, outcomes) in
            [("sequence", &planted.sequence), ("terminal", &planted.terminal)]
        {
            let args = ["account", "--cpu", cpu, "--classes", classes, "--format", "json"];
            let ledger = place.run(&args).ok().json();
            let what = format!("{cpu} {classes}, seed {}", truth.config.seed);
            for row in ledger["rows"].as_array().unwrap() {
                let outcome = row["outcome"].as_str().unwrap();
                let sum = outcomes.get(outcome).copied().unwrap_or(0.0);
                assert_near(row["cpu"].as_f64().unwrap(), sum, &format!("{outcome}, {what}"));
            }
            for (name, sum) in [
                ("unmatched", planted.unmatched),
                ("outside_attempts", planted.outside_attempts),
                ("total", planted.total),
            ] {
                assert_near(ledger[name].as_f64().unwrap(), sum, &format!("{name}, {what}"));
            }
        }
    }
}

fn check_sweep_command(place: &Place, truth: &Truth) {
    let grid: Vec<String> = truth.sweep.iter().map(|row| row.threshold.to_string()).collect();
    let grid = grid.join(",");
    for cpu in definitions(truth) {
        let args = ["sweep", "--cpu", cpu, "--thresholds", &grid, "--format", "json"];
        let sweep = place.run(&args).ok().json();
        for (row, planted) in sweep["rows"].as_array().unwrap().iter().zip(&truth.sweep) {
            let what = format!("{cpu}, T = {}, seed {}", planted.threshold, truth.config.seed);
            let spent = &planted.cpu[cpu];
            assert_eq!(row["threshold"], planted.threshold);
            for (outcome, &count) in &planted.condemned_tasks {
                assert_eq!(row["condemned_tasks"][outcome], count, "condemned {outcome}, {what}");
            }
            for (outcome, &saved) in &spent.saved_cpu {
                let found = row["saved_cpu"][outcome].as_f64().unwrap();
                assert_near(found, saved, &format!("saved of {outcome}, {what}"));
            }
            assert_eq!(row["harmed_jobs"], planted.harmed_jobs, "{what}");
            for (name, sum) in
                [("destroyed_cpu", spent.destroyed_cpu), ("harmed_jobs_cpu", spent.harmed_jobs_cpu)]
            {
                assert_near(row[name].as_f64().unwrap(), sum, &format!("{name}, {what}"));
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "times and counts are below 2^53")]
fn check_describe(place: &Place, truth: &Truth) {
    let describe = |what: &str| {
        let rows = place.run(&["describe", "--what", what, "--format", "json"]).ok().json();
        rows["rows"].as_array().unwrap().clone()
    };
    for row in describe("job-durations") {
        let outcome = row["outcome"].as_str().unwrap();
        let Some(planted) = truth.durations.get(outcome) else {
            assert_eq!(row["count"], 0, "{outcome}");
            continue;
        };
        let what = format!("durations of {outcome}, seed {}", truth.config.seed);
        assert_eq!(row["count"], planted.count, "{what}");
        assert_eq!(row["censored"], planted.count - planted.ended_count, "{what}");
        if planted.count == 0 {
            continue;
        }
        let seconds = |micros: i64| micros as f64 / 1e6;
        for (name, expected) in [
            ("mean", seconds(planted.sum_us) / planted.count as f64),
            ("min", seconds(planted.min_us)),
            ("median", planted.median_us / 1e6),
            ("max", seconds(planted.max_us)),
            ("variance", planted.variance_s2),
        ] {
            assert_near(row[name].as_f64().unwrap(), expected, &format!("{name} of {what}"));
        }
    }
    for (what, planted) in [
        ("tasks-per-job", &truth.tasks_per_job),
        ("events-per-task", &truth.events_per_task),
        ("attempts", &truth.attempts_per_task),
    ] {
        let rows = describe(what);
        let all = rows.iter().find(|row| row["outcome"] == "all").unwrap();
        assert_eq!(all["count"], planted.count, "{what}, seed {}", truth.config.seed);
        assert_eq!(all["max"].as_f64(), Some(planted.max as f64), "{what}");
        assert_near(all["mean"].as_f64().unwrap(), planted.sum as f64 / planted.count as f64, what);
    }
}

/// The truth must not be empty: a trace without oddities would pass every check.
#[test]
fn the_planted_traces_have_what_is_compared() {
    let config = SynthConfig { dirty: Dirty::Dirty, ..configs()[4].clone() };
    with_trace(&config, |_, _, truth| {
        assert!(0 < truth.cpu_counts.overlapping_windows && 0 < truth.quality.usage_without_task);
        assert!(truth.rejects.values().flat_map(BTreeMap::keys).count() >= 10);
        assert!(truth.sweep.iter().any(|row| 0 < row.harmed_jobs));
        assert!(!truth.quality.illegal_task_transitions.is_empty());
        assert!(truth.task_sequences.keys().any(|sequence| 256 < sequence.len()));
    });
}

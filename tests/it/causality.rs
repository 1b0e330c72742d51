//! Values of `fairness` do not depend on later events: random traces are cut at a time, and the
//! rest gives the same values up to that time, for every built-in or custom index. Predictions at
//! an age use the events until then, for any order of lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use jobfate::prelude::BuiltInIndex;
use proptest::prelude::*;

use super::support::{Place, repository, skipped};

const HOUR_US: i64 = 3_600_000_000;

/// The start of the random traces, µs.
const BEGIN_US: i64 = 600_000_000;

/// How an attempt ends: evicted (and submitted again), failed, finished, killed, lost, never.
const ENDS: [i32; 6] = [2, 3, 4, 5, 6, -1];

/// A task: submitted at (minutes), its attempts as (wait, run, end), and whether it waits to the
/// end.
type DrawnTask = (u16, Vec<(u16, u16, usize)>, bool);

/// A job: user, request in quarters of a machine, tasks.
type DrawnJob = (u8, u8, Vec<DrawnTask>);

fn jobs() -> impl Strategy<Value = Vec<DrawnJob>> {
    let attempt = (0..200_u16, 0..400_u16, 0..ENDS.len());
    let task = (0..900_u16, prop::collection::vec(attempt, 0..3), any::<bool>());
    prop::collection::vec((0..6_u8, 1..5_u8, prop::collection::vec(task, 1..4)), 2..9)
}

/// Rows of `job_events` and `task_events` as (time, text).
type Rows = Vec<(i64, String)>;

fn rows(jobs: &[DrawnJob]) -> [Rows; 2] {
    let (mut of_jobs, mut of_tasks) = (Rows::new(), Rows::new());
    for (job, (user, request, tasks)) in (1..).zip(jobs) {
        let at = |minutes: u16| BEGIN_US + i64::from(minutes) * 60_000_000;
        let first = tasks.iter().map(|task| at(task.0)).min().unwrap();
        of_jobs.push((first, format!("{first},,{job},0,u{user},0,name,logical\n")));
        for (index, (submit, attempts, waits)) in (0..).zip(tasks) {
            let mut now = at(*submit);
            let mut put = |time: i64, kind: i32| {
                let machine = if kind == 0 { String::new() } else { format!("{}", 1 + job % 2) };
                let cpu = f64::from(*request) / 4.0;
                let row = format!(
                    "{time},,{job},{index},{machine},{kind},u{user},0,1,{cpu},{cpu},0.01,0\n"
                );
                of_tasks.push((time, row));
            };
            put(now, 0);
            let mut is_over = false;
            for (place, (wait, run, end)) in attempts.iter().enumerate() {
                now += i64::from(*wait) * 61_000_000;
                put(now, 1);
                now += i64::from(*run) * 59_000_000 + 1;
                is_over = ENDS[*end] < 0;
                if is_over {
                    break;
                }
                put(now, ENDS[*end]);
                if place + 1 < attempts.len() || *waits {
                    put(now, 0);
                }
            }
            // A wait that ends in a kill.
            if !is_over && *waits && index == 1 {
                put(now + 7_000_000_000, 5);
            }
        }
    }
    of_jobs.sort();
    of_tasks.sort_by_key(|row| row.0);
    [of_jobs, of_tasks]
}

/// A lake of the rows before a time.
fn lake(name: &str, place: &Place, [of_jobs, of_tasks]: &[Rows; 2], until_us: i64) {
    let text = |rows: &Rows| -> String {
        rows.iter().filter(|row| row.0 < until_us).map(|row| row.1.as_str()).collect()
    };
    let machines = "0,1,0,fast,1,1\n0,2,0,slow,0.5,0.5\n";
    for (table, text) in [
        ("job_events", text(of_jobs)),
        ("task_events", text(of_tasks)),
        ("machine_events", machines.to_owned()),
    ] {
        let folder = place.path(&format!("{name}-trace")).join(table);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("part-00000-of-00001.csv"), text).unwrap();
    }
    place.run(&["ingest", &format!("{name}-trace"), "--lake", name]).ok();
}

/// Built-in indices with parameters; every index is also tested with its defaults.
const VARIANTS: [&str; 8] = [
    "metered:charges=factors.txt",
    "condor:factors=factors.txt",
    "slurm:half_life_s=0",
    "fair-tree:half_life_s=0",
    "fair-tree:half_life_s=0,reading=manual",
    "gini:among=all",
    "cv:among=all",
    "drf:window_s=7200",
];

const FORMULA: &str = "state x = entitled + users\nupdate x = x / 2 + usage + ran + all(waiting)\n\
    display x\ndisplay users\ndisplay k + t + capacity + entitled\ndisplay sum(cpu * charge * factor)\n";

/// Answers with the numbers of users, machines and records that it has received.
const PROGRAM: &str = r#"tab=$(printf '\t'); users=0; machines=0; lines=0
while IFS="$tab" read -r word rest; do lines=$((lines + 1)); case $word in
    begin) printf 'columns\tusers\tmachines\tlines\n' ;;
    user) users=$((users + 1)) ;;
    machine) machines=$((machines + 1)) ;;
    done) at=0; while [ $at -lt $users ]; do
            printf 'value\t%s\t%s\t%s\t%s\n' $at $((users * 100 + at)) $machines $lines
            at=$((at + 1)); done
          echo done ;;
esac; done"#;

fn write_files(place: &Place) {
    fs::write(place.path("own.formula"), FORMULA).unwrap();
    fs::write(place.path("own.sh"), PROGRAM).unwrap();
    fs::write(
        place.path("factors.txt"),
        "platform fast 3\nuser u1 2\nuser u2 on platform slow 5\n",
    )
    .unwrap();
    let accounts = "A 2\nA/u0 1\nA/T parent\nA/T/u1 3\nA/T/u2 1\nu3 4\nB 1\nB/never 1\n";
    fs::write(place.path("accounts.txt"), accounts).unwrap();
    let budget = "name = \"budget\"\ntemplate = \"budget\"\n[parameters]\nperiod_s = 20000\n";
    fs::write(place.path("budget.toml"), budget).unwrap();
}

/// Values by index, end, user and column, up to a time.
fn values(place: &Place, lake: &str, until_s: f64, more: &[&str]) -> BTreeMap<[String; 4], String> {
    let mut args = vec!["fairness", "--lake", lake, "--show", "series", "--format", "csv"];
    for index in BuiltInIndex::ALL.map(BuiltInIndex::name).into_iter().chain(VARIANTS) {
        args.extend(["--index", index]);
    }
    args.extend(["--formula", "own=own.formula", "--index-file", "budget.toml"]);
    args.extend(["--index-program", "program=sh own.sh"]);
    args.extend(more);
    let run = place.run(&args).ok();
    let mut all = BTreeMap::new();
    for row in csv::Reader::from_reader(run.stdout_text().as_bytes()).records() {
        let row = row.unwrap();
        if row[1].parse::<f64>().unwrap() <= until_s {
            let key = [0, 1, 2, 3].map(|at| row[at].to_owned());
            assert!(all.insert(key, row[4].to_owned()).is_none(), "{row:?} is there once");
        }
    }
    all
}

fn first_difference(
    full: &BTreeMap<[String; 4], String>,
    part: &BTreeMap<[String; 4], String>,
) -> String {
    let mut text = String::new();
    for (key, value) in full {
        if part.get(key) != Some(value) {
            write!(text, "{key:?}: {value} with all, {:?} when cut", part.get(key)).unwrap();
            break;
        }
    }
    for key in part.keys().filter(|key| !full.contains_key(*key)).take(1) {
        write!(text, "; {key:?} only when cut").unwrap();
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn cutting_a_log_changes_no_value_before_the_cut(jobs in jobs(), hours in 1..20_i64) {
        let place = Place::new();
        write_files(&place);
        let rows = rows(&jobs);
        let first = rows[1].iter().map(|row| row.0).min().unwrap();
        // The cut is a whole number of intervals after the start.
        let origin = first.div_euclid(HOUR_US) * HOUR_US;
        let cut = origin + hours * HOUR_US;
        lake("full", &place, &rows, i64::MAX);
        lake("cut", &place, &rows, cut);
        let until_s = f64::from(i32::try_from(hours * 3600).unwrap());
        let cut_s = (cut / 1_000_000).to_string();
        // The end of the window is later than all events.
        let end_s = (cut / 1_000_000 + 1_000_000).to_string();
        for more in [
            &["--cpu", "requested", "--accrual", "end"][..],
            &["--cpu", "slots", "--accrual", "running"],
            &["--cpu", "requested", "--accrual", "running", "--accounts", "accounts.txt"],
        ] {
            let full = values(&place, "full", until_s, &[more, &["--window-end", &end_s]].concat());
            let part = values(&place, "cut", until_s, &[more, &["--window-end", &cut_s]].concat());
            prop_assert!(full == part, "{more:?}: {}", first_difference(&full, &part));
            prop_assert!(!full.is_empty());
        }
        // The first hours of the whole log equal the log that ends there.
        let days = (until_s / 86_400.0).to_string();
        let answer = |lake: &str, end_s: &str| {
            let args = ["fairness", "--lake", lake, "--cpu", "slots", "--accrual", "running"];
            let more = ["--what-if", "--days", &days, "--window-end", end_s, "--format", "json"];
            let args = [&args[..], &more].concat();
            let mut answer = place.run(&args).ok().json();
            // These keys also count attempts after the span, or name the lakes.
            for key in ["counts", "clusters", "machines", "analysis", "inputs", "command", "settings"] {
                answer.as_object_mut().unwrap().remove(key);
            }
            let text = answer.to_string();
            text.replace(&format!("\"{lake}\""), "\"lake\"")
        };
        prop_assert_eq!(answer("full", &end_s), answer("cut", &cut_s));
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
fn a_week_of_a_log_is_a_week_of_a_month_of_it() {
    let path = repository().join("../shared/data/swf/LCG.swf.gz");
    if !path.is_file() {
        skipped("there is no `../shared/data/swf/LCG.swf.gz`");
        return;
    }
    let place = Place::new();
    place.run(&["ingest", path.to_str().unwrap(), "--lake", "lake"]).ok();
    fs::write(place.path("own.formula"), FORMULA).unwrap();
    let series = |days: &str| {
        let mut args = vec!["fairness", "--show", "series", "--format", "csv", "--days", days];
        for index in ["condor", "slurm", "fair-tree", "sge", "jain:among=all", "max-min"] {
            args.extend(["--index", index]);
        }
        args.extend(["--formula", "own=own.formula"]);
        let run = place.run(&args).ok();
        let rows = run.stdout_text().lines().skip(1).map(str::to_owned);
        // Index, end, user and column, then the value.
        let pair = |row: String| {
            row.rsplit_once(',').map(|(key, value)| (key.to_owned(), value.to_owned()))
        };
        rows.filter_map(pair).collect::<BTreeMap<String, String>>()
    };
    let (short, long) = (series("7"), series("30"));
    let end = 7.0 * 86_400.0;
    let until: Vec<_> = long
        .iter()
        .filter(|(key, _)| key.split(',').nth(1).unwrap().parse::<f64>().unwrap() <= end)
        .collect();
    assert_eq!(short.len(), until.len());
    let same = until.iter().filter(|(key, value)| short.get(*key) == Some(value)).count();
    assert_eq!(same, short.len(), "values of the first days");
    assert!(100_000 < same, "{same}");
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 12, ..Default::default() })]

    /// Promise: a prediction at an age uses all ends by that instant, for any order of the lines of
    /// the log.
    #[test]
    fn a_prediction_at_an_age_does_not_depend_on_the_order_of_lines(
        jobs in prop::collection::vec((0..4_u8, 1..7_u8, 0..2_u8, 0..2_u8), 3..12),
        by in 1..12_usize,
    ) {
        let lines: Vec<String> = (1..)
            .zip(&jobs)
            .map(|(job, (submit, run, status, user))| {
                let (submit, run) = (10 * u32::from(*submit), 10 * u32::from(*run));
                format!("{job} {submit} 0 {run} 1 -1 -1 1 -1 -1 {status} {user} 1 1 1 1 -1 -1 -1\n")
            })
            .collect();
        let mut turned = lines.clone();
        turned.rotate_left(by % lines.len());
        turned.reverse();
        let place = Place::new();
        let predict = |name: &str, lines: &[String]| {
            let log = format!("; MaxProcs: 9\n{}", lines.concat());
            fs::write(place.path(name), log).unwrap();
            let lake = format!("{name}-lake");
            place.run(&["ingest", name, "--source", "swf", "--lake", &lake, "--quiet"]).ok();
            let rules = ["--rules", "overall", "--age", "20s", "--format", "csv"];
            place.run(&[&["predict", "--lake", &lake], &rules[..]].concat()).ok().stdout_text().to_owned()
        };
        prop_assert_eq!(predict("one.swf", &lines), predict("other.swf", &turned));
    }
}

/// How often `last` is right: predicted and actual ends of all jobs with a loaded SUBMIT, in the
/// order of the rows. A job is its user, whether its SUBMIT is loaded, and its end.
fn last_ends(jobs: &[(u8, bool, u32)], order: &[(usize, bool)]) -> [u64; 4] {
    let (mut last, mut asked) = (BTreeMap::new(), BTreeMap::new());
    for &(job, is_end) in order {
        let (user, _, end) = jobs[job];
        if is_end {
            last.insert(user, end != 4);
        } else {
            asked.insert(job, last.get(&user).copied().unwrap_or(false));
        }
    }
    // Jobs, true positives, false positives, false negatives.
    let mut found = [0; 4];
    for (job, is_predicted) in asked {
        let is_lost = jobs[job].2 != 4;
        found[0] += 1;
        found[1] += u64::from(is_predicted && is_lost);
        found[2] += u64::from(is_predicted && !is_lost);
        found[3] += u64::from(!is_predicted && is_lost);
    }
    found
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 12, ..Default::default() })]

    /// Promise: a job is predicted from the jobs that had ended by its submission. A job without a
    /// loaded submission is not counted. Neither depends on how the lake is cut into buckets.
    /// (Earlier, the end of a job without other rows was learned before the job was predicted, in
    /// an order that depended on the buckets.)
    #[test]
    fn no_job_is_predicted_from_its_own_end(
        jobs in prop::collection::vec((0..4_u8, any::<bool>(), 3..6_u32), 20..60),
        seed in any::<u64>(),
    ) {
        let mut steps: Vec<(u64, usize, bool)> = Vec::new();
        for (job, (_, is_loaded, _)) in jobs.iter().enumerate() {
            let time = |salt: u64| (seed ^ (job as u64 * 7 + salt)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            let (one, other) = (time(1), time(2));
            steps.push((one.max(other), job, true));
            if *is_loaded {
                steps.push((one.min(other), job, false));
            }
        }
        steps.sort_unstable();
        let order: Vec<(usize, bool)> = steps.iter().map(|step| (step.1, step.2)).collect();
        let lines = (1_000..).zip(&order).map(|(second, &(job, is_end))| {
            let (user, _, end) = jobs[job];
            let event = if is_end { end } else { 0 };
            format!("{second}000000,,{},{event},u{user},0,n,n\n", job + 1)
        });
        let place = Place::new();
        place.raw("job_events/part-00003-of-00500.csv", lines.collect::<String>());
        let expected = last_ends(&jobs, &order);
        for buckets in ["1", "5"] {
            let lake = format!("lake-{buckets}");
            place.run(&["ingest", "trace", "--lake", &lake, "--buckets", buckets, "--quiet"]).ok();
            let json = place.run(&["predict", "--lake", &lake, "--rules", "last", "--format", "json"]).ok().json();
            let score = &json["rules"][0];
            let found = ["jobs", "true_positives", "false_positives", "false_negatives"].map(|name| score[name].as_u64().unwrap());
            prop_assert_eq!(found, expected, "{} buckets: {}", buckets, score);
        }
    }

    /// Promise: jobs with all tasks in the same state have the same chance, so they are ties: their
    /// AUC is one half, for any number of tasks. (Earlier, a mean of equal numbers was rounded.)
    #[test]
    fn jobs_in_one_state_are_ties(past in 1..9_u32, lost in 0..9_u32, tasks in prop::collection::vec(1..50_u32, 2..30)) {
        let (mut of_jobs, mut of_tasks) = (Rows::new(), Rows::new());
        let mut add = |job: u32, [submit, end]: [i64; 2], kind: u32, tasks: u32| {
            for (time, event) in [(submit, 0), (submit, 1), (end, kind)] {
                of_jobs.push((time, format!("{time}000000,,{job},{event},u{job},0,n{job},n{job}\n")));
                for task in 0..tasks {
                    of_tasks.push((time, format!("{time}000000,,{job},{task},,{event},u{job},0,1,0.1,0.1,,\n")));
                }
            }
        };
        (1..=past).for_each(|job| add(job, [700, 710], 4, 1));
        (1..=lost).for_each(|job| add(10 + job, [700, 710], 5, 1));
        for (job, count) in (100..).zip(&tasks) {
            add(job, [1_000, 2_000], if job % 2 == 0 { 4 } else { 5 }, *count);
        }
        let text = |mut rows: Rows| {
            rows.sort_by_key(|row| row.0);
            rows.into_iter().map(|row| row.1).collect::<String>()
        };
        let place = Place::new();
        place.raw("job_events/part-00000-of-00500.csv", text(of_jobs));
        place.raw("task_events/part-00000-of-00500.csv", text(of_tasks));
        place.ingest(&["--quiet"]).ok();
        let args = ["predict", "--age", "60s", "--rules", "hazard-events", "--format", "json"];
        let json = place.run(&args).ok().json();
        prop_assert_eq!(&json["rules"][0]["auc"], 0.5, "{}", json["rules"][0]);
    }
}

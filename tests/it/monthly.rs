//! `monthly`: for random Slurm logs and the real one, the sums equal those of plain Python over
//! their text, in any zone. The months add up to the ledger. A log without dates is refused, and a
//! log without accounts shows users.

use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use super::engines::python;
use super::support::{Place, real_trace, repository, skipped};

/// Number of random logs.
const LOGS: u32 = 10;

/// Zones with summer time in both hemispheres, and with offsets of parts of an hour.
const ZONES: [&str; 4] = ["UTC", "America/New_York", "Australia/Sydney", "Asia/Kathmandu"];

const HEADER: &str = "JobID|Partition|Account|Group|User|Submit|Start|End|Elapsed|State|NCPUS|ReqCPUS|\
                      AllocTRES|Timelimit|NodeList\n";

/// The time some seconds after `2024-01-15T00:00:00`, as `sacct` writes it.
fn stamp(second: u64) -> String {
    let days_in = [31, 29, 31, 30, 31, 30, 31, 31];
    let (mut day, mut month) = (14 + second / 86_400, 0);
    while days_in[month] <= day {
        day -= days_in[month];
        month += 1;
    }
    let of_day = second % 86_400;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("2024-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}", month + 1, day + 1)
}

/// `D-HH:MM:SS`.
fn span(second: u64) -> String {
    let (days, of_day) = (second / 86_400, second % 86_400);
    format!("{days}-{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

/// A job: user, submit, wait, run time, state at the end, processors, GPUs and time limit.
fn job() -> impl Strategy<Value = String> {
    let who = (0_u8..4, 0_u8..3, prop::sample::select(vec!["short", "long"]));
    let when = (0_u64..80 * 86_400, 0_u64..100_000, prop_oneof![0_u64..7200, 0..45 * 86_400_u64]);
    let states =
        ["COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "CANCELLED by 7", "waited"];
    let what = (prop::sample::select(states.to_vec()), 1_u64..100, 0_u64..3, 60_u64..300_000);
    (who, when, what).prop_map(
        |((user, account, queue), (submit, wait, run), (state, cpus, gpus, limit))| {
            let who = format!("{queue}|a{account}|g|u{user}|{}", stamp(submit));
            if state == "waited" {
                let end = stamp(submit + wait);
                let times = format!("{end}|{end}|00:00:00|CANCELLED by 7");
                return format!("{who}|{times}|0|{cpus}||{}|None assigned\n", span(limit));
            }
            let (start, end) = (submit + wait, submit + wait + run.max(1));
            let times = format!("{}|{}|{}|{state}", stamp(start), stamp(end), span(run.max(1)));
            let gpu = if gpus == 0 { String::new() } else { format!(",gres/gpu={gpus}") };
            format!("{who}|{times}|{cpus}|{cpus}|cpu={cpus}{gpu}|{}|n{user}\n", span(limit))
        },
    )
}

/// The result of the Python check of a lake and its log.
fn crosscheck(place: &Place, lake: &str, log: &str, zone: &str) -> Option<(bool, String)> {
    let python = python("zoneinfo")?;
    let script = repository().join("tests/scripts/monthly_crosscheck.py");
    let args = [env!("CARGO_BIN_EXE_jobfate"), lake, log, zone];
    let run = Command::new(python).arg(script).args(args).current_dir(place.path(".")).output();
    let run = run.expect("Python is there");
    let said = [run.stdout, run.stderr].concat();
    Some((run.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// The totals of `monthly` and `account`, by each definition of CPU time.
fn totals(place: &Place) -> Vec<[Option<f64>; 2]> {
    let json = |args: &[&str]| place.run(&[args, &["--format", "json"]].concat()).ok().json();
    let of = |cpu: &&str| {
        [&["monthly", "--cpu", cpu][..], &["account", "--cpu", cpu]]
            .map(|args| json(args)["total"].as_f64())
    };
    ["requested", "slots"].iter().map(of).collect()
}

proptest! {
    #![proptest_config(Config { cases: LOGS, ..Config::default() })]

    #[test]
    fn months_are_those_of_the_text(
        jobs in prop::collection::vec(job(), 1..40),
        zone in prop::sample::select(ZONES.to_vec()),
    ) {
        let place = Place::new();
        let lines = (1..).zip(&jobs).map(|(id, job)| format!("{id}|{job}"));
        place.raw("log.sacct", HEADER.to_owned() + &lines.collect::<String>());
        place.run(&["ingest", "trace/log.sacct", "--source", "slurm", "--lake", "lake"]).ok();
        if let Some((is_same, said)) = crosscheck(&place, "lake", "trace/log.sacct", zone) {
            prop_assert!(is_same, "{}", said);
        }
        for [monthly, account] in totals(&place) {
            prop_assert_eq!(monthly, account);
        }
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "reads whole real traces")]
fn the_months_of_a_real_cluster_are_those_of_its_text() {
    let log = repository().join("../shared/data/slurm/pozidriv.sacct.gz");
    if !log.exists() {
        return skipped("there is no real log at `../shared/data/slurm/pozidriv.sacct.gz`");
    }
    let place = Place::new();
    place.run(&["ingest", &log.to_string_lossy(), "--lake", "lake"]).ok();
    for zone in ZONES {
        let checked = crosscheck(&place, "lake", &log.to_string_lossy(), zone);
        let Some((is_same, said)) = checked else { return };
        assert!(is_same, "{zone}: {said}");
    }
    let [monthly, account] = totals(&place)[0];
    assert_eq!((monthly, account), (Some(259_143_395.0), Some(259_143_395.0)));
}

#[test]
fn logs_with_dates_and_accounts_have_months_and_no_others() {
    let place = Place::new();
    let job = "1 0 0 10 4 -1 -1 4 -1 -1 1 1 7 -1 -1 -1 -1 -1\n";
    // 1 October 1993, 0:00:03 in Los Angeles.
    let head = "; UnixStartTime: 749458803\n; TimeZoneString: US/Pacific\n; MaxProcs: 4\n";
    place.raw("dated.swf", format!("{head}{job}"));
    place.raw("undated.swf", format!("; MaxProcs: 4\n{job}"));
    for name in ["dated", "undated"] {
        place.run(&["ingest", &format!("trace/{name}.swf"), "--lake", name]).ok();
    }
    let found = place.run(&["monthly", "--lake", "dated", "--format", "json"]).ok().json();
    let row = &found["rows"][0];
    assert_eq!((&row["month"], &row["account"]), (&"1993-10".into(), &"7".into()));
    assert_eq!((&found["zone"], found["total"].as_f64()), (&"US/Pacific".into(), Some(40.0)));
    let undated = place.run(&["monthly", "--lake", "undated"]);
    assert_eq!(undated.code, Some(2));
    assert!(
        undated.stderr.contains("does not record on which date it begins"),
        "{}",
        undated.stderr
    );
}

/// The end of the window is not part of it. A log that ends at midnight has no part of the next
/// month, and a month that begins before the log is covered in part.
#[test]
fn a_log_that_ends_with_a_month_has_nothing_of_the_next() {
    let place = Place::new();
    // From 4 October 1993 to midnight after the 31st, in UTC.
    let job = |number: u32, second: u32| {
        format!("{number} {second} 0 10 1 -1 -1 1 -1 -1 1 1 7 -1 -1 -1 -1 -1\n")
    };
    let jobs = job(1, 3 * 86_400) + &job(2, 31 * 86_400 - 10);
    place.raw("log.swf", format!("; UnixStartTime: 749433600\n; MaxProcs: 4\n{jobs}"));
    place.run(&["ingest", "trace/log.swf", "--lake", "lake"]).ok();
    let found = place.run(&["monthly", "--lake", "lake", "--format", "json"]).ok().json();
    let dates = [&found["from_date"], &found["to_date"]].map(|date| date.as_str().unwrap());
    assert_eq!(dates, ["1993-10-04", "1993-10-31"]);
    assert_eq!(found["months_in_part"], serde_json::json!(["1993-10"]));
}

#[test]
fn a_zone_that_is_not_known_is_said_and_a_begin_beyond_all_dates_is_none() {
    let place = Place::new();
    let job = "1 0 0 10 4 -1 -1 4 -1 -1 1 1 7 -1 -1 -1 -1 -1\n";
    let head = "; UnixStartTime: 749458803\n; TimeZoneString: Mars/Olympus\n; MaxProcs: 4\n";
    place.raw("zone.swf", format!("{head}{job}"));
    place.raw("far.swf", format!("; UnixStartTime: 9223372036854\n; MaxProcs: 4\n{job}"));
    for name in ["zone", "far"] {
        place.run(&["ingest", &format!("trace/{name}.swf"), "--lake", name]).ok();
    }
    let said = "the zone `Mars/Olympus` of the log is unknown: UTC is used";
    let run = place.run(&["monthly", "--lake", "zone"]).ok();
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let given = place.run(&["monthly", "--lake", "zone", "--timezone", "+01:00"]).ok();
    assert!(!given.stderr.contains("is not known"), "{}", given.stderr);
    let far = place.run(&["monthly", "--lake", "far"]);
    assert_eq!(far.code, Some(2));
    assert!(far.stderr.contains("does not record on which date it begins"), "{}", far.stderr);
}

#[test]
fn pictures_of_many_users_are_of_the_first_and_say_how_many() {
    let job = |user: u32| {
        let account = 1 + user % 2;
        format!("{user} 0 0 {user} 1 -1 -1 1 -1 -1 1 {user} {account} -1 -1 -1 -1 -1\n")
    };
    let drawn = |users: u32| {
        let place = Place::new();
        let jobs: String = (1..=users).map(job).collect();
        place.raw("log.swf", format!("; UnixStartTime: 749458803\n; MaxProcs: 4\n{jobs}"));
        place.run(&["ingest", "trace/log.swf", "--lake", "lake"]).ok();
        let out = ["--users", "100000", "--out", "found"];
        place.run(&[&["monthly"], &out[..]].concat()).ok();
        ["users", "use"].map(|name| {
            let picture = place.path(&format!("found/monthly-{name}.svg"));
            let svg = std::fs::read_to_string(picture).unwrap();
            // A caption continues in the next line of text.
            let texts = svg.split('<').filter_map(|piece| Some(piece.split_once('>')?.1.trim()));
            texts.filter(|text| !text.is_empty()).collect::<Vec<&str>>().join(" ")
        })
    };
    let [users, accounts] = drawn(3);
    assert!(users.contains("User 3 requested most, 50.0 % of all. The 3 users"), "{users}");
    // The log covers no whole month.
    assert!(users.contains("user 2") && accounts.contains("account 1"), "{users} {accounts}");
    assert!(!accounts.contains("1993-10 account 1"), "{accounts}");
    assert!(users.contains("The 3 users with most CPU time, of 3 in total"), "{users}");
    assert!(accounts.contains("The 2 accounts with most CPU time, of 2 in total"), "{accounts}");
    let [users, _] = drawn(3000);
    assert!(users.contains("The 24 users with most CPU time, of 3,000 in total"), "{users}");
}

#[test]
fn the_check_sees_gpus_that_are_left_out() {
    let place = Place::new();
    let job = |gpu: &str| {
        let times = "2024-01-31T23:00:00|2024-01-31T23:00:00|2024-02-01T01:00:00|02:00:00";
        format!("{HEADER}1|q|a|g|u|{times}|FAILED|4|4|cpu=4{gpu}|1-00:00:00|n1\n")
    };
    place.raw("without.sacct", job(""));
    place.raw("with.sacct", job(",gres/gpu=2"));
    place.run(&["ingest", "trace/without.sacct", "--source", "slurm", "--lake", "lake"]).ok();
    let of = |log: &str| crosscheck(&place, "lake", log, "UTC");
    let Some((is_same, said)) = of("trace/without.sacct") else { return };
    assert!(is_same, "{said}");
    let (is_same, said) = of("trace/with.sacct").expect("Python is there");
    assert!(!is_same && said.contains("late_gpu_h"), "{said}");
}

/// Promise: in a log without accounts, the namespaces of Kubernetes are used instead; pods that run
/// past the end of a month are split.
#[test]
fn namespaces_take_the_place_of_accounts() {
    let place = Place::new();
    let pod = |name: &str, namespace: &str, cpu: u32, [start, end]: [&str; 2]| {
        json!({"kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "creationTimestamp": start},
            "spec": {"nodeName": "n", "containers": [{"resources": {"requests":
                {"cpu": format!("{cpu}"), "nvidia.com/gpu": "1"}}}]},
            "status": {"phase": "Succeeded", "startTime": start, "containerStatuses": [
                {"restartCount": 0, "state": {"terminated": {"exitCode": 0,
                    "startedAt": start, "finishedAt": end}}}]}})
    };
    let items = [
        pod("a", "physics", 2, ["2024-02-29T22:00:00Z", "2024-03-01T03:00:00Z"]),
        pod("b", "music", 4, ["2024-03-01T01:00:00Z", "2024-03-01T02:00:00Z"]),
    ];
    place.raw("pods.json", json!({"apiVersion": "v1", "items": items, "kind": "List"}).to_string());
    place.run(&["analyze", "trace/pods.json", "--out", "found", "--quiet"]).ok();
    let run = place.run(&["monthly", "--lake", "found/lake", "--format", "json"]).ok();
    assert!(run.stderr.contains("the log has no accounts"), "{}", run.stderr);
    let json = run.json();
    let rows = json["rows"].as_array().unwrap().iter();
    let found: Vec<String> = rows
        .map(|row| {
            let [month, account] = ["month", "account"].map(|name| row[name].as_str().unwrap());
            format!("{month} {account} {} {}", row["cpu_h"], row["gpu_h"])
        })
        .collect();
    let expected = ["2024-02 physics 4.0 2.0", "2024-03 physics 6.0 3.0", "2024-03 music 4.0 1.0"];
    assert_eq!(found, expected);
    let page = std::fs::read_to_string(place.path("found/report/months.html")).unwrap();
    assert!(page.contains("The log has no accounts: the tables of accounts show users"), "{page}");
}

/// Promise: the same for a log whose column of accounts is empty.
#[test]
fn users_take_the_place_of_accounts_that_are_not_there() {
    let place = Place::new();
    let map = "[columns]\njob = 'id'\nuser = 'user'\nstart = 'a'\nend = 'b'\ncpus = 'n'\n";
    place.raw("map.toml", map);
    let [at, to] = ["2024-03-01T08:00:00Z", "2024-03-01T10:00:00Z"];
    let rows = format!("id,user,a,b,n\n1,ada,{at},{to},3\n2,bob,{at},{to},1\n");
    place.raw("t.csv", rows);
    place.run(&["ingest", "trace/t.csv", "--map", "trace/map.toml", "--lake", "lake"]).ok();
    let run = place.run(&["monthly", "--format", "csv"]).ok();
    let said = run.stdout_text();
    assert!(said.contains("\n2024-03,ada,1,1,0,6.0,0.75,"), "{said}");
    assert!(said.contains("\n2024-03,bob,1,1,0,2.0,0.25,"), "{said}");
    assert!(run.stderr.contains("the log has no accounts"), "{}", run.stderr);
}

#[test]
fn the_google_trace_has_no_months() {
    let Some(trace) = real_trace() else { return };
    let place = Place::new();
    let args = ["--tables", "job_events,task_events", "--parts", "0"];
    let trace = trace.to_string_lossy().into_owned();
    place.run(&[&["ingest", &trace, "--lake", "lake"][..], &args].concat()).ok();
    let run = place.run(&["monthly"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("record no dates and no accounts"), "{}", run.stderr);
}

#[test]
fn an_analysis_of_a_log_has_the_page_of_months() {
    let place = Place::new();
    let job = |id: u64, user: &str| {
        let times = "2024-01-31T23:00:00|2024-01-31T23:00:00|2024-02-01T01:00:00|02:00:00";
        format!("{id}|batch|physics|staff|{user}|{times}|COMPLETED|4|4|cpu=4|1-00:00:00|n1\n")
    };
    place.raw("log.sacct", HEADER.to_owned() + &job(1, "ada") + &job(2, "bob"));
    place.run(&["analyze", "trace/log.sacct", "--out", "found", "--quiet"]).ok();
    let page = std::fs::read_to_string(place.path("found/report/months.html")).unwrap();
    assert!(page.contains(
        "<p class=\"answer\">Account physics requested <span title=\"57,600 processor-s\">16 processor-h</span>.</p>\n\
         <ul class=\"more\">\n<li>The log spans 2024-01-31 to 2024-02-01 (2 h).</li>\n<li>Half of the jobs that \
         started had waited for at most 0 s, and 95&nbsp;% for at most 0 s.</li>"
    ));
    let found: Value =
        serde_json::from_slice(&std::fs::read(place.path("found/monthly.json")).unwrap()).unwrap();
    let rows = found["answer"]["rows"].as_array().unwrap();
    let hours: Vec<f64> = rows.iter().map(|row| row["cpu_h"].as_f64().unwrap()).collect();
    assert_eq!(hours, [8.0, 8.0]);
}

/// Users with unfinished jobs, and queues with the longest waits, are named. A job without a user
/// or a queue does not belong to any.
#[test]
fn a_missing_user_is_not_named_as_a_user() {
    let job = |id: u32, user: &str, queue: &str, state: &str, wait: u64| {
        let [submit, start, end] =
            [0, wait, wait + 60].map(|second| stamp(u64::from(id) * 10 + second));
        format!("{id}|{queue}|a|{user}|{submit}|{start}|{end}|{state}|4\n")
    };
    let told = |jobs: &[(&str, &str, &str, u64)]| {
        let place = Place::new();
        let rows = (1..)
            .zip(jobs)
            .map(|(id, &(user, queue, state, wait))| job(id, user, queue, state, wait));
        let log = "JobID|Partition|Account|User|Submit|Start|End|State|NCPUS\n".to_owned();
        std::fs::write(place.path("log.sacct"), log + &rows.collect::<String>()).unwrap();
        place.run(&["ingest", "log.sacct", "--lake", "lake", "--quiet"]).ok();
        let found = place
            .run(&["monthly", "--lake", "lake", "--out", "out", "--format", "json"])
            .ok()
            .json();
        place.run(&["report", "out"]).ok();
        let page = std::fs::read_to_string(place.path("out/report/months.html")).unwrap();
        (found, page)
    };
    let of = |user: &'static str, queue: &'static str| {
        let mut jobs = vec![(user, queue, "FAILED", 600); 12];
        jobs.extend([("b", "short", "COMPLETED", 0), ("c", "short", "COMPLETED", 0)]);
        jobs.extend([("b", "short", "COMPLETED", 0); 12]);
        jobs
    };
    let (found, page) = told(&of("a", "long"));
    assert_eq!(found["not_finished_jobs"], 12);
    assert_eq!(found["most_not_finished"]["user"], "a", "{found}");
    assert_eq!(found["most_not_finished"]["not_finished_jobs"], 12);
    assert!(
        page.contains(
            "12 of 12 jobs that did not finish are of one user, a, who has 12 jobs in all"
        )
    );
    assert!(page.contains("Jobs of 2-4 processors in queue long waited longest: "), "{page}");
    assert!(found.get("most_wasted").is_none(), "nobody else wasted anything: {found}");
    // A minute of four processors each: three jobs of c and two of b, in addition to twelve of a.
    let mut others = of("a", "long");
    others.extend([("c", "short", "FAILED", 0); 3]);
    others.extend([("b", "short", "CANCELLED", 0); 2]);
    let (found, page) = told(&others);
    assert_eq!(found["most_wasted"]["users"], serde_json::json!(["a"]), "{found}");
    assert_eq!(found["most_wasted"]["wasted"], 12.0 * 240.0);
    assert!(page.contains("user a wasted 70.6&nbsp;% of it"), "{page}");
    // No single user has half of it; two users together have.
    others.extend([("c", "short", "FAILED", 0); 7]);
    let (found, _) = told(&others);
    assert_eq!(found["most_wasted"]["users"], serde_json::json!(["a"]), "12 of 24");
    others.extend([("c", "short", "FAILED", 0); 1]);
    let (found, _) = told(&others);
    assert_eq!(found["most_wasted"]["users"], serde_json::json!(["a", "c"]), "23 of 25");
    assert_eq!(found["most_wasted"]["wasted"], 23.0 * 240.0);
    let (found, page) = told(&of("", ""));
    assert!(found.get("most_not_finished").is_none(), "{found}");
    assert!(page.contains("Jobs of 2-4 processors waited longest: "), "{page}");
}
